/* Requests of a Lock to its store: by the engine if the store is ours, else by its PHP methods. */
#include "ext/lock/lock.h"

#include "ext/key/key.h"
#include "ext/php/client_object.h"
#include "ext/php/errors.h"
#include "ext/php/poll_loop.h"
#include "ext/php/statistics.h"
#include "ext/store/callback_store.h"
#include "ext/store/engine_store.h"

#include <math.h>

/* A hundred years: longer TTLs count as infinite; fits into nanoseconds. */
#define SECONDS_MAX 3.2e9

static php_latch_lease *lock_lease(const php_latch_lock *lock)
{
    return lock->native
               ? php_latch_lease_find(lock->key, php_latch_store_of(lock->store)->backend, NULL)
               : php_latch_lease_find(lock->key, NULL, lock->store);
}

/* ---- Stores of the engine */

/* Sets the key's expiry, on the wall clock, from the lease's monotonic deadline. */
static void apply_lease_expiry(php_latch_lock *lock, latch_lease *lease)
{
    if (lease->observed) {
        latch_lease_sync_deadline(lease, php_latch_now_ns());
    }
    if (lease->mode != LATCH_FREE && lease->deadline_ns != LATCH_NEVER) {
        php_latch_key_set_lifetime(lock->key,
                                   (double) (lease->deadline_ns - php_latch_now_ns()) / 1e9);
    }
}

static bool takes_lease(const latch_request *request)
{
    return request->kind == LATCH_ACQUIRE || request->kind == LATCH_ACQUIRE_SHARED;
}

bool php_latch_lock_prepare_request(php_latch_lock *lock, const latch_request *request,
                                    php_latch_prepared *prepared, php_latch_outcome *outcome)
{
    php_latch_backend *backend = php_latch_store_backend(lock->store);
    php_latch_lease *lease = backend != NULL ? php_latch_lease_get(lock->key, backend, NULL) : NULL;
    bool has_ttl = takes_lease(request) || request->kind == LATCH_REFRESH;
    const char *problem;
    latch_error error;
    latch_status status;

    if (lease == NULL) {
        *outcome = php_latch_outcome_of_call(php_latch_lock_primitive(lock));
        return false;
    }
    problem = has_ttl
                  ? php_latch_store_ttl_problem(php_latch_store_of(lock->store), request->ttl_ms)
                  : NULL;
    if (problem != NULL) { /* before anything is sent */
        error = (latch_error){.status = LATCH_ERROR_ARGUMENT};
        snprintf(error.message, sizeof(error.message), "%s", problem);
        *outcome = php_latch_outcome_of_status(php_latch_lease_primitive(lease),
                                               LATCH_ERROR_ARGUMENT, &error,
                                               php_latch_lease_resource(lease));
        return false;
    }
    php_latch_store_configure(php_latch_store_of(lock->store), lock->key, lease);
    if (takes_lease(request)) {
        /* Of a store written in PHP that takes this lock the Lock above decides. */
        lease->lease.inherit = !lock->auto_release && php_latch_store_call_inherits();
        status = php_latch_lock_start_renewal(lock, lease, &error);
        if (latch_failed(status)) {
            *outcome = php_latch_outcome_of_status(php_latch_lease_primitive(lease), status, &error,
                                                   php_latch_lease_resource(lease));
            return false;
        }
    }
    GC_ADDREF(&lease->std); /* a signal handler may take it away from the key */
    *prepared = (php_latch_prepared){lease, php_latch_lease_before_request(lease)};
    return true;
}

php_latch_outcome php_latch_lock_complete_request(php_latch_lock *lock,
                                                  const latch_request *request,
                                                  const php_latch_prepared *prepared,
                                                  latch_status status, const latch_error *error)
{
    php_latch_lease *lease = prepared->lease;
    php_latch_outcome outcome;

    php_latch_lease_after_request(lease, prepared->before, request->kind);
    if (request->kind != LATCH_RELEASE && request->kind != LATCH_PROBE) {
        apply_lease_expiry(lock, &lease->lease); /* also of a hold from before that goes on */
    }
    if (status != LATCH_DONE) {
        /* A child that finds its parent's lock gone has lost nothing. */
        php_latch_statistics_count_request(&lease->lease, request->kind, status,
                                           php_latch_lock_is_ours(lock));
    } else if (takes_lease(request)) {
        php_latch_lease_record_acquired(lease);
        php_latch_lock_record_acquired(lock);
    }
    if (php_latch_store_log_outcome(lock->store, lock->key, lease, request, status,
                                    prepared->before == LATCH_FREE)) {
        outcome = php_latch_outcome_of_status(php_latch_lease_primitive(lease), status, error,
                                              php_latch_lease_resource(lease));
    } else {
        outcome = php_latch_outcome_of_call(php_latch_lock_primitive(lock));
    }
    OBJ_RELEASE(&lease->std);
    return outcome;
}

