/* Servers under Sentinels, started, asked and ended by the test program: see redis_sentinel.h. */
#include "redis_sentinel.h"

#include <stdlib.h>
#include <unistd.h>

enum { NODES = 3 };

redis_trio trio;

static bool is_sentinel(const redis_process *node)
{
    return node >= trio.sentinels && node < trio.sentinels + NODES;
}

/* ---- Configuration: all know each other from the beginning, as report out takes seconds */

static void write_server(FILE *file, const redis_process *node)
{
    fprintf(file, "save \"\"\nappendonly no\nrepl-diskless-sync-delay 0\nreplica-priority 100\n");
    if (node->password != NULL) {
        fprintf(file, "requirepass %s\nmasterauth %s\n", node->password, node->password);
    }
    if (node != trio.servers) {
        fprintf(file, "replicaof 127.0.0.1 %d\n", trio.servers[0].port);
    }
}

static void write_sentinel(FILE *file, const redis_process *node)
{
    fprintf(file, "sentinel monitor %s 127.0.0.1 %d 2\n", TRIO_MASTER, trio.servers[0].port);
    fprintf(
        file,
        /* It takes up to a second to connect to a new master, which is not to be down meanwhile. */
        "sentinel down-after-milliseconds %s 4000\nsentinel failover-timeout %s 8000\n"
        "sentinel parallel-syncs %s 2\nsentinel myid %040d\n",
        TRIO_MASTER, TRIO_MASTER, TRIO_MASTER, node->port);
    if (node == trio.cut_off) {
        fprintf(file, "user default on >%s ~* &* +@all -publish\n", node->password);
        return;
    }
    if (node->password != NULL) {
        fprintf(file, "requirepass %s\nsentinel auth-pass %s %s\n", node->password, TRIO_MASTER,
                trio.servers[0].password);
    }
    for (size_t at = 1; at < NODES; at++) {
        fprintf(file, "sentinel known-replica %s 127.0.0.1 %d\n", TRIO_MASTER,
                trio.servers[at].port);
    }
    for (const redis_process *other = trio.sentinels; other < trio.sentinels + NODES; other++) {
        if (other != node) {
            fprintf(file, "sentinel known-sentinel %s 127.0.0.1 %d %040d\n", TRIO_MASTER,
                    other->port, other->port);
        }
    }
}

static void configure(const redis_process *node, char path[UNIT_PATH + 32])
{
    FILE *file;

    snprintf(path, UNIT_PATH + 32, "%s/%d.conf", trio.directory, node->port);
    file = fopen(path, "we");
    UNIT_CHECK(file != NULL);
    fprintf(file, "port %d\nbind 127.0.0.1\ndir %s\nlogfile %s/%d.log\n", node->port,
            trio.directory, trio.directory, node->port);
    is_sentinel(node) ? write_sentinel(file, node) : write_server(file, node);
    UNIT_CHECK(fclose(file) == 0);
}

/* ---- Starting and ending */

static void start(redis_process *node)
{
    char path[UNIT_PATH + 32];

    configure(node, path);
    redis_process_start(node, path, is_sentinel(node));
}

static bool has_replicas(redis_process *sentinel)
{
    const redisReply *replicas = redis_process_ask(sentinel, "SENTINEL replicas " TRIO_MASTER);
    size_t good = 0;

    for (size_t at = 0; at < replicas->elements; at++) {
        const redisReply *fields = replicas->element[at];

        for (size_t field = 0; field + 1 < fields->elements; field += 2) {
            good += strcmp(fields->element[field]->str, "master-link-status") == 0
                    && strcmp(fields->element[field + 1]->str, "ok") == 0;
        }
    }
    return good == NODES - 1;
}

