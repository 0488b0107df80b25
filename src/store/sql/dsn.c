/* DSNs for SQL servers: their forms, their settings, and the options that parse them. */
#include "src/store/sql/dsn.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ADVISORY "+advisory"

latch_status latch_sql_fail(const sql_dsn *dsn, const char *format, ...)
{
    char message[sizeof(dsn->error->message)];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    return latch_fail(dsn->error, LATCH_ERROR_ARGUMENT, 0, "invalid %s DSN: %s", dsn->server->name,
                      message);
}

latch_status latch_sql_fail_option(const sql_dsn *dsn, const latch_setting *setting,
                                   const char *what)
{
    return latch_sql_fail(dsn, "the option \"%s\" %s", setting->name, what);
}

/* ---- The two forms */

/* Length of the scheme with "+advisory" and its colon; 0: another server's. */
static size_t skip_scheme(const char *scheme, const char *text, size_t length)
{
    size_t at = strlen(scheme), advisory = strlen(ADVISORY);

    if (length <= at || memcmp(text, scheme, at) != 0) {
        return 0;
    }
    at += length - at > advisory && memcmp(text + at, ADVISORY, advisory) == 0 ? advisory : 0;
    return text[at] == ':' ? at + 1 : 0;
}

static bool is_url(const char *rest, size_t length)
{
    return length >= 2 && memcmp(rest, "//", 2) == 0;
}

/* Offset of PDO's form after its scheme; 0: a URL. Checked first, as advice on the host makes no
 * sense for another server's DSN. */
static latch_status find_form(const sql_dsn *dsn, const char *text, size_t length, size_t *pdo)
{
    const char *const *schemes = dsn->server->schemes;

    for (size_t at = 0; schemes[at] != NULL; at++) {
        size_t skip = skip_scheme(schemes[at], text, length);

        if (skip > 0 && (at == 0 || is_url(text + skip, length - skip))) {
            *pdo = is_url(text + skip, length - skip) ? 0 : skip;
            return LATCH_DONE;
        }
    }
    return latch_sql_fail(dsn, "it is written as in %s", dsn->server->example);
}

/* To latch_dsn_parse() all before the first "@" is user and password, as Symfony has it for Redis.
 * Doctrine ends them where the host ends: what is one thing here and another there is refused. */
static latch_status check_credentials(const sql_dsn *dsn, const char *text, size_t length)
{
    const char *from = memmem(text, length, "//", 2);
    const char *end = memchr(text, '@', length);

    for (const char *at = from + 2; end != NULL && at < end; at++) {
        if (*at == '/' || *at == '?' || *at == '#') {
            return latch_sql_fail(dsn, "\"/\", \"?\", \"#\" and \"@\" are written as \"%%2F\", "
                                       "\"%%3F\", \"%%23\" and \"%%40\" in user and password, as "
                                       "is \"@\" in options");
        }
    }
    return LATCH_DONE;
}

void latch_sql_dsn_add(sql_dsn *dsn, const char *name, const char *value)
{
    dsn->settings[dsn->count++] = (latch_setting){.name = name, .value = value};
}

static void add_given(sql_dsn *dsn, const char *name, const char *value)
{
    if (value != NULL) {
        latch_sql_dsn_add(dsn, name, value);
    }
}

static void add_url(sql_dsn *dsn)
{
    const latch_dsn *url = dsn->url;

    /* To latch_dsn_parse() a lone name is a password, as for Redis. */
    add_given(dsn, "user", url->user != NULL ? url->user : url->password);
    add_given(dsn, "password", url->user != NULL ? url->password : NULL);
    add_given(dsn, "host", url->host);
    if (url->port != 0) {
        snprintf(dsn->port, sizeof(dsn->port), "%d", url->port);
        latch_sql_dsn_add(dsn, "port", dsn->port);
    }
    add_given(dsn, "dbname", *url->path != '\0' ? url->path + 1 : NULL);
    dsn->first_option = dsn->count;
    for (const latch_dsn_option *option = url->options; option != NULL; option = option->next) {
        latch_sql_dsn_add(dsn, option->name, option->value);
    }
}

static size_t count_url(const latch_dsn *url)
{
    size_t count = 5; /* user, password, host, port and dbname */

    for (const latch_dsn_option *option = url->options; option != NULL; option = option->next) {
        count++;
    }
    return count;
}

static size_t count_bytes(const char *text, size_t length, char byte)
{
    size_t count = 0;

    for (size_t at = 0; at < length; at++) {
        count += text[at] == byte;
    }
    return count;
}

/* ---- What comes beside */

/* An empty value is none: Symfony passes options that were not set as "". */
static bool is_given(const latch_setting *setting)
{
    return setting->value != NULL && *setting->value != '\0';
}

