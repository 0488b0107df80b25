/*
 * Locks in shared memory under kills: processes, then threads, that acquire, wait, promote and
 * release at random while some are killed from outside, and others kill themselves between two
 * stores into the shared file, most of them inside a guard. No lock is ever held twice, fencing
 * tokens grow, nobody hangs, and in the end everything is free.
 *
 * It takes some seconds; LATCH_STRESS_SECONDS=N makes each part N seconds long, LATCH_STRESS_TELL=1
 * tells what was done.
 */
#define LATCH_SHM_POINT() stress_point()

static void stress_point(void);

#include "src/store/shm/acquire.c"
#include "src/store/shm/attachment.c"
#include "src/store/shm/deadlock.c"
#include "src/store/shm/digest.c"
#include "src/store/shm/file.c"
#include "src/store/shm/protocol/futex.c"
#include "src/store/shm/protocol/grant.c"
#include "src/store/shm/header.c"
#include "src/store/shm/protocol/identity.c"
#include "src/store/shm/inspect.c"
#include "src/store/shm/life.c"
#include "src/store/shm/protocol/lock.c"
#include "src/store/shm/options.c"
#include "src/store/shm/store.c"
#include "src/store/shm/protocol/table.c"
#include "src/store/shm/protocol/wait.c"

#include "unit.h"

#include <signal.h>
#include <sys/wait.h>

enum { WORKERS = 8, RESOURCES = 3 };

/* A worker kills itself at one of so many stores. */
#define POINTS_PER_DEATH 4000
/* Nothing happens for so long: a hang. */
#define HANG_NS (20 * LATCH_NS_PER_S)

typedef struct stress_ledger {
    _Atomic uint64_t acquired, killed, killed_inside, processes, timeouts, conflicts;
    _Atomic uint64_t by_worker[WORKERS];
    _Atomic uint32_t life[WORKERS];              /* of threads: changes with each life */
    _Atomic uint64_t exclusive[RESOURCES];       /* 1 + the worker, and its life */
    _Atomic uint64_t shared[RESOURCES][WORKERS]; /* the lives of those */
    uint64_t last_fence[RESOURCES];              /* guarded by the lock */
    _Atomic bool stops, failed;
    char failure[256];
} stress_ledger;

static stress_ledger *ledger;
static bool uses_threads;

static _Thread_local struct {
    unsigned number;
    uint64_t life; /* process ID, or the number of a thread's life */
    uint64_t random;
    const shm_attachment *attachment;
    bool may_die;
} self;

static int64_t stress_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * LATCH_NS_PER_S + now.tv_nsec;
}

static uint64_t stress_random(uint64_t bound)
{
    self.random = self.random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (self.random >> 33) % bound;
}

static void stress_fail(const char *format, ...)
{
    bool expected = false;
    va_list arguments;

    if (atomic_compare_exchange_strong(&ledger->failed, &expected, true)) {
        va_start(arguments, format);
        vsnprintf(ledger->failure, sizeof(ledger->failure), format, arguments);
        va_end(arguments);
    }
    ledger->stops = true;
}

/* ---- Deaths */

static bool stress_is_inside(void)
{
    const shm_map *map = &self.attachment->user.map;

    for (uint32_t bucket = 0; bucket < map->bucket_count; bucket++) {
        if (map->buckets[bucket].guard == self.attachment->user.self) {
            return true;
        }
    }
    return false;
}

static void stress_die(void)
{
    ledger->killed++;
    ledger->killed_inside += stress_is_inside();
    if (!uses_threads) {
        kill(getpid(), SIGKILL);
    }
    self.may_die = false;
    ledger->life[self.number]++;
    pthread_exit(NULL);
}

static void stress_point(void)
{
    if (self.may_die && stress_random(POINTS_PER_DEATH) == 0) {
        stress_die();
    }
}

#define PROCESS_IS_EXITING                                                                         \
    0x4 /* PF_EXITING of Linux: it runs no instruction of its program more                         \
         */

