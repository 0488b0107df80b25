/* Statements of holds in a table: their texts in the dialect of the server, and their outcome. */
#include "src/store/sql/table/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static table_hold *table_hold_of(const sql_statement *statement)
{
    return LATCH_CONTAINER(statement, table_hold, statement);
}

/* ---- Texts ---------------------------------------------------------------------------------- */

/* A text that is being written. It always fits: names, tokens and identifiers have their limits. */
typedef struct table_text {
    const table_store *store;
    const table_hold *hold; /* NULL: the statement is of no lock */
    sql_values *values;     /* of a form; NULL: they are in the text */
    char *end, *limit;
} table_text;

static void text_add_bytes(table_text *text, const char *bytes, size_t length)
{
    size_t left = (size_t) (text->limit - text->end);

    length = length < left ? length : left;
    text->end = mempcpy(text->end, bytes, length);
    *text->end = '\0';
}

static void text_add(table_text *text, const char *more)
{
    text_add_bytes(text, more, strlen(more));
}

static void text_add_identifier(table_text *text, const char *name)
{
    char quote[2] = {text->store->dialect->quote};

    if (text->store->options->table.layout == LATCH_TABLE_SYMFONY || *name == '"' || *name == '`') {
        text_add(text, name);
        return;
    }
    for (const char *end = strchrnul(name, '.');; end = strchrnul(name, '.')) {
        text_add(text, quote);
        text_add_bytes(text, name, (size_t) (end - name));
        text_add(text, quote);
        if (*end == '\0') {
            break;
        }
        text_add(text, ".");
        name = end + 1;
    }
}

/* The name of the table's source of fencing tokens: within its quotes, if it has any. */
static void text_add_fence(table_text *text)
{
    const char *table = text->store->options->table.table;
    char name[TABLE_IDENTIFIER_MAX + sizeof("_fence")];
    size_t length = strlen(table);
    bool is_quoted = table[length - 1] == '"' || table[length - 1] == '`';

    snprintf(name, sizeof(name), "%.*s_fence%s", (int) (length - is_quoted), table,
             is_quoted ? table + length - 1 : "");
    text_add_identifier(text, name);
}

/* In the place of a value of a form. */
static void text_add_placeholder(table_text *text, const char *value, size_t length)
{
    sql_values *values = text->values;
    char placeholder[SQL_NUMBER_SIZE];

    values->all[values->count].text = value;
    values->all[values->count++].length = length;
    snprintf(placeholder, sizeof(placeholder), text->store->dialect->placeholder, values->count);
    text_add(text, placeholder);
}

static void text_add_literal(table_text *text, const char *value, size_t length)
{
    char literal[TABLE_LITERAL_SIZE];

    if (text->values != NULL) {
        text_add_placeholder(text, value, length);
        return;
    }
    text->store->dialect->write_literal(value, length, literal);
    text_add(text, literal);
}

/* A number that lives as long as the text, or the values of the form. */
static const char *keep_number(table_text *text, const char *number)
{
    return text->values != NULL ? strcpy(text->values->numbers[text->values->count], number)
                                : number;
}

/* Laravel's layout counts whole seconds, and the one that has begun is not counted. */
static void text_add_seconds(table_text *text)
{
    int64_t ttl_ms = text->hold->ttl_ms;
    char number[SQL_NUMBER_SIZE];

    if (text->store->options->table.layout == LATCH_TABLE_LARAVEL) {
        snprintf(number, sizeof(number), "%" PRId64, (ttl_ms + 999) / 1000 + 1);
    } else {
        snprintf(number, sizeof(number), "%" PRId64 ".%03d", ttl_ms / 1000, (int) (ttl_ms % 1000));
    }
    if (text->values != NULL) {
        text_add_placeholder(text, keep_number(text, number), strlen(number));
    } else {
        text_add(text, number);
    }
}

static void text_add_format(table_text *text, const char *format);

