/* State of each renewed lease: held until when, next renewal, loss. See renewal.h. */
#include "src/renewal/renewal.h"

#include <stdio.h>
#include <string.h>

/* Renewed when a third of the TTL has passed: two more tries fit into the rest. */
#define PARTS 3
#define LEAST_GAIN_PARTS 10

/* ---- Mailboxes and records --------------------------------------------------------------------
 */

latch_mailbox *latch_mailbox_open(latch_engine *engine, void (*notify)(void *context),
                                  void *context)
{
    latch_mailbox *mailbox = latch_allocate(engine, sizeof(*mailbox));
    latch_status status = LATCH_DONE;
    latch_error error;

    if (mailbox == NULL) {
        return NULL;
    }
    pthread_mutex_lock(&engine->renewer_mutex);
    if (engine->renewer == NULL) {
        status = latch_renewer_make(engine, &error);
    }
    pthread_mutex_unlock(&engine->renewer_mutex);
    if (status != LATCH_DONE) {
        latch_free(engine, mailbox);
        return NULL;
    }
    *mailbox = (latch_mailbox){.engine = engine, .notify = notify, .context = context};
    latch_list_init(&mailbox->losses);
    pthread_mutex_lock(&engine->renewer->mutex);
    latch_list_append(&engine->renewer->mailboxes, &mailbox->link);
    pthread_mutex_unlock(&engine->renewer->mutex);
    return mailbox;
}

void latch_mailbox_close(latch_mailbox *mailbox)
{
    latch_renewer *renewer;

    if (mailbox == NULL) {
        return;
    }
    renewer = mailbox->engine->renewer;
    pthread_mutex_lock(&renewer->mutex);
    latch_list_remove(&mailbox->link);
    pthread_mutex_unlock(&renewer->mutex);
    latch_free(mailbox->engine, mailbox);
}

static latch_renewal *find(latch_renewer *renewer, const latch_lease *lease)
{
    latch_hash_node *node = latch_hash_find(&renewer->table, (const char *) &lease, sizeof(lease));

    return node != NULL ? LATCH_CONTAINER(node, latch_renewal, node) : NULL;
}

/* The lease's record, and the mutex locked. NULL, unlocked: a fork has dropped the record. */
static latch_renewal *find_and_lock(latch_lease *lease)
{
    latch_renewer *renewer = lease->store->engine->renewer;
    latch_renewal *renewal;

    pthread_mutex_lock(&renewer->mutex);
    renewal = find(renewer, lease);
    if (renewal == NULL) {
        lease->observed = false;
        pthread_mutex_unlock(&renewer->mutex);
    }
    return renewal;
}

static void unlock(const latch_lease *lease)
{
    pthread_mutex_unlock(&lease->store->engine->renewer->mutex);
}

/* ---- State machine of a record: idle, held, lost ----------------------------------------------
 */

static void end_watch(latch_renewal *renewal)
{
    latch_engine *engine = renewal->renewer->engine;

    if (renewal->is_watched) {
        if (renewal->watch.end != NULL) {
            renewal->watch.end(engine, renewal->watch.state);
        } else {
            latch_free(engine, renewal->watch.state);
        }
        renewal->is_watched = false;
    }
}

static void begin_watch(latch_renewal *renewal)
{
    const latch_lease *lease = renewal->lease;
    const latch_store_class *class = lease->store->class;

    end_watch(renewal);
    if (lease->deadline_ns == LATCH_NEVER && class->watch != NULL) {
        memset(&renewal->watch, 0, sizeof(renewal->watch));
        renewal->is_watched = class->watch(lease, &renewal->watch);
    }
}

static void post(latch_renewal *renewal)
{
    latch_list_append(&renewal->mailbox->losses, &renewal->mail);
    renewal->mailbox->notify(renewal->mailbox->context);
}

/* Withdraws a loss that was not read yet. */
static void unpost(latch_renewal *renewal)
{
    latch_list_remove(&renewal->mail);
    latch_list_init(&renewal->mail);
}

static void reset(latch_renewal *renewal)
{
    end_watch(renewal);
    unpost(renewal);
    renewal->state = LATCH_RENEWAL_IDLE;
    renewal->epoch++;
}