/* A process that is exiting has lost its locks, although it can still be seen. */
static bool stress_process_lives(uint64_t pid)
{
    char path[64], text[512], state;
    unsigned flags;
    ssize_t got;
    int fd;

    snprintf(path, sizeof(path), "/proc/%llu/stat", (unsigned long long) pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    got = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (got <= 0) {
        return false;
    }
    text[got] = '\0';
    return sscanf(strrchr(text, ')') + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) == 2
           && state != 'Z' && state != 'X' && (flags & PROCESS_IS_EXITING) == 0;
}

static bool stress_lives(unsigned worker, uint64_t life)
{
    return life != 0 && (uses_threads ? ledger->life[worker] == life : stress_process_lives(life));
}

/* ---- Work */

static uint64_t stress_mark(void)
{
    return self.life << 8 | (self.number + 1);
}

static void stress_expect_no_writer(unsigned resource)
{
    uint64_t mark = ledger->exclusive[resource];

    if (mark != 0 && stress_lives((unsigned) (mark & 0xff) - 1, mark >> 8)
        && ledger->exclusive[resource] == mark) {
        stress_fail("two have the lock %u: %llx and %llx", resource, (unsigned long long) mark,
                    (unsigned long long) stress_mark());
    }
}

static void stress_write(unsigned resource, uint64_t fence)
{
    stress_expect_no_writer(resource);
    ledger->exclusive[resource] = stress_mark();
    for (unsigned worker = 0; worker < WORKERS; worker++) {
        uint64_t life = ledger->shared[resource][worker];

        if (worker != self.number && stress_lives(worker, life)
            && ledger->shared[resource][worker] == life) {
            stress_fail("a reader, %u, is beside the writer %u", worker, self.number);
        }
    }
    if (fence <= ledger->last_fence[resource]) {
        stress_fail("the fence %llu comes after %llu", (unsigned long long) fence,
                    (unsigned long long) ledger->last_fence[resource]);
    }
    ledger->last_fence[resource] = fence;
}

static void stress_read(unsigned resource)
{
    ledger->shared[resource][self.number] = self.life;
    stress_expect_no_writer(resource);
}

static void stress_let_go(unsigned resource)
{
    ledger->shared[resource][self.number] = 0;
    if (ledger->exclusive[resource] == stress_mark()) {
        ledger->exclusive[resource] = 0;
    }
}

static latch_status stress_run(latch_lease *lease, latch_op_kind kind, int64_t timeout_ms)
{
    latch_engine *engine = lease->store->engine;
    latch_request request = {.kind = kind, .wait = timeout_ms != 0, .deadline_ns = LATCH_NEVER};
    int64_t now_ns = latch_engine_now_ns(engine);
    latch_error error;
    latch_status status;
    latch_op op;

    if (timeout_ms > 0 && timeout_ms != LATCH_NEVER) {
        request.deadline_ns = now_ns + timeout_ms * LATCH_NS_PER_MS;
    }
    status = latch_op_begin(&op, lease, &request, &error);
    while (latch_wants(status)) {
        now_ns = latch_engine_now_ns(engine);
        status = ledger->stops ? latch_op_cancel(&op, now_ns) : latch_op_step(&op, now_ns);
    }
    if (latch_failed(status)) {
        stress_fail("a request fails: %s", error.message);
    }
    return status;
}

static int64_t stress_timeout(void)
{
    switch (stress_random(8)) {
        case 0:
            return 0;
        case 1:
        case 2:
            return (int64_t) stress_random(3) + 1;
        default:
            return LATCH_NEVER;
    }
}

static void stress_turn(latch_lease *lease, unsigned resource)
{
    bool is_shared = stress_random(4) == 0;
    latch_status status =
        stress_run(lease, is_shared ? LATCH_ACQUIRE_SHARED : LATCH_ACQUIRE, stress_timeout());

    if (status != LATCH_DONE) {
        ledger->timeouts++;
        return;
    }
    ledger->acquired++;
    ledger->by_worker[self.number]++;
    if (!is_shared) {
        stress_write(resource, lease->fencing_token);
    } else {
        stress_read(resource);
        if (stress_random(4) == 0 && stress_run(lease, LATCH_ACQUIRE, 2) == LATCH_DONE) {
            stress_write(resource, lease->fencing_token);
        }
    }
    if (lease->mode == LATCH_EXCLUSIVE && stress_random(8) == 0) {
        stress_let_go(resource);
        ledger->shared[resource][self.number] = self.life;
        stress_run(lease, LATCH_ACQUIRE_SHARED, 0);
    }
    stress_let_go(resource);
    stress_run(lease, LATCH_RELEASE, 0);
}

static void stress_work(latch_store *store)
{
    latch_lease leases[RESOURCES];
    static const char *const names[RESOURCES] = {"stress a", "stress b", "stress c"};

    self.attachment = ((shm_store *) store)->attachment;
    for (unsigned at = 0; at < RESOURCES; at++) {
        latch_lease_init(&leases[at], store, names[at], strlen(names[at]));
    }
    self.may_die = true;
    while (!ledger->stops) {
        unsigned resource = (unsigned) stress_random(RESOURCES);

        stress_turn(&leases[resource], resource);
    }
    self.may_die = false;
    for (unsigned at = 0; at < RESOURCES; at++) {
        latch_lease_drop(&leases[at]);
    }
}

/* ---- The runs */

static char stress_path[UNIT_PATH + 16];

static latch_store *stress_open(latch_engine *engine, latch_error *error)
{
    latch_store_options options = {.path = stress_path, .capacity = 2000};

    return latch_store_open_as(engine, &latch_shm_store, &options, error);
}

/* All blocks are in a list: what a thread has not freed before it was killed is no leak. */
static pthread_mutex_t stress_blocks_mutex = PTHREAD_MUTEX_INITIALIZER;
static latch_link stress_blocks = {&stress_blocks, &stress_blocks};

static void *stress_allocate(void *context, size_t size)
{
    latch_link *block = malloc(sizeof(*block) + size);

    (void) context;
    if (block == NULL) {
        return NULL;
    }
    pthread_mutex_lock(&stress_blocks_mutex);
    latch_list_append(&stress_blocks, block);
    pthread_mutex_unlock(&stress_blocks_mutex);
    return block + 1;
}

static void stress_deallocate(void *context, void *pointer)
{
    latch_link *block = (latch_link *) pointer - 1;

    (void) context;
    if (pointer != NULL) {
        pthread_mutex_lock(&stress_blocks_mutex);
        latch_list_remove(block);
        pthread_mutex_unlock(&stress_blocks_mutex);
        free(block);
    }
}

static latch_engine *stress_engine(void)
{
    latch_env env = latch_env_system();
    latch_error error;

    env.allocate = stress_allocate;
    env.deallocate = stress_deallocate;
    env.digest = unit_digest;
    return latch_engine_create(&env, &error);
}

static int64_t stress_length_ns(void)
{
    const char *seconds = getenv("LATCH_STRESS_SECONDS");

    return (seconds != NULL ? atoi(seconds) : 2) * LATCH_NS_PER_S;
}

static void stress_begin(void)
{
    unit_make_temporary(unit.directory);
    snprintf(stress_path, sizeof(stress_path), "%s/locks", unit.directory);
    ledger = mmap(NULL, sizeof(*ledger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(ledger != MAP_FAILED);
}

static void stress_end(const char *what)
{
    latch_engine *engine = stress_engine();
    latch_error error;
    latch_store *store = stress_open(engine, &error);
    uint64_t least = UINT64_MAX, most = 0;

    assert_non_null(store);
    for (unsigned at = 0; at < WORKERS; at++) {
        least = ledger->by_worker[at] < least ? ledger->by_worker[at] : least;
        most = ledger->by_worker[at] > most ? ledger->by_worker[at] : most;
    }
    if (getenv("LATCH_STRESS_TELL") != NULL) {
        print_message("%s: %llu acquisitions, %llu lives, %llu killed, %llu of them inside a "
                      "guard, %llu given up, shares %llu to %llu\n",
                      what, (unsigned long long) ledger->acquired,
                      (unsigned long long) ledger->processes, (unsigned long long) ledger->killed,
                      (unsigned long long) ledger->killed_inside,
                      (unsigned long long) ledger->timeouts, (unsigned long long) least,
                      (unsigned long long) most);
    }
    if (ledger->failed) {
        fail_msg("%s: %s", what, ledger->failure);
    }
    ledger->stops = false;
    for (unsigned at = 0; at < RESOURCES; at++) {
        static const char *const names[RESOURCES] = {"stress a", "stress b", "stress c"};
        latch_lease lease;

        latch_lease_init(&lease, store, names[at], strlen(names[at]));
        assert_int_equal(stress_run(&lease, LATCH_ACQUIRE, 0), LATCH_DONE);
        latch_lease_drop(&lease);
    }
    assert_true(ledger->acquired > 0 && ledger->killed > 0 && ledger->killed_inside > 0);
    latch_store_close(store);
    latch_engine_destroy(engine);
    munmap(ledger, sizeof(*ledger));
    unit_remove_temporary(unit.directory);
}

/* Fails when nothing was acquired for long. */
static void stress_expect_progress(uint64_t *seen, int64_t *since_ns)
{
    int64_t now_ns = stress_now_ns();

    if (ledger->acquired != *seen) {
        *seen = ledger->acquired;
        *since_ns = now_ns;
    } else if (now_ns - *since_ns > HANG_NS) {
        stress_fail("all hang after %llu acquisitions", (unsigned long long) *seen);
    }
}

static void stress_process(unsigned number)
{
    latch_engine *engine = stress_engine();
    latch_error error;
    latch_store *store = stress_open(engine, &error);

    if (store == NULL) {
        stress_fail("%s", error.message);
        _exit(1);
    }
    self.number = number;
    self.life = (uint64_t) getpid();
    self.random = self.life * UINT64_C(0x9e3779b97f4a7c15);
    stress_work(store);
    latch_store_close(store);
    latch_engine_destroy(engine);
    _exit(0);
}

static pid_t stress_start_process(unsigned number)
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        stress_process(number);
    }
    ledger->processes++;
    return pid;
}

static void processes_are_killed_anywhere(void **state)
{
    const struct timespec moment = {.tv_nsec = 2 * LATCH_NS_PER_MS};
    int64_t end_ns, since_ns;
    pid_t pids[WORKERS];
    uint64_t seen = 0;

    (void) state;
    uses_threads = false;
    self.random = 7;
    stress_begin();
    end_ns = stress_now_ns() + stress_length_ns();
    since_ns = stress_now_ns();
    for (unsigned at = 0; at < WORKERS; at++) {
        pids[at] = stress_start_process(at);
    }
    while (stress_now_ns() < end_ns && !ledger->stops) {
        pid_t pid;

        nanosleep(&moment, NULL);
        if (stress_random(3) == 0) {
            kill(pids[stress_random(WORKERS)], SIGKILL);
            ledger->killed++;
        }
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
            for (unsigned at = 0; at < WORKERS; at++) {
                if (pids[at] == pid) {
                    pids[at] = stress_start_process(at);
                }
            }
        }
        stress_expect_progress(&seen, &since_ns);
    }
    ledger->stops = true;
    for (unsigned at = 0; at < WORKERS; at++) {
        waitpid(pids[at], NULL, 0);
    }
    stress_end("processes");
}

