/*
 * The protocol of the shared memory store in every order of events: three participants, whose
 * accesses to memory are interleaved in all ways, and each of which may be killed between any two
 * of them. In every state that can be reached no lock is held twice, nobody is overtaken, fencing
 * tokens grow, and nobody sleeps who could have the lock; in the end everything is free.
 * LATCH_MODEL_TELL=1 tells how much was searched, and prints the way to a violation;
 * LATCH_MODEL_ALL=1 searches more: it takes some minutes. That the search can fail is seen by
 * breaking the protocol: tests/unit/mutants.
 */
#include "shm_search.h"

#include "unit.h"

#include <stdlib.h>
#include <time.h>

/* Sanitizers look at the model itself: for that a small part does. */
#define SLOW_STATES 20000

static void search(const model_scenario *scenario)
{
    bool is_told = getenv("LATCH_MODEL_TELL") != NULL;
    clock_t begun = clock();
    model_result result;

    model.tells = is_told;
    result = model_search(scenario, UNIT_SANITIZED ? SLOW_STATES : SIZE_MAX);
    if (is_told) {
        print_message("%s|%s|%s: %zu states, %zu transitions, %zu deaths, %zu ends, %.1f s\n",
                      scenario->scripts[0], scenario->scripts[1], scenario->scripts[2],
                      result.states, result.transitions, result.deaths, result.ends,
                      (double) (clock() - begun) / CLOCKS_PER_SEC);
    }
    if (result.violation != NULL) {
        fail_msg("broken: %s (%s|%s|%s)", result.violation, scenario->scripts[0],
                 scenario->scripts[1], scenario->scripts[2]);
    }
    assert_true(UNIT_SANITIZED || result.ends > 0);
}

static void search_all(const model_scenario *scenarios, size_t count, size_t quick)
{
    for (size_t at = 0; at < (getenv("LATCH_MODEL_ALL") != NULL ? count : quick); at++) {
        search(&scenarios[at]);
    }
}

#define SEARCH(scenarios, quick)                                                                   \
    search_all(scenarios, sizeof(scenarios) / sizeof((scenarios)[0]), quick)

static void locks_are_held_by_one_and_granted_in_order(void **state)
{
    static const model_scenario scenarios[] = {
        {.scripts = {"xara", "xara", "Xa"}},     {.scripts = {"xadara", "sara", "Xa"}},
        {.scripts = {"xara", "ea", "xara"}},     {.scripts = {"sapara", "Sa", "xara"}},
        {.scripts = {"xara", "xara", "xara"}},   {.scripts = {"xara", "sara", "sara"}},
        {.scripts = {"sapara", "sara", "xara"}},
    };

    (void) state;
    SEARCH(scenarios, 4);
}

static void waits_that_are_given_up_leave_nothing(void **state)
{
    static const model_scenario scenarios[] = {
        {.scripts = {"xara", "ca", ""}, .cancels = 1, .kills = 1},
        {.scripts = {"saqara", "sara", "Sa"}, .cancels = 1},
        {.scripts = {"ca", "xara", "sara"}, .cancels = 1},
        {.scripts = {"ca", "ca", "xara"}, .cancels = 2},
        {.scripts = {"sara", "ca", "Ca"}, .cancels = 1, .kills = 1},
    };

    (void) state;
    SEARCH(scenarios, 2);
}

static void what_is_abandoned_is_free(void **state)
{
    static const model_scenario scenarios[] = {
        {.scripts = {"wa", "wa", "xara"}, .cancels = 2},
        {.scripts = {"xara", "wa", "Xa"}, .cancels = 1, .kills = 1},
        {.scripts = {"xara", "wa", "xara"}, .cancels = 1},
        {.scripts = {"wa", "sara", "Xa"}, .kills = 1},
    };

    (void) state;
    SEARCH(scenarios, 2);
}

static void a_participant_may_die_anywhere(void **state)
{
    static const model_scenario scenarios[] = {
        {.scripts = {"xara", "xara", ""}, .kills = 2},
        {.scripts = {"sapara", "sara", ""}, .kills = 2},
        {.scripts = {"xadara", "sara", ""}, .kills = 2},
        {.scripts = {"xara", "eaXa", ""}, .kills = 2},
        {.scripts = {"xaxbrarb", "xara", "xbrb"}, .kills = 1},
        {.scripts = {"xara", "sara", "Sa"}, .kills = 1},
        {.scripts = {"xara", "xara", "Xa"}, .kills = 1},
        {.scripts = {"xara", "xbrbXa", "Xb"}, .kills = 1, .one_bucket = true},
        {.scripts = {"xara", "xara", "xara"}, .kills = 1},
    };

    (void) state;
    SEARCH(scenarios, 6);
}

/* The place of a dead one gets another generation, and its records are used again. */
static void a_place_may_be_taken_over(void **state)
{
    static const model_scenario scenarios[] = {
        {.scripts = {"xara", "", ""}, .kills = 2, .again = "XbXa"},
        {.scripts = {"xara", "xbrb", ""}, .kills = 1, .again = "xbrb"},
        {.scripts = {"sara", "sapara", ""}, .kills = 1, .again = "Xb"},
        {.scripts = {"xara", "xara", ""}, .kills = 1, .again = "XaXb"},
        {.scripts = {"xara", "Xa", ""}, .kills = 2, .again = "xara"},
    };

    (void) state;
    SEARCH(scenarios, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_may_be_taken_over),
        cmocka_unit_test(locks_are_held_by_one_and_granted_in_order),
        cmocka_unit_test(a_participant_may_die_anywhere),
        cmocka_unit_test(waits_that_are_given_up_leave_nothing),
        cmocka_unit_test(what_is_abandoned_is_free),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
