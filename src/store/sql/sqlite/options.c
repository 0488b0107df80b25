/* DSN of SQLite: the path of a file. */
#include "src/store/sql/sqlite/options.h"

#include "src/store/sql/dsn.h"

#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MEMORY ":memory:"

typedef struct sqlite_dsn_parser {
    const char *path;
    bool memory;
    sql_common common;
} sqlite_dsn_parser;

/* ---- Options --------------------------------------------------------------------------------- */

static latch_status sqlite_split(sql_dsn *dsn, char *text)
{
    latch_sql_dsn_add(dsn, "path", text);
    return LATCH_DONE;
}

static latch_status parse_sqlite_path(const sql_dsn *dsn, const latch_setting *setting, void *field)
{
    return latch_sql_has_control(setting->value)
               ? latch_sql_fail(dsn, "the path of the file has a control character in it")
               : latch_sql_parse_text(dsn, setting, field);
}

static latch_status parse_sqlite_memory(const sql_dsn *dsn, const latch_setting *setting,
                                        void *field)
{
    int value = latch_dsn_read_boolean(setting->value);

    *(bool *) field = value > 0;
    return value >= 0 ? LATCH_DONE : latch_sql_fail_option(dsn, setting, "is 0 or 1");
}

#define FIELD(name) offsetof(sqlite_dsn_parser, name)

static const sql_option own_options[] = {
    {"charset", latch_sql_parse_nothing, 0, false},
    {"connect_timeout", latch_sql_parse_seconds, FIELD(common.connect_timeout_ns), false},
    {"dbname", parse_sqlite_path, FIELD(path), false}, /* the path of a URL */
    {"default_dbname", latch_sql_parse_nothing, 0, false},
    {"defaultTableOptions", latch_sql_parse_nothing, 0, true},
    {"driver", latch_sql_parse_nothing, 0, false},
    {"driverClass", latch_sql_parse_nothing, 0, false},
    {"driverOptions", latch_sql_parse_nothing, 0, true},
    {"host", latch_sql_parse_nothing, 0, false},
    {"keepReplica", latch_sql_parse_nothing, 0, false},
    {"keepSlave", latch_sql_parse_nothing, 0, false},
    {"memory", parse_sqlite_memory, FIELD(memory), false},
    {"password", latch_sql_parse_nothing, 0, false},
    {"path", parse_sqlite_path, FIELD(path), false},
    {"persistent", latch_sql_parse_nothing, 0, false},
    {"persistent_id", latch_sql_parse_text, FIELD(common.persistent_id), false},
    {"platform", latch_sql_parse_nothing, 0, false},
    {"port", latch_sql_parse_nothing, 0, false},
    {"read_timeout", latch_sql_parse_seconds, FIELD(common.command_timeout_ns), false},
    {"serverVersion", latch_sql_parse_nothing, 0, false},
    {"timeout", latch_sql_parse_seconds, FIELD(common.connect_timeout_ns), false},
    {"user", latch_sql_parse_nothing, 0, false},
    {"wrapperClass", latch_sql_parse_nothing, 0, false},
};

static const sql_server server = {
    .name = "SQLite",
    .schemes = LATCH_SQLITE_SCHEMES,
    .example = "\"sqlite:/path/of/file\" or \"sqlite:////path/of/file\"",
    .split = sqlite_split,
    .options = own_options,
    .option_count = sizeof(own_options) / sizeof(*own_options),
    .known = "memory, path, persistent_id and read_timeout",
};

/* ---- URLs ------------------------------------------------------------------------------------ */

/* The user, the password and the host of a URL; 0: it is none. */
static size_t find_authority(const char *text, size_t length, size_t *authority)
{
    const char *colon = memchr(text, ':', length);
    const char *end = text + length, *at = colon != NULL ? colon + 1 : end;

    if (end - at < 2 || memcmp(at, "//", 2) != 0) {
        return 0;
    }
    *authority = (size_t) (at + 2 - text);
    for (at += 2; at < end && *at != '/' && *at != '?' && *at != '#'; at++) {
    }
    return (size_t) (at - text);
}

/*
 * A path may have an "@" in it, at which a URL's user and password end for latch_dsn_parse(): what
 * means nothing here is left out, and each further "@" encoded. Returns the length, or 0 when there
 * is nothing to be rewritten.
 */
