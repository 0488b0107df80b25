/* Reports: replies of the scripts that inspect locks and semaphores (lua/inspect.lua,
 * lua/permit_inspect.lua), parsed. */
#ifndef LATCH_REDIS_REPORT_H
#define LATCH_REDIS_REPORT_H

#include "src/engine/inspection.h"
#include "src/store/redis/wire/library.h"

/* Is the reply a report on a lock that is held, or on a semaphore with holders? */
bool latch_redis_is_report(const redisReply *reply, bool is_permit);
/* Writes it into a report without holders. False: memory ran out. */
bool latch_redis_read_report(const latch_engine *engine, latch_lock_report *report,
                             const redisReply *reply, bool is_permit);

#endif
