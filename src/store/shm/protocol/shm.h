/*
 * Inside the store of shared memory: the layout of the file, and the protocol by which processes
 * share it (identity.c, table.c, grant.c, lock.c, wait.c), which makes system calls through futex.c
 * alone.
 *
 * - A participant is a thread that locks. Its identity is a generation and the place that it has in
 *   the file. It is alive while the generation of the place is its own and the place's life word, a
 *   robust mutex that it holds, is not marked by the kernel.
 * - A record is what one lease holds or waits for. Records are the truth: chains are an index of
 *   them, and are rebuilt when a participant has died in the middle of a change.
 * - A bucket has a guard: the identity of the participant that is changing the locks in it. The
 *   guard of a dead one is taken over.
 *
 * Every store into the file is a safe place to die: a record is filled before its state makes it
 * count, it counts before it is in the chain, and it leaves the chain before it is free.
 */
#ifndef LATCH_SHM_H
#define LATCH_SHM_H

#include "src/store/shm/protocol/word.h"

#include <stddef.h>

/* Low bits of an identity: the place. The rest is the generation, which never comes again. */
#define SHM_PLACE_BITS 12
#define SHM_PLACES_MAX (1u << SHM_PLACE_BITS)

#ifndef SHM_CHUNK_RECORDS
#define SHM_CHUNK_RECORDS 32u
#endif
#define SHM_NAME_MAX 64
#define SHM_NOTE_MAX 320 /* LATCH_HOLDER_INFO_MAX and a NUL */

enum shm_state {
    SHM_FREE = 0,
    SHM_WAITS_SHARED,
    SHM_WAITS_EXCLUSIVE,
    SHM_HELD_SHARED,
    SHM_HELD_EXCLUSIVE,
    SHM_PROMOTES, /* held shared, and waits to be alone */
    SHM_EVICTED,  /* was held, until it was taken away: in no chain */
};

typedef struct shm_participant {
    shm_long generation;
    shm_word life_offset; /* of the life word, in `life` */
    shm_word process;     /* its process ID in its own namespace, */
    shm_long namespace;   /* which has this inode; 0: unknown */
    shm_word has_witness; /* holds a lock on the byte of its place */
    shm_word waits_for;   /* 1 + the record by which it waits without end; 0: it does not */
    shm_long unused[4];
    shm_long life[8];
    shm_long note[SHM_NOTE_MAX / sizeof(uint64_t)]; /* a text */
    shm_long padding[8];
} shm_participant;

typedef struct shm_bucket {
    shm_long guard;
    shm_word head; /* 1 + a record's index; 0: the chain is empty */
    shm_word unused;
    shm_long ticket; /* the last one of a record in this bucket */
    shm_long fence;  /* the number of exclusive grants so far */
    shm_long padding[4];
} shm_bucket;

typedef struct shm_record {
    shm_word state; /* its owner sleeps on it */
    shm_word next;  /* as shm_bucket.head */
    shm_long owner;
    shm_long digest[2];
    shm_long ticket; /* position in the queue, and the number of this hold in the bucket */
    shm_long fence;
    shm_long since_ns;     /* CLOCK_MONOTONIC_COARSE */
    shm_word name_length;  /* of the whole resource */
    shm_word is_abandoned; /* its owner, who lives, could not enter the bucket to end it */
    shm_long name[SHM_NAME_MAX / sizeof(uint64_t)]; /* first bytes of the resource */
} shm_record;

_Static_assert(sizeof(shm_participant) == 512, "the layout is the same for all programs");
_Static_assert(sizeof(shm_bucket) == 64, "a bucket has a cache line of its own");
_Static_assert(sizeof(shm_record) == 128, "a record has two cache lines");

/* The mapped file. Numbers are checked copies: those in the file may change. */
typedef struct shm_map {
    shm_participant *participants;
    shm_bucket *buckets;
    shm_long *chunks; /* identities of their owners */
    shm_record *records;
    uint32_t participant_count, bucket_count, chunk_count, record_count; /* buckets: 2^n */
} shm_map;

/* A participant that uses the file. */
typedef struct shm_user {
    shm_map map;
    uint64_t self;
} shm_user;

typedef enum shm_result {
    SHM_DONE = 0,
    SHM_CONFLICT,
    SHM_WAITING,
    SHM_STUCK,   /* the guard's owner lives, and has not moved for long */
    SHM_CORRUPT, /* an index or a chain that cannot be */
} shm_result;

