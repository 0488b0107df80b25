/* The hash table: finds what it was given, whatever collides, grows or fails. */
#include "src/base/hash.h"
#include "unit.h"

#include <stdlib.h>

#define MANY 1000

typedef struct entry {
    latch_hash_node node;
    char key[16];
} entry;

static entry entries[MANY];
static latch_hash table;

static int setup_table(void **state)
{
    if (unit_setup(state) != 0) {
        return -1;
    }
    for (int at = 0; at < MANY; at++) {
        entries[at] = (entry){0};
        entries[at].node.length = (size_t) snprintf(entries[at].key, 16, "key %d", at);
        entries[at].node.key = entries[at].key;
    }
    return latch_hash_init(&table, unit.engine, &unit.error) == LATCH_DONE ? 0 : -1;
}

static int teardown_table(void **state)
{
    latch_hash_end(&table);
    return unit_teardown(state);
}

static latch_hash_node *find(int at)
{
    return latch_hash_find(&table, entries[at].key, entries[at].node.length);
}

static void add_first(int count)
{
    for (int at = 0; at < count; at++) {
        assert_true(latch_hash_add(&table, &entries[at].node));
    }
}

static void an_empty_table_finds_nothing_and_costs_no_memory(void **state)
{
    size_t before = unit.live;

    (void) state;
    assert_null(latch_hash_find(&table, "key", 3));
    assert_null(latch_hash_find(&table, "", 0));
    assert_null(latch_hash_drain(&table));
    assert_int_equal(unit.live, before);
}

static void what_was_added_is_found_while_it_grows(void **state)
{
    (void) state;
    for (int at = 0; at < MANY; at++) {
        assert_null(find(at));
        assert_true(latch_hash_add(&table, &entries[at].node));
        assert_ptr_equal(find(at), &entries[at].node);
    }
    assert_int_equal(table.count, MANY);
    assert_true(table.bucket_count >= MANY / 2);
    assert_int_equal(table.bucket_count & (table.bucket_count - 1), 0);
    for (int at = 0; at < MANY; at++) {
        assert_ptr_equal(find(at), &entries[at].node);
    }
}

static void keys_are_bytes_that_must_match_in_full(void **state)
{
    entry nul = {.node = {.key = "a\0b", .length = 3}};
    entry none = {.node = {.key = "", .length = 0}};

    (void) state;
    assert_true(latch_hash_add(&table, &nul.node));
    assert_true(latch_hash_add(&table, &none.node));
    assert_ptr_equal(latch_hash_find(&table, "a\0b", 3), &nul.node);
    assert_ptr_equal(latch_hash_find(&table, "", 0), &none.node);
    assert_null(latch_hash_find(&table, "a", 1));
    assert_null(latch_hash_find(&table, "a\0c", 3));
    assert_null(latch_hash_find(&table, "a\0b\0", 4));
}

static void a_key_of_the_same_hash_is_not_mistaken_for_another(void **state)
{
    (void) state;
    add_first(3);
    for (int at = 0; at < 3; at++) {
        entries[at].key[4] = '*'; /* behind the table's back: its hash is still "key <at>"'s */
    }
    assert_null(latch_hash_find(&table, "key 1", 5));
    entries[1].key[4] = '1';
    assert_ptr_equal(latch_hash_find(&table, "key 1", 5), &entries[1].node);
    entries[1].node.length = 6; /* "key 1" and a NUL */
    assert_null(latch_hash_find(&table, "key 1", 5));
}

static void nodes_of_one_key_are_found_one_after_the_other(void **state)
{
    entry same[3];
    bool seen[3] = {false};
    int count = 0;

    (void) state;
    add_first(10);
    for (int at = 0; at < 3; at++) {
        same[at] = (entry){.node = {.key = "key 5", .length = 5}};
        assert_true(latch_hash_add(&table, &same[at].node));
    }
    for (int at = 10; at < MANY; at++) { /* the table grows, and moves them */
        assert_true(latch_hash_add(&table, &entries[at].node));
    }
    latch_hash_remove(&table, &entries[5].node);
    for (latch_hash_node *node = find(5); node != NULL; node = latch_hash_next(node)) {
        entry *found = LATCH_CONTAINER(node, entry, node);

        assert_in_range(found - same, 0, 2);
        assert_false(seen[found - same]);
        seen[found - same] = true;
        count++;
    }
    assert_int_equal(count, 3);
    latch_hash_remove(&table, &same[1].node);
    assert_int_equal(table.count, MANY + 1);
    assert_ptr_equal(latch_hash_next(find(5)), find(5) == &same[0].node ? &same[2] : &same[0]);
    assert_null(latch_hash_next(find(4)));
}

