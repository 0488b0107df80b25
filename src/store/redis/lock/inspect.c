/*
 * Inspection, list and eviction: requests about other holders, which scripts answer (inspect.lua,
 * permit_inspect.lua, evict.lua). A list is made of pages of names (SCAN), and of one script per
 * name, in batches. All commands go on the store's connection among its other requests, and are
 * sent once more if they are lost.
 */
#include "src/base/hash.h"
#include "src/store/redis/lock/redis.h"
#include "src/store/redis/script/report.h"
#include "src/store/redis/topology/breaker.h"
#include "src/store/redis/topology/cluster.h"

#include <stdlib.h>
#include <string.h>

/* Locks per round trip. */
#define BATCH 32
/* COUNT of SCAN. */
#define PAGE "512"
/* Beginning of companion keys, as SCAN matches it; in a cluster they have a tag of four letters. */
#define OWN_KEY REDIS_OWN_KEYS
#define TAGGED_KEY REDIS_OWN_KEYS "{????}:"
/* Restarts of a list, when slots were moved between nodes meanwhile. */
#define RESTARTS_MAX 5
#define RESTART_PAUSE_NS (50 * LATCH_NS_PER_MS)

/* Lock, or semaphore, in the list: SCAN may name it again. */
typedef struct listed_name {
    latch_hash_node node; /* its key is the report's */
} listed_name;

/* op->state */
typedef struct inspection {
    redis_store *store;
    char *permit_name;          /* of a semaphore, in Redis */
    redis_route route;          /* the server; a list goes to all servers, one after the other */
    redis_node *asked;          /* server whose replies are awaited; or NULL */
    bool is_mapped;             /* a list in a cluster: its servers are known */
    uint8_t restarts;           /* restarts of a list, as slots were moved meanwhile */
    bool as_text;               /* the server has forgotten the script */
    bool is_untyped;            /* SCAN has no TYPE before Redis 6 */
    char cursor[24];            /* SCAN's */
    redisReply *page;           /* reply of SCAN; NULL: send SCAN */
    size_t at;                  /* index of the first name that has not been sent */
    redis_call *calls[BATCH];   /* SCAN's, or one for each lock from `at` on */
    size_t sent_count, at_call; /* the first one that is not answered yet */
    latch_hash listed;
    latch_lock_report *reports;
} inspection;

static bool is_listing(const latch_op *op)
{
    return op->request.kind == LATCH_LIST;
}

/* Does the list look for keys of peers? */
static bool lists_peers(const latch_op *op)
{
    return op->request.include_peer_locks
           && latch_redis_layout_of(op->lease)->listed_type_of_peers != NULL;
}

/* Texts around the resource in the keys that the list looks for: holders' records, or peers' keys.
 */
static const char *const *texts_around(const latch_op *op)
{
    const redis_layout *layout = latch_redis_layout_of(op->lease);

    return lists_peers(op) ? layout->listed_of_peers : layout->listed;
}

/* The beginning of these keys, between the prefix and those texts. */
static const char *beginning(const inspection *all, const latch_op *op)
{
    return lists_peers(op) ? "" : all->store->keys.is_tagged ? TAGGED_KEY : OWN_KEY;
}

/* Length before the resource in listed names. */
static size_t length_before(const inspection *all, const latch_op *op)
{
    return all->store->options.prefix_length + strlen(beginning(all, op))
           + strlen(texts_around(op)[0]);
}

/* ---- Answers -------------------------------------------------------------------------------- */

/* Records a listed lock; false when memory ran out. */
static bool record_listed(inspection *all, latch_op *op, const latch_lock_report *report)
{
    listed_name *name;

    if (!is_listing(op)) {
        return true;
    }
    name = latch_allocate(all->store->store.engine, sizeof(*name));
    if (name == NULL) {
        return false;
    }
    name->node.key = report->name;
    name->node.length = report->name_length;
    if (!latch_hash_add(&all->listed, &name->node)) {
        latch_free(all->store->store.engine, name);
        return false;
    }
    return true;
}

