/*
 * Count-downs in the memory of one thread: as src/store/redis/script/lua/calls/count_down.lua has
 * them in Redis.
 */
#include "src/store/local/memory_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { MEMBER_LEFT, MEMBER_ARRIVED, MEMBER_FAILED } member_state;

typedef struct count_down_member {
    latch_hash_node node;
    member_state state;
    char name[];
} count_down_member;

typedef struct memory_count_down {
    memory_record record;
    enum { COUNT_OPEN, COUNT_DONE, COUNT_CANCELLED } state;
    latch_hash members;
    size_t total, left, failed;
    char *list; /* the members, as they were given; they tell whether others are the same */
    size_t list_length;
    char *payload; /* NULL: there is no last step */
    size_t payload_length;
    int64_t claim_ns; /* end of the claim to the last step; 0: none */
} memory_count_down;

static count_down_member *member_of(latch_hash_node *node)
{
    return LATCH_CONTAINER(node, count_down_member, node);
}

static void drop_members(memory_count_down *count)
{
    const latch_engine *engine = count->members.engine;

    for (latch_hash_node *node = latch_hash_drain(&count->members), *next; node != NULL;
         node = next) {
        next = node->next;
        latch_free(engine, member_of(node));
    }
    count->failed = 0;
}

static void drop_payload(memory_count_down *count)
{
    latch_free(count->members.engine, count->payload);
    count->payload = NULL;
    count->payload_length = 0;
    count->claim_ns = 0;
}

static void clear_count_down(const latch_engine *engine, memory_record *record)
{
    memory_count_down *count = (memory_count_down *) record;

    drop_members(count);
    latch_hash_end(&count->members);
    drop_payload(count);
    latch_free(engine, count->list);
}

static bool add_count_member(memory_count_down *count, const char *name, size_t length)
{
    const latch_engine *engine = count->members.engine;
    count_down_member *member = latch_allocate(engine, sizeof(*member) + length + 1);

    if (member == NULL) {
        return false;
    }
    memcpy(member->name, name, length);
    member->name[length] = '\0';
    member->state = MEMBER_LEFT;
    member->node.key = member->name;
    member->node.length = length;
    if (!latch_hash_add(&count->members, &member->node)) {
        latch_free(engine, member);
        return false;
    }
    count->total++;
    return true;
}

/* Adds the members of the list: "LENGTH MEMBER" behind each other. */
static bool add_count_members(memory_count_down *count)
{
    char *at = count->list, *end = at + count->list_length;

    while (at < end) {
        size_t length = strtoul(at, &at, 10);

        at++;
        if (at > end || length > (size_t) (end - at) || !add_count_member(count, at, length)) {
            return false;
        }
        at += length;
    }
    count->left = count->total;
    return true;
}

static char *copy_bytes(const latch_engine *engine, latch_bytes bytes)
{
    char *copy = latch_allocate(engine, bytes.length + 1);

    if (copy != NULL) {
        memcpy(copy, bytes.text, bytes.length);
        copy[bytes.length] = '\0';
    }
    return copy;
}

static latch_status open_anew(latch_hash *records, latch_op *op)
{
    const latch_call *call = op->request.call;
    memory_count_down *count =
        (memory_count_down *) latch_memory_make_record(records, op, 'c', sizeof(*count));

    if (count == NULL) {
        return latch_fail_memory(op->error);
    }
    if (latch_hash_init(&count->members, records->engine, op->error) != LATCH_DONE) {
        latch_memory_drop_record(records, &count->record);
        return op->error->status;
    }
    count->record.clear = clear_count_down;
    count->list = copy_bytes(records->engine, call->arguments[1]);
    count->list_length = call->arguments[1].length;
    if (call->count > 2) {
        count->payload = copy_bytes(records->engine, call->arguments[2]);
        count->payload_length = call->arguments[2].length;
    }
    if (count->list == NULL || (call->count > 2 && count->payload == NULL)
        || !add_count_members(count)) {
        latch_memory_drop_record(records, &count->record);
        return latch_fail_memory(op->error);
    }
    latch_memory_keep_record(records, &count->record, latch_memory_number(call, 0));
    return latch_memory_answer_text(records, op, "1");
}

