/* Errors that a Redis server answers with: what they mean for a request, and how they are told. */
#ifndef LATCH_REDIS_ERRORS_H
#define LATCH_REDIS_ERRORS_H

#include <stdbool.h>

/* Transient: the server is being started, is busy, or is no master for a while. */
bool latch_redis_is_transient_error(const char *text);
/* EVALSHA names a script that the server has forgotten. */
bool latch_redis_is_noscript_error(const char *text);
/* The server is a replica: a master once, perhaps. */
bool latch_redis_is_readonly_error(const char *text);
/* The key is no lock: nothing was done. */
bool latch_redis_is_wrongtype_error(const char *text);
/* The command, or its channel, is refused for good: by an ACL, or as the server has none such. */
bool latch_redis_is_permission_error(const char *text);
/*
 * What a command in a script was answered. Before Redis 7 that stands behind its place in the
 * script, as in "ERR Error running script (call to f_...): @user_script:3: @user_script: 3: -OOM
 * command not allowed".
 */
const char *latch_redis_skip_place(const char *text);

#endif