/* Resource of a call; a listed semaphore's has braces around it. */
static const char *name_of(const inspection *all, const latch_op *op, size_t call, size_t *length)
{
    const redisReply *key;
    size_t before = length_before(all, op);

    if (!is_listing(op)) {
        *length = op->lease->resource_length;
        return op->lease->resource;
    }
    key = all->page->element[1]->element[all->at + call];
    *length = key->len - before - strlen(texts_around(op)[1]);
    return key->str + before;
}

static latch_status apply_report(inspection *all, latch_op *op, const redisReply *reply)
{
    const latch_engine *engine = all->store->store.engine;
    bool is_free = reply->type == REDIS_REPLY_NIL;
    latch_lock_report *report;
    const char *name;
    size_t length;

    if (!is_free && !latch_redis_is_report(reply, op->lease->is_permit)) {
        return latch_redis_fail_protocol_error(op, all->route.node);
    }
    name = name_of(all, op, all->at_call, &length);
    if (is_listing(op) && (is_free || latch_hash_find(&all->listed, name, length) != NULL)) {
        return LATCH_DONE;
    }
    report = latch_lock_reports_add_named(engine, &all->reports, name, length, LATCH_FREE);
    if (report == NULL || !record_listed(all, op, report)) {
        return latch_fail_memory(op->error);
    }
    return is_free || latch_redis_read_report(engine, report, reply, op->lease->is_permit)
               ? LATCH_DONE
               : latch_fail_memory(op->error);
}

/* The owner; nil: nobody, or somebody in another layout. */
static latch_status apply_owner(inspection *all, latch_op *op, const redisReply *reply)
{
    const latch_engine *engine = all->store->store.engine;
    const latch_lease *lease = op->lease;
    latch_lock_report *report;
    latch_holder *holder;

    if (reply->type != REDIS_REPLY_NIL && reply->type != REDIS_REPLY_STRING) {
        return latch_redis_fail_protocol_error(op, all->route.node);
    }
    report = latch_lock_reports_add_named(engine, &all->reports, lease->resource,
                                          lease->resource_length, LATCH_FREE);
    if (report == NULL || reply->type == REDIS_REPLY_NIL) {
        return report != NULL ? LATCH_DONE : latch_fail_memory(op->error);
    }
    holder = latch_lock_report_make_holder(engine, report, reply->len);
    if (holder == NULL) {
        return latch_fail_memory(op->error);
    }
    report->mode = LATCH_EXCLUSIVE;
    memcpy(holder->text, reply->str, reply->len);
    holder->owner = holder->text;
    holder->owner_length = reply->len;
    return LATCH_DONE;
}

