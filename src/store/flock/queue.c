/*
 * The queue of those who wait for a lock file. The kernel's own is not fair: a release only wakes
 * the first waiter, and whoever asks before that one runs, most often the process that has just
 * released, takes the lock again. So each waiter on Latch takes a number first, the one behind the
 * highest that is taken, and calls flock(2) when nobody has a lower one (wait.c). A writer
 * gives its number back with the lock, so that the next one wakes once; a reader as soon as it has
 * the lock.
 *
 * A number is a byte of the lock file that is locked for writing with an open file description lock
 * (F_OFD_SETLK). It exists in the kernel alone: the file stays empty, flock(2) does not see it, and
 * it ends with its process, however that dies. The queue is seen by F_OFD_GETLK, and the end of a
 * predecessor is waited for by locking its byte for reading, which nobody takes for a number.
 *
 * A number that was found free is taken by one process; another one that wanted it looks again. So
 * whoever begins to look after a waiter has its number gets a higher one: each process overtakes a
 * waiter once at most, by a look that it had begun before.
 */
#include "src/store/flock/flock.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/*
 * An acquire of a lock that nobody has waited for looks for a queue, which costs a system call,
 * only if it might overtake somebody: soon after this process has released the lock, and once in a
 * tick of the coarse clock; and else once in so many times.
 */
#define LOOKS_SPARED_MAX 32
#define SOON_NS (20 * LATCH_NS_PER_MS)

/*
 * A turn: a process that has the lock, and wants it again when it has released it, may have it
 * before the waiters, for so long and so often. With holds that are shorter most hand-overs, a
 * change of process each, are saved; with longer ones each hold is a turn of its own.
 */
#define TURN_NS (3 * LATCH_NS_PER_MS)
#define TURN_ACQUIRES 32

/* An attempt without a wait may overtake those who wait once in this time. */
#define COURTESY_NS LATCH_NS_PER_S

/* How often a number is looked for that somebody else takes first. */
#define JOIN_ATTEMPTS_MAX 100

/*
 * A number that is taken, of all that are at least `from` and, unless `until` is 0, lower than
 * that; NONE: there is none. Of several it is any. Not our own.
 */
static int64_t find_taken(int fd, int64_t from, int64_t until)
{
    struct flock lock = {
        .l_type = F_RDLCK, /* it conflicts with numbers, not with those who wait for them */
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

static void begin_turn(flock_file *file, int64_t now_ns, int64_t number)
{
    file->number = number;
    file->turn_ns = now_ns;
    file->turn_left = TURN_ACQUIRES;
}

void latch_flock_queue_begin_turn(const flock_store *store, flock_file *file, int64_t number)
{
    begin_turn(file, latch_engine_now_ns(store->store.engine), number);
}

/* The first waiter has been woken: it goes back to sleep when it finds that number taken again. */
static void retake_number(flock_file *file)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

    lock.l_start = (off_t) file->number;
    file->has_number = fcntl(file->descriptor.fd, F_OFD_SETLK, &lock) == 0;
}

bool latch_flock_queue_look(flock_store *store, flock_file *file)
{
    int64_t now_ns;
    bool is_due;

    if (store->unsure_links) {
        return false;
    }
    now_ns = latch_flock_coarse_ns(store);
    is_due = now_ns != file->looked_ns && now_ns - file->released_ns < SOON_NS;
    if (!is_due && !file->is_wanted && store->looks_spared > 0) {
        store->looks_spared--;
        begin_turn(file, now_ns, LATCH_FLOCK_NONE);
        return false;
    }
    store->looks_spared = LOOKS_SPARED_MAX;
    file->looked_ns = now_ns;
    file->is_wanted = find_taken(file->descriptor.fd, 0, 0) >= 0;
    if (!file->is_wanted) {
        begin_turn(file, now_ns, LATCH_FLOCK_NONE);
    }
    return file->is_wanted;
}

bool latch_flock_queue_go_on(const flock_store *store, flock_file *file, bool exclusive)
{
    if (file->turn_left == 0
        || latch_engine_now_ns(store->store.engine) - file->turn_ns >= TURN_NS) {
        file->turn_left = 0;
        return false;
    }
    file->turn_left--;
    if (exclusive && file->number >= 0) {
        retake_number(file);
    }
    return true;
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
