/* Commands: the arguments that a server is sent. */
#ifndef LATCH_REDIS_COMMAND_H
#define LATCH_REDIS_COMMAND_H

#include "src/latch.h"

#include <string.h>

#define REDIS_ARGUMENTS_MAX 16

/* A command's arguments, the first of which is its name; they are not copied. */
typedef struct redis_command {
    size_t count;                     /* 0 at the beginning */
    const latch_redis_script *script; /* the script that it runs; NULL: none */
    const char *arguments[REDIS_ARGUMENTS_MAX];
    size_t lengths[REDIS_ARGUMENTS_MAX];
} redis_command;

static inline void latch_redis_add(redis_command *command, const char *argument, size_t length)
{
    command->arguments[command->count] = argument;
    command->lengths[command->count++] = length;
}

static inline void latch_redis_add_text(redis_command *command, const char *text)
{
    latch_redis_add(command, text, strlen(text));
}

#endif
