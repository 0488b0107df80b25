/* Redis stores and the wire to their server: see redis_store.h. */
#include "redis_store.h"

#include "src/store/redis/lock/redis.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Stores */

static latch_store *stores[8];
static size_t store_count;
static latch_store *other_store;

static struct {
    char path[UNIT_PATH + 8];
    int listener; /* -1: there is none */
    struct {
        int store, server; /* -1: there is none */
    } lines[REDIS_LINES];
    redis_line used;
} wire = {.listener = -1, .lines = {{-1, -1}, {-1, -1}}};

latch_store *redis_open(const char *format, ...)
{
    char dsn[512];
    latch_store_options options = {.dsn = dsn};
    latch_store *store;
    va_list arguments;

    va_start(arguments, format);
    options.dsn_length = (size_t) vsnprintf(dsn, sizeof(dsn), format, arguments);
    va_end(arguments);
    UNIT_CHECK(options.dsn_length < sizeof(dsn));
    UNIT_CHECK(store_count < sizeof(stores) / sizeof(stores[0]));
    store = latch_store_open(unit.engine,
                             strstr(options.dsn, "+string:") != NULL ? "redis-string" : "redis",
                             &options, &unit.error);
    if (store != NULL) {
        stores[store_count++] = store;
    }
    return store;
}

int redis_store_setup(void **state)
{
    unit_redis_setup(state);
    if (unit_setup(state) != 0) {
        return -1;
    }
    unit.real_clock = true;
    store_count = 0;
    unit.store = redis_open("redis://127.0.0.1:%d", unit_redis.port);
    other_store = redis_open("redis://127.0.0.1:%d", unit_redis.port);
    redis_forget_calls();
    return unit.store != NULL && other_store != NULL ? 0 : -1;
}

static void close_all_but(size_t count)
{
    redis_wire_close();
    while (unit.lease_count > 0) {
        latch_lease_drop(&unit.leases[--unit.lease_count]);
    }
    while (store_count > count) {
        latch_store_close(stores[--store_count]);
    }
}

void redis_store_close_all(void)
{
    close_all_but(0);
    unit.store = NULL;
}

void redis_store_forget(void)
{
    close_all_but(2);
    unit_redis_ask("FLUSHALL");
}

int redis_store_teardown(void **state)
{
    redis_let_server_go();
    redis_store_close_all();
    return unit_teardown(state);
}

int redis_wait_teardown(void **state)
{
    bool is_wired = wire.listener >= 0;

    redis_let_server_go();
    for (size_t at = 0; at < unit.lease_count && !is_wired; at++) {
        latch_lease *lease = &unit.leases[at];

        if (lease->mode != LATCH_FREE && !lease->busy) {
            UNIT_CHECK(redis_run(lease, LATCH_RELEASE) == LATCH_DONE);
        }
    }
    if (!is_wired) {
        redis_expect_nothing_left();
    }
    return redis_store_teardown(state);
}

latch_lease *redis_lease_in(latch_store *store, const char *resource)
{
    latch_lease *lease = unit_lease(resource);

    latch_lease_init(lease, store, resource, strlen(resource));
    return lease;
}

latch_lease *redis_lease(const char *resource)
{
    return unit_lease(resource);
}

latch_lease *redis_other_lease(const char *resource)
{
    return redis_lease_in(other_store, resource);
}

latch_request redis_request_for(latch_op_kind kind, int64_t ttl_ms)
{
    latch_request request = unit_request(kind);

    request.ttl_ms = ttl_ms;
    return request;
}

latch_request redis_request(latch_op_kind kind)
{
    return redis_request_for(kind, MINUTE);
}

latch_request redis_detached_release(void)
{
    latch_request request = unit_request(LATCH_RELEASE);

    request.detach = true;
    return request;
}

latch_request redis_waiting(latch_op_kind kind, int64_t ttl_ms, int64_t timeout_ms)
{
    latch_request request = unit_waiting(kind, timeout_ms);

    request.ttl_ms = ttl_ms;
    return request;
}

latch_request redis_wait_to_write(void)
{
    return redis_waiting(LATCH_ACQUIRE, MINUTE, LATCH_NEVER);
}

latch_request redis_wait_to_read(void)
{
    return redis_waiting(LATCH_ACQUIRE_SHARED, MINUTE, LATCH_NEVER);
}

latch_status redis_run_for(latch_lease *lease, latch_op_kind kind, int64_t ttl_ms)
{
    return unit_run_request(lease, redis_request_for(kind, ttl_ms));
}

