/* Promises about holds: exclusion, shared locks, releases, TTLs, tokens. */
#include "conformance.h"

#include <stdlib.h>

/* ---- The descriptor */

static void the_descriptor_says_what_the_store_can(void **state)
{
    const latch_store_info *info = latch_store_describe(unit.store);

    (void) state;
    assert_string_equal(info->name, scene.fixture->store);
    assert_int_equal(info->capabilities, scene.fixture->capabilities);
}

/* ---- Exclusive locks */

static void one_lease_holds_and_nothing_is_left(void **state)
{
    latch_lease *one = conformance_lease(scene.r), *two = conformance_other_lease(scene.r);

    (void) state;
    UNIT_CHECK(conformance_try(one, LATCH_PROBE) == LATCH_CONFLICT && !one->lost);
    UNIT_CHECK(conformance_try(one, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_held(one) && one->mode == LATCH_EXCLUSIVE);
    UNIT_CHECK(conformance_try(two, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(conformance_try(two, LATCH_PROBE) == LATCH_CONFLICT && !two->lost);
    UNIT_CHECK(conformance_try(two, LATCH_RELEASE) == LATCH_DONE); /* of nothing */
    UNIT_CHECK(two->mode == LATCH_FREE && !unit_held(two));
    UNIT_CHECK(conformance_try(one, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(conformance_try(one, LATCH_REFRESH) == LATCH_DONE);
    UNIT_CHECK(unit_held(one) && one->mode == LATCH_EXCLUSIVE);
    unit_release(one);
    UNIT_CHECK(conformance_try(one, LATCH_PROBE) == LATCH_CONFLICT && !one->lost);
    UNIT_CHECK(conformance_try(two, LATCH_ACQUIRE) == LATCH_DONE && unit_held(two));
    UNIT_CHECK(conformance_try(one, LATCH_ACQUIRE) == LATCH_CONFLICT);
    unit_release(two);
}

/* A server or a kernel might let the holder of one connection, or file, in twice. */
static void two_leases_of_one_store_exclude_each_other(void **state)
{
    latch_lease *one = conformance_lease(scene.r), *two = conformance_lease(scene.r),
                *elsewhere = conformance_lease(scene.s);

    (void) state;
    UNIT_CHECK(conformance_try(one, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(conformance_try(two, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(conformance_try(two, LATCH_PROBE) == LATCH_CONFLICT);
    UNIT_CHECK(conformance_wait(two, LATCH_ACQUIRE, 1) == LATCH_CONFLICT);
    UNIT_CHECK(conformance_try(two, LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(conformance_try(elsewhere, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(conformance_try(one, LATCH_PROBE) == LATCH_DONE && unit_held(one));
    unit_release(one);
    UNIT_CHECK(conformance_try(two, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_held(two) && unit_held(elsewhere) && !unit_held(one));
}

static void any_bytes_make_a_resource_of_its_own(void **state)
{
    static char bytes[20000];
    const struct {
        const char *bytes;
        size_t length;
    } resources[] = {
        {bytes, sizeof(bytes)},
        {bytes, sizeof(bytes) - 1},
        {"a", 1},
        {"a\0", 2},
        {"a\0b", 3},
        {"a\0c", 3},
        {"", 0},
        {"A", 1},
    };
    enum { COUNT = sizeof(resources) / sizeof(resources[0]) };
    latch_lease *leases[COUNT];

    (void) state;
    for (size_t at = 0; at < sizeof(bytes); at++) {
        bytes[at] = (char) at;
    }
    for (size_t at = 0; at < COUNT; at++) {
        leases[at] = conformance_lease_in(unit.store, resources[at].bytes, resources[at].length);
        UNIT_CHECK(conformance_try(leases[at], LATCH_ACQUIRE) == LATCH_DONE);
    }
    for (size_t at = 0; at < COUNT; at++) {
        latch_lease *other =
            conformance_lease_in(scene.another, resources[at].bytes, resources[at].length);

        UNIT_CHECK(conformance_try(other, LATCH_ACQUIRE) == LATCH_CONFLICT);
        unit_release(leases[at]);
        UNIT_CHECK(conformance_try(other, LATCH_ACQUIRE) == LATCH_DONE);
    }
}

static void a_lock_that_is_taken_again_is_released_at_once(void **state)
{
    latch_lease *one = conformance_lease(scene.r), *two = conformance_other_lease(scene.r);
    bool shares = conformance_has(LATCH_SHARED_LOCKS);

    (void) state;
    for (latch_op_kind kind = LATCH_ACQUIRE;
         kind <= (shares ? LATCH_ACQUIRE_SHARED : LATCH_ACQUIRE); kind++) {
        for (int at = 0; at < 3; at++) {
            UNIT_CHECK(conformance_try(one, kind) == LATCH_DONE);
            UNIT_CHECK(conformance_wait(one, kind, LATCH_NEVER) == LATCH_DONE);
        }
    }
    unit_release(one);
    unit_release(one); /* a release can be repeated */
    UNIT_CHECK(conformance_try(two, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(one); /* and is of its own hold alone */
    UNIT_CHECK(conformance_try(two, LATCH_PROBE) == LATCH_DONE && unit_held(two));
}

static void a_store_that_locks_nothing_grants_everything_and_holds_nothing(void **state)
{
    latch_lease *one = conformance_lease(scene.r), *two = conformance_lease(scene.r);

    (void) state;
    UNIT_CHECK(conformance_try(one, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(conformance_wait(two, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_DONE);
    UNIT_CHECK(conformance_try(two, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(conformance_try(two, LATCH_REFRESH) == LATCH_DONE);
    UNIT_CHECK(!unit_held(one) && !unit_held(two));
    UNIT_CHECK(conformance_try(one, LATCH_PROBE) == LATCH_CONFLICT && !one->lost);
    unit_release(one);
}

/* ---- Releases without a request, or without an answer */

static void a_lease_that_is_dropped_lets_go(void **state)
{
    latch_lease *one = conformance_lease(scene.r), *two = conformance_lease(scene.r),
                *other = conformance_other_lease(scene.r);

    (void) state;
    UNIT_CHECK(conformance_try(one, LATCH_ACQUIRE) == LATCH_DONE);
    latch_lease_drop(one);
    UNIT_CHECK(!unit_held(one));
    conformance_expect_free(other);
    UNIT_CHECK(conformance_try(two, LATCH_ACQUIRE) == LATCH_DONE);
    latch_lease_drop(two);
    conformance_expect_free(other);
}

static void a_release_that_nobody_awaits_is_carried_out(void **state)
{
    latch_lease *one = conformance_lease(scene.r), *two = conformance_lease(scene.r),
                *other = conformance_other_lease(scene.r);

    (void) state;
    for (int round = 0; round < 3; round++) {
        UNIT_CHECK(conformance_try(one, LATCH_ACQUIRE) == LATCH_DONE);
        UNIT_CHECK(conformance_detach(one) == LATCH_DONE);
        UNIT_CHECK(!unit_held(one) && one->mode == LATCH_FREE);
        UNIT_CHECK(conformance_try(two, LATCH_ACQUIRE) == LATCH_DONE); /* behind it */
        UNIT_CHECK(conformance_try(one, LATCH_PROBE) == LATCH_CONFLICT && !one->lost);
        UNIT_CHECK(conformance_detach(two) == LATCH_DONE);
        conformance_expect_free(other);
    }
}

/* ---- Shared locks */

static void readers_share_and_keep_a_writer_out(void **state)
{
    latch_lease *readers[3] = {conformance_lease(scene.r), conformance_lease(scene.r),
                               conformance_other_lease(scene.r)};
    latch_lease *writers[2] = {conformance_lease(scene.r), conformance_other_lease(scene.r)};

    (void) state;
    for (int at = 0; at < 3; at++) {
        UNIT_CHECK(conformance_try(readers[at], LATCH_ACQUIRE_SHARED) == LATCH_DONE);
        UNIT_CHECK(readers[at]->mode == LATCH_SHARED && unit_held(readers[at]));
    }
    for (int at = 0; at < 3; at++) { /* from the middle, the end, the beginning */
        UNIT_CHECK(conformance_try(writers[0], LATCH_ACQUIRE) == LATCH_CONFLICT);
        UNIT_CHECK(conformance_try(writers[1], LATCH_ACQUIRE) == LATCH_CONFLICT);
        UNIT_CHECK(conformance_try(readers[(at + 1) % 3], LATCH_REFRESH) == LATCH_DONE);
        UNIT_CHECK(conformance_try(readers[(at + 1) % 3], LATCH_PROBE) == LATCH_DONE);
        UNIT_CHECK(readers[(at + 1) % 3]->mode == LATCH_SHARED);
        unit_release(readers[(at + 1) % 3]);
    }
    UNIT_CHECK(conformance_try(writers[0], LATCH_ACQUIRE) == LATCH_DONE);
    for (int at = 0; at < 3; at++) {
        UNIT_CHECK(conformance_try(readers[at], LATCH_ACQUIRE_SHARED) == LATCH_CONFLICT);
    }
}

static void a_lone_reader_is_promoted_and_others_conflict(void **state)
{
    latch_lease *one = conformance_lease(scene.r), *two = conformance_lease(scene.r),
                *other = conformance_other_lease(scene.r);

    (void) state;
    UNIT_CHECK(conformance_try(one, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(conformance_try(other, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(conformance_try(one, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(conformance_try(other, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(one->mode == LATCH_SHARED && unit_held(one) && unit_held(other)); /* as before */
    UNIT_CHECK(conformance_try(one, LATCH_PROBE) == LATCH_DONE);
    unit_release(other);
    UNIT_CHECK(conformance_try(two, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(conformance_try(one, LATCH_ACQUIRE) == LATCH_CONFLICT); /* by its own store */
    unit_release(two);
    UNIT_CHECK(conformance_try(one, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(one->mode == LATCH_EXCLUSIVE);
    UNIT_CHECK(conformance_try(two, LATCH_ACQUIRE_SHARED) == LATCH_CONFLICT);
    UNIT_CHECK(conformance_try(other, LATCH_ACQUIRE_SHARED) == LATCH_CONFLICT);
}

static void a_writer_is_demoted_and_lets_readers_in(void **state)
{
    latch_lease *one = conformance_lease(scene.r), *two = conformance_lease(scene.r),
                *other = conformance_other_lease(scene.r);

    (void) state;
    UNIT_CHECK(conformance_try(one, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(conformance_try(one, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(one->mode == LATCH_SHARED && unit_held(one));
    UNIT_CHECK(conformance_try(two, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(conformance_try(other, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(conformance_try(other, LATCH_ACQUIRE) == LATCH_CONFLICT);
    unit_release(two);
    unit_release(other);
    UNIT_CHECK(conformance_try(other, LATCH_ACQUIRE) == LATCH_CONFLICT);
    unit_release(one); /* once is enough */
    UNIT_CHECK(conformance_try(other, LATCH_ACQUIRE) == LATCH_DONE);
}

static void shared_locks_are_refused(void **state)
{
    latch_lease *lease = conformance_lease(scene.r);

    (void) state;
    UNIT_CHECK(conformance_try(lease, LATCH_ACQUIRE_SHARED) == LATCH_ERROR_ARGUMENT);
    UNIT_CHECK(strstr(unit.error.message, "no shared locks") != NULL);
    UNIT_CHECK(!unit_held(lease) && !lease->busy);
    conformance_expect_free(lease);
}

/* ---- All of these, in any order */

/* Symfony's rules in four lines, beside which the store is run. */
static void random_requests_are_answered_as_a_model_says(void **state)
{
    enum { COUNT = 4 };
    latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_RELEASE, LATCH_PROBE, LATCH_ACQUIRE_SHARED};
    unsigned kind_count = conformance_has(LATCH_SHARED_LOCKS) ? 4 : 3;
    latch_lease *leases[COUNT];
    latch_mode modes[COUNT] = {LATCH_FREE};

    (void) state;
    for (int at = 0; at < COUNT; at++) {
        leases[at] = at % 2 == 0 ? conformance_lease(scene.r) : conformance_other_lease(scene.r);
    }
    srand(3);
    for (size_t round = 0; round < scene.fixture->rounds; round++) {
        int who = rand() % COUNT;
        latch_op_kind kind = kinds[(unsigned) rand() % kind_count];
        bool others_hold = false, others_write = false;
        latch_status expected = LATCH_DONE;

        for (int at = 0; at < COUNT; at++) {
            others_hold |= at != who && modes[at] != LATCH_FREE;
            others_write |= at != who && modes[at] == LATCH_EXCLUSIVE;
        }
        if ((kind == LATCH_ACQUIRE && others_hold) || (kind == LATCH_ACQUIRE_SHARED && others_write)
            || (kind == LATCH_PROBE && modes[who] == LATCH_FREE)) {
            expected = LATCH_CONFLICT;
        } else if (kind != LATCH_PROBE) {
            modes[who] = kind == LATCH_ACQUIRE          ? LATCH_EXCLUSIVE
                         : kind == LATCH_ACQUIRE_SHARED ? LATCH_SHARED
                                                        : LATCH_FREE;
        }
        assert_int_equal(conformance_try(leases[who], kind), expected);
        for (int at = 0; at < COUNT; at++) {
            assert_int_equal(leases[at]->mode, modes[at]);
            assert_int_equal(unit_held(leases[at]), modes[at] != LATCH_FREE);
        }
    }
}

/* ---- TTLs */

static void holds_never_expire(void **state)
{
    latch_lease *lease = conformance_lease(scene.r);

    (void) state;
    UNIT_CHECK(conformance_try_for(lease, LATCH_ACQUIRE, 1) == LATCH_DONE);
    UNIT_CHECK(lease->deadline_ns == LATCH_NEVER);
    unit.now_ns += 1000 * LATCH_NS_PER_S; /* of whichever clock it is */
    unit.ahead_ns += 1000 * LATCH_NS_PER_S;
    UNIT_CHECK(unit_held(lease));
    UNIT_CHECK(conformance_try_for(lease, LATCH_REFRESH, 1) == LATCH_DONE);
    UNIT_CHECK(lease->deadline_ns == LATCH_NEVER);
    UNIT_CHECK(conformance_try(lease, LATCH_PROBE) == LATCH_DONE);
}

/* Its deadline is counted from the moment before the request, less what a quorum reserves. */
static void expect_deadline(const latch_lease *lease, int64_t before_ns, int64_t ttl_ms)
{
    int64_t reserve_ns = ttl_ms * LATCH_NS_PER_MS / 100 + 2 * LATCH_NS_PER_MS;

    UNIT_CHECK(lease->deadline_ns >= before_ns + ttl_ms * LATCH_NS_PER_MS - reserve_ns);
    UNIT_CHECK(lease->deadline_ns <= unit_now_ns() + ttl_ms * LATCH_NS_PER_MS);
}

static void a_lease_lasts_for_its_ttl_and_as_long_as_it_is_renewed(void **state)
{
    latch_lease *lease = conformance_lease(scene.r);
    int64_t before_ns = unit_now_ns(), deadline_ns;

    (void) state;
    UNIT_CHECK(conformance_try(lease, LATCH_ACQUIRE) == LATCH_DONE);
    expect_deadline(lease, before_ns, MINUTE);
    deadline_ns = lease->deadline_ns;
    before_ns = unit_now_ns();
    UNIT_CHECK(conformance_try_for(lease, LATCH_REFRESH, 2 * MINUTE) == LATCH_DONE);
    expect_deadline(lease, before_ns, 2 * MINUTE);
    UNIT_CHECK(lease->deadline_ns > deadline_ns && lease->mode == LATCH_EXCLUSIVE);
}

static void a_renewed_lease_outlives_its_first_ttl(void **state)
{
    latch_lease *lease = conformance_lease(scene.r), *other = conformance_other_lease(scene.r);
    int64_t ttl_ms = 100, over_ns;

    (void) state;
    do { /* on a machine that stands still a short one may be over before it is renewed */
        ttl_ms *= 2;
        UNIT_CHECK(ttl_ms < MINUTE);
        UNIT_CHECK(conformance_try_for(lease, LATCH_ACQUIRE, ttl_ms) == LATCH_DONE);
        over_ns = unit_now_ns() + ttl_ms * LATCH_NS_PER_MS;
    } while (conformance_try(lease, LATCH_REFRESH) != LATCH_DONE);
    UNIT_AWAIT(unit_now_ns() > over_ns);
    UNIT_CHECK(conformance_try(other, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(conformance_try(lease, LATCH_PROBE) == LATCH_DONE && unit_held(lease));
}

static void a_lease_that_has_expired_is_lost(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_REFRESH, LATCH_PROBE};

    (void) state;
    for (int at = 0; at < 2; at++) {
        latch_lease *one = conformance_lease(scene.r), *two = conformance_other_lease(scene.r);

        UNIT_CHECK(conformance_try_for(one, LATCH_ACQUIRE, 40) == LATCH_DONE);
        UNIT_AWAIT(!unit_held(one));
        UNIT_CHECK(conformance_wait(two, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_DONE);
        UNIT_CHECK(conformance_try(one, kinds[at]) == LATCH_CONFLICT);
        UNIT_CHECK(one->lost && one->mode == LATCH_FREE);
        UNIT_CHECK(conformance_try(one, LATCH_RELEASE) == LATCH_DONE);
        UNIT_CHECK(conformance_try(two, LATCH_PROBE) == LATCH_DONE); /* that was not theirs */
        unit_release(two);
    }
}

static void a_renewal_of_nothing_is_refused(void **state)
{
    latch_lease *one = conformance_lease(scene.r), *two = conformance_other_lease(scene.r);

    (void) state;
    UNIT_CHECK(conformance_try(one, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(conformance_try(two, LATCH_REFRESH) == LATCH_CONFLICT && !two->lost);
    unit_release(one);
    UNIT_CHECK(conformance_try(one, LATCH_REFRESH) == LATCH_CONFLICT && !one->lost);
}

static void a_ttl_is_needed_and_may_be_endless(void **state)
{
    latch_lease *lease = conformance_lease(scene.r), *other = conformance_other_lease(scene.r);

    (void) state;
    UNIT_CHECK(conformance_try_for(lease, LATCH_ACQUIRE, 0) == LATCH_ERROR_ARGUMENT);
    UNIT_CHECK(conformance_try_for(lease, LATCH_ACQUIRE_SHARED, 0) == LATCH_ERROR_ARGUMENT);
    conformance_expect_free(other);
    UNIT_CHECK(conformance_try_for(lease, LATCH_ACQUIRE, INT64_MAX) == LATCH_DONE);
    UNIT_CHECK(conformance_try_for(lease, LATCH_REFRESH, INT64_MAX) == LATCH_DONE);
    UNIT_CHECK(conformance_try(lease, LATCH_PROBE) == LATCH_DONE && unit_held(lease));
    UNIT_CHECK(!conformance_has(LATCH_SHARED_LOCKS)
               || conformance_try_for(lease, LATCH_ACQUIRE_SHARED, INT64_MAX) == LATCH_DONE);
    UNIT_CHECK(conformance_try_for(lease, LATCH_REFRESH, 0) == LATCH_ERROR_ARGUMENT);
    UNIT_CHECK(unit_held(lease));
}

/* ---- Tokens */

static void adopt(latch_lease *lease, const latch_lease *holder, size_t length)
{
    UNIT_CHECK(latch_lease_set_token(lease, holder->token, length, &unit.error) == LATCH_DONE);
}

/* A key that was handed over to a process that knows nothing but its token. */
static void a_token_proves_the_hold(void **state)
{
    latch_lease *holder = conformance_lease(scene.r), *copy = conformance_other_lease(scene.r),
                *thief = conformance_other_lease(scene.r);
    latch_op_kind last = conformance_has(LATCH_SHARED_LOCKS) ? LATCH_ACQUIRE_SHARED : LATCH_ACQUIRE;

    (void) state;
    for (latch_op_kind kind = LATCH_ACQUIRE; kind <= last; kind++) {
        UNIT_CHECK(conformance_try(holder, kind) == LATCH_DONE);
        UNIT_CHECK(latch_lease_make_token(holder, &unit.error) == LATCH_DONE);
        adopt(copy, holder, LATCH_TOKEN_LENGTH);
        adopt(thief, holder, LATCH_TOKEN_LENGTH - 1);
        UNIT_CHECK(conformance_try(thief, LATCH_PROBE) == LATCH_CONFLICT);
        UNIT_CHECK(conformance_try(thief, LATCH_RELEASE) == LATCH_DONE);
        UNIT_CHECK(conformance_try(copy, LATCH_PROBE) == LATCH_DONE && unit_held(copy));
        UNIT_CHECK(conformance_try(copy, LATCH_REFRESH) == LATCH_DONE);
        UNIT_CHECK(conformance_try(copy, kind) == LATCH_DONE);
        UNIT_CHECK(copy->fencing_token == holder->fencing_token);
        unit_release(copy);
        UNIT_CHECK(conformance_try(holder, LATCH_PROBE) == LATCH_CONFLICT && !unit_held(holder));
        UNIT_CHECK(conformance_try(thief, LATCH_ACQUIRE) == LATCH_DONE);
        unit_release(holder); /* frees nobody else's lock */
        UNIT_CHECK(conformance_try(thief, LATCH_PROBE) == LATCH_DONE);
        unit_release(thief);
    }
}

static void a_dropped_lease_leaves_the_lock_to_copies_of_its_key(void **state)
{
    latch_lease *holder = conformance_lease(scene.r), *copy = conformance_other_lease(scene.r),
                *other = conformance_other_lease(scene.r);

    (void) state;
    UNIT_CHECK(conformance_try(holder, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(latch_lease_make_token(holder, &unit.error) == LATCH_DONE);
    adopt(copy, holder, LATCH_TOKEN_LENGTH);
    latch_lease_drop(holder);
    UNIT_CHECK(conformance_try(other, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(conformance_try(copy, LATCH_PROBE) == LATCH_DONE);
    unit_release(copy);
    UNIT_CHECK(conformance_try(other, LATCH_ACQUIRE) == LATCH_DONE);
}

static void fencing_tokens_grow_and_are_the_writers(void **state)
{
    latch_lease *one = conformance_lease(scene.r), *two = conformance_other_lease(scene.r);
    uint64_t last = 0;

    (void) state;
    for (int round = 0; round < 20; round++) {
        latch_lease *lease = round % 2 == 0 ? one : two;
        uint64_t fencing;

        UNIT_CHECK(conformance_try(lease, LATCH_ACQUIRE) == LATCH_DONE);
        fencing = lease->fencing_token;
        UNIT_CHECK(fencing > last);
        UNIT_CHECK(conformance_try(lease, LATCH_REFRESH) == LATCH_DONE);
        UNIT_CHECK(conformance_try(lease, LATCH_ACQUIRE) == LATCH_DONE);
        UNIT_CHECK(lease->fencing_token == fencing);
        UNIT_CHECK(conformance_try(round % 2 == 0 ? two : one, LATCH_ACQUIRE) == LATCH_CONFLICT);
        last = fencing;
        unit_release(lease);
        UNIT_CHECK(lease->fencing_token == 0);
    }
    if (conformance_has(LATCH_SHARED_LOCKS)) {
        UNIT_CHECK(conformance_try(one, LATCH_ACQUIRE_SHARED) == LATCH_DONE
                   && one->fencing_token == 0);
        UNIT_CHECK(conformance_try(one, LATCH_ACQUIRE) == LATCH_DONE && one->fencing_token > last);
        UNIT_CHECK(conformance_try(one, LATCH_ACQUIRE_SHARED) == LATCH_DONE
                   && one->fencing_token == 0);
    }
}

const conformance_promise conformance_holds[] = {
    PROMISE(the_descriptor_says_what_the_store_can, 0, 0),
    PROMISE(one_lease_holds_and_nothing_is_left, 0, CONFORMANCE_GRANTS_ALL),
    PROMISE(two_leases_of_one_store_exclude_each_other, 0, CONFORMANCE_GRANTS_ALL),
    PROMISE(any_bytes_make_a_resource_of_its_own, 0, CONFORMANCE_GRANTS_ALL),
    PROMISE(a_lock_that_is_taken_again_is_released_at_once, 0, CONFORMANCE_GRANTS_ALL),
    PROMISE(a_store_that_locks_nothing_grants_everything_and_holds_nothing, CONFORMANCE_GRANTS_ALL,
            0),
    PROMISE(a_lease_that_is_dropped_lets_go, 0, LATCH_SERIALIZABLE),
    PROMISE(a_release_that_nobody_awaits_is_carried_out, 0, CONFORMANCE_GRANTS_ALL),
    PROMISE(readers_share_and_keep_a_writer_out, LATCH_SHARED_LOCKS, CONFORMANCE_GRANTS_ALL),
    PROMISE(a_lone_reader_is_promoted_and_others_conflict, LATCH_SHARED_LOCKS,
            CONFORMANCE_GRANTS_ALL),
    PROMISE(a_writer_is_demoted_and_lets_readers_in, LATCH_SHARED_LOCKS, CONFORMANCE_GRANTS_ALL),
    PROMISE(shared_locks_are_refused, 0, LATCH_SHARED_LOCKS),
    PROMISE(random_requests_are_answered_as_a_model_says, 0, CONFORMANCE_GRANTS_ALL),
    PROMISE(holds_never_expire, 0, LATCH_EXPIRING | CONFORMANCE_GRANTS_ALL),
    PROMISE(a_lease_lasts_for_its_ttl_and_as_long_as_it_is_renewed, LATCH_EXPIRING, 0),
    PROMISE(a_renewed_lease_outlives_its_first_ttl, LATCH_EXPIRING, 0),
    PROMISE(a_lease_that_has_expired_is_lost, LATCH_EXPIRING, 0),
    PROMISE(a_renewal_of_nothing_is_refused, CONFORMANCE_RENEWS, 0),
    PROMISE(a_ttl_is_needed_and_may_be_endless, LATCH_EXPIRING, CONFORMANCE_OWN_TTLS),
    PROMISE(a_token_proves_the_hold, CONFORMANCE_TOKENS, CONFORMANCE_UNTIMED),
    PROMISE(a_dropped_lease_leaves_the_lock_to_copies_of_its_key, CONFORMANCE_TOKENS, 0),
    PROMISE(fencing_tokens_grow_and_are_the_writers, LATCH_FENCING, 0),
    NO_MORE_PROMISES,
};
