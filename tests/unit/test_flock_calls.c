/* Versions, throttles and the like in files: what they keep, and what is left of them. */
#include "flock_calls.h"
#include "order_calls.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void pass(int64_t ms)
{
    unit.wall_ns += ms * LATCH_NS_PER_MS;
    unit.now_ns += ms * LATCH_NS_PER_MS;
}

/* No time but the test's. */
static int setup_clock(void **state)
{
    int result = unit_setup_flock(state);

    unit.real_clock = false;
    return result;
}

static void nothing_is_left(void)
{
    assert_int_equal(flock_calls_count_files("s", ""), 0);
}

/* ---- Records --------------------------------------------------------------------------------- */

static void records_outlive_their_store(void **state)
{
    (void) state;
    TELLS("1", flock_calls_advance("5"));
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, TTL, "1 a1 b", "p\nq", NULL));
    TELLS("open,1,0,", unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, TTL, "a", "1", "1000", NULL));
    TELLS("1,0", unit_call_run("r", LATCH_THROTTLE_RESERVE, "60000000", "0", "0", NULL));
    latch_store_close(unit.store);
    unit.store = unit_open("flock");
    TELLS("5", flock_calls_newest());
    TELLS("0", flock_calls_advance("5"));
    TELLS("60000000", unit_call_run("r", LATCH_THROTTLE_LOOK, "60000000", "0", NULL));
    TELLS("arrived,0,1,p\nq,a",
          unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, TTL, "b", "0", "1000", NULL));
}

static void a_record_ends_with_its_files(void **state)
{
    (void) state;
    TELLS("1", flock_calls_advance("5"));
    assert_int_equal(flock_calls_count_files("sl.version-r.", ".state"), 1);
    assert_int_equal(flock_calls_count_files("sf.sl.version-r.", ".lock"), 1);
    assert_int_equal(flock_calls_count_files("s", ""), 2);
    pass(59999);
    TELLS("5", flock_calls_newest());
    TELLS("1", unit_call_run("r", LATCH_VERSION_ADVANCE, "1", "6", "0", NULL)); /* not sooner */
    TELLS("6", flock_calls_newest());
    pass(1);
    TELLS("", flock_calls_newest());
    nothing_is_left();
    TELLS("1", unit_call_run("r", LATCH_VERSION_ADVANCE, "1000", "x", "0", NULL));
}

static void the_clock_is_that_of_the_wall(void **state)
{
    (void) state;
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, TTL, "1 a", "p", NULL));
    TELLS("arrived,0,1,p",
          unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, TTL, "a", "0", "1000", NULL));
    unit.now_ns -= 4000 * LATCH_NS_PER_S; /* another boot of the machine */
    TELLS("arrived,0,0,", unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, TTL, "a", "0", "1000", NULL));
    pass(1000);
    TELLS("arrived,0,1,p",
          unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, TTL, "a", "0", "1000", NULL));
}

static void times_may_be_endless(void **state)
{
    static const char endless[] = "9223372036854775807";

    (void) state;
    TELLS("1", unit_call_run("r", LATCH_VERSION_ADVANCE, endless, "5", "0", NULL));
    TELLS("5", flock_calls_newest());
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, endless, "1 a", "p", NULL));
    TELLS("arrived,0,1,p",
          unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, endless, "a", "0", endless, NULL));
    TELLS("arrived,0,0,", unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, TTL, "a", "0", "1", NULL));
}

static void slots_come_with_the_clock(void **state)
{
    (void) state;
    for (int at = 0; at < 4; at++) {
        TELLS("1,0", unit_call_run("r", LATCH_THROTTLE_RESERVE, "60000000", "0", "0", NULL));
        unit.now_ns += 1234567891; /* of another boot */
        TELLS("60000000", unit_call_run("r", LATCH_THROTTLE_LOOK, "60000000", "0", NULL));
        pass(60000);
    }
}

