/*
 * Locks in Redis or Valkey, in the layout of Symfony's RedisStore, with which they exclude each
 * other: one script for each request (redis/ *.lua), one round trip. Who has to wait stands in a
 * queue and is told when the lock is its (redis_wait.c).
 *
 * A request may be sent twice: when its reply was lost with the connection nobody knows whether it
 * was carried out, and all of them ask for a state by the holder's token, not for a change. If that
 * does not help either, a lock that may have been granted is given back as soon as can be
 * (redis_debt.c).
 *
 * A token belongs to one process. A forked child that inherits a lease is another holder, but for
 * leases with `inherit`, which are meant to be handed on while they are held.
 */
#include "redis.h"

#include <errno.h>
#include <string.h>

/* How long a lock is to be given back at least, as nobody may know when it expires. */
#define DEBT_NS (60 * LATCH_NS_PER_S)
/* How long a queue is there after anybody has asked: queue.lua's QUEUE_MS. */
#define QUEUE_NS (180 * LATCH_NS_PER_S)

static redis_target target_of(const latch_lease *lease)
{
    const redis_hold *hold = lease->state;

    return (redis_target){lease->resource, lease->resource_length, lease->token, hold->wait.ticket,
                          false};
}

/* ---- Opening -------------------------------------------------------------------------------- */

static void redis_close(latch_store *base)
{
    redis_store *store = (redis_store *) base;

    if (store->connection.object != NULL) {
        latch_redis_pay_at_last(store);
    } else {
        latch_redis_debts_settle(store);
    }
    latch_redis_close(&store->connection);
    latch_redis_subscription_end(&store->subscription);
    latch_redis_sentinel_end(&store->sentinel);
    latch_redis_debts_end(store);
    latch_redis_options_free(base->engine, &store->options);
    if (store->object.runner.close != NULL) {
        store->object.runner.close(store->object.runner.context);
    }
}

/* The rest of it, when its options are known. */
static latch_status prepare(latch_store *base, latch_error *error)
{
    redis_store *store = (redis_store *) base;

    latch_redis_connection_init(&store->connection, base->engine, &store->options);
    latch_redis_debts_init(store);
    latch_redis_sentinel_init(&store->sentinel, base->engine, &store->options);
    if (!latch_redis_subscription_init(&store->subscription, base->engine, &store->options)) {
        redis_close(base);
        return latch_fail_memory(error);
    }
    latch_redis_sentinel_lead(&store->sentinel, &store->connection);
    latch_redis_sentinel_lead(&store->sentinel, &store->subscription.connection);
    return LATCH_DONE;
}

static latch_status redis_open(latch_store *base, const latch_store_options *options,
                               latch_error *error)
{
    redis_store *store = (redis_store *) base;
    latch_status status = options->redis_runner != NULL
                              ? latch_redis_object_options(base->engine, &store->options, error)
                              : latch_redis_options_parse(base->engine, options->dsn,
                                                          options->dsn_length, &store->options,
                                                          error);

    if (status == LATCH_DONE) {
        status = prepare(base, error);
    }
    if (status == LATCH_DONE && options->redis_runner != NULL) {
        latch_redis_use_object(store, options->redis_runner);
    }
    return status;
}

static latch_store *redis_twin(const latch_store *base, latch_error *error)
{
    const redis_store *store = (const redis_store *) base;
    latch_store *twin = latch_store_make(base->engine, base->class, error);
    latch_status status = LATCH_DONE;

    if (twin == NULL) {
        return NULL;
    }
    if (!latch_redis_options_copy(base->engine, &store->options,
                                  &((redis_store *) twin)->options)) {
        status = latch_fail_memory(error);
    }
    if (status == LATCH_DONE) {
        status = prepare(twin, error);
    }
    if (status != LATCH_DONE) {
        latch_free(base->engine, twin);
        return NULL;
    }
    return twin;
}

static void redis_gather(latch_store *base, bool on)
{
    latch_redis_gather(&((redis_store *) base)->connection, on);
}