latch_status redis_run(latch_lease *lease, latch_op_kind kind)
{
    return redis_run_for(lease, kind, MINUTE);
}

latch_status redis_step_until_sent(latch_op *op, latch_status status)
{
    while (status == LATCH_WANT_IO && (op->events & POLLOUT) != 0) {
        unit_await_grant(op); /* returns when the socket is ready */
        status = latch_op_step(op, unit_now_ns());
    }
    return status;
}

void redis_send(latch_op *op, latch_lease *lease, latch_request request)
{
    UNIT_CHECK(redis_step_until_sent(op, unit_begin(op, lease, request)) == LATCH_WANT_IO);
}

void redis_expect_working(latch_lease *lease)
{
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE && unit_held(lease));
    unit_release(lease);
    UNIT_CHECK(redis_is_free(lease->resource));
}

void redis_expect_done(latch_status status)
{
    if (status != LATCH_DONE) {
        fail_msg("it ended with %d: %s", status, unit.error.message);
    }
}

bool redis_failed(latch_status status, const char *message)
{
    if (status != LATCH_ERROR_STORE || unit.error.status != status
        || strstr(unit.error.message, message) == NULL) {
        print_message("not \"%s\" but status %d: \"%s\"\n", message, status, unit.error.message);
        return false;
    }
    return true;
}

/* ---- Waits */

redis_moment redis_moment_of(const latch_op *op)
{
    const redis_store *store = latch_redis_store_of(op);
    const redis_subscription *subscription = &store->subscription;

    if (op->state == NULL) {
        return AT_PAUSING;
    }
    if (latch_redis_is_sent(op)) { /* a call */
        static const redis_moment moments[] = {
            [REDIS_TRY] = AT_TRYING,   [REDIS_WAIT] = AT_ASKING,    [REDIS_CHECK] = AT_ASKING,
            [REDIS_POLL] = AT_POLLING, [REDIS_CLAIM] = AT_CLAIMING,
        };

        const redis_hold *hold = op->lease->state;

        return moments[latch_redis_is_queued(op->lease) ? hold->wait.step : REDIS_TRY];
    }
    if (subscription->connection.has_socket && op->fd == subscription->connection.descriptor.fd) {
        return latch_redis_is_subscribed(subscription) && latch_redis_is_queued(op->lease)
                   ? AT_WAITING
                   : AT_SUBSCRIBING;
    }
    return AT_CONNECTING;
}

latch_status redis_step_until(latch_op *op, latch_status status, redis_moment moment)
{
    int64_t limit_ns = unit_now_ns() + UNIT_TIMEOUT_NS;

    while (latch_wants(status) && redis_moment_of(op) != moment) {
        UNIT_CHECK(unit_now_ns() < limit_ns);
        unit_await_wish(op, status, limit_ns);
        status = latch_op_step(op, unit_now_ns());
    }
    return status;
}

void redis_begin_wait(latch_op *op, latch_lease *lease, latch_request request)
{
    UNIT_CHECK(redis_step_until(op, unit_begin(op, lease, request), AT_WAITING) == LATCH_WANT_IO);
    UNIT_CHECK(op->waiting);
}

latch_status redis_finish_outer(latch_op *op)
{
    return unit_finish(op, latch_op_step(op, unit_now_ns()));
}

latch_status redis_time_out(latch_op *op)
{
    int64_t now_ns = unit_now_ns();

    op->request.deadline_ns = now_ns;
    if (op->first_response_deadline_ns > now_ns) {
        op->first_response_deadline_ns = now_ns;
    }
    return latch_op_step(op, now_ns);
}

long long redis_count_waiters(const char *resource)
{
    return unit_redis_number("ZCARD latch:queue:%s", resource);
}

void redis_await_waiters(const char *resource, long long count)
{
    UNIT_AWAIT(redis_count_waiters(resource) == count);
}

void redis_await_free(const char *resource)
{
    UNIT_AWAIT(redis_is_free(resource));
}

void redis_await_keys(long long count)
{
    UNIT_AWAIT(unit_redis_number("DBSIZE") == count); /* releases may be on their way */
}

void redis_expect_nothing_left(void)
{
    redis_await_keys(unit_redis_number("EXISTS latch:fencing"));
}

void redis_hold_server(void)
{
    int status;

    UNIT_CHECK(kill(unit_redis.pid, SIGSTOP) == 0);
    UNIT_CHECK(waitpid(unit_redis.pid, &status, WUNTRACED) == unit_redis.pid && WIFSTOPPED(status));
}

