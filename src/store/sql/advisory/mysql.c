/*
 * The store "mysql": locks of MySQL and MariaDB by name, as Symfony's MysqlStore takes them (8.2),
 * by libmariadb or by a runner of the caller's: exclusive ones only. GET_LOCK() answers NULL when
 * it fails.
 */
#include "src/store/sql/advisory/advisory.h"
#include "src/store/sql/mysql/driver.h"
#include "src/store/sql/mysql/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- Statements ----------------------------------------------------------------------------- */

#define MY(call) "IF(%2$s = CONNECTION_ID(), " call ", 2)"

static const char *const mysql_verdicts[ADVISORY_ACTIONS] = {
    [ADVISORY_TRY] = MY("GET_LOCK(%1$s, 0)"),
    [ADVISORY_WAIT] = MY("GET_LOCK(%1$s, %3$s)"),
    [ADVISORY_RELEASE] = MY("COALESCE(RELEASE_LOCK(%1$s), 0)"),
    [ADVISORY_UNDO] = MY("COALESCE(RELEASE_LOCK(%1$s), 0)"),
    [ADVISORY_PROBE] = MY("COALESCE(IS_USED_LOCK(%1$s) = CONNECTION_ID(), 0)"),
    [ADVISORY_HOLDERS] = "COALESCE(CONCAT(IS_USED_LOCK(%1$s), 'x'), '')",
};

static const sql_template mysql_templates[] = {
    [ADVISORY_TRY] = {.parameter_count = 1},
    [ADVISORY_RELEASE] = {.parameter_count = 1},
};

/* The session's number is part of the text, as a proxy may know what was prepared in another
 * session, too. */
static void write_mysql_template(unsigned index, int64_t number, char text[SQL_TEXT_MAX])
{
    char verdict[SQL_TEXT_MAX - 8], session[24];

    snprintf(session, sizeof(session), "%" PRId64, number);
    snprintf(verdict, sizeof(verdict), mysql_verdicts[index], "?", session);
    snprintf(text, SQL_TEXT_MAX, "SELECT %s", verdict);
}

/* None is a year: MariaDB answers NULL to a negative one. MySQL rounds 0.4 down to no wait. */
static void write_seconds(int64_t timeout_ms, bool whole_seconds, char text[ADVISORY_TIMEOUT_SIZE])
{
    const int64_t year_ms = INT64_C(365) * 24 * 3600 * 1000;
    int64_t ms = timeout_ms < year_ms ? timeout_ms : year_ms;

    ms = whole_seconds ? (ms + 999) / 1000 * 1000 : ms;
    snprintf(text, ADVISORY_TIMEOUT_SIZE, "%" PRId64 ".%03" PRId64, ms / 1000, ms % 1000);
}

/* Galera, Percona XtraDB Cluster and the like have no locks of this kind. */
static void explain_mysql_refusal(sql_session *session)
{
    enum { UNKNOWN_ERROR = 1105, NOT_SUPPORTED_YET = 1235, NO_SUCH_FUNCTION = 1305 };
    unsigned code = session->trouble_code;
    size_t length = strlen(session->trouble);

    /* The first one is what clusters and proxies say of their own. */
    if ((code == UNKNOWN_ERROR || code == NOT_SUPPORTED_YET || code == NO_SUCH_FUNCTION)
        && strcasestr(session->trouble, "_LOCK") != NULL) {
        snprintf(session->trouble + length, sizeof(session->trouble) - length,
                 "; a cluster that has no such locks needs another store, such as Redis");
    }
}

static const advisory_dialect mysql_dialect = {
    .server = "MySQL",
    .names_locks = true,
    .key = "'%s'",
    .timeout = "%s",
    /* MySQL would round 0.6 up: the wait would end after its deadline. */
    .given_timeout = "IF(VERSION() LIKE '%%MariaDB%%', %1$s, FLOOR(%1$s))",
    .self = "CONNECTION_ID()",
    .answer = "SELECT CONCAT(%s, ' ', CONNECTION_ID())",
    .interrupted_wait = "GET_LOCK() was interrupted",
    .templates = {mysql_templates, sizeof(mysql_templates) / sizeof(*mysql_templates),
                  write_mysql_template},
    .write_timeout = write_seconds,
    .explain_refusal = explain_mysql_refusal,
    .verdicts = mysql_verdicts,
};

/* ---- The store ------------------------------------------------------------------------------ */

#ifdef LATCH_WITH_MYSQL
#define LIBRARY .library = "libmariadb " LATCH_LIBMARIADB_VERSION
#define OPEN_DRIVER latch_mysql_open
#else
#define LIBRARY .missing_library = "libmariadb"
#define OPEN_DRIVER NULL
#endif

static latch_status mysql_open(latch_store *base, const latch_store_options *options,
                               latch_error *error)
{
    return latch_advisory_open(base, options, &mysql_dialect, OPEN_DRIVER, error);
}

const latch_store_class latch_mysql_store =
    LATCH_ADVISORY_CLASS(mysql_open, 0, .name = "mysql", .title = "MySQL",
                         .schemes = LATCH_MYSQL_SCHEMES, LIBRARY);
