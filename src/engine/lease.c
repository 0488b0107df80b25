/* Leases: token, deadline, and the end of a lease. */
#include "src/engine/observer.h"
#include "src/engine/store.h"

#include <string.h>

void latch_lease_init(latch_lease *lease, latch_store *store, const char *resource, size_t length)
{
    memset(lease, 0, sizeof(*lease));
    lease->store = store;
    lease->resource = resource;
    lease->resource_length = length < UINT32_MAX ? (uint32_t) length : UINT32_MAX;
    lease->deadline_ns = LATCH_NEVER;
}

void latch_permit_lease_init(latch_lease *lease, latch_store *store, const char *resource,
                             size_t length)
{
    latch_lease_init(lease, store, resource, length);
    lease->is_permit = true;
}

_Static_assert(LATCH_TOKEN_LENGTH + 1 + LATCH_OWNER_MAX < 1 << 11, "token_length has 11 bits");
_Static_assert(sizeof(latch_lease) == 7 * sizeof(void *) + 8 || sizeof(void *) != 8,
               "a lease is no larger than it needs to be");

static bool has_owners(const latch_store *store)
{
    return (store->info->capabilities & LATCH_OWNERS) != 0;
}

size_t latch_token_max(const latch_store *store)
{
    return has_owners(store) ? LATCH_TOKEN_LENGTH + 1 + LATCH_OWNER_MAX : LATCH_TOKEN_MAX;
}

latch_status latch_lease_set_token(latch_lease *lease, const char *token, size_t length,
                                   latch_error *error)
{
    latch_engine *engine = lease->store->engine;
    char *copy;

    if (length == 0 || length > latch_token_max(lease->store)
        || (!has_owners(lease->store) && memchr(token, '\0', length) != NULL)) {
        return latch_fail(error, LATCH_ERROR_ARGUMENT, 0, "a token is a text of 1 to %zu bytes",
                          latch_token_max(lease->store));
    }
    copy = latch_allocate(engine, length + 1);
    if (copy == NULL) {
        return latch_fail_memory(error);
    }
    memcpy(copy, token, length);
    copy[length] = '\0';
    latch_free(engine, lease->token);
    lease->token = copy;
    lease->token_length = (uint16_t) length;
    return LATCH_DONE;
}

bool latch_lease_has_token(const latch_lease *lease, const char *token, size_t length)
{
    return lease->token != NULL && lease->token_length == length
           && memcmp(lease->token, token, length) == 0;
}

latch_status latch_lease_set_owner(latch_lease *lease, const char *owner, size_t length,
                                   latch_error *error)
{
    char token[1 + LATCH_OWNER_MAX];

    if (length == 0 || length > LATCH_OWNER_MAX || !has_owners(lease->store)) {
        return latch_fail(error, LATCH_ERROR_ARGUMENT, 0, "an owner has 1 to %d bytes",
                          LATCH_OWNER_MAX);
    }
    token[0] = ' '; /* behind the nonce that an acquire makes */
    memcpy(token + 1, owner, length);
    return latch_lease_set_token(lease, token, length + 1, error);
}

latch_status latch_token_make(const latch_engine *engine, char token[LATCH_TOKEN_MAX + 1],
                              latch_error *error)
{
    uint8_t bytes[32];

    if (!engine->env.random(engine->env.context, bytes, sizeof(bytes))) {
        return latch_fail(error, LATCH_ERROR_SYSTEM, 0, "the random source gave no bytes");
    }
    latch_base64(bytes, sizeof(bytes), token);
    return LATCH_DONE;
}

/* Has it a token that no other lease may have, though it holds nothing by it? */
static bool has_spent_token(const latch_lease *lease)
{
    return lease->token != NULL && lease->mode == LATCH_FREE && !lease->busy
           && lease->detached == NULL && latch_lease_shared_token(lease) == NULL;
}

latch_status latch_lease_make_token(latch_lease *lease, latch_error *error)
{
    const latch_store_class *class = lease->store->class;
    char token[LATCH_TOKEN_MAX + 1];
    latch_status status;

    if (lease->token != NULL && !has_spent_token(lease)) {
        return LATCH_DONE;
    }
    if (lease->token != NULL && class->renew_token != NULL) {
        return class->renew_token(lease, error);
    }
    status = latch_token_make(lease->store->engine, token, error);
    if (status != LATCH_DONE) {
        return status;
    }
    return lease->token != NULL && class->assign_token != NULL
               ? class->assign_token(lease, token, error)
               : latch_lease_set_token(lease, token, LATCH_TOKEN_LENGTH, error);
}

const char *latch_lease_shared_token(const latch_lease *lease)
{
    const latch_store_class *class = lease->store->class;

    return class->shares_token == NULL || class->shares_token(lease) ? lease->token : NULL;
}

void latch_lease_sync_deadline(latch_lease *lease, int64_t now_ns)
{
    if (lease->observed) {
        lease->store->engine->observer->sync(lease, now_ns);
    }
}

bool latch_lease_held(latch_lease *lease, int64_t now_ns)
{
    latch_lease_sync_deadline(lease, now_ns);
    if (now_ns >= lease->deadline_ns) {
        return false;
    }
    return lease->store != NULL && lease->store->class->held != NULL
               ? lease->store->class->held(lease)
               : lease->mode != LATCH_FREE;
}

bool latch_lease_was_lost(const latch_lease *lease)
{
    return lease->mode != LATCH_FREE && lease->deadline_ns != LATCH_NEVER;
}

void latch_lease_drop(latch_lease *lease)
{
    if (lease->observed) {
        lease->store->engine->observer->drop(lease);
    }
    latch_detached_drop(lease);
    if (lease->store != NULL && lease->store->class->drop != NULL) {
        lease->store->class->drop(lease);
    }
    if (lease->token != NULL) {
        latch_free(lease->store->engine, lease->token);
        lease->token = NULL;
    }
    lease->mode = LATCH_FREE;
    lease->state = NULL;
}