static latch_status check_beside(const sql_dsn *dsn, const latch_store_options *given, size_t *size)
{
    for (size_t at = 0; at < given->setting_count; at++) {
        const latch_setting *setting = &given->settings[at];

        if (is_given(setting)) {
            size_t name = strnlen(setting->name, LATCH_DSN_MAX + 1);
            size_t value = strnlen(setting->value, LATCH_DSN_MAX + 1);

            if (name > LATCH_DSN_MAX || value > LATCH_DSN_MAX) {
                return latch_sql_fail(dsn, "the option \"%s\" is longer than %d bytes",
                                      latch_dsn_may_show(setting->name, "1") ? setting->name : "?",
                                      LATCH_DSN_MAX);
            }
            *size += name + 1 + value + 1;
        }
    }
    return LATCH_DONE;
}

static char *sql_dsn_copy_text(char **out, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = memcpy(*out, text, size);

    *out += size;
    return copy;
}

static void add_beside(sql_dsn *dsn, const latch_store_options *given, char *out)
{
    for (size_t at = 0; at < given->setting_count; at++) {
        if (is_given(&given->settings[at])) {
            const char *name = sql_dsn_copy_text(&out, given->settings[at].name);

            latch_sql_dsn_add(dsn, name, sql_dsn_copy_text(&out, given->settings[at].value));
        }
    }
}

/* ---- The whole */

/* `text` is PDO's form without its scheme, or NULL when dsn->url has all. */
static latch_status sql_dsn_fill(latch_engine *engine, const sql_dsn *found,
                                 const latch_store_options *given, const char *text, size_t length,
                                 size_t size, sql_dsn **dsn)
{
    size_t room = given->setting_count;
    latch_status status = LATCH_DONE;
    char *out;

    room += found->url != NULL ? count_url(found->url) : count_bytes(text, length, '=') + 1;
    size += sizeof(**dsn) + room * sizeof(latch_setting) + length + 1;
    *dsn = latch_allocate(engine, size);
    if (*dsn == NULL) {
        return latch_fail_memory(found->error);
    }
    **dsn = *found;
    (*dsn)->size = size;
    (*dsn)->settings = (latch_setting *) (*dsn + 1);
    out = (char *) ((*dsn)->settings + room);
    if (found->url != NULL) {
        add_url(*dsn);
    } else {
        memcpy(out, text, length);
        out[length] = '\0';
        status = found->server->split(*dsn, out);
    }
    (*dsn)->first_beside = (*dsn)->count;
    add_beside(*dsn, given, out + length + 1);
    return status;
}

latch_status latch_sql_dsn_read(latch_engine *engine, const sql_server *server,
                                const latch_store_options *given, sql_dsn **dsn, latch_error *error)
{
    sql_dsn found = {.server = server, .error = error};
    const char *text = given->dsn != NULL ? given->dsn : "";
    size_t length = given->dsn != NULL ? given->dsn_length : 0, size = 0, pdo = 0;
    latch_status status;

    *dsn = NULL;
    if (length > LATCH_DSN_MAX) {
        return latch_sql_fail(&found, "it is longer than %d bytes", LATCH_DSN_MAX);
    }
    if (memchr(text, '\0', length) != NULL) {
        return latch_sql_fail(&found, "it must not contain a NUL byte");
    }
    status = find_form(&found, text, length, &pdo);
    if (status == LATCH_DONE) {
        status = check_beside(&found, given, &size);
    }
    if (status == LATCH_DONE && pdo == 0) {
        status = check_credentials(&found, text, length);
    }
    if (status == LATCH_DONE && pdo == 0) {
        status = latch_dsn_parse(engine, text, length, &found.url, error);
    }
    if (status != LATCH_DONE) {
        return status;
    }
    status = sql_dsn_fill(engine, &found, given, text + pdo, pdo > 0 ? length - pdo : 0, size, dsn);
    if (status != LATCH_DONE) {
        if (*dsn == NULL) {
            latch_dsn_free(engine, found.url);
        }
        latch_sql_dsn_free(engine, *dsn);
        *dsn = NULL;
    }
    return status;
}

void latch_sql_dsn_free(latch_engine *engine, sql_dsn *dsn)
{
    if (dsn != NULL) {
        latch_dsn_free(engine, dsn->url);
        explicit_bzero(dsn, dsn->size);
        latch_free(engine, dsn);
    }
}

/* ---- Options */

static const sql_option *find_option(const sql_server *server, const char *name)
{
    size_t length = strcspn(name, "[");

    for (size_t at = 0; at < server->option_count; at++) {
        const char *known = server->options[at].name;

        /* An option with a known text in brackets precedes the one without. */
        if (strcmp(known, name) == 0
            || (strlen(known) == length && memcmp(known, name, length) == 0)) {
            return &server->options[at];
        }
    }
    return NULL;
}

