/* Names to addresses: in a thread, which may be given up, forked, or outlive all that began it. */
#include "src/base/resolve.h"
#include "unit.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

/* ---- A resolver that answers when the test lets it ------------------------------------------- */

int __real_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **addresses);

static const char *const several[] = {"10.9.8.7", "::2", "10.0.0.1"};

static sem_t gate;          /* posted once for each answer */
static _Atomic int asked;   /* questions that arrived at the resolver */
static _Atomic int failure; /* its answer, unless 0 */
static sigset_t blocked;    /* signals, in the thread that asked */

/* Several addresses, in a list that freeaddrinfo() can free: glibc's lists can be joined. */
static int answer_several(const char *service, struct addrinfo **addresses)
{
    const struct addrinfo digits = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};

    for (size_t at = 0; at < 3; at++) {
        int result = __real_getaddrinfo(several[at], service, &digits, addresses);

        UNIT_CHECK(result == 0);
        addresses = &(*addresses)->ai_next;
    }
    return 0;
}

static int answer_late(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **addresses)
{
    (void) host;
    (void) hints;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    asked++;
    while (sem_wait(&gate) != 0) {
    }
    errno = EMFILE; /* for EAI_SYSTEM */
    return failure != 0 ? failure : answer_several(service, addresses);
}

static int setup(void **state)
{
    sem_init(&gate, 0, 0);
    asked = 0;
    failure = 0;
    unit_setup(state);
    unit_calls.on_getaddrinfo = answer_late;
    return 0;
}

static int teardown(void **state)
{
    int result = unit_teardown(state);

    (void) atomic_load(&unit_calls.written); /* TSan: helpers have looked at the hooks before */
    return result;
}

static void let_it_answer(void)
{
    sem_post(&gate);
}

