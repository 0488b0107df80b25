/*
 * Latch's scripts beside those of Symfony's RedisStore, on one lock of a real server: each side
 * takes the other's holds for what they are, also those of keys that were handed over.
 */
#include "redis_sides.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define MINUTE INT64_C(60000)

/* ---- One side after the other */

static const redis_side *const sides[] = {&latch_side, &symfony_side};

/* Two of one side as well: what is expected of both is what each expects of itself. */
static void for_both(void (*scene)(const redis_side *one, const redis_side *other))
{
    for (int pair = 0; pair < 4; pair++) {
        unit_redis_ask("FLUSHALL");
        scene(sides[pair / 2], sides[pair % 2]);
    }
}

static void hold_exclusively(const redis_side *one, const redis_side *other)
{
    UNIT_CHECK(one->acquire("a", MINUTE));
    unit_redis_snapshot();
    UNIT_CHECK(!other->acquire("b", MINUTE));
    UNIT_CHECK(!other->share("b", MINUTE));
    UNIT_CHECK(!other->refresh("b", MINUTE));
    UNIT_CHECK(!other->exists("b"));
    other->release("b");
    UNIT_CHECK(unit_redis_is_unchanged());
    UNIT_CHECK(one->exists("a"));
    one->release("a");
    UNIT_CHECK(!exists(LOCK));
    UNIT_CHECK(other->acquire("b", MINUTE));
}

static void one_side_excludes_the_other(void **state)
{
    (void) state;
    for_both(hold_exclusively);
}

static void hand_over(const redis_side *one, const redis_side *other)
{
    int64_t expiry;

    UNIT_CHECK(one->acquire("a", MINUTE));
    expiry = expiry_of("a");
    UNIT_CHECK(other->exists("a"));
    UNIT_CHECK(other->refresh("a", 2 * MINUTE));
    UNIT_CHECK(expiry_of("a") > expiry && expiry_of("__write__") == expiry_of("a"));
    UNIT_CHECK(other->acquire("a", 3 * MINUTE));
    UNIT_CHECK(expiry_of("a") > expiry + MINUTE && lock_expiry() == expiry_of("a"));
    UNIT_CHECK(one->exists("a"));
    UNIT_CHECK(other->release("a"));
    UNIT_CHECK(!one->exists("a") && !one->refresh("a", MINUTE));
    UNIT_CHECK(!exists(LOCK));
}

static void what_was_handed_over_is_held_on_and_given_back(void **state)
{
    (void) state;
    for_both(hand_over);
}

static void read_together(const redis_side *one, const redis_side *other)
{
    UNIT_CHECK(one->share("a", 2 * MINUTE) && other->share("b", MINUTE));
    UNIT_CHECK(one->exists("a") && other->exists("a") && one->exists("b"));
    UNIT_CHECK(!one->acquire("a", MINUTE) && !other->acquire("b", MINUTE));
    UNIT_CHECK(!other->acquire("c", MINUTE));
    UNIT_CHECK(lock_expiry() == expiry_of("a"));
    UNIT_CHECK(one->release("a"));
    UNIT_CHECK(lock_expiry() == expiry_of("b") && other->exists("b"));
    UNIT_CHECK(other->acquire("b", MINUTE)); /* promoted */
    UNIT_CHECK(!one->share("a", MINUTE));
    UNIT_CHECK(other->share("b", MINUTE)); /* demoted */
    UNIT_CHECK(one->share("a", MINUTE));
    UNIT_CHECK(other->release("b") && one->acquire("a", MINUTE));
}

static void readers_of_both_sides_share(void **state)
{
    (void) state;
    for_both(read_together);
}

static void change_the_others_mode(const redis_side *one, const redis_side *other)
{
    UNIT_CHECK(one->acquire("a", MINUTE));
    UNIT_CHECK(other->share("a", MINUTE));
    UNIT_CHECK(one->share("b", MINUTE));
    UNIT_CHECK(one->release("b"));
    UNIT_CHECK(one->acquire("a", MINUTE));
    UNIT_CHECK(!other->share("b", MINUTE));
    UNIT_CHECK(other->release("a") && one->share("b", MINUTE));
}

