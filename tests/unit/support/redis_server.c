/* A real Redis server, started, asked and ended by the test program: see redis_server.h. */
#include "redis_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SERVER_TIMEOUT_S (UNIT_TIMEOUT_NS / LATCH_NS_PER_S)

unit_redis_server unit_redis;

/* Bound and not listening: nobody else is given the port while the server is away. */
static int port_keeper = -1;
static redisReply *answer;
static char noted[41]; /* of unit_redis_snapshot() */

void unit_redis_look_again(unsigned *looks)
{
    const struct timespec pause = {0, 500000};

    UNIT_CHECK((*looks)++ < UNIT_TIMEOUT_NS / pause.tv_nsec);
    nanosleep(&pause, NULL);
}

const char *unit_redis_program(void)
{
    const char *program = getenv("LATCH_REDIS_SERVER");

    return program != NULL ? program : "redis-server";
}

/* Asked once: tests count what the server is asked. */
bool unit_redis_is_before(int major, int minor)
{
    static int own_major = -1, own_minor;

    if (own_major < 0) {
        const char *version = strstr(unit_redis_text("INFO server"), "redis_version:");

        UNIT_CHECK(version != NULL
                   && sscanf(version, "redis_version:%d.%d.", &own_major, &own_minor) == 2);
    }
    return own_major < major || (own_major == major && own_minor < minor);
}

/* That port, or any where it is 0; 0 when somebody has it. */
static int keep(int *keeper, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = htons((uint16_t) port)};
    socklen_t size = sizeof(address);
    int yes = 1;

    *keeper = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    UNIT_CHECK(*keeper >= 0);
    if (bind(*keeper, (struct sockaddr *) &address, sizeof(address)) != 0) {
        UNIT_CHECK(errno == EADDRINUSE && port != 0);
        close(*keeper);
        return 0;
    }
    /*
     * Redis sets it too: so both can be bound, as only one of them listens. After bind(): two
     * programs that set it before would both be given a port of which neither listens yet.
     */
    UNIT_CHECK(setsockopt(*keeper, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0);
    UNIT_CHECK(getsockname(*keeper, (struct sockaddr *) &address, &size) == 0);
    return ntohs(address.sin_port);
}

int unit_redis_keep_port(int *keeper)
{
    return keep(keeper, 0);
}

int unit_redis_keep_ports(int keepers[2])
{
    enum { ABOVE = 10000, LAST = 65535 };

    for (unsigned looks = 0;; unit_redis_look_again(&looks)) {
        int port = keep(&keepers[0], 0);

        if (port + ABOVE <= LAST && keep(&keepers[1], port + ABOVE) != 0) {
            return port;
        }
        close(keepers[0]);
    }
}

/* In the child: becomes the server, which dies with the process that started it. */
static void become_server(pid_t parent, const char *const *options)
{
    char port[8], log[UNIT_PATH + 8];
    const char *arguments[64] = {unit_redis_program(),
                                 "--port",
                                 port,
                                 "--bind",
                                 "127.0.0.1",
                                 "--unixsocket",
                                 unit_redis.socket,
                                 "--dir",
                                 unit_redis.directory,
                                 "--logfile",
                                 log,
                                 "--save",
                                 "",
                                 "--appendonly",
                                 "no"};
    size_t count = 15;

    snprintf(port, sizeof(port), "%d", unit_redis.port);
    snprintf(log, sizeof(log), "%s/log", unit_redis.directory);
    while (options != NULL && *options != NULL && count < 63) {
        arguments[count++] = *options++;
    }
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && getppid() == parent) {
        execvp(arguments[0], (char *const *) arguments);
    }
    fprintf(stderr, "cannot start %s: %s\n", arguments[0], strerror(errno));
    _exit(127);
}

static void show_log(void)
{
    char path[UNIT_PATH + 8], line[512];
    FILE *log;

    snprintf(path, sizeof(path), "%s/log", unit_redis.directory);
    log = fopen(path, "re");
    while (log != NULL && fgets(line, sizeof(line), log) != NULL) {
        fputs(line, stderr);
    }
    if (log != NULL) {
        fclose(log);
    }
}

