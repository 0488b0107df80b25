/*
 * One run of the renewal thread: steps the requests in flight, applies their outcomes, and sends
 * the renewals that are due, batched for each server.
 */
#include "src/renewal/renewal.h"

#include <stdio.h>
#include <string.h>

/* Batching: a renewal that is due within a sixth of its TTL joins one that is due now. */
#define SOON_PARTS 6
/* Response timeout: a third of the TTL, which leaves time for a retry; but never so short that a
   distant or briefly paused server is taken for dead. */
#define RESPONSE_TIMEOUT_PARTS 3
#define MIN_RESPONSE_TIMEOUT_MS 250
/* Exponential back-off, shared by all that failed at one server: doubled from the first pause to
   the longest, +-10 %; capped at a quarter of the time that a hold has left, so that a recovery in
   time is noticed in time. */
#define FIRST_PAUSE_NS (20 * LATCH_NS_PER_MS)
#define LONGEST_PAUSE_NS LATCH_NS_PER_S
#define PAUSE_PARTS 4
/* Poll interval of watches without a descriptor (files, semaphores). */
#define WATCH_PAUSE_NS LATCH_NS_PER_S

/* ---- Outcomes ---------------------------------------------------------------------------------
 */

static int64_t pause_ns(const latch_renewer *renewer, unsigned failures)
{
    int64_t pause = FIRST_PAUSE_NS;

    for (unsigned at = 1; at < failures && pause < LONGEST_PAUSE_NS; at++) {
        pause *= 2;
    }
    if (pause > LONGEST_PAUSE_NS) {
        pause = LONGEST_PAUSE_NS;
    }
    return latch_jittered_ns(renewer->engine, pause);
}

/* When to retry: at the end of the server's current pause, or earlier if the hold ends first. */
static int64_t retry_ns(const latch_renewal *renewal, int64_t now_ns)
{
    latch_renewal_store *clone = renewal->clone;
    int64_t longest_ns = (renewal->deadline_ns - now_ns) / PAUSE_PARTS;

    if (clone->retry_ns <= now_ns) {
        bool is_new = now_ns - clone->retry_ns > LONGEST_PAUSE_NS;

        clone->failures = is_new ? 1 : clone->failures + 1;
        clone->retry_ns = now_ns + pause_ns(renewal->renewer, clone->failures);
    }
    if (longest_ns < FIRST_PAUSE_NS) {
        longest_ns = FIRST_PAUSE_NS;
    }
    return clone->retry_ns < now_ns + longest_ns ? clone->retry_ns : now_ns + longest_ns;
}

/* Applies a renewal; the shortest TTL that was requested meanwhile counts. */
static void succeed(latch_renewal *renewal, int64_t now_ns)
{
    int64_t deadline_ns = renewal->clone_lease->deadline_ns;

    if (renewal->ttl_ms < renewal->sent_ttl_ms) {
        deadline_ns -= latch_ms_to_ns(renewal->sent_ttl_ms - renewal->ttl_ms);
    }
    if (deadline_ns > renewal->deadline_ns) {
        renewal->deadline_ns = deadline_ns;
    }
    renewal->failures = renewal->clone->failures = 0;
    latch_renewal_schedule_next(renewal, now_ns);
}

/* Applies the outcome of one request; with the mutex held. */
static void apply_outcome(latch_renewal *renewal, int64_t now_ns)
{
    renewal->is_in_flight = false;
    if (renewal->is_removed) {
        latch_renewal_free(renewal);
        return;
    }
    if (renewal->state != LATCH_RENEWAL_HELD || renewal->epoch != renewal->sent_epoch) {
        return; /* the request was for a hold that is over */
    }
    switch (renewal->status) {
        case LATCH_DONE:
            succeed(renewal, now_ns);
            break;
        case LATCH_CONFLICT:
        case LATCH_ERROR_LOST:
            latch_renewal_lose(renewal, now_ns, "it has another holder, or none any more");
            break;
        default:
            renewal->failures++;
            snprintf(renewal->reason, sizeof(renewal->reason), "%.250s", renewal->error.message);
            latch_renewal_schedule_next(renewal, now_ns);
            if (renewal->due_ns != LATCH_NEVER) {
                renewal->due_ns = retry_ns(renewal, now_ns);
            }
            break;
    }
}

