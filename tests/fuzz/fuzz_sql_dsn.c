/*
 * DSNs for PostgreSQL, MySQL and SQLite, whatever is in them: no error of memory, no undefined
 * behaviour, and
 *
 * - a DSN that is read has what every connection needs, the same each time;
 * - libpq reads the same in PDO's form for PostgreSQL;
 * - one that is refused is told why, in plain text without the password.
 */
#include "src/base/dsn.h"
#include "src/store/sql/mysql/options.h"
#include "src/store/sql/postgresql/options.h"
#include "src/store/sql/sqlite/options.h"
#include "src/store/sql/dsn.h"
#include "support/expect.h"

#include <libpq-fe.h>
#include <string.h>
#include <strings.h>

/* In place of a password. The input must not have it by itself. */
#define MARKER "hUnT3r2"

/* What is common to both, and whose it is. */
typedef struct reading {
    bool is_mysql;
    postgresql_options postgresql;
    mysql_store_options mysql;
    const char *identity, *address;
    latch_error error;
} reading;

static latch_engine *get_engine(void)
{
    static latch_engine *engine;

    if (engine == NULL) {
        latch_env env = latch_env_system();
        latch_error error;

        engine = latch_engine_create(&env, &error);
        EXPECT(engine != NULL);
    }
    return engine;
}

static void check_error(const latch_error *error)
{
    EXPECT(error->status == LATCH_ERROR_ARGUMENT);
    EXPECT(strncmp(error->message, "invalid ", 8) == 0);
    for (const char *at = error->message; *at != '\0'; at++) {
        EXPECT(*at >= ' ' && *at <= '~');
    }
    /* Nothing was cut off. */
    EXPECT(strlen(error->message) < sizeof(error->message) - 1);
}

static void check_timeout(int64_t timeout_ns)
{
    EXPECT(timeout_ns >= LATCH_NS_PER_MS && timeout_ns <= SQL_MAX_TIMEOUT_S * LATCH_NS_PER_S);
}

static void check_postgresql(const postgresql_options *options)
{
    EXPECT(options->parameter_count >= 4);
    for (size_t at = 0; at < options->parameter_count; at++) {
        EXPECT(*options->keywords[at] != '\0' && *options->values[at] != '\0');
        EXPECT(strcmp(options->keywords[at], "connect_timeout") != 0);
    }
    EXPECT(options->keywords[options->parameter_count] == NULL);
    EXPECT(options->values[options->parameter_count] == NULL);
    EXPECT(options->host_count >= 1);
    for (size_t at = 0; at < options->host_count; at++) {
        const postgresql_host *host = &options->hosts[at];

        EXPECT(host->name == NULL || *host->name != '\0');
        EXPECT(host->address == NULL || *host->address != '\0');
        EXPECT(host->port == NULL || (atoi(host->port) >= 1 && atoi(host->port) <= 65535));
        EXPECT(!host->resolve || (host->name != NULL && host->address == NULL));
    }
    check_timeout(options->connect_timeout_ns);
    check_timeout(options->command_timeout_ns);
}

static void check_mysql(const mysql_store_options *options)
{
    EXPECT(options->host == NULL || (*options->host != '\0' && options->socket == NULL));
    EXPECT(options->host == NULL ? options->port == 0
                                 : options->port >= 1 && options->port <= 65535);
    EXPECT(options->socket == NULL || (*options->socket == '/' && strlen(options->socket) < 108));
    EXPECT(options->user == NULL || *options->user != '\0');
    EXPECT(options->password == NULL || *options->password != '\0');
    EXPECT(options->tls || (!options->verify && options->ssl_ca == NULL));
    EXPECT(*options->charset != '\0' && *options->program_name != '\0');
    check_timeout(options->connect_timeout_ns);
    check_timeout(options->command_timeout_ns);
}

