/*
 * Pending releases: locks to be released without a waiting operation. Destructors leave them, and
 * acquires that were given up in flight or lost their reply. One is done when the server has
 * carried it out; it is sent again after a lost connection or a transient error (busy, loading).
 *
 * Nobody may read the answer for long, such as that the server has forgotten the script: so the
 * first one on a connection is sent as text. Once the server has answered that it knows the script,
 * it goes by its digest, and in the same write a short script as text (let_go.lua), which has
 * nothing to do unless the server has forgotten the other one: then it gives the lock back. The
 * waiters, whom it does not tell, find that out by themselves (queue.lua's SAFETY_MS), unless
 * NOSCRIPT is read before, and the release is sent again, as text.
 */
#include "src/store/redis/lock/redis.h"
#include "src/store/redis/topology/cluster.h"

#include <stdio.h>
#include <string.h>

/* Errors that are not transient, until a release is dropped: an ACL would go on refusing it. */
#define REFUSALS_MAX 5
/* Releases in flight at a time, of 10 kB at most, to a server without an answer for so long. */
#define IN_FLIGHT_MAX 64
#define SILENT_AFTER_NS (100 * LATCH_NS_PER_MS)
/* Interval at which a closing store repeats releases after a transient error. */
#define DRAIN_PAUSE_NS (5 * LATCH_NS_PER_MS)

typedef struct redis_pending_release {
    latch_link link; /* in store->pending, unless it is in flight */
    redis_store *store;
    redis_hold *hold; /* whose last pending release this is, or NULL */
    redis_node *node; /* which has been sent the release last */
    int64_t end_ns;   /* by then the lock has expired by itself */
    uint8_t refusals; /* so far */
    uint64_t ticket;
    const redis_layout *layout;
    bool keep, is_in_flight;
    latch_permits permits;
    size_t token_length, resource_length;
    char resource[]; /* and behind it the token */
} redis_pending_release;

static void free_release(redis_pending_release *release)
{
    if (release->hold != NULL) {
        release->hold->pending = NULL;
    }
    latch_free(release->store->store.engine, release);
}

/* For latch_redis_call_abandon(): the release was answered, or lost with its connection. */
static void complete_release(void *context, const redisReply *reply)
{
    redis_pending_release *release = context;
    bool is_refused = reply != NULL && reply->type == REDIS_REPLY_ERROR;
    bool is_unknown = is_refused && latch_redis_is_noscript_error(reply->str);

    if (is_unknown || (reply != NULL && !is_refused)) {
        latch_redis_record_release_script(release->node, release->layout, !is_unknown);
    }
    release->store->store.unacknowledged--;
    release->refusals += is_refused && !latch_redis_is_transient_error(reply->str)
                         && !latch_redis_apply_redirect(release->node, reply->str);
    if ((reply != NULL && !is_refused) || release->refusals >= REFUSALS_MAX) {
        free_release(release);
    } else {
        release->is_in_flight = false;
        latch_list_append(&release->store->pending, &release->link);
    }
}

static void clear_pending(redis_store *store)
{
    while (store->pending.next != &store->pending) {
        redis_pending_release *release =
            LATCH_CONTAINER(store->pending.next, redis_pending_release, link);

        latch_list_remove(&release->link);
        free_release(release);
    }
}

void latch_redis_pending_init(redis_store *store)
{
    latch_list_init(&store->pending);
    store->generation = store->store.engine->generation;
}

void latch_redis_pending_clear(redis_store *store)
{
    clear_pending(store);
}

static const char *token_of_release(const redis_pending_release *release)
{
    return release->resource + release->resource_length;
}

/* The hold's pending release, if it is the same one: a program may release again and again. */
static redis_pending_release *find_release(const redis_hold *hold,
                                           const redis_script_target *target)
{
    redis_pending_release *release = hold->pending;

    return release != NULL && release->ticket == target->ticket && release->keep == target->keep
                   && release->token_length == target->token_length
                   && memcmp(token_of_release(release), target->token, target->token_length) == 0
               ? release
               : NULL;
}

