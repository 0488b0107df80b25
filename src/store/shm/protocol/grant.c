/*
 * Granting: the one procedure by which a record that waits becomes one that holds. Whoever ends a
 * hold or a wait runs it, and whoever finds a dead holder or waiter.
 */
#include "src/store/shm/protocol/shm.h"

/* The fencing token is in the record before the state makes it count. */
void latch_shm_hold_exclusively(const shm_map *map, uint32_t bucket, shm_record *record)
{
    uint64_t fence = latch_shm_load64(&map->buckets[bucket].fence) + 1;

    latch_shm_store64(&map->buckets[bucket].fence, fence);
    latch_shm_store64(&record->fence, fence);
    latch_shm_store32(&record->state, SHM_HELD_EXCLUSIVE);
}

shm_tally latch_shm_count(const shm_user *user, uint32_t bucket, const uint64_t digest[2])
{
    shm_tally tally = {0};
    uint64_t first_ticket = 0;
    shm_cursor cursor = latch_shm_first(&user->map, bucket);

    while (cursor.record != NULL) {
        uint32_t state;

        if (!latch_shm_is_of(cursor.record, digest)) {
            latch_shm_next(&cursor);
            continue;
        }
        if (latch_shm_is_dead(user, cursor.record)) {
            latch_shm_bury(&cursor);
            continue;
        }
        state = latch_shm_load32(&cursor.record->state);
        if (latch_shm_is_waiting_state(state)) {
            uint64_t ticket = latch_shm_load64(&cursor.record->ticket);

            if (tally.first == 0 || ticket < first_ticket) {
                tally.first = cursor.index + 1;
                first_ticket = ticket;
            }
        } else if (state == SHM_HELD_SHARED || state == SHM_PROMOTES) {
            tally.holders++;
            tally.promotes = state == SHM_PROMOTES ? cursor.index + 1 : tally.promotes;
        } else {
            tally.is_exclusive = true;
        }
        latch_shm_next(&cursor);
    }
    tally.is_corrupt = cursor.is_corrupt;
    return tally;
}

shm_result latch_shm_grant(const shm_user *user, uint32_t bucket, const uint64_t digest[2],
                           shm_wakes *wakes)
{
    const shm_map *map = &user->map;

    for (;;) {
        shm_tally tally = latch_shm_count(user, bucket, digest);
        shm_record *record;

        if (tally.is_corrupt) {
            return SHM_CORRUPT;
        }
        if (tally.is_exclusive || (tally.promotes != 0 && tally.holders > 1)) {
            return SHM_DONE;
        }
        if (tally.promotes != 0) { /* before the queue: it holds already */
            latch_shm_hold_exclusively(map, bucket, &map->records[tally.promotes - 1]);
            latch_shm_add_wake(map, wakes, tally.promotes - 1);
            return SHM_DONE;
        }
        if (tally.first == 0) {
            return SHM_DONE;
        }
        record = &map->records[tally.first - 1];
        if (latch_shm_load32(&record->state) == SHM_WAITS_EXCLUSIVE) {
            if (tally.holders == 0) {
                latch_shm_hold_exclusively(map, bucket, record);
                latch_shm_add_wake(map, wakes, tally.first - 1); /* alone */
            }
            return SHM_DONE;
        }
        latch_shm_store32(&record->state, SHM_HELD_SHARED);
        latch_shm_add_wake(map, wakes, tally.first - 1); /* and on to the next one */
    }
}
