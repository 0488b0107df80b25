/* A driver of operations, as ext/php/poll_loop.c is one: polls, steps, gives up after a while. */
#include "unit.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

int64_t unit_now_ns(void)
{
    return latch_engine_now_ns(unit.engine);
}

latch_lease *unit_lease_on(const char *resource, size_t length)
{
    latch_lease *lease = &unit.leases[unit.lease_count++];

    UNIT_CHECK(unit.lease_count <= sizeof(unit.leases) / sizeof(unit.leases[0]));
    latch_lease_init(lease, unit.store, resource, length);
    return lease;
}

latch_lease *unit_lease(const char *resource)
{
    return unit_lease_on(resource, strlen(resource));
}

latch_request unit_request(latch_op_kind kind)
{
    return (latch_request){.kind = kind, .deadline_ns = LATCH_NEVER};
}

latch_request unit_waiting(latch_op_kind kind, int64_t timeout_ms)
{
    return (latch_request){
        .kind = kind,
        .wait = true,
        .deadline_ns = timeout_ms == LATCH_NEVER ? LATCH_NEVER
                                                 : unit_now_ns() + timeout_ms * LATCH_NS_PER_MS,
    };
}

void unit_await_wish(const latch_op *op, latch_status status, int64_t limit_ns)
{
    struct pollfd descriptors[LATCH_DESCRIPTORS_MAX];
    int64_t until_ns = op->wake_ns < limit_ns ? op->wake_ns : limit_ns;
    int64_t rest_ns = until_ns - unit_now_ns();
    struct timespec rest;

    if (!unit.real_clock) {
        UNIT_CHECK(status == LATCH_WANT_TIMER);
        UNIT_CHECK(op->wake_ns > unit.now_ns);
        UNIT_CHECK(op->wake_ns < LATCH_NEVER);
        unit.now_ns = op->wake_ns;
        return;
    }
    rest_ns = rest_ns > 0 ? rest_ns : 0;
    rest = (struct timespec){rest_ns / LATCH_NS_PER_S, rest_ns % LATCH_NS_PER_S};
    UNIT_CHECK(ppoll(descriptors,
                     status == LATCH_WANT_IO ? latch_op_descriptors(op, descriptors) : 0, &rest,
                     NULL)
                   >= 0
               || errno == EINTR);
}

bool unit_is_due(const latch_op *op, latch_status status)
{
    struct pollfd poll_fd = {.fd = op->fd, .events = op->events};

    return unit_now_ns() >= op->wake_ns || (status == LATCH_WANT_IO && poll(&poll_fd, 1, 0) > 0);
}

/* What a rare failure leaves to look at: the caller's line is not known here. */
static void print_unfinished(const latch_op *op, latch_status status)
{
    fprintf(stderr,
            "operation of kind %d on \"%.*s\" wants status %d, fd %d, events %d, wake in %lld ns; "
            "waits %d, was contended %d, cancelled %d, behind a detached one %d; "
            "last sent %lld ns ago; error: %s\n",
            (int) op->request.kind, (int) op->lease->resource_length, op->lease->resource,
            (int) status, op->fd, op->events, (long long) (op->wake_ns - unit_now_ns()),
            op->waiting, op->contended, op->cancelled, op->waits_for_detached,
            (long long) (unit_now_ns() - op->sent_ns), unit.error.message);
}

latch_status unit_finish(latch_op *op, latch_status status)
{
    int64_t limit_ns = unit_now_ns() + UNIT_TIMEOUT_NS;

    while (latch_wants(status)) {
        if (unit_now_ns() >= limit_ns) {
            print_unfinished(op, status);
            UNIT_CHECK(!"the operation has ended in time");
        }
        unit_await_wish(op, status, limit_ns);
        status = latch_op_step(op, unit_now_ns());
    }
    return status;
}

latch_status unit_begin(latch_op *op, latch_lease *lease, latch_request request)
{
    return latch_op_begin(op, lease, &request, &unit.error);
}

latch_status unit_run_request(latch_lease *lease, latch_request request)
{
    latch_op op;

    return unit_finish(&op, unit_begin(&op, lease, request));
}

latch_status unit_run(latch_lease *lease, latch_op_kind kind)
{
    return unit_run_request(lease, unit_request(kind));
}

latch_status unit_run_waiting(latch_lease *lease, latch_op_kind kind, int64_t timeout_ms)
{
    return unit_run_request(lease, unit_waiting(kind, timeout_ms));
}

latch_status unit_cancel(latch_op *op)
{
    return unit_finish(op, latch_op_cancel(op, unit_now_ns()));
}

bool unit_held(latch_lease *lease)
{
    return latch_lease_held(lease, unit_now_ns());
}

void unit_release(latch_lease *lease)
{
    latch_status status = unit_run(lease, LATCH_RELEASE);

    if (status != LATCH_DONE) {
        fprintf(stderr, "release: status %d, %s\n", (int) status, unit.error.message);
    }
    UNIT_CHECK(status == LATCH_DONE);
    UNIT_CHECK(lease->mode == LATCH_FREE);
    UNIT_CHECK(!unit_held(lease));
}

void unit_await_grant(const latch_op *op)
{
    struct pollfd poll_fd = {.fd = op->fd, .events = op->events};

    UNIT_CHECK(poll(&poll_fd, 1, UNIT_TIMEOUT_NS / LATCH_NS_PER_MS) == 1);
}
