/* An intrusive hash table from byte strings to the structures that embed a latch_hash_node. */
#ifndef LATCH_HASH_H
#define LATCH_HASH_H

#include "src/base/base.h"

typedef struct latch_hash_node {
    struct latch_hash_node *next;
    uint64_t hash;
    size_t length;
    const char *key; /* the embedding structure's; lives as long as the node is in the table */
} latch_hash_node;

typedef struct latch_hash {
    latch_engine *engine;
    latch_hash_node **buckets; /* NULL while the table is empty and was never used */
    size_t bucket_count;       /* a power of two */
    size_t count;
    uint64_t seed; /* random, against chosen resources that collide */
} latch_hash;

latch_status latch_hash_init(latch_hash *table, latch_engine *engine, latch_error *error);
/* Frees the buckets; the nodes are their owners'. */
void latch_hash_end(latch_hash *table);

/* A node of this key, and the next one of the same key; NULL when there is none. */
latch_hash_node *latch_hash_find(const latch_hash *table, const char *key, size_t length);
latch_hash_node *latch_hash_next(const latch_hash_node *node);
/* Adds a node with `key` and `length` set, beside others of its key. False when memory ran out; the
 * table is as before. */
bool latch_hash_add(latch_hash *table, latch_hash_node *node);
void latch_hash_remove(latch_hash *table, latch_hash_node *node);
/* Empties the table: all that was in it, chained by `next`. */
latch_hash_node *latch_hash_drain(latch_hash *table);

#endif
