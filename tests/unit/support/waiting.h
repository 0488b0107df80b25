/*
 * The scene of the tests that wait for a lock file: one lease of this process on the resource "r",
 * one operation on it, and a foreign process that has the file open.
 */
#ifndef WAITING_H
#define WAITING_H

#include "unit.h"

extern latch_lease *lease;
extern latch_op op;
extern unit_process peer;

int waiting_setup(void **state);
int waiting_teardown(void **state);

/* The lease waits in the kernel for what somebody has; or for LOCK_EX, which the peer gets first.
 */
void begin_wait(latch_op_kind kind, int64_t timeout_ms);
void begin_wait_for_peer(latch_op_kind kind, int64_t timeout_ms);
/* The peer gives way, and the wait knows it; its operation has not been stepped yet. */
void let_the_grant_come(void);

#define WAIT_TEST(test) cmocka_unit_test_setup_teardown(test, waiting_setup, waiting_teardown)

#endif