static int set_up(const char *password, const char *sentinel_password)
{
    memset(&trio, 0, sizeof(trio));
    if (unit_setup(NULL) != 0) {
        return -1;
    }
    unit.real_clock = true;
    unit_make_temporary(trio.directory);
    for (size_t at = 0; at < NODES; at++) {
        trio.servers[at].password = password;
        trio.sentinels[at].password = sentinel_password;
        trio.servers[at].port = unit_redis_keep_port(&trio.servers[at].keeper);
        trio.sentinels[at].port = unit_redis_keep_port(&trio.sentinels[at].keeper);
    }
    for (size_t at = 0; at < NODES; at++) {
        start(&trio.servers[at]);
    }
    for (size_t at = 0; at < NODES; at++) {
        redis_process_meet(&trio.servers[at]);
    }
    redis_trio_await_replicas(&trio.servers[0]);
    for (size_t at = 0; at < NODES; at++) {
        start(&trio.sentinels[at]);
    }
    for (size_t at = 0; at < NODES; at++) {
        redis_process_meet(&trio.sentinels[at]);
    }
    for (size_t at = 0; at < NODES; at++) {
        for (unsigned looks = 0; !has_replicas(&trio.sentinels[at]);) {
            unit_redis_look_again(&looks);
        }
    }
    return 0;
}

int redis_trio_setup(void **state)
{
    (void) state;
    return set_up(NULL, NULL);
}

int redis_trio_setup_secret(void **state)
{
    (void) state;
    return set_up("server-pw", "sentinel-pw");
}

int redis_trio_teardown(void **state)
{
    for (size_t at = 0; at < 2 * NODES; at++) {
        redis_process *node = at < NODES ? &trio.servers[at] : &trio.sentinels[at - NODES];

        redis_process_end(node);
        close(node->keeper);
    }
    unit_remove_temporary(trio.directory);
    return redis_store_teardown(state);
}

void redis_trio_cut_off(redis_process *sentinel)
{
    redis_process_kill(sentinel);
    trio.cut_off = sentinel;
    start(sentinel);
    redis_process_meet(sentinel);
}

/* ---- Asking */

const char *redis_trio_hosts(void)
{
    static char hosts[200];

    snprintf(hosts, sizeof(hosts), "host[127.0.0.1:%d]&host[127.0.0.1:%d]&host[127.0.0.1:%d]",
             trio.sentinels[0].port, trio.sentinels[1].port, trio.sentinels[2].port);
    return hosts;
}

latch_store *redis_trio_open(const char *options)
{
    latch_store *store =
        redis_open("redis:?%s&sentinel=%s%s", redis_trio_hosts(), TRIO_MASTER, options);

    UNIT_CHECK(store != NULL);
    unit.store = store;
    return store;
}

/* WAIT is about what its own connection has written last. */
void redis_trio_await_replicas(redis_process *master)
{
    redis_process_ask(master, "PUBLISH in-step ?");
    for (unsigned looks = 0; redis_process_number(master, "WAIT %d 10", NODES - 1) < NODES - 1;) {
        unit_redis_look_again(&looks);
    }
}

/* ---- Failover */

redis_process *redis_trio_named_by(redis_process *sentinel)
{
    const redisReply *address =
        redis_process_ask(sentinel, "SENTINEL get-master-addr-by-name " TRIO_MASTER);
    int port = address->elements == 2 ? atoi(address->element[1]->str) : 0;

    for (size_t at = 0; at < NODES; at++) {
        if (trio.servers[at].port == port) {
            return &trio.servers[at];
        }
    }
    fail_msg("no server has port %d", port);
    return NULL;
}

redis_process *redis_trio_await_another(const redis_process *old)
{
    redis_process *master = NULL;

    for (size_t at = 0; at < NODES; at++) {
        redis_process *sentinel = &trio.sentinels[at];

        for (unsigned looks = 0; sentinel->connection != NULL && sentinel != trio.cut_off;) {
            master = redis_trio_named_by(sentinel);
            if (master != old) {
                /* Its subscribers may be told after that answer, but before the next one. */
                redis_process_ask(sentinel, "PING");
                break;
            }
            unit_redis_look_again(&looks);
        }
    }
    UNIT_CHECK(master != NULL);
    return master;
}

redis_process *redis_trio_fail_over(const redis_process *old)
{
    redis_process *sentinel = &trio.sentinels[trio.cut_off == trio.sentinels ? 1 : 0];
    const redisReply *reply;

    for (unsigned looks = 0;;) {
        reply = redis_process_ask(sentinel, "SENTINEL FAILOVER " TRIO_MASTER);
        if (reply->type == REDIS_REPLY_STATUS) {
            return redis_trio_await_another(old);
        }
        unit_redis_look_again(&looks);
    }
}

void redis_trio_keep_master(redis_process *server)
{
    redis_process_ask(server, "ACL SETUSER default -replicaof -slaveof");
}
