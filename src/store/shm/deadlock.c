/*
 * Deadlocks: a thread that is about to wait without end notes its record in the file, and follows
 * who waits for whom. A circle of such waits would never end by itself.
 *
 * What the search reads may be over a moment later. So a circle counts if a second look along it
 * finds each wait blocked by the same hold or wait as before: all of them have been there at the
 * moment between the two.
 */
#include "src/store/shm/store.h"

#define NODES_MAX 256

/* A participant that the first one waits for, by way of others. */
typedef struct shm_node {
    uint64_t owner;
    uint32_t record; /* that it waits by */
    uint64_t ticket;
    uint32_t from;       /* the node that waits for it, */
    shm_blocker blocker; /* by this record */
} shm_node;

typedef struct shm_graph {
    const shm_user *user;
    uint32_t count;
    shm_node nodes[NODES_MAX];
    shm_view view;
} shm_graph;

static bool shm_is_blocked_still(shm_graph *graph, const shm_node *waiter,
                                 const shm_blocker *blocker)
{
    if (latch_shm_look(graph->user, waiter->record, &graph->view) != SHM_DONE
        || graph->view.ticket != waiter->ticket) {
        return false;
    }
    for (uint32_t at = 0; at < graph->view.count; at++) {
        if (graph->view.blockers[at].index == blocker->index
            && graph->view.blockers[at].ticket == blocker->ticket
            && graph->view.blockers[at].owner == blocker->owner) {
            return true;
        }
    }
    return false;
}

/* The circle is closed by `blocker`, which is the first node's own. */
static bool shm_is_circle(shm_graph *graph, uint32_t last, shm_blocker blocker)
{
    for (uint32_t at = last;; at = graph->nodes[at].from) {
        if (!shm_is_blocked_still(graph, &graph->nodes[at], &blocker)) {
            return false;
        }
        if (at == 0) {
            return true;
        }
        blocker = graph->nodes[at].blocker;
    }
}

static bool shm_has_node(const shm_graph *graph, uint64_t owner)
{
    for (uint32_t at = 0; at < graph->count; at++) {
        if (graph->nodes[at].owner == owner) {
            return true;
        }
    }
    return false;
}

/* Adds the owner of a blocker, if it waits without end itself. */
static void shm_add_node(shm_graph *graph, uint32_t from, const shm_blocker *blocker)
{
    const shm_map *map = &graph->user->map;
    uint32_t place = latch_shm_place_of(blocker->owner);
    uint32_t waits_for =
        place < map->participant_count ? latch_shm_load32(&map->participants[place].waits_for) : 0;

    if (waits_for == 0 || waits_for > map->record_count || graph->count == NODES_MAX
        || shm_has_node(graph, blocker->owner)
        || latch_shm_load64(&map->records[waits_for - 1].owner) != blocker->owner) {
        return;
    }
    graph->nodes[graph->count++] = (shm_node){.owner = blocker->owner,
                                              .record = waits_for - 1,
                                              .from = from,
                                              .blocker = *blocker};
}

/* Breadth first; a node's blockers are copied, as the second look uses the same view. */
static bool shm_search_circle(shm_graph *graph)
{
    for (uint32_t at = 0; at < graph->count; at++) {
        shm_blocker own = {0};

        if (latch_shm_look(graph->user, graph->nodes[at].record, &graph->view) != SHM_DONE) {
            continue;
        }
        graph->nodes[at].ticket = graph->view.ticket;
        for (uint32_t blocker = 0; blocker < graph->view.count; blocker++) {
            if (graph->view.blockers[blocker].owner == graph->user->self) {
                own = graph->view.blockers[blocker];
            } else {
                shm_add_node(graph, at, &graph->view.blockers[blocker]);
            }
        }
        if (own.owner != 0 && shm_is_circle(graph, at, own)) {
            return true;
        }
    }
    return false;
}

shm_deadlock latch_shm_begin_endless_wait(shm_hold *hold)
{
    shm_participant *place = latch_shm_own_place(hold->attachment);
    shm_graph graph = {.user = &hold->attachment->user, .count = 1};

    hold->outer_wait = latch_shm_load32(&place->waits_for);
    if (hold->outer_wait > graph.user->map.record_count) {
        hold->outer_wait = 0; /* the file is corrupt */
    }
    hold->notes_wait = true;
    /* By an exchange: of two that close a circle at once, one at least sees the other's note. */
    latch_shm_cas32(&place->waits_for, hold->outer_wait, hold->index + 1);
    graph.nodes[0] = (shm_node){.owner = graph.user->self, .record = hold->index};
    if (!shm_search_circle(&graph)) {
        return SHM_NO_DEADLOCK;
    }
    latch_shm_look(graph.user, hold->index, &graph.view);
    for (uint32_t at = 0; at < graph.view.count; at++) {
        if (graph.view.blockers[at].owner == graph.user->self) {
            return SHM_OWN_DEADLOCK;
        }
    }
    return SHM_CIRCLE;
}

/* Does the wait go on that this one was begun in: further up the stack, or beside it? */
static bool shm_is_outer_wait_on(const shm_hold *hold)
{
    const shm_map *map = &hold->attachment->user.map;
    uint32_t state = hold->outer_wait != 0
                         ? latch_shm_load32(&map->records[hold->outer_wait - 1].state)
                         : SHM_FREE;

    return latch_shm_is_waiting_state(state) || state == SHM_PROMOTES;
}

void latch_shm_end_endless_wait(shm_hold *hold)
{
    shm_participant *place = latch_shm_own_place(hold->attachment);

    if (!hold->notes_wait) {
        return;
    }
    hold->notes_wait = false;
    if (latch_shm_load32(&place->waits_for) == hold->index + 1) {
        latch_shm_store32(&place->waits_for, shm_is_outer_wait_on(hold) ? hold->outer_wait : 0);
    }
}
