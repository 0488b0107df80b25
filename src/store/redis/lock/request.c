/* Request to a Redis server, step by step: connect, send, await, apply the reply. */
#include "src/store/redis/lock/redis.h"
#include "src/store/redis/topology/breaker.h"

#include <errno.h>
#include <string.h>

bool latch_redis_may_resend(latch_op *op)
{
    bool again = (op->flags & REDIS_LOST_BEFORE) == 0;

    op->flags |= REDIS_LOST_BEFORE;
    return again;
}

/* Sends ASKING before a command for a slot that is migrating to the server. */
static bool send_asking(redis_node *node, int64_t now_ns)
{
    redis_command command = {.count = 0};
    redis_call *call;

    latch_redis_add_text(&command, "ASKING");
    call = latch_redis_send(&node->connection, &command, now_ns);
    if (call != NULL) {
        latch_redis_call_abandon(call, NULL, NULL);
    }
    return call != NULL;
}

redis_call *latch_redis_send_script(redis_node *node, const redis_command_spec *spec,
                                    const redis_script_target *target, int64_t now_ns)
{
    redis_store *store = latch_redis_store_at(node);
    const redis_subscription *subscription = &store->subscription;
    redis_command_spec complete = *spec;
    redis_script_command written;
    redis_call *call = NULL;

    complete.has_no_pubsub = latch_redis_has_no_pubsub(subscription, now_ns);
    complete.has_polling_clients = store->options.peers == REDIS_PEERS_YES
                                   || node->has_polling_clients[target->layout->peers];
    complete.channel = subscription->channel;
    complete.requeue_channel = subscription->requeue_channel;
    if (latch_redis_write_script(&written, &store->scripts, &store->keys, &complete, target)) {
        call = node->connection.transport->send(&node->connection, &written.command, now_ns);
    }
    latch_redis_script_command_end(&written, store->store.engine);
    return call;
}

static latch_status send_request(latch_op *op, int64_t now_ns)
{
    redis_store *store = latch_redis_store_of(op);
    const redis_hold *hold = op->lease->state;
    redis_node *node = hold->route.node;
    const redis_script_target target = latch_redis_target_of(op->lease);
    const redis_command_spec spec = {
        .id = target.layout->scripts[op->request.kind],
        /* A quorum may not await a release, and nobody would repeat it. */
        .as_text = (op->flags & REDIS_AS_TEXT) != 0
                   || (store->is_quorum_part && op->request.kind == LATCH_RELEASE
                       && !latch_redis_knows_release_script(node, target.layout)),
        .extend = op->request.extend,
        .step = latch_redis_is_queued(op->lease) ? hold->wait.step : REDIS_TRY,
        .ttl_ms = op->request.ttl_ms};
    redis_call *call;

    if (store->is_quorum_part) {
        latch_redis_probe_quorum_part(node, now_ns);
    }
    if (!latch_redis_pending_is_empty(store)
        || store->generation != store->store.engine->generation) {
        latch_redis_pending_flush(store, op->lease, now_ns); /* first: it may be this very lock */
    }
    if (spec.step != REDIS_TRY) {
        latch_redis_probe_polling_clients(node, now_ns);
    }
    call = hold->route.needs_asking && !send_asking(node, now_ns)
               ? NULL
               : latch_redis_send_script(node, &spec, &target, now_ns);
    if (call == NULL) {
        return latch_fail_memory(op->error);
    }
    if (op->request.kind == LATCH_RELEASE) {
        if ((op->flags & REDIS_SENT) == 0 && hold->retired) {
            op->flags |= REDIS_RETIRED_BEFORE;
        }
        latch_redis_record_release(op->lease);
    } else if ((op->flags & REDIS_SENT) == 0
               && (latch_op_acquires(op) || op->request.kind == LATCH_REFRESH)) {
        latch_redis_record_ttl(op, now_ns);
    }
    if (latch_redis_is_queued(op->lease)) {
        latch_redis_wait_sent(op);
    }
    op->flags |= REDIS_SENT;
    op->sent_ns = now_ns;
    op->generation = store->store.engine->generation;
    op->state = call;
    return LATCH_DONE;
}

/* Connects to the server that has the lock. */
static latch_status connect_for_request(latch_op *op, int64_t now_ns)
{
    const latch_lease *lease = op->lease;
    redis_hold *hold = lease->state;
    latch_status status = latch_redis_route_connect(&latch_redis_store_of(op)->topology,
                                                    &hold->route, hold->name, hold->name_length, op,
                                                    now_ns);

    if (latch_failed(status)) {
        op->flags |= REDIS_TROUBLE;
    }
    if (latch_failed(status) && latch_redis_breaker_is_open(op, hold->route.node)
        && op->request.kind == LATCH_RELEASE && (op->flags & REDIS_SENT) == 0
        && !latch_redis_pending_add_release(op, now_ns)) {
        return latch_fail_memory(op->error);
    }
    return status;
}

