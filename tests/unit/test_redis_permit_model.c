/*
 * The wait queue of semaphores in Redis in every order of events, as test_redis_queue_model.c
 * searches that of locks: three waiters with weights, one or two holders, and whatever may go wrong
 * at any step. The sum of weights never exceeds the limit, nobody is overtaken, and whoever is the
 * first and fits is served by the next script. LATCH_MODEL_TELL=1 tells how much was searched,
 * LATCH_MODEL_ALL=1 searches more: it takes minutes.
 */
#include "redis_model.h"

#include <stdlib.h>

#define MAY(fault) MODEL_MAY(MODEL_##fault)
#define ONE(fault) .faults = MAY(fault), .fault_count = 1
#define CASE(most, waiters, first, ...)                                                            \
    {                                                                                              \
        .limit = most, .wants = waiters, .holder = first, ##__VA_ARGS__                            \
    }

/* Leases and claim windows end with whole seconds. */
#define LEASE_MS 2500
/* A place is asked for every 2 s, and there are two before the last. */
#define TWO_PLACES_MS 4000
/* The first looks so often, whatever it is told. */
#define SAFETY_MS 1100
/* Who follows a peer looks every 90 to 110 ms. */
#define PEER_MS 110
/* So long a waiter behind a dead one stays where it is, while a peer holds. */
#define BEHIND_DEAD_MS 2000

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SLOW true
#elif defined(__has_feature)
#define IS_SLOW (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define IS_SLOW false
#endif

/* Sanitizers look at the model itself: for that the small searches do. */
#define SLOW_STATES 15000

static void search(const model_scenario *scenario)
{
    model_result result;

    model_scenario_now = scenario;
    model_load(NULL);
    result = model_search(scenario);
    model_unload();
    if (getenv("LATCH_MODEL_TELL") != NULL) {
        print_message("%d: %s/%s: %zu states, %zu transitions, %zu scripts, %d ms\n",
                      scenario->limit, scenario->wants, scenario->holder, result.states,
                      result.transitions, model_asked(), result.longest_ms);
    }
    if (result.violation != NULL) {
        fputs(result.violation, stderr);
        fail_msg("\"%s\" with a holder \"%s\" and %d permits: see above", scenario->wants,
                 scenario->holder, scenario->limit);
    }
    assert_true(result.states >= scenario->states);
}

static void search_all(const model_scenario *scenarios, size_t count)
{
    for (size_t at = 0; at < count; at++) {
        if (IS_SLOW ? scenarios[at].states < SLOW_STATES
                    : !scenarios[at].is_long || getenv("LATCH_MODEL_ALL") != NULL) {
            search(&scenarios[at]);
        }
    }
}

#define SEARCH(...)                                                                                \
    do {                                                                                           \
        static const model_scenario scenarios[] = {__VA_ARGS__};                                   \
                                                                                                   \
        search_all(scenarios, sizeof(scenarios) / sizeof(*scenarios));                             \
    } while (0)

/* ---- What always holds */

static void waiters_are_served_at_once_when_nothing_goes_wrong(void **state)
{
    (void) state;
    SEARCH(CASE(1, "111", "1", .states = 71000), CASE(2, "111", "2", .states = 46000),
           CASE(2, "212", "1", .states = 81000), CASE(3, "311", "1", .states = 58000),
           CASE(3, "123", "2", .states = 91000), CASE(2, "21 ", "1", .states = 3000));
}

static void who_dies_in_the_queue_delays_nobody(void **state)
{
    (void) state;
    SEARCH(CASE(2, "112", "2", ONE(DIES), .only_queued_die = true, .states = 110000),
           CASE(3, "311", "1", ONE(DIES), .only_queued_die = true, .states = 79000));
}

static void who_dies_with_permits_delays_others_until_its_lease_ends(void **state)
{
    (void) state;
    SEARCH(CASE(2, "211", "1", ONE(DIES), .longest_ms = LEASE_MS, .states = 220000),
           CASE(2, "112", "2", ONE(DIES_UNHEARD), .longest_ms = LEASE_MS, .is_long = true,
                .states = 170000),
           CASE(2, "21 ", "1", ONE(DIES_UNHEARD), .longest_ms = LEASE_MS, .states = 4000));
}

static void who_cancels_delays_nobody(void **state)
{
    (void) state;
    SEARCH(CASE(2, "211", "1", ONE(CANCELS), .states = 250000),
           CASE(2, "112", "2", ONE(CANCELS), .is_long = true, .states = 310000),
           CASE(2, "21 ", "1", ONE(CANCELS), .comes_again = true, .states = 15000));
}

