/*
 * One of several Redis servers or Sentinels of this test program's own: a process, and the test's
 * connection to it.
 */
#ifndef REDIS_PROCESS_H
#define REDIS_PROCESS_H

#include "redis_server.h"

typedef struct redis_process {
    pid_t pid; /* 0 while it does not run */
    int port, keeper;
    bool held;                  /* by redis_process_hold() */
    char socket[UNIT_PATH + 8]; /* by which it is asked; empty: by its port */
    const char *password;
    redisContext *connection; /* the test's own */
    redisReply *answer;
} redis_process;

/* With that configuration, as a server or as a Sentinel; and returns when it answers. */
void redis_process_start(redis_process *node, const char *configuration, bool sentinel);
void redis_process_meet(redis_process *node);
/* Its process, its connection and its last answer are no more. */
void redis_process_end(redis_process *node);

/* Another connection of the test's own, freed by redisFree(); NULL: nobody listens. */
redisContext *redis_process_connect(const redis_process *node);
/* The answer of a server or a Sentinel, valid until its next one. */
redisReply *redis_process_ask(redis_process *node, const char *format, ...);
long long redis_process_number(redis_process *node, const char *format, ...);
/* SIGKILL, SIGSTOP, which return when it has happened, and SIGCONT. */
void redis_process_kill(redis_process *node);
void redis_process_hold(redis_process *node);
void redis_process_let_go(redis_process *node);

#endif
