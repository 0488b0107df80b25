/* Sequences: as src/store/redis/script/lua/calls/sequence.lua has them in Redis. */
#include "src/store/local/memory_calls.h"

#include "src/base/list.h"

typedef struct sequence_entry {
    latch_link link; /* in the order of tickets */
    int64_t ticket;
    latch_bytes id, payload; /* owned; a payload of NULL: not parked */
} sequence_entry;

/* Servers count tickets in floating point. */
#define TICKET_MAX (INT64_C(1) << 53)
/* 12 days: an average can be multiplied by a number of entries. */
#define AVERAGE_MAX_US (INT64_C(1) << 40)

/* Times of a lease are by the records' clock; a ticket is the wall clock's, in microseconds. */
typedef struct memory_sequence {
    memory_record record;
    latch_link entries; /* those that have ended, the head, those behind it */
    int64_t at;         /* all tickets up to this one have ended; the head is the first after it */
    latch_bytes owner;  /* of the head, owned; a text of NULL: none */
    int64_t until_ns, begun_ns; /* of the owner's lease */
    int64_t seen_ns;            /* the head's last sign of life */
    int64_t average_us;
} memory_sequence;

static sequence_entry *entry_of(const latch_link *link)
{
    return LATCH_CONTAINER(link, sequence_entry, link);
}

static latch_link *entries_of(memory_sequence *sequence)
{
    if (sequence->entries.next == NULL) { /* zeroed */
        latch_list_init(&sequence->entries);
    }
    return &sequence->entries;
}

/* ---- Life ----------------------------------------------------------------------------------- */

static void drop_entry(const latch_engine *engine, sequence_entry *entry)
{
    latch_list_remove(&entry->link);
    latch_memory_free(engine, &entry->id);
    latch_memory_free(engine, &entry->payload);
    latch_free(engine, entry);
}

static void clear_sequence(const latch_engine *engine, memory_record *record)
{
    memory_sequence *sequence = (memory_sequence *) record;
    latch_link *entries = entries_of(sequence);

    while (entries->next != entries) {
        drop_entry(engine, entry_of(entries->next));
    }
    latch_memory_free(engine, &sequence->owner);
}

static void list_entry_fields(memory_fields *fields, sequence_entry *entry)
{
    latch_memory_field_number(fields, &entry->ticket);
    latch_memory_field_text(fields, &entry->id);
    latch_memory_field_text(fields, &entry->payload);
}

static void list_sequence_fields(memory_fields *fields, memory_record *record)
{
    memory_sequence *sequence = (memory_sequence *) record;
    latch_link *entries = entries_of(sequence); /* none while it is being read */
    int64_t count = 0, newest = 0;

    latch_memory_field_number(fields, &sequence->at);
    latch_memory_field_check(fields, sequence->at >= 0 && sequence->at < TICKET_MAX);
    latch_memory_field_text(fields, &sequence->owner);
    latch_memory_field_time(fields, &sequence->until_ns);
    latch_memory_field_time(fields, &sequence->begun_ns);
    latch_memory_field_time(fields, &sequence->seen_ns);
    latch_memory_field_number(fields, &sequence->average_us);
    latch_memory_field_check(fields,
                             sequence->average_us >= 0 && sequence->average_us <= AVERAGE_MAX_US);
    for (const latch_link *link = entries->next; link != entries; link = link->next) {
        count++;
    }
    latch_memory_field_number(fields, &count);
    for (const latch_link *link = entries->next; link != entries; link = link->next) {
        list_entry_fields(fields, entry_of(link));
    }
    while (count > 0 && latch_memory_fields_are_read(fields)) {
        sequence_entry *entry = latch_memory_field_allocate(fields, sizeof(*entry));

        if (entry != NULL) {
            *entry = (sequence_entry){.ticket = 0};
            latch_list_append(entries, &entry->link);
            list_entry_fields(fields, entry);
            latch_memory_field_check(fields, entry->ticket > newest && entry->ticket < TICKET_MAX
                                                 && entry->id.text != NULL);
            newest = entry->ticket;
            count--;
        }
    }
}

static void keep_sequence(const memory_records *records, const latch_op *op,
                          memory_sequence *sequence)
{
    latch_memory_keep_record(records, &sequence->record, latch_memory_number(op->request.call, 0));
}

/* ---- Entries -------------------------------------------------------------------------------- */