static void cork(const latch_renewal_store *clone, bool on)
{
    if (clone->store->class->cork != NULL) {
        clone->store->class->cork(clone->store, on);
    }
}

/* Steps each request in flight to one server once; true if one has failed. */
static bool step_each(latch_renewal_store *clone, latch_link *ended, int64_t now_ns)
{
    bool has_failed = false;
    int64_t sent_ns;
    int waiting_fd = -1, fd;

    for (latch_link *link = clone->flight.next; link != &clone->flight;) {
        latch_renewal *renewal = LATCH_CONTAINER(link, latch_renewal, flight);

        link = link->next;
        if (renewal->op.fd >= 0 && renewal->op.fd == waiting_fd && now_ns < renewal->op.wake_ns) {
            continue;
        }
        fd = renewal->op.fd;
        sent_ns = renewal->op.sent_ns;
        renewal->status = latch_op_step(&renewal->op, now_ns);
        if (latch_wants(renewal->status)) {
            /* Replies come in order: after one that is missing, the rest of the connection waits.
             */
            bool is_as_before = renewal->status == LATCH_WANT_IO && renewal->op.fd == fd
                                && renewal->op.sent_ns == sent_ns;

            waiting_fd = is_as_before ? fd : -1;
            if (renewal->op.sent_ns != sent_ns) {
                /* Sent anew, perhaps after others: keep the list in the order of sending. */
                latch_list_remove(&renewal->flight);
                latch_list_append(&clone->flight, &renewal->flight);
            }
        } else {
            latch_list_remove(&renewal->flight);
            latch_list_append(ended, &renewal->flight);
            has_failed |= latch_failed(renewal->status);
        }
    }
    return has_failed;
}

/* Steps the requests in flight to one server. */
static void step_all(latch_renewal_store *clone, latch_link *ended, int64_t now_ns)
{
    cork(clone, true); /* a connection that is ready now gets all requests in one packet */
    while (step_each(clone, ended, now_ns)) {
        /* A failure closes the connection: requests that were stepped before must be again. */
    }
    cork(clone, false);
}

/* Applies all outcomes; with the mutex held. */
static void apply_outcomes(latch_link *ended, int64_t now_ns)
{
    while (ended->next != ended) {
        latch_renewal *renewal = LATCH_CONTAINER(ended->next, latch_renewal, flight);

        latch_list_remove(&renewal->flight);
        apply_outcome(renewal, now_ns);
    }
}

/* ---- What is due ------------------------------------------------------------------------------
 */

static int64_t ttl_of(const latch_renewal *renewal, int64_t now_ns)
{
    int64_t left_ms = renewal->end_ns == LATCH_NEVER ? INT64_MAX
                                                     : (renewal->end_ns - now_ns) / LATCH_NS_PER_MS;

    return left_ms < renewal->ttl_ms ? left_ms : renewal->ttl_ms;
}

static bool is_due(const latch_renewal *renewal, int64_t now_ns)
{
    int64_t soon_ns = renewal->failures > 0 ? FIRST_PAUSE_NS / 2
                                            : latch_ms_to_ns(renewal->ttl_ms) / SOON_PARTS;

    return renewal->state == LATCH_RENEWAL_HELD && !renewal->is_in_flight
           && renewal->due_ns != LATCH_NEVER && renewal->due_ns - soon_ns <= now_ns;
}

/* Is it due by itself, without a batch to join? */
static bool is_overdue(const latch_renewal *renewal, int64_t now_ns)
{
    return is_due(renewal, now_ns) && renewal->due_ns <= now_ns;
}

