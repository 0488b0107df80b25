/*
 * Releases in Redis that nobody awaits: by which way they are sent, and what becomes of them when
 * the server has forgotten the script, while nobody reads its answer.
 */
#include "redis_permit_leases.h"
#include "redis_scripts.h"

#include <unistd.h>

#define HANDED_OVER_MS 300 /* far less than a waiter's own poll (queue.lua's SAFETY_MS) */

/* ---- All layouts */

typedef struct layout {
    const char *scheme, *text; /* of the DSN; of the script behind a release */
    bool is_permit;
} layout;

static const layout layouts[] = {{"redis", REDIS_LUA_LET_GO, false},
                                 {"redis+string", REDIS_LUA_STRING_LET_GO, false},
                                 {"redis", REDIS_LUA_PERMIT_LET_GO, true}};

#define EACH_LAYOUT(as)                                                                            \
    for (const layout *as = layouts; as < layouts + sizeof(layouts) / sizeof(layouts[0]);          \
         as++, redis_store_forget())

/* In a store of its own. */
static latch_lease *new_lease(const layout *as)
{
    latch_store *store =
        redis_open("%s://127.0.0.1:%d?read_timeout=10", as->scheme, unit_redis.port);

    return as->is_permit ? redis_permit_in(store) : redis_lease_in(store, "r");
}

/* Beside the other one, in its store. */
static latch_lease *lease_beside(const layout *as, const latch_lease *other)
{
    return as->is_permit ? redis_permit_in(other->store) : redis_lease_in(other->store, "r");
}

static latch_request to_take(const layout *as)
{
    return as->is_permit ? redis_take(1, 1) : redis_request(LATCH_ACQUIRE);
}

static latch_request to_wait(const layout *as)
{
    return as->is_permit ? redis_wait_to_take(1, 1) : redis_wait_to_write();
}

static bool is_nobodys(const layout *as)
{
    return as->is_permit ? redis_permits_used() == 0 : redis_is_free("r");
}

static void take(const layout *as, latch_lease *lease)
{
    redis_expect_done(unit_run_request(lease, to_take(as)));
}

static void let_go(latch_lease *lease)
{
    redis_expect_done(unit_run_request(lease, redis_detached_release()));
}

/* A lease that holds, in a store that has been told that the server knows the script. */
static latch_lease *experienced_holder(const layout *as)
{
    latch_lease *lease = new_lease(as);

    take(as, lease);
    let_go(lease);
    take(as, lease);
    return lease;
}

static long long bytes_sent(void)
{
    const char *field = strstr(unit_redis_text("INFO stats"), "total_net_input_bytes:");

    UNIT_CHECK(field != NULL);
    return strtoll(field + sizeof("total_net_input_bytes:") - 1, NULL, 10);
}

/* ---- How they are sent */

static void the_script_is_sent_once_on_a_connection(void **state)
{
    (void) state;
    EACH_LAYOUT(as)
    {
        latch_lease *lease = new_lease(as);
        long long before;

        take(as, lease);
        redis_forget_calls();
        let_go(lease);
        UNIT_AWAIT(redis_count_calls("eval") == 1);
        assert_int_equal(redis_count_calls("evalsha"), 0);
        take(as, lease);
        redis_forget_calls();
        before = bytes_sent();
        let_go(lease);
        UNIT_AWAIT(redis_count_calls("eval") == 1); /* the one behind it */
        assert_int_equal(redis_count_calls("evalsha"), 1);
        assert_true(bytes_sent() - before < 1500);
        assert_true(is_nobodys(as));
    }
}

static void an_awaited_release_tells_as_well_that_the_script_is_known(void **state)
{
    (void) state;
    EACH_LAYOUT(as)
    {
        latch_lease *lease = new_lease(as);

        take(as, lease);
        unit_release(lease);
        take(as, lease);
        redis_forget_calls();
        let_go(lease);
        UNIT_AWAIT(redis_count_calls("eval") == 1);
        assert_int_equal(redis_count_calls("evalsha"), 1);
    }
}

