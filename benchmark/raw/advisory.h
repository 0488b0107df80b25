/*
 * What raw/advisory.c needs of a client library: a session of its process, and one lock. The
 * library's blocking functions, each statement sent and awaited. It is in raw/postgresql.c and
 * raw/mysql.c.
 */
#ifndef LATCH_BENCHMARK_ADVISORY_H
#define LATCH_BENCHMARK_ADVISORY_H

/* The arguments that say where the server is. */
extern const char *const address_usage;
extern const int address_size;

/* Each ends the program when the server does not do as it is told. */
void open_session(char **address);
void close_session(void);
void try_lock(void);
void wait_for_lock(void);
void unlock(void);

#endif
