/* Advisory locks in PostgreSQL: who excludes whom, and what is left behind. */
#include "postgresql_store.h"

static void the_number_is_symfonys(void **state)
{
    unit_postgresql_peer peer = unit_postgresql_peer_open();
    latch_lease *lease = postgresql_lease("resource");

    (void) state;
    assert_int_equal(postgresql_number_of("resource"), 3163681814);
    assert_true(unit_postgresql_peer_try(&peer, LOCK_EX, 3163681814));
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_true(unit_postgresql_peer_try(&peer, LOCK_UN, 3163681814));
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_false(unit_postgresql_peer_try(&peer, LOCK_SH, 3163681814));
    unit_postgresql_peer_close(&peer);
}

static void resources_with_one_crc32_are_one_and_with_sha256_are_two(void **state)
{
    /* Both have the crc32 4DDB0C25. */
    latch_lease *lease = postgresql_lease("plumless"), *second = postgresql_lease("buckeroo"),
                *other = postgresql_other_lease("buckeroo");
    latch_store *store = postgresql_open("%s;digest=sha256", unit_postgresql.dsn);
    latch_lease *long_one = postgresql_lease_in(store, "plumless"),
                *long_two = postgresql_lease_in(store, "buckeroo");

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(second, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(unit_run(long_one, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(long_two, LATCH_ACQUIRE), LATCH_DONE);
    /* The first 64 bits of the digests. */
    assert_int_equal(unit_postgresql_number(
                         "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND"
                         " encode(sha256('plumless'), 'hex') LIKE lpad(to_hex(classid::bigint),"
                         " 8, '0') || lpad(to_hex(objid::bigint), 8, '0') || '%%'"),
                     1);
}

static void a_lock_in_another_database_is_another_lock(void **state)
{
    latch_lease *lease = postgresql_lease("r");
    latch_store *store = postgresql_open("%s;dbname=template1", unit_postgresql.dsn);
    latch_lease *elsewhere = postgresql_lease_in(store, "r");

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(elsewhere, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(elsewhere, LATCH_PROBE), LATCH_DONE);
    unit_release(lease);
    assert_int_equal(unit_run(elsewhere, LATCH_PROBE), LATCH_DONE);
}

static void many_locks_are_held_in_one_session(void **state)
{
    char resources[50][16];
    latch_lease *leases[50];

    (void) state;
    for (int at = 0; at < 50; at++) {
        snprintf(resources[at], sizeof(resources[at]), "r%d", at);
        leases[at] = postgresql_lease(resources[at]);
        assert_int_equal(unit_run(leases[at], at % 2 == 0 ? LATCH_ACQUIRE : LATCH_ACQUIRE_SHARED),
                         LATCH_DONE);
    }
    assert_int_equal(unit_postgresql_count_held(), 50);
    assert_int_equal(unit_postgresql_count_sessions(), 1);
    for (int at = 0; at < 50; at++) {
        unit_release(leases[at]);
        assert_int_equal(unit_postgresql_count_held(), 49 - at);
    }
}

static void all_forms_of_a_dsn_lead_to_the_server(void **state)
{
    const char *const dsns[] = {unit_postgresql.dsn, unit_postgresql.url,
                                unit_postgresql.socket_dsn, unit_postgresql.socket_url};

    (void) state;
    for (size_t at = 0; at < sizeof(dsns) / sizeof(*dsns); at++) {
        latch_lease *lease = postgresql_lease_in(postgresql_open("%s", dsns[at]), "r");

        assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
        unit_release(lease);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        POSTGRESQL_TEST(the_number_is_symfonys),
        POSTGRESQL_TEST(resources_with_one_crc32_are_one_and_with_sha256_are_two),
        POSTGRESQL_TEST(a_lock_in_another_database_is_another_lock),
        POSTGRESQL_TEST(many_locks_are_held_in_one_session),
        POSTGRESQL_TEST(all_forms_of_a_dsn_lead_to_the_server),
    };

    return cmocka_run_group_tests(tests, unit_postgresql_group_setup,
                                  unit_postgresql_group_teardown);
}
