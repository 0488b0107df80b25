/*
 * Calls (LATCH_CALL) on records in files. The rules are those of records in memory; here a call
 * reads the record, carries it out, and compares. If it has changed nothing, as most calls do, that
 * is all, without a lock. Otherwise the call is carried out anew under the record's lock, and the
 * record is replaced.
 *
 * That lock is a lease of this very store, in the name of the record: so waiters have a queue and
 * are woken, a killed process frees it, and its file is checked as those of locks are. It lives as
 * long as the record.
 */
#include "src/store/flock/flock.h"

#include <dirent.h>
#include <limits.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A writer has the lock for a fraction of a millisecond, unless it is stopped. */
#define LOCK_WAIT_NS (10 * LATCH_NS_PER_S)

/* A sweep comes with one of so many new records, on average, and removes so many at most. */
#define SWEEP_ODDS 64
#define SWEPT_MAX 1000

/* A new state that was not put in its place for so long is a killed process's. */
#define ABANDONED_NS (3600 * LATCH_NS_PER_S)

/* op->state: a call that awaits the lock of its record. */
typedef struct flock_call {
    latch_lease lock;
    latch_op op; /* on the lock */
    latch_error error;
    char name[LATCH_FLOCK_RECORD_NAME];
} flock_call;

/* What a call has done. */
typedef struct call_effect {
    bool is_changed;
    bool was_there, is_there; /* the record, before and after */
} call_effect;

static void name_record(const latch_op *op, char name[LATCH_FLOCK_RECORD_NAME])
{
    const latch_lease *lease = op->lease;

    latch_flock_record_name((flock_store *) lease->store,
                            latch_memory_kind_of(op->request.call->function)->name, lease->resource,
                            lease->resource_length, name);
}

static void drop_answer(const latch_op *op)
{
    latch_answer_free(op->lease->store->engine, op->request.call->answer);
    op->request.call->answer = NULL;
}

/* Carries the call out on the record as it is now, and replaces it if the caller has its lock. */
static latch_status call_on_record(latch_op *op, const char *name, bool is_locked,
                                   call_effect *effect)
{
    flock_store *store = (flock_store *) op->lease->store;
    memory_text after = {.text = NULL};
    latch_bytes before;
    latch_status status = latch_flock_record_read(store, name, &before, op->error);

    effect->was_there = effect->is_there = status != LATCH_DONE || before.text != NULL;
    if (status == LATCH_DONE) {
        status = latch_memory_call_on_text(&store->records, op, before, &after);
        latch_memory_free(store->store.engine, &before);
    }
    if (after.is_foreign) {
        return latch_flock_record_fail(
            store, name, "is no record, is damaged, or is of another release; remove it",
            op->error);
    }
    effect->is_changed = status == LATCH_DONE && after.is_changed;
    if (effect->is_changed && is_locked) {
        status = after.text != NULL ? latch_flock_record_write(store, name, &after, op->error)
                                    : latch_flock_record_remove(store, name, op->error);
        effect->is_there = status == LATCH_DONE ? after.text != NULL : effect->was_there;
    }
    latch_free(store->store.engine, after.text);
    if (status != LATCH_DONE || (effect->is_changed && !is_locked)) {
        drop_answer(op);
    }
    return status;
}

/* ---- The lock of a record -------------------------------------------------------------------- */

/* Its file goes with the record. */
static void unlock_record(latch_lease *lock, bool is_there)
{
    const latch_request release = {.kind = LATCH_RELEASE};
    latch_error unused;
    latch_op op;

    lock->remove = !is_there;
    latch_op_begin(&op, lock, &release, &unused);
    latch_lease_drop(lock);
}

static latch_status fail_to_lock(const latch_op *op, const flock_call *call)
{
    const flock_store *store = (const flock_store *) op->lease->store;
    char path[PATH_MAX];
    latch_status status =
        latch_flock_path(store, call->name, strlen(call->name), path, sizeof(path), op->error);

    return status != LATCH_DONE
               ? status
               : latch_fail(op->error, LATCH_ERROR_SYSTEM, 0,
                            "another process has had its file \"%s\" locked for %d s; is it "
                            "stopped?",
                            path, (int) (LOCK_WAIT_NS / LATCH_NS_PER_S));
}

static latch_status end_call(latch_op *op, flock_call *call, latch_status status)
{
    op->state = NULL;
    latch_lease_drop(&call->lock);
    latch_free(op->lease->store->engine, call);
    return status;
}

/* Goes on after a step of the lock's operation. */
static latch_status after_lock_step(latch_op *op, flock_call *call, latch_status status)
{
    call_effect effect;

    if (latch_wants(status)) {
        op->fd = call->op.fd;
        op->events = call->op.events;
        op->wake_ns = call->op.wake_ns;
        return status;
    }
    if (status == LATCH_CONFLICT) {
        return end_call(op, call, op->cancelled ? LATCH_CONFLICT : fail_to_lock(op, call));
    }
    if (status != LATCH_DONE) {
        *op->error = call->error;
        return end_call(op, call, status);
    }
    status = call_on_record(op, call->name, true, &effect);
    unlock_record(&call->lock, effect.is_there);
    if (effect.is_there && !effect.was_there) {
        latch_flock_sweep((flock_store *) op->lease->store);
    }
    return end_call(op, call, status);
}

