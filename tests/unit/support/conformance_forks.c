/* Promises about processes: what a child has of its parent's locks, and what a death leaves. */
#include "conformance.h"

static latch_store *store;
static latch_lease *lease, *reader;
static latch_op op;
static latch_status status;

static latch_lease *own_lease(const char *resource)
{
    return conformance_lease_in(store, resource, strlen(resource));
}

/* TSan takes the threads that wait for a file in a child for the parent's. */
static void do_without_helpers(void)
{
    unit_calls.no_threads = UNIT_TSAN && !conformance_has(CONFORMANCE_RENEWS);
}

/* As an orderly PHP process ends. */
static void end_child(void)
{
    conformance_drop_leases(0);
    conformance_close(store);
}

/* ---- Locks of the parent */

/* A child is a holder like any other. */
static void use_reader_in_child(void)
{
    UNIT_CHECK(!unit_held(reader));
    UNIT_CHECK(conformance_try(reader, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(!unit_held(reader));
    UNIT_CHECK(conformance_try(reader, LATCH_ACQUIRE_SHARED) == LATCH_DONE); /* one more */
    UNIT_CHECK(conformance_try(reader, LATCH_PROBE) == LATCH_DONE && unit_held(reader));
    UNIT_CHECK(conformance_detach(reader) == LATCH_DONE);
}

static void use_in_child(unit_process *self, void *argument)
{
    latch_lease *own = own_lease(scene.t);

    (void) argument;
    do_without_helpers();
    UNIT_CHECK(!unit_held(lease));
    UNIT_CHECK(conformance_try(lease, LATCH_PROBE) == LATCH_CONFLICT);
    UNIT_CHECK(conformance_try(lease, LATCH_RELEASE) == LATCH_DONE); /* of nothing */
    UNIT_CHECK(conformance_try(lease, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(lease->mode == LATCH_FREE && !unit_held(lease));
    /* The parent could end it: the wait is no deadlock. */
    UNIT_CHECK(conformance_wait(lease, LATCH_ACQUIRE, 1) == LATCH_CONFLICT);
    if (reader != NULL) {
        use_reader_in_child();
    }
    UNIT_CHECK(conformance_try(own, LATCH_ACQUIRE) == LATCH_DONE && unit_held(own));
    unit_say(self, 'y');
    unit_expect(self, 'g'); /* the parent has used its connection */
    UNIT_CHECK(conformance_try(own, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(conformance_try(own, LATCH_RELEASE) == LATCH_DONE);
    end_child();
}

static void expect_held(void)
{
    UNIT_CHECK(unit_held(lease) && conformance_try(lease, LATCH_PROBE) == LATCH_DONE);
    if (reader != NULL) {
        UNIT_CHECK(unit_held(reader) && conformance_try(reader, LATCH_PROBE) == LATCH_DONE);
    }
}

static void hold_in_parent(latch_store *its_store)
{
    store = its_store;
    lease = own_lease(scene.r);
    reader = conformance_has(LATCH_SHARED_LOCKS) ? own_lease(scene.s) : NULL;
    UNIT_CHECK(conformance_try(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(reader == NULL || conformance_try(reader, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
}

static void release_in_parent(void)
{
    unit_release(lease);
    if (reader != NULL) {
        unit_release(reader);
    }
}

static void share_with_child(latch_store *its_store)
{
    latch_lease *other = conformance_other_lease(scene.t);
    unit_process child;

    hold_in_parent(its_store);
    child = unit_fork(use_in_child, NULL);
    unit_expect(&child, 'y');
    expect_held();
    UNIT_CHECK(conformance_try(other, LATCH_ACQUIRE) == LATCH_CONFLICT); /* the child's */
    UNIT_CHECK(conformance_try(lease, LATCH_REFRESH) == LATCH_DONE);
    unit_say(&child, 'g');
    unit_join(&child);
    expect_held();
    release_in_parent();
}

/* By one transport, and by the other one where there is one. */
static void with_each_transport(void (*scenario)(latch_store *its_store))
{
    scenario(unit.store);
    if (scene.fixture->has_other) {
        latch_store *other = conformance_open(CONFORMANCE_OTHER);

        UNIT_CHECK(other != NULL);
        scenario(other);
    }
}

static void a_child_has_neither_the_locks_nor_the_connection(void **state)
{
    (void) state;
    with_each_transport(share_with_child);
}

static void exit_in_child(unit_process *self, void *is_orderly)
{
    (void) self;
    if (is_orderly != NULL) {
        end_child();
    }
}

/* Without a good-bye on the connection, which the server would take for the parent's. */
static void leave_to_exiting_children(latch_store *its_store)
{
    hold_in_parent(its_store);
    for (int round = 0; round < 4; round++) {
        unit_process child = unit_fork(exit_in_child, round % 2 == 0 ? lease : NULL);

        unit_join(&child);
        expect_held();
    }
    release_in_parent();
}

static void a_child_that_exits_ends_no_lock_of_its_parent(void **state)
{
    (void) state;
    with_each_transport(leave_to_exiting_children);
}

static void live(unit_process *self, void *argument)
{
    (void) argument;
    unit_say(self, 'l');
    unit_hear(self);
}

static void a_child_keeps_nothing_locked_that_its_parent_gave_up(void **state)
{
    unit_process child;

    (void) state;
    store = unit.store;
    for (int round = 0; round < 2; round++) {
        lease = own_lease(scene.r);
        UNIT_CHECK(conformance_try(lease, LATCH_ACQUIRE) == LATCH_DONE);
        child = unit_fork(live, NULL);
        unit_expect(&child, 'l');
        if (round == 0) {
            unit_release(lease);
        } else {
            latch_lease_drop(lease);
        }
        conformance_expect_free(conformance_other_lease(scene.r));
        unit_join(&child);
    }
}

static void release_in_child(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    UNIT_CHECK(conformance_try(lease, LATCH_RELEASE) == LATCH_DONE);
}

/* A program that becomes a daemon: the parent takes the lock, the child gives it back. */
static void a_child_may_release_what_was_meant_to_be_inherited(void **state)
{
    unit_process child;

    (void) state;
    store = unit.store;
    lease = own_lease(scene.r);
    lease->inherit = true;
    UNIT_CHECK(conformance_try(lease, LATCH_ACQUIRE) == LATCH_DONE);
    child = unit_fork(release_in_child, NULL);
    unit_join(&child);
    conformance_expect_free(conformance_other_lease(scene.r));
    UNIT_CHECK(conformance_try(lease, LATCH_PROBE) == LATCH_CONFLICT && !unit_held(lease));
}

static void hold_until_told(unit_process *self, void *argument)
{
    latch_store *mine = conformance_open(CONFORMANCE_PLAIN);
    latch_lease *held;

    (void) argument;
    UNIT_CHECK(mine != NULL);
    held = conformance_lease_in(mine, scene.r, strlen(scene.r));
    UNIT_CHECK(conformance_try_for(held, LATCH_ACQUIRE, 300) == LATCH_DONE);
    unit_say(self, 'h');
    unit_hear(self);
}

/* At once where locks are the kernel's or a session's, else with their TTL. */
static void the_lock_of_a_killed_process_ends(void **state)
{
    latch_lease *waiter = conformance_other_lease(scene.r);
    unit_process child = unit_fork(hold_until_told, NULL);

    (void) state;
    unit_expect(&child, 'h');
    UNIT_CHECK(conformance_try(waiter, LATCH_ACQUIRE) == LATCH_CONFLICT);
    unit_kill(&child);
    UNIT_CHECK(conformance_wait(waiter, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_DONE);
}

/* ---- Waits of the parent */

static void wait_in_child(unit_process *self, void *argument)
{
    do_without_helpers();
    status = latch_op_step(&op, unit_now_ns());
    UNIT_CHECK(latch_wants(status));
    unit_say(self, 'y');
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE && unit_held(lease));
    UNIT_CHECK(conformance_try(lease, LATCH_PROBE) == LATCH_DONE);
    unit_release(lease);
    (void) argument;
    end_child();
}

/* A signal handler may fork while the script waits. The answer is the parent's. */
static void a_wait_that_was_begun_goes_on_in_parent_and_child(void **state)
{
    latch_lease *holder = conformance_other_lease(scene.r);
    unit_process child;

    (void) state;
    store = unit.store;
    lease = own_lease(scene.r);
    UNIT_CHECK(conformance_try(holder, LATCH_ACQUIRE) == LATCH_DONE);
    status = conformance_begin_wait(&op, lease, LATCH_ACQUIRE, MINUTE);
    UNIT_CHECK(latch_wants(status));
    child = unit_fork(wait_in_child, NULL);
    unit_expect(&child, 'y');
    unit_release(holder);
    UNIT_CHECK(conformance_finish(&op) == LATCH_DONE && unit_held(lease));
    unit_release(lease);
    unit_join(&child);
}

static void cancel_in_child(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT && !unit_held(lease));
    end_child();
}

static void cancel_a_copy(latch_store *its_store)
{
    latch_lease *holder = conformance_other_lease(scene.r);
    unit_process child;

    store = its_store;
    lease = own_lease(scene.r);
    UNIT_CHECK(conformance_try(holder, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(latch_wants(conformance_begin_wait(&op, lease, LATCH_ACQUIRE, MINUTE)));
    child = unit_fork(cancel_in_child, NULL);
    unit_join(&child);
    unit_release(holder);
    UNIT_CHECK(conformance_finish(&op) == LATCH_DONE && unit_held(lease));
    UNIT_CHECK(conformance_try(lease, LATCH_PROBE) == LATCH_DONE);
    unit_release(lease);
}

static void a_child_ends_no_wait_of_its_parent(void **state)
{
    (void) state;
    with_each_transport(cancel_a_copy);
}

#define FORKLESS (CONFORMANCE_GRANTS_ALL | CONFORMANCE_ALONE | CONFORMANCE_CLIENT)

const conformance_promise conformance_forks[] = {
    PROMISE(a_child_has_neither_the_locks_nor_the_connection, 0, FORKLESS),
    PROMISE(a_child_that_exits_ends_no_lock_of_its_parent, 0, FORKLESS),
    PROMISE(a_child_keeps_nothing_locked_that_its_parent_gave_up, 0, FORKLESS | LATCH_SERIALIZABLE),
    PROMISE(a_child_may_release_what_was_meant_to_be_inherited, CONFORMANCE_INHERITS, FORKLESS),
    PROMISE(the_lock_of_a_killed_process_ends, 0, CONFORMANCE_GRANTS_ALL | CONFORMANCE_ALONE),
    PROMISE(a_wait_that_was_begun_goes_on_in_parent_and_child, 0, FORKLESS),
    PROMISE(a_child_ends_no_wait_of_its_parent, 0, FORKLESS),
    NO_MORE_PROMISES,
};