static php_latch_outcome run_native(php_latch_lock *lock, const latch_request *request)
{
    php_latch_prepared prepared;
    php_latch_outcome outcome;
    latch_error error;
    latch_status status;

    if (!php_latch_lock_prepare_request(lock, request, &prepared, &outcome)) {
        return outcome;
    }
    status = php_latch_run_request(&prepared.lease->lease, request, &error);
    return php_latch_lock_complete_request(lock, request, &prepared, status, &error);
}

static unsigned lock_capabilities(const php_latch_lock *lock)
{
    return latch_store_describe(php_latch_store_of(lock->store)->backend->store)->capabilities;
}

/* ---- Stores written in PHP */

/*
 * Records the result of a call in the lease, for isHeld(). Stores call reduceLifetime() before they
 * send their command, so the key's expiry counts from then, as it must. The wall clock may be set:
 * a TTL of the Lock bounds it, counted from before the call.
 */
static void record_call(const php_latch_lock *lock, php_latch_lease *lease, latch_status status,
                        uint8_t mode, int64_t sent_ns, double ttl)
{
    double remaining = php_latch_key_remaining_lifetime(lock->key);
    int64_t deadline_ns = LATCH_NEVER;

    if (status == LATCH_CONFLICT) {
        lease->lease.mode = LATCH_FREE;
    }
    if (status != LATCH_DONE) {
        return;
    }
    if (fabs(remaining) < SECONDS_MAX) { /* false for NAN: no expiry */
        deadline_ns = php_latch_now_ns() + (int64_t) (remaining * 1e9);
        if (ttl > 0 && ttl < SECONDS_MAX && deadline_ns > sent_ns + (int64_t) (ttl * 1e9)) {
            deadline_ns = sent_ns + (int64_t) (ttl * 1e9);
        }
    }
    lease->lease.mode = mode;
    lease->lease.deadline_ns = deadline_ns;
}

/* Does this process hold the lock, for all that it knows? */
static bool thinks_it_holds(const php_latch_lock *lock, const php_latch_lease *lease)
{
    return lease != NULL && lease->lease.mode != LATCH_FREE && php_latch_lock_is_ours(lock);
}

/* Counts a call that failed. */
static void count_call(const php_latch_lock *lock, latch_op_kind kind,
                       const php_latch_outcome *outcome, bool was_held)
{
    bool expired =
        outcome->exception != NULL
        && instanceof_function(outcome->exception->ce, php_latch_lock_primitive(lock)->expired);

    php_latch_statistics_count(php_latch_lock_statistics(lock), kind,
                               expired ? LATCH_ERROR_LOST : outcome->status, was_held);
}

/* ---- Either */

int64_t php_latch_lock_ttl_ms(const php_latch_lock *lock)
{
    const php_latch_store *store = php_latch_store_of(lock->store);

    return lock->ttl == 0 && store != NULL ? store->initial_ttl_ms : php_latch_ttl_ms(lock->ttl);
}

bool php_latch_lock_may_be_endless(const php_latch_lock *lock)
{
    return lock->native && php_latch_store_of(lock->store)->backend != NULL
           && php_latch_store_of(lock->store)->initial_ttl_ms == 0
           && (lock_capabilities(lock) & LATCH_OWNERS) != 0;
}

latch_request php_latch_lock_save_request(const php_latch_lock *lock, latch_op_kind kind,
                                          bool blocking, int64_t deadline_ns)
{
    latch_request request = {
        .kind = kind,
        .wait = blocking,
        .deadline_ns = deadline_ns,
        .ttl_ms = php_latch_lock_ttl_ms(lock),
    };

    if (php_latch_lock_primitive(lock)->is_permit) {
        request.permits = php_latch_key_permits(lock->key);
        request.permits.overtakes = lock->overtakes;
    }
    return request;
}

void php_latch_lock_record_saved(php_latch_lock *lock)
{
    if (lock->native && (lock_capabilities(lock) & LATCH_SERIALIZABLE) == 0) {
        if (php_latch_lock_primitive(lock)->is_permit) {
            php_latch_key_mark_owned(lock->key, lock->store->ce->name);
        } else {
            php_latch_key_mark_unserializable(lock->key);
        }
    }
    php_latch_lock_statistics(lock)->acquired++;
    php_latch_lock_claim(lock);
}

