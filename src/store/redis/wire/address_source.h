/*
 * Address source of a connection. Its implementations are a fixed address (connection.c) and the
 * Sentinels of a master (topology/sentinel.c).
 */
#ifndef LATCH_REDIS_ADDRESS_SOURCE_H
#define LATCH_REDIS_ADDRESS_SOURCE_H

#include "src/latch.h"

struct redis_connection;

typedef struct redis_address_source {
    /* A new attempt to connect. */
    void (*begin)(struct redis_connection *connection, const latch_op *op, int64_t now_ns);
    /* Sets connection->place. LATCH_DONE: found; as latch_redis_connect() else. */
    latch_status (*find)(struct redis_connection *connection, latch_op *op, int64_t now_ns);
    /* Is connection->place still current, as far as is known? NULL: always. */
    bool (*is_current)(struct redis_connection *connection);
    /* The connection was closed. */
    void (*suspect)(struct redis_connection *connection);
    /*
     * The server cannot be used, as `why` says. LATCH_DONE: another one may be found by the same
     * attempt; else the error that it ends with.
     */
    latch_status (*record_failure)(struct redis_connection *connection, latch_op *op, int sys_errno,
                                   const char *why, int64_t now_ns);
    /* Describes an attempt that had no success for so long. */
    latch_status (*describe_timeout)(struct redis_connection *connection, latch_op *op,
                                     double seconds, int64_t now_ns);
    int64_t recheck_ns; /* interval at which waits call is_current(); 0: never */
    bool wants_master;  /* a server that says that it is a replica is refused */
} redis_address_source;

extern const redis_address_source latch_redis_fixed_address;

#endif
