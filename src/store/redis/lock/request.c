/* A request to a Redis server, step by step: it is sent, and its reply awaited. */
#include "src/store/redis/lock/redis.h"
#include "src/store/redis/topology/breaker.h"

#include <errno.h>
#include <string.h>

bool latch_redis_count_loss(latch_op *op)
{
    bool again = (op->flags & REDIS_LOST_BEFORE) == 0;

    op->flags |= REDIS_LOST_BEFORE;
    return again;
}

static redis_script_id script_of(const latch_op *op)
{
    static const redis_script_id ids[] = {
        [LATCH_ACQUIRE] = REDIS_ACQUIRE, [LATCH_ACQUIRE_SHARED] = REDIS_ACQUIRE_SHARED,
        [LATCH_REFRESH] = REDIS_REFRESH, [LATCH_RELEASE] = REDIS_RELEASE,
        [LATCH_PROBE] = REDIS_PROBE,
    };

    return ids[op->request.kind];
}

/* Goes before a command: the server is to carry it out though it has not got all of the slot. */
static bool send_asking(redis_node *node, int64_t now_ns)
{
    redis_command command = {.count = 0};
    redis_call *call;

    latch_redis_add_text(&command, "ASKING");
    call = latch_redis_send(&node->connection, &command, now_ns);
    if (call != NULL) {
        latch_redis_call_leave(call, NULL, NULL);
    }
    return call != NULL;
}

redis_call *latch_redis_send_script(redis_node *node, const redis_order *order,
                                    const redis_target *target, int64_t now_ns)
{
    redis_store *store = latch_redis_store_at(node);
    const redis_subscription *subscription = &store->subscription;
    redis_order complete = *order;
    redis_script_command written;
    redis_call *call = NULL;

    complete.is_mute = latch_redis_is_mute(subscription, now_ns);
    complete.has_peers = store->options.peers == REDIS_PEERS_YES || node->has_peers;
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
    const redis_target target = latch_redis_target_of(op->lease);
    redis_script_id id = script_of(op);
    const redis_order order = {.id = id,
                               .as_text =
                                   (op->flags & REDIS_AS_TEXT) != 0
                                   || (store->is_member && latch_redis_may_lack_script(node, id)),
                               .extend = op->request.extend,
                               .manner = latch_redis_is_queued(op->lease) ? hold->wait.manner
                                                                          : REDIS_TRY,
                               .ttl_ms = op->request.ttl_ms};
    redis_call *call;

    if (store->is_member) {
        latch_redis_ask_member(node, now_ns);
    }
    if (!latch_redis_is_debtless(store) || store->generation != store->store.engine->generation) {
        latch_redis_pay(store, op->lease, now_ns); /* first: it may be this very lock */
    }
    if (order.manner != REDIS_TRY) {
        latch_redis_ask_for_peers(node, now_ns);
    }
    call = hold->route.asks && !send_asking(node, now_ns)
               ? NULL
               : latch_redis_send_script(node, &order, &target, now_ns);
    if (call == NULL) {
        return latch_fail_memory(op->error);
    }
    if (op->request.kind == LATCH_RELEASE) {
        if ((op->flags & REDIS_SENT) == 0 && hold->spent) {
            op->flags |= REDIS_SPENT_BEFORE;
        }
        latch_redis_note_release(op->lease);
    } else if ((op->flags & REDIS_SENT) == 0
               && (latch_redis_acquires(op) || op->request.kind == LATCH_REFRESH)) {
        latch_redis_note_ttl(op, now_ns);
    }
    if (latch_redis_is_queued(op->lease)) {
        latch_redis_wait_sent(op);
    }
    op->flags |= REDIS_SENT;
    op->sent_ns = now_ns;
    op->state = call;
    return LATCH_DONE;
}

/* Connects to the server that has the lock. */
static latch_status reach(latch_op *op, int64_t now_ns)
{
    const latch_lease *lease = op->lease;
    redis_hold *hold = lease->state;
    latch_status status = latch_redis_reach(&latch_redis_store_of(op)->topology, &hold->route,
                                            lease->resource, lease->resource_length, op, now_ns);

    if (latch_failed(status)) {
        op->flags |= REDIS_TROUBLE;
    }
    if (latch_failed(status) && latch_redis_is_avoided(op, hold->route.node)
        && op->request.kind == LATCH_RELEASE && (op->flags & REDIS_SENT) == 0
        && !latch_redis_owe_release(op, now_ns)) {
        return latch_fail_memory(op->error);
    }
    return status;
}

