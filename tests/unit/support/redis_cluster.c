/* A Redis Cluster, started, asked and ended by the test program: see redis_cluster.h. */
#include "redis_cluster.h"

#include "redis_tls.h"

#include <stdlib.h>
#include <unistd.h>

enum { ABOVE = 10000 }; /* of a node's bus to its port */

redis_test_cluster cluster;

static bool is_running(const redis_process *node)
{
    return node->pid != 0 && !node->held;
}

/* ---- Configuration: all know each other from the beginning, as report out takes seconds */

static size_t part_of(const redis_process *node)
{
    return (size_t) (node - cluster.nodes) % CLUSTER_MASTERS;
}

static bool was_master(const redis_process *node)
{
    return node < cluster.nodes + CLUSTER_MASTERS;
}

/* "0-5460" */
static const char *slots_of(const redis_process *node)
{
    static char slots[16];
    size_t part = part_of(node);

    snprintf(slots, sizeof(slots), "%zu-%zu", part * CLUSTER_SLOTS / CLUSTER_MASTERS,
             (part + 1) * CLUSTER_SLOTS / CLUSTER_MASTERS - 1);
    return slots;
}

/* Ids have 40 digits. */
static void name(const redis_process *node, char id[41])
{
    snprintf(id, 41, "%040d", node->port);
}

static void write_path(const redis_process *node, const char *extension, char path[UNIT_PATH + 32])
{
    snprintf(path, UNIT_PATH + 32, "%s/%d.%s", cluster.directory, node->port, extension);
}

/* What a node has kept of the cluster, as if it had been there before. */
static void write_nodes(const redis_process *self)
{
    char path[UNIT_PATH + 32], id[41], master[41];
    FILE *file;

    write_path(self, "nodes", path);
    file = fopen(path, "we");
    UNIT_CHECK(file != NULL);
    for (const redis_process *node = cluster.nodes; node < cluster.nodes + CLUSTER_NODES; node++) {
        name(node, id);
        name(&cluster.nodes[part_of(node)], master);
        fprintf(file, "%s 127.0.0.1:%d@%d %s%s %s 0 0 %zu connected %s\n", id, node->port,
                node->port + ABOVE, node == self ? "myself," : "",
                was_master(node) ? "master" : "slave", was_master(node) ? "-" : master,
                part_of(node) + 1, was_master(node) ? slots_of(node) : "");
    }
    fprintf(file, "vars currentEpoch %d lastVoteEpoch 0\n", CLUSTER_MASTERS);
    UNIT_CHECK(fclose(file) == 0);
}

static void configure(const redis_process *node)
{
    char path[UNIT_PATH + 32];
    FILE *file;

    write_path(node, "conf", path);
    file = fopen(path, "we");
    UNIT_CHECK(file != NULL);
    fprintf(file,
            "bind 127.0.0.1\nunixsocket %s\ndir %s\nlogfile %d.log\ndbfilename %d.rdb\nsave \"\"\n"
            "appendonly no\nrepl-diskless-sync-delay 0\nrdb-del-sync-files yes\n"
            "cluster-enabled yes\ncluster-config-file %d.nodes\ncluster-node-timeout 2000\n"
            "cluster-require-full-coverage no\ncluster-replica-validity-factor 0\n"
            /* A replica stays with its master, whoever has none. */
            "cluster-migration-barrier %d\n",
            node->socket, cluster.directory, node->port, node->port, node->port, CLUSTER_NODES);
    if (cluster.tls) {
        fprintf(file,
                "port 0\ntls-port %d\ntls-cluster yes\ntls-replication yes\ntls-auth-clients no\n"
                "tls-ca-cert-file ca.crt\ntls-cert-file server.crt\ntls-key-file server.key\n",
                node->port);
    } else {
        fprintf(file, "port %d\n", node->port);
    }
    UNIT_CHECK(fclose(file) == 0);
}

/* ---- Starting and ending */

static void start(redis_process *node)
{
    char path[UNIT_PATH + 32];

    write_path(node, "conf", path);
    redis_process_start(node, path, false);
}

static bool says(redis_process *node, const char *question, const char *text)
{
    return strstr(redis_process_ask(node, question)->str, text) != NULL;
}

/*
 * Whether a line of CLUSTER NODES tells of that node as it was in the beginning: "ID ADDRESS
 * master - 0 PONG 1 connected 0-5460".
 */