static latch_status open_count_down(latch_hash *records, latch_op *op, memory_count_down *count)
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
                                    list.length == count->list_length
                                            && memcmp(list.text, count->list, list.length) == 0
                                        ? "0"
                                        : "other");
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
static latch_bytes *list_members_in(const memory_count_down *count, member_state state,
                                    latch_bytes *parts)
{
    for (size_t at = 0; at < count->members.bucket_count; at++) {
        for (latch_hash_node *node = count->members.buckets != NULL ? count->members.buckets[at]
                                                                    : NULL;
             node != NULL; node = node->next) {
            if (member_of(node)->state == state) {
                *parts++ = (latch_bytes){node->key, node->length};
            }
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
static latch_status answer_arrival(latch_hash *records, latch_op *op,
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
    parts[3] = is_claimed ? (latch_bytes){count->payload, count->payload_length} : bytes_of("");
    if (failed > 0) {
        list_members_in(count, MEMBER_FAILED, parts + FIXED);
    }
    status = latch_memory_answer(records, op, FIXED + failed, parts);
    latch_free(records->engine, parts);
    return status;
}

/* Claims the last step, if it is to be had. */
static bool claim_last_step(const latch_hash *records, memory_count_down *count, int64_t claim_ms)
{
    int64_t now_ns = latch_engine_now_ns(records->engine);

    if (count->state != COUNT_OPEN || count->left > 0) {
        return false;
    }
    if (count->payload == NULL) {
        count->state = COUNT_DONE; /* there is none */
        return false;
    }
    if (count->claim_ns > now_ns) {
        return false;
    }
    count->claim_ns = latch_add_ns(now_ns, latch_ms_to_ns(claim_ms));
    return true;
}

static void record_arrival(memory_count_down *count, count_down_member *member, bool has_failed)
{
    if (member->state == MEMBER_LEFT) {
        member->state = has_failed ? MEMBER_FAILED : MEMBER_ARRIVED;
        count->left--;
        count->failed += has_failed ? 1 : 0;
    } else if (member->state == MEMBER_FAILED && !has_failed && count->left > 0) {
        member->state = MEMBER_ARRIVED;
        count->failed--;
    }
}

static latch_status arrive(latch_hash *records, latch_op *op, memory_count_down *count)
{
    const latch_call *call = op->request.call;
    latch_bytes name = call->arguments[1];
    latch_hash_node *node;

    if (count == NULL || count->state == COUNT_CANCELLED) {
        const latch_bytes parts[] = {bytes_of(state_of(count)), bytes_of("0"), bytes_of("0"),
                                     bytes_of("")};

        return latch_memory_answer(records, op, 4, parts);
    }
    node = latch_hash_find(&count->members, name.text, name.length);
    if (node == NULL && count->members.count > 0) {
        return latch_memory_answer_text(records, op, "stranger");
    }
    if (node != NULL) {
        if (member_of(node)->state == MEMBER_LEFT) {
            latch_memory_keep_record(records, &count->record, latch_memory_number(call, 0));
        }
        record_arrival(count, member_of(node), latch_memory_number(call, 2) != 0);
    }
    return answer_arrival(records, op, count,
                          claim_last_step(records, count, latch_memory_number(call, 3)));
}

static latch_status finish_count_down(latch_hash *records, latch_op *op, memory_count_down *count)
{
    char left[24];
    latch_bytes parts[2];

    if (count != NULL && count->state == COUNT_OPEN && count->left == 0) {
        count->state = COUNT_DONE;
        drop_payload(count);
        drop_members(count);
        latch_memory_keep_record(records, &count->record, latch_memory_number(op->request.call, 0));
    }
    parts[0] = bytes_of(state_of(count));
    parts[1] = write_count(left, count != NULL ? (int64_t) count->left : 0);
    return latch_memory_answer(records, op, 2, parts);
}

static latch_status cancel_count_down(latch_hash *records, latch_op *op, memory_count_down *count)
{
    bool is_open = count != NULL && count->state == COUNT_OPEN;

    if (is_open) {
        count->state = COUNT_CANCELLED;
        count->left = 0;
        drop_payload(count);
        drop_members(count);
    }
    return latch_memory_answer_text(records, op, is_open ? "1" : "0");
}

/* {state, total, left, has payload, claim, number of failed, failed..., missing...} */
static latch_status inspect_count_down(latch_hash *records, latch_op *op,
                                       const memory_count_down *count)
{
    enum { FIXED = 6 };
    int64_t now_ns = latch_engine_now_ns(records->engine);
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
    parts[3] = bytes_of(count != NULL && count->payload != NULL ? "1" : "0");
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

latch_status latch_memory_count_down(latch_hash *records, latch_op *op)
{
    memory_count_down *count = (memory_count_down *) latch_memory_find_record(records, op, 'c');

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
            return latch_memory_answer_text(records, op, state_of(count));
    }
}
