/*
 * Who holds a lock, or which locks are held, and an end to that: requests about other holders,
 * which the server's scripts answer (redis/inspect.lua, evict.lua). A list is made of pages of
 * names, as SCAN finds them, and of one question for each name, some at a time. All of that is
 * asked on the store's connection among its other requests, and may be asked twice if that is lost.
 */
#include "../table.h"
#include "redis.h"

#include <stdlib.h>
#include <string.h>

/* So many locks are asked about in one round trip. */
#define BATCH 32
/* So many keys are looked at for a page of names. */
#define PAGE "512"
#define RECORD_KEY REDIS_OWN_KEYS "holder:"

/* A lock that is in the list: SCAN may name it again. */
typedef struct listed_name {
    latch_node node; /* its key is the finding's */
} listed_name;

/* op->state */
typedef struct inquiry {
    redis_store *store;
    bool as_text;               /* the server has forgotten the script */
    bool is_untyped;            /* SCAN has no TYPE before Redis 6 */
    char cursor[24];            /* SCAN's */
    redisReply *page;           /* what it has answered; NULL: it is to be asked */
    size_t at;                  /* the first name in it that was not asked about yet */
    redis_call *calls[BATCH];   /* of SCAN, or about one lock each, from `at` on */
    size_t sent_count, at_call; /* the first one that is not answered yet */
    latch_table listed;
    latch_finding *findings;
} inquiry;

bool latch_redis_is_inquiry(const latch_op *op)
{
    return op->request.kind == LATCH_INSPECT || op->request.kind == LATCH_LIST
           || op->request.kind == LATCH_EVICT;
}

static bool lists(const latch_op *op)
{
    return op->request.kind == LATCH_LIST;
}

/* ---- What is recorded of a holder -------------------------------------------------------------
 */

/* Digits; where they end, or NULL when there are none, or too many. */
static const char *read_digits(const char *at, const char *end, uint64_t *number)
{
    const char *begin = at;

    *number = 0;
    while (at < end && *at >= '0' && *at <= '9' && at - begin < 18) {
        *number = *number * 10 + (uint64_t) (*at++ - '0');
    }
    return at > begin && (at == end || *at == ' ') ? at : NULL;
}

static char *copy_text(char *to, const char *from, size_t length)
{
    for (size_t at = 0; at < length; at++) {
        to[at] = (unsigned char) from[at] < ' ' || from[at] == '\177' ? '?' : from[at];
    }
    to[length] = '\0';
    return to;
}

/* "SINCE HOST PID SCRIPT"; false when it is something else. */
static bool read_note(const latch_engine *engine, latch_finding *finding, const char *at,
                      const char *end, latch_holder **holder)
{
    uint64_t since_us, pid;
    const char *host, *host_end, *script;

    at = read_digits(at, end, &since_us);
    if (at == NULL || at == end) {
        return false;
    }
    host = at + 1;
    host_end = memchr(host, ' ', (size_t) (end - host));
    script = host_end != NULL ? read_digits(host_end + 1, end, &pid) : NULL;
    if (script == NULL || script == end) {
        return false;
    }
    script++;
    *holder =
        latch_finding_make_holder(engine, finding, (size_t) (host_end - host + 1 + (end - script)));
    if (*holder != NULL) {
        char *text = (*holder)->text;

        (*holder)->since_us = (int64_t) since_us;
        (*holder)->number = (int64_t) pid;
        (*holder)->host = copy_text(text, host, (size_t) (host_end - host));
        (*holder)->script =
            copy_text(text + (host_end - host) + 1, script, (size_t) (end - script));
    }
    return true;
}

bool latch_redis_read_record(const latch_engine *engine, latch_finding *finding, const char *text,
                             size_t length)
{
    const char *end = text + length, *at = text;
    latch_holder *holder = NULL;
    uint64_t fencing = 0;

    if (at < end && *at != ' ') {
        at = read_digits(at, end, &fencing);
    }
    if (at == NULL || at == end || !read_note(engine, finding, at + 1, end, &holder)) {
        holder = latch_finding_make_holder(engine, finding, 0);
    }
    if (holder != NULL) {
        holder->fencing_token = at != NULL ? fencing : 0;
    }
    return holder != NULL;
}

/* ---- Answers ----------------------------------------------------------------------------------
 */

static bool is_count(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_INTEGER && reply->integer >= 0;
}

