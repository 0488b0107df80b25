/* The world of a test: one engine whose clocks, memory and random bytes the test controls. */
#include "database_rows.h"
#include "unit.h"

/* The plain functions: SHA256() takes locks, which a child of a process with threads cannot. */
#define OPENSSL_API_COMPAT 0x10100000L
#include <openssl/md5.h>
#include <openssl/sha.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

unit_world unit;

static void dawdle(void)
{
    static const struct timespec moment = {.tv_nsec = LATCH_NS_PER_MS};

    unit.allocating++;
    nanosleep(&moment, NULL);
    unit.allocating--;
}

static void *world_allocate(void *context, size_t size)
{
    size_t number = ++unit.allocations;
    void *block;

    (void) context;
    if (unit.allocates_slowly) {
        dawdle();
    }
    if (unit.fail_at != 0 && (number == unit.fail_at || (unit.fail_on && number > unit.fail_at))) {
        return NULL;
    }
    block = malloc(size);
    assert_non_null(block);
    memset(block, 0xa5, size); /* memory is never zeroed by luck */
    unit.live++;
    return block;
}

static void world_deallocate(void *context, void *pointer)
{
    (void) context;
    unit.live -= pointer != NULL;
    free(pointer);
}

static int64_t world_monotonic_ns(void *context)
{
    struct timespec time;

    (void) context;
    if (!unit.real_clock) {
        return unit.now_ns;
    }
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t) time.tv_sec * LATCH_NS_PER_S + time.tv_nsec + unit.ahead_ns;
}

static int64_t world_wall_ns(void *context)
{
    (void) context;
    return unit.wall_ns;
}

static void make_random(uint8_t *next, size_t size)
{
    for (; size > 0 && unit.random_left > 0; size--, unit.random_left--) {
        *next++ = *unit.random_bytes++;
    }
    for (; size > 0; size--) {
        unit.random_state = unit.random_state * UINT64_C(6364136223846793005) + 1;
        *next++ = (uint8_t) (unit.random_state >> 56);
    }
}

static bool world_random(void *context, void *bytes, size_t size)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    (void) context;
    if (unit.random_broken) {
        return false;
    }
    pthread_mutex_lock(&mutex);
    make_random(bytes, size);
    pthread_mutex_unlock(&mutex);
    return true;
}

/* Bit by bit, as in RFC 1952, and written big-endian. */
static void crc32_digest(const struct iovec *parts, int part_count, uint8_t digest[4])
{
    uint32_t crc = UINT32_MAX;

    for (int at = 0; at < part_count; at++) {
        for (size_t byte = 0; byte < parts[at].iov_len; byte++) {
            crc ^= ((const uint8_t *) parts[at].iov_base)[byte];
            for (int bit = 0; bit < 8; bit++) {
                crc = crc >> 1 ^ (UINT32_C(0xedb88320) & -(crc & 1));
            }
        }
    }
    for (int at = 0; at < 4; at++) {
        digest[at] = (uint8_t) (~crc >> (24 - 8 * at));
    }
}

void unit_digest(void *context, latch_digest kind, const struct iovec *parts, int part_count,
                 uint8_t digest[LATCH_DIGEST_MAX])
{
    SHA256_CTX sha256;
    SHA_CTX sha1;
    MD5_CTX md5;

    (void) context;
    if (kind == LATCH_CRC32) {
        crc32_digest(parts, part_count, digest);
        return;
    }
    UNIT_CHECK(kind == LATCH_SHA256 || kind == LATCH_SHA1 || kind == LATCH_MD5);
    SHA256_Init(&sha256);
    SHA1_Init(&sha1);
    MD5_Init(&md5);
    for (int at = 0; at < part_count; at++) {
        SHA256_Update(&sha256, parts[at].iov_base, parts[at].iov_len);
        SHA1_Update(&sha1, parts[at].iov_base, parts[at].iov_len);
        MD5_Update(&md5, parts[at].iov_base, parts[at].iov_len);
    }
    if (kind == LATCH_SHA256) {
        SHA256_Final(digest, &sha256);
    } else if (kind == LATCH_SHA1) {
        SHA1_Final(digest, &sha1);
    } else {
        MD5_Final(digest, &md5);
    }
}