static void set_timeout(redisContext *context)
{
    UNIT_CHECK(context != NULL && context->err == 0);
    UNIT_CHECK(redisSetTimeout(context, (struct timeval){SERVER_TIMEOUT_S, 0}) == REDIS_OK);
    UNIT_CHECK(fcntl(context->fd, F_SETFD, FD_CLOEXEC) == 0);
}

/* By the socket, which no other server can have; it is made after the port was bound. */
static bool is_answering(void)
{
    redisContext *context = unit_redis_connect_by(unit_redis.socket);
    redisReply *pong;

    if (context == NULL) {
        return false;
    }
    pong = redisCommand(context, "PING");
    UNIT_CHECK(pong != NULL); /* a demand for a password is an answer as well */
    freeReplyObject(pong);
    unit_redis.connection = context;
    return true;
}

void unit_redis_start(const char *const *options)
{
    pid_t self = getpid();

    UNIT_CHECK(unit_redis.pid == 0);
    unlink(unit_redis.socket);
    fflush(NULL);
    unit_redis.pid = fork();
    if (unit_redis.pid == 0) {
        become_server(self, options);
    }
    UNIT_CHECK(unit_redis.pid > 0);
    for (unsigned looks = 0; !is_answering();) {
        if (waitpid(unit_redis.pid, NULL, WNOHANG) != 0) {
            unit_redis.pid = 0;
            show_log();
            fail_msg("%s does not run", unit_redis_program());
        }
        unit_redis_look_again(&looks);
    }
}

static void disconnect(void)
{
    freeReplyObject(answer);
    answer = NULL;
    if (unit_redis.connection != NULL) {
        redisFree(unit_redis.connection);
        unit_redis.connection = NULL;
    }
}

void unit_redis_kill(void)
{
    disconnect();
    UNIT_CHECK(kill(unit_redis.pid, SIGKILL) == 0);
    UNIT_CHECK(waitpid(unit_redis.pid, NULL, 0) == unit_redis.pid);
    unit_redis.pid = 0;
}

void unit_redis_stop(void)
{
    unsigned looks = 0;

    disconnect();
    UNIT_CHECK(kill(unit_redis.pid, SIGTERM) == 0);
    while (waitpid(unit_redis.pid, NULL, WNOHANG) == 0) {
        unit_redis_look_again(&looks);
    }
    unit_redis.pid = 0;
}

int unit_redis_group_setup(void **state)
{
    (void) state;
    unit_redis = (unit_redis_server){0};
    unit_make_temporary(unit_redis.directory);
    snprintf(unit_redis.socket, sizeof(unit_redis.socket), "%s/redis", unit_redis.directory);
    unit_redis.port = unit_redis_keep_port(&port_keeper);
    unit_redis_start(NULL);
    return 0;
}

int unit_redis_group_teardown(void **state)
{
    (void) state;
    if (unit_redis.pid != 0) {
        unit_redis_kill(); /* it has nothing to save */
    }
    close(port_keeper);
    unit_remove_temporary(unit_redis.directory);
    return 0;
}

/* Says the same as the rule behind it where there are no rules for channels. */
static const char *all_channels(void)
{
    return unit_redis_is_before(6, 2) ? "+@all" : "&*";
}

void unit_redis_let_tester(const char *rules)
{
    char command[160];

    snprintf(command, sizeof(command), "ACL SETUSER tester reset on >secret ~* %s +@all %s",
             all_channels(), rules);
    unit_redis_ask(command);
}

void unit_redis_let_default(void)
{
    unit_redis_ask("ACL SETUSER default ~* %s +@all", all_channels());
}

