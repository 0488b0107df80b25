/* DSNs for Redis, in the words of their tests: what is taken from them, and what is refused. */
#ifndef UNIT_REDIS_DSN_H
#define UNIT_REDIS_DSN_H

#include "dsn_options.h"

static inline redis_options parse(const char *text)
{
    return dsn_parse(&dsn_of_redis, text).redis;
}

static inline void discard(redis_options *options)
{
    latch_redis_options_free(unit.engine, options);
}

static inline void accept(const char *text)
{
    dsn_accept(&dsn_of_redis, text);
}

static inline void refuse(const char *text, const char *why)
{
    dsn_refuse(&dsn_of_redis, LATCH_ERROR_ARGUMENT, text, strlen(text), why);
}

/* What another client than Latch may be able to do. */
static inline void leave_to_others(const char *text, const char *why)
{
    dsn_refuse(&dsn_of_redis, LATCH_ERROR_UNSUPPORTED, text, strlen(text), why);
}

#endif
