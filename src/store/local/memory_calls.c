/*
 * Calls: records that expire, versions and throttles. What each function does is what the scripts
 * of the Redis store do (src/store/redis/script/lua/calls).
 */
#include "src/store/local/memory_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Records -------------------------------------------------------------------------------- */

/* Number of records from which on each doubling looks for those that have expired. */
#define SWEEP_COUNT 64

latch_status latch_memory_records_init(memory_records *records, latch_engine *engine,
                                       int64_t (*now_ns)(const latch_engine *engine),
                                       latch_error *error)
{
    records->engine = engine;
    records->now_ns = now_ns;
    return latch_hash_init(&records->table, engine, error);
}

static memory_record *record_of(latch_hash_node *node)
{
    return LATCH_CONTAINER(node, memory_record, node);
}

static void free_record(const latch_engine *engine, memory_record *record)
{
    if (record->kind->clear != NULL) {
        record->kind->clear(engine, record);
    }
    latch_free(engine, record);
}

void latch_memory_drop_record(memory_records *records, memory_record *record)
{
    latch_hash_remove(&records->table, &record->node);
    free_record(records->engine, record);
}

/* Drops what has expired, when the number of records has doubled: nobody may ask for it again. */
static void sweep_records(memory_records *records)
{
    int64_t now_ns = records->now_ns(records->engine);

    if (records->table.count < SWEEP_COUNT
        || (records->table.count & (records->table.count - 1)) != 0) {
        return;
    }
    for (size_t at = 0; at < records->table.bucket_count; at++) {
        for (latch_hash_node *node = records->table.buckets[at], *next; node != NULL; node = next) {
            next = node->next;
            if (record_of(node)->end_ns <= now_ns) {
                latch_memory_drop_record(records, record_of(node));
            }
        }
    }
}

memory_record *latch_memory_find_record(memory_records *records, const latch_op *op,
                                        const memory_kind *kind)
{
    latch_hash_node *node =
        latch_hash_find(&records->table, op->lease->resource, op->lease->resource_length);

    while (node != NULL && record_of(node)->kind != kind) {
        node = latch_hash_next(node);
    }
    if (node != NULL && record_of(node)->end_ns <= records->now_ns(records->engine)) {
        latch_memory_drop_record(records, record_of(node));
        node = NULL;
    }
    return node != NULL ? record_of(node) : NULL;
}

memory_record *latch_memory_make_record(memory_records *records, const latch_op *op,
                                        const memory_kind *kind)
{
    const latch_lease *lease = op->lease;
    size_t size = kind->size;
    memory_record *record;

    sweep_records(records);
    record = latch_allocate(records->engine, size + lease->resource_length);
    if (record == NULL) {
        return NULL;
    }
    memset(record, 0, size);
    memcpy((char *) record + size, lease->resource, lease->resource_length);
    record->kind = kind;
    record->end_ns = LATCH_NEVER;
    record->node.key = (char *) record + size;
    record->node.length = lease->resource_length;
    if (!latch_hash_add(&records->table, &record->node)) {
        latch_free(records->engine, record);
        return NULL;
    }
    return record;
}

void latch_memory_keep_record(const memory_records *records, memory_record *record, int64_t ttl_ms)
{
    int64_t end_ns = latch_add_ns(records->now_ns(records->engine), latch_ms_to_ns(ttl_ms));

    if (record->end_ns == LATCH_NEVER || record->end_ns < end_ns) {
        record->end_ns = end_ns;
    }
}

void latch_memory_records_end(memory_records *records)
{
    for (latch_hash_node *node = latch_hash_drain(&records->table), *next; node != NULL;
         node = next) {
        next = node->next;
        free_record(records->engine, record_of(node));
    }
    latch_hash_end(&records->table);
}

/* ---- Arguments and answers ------------------------------------------------------------------ */

