/* The search through all states of shm_model.h: depth first, each state once. */
#ifndef SHM_SEARCH_H
#define SHM_SEARCH_H

#include "shm_model.h"

#define MODEL_COMES_BACK "G.K."

static char model_again[64]; /* what a participant does that has come back */

/* ---- Calls of the scripts */

static uint8_t model_resource(const model_actor *actor)
{
    return actor->script[1] == 'b';
}

/* One that has come back uses the records for the other resource each. */
static uint32_t model_record(const model_actor *actor, uint32_t resource)
{
    return actor->index * SHM_CHUNK_RECORDS + (actor->was_dead ? 1 - resource : resource);
}

static shm_result model_take_place(const shm_user *user, uint32_t place, model_actor *actor)
{
    uint64_t self = latch_shm_take_place(&user->map, place);
    shm_word *life = latch_shm_life(&user->map, place);

    latch_shm_store32(life, 0);
    if (self == 0 || !latch_shm_cas32(life, 0, place + 1)) {
        return SHM_CONFLICT;
    }
    actor->self = self;
    return SHM_DONE;
}

static shm_result model_request(const shm_user *user, const model_actor *actor, uint32_t index)
{
    uint8_t resource = model_resource(actor);
    char what = actor->script[0];

    return latch_shm_request(user, index,
                             &(shm_request){.digest = {resource, resource},
                                            .exclusive = strchr("xXcw", what) != NULL,
                                            .waits = strchr("xscCw", what) != NULL});
}

static shm_result model_call(model_actor *actor)
{
    shm_user user = model_user(actor->self);
    uint32_t index = model_record(actor, model_resource(actor));

    if (actor->stage == MODEL_AT_WAIT) {
        return latch_shm_wait(&user, index, 0);
    }
    if (actor->stage == MODEL_AT_UNDO && actor->script[0] == 'w') {
        latch_shm_abandon(&user, index);
        model.state->is_messy = true; /* nobody is woken */
        return SHM_DONE;
    }
    if (actor->stage == MODEL_AT_UNDO && actor->script[0] != 'q') {
        return latch_shm_release(&user, index);
    }
    switch (actor->script[0]) {
        case 'G':
            return model_take_place(&user, actor->index, actor);
        case 'K':
            return latch_shm_claim(&user, actor->index);
        case 'r':
            return latch_shm_release(&user, index);
        case 'd':
        case 'q':
            if (actor->script[0] == 'd' || actor->stage == MODEL_AT_UNDO) {
                return latch_shm_demote(&user, index);
            }
            return latch_shm_promote(&user, index, true);
        case 'p':
        case 'P':
            return latch_shm_promote(&user, index, actor->script[0] == 'p');
        case 'e':
            index = model_resource(actor);
            return latch_shm_evict(&user, index, latch_shm_load64(&user.map.records[index].ticket));
        default:
            return model_request(&user, actor, index);
    }
}

/* ---- What the participants believe */

/* Until it is inside the guard, a participant that releases or demotes believes in what it had. */
static void model_let_go(model_actor *actor)
{
    uint8_t resource = model_resource(actor);
    bool undoes = actor->stage == MODEL_AT_UNDO;

    if (model.state->memory.buckets[resource & (model.bucket_count - 1)].guard != actor->self) {
        return;
    }
    if (actor->script[0] == 'd' || (actor->script[0] == 'q' && undoes)) {
        actor->holds[resource] = SHM_HELD_SHARED;
    } else if (actor->script[0] == 'r' || undoes) {
        actor->holds[resource] = SHM_FREE;
    }
}

static void model_next(model_actor *actor)
{
    do { /* what was taken away before it was seen is not released */
        actor->script += 2;
    } while (*actor->script == 'r' && actor->holds[model_resource(actor)] == SHM_FREE);
    actor->stage = MODEL_AT_REQUEST;
    actor->gives_up = false;
    actor->life = *actor->script == '\0' ? MODEL_IS_DONE : MODEL_RUNS;
}

static bool model_may_give_up(const model_actor *actor)
{
    return strchr("cCqw", actor->script[0]) != NULL;
}

static void model_hold(model_actor *actor)
{
    bool is_shared = strchr("sSC", actor->script[0]) != NULL;

    actor->holds[model_resource(actor)] = is_shared ? SHM_HELD_SHARED : SHM_HELD_EXCLUSIVE;
    if (strchr("XScCw", actor->script[0]) != NULL || actor->gives_up) {
        actor->stage = MODEL_AT_UNDO;
    } else {
        model_next(actor);
    }
}