/* NULL when memory ran out. */
static redis_pending_release *add_release(const latch_lease *lease,
                                          const redis_script_target *target, int64_t end_ns)
{
    redis_store *store = (redis_store *) lease->store;
    redis_hold *hold = lease->state;
    char *at;
    redis_pending_release *release =
        latch_allocate(store->store.engine,
                       sizeof(*release) + target->length + target->token_length + 1);

    if (release == NULL) {
        return NULL;
    }
    latch_redis_pending_forget(hold);
    hold->pending = release;
    release->store = store;
    release->hold = hold;
    release->end_ns = end_ns;
    release->refusals = 0;
    release->ticket = target->ticket;
    release->keep = target->keep;
    release->layout = target->layout;
    release->is_in_flight = false;
    release->permits = target->permits;
    release->resource_length = target->length;
    release->token_length = target->token_length;
    at = mempcpy(release->resource, target->resource, target->length);
    at = mempcpy(at, target->token, target->token_length);
    *at = '\0'; /* a client object may show it */
    latch_list_append(&store->pending, &release->link);
    return release;
}

void latch_redis_pending_forget(redis_hold *hold)
{
    if (hold->pending != NULL) {
        hold->pending->hold = NULL;
        hold->pending = NULL;
    }
}

bool latch_redis_pending_add(const latch_lease *lease, const redis_script_target *target,
                             int64_t end_ns)
{
    return find_release(lease->state, target) != NULL || add_release(lease, target, end_ns) != NULL;
}

/* Moves a release from the queue to its call in flight. */
static void mark_sent(redis_pending_release *release, redis_node *node, redis_call *call)
{
    release->node = node;
    release->is_in_flight = true;
    release->store->store.unacknowledged++;
    latch_list_remove(&release->link);
    latch_redis_call_abandon(call, complete_release, release);
}

bool latch_redis_pending_add_sent(const latch_lease *lease, redis_node *node, redis_call *call,
                                  const redis_script_target *target, int64_t end_ns)
{
    redis_pending_release *release = find_release(lease->state, target);

    if (release == NULL) {
        release = add_release(lease, target, end_ns);
    }
    if (release == NULL || release->is_in_flight) {
        return false;
    }
    mark_sent(release, node, call);
    return true;
}

/*
 * May the release go by its digest? Not if it leaves a queue, or keeps what is held, which
 * let_go.lua does not; nor without a nonce, by which string_let_go.lua knows the hold. A client
 * object sends what is missing by itself.
 */
static bool goes_by_digest(const redis_node *node, const redis_pending_release *release)
{
    return latch_redis_knows_release_script(node, release->layout) && release->ticket == 0
           && !release->keep && *token_of_release(release) != ' '
           && !node->connection.transport->is_synchronous;
}

/* Sends the script behind the release. Its answer is of no interest. */
static bool send_let_go(redis_node *node, const redis_script_target *target, int64_t now_ns)
{
    const redis_command_spec spec = {.id = target->layout->let_go, .as_text = true};
    redis_call *call = latch_redis_send_script(node, &spec, target, now_ns);

    if (call != NULL) {
        latch_redis_call_abandon(call, NULL, NULL);
    }
    return call != NULL;
}

/* Sends the release; false when memory ran out. */
static bool send_pending(redis_node *node, redis_pending_release *release, int64_t now_ns)
{
    const redis_script_target target = {
        .layout = release->layout,
        .resource = release->resource,
        .length = release->resource_length,
        .token = token_of_release(release),
        .token_length = release->token_length,
        .ticket = release->ticket,
        .keep = release->keep,
        .permits = release->permits,
    };
    bool by_digest = goes_by_digest(node, release);
    bool is_batch = by_digest && !node->connection.is_batching; /* of two commands */
    const redis_command_spec spec = {.id = release->layout->scripts[LATCH_RELEASE],
                                     .as_text = !by_digest};
    redis_call *call;
    bool is_sent;

    if (is_batch) {
        latch_redis_batch(&node->connection, true);
    }
    call = latch_redis_send_script(node, &spec, &target, now_ns);
    is_sent = call != NULL;
    if (is_sent) {
        mark_sent(release, node, call);
        is_sent = !by_digest || send_let_go(node, &target, now_ns);
    }
    if (is_batch) {
        latch_redis_batch(&node->connection, false);
    }
    return is_sent;
}

static bool is_about(const redis_pending_release *release, const latch_lease *lease)
{
    const redis_hold *hold = lease != NULL ? lease->state : NULL;

    return hold != NULL && release->resource_length == hold->name_length
           && memcmp(release->resource, hold->name, hold->name_length) == 0;
}

