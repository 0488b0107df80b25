/*
 * The protocol of the shared memory store as a model that can be searched: its own sources
 * (src/store/shm/protocol), compiled with a scheduler in place of the memory. Included by one
 * program.
 *
 * Every access to shared memory is a step. A participant's call is a function of the values that
 * its accesses have returned; so a state of the search keeps these values, and a step calls the
 * function from its beginning, hands the values out again, carries the next access out, and leaves
 * by longjmp(). Memory is sequentially consistent here.
 *
 * A script is a list of words of two letters: what, and on which resource, "a" or "b".
 *
 *     x  acquires exclusively, waits         X  the same, without waiting: releases if it got it
 *     s  acquires shared, waits              S  the same, without waiting
 *     r  releases                            d  demotes
 *     p  promotes, waits                     P  promotes without waiting
 *     c  acquires exclusively, waits, and may give up at any time: releases if it got it
 *     C  the same, shared
 *     w  as c, but it cannot enter the bucket again: it abandons its record, whatever it got
 *     e  takes the lock away from whoever holds it exclusively
 *
 * A participant that was killed may come back with a script of its own: it takes a dead place and
 * the dead one's chunk of records first.
 */
#ifndef SHM_MODEL_H
#define SHM_MODEL_H

#define LATCH_SHM_MODEL
#define SHM_CHUNK_RECORDS 2u

#include "src/store/shm/protocol/grant.c"
#include "src/store/shm/protocol/identity.c"
#include "src/store/shm/protocol/lock.c"
#include "src/store/shm/protocol/table.c"
#include "src/store/shm/protocol/wait.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MODEL_ACTORS = 3,
    MODEL_PLACES = MODEL_ACTORS + 1, /* the last one is of the check behind each end */
    MODEL_RECORDS = MODEL_PLACES * SHM_CHUNK_RECORDS,
    MODEL_BUCKETS = 2,
    MODEL_RESOURCES = 2,
    MODEL_LOG = 1000,
};

typedef enum {
    MODEL_RUNS,
    MODEL_IS_BLOCKED,
    MODEL_SLEEPS,
    MODEL_IS_DEAD,
    MODEL_IS_DONE
} model_life;

/* What a call of the script is at. */
typedef enum { MODEL_AT_REQUEST, MODEL_AT_WAIT, MODEL_AT_END, MODEL_AT_UNDO } model_stage;

typedef struct model_actor {
    const char *script; /* the rest of it */
    const char *again;  /* what it does when it comes back; NULL: it stays dead */
    uint64_t self, hash, hash_at_mark;
    uint8_t life, stage, index; /* index: of the actor whose chunk it has */
    bool gives_up, was_dead;
    uint8_t holds[MODEL_RESOURCES]; /* as it believes: enum shm_state */
    uint16_t length, mark;
    uint64_t blocked_by;
    uint32_t blocked_at;
    uint16_t watches[SHM_WATCHES_MAX]; /* offsets of words in the shared memory */
    uint8_t watch_count;
    char next_kind;          /* the access that it takes next: 'l', 's' or 'x'; 0: not known */
    uint16_t next_offset;    /* of its word */
    uint32_t log[MODEL_LOG]; /* values of the call so far; up to `length` */
} model_actor;

typedef struct model_memory {
    shm_participant participants[MODEL_PLACES];
    shm_bucket buckets[MODEL_BUCKETS];
    shm_long chunks[MODEL_PLACES];
    shm_record records[MODEL_RECORDS];
} model_memory;

typedef struct model_state {
    model_memory memory;
    uint64_t memory_hash;
    uint64_t last_fence[MODEL_RESOURCES];
    uint8_t kills, cancels;
    bool is_messy; /* a participant died in the middle of a call: sleepers may need their slice */
    bool sliced;   /* all have slept to the end of a slice, and nothing was granted since */
    model_actor actors[MODEL_ACTORS];
    char step[96]; /* that led here */
} model_state;

typedef struct model_scenario {
    const char *scripts[MODEL_ACTORS];
    const char *again; /* of whoever was killed */
    uint8_t kills, cancels;
    bool one_bucket;
} model_scenario;

typedef struct model_result {
    size_t states, transitions, ends, deaths;
    const char *violation; /* NULL: none */
} model_result;

/* ---- The state that is stepped -------------------------------------------------------------- */

static struct {
    model_state *state;
    model_actor *actor; /* NULL: accesses are carried out at once */
    uint32_t at;        /* in its log */
    bool stepped;
    jmp_buf out;
    const char *violation;
    char text[256];
    uint32_t bucket_count;
    bool tells;
} model;

static uint64_t model_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static void model_violate(const char *format, ...)
{
    va_list arguments;

    if (model.violation == NULL) {
        va_start(arguments, format);
        vsnprintf(model.text, sizeof(model.text), format, arguments);
        va_end(arguments);
        model.violation = model.text;
    }
}

