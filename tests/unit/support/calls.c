/* Calls of versions, throttles and count-downs: see calls.h. */
#include "calls.h"

#include <stdlib.h>

static char told[4 * 1024 * 1024];

static void make_call(unit_call *made, latch_store *store, const char *resource,
                      latch_function function, va_list arguments)
{
    const char *text;

    *made = (unit_call){.call = {.function = function}};
    latch_lease_init(&made->lease, store, resource, strlen(resource));
    while ((text = va_arg(arguments, const char *)) != NULL) {
        made->call.arguments[made->call.count++] = (latch_bytes){text, strlen(text)};
    }
}

void unit_call_make(unit_call *made, latch_store *store, const char *resource,
                    latch_function function, ...)
{
    va_list arguments;

    va_start(arguments, function);
    make_call(made, store, resource, function, arguments);
    va_end(arguments);
}

latch_request unit_call_request(unit_call *made)
{
    latch_request request = unit_request(LATCH_CALL);

    request.call = &made->call;
    return request;
}

const char *unit_call_told(unit_call *made, latch_status status)
{
    const latch_answer *answer = made->call.answer;
    size_t length = 0;

    told[0] = '\0';
    UNIT_CHECK((status == LATCH_DONE) == (answer != NULL));
    if (status != LATCH_DONE) {
        snprintf(told, sizeof(told), "error %d: %s", status, unit.error.message);
    }
    for (size_t at = 0; answer != NULL && at < answer->count; at++) {
        UNIT_CHECK(answer->parts[at].text[answer->parts[at].length] == '\0');
        UNIT_CHECK(length + answer->parts[at].length + 2 < sizeof(told));
        if (at > 0) {
            told[length++] = ',';
        }
        memcpy(told + length, answer->parts[at].text, answer->parts[at].length + 1);
        length += answer->parts[at].length;
    }
    latch_answer_free(unit.engine, made->call.answer);
    latch_lease_drop(&made->lease);
    return told;
}

static const char *run_made(unit_call *made)
{
    return unit_call_told(made, unit_run_request(&made->lease, unit_call_request(made)));
}

const char *unit_call_run(const char *resource, latch_function function, ...)
{
    unit_call made;
    va_list arguments;

    va_start(arguments, function);
    make_call(&made, unit.store, resource, function, arguments);
    va_end(arguments);
    return run_made(&made);
}

const char *unit_call_run_with(const char *resource, latch_function function, latch_bytes last, ...)
{
    unit_call made;
    va_list arguments;

    va_start(arguments, last);
    make_call(&made, unit.store, resource, function, arguments);
    va_end(arguments);
    made.call.arguments[made.call.count++] = last;
    return run_made(&made);
}

/* ---- Versions ------------------------------------------------------------------------------- */

#define TTL "60000"
#define TELLS(expected, answer) assert_string_equal(answer, expected)

static const char *advance(const char *version)
{
    return unit_call_run("r", LATCH_VERSION_ADVANCE, TTL, version, "0", NULL);
}

static const char *advance_or_same(const char *version)
{
    return unit_call_run("r", LATCH_VERSION_ADVANCE, TTL, version, "1", NULL);
}

static const char *revert(const char *version)
{
    return unit_call_run("r", LATCH_VERSION_REVERT, TTL, version, NULL);
}

static const char *newest(void)
{
    return unit_call_run("r", LATCH_VERSION_GET, NULL);
}