static void any_of_many_can_be_removed_from_its_chain(void **state)
{
    (void) state;
    add_first(MANY);
    for (int at = 0; at < MANY; at += 3) {
        latch_hash_remove(&table, &entries[at].node);
    }
    for (int at = 0; at < MANY; at++) {
        assert_ptr_equal(find(at), at % 3 == 0 ? NULL : &entries[at].node);
    }
    assert_int_equal(table.count, MANY - (MANY + 2) / 3);
}

static void emptying_a_table_meets_everything_once(void **state)
{
    bool seen[MANY] = {false};
    int count = 0;

    (void) state;
    add_first(MANY);
    for (latch_hash_node *node = latch_hash_drain(&table); node != NULL; node = node->next) {
        int at = atoi(node->key + 4);

        assert_false(seen[at]);
        seen[at] = true;
        count++;
    }
    assert_int_equal(count, MANY);
    assert_null(latch_hash_drain(&table));
    assert_null(find(0));
    assert_int_equal(table.count, 0);
}

static void an_ended_table_can_be_used_again(void **state)
{
    (void) state;
    add_first(20);
    latch_hash_end(&table);
    assert_null(find(3));
    add_first(20);
    assert_ptr_equal(find(3), &entries[3].node);
}

static void a_table_without_memory_refuses_the_first_key(void **state)
{
    (void) state;
    unit.fail_at = unit.allocations + 1;
    assert_false(latch_hash_add(&table, &entries[0].node));
    assert_int_equal(table.count, 0);
    assert_null(find(0));
    assert_true(latch_hash_add(&table, &entries[0].node)); /* as soon as there is some */
    assert_ptr_equal(find(0), &entries[0].node);
}

static void a_table_that_cannot_grow_works_on(void **state)
{
    size_t bucket_count;

    (void) state;
    add_first(16);
    bucket_count = table.bucket_count;
    unit.fail_at = unit.allocations + 1;
    unit.fail_on = true;
    for (int at = 16; at < 100; at++) {
        assert_true(latch_hash_add(&table, &entries[at].node));
    }
    assert_int_equal(table.bucket_count, bucket_count);
    for (int at = 0; at < 100; at++) {
        assert_ptr_equal(find(at), &entries[at].node);
    }
}

static void keys_are_spread_evenly(void **state)
{
    size_t used = 0;

    (void) state;
    add_first(MANY);
    for (size_t at = 0; at < table.bucket_count; at++) {
        used += table.buckets[at] != NULL;
    }
    /* 1000 keys in 1024 buckets: at random, 1 - 1/e of them are used. */
    assert_in_range(used, 560, 730);
}

static void the_order_of_the_buckets_cannot_be_known_beforehand(void **state)
{
    latch_hash other;
    uint64_t here, there;

    (void) state;
    assert_int_equal(latch_hash_init(&other, unit.engine, &unit.error), LATCH_DONE);
    assert_true(latch_hash_add(&table, &entries[0].node));
    here = entries[0].node.hash;
    latch_hash_remove(&table, &entries[0].node);
    assert_true(latch_hash_add(&other, &entries[0].node));
    there = entries[0].node.hash;
    latch_hash_end(&other);
    assert_true(here != there);
}

static void a_broken_random_source_makes_no_table(void **state)
{
    latch_hash other;

    (void) state;
    unit.random_broken = true;
    assert_int_equal(latch_hash_init(&other, unit.engine, &unit.error), LATCH_ERROR_SYSTEM);
    assert_int_equal(unit.error.status, LATCH_ERROR_SYSTEM);
}

#define TABLE_TEST(test) cmocka_unit_test_setup_teardown(test, setup_table, teardown_table)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(an_empty_table_finds_nothing_and_costs_no_memory),
        TABLE_TEST(what_was_added_is_found_while_it_grows),
        TABLE_TEST(keys_are_bytes_that_must_match_in_full),
        TABLE_TEST(a_key_of_the_same_hash_is_not_mistaken_for_another),
        TABLE_TEST(nodes_of_one_key_are_found_one_after_the_other),
        TABLE_TEST(any_of_many_can_be_removed_from_its_chain),
        TABLE_TEST(emptying_a_table_meets_everything_once),
        TABLE_TEST(an_ended_table_can_be_used_again),
        TABLE_TEST(a_table_without_memory_refuses_the_first_key),
        TABLE_TEST(a_table_that_cannot_grow_works_on),
        TABLE_TEST(keys_are_spread_evenly),
        TABLE_TEST(the_order_of_the_buckets_cannot_be_known_beforehand),
        TABLE_TEST(a_broken_random_source_makes_no_table),
    };

    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