static bool is_as_new_in(const char *line, const redis_process *node)
{
    char flags[64], link[16], slots[32];
    const char *role = was_master(node) ? "master" : "slave";
    int end = 0;

    slots[0] = '\0';
    if (sscanf(line, "%*s %*s %63s %*s %*s %*s %*s %15s%n", flags, link, &end) != 2) {
        return false;
    }
    sscanf(line + end, " %31[^\n]", slots); /* with what is being moved */
    return strcmp(strncmp(flags, "myself,", 7) == 0 ? flags + 7 : flags, role) == 0
           && strcmp(link, "connected") == 0
           && (line[end] == '\n' || strcmp(slots, slots_of(node)) == 0)
           && was_master(node) == (line[end] != '\n');
}

static bool knows_all_as_new(redis_process *self)
{
    const char *text;
    char id[42] = "";

    if (!says(self, "CLUSTER INFO", "cluster_state:ok")
        || !(was_master(self) || says(self, "INFO replication", "master_link_status:up"))) {
        return false;
    }
    text = redis_process_ask(self, "CLUSTER NODES")->str;
    for (const redis_process *node = cluster.nodes; node < cluster.nodes + CLUSTER_NODES; node++) {
        const char *line;

        name(node, id);
        id[40] = ' ';
        line = strstr(text, id);
        while (line != NULL && line != text && line[-1] != '\n') {
            line = strstr(line + 1, id); /* that of a replica */
        }
        if (line == NULL || !is_as_new_in(line, node)) {
            return false;
        }
    }
    return true;
}

static bool is_as_new(void)
{
    for (redis_process *node = cluster.nodes; node < cluster.nodes + CLUSTER_NODES; node++) {
        if (!is_running(node) || !knows_all_as_new(node)) {
            return false;
        }
    }
    return true;
}

static void start_all(void)
{
    for (redis_process *node = cluster.nodes; node < cluster.nodes + CLUSTER_NODES; node++) {
        redis_process_end(node);
    }
    for (redis_process *node = cluster.nodes; node < cluster.nodes + CLUSTER_NODES; node++) {
        write_nodes(node);
        start(node);
    }
    for (redis_process *node = cluster.nodes; node < cluster.nodes + CLUSTER_NODES; node++) {
        redis_process_meet(node);
    }
    for (unsigned looks = 0; !is_as_new();) {
        unit_redis_look_again(&looks);
    }
}

static int set_up_group(bool tls)
{
    memset(&cluster, 0, sizeof(cluster));
    cluster.tls = tls;
    unit_make_temporary(cluster.directory);
    if (tls) {
        redis_tls_certify(cluster.directory);
    }
    for (size_t at = 0; at < CLUSTER_NODES; at++) {
        redis_process *node = &cluster.nodes[at];
        int keepers[2];

        node->port = unit_redis_keep_ports(keepers);
        node->keeper = keepers[0];
        cluster.bus_keepers[at] = keepers[1];
        snprintf(node->socket, sizeof(node->socket), "%s/%d", cluster.directory, node->port);
        configure(node);
    }
    start_all();
    return 0;
}

int redis_cluster_group_setup(void **state)
{
    (void) state;
    return set_up_group(false);
}

int redis_cluster_group_setup_tls(void **state)
{
    (void) state;
    return set_up_group(true);
}

int redis_cluster_group_teardown(void **state)
{
    (void) state;
    for (size_t at = 0; at < CLUSTER_NODES; at++) {
        redis_process_end(&cluster.nodes[at]);
        close(cluster.nodes[at].keeper);
        close(cluster.bus_keepers[at]);
    }
    unit_remove_temporary(cluster.directory);
    return 0;
}

int redis_cluster_reset(void **state)
{
    (void) state;
    if (!is_as_new()) {
        start_all();
    }
    for (redis_process *node = cluster.nodes; node < cluster.nodes + CLUSTER_NODES; node++) {
        redis_process_ask(node, "CLIENT UNPAUSE");
        redis_process_ask(node, "CLIENT KILL TYPE normal");
        redis_process_ask(node, "CLIENT KILL TYPE pubsub");
        redis_process_ask(node, "SCRIPT FLUSH");
        redis_process_ask(node, "CONFIG RESETSTAT");
        if (was_master(node)) {
            redis_process_ask(node, "FLUSHALL");
        }
    }
    return 0;
}

