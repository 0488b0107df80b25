/* Queues of those that wait for a lock in a table of PostgreSQL: order, and releases. */
#include "table_queues.h"

#include <poll.h>
#include <sys/ioctl.h>

/* ---- Order ---------------------------------------------------------------------------------- */

enum { WAITERS = 8 };

static void wait_in_turn(unit_process *self, void *argument)
{
    latch_store *store = table_open_dsn(NULL, "%s", "");
    latch_lease *lease;

    (void) argument;
    UNIT_CHECK(store != NULL);
    lease = table_lease_in(store, "r");
    UNIT_CHECK(unit_run_request(lease, queue_to_wait(LATCH_NEVER)) == LATCH_DONE);
    unit_say(self, 'h');
    unit_expect(self, 'r');
    unit_release(lease);
    latch_lease_drop(lease);
    latch_store_close(store);
}

static void begin_waiters(unit_process waiters[WAITERS])
{
    for (size_t at = 0; at < WAITERS; at++) {
        waiters[at] = unit_fork(wait_in_turn, NULL);
        unit_postgresql_await_waiting(at);
        unit_postgresql_await_held(1);
    }
}

static void serve(unit_process *waiter)
{
    unit_expect(waiter, 'h');
    unit_say(waiter, 'r');
    unit_join(waiter);
}

static void processes_are_served_in_the_order_in_which_they_came(void **state)
{
    unit_process waiters[WAITERS];

    (void) state;
    begin_waiters(waiters);
    unit_release(queue.holder);
    for (size_t at = 0; at < WAITERS; at++) {
        serve(&waiters[at]);
    }
    unit_postgresql_await_held(0);
    assert_int_equal(table_count("1 = 1"), 0);
}

static void a_process_that_dies_has_left_the_queue(void **state)
{
    unit_process waiters[WAITERS];

    (void) state;
    begin_waiters(waiters);
    unit_kill(&waiters[0]);
    unit_kill(&waiters[2]);
    unit_postgresql_await_waiting(WAITERS - 3);
    unit_release(queue.holder);
    for (size_t at = 1; at < WAITERS; at++) {
        if (at != 2) {
            serve(&waiters[at]);
        }
    }
    unit_postgresql_await_held(0);
}

