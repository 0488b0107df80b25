/* DSN of MySQL or MariaDB: address, credentials, TLS. */
#include "src/store/sql/mysql/options.h"
#include "src/store/sql/dsn.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

#define SOCKET_MAX (sizeof(((struct sockaddr_un *) NULL)->sun_path) - 1)
#define CHARSET_MAX 32

/* In the order of their names below. */
typedef enum { SSL_DISABLED = 0, SSL_REQUIRED, SSL_VERIFY_IDENTITY, SSL_NOT_GIVEN } ssl_mode;

/* Parser: the options so far. */
typedef struct mysql_dsn_parser {
    mysql_store_options options;
    sql_common common;
    ssl_mode mode;
    int verify; /* -1: not given */
} mysql_dsn_parser;

/* ---- PDO's form */

static char *mysql_skip_blanks(char *at)
{
    return at + strspn(at, " \t\n\v\f\r");
}

/* Takes each ";;" of a value for one ";"; what comes after its end. */
static char *mysql_end_value(char *at)
{
    char *out = at;

    while (*at != '\0' && (*at != ';' || at[1] == ';')) {
        at += *at == ';';
        *out++ = *at++;
    }
    at += *at != '\0';
    *out = '\0';
    return at;
}

static latch_status mysql_split(sql_dsn *dsn, char *text)
{
    char *at = mysql_skip_blanks(text);

    while (*at != '\0') {
        const char *name = at;
        char *value = strchr(at, '=');

        if (value == NULL) {
            return latch_sql_fail(dsn, "an option has no \"=\"; a \";\" within a value is written "
                                       "as \";;\"");
        }
        *value++ = '\0';
        at = mysql_skip_blanks(mysql_end_value(value));
        latch_sql_dsn_add(dsn, name, value);
    }
    return LATCH_DONE;
}

/* ---- Options */