static void model_end_call(model_actor *actor, shm_result result)
{
    char what = actor->script[0];
    uint8_t stage = actor->stage;

    actor->next_kind = 0;
    actor->length = 0;
    actor->hash = 0;
    actor->life = MODEL_RUNS;
    if (result == SHM_CORRUPT || result == SHM_STUCK) {
        model_violate("%c of %td ends with %d", what, actor - model.state->actors, result);
    } else if (stage == MODEL_AT_UNDO || strchr("GKrde", what) != NULL) {
        if (what == 'w') {
            actor->holds[model_resource(actor)] = SHM_FREE;
        }
        if (result != SHM_DONE && (stage != MODEL_AT_UNDO && strchr("er", what) == NULL)) {
            model_violate("%c of %td fails", what, actor - model.state->actors);
        }
        model_next(actor);
    } else if (result == SHM_DONE) {
        model_hold(actor);
    } else if (result == SHM_CONFLICT && stage == MODEL_AT_WAIT) {
        actor->stage = MODEL_AT_UNDO; /* granted, and taken away before it was seen */
    } else if (result == SHM_CONFLICT) {
        if (strchr("XSP", what) == NULL) {
            model_violate("%c of %td conflicts", what, actor - model.state->actors);
        }
        model_next(actor);
    } else {
        actor->stage = actor->gives_up ? MODEL_AT_UNDO : MODEL_AT_WAIT;
    }
}

static void model_check_beliefs(const model_state *state)
{
    for (int resource = 0; resource < MODEL_RESOURCES; resource++) {
        int holders = 0, exclusive = 0;

        for (int at = 0; at < MODEL_ACTORS; at++) {
            uint8_t holds = state->actors[at].holds[resource];
            uint32_t index = model_record(&state->actors[at], (uint32_t) resource);

            if (state->memory.records[index].state == SHM_EVICTED) {
                continue; /* it will be told */
            }
            holders += holds != SHM_FREE;
            exclusive += holds == SHM_HELD_EXCLUSIVE;
        }
        if (exclusive > 0 && holders > 1) {
            model_violate("two have the lock");
        }
    }
}

/* Calls the function up to the step, and to the next access; without a step: to the first one. */
static void model_run(model_actor *actor, bool steps)
{
    model.actor = actor;
    model.at = 0;
    model.stepped = !steps;
    if (setjmp(model.out) == 0) {
        model_end_call(actor, model_call(actor));
    }
    model.actor = NULL;
}

static void model_begin_call(model_actor *actor)
{
    actor->length = actor->mark = 0;
    actor->hash = model_mix((uint64_t) (uintptr_t) actor->script, actor->stage);
    model_run(actor, false);
}

static void model_step(model_actor *actor)
{
    actor->life = MODEL_RUNS;
    model_run(actor, true);
    if (actor->length > 0) {
        model_let_go(actor);
    } else if (actor->life == MODEL_RUNS && model.violation == NULL) {
        model_begin_call(actor);
    }
    model_check_beliefs(model.state);
}

/* ---- Deaths */

/* As the kernel does: marks the life word, and wakes one sleeper, the one that is `chosen`. */
static void model_kill(model_actor *actor, int chosen)
{
    model_state *state = model.state;
    shm_word *life = (shm_word *) (void *) state->memory.participants[actor->index].life;
    uint32_t value = *(uint32_t *) (void *) life;

    snprintf(state->step, sizeof(state->step), "%td is killed", actor - state->actors);
    state->kills--;
    state->is_messy |= actor->length > 0 && actor->life != MODEL_SLEEPS;
    actor->life = MODEL_IS_DEAD;
    actor->gives_up = false;
    actor->length = 0;
    actor->hash = 0;
    actor->stage = MODEL_AT_REQUEST;
    memset(actor->holds, 0, sizeof(actor->holds));
    if ((value & SHM_LIFE_OWNER) == 0) {
        return; /* it had not registered yet */
    }
    model_set(life, 4, (value & SHM_LIFE_WAITERS) | SHM_LIFE_DIED);
    if (chosen >= 0) {
        state->actors[chosen].life = MODEL_RUNS;
    }
}

static bool model_wakes_by_death(const model_actor *dead, const model_actor *sleeper)
{
    const shm_long *life = model.state->memory.participants[dead->index].life;

    return ((uint32_t) life[0] & SHM_LIFE_WAITERS) != 0
           && model_watches(sleeper, model_offset(life));
}

/* ---- The end */

