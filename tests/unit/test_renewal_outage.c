/*
 * Outages while many locks are kept in one server: its trouble is that of all, and who is impatient
 * makes none for the others. Turn by turn, on a clock that stands still, and a wire on which the
 * test answers in the server's place.
 */
#include "keeping.h"

#define MS LATCH_NS_PER_MS
#define LOCKS 10
#define TTL_MS INT64_C(9000)
#define RENEWED ":2\r\n"

static latch_store *store; /* on the wire */

static int setup(void **state)
{
    if (unit_renewal_setup(state) != 0) {
        return -1;
    }
    unit_stand_in_for_the_thread();
    unit.now_ns = unit_now_ns();
    unit.real_clock = false;
    return 0;
}

static int teardown(void **state)
{
    unit.real_clock = true;
    return unit_renewal_teardown(state);
}

static void pass_ms(int64_t ms)
{
    unit.now_ns += ms * MS;
    unit_turn();
}

/* On the wire's first line; the second one is the clone's. */
static latch_lease *keep_held(const char *resource, int64_t ttl_ms)
{
    latch_lease *lease = redis_lease_in(store, resource);
    latch_op op;

    unit_keep(lease);
    redis_wire_use(REDIS_COMMANDS);
    assert_int_equal(redis_wire_finish(&op, unit_begin(&op, lease,
                                                       redis_request_for(LATCH_ACQUIRE, ttl_ms))),
                     LATCH_DONE);
    redis_wire_use(REDIS_MESSAGES);
    return lease;
}

/* Takes what the clone has sent, and answers a millisecond later. */
static void answer(const char *text)
{
    redis_wire_take_command();
    redis_wire_answer(text);
    pass_ms(1);
}

/* It was renewed by what was answered now. */
static void expect_renewed(latch_lease *lease, int64_t ttl_ms)
{
    assert_int_equal(unit_deadline_of(lease), unit.now_ns + (ttl_ms - 1) * MS);
}

/* The clone uses it from the turn on that finds it made. */
static void accept_connection(void)
{
    redis_wire_accept();
    pass_ms(1);
}

/* Turns until the clone connects, and takes the connection; returns after how many ms. */
static int64_t await_connection(int64_t most_ms)
{
    int64_t ms = 0;

    while (!redis_wire_is_wanted()) {
        assert_true(ms < most_ms);
        pass_ms(1);
        ms++;
    }
    accept_connection();
    return ms;
}

/* ---- Connections that cannot be made ----------------------------------------------------------
 */

static latch_lease *locks[LOCKS];

static void keep_many(void)
{
    static const char *const names[LOCKS] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};

    store = redis_wire_open("?dbindex=1&read_timeout=60"); /* SELECT is answered, or is not */
    for (size_t at = 0; at < LOCKS; at++) {
        locks[at] = keep_held(names[at], TTL_MS);
        unit.now_ns += 10 * MS;
    }
    pass_ms(TTL_MS / 3 - LOCKS * 10);
}

static void refuse(void)
{
    answer("-ERR not now\r\n");
    assert_false(redis_wire_is_wanted());
    for (size_t at = 0; at < LOCKS; at++) {
        assert_non_null(strstr(unit_await_failure(locks[at]), "the server refused the database"));
    }
}

static void one_attempt_to_connect_is_made_for_all_and_then_one_in_each_pause(void **state)
{
    int attempts = 0;

    (void) state;
    keep_many();
    await_connection(0);
    refuse();
    for (int ms = 0; ms < 2000; ms++) {
        pass_ms(1);
        if (redis_wire_is_wanted()) {
            accept_connection();
            refuse();
            attempts++;
        }
    }
    assert_in_range(attempts, 5, 7); /* after 20 ms, 40, 80, 160, 320, 640 */
    unit_expect_no_loss();
}

static void all_go_together_when_the_server_is_back(void **state)
{
    (void) state;
    keep_many();
    await_connection(0);
    refuse();
    await_connection(22);
    answer("+OK\r\n");
    answer(RENEWED RENEWED RENEWED RENEWED RENEWED RENEWED RENEWED RENEWED RENEWED RENEWED);
    for (size_t at = 0; at < LOCKS; at++) {
        expect_renewed(locks[at], TTL_MS);
    }
    assert_false(unit_is_renewing());
    assert_false(redis_wire_is_wanted());
}

static void all_that_are_due_go_in_one_packet(void **state)
{
    size_t sent;

    (void) state;
    keep_many();
    await_connection(0);
    answer("+OK\r\n");
    for (int round = 0; round < 2; round++) {
        answer(RENEWED RENEWED RENEWED RENEWED RENEWED RENEWED RENEWED RENEWED RENEWED RENEWED);
        sent = unit_calls.sent;
        pass_ms(TTL_MS / 3);
        assert_int_equal(unit_calls.sent, sent + 1);
        assert_true(unit_is_renewing());
    }
}

static void the_shortest_response_timeout_decides_how_long_a_connection_is_awaited(void **state)
{
    latch_lease *patient, *impatient;

    (void) state;
    store = redis_wire_open("?dbindex=1&read_timeout=60&timeout=60");
    patient = keep_held("patient", 30000);
    pass_ms(9900);
    impatient = keep_held("impatient", 900);
    pass_ms(100);
    await_connection(0); /* for the patient one */
    redis_wire_take_command();
    pass_ms(199); /* the other joins, for 300 ms */
    pass_ms(299);
    assert_false(redis_wire_is_wanted());
    assert_in_range(await_connection(30), 1 + 18, 1 + 22);
    answer("+OK\r\n");
    answer(RENEWED RENEWED);
    expect_renewed(patient, 30000);
    expect_renewed(impatient, 900);
}