void versions_are_compared_as_numbers_or_as_bytes(void **state)
{
    static const char *const rising[][2] = {
        {"0", "1"},
        {"9", "10"},
        {"-1", "0"},
        {"-10", "-9"},
        {"-1", "1"},
        {"-100", "99"},
        {"9007199254740992", "9007199254740993"}, /* 2^53 + 1 */
        {"-9007199254740993", "-9007199254740992"},
        {"9223372036854775807", "9223372036854775808"},
        {"9999999999999999999", "10000000000000000000"},
        {"123456789012345678901234567890", "123456789012345678901234567891"},
        {"2024-01-31", "2024-02-01"},
        {"01HNF0", "01HNF1"},
        {"B", "a"}, /* not so in the order of a language */
        {"a", "aa"},
        {"Z", "\xc3\xa4"},
        {"z", "\xff"},
        {"-", "a"},
        {"1.10", "1.9"},
        {"+5", "1a"},
    };

    (void) state;
    for (size_t at = 0; at < sizeof(rising) / sizeof(*rising); at++) {
        char resource[16];
        const char *old = rising[at][0], *new = rising[at][1];

        snprintf(resource, sizeof(resource), "r%zu", at);
        TELLS("1", unit_call_run(resource, LATCH_VERSION_ADVANCE, TTL, old, "0", NULL));
        TELLS("0", unit_call_run(resource, LATCH_VERSION_ADVANCE, TTL, old, "0", NULL));
        TELLS("0", unit_call_run(resource, LATCH_VERSION_OUTDATED, new, NULL));
        TELLS("1", unit_call_run(resource, LATCH_VERSION_ADVANCE, TTL, new, "0", NULL));
        TELLS("0", unit_call_run(resource, LATCH_VERSION_ADVANCE, TTL, old, "1", NULL));
        TELLS("1", unit_call_run(resource, LATCH_VERSION_OUTDATED, old, NULL));
        TELLS("0", unit_call_run(resource, LATCH_VERSION_OUTDATED, new, NULL));
        TELLS(new, unit_call_run(resource, LATCH_VERSION_GET, NULL));
    }
}

void numbers_and_texts_are_not_mixed(void **state)
{
    (void) state;
    TELLS("1", advance("5"));
    TELLS("mixed,5", advance("five"));
    TELLS("mixed,5", advance("-"));
    TELLS("mixed,5", advance("5-"));
    TELLS("mixed,5", revert("five"));
    TELLS("mixed,5", unit_call_run("r", LATCH_VERSION_OUTDATED, "1.0", NULL));
    TELLS("5", newest());
    TELLS("1", unit_call_run("t", LATCH_VERSION_ADVANCE, TTL, "five", "0", NULL));
    TELLS("mixed,five", unit_call_run("t", LATCH_VERSION_ADVANCE, TTL, "-6", "0", NULL));
}

void the_same_version_passes_where_that_is_wanted(void **state)
{
    (void) state;
    TELLS("", newest());
    TELLS("0", unit_call_run("r", LATCH_VERSION_OUTDATED, "1", NULL));
    TELLS("1", advance_or_same("7"));
    TELLS("0", advance("7"));
    TELLS("1", advance_or_same("7"));
    TELLS("1", revert("7")); /* what was before it is the same one */
    TELLS("7", newest());
    TELLS("0", advance("7"));
}

void a_reverted_version_may_come_again(void **state)
{
    (void) state;
    TELLS("0", revert("120"));
    TELLS("1", advance("120"));
    TELLS("0", revert("119"));
    TELLS("0", revert("121"));
    TELLS("1", revert("120"));
    TELLS("", newest());
    TELLS("0", revert("120"));
    TELLS("1", advance("119"));
    TELLS("1", advance("120"));
    TELLS("1", revert("120"));
    TELLS("119", newest());
    TELLS("0", advance("119"));
    TELLS("1", advance("120"));
    TELLS("0", advance("120"));
}

void a_revert_never_lets_an_older_version_through(void **state)
{
    (void) state;
    TELLS("1", advance("1"));
    TELLS("1", advance("2"));
    TELLS("1", advance("3"));
    TELLS("1", revert("3"));
    TELLS("1", revert("2")); /* what was before it is not known any more */
    TELLS("2", newest());
    TELLS("0", advance("1"));
    TELLS("1", advance("2"));
    TELLS("0", advance("2"));
    TELLS("1", revert("2"));
    TELLS("1", advance("3"));
    TELLS("1", revert("3"));
    TELLS("2", newest());
    TELLS("1", advance("2")); /* that it may come once more was not forgotten */
    TELLS("0", advance("2"));
    TELLS("0", advance("1"));
}

