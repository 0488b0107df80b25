/*
 * What the store of shared memory alone promises: deadlocks over processes, evictions, files that
 * are removed, names in lists, notes of holders.
 */
#include "unit.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[UNIT_PATH + 16];

static latch_store *open_store(void)
{
    latch_store_options options = {.path = path, .capacity = 100};

    return latch_store_open(unit.engine, "shm", &options, &unit.error);
}

static int setup(void **state)
{
    if (unit_setup(state) != 0) {
        return -1;
    }
    unit.real_clock = true;
    unit_make_directory();
    snprintf(path, sizeof(path), "%s/locks", unit.directory);
    unit.store = open_store();
    return unit.store != NULL ? 0 : -1;
}

/* ---- Deadlocks */

static latch_lease *lease_in_child(const char *resource)
{
    unit.lease_count++; /* the parent's stay as they are */
    latch_lease_init(&unit.leases[unit.lease_count - 1], unit.store, resource, strlen(resource));
    return &unit.leases[unit.lease_count - 1];
}

static void hold_b_and_wait_for_a(unit_process *self, void *timeout_ms)
{
    latch_lease *a = lease_in_child("a"), *b = lease_in_child("b");
    latch_status status;
    latch_op op;

    UNIT_CHECK(unit_run(b, LATCH_ACQUIRE) == LATCH_DONE);
    status = unit_begin(&op, a, unit_waiting(LATCH_ACQUIRE, *(int64_t *) timeout_ms));
    UNIT_CHECK(latch_wants(status));
    unit_say(self, 'w');
    status = unit_finish(&op, status);
    UNIT_CHECK(status == (*(int64_t *) timeout_ms == LATCH_NEVER ? LATCH_DONE : LATCH_CONFLICT));
    unit_release(b);
    unit_hear(self);
}

