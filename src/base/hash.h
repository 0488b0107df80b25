/* An intrusive hash table from byte strings to the structures that embed a latch_node. */
#ifndef LATCH_TABLE_H
#define LATCH_TABLE_H

#include "src/base/base.h"

typedef struct latch_node {
    struct latch_node *next;
    uint64_t hash;
    size_t length;
    const char *key; /* the embedding structure's; lives as long as the node is in the table */
} latch_node;

typedef struct latch_table {
    latch_engine *engine;
    latch_node **buckets; /* NULL while the table is empty and was never used */
    size_t bucket_count;  /* a power of two */
    size_t count;
    uint64_t seed; /* random, so that nobody can choose resources that collide */
} latch_table;

latch_status latch_table_init(latch_table *table, latch_engine *engine, latch_error *error);
/* Frees the buckets; the nodes are their owners'. */
void latch_table_end(latch_table *table);

/* A node of this key, and the next one of the same key; NULL when there is none. */
latch_node *latch_table_find(const latch_table *table, const char *key, size_t length);
latch_node *latch_table_next(const latch_node *node);
/* Adds a node with `key` and `length` set, beside others of its key. False when memory ran out; the
 * table is as before. */
bool latch_table_add(latch_table *table, latch_node *node);
void latch_table_remove(latch_table *table, latch_node *node);
/* Empties the table: all that was in it, chained by `next`. */
latch_node *latch_table_take_all(latch_table *table);

#endif
