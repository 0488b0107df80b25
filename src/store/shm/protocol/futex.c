/*
 * Sleeping and waking: futexes, which processes share by the file, whatever namespaces they are in.
 */
#include "src/store/shm/protocol/shm.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SHM_NS_PER_S INT64_C(1000000000)
#define SPINS 200
#define YIELDS 20
#define NAP_NS 50000
/* A guard is held for some instructions: its owner was stopped, by a signal or a debugger. */
#define PATIENCE_NS (5 * SHM_NS_PER_S)

/* struct futex_waitv of Linux 5.16, which older headers do not have. */
typedef struct shm_waitv {
    uint64_t value, address;
    uint32_t flags, reserved;
} shm_waitv;

#define SHM_SYS_FUTEX_WAITV 449 /* on all architectures */
#define SHM_FUTEX_32 2

static struct timespec shm_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = (time_t) (ns / SHM_NS_PER_S),
                             .tv_nsec = (long) (ns % SHM_NS_PER_S)};
}

static int64_t shm_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * SHM_NS_PER_S + now.tv_nsec;
}

/* False: the kernel has no such call, or a filter forbids it. */
static bool shm_sleep_on_all(const shm_watched *watched, uint32_t count, int64_t timeout_ns)
{
    static _Atomic bool is_missing;
    struct timespec end;
    shm_waitv all[SHM_WATCHES_MAX];

    if (is_missing) {
        return false;
    }
    for (uint32_t at = 0; at < count; at++) {
        all[at] = (shm_waitv){.value = watched[at].value,
                              .address = (uintptr_t) watched[at].word,
                              .flags = SHM_FUTEX_32};
    }
    end = shm_timespec(shm_now_ns() + timeout_ns);
    if (syscall(SHM_SYS_FUTEX_WAITV, all, count, 0, &end, CLOCK_MONOTONIC) >= 0 || errno == EAGAIN
        || errno == ETIMEDOUT || errno == EINTR) {
        return true;
    }
    is_missing = true;
    return false;
}

/* Without futex_waitv() a death is found when the caller looks again. */
void latch_shm_sleep(const shm_watched *watched, uint32_t count, int64_t timeout_ns)
{
    struct timespec left = shm_timespec(timeout_ns);

    if (count == 1 || !shm_sleep_on_all(watched, count, timeout_ns)) {
        syscall(SYS_futex, watched[0].word, FUTEX_WAIT, watched[0].value, &left, NULL, 0);
    }
}

void latch_shm_wake(shm_word *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
}

bool latch_shm_pause(uint32_t attempt)
{
    static _Thread_local int64_t give_up_ns;
    const struct timespec nap = {.tv_nsec = NAP_NS};

    if (attempt < SPINS) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
        return true;
    }
    if (attempt < SPINS + YIELDS) {
        sched_yield();
        return true;
    }
    if (attempt == SPINS + YIELDS) {
        give_up_ns = shm_now_ns() + PATIENCE_NS;
    }
    nanosleep(&nap, NULL);
    return shm_now_ns() < give_up_ns;
}