/* A new connection may be to another server. */
static void what_one_connection_knows_is_not_known_on_the_next(void **state)
{
    (void) state;
    EACH_LAYOUT(as)
    {
        latch_lease *lease = experienced_holder(as);

        unit_redis_ask("CLIENT KILL TYPE normal SKIPME yes");
        redis_forget_calls();
        let_go(lease);
        UNIT_AWAIT(redis_count_calls("eval") == 1);
        assert_int_equal(redis_count_calls("evalsha"), 0);
        assert_true(is_nobodys(as));
    }
}

/* ---- Waiters */

static bool is_told(latch_op *op)
{
    int64_t begun_ns = unit_now_ns();

    redis_expect_done(unit_finish(op, latch_op_step(op, begun_ns)));
    return unit_now_ns() - begun_ns < HANDED_OVER_MS * LATCH_NS_PER_MS;
}

static void a_waiter_is_handed_over_what_is_released(void **state)
{
    (void) state;
    EACH_LAYOUT(as)
    {
        latch_lease *lease = experienced_holder(as), *waiter = new_lease(as);
        latch_op op;

        redis_begin_wait(&op, waiter, to_wait(as));
        let_go(lease);
        assert_true(is_told(&op));
        /* What came behind the release has not touched that. */
        assert_int_equal(unit_run_request(lease, to_take(as)), LATCH_CONFLICT);
        assert_int_equal(redis_run(waiter, LATCH_REFRESH), LATCH_DONE);
        unit_release(waiter);
    }
}

/* ---- A server that has forgotten the script */

static void nothing_stays_held_when_nobody_reads_the_answer(void **state)
{
    (void) state;
    EACH_LAYOUT(as)
    {
        latch_lease *lease = experienced_holder(as);

        unit_redis_ask("SCRIPT FLUSH");
        redis_forget_calls();
        let_go(lease);
        UNIT_AWAIT(redis_count_calls("eval") == 1);
        assert_true(is_nobodys(as));
        take(as, new_lease(as));
    }
}

static void a_waiter_finds_out_by_itself(void **state)
{
    (void) state;
    EACH_LAYOUT(as)
    {
        latch_lease *lease = experienced_holder(as), *waiter = new_lease(as);
        int64_t begun_ns;
        latch_op op;

        redis_begin_wait(&op, waiter, to_wait(as));
        unit_redis_ask("SCRIPT FLUSH");
        begun_ns = unit_now_ns();
        let_go(lease);
        redis_expect_done(unit_finish(&op, LATCH_WANT_IO));
        assert_true(unit_now_ns() - begun_ns < 2 * LATCH_NS_PER_S);
        unit_release(waiter);
    }
}

/* The same request reads that the script is unknown, and sends the release again, as text. */
static void a_waiter_is_told_at_the_next_request(void **state)
{
    (void) state;
    EACH_LAYOUT(as)
    {
        latch_lease *lease = experienced_holder(as), *waiter = new_lease(as);
        latch_lease *next = lease_beside(as, lease);
        latch_op op;

        redis_begin_wait(&op, waiter, to_wait(as));
        unit_redis_ask("SCRIPT FLUSH");
        let_go(lease);
        UNIT_AWAIT(is_nobodys(as));
        assert_int_equal(unit_run_request(next, to_take(as)), LATCH_CONFLICT);
        assert_true(is_told(&op));
        unit_release(waiter);
        /* And it is known again. */
        take(as, next);
        redis_forget_calls();
        let_go(next);
        UNIT_AWAIT(redis_count_calls("eval") == 1);
        assert_int_equal(redis_count_calls("evalsha"), 1);
    }
}

/* What the first one's answer says counts for the next one. */
static void a_script_that_was_forgotten_is_sent_again_as_text(void **state)
{
    (void) state;
    for (const layout *as = layouts; !as->is_permit; as++, redis_store_forget()) {
        latch_lease *lease = experienced_holder(as);
        latch_lease *next = redis_lease_in(lease->store, "next");

        take(as, next);
        unit_redis_ask("SCRIPT FLUSH");
        let_go(lease);
        UNIT_AWAIT(redis_is_free("r"));
        redis_forget_calls();
        let_go(next);
        UNIT_AWAIT(redis_count_calls("eval") == 2); /* both */
        assert_int_equal(redis_count_calls("evalsha"), 0);
    }
}