typedef struct shm_request {
    uint64_t digest[2];
    bool exclusive, waits;
    const char *name;
    uint32_t name_length;
    int64_t since_ns;
} shm_request;

/* A record in the way of another one, in a hold or a wait that has this ticket. */
typedef struct shm_blocker {
    uint64_t owner, ticket;
    uint32_t index;
} shm_blocker;

#define SHM_BLOCKERS_MAX 64

/* The blockers of a waiting record: holders, and waiters before it, in the order of the chain. */
typedef struct shm_view {
    uint64_t ticket;
    uint32_t state; /* SHM_FREE: no record of this resource any more */
    uint32_t count;
    shm_blocker blockers[SHM_BLOCKERS_MAX];
} shm_view;

/* ---- identity.c: lives, places, chunks ------------------------------------------------------ */

static inline uint32_t latch_shm_place_of(uint64_t identity)
{
    return (uint32_t) identity & (SHM_PLACES_MAX - 1);
}

/* The life word; NULL: no such place, or the file is corrupt. */
shm_word *latch_shm_life(const shm_map *map, uint32_t place);
bool latch_shm_is_alive(const shm_map *map, uint64_t identity);
/* Gives a dead place its next generation, and returns the new identity, which is not alive yet.
 * Callers take turns. 0: a live participant has the place. */
uint64_t latch_shm_take_place(const shm_map *map, uint32_t place);
/* Ends the life of a participant that is known to be dead, though its life word is not marked. */
void latch_shm_retire(const shm_map *map, uint64_t identity);
/* Makes a chunk without a living owner the user's, and frees all records in it. SHM_CONFLICT:
 * another one has it. */
shm_result latch_shm_claim(const shm_user *user, uint32_t chunk);

/* ---- table.c: guards and chains ------------------------------------------------------------- */

/* Records whose owners are to be woken when the guard is out. */
typedef struct shm_wakes {
    uint32_t count;
    uint32_t records[16];
} shm_wakes;

/* A position in a chain. */
typedef struct shm_cursor {
    const shm_map *map;
    shm_word *link;     /* leads to the record */
    shm_record *record; /* NULL: the end */
    uint32_t index, left;
    bool is_corrupt;
} shm_cursor;

static inline uint32_t latch_shm_bucket_of(const shm_map *map, uint64_t digest)
{
    return (uint32_t) digest & (map->bucket_count - 1);
}

/* Takes the guard of a bucket, from a dead owner as well: then the chain is rebuilt. */
shm_result latch_shm_enter(const shm_user *user, uint32_t bucket);
/* Gives it back, and wakes. */
void latch_shm_leave(const shm_user *user, uint32_t bucket, shm_wakes *wakes);
static inline void latch_shm_arrive(shm_cursor *cursor)
{
    uint32_t number = latch_shm_load32(cursor->link);

    cursor->record = NULL;
    if (number == 0) {
        return;
    }
    /* A chain that is a circle has no end: it has more members than there are records. */
    if (number > cursor->map->record_count || cursor->left == 0) {
        cursor->is_corrupt = true;
        return;
    }
    cursor->left--;
    cursor->index = number - 1;
    cursor->record = &cursor->map->records[cursor->index];
}

static inline shm_cursor latch_shm_first(const shm_map *map, uint32_t bucket)
{
    shm_cursor cursor = {.map = map, .link = &map->buckets[bucket].head, .left = map->record_count};

    latch_shm_arrive(&cursor);
    return cursor;
}

static inline void latch_shm_next(shm_cursor *cursor)
{
    cursor->link = &cursor->record->next;
    latch_shm_arrive(cursor);
}

/* Takes the record out of the chain; the cursor is at the next one. */
void latch_shm_unlink(shm_cursor *cursor);
/* The same, and frees it. */
void latch_shm_bury(shm_cursor *cursor);
void latch_shm_link(const shm_map *map, uint32_t bucket, uint32_t index);
void latch_shm_add_wake(const shm_map *map, shm_wakes *wakes, uint32_t index);

static inline bool latch_shm_is_of(const shm_record *record, const uint64_t digest[2])
{
    return latch_shm_load64(&record->digest[0]) == digest[0]
           && latch_shm_load64(&record->digest[1]) == digest[1];
}

/* ---- grant.c -------------------------------------------------------------------------------- */

