/* Locks in a table of SQLite in the conformance suite. */
#include "conformance.h"
#include "sqlite_file.h"

static int reset(void **state)
{
    (void) state;
    unit_sqlite_create("PRAGMA journal_mode=WAL");
    return 0;
}

static latch_store *open_store(conformance_variant variant)
{
    static const char *const options_of[] = {"", "?read_timeout=300&timeout=300", ""};

    return conformance_open_dsn("sqlite:///%s%s", unit_sqlite.path, options_of[variant]);
}

static void expect_nothing_left(void)
{
    UNIT_CHECK(unit_sqlite_open_files() == 0);
}

/* Another program's transaction, which does not end. */
static unit_process writer;

static void begin_to_write(void)
{
    writer = unit_sqlite_peer("BEGIN IMMEDIATE");
}

static void end_writing(void)
{
    if (writer.pid != 0) {
        unit_kill(&writer);
        writer.pid = 0;
    }
}

int main(void)
{
    static const conformance_fixture fixture = {
        .name = "conformance: table in SQLite",
        .store = "table",
        .capabilities = LATCH_EXPIRING | LATCH_SERIALIZABLE | LATCH_LISTING | LATCH_HOLDER_INFO,
        .traits = CONFORMANCE_INSPECTS | CONFORMANCE_INHERITS | CONFORMANCE_TOKENS,
        .rounds = 300,
        .group_setup = unit_sqlite_group_setup,
        .group_teardown = unit_sqlite_group_teardown,
        .reset = reset,
        .open = open_store,
        .expect_nothing_left = expect_nothing_left,
        .silence = begin_to_write,
        .resume = end_writing,
        .silent = " did not answer within ",
        .unreachable = " did not answer within ",
    };

    return conformance_run(&fixture);
}