/* Gives the cloned lease the tokens of its original. False when memory ran out. */
static bool copy_tokens(latch_renewal *renewal)
{
    latch_lease *leaves[LATCH_DESCRIPTORS_MAX];
    size_t count = latch_lease_leaves(renewal->clone_lease, leaves, LATCH_DESCRIPTORS_MAX);
    latch_error error;

    for (size_t at = 0; at < count; at++) {
        const char *token = latch_renewal_token(renewal, at);
        uint16_t length;

        memcpy(&length, token, sizeof(length));
        token += sizeof(length);
        if (latch_lease_has_token(leaves[at], token, length)) {
            continue;
        }
        latch_lease_drop(leaves[at]);
        leaves[at]->deadline_ns = LATCH_NEVER;
        if (length > 0 && latch_lease_set_token(leaves[at], token, length, &error) != LATCH_DONE) {
            return false;
        }
    }
    return true;
}

/* Queues a renewal to be sent in this run; with the mutex held. */
static void enqueue(latch_renewal *renewal, int64_t now_ns)
{
    renewal->is_in_flight = renewal->was_in_flight = true;
    renewal->sent_epoch = renewal->epoch;
    renewal->sent_ttl_ms = ttl_of(renewal, now_ns);
    renewal->status = LATCH_WANT_TIMER;
    if (!copy_tokens(renewal)) {
        renewal->status = latch_fail_memory(&renewal->error);
    }
    latch_list_append(&renewal->clone->due, &renewal->flight);
}

static void activate(latch_renewer *renewer, latch_renewal_store *clone)
{
    clone->is_due = true;
    if (!clone->is_active) {
        clone->is_active = true;
        latch_list_append(&renewer->active, &clone->active);
    }
}

/* Queues what is due, and what joins the same batch; with the mutex held. */
static void enqueue_due(latch_renewer *renewer, int64_t now_ns)
{
    for (latch_link *link = renewer->renewals.next; link != &renewer->renewals; link = link->next) {
        latch_renewal *renewal = LATCH_CONTAINER(link, latch_renewal, link);

        latch_renewal_lose_if_over(renewal, now_ns);
        if (is_overdue(renewal, now_ns)) {
            activate(renewer, renewal->clone);
        }
    }
    for (latch_link *link = renewer->renewals.next; link != &renewer->renewals; link = link->next) {
        latch_renewal *renewal = LATCH_CONTAINER(link, latch_renewal, link);

        if (is_due(renewal, now_ns) && renewal->clone->is_due) {
            enqueue(renewal, now_ns);
        }
    }
}

static void begin(latch_renewal *renewal)
{
    int64_t response_timeout_ms = latch_ms_to_ns(renewal->sent_ttl_ms) / LATCH_NS_PER_MS
                                  / RESPONSE_TIMEOUT_PARTS;
    const latch_request request = {
        .kind = LATCH_REFRESH,
        .ttl_ms = renewal->sent_ttl_ms,
        .extend = true,
        .response_timeout_ms = response_timeout_ms > MIN_RESPONSE_TIMEOUT_MS
                                   ? response_timeout_ms
                                   : MIN_RESPONSE_TIMEOUT_MS,
    };

    if (!latch_failed(renewal->status)) {
        renewal->status =
            latch_op_begin(&renewal->op, renewal->clone_lease, &request, &renewal->error);
    }
}

/* Sends the queued renewals of one server, in one batch where the store can. */
static void begin_all(latch_renewal_store *clone, latch_link *ended)
{
    cork(clone, true);
    while (clone->due.next != &clone->due) {
        latch_renewal *renewal = LATCH_CONTAINER(clone->due.next, latch_renewal, flight);

        latch_list_remove(&renewal->flight);
        begin(renewal);
        latch_list_append(latch_wants(renewal->status) ? &clone->flight : ended, &renewal->flight);
    }
    cork(clone, false);
    clone->is_due = false;
}

/* ---- Watches ----------------------------------------------------------------------------------
 */

