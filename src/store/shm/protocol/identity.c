/* Lives of participants: identities, places, and the chunks of records that they own. */
#include "src/store/shm/protocol/shm.h"

shm_word *latch_shm_life(const shm_map *map, uint32_t place)
{
    shm_participant *participant = &map->participants[place];
    uint32_t offset = latch_shm_load32(&participant->life_offset);

    return offset % sizeof(shm_word) == 0 && offset < sizeof(participant->life)
               ? (shm_word *) (void *) ((char *) participant->life + offset)
               : NULL;
}

/* The generation is read on both sides of the life word: another participant may take the place in
 * between. */
bool latch_shm_is_alive(const shm_map *map, uint64_t identity)
{
    uint32_t place = latch_shm_place_of(identity);
    uint64_t generation = identity >> SHM_PLACE_BITS;
    const shm_word *life;
    uint32_t value;

    if (place >= map->participant_count
        || latch_shm_load64(&map->participants[place].generation) != generation) {
        return false;
    }
    life = latch_shm_life(map, place);
    value = life != NULL ? latch_shm_load32(life) : 0;
    return (value & SHM_LIFE_OWNER) != 0 && (value & SHM_LIFE_DIED) == 0
           && latch_shm_load64(&map->participants[place].generation) == generation;
}

uint64_t latch_shm_take_place(const shm_map *map, uint32_t place)
{
    shm_participant *participant = &map->participants[place];
    uint64_t generation = latch_shm_load64(&participant->generation);

    if (latch_shm_is_alive(map, generation << SHM_PLACE_BITS | place)) {
        return 0;
    }
    generation++; /* whatever the former one has left is a dead one's from here on */
    latch_shm_store64(&participant->generation, generation);
    return generation << SHM_PLACE_BITS | place;
}

void latch_shm_retire(const shm_map *map, uint64_t identity)
{
    uint64_t generation = identity >> SHM_PLACE_BITS;
    uint32_t place = latch_shm_place_of(identity);
    shm_word *life = latch_shm_life(map, place);
    uint32_t value = life != NULL ? latch_shm_load32(life) : 0;

    if (latch_shm_cas64(&map->participants[place].generation, &generation, generation + 1)
        && life != NULL) {
        latch_shm_cas32(life, value, SHM_LIFE_DIED); /* the place may be taken again */
        latch_shm_wake(life, INT32_MAX);
    }
}

/* Frees a record that a dead owner has left in a chunk. */
static shm_result shm_clear(const shm_user *user, uint32_t index)
{
    const shm_map *map = &user->map;
    shm_record *record = &map->records[index];
    uint64_t digest[2] = {latch_shm_load64(&record->digest[0]),
                          latch_shm_load64(&record->digest[1])};
    uint32_t bucket = latch_shm_bucket_of(map, digest[0]);
    shm_wakes wakes = {0};
    shm_result result = latch_shm_enter(user, bucket);
    shm_cursor cursor;

    if (result == SHM_STUCK) {
        return result;
    }
    if (latch_shm_load32(&record->state) != SHM_FREE) { /* not buried meanwhile */
        cursor = latch_shm_first(map, bucket);
        while (cursor.record != NULL && cursor.record != record) {
            latch_shm_next(&cursor);
        }
        if (cursor.record != NULL) {
            latch_shm_unlink(&cursor);
        }
        latch_shm_store32(&record->state, SHM_FREE);
        result = latch_shm_grant(user, bucket, digest, &wakes);
    }
    latch_shm_leave(user, bucket, &wakes);
    return result;
}

shm_result latch_shm_claim(const shm_user *user, uint32_t chunk)
{
    const shm_map *map = &user->map;
    uint64_t owner = latch_shm_load64(&map->chunks[chunk]);
    shm_result result = SHM_DONE;

    if (owner != 0 && latch_shm_is_alive(map, owner)) {
        return SHM_CONFLICT;
    }
    if (!latch_shm_cas64(&map->chunks[chunk], &owner, user->self)) {
        return SHM_CONFLICT;
    }
    for (uint32_t at = 0; at < SHM_CHUNK_RECORDS && result == SHM_DONE; at++) {
        uint32_t index = chunk * SHM_CHUNK_RECORDS + at;

        if (latch_shm_load32(&map->records[index].state) != SHM_FREE) {
            result = shm_clear(user, index);
        }
    }
    return result;
}
