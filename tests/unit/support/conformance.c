/* The runner of the conformance suite, and what its promises share: see conformance.h. */
#include "conformance.h"

#include <unistd.h>

#define STORES_MAX 8

conformance_scene scene;

static latch_store *stores[STORES_MAX];
static size_t store_count;

bool conformance_has(unsigned bits)
{
    return (scene.has & bits) == bits;
}

bool conformance_has_any(unsigned bits)
{
    return (scene.has & bits) != 0;
}

/* ---- Stores and leases */

latch_store *conformance_open_dsn(const char *format, ...)
{
    char dsn[512];
    latch_store_options options = {.dsn = dsn};
    va_list arguments;

    va_start(arguments, format);
    options.dsn_length = (size_t) vsnprintf(dsn, sizeof(dsn), format, arguments);
    va_end(arguments);
    UNIT_CHECK(options.dsn_length < sizeof(dsn));
    return latch_store_open(unit.engine, scene.fixture->store, &options, &unit.error);
}

latch_store *conformance_open(conformance_variant variant)
{
    latch_store *store = scene.fixture->open != NULL ? scene.fixture->open(variant)
                                                     : unit_open(scene.fixture->store);

    if (store != NULL) {
        UNIT_CHECK(store_count < STORES_MAX);
        stores[store_count++] = store;
    }
    return store;
}

static void close_store(latch_store *store)
{
    if (scene.fixture->close != NULL) {
        scene.fixture->close(store);
    } else {
        latch_store_close(store);
    }
}

void conformance_close(latch_store *store)
{
    for (size_t at = 0; at < store_count; at++) {
        if (stores[at] == store) {
            stores[at] = stores[--store_count];
        }
    }
    close_store(store);
}

latch_lease *conformance_lease_in(latch_store *store, const char *resource, size_t length)
{
    latch_lease *lease = unit_lease("");

    latch_lease_init(lease, store, resource, length);
    if (scene.fixture->join != NULL) {
        scene.fixture->join(lease);
    }
    return lease;
}

latch_lease *conformance_lease(const char *resource)
{
    return conformance_lease_in(unit.store, resource, strlen(resource));
}

latch_lease *conformance_other_lease(const char *resource)
{
    return conformance_lease_in(scene.another, resource, strlen(resource));
}

void conformance_drop_leases(size_t kept)
{
    while (unit.lease_count > kept) {
        latch_lease *lease = &unit.leases[--unit.lease_count];

        latch_lease_drop(lease);
        if (scene.fixture->leave != NULL) {
            scene.fixture->leave(lease);
        }
    }
}

/* ---- Requests */

latch_request conformance_request(latch_op_kind kind)
{
    latch_request request = unit_request(kind);

    request.ttl_ms = MINUTE;
    return request;
}

latch_status conformance_try_for(latch_lease *lease, latch_op_kind kind, int64_t ttl_ms)
{
    latch_request request = unit_request(kind);

    request.ttl_ms = ttl_ms;
    return unit_run_request(lease, request);
}

latch_status conformance_try(latch_lease *lease, latch_op_kind kind)
{
    return conformance_try_for(lease, kind, MINUTE);
}

latch_request conformance_waiting(latch_op_kind kind, int64_t timeout_ms)
{
    latch_request request = unit_waiting(kind, timeout_ms);

    request.ttl_ms = MINUTE;
    return request;
}

latch_status conformance_wait(latch_lease *lease, latch_op_kind kind, int64_t timeout_ms)
{
    return unit_run_request(lease, conformance_waiting(kind, timeout_ms));
}

latch_status conformance_detach(latch_lease *lease)
{
    latch_request request = unit_request(LATCH_RELEASE);

    request.detach = true;
    return unit_run_request(lease, request);
}

latch_status conformance_begin_wait(latch_op *op, latch_lease *lease, latch_op_kind kind,
                                    int64_t timeout_ms)
{
    latch_status status = unit_begin(op, lease, conformance_waiting(kind, timeout_ms));
    int64_t give_up_ns = unit_now_ns() + UNIT_TIMEOUT_NS;

    while (latch_wants(status) && !op->waiting) {
        UNIT_CHECK(unit_now_ns() < give_up_ns);
        unit_await_wish(op, status, unit_now_ns() + LATCH_NS_PER_MS);
        status = latch_op_step(op, unit_now_ns());
    }
    return status;
}

latch_status conformance_finish(latch_op *op)
{
    return unit_finish(op, latch_op_step(op, unit_now_ns()));
}