/* {its identity, the ms until it ends, or -1, what is recorded of it, or nil} */
static bool is_holder(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_ARRAY && reply->elements == 3
           && reply->element[0]->type == REDIS_REPLY_STRING
           && reply->element[0]->len == LATCH_IDENTITY_LENGTH
           && strspn(reply->element[0]->str, "0123456789abcdef") == LATCH_IDENTITY_LENGTH
           && reply->element[1]->type == REDIS_REPLY_INTEGER
           && (reply->element[2]->type == REDIS_REPLY_STRING
               || reply->element[2]->type == REDIS_REPLY_NIL);
}

/* {2 for a writer, 1 for readers, how many hold, how many wait, {holder, ...}} */
static bool is_finding(const redisReply *reply)
{
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 4 || !is_count(reply->element[0])
        || reply->element[0]->integer < 1 || reply->element[0]->integer > 2
        || !is_count(reply->element[1]) || !is_count(reply->element[2])
        || reply->element[3]->type != REDIS_REPLY_ARRAY) {
        return false;
    }
    for (size_t at = 0; at < reply->element[3]->elements; at++) {
        if (!is_holder(reply->element[3]->element[at])) {
            return false;
        }
    }
    return true;
}

static bool add_holder(const latch_engine *engine, latch_finding *finding, const redisReply *reply)
{
    const redisReply *recorded = reply->element[2];
    bool is_ours = recorded->type == REDIS_REPLY_STRING;

    if (!latch_redis_read_record(engine, finding, is_ours ? recorded->str : "",
                                 is_ours ? recorded->len : 0)) {
        return false;
    }
    memcpy(finding->holders->identity, reply->element[0]->str, LATCH_IDENTITY_LENGTH + 1);
    if (reply->element[1]->integer >= 0) {
        finding->holders->left_ms = reply->element[1]->integer;
    }
    return true;
}

/* Notes it, unless it was listed before; false when memory ran out. */
static bool note_listed(inquiry *all, latch_op *op, const latch_finding *finding)
{
    listed_name *name;

    if (!lists(op)) {
        return true;
    }
    name = latch_allocate(all->store->store.engine, sizeof(*name));
    if (name == NULL) {
        return false;
    }
    name->node.key = finding->name;
    name->node.length = finding->name_length;
    if (!latch_table_add(&all->listed, &name->node)) {
        latch_free(all->store->store.engine, name);
        return false;
    }
    return true;
}

/* The resource that a call is about. */
static const char *name_of(const inquiry *all, const latch_op *op, size_t call, size_t *length)
{
    const redisReply *key;
    size_t before = all->store->options.prefix_length;

    if (!lists(op)) {
        *length = op->lease->resource_length;
        return op->lease->resource;
    }
    before += op->request.foreign ? 0 : sizeof(RECORD_KEY) - 1;
    key = all->page->element[1]->element[all->at + call];
    *length = key->len - before;
    return key->str + before;
}

static latch_status take_finding(inquiry *all, latch_op *op, const redisReply *reply)
{
    const latch_engine *engine = all->store->store.engine;
    bool is_free = reply->type == REDIS_REPLY_NIL;
    latch_finding *finding;
    const char *name;
    size_t length;

    if (!is_free && !is_finding(reply)) {
        return latch_redis_fail_confused(op);
    }
    name = name_of(all, op, all->at_call, &length);
    if (lists(op) && (is_free || latch_table_find(&all->listed, name, length) != NULL)) {
        return LATCH_DONE;
    }
    finding = latch_findings_add_named(engine, &all->findings, name, length, LATCH_FREE);
    if (finding == NULL || !note_listed(all, op, finding)) {
        return latch_fail_memory(op->error);
    }
    if (is_free) {
        return LATCH_DONE;
    }
    finding->mode = reply->element[0]->integer == 2 ? LATCH_EXCLUSIVE : LATCH_SHARED;
    finding->holder_count = (uint64_t) reply->element[1]->integer;
    finding->waiter_count = (uint64_t) reply->element[2]->integer;
    for (size_t at = reply->element[3]->elements; at > 0; at--) {
        if (!add_holder(engine, finding, reply->element[3]->element[at - 1])) {
            return latch_fail_memory(op->error);
        }
    }
    return LATCH_DONE;
}

/* {cursor, {key, ...}}, with keys that have what we have asked for. */
static bool is_page(const inquiry *all, const latch_op *op, const redisReply *reply)
{
    size_t least = all->store->options.prefix_length
                   + (op->request.foreign ? 0 : sizeof(RECORD_KEY) - 1);

    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2
        || reply->element[0]->type != REDIS_REPLY_STRING
        || reply->element[0]->len >= sizeof(all->cursor)
        || reply->element[1]->type != REDIS_REPLY_ARRAY) {
        return false;
    }
    for (size_t at = 0; at < reply->element[1]->elements; at++) {
        const redisReply *key = reply->element[1]->element[at];

        if (key->type != REDIS_REPLY_STRING || key->len < least) {
            return false;
        }
    }
    return true;
}

