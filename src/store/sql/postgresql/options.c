/* DSN of PostgreSQL: libpq's keywords, Latch's own, and the list of servers. */
#include "src/store/sql/postgresql/options.h"
#include "src/store/sql/postgresql/library.h"
#include "src/store/sql/dsn.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Parser: the options so far. */
typedef struct postgresql_dsn_parser {
    PQconninfoOption *known; /* libpq's options */
    size_t known_count;
    const char **texts; /* of each of them, NULL for what is not given; behind them there is room
                           for what else makes a connection the same */
    sql_common common;
    postgresql_digest digest;
} postgresql_dsn_parser;

enum { OWN_TEXTS = 4, NUMBER = sizeof("-9223372036854775808") };

/* ---- PDO's form: what libpq's PQconninfoParse() reads. That knows no option of Latch, and says
 * what is wrong with the text in it. */

static bool is_blank(char byte)
{
    return byte != '\0' && strchr(" \t\n\v\f\r", byte) != NULL;
}

static char *postgresql_skip_blanks(char *at)
{
    while (is_blank(*at)) {
        at++;
    }
    return at;
}

/* Ends a name where it ends; where its value begins, or NULL when there is none. */
static char *end_name(char *at)
{
    char *end;

    while (*at != '\0' && *at != '=' && !is_blank(*at)) {
        at++;
    }
    end = at;
    at = postgresql_skip_blanks(at);
    if (*at != '=') {
        return NULL;
    }
    *end = '\0';
    return postgresql_skip_blanks(at + 1);
}

/* Unquotes a value in its place; what comes after it, or NULL when a quote is not closed. */
static char *postgresql_end_value(char *at)
{
    bool quoted = *at == '\'';
    char *out = at;

    at += quoted;
    while (*at != '\0' && (quoted ? *at != '\'' : !is_blank(*at))) {
        at += *at == '\\';
        if (*at != '\0') {
            *out++ = *at++;
        }
    }
    if (quoted && *at == '\0') {
        return NULL;
    }
    at += *at != '\0';
    *out = '\0';
    return at;
}

static latch_status postgresql_split(sql_dsn *dsn, char *text)
{
    char *at;

    /* As pdo_pgsql does it, in quotes too. */
    for (at = strchr(text, ';'); at != NULL; at = strchr(at, ';')) {
        *at = ' ';
    }
    for (at = postgresql_skip_blanks(text); *at != '\0'; at = postgresql_skip_blanks(at)) {
        char *name = at, *value = end_name(name);

        if (value == NULL) {
            return latch_sql_fail(dsn, "an option has no \"=\"; a value with blanks stands in "
                                       "quotes, as in \"password='a b'\"");
        }
        at = postgresql_end_value(value);
        if (at == NULL) {
            return latch_sql_fail(dsn, "a \"'\" before a value is not closed behind it; within one "
                                       "it is written as \"\\'\"");
        }
        latch_sql_dsn_add(dsn, name, value);
    }
    return LATCH_DONE;
}

/* ---- Options */

static latch_status parse_digest(const sql_dsn *dsn, const latch_setting *setting, void *field)
{
    bool is_sha256 = strcmp(setting->value, "sha256") == 0;

    if (!is_sha256 && strcmp(setting->value, "crc32") != 0) {
        return latch_sql_fail_option(dsn, setting, "is crc32 or sha256");
    }
    *(postgresql_digest *) field = is_sha256 ? POSTGRESQL_SHA256 : POSTGRESQL_CRC32;
    return LATCH_DONE;
}

#define FIELD(name) offsetof(postgresql_dsn_parser, name)

static const sql_option own_options[] = {
    {"charset", latch_sql_parse_nothing, 0, false},
    {"connect_timeout", latch_sql_parse_seconds, FIELD(common.connect_timeout_ns), false},
    {"default_dbname", latch_sql_parse_nothing, 0, false},
    {"defaultTableOptions", latch_sql_parse_nothing, 0, true},
    {"digest", parse_digest, FIELD(digest), false},
    {"driver", latch_sql_parse_nothing, 0, false},
    {"driverClass", latch_sql_parse_nothing, 0, false},
    {"driverOptions", latch_sql_parse_nothing, 0, true},
    {"keepReplica", latch_sql_parse_nothing, 0, false},
    {"keepSlave", latch_sql_parse_nothing, 0, false},
    {"persistent", latch_sql_parse_nothing, 0, false},
    {"persistent_id", latch_sql_parse_text, FIELD(common.persistent_id), false},
    {"platform", latch_sql_parse_nothing, 0, false},
    {"read_timeout", latch_sql_parse_seconds, FIELD(common.command_timeout_ns), false},
    {"serverVersion", latch_sql_parse_nothing, 0, false},
    {"timeout", latch_sql_parse_seconds, FIELD(common.connect_timeout_ns), false},
    {"wrapperClass", latch_sql_parse_nothing, 0, false},
};

