/* Databases of SQLite: see sqlite_file.h. */
#include "sqlite_file.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <unistd.h>

unit_sqlite_file unit_sqlite;

int unit_sqlite_group_setup(void **state)
{
    (void) state;
    unit_make_temporary(unit_sqlite.directory);
    snprintf(unit_sqlite.path, sizeof(unit_sqlite.path), "%s/locks.db", unit_sqlite.directory);
    snprintf(unit_sqlite.dsn, sizeof(unit_sqlite.dsn), "sqlite:%s", unit_sqlite.path);
    return 0;
}

int unit_sqlite_group_teardown(void **state)
{
    (void) state;
    unit_remove_temporary(unit_sqlite.directory);
    return 0;
}

static void execute_all(sqlite3 *connection, const char *statements, char *value)
{
    *value = '\0';
    while (*statements != '\0') {
        sqlite3_stmt *statement = NULL;
        int code = sqlite3_prepare_v2(connection, statements, -1, &statement, &statements);

        while (statement != NULL && code == SQLITE_OK
               && (code = sqlite3_step(statement)) == SQLITE_ROW) {
            const char *text = (const char *) sqlite3_column_text(statement, 0);

            snprintf(value, UNIT_SQLITE_TEXT, "%s", text != NULL ? text : "");
            code = SQLITE_OK;
        }
        code = statement == NULL && code == SQLITE_OK ? SQLITE_DONE : code; /* a blank */
        sqlite3_finalize(statement);
        if (code != SQLITE_DONE) {
            snprintf(unit.error.message, sizeof(unit.error.message), "%s",
                     sqlite3_errmsg(connection));
        }
        UNIT_CHECK(code == SQLITE_DONE);
    }
}

static sqlite3 *open_alone(const char *path)
{
    sqlite3 *connection;

    UNIT_CHECK(sqlite3_open(path, &connection) == SQLITE_OK);
    sqlite3_busy_timeout(connection, (int) (UNIT_TIMEOUT_NS / LATCH_NS_PER_MS));
    return connection;
}

const char *unit_sqlite_run(const char *path, const char *statements)
{
    static char value[UNIT_SQLITE_TEXT];
    sqlite3 *connection = open_alone(path);

    execute_all(connection, statements, value);
    UNIT_CHECK(sqlite3_close(connection) == SQLITE_OK);
    return value;
}

void unit_sqlite_remove(void)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};

    for (size_t at = 0; at < sizeof(suffixes) / sizeof(*suffixes); at++) {
        char path[UNIT_SQLITE_TEXT + 16];

        snprintf(path, sizeof(path), "%s%s", unit_sqlite.path, suffixes[at]);
        UNIT_CHECK(unlink(path) == 0 || errno == ENOENT);
    }
}

void unit_sqlite_create(const char *statements)
{
    unit_sqlite_remove();
    unit_sqlite_run(unit_sqlite.path, statements);
}

static void be_peer(unit_process *self, void *statements)
{
    char value[UNIT_SQLITE_TEXT];
    sqlite3 *connection = open_alone(unit_sqlite.path);

    execute_all(connection, statements, value);
    unit_say(self, 'y');
    while (unit_hear(self) != 0) {
        execute_all(connection, "COMMIT", value);
        unit_say(self, 'y');
    }
}

unit_process unit_sqlite_peer(const char *statements)
{
    unit_process peer = unit_fork(be_peer, (void *) statements);

    unit_expect(&peer, 'y');
    return peer;
}

void unit_sqlite_commit(const unit_process *peer)
{
    unit_say(peer, 'c');
    unit_expect(peer, 'y');
}

size_t unit_sqlite_open_files(void)
{
    DIR *descriptors = opendir("/proc/self/fd");
    size_t count = 0, length = strlen(unit_sqlite.directory);

    UNIT_CHECK(descriptors != NULL);
    for (struct dirent *entry; (entry = readdir(descriptors)) != NULL;) {
        char target[PATH_MAX] = "";

        count += readlinkat(dirfd(descriptors), entry->d_name, target, sizeof(target) - 1) > 0
                 && strncmp(target, unit_sqlite.directory, length) == 0;
    }
    closedir(descriptors);
    return count;
}