static void who_renews_is_as_any_other_holder(void **state)
{
    (void) state;
    SEARCH(CASE(2, "112", "2", ONE(REFRESHES), .is_long = true, .states = 380000),
           CASE(2, "211", "1", ONE(REFRESHES), .is_long = true, .states = 350000),
           CASE(2, "21 ", "1", ONE(REFRESHES), .states = 5000),
           CASE(2, "11 ", "2", ONE(REFRESHES), .states = 5000));
}

static void a_lost_message_costs_the_time_until_its_waiter_asks(void **state)
{
    (void) state;
    SEARCH(CASE(2, "211", "1", ONE(LOSES_MESSAGE), .longest_ms = TWO_PLACES_MS, .states = 200000));
}

static void who_is_paused_costs_a_claim_window_and_comes_late(void **state)
{
    (void) state;
    SEARCH(CASE(2, "21 ", "1", ONE(PAUSES), .longest_ms = LEASE_MS, .states = 28000),
           CASE(2, "111", "2", ONE(PAUSES), .longest_ms = LEASE_MS, .is_long = true,
                .states = 560000));
}

static void a_release_by_the_other_script_is_found_out_by_the_first(void **state)
{
    (void) state;
    SEARCH(CASE(2, "21 ", "1", ONE(RELEASE_IS_UNKNOWN), .longest_ms = SAFETY_MS, .states = 5500),
           CASE(2, "211", "1", ONE(RELEASE_IS_UNKNOWN), .longest_ms = SAFETY_MS, .states = 140000));
}

static void waiters_stand_up_again_when_the_servers_data_are_lost(void **state)
{
    (void) state;
    SEARCH(CASE(2, "211", "1", ONE(DATA_IS_LOST), .longest_ms = TWO_PLACES_MS, .is_long = true,
                .states = 540000),
           CASE(2, "21 ", "1", ONE(DATA_IS_LOST), .longest_ms = TWO_PLACES_MS, .states = 10000));
}

static void a_peer_that_says_nothing_is_followed_by_polls(void **state)
{
    (void) state;
    SEARCH(CASE(2, "21 ", "1", ONE(PEER_COMES), .longest_ms = PEER_MS, .is_long = true,
                .states = 230000),
           CASE(2, "2  ", "1", ONE(PEER_COMES), .longest_ms = PEER_MS, .states = 1000),
           CASE(2, "211", "s", .longest_ms = PEER_MS, .is_long = true, .states = 390000),
           CASE(2, "21 ", "s", .longest_ms = PEER_MS, .states = 2000),
           CASE(3, "31 ", "s", ONE(DIES), .longest_ms = LEASE_MS, .states = 26000),
           CASE(3, "21 ", "2", .faults = MAY(PEER_COMES) | MAY(DIES), .fault_count = 2,
                .longest_ms = LEASE_MS + PEER_MS, .is_long = true, .states = 600000),
           CASE(3, "2  ", "2", .faults = MAY(PEER_COMES) | MAY(DIES), .fault_count = 2,
                .longest_ms = LEASE_MS + PEER_MS, .states = 1000));
}

static void permits_are_left_free_for_peers_and_then_handed_over_again(void **state)
{
    (void) state;
    SEARCH(CASE(2, "21 ", "1", ONE(PEER_COMES), .peers = true, .longest_ms = 2 * PEER_MS,
                .is_long = true, .states = 300000),
           CASE(2, "21 ", "1", .peers = true, .longest_ms = PEER_MS, .states = 2000),
           CASE(2, "2  ", "1", ONE(PEER_COMES), .peers = true, .longest_ms = 2 * PEER_MS,
                .states = 1000));
}

static void who_tries_first_queues_when_it_is_refused(void **state)
{
    (void) state;
    SEARCH(CASE(2, "211", "1", .tries = true, .states = 140000),
           CASE(2, "112", "2", .tries = true, .is_long = true, .states = 170000),
           CASE(2, "21 ", "1", ONE(DIES), .tries = true, .longest_ms = LEASE_MS, .states = 13000));
}

static void light_waiters_that_may_pass_a_heavy_one(void **state)
{
    (void) state;
    SEARCH(CASE(2, "2a ", "1", .states = 2500), CASE(3, "31a", "2", .states = 70000),
           CASE(3, "3ab", "1", .states = 70000), CASE(3, "3ba", "2", .states = 72000),
           CASE(2, "2a ", "1", .tries = true, .states = 4500),
           CASE(2, "2a ", "1", ONE(DIES), .longest_ms = LEASE_MS, .states = 7000),
           CASE(2, "2a ", "1", ONE(CANCELS), .comes_again = true, .states = 13000),
           CASE(2, "2a ", "1", ONE(PAUSES), .longest_ms = LEASE_MS, .states = 23000),
           CASE(2, "2a ", "1", ONE(DATA_IS_LOST), .longest_ms = TWO_PLACES_MS, .states = 11000),
           CASE(2, "2a ", "1", ONE(LOSES_MESSAGE), .longest_ms = TWO_PLACES_MS, .states = 5000),
           CASE(2, "2a ", "s", .longest_ms = PEER_MS, .states = 11000),
           CASE(2, "2a ", "1", .peers = true, .longest_ms = PEER_MS, .states = 4000),
           CASE(3, "3aa", "2", ONE(DIES), .longest_ms = LEASE_MS, .is_long = true,
                .states = 150000),
           CASE(3, "3aa", "2", ONE(CANCELS), .is_long = true, .states = 200000));
}

