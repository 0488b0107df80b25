/*
 * Turn: the holder of a lock file's lock may acquire it again ahead of the waiters, for so long and
 * so often. With shorter holds this saves most hand-offs, each a change of process; a longer hold
 * is a turn of its own.
 *
 * A release in a turn frees the process's number with the lock, as any release does, so that the
 * next waiter gets it if the process does not come back; in its next acquire the process takes the
 * number again. But the waiter is awake by then, and most often quicker. So a process that has come
 * back at once before keeps its number after such a release, and no waiter wakes. If it does not
 * come back after all, a helper thread gives the number back.
 */
#include "src/store/flock/flock.h"

#include "src/base/thread.h"

#include <fcntl.h>
#include <time.h>

#define TURN_NS (8 * LATCH_NS_PER_MS)
#define TURN_ACQUIRES 32

/* Time from a release to the next acquire of a process that comes back at once; and of one that
 * would have, had it not lost the processor for a while. */
#define AT_ONCE_NS (LATCH_NS_PER_MS / 5)
#define SOON_NS (5 * LATCH_NS_PER_MS)

/*
 * Number of returns at once, none later than soon between them, after which a number is kept. A
 * number that was kept in vain leaves the lock free for one or two periods of the helper, which is
 * as long as some twenty hand-offs take. So the process has to come back more often after that.
 */
#define RETURNS_ENOUGH 2
#define RETURNS_AFTER_MISTAKE (-14)

/* The helper gives back a number that has been kept for a whole period. Without such a number it
 * sleeps after so many periods. */
#define PERIOD_NS LATCH_NS_PER_MS
#define PERIODS_IDLE_MAX 20

#define NOTHING_KEPT (-1)

struct flock_turn_helper {
    pthread_t thread;
    unsigned generation;   /* of the process that has the thread */
    pthread_mutex_t mutex; /* guards the following */
    pthread_cond_t changed;
    int fd;          /* file whose lock is free and whose number is kept, or NOTHING_KEPT */
    unsigned serial; /* changes whenever a number is kept */
    bool sleeps;     /* until `changed` is signalled */
    bool stops;
};

static void await_period(flock_turn_helper *helper)
{
    struct timespec end;

    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += PERIOD_NS;
    if (end.tv_nsec >= LATCH_NS_PER_S) {
        end.tv_nsec -= LATCH_NS_PER_S;
        end.tv_sec++;
    }
    pthread_cond_timedwait(&helper->changed, &helper->mutex, &end);
}

static void *give_numbers_back(void *argument)
{
    flock_turn_helper *helper = argument;
    int idle = 0;

    pthread_mutex_lock(&helper->mutex);
    while (!helper->stops) {
        unsigned serial = helper->serial;
        bool kept = helper->fd != NOTHING_KEPT;

        if (idle >= PERIODS_IDLE_MAX && !kept) {
            helper->sleeps = true;
            pthread_cond_wait(&helper->changed, &helper->mutex);
            helper->sleeps = false;
            idle = 0;
            continue;
        }
        await_period(helper);
        idle = helper->serial == serial ? idle + 1 : 0;
        if (kept && helper->fd != NOTHING_KEPT && helper->serial == serial) {
            latch_flock_queue_leave(helper->fd);
            helper->fd = NOTHING_KEPT;
        }
    }
    pthread_mutex_unlock(&helper->mutex);
    return NULL;
}

static void free_helper(flock_store *store, flock_turn_helper *helper)
{
    pthread_cond_destroy(&helper->changed);
    pthread_mutex_destroy(&helper->mutex);
    latch_free(store->store.engine, helper);
}

static flock_turn_helper *make_helper(flock_store *store)
{
    flock_turn_helper *helper = latch_allocate(store->store.engine, sizeof(*helper));
    pthread_condattr_t attributes;

    if (helper == NULL) {
        return NULL;
    }
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&helper->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&helper->mutex, NULL);
    helper->generation = store->store.engine->generation;
    helper->fd = NOTHING_KEPT;
    helper->serial = 0;
    helper->sleeps = helper->stops = false;
    if (latch_thread_start(&helper->thread, give_numbers_back, helper) != 0) {
        free_helper(store, helper);
        return NULL;
    }
    return helper;
}

