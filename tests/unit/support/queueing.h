/*
 * Waiters in the queue of a lock file, each a process. One that is stopped cannot take the lock
 * when it is free, so that it is certain which process gives way to which.
 */
#ifndef QUEUEING_H
#define QUEUEING_H

#include "waiting.h"

/* The lock file of the resource "r". */
const char *queue_path(void);
bool queue_is_empty(void);
/* Does any process have that number? */
bool queue_has_number(off_t number);

/*
 * A process that waits to write ('W') or to read ('S'), says 'y' when it has the lock, and releases
 * it at the order 'u'. `sleepers` processes wait then.
 */
unit_process make_waiter(char order, size_t sleepers);
/* By SIGSTOP. */
void stop_waiter(const unit_process *waiter);
/* Lets a waiter that may be stopped have the lock, give it back, and end. */
void finish_waiter(unit_process *waiter);
/* This process waits, too, as the last of so many. */
void join_queue(latch_op_kind kind, size_t sleepers);

#endif