/* ---- The search can fail */

static const struct {
    model_mutation mutation;
    model_scenario scenario;
} mutants[] = {
    {{"what comes behind a release keeps the weight",
      "redis.call('ZREM', KEYS[1], ARGV[1])\nredis.call('HDEL', KEYS[3], ARGV[1], '')",
      "redis.call('HDEL', KEYS[3], ARGV[1], '')"},
     CASE(2, "21 ", "1", ONE(RELEASE_IS_UNKNOWN), .longest_ms = SAFETY_MS)},
    {{"what comes behind a release keeps the sum", "redis.call('HDEL', KEYS[3], ARGV[1], '')",
      "redis.call('HDEL', KEYS[3], ARGV[1])"},
     CASE(2, "21 ", "1", ONE(RELEASE_IS_UNKNOWN), .longest_ms = SAFETY_MS)},
    {{"whoever comes takes", "return tonumber(weight) <= limit - used", "return true"},
     CASE(2, "21 ", "1", .tries = true)},
    {{"weights are all one for who waits", "if tonumber(weight) <= limit - used then\nlocal delay",
      "if 1 <= limit - used then\nlocal delay"},
     CASE(2, "21 ", "1")},
    {{"it is taken for alone where others wait", "local is_alone = there == key_count",
      "local is_alone = there ~= false"},
     CASE(2, "21 ", "1", .tries = true)},
    {{"a try overtakes waiters", "local allowed = serve(us, nil, false) ~= false",
      "local allowed = false"},
     CASE(2, "21 ", "1", .tries = true)},
    {{"a heavy waiter in front waits until nobody holds",
      "if tonumber(weight) <= limit - used then\nlocal delay", "if used == 0 then\nlocal delay"},
     CASE(3, "21 ", "2")},
    {{"who releases hands nothing over", "serve(us, nil, left or held == 1)", "local _"},
     CASE(2, "21 ", "1")},
    {{"a release serves one waiter alone", "news = true\nend\nend\n",
      "do return nil end\nend\nend\n"},
     CASE(2, "11 ", "2")},
    {{"a grant is made whether anybody hears it or not",
      "if delay == 0 and not is_gone(waiter) then\nlocal receivers = tell(waiter, 'granted')\n",
      "if delay == 0 then\nlocal receivers = tell(waiter, 'granted') and 1\n"},
     CASE(2, "21 ", "1", ONE(DIES), .only_queued_die = true)},
    {{"a grant is counted as nothing", "put(token, tonumber(weight), limit .. ' ?'",
      "put(token, 0, limit .. ' ?'"},
     CASE(2, "21 ", "1")},
    {{"the sum forgets what is taken", "own_sum = own_sum + weight\n", "\n"}, CASE(2, "111", "2")},
    {{"it forgets what the first one takes", "noted(), '', weight)", "noted(), '', 0)"},
     CASE(2, "11 ", "2")},
    {{"it remembers what is released where nobody waits", "redis.call('HSET', record, '', rest)",
      "local _"},
     CASE(2, "11 ", "1", .tries = true)},
    {{"the sum remembers what is released", "own_sum = own_sum and own_sum - (weight or 0)\n",
      "\n"},
     CASE(2, "21 ", "1")},
    {{"whose time is over is counted still", "if #over > 0 then", "if false then"},
     CASE(2, "21 ", "1", ONE(DIES), .longest_ms = LEASE_MS)},
    {{"a peer's permits are not counted", "used = used + weight\nif redis", "if redis"},
     CASE(2, "2  ", "1", ONE(PEER_COMES), .longest_ms = PEER_MS)},
    {{"a peer that has come is not seen", "own_sum ~= nil and kept_for ~= nil and",
      "own_sum ~= nil and"},
     CASE(3, "2  ", "2", .faults = MAY(PEER_COMES) | MAY(DIES), .fault_count = 2,
          .longest_ms = LEASE_MS + PEER_MS)},
    {{"a peer's hold is taken for one of ours", "if count == own_count then", "if true then"},
     CASE(2, "21 ", "s", .longest_ms = PEER_MS)},
    {{"who cancels keeps what it was granted", "if redis.call('ZREM', times, token) == 1 or",
      "if not waiter and redis.call('ZREM', times, token) == 1 or not waiter and"},
     CASE(2, "21 ", "1", ONE(CANCELS))},
    {{"who cancels stays in the queue",
      "local left = waiter and redis.call('ZREM', queue, 's' .. waiter) > 0", "local left = false"},
     CASE(2, "21 ", "1", ONE(CANCELS))},
    {{"nobody is told that it is the first",
      "if not (news or is_new) or tell(waiter, 'first', delay) ~= 0 then", "if true then"},
     CASE(2, "211", "1")},
    {{"who claims too late stands last", "if mode ~= 'p' and manner == 'claim' then",
      "if false then"},
     CASE(1, "111", "1", ONE(PAUSES), .longest_ms = LEASE_MS, .is_long = true)},
    {{"each wait and poll stands last in the queue",
      "if not redis.call('ZSCORE', queue, entry) then", "if true then"},
     CASE(2, "21 ", "1")},
    {{"a lease ends before its holder thinks so", "math.ceil((us + ttl * 1000) / 1000000)",
      "math.floor((us + ttl * 1000) / 1000000)"},
     CASE(2, "21 ", "1")},
    {{"the claim window is long", "local CLAIM_MS = 1000", "local CLAIM_MS = 9000"},
     CASE(2, "21 ", "1", ONE(DIES), .longest_ms = LEASE_MS)},
    {{"the first asks when it likes", "math.min(left, ", "math.min(9999, "}, CASE(2, "21 ", "1")},
    {{"everybody overtakes", "return string.sub(weight, 1, 1) == '0'", "return true"},
     CASE(3, "31a", "2")},
    {{"nobody overtakes", "return string.sub(weight, 1, 1) == '0'", "return false"},
     CASE(2, "2a ", "1")},
    {{"who overtakes is counted as nothing",
      "if may_overtake(weight) and tonumber(weight) <= limit - used then",
      "if may_overtake(weight) then"},
     CASE(3, "3b ", "2")},
    {{"the first is not told of who has overtaken it",
      "return has_granted and serve_in_order(us, me, true) or delay", "return delay"},
     CASE(2, "2aa", "1")},
    {{"who overtakes takes what is left for peers", "or delay == false or is_left_to_peers then",
      "or delay == false then"},
     CASE(2, "22a", "2", .peers = true, .longest_ms = PEER_MS)},
    {{"the queue does not end", "redis.call('PEXPIRE', queue, QUEUE_MS)", "local _"},
     CASE(2, "21 ", "1")},
};