static bool has_ended(const latch_watch *watch)
{
    struct pollfd polled = {.fd = watch->descriptor->fd, .events = POLLRDHUP};

    return poll(&polled, 1, 0) > 0;
}

/* Checks all watches for a lost hold; with the mutex held. */
static void check_watches(latch_renewer *renewer, int64_t now_ns)
{
    renewer->next_watch_ns = LATCH_NEVER;
    for (latch_link *link = renewer->renewals.next; link != &renewer->renewals; link = link->next) {
        latch_renewal *renewal = LATCH_CONTAINER(link, latch_renewal, link);
        latch_watch *watch = &renewal->watch;

        if (!renewal->is_watched) {
            continue;
        }
        if (watch->is_gone != NULL ? watch->is_gone(watch) : has_ended(watch)) {
            latch_renewal_lose(renewal, now_ns, "what held it in its store has ended");
            continue;
        }
        if (watch->is_gone != NULL) {
            renewer->next_watch_ns = now_ns + WATCH_PAUSE_NS;
        }
    }
}

/* ---- One run ----------------------------------------------------------------------------------
 */

void latch_renewals_free_removed(latch_renewer *renewer)
{
    while (renewer->removed.next != &renewer->removed) {
        latch_link *link = renewer->removed.next;

        latch_list_remove(link);
        latch_renewal_free(LATCH_CONTAINER(link, latch_renewal, link));
    }
}

void latch_renewals_abandon(latch_renewer *renewer)
{
    while (renewer->active.next != &renewer->active) {
        latch_renewal_store *clone =
            LATCH_CONTAINER(renewer->active.next, latch_renewal_store, active);

        latch_list_remove(&clone->active);
        clone->is_active = false;
        while (clone->flight.next != &clone->flight) {
            latch_renewal *renewal = LATCH_CONTAINER(clone->flight.next, latch_renewal, flight);

            latch_list_remove(&renewal->flight);
            clone->store->class->abandon(&renewal->op);
            latch_renewal_free(renewal);
        }
    }
}

/* When the next run is due, whatever is in flight; with the mutex held. */
static int64_t next_run_ns(const latch_renewer *renewer)
{
    int64_t wake_ns = renewer->next_watch_ns;

    for (latch_link *link = renewer->renewals.next; link != &renewer->renewals; link = link->next) {
        int64_t its_ns = latch_renewal_wake_ns(LATCH_CONTAINER(link, latch_renewal, link));

        wake_ns = its_ns < wake_ns ? its_ns : wake_ns;
    }
    return wake_ns;
}

void latch_renewer_run_once(latch_renewer *renewer, bool has_watch_ended)
{
    int64_t now_ns = latch_engine_now_ns(renewer->engine);
    latch_link ended;

    latch_list_init(&ended);
    for (latch_link *link = renewer->active.next; link != &renewer->active;) {
        latch_renewal_store *clone = LATCH_CONTAINER(link, latch_renewal_store, active);

        link = link->next;
        step_all(clone, &ended, now_ns);
        if (clone->flight.next == &clone->flight) {
            latch_list_remove(&clone->active);
            clone->is_active = false;
        }
    }
    pthread_mutex_lock(&renewer->mutex);
    apply_outcomes(&ended, now_ns);
    latch_renewals_free_removed(renewer);
    latch_renewal_stores_close_unused(renewer);
    if (has_watch_ended || now_ns >= renewer->next_watch_ns) {
        check_watches(renewer, now_ns);
    }
    enqueue_due(renewer, now_ns);
    pthread_mutex_unlock(&renewer->mutex);

    for (latch_link *link = renewer->active.next; link != &renewer->active; link = link->next) {
        begin_all(LATCH_CONTAINER(link, latch_renewal_store, active), &ended);
    }
    pthread_mutex_lock(&renewer->mutex);
    apply_outcomes(&ended, now_ns);
    renewer->wake_ns = next_run_ns(renewer);
    pthread_mutex_unlock(&renewer->mutex);
}
