/*
 * What a lock in a table of SQLite costs in C, acquire and release as one statement each: by the
 * library alone; by a session of Latch's engine, whose statements go through its queue, its retries
 * and its checks of the file; and by the engine's store. All prepare their statements once. Each
 * writes to a database of its own, with the same journal.
 *
 *     sqlite FOLDER [ROUNDS]
 *
 * prints microseconds for each journal: the median and the least of the rounds, in which the three
 * take turns, and the ratios of the medians. On a file system in memory (/dev/shm) there is no disk
 * to wait for: the ratio is that of the processor time then. To build and run it:
 *
 *     gcc -std=gnu11 -O2 -D_GNU_SOURCE -DLATCH_WITH_SQLITE -I. -o /tmp/sqlite \
 *         -DLATCH_SQLITE_FILE='"libsqlite3.so.0"' benchmark/raw/sqlite.c src/engine.c \
 *         src/{base,engine,renewal}/?*.c src/store/sql/dsn.c \
 *         src/store/sql/{session,sqlite,table}/?*.c -lsqlite3 -ldl -pthread
 *     /tmp/sqlite /var/tmp && /tmp/sqlite /dev/shm
 */
#include "common.h"

#include "src/engine/store.h"
#include "src/store/sql/sqlite/driver.h"

#include <sqlite3.h>
#include <string.h>

#define ROUNDS_MAX 1000
#define ROUND_NS INT64_C(20000000)

#define TABLE                                                                                      \
    "CREATE TABLE lock_keys (key_id TEXT NOT NULL PRIMARY KEY, key_token TEXT NOT NULL, "          \
    "key_expiration INTEGER)"
#define NOW "((julianday('now') - 2440587.5) * 86400.0)"

enum { ACQUIRE, RELEASE };

static const char *const texts[] = {
    [ACQUIRE] = "INSERT INTO lock_keys VALUES (?, ?, " NOW
                " + ?) ON CONFLICT (key_id) DO UPDATE SET "
                "key_token = excluded.key_token, key_expiration = excluded.key_expiration "
                "WHERE key_token = excluded.key_token OR key_expiration <= " NOW,
    [RELEASE] = "DELETE FROM lock_keys WHERE key_id = ? AND key_token = ?",
};

/* A sha256 in hex, 32 bytes in base64, seconds. */
static const char *const values[] = {
    "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed",
    "mDkzPQmBvBDMPM0wQ7WGm7Oc4H6dL2nEJp3Cw0NPCEI=",
    "30",
};

static const int counts[] = {[ACQUIRE] = 3, [RELEASE] = 2};

/* ---- By the library -------------------------------------------------------------------------- */

static sqlite3 *connection;
static sqlite3_stmt *prepared[2];

static void expect(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "sqlite: %s: %s\n", what, sqlite3_errmsg(connection));
        exit(EXIT_FAILURE);
    }
}

static void begin_library(const char *path)
{
    expect(sqlite3_open(path, &connection) == SQLITE_OK, path);
    for (int at = 0; at < 2; at++) {
        expect(sqlite3_prepare_v2(connection, texts[at], -1, &prepared[at], NULL) == SQLITE_OK,
               texts[at]);
    }
}

static void execute_in_library(int index)
{
    for (int at = 0; at < counts[index]; at++) {
        sqlite3_bind_text(prepared[index], at + 1, values[at], -1, SQLITE_STATIC);
    }
    expect(sqlite3_step(prepared[index]) == SQLITE_DONE, "a statement");
    expect(sqlite3_changes(connection) == 1, "the number of rows");
    sqlite3_reset(prepared[index]);
}

static void end_library(void)
{
    sqlite3_finalize(prepared[ACQUIRE]);
    sqlite3_finalize(prepared[RELEASE]);
    sqlite3_close(connection);
}

/* ---- By a session ---------------------------------------------------------------------------- */

static sql_session *session;
static int current; /* the statement that is sent */

static void write_form(const sql_statement *statement, char text[SQL_TEXT_MAX], sql_values *form)
{
    int index = current;

    (void) statement;
    snprintf(text, SQL_TEXT_MAX, "%s", texts[index]);
    for (int at = 0; at < counts[index]; at++) {
        form->all[at].text = values[at];
        form->all[at].length = strlen(values[at]);
    }
    form->count = (unsigned) counts[index];
}

static void settle(sql_statement *statement, sql_outcome outcome, const sql_result *result)
{
    (void) statement;
    if (outcome != SQL_ANSWERED || result->affected != 1) {
        fprintf(stderr, "sqlite: outcome %d: %s\n", (int) outcome, session->trouble);
        exit(EXIT_FAILURE);
    }
}

static const sql_statement_class statement_class = {.write_form = write_form, .settle = settle};

static void execute_in_session(int index)
{
    sql_statement statement = {.class = &statement_class, .returns_nothing = true};
    latch_error error;
    latch_op op = {.error = &error};
    latch_engine *engine = session->engine;

    current = index;
    latch_sql_session_enqueue(session, &statement, latch_engine_now_ns(engine));
    if (latch_sql_session_drive(session, &statement, &op, latch_engine_now_ns(engine))
        != LATCH_DONE) {
        fputs("sqlite: the session has to wait\n", stderr);
        exit(EXIT_FAILURE);
    }
}