static void make_lower(const char *text)
{
    for (char *at = (char *) text; *at != '\0'; at++) {
        *at = (char) (*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
    }
}

/* Brackets around an IPv6 address: optional in PDO's form, removed by the parser of URLs. */
static latch_status parse_mysql_host(const sql_dsn *dsn, const latch_setting *setting, void *field)
{
    char *host = (char *) setting->value;
    size_t length = strlen(host);

    if (*host == '[' && length > 2 && host[length - 1] == ']') {
        host[length - 1] = '\0';
        host++;
    }
    /* Errors of the connection show the host: "user:password" must not become one. */
    if (latch_sql_has_control(host) || strpbrk(host, "/,[]@ ") != NULL
        || (strchr(host, ':') != NULL && !latch_dsn_is_address(host, strlen(host)))) {
        return latch_sql_fail_option(dsn, setting,
                                     "is one name or address; a socket has the option "
                                     "\"unix_socket\"");
    }
    make_lower(host);
    *(const char **) field = *host != '\0' ? host : NULL;
    return LATCH_DONE;
}

static latch_status parse_mysql_port(const sql_dsn *dsn, const latch_setting *setting, void *field)
{
    size_t length = strlen(setting->value);
    int64_t port = latch_dsn_read_number(setting->value, length, UINT16_MAX);

    if (length > 0 && port < 1) {
        return latch_sql_fail_option(dsn, setting, "is a number from 1 to 65535");
    }
    *(int *) field = length > 0 ? (int) port : MYSQL_DEFAULT_PORT;
    return LATCH_DONE;
}

static latch_status parse_mysql_socket(const sql_dsn *dsn, const latch_setting *setting,
                                       void *field)
{
    const char *path = setting->value;

    if (*path != '\0' && (*path != '/' || latch_sql_has_control(path))) {
        return latch_sql_fail_option(dsn, setting,
                                     "is the path of a socket, beginning with \"/\" and without "
                                     "control characters");
    }
    if (strlen(path) > SOCKET_MAX) {
        return latch_sql_fail(dsn, "the option \"%s\" is no longer than %zu bytes", setting->name,
                              SOCKET_MAX);
    }
    return latch_sql_parse_text(dsn, setting, field);
}

static latch_status parse_mysql_path(const sql_dsn *dsn, const latch_setting *setting, void *field)
{
    return latch_dsn_is_path(setting->value)
               ? latch_sql_parse_text(dsn, setting, field)
               : latch_sql_fail_option(dsn, setting,
                                       "is the path of a file, not what is in the file");
}

static latch_status parse_charset(const sql_dsn *dsn, const latch_setting *setting, void *field)
{
    const char *name = setting->value;

    make_lower(name);
    if (name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0'
        || strlen(name) > CHARSET_MAX) {
        return latch_sql_fail_option(dsn, setting,
                                     "is the name of a character set, such as utf8mb4");
    }
    return latch_sql_parse_text(dsn, setting, field);
}

static latch_status parse_ssl_mode(const sql_dsn *dsn, const latch_setting *setting, void *field)
{
    static const char *const names[] = {
        [SSL_DISABLED] = "disabled",
        [SSL_REQUIRED] = "required",
        [SSL_VERIFY_IDENTITY] = "verify_identity",
    };

    for (size_t at = 0; at < sizeof(names) / sizeof(*names); at++) {
        if (strcasecmp(setting->value, names[at]) == 0) {
            *(ssl_mode *) field = (ssl_mode) at;
            return LATCH_DONE;
        }
    }
    return latch_sql_fail_option(dsn, setting, "is disabled, required or verify_identity");
}

static latch_status parse_cleartext(const sql_dsn *dsn, const latch_setting *setting, void *field)
{
    int value = latch_dsn_read_boolean(setting->value);

    *(bool *) field = value > 0;
    return value >= 0 ? LATCH_DONE : latch_sql_fail_option(dsn, setting, "is 0 or 1");
}

static latch_status parse_verify(const sql_dsn *dsn, const latch_setting *setting, void *field)
{
    *(int *) field = latch_dsn_read_boolean(setting->value);
    return *(int *) field >= 0 ? LATCH_DONE : latch_sql_fail_option(dsn, setting, "is 0 or 1");
}

#define FIELD(name) offsetof(mysql_dsn_parser, name)

static const sql_option own_options[] = {
    {"charset", parse_charset, FIELD(options.charset), false},
    {"connect_timeout", latch_sql_parse_seconds, FIELD(common.connect_timeout_ns), false},
    {"dbname", latch_sql_parse_text, FIELD(options.database), false},
    {"default_dbname", latch_sql_parse_nothing, 0, false},
    {"defaultTableOptions", latch_sql_parse_nothing, 0, true},
    {"driver", latch_sql_parse_nothing, 0, false},
    {"driverClass", latch_sql_parse_nothing, 0, false},
    /* PDO's numbers for TLS: a DSN that asks for it in this way must not go without. */
    {"driverOptions[1007]", parse_mysql_path, FIELD(options.ssl_key), false},
    {"driverOptions[1008]", parse_mysql_path, FIELD(options.ssl_cert), false},
    {"driverOptions[1009]", parse_mysql_path, FIELD(options.ssl_ca), false},
    {"driverOptions[1010]", parse_mysql_path, FIELD(options.ssl_capath), false},
    {"driverOptions[1011]", latch_sql_parse_text, FIELD(options.ssl_cipher), false},
    {"driverOptions[1014]", parse_verify, FIELD(verify), false},
    {"driverOptions", latch_sql_parse_nothing, 0, true},
    {"enable_cleartext_plugin", parse_cleartext, FIELD(options.cleartext), false},
    {"host", parse_mysql_host, FIELD(options.host), false},
    {"keepReplica", latch_sql_parse_nothing, 0, false},
    {"keepSlave", latch_sql_parse_nothing, 0, false},
    {"password", latch_sql_parse_text, FIELD(options.password), false},
    {"persistent", latch_sql_parse_nothing, 0, false},
    {"persistent_id", latch_sql_parse_text, FIELD(common.persistent_id), false},
    {"platform", latch_sql_parse_nothing, 0, false},
    {"port", parse_mysql_port, FIELD(options.port), false},
    {"program_name", latch_sql_parse_text, FIELD(options.program_name), false},
    {"read_timeout", latch_sql_parse_seconds, FIELD(common.command_timeout_ns), false},
    {"serverVersion", latch_sql_parse_nothing, 0, false},
    {"ssl_ca", parse_mysql_path, FIELD(options.ssl_ca), false},
    {"ssl_capath", parse_mysql_path, FIELD(options.ssl_capath), false},
    {"ssl_cert", parse_mysql_path, FIELD(options.ssl_cert), false},
    {"ssl_cipher", latch_sql_parse_text, FIELD(options.ssl_cipher), false},
    {"ssl_key", parse_mysql_path, FIELD(options.ssl_key), false},
    {"ssl_mode", parse_ssl_mode, FIELD(mode), false},
    {"ssl_verify_server_cert", parse_verify, FIELD(verify), false},
    {"timeout", latch_sql_parse_seconds, FIELD(common.connect_timeout_ns), false},
    {"unix_socket", parse_mysql_socket, FIELD(options.socket), false},
    {"user", latch_sql_parse_text, FIELD(options.user), false},
    {"wrapperClass", latch_sql_parse_nothing, 0, false},
};

static const sql_server server = {
    .name = "MySQL",
    .schemes = LATCH_MYSQL_SCHEMES,
    .example = "\"mysql:host=localhost;dbname=test\" or \"mysql://user@localhost/test\"",
    .split = mysql_split,
    .options = own_options,
    .option_count = sizeof(own_options) / sizeof(*own_options),
    .known = "charset, dbname, enable_cleartext_plugin, host, password, persistent_id, port, "
             "program_name, read_timeout, "
             "ssl_ca, ssl_capath, ssl_cert, ssl_cipher, ssl_key, ssl_mode, "
             "ssl_verify_server_cert, timeout, unix_socket and user",
};

/* ---- What was given, put together */

/* PDO's rule, and libmariadb's: localhost is a socket, and other hosts have none. */
static void find_place(mysql_store_options *options)
{
    if (options->host != NULL && strcmp(options->host, "localhost") != 0) {
        options->socket = NULL;
    } else {
        options->host = NULL;
        options->port = 0;
    }
}

static latch_status mysql_find_tls(const sql_dsn *dsn, mysql_dsn_parser *parser)
{
    mysql_store_options *options = &parser->options;
    bool has_ca = options->ssl_ca != NULL || options->ssl_capath != NULL;
    bool has_texts = has_ca || options->ssl_key != NULL || options->ssl_cert != NULL
                     || options->ssl_cipher != NULL;

    if (parser->mode == SSL_VERIFY_IDENTITY && parser->verify == 0) {
        return latch_sql_fail(dsn, "the options \"ssl_mode\" and \"ssl_verify_server_cert\" "
                                   "contradict each other");
    }
    options->tls = parser->mode == SSL_NOT_GIVEN ? has_texts || parser->verify > 0
                                                 : parser->mode != SSL_DISABLED;
    if (!options->tls) {
        options->ssl_key = options->ssl_cert = options->ssl_cipher = NULL;
        options->ssl_ca = options->ssl_capath = NULL;
        return LATCH_DONE;
    }
    options->verify = parser->verify >= 0 ? parser->verify > 0
                                          : parser->mode != SSL_REQUIRED || has_ca;
    return LATCH_DONE;
}

/* Plain password: only to an authenticated server. An address is no proof. */
static latch_status check_cleartext(const sql_dsn *dsn, const mysql_store_options *options)
{
    return !options->cleartext || options->host == NULL || options->verify
               ? LATCH_DONE
               : latch_sql_fail(dsn, "the option \"enable_cleartext_plugin\" sends the password as "
                                     "it is: it needs \"ssl_mode=verify_identity\", or a socket");
}

static bool mysql_make_address(const latch_engine *engine, mysql_store_options *options)
{
    const char *place = options->host != NULL     ? options->host
                        : options->socket != NULL ? options->socket
                                                  : "the default socket";
    size_t size = strlen(place) + sizeof("[]:65535");

    options->address = latch_allocate(engine, size);
    if (options->address == NULL) {
        return false;
    }
    if (options->host == NULL) {
        snprintf(options->address, size, "%s", place);
    } else {
        snprintf(options->address, size, strchr(place, ':') != NULL ? "[%s]:%d" : "%s:%d", place,
                 options->port);
    }
    return true;
}

static bool mysql_make_identity(const latch_engine *engine, const mysql_dsn_parser *parser,
                                mysql_store_options *options)
{
    char numbers[128];
    const char *texts[] = {
        numbers,
        options->host,
        options->socket,
        options->user,
        options->password,
        options->database,
        options->ssl_key,
        options->ssl_cert,
        options->ssl_ca,
        options->ssl_capath,
        options->ssl_cipher,
        options->charset,
        options->program_name,
        parser->common.persistent_id,
    };

    snprintf(numbers, sizeof(numbers), "%d %d %d %d %" PRId64 " %" PRId64, options->port,
             options->tls, options->verify, options->cleartext, options->connect_timeout_ns,
             options->command_timeout_ns);
    options->identity = latch_sql_identity(engine, texts, sizeof(texts) / sizeof(*texts));
    return options->identity != NULL;
}

/* ---- The whole */

static latch_status mysql_read_all(latch_engine *engine, mysql_store_options *options,
                                   latch_error *error)
{
    mysql_dsn_parser parser = {
        .options = {.port = MYSQL_DEFAULT_PORT, .dsn = options->dsn},
        .common = SQL_COMMON_DEFAULT,
        .mode = SSL_NOT_GIVEN,
        .verify = -1,
    };
    latch_status status = latch_sql_dsn_parse_settings(options->dsn, &parser);

    if (status == LATCH_DONE) {
        find_place(&parser.options);
        status = mysql_find_tls(options->dsn, &parser);
    }
    if (status == LATCH_DONE) {
        status = check_cleartext(options->dsn, &parser.options);
    }
    if (status != LATCH_DONE) {
        return status;
    }
    *options = parser.options;
    options->charset = options->charset != NULL ? options->charset : "utf8mb4";
    options->program_name = options->program_name != NULL ? options->program_name : "latch";
    options->connect_timeout_ns = parser.common.connect_timeout_ns;
    options->command_timeout_ns = parser.common.command_timeout_ns;
    return mysql_make_address(engine, options) && mysql_make_identity(engine, &parser, options)
               ? LATCH_DONE
               : latch_fail_memory(error);
}

latch_status latch_mysql_options_parse(latch_engine *engine, const latch_store_options *given,
                                       mysql_store_options *options, latch_error *error)
{
    latch_status status;

    *options = (mysql_store_options){.identity = NULL};
    status = latch_sql_dsn_read(engine, &server, given, &options->dsn, error);
    if (status == LATCH_DONE) {
        status = mysql_read_all(engine, options, error);
    }
    if (status == LATCH_DONE) {
        options->dsn->error = NULL;
    } else {
        latch_mysql_options_free(engine, options);
    }
    return status;
}

void latch_mysql_options_free(latch_engine *engine, mysql_store_options *options)
{
    latch_sql_identity_free(engine, options->identity);
    latch_free(engine, options->address);
    latch_sql_dsn_free(engine, options->dsn);
    *options = (mysql_store_options){.identity = NULL};
}
