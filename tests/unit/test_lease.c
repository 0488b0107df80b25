/* Leases, their tokens, and base64. */
#include "src/engine/store.h"
#include "unit.h"

static void base64_follows_rfc_4648(void **state)
{
    static const char *const vectors[][2] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
        {"\xfb\xff\xfe", "+//+"},
    };
    char text[16];

    (void) state;
    for (size_t at = 0; at < sizeof(vectors) / sizeof(vectors[0]); at++) {
        latch_base64((const uint8_t *) vectors[at][0], strlen(vectors[at][0]), text);
        assert_string_equal(text, vectors[at][1]);
    }
}

static void base64_covers_the_whole_alphabet(void **state)
{
    uint8_t bytes[48];
    char text[65];

    (void) state;
    for (unsigned at = 0; at < 16; at++) { /* the sextets 0, 1, 2 ... 63 */
        bytes[at * 3] = (uint8_t) (at * 4 << 2 | (at * 4 + 1) >> 4);
        bytes[at * 3 + 1] = (uint8_t) ((at * 4 + 1) << 4 | (at * 4 + 2) >> 2);
        bytes[at * 3 + 2] = (uint8_t) ((at * 4 + 2) << 6 | (at * 4 + 3));
    }
    latch_base64(bytes, sizeof(bytes), text);
    assert_string_equal(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
}

static void a_token_is_base64_of_32_random_bytes(void **state)
{
    static const uint8_t bytes[32] = "0123456789abcdefghijklmnopqrstuv";
    latch_lease *lease = unit_lease("r");

    (void) state;
    unit_script_random(bytes, sizeof(bytes));
    assert_int_equal(latch_lease_make_token(lease, &unit.error), LATCH_DONE);
    assert_string_equal(lease->token, "MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ub3BxcnN0dXY=");
    assert_int_equal(strlen(lease->token), LATCH_TOKEN_LENGTH);
}

static void a_lease_keeps_the_token_that_it_has(void **state)
{
    latch_lease *lease = unit_lease("r");

    (void) state;
    assert_int_equal(latch_lease_set_token(lease, "mine", 4, &unit.error), LATCH_DONE);
    assert_int_equal(latch_lease_make_token(lease, &unit.error), LATCH_DONE);
    assert_string_equal(lease->token, "mine");
}

static void two_leases_have_different_tokens(void **state)
{
    latch_lease *one = unit_lease("r"), *two = unit_lease("r");

    (void) state;
    assert_int_equal(latch_lease_make_token(one, &unit.error), LATCH_DONE);
    assert_int_equal(latch_lease_make_token(two, &unit.error), LATCH_DONE);
    assert_string_not_equal(one->token, two->token);
}

static void a_broken_random_source_is_an_error_not_a_weak_token(void **state)
{
    latch_lease *lease = unit_lease("r");

    (void) state;
    unit.random_broken = true;
    assert_int_equal(latch_lease_make_token(lease, &unit.error), LATCH_ERROR_SYSTEM);
    assert_int_equal(unit.error.status, LATCH_ERROR_SYSTEM);
    assert_string_equal(unit.error.message, "the random source gave no bytes");
    assert_null(lease->token);
}

static latch_status adopt(latch_lease *lease, const char *token, size_t length)
{
    return latch_lease_set_token(lease, token, length, &unit.error);
}

static void a_foreign_token_has_1_to_63_bytes(void **state)
{
    static const struct {
        const char *bytes;
        size_t length;
    } refused[] = {{"", 0}, {"\0", 1}, {"a\0", 2}, {"a\0b", 3}}; /* a token is a text */
    char text[LATCH_TOKEN_MAX + 1];
    latch_lease *lease = unit_lease("r");

    (void) state;
    memset(text, 'x', sizeof(text));
    assert_int_equal(adopt(lease, text, LATCH_TOKEN_MAX + 1), LATCH_ERROR_ARGUMENT);
    assert_null(lease->token);
    assert_int_equal(adopt(lease, text, LATCH_TOKEN_MAX), LATCH_DONE);
    for (size_t at = 0; at < sizeof(refused) / sizeof(refused[0]); at++) {
        assert_int_equal(adopt(lease, refused[at].bytes, refused[at].length), LATCH_ERROR_ARGUMENT);
        assert_int_equal(unit.error.status, LATCH_ERROR_ARGUMENT);
        assert_string_equal(unit.error.message, "a token is a text of 1 to 63 bytes");
    }
    text[LATCH_TOKEN_MAX] = '\0';
    assert_string_equal(lease->token, text); /* it keeps what it has */
}

static void a_token_takes_the_place_of_another(void **state)
{
    latch_lease *lease = unit_lease("r");
    size_t live = unit.live;

    (void) state;
    assert_int_equal(adopt(lease, "one", 3), LATCH_DONE);
    assert_int_equal(adopt(lease, "another", 7), LATCH_DONE);
    assert_string_equal(lease->token, "another");
    assert_int_equal(unit.live, live + 1);
}

static void without_memory_a_lease_keeps_the_token_that_it_has(void **state)
{
    latch_lease *with = unit_lease("r"), *without = unit_lease("r");

    (void) state;
    assert_int_equal(adopt(with, "mine", 4), LATCH_DONE);
    unit.fail_at = unit.allocations + 1;
    unit.fail_on = true;
    assert_int_equal(adopt(with, "other", 5), LATCH_ERROR_MEMORY);
    assert_string_equal(with->token, "mine");
    assert_int_equal(latch_lease_make_token(with, &unit.error), LATCH_DONE);
    assert_int_equal(latch_lease_make_token(without, &unit.error), LATCH_ERROR_MEMORY);
    assert_int_equal(unit.error.status, LATCH_ERROR_MEMORY);
    assert_null(without->token);
    unit.fail_at = 0;
    assert_int_equal(latch_lease_make_token(without, &unit.error), LATCH_DONE);
    assert_int_equal(strlen(without->token), LATCH_TOKEN_LENGTH);
}

static void a_new_lease_holds_nothing(void **state)
{
    latch_lease lease;

    (void) state;
    memset(&lease, 0xff, sizeof(lease));
    latch_lease_init(&lease, unit.store, "resource", 8);
    assert_ptr_equal(lease.store, unit.store);
    assert_int_equal(lease.resource_length, 8);
    assert_int_equal(lease.mode, LATCH_FREE);
    assert_int_equal(lease.deadline_ns, LATCH_NEVER);
    assert_int_equal(lease.fencing_token, 0);
    assert_null(lease.token);
    assert_false(lease.busy || lease.inherit || lease.remove);
    assert_false(latch_lease_held(&lease, 0));
}

static void a_lease_is_held_strictly_before_its_deadline(void **state)
{
    latch_lease lease;

    (void) state;
    latch_lease_init(&lease, NULL, "r", 1); /* its outcome is noted by somebody else */
    lease.mode = LATCH_EXCLUSIVE;
    lease.deadline_ns = 1000;
    assert_true(latch_lease_held(&lease, 999));
    assert_false(latch_lease_held(&lease, 1000));
    assert_false(latch_lease_held(&lease, 1001));
    lease.deadline_ns = LATCH_NEVER;
    assert_true(latch_lease_held(&lease, LATCH_NEVER - 1));
    lease.mode = LATCH_SHARED;
    assert_true(latch_lease_held(&lease, 0));
    lease.mode = LATCH_FREE;
    assert_false(latch_lease_held(&lease, 0));
}

static void a_dropped_lease_is_not_held_and_leaves_nothing(void **state)
{
    latch_lease *lease = unit_lease("r");
    size_t live = unit.live;

    (void) state;
    assert_int_equal(adopt(lease, "mine", 4), LATCH_DONE);
    lease->mode = LATCH_EXCLUSIVE;
    latch_lease_drop(lease);
    assert_false(latch_lease_held(lease, 0));
    assert_null(lease->token);
    assert_int_equal(unit.live, live);
    latch_lease_drop(lease); /* as often as one likes */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base64_follows_rfc_4648),
        cmocka_unit_test(base64_covers_the_whole_alphabet),
        UNIT_TEST(a_token_is_base64_of_32_random_bytes, setup_memory),
        UNIT_TEST(a_lease_keeps_the_token_that_it_has, setup_memory),
        UNIT_TEST(two_leases_have_different_tokens, setup_memory),
        UNIT_TEST(a_broken_random_source_is_an_error_not_a_weak_token, setup_memory),
        UNIT_TEST(a_foreign_token_has_1_to_63_bytes, setup_memory),
        UNIT_TEST(a_token_takes_the_place_of_another, setup_memory),
        UNIT_TEST(without_memory_a_lease_keeps_the_token_that_it_has, setup_memory),
        UNIT_TEST(a_new_lease_holds_nothing, setup_memory),
        UNIT_TEST(a_lease_is_held_strictly_before_its_deadline, setup),
        UNIT_TEST(a_dropped_lease_is_not_held_and_leaves_nothing, setup_memory),
    };

    return cmocka_run_group_tests_name("lease", tests, NULL, NULL);
}