static const char **find_text(void *parser_pointer, const char *name)
{
    postgresql_dsn_parser *parser = parser_pointer;

    for (size_t at = 0; at < parser->known_count; at++) {
        if (strcmp(parser->known[at].keyword, name) == 0) {
            return &parser->texts[at];
        }
    }
    return NULL;
}

static const sql_server server = {
    .name = "PostgreSQL",
    .schemes = LATCH_POSTGRESQL_SCHEMES,
    .example = "\"pgsql:host=localhost;dbname=test\" or \"postgresql://user@localhost/test\"",
    .split = postgresql_split,
    .options = own_options,
    .option_count = sizeof(own_options) / sizeof(*own_options),
    .find_text = find_text,
    .known = "digest, persistent_id, read_timeout, timeout and libpq's keywords",
};

/* ---- Servers: libpq's lists, of one or more, any of which may be left empty */

static const char *text_of(postgresql_dsn_parser *parser, const char *name)
{
    const char **text = find_text(parser, name);

    return text != NULL ? *text : NULL;
}

static size_t count_items(const char *list)
{
    size_t count = 1;

    for (; list != NULL && *list != '\0'; list++) {
        count += *list == ',';
    }
    return count;
}

static latch_status check_ports(const sql_dsn *dsn, const char *ports, size_t host_count)
{
    size_t count = count_items(ports);

    for (const char *at = ports; at != NULL; at = strchr(at, ',')) {
        size_t length;

        at += *at == ',';
        length = strcspn(at, ",");
        if (length > 0 && latch_dsn_read_number(at, length, UINT16_MAX) < 1) {
            return latch_sql_fail(dsn, "the option \"port\" is a number from 1 to 65535");
        }
    }
    return count == 1 || count == host_count
               ? LATCH_DONE
               : latch_sql_fail(dsn, "the option \"port\" is one number, or as many as there are "
                                     "servers in the option \"host\"");
}

static bool is_folder(const char *name)
{
    return *name == '/' || *name == '@';
}

/* A name, an address or a folder. Errors of the connection show it: "user:password@host" must not
 * become one. */
static bool is_host(const char *item, size_t length)
{
    return is_folder(item) || latch_dsn_is_address(item, length) || strcspn(item, ":@/ ") >= length;
}

/* True when all items of the list are empty or pass the check. */
static bool check_items(const char *list, bool (*check)(const char *item, size_t length))
{
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ",");

        if (length > 0 && !check(list, length)) {
            return false;
        }
        list += length + (list[length] == ',');
    }
    return true;
}

static latch_status check_servers(const sql_dsn *dsn, postgresql_dsn_parser *parser,
                                  size_t *host_count)
{
    const char *host = text_of(parser, "host"), *address = text_of(parser, "hostaddr");

    if (host != NULL && address != NULL && count_items(host) != count_items(address)) {
        return latch_sql_fail(dsn, "the option \"hostaddr\" has as many addresses as there are "
                                   "servers in the option \"host\"");
    }
    if ((host != NULL && latch_sql_has_control(host))
        || (address != NULL && latch_sql_has_control(address))) {
        return latch_sql_fail(dsn, "the option \"%s\" has a control character in it",
                              host != NULL && latch_sql_has_control(host) ? "host" : "hostaddr");
    }
    if (!check_items(host, is_host)) {
        return latch_sql_fail(dsn, "the option \"host\" is a name, an address or the folder of a "
                                   "socket, or a list of them with commas");
    }
    if (!check_items(address, latch_dsn_is_address)) {
        return latch_sql_fail(dsn, "the option \"hostaddr\" is an IP address, or a list of them "
                                   "with commas");
    }
    *host_count = count_items(host != NULL ? host : address);
    return check_ports(dsn, text_of(parser, "port"), *host_count);
}

static latch_status check_files(const sql_dsn *dsn, postgresql_dsn_parser *parser)
{
    static const char *const names[] = {"sslcert", "sslkey", "sslrootcert"};

    for (size_t at = 0; at < sizeof(names) / sizeof(*names); at++) {
        const char *file = text_of(parser, names[at]);

        if (file != NULL && !latch_dsn_is_path(file)) {
            return latch_sql_fail(
                dsn, "the option \"%s\" is the path of a file, not what is in the file", names[at]);
        }
    }
    return LATCH_DONE;
}