static uint16_t model_offset(const void *word)
{
    return (uint16_t) ((const char *) word - (const char *) &model.state->memory);
}

static shm_user model_user(uint64_t self)
{
    model_memory *memory = &model.state->memory;

    return (shm_user){
        .map = {memory->participants, memory->buckets, memory->chunks, memory->records,
                MODEL_PLACES, model.bucket_count, MODEL_PLACES, MODEL_RECORDS},
        .self = self,
    };
}

static bool model_is_alive(uint64_t identity)
{
    const shm_participant *participant =
        &model.state->memory.participants[latch_shm_place_of(identity)];
    uint32_t life = (uint32_t) participant->life[0];

    return participant->generation == identity >> SHM_PLACE_BITS && (life & SHM_LIFE_OWNER) != 0
           && (life & SHM_LIFE_DIED) == 0;
}

static void model_describe(const char *what, const void *word, uint64_t value)
{
    const model_memory *memory = &model.state->memory;
    size_t at = model_offset(word);
    const char *part = "?";
    size_t number = 0, field = 0;

    if (!model.tells) {
        return;
    }
    if (at < offsetof(model_memory, buckets)) {
        part = "participant", number = at / sizeof(shm_participant);
        field = at % sizeof(shm_participant);
    } else if (at < offsetof(model_memory, chunks)) {
        at -= offsetof(model_memory, buckets);
        part = "bucket", number = at / sizeof(shm_bucket), field = at % sizeof(shm_bucket);
    } else if (at < offsetof(model_memory, records)) {
        at -= offsetof(model_memory, chunks);
        part = "chunk", number = at / sizeof(shm_long);
    } else {
        at -= offsetof(model_memory, records);
        part = "record", number = at / sizeof(shm_record), field = at % sizeof(shm_record);
    }
    (void) memory;
    snprintf(model.state->step, sizeof(model.state->step), "%zd: %s %s %zu+%zu = 0x%llx",
             model.actor != NULL ? model.actor - model.state->actors : -1, what, part, number,
             field, (unsigned long long) value);
}

/* ---- What must hold at a store */

static void model_check_grant(const shm_record *record, uint32_t before, uint32_t state)
{
    const model_memory *memory = &model.state->memory;
    uint64_t resource = record->digest[1];

    for (size_t at = 0; at < MODEL_RECORDS; at++) {
        const shm_record *other = &memory->records[at];
        bool is_exclusive = state == SHM_HELD_EXCLUSIVE || other->state == SHM_WAITS_EXCLUSIVE;

        if (other != record && latch_shm_is_waiting_state(other->state) && !other->is_abandoned
            && other->digest[1] == resource && model_is_alive(other->owner) && is_exclusive
            && (before == SHM_FREE
                || (latch_shm_is_waiting_state(before) && other->ticket < record->ticket))) {
            model_violate("record %zu overtakes record %zu", (size_t) (record - memory->records),
                          at);
        }
    }
    if (state == SHM_HELD_EXCLUSIVE) {
        if (record->fence <= model.state->last_fence[resource]) {
            model_violate("the fence %llu comes twice", (unsigned long long) record->fence);
        }
        model.state->last_fence[resource] = record->fence;
    }
    model.state->sliced = false;
}

/* 0 for 0: of memory that was never written. */
static uint64_t model_word_hash(size_t offset, uint64_t value)
{
    return value != 0 ? model_mix(model_mix(1, offset), value) : 0;
}

static void model_set(void *word, size_t size, uint64_t value)
{
    model_memory *memory = &model.state->memory;
    uint64_t before = size == 4 ? *(uint32_t *) word : *(uint64_t *) word;
    uint16_t offset = model_offset(word);

    model.state->memory_hash ^= model_word_hash(offset, before) ^ model_word_hash(offset, value);
    if (size == 4) {
        *(uint32_t *) word = (uint32_t) value;
    } else {
        *(uint64_t *) word = value;
    }
    if (offset >= offsetof(model_memory, records)
        && (offset - offsetof(model_memory, records)) % sizeof(shm_record) == 0
        && latch_shm_is_held_state((uint32_t) value) && before != SHM_HELD_EXCLUSIVE) {
        model_check_grant(
            &memory->records[(offset - offsetof(model_memory, records)) / sizeof(shm_record)],
            (uint32_t) before, (uint32_t) value);
    }
}

/* ---- Steps */

/* True: the value is an old one, from the log. Otherwise this is the step to be taken, or one too
 * many: then the call is left. */
static bool model_replays(uint64_t *value, const void *word, char kind)
{
    model_actor *actor = model.actor;

    if (actor == NULL) {
        return false;
    }
    if (model.at < actor->length) {
        *value = actor->log[model.at++];
        return true;
    }
    if (model.stepped) {
        actor->next_kind = kind;
        actor->next_offset = model_offset(word);
        longjmp(model.out, 1);
    }
    model.stepped = true;
    return false;
}

