/*
 * MultiLock::acquire(): all members, or none.
 *
 * One round: wait for one member, with nothing in hand; then try the others, in the byte order of
 * their names, without waiting; in Redis side by side. If one is refused, all are given back, and
 * the next round waits for that one: in the store's queue, where it has one. So a wait does not
 * keep others from members that are free, and processes that want the same members in any order
 * cannot wait for each other.
 *
 * Why it ends:
 * - No deadlock: a process that waits in a round holds nothing, and a try does not wait. So what is
 *   held by an acquire under way is free again within the time of a round.
 * - No livelock: two processes may take members from each other in turn, each giving way to the
 *   other: a collision. From the second one on a process makes a random pause before its next
 *   round, which grows; after COLLISIONS_MAX of them it takes the members in order, and keeps what
 *   it has while it waits for the next one. All processes that do so wait for names above those
 *   that they hold. So among these the one with the highest name in hand waits for none of the
 *   others, but for a holder, who has all, or for one that is in a round, and gives back: it gets
 *   its members, and the next one is the highest.
 * - Such an ordered wait is bounded, too (ORDERED_NS, half of the TTL): a Lock that the same
 *   processes hold by hand, beside a MultiLock, has no place in that order; and members must not
 *   expire meanwhile. After that time all are given back, and the process begins with rounds again.
 * - No starvation, as far as the store is fair: in an ordered wait each member is waited for once,
 *   in its queue. Only a process whose members have queues longer than ORDERED_NS can be overtaken
 *   again and again; a time-out ends that.
 */
#include "ext/lock/multi_lock.h"

#include "ext/php/client_object.h"
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/php/poll_loop.h"
#include "ext/store/engine_store.h"

#include "zend_exceptions.h"

/* So many collisions, until members are taken in order. */
#define COLLISIONS_MAX 8
/* Pause after the second collision, doubled with each further one up to the longest. */
#define FIRST_PAUSE_NS LATCH_NS_PER_MS
#define LONGEST_PAUSE_NS (32 * LATCH_NS_PER_MS)
/* How long members are kept while others are waited for. */
#define ORDERED_NS (5 * LATCH_NS_PER_S)

/* So many members are tried at a time, where the store is a server: one round trip. */
#define SIDE_MAX 64

#define NONE SIZE_MAX

/* An acquire under way. */
typedef struct multi_course {
    latch_op_kind kind;
    bool blocking;
    int64_t deadline_ns;
    size_t awaited; /* the member that the next round waits for */
    size_t refused; /* the member that had another holder when it was tried; or NONE */
} multi_course;

static void give_back_member(php_latch_lock *lock)
{
    if (!lock->dirty) {
        return;
    }
    php_latch_key_reset_lifetime(lock->key);
    if (lock->native) {
        php_latch_lock_free(lock);
        php_latch_client_failure_clear();
    } else {
        php_latch_lock_release(lock);
    }
}

static void give_back_all(void *context)
{
    php_latch_multi_lock_for_each(context, give_back_member);
}

/* Is this a child that was forked during the acquire, by a signal handler or a store? */
static bool has_forked(const php_latch_multi_lock *multi)
{
    return multi->generation != latch_engine_generation(php_latch_engine);
}

/* In such a child: what was taken before the fork is the parent's. */
static void leave_to_parent(php_latch_multi_lock *multi)
{
    for (size_t at = 0; has_forked(multi) && at < multi->count; at++) {
        if (!php_latch_lock_is_ours(multi->members[at].lock)) {
            php_latch_lock_set_dirty(multi->members[at].lock, false);
        }
    }
    multi->generation = latch_engine_generation(php_latch_engine);
}

/* Releases what is held, without a log line where the engine can; keeps a pending exception. */
static void give_back(php_latch_multi_lock *multi)
{
    multi->mode = LATCH_FREE;
    leave_to_parent(multi);
    php_latch_lock_call_aside(give_back_all, multi);
}

static latch_op_kind kind_of_member(const php_latch_multi_member *member, latch_op_kind kind)
{
    return member->is_shared ? LATCH_ACQUIRE_SHARED : kind;
}

/* Makes the lease of a member that the engine takes; false after throwing. */
static bool make_member_lease(const php_latch_lock *lock)
{
    php_latch_backend *backend = php_latch_store_backend(lock->store);
    php_latch_lease *lease = backend != NULL ? php_latch_lease_get(lock->key, backend, NULL) : NULL;

    if (lease != NULL) {
        lease->lease.is_member = true;
    }
    return lease != NULL;
}