static const char *redis_identity(const latch_store *base)
{
    return ((const redis_store *) base)->options.identity;
}

/* ---- A request, step by step ---------------------------------------------------------------- */

/* op->state while there is no call yet, as the connection is still to come. */
static void *unsent(redis_store *store)
{
    return &store->connection;
}

static bool is_sent(const latch_op *op)
{
    return op->state != unsent(latch_redis_store_of(op));
}

bool latch_redis_count_loss(latch_op *op)
{
    bool again = (op->attempts & REDIS_LOST_BEFORE) == 0;

    op->attempts |= REDIS_LOST_BEFORE;
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

/* Not held from the moment at which the command may arrive, whatever comes of it. */
static void note_release(latch_lease *lease)
{
    redis_hold *hold = lease->state;

    lease->mode = LATCH_FREE;
    lease->fencing_token = 0;
    hold->generation = lease->store->engine->generation;
    hold->adopted = false;
    hold->spent = true;
}

static bool is_spent(const latch_lease *lease)
{
    const redis_hold *hold = lease->state;

    return hold->spent;
}

/*
 * The command may make the hold shorter as soon as it arrives, and nobody may ever hear of that: so
 * the hold is certain for the shorter time only.
 */
static void note_ttl(latch_op *op, int64_t now_ns)
{
    latch_lease *lease = op->lease;
    redis_hold *hold = lease->state;
    int64_t deadline_ns = now_ns + op->request.ttl_ms * LATCH_NS_PER_MS;

    hold->deadline_ns = lease->deadline_ns;
    if (lease->mode != LATCH_FREE && deadline_ns < lease->deadline_ns) {
        lease->deadline_ns = deadline_ns;
    }
}

static latch_status send_request(latch_op *op, int64_t now_ns)
{
    redis_store *store = latch_redis_store_of(op);
    const redis_target target = target_of(op->lease);
    const redis_order order = {.id = script_of(op),
                               .as_text = (op->attempts & REDIS_AS_TEXT) != 0,
                               .extend = op->request.extend,
                               .manner = latch_redis_manner(op->lease),
                               .ttl_ms = op->request.ttl_ms};
    redis_call *call;

    latch_redis_pay(store, op->lease, now_ns); /* first: it may be this very lock */
    if (order.manner != REDIS_TRY) {
        latch_redis_ask_for_peers(store, now_ns);
    }
    call = latch_redis_send_script(store, &order, &target, now_ns);
    if (call == NULL) {
        return latch_fail_memory(op->error);
    }
    if (op->request.kind == LATCH_RELEASE) {
        if ((op->attempts & REDIS_SENT) == 0 && is_spent(op->lease)) {
            op->attempts |= REDIS_SPENT_BEFORE;
        }
        note_release(op->lease);
    } else if ((op->attempts & REDIS_SENT) == 0
               && (latch_redis_acquires(op) || op->request.kind == LATCH_REFRESH)) {
        note_ttl(op, now_ns);
    }
    if (latch_redis_is_queued(op->lease)) {
        latch_redis_wait_sent(op);
    }
    op->attempts |= REDIS_SENT;
    op->sent_ns = now_ns;
    op->state = call;
    return LATCH_DONE;
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
        status = latch_redis_connect(&latch_redis_store_of(op)->connection, op, now_ns);
        if (LATCH_FAILED(status)) {
            op->attempts |= REDIS_TROUBLE;
        }
    }
    if (status == LATCH_DONE) {
        latch_redis_ask_age(latch_redis_store_of(op), now_ns);
        status = send_request(op, now_ns);
    }
    return status;
}

latch_status latch_redis_fail_lost(latch_op *op)
{
    redis_store *store = latch_redis_store_of(op);

    op->attempts |= REDIS_TROUBLE;
    return latch_fail(op->error, LATCH_ERROR_STORE, 0, "lost the connection to Redis at %s: %s",
                      latch_redis_address(&store->connection), store->connection.trouble);
}

