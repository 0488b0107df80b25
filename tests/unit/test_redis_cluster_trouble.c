/* A cluster's servers that were away, processes that fork, and stores on a cluster within others.
 */
#include "keeping.h"
#include "redis_cluster.h"

#include "src/store/redis/lock/redis.h"
#include "src/store/redis/topology/cluster.h"

#include <string.h>

/* Long enough for every failover, on a machine with much to do. */
#define PATIENT "&timeout=20&read_timeout=20"

static bool has(redis_process *node, const char *resource)
{
    return redis_process_number(node, "EXISTS %s", resource) == 1;
}

static redis_store *the_store(void)
{
    return (redis_store *) unit.store;
}

/* As if the connections to all of them had been lost, but for this one's; or all, for NULL. */
static void lose_all_but(const redis_node *but)
{
    for (redis_node *node = latch_redis_next_node(&the_store()->topology, NULL); node != NULL;
         node = latch_redis_next_node(&the_store()->topology, node)) {
        if (node != but) {
            latch_redis_record_node_failure(node);
        }
    }
}

static redis_node *owner_of(const char *resource)
{
    return latch_redis_slot_owner(&the_store()->topology, resource, strlen(resource));
}

static void a_release_reaches_a_server_that_was_away(void **state)
{
    redis_process *master = redis_cluster_master_of("r");
    latch_lease *lease;

    (void) state;
    redis_cluster_open("");
    lease = redis_lease("r");
    redis_expect_done(redis_run(lease, LATCH_ACQUIRE));
    latch_redis_record_node_failure(owner_of("r"));
    redis_expect_done(unit_run_request(lease, redis_detached_release()));
    redis_store_close_all();
    UNIT_CHECK(!has(master, "r"));
}

/* They were once; nobody has asked them since. */
static void servers_that_were_away_are_asked_for_a_successor(void **state)
{
    redis_process *old = redis_cluster_master_of("r");
    latch_lease *lease;

    (void) state;
    redis_cluster_open(PATIENT);
    lease = redis_lease("r");
    redis_expect_done(redis_run(lease, LATCH_ACQUIRE));
    redis_cluster_await_replicas(old, 1);
    redis_process_kill(old);
    redis_cluster_await_another(redis_cluster_slot("r"), old);
    lose_all_but(owner_of("r"));
    redis_expect_done(redis_run(lease, LATCH_REFRESH));
}

/* The one that was asked last does not come back: the others know who has the lock now. */
static void who_waits_asks_whoever_comes_back(void **state)
{
    const redis_node *last;
    latch_lease *holder;
    latch_status status;
    latch_op wait;

    (void) state;
    redis_cluster_open(PATIENT);
    holder = redis_lease("r");
    redis_expect_done(redis_run(holder, LATCH_ACQUIRE));
    redis_begin_wait(&wait, redis_lease_in(redis_cluster_open(PATIENT), "r"),
                     redis_wait_to_write());
    for (redis_process *node = cluster.nodes; node < cluster.nodes + CLUSTER_NODES; node++) {
        redis_process_kill(node);
    }
    status = latch_op_step(&wait, unit_now_ns());
    for (unsigned looks = 0; looks < 300; looks++) { /* they cannot be reached, again and again */
        UNIT_CHECK(latch_wants(status));
        status = latch_op_step(&wait, unit_now_ns());
        unit_redis_look_again(&looks);
    }
    last = latch_redis_node_of(&wait);
    for (redis_process *node = cluster.nodes; node < cluster.nodes + CLUSTER_NODES; node++) {
        if (node->port != last->cluster_info.place.port) {
            redis_cluster_start(node);
        }
    }
    redis_expect_done(unit_finish(&wait, status));
    unit_release(wait.lease);
}

/* Nobody has the slot, and nothing is heard of its locks: that ends with the time-out, too. */
static void a_wait_for_a_lock_that_no_server_has_ends(void **state)
{
    unsigned slot = redis_cluster_slot("r");
    latch_lease *holder;
    latch_status status;
    latch_op wait;

    (void) state;
    redis_cluster_open("");
    holder = redis_lease("r");
    redis_expect_done(redis_run(holder, LATCH_ACQUIRE));
    redis_begin_wait(&wait, redis_lease_in(redis_cluster_open("&timeout=1"), "r"),
                     redis_wait_to_write());
    for (redis_process *node = cluster.nodes; node < cluster.nodes + CLUSTER_MASTERS; node++) {
        redis_process_ask(node, "CLUSTER DELSLOTS %u", slot);
    }
    for (redis_process *node = cluster.nodes; node < cluster.nodes + CLUSTER_MASTERS; node++) {
        redis_process_ask(node, "CLIENT KILL TYPE pubsub");
    }
    status = latch_op_step(&wait, unit_now_ns());
    for (unsigned looks = 0; latch_wants(status) && redis_moment_of(&wait) != AT_PAUSING;) {
        unit_redis_look_again(&looks); /* it fails when that goes on for long */
        status = latch_op_step(&wait, unit_now_ns());
    }
    UNIT_CHECK(latch_wants(status) || redis_failed(status, "CLUSTERDOWN"));
    if (latch_wants(status)) {
        UNIT_CHECK(redis_failed(unit_finish(&wait, status), "CLUSTERDOWN"));
    }
}

