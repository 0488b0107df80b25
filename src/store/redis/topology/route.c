/* Routing of a request: see route.h. */
#include "src/store/redis/topology/route.h"
#include "src/store/redis/topology/breaker.h"
#include "src/store/redis/topology/cluster.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Back-off for a slot that is migrating or without a server: grows with the time that it has taken,
 * up to the longest.
 */
#define PAUSE_NS (20 * LATCH_NS_PER_MS)
#define LONGEST_PAUSE_NS (250 * LATCH_NS_PER_MS)
/* Redirections in a row before a pause: the nodes do not agree yet. */
#define REDIRECTIONS_MAX 5

/* End of the search. */
static int64_t end_ns(const redis_topology *topology, const redis_route *route, const latch_op *op)
{
    int64_t limit_ns = topology->options->connect_timeout_ns;
    int64_t response_timeout_ns = op->request.response_timeout_ms * LATCH_NS_PER_MS;

    return route->since_ns
           + (response_timeout_ns > 0 && response_timeout_ns < limit_ns ? response_timeout_ns
                                                                        : limit_ns);
}

/* End of the attempt at this node: half of the time left, if there are others. */
static int64_t leave_ns(const redis_route *route, const latch_op *op, int64_t now_ns)
{
    const redis_topology *topology = route->node->topology;
    int64_t end = end_ns(topology, route, op);

    return route->is_redirected
                   || latch_redis_other_cluster_node(topology->cluster, route->node) == NULL
               ? end
               : now_ns + (end - now_ns) / 2;
}

static void clear_route_node(redis_route *route)
{
    route->node = NULL;
    route->is_redirected = route->needs_asking = false;
    route->leave_ns = 0;
}

/* Schedules a retry after a back-off. False: no time is left for it. */
static bool may_retry_later(redis_route *route, const latch_op *op, int64_t now_ns)
{
    const redis_topology *topology = route->node->topology;
    int64_t pause_ns = PAUSE_NS + (now_ns - route->since_ns) / 8;
    int64_t retry_ns;

    pause_ns = pause_ns < LONGEST_PAUSE_NS ? pause_ns : LONGEST_PAUSE_NS;
    retry_ns = now_ns + latch_jittered_ns(topology->engine, pause_ns);
    if (retry_ns >= end_ns(topology, route, op)) {
        return false;
    }
    route->retry_ns = retry_ns;
    return true;
}

/* Another node to try? Nodes that were away are tried again, once per request. */
static bool has_other_nodes(redis_route *route)
{
    redis_cluster *cluster = route->node->topology->cluster;

    if (latch_redis_other_cluster_node(cluster, route->node) == NULL && !route->has_retried_all) {
        latch_redis_retry_all_cluster_nodes(cluster);
        route->node->cluster_info.is_away = true;
        route->has_retried_all = true;
    }
    return latch_redis_other_cluster_node(cluster, route->node) != NULL;
}

/*
 * Leaves an unreachable node for another one; or pauses, if a reachable node has named it, and will
 * name its successor. False: the request has failed.
 */
static bool leave_node(redis_route *route, const latch_op *op, int64_t now_ns)
{
    redis_node *node = route->node;
    bool has_answered = node->connection.has_replied; /* and refused us: so would others */

    latch_redis_close(&node->connection);
    latch_redis_record_node_failure(node);
    if (has_answered || now_ns >= end_ns(node->topology, route, op) || !has_other_nodes(route)
        || (route->is_redirected && !may_retry_later(route, op, now_ns))) {
        return false;
    }
    clear_route_node(route);
    route->redirections = route->redirections > 0; /* they agree: it is away */
    return true;
}

/* Connects to route->node. LATCH_AGAIN: try another one. */
static latch_status connect_route_node(redis_route *route, latch_op *op, int64_t now_ns)
{
    redis_node *node = route->node;
    latch_status status;

    if (latch_redis_breaker_is_open(op, node)) {
        return route->is_redirected || !leave_node(route, op, now_ns)
                   ? latch_redis_fail_breaker_open(op, node)
                   : LATCH_AGAIN;
    }
    status = latch_redis_connect(&node->connection, op, now_ns);
    if (status == LATCH_DONE) {
        node->cluster_info.is_away = false;
        latch_redis_refresh_slot_map(node, now_ns);
        return LATCH_DONE;
    }
    if (latch_wants(status) && route->leave_ns == 0) {
        route->leave_ns = leave_ns(route, op, now_ns);
    }
    if (latch_wants(status) && now_ns < route->leave_ns) {
        op->wake_ns = op->wake_ns < route->leave_ns ? op->wake_ns : route->leave_ns;
        return status;
    }
    if (latch_wants(status)) {
        bool is_silent = now_ns - node->connection.begun_ns >= LATCH_BREAKER_TIMEOUT_NS;

        status = latch_redis_fail_to_connect(&node->connection, op, is_silent ? ETIMEDOUT : 0,
                                             "it does not answer");
    }
    return leave_node(route, op, now_ns) ? LATCH_AGAIN : status;
}