static void model_log(uint64_t value)
{
    model_actor *actor = model.actor;

    if (actor == NULL) {
        return;
    }
    if (actor->length == MODEL_LOG || value > UINT32_MAX) {
        fprintf(stderr, "the log of a call is too small\n");
        abort();
    }
    actor->log[actor->length++] = (uint32_t) value;
    actor->hash = model_mix(actor->hash, value);
    model.at = actor->length;
}

uint32_t latch_shm_load32(const shm_word *word)
{
    uint64_t value;

    if (!model_replays(&value, (const void *) word, 'l')) {
        value = *(const uint32_t *) (const void *) word;
        model_describe("load", word, value);
        model_log(value);
    }
    return (uint32_t) value;
}

uint64_t latch_shm_load64(const shm_long *word)
{
    uint64_t value;

    if (!model_replays(&value, (const void *) word, 'l')) {
        value = *(const uint64_t *) (const void *) word;
        model_describe("load", word, value);
        model_log(value);
    }
    return value;
}

void latch_shm_store32(shm_word *word, uint32_t value)
{
    uint64_t unused;

    if (!model_replays(&unused, (const void *) word, 's')) {
        model_describe("store", word, value);
        model_set((void *) word, 4, value);
        model_log(0);
    }
}

void latch_shm_store64(shm_long *word, uint64_t value)
{
    uint64_t unused;

    if (!model_replays(&unused, (const void *) word, 's')) {
        model_describe("store", word, value);
        model_set((void *) word, 8, value);
        model_log(0);
    }
}

bool latch_shm_cas32(shm_word *word, uint32_t expected, uint32_t value)
{
    uint64_t done;

    if (!model_replays(&done, (const void *) word, 'x')) {
        done = *(uint32_t *) (void *) word == expected;
        model_describe(done ? "swap" : "swap not", word, value);
        if (done) {
            model_set((void *) word, 4, value);
        }
        model_log(done);
    }
    return done;
}

/* Two values: the one that was found is enough, as it tells whether it was the expected one. */
bool latch_shm_cas64(shm_long *word, uint64_t *expected, uint64_t value)
{
    uint64_t found;
    bool done;

    if (!model_replays(&found, (const void *) word, 'x')) {
        found = *(uint64_t *) (void *) word;
        model_describe(found == *expected ? "swap" : "swap not", word, value);
        if (found == *expected) {
            model_set((void *) word, 8, value);
        }
        model_log(found);
    }
    done = found == *expected;
    *expected = found;
    return done;
}

void latch_shm_retry_point(void)
{
    if (model.actor != NULL && model.at == model.actor->length) {
        model.actor->mark = model.actor->length;
        model.actor->hash_at_mark = model.actor->hash;
    }
}

/* The attempt is begun anew when the guard has another value, or its owner has died. */
bool latch_shm_pause(uint32_t attempt)
{
    model_actor *actor = model.actor;

    (void) attempt;
    if (actor == NULL) {
        model_violate("the guard has a living owner behind all");
        return false;
    }
    /* The first value behind the mark is what the guard was. */
    actor->blocked_by = actor->log[actor->mark];
    actor->length = actor->mark;
    actor->hash = actor->hash_at_mark;
    actor->life = MODEL_IS_BLOCKED;
    actor->next_kind = 0;
    longjmp(model.out, 1);
}

static bool model_watches(const model_actor *actor, uint16_t offset)
{
    for (size_t at = 0; actor->life == MODEL_SLEEPS && at < actor->watch_count; at++) {
        if (actor->watches[at] == offset) {
            return true;
        }
    }
    return false;
}

void latch_shm_wake(shm_word *word, int count)
{
    uint64_t unused;

    if (model_replays(&unused, (const void *) word, 'x')) {
        return;
    }
    model_describe("wake", word, (uint64_t) count);
    for (size_t at = 0; at < MODEL_ACTORS && count > 0; at++) {
        if (model_watches(&model.state->actors[at], model_offset(word))) {
            model.state->actors[at].life = MODEL_RUNS;
            count--;
        }
    }
    model_log(0);
}

void latch_shm_sleep(const shm_watched *watched, uint32_t count, int64_t timeout_ns)
{
    model_actor *actor = model.actor;
    bool changed = false;
    uint64_t unused;

    (void) timeout_ns;
    if (model_replays(&unused, (const void *) watched[0].word, 'x')) {
        return;
    }
    actor->watch_count = (uint8_t) count;
    for (uint32_t at = 0; at < count; at++) {
        changed |= *(uint32_t *) (void *) watched[at].word != watched[at].value;
        actor->watches[at] = model_offset(watched[at].word);
    }
    model_describe(changed ? "sleep not" : "sleep", watched[0].word, watched[0].value);
    actor->life = changed ? MODEL_RUNS : MODEL_SLEEPS;
    model_log(0);
}

#endif