static void one_side_demotes_and_promotes_what_the_other_took(void **state)
{
    (void) state;
    for_both(change_the_others_mode);
}

static void let_expire(const redis_side *one, const redis_side *other)
{
    UNIT_CHECK(one->acquire("a", MINUTE));
    expire("a");
    UNIT_CHECK(other->share("b", MINUTE));
    UNIT_CHECK(!one->exists("a"));
    expire("b");
    UNIT_CHECK(one->acquire("a", MINUTE));
    UNIT_CHECK(!other->exists("b") && !other->refresh("b", MINUTE));
    UNIT_CHECK(count_members() == 2);
}

static void one_side_sees_that_the_other_has_expired(void **state)
{
    (void) state;
    for_both(let_expire);
}

static void symfony_between_two_of_ours_does_not_turn_fencing_back(void **state)
{
    int64_t first = acquire("a", MINUTE), second, third;

    (void) state;
    UNIT_CHECK(symfony_side.release("a")); /* leaves the record */
    UNIT_CHECK(symfony_side.acquire("b", MINUTE));
    UNIT_CHECK(symfony_side.release("b"));
    second = acquire("a", MINUTE);
    UNIT_CHECK(second > first);
    UNIT_CHECK(symfony_side.share("a", MINUTE)); /* leaves the record, too */
    UNIT_CHECK(symfony_side.release("a"));
    UNIT_CHECK(symfony_side.acquire("c", MINUTE));
    third = acquire("c", MINUTE); /* a key that Symfony handed over */
    UNIT_CHECK(third > second);
    assert_int_equal(acquire("c", MINUTE), third);
}

/* ---- Anything in any order, against a model of it */

#define TOKENS 4
#define OPERATIONS 5000

typedef struct model_hold {
    latch_mode mode;
    bool expired; /* and not noticed yet */
} model_hold;

#define UNRECORDED (-1)

static struct {
    model_hold holds[TOKENS];
    bool is_string;
    int64_t recorded[TOKENS]; /* the fencing token of each, 0 of a reader, or UNRECORDED */
    int64_t last_fencing;
} model;

static const char *const tokens[TOKENS] = {"a", "b", "c", "dd dd"};

static void notice_expired(void)
{
    for (int at = 0; at < TOKENS; at++) {
        if (model.holds[at].expired) {
            model.holds[at] = (model_hold){0};
        }
    }
}

static int count_others(int token, latch_mode least)
{
    int count = 0;

    for (int at = 0; at < TOKENS; at++) {
        count += at != token && model.holds[at].mode >= least;
    }
    return count;
}

static bool model_acquires(int token)
{
    if (!model.is_string) {
        notice_expired();
    }
    if (model.is_string || count_others(token, LATCH_SHARED) > 0) {
        return false;
    }
    model.holds[token].mode = LATCH_EXCLUSIVE;
    return true;
}

static bool model_shares(int token)
{
    if (!model.is_string) {
        notice_expired();
    }
    if (model.is_string || count_others(token, LATCH_EXCLUSIVE) > 0) {
        return false;
    }
    model.holds[token].mode = LATCH_SHARED;
    return true;
}

static bool model_refreshes(int token)
{
    if (model.holds[token].mode == LATCH_FREE) {
        return false;
    }
    model.holds[token].expired = false;
    return true;
}

static bool model_releases(int token)
{
    bool all_expired = true;

    if (model.holds[token].mode == LATCH_FREE) {
        return false;
    }
    model.holds[token] = (model_hold){0};
    for (int at = 0; at < TOKENS; at++) {
        all_expired &= model.holds[at].mode == LATCH_FREE || model.holds[at].expired;
    }
    if (all_expired) {
        notice_expired(); /* the key's time is theirs */
    }
    return true;
}

static bool model_sees(int token, bool notices)
{
    if (notices) {
        notice_expired();
    }
    return model.holds[token].mode != LATCH_FREE && !model.holds[token].expired;
}

