/*
 * Inspection, list and eviction: requests about the rows of other holders. A row tells its name,
 * how long its holder has it, and the holder's token, of which reports have a digest. A list comes
 * in pages, each the text of one value, in the order of names.
 */
#include "src/base/hash.h"
#include "src/store/sql/table/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Attempts in which the server may give a statement up for another's. */
#define TRIES_MAX 4
#define HASH_LENGTH (2 * LATCH_DIGEST_MAX)

/* op->state */
typedef struct table_inspection {
    sql_statement statement;
    table_store *store;
    bool is_abandoned; /* freed with the answer */
    bool was_lost;     /* the statement is sent for the second time */
    bool is_doubtful;  /* a runner has refused to read: the statement is one that tells why */
    unsigned tries;
    int64_t sent_ns;
    table_action action;
    sql_outcome outcome; /* SQL_UNANSWERED: to be sent, or it was */
    int64_t affected;
    char value[SQL_VALUE_MAX];

    int64_t ticket_number; /* of the lock, for an eviction */
    table_names names;     /* of the lock's rows; in a list the last one of the page before */
    char text[TABLE_NAMES_SIZE];
    char tokens[TABLE_NAMES_MAX][LATCH_TOKEN_MAX + 1]; /* of holders that are to lose the lock */
    unsigned token_count, at_token;
    latch_lock_report *reports;
} table_inspection;

/* A row, as the statements write it: "30000 TOKEN NAME;", the texts in hex. */
typedef struct table_row {
    int64_t left_ms;
    size_t token_length; /* 0: it is too long to be told */
    char token[LATCH_TOKEN_MAX + 1];
    size_t name_length;
    char name[TABLE_NAME_MAX + 1];
} table_row;

bool latch_table_is_inspection(const latch_op *op)
{
    return op->request.kind == LATCH_INSPECT || op->request.kind == LATCH_LIST
           || op->request.kind == LATCH_EVICT;
}

/* ---- Statements ----------------------------------------------------------------------------- */

static table_inspection *inspection_of(const sql_statement *statement)
{
    return LATCH_CONTAINER(statement, table_inspection, statement);
}

static void inspection_free(table_inspection *asked)
{
    latch_engine *engine = asked->store->store.engine;

    latch_lock_reports_free(engine, asked->reports);
    explicit_bzero(asked, sizeof(*asked)); /* it had tokens */
    latch_free(engine, asked);
}

static void inspection_write(const sql_statement *statement, char text[SQL_TEXT_MAX])
{
    const table_inspection *asked = inspection_of(statement);
    table_hold hold = {.store = asked->store,
                       .names = asked->names,
                       .ticket_number = asked->ticket_number};

    if (asked->is_doubtful) { /* nobody's row */
        hold.names = (table_names){.count = 1, .texts = {""}};
        latch_table_write(asked->store, &hold, TABLE_RELEASE, text);
        return;
    }
    if (asked->action == TABLE_RELEASE) {
        memcpy(hold.token, asked->tokens[asked->at_token], sizeof(hold.token));
    }
    latch_table_write(asked->store, &hold, asked->action, text);
}

static void inspection_settle(sql_statement *statement, sql_outcome outcome,
                              const sql_result *result)
{
    table_inspection *asked = inspection_of(statement);

    if (asked->is_abandoned) {
        inspection_free(asked);
        return;
    }
    if (outcome == SQL_REFUSED && asked->action == TABLE_RELEASE
        && latch_table_stop_notifying(asked->store)) {
        latch_sql_session_repeat(asked->store->session, statement);
        return;
    }
    asked->outcome = outcome;
    if (outcome == SQL_ANSWERED) {
        asked->affected = result->affected;
        memcpy(asked->value, result->value, sizeof(asked->value));
    }
}

static const sql_statement_class inspection_statement = {.write = inspection_write,
                                                         .settle = inspection_settle};

