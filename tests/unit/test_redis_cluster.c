/* Locks in a cluster: each on the server that has its slot, whoever was asked first. */
#include "redis_cluster.h"

#include "src/store/redis/lock/redis.h"

#include <string.h>
#include <unistd.h>

#define LOCKS 24

static latch_lease *leases[LOCKS];
static char names[LOCKS][64];

/* The servers that the unit's store knows. */
static redis_node *next_node(redis_node *node)
{
    return latch_redis_next_node(&((redis_store *) unit.store)->topology, node);
}

static unsigned count_connected(void)
{
    unsigned count = 0;

    for (redis_node *node = next_node(NULL); node != NULL; node = next_node(node)) {
        count += node->connection.stage == REDIS_READY;
    }
    return count;
}

/* The unit's store is on that now. */
static void use(const char *dsn)
{
    unit.store = redis_open("%s", dsn);
    UNIT_CHECK(unit.store != NULL);
}

static void make_leases(const char *prefix)
{
    for (unsigned at = 0; at < LOCKS; at++) {
        snprintf(names[at], sizeof(names[at]), "%slock %u", prefix, at);
        leases[at] = redis_lease(names[at]);
    }
}

static bool is_there(const char *name)
{
    return redis_process_number(redis_cluster_master_of(name), "EXISTS %s", name) == 1;
}

static void locks_are_where_their_slots_are(void **state)
{
    (void) state;
    redis_cluster_open("");
    make_leases("");
    for (unsigned at = 0; at < LOCKS; at++) {
        redis_expect_done(redis_run(leases[at], LATCH_ACQUIRE));
        UNIT_CHECK(is_there(names[at]) && leases[at]->fencing_token > 0);
    }
    UNIT_CHECK(count_connected() == CLUSTER_MASTERS);
    for (unsigned at = 0; at < LOCKS; at++) {
        redis_expect_done(redis_run(leases[at], LATCH_REFRESH));
        redis_expect_done(redis_run(leases[at], LATCH_PROBE));
        UNIT_CHECK(redis_run(redis_lease(names[at]), LATCH_ACQUIRE) == LATCH_CONFLICT);
        unit_release(leases[at]);
        UNIT_CHECK(!is_there(names[at]));
    }
}

/* What is kept beside a lock is on its server, too: else no script could work on both. */
static void so_is_what_is_kept_beside_them(void **state)
{
    static const char *const odd[] = {"a}b", "{}", "{}b", "{a}b", "a{b", "{{a}}", "}{", ""};

    (void) state;
    redis_cluster_open("&prefix=p:");
    for (size_t at = 0; at < sizeof(odd) / sizeof(*odd); at++) {
        latch_lease *lease = redis_lease(odd[at]);

        redis_expect_done(redis_run(lease, LATCH_ACQUIRE));
        UNIT_CHECK(redis_run(redis_lease(odd[at]), LATCH_ACQUIRE_SHARED) == LATCH_CONFLICT);
        unit_release(lease);
    }
    redis_cluster_open("&prefix={shop}");
    make_leases("");
    for (unsigned at = 0; at < LOCKS; at++) {
        redis_expect_done(redis_run(leases[at], LATCH_ACQUIRE));
    }
    UNIT_CHECK(redis_process_number(redis_cluster_master_of("{shop}"), "CLUSTER COUNTKEYSINSLOT %u",
                                    redis_cluster_slot("{shop}"))
               == 2 * LOCKS + 1); /* a lock and a record each, and the counter */
}

static long long count_calls(const char *command)
{
    long long count = 0;

    for (unsigned at = 0; at < CLUSTER_MASTERS; at++) {
        redisReply *reply = redis_process_ask(&cluster.nodes[at], "INFO commandstats");
        char field[64];
        const char *found;

        snprintf(field, sizeof(field), "cmdstat_%s:calls=", command);
        found = strstr(reply->str, field);
        count += found != NULL ? strtoll(found + strlen(field), NULL, 10) : 0;
    }
    return count;
}

static void the_map_is_asked_for_once(void **state)
{
    (void) state;
    redis_cluster_open("");
    make_leases("map ");
    for (unsigned at = 0; at < LOCKS; at++) {
        redis_expect_done(redis_run(leases[at], LATCH_ACQUIRE));
    }
    UNIT_CHECK(count_calls("cluster|slots") == 1);
    for (unsigned at = 0; at < CLUSTER_MASTERS; at++) {
        redis_process_ask(&cluster.nodes[at], "CONFIG RESETSTAT");
    }
    for (unsigned at = 0; at < LOCKS; at++) {
        unit_release(leases[at]);
        redis_expect_done(redis_run(leases[at], LATCH_ACQUIRE));
    }
    UNIT_CHECK(count_calls("evalsha") == 2 * LOCKS); /* and nobody was asked in vain */
    UNIT_CHECK(count_calls("cluster|slots") == 0);
}