/* Behind all a newcomer gets each lock at once, and the records of the dead. */
static void model_check_end(void)
{
    model_memory *memory = &model.state->memory;
    model_actor checker = {.index = MODEL_PLACES - 1};
    shm_user user = model_user(0);

    model_take_place(&user, checker.index, &checker);
    user.self = checker.self;
    for (uint32_t resource = 0; resource < MODEL_RESOURCES; resource++) {
        uint32_t index = checker.index * SHM_CHUNK_RECORDS + resource;

        if (latch_shm_request(&user, index,
                              &(shm_request){.digest = {resource, resource}, .exclusive = true})
            != SHM_DONE) {
            model_violate("the lock %u is not free in the end", resource);
        } else {
            latch_shm_release(&user, index);
        }
    }
    for (uint32_t chunk = 0; chunk < MODEL_ACTORS; chunk++) {
        if (model.state->actors[chunk].life == MODEL_IS_DEAD
            && latch_shm_claim(&user, chunk) != SHM_DONE) {
            model_violate("the dead one's chunk %u cannot be had", chunk);
        }
    }
    for (uint32_t at = 0; at < MODEL_RECORDS; at++) {
        if (memory->records[at].state != SHM_FREE) {
            model_violate("the record %u is left", at);
        }
    }
    for (uint32_t at = 0; at < model.bucket_count; at++) {
        if (memory->buckets[at].guard != 0 || memory->buckets[at].head != 0) {
            model_violate("the bucket %u is not empty", at);
        }
    }
}

/* ---- The search */

typedef struct model_search_data {
    model_state *stack;
    size_t room;
    uint64_t *seen;
    size_t seen_room, seen_count, most;
    model_result result;
} model_search_data;

/* Of a free record nobody reads these fields before they are filled. */
static uint64_t model_hash_stale(const model_state *state)
{
    uint64_t hash = 0;

    for (size_t at = 0; at < MODEL_RECORDS; at++) {
        const shm_record *record = &state->memory.records[at];
        uint16_t offset =
            (uint16_t) ((const char *) record - (const char *) (const void *) &state->memory);

        if (record->state == SHM_FREE) {
            hash ^= model_word_hash(offset + offsetof(shm_record, next), record->next);
            hash ^= model_word_hash(offset + offsetof(shm_record, owner), record->owner);
            hash ^= model_word_hash(offset + offsetof(shm_record, ticket), record->ticket);
            hash ^= model_word_hash(offset + offsetof(shm_record, fence), record->fence);
        }
    }
    return hash;
}

static uint64_t model_hash(const model_state *state)
{
    uint64_t hash = model_mix(state->memory_hash ^ model_hash_stale(state), state->kills);

    hash = model_mix(hash, (uint64_t) state->cancels << 2 | state->is_messy << 1 | state->sliced);
    hash = model_mix(hash, model_mix(state->last_fence[0], state->last_fence[1]));
    for (int at = 0; at < MODEL_ACTORS; at++) {
        const model_actor *actor = &state->actors[at];

        hash = model_mix(hash, actor->hash);
        hash = model_mix(hash, (uint64_t) (uintptr_t) actor->script);
        hash = model_mix(hash, (uint64_t) actor->life << 40 | (uint64_t) actor->stage << 32
                                   | (uint64_t) actor->gives_up << 31 | actor->holds[0] << 8
                                   | actor->holds[1] << 16);
        hash = model_mix(hash, actor->self ^ actor->blocked_by << 32);
    }
    return hash | 1;
}

/* Of an entry of the table: the state is on the way to the one that is visited. */
#define MODEL_ON_THE_WAY UINT64_C(1)

static uint64_t *model_find(uint64_t *table, size_t room, uint64_t hash)
{
    size_t at = hash % room;

    while (table[at] != 0 && (table[at] | MODEL_ON_THE_WAY) != hash) {
        at = at + 1 < room ? at + 1 : 0;
    }
    return &table[at];
}

/* False: it was there already. */
static bool model_see(model_search_data *data, uint64_t hash)
{
    uint64_t *entry = model_find(data->seen, data->seen_room, hash);

    if (*entry == hash) {
        model_violate("a participant goes in circles");
    }
    if (*entry != 0) {
        return false;
    }
    *entry = hash;
    data->seen_count++;
    if (data->seen_count > data->seen_room / 2) {
        size_t room = data->seen_room * 2 + 1;
        uint64_t *larger = calloc(room, sizeof(*larger));

        for (size_t from = 0; from < data->seen_room; from++) {
            if (data->seen[from] != 0) {
                *model_find(larger, room, data->seen[from] | MODEL_ON_THE_WAY) = data->seen[from];
            }
        }
        free(data->seen);
        data->seen = larger;
        data->seen_room = room;
    }
    return true;
}