static latch_status take_page(inquiry *all, latch_op *op, redis_call *call)
{
    if (!is_page(all, op, call->reply)) {
        return latch_redis_fail_confused(op);
    }
    memcpy(all->cursor, call->reply->element[0]->str, call->reply->element[0]->len + 1);
    all->page = call->reply;
    call->reply = NULL;
    return LATCH_DONE;
}

static latch_status take_error(inquiry *all, latch_op *op, const char *text)
{
    if (strncmp(text, "NOSCRIPT", 8) == 0 && !all->as_text) {
        all->as_text = true;
        return REDIS_AGAIN;
    }
    if (lists(op) && all->page == NULL && strstr(text, "syntax error") != NULL
        && !all->is_untyped) {
        all->is_untyped = true;
        return REDIS_AGAIN;
    }
    return latch_redis_fail_with_reply(op, text);
}

/* Takes the answer of a call. REDIS_AGAIN: it is to be sent in another way. */
static latch_status take_answer(inquiry *all, latch_op *op, redis_call *call)
{
    if (call->reply->type == REDIS_REPLY_ERROR) {
        return take_error(all, op, call->reply->str);
    }
    if (lists(op) && all->page == NULL) {
        return take_page(all, op, call);
    }
    if (op->request.kind != LATCH_EVICT) {
        return take_finding(all, op, call->reply);
    }
    if (!is_count(call->reply)) {
        return latch_redis_fail_confused(op);
    }
    *op->request.evicted_count = (uint64_t) call->reply->integer;
    return LATCH_DONE;
}

/* ---- Questions --------------------------------------------------------------------------------
 */

/* "PREFIXlatch:holder:*", where the prefix stands for itself. NULL: memory ran out. */
static char *make_pattern(const inquiry *all, const latch_op *op)
{
    const redis_options *options = &all->store->options;
    char *pattern = latch_allocate(all->store->store.engine,
                                   2 * options->prefix_length + sizeof(RECORD_KEY "*"));
    char *at = pattern;

    if (pattern == NULL) {
        return NULL;
    }
    for (size_t byte = 0; byte < options->prefix_length; byte++) {
        if (memchr("*?[]^\\", options->prefix[byte], 6) != NULL) {
            *at++ = '\\';
        }
        *at++ = options->prefix[byte];
    }
    strcpy(at, op->request.foreign ? "*" : RECORD_KEY "*");
    return pattern;
}

static redis_call *send_scan(inquiry *all, const latch_op *op, int64_t now_ns)
{
    redis_command command = {.count = 0};
    char *pattern = make_pattern(all, op);
    redis_call *call = NULL;

    if (pattern == NULL) {
        return NULL;
    }
    latch_redis_add_text(&command, "SCAN");
    latch_redis_add_text(&command, all->cursor);
    latch_redis_add_text(&command, "MATCH");
    latch_redis_add(&command, pattern, strlen(pattern));
    latch_redis_add_text(&command, "COUNT");
    latch_redis_add_text(&command, PAGE);
    if (!all->is_untyped) {
        latch_redis_add_text(&command, "TYPE");
        latch_redis_add_text(&command, op->request.foreign ? "zset" : "hash");
    }
    call = latch_redis_send(&all->store->connection, &command, now_ns);
    latch_free(all->store->store.engine, pattern);
    return call;
}

static redis_call *send_question(inquiry *all, const latch_op *op, size_t number, int64_t now_ns)
{
    bool evicts = op->request.kind == LATCH_EVICT;
    redis_target target = {.token = evicts ? op->request.evicted : lists(op) ? "list" : ""};
    const redis_order order = {
        .id = evicts ? REDIS_EVICT : REDIS_INSPECT,
        .as_text = all->as_text || number == 0, /* the others know it by that */
    };

    target.resource = name_of(all, op, number, &target.length);
    return latch_redis_send_script(all->store, &order, &target, now_ns);
}

/* How many calls are to be sent next. */
static size_t count_next(const inquiry *all, const latch_op *op)
{
    size_t left;

    if (!lists(op) || all->page == NULL) {
        return 1;
    }
    left = all->page->element[1]->elements - all->at;
    return left < BATCH ? left : BATCH;
}