void latch_renewal_lose(latch_renewal *renewal, int64_t now_ns, const char *reason)
{
    bool is_known =
        renewal->spec.is_shared_out
        || (renewal->inherit && renewal->fork_count != renewal->renewer->engine->fork_count);

    reset(renewal);
    renewal->state = LATCH_RENEWAL_LOST;
    if (now_ns < renewal->deadline_ns) {
        renewal->deadline_ns = now_ns;
    }
    if (is_known) {
        return; /* another owner of the hold may have released it: no loss */
    }
    snprintf(renewal->reason, sizeof(renewal->reason), "%s", reason);
    post(renewal);
}

void latch_renewal_lose_if_over(latch_renewal *renewal, int64_t now_ns)
{
    char reason[sizeof(renewal->reason)];

    if (renewal->state != LATCH_RENEWAL_HELD || now_ns < renewal->deadline_ns) {
        return;
    }
    if (renewal->failures > 0) {
        snprintf(reason, sizeof(reason), "it could not be renewed in time: %.200s",
                 renewal->reason);
    } else if (renewal->is_in_flight) {
        snprintf(reason, sizeof(reason),
                 "it could not be renewed in time: its store has not answered");
    } else {
        snprintf(reason, sizeof(reason), "its time is over");
    }
    latch_renewal_lose(renewal, now_ns, reason);
}

void latch_renewal_schedule_next(latch_renewal *renewal, int64_t now_ns)
{
    /* Near end_ns a renewal gains less each time: no request for less than a tenth of the TTL. */
    int64_t gain_ns = latch_ms_to_ns(renewal->ttl_ms) / LEAST_GAIN_PARTS;

    renewal->due_ns = LATCH_NEVER;
    if (renewal->clone != NULL && renewal->spec.renew && renewal->deadline_ns != LATCH_NEVER
        && renewal->deadline_ns < renewal->end_ns - gain_ns) {
        renewal->due_ns = now_ns + (renewal->deadline_ns - now_ns) / PARTS;
    }
}

int64_t latch_renewal_wake_ns(const latch_renewal *renewal)
{
    if (renewal->state != LATCH_RENEWAL_HELD) {
        return LATCH_NEVER;
    }
    return !renewal->is_in_flight && renewal->due_ns < renewal->deadline_ns ? renewal->due_ns
                                                                            : renewal->deadline_ns;
}

/* Wakes the thread if it would sleep past the next event of this record. */
static void schedule_wakeup(latch_renewal *renewal)
{
    latch_renewer *renewer = renewal->renewer;

    latch_renewal_schedule_next(renewal, latch_engine_now_ns(renewer->engine));
    if (renewal->is_watched && renewal->watch.is_gone != NULL
        && renewer->next_watch_ns == LATCH_NEVER) {
        renewer->next_watch_ns = 0; /* now */
    }
    if (latch_renewal_wake_ns(renewal) < renewer->wake_ns
        || renewer->next_watch_ns < renewer->wake_ns
        || (renewal->is_watched && renewal->watch.descriptor != NULL)) {
        latch_renewer_wake(renewer);
    }
}

static void snapshot_tokens(latch_renewal *renewal)
{
    latch_lease *leaves[LATCH_DESCRIPTORS_MAX];
    size_t count = latch_lease_leaves(renewal->lease, leaves, LATCH_DESCRIPTORS_MAX);

    for (size_t at = 0; at < count && at < renewal->leaf_count; at++) {
        bool fits = leaves[at]->token != NULL && leaves[at]->token_length <= renewal->token_room;
        uint16_t length = fits ? leaves[at]->token_length : 0;
        char *place = latch_renewal_token(renewal, at);

        memcpy(place, &length, sizeof(length));
        if (length > 0) {
            memcpy(place + sizeof(length), leaves[at]->token, length);
        }
    }
}

static void set_end(latch_renewal *renewal)
{
    renewal->end_ns =
        renewal->spec.max_hold_ms > 0
            ? latch_add_ns(renewal->begun_ns, latch_ms_to_ns(renewal->spec.max_hold_ms))
            : LATCH_NEVER;
}