/* The next item of a list, which is moved on; NULL for an empty one, and at its end. */
static const char *next_item(char **list)
{
    const char *item = *list != NULL ? strsep(list, ",") : NULL;

    return item != NULL && *item != '\0' ? item : NULL;
}

/* Moves a copy of the text into the room; NULL stays NULL. */
static char *move_copy(char **room, const char *text)
{
    size_t size = text != NULL ? strlen(text) + 1 : 0;
    char *copy = size > 0 ? memcpy(*room, text, size) : NULL;

    *room += size;
    return copy;
}

static bool make_hosts(const latch_engine *engine, postgresql_dsn_parser *parser,
                       postgresql_options *options)
{
    const char *lists[] = {text_of(parser, "host"), text_of(parser, "hostaddr"),
                           text_of(parser, "port")};
    bool one_port = count_items(lists[2]) == 1;
    size_t size = options->host_count * sizeof(*options->hosts);
    char *room, *names, *addresses, *ports;

    for (size_t at = 0; at < 3; at++) {
        size += lists[at] != NULL ? strlen(lists[at]) + 1 : 0;
    }
    options->hosts = latch_allocate(engine, size);
    if (options->hosts == NULL) {
        return false;
    }
    room = (char *) (options->hosts + options->host_count);
    names = move_copy(&room, lists[0]);
    addresses = move_copy(&room, lists[1]);
    ports = move_copy(&room, lists[2]);
    for (size_t at = 0; at < options->host_count; at++) {
        postgresql_host *host = &options->hosts[at];

        host->name = next_item(&names);
        host->address = next_item(&addresses);
        host->port = one_port && at > 0 ? options->hosts->port : next_item(&ports);
        host->resolve = host->name != NULL && host->address == NULL && !is_folder(host->name)
                        && !latch_dsn_is_address(host->name, strlen(host->name));
    }
    return true;
}

static int write_address(char *out, size_t size, const postgresql_host *host, const char *port)
{
    const char *name = host->name != NULL ? host->name : host->address;

    port = host->port != NULL ? host->port : port;
    if (name == NULL) {
        return snprintf(out, size, "the default server");
    }
    if (is_folder(name)) {
        return snprintf(out, size, "%s/.s.PGSQL.%s", name, port);
    }
    return snprintf(out, size, strchr(name, ':') != NULL ? "[%s]:%s" : "%s:%s", name, port);
}

static bool postgresql_make_address(const latch_engine *engine, const char *port,
                                    postgresql_options *options)
{
    size_t size = 1, length = 0;

    for (size_t at = 0; at < options->host_count; at++) {
        size += sizeof(", ") + (size_t) write_address(NULL, 0, &options->hosts[at], port);
    }
    options->address = latch_allocate(engine, size);
    if (options->address == NULL) {
        return false;
    }
    for (size_t at = 0; at < options->host_count; at++) {
        length +=
            (size_t) snprintf(options->address + length, size - length, "%s", at > 0 ? ", " : "");
        length += (size_t) write_address(options->address + length, size - length,
                                         &options->hosts[at], port);
    }
    return true;
}

/* ---- What libpq is told */

static void set_default(postgresql_dsn_parser *parser, const char *name, const char *text)
{
    const char **given = find_text(parser, name);

    if (given != NULL && *given == NULL) {
        *given = text;
    }
}

/* While a lock is held or waited for, a server says nothing; nor does one that is gone. Its session
 * frees its locks 15 s after the network was cut at the earliest (send_session_settings() in
 * connection.c): by then it is known here, after 14 s at the latest. */
static void set_defaults(postgresql_dsn_parser *parser)
{
    if (text_of(parser, "application_name") == NULL) {
        set_default(parser, "fallback_application_name", "latch");
    }
    set_default(parser, "keepalives_idle", "5");
    set_default(parser, "keepalives_interval", "3");
    set_default(parser, "keepalives_count", "3");
}

static bool make_parameters(const latch_engine *engine, const postgresql_dsn_parser *parser,
                            postgresql_options *options)
{
    size_t size = 2 * (parser->known_count + 1) * sizeof(char *);
    char *room;

    for (size_t at = 0; at < parser->known_count; at++) {
        size += strlen(parser->known[at].keyword) + 1;
    }
    options->keywords = latch_allocate(engine, size);
    if (options->keywords == NULL) {
        return false;
    }
    options->values = options->keywords + parser->known_count + 1;
    room = (char *) (options->values + parser->known_count + 1);
    for (size_t at = 0; at < parser->known_count; at++) {
        if (parser->texts[at] != NULL) {
            options->keywords[options->parameter_count] =
                move_copy(&room, parser->known[at].keyword);
            options->values[options->parameter_count++] = parser->texts[at];
        }
    }
    options->keywords[options->parameter_count] = NULL;
    options->values[options->parameter_count] = NULL;
    return true;
}