void conformance_expect_free(latch_lease *lease)
{
    UNIT_CHECK(conformance_wait(lease, LATCH_ACQUIRE, UNIT_TIMEOUT_NS / LATCH_NS_PER_MS)
               == LATCH_DONE);
    UNIT_CHECK(unit_held(lease));
    unit_release(lease);
}

bool conformance_failed(latch_status status, const char *message)
{
    if (status != LATCH_ERROR_STORE || unit.error.status != status
        || strstr(unit.error.message, message) == NULL) {
        print_message("not \"%s\" but status %d: \"%s\"\n", message, status, unit.error.message);
        return false;
    }
    return true;
}

/* ---- The run of one fixture */

static int setup(void **state)
{
    const conformance_fixture *fixture = scene.fixture;

    if ((fixture->reset != NULL && fixture->reset(state) != 0) || unit_setup(state) != 0) {
        return -1;
    }
    unit.real_clock = !fixture->fake_clock;
    if (fixture->prepare != NULL) {
        fixture->prepare();
    }
    store_count = 0;
    unit.store = conformance_open(CONFORMANCE_PLAIN);
    scene.another = conformance_has(CONFORMANCE_ALONE) ? unit.store
                                                       : conformance_open(CONFORMANCE_PLAIN);
    return unit.store != NULL && scene.another != NULL ? 0 : -1;
}

/* Behind each promise nothing is left, once its leases have released what they hold. */
static int teardown(void **state)
{
    if (conformance_has(CONFORMANCE_SERVER)) {
        scene.fixture->resume();
    }
    for (size_t at = 0; at < unit.lease_count; at++) {
        if (unit.leases[at].mode != LATCH_FREE && !unit.leases[at].busy) {
            UNIT_CHECK(unit_run(&unit.leases[at], LATCH_RELEASE) == LATCH_DONE);
        }
    }
    conformance_drop_leases(0);
    while (store_count > 0) {
        close_store(stores[--store_count]);
    }
    unit.store = NULL;
    if (scene.fixture->expect_nothing_left != NULL) {
        scene.fixture->expect_nothing_left();
    }
    return unit_teardown(state);
}

static const latch_store_info *find_info(const char *name)
{
    for (size_t at = 0; latch_store_at(at) != NULL; at++) {
        if (strcmp(latch_store_at(at)->name, name) == 0) {
            return latch_store_at(at);
        }
    }
    return NULL; /* the callback store is not listed */
}

static void prepare(const conformance_fixture *fixture)
{
    const latch_store_info *info = find_info(fixture->store);

    scene.fixture = fixture;
    scene.has = fixture->capabilities | fixture->traits;
    scene.has |= fixture->silence != NULL ? CONFORMANCE_SERVER : 0;
    scene.has |= fixture->cut != NULL ? CONFORMANCE_CUTS : 0;
    scene.has |= info != NULL && info->state_name != NULL ? CONFORMANCE_TOKENS : 0;
    scene.has |= (scene.has & (LATCH_EXPIRING | LATCH_SESSIONS)) != 0 ? CONFORMANCE_RENEWS : 0;
    snprintf(scene.r, sizeof(scene.r), "latch conformance %d r", (int) getpid());
    snprintf(scene.s, sizeof(scene.s), "latch conformance %d s", (int) getpid());
    snprintf(scene.t, sizeof(scene.t), "latch conformance %d t", (int) getpid());
    snprintf(scene.u, sizeof(scene.u), "latch conformance %d u", (int) getpid());
}

static bool applies(const conformance_promise *promise)
{
    return conformance_has(promise->needs) && !conformance_has_any(promise->excludes);
}

int conformance_run(const conformance_fixture *fixture)
{
    static const conformance_promise *const tables[] = {conformance_holds, conformance_inspections,
                                                        conformance_waits, conformance_forks,
                                                        conformance_faults};
    struct CMUnitTest tests[100];
    size_t count = 0;

    prepare(fixture);
    for (size_t table = 0; table < sizeof(tables) / sizeof(tables[0]); table++) {
        for (const conformance_promise *promise = tables[table]; promise->name != NULL; promise++) {
            if (!applies(promise)) {
                print_message("not promised by %s: %s\n", fixture->name, promise->name);
                continue;
            }
            UNIT_CHECK(count < sizeof(tests) / sizeof(tests[0]));
            tests[count++] =
                (struct CMUnitTest){promise->name, promise->test, setup, teardown, NULL};
        }
    }
    return _cmocka_run_group_tests(fixture->name, tests, count, fixture->group_setup,
                                   fixture->group_teardown);
}
