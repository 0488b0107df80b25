/*
 * Locks in the memory of one thread, for tests and for code that runs in one process anyway.
 *
 * Semantics of Symfony's InMemoryStore: a lone reader is promoted, a writer that asks for a shared
 * lock is demoted, holds never expire, and a lock whose key is gone stays locked. A holder is known
 * by its lease, or by its lease's token: a key that was serialised and read again still owns its
 * lock. As most keys never are, a token is made on demand. Semaphores are apart from locks
 * (memory_permits.c), and so are versions, throttles and count-downs (memory_calls.c).
 */
#include "src/store/local/memory_calls.h"
#include "src/store/local/memory_permits.h"

#include <string.h>
#include <unistd.h>

typedef struct memory_hold {
    latch_hash_node
        node; /* by resource: a lone writer, or readers, which have nodes of the same key */
    union {
        latch_lease *lease; /* whose state this is */
        char *token;        /* an orphan's: of its lease, which was dropped; may be NULL */
    };
    bool is_orphan;
    bool exclusive;
    char resource[];
} memory_hold;

typedef struct memory_store {
    latch_store store;
    latch_hash holds, semaphores;
    memory_records records;
} memory_store;

static latch_hash *table_of(const latch_lease *lease)
{
    return &((memory_store *) lease->store)->holds;
}

static latch_hash *semaphores_of(const latch_lease *lease)
{
    return &((memory_store *) lease->store)->semaphores;
}

static latch_status memory_open(latch_store *base, const latch_store_options *options,
                                latch_error *error)
{
    memory_store *store = (memory_store *) base;
    latch_status status = latch_hash_init(&store->holds, base->engine, error);

    (void) options;
    if (status == LATCH_DONE) {
        status = latch_hash_init(&store->semaphores, base->engine, error);
    }
    return status == LATCH_DONE ? latch_memory_records_init(&store->records, base->engine,
                                                            latch_engine_now_ns, error)
                                : status;
}

static memory_hold *hold_of(latch_hash_node *node)
{
    return node != NULL ? LATCH_CONTAINER(node, memory_hold, node) : NULL;
}

/* The first of the holds on the lease's resource, and the next; NULL past the end. */
static memory_hold *first_hold(const latch_lease *lease)
{
    return hold_of(latch_hash_find(table_of(lease), lease->resource, lease->resource_length));
}

static memory_hold *next_hold(const memory_hold *hold)
{
    return hold_of(latch_hash_next(&hold->node));
}

static const char *token_of(const memory_hold *hold)
{
    return hold->is_orphan ? hold->token : hold->lease->token;
}

/* Finds the hold of the lease, or of the key of which its key is a copy. */
static memory_hold *memory_find_own(const latch_lease *lease)
{
    if (lease->state != NULL || lease->token == NULL) {
        return lease->state;
    }
    for (memory_hold *hold = first_hold(lease); hold != NULL; hold = next_hold(hold)) {
        if (token_of(hold) != NULL && strcmp(token_of(hold), lease->token) == 0) {
            return hold;
        }
    }
    return NULL;
}

static latch_status add_hold(latch_lease *lease, bool exclusive, latch_error *error)
{
    latch_engine *engine = lease->store->engine;
    memory_hold *hold =
        latch_allocate(engine, offsetof(memory_hold, resource) + lease->resource_length);

    if (hold == NULL) {
        return latch_fail_memory(error);
    }
    memcpy(hold->resource, lease->resource, lease->resource_length);
    hold->node.key = hold->resource;
    hold->node.length = lease->resource_length;
    hold->lease = lease;
    hold->is_orphan = false;
    hold->exclusive = exclusive;
    if (!latch_hash_add(table_of(lease), &hold->node)) {
        latch_free(engine, hold);
        return latch_fail_memory(error);
    }
    lease->state = hold;
    return LATCH_DONE;
}

static void free_hold(const latch_engine *engine, memory_hold *hold)
{
    if (hold->is_orphan) {
        latch_free(engine, hold->token);
    } else {
        hold->lease->state = NULL;
    }
    latch_free(engine, hold);
}

static void remove_hold(memory_store *store, memory_hold *hold)
{
    latch_hash_remove(&store->holds, &hold->node);
    free_hold(store->store.engine, hold);
}

static void memory_close(latch_store *base)
{
    memory_store *store = (memory_store *) base;

    for (latch_hash_node *node = latch_hash_drain(&store->holds), *next; node != NULL;
         node = next) {
        next = node->next;
        free_hold(base->engine, hold_of(node));
    }
    latch_hash_end(&store->holds);
    latch_memory_permits_end(&store->semaphores);
    latch_memory_records_end(&store->records);
}

