/*
 * The Redis store on a client that its user has: here a connection of hiredis, on which a runner
 * runs the store's scripts as a \Redis object would.
 */
#include "redis_client.h"
#include "redis_inquiry.h"
#include "redis_store.h"
#include "src/store/redis/lock/redis.h"
#include "src/store/redis/options/slot.h"

#include <unistd.h>

static redisContext *client;
static latch_store *store;
static latch_lease *lease, *other;
static size_t runs;

/* What goes wrong next. */
static struct {
    int unsent;                  /* so many scripts are not sent */
    int unanswered;              /* the answers of so many are lost */
    int64_t response_timeout_ms; /* how long it takes until that is known */
    latch_status answer;         /* in the place of LATCH_ERROR_LOST */
    const char *unusable;        /* nothing can be run */
    const char *prefix;          /* the client's */
    const char *forged;          /* is answered in place of the server */
} trouble;

static bool prepared_for_other;

static latch_status prepare(void *context, const char *resource, size_t length, const char **prefix,
                            size_t *prefix_length, latch_error *error)
{
    (void) context;
    prepared_for_other = resource == NULL || length != 1 || *resource != 'r';
    *prefix = trouble.prefix;
    *prefix_length = strlen(trouble.prefix);
    return trouble.unusable == NULL
               ? LATCH_DONE
               : latch_fail(error, LATCH_ERROR_ARGUMENT, 0, "%s", trouble.unusable);
}

static latch_status lose(latch_error *error)
{
    usleep((useconds_t) (1000 * trouble.response_timeout_ms));
    error->status = trouble.answer;
    snprintf(error->message, sizeof(error->message), "the line is dead");
    return trouble.answer;
}

static latch_status run(void *context, const latch_redis_script *script, latch_redis_answer *answer,
                        latch_error *error)
{
    (void) context;
    runs++;
    if (trouble.unsent > 0) {
        trouble.unsent--;
        return lose(error);
    }
    redis_client_run(client, trouble.prefix, script, answer);
    if (trouble.unanswered > 0) {
        trouble.unanswered--;
        return lose(error);
    }
    if (trouble.forged != NULL) {
        answer->kind = LATCH_REDIS_ERROR;
        snprintf(answer->text, sizeof(answer->text), "%s", trouble.forged);
        trouble.forged = NULL;
    }
    return LATCH_DONE;
}

static bool is_closed;

static void close_runner(void *context)
{
    (void) context;
    is_closed = true;
}

static latch_store *open_object(bool is_cluster)
{
    const latch_redis_runner runner = {NULL, is_cluster, prepare, run, close_runner};
    const latch_store_options options = {.redis_runner = &runner};

    return latch_store_open(unit.engine, "redis", &options, &unit.error);
}

static int setup(void **state)
{
    if (redis_store_setup(state) != 0) {
        return -1;
    }
    memset(&trouble, 0, sizeof(trouble));
    trouble.answer = LATCH_ERROR_LOST;
    trouble.prefix = "";
    runs = 0;
    is_closed = false;
    client = unit_redis_connect();
    store = open_object(false);
    lease = redis_lease_in(store, "r");
    other = redis_other_lease("r");
    return store != NULL ? 0 : -1;
}

static void drop_leases(void)
{
    while (unit.lease_count > 0) {
        latch_lease_drop(&unit.leases[--unit.lease_count]);
    }
}

static int teardown(void **state)
{
    redis_forget_reports();
    drop_leases();
    if (store != NULL) {
        latch_store_close(store);
        UNIT_CHECK(is_closed);
    }
    redisFree(client);
    return redis_store_teardown(state);
}

#define OBJECT_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static void reset_client(void)
{
    redisFree(client);
    client = unit_redis_connect();
}

/* ---- What it can do */

