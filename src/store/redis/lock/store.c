/*
 * Locks in Redis or Valkey, in the layout of Symfony's RedisStore, with which they exclude each
 * other: one script for each request (redis/ *.lua), one round trip. Waiters stand in a queue, and
 * are woken by a message when the lock is theirs (wait.c).
 *
 * A request may be sent twice, as the outcome is unknown when its reply was lost with the
 * connection. Requests are idempotent: each names the holder's token and a state, not a change. If
 * the retry fails, too, a lock that may have been granted is released as soon as possible
 * (pending_release.c).
 *
 * A token belongs to one process. A forked child that inherits a lease is another holder, but for
 * leases with `inherit`, which are meant to be handed on while they are held.
 */
#include "src/store/redis/lock/redis.h"
#include "src/store/redis/topology/breaker.h"

#include <string.h>

/* ---- Opening -------------------------------------------------------------------------------- */

static void redis_close(latch_store *base)
{
    redis_store *store = (redis_store *) base;

    if (latch_redis_has_object(store)) {
        latch_redis_object_flush_pending(store);
    }
    latch_redis_topology_end(&store->topology);
    latch_redis_subscription_end(&store->subscription);
    latch_redis_sentinel_end(&store->sentinel);
    latch_redis_pending_clear(store);
    latch_redis_options_free(base->engine, &store->options);
    if (store->object.runner.close != NULL) {
        store->object.runner.close(store->object.runner.context);
    }
}

/* Makes the rest of a store by its options. */
static latch_status prepare_store(latch_store *base, latch_error *error)
{
    redis_store *store = (redis_store *) base;
    bool is_made;

    store->layout = latch_redis_has_owners(store) ? &latch_redis_strings : &latch_redis_locks;
    store->scripts.engine = base->engine;
    latch_redis_keyspace_init(&store->keys, store->options.prefix, store->options.prefix_length,
                              store->options.is_cluster);
    latch_redis_pending_init(store);
    latch_redis_sentinel_init(&store->sentinel, base->engine, &store->options);
    is_made = latch_redis_topology_init(&store->topology, base->engine, &store->options,
                                        &store->keys, &base->breaker);
    if (!latch_redis_subscription_init(&store->subscription, base->engine, &store->options,
                                       &store->keys)
        || !is_made) {
        redis_close(base);
        return latch_fail_memory(error);
    }
    latch_redis_sentinel_attach(&store->sentinel, &store->topology.single.connection);
    latch_redis_sentinel_attach(&store->sentinel, &store->subscription.connection);
    return LATCH_DONE;
}

/* Length of "+string" behind the DSN's scheme, which begins at *at; 0: it is not there. */
static size_t find_layout(const char *dsn, size_t length, size_t *at)
{
    static const char layout[] = "+string";
    const char *colon = memchr(dsn, ':', length);
    size_t scheme = colon != NULL ? (size_t) (colon - dsn) : 0;

    if (scheme < sizeof(layout)
        || memcmp(colon - (sizeof(layout) - 1), layout, sizeof(layout) - 1) != 0) {
        return 0;
    }
    *at = scheme - (sizeof(layout) - 1);
    return sizeof(layout) - 1;
}

/* Parses "redis+string:" and the like as "redis:", in the store of that layout. */
static latch_status parse_dsn(redis_store *store, const char *dsn, size_t length,
                              latch_error *error)
{
    latch_engine *engine = store->store.engine;
    size_t at = 0, skipped = latch_redis_has_owners(store) ? find_layout(dsn, length, &at) : 0;
    latch_status status;
    char *rest;

    if (skipped == 0) {
        return latch_redis_options_parse(engine, dsn, length, &store->options, error);
    }
    rest = latch_allocate(engine, length - skipped + 1);
    if (rest == NULL) {
        return latch_fail_memory(error);
    }
    memcpy(rest, dsn, at);
    memcpy(rest + at, dsn + at + skipped, length - at - skipped);
    rest[length - skipped] = '\0';
    status = latch_redis_options_parse(engine, rest, length - skipped, &store->options, error);
    latch_free(engine, rest);
    return status;
}

static latch_status open_by_dsn(redis_store *store, const latch_store_options *options,
                                latch_error *error)
{
    latch_engine *engine = store->store.engine;
    latch_status status = parse_dsn(store, options->dsn, options->dsn_length, error);

    if (status != LATCH_DONE) {
        return status;
    }
    status = latch_library_open(&latch_hiredis_library, error);
    if (status == LATCH_DONE && store->options.tls != NULL) {
        status = latch_redis_tls_open_library(error);
    }
    if (status != LATCH_DONE) {
        latch_redis_options_free(engine, &store->options);
    }
    return status;
}

static latch_status redis_open(latch_store *base, const latch_store_options *options,
                               latch_error *error)
{
    redis_store *store = (redis_store *) base;
    latch_status status = options->redis_runner != NULL
                              ? latch_redis_object_options(base->engine, &store->options, error)
                              : open_by_dsn(store, options, error);

    if (status == LATCH_DONE) {
        status = prepare_store(base, error);
    }
    if (status == LATCH_DONE && options->redis_runner != NULL) {
        latch_redis_use_object(store, options->redis_runner);
    }
    return status;
}

