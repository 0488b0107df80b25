/*
 * The store of locks in shared memory. A lock costs no system call while nobody waits; it belongs
 * to its thread, whose end, in whatever way, frees it; it never expires.
 *
 * A wait is in slices, as that of semaphores: futex_waitv(2) does not return for a signal whose
 * handler has SA_RESTART, as PHP's have.
 */
#include "src/store/shm/store.h"

#include <string.h>

#define SLICE_NS (10 * LATCH_NS_PER_MS)
/* A wait that takes longer asks for the second witness of those that it waits for, so often. */
#define WITNESS_INTERVAL_NS LATCH_NS_PER_S

typedef struct shm_store {
    latch_store store;
    shm_options options;
    shm_attachment *attachment; /* NULL: to be made anew */
} shm_store;

/* ---- The store */

static latch_status shm_open_store(latch_store *base, const latch_store_options *options,
                                   latch_error *error)
{
    shm_store *store = (shm_store *) base;
    latch_status status = latch_shm_read_options(base->engine, options, &store->options, error);

    return status == LATCH_DONE
               ? latch_shm_attach(base->engine, &store->options, &store->attachment, error)
               : status;
}

static void shm_detach_store(shm_store *store)
{
    if (store->attachment != NULL) {
        latch_shm_detach(store->attachment);
        store->attachment = NULL;
    }
}

static void shm_close_store(latch_store *base)
{
    shm_detach_store((shm_store *) base);
}

/* The file: its capacity and mode do not tell locks apart. "": the default. */
static const char *shm_identity(const latch_store *base)
{
    return ((const shm_store *) base)->options.path;
}

/* A child attaches itself anew, and so does a process whose file was removed. */
static latch_status shm_ready(shm_store *store, latch_error *error)
{
    if (store->attachment != NULL && latch_shm_is_attached(store->attachment)) {
        return LATCH_DONE;
    }
    shm_detach_store(store);
    return latch_shm_attach(store->store.engine, &store->options, &store->attachment, error);
}

latch_status latch_shm_fail(const shm_attachment *attachment, shm_result result, uint64_t digest,
                            latch_error *error)
{
    const shm_map *map = &attachment->user.map;
    uint64_t owner = latch_shm_load64(&map->buckets[latch_shm_bucket_of(map, digest)].guard);
    uint32_t place = latch_shm_place_of(owner);

    if (result == SHM_CORRUPT) {
        return latch_fail(error, LATCH_ERROR_STORE, 0,
                          "the file \"%s\" is corrupt; end the programs that use it, and remove it",
                          attachment->file.path);
    }
    return latch_fail(error, LATCH_ERROR_STORE, 0,
                      "the process %u has been changing the file \"%s\" for five seconds, and "
                      "seems to be stopped",
                      place < map->participant_count
                          ? latch_shm_load32(&map->participants[place].process)
                          : 0,
                      attachment->file.path);
}

/* ---- Holds */

static bool shm_is_ours(const latch_lease *lease)
{
    const shm_hold *hold = lease->state;

    return hold != NULL && latch_shm_is_of_this_process(hold->attachment);
}

static bool shm_is_live(const latch_lease *lease)
{
    const shm_hold *hold = lease->state;
    uint32_t state;

    if (!shm_is_ours(lease) || !latch_shm_is_attached(hold->attachment)) {
        return false;
    }
    state = latch_shm_load32(&latch_shm_record_of(hold)->state);
    return latch_shm_is_held_state(state) || state == SHM_PROMOTES;
}

/* Frees the record, if it is of this process, and gives it back. */
static shm_result shm_end_hold(shm_hold *hold)
{
    shm_result result = SHM_DONE;

    if (latch_shm_is_of_this_process(hold->attachment)) {
        latch_shm_end_endless_wait(hold);
        result = latch_shm_release(&hold->attachment->user, hold->index);
        if (result == SHM_STUCK) {
            return result; /* it stays locked, and the record in use */
        }
    }
    latch_shm_give_hold(hold);
    return result;
}

static void shm_lose(latch_lease *lease)
{
    if (lease->state != NULL) {
        shm_end_hold(lease->state);
        lease->state = NULL;
    }
}

/* ---- Acquiring */

static latch_status shm_hold_it(latch_op *op, shm_hold *hold)
{
    const shm_record *record = latch_shm_record_of(hold);

    latch_shm_end_endless_wait(hold);
    op->lease->state = hold;
    op->lease->fencing_token = op->request.kind == LATCH_ACQUIRE
                                   ? hold->attachment->file.epoch + latch_shm_load64(&record->fence)
                                   : 0;
    return LATCH_DONE;
}

