/*
 * The wait queue of locks in Redis in every order of events: its scripts, by themselves on a real
 * server, asked by three waiters as docs/redis-queue.md says, with whatever may go wrong at any
 * step. In every state that can be reached all must hold that the page promises, and from every one
 * the waiters that live get the lock in time. That the search can fail is seen by breaking the
 * scripts. Where no reader is concerned all is searched for locks that are strings as well: each
 * holder has an owner of its own, or all have the same. LATCH_MODEL_TELL=1 tells how much was
 * searched, LATCH_MODEL_ALL=1 searches more: it takes a minute.
 */
#include "redis_model.h"

#include <stdarg.h>
#include <stdlib.h>

#define MAY(fault) MODEL_MAY(MODEL_##fault)
#define ALL_FAULTS                                                                                 \
    (MAY(DIES) | MAY(DIES_UNHEARD) | MAY(CANCELS) | MAY(LOSES_MESSAGE) | MAY(PAUSES)               \
     | MAY(REFRESHES) | MAY(DATA_IS_LOST) | MAY(PEER_COMES))

#define CASE(waiters, first, ...)                                                                  \
    {                                                                                              \
        .wants = waiters, .holder = first, ##__VA_ARGS__                                           \
    }
#define ONE(fault) .faults = MAY(fault), .fault_count = 1
#define TWO .faults = ALL_FAULTS, .fault_count = 2
#define STRING .layout = MODEL_STRING
#define ONE_OWNER .layout = MODEL_STRING_OF_ONE_OWNER

/* A place is asked for every 2 s, and there are two before the last. */
#define TWO_PLACES_MS 4000
/* So long the second one stays where it is, though the first has died. */
#define BEHIND_DEAD_MS 2000
/* Two leases, and a poll behind a peer. */
#define TWO_THINGS_MS (2 * MODEL_TTL_MS + PEER_MS)
/* The first looks so often, whatever it is told. */
#define SAFETY_MS 1100
/* Who follows a peer looks every 100 ms. */
#define PEER_MS 100
/* So long a lock is left free for peers in each layout. */
#define SYMFONY_GAP_MS 110
#define LARAVEL_GAP_MS 260

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SLOW true
#elif defined(__has_feature)
#define IS_SLOW (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define IS_SLOW false
#endif

/* Sanitizers look at the model itself: for that the small searches do. */
#define SLOW_STATES 15000

static const char *const layouts[] = {
    [MODEL_SORTED_SET] = "",
    [MODEL_STRING] = "string: ",
    [MODEL_STRING_OF_ONE_OWNER] = "string of one owner: ",
};

static void tell(const model_scenario *scenario, const char *format, ...)
{
    va_list arguments;

    if (getenv("LATCH_MODEL_TELL") != NULL) {
        va_start(arguments, format);
        print_message("%s%s/%s: ", layouts[scenario->layout], scenario->wants, scenario->holder);
        vprint_message(format, arguments);
        va_end(arguments);
    }
}

/* `alike` has other layouts, each taken out whose scripts answer all that is asked in this search in
 * the same way, so that a search of it would be the same. */
static void search_with(const model_scenario *scenario, model_scenario alike[], size_t *count)
{
    model_result result;

    model_load(NULL);
    result = model_search(scenario);
    tell(scenario, "%zu states, %zu transitions, %zu scripts, %d ms\n", result.states,
         result.transitions, model_asked(), result.longest_ms);
    if (result.violation != NULL) {
        fputs(result.violation, stderr);
        fail_msg("%s\"%s\" with a holder \"%s\": see above", layouts[scenario->layout],
                 scenario->wants, scenario->holder);
    }
    for (size_t at = *count; at-- > 0;) {
        if (model_answers_alike(&alike[at])) {
            tell(&alike[at], "as %s\n", layouts[scenario->layout]);
            alike[at] = alike[--*count];
        }
    }
    model_unload();
    assert_true(result.states >= scenario->states);
}

static void search(const model_scenario *scenario)
{
    size_t none = 0;

    search_with(scenario, NULL, &none);
}

