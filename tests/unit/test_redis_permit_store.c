/* Permits in the Redis store: requests, and waits in their order. */
#include "redis_permit_leases.h"

#include "src/base/context.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Requests */

static void a_permit_is_held_renewed_probed_and_released(void **state)
{
    latch_lease *one = redis_permit(), *two = redis_permit_elsewhere();
    int64_t sent_ns = unit_now_ns();

    (void) state;
    UNIT_CHECK(redis_run_take(one, 2, 3) == LATCH_DONE);
    UNIT_CHECK(unit_held(one) && one->mode == LATCH_EXCLUSIVE && one->fencing_token == 0);
    UNIT_CHECK(one->deadline_ns >= sent_ns + MINUTE * LATCH_NS_PER_MS);
    UNIT_CHECK(one->deadline_ns <= unit_now_ns() + MINUTE * LATCH_NS_PER_MS);
    UNIT_CHECK(redis_run_take(two, 2, 3) == LATCH_CONFLICT && !unit_held(two));
    UNIT_CHECK(redis_run_take(two, 1, 3) == LATCH_DONE);
    assert_int_equal(redis_permits_used(), 3);
    UNIT_CHECK(redis_run(one, LATCH_REFRESH) == LATCH_DONE);
    UNIT_CHECK(redis_run(one, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(redis_run(one, LATCH_RELEASE) == LATCH_DONE && !unit_held(one));
    UNIT_CHECK(redis_run(one, LATCH_PROBE) == LATCH_CONFLICT);
    UNIT_CHECK(redis_run(one, LATCH_REFRESH) == LATCH_CONFLICT);
    assert_int_equal(redis_permits_used(), 1);
}

static void a_semaphore_and_a_lock_of_one_name_are_apart(void **state)
{
    latch_lease *lock = redis_lease("s"), *one = redis_permit();

    (void) state;
    UNIT_CHECK(redis_run(lock, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_run_take(one, 1, 1) == LATCH_DONE);
    UNIT_CHECK(redis_run(lock, LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(unit_held(one) && redis_run(one, LATCH_PROBE) == LATCH_DONE);
}

static void the_prefix_goes_before_symfonys_keys_and_ours(void **state)
{
    latch_lease *one =
        redis_permit_in(redis_open("redis://127.0.0.1:%d?prefix=app:", unit_redis.port));

    (void) state;
    UNIT_CHECK(redis_run_take(one, 1, 2) == LATCH_DONE);
    assert_int_equal(unit_redis_number("EXISTS app:" REDIS_PERMIT_WEIGHTS " app:" REDIS_PERMIT_TIMES
                                       " app:latch:permits:{s}"),
                     3);
    assert_int_equal(unit_redis_number("DBSIZE"), 3);
}

static void a_token_that_was_handed_over_holds(void **state)
{
    latch_lease *one = redis_permit(), *two = redis_permit_elsewhere();

    (void) state;
    UNIT_CHECK(redis_run_take(one, 1, 1) == LATCH_DONE);
    UNIT_CHECK(latch_lease_set_token(two, one->token, strlen(one->token), &unit.error)
               == LATCH_DONE);
    UNIT_CHECK(redis_run(two, LATCH_PROBE) == LATCH_DONE && unit_held(two));
    UNIT_CHECK(redis_run(two, LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(redis_run(one, LATCH_REFRESH) == LATCH_CONFLICT && one->lost);
}

static void an_inspection_tells_each_holder_and_the_sum(void **state)
{
    latch_lease *one = redis_permit(), *two = redis_permit_elsewhere(),
                *waiter = redis_permit_elsewhere();
    latch_request request = unit_request(LATCH_INSPECT);
    latch_lock_report *report = NULL;
    latch_op op;

    (void) state;
    request.reports = &report;
    UNIT_CHECK(unit_run_request(one, request) == LATCH_DONE);
    assert_int_equal(report->mode, LATCH_FREE);
    latch_lock_reports_free(unit.engine, report);
    UNIT_CHECK(redis_run_take(one, 2, 5) == LATCH_DONE && redis_run_take(two, 1, 6) == LATCH_DONE);
    redis_begin_permit_wait(&op, waiter, redis_wait_to_take(5, 5), 1);
    report = NULL;
    UNIT_CHECK(unit_run_request(one, request) == LATCH_DONE);
    assert_int_equal(report->mode, LATCH_SHARED);
    assert_int_equal(report->permits_used, 3);
    assert_int_equal(report->holder_count, 2);
    assert_int_equal(report->waiter_count, 1);
    assert_string_equal(report->name, "s");
    for (const latch_holder *holder = report->holders; holder != NULL; holder = holder->next) {
        bool is_one = holder->permits.limit == 5;

        assert_int_equal(holder->permits.weight, is_one ? 2 : 1);
        assert_int_equal(holder->permits.limit, is_one ? 5 : 6);
        UNIT_CHECK(holder->left_ms > 0 && holder->left_ms <= MINUTE + 1000);
    }
    latch_lock_reports_free(unit.engine, report);
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
}

static const char *note_of_holder(void *context)
{
    (void) context;
    return "web 7 /srv/import.php ?";
}

static void an_inspection_tells_the_notes_of_holders(void **state)
{
    const char *(*const before)(void *) = unit.engine->env.holder_info;
    latch_lease *one = redis_permit(), *two = redis_permit_elsewhere();
    latch_request request = unit_request(LATCH_INSPECT);
    latch_lock_report *report = NULL;
    size_t noted = 0;

    (void) state;
    request.reports = &report;
    UNIT_CHECK(redis_run_take(two, 1, 3) == LATCH_DONE);
    unit.engine->env.holder_info = note_of_holder;
    UNIT_CHECK(redis_run_take(one, 2, 3) == LATCH_DONE);
    UNIT_CHECK(unit_run_request(two, request) == LATCH_DONE);
    unit.engine->env.holder_info = before;
    assert_int_equal(report->holder_count, 2);
    for (const latch_holder *holder = report->holders; holder != NULL; holder = holder->next) {
        if (holder->permits.weight == 2) {
            assert_string_equal(holder->host, "web");
            assert_string_equal(holder->script, "/srv/import.php ?");
            assert_int_equal(holder->number, 7);
            UNIT_CHECK(holder->since_us > 0 && holder->fencing_token == 0);
            noted++;
        }
        assert_int_equal(holder->permits.limit, 3);
        assert_int_equal(strlen(holder->identity), LATCH_IDENTITY_LENGTH);
    }
    assert_int_equal(noted, 1);
    latch_lock_reports_free(unit.engine, report);
}

static void keys_of_another_type_are_a_clear_error(void **state)
{
    latch_lease *one = redis_permit();

    (void) state;
    unit_redis_ask("SET " REDIS_PERMIT_WEIGHTS " text");
    UNIT_CHECK(redis_failed(redis_run_take(one, 1, 1), "WRONGTYPE"));
    UNIT_CHECK(!unit_held(one));
    assert_string_equal(unit_redis_text("GET " REDIS_PERMIT_WEIGHTS), "text");
    unit_redis_ask("DEL " REDIS_PERMIT_WEIGHTS);
    UNIT_CHECK(redis_run_take(one, 1, 1) == LATCH_DONE);
}

static void a_ttl_is_needed(void **state)
{
    latch_lease *one = redis_permit();
    latch_request request = redis_take(1, 1);

    (void) state;
    request.ttl_ms = 0;
    assert_int_equal(unit_run_request(one, request), LATCH_ERROR_ARGUMENT);
    assert_string_equal(unit.error.message, "a permit in Redis needs a TTL");
}

static void long_names_and_any_bytes_are_names(void **state)
{
    static char name[100000];
    latch_lease *one = redis_lease_in(unit.store, "s");

    (void) state;
    memset(name, 'x', sizeof(name));
    name[7] = '\0';
    name[8] = '}';
    latch_permit_lease_init(one, unit.store, name, sizeof(name));
    UNIT_CHECK(redis_run_take(one, 1, 1) == LATCH_DONE);
    assert_int_equal(unit_redis_number("DBSIZE"), 3);
    UNIT_CHECK(redis_run(one, LATCH_RELEASE) == LATCH_DONE);
    latch_lease_drop(one);
    latch_permit_lease_init(one, unit.store, "", 0); /* the empty name, too */
    UNIT_CHECK(redis_run_take(one, 1, 1) == LATCH_DONE);
    assert_int_equal(unit_redis_number("EXISTS {}:weight"), 1);
}

static size_t largest_size;

static void *allocate_nothing(void *context, size_t size)
{
    (void) context;
    largest_size = size > largest_size ? size : largest_size;
    return NULL;
}

/* Four gibibytes with braces around them: only the beginning is read, as there is no memory. */
static void the_longest_name_has_room_for_its_braces(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_INSPECT};
    static const char beginning[64] = "s";
    void *(*const allocate)(void *, size_t) = unit.engine->env.allocate;
    latch_lease *one = redis_permit();
    latch_lock_report *report = NULL;

    (void) state;
    one->resource = beginning;
    one->resource_length = UINT32_MAX;
    for (size_t at = 0; at < sizeof(kinds) / sizeof(*kinds); at++) {
        latch_request request = redis_with_permits(unit_request(kinds[at]), 1, 1);

        request.ttl_ms = MINUTE;
        request.reports = &report;
        largest_size = 0;
        unit.engine->env.allocate = allocate_nothing;
        UNIT_CHECK(unit_run_request(one, request) == LATCH_ERROR_MEMORY);
        unit.engine->env.allocate = allocate;
        UNIT_CHECK(largest_size > UINT32_MAX);
    }
}

/* ---- Waits */

static void waiters_get_permits_in_their_order(void **state)
{
    latch_lease *holder = redis_permit(), *leases[4];
    static const int64_t weights[] = {2, 1, 1, 3};
    latch_op ops[4];

    (void) state;
    UNIT_CHECK(redis_run_take(holder, 3, 3) == LATCH_DONE);
    for (int at = 0; at < 4; at++) {
        leases[at] = redis_permit_elsewhere();
        redis_begin_permit_wait(&ops[at], leases[at], redis_wait_to_take(weights[at], 3), at + 1);
    }
    UNIT_CHECK(redis_run(holder, LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(unit_finish(&ops[0], LATCH_WANT_IO) == LATCH_DONE);
    UNIT_CHECK(unit_finish(&ops[1], LATCH_WANT_IO) == LATCH_DONE);
    assert_int_equal(redis_permits_used(), 3);
    redis_await_permit_waiters(2);
    UNIT_CHECK(redis_run(leases[1], LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(unit_finish(&ops[2], LATCH_WANT_IO) == LATCH_DONE);
    UNIT_CHECK(redis_run(leases[0], LATCH_RELEASE) == LATCH_DONE);
    redis_await_permit_waiters(1); /* the heavy one has to wait for all */
    UNIT_CHECK(redis_run(leases[2], LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(unit_finish(&ops[3], LATCH_WANT_IO) == LATCH_DONE);
    assert_int_equal(redis_permits_used(), 3);
    UNIT_CHECK(redis_run(leases[3], LATCH_RELEASE) == LATCH_DONE);
    redis_expect_nothing_left();
}

static void a_wait_ends_at_its_time_out_and_leaves_the_queue(void **state)
{
    latch_lease *holder = redis_permit(), *heavy = redis_permit_elsewhere(),
                *light = redis_permit_elsewhere();
    latch_op ops[2];

    (void) state;
    UNIT_CHECK(redis_run_take(holder, 1, 3) == LATCH_DONE);
    redis_begin_permit_wait(&ops[0], heavy, redis_wait_to_take(3, 3), 1);
    redis_begin_permit_wait(&ops[1], light, redis_wait_to_take(1, 3), 2);
    UNIT_CHECK(redis_time_out(&ops[0]) == LATCH_CONFLICT);
    UNIT_CHECK(unit_finish(&ops[1], LATCH_WANT_IO) == LATCH_DONE); /* it stood behind it */
    redis_await_permit_waiters(0);
    assert_int_equal(redis_permits_used(), 2);
}

static void a_cancelled_wait_leaves_the_queue_or_gives_the_grant_back(void **state)
{
    latch_lease *holder = redis_permit(), *leaver = redis_permit_elsewhere(),
                *next = redis_permit_elsewhere();
    latch_op ops[2];

    (void) state;
    for (int is_granted = 0; is_granted < 2; is_granted++) {
        UNIT_CHECK(redis_run_take(holder, 1, 1) == LATCH_DONE);
        redis_begin_permit_wait(&ops[0], leaver, redis_wait_to_take(1, 1), 1);
        redis_begin_permit_wait(&ops[1], next, redis_wait_to_take(1, 1), 2);
        if (is_granted) {
            UNIT_CHECK(redis_run(holder, LATCH_RELEASE) == LATCH_DONE);
            redis_await_permit_waiters(1);
        }
        UNIT_CHECK(unit_cancel(&ops[0]) == LATCH_CONFLICT && !unit_held(leaver));
        if (!is_granted) {
            UNIT_CHECK(redis_run(holder, LATCH_RELEASE) == LATCH_DONE);
        }
        UNIT_CHECK(unit_finish(&ops[1], LATCH_WANT_IO) == LATCH_DONE);
        assert_int_equal(redis_permits_used(), 1);
        UNIT_CHECK(redis_run(next, LATCH_RELEASE) == LATCH_DONE);
    }
    redis_expect_nothing_left();
}

static void a_killed_waiter_delays_nobody(void **state)
{
    latch_lease *holder = redis_permit(), *next = redis_permit_elsewhere();
    latch_op op;
    int ready[2];
    pid_t child;
    char word;

    (void) state;
    UNIT_CHECK(redis_run_take(holder, 1, 1) == LATCH_DONE);
    UNIT_CHECK(pipe(ready) == 0);
    latch_engine_before_fork(unit.engine);
    child = fork();
    if (child == 0) {
        latch_op waiting;

        latch_engine_after_fork_in_child(unit.engine);
        unit.random_state ^= 1; /* else its tokens are ours */
        redis_begin_wait(&waiting, redis_permit_elsewhere(), redis_wait_to_take(1, 1));
        (void) !write(ready[1], "w", 1);
        pause();
        _exit(1);
    }
    latch_engine_after_fork_in_parent(unit.engine);
    UNIT_CHECK(read(ready[0], &word, 1) == 1);
    close(ready[0]);
    close(ready[1]);
    redis_begin_permit_wait(&op, next, redis_wait_to_take(1, 1), 2);
    UNIT_CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    UNIT_CHECK(redis_run(holder, LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
    redis_await_permit_waiters(0);
}

static void a_killed_holder_is_followed_when_its_time_is_over(void **state)
{
    latch_lease *next = redis_permit();
    int64_t begun_ns = unit_now_ns();
    latch_op op;
    pid_t child;

    (void) state;
    latch_engine_before_fork(unit.engine);
    child = fork();
    if (child == 0) {
        latch_engine_after_fork_in_child(unit.engine);
        unit.random_state ^= 1; /* else its tokens are ours */
        unit_run_request(redis_permit_elsewhere(),
                         redis_with_permits(redis_request_for(LATCH_ACQUIRE, 1000), 1, 1));
        kill(getpid(), SIGKILL);
    }
    latch_engine_after_fork_in_parent(unit.engine);
    UNIT_CHECK(waitpid(child, NULL, 0) == child);
    assert_int_equal(redis_permits_used(), 1);
    redis_begin_permit_wait(&op, next, redis_wait_to_take(1, 1), 1);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
    UNIT_CHECK(unit_now_ns() - begun_ns < 4 * LATCH_NS_PER_S); /* 1 s, and what is rounded */
    UNIT_CHECK(unit_now_ns() - begun_ns >= LATCH_NS_PER_S);
}

static void a_server_without_its_data_is_asked_again(void **state)
{
    latch_lease *holder = redis_permit(),
                *leases[2] = {redis_permit_elsewhere(), redis_permit_elsewhere()};
    latch_op ops[2];

    (void) state;
    UNIT_CHECK(redis_run_take(holder, 1, 1) == LATCH_DONE);
    redis_begin_permit_wait(&ops[0], leases[0], redis_wait_to_take(1, 1), 1);
    redis_begin_permit_wait(&ops[1], leases[1], redis_wait_to_take(1, 1), 2);
    unit_redis_ask("FLUSHALL");
    UNIT_CHECK(unit_finish(&ops[0], LATCH_WANT_IO) == LATCH_DONE); /* by its next question */
    UNIT_CHECK(redis_run(holder, LATCH_REFRESH) == LATCH_CONFLICT && holder->lost);
    UNIT_CHECK(redis_run(leases[0], LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(unit_finish(&ops[1], LATCH_WANT_IO) == LATCH_DONE);
    UNIT_CHECK(redis_run(leases[1], LATCH_RELEASE) == LATCH_DONE);
}

static void a_server_that_is_started_again_serves_who_waits(void **state)
{
    latch_lease *holder = redis_permit(), *waiter = redis_permit_elsewhere();
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run_take(holder, 1, 1) == LATCH_DONE);
    redis_begin_permit_wait(&op, waiter, redis_wait_to_take(1, 1), 1);
    unit_redis_stop();
    unit_redis_start(NULL);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
    UNIT_CHECK(unit_held(waiter));
    assert_int_equal(redis_permits_used(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_TEST(a_permit_is_held_renewed_probed_and_released),
        REDIS_TEST(a_semaphore_and_a_lock_of_one_name_are_apart),
        REDIS_TEST(the_prefix_goes_before_symfonys_keys_and_ours),
        REDIS_TEST(a_token_that_was_handed_over_holds),
        REDIS_TEST(an_inspection_tells_each_holder_and_the_sum),
        REDIS_TEST(an_inspection_tells_the_notes_of_holders),
        REDIS_TEST(keys_of_another_type_are_a_clear_error),
        REDIS_TEST(a_ttl_is_needed),
        REDIS_TEST(long_names_and_any_bytes_are_names),
        REDIS_TEST(the_longest_name_has_room_for_its_braces),
        REDIS_TEST(waiters_get_permits_in_their_order),
        REDIS_TEST(a_wait_ends_at_its_time_out_and_leaves_the_queue),
        REDIS_TEST(a_cancelled_wait_leaves_the_queue_or_gives_the_grant_back),
        REDIS_TEST(a_killed_waiter_delays_nobody),
        REDIS_TEST(a_killed_holder_is_followed_when_its_time_is_over),
        REDIS_TEST(a_server_without_its_data_is_asked_again),
        REDIS_TEST(a_server_that_is_started_again_serves_who_waits),
    };

    return cmocka_run_group_tests_name("redis permit store", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
