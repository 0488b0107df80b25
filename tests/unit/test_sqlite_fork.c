/* SQLite and other processes and threads: forks, databases in memory, clones. */
#include "sql_statements.h"
#include "sqlite_file.h"

#include "src/store/sql/sqlite/driver.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <unistd.h>

#define CREATE "CREATE TABLE names (name TEXT PRIMARY KEY)"

static const char *const journals[] = {CREATE, "PRAGMA journal_mode=WAL; " CREATE};

static int setup_nothing(void **state)
{
    (void) state;
    return 0;
}

static void await_no_session(size_t count)
{
    UNIT_CHECK(unit_sqlite_open_files() == count);
    unit_sqlite_remove();
}

static void insert(const char *name)
{
    char text[64];
    sql_step step;

    snprintf(text, sizeof(text), "INSERT INTO names VALUES ('%s')", name);
    step = sql_step_of(text);
    sql_enqueue(&step);
    sql_await(&step);
    UNIT_CHECK(step.outcome == SQL_ANSWERED);
}

static void expect_names(const char *names)
{
    sql_step step = sql_step_of("SELECT group_concat(name) FROM (SELECT * FROM names ORDER BY 1)");

    UNIT_CHECK(strcmp(sql_run(&step), names) == 0);
}

/* ---- Forks ----------------------------------------------------------------------------------- */

static void have_none(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    UNIT_CHECK(unit_sqlite_open_files() == 0);
    UNIT_CHECK(!latch_sql_session_is_alive(sql_under_test));
    latch_sql_session_end(sql_under_test);
}

static void no_connection_is_carried_over_a_fork(void **state)
{
    (void) state;
    for (size_t at = 0; at < 2; at++) {
        int64_t number;
        unit_process child;

        unit_sqlite_create(journals[at]);
        insert("a");
        number = sql_under_test->number;
        UNIT_CHECK(unit_sqlite_open_files() > 0);
        child = unit_fork(have_none, NULL);
        UNIT_CHECK(unit_sqlite_open_files() == 0);
        unit_join(&child);
        UNIT_CHECK(latch_sql_session_is_alive(sql_under_test)); /* it has lost nothing */
        insert("b");
        expect_names("a,b");
        UNIT_CHECK(sql_under_test->number == number);
    }
}

static void write_in_turn(unit_process *self, void *argument)
{
    (void) argument;
    latch_sql_session_abandon_in_child(sql_under_test);
    expect_names("a");
    unit_say(self, 'r');
    unit_expect(self, 'g');
    expect_names("a,other");
    insert("child");
    expect_names("a,child,other");
    latch_sql_session_end(sql_under_test);
}

/*
 * A connection that the child had inherited would count the parent's locks as the child's: the last
 * process but the child would remove the log, into which the child goes on to write.
 */
static void what_a_child_writes_is_in_the_file(void **state)
{
    (void) state;
    for (size_t at = 0; at < 2; at++) {
        unit_process child;

        unit_sqlite_create(journals[at]);
        insert("a");
        child = unit_fork(write_in_turn, NULL);
        unit_expect(&child, 'r');
        latch_sql_session_lose(sql_under_test, SQL_LOST, "for the test");
        unit_sqlite_run(unit_sqlite.path, "INSERT INTO names VALUES ('other')");
        unit_say(&child, 'g');
        unit_join(&child);
        expect_names("a,child,other");
        assert_string_equal(unit_sqlite_run(unit_sqlite.path, "PRAGMA integrity_check"), "ok");
    }
}

static void write_once(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    latch_sql_session_abandon_in_child(sql_under_test);
    insert("child");
}

/* The statement is sent again in the parent; the child begins anew. */
static void a_statement_that_waits_goes_on_after_a_fork(void **state)
{
    sql_step waiting = sql_step_of("INSERT INTO names VALUES ('mine')");
    unit_process peer, child;

    (void) state;
    unit_sqlite_create(CREATE);
    peer = unit_sqlite_peer("BEGIN IMMEDIATE; INSERT INTO names VALUES ('peer')");
    sql_enqueue(&waiting);
    sql_await_sent(&waiting);
    child = unit_fork(write_once, NULL);
    unit_sqlite_commit(&peer);
    sql_await(&waiting);
    assert_int_equal(waiting.outcome, SQL_ANSWERED);
    unit_join(&child);
    unit_join(&peer);
    expect_names("child,mine,peer");
}

/* ---- Threads --------------------------------------------------------------------------------- */

static _Atomic bool is_over;
static _Atomic unsigned rounds;

/* Returns its session. */
static void *work(void *argument)
{
    sql_session *session = argument;
    sql_step step = sql_step_of("UPDATE names SET name = name");
    latch_error error;
    latch_op op = {.error = &error};

    while (!is_over) {
        latch_sql_session_enqueue(session, &step.statement, unit_now_ns());
        while (latch_wants(latch_sql_session_drive(session, &step.statement, &op, unit_now_ns()))) {
        }
        rounds++;
    }
    return session;
}

