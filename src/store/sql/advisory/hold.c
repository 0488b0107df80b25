/*
 * Registry of a store: the holds of this process's leases in its session. The server grants a lock
 * to a session that holds it already, so two leases exclude each other here, by the key that the
 * server compares: resources with the same key are one here as well.
 */
#include "src/store/sql/advisory/advisory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

advisory_store *latch_advisory_store_of(const latch_lease *lease)
{
    return (advisory_store *) lease->store;
}

static uint64_t read_big_endian(const uint8_t *bytes, size_t count)
{
    uint64_t number = 0;

    for (size_t at = 0; at < count; at++) {
        number = number << 8 | bytes[at];
    }
    return number;
}

/* PostgreSQL: Symfony's crc32(), or, against collisions, the first 64 bits of a sha256. MySQL: the
 * sha256 in hex. */
static void write_key(const latch_lease *lease, char key[ADVISORY_KEY_SIZE])
{
    const advisory_store *store = latch_advisory_store_of(lease);
    const latch_env *env = &store->store.engine->env;
    const struct iovec resource = {(void *) lease->resource, lease->resource_length};
    bool is_name = store->dialect->names_locks;
    bool by_sha256 = is_name || store->by_sha256;
    uint8_t digest[LATCH_DIGEST_MAX];

    env->digest(env->context, by_sha256 ? LATCH_SHA256 : LATCH_CRC32, &resource, 1, digest);
    if (is_name) {
        for (size_t at = 0; at < LATCH_DIGEST_MAX; at++) {
            snprintf(key + 2 * at, 3, "%02x", digest[at]);
        }
    } else {
        snprintf(key, ADVISORY_KEY_SIZE, "%" PRId64,
                 (int64_t) read_big_endian(digest, by_sha256 ? 8 : 4));
    }
}

advisory_hold *latch_advisory_hold_get(latch_lease *lease)
{
    advisory_store *store = latch_advisory_store_of(lease);
    advisory_hold *hold = lease->state;

    if (hold != NULL) {
        return hold;
    }
    hold = latch_allocate(store->store.engine, sizeof(*hold));
    if (hold == NULL) {
        return NULL;
    }
    memset(hold, 0, sizeof(*hold));
    hold->statement.class = &latch_advisory_statement;
    hold->store = store;
    hold->lease = lease;
    hold->cancel_ns = hold->give_up_ns = LATCH_NEVER;
    write_key(lease, hold->request.key);
    hold->node.key = hold->request.key;
    hold->node.length = strlen(hold->request.key);
    if (!latch_hash_add(&store->registry, &hold->node)) {
        latch_free(store->store.engine, hold);
        return NULL;
    }
    lease->state = hold;
    return hold;
}

void latch_advisory_hold_set_action(advisory_hold *hold, advisory_action action, int64_t timeout_ms)
{
    const sql_templates *templates = &hold->store->dialect->templates;
    bool has_template = action < templates->count && templates->all[action].parameter_count > 0;
    bool is_wait = action >= ADVISORY_WAIT && action <= ADVISORY_WAIT_TO_PROMOTE;

    hold->request.action = action;
    hold->request.timeout_ms = timeout_ms;
    hold->statement.template = has_template ? &templates->all[action] : NULL;
    hold->statement.is_wait = is_wait;
    hold->statement.is_unbounded = is_wait && timeout_ms > ADVISORY_PROMPTLY_MS;
    hold->statement.is_compensation = action >= ADVISORY_UNDO && action <= ADVISORY_UNDO_PROMOTION;
}

static void record_mode(advisory_hold *hold, uint8_t mode)
{
    hold->mode = mode;
    hold->age = hold->store->session->age;
    hold->generation = hold->store->store.engine->generation;
}

