/* Holder record: a holder's field in its lock's record, as lua/acquire.lua writes it. */
#ifndef LATCH_REDIS_HOLDER_RECORD_H
#define LATCH_REDIS_HOLDER_RECORD_H

#include "src/engine/inspection.h"

/* Reads what is recorded of a holder; of what makes no sense nothing. False: memory ran out. */
bool latch_redis_read_record(const latch_engine *engine, latch_lock_report *report,
                             const char *text, size_t length);

#endif