/* Reads `text`, which ends where its memory ends, so that ASan sees who reads on. */
static bool parse(bool is_mysql, const char *text, size_t length, reading *read)
{
    char *copy = malloc(length + (length == 0));
    latch_store_options given = {.dsn = copy, .dsn_length = length};
    latch_status status;

    EXPECT(copy != NULL);
    memcpy(copy, text, length);
    memset(&read->error, 0, sizeof(read->error));
    read->is_mysql = is_mysql;
    status = is_mysql ? latch_mysql_options_parse(get_engine(), &given, &read->mysql, &read->error)
                      : latch_postgresql_options_parse(get_engine(), &given, &read->postgresql,
                                                       &read->error);
    free(copy);
    EXPECT(status == LATCH_DONE || status == read->error.status);
    if (status != LATCH_DONE) {
        check_error(&read->error);
        return false;
    }
    if (is_mysql) {
        check_mysql(&read->mysql);
    } else {
        check_postgresql(&read->postgresql);
    }
    read->identity = is_mysql ? read->mysql.identity : read->postgresql.identity;
    read->address = is_mysql ? read->mysql.address : read->postgresql.address;
    EXPECT(*read->identity != '\0' && *read->address != '\0');
    return true;
}

static void discard(reading *read)
{
    if (read->is_mysql) {
        latch_mysql_options_free(get_engine(), &read->mysql);
    } else {
        latch_postgresql_options_free(get_engine(), &read->postgresql);
    }
}

static void check_dsn(bool is_mysql, const char *text, size_t length)
{
    reading first, second;

    if (!parse(is_mysql, text, length, &first)) {
        return;
    }
    EXPECT(length <= LATCH_DSN_MAX);
    EXPECT(parse(is_mysql, text, length, &second));
    EXPECT(strcmp(first.identity, second.identity) == 0);
    EXPECT(strcmp(first.address, second.address) == 0);
    discard(&second);
    discard(&first);
}

static const char *find(const postgresql_options *options, const char *keyword)
{
    for (size_t at = 0; at < options->parameter_count; at++) {
        if (strcmp(options->keywords[at], keyword) == 0) {
            return options->values[at];
        }
    }
    return NULL;
}

/* What Latch gives libpq where nothing is given. */
static bool is_default(const char *keyword)
{
    return strcmp(keyword, "fallback_application_name") == 0
           || strncmp(keyword, "keepalives_", strlen("keepalives_")) == 0;
}

static void compare(const postgresql_options *options, const char *text)
{
    char *message = NULL;
    PQconninfoOption *known = PQconninfoParse(text, &message);

    /* It may have options that only Latch knows. */
    EXPECT(known != NULL || strstr(message, "invalid connection option") != NULL);
    for (const PQconninfoOption *option = known; option != NULL && option->keyword != NULL;
         option++) {
        const char *value = find(options, option->keyword);

        if (option->val != NULL && *option->val != '\0') {
            EXPECT(strcmp(option->keyword, "connect_timeout") == 0
                   || (value != NULL && strcmp(value, option->val) == 0));
        } else {
            EXPECT(value == NULL || is_default(option->keyword));
        }
    }
    PQconninfoFree(known);
    PQfreemem(message);
}

/* PDO's form, as pdo_pgsql would hand it to libpq. */
static void check_libpq(const char *text, size_t length)
{
    static const char scheme[] = "pgsql:";
    char dsn[sizeof(scheme) + LATCH_DSN_MAX];
    size_t skip = strlen(scheme);
    reading read;

    if (length > LATCH_DSN_MAX - skip || memchr(text, '\0', length) != NULL
        || (length >= 2 && memcmp(text, "//", 2) == 0)) {
        return;
    }
    memcpy(dsn, scheme, skip);
    memcpy(dsn + skip, text, length);
    dsn[skip + length] = '\0';
    if (parse(false, dsn, skip + length, &read)) {
        for (char *at = strchr(dsn, ';'); at != NULL; at = strchr(at, ';')) {
            *at = ' ';
        }
        compare(&read.postgresql, dsn + skip);
        discard(&read);
    }
}

/* In any case: hosts are made lower. */
static bool has_marker(const char *text, size_t length)
{
    for (size_t at = 0; at + strlen(MARKER) <= length; at++) {
        if (strncasecmp(text + at, MARKER, strlen(MARKER)) == 0) {
            return true;
        }
    }
    return false;
}