void unit_script_random(const void *bytes, size_t size)
{
    unit.random_bytes = bytes;
    unit.random_left = size;
}

latch_store *unit_open(const char *name)
{
    char in_directory[UNIT_PATH + 16];
    /* Only to be opened: nobody asks these servers. */
    const char *dsn = strcmp(name, "postgresql") == 0 ? "postgresql://127.0.0.1"
                      : strcmp(name, "mysql") == 0    ? "mysql://127.0.0.1"
                      : strcmp(name, "shm") == 0      ? in_directory
                                                      : "redis://127.0.0.1";
    latch_store_options options = {
        .path = unit.directory,
        .digest = LATCH_MD5,
        .dsn = dsn,
        .strategy = &latch_consensus,
        .calls = &unit_database_nowhere,
    };

    snprintf(in_directory, sizeof(in_directory), "shm://%s/locks", unit.directory);
    options.dsn_length = strlen(dsn);
    return latch_store_open(unit.engine, name, &options, &unit.error);
}

static void *tell_thread(void *argument)
{
    *(pid_t *) argument = gettid();
    return NULL;
}

/*
 * TSan has a thread of its own from the first one on: let that be before any are counted. One that
 * was joined is among them for a moment, until the kernel has done with it.
 */
static void start_first_thread(void)
{
    pthread_t thread;
    pid_t id;

    assert_int_equal(pthread_create(&thread, NULL, tell_thread, &id), 0);
    pthread_join(thread, NULL);
    unit_await_thread_end(id);
}

int unit_setup(void **state)
{
    (void) state;
    unit_reset_calls();
    if (UNIT_TSAN) {
        start_first_thread();
        unit_calls.started = 0;
    }
    unit = (unit_world){
        .env =
            {
                .allocate = world_allocate,
                .deallocate = world_deallocate,
                .monotonic_ns = world_monotonic_ns,
                .coarse_ns = world_monotonic_ns,
                .wall_ns = world_wall_ns,
                .random = world_random,
                .digest = unit_digest,
            },
        .now_ns = 5000 * LATCH_NS_PER_S,
        .wall_ns = INT64_C(1700000000) * LATCH_NS_PER_S,
        .random_state = 1,
        .descriptors = unit_count_descriptors(),
        .threads = unit_count_threads(),
    };
    unit.engine = latch_engine_create(&unit.env, &unit.error);
    return unit.engine != NULL ? 0 : -1;
}

static int setup_store(void **state, const char *name)
{
    if (unit_setup(state) != 0) {
        return -1;
    }
    unit.store = unit_open(name);
    return unit.store != NULL ? 0 : -1;
}

int unit_setup_memory(void **state)
{
    return setup_store(state, "in-memory");
}

int unit_setup_null(void **state)
{
    return setup_store(state, "null");
}

int unit_setup_flock(void **state)
{
    if (unit_setup(state) != 0) {
        return -1;
    }
    unit_make_directory();
    unit.real_clock = true;
    unit.store = unit_open("flock");
    return unit.store != NULL ? 0 : -1;
}

int unit_setup_semaphore(void **state)
{
    if (unit_setup(state) != 0) {
        return -1;
    }
    unit.real_clock = true;
    unit.store = unit_open("semaphore");
    return unit.store != NULL ? 0 : -1;
}

int unit_teardown(void **state)
{
    (void) state;
    unit_calls.on_open = NULL;
    unit_calls.on_flock = NULL;
    unit_calls.on_semget = NULL;
    while (unit.lease_count > 0) {
        latch_lease_drop(&unit.leases[--unit.lease_count]);
    }
    if (unit.store != NULL) {
        latch_store_close(unit.store);
    }
    latch_engine_destroy(unit.engine);
    if (unit.directory[0] != '\0') {
        unit_remove_directory();
    }
    unit_await_threads(0);
    assert_int_equal(unit.live, 0);
    assert_int_equal(unit_count_descriptors(), unit.descriptors);
    assert_int_equal(unit_calls.address_lists, 0);
    return 0;
}