/* Connects and sends, when it is time. LATCH_DONE: in flight. */
static latch_status dispatch_request(latch_op *op, int64_t now_ns)
{
    latch_status status =
        latch_redis_ensure_token(op); /* a process may have been forked meanwhile */

    if (status == LATCH_DONE && op->lease->is_permit && latch_op_acquires(op)) {
        redis_hold *hold = op->lease->state;

        hold->permits = op->request.permits;
    }
    if (status == LATCH_DONE && op->request.wait) {
        status = latch_redis_wait(op, now_ns);
    }
    if (status == LATCH_DONE) {
        status = connect_for_request(op, now_ns);
    }
    if (status == LATCH_DONE) {
        status = send_request(op, now_ns);
    }
    return status;
}

latch_status latch_redis_fail_lost(latch_op *op, const redis_node *node)
{
    op->flags |= REDIS_TROUBLE;
    return latch_fail(op->error, LATCH_ERROR_STORE, 0, "lost the connection to Redis at %s: %s",
                      latch_redis_address(&node->connection), node->connection.trouble);
}

latch_status latch_redis_fail_overdue(latch_op *op, redis_node *node)
{
    latch_redis_close(&node->connection);
    latch_redis_record_node_failure(node);
    op->flags |= REDIS_TROUBLE;
    return latch_fail(op->error, LATCH_ERROR_STORE, ETIMEDOUT,
                      "Redis at %s did not answer within %g s",
                      latch_redis_address(&node->connection),
                      op->request.response_timeout_ms > 0
                          ? (double) op->request.response_timeout_ms / 1000
                          : (double) node->connection.options->command_timeout_ns
                                / (double) LATCH_NS_PER_S);
}

void latch_redis_describe_outage(const latch_op *op, int64_t now_ns)
{
    redis_store *store = latch_redis_store_of(op);
    redis_node *node = latch_redis_is_inspection(op) ? &store->topology.single
                                                     : latch_redis_node_of(op);
    double seconds = (double) ((now_ns - op->sent_ns) / LATCH_NS_PER_MS) / 1000;
    latch_op unconnected = {.error = op->error};

    if (node == NULL) {
        latch_fail(op->error, LATCH_ERROR_STORE, ETIMEDOUT,
                   "no server of the Redis cluster at %s has answered within %g s",
                   store->options.address, seconds);
    } else if (node->connection.stage == REDIS_READY) {
        latch_fail(op->error, LATCH_ERROR_STORE, ETIMEDOUT,
                   "Redis at %s did not answer within %g s", latch_redis_address(&node->connection),
                   seconds);
    } else {
        latch_redis_fail_unconnected(&node->connection, &unconnected, seconds, now_ns);
    }
}

latch_status latch_redis_fail_protocol_error(latch_op *op, redis_node *node)
{
    latch_redis_close(&node->connection);
    return latch_fail(op->error, LATCH_ERROR_STORE, 0,
                      "Redis at %s gave an answer that makes no sense",
                      latch_redis_address(&node->connection));
}

latch_status latch_redis_fail_with_reply(latch_op *op, redis_node *node, const char *answer)
{
    const char *text = latch_redis_skip_place(answer);
    char quoted[256];

    latch_redis_quote_error(quoted, sizeof(quoted), text, op->lease->token);
    latch_fail(op->error, LATCH_ERROR_STORE, 0, "Redis at %s answered: %s",
               latch_redis_address(&node->connection), quoted);
    /* Nothing was done, or is to be made good. */
    if (latch_redis_is_wrongtype_error(text) && (op->flags & REDIS_LOST_BEFORE) == 0) {
        op->flags &= (uint8_t) ~REDIS_SENT;
    }
    /* It was the master once: the name may lead to another by now. */
    if (latch_redis_is_readonly_error(text)) {
        latch_redis_close(&node->connection);
    }
    return LATCH_ERROR_STORE;
}

/* ---- Replies -------------------------------------------------------------------------------- */

/*
 * Applies a refusal: another holder has the lock. So a hold that was thought to be held is lost;
 * but a reader that asks for promotion may still be one reader of several.
 */
static void apply_refusal(latch_op *op)
{
    latch_lease *lease = op->lease;
    const redis_hold *hold = lease->state;

    op->contended = true;
    if ((op->flags & REDIS_LOST_BEFORE) == 0) {
        lease->deadline_ns = hold->deadline_ns; /* else it may have been granted, and have ended */
    }
    if (op->mode_before == LATCH_EXCLUSIVE
        || (op->mode_before == LATCH_SHARED && op->request.kind == LATCH_ACQUIRE_SHARED)) {
        lease->lost = true;
        lease->mode = op->mode_before = LATCH_FREE;
    }
}

