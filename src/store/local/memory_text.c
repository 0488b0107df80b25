/*
 * Records as texts: what a store keeps that has no records in memory, as the one on files. A call
 * is carried out on the record that was read, and what it left is written.
 *
 * A text is a line with its format and kind, and a line for each field: a number in digits,
 * "LENGTH BYTES", or "-" for nothing. Times are by the wall clock there, as the monotonic one means
 * nothing after a restart of the machine.
 */
#include "src/store/local/memory_calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "latch 1 "

/* In the year 2255: times below it can be added to what a call adds. */
#define TIME_MAX_NS (INT64_C(9000000000) * LATCH_NS_PER_S)

/* Both clocks are read within this time, so that they belong together; and attempts at that. */
#define CLOCKS_APART_NS (LATCH_NS_PER_MS / 10)
#define CLOCKS_ATTEMPTS 10

struct memory_fields {
    const latch_engine *engine;
    int64_t ahead_ns; /* the wall clock less the monotonic one */
    bool is_reading, is_broken, is_out_of_memory;
    /* Reads from `at` to `end`. Writes at `at`; NULL: only counts the bytes in `length`. */
    const char *at, *end;
    char *written;
    size_t length;
};

/* In whole microseconds: a throttle counts them. */
static int64_t wall_ahead_ns(const latch_engine *engine)
{
    int64_t before_ns, wall_ns, after_ns;
    int attempts = 0;

    do {
        before_ns = latch_engine_now_ns(engine);
        wall_ns = latch_engine_wall_ns(engine);
        after_ns = latch_engine_now_ns(engine);
    } while (after_ns - before_ns > CLOCKS_APART_NS && ++attempts < CLOCKS_ATTEMPTS);
    return (wall_ns - after_ns) / 1000 * 1000;
}

/* ---- Fields --------------------------------------------------------------------------------- */

static void write_bytes(memory_fields *fields, const char *bytes, size_t length)
{
    if (fields->written != NULL && length > 0) {
        memcpy(fields->written + fields->length, bytes, length);
    }
    fields->length += length;
}

/* Writes digits, and what ends them. */
static void write_digits(memory_fields *fields, int64_t number, char end)
{
    char digits[24];

    write_bytes(fields, digits,
                (size_t) snprintf(digits, sizeof(digits), "%" PRId64 "%c", number, end));
}

/* Reads these bytes; false: there are others. */
static bool read_bytes(memory_fields *fields, const char *bytes, size_t length)
{
    if (length > (size_t) (fields->end - fields->at) || memcmp(fields->at, bytes, length) != 0) {
        return false;
    }
    fields->at += length;
    return true;
}

static int64_t read_digits(memory_fields *fields, char end)
{
    const char *at = fields->at;
    bool is_negative = at < fields->end && *at == '-';
    int64_t number = 0;

    at += is_negative;
    latch_memory_field_check(fields, at < fields->end && *at != end);
    for (; at < fields->end && *at >= '0' && *at <= '9'; at++) {
        if (number > (INT64_MAX - 9) / 10) {
            break;
        }
        number = number * 10 + (*at - '0');
    }
    fields->at = at;
    latch_memory_field_check(fields, read_bytes(fields, &end, 1));
    return is_negative ? -number : number;
}

void latch_memory_field_check(memory_fields *fields, bool holds)
{
    fields->is_broken |= fields->is_reading && !holds;
}

void latch_memory_field_number(memory_fields *fields, int64_t *number)
{
    if (!fields->is_reading) {
        write_digits(fields, *number, '\n');
    } else if (!fields->is_broken) {
        *number = read_digits(fields, '\n');
    }
}

static int64_t to_wall_ns(const memory_fields *fields, int64_t time_ns)
{
    int64_t wall_ns;

    if (time_ns == 0 || time_ns == LATCH_NEVER) {
        return time_ns;
    }
    wall_ns = latch_add_ns(time_ns, fields->ahead_ns);
    return wall_ns < 1 ? 1 : wall_ns > TIME_MAX_NS ? TIME_MAX_NS : wall_ns;
}

void latch_memory_field_time(memory_fields *fields, int64_t *time_ns)
{
    int64_t wall_ns = to_wall_ns(fields, *time_ns);

    latch_memory_field_number(fields, &wall_ns);
    if (!fields->is_reading || fields->is_broken) {
        return;
    }
    latch_memory_field_check(fields,
                             wall_ns >= 0 && (wall_ns <= TIME_MAX_NS || wall_ns == LATCH_NEVER));
    if (!fields->is_broken) {
        *time_ns = wall_ns == 0 || wall_ns == LATCH_NEVER ? wall_ns : wall_ns - fields->ahead_ns;
    }
}