/* Transition to held: the lease was acquired, or found to be held. */
static void mark_held(latch_renewal *renewal, int64_t ttl_ms)
{
    latch_lease *lease = renewal->lease;
    latch_engine *engine = lease->store->engine;

    if (renewal->state == LATCH_RENEWAL_HELD) {
        renewal->epoch++; /* the outcome of a renewal in flight is older: ignore it */
        if (lease->deadline_ns > renewal->deadline_ns) {
            renewal->deadline_ns = lease->deadline_ns;
        }
    } else {
        reset(renewal);
        renewal->state = LATCH_RENEWAL_HELD;
        renewal->deadline_ns = lease->deadline_ns;
        renewal->failures = 0;
        renewal->begun_ns = latch_engine_now_ns(engine);
        set_end(renewal);
    }
    begin_watch(renewal); /* anew: another file or semaphore set may hold it now */
    lease->deadline_ns = renewal->deadline_ns;
    renewal->ttl_ms = ttl_ms;
    renewal->fork_count = engine->fork_count;
    renewal->inherit = lease->inherit;
    snapshot_tokens(renewal);
    schedule_wakeup(renewal);
}

/* ---- Observer: requests of the PHP thread -----------------------------------------------------
 */

void latch_renewal_sync_deadline(latch_renewal *renewal, int64_t now_ns)
{
    latch_lease *lease = renewal->lease;
    const latch_store_class *class = lease->store->class;

    latch_renewal_lose_if_over(renewal, now_ns);
    if (renewal->state == LATCH_RENEWAL_IDLE || lease->deadline_ns == renewal->deadline_ns) {
        return;
    }
    lease->deadline_ns = renewal->deadline_ns;
    if (renewal->state == LATCH_RENEWAL_HELD && class->sync_deadline != NULL) {
        class->sync_deadline(lease, renewal->deadline_ns);
    }
}

static void sync_lease(latch_lease *lease, int64_t now_ns)
{
    latch_renewal *renewal = find_and_lock(lease);

    if (renewal != NULL) {
        latch_renewal_sync_deadline(renewal, now_ns);
        unlock(lease);
    }
}

/*
 * A request with a TTL is about to be sent, and its reply may be lost: assume the shorter of the
 * two TTLs from now on.
 */
static void shorten(latch_renewal *renewal, int64_t ttl_ms, int64_t now_ns)
{
    latch_lease *lease = renewal->lease;
    const latch_composite *composite = lease->store->class->composite;
    int64_t deadline_ns = latch_store_deadline(lease->store, now_ns, ttl_ms);

    if (composite != NULL) {
        deadline_ns = composite->certain_until(now_ns, deadline_ns);
    }
    if (ttl_ms >= renewal->ttl_ms && deadline_ns >= renewal->deadline_ns) {
        return;
    }
    if (ttl_ms < renewal->ttl_ms) {
        renewal->ttl_ms = ttl_ms;
    }
    if (deadline_ns < renewal->deadline_ns) {
        renewal->deadline_ns = lease->deadline_ns = deadline_ns;
    }
    schedule_wakeup(renewal);
}

static void before_request(latch_op *op, int64_t now_ns)
{
    latch_lease *lease = op->lease;
    latch_renewal *renewal = find_and_lock(lease);
    bool names_ttl = op->request.kind == LATCH_ACQUIRE || op->request.kind == LATCH_ACQUIRE_SHARED
                     || op->request.kind == LATCH_REFRESH;

    if (renewal == NULL) {
        return;
    }
    latch_renewal_sync_deadline(renewal, now_ns); /* the store reads the deadline of the lease */
    if (op->request.kind == LATCH_RELEASE) {
        reset(renewal);
    } else if (names_ttl && renewal->state == LATCH_RENEWAL_HELD && op->request.ttl_ms > 0) {
        shorten(renewal, op->request.ttl_ms, now_ns);
    }
    unlock(lease);
}

/* Does the success of such a request prove a hold, and its deadline? */
static bool confirms(const latch_renewal *renewal, latch_op_kind kind)
{
    switch (kind) {
        case LATCH_ACQUIRE:
        case LATCH_ACQUIRE_SHARED:
        case LATCH_REFRESH:
            return true;
        case LATCH_PROBE:
            return renewal->state == LATCH_RENEWAL_IDLE; /* else its deadline is older */
        default:
            return false;
    }
}

static void after_request(const latch_op *op, latch_status status)
{
    latch_lease *lease = op->lease;
    latch_renewal *renewal = find_and_lock(lease);

    if (renewal == NULL) {
        return;
    }
    if (status == LATCH_DONE && lease->mode != LATCH_FREE && confirms(renewal, op->request.kind)) {
        /* A reply that came after the deadline proves no hold: there is no loss to report. */
        if (renewal->state == LATCH_RENEWAL_HELD
            || latch_engine_now_ns(lease->store->engine) < lease->deadline_ns) {
            mark_held(renewal,
                      op->request.kind == LATCH_PROBE ? renewal->spec.ttl_ms : op->request.ttl_ms);
        }
    } else if (renewal->state == LATCH_RENEWAL_HELD && lease->mode == LATCH_FREE) {
        latch_renewal_lose(renewal, latch_engine_now_ns(lease->store->engine),
                           "it has another holder, or none any more");
    }
    unlock(lease);
}