/* Applies a parsed reply to the lease. LATCH_AGAIN: the request has to wait. */
static latch_status apply_script_outcome(latch_op *op, const redis_outcome *outcome, int64_t now_ns)
{
    latch_lease *lease = op->lease;
    redis_hold *hold = lease->state;

    switch (outcome->kind) {
        case REDIS_GRANTED:
            lease->fencing_token = outcome->fencing_token;
            latch_redis_record_mode(lease, outcome->mode);
            return LATCH_DONE;
        case REDIS_REFUSED:
            apply_refusal(op);
            if (!op->request.wait || (op->flags & REDIS_TRIED) != 0) {
                return LATCH_CONFLICT;
            }
            op->flags = REDIS_TRIED;
            return LATCH_AGAIN;
        case REDIS_QUEUED:
            if (!latch_redis_is_queued(lease)) {
                break;
            }
            apply_refusal(op);
            return latch_redis_apply_queue_position(op, outcome->place, outcome->retry_ms, now_ns);
        case REDIS_RENEWED:
            latch_redis_record_mode(lease, outcome->mode);
            return LATCH_DONE;
        case REDIS_RELEASED:
            /* Else an earlier release by the token may still come, or is owed. */
            hold->retired = (op->flags & (REDIS_LOST_BEFORE | REDIS_RETIRED_BEFORE)) != 0;
            if (op->request.was_held != NULL) { /* sent twice, the first may have done it */
                *op->request.was_held = outcome->was_held || (op->flags & REDIS_LOST_BEFORE) != 0;
            }
            return LATCH_DONE;
        case REDIS_PROBED:
            if (lease->mode == LATCH_FREE) {
                lease->deadline_ns = latch_add_ns(op->sent_ns, latch_ms_to_ns(outcome->left_ms));
                latch_redis_record_mode(lease, outcome->mode);
            }
            return LATCH_DONE;
        case REDIS_NOT_HELD:
            return LATCH_CONFLICT;
        case REDIS_UNEXPECTED:
            break;
    }
    return latch_redis_fail_protocol_error(op, latch_redis_node_of(op));
}

/* Leaves a server that is no master any more: the request may find the new one. */
static bool leave_replica(const latch_op *op, const char *text)
{
    redis_connection *connection = &latch_redis_node_of(op)->connection;

    if (!connection->source->wants_master || !latch_redis_is_readonly_error(text)) {
        return false;
    }
    latch_redis_close(connection);
    return true;
}

static latch_status apply_error(latch_op *op, const char *text, int64_t now_ns)
{
    redis_hold *hold = op->lease->state;

    if (latch_redis_route_redirect(&hold->route, op, text, now_ns)) {
        return LATCH_AGAIN;
    }
    if (latch_redis_is_noscript_error(text) && (op->flags & REDIS_AS_TEXT) == 0) {
        op->flags |= REDIS_AS_TEXT;
        return LATCH_AGAIN;
    }
    if (leave_replica(op, text) && latch_redis_may_resend(op)) {
        return LATCH_AGAIN;
    }
    if (latch_redis_is_transient_error(text)) {
        op->flags |= REDIS_TROUBLE;
    }
    return latch_redis_fail_with_reply(op, hold->route.node, text);
}

/* Applies a reply. LATCH_AGAIN: send the next command. */
static latch_status apply_reply(latch_op *op, const redisReply *reply, int64_t now_ns)
{
    redis_hold *hold = op->lease->state;
    redis_outcome outcome;

    if (reply->type == REDIS_REPLY_ERROR) {
        return apply_error(op, reply->str, now_ns);
    }
    latch_redis_route_confirm(&hold->route, hold->name, hold->name_length);
    if (op->request.kind == LATCH_RELEASE) {
        latch_redis_record_release_script(latch_redis_node_of(op), latch_redis_layout_of(op->lease),
                                          true);
    }
    outcome = latch_redis_parse_reply(op->request.kind, latch_redis_layout_of(op->lease), reply);
    return apply_script_outcome(op, &outcome, now_ns);
}

/*
 * Time-out of the reply, and of the connection with it. Replies come in order: while others still
 * do, another connection would gain nothing, and lose the rest.
 */
static int64_t overdue_ns(const latch_op *op)
{
    const redis_node *node = latch_redis_node_of(op);
    const redis_call *call = op->state;
    int64_t last_reply_ns = node->last_reply_ns > op->sent_ns ? node->last_reply_ns : op->sent_ns;
    int64_t response_timeout_ns = op->request.response_timeout_ms * LATCH_NS_PER_MS;

    return response_timeout_ns > 0 && response_timeout_ns < call->deadline_ns - last_reply_ns
               ? last_reply_ns + response_timeout_ns
               : call->deadline_ns;
}

