/* Count-downs: as src/store/redis/script/lua/calls/count_down.lua has them in Redis. */
#include "src/store/local/memory_calls.h"

#include <stdio.h>
#include <string.h>

/* States of members, a byte each. */
typedef enum { MEMBER_LEFT = 'l', MEMBER_ARRIVED = 'a', MEMBER_FAILED = 'f' } member_state;

typedef struct memory_count_down {
    memory_record record;
    enum { COUNT_OPEN, COUNT_DONE, COUNT_CANCELLED } state;
    size_t total, left, failed;
    latch_bytes list;    /* the members as they were given: "LENGTH MEMBER" behind each other */
    latch_bytes states;  /* of member_state, in their order; NULL: over */
    latch_bytes payload; /* NULL: there is no last step */
    int64_t claim_ns;    /* end of the claim to the last step; 0: none */
} memory_count_down;

static void drop_members(const latch_engine *engine, memory_count_down *count)
{
    latch_memory_free(engine, &count->states);
    count->failed = 0;
}

static void drop_payload(const latch_engine *engine, memory_count_down *count)
{
    latch_memory_free(engine, &count->payload);
    count->claim_ns = 0;
}

static void clear_count_down(const latch_engine *engine, memory_record *record)
{
    memory_count_down *count = (memory_count_down *) record;

    drop_members(engine, count);
    drop_payload(engine, count);
    latch_memory_free(engine, &count->list);
}

/* The member at this place of the list, which becomes the next one's. False: past the end, or what
 * is there is none. */
static bool next_member(latch_bytes list, size_t *at, latch_bytes *member)
{
    const char *next = list.text + *at, *end = list.text + list.length;
    size_t length = 0;

    while (next < end && *next >= '0' && *next <= '9' && length <= list.length) {
        length = length * 10 + (size_t) (*next++ - '0');
    }
    if (next == end || *next != ' ' || length > (size_t) (end - next - 1)) {
        return false;
    }
    *member = (latch_bytes){next + 1, length};
    *at = (size_t) (next + 1 - list.text) + length;
    return true;
}

/* Number of members; 0: it is no list of members. */
static size_t count_members(latch_bytes list)
{
    latch_bytes member;
    size_t at = 0, count = 0;

    while (next_member(list, &at, &member)) {
        count++;
    }
    return at == list.length ? count : 0;
}

static char *states_of(const memory_count_down *count)
{
    return (char *) (uintptr_t) count->states.text;
}

/* The state of that member; NULL: there is none. */
static char *find_member(const memory_count_down *count, latch_bytes name)
{
    latch_bytes member;
    size_t at = 0, number = 0;

    while (count->states.text != NULL && next_member(count->list, &at, &member)) {
        if (latch_memory_is_same(member, name)) {
            return states_of(count) + number;
        }
        number++;
    }
    return NULL;
}

/* Numbers that follow from the fields that were read. */
static void count_states(memory_fields *fields, memory_count_down *count)
{
    count->total = count->list.text != NULL ? count_members(count->list) : 0;
    latch_memory_field_check(fields, count->total > 0
                                         && (count->states.text == NULL
                                             || count->states.length == count->total));
    for (size_t at = 0; at < count->states.length; at++) {
        count->left += count->states.text[at] == MEMBER_LEFT;
        count->failed += count->states.text[at] == MEMBER_FAILED;
    }
}

static void list_count_down_fields(memory_fields *fields, memory_record *record)
{
    memory_count_down *count = (memory_count_down *) record;
    int64_t state = count->state;

    latch_memory_field_number(fields, &state);
    latch_memory_field_check(fields, state >= COUNT_OPEN && state <= COUNT_CANCELLED);
    count->state = state;
    latch_memory_field_time(fields, &count->claim_ns);
    latch_memory_field_text(fields, &count->list);
    latch_memory_field_text(fields, &count->states);
    latch_memory_field_text(fields, &count->payload);
    if (latch_memory_fields_are_read(fields)) {
        count_states(fields, count);
    }
}

static bool copy_opening(const latch_engine *engine, const latch_call *call,
                         memory_count_down *count)
{
    count->list = latch_memory_copy(engine, call->arguments[1]);
    if (call->count > 2) {
        count->payload = latch_memory_copy(engine, call->arguments[2]);
    }
    if (count->list.text == NULL || (call->count > 2 && count->payload.text == NULL)) {
        return false;
    }
    count->total = count->left = count_members(count->list);
    count->states = latch_memory_copy(engine, (latch_bytes){count->list.text, count->total});
    if (count->states.text != NULL) {
        memset(states_of(count), MEMBER_LEFT, count->total);
    }
    return count->states.text != NULL;
}

