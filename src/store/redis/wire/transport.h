/*
 * Transport: how commands get to a server, and replies back. Its implementations are the socket
 * (connection.c, pipeline.c) and a client object of the engine's user (lock/client_object.c).
 */
#ifndef LATCH_REDIS_TRANSPORT_H
#define LATCH_REDIS_TRANSPORT_H

#include "src/store/redis/wire/command.h"

struct redis_call;
struct redis_connection;

typedef struct redis_transport {
    /*
     * Makes the connection READY, unless it is. LATCH_DONE: READY. LATCH_WANT_*: again, when op->fd
     * or op->wake_ns says. Errors are in op->error; the next call begins anew then.
     */
    latch_status (*prepare)(struct redis_connection *connection, latch_op *op, int64_t now_ns);
    /*
     * Sends a command on a READY connection. NULL when memory ran out. The call is the caller's
     * until latch_redis_call_free().
     */
    struct redis_call *(*send)(struct redis_connection *connection, const redis_command *command,
                               int64_t now_ns);
    /* Writes and reads what can be without waiting, and settles calls. False: closed now. */
    bool (*receive)(struct redis_connection *connection);
    bool is_synchronous; /* send() awaits the reply, which receive() finds at once */
} redis_transport;

extern const redis_transport latch_redis_socket;

#endif
