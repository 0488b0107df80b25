/*
 * Tables in databases that the caller reaches: a function of the caller's carries requests out at
 * once, by statements. Two stores, as each has a token of its own in a serialised key.
 */
#include "src/engine/store.h"

typedef struct database_store {
    latch_store store;
    latch_store_calls calls;
} database_store;

static latch_status database_open(latch_store *base, const latch_store_options *options,
                                  latch_error *error)
{
    if (options == NULL || options->calls == NULL) {
        return latch_fail(error, LATCH_ERROR_ARGUMENT, 0, "a store of a database needs `calls`");
    }
    ((database_store *) base)->calls = *options->calls;
    return LATCH_DONE;
}

static void database_close(latch_store *base)
{
    const latch_store_calls *calls = &((database_store *) base)->calls;

    if (calls->close != NULL) {
        calls->close(calls->context);
    }
}

/* What the request asks for that a table cannot do; NULL: nothing. */
static const char *refusal_of(const latch_request *request)
{
    switch (request->kind) {
        case LATCH_ACQUIRE_SHARED:
            return "a table has no shared locks";
        case LATCH_INSPECT:
        case LATCH_LIST:
        case LATCH_EVICT:
            return "this database cannot tell who holds a lock: PostgreSQL, MySQL and SQLite can";
        case LATCH_ACQUIRE:
        case LATCH_REFRESH:
            return request->ttl_ms == 0 ? "a lock in a table needs a TTL" : NULL;
        default:
            return NULL;
    }
}

static latch_status database_begin(latch_op *op)
{
    const latch_store_calls *calls = &((database_store *) op->lease->store)->calls;
    const char *refusal = refusal_of(&op->request);
    latch_status status;

    if (refusal != NULL) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0, "%s", refusal);
    }
    status = calls->run(calls->context, op->lease, &op->request, op->error);
    if (status == LATCH_DONE && op->request.kind == LATCH_REFRESH
        && op->lease->mode == LATCH_FREE) {
        op->lease->mode = LATCH_EXCLUSIVE; /* another process has acquired by this token */
    }
    return status;
}

static const char *database_renewal_unsupported_reason(const latch_store *store)
{
    (void) store;
    return "its statements are sent by PHP code, which no other thread can call";
}

#define DATABASE_STORE(store_name, store_title, symfony_name)                                      \
    {                                                                                              \
        .info =                                                                                    \
            {                                                                                      \
                .name = store_name,                                                                \
                .title = store_title,                                                              \
                .state_name = "Symfony\\Component\\Lock\\Store\\" symfony_name,                    \
                .capabilities = LATCH_EXPIRING | LATCH_SERIALIZABLE | LATCH_LISTING                \
                                | LATCH_HOLDER_INFO,                                               \
                .scope = LATCH_SCOPE_SERVER,                                                       \
                .default_ttl_ms = 300 * 1000,                                                      \
            },                                                                                     \
        .size = sizeof(database_store), .open = database_open, .close = database_close,            \
        .begin = database_begin,                                                                   \
        .renewal_unsupported_reason = database_renewal_unsupported_reason,                         \
    }

const latch_store_class latch_pdo_store = DATABASE_STORE("pdo", "database tables", "PdoStore");
const latch_store_class latch_doctrine_dbal_store =
    DATABASE_STORE("doctrine-dbal", "database tables", "DoctrineDbalStore");