/* The marker is a password here, between what the input is cut into. */
static void check_secrecy(bool is_mysql, const char *before, const char *after, const char *text,
                          size_t length)
{
    char dsn[LATCH_DSN_MAX + 100];
    size_t before_length = strlen(before), after_length = strlen(after);
    reading read;

    if (length > LATCH_DSN_MAX || has_marker(text, length)) {
        return;
    }
    memcpy(dsn, before, before_length);
    memcpy(dsn + before_length, text, length);
    memcpy(dsn + before_length + length, after, after_length);
    if (parse(is_mysql, dsn, before_length + length + after_length, &read)) {
        EXPECT(strcasestr(read.address, MARKER) == NULL);
        discard(&read);
    } else {
        EXPECT(strcasestr(read.error.message, MARKER) == NULL);
    }
}

/* ---- SQLite */

static bool parse_sqlite(const char *text, size_t length, sqlite_options *options)
{
    char *copy = malloc(length + (length == 0));
    latch_store_options given = {.dsn = copy, .dsn_length = length};
    latch_error error = {.message = ""};
    latch_status status;

    EXPECT(copy != NULL);
    memcpy(copy, text, length);
    status = latch_sqlite_options_parse(get_engine(), &given, options, &error);
    free(copy);
    if (status != LATCH_DONE) {
        check_error(&error);
        EXPECT(strcasestr(error.message, MARKER) == NULL);
        return false;
    }
    EXPECT(*options->path == '/' || options->is_uri || options->memory != 0);
    EXPECT(!options->is_uri || strncmp(options->path, "file:", 5) == 0);
    EXPECT(options->memory == 0 || strcmp(options->path, ":memory:") == 0);
    check_timeout(options->connect_timeout_ns);
    check_timeout(options->command_timeout_ns);
    return true;
}

/* What stands before the input is a scheme, or the scheme, a user and a password as well. */
static void check_sqlite(const char *before, const char *text, size_t length)
{
    char dsn[LATCH_DSN_MAX + 100];
    size_t before_length = strlen(before);
    sqlite_options first, second;

    if (length > LATCH_DSN_MAX || has_marker(text, length)) {
        return;
    }
    memcpy(dsn, before, before_length);
    memcpy(dsn + before_length, text, length);
    if (!parse_sqlite(dsn, before_length + length, &first)) {
        return;
    }
    EXPECT(strstr(first.path, MARKER) == NULL);
    EXPECT(parse_sqlite(dsn, before_length + length, &second));
    EXPECT((strcmp(first.identity, second.identity) == 0) == (first.memory == 0));
    latch_sqlite_options_free(get_engine(), &second);
    latch_sqlite_options_free(get_engine(), &first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = size > 0 ? (const char *) data : "";

    check_dsn(false, text, size);
    check_dsn(true, text, size);
    check_libpq(text, size);
    check_secrecy(false, "pgsql:password=" MARKER, "", text, size);
    check_secrecy(false, "pgsql:password='" MARKER, "", text, size);
    check_secrecy(false, "pgsql:password=p;" MARKER, "", text, size);
    check_secrecy(false, "postgresql://user:" MARKER "@", "", text, size);
    check_secrecy(false, "postgresql://user:" MARKER, "@host", text, size);
    check_secrecy(false, "postgresql://host?password=" MARKER, "", text, size);
    check_secrecy(false, "pgsql:host=user:" MARKER, "", text, size);
    check_secrecy(false, "pgsql:host=", ",user:" MARKER "@host", text, size);
    check_secrecy(true, "mysql:host=user:" MARKER, "", text, size);
    check_secrecy(true, "mysql:password=" MARKER, "", text, size);
    check_secrecy(true, "mysql:password=p;" MARKER, "", text, size);
    check_secrecy(true, "mysql://user:" MARKER "@", "", text, size);
    check_secrecy(true, "mysql://host?password=pass&" MARKER, "", text, size);
    check_sqlite("", text, size);
    check_sqlite("sqlite:", text, size);
    check_sqlite("sqlite3://user:" MARKER "@", text, size);
    check_sqlite("sqlite3://user:" MARKER "@host/", text, size);
    return 0;
}
