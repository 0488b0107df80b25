/* Tokens of holds, and their owner after forks. */
#include "src/store/redis/lock/redis.h"

#include <string.h>

bool latch_redis_has_permit_slot(const redis_keyspace *keys, latch_op *op)
{
    if (!keys->is_tagged || (op->lease->resource_length > 0 && op->lease->resource[0] != '}')) {
        return true;
    }
    latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0,
               "in a cluster, the name of a semaphore must not be empty nor begin with \"}\"");
    return false;
}

bool latch_redis_is_other_process(const latch_lease *lease)
{
    const redis_hold *hold = lease->state;

    return hold != NULL && hold->generation != lease->store->engine->generation
           && !(lease->inherit && lease->mode != LATCH_FREE);
}

/* Drops the token; an owner stays. */
static void free_token(latch_lease *lease)
{
    const char *owner = latch_redis_layout_of(lease)->has_owners && lease->token != NULL
                            ? memchr(lease->token, ' ', lease->token_length)
                            : NULL;

    if (owner != NULL) {
        lease->token_length = (uint16_t) (lease->token_length - (owner - lease->token));
        memmove(lease->token, owner, lease->token_length + (size_t) 1);
        return;
    }
    latch_free(lease->store->engine, lease->token);
    lease->token = NULL;
}

latch_status latch_redis_make_hold(latch_lease *lease, latch_error *error)
{
    latch_engine *engine = lease->store->engine;
    redis_hold *hold = latch_allocate(
        engine, sizeof(*hold) + (lease->is_permit ? latch_redis_permit_name_length(lease) : 0));

    if (hold == NULL) {
        return latch_fail_memory(error);
    }
    hold->name = lease->resource;
    hold->name_length = lease->resource_length;
    hold->permits = (latch_permits){0};
    if (lease->is_permit) {
        hold->name = hold->text;
        hold->name_length = latch_redis_write_permit_name(lease, hold->text);
    }
    hold->generation = engine->generation;
    hold->fork_count = engine->fork_count;
    hold->imported = lease->token != NULL && !latch_redis_lacks_nonce(lease);
    hold->retired = false;
    hold->deadline_ns = LATCH_NEVER;
    hold->wait = (redis_wait){.ticket = 0};
    hold->route = (redis_route){.node = NULL};
    hold->pending = NULL;
    lease->state = hold;
    return LATCH_DONE;
}

latch_status latch_redis_import_token(latch_lease *lease, const char *token, latch_error *error)
{
    latch_status status = lease->state == NULL ? latch_redis_make_hold(lease, error) : LATCH_DONE;
    redis_hold *hold = lease->state;

    if (status == LATCH_DONE) {
        status = latch_lease_set_token(lease, token, strlen(token), error);
    }
    if (status == LATCH_DONE) {
        lease->mode = LATCH_FREE;
        hold->generation = lease->store->engine->generation;
        hold->fork_count = lease->store->engine->fork_count;
        hold->imported = hold->retired = false;
    }
    return status;
}

latch_status latch_redis_renew_nonce(latch_lease *lease, latch_error *error)
{
    char nonce[LATCH_TOKEN_MAX + 1], token[LATCH_TOKEN_LENGTH + 1 + LATCH_OWNER_MAX];
    latch_status status = latch_token_make(lease->store->engine, nonce, error);
    char *at = mempcpy(token, nonce, LATCH_TOKEN_LENGTH);

    free_token(lease);
    if (lease->token != NULL) {
        at = mempcpy(at, lease->token, lease->token_length);
    }
    return status == LATCH_DONE ? latch_lease_set_token(lease, token, (size_t) (at - token), error)
                                : status;
}

latch_status latch_redis_prepare_token(latch_op *op)
{
    latch_lease *lease = op->lease;
    redis_hold *hold;
    latch_status status = LATCH_DONE;
    bool is_complete;

    if (latch_redis_is_other_process(lease)) {
        if (!latch_op_acquires(op)) {
            lease->mode = LATCH_FREE;
            return LATCH_CONFLICT;
        }
        latch_redis_wait_end(lease);
        op->flags = 0;
        free_token(lease);
        lease->mode = op->mode_before = LATCH_FREE;
    }
    hold = lease->state;
    if (lease->token != NULL
        && (strcmp(lease->token, REDIS_WRITER) == 0
            || (hold != NULL && hold->retired && latch_op_acquires(op)))) {
        free_token(lease);
    }
    if (lease->token == NULL && !latch_op_acquires(op)) {
        return LATCH_CONFLICT;
    }
    if (hold != NULL && hold->retired && op->request.kind != LATCH_RELEASE
        && !latch_op_acquires(op)) {
        return LATCH_CONFLICT; /* it is being given back, though it may be there yet */
    }
    if (lease->state == NULL) {
        status = latch_redis_make_hold(lease, op->error);
    }
    is_complete = lease->token != NULL
                  && !(latch_redis_lacks_nonce(lease) && latch_op_acquires(op));
    if (status != LATCH_DONE || is_complete) {
        return status;
    }
    hold = lease->state;
    hold->generation = lease->store->engine->generation;
    hold->imported = hold->retired = false;
    return latch_redis_layout_of(lease)->has_owners ? latch_redis_renew_nonce(lease, op->error)
                                                    : latch_lease_make_token(lease, op->error);
}

void latch_redis_resolve_forked_hold(latch_op *op)
{
    latch_lease *lease = op->lease;
    const redis_hold *hold = lease->state;

    if (hold == NULL || lease->mode == LATCH_FREE || !lease->inherit
        || hold->fork_count == lease->store->engine->fork_count) {
        return;
    }
    if (op->sent_ns < lease->deadline_ns) {
        op->mode_before = lease->mode;
    } else if (latch_op_acquires(op)) {
        lease->mode = LATCH_FREE;
        free_token(lease);
    }
}

bool latch_redis_held(const latch_lease *lease)
{
    const redis_hold *hold = lease->state;

    return lease->mode != LATCH_FREE && hold != NULL && !latch_redis_is_other_process(lease)
           && (!lease->inherit || hold->fork_count == lease->store->engine->fork_count);
}

bool latch_redis_shares_token(const latch_lease *lease)
{
    const redis_hold *hold = lease->state;

    return hold == NULL || (!hold->retired && !latch_redis_is_other_process(lease));
}

void latch_redis_drop(latch_lease *lease)
{
    latch_redis_wait_end(lease);
    if (lease->state != NULL) {
        latch_redis_pending_forget(lease->state);
    }
    latch_free(lease->store->engine, lease->state);
}
