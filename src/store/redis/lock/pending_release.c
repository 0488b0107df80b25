/*
 * Debts: locks that are to be given back, while nobody waits for it. That is what a destructor
 * leaves behind, or an acquire whose reply was lost, or that was given up while it was on its way.
 * A debt is paid when the server has carried the release out, and is due again when the connection
 * was lost before, or the server could not (it is busy, or loading). It is sent as text: nobody
 * would see that the server has forgotten the script.
 */
#include "src/store/redis/lock/redis.h"
#include "src/store/redis/topology/cluster.h"

#include <stdio.h>
#include <string.h>

/* How often a server may refuse a release for good: an ACL would go on refusing it. */
#define REFUSALS_MAX 5
/* Payments on their way at a time, of 5 kB each, when the server has not answered for so long. */
#define PAYMENTS_MAX 64
#define SILENCE_NS (100 * LATCH_NS_PER_MS)
/* How often, at the end of a program, those are sent that the server could not carry out. */
#define LAST_PAUSE_NS (5 * LATCH_NS_PER_MS)

typedef struct redis_debt {
    latch_link link; /* in store->debts, unless it is being paid */
    redis_store *store;
    redis_node *node; /* which has been sent the release last */
    int64_t end_ns;   /* by then the lock has expired by itself */
    uint8_t refusals; /* so far */
    uint64_t ticket;
    bool keep;
    char token[LATCH_TOKEN_MAX + 1];
    size_t resource_length;
    char resource[];
} redis_debt;

/* For latch_redis_call_leave(): the release was answered, or lost with its connection. */
static void settle(void *context, const redisReply *reply)
{
    redis_debt *debt = context;
    bool is_refused = reply != NULL && reply->type == REDIS_REPLY_ERROR;

    debt->store->store.unacknowledged--;
    debt->refusals += is_refused && !latch_redis_passes(reply->str)
                      && !latch_redis_learn(debt->node, reply->str);
    if ((reply != NULL && !is_refused) || debt->refusals >= REFUSALS_MAX) {
        latch_free(debt->store->store.engine, debt);
    } else {
        latch_list_append(&debt->store->debts, &debt->link);
    }
}

static void forgive(redis_store *store)
{
    while (store->debts.next != &store->debts) {
        redis_debt *debt = LATCH_CONTAINER(store->debts.next, redis_debt, link);

        latch_list_remove(&debt->link);
        latch_free(store->store.engine, debt);
    }
}

void latch_redis_debts_init(redis_store *store)
{
    latch_list_init(&store->debts);
    store->generation = store->store.engine->generation;
}

void latch_redis_debts_end(redis_store *store)
{
    forgive(store);
}

bool latch_redis_owe(redis_store *store, const redis_target *target, int64_t end_ns)
{
    redis_debt *debt = latch_allocate(store->store.engine, sizeof(*debt) + target->length);

    if (debt == NULL) {
        return false;
    }
    debt->store = store;
    debt->end_ns = end_ns;
    debt->refusals = 0;
    debt->ticket = target->ticket;
    debt->keep = target->keep;
    snprintf(debt->token, sizeof(debt->token), "%s", target->token);
    debt->resource_length = target->length;
    memcpy(debt->resource, target->resource, target->length);
    latch_list_append(&store->debts, &debt->link);
    return true;
}

/* Its release is on its way. */
static void note_payment(redis_debt *debt, redis_node *node, redis_call *call)
{
    debt->node = node;
    debt->store->store.unacknowledged++;
    latch_list_remove(&debt->link);
    latch_redis_call_leave(call, settle, debt);
}

bool latch_redis_owe_answer(redis_node *node, redis_call *call, const redis_target *target,
                            int64_t end_ns)
{
    redis_store *store = latch_redis_store_at(node);

    if (!latch_redis_owe(store, target, end_ns)) {
        return false;
    }
    note_payment(LATCH_CONTAINER(store->debts.previous, redis_debt, link), node, call);
    return true;
}

/* Sends the release; false when memory ran out. */
static bool pay(redis_node *node, redis_debt *debt, int64_t now_ns)
{
    const redis_target target = {debt->resource, debt->resource_length, debt->token, debt->ticket,
                                 debt->keep};
    const redis_order order = {.id = REDIS_RELEASE, .as_text = true};
    redis_call *call = latch_redis_send_script(node, &order, &target, now_ns);

    if (call == NULL) {
        return false;
    }
    note_payment(debt, node, call);
    return true;
}

static bool concerns(const redis_debt *debt, const latch_lease *lease)
{
    return lease != NULL && debt->resource_length == lease->resource_length
           && memcmp(debt->resource, lease->resource, lease->resource_length) == 0;
}

