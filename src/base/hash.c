/* Chained hash table; grows by doubling, shrinks never. */
#include "src/base/hash.h"

#include <string.h>

#define FIRST_BUCKET_COUNT 16

/* FNV-1a over the seed and the key, with a final mix so that the low bits are good. */
static uint64_t hash_key(uint64_t seed, const char *key, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ seed;

    for (size_t at = 0; at < length; at++) {
        hash = (hash ^ (uint8_t) key[at]) * UINT64_C(0x100000001b3);
    }
    hash ^= hash >> 32;
    return hash * UINT64_C(0x9e3779b97f4a7c15) >> 16;
}

latch_status latch_hash_init(latch_hash *table, latch_engine *engine, latch_error *error)
{
    *table = (latch_hash){.engine = engine};
    if (!engine->env.random(engine->env.context, &table->seed, sizeof(table->seed))) {
        return latch_fail(error, LATCH_ERROR_SYSTEM, 0, "the random source gave no bytes");
    }
    return LATCH_DONE;
}

void latch_hash_end(latch_hash *table)
{
    latch_free(table->engine, table->buckets);
    table->buckets = NULL;
    table->bucket_count = table->count = 0;
}

/* The first node of this key in a chain, from `node` on. */
static latch_hash_node *find_in_chain(latch_hash_node *node, uint64_t hash, const char *key,
                                      size_t length)
{
    while (
        node != NULL
        && !(node->hash == hash && node->length == length && memcmp(node->key, key, length) == 0)) {
        node = node->next;
    }
    return node;
}

latch_hash_node *latch_hash_find(const latch_hash *table, const char *key, size_t length)
{
    uint64_t hash;

    if (table->count == 0) {
        return NULL;
    }
    hash = hash_key(table->seed, key, length);
    return find_in_chain(table->buckets[hash & (table->bucket_count - 1)], hash, key, length);
}

latch_hash_node *latch_hash_next(const latch_hash_node *node)
{
    return find_in_chain(node->next, node->hash, node->key, node->length);
}

static void put(latch_hash_node **buckets, size_t bucket_count, latch_hash_node *node)
{
    latch_hash_node **bucket = &buckets[node->hash & (bucket_count - 1)];

    node->next = *bucket;
    *bucket = node;
}

static bool grow(latch_hash *table)
{
    size_t bucket_count = table->bucket_count > 0 ? table->bucket_count * 2 : FIRST_BUCKET_COUNT;
    latch_hash_node **buckets = latch_allocate(table->engine, bucket_count * sizeof(*buckets));

    if (buckets == NULL) {
        return false;
    }
    memset(buckets, 0, bucket_count * sizeof(*buckets));
    for (size_t at = 0; at < table->bucket_count; at++) {
        for (latch_hash_node *node = table->buckets[at], *next; node != NULL; node = next) {
            next = node->next;
            put(buckets, bucket_count, node);
        }
    }
    latch_free(table->engine, table->buckets);
    table->buckets = buckets;
    table->bucket_count = bucket_count;
    return true;
}

bool latch_hash_add(latch_hash *table, latch_hash_node *node)
{
    /* A table that could not grow is only slower, unless it has no buckets at all. */
    if (table->count >= table->bucket_count && !grow(table) && table->buckets == NULL) {
        return false;
    }
    node->hash = hash_key(table->seed, node->key, node->length);
    put(table->buckets, table->bucket_count, node);
    table->count++;
    return true;
}

void latch_hash_remove(latch_hash *table, latch_hash_node *node)
{
    latch_hash_node **link = &table->buckets[node->hash & (table->bucket_count - 1)];

    while (*link != node) {
        link = &(*link)->next;
    }
    *link = node->next;
    table->count--;
}

latch_hash_node *latch_hash_drain(latch_hash *table)
{
    latch_hash_node *all = NULL;

    for (size_t at = 0; at < table->bucket_count; at++) {
        for (latch_hash_node *node = table->buckets[at], *next; node != NULL; node = next) {
            next = node->next;
            node->next = all;
            all = node;
        }
        table->buckets[at] = NULL;
    }
    table->count = 0;
    return all;
}