/* The entry whose turn it is; NULL: there is none. */
static sequence_entry *sequence_head(const memory_sequence *sequence)
{
    for (latch_link *link = sequence->entries.next; link != &sequence->entries; link = link->next) {
        if (entry_of(link)->ticket > sequence->at) {
            return entry_of(link);
        }
    }
    return NULL;
}

static sequence_entry *find_ticket(const memory_sequence *sequence, int64_t ticket)
{
    for (latch_link *link = sequence->entries.next; link != &sequence->entries; link = link->next) {
        if (entry_of(link)->ticket == ticket) {
            return entry_of(link);
        }
    }
    return NULL;
}

static sequence_entry *find_id(const memory_sequence *sequence, latch_bytes id)
{
    for (latch_link *link = sequence->entries.next; link != &sequence->entries; link = link->next) {
        if (latch_memory_is_same(entry_of(link)->id, id)) {
            return entry_of(link);
        }
    }
    return NULL;
}

/* Number of entries whose tickets are above the one and below the other. */
static int64_t count_between(const memory_sequence *sequence, int64_t above, int64_t below)
{
    int64_t count = 0;

    for (latch_link *link = sequence->entries.next; link != &sequence->entries; link = link->next) {
        count += entry_of(link)->ticket > above && entry_of(link)->ticket < below;
    }
    return count;
}

/* NULL when memory ran out. */
static sequence_entry *add_entry(const latch_engine *engine, memory_sequence *sequence,
                                 latch_bytes id, const latch_bytes *payload)
{
    latch_link *entries = entries_of(sequence);
    sequence_entry *entry = latch_allocate(engine, sizeof(*entry));
    int64_t newest = sequence->at;

    if (entry == NULL) {
        return NULL;
    }
    if (entries->previous != entries && entry_of(entries->previous)->ticket > newest) {
        newest = entry_of(entries->previous)->ticket;
    }
    *entry = (sequence_entry){
        .ticket = latch_engine_wall_ns(engine) / 1000,
        .id = latch_memory_copy(engine, id),
    };
    if (entry->ticket <= newest) {
        entry->ticket = newest + 1;
    }
    if (payload != NULL) {
        entry->payload = latch_memory_copy(engine, *payload);
    }
    latch_list_append(entries, &entry->link);
    if (entry->id.text == NULL || (payload != NULL && entry->payload.text == NULL)) {
        drop_entry(engine, entry);
        return NULL;
    }
    return entry;
}

/* The entry behind the head is the head; the old one has ended, or is dropped, as abandoned. */
static void end_head(const memory_records *records, memory_sequence *sequence, bool is_abandoned)
{
    sequence_entry *old = sequence_head(sequence);

    sequence->at = old->ticket;
    latch_memory_free(records->engine, &sequence->owner);
    sequence->seen_ns = records->now_ns(records->engine);
    if (is_abandoned) {
        drop_entry(records->engine, old);
        return;
    }
    latch_memory_free(records->engine, &old->payload);
    if (count_between(sequence, INT64_MIN, sequence->at + 1) > LATCH_TICKETS_MAX) {
        drop_entry(records->engine, entry_of(sequence->entries.next));
    }
}

/* ---- The head's owner ----------------------------------------------------------------------- */

static bool is_owner(const memory_sequence *sequence, latch_bytes owner)
{
    return sequence->owner.text != NULL && latch_memory_is_same(sequence->owner, owner);
}

static bool is_free_for(const memory_records *records, const memory_sequence *sequence,
                        latch_bytes caller)
{
    return sequence->owner.text == NULL || is_owner(sequence, caller)
           || sequence->until_ns <= records->now_ns(records->engine);
}

/* False when memory ran out. */
static bool lease_head(const memory_records *records, const latch_op *op, memory_sequence *sequence,
                       latch_bytes owner)
{
    int64_t now_ns = records->now_ns(records->engine);

    if (!is_owner(sequence, owner)) {
        latch_bytes copy = latch_memory_copy(records->engine, owner);

        if (copy.text == NULL) {
            return false;
        }
        latch_memory_free(records->engine, &sequence->owner);
        sequence->owner = copy;
        sequence->begun_ns = now_ns;
    }
    sequence->until_ns =
        latch_add_ns(now_ns, latch_ms_to_ns(latch_memory_number(op->request.call, 3)));
    sequence->seen_ns = now_ns;
    keep_sequence(records, op, sequence);
    return true;
}