static latch_status inspect_next(table_inspection *asked, table_action action)
{
    asked->action = action;
    asked->outcome = SQL_UNANSWERED;
    asked->statement.returns_nothing = action == TABLE_RELEASE;
    return LATCH_AGAIN;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static int hex_digit(char sign)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = memchr(digits, sign | 0x20, sizeof(digits) - 1);

    return found != NULL ? (int) (found - digits) : -1;
}

/* Reads bytes in hex into a text of up to `max` bytes; returns the end, or NULL. */
static const char *read_hex(const char *hex, char *text, size_t max, size_t *length)
{
    for (*length = 0; hex_digit(hex[0]) >= 0 && hex_digit(hex[1]) >= 0; hex += 2) {
        if (*length == max) {
            return NULL;
        }
        text[(*length)++] = (char) (hex_digit(hex[0]) << 4 | hex_digit(hex[1]));
    }
    text[*length] = '\0';
    return hex;
}

/* Reads the next row of an answer; the end of it, or NULL: there is none that is complete. */
static const char *read_row(const char *answer, table_row *row)
{
    char *end;
    const char *at;

    row->left_ms = strtoll(answer, &end, 10);
    if (*end != ' ') {
        return NULL;
    }
    at = read_hex(end + 1, row->token, LATCH_TOKEN_MAX, &row->token_length);
    if (at == NULL || *at != ' ') {
        return NULL;
    }
    at = read_hex(at + 1, row->name, TABLE_NAME_MAX, &row->name_length);
    return at != NULL && *at == ';' ? at + 1 : NULL;
}

static void digest_text(const latch_engine *engine, const char *text, size_t length,
                        char hex[HASH_LENGTH + 1])
{
    const struct iovec part = {(void *) text, length};
    uint8_t digest[LATCH_DIGEST_MAX];

    engine->env.digest(engine->env.context, LATCH_SHA256, &part, 1, digest);
    for (size_t at = 0; at < LATCH_DIGEST_MAX; at++) {
        snprintf(hex + 2 * at, 3, "%02x", digest[at]);
    }
}

/* What a report calls the holder of that token; of a token that is too long nobody can be told. */
static void write_identity(const latch_engine *engine, const table_row *row,
                           char identity[LATCH_IDENTITY_LENGTH + 1])
{
    char hex[HASH_LENGTH + 1];

    digest_text(engine, row->token, row->token_length, hex);
    snprintf(identity, LATCH_IDENTITY_LENGTH + 1, "%.*s", LATCH_IDENTITY_LENGTH,
             row->token_length > 0 ? hex : "0000000000000000");
}

/* Adds the row's holder, unless it has the other row of the lock as well. */
static bool report_row_holder(const latch_engine *engine, latch_lock_report *report,
                              const table_row *row)
{
    char identity[LATCH_IDENTITY_LENGTH + 1];
    latch_holder *holder;

    write_identity(engine, row, identity);
    for (holder = report->holders; holder != NULL; holder = holder->next) {
        if (strcmp(holder->identity, identity) == 0) {
            holder->left_ms = row->left_ms < holder->left_ms ? row->left_ms : holder->left_ms;
            return true;
        }
    }
    holder = latch_lock_report_make_holder(engine, report, 0);
    if (holder == NULL) {
        return false;
    }
    memcpy(holder->identity, identity, sizeof(identity));
    holder->left_ms = row->left_ms;
    report->mode = LATCH_EXCLUSIVE;
    report->holder_count++;
    return true;
}

/* ---- One lock ------------------------------------------------------------------------------- */

static latch_status report_lock(latch_op *op)
{
    table_inspection *asked = op->state;
    const latch_engine *engine = asked->store->store.engine;
    const latch_lease *lease = op->lease;
    latch_lock_report *report = latch_lock_reports_add_named(engine, &asked->reports,
                                                             lease->resource,
                                                             lease->resource_length, LATCH_FREE);
    table_row row;

    if (report == NULL) {
        return latch_fail_memory(op->error);
    }
    for (const char *at = read_row(asked->value, &row); at != NULL; at = read_row(at, &row)) {
        if (!report_row_holder(engine, report, &row)) {
            return latch_fail_memory(op->error);
        }
    }
    return LATCH_DONE;
}