static void what_changes_nothing_needs_no_lock(void **state)
{
    unit_process peer;

    (void) state;
    TELLS("1", flock_calls_advance("5"));
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, TTL, "1 a", "p", NULL));
    peer = unit_peer(flock_calls_find_file("sf.sl.version-r.", ".lock"));
    assert_true(unit_peer_try(&peer, LOCK_EX));
    TELLS("0", flock_calls_advance("4"));
    TELLS("5", flock_calls_newest());
    TELLS("0", unit_call_run("r", LATCH_VERSION_OUTDATED, "5", NULL));
    TELLS("open", unit_call_run("r", LATCH_COUNT_DOWN_STATE, NULL));
    TELLS("0", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, TTL, "1 a", "p", NULL));
    TELLS("none,0", unit_call_run("other", LATCH_COUNT_DOWN_DONE, TTL, NULL));
    unit_join(&peer);
}

static void a_lock_of_that_name_is_another_thing(void **state)
{
    latch_lease *lease = unit_lease("r");

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    TELLS("1", flock_calls_advance("5"));
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, TTL, "1 a", NULL));
    assert_true(unit_held(lease));
    unit_release(lease);
}

/* Names whose readable parts are alike are told apart. */
static void names_are_told_apart(void **state)
{
    static const char *const names[] = {"r",        "r ",       "r  ",  "r/",        "R",
                                        "\xc3\xa4", "\xc3\xb6", "../r", "version-r", "."};
    char lengthy[2][1000];

    (void) state;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t at = 0; at < sizeof(names) / sizeof(*names); at++) {
            char version[24];

            snprintf(version, sizeof(version), "%zu", at);
            TELLS(pass == 0 ? "1" : "0",
                  unit_call_run(names[at], LATCH_VERSION_ADVANCE, TTL, version, "0", NULL));
            TELLS(version, unit_call_run(names[at], LATCH_VERSION_GET, NULL));
        }
    }
    memset(lengthy, 'x', sizeof(lengthy));
    lengthy[0][999] = lengthy[1][998] = '\0';
    TELLS("1", unit_call_run(lengthy[0], LATCH_VERSION_ADVANCE, TTL, "1", "0", NULL));
    TELLS("1", unit_call_run(lengthy[1], LATCH_VERSION_ADVANCE, TTL, "1", "0", NULL));
}

/* ---- Waits ----------------------------------------------------------------------------------- */

static void another_writer_is_waited_for(void **state)
{
    unit_process peer;
    unit_call made;
    latch_op op;
    latch_status status;

    (void) state;
    TELLS("1", flock_calls_advance("5"));
    peer = unit_peer(flock_calls_find_file("sf.sl.", ".lock"));
    assert_true(unit_peer_try(&peer, LOCK_EX));
    unit_call_make(&made, unit.store, "r", LATCH_VERSION_ADVANCE, TTL, "6", "0", NULL);
    status = unit_begin(&op, &made.lease, unit_call_request(&made));
    assert_int_equal(status, LATCH_WANT_IO);
    unit_await_sleepers(flock_calls_find_file("sf.sl.", ".lock"), 1);
    TELLS("5", flock_calls_newest());
    assert_true(unit_peer_try(&peer, LOCK_UN));
    TELLS("1", unit_call_told(&made, unit_finish(&op, status)));
    TELLS("6", flock_calls_newest());
    unit_join(&peer);
}

static void a_stopped_writer_is_an_error_in_the_end(void **state)
{
    unit_process peer;
    unit_call made;
    latch_op op;
    latch_status status;

    (void) state;
    TELLS("1", flock_calls_advance("5"));
    peer = unit_peer(flock_calls_find_file("sf.sl.", ".lock"));
    assert_true(unit_peer_try(&peer, LOCK_EX));
    unit_call_make(&made, unit.store, "r", LATCH_VERSION_ADVANCE, TTL, "6", "0", NULL);
    status = unit_begin(&op, &made.lease, unit_call_request(&made));
    assert_int_equal(status, LATCH_WANT_IO);
    assert_true(op.wake_ns <= unit_now_ns() + 10 * LATCH_NS_PER_S);
    unit.ahead_ns += 10 * LATCH_NS_PER_S;
    assert_true(
        flock_calls_fails_with(unit_call_told(&made,
                                              unit_finish(&op, latch_op_step(&op, unit_now_ns()))),
                               "locked for 10 s; is it stopped?"));
    unit_join(&peer);
    TELLS("5", flock_calls_newest());
    TELLS("1", flock_calls_advance("6"));
}