static latch_status open_anew(memory_records *records, latch_op *op)
{
    const latch_call *call = op->request.call;
    memory_count_down *count =
        (memory_count_down *) latch_memory_make_record(records, op, &latch_memory_count_down);

    if (count == NULL) {
        return latch_fail_memory(op->error);
    }
    if (!copy_opening(records->engine, call, count)) {
        latch_memory_drop_record(records, &count->record);
        return latch_fail_memory(op->error);
    }
    if (count->total == 0) {
        latch_memory_drop_record(records, &count->record);
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0,
                          "the members must be a list of \"LENGTH MEMBER\"");
    }
    latch_memory_keep_record(records, &count->record, latch_memory_number(call, 0));
    return latch_memory_answer_text(records, op, "1");
}

static latch_status open_count_down(memory_records *records, latch_op *op, memory_count_down *count)
{
    latch_bytes list = op->request.call->arguments[1];

    if (count != NULL && count->state == COUNT_CANCELLED) {
        latch_memory_drop_record(records, &count->record);
        count = NULL;
    }
    if (count == NULL) {
        return open_anew(records, op);
    }
    return latch_memory_answer_text(records, op,
                                    latch_memory_is_same(list, count->list) ? "0" : "other");
}

static const char *state_of(const memory_count_down *count)
{
    return count == NULL                     ? "none"
           : count->state == COUNT_DONE      ? "done"
           : count->state == COUNT_CANCELLED ? "cancelled"
           : count->left == 0                ? "arrived"
                                             : "open";
}

/* Writes the members in that state behind `parts`, and returns the end. */
static latch_bytes *list_members_in(const memory_count_down *count, char state, latch_bytes *parts)
{
    latch_bytes member;
    size_t at = 0;

    for (size_t number = 0; number < count->states.length && next_member(count->list, &at, &member);
         number++) {
        if (count->states.text[number] == state) {
            *parts++ = member;
        }
    }
    return parts;
}

static latch_bytes bytes_of(const char *text)
{
    return (latch_bytes){text, strlen(text)};
}

static latch_bytes write_count(char number[24], int64_t count)
{
    return (latch_bytes){number, (size_t) snprintf(number, 24, "%lld", (long long) count)};
}

/* {state, left, is claimed, payload, failed members...} */
static latch_status answer_arrival(memory_records *records, latch_op *op,
                                   const memory_count_down *count, bool is_claimed)
{
    enum { FIXED = 4 };
    size_t failed = count->left == 0 ? count->failed : 0;
    latch_bytes *parts = latch_allocate(records->engine, (FIXED + failed) * sizeof(*parts));
    char left[24];
    latch_status status;

    if (parts == NULL) {
        return latch_fail_memory(op->error);
    }
    parts[0] = bytes_of(state_of(count));
    parts[1] = write_count(left, (int64_t) count->left);
    parts[2] = bytes_of(is_claimed ? "1" : "0");
    parts[3] = is_claimed ? count->payload : bytes_of("");
    if (failed > 0) {
        list_members_in(count, MEMBER_FAILED, parts + FIXED);
    }
    status = latch_memory_answer(records, op, FIXED + failed, parts);
    latch_free(records->engine, parts);
    return status;
}

/* Claims the last step, if it is to be had. */
static bool claim_last_step(const memory_records *records, memory_count_down *count,
                            int64_t claim_ms)
{
    int64_t now_ns = records->now_ns(records->engine);

    if (count->state != COUNT_OPEN || count->left > 0) {
        return false;
    }
    if (count->payload.text == NULL) {
        count->state = COUNT_DONE; /* there is none */
        return false;
    }
    if (count->claim_ns > now_ns) {
        return false;
    }
    count->claim_ns = latch_add_ns(now_ns, latch_ms_to_ns(claim_ms));
    return true;
}

static void record_arrival(memory_count_down *count, char *member, bool has_failed)
{
    if (*member == MEMBER_LEFT) {
        *member = has_failed ? MEMBER_FAILED : MEMBER_ARRIVED;
        count->left--;
        count->failed += has_failed ? 1 : 0;
    } else if (*member == MEMBER_FAILED && !has_failed && count->left > 0) {
        *member = MEMBER_ARRIVED;
        count->failed--;
    }
}

