/*
 * Three leases in a lock in a table of PostgreSQL, each in a session of its own, of which the first
 * one holds it and the others are to queue.
 */
#ifndef TABLE_QUEUES_H
#define TABLE_QUEUES_H

#include "postgresql_server.h"
#include "sql_client.h"
#include "table_stores.h"

typedef struct queue_scene {
    latch_lease *holder, *first, *second;
    latch_op first_op, second_op;
} queue_scene;

extern queue_scene queue;

int queue_group_setup(void **state);
int queue_setup(void **state);
/* No lock is left in the server. */
int queue_teardown(void **state);

#define QUEUE_TEST(test) cmocka_unit_test_setup_teardown(test, queue_setup, queue_teardown)

latch_lease *queue_lease(void); /* in one more session */
sql_session *queue_session(const latch_lease *lease);
latch_request queue_to_wait(int64_t timeout_ms);
/* Steps it until it sleeps with the ticket. */
latch_status queue_step_to_front(latch_op *op, latch_status status);
/* Steps it to its end while its clock stands still: no time comes at which it would attempt by
 * itself. */
latch_status queue_finish_at_once(latch_op *op, latch_status status);
/* Begins queue.first_op, and steps it until it sleeps with the ticket. */
latch_status queue_come_first(int64_t timeout_ms);
/* Begins queue.second_op, and steps it until the server has it wait for the ticket. */
latch_status queue_come_second(int64_t timeout_ms);
/* Steps it until so many wait for the ticket. */
latch_status queue_step_until(latch_op *op, latch_status status, size_t waiting);
/* The channel of the one ticket that there is. */
const char *queue_channel(void);

#endif