int64_t latch_memory_number(const latch_call *call, size_t argument)
{
    char digits[24] = "";

    if (argument < call->count && call->arguments[argument].length < sizeof(digits)) {
        memcpy(digits, call->arguments[argument].text, call->arguments[argument].length);
    }
    return strtoll(digits, NULL, 10);
}

latch_status latch_memory_answer(const memory_records *records, latch_op *op, size_t count,
                                 const latch_bytes *parts)
{
    size_t bytes = 0;

    for (size_t at = 0; at < count; at++) {
        bytes += parts[at].length;
    }
    op->request.call->answer = latch_answer_make(records->engine, count, bytes);
    if (op->request.call->answer == NULL) {
        return latch_fail_memory(op->error);
    }
    for (size_t at = 0; at < count; at++) {
        latch_answer_add(op->request.call->answer, parts[at].text, parts[at].length);
    }
    return LATCH_DONE;
}

latch_status latch_memory_answer_text(const memory_records *records, latch_op *op, const char *text)
{
    const latch_bytes part = {text, strlen(text)};

    return latch_memory_answer(records, op, 1, &part);
}

latch_bytes latch_memory_copy(const latch_engine *engine, latch_bytes text)
{
    char *copy = latch_allocate(engine, text.length + 1);

    if (copy == NULL) {
        return (latch_bytes){NULL, 0};
    }
    if (text.length > 0) {
        memcpy(copy, text.text, text.length);
    }
    copy[text.length] = '\0';
    return (latch_bytes){copy, text.length};
}

void latch_memory_free(const latch_engine *engine, latch_bytes *text)
{
    latch_free(engine, (char *) (uintptr_t) text->text);
    *text = (latch_bytes){NULL, 0};
}

bool latch_memory_is_same(latch_bytes one, latch_bytes other)
{
    return one.length == other.length && memcmp(one.text, other.text, one.length) == 0;
}

/* ---- Versions ------------------------------------------------------------------------------- */

static const memory_kind version_kind;

typedef struct memory_version {
    memory_record record;
    latch_bytes newest; /* owned, as the others; a text of NULL: there is none */
    latch_bytes before; /* the newest before it */
    latch_bytes again;  /* a version that may come once more, though it is not newer */
    bool is_before_known;
} memory_version;

static void clear_version(const latch_engine *engine, memory_record *record)
{
    memory_version *version = (memory_version *) record;

    latch_memory_free(engine, &version->newest);
    latch_memory_free(engine, &version->before);
    latch_memory_free(engine, &version->again);
}

static void list_version_fields(memory_fields *fields, memory_record *record)
{
    memory_version *version = (memory_version *) record;
    int64_t is_before_known = version->is_before_known;

    latch_memory_field_text(fields, &version->newest);
    latch_memory_field_text(fields, &version->before);
    latch_memory_field_text(fields, &version->again);
    latch_memory_field_number(fields, &is_before_known);
    version->is_before_known = is_before_known != 0;
}

static bool is_number(latch_bytes version)
{
    size_t at = version.length > 0 && version.text[0] == '-' ? 1 : 0;

    if (at == version.length) {
        return false;
    }
    while (at < version.length && version.text[at] >= '0' && version.text[at] <= '9') {
        at++;
    }
    return at == version.length;
}

static int compare_bytes(latch_bytes one, latch_bytes other)
{
    size_t length = one.length < other.length ? one.length : other.length;
    int order = memcmp(one.text, other.text, length);

    return order != 0 ? order : (one.length > other.length) - (one.length < other.length);
}

/* Order of two of the same kind: negative, 0 or positive. */
static int compare_versions(latch_bytes one, latch_bytes other)
{
    bool is_negative = one.text[0] == '-';
    int order;

    if (!is_number(one)) {
        return compare_bytes(one, other);
    }
    if (is_negative != (other.text[0] == '-')) {
        return is_negative ? -1 : 1;
    }
    order = (one.length > other.length) - (one.length < other.length);
    if (order == 0) {
        order = compare_bytes(one, other);
    }
    return is_negative ? -order : order;
}

