/*
 * Queue of waiters for a lock file (ticket lock). The kernel's own queue is not fair: a release
 * only wakes the first waiter, and a process that calls flock(2) before that waiter runs, most
 * often the previous holder, gets the lock again. So each waiter takes a number, the one after the
 * highest, and calls flock(2) when no lower number is taken (wait.c). A writer frees its number
 * with the lock, so that the next waiter wakes once; a reader as soon as it has the lock.
 *
 * A number is a byte of the lock file, locked for writing by an open file description lock
 * (F_OFD_SETLK). It exists in the kernel alone: the file stays empty, flock(2) does not see it, and
 * it ends with its process, however that dies. F_OFD_GETLK shows the queue. A waiter awaits the end
 * of its predecessor by locking that byte for reading: a read lock is no number.
 *
 * One process alone can take a free number; another one that wanted it searches again. So a process
 * that begins its search after a waiter has its number gets a higher one: each process overtakes a
 * waiter at most once, by a search that it had begun before.
 */
#include "src/store/flock/flock.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/*
 * A check for a queue costs a system call. An acquire of a lock without known waiters makes it only
 * if it is likely to overtake one: soon after this process has released the lock, once in a tick of
 * the coarse clock; otherwise once in so many times.
 */
#define CHECKS_SPARED_MAX 32
#define SOON_NS (20 * LATCH_NS_PER_MS)

/* An attempt without a wait may overtake the waiters once in this time. */
#define COURTESY_NS LATCH_NS_PER_S

/* Attempts to take a number before other processes do. */
#define JOIN_ATTEMPTS_MAX 100

/*
 * Any number that another process has taken in [from, until), or from `from` on if `until` is 0;
 * LATCH_FLOCK_NONE: there is none.
 */
static int64_t find_taken(int fd, int64_t from, int64_t until)
{
    struct flock lock = {
        .l_type = F_RDLCK, /* conflicts with numbers, not with the read locks of waiters */
        .l_whence = SEEK_SET,
        .l_start = (off_t) from,
        .l_len = until > 0 ? (off_t) (until - from) : 0,
    };

    if (fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) {
        return LATCH_FLOCK_NONE;
    }
    return lock.l_pid == -1 ? (int64_t) lock.l_start : LATCH_FLOCK_NONE; /* else: a program's own */
}

/* The highest number lower than `until` (0: of all). By steps that grow: numbers stand closely. */
static int64_t find_last(int fd, int64_t until)
{
    int64_t last = find_taken(fd, 0, until), step = 1;

    while (last >= 0 && step > 0) {
        bool beyond = until > 0 && last + step >= until;
        int64_t found = beyond ? LATCH_FLOCK_NONE : find_taken(fd, last + step, until);

        if (found > last) {
            last = found;
            step *= 2;
        } else {
            step /= 2;
        }
    }
    return last;
}

int64_t latch_flock_queue_first(int fd, int64_t number)
{
    int64_t first = LATCH_FLOCK_NONE, found = find_taken(fd, 0, number > 0 ? number : 0);

    while (found >= 0) {
        first = found;
        found = first > 0 ? find_taken(fd, 0, first) : LATCH_FLOCK_NONE;
    }
    return first;
}

bool latch_flock_queue_is_empty(int fd)
{
    return find_taken(fd, 0, 0) < 0;
}

int64_t latch_flock_queue_ahead(int fd, int64_t number)
{
    return number > 0 ? find_last(fd, number) : LATCH_FLOCK_NONE;
}

int64_t latch_flock_queue_join(const flock_store *store, const flock_file *file, int64_t *ahead)
{
    int fd = file->descriptor.fd;

    *ahead = LATCH_FLOCK_NONE;
    for (int attempts = 0; attempts < JOIN_ATTEMPTS_MAX && !store->unsure_links; attempts++) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

        *ahead = find_last(fd, 0);
        lock.l_start = (off_t) (*ahead + 1);
        if (fcntl(fd, F_OFD_SETLK, &lock) == 0) {
            return *ahead + 1;
        }
        if (errno != EAGAIN && errno != EACCES && errno != EINTR) {
            break; /* a file that we may only read; or locks of this kind are not to be had */
        }
    }
    return LATCH_FLOCK_NONE;
}

void latch_flock_queue_leave(int fd)
{
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

    fcntl(fd, F_OFD_SETLK, &lock);
}

bool latch_flock_queue_has_waiters(flock_store *store, flock_file *file)
{
    int64_t now_ns;
    bool is_due;

    if (store->unsure_links) {
        return false;
    }
    now_ns = latch_flock_coarse_ns(store);
    is_due = now_ns != file->checked_ns && now_ns - file->released_ns < SOON_NS;
    if (!is_due && !file->is_wanted && store->checks_spared > 0) {
        store->checks_spared--;
        latch_flock_turn_begin(file, now_ns, LATCH_FLOCK_NONE);
        return false;
    }
    store->checks_spared = CHECKS_SPARED_MAX;
    file->checked_ns = now_ns;
    file->is_wanted = !latch_flock_queue_is_empty(file->descriptor.fd);
    if (!file->is_wanted) {
        latch_flock_turn_begin(file, now_ns, LATCH_FLOCK_NONE);
    }
    return file->is_wanted;
}

bool latch_flock_queue_overtake(const flock_store *store, flock_file *file)
{
    int64_t now_ns = latch_flock_coarse_ns(store);

    if (now_ns - file->overtook_ns < COURTESY_NS) {
        return false;
    }
    file->overtook_ns = now_ns;
    return true;
}