static void each_request_is_one_script(void **state)
{
    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_held(lease) && lease->fencing_token > 0 && !prepared_for_other);
    UNIT_CHECK(redis_run(other, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(redis_run_for(lease, LATCH_REFRESH, 2 * MINUTE) == LATCH_DONE);
    UNIT_CHECK(unit_redis_number("PTTL r") > MINUTE);
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE_SHARED) == LATCH_DONE && lease->fencing_token == 0);
    UNIT_CHECK(redis_run(other, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT && unit_held(lease));
    UNIT_CHECK(redis_run(other, LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(runs == 6);
    UNIT_CHECK(unit_run_request(lease, redis_detached_release()) == LATCH_DONE);
    UNIT_CHECK(runs == 7 && redis_is_free("r"));
    UNIT_CHECK(redis_run(other, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_CONFLICT);
}

static void it_says_what_it_is(void **state)
{
    const latch_store_info *info = latch_store_describe(store),
                           *own = latch_store_describe(unit.store);

    (void) state;
    UNIT_CHECK(strcmp(info->name, own->name) == 0);
    UNIT_CHECK(strcmp(info->state_name, own->state_name) == 0); /* by which tokens are handed over */
    UNIT_CHECK(info->capabilities
               == (own->capabilities & ~(unsigned) (LATCH_BLOCKING | LATCH_PUSH | LATCH_LISTING)));
    UNIT_CHECK(strstr(store->class->renewal_unsupported_reason(store), "give the store a DSN")
               != NULL);
    UNIT_CHECK(unit.store->class->renewal_unsupported_reason(unit.store) == NULL);
}

/* Else it would never have what is handed over. */
static void a_wait_polls_and_has_its_turn_beside_those_who_queue(void **state)
{
    const latch_request request = redis_wait_to_write();
    latch_op op, queued;
    latch_status status;

    (void) state;
    UNIT_CHECK(redis_run(other, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&queued, redis_lease("r"), request);
    status = latch_op_begin(&op, lease, &request, &unit.error);
    UNIT_CHECK(status == LATCH_WANT_TIMER && op.waiting);
    UNIT_CHECK(redis_count_waiters("r") == 1); /* it does not stand in the queue */
    UNIT_CHECK(strcmp(unit_redis_text("HGET latch:peers:r about"), "1") == 0);
    UNIT_CHECK(redis_run(other, LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(unit_finish(&queued, LATCH_WANT_IO) == LATCH_DONE);
    UNIT_CHECK(redis_run(queued.lease, LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE);
}

static void a_wait_ends_with_its_time_and_leaves_nothing_behind(void **state)
{
    (void) state;
    UNIT_CHECK(redis_run(other, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run_request(lease, redis_waiting(LATCH_ACQUIRE, MINUTE, 20)) == LATCH_CONFLICT);
    UNIT_CHECK(redis_run(other, LATCH_RELEASE) == LATCH_DONE);
    redis_expect_nothing_left();
}

/* ---- What goes wrong */

static void what_cannot_be_sent_changes_nothing(void **state)
{
    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    trouble.unusable = "it is in a transaction";
    runs = 0;
    for (latch_op_kind kind = LATCH_ACQUIRE; kind <= LATCH_PROBE; kind++) {
        UNIT_CHECK(redis_run(lease, kind) == LATCH_ERROR_ARGUMENT);
        UNIT_CHECK(strstr(unit.error.message, "it is in a transaction") != NULL);
        UNIT_CHECK(unit_held(lease));
    }
    UNIT_CHECK(runs == 0);
    trouble.unusable = NULL;
    UNIT_CHECK(redis_run(lease, LATCH_RELEASE) == LATCH_DONE && redis_is_free("r"));
}

static void a_release_for_nobody_that_cannot_be_sent_is_sent_with_the_next_request(void **state)
{
    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    trouble.unusable = "it is in a transaction";
    UNIT_CHECK(unit_run_request(lease, redis_detached_release()) == LATCH_ERROR_ARGUMENT);
    UNIT_CHECK(!unit_held(lease) && !redis_is_free("r"));
    trouble.unusable = NULL;
    UNIT_CHECK(redis_run(redis_lease_in(store, "s"), LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_is_free("r") && !redis_is_free("s"));
}

static void a_release_for_nobody_that_is_refused_is_told_in_the_servers_words(void **state)
{
    static const char *const answers[] = {"NOPERM no right to EVAL.", "ERR what is letmein?"};
    static const char *const told[] = {"was not told: NOPERM no right to EVAL",
                                       "was not told: ERR"};

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        latch_lease *one = redis_lease_in(store, "x");

        UNIT_CHECK(latch_lease_set_token(one, "letmein", 7, &unit.error) == LATCH_DONE);
        UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
        trouble.forged = answers[at];
        UNIT_CHECK(redis_failed(unit_run_request(one, redis_detached_release()), told[at]));
        UNIT_CHECK(strcmp(strstr(unit.error.message, "was not"), told[at]) == 0);
    }
}

static void a_release_for_nobody_that_fails_is_told_and_made_good_at_the_stores_end(void **state)
{
    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    trouble.unsent = 1;
    UNIT_CHECK(redis_failed(unit_run_request(lease, redis_detached_release()),
                            "was not told: the line is dead"));
    drop_leases();
    UNIT_CHECK(!redis_is_free("r"));
    latch_store_close(store);
    store = NULL;
    UNIT_CHECK(is_closed && redis_is_free("r"));
}

static void a_script_whose_answer_is_lost_at_once_is_run_once_more(void **state)
{
    (void) state;
    trouble.unanswered = 1;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(runs == 2 && unit_held(lease) && lease->fencing_token > 0);
    trouble.unanswered = 1;
    UNIT_CHECK(redis_run(lease, LATCH_RELEASE) == LATCH_DONE && redis_is_free("r"));
    trouble.unsent = 2;
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "the line is dead"));
    UNIT_CHECK(trouble.unsent == 0);
}

/* A time-out is the client's, and long enough; what a program has ended is not begun anew. */
static void what_was_waited_for_is_not_run_again_and_given_back(void **state)
{
    (void) state;
    for (int quits = 0; quits < 2; quits++) {
        trouble.response_timeout_ms = quits ? 0 : 60;
        trouble.answer = quits ? LATCH_INTERRUPTED : LATCH_ERROR_LOST;
        trouble.unanswered = 1;
        runs = 0;
        UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "the line is dead"));
        UNIT_CHECK(runs == 1 && !unit_held(lease) && !redis_is_free("r"));
        UNIT_CHECK(redis_run(redis_lease_in(store, "s"), LATCH_ACQUIRE) == LATCH_DONE);
        UNIT_CHECK(redis_is_free("r"));
        redis_store_forget();
        lease = redis_lease_in(store, "r");
    }
}

static void a_dead_server_is_asked_once_whatever_is_owed_to_it(void **state)
{
    (void) state;
    trouble.response_timeout_ms = 60;
    for (size_t at = 0; at < 5; at++) {
        trouble.unanswered = 1;
        UNIT_CHECK(latch_failed(redis_run(redis_lease_in(store, "r"), LATCH_ACQUIRE)));
        unit_redis_ask("DEL r"); /* so that the next one is granted */
    }
    trouble.unsent = 100;
    runs = 0;
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "the line is dead"));
    UNIT_CHECK(runs == 1);
}

static void what_the_server_refuses_is_told_in_its_words(void **state)
{
    (void) state;
    unit_redis_ask("SET r x");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT);
    unit_redis_ask("DEL r");
    unit_redis_ask("RPUSH r x");
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "WRONGTYPE"));
    unit_redis_ask("DEL r");
    trouble.forged = "ERR unknown command 'EVALSHA', with args beginning with: 'secret'";
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "unknown command 'EVALSHA'"));
    UNIT_CHECK(strstr(unit.error.message, "secret") == NULL);
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    redis_expect_working(lease);
}

