/*
 * Deaths among users of shared memory: the locks of a process are free when it ends, whatever way,
 * and whatever namespace it is in; a process that is stopped keeps them.
 */
#include "unit.h"

#include "src/store/shm/store.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* More than the kernel follows of a list of robust mutexes. */
enum { MANY = 3000 };

static char path[UNIT_PATH + 16];

static int setup(void **state)
{
    latch_store_options options = {.path = path, .capacity = 4000};

    if (unit_setup(state) != 0) {
        return -1;
    }
    unit.real_clock = true;
    unit_make_directory();
    snprintf(path, sizeof(path), "%s/locks", unit.directory);
    unit.store = latch_store_open(unit.engine, "shm", &options, &unit.error);
    return unit.store != NULL ? 0 : -1;
}

/* ---- What children do */

static latch_lease *lease_in_child(const char *resource)
{
    unit.lease_count++; /* the parent's stay as they are */
    latch_lease_init(&unit.leases[unit.lease_count - 1], unit.store, resource, strlen(resource));
    return &unit.leases[unit.lease_count - 1];
}

static void hold(unit_process *self, void *argument)
{
    latch_lease *lease = lease_in_child("a");

    (void) argument;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_say(self, 'h');
    unit_hear(self);
}

static void wait_and_hold(unit_process *self, void *argument)
{
    latch_lease *lease = lease_in_child("a");
    latch_status status;
    latch_op op;

    (void) argument;
    status = unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER));
    UNIT_CHECK(latch_wants(status));
    unit_say(self, 'w');
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE);
    unit_say(self, 'h');
    unit_hear(self);
    unit_release(lease);
}

static unit_process start_holder(void (*body)(unit_process *self, void *argument))
{
    unit_process child = unit_fork(body, NULL);

    unit_expect(&child, 'h');
    UNIT_CHECK(unit_run(unit_lease("a"), LATCH_ACQUIRE) == LATCH_CONFLICT);
    return child;
}

/* ---- Ends of a process */

static void a_waiter_gets_the_lock_of_a_killed_process(void **state)
{
    latch_lease *waiter = unit_lease("a");

    (void) state;
    for (int round = 0; round < 20; round++) {
        unit_process child = start_holder(hold);
        latch_status status;
        latch_op op;

        unit.lease_count = 1;
        status = unit_begin(&op, waiter, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER));
        status = latch_wants(status) ? latch_op_step(&op, unit_now_ns()) : status; /* it sleeps */
        unit_kill(&child);
        UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE);
        unit_release(waiter);
    }
}

static void hold_many(unit_process *self, void *argument)
{
    static latch_lease leases[MANY];
    static char names[MANY][8];

    (void) argument;
    for (size_t at = 0; at < MANY; at++) {
        snprintf(names[at], sizeof(names[at]), "m%zu", at);
        latch_lease_init(&leases[at], unit.store, names[at], strlen(names[at]));
        UNIT_CHECK(unit_run(&leases[at], LATCH_ACQUIRE) == LATCH_DONE);
    }
    unit_say(self, 'h');
    unit_hear(self);
}

static void thousands_of_locks_are_free_at_once(void **state)
{
    unit_process child = unit_fork(hold_many, NULL);
    latch_lease lease;
    char name[8];

    (void) state;
    unit_expect(&child, 'h');
    unit_kill(&child);
    for (size_t at = 0; at < MANY; at++) {
        snprintf(name, sizeof(name), "m%zu", at);
        latch_lease_init(&lease, unit.store, name, strlen(name));
        UNIT_CHECK(unit_run(&lease, LATCH_ACQUIRE) == LATCH_DONE);
        latch_lease_drop(&lease);
    }
}

static void hold_and_execute(unit_process *self, void *argument)
{
    latch_lease *lease = lease_in_child("a");

    (void) argument;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_say(self, 'h');
    unit_expect(self, 'x');
    execlp("sleep", "sleep", "60", (char *) NULL);
}

