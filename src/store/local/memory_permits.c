/*
 * Counting semaphores in the memory of one thread. As of the locks there, permits never expire, a
 * holder is known by its lease or by its token, and permits whose key is gone stay taken.
 */
#include "src/store/local/memory_permits.h"

#include <string.h>
#include <unistd.h>

/* Semaphore with at least one holder: it is freed with the last one. */
typedef struct memory_semaphore {
    latch_hash_node node;
    latch_link holders; /* of memory_permit */
    int64_t used;       /* sum of their weights */
    char name[];
} memory_semaphore;

/* Hold on permits; the state of its lease. */
typedef struct memory_permit {
    latch_link link;
    memory_semaphore *semaphore;
    union {
        latch_lease *lease;
        char *token; /* an orphan's: of its lease, which was dropped; may be NULL */
    };
    bool is_orphan;
    latch_permits permits;
} memory_permit;

static memory_permit *permit_at(latch_link *link)
{
    return LATCH_CONTAINER(link, memory_permit, link);
}

static memory_semaphore *find_semaphore(const latch_hash *semaphores, const latch_lease *lease)
{
    latch_hash_node *node = latch_hash_find(semaphores, lease->resource, lease->resource_length);

    return node != NULL ? LATCH_CONTAINER(node, memory_semaphore, node) : NULL;
}

/* The hold of the lease itself, or of the key of which its key is a copy. */
static memory_permit *find_own_permit(const latch_hash *semaphores, const latch_lease *lease)
{
    memory_semaphore *semaphore;

    if (lease->state != NULL || lease->token == NULL) {
        return lease->state;
    }
    semaphore = find_semaphore(semaphores, lease);
    if (semaphore == NULL) {
        return NULL;
    }
    for (latch_link *link = semaphore->holders.next; link != &semaphore->holders;
         link = link->next) {
        const memory_permit *permit = permit_at(link);
        const char *token = permit->is_orphan ? permit->token : permit->lease->token;

        if (token != NULL && strcmp(token, lease->token) == 0) {
            return permit_at(link);
        }
    }
    return NULL;
}

static memory_semaphore *make_semaphore(latch_hash *semaphores, const latch_lease *lease)
{
    memory_semaphore *semaphore =
        latch_allocate(semaphores->engine,
                       offsetof(memory_semaphore, name) + lease->resource_length);

    if (semaphore == NULL) {
        return NULL;
    }
    memcpy(semaphore->name, lease->resource, lease->resource_length);
    semaphore->node.key = semaphore->name;
    semaphore->node.length = lease->resource_length;
    semaphore->used = 0;
    latch_list_init(&semaphore->holders);
    if (!latch_hash_add(semaphores, &semaphore->node)) {
        latch_free(semaphores->engine, semaphore);
        return NULL;
    }
    return semaphore;
}

static void free_permit(const latch_engine *engine, memory_permit *permit)
{
    if (permit->is_orphan) {
        latch_free(engine, permit->token);
    } else {
        permit->lease->state = NULL;
    }
    latch_free(engine, permit);
}

/* Frees the semaphore unless a holder is left. */
static void drop_unused_semaphore(latch_hash *semaphores, memory_semaphore *semaphore)
{
    if (semaphore->holders.next == &semaphore->holders) {
        latch_hash_remove(semaphores, &semaphore->node);
        latch_free(semaphores->engine, semaphore);
    }
}

static void remove_permit(latch_hash *semaphores, memory_permit *permit)
{
    memory_semaphore *semaphore = permit->semaphore;

    semaphore->used -= permit->permits.weight;
    latch_list_remove(&permit->link);
    free_permit(semaphores->engine, permit);
    drop_unused_semaphore(semaphores, semaphore);
}

