/*
 * Records as texts: what a store keeps that has no records in memory, as the one on files. A call
 * is carried out on the record that was read, and what it left is written.
 *
 * A text is a line with its format and kind, and a line for each field: a number in digits,
 * "LENGTH BYTES", or "-" for nothing.
 */
#include "src/store/local/memory_calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FORMAT "latch 1 "

/* In the year 2255: times below it can be added to what a call adds. */
#define TIME_MAX_NS (INT64_C(9000000000) * LATCH_NS_PER_S)

struct memory_fields {
    const latch_engine *engine;
    bool is_reading, is_broken, is_out_of_memory;
    /* Reads from `at` to `end`. Writes at `at`; NULL: only counts the bytes in `length`. */
    const char *at, *end;
    char *written;
    size_t length;
};

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
        if (__builtin_mul_overflow(number, 10, &number)
            || __builtin_add_overflow(number, *at - '0', &number)) {
            break;
        }
    }
    fields->at = at;
    latch_memory_field_check(fields, read_bytes(fields, &end, 1));
    return is_negative ? -number : number;
}

bool latch_memory_fields_are_read(const memory_fields *fields)
{
    return fields->is_reading && !fields->is_broken && !fields->is_out_of_memory;
}

void latch_memory_field_check(memory_fields *fields, bool holds)
{
    fields->is_broken |= fields->is_reading && !holds;
}

void *latch_memory_field_allocate(memory_fields *fields, size_t size)
{
    void *memory = latch_allocate(fields->engine, size);

    fields->is_out_of_memory |= memory == NULL;
    return memory;
}

void latch_memory_field_number(memory_fields *fields, int64_t *number)
{
    if (!fields->is_reading) {
        write_digits(fields, *number, '\n');
    } else if (!fields->is_broken) {
        *number = read_digits(fields, '\n');
    }
}

void latch_memory_field_time(memory_fields *fields, int64_t *time_ns)
{
    int64_t text_ns = *time_ns > TIME_MAX_NS && *time_ns != LATCH_NEVER ? TIME_MAX_NS : *time_ns;

    latch_memory_field_number(fields, &text_ns);
    latch_memory_field_check(fields,
                             text_ns >= 0 && (text_ns <= TIME_MAX_NS || text_ns == LATCH_NEVER));
    if (fields->is_reading && !fields->is_broken) {
        *time_ns = text_ns;
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

static latch_status read_record(memory_records *records, latch_op *op, latch_bytes text)
{
    memory_fields fields = {
        .engine = records->engine,
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
static latch_status write_record(const memory_records *records, const latch_op *op,
                                 memory_record *record, latch_bytes before, memory_text *after)
{
    memory_fields fields = {.engine = records->engine};

    list_all(&fields, record);
    after->length = fields.length;
    after->end_ns = record->end_ns;
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

int64_t latch_memory_text_end_ns(latch_bytes text)
{
    memory_fields fields = {
        .is_reading = true,
        .at = text.text,
        .end = text.text + text.length,
    };
    const char *line_end = memchr(text.text, '\n', text.length);
    int64_t end_ns = LATCH_NEVER;

    latch_memory_field_check(&fields,
                             read_bytes(&fields, FORMAT, strlen(FORMAT)) && line_end != NULL);
    if (!fields.is_broken) {
        fields.at = line_end + 1;
        latch_memory_field_number(&fields, &end_ns);
    }
    return fields.is_broken ? LATCH_NEVER : end_ns;
}

static void free_answer(const memory_records *records, latch_call *call)
{
    latch_answer_free(records->engine, call->answer);
    call->answer = NULL;
}

latch_status latch_memory_call_on_text(memory_records *records, latch_op *op, latch_bytes before,
                                       memory_text *after)
{
    const memory_kind *kind = latch_memory_kind_of(op->request.call->function);
    latch_status status = LATCH_DONE;
    memory_record *record;

    *after = (memory_text){.text = NULL};
    if (before.text != NULL) {
        status = read_record(records, op, before);
        after->is_foreign = status == LATCH_CONFLICT;
    }
    if (status == LATCH_DONE) {
        status = kind->call(records, op);
    }
    record = latch_memory_find_record(records, op, kind);
    if (status == LATCH_DONE && record != NULL) {
        status = write_record(records, op, record, before, after);
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
