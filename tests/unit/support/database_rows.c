#include "database_rows.h"

#include "conformance.h"
#include "src/base/clock.h"
#include "src/base/context.h"
#include "src/base/error.h"

#define ROWS_MAX 512

/* As in a table: a hash of the name, its holder's token, and the time at which it is anybody's. */
typedef struct database_row {
    uint8_t name[LATCH_DIGEST_MAX];
    char token[LATCH_TOKEN_MAX + 1];
    int64_t expiry_ns;
} database_row;

static database_row rows[ROWS_MAX];
static size_t row_count;

static database_row *find_row(const latch_lease *lease)
{
    const latch_env *env = &unit.engine->env;
    const struct iovec resource = {(void *) lease->resource, lease->resource_length};
    uint8_t name[LATCH_DIGEST_MAX];

    env->digest(env->context, LATCH_SHA256, &resource, 1, name);
    for (size_t at = 0; at < row_count; at++) {
        if (memcmp(rows[at].name, name, sizeof(name)) == 0) {
            return &rows[at];
        }
    }
    UNIT_CHECK(row_count < ROWS_MAX);
    memcpy(rows[row_count].name, name, sizeof(name));
    return &rows[row_count++];
}

static bool is_held(const database_row *row)
{
    return row->token[0] != '\0' && row->expiry_ns > unit_now_ns();
}

static void set_expiry(database_row *row, const latch_request *request)
{
    int64_t expiry_ns = latch_add_ns(unit_now_ns(), latch_ms_to_ns(request->ttl_ms));

    row->expiry_ns = request->extend && row->expiry_ns > expiry_ns ? row->expiry_ns : expiry_ns;
}

static latch_status take_row(database_row *row, latch_lease *lease, const latch_request *request,
                             latch_error *error)
{
    if (lease->token == NULL && latch_lease_make_token(lease, error) != LATCH_DONE) {
        return error->status;
    }
    if (is_held(row) && strcmp(row->token, lease->token) != 0) {
        return LATCH_CONFLICT;
    }
    snprintf(row->token, sizeof(row->token), "%s", lease->token);
    set_expiry(row, request);
    return LATCH_DONE;
}

static latch_status run_on_rows(void *context, latch_lease *lease, const latch_request *request,
                                latch_error *error)
{
    database_row *row = find_row(lease);
    bool is_ours = lease->token != NULL && strcmp(row->token, lease->token) == 0;

    (void) context;
    switch (request->kind) {
        case LATCH_ACQUIRE:
            return take_row(row, lease, request, error);
        case LATCH_RELEASE:
            if (is_ours) {
                row->token[0] = '\0';
            }
            return LATCH_DONE;
        case LATCH_REFRESH:
            if (is_ours && is_held(row)) {
                set_expiry(row, request);
                return LATCH_DONE;
            }
            return LATCH_CONFLICT;
        default:
            return is_ours && is_held(row) ? LATCH_DONE : LATCH_CONFLICT;
    }
}

static latch_status run_nowhere(void *context, latch_lease *lease, const latch_request *request,
                                latch_error *error)
{
    (void) context;
    (void) lease;
    (void) request;
    return latch_fail(error, LATCH_ERROR_STORE, 0, "there is no connection");
}

const latch_store_calls unit_database_nowhere = {.run = run_nowhere};

/* ---- Conformance ---------------------------------------------------------------------------- */

static const char *store_under_test;

static latch_store *open_database(conformance_variant variant)
{
    static const latch_store_calls calls = {.run = run_on_rows};
    const latch_store_options options = {.calls = &calls};

    (void) variant;
    return latch_store_open(unit.engine, store_under_test, &options, &unit.error);
}

static int forget_rows(void **state)
{
    (void) state;
    row_count = 0;
    memset(rows, 0, sizeof(rows));
    return 0;
}

static void expect_no_row_held(void)
{
    for (size_t at = 0; at < row_count; at++) {
        UNIT_CHECK(!is_held(&rows[at]));
    }
}

int unit_database_conformance(const char *store)
{
    const conformance_fixture fixture = {
        .name = store,
        .store = store,
        .capabilities = LATCH_EXPIRING | LATCH_SERIALIZABLE | LATCH_LISTING | LATCH_HOLDER_INFO,
        .traits = CONFORMANCE_ALONE | CONFORMANCE_CLIENT | CONFORMANCE_UNTIMED
                  | CONFORMANCE_NO_HOLDERS,
        .rounds = 300,
        .reset = forget_rows,
        .open = open_database,
        .expect_nothing_left = expect_no_row_held,
    };

    store_under_test = store;
    return conformance_run(&fixture);
}