static bool postgresql_make_identity(const latch_engine *engine, postgresql_dsn_parser *parser,
                                     postgresql_options *options)
{
    char connect[NUMBER], command[NUMBER];
    const char **own = parser->texts + parser->known_count;

    snprintf(connect, sizeof(connect), "%" PRId64, options->connect_timeout_ns);
    snprintf(command, sizeof(command), "%" PRId64, options->command_timeout_ns);
    own[0] = connect;
    own[1] = command;
    own[2] = options->digest == POSTGRESQL_SHA256 ? "sha256" : "crc32";
    own[3] = parser->common.persistent_id;
    options->identity = latch_sql_identity(engine, parser->texts, parser->known_count + OWN_TEXTS);
    return options->identity != NULL;
}

/* ---- The whole */

static latch_status postgresql_read_all(latch_engine *engine, postgresql_dsn_parser *parser,
                                        postgresql_options *options, latch_error *error)
{
    const char *port = "5432";
    latch_status status = latch_sql_dsn_parse_settings(options->dsn, parser);

    if (status == LATCH_DONE) {
        status = check_servers(options->dsn, parser, &options->host_count);
    }
    if (status == LATCH_DONE) {
        status = check_files(options->dsn, parser);
    }
    if (status != LATCH_DONE) {
        return status;
    }
    options->connect_timeout_ns = parser->common.connect_timeout_ns;
    options->command_timeout_ns = parser->common.command_timeout_ns;
    options->digest = parser->digest;
    set_defaults(parser);
    for (size_t at = 0; at < parser->known_count; at++) {
        if (strcmp(parser->known[at].keyword, "port") == 0 && parser->known[at].compiled != NULL) {
            port = parser->known[at].compiled;
        }
    }
    return make_hosts(engine, parser, options) && postgresql_make_address(engine, port, options)
                   && make_parameters(engine, parser, options)
                   && postgresql_make_identity(engine, parser, options)
               ? LATCH_DONE
               : latch_fail_memory(error);
}

/* The names of libpq's options, which it lists without parsing any text. */
static latch_status postgresql_begin(latch_engine *engine, postgresql_dsn_parser *parser,
                                     latch_error *error)
{
    latch_status status = latch_library_open(&latch_libpq_library, error);
    size_t size;

    if (status != LATCH_DONE) {
        return status;
    }
    parser->known = PQconninfoParse("", NULL);
    while (parser->known != NULL && parser->known[parser->known_count].keyword != NULL) {
        parser->known_count++;
    }
    size = (parser->known_count + OWN_TEXTS) * sizeof(char *);
    parser->texts = parser->known != NULL ? latch_allocate(engine, size) : NULL;
    if (parser->texts == NULL) {
        return latch_fail_memory(error);
    }
    memset(parser->texts, 0, size);
    return LATCH_DONE;
}

latch_status latch_postgresql_options_parse(latch_engine *engine, const latch_store_options *given,
                                            postgresql_options *options, latch_error *error)
{
    postgresql_dsn_parser parser = {.common = SQL_COMMON_DEFAULT};
    latch_status status;

    *options = (postgresql_options){.identity = NULL};
    status = latch_sql_dsn_read(engine, &server, given, &options->dsn, error);
    if (status == LATCH_DONE) {
        status = postgresql_begin(engine, &parser, error);
    }
    if (status == LATCH_DONE) {
        status = postgresql_read_all(engine, &parser, options, error);
    }
    if (status == LATCH_DONE) {
        options->dsn->error = NULL;
    } else {
        latch_postgresql_options_free(engine, options);
    }
    latch_free(engine, parser.texts);
    if (parser.known != NULL) { /* else libpq may not have been opened */
        PQconninfoFree(parser.known);
    }
    return status;
}

void latch_postgresql_options_free(latch_engine *engine, postgresql_options *options)
{
    latch_sql_identity_free(engine, options->identity);
    latch_free(engine, options->address);
    latch_free(engine, options->keywords);
    latch_free(engine, options->hosts);
    latch_sql_dsn_free(engine, options->dsn);
    *options = (postgresql_options){.identity = NULL};
}
