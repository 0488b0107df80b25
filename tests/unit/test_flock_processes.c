/* Many processes that contend for one lock file, as in the field: never two at once, none fails. */
#include "unit.h"

#include <sys/mman.h>

#define PROCESSES 6
#define ROUNDS 300

/* What the lock guards; plain memory, so that an overlap loses counts. */
typedef struct shared {
    volatile int writers, count;
    _Atomic int readers, expected; /* the latter is what `count` should be */
} shared;

static shared *common;

static int setup(void **state)
{
    if (unit_setup_flock(state) != 0) {
        return -1;
    }
    common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return common != MAP_FAILED ? 0 : -1;
}

static int teardown(void **state)
{
    munmap(common, sizeof(*common));
    return unit_teardown(state);
}

static void write_once(void)
{
    int count = common->count;

    UNIT_CHECK(common->writers++ == 0);
    UNIT_CHECK(common->readers == 0);
    common->count = count + 1;
    UNIT_CHECK(--common->writers == 0);
}

static void read_once(void)
{
    common->readers++;
    UNIT_CHECK(common->writers == 0);
    common->readers--;
}

/* Waits endlessly, briefly or not at all, and gives some waits up. Returns whether it got it. */
static bool take(latch_lease *lease, latch_op_kind kind, int round)
{
    latch_op op;
    latch_status status;

    switch (round % 4) {
        case 0:
            status = unit_run(lease, kind);
            break;
        case 1:
            status = unit_run_waiting(lease, kind, 1);
            break;
        case 2:
            status = unit_begin(&op, lease, unit_waiting(kind, LATCH_NEVER));
            status = latch_wants(status) ? unit_cancel(&op) : status;
            break;
        default:
            status = unit_run_waiting(lease, kind, LATCH_NEVER);
            UNIT_CHECK(status == LATCH_DONE);
    }
    UNIT_CHECK(status == LATCH_DONE || status == LATCH_CONFLICT);
    UNIT_CHECK(unit_held(lease) == (status == LATCH_DONE));
    return status == LATCH_DONE;
}

static void contend(unit_process *self, void *remove)
{
    latch_lease *lease = unit_lease("r");

    lease->remove = *(bool *) remove;
    unit_hear(self); /* all start together */
    for (int round = 0; round < ROUNDS; round++) {
        bool writes = round % 3 != 0;

        if (!take(lease, writes ? LATCH_ACQUIRE : LATCH_ACQUIRE_SHARED, round)) {
            continue;
        }
        if (writes) {
            write_once();
            common->expected++;
        } else {
            read_once();
        }
        UNIT_CHECK(unit_run(lease, LATCH_RELEASE) == LATCH_DONE);
    }
}

static void run_contenders(bool remove)
{
    unit_process processes[PROCESSES];

    for (int at = 0; at < PROCESSES; at++) {
        processes[at] = unit_fork(contend, &remove);
    }
    for (int at = 0; at < PROCESSES; at++) {
        unit_say(&processes[at], 'g');
    }
    for (int at = 0; at < PROCESSES; at++) {
        unit_join(&processes[at]);
    }
    assert_true(common->expected >= PROCESSES * ROUNDS / 6);
    assert_int_equal(common->count, common->expected);
}

static void processes_never_overlap(void **state)
{
    (void) state;
    run_contenders(false);
}

static void processes_never_overlap_where_files_come_and_go(void **state)
{
    (void) state;
    run_contenders(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(processes_never_overlap, setup, teardown),
        cmocka_unit_test_setup_teardown(processes_never_overlap_where_files_come_and_go, setup,
                                        teardown),
    };

    return cmocka_run_group_tests_name("flock: processes", tests, NULL, NULL);
}