static int64_t lease_left_us(const memory_records *records, const memory_sequence *sequence)
{
    int64_t left_ns = sequence->until_ns - records->now_ns(records->engine);

    return sequence->owner.text != NULL && left_ns > 0 ? left_ns / 1000 : 0;
}

/* Hands a parked head out to the caller: {ticket, payload}, or {}. */
static latch_status hand_out(memory_records *records, latch_op *op, memory_sequence *sequence,
                             latch_bytes owner)
{
    const sequence_entry *head = sequence_head(sequence);
    latch_bytes parts[2];
    char ticket[24];

    if (head == NULL || head->payload.text == NULL || !is_free_for(records, sequence, owner)) {
        return latch_memory_answer(records, op, 0, NULL);
    }
    if (!lease_head(records, op, sequence, owner)) {
        return latch_fail_memory(op->error);
    }
    parts[0] = latch_memory_digits(ticket, head->ticket);
    parts[1] = head->payload;
    return latch_memory_answer(records, op, 2, parts);
}

/* ---- Functions ------------------------------------------------------------------------------ */

static latch_status enter(memory_records *records, latch_op *op, memory_sequence *sequence)
{
    const latch_call *call = op->request.call;
    const sequence_entry *entry = find_id(sequence, call->arguments[1]);
    latch_bytes parts[2];
    char ticket[24];

    if (entry == NULL) {
        bool is_first = sequence_head(sequence) == NULL;

        entry = add_entry(records->engine, sequence, call->arguments[1],
                          call->count > 2 && !is_first ? &call->arguments[2] : NULL);
        if (entry == NULL) {
            return latch_fail_memory(op->error);
        }
        if (is_first) {
            sequence->seen_ns = records->now_ns(records->engine);
        }
        keep_sequence(records, op, sequence);
    }
    parts[0] = latch_memory_digits(ticket, entry->ticket);
    parts[1] = latch_memory_bytes(
        entry == sequence_head(sequence) && entry->payload.text == NULL ? "1" : "0");
    return latch_memory_answer(records, op, 2, parts);
}

static latch_status answer_turn(const memory_records *records, latch_op *op, const char *turn,
                                int64_t retry_us)
{
    char digits[24];
    const latch_bytes parts[2] = {latch_memory_bytes(turn), latch_memory_digits(digits, retry_us)};

    return latch_memory_answer(records, op, 2, parts);
}

static latch_status resume(memory_records *records, latch_op *op, memory_sequence *sequence)
{
    const latch_call *call = op->request.call;
    latch_bytes owner = call->arguments[2];
    const sequence_entry *entry = find_ticket(sequence, latch_memory_number(call, 1));
    const sequence_entry *head = sequence_head(sequence);
    bool is_held = !is_free_for(records, sequence, owner);

    if (entry == NULL) {
        return answer_turn(records, op, "late", 0);
    }
    if (entry == head && !is_held) {
        return lease_head(records, op, sequence, owner) ? answer_turn(records, op, "go", 0)
                                                        : latch_fail_memory(op->error);
    }
    if (entry != head && entry->ticket > sequence->at) {
        int64_t average_us = sequence->average_us > 0 ? sequence->average_us : LATCH_AVERAGE_US;

        return answer_turn(records, op, "held",
                           count_between(sequence, sequence->at, entry->ticket) * average_us);
    }
    is_held = is_held && (entry == head || (head != NULL && head->payload.text != NULL));
    return answer_turn(records, op, entry == head ? "held" : "done",
                       is_held ? lease_left_us(records, sequence) : 0);
}

static latch_status next(memory_records *records, latch_op *op, memory_sequence *sequence)
{
    const latch_call *call = op->request.call;
    latch_bytes owner = call->arguments[2];
    int64_t ticket = latch_memory_number(call, 1);
    const sequence_entry *head = sequence_head(sequence);

    if (head != NULL && head->ticket == ticket && is_free_for(records, sequence, owner)) {
        if (is_owner(sequence, owner)) {
            int64_t took_us = (records->now_ns(records->engine) - sequence->begun_ns) / 1000;

            took_us = sequence->average_us > 0 ? (3 * sequence->average_us + took_us) / 4 : took_us;
            took_us = took_us > 0 ? took_us : 1;
            sequence->average_us = took_us < AVERAGE_MAX_US ? took_us : AVERAGE_MAX_US;
        }
        end_head(records, sequence, false);
        keep_sequence(records, op, sequence);
        head = sequence_head(sequence);
    }
    return head != NULL && ticket < head->ticket ? hand_out(records, op, sequence, owner)
                                                 : latch_memory_answer(records, op, 0, NULL);
}

