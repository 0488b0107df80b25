/*
 * The floor under a hand-off by a Redis server: a message to who waits, and a request by who has
 * heard it, as nobody may believe a message alone. By hiredis, blocking, in C; no lock is kept.
 *
 *     redis_handoff COUNT HOST PORT
 *
 * Two processes: the waiter blocks in its subscription; the holder sends the message, and the
 * waiter says when its request was answered. Prints, for each of COUNT hand-offs, the nanoseconds
 * in between. The same steps, and the same pauses, as in parts/drain.php with one waiter.
 */
#include "common.h"

#include <hiredis/hiredis.h>

#define SETTLED_US 20000
#define PHASES_US 100000

static redisContext *connect_to(char **address)
{
    redisContext *server = redisConnect(address[0], atoi(address[1]));

    check(server != NULL && server->err == 0, "connect");
    return server;
}

static void expect(void *reply, int type)
{
    check(reply != NULL && ((redisReply *) reply)->type == type, "reply");
    freeReplyObject(reply);
}

/* At each sign of the holder: says that it waits, waits, claims, says when that was answered. */
static void wait_again_and_again(int from_holder, int to_holder, char **address)
{
    redisContext *subscription = connect_to(address), *server = connect_to(address);
    char sign;

    expect(redisCommand(subscription, "SUBSCRIBE wake"), REDIS_REPLY_ARRAY);
    while (read(from_holder, &sign, 1) == 1) {
        void *message;

        check(write(to_holder, &sign, 1) == 1, "announce");
        check(redisGetReply(subscription, &message) == REDIS_OK, "message");
        expect(message, REDIS_REPLY_ARRAY);
        expect(redisCommand(server, "SET holder waiter PX 30000"), REDIS_REPLY_STATUS);
        int64_t held_ns = now_ns();

        check(write(to_holder, &held_ns, sizeof held_ns) == sizeof held_ns, "report");
    }
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fputs("usage: redis_handoff COUNT HOST PORT\n", stderr);
        return 64;
    }
    struct waiter waiter = start_waiter(wait_again_and_again, argv + 2);

    redisContext *server = connect_to(argv + 2);

    srand48(now_ns());
    for (long left = atol(argv[1]); left > 0; left--) {
        char sign = 0;
        int64_t held_ns;

        check(write(waiter.to, &sign, 1) == 1, "call");
        check(read(waiter.from, &sign, 1) == 1, "announcement");
        usleep((useconds_t) (SETTLED_US + lrand48() % PHASES_US));

        int64_t released_ns = now_ns();

        expect(redisCommand(server, "PUBLISH wake granted"), REDIS_REPLY_INTEGER);
        check(read(waiter.from, &held_ns, sizeof held_ns) == sizeof held_ns, "report");
        printf("%lld\n", (long long) (held_ns - released_ns));
    }

    end_waiter(&waiter);
    return EXIT_SUCCESS;
}
