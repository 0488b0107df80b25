/*
 * What a request of a Redis store may say when it ends, by what the server has heard and said; and
 * what must be given back then. The target plays, and this looks on: see fuzz_redis_reply.c.
 */
#ifndef LATCH_FUZZ_REPLY_RULES_H
#define LATCH_FUZZ_REPLY_RULES_H

#include "reply_server.h"

#define PASSWORD "hUnT3r2"
#define TTL_MS INT64_C(86400000)

/* One who asks for a lock. */
typedef struct player {
    latch_lease lease;
    latch_op op;
    latch_error error;
    bool in_flight;
    bool imported;           /* the lease's token */
    unsigned first_command; /* that may be of this request, of all that came */
    size_t heard_count;     /* how often the server was asked to acquire, in this attempt */
} player;

/* A token that the server has heard of. */
typedef struct heard {
    char token[LATCH_TOKEN_MAX + 1];
    bool taken;             /* by it, as far as the server knows */
    bool owed;              /* its taker does not know */
    const reply_line *line; /* on which it came last, and its connection then */
    unsigned connections;
    uint64_t ticket;  /* of the wait that it came with last, or 0 */
    unsigned asked;   /* the number of the command that was to take a lock by it last */
    unsigned refused; /* of one that left nothing, on a connection that is over */
} heard;

/* Of an input, which can ask for a token with each of its letters. */
#define LENGTH_MAX 2048
#define HEARD_MAX (LENGTH_MAX + 10)

extern reply_server server;
extern player players[2];
extern heard tokens[HEARD_MAX];
extern size_t token_count;

/* Is it about taking the lock? */
bool acquires(const latch_op *op);
/* NULL when the server has not heard of it. */
heard *find_token(const char *token);
/* The server's: of each command that comes, and before it forgets those of a connection. */
void hear(const reply_line *from, const command *command);
void remember_refusals(const reply_line *from);
/* The player's request has come to this end. */
void end_request(player *player, latch_status status);

#endif