int unit_redis_setup(void **state)
{
    (void) state;
    if (unit_redis.pid == 0) {
        unit_redis_start(NULL);
    }
    unit_redis_try("AUTH default %s", ""); /* whoever the connection has been made */
    unit_redis_ask("REPLICAOF NO ONE");
    unit_redis_ask("CONFIG SET requirepass %s", "");
    unit_redis_ask("CONFIG SET maxmemory 0");
    unit_redis_ask("CONFIG SET min-replicas-to-write 0");
    unit_redis_ask("CONFIG SET maxclients 1000");
    unit_redis_try("CLIENT UNPAUSE"); /* not before Redis 6.2 */
    unit_redis_ask("CLIENT KILL TYPE normal");
    unit_redis_ask("CLIENT KILL TYPE pubsub");
    unit_redis_let_default();
    unit_redis_ask("ACL DELUSER tester");
    unit_redis_ask("FLUSHALL");
    unit_redis_ask("SCRIPT FLUSH");
    return 0;
}

static redisReply *ask(const char *format, va_list arguments)
{
    freeReplyObject(answer);
    answer = redisvCommand(unit_redis.connection, format, arguments);
    if (answer == NULL) {
        fail_msg("no answer to \"%s\": %s", format, unit_redis.connection->errstr);
    }
    return answer;
}

/* The same, where an error fails the test. */
static redisReply *demand(const char *format, va_list arguments)
{
    redisReply *reply = ask(format, arguments);

    if (reply->type == REDIS_REPLY_ERROR) {
        fail_msg("\"%s\" was refused: %s", format, reply->str);
    }
    return reply;
}

redisReply *unit_redis_try(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    ask(format, arguments);
    va_end(arguments);
    return answer;
}

redisReply *unit_redis_ask(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    demand(format, arguments);
    va_end(arguments);
    return answer;
}

long long unit_redis_number(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    demand(format, arguments);
    va_end(arguments);
    UNIT_CHECK(answer->type == REDIS_REPLY_INTEGER);
    return answer->integer;
}

const char *unit_redis_text(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    demand(format, arguments);
    va_end(arguments);
    UNIT_CHECK(answer->type == REDIS_REPLY_STRING || answer->type == REDIS_REPLY_STATUS
               || answer->type == REDIS_REPLY_NIL);
    return answer->type == REDIS_REPLY_NIL ? "" : answer->str;
}

int64_t unit_redis_now_us(void)
{
    redisReply *time = unit_redis_ask("TIME");

    return atoll(time->element[0]->str) * 1000000 + atoll(time->element[1]->str);
}

int64_t unit_redis_expiry_of(const char *key)
{
    return unit_redis_number("EVAL %s 1 %s", UNIT_REDIS_LUA_EXPIRY "return expiry_of(KEYS[1])",
                             key);
}

/* A digest of all keys, their contents and when they expire. */
static const char *digest_of_all(void)
{
    return unit_redis_text("EVAL %s 0", UNIT_REDIS_LUA_EXPIRY
                           "local keys, all = redis.call('KEYS', '*'), {}\n"
                           "table.sort(keys)\n"
                           "for _, key in ipairs(keys) do\n"
                           "  table.insert(all, key .. redis.call('DUMP', key)\n"
                           "    .. expiry_of(key))\n"
                           "end\n"
                           "return redis.sha1hex(table.concat(all, '|'))");
}

void unit_redis_snapshot(void)
{
    snprintf(noted, sizeof(noted), "%s", digest_of_all());
}

bool unit_redis_is_unchanged(void)
{
    return strcmp(noted, digest_of_all()) == 0;
}

bool unit_redis_is_error(const redisReply *reply, const char *error)
{
    const char *text = reply->type == REDIS_REPLY_ERROR ? reply->str : "";
    const char *place = strstr(text, "@user_script:"), *found = strstr(text, error);

    /* Before Redis 7 what a script's command was answered stands behind its place there. */
    return found != NULL && (found == text || (place != NULL && place < found));
}

static redisContext *connected(redisContext *context)
{
    if (context != NULL && context->err != 0) {
        redisFree(context);
        return NULL;
    }
    set_timeout(context);
    return context;
}

redisContext *unit_redis_connect_to(int port)
{
    return connected(redisConnect("127.0.0.1", port));
}

redisContext *unit_redis_connect_by(const char *path)
{
    return connected(redisConnectUnix(path));
}

redisContext *unit_redis_connect(void)
{
    redisContext *context = unit_redis_connect_to(unit_redis.port);

    UNIT_CHECK(context != NULL);
    return context;
}
