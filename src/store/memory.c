/*
 * Locks in the memory of one thread, for tests and for code that runs in one process anyway.
 *
 * Semantics of Symfony's InMemoryStore: a lone reader is promoted, a writer that asks for a shared
 * lock is demoted, holds never expire, and a lock whose key is gone stays locked. A holder is known
 * by its lease, or by its lease's token: a key that was serialised and read again still owns its
 * lock. Most keys never are, so that a token is made only when somebody asks for it.
 */
#include "../table.h"
#include "store.h"

#include <string.h>

typedef struct memory_hold {
    struct memory_hold *next; /* of the same entry */
    struct memory_entry *entry;
    latch_lease *lease; /* whose state this is; NULL when it was dropped */
    char *token;        /* of a dropped lease that had one */
} memory_hold;

typedef struct memory_entry {
    latch_node node;    /* keyed by the resource */
    memory_hold *holds; /* never empty while the entry is in the table */
    memory_hold first;  /* one of them, so that most entries are one allocation */
    bool first_is_used;
    bool exclusive; /* then there is one hold */
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

static memory_entry *find_entry(const latch_lease *lease)
{
    latch_node *node = latch_table_find(&((memory_store *) lease->store)->entries, lease->resource,
                                        lease->resource_length);

    return node != NULL ? LATCH_CONTAINER(node, memory_entry, node) : NULL;
}

static const char *token_of(const memory_hold *hold)
{
    return hold->lease != NULL ? hold->lease->token : hold->token;
}

static memory_hold *find_hold(const latch_lease *lease)
{
    memory_entry *entry;

    if (lease->state != NULL || lease->token == NULL) {
        return lease->state;
    }
    entry = find_entry(lease);
    for (memory_hold *hold = entry != NULL ? entry->holds : NULL; hold != NULL; hold = hold->next) {
        if (token_of(hold) != NULL && strcmp(token_of(hold), lease->token) == 0) {
            return hold;
        }
    }
    return NULL;
}

static memory_entry *add_entry(const latch_lease *lease)
{
    latch_engine *engine = lease->store->engine;
    memory_entry *entry = latch_allocate(engine, sizeof(*entry) + lease->resource_length);

    if (entry == NULL) {
        return NULL;
    }
    memcpy(entry->resource, lease->resource, lease->resource_length);
    entry->node.key = entry->resource;
    entry->node.length = lease->resource_length;
    entry->holds = NULL;
    entry->first_is_used = false;
    if (!latch_table_add(&((memory_store *) lease->store)->entries, &entry->node)) {
        latch_free(engine, entry);
        return NULL;
    }
    return entry;
}

static bool add_hold(memory_entry *entry, latch_lease *lease)
{
    memory_hold *hold = &entry->first;

    if (entry->first_is_used) {
        hold = latch_allocate(lease->store->engine, sizeof(*hold));
        if (hold == NULL) {
            return false;
        }
    } else {
        entry->first_is_used = true;
    }
    *hold = (memory_hold){.next = entry->holds, .entry = entry, .lease = lease};
    entry->holds = hold;
    lease->state = hold;
    return true;
}

static void remove_hold(memory_store *store, memory_hold *hold)
{
    latch_engine *engine = store->store.engine;
    memory_entry *entry = hold->entry;
    memory_hold **link = &entry->holds;

    while (*link != hold) {
        link = &(*link)->next;
    }
    *link = hold->next;
    if (hold->lease != NULL) {
        hold->lease->state = NULL;
    }
    latch_free(engine, hold->token);
    if (hold == &entry->first) {
        entry->first_is_used = false;
    } else {
        latch_free(engine, hold);
    }
    if (entry->holds == NULL) {
        latch_table_remove(&store->entries, &entry->node);
        latch_free(engine, entry);
    }
}

static void memory_close(latch_store *base)
{
    memory_store *store = (memory_store *) base;

    for (latch_node *node; (node = latch_table_any(&store->entries)) != NULL;) {
        remove_hold(store, LATCH_CONTAINER(node, memory_entry, node)->holds);
    }
    latch_table_end(&store->entries);
}

static latch_status acquire(latch_op *op)
{
    latch_lease *lease = op->lease;
    bool exclusive = op->request.kind == LATCH_ACQUIRE;
    memory_hold *hold = find_hold(lease);
    memory_entry *entry = hold != NULL ? hold->entry : find_entry(lease);

    if (hold != NULL) {
        if (exclusive && entry->holds->next != NULL) {
            return LATCH_CONFLICT; /* a reader that is not alone */
        }
        entry->exclusive = exclusive;
        return LATCH_DONE;
    }
    if (entry != NULL && (exclusive || entry->exclusive)) {
        return LATCH_CONFLICT;
    }
    if (entry == NULL) {
        entry = add_entry(lease);
        if (entry == NULL) {
            return latch_fail_memory(op->error);
        }
        entry->exclusive = exclusive;
    }
    return add_hold(entry, lease) ? LATCH_DONE : latch_fail_memory(op->error);
}

static latch_status memory_begin(latch_op *op)
{
    latch_lease *lease = op->lease;
    latch_status status;
    memory_hold *hold;

    switch (op->request.kind) {
        case LATCH_ACQUIRE:
        case LATCH_ACQUIRE_SHARED:
            status = acquire(op);
            if (status == LATCH_CONFLICT && op->request.wait
                && op->request.deadline_ns == LATCH_NEVER) {
                return latch_fail(op->error, LATCH_ERROR_DEADLOCK, 0,
                                  "the lock is held by this very thread, through another key");
            }
            return status;
        case LATCH_RELEASE:
            hold = find_hold(lease);
            if (hold != NULL) {
                remove_hold((memory_store *) lease->store, hold);
            }
            return LATCH_DONE;
        case LATCH_PROBE:
            return find_hold(lease) != NULL ? LATCH_DONE : LATCH_CONFLICT;
        case LATCH_REFRESH:
            break; /* holds never expire */
    }
    return LATCH_DONE;
}

static bool memory_held(const latch_lease *lease)
{
    return find_hold(lease) != NULL;
}

/* The lock stays; a copy of the key, if there is one, can still release it by the token. */
static void memory_drop(latch_lease *lease)
{
    memory_hold *hold = lease->state;

    if (hold == NULL) {
        return;
    }
    hold->lease = NULL;
    hold->token = lease->token;
    lease->token = NULL;
}

const latch_store_class latch_memory_store = {
    .info =
        {
            .name = "in-memory",
            .state_name = "Symfony\\Component\\Lock\\Store\\InMemoryStore",
            .capabilities = LATCH_SHARED_LOCKS | LATCH_SERIALIZABLE,
        },
    .size = sizeof(memory_store),
    .open = memory_open,
    .close = memory_close,
    .begin = memory_begin,
    .held = memory_held,
    .drop = memory_drop,
};