int redis_cluster_setup(void **state)
{
    if (redis_cluster_reset(state) != 0 || unit_setup(state) != 0) {
        return -1;
    }
    unit.real_clock = true;
    return 0;
}

int redis_cluster_teardown(void **state)
{
    if (!is_as_new()) {
        start_all();
    }
    return redis_store_teardown(state);
}

const char *redis_cluster_dsn(void)
{
    static char dsn[2 * UNIT_PATH + 200];
    int length = snprintf(dsn, sizeof(dsn),
                          "%s://127.0.0.1:%d?host[127.0.0.1:%d]&host[127.0.0.1:%d]&redis_cluster=1",
                          cluster.tls ? "rediss" : "redis", cluster.nodes[0].port,
                          cluster.nodes[1].port, cluster.nodes[2].port);

    if (cluster.tls) {
        snprintf(dsn + length, sizeof(dsn) - (size_t) length, "&ssl[cafile]=%s/ca.crt",
                 cluster.directory);
    }
    return dsn;
}

latch_store *redis_cluster_open(const char *options)
{
    latch_store *store = redis_open("%s%s", redis_cluster_dsn(), options);

    if (store == NULL) {
        fail_msg("%s", unit.error.message);
    }
    unit.store = store;
    return store;
}

/* ---- Who has what */

static redis_process *running(void)
{
    for (redis_process *node = cluster.nodes; node < cluster.nodes + CLUSTER_NODES; node++) {
        if (is_running(node)) {
            return node;
        }
    }
    fail_msg("no node runs");
    return NULL;
}

static redis_process *called(const char *id)
{
    for (redis_process *node = cluster.nodes; node < cluster.nodes + CLUSTER_NODES; node++) {
        if (atoi(id) == node->port) {
            return node;
        }
    }
    fail_msg("no node is called %s", id);
    return NULL;
}

/* By what that node knows; NULL: nobody. */
static redis_process *master_by(redis_process *asked, unsigned slot)
{
    const redisReply *ranges = redis_process_ask(asked, "CLUSTER SLOTS");

    for (size_t at = 0; at < ranges->elements; at++) {
        const redisReply *range = ranges->element[at];

        if (range->element[0]->integer <= slot && slot <= range->element[1]->integer) {
            return called(range->element[2]->element[2]->str);
        }
    }
    return NULL;
}

unsigned redis_cluster_slot(const char *key)
{
    return (unsigned) redis_process_number(running(), "CLUSTER KEYSLOT %s", key);
}

redis_process *redis_cluster_master(unsigned slot)
{
    redis_process *master = master_by(running(), slot);

    UNIT_CHECK(master != NULL);
    return master;
}

redis_process *redis_cluster_master_of(const char *key)
{
    return redis_cluster_master(redis_cluster_slot(key));
}

static bool is_master(redis_process *node)
{
    return is_running(node) && says(node, "INFO replication", "role:master");
}

redis_process *redis_cluster_replica(redis_process *master)
{
    char role[32];

    snprintf(role, sizeof(role), "master_port:%d\r", master->port);
    for (redis_process *node = cluster.nodes; node < cluster.nodes + CLUSTER_NODES; node++) {
        if (is_running(node) && says(node, "INFO replication", role)) {
            return node;
        }
    }
    return NULL;
}

redis_process *redis_cluster_another_master(const redis_process *master)
{
    for (redis_process *node = cluster.nodes; node < cluster.nodes + CLUSTER_NODES; node++) {
        if (node != master && is_master(node)) {
            return node;
        }
    }
    fail_msg("no other master runs");
    return NULL;
}

/* WAIT is about what its own connection has written last. */
void redis_cluster_await_replicas(redis_process *master, int count)
{
    redis_process_ask(master, "PUBLISH in-step ?");
    for (unsigned looks = 0; redis_process_number(master, "WAIT %d 10", count) < count;) {
        unit_redis_look_again(&looks);
    }
}

/* ---- Failover */

redis_process *redis_cluster_await_another(unsigned slot, const redis_process *old)
{
    redis_process *master = NULL;
    unsigned looks = 0;

    for (redis_process *node = cluster.nodes; node < cluster.nodes + CLUSTER_NODES; node++) {
        while (is_running(node)) {
            redis_process *named = master_by(node, slot);

            if (named != NULL && named != old && is_master(named)) {
                master = named;
                break;
            }
            unit_redis_look_again(&looks);
        }
    }
    UNIT_CHECK(master != NULL);
    return master;
}

