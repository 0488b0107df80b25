/*
 * The floor under a lock in Redis: the scripts of Latch's store, sent by hiredis, blocking, in C.
 *
 *     redis HOST PORT [CA] | redis SOCKET | redis cluster HOST PORT
 *
 * With the file of a CA's certificate it speaks TLS. Of a cluster it is given one master, and sends
 * each command to the one that has the lock, which it knows from the beginning.
 *
 * Reads lines "ROW ITERATIONS" until its input ends, and answers each with a line: the nanoseconds
 * of one iteration. The rows are those of lib/RedisCosts.php; two answer otherwise:
 *
 * release    the nanoseconds of what "destructor" takes to give the lock back, by themselves
 * latency    the nanoseconds of every single iteration of "pair"
 */
#include "redis_node.h"

#define RESOURCES 1000

static struct script acquire = {.text = REDIS_LUA_CLOCK REDIS_LUA_ACQUIRE};
static struct script acquire_shared = {.text = REDIS_LUA_CLOCK REDIS_LUA_ACQUIRE_SHARED};
static struct script refresh = {.text = REDIS_LUA_CLOCK REDIS_LUA_REFRESH};
static struct script probe = {.text = REDIS_LUA_CLOCK REDIS_LUA_PROBE};
static struct script release = {.text = REDIS_LUA_CLOCK REDIS_LUA_RELEASE};

static struct lock same;
static struct lock many[RESOURCES];

static redisReply *ask_acquire(const struct lock *lock, const char *token)
{
    const struct keys *keys = &lock->keys;

    return ask(lock->node, 10,
               (const char *[]){"EVALSHA", acquire.digest, "5", keys->lock, keys->record,
                                keys->queue, keys->peers, keys->counter, token, TERM});
}

static void take(const struct lock *lock)
{
    expect(ask_acquire(lock, TOKEN), REDIS_REPLY_STRING, 0);
}

static void give_back(const struct lock *lock)
{
    const struct keys *keys = &lock->keys;
    const char *command[] = {"EVALSHA",    release.digest, "4",         keys->lock,
                             keys->record, keys->queue,    keys->peers, TOKEN};

    expect(ask(lock->node, 8, command), REDIS_REPLY_INTEGER, 1);
}

static void give_back_later(const struct lock *lock)
{
    const struct keys *keys = &lock->keys;

    tell_both(lock->node, 8,
              (const char *[]){"EVALSHA", release.digest, "4", keys->lock, keys->record,
                               keys->queue, keys->peers, TOKEN},
              6, (const char *[]){"EVAL", REDIS_LUA_LET_GO, "2", keys->lock, keys->record, TOKEN});
}

/* ---- the rows: each runs so many iterations ---------------------------------------------- */

static void pair(long iterations)
{
    while (iterations-- > 0) {
        take(&same);
        give_back(&same);
    }
}

static void destructor(long iterations)
{
    while (iterations-- > 0) {
        take(&same);
        give_back_later(&same);
    }
}

static void shared(long iterations)
{
    const struct keys *keys = &same.keys;
    const char *command[] = {"EVALSHA",   acquire_shared.digest, "4",   keys->lock, keys->record,
                             keys->queue, keys->peers,           TOKEN, TERM};

    while (iterations-- > 0) {
        expect(ask(same.node, 9, command), REDIS_REPLY_INTEGER, 1);
        give_back(&same);
    }
}

static void renew(long iterations)
{
    const char *command[] = {"EVALSHA",        refresh.digest, "2",   same.keys.lock,
                             same.keys.record, TOKEN,          TTL_MS};

    while (iterations-- > 0) {
        expect(ask(same.node, 7, command), REDIS_REPLY_INTEGER, 2);
    }
}

static void look(long iterations)
{
    const char *command[] = {"EVALSHA", probe.digest, "1", same.keys.lock, TOKEN};

    while (iterations-- > 0) {
        expect(ask(same.node, 5, command), REDIS_REPLY_ARRAY, 0);
    }
}

static void conflict(long iterations)
{
    while (iterations-- > 0) {
        expect(ask_acquire(&same, OTHER_TOKEN), REDIS_REPLY_NIL, 0);
    }
}

static void resources(long iterations)
{
    for (; iterations > 0; iterations--) {
        take(&many[iterations % RESOURCES]);
        give_back_later(&many[iterations % RESOURCES]);
    }
}

static const struct row {
    const char *name;
    void (*run)(long iterations);
    bool held; /* it is about a lock that is held all the time */
} rows[] = {
    {"pair", pair, false},      {"destructor", destructor, false},
    {"shared", shared, false},  {"refresh", renew, true},
    {"probe", look, true},      {"conflict", conflict, true},
    {"many", resources, false},
};

static void measure_release(long iterations)
{
    int64_t total_ns = 0;

    for (long i = 0; i < iterations; i++) {
        take(&same);

        int64_t begun_ns = now_ns();

        give_back_later(&same);
        total_ns += now_ns() - begun_ns;
    }
    printf("%.1f\n", (double) total_ns / (double) iterations);
}

static void measure_latency(long iterations)
{
    int64_t *latencies_ns = calloc((size_t) iterations, sizeof *latencies_ns);

    check(latencies_ns, "memory");
    for (long i = 0; i < iterations; i++) {
        int64_t begun_ns = now_ns();

        pair(1);
        latencies_ns[i] = now_ns() - begun_ns;
    }
    for (long i = 0; i < iterations; i++) {
        printf("%lld%c", (long long) latencies_ns[i], i + 1 < iterations ? ' ' : '\n');
    }
    free(latencies_ns);
}

static void measure_row(const char *name, long iterations)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, name) != 0) {
            continue;
        }
        if (rows[i].held) {
            take(&same);
        }

        int64_t begun_ns = now_ns();

        rows[i].run(iterations);

        int64_t elapsed_ns = now_ns() - begun_ns;

        if (rows[i].held) {
            give_back(&same);
        }
        printf("%.1f\n", (double) elapsed_ns / (double) iterations);
        return;
    }
    fprintf(stderr, "redis: no row '%s'\n", name);
    exit(64);
}

int main(int argc, char **argv)
{
    char name[24];
    long iterations;

    if (argc < 2 || argc > 4) {
        fputs("usage: redis HOST PORT [CA] | redis SOCKET | redis cluster HOST PORT\n", stderr);
        return 64;
    }
    if (argc == 4 && strcmp(argv[1], "cluster") == 0) {
        add_cluster(argv[2], atoi(argv[3]));
    } else if (argc == 2) {
        add_node(redisConnectUnix(argv[1]), NULL);
    } else {
        add_node(redisConnect(argv[1], atoi(argv[2])), argv[3]);
    }

    load(&acquire);
    load(&acquire_shared);
    load(&refresh);
    load(&probe);
    load(&release);
    set_lock(&same, "raw-c-one");
    for (int i = 0; i < RESOURCES; i++) {
        snprintf(name, sizeof name, "raw-c-one-many-%d", i);
        set_lock(&many[i], name);
    }

    while (scanf("%23s %ld", name, &iterations) == 2) {
        if (strcmp(name, "release") == 0) {
            measure_release(iterations);
        } else if (strcmp(name, "latency") == 0) {
            measure_latency(iterations);
        } else {
            measure_row(name, iterations);
        }
        fflush(stdout);
    }
    for (int i = 0; i < node_count; i++) {
        redisFree(nodes[i].server);
    }
    return EXIT_SUCCESS;
}
