/*
 * Anything in any order, with faults in between: what a lease says it holds the server has, there
 * is no writer beside anybody, and in the end nothing is left.
 */
#include "redis_store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define LEASES 4
#define OPERATIONS 1500

static latch_lease *leases[LEASES];
static char last[256]; /* what was done, for a failure's message */

static int choose(int count)
{
    return (int) (random() % count);
}

static bool is_member(const char *token)
{
    return token != NULL && unit_redis_text("ZSCORE r %s", token)[0] != '\0';
}

static void check_all(void)
{
    int writers = 0, readers = 0;

    for (int at = 0; at < LEASES; at++) {
        if (!unit_held(leases[at])) {
            continue;
        }
        writers += leases[at]->mode == LATCH_EXCLUSIVE;
        readers += leases[at]->mode == LATCH_SHARED;
        if (!is_member(leases[at]->token)
            || (leases[at]->mode == LATCH_EXCLUSIVE && !is_member("__write__"))) {
            fail_msg("lease %d holds what the server has not, after: %s", at, last);
        }
    }
    if (writers > 1 || (writers == 1 && readers > 0)) {
        fail_msg("%d writers beside %d readers, after: %s", writers, readers, last);
    }
}

/* What may happen while a command is on its way: nothing, the end of its connection, or a cancel.
 */
static latch_status meddle(latch_op *op, latch_status status, int fault)
{
    if (latch_wants(status) && fault == 1) {
        unit_redis_ask("CLIENT KILL TYPE normal");
    } else if (latch_wants(status) && fault == 2) {
        return unit_cancel(op);
    } else if (latch_wants(status) && fault == 3) {
        unit_redis_ask("CLIENT KILL TYPE normal");
        return unit_cancel(op);
    } else if (latch_wants(status) && fault == 4) {
        unit_await_grant(op);
        return unit_cancel(op);
    }
    return unit_finish(op, status);
}

static latch_request choose_request(void)
{
    static const latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_ACQUIRE, LATCH_ACQUIRE_SHARED,
                                          LATCH_REFRESH, LATCH_RELEASE, LATCH_PROBE};
    latch_request request = redis_request(kinds[choose(6)]);

    if (request.kind <= LATCH_ACQUIRE_SHARED && choose(8) == 0) {
        return redis_waiting(request.kind, MINUTE, 3);
    }
    request.detach = request.kind == LATCH_RELEASE && choose(2) == 0;
    return request;
}

static void act(int round)
{
    latch_lease *lease = leases[choose(LEASES)];
    latch_request request = choose_request();
    int before = choose(20), fault = choose(12);
    bool hangs = before > 0 && before < 6;
    latch_status status;
    latch_op op;

    snprintf(last, sizeof(last), "operation %d: kind %d, detach %d, wait %d, before %d, fault %d",
             round, (int) request.kind, request.detach, request.wait, before, fault);
    if (before == 0) {
        unit_redis_ask("SCRIPT FLUSH");
    } else if (before == 6) {
        unit_redis_ask("CLIENT KILL TYPE normal");
    }
    if (hangs) {
        redis_hold_server();
    }
    status = redis_step_until_sent(&op, unit_begin(&op, lease, request));
    if (hangs && fault == 2) { /* while the server does not know of it yet */
        status = latch_wants(status) ? latch_op_cancel(&op, unit_now_ns()) : status;
        redis_let_server_go();
        unit_finish(&op, status);
    } else {
        redis_let_server_go();
        meddle(&op, status, fault);
    }
    if (lease->busy) {
        fail_msg("a lease stays busy, after: %s", last);
    }
}

static unsigned choose_seed(void)
{
    const char *given = getenv("LATCH_TEST_SEED");
    unsigned seed = given != NULL ? (unsigned) strtoul(given, NULL, 10)
                                  : (unsigned) (unit_redis_now_us() ^ getpid());

    print_message("LATCH_TEST_SEED=%u\n", seed);
    return seed;
}

static void nobody_holds_by_mistake_and_nothing_is_left(void **state)
{
    int held = 0;

    (void) state;
    srandom(choose_seed());
    for (int at = 0; at < LEASES; at++) {
        leases[at] = at % 2 == 0 ? redis_lease("r") : redis_other_lease("r");
    }
    for (int round = 0; round < OPERATIONS; round++) {
        act(round);
        check_all();
        for (int at = 0; at < LEASES; at++) {
            held += unit_held(leases[at]);
        }
    }
    UNIT_CHECK(held > OPERATIONS / 4); /* it was no series of refusals */
    for (int at = 0; at < LEASES; at++) {
        unit_release(leases[at]);
    }
    /* What is still owed is paid before this, on both connections. */
    UNIT_CHECK(redis_run(redis_lease("s"), LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_run(redis_other_lease("t"), LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_is_free("r"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_TEST(nobody_holds_by_mistake_and_nothing_is_left),
    };

    return cmocka_run_group_tests_name("redis at random", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
