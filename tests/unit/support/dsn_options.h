/*
 * What tests of DSNs share, whatever server they are for: what is refused, and how; which of them
 * ask for the same connection; and what may not be left behind of them, a password or memory.
 */
#ifndef UNIT_DSN_OPTIONS_H
#define UNIT_DSN_OPTIONS_H

#include "src/store/sql/mysql/options.h"
#include "src/store/sql/postgresql/options.h"
#include "src/store/redis/options/options.h"
#include "unit.h"

typedef union dsn_options {
    redis_options redis;
    mysql_store_options mysql;
    postgresql_options postgresql;
} dsn_options;

typedef struct dsn_kind {
    latch_status (*parse)(latch_engine *engine, const latch_store_options *given,
                          dsn_options *options, latch_error *error);
    void (*discard)(latch_engine *engine, dsn_options *options);
    const char *(*identity)(const dsn_options *options);
} dsn_kind;

extern const dsn_kind dsn_of_redis, dsn_of_mysql, dsn_of_postgresql;

/* What comes beside a DSN in the next calls, until there are none again. */
extern struct dsn_settings {
    const latch_setting *first;
    size_t count;
} dsn_beside;

/* To be discarded; fails if it is refused. */
dsn_options dsn_parse(const dsn_kind *kind, const char *text);
/* Also twice: there is nothing to be freed then, and no harm in it. */
void dsn_discard(const dsn_kind *kind, dsn_options *options);
void dsn_accept(const dsn_kind *kind, const char *text);
/* It is refused so, with `why` in the message. */
void dsn_refuse(const dsn_kind *kind, latch_status status, const char *text, size_t length,
                const char *why);
/* What is expected `of` a DSN; NULL: nothing. */
void dsn_expect_text(const char *of, const char *text, const char *expected);

/* The two of a pair ask for the same connection. */
void dsn_expect_same(const dsn_kind *kind, const char *const (*pairs)[2], size_t count);
/* No two of them do. */
void dsn_expect_different(const dsn_kind *kind, const char *const *texts, size_t count);

/* A password. */
#define DSN_MARKER "hUnT3r2"

/* Refused, with the marker in place of each "*", by a message without the marker. */
void dsn_expect_secrecy(const dsn_kind *kind, const char *pattern);
/*
 * An engine for the same that fails when it frees a block with the marker in it; to be destroyed by
 * dsn_end_watching(), which returns how many blocks were freed, without the engine's.
 */
latch_engine *dsn_begin_watching(void);
size_t dsn_end_watching(latch_engine *engine);

/* Each allocation that it takes may fail; they are as many at least. */
void dsn_expect_survival(const dsn_kind *kind, const char *text, size_t allocations);

#endif