static latch_status shm_fail_hold(latch_op *op, shm_hold *hold, shm_result result)
{
    return latch_shm_fail(hold->attachment, result,
                          latch_shm_load64(&latch_shm_record_of(hold)->digest[0]), op->error);
}

/* Ends a wait without a grant: a promotion keeps what it had. */
static shm_result shm_give_up(latch_op *op, shm_hold *hold)
{
    latch_shm_end_endless_wait(hold);
    return op->lease->state == hold ? latch_shm_demote(&hold->attachment->user, hold->index)
                                    : shm_end_hold(hold);
}

static latch_status shm_want_slice(latch_op *op, shm_hold *hold)
{
    op->waiting = true;
    op->state = hold;
    op->wake_ns = 0; /* at once: the next step sleeps */
    return LATCH_WANT_TIMER;
}

static latch_status shm_begin_wait(latch_op *op, shm_hold *hold)
{
    latch_engine *engine = op->lease->store->engine;

    hold->waits_since_ns = hold->asked_ns = latch_engine_now_ns(engine);
    if (op->request.deadline_ns != LATCH_NEVER) {
        return shm_want_slice(op, hold);
    }
    switch (latch_shm_begin_endless_wait(hold)) {
        case SHM_NO_DEADLOCK:
            return shm_want_slice(op, hold);
        case SHM_OWN_DEADLOCK:
            shm_give_up(op, hold);
            return latch_fail(op->error, LATCH_ERROR_DEADLOCK, 0,
                              "the lock is held by this very thread, through another key");
        case SHM_CIRCLE:
            break;
    }
    shm_give_up(op, hold);
    return latch_fail(op->error, LATCH_ERROR_DEADLOCK, 0,
                      "the lock's holder waits for a lock that this very thread holds, directly "
                      "or through others");
}

/* The outcome of a request or of a promotion; the record is in use unless it is a conflict. */
static latch_status shm_apply(latch_op *op, shm_hold *hold, shm_result result)
{
    switch (result) {
        case SHM_DONE:
            return shm_hold_it(op, hold);
        case SHM_WAITING:
            return shm_begin_wait(op, hold);
        case SHM_CONFLICT:
            return LATCH_CONFLICT;
        case SHM_STUCK:
        case SHM_CORRUPT:
            break;
    }
    return shm_fail_hold(op, hold, result);
}

/* Changes the mode of a hold. */
static latch_status shm_convert(latch_op *op, shm_hold *hold)
{
    const shm_user *user = &hold->attachment->user;
    uint32_t state = latch_shm_load32(&latch_shm_record_of(hold)->state);

    if (op->request.kind == LATCH_ACQUIRE) {
        return state == SHM_HELD_EXCLUSIVE
                   ? shm_hold_it(op, hold)
                   : shm_apply(op, hold, latch_shm_promote(user, hold->index, op->request.wait));
    }
    return state == SHM_HELD_SHARED ? shm_hold_it(op, hold)
                                    : shm_apply(op, hold, latch_shm_demote(user, hold->index));
}

static latch_status shm_acquire_new(latch_op *op)
{
    const latch_lease *lease = op->lease;
    shm_store *store = (shm_store *) lease->store;
    shm_request request = {
        .exclusive = op->request.kind == LATCH_ACQUIRE,
        .waits = op->request.wait,
        .name = lease->resource,
        .name_length = lease->resource_length,
    };
    latch_status status = shm_ready(store, op->error);
    shm_hold *hold;
    shm_result result;

    if (status != LATCH_DONE) {
        return status;
    }
    hold = latch_shm_take_hold(store->attachment, op->error);
    if (hold == NULL) {
        return op->error->status;
    }
    latch_shm_digest(lease->resource, lease->resource_length, request.digest);
    request.since_ns = store->attachment->now_ns;
    latch_shm_write_note(store->attachment);
    hold->notes_wait = false;
    result = latch_shm_request(&store->attachment->user, hold->index, &request);
    if (result == SHM_STUCK || result == SHM_CORRUPT) {
        status = latch_shm_fail(store->attachment, result, request.digest[0], op->error);
    } else if (result == SHM_CONFLICT) {
        status = LATCH_CONFLICT;
    } else {
        return shm_apply(op, hold, result);
    }
    latch_shm_give_hold(hold);
    return status;
}

