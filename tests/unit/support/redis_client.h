/* A client as the user of the engine has it, for its Redis store: scripts on a connection. */
#ifndef REDIS_CLIENT_H
#define REDIS_CLIENT_H

#include "unit.h"

#include <hiredis/hiredis.h>

/* Runs a script as a \Redis object would, by its digest or else its text; the prefix goes before
 * each key. No answer is a failed test. */
void redis_client_run(redisContext *client, const char *prefix, const latch_redis_script *script,
                      latch_redis_answer *answer);

#endif