/* ---- Addresses that change hands */

/* The server of that lock, which says how it is called. */
static void ask_for_map(const char *resource)
{
    latch_lease *lease = redis_lease(resource);

    redis_expect_done(redis_run(lease, LATCH_ACQUIRE));
    the_store()->topology.cluster->is_stale = true;
    the_store()->topology.cluster->asked_ns = INT64_MIN;
    unit_release(lease);
}

/* The answerer says that one of the two has the first slots by that address, and the other one the
 * rest. */
static void take_map(const redis_node *one, const char *address, const redis_node *other,
                     const char *other_address)
{
    char text[512];
    redisReader *reader = redisReaderCreate();
    void *reply = NULL;
    int length = snprintf(text, sizeof(text),
                          "*2\r\n*3\r\n:0\r\n:99\r\n*3\r\n$8\r\n%s\r\n:1\r\n$40\r\n%s\r\n"
                          "*3\r\n:100\r\n:199\r\n*3\r\n$8\r\n%s\r\n:1\r\n$40\r\n%s\r\n",
                          address, one->cluster_info.id, other_address, other->cluster_info.id);

    UNIT_CHECK(redisReaderFeed(reader, text, (size_t) length) == REDIS_OK
               && redisReaderGetReply(reader, &reply) == REDIS_OK && reply != NULL);
    UNIT_CHECK(latch_redis_apply_slot_map(owner_of("near"), reply));
    freeReplyObject(reply);
    redisReaderFree(reader);
}

/* As where containers are started anew: an address is not one server's for ever. */
static void an_address_can_become_another_servers(void **state)
{
    const redis_cluster *map;
    const redis_node *one, *other;

    (void) state;
    redis_cluster_open("");
    ask_for_map("near");
    ask_for_map("far");
    map = the_store()->topology.cluster;
    one = owner_of("near");
    other = owner_of("far");
    UNIT_CHECK(one != other);
    take_map(one, "10.0.0.1", other, "10.0.0.2");
    UNIT_CHECK(map->nodes[map->owners[0] - 1] == one && map->nodes[map->owners[100] - 1] == other);
    take_map(one, "10.0.0.2", other, "10.0.0.1");
    UNIT_CHECK(latch_redis_apply_redirect(owner_of("near"), "MOVED 5 10.0.0.1:1"));
    UNIT_CHECK(map->nodes[map->owners[5] - 1] == other);
    UNIT_CHECK(latch_redis_apply_redirect(owner_of("near"), "MOVED 105 10.0.0.2:1"));
    UNIT_CHECK(map->nodes[map->owners[105] - 1] == one);
    UNIT_CHECK(map->count == CLUSTER_MASTERS);
}

/* ---- Processes that fork */

static latch_lease *near, *far; /* on two servers */

