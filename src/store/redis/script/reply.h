/* Replies of the scripts, parsed: what a reply says about the request that it answers. */
#ifndef LATCH_REDIS_REPLY_H
#define LATCH_REDIS_REPLY_H

#include "src/base/base.h"
#include "src/store/redis/script/layout.h"
#include "src/store/redis/wire/library.h"

/* Special values in the place of a position. No messages: the server may have none, or (with
 * "1 ms") the channel has no subscriber. */
enum { REDIS_NO_MESSAGES = -1, REDIS_BOTH_PROMOTE = -2 };

/* A hundred years, which fit into Redis's numbers; a longer TTL is endless. */
#define REDIS_TTL_MAX_MS (INT64_C(100) * 365 * 86400 * 1000)

typedef struct redis_outcome {
    enum {
        REDIS_GRANTED, /* an acquire: `mode` is held, with `fencing_token` */
        REDIS_REFUSED, /* an acquire without waiting: another holder has the lock */
        REDIS_QUEUED,  /* an acquire: it stands at `place`, and is to ask again in `retry_ms` */
        REDIS_RENEWED, /* `mode` is held */
        REDIS_RELEASED,
        REDIS_PROBED,     /* `mode` is held, for `left_ms` */
        REDIS_NOT_HELD,   /* a renewal or a probe */
        REDIS_UNEXPECTED, /* not a reply of these scripts */
    } kind;
    latch_mode mode;
    uint64_t fencing_token; /* 0: none */
    int64_t place;          /* or REDIS_NO_MESSAGES, REDIS_BOTH_PROMOTE */
    int64_t retry_ms;
    int64_t left_ms; /* REDIS_TTL_MAX_MS at most; LATCH_NEVER: it has no end */
    bool was_held;   /* of a release */
} redis_outcome;

/* Parses a reply of the layout's script that is no error. */
redis_outcome latch_redis_parse_reply(latch_op_kind kind, const redis_layout *layout,
                                      const redisReply *reply);

#endif
