/*
 * Where the master is of which Sentinels take care, for a store whose DSN names these. They are
 * asked one after the other, until more than half of them have answered, or nobody else is to be
 * had; the newest answer counts. Each failover gives the configuration a higher number, its epoch:
 * so a Sentinel that is cut off from the others is not believed, as it names the old master.
 *
 * One that has given that answer stays connected, to tell when another server becomes the master.
 * So a server is left that is the master no more but does not know that yet, as one that was
 * stopped or cut off does not.
 */
#ifndef LATCH_REDIS_SENTINEL_H
#define LATCH_REDIS_SENTINEL_H

#include "src/store/redis/wire/connection.h"

/* What a Sentinel has answered. */
typedef struct redis_sentinel_reply {
    uint64_t epoch; /* 0 also if it does not tell */
    int port;
    char host[256];
} redis_sentinel_reply;

typedef struct redis_sentinel {
    redis_connection connection; /* to one of them: first asks, then listens */
    redis_options options;       /* of that connection; the texts are the store's */
    const char *name;            /* what they call the master */
    size_t current;              /* which of them: who is listened to is asked first */
    /* A bit for each. */
    uint32_t mute;               /* who could not tell, and is asked after the others */
    uint32_t asked, answered;    /* in this round of questions */
    redis_sentinel_reply newest; /* of this round's answers */
    size_t newest_from;          /* whose it is */
    bool has_returned;           /* to that one, to listen to it */
    bool is_asking;              /* that connection is there for the question, not to listen */
    bool is_told;                /* another master was announced since it was begun */
    redis_call *epoch_question, *question; /* on their way, or NULL */
    int64_t ask_ns;                        /* when to ask again, though nothing is amiss */
    int64_t retry_ns; /* when to ask again, as those who have answered were too few */
    bool is_outdated; /* which was so last */
    bool is_known;    /* `master` is to be believed */
    redis_place master;
    uint64_t epoch;    /* of the configuration that names it */
    unsigned master_generation;     /* of the master: another number for each that follows another */
    char trouble[160]; /* why the one that they name cannot be used, or "" */
    char host[256], address[256 + sizeof("[]:65535")];
} redis_sentinel;

/* `options` outlive it; those that name no master need none of it. Nothing is connected yet. */
void latch_redis_sentinel_init(redis_sentinel *sentinel, latch_engine *engine,
                               const redis_options *options);
void latch_redis_sentinel_end(redis_sentinel *sentinel);

/* Makes them the connection's address source, if the options name a master. */
void latch_redis_sentinel_attach(redis_sentinel *sentinel, redis_connection *connection);

#endif
