/*
 * Lock::keepAlive(), Lock::onLost() and latch.keep_alive: which leases the engine renews, and
 * watches (src/latch.h, "Renewal"). What becomes of a loss stands in ext/key/lost_locks.c.
 *
 * Locks want something of a lease, and several may share it: a clone, a second Lock on the same
 * key. The engine keeps it for as long as one of these lives, as the most demanding of them wants
 * it.
 */
#include "ext/lock/keep_alive.h"

#include "zend_closures.h"
#include "zend_exceptions.h"

#include <math.h>

ZEND_INI_MH(php_latch_update_max_hold)
{
    zend_long whole = 0;
    double seconds = 0;
    uint8_t type = IS_LONG; /* of nothing at all: 0 */

    if (new_value != NULL && ZSTR_LEN(new_value) > 0) {
        type = is_numeric_string(ZSTR_VAL(new_value), ZSTR_LEN(new_value), &whole, &seconds, false);
    }
    if (type == IS_LONG) {
        seconds = (double) whole;
    }
    if (type == 0 || !isfinite(seconds) || seconds < 0) {
        zend_error(E_WARNING, "latch.max_hold must be a number of seconds, 0 or more");
        return FAILURE;
    }
    LATCH_G(max_hold_ms) = php_latch_ttl_ms(seconds);
    return SUCCESS;
}

/* ---- What is kept -----------------------------------------------------------------------------
 */

php_latch_kept *php_latch_kept_find(const php_latch_lease *lease)
{
    return zend_hash_index_find_ptr(&LATCH_G(kept), lease->std.handle);
}

static php_latch_kept *find_or_make(php_latch_lease *lease)
{
    php_latch_kept *kept = php_latch_kept_find(lease);

    if (kept == NULL) {
        kept = ecalloc(1, sizeof(*kept));
        kept->lease = lease;
        latch_link_init(&kept->keepings);
        zend_hash_index_add_new_ptr(&LATCH_G(kept), lease->std.handle, kept);
    }
    return kept;
}

static void forget(php_latch_kept *kept)
{
    latch_lease_let_go(&kept->lease->lease);
    zend_hash_index_del(&LATCH_G(kept), kept->lease->std.handle);
    efree(kept);
}

static bool is_renewing(const php_latch_keeping *keeping)
{
    return keeping->renews || keeping->renews_by_setting;
}

/* What the Locks want together. */
static latch_keep sum_up(const php_latch_kept *kept)
{
    latch_keep keep = {0};
    bool for_ever = false;

    for (const latch_link *link = kept->keepings.next; link != &kept->keepings; link = link->next) {
        const php_latch_keeping *keeping = LATCH_CONTAINER(link, php_latch_keeping, link);
        int64_t ttl_ms = php_latch_lock_ttl_ms(keeping->lock);

        if (keep.ttl_ms == 0 || ttl_ms < keep.ttl_ms) {
            keep.ttl_ms = ttl_ms;
        }
        if (is_renewing(keeping)) {
            keep.renew = true;
            for_ever |= keeping->max_hold_ms == 0;
            if (keeping->max_hold_ms > keep.max_hold_ms) {
                keep.max_hold_ms = keeping->max_hold_ms;
            }
        }
        keep.is_shared_out |= kept->lease->lease.handed_over && !keeping->lock->auto_release;
    }
    if (for_ever) {
        keep.max_hold_ms = 0;
    }
    return keep;
}

/* False also in a forked child, whose engine keeps nothing of its parent's. */
static bool is_told(const php_latch_kept *kept, const latch_keep *keep)
{
    return kept->lease->lease.kept && kept->generation == latch_engine_generation(php_latch_engine)
           && kept->keep.renew == keep->renew && kept->keep.max_hold_ms == keep->max_hold_ms
           && kept->keep.is_shared_out == keep->is_shared_out;
}

/* Tells the engine what is wanted now. */
static latch_status tell_engine(php_latch_kept *kept, latch_error *error)
{
    latch_keep keep = sum_up(kept);
    latch_mailbox *mailbox;
    latch_status status;

    if (is_told(kept, &keep) || LATCH_G(all_released)) {
        return LATCH_DONE;
    }
    mailbox = php_latch_mailbox_get();
    if (mailbox == NULL) {
        *error = (latch_error){.status = LATCH_ERROR_MEMORY, .message = "out of memory"};
        return LATCH_ERROR_MEMORY;
    }
    status = latch_lease_keep(&kept->lease->lease, mailbox, &keep, error);
    if (status == LATCH_DONE) {
        kept->keep = keep;
        kept->generation = latch_engine_generation(php_latch_engine);
    }
    return status;
}