/* LATCH_INTERRUPTED: an exception is pending that is no failure of the store. */
static latch_status take_member(php_latch_multi_lock *multi, size_t at, const multi_course *course,
                                bool waits, int64_t deadline_ns)
{
    php_latch_multi_member *member = &multi->members[at];
    php_latch_lock *lock = member->lock;
    latch_op_kind kind = kind_of_member(member, course->kind);
    latch_status status;

    if (LATCH_G(keep_alive) && lock->native) {
        php_latch_lock_join_multi_lock(lock, multi);
    }
    status = lock->native && !make_member_lease(lock)
                 ? php_latch_lock_after_save(lock, kind, waits, deadline_ns,
                                             php_latch_outcome_of_call(&php_latch_locks))
                 : php_latch_lock_acquire(lock, kind, waits, deadline_ns);
    return EG(exception) != NULL && !latch_failed(status) ? LATCH_INTERRUPTED : status;
}

/* ---- Side by side ---------------------------------------------------------------------------- */

/* Requests of several members that are carried out side by side: acquires or releases. */
typedef struct side_batch {
    php_latch_multi_lock *multi;
    latch_op_kind kind;  /* of the MultiLock: some members may be for reading */
    unsigned generation; /* of the process that has begun them */
    size_t count;
    size_t at[SIDE_MAX]; /* which members they are */
    php_latch_prepared prepared[SIDE_MAX];
    php_latch_side_request requests[SIDE_MAX];
    /* The result: of the first member that was refused or has failed */
    latch_status status;
    size_t refused;
} side_batch;

/* Without a logger, as its lines come one by one. */
static bool goes_side_by_side(const php_latch_multi_lock *multi)
{
    const php_latch_lock *lock = multi->members[0].lock;
    const php_latch_store *store = php_latch_store_of(lock->store);

    return multi->count > 1 && lock->native && lock->logger == NULL && store->backend != NULL
           && store->backend->ops == NULL && store->backend->connection == NULL
           && (latch_store_describe(store->backend->store)->capabilities & LATCH_EXPIRING) != 0;
}

/* Exclusive where the store has no shared locks, as in php_latch_lock_acquire(). */
static latch_op_kind kind_of_side_request(const side_batch *batch,
                                          const php_latch_multi_member *member)
{
    return instanceof_function(member->lock->store->ce, php_latch_shared_store_ce)
               ? kind_of_member(member, batch->kind)
               : LATCH_ACQUIRE;
}

static latch_request begin_side_request(side_batch *batch, size_t at)
{
    php_latch_multi_member *member = &batch->multi->members[at];
    php_latch_lock *lock = member->lock;

    if (batch->kind == LATCH_RELEASE) {
        php_latch_lock_collect_loss(lock);
        return (latch_request){.kind = LATCH_RELEASE};
    }
    php_latch_key_reset_lifetime(lock->key);
    if (LATCH_G(keep_alive)) {
        php_latch_lock_join_multi_lock(lock, batch->multi);
    }
    return php_latch_lock_save_request(lock, kind_of_side_request(batch, member), false,
                                       LATCH_NEVER);
}

/* Records a result, and returns it as it is after that. An acquire that is done allocates nothing,
 * and finish_acquire() looks whether it has expired. */
static latch_status end_side_request(php_latch_lock *lock, latch_op_kind kind,
                                     php_latch_outcome outcome)
{
    if (kind == LATCH_RELEASE) {
        php_latch_lock_after_release(lock, outcome);
        return outcome.status;
    }
    if (outcome.status == LATCH_DONE) {
        php_latch_lock_record_saved(lock);
        php_latch_lock_set_dirty(lock, true);
        return LATCH_DONE;
    }
    return php_latch_lock_after_save(lock, kind, false, LATCH_NEVER, outcome);
}

static void record_side_outcome(side_batch *batch, size_t at, latch_op_kind kind,
                                php_latch_outcome outcome)
{
    latch_status status;

    if (outcome.status != LATCH_DONE && batch->status != LATCH_DONE) {
        php_latch_outcome_free(&outcome); /* one failure is enough */
        return;
    }
    status = end_side_request(batch->multi->members[at].lock, kind, outcome);
    if (batch->status == LATCH_DONE && status != LATCH_DONE) {
        batch->status = status;
        batch->refused = at;
    }
}