/* ---- Answers that are late --------------------------------------------------------------------
 */

/* Has two sent for which a connection has to be made first; returns when that was. */
static int64_t send_two(latch_lease *leases[2], int64_t first_ttl_ms, int64_t second_ttl_ms)
{
    store = redis_wire_open("?read_timeout=60");
    leases[0] = keep_held("first", first_ttl_ms);
    leases[1] = keep_held("second", second_ttl_ms);
    pass_ms(first_ttl_ms / 3); /* the second one goes along, and finds the connection made */
    await_connection(0);
    return unit.now_ns;
}

static void a_short_ttl_ends_no_connection_that_is_slow(void **state)
{
    latch_lease *leases[2];
    int64_t sent_ns = send_two(leases, 300, 600);

    (void) state;
    pass_ms(160);
    assert_false(redis_wire_is_wanted());
    answer(RENEWED RENEWED);
    assert_int_equal(unit_deadline_of(leases[0]), sent_ns + 300 * MS);
    assert_int_equal(unit_deadline_of(leases[1]), sent_ns + (600 - 1) * MS);
}

static void a_connection_on_which_others_are_answered_is_not_given_up(void **state)
{
    latch_lease *leases[2];
    int64_t sent_ns = send_two(leases, 900, 900);

    (void) state;
    pass_ms(200);
    answer(RENEWED); /* to the second one, which was sent before the first */
    assert_int_equal(unit_deadline_of(leases[1]), sent_ns + (900 - 1) * MS);
    pass_ms(150); /* 351 since they were sent */
    assert_false(redis_wire_is_wanted());
    redis_wire_answer(RENEWED);
    pass_ms(1);
    assert_int_equal(unit_deadline_of(leases[0]), sent_ns + 900 * MS);
    unit_expect_no_loss();
}

static void a_dead_connection_is_replaced_in_time_for_another_try(void **state)
{
    latch_lease *lease;

    (void) state;
    store = redis_wire_open("?read_timeout=60");
    lease = keep_held("r", 1500);
    pass_ms(500);
    await_connection(0);
    redis_wire_take_command(); /* the answer never comes */
    assert_in_range(await_connection(530), 500 + 18, 500 + 22);
    answer(RENEWED);
    expect_renewed(lease, 1500);
    unit_expect_no_loss();
}

static void the_longer_response_timeout_gets_the_new_connection_as_well(void **state)
{
    latch_lease *leases[2]; /* of which the second is the patient one */

    (void) state;
    send_two(leases, 1500, 3000);
    redis_wire_take_command();
    assert_int_equal(await_connection(500), 500);
    answer(RENEWED);
    expect_renewed(leases[1], 3000);
    pass_ms(22);
    answer(RENEWED);
    expect_renewed(leases[0], 1500);
    assert_false(redis_wire_is_wanted());
}

/* ---- Quorums ----------------------------------------------------------------------------------
 */

static void one_outage_reported_by_many_counts_once(void **state)
{
    latch_lease *leases[LOCKS];

    (void) state;
    for (size_t at = 0; at < LOCKS; at++) {
        leases[at] = puppet_lease("r");
        unit_keep(leases[at]);
        assert_int_equal(puppet_run(leases[at], LATCH_ACQUIRE), LATCH_DONE);
    }
    puppet_clones[0]->late = puppet_clones[1]->late = true;
    unit_turn();
    unit_next_turn();
    unit.now_ns += 100 * MS;
    for (size_t at = 0; at < 2; at++) {
        puppet_clones[at]->answer = PUPPET_FAILS;
        puppet_clones[at]->late = false;
    }
    unit_turn();
    for (size_t at = 0; at < 2; at++) {
        assert_int_equal(puppet_clones[at]->store.breaker.pause_ns, LATCH_NS_PER_S);
        assert_int_equal(puppet_clones[at]->store.breaker.open_until_ns, unit.now_ns + LATCH_NS_PER_S);
        puppet_clones[at]->answer = PUPPET_YES;
    }
    unit_next_turn(); /* the third alone would be too few */
    for (size_t at = 0; at < LOCKS; at++) {
        latch_lease_sync_deadline(leases[at], unit.now_ns);
        assert_true(leases[at]->deadline_ns > unit.now_ns + PUPPET_TTL_MS * MS * 9 / 10);
    }
}

#define OUTAGE_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OUTAGE_TEST(one_attempt_to_connect_is_made_for_all_and_then_one_in_each_pause),
        OUTAGE_TEST(all_go_together_when_the_server_is_back),
        OUTAGE_TEST(all_that_are_due_go_in_one_packet),
        OUTAGE_TEST(the_shortest_response_timeout_decides_how_long_a_connection_is_awaited),
        OUTAGE_TEST(a_short_ttl_ends_no_connection_that_is_slow),
        OUTAGE_TEST(a_connection_on_which_others_are_answered_is_not_given_up),
        OUTAGE_TEST(a_dead_connection_is_replaced_in_time_for_another_try),
        OUTAGE_TEST(the_longer_response_timeout_gets_the_new_connection_as_well),
        UNIT_TURNS_TEST(one_outage_reported_by_many_counts_once),
    };

    return cmocka_run_group_tests(tests, unit_redis_group_setup, unit_redis_group_teardown);
}