/* It reads the answers before it goes. */
static void a_waiter_is_told_at_the_end_of_the_store(void **state)
{
    (void) state;
    EACH_LAYOUT(as)
    {
        latch_lease *waiter = new_lease(as), lease;
        char dsn[80];
        latch_store_options options = {.dsn = dsn};
        latch_store *store;
        latch_op op;

        options.dsn_length =
            (size_t) snprintf(dsn, sizeof(dsn), "%s://127.0.0.1:%d", as->scheme, unit_redis.port);
        store = latch_store_open(unit.engine,
                                 strcmp(as->scheme, "redis") == 0 ? "redis" : "redis-string",
                                 &options, &unit.error);
        if (as->is_permit) {
            latch_permit_lease_init(&lease, store, "s", 1);
        } else {
            latch_lease_init(&lease, store, "r", 1);
        }
        take(as, &lease);
        let_go(&lease);
        take(as, &lease);
        redis_begin_wait(&op, waiter, to_wait(as));
        unit_redis_ask("SCRIPT FLUSH");
        let_go(&lease);
        latch_lease_drop(&lease);
        latch_store_close(store);
        assert_true(is_told(&op));
        unit_release(waiter);
    }
}

/* ---- A fork */

static latch_lease *parents;
static const layout *childs_layout;

static void hold_and_exit(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    take(childs_layout, lease_beside(childs_layout, parents));
    _exit(0);
}

/* The answer is the parent's, which sends its release again: the child's hold is another one. */
static void a_forked_child_owes_nothing_and_keeps_what_it_takes(void **state)
{
    (void) state;
    EACH_LAYOUT(as)
    {
        unit_process child;

        childs_layout = as;
        parents = experienced_holder(as);
        unit_redis_ask("SCRIPT FLUSH");
        let_go(parents);
        child = unit_fork(hold_and_exit, NULL);
        unit_join(&child);
        for (int round = 0; round < 2; round++) {
            assert_int_equal(unit_run_request(lease_beside(as, parents), to_take(as)),
                             LATCH_CONFLICT);
        }
        assert_false(is_nobodys(as));
    }
}

/* ---- Memory */

/* Whichever allocation fails, of the release or of what goes behind it. */
static void a_release_without_memory_is_reported_or_carried_out(void **state)
{
    (void) state;
    EACH_LAYOUT(as)
    {
        latch_lease *lease = experienced_holder(as), *next = lease_beside(as, lease);
        latch_status status = LATCH_ERROR_MEMORY;

        for (size_t call = 1; call <= 6; call++) {
            unit.fail_at = unit.allocations + call;
            status = unit_run_request(lease, redis_detached_release());
            unit.fail_at = 0;
            if (status != LATCH_DONE) {
                assert_int_equal(status, LATCH_ERROR_MEMORY);
                let_go(lease);
            }
            take(as, next); /* behind it, if it is not sent yet */
            unit_release(next);
            take(as, lease);
        }
        assert_int_equal(status, LATCH_DONE); /* it has no more of them */
        let_go(lease);
    }
}

/* ---- The scripts behind releases */

/* Runs the script of that layout, as it comes behind a release by the token. */
static void run_behind(const layout *as, const char *token)
{
    if (as->is_permit) {
        unit_redis_ask("EVAL %s 3 {s}:weight {s}:time latch:permits:{s} %s", as->text, token);
    } else {
        unit_redis_ask("EVAL %s 2 r latch:%s:r %s", as->text,
                       strcmp(as->scheme, "redis") == 0 ? "holder" : "string", token);
    }
}