static void a_wait_can_be_given_up(void **state)
{
    unit_process peer;
    unit_call made;
    latch_op op;

    (void) state;
    TELLS("1", flock_calls_advance("5"));
    peer = unit_peer(flock_calls_find_file("sf.sl.", ".lock"));
    assert_true(unit_peer_try(&peer, LOCK_EX));
    unit_call_make(&made, unit.store, "r", LATCH_VERSION_ADVANCE, TTL, "6", "0", NULL);
    assert_int_equal(unit_begin(&op, &made.lease, unit_call_request(&made)), LATCH_WANT_IO);
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
    assert_null(made.call.answer);
    latch_lease_drop(&made.lease);
    unit_join(&peer);
    TELLS("5", flock_calls_newest());
}

static void without_threads_it_polls(void **state)
{
    unit_process peer;
    unit_call made;
    latch_op op;
    latch_status status;

    (void) state;
    TELLS("1", flock_calls_advance("5"));
    unit_calls.no_threads = true;
    peer = unit_peer(flock_calls_find_file("sf.sl.", ".lock"));
    assert_true(unit_peer_try(&peer, LOCK_EX));
    unit_call_make(&made, unit.store, "r", LATCH_VERSION_ADVANCE, TTL, "6", "0", NULL);
    status = unit_begin(&op, &made.lease, unit_call_request(&made));
    assert_int_equal(status, LATCH_WANT_TIMER);
    unit_join(&peer);
    TELLS("1", unit_call_told(&made, unit_finish(&op, status)));
}

static void goes_on_in_a_child(unit_process *self, void *op)
{
    latch_op *mine = op;

    UNIT_CHECK(unit_finish(mine, LATCH_WANT_IO) == LATCH_DONE);
    unit_say(self, mine->request.call->answer->parts[0].text[0]);
}

static void a_forked_wait_goes_on_in_both(void **state)
{
    unit_process peer, child;
    unit_call made;
    latch_op op;

    (void) state;
    if (UNIT_TSAN) {
        skip(); /* it takes the child's threads for the parent's */
    }
    TELLS("1", flock_calls_advance("5"));
    peer = unit_peer(flock_calls_find_file("sf.sl.", ".lock"));
    assert_true(unit_peer_try(&peer, LOCK_EX));
    unit_call_make(&made, unit.store, "r", LATCH_VERSION_ADVANCE, TTL, "6", "0", NULL);
    assert_int_equal(unit_begin(&op, &made.lease, unit_call_request(&made)), LATCH_WANT_IO);
    unit_await_sleepers(flock_calls_find_file("sf.sl.", ".lock"), 1);
    child = unit_fork(goes_on_in_a_child, &op);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
    /* one of them is the first */
    assert_int_equal(made.call.answer->parts[0].text[0] + unit_hear(&child), '0' + '1');
    unit_call_told(&made, LATCH_DONE);
    unit_join(&child);
    unit_join(&peer);
}

/* ---- Contention ------------------------------------------------------------------------------ */

#define GROUPS 60
#define WORKERS 4

/* Each worker arrives for both members of each group, and tells how often it was the last. */
static void arrive_everywhere(unit_process *self, void *argument)
{
    char lasts = 0;

    (void) argument;
    unit_hear(self);
    for (int at = 0; at < GROUPS; at++) {
        char resource[16];

        snprintf(resource, sizeof(resource), "g%d", at);
        for (int member = 0; member < 2; member++) {
            const char *answer = unit_call_run(resource, LATCH_COUNT_DOWN_ARRIVE, TTL,
                                               member == 0 ? "a" : "b", "0", "60000", NULL);

            UNIT_CHECK(strncmp(answer, "error", 5) != 0);
            lasts += (char) (strncmp(answer, "arrived,0,1", 11) == 0);
        }
    }
    unit_say(self, (char) (lasts + 1));
    unit_hear(self);
}

static void exactly_one_arrival_is_the_last(void **state)
{
    unit_process workers[WORKERS];
    int lasts = 0;

    (void) state;
    for (int at = 0; at < GROUPS; at++) {
        char resource[16];

        snprintf(resource, sizeof(resource), "g%d", at);
        TELLS("1", unit_call_run(resource, LATCH_COUNT_DOWN_OPEN, TTL, "1 a1 b", "p", NULL));
    }
    for (int at = 0; at < WORKERS; at++) {
        workers[at] = unit_fork(arrive_everywhere, NULL);
    }
    for (int at = 0; at < WORKERS; at++) {
        unit_say(&workers[at], 'g');
    }
    for (int at = 0; at < WORKERS; at++) {
        lasts += unit_hear(&workers[at]) - 1;
        unit_say(&workers[at], 'e');
        unit_join(&workers[at]);
    }
    assert_int_equal(lasts, GROUPS);
}

