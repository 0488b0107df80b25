/* Questions of the Redis store about other holders, and their answers. */
#ifndef REDIS_INQUIRY_H
#define REDIS_INQUIRY_H

#include "redis_store.h"

/* What the last question has found, and how many it has evicted. */
extern latch_lock_report *redis_reports;
extern uint64_t redis_evicted;

/* For the end of a test, and for the next question. */
void redis_forget_reports(void);
/* LATCH_INSPECT, LATCH_LIST or LATCH_EVICT; what was found before is forgotten. */
latch_request redis_question(latch_op_kind kind);

#endif
