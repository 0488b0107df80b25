/*
 * Lifecycle and event loop of the renewal thread: started with the first renewed lease, sleeps in
 * ppoll() until a descriptor is ready or a renewal is due, ends with the engine. All signals are
 * blocked in it, as PHP's handlers touch the interpreter.
 */
#include "src/renewal/renewal.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* Time limit of the join at the engine's destruction; the thread itself never blocks for long. */
#define JOIN_TIMEOUT_S 2
/* Longest sleep when memory was too short to poll all descriptors. */
#define SHORT_SLEEP_NS (100 * LATCH_NS_PER_MS)

/* ---- Event loop: descriptors and sleep --------------------------------------------------------
 */

/* Grows the array of polled descriptors by `count`; false when memory ran out. */
static bool make_room(latch_renewer *renewer, size_t count)
{
    size_t needed = renewer->polled_count + count;
    struct pollfd *polled;

    if (needed <= renewer->polled_size) {
        return true;
    }
    polled = latch_allocate(renewer->engine, 2 * needed * sizeof(*polled));
    if (polled == NULL) {
        return false;
    }
    if (renewer->polled_count > 0) {
        memcpy(polled, renewer->polled, renewer->polled_count * sizeof(*polled));
    }
    latch_free(renewer->engine, renewer->polled);
    renewer->polled = polled;
    renewer->polled_size = 2 * needed;
    return true;
}

/* Adds a descriptor, or its events: many requests wait for one connection. */
static void poll_for(latch_renewer *renewer, int fd, short events)
{
    for (size_t at = renewer->polled_count; at-- > 0;) {
        if (renewer->polled[at].fd == fd) {
            renewer->polled[at].events |= events;
            return;
        }
    }
    renewer->polled[renewer->polled_count++] = (struct pollfd){.fd = fd, .events = events};
}

/* The earlier of `wake_ns` and the next check of descriptors that could not be polled. */
static int64_t soon(const latch_renewer *renewer, int64_t wake_ns)
{
    int64_t soon_ns = latch_engine_now_ns(renewer->engine) + SHORT_SLEEP_NS;

    return soon_ns < wake_ns ? soon_ns : wake_ns;
}

/* Polls for the requests in flight; returns when the first of them must be stepped. */
static int64_t poll_for_flight(latch_renewer *renewer, const latch_renewal_store *clone,
                               int64_t wake_ns)
{
    int last_fd = -1;

    for (latch_link *link = clone->flight.next; link != &clone->flight; link = link->next) {
        const latch_renewal *renewal = LATCH_CONTAINER(link, latch_renewal, flight);
        const latch_op *op = &renewal->op;
        struct pollfd descriptors[LATCH_DESCRIPTORS_MAX];
        size_t count;

        wake_ns = op->wake_ns < wake_ns ? op->wake_ns : wake_ns;
        if (renewal->status != LATCH_WANT_IO || (op->fd >= 0 && op->fd == last_fd)) {
            continue;
        }
        last_fd = op->fd;
        count = latch_op_descriptors(op, descriptors);
        if (!make_room(renewer, count)) {
            return soon(renewer, wake_ns);
        }
        for (size_t at = 0; at < count; at++) {
            poll_for(renewer, descriptors[at].fd, descriptors[at].events);
        }
    }
    return wake_ns;
}

/*
 * Polls for the end of watched descriptors; with the mutex held. Watches of one descriptor mostly
 * follow each other in the list, so that comparing with the last one removes duplicates. False when
 * memory ran out.
 */
static bool poll_for_watches(latch_renewer *renewer)
{
    int last_fd = -1;

    for (latch_link *link = renewer->renewals.next; link != &renewer->renewals; link = link->next) {
        const latch_renewal *renewal = LATCH_CONTAINER(link, latch_renewal, link);
        const latch_descriptor *descriptor = renewal->is_watched ? renewal->watch.descriptor : NULL;

        if (descriptor == NULL || descriptor->fd == last_fd) {
            continue;
        }
        if (!make_room(renewer, 1)) {
            return false;
        }
        last_fd = descriptor->fd;
        renewer->polled[renewer->polled_count++] =
            (struct pollfd){.fd = last_fd, .events = POLLRDHUP};
    }
    return true;
}

