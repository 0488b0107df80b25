/* Rules of sequences and debounces: see order_calls.h. */
#include "order_calls.h"

#include <stdlib.h>
#include <time.h>

#define TTL "6000000"
#define LONG "600000" /* a lease that does not end in a test */
#define TELLS(expected, answer) assert_string_equal(answer, expected)
#define BEGINS(expected, answer) UNIT_CHECK(strncmp(answer, expected, strlen(expected)) == 0)

/* Lets so much time pass, by the clock of the store. */
static void pass(int64_t ms)
{
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};

    unit.wall_ns += ms * LATCH_NS_PER_MS; /* it is the test's in any case */
    if (unit.real_clock) {
        UNIT_CHECK(nanosleep(&pause, NULL) == 0);
    } else {
        unit.now_ns += ms * LATCH_NS_PER_MS;
    }
}

/* ---- Sequences ------------------------------------------------------------------------------ */

typedef char number_text[24];

/* Enters and returns the ticket. `is_head` is "0" or "1". */
static const char *enter(number_text ticket, const char *id, const char *payload,
                         const char *is_head)
{
    const char *answer = unit_call_run("s", LATCH_SEQUENCE_ENTER, TTL, id, payload, NULL);
    const char *comma = strchr(answer, ',');

    UNIT_CHECK(comma != NULL && (size_t) (comma - answer) < sizeof(number_text));
    TELLS(is_head, comma + 1);
    snprintf(ticket, sizeof(number_text), "%.*s", (int) (comma - answer), answer);
    return ticket;
}

static const char *resume_for(const char *ticket, const char *owner, const char *lease_ms)
{
    return unit_call_run("s", LATCH_SEQUENCE_RESUME, TTL, ticket, owner, lease_ms, NULL);
}

static const char *resume(const char *ticket, const char *owner)
{
    return resume_for(ticket, owner, LONG);
}

static const char *next(const char *ticket, const char *owner)
{
    return unit_call_run("s", LATCH_SEQUENCE_NEXT, TTL, ticket, owner, LONG, NULL);
}

static const char *put_back(const char *ticket, const char *owner)
{
    return unit_call_run("s", LATCH_SEQUENCE_PUT_BACK, TTL, ticket, owner, NULL);
}

static const char *abandon(const char *patience_ms, const char *owner)
{
    return unit_call_run("s", LATCH_SEQUENCE_ABANDON, TTL, patience_ms, owner, LONG, NULL);
}

static const char *inspect(void)
{
    return unit_call_run("s", LATCH_SEQUENCE_INSPECT, NULL);
}

/* Is it an entry of that ticket and payload? */
static bool is_entry(const char *answer, const char *ticket, const char *payload)
{
    char expected[64];

    snprintf(expected, sizeof(expected), "%s,%s", ticket, payload);
    return strcmp(answer, expected) == 0;
}

void entries_are_handled_one_after_the_other(void **state)
{
    number_text a, b, c;

    (void) state;
    enter(a, "a", "pa", "1");
    enter(b, "b", "pb", "0");
    enter(c, "c", "pc", "0");
    UNIT_CHECK(atoll(a) < atoll(b) && atoll(b) < atoll(c));
    TELLS("go,0", resume(a, "w"));
    TELLS("go,0", resume(a, "w"));
    TELLS("held,1000000", resume(b, "v"));
    TELLS("held,2000000", resume(c, "v"));
    TELLS("", next(b, "v"));
    TELLS("", next(c, "w"));
    UNIT_CHECK(is_entry(next(a, "w"), b, "pb"));
    UNIT_CHECK(is_entry(next(a, "w"), b, "pb")); /* asked again */
    TELLS("", next(c, "w"));                     /* but not by an entry behind it */
    TELLS("done,0", resume(a, "w"));
    UNIT_CHECK(is_entry(next(b, "w"), c, "pc"));
    TELLS("", next(c, "w"));
    TELLS("", next(c, "w"));
    TELLS("done,0", resume(c, "v"));
    BEGINS(",0,0,0,0,", inspect());
    enter(a, "d", "pd", "1"); /* nobody is before it */
    UNIT_CHECK(atoll(a) > atoll(c));
}