static void use_in_child(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    UNIT_CHECK(!unit_held(near));
    UNIT_CHECK(redis_run(near, LATCH_ACQUIRE) == LATCH_CONFLICT);
    /* The parent's release is the parent's, whatever connection it is on. */
    UNIT_CHECK(unit.store->unacknowledged == 0 && latch_redis_pending_is_empty(the_store()));
    UNIT_CHECK(redis_run(far, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_run(far, LATCH_RELEASE) == LATCH_DONE);
    latch_lease_drop(near);
    latch_lease_drop(far);
    latch_store_close(unit.store);
}

static void a_child_pays_no_debts_of_its_parent(void **state)
{
    redis_process *master = redis_cluster_master_of("far");
    unit_process child;

    (void) state;
    redis_cluster_open(PATIENT);
    near = redis_lease("near");
    far = redis_lease("far");
    UNIT_CHECK(redis_cluster_master_of("near") != master);
    redis_expect_done(redis_run(near, LATCH_ACQUIRE));
    redis_expect_done(redis_run(far, LATCH_ACQUIRE));
    redis_process_hold(master);
    redis_expect_done(unit_run_request(far, redis_detached_release()));
    UNIT_CHECK(unit.store->unacknowledged == 1);
    child = unit_fork(use_in_child, NULL);
    redis_process_let_go(master);
    unit_join(&child);
    redis_expect_done(redis_run(near, LATCH_PROBE));
    redis_expect_done(redis_run(far, LATCH_ACQUIRE));
    unit_release(far);
    unit_release(near);
}

/* ---- Memory runs out */

static bool failed; /* an injected failure was met */

static bool went(latch_status status, latch_status expected)
{
    if (status != LATCH_ERROR_MEMORY) {
        if (status != expected) {
            fail_msg("it ended with %d: %s", status, unit.error.message);
        }
        return true;
    }
    UNIT_CHECK(unit.fail_at != 0 && unit.allocations >= unit.fail_at);
    failed = true;
    return false;
}

static latch_status try(latch_lease *lease, latch_op_kind kind)
{
    latch_status status = redis_run(lease, kind);

    UNIT_CHECK(!lease->busy);
    return status;
}

/*
 * Gives it back, and then nothing stands in the way of the next one, for longer: who waited may be
 * granted it, though it waits no more, while the server has not noticed the end of its
 * subscription; it would have to claim it within a second.
 */
static void expect_free(latch_lease *lease)
{
    size_t fail_at = unit.fail_at;
    latch_status status;

    unit.fail_at = 0;
    redis_expect_done(redis_run(lease, LATCH_RELEASE));
    UNIT_AWAIT((status = redis_run(lease, LATCH_ACQUIRE)) != LATCH_CONFLICT);
    redis_expect_done(status);
    redis_expect_done(redis_run(lease, LATCH_RELEASE));
    unit.fail_at = fail_at;
}

static void list_locks(latch_lease *lease)
{
    latch_lock_report *reports = NULL;
    latch_request request = redis_request(LATCH_LIST);

    request.reports = &reports;
    went(unit_run_request(lease, request), LATCH_DONE);
    latch_lock_reports_free(unit.engine, reports);
}

static char one_server[128];

/* Of the servers but one is named: the others are learned of. */
static void use_store(void)
{
    static const char *const names[] = {"near", "far", "r", "s"};
    latch_lease *leases[4], *other;
    latch_store_options options = {.dsn = one_server, .dsn_length = strlen(one_server)};

    unit.store = latch_store_open(unit.engine, "redis", &options, &unit.error);
    if (!went(unit.store != NULL ? LATCH_DONE : unit.error.status, LATCH_DONE)) {
        return;
    }
    other = unit_lease("near");
    for (size_t at = 0; at < 4; at++) {
        leases[at] = unit_lease(names[at]);
        if (went(try(leases[at], LATCH_ACQUIRE), LATCH_DONE)) {
            went(try(leases[at], LATCH_REFRESH), LATCH_DONE);
        }
    }
    if (unit_held(leases[0])) {
        latch_status status =
            unit_run_request(other, redis_waiting(LATCH_ACQUIRE, MINUTE, 1)); /* it subscribes */

        went(status, LATCH_CONFLICT);
    }
    list_locks(other);
    went(unit_run_request(leases[1], redis_detached_release()), LATCH_DONE);
    for (size_t at = 0; at < 4; at++) {
        expect_free(leases[at]);
    }
    expect_free(other);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void) state;
    snprintf(one_server, sizeof(one_server), "redis://127.0.0.1:%d?redis_cluster=1",
             cluster.nodes[0].port);
    UNIT_CHECK(unit_teardown(NULL) == 0);
    for (int fail_on = 0; fail_on < 2; fail_on++) {
        size_t number = 0;

        do {
            UNIT_CHECK(unit_setup(NULL) == 0);
            unit.real_clock = true;
            failed = false;
            unit.fail_at = unit.allocations + ++number;
            unit.fail_on = fail_on == 1;
            use_store();
            failed |= unit.allocations >= unit.fail_at;
            UNIT_CHECK(unit_teardown(NULL) == 0 && number < 1000);
        } while (failed);
        UNIT_CHECK(number > 50);
    }
    UNIT_CHECK(unit_setup(NULL) == 0);
}

/* ---- Within other stores */

static void kept_leases_outlive_a_failover(void **state)
{
    redis_process *old = redis_cluster_master_of("r"), *master;
    latch_lease *leases[3];
    static const char *const names[] = {"near", "far", "r"};
    latch_renewal_spec spec = {.renew = true, .ttl_ms = 30000};

    (void) state;
    UNIT_CHECK(unit_open_mailbox() == 0);
    redis_cluster_open(PATIENT);
    for (size_t at = 0; at < 3; at++) {
        leases[at] = redis_lease(names[at]);
        unit_keep_as(leases[at], spec);
        redis_expect_done(redis_run_for(leases[at], LATCH_ACQUIRE, 9000));
    }
    for (size_t at = 0; at < 3; at++) {
        unit_await_renewal(leases[at]);
    }
    redis_cluster_await_replicas(old, 1);
    master = redis_cluster_fail_over(old);
    for (size_t at = 0; at < 3; at++) {
        unit_await_renewal(leases[at]);
        unit_await_renewal(leases[at]);
    }
    unit_expect_no_loss();
    UNIT_CHECK(has(master, "r"));
    for (size_t at = 0; at < 3; at++) {
        unit_release(leases[at]);
    }
    UNIT_CHECK(!has(master, "r"));
    unit_close_mailbox();
}

