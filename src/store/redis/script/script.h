/*
 * The scripts of the Redis store (lua/ *.lua), and the commands that run them. Nothing is sent
 * here.
 */
#ifndef LATCH_REDIS_SCRIPT_H
#define LATCH_REDIS_SCRIPT_H

#include "src/base/base.h"
#include "src/store/redis/script/keys.h"
#include "src/store/redis/script/layout.h"
#include "src/store/redis/wire/command.h"

/* Step of an acquire, by the scripts' names. */
enum redis_acquire_step { REDIS_TRY = 0, REDIS_WAIT, REDIS_CHECK, REDIS_POLL, REDIS_CLAIM };

/* Target of a script: lock or semaphore, token and place in the queue. */
typedef struct redis_script_target {
    const redis_layout *layout;
    const char *resource;
    size_t length;
    const char *token; /* of REDIS_INSPECT and REDIS_EVICT: their one argument */
    size_t token_length;
    uint64_t ticket;       /* of its wait; 0: it stands in no queue */
    bool keep;             /* a release leaves the queue, but keeps what is held */
    latch_permits permits; /* a limit of 0: none. Of an acquire, and of a target with a ticket */
} redis_script_target;

/* Request to a script. */
typedef struct redis_command_spec {
    redis_script_id id;
    bool as_text;             /* not by its digest */
    bool extend;              /* a renewal makes no hold shorter */
    bool has_no_pubsub;       /* an acquire: messages do not reach this process */
    bool has_polling_clients; /* an acquire: other programs wait for the lock by polling */
    uint8_t step;             /* an acquire's */
    int64_t ttl_ms;           /* of those that take or renew a lock */
    /* The channels on which a target with a ticket is told of the lock, and of a lost queue. */
    const char *channel, *requeue_channel;
} redis_command_spec;

/* A store's scripts. */
typedef struct redis_scripts {
    const latch_engine *engine;
    char digests[REDIS_SCRIPT_COUNT][2 * 20 + 1]; /* SHA-1 in hex, when the first is needed */
} redis_scripts;

/* Bytes of the TTL as a text, with a weight, a limit and the holder information after it. */
enum { REDIS_TTL_SIZE = 24 + 2 * 18 + LATCH_HOLDER_INFO_MAX + 1 };

/* A command that runs a script, with the texts that it is made of. */
typedef struct redis_script_command {
    redis_command command;
    latch_redis_script script; /* the same without "EVAL" */
    char *keys, *waiter;       /* in the buffers below, if they fit */
    size_t waiter_length;
    char key_count[2];
    char ttl[REDIS_TTL_SIZE];
    char small_keys[512], small_waiter[256];
} redis_script_command;

/* Computes the digests of all scripts. */
void latch_redis_digest_scripts(redis_scripts *scripts);
/* The script's digest, in hex. */
static inline const char *latch_redis_digest(redis_scripts *scripts, redis_script_id id)
{
    if (scripts->digests[id][0] == '\0') {
        latch_redis_digest_scripts(scripts);
    }
    return scripts->digests[id];
}
/*
 * Writes the command. False when memory ran out. To be ended in any case; the texts of `order` and
 * `target` must live as long.
 */
bool latch_redis_write_script(redis_script_command *written, redis_scripts *scripts,
                              const redis_keyspace *keys, const redis_command_spec *spec,
                              const redis_script_target *target);
static inline void latch_redis_script_command_end(redis_script_command *written,
                                                  const latch_engine *engine)
{
    if (written->keys != written->small_keys) {
        latch_free(engine, written->keys);
    }
    if (written->waiter != NULL && written->waiter != written->small_waiter) {
        latch_free(engine, written->waiter);
    }
}

#endif