/* The store's helper if its thread is in this process; a forked child forgets its parent's. */
static flock_turn_helper *helper_of(flock_store *store)
{
    flock_turn_helper *helper = store->turn_helper;

    if (helper != NULL && helper->generation != store->store.engine->generation) {
        latch_free(store->store.engine, helper); /* its mutex may be locked for ever */
        store->turn_helper = helper = NULL;
    }
    return helper;
}

void latch_flock_turn_end_helper(flock_store *store)
{
    flock_turn_helper *helper = helper_of(store);

    store->turn_helper = NULL;
    if (helper == NULL) {
        return;
    }
    pthread_mutex_lock(&helper->mutex);
    helper->stops = true;
    pthread_cond_signal(&helper->changed);
    pthread_mutex_unlock(&helper->mutex);
    pthread_join(helper->thread, NULL);
    free_helper(store, helper);
}

void latch_flock_turn_begin(flock_file *file, int64_t now_ns, int64_t number)
{
    file->number = number;
    file->turn_ns = now_ns;
    file->turn_left = TURN_ACQUIRES;
}

bool latch_flock_turn_keep_number(flock_store *store, flock_file *file)
{
    flock_turn_helper *helper;
    bool keeps;

    if (!file->has_number) {
        return false;
    }
    file->left_ns = latch_engine_now_ns(store->store.engine);
    if (file->returns < RETURNS_ENOUGH || file->turn_left == 0
        || file->left_ns - file->turn_ns >= TURN_NS
        || latch_flock_queue_is_empty(file->descriptor.fd)) {
        return false;
    }
    helper = helper_of(store);
    if (helper == NULL) {
        helper = store->turn_helper = make_helper(store);
    }
    if (helper == NULL) {
        return false;
    }
    pthread_mutex_lock(&helper->mutex);
    keeps = helper->fd == NOTHING_KEPT; /* one number at a time */
    if (keeps) {
        helper->fd = file->descriptor.fd;
        helper->serial++;
        if (helper->sleeps) {
            pthread_cond_signal(&helper->changed);
        }
    }
    pthread_mutex_unlock(&helper->mutex);
    file->is_kept = keeps;
    return keeps;
}

void latch_flock_turn_reclaim_number(flock_store *store, flock_file *file)
{
    flock_turn_helper *helper;

    if (!file->is_kept) {
        return;
    }
    helper = helper_of(store);
    file->is_kept = file->has_number = false;
    if (helper == NULL) {
        return;
    }
    pthread_mutex_lock(&helper->mutex);
    if (helper->fd != NOTHING_KEPT && helper->fd == file->descriptor.fd) {
        helper->fd = NOTHING_KEPT;
        file->has_number = true;
    } else {
        file->returns = RETURNS_AFTER_MISTAKE;
    }
    pthread_mutex_unlock(&helper->mutex);
}

/* The first waiter has been woken: it goes back to sleep when it finds that number taken again. */
static void retake_number(flock_file *file)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

    lock.l_start = (off_t) file->number;
    file->has_number = fcntl(file->descriptor.fd, F_OFD_SETLK, &lock) == 0;
}

/* The process wants the lock again, so long after its last release. */
static void count_return(flock_file *file, int64_t away_ns)
{
    bool was_mistake = file->returns == RETURNS_AFTER_MISTAKE;

    if (away_ns < AT_ONCE_NS) {
        file->returns += file->returns < RETURNS_ENOUGH;
    } else if (was_mistake) {
        file->returns = away_ns < SOON_NS ? RETURNS_ENOUGH - 1 : RETURNS_AFTER_MISTAKE + 1;
    } else if (away_ns >= SOON_NS && file->returns > 0) {
        file->returns = 0;
    }
}

bool latch_flock_turn_continue(const flock_store *store, flock_file *file, bool exclusive)
{
    int64_t now_ns = latch_engine_now_ns(store->store.engine);

    count_return(file, now_ns - file->left_ns);
    if (file->turn_left == 0 || now_ns - file->turn_ns >= TURN_NS) {
        file->turn_left = 0;
        return false;
    }
    file->turn_left--;
    if (exclusive && file->number >= 0 && !file->has_number) {
        retake_number(file);
    }
    return true;
}
