/* Semaphores in a cluster: each on the server that has its slot, with all that belongs to it. */
#include "redis_cluster.h"
#include "redis_permit_leases.h"

static latch_lease *permit_of(latch_store *store, const char *name)
{
    latch_lease *lease = redis_lease_in(store, name);

    latch_permit_lease_init(lease, store, lease->resource, lease->resource_length);
    return lease;
}

static bool is_on_its_server(const char *prefix, const char *name)
{
    char key[100];

    snprintf(key, sizeof(key), "%s{%s}:weight", prefix, name);
    return redis_process_number(redis_cluster_master_of(key), "EXISTS %s", key) == 1;
}

static void permits_are_where_their_slots_are(void **state)
{
    static const char *const prefixes[] = {"", "p:", "{shop}"};

    (void) state;
    for (size_t prefix = 0; prefix < 3; prefix++) {
        char options[32];
        latch_store *store;

        snprintf(options, sizeof(options), "&prefix=%s", prefixes[prefix]);
        store = redis_cluster_open(options);
        for (int at = 0; at < 16; at++) {
            char name[16];
            latch_lease *one, *two;

            snprintf(name, sizeof(name), "s%d", at);
            one = permit_of(store, name);
            two = permit_of(store, name);
            redis_expect_done(redis_run_take(one, 2, 3));
            UNIT_CHECK(is_on_its_server(prefixes[prefix], name));
            UNIT_CHECK(redis_run_take(two, 2, 3) == LATCH_CONFLICT);
            redis_expect_done(redis_run(one, LATCH_REFRESH));
            redis_expect_done(redis_run(one, LATCH_PROBE));
            redis_expect_done(redis_run(one, LATCH_RELEASE));
            UNIT_CHECK(!is_on_its_server(prefixes[prefix], name));
            latch_lease_drop(one);
            latch_lease_drop(two);
            unit.lease_count -= 2;
        }
    }
}

static void odd_names_have_one_slot_or_are_refused(void **state)
{
    static const struct {
        const char *name;
        bool is_refused;
    } names[] = {{"a}b", false}, {"{}", false}, {"{a}b", false}, {"a{b", false}, {"{{a}}", false},
                 {"x}{", false}, {"{", false},  {"", true},      {"}", true},    {"}{a}", true}};
    latch_store *store = redis_cluster_open("&prefix=p:"), *tagged;

    (void) state;
    for (size_t at = 0; at < sizeof(names) / sizeof(*names); at++) {
        latch_lease *lease = permit_of(store, names[at].name);
        latch_status status = redis_run_take(lease, 1, 1);

        if (names[at].is_refused) {
            assert_int_equal(status, LATCH_ERROR_ARGUMENT);
            UNIT_CHECK(strstr(unit.error.message, "in a cluster") != NULL);
        } else {
            redis_expect_done(status);
            redis_expect_done(redis_run(lease, LATCH_RELEASE));
        }
    }
    tagged = redis_cluster_open("&prefix={shop}"); /* there all names have one slot */
    redis_expect_done(redis_run_take(permit_of(tagged, ""), 1, 1));
    redis_expect_done(redis_run_take(permit_of(tagged, "}"), 1, 1));
}

/* Redis 7 and later, and Valkey. Without them waiters in a cluster poll. */
static bool has_sharded_channels(void)
{
    const redisReply *known = redis_process_ask(&cluster.nodes[0], "COMMAND INFO SSUBSCRIBE");

    return known->elements == 1 && known->element[0]->type == REDIS_REPLY_ARRAY;
}

static void who_waits_is_told(void **state)
{
    latch_store *stores[] = {redis_cluster_open(""), redis_cluster_open("")};
    latch_lease *holder = permit_of(stores[0], "s"), *waiter = permit_of(stores[1], "s");
    int64_t released_ns;
    latch_op op;

    (void) state;
    if (!has_sharded_channels()) {
        skip();
    }
    redis_expect_done(redis_run_take(holder, 1, 1));
    redis_begin_wait(&op, waiter, redis_wait_to_take(1, 1));
    released_ns = unit_now_ns();
    redis_expect_done(redis_run(holder, LATCH_RELEASE));
    redis_expect_done(unit_finish(&op, LATCH_WANT_IO));
    UNIT_CHECK(unit_now_ns() - released_ns < LATCH_NS_PER_S); /* and has not asked by itself */
    redis_expect_done(redis_run(waiter, LATCH_RELEASE));
}

static void an_inspection_goes_to_its_server(void **state)
{
    latch_store *store = redis_cluster_open("");

    (void) state;
    for (int at = 0; at < 8; at++) {
        latch_request request = unit_request(LATCH_INSPECT);
        latch_lock_report *report = NULL;
        latch_lease *lease;
        char name[16];

        snprintf(name, sizeof(name), "s%d", at);
        lease = permit_of(store, name);
        redis_expect_done(redis_run_take(lease, 2, 3));
        request.reports = &report;
        redis_expect_done(unit_run_request(lease, request));
        assert_int_equal(report->permits_used, 2);
        assert_string_equal(report->name, name);
        latch_lock_reports_free(unit.engine, report);
        redis_expect_done(redis_run(lease, LATCH_RELEASE));
    }
}

static void a_list_goes_to_all_servers(void **state)
{
    static const char *const prefixes[] = {"", "p:", "{shop}"};

    (void) state;
    for (size_t prefix = 0; prefix < 3; prefix++) {
        char options[32];
        latch_store *store;

        snprintf(options, sizeof(options), "&prefix=%s", prefixes[prefix]);
        store = redis_cluster_open(options);
        for (int at = 0; at < 16; at++) {
            char name[16];

            snprintf(name, sizeof(name), "s%d", at);
            redis_expect_done(redis_run_take(permit_of(store, name), 2, 3));
        }
        for (int foreign = 0; foreign < 2; foreign++) {
            latch_request request = unit_request(LATCH_LIST);
            latch_lock_report *reports = NULL;
            unsigned seen = 0, number;

            request.reports = &reports;
            request.include_peer_locks = foreign;
            redis_expect_done(unit_run_request(permit_of(store, ""), request));
            for (latch_lock_report *at = reports; at != NULL; at = at->next) {
                if (sscanf(at->name, "s%u", &number) == 1 && number < 16) {
                    UNIT_CHECK((seen & 1u << number) == 0 && at->permits_used == 2);
                    seen |= 1u << number;
                }
            }
            assert_int_equal(seen, 0xffff);
            latch_lock_reports_free(unit.engine, reports);
        }
        redis_store_close_all();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_CLUSTER_TEST(permits_are_where_their_slots_are),
        REDIS_CLUSTER_TEST(odd_names_have_one_slot_or_are_refused),
        REDIS_CLUSTER_TEST(who_waits_is_told),
        REDIS_CLUSTER_TEST(an_inspection_goes_to_its_server),
        REDIS_CLUSTER_TEST(a_list_goes_to_all_servers),
    };

    return cmocka_run_group_tests_name("redis permit cluster", tests, redis_cluster_group_setup,
                                       redis_cluster_group_teardown);
}