static void text_add_rows(table_text *text)
{
    const table_names *names = &text->hold->names;

    for (unsigned at = 0; at < names->count; at++) {
        text_add(text, at > 0 ? ", (" : "(");
        text_add_literal(text, names->texts[at], names->lengths[at]);
        text_add_format(text, ", $o, $x)");
    }
}

static void text_add_ticket(table_text *text)
{
    char number[SQL_NUMBER_SIZE];

    snprintf(number, sizeof(number), "%" PRId64, text->hold->ticket_number);
    text_add_literal(text, keep_number(text, number), strlen(number));
}

static void text_add_names(table_text *text)
{
    const table_names *names = &text->hold->names;

    for (unsigned at = 0; at < names->count; at++) {
        text_add(text, at > 0 ? ", " : "");
        text_add_literal(text, names->texts[at], names->lengths[at]);
    }
}

/* A page of a list begins behind the last row of the one before. */
static void text_add_page(table_text *text)
{
    if (text->hold->names.count > 0) {
        text_add_format(text, " AND $i > ");
        text_add_names(text);
    }
}

/* See table_dialect. */
static void text_add_part(table_text *text, char letter)
{
    const latch_table_options *table = &text->store->options->table;
    const table_dialect *dialect = text->store->dialect;
    char digit[2] = "";

    switch (letter) {
        case 't':
            text_add_identifier(text, table->table);
            break;
        case 'i':
            text_add_identifier(text, table->id_column);
            break;
        case 'k':
            text_add_identifier(text, table->token_column);
            break;
        case 'e':
            text_add_identifier(text, table->expiration_column);
            break;
        case 'r':
            text_add_rows(text);
            break;
        case 'l':
            text_add_names(text);
            break;
        case 'a':
            text_add_page(text);
            break;
        case 'f':
            text_add_fence(text);
            break;
        case 'c':
            digit[0] = (char) ('0' + text->hold->names.count);
            text_add(text, digit);
            break;
        case 'o':
            text_add_literal(text, text->hold->token, strlen(text->hold->token));
            break;
        case 'n':
            text_add_format(text, dialect->now[table->layout]);
            break;
        case 'x':
            text_add_format(text, dialect->expiry[table->layout]);
            break;
        case 's':
            text_add_seconds(text);
            break;
        case 'q':
            text_add_ticket(text);
            break;
        case 'd':
            text_add_format(text, dialect->create[table->layout]);
            break;
        case '$':
            text_add(text, "$");
            break;
        default:
            break;
    }
}

static void text_add_format(table_text *text, const char *format)
{
    for (const char *sign = strchrnul(format, '$'); *format != '\0';
         sign = strchrnul(format, '$')) {
        text_add_bytes(text, format, (size_t) (sign - format));
        if (*sign == '\0') {
            break;
        }
        text_add_part(text, sign[1]);
        format = sign + 2;
    }
}

/* As a form if there are `values`. */
static void write_action(const table_store *store, const table_hold *hold, table_action action,
                         char text[SQL_TEXT_MAX], sql_values *values)
{
    table_text written = {.store = store,
                          .hold = hold,
                          .values = values,
                          .end = text,
                          .limit = text + SQL_TEXT_MAX - 1};

    *text = '\0';
    text_add_format(&written, action == TABLE_RELEASE && store->has_notifications
                                  ? store->dialect->queue->release
                                  : store->dialect->formats[action]);
}

void latch_table_write(const table_store *store, const table_hold *hold, table_action action,
                       char text[SQL_TEXT_MAX])
{
    write_action(store, hold, action, text, NULL);
}

static void table_write(const sql_statement *statement, char text[SQL_TEXT_MAX])
{
    const table_hold *hold = table_hold_of(statement);

    latch_table_write(hold->store, hold, hold->action, text);
}

static void table_write_form(const sql_statement *statement, char text[SQL_TEXT_MAX],
                             sql_values *values)
{
    const table_hold *hold = table_hold_of(statement);

    write_action(hold->store, hold, hold->action, text, values);
}

