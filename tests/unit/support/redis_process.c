/* A Redis server or Sentinel, one of several: see redis_process.h. */
#include "redis_process.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Starting and ending */

/* It dies with the process that started it. */
void redis_process_start(redis_process *node, const char *configuration, bool sentinel)
{
    const char *program = unit_redis_program();
    pid_t self = getpid();

    fflush(NULL);
    node->pid = fork();
    if (node->pid == 0) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == self) {
            execlp(program, program, configuration, sentinel ? "--sentinel" : NULL, (char *) NULL);
        }
        fprintf(stderr, "cannot start %s: %s\n", program, strerror(errno));
        _exit(127);
    }
    UNIT_CHECK(node->pid > 0);
}

redisContext *redis_process_connect(const redis_process *node)
{
    return node->socket[0] != '\0' ? unit_redis_connect_by(node->socket)
                                   : unit_redis_connect_to(node->port);
}

void redis_process_meet(redis_process *node)
{
    for (unsigned looks = 0; node->connection == NULL; unit_redis_look_again(&looks)) {
        UNIT_CHECK(waitpid(node->pid, NULL, WNOHANG) == 0);
        node->connection = redis_process_connect(node);
    }
    if (node->password != NULL) {
        redis_process_ask(node, "AUTH %s", node->password);
    }
}

static void hang_up(redis_process *node)
{
    if (node->connection != NULL) {
        redisFree(node->connection);
        node->connection = NULL;
    }
}

void redis_process_kill(redis_process *node)
{
    hang_up(node);
    UNIT_CHECK(kill(node->pid, SIGKILL) == 0);
    UNIT_CHECK(waitpid(node->pid, NULL, 0) == node->pid);
    node->pid = 0;
    node->held = false;
}

void redis_process_hold(redis_process *node)
{
    int status;

    UNIT_CHECK(kill(node->pid, SIGSTOP) == 0);
    UNIT_CHECK(waitpid(node->pid, &status, WUNTRACED) == node->pid && WIFSTOPPED(status));
    node->held = true;
}

void redis_process_let_go(redis_process *node)
{
    UNIT_CHECK(kill(node->pid, SIGCONT) == 0);
    node->held = false;
}

void redis_process_end(redis_process *node)
{
    if (node->pid != 0) {
        redis_process_kill(node);
    }
    freeReplyObject(node->answer);
    node->answer = NULL;
}

/* ---- Asking */

/* Sentinels end the connections to a server of which they make something else. */
static redisReply *ask(redis_process *node, const char *format, va_list arguments)
{
    va_list again;

    va_copy(again, arguments);
    freeReplyObject(node->answer);
    node->answer = redisvCommand(node->connection, format, arguments);
    if (node->answer == NULL) {
        hang_up(node);
        redis_process_meet(node);
        freeReplyObject(node->answer); /* to AUTH */
        node->answer = redisvCommand(node->connection, format, again);
    }
    va_end(again);
    if (node->answer == NULL) {
        fail_msg("no answer to \"%s\": %s", format, node->connection->errstr);
    }
    return node->answer;
}

redisReply *redis_process_ask(redis_process *node, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    ask(node, format, arguments);
    va_end(arguments);
    return node->answer;
}

long long redis_process_number(redis_process *node, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    ask(node, format, arguments);
    va_end(arguments);
    if (node->answer->type != REDIS_REPLY_INTEGER) {
        fail_msg("\"%s\" is answered: %s", format, node->answer->str);
    }
    return node->answer->integer;
}