/* Any slot that it has, by what its replica knows. */
static unsigned slot_of(const redis_process *master, redis_process *replica)
{
    const redisReply *ranges = redis_process_ask(replica, "CLUSTER SLOTS");

    for (size_t at = 0; at < ranges->elements; at++) {
        if (called(ranges->element[at]->element[2]->element[2]->str) == master) {
            return (unsigned) ranges->element[at]->element[0]->integer;
        }
    }
    fail_msg("%d has no slot", master->port);
    return 0;
}

static redis_process *replace(redis_process *master, const char *command)
{
    redis_process *replica = redis_cluster_replica(master);
    unsigned slot;

    UNIT_CHECK(replica != NULL);
    slot = slot_of(master, replica);
    for (unsigned looks = 0; redis_process_ask(replica, command)->type != REDIS_REPLY_STATUS;) {
        unit_redis_look_again(&looks); /* its link is not up, or it has begun by itself */
        if (is_master(replica)) {
            break;
        }
    }
    return redis_cluster_await_another(slot, master);
}

redis_process *redis_cluster_take_over(redis_process *master)
{
    return replace(master, "CLUSTER FAILOVER TAKEOVER");
}

redis_process *redis_cluster_fail_over(redis_process *master)
{
    return replace(master, "CLUSTER FAILOVER");
}

void redis_cluster_await_return(redis_process *node)
{
    for (unsigned looks = 0; !says(node, "INFO replication", "master_link_status:up")
                             || !says(node, "CLUSTER INFO", "cluster_state:ok");) {
        unit_redis_look_again(&looks);
    }
}

void redis_cluster_start(redis_process *node)
{
    start(node);
    redis_process_meet(node);
}

void redis_cluster_restart(redis_process *node)
{
    redis_cluster_start(node);
    redis_cluster_await_return(node);
}

/* ---- Moving a slot */

static void order(redis_process *node, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void order(redis_process *node, const char *format, ...)
{
    char command[128];
    const redisReply *reply;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(command, sizeof(command), format, arguments);
    va_end(arguments);
    reply = redis_process_ask(node, command);
    if (reply->type != REDIS_REPLY_STATUS) {
        fail_msg("%d answers \"%s\": %s", node->port, command, reply->str);
    }
}

redis_move redis_cluster_begin_move(unsigned slot, redis_process *to)
{
    redis_move move = {slot, redis_cluster_master(slot), to};

    UNIT_CHECK(move.from != to);
    order(to, "CLUSTER SETSLOT %u IMPORTING %040d", slot, move.from->port);
    order(move.from, "CLUSTER SETSLOT %u MIGRATING %040d", slot, to->port);
    return move;
}

/* "OK"; "NOKEY": it has just expired. */
static const char *migrate(const redis_move *move, const char *key)
{
    const redisReply *reply =
        redis_process_ask(move->from, "MIGRATE 127.0.0.1 %d %s 0 %d", move->to->port, key, 20000);

    if (reply->type != REDIS_REPLY_STATUS) {
        fail_msg("%s cannot be moved: %s", key, reply->str);
    }
    return reply->str;
}

void redis_cluster_move_key(const redis_move *move, const char *key)
{
    UNIT_CHECK(strcmp(migrate(move, key), "OK") == 0);
}

static bool move_any(const redis_move *move)
{
    const redisReply *keys =
        redis_process_ask(move->from, "CLUSTER GETKEYSINSLOT %u 1", move->slot);
    char *key;

    if (keys->elements == 0) {
        return false;
    }
    key = strdup(keys->element[0]->str);
    UNIT_CHECK(key != NULL);
    migrate(move, key);
    free(key);
    return true;
}

void redis_cluster_end_move(const redis_move *move)
{
    while (move_any(move)) {
    }
    /* First to whom it is given: were it nobody's, nobody would tell where it is. */
    order(move->to, "CLUSTER SETSLOT %u NODE %040d", move->slot, move->to->port);
    order(move->from, "CLUSTER SETSLOT %u NODE %040d", move->slot, move->to->port);
    for (redis_process *node = cluster.nodes; node < cluster.nodes + CLUSTER_NODES; node++) {
        if (node != move->to && node != move->from && is_master(node)) {
            order(node, "CLUSTER SETSLOT %u NODE %040d", move->slot, move->to->port);
        }
    }
    redis_cluster_await_another(move->slot, move->from);
}