/* Text after a password in the DSN may be the rest of the password, with a raw ";" or "&" in it. */
static bool may_be_password(const sql_dsn *dsn, const latch_setting *setting)
{
    if (setting >= dsn->settings + dsn->first_beside) {
        return false;
    }
    for (const latch_setting *before = dsn->settings + dsn->first_option; before < setting;
         before++) {
        if (strstr(before->name, "pass") != NULL) {
            return true;
        }
    }
    return false;
}

static latch_status sql_dsn_fail_unknown(const sql_dsn *dsn, const latch_setting *setting)
{
    const char *known = dsn->server->known;

    if (may_be_password(dsn, setting)) {
        return latch_sql_fail(dsn,
                              "an option after \"password\" is unknown (is %s in the password?); "
                              "known are %s",
                              dsn->url != NULL ? "a \"&\" not written as \"%26\""
                                               : "a \";\" or a blank",
                              known);
    }
    if (!latch_dsn_may_show(setting->name, setting->value)) {
        return latch_sql_fail(dsn,
                              "it has an option that is unknown, and not shown as it may be a "
                              "part of a password; known are %s",
                              known);
    }
    return latch_sql_fail(dsn, "the option \"%s\" is unknown; known are %s", setting->name, known);
}

static latch_status parse_setting(const sql_dsn *dsn, const latch_setting *setting, void *parser)
{
    const sql_server *server = dsn->server;
    const sql_option *option = find_option(server, setting->name);
    const char **text;

    if (option != NULL) {
        latch_setting named = {.name = option->name, .value = setting->value};

        return option->brackets || strcmp(option->name, setting->name) == 0
                   ? option->parse(dsn, &named, (char *) parser + option->offset)
                   : latch_sql_fail_option(dsn, &named, "has one value and no brackets");
    }
    text = server->find_text != NULL ? server->find_text(parser, setting->name) : NULL;
    return text != NULL ? latch_sql_parse_text(dsn, setting, text)
                        : sql_dsn_fail_unknown(dsn, setting);
}

latch_status latch_sql_dsn_parse_settings(const sql_dsn *dsn, void *parser)
{
    latch_status status = LATCH_DONE;

    for (size_t at = 0; status == LATCH_DONE && at < dsn->count; at++) {
        status = parse_setting(dsn, &dsn->settings[at], parser);
    }
    return status;
}

latch_status latch_sql_parse_nothing(const sql_dsn *dsn, const latch_setting *setting, void *field)
{
    (void) dsn;
    (void) setting;
    (void) field;
    return LATCH_DONE;
}

latch_status latch_sql_parse_text(const sql_dsn *dsn, const latch_setting *setting, void *field)
{
    (void) dsn;
    *(const char **) field = *setting->value != '\0' ? setting->value : NULL;
    return LATCH_DONE;
}

latch_status latch_sql_parse_seconds(const sql_dsn *dsn, const latch_setting *setting, void *field)
{
    int64_t ns = latch_dsn_read_seconds(setting->value, SQL_MAX_TIMEOUT_S);

    if (ns == 0) {
        ns = SQL_DEFAULT_TIMEOUT_NS;
    }
    if (ns < LATCH_NS_PER_MS || ns > SQL_MAX_TIMEOUT_S * LATCH_NS_PER_S) {
        return latch_sql_fail(dsn,
                              "the option \"%s\" is a number of seconds from 0.001 to %d, such as "
                              "\"2.5\"",
                              setting->name, SQL_MAX_TIMEOUT_S);
    }
    *(int64_t *) field = ns;
    return LATCH_DONE;
}

bool latch_sql_has_control(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char) *text < 0x20 || *text == 0x7f) {
            return true;
        }
    }
    return false;
}

/* ---- What is made of it */

char *latch_sql_identity(const latch_engine *engine, const char *const *texts, size_t count)
{
    size_t size = 1, length = 0;
    char *identity;

    for (size_t at = 0; at < count; at++) {
        size += sizeof("18446744073709551615: ") + (texts[at] != NULL ? strlen(texts[at]) : 0);
    }
    identity = latch_allocate(engine, size);
    if (identity == NULL) {
        return NULL;
    }
    *identity = '\0';
    for (size_t at = 0; at < count; at++) {
        length += texts[at] == NULL ? (size_t) snprintf(identity + length, size - length, "- ")
                                    : (size_t) snprintf(identity + length, size - length, "%zu:%s ",
                                                        strlen(texts[at]), texts[at]);
    }
    return identity;
}

void latch_sql_identity_free(const latch_engine *engine, char *identity)
{
    if (identity != NULL) {
        explicit_bzero(identity, strlen(identity));
        latch_free(engine, identity);
    }
}
