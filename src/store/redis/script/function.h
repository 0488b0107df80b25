/*
 * Functions of versions, throttles, count-downs, sequences and debounces (LATCH_CALL): their
 * scripts (lua/calls), and the commands that run them. Nothing is sent here.
 */
#ifndef LATCH_REDIS_FUNCTION_SCRIPT_H
#define LATCH_REDIS_FUNCTION_SCRIPT_H

#include "src/base/base.h"
#include "src/store/redis/script/keys.h"
#include "src/store/redis/wire/command.h"

enum {
    REDIS_FUNCTION_SCRIPTS = 5,
    REDIS_FUNCTION_ID_LENGTH = 20, /* of the identity of a request: hex digits */
};

/* Digests of the scripts of a store: SHA-1 in hex, empty until they are needed. */
typedef struct redis_functions {
    char digests[REDIS_FUNCTION_SCRIPTS][2 * 20 + 1];
} redis_functions;

/* Waiter for the end of a count-down: whom the server is to tell. */
typedef struct redis_function_waiter {
    uint64_t ticket; /* number of the wait */
    const char *channel;
} redis_function_waiter;

/* Command that runs a script, with the texts that it is made of. */
typedef struct redis_function_command {
    redis_command command;
    latch_redis_script script;
    char *keys; /* in the buffer below, if they fit */
    char key_count[2];
    char ticket[24];
    char small_keys[512];
} redis_function_command;

/*
 * Parts that an answer to the function has at least: "." for a text, "#" for a whole number; with
 * "?" in front it may have none as well.
 */
const char *latch_redis_function_parts(latch_function function);
/* Is a name that begins as Latch's own keys one of a function's? */
bool latch_redis_is_function_key(const char *name, size_t length);

/*
 * Writes the command that calls the function for a resource; `id` makes it idempotent, and has
 * REDIS_FUNCTION_ID_LENGTH bytes. `waiter`: of LATCH_COUNT_DOWN_STATE, or NULL. False when memory
 * ran out. To be ended in any case; the call, the resource, the id and the channel must live as
 * long.
 */
bool latch_redis_write_function(redis_function_command *written, const latch_engine *engine,
                                redis_functions *functions, const redis_keyspace *keys,
                                const latch_call *call, const char *resource, size_t length,
                                const char *id, const redis_function_waiter *waiter, bool as_text);
static inline void latch_redis_function_command_end(redis_function_command *written,
                                                    const latch_engine *engine)
{
    if (written->keys != written->small_keys) {
        latch_free(engine, written->keys);
    }
}

#endif