latch_status latch_redis_fail_overdue(latch_op *op)
{
    redis_store *store = latch_redis_store_of(op);

    latch_redis_close(&store->connection);
    op->attempts |= REDIS_TROUBLE;
    return latch_fail(op->error, LATCH_ERROR_STORE, ETIMEDOUT,
                      "Redis at %s did not answer within %g s",
                      latch_redis_address(&store->connection),
                      op->request.patience_ms > 0
                          ? (double) op->request.patience_ms / 1000
                          : (double) store->options.command_timeout_ns / (double) LATCH_NS_PER_S);
}

/* Takes the reply of an answered call. REDIS_AGAIN: it was not the last one. */
static latch_status conclude(latch_op *op, const redisReply *reply, int64_t now_ns)
{
    if (reply->type != REDIS_REPLY_ERROR) {
        return latch_redis_understand(op, reply, now_ns);
    }
    if (strncmp(reply->str, "NOSCRIPT", 8) == 0 && (op->attempts & REDIS_AS_TEXT) == 0) {
        op->attempts |= REDIS_AS_TEXT;
        return REDIS_AGAIN;
    }
    if (latch_redis_disowns(op, reply->str) && latch_redis_count_loss(op)) {
        return REDIS_AGAIN;
    }
    if (latch_redis_passes(reply->str)) {
        op->attempts |= REDIS_TROUBLE;
    }
    return latch_redis_fail_with_reply(op, reply->str);
}

/*
 * When the reply is overdue, and the connection with it. Replies come in their order: while others
 * still do, who is impatient would gain nothing by another connection, and the rest lose theirs.
 */
static int64_t overdue_ns(const latch_op *op)
{
    const redis_store *store = latch_redis_store_of(op);
    const redis_call *call = op->state;
    int64_t heard_ns = store->heard_ns > op->sent_ns ? store->heard_ns : op->sent_ns;
    int64_t patience_ns = op->request.patience_ms * LATCH_NS_PER_MS;

    return patience_ns > 0 && patience_ns < call->deadline_ns - heard_ns ? heard_ns + patience_ns
                                                                         : call->deadline_ns;
}

/* Looks after what was sent. REDIS_AGAIN: it was not the last one. */
static latch_status await(latch_op *op, int64_t now_ns)
{
    redis_store *store = latch_redis_store_of(op);
    redis_call *call = op->state;
    int64_t end_ns = overdue_ns(op);
    latch_status status;

    if (call->state == REDIS_UNANSWERED && now_ns < end_ns) {
        return latch_redis_want(&store->connection, end_ns, op);
    }
    op->state = unsent(store);
    if (call->state == REDIS_ANSWERED) {
        latch_redis_note_answer(store, now_ns);
        status = conclude(op, call->reply, now_ns);
    } else if (call->state == REDIS_UNANSWERED) {
        latch_redis_wait_fails_since(op, op->sent_ns);
        status = latch_redis_fail_overdue(op);
    } else {
        status = latch_redis_count_loss(op) && latch_redis_object_repeats(&store->connection)
                     ? REDIS_AGAIN
                     : latch_redis_fail_lost(op);
    }
    latch_redis_call_free(&store->connection, call);
    return status;
}

/* Until when a lock is to be given back: it has expired by itself then. */
static int64_t debt_end(const latch_lease *lease, int64_t now_ns)
{
    /* A renewal may have arrived of which nobody has heard. */
    return lease->deadline_ns == LATCH_NEVER || lease->deadline_ns < now_ns + DEBT_NS
               ? now_ns + DEBT_NS
               : lease->deadline_ns;
}