/* {cursor, {key, ...}}, with keys that have what we have asked for. */
static bool is_page(const inspection *all, const latch_op *op, const redisReply *reply)
{
    size_t least = length_before(all, op) + strlen(texts_around(op)[1]);

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

static latch_status apply_page(inspection *all, latch_op *op, redis_call *call)
{
    if (!is_page(all, op, call->reply)) {
        return latch_redis_fail_protocol_error(op, all->route.node);
    }
    memcpy(all->cursor, call->reply->element[0]->str, call->reply->element[0]->len + 1);
    all->page = call->reply;
    call->reply = NULL;
    return LATCH_DONE;
}

/* Restarts the list after a pause: locks found so far are known by name. */
static void restart_list(inspection *all, int64_t now_ns)
{
    all->restarts++;
    all->is_mapped = false;
    strcpy(all->cursor, "0");
    if (all->page != NULL) {
        freeReplyObject(all->page);
        all->page = NULL;
    }
    all->route = (redis_route){.node = all->route.node,
                               .since_ns = now_ns,
                               .retry_ns = now_ns + all->restarts * RESTART_PAUSE_NS};
}

static latch_status apply_inspection_error(inspection *all, latch_op *op, const char *text,
                                           int64_t now_ns)
{
    if (!is_listing(op) && latch_redis_route_redirect(&all->route, op, text, now_ns)) {
        return LATCH_AGAIN;
    }
    if (is_listing(op) && latch_redis_apply_redirect(all->route.node, text)
        && all->restarts < RESTARTS_MAX) {
        restart_list(all, now_ns);
        return LATCH_AGAIN;
    }
    if (latch_redis_is_noscript_error(text) && !all->as_text) {
        all->as_text = true;
        return LATCH_AGAIN;
    }
    if (is_listing(op) && all->page == NULL && strstr(text, "syntax error") != NULL
        && !all->is_untyped) {
        all->is_untyped = true;
        return LATCH_AGAIN;
    }
    return latch_redis_fail_with_reply(op, all->route.node, text);
}

/* Advances to the next node with slots. False: that was the last one. */
static bool go_to_next_server(inspection *all)
{
    redis_node *node = all->is_mapped ? all->route.node : NULL;

    if (all->store->topology.cluster == NULL) {
        return false;
    }
    do {
        node = latch_redis_next_node(&all->store->topology, node);
    } while (node != NULL && !latch_redis_owns_slots(node));
    if (node != NULL) {
        all->route.node = node;
    }
    return node != NULL;
}

/* Slot map needed before the list? */
static bool is_map_due(const inspection *all, const latch_op *op)
{
    return is_listing(op) && all->store->topology.cluster != NULL && !all->is_mapped;
}

static latch_status apply_map(inspection *all, latch_op *op, const redisReply *reply)
{
    if (!latch_redis_apply_slot_map(all->route.node, reply) || !go_to_next_server(all)) {
        return latch_redis_fail_protocol_error(op, all->route.node);
    }
    all->is_mapped = true;
    return LATCH_DONE;
}

/* Applies a reply. LATCH_AGAIN: send it in another form. */
static latch_status apply_answer(inspection *all, latch_op *op, redis_call *call, int64_t now_ns)
{
    if (call->reply->type == REDIS_REPLY_ERROR) {
        return apply_inspection_error(all, op, call->reply->str, now_ns);
    }
    if (is_map_due(all, op)) {
        return apply_map(all, op, call->reply);
    }
    if (is_listing(op) && all->page == NULL) {
        return apply_page(all, op, call);
    }
    if (op->request.kind != LATCH_EVICT) {
        return op->request.ask_owner ? apply_owner(all, op, call->reply)
                                     : apply_report(all, op, call->reply);
    }
    if (call->reply->type != REDIS_REPLY_INTEGER || call->reply->integer < 0) {
        return latch_redis_fail_protocol_error(op, all->route.node);
    }
    *op->request.evicted_count = (uint64_t) call->reply->integer;
    return LATCH_DONE;
}

/* ---- Questions --------------------------------------------------------------------------------
 */

/* "PREFIXlatch:holder:*" and the like, where the prefix stands for itself. NULL: memory ran out. */
static char *make_pattern(const inspection *all, const latch_op *op)
{
    const redis_options *options = &all->store->options;
    const char *const *around = texts_around(op);
    char *pattern = latch_allocate(all->store->store.engine,
                                   2 * options->prefix_length + strlen(beginning(all, op))
                                       + strlen(around[0]) + strlen(around[1]) + sizeof("*"));
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
    at = stpcpy(stpcpy(at, beginning(all, op)), around[0]);
    strcpy(stpcpy(at, "*"), around[1]);
    return pattern;
}

static redis_call *send_scan(inspection *all, const latch_op *op, int64_t now_ns)
{
    const redis_layout *layout = latch_redis_layout_of(op->lease);
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
        latch_redis_add_text(&command,
                             lists_peers(op) ? layout->listed_type_of_peers : layout->listed_type);
    }
    call = latch_redis_send(&all->route.node->connection, &command, now_ns);
    latch_free(all->store->store.engine, pattern);
    return call;
}

