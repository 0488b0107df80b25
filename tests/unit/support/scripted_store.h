/*
 * A store whose answers come from a script, to lead op.c down every path. Every call must be the
 * one that the script expects next; unit_teardown_scripted() finds calls that never came.
 */
#ifndef SCRIPTED_STORE_H
#define SCRIPTED_STORE_H

#include "src/engine/store.h"
#include "unit.h"

typedef enum scripted_call { SCRIPTED_BEGIN, SCRIPTED_STEP, SCRIPTED_CANCEL } scripted_call;

typedef struct scripted_line {
    scripted_call call;
    latch_op_kind kind; /* the request that the call must be about */
    latch_status answer;
    bool idle;        /* LATCH_WANT_* with nothing in flight in the store: op->state is NULL */
    int64_t wake_ns;  /* becomes op->wake_ns, 0 = as it is */
    int64_t sent_ns;  /* becomes op->sent_ns, 0 = as it is */
    uint64_t fencing; /* becomes the lease's, 0 = as it is */
} scripted_line;

/* A line: kind, answer, and what else is not zero. */
#define BEGIN(...) SCRIPTED_LINE(SCRIPTED_BEGIN, __VA_ARGS__)
#define STEP(...) SCRIPTED_LINE(SCRIPTED_STEP, __VA_ARGS__)
#define CANCEL(...) SCRIPTED_LINE(SCRIPTED_CANCEL, __VA_ARGS__)
#define SCRIPTED_LINE(call_, kind_, answer_, ...)                                                  \
    {                                                                                              \
        .call = call_, .kind = kind_, .answer = answer_, ##__VA_ARGS__                             \
    }

/* Sets up a scripted store on a fake clock: expiring, without any answer. */
int unit_setup_scripted(void **state);
int unit_teardown_scripted(void **state);

/* What comes next; lines that were not used up yet are a failure. `lines` outlive it. */
void scripted_play(const scripted_line *lines, size_t count);
#define SCRIPT(...)                                                                                \
    scripted_play((const scripted_line[]){__VA_ARGS__},                                            \
                  sizeof((scripted_line[]){__VA_ARGS__}) / sizeof(scripted_line))

/* How many calls came until now. */
size_t scripted_calls(void);
/* The capabilities of enum latch_capability that the store claims from now on. */
void scripted_claim(unsigned capabilities);
/* The longest pause between polls, as in latch_store_info. */
void scripted_limit_pauses(int64_t slowest_poll_ms);
/* From now on the store describes outages so; NULL, as in the beginning: it knows of each conflict.
 */
void scripted_describe_outages(void (*outage)(const latch_op *op, int64_t now_ns));

#define SCRIPTED_TEST(test)                                                                        \
    cmocka_unit_test_setup_teardown(test, unit_setup_scripted, unit_teardown_scripted)

#endif