php_latch_outcome php_latch_lock_save(php_latch_lock *lock, latch_op_kind kind, bool blocking,
                                      int64_t deadline_ns)
{
    php_latch_outcome outcome;

    if (lock->native) {
        const latch_request request =
            php_latch_lock_save_request(lock, kind, blocking, deadline_ns);

        outcome = run_native(lock, &request);
    } else {
        int64_t sent_ns = php_latch_now_ns();
        /* Allocated before the call: an allocation after it could bail out with the lock taken. */
        php_latch_lease *lease = php_latch_lease_get(lock->key, NULL, lock->store);
        latch_mode before;

        if (lease == NULL) {
            return php_latch_outcome_of_call(php_latch_lock_primitive(lock));
        }
        php_latch_lock_use_lease(lock, lease);
        lease->lease.is_member = lock->counted_as == PHP_LATCH_COUNTED_MEMBERS;
        GC_ADDREF(&lease->std);
        before = php_latch_lease_before_request(lease);
        outcome = php_latch_callback_acquire(lock->store, lock->key, kind, blocking, deadline_ns,
                                             lock->ttl, !lock->auto_release);
        record_call(lock, lease, outcome.status,
                    kind == LATCH_ACQUIRE ? LATCH_EXCLUSIVE : LATCH_SHARED, sent_ns,
                    php_latch_lock_primitive(lock)->is_permit ? lock->ttl : 0);
        php_latch_lease_after_request(lease, before, kind);
        if (outcome.status != LATCH_DONE) {
            count_call(lock, kind, &outcome, false);
        }
        OBJ_RELEASE(&lease->std);
    }
    if (outcome.status == LATCH_DONE) {
        php_latch_lock_record_saved(lock);
    }
    return outcome;
}

php_latch_outcome php_latch_lock_put_off(php_latch_lock *lock, double ttl)
{
    php_latch_outcome outcome;

    if (lock->native) {
        const latch_request request = {.kind = LATCH_REFRESH, .ttl_ms = php_latch_ttl_ms(ttl)};

        outcome = run_native(lock, &request);
    } else {
        int64_t sent_ns = php_latch_now_ns();
        php_latch_lease *lease = php_latch_lease_get(lock->key, NULL, lock->store);
        latch_mode before;
        bool was_held;

        if (lease == NULL) {
            return php_latch_outcome_of_call(php_latch_lock_primitive(lock));
        }
        php_latch_lock_use_lease(lock, lease);
        was_held = thinks_it_holds(lock, lease);
        GC_ADDREF(&lease->std);
        before = php_latch_lease_before_request(lease);
        outcome = php_latch_callback_refresh(lock->store, lock->key, ttl);
        record_call(lock, lease, outcome.status, before != LATCH_FREE ? before : LATCH_EXCLUSIVE,
                    sent_ns, ttl);
        php_latch_lease_after_request(lease, before, LATCH_REFRESH);
        if (outcome.status != LATCH_DONE) {
            count_call(lock, LATCH_REFRESH, &outcome, was_held);
        }
        OBJ_RELEASE(&lease->std);
    }
    return outcome;
}

php_latch_outcome php_latch_lock_delete(php_latch_lock *lock, bool detach, bool *was_held)
{
    latch_request request = {.kind = LATCH_RELEASE, .was_held = was_held};
    php_latch_lease *lease;

    if (lock->native) {
        php_latch_lock_collect_loss(lock);
        /* A lease in another store may have the same token, and acquire by it before it arrives. */
        request.detach = detach && php_latch_lease_is_alone(lock->key);
        return run_native(lock, &request);
    }
    /* Not held from the moment at which the command may arrive, whatever its result. */
    lease = lock_lease(lock);
    if (lease != NULL) {
        php_latch_lease_before_request(lease);
        lease->lease.mode = LATCH_FREE;
    }
    return php_latch_callback_delete(lock->store, lock->key);
}