static latch_status shm_acquire(latch_op *op)
{
    if (op->lease->state != NULL) {
        if (shm_is_live(op->lease)) {
            return shm_convert(op, op->lease->state);
        }
        shm_lose(op->lease);
        op->lease->mode = LATCH_FREE;
    }
    return shm_acquire_new(op);
}

/* ---- Waiting */

static void shm_ask_witnesses(shm_hold *hold, int64_t now_ns)
{
    const shm_attachment *attachment = hold->attachment;
    shm_view view;

    if (now_ns - hold->asked_ns < WITNESS_INTERVAL_NS) {
        return;
    }
    hold->asked_ns = now_ns;
    if (latch_shm_look(&attachment->user, hold->index, &view) != SHM_DONE) {
        return;
    }
    for (uint32_t at = 0; at < view.count; at++) {
        latch_shm_ask_witness(&attachment->user.map, view.blockers[at].owner,
                              attachment->file.descriptor.fd);
    }
}

/* The wait is over without a grant, though not by the caller's will: the hold, or the file, was
 * taken away. */
static latch_status shm_begin_anew(latch_op *op, shm_hold *hold)
{
    bool is_promotion = op->lease->state == hold;

    shm_end_hold(hold);
    if (is_promotion) {
        op->lease->state = NULL;
        return latch_fail(op->error, LATCH_ERROR_LOST, 0,
                          "the lock was lost while it was being promoted");
    }
    return shm_acquire_new(op);
}

static latch_status shm_step(latch_op *op, int64_t now_ns)
{
    shm_hold *hold = op->state;
    int64_t left_ns = op->request.deadline_ns - now_ns;
    shm_result result;

    op->state = NULL;
    if (!latch_shm_is_attached(hold->attachment)) {
        return shm_begin_anew(op, hold); /* in a child as well: the wait is the parent's */
    }
    result = latch_shm_wait(&hold->attachment->user, hold->index,
                            left_ns < 0          ? 0
                            : left_ns > SLICE_NS ? SLICE_NS
                                                 : left_ns);
    switch (result) {
        case SHM_DONE:
            return shm_hold_it(op, hold);
        case SHM_WAITING:
            shm_ask_witnesses(hold, now_ns);
            return shm_want_slice(op, hold);
        case SHM_CONFLICT:
            return shm_begin_anew(op, hold);
        case SHM_STUCK:
        case SHM_CORRUPT:
            break;
    }
    shm_fail_hold(op, hold, result);
    shm_give_up(op, hold);
    return op->error->status;
}

static latch_status shm_cancel(latch_op *op)
{
    shm_hold *hold = op->state;
    uint32_t state = latch_shm_load32(&latch_shm_record_of(hold)->state);

    op->state = NULL;
    if (!latch_shm_is_of_this_process(hold->attachment)) {
        if (op->lease->state != hold) {
            latch_shm_give_hold(hold);
        }
        return LATCH_CONFLICT;
    }
    if (state == SHM_HELD_EXCLUSIVE || (state == SHM_HELD_SHARED && op->lease->state != hold)) {
        return shm_hold_it(op, hold);
    }
    shm_give_up(op, hold);
    return LATCH_CONFLICT;
}

/* ---- Other requests */

/* A child may release what was meant to be inherited, though the record is its parent's. */
static latch_status shm_release_inherited(latch_op *op, const shm_hold *hold)
{
    shm_store *store = (shm_store *) op->lease->store;
    const shm_record *record = latch_shm_record_of(hold);
    latch_status status = shm_ready(store, op->error);
    shm_result result;

    if (status != LATCH_DONE || latch_shm_load64(&record->owner) != hold->attachment->user.self) {
        return status;
    }
    result =
        latch_shm_evict(&store->attachment->user, hold->index, latch_shm_load64(&record->ticket));
    return result == SHM_STUCK || result == SHM_CORRUPT
               ? latch_shm_fail(store->attachment, result, latch_shm_load64(&record->digest[0]),
                                op->error)
               : LATCH_DONE;
}

static latch_status shm_release(latch_op *op)
{
    latch_lease *lease = op->lease;
    shm_hold *hold = lease->state;
    latch_status status = LATCH_DONE;
    shm_result result;

    if (hold == NULL) {
        return LATCH_DONE;
    }
    if (!shm_is_ours(lease) && lease->inherit) {
        status = shm_release_inherited(op, hold);
        if (status != LATCH_DONE) {
            return status;
        }
    }
    result = shm_end_hold(hold);
    if (result == SHM_STUCK) {
        return shm_fail_hold(op, hold, result);
    }
    lease->state = NULL;
    return LATCH_DONE;
}