static void lose_record(void)
{
    for (int at = 0; at < TOKENS; at++) {
        model.recorded[at] = UNRECORDED;
    }
}

static int count_recorded(void)
{
    int count = 0;

    for (int at = 0; at < TOKENS; at++) {
        count += model.recorded[at] != UNRECORDED;
    }
    return count;
}

/* An acquire by Latch, with what it means for the fencing token. */
static bool acquire_by_latch(int token, int64_t ttl_ms)
{
    bool renews = model.holds[token].mode == LATCH_EXCLUSIVE && !model.holds[token].expired;
    bool expected = model_acquires(token);
    int64_t fencing = acquire(tokens[token], ttl_ms);

    if (fencing != 0) {
        if (renews && model.recorded[token] > 0) {
            UNIT_CHECK(fencing == model.recorded[token]);
        } else {
            UNIT_CHECK(fencing > model.last_fencing);
            lose_record(); /* of those who held before */
            model.last_fencing = fencing;
        }
        model.recorded[token] = fencing;
    }
    return (fencing != 0) == expected;
}

/* A reader that joins finds who has left the lock without Latch. */
static bool share_by_latch(int token, int64_t ttl_ms)
{
    bool expected = model_shares(token), shared = share(tokens[token], ttl_ms);

    if (shared) {
        model.recorded[token] = 0;
    }
    if (shared && count_recorded() > 1 + count_others(token, LATCH_SHARED)) {
        for (int at = 0; at < TOKENS; at++) {
            if (model.holds[at].mode == LATCH_FREE) {
                model.recorded[at] = UNRECORDED;
            }
        }
    }
    return shared == expected;
}

static bool release_by_latch(int token)
{
    bool was_writer = model.holds[token].mode == LATCH_EXCLUSIVE;
    bool had_others = count_others(token, LATCH_SHARED) > 0;
    bool expected = model_releases(token), released = release(tokens[token]);

    if (released) {
        model.recorded[token] = UNRECORDED;
    }
    if (released && (was_writer || (had_others && count_others(token, LATCH_SHARED) == 0))) {
        lose_record(); /* with the lock's key, if the others have expired */
    }
    return released == expected;
}

static bool is_record_like_the_model(void)
{
    for (int at = 0; at < TOKENS; at++) {
        const redisReply *field = unit_redis_ask("HGET " RECORD " %s", tokens[at]);
        int64_t fencing = field->type == REDIS_REPLY_NIL ? UNRECORDED : atoll(field->str);

        if (fencing != model.recorded[at]) {
            return false;
        }
    }
    return true;
}

/* Does the server have what the model has? */
static bool is_like_the_model(bool granted)
{
    int64_t now_ms = unit_redis_now_us() / 1000;
    int64_t last_ms = 0;
    bool writer = false;

    if (model.is_string) {
        return strcmp(unit_redis_text("GET " LOCK), "foreign") == 0;
    }
    for (int at = 0; at < TOKENS; at++) {
        int64_t expiry_ms = expiry_of(tokens[at]);

        if ((expiry_ms != 0) != (model.holds[at].mode != LATCH_FREE)
            || (expiry_ms > now_ms)
                   != (model.holds[at].mode != LATCH_FREE && !model.holds[at].expired)
            || (model.holds[at].mode == LATCH_EXCLUSIVE && expiry_of("__write__") != expiry_ms)) {
            return false;
        }
        writer |= model.holds[at].mode == LATCH_EXCLUSIVE;
        last_ms = expiry_ms > last_ms ? expiry_ms : last_ms;
    }
    return (expiry_of("__write__") != 0) == writer
           && is_record_like_the_model()
           /* Who looks or is refused may remove members, and leaves the key's time. */
           && (granted && last_ms != 0 ? lock_expiry() == last_ms
                                       : lock_expiry() >= last_ms || last_ms == 0);
}

/* Time passes for one holder. */
static void let_one_expire(int token)
{
    if (model.holds[token].mode == LATCH_FREE || model.holds[token].expired) {
        return;
    }
    expire(tokens[token]);
    model.holds[token].expired = true;
}