static void another_holder_is_left_alone(void **state)
{
    (void) state;
    EACH_LAYOUT(as)
    {
        latch_lease *lease = experienced_holder(as);

        run_behind(as, "another token");
        run_behind(as, "__write__ ");
        redis_expect_done(redis_run(lease, LATCH_REFRESH));
        assert_int_equal(lease->mode, LATCH_EXCLUSIVE);
        unit_release(lease);
        assert_true(is_nobodys(as));
    }
}

static void another_reader_is_left_alone(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");

    (void) state;
    redis_expect_done(redis_run(one, LATCH_ACQUIRE_SHARED));
    redis_expect_done(redis_run(two, LATCH_ACQUIRE_SHARED));
    run_behind(&layouts[0], one->token);
    assert_int_equal(unit_redis_number("ZCARD r"), 1);
    redis_expect_done(redis_run(two, LATCH_REFRESH));
    redis_expect_done(redis_run(two, LATCH_ACQUIRE)); /* it is the only one */
    unit_release(two);
    assert_true(redis_is_free("r"));
}

static latch_lease *owned_lease(const char *owner)
{
    latch_lease *lease = new_lease(&layouts[1]);

    redis_expect_done(latch_lease_set_owner(lease, owner, strlen(owner), &unit.error));
    return lease;
}

/* Of a namesake: a process on Latch, or one on Laravel, which leaves no record. */
static void a_namesake_is_left_alone(void **state)
{
    latch_lease *lease = owned_lease("user 7"), *namesake = owned_lease("user 7");
    char token[LATCH_TOKEN_MAX + 1];

    (void) state;
    redis_expect_done(redis_run(lease, LATCH_ACQUIRE));
    snprintf(token, sizeof(token), "%s", lease->token);
    unit_release(lease);
    redis_expect_done(redis_run(namesake, LATCH_ACQUIRE));
    run_behind(&layouts[1], token);
    redis_expect_done(redis_run(namesake, LATCH_REFRESH));
    run_behind(&layouts[1], namesake->token);
    assert_true(redis_is_free("r"));
    unit_redis_ask("SET r %s", "user 7");
    run_behind(&layouts[1], token);
    assert_string_equal(unit_redis_text("GET r"), "user 7");
}

/* What others have stays known, and what is free can be had. */
static void permits_of_others_are_counted_behind_it(void **state)
{
    latch_lease *one = redis_permit(), *two = redis_permit_elsewhere();
    latch_lease *three = redis_permit_elsewhere();

    (void) state;
    redis_expect_done(redis_run_take(one, 2, 5));
    redis_expect_done(redis_run_take(two, 3, 5));
    run_behind(&layouts[2], one->token);
    assert_int_equal(redis_permits_used(), 3);
    assert_int_equal(redis_run_take(three, 3, 5), LATCH_CONFLICT);
    redis_expect_done(redis_run_take(three, 2, 5));
    unit_release(two);
    unit_release(three);
    assert_int_equal(redis_permits_used(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_TEST(the_script_is_sent_once_on_a_connection),
        REDIS_TEST(an_awaited_release_tells_as_well_that_the_script_is_known),
        REDIS_TEST(what_one_connection_knows_is_not_known_on_the_next),
        REDIS_TEST(a_waiter_is_handed_over_what_is_released),
        REDIS_TEST(nothing_stays_held_when_nobody_reads_the_answer),
        REDIS_TEST(a_waiter_finds_out_by_itself),
        REDIS_TEST(a_waiter_is_told_at_the_next_request),
        REDIS_TEST(a_script_that_was_forgotten_is_sent_again_as_text),
        REDIS_TEST(a_waiter_is_told_at_the_end_of_the_store),
        REDIS_TEST(a_forked_child_owes_nothing_and_keeps_what_it_takes),
        REDIS_TEST(a_release_without_memory_is_reported_or_carried_out),
        REDIS_TEST(another_holder_is_left_alone),
        REDIS_TEST(another_reader_is_left_alone),
        REDIS_TEST(a_namesake_is_left_alone),
        REDIS_TEST(permits_of_others_are_counted_behind_it),
    };

    return cmocka_run_group_tests(tests, unit_redis_group_setup, unit_redis_group_teardown);
}