void redis_let_server_go(void)
{
    UNIT_CHECK(unit_redis.pid == 0 || kill(unit_redis.pid, SIGCONT) == 0);
}

void redis_set_command_timeout(latch_store *store, int64_t ms)
{
    ((redis_store *) store)->options.command_timeout_ns = ms * LATCH_NS_PER_MS;
}

bool redis_is_free(const char *resource)
{
    return unit_redis_number("EXISTS %s latch:holder:%s", resource, resource) == 0;
}

void redis_forget_calls(void)
{
    unit_redis_ask("CONFIG RESETSTAT");
}

long long redis_count_calls(const char *command)
{
    char name[64];
    const char *found;

    snprintf(name, sizeof(name), "cmdstat_%s:calls=", command);
    if (unit_redis_is_before(7, 0)) { /* counts the parts of a command together */
        snprintf(name, sizeof(name), "cmdstat_%.*s:calls=", (int) strcspn(command, "|"), command);
    }
    found = strstr(unit_redis_text("INFO commandstats"), name);
    return found != NULL ? atoll(found + strlen(name)) : 0;
}

/* ---- The wire */

static void address_of(const char *path, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    UNIT_CHECK(strlen(path) < sizeof(address->sun_path));
    strcpy(address->sun_path, path);
}

latch_store *redis_wire_open(const char *options)
{
    return redis_wire_open_as("redis", options);
}

latch_store *redis_wire_open_as(const char *scheme, const char *options)
{
    struct sockaddr_un address;

    snprintf(wire.path, sizeof(wire.path), "%s/wire", unit_redis.directory);
    address_of(wire.path, &address);
    wire.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    UNIT_CHECK(wire.listener >= 0);
    UNIT_CHECK(bind(wire.listener, (struct sockaddr *) &address, sizeof(address)) == 0);
    UNIT_CHECK(listen(wire.listener, 8) == 0);
    wire.used = REDIS_COMMANDS;
    return redis_open("%s://%s%s", scheme, wire.path, options);
}

void redis_wire_use(redis_line line)
{
    wire.used = line;
}

bool redis_wire_is_wanted(void)
{
    struct pollfd poll_fd = {.fd = wire.listener, .events = POLLIN};

    return poll(&poll_fd, 1, 0) == 1;
}

static void await_readable(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    UNIT_CHECK(poll(&poll_fd, 1, UNIT_TIMEOUT_NS / LATCH_NS_PER_MS) == 1);
}

static void close_end(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

static void cut(redis_line line)
{
    close_end(&wire.lines[line].store);
    close_end(&wire.lines[line].server);
}

static void take(redis_line line)
{
    struct sockaddr_un address;

    cut(line);
    await_readable(wire.listener);
    wire.lines[line].store = accept4(wire.listener, NULL, NULL, SOCK_CLOEXEC);
    UNIT_CHECK(wire.lines[line].store >= 0);
    address_of(unit_redis.socket, &address);
    wire.lines[line].server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    UNIT_CHECK(connect(wire.lines[line].server, (struct sockaddr *) &address, sizeof(address))
               == 0);
}

void redis_wire_accept(void)
{
    take(wire.used);
}

/* False at the end of what comes. */
static bool pass_what_came(int from, int to, size_t most)
{
    char bytes[65536];
    ssize_t count = recv(from, bytes, sizeof(bytes), 0);

    if (count <= 0) {
        return false;
    }
    count = count > (ssize_t) most ? (ssize_t) most : count;
    UNIT_CHECK(send(to, bytes, (size_t) count, MSG_NOSIGNAL) == count);
    return true;
}

static void pass(int from, int to, size_t most)
{
    await_readable(from);
    UNIT_CHECK(pass_what_came(from, to, most));
}

void redis_wire_pass_command(void)
{
    pass(wire.lines[wire.used].store, wire.lines[wire.used].server, SIZE_MAX >> 1);
}

void redis_wire_take_command(void)
{
    char bytes[65536];

    await_readable(wire.lines[wire.used].store);
    UNIT_CHECK(recv(wire.lines[wire.used].store, bytes, sizeof(bytes), 0) > 0);
}

void redis_wire_pass_reply(size_t most)
{
    pass(wire.lines[wire.used].server, wire.lines[wire.used].store, most);
}

latch_status redis_wire_exchange(latch_lease *lease, latch_op_kind kind)
{
    latch_op op;

    redis_send(&op, lease, redis_request(kind));
    redis_wire_pass_command();
    redis_wire_pass_reply(SIZE_MAX >> 1);
    return unit_finish(&op, LATCH_WANT_IO);
}

latch_lease *redis_lease_on_wire(latch_mode mode)
{
    latch_lease *lease = redis_lease("other");
    latch_op op;

    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_run(lease, LATCH_REFRESH) == LATCH_DONE);
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    unit_release(lease);
    lease = redis_lease_in(redis_wire_open("?read_timeout=10"), "r");
    redis_send(&op, lease, redis_request(LATCH_ACQUIRE));
    redis_wire_accept();
    redis_wire_pass_command();
    redis_wire_pass_reply(SIZE_MAX >> 1);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
    if (mode != LATCH_EXCLUSIVE) {
        UNIT_CHECK(
            redis_wire_exchange(lease, mode == LATCH_FREE ? LATCH_RELEASE : LATCH_ACQUIRE_SHARED)
            == LATCH_DONE);
    }
    UNIT_CHECK(lease->mode == mode);
    return lease;
}