static void add_to_batch(side_batch *batch, size_t at)
{
    php_latch_side_request *request = &batch->requests[batch->count];
    php_latch_prepared *prepared = &batch->prepared[batch->count];
    php_latch_outcome outcome;

    request->request = begin_side_request(batch, at);
    if (php_latch_lock_prepare_request(batch->multi->members[at].lock, &request->request, prepared,
                                       &outcome)) {
        request->lease = &prepared->lease->lease;
        request->lease->is_member = true;
        batch->at[batch->count++] = at;
    } else {
        record_side_outcome(batch, at, request->request.kind, outcome);
    }
}

static void complete_side_request(side_batch *batch, size_t number)
{
    const php_latch_side_request *request = &batch->requests[number];
    size_t at = batch->at[number];

    record_side_outcome(batch, at, request->request.kind,
                        php_latch_lock_complete_request(batch->multi->members[at].lock,
                                                        &request->request, &batch->prepared[number],
                                                        request->status, &request->error));
}

/*
 * Records all results: what was taken is to be given back, whatever became of the others. Those
 * that are done come first: the exception of a failure may find no memory, and bail out.
 */
static void complete_batch(void *context)
{
    side_batch *batch = context;
    bool is_done[SIDE_MAX];

    for (size_t number = 0; number < batch->count; number++) {
        php_latch_side_request *request = &batch->requests[number];

        if (batch->generation != latch_engine_generation(php_latch_engine)) {
            request->status = LATCH_INTERRUPTED; /* what was done is the parent's */
        }
        is_done[number] = request->status == LATCH_DONE;
        if (is_done[number]) {
            complete_side_request(batch, number);
        }
    }
    for (size_t number = 0; number < batch->count; number++) {
        if (!is_done[number]) {
            complete_side_request(batch, number);
        }
    }
}

/*
 * Carries out the requests of up to SIDE_MAX members from *at on, which it moves on; but for
 * `skipped`. *refused gets the first member that had another holder.
 */
static latch_status run_side_by_side(php_latch_multi_lock *multi, latch_op_kind kind, size_t *at,
                                     size_t skipped, size_t *refused)
{
    side_batch *batch = emalloc(sizeof(*batch));
    latch_status status;

    batch->multi = multi;
    batch->kind = kind;
    batch->generation = latch_engine_generation(php_latch_engine);
    batch->count = 0;
    batch->status = LATCH_DONE;
    for (; batch->count < SIDE_MAX && *at < multi->count && batch->status == LATCH_DONE; ++*at) {
        if (*at != skipped) {
            add_to_batch(batch, *at);
        }
    }
    php_latch_run_requests(batch->requests, batch->count);
    php_latch_lock_call_aside(complete_batch, batch);
    status = batch->status;
    if (status == LATCH_CONFLICT) {
        *refused = batch->refused;
    }
    efree(batch);
    php_latch_rethrow_deferred(LATCH_DONE);
    return EG(exception) != NULL && !latch_failed(status) ? LATCH_INTERRUPTED : status;
}

/* The next ones of the members, whatever has become of those before. */
typedef struct release_course {
    php_latch_multi_lock *multi;
    size_t at;
} release_course;

static void release_next(void *context)
{
    release_course *course = context;
    size_t refused;

    run_side_by_side(course->multi, LATCH_RELEASE, &course->at, NONE, &refused);
}

