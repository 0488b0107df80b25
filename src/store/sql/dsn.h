/*
 * What DSNs for SQL servers have in common. Each comes in two forms, as PDO and as Doctrine write
 * it, with "+advisory" behind the scheme or without, as Symfony does:
 *
 *     pgsql:host=localhost;port=5432;dbname=test;user=u;password=p
 *     postgresql://[user[:password]@][host[:port]][/dbname][?option=value&...]
 *
 * Both become one list of settings, to which those are added that come beside the DSN. Of a setting
 * that is given twice the last one counts.
 */
#ifndef LATCH_SQL_DSN_H
#define LATCH_SQL_DSN_H

#include "src/base/dsn.h"

#define SQL_DEFAULT_TIMEOUT_NS (5 * LATCH_NS_PER_S)
#define SQL_MAX_TIMEOUT_S 86400

typedef struct sql_dsn sql_dsn;

/* Option of a DSN: the function that parses its value, and the field that gets it. */
typedef struct sql_option {
    const char *name;
    latch_status (*parse)(const sql_dsn *dsn, const latch_setting *setting, void *field);
    size_t offset; /* of the field */
    bool brackets; /* may stand behind the name */
} sql_option;

/* A kind of server. */
typedef struct sql_server {
    const char *name; /* for messages */
    const char *const
        *schemes;        /* NULL-terminated; the first one is PDO's, in whose form it may be */
    const char *example; /* of each form */
    /* Parses PDO's form by latch_sql_dsn_add(); `text` has no scheme, and lives as long as the
       settings. */
    latch_status (*split)(sql_dsn *dsn, char *text);
    const sql_option *options;
    size_t option_count;
    /* Field of a text option that is not in the list; NULL: unknown option. May be NULL. */
    const char **(*find_text)(void *parser, const char *name);
    const char *known; /* the names that matter, for messages */
} sql_server;

/* Parsed DSN, with all its texts. None contains a NUL. */
struct sql_dsn {
    const sql_server *server;
    latch_error *error;      /* as long as it is being read */
    latch_setting *settings; /* in their order; none is NULL, a value may be empty */
    size_t count;
    size_t first_option; /* before it are the parts of a URL */
    size_t first_beside; /* from it on they come beside the DSN */
    latch_dsn *url;      /* NULL: it has PDO's form */
    char port[sizeof("65535")];
    size_t size; /* of the allocation that this is in, with the settings and their texts */
};

/* Options of all servers, and their defaults. */
typedef struct sql_common {
    int64_t connect_timeout_ns, command_timeout_ns;
    const char *persistent_id;
} sql_common;

#define SQL_COMMON_DEFAULT                                                                         \
    {                                                                                              \
        SQL_DEFAULT_TIMEOUT_NS, SQL_DEFAULT_TIMEOUT_NS, NULL                                       \
    }

/*
 * Parses DSN and settings. The caller frees *dsn by latch_sql_dsn_free(). A message quotes nothing
 * of the text but the name of an unknown option, if it cannot be part of a password.
 */
latch_status latch_sql_dsn_read(latch_engine *engine, const sql_server *server,
                                const latch_store_options *given, sql_dsn **dsn,
                                latch_error *error);

/* Hands each setting to its option, whose field is in `parser`. */
latch_status latch_sql_dsn_parse_settings(const sql_dsn *dsn, void *parser);

/* Wipes and frees it; accepts NULL. */
void latch_sql_dsn_free(latch_engine *engine, sql_dsn *dsn);

/* Adds a setting. There is room for one more than the text has "=" in it. */
void latch_sql_dsn_add(sql_dsn *dsn, const char *name, const char *value);

latch_status latch_sql_fail(const sql_dsn *dsn, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "the option ... " and what it has to be. */
latch_status latch_sql_fail_option(const sql_dsn *dsn, const latch_setting *setting,
                                   const char *what);

/* ---- Parsers of options */

latch_status latch_sql_parse_nothing(const sql_dsn *dsn, const latch_setting *setting, void *field);

/* const char *: NULL when it is empty. */
latch_status latch_sql_parse_text(const sql_dsn *dsn, const latch_setting *setting, void *field);

/* int64_t: a time-out in nanoseconds. 0 is the default: there is no endless wait. */
latch_status latch_sql_parse_seconds(const sql_dsn *dsn, const latch_setting *setting, void *field);

bool latch_sql_has_control(const char *text);

/* ---- Identity */

/* Joins the texts, of which some may be NULL; lengths separate them, whatever they contain. NULL
 * when memory ran out. */
char *latch_sql_identity(const latch_engine *engine, const char *const *texts, size_t count);

/* Wipes and frees an identity; NULL is allowed. */
void latch_sql_identity_free(const latch_engine *engine, char *identity);

#endif
