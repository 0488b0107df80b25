/* Debounces: as src/store/redis/script/lua/calls/debounce.lua has them in Redis. */
#include "src/store/local/memory_calls.h"

/* Servers count tokens in floating point. */
#define TOKEN_MAX (INT64_C(1) << 53)

/* Times are in microseconds by the wall clock, and so are tokens: the time of the occurrence. */
typedef struct memory_debounce {
    memory_record record;
    int64_t issued;      /* the last token; 0: none */
    int64_t last, first; /* tokens of a burst, among those that were sent */
    int64_t is_over;     /* `last` is done */
    int64_t ended_count;
    int64_t ended[LATCH_BURSTS_MAX]; /* tokens of bursts that have ended and are not done; rising */
} memory_debounce;

/* Times of the call. */
typedef struct debounce_times {
    int64_t now, quiet, max;
} debounce_times;

static int64_t least(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

static int64_t due_of(const memory_debounce *debounce, const debounce_times *times)
{
    return least(debounce->last + times->quiet, debounce->first + times->max);
}

/* Does an occurrence belong to the burst of the last one? */
static bool is_in_burst(const memory_debounce *debounce, const debounce_times *times, int64_t token)
{
    return debounce->last > 0 && !debounce->is_over && token < due_of(debounce, times);
}

/* A token, or 0, which is above those before. */
static void list_token(memory_fields *fields, int64_t *token, int64_t above)
{
    latch_memory_field_number(fields, token);
    latch_memory_field_check(fields, *token > above && *token < TOKEN_MAX);
}

static void list_debounce_fields(memory_fields *fields, memory_record *record)
{
    memory_debounce *debounce = (memory_debounce *) record;

    list_token(fields, &debounce->issued, -1);
    list_token(fields, &debounce->last, -1);
    list_token(fields, &debounce->first, -1);
    latch_memory_field_number(fields, &debounce->is_over);
    latch_memory_field_number(fields, &debounce->ended_count);
    latch_memory_field_check(fields, debounce->ended_count >= 0
                                         && debounce->ended_count <= LATCH_BURSTS_MAX);
    for (int64_t at = 0; at < debounce->ended_count && at < LATCH_BURSTS_MAX; at++) {
        list_token(fields, &debounce->ended[at], at > 0 ? debounce->ended[at - 1] : 0);
    }
}

static void remove_ended(memory_debounce *debounce, int64_t at)
{
    debounce->ended_count--;
    memmove(&debounce->ended[at], &debounce->ended[at + 1],
            (size_t) (debounce->ended_count - at) * sizeof(*debounce->ended));
}

/* The position of a burst's token; ended_count: it is none. */
static int64_t find_ended(const memory_debounce *debounce, int64_t token)
{
    int64_t at = 0;

    while (at < debounce->ended_count && debounce->ended[at] != token) {
        at++;
    }
    return at;
}

static void keep_debounce(const memory_records *records, const latch_op *op,
                          memory_debounce *debounce)
{
    latch_memory_keep_record(records, &debounce->record, latch_memory_number(op->request.call, 0));
}

/* Counts an occurrence that was sent. */
static void count_in(const memory_records *records, const latch_op *op, memory_debounce *debounce,
                     const debounce_times *times, int64_t token)
{
    if (token <= debounce->last) {
        return;
    }
    if (!is_in_burst(debounce, times, token)) {
        if (debounce->last > 0 && !debounce->is_over) {
            if (debounce->ended_count == LATCH_BURSTS_MAX) {
                remove_ended(debounce, 0);
            }
            debounce->ended[debounce->ended_count++] = debounce->last;
        }
        debounce->first = token;
    }
    debounce->last = token;
    debounce->is_over = 0;
    keep_debounce(records, op, debounce);
}

static latch_status answer_times(const memory_records *records, latch_op *op, latch_bytes first,
                                 int64_t time_us)
{
    char digits[24];
    const latch_bytes parts[2] = {first, latch_memory_digits(digits, time_us)};

    return latch_memory_answer(records, op, 2, parts);
}

static latch_status register_occurrence(const memory_records *records, latch_op *op,
                                        memory_debounce *debounce, const debounce_times *times)
{
    int64_t before = debounce->issued > debounce->last ? debounce->issued : debounce->last;
    int64_t token = times->now > before ? times->now : before + 1;
    int64_t first = is_in_burst(debounce, times, token) ? debounce->first : token;
    char digits[24];

    debounce->issued = token;
    keep_debounce(records, op, debounce);
    return answer_times(records, op, latch_memory_digits(digits, token),
                        least(token + times->quiet, first + times->max) - times->now);
}

static latch_status resume_occurrence(const memory_records *records, latch_op *op,
                                      memory_debounce *debounce, const debounce_times *times,
                                      int64_t token)
{
    int64_t due;

    if (find_ended(debounce, token) < debounce->ended_count) {
        return answer_times(records, op, latch_memory_bytes("go"), 0);
    }
    count_in(records, op, debounce, times, token);
    if (token < debounce->last || debounce->is_over) {
        return answer_times(records, op, latch_memory_bytes("done"), 0);
    }
    due = due_of(debounce, times);
    return due > times->now
               ? answer_times(records, op, latch_memory_bytes("held"), due - times->now)
               : answer_times(records, op, latch_memory_bytes("go"), 0);
}

static latch_status end_occurrence(const memory_records *records, latch_op *op,
                                   memory_debounce *debounce)
{
    int64_t token = latch_memory_number(op->request.call, 1);
    int64_t at = debounce != NULL ? find_ended(debounce, token) : 0;

    if (debounce != NULL && at < debounce->ended_count) {
        remove_ended(debounce, at);
    } else if (debounce != NULL && token == debounce->last) {
        debounce->is_over = 1;
        keep_debounce(records, op, debounce);
    }
    return latch_memory_answer(records, op, 0, NULL);
}

static latch_status call_debounce(memory_records *records, latch_op *op)
{
    const latch_call *call = op->request.call;
    memory_debounce *debounce =
        (memory_debounce *) latch_memory_find_record(records, op, &latch_memory_debounce);
    int64_t token = latch_memory_number(call, 3);
    const debounce_times times = {
        .now = latch_engine_wall_ns(records->engine) / 1000,
        .quiet = latch_memory_number(call, 1),
        .max = latch_memory_number(call, 2),
    };
    bool is_unknown = token > times.now && (debounce == NULL || token > debounce->issued);

    if (call->function == LATCH_DEBOUNCE_DONE) {
        return end_occurrence(records, op, debounce);
    }
    if (is_unknown) { /* no token was that high */
        return call->function == LATCH_DEBOUNCE_RESUME
                   ? answer_times(records, op, latch_memory_bytes("go"), 0)
                   : latch_memory_answer(records, op, 0, NULL);
    }
    if (debounce == NULL) {
        debounce =
            (memory_debounce *) latch_memory_make_record(records, op, &latch_memory_debounce);
    }
    if (debounce == NULL) {
        return latch_fail_memory(op->error);
    }
    if (call->function == LATCH_DEBOUNCE_REGISTER) {
        return register_occurrence(records, op, debounce, &times);
    }
    if (call->function == LATCH_DEBOUNCE_RESUME) {
        return resume_occurrence(records, op, debounce, &times, token);
    }
    count_in(records, op, debounce, &times, token);
    return latch_memory_answer(records, op, 0, NULL);
}

const memory_kind latch_memory_debounce = {
    .name = "debounce",
    .size = sizeof(memory_debounce),
    .list_fields = list_debounce_fields,
    .call = call_debounce,
};
