/*
 * Threads of one process, each with stores of its own on one engine, that contend for the same
 * files while they fork: for ThreadSanitizer, and for the promise that a child is clean of them
 * all.
 */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 2
#define ROUNDS 150

typedef struct worker {
    pthread_t thread;
    int number;
    const char *complaint; /* what went wrong, NULL = nothing */
} worker;

/* What the locks guard: an overlap loses counts. Atomic, since TSan knows nothing of flock(2). */
static _Atomic int guarded[2];
static _Atomic int grants;

static latch_status drive(latch_op *op, latch_lease *lease, const latch_request *request,
                          latch_error *error)
{
    return unit_finish(op, latch_op_begin(op, lease, request, error));
}

/* In the child there is one thread, and nothing of the other threads' locks but what they hold. */
static void use_in_child(latch_lease *held)
{
    latch_error error;
    latch_op op;
    latch_request try = {.kind = LATCH_ACQUIRE};
    bool clean = !latch_lease_held(held, unit_now_ns());
    latch_status status = drive(&op, held, &try, &error);

    _exit(clean && (status == LATCH_CONFLICT || status == LATCH_DONE) ? 0 : 1);
}

static const char *fork_while_holding(latch_lease *held)
{
    int status = -1;
    pid_t pid;

    latch_engine_before_fork(unit.engine);
    pid = fork();
    if (pid == 0) {
        latch_engine_after_fork_in_child(unit.engine);
        use_in_child(held);
    }
    latch_engine_after_fork_in_parent(unit.engine);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
        return "the child was not clean";
    }
    return latch_lease_held(held, unit_now_ns()) ? NULL : "lost by a fork";
}

static const char *contend(worker *self, latch_store *store)
{
    static const char *const resources[2] = {"a", "b"};
    latch_lease leases[2];
    latch_error error;
    latch_op op;
    const char *complaint = NULL;

    for (int at = 0; at < 2; at++) {
        latch_lease_init(&leases[at], store, resources[at], 1);
    }
    for (int round = 0; round < ROUNDS && complaint == NULL; round++) {
        int which = round % 2;
        latch_lease *lease = &leases[which];
        latch_request request = {.kind = LATCH_ACQUIRE, .wait = true, .deadline_ns = LATCH_NEVER};
        latch_status status;
        int seen;

        if (round % 5 == 0) { /* a wait that is given up, or a lock that was to be had at once */
            status = latch_op_begin(&op, lease, &request, &error);
            if (latch_wants(status)) {
                status = latch_op_cancel(&op, unit_now_ns());
            }
        } else {
            status = drive(&op, lease, &request, &error);
        }
        if (status == LATCH_CONFLICT) {
            continue;
        }
        if (status != LATCH_DONE) {
            return "an acquire failed";
        }
        grants++;
        seen = guarded[which];
        sched_yield();
        guarded[which] = seen + 1;
        complaint = round % 10 == self->number ? fork_while_holding(lease) : NULL;
        request.kind = LATCH_RELEASE;
        if (drive(&op, lease, &request, &error) != LATCH_DONE) {
            return "a release failed";
        }
    }
    for (int at = 0; at < 2; at++) {
        latch_lease_drop(&leases[at]);
    }
    return complaint;
}

static void *work(void *argument)
{
    worker *self = argument;
    const latch_store_options options = {.path = unit.directory};
    latch_error error;
    latch_store *store = latch_store_open(unit.engine, "flock", &options, &error);

    if (store == NULL) {
        self->complaint = "the store could not be opened";
        return NULL;
    }
    self->complaint = contend(self, store);
    latch_store_close(store);
    return NULL;
}

static void threads_exclude_each_other_while_they_fork(void **state)
{
    worker workers[THREADS] = {0};
    latch_env env = latch_env_system();

    (void) state;
    env.digest = unit_digest;
    latch_engine_destroy(unit.engine);
    unit.engine = latch_engine_create(&env, &unit.error);
    unit.real_clock = true;
    unit_make_directory();
    for (int at = 0; at < THREADS; at++) {
        workers[at].number = at;
        assert_int_equal(pthread_create(&workers[at].thread, NULL, work, &workers[at]), 0);
    }
    for (int at = 0; at < THREADS; at++) {
        pthread_join(workers[at].thread, NULL);
    }
    for (int at = 0; at < THREADS; at++) {
        if (workers[at].complaint != NULL) {
            fail_msg("%s", workers[at].complaint);
        }
    }
    assert_true(grants >= THREADS * ROUNDS / 5 * 4);
    assert_int_equal(guarded[0] + guarded[1], grants);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(threads_exclude_each_other_while_they_fork, setup),
    };

    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