static bool is_alone(const latch_lease *lease, const memory_hold *hold)
{
    const memory_hold *first = first_hold(lease);

    return first == hold && next_hold(first) == NULL;
}

static latch_status memory_acquire(latch_op *op)
{
    latch_lease *lease = op->lease;
    bool exclusive = op->request.kind == LATCH_ACQUIRE;
    memory_hold *hold = memory_find_own(lease);

    if (hold != NULL) {
        if (exclusive && !is_alone(lease, hold)) {
            return LATCH_CONFLICT; /* one reader of several */
        }
        hold->exclusive = exclusive;
        return LATCH_DONE;
    }
    hold = first_hold(lease);
    if (hold != NULL && (exclusive || hold->exclusive)) {
        return LATCH_CONFLICT;
    }
    return add_hold(lease, exclusive, op->error);
}

/* The holders are leases of this very process. */
static latch_status memory_inspect(latch_op *op)
{
    const latch_engine *engine = op->lease->store->engine;
    const memory_hold *hold = first_hold(op->lease);
    latch_mode mode = hold == NULL ? LATCH_FREE : hold->exclusive ? LATCH_EXCLUSIVE : LATCH_SHARED;
    latch_lock_report *report = latch_lock_reports_add(engine, op->request.reports, "", mode);

    if (report == NULL
        || (hold != NULL && !latch_lock_report_add_holder(engine, report, getpid()))) {
        return latch_fail_memory(op->error);
    }
    return LATCH_DONE;
}

static latch_status memory_begin(latch_op *op)
{
    latch_lease *lease = op->lease;
    latch_status status;
    memory_hold *hold;

    if (op->request.kind == LATCH_CALL) {
        return latch_memory_call(&((memory_store *) lease->store)->records, op);
    }
    if (lease->is_permit) {
        return latch_memory_permits_begin(semaphores_of(lease), op);
    }
    switch (op->request.kind) {
        case LATCH_ACQUIRE:
        case LATCH_ACQUIRE_SHARED:
            status = memory_acquire(op);
            if (status == LATCH_CONFLICT && op->request.wait
                && op->request.deadline_ns == LATCH_NEVER) {
                return latch_fail(op->error, LATCH_ERROR_DEADLOCK, 0,
                                  "the lock is held by this very thread, through another key");
            }
            return status;
        case LATCH_RELEASE:
            hold = memory_find_own(lease);
            if (hold != NULL) {
                remove_hold((memory_store *) lease->store, hold);
            }
            return LATCH_DONE;
        case LATCH_PROBE:
            return memory_find_own(lease) != NULL ? LATCH_DONE : LATCH_CONFLICT;
        case LATCH_INSPECT:
            return memory_inspect(op);
        case LATCH_REFRESH: /* holds never expire */
        case LATCH_LIST:    /* never comes here, */
        case LATCH_EVICT:   /* nor does that; */
        case LATCH_CALL:    /* that is done already */
            break;
    }
    return LATCH_DONE;
}

static bool memory_held(const latch_lease *lease)
{
    return lease->is_permit ? latch_memory_permits_held(semaphores_of(lease), lease)
                            : memory_find_own(lease) != NULL;
}

/* The lock stays; a copy of the key, if there is one, can still release it by the token. */
static void memory_drop(latch_lease *lease)
{
    memory_hold *hold = lease->state;

    if (lease->is_permit) {
        latch_memory_permits_drop(lease);
        return;
    }
    if (hold != NULL) {
        hold->is_orphan = true;
        hold->token = lease->token;
        lease->token = NULL;
    }
}

const latch_store_class latch_memory_store = {
    .info =
        {
            .name = "in-memory",
            .title = "memory",
            .state_name = "Symfony\\Component\\Lock\\Store\\InMemoryStore",
            .permit_state_name = "Latch\\Semaphore\\Store\\InMemoryStore", /* peers have none */
            .capabilities = LATCH_SHARED_LOCKS | LATCH_SERIALIZABLE | LATCH_PERMITS | LATCH_CALLS,
            .scope = LATCH_SCOPE_PROCESS,
        },
    .size = sizeof(memory_store),
    .open = memory_open,
    .close = memory_close,
    .begin = memory_begin,
    .held = memory_held,
    .drop = memory_drop,
};