/* Nobody has the lock, and the first waiter does not know yet. */
static void only_a_request_that_does_not_wait_overtakes(void **state)
{
    latch_lease *other = queue_lease();
    latch_status status = queue_come_first(LATCH_NEVER), second_status;

    (void) state;
    unit_postgresql_run("DELETE FROM lock_keys");
    second_status = queue_come_second(LATCH_NEVER);
    assert_int_equal(table_count("1 = 1"), 0);
    UNIT_CHECK(table_try(other, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    unit_release(other);
    UNIT_CHECK(unit_finish(&queue.first_op, status) == LATCH_DONE);
    unit_release(queue.first);
    UNIT_CHECK(unit_finish(&queue.second_op, second_status) == LATCH_DONE);
    unit_release(queue.second);
}

/* By its token, as a key that was handed over has it. */
static void a_holder_does_not_queue_for_what_it_has(void **state)
{
    latch_status status = queue_come_first(LATCH_NEVER);
    latch_error error;

    (void) state;
    UNIT_CHECK(
        latch_lease_set_token(queue.second, queue.holder->token, queue.holder->token_length, &error)
        == LATCH_DONE);
    UNIT_CHECK(unit_run_request(queue.second, queue_to_wait(LATCH_NEVER)) == LATCH_DONE);
    UNIT_CHECK(unit_held(queue.second) && latch_wants(status));
    unit_release(queue.second);
    UNIT_CHECK(unit_finish(&queue.first_op, status) == LATCH_DONE);
}

/* ---- Releases ------------------------------------------------------------------------------- */

static void a_release_wakes_the_first_waiter(void **state)
{
    latch_status status = queue_come_first(LATCH_NEVER);

    (void) state;
    unit_release(queue.holder);
    UNIT_CHECK(queue_finish_at_once(&queue.first_op, status) == LATCH_DONE);
    unit_release(queue.first);
    unit_postgresql_await_held(0);
}

/* By a channel whose name has them, too. */
static void the_number_of_a_ticket_may_begin_with_zeros(void **state)
{
    const char *name = "r 218"; /* found by search */
    latch_lease *holder = table_lease_in(queue.holder->store, name),
                *waiter = table_lease_in(queue.first->store, name);
    latch_status status;

    (void) state;
    assert_int_equal((uint64_t) latch_table_ticket_number(holder) >> 56, 0);
    UNIT_CHECK(table_try(holder, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    status = unit_begin(&queue.first_op, waiter, queue_to_wait(LATCH_NEVER));
    status = queue_step_to_front(&queue.first_op, status);
    unit_release(holder);
    UNIT_CHECK(queue_finish_at_once(&queue.first_op, status) == LATCH_DONE);
    unit_release(waiter);
}

/* It has the ticket of a peer, which is not notified: nor is a waiter that does not have it yet. */
static void a_release_before_the_ticket_is_found_out_at_once(void **state)
{
    unit_postgresql_peer peer = unit_postgresql_peer_open();
    int64_t number = latch_table_ticket_number(queue.first);
    latch_status status;

    (void) state;
    UNIT_CHECK(unit_postgresql_peer_try(&peer, LOCK_EX, number));
    status = unit_begin(&queue.first_op, queue.first, queue_to_wait(LATCH_NEVER));
    status = queue_step_until(&queue.first_op, status, 1);
    unit_release(queue.holder);
    unit_postgresql_peer_try(&peer, LOCK_UN, number);
    UNIT_CHECK(queue_finish_at_once(&queue.first_op, status) == LATCH_DONE);
    unit_release(queue.first);
    unit_postgresql_peer_close(&peer);
}

static int count_unread(sql_session *session)
{
    int bytes = 0;

    UNIT_CHECK(ioctl(session->driver->socket(session), FIONREAD, &bytes) == 0);
    return bytes;
}

/* The notification is read with the refusal. */
static void a_release_behind_an_attempt_wakes_the_first_waiter(void **state)
{
    latch_status status = queue_come_first(LATCH_NEVER);
    sql_session *session = queue_session(queue.first);
    int refusal;

    (void) state;
    while (!session->is_sent) {
        unit_await_wish(&queue.first_op, status, unit_now_ns() + UNIT_TIMEOUT_NS);
        status = latch_op_step(&queue.first_op, unit_now_ns());
    }
    UNIT_AWAIT((refusal = count_unread(session)) > 0);
    unit_release(queue.holder);
    UNIT_AWAIT(count_unread(session) > refusal);
    UNIT_CHECK(queue_finish_at_once(&queue.first_op, status) == LATCH_DONE);
    unit_release(queue.first);
}

static void an_eviction_wakes_the_first_waiter(void **state)
{
    latch_status status = queue_come_first(LATCH_NEVER);
    latch_request inspect = unit_request(LATCH_INSPECT), evict = unit_request(LATCH_EVICT);
    latch_lock_report *reports = NULL;
    uint64_t count = 0;

    (void) state;
    inspect.reports = &reports;
    UNIT_CHECK(unit_run_request(queue.second, inspect) == LATCH_DONE && reports != NULL);
    evict.evicted = reports->holders->identity;
    evict.evicted_count = &count;
    UNIT_CHECK(unit_run_request(queue.second, evict) == LATCH_DONE && count == 1);
    latch_lock_reports_free(unit.engine, reports);
    UNIT_CHECK(queue_finish_at_once(&queue.first_op, status) == LATCH_DONE);
    unit_release(queue.first);
}

static void a_release_of_another_program_is_found_out(void **state)
{
    latch_status status = queue_come_first(LATCH_NEVER);

    (void) state;
    unit_postgresql_run("DELETE FROM lock_keys");
    UNIT_CHECK(unit_finish(&queue.first_op, status) == LATCH_DONE && unit_held(queue.first));
}

/* Notifications that have come before the one that has this text. */
static int count_notifications_before(const unit_postgresql_peer *peer, const char *mark)
{
    struct pollfd socket = {.fd = PQsocket(peer->connection), .events = POLLIN};

    for (int count = 0;;) {
        PGnotify *notification = PQnotifies(peer->connection);

        if (notification == NULL) {
            UNIT_CHECK(poll(&socket, 1, UNIT_TIMEOUT_NS / LATCH_NS_PER_MS) == 1);
            UNIT_CHECK(PQconsumeInput(peer->connection) == 1);
        } else if (strcmp(notification->extra, mark) == 0) {
            PQfreemem(notification);
            return count;
        } else {
            count++;
            PQfreemem(notification);
        }
    }
}

/* They are committed one after the other, in all databases of the server. */
static void a_release_notifies_only_if_somebody_waits(void **state)
{
    latch_status status = queue_come_first(LATCH_NEVER);
    unit_postgresql_peer peer = unit_postgresql_peer_open();
    const char *channel = queue_channel();
    char listen[64];

    (void) state;
    snprintf(listen, sizeof(listen), "LISTEN %s", channel);
    PQclear(PQexec(peer.connection, listen));
    unit_release(queue.holder);
    UNIT_CHECK(unit_finish(&queue.first_op, status) == LATCH_DONE);
    unit_postgresql_await_held(0);
    unit_release(queue.first);
    for (int round = 0; round < 3; round++) {
        UNIT_CHECK(table_try(queue.holder, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
        unit_release(queue.holder);
    }
    unit_postgresql_run("SELECT pg_notify('%s', 'mark')", channel);
    assert_int_equal(count_notifications_before(&peer, "mark"), 1);
    unit_postgresql_peer_close(&peer);
}

/* A session that listens, and is not read, keeps the notifications of all others. */
static void nobody_listens_after_a_wait(void **state)
{
    unsigned before = queue_session(queue.first)->notifications;
    latch_status status = queue_come_first(LATCH_NEVER);
    const char *channel = queue_channel();

    (void) state;
    unit_release(queue.holder);
    UNIT_CHECK(unit_finish(&queue.first_op, status) == LATCH_DONE);
    assert_int_equal(queue_session(queue.first)->notifications, before + 1);
    unit_release(queue.first); /* behind the end of the wait */
    unit_postgresql_run("SELECT pg_notify('%s', '')", channel);
    UNIT_CHECK(table_try(queue.first, LATCH_PROBE, 0) == LATCH_CONFLICT);
    assert_int_equal(queue_session(queue.first)->notifications, before + 1);
}

/* Which nobody awaits: the ticket goes before it. */
static void the_next_one_is_first_before_rows_are_pruned(void **state)
{
    latch_lease *pruning =
        table_lease_in(table_store_with((latch_table_options){.prune_probability = 1}), "r");
    latch_status status = unit_begin(&queue.first_op, pruning, queue_to_wait(LATCH_NEVER));
    latch_status second_status;

    (void) state;
    status = queue_step_to_front(&queue.first_op, status);
    second_status = queue_come_second(LATCH_NEVER);
    unit_release(queue.holder);
    UNIT_CHECK(unit_finish(&queue.first_op, status) == LATCH_DONE);
    second_status = queue_step_to_front(&queue.second_op, second_status);
    unit_release(pruning);
    assert_int_equal(queue_session(pruning)->age, 0); /* nobody has ended its session for that */
    UNIT_CHECK(unit_finish(&queue.second_op, second_status) == LATCH_DONE);
    unit_release(queue.second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUEUE_TEST(processes_are_served_in_the_order_in_which_they_came),
        QUEUE_TEST(a_process_that_dies_has_left_the_queue),
        QUEUE_TEST(only_a_request_that_does_not_wait_overtakes),
        QUEUE_TEST(a_holder_does_not_queue_for_what_it_has),
        QUEUE_TEST(a_release_wakes_the_first_waiter),
        QUEUE_TEST(the_number_of_a_ticket_may_begin_with_zeros),
        QUEUE_TEST(a_release_before_the_ticket_is_found_out_at_once),
        QUEUE_TEST(a_release_behind_an_attempt_wakes_the_first_waiter),
        QUEUE_TEST(an_eviction_wakes_the_first_waiter),
        QUEUE_TEST(a_release_of_another_program_is_found_out),
        QUEUE_TEST(a_release_notifies_only_if_somebody_waits),
        QUEUE_TEST(nobody_listens_after_a_wait),
        QUEUE_TEST(the_next_one_is_first_before_rows_are_pruned),
    };

    return cmocka_run_group_tests(tests, queue_group_setup, unit_postgresql_group_teardown);
}