/* Sends a command again whose reply was lost with the connection, once. */
static latch_status retry_after_loss(latch_op *op, redis_node *node)
{
    redis_hold *hold = op->lease->state;

    latch_redis_record_node_failure(node);
    latch_redis_route_reset(&hold->route);
    return latch_redis_may_resend(op) && !node->connection.was_slow
               ? LATCH_AGAIN
               : latch_redis_fail_lost(op, node);
}

/* Awaits the reply. LATCH_AGAIN: send the next command. */
static latch_status await_reply(latch_op *op, int64_t now_ns)
{
    redis_node *node = latch_redis_node_of(op);
    redis_hold *hold = op->lease->state;
    redis_call *call = op->state;
    int64_t end_ns = overdue_ns(op);
    bool is_ours = op->generation == op->lease->store->engine->generation;
    latch_status status;

    if (is_ours && call->state == REDIS_UNANSWERED && now_ns < end_ns) {
        return latch_redis_want(&node->connection, end_ns, op);
    }
    op->state = latch_redis_unsent(latch_redis_store_of(op));
    if (!is_ours) { /* the parent's, even if it was read before the fork */
        status = retry_after_loss(op, node);
    } else if (call->state == REDIS_ANSWERED) {
        latch_redis_breaker_record_reply(node, now_ns);
        status = apply_reply(op, call->reply, now_ns);
    } else if (call->state == REDIS_UNANSWERED) {
        latch_redis_wait_fails_since(op, op->sent_ns);
        status = latch_redis_fail_overdue(op, node);
        latch_redis_route_reset(&hold->route);
    } else {
        status = retry_after_loss(op, node);
    }
    latch_redis_call_free(&node->connection, call);
    return status;
}

latch_status latch_redis_advance(latch_op *op, int64_t now_ns)
{
    latch_status status;

    do {
        bool was_sent = latch_redis_is_sent(op);

        status = was_sent ? LATCH_DONE : dispatch_request(op, now_ns);
        if (status == LATCH_DONE) {
            redis_connection *connection = &latch_redis_node_of(op)->connection;

            /* Of many that wait for answers the first one reads them all. */
            if ((was_sent || connection->transport->is_synchronous)
                && ((redis_call *) op->state)->state == REDIS_UNANSWERED) {
                connection->transport->receive(connection);
            }
            status = await_reply(op, now_ns);
        }
    } while (status == LATCH_AGAIN);
    if ((op->flags & REDIS_TROUBLE) != 0 && latch_redis_retries_wait(op, now_ns)) {
        return LATCH_WANT_TIMER;
    }
    if (latch_failed(status)) {
        latch_redis_breaker_record_timeout(op, latch_redis_node_of(op), now_ns);
    }
    if (!latch_wants(status) && op->lease->state != NULL) {
        if (latch_failed(status)
            || (status == LATCH_CONFLICT && latch_redis_is_queued(op->lease))) {
            latch_redis_compensate(op, now_ns);
        }
        latch_redis_wait_end(op->lease);
    }
    return status;
}

latch_status latch_redis_detach(latch_op *op, int64_t now_ns)
{
    redis_store *store = latch_redis_store_of(op);
    latch_status status;
    int64_t wait_ns;

    if ((op->flags & REDIS_SENT) == 0) {
        if (!latch_redis_pending_add_release(op, now_ns)) {
            return latch_fail_memory(op->error);
        }
        op->flags |= REDIS_SENT;
    }
    status = connect_for_request(op, now_ns);
    if (status == LATCH_DONE) {
        latch_redis_pending_flush(store, NULL, now_ns);
        wait_ns = latch_redis_pending_wait_ns(store, latch_redis_node_of(op), now_ns);
        if (wait_ns > 0 && !latch_redis_has_object(store)) {
            return latch_redis_want(&latch_redis_node_of(op)->connection, now_ns + wait_ns, op);
        }
    } else if (latch_failed(status)) {
        latch_redis_breaker_record_timeout(op, latch_redis_node_of(op), now_ns);
    }
    if (status == LATCH_DONE && latch_redis_has_object(store)) {
        redis_connection *connection = &store->topology.single.connection;

        connection->transport->receive(connection);
        status = latch_redis_pending_is_empty(store)
                     ? LATCH_DONE
                     : latch_fail(op->error, LATCH_ERROR_STORE, 0, "Redis at %s was not told: %s",
                                  store->options.address, connection->trouble);
    }
    return status;
}
