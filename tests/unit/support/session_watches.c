/* Watched sessions, whatever the server: see session_watches.h. */
#include "session_watches.h"

const watched_server *watched;
latch_lease *session_lease;
latch_watch session_watch;
latch_store *watched_stores[WATCHED_WAYS];

static latch_store *open_by(const watched_way *way)
{
    return watched->open("%s%s", way->dsn, way->options);
}

int session_watch_setup(void **state)
{
    if (watched->setup(state) != 0) {
        return -1;
    }
    watched_stores[BY_TCP] = unit.store;
    watched_stores[BY_SOCKET] = open_by(&watched->ways[BY_SOCKET]);
    watched_stores[BY_TLS] = open_by(&watched->ways[BY_TLS]);
    session_lease = watched->lease_in(unit.store, "r");
    return watched_stores[BY_SOCKET] != NULL && watched_stores[BY_TLS] != NULL ? 0 : -1;
}

int session_watch_teardown(void **state)
{
    unit_watch_end(&session_watch);
    return watched->teardown(state);
}

int session_keep_setup(void **state)
{
    if (session_watch_setup(state) != 0) {
        return -1;
    }
    unit_losses_open();
    return 0;
}

int session_keep_teardown(void **state)
{
    unit_losses_close();
    return watched->teardown(state);
}

/* Perhaps from a session that has ended. */
static void acquire(latch_lease *its)
{
    UNIT_CHECK((watched->frees_late ? unit_run_waiting(its, LATCH_ACQUIRE, LATCH_NEVER)
                                    : unit_run(its, LATCH_ACQUIRE))
               == LATCH_DONE);
}

void hold_and_watch(latch_store *store)
{
    session_lease = watched->lease_in(store, "r");
    acquire(session_lease);
    UNIT_CHECK(unit_watch_begin(&session_watch, session_lease));
    UNIT_CHECK(session_watch.is_gone == NULL && !unit_watch_tells(&session_watch));
}

void a_session_in_use_is_no_loss(void **state)
{
    (void) state;
    for (size_t at = 0; at < WATCHED_WAYS; at++) {
        latch_lease *other = watched->lease_in(watched_stores[at], "s");
        latch_lease *rival = watched->other_lease("r");

        hold_and_watch(watched_stores[at]);
        UNIT_CHECK(unit_run(session_lease, LATCH_PROBE) == LATCH_DONE);
        UNIT_CHECK(unit_run(other, LATCH_ACQUIRE) == LATCH_DONE);
        unit_release(other);
        UNIT_CHECK(unit_run(rival, LATCH_ACQUIRE) == LATCH_CONFLICT);
        watched->disturb_session_of("r");
        UNIT_CHECK(unit_run(session_lease, LATCH_PROBE) == LATCH_DONE);
        UNIT_CHECK(!unit_watch_tells(&session_watch));
        unit_watch_end(&session_watch);
        unit_release(session_lease);
    }
}

void a_session_that_is_ended_is_a_loss(void **state)
{
    (void) state;
    for (size_t at = 0; at < WATCHED_WAYS; at++) {
        hold_and_watch(watched_stores[at]);
        watched->end_session_of("r");
        unit_watch_await(&session_watch); /* with the server's last words, if it has any, unread */
        UNIT_CHECK(!unit_held(session_lease));
        unit_watch_end(&session_watch);
        unit_release(session_lease);
    }
}

void a_server_that_stops_is_a_loss(void **state)
{
    (void) state;
    for (size_t at = 0; at < WATCHED_WAYS; at++) {
        hold_and_watch(watched_stores[at]);
        if (at == 0) {
            watched->stop();
        } else {
            watched->kill();
        }
        unit_watch_await(&session_watch);
        unit_watch_end(&session_watch);
        UNIT_CHECK(unit_run(session_lease, LATCH_RELEASE) == LATCH_DONE);
        watched->start(NULL);
    }
}

