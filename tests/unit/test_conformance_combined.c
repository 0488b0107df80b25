/* The combined store in the conformance suite: most of three databases of one Redis server. */
#include "conformance.h"
#include "redis_store.h"

enum { MEMBERS = 3, STORES = 4 };

typedef struct quorum {
    latch_store *store, *members[MEMBERS];
} quorum;

static quorum quorums[STORES];
static latch_lease parts[sizeof(unit.leases) / sizeof(unit.leases[0])][MEMBERS];

static void forget_quorums(void)
{
    memset(quorums, 0, sizeof(quorums));
}

static quorum *find(const latch_store *store)
{
    quorum *found = quorums;

    while (found->store != store) {
        UNIT_CHECK(++found < quorums + STORES);
    }
    return found;
}

static void close_members(quorum *of)
{
    for (size_t at = 0; at < MEMBERS; at++) {
        if (of->members[at] != NULL) {
            latch_store_close(of->members[at]);
        }
    }
    memset(of, 0, sizeof(*of));
}

static latch_store *open_store(conformance_variant variant)
{
    quorum *of = find(NULL);
    const latch_store_options options = {.strategy = &latch_consensus,
                                         .members = of->members,
                                         .member_count = MEMBERS};

    (void) variant;
    for (size_t at = 0; at < MEMBERS; at++) {
        char dsn[64];
        const latch_store_options member = {
            .dsn = dsn,
            .dsn_length = (size_t) snprintf(dsn, sizeof(dsn), "redis://127.0.0.1:%d/%zu",
                                            unit_redis.port, at),
        };

        of->members[at] = latch_store_open(unit.engine, "redis", &member, &unit.error);
        if (of->members[at] == NULL) {
            close_members(of);
            return NULL;
        }
    }
    of->store = latch_store_open(unit.engine, "combined", &options, &unit.error);
    if (of->store == NULL) {
        close_members(of);
        return NULL;
    }
    return of->store;
}

static void close_store(latch_store *store)
{
    quorum *of = find(store);

    latch_store_close(store);
    close_members(of);
}

static void join(latch_lease *lease)
{
    const quorum *of = find(lease->store);
    latch_lease *its = parts[lease - unit.leases];
    size_t fail_at = unit.fail_at;
    latch_lease_part members[MEMBERS];

    unit.fail_at = 0; /* a lease is made where its failure cannot be told */
    for (size_t at = 0; at < MEMBERS; at++) {
        latch_lease_init(&its[at], of->members[at], lease->resource, lease->resource_length);
        members[at] = (latch_lease_part){&its[at], MINUTE};
    }
    UNIT_CHECK(latch_lease_join(lease, members, &unit.error) == LATCH_DONE);
    unit.fail_at = fail_at;
}

static void leave(latch_lease *lease)
{
    for (size_t at = 0; at < MEMBERS; at++) {
        latch_lease_drop(&parts[lease - unit.leases][at]);
    }
}

/* But for the fencing counter of each database. */
static void expect_nothing_left(void)
{
    for (size_t at = 0; at < MEMBERS; at++) {
        unit_redis_ask("SELECT %d", (int) at);
        redis_expect_nothing_left();
    }
    unit_redis_ask("SELECT 0");
}

static void cut(void)
{
    unit_redis_ask("CLIENT KILL TYPE normal");
}

int main(void)
{
    static const conformance_fixture fixture = {
        .name = "conformance: combined",
        .store = "combined",
        .capabilities = LATCH_EXPIRING | LATCH_SHARED_LOCKS | LATCH_SERIALIZABLE,
        .traits = CONFORMANCE_OWN_TTLS,
        .rounds = 100,
        .stride = 5,
        .group_setup = unit_redis_group_setup,
        .group_teardown = unit_redis_group_teardown,
        .reset = unit_redis_setup,
        .prepare = forget_quorums,
        .open = open_store,
        .close = close_store,
        .join = join,
        .leave = leave,
        .expect_nothing_left = expect_nothing_left,
        .cut = cut,
    };

    return conformance_run(&fixture);
}