static latch_status put_back(memory_records *records, latch_op *op, memory_sequence *sequence)
{
    const latch_call *call = op->request.call;
    sequence_entry *head = sequence_head(sequence);

    if (head != NULL && head->ticket == latch_memory_number(call, 1)
        && is_owner(sequence, call->arguments[2])) {
        latch_memory_free(records->engine, &head->payload);
        latch_memory_free(records->engine, &sequence->owner);
        sequence->seen_ns = records->now_ns(records->engine);
        keep_sequence(records, op, sequence);
    }
    return latch_memory_answer(records, op, 0, NULL);
}

static latch_status abandon(memory_records *records, latch_op *op, memory_sequence *sequence)
{
    const latch_call *call = op->request.call;
    const sequence_entry *head = sequence_head(sequence);

    if (head == NULL || lease_left_us(records, sequence) > 0
        || latch_add_ns(sequence->seen_ns, latch_ms_to_ns(latch_memory_number(call, 1)))
               > records->now_ns(records->engine)) {
        return latch_memory_answer(records, op, 0, NULL);
    }
    if (head->payload.text == NULL) {
        end_head(records, sequence, true);
    }
    keep_sequence(records, op, sequence);
    return hand_out(records, op, sequence, call->arguments[2]);
}

static latch_status inspect_sequence(const memory_records *records, latch_op *op,
                                     const memory_sequence *sequence)
{
    const sequence_entry *head = sequence_head(sequence);
    int64_t idle_ns = records->now_ns(records->engine) - sequence->seen_ns;
    char numbers[5][24];
    const latch_bytes parts[6] = {
        head != NULL ? latch_memory_digits(numbers[0], head->ticket) : latch_memory_bytes(""),
        latch_memory_bytes(head != NULL && head->payload.text != NULL ? "1" : "0"),
        latch_memory_digits(numbers[1], head != NULL ? lease_left_us(records, sequence) : 0),
        latch_memory_digits(numbers[2], head != NULL ? idle_ns / 1000 : 0),
        latch_memory_digits(numbers[3],
                            head != NULL ? count_between(sequence, head->ticket, INT64_MAX) : 0),
        latch_memory_digits(numbers[4], sequence->average_us),
    };

    return latch_memory_answer(records, op, 6, parts);
}

/* Nothing is known of it. */
static latch_status answer_unknown(memory_records *records, latch_op *op)
{
    static const latch_bytes none[] = {{"", 0}, {"0", 1}, {"0", 1}, {"0", 1}, {"0", 1}, {"0", 1}};

    switch (op->request.call->function) {
        case LATCH_SEQUENCE_RESUME:
            return answer_turn(records, op, "late", 0);
        case LATCH_SEQUENCE_INSPECT:
            return latch_memory_answer(records, op, 6, none);
        default:
            return latch_memory_answer(records, op, 0, NULL);
    }
}

static latch_status call_sequence(memory_records *records, latch_op *op)
{
    latch_function function = op->request.call->function;
    memory_sequence *sequence =
        (memory_sequence *) latch_memory_find_record(records, op, &latch_memory_sequence);

    if (sequence == NULL && function != LATCH_SEQUENCE_ENTER) {
        return answer_unknown(records, op);
    }
    if (sequence == NULL) {
        sequence =
            (memory_sequence *) latch_memory_make_record(records, op, &latch_memory_sequence);
        if (sequence == NULL) {
            return latch_fail_memory(op->error);
        }
        entries_of(sequence);
        keep_sequence(records, op, sequence);
    }
    switch (function) {
        case LATCH_SEQUENCE_ENTER:
            return enter(records, op, sequence);
        case LATCH_SEQUENCE_RESUME:
            return resume(records, op, sequence);
        case LATCH_SEQUENCE_NEXT:
            return next(records, op, sequence);
        case LATCH_SEQUENCE_PUT_BACK:
            return put_back(records, op, sequence);
        case LATCH_SEQUENCE_ABANDON:
            return abandon(records, op, sequence);
        default:
            return inspect_sequence(records, op, sequence);
    }
}

const memory_kind latch_memory_sequence = {
    .name = "sequence",
    .size = sizeof(memory_sequence),
    .clear = clear_sequence,
    .list_fields = list_sequence_fields,
    .call = call_sequence,
};