/* Can it be sent anything? In a cluster it is connected beside the others, without being awaited.
 */
static bool is_within_reach(redis_node *node, int64_t now_ns)
{
    latch_error ignored;
    latch_op nobody = {.error = &ignored, .sent_ns = now_ns};

    if (node->connection.stage != REDIS_READY && node->topology->cluster != NULL
        && !node->member.is_away
        && latch_failed(latch_redis_connect(&node->connection, &nobody, now_ns))) {
        latch_redis_note_trouble(node);
    }
    return node->connection.stage == REDIS_READY;
}

static bool is_silent(const redis_node *node, int64_t now_ns)
{
    return latch_redis_silence_ns(&node->connection, now_ns) >= SILENCE_NS;
}

/* In a forked child: what is owed, or on its way on whatever connection, is the parent's. */
static void leave_parent(redis_store *store)
{
    for (redis_node *node = latch_redis_next_node(&store->topology, NULL); node != NULL;
         node = latch_redis_next_node(&store->topology, node)) {
        latch_redis_close_if_forked(&node->connection);
    }
    forgive(store);
    store->generation = store->store.engine->generation;
}

void latch_redis_pay(redis_store *store, const latch_lease *lease, int64_t now_ns)
{
    bool go_on = true;

    if (store->generation != store->store.engine->generation) {
        leave_parent(store);
    }
    for (latch_link *link = store->debts.next, *next; go_on && link != &store->debts; link = next) {
        redis_debt *debt = LATCH_CONTAINER(link, redis_debt, link);
        redis_node *node =
            latch_redis_choose(&store->topology, debt->resource, debt->resource_length);

        next = link->next;
        if (now_ns >= debt->end_ns) {
            latch_list_remove(&debt->link);
            latch_free(store->store.engine, debt);
        } else if (is_within_reach(node, now_ns)
                   && (!is_silent(node, now_ns) || store->store.unacknowledged < PAYMENTS_MAX
                       || concerns(debt, lease))) {
            go_on = pay(node, debt, now_ns);
        }
    }
}

static bool has_debts(const redis_store *store)
{
    return store->store.unacknowledged > 0 || !latch_redis_is_debtless(store);
}

/* By the only server's connection. */
static latch_status settle_with_server(redis_store *store, latch_op *op, int64_t now_ns)
{
    redis_connection *connection = &store->topology.single.connection;
    latch_status status = latch_redis_connect(connection, op, now_ns);

    if (status != LATCH_DONE || !has_debts(store)) {
        return status;
    }
    if (now_ns >= store->last_payment_ns + LAST_PAUSE_NS) {
        latch_redis_pay(store, NULL, now_ns);
        store->last_payment_ns = now_ns;
    }
    return latch_redis_want(connection,
                            latch_redis_is_debtless(store) ? LATCH_NEVER : now_ns + LAST_PAUSE_NS,
                            op);
}

/* Reads what has come from all servers; false when none of them is connected, nor will be. */
static bool hear_all(redis_store *store)
{
    bool is_any = false;

    for (redis_node *node = latch_redis_next_node(&store->topology, NULL); node != NULL;
         node = latch_redis_next_node(&store->topology, node)) {
        if (node->connection.stage == REDIS_READY) {
            latch_redis_receive(&node->connection);
        }
        is_any = is_any || node->connection.stage != REDIS_CLOSED;
    }
    return is_any;
}

/* With as many as have to be told, looking again and again what they say. When all that was tried
 * has failed, so often as there are servers, it is over. */
static latch_status settle_with_cluster(redis_store *store, latch_op *op, int64_t now_ns)
{
    latch_redis_pay(store, NULL, now_ns);
    store->vain_payments = hear_all(store) ? 0 : store->vain_payments + 1;
    op->wake_ns = now_ns + LAST_PAUSE_NS;
    return has_debts(store) && store->vain_payments <= store->topology.cluster->count
               ? LATCH_WANT_TIMER
               : LATCH_DONE;
}

latch_status latch_redis_settle_debts(latch_store *base, latch_op *op, int64_t now_ns)
{
    redis_store *store = (redis_store *) base;

    if (!has_debts(store) || latch_redis_has_object(store)
        || store->generation != base->engine->generation) {
        return LATCH_DONE;
    }
    if (store->topology.cluster != NULL) {
        return settle_with_cluster(store, op, now_ns);
    }
    return now_ns < base->breaker.open_until_ns ? LATCH_DONE
                                                : settle_with_server(store, op, now_ns);
}