static void every_mistake_in_the_scripts_is_found(void **state)
{
    size_t missed = 0;

    (void) state;
    for (size_t at = 0; at < sizeof(mutants) / sizeof(*mutants); at++) {
        model_result result;

        if (!IS_SLOW && !mutants[at].scenario.is_long) {
            search(&mutants[at].scenario); /* nothing is found without the mistake */
        }
        model_scenario_now = &mutants[at].scenario;
        model_load(&mutants[at].mutation);
        result = model_search(&mutants[at].scenario);
        model_unload();
        if (result.violation == NULL) {
            print_error("not found: %s\n", mutants[at].mutation.name);
            missed++;
        } else if (getenv("LATCH_MODEL_TELL") != NULL) {
            print_message("%s: %.*s\n", mutants[at].mutation.name,
                          (int) strcspn(result.violation, ","), result.violation);
        }
        model_forget(&result);
    }
    assert_int_equal(missed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_REDIS_TEST(waiters_are_served_at_once_when_nothing_goes_wrong),
        UNIT_REDIS_TEST(who_dies_in_the_queue_delays_nobody),
        UNIT_REDIS_TEST(who_dies_with_permits_delays_others_until_its_lease_ends),
        UNIT_REDIS_TEST(who_cancels_delays_nobody),
        UNIT_REDIS_TEST(who_renews_is_as_any_other_holder),
        UNIT_REDIS_TEST(a_lost_message_costs_the_time_until_its_waiter_asks),
        UNIT_REDIS_TEST(who_is_paused_costs_a_claim_window_and_comes_late),
        UNIT_REDIS_TEST(a_release_by_the_other_script_is_found_out_by_the_first),
        UNIT_REDIS_TEST(waiters_stand_up_again_when_the_servers_data_are_lost),
        UNIT_REDIS_TEST(a_peer_that_says_nothing_is_followed_by_polls),
        UNIT_REDIS_TEST(permits_are_left_free_for_peers_and_then_handed_over_again),
        UNIT_REDIS_TEST(who_tries_first_queues_when_it_is_refused),
        UNIT_REDIS_TEST(light_waiters_that_may_pass_a_heavy_one),
        UNIT_REDIS_TEST(every_mistake_in_the_scripts_is_found),
    };

    return cmocka_run_group_tests_name("redis permit model", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
