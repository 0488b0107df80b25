/* Slots of Redis Cluster, against the plain rules; the server agrees in test_redis_object. */
#include "unit.h"

#include "src/store/redis/options/slot.h"

/* As the specification writes it down. */
static unsigned plain_crc16(const char *text, size_t length)
{
    unsigned crc = 0;

    for (size_t at = 0; at < length; at++) {
        crc ^= (unsigned) (uint8_t) text[at] << 8;
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc & 0x8000) != 0 ? (crc << 1 ^ 0x1021) & 0xffff : crc << 1;
        }
    }
    return crc;
}

static unsigned slot_of(const char *prefix, const char *resource)
{
    return latch_redis_slot(prefix, strlen(prefix), resource, strlen(resource));
}

static void each_slot_has_a_tag_of_its_own(void **state)
{
    (void) state;
    for (unsigned slot = 0; slot < REDIS_SLOTS; slot++) {
        char tag[REDIS_SLOT_TAG_SIZE], key[64];

        latch_redis_slot_tag(slot, tag);
        assert_int_equal(strlen(tag), REDIS_SLOT_TAG_SIZE - 1);
        assert_int_equal(strspn(tag, "@ABCDEFGHIJKLMNO"), strlen(tag));
        assert_int_equal(plain_crc16(tag, strlen(tag)) % REDIS_SLOTS, slot);
        snprintf(key, sizeof(key), "latch:{%s}:queue:", tag);
        assert_int_equal(slot_of(key, "any{resource}"), slot);
    }
}

/* They are a part of what servers spec. */
static void tags_stay_as_they_are(void **state)
{
    char tag[REDIS_SLOT_TAG_SIZE];

    (void) state;
    latch_redis_slot_tag(0x3639, tag);
    assert_string_equal(tag, "@@@@");
    latch_redis_slot_tag(0, tag);
    assert_int_equal(plain_crc16(tag, 4) % REDIS_SLOTS, 0);
    latch_redis_slot_tag(0x3639 ^ 1, tag);
    assert_string_equal(tag, "DMHH");
}

static void a_key_is_in_the_slot_of_its_tag_or_of_all_of_it(void **state)
{
    static const struct {
        const char *prefix, *resource, *hashed;
    } cases[] = {
        {"", "123456789", "123456789"}, {"", "", ""},
        {"", "foo{bar}baz", "bar"},     {"", "foo{}{bar}", "foo{}{bar}"},
        {"", "foo{{bar}}zap", "{bar"},  {"", "foo{bar}{zap}", "bar"},
        {"", "foo}bar{", "foo}bar{"},   {"", "}{a}", "a"},
        {"shop:", "cart", "shop:cart"}, {"shop:", "{cart}", "cart"},
        {"{shop}:", "{cart}", "shop"},  {"a{b", "c}d", "bc"},
        {"a{", "}d", "a{}d"},           {"a{", "b", "a{b"},
    };

    (void) state;
    assert_int_equal(plain_crc16("123456789", 9), 0x31c3); /* the specification's example */
    for (size_t at = 0; at < sizeof(cases) / sizeof(*cases); at++) {
        assert_int_equal(slot_of(cases[at].prefix, cases[at].resource),
                         plain_crc16(cases[at].hashed, strlen(cases[at].hashed)) % REDIS_SLOTS);
    }
}

static void a_prefix_leaves_room_for_a_tag_or_has_one_or_is_unfit(void **state)
{
    static const struct {
        const char *prefix;
        redis_prefix_kind kind;
    } cases[] = {
        {"", REDIS_PREFIX_OPEN},         {"shop:", REDIS_PREFIX_OPEN},
        {"}", REDIS_PREFIX_OPEN},        {"{shop}", REDIS_PREFIX_TAGGED},
        {"a}{b}c", REDIS_PREFIX_TAGGED}, {"{{}", REDIS_PREFIX_TAGGED},
        {"{", REDIS_PREFIX_UNFIT},       {"shop{", REDIS_PREFIX_UNFIT},
        {"shop{a", REDIS_PREFIX_UNFIT},  {"{}", REDIS_PREFIX_UNFIT},
        {"{}{a}", REDIS_PREFIX_UNFIT},
    };

    (void) state;
    for (size_t at = 0; at < sizeof(cases) / sizeof(*cases); at++) {
        assert_int_equal(latch_redis_prefix_kind(cases[at].prefix, strlen(cases[at].prefix)),
                         cases[at].kind);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_slot_has_a_tag_of_its_own),
        cmocka_unit_test(tags_stay_as_they_are),
        cmocka_unit_test(a_key_is_in_the_slot_of_its_tag_or_of_all_of_it),
        cmocka_unit_test(a_prefix_leaves_room_for_a_tag_or_has_one_or_is_unfit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