/* ---- Sweep ----------------------------------------------------------------------------------- */

static void fill(const char *prefix, int count, const char *ttl)
{
    for (int at = 0; at < count; at++) {
        char resource[32];

        snprintf(resource, sizeof(resource), "%s%d", prefix, at);
        TELLS("1", unit_call_run(resource, LATCH_VERSION_ADVANCE, ttl, "1", "0", NULL));
    }
}

static void what_has_expired_is_swept(void **state)
{
    char path[PATH_MAX];

    (void) state;
    fill("short", 50, "1000");
    fill("long", 50, "1000000");
    snprintf(path, sizeof(path), "%s/sl.version-killed.AAAAAAAAAAAAAAAAAAAAAA.state.new",
             unit.directory);
    flock_calls_write_file(path, "", 0);
    unit.wall_ns = (int64_t) time(NULL) * LATCH_NS_PER_S; /* that file's clock */
    TELLS("1", unit_call_run("kept", LATCH_VERSION_ADVANCE, "10000000", "1", "0", NULL));
    fill("long", 50, "10000000");
    pass(999);
    fill("now", 3000, "1000");
    assert_int_equal(flock_calls_count_files("sl.version-short", ".state"), 0);
    assert_int_equal(flock_calls_count_files("sf.sl.version-short", ".lock"), 0);
    assert_int_equal(flock_calls_count_files("sl.version-long", ".state"), 50);
    assert_int_equal(flock_calls_count_files("sl.version-now", ".state"), 3000);
    assert_int_equal(flock_calls_count_files("sl.version-killed", ".new"), 1);
    pass(3601 * 1000);
    fill("later", 1000, "1000");
    assert_int_equal(flock_calls_count_files("sl.version-now", ".state"), 0);
    assert_int_equal(flock_calls_count_files("sf.sl.version-now", ".lock"), 0);
    assert_int_equal(flock_calls_count_files("sl.version-long", ".state"), 50);
    assert_int_equal(flock_calls_count_files("sl.version-killed", ".new"), 0);
    TELLS("1", unit_call_run("kept", LATCH_VERSION_GET, NULL));
}

/* Its time of modification is no proof. */
static void a_touched_record_is_not_swept(void **state)
{
    struct timespec past[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

    (void) state;
    fill("touched", 1, "1000000");
    UNIT_CHECK(utimensat(AT_FDCWD, flock_calls_state_file(), past, 0) == 0);
    fill("r", 1000, TTL);
    assert_int_equal(flock_calls_count_files("sl.version-touched", ".state"), 1);
    assert_int_equal(flock_calls_count_files("sf.sl.version-touched", ".lock"), 1);
}

#define FLOCK_TEST(test) UNIT_TEST(test, setup_flock)
#define CLOCK_TEST(test) cmocka_unit_test_setup_teardown(test, setup_clock, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CALL_RULES(FLOCK_TEST),
        ORDER_RULES(FLOCK_TEST),
        FLOCK_TEST(records_outlive_their_store),
        CLOCK_TEST(a_record_ends_with_its_files),
        CLOCK_TEST(the_clock_is_that_of_the_wall),
        CLOCK_TEST(times_may_be_endless),
        CLOCK_TEST(slots_come_with_the_clock),
        FLOCK_TEST(what_changes_nothing_needs_no_lock),
        FLOCK_TEST(a_lock_of_that_name_is_another_thing),
        FLOCK_TEST(names_are_told_apart),
        FLOCK_TEST(another_writer_is_waited_for),
        FLOCK_TEST(a_stopped_writer_is_an_error_in_the_end),
        FLOCK_TEST(a_wait_can_be_given_up),
        FLOCK_TEST(without_threads_it_polls),
        FLOCK_TEST(a_forked_wait_goes_on_in_both),
        FLOCK_TEST(exactly_one_arrival_is_the_last),
        CLOCK_TEST(what_has_expired_is_swept),
        FLOCK_TEST(a_touched_record_is_not_swept),
    };

    return cmocka_run_group_tests_name("flock calls", tests, NULL, NULL);
}
