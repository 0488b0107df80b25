/*
 * Rules of sequences and debounces that hold in any store: tests in unit.store, whose time may pass
 * on.
 */
#ifndef ORDER_CALLS_H
#define ORDER_CALLS_H

#include "calls.h"

void entries_are_handled_one_after_the_other(void **state);
void an_id_has_one_ticket(void **state);
void a_lease_keeps_others_from_the_head(void **state);
void a_follower_in_hand_comes_back_after_its_lease(void **state);
void a_head_that_was_put_back_keeps_its_place(void **state);
void a_sender_ends_a_head_that_it_cannot_send(void **state);
void a_head_that_never_comes_is_abandoned(void **state);
void a_parked_head_is_never_abandoned(void **state);
void the_patience_begins_anew_with_each_sign_of_life(void **state);
void a_thousand_tickets_are_remembered(void **state);
void a_sequence_keeps_large_payloads(void **state);
void nothing_is_known_of_a_sequence_at_first(void **state);
void of_a_burst_the_last_goes(void **state);
void an_occurrence_counts_when_it_is_sent(void **state);
void a_burst_ends_at_the_latest_after_its_longest_time(void **state);
void sixty_four_bursts_wait_to_be_done(void **state);
void an_unknown_occurrence_goes(void **state);
void sequences_and_debounces_are_apart(void **state);

#define ORDER_RULES(TEST)                                                                          \
    TEST(entries_are_handled_one_after_the_other), TEST(an_id_has_one_ticket),                     \
        TEST(a_lease_keeps_others_from_the_head),                                                  \
        TEST(a_follower_in_hand_comes_back_after_its_lease),                                       \
        TEST(a_head_that_was_put_back_keeps_its_place),                                            \
        TEST(a_sender_ends_a_head_that_it_cannot_send),                                            \
        TEST(a_head_that_never_comes_is_abandoned), TEST(a_parked_head_is_never_abandoned),        \
        TEST(the_patience_begins_anew_with_each_sign_of_life),                                     \
        TEST(a_thousand_tickets_are_remembered), TEST(a_sequence_keeps_large_payloads),            \
        TEST(nothing_is_known_of_a_sequence_at_first), TEST(of_a_burst_the_last_goes),             \
        TEST(an_occurrence_counts_when_it_is_sent),                                                \
        TEST(a_burst_ends_at_the_latest_after_its_longest_time),                                   \
        TEST(sixty_four_bursts_wait_to_be_done), TEST(an_unknown_occurrence_goes),                 \
        TEST(sequences_and_debounces_are_apart)

#endif