/* Makes a writer a reader again, behind the command that may have promoted it. */
static bool send_demotion(latch_op *op, int64_t now_ns)
{
    redis_store *store = latch_redis_store_of(op);
    const redis_target target = target_of(op->lease);
    const redis_order order = {.id = REDIS_ACQUIRE_SHARED,
                               .as_text = true,
                               .manner = REDIS_TRY,
                               .ttl_ms = op->request.ttl_ms};
    redis_call *call = latch_redis_send_script(store, &order, &target, now_ns);

    if (call != NULL) {
        latch_redis_call_free(&store->connection, call);
        note_ttl(op, now_ns);
    }
    return call != NULL;
}

/* The hold that an acquire was to renew or change goes on. */
static bool holds_still(const latch_op *op, int64_t now_ns)
{
    return op->mode_before != LATCH_FREE && now_ns < op->lease->deadline_ns;
}

static bool promotes(const latch_op *op, int64_t now_ns)
{
    return op->request.kind == LATCH_ACQUIRE && op->mode_before == LATCH_SHARED
           && holds_still(op, now_ns);
}

/*
 * What may be held, or waited for, by an acquire that is over. False when the server was not told
 * yet.
 */
static bool give_back(latch_op *op, int64_t now_ns)
{
    int64_t end_ns = now_ns + op->request.ttl_ms * LATCH_NS_PER_MS;
    redis_store *store = latch_redis_store_of(op);
    redis_hold *hold = op->lease->state;
    redis_target target = target_of(op->lease);
    bool is_owed;

    /* By a token that came with a key somebody else may hold. */
    target.keep = hold->adopted || holds_still(op, now_ns);
    if (target.keep && target.ticket == 0) {
        return true;
    }
    if (target.ticket != 0 && end_ns < now_ns + QUEUE_NS) {
        end_ns = now_ns + QUEUE_NS;
    }
    is_owed = latch_redis_owe(store, &target, end_ns);
    latch_redis_pay(store, NULL, now_ns);
    hold->spent = !target.keep;
    return is_owed && latch_redis_is_debtless(store);
}

/* An acquire that was on its way, or waited, is over. */
static void undo_acquire(latch_op *op, int64_t now_ns)
{
    redis_store *store = latch_redis_store_of(op);
    latch_lease *lease = op->lease;
    bool is_queued = latch_redis_is_queued(lease);

    if (store->connection.stage == REDIS_READY) {
        latch_redis_receive(&store->connection); /* while it waited the connection may have ended */
    }
    if (promotes(op, now_ns) && is_queued && store->connection.stage == REDIS_READY) {
        send_demotion(op, now_ns);
    }
    /* Or its place alone, as the demotion may be lost. */
    if (!give_back(op, now_ns) && is_queued) {
        /* The server must not think that somebody waits here. */
        latch_redis_close(&store->subscription.connection);
    }
    if (op->request.kind == LATCH_ACQUIRE_SHARED && lease->mode == LATCH_EXCLUSIVE) {
        lease->mode = LATCH_SHARED;
        lease->fencing_token = 0;
    }
}

/*
 * The request is over, and nobody knows whether the server has carried it out: the reply is lost,
 * or will be heard by nobody, or the script failed in its middle; or it waits for a lock no longer.
 * A lock that may have been granted, or may not have been released, is given back; one that may
 * have been demoted counts as shared.
 */
static void make_good(latch_op *op, int64_t now_ns)
{
    redis_store *store = latch_redis_store_of(op);
    latch_lease *lease = op->lease;

    if (((op->attempts & REDIS_SENT) == 0 && !latch_redis_is_queued(lease))
        || latch_redis_is_foreign(lease)) {
        return;
    }
    if (op->request.kind == LATCH_RELEASE) {
        const redis_target target = target_of(lease);

        latch_redis_owe(store, &target, debt_end(lease, now_ns));
    } else if (latch_redis_acquires(op)) {
        undo_acquire(op, now_ns);
    }
}