static void poll_until(latch_renewer *renewer, int64_t wake_ns)
{
    int64_t left_ns = wake_ns - latch_engine_now_ns(renewer->engine);
    struct timespec left;

    left_ns = left_ns > 0 ? left_ns : 0;
    left.tv_sec = (time_t) (left_ns / LATCH_NS_PER_S);
    left.tv_nsec = (long) (left_ns % LATCH_NS_PER_S);
    pthread_mutex_unlock(&renewer->run_mutex);
    ppoll(renewer->polled, renewer->polled_count, wake_ns == LATCH_NEVER ? NULL : &left, NULL);
    pthread_mutex_lock(&renewer->run_mutex);
}

/* Sleeps until the next run is due; has_watch_ended: check the watches in it. False: stop. */
static bool sleep_until_due(latch_renewer *renewer, bool *has_watch_ended)
{
    size_t first_watch;
    int64_t wake_ns;
    uint64_t count;
    bool goes_on, sees_all;

    renewer->polled_count = 0;
    sees_all = make_room(renewer, 1);
    if (sees_all) {
        poll_for(renewer, renewer->wake.fd, POLLIN);
    }
    pthread_mutex_lock(&renewer->mutex);
    goes_on = !renewer->is_stopping;
    wake_ns = renewer->wake_ns;
    pthread_mutex_unlock(&renewer->mutex);
    for (latch_link *link = renewer->active.next; link != &renewer->active; link = link->next) {
        wake_ns =
            poll_for_flight(renewer, LATCH_CONTAINER(link, latch_renewal_store, active), wake_ns);
    }
    first_watch = renewer->polled_count;
    pthread_mutex_lock(&renewer->mutex);
    sees_all = poll_for_watches(renewer) && sees_all;
    pthread_mutex_unlock(&renewer->mutex);
    if (!sees_all) {
        wake_ns = soon(renewer, wake_ns);
    }
    if (goes_on) {
        poll_until(renewer, wake_ns);
    }
    *has_watch_ended = false;
    for (size_t at = first_watch; at < renewer->polled_count; at++) {
        *has_watch_ended |= renewer->polled[at].revents != 0;
    }
    while (read(renewer->wake.fd, &count, sizeof(count)) < 0 && errno == EINTR) {
    }
    return goes_on;
}

/* ---- Lifecycle --------------------------------------------------------------------------------
 */

latch_status latch_renewer_make(latch_engine *engine, latch_error *error)
{
    latch_renewer *renewer = latch_allocate(engine, sizeof(*renewer));

    if (renewer == NULL) {
        return latch_fail_memory(error);
    }
    memset(renewer, 0, sizeof(*renewer));
    renewer->engine = engine;
    if (latch_hash_init(&renewer->table, engine, error) != LATCH_DONE) {
        latch_free(engine, renewer);
        return error->status;
    }
    pthread_mutex_init(&renewer->run_mutex, NULL);
    pthread_mutex_init(&renewer->mutex, NULL);
    sem_init(&renewer->started, 0, 0);
    latch_list_init(&renewer->renewals);
    latch_list_init(&renewer->mailboxes);
    latch_list_init(&renewer->clones);
    latch_list_init(&renewer->removed);
    latch_list_init(&renewer->forgotten);
    latch_list_init(&renewer->active);
    latch_descriptor_register(engine, &renewer->wake, -1);
    renewer->wake_ns = renewer->next_watch_ns = LATCH_NEVER;
    engine->renewer = renewer;
    engine->observer = &latch_renewal_observer;
    return LATCH_DONE;
}

static void *run(void *argument)
{
    latch_renewer *renewer = argument;
    bool has_watch_ended = false;

    sem_post(&renewer->started);
    pthread_mutex_lock(&renewer->run_mutex);
    do {
        latch_renewer_run_once(renewer, has_watch_ended);
    } while (sleep_until_due(renewer, &has_watch_ended));
    pthread_mutex_unlock(&renewer->run_mutex);
    return NULL;
}

/* Returns once the thread runs: its start-up holds no mutex that a fork would wait for. */
static int start_thread(latch_renewer *renewer)
{
    int result = latch_thread_start(&renewer->thread, run, renewer);

    while (result == 0 && sem_wait(&renewer->started) != 0) {
        /* a signal */
    }
    return result;
}

