/*
 * The floor under a lock in a quorum of Redis servers: the scripts of Latch's store, sent to all
 * members side by side and awaited in one poll loop, by hiredis in C.
 *
 *     quorum PORT PORT PORT...
 *
 * Reads lines "ROW ITERATIONS" until its input ends, and answers each with a line: the nanoseconds
 * of one iteration. The rows are those of lib/QuorumCosts.php. Each command awaits a majority, and
 * what is missing then is read before the answers to the next one; in the rows "all-ROW" it awaits
 * all members. The release of "destructor" awaits nobody.
 */
#include "redis_keys.h"

#include <poll.h>

#define MEMBERS_MAX 9

struct member {
    redisContext *server;
    int unread; /* answers that are still to come */
};

static struct member members[MEMBERS_MAX];
static int member_count, enough;

static struct script acquire = {.text = REDIS_LUA_CLOCK REDIS_LUA_ACQUIRE};
static struct script refresh = {.text = REDIS_LUA_CLOCK REDIS_LUA_REFRESH};
static struct script release = {.text = REDIS_LUA_CLOCK REDIS_LUA_RELEASE};
static struct keys same;

static void connect_to(struct member *member, int port)
{
    redisContext *server = redisConnect("127.0.0.1", port);

    check(server && !server->err, "connect");
    load_script(server, &acquire);
    load_script(server, &refresh);
    load_script(server, &release);

    int flags = fcntl(server->fd, F_GETFL);

    check(flags >= 0 && fcntl(server->fd, F_SETFL, flags | O_NONBLOCK) == 0, "O_NONBLOCK");
    server->flags &= ~REDIS_BLOCK;
    member->server = server;
}

/* Has a command sent to all with the next one. */
static void append(int count, const char **arguments)
{
    char *command;
    int length = redisFormatCommandArgv(&command, count, arguments, NULL);

    check(length > 0, "format");
    for (struct member *member = members; member < members + member_count; member++) {
        check(redisAppendFormattedCommand(member->server, command, (size_t) length) == REDIS_OK,
              "append");
        member->unread++;
    }
    redisFreeCommand(command);
}

/* Sends a command to all. */
static void tell(int count, const char **arguments)
{
    append(count, arguments);
    for (struct member *member = members; member < members + member_count; member++) {
        for (int sent = 0; !sent;) {
            check(redisBufferWrite(member->server, &sent) == REDIS_OK, "write");
        }
    }
}

/* Reads what is there from a member. Every answer says yes, or nothing, of what comes behind a
 * release; true if it was that to the last command. */
static bool read_answers(struct member *member)
{
    void *answer;

    check(redisBufferRead(member->server) == REDIS_OK, "read");
    while (member->unread > 0) {
        check(redisReaderGetReply(member->server->reader, &answer) == REDIS_OK, "parse");
        if (!answer) {
            return false;
        }

        redisReply *reply = answer;

        if (reply->type != REDIS_REPLY_STRING
            && (reply->type != REDIS_REPLY_NIL || member->unread == 1)
            && (reply->type != REDIS_REPLY_INTEGER || reply->integer < 1)) {
            fprintf(stderr, "quorum: unexpected reply %d, %lld, %s\n", reply->type, reply->integer,
                    reply->str ? reply->str : "");
            exit(EXIT_FAILURE);
        }
        freeReplyObject(reply);
        member->unread--;
    }
    return true;
}

/* Returns when so many members have answered the last command. */
static void hear(int needed)
{
    struct pollfd polled[MEMBERS_MAX];

    while (needed > 0) {
        for (int i = 0; i < member_count; i++) {
            polled[i].fd = members[i].unread > 0 ? members[i].server->fd : -1;
            polled[i].events = POLLIN;
        }
        check(poll(polled, (nfds_t) member_count, -1) > 0, "poll");
        for (int i = 0; i < member_count; i++) {
            if (polled[i].fd >= 0 && polled[i].revents && read_answers(&members[i])) {
                needed--;
            }
        }
    }
}

static void take(void)
{
    tell(10, (const char *[]){"EVALSHA", acquire.digest, "5", same.lock, same.record, same.queue,
                              same.peers, same.counter, TOKEN, TERM});
    hear(enough);
}

static void give_back(void)
{
    tell(8, (const char *[]){"EVALSHA", release.digest, "4", same.lock, same.record, same.queue,
                             same.peers, TOKEN});
    hear(enough);
}

/* ---- the rows: each runs so many iterations ---------------------------------------------- */

static void pair(long iterations)
{
    while (iterations-- > 0) {
        take();
        give_back();
    }
}

/* Not awaited, and so with what gives the lock back should the script be unknown. */
static void destructor(long iterations)
{
    while (iterations-- > 0) {
        take();
        append(8, (const char *[]){"EVALSHA", release.digest, "4", same.lock, same.record,
                                   same.queue, same.peers, TOKEN});
        tell(6, (const char *[]){"EVAL", REDIS_LUA_LET_GO, "2", same.lock, same.record, TOKEN});
    }
}

static void renew(long iterations)
{
    take();
    while (iterations-- > 0) {
        tell(7, (const char *[]){"EVALSHA", refresh.digest, "2", same.lock, same.record, TOKEN,
                                 TTL_MS});
        hear(enough);
    }
    give_back();
}

static const struct row {
    const char *name;
    void (*run)(long iterations);
} rows[] = {{"pair", pair}, {"destructor", destructor}, {"refresh", renew}};

static void measure(const char *name, long iterations)
{
    bool awaits_all = strncmp(name, "all-", 4) == 0;

    enough = awaits_all ? member_count : member_count / 2 + 1;
    name += awaits_all ? 4 : 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            int64_t begun_ns = now_ns();

            rows[i].run(iterations);
            printf("%.1f\n", (double) (now_ns() - begun_ns) / (double) iterations);
            return;
        }
    }
    fprintf(stderr, "quorum: no row '%s'\n", name);
    exit(64);
}

int main(int argc, char **argv)
{
    char name[24];
    long iterations;

    if (argc < 2 || argc > MEMBERS_MAX + 1) {
        fputs("usage: quorum PORT PORT PORT...\n", stderr);
        return 64;
    }
    for (member_count = 0; member_count < argc - 1; member_count++) {
        connect_to(&members[member_count], atoi(argv[member_count + 1]));
    }
    set_keys(&same, "raw-c-one", "");

    while (scanf("%23s %ld", name, &iterations) == 2) {
        measure(name, iterations);
        fflush(stdout);
    }
    for (int i = 0; i < member_count; i++) {
        redisFree(members[i].server);
    }
    return EXIT_SUCCESS;
}