/*
 * Tells it of a change. Not where it keeps nothing: a child begins to keep its parent's lock no
 * sooner than that is acquired or kept there.
 */
static void update(php_latch_kept *kept)
{
    latch_error error;

    if (kept->lease->lease.kept && kept->generation == latch_engine_generation(php_latch_engine)) {
        tell_engine(kept, &error); /* if it cannot do that, it goes on as before */
    }
}

void php_latch_let_all_go(void)
{
    php_latch_kept *kept;

    ZEND_HASH_FOREACH_PTR(&LATCH_G(kept), kept) {
        latch_lease_let_go(&kept->lease->lease);
    }
    ZEND_HASH_FOREACH_END();
}

void php_latch_lease_end_keeping(const php_latch_lease *lease)
{
    php_latch_kept *kept = zend_hash_num_elements(&LATCH_G(kept)) > 0 ? php_latch_kept_find(lease)
                                                                      : NULL;

    if (kept == NULL) {
        return;
    }
    while (kept->keepings.next != &kept->keepings) {
        php_latch_keeping *keeping = LATCH_CONTAINER(kept->keepings.next, php_latch_keeping, link);

        latch_link_remove(&keeping->link);
        keeping->kept = NULL;
    }
    forget(kept);
}

void php_latch_lease_hand_over(php_latch_lease *lease)
{
    php_latch_kept *kept = lease->lease.kept ? php_latch_kept_find(lease) : NULL;

    lease->lease.handed_over = true;
    if (kept != NULL) {
        update(kept);
    }
}

/* ---- What a Lock wants ------------------------------------------------------------------------
 */

static php_latch_keeping *keeping_of(php_latch_lock *lock)
{
    php_latch_keeping *keeping = lock->keeping;

    if (keeping == NULL) {
        keeping = ecalloc(1, sizeof(*keeping));
        keeping->lock = lock;
        php_latch_notice_init(&keeping->notice);
        lock->keeping = keeping;
    }
    return keeping;
}

static void leave(php_latch_keeping *keeping)
{
    php_latch_kept *kept = keeping->kept;

    if (kept == NULL) {
        return;
    }
    latch_link_remove(&keeping->link);
    keeping->kept = NULL;
    if (kept->keepings.next == &kept->keepings) {
        forget(kept);
    } else {
        update(kept);
    }
}

static void join(php_latch_keeping *keeping, php_latch_lease *lease)
{
    php_latch_kept *kept;

    if (keeping->kept != NULL && keeping->kept->lease == lease) {
        return;
    }
    leave(keeping);
    kept = find_or_make(lease);
    latch_link_append(&kept->keepings, &keeping->link);
    keeping->kept = kept;
}

/* By keepAlive() or onLost(). */
static bool is_asked_for(const php_latch_keeping *keeping)
{
    return keeping->renews || Z_TYPE(keeping->callbacks) == IS_ARRAY;
}

latch_status php_latch_lock_keep(php_latch_lock *lock, php_latch_lease *lease, latch_error *error)
{
    bool by_setting = LATCH_G(keep_alive)
                      && (latch_store_describe(lease->lease.store)->capabilities & LATCH_EXPIRING)
                             != 0;
    php_latch_keeping *keeping;
    latch_status status;

    if (lock->keeping == NULL && !by_setting) {
        return LATCH_DONE;
    }
    keeping = keeping_of(lock);
    keeping->renews_by_setting = by_setting;
    if (!keeping->renews) {
        keeping->max_hold_ms = LATCH_G(max_hold_ms);
    }
    if (by_setting || is_asked_for(keeping)) {
        join(keeping, lease);
        status = tell_engine(keeping->kept, error);
        if (!latch_failed(status) || keeping->renews) {
            return status;
        }
        /* Nobody has insisted on renewal: what cannot be renewed goes on without. */
        keeping->renews_by_setting = false;
    }
    if (is_asked_for(keeping)) {
        return tell_engine(keeping->kept, error);
    }
    leave(keeping);
    return LATCH_DONE;
}