latch_status latch_redis_route_connect_in_cluster(redis_topology *topology, redis_route *route,
                                                  const char *resource, size_t length, latch_op *op,
                                                  int64_t now_ns)
{
    latch_status status;

    if (route->since_ns == 0) {
        *route = (redis_route){.since_ns = now_ns};
    }
    do {
        if (now_ns < route->retry_ns) {
            op->wake_ns = route->retry_ns;
            return LATCH_WANT_TIMER;
        }
        if (route->node == NULL) {
            route->node = latch_redis_choose_node(topology, resource, length);
        }
        status = connect_route_node(route, op, now_ns);
    } while (status == LATCH_AGAIN);
    if (latch_failed(status)) {
        latch_redis_route_reset(route); /* a waiter tries again, with all of its time */
    }
    return status;
}

/* ---- Redirections --------------------------------------------------------------------------- */

static bool begins_with(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

/* Parses "MOVED SLOT HOST:PORT" and "ASK SLOT HOST:PORT"; without a host it is that of `node`. */
static redis_node *parse_redirection(redis_node *node, const char *text, unsigned *slot)
{
    const char *address = strchr(text, ' ');
    char host[256], *end;
    const char *colon;
    long number = address != NULL ? strtol(address, &end, 10) : -1;
    size_t length;

    if (number < 0 || number >= REDIS_SLOTS || *end != ' ') {
        return NULL;
    }
    address = end + 1;
    colon = strrchr(address, ':');
    length = colon != NULL ? (size_t) (colon - address) : sizeof(host);
    if (length >= sizeof(host)) {
        return NULL;
    }
    memcpy(host, address, length);
    host[length] = '\0';
    *slot = (unsigned) number;
    return latch_redis_node_at(node->topology,
                               length == 0 || strcmp(host, "?") == 0 ? node->cluster_info.place.host
                                                                     : host,
                               atoi(colon + 1));
}

static redis_node *apply_moved(redis_node *node, const char *text)
{
    redis_cluster *cluster = node->topology->cluster;
    unsigned slot;
    redis_node *owner = parse_redirection(node, text, &slot);

    if (owner != NULL) {
        cluster->is_stale = cluster->is_stale
                            || cluster->owners[slot] != owner->cluster_info.number;
        cluster->owners[slot] = owner->cluster_info.number;
        owner->cluster_info.is_away =
            false; /* it is to be tried, be it by what is owed to it alone */
    }
    return owner;
}

static bool is_try_again(const char *text)
{
    return begins_with(text, "TRYAGAIN") || begins_with(text, "CLUSTERDOWN");
}

bool latch_redis_apply_redirect(redis_node *node, const char *text)
{
    if (node->topology->cluster == NULL) {
        return false;
    }
    if (begins_with(text, "MOVED ")) {
        apply_moved(node, text);
        return true;
    }
    return begins_with(text, "ASK ") || is_try_again(text);
}

bool latch_redis_route_redirect(redis_route *route, const latch_op *op, const char *text,
                                int64_t now_ns)
{
    bool is_moved = begins_with(text, "MOVED "), needs_asking = begins_with(text, "ASK ");
    redis_node *next = NULL;
    unsigned slot;

    if (route->node->topology->cluster == NULL
        || !(is_moved || needs_asking || is_try_again(text))) {
        return false;
    }
    if (route->redirections++ == 0) {
        route->since_ns = now_ns; /* the answer may have been awaited for long */
    }
    if (is_moved) {
        next = apply_moved(route->node, text);
    } else if (needs_asking) {
        next = parse_redirection(route->node, text, &slot);
    }
    if ((next == NULL || route->redirections > REDIRECTIONS_MAX)
        && !may_retry_later(route, op, now_ns)) {
        return false;
    }
    if (route->redirections > REDIRECTIONS_MAX) {
        route->redirections -= 2; /* the two may name each other once before the next pause */
    }
    clear_route_node(route);
    route->node = next;
    route->is_redirected = next != NULL;
    route->needs_asking = needs_asking && next != NULL;
    return true;
}