static void read_text(memory_fields *fields, latch_bytes *text)
{
    int64_t length;

    if (fields->is_broken || read_bytes(fields, "-\n", 2)) {
        return;
    }
    length = read_digits(fields, ' ');
    latch_memory_field_check(fields, length >= 0 && length < fields->end - fields->at
                                         && fields->at[length] == '\n');
    if (fields->is_broken) {
        return;
    }
    *text = latch_memory_copy(fields->engine, (latch_bytes){fields->at, (size_t) length});
    fields->is_out_of_memory |= text->text == NULL;
    fields->at += length + 1;
}

void latch_memory_field_text(memory_fields *fields, latch_bytes *text)
{
    if (fields->is_reading) {
        read_text(fields, text);
    } else if (text->text == NULL) {
        write_bytes(fields, "-\n", 2);
    } else {
        write_digits(fields, (int64_t) text->length, ' ');
        write_bytes(fields, text->text, text->length);
        write_bytes(fields, "\n", 1);
    }
}

/* ---- Records -------------------------------------------------------------------------------- */

/* All of a text: the head, the end of the record, and what its kind has. */
static void list_all(memory_fields *fields, memory_record *record)
{
    const char *name = record->kind->name;

    if (fields->is_reading) {
        latch_memory_field_check(fields, read_bytes(fields, FORMAT, strlen(FORMAT))
                                             && read_bytes(fields, name, strlen(name))
                                             && read_bytes(fields, "\n", 1));
    } else {
        write_bytes(fields, FORMAT, strlen(FORMAT));
        write_bytes(fields, name, strlen(name));
        write_bytes(fields, "\n", 1);
    }
    latch_memory_field_time(fields, &record->end_ns);
    record->kind->list_fields(fields, record);
    latch_memory_field_check(fields, fields->at == fields->end);
}

static latch_status read_record(latch_hash *records, latch_op *op, latch_bytes text,
                                int64_t ahead_ns)
{
    memory_fields fields = {
        .engine = records->engine,
        .ahead_ns = ahead_ns,
        .is_reading = true,
        .at = text.text,
        .end = text.text + text.length,
    };
    memory_record *record =
        latch_memory_make_record(records, op, latch_memory_kind_of(op->request.call->function));

    if (record == NULL) {
        return latch_fail_memory(op->error);
    }
    list_all(&fields, record);
    if (!fields.is_broken && !fields.is_out_of_memory) {
        return LATCH_DONE;
    }
    latch_memory_drop_record(records, record);
    return fields.is_out_of_memory ? latch_fail_memory(op->error) : LATCH_CONFLICT;
}

/* Writes the record, unless it is as before. */
static latch_status write_record(const latch_hash *records, const latch_op *op,
                                 memory_record *record, latch_bytes before, int64_t ahead_ns,
                                 memory_text *after)
{
    memory_fields fields = {.engine = records->engine, .ahead_ns = ahead_ns};

    list_all(&fields, record);
    after->length = fields.length;
    after->end_ns = to_wall_ns(&fields, record->end_ns);
    after->text = fields.written = latch_allocate(records->engine, fields.length);
    if (after->text == NULL) {
        return latch_fail_memory(op->error);
    }
    fields.length = 0;
    list_all(&fields, record);
    after->is_changed = before.text == NULL
                        || !latch_memory_is_same(before, (latch_bytes){after->text, after->length});
    if (!after->is_changed) {
        latch_free(records->engine, after->text);
        after->text = NULL;
    }
    return LATCH_DONE;
}

static void free_answer(const latch_hash *records, latch_call *call)
{
    latch_answer_free(records->engine, call->answer);
    call->answer = NULL;
}

latch_status latch_memory_call_on_text(latch_hash *records, latch_op *op, latch_bytes before,
                                       memory_text *after)
{
    const memory_kind *kind = latch_memory_kind_of(op->request.call->function);
    int64_t ahead_ns = wall_ahead_ns(records->engine);
    latch_status status = LATCH_DONE;
    memory_record *record;

    *after = (memory_text){.text = NULL};
    if (before.text != NULL) {
        status = read_record(records, op, before, ahead_ns);
    }
    if (status == LATCH_DONE) {
        status = kind->call(records, op);
    }
    record = latch_memory_find_record(records, op, kind);
    if (status == LATCH_DONE && record != NULL) {
        status = write_record(records, op, record, before, ahead_ns, after);
    } else if (status == LATCH_DONE) {
        after->is_changed = before.text != NULL;
    }
    if (record != NULL) {
        latch_memory_drop_record(records, record);
    }
    if (status != LATCH_DONE) {
        free_answer(records, op->request.call);
    }
    return status;
}