void an_id_has_one_ticket(void **state)
{
    number_text first, again, other;

    (void) state;
    enter(first, "a", NULL, "1");
    enter(again, "a", "p", "1");
    TELLS(first, again);
    enter(other, "b", "p", "0");
    enter(again, "b", NULL, "0");
    TELLS(other, again);
    TELLS("go,0", resume(first, "w"));
    UNIT_CHECK(is_entry(next(first, "w"), other, "p"));
    enter(again, "b", "q", "0"); /* it is the head, but parked: nothing is to be sent */
    TELLS(other, again);
    enter(again, "a", "p", "0");
    TELLS(first, again);
    TELLS("", put_back(other, "w"));
    enter(again, "b", "q", "1");
    TELLS("", next(other, "w"));
    enter(again, "b", "q", "0");
    TELLS(other, again);
}

void a_lease_keeps_others_from_the_head(void **state)
{
    number_text a;
    const char *answer;

    (void) state;
    enter(a, "a", NULL, "1");
    TELLS("go,0", resume(a, "w"));
    answer = resume(a, "v");
    BEGINS("held,", answer);
    UNIT_CHECK(atoll(answer + 5) > 0 && atoll(answer + 5) <= 600000000);
    TELLS("", next(a, "v"));
    BEGINS("held,", resume(a, "v"));
    TELLS("", put_back(a, "v"));
    BEGINS("held,", resume(a, "v"));
    TELLS("", abandon("0", "v"));
    TELLS("go,0", resume_for(a, "w", "1"));
    pass(2);
    TELLS("go,0", resume(a, "v"));
    BEGINS("held,", resume(a, "w"));
    TELLS("", next(a, "w"));
    BEGINS("held,", resume(a, "w"));
    TELLS("", next(a, "v"));
    TELLS("done,0", resume(a, "w"));
}

/* A worker dies with a follower in its hand: the message that it had taken comes again. */
void a_follower_in_hand_comes_back_after_its_lease(void **state)
{
    number_text a, b, c;
    const char *answer;

    (void) state;
    enter(a, "a", NULL, "1");
    enter(b, "b", "pb", "0");
    enter(c, "c", "pc", "0");
    TELLS("go,0", resume(a, "w"));
    UNIT_CHECK(is_entry(next(a, "w"), b, "pb"));
    answer = resume(a, "v");
    BEGINS("done,", answer); /* done, but to be acknowledged only after the lease */
    UNIT_CHECK(atoll(answer + 5) > 0);
    TELLS("", next(a, "v"));
    TELLS("go,0", resume_for(b, "w", "1"));
    pass(2);
    TELLS("done,0", resume(a, "v"));
    UNIT_CHECK(is_entry(next(a, "v"), b, "pb"));
    TELLS("", next(b, "w")); /* it was dead for that long */
    UNIT_CHECK(is_entry(next(b, "v"), c, "pc"));
    TELLS("", next(a, "w"));
    UNIT_CHECK(is_entry(next(a, "v"), c, "pc"));
}

void a_head_that_was_put_back_keeps_its_place(void **state)
{
    number_text a, b, c;

    (void) state;
    enter(a, "a", NULL, "1");
    enter(b, "b", "pb", "0");
    enter(c, "c", "pc", "0");
    TELLS("go,0", resume(a, "w"));
    TELLS("", put_back(a, "w"));
    TELLS("held,1000000", resume(b, "v"));
    TELLS("go,0", resume(a, "v"));
    UNIT_CHECK(is_entry(next(a, "v"), b, "pb"));
    TELLS("", put_back(b, "v")); /* its message is sent */
    TELLS("", next(a, "v"));     /* and nothing is in any hand */
    TELLS("done,0", resume(a, "w"));
    BEGINS("held,", resume(c, "w"));
    TELLS("go,0", resume(b, "w"));
    TELLS("", put_back(a, "w")); /* no head */
    UNIT_CHECK(is_entry(next(b, "w"), c, "pc"));
}

