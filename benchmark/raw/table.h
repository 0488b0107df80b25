/*
 * What raw/table.c needs of a client library: a session of its process, and one lock, which is a
 * row of the table lock_keys. Each statement is sent and awaited by the library's blocking
 * functions: as the store sends it, or the least that does the same, prepared once, with
 * parameters. It is in raw/table_postgresql.c, raw/table_mysql.c and raw/table_sqlite.c.
 */
#ifndef LATCH_BENCHMARK_TABLE_H
#define LATCH_BENCHMARK_TABLE_H

/* As long as those of the stores: a sha256 in hex, 32 bytes in base64, and seconds. */
#define ROW_NAME "2c624232cdd221771294dfbb310aca000a0df6ac8b66b696d90ef06fdefb64a3"
#define ROW_TOKEN "mDkzPQmBvBDMPM0wQ7WGm7Oc4H6dL2nEJp3Cw0NPCEI="
#define ROW_TTL "30.000"

enum { ACQUIRE, RELEASE, STATEMENTS };

/* The arguments that say where the database is. */
extern const char *const address_usage;
extern const int address_size;

/* Each ends the program when the database does not do as it is told: a statement changes one row.
 */
void open_session(char **address);
void close_session(void);
void execute_as_store(int statement);
void execute_least(int statement);

#endif
