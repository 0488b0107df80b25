/* Redis stores and the wire to their server: see redis_store.h. */
#include "redis_store.h"

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
    int listener, store, server; /* -1: there is none */
} wire = {.listener = -1, .store = -1, .server = -1};

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
    store = latch_store_open(unit.engine, "redis", &options, &unit.error);
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
    unit_redis_ask("CONFIG RESETSTAT");
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

void redis_store_forget(void)
{
    close_all_but(2);
    unit_redis_ask("FLUSHALL");
}

int redis_store_teardown(void **state)
{
    redis_let_server_go();
    close_all_but(0);
    unit.store = NULL;
    return unit_teardown(state);
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
        status = latch_op_step(op, latch_engine_now_ns(unit.engine));
    }
    return status;
}

void redis_send(latch_op *op, latch_lease *lease, latch_request request)
{
    UNIT_CHECK(redis_step_until_sent(op, unit_begin(op, lease, request)) == LATCH_WANT_IO);
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

bool redis_is_free(const char *resource)
{
    return unit_redis_number("EXISTS %s latch:holder:%s", resource, resource) == 0;
}

long long redis_count_calls(const char *command)
{
    char name[64];
    const char *found;
    long long count;

    snprintf(name, sizeof(name), "cmdstat_%s:calls=", command);
    found = strstr(unit_redis_text("INFO commandstats"), name);
    count = found != NULL ? atoll(found + strlen(name)) : 0;
    unit_redis_ask("CONFIG RESETSTAT");
    return count;
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
    struct sockaddr_un address;

    snprintf(wire.path, sizeof(wire.path), "%s/wire", unit_redis.directory);
    address_of(wire.path, &address);
    wire.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    UNIT_CHECK(wire.listener >= 0);
    UNIT_CHECK(bind(wire.listener, (struct sockaddr *) &address, sizeof(address)) == 0);
    UNIT_CHECK(listen(wire.listener, 8) == 0);
    return redis_open("redis://%s%s", wire.path, options);
}

bool redis_wire_is_wanted(void)
{
    struct pollfd poll_fd = {.fd = wire.listener, .events = POLLIN};

    return poll(&poll_fd, 1, 0) == 1;
}

static void await_readable(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    UNIT_CHECK(poll(&poll_fd, 1, UNIT_PATIENCE_NS / LATCH_NS_PER_MS) == 1);
}

static void close_end(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

void redis_wire_accept(void)
{
    struct sockaddr_un address;

    redis_wire_cut();
    await_readable(wire.listener);
    wire.store = accept4(wire.listener, NULL, NULL, SOCK_CLOEXEC);
    UNIT_CHECK(wire.store >= 0);
    address_of(unit_redis.socket, &address);
    wire.server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    UNIT_CHECK(connect(wire.server, (struct sockaddr *) &address, sizeof(address)) == 0);
}

static void pass(int from, int to, size_t most)
{
    char bytes[65536];
    ssize_t count;

    await_readable(from);
    count = recv(from, bytes, sizeof(bytes), 0);
    UNIT_CHECK(count > 0);
    count = count > (ssize_t) most ? (ssize_t) most : count;
    UNIT_CHECK(send(to, bytes, (size_t) count, MSG_NOSIGNAL) == count);
}

void redis_wire_pass_command(void)
{
    pass(wire.store, wire.server, SIZE_MAX >> 1);
}

void redis_wire_pass_reply(size_t most)
{
    pass(wire.server, wire.store, most);
}

void redis_wire_answer(const char *text)
{
    size_t length = strlen(text);

    UNIT_CHECK(send(wire.store, text, length, MSG_NOSIGNAL) == (ssize_t) length);
}

void redis_wire_cut(void)
{
    close_end(&wire.store);
    close_end(&wire.server);
}

void redis_wire_close(void)
{
    redis_wire_cut();
    if (wire.listener >= 0) {
        close_end(&wire.listener);
        unlink(wire.path);
    }
}