static latch_status shm_probe(latch_op *op)
{
    latch_lease *lease = op->lease;
    shm_hold *hold = lease->state;

    if (hold != NULL) {
        hold->attachment->checked_ns = 0; /* the question is for now */
    }
    if (hold != NULL && !shm_is_live(lease)) {
        if (shm_is_ours(lease)) { /* shm_held() has seen the loss before, which still counts */
            op->mode_before = lease->mode;
        }
        shm_lose(lease);
    }
    return lease->state != NULL ? LATCH_DONE : LATCH_CONFLICT;
}

/* Inspections by the store's attachment. */
static latch_status shm_ask(latch_op *op,
                            latch_status (*ask)(shm_attachment *attachment, latch_op *op))
{
    shm_store *store = (shm_store *) op->lease->store;
    latch_status status = shm_ready(store, op->error);

    return status == LATCH_DONE ? ask(store->attachment, op) : status;
}

static latch_status shm_begin(latch_op *op)
{
    switch (op->request.kind) {
        case LATCH_ACQUIRE:
        case LATCH_ACQUIRE_SHARED:
            return shm_acquire(op);
        case LATCH_RELEASE:
            return shm_release(op);
        case LATCH_PROBE:
        case LATCH_REFRESH: /* holds never expire */
            return op->request.kind == LATCH_REFRESH && op->lease->state == NULL ? LATCH_DONE
                                                                                 : shm_probe(op);
        case LATCH_INSPECT:
            return shm_ask(op, latch_shm_inspect);
        case LATCH_LIST:
            return shm_ask(op, latch_shm_list);
        case LATCH_EVICT:
            return shm_ask(op, latch_shm_evict_holders);
        case LATCH_CALL: /* never comes here */
            break;
    }
    return LATCH_DONE;
}

static bool shm_held(const latch_lease *lease)
{
    return lease->mode != LATCH_FREE && shm_is_live(lease);
}

/* The lock ends with the lease: nothing else could free it. */
static void shm_drop(latch_lease *lease)
{
    shm_lose(lease);
}

/* ---- Watching */

typedef struct shm_watched_file {
    const shm_record *record; /* mapped until the lease is released or dropped */
    uint64_t ticket;
    dev_t device;
    ino_t inode;
    char path[];
} shm_watched_file;

static bool shm_is_gone(const latch_watch *watch)
{
    const shm_watched_file *watched = watch->state;

    return latch_shm_leads_elsewhere(watched->path, watched->device, watched->inode)
           || latch_shm_load32(&watched->record->state) == SHM_EVICTED
           || latch_shm_load64(&watched->record->ticket) != watched->ticket;
}

static bool shm_watch(const latch_lease *lease, latch_watch *watch)
{
    const shm_hold *hold = lease->state;
    const shm_file *file;
    shm_watched_file *watched;

    if (lease->mode == LATCH_FREE || !shm_is_ours(lease)) {
        return false;
    }
    file = &hold->attachment->file;
    watched = latch_allocate(lease->store->engine, sizeof(*watched) + strlen(file->path) + 1);
    if (watched == NULL) {
        return false;
    }
    *watched = (shm_watched_file){
        .record = latch_shm_record_of(hold),
        .ticket = latch_shm_load64(&latch_shm_record_of(hold)->ticket),
        .device = file->device,
        .inode = file->inode,
    };
    strcpy(watched->path, file->path);
    watch->state = watched;
    watch->is_gone = shm_is_gone;
    return true;
}

static const char *const shm_schemes[] = {"shm", NULL};

const latch_store_class latch_shm_store = {
    .info =
        {
            .name = "shm",
            .title = "shared memory",
            .capabilities = LATCH_BLOCKING | LATCH_SHARED_LOCKS | LATCH_PUSH | LATCH_FENCING
                            | LATCH_LISTING | LATCH_HOLDER_INFO,
            .scope = LATCH_SCOPE_MACHINE,
            .schemes = shm_schemes,
        },
    .size = sizeof(shm_store),
    .open = shm_open_store,
    .close = shm_close_store,
    .identity = shm_identity,
    .begin = shm_begin,
    .step = shm_step,
    .cancel = shm_cancel,
    .held = shm_held,
    .drop = shm_drop,
    .watch = shm_watch,
};