static void a_circle_of_endless_waits_is_found_at_once(void **state)
{
    latch_lease *a = unit_lease("a"), *b = unit_lease("b");
    int64_t never = LATCH_NEVER;
    unit_process child;

    (void) state;
    UNIT_CHECK(unit_run(a, LATCH_ACQUIRE) == LATCH_DONE);
    child = unit_fork(hold_b_and_wait_for_a, &never);
    unit_expect(&child, 'w');
    UNIT_CHECK(unit_run_waiting(b, LATCH_ACQUIRE, 30) == LATCH_CONFLICT); /* it ends by itself */
    UNIT_CHECK(unit_run_waiting(b, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_ERROR_DEADLOCK);
    assert_string_equal(unit.error.message,
                        "the lock's holder waits for a lock that this very thread holds, directly "
                        "or through others");
    UNIT_CHECK(b->mode == LATCH_FREE && !b->busy && unit_held(a));
    unit_release(a);
    UNIT_CHECK(unit_run_waiting(b, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_DONE);
    unit_join(&child);
}

static void a_circle_with_a_wait_that_ends_is_no_deadlock(void **state)
{
    latch_lease *a = unit_lease("a"), *b = unit_lease("b");
    int64_t short_ms = 200;
    unit_process child;

    (void) state;
    UNIT_CHECK(unit_run(a, LATCH_ACQUIRE) == LATCH_DONE);
    child = unit_fork(hold_b_and_wait_for_a, &short_ms);
    unit_expect(&child, 'w');
    UNIT_CHECK(unit_run_waiting(b, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_DONE);
    unit_join(&child);
}

static void promote_beside_the_parent(unit_process *self, void *argument)
{
    latch_lease *reader = lease_in_child("a");
    latch_status status;
    latch_op op;

    (void) argument;
    UNIT_CHECK(unit_run(reader, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    status = unit_begin(&op, reader, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER));
    UNIT_CHECK(latch_wants(status));
    unit_say(self, 'w');
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE && reader->mode == LATCH_EXCLUSIVE);
    unit_release(reader);
}

static void two_readers_cannot_both_be_promoted(void **state)
{
    latch_lease *reader = unit_lease("a");
    unit_process child;

    (void) state;
    UNIT_CHECK(unit_run(reader, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    child = unit_fork(promote_beside_the_parent, NULL);
    unit_expect(&child, 'w');
    UNIT_CHECK(unit_run_waiting(reader, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_ERROR_DEADLOCK);
    UNIT_CHECK(unit_held(reader) && reader->mode == LATCH_SHARED);
    unit_release(reader);
    unit_join(&child);
}

static void wait_for_a(unit_process *self, void *argument)
{
    latch_lease *writer = lease_in_child("a");
    latch_status status;
    latch_op op;

    (void) argument;
    status = unit_begin(&op, writer, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER));
    UNIT_CHECK(latch_wants(status));
    unit_say(self, 'w');
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE);
    unit_release(writer);
}

/* The writer in the queue waits for the first of them. */
static void a_second_shared_lock_of_a_thread_does_not_queue(void **state)
{
    latch_lease *first = unit_lease("a"), *second = unit_lease("a");
    unit_process child;

    (void) state;
    UNIT_CHECK(unit_run(first, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    child = unit_fork(wait_for_a, NULL);
    unit_expect(&child, 'w');
    UNIT_CHECK(unit_run(second, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    unit_release(first);
    unit_release(second);
    unit_join(&child);
}

static void try_to_read(unit_process *self, void *argument)
{
    latch_lease *reader = lease_in_child("a");

    (void) argument;
    UNIT_CHECK(unit_run(reader, LATCH_ACQUIRE_SHARED) == LATCH_CONFLICT);
    unit_say(self, 'c');
}

static void a_try_does_not_overtake_a_writer_that_waits(void **state)
{
    latch_lease *reader = unit_lease("a");
    unit_process writer, other;

    (void) state;
    UNIT_CHECK(unit_run(reader, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    writer = unit_fork(wait_for_a, NULL);
    unit_expect(&writer, 'w');
    other = unit_fork(try_to_read, NULL);
    unit_expect(&other, 'c');
    unit_join(&other);
    unit_release(reader);
    unit_join(&writer);
}

/* ---- Files that are removed */

static void a_lock_whose_file_was_removed_is_lost(void **state)
{
    latch_lease *lease = unit_lease("a"), other;
    latch_store *newer;

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unlink(path) == 0);
    newer = open_store();
    UNIT_CHECK(newer != NULL);
    UNIT_AWAIT(!unit_held(lease));
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_CONFLICT && lease->lost);
    latch_lease_init(&other, newer, "a", 1);
    UNIT_CHECK(unit_run(&other, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT); /* in the new file */
    latch_lease_drop(&other);
    latch_store_close(newer);
}

static void a_wait_goes_on_in_a_new_file(void **state)
{
    latch_lease *holder = unit_lease("a"), *waiter = unit_lease("a");
    latch_status status;
    latch_op op;

    (void) state;
    UNIT_CHECK(unit_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    status = unit_begin(&op, waiter, unit_waiting(LATCH_ACQUIRE, 60000));
    UNIT_CHECK(latch_wants(status));
    UNIT_CHECK(unlink(path) == 0);
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE && unit_held(waiter));
    UNIT_CHECK(!unit_held(holder));
}

/* ---- Inspections */

static latch_lock_report *reports;

static latch_status ask(latch_lease *lease, latch_op_kind kind, const char *evicted,
                        uint64_t *count)
{
    latch_request request = unit_request(kind);

    latch_lock_reports_free(unit.engine, reports);
    reports = NULL;
    request.reports = &reports;
    request.evicted = evicted;
    request.evicted_count = count;
    return unit_run_request(lease, request);
}

static const char *note(void *context)
{
    (void) context;
    return "host.example 77 /srv/worker.php --all";
}

static void an_inspection_tells_of_the_holder(void **state)
{
    latch_lease *lease = unit_lease("orders"), *from = unit_lease("orders");

    (void) state;
    latch_store_close(unit.store);
    latch_engine_destroy(unit.engine);
    unit.env.holder_info = note;
    unit.engine = latch_engine_create(&unit.env, &unit.error);
    unit.store = open_store();
    lease->store = from->store = unit.store;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(ask(from, LATCH_INSPECT, NULL, NULL) == LATCH_DONE);
    assert_string_equal(reports->name, "orders");
    assert_int_equal(reports->holders->number, getpid());
    assert_string_equal(reports->holders->host, "host.example");
    assert_string_equal(reports->holders->script, "/srv/worker.php --all");
    UNIT_CHECK(reports->holders->fencing_token == lease->fencing_token);
    UNIT_CHECK(reports->holder_count == 1 && reports->waiter_count == 0);
    ask(from, LATCH_LIST, NULL, NULL);
    assert_string_equal(reports->name, "orders");
    latch_lock_reports_free(unit.engine, reports);
    reports = NULL;
}

static void a_list_has_the_beginning_of_a_long_name(void **state)
{
    static char name[200];
    latch_lease *lease;

    (void) state;
    memset(name, 'n', sizeof(name));
    lease = unit_lease_on(name, sizeof(name));
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(ask(lease, LATCH_LIST, NULL, NULL) == LATCH_DONE);
    UNIT_CHECK(reports->name_length == 67 && memcmp(reports->name, name, 64) == 0);
    assert_string_equal(reports->name + 64, "...");
    latch_lock_reports_free(unit.engine, reports);
    reports = NULL;
}

static void a_lock_can_be_taken_away(void **state)
{
    latch_lease *lease = unit_lease("a"), *waiter = unit_lease("a"), *from = unit_lease("a");
    uint64_t count = 7;
    char identity[LATCH_IDENTITY_LENGTH + 1];
    latch_status status;
    latch_op op;

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    status = unit_begin(&op, waiter, unit_waiting(LATCH_ACQUIRE, 60000));
    UNIT_CHECK(latch_wants(status));
    UNIT_CHECK(ask(from, LATCH_INSPECT, NULL, NULL) == LATCH_DONE && reports->waiter_count == 1);
    strcpy(identity, reports->holders->identity);
    UNIT_CHECK(ask(from, LATCH_EVICT, "0123456789abcdef", &count) == LATCH_DONE && count == 0);
    UNIT_CHECK(unit_held(lease));
    UNIT_CHECK(ask(from, LATCH_EVICT, identity, &count) == LATCH_DONE && count == 1);
    UNIT_CHECK(!unit_held(lease));
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE && unit_held(waiter));
    UNIT_CHECK(waiter->fencing_token > lease->fencing_token);
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_CONFLICT && lease->lost);
    UNIT_CHECK(unit_run(lease, LATCH_RELEASE) == LATCH_DONE && unit_held(waiter));
    UNIT_CHECK(ask(from, LATCH_EVICT, identity, &count) == LATCH_DONE && count == 0);
    UNIT_CHECK(unit_held(waiter));
}

/* ---- Room */

static void a_full_file_says_so_and_has_room_again(void **state)
{
    enum { MOST = 5000 };
    static latch_lease leases[MOST];
    static char names[MOST][8];
    latch_status status = LATCH_DONE;
    size_t count = 0;

    (void) state;
    for (; count < MOST && status == LATCH_DONE; count++) {
        snprintf(names[count], sizeof(names[count]), "%zu", count);
        latch_lease_init(&leases[count], unit.store, names[count], strlen(names[count]));
        status = unit_run(&leases[count], LATCH_ACQUIRE);
    }
    assert_int_equal(status, LATCH_ERROR_STORE);
    assert_non_null(strstr(unit.error.message, "capacity"));
    assert_int_equal(count - 1, 2048);
    unit_release(&leases[0]);
    UNIT_CHECK(unit_run(&leases[count - 1], LATCH_ACQUIRE) == LATCH_DONE);
    while (count-- > 0) {
        latch_lease_drop(&leases[count]);
    }
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_circle_of_endless_waits_is_found_at_once),
        TEST(a_circle_with_a_wait_that_ends_is_no_deadlock),
        TEST(two_readers_cannot_both_be_promoted),
        TEST(a_second_shared_lock_of_a_thread_does_not_queue),
        TEST(a_try_does_not_overtake_a_writer_that_waits),
        TEST(a_lock_whose_file_was_removed_is_lost),
        TEST(a_wait_goes_on_in_a_new_file),
        TEST(an_inspection_tells_of_the_holder),
        TEST(a_list_has_the_beginning_of_a_long_name),
        TEST(a_lock_can_be_taken_away),
        TEST(a_full_file_says_so_and_has_room_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