void a_sender_ends_a_head_that_it_cannot_send(void **state)
{
    number_text a, b, c;

    (void) state;
    enter(a, "a", NULL, "1");
    enter(b, "b", "pb", "0");
    enter(c, "c", NULL, "0"); /* it travels */
    UNIT_CHECK(is_entry(next(a, "sender"), b, "pb"));
    TELLS("", put_back(b, "sender"));
    TELLS("go,0", resume(b, "w"));
    TELLS("", next(b, "w"));
    TELLS("go,0", resume(c, "v"));
}

void a_head_that_never_comes_is_abandoned(void **state)
{
    number_text a, b, c;

    (void) state;
    enter(a, "a", NULL, "1");
    enter(b, "b", "pb", "0");
    TELLS("", abandon("600000", "w"));
    UNIT_CHECK(is_entry(abandon("0", "w"), b, "pb"));
    TELLS("late,0", resume(a, "v"));
    TELLS("", next(a, "v"));
    TELLS("", put_back(b, "w"));
    TELLS("", abandon("600000", "w"));
    TELLS("go,0", resume(b, "v"));
    enter(c, "c", NULL, "0");
    TELLS("", abandon("0", "w")); /* it is being handled */
    TELLS("", put_back(b, "v"));
    TELLS("", abandon("0", "w")); /* and the message of the next one travels */
    TELLS("late,0", resume(b, "v"));
    TELLS("go,0", resume(c, "v"));
    TELLS("", put_back(c, "v"));
    TELLS("", abandon("0", "w"));
    TELLS("late,0", resume(c, "v"));
    BEGINS(",0,0,0,0,", inspect());
    TELLS("", abandon("0", "w"));
    enter(a, "a", NULL, "1"); /* a new ticket */
    UNIT_CHECK(atoll(a) > atoll(c));
}

/* A worker dies with a follower in its hand, and its own message does not come again. */
void a_parked_head_is_never_abandoned(void **state)
{
    number_text a, b;

    (void) state;
    enter(a, "a", NULL, "1");
    enter(b, "b", "pb", "0");
    UNIT_CHECK(is_entry(next(a, "w"), b, "pb"));
    TELLS("", abandon("0", "w"));
    TELLS("go,0", resume_for(b, "w", "1"));
    pass(2);
    TELLS("", abandon("600000", "v"));
    UNIT_CHECK(is_entry(abandon("1", "v"), b, "pb"));
    TELLS("", abandon("0", "u"));
    UNIT_CHECK(is_entry(next(a, "v"), b, "pb"));
    TELLS("", next(b, "v"));
    TELLS("done,0", resume(b, "w"));
}

void the_patience_begins_anew_with_each_sign_of_life(void **state)
{
    number_text a;

    (void) state;
    enter(a, "a", NULL, "1");
    pass(2000);
    TELLS("go,0", resume_for(a, "w", "1"));
    pass(2);
    TELLS("", abandon("2000", "v"));
    TELLS("go,0", resume(a, "w"));
    TELLS("", put_back(a, "w"));
    TELLS("", abandon("2000", "v"));
    TELLS("go,0", resume(a, "w"));
}

void a_thousand_tickets_are_remembered(void **state)
{
    static number_text all[LATCH_TICKETS_MAX + 2];
    number_text again;

    (void) state;
    for (int at = 0; at < LATCH_TICKETS_MAX + 2; at++) {
        char id[16];

        snprintf(id, sizeof(id), "%d", at);
        enter(all[at], id, NULL, "1");
        TELLS("", next(all[at], "w"));
    }
    TELLS("late,0", resume(all[0], "w"));
    TELLS("late,0", resume(all[1], "w"));
    TELLS("done,0", resume(all[2], "w"));
    TELLS("done,0", resume(all[LATCH_TICKETS_MAX + 1], "w"));
    enter(again, "2", NULL, "0");
    TELLS(all[2], again);
    enter(again, "1", NULL, "1");
    UNIT_CHECK(atoll(again) > atoll(all[LATCH_TICKETS_MAX + 1]));
}

