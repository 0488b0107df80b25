/*
 * The floor under a semaphore in Redis: the scripts of Latch's store, sent by hiredis, blocking, in
 * C.
 *
 *     permits HOST PORT
 *
 * Reads lines "PERMITS ITERATIONS" until its input ends, and answers each with a line: the
 * nanoseconds of one acquire and release of a permit of a semaphore that has so many, of which
 * others hold all but that one; of a semaphore without other holders when PERMITS is 0, which has
 * ten then; and when PERMITS is "nothing" those of two scripts that do nothing, which two requests
 * cost at the least.
 */
#include "redis_keys.h"

#define SEMAPHORES_MAX 8
/* Of the other holders: longer than the benchmark takes. */
#define LONG_TTL_MS "3000000"

static struct script acquire = {.text = REDIS_LUA_CLOCK REDIS_LUA_PERMIT_ACQUIRE};
static struct script release = {.text = REDIS_LUA_CLOCK REDIS_LUA_PERMIT_RELEASE};
static struct script nothing = {.text = "return 1"};
static redisContext *server;

static struct semaphore {
    int permits;
    char weights[48], times[48], record[64], queue[64], peers[64];
    char term[160]; /* the TTL, the weight, the limit and the note */
} semaphores[SEMAPHORES_MAX];
static int semaphore_count;

/* Ends the program unless the script returns 1. */
static void call(int count, const char **arguments)
{
    redisReply *reply = redisCommandArgv(server, count, arguments, NULL);

    if (!reply || reply->type != REDIS_REPLY_INTEGER || reply->integer != 1) {
        fprintf(stderr, "permits: unexpected reply: %s\n",
                reply && reply->str ? reply->str : server->errstr);
        exit(EXIT_FAILURE);
    }
    freeReplyObject(reply);
}

static void take(const struct semaphore *of, const struct script *by, const char *token,
                 const char *term)
{
    call(10, (const char *[]){"EVALSHA", by->digest, "5", of->weights, of->times, of->record,
                              of->queue, of->peers, token, term});
}

static void give_back(const struct semaphore *of, const struct script *by)
{
    call(9, (const char *[]){"EVALSHA", by->digest, "5", of->weights, of->times, of->record,
                             of->queue, of->peers, TOKEN});
}

static const struct semaphore *add_semaphore(int permits)
{
    struct semaphore *added = &semaphores[semaphore_count++];
    int limit = permits > 0 ? permits : 10;
    char token[64], term[160];

    check(semaphore_count <= SEMAPHORES_MAX, "semaphores");
    added->permits = permits;
    snprintf(added->weights, sizeof added->weights, "{raw-c-%05d}:weight", permits);
    snprintf(added->times, sizeof added->times, "{raw-c-%05d}:time", permits);
    snprintf(added->record, sizeof added->record, "latch:permits:{raw-c-%05d}", permits);
    snprintf(added->queue, sizeof added->queue, "latch:permit-queue:{raw-c-%05d}", permits);
    snprintf(added->peers, sizeof added->peers, "latch:permit-peers:{raw-c-%05d}", permits);
    snprintf(added->term, sizeof added->term, TTL_MS " 1 %d " NOTE, limit);
    snprintf(term, sizeof term, LONG_TTL_MS " 1 %d " NOTE, limit);
    for (int holder = 1; holder < permits; holder++) {
        snprintf(token, sizeof token, "%043d=", holder);
        take(added, &acquire, token, term);
    }
    return added;
}

static const struct semaphore *find(int permits)
{
    for (int at = 0; at < semaphore_count; at++) {
        if (semaphores[at].permits == permits) {
            return &semaphores[at];
        }
    }
    return add_semaphore(permits);
}

int main(int argc, char **argv)
{
    char row[16];
    long iterations;

    if (argc != 3) {
        fputs("usage: permits HOST PORT\n", stderr);
        return 64;
    }
    server = redisConnect(argv[1], atoi(argv[2]));
    check(server && !server->err, "connect");
    load_script(server, &acquire);
    load_script(server, &release);
    load_script(server, &nothing);
    while (scanf("%15s %ld", row, &iterations) == 2) {
        bool is_nothing = strcmp(row, "nothing") == 0;
        const struct semaphore *of = find(is_nothing ? 0 : atoi(row));
        int64_t begun_ns = now_ns();

        for (long left = iterations; left > 0; left--) {
            take(of, is_nothing ? &nothing : &acquire, TOKEN, of->term);
            give_back(of, is_nothing ? &nothing : &release);
        }
        printf("%.1f\n", (double) (now_ns() - begun_ns) / (double) iterations);
        fflush(stdout);
    }
    redisFree(server);
    return EXIT_SUCCESS;
}
