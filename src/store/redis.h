/*
 * Inside the Redis store: redis.c (requests), redis_script.c (what is sent for them), redis_reply.c
 * (what comes back), redis_debt.c (releases that nobody awaits), redis_connection.c and
 * redis_call.c (how it gets there).
 */
#ifndef LATCH_REDIS_H
#define LATCH_REDIS_H

#include "redis_connection.h"
#include "store.h"

/* What is kept beside the locks. No lock has such a name. */
#define REDIS_OWN_KEYS "latch:"

typedef enum {
    REDIS_ACQUIRE,
    REDIS_ACQUIRE_SHARED,
    REDIS_REFRESH,
    REDIS_RELEASE,
    REDIS_PROBE,
    REDIS_SCRIPT_COUNT,
} redis_script_id;

typedef struct redis_store {
    latch_store store;
    redis_options options;
    redis_connection connection;
    latch_link debts;    /* unpaid: those that are on their way are their calls' */
    unsigned generation; /* of the process whose debts they are */
    char digests[REDIS_SCRIPT_COUNT][2 * 20 + 1]; /* SHA-1 in hex, when the first was sent */
} redis_store;

/* lease->state: whose the token is. */
typedef struct redis_hold {
    unsigned generation; /* of the process that may use it */
    unsigned fork_count; /* of the engine when the lock was acquired or renewed */
    bool adopted;        /* it came with a key: the lock may be held by it already */
    bool spent;          /* a release by it may still be on its way: for no other hold */
    int64_t deadline_ns; /* the lease's, before the last command was sent */
} redis_hold;

/* op->attempts */
enum { REDIS_SENT = 1, REDIS_LOST_BEFORE = 2, REDIS_AS_TEXT = 4, REDIS_SPENT_BEFORE = 8 };

/* A hundred years, which fit into Redis's numbers; what is longer is for ever. */
#define REDIS_TTL_MAX_MS (INT64_C(100) * 365 * 86400 * 1000)

static inline redis_store *latch_redis_store_of(const latch_op *op)
{
    return (redis_store *) op->lease->store;
}

static inline bool latch_redis_acquires(const latch_op *op)
{
    return op->request.kind == LATCH_ACQUIRE || op->request.kind == LATCH_ACQUIRE_SHARED;
}

/* ---- redis_script.c */

/* What a script is asked to work on. */
typedef struct redis_target {
    const char *resource;
    size_t length;
    const char *token;
} redis_target;

/*
 * Sends a script, by its digest or `as_text`, on a READY connection. `ttl_ms` is for those that
 * take or renew a lock. NULL when memory ran out.
 */
redis_call *latch_redis_send_script(redis_store *store, redis_script_id id, bool as_text,
                                    const redis_target *target, int64_t ttl_ms, int64_t now_ns);

/* ---- redis_reply.c */

/* The outcome of the request, as the script's reply says; notes on the lease what that means. */
latch_status latch_redis_understand(latch_op *op, const redisReply *reply);
/* The same for a reply that is an error. */
latch_status latch_redis_fail_with_reply(latch_op *op, const char *text);

/* ---- redis_debt.c */

void latch_redis_debts_init(redis_store *store);
/* To be called when the connection has ended. */
void latch_redis_debts_end(redis_store *store);
/*
 * Takes it upon the store to give a lock back, if it is held by that token: as soon as it is
 * connected, and anew whenever a connection was lost before the server has answered. By `end_ns`
 * the lock has expired by itself. The token must not be used for anything else any more. False when
 * memory ran out.
 */
bool latch_redis_owe(redis_store *store, const redis_target *target, int64_t end_ns);
/* Sends what is owed, without awaiting answers, if there is a READY connection. */
void latch_redis_pay(redis_store *store, int64_t now_ns);

#endif