static bool model_can_step(model_state *state, const model_actor *actor)
{
    const model_memory *memory = &state->memory;

    model.state = state;

    switch ((model_life) actor->life) {
        case MODEL_RUNS:
            return true;
        case MODEL_IS_BLOCKED:
            for (uint32_t at = 0; at < model.bucket_count; at++) {
                if (memory->buckets[at].guard == actor->blocked_by) {
                    return !model_is_alive(actor->blocked_by);
                }
            }
            return true;
        case MODEL_IS_DEAD:
            return actor->again != NULL;
        default:
            return false;
    }
}

/* Will anybody take a place? */
static bool model_may_come_back(const model_state *state)
{
    for (int at = 0; at < MODEL_ACTORS; at++) {
        const model_actor *actor = &state->actors[at];

        if (actor->script[0] == 'G'
            || (actor->again != NULL && (state->kills > 0 || actor->life == MODEL_IS_DEAD))) {
            return true;
        }
    }
    return false;
}

/*
 * Whether the next access of the actor commutes with all that others can do before it: no other
 * participant may write the word meanwhile. Then it is the only step to be searched: a load leaves
 * no trace if its actor is killed, so it may be killed after it as well as before.
 */
static bool model_is_alone(const model_state *state, const model_actor *actor)
{
    const model_memory *memory = &state->memory;
    size_t at = actor->next_offset;
    uint64_t bucket;

    if (actor->life != MODEL_RUNS || (actor->length == 0 && state->kills > 0)
        || !(actor->next_kind == 'l' || (actor->next_kind == 's' && state->kills == 0))) {
        return false;
    }
    if (at < offsetof(model_memory, buckets)) { /* the offset of a life word never changes */
        at %= sizeof(shm_participant);
        return at == offsetof(shm_participant, life_offset)
               || (at == offsetof(shm_participant, generation) && !model_may_come_back(state));
    }
    if (at < offsetof(model_memory, chunks)) {
        at -= offsetof(model_memory, buckets);
        return at % sizeof(shm_bucket) != offsetof(shm_bucket, guard)
               && memory->buckets[at / sizeof(shm_bucket)].guard == actor->self;
    }
    if (at < offsetof(model_memory, records)) {
        return false;
    }
    at -= offsetof(model_memory, records);
    if (memory->records[at / sizeof(shm_record)].owner == actor->self && actor->next_kind == 'l'
        && at % sizeof(shm_record) >= offsetof(shm_record, owner)
        && at % sizeof(shm_record) <= offsetof(shm_record, ticket)) {
        return true;
    }
    bucket = memory->records[at / sizeof(shm_record)].digest[0] & (model.bucket_count - 1);
    return memory->records[at / sizeof(shm_record)].state != SHM_FREE
           && memory->buckets[bucket].guard == actor->self;
}

static void model_come_back(model_actor *actor)
{
    actor->script = actor->again;
    actor->again = NULL;
    actor->was_dead = true;
    actor->life = MODEL_RUNS;
    model_begin_call(actor);
    snprintf(model.state->step, sizeof(model.state->step), "%td comes back",
             actor - model.state->actors);
}

static void model_visit(model_search_data *data, size_t depth);

/* A copy of the state at that depth, to be changed. */
static model_state *model_branch(model_search_data *data, size_t depth)
{
    if (depth + 2 >= data->room) {
        model_violate("the search has no end");
        depth--; /* nothing counts any more */
    }
    model.state = &data->stack[depth + 1];
    memcpy(model.state, &data->stack[depth], sizeof(*model.state));
    data->result.transitions++;
    return model.state;
}

static void model_branch_kills(model_search_data *data, size_t depth, int at)
{
    const model_state *state = &data->stack[depth];
    bool woke = false;

    /* Killed before a load is the same as killed behind it. */
    if (state->kills == 0 || state->actors[at].life == MODEL_IS_DEAD
        || (state->actors[at].life == MODEL_RUNS && state->actors[at].length > 0
            && state->actors[at].next_kind == 'l')
        || state->actors[at].life == MODEL_IS_DONE) {
        return;
    }
    for (int chosen = 0; chosen < MODEL_ACTORS && model.violation == NULL; chosen++) {
        model.state = &data->stack[depth];
        if (model_wakes_by_death(&state->actors[at], &state->actors[chosen])) {
            woke = true;
            model_kill(&model_branch(data, depth)->actors[at], chosen);
            data->result.deaths++;
            model_visit(data, depth + 1);
        }
    }
    if (!woke && model.violation == NULL) {
        model_kill(&model_branch(data, depth)->actors[at], -1);
        data->result.deaths++;
        model_visit(data, depth + 1);
    }
}