/* Each is of the same cluster here, with keys of its own. */
static void a_cluster_can_be_a_member(void **state)
{
    redis_process *old = redis_cluster_master_of("2:r");
    latch_store *members[3] = {redis_cluster_open(PATIENT "&prefix=1:"),
                               redis_cluster_open(PATIENT "&prefix=2:"),
                               redis_cluster_open(PATIENT "&prefix=3:")};
    const latch_store_options options = {.strategy = &latch_unanimity,
                                         .members = members,
                                         .member_count = 3};
    latch_store *store = latch_store_open(unit.engine, "combined", &options, &unit.error);
    latch_lease lease, parts[3];
    latch_lease_part joined[3];

    (void) state;
    UNIT_CHECK(store != NULL);
    latch_lease_init(&lease, store, "r", 1);
    for (size_t at = 0; at < 3; at++) {
        latch_lease_init(&parts[at], members[at], "r", 1);
        joined[at] = (latch_lease_part){&parts[at], MINUTE};
    }
    UNIT_CHECK(latch_lease_join(&lease, joined, &unit.error) == LATCH_DONE);
    redis_expect_done(redis_run(&lease, LATCH_ACQUIRE));
    UNIT_CHECK(has(redis_cluster_master_of("1:r"), "1:r") && has(old, "2:r"));
    redis_cluster_await_replicas(old, 1);
    old = redis_cluster_fail_over(old);
    redis_expect_done(redis_run(&lease, LATCH_REFRESH));
    UNIT_CHECK(redis_run(redis_lease_in(members[1], "r"), LATCH_ACQUIRE) == LATCH_CONFLICT);
    unit_release(&lease);
    UNIT_CHECK(!has(old, "2:r"));
    latch_lease_drop(&lease);
    for (size_t at = 0; at < 3; at++) {
        latch_lease_drop(&parts[at]);
    }
    latch_store_close(store);
}

/* ---- By TLS */

static void all_of_it_goes_by_tls(void **state)
{
    redis_process *old = redis_cluster_master_of("r");
    latch_lease *holder, *next;
    latch_op wait;

    (void) state;
    redis_cluster_open(PATIENT);
    holder = redis_lease("r");
    redis_expect_done(redis_run(holder, LATCH_ACQUIRE));
    redis_cluster_open(PATIENT);
    next = redis_lease("r");
    redis_begin_wait(&wait, next, redis_wait_to_write());
    redis_cluster_await_replicas(old, 1);
    redis_cluster_fail_over(old);
    redis_expect_done(redis_run(holder, LATCH_REFRESH));
    UNIT_CHECK(latch_wants(latch_op_step(&wait, unit_now_ns())));
    unit_release(holder);
    redis_expect_done(redis_finish_outer(&wait));
    redis_expect_done(redis_run(next, LATCH_PROBE));
    unit_release(next);
}

int main(void)
{
    const struct CMUnitTest plain[] = {
        REDIS_CLUSTER_TEST(a_release_reaches_a_server_that_was_away),
        REDIS_CLUSTER_TEST(servers_that_were_away_are_asked_for_a_successor),
        REDIS_CLUSTER_TEST(who_waits_asks_whoever_comes_back),
        REDIS_CLUSTER_TEST(a_wait_for_a_lock_that_no_server_has_ends),
        REDIS_CLUSTER_TEST(an_address_can_become_another_servers),
        REDIS_CLUSTER_TEST(a_child_pays_no_debts_of_its_parent),
        REDIS_CLUSTER_TEST(every_failed_allocation_is_survived),
        REDIS_CLUSTER_TEST(kept_leases_outlive_a_failover),
        REDIS_CLUSTER_TEST(a_cluster_can_be_a_member),
    };
    const struct CMUnitTest tls[] = {REDIS_CLUSTER_TEST(all_of_it_goes_by_tls)};
    int failures =
        cmocka_run_group_tests(plain, redis_cluster_group_setup, redis_cluster_group_teardown);

    return failures
           + cmocka_run_group_tests(tls, redis_cluster_group_setup_tls,
                                    redis_cluster_group_teardown);
}