void what_is_taken_anew_is_watched_anew(void **state)
{
    (void) state;
    hold_and_watch(unit.store);
    watched->end_sessions();
    unit_watch_await(&session_watch);
    unit_watch_end(&session_watch);
    UNIT_CHECK(!unit_watch_begin(&session_watch, session_lease)
               || unit_watch_tells(&session_watch));
    unit_watch_end(&session_watch);
    UNIT_CHECK(unit_run(session_lease, LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(!unit_watch_begin(&session_watch, session_lease)); /* it is not held */
    hold_and_watch(unit.store);
    UNIT_CHECK(unit_run(session_lease, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(!unit_watch_tells(&session_watch));
}

void a_session_that_is_given_up_is_a_loss_and_free_in_the_server(void **state)
{
    (void) state;
    for (size_t at = 0; at < 2; at++) {
        hold_and_watch(open_by(&watched->impatient[at]));
        watched->freeze(); /* so that nothing of this is the server's doing */
        UNIT_CHECK(unit_run(session_lease, LATCH_PROBE) == LATCH_CONFLICT);
        UNIT_CHECK(unit_watch_tells(&session_watch));
        watched->thaw();
        watched->await_held(0); /* though the watch goes on */
        UNIT_CHECK(unit_watch_tells(&session_watch));
        unit_watch_end(&session_watch);
    }
}

/* The renewal thread may be about to end the watch when the store is closed. */
void a_store_that_is_closed_ends_its_session_despite_a_watch(void **state)
{
    latch_store *store = open_by(&watched->ways[BY_TCP]);

    (void) state;
    hold_and_watch(store);
    watched->close_last();
    unit_watch_await(&session_watch);
    watched->await_sessions(0);
}

static void exit_in_child(unit_process *self, void *orderly)
{
    latch_watch own;

    (void) self;
    UNIT_CHECK(session_watch.descriptor->fd < 0);
    UNIT_CHECK(!unit_watch_begin(&own, session_lease));
    if (orderly != NULL) {
        unit_watch_end(&session_watch);
        latch_lease_drop(session_lease);
        latch_store_close(session_lease->store);
    }
}

void the_exit_of_a_child_is_no_loss(void **state)
{
    (void) state;
    for (size_t at = 0; at < WATCHED_WAYS; at++) {
        hold_and_watch(watched_stores[at]);
        for (int orderly = 0; orderly < 2; orderly++) {
            unit_process child = unit_fork(exit_in_child, orderly ? session_lease : NULL);

            unit_join(&child);
            UNIT_CHECK(!unit_watch_tells(&session_watch));
            UNIT_CHECK(unit_run(session_lease, LATCH_PROBE) == LATCH_DONE);
        }
        watched->end_session_of("r");
        unit_watch_await(&session_watch); /* the parent's watch goes on */
        unit_watch_end(&session_watch);
        UNIT_CHECK(unit_run(session_lease, LATCH_RELEASE) == LATCH_DONE);
    }
}

/* ---- By the renewal thread */

static void hold_and_keep(latch_store *store)
{
    session_lease = watched->lease_in(store, "r");
    unit_losses_keep(session_lease);
    acquire(session_lease);
}

/* The loss of a lease in a session of its own tells that the thread has looked after the others. */
static void expect_no_other_loss(void)
{
    latch_lease *sentinel = watched->other_lease("sentinel");

    unit_losses_keep(sentinel);
    acquire(sentinel);
    watched->end_session_of("sentinel");
    unit_losses_expect(sentinel);
}

void a_loss_is_told_each_time(void **state)
{
    (void) state;
    for (size_t at = 0; at < WATCHED_WAYS; at++) {
        hold_and_keep(watched_stores[at]);
        for (int round = 0; round < 3; round++) {
            watched->end_session_of("r");
            unit_losses_expect(session_lease);
            if (round == 0) {
                UNIT_CHECK(unit_run(session_lease, LATCH_RELEASE) == LATCH_DONE);
            } /* else it is taken anew as it is: of its loss it was told */
            acquire(session_lease);
        }
        UNIT_CHECK(unit_held(session_lease));
        unit_release(session_lease);
    }
    expect_no_other_loss();
}

void what_was_released_is_not_lost(void **state)
{
    latch_lease *other = watched->lease_in(unit.store, "s");

    (void) state;
    hold_and_keep(unit.store);
    UNIT_CHECK(unit_run(other, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(session_lease);
    watched->end_session_of("s");
    expect_no_other_loss();
}

void a_store_that_is_closed_loses_nothing(void **state)
{
    (void) state;
    for (int released = 0; released < 2; released++) {
        hold_and_keep(open_by(&watched->ways[BY_TCP]));
        if (released) {
            unit_release(session_lease);
        }
        watched->close_last();
        expect_no_other_loss();
    }
}

void all_that_a_session_held_is_lost_when_we_end_it(void **state)
{
    latch_store *store = open_by(&watched->impatient[0]);
    latch_lease *second = watched->lease_in(store, "s");

    (void) state;
    hold_and_keep(store);
    unit_losses_keep(second);
    UNIT_CHECK(unit_run(second, LATCH_ACQUIRE) == LATCH_DONE);
    watched->freeze(); /* so that nothing of this is the server's doing */
    UNIT_CHECK(unit_run(session_lease, LATCH_PROBE) == LATCH_CONFLICT);
    unit_losses_expect(session_lease);
    unit_losses_expect(second);
    watched->thaw();
    watched->await_held(0);
}

static void use_in_child(unit_process *self, void *orderly)
{
    (void) self;
    UNIT_CHECK(!unit_held(session_lease));
    if (orderly != NULL) {
        UNIT_CHECK(unit_run(session_lease, LATCH_ACQUIRE)
                   == LATCH_CONFLICT); /* in a session of its own */
        latch_lease_drop(session_lease);
        latch_store_close(session_lease->store);
    }
}

void a_child_that_exits_is_no_loss(void **state)
{
    (void) state;
    if (UNIT_TSAN) {
        skip(); /* it takes a child's thread for the parent's, whose address it has */
    }
    for (size_t at = 0; at < WATCHED_WAYS; at++) {
        hold_and_keep(watched_stores[at]);
        for (int orderly = 0; orderly < 2; orderly++) {
            unit_process child = unit_fork(use_in_child, orderly ? session_lease : NULL);

            unit_join(&child);
        }
        expect_no_other_loss();
        UNIT_CHECK(unit_held(session_lease));
        UNIT_CHECK(unit_run(session_lease, LATCH_PROBE) == LATCH_DONE);
        watched->end_session_of("r");
        unit_losses_expect(session_lease); /* the parent's watch goes on */
        UNIT_CHECK(unit_run(session_lease, LATCH_RELEASE) == LATCH_DONE);
    }
}