void an_overtaken_version_that_fails_may_come_again(void **state)
{
    (void) state;
    TELLS("1", advance("121"));
    TELLS("1", advance("122"));
    TELLS("0", revert("121")); /* it is not the newest one ... */
    TELLS("0", advance("121"));
    TELLS("1", revert("122"));
    TELLS("121", newest());
    TELLS("1", advance("121")); /* ... but has failed */
    TELLS("0", advance("121"));
    TELLS("1", advance("122"));
    TELLS("0", revert("121"));
    TELLS("1", advance("123"));
    TELLS("1", revert("123"));
    TELLS("122", newest());
    TELLS("0", advance("122"));
}

/* ---- Throttles ------------------------------------------------------------------------------ */

/* A step of a minute: no time passes that matters. */
#define STEP "60000000"

static int64_t wait_of(const char *answer, char reserved)
{
    UNIT_CHECK(answer[0] == reserved && answer[1] == ',');
    return atoll(answer + 2);
}

/* So many steps, and up to ten seconds less, as the clock goes on. */
static bool is_steps(int64_t wait_us, int64_t steps)
{
    return wait_us <= steps * 60000000 && wait_us > steps * 60000000 - 10000000;
}

static const char *reserve(const char *burst, const char *patience)
{
    return unit_call_run("r", LATCH_THROTTLE_RESERVE, STEP, burst, patience, NULL);
}

void a_throttle_spaces_begins(void **state)
{
    (void) state;
    TELLS("0", unit_call_run("r", LATCH_THROTTLE_LOOK, STEP, "0", NULL));
    TELLS("1,0", reserve("0", "0"));
    UNIT_CHECK(is_steps(atoll(unit_call_run("r", LATCH_THROTTLE_LOOK, STEP, "0", NULL)), 1));
    for (int at = 1; at < 5; at++) {
        UNIT_CHECK(is_steps(wait_of(reserve("0", "946080000000000"), '1'), at));
    }
    UNIT_CHECK(is_steps(atoll(unit_call_run("r", LATCH_THROTTLE_LOOK, STEP, "0", NULL)), 5));
}

void a_slot_beyond_the_patience_is_not_taken(void **state)
{
    (void) state;
    TELLS("1,0", reserve("0", "0"));
    for (int at = 0; at < 3; at++) {
        UNIT_CHECK(is_steps(wait_of(reserve("0", "0"), '0'), 1));
        UNIT_CHECK(is_steps(wait_of(reserve("0", "30000000"), '0'), 1));
    }
    UNIT_CHECK(is_steps(wait_of(reserve("0", STEP), '1'), 1));
    UNIT_CHECK(is_steps(wait_of(reserve("0", STEP), '0'), 2));
}

void a_burst_is_let_through_at_once(void **state)
{
    (void) state;
    for (int at = 0; at < 3; at++) {
        TELLS("1,0", reserve("120000000", "0"));
    }
    UNIT_CHECK(is_steps(wait_of(reserve("120000000", "0"), '0'), 1));
    UNIT_CHECK(is_steps(wait_of(reserve("0", "0"), '0'), 3)); /* each caller's burst is its own */
}

/* ---- Count-downs ---------------------------------------------------------------------------- */

static const char *open_count(const char *members, const char *payload)
{
    return unit_call_run("r", LATCH_COUNT_DOWN_OPEN, TTL, members, payload, NULL);
}

static const char *arrive_for(const char *member, const char *has_failed, const char *claim_ms)
{
    return unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, TTL, member, has_failed, claim_ms, NULL);
}

static const char *arrive(const char *member)
{
    return arrive_for(member, "0", "30000");
}

static const char *state_of_count(void)
{
    return unit_call_run("r", LATCH_COUNT_DOWN_STATE, NULL);
}