static size_t rewrite_url(const latch_store_options *given, char text[3 * LATCH_DSN_MAX])
{
    size_t from = 0, length = 0;
    size_t to = given->dsn != NULL && given->dsn_length <= LATCH_DSN_MAX
                    ? find_authority(given->dsn, given->dsn_length, &from)
                    : 0;

    if (to == 0) {
        return 0;
    }
    memcpy(text, given->dsn, from);
    length = from;
    for (const char *at = given->dsn + to; at < given->dsn + given->dsn_length; at++) {
        size_t size = *at == '@' ? 3 : 1;

        memcpy(text + length, *at == '@' ? "%40" : at, size);
        length += size;
    }
    return length;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static char *copy_path(latch_engine *engine, const char *folder, const char *path)
{
    size_t size = strlen(folder) + 1 + strlen(path) + 1;
    char *copy = latch_allocate(engine, size);

    if (copy != NULL) {
        snprintf(copy, size, "%s%s%s", folder, *folder != '\0' ? "/" : "", path);
    }
    return copy;
}

/* A number that no other database in memory has. */
static unsigned next_memory(void)
{
    static _Atomic unsigned last;

    return ++last;
}

static latch_status find_file(latch_engine *engine, const sql_dsn *dsn,
                              const sqlite_dsn_parser *parser, sqlite_options *options,
                              latch_error *error)
{
    const char *path = parser->memory ? MEMORY : parser->path;
    char folder[PATH_MAX] = "";

    if (path == NULL) {
        return latch_sql_fail(dsn, "it names no file; it is written as in %s", server.example);
    }
    options->is_uri = strncmp(path, "file:", 5) == 0;
    options->memory = strcmp(path, MEMORY) == 0 ? next_memory() : 0;
    if (options->memory == 0 && !options->is_uri && *path != '/'
        && (getcwd(folder, sizeof(folder)) == NULL || *folder != '/')) {
        return latch_sql_fail(dsn, "its path is relative, and the current folder is not "
                                   "to be found");
    }
    options->path = copy_path(engine, folder, path);
    return options->path != NULL ? LATCH_DONE : latch_fail_memory(error);
}

static latch_status make_sqlite_identity(const latch_engine *engine, const sql_common *common,
                                         sqlite_options *options, latch_error *error)
{
    char numbers[96];
    const char *texts[] = {numbers, options->path, common->persistent_id};

    snprintf(numbers, sizeof(numbers), "%u %" PRId64 " %" PRId64, options->memory,
             options->connect_timeout_ns, options->command_timeout_ns);
    options->identity = latch_sql_identity(engine, texts, sizeof(texts) / sizeof(*texts));
    return options->identity != NULL ? LATCH_DONE : latch_fail_memory(error);
}

static latch_status sqlite_read_all(latch_engine *engine, const sql_dsn *dsn,
                                    sqlite_options *options, latch_error *error)
{
    sqlite_dsn_parser parser = {.common = SQL_COMMON_DEFAULT};
    latch_status status = latch_sql_dsn_parse_settings(dsn, &parser);

    options->connect_timeout_ns = parser.common.connect_timeout_ns;
    options->command_timeout_ns = parser.common.command_timeout_ns;
    if (status == LATCH_DONE) {
        status = find_file(engine, dsn, &parser, options, error);
    }
    return status == LATCH_DONE ? make_sqlite_identity(engine, &parser.common, options, error)
                                : status;
}

latch_status latch_sqlite_options_parse(latch_engine *engine, const latch_store_options *given,
                                        sqlite_options *options, latch_error *error)
{
    char text[3 * LATCH_DSN_MAX];
    latch_store_options rewritten = *given;
    size_t length = rewrite_url(given, text);
    sql_dsn *dsn;
    latch_status status;

    if (length > 0) {
        rewritten.dsn = text;
        rewritten.dsn_length = length;
    }
    *options = (sqlite_options){.identity = NULL};
    status = latch_sql_dsn_read(engine, &server, &rewritten, &dsn, error);
    if (status == LATCH_DONE) {
        status = sqlite_read_all(engine, dsn, options, error);
    }
    latch_sql_dsn_free(engine, dsn);
    if (status != LATCH_DONE) {
        latch_sqlite_options_free(engine, options);
    }
    return status;
}

void latch_sqlite_options_free(latch_engine *engine, sqlite_options *options)
{
    latch_sql_identity_free(engine, options->identity);
    latch_free(engine, options->path);
    *options = (sqlite_options){.identity = NULL};
}
