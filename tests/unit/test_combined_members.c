/* Combined stores: what their members are, how often, and how many of them have to agree. */
#include "puppet_store.h"

/* ---- How many have to agree */

static void a_majority_is_more_than_half_and_unanimity_all(void **state)
{
    (void) state;
    for (size_t members = 0; members <= 5; members++) {
        for (size_t some = 0; some <= members; some++) {
            const size_t rest = members - some;

            assert_int_equal(latch_consensus.is_met(NULL, some, members), some > rest);
            assert_int_equal(latch_consensus.can_be_met(NULL, some, members), rest > some);
            assert_int_equal(latch_unanimity.is_met(NULL, some, members), rest == 0);
            assert_int_equal(latch_unanimity.can_be_met(NULL, some, members), some == 0);
        }
    }
}

/* ---- What the members are */

static void it_can_what_all_of_its_members_can(void **state)
{
    static const latch_store_info infos[] = {
        {.name = "one", .capabilities = LATCH_EXPIRING | LATCH_SERIALIZABLE | LATCH_FENCING},
        {.name = "other", .capabilities = LATCH_SERIALIZABLE | LATCH_BLOCKING | LATCH_FENCING},
    };
    latch_store *const members[] = {&puppets[0].store, &puppets[1].store};
    const latch_store_options options = {.strategy = &latch_consensus,
                                         .members = members,
                                         .member_count = 2};
    latch_store *store;

    (void) state;
    puppets[0].store.info = &infos[0];
    puppets[1].store.info = &infos[1];
    store = latch_store_open(unit.engine, "combined", &options, &unit.error);
    assert_int_equal(latch_store_describe(store)->capabilities,
                     LATCH_EXPIRING | LATCH_SERIALIZABLE | LATCH_SHARED_LOCKS);
    latch_store_close(store);
}

/* A combined store of three, its lease and the parts of that. */
typedef struct trio {
    latch_store *store;
    latch_lease lease, parts[3];
} trio;

/* Those that are the same store share a lease. */
static void open_trio(trio *three, latch_store *const members[3])
{
    const latch_store_options options = {.strategy = &latch_consensus,
                                         .members = members,
                                         .member_count = 3};
    latch_lease_part parts[3];

    three->store = latch_store_open(unit.engine, "combined", &options, &unit.error);
    latch_lease_init(&three->lease, three->store, "r", 1);
    for (size_t at = 0; at < 3; at++) {
        const bool is_again = at > 0 && members[at] == members[at - 1];

        latch_lease_init(&three->parts[at], members[at], "r", 1);
        parts[at] = (latch_lease_part){&three->parts[is_again ? at - 1 : at], PUPPET_TTL_MS};
    }
    assert_int_equal(latch_lease_join(&three->lease, parts, &unit.error), LATCH_DONE);
}

static void close_trio(trio *three)
{
    latch_lease_drop(&three->lease);
    for (size_t at = 0; at < 3; at++) {
        latch_lease_drop(&three->parts[at]);
    }
    latch_store_close(three->store);
}

