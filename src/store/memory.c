/*
 * Locks in the memory of one thread, for tests and for code that runs in one process anyway.
 *
 * A holder is known by its token, so that a key that was serialised and read again still owns its
 * lock. Semantics of Symfony's InMemoryStore: a lone reader is promoted, a writer that asks for a
 * shared lock is demoted, holds never expire.
 */
#include "../table.h"
#include "store.h"

#include <string.h>

typedef struct memory_holder {
    struct memory_holder *next;
    uint8_t token_length;
    char token[];
} memory_holder;

typedef struct memory_entry {
    latch_node node; /* keyed by the resource */
    bool exclusive;  /* then it has one holder */
    memory_holder *holders; /* never empty while the entry is in the table */
    char resource[];
} memory_entry;

typedef struct memory_store {
    latch_store store;
    latch_table entries;
} memory_store;

static latch_status memory_open(latch_store *store, const latch_store_options *options,
                                latch_error *error)
{
    (void) options;
    return latch_table_init(&((memory_store *) store)->entries, store->engine, error);
}

static void memory_close(latch_store *store)
{
    latch_table *entries = &((memory_store *) store)->entries;

    for (latch_node *node; (node = latch_table_pop(entries)) != NULL;) {
        memory_entry *entry = LATCH_CONTAINER(node, memory_entry, node);

        for (memory_holder *holder = entry->holders, *next; holder != NULL; holder = next) {
            next = holder->next;
            latch_free(store->engine, holder);
        }
        latch_free(store->engine, entry);
    }
    latch_table_end(entries);
}

static memory_entry *find_entry(const latch_lease *lease)
{
    latch_node *node = latch_table_find(&((memory_store *) lease->store)->entries,
                                        lease->resource, lease->resource_length);

    return node != NULL ? LATCH_CONTAINER(node, memory_entry, node) : NULL;
}

/* The link that points to the lease's holder, NULL when the lease does not hold the entry. */
static memory_holder **find_holder(memory_entry *entry, const latch_lease *lease)
{
    if (entry == NULL || lease->token_length == 0) {
        return NULL;
    }
    for (memory_holder **link = &entry->holders; *link != NULL; link = &(*link)->next) {
        if ((*link)->token_length == lease->token_length
            && memcmp((*link)->token, lease->token, lease->token_length) == 0) {
            return link;
        }
    }
    return NULL;
}

static memory_holder *make_holder(const latch_lease *lease)
{
    memory_holder *holder = latch_allocate(lease->store->engine, sizeof(*holder) + lease->token_length);

    if (holder != NULL) {
        holder->token_length = lease->token_length;
        memcpy(holder->token, lease->token, lease->token_length);
    }
    return holder;
}

static latch_status add_entry(const latch_lease *lease, memory_holder *holder, bool exclusive)
{
    latch_engine *engine = lease->store->engine;
    memory_entry *entry = latch_allocate(engine, sizeof(*entry) + lease->resource_length);

    if (entry == NULL) {
        return LATCH_ERROR_MEMORY;
    }
    memcpy(entry->resource, lease->resource, lease->resource_length);
    entry->node.key = entry->resource;
    entry->node.length = lease->resource_length;
    entry->exclusive = exclusive;
    entry->holders = holder;
    holder->next = NULL;
    if (!latch_table_add(&((memory_store *) lease->store)->entries, &entry->node)) {
        latch_free(engine, entry);
        return LATCH_ERROR_MEMORY;
    }
    return LATCH_DONE;
}

static latch_status acquire(latch_op *op)
{
    const latch_lease *lease = op->lease;
    bool exclusive = op->request.kind == LATCH_ACQUIRE;
    memory_entry *entry = find_entry(lease);
    memory_holder *holder;

    if (find_holder(entry, lease) != NULL) {
        if (exclusive && entry->holders->next != NULL) {
            return LATCH_CONFLICT; /* a reader that is not alone */
        }
        entry->exclusive = exclusive;
        return LATCH_DONE;
    }
    if (entry != NULL && (exclusive || entry->exclusive)) {
        return LATCH_CONFLICT;
    }
    holder = make_holder(lease);
    if (holder == NULL) {
        return latch_fail_memory(op->error);
    }
    if (entry != NULL) {
        holder->next = entry->holders;
        entry->holders = holder;
    } else if (add_entry(lease, holder, exclusive) != LATCH_DONE) {
        latch_free(lease->store->engine, holder);
        return latch_fail_memory(op->error);
    }
    return LATCH_DONE;
}

static void release(const latch_lease *lease)
{
    memory_entry *entry = find_entry(lease);
    memory_holder **link = find_holder(entry, lease);
    memory_holder *holder;

    if (link == NULL) {
        return;
    }
    holder = *link;
    *link = holder->next;
    latch_free(lease->store->engine, holder);
    if (entry->holders == NULL) {
        latch_table_remove(&((memory_store *) lease->store)->entries, &entry->node);
        latch_free(lease->store->engine, entry);
    }
}

static latch_status memory_begin(latch_op *op)
{
    latch_status status;

    switch (op->request.kind) {
        case LATCH_ACQUIRE:
        case LATCH_ACQUIRE_SHARED:
            status = latch_lease_make_token(op->lease, op->error);
            if (status == LATCH_DONE) {
                status = acquire(op);
            }
            if (status == LATCH_CONFLICT && op->request.wait
                && op->request.deadline_ns == LATCH_NEVER) {
                return latch_fail(op->error, LATCH_ERROR_DEADLOCK, 0,
                                  "the lock is held by this very thread, through another key");
            }
            return status;
        case LATCH_RELEASE:
            release(op->lease);
            return LATCH_DONE;
        case LATCH_PROBE:
            return find_holder(find_entry(op->lease), op->lease) != NULL ? LATCH_DONE
                                                                         : LATCH_CONFLICT;
        case LATCH_REFRESH:
            break; /* holds never expire */
    }
    return LATCH_DONE;
}

static bool memory_held(const latch_lease *lease)
{
    return find_holder(find_entry(lease), lease) != NULL;
}

const latch_store_class latch_memory_store = {
    .info = {
        .name = "in-memory",
        .state_name = "Symfony\\Component\\Lock\\Store\\InMemoryStore",
        .capabilities = LATCH_SHARED_LOCKS | LATCH_SERIALIZABLE,
    },
    .size = sizeof(memory_store),
    .open = memory_open,
    .close = memory_close,
    .begin = memory_begin,
    .held = memory_held,
};
