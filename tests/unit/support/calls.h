/*
 * Calls of versions, throttles and count-downs, as functions that answer with a text; and the rules
 * that hold for them in any store.
 */
#ifndef CALLS_H
#define CALLS_H

#include "unit.h"

/* A call, with all that a request of it needs; to be ended by unit_call_told(). */
typedef struct unit_call {
    latch_lease lease;
    latch_call call;
} unit_call;

/* The arguments are texts, up to a NULL. */
void unit_call_make(unit_call *made, latch_store *store, const char *resource,
                    latch_function function, ...) __attribute__((sentinel));
latch_request unit_call_request(unit_call *made);
/*
 * The answer's parts, with "," between them, or "error STATUS: MESSAGE"; valid until the next one.
 * Frees the answer.
 */
const char *unit_call_told(unit_call *made, latch_status status);
/* Carries a call on `resource` in unit.store out. */
const char *unit_call_run(const char *resource, latch_function function, ...)
    __attribute__((sentinel));
/* The same with any bytes for its last argument. */
const char *unit_call_run_with(const char *resource, latch_function function, latch_bytes last, ...)
    __attribute__((sentinel));

/* ---- Rules: tests in unit.store, without time that passes */

void versions_are_compared_as_numbers_or_as_bytes(void **state);
void numbers_and_texts_are_not_mixed(void **state);
void the_same_version_passes_where_that_is_wanted(void **state);
void a_reverted_version_may_come_again(void **state);
void a_revert_never_lets_an_older_version_through(void **state);
void an_overtaken_version_that_fails_may_come_again(void **state);
void a_throttle_spaces_begins(void **state);
void a_slot_beyond_the_patience_is_not_taken(void **state);
void a_burst_is_let_through_at_once(void **state);
void the_last_arrival_gets_the_payload(void **state);
void a_member_counts_once(void **state);
void without_payload_the_last_arrival_ends_it(void **state);
void members_that_failed_are_told(void **state);
void a_count_down_is_opened_once(void **state);
void a_cancelled_count_down_can_be_opened_anew(void **state);
void nothing_is_known_of_what_was_not_opened(void **state);
void ten_thousand_members_arrive(void **state);
void a_large_payload_is_kept(void **state);
void resources_have_any_bytes_and_kinds_are_apart(void **state);

#define CALL_RULES(TEST)                                                                           \
    TEST(versions_are_compared_as_numbers_or_as_bytes), TEST(numbers_and_texts_are_not_mixed),     \
        TEST(the_same_version_passes_where_that_is_wanted),                                        \
        TEST(a_reverted_version_may_come_again),                                                   \
        TEST(a_revert_never_lets_an_older_version_through),                                        \
        TEST(an_overtaken_version_that_fails_may_come_again), TEST(a_throttle_spaces_begins),      \
        TEST(a_slot_beyond_the_patience_is_not_taken), TEST(a_burst_is_let_through_at_once),       \
        TEST(the_last_arrival_gets_the_payload), TEST(a_member_counts_once),                       \
        TEST(without_payload_the_last_arrival_ends_it), TEST(members_that_failed_are_told),        \
        TEST(a_count_down_is_opened_once), TEST(a_cancelled_count_down_can_be_opened_anew),        \
        TEST(nothing_is_known_of_what_was_not_opened), TEST(ten_thousand_members_arrive),          \
        TEST(a_large_payload_is_kept), TEST(resources_have_any_bytes_and_kinds_are_apart)

#endif
