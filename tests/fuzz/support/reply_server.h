/*
 * The other end of a Redis store's connections, in the same thread: a listener on a Unix socket
 * that notes what it is asked, and answers what the fuzz target tells it to. Nothing here blocks.
 * A store has two connections; which is for commands, and which for messages, shows by what comes.
 */
#ifndef LATCH_FUZZ_REPLY_SERVER_H
#define LATCH_FUZZ_REPLY_SERVER_H

#include "src/latch.h"

#include <sys/un.h>

typedef enum {
    COMMAND_LOGIN,   /* AUTH or SELECT */
    COMMAND_ACQUIRE, /* the scripts */
    COMMAND_ACQUIRE_SHARED,
    COMMAND_REFRESH,
    COMMAND_RELEASE,
    COMMAND_LET_GO, /* behind a release that nobody awaits */
    COMMAND_PROBE,
    COMMAND_VERSION, /* calls */
    COMMAND_THROTTLE,
    COMMAND_COUNT_DOWN,
    COMMAND_SEQUENCE,
    COMMAND_DEBOUNCE,
    COMMAND_PEERS,     /* SCRIPT EXISTS */
    COMMAND_SUBSCRIBE, /* to the process's channel, and to another */
} command_kind;

typedef struct command {
    command_kind kind;
    bool by_digest;                  /* EVALSHA */
    char token[LATCH_TOKEN_MAX + 1]; /* "" where a release shall keep what it holds; a call's id */
    uint64_t ticket;                 /* of the wait; 0: it has none */
    int64_t arrival_ns;
    unsigned number; /* of all commands */
    size_t at;       /* in reply_line.received */
} command;

typedef struct bytes {
    char *text; /* ends with a NUL that does not count */
    size_t length, size;
} bytes;

typedef struct reply_line {
    int socket;           /* -1 while nobody is connected */
    unsigned connections; /* counts them */
    size_t piece;         /* how many bytes are sent in one turn at most */
    bytes received;       /* on this connection, or the last one if it was closed */
    size_t understood;    /* how much of it is in `commands` */
    command *commands;
    size_t count, room;
    size_t answered;    /* how many commands reply_line_answer() has gone through */
    bytes sent, outbox; /* what goes out, and what will */
    char channel[64];   /* that it is subscribed to, "" before */
} reply_line;

enum { REPLY_LINES = 2 };

typedef struct reply_server {
    struct sockaddr_un address;
    int listener;
    reply_line lines[REPLY_LINES];
    unsigned heard; /* counts the commands */
    /* Told of each command that comes in. */
    void (*notice)(const reply_line *line, const command *command);
    /* Told before what came on a connection is forgotten, as there is a new one. */
    void (*forget)(const reply_line *line);
} reply_server;

/* Listens in a new folder, until it is stopped: for each input, as libFuzzer ends without atexit().
 */
void reply_server_start(reply_server *server);
void reply_server_stop(reply_server *server);
/* Accepts, reads and sends what can be at once. True when there was anything to do. */
bool reply_server_turn(reply_server *server, int64_t now_ns);
/* Hangs up. Whatever was sent before arrives. */
void reply_line_hang_up(reply_line *line);
/* Puts bytes into the outbox. */
void reply_line_say(reply_line *line, const char *text, size_t length);
/* Says what Redis would, to the next command that was not answered; nothing if there is none. */
void reply_line_answer(reply_line *line);
/* The same with this answer. */
void reply_line_answer_with(reply_line *line, const char *text);
/* Refuses that command as unknown, with its arguments, as Redis does. */
void reply_line_echo(reply_line *line);
/* Makes a proper server of it: each command gets its answer from now on. Hangs up if it must. */
void reply_server_recover(reply_server *server);

/* The reply that was sent to that command, so far as it is complete; NULL and 0 otherwise. */
const char *reply_line_reply(const reply_line *line, size_t command, size_t *length);

/* The digest that latch_env is to bring: not SHA-1, but the server looks scripts up by it. */
void reply_server_digest(void *context, latch_digest kind, const struct iovec *parts,
                         int part_count, uint8_t digest[LATCH_DIGEST_MAX]);

#endif