/* Nobody can take a step. */
static void model_stand_still(model_search_data *data, size_t depth)
{
    const model_state *state = &data->stack[depth];
    bool sleeps = false;

    for (int at = 0; at < MODEL_ACTORS; at++) {
        sleeps |= state->actors[at].life == MODEL_SLEEPS;
        if (state->actors[at].life == MODEL_IS_BLOCKED) {
            model_violate("%d waits for a guard without end", at);
        }
    }
    if (!sleeps) {
        data->result.ends++;
        model_branch(data, depth);
        model_check_end();
        return;
    }
    if (!state->is_messy || state->sliced) {
        model_violate("all sleep, and nobody will wake them");
        return;
    }
    model_branch(data, depth);
    model.state->sliced = true;
    snprintf(model.state->step, sizeof(model.state->step), "a slice is over");
    for (int at = 0; at < MODEL_ACTORS; at++) {
        if (model.state->actors[at].life == MODEL_SLEEPS) {
            model.state->actors[at].life = MODEL_RUNS;
        }
    }
    model_visit(data, depth + 1);
}

static void model_visit(model_search_data *data, size_t depth)
{
    model_state *state = &data->stack[depth];
    uint64_t hash = model_hash(state);
    bool moved = false;
    int alone = -1;

    if (model.violation == NULL && data->result.states < data->most && model_see(data, hash)) {
        data->result.states++;
        for (int at = 0; at < MODEL_ACTORS && model.violation == NULL; at++) {
            if (model_is_alone(state, &state->actors[at])) {
                alone = at;
            }
        }
        for (int at = 0; at < MODEL_ACTORS && model.violation == NULL; at++) {
            const model_actor *actor = &state->actors[at];

            if (alone >= 0 && at != alone) {
                continue;
            }
            if (model_can_step(state, actor)) {
                model_actor *mover = &model_branch(data, depth)->actors[at];

                moved = true;
                if (mover->life == MODEL_IS_DEAD) {
                    model_come_back(mover);
                } else {
                    model_step(mover);
                }
                model_visit(data, depth + 1);
            }
            if (actor->life == MODEL_SLEEPS && state->cancels > 0 && model_may_give_up(actor)
                && model.violation == NULL) {
                model_branch(data, depth);
                model.state->cancels--;
                model.state->actors[at].life = MODEL_RUNS;
                model.state->actors[at].gives_up = true;
                snprintf(model.state->step, sizeof(model.state->step), "%d gives up", at);
                model_visit(data, depth + 1);
            }
            if (alone < 0 && model.violation == NULL) {
                model_branch_kills(data, depth, at);
            }
        }
        if (!moved && model.violation == NULL) {
            model_stand_still(data, depth);
        }
        *model_find(data->seen, data->seen_room, hash) &= ~MODEL_ON_THE_WAY;
    }
    if (model.violation != NULL && model.tells) {
        fprintf(stderr, "  %4zu %s\n", depth, state->step);
    }
}

static void model_begin(model_state *state, const model_scenario *scenario)
{
    memset(state, 0, sizeof(*state));
    model.state = state;
    model.bucket_count = scenario->one_bucket ? 1 : MODEL_BUCKETS;
    model.violation = NULL;
    state->kills = scenario->kills;
    state->cancels = scenario->cancels;
    snprintf(model_again, sizeof(model_again), MODEL_COMES_BACK "%s",
             scenario->again != NULL ? scenario->again : "");
    for (uint8_t at = 0; at < MODEL_ACTORS; at++) {
        model_actor *actor = &state->actors[at];

        *actor = (model_actor){.index = at, .script = scenario->scripts[at]};
        actor->life = *actor->script == '\0' ? MODEL_IS_DONE : MODEL_RUNS;
        actor->again = scenario->again != NULL ? model_again : NULL;
        actor->self = UINT64_C(1) << SHM_PLACE_BITS | at;
        state->memory.participants[at].generation = 1;
        state->memory.participants[at].life[0] = at + 1u;
        state->memory.chunks[at] = actor->self;
        if (actor->life == MODEL_RUNS) {
            model_begin_call(actor);
        }
    }
}

/* Searches so many states at most. */
static model_result model_search(const model_scenario *scenario, size_t most)
{
    model_search_data data = {.room = 4000, .seen_room = 1 << 16, .most = most};

    data.stack = malloc(data.room * sizeof(*data.stack));
    data.seen = calloc(data.seen_room, sizeof(*data.seen));
    model_begin(&data.stack[0], scenario);
    model_visit(&data, 0);
    free(data.stack);
    free(data.seen);
    data.result.violation = model.violation;
    return data.result;
}

#endif