latch_status latch_renewer_start(latch_renewer *renewer, latch_error *error)
{
    int fd, result;

    if (renewer->wake.fd >= 0) {
        return LATCH_DONE;
    }
    /* The copies that a fork has left. */
    latch_renewals_abandon(renewer);
    latch_renewals_free_removed(renewer);
    fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) {
        return latch_fail(error, LATCH_ERROR_SYSTEM, errno,
                          "cannot start the thread that renews locks: %s", strerror(errno));
    }
    latch_descriptor_unregister(renewer->engine, &renewer->wake);
    latch_descriptor_register(renewer->engine, &renewer->wake, fd);
    result = start_thread(renewer);
    if (result != 0) {
        latch_descriptor_close(renewer->engine, &renewer->wake);
        return latch_fail(error, LATCH_ERROR_SYSTEM, result,
                          "cannot start the thread that renews locks: %s", strerror(result));
    }
    return LATCH_DONE;
}

void latch_renewer_wake(latch_renewer *renewer)
{
    static const uint64_t one = 1;

    while (write(renewer->wake.fd, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
}

static bool stop(latch_renewer *renewer)
{
    struct timespec end;

    if (renewer->wake.fd < 0) {
        return true;
    }
    pthread_mutex_lock(&renewer->mutex);
    renewer->is_stopping = true;
    pthread_mutex_unlock(&renewer->mutex);
    latch_renewer_wake(renewer);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += JOIN_TIMEOUT_S;
    if (pthread_timedjoin_np(renewer->thread, NULL, &end) != 0) {
        pthread_detach(renewer->thread);
        return false;
    }
    latch_descriptor_close(renewer->engine, &renewer->wake);
    return true;
}

static void move_all(latch_link *to, latch_link *from)
{
    while (from->next != from) {
        latch_link *link = from->next;

        latch_list_remove(link);
        latch_list_append(to, link);
    }
}

bool latch_renewer_destroy(latch_renewer *renewer)
{
    latch_engine *engine = renewer->engine;

    if (!stop(renewer)) {
        return false;
    }
    latch_renewals_abandon(renewer);
    latch_renewals_free_removed(renewer);
    move_all(&renewer->clones, &renewer->forgotten);
    while (renewer->clones.next != &renewer->clones) {
        latch_renewal_store_close(renewer,
                                  LATCH_CONTAINER(renewer->clones.next, latch_renewal_store, link));
    }
    latch_hash_end(&renewer->table);
    latch_free(engine, renewer->polled);
    sem_destroy(&renewer->started);
    pthread_mutex_destroy(&renewer->mutex);
    pthread_mutex_destroy(&renewer->run_mutex);
    latch_free(engine, renewer);
    return true;
}

/* ---- Forks ------------------------------------------------------------------------------------
 */

void latch_renewer_before_fork(latch_renewer *renewer)
{
    pthread_mutex_lock(&renewer->run_mutex);
    pthread_mutex_lock(&renewer->mutex);
}

void latch_renewer_after_fork_in_parent(latch_renewer *renewer)
{
    pthread_mutex_unlock(&renewer->mutex);
    pthread_mutex_unlock(&renewer->run_mutex);
}

/*
 * The child has no renewal thread, and no lease is renewed in it. The copied records are freed when
 * a thread is started, or at the end: free() is not async-signal-safe, as the child of a process
 * with threads needs it.
 */
void latch_renewer_after_fork_in_child(latch_renewer *renewer)
{
    for (latch_link *link = renewer->mailboxes.next; link != &renewer->mailboxes;
         link = link->next) {
        latch_list_init(&LATCH_CONTAINER(link, latch_mailbox, link)->losses);
    }
    latch_hash_drain(&renewer->table);
    while (renewer->renewals.next != &renewer->renewals) {
        latch_renewal *renewal = LATCH_CONTAINER(renewer->renewals.next, latch_renewal, link);

        latch_renewal_sync_deadline(renewal, INT64_MIN);
        latch_list_remove(&renewal->link);
        if (!renewal->is_in_flight) { /* else it is in its clone's list */
            latch_list_append(&renewer->removed, &renewal->link);
        }
    }
    move_all(&renewer->forgotten, &renewer->clones);
    latch_list_remove(&renewer->wake.link);
    latch_list_init(&renewer->wake.link);
    renewer->wake_ns = renewer->next_watch_ns = LATCH_NEVER;
    pthread_mutex_unlock(&renewer->mutex);
    pthread_mutex_unlock(&renewer->run_mutex);
}