void php_latch_lock_end_keeping(php_latch_lock *lock)
{
    php_latch_keeping *keeping = lock->keeping;

    if (keeping != NULL) {
        lock->keeping = NULL;
        leave(keeping);
        php_latch_notice_drop(&keeping->notice);
        zval_ptr_dtor(&keeping->callbacks);
        efree(keeping);
    }
}

void php_latch_lock_clone_keeping(php_latch_lock *to, const php_latch_lock *from)
{
    const php_latch_keeping *model = from->keeping;
    php_latch_keeping *keeping;

    if (model == NULL) {
        return;
    }
    keeping = keeping_of(to);
    keeping->renews = model->renews;
    keeping->renews_by_setting = model->renews_by_setting;
    keeping->max_hold_ms = model->max_hold_ms;
    ZVAL_COPY(&keeping->callbacks, &model->callbacks);
    if (model->kept != NULL) {
        join(keeping, model->kept->lease);
    }
}

zval *php_latch_lock_callbacks(const php_latch_lock *lock)
{
    return lock->keeping != NULL ? &lock->keeping->callbacks : NULL;
}

/* ---- What became of it ------------------------------------------------------------------------
 */

void php_latch_lock_note_acquired(const php_latch_lock *lock)
{
    if (lock->keeping != NULL && lock->keeping->kept != NULL) {
        lock->keeping->kept->is_lost = false;
    }
}

void php_latch_lock_find_loss(const php_latch_lock *lock)
{
    if (lock->keeping != NULL && lock->keeping->kept != NULL) {
        latch_lease_follow(&lock->keeping->kept->lease->lease, php_latch_now_ns());
        php_latch_losses_collect();
    }
}

bool php_latch_lock_take_loss(const php_latch_lock *lock)
{
    bool is_lost = false;

    if (lock->native && lock->keeping != NULL && lock->keeping->kept != NULL) {
        is_lost = lock->keeping->kept->is_lost;
        lock->keeping->kept->is_lost = false;
    }
    return is_lost;
}

/* The first end of what is kept of the key; LATCH_NEVER when nothing is that ends. */
static int64_t end_of_kept(zend_object *key, int64_t now_ns)
{
    int64_t end_ns = LATCH_NEVER;

    for (php_latch_lease *lease = php_latch_lease_first(key); lease != NULL;
         lease = php_latch_lease_next(lease)) {
        if (!lease->lease.kept) {
            continue;
        }
        latch_lease_follow(&lease->lease, now_ns);
        if (lease->lease.mode != LATCH_FREE && lease->lease.deadline_ns < end_ns) {
            end_ns = lease->lease.deadline_ns;
        }
    }
    return end_ns;
}

void php_latch_key_follow(zend_object *key)
{
    int64_t now_ns, end_ns;

    if (zend_hash_num_elements(&LATCH_G(kept)) == 0) {
        return;
    }
    now_ns = php_latch_now_ns();
    end_ns = end_of_kept(key, now_ns);
    if (end_ns != LATCH_NEVER) {
        php_latch_key_set_lifetime(key, (double) (end_ns - now_ns) / LATCH_NS_PER_S);
    }
}

/* ---- The methods ------------------------------------------------------------------------------
 */

/* What the caller may do instead. */
static const char *advice(const php_latch_lock *lock)
{
    unsigned capabilities =
        lock->native
            ? latch_store_describe(php_latch_store_of(lock->store)->backend->store)->capabilities
            : LATCH_EXPIRING;

    return (capabilities & LATCH_EXPIRING) != 0 ? "call refresh() in time"
                                                : "make the store of a DSN, or ask isAcquired() "
                                                  "when it matters";
}

static void throw_refusal(const php_latch_lock *lock, bool renews, latch_status status,
                          const char *reason)
{
    bool is_unsupported = status == LATCH_ERROR_UNSUPPORTED;
    const char *what = renews ? "cannot be kept alive" : "cannot be watched";
    zend_string *after = is_unsupported ? zend_strpprintf(0, "\" lock %s in a %s: %s; %s.", what,
                                                          ZSTR_VAL(lock->store->ce->name), reason,
                                                          advice(lock))
                                        : zend_strpprintf(0, "\" lock %s: %s.", what, reason);
    zval exception;

    ZVAL_OBJ(&exception, php_latch_new_exception(is_unsupported ? php_latch_invalid_argument_ce
                                                                : php_latch_storage_ce,
                                                 NULL, "The \"", php_latch_key_name(lock->key),
                                                 ZSTR_VAL(after)));
    zend_string_release(after);
    zend_throw_exception_object(&exception);
}