void latch_table_hold_set_action(table_hold *hold, table_action action)
{
    hold->action = action;
    hold->outcome = SQL_UNANSWERED;
    hold->statement.is_frequent = action <= TABLE_LAST_FREQUENT;
    hold->statement.returns_nothing = action != TABLE_ACQUIRE_TIMED && action != TABLE_PROBE
                                      && action != TABLE_FENCE && action != TABLE_FIND;
}

/* ---- Outcomes ------------------------------------------------------------------------------- */

void latch_table_hold_free(table_hold *hold)
{
    latch_free(hold->store->store.engine, hold);
}

bool latch_table_may_have_rows(const table_hold *hold)
{
    switch (hold->action) {
        case TABLE_FIND:
        case TABLE_CREATE_INSIDE:
        case TABLE_CREATE_FENCE:
        case TABLE_CREATE_IF_MISSING:
        case TABLE_RELEASE:
            return false;
        case TABLE_FENCE: /* which comes behind a grant */
            return true;
        default:
            break;
    }
    switch (hold->outcome) {
        case SQL_ANSWERED:
            return hold->statement.returns_nothing
                       ? hold->affected > 0 || hold->store->dialect->counts_changes
                       : *hold->value != '0';
        case SQL_UNKNOWN:
        case SQL_CANCELLED:
            return true;
        default:
            return false;
    }
}

/* Nobody waits for the answer: what a request that was given up may have acquired is released. */
static void settle_for_nobody(table_hold *hold)
{
    if (hold->is_acquiring && latch_table_may_have_rows(hold)) {
        latch_table_hold_set_action(hold, TABLE_RELEASE);
        latch_sql_session_repeat(hold->store->session, &hold->statement);
    } else {
        latch_table_hold_free(hold);
    }
}

bool latch_table_stop_notifying(table_store *store)
{
    bool has_notified = store->has_notifications;

    store->has_notifications = store->has_queue = false;
    return has_notified;
}

static bool do_without_queue(table_hold *hold)
{
    bool is_in_turn = hold->action == TABLE_ACQUIRE_IN_TURN;

    if ((!is_in_turn && hold->action != TABLE_RELEASE)
        || !latch_table_stop_notifying(hold->store)) {
        return false;
    }
    latch_table_hold_set_action(hold, is_in_turn ? TABLE_ACQUIRE : TABLE_RELEASE);
    latch_sql_session_repeat(hold->store->session, &hold->statement);
    return true;
}

static void table_settle(sql_statement *statement, sql_outcome outcome, const sql_result *result)
{
    table_hold *hold = table_hold_of(statement);

    if (outcome == SQL_REFUSED && do_without_queue(hold)) {
        return;
    }
    hold->outcome = outcome;
    hold->affected = hold->insert_id = 0;
    hold->value[0] = '\0';
    if (outcome == SQL_ANSWERED) {
        hold->affected = result->affected;
        hold->insert_id = result->insert_id;
        snprintf(hold->value, sizeof(hold->value), "%.*s", (int) sizeof(hold->value) - 1,
                 result->value);
    }
    if (hold->lease == NULL) {
        settle_for_nobody(hold);
    }
}

const sql_statement_class latch_table_statement = {.write = table_write,
                                                   .write_form = table_write_form,
                                                   .settle = table_settle};

/* ---- Pruning -------------------------------------------------------------------------------- */

static void pruning_write(const sql_statement *statement, char text[SQL_TEXT_MAX])
{
    latch_table_write(LATCH_CONTAINER(statement, const table_store, prune), NULL, TABLE_PRUNE,
                      text);
}

/* Whatever becomes of it: rows that have expired are in nobody's way. */
static void pruning_settle(sql_statement *statement, sql_outcome outcome, const sql_result *result)
{
    (void) statement;
    (void) outcome;
    (void) result;
}

const sql_statement_class latch_table_pruning = {.write = pruning_write, .settle = pruning_settle};
