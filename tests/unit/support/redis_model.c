/* The search through all states that can be reached: see redis_model.h. */
#include "redis_model.h"

#include <stdlib.h>

#define NOWHERE UINT32_MAX
#define MOST_STATES 3000000 /* about a GB */

typedef struct {
    model_state state;
    uint32_t from;   /* the state before, by this event */
    uint32_t fair;   /* the state after, if nothing goes wrong; NOWHERE at the end */
    int32_t left_ms; /* on the fair course; -1: not known, -2: being found out */
    int16_t fair_ms; /* of it, to the state after */
    model_event event;
} node;

static struct {
    node *nodes;
    size_t count, room;
    uint32_t *index; /* by the state, NOWHERE where there is none */
    size_t index_room;
} all;

static void put_into_index(uint32_t at)
{
    size_t place = model_hash(&all.nodes[at].state, sizeof(model_state)) % all.index_room;

    while (all.index[place] != NOWHERE) {
        place = (place + 1) % all.index_room;
    }
    all.index[place] = at;
}

static void make_room(void)
{
    if (all.count < all.room) {
        return;
    }
    all.room = all.room == 0 ? 1024 : 2 * all.room;
    all.nodes = realloc(all.nodes, all.room * sizeof(*all.nodes));
    all.index_room = 3 * all.room;
    free(all.index);
    all.index = malloc(all.index_room * sizeof(*all.index));
    UNIT_CHECK(all.nodes != NULL && all.index != NULL);
    memset(all.index, 0xff, all.index_room * sizeof(*all.index));
    for (size_t at = 0; at < all.count; at++) {
        put_into_index((uint32_t) at);
    }
}

/* The node of this state, made if it is new. */
static uint32_t node_of(const model_state *state, uint32_t from, model_event event)
{
    size_t place;

    make_room();
    place = model_hash(state, sizeof(*state)) % all.index_room;
    for (; all.index[place] != NOWHERE; place = (place + 1) % all.index_room) {
        if (memcmp(&all.nodes[all.index[place]].state, state, sizeof(*state)) == 0) {
            return all.index[place];
        }
    }
    all.nodes[all.count].from = from;
    all.nodes[all.count].event = event;
    all.nodes[all.count].fair = NOWHERE;
    all.nodes[all.count].left_ms = -1;
    all.nodes[all.count].fair_ms = 0;
    memcpy(&all.nodes[all.count].state, state, sizeof(*state));
    all.index[place] = (uint32_t) all.count;
    return (uint32_t) all.count++;
}

static void tell_way_to(uint32_t at, FILE *out)
{
    if (all.nodes[at].from != NOWHERE) {
        tell_way_to(all.nodes[at].from, out);
        model_describe_event(all.nodes[at].event, out);
    }
    model_describe(&all.nodes[at].state, out);
}

static void report(model_result *result, uint32_t at, const char *violation)
{
    size_t size;
    FILE *out = open_memstream(&result->violation, &size);

    UNIT_CHECK(out != NULL);
    fprintf(out, "%s, %d ms before the end:\n", violation, all.nodes[at].left_ms);
    tell_way_to(at, out);
    fclose(out);
}

/* Finds all that may come of a state. */
static void go_on_from(uint32_t at, model_result *result)
{
    model_state state = all.nodes[at].state, next;
    model_event event, fair;
    bool goes_on = model_fair_event(&state, &fair);

    for (event.kind = 0; event.kind < MODEL_EVENTS && result->violation == NULL; event.kind++) {
        for (event.actor = 0; event.actor < MODEL_ACTORS && result->violation == NULL;
             event.actor++) {
            const char *violation = NULL;
            int16_t passed_ms;
            uint32_t to;

            if (!model_happen(&state, event, &next, &passed_ms, &violation)) {
                continue;
            }
            result->transitions++;
            to = node_of(&next, at, event);
            if (goes_on && event.kind == fair.kind && event.actor == fair.actor) {
                all.nodes[at].fair = to;
                all.nodes[at].fair_ms = passed_ms;
            }
            violation = violation != NULL ? violation : model_check(&next);
            if (violation != NULL) {
                report(result, to, violation);
            }
        }
    }
}

/* Follows the fair course from a state to its end, or to where its end is known. */
static void follow(uint32_t from, model_result *result)
{
    uint32_t at = from;

    while (all.nodes[at].left_ms == -1 && all.nodes[at].fair != NOWHERE) {
        all.nodes[at].left_ms = -2;
        at = all.nodes[at].fair;
    }
    if (all.nodes[at].left_ms == -2) {
        report(result, from, "it goes on for ever");
        return;
    }
    if (all.nodes[at].left_ms == -1) {
        const char *violation = model_check_end(&all.nodes[at].state);

        if (violation != NULL) {
            report(result, at, violation);
            return;
        }
        all.nodes[at].left_ms = 0;
    }
    /* Back: each state's time is that of the one after it and what passes to there. */
    if (at != from) {
        int32_t total = all.nodes[at].left_ms;

        for (uint32_t on = from; on != at; on = all.nodes[on].fair) {
            total += all.nodes[on].fair_ms;
        }
        for (uint32_t on = from; on != at; on = all.nodes[on].fair) {
            all.nodes[on].left_ms = total;
            total -= all.nodes[on].fair_ms;
        }
    }
}

model_result model_search(const model_scenario *scenario)
{
    model_result result = {.violation = NULL};
    model_state first;

    model_scenario_now = scenario;
    model_begin(&first);
    memset(&all, 0, sizeof(all));
    node_of(&first, NOWHERE, (model_event){0});
    for (uint32_t at = 0; at < all.count && result.violation == NULL; at++) {
        UNIT_CHECK(all.count < MOST_STATES);
        go_on_from(at, &result);
    }
    for (uint32_t at = 0; at < all.count && result.violation == NULL; at++) {
        follow(at, &result);
        if (all.nodes[at].left_ms > result.longest_ms) {
            result.longest_ms = all.nodes[at].left_ms;
        }
        if (result.longest_ms > scenario->longest_ms && result.violation == NULL) {
            report(&result, at, "somebody waits for too long");
        }
    }
    result.states = all.count;
    free(all.nodes);
    free(all.index);
    return result;
}

void model_forget(model_result *result)
{
    free(result->violation);
    result->violation = NULL;
}