/* False after throwing, with nothing changed. */
static bool check_native(const php_latch_lock *lock, bool renews)
{
    if (lock->native) {
        return true;
    }
    throw_refusal(lock, renews, LATCH_ERROR_UNSUPPORTED,
                  php_latch_store_of(lock->store) != NULL
                      ? "PHP code has a part in it, which only this thread can run"
                      : "it is written in PHP, which only this thread can run");
    return false;
}

/* Keeps the lease that the Lock has, or will have; false after throwing. */
static bool begin(php_latch_lock *lock, bool renews)
{
    php_latch_backend *backend = php_latch_store_backend(lock->store);
    php_latch_lease *lease = backend != NULL ? php_latch_lease_get(lock->key, backend, NULL) : NULL;
    latch_error error;
    latch_status status;

    if (lease == NULL) {
        return false;
    }
    join(lock->keeping, lease);
    status = tell_engine(lock->keeping->kept, &error);
    if (latch_failed(status)) {
        throw_refusal(lock, renews, status, error.message);
    }
    return !latch_failed(status);
}

/* Back to what the Lock wanted before. */
static void take_back(php_latch_keeping *keeping)
{
    if (!is_asked_for(keeping) && !keeping->renews_by_setting) {
        leave(keeping);
    } else if (keeping->kept != NULL) {
        update(keeping->kept);
    }
}

PHP_METHOD(Latch_Lock, keepAlive)
{
    php_latch_lock *lock = php_latch_lock_from(Z_OBJ_P(ZEND_THIS));
    php_latch_keeping *keeping, before;
    double max_hold = 0;
    bool max_hold_is_null = true;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_DOUBLE_OR_NULL(max_hold, max_hold_is_null)
    ZEND_PARSE_PARAMETERS_END();
    if (!php_latch_lock_check_constructed(lock)) {
        RETURN_THROWS();
    }
    if (!max_hold_is_null && !(isfinite(max_hold) && max_hold > 0)) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, 1, "maxHold",
                                 "must be null or a finite number of seconds, more than 0");
        RETURN_THROWS();
    }
    if (!check_native(lock, true)) {
        RETURN_THROWS();
    }
    keeping = keeping_of(lock);
    before = *keeping;
    keeping->renews = true;
    keeping->max_hold_ms = max_hold_is_null ? LATCH_G(max_hold_ms) : php_latch_ttl_ms(max_hold);
    if (!begin(lock, true)) {
        keeping->renews = before.renews;
        keeping->max_hold_ms = before.max_hold_ms;
        take_back(keeping);
        RETURN_THROWS();
    }
    RETURN_OBJ_COPY(&lock->std);
}

/* A closure, because what may be called here, may not be called where the loss is told. */
static void make_closure(zval *closure, zval *callback)
{
    zend_function *from_callable =
        zend_hash_str_find_ptr(&zend_ce_closure->function_table, ZEND_STRL("fromcallable"));

    zend_call_known_function(from_callable, NULL, zend_ce_closure, closure, 1, callback, NULL);
}

static void add_callback(php_latch_keeping *keeping, zval *closure)
{
    if (Z_TYPE(keeping->callbacks) != IS_ARRAY) {
        array_init(&keeping->callbacks);
    }
    SEPARATE_ARRAY(&keeping->callbacks);
    add_next_index_zval(&keeping->callbacks, closure);
}

PHP_METHOD(Latch_Lock, onLost)
{
    php_latch_lock *lock = php_latch_lock_from(Z_OBJ_P(ZEND_THIS));
    zend_fcall_info call;
    zend_fcall_info_cache cache;
    zval closure;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_FUNC(call, cache)
    ZEND_PARSE_PARAMETERS_END();
    if (!php_latch_lock_check_constructed(lock) || !check_native(lock, false)) {
        RETURN_THROWS();
    }
    ZVAL_UNDEF(&closure);
    make_closure(&closure, &call.function_name);
    if (Z_TYPE(closure) != IS_OBJECT) {
        RETURN_THROWS();
    }
    keeping_of(lock);
    if (!begin(lock, false)) {
        take_back(lock->keeping);
        zval_ptr_dtor(&closure);
        RETURN_THROWS();
    }
    add_callback(lock->keeping, &closure);
    RETURN_OBJ_COPY(&lock->std);
}