/* The tokens of the holders that the request names; a later holder has another one. */
static latch_status begin_evictions(latch_op *op)
{
    table_inspection *asked = op->state;
    char identity[LATCH_IDENTITY_LENGTH + 1];
    table_row row;

    for (const char *at = read_row(asked->value, &row);
         at != NULL && asked->token_count < TABLE_NAMES_MAX; at = read_row(at, &row)) {
        write_identity(asked->store->store.engine, &row, identity);
        if (row.token_length == 0 || strstr(op->request.evicted, identity) == NULL
            || (asked->token_count > 0 && strcmp(asked->tokens[0], row.token) == 0)) {
            continue;
        }
        memcpy(asked->tokens[asked->token_count++], row.token, sizeof(row.token));
    }
    asked->was_lost = false;
    return asked->token_count > 0 ? inspect_next(asked, TABLE_RELEASE) : LATCH_DONE;
}

static latch_status record_eviction(latch_op *op)
{
    table_inspection *asked = op->state;

    /* One whose reply was lost may have taken place. */
    *op->request.evicted_count += asked->affected > 0 || asked->was_lost;
    asked->was_lost = false;
    return ++asked->at_token < asked->token_count ? inspect_next(asked, TABLE_RELEASE) : LATCH_DONE;
}

/* ---- The list ------------------------------------------------------------------------------- */

static bool is_hash(const char *name, size_t length)
{
    return length == HASH_LENGTH && strspn(name, "0123456789abcdef") == HASH_LENGTH;
}

/* Of Laravel's rows those that are this application's, without the prefix. False: memory ran out.
 */
static bool list_row(table_inspection *asked, const table_row *row)
{
    const latch_engine *engine = asked->store->store.engine;
    const latch_table_options *table = &asked->store->options->table;
    size_t prefix_length = table->layout == LATCH_TABLE_LARAVEL ? strlen(table->prefix) : 0;
    bool has_prefix = row->name_length >= prefix_length
                      && memcmp(row->name, table->prefix, prefix_length) == 0;
    size_t from = has_prefix ? prefix_length : 0;
    latch_lock_report *report;

    if (!has_prefix && !is_hash(row->name, row->name_length)) {
        return true;
    }
    report = latch_lock_reports_add_named(engine, &asked->reports, row->name + from,
                                          row->name_length - from, LATCH_EXCLUSIVE);
    if (report == NULL) {
        return false;
    }
    report->is_hashed = is_hash(report->name, report->name_length);
    return report_row_holder(engine, report, row);
}

/* A hash in the list, by which the other row of a lock is found. */
typedef struct listed_hash {
    latch_hash_node node;
    latch_lock_report *report;
} listed_hash;

static bool index_hashes(latch_hash *index, table_inspection *asked)
{
    for (latch_lock_report *report = asked->reports; report != NULL; report = report->next) {
        listed_hash *hash =
            report->is_hashed ? latch_allocate(asked->store->store.engine, sizeof(*hash)) : NULL;

        if (!report->is_hashed) {
            continue;
        }
        if (hash == NULL) {
            return false;
        }
        hash->node.key = report->name;
        hash->node.length = report->name_length;
        hash->report = report;
        if (!latch_hash_add(index, &hash->node)) {
            latch_free(asked->store->store.engine, hash);
            return false;
        }
    }
    return true;
}

