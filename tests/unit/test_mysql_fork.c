/* The MySQL store and fork(2): a child disturbs neither its parent's session nor its locks. */
#include "mysql_store.h"

static latch_lease *lease;
static latch_op op;

static void exit_in_child(unit_process *self, void *argument)
{
    (void) self;
    if (argument != NULL) { /* in an orderly way, or not */
        latch_lease_drop(lease);
        latch_store_close(lease->store);
    }
}

static void hold_on(unit_process *self, void *argument)
{
    (void) argument;
    unit_expect(self, 'g');
}

/* What the child has of it must not keep the session alive. */
static void a_lock_ends_with_its_process_though_a_child_lives(void **state)
{
    unit_process child;

    (void) state;
    lease = mysql_lease_in(mysql_open("%s", unit_mysql.dsn), "r");
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    child = unit_fork(hold_on, NULL);
    mysql_store_forget();
    mysql_await_free("r");
    unit_say(&child, 'g');
    unit_join(&child);
}

static void cancel_in_child(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    latch_store_close(lease->store);
}

/* At every moment of the way to a session. */
static void a_child_of_whom_connects_connects_itself(void **state)
{
    const char *const options[] = {"", "?ssl_mode=required"};

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        bool is_done = false;

        for (int steps = 0; !is_done; steps++) {
            latch_status status;
            unit_process child;

            lease = mysql_lease_in(mysql_open("%s%s", unit_mysql.url, options[at]), "r");
            status = unit_begin(&op, lease, unit_request(LATCH_ACQUIRE));
            for (int step = 0; step < steps && latch_wants(status); step++) {
                unit_await_wish(&op, status, unit_now_ns() + UNIT_TIMEOUT_NS);
                status = latch_op_step(&op, unit_now_ns());
            }
            is_done = !latch_wants(status);
            child = unit_fork(is_done ? exit_in_child : cancel_in_child, NULL);
            unit_join(&child);
            UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE);
            unit_release(lease);
            mysql_store_forget();
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MYSQL_TEST(a_lock_ends_with_its_process_though_a_child_lives),
        MYSQL_TEST(a_child_of_whom_connects_connects_itself),
    };

    return cmocka_run_group_tests_name("mysql and fork", tests, unit_mysql_group_setup,
                                       unit_mysql_group_teardown);
}