static latch_status inspect_lock(latch_lease *asking)
{
    return unit_run_request(asking, redis_question(LATCH_INSPECT));
}

static void an_inspection_is_one_script_that_is_run_again_if_its_answer_is_lost(void **state)
{
    latch_request request;

    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    runs = 0;
    UNIT_CHECK(inspect_lock(redis_lease_in(store, "r")) == LATCH_DONE && runs == 1);
    UNIT_CHECK(redis_reports->mode == LATCH_EXCLUSIVE && redis_reports->holder_count == 1);
    trouble.unanswered = 1;
    UNIT_CHECK(inspect_lock(redis_lease_in(store, "r")) == LATCH_DONE && redis_reports != NULL);
    trouble.unsent = 2;
    UNIT_CHECK(redis_failed(inspect_lock(redis_lease_in(store, "r")), "the line is dead"));
    UNIT_CHECK(trouble.unsent == 0);
    trouble.response_timeout_ms = 60; /* the client's own time-out, which is long enough */
    trouble.unanswered = 1;
    runs = 0;
    UNIT_CHECK(redis_failed(inspect_lock(redis_lease_in(store, "r")), "the line is dead"));
    UNIT_CHECK(runs == 1);
    trouble.response_timeout_ms = 0;
    trouble.forged = "NOPERM not for you";
    UNIT_CHECK(redis_failed(inspect_lock(redis_lease_in(store, "r")), "NOPERM"));
    trouble.unusable = "in a transaction";
    UNIT_CHECK(inspect_lock(redis_lease_in(store, "r")) == LATCH_ERROR_ARGUMENT);
    trouble.unusable = NULL;
    UNIT_CHECK(inspect_lock(redis_lease_in(store, "r")) == LATCH_DONE);
    request = redis_question(LATCH_EVICT);
    request.evicted = "0000000000000000";
    UNIT_CHECK(unit_run_request(redis_lease_in(store, "r"), request) == LATCH_DONE);
    UNIT_CHECK(redis_evicted == 0 && redis_run(lease, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(unit_run_request(redis_lease_in(store, ""), redis_question(LATCH_LIST))
               == LATCH_ERROR_ARGUMENT);
}

static void in_a_cluster_a_semaphore_without_a_slot_is_not_inspected(void **state)
{
    latch_store *cluster = open_object(true);
    latch_lease *permits = redis_lease_in(cluster, "}");
    latch_lease named;

    (void) state;
    latch_permit_lease_init(permits, cluster, "}", 1);
    latch_permit_lease_init(&named, cluster, "s", 1);
    UNIT_CHECK(inspect_lock(permits) == LATCH_ERROR_ARGUMENT);
    UNIT_CHECK(strstr(unit.error.message, "must not be empty nor begin with \"}\"") != NULL);
    UNIT_CHECK(inspect_lock(&named) == LATCH_DONE && redis_reports->permits_used == 0);
    latch_lease_drop(&named);
    drop_leases();
    latch_store_close(cluster);
    is_closed = false;
}

static void scripts_that_the_server_has_forgotten_are_sent_again(void **state)
{
    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_redis_ask("SCRIPT FLUSH");
    reset_client();
    UNIT_CHECK(redis_run(lease, LATCH_REFRESH) == LATCH_DONE);
    unit_redis_ask("SCRIPT FLUSH");
    UNIT_CHECK(unit_run_request(lease, redis_detached_release()) == LATCH_DONE);
    UNIT_CHECK(redis_is_free("r"));
}

static void nothing_is_lost_when_memory_runs_out(void **state)
{
    bool failed = true;

    (void) state;
    for (size_t number = 1; failed; number++) {
        latch_store *opened;

        unit.fail_at = unit.allocations + number;
        opened = open_object(false);
        failed = unit.allocations >= unit.fail_at;
        unit.fail_at = 0;
        UNIT_CHECK((opened == NULL) == failed);
        if (opened != NULL) {
            latch_store_close(opened);
        }
    }
    failed = true;
    for (size_t number = 1; failed; number++) {
        latch_lease *fresh = redis_lease_in(store, "r");
        latch_status status;

        unit.fail_at = unit.allocations + number;
        status = redis_run(fresh, LATCH_ACQUIRE);
        failed = unit.allocations >= unit.fail_at;
        unit.fail_at = 0;
        UNIT_CHECK((status == LATCH_ERROR_MEMORY) == failed);
        UNIT_CHECK(redis_run(fresh, LATCH_RELEASE) == LATCH_DONE);
        UNIT_CHECK(redis_is_free("r"));
        latch_lease_drop(&unit.leases[--unit.lease_count]);
    }
}

/* ---- In a cluster */

/* The names that a lock has beside it, with "TAG" for the tag of its slot. */
static void expect_names(const char *prefix, const char *resource, const char *holder)
{
    latch_store *cluster = open_object(true);
    latch_lease *held = redis_lease_in(cluster, resource);
    char tag[REDIS_SLOT_TAG_SIZE], name[128], *at;

    trouble.prefix = prefix;
    unit_redis_ask("FLUSHALL");
    UNIT_CHECK(redis_run(held, LATCH_ACQUIRE) == LATCH_DONE);
    snprintf(name, sizeof(name), "%s", holder);
    at = strstr(name, "TAG");
    if (at != NULL) {
        latch_redis_slot_tag(latch_redis_slot(prefix, strlen(prefix), resource, strlen(resource)),
                             tag);
        memcpy(at, tag, 3);
        memmove(at + 4, at + 3, strlen(at + 3) + 1);
        at[3] = tag[3];
    }
    UNIT_CHECK(unit_redis_number("EXISTS %s%s", prefix, resource) == 1);
    UNIT_CHECK(unit_redis_number("EXISTS %s", name) == 1);
    UNIT_CHECK(redis_run(held, LATCH_RELEASE) == LATCH_DONE);
    latch_lease_drop(&unit.leases[--unit.lease_count]);
    latch_store_close(cluster);
    trouble.prefix = "";
}

static void in_a_cluster_what_is_kept_beside_a_lock_is_in_its_slot(void **state)
{
    (void) state;
    expect_names("", "order", "latch:{TAG}:holder:order");
    expect_names("", "foo}bar", "latch:{TAG}:holder:foo}bar");
    expect_names("", "foo{}bar", "latch:{TAG}:holder:foo{}bar");
    expect_names("", "{user}:order", "latch:{TAG}:holder:{user}:order");
    expect_names("shop:", "order", "shop:latch:{TAG}:holder:order");
    expect_names("{shop}:", "order", "{shop}:latch:holder:order");
}

static void in_a_cluster_a_prefix_with_half_a_tag_is_refused(void **state)
{
    latch_store *cluster = open_object(true);
    latch_lease *held = redis_lease_in(cluster, "r");

    (void) state;
    trouble.prefix = "shop{";
    UNIT_CHECK(redis_run(held, LATCH_ACQUIRE) == LATCH_ERROR_ARGUMENT && runs == 0);
    UNIT_CHECK(strstr(unit.error.message, "without a whole hash tag") != NULL);
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE); /* elsewhere it does no harm */
    latch_lease_drop(&unit.leases[--unit.lease_count]);
    latch_store_close(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OBJECT_TEST(each_request_is_one_script),
        OBJECT_TEST(it_says_what_it_is),
        OBJECT_TEST(a_wait_polls_and_has_its_turn_beside_those_who_queue),
        OBJECT_TEST(a_wait_ends_with_its_time_and_leaves_nothing_behind),
        OBJECT_TEST(what_cannot_be_sent_changes_nothing),
        OBJECT_TEST(a_release_for_nobody_that_cannot_be_sent_is_sent_with_the_next_request),
        OBJECT_TEST(a_release_for_nobody_that_is_refused_is_told_in_the_servers_words),
        OBJECT_TEST(a_release_for_nobody_that_fails_is_told_and_made_good_at_the_stores_end),
        OBJECT_TEST(a_script_whose_answer_is_lost_at_once_is_run_once_more),
        OBJECT_TEST(what_was_waited_for_is_not_run_again_and_given_back),
        OBJECT_TEST(a_dead_server_is_asked_once_whatever_is_owed_to_it),
        OBJECT_TEST(what_the_server_refuses_is_told_in_its_words),
        OBJECT_TEST(an_inspection_is_one_script_that_is_run_again_if_its_answer_is_lost),
        OBJECT_TEST(in_a_cluster_a_semaphore_without_a_slot_is_not_inspected),
        OBJECT_TEST(scripts_that_the_server_has_forgotten_are_sent_again),
        OBJECT_TEST(nothing_is_lost_when_memory_runs_out),
        OBJECT_TEST(in_a_cluster_what_is_kept_beside_a_lock_is_in_its_slot),
        OBJECT_TEST(in_a_cluster_a_prefix_with_half_a_tag_is_refused),
    };

    return cmocka_run_group_tests(tests, unit_redis_group_setup, unit_redis_group_teardown);
}