/* Marks the rows whose resource is known from another row of the same holder. */
static void mark_twins(const latch_hash *index, const table_inspection *asked)
{
    char hex[HASH_LENGTH + 1];

    for (const latch_lock_report *report = asked->reports; report != NULL; report = report->next) {
        latch_hash_node *node;
        latch_lock_report *twin;

        if (report->is_hashed) {
            continue;
        }
        digest_text(asked->store->store.engine, report->name, report->name_length, hex);
        node = latch_hash_find(index, hex, HASH_LENGTH);
        twin = node != NULL ? LATCH_CONTAINER(node, listed_hash, node)->report : NULL;
        if (twin != NULL && strcmp(twin->holders->identity, report->holders->identity) == 0) {
            twin->mode = LATCH_FREE;
        }
    }
}

static void remove_marked(table_inspection *asked)
{
    for (latch_lock_report **place = &asked->reports; *place != NULL;) {
        latch_lock_report *report = *place;

        if (report->mode != LATCH_FREE) {
            place = &report->next;
            continue;
        }
        *place = report->next;
        report->next = NULL;
        latch_lock_reports_free(asked->store->store.engine, report);
    }
}

/* A lock of two rows is one lock. */
static latch_status end_list(latch_op *op)
{
    table_inspection *asked = op->state;
    latch_engine *engine = asked->store->store.engine;
    latch_hash index;
    latch_status status = latch_hash_init(&index, engine, op->error);

    if (status != LATCH_DONE) {
        return status;
    }
    if (index_hashes(&index, asked)) {
        mark_twins(&index, asked);
    } else {
        status = latch_fail_memory(op->error);
    }
    for (latch_hash_node *node = latch_hash_drain(&index), *next; node != NULL; node = next) {
        next = node->next;
        latch_free(engine, LATCH_CONTAINER(node, listed_hash, node));
    }
    latch_hash_end(&index);
    remove_marked(asked);
    return status;
}

/* The next page begins behind the last row that is complete. */
static latch_status apply_rows(latch_op *op)
{
    table_inspection *asked = op->state;
    const char *at = asked->value;
    table_row row, last = {.name_length = 0};
    bool has_rows = false;

    for (const char *end = read_row(at, &row); end != NULL; end = read_row(at, &row)) {
        if (!list_row(asked, &row)) {
            return latch_fail_memory(op->error);
        }
        has_rows = true;
        last = row;
        at = end;
    }
    if (!has_rows) {
        return end_list(op);
    }
    memcpy(asked->text, last.name, last.name_length + 1);
    asked->names =
        (table_names){.count = 1, .lengths = {(unsigned) last.name_length}, .texts = {asked->text}};
    return inspect_next(asked, TABLE_LIST);
}

static table_action first_question(const latch_op *op)
{
    return op->request.kind == LATCH_LIST ? TABLE_LIST : TABLE_INSPECT;
}

/* ---- Answers -------------------------------------------------------------------------------- */

static latch_status apply_inspection(latch_op *op)
{
    table_inspection *asked = op->state;

    if (asked->action == TABLE_FIND) {
        bool is_there = strcmp(asked->value, "1") == 0;

        asked->value[0] = '\0'; /* of a table that is missing, no row */
        inspect_next(asked, first_question(op));
        if (is_there) {
            return LATCH_AGAIN;
        }
    }
    if (asked->action == TABLE_RELEASE) {
        return record_eviction(op);
    }
    if (asked->action == TABLE_LIST) {
        return apply_rows(op);
    }
    return op->request.kind == LATCH_EVICT ? begin_evictions(op) : report_lock(op);
}

static latch_status inspection_fail(latch_op *op)
{
    const sql_session *session = latch_table_store_of(op->lease)->session;

    return latch_fail(op->error, LATCH_ERROR_STORE, 0,
                      "the rows of the table could not be read in %s at %s: %s", session->server,
                      session->address, session->trouble);
}

/* In a table that is missing nothing is held. */
static latch_status apply_no_table(latch_op *op)
{
    table_inspection *asked = op->state;

    asked->value[0] = '\0';
    asked->affected = 0;
    return apply_inspection(op);
}

