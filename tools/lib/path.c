/*
 * Prints which functions of the engine an acquire and a release in Redis call: a line with the
 * request and the function's address in its library for each call. The compiler calls the first two
 * functions here (gcc -finstrument-functions). For tools/path.
 */
#include "src/latch.h"

#include <dlfcn.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *request_name; /* NULL: calls are not printed */

void __cyg_profile_func_enter(void *function, void *caller)
{
    Dl_info library;

    (void) caller;
    if (request_name != NULL && dladdr(function, &library) != 0) {
        printf("%s 0x%zx\n", request_name,
               (size_t) ((char *) function - (char *) library.dli_fbase));
    }
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void) function;
    (void) caller;
}

static void digest_by_sha1(void *context, latch_digest kind, const struct iovec *parts,
                           int part_count, uint8_t digest[LATCH_DIGEST_MAX])
{
    (void) context;
    (void) kind;
    (void) part_count;
    SHA1(parts->iov_base, parts->iov_len, digest);
}

static void fail(const latch_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static void run(latch_engine *engine, latch_lease *lease, latch_op_kind kind)
{
    const latch_request request = {
        .kind = kind,
        .ttl_ms = kind == LATCH_ACQUIRE ? 300000 : 0,
        .deadline_ns = LATCH_NEVER,
    };
    latch_error error = {.message = "the lock is held by somebody else"};
    latch_op op;
    latch_status status = latch_op_begin(&op, lease, &request, &error);

    while (latch_wants(status)) {
        struct pollfd descriptors[LATCH_DESCRIPTORS_MAX];

        poll(descriptors, latch_op_descriptors(&op, descriptors), 1000);
        status = latch_op_step(&op, latch_engine_now_ns(engine));
    }
    if (status != LATCH_DONE) {
        fail(&error);
    }
}

int main(int argc, char **argv)
{
    const latch_store_options options = {
        .dsn = argv[argc - 1],
        .dsn_length = strlen(argv[argc - 1]),
    };
    latch_env env = latch_env_system();
    latch_error error;
    latch_engine *engine;
    latch_store *store;
    latch_lease lease;

    env.digest = digest_by_sha1;
    engine = latch_engine_create(&env, &error);
    store = engine != NULL ? latch_store_open(engine, "redis", &options, &error) : NULL;
    if (store == NULL) {
        fail(&error);
    }
    latch_lease_init(&lease, store, "resource", strlen("resource"));
    /* The first round connects, and loads the scripts. */
    for (int round = 0; round < 2; round++) {
        request_name = round > 0 ? "acquire" : NULL;
        run(engine, &lease, LATCH_ACQUIRE);
        request_name = round > 0 ? "release" : NULL;
        run(engine, &lease, LATCH_RELEASE);
    }
    request_name = NULL;
    latch_lease_drop(&lease);
    latch_store_close(store);
    latch_engine_destroy(engine);
    return 0;
}