static void await_question(int count)
{
    const struct timespec pause = {0, 200000};

    for (unsigned looks = 0; asked < count; looks++) {
        UNIT_CHECK(looks < UNIT_TIMEOUT_NS / pause.tv_nsec);
        nanosleep(&pause, NULL);
    }
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static const struct addrinfo *addresses;

static latch_resolution *begin(const char *host)
{
    return latch_resolve_begin(unit.engine, host, 6379, &unit.error);
}

static latch_status check(latch_resolution *resolution)
{
    addresses = NULL;
    return latch_resolve_check(resolution, &addresses, &unit.error);
}

static bool is_ready(const latch_resolution *resolution, int timeout_ms)
{
    struct pollfd poll_fd = {.fd = latch_resolve_fd(resolution), .events = POLLIN};

    return poll(&poll_fd, 1, timeout_ms) == 1;
}

static latch_status await(latch_resolution *resolution)
{
    UNIT_CHECK(is_ready(resolution, UNIT_TIMEOUT_NS / LATCH_NS_PER_MS));
    return check(resolution);
}

/* The address in digits, or what is wrong with it. */
static const char *digits_of(const struct addrinfo *address)
{
    static char digits[64], port[16];

    if (address->ai_socktype != SOCK_STREAM) {
        return "not for a stream";
    }
    UNIT_CHECK(getnameinfo(address->ai_addr, address->ai_addrlen, digits, sizeof(digits), port,
                           sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV)
               == 0);
    return strcmp(port, "6379") == 0 ? digits : "another port";
}

static void expect_several(void)
{
    const struct addrinfo *address = addresses;

    for (size_t at = 0; at < 3; at++, address = address->ai_next) {
        UNIT_CHECK(address != NULL);
        UNIT_CHECK(strcmp(digits_of(address), several[at]) == 0);
    }
    UNIT_CHECK(address == NULL);
}

static void a_name_has_addresses_in_the_resolvers_order(void **state)
{
    char host[] = "shop.example";
    latch_resolution *resolution = begin(host);

    (void) state;
    assert_non_null(resolution);
    memset(host, 'x', sizeof(host)); /* it was copied */
    for (int round = 0; round < 3; round++) {
        assert_int_equal(check(resolution), LATCH_WANT_IO);
        assert_false(is_ready(resolution, 0));
    }
    let_it_answer();
    for (int round = 0; round < 2; round++) {
        assert_int_equal(await(resolution), LATCH_DONE);
        expect_several();
    }
    latch_resolve_end(resolution);
}

static void the_systems_resolver_knows_localhost(void **state)
{
    latch_resolution *resolution;

    (void) state;
    unit_calls.on_getaddrinfo = NULL;
    resolution = begin("localhost");
    assert_non_null(resolution);
    assert_int_equal(await(resolution), LATCH_DONE);
    for (const struct addrinfo *address = addresses; address != NULL; address = address->ai_next) {
        const char *digits = digits_of(address);

        assert_true(strcmp(digits, "127.0.0.1") == 0 || strcmp(digits, "::1") == 0);
    }
    assert_int_equal(unit_calls.started, 1);
    latch_resolve_end(resolution);
}

static void an_address_in_digits_is_there_at_once(void **state)
{
    static const char *const hosts[] = {"127.0.0.1", "::1", "2001:db8::7"};

    (void) state;
    unit_calls.no_threads = true;
    unit_calls.no_eventfd = true;
    for (size_t at = 0; at < 3; at++) {
        latch_resolution *resolution = begin(hosts[at]);

        assert_non_null(resolution);
        assert_int_equal(check(resolution), LATCH_DONE);
        assert_string_equal(digits_of(addresses), hosts[at]);
        assert_null(addresses->ai_next);
        latch_resolve_end(resolution);
    }
    assert_int_equal(asked, 0);
}

static void expect_failure(int answer, latch_status status, int sys_errno, const char *message)
{
    latch_resolution *resolution = begin("shop.example");

    assert_non_null(resolution);
    failure = answer;
    let_it_answer();
    for (int round = 0; round < 2; round++) {
        assert_int_equal(await(resolution), status);
        assert_int_equal(unit.error.status, status);
        assert_int_equal(unit.error.sys_errno, sys_errno);
        assert_string_equal(unit.error.message, message);
        assert_null(addresses);
    }
    latch_resolve_end(resolution);
}

static void what_the_resolver_says_of_a_failure_is_passed_on(void **state)
{
    (void) state;
    expect_failure(EAI_NONAME, LATCH_ERROR_SYSTEM, 0,
                   "cannot resolve \"shop.example\": Name or service not known");
    expect_failure(EAI_AGAIN, LATCH_ERROR_SYSTEM, 0,
                   "cannot resolve \"shop.example\": Temporary failure in name resolution");
    expect_failure(EAI_SYSTEM, LATCH_ERROR_SYSTEM, EMFILE,
                   "cannot resolve \"shop.example\": Too many open files");
    expect_failure(EAI_MEMORY, LATCH_ERROR_MEMORY, 0, "out of memory");
}

static void what_is_no_name_is_an_error_of_bounded_length(void **state)
{
    char host[4096];
    latch_resolution *resolution;

    (void) state;
    unit_calls.on_getaddrinfo = NULL;
    memset(host, 'x', sizeof(host));
    host[sizeof(host) - 1] = '\0';
    for (int round = 0; round < 2; round++) {
        resolution = begin(round == 0 ? host : "");
        assert_non_null(resolution);
        assert_int_equal(await(resolution), LATCH_ERROR_SYSTEM);
        assert_non_null(strstr(unit.error.message, "\": Name or service not known"));
        latch_resolve_end(resolution);
    }
}

static void what_cannot_begin_says_why(void **state)
{
    (void) state;
    unit_calls.no_eventfd = true;
    assert_null(begin("shop.example"));
    assert_int_equal(unit.error.status, LATCH_ERROR_SYSTEM);
    assert_int_equal(unit.error.sys_errno, EMFILE);

    unit_calls.no_eventfd = false;
    unit_calls.no_threads = true;
    assert_null(begin("shop.example"));
    assert_int_equal(unit.error.status, LATCH_ERROR_SYSTEM);
    assert_string_equal(
        unit.error.message,
        "cannot begin to resolve \"shop.example\": Resource temporarily unavailable");

    unit_calls.no_calloc = true;
    assert_null(begin("127.0.0.1"));
    assert_int_equal(unit.error.status, LATCH_ERROR_MEMORY);

    for (int round = 0; round < 2; round++) {
        assert_null(latch_resolve_begin(unit.engine, "::1", round == 0 ? -1 : 65536, &unit.error));
        assert_int_equal(unit.error.status, LATCH_ERROR_ARGUMENT);
    }
    latch_resolve_end(NULL);
}

static void no_signal_handler_runs_in_the_thread(void **state)
{
    latch_resolution *resolution = begin("shop.example");

    (void) state;
    await_question(1);
    assert_true(sigismember(&blocked, SIGALRM) == 1 && sigismember(&blocked, SIGTERM) == 1);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    assert_true(sigismember(&blocked, SIGALRM) == 0); /* they go on running here */
    let_it_answer();
    assert_int_equal(await(resolution), LATCH_DONE);
    latch_resolve_end(resolution);
}

/* ---- Given up -------------------------------------------------------------------------------- */

static void one_that_is_given_up_ends_by_itself(void **state)
{
    int fd, reused;

    (void) state;
    for (int answer = EAI_NONAME; answer <= 0; answer -= EAI_NONAME) {
        latch_resolution *resolution = begin("shop.example");

        failure = answer;
        fd = latch_resolve_fd(resolution);
        await_question(1);
        latch_resolve_end(resolution);
        reused = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        assert_int_equal(reused, fd); /* so nothing was open for longer than that */
        let_it_answer();
        unit_await_threads(0);
        assert_int_equal(read(reused, (uint64_t[1]){0}, sizeof(uint64_t)), -1);
        assert_int_equal(unit_calls.written, 0);
        close(reused);
        asked = 0;
    }
}

static void one_that_is_given_up_outlives_the_engine(void **state)
{
    latch_engine *engine = latch_engine_create(&unit.env, &unit.error);
    latch_resolution *resolution = latch_resolve_begin(engine, "shop.example", 6379, &unit.error);

    (void) state;
    assert_non_null(resolution);
    latch_resolve_end(resolution);
    latch_engine_destroy(engine);
    assert_int_equal(unit.live, 1); /* the other engine: nothing of it waits for the thread */
    let_it_answer();
}

static _Atomic int telling_fd;

static void linger(int fd)
{
    telling_fd = fd;
    while (sem_wait(&gate) != 0) {
    }
}

static void the_descriptor_stays_while_it_is_about_to_be_written(void **state)
{
    latch_resolution *resolution;
    int64_t looks = 0;

    (void) state;
    telling_fd = -1;
    unit_calls.before_write = linger;
    resolution = begin("shop.example");
    let_it_answer();
    while (check(resolution) == LATCH_WANT_IO || telling_fd < 0) {
        assert_true(looks++ < UNIT_TIMEOUT_NS / 200000);
        nanosleep(&(struct timespec){0, 200000}, NULL);
    }
    expect_several();
    assert_int_equal(telling_fd, latch_resolve_fd(resolution));
    latch_resolve_end(resolution);
    assert_int_equal(unit_count_descriptors(), unit.descriptors + 1);
    let_it_answer();
    unit_await_threads(0);
    assert_int_equal(unit_count_descriptors(), unit.descriptors);
}

static void any_moment_is_good_to_give_up(void **state)
{
    (void) state;
    for (int round = 0; round < 400; round++) {
        latch_resolution *resolution = begin("shop.example");

        assert_non_null(resolution);
        let_it_answer();
        for (int look = 0; look < round && check(resolution) == LATCH_WANT_IO; look++) {
        }
        latch_resolve_end(resolution);
    }
    unit_await_threads(0);
    assert_int_equal(asked, 400);
}

/* As a PHP process does at its end: it has no more use for the extension. */
static void the_library_stays_while_a_thread_is_in_it(void **state)
{
    void *library = dlopen(UNIT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    latch_engine *(*create)(const latch_env *, latch_error *) =
        dlsym(library, "latch_engine_create");
    void (*destroy)(latch_engine *) = dlsym(library, "latch_engine_destroy");
    latch_resolution *(*resolve_begin)(latch_engine *, const char *, int, latch_error *) =
        dlsym(library, "latch_resolve_begin");
    void (*resolve_end)(latch_resolution *) = dlsym(library, "latch_resolve_end");
    latch_engine *engine = create(&unit.env, &unit.error);
    latch_resolution *resolution = resolve_begin(engine, "shop.example", 6379, &unit.error);

    (void) state;
    assert_true(create != latch_engine_create);
    assert_non_null(resolution);
    await_question(1);
    resolve_end(resolution);
    destroy(engine);
    dlclose(library);
    let_it_answer();
    unit_await_threads(0);
}

/* ---- Forked ---------------------------------------------------------------------------------- */

static latch_resolution *forked, *beside;

static void leave(unit_process *self, void *unused)
{
    (void) self;
    (void) unused;
    latch_resolve_end(forked);
    latch_resolve_end(beside);
    forked = beside = NULL;
#ifdef __SANITIZE_ADDRESS__
    UNIT_CHECK(__lsan_do_recoverable_leak_check() == 0);
#endif
}

static void one_that_is_forked_can_be_given_up_in_the_child(void **state)
{
    unit_process child;

    (void) state;
    forked = begin("shop.example");
    beside = begin("shop.example");
    await_question(2);
    child = unit_fork(leave, NULL);
    unit_join(&child);
    latch_resolve_end(forked);
    latch_resolve_end(beside);
    let_it_answer();
    let_it_answer();
}

static void resolve_anew(unit_process *self, void *unused)
{
    (void) self;
    (void) unused;
    UNIT_CHECK(latch_resolve_fd(forked) == -1);
    unit_calls.no_threads = true;
    for (int round = 0; round < 2; round++) {
        UNIT_CHECK(check(forked) == LATCH_ERROR_SYSTEM);
        UNIT_CHECK(unit.error.sys_errno == EAGAIN);
    }
    UNIT_CHECK(check(beside) == LATCH_ERROR_SYSTEM);
    latch_resolve_end(beside); /* the other one's neighbour in the engine's list */
    if (!UNIT_TSAN) {          /* it takes the thread for the parent's: same stack, same name */
        unit_calls.no_threads = false;
        UNIT_CHECK(check(forked) == LATCH_WANT_IO);
        await_question(3);
        UNIT_CHECK(!is_ready(forked, 0));
        let_it_answer();
        UNIT_CHECK(await(forked) == LATCH_DONE);
        expect_several();
    }
    latch_resolve_end(forked);
    unit_await_threads(0);
    UNIT_CHECK(unit_calls.address_lists == 0);
    latch_engine_destroy(unit.engine); /* nothing is registered with it */
    UNIT_CHECK(unit_count_descriptors() <= unit.descriptors + 2); /* its two pipe ends */
}

static void a_forked_one_begins_anew_in_the_child(void **state)
{
    unit_process child;

    (void) state;
    forked = begin("shop.example");
    beside = begin("shop.example");
    await_question(2);
    child = unit_fork(resolve_anew, NULL);
    unit_join(&child);
    assert_int_equal(check(forked), LATCH_WANT_IO);
    let_it_answer();
    let_it_answer();
    assert_int_equal(await(forked), LATCH_DONE);
    expect_several();
    assert_int_equal(await(beside), LATCH_DONE);
    latch_resolve_end(forked);
    latch_resolve_end(beside);
}

static void read_in_child(unit_process *self, void *unused)
{
    (void) self;
    (void) unused;
    unit_calls.no_threads = true; /* none is needed */
    UNIT_CHECK(check(forked) == LATCH_DONE);
    expect_several();
    latch_resolve_end(forked);
    UNIT_CHECK(unit_calls.address_lists == 0);
}

static void what_was_known_before_the_fork_is_known_in_the_child(void **state)
{
    unit_process child;

    (void) state;
    forked = begin("shop.example");
    let_it_answer();
    UNIT_CHECK(is_ready(forked, UNIT_TIMEOUT_NS / LATCH_NS_PER_MS));
    child = unit_fork(read_in_child, NULL);
    unit_join(&child);
    assert_int_equal(check(forked), LATCH_DONE);
    expect_several();
    latch_resolve_end(forked);
}

static void expect_nothing(unit_process *self, void *unused)
{
    (void) self;
    (void) unused;
    UNIT_CHECK(unit_count_descriptors() <= unit.descriptors + 2);
}

static void a_child_knows_nothing_of_what_was_given_up(void **state)
{
    unit_process child;

    (void) state;
    latch_resolve_end(begin("shop.example"));
    await_question(1);
    child = unit_fork(expect_nothing, NULL);
    unit_join(&child);
    let_it_answer();
}

#define RESOLVE_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RESOLVE_TEST(a_name_has_addresses_in_the_resolvers_order),
        RESOLVE_TEST(the_systems_resolver_knows_localhost),
        RESOLVE_TEST(an_address_in_digits_is_there_at_once),
        RESOLVE_TEST(what_the_resolver_says_of_a_failure_is_passed_on),
        RESOLVE_TEST(what_is_no_name_is_an_error_of_bounded_length),
        RESOLVE_TEST(what_cannot_begin_says_why),
        RESOLVE_TEST(no_signal_handler_runs_in_the_thread),
        RESOLVE_TEST(one_that_is_given_up_ends_by_itself),
        RESOLVE_TEST(one_that_is_given_up_outlives_the_engine),
        RESOLVE_TEST(the_descriptor_stays_while_it_is_about_to_be_written),
        RESOLVE_TEST(any_moment_is_good_to_give_up),
        RESOLVE_TEST(the_library_stays_while_a_thread_is_in_it),
        RESOLVE_TEST(one_that_is_forked_can_be_given_up_in_the_child),
        RESOLVE_TEST(a_forked_one_begins_anew_in_the_child),
        RESOLVE_TEST(what_was_known_before_the_fork_is_known_in_the_child),
        RESOLVE_TEST(a_child_knows_nothing_of_what_was_given_up),
    };

    return cmocka_run_group_tests_name("resolving names", tests, NULL, NULL);
}