/* Connects, and sends, when it is time. LATCH_DONE: it is on its way. */
static latch_status dispatch(latch_op *op, int64_t now_ns)
{
    latch_status status =
        latch_redis_claim_token(op); /* a process may have been forked meanwhile */

    if (status == LATCH_DONE && op->request.wait) {
        status = latch_redis_wait(op, now_ns);
    }
    if (status == LATCH_DONE) {
        status = reach(op, now_ns);
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
    latch_redis_note_trouble(node);
    op->flags |= REDIS_TROUBLE;
    return latch_fail(op->error, LATCH_ERROR_STORE, ETIMEDOUT,
                      "Redis at %s did not answer within %g s",
                      latch_redis_address(&node->connection),
                      op->request.patience_ms > 0
                          ? (double) op->request.patience_ms / 1000
                          : (double) node->connection.options->command_timeout_ns
                                / (double) LATCH_NS_PER_S);
}

void latch_redis_outage(const latch_op *op, int64_t now_ns)
{
    redis_store *store = latch_redis_store_of(op);
    redis_node *node = latch_redis_is_inquiry(op) ? &store->topology.single
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

latch_status latch_redis_fail_confused(latch_op *op, redis_node *node)
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
    if (latch_redis_is_wrongtype(text) && (op->flags & REDIS_LOST_BEFORE) == 0) {
        op->flags &= (uint8_t) ~REDIS_SENT;
    }
    /* It was the master once: the name may lead to another by now. */
    if (latch_redis_is_readonly(text)) {
        latch_redis_close(&node->connection);
    }
    return LATCH_ERROR_STORE;
}

/* ---- Replies -------------------------------------------------------------------------------- */

/*
 * Another holder has the lock. So a hold is gone that we thought we had; but a reader that wants to
 * be a writer may still be one reader of several.
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

/* What the server says of the lock, noted on the lease. REDIS_AGAIN: the request has to wait. */
static latch_status apply_outcome(latch_op *op, const redis_outcome *outcome, int64_t now_ns)
{
    latch_lease *lease = op->lease;
    redis_hold *hold = lease->state;

    switch (outcome->kind) {
        case REDIS_GRANTED:
            lease->fencing_token = outcome->fencing_token;
            latch_redis_note_mode(lease, outcome->mode);
            return LATCH_DONE;
        case REDIS_REFUSED:
            apply_refusal(op);
            if (!op->request.wait || (op->flags & REDIS_TRIED) != 0) {
                return LATCH_CONFLICT;
            }
            op->flags = REDIS_TRIED;
            return REDIS_AGAIN;
        case REDIS_QUEUED:
            if (!latch_redis_is_queued(lease)) {
                break;
            }
            apply_refusal(op);
            return latch_redis_wait_on(op, outcome->place, outcome->retry_ms, now_ns);
        case REDIS_RENEWED:
            latch_redis_note_mode(lease, outcome->mode);
            return LATCH_DONE;
        case REDIS_RELEASED:
            /* Else an earlier release by the token may still come, or is owed. */
            hold->spent = (op->flags & (REDIS_LOST_BEFORE | REDIS_SPENT_BEFORE)) != 0;
            return LATCH_DONE;
        case REDIS_PROBED:
            if (lease->mode == LATCH_FREE) {
                lease->deadline_ns = op->sent_ns + outcome->left_ms * LATCH_NS_PER_MS;
                latch_redis_note_mode(lease, outcome->mode);
            }
            return LATCH_DONE;
        case REDIS_NOT_HELD:
            return LATCH_CONFLICT;
        case REDIS_UNEXPECTED:
            break;
    }
    return latch_redis_fail_confused(op, latch_redis_node_of(op));
}

/* Leaves a server that is no master any more: the request may find the new one. */
static bool leave_replica(const latch_op *op, const char *text)
{
    redis_connection *connection = &latch_redis_node_of(op)->connection;

    if (!connection->source->wants_master || !latch_redis_is_readonly(text)) {
        return false;
    }
    latch_redis_close(connection);
    return true;
}

static latch_status apply_error(latch_op *op, const char *text, int64_t now_ns)
{
    redis_hold *hold = op->lease->state;

    if (latch_redis_redirect(&hold->route, op, text, now_ns)) {
        return REDIS_AGAIN;
    }
    if (latch_redis_is_noscript(text) && (op->flags & REDIS_AS_TEXT) == 0) {
        op->flags |= REDIS_AS_TEXT;
        return REDIS_AGAIN;
    }
    if (leave_replica(op, text) && latch_redis_count_loss(op)) {
        return REDIS_AGAIN;
    }
    if (latch_redis_passes(text)) {
        op->flags |= REDIS_TROUBLE;
    }
    return latch_redis_fail_with_reply(op, hold->route.node, text);
}

/* Takes the reply of an answered call. REDIS_AGAIN: it was not the last one. */
static latch_status conclude(latch_op *op, const redisReply *reply, int64_t now_ns)
{
    redis_hold *hold = op->lease->state;
    redis_outcome outcome;

    if (reply->type == REDIS_REPLY_ERROR) {
        return apply_error(op, reply->str, now_ns);
    }
    latch_redis_note_owner(&hold->route, op->lease->resource, op->lease->resource_length);
    if (op->request.kind == LATCH_RELEASE) {
        latch_redis_note_script(latch_redis_node_of(op));
    }
    outcome = latch_redis_parse_reply(op->request.kind, reply);
    return apply_outcome(op, &outcome, now_ns);
}

/*
 * When the reply is overdue, and the connection with it. Replies come in their order: while others
 * still do, who is impatient would gain nothing by another connection, and the rest lose theirs.
 */
static int64_t overdue_ns(const latch_op *op)
{
    const redis_node *node = latch_redis_node_of(op);
    const redis_call *call = op->state;
    int64_t heard_ns = node->heard_ns > op->sent_ns ? node->heard_ns : op->sent_ns;
    int64_t patience_ns = op->request.patience_ms * LATCH_NS_PER_MS;

    return patience_ns > 0 && patience_ns < call->deadline_ns - heard_ns ? heard_ns + patience_ns
                                                                         : call->deadline_ns;
}

/* Its answer is lost with the connection. */
static latch_status recover(latch_op *op, redis_node *node)
{
    redis_hold *hold = op->lease->state;

    latch_redis_note_trouble(node);
    latch_redis_start_over(&hold->route);
    return latch_redis_count_loss(op) && !node->connection.was_slow
               ? REDIS_AGAIN
               : latch_redis_fail_lost(op, node);
}

/* Looks after what was sent. REDIS_AGAIN: it was not the last one. */
static latch_status await(latch_op *op, int64_t now_ns)
{
    redis_node *node = latch_redis_node_of(op);
    redis_hold *hold = op->lease->state;
    redis_call *call = op->state;
    int64_t end_ns = overdue_ns(op);
    latch_status status;

    if (call->state == REDIS_UNANSWERED && now_ns < end_ns) {
        return latch_redis_want(&node->connection, end_ns, op);
    }
    op->state = latch_redis_unsent(latch_redis_store_of(op));
    if (call->state == REDIS_ANSWERED) {
        latch_redis_note_answer(node, now_ns);
        status = conclude(op, call->reply, now_ns);
    } else if (call->state == REDIS_UNANSWERED) {
        latch_redis_wait_fails_since(op, op->sent_ns);
        status = latch_redis_fail_overdue(op, node);
        latch_redis_start_over(&hold->route);
    } else {
        status = recover(op, node);
    }
    latch_redis_call_free(&node->connection, call);
    return status;
}

latch_status latch_redis_advance(latch_op *op, int64_t now_ns)
{
    latch_status status;

    do {
        bool was_sent = latch_redis_is_sent(op);

        status = was_sent ? LATCH_DONE : dispatch(op, now_ns);
        if (status == LATCH_DONE) {
            redis_connection *connection = &latch_redis_node_of(op)->connection;

            /* Of many that wait for answers the first one reads them all. */
            if ((was_sent || connection->transport->is_synchronous)
                && ((redis_call *) op->state)->state == REDIS_UNANSWERED) {
                connection->transport->receive(connection);
            }
            status = await(op, now_ns);
        }
    } while (status == REDIS_AGAIN);
    if ((op->flags & REDIS_TROUBLE) != 0 && latch_redis_outlives(op, now_ns)) {
        return LATCH_WANT_TIMER;
    }
    if (latch_failed(status)) {
        latch_redis_note_silence(op, latch_redis_node_of(op), now_ns);
    }
    if (!latch_wants(status) && op->lease->state != NULL) {
        if (latch_failed(status)
            || (status == LATCH_CONFLICT && latch_redis_is_queued(op->lease))) {
            latch_redis_make_good(op, now_ns);
        }
        latch_redis_wait_end(op->lease);
    }
    return status;
}

latch_status latch_redis_detach(latch_op *op, int64_t now_ns)
{
    redis_store *store = latch_redis_store_of(op);
    latch_status status;

    if ((op->flags & REDIS_SENT) == 0) {
        if (!latch_redis_owe_release(op, now_ns)) {
            return latch_fail_memory(op->error);
        }
        op->flags |= REDIS_SENT;
    }
    status = reach(op, now_ns);
    if (status == LATCH_DONE) {
        latch_redis_pay(store, NULL, now_ns);
    } else if (latch_failed(status)) {
        latch_redis_note_silence(op, latch_redis_node_of(op), now_ns);
    }
    if (status == LATCH_DONE && latch_redis_has_object(store)) {
        redis_connection *connection = &store->topology.single.connection;

        connection->transport->receive(connection);
        status = latch_redis_is_debtless(store)
                     ? LATCH_DONE
                     : latch_fail(op->error, LATCH_ERROR_STORE, 0, "Redis at %s was not told: %s",
                                  store->options.address, connection->trouble);
    }
    return status;
}