void redis_wire_answer(const char *text)
{
    size_t length = strlen(text);

    UNIT_CHECK(send(wire.lines[wire.used].store, text, length, MSG_NOSIGNAL) == (ssize_t) length);
}

static redis_line free_line(void)
{
    return wire.lines[REDIS_COMMANDS].store < 0 ? REDIS_COMMANDS : REDIS_MESSAGES;
}

/* Sleeps until something is to be passed on, or has come on that descriptor; passes it on. */
static void relay_until_ready(struct pollfd other, int most_ms)
{
    enum { LISTENER, OTHER, ENDS };
    struct pollfd fds[ENDS + 2 * REDIS_LINES];

    fds[LISTENER] = (struct pollfd){.fd = wire.listener, .events = POLLIN};
    fds[OTHER] = other;
    for (int line = 0; line < REDIS_LINES; line++) {
        fds[ENDS + 2 * line] = (struct pollfd){.fd = wire.lines[line].store, .events = POLLIN};
        fds[ENDS + 2 * line + 1] = (struct pollfd){.fd = wire.lines[line].server, .events = POLLIN};
    }
    UNIT_CHECK(poll(fds, ENDS + 2 * REDIS_LINES, most_ms) >= 0);
    for (int line = 0; line < REDIS_LINES; line++) {
        int store = wire.lines[line].store, server = wire.lines[line].server;

        if ((fds[ENDS + 2 * line].revents != 0 && !pass_what_came(store, server, SIZE_MAX >> 1))
            || (fds[ENDS + 2 * line + 1].revents != 0
                && !pass_what_came(server, store, SIZE_MAX >> 1))) {
            cut((redis_line) line);
        }
    }
    if (fds[LISTENER].revents != 0) {
        take(free_line());
    }
}

/* The same until the operation wants a step. */
static void relay(const latch_op *op, latch_status status)
{
    int64_t rest_ns = op->wake_ns - unit_now_ns();
    int64_t rest_ms = rest_ns <= 0 ? 0 : rest_ns / LATCH_NS_PER_MS + 1;
    struct pollfd wish = {.fd = status == LATCH_WANT_IO ? op->fd : -1, .events = op->events};

    relay_until_ready(wish, rest_ms < 1000 ? (int) rest_ms : 1000);
}

void redis_wire_pass_all(int ms)
{
    int64_t end_ns = unit_now_ns() + ms * LATCH_NS_PER_MS;

    while (unit_now_ns() < end_ns) {
        relay_until_ready((struct pollfd){.fd = -1}, 1);
    }
}

/* To the end if `moment` is negative. */
static latch_status relay_until(latch_op *op, latch_status status, int moment)
{
    int64_t limit_ns = unit_now_ns() + UNIT_TIMEOUT_NS;

    while (latch_wants(status) && (int) redis_moment_of(op) != moment) {
        UNIT_CHECK(unit_now_ns() < limit_ns);
        relay(op, status);
        status = latch_op_step(op, unit_now_ns());
    }
    if (redis_wire_is_wanted()) {
        take(free_line()); /* on which something may have been sent already */
    }
    return status;
}

latch_status redis_wire_step_until(latch_op *op, latch_status status, redis_moment moment)
{
    return relay_until(op, status, (int) moment);
}

latch_status redis_wire_finish(latch_op *op, latch_status status)
{
    return relay_until(op, status, -1);
}

void redis_wire_cut(void)
{
    cut(wire.used);
}

void redis_wire_close(void)
{
    cut(REDIS_COMMANDS);
    cut(REDIS_MESSAGES);
    if (wire.listener >= 0) {
        close_end(&wire.listener);
        unlink(wire.path);
    }
}
