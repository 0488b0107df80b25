/* Queues for a lock in a table: see table_queues.h. */
#include "table_queues.h"

queue_scene queue;

int queue_group_setup(void **state)
{
    int status = unit_postgresql_group_setup(state);

    table_server_under_test = (table_server){
        .dsn = unit_postgresql.dsn,
        .driver = "pgsql",
        .setup = unit_postgresql_setup,
        .run = unit_postgresql_run,
        .number = unit_postgresql_number,
        .end_sessions = unit_postgresql_end_sessions,
        .await_sessions = unit_postgresql_await_sessions,
    };
    return status;
}

latch_lease *queue_lease(void)
{
    return table_lease_in(table_store_with((latch_table_options){.prune_probability = 0}), "r");
}

int queue_setup(void **state)
{
    if (table_tests_setup(state) != 0) {
        return -1;
    }
    queue.holder = table_lease_in(unit.store, "r");
    queue.first = queue_lease();
    queue.second = queue_lease();
    return table_try(queue.holder, LATCH_ACQUIRE, MINUTE) == LATCH_DONE ? 0 : -1;
}

int queue_teardown(void **state)
{
    unit_postgresql_await_waiting(0);
    unit_postgresql_await_held(0);
    return table_tests_teardown(state);
}

latch_request queue_to_wait(int64_t timeout_ms)
{
    latch_request request = unit_waiting(LATCH_ACQUIRE, timeout_ms);

    request.ttl_ms = MINUTE;
    return request;
}

sql_session *queue_session(const latch_lease *lease)
{
    return latch_table_store_of(lease)->session;
}

latch_status queue_step_to_front(latch_op *op, latch_status status)
{
    const latch_lease *lease = op->lease;
    int64_t number = latch_table_ticket_number(lease), give_up_ns = unit_now_ns() + UNIT_TIMEOUT_NS;

    while (!latch_sql_session_is_idle(queue_session(lease))
           || unit_postgresql_number("SELECT count(*) FROM pg_locks WHERE granted"
                                     " AND (classid::bigint << 32 | objid::bigint) = '%lld'"
                                     " AND pid = %lld",
                                     (long long) number, (long long) queue_session(lease)->number)
                  == 0) {
        UNIT_CHECK(latch_wants(status) && unit_now_ns() < give_up_ns);
        unit_await_wish(op, status, give_up_ns);
        status = latch_op_step(op, unit_now_ns());
    }
    UNIT_CHECK(status == LATCH_WANT_IO && op->waiting);
    return status;
}

latch_status queue_come_first(int64_t timeout_ms)
{
    latch_status status = unit_begin(&queue.first_op, queue.first, queue_to_wait(timeout_ms));

    status = queue_step_to_front(&queue.first_op, status);
    UNIT_CHECK(unit_postgresql_count_held() == 1);
    return status;
}

latch_status queue_finish_at_once(latch_op *op, latch_status status)
{
    int64_t now_ns = unit_now_ns();

    while (latch_wants(status)) {
        UNIT_CHECK(status == LATCH_WANT_IO);
        unit_await_grant(op);
        status = latch_op_step(op, now_ns);
    }
    return status;
}

latch_status queue_step_until(latch_op *op, latch_status status, size_t waiting)
{
    for (unsigned looks = 0; unit_postgresql_count_waiting() != waiting;) {
        UNIT_CHECK(latch_wants(status));
        if (unit_is_due(op, status)) {
            status = latch_op_step(op, unit_now_ns());
        }
        unit_sql_look_again(&looks);
    }
    return status;
}

latch_status queue_come_second(int64_t timeout_ms)
{
    latch_status status = unit_begin(&queue.second_op, queue.second, queue_to_wait(timeout_ms));

    return queue_step_until(&queue.second_op, status, 1);
}

const char *queue_channel(void)
{
    static char channel[32];

    snprintf(channel, sizeof(channel), "%s",
             unit_postgresql_text("SELECT 'latch_' || lpad(to_hex(classid::bigint << 32"
                                  " | objid::bigint), 16, '0') FROM pg_locks"
                                  " WHERE locktype = 'advisory'"));
    return channel;
}