void a_sequence_keeps_large_payloads(void **state)
{
    static char payload[LATCH_PAYLOAD_MAX];
    number_text a, b;
    const char *answer;

    (void) state;
    memset(payload, 'x', sizeof(payload));
    payload[1000] = '\0';
    enter(a, "a", NULL, "1");
    answer = unit_call_run_with("s", LATCH_SEQUENCE_ENTER, (latch_bytes){payload, sizeof(payload)},
                                TTL, "b", NULL);
    snprintf(b, sizeof(b), "%lld", atoll(answer));
    answer = next(a, "w");
    UNIT_CHECK(strncmp(answer, b, strlen(b)) == 0 && answer[strlen(b)] == ',');
    assert_memory_equal(answer + strlen(b) + 1, payload, sizeof(payload));
    TELLS("", next(b, "w"));
    enter(a, "c", NULL, "1");
    enter(b, "d", "", "0");
    UNIT_CHECK(is_entry(next(a, "w"), b, "")); /* an empty one is one */
}

void nothing_is_known_of_a_sequence_at_first(void **state)
{
    static const char *const tickets[] = {"0", "1", "-1", "9007199254740993", "1764100000000000"};

    (void) state;
    for (size_t at = 0; at < sizeof(tickets) / sizeof(*tickets); at++) {
        TELLS("late,0", resume(tickets[at], "w"));
        TELLS("", next(tickets[at], "w"));
        TELLS("", put_back(tickets[at], "w"));
    }
    TELLS("", abandon("0", "w"));
    TELLS(",0,0,0,0,0", inspect());
}

/* ---- Debounces ------------------------------------------------------------------------------ */

#define QUIET "60000000"
#define NO_MOST "946080000000000"

/* Registers and returns the token; the delay is to be what is left of so many seconds. */
static const char *occur(number_text token, const char *quiet_us, const char *most_us,
                         int64_t delay_s)
{
    const char *answer = unit_call_run("d", LATCH_DEBOUNCE_REGISTER, TTL, quiet_us, most_us, NULL);
    const char *comma = strchr(answer, ',');

    UNIT_CHECK(comma != NULL && (size_t) (comma - answer) < sizeof(number_text));
    UNIT_CHECK(atoll(comma + 1) <= delay_s * 1000000 + 1000);
    UNIT_CHECK(atoll(comma + 1) > delay_s * 1000000 - 10000000);
    snprintf(token, sizeof(number_text), "%.*s", (int) (comma - answer), answer);
    return token;
}

static const char *call_debounce(latch_function function, const char *quiet_us, const char *most_us,
                                 const char *token)
{
    return unit_call_run("d", function, TTL, quiet_us, most_us, token, NULL);
}

static void sent(const char *quiet_us, const char *token)
{
    TELLS("", call_debounce(LATCH_DEBOUNCE_SENT, quiet_us, NO_MOST, token));
}

static const char *ask(const char *quiet_us, const char *token)
{
    return call_debounce(LATCH_DEBOUNCE_RESUME, quiet_us, NO_MOST, token);
}

static void done(const char *token)
{
    TELLS("", unit_call_run("d", LATCH_DEBOUNCE_DONE, TTL, token, NULL));
}

void of_a_burst_the_last_goes(void **state)
{
    number_text a, b, c;
    const char *answer;

    (void) state;
    sent(QUIET, occur(a, QUIET, NO_MOST, 60));
    sent(QUIET, occur(b, QUIET, NO_MOST, 60));
    UNIT_CHECK(atoll(a) < atoll(b));
    answer = ask(QUIET, b);
    BEGINS("held,", answer);
    UNIT_CHECK(atoll(answer + 5) > 50000000 && atoll(answer + 5) <= 60001000);
    TELLS("done,0", ask(QUIET, a));
    pass(1);
    TELLS("go,0", ask("0", b)); /* each counts by its own quiet time */
    TELLS("go,0", ask("0", b));
    TELLS("done,0", ask("0", a));
    sent("0", occur(c, "0", NO_MOST, 0)); /* the burst has ended: another one begins */
    TELLS("go,0", ask(QUIET, b));
    BEGINS("held,", ask(QUIET, c));
    done(b);
    done(b);
    TELLS("done,0", ask("0", b));
    pass(1);
    TELLS("go,0", ask("0", c));
    done(c);
    TELLS("done,0", ask("0", c));
    sent(QUIET, c);
    sent(QUIET, a);
    TELLS("done,0", ask("0", c));
    TELLS("done,0", ask("0", a));
    occur(a, QUIET, NO_MOST, 60);
    UNIT_CHECK(atoll(a) > atoll(c));
}