latch_status latch_flock_call(latch_op *op)
{
    latch_store *store = op->lease->store;
    const latch_request acquire = {
        .kind = LATCH_ACQUIRE,
        .wait = true,
        .deadline_ns = latch_add_ns(latch_engine_now_ns(store->engine), LOCK_WAIT_NS),
    };
    char name[LATCH_FLOCK_RECORD_NAME];
    latch_status status;
    call_effect effect;
    flock_call *call;

    name_record(op, name);
    status = call_on_record(op, name, false, &effect);
    if (status != LATCH_DONE || !effect.is_changed) {
        return status;
    }
    call = latch_allocate(store->engine, sizeof(*call));
    if (call == NULL) {
        return latch_fail_memory(op->error);
    }
    memcpy(call->name, name, sizeof(name));
    latch_lease_init(&call->lock, store, call->name, strlen(call->name));
    op->state = call;
    return after_lock_step(op, call,
                           latch_op_begin(&call->op, &call->lock, &acquire, &call->error));
}

latch_status latch_flock_call_step(latch_op *op, int64_t now_ns)
{
    flock_call *call = op->state;

    return after_lock_step(op, call,
                           op->cancelled ? latch_op_cancel(&call->op, now_ns)
                                         : latch_op_step(&call->op, now_ns));
}

latch_status latch_flock_call_cancel(latch_op *op)
{
    flock_call *call = op->state;

    return after_lock_step(op, call,
                           latch_op_cancel(&call->op,
                                           latch_engine_now_ns(op->lease->store->engine)));
}

/* ---- Sweep ----------------------------------------------------------------------------------- */

static bool is_sweep_due(const flock_store *store)
{
    const latch_env *env = &store->store.engine->env;
    uint8_t chance;

    return env->random(env->context, &chance, sizeof(chance)) && chance % SWEEP_ODDS == 0;
}

/* Removes the record if it has expired, unless somebody is at it. */
static bool sweep_record(flock_store *store, const char *name)
{
    latch_engine *engine = store->store.engine;
    const latch_request acquire = {.kind = LATCH_ACQUIRE};
    bool is_there = true;
    latch_bytes text;
    latch_error unused;
    latch_lease lock;
    latch_op op;
    latch_status status;

    latch_lease_init(&lock, &store->store, name, strlen(name));
    status = latch_op_begin(&op, &lock, &acquire, &unused);
    if (latch_wants(status)) {
        status = latch_op_cancel(&op, latch_engine_now_ns(engine));
    }
    if (status != LATCH_DONE) {
        latch_lease_drop(&lock);
        return false;
    }
    if (latch_flock_record_read(store, name, &text, &unused) == LATCH_DONE && text.text != NULL) {
        is_there = latch_memory_text_end_ns(text) > latch_engine_wall_ns(engine)
                   || latch_flock_record_remove(store, name, &unused) != LATCH_DONE;
    }
    latch_memory_free(engine, &text);
    unlock_record(&lock, is_there);
    return !is_there;
}

/* Looks at a file of the directory; true: it was removed. */
static bool sweep_file(flock_store *store, int directory, const char *file, int64_t now_ns)
{
    char name[LATCH_FLOCK_RECORD_NAME];
    bool is_new = latch_flock_is_record_name(file, LATCH_FLOCK_NEW_STATE, name);
    struct stat status;
    int64_t end_ns;

    if ((!is_new && !latch_flock_is_record_name(file, LATCH_FLOCK_STATE, name))
        || fstatat(directory, file, &status, AT_SYMLINK_NOFOLLOW) != 0
        || !S_ISREG(status.st_mode)) {
        return false;
    }
    end_ns = latch_ms_to_ns((int64_t) status.st_mtim.tv_sec * 1000);
    if (is_new) {
        return latch_add_ns(end_ns, ABANDONED_NS) <= now_ns && unlinkat(directory, file, 0) == 0;
    }
    return end_ns <= now_ns && sweep_record(store, name);
}

void latch_flock_sweep(flock_store *store)
{
    int64_t now_ns = latch_engine_wall_ns(store->store.engine);
    DIR *directory = is_sweep_due(store) ? opendir(store->directory) : NULL;
    int swept = 0;

    if (directory == NULL) {
        return;
    }
    for (struct dirent *entry; swept < SWEPT_MAX && (entry = readdir(directory)) != NULL;) {
        swept += sweep_file(store, dirfd(directory), entry->d_name, now_ns);
    }
    closedir(directory);
}