/* A user who may not ask for it goes by what is answered. */
static void who_may_not_see_the_map_finds_its_way(void **state)
{
    (void) state;
    for (unsigned at = 0; at < CLUSTER_NODES; at++) {
        redis_process_ask(&cluster.nodes[at], "ACL SETUSER blind on >secret ~* &* +@all -cluster");
    }
    redis_cluster_open("&auth[]=blind&auth[]=secret");
    make_leases("blind ");
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned at = 0; at < LOCKS; at++) {
            redis_expect_done(redis_run(leases[at], LATCH_ACQUIRE));
            UNIT_CHECK(is_there(names[at]));
            unit_release(leases[at]);
        }
    }
}

static void one_server_of_the_dsn_is_enough(void **state)
{
    char dsn[100];
    redis_process *replica = redis_cluster_replica(&cluster.nodes[1]);

    (void) state;
    snprintf(dsn, sizeof(dsn), "redis://127.0.0.1:%d?cluster=1", cluster.nodes[1].port);
    use(dsn);
    make_leases("one ");
    for (unsigned at = 0; at < LOCKS; at++) {
        redis_expect_done(redis_run(leases[at], LATCH_ACQUIRE));
    }
    snprintf(dsn, sizeof(dsn), "redis://127.0.0.1:%d?cluster=1", replica->port);
    use(dsn);
    for (unsigned at = 0; at < LOCKS; at++) {
        UNIT_CHECK(redis_run(redis_lease(names[at]), LATCH_ACQUIRE) == LATCH_CONFLICT);
    }
    UNIT_CHECK(count_connected() == CLUSTER_MASTERS + 1);
}

/* "localhost" is 127.0.0.1, as the map has it: it is not connected twice. */
static void a_server_by_another_name_is_known_again(void **state)
{
    char dsn[100];

    (void) state;
    snprintf(dsn, sizeof(dsn), "redis://localhost:%d?cluster=1", cluster.nodes[0].port);
    use(dsn);
    make_leases("name ");
    for (unsigned at = 0; at < LOCKS; at++) {
        redis_expect_done(redis_run(leases[at], LATCH_ACQUIRE));
        unit_release(leases[at]);
    }
    UNIT_CHECK(count_connected() == CLUSTER_MASTERS);
}