/* A runner does not say why it has refused a statement with a result, but of one without. */
static latch_status doubt_refusal(latch_op *op)
{
    table_inspection *asked = op->state;

    if (asked->store->options->dsn != NULL || asked->action == TABLE_RELEASE
        || asked->is_doubtful) {
        return inspection_fail(op);
    }
    asked->is_doubtful = true;
    asked->outcome = SQL_UNANSWERED;
    asked->statement.returns_nothing = true;
    return LATCH_AGAIN;
}

static latch_status conclude_inspection(latch_op *op, int64_t now_ns)
{
    table_inspection *asked = op->state;

    if (asked->is_doubtful && asked->outcome != SQL_NO_TABLE) {
        return inspection_fail(op);
    }
    switch (asked->outcome) {
        case SQL_ANSWERED:
            return apply_inspection(op);
        case SQL_NO_TABLE:
            return apply_no_table(op);
        case SQL_REFUSED:
            return doubt_refusal(op);
        case SQL_LOST:
        case SQL_MOVED:
            if (asked->was_lost || now_ns - asked->sent_ns >= asked->store->session->timeout_ns) {
                return inspection_fail(op);
            }
            asked->was_lost = true;
            return inspect_next(asked, asked->action);
        case SQL_CLASHED:
        case SQL_DEADLOCKED:
        case SQL_TIMED_OUT:
            return ++asked->tries < TRIES_MAX ? inspect_next(asked, asked->action)
                                              : inspection_fail(op);
        case SQL_NO_MEMORY:
            return latch_fail_memory(op->error);
        default:
            return inspection_fail(op);
    }
}

/* ---- Requests ------------------------------------------------------------------------------- */

latch_status latch_table_inspect_step(latch_op *op, int64_t now_ns)
{
    table_inspection *asked = op->state;
    sql_session *session = asked->store->session;
    latch_status status = LATCH_AGAIN;

    latch_sql_session_abandon_in_child(session);
    while (status == LATCH_AGAIN) {
        if (!asked->statement.is_queued && asked->outcome == SQL_UNANSWERED) {
            asked->sent_ns = now_ns;
            latch_sql_session_enqueue(session, &asked->statement, now_ns);
        }
        status = latch_sql_session_drive(session, &asked->statement, op, now_ns);
        if (latch_wants(status)) {
            return status;
        }
        if (!latch_failed(status)) {
            status = conclude_inspection(op, now_ns);
        }
    }
    if (status == LATCH_DONE && op->request.kind != LATCH_EVICT) {
        *op->request.reports = asked->reports;
        asked->reports = NULL;
    }
    inspection_free(asked);
    op->state = NULL;
    return status;
}

latch_status latch_table_inspect_begin(latch_op *op)
{
    table_store *store = latch_table_store_of(op->lease);
    latch_engine *engine = store->store.engine;
    table_inspection *asked = latch_allocate(engine, sizeof(*asked));

    if (asked == NULL) {
        return latch_fail_memory(op->error);
    }
    memset(asked, 0, sizeof(*asked));
    asked->statement.class = &inspection_statement;
    asked->statement.timeout_ns = latch_ms_to_ns(op->request.response_timeout_ms);
    asked->store = store;
    if (op->request.kind != LATCH_LIST) {
        latch_table_write_names(op->lease, &asked->names, asked->text);
    }
    if (op->request.kind == LATCH_EVICT) {
        *op->request.evicted_count = 0;
        asked->ticket_number = latch_table_ticket_number(op->lease);
    }
    inspect_next(asked, latch_table_is_to_be_found(store) ? TABLE_FIND : first_question(op));
    op->flags = 0;
    op->state = asked;
    return latch_table_inspect_step(op, latch_engine_now_ns(engine));
}

void latch_table_inspect_abandon(latch_op *op)
{
    table_inspection *asked = op->state;

    latch_sql_session_abandon_in_child(asked->store->session);
    if (asked->statement.is_queued
        && !latch_sql_session_dequeue(asked->store->session, &asked->statement)) {
        asked->is_abandoned = true;
    } else {
        inspection_free(asked);
    }
    op->state = NULL;
}