static void open_at_once(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    alarm(20); /* ends a child that waits for a thread which it does not have */
    latch_sql_session_abandon_in_child(sql_under_test);
    expect_names("a");
}

/* It would hold the library's locks for ever in the child. */
static void no_thread_is_in_the_library_when_a_process_forks(void **state)
{
    sql_session *clone;
    pthread_t thread;

    (void) state;
    unit_sqlite_create(journals[1]);
    insert("a");
    clone = sql_under_test->driver->clone(sql_under_test);
    is_over = false;
    rounds = 0;
    UNIT_CHECK(pthread_create(&thread, NULL, work, clone) == 0);
    for (unsigned forks = 0; forks < 20; forks++) {
        unsigned before = rounds;
        unit_process child = unit_fork(open_at_once, NULL);

        UNIT_AWAIT(rounds > before + 1);
        unit_join(&child);
    }
    is_over = true;
    pthread_join(thread, NULL);
    latch_sql_session_end(clone);
    expect_names("a");
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static int setup_in_memory(void **state)
{
    sql_server.dsn = "sqlite::memory:";
    return sql_statements_setup(state);
}

static int setup_in_memory_by_uri(void **state)
{
    sql_server.dsn = "sqlite:file:any?mode=memory";
    return sql_statements_setup(state);
}

static int teardown_in_memory(void **state)
{
    sql_server.dsn = unit_sqlite.dsn;
    return sql_statements_teardown(state);
}

static void have_nothing(unit_process *self, void *argument)
{
    sql_step step = sql_step_of("SELECT count(*) FROM names");
    sqlite3_int64 used;

    (void) self;
    (void) argument;
    used = sqlite3_memory_used();
    latch_sql_session_abandon_in_child(sql_under_test);
    UNIT_CHECK(sqlite3_memory_used() == used); /* SQLite closes nothing that was copied */
    sql_enqueue(&step);
    sql_await(&step);
    UNIT_CHECK(step.outcome == SQL_NO_TABLE);
    UNIT_CHECK(strstr(sql_under_test->trouble, "no such table: names") != NULL);
    latch_sql_session_end(sql_under_test);
}

static void a_database_in_memory_is_the_processs(void **state)
{
    sql_step create = sql_step_of(CREATE);
    unit_process child;

    (void) state;
    sql_run(&create);
    insert("a");
    child = unit_fork(have_nothing, NULL);
    unit_join(&child);
    insert("b");
    expect_names("a,b");
}

static void a_database_in_memory_outlives_a_fork(void **state)
{
    sql_step create = sql_step_of(CREATE);
    unit_process child;

    (void) state;
    sql_run(&create);
    insert("a");
    child = unit_fork(have_nothing, NULL);
    unit_join(&child);
    expect_names("a");
}

static void a_database_in_memory_is_shared_with_clones_alone(void **state)
{
    const latch_store_options options = {.dsn = "sqlite3:///:memory:", .dsn_length = 19};
    sql_step create = sql_step_of(CREATE);
    sql_session *first = sql_under_test;

    (void) state;
    sql_run(&create);
    insert("a");
    sql_under_test = first->driver->clone(first);
    insert("b");
    expect_names("a,b");
    latch_sql_session_end(sql_under_test);
    assert_int_equal(latch_sqlite_open(unit.engine, &options, &sql_under_test, &unit.error),
                     LATCH_DONE);
    assert_string_not_equal(sql_under_test->identity, first->identity);
    sql_run(&create);
    expect_names("");
    latch_sql_session_end(sql_under_test);
    sql_under_test = first;
    expect_names("a,b");
}

/* ---- Clones ---------------------------------------------------------------------------------- */

static void a_clone_lives_longer_than_its_origin(void **state)
{
    sql_session *first = sql_under_test;

    (void) state;
    unit_sqlite_create(CREATE);
    insert("a");
    sql_under_test = first->driver->clone(first);
    assert_string_equal(sql_under_test->address, unit_sqlite.path);
    latch_sql_session_end(first);
    insert("b");
    expect_names("a,b");
}

#define MEMORY_TEST(test) cmocka_unit_test_setup_teardown(test, setup_in_memory, teardown_in_memory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SQL_TEST(no_connection_is_carried_over_a_fork),
        SQL_TEST(what_a_child_writes_is_in_the_file),
        SQL_TEST(a_statement_that_waits_goes_on_after_a_fork),
        SQL_TEST(no_thread_is_in_the_library_when_a_process_forks),
        MEMORY_TEST(a_database_in_memory_is_the_processs),
        cmocka_unit_test_setup_teardown(a_database_in_memory_outlives_a_fork,
                                        setup_in_memory_by_uri, teardown_in_memory),
        MEMORY_TEST(a_database_in_memory_is_shared_with_clones_alone),
        SQL_TEST(a_clone_lives_longer_than_its_origin),
    };

    sql_server = (sql_statements_server){
        .setup = setup_nothing,
        .open = latch_sqlite_open,
        .dsn = unit_sqlite.dsn,
        .await_sessions = await_no_session,
    };
    return cmocka_run_group_tests(tests, unit_sqlite_group_setup, unit_sqlite_group_teardown);
}