static latch_store *redis_clone(const latch_store *base, latch_error *error)
{
    const redis_store *store = (const redis_store *) base;
    latch_store *clone = latch_store_make(base->engine, base->class, error);
    latch_status status = LATCH_DONE;

    if (clone == NULL) {
        return NULL;
    }
    if (!latch_redis_options_copy(base->engine, &store->options,
                                  &((redis_store *) clone)->options)) {
        status = latch_fail_memory(error);
    }
    if (status == LATCH_DONE) {
        status = prepare_store(clone, error);
    }
    if (status != LATCH_DONE) {
        latch_free(base->engine, clone);
        return NULL;
    }
    return clone;
}

static void redis_cork(latch_store *base, bool on)
{
    redis_store *store = (redis_store *) base;

    latch_redis_batch_all(&store->topology, on);
}

static const char *redis_identity(const latch_store *base)
{
    return ((const redis_store *) base)->options.identity;
}

static latch_status redis_step(latch_op *op, int64_t now_ns)
{
    if (op->request.kind == LATCH_CALL) {
        return op->request.wait ? latch_redis_await_call(op, now_ns)
                                : latch_redis_function_step(op, now_ns);
    }
    if (latch_redis_is_inspection(op)) {
        return latch_redis_inspect_step(op, now_ns);
    }
    return op->request.detach ? latch_redis_detach(op, now_ns) : latch_redis_advance(op, now_ns);
}

/* Closes stale connections; an overdue reply without a reader opens the breaker. */
static void close_stale_connections(redis_store *store, int64_t now_ns)
{
    for (redis_node *node = latch_redis_next_node(&store->topology, NULL); node != NULL;
         node = latch_redis_next_node(&store->topology, node)) {
        if (!latch_redis_is_idle(&node->connection)
            && latch_redis_close_stale(&node->connection, now_ns)) {
            latch_breaker_record_timeout(node->breaker, now_ns, now_ns);
        }
    }
}

/* Calls a function of a version, a throttle or a count-down. */
static latch_status begin_function(latch_op *op)
{
    redis_store *store = latch_redis_store_of(op);

    if (store->topology.cluster == NULL
        && latch_redis_breaker_is_open(op, &store->topology.single)) {
        return latch_redis_fail_breaker_open(op, &store->topology.single);
    }
    close_stale_connections(store, op->sent_ns);
    if (op->request.wait) {
        op->state = latch_redis_unsent(store);
        return latch_redis_await_call(op, op->sent_ns);
    }
    return latch_redis_function_begin(op, &store->topology, &store->functions, NULL);
}

/*
 * Names that begin with "latch:" are Latch's own. Of locks that are strings those alone that are
 * names of companion keys: other programs name theirs as they like.
 */
static bool refuse_own_name(latch_op *op)
{
    const char *name = op->lease->resource;
    size_t length = op->lease->resource_length;

    if (!latch_redis_layout_of(op->lease)->has_owners) {
        latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0,
                   "in Redis, names that begin with \"" REDIS_OWN_KEYS "\" are Latch's own");
        return true;
    }
    if (latch_redis_is_layout_key(name, length) || latch_redis_is_function_key(name, length)) {
        latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0,
                   "in Redis, Latch keeps something else under names that begin like this one");
        return true;
    }
    return false;
}

static latch_status redis_begin(latch_op *op)
{
    redis_store *store = latch_redis_store_of(op);
    redis_hold *hold = op->lease->state;
    bool is_inquiry = latch_redis_is_inspection(op);
    bool is_breaker_open = store->topology.cluster == NULL
                           && latch_redis_breaker_is_open(op, &store->topology.single);

    if (op->request.kind == LATCH_CALL) {
        return begin_function(op);
    }
    if (latch_redis_is_own_name(op->lease->resource, op->lease->resource_length)
        && refuse_own_name(op)) {
        return op->error->status;
    }
    if (op->lease->is_permit && op->request.kind != LATCH_LIST
        && !latch_redis_has_permit_slot(&store->keys, op)) {
        return op->error->status;
    }
    if (op->request.kind == LATCH_ACQUIRE_SHARED && store->layout->has_owners) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0,
                          "Redis has no shared locks whose key is a string");
    }
    if (op->request.ttl_ms == 0 && !latch_redis_layout_of(op->lease)->has_owners
        && (latch_op_acquires(op) || op->request.kind == LATCH_REFRESH)) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0, "a %s in Redis needs a TTL",
                          op->lease->is_permit ? "permit" : "lock");
    }
    if (op->request.ttl_ms > REDIS_TTL_MAX_MS) {
        op->request.ttl_ms = REDIS_TTL_MAX_MS;
    }
    op->flags = 0;
    op->state = is_inquiry ? NULL : latch_redis_unsent(store);
    if (hold != NULL) {
        latch_redis_route_reset(&hold->route);
    }
    if (op->lease->inherit) {
        latch_redis_resolve_forked_hold(op);
    }
    if (store->topology.cluster != NULL
        || !latch_redis_is_idle(&store->topology.single.connection)) {
        close_stale_connections(store, op->sent_ns);
    }
    if (store->subscription.connection.stage != REDIS_CLOSED || store->subscription.call != NULL) {
        latch_redis_abort_subscribing(&store->subscription);
    }
    if (op->request.kind == LATCH_RELEASE) {
        latch_status status = latch_redis_ensure_token(op);

        if (status == LATCH_CONFLICT && op->request.was_held != NULL) {
            *op->request.was_held = false;
        }
        if (status != LATCH_DONE) {
            return status == LATCH_CONFLICT ? LATCH_DONE /* this process never had it */ : status;
        }
    }
    if (is_breaker_open) {
        return op->request.kind == LATCH_RELEASE
                       && !latch_redis_pending_add_release(op, op->sent_ns)
                   ? latch_fail_memory(op->error)
                   : latch_redis_fail_breaker_open(op, &store->topology.single);
    }
    return redis_step(op, op->sent_ns);
}

