/*
 * Detection of deadlocks of a thread with itself: a wait without deadline for a lock that the same
 * thread holds through another key, and could release only after the wait.
 *
 * The thread's leases are PHP objects (php_latch_lease), so nothing is recorded while locks are
 * taken: the detector searches all leases when a wait was refused. A suspect lease is then verified
 * by its server: is the lock held, and is it the same lock? Two connections lead to one server if a
 * lock with a unique name, taken through one, cannot be taken through the other: so neither DSNs
 * nor client objects need be compared.
 *
 * A hold that another process may end is no deadlock: a forked child shares it, a program has
 * inherited its file, or the key was handed over. Permits of a semaphore are not looked at: others
 * hold some of them, too.
 */
#include "ext/lock/lock.h"

#include "ext/php/client_object.h"
#include "ext/php/poll_loop.h"

/* The lock of a check is released at once; should the process die, the server's TTL ends it. */
#define CHECK_TTL_MS 5000
#define CHECK_NAME "latch-deadlock-check-"

/* Two back ends can be the same place only if both reach it by a server. */
static bool may_be_one_place(const php_latch_lease *lease, const php_latch_lease *other)
{
    const latch_store_info *info = latch_store_describe(lease->lease.store);
    const latch_store_info *others = latch_store_describe(other->lease.store);

    return lease->backend == other->backend
           || ((info->capabilities & (LATCH_EXPIRING | LATCH_SESSIONS)) != 0
               && strcmp(info->name, others->name) == 0);
}

/* Leases with one token are one holder to a server. */
static bool is_one_holder(const latch_lease *lease, const latch_lease *other)
{
    return lease->token != NULL && latch_lease_has_token(other, lease->token, lease->token_length);
}

static bool is_in_the_way(latch_lease *held, const latch_lease *wanted, latch_op_kind kind)
{
    unsigned capabilities = latch_store_describe(wanted->store)->capabilities;
    bool shared = kind == LATCH_ACQUIRE_SHARED && (capabilities & LATCH_SHARED_LOCKS) != 0;

    return held->mode != LATCH_FREE && (!shared || held->mode == LATCH_EXCLUSIVE)
           && held->resource_length == wanted->resource_length
           && memcmp(held->resource, wanted->resource, held->resource_length) == 0
           && !is_one_holder(held, wanted) && latch_lease_held(held, php_latch_now_ns());
}

static bool is_suspect(php_latch_lease *held, const php_latch_lease *wanted, latch_op_kind kind)
{
    return held != wanted && !held->lease.is_permit && !wanted->lease.is_permit
           && php_latch_lease_is_native(held) && !php_latch_lease_has_parts(held)
           && may_be_one_place(held, wanted) && is_in_the_way(&held->lease, &wanted->lease, kind)
           && php_latch_lease_is_ours_alone(held);
}

/* ---- What servers say ------------------------------------------------------------------------ */

static latch_status query_store(latch_lease *lease, latch_op_kind kind)
{
    const latch_request request = {.kind = kind, .ttl_ms = CHECK_TTL_MS};
    latch_error error;
    latch_status status = php_latch_run_request(lease, &request, &error);

    php_latch_client_failure_clear();
    return status;
}

/* Makes a unique name; false when memory or random bytes are missing. */
static bool make_name(latch_store *store, char name[sizeof(CHECK_NAME) + LATCH_TOKEN_MAX])
{
    latch_lease lease;
    latch_error error;
    bool made;

    latch_lease_init(&lease, store, "", 0);
    made = latch_lease_make_token(&lease, &error) == LATCH_DONE;
    if (made) {
        snprintf(name, sizeof(CHECK_NAME) + LATCH_TOKEN_MAX, CHECK_NAME "%s", lease.token);
    }
    latch_lease_drop(&lease);
    return made;
}

/* LATCH_DONE: a lock in one of the stores is a lock in the other. */
static latch_status compare_places(latch_store *store, latch_store *other)
{
    char name[sizeof(CHECK_NAME) + LATCH_TOKEN_MAX];
    latch_lease first, second;
    latch_status status;

    if (!make_name(store, name)) {
        return LATCH_CONFLICT;
    }
    latch_lease_init(&first, store, name, strlen(name));
    latch_lease_init(&second, other, name, strlen(name));
    status = query_store(&first, LATCH_ACQUIRE);
    if (status == LATCH_DONE) {
        status = query_store(&second, LATCH_ACQUIRE);
        if (status == LATCH_DONE) {
            query_store(&second, LATCH_RELEASE);
        }
        query_store(&first, LATCH_RELEASE);
        status = status == LATCH_CONFLICT      ? LATCH_DONE
                 : status == LATCH_INTERRUPTED ? status
                                               : LATCH_CONFLICT;
    }
    latch_lease_drop(&second);
    latch_lease_drop(&first);
    return status;
}

/* LATCH_DONE: the lock is still held, and is the one that is waited for. */
static latch_status verify_suspect(php_latch_lease *held, const php_latch_lease *wanted)
{
    latch_status status = held->backend->calls_php ? LATCH_DONE
                                                   : query_store(&held->lease, LATCH_PROBE);

    if (status == LATCH_DONE && held->backend != wanted->backend) {
        status = compare_places(held->lease.store, wanted->lease.store);
    }
    /* No verdict of the server: the wait goes on. */
    return status == LATCH_DONE || status == LATCH_INTERRUPTED ? status : LATCH_CONFLICT;
}

/* ---- The look -------------------------------------------------------------------------------- */

static latch_status search_leases(php_latch_lease *wanted, latch_op_kind kind, bool verifies)
{
    latch_status status = LATCH_CONFLICT;
    php_latch_lease *held;

    for (uint32_t handle = 0; status == LATCH_CONFLICT;) {
        held = php_latch_leases_next(&handle);
        if (held == NULL) {
            break;
        }
        if (is_suspect(held, wanted, kind)) {
            GC_ADDREF(&held->std); /* PHP code may run meanwhile */
            status = verifies ? verify_suspect(held, wanted) : LATCH_DONE;
            OBJ_RELEASE(&held->std);
        }
    }
    return status;
}

static latch_status find_deadlock(latch_lease *wanted, latch_op_kind kind, bool verifies)
{
    php_latch_lease *lease = LATCH_CONTAINER(wanted, php_latch_lease, lease);

    return php_latch_lease_has_parts(lease)
               ? lease->backend->ops->find_deadlock(lease, kind, verifies)
               : search_leases(lease, kind, verifies);
}

void php_latch_deadlock_startup(void)
{
    php_latch_set_deadlock_detector(find_deadlock);
}
