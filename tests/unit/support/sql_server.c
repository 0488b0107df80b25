/* Real database servers, started and ended by the test program: see sql_server.h. */
#include "sql_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void unit_sql_prepare(unit_sql_server *server, const char *kind)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int yes = 1;

    *server = (unit_sql_server){.kind = kind};
    unit_make_temporary(server->directory);
    snprintf(server->certificate, sizeof(server->certificate), "%s/server.crt", server->directory);
    snprintf(server->stranger, sizeof(server->stranger), "%s/stranger.crt", server->directory);
    server->port_keeper = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    UNIT_CHECK(server->port_keeper >= 0);
    /* The servers set it too: so both can be bound, as only one of them listens. */
    UNIT_CHECK(setsockopt(server->port_keeper, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0);
    UNIT_CHECK(bind(server->port_keeper, (struct sockaddr *) &address, sizeof(address)) == 0);
    UNIT_CHECK(getsockname(server->port_keeper, (struct sockaddr *) &address, &size) == 0);
    server->port = ntohs(address.sin_port);
}

/* In the child: becomes sql_server.sh, which dies with the process that started it. */
static void become_script(pid_t parent, int input, int output, const char *const *arguments)
{
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && getppid() == parent && dup2(input, 0) == 0
        && dup2(output, 1) == 1) {
        signal(SIGPIPE, SIG_DFL);
        execv(UNIT_SQL_SERVER, (char *const *) arguments);
    }
    fprintf(stderr, "cannot start %s: %s\n", UNIT_SQL_SERVER, strerror(errno));
    _exit(127);
}

void unit_sql_launch(unit_sql_server *server, const char *const *options)
{
    char port[8], path[UNIT_PATH + 8];
    const char *arguments[64] = {UNIT_SQL_SERVER, "run", server->kind, server->directory, port};
    size_t count = 5;
    pid_t self = getpid();

    UNIT_CHECK(server->pid == 0);
    snprintf(port, sizeof(port), "%d", server->port);
    snprintf(path, sizeof(path), "%s/log", server->directory);
    server->has_options = options != NULL && *options != NULL;
    while (options != NULL && *options != NULL && count < 63) {
        arguments[count++] = *options++;
    }
    fflush(NULL);
    server->pid = fork();
    if (server->pid == 0) {
        int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
        int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

        dup2(log, 2);
        become_script(self, input, log, arguments);
    }
    UNIT_CHECK(server->pid > 0);
}

static void show_log(const unit_sql_server *server)
{
    char path[UNIT_PATH + 8], line[512];
    FILE *log;

    snprintf(path, sizeof(path), "%s/log", server->directory);
    log = fopen(path, "re");
    while (log != NULL && fgets(line, sizeof(line), log) != NULL) {
        fputs(line, stderr);
    }
    if (log != NULL) {
        fclose(log);
    }
}

void unit_sql_expect_life(unit_sql_server *server)
{
    if (waitpid(server->pid, NULL, WNOHANG) != 0) {
        server->pid = 0;
        show_log(server);
        fail_msg("the server does not run: %s", server->kind);
    }
}

void unit_sql_look_again(unsigned *looks)
{
    const struct timespec pause = {0, 500000};

    UNIT_CHECK((*looks)++ < UNIT_TIMEOUT_NS / pause.tv_nsec);
    nanosleep(&pause, NULL);
}

void unit_sql_end(unit_sql_server *server, int signal)
{
    unsigned looks = 0;

    UNIT_CHECK(kill(server->pid, signal) == 0);
    unit_sql_thaw(server);
    while (waitpid(server->pid, NULL, WNOHANG) == 0) {
        unit_sql_look_again(&looks);
    }
    server->pid = 0;
}

/* The script does it, which thaws the server when this process is no more there to do so. */
void unit_sql_freeze(unit_sql_server *server)
{
    char pid[16], word[8] = "";
    const char *arguments[] = {UNIT_SQL_SERVER, "freeze", pid, NULL};
    struct pollfd answer = {.events = POLLIN};
    pid_t self = getpid();
    int to[2], from[2];

    UNIT_CHECK(server->freezer == 0);
    snprintf(pid, sizeof(pid), "%d", (int) server->pid);
    UNIT_CHECK(pipe2(to, O_CLOEXEC) == 0);
    UNIT_CHECK(pipe2(from, O_CLOEXEC) == 0);
    fflush(NULL);
    server->freezer = fork();
    if (server->freezer == 0) {
        become_script(self, to[0], from[1], arguments);
    }
    UNIT_CHECK(server->freezer > 0);
    close(to[0]);
    close(from[1]);
    server->freezer_input = to[1];
    answer.fd = from[0];
    UNIT_CHECK(poll(&answer, 1, UNIT_TIMEOUT_NS / LATCH_NS_PER_MS) == 1);
    UNIT_CHECK(read(from[0], word, sizeof(word)) == 7 && memcmp(word, "frozen\n", 7) == 0);
    close(from[0]);
}

void unit_sql_thaw(unit_sql_server *server)
{
    if (server->freezer != 0) {
        /* Not only the end of the pipe: a child of the test may have it too. */
        signal(SIGPIPE, SIG_IGN);
        UNIT_CHECK(write(server->freezer_input, "\n", 1) == 1);
        close(server->freezer_input);
        UNIT_CHECK(waitpid(server->freezer, NULL, 0) == server->freezer);
        server->freezer = 0;
    }
}

void unit_sql_dispose(unit_sql_server *server)
{
    close(server->port_keeper);
    unit_remove_temporary(server->directory);
}