/*
 * Cancels without waiting for a silent server: a compensating command goes right behind the
 * request, and neither is awaited.
 */
static latch_status redis_cancel(latch_op *op)
{
    redis_store *store = latch_redis_store_of(op);
    int64_t now_ns = latch_engine_now_ns(store->store.engine);
    bool is_ours = op->generation == store->store.engine->generation;

    if (op->request.kind == LATCH_CALL) {
        latch_redis_end_call(op);
        return LATCH_CONFLICT;
    }
    if (latch_redis_is_inspection(op)) {
        latch_redis_inspect_end(op);
        return LATCH_CONFLICT;
    }
    if (latch_redis_is_sent(op)) {
        redis_call *call = op->state;

        if (is_ours
            && (call->state == REDIS_ANSWERED
                || (call->state == REDIS_UNANSWERED && latch_redis_promotes(op, now_ns)
                    && !latch_redis_is_queued(op->lease)
                    && !latch_redis_send_demotion(op, now_ns)))) {
            return latch_redis_want(&latch_redis_node_of(op)->connection, now_ns, op);
        }
        latch_redis_call_free(&latch_redis_node_of(op)->connection, call);
    }
    latch_redis_compensate(op, now_ns);
    latch_redis_wait_end(op->lease);
    return LATCH_CONFLICT;
}

/* Carried out: not unknown to the server, nor lost. */
static bool is_carried_out(const redis_call *call)
{
    return call->state == REDIS_ANSWERED && call->reply->type != REDIS_REPLY_ERROR;
}

/* Abandons a request. A release becomes a pending release. */
static void redis_abandon(latch_op *op)
{
    redis_store *store = latch_redis_store_of(op);
    redis_call *call = latch_redis_is_sent(op) ? op->state : NULL;
    int64_t now_ns = latch_engine_now_ns(store->store.engine);
    redis_script_target target;

    if (op->request.kind == LATCH_CALL) {
        latch_redis_end_call(op);
        return;
    }
    if (latch_redis_is_inspection(op)) {
        latch_redis_inspect_end(op);
        return;
    }
    target = latch_redis_target_of(op->lease);
    if (op->request.kind == LATCH_RELEASE && !op->request.detach) {
        if (call != NULL && call->state == REDIS_UNANSWERED) {
            if (latch_redis_pending_add_sent(op->lease, latch_redis_node_of(op), call, &target,
                                             latch_redis_release_deadline(op->lease, now_ns))) {
                call = NULL;
            }
        } else if (call == NULL || !is_carried_out(call)) {
            latch_redis_pending_add_release(op, now_ns);
        }
    }
    if (call != NULL) {
        latch_redis_call_free(&latch_redis_node_of(op)->connection, call);
    }
    latch_redis_wait_end(op->lease);
}

/* What both layouts of locks have. */
#define REDIS_CLASS                                                                                \
    .size = sizeof(redis_store), .open = redis_open, .close = redis_close,                         \
    .settle = latch_redis_pending_drain, .identity = redis_identity, .begin = redis_begin,         \
    .step = redis_step, .cancel = redis_cancel, .outage = latch_redis_describe_outage,             \
    .abandon = redis_abandon, .held = latch_redis_held, .shares_token = latch_redis_shares_token,  \
    .server_start_ns = latch_redis_server_start_ns, .drop = latch_redis_drop,                      \
    .clone = redis_clone, .cork = redis_cork,                                                      \
    .renewal_unsupported_reason = latch_redis_renewal_unsupported_reason

const latch_store_class latch_redis_store = {
    .info = {REDIS_INFO, .capabilities = REDIS_CAPABILITIES | REDIS_DSN_CAPABILITIES,
             .library = "hiredis " LATCH_HIREDIS_VERSION},
    REDIS_CLASS,
    .assign_token = latch_redis_import_token,
};

const latch_store_class latch_redis_string_store = {
    .info = {REDIS_STRING_INFO, .capabilities = REDIS_STRING_CAPABILITIES | REDIS_DSN_CAPABILITIES,
             .library = "hiredis " LATCH_HIREDIS_VERSION},
    REDIS_CLASS,
    .renew_token = latch_redis_renew_nonce,
};