/* Apply the result at once: the requester may be stepped after the next user of the session. */
static void apply_verdict(advisory_hold *hold)
{
    switch (hold->request.action) {
        case ADVISORY_TRY:
        case ADVISORY_TRY_SHARED:
        case ADVISORY_TRY_TO_PROMOTE:
        case ADVISORY_POLL_TO_PROMOTE:
        case ADVISORY_WAIT:
        case ADVISORY_WAIT_SHARED:
        case ADVISORY_WAIT_TO_PROMOTE:
        case ADVISORY_DEMOTE:
            if (hold->verdict == '1') {
                record_mode(hold, hold->wanted);
            }
            break;
        case ADVISORY_PROBE:
            hold->mode = hold->verdict == '1' ? hold->mode : LATCH_FREE;
            break;
        case ADVISORY_RELEASE:
        case ADVISORY_RELEASE_SHARED:
            hold->mode = LATCH_FREE;
            break;
        case ADVISORY_UNDO:
        case ADVISORY_UNDO_SHARED:
        case ADVISORY_UNDO_PROMOTION:
        case ADVISORY_HOLDERS:
        case ADVISORY_ACTIONS:
            break;
    }
}

void latch_advisory_hold_end_request(advisory_hold *hold, sql_outcome outcome)
{
    if (outcome == SQL_ANSWERED) {
        apply_verdict(hold);
    } else if (outcome == SQL_UNKNOWN && !latch_advisory_hold_is_live(hold)) {
        /* The lock may have been granted: it is released with the lease, or when that is
         * dropped. */
        record_mode(hold, hold->wanted);
    }
    hold->wanted = LATCH_FREE;
    hold->outcome = outcome;
    if (hold->lease == NULL) {
        latch_advisory_hold_free(hold);
    }
}

void latch_advisory_hold_free(advisory_hold *hold)
{
    latch_hash_remove(&hold->store->registry, &hold->node);
    latch_free(hold->store->store.engine, hold);
}

bool latch_advisory_hold_is_live(const advisory_hold *hold)
{
    return hold->mode != LATCH_FREE && hold->age == hold->store->session->age
           && hold->generation == hold->store->store.engine->generation;
}

/* The mode that it holds, or is about to hold, when the server reads the session's next request. */
static latch_mode claim_of(const advisory_hold *hold)
{
    advisory_action releasing = hold->mode == LATCH_SHARED ? ADVISORY_RELEASE_SHARED
                                                           : ADVISORY_RELEASE;
    bool is_being_released = hold->statement.is_queued && hold->request.action == releasing;
    latch_mode mode = latch_advisory_hold_is_live(hold) && !is_being_released ? hold->mode
                                                                              : LATCH_FREE;

    return hold->wanted > mode ? hold->wanted : mode;
}

bool latch_advisory_hold_conflicts(const advisory_hold *hold, latch_mode mode)
{
    const latch_hash_node *node =
        latch_hash_find(&hold->store->registry, hold->node.key, hold->node.length);

    for (; node != NULL; node = latch_hash_next(node)) {
        const advisory_hold *other = LATCH_CONTAINER(node, const advisory_hold, node);
        latch_mode claim = claim_of(other);

        if (other != hold
            && (claim == LATCH_EXCLUSIVE || (claim == LATCH_SHARED && mode == LATCH_EXCLUSIVE))) {
            return true;
        }
    }
    return false;
}

bool latch_advisory_hold_is_alone(const advisory_hold *hold)
{
    const latch_hash *registry = &hold->store->registry;

    for (size_t at = 0; at < registry->bucket_count; at++) {
        for (const latch_hash_node *node = registry->buckets[at]; node != NULL; node = node->next) {
            const advisory_hold *other = LATCH_CONTAINER(node, const advisory_hold, node);

            if (latch_advisory_hold_is_live(other)
                || (other != hold && other->statement.is_queued)) {
                return false;
            }
        }
    }
    return true;
}

bool latch_advisory_watch(const latch_lease *lease, latch_watch *watch)
{
    const advisory_hold *hold = lease->state;
    sql_session *session = latch_advisory_store_of(lease)->session;

    return lease->mode != LATCH_FREE && hold != NULL && latch_advisory_hold_is_live(hold)
           && latch_sql_session_can_be_watched(session) && latch_sql_session_watch(session, watch);
}

const char *latch_advisory_renewal_unsupported_reason(const latch_store *store)
{
    return latch_sql_session_can_be_watched(((const advisory_store *) store)->session)
               ? NULL
               : "its locks are in the session of a given connection, which only the thread that "
                 "has the connection can look after";
}