/* Sends the request, unless that has been done, and looks after its reply. */
static latch_status advance(latch_op *op, int64_t now_ns)
{
    latch_status status;

    do {
        bool may_be_answered = is_sent(op) || latch_redis_store_of(op)->connection.object != NULL;

        status = is_sent(op) ? LATCH_DONE : dispatch(op, now_ns);
        if (status == LATCH_DONE) {
            /* Of many that wait for answers the first one reads them all. */
            if (may_be_answered && ((redis_call *) op->state)->state == REDIS_UNANSWERED) {
                latch_redis_receive(&latch_redis_store_of(op)->connection);
            }
            status = await(op, now_ns);
        }
    } while (status == REDIS_AGAIN);
    if ((op->attempts & REDIS_TROUBLE) != 0 && latch_redis_outlives(op, now_ns)) {
        return LATCH_WANT_TIMER;
    }
    if (LATCH_FAILED(status)) {
        latch_redis_note_silence(op, now_ns);
    }
    if (!LATCH_WANTS(status) && op->lease->state != NULL) {
        if (LATCH_FAILED(status)
            || (status == LATCH_CONFLICT && latch_redis_is_queued(op->lease))) {
            make_good(op, now_ns);
        }
        latch_redis_wait_end(op->lease);
    }
    return status;
}

/* The lock is to be given back, whenever that can be. False when memory ran out. */
static bool owe(latch_op *op, int64_t now_ns)
{
    latch_lease *lease = op->lease;
    const redis_target target = target_of(lease);
    bool is_owed = latch_redis_owe(latch_redis_store_of(op), &target, debt_end(lease, now_ns));

    if (is_owed) {
        note_release(lease);
    }
    return is_owed;
}

/*
 * A release that nobody awaits is a debt. If it cannot be sent now its caller hears of that, and it
 * stays a debt.
 */
static latch_status detach(latch_op *op, int64_t now_ns)
{
    redis_store *store = latch_redis_store_of(op);
    latch_status status;

    if ((op->attempts & REDIS_SENT) == 0) {
        if (!owe(op, now_ns)) {
            return latch_fail_memory(op->error);
        }
        op->attempts |= REDIS_SENT;
    }
    status = latch_redis_connect(&store->connection, op, now_ns);
    if (status == LATCH_DONE) {
        latch_redis_pay(store, NULL, now_ns);
    } else if (LATCH_FAILED(status)) {
        latch_redis_note_silence(op, now_ns);
    }
    if (status == LATCH_DONE && store->connection.object != NULL) {
        latch_redis_receive(&store->connection);
        status = latch_redis_is_debtless(store)
                     ? LATCH_DONE
                     : latch_fail(op->error, LATCH_ERROR_STORE, 0, "Redis at %s was not told: %s",
                                  store->options.address, store->connection.trouble);
    }
    return status;
}

static latch_status redis_step(latch_op *op, int64_t now_ns)
{
    if (latch_redis_is_inquiry(op)) {
        return latch_redis_inquire(op, now_ns);
    }
    return op->request.detach ? detach(op, now_ns) : advance(op, now_ns);
}

static latch_status redis_begin(latch_op *op)
{
    redis_store *store = latch_redis_store_of(op);
    bool is_avoided = latch_redis_is_avoided(op);

    if (op->lease->resource_length >= sizeof(REDIS_OWN_KEYS) - 1
        && memcmp(op->lease->resource, REDIS_OWN_KEYS, sizeof(REDIS_OWN_KEYS) - 1) == 0) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0,
                          "in Redis, names that begin with \"" REDIS_OWN_KEYS "\" are Latch's own");
    }
    if (latch_redis_is_inquiry(op) && store->connection.object != NULL) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0,
                          "the redis store cannot tell who holds a lock by a given connection; "
                          "give it a DSN");
    }
    if (op->request.ttl_ms == 0
        && (latch_redis_acquires(op) || op->request.kind == LATCH_REFRESH)) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0, "a lock in Redis needs a TTL");
    }
    if (op->request.ttl_ms > REDIS_TTL_MAX_MS) {
        op->request.ttl_ms = REDIS_TTL_MAX_MS;
    }
    op->attempts = 0;
    op->state = latch_redis_is_inquiry(op) ? NULL : unsent(store);
    latch_redis_sort_out_inheritance(op);
    if (latch_redis_forget_stale(&store->connection, op->sent_ns)) {
        latch_store_note_silence(&store->store, op->sent_ns, op->sent_ns);
    }
    latch_redis_forget_subscribing(&store->subscription);
    if (op->request.kind == LATCH_RELEASE) {
        latch_status status = latch_redis_claim_token(op);

        if (status != LATCH_DONE) {
            return status == LATCH_CONFLICT ? LATCH_DONE /* this process never had it */ : status;
        }
    }
    if (is_avoided) {
        return op->request.kind == LATCH_RELEASE && !owe(op, op->sent_ns)
                   ? latch_fail_memory(op->error)
                   : latch_redis_fail_avoided(op);
    }
    return redis_step(op, op->sent_ns);
}