static void a_lock_ends_when_its_process_becomes_another_program(void **state)
{
    unit_process child = start_holder(hold_and_execute);
    latch_lease *waiter = unit_lease("a");

    (void) state;
    unit_say(&child, 'x');
    UNIT_CHECK(unit_run_waiting(waiter, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_DONE);
    unit_kill(&child);
}

static void *hold_in_thread(void *engine)
{
    latch_store_options options = {.path = path};
    latch_error error;
    latch_store *store = latch_store_open(engine, "shm", &options, &error);
    latch_request request = unit_request(LATCH_ACQUIRE);
    static latch_lease lease;
    latch_op op;

    latch_lease_init(&lease, store, "a", 1);
    return latch_op_begin(&op, &lease, &request, &error) == LATCH_DONE ? &lease : NULL;
}

/* As a thread of a PHP server that dies of a fatal error without a clean-up. */
static void a_lock_ends_with_its_thread(void **state)
{
    latch_lease *waiter = unit_lease("a");
    size_t live = unit.live;
    pthread_t thread;
    void *lease;

    (void) state;
    assert_int_equal(pthread_create(&thread, NULL, hold_in_thread, unit.engine), 0);
    assert_int_equal(pthread_join(thread, &lease), 0);
    assert_non_null(lease);
    /* Its memory and its descriptor are the process's, and stay. */
    unit.live = live;
    unit.descriptors++;
    UNIT_CHECK(unit_run_waiting(waiter, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_DONE);
}

static void a_stopped_process_keeps_its_lock(void **state)
{
    unit_process child = start_holder(hold);
    latch_lease *waiter = unit_lease("a");
    int status;

    (void) state;
    UNIT_CHECK(kill(child.pid, SIGSTOP) == 0);
    UNIT_CHECK(waitpid(child.pid, &status, WUNTRACED) == child.pid && WIFSTOPPED(status));
    UNIT_CHECK(unit_run_waiting(waiter, LATCH_ACQUIRE, 30) == LATCH_CONFLICT);
    unit_kill(&child);
    UNIT_CHECK(unit_run_waiting(waiter, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_DONE);
}

/* ---- Inside the guard */

/* The attachment of the unit's store: this thread's only one. */
static const shm_user *user_of(latch_lease *lease)
{
    return &((shm_hold *) lease->state)->attachment->user;
}

/* The guard of the lock's bucket is the child's, which holds "a": as if it was stopped in there. */
static shm_bucket *stick(const shm_map *map, const char *resource)
{
    uint64_t digest[2], owner = 0;
    shm_bucket *bucket;

    latch_shm_digest("a", 1, digest);
    for (uint32_t at = 0; at < map->record_count; at++) {
        if (map->records[at].digest[0] == digest[0] && map->records[at].state != SHM_FREE) {
            owner = map->records[at].owner;
        }
    }
    UNIT_CHECK(owner != 0);
    latch_shm_digest(resource, strlen(resource), digest);
    bucket = &map->buckets[latch_shm_bucket_of(map, digest[0])];
    bucket->guard = owner;
    return bucket;
}

static void a_process_that_is_stopped_in_a_guard_is_named(void **state)
{
    unit_process child = start_holder(hold);
    latch_lease *waiter = unit_lease("a"), *mine = unit_lease("mine");
    char process[16];

    (void) state;
    UNIT_CHECK(unit_run(mine, LATCH_ACQUIRE) == LATCH_DONE);
    stick(&user_of(mine)->map, "a");
    UNIT_CHECK(unit_run(waiter, LATCH_ACQUIRE) == LATCH_ERROR_STORE);
    snprintf(process, sizeof(process), "process %d", (int) child.pid);
    assert_non_null(strstr(unit.error.message, process));
    assert_non_null(strstr(unit.error.message, "stopped"));
    unit_kill(&child);
    UNIT_CHECK(unit_run_waiting(waiter, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_DONE);
}

/* Neither the hold nor the wait can be ended under the guard. */
static void what_ends_while_a_guard_is_stuck_is_free_behind_it(void **state)
{
    unit_process child = start_holder(hold);
    latch_lease *holder = unit_lease("b"), *waiter = unit_lease("b"), *next = unit_lease("b"),
                *other = unit_lease("c"), *rival = unit_lease("c");
    uint32_t holders, waiters, used;
    shm_bucket *bucket;
    latch_op op;
    latch_status status;

    (void) state;
    UNIT_CHECK(unit_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    holders = ((shm_hold *) holder->state)->index;
    status = unit_begin(&op, waiter, unit_waiting(LATCH_ACQUIRE, 60000));
    UNIT_CHECK(latch_wants(status));
    waiters = ((shm_hold *) op.state)->index;
    bucket = stick(&user_of(holder)->map, "b");
    UNIT_CHECK(unit_finish(&op, status) == LATCH_ERROR_STORE && !unit_held(waiter));
    unit_release(holder);
    bucket->guard = 0;

    UNIT_CHECK(unit_run(next, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run(holder, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(unit_run(other, LATCH_ACQUIRE) == LATCH_DONE);
    used = ((shm_hold *) other->state)->index;
    assert_true(used == holders || used == waiters); /* a record is used again, and counts */
    UNIT_CHECK(unit_run(rival, LATCH_ACQUIRE) == LATCH_CONFLICT);
    unit_kill(&child);
}

/* ---- The second witness */

/* As if the kernel had found the list of mutexes unmapped. */
static void hold_without_the_kernels_knowledge(unit_process *self, void *argument)
{
    static struct robust_list_head none = {.list = {&none.list}};
    latch_lease *lease = lease_in_child("a");

    (void) argument;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(syscall(SYS_set_robust_list, &none, sizeof(none)) == 0);
    unit_say(self, 'h');
    unit_hear(self);
}

static void the_second_witness_tells_of_a_death_that_was_not_marked(void **state)
{
    unit_process child = start_holder(hold_without_the_kernels_knowledge);
    latch_lease *waiter = unit_lease("a");

    (void) state;
    unit_kill(&child);
    UNIT_CHECK(unit_run_waiting(waiter, LATCH_ACQUIRE, 20) == LATCH_CONFLICT);
    UNIT_CHECK(unit_run_waiting(waiter, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_DONE);
    UNIT_CHECK(unit_held(waiter));
}

/* As if a program had closed the descriptor that is the second witness. */
static void a_participant_that_was_taken_for_dead_begins_anew(void **state)
{
    latch_lease *lease = unit_lease("a"), *other = unit_lease("a");
    const shm_user *user;

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    user = user_of(lease);
    latch_shm_retire(&user->map, user->self);
    UNIT_CHECK(!unit_held(lease));
    UNIT_CHECK(unit_run(other, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_CONFLICT && lease->lost);
    UNIT_CHECK(unit_run(lease, LATCH_RELEASE) == LATCH_DONE && unit_held(other));
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT);
}

/* ---- Forks by a libc that does not empty the list of robust mutexes */

static struct robust_list_head *list_of_this_thread(void)
{
    struct robust_list_head *list = NULL;
    size_t length;

    UNIT_CHECK(syscall(SYS_get_robust_list, 0, &list, &length) == 0 && list != NULL);
    return list;
}

static void lock_with_the_parents_list(unit_process *self, void *entry)
{
    latch_lease *lease = &unit.leases[0], *own = lease_in_child("b");
    const shm_map *map = &user_of(lease)->map;
    uint32_t place = latch_shm_place_of(user_of(lease)->self);
    char before[sizeof(map->participants->life)];

    (void) self;
    list_of_this_thread()->list.next = entry;
    memcpy(before, (void *) map->participants[place].life, sizeof(before));
    UNIT_CHECK(unit_run(own, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(memcmp(before, (void *) map->participants[place].life, sizeof(before)) == 0);
    unit_release(own);
}

static void a_child_does_not_touch_its_parents_mutex(void **state)
{
    latch_lease *lease = unit_lease("a");
    unit_process child;

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    child = unit_fork(lock_with_the_parents_list, list_of_this_thread()->list.next);
    unit_join(&child);
    UNIT_CHECK(unit_held(lease));
}

/* ---- Namespaces and filters */

static bool may_make_namespaces(void)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        _exit(unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0 ? 0 : 1);
    }
    return waitpid(pid, &status, 0) == pid && status == 0;
}

/* The first process of a namespace of its own does it; its words are passed on. */
static void do_in_namespace(unit_process *self, void *body)
{
    unit_process inner;
    char word;

    UNIT_CHECK(unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0);
    inner = unit_fork(*(void (**)(unit_process *, void *)) body, NULL);
    while ((word = unit_hear(&inner)) != 0) {
        unit_say(self, word);
        if (word == 'h') {
            break;
        }
    }
    if (unit_hear(self) == 'k') {
        unit_kill(&inner);
    } else {
        unit_say(&inner, 'g');
        unit_join(&inner);
    }
}

static unit_process start_in_namespace(void (**body)(unit_process *, void *))
{
    return unit_fork(do_in_namespace, (void *) body);
}

static void process_namespaces_do_not_matter(void **state)
{
    void (*holds)(unit_process *, void *) = hold, (*waits)(unit_process *, void *) = wait_and_hold;
    latch_lease *lease = unit_lease("a");
    unit_process holder, waiter;

    (void) state;
    if (!may_make_namespaces()) {
        print_message("no namespaces can be made, by this user or beside a thread of TSan's\n");
        skip();
    }
    /* From a namespace to this one */
    holder = start_in_namespace(&holds);
    unit_expect(&holder, 'h');
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT);
    /* and between two, in which both are the process 1, */
    waiter = start_in_namespace(&waits);
    unit_expect(&waiter, 'w');
    unit_say(&holder, 'k');
    unit_join(&holder);
    unit_expect(&waiter, 'h');
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT);
    unit_say(&waiter, 'g');
    unit_join(&waiter);
    /* and back. */
    holder = unit_fork(hold, NULL);
    unit_expect(&holder, 'h');
    waiter = start_in_namespace(&waits);
    unit_expect(&waiter, 'w');
    unit_kill(&holder);
    unit_expect(&waiter, 'h');
    unit_say(&waiter, 'g');
    unit_join(&waiter);
}

static void forbid_waitv(uint32_t answer)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 449, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

    UNIT_CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    UNIT_CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    UNIT_CHECK(syscall(449, NULL, 0, 0, NULL, 0) == -1 && errno == (int) answer);
}

static void wait_without_waitv(unit_process *self, void *answer)
{
    forbid_waitv(*(uint32_t *) answer);
    wait_and_hold(self, NULL);
}

static void a_death_is_found_without_futex_waitv(void **state)
{
    uint32_t answers[] = {EPERM, ENOSYS};

    (void) state;
    for (int round = 0; round < 2; round++) {
        unit_process holder = unit_fork(hold, NULL), waiter;

        unit_expect(&holder, 'h');
        waiter = unit_fork(wait_without_waitv, &answers[round]);
        unit_expect(&waiter, 'w');
        unit_kill(&holder);
        unit_expect(&waiter, 'h');
        unit_say(&waiter, 'g');
        unit_join(&waiter);
    }
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_waiter_gets_the_lock_of_a_killed_process),
        TEST(thousands_of_locks_are_free_at_once),
        TEST(a_lock_ends_when_its_process_becomes_another_program),
        TEST(a_stopped_process_keeps_its_lock),
        TEST(a_process_that_is_stopped_in_a_guard_is_named),
        TEST(what_ends_while_a_guard_is_stuck_is_free_behind_it),
        TEST(the_second_witness_tells_of_a_death_that_was_not_marked),
        TEST(a_participant_that_was_taken_for_dead_begins_anew),
        TEST(a_child_does_not_touch_its_parents_mutex),
        TEST(process_namespaces_do_not_matter),
        TEST(a_death_is_found_without_futex_waitv),
        TEST(a_lock_ends_with_its_thread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