/* What the script is told beside the keys. */
static const char *subject_of(const latch_op *op)
{
    if (op->request.kind == LATCH_EVICT) {
        return op->request.evicted != NULL ? op->request.evicted : "*";
    }
    return is_listing(op) ? "list" : op->request.ask_owner ? "owner" : "";
}

static redis_call *send_inspection(inspection *all, const latch_op *op, size_t number,
                                   int64_t now_ns)
{
    redis_script_target target = {.layout = latch_redis_layout_of(op->lease),
                                  .token = subject_of(op)};
    const redis_command_spec spec = {
        .id = target.layout->scripts[op->request.kind],
        .as_text = all->as_text || number == 0, /* the others know it by that */
    };

    target.token_length = strlen(target.token);
    target.resource = name_of(all, op, number, &target.length);
    if (op->lease->is_permit) {
        target.resource = is_listing(op) ? target.resource - 1 : all->permit_name;
        target.length += REDIS_BRACES;
    }
    return latch_redis_send_script(all->route.node, &spec, &target, now_ns);
}

/* Count of calls to send next. */
static size_t count_next(const inspection *all, const latch_op *op)
{
    size_t left;

    if (!is_listing(op) || all->page == NULL) { /* as always when a map is needed */
        return 1;
    }
    left = all->page->element[1]->elements - all->at;
    return left < BATCH ? left : BATCH;
}

/* Connects to the server of the next calls. */
static latch_status connect_next(inspection *all, latch_op *op, int64_t now_ns)
{
    bool is_found = is_listing(op) && all->is_mapped;

    return is_found ? latch_redis_connect(&all->route.node->connection, op, now_ns)
           : all->permit_name != NULL
               ? latch_redis_route_connect(&all->store->topology, &all->route, all->permit_name,
                                           latch_redis_permit_name_length(op->lease), op, now_ns)
               : latch_redis_route_connect(&all->store->topology, &all->route, op->lease->resource,
                                           op->lease->resource_length, op, now_ns);
}

static redis_call *send_call(inspection *all, const latch_op *op, int64_t now_ns)
{
    if (is_map_due(all, op)) {
        return latch_redis_request_slot_map(all->route.node, now_ns);
    }
    return is_listing(op) && all->page == NULL ? send_scan(all, op, now_ns)
                                               : send_inspection(all, op, all->sent_count, now_ns);
}

