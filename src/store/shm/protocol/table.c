/*
 * Buckets: their guards, and the chains of records, which are an index that a participant may leave
 * half changed when it dies. Whoever takes the guard over builds the chain anew from the records.
 */
#include "src/store/shm/protocol/shm.h"

/* ---- Chains */

void latch_shm_unlink(shm_cursor *cursor)
{
    latch_shm_store32(cursor->link, latch_shm_load32(&cursor->record->next));
    latch_shm_arrive(cursor);
}

void latch_shm_bury(shm_cursor *cursor)
{
    shm_record *record = cursor->record;

    latch_shm_unlink(cursor);
    latch_shm_store32(&record->state, SHM_FREE);
}

void latch_shm_link(const shm_map *map, uint32_t bucket, uint32_t index)
{
    shm_word *head = &map->buckets[bucket].head;

    latch_shm_store32(&map->records[index].next, latch_shm_load32(head));
    latch_shm_store32(head, index + 1);
}

/* ---- Guards */

void latch_shm_add_wake(const shm_map *map, shm_wakes *wakes, uint32_t index)
{
    if (wakes->count < sizeof(wakes->records) / sizeof(wakes->records[0])) {
        wakes->records[wakes->count++] = index;
    } else {
        latch_shm_wake(&map->records[index].state, 1);
    }
}

/* A record of the bucket, linked or not. Its owner changes the digest under the guard alone, or
 * while it is free. */
static bool shm_belongs(const shm_map *map, uint32_t bucket, const shm_record *record)
{
    uint32_t state = latch_shm_load32(&record->state);

    return state != SHM_FREE && state != SHM_EVICTED
           && latch_shm_bucket_of(map, latch_shm_load64(&record->digest[0])) == bucket;
}

/* Links the records of the living, and frees those of the dead. */
static void shm_rebuild_chain(const shm_map *map, uint32_t bucket)
{
    latch_shm_store32(&map->buckets[bucket].head, 0);
    for (uint32_t chunk = 0; chunk < map->chunk_count; chunk++) {
        if (latch_shm_load64(&map->chunks[chunk]) == 0) {
            continue; /* never used */
        }
        for (uint32_t at = 0; at < SHM_CHUNK_RECORDS; at++) {
            uint32_t index = chunk * SHM_CHUNK_RECORDS + at;
            shm_record *record = &map->records[index];

            if (!shm_belongs(map, bucket, record)) {
                continue;
            }
            if (latch_shm_is_alive(map, latch_shm_load64(&record->owner))) {
                latch_shm_link(map, bucket, index);
            } else {
                latch_shm_store32(&record->state, SHM_FREE);
            }
        }
    }
}

/*
 * The dead one may have freed a lock without granting it to the next, or have granted it without
 * waking.
 */
static shm_result shm_rebuild(const shm_user *user, uint32_t bucket)
{
    const shm_map *map = &user->map;
    shm_wakes wakes = {0};
    shm_cursor cursor;

    shm_rebuild_chain(map, bucket);
    for (cursor = latch_shm_first(map, bucket); cursor.record != NULL; latch_shm_next(&cursor)) {
        uint32_t state = latch_shm_load32(&cursor.record->state);
        uint64_t digest[2];

        if (latch_shm_is_held_state(state)) {
            latch_shm_wake(&cursor.record->state, 1);
            continue;
        }
        digest[0] = latch_shm_load64(&cursor.record->digest[0]);
        digest[1] = latch_shm_load64(&cursor.record->digest[1]);
        latch_shm_grant(user, bucket, digest, &wakes);
    }
    for (uint32_t at = 0; at < wakes.count; at++) {
        latch_shm_wake(&map->records[wakes.records[at]].state, 1);
    }
    return cursor.is_corrupt ? SHM_CORRUPT : SHM_DONE;
}

shm_result latch_shm_enter(const shm_user *user, uint32_t bucket)
{
    shm_long *guard = &user->map.buckets[bucket].guard;

    for (uint32_t attempt = 0;; attempt++) {
        uint64_t owner = 0;

        latch_shm_retry_point();
        if (latch_shm_cas64(guard, &owner, user->self)) {
            return SHM_DONE;
        }
        if (!latch_shm_is_alive(&user->map, owner)) {
            if (latch_shm_cas64(guard, &owner, user->self)) {
                return shm_rebuild(user, bucket);
            }
        } else if (!latch_shm_pause(attempt)) {
            return SHM_STUCK;
        }
    }
}

void latch_shm_leave(const shm_user *user, uint32_t bucket, shm_wakes *wakes)
{
    latch_shm_store64(&user->map.buckets[bucket].guard, 0);
    for (uint32_t at = 0; at < wakes->count; at++) {
        latch_shm_wake(&user->map.records[wakes->records[at]].state, 1);
    }
}
