/*
 * The floor under a hand-off in a table of PostgreSQL: a statement that deletes a row and notifies
 * who waits, and one that inserts it again, by who has been notified. By libpq, blocking, in C.
 *
 *     table_handoff COUNT CONNINFO
 *
 * Two processes: the waiter listens, and sleeps until it is notified; the holder releases, and the
 * waiter says when it had the row. Prints, for each of COUNT hand-offs, the nanoseconds in between.
 * The same steps, and the same pauses, as in parts/drain.php with one waiter.
 */
#include "common.h"

#include <libpq-fe.h>
#include <poll.h>

#define SETTLED_US 20000
#define PHASES_US 100000

#define ACQUIRE                                                                                    \
    "INSERT INTO lock_keys AS held (key_id, key_token, key_expiration) VALUES ('handoff', 'token'" \
    ", ceil(extract(epoch FROM clock_timestamp()) + 30))"
#define RELEASE "DELETE FROM lock_keys WHERE key_id = 'handoff'"
/* As the store's, it does not await the disk. */
#define RELEASE_AND_NOTIFY                                                                         \
    RELEASE " RETURNING CASE WHEN set_config('synchronous_commit', 'off', true) IS NULL THEN NULL" \
            " ELSE pg_notify('handoff', '') END"

static PGconn *connect_to(char **conninfo)
{
    PGconn *server = PQconnectdb(*conninfo);

    check(PQstatus(server) == CONNECTION_OK, "connect");
    return server;
}

static void execute(PGconn *server, const char *statement)
{
    PGresult *result = PQexec(server, statement);
    ExecStatusType status = PQresultStatus(result);

    check(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, statement);
    PQclear(result);
}

static void await_notification(PGconn *server)
{
    struct pollfd socket = {.fd = PQsocket(server), .events = POLLIN};
    PGnotify *notification;

    while ((notification = PQnotifies(server)) == NULL) {
        check(poll(&socket, 1, -1) == 1 && PQconsumeInput(server) == 1, "notification");
    }
    PQfreemem(notification);
}

/* At each sign of the holder: says that it waits, waits, acquires, says when that was answered. */
static void wait_again_and_again(int from_holder, int to_holder, char **conninfo)
{
    PGconn *server = connect_to(conninfo);
    char sign;

    execute(server, "LISTEN handoff");
    while (read(from_holder, &sign, 1) == 1) {
        check(write(to_holder, &sign, 1) == 1, "announce");
        await_notification(server);
        execute(server, ACQUIRE);
        int64_t held_ns = now_ns();

        execute(server, RELEASE);
        check(write(to_holder, &held_ns, sizeof held_ns) == sizeof held_ns, "report");
    }
    PQfinish(server);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: table_handoff COUNT CONNINFO\n", stderr);
        return 64;
    }
    struct waiter waiter = start_waiter(wait_again_and_again, argv + 2);

    PGconn *server = connect_to(argv + 2);

    srand48(now_ns());
    for (long left = atol(argv[1]); left > 0; left--) {
        char sign = 0;
        int64_t held_ns;

        execute(server, ACQUIRE);
        check(write(waiter.to, &sign, 1) == 1, "call");
        check(read(waiter.from, &sign, 1) == 1, "announcement");
        usleep((useconds_t) (SETTLED_US + lrand48() % PHASES_US));

        int64_t released_ns = now_ns();

        execute(server, RELEASE_AND_NOTIFY);
        check(read(waiter.from, &held_ns, sizeof held_ns) == sizeof held_ns, "report");
        printf("%lld\n", (long long) (held_ns - released_ns));
    }

    end_waiter(&waiter);
    PQfinish(server);
    return EXIT_SUCCESS;
}