/* ---- Start and end of renewal -----------------------------------------------------------------
 */

/* Can the renewal thread renew, or watch, leases of this store? */
static latch_status check_store(const latch_store *store, const latch_renewal_spec *spec,
                                latch_error *error)
{
    const latch_store_class *class = store->class;
    const char *reason =
        class->renewal_unsupported_reason != NULL ? class->renewal_unsupported_reason(store) : NULL;

    if (reason == NULL && spec->renew && (store->info->capabilities & LATCH_EXPIRING) != 0
        && class->clone == NULL) {
        reason = "its locks are renewed by the thread that took them";
    }
    return reason == NULL
               ? LATCH_DONE
               : latch_fail(error, LATCH_ERROR_UNSUPPORTED, 0, "the %s store cannot do that: %s",
                            store->info->name, reason);
}

static bool can_be_lost(const latch_store *store)
{
    return (store->info->capabilities & LATCH_EXPIRING) != 0 || store->class->watch != NULL;
}

void latch_renewal_free(latch_renewal *renewal)
{
    end_watch(renewal);
    if (renewal->clone_lease != NULL) {
        latch_clone_lease_free(renewal->clone_lease);
    }
    if (renewal->clone != NULL) {
        renewal->clone->users--;
    }
    latch_free(renewal->renewer->engine, renewal);
}

/* The longest token that a leaf will have: an owner, which stays, is in its token from the first.
 */
static size_t token_room(latch_lease *const *leaves, size_t count)
{
    size_t room = LATCH_TOKEN_MAX;

    for (size_t at = 0; at < count; at++) {
        size_t length = leaves[at]->token != NULL ? LATCH_TOKEN_LENGTH + leaves[at]->token_length
                                                  : 0;

        room = length > room ? length : room;
    }
    return room;
}

/* A new record, not registered yet; with the mutex held, as all functions below. */
static latch_renewal *renewal_make(latch_lease *lease, latch_error *error)
{
    latch_engine *engine = lease->store->engine;
    latch_lease *leaves[LATCH_DESCRIPTORS_MAX];
    size_t count = latch_lease_leaves(lease, leaves, LATCH_DESCRIPTORS_MAX);
    size_t room = token_room(leaves, count);
    size_t size = sizeof(latch_renewal) + count * (sizeof(uint16_t) + room);
    latch_renewal *renewal = latch_allocate(engine, size);

    if (renewal == NULL) {
        latch_fail_memory(error);
        return NULL;
    }
    memset(renewal, 0, size);
    renewal->renewer = engine->renewer;
    renewal->lease = lease;
    renewal->leaf_count = count;
    renewal->token_room = room;
    renewal->node.key = (const char *) &renewal->lease;
    renewal->node.length = sizeof(renewal->lease);
    renewal->deadline_ns = renewal->end_ns = renewal->due_ns = LATCH_NEVER;
    latch_list_init(&renewal->mail);
    return renewal;
}

static latch_status attach_renewal_store(latch_renewal *renewal, latch_error *error)
{
    latch_renewal_store *clone =
        latch_renewal_store_get(renewal->renewer, renewal->lease->store, error);

    if (clone == NULL) {
        return error->status;
    }
    renewal->clone_lease = latch_clone_lease_make(clone, renewal->lease);
    if (renewal->clone_lease == NULL) {
        clone->users--;
        return latch_fail_memory(error);
    }
    renewal->clone = clone;
    return LATCH_DONE;
}

static latch_status add(latch_renewal *renewal, latch_error *error)
{
    latch_renewer *renewer = renewal->renewer;

    if (latch_renewer_start(renewer, error) != LATCH_DONE) {
        return error->status;
    }
    if (!latch_hash_add(&renewer->table, &renewal->node)) {
        return latch_fail_memory(error);
    }
    latch_list_append(&renewer->renewals, &renewal->link);
    return LATCH_DONE;
}