/* The same for locks that are strings, which have no readers. */
static void search_layouts(const model_scenario *scenario)
{
    model_scenario strings[] = {*scenario, *scenario};
    size_t count = 2;

    if (strpbrk(scenario->wants, "rp") != NULL || strchr(scenario->holder, 'r') != NULL) {
        search(scenario);
        return;
    }
    strings[0].layout = MODEL_STRING;
    strings[1].layout = MODEL_STRING_OF_ONE_OWNER;
    search_with(scenario, strings, &count);
    for (size_t at = 0; at < count; at++) {
        if (scenario->peers) {
            strings[at].longest_ms =
                (int16_t) (scenario->longest_ms + LARAVEL_GAP_MS - SYMFONY_GAP_MS);
        }
        search(&strings[at]);
    }
}

static void search_all(const model_scenario *scenarios, size_t count)
{
    for (size_t at = 0; at < count; at++) {
        if (IS_SLOW ? scenarios[at].states < SLOW_STATES
                    : !scenarios[at].is_long || getenv("LATCH_MODEL_ALL") != NULL) {
            search_layouts(&scenarios[at]);
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
    SEARCH(CASE("www", "w", .states = 19000), CASE("rwr", "w", .states = 26000),
           CASE("wrr", "r", .states = 17000), CASE("prw", "", .states = 5100),
           CASE("ppw", "", .states = 6100), CASE("pww", "", .states = 4000));
}

static void who_dies_in_the_queue_delays_nobody(void **state)
{
    (void) state;
    SEARCH(CASE("www", "w", ONE(DIES), .only_queued_die = true, .states = 29000),
           CASE("rwr", "w", ONE(DIES), .only_queued_die = true, .states = 36000),
           CASE("prw", "", ONE(DIES), .only_queued_die = true, .states = 6600));
}

static void who_dies_with_the_lock_delays_others_until_its_lease_ends(void **state)
{
    (void) state;
    SEARCH(CASE("www", "w", ONE(DIES), .longest_ms = MODEL_TTL_MS, .states = 65000),
           CASE("www", "w", ONE(DIES_UNHEARD), .longest_ms = MODEL_TTL_MS, .states = 44000),
           CASE("rwr", "w", ONE(DIES), .longest_ms = MODEL_TTL_MS, .states = 81000),
           CASE("prw", "", ONE(DIES), .longest_ms = MODEL_TTL_MS, .states = 13000),
           CASE("ppw", "", ONE(DIES), .longest_ms = MODEL_TTL_MS, .states = 15000));
}

static void who_cancels_delays_nobody(void **state)
{
    (void) state;
    SEARCH(CASE("www", "w", ONE(CANCELS), .states = 89000),
           CASE("rwr", "w", ONE(CANCELS), .states = 110000),
           CASE("wrr", "r", ONE(CANCELS), .states = 73000),
           CASE("prw", "", ONE(CANCELS), .states = 22000),
           CASE("ppw", "", ONE(CANCELS), .states = 32000),
           CASE("ww ", "w", ONE(CANCELS), .comes_again = true, .states = 6600),
           CASE("wr ", "w", ONE(CANCELS), .comes_again = true, .states = 7700),
           CASE("prw", "", ONE(CANCELS), .comes_again = true, .states = 46000));
}

static void who_renews_is_as_any_other_holder(void **state)
{
    (void) state;
    SEARCH(CASE("www", "w", ONE(REFRESHES), .states = 81000),
           CASE("wrr", "r", ONE(REFRESHES), .states = 74000),
           CASE("prw", "", ONE(REFRESHES), .states = 16000));
}

static void a_lost_message_costs_the_time_until_its_waiter_asks(void **state)
{
    (void) state;
    SEARCH(CASE("www", "w", ONE(LOSES_MESSAGE), .longest_ms = TWO_PLACES_MS, .states = 73000),
           CASE("rwr", "w", ONE(LOSES_MESSAGE), .longest_ms = TWO_PLACES_MS, .states = 97000),
           CASE("prw", "", ONE(LOSES_MESSAGE), .longest_ms = TWO_PLACES_MS, .states = 13000));
}

static void who_is_paused_costs_a_claim_window_and_comes_late(void **state)
{
    (void) state;
    SEARCH(CASE("www", "w", ONE(PAUSES), .longest_ms = MODEL_TTL_MS, .states = 310000),
           CASE("rwr", "w", ONE(PAUSES), .longest_ms = MODEL_TTL_MS, .is_long = true,
                .states = 340000),
           CASE("prw", "", ONE(PAUSES), .longest_ms = MODEL_TTL_MS, .states = 51000));
}

static void waiters_stand_up_again_when_the_servers_data_are_lost(void **state)
{
    (void) state;
    SEARCH(CASE("www", "w", ONE(DATA_IS_LOST), .longest_ms = TWO_PLACES_MS, .states = 180000),
           CASE("rwr", "w", ONE(DATA_IS_LOST), .longest_ms = TWO_PLACES_MS, .is_long = true,
                .states = 220000),
           CASE("prw", "", ONE(DATA_IS_LOST), .longest_ms = TWO_PLACES_MS, .states = 38000));
}

static void a_release_by_the_other_script_is_found_out_by_the_first(void **state)
{
    (void) state;
    SEARCH(CASE("www", "w", ONE(RELEASE_IS_UNKNOWN), .longest_ms = SAFETY_MS, .states = 50000),
           CASE("ppw", "", ONE(RELEASE_IS_UNKNOWN), .longest_ms = SAFETY_MS, .states = 12000),
           CASE("rwr", "w", ONE(RELEASE_IS_UNKNOWN), .longest_ms = SAFETY_MS, .states = 55000));
}

static void a_peer_that_says_nothing_is_followed_by_polls(void **state)
{
    (void) state;
    SEARCH(CASE("ww ", "w", ONE(PEER_COMES), .longest_ms = PEER_MS, .states = 10000),
           CASE("www", "s", .longest_ms = PEER_MS, .states = 25000),
           CASE("rwr", "s", .longest_ms = PEER_MS, .states = 39000),
           CASE("prw", "", ONE(PEER_COMES), .longest_ms = PEER_MS, .states = 100000),
           CASE("www", "s", ONE(DIES), .longest_ms = BEHIND_DEAD_MS, .states = 71000));
}

static void a_lock_is_left_free_for_peers_and_then_handed_over_again(void **state)
{
    (void) state;
    SEARCH(CASE("ww ", "w", ONE(PEER_COMES), .peers = true, .longest_ms = 210, .states = 10000),
           CASE("wr ", "w", ONE(PEER_COMES), .peers = true, .longest_ms = 210, .states = 10000),
           CASE("www", "w", .peers = true, .longest_ms = 110, .states = 20000),
           CASE("www", "s", ONE(DIES), .peers = true, .longest_ms = BEHIND_DEAD_MS + 110,
                .states = 70000));
}

static void who_tries_first_queues_when_it_is_refused(void **state)
{
    (void) state;
    SEARCH(CASE("www", "w", .tries = true, .states = 50000),
           CASE("wrr", "w", .tries = true, .states = 65000),
           CASE("prw", "", .tries = true, .states = 10000),
           CASE("ww ", "w", ONE(DIES), .tries = true, .longest_ms = MODEL_TTL_MS, .states = 5400),
           CASE("wr ", "w", ONE(CANCELS), .tries = true, .states = 8900));
}

static void any_two_things_may_go_wrong(void **state)
{
    (void) state;
    SEARCH(CASE("ww ", "w", TWO, .longest_ms = TWO_THINGS_MS, .states = 510000),
           CASE("wr ", "w", TWO, .longest_ms = TWO_THINGS_MS, .states = 630000),
           CASE("rr ", "w", TWO, .longest_ms = TWO_THINGS_MS, .is_long = true, .states = 390000),
           CASE("pw ", "", TWO, .longest_ms = TWO_THINGS_MS, .states = 66000),
           CASE("pr ", "", TWO, .longest_ms = TWO_THINGS_MS, .states = 59000),
           CASE("pp ", "", TWO, .longest_ms = TWO_THINGS_MS, .states = 87000));
}

/* ---- The search can fail */

static const struct {
    model_mutation mutation;
    model_scenario scenario;
} mutants[] = {
    {{"a grant is made whether anybody hears it or not",
      "if delay == 0 and not is_gone(waiter) then\nlocal receivers = tell(waiter, 'granted')\n",
      "if delay == 0 then\nlocal receivers = tell(waiter, 'granted') and 1\n"},
     CASE("ww ", "w", ONE(DIES), .only_queued_die = true)},
    {{"each wait and poll stands last in the queue",
      "if not redis.call('ZSCORE', queue, entry) then", "if true then"},
     CASE("ww ", "w")},
    {{"who cancels keeps what it was granted", "local held = redis.pcall('ZREM', lock, token)",
      "local held = waiter and 0 or redis.pcall('ZREM', lock, token)"},
     CASE("ww ", "w", ONE(CANCELS))},
    {{"who cancels stays in the queue",
      "local left = waiter and redis.call('ZREM', queue, 'r' .. waiter, 'w' .. waiter, 'p' .. "
      "waiter) > 0",
      "local left = false"},
     CASE("ww ", "w", ONE(CANCELS))},
    {{"a reader that cancels its promotion stays in the queue",
      "local left = waiter and manner == 'try' and leave(waiter)", "local left = false"},
     CASE("pr ", "", ONE(CANCELS))},
    {{"a reader that cancels its promotion gives nothing back", "if demoted or left then",
      "if false then"},
     CASE("prr", "", ONE(CANCELS))},
    {{"nobody is told that it is the first",
      "if not (news or is_new) or tell(waiter, 'first', delay) ~= 0 then", "if true then"},
     CASE("ww ", "w")},
    {{"a late claim is taken as ownership", "elseif count == 0 and is_queue_empty() then",
      "elseif manner == 'claim' or count == 0 and is_queue_empty() then"},
     CASE("ww ", "w", ONE(PAUSES), .longest_ms = MODEL_TTL_MS)},
    {{"who claims too late stands last", "if mode ~= 'p' and manner == 'claim' then",
      "if false then"},
     CASE("www", "w", ONE(PAUSES), .longest_ms = MODEL_TTL_MS)},
    {{"who releases hands nothing over", "serve(us, nil, left or held == 1, was_writer)",
      "local _"},
     CASE("ww ", "w")},
    {{"only the first reader is told", "news = true\nend\nend\n", "do return nil end\nend\nend\n"},
     CASE("rr ", "w")},
    {{"a reader is promoted beside others",
      "waiter.mode == 'p' and count == 1 and redis.call('ZSCORE', lock, waiter.token)",
      "waiter.mode == 'p'"},
     CASE("pr ", "")},
    {{"two readers wait for each other", "first ~= 'p' .. waiter", "false"}, CASE("pp ", "")},
    {{"a try overtakes waiters", "local allowed = serve(us, nil, false) ~= false",
      "local allowed = false"},
     CASE("ww ", "w", .tries = true)},
    {{"the claim window is long", "local CLAIM_MS = 1000", "local CLAIM_MS = 9000"},
     CASE("ww ", "w", ONE(DIES), .longest_ms = MODEL_TTL_MS)},
    {{"the first asks seldom", "local SAFETY_MS = 1100", "local SAFETY_MS = 30000"},
     CASE("ww ", "w", ONE(LOSES_MESSAGE), .longest_ms = TWO_PLACES_MS)},
    {{"the first asks when it likes", "math.min(left, ", "math.min(9999, "}, CASE("ww ", "w")},
    {{"a peer's hold is taken for one of ours", "redis.call('HEXISTS', record, holder) == 0",
      "false"},
     CASE("ww ", "s", .longest_ms = PEER_MS)},
    {{"a lock that is left free once is so for ever",
      "if free_until and now < free_until then\nreturn free_until - now",
      "if free_until then\nreturn PEER_POLL_MS"},
     CASE("ww ", "w", .peers = true, .longest_ms = 210)},
    {{"who is first asks late for what was granted before it",
      "and CLAIM_MS + math.ceil(us % 1000 / 1000) or nil", "and 9000 or nil"},
     CASE("www", "w", ONE(DIES), .longest_ms = MODEL_TTL_MS)},
    {{"a fencing token is given twice", "fencing = now\n", "fencing = '4102444799010000'\n"},
     CASE("ww ", "")},
    {{"the queue does not end", "redis.call('PEXPIRE', queue, QUEUE_MS)", "local _"},
     CASE("ww ", "")},
    {{"the record does not end", "redis.call('PEXPIREAT', record, expiry)", "local _"},
     CASE("ww ", "")},
    {{"the lock ends with whom it likes", "redis.call('PEXPIREAT', lock, expiry)", "local _"},
     CASE("ww ", "")},
    {{"who cancels keeps what it was granted", "if token ~= '' then", "if not waiter then"},
     CASE("ww ", "w", ONE(CANCELS), STRING)},
    {{"who cancels stays in the queue",
      "local left = waiter and redis.call('ZREM', queue, 'o' .. waiter) > 0", "local left = false"},
     CASE("ww ", "w", ONE(CANCELS), STRING)},
    {{"who releases hands nothing over", "serve(us, nil, left or held, held)", "local _"},
     CASE("ww ", "w", STRING)},
    {{"a late claim is taken as ownership", "elseif is_free and is_queue_empty() then",
      "elseif manner == 'claim' or is_free and is_queue_empty() then"},
     CASE("ww ", "w", ONE(PAUSES), .longest_ms = MODEL_TTL_MS, STRING)},
    {{"a try overtakes waiters", "local allowed = serve(us, nil, false) ~= false",
      "local allowed = false"},
     CASE("ww ", "w", .tries = true, STRING)},
    {{"a namesake has the lock as well",
      "if by == token then\nheld = recorded\nelseif current == owner and not by and not blank then",
      "if current == owner then"},
     CASE("ww ", "w", ONE_OWNER)},
    {{"a namesake whose time is over gives another's lock back", "held = not by or (",
      "held = true or ("},
     CASE("ww ", "w", ONE(PAUSES), .longest_ms = MODEL_TTL_MS, ONE_OWNER)},
    {{"a peer's hold is taken for one of ours", "if not held then\nlongest",
      "if false then\nlongest"},
     CASE("ww ", "s", .longest_ms = PEER_MS, STRING)},
    {{"the first asks when it likes", "math.max(1, math.min(left, longest))", "longest"},
     CASE("ww ", "w", STRING)},
    {{"a grant is as long as it likes", "'PX', CLAIM_MS", "'PX', 9000"},
     CASE("ww ", "w", ONE(DIES), .longest_ms = MODEL_TTL_MS, STRING)},
    {{"a writer leaves its mark behind", "redis.call('ZREM', KEYS[1], '__write__')\n", ""},
     CASE("ww ", "w", ONE(RELEASE_IS_UNKNOWN), .longest_ms = SAFETY_MS)},
    {{"what comes behind a release ends another's hold",
      "if redis.call('ZREM', KEYS[1], ARGV[1]) == 1 then\nredis.call('ZREM', KEYS[1], '__write__')",
      "if redis.call('ZREM', KEYS[1], ARGV[1]) then\nredis.call('ZREM', KEYS[1], '__write__')"},
     CASE("ww ", "w", ONE(RELEASE_IS_UNKNOWN), .longest_ms = SAFETY_MS)},
    {{"what comes behind a release ends a namesake's hold", "-#token - 1) == '\\n' .. token) then",
      "-#token - 1) ~= '?' .. token) then"},
     CASE("ww ", "w", ONE(RELEASE_IS_UNKNOWN), .longest_ms = SAFETY_MS, ONE_OWNER)},
    {{"the record is of no use", "if token and select(2, parts_of(token)) == owner then",
      "if false then"},
     CASE("ww ", "w", ONE_OWNER)},
};

static void every_mistake_in_the_scripts_is_found(void **state)
{
    size_t missed = 0;

    (void) state;
    for (size_t at = 0; at < sizeof(mutants) / sizeof(*mutants); at++) {
        model_result result;

        if (!IS_SLOW) {
            search(&mutants[at].scenario); /* nothing is found without the mistake */
        }
        model_load(&mutants[at].mutation);
        result = model_search(&mutants[at].scenario);
        model_unload();
        if (result.violation == NULL) {
            print_error("not found: %s\n", mutants[at].mutation.name);
            missed++;
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
        UNIT_REDIS_TEST(who_dies_with_the_lock_delays_others_until_its_lease_ends),
        UNIT_REDIS_TEST(who_cancels_delays_nobody),
        UNIT_REDIS_TEST(who_renews_is_as_any_other_holder),
        UNIT_REDIS_TEST(a_lost_message_costs_the_time_until_its_waiter_asks),
        UNIT_REDIS_TEST(who_is_paused_costs_a_claim_window_and_comes_late),
        UNIT_REDIS_TEST(waiters_stand_up_again_when_the_servers_data_are_lost),
        UNIT_REDIS_TEST(a_release_by_the_other_script_is_found_out_by_the_first),
        UNIT_REDIS_TEST(a_peer_that_says_nothing_is_followed_by_polls),
        UNIT_REDIS_TEST(a_lock_is_left_free_for_peers_and_then_handed_over_again),
        UNIT_REDIS_TEST(who_tries_first_queues_when_it_is_refused),
        UNIT_REDIS_TEST(any_two_things_may_go_wrong),
        UNIT_REDIS_TEST(every_mistake_in_the_scripts_is_found),
    };

    return cmocka_run_group_tests_name("redis queue model", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
