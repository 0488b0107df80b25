/*
 * The floor under a lock in Redis: the scripts of Latch's store, sent by hiredis, blocking, in C.
 *
 *     redis HOST PORT [CA] | redis SOCKET
 *
 * With the file of a CA's certificate it speaks TLS.
 *
 * Reads lines "ROW ITERATIONS" until its input ends, and answers each with a line: the nanoseconds
 * of one iteration. The rows are those of lib/RedisCosts.php; two answer otherwise:
 *
 * release    the nanoseconds of what "destructor" takes to give the lock back, by themselves
 * latency    the nanoseconds of every single iteration of "pair"
 */
#include "redis_keys.h"
#include "tls.h"

#define RESOURCES 1000

static redisContext *server;
static SSL *tls; /* on its socket; or NULL */
static int unread; /* answers that were not awaited */

static struct script acquire = {.text = REDIS_LUA_CLOCK REDIS_LUA_ACQUIRE};
static struct script acquire_shared = {.text = REDIS_LUA_CLOCK REDIS_LUA_ACQUIRE_SHARED};
static struct script refresh = {.text = REDIS_LUA_CLOCK REDIS_LUA_REFRESH};
static struct script probe = {.text = REDIS_LUA_CLOCK REDIS_LUA_PROBE};
static struct script release = {.text = REDIS_LUA_CLOCK REDIS_LUA_RELEASE};

static struct keys same;
static struct keys many[RESOURCES];

/* Sends what was appended. */
static void send_all(void)
{
    int sent = 0;

    if (tls != NULL) {
        tls_write(tls, server->obuf, sdslen(server->obuf));
        sdsclear(server->obuf);
        return;
    }
    while (!sent) {
        check(redisBufferWrite(server, &sent) == REDIS_OK, "write");
    }
}

static redisReply *next_tls_reply(void)
{
    char text[16 * 1024];
    void *reply = NULL;

    send_all();
    while (redisReaderGetReply(server->reader, &reply) == REDIS_OK && reply == NULL) {
        redisReaderFeed(server->reader, text, tls_read(tls, text, sizeof text));
    }
    check(reply != NULL, "reply");
    return reply;
}

static redisReply *next_reply(void)
{
    void *reply;

    if (tls != NULL) {
        return next_tls_reply();
    }
    if (redisGetReply(server, &reply) != REDIS_OK) {
        fprintf(stderr, "redis: %s\n", server->errstr);
        exit(EXIT_FAILURE);
    }
    return reply;
}

/* Ends the program unless the reply is of that type, and of that value if it is a number. */
static void expect(redisReply *reply, int type, long long value)
{
    if (reply->type != type || (type == REDIS_REPLY_INTEGER && reply->integer != value)) {
        fprintf(stderr, "redis: unexpected reply %d, %lld, %s\n", reply->type, reply->integer,
                reply->str ? reply->str : "");
        exit(EXIT_FAILURE);
    }
    freeReplyObject(reply);
}

/* Sends a command and awaits its answer, after those that are still to come. */
static redisReply *ask(int count, const char **arguments)
{
    check(redisAppendCommandArgv(server, count, arguments, NULL) == REDIS_OK, "append");
    for (; unread > 0; unread--) {
        expect(next_reply(), REDIS_REPLY_INTEGER, 1);
    }
    return next_reply();
}

/* Sends a command whose answer is read before that of the next one. */
static void tell(int count, const char **arguments)
{
    check(redisAppendCommandArgv(server, count, arguments, NULL) == REDIS_OK, "append");
    send_all();
    unread++;
}

/* As load_script(), by TLS, too. */
static void load(struct script *script)
{
    redisReply *reply = ask(3, (const char *[]){"SCRIPT", "LOAD", script->text});

    check(reply->type == REDIS_REPLY_STRING && reply->len == 40, "SCRIPT LOAD");
    memcpy(script->digest, reply->str, 41);
    freeReplyObject(reply);
}

static redisReply *ask_acquire(const struct keys *keys, const char *token)
{
    return ask(10, (const char *[]){"EVALSHA", acquire.digest, "5", keys->lock, keys->record,
                                    keys->queue, keys->peers, COUNTER, token, TERM});
}

static void take(const struct keys *keys)
{
    expect(ask_acquire(keys, TOKEN), REDIS_REPLY_STRING, 0);
}

static void give_back(const struct keys *keys)
{
    const char *command[] = {"EVALSHA",    release.digest, "4",         keys->lock,
                             keys->record, keys->queue,    keys->peers, TOKEN};

    expect(ask(8, command), REDIS_REPLY_INTEGER, 1);
}

static void give_back_later(const struct keys *keys)
{
    tell(8, (const char *[]){"EVAL", release.text, "4", keys->lock, keys->record, keys->queue,
                             keys->peers, TOKEN});
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
    while (iterations-- > 0) {
        expect(ask(9, (const char *[]){"EVALSHA", acquire_shared.digest, "4", same.lock,
                                       same.record, same.queue, same.peers, TOKEN, TERM}),
               REDIS_REPLY_INTEGER, 1);
        give_back(&same);
    }
}

static void renew(long iterations)
{
    while (iterations-- > 0) {
        expect(ask(7, (const char *[]){"EVALSHA", refresh.digest, "2", same.lock, same.record,
                                       TOKEN, TTL_MS}),
               REDIS_REPLY_INTEGER, 2);
    }
}

static void look(long iterations)
{
    while (iterations-- > 0) {
        expect(ask(5, (const char *[]){"EVALSHA", probe.digest, "1", same.lock, TOKEN}),
               REDIS_REPLY_ARRAY, 0);
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
        fputs("usage: redis HOST PORT [CA] | redis SOCKET\n", stderr);
        return 64;
    }
    server = argc == 2 ? redisConnectUnix(argv[1]) : redisConnect(argv[1], atoi(argv[2]));
    if (!server || server->err) {
        fprintf(stderr, "redis: %s\n", server ? server->errstr : "no memory");
        return EXIT_FAILURE;
    }
    if (argc == 4) {
        tls = tls_connect(server->fd, argv[3]);
    }

    load(&acquire);
    load(&acquire_shared);
    load(&refresh);
    load(&probe);
    load(&release);
    set_keys(&same, "raw-c-one");
    for (int i = 0; i < RESOURCES; i++) {
        snprintf(name, sizeof name, "raw-c-one-many-%d", i);
        set_keys(&many[i], name);
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
    redisFree(server);
    return EXIT_SUCCESS;
}
