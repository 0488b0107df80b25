/*
 * Calls (LATCH_CALL): the rules of versions, throttles and the like, on records in the memory of
 * one thread. memory_calls.c has the records, versions and throttles, memory_count_down.c the
 * count-downs, memory_sequence.c and memory_debounce.c theirs, memory_text.c the records as texts,
 * for stores that keep them elsewhere.
 */
#ifndef LATCH_MEMORY_CALLS_H
#define LATCH_MEMORY_CALLS_H

#include "src/base/hash.h"
#include "src/engine/store.h"

#include <stdio.h>
#include <string.h>

/* Records of a store. */
typedef struct memory_records {
    const latch_engine *engine;
    latch_hash table;
    /* Their clock: latch_engine_now_ns(), or latch_engine_wall_ns() where they outlive the process;
       all times of records are by it. */
    int64_t (*now_ns)(const latch_engine *engine);
} memory_records;

latch_status latch_memory_records_init(memory_records *records, latch_engine *engine,
                                       int64_t (*now_ns)(const latch_engine *engine),
                                       latch_error *error);
/* Frees all of them. */
void latch_memory_records_end(memory_records *records);

/* As latch_store_class.begin(). */
latch_status latch_memory_call(memory_records *records, latch_op *op);

/* ---- Records as texts */

/* Record after a call, as a text. */
typedef struct memory_text {
    char *text; /* freed by latch_free(); NULL: there is none, or it is as before */
    size_t length;
    bool is_changed;
    bool is_foreign; /* what the store had is no such record */
    int64_t end_ns;
} memory_text;

/*
 * Carries the call out on a record that the store keeps as a text; a `before.text` of NULL: there
 * is none. There are no `records` yet, and none are left. LATCH_DONE: `after` is
 * what the store has to keep, with the answer. LATCH_CONFLICT: a call that waits has to go on
 * waiting, or `before` is no such record (is_foreign). Else an error. Without an answer there is
 * nothing to keep.
 */
latch_status latch_memory_call_on_text(memory_records *records, latch_op *op, latch_bytes before,
                                       memory_text *after);

/* The end of the record that is in that text; LATCH_NEVER: it has none, or it is no record. */
int64_t latch_memory_text_end_ns(latch_bytes text);

/* ---- Kinds of records */

typedef struct memory_fields memory_fields;

/* Record of a version, a throttle or the like, which embed it as their first member. */
typedef struct memory_record {
    latch_hash_node node; /* by resource, beside those of other kinds */
    const struct memory_kind *kind;
    int64_t end_ns;
} memory_record;

/* Kind of records: all that the store has to know of a primitive. */
typedef struct memory_kind {
    const char *name;
    size_t size; /* of a record */
    /* Frees what it has, but for itself; NULL: nothing. */
    void (*clear)(const latch_engine *engine, memory_record *record);
    /*
     * Lists the fields, but for end_ns, by the functions below: reads them into a zeroed record, or
     * writes them. One function for both, so that they cannot differ.
     */
    void (*list_fields)(memory_fields *fields, memory_record *record);
    latch_status (*call)(memory_records *records, latch_op *op);
} memory_kind;

/* The kind of the function's records. */
const memory_kind *latch_memory_kind_of(latch_function function);
extern const memory_kind latch_memory_count_down, latch_memory_sequence, latch_memory_debounce;

void latch_memory_field_number(memory_fields *fields, int64_t *number);
/* From 0 on; also LATCH_NEVER. */
void latch_memory_field_time(memory_fields *fields, int64_t *time_ns);
/* Owned by the record; a text of NULL is one, too. */
void latch_memory_field_text(memory_fields *fields, latch_bytes *text);
/* Are they read, and was all right so far? Else they are written, or of no use. */
bool latch_memory_fields_are_read(const memory_fields *fields);
/* Memory for a part of the record that is being read; NULL when it ran out. */
void *latch_memory_field_allocate(memory_fields *fields, size_t size);
/* What was read must be so, else the text is no such record. */
void latch_memory_field_check(memory_fields *fields, bool holds);

/* ---- For the functions of kinds */

/* The record of that kind on the operation's resource, unless it has expired; or NULL. */
memory_record *latch_memory_find_record(memory_records *records, const latch_op *op,
                                        const memory_kind *kind);
/* Adds one, zeroed, which never expires. NULL when memory ran out. */
memory_record *latch_memory_make_record(memory_records *records, const latch_op *op,
                                        const memory_kind *kind);
void latch_memory_drop_record(memory_records *records, memory_record *record);
/* The record lives for ttl_ms at least, from now. */
void latch_memory_keep_record(const memory_records *records, memory_record *record, int64_t ttl_ms);

/* The number of an argument: 0 if there is none. */
int64_t latch_memory_number(const latch_call *call, size_t argument);
/* Sets the answer: so many texts. */
latch_status latch_memory_answer(const memory_records *records, latch_op *op, size_t count,
                                 const latch_bytes *parts);
/* The same with one text. */
latch_status latch_memory_answer_text(const memory_records *records, latch_op *op,
                                      const char *text);

static inline latch_bytes latch_memory_bytes(const char *text)
{
    return (latch_bytes){text, strlen(text)};
}
static inline latch_bytes latch_memory_digits(char digits[24], int64_t number)
{
    return (latch_bytes){digits, (size_t) snprintf(digits, 24, "%lld", (long long) number)};
}

/* A copy with a NUL behind it; a text of NULL when memory ran out. */
latch_bytes latch_memory_copy(const latch_engine *engine, latch_bytes text);
void latch_memory_free(const latch_engine *engine, latch_bytes *text);
bool latch_memory_is_same(latch_bytes one, latch_bytes other);

#endif