/* What is in the records of one resource, behind the burial of the dead. */
typedef struct shm_tally {
    uint32_t holders; /* those that promote included */
    bool is_exclusive, is_corrupt;
    uint32_t promotes, first; /* 1 + index: the one that promotes; the first in the queue */
} shm_tally;

static inline bool latch_shm_is_held_state(uint32_t state)
{
    return state == SHM_HELD_SHARED || state == SHM_HELD_EXCLUSIVE;
}

static inline bool latch_shm_is_waiting_state(uint32_t state)
{
    return state == SHM_WAITS_SHARED || state == SHM_WAITS_EXCLUSIVE;
}

/* A record of nobody's: whoever finds it buries it. */
static inline bool latch_shm_is_dead(const shm_user *user, const shm_record *record)
{
    uint64_t owner = latch_shm_load64(&record->owner);

    return latch_shm_load32(&record->is_abandoned) != 0
           || (owner != user->self && !latch_shm_is_alive(&user->map, owner));
}

/* All under the guard. */
shm_tally latch_shm_count(const shm_user *user, uint32_t bucket, const uint64_t digest[2]);
void latch_shm_hold_exclusively(const shm_map *map, uint32_t bucket, shm_record *record);
/* Grants whatever can be granted of this digest, and buries the dead. */
shm_result latch_shm_grant(const shm_user *user, uint32_t bucket, const uint64_t digest[2],
                           shm_wakes *wakes);

/* ---- lock.c: what a lease does -------------------------------------------------------------- */

/* Access to the bucket of a record that is not free. */
typedef struct shm_change {
    uint32_t bucket;
    uint64_t digest[2];
    shm_wakes wakes;
} shm_change;

shm_result latch_shm_begin_change(const shm_user *user, uint32_t index, shm_change *change);

/*
 * Whether a record, of any owner's, is still of the resource whose bucket was entered. Its state is
 * read first: a record that is not free has a complete digest.
 */
static inline bool latch_shm_is_still_of(const shm_record *record, const shm_change *change)
{
    return latch_shm_load32(&record->state) != SHM_FREE && latch_shm_is_of(record, change->digest);
}

/* Acquires by a free record of the user's; SHM_WAITING: it is in the queue. */
shm_result latch_shm_request(const shm_user *user, uint32_t index, const shm_request *request);
/* Ends a hold or a wait: the record is free. SHM_CONFLICT: it had been evicted. */
shm_result latch_shm_release(const shm_user *user, uint32_t index);
/* The same without the guard, for SHM_STUCK: whoever enters the bucket next frees the record, which
 * its owner may not use until then. Nobody is woken. */
void latch_shm_abandon(const shm_user *user, uint32_t index);
/* Makes a shared hold exclusive; SHM_WAITING: when the other holders have gone. */
shm_result latch_shm_promote(const shm_user *user, uint32_t index, bool waits);
/* Makes an exclusive hold shared, or ends the wait of a promotion. */
shm_result latch_shm_demote(const shm_user *user, uint32_t index);
/* Takes a hold away from its owner; SHM_CONFLICT: that hold is over. */
shm_result latch_shm_evict(const shm_user *user, uint32_t index, uint64_t ticket);

/* ---- wait.c --------------------------------------------------------------------------------- */

/* The blockers of a record, of any owner's. Grants what can be granted. */
shm_result latch_shm_look(const shm_user *user, uint32_t index, shm_view *view);
/* Waits until the record is held, for so long at most: SHM_WAITING. */
shm_result latch_shm_wait(const shm_user *user, uint32_t index, int64_t timeout_ns);

/* ---- futex.c: the kernel -------------------------------------------------------------------- */

#define SHM_WATCHES_MAX 8

typedef struct shm_watched {
    shm_word *word;
    uint32_t value; /* sleeps only while the word has this value */
} shm_watched;

void latch_shm_sleep(const shm_watched *watched, uint32_t count, int64_t timeout_ns);
void latch_shm_wake(shm_word *word, int count);
/* A moment's pause in the nth attempt to take a guard; false: it has taken too long. */
bool latch_shm_pause(uint32_t attempt);

/* Bits of a life word: linux/futex.h. */
#define SHM_LIFE_WAITERS 0x80000000u
#define SHM_LIFE_DIED 0x40000000u
#define SHM_LIFE_OWNER 0x3fffffffu

#endif
