/*
 * Sentinels as address source: they name the current master. They are asked one after the other,
 * until more than half of them have answered or none is left; the newest answer counts. Each
 * failover raises the epoch of the configuration: so a Sentinel that is cut off from the others is
 * not believed, as it names the old master.
 *
 * The Sentinel with the newest answer stays connected and subscribed, to announce a switch of the
 * master. So a server is left that is no master any more but does not know it yet, after being
 * stopped or cut off.
 */
#ifndef LATCH_REDIS_SENTINEL_H
#define LATCH_REDIS_SENTINEL_H

#include "src/store/redis/wire/connection.h"

/* Answer of a Sentinel. */
typedef struct redis_sentinel_reply {
    uint64_t epoch; /* 0: not told */
    int port;
    char host[256];
} redis_sentinel_reply;

typedef struct redis_sentinel {
    redis_connection connection; /* to one of them: query, then subscription */
    redis_options options;       /* of that connection; texts of the store's */
    const char *name;            /* name of the master */
    size_t current; /* index of the current Sentinel; the subscribed one is asked first */
    /* Bit sets of Sentinels. */
    uint32_t unresponsive;                 /* without an answer last time: asked after the others */
    uint32_t queried, answered;            /* in this round */
    redis_sentinel_reply newest;           /* of this round's answers */
    size_t newest_from;                    /* Sentinel of that answer */
    bool has_returned;                     /* to that one, for the subscription */
    bool is_querying;                      /* the connection is for a query, not a subscription */
    bool is_told;                          /* another master was announced during the query */
    redis_call *epoch_question, *question; /* in flight, or NULL */
    int64_t next_query_ns;                 /* time of the next routine query */
    int64_t retry_ns;                      /* time of the next query after too few answers */
    bool is_outdated;                      /* too few answers last time */
    bool is_known;                         /* `master` is valid */
    redis_place master;
    uint64_t epoch;             /* of the configuration with that master */
    unsigned master_generation; /* changes with each new master */
    char trouble[160];          /* why the named server cannot be used, or "" */
    char host[256], address[256 + sizeof("[]:65535")];
} redis_sentinel;

/*
 * Initialises it by `options`, which outlive it, and may name no master. Nothing is connected yet.
 */
void latch_redis_sentinel_init(redis_sentinel *sentinel, latch_engine *engine,
                               const redis_options *options);
void latch_redis_sentinel_end(redis_sentinel *sentinel);

/* Makes the Sentinels the connection's address source, if the options name a master. */
void latch_redis_sentinel_attach(redis_sentinel *sentinel, redis_connection *connection);

#endif
