/*
 * What servers of databases have in common, which test programs start for themselves: real ones, on
 * a loopback port that the kernel chose and on a socket in a directory of their own. They die with
 * the test program. See postgresql_server.h and mysql_server.h.
 */
#ifndef SQL_SERVER_H
#define SQL_SERVER_H

#include "unit.h"

/* Of the user "latch", who owns the database "latch"; no message may have it. */
#define UNIT_SQL_PASSWORD "never-told-8642"

typedef struct unit_sql_server {
    const char *kind; /* for sql_server.sh: "postgresql", "mysql" */
    pid_t pid;        /* 0 while there is none */
    int port;         /* on 127.0.0.1; the same after a restart */
    char directory[UNIT_PATH];
    char certificate[UNIT_PATH + 16]; /* the server's, for localhost and 127.0.0.1 */
    char stranger[UNIT_PATH + 16];    /* somebody else's */
    bool has_options;                 /* it was started with options more */
    int port_keeper;                  /* bound: nobody else is given the port */
    pid_t freezer;                    /* 0 unless it is frozen */
    int freezer_input;
} unit_sql_server;

/* Its directory and its port. */
void unit_sql_prepare(unit_sql_server *server, const char *kind);
/* Starts it with these options more, NULL at their end. It does not answer yet. */
void unit_sql_launch(unit_sql_server *server, const char *const *options);
/* To be called in a loop while it starts: fails, and shows the log, when it has ended. */
void unit_sql_expect_life(unit_sql_server *server);
/* To be called in a loop until something has happened, whatever the clock: fails when it never
 * does. */
void unit_sql_look_again(unsigned *looks);
/* Sends it this signal; returns when it is gone. */
void unit_sql_end(unit_sql_server *server, int signal);
/* Stops it and all of its processes where they are; lets them go on. */
void unit_sql_freeze(unit_sql_server *server);
void unit_sql_thaw(unit_sql_server *server);
/* The end of it and of all that it had. */
void unit_sql_dispose(unit_sql_server *server);

#endif