static void fail_with(const latch_error *error)
{
    fprintf(stderr, "sqlite: %s\n", error->message);
    exit(EXIT_FAILURE);
}

static void begin_session(latch_engine *engine, const char *path)
{
    char dsn[512];
    latch_store_options options = {.dsn = dsn};
    latch_error error;

    snprintf(dsn, sizeof(dsn), "sqlite:%s", path);
    options.dsn_length = strlen(dsn);
    if (latch_sqlite_open(engine, &options, &session, &error) != LATCH_DONE) {
        fail_with(&error);
    }
}

/* ---- By a store ------------------------------------------------------------------------------ */

extern const latch_store_class latch_table_store;

static latch_store *store;
static latch_lease lease;

static void execute_in_store(int index)
{
    latch_request request = {.kind = index == ACQUIRE ? LATCH_ACQUIRE : LATCH_RELEASE,
                             .ttl_ms = 30000,
                             .deadline_ns = LATCH_NEVER};
    latch_error error = {.message = "the store has to wait"};
    latch_op op;

    if (latch_op_begin(&op, &lease, &request, &error) != LATCH_DONE) {
        fail_with(&error);
    }
}

static void begin_store(latch_engine *engine, const char *path)
{
    char dsn[512];
    latch_table_options table = {.names = LATCH_TABLE_PLAIN};
    latch_store_options options = {.dsn = dsn, .table = &table};
    latch_error error;

    snprintf(dsn, sizeof(dsn), "sqlite:%s", path);
    options.dsn_length = strlen(dsn);
    store = latch_store_make(engine, &latch_table_store, &error);
    if (store == NULL || store->class->open(store, &options, &error) != LATCH_DONE) {
        fail_with(&error);
    }
    latch_lease_init(&lease, store, values[0], strlen(values[0]));
}

static void end_store(void)
{
    latch_lease_drop(&lease);
    latch_store_close(store);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static double time_of(void (*execute)(int index))
{
    int64_t begun_ns = now_ns(), spent_ns;
    long pairs = 0;

    do {
        execute(ACQUIRE);
        execute(RELEASE);
        pairs++;
        spent_ns = now_ns() - begun_ns;
    } while (spent_ns < ROUND_NS);
    return (double) spent_ns / (double) pairs / 1000;
}

static int compare(const void *left, const void *right)
{
    double difference = *(const double *) left - *(const double *) right;

    return difference < 0 ? -1 : difference > 0;
}

static double print_times(const char *journal, const char *subject, double *times, int rounds)
{
    qsort(times, (size_t) rounds, sizeof(*times), compare);
    printf("%-8s %-8s %8.1f us (%.1f)\n", journal, subject, times[rounds / 2], times[0]);
    return times[rounds / 2];
}

static void make_database(const char *path, const char *journal)
{
    char text[1024];

    snprintf(text, sizeof(text), "PRAGMA journal_mode=%s; " TABLE, journal);
    expect(sqlite3_open(path, &connection) == SQLITE_OK, path);
    expect(sqlite3_exec(connection, text, NULL, NULL, NULL) == SQLITE_OK, text);
    sqlite3_close(connection);
}

static void remove_database(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};

    for (size_t at = 0; at < 4; at++) {
        char file[1024];

        snprintf(file, sizeof(file), "%s%s", path, suffixes[at]);
        unlink(file);
    }
}

static void measure(latch_engine *engine, const char *folder, const char *journal, int rounds)
{
    static const char *const names[] = {"library", "session", "store"};
    static void (*const subjects[])(int index) = {execute_in_library, execute_in_session,
                                                  execute_in_store};
    static double times[3][ROUNDS_MAX];
    char paths[3][256];
    double medians[3];

    for (int at = 0; at < 3; at++) {
        snprintf(paths[at], sizeof(paths[at]), "%s/latch-benchmark-%d-%d.db", folder,
                 (int) getpid(), at);
        make_database(paths[at], journal);
    }
    begin_library(paths[0]);
    begin_session(engine, paths[1]);
    begin_store(engine, paths[2]);
    for (int round = -1; round < rounds; round++) { /* the first one is not counted */
        for (int at = 0; at < 3; at++) {
            times[at][round < 0 ? 0 : round] = time_of(subjects[at]);
        }
    }
    for (int at = 0; at < 3; at++) {
        medians[at] = print_times(journal, names[at], times[at], rounds);
    }
    printf("%-8s ratios   %8.3f %8.3f\n", journal, medians[1] / medians[0],
           medians[2] / medians[0]);
    end_store();
    latch_sql_session_end(session);
    end_library();
    for (int at = 0; at < 3; at++) {
        remove_database(paths[at]);
    }
}

int main(int argc, char **argv)
{
    int rounds = argc > 2 ? atoi(argv[2]) : 101;
    latch_env env = latch_env_system();
    latch_error error;
    latch_engine *engine = latch_engine_create(&env, &error);

    if (argc < 2 || argc > 3 || rounds < 1 || rounds > ROUNDS_MAX || engine == NULL) {
        fprintf(stderr, "usage: %s FOLDER [ROUNDS up to %d]\n", argv[0], ROUNDS_MAX);
        return 64;
    }
    measure(engine, argv[1], "delete", rounds);
    measure(engine, argv[1], "wal", rounds);
    latch_engine_destroy(engine);
    return EXIT_SUCCESS;
}