static latch_status send_next(inquiry *all, latch_op *op, int64_t now_ns)
{
    latch_status status = latch_redis_connect(&all->store->connection, op, now_ns);
    size_t count;

    if (status != LATCH_DONE) {
        return status;
    }
    latch_redis_pay(all->store, NULL, now_ns);
    count = count_next(all, op);
    for (; all->sent_count < count; all->sent_count++) {
        redis_call *call = lists(op) && all->page == NULL
                               ? send_scan(all, op, now_ns)
                               : send_question(all, op, all->sent_count, now_ns);

        if (call == NULL) {
            return latch_fail_memory(op->error);
        }
        all->calls[all->sent_count] = call;
    }
    op->sent_ns = now_ns;
    return LATCH_DONE;
}

/* ---- From begin to end ------------------------------------------------------------------------
 */

/* Those that were answered are done with; the others, if they are to be, are sent anew. */
static void end_calls(inquiry *all)
{
    for (size_t at = all->at_call; at < all->sent_count; at++) {
        latch_redis_call_free(&all->store->connection, all->calls[at]);
    }
    all->at += all->at_call;
    all->sent_count = all->at_call = 0;
}

/* Takes the answers that have come. REDIS_AGAIN: there is more to ask. */
static latch_status read_answers(inquiry *all, latch_op *op, int64_t now_ns)
{
    bool was_scan = lists(op) && all->page == NULL;
    latch_status status = LATCH_DONE;

    if (all->at_call < all->sent_count && all->calls[all->at_call]->state == REDIS_UNANSWERED) {
        latch_redis_receive(&all->store->connection);
    }
    while (status == LATCH_DONE && all->at_call < all->sent_count) {
        redis_call *call = all->calls[all->at_call];

        if (call->state == REDIS_UNANSWERED && now_ns < call->deadline_ns) {
            return latch_redis_want(&all->store->connection, call->deadline_ns, op);
        }
        if (call->state == REDIS_ANSWERED) {
            latch_redis_note_answer(all->store, now_ns);
            status = take_answer(all, op, call);
        } else if (call->state == REDIS_UNANSWERED) {
            status = latch_redis_fail_overdue(op);
        } else {
            status = latch_redis_count_loss(op) ? REDIS_AGAIN : latch_redis_fail_lost(op);
        }
        if (status == LATCH_DONE) {
            latch_redis_call_free(&all->store->connection, call);
            all->at_call++;
        }
    }
    end_calls(all);
    if (was_scan && status == LATCH_DONE) {
        all->at = 0; /* of the page that has come */
    }
    if (!lists(op) || status != LATCH_DONE) {
        return status;
    }
    if (all->at == all->page->element[1]->elements) {
        freeReplyObject(all->page);
        all->page = NULL;
        return strcmp(all->cursor, "0") == 0 ? LATCH_DONE : REDIS_AGAIN;
    }
    return REDIS_AGAIN;
}

static latch_status begin(latch_op *op)
{
    redis_store *store = latch_redis_store_of(op);
    inquiry *all = latch_allocate(store->store.engine, sizeof(*all));

    if (all == NULL) {
        return latch_fail_memory(op->error);
    }
    *all = (inquiry){.store = store, .cursor = "0"};
    if (latch_table_init(&all->listed, store->store.engine, op->error) != LATCH_DONE) {
        latch_free(store->store.engine, all);
        return op->error->status;
    }
    store->connection.inspections++;
    op->state = all;
    return LATCH_DONE;
}

void latch_redis_inquiry_end(latch_op *op)
{
    inquiry *all = op->state;
    latch_engine *engine = all->store->store.engine;

    end_calls(all);
    for (latch_node *node = latch_table_take_all(&all->listed), *next; node != NULL; node = next) {
        next = node->next;
        latch_free(engine, LATCH_CONTAINER(node, listed_name, node));
    }
    latch_table_end(&all->listed);
    latch_findings_free(engine, all->findings);
    if (all->page != NULL) {
        freeReplyObject(all->page);
    }
    all->store->connection.inspections--;
    latch_free(engine, all);
    op->state = NULL;
}

latch_status latch_redis_inquire(latch_op *op, int64_t now_ns)
{
    latch_status status = op->state == NULL ? begin(op) : LATCH_DONE;
    inquiry *all = op->state;

    if (status != LATCH_DONE) {
        return status;
    }
    do {
        status = all->sent_count == 0 ? send_next(all, op, now_ns) : LATCH_DONE;
        if (status == LATCH_DONE) {
            status = read_answers(all, op, now_ns);
        }
    } while (status == REDIS_AGAIN);
    if (LATCH_WANTS(status)) {
        return status;
    }
    if (LATCH_FAILED(status)) {
        latch_redis_note_silence(op, now_ns);
    }
    if (status == LATCH_DONE && op->request.kind != LATCH_EVICT) {
        *op->request.findings = all->findings;
        all->findings = NULL;
    }
    latch_redis_inquiry_end(op);
    return status;
}