/*
 * Nobody has to wait for a server that does not answer: what a request may have done is undone by a
 * command right behind it, and neither is awaited.
 */
static latch_status redis_cancel(latch_op *op)
{
    redis_store *store = latch_redis_store_of(op);
    int64_t now_ns = latch_engine_now_ns(store->store.engine);

    if (latch_redis_is_inquiry(op)) {
        latch_redis_inquiry_end(op);
        return LATCH_CONFLICT;
    }
    if (is_sent(op)) {
        redis_call *call = op->state;

        if (call->state == REDIS_ANSWERED
            || (call->state == REDIS_UNANSWERED && promotes(op, now_ns)
                && !latch_redis_is_queued(op->lease) && !send_demotion(op, now_ns))) {
            return latch_redis_want(&store->connection, now_ns, op);
        }
        latch_redis_call_free(&store->connection, call);
    }
    make_good(op, now_ns);
    latch_redis_wait_end(op->lease);
    return LATCH_CONFLICT;
}

/* It is not where the script was unknown, or the connection lost. */
static bool is_carried_out(const redis_call *call)
{
    return call->state == REDIS_ANSWERED && call->reply->type != REDIS_REPLY_ERROR;
}

/* A release that is not awaited is a debt, from its beginning or from now on. */
static void redis_abandon(latch_op *op)
{
    redis_store *store = latch_redis_store_of(op);
    redis_call *call = is_sent(op) ? op->state : NULL;
    int64_t now_ns = latch_engine_now_ns(store->store.engine);
    redis_target target;

    if (latch_redis_is_inquiry(op)) {
        latch_redis_inquiry_end(op);
        return;
    }
    target = target_of(op->lease);
    if (op->request.kind == LATCH_RELEASE && !op->request.detach) {
        if (call != NULL && call->state == REDIS_UNANSWERED) {
            if (latch_redis_owe_answer(store, call, &target, debt_end(op->lease, now_ns))) {
                call = NULL;
            }
        } else if (call == NULL || !is_carried_out(call)) {
            owe(op, now_ns);
        }
    }
    if (call != NULL) {
        latch_redis_call_free(&store->connection, call);
    }
    latch_redis_wait_end(op->lease);
}

const latch_store_class latch_redis_store = {
    .info =
        {
            .name = REDIS_STORE_NAME,
            .state_name = latch_redis_state_name,
            .capabilities = REDIS_OBJECT_CAPABILITIES | LATCH_BLOCKING | LATCH_PUSH | LATCH_LISTING
                            | LATCH_NOTES,
        },
    .size = sizeof(redis_store),
    .open = redis_open,
    .close = redis_close,
    .identity = redis_identity,
    .begin = redis_begin,
    .step = redis_step,
    .cancel = redis_cancel,
    .abandon = redis_abandon,
    .held = latch_redis_held,
    .shares_token = latch_redis_shares_token,
    .take_token = latch_redis_take_token,
    .started = latch_redis_started,
    .drop = latch_redis_drop,
    .twin = redis_twin,
    .gather = redis_gather,
    .refusal = latch_redis_refusal,
};
