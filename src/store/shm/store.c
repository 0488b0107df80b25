/*
 * The store of locks in shared memory. A lock costs no system call while nobody waits; it belongs
 * to its thread, whose end, in whatever way, frees it; it never expires.
 *
 * A wait is in slices, as that of semaphores: futex_waitv(2) does not return for a signal whose
 * handler has SA_RESTART, as PHP's have.
 */
#include "src/store/shm/store.h"

#include <string.h>

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
latch_status latch_shm_ready(shm_store *store, latch_error *error)
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

bool latch_shm_is_live(const latch_lease *lease)
{
    const shm_hold *hold = lease->state;
    uint32_t state;

    if (!shm_is_ours(lease) || !latch_shm_is_attached(hold->attachment)) {
        return false;
    }
    state = latch_shm_load32(&latch_shm_record_of(hold)->state);
    return latch_shm_is_held_state(state) || state == SHM_PROMOTES;
}

void latch_shm_end_hold(shm_hold *hold)
{
    if (latch_shm_is_of_this_process(hold->attachment) && !latch_shm_is_retired(hold->attachment)) {
        latch_shm_end_endless_wait(hold);
        if (latch_shm_release(&hold->attachment->user, hold->index) == SHM_STUCK) {
            latch_shm_abandon_hold(hold);
            return;
        }
    }
    latch_shm_give_hold(hold);
}

latch_status latch_shm_fail_hold(latch_op *op, shm_hold *hold, shm_result result)
{
    return latch_shm_fail(hold->attachment, result,
                          latch_shm_load64(&latch_shm_record_of(hold)->digest[0]), op->error);
}

void latch_shm_lose(latch_lease *lease)
{
    if (lease->state != NULL) {
        latch_shm_end_hold(lease->state);
        lease->state = NULL;
    }
}

/* ---- Other requests */

/* A child may release what was meant to be inherited, though the record is its parent's. */
static latch_status shm_release_inherited(latch_op *op, const shm_hold *hold)
{
    shm_store *store = (shm_store *) op->lease->store;
    const shm_record *record = latch_shm_record_of(hold);
    latch_status status = latch_shm_ready(store, op->error);
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

    if (hold == NULL) {
        return LATCH_DONE;
    }
    if (!shm_is_ours(lease) && lease->inherit) {
        status = shm_release_inherited(op, hold);
        if (status != LATCH_DONE) {
            return status;
        }
    }
    latch_shm_end_hold(hold);
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
    if (hold != NULL && !latch_shm_is_live(lease)) {
        if (shm_is_ours(lease)) { /* shm_held() has seen the loss before, which still counts */
            op->mode_before = lease->mode;
        }
        latch_shm_lose(lease);
    }
    return lease->state != NULL ? LATCH_DONE : LATCH_CONFLICT;
}

/* Inspections by the store's attachment. */
static latch_status shm_ask(latch_op *op,
                            latch_status (*ask)(shm_attachment *attachment, latch_op *op))
{
    shm_store *store = (shm_store *) op->lease->store;
    latch_status status = latch_shm_ready(store, op->error);

    return status == LATCH_DONE ? ask(store->attachment, op) : status;
}

static latch_status shm_begin(latch_op *op)
{
    switch (op->request.kind) {
        case LATCH_ACQUIRE:
        case LATCH_ACQUIRE_SHARED:
            return latch_shm_acquire(op);
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
    return lease->mode != LATCH_FREE && latch_shm_is_live(lease);
}

/* The lock ends with the lease: nothing else could free it. */
static void shm_drop(latch_lease *lease)
{
    latch_shm_lose(lease);
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
    .step = latch_shm_step,
    .cancel = latch_shm_cancel,
    .held = shm_held,
    .drop = shm_drop,
    .watch = shm_watch,
};