static void lose_keys(int what)
{
    if (what < 2) {
        unit_redis_ask("DEL " COUNTER);
    } else if (what < 3) {
        unit_redis_ask("DEL " RECORD);
        lose_record();
    } else {
        unit_redis_ask("DEL " LOCK);
        memset(model.holds, 0, sizeof(model.holds));
        model.is_string = what < 6 && !model.is_string;
        if (model.is_string) {
            unit_redis_ask("SET " LOCK " foreign");
        }
    }
}

/* One operation of one side; is the answer the model's? */
static bool operate(const redis_side *side, int operation, int token, int64_t ttl_ms, bool *granted)
{
    bool by_latch = side == &latch_side;
    bool expected, answer;

    switch (operation) {
        case 0:
            if (by_latch) {
                bool same = acquire_by_latch(token, ttl_ms);

                *granted = model.holds[token].mode == LATCH_EXCLUSIVE;
                return same;
            }
            expected = model_acquires(token);
            answer = side->acquire(tokens[token], ttl_ms);
            break;
        case 1:
            if (by_latch) {
                bool same = share_by_latch(token, ttl_ms);

                *granted = model.holds[token].mode == LATCH_SHARED;
                return same;
            }
            expected = model_shares(token);
            answer = side->share(tokens[token], ttl_ms);
            break;
        case 2:
            expected = model_refreshes(token);
            answer = side->refresh(tokens[token], ttl_ms);
            break;
        case 3:
            if (by_latch) {
                *granted = model.holds[token].mode != LATCH_FREE;
                return release_by_latch(token);
            }
            expected = model_releases(token);
            answer = side->release(tokens[token]);
            break;
        default:
            expected = model_sees(token, !by_latch);
            answer = side->exists(tokens[token]);
            *granted = false;
            return answer == expected;
    }
    *granted = answer;
    return answer == expected;
}

static unsigned choose_seed(void)
{
    const char *given = getenv("LATCH_TEST_SEED");
    unsigned seed = given != NULL ? (unsigned) strtoul(given, NULL, 10)
                                  : (unsigned) (unit_redis_now_us() ^ getpid());

    print_message("LATCH_TEST_SEED=%u\n", seed);
    return seed;
}

static void both_sides_do_what_the_model_does(void **state)
{
    static const char *const names[] = {"acquires", "shares", "refreshes", "releases", "looks"};
    static const int64_t ttls_ms[] = {MINUTE, 10 * MINUTE, 60 * MINUTE};
    unsigned seed = choose_seed();
    int granted_count = 0;

    (void) state;
    memset(&model, 0, sizeof(model));
    lose_record();
    srandom(seed);
    for (int round = 0; round < OPERATIONS; round++) {
        const redis_side *side = sides[random() % 2];
        int operation = (int) (random() % 5), token = (int) (random() % TOKENS);
        int64_t ttl_ms = ttls_ms[random() % 3];
        int event = (int) (random() % 400);
        bool granted = false;

        if (event < 60) {
            let_one_expire((int) (random() % TOKENS));
        } else if (event < 70) {
            lose_keys(event - 60);
        }
        if (!operate(side, operation, token, ttl_ms, &granted) || !is_like_the_model(granted)) {
            fail_msg("seed %u, operation %d: %s %s \"%s\", for %" PRId64 " ms", seed, round,
                     side->name, names[operation], tokens[token], ttl_ms);
        }
        granted_count += granted;
    }
    UNIT_CHECK(granted_count > OPERATIONS / 10); /* it was no series of refusals */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SIDES_TEST(one_side_excludes_the_other),
        SIDES_TEST(what_was_handed_over_is_held_on_and_given_back),
        SIDES_TEST(readers_of_both_sides_share),
        SIDES_TEST(one_side_demotes_and_promotes_what_the_other_took),
        SIDES_TEST(one_side_sees_that_the_other_has_expired),
        SIDES_TEST(symfony_between_two_of_ours_does_not_turn_fencing_back),
        SIDES_TEST(both_sides_do_what_the_model_does),
    };

    return cmocka_run_group_tests_name("redis and symfony", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
