/*
 * Calls in the memory of one thread (LATCH_CALL): part of the in-memory store. memory_calls.c has
 * the records, versions and throttles, memory_count_down.c the count-downs.
 */
#ifndef LATCH_MEMORY_CALLS_H
#define LATCH_MEMORY_CALLS_H

#include "src/base/hash.h"
#include "src/engine/store.h"

/* As latch_store_class.begin(). `records` is the store's table, which latch_hash_init() has made.
 */
latch_status latch_memory_call(latch_hash *records, latch_op *op);
/* Frees all records. */
void latch_memory_calls_end(latch_hash *records);

/* ---- Between memory_calls.c and memory_count_down.c */

/* Record of a version, a throttle or a count-down, which embed it as their first member. */
typedef struct memory_record {
    latch_hash_node node; /* by resource, beside those of other kinds */
    char kind;
    int64_t end_ns; /* monotonic */
    /* Frees what it has, but for itself; NULL: nothing. */
    void (*clear)(const latch_engine *engine, struct memory_record *record);
} memory_record;

/* The record of that kind on the operation's resource, unless it has expired; or NULL. */
memory_record *latch_memory_find_record(latch_hash *records, const latch_op *op, char kind);
/* Adds one, zeroed, of `size` bytes, which never expires. NULL when memory ran out. */
memory_record *latch_memory_make_record(latch_hash *records, const latch_op *op, char kind,
                                        size_t size);
void latch_memory_drop_record(latch_hash *records, memory_record *record);
/* The record lives for ttl_ms at least, from now. */
void latch_memory_keep_record(const latch_hash *records, memory_record *record, int64_t ttl_ms);

/* The number of an argument: 0 if there is none. */
int64_t latch_memory_number(const latch_call *call, size_t argument);
/* Sets the answer: so many texts. */
latch_status latch_memory_answer(const latch_hash *records, latch_op *op, size_t count,
                                 const latch_bytes *parts);
/* The same with one text. */
latch_status latch_memory_answer_text(const latch_hash *records, latch_op *op, const char *text);

/* The functions of count-downs. */
latch_status latch_memory_count_down(latch_hash *records, latch_op *op);

#endif