/* Makes `version` the newest one. */
static latch_status advance_version(memory_records *records, latch_op *op, memory_version *version,
                                    latch_bytes newest)
{
    const latch_engine *engine = records->engine;
    bool is_repetition = version != NULL && version->again.text != NULL
                         && latch_memory_is_same(version->again, newest);
    latch_bytes copy = latch_memory_copy(engine, newest);

    if (copy.text == NULL) {
        return latch_fail_memory(op->error);
    }
    if (version == NULL) {
        version = (memory_version *) latch_memory_make_record(records, op, &version_kind);
        if (version == NULL) {
            latch_memory_free(engine, &copy);
            return latch_fail_memory(op->error);
        }
    }
    latch_memory_free(engine, &version->before);
    version->is_before_known = !is_repetition;
    if (is_repetition
        || (version->again.text != NULL && version->newest.text != NULL
            && !latch_memory_is_same(version->again, version->newest))) {
        latch_memory_free(engine, &version->again);
    }
    if (is_repetition) {
        latch_memory_free(engine, &version->newest);
    } else {
        version->before = version->newest;
    }
    version->newest = copy;
    latch_memory_keep_record(records, &version->record, latch_memory_number(op->request.call, 0));
    return latch_memory_answer_text(records, op, "1");
}

/* Makes the version before it the newest one again, or lets it come once more. */
static latch_status revert_version(memory_records *records, latch_op *op, memory_version *version,
                                   latch_bytes reverted, int order)
{
    const latch_engine *engine = records->engine;
    bool was_newest = version->newest.text != NULL && order == 0;
    bool comes_again = was_newest ? !version->is_before_known
                                  : version->before.text != NULL
                                        && latch_memory_is_same(version->before, reverted);

    if (comes_again) {
        latch_bytes copy = latch_memory_copy(engine, reverted);

        if (copy.text == NULL) {
            return latch_fail_memory(op->error);
        }
        latch_memory_free(engine, &version->again);
        version->again = copy;
    } else if (was_newest) {
        latch_memory_free(engine, &version->newest);
        version->newest = version->before;
        version->before = (latch_bytes){NULL, 0};
        version->is_before_known = false;
    }
    if (comes_again || was_newest) {
        latch_memory_keep_record(records, &version->record,
                                 latch_memory_number(op->request.call, 0));
    }
    return latch_memory_answer_text(records, op, was_newest ? "1" : "0");
}

static latch_status call_version(memory_records *records, latch_op *op)
{
    latch_call *call = op->request.call;
    memory_version *version =
        (memory_version *) latch_memory_find_record(records, op, &version_kind);
    latch_bytes newest = version != NULL ? version->newest : (latch_bytes){NULL, 0};
    latch_bytes given = call->arguments[call->function == LATCH_VERSION_OUTDATED ? 0 : 1];
    bool may_be_again;
    int order = 1;

    if (call->function == LATCH_VERSION_GET) {
        return latch_memory_answer(records, op, newest.text != NULL ? 1 : 0, &newest);
    }
    if (newest.text != NULL && is_number(newest) != is_number(given)) {
        const latch_bytes mixed[] = {{"mixed", 5}, newest};

        return latch_memory_answer(records, op, 2, mixed);
    }
    if (newest.text != NULL) {
        order = compare_versions(given, newest);
    }
    if (call->function == LATCH_VERSION_OUTDATED) {
        return latch_memory_answer_text(records, op, order < 0 ? "1" : "0");
    }
    if (call->function == LATCH_VERSION_REVERT) {
        return version == NULL ? latch_memory_answer_text(records, op, "0")
                               : revert_version(records, op, version, given, order);
    }
    may_be_again = latch_memory_number(call, 2) != 0
                   || (version != NULL && version->again.text != NULL
                       && latch_memory_is_same(version->again, given));
    if (order < 0 || (order == 0 && !may_be_again)) {
        return latch_memory_answer_text(records, op, "0");
    }
    return advance_version(records, op, version, given);
}