static const char *end_count(void)
{
    return unit_call_run("r", LATCH_COUNT_DOWN_DONE, TTL, NULL);
}

static const char *cancel_count(void)
{
    return unit_call_run("r", LATCH_COUNT_DOWN_CANCEL, NULL);
}

static const char *inspect_count(void)
{
    return unit_call_run("r", LATCH_COUNT_DOWN_INSPECT, NULL);
}

void the_last_arrival_gets_the_payload(void **state)
{
    (void) state;
    TELLS("1", open_count("1 a1 b2 cc", "sum up"));
    UNIT_CHECK(strncmp(inspect_count(), "open,3,3,1,0,0,", 15) == 0);
    TELLS("open,2,0,", arrive("b"));
    TELLS("open,2", end_count());
    TELLS("open,1,0,", arrive("a"));
    TELLS("open,3,1,1,0,0,cc", inspect_count());
    TELLS("arrived,0,1,sum up", arrive("cc"));
    TELLS("arrived", state_of_count());
    TELLS("arrived,0,0,", arrive("cc")); /* it is claimed */
    TELLS("arrived,0,0,", arrive("a"));
    TELLS("done,0", end_count());
    TELLS("done", state_of_count());
    TELLS("done,0,0,", arrive("cc"));
    TELLS("done,0,0,", arrive("a"));
    TELLS("done,0", end_count());
    TELLS("done,3,0,0,0,0", inspect_count());
}

void a_member_counts_once(void **state)
{
    (void) state;
    TELLS("1", open_count("1 a1 b", ""));
    for (int at = 0; at < 3; at++) {
        TELLS("open,1,0,", arrive("a"));
    }
    TELLS("stranger", arrive("A"));
    TELLS("stranger", arrive(""));
    TELLS("open,1,0,", arrive_for("a", "1", "30000")); /* it has arrived */
    TELLS("arrived,0,1,", arrive("b"));
}

void without_payload_the_last_arrival_ends_it(void **state)
{
    (void) state;
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, TTL, "1 a1 b", NULL));
    TELLS("open,1,0,", arrive_for("a", "1", "30000"));
    TELLS("done,0,0,,a", arrive("b"));
    TELLS("done", state_of_count());
    TELLS("done,0,0,,a", arrive("b"));
    TELLS("stranger", arrive("c"));
    TELLS("done,2,0,0,0,1,a", inspect_count());
    TELLS("0", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, TTL, "1 a1 b", NULL));
}

void members_that_failed_are_told(void **state)
{
    (void) state;
    TELLS("1", open_count("1 a1 b1 c", "p"));
    TELLS("open,2,0,", arrive_for("a", "1", "30000"));
    TELLS("open,1,0,", arrive_for("b", "1", "30000"));
    TELLS("open,1,0,", arrive("b")); /* tried again */
    TELLS("open,3,1,1,0,1,a,c", inspect_count());
    TELLS("arrived,0,1,p,a", arrive("c"));
    TELLS("arrived,0,0,,a", arrive("a")); /* too late */
}

void a_count_down_is_opened_once(void **state)
{
    (void) state;
    TELLS("1", open_count("1 a1 b", "p"));
    TELLS("0", open_count("1 a1 b", "q"));
    TELLS("other", open_count("1 a1 c", "p"));
    TELLS("other", open_count("1 a", "p"));
    TELLS("open,1,0,", arrive("a"));
    TELLS("0", open_count("1 a1 b", "p"));
    TELLS("arrived,0,1,p", arrive("b"));
    TELLS("done,0", end_count());
    TELLS("0", open_count("1 a1 b", "p"));
    TELLS("other", open_count("1 a", "p"));
    TELLS("0", cancel_count());
}