static void a_member_that_stands_there_twice_has_one_answer_of_twice_the_weight(void **state)
{
    trio three;

    (void) state;
    open_trio(&three, (latch_store *[]){&puppets[0].store, &puppets[1].store, &puppets[1].store});
    puppets[0].answer = PUPPET_NO;
    assert_int_equal(puppet_run(&three.lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_true(unit_held(&three.lease));
    assert_int_equal(latch_lease_vote(&three.lease, 0).status, LATCH_CONFLICT);
    assert_int_equal(latch_lease_vote(&three.lease, 2).status, LATCH_DONE);
    unit_release(&three.lease);
    puppets[1].store.breaker.open_until_ns = unit.now_ns + LATCH_NS_PER_S;
    assert_int_equal(puppet_run(&three.lease, LATCH_ACQUIRE), LATCH_DONE); /* not without it */
    unit_release(&three.lease);
    close_trio(&three);
}

/* As those in PHP are. */
static struct {
    size_t requests, asked_before;
    latch_op_kind last;
} blocker;

static latch_status block_in_vain(void *context, latch_lease *lease, const latch_request *request,
                                  latch_error *error)
{
    (void) context;
    (void) lease;
    blocker.requests++;
    blocker.asked_before = puppets[0].requests + puppets[1].requests;
    blocker.last = request->kind;
    unit.now_ns += LATCH_NS_PER_S;
    return latch_fail(error, LATCH_ERROR_STORE, 0, "in vain");
}

static void a_member_that_blocks_is_asked_last_and_left_out_when_it_was_in_vain(void **state)
{
    const latch_store_calls calls = {.run = block_in_vain};
    const latch_store_options options = {.calls = &calls};
    latch_store *blocking = latch_store_open(unit.engine, "callback", &options, &unit.error);
    trio three;

    (void) state;
    memset(&blocker, 0, sizeof(blocker));
    open_trio(&three, (latch_store *[]){blocking, &puppets[0].store, &puppets[1].store});
    assert_int_equal(puppet_run(&three.lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(blocker.asked_before, 2);
    assert_int_equal(puppet_run(&three.lease, LATCH_REFRESH), LATCH_DONE);
    assert_int_equal(blocker.requests, 1);
    puppets[0].answer = puppets[1].answer = PUPPET_NO;
    assert_int_equal(puppet_run(&three.lease, LATCH_REFRESH), LATCH_CONFLICT);
    assert_int_equal(blocker.requests, 2); /* who knows what it holds? */
    assert_int_equal(blocker.last, LATCH_RELEASE);
    close_trio(&three);
    latch_store_close(blocking);
}

static void members_without_shared_locks_are_not_made_readers_again(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    puppets[0].info = *puppets[0].store.info;
    puppets[0].info.capabilities = LATCH_EXPIRING;
    puppets[0].store.info = &puppets[0].info;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    puppets[1].answer = puppets[2].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(puppets[0].last, LATCH_ACQUIRE);
    assert_true(unit_held(lease));
}

static void parts_that_are_held_by_themselves_are_no_hold(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    for (size_t at = 0; at < 3; at++) {
        assert_int_equal(puppet_run(puppet_part(lease, at), LATCH_ACQUIRE), LATCH_DONE);
    }
    assert_false(unit_held(lease));
}

static void the_parts_may_be_handed_on_as_the_whole_may(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    lease->inherit = true;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_true(puppet_part(lease, 0)->inherit);
}

static void an_answer_to_an_earlier_request_is_told_no_more(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(lease);
    puppets[0].answer = puppets[1].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(latch_lease_vote(lease, 2).status, LATCH_NO_VOTE);
}

/* It could only have forgotten whom it had granted the lock; here it knows. */
static void a_server_that_was_started_lately_is_believed_who_has_the_lock(void **state)
{
    latch_lease *lease = puppet_lease("r"), *handed_over = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppets[0].started_ns = unit.now_ns;
    puppets[1].answer = PUPPET_NO;
    assert_int_equal(puppet_run(handed_over, LATCH_PROBE), LATCH_DONE);
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
}

/* ---- Strategies of the user's */

static struct {
    size_t asked_met, asked_possible;
} pedant;

static bool pedant_is_met(void *context, size_t successes, size_t members)
{
    (void) context;
    pedant.asked_met++;
    return successes > members / 2;
}

static bool pedant_can_be_met(void *context, size_t failures, size_t members)
{
    (void) context;
    pedant.asked_possible++;
    return failures < (members + 1) / 2;
}

static int unit_setup_pedant(void **state)
{
    static const latch_strategy strategy = {NULL, pedant_is_met, pedant_can_be_met, false};

    (void) state;
    memset(&pedant, 0, sizeof(pedant));
    return unit_setup_puppets(3, &strategy);
}

static void a_strategy_of_the_users_is_asked_as_symfony_asks(void **state)
{
    latch_lease *lease = puppet_lease("r");
    latch_op op;

    (void) state;
    puppets[2].late = true;
    assert_int_equal(unit_begin(&op, lease, puppet_request(LATCH_ACQUIRE)), LATCH_WANT_IO);
    puppet_speak(2);
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
    assert_int_equal(pedant.asked_possible, 3);
    assert_int_equal(pedant.asked_met, 1);
    memset(&pedant, 0, sizeof(pedant));
    assert_int_equal(puppet_run(lease, LATCH_PROBE), LATCH_DONE);
    assert_int_equal(pedant.asked_met, 2);
    assert_int_equal(pedant.asked_possible, 1);
    assert_int_equal(puppets[2].requests, 1); /* two are enough for a probe */
    unit_release(lease);
    puppets[0].answer = puppets[1].answer = PUPPET_NO;
    memset(&pedant, 0, sizeof(pedant));
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(pedant.asked_possible, 2);
    assert_int_equal(pedant.asked_met, 1);
}

static void a_strategy_of_the_users_is_told_of_all_grants(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    puppets[0].started_ns = unit.now_ns;
    puppets[0].store.breaker.open_until_ns = unit.now_ns + LATCH_NS_PER_S;
    puppets[1].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
}

static void a_hold_by_a_strategy_of_the_users_lasts_while_all_hold_that_have_granted(void **state)
{
    latch_lease *two = puppet_lease("r"), *three = puppet_lease("s");

    (void) state;
    puppets[2].answer = PUPPET_FAILS;
    assert_int_equal(puppet_run(two, LATCH_ACQUIRE), LATCH_DONE);
    puppets[2].answer = PUPPET_YES;
    assert_int_equal(puppet_run(three, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(puppet_run(three, LATCH_PROBE), LATCH_DONE);
    assert_true(unit_held(two) && unit_held(three));
    puppets[0].answer = PUPPET_NO;
    assert_int_equal(puppet_run(puppet_part(two, 0), LATCH_PROBE), LATCH_CONFLICT);
    assert_int_equal(puppet_run(puppet_part(three, 0), LATCH_PROBE), LATCH_CONFLICT);
    assert_false(unit_held(two) || unit_held(three));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PUPPET_TEST(a_majority_is_more_than_half_and_unanimity_all, three),
        PUPPET_TEST(it_can_what_all_of_its_members_can, three),
        PUPPET_TEST(a_member_that_stands_there_twice_has_one_answer_of_twice_the_weight, three),
        PUPPET_TEST(a_member_that_blocks_is_asked_last_and_left_out_when_it_was_in_vain, three),
        PUPPET_TEST(members_without_shared_locks_are_not_made_readers_again, three),
        PUPPET_TEST(parts_that_are_held_by_themselves_are_no_hold, three),
        PUPPET_TEST(the_parts_may_be_handed_on_as_the_whole_may, three),
        PUPPET_TEST(an_answer_to_an_earlier_request_is_told_no_more, three),
        PUPPET_TEST(a_server_that_was_started_lately_is_believed_who_has_the_lock, three),
        PUPPET_TEST(a_strategy_of_the_users_is_asked_as_symfony_asks, pedant),
        PUPPET_TEST(a_strategy_of_the_users_is_told_of_all_grants, pedant),
        PUPPET_TEST(a_hold_by_a_strategy_of_the_users_lasts_while_all_hold_that_have_granted,
                    pedant),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