static const memory_kind version_kind = {
    .name = "version",
    .size = sizeof(memory_version),
    .clear = clear_version,
    .list_fields = list_version_fields,
    .call = call_version,
};

/* ---- Throttles ------------------------------------------------------------------------------ */

static const memory_kind throttle_kind;

typedef struct memory_throttle {
    memory_record record;
    int64_t free_us; /* time of the next slot */
} memory_throttle;

static void list_throttle_fields(memory_fields *fields, memory_record *record)
{
    memory_throttle *throttle = (memory_throttle *) record;
    int64_t free_ns = throttle->free_us * 1000;

    latch_memory_field_time(fields, &free_ns);
    latch_memory_field_check(fields, free_ns != LATCH_NEVER);
    throttle->free_us = free_ns / 1000;
}

static latch_status call_throttle(memory_records *records, latch_op *op)
{
    const latch_call *call = op->request.call;
    memory_throttle *throttle =
        (memory_throttle *) latch_memory_find_record(records, op, &throttle_kind);
    int64_t now_us = records->now_ns(records->engine) / 1000;
    int64_t step_us = latch_memory_number(call, 0), burst_us = latch_memory_number(call, 1);
    int64_t at_us = throttle != NULL && throttle->free_us > now_us ? throttle->free_us : now_us;
    int64_t wait_us = at_us - now_us > burst_us ? at_us - now_us - burst_us : 0;
    bool is_reserved = call->function == LATCH_THROTTLE_RESERVE
                       && wait_us <= latch_memory_number(call, 2);
    char number[24];
    latch_bytes parts[2] = {{is_reserved ? "1" : "0", 1}, {number, 0}};

    parts[1].length = (size_t) snprintf(number, sizeof(number), "%lld", (long long) wait_us);
    if (call->function == LATCH_THROTTLE_LOOK) {
        return latch_memory_answer(records, op, 1, &parts[1]);
    }
    if (is_reserved && throttle == NULL) {
        throttle = (memory_throttle *) latch_memory_make_record(records, op, &throttle_kind);
        if (throttle == NULL) {
            return latch_fail_memory(op->error);
        }
    }
    if (is_reserved) {
        throttle->free_us = at_us + step_us;
        throttle->record.end_ns = throttle->free_us * 1000;
    }
    return latch_memory_answer(records, op, 2, parts);
}

static const memory_kind throttle_kind = {
    .name = "throttle",
    .size = sizeof(memory_throttle),
    .list_fields = list_throttle_fields,
    .call = call_throttle,
};

/* ---- All ------------------------------------------------------------------------------------ */

const memory_kind *latch_memory_kind_of(latch_function function)
{
    switch (function) {
        case LATCH_VERSION_ADVANCE:
        case LATCH_VERSION_REVERT:
        case LATCH_VERSION_OUTDATED:
        case LATCH_VERSION_GET:
            return &version_kind;
        case LATCH_THROTTLE_RESERVE:
        case LATCH_THROTTLE_LOOK:
            return &throttle_kind;
        case LATCH_SEQUENCE_ENTER:
        case LATCH_SEQUENCE_RESUME:
        case LATCH_SEQUENCE_NEXT:
        case LATCH_SEQUENCE_PUT_BACK:
        case LATCH_SEQUENCE_ABANDON:
        case LATCH_SEQUENCE_INSPECT:
            return &latch_memory_sequence;
        case LATCH_DEBOUNCE_REGISTER:
        case LATCH_DEBOUNCE_SENT:
        case LATCH_DEBOUNCE_RESUME:
        case LATCH_DEBOUNCE_DONE:
            return &latch_memory_debounce;
        default:
            return &latch_memory_count_down;
    }
}

latch_status latch_memory_call(memory_records *records, latch_op *op)
{
    return latch_memory_kind_of(op->request.call->function)->call(records, op);
}