static latch_status arrive(memory_records *records, latch_op *op, memory_count_down *count)
{
    const latch_call *call = op->request.call;
    char *member;

    if (count == NULL || count->state == COUNT_CANCELLED) {
        const latch_bytes parts[] = {bytes_of(state_of(count)), bytes_of("0"), bytes_of("0"),
                                     bytes_of("")};

        return latch_memory_answer(records, op, 4, parts);
    }
    member = find_member(count, call->arguments[1]);
    if (member == NULL && count->states.text != NULL) {
        return latch_memory_answer_text(records, op, "stranger");
    }
    if (member != NULL) {
        if (*member == MEMBER_LEFT) {
            latch_memory_keep_record(records, &count->record, latch_memory_number(call, 0));
        }
        record_arrival(count, member, latch_memory_number(call, 2) != 0);
    }
    return answer_arrival(records, op, count,
                          claim_last_step(records, count, latch_memory_number(call, 3)));
}

static latch_status finish_count_down(memory_records *records, latch_op *op,
                                      memory_count_down *count)
{
    char left[24];
    latch_bytes parts[2];

    if (count != NULL && count->state == COUNT_OPEN && count->left == 0) {
        count->state = COUNT_DONE;
        drop_payload(records->engine, count);
        drop_members(records->engine, count);
        latch_memory_keep_record(records, &count->record, latch_memory_number(op->request.call, 0));
    }
    parts[0] = bytes_of(state_of(count));
    parts[1] = write_count(left, count != NULL ? (int64_t) count->left : 0);
    return latch_memory_answer(records, op, 2, parts);
}

static latch_status cancel_count_down(memory_records *records, latch_op *op,
                                      memory_count_down *count)
{
    bool is_open = count != NULL && count->state == COUNT_OPEN;

    if (is_open) {
        count->state = COUNT_CANCELLED;
        count->left = 0;
        drop_payload(records->engine, count);
        drop_members(records->engine, count);
    }
    return latch_memory_answer_text(records, op, is_open ? "1" : "0");
}

/* {state, total, left, has payload, claim, number of failed, failed..., missing...} */
static latch_status inspect_count_down(memory_records *records, latch_op *op,
                                       const memory_count_down *count)
{
    enum { FIXED = 6 };
    int64_t now_ns = records->now_ns(records->engine);
    size_t named = count != NULL ? count->left + count->failed : 0;
    latch_bytes *parts = latch_allocate(records->engine, (FIXED + named) * sizeof(*parts));
    char numbers[4][24];
    latch_status status;

    if (parts == NULL) {
        return latch_fail_memory(op->error);
    }
    parts[0] = bytes_of(state_of(count));
    parts[1] = write_count(numbers[0], count != NULL ? (int64_t) count->total : 0);
    parts[2] = write_count(numbers[1], count != NULL ? (int64_t) count->left : 0);
    parts[3] = bytes_of(count != NULL && count->payload.text != NULL ? "1" : "0");
    parts[4] = write_count(numbers[2], count != NULL && count->claim_ns > now_ns
                                           ? (count->claim_ns - now_ns) / 1000
                                           : 0);
    parts[5] = write_count(numbers[3], count != NULL ? (int64_t) count->failed : 0);
    if (named > 0) {
        list_members_in(count, MEMBER_LEFT, list_members_in(count, MEMBER_FAILED, parts + FIXED));
    }
    status = latch_memory_answer(records, op, FIXED + named, parts);
    latch_free(records->engine, parts);
    return status;
}

static latch_status call_count_down(memory_records *records, latch_op *op)
{
    memory_count_down *count =
        (memory_count_down *) latch_memory_find_record(records, op, &latch_memory_count_down);

    switch (op->request.call->function) {
        case LATCH_COUNT_DOWN_OPEN:
            return open_count_down(records, op, count);
        case LATCH_COUNT_DOWN_ARRIVE:
            return arrive(records, op, count);
        case LATCH_COUNT_DOWN_DONE:
            return finish_count_down(records, op, count);
        case LATCH_COUNT_DOWN_CANCEL:
            return cancel_count_down(records, op, count);
        case LATCH_COUNT_DOWN_INSPECT:
            return inspect_count_down(records, op, count);
        default:
            return op->request.wait && count != NULL && count->state == COUNT_OPEN
                       ? LATCH_CONFLICT
                       : latch_memory_answer_text(records, op, state_of(count));
    }
}

const memory_kind latch_memory_count_down = {
    .name = "count-down",
    .size = sizeof(memory_count_down),
    .clear = clear_count_down,
    .list_fields = list_count_down_fields,
    .call = call_count_down,
};