void a_cancelled_count_down_can_be_opened_anew(void **state)
{
    (void) state;
    TELLS("1", open_count("1 a1 b", "p"));
    TELLS("open,1,0,", arrive("a"));
    TELLS("1", cancel_count());
    TELLS("0", cancel_count());
    TELLS("cancelled", state_of_count());
    TELLS("cancelled,0,0,", arrive("b"));
    TELLS("cancelled,0,0,", arrive("stranger"));
    TELLS("cancelled,0", end_count());
    TELLS("1", open_count("1 c", "q"));
    TELLS("arrived,0,1,q", arrive("c"));
}

void nothing_is_known_of_what_was_not_opened(void **state)
{
    (void) state;
    TELLS("none", state_of_count());
    TELLS("none,0,0,", arrive("a"));
    TELLS("none,0", end_count());
    TELLS("0", cancel_count());
    TELLS("none,0,0,0,0,0", inspect_count());
}

void ten_thousand_members_arrive(void **state)
{
    static char list[200000];
    /* Each arrival may rewrite what there is of all, for which a sanitizer takes minutes. */
    const int members = UNIT_TSAN ? 100 : UNIT_ASAN ? 1000 : LATCH_MEMBERS_MAX;
    char left[32];
    size_t length = 0;

    (void) state;
    for (int at = 0; at < members; at++) {
        length += (size_t) snprintf(list + length, sizeof(list) - length, "10 member%04d", at);
    }
    TELLS("1", open_count(list, "p"));
    snprintf(left, sizeof(left), "open,%d,0,", members - 1);
    TELLS(left, arrive_for("member0034", "1", "30000"));
    for (int at = 0; at < members; at++) {
        char member[24];
        const char *answer;

        snprintf(member, sizeof(member), "member%04d", at);
        answer = arrive_for(member, "1", "30000");
        UNIT_CHECK(strncmp(answer, at < members - 1 ? "open," : "arrived,0,1,p,member",
                           at < members - 1 ? 5 : 20)
                   == 0);
        if (at == members - 1) {
            assert_int_equal(strlen(answer), strlen("arrived,0,1,p") + (size_t) members * 11);
        }
    }
    TELLS("done,0", end_count());
}

void a_large_payload_is_kept(void **state)
{
    static char payload[LATCH_PAYLOAD_MAX];
    const char *answer;

    (void) state;
    memset(payload, 'x', sizeof(payload));
    payload[1000] = '\0';
    TELLS("1", unit_call_run_with("r", LATCH_COUNT_DOWN_OPEN,
                                  (latch_bytes){payload, sizeof(payload)}, TTL, "1 a", NULL));
    answer = arrive("a");
    UNIT_CHECK(memcmp(answer, "arrived,0,1,", 12) == 0);
    assert_memory_equal(answer + 12, payload, sizeof(payload));
    UNIT_CHECK(answer[12 + sizeof(payload)] == '\0');
}

void resources_have_any_bytes_and_kinds_are_apart(void **state)
{
    static const char *const names[] = {"", "{", "}{", "{}a", "latch:version:r", "\xff\x01", "a b"};
    latch_lease *lock = unit_lease("r");
    latch_request request = unit_request(LATCH_ACQUIRE);

    (void) state;
    request.ttl_ms = 60000;
    UNIT_CHECK(unit_run_request(lock, request) == LATCH_DONE);
    TELLS("1", advance("1"));
    TELLS("1,0", reserve("0", "0"));
    TELLS("1", open_count("1 a", "p"));
    TELLS("1", newest());
    TELLS("open", state_of_count());
    UNIT_CHECK(unit_held(lock));
    unit_release(lock);
    for (size_t at = 0; at < sizeof(names) / sizeof(*names); at++) {
        TELLS("1", unit_call_run(names[at], LATCH_VERSION_ADVANCE, TTL, "1", "0", NULL));
        TELLS("0", unit_call_run(names[at], LATCH_VERSION_ADVANCE, TTL, "1", "0", NULL));
        TELLS("1", unit_call_run(names[at], LATCH_COUNT_DOWN_OPEN, TTL, "1 a", "p", NULL));
        TELLS("open", unit_call_run(names[at], LATCH_COUNT_DOWN_STATE, NULL));
    }
}