static void dead_servers_of_the_dsn_are_passed_by(void **state)
{
    char dsn[200];
    int keeper, port = unit_redis_keep_port(&keeper);

    (void) state;
    snprintf(dsn, sizeof(dsn), "redis://127.0.0.1:%d?host[127.0.0.1:%d]&cluster=1", port,
             cluster.nodes[2].port);
    for (unsigned round = 0; round < 6; round++) { /* it begins with either */
        use(dsn);
        UNIT_CHECK(redis_run(redis_lease("r"), LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    }
    snprintf(dsn, sizeof(dsn), "redis://127.0.0.1:%d?cluster=1", port);
    use(dsn);
    UNIT_CHECK(redis_failed(redis_run(redis_lease("r"), LATCH_ACQUIRE), "Connection refused"));
    close(keeper);
}

static void who_waits_is_told(void **state)
{
    latch_lease *holder, *waiters[3];
    latch_op waits[3];

    (void) state;
    redis_cluster_open("");
    holder = redis_lease("r");
    redis_expect_done(redis_run(holder, LATCH_ACQUIRE));
    for (unsigned at = 0; at < 3; at++) {
        redis_cluster_open("");
        waiters[at] = redis_lease("r");
        redis_begin_wait(&waits[at], waiters[at], redis_wait_to_write());
    }
    for (unsigned at = 0; at < 3; at++) { /* in their order, and no poll tells them */
        unit_release(at == 0 ? holder : waiters[at - 1]);
        UNIT_AWAIT(
            redis_step_until(&waits[at], latch_op_step(&waits[at], unit_now_ns()), AT_CLAIMING)
            != LATCH_CONFLICT);
        redis_expect_done(unit_finish(&waits[at], latch_op_step(&waits[at], unit_now_ns())));
        UNIT_CHECK(waiters[at]->fencing_token > holder->fencing_token);
    }
    unit_release(waiters[2]);
    UNIT_CHECK(redis_process_number(redis_cluster_master_of("r"), "CLUSTER COUNTKEYSINSLOT %u",
                                    redis_cluster_slot("r"))
               == 1); /* the counter */
}

/* One after the other, for locks of all servers: the subscription goes with them. */
static void the_subscription_follows_the_lock(void **state)
{
    latch_store *store;

    (void) state;
    redis_cluster_open("");
    make_leases("");
    for (unsigned at = 0; at < LOCKS; at++) {
        redis_expect_done(redis_run(leases[at], LATCH_ACQUIRE));
    }
    store = redis_cluster_open("");
    for (unsigned at = 0; at < LOCKS; at++) {
        latch_lease *waiter = redis_lease_in(store, names[at]);
        latch_op wait;

        redis_begin_wait(&wait, waiter, redis_wait_to_write());
        UNIT_CHECK(((redis_store *) store)->subscription.node
                   == latch_redis_slot_owner(&((redis_store *) store)->topology, waiter->resource,
                                             waiter->resource_length));
        unit_release(leases[at]);
        redis_expect_done(unit_finish(&wait, latch_op_step(&wait, unit_now_ns())));
        unit_release(waiter);
    }
}

/* While one waits already, as in a signal handler: the second one asks again and again. */
static void a_wait_for_a_lock_of_another_slot_polls(void **state)
{
    latch_store *store;
    latch_op outer, inner;
    latch_lease *first, *second;

    (void) state;
    redis_cluster_open("");
    first = redis_lease("a");
    second = redis_lease("b");
    redis_expect_done(redis_run(first, LATCH_ACQUIRE));
    redis_expect_done(redis_run(second, LATCH_ACQUIRE));
    store = redis_cluster_open("");
    redis_begin_wait(&outer, redis_lease_in(store, "a"), redis_wait_to_write());
    UNIT_CHECK(latch_wants(unit_begin(&inner, redis_lease_in(store, "b"), redis_wait_to_write())));
    unit_release(second);
    redis_expect_done(unit_finish(&inner, latch_op_step(&inner, unit_now_ns())));
    unit_release(first);
    redis_expect_done(unit_finish(&outer, latch_op_step(&outer, unit_now_ns())));
}

/* As before Redis 7, which has no sharded channels. */
static void where_there_are_no_messages_a_wait_polls(void **state)
{
    latch_store *store;
    latch_lease *holder;
    latch_op wait;
    latch_status status;

    (void) state;
    for (unsigned at = 0; at < CLUSTER_NODES; at++) {
        redis_process_ask(&cluster.nodes[at], "ACL SETUSER deaf on >secret ~* +@all");
        redis_process_ask(&cluster.nodes[at], "ACL SETUSER deaf -ssubscribe");
    }
    redis_cluster_open("");
    holder = redis_lease("r");
    redis_expect_done(redis_run(holder, LATCH_ACQUIRE));
    store = redis_cluster_open("&auth[]=deaf&auth[]=secret");
    status = unit_begin(&wait, redis_lease_in(store, "r"), redis_wait_to_write());
    status = redis_step_until(&wait, status, AT_PAUSING);
    UNIT_CHECK(latch_wants(status));
    unit_release(holder);
    redis_expect_done(unit_finish(&wait, status));
    unit_release(wait.lease);
}

static void what_is_abandoned_is_given_back_where_it_is(void **state)
{
    (void) state;
    redis_cluster_open("");
    make_leases("");
    for (unsigned at = 0; at < LOCKS; at++) {
        redis_expect_done(redis_run(leases[at], LATCH_ACQUIRE));
        redis_expect_done(unit_run_request(leases[at], redis_detached_release()));
    }
    redis_store_close_all(); /* which sends what is owed, and awaits the answers */
    for (unsigned at = 0; at < LOCKS; at++) {
        UNIT_CHECK(!is_there(names[at]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_CLUSTER_TEST(locks_are_where_their_slots_are),
        REDIS_CLUSTER_TEST(so_is_what_is_kept_beside_them),
        REDIS_CLUSTER_TEST(the_map_is_asked_for_once),
        REDIS_CLUSTER_TEST(who_may_not_see_the_map_finds_its_way),
        REDIS_CLUSTER_TEST(one_server_of_the_dsn_is_enough),
        REDIS_CLUSTER_TEST(a_server_by_another_name_is_known_again),
        REDIS_CLUSTER_TEST(dead_servers_of_the_dsn_are_passed_by),
        REDIS_CLUSTER_TEST(who_waits_is_told),
        REDIS_CLUSTER_TEST(the_subscription_follows_the_lock),
        REDIS_CLUSTER_TEST(a_wait_for_a_lock_of_another_slot_polls),
        REDIS_CLUSTER_TEST(where_there_are_no_messages_a_wait_polls),
        REDIS_CLUSTER_TEST(what_is_abandoned_is_given_back_where_it_is),
    };

    return cmocka_run_group_tests(tests, redis_cluster_group_setup, redis_cluster_group_teardown);
}