/* Connects to the node without awaiting it, in a cluster. True: READY. */
static bool connect_node(redis_node *node, int64_t now_ns)
{
    latch_error ignored;
    latch_op background_op = {.error = &ignored, .sent_ns = now_ns};

    if (node->connection.stage != REDIS_READY && node->topology->cluster != NULL
        && !node->cluster_info.is_away
        && latch_failed(latch_redis_connect(&node->connection, &background_op, now_ns))) {
        latch_redis_record_node_failure(node);
    }
    return node->connection.stage == REDIS_READY;
}

static bool is_silent(const redis_node *node, int64_t now_ns)
{
    return latch_redis_reply_age_ns(&node->connection, now_ns) >= SILENT_AFTER_NS;
}

int64_t latch_redis_pending_wait_ns(const redis_store *store, const redis_node *node,
                                    int64_t now_ns)
{
    int64_t age_ns = latch_redis_reply_age_ns(&node->connection, now_ns);

    return store->store.unacknowledged >= IN_FLIGHT_MAX && age_ns > 0 && age_ns < SILENT_AFTER_NS
               ? SILENT_AFTER_NS - age_ns
               : 0;
}

void latch_redis_pending_drop_inherited(redis_store *store)
{
    if (store->generation == store->store.engine->generation) {
        return;
    }
    for (redis_node *node = latch_redis_next_node(&store->topology, NULL); node != NULL;
         node = latch_redis_next_node(&store->topology, node)) {
        latch_redis_close_if_forked(&node->connection);
    }
    clear_pending(store);
    store->generation = store->store.engine->generation;
}

void latch_redis_pending_flush(redis_store *store, const latch_lease *lease, int64_t now_ns)
{
    bool go_on = true;

    latch_redis_pending_drop_inherited(store);
    for (latch_link *link = store->pending.next, *next; go_on && link != &store->pending;
         link = next) {
        redis_pending_release *release = LATCH_CONTAINER(link, redis_pending_release, link);
        redis_node *node =
            latch_redis_choose_node(&store->topology, release->resource, release->resource_length);

        next = link->next;
        if (now_ns >= release->end_ns) {
            latch_list_remove(&release->link);
            free_release(release);
        } else if (connect_node(node, now_ns)
                   && (!is_silent(node, now_ns) || store->store.unacknowledged < IN_FLIGHT_MAX
                       || is_about(release, lease))) {
            go_on = send_pending(node, release, now_ns);
        }
    }
}

static bool has_pending(const redis_store *store)
{
    return store->store.unacknowledged > 0 || !latch_redis_pending_is_empty(store);
}

/* Drain by the only server's connection. */
static latch_status drain_server(redis_store *store, latch_op *op, int64_t now_ns)
{
    redis_connection *connection = &store->topology.single.connection;
    latch_status status = latch_redis_connect(connection, op, now_ns);

    if (status != LATCH_DONE || !has_pending(store)) {
        return status;
    }
    if (now_ns >= store->last_flush_ns + DRAIN_PAUSE_NS) {
        latch_redis_pending_flush(store, NULL, now_ns);
        store->last_flush_ns = now_ns;
    }
    return latch_redis_want(connection,
                            latch_redis_pending_is_empty(store) ? LATCH_NEVER
                                                                : now_ns + DRAIN_PAUSE_NS,
                            op);
}

/* Reads from all servers; false when none of them is connected, nor connecting. */
static bool receive_from_all(redis_store *store)
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

/*
 * Drain by the nodes of a cluster, polling all of them. It ends when as many flushes in a row as
 * there are nodes have found no server.
 */
static latch_status drain_cluster(redis_store *store, latch_op *op, int64_t now_ns)
{
    latch_redis_pending_flush(store, NULL, now_ns);
    store->failed_flushes = receive_from_all(store) ? 0 : store->failed_flushes + 1;
    op->wake_ns = now_ns + DRAIN_PAUSE_NS;
    return has_pending(store) && store->failed_flushes <= store->topology.cluster->count
               ? LATCH_WANT_TIMER
               : LATCH_DONE;
}

latch_status latch_redis_pending_drain(latch_store *base, latch_op *op, int64_t now_ns)
{
    redis_store *store = (redis_store *) base;

    if (!has_pending(store) || latch_redis_has_object(store)
        || store->generation != base->engine->generation) {
        return LATCH_DONE;
    }
    if (store->topology.cluster != NULL) {
        return drain_cluster(store, op, now_ns);
    }
    return now_ns < base->breaker.open_until_ns ? LATCH_DONE : drain_server(store, op, now_ns);
}