php_latch_outcome php_latch_lock_exists(php_latch_lock *lock, bool *exists)
{
    const latch_request request = {.kind = LATCH_PROBE};
    php_latch_outcome outcome;

    if (!lock->native) {
        php_latch_lease *lease = lock_lease(lock);
        bool was_held = thinks_it_holds(lock, lease);

        outcome = php_latch_callback_exists(lock->store, lock->key, exists);
        if (outcome.status == LATCH_DONE && !*exists) {
            php_latch_statistics_count(php_latch_lock_statistics(lock), LATCH_PROBE, LATCH_CONFLICT,
                                       was_held);
        }
        lease = lock_lease(lock);
        if (!*exists && lease != NULL) {
            latch_mode before = php_latch_lease_before_request(lease);

            lease->lease.mode = LATCH_FREE;
            if (outcome.status == LATCH_DONE) {
                php_latch_lease_after_request(lease, before, LATCH_PROBE);
            }
        }
        return outcome;
    }
    outcome = run_native(lock, &request);
    *exists = outcome.status == LATCH_DONE;
    if (outcome.status == LATCH_CONFLICT) {
        outcome.status = LATCH_DONE;
    }
    return outcome;
}

/* The key's lease in a combined store; NULL: the store is none, or was not used with that key. */
static php_latch_lease *combined_lease_of(const php_latch_lock *lock)
{
    const php_latch_store *store = php_latch_store_of(lock->store);
    php_latch_lease *lease = store != NULL && store->backend != NULL
                                 ? php_latch_lease_find(lock->key, store->backend, NULL)
                                 : NULL;

    return lease != NULL && php_latch_lease_has_parts(lease) ? lease : NULL;
}

bool php_latch_lock_holds_in_members(const php_latch_lock *lock)
{
    const php_latch_lease *lease = combined_lease_of(lock);

    return lease != NULL && lease->backend->ops->holds_in_part(lease);
}

void php_latch_lock_release_in_members(php_latch_lock *lock)
{
    php_latch_lease *lease = combined_lease_of(lock);

    if (lock->native) {
        php_latch_lock_free(lock);
        php_latch_client_failure_clear();
    } else if (lease != NULL) {
        GC_ADDREF(&lease->std); /* a signal handler may take it away from the key */
        lease->backend->ops->release_parts(lease, php_latch_lease_is_alone(lock->key));
        OBJ_RELEASE(&lease->std);
    }
    php_latch_lock_set_dirty(lock, false);
}

latch_mode php_latch_lock_mode(const php_latch_lock *lock)
{
    const php_latch_lease *lease = lock_lease(lock);

    return lease != NULL && lock->dirty ? lease->lease.mode : LATCH_FREE;
}

bool php_latch_lock_is_held(const php_latch_lock *lock)
{
    php_latch_lease *lease = lock_lease(lock);

    /* A lock that the parent process releases at its end is not this child's. */
    if (lease == NULL || (!lock->native && lock->auto_release && !php_latch_lock_is_ours(lock))) {
        return false;
    }
    return latch_lease_held(&lease->lease, php_latch_now_ns());
}

uint64_t php_latch_lock_fencing_token(const php_latch_lock *lock)
{
    const php_latch_lease *lease = lock_lease(lock);

    if (lease == NULL || (lock->auto_release && !php_latch_lock_is_ours(lock))) {
        return 0;
    }
    return lease->lease.fencing_token;
}

/* ---- Was it lost? */

void php_latch_lock_begin_hold(const php_latch_lock *lock, php_latch_hold *hold)
{
    hold->lease = lock_lease(lock);
    if (hold->lease != NULL) {
        GC_ADDREF(&hold->lease->std);
        hold->losses = hold->lease->lease.losses;
        hold->is_certain = php_latch_lock_is_held(lock);
    }
}

/*
 * Asks the store about a hold that is neither certain nor past its deadline: a child shares it, or
 * the session is gone.
 */
static bool store_has_lost(php_latch_lock *lock)
{
    bool exists = false;
    php_latch_outcome outcome = php_latch_lock_exists(lock, &exists);
    bool is_known = outcome.status == LATCH_DONE;

    php_latch_outcome_free(&outcome);
    return is_known && !exists;
}

bool php_latch_lock_lost_hold(php_latch_lock *lock, const php_latch_hold *hold)
{
    const php_latch_lease *lease = hold->lease;

    if (lease == NULL || php_latch_is_out_of_memory()) {
        return false;
    }
    if (lock->native) {
        php_latch_lock_collect_loss(lock);
    }
    if (lease->lease.losses != hold->losses) {
        return true;
    }
    if (lock_lease(lock) != lease || lease->lease.mode == LATCH_FREE) {
        return false;
    }
    if (php_latch_now_ns() >= lease->lease.deadline_ns) {
        php_latch_lock_statistics(lock)->lost++;
        return true;
    }
    return hold->is_certain && !php_latch_lock_is_held(lock) && store_has_lost(lock);
}

void php_latch_lock_end_hold(php_latch_hold *hold)
{
    if (hold->lease != NULL) {
        OBJ_RELEASE(&hold->lease->std);
    }
}