static latch_status add_permit(latch_hash *semaphores, latch_op *op)
{
    latch_lease *lease = op->lease;
    memory_semaphore *semaphore = find_semaphore(semaphores, lease);
    memory_permit *permit;

    if (semaphore == NULL) {
        semaphore = make_semaphore(semaphores, lease);
    }
    if (semaphore == NULL) {
        return latch_fail_memory(op->error);
    }
    permit = latch_allocate(semaphores->engine, sizeof(*permit));
    if (permit == NULL) {
        drop_unused_semaphore(semaphores, semaphore);
        return latch_fail_memory(op->error);
    }
    *permit =
        (memory_permit){.semaphore = semaphore, .lease = lease, .permits = op->request.permits};
    latch_list_append(&semaphore->holders, &permit->link);
    semaphore->used += permit->permits.weight;
    lease->state = permit;
    return LATCH_DONE;
}

static latch_status acquire_permits(latch_hash *semaphores, latch_op *op)
{
    const latch_permits *permits = &op->request.permits;
    const memory_semaphore *semaphore = find_semaphore(semaphores, op->lease);

    if (find_own_permit(semaphores, op->lease) != NULL) {
        return LATCH_DONE;
    }
    if (semaphore == NULL || permits->weight <= permits->limit - semaphore->used) {
        return add_permit(semaphores, op);
    }
    return op->request.wait && op->request.deadline_ns == LATCH_NEVER
               ? latch_fail(op->error, LATCH_ERROR_DEADLOCK, 0,
                            "the permits are held by this very thread, through other keys")
               : LATCH_CONFLICT;
}

static latch_status inspect_permits(const latch_hash *semaphores, latch_op *op)
{
    const latch_engine *engine = semaphores->engine;
    memory_semaphore *semaphore = find_semaphore(semaphores, op->lease);
    latch_lock_report *report =
        latch_lock_reports_add(engine, op->request.reports, "",
                               semaphore != NULL ? LATCH_SHARED : LATCH_FREE);

    if (report == NULL) {
        return latch_fail_memory(op->error);
    }
    if (semaphore == NULL) {
        return LATCH_DONE;
    }
    report->permits_used = semaphore->used;
    for (latch_link *link = semaphore->holders.previous; link != &semaphore->holders;
         link = link->previous) {
        latch_holder *holder = latch_lock_report_make_holder(engine, report, 0);

        if (holder == NULL) {
            return latch_fail_memory(op->error);
        }
        holder->number = getpid();
        holder->permits = permit_at(link)->permits;
        report->holder_count++;
    }
    return LATCH_DONE;
}

latch_status latch_memory_permits_begin(latch_hash *semaphores, latch_op *op)
{
    memory_permit *permit;

    switch (op->request.kind) {
        case LATCH_ACQUIRE:
            return acquire_permits(semaphores, op);
        case LATCH_RELEASE:
            permit = find_own_permit(semaphores, op->lease);
            if (permit != NULL) {
                remove_permit(semaphores, permit);
            }
            return LATCH_DONE;
        case LATCH_REFRESH:
        case LATCH_PROBE:
            return find_own_permit(semaphores, op->lease) != NULL ? LATCH_DONE : LATCH_CONFLICT;
        case LATCH_INSPECT:
            return inspect_permits(semaphores, op);
        case LATCH_ACQUIRE_SHARED: /* op.c refuses these */
        case LATCH_LIST:
        case LATCH_EVICT:
        case LATCH_CALL:
            break;
    }
    return LATCH_DONE;
}

bool latch_memory_permits_held(latch_hash *semaphores, const latch_lease *lease)
{
    return find_own_permit(semaphores, lease) != NULL;
}

void latch_memory_permits_drop(latch_lease *lease)
{
    memory_permit *permit = lease->state;

    if (permit != NULL) {
        permit->is_orphan = true;
        permit->token = lease->token;
        lease->token = NULL;
    }
}

void latch_memory_permits_end(latch_hash *semaphores)
{
    for (latch_hash_node *node = latch_hash_drain(semaphores), *next; node != NULL; node = next) {
        memory_semaphore *semaphore = LATCH_CONTAINER(node, memory_semaphore, node);

        next = node->next;
        while (semaphore->holders.next != &semaphore->holders) {
            memory_permit *permit = permit_at(semaphore->holders.next);

            latch_list_remove(&permit->link);
            free_permit(semaphores->engine, permit);
        }
        latch_free(semaphores->engine, semaphore);
    }
    latch_hash_end(semaphores);
}