void php_latch_multi_lock_release(php_latch_multi_lock *multi)
{
    release_course course = {multi, 0};

    multi->mode = LATCH_FREE;
    if (!goes_side_by_side(multi)) {
        php_latch_multi_lock_for_each(multi, php_latch_lock_release);
        return;
    }
    while (course.at < multi->count) {
        php_latch_lock_call_aside(release_next, &course);
    }
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

static latch_status run_round(php_latch_multi_lock *multi, multi_course *course)
{
    bool is_joint = goes_side_by_side(multi);
    latch_status status = LATCH_DONE;
    size_t at = 0;

    course->refused = NONE;
    if (course->blocking) {
        status = take_member(multi, course->awaited, course, true, course->deadline_ns);
    }
    while (is_joint && status == LATCH_DONE && at < multi->count) {
        status = run_side_by_side(multi, course->kind, &at,
                                  course->blocking ? course->awaited : NONE, &course->refused);
    }
    for (; status == LATCH_DONE && at < multi->count; at++) {
        if (course->blocking && at == course->awaited) {
            continue;
        }
        status = take_member(multi, at, course, false, LATCH_NEVER);
        if (status == LATCH_CONFLICT) {
            course->refused = at;
        }
    }
    return status;
}

/* The members in order, each waited for while those before are held. */
static latch_status take_in_order(php_latch_multi_lock *multi, multi_course *course)
{
    int64_t half_ttl_ms = php_latch_lock_ttl_ms(multi->members[0].lock) / 2;
    int64_t kept_ns = half_ttl_ms > 0 && half_ttl_ms < ORDERED_NS / LATCH_NS_PER_MS
                          ? half_ttl_ms * LATCH_NS_PER_MS
                          : ORDERED_NS;
    int64_t until_ns = course->deadline_ns;
    latch_status status = LATCH_DONE;

    course->refused = NONE;
    for (size_t at = 0; status == LATCH_DONE && at < multi->count; at++) {
        status = take_member(multi, at, course, true, until_ns);
        if (status == LATCH_CONFLICT) {
            course->refused = at;
        }
        if (at == 0 && until_ns > php_latch_now_ns() + kept_ns) {
            until_ns = php_latch_now_ns() + kept_ns;
        }
    }
    return status;
}

/* Random back-off with nothing in hand; false when interrupted by an exception. */
static bool pause_after(unsigned collisions)
{
    int64_t longest_ns = LONGEST_PAUSE_NS;

    if (collisions < 2) {
        return true; /* the first may be a long hold */
    }
    if (collisions < 7) {
        longest_ns = FIRST_PAUSE_NS << (collisions - 2);
    }
    return php_latch_wait_until(php_latch_now_ns()
                                    + (int64_t) latch_engine_random(php_latch_engine,
                                                                    (uint64_t) longest_ns),
                                &LATCH_G(statistics)[PHP_LATCH_COUNTED_MEMBERS]);
}

/* ---- The end --------------------------------------------------------------------------------- */

/* Has a member been lost since it was taken? */
static bool is_gone(const php_latch_lock *lock)
{
    bool is_lost = false;

    if (lock->native) {
        php_latch_lock_collect_loss(lock);
        is_lost = php_latch_lock_clear_loss(lock);
    }
    return is_lost || php_latch_key_is_expired(lock->key);
}

/* All are taken; the first of them may have expired before the last one came. */
static latch_status finish_acquire(php_latch_multi_lock *multi, const multi_course *course)
{
    bool is_lost = false;
    zend_string *name;
    zval exception;

    for (size_t at = 0; at < multi->count; at++) {
        is_lost |= is_gone(multi->members[at].lock);
    }
    if (!is_lost) {
        multi->mode = course->kind == LATCH_ACQUIRE ? LATCH_EXCLUSIVE : LATCH_SHARED;
        return LATCH_DONE;
    }
    give_back(multi);
    LATCH_G(statistics)[PHP_LATCH_COUNTED_MEMBERS].lost++;
    if (EG(exception) == NULL) {
        name = php_latch_multi_lock_describe(multi);
        ZVAL_OBJ(&exception,
                 php_latch_new_exception(php_latch_locks.expired, NULL, "Failed to store the ",
                                         name,
                                         ": a member expired, or was lost, before all members were "
                                         "taken; give it a longer TTL, or keep it alive."));
        zend_string_release(name);
        zend_throw_exception_object(&exception);
    }
    return LATCH_ERROR_LOST;
}

/* After an attempt has failed: is there to be another one? */
static bool goes_on(const multi_course *course, latch_status status)
{
    return status == LATCH_CONFLICT && course->blocking && course->refused != NONE
           && EG(exception) == NULL && php_latch_now_ns() < course->deadline_ns;
}

static latch_status acquire_anew(php_latch_multi_lock *multi, multi_course *course)
{
    unsigned collisions = 0;
    latch_status status;

    multi->hold++;
    if (course->blocking) {
        give_back(multi); /* what is left of a hold that was lost */
        if (EG(exception) != NULL) {
            return LATCH_INTERRUPTED;
        }
    }
    for (;;) {
        bool is_ordered = collisions >= COLLISIONS_MAX, is_child;

        status = is_ordered ? take_in_order(multi, course) : run_round(multi, course);
        is_child = has_forked(multi);
        if (status == LATCH_DONE && !is_child) {
            return finish_acquire(multi, course);
        }
        give_back(multi);
        if (is_child && EG(exception) == NULL) {
            continue; /* it takes members of its own */
        }
        if (!goes_on(course, status)) {
            return status;
        }
        collisions = is_ordered ? 0 : collisions + 1;
        if (!pause_after(collisions)) {
            return LATCH_INTERRUPTED;
        }
        course->awaited = course->refused;
    }
}

/* ---- Of a MultiLock that is held ------------------------------------------------------------- */

/* A promotion was refused: members that were promoted before are demoted. */
static latch_status undo_promotion(php_latch_multi_lock *multi, size_t refused, bool throws)
{
    const multi_course demotion = {.kind = LATCH_ACQUIRE_SHARED};
    latch_status status = LATCH_DONE;
    zend_string *name;
    zval exception;

    for (size_t at = 0; status == LATCH_DONE && at < refused; at++) {
        status = take_member(multi, at, &demotion, false, LATCH_NEVER);
    }
    if (status != LATCH_DONE) {
        give_back(multi);
        return status;
    }
    if (throws) {
        name = php_latch_multi_lock_describe(multi);
        ZVAL_OBJ(&exception,
                 php_latch_new_exception(php_latch_locks.conflicted, NULL, "The ", name,
                                         " is held for reading, and was not promoted, as a member "
                                         "has other readers: a wait for them would hold members; "
                                         "call release() before acquire(true)."));
        zend_string_release(name);
        zend_throw_exception_object(&exception);
    }
    return LATCH_CONFLICT;
}

/*
 * Renews each member, in its new mode. A promotion does not wait: two that are held for reading
 * would wait for each other.
 */
static latch_status acquire_again(php_latch_multi_lock *multi, const multi_course *course)
{
    latch_status status = LATCH_DONE;
    size_t at = 0;

    while (status == LATCH_DONE && at < multi->count) {
        status = take_member(multi, at, course, false, LATCH_NEVER);
        at += status == LATCH_DONE;
    }
    if (status == LATCH_DONE && has_forked(multi)) {
        status = LATCH_CONFLICT; /* the hold is the parent's */
    }
    if (status == LATCH_DONE) {
        return finish_acquire(multi, course);
    }
    if (status == LATCH_CONFLICT && multi->mode == LATCH_SHARED
        && php_latch_multi_lock_is_held(multi)) {
        return undo_promotion(multi, at, course->blocking && course->deadline_ns == LATCH_NEVER);
    }
    give_back(multi);
    return status;
}

/* ---- Either ---------------------------------------------------------------------------------- */

static latch_status run_course(php_latch_multi_lock *multi, multi_course *course)
{
    latch_status status;

    if (php_latch_multi_lock_is_held(multi)) {
        status = acquire_again(multi, course);
        if (status != LATCH_CONFLICT || !course->blocking || EG(exception) != NULL
            || multi->mode != LATCH_FREE) {
            return status;
        } /* else the hold is lost */
    }
    multi->is_taking = true;
    status = acquire_anew(multi, course);
    multi->is_taking = false;
    if (status != LATCH_DONE) {
        multi->no_news = multi->hold;
    }
    return status;
}

/*
 * The same without automatic release. RSHUTDOWN would not give back what an acquire has taken so
 * far, when a fatal error or the time limit ends the script in the middle of it.
 */
static latch_status run_course_by_hand(php_latch_multi_lock *multi, multi_course *course)
{
    volatile latch_status status = LATCH_INTERRUPTED;

    zend_try
    {
        status = run_course(multi, course);
    }
    zend_catch
    {
        leave_to_parent(multi);
        for (size_t at = 0; multi->is_taking && at < multi->count; at++) {
            php_latch_lock_abandon(multi->members[at].lock);
        }
        zend_bailout();
    }
    zend_end_try();
    return status;
}

latch_status php_latch_multi_lock_acquire(php_latch_multi_lock *multi, latch_op_kind kind,
                                          bool blocking, int64_t deadline_ns)
{
    multi_course course = {
        .kind = kind,
        .blocking = blocking,
        .deadline_ns = deadline_ns,
        .refused = NONE,
    };

    multi->generation = latch_engine_generation(php_latch_engine);
    return multi->members[0].lock->auto_release ? run_course(multi, &course)
                                                : run_course_by_hand(multi, &course);
}
