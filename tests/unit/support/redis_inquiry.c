#include "redis_inquiry.h"

#include "src/engine/store.h"

latch_lock_report *redis_reports;
uint64_t redis_evicted;

void redis_forget_reports(void)
{
    latch_lock_reports_free(unit.engine, redis_reports);
    redis_reports = NULL;
}

latch_request redis_question(latch_op_kind kind)
{
    latch_request request = redis_request(kind);

    redis_forget_reports();
    request.reports = &redis_reports;
    request.evicted_count = &redis_evicted;
    return request;
}