/* Senders die: what they have not sent takes no one's place, and what they have sent is handled. */
void an_occurrence_counts_when_it_is_sent(void **state)
{
    number_text a, b, c;

    (void) state;
    sent(QUIET, occur(a, QUIET, NO_MOST, 60));
    occur(b, QUIET, NO_MOST, 60);
    occur(c, QUIET, NO_MOST, 60);
    pass(1);
    TELLS("go,0", ask("0", a));
    BEGINS("held,", ask(QUIET, b)); /* its consumer has it: so it was sent */
    TELLS("done,0", ask("0", a));
    TELLS("go,0", ask("0", b));
    sent(QUIET, c);
    TELLS("done,0", ask("0", b));
    sent(QUIET, b); /* too late */
    TELLS("go,0", ask("0", c));
}

void a_burst_ends_at_the_latest_after_its_longest_time(void **state)
{
    number_text first, last;

    (void) state;
    occur(first, QUIET, "60000000", 60);
    call_debounce(LATCH_DEBOUNCE_SENT, QUIET, "60000000", first);
    pass(20);
    occur(last, QUIET, "60000000", 60);
    UNIT_CHECK(atoll(last) - atoll(first) >= 20000);
    call_debounce(LATCH_DEBOUNCE_SENT, QUIET, "60000000", last);
    TELLS("done,0", call_debounce(LATCH_DEBOUNCE_RESUME, QUIET, "60000000", first));
    TELLS("go,0", call_debounce(LATCH_DEBOUNCE_RESUME, QUIET, "1", last));
    BEGINS("held,", call_debounce(LATCH_DEBOUNCE_RESUME, QUIET, "60000000", last));
}

void sixty_four_bursts_wait_to_be_done(void **state)
{
    number_text all[LATCH_BURSTS_MAX + 2];

    (void) state;
    for (int at = 0; at < LATCH_BURSTS_MAX + 2; at++) {
        sent("0", occur(all[at], "0", NO_MOST, 0));
    }
    pass(1);
    TELLS("done,0", ask("0", all[0])); /* forgotten: later ones wait */
    for (int at = LATCH_BURSTS_MAX + 1; at > 0; at--) {
        TELLS("go,0", ask("0", all[at]));
        done(all[at]);
        TELLS("done,0", ask("0", all[at]));
    }
}

void an_unknown_occurrence_goes(void **state)
{
    number_text a;

    (void) state;
    TELLS("go,0", ask(QUIET, "9007199254740993"));
    sent(QUIET, "9007199254740993");
    done("9007199254740993");
    sent(QUIET, occur(a, QUIET, NO_MOST, 60)); /* and does not matter to others */
    BEGINS("held,", ask(QUIET, a));
    TELLS("go,0", ask(QUIET, "9007199254740993"));
    TELLS("done,0", ask("0", "1"));
    BEGINS("held,", ask(QUIET, a));
}

void sequences_and_debounces_are_apart(void **state)
{
    static const char *const names[] = {"",         "{",  "}{", "{}a", "latch:sequence:r",
                                        "\xff\x01", "a b"};

    (void) state;
    for (size_t at = 0; at < sizeof(names) / sizeof(*names); at++) {
        TELLS("1", unit_call_run(names[at], LATCH_VERSION_ADVANCE, TTL, "1", "0", NULL));
        UNIT_CHECK(strstr(unit_call_run(names[at], LATCH_SEQUENCE_ENTER, TTL, "a", NULL), ",1")
                   != NULL);
        UNIT_CHECK(strstr(unit_call_run(names[at], LATCH_SEQUENCE_ENTER, TTL, "b", "p", NULL), ",0")
                   != NULL);
        UNIT_CHECK(
            atoll(unit_call_run(names[at], LATCH_DEBOUNCE_REGISTER, TTL, QUIET, NO_MOST, NULL))
            > 0);
        TELLS("1", unit_call_run(names[at], LATCH_VERSION_GET, NULL));
    }
}