/* Applies the settings of the last call; a lease that is held already counts from now on. */
static void apply_settings(latch_renewal *renewal, latch_mailbox *mailbox,
                           const latch_renewal_spec *spec)
{
    latch_lease *lease = renewal->lease;
    latch_engine *engine = renewal->renewer->engine;
    bool is_posted = renewal->mail.next != &renewal->mail;

    renewal->mailbox = mailbox;
    renewal->spec = *spec;
    if (is_posted) {
        unpost(renewal); /* from its former mailbox, which may be closed */
        post(renewal);
    }
    if (lease->mode != LATCH_FREE && renewal->state == LATCH_RENEWAL_IDLE
        && latch_engine_now_ns(engine) < lease->deadline_ns) {
        mark_held(renewal, spec->ttl_ms);
    } else if (renewal->state == LATCH_RENEWAL_HELD) {
        set_end(renewal);
        schedule_wakeup(renewal);
    }
}

latch_status latch_lease_start_renewal(latch_lease *lease, latch_mailbox *mailbox,
                                       const latch_renewal_spec *spec, latch_error *error)
{
    latch_renewer *renewer = mailbox->engine->renewer;
    bool renews = spec->renew && (lease->store->info->capabilities & LATCH_EXPIRING) != 0;
    latch_status status = check_store(lease->store, spec, error);
    latch_renewal *renewal;
    bool is_new;

    if (status != LATCH_DONE || !can_be_lost(lease->store)) {
        return status;
    }
    if (!latch_lease_has_parts(lease)) {
        return latch_fail(error, LATCH_ERROR_ARGUMENT, 0,
                          "the lease has no parts: latch_lease_join()");
    }
    pthread_mutex_lock(&renewer->mutex);
    renewal = find(renewer, lease);
    is_new = renewal == NULL;
    if (is_new) {
        renewal = renewal_make(lease, error);
        status = renewal != NULL ? LATCH_DONE : error->status;
    }
    if (status == LATCH_DONE && renews && renewal->clone == NULL) {
        status = attach_renewal_store(renewal, error);
    }
    if (status == LATCH_DONE && is_new) {
        status = add(renewal, error);
    }
    if (status == LATCH_DONE) {
        lease->observed = true;
        apply_settings(renewal, mailbox, spec);
    } else if (is_new && renewal != NULL) {
        latch_renewal_free(renewal);
    }
    pthread_mutex_unlock(&renewer->mutex);
    return status;
}

void latch_lease_stop_renewal(latch_lease *lease)
{
    latch_renewal *renewal = lease->observed ? find_and_lock(lease) : NULL;
    latch_renewer *renewer;

    if (renewal == NULL) {
        return;
    }
    renewer = renewal->renewer;
    latch_renewal_sync_deadline(renewal, latch_engine_now_ns(renewer->engine));
    lease->observed = false;
    reset(renewal);
    latch_hash_remove(&renewer->table, &renewal->node);
    latch_list_remove(&renewal->link);
    renewal->is_removed = true;
    if (!renewal->was_in_flight) {
        latch_renewal_free(renewal);
    } else if (!renewal->is_in_flight) {
        latch_list_append(&renewer->removed, &renewal->link);
        latch_renewer_wake(renewer);
    } /* else the thread frees the record after its request */
    pthread_mutex_unlock(&renewer->mutex);
}

bool latch_mailbox_read(latch_mailbox *mailbox, latch_loss *loss)
{
    latch_renewer *renewer = mailbox->engine->renewer;
    latch_renewal *renewal = NULL;

    pthread_mutex_lock(&renewer->mutex);
    if (mailbox->losses.next != &mailbox->losses) {
        renewal = LATCH_CONTAINER(mailbox->losses.next, latch_renewal, mail);
        unpost(renewal);
        loss->lease = renewal->lease;
        memcpy(loss->reason, renewal->reason, sizeof(loss->reason));
        latch_renewal_sync_deadline(renewal, INT64_MIN);
    }
    pthread_mutex_unlock(&renewer->mutex);
    return renewal != NULL;
}

static void close_store(latch_store *store)
{
    latch_renewer *renewer = store->engine->renewer;

    pthread_mutex_lock(&renewer->mutex);
    if (store->renewal_store->generation == store->engine->generation
        && --store->renewal_store->users == 0) {
        latch_renewer_wake(renewer);
    }
    pthread_mutex_unlock(&renewer->mutex);
    store->renewal_store = NULL;
}

const latch_lease_observer latch_renewal_observer = {
    .before = before_request,
    .after = after_request,
    .sync = sync_lease,
    .drop = latch_lease_stop_renewal,
    .close_store = close_store,
};