static latch_status send_next(inspection *all, latch_op *op, int64_t now_ns)
{
    latch_status status = connect_next(all, op, now_ns);
    size_t count;

    if (status != LATCH_DONE) {
        return status;
    }
    latch_redis_pending_flush(all->store, NULL, now_ns);
    all->asked = all->route.node;
    all->asked->connection.long_replies++;
    count = count_next(all, op);
    for (; all->sent_count < count; all->sent_count++) {
        redis_call *call = send_call(all, op, now_ns);

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

/* Frees answered calls; abandons the others, which are sent anew if need be. */
static void free_calls(inspection *all)
{
    for (size_t at = all->at_call; at < all->sent_count; at++) {
        latch_redis_call_free(&all->asked->connection, all->calls[at]);
    }
    if (all->asked != NULL) {
        all->asked->connection.long_replies--;
        all->asked = NULL;
    }
    all->at += all->at_call;
    all->sent_count = all->at_call = 0;
}

/* Applies replies. LATCH_AGAIN: there is more to send. */
static latch_status read_answers(inspection *all, latch_op *op, int64_t now_ns)
{
    bool was_scan = is_listing(op) && all->page == NULL;
    latch_status status = LATCH_DONE;

    if (all->at_call < all->sent_count && all->calls[all->at_call]->state == REDIS_UNANSWERED) {
        all->asked->connection.transport->receive(&all->asked->connection);
    }
    while (status == LATCH_DONE && all->at_call < all->sent_count) {
        redis_call *call = all->calls[all->at_call];

        if (call->state == REDIS_UNANSWERED && now_ns < call->deadline_ns) {
            return latch_redis_want(&all->asked->connection, call->deadline_ns, op);
        }
        if (call->state == REDIS_ANSWERED) {
            latch_redis_breaker_record_reply(all->asked, now_ns);
            status = apply_answer(all, op, call, now_ns);
        } else if (call->state == REDIS_UNANSWERED) {
            status = latch_redis_fail_overdue(op, all->asked);
        } else {
            latch_redis_record_node_failure(all->asked);
            status = latch_redis_may_resend(op) && !all->asked->connection.was_slow
                         ? LATCH_AGAIN
                         : latch_redis_fail_lost(op, all->asked);
        }
        if (status == LATCH_DONE) {
            latch_redis_call_free(&all->asked->connection, call);
            all->at_call++;
        }
    }
    free_calls(all);
    if (was_scan && status == LATCH_DONE) {
        all->at = 0; /* of the page that has come */
    }
    if (!is_listing(op) || status != LATCH_DONE || all->page == NULL) {
        return is_listing(op) && status == LATCH_DONE ? LATCH_AGAIN : status;
    }
    if (all->at == all->page->element[1]->elements) {
        freeReplyObject(all->page);
        all->page = NULL;
        return strcmp(all->cursor, "0") == 0 && !go_to_next_server(all) ? LATCH_DONE : LATCH_AGAIN;
    }
    return LATCH_AGAIN;
}

static latch_status start_inspection(latch_op *op)
{
    redis_store *store = latch_redis_store_of(op);
    const latch_lease *lease = op->lease;
    size_t name_size = lease->is_permit ? latch_redis_permit_name_length(lease) : 0;
    inspection *all = latch_allocate(store->store.engine, sizeof(*all) + name_size);

    if (all == NULL) {
        return latch_fail_memory(op->error);
    }
    *all = (inspection){.store = store, .cursor = "0"};
    if (lease->is_permit) {
        all->permit_name = (char *) (all + 1);
        latch_redis_write_permit_name(lease, all->permit_name);
    }
    if (latch_hash_init(&all->listed, store->store.engine, op->error) != LATCH_DONE) {
        latch_free(store->store.engine, all);
        return op->error->status;
    }
    op->state = all;
    return LATCH_DONE;
}

void latch_redis_inspect_end(latch_op *op)
{
    inspection *all = op->state;
    latch_engine *engine = all->store->store.engine;

    free_calls(all);
    for (latch_hash_node *node = latch_hash_drain(&all->listed), *next; node != NULL; node = next) {
        next = node->next;
        latch_free(engine, LATCH_CONTAINER(node, listed_name, node));
    }
    latch_hash_end(&all->listed);
    latch_lock_reports_free(engine, all->reports);
    if (all->page != NULL) {
        freeReplyObject(all->page);
    }
    latch_free(engine, all);
    op->state = NULL;
}

latch_status latch_redis_inspect_step(latch_op *op, int64_t now_ns)
{
    latch_status status = op->state == NULL ? start_inspection(op) : LATCH_DONE;
    inspection *all = op->state;

    if (status != LATCH_DONE) {
        return status;
    }
    do {
        status = all->sent_count == 0 ? send_next(all, op, now_ns) : LATCH_DONE;
        if (status == LATCH_DONE) {
            status = read_answers(all, op, now_ns);
        }
    } while (status == LATCH_AGAIN);
    if (latch_wants(status)) {
        return status;
    }
    if (latch_failed(status)) {
        latch_redis_breaker_record_timeout(op, all->route.node, now_ns);
    }
    if (status == LATCH_DONE && op->request.kind != LATCH_EVICT) {
        *op->request.reports = all->reports;
        all->reports = NULL;
    }
    latch_redis_inspect_end(op);
    return status;
}