/* ---- Threads as participants */

static latch_engine *thread_engine;

static void *stress_thread(void *number)
{
    latch_error error;
    latch_store *store = stress_open(thread_engine, &error);

    if (store == NULL) {
        stress_fail("%s", error.message);
        return NULL;
    }
    self.number = (unsigned) (uintptr_t) number;
    self.life = ledger->life[self.number];
    self.random = (self.life * WORKERS + self.number) * UINT64_C(0x9e3779b97f4a7c15);
    stress_work(store);
    latch_store_close(store);
    return NULL;
}

static void threads_end_anywhere(void **state)
{
    int64_t end_ns, since_ns;
    pthread_t threads[WORKERS];
    uint64_t seen = 0;

    (void) state;
    uses_threads = true;
    stress_begin();
    thread_engine = stress_engine();
    end_ns = stress_now_ns() + stress_length_ns();
    since_ns = stress_now_ns();
    for (uintptr_t at = 0; at < WORKERS; at++) {
        ledger->life[at] = 1;
        ledger->processes++;
        assert_int_equal(pthread_create(&threads[at], NULL, stress_thread, (void *) at), 0);
    }
    for (uintptr_t at = 0; !ledger->stops || at % WORKERS != 0; at++) {
        const struct timespec moment = {.tv_nsec = LATCH_NS_PER_MS / 4};
        void *result;

        nanosleep(&moment, NULL);
        if (stress_now_ns() >= end_ns) {
            ledger->stops = true;
        }
        if (pthread_tryjoin_np(threads[at % WORKERS], &result) == 0) {
            ledger->processes++;
            assert_int_equal(pthread_create(&threads[at % WORKERS], NULL, stress_thread,
                                            (void *) (at % WORKERS)),
                             0);
        }
        stress_expect_progress(&seen, &since_ns);
    }
    for (unsigned at = 0; at < WORKERS; at++) {
        pthread_join(threads[at], NULL);
    }
    stress_end("threads");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_are_killed_anywhere),
        cmocka_unit_test(threads_end_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
