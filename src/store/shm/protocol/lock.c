/*
 * Locks: requests, releases, promotions, demotions and evictions, each of which changes records
 * under the guard of their bucket.
 *
 * First come first served: a request conflicts with every record of its resource that holds or
 * waits, unless both are shared.
 */
#include "src/store/shm/protocol/shm.h"

#include <string.h>

/* ---- Requests */

/* Is anything in the way of the request? Buries the dead: *buried. */
static bool shm_conflicts(const shm_user *user, uint32_t bucket, const shm_request *request,
                          bool *buried, bool *is_corrupt)
{
    bool conflicts = false, is_own = false;
    shm_cursor cursor = latch_shm_first(&user->map, bucket);

    while (cursor.record != NULL) {
        uint32_t state;

        if (!latch_shm_is_of(cursor.record, request->digest)) {
            latch_shm_next(&cursor);
            continue;
        }
        if (latch_shm_is_dead(user, cursor.record)) {
            latch_shm_bury(&cursor);
            *buried = true;
            continue;
        }
        state = latch_shm_load32(&cursor.record->state);
        conflicts |= request->exclusive || (state != SHM_HELD_SHARED && state != SHM_WAITS_SHARED);
        is_own |= state == SHM_HELD_SHARED && latch_shm_load64(&cursor.record->owner) == user->self;
        latch_shm_next(&cursor);
    }
    *is_corrupt = cursor.is_corrupt;
    /* A second shared lock of a thread does not queue: a writer in the queue waits for the first.
     */
    return conflicts && (request->exclusive || !is_own);
}

static void shm_fill(const shm_user *user, uint32_t bucket, shm_record *record,
                     const shm_request *request)
{
    uint64_t ticket = latch_shm_load64(&user->map.buckets[bucket].ticket) + 1;

    latch_shm_store64(&user->map.buckets[bucket].ticket, ticket);
    latch_shm_store64(&record->owner, user->self);
    latch_shm_store64(&record->digest[0], request->digest[0]);
    latch_shm_store64(&record->digest[1], request->digest[1]);
    latch_shm_store64(&record->ticket, ticket);
    latch_shm_store32(&record->is_abandoned, 0);
#ifndef LATCH_SHM_MODEL /* what only inspections read */
    latch_shm_store64(&record->since_ns, (uint64_t) request->since_ns);
    latch_shm_store32(&record->name_length, request->name_length);
    for (uint32_t at = 0; at < request->name_length && at < SHM_NAME_MAX; at += sizeof(uint64_t)) {
        uint32_t left = request->name_length - at;
        uint64_t part = 0;

        memcpy(&part, request->name + at, left < sizeof(part) ? left : sizeof(part));
        latch_shm_store64(&record->name[at / sizeof(part)], part);
    }
#endif
}

shm_result latch_shm_request(const shm_user *user, uint32_t index, const shm_request *request)
{
    const shm_map *map = &user->map;
    shm_record *record = &map->records[index];
    uint32_t bucket = latch_shm_bucket_of(map, request->digest[0]);
    bool buried = false, is_corrupt = false;
    shm_wakes wakes = {0};
    shm_result result = latch_shm_enter(user, bucket);

    if (result == SHM_STUCK) {
        return result;
    }
    if (result == SHM_DONE && shm_conflicts(user, bucket, request, &buried, &is_corrupt)) {
        result = request->waits ? SHM_WAITING : SHM_CONFLICT;
    }
    if (result != SHM_CORRUPT && is_corrupt) {
        result = SHM_CORRUPT;
    }
    if (result == SHM_DONE || result == SHM_WAITING) {
        shm_fill(user, bucket, record, request);
        if (result == SHM_WAITING) {
            latch_shm_store32(&record->state,
                              request->exclusive ? SHM_WAITS_EXCLUSIVE : SHM_WAITS_SHARED);
        } else if (request->exclusive) {
            latch_shm_hold_exclusively(map, bucket, record);
        } else {
            latch_shm_store32(&record->state, SHM_HELD_SHARED);
        }
        latch_shm_link(map, bucket, index);
    }
    if (buried && result != SHM_CORRUPT) {
        latch_shm_grant(user, bucket, request->digest, &wakes);
    }
    latch_shm_leave(user, bucket, &wakes);
    return result == SHM_WAITING && latch_shm_is_held_state(latch_shm_load32(&record->state))
               ? SHM_DONE
               : result;
}

/* ---- Changes of a record */

shm_result latch_shm_begin_change(const shm_user *user, uint32_t index, shm_change *change)
{
    const shm_record *record = &user->map.records[index];

    change->digest[0] = latch_shm_load64(&record->digest[0]);
    change->digest[1] = latch_shm_load64(&record->digest[1]);
    change->bucket = latch_shm_bucket_of(&user->map, change->digest[0]);
    change->wakes.count = 0;
    return latch_shm_enter(user, change->bucket);
}

/* Grants what the change allows. */
static shm_result shm_end_change(const shm_user *user, shm_change *change, shm_result result)
{
    shm_result granted = latch_shm_grant(user, change->bucket, change->digest, &change->wakes);

    latch_shm_leave(user, change->bucket, &change->wakes);
    return granted == SHM_CORRUPT ? granted : result;
}

/* False: it is not in the chain. */
static bool shm_unlink_record(const shm_map *map, uint32_t bucket, const shm_record *record)
{
    shm_cursor cursor = latch_shm_first(map, bucket);

    while (cursor.record != NULL && cursor.record != record) {
        latch_shm_next(&cursor);
    }
    if (cursor.record == NULL) {
        return false;
    }
    latch_shm_unlink(&cursor);
    return true;
}

shm_result latch_shm_release(const shm_user *user, uint32_t index)
{
    shm_record *record = &user->map.records[index];
    shm_change change;
    shm_result result = latch_shm_begin_change(user, index, &change);

    if (result == SHM_STUCK) {
        return result;
    }
    if (latch_shm_load32(&record->state) == SHM_EVICTED) {
        result = SHM_CONFLICT;
    } else if (!shm_unlink_record(&user->map, change.bucket, record)) {
        result = SHM_CORRUPT;
    }
    latch_shm_store32(&record->state, SHM_FREE);
    return shm_end_change(user, &change, result);
}

void latch_shm_abandon(const shm_user *user, uint32_t index)
{
    latch_shm_store32(&user->map.records[index].is_abandoned, 1);
}

shm_result latch_shm_promote(const shm_user *user, uint32_t index, bool waits)
{
    shm_record *record = &user->map.records[index];
    shm_change change;
    shm_result result = latch_shm_begin_change(user, index, &change);
    shm_tally tally;

    if (result != SHM_DONE) {
        if (result == SHM_CORRUPT) {
            latch_shm_leave(user, change.bucket, &change.wakes);
        }
        return result;
    }
    tally = latch_shm_count(user, change.bucket, change.digest);
    if (tally.is_corrupt) {
        result = SHM_CORRUPT;
    } else if (latch_shm_load32(&record->state) != SHM_HELD_SHARED) {
        result = SHM_CONFLICT; /* evicted */
    } else if (tally.holders == 1) {
        latch_shm_hold_exclusively(&user->map, change.bucket, record);
    } else if (waits) {
        latch_shm_store32(&record->state, SHM_PROMOTES);
        result = SHM_WAITING;
    } else {
        result = SHM_CONFLICT;
    }
    return shm_end_change(user, &change, result);
}

shm_result latch_shm_demote(const shm_user *user, uint32_t index)
{
    shm_record *record = &user->map.records[index];
    shm_change change;
    shm_result result = latch_shm_begin_change(user, index, &change);

    if (result == SHM_STUCK) {
        return result;
    }
    if (latch_shm_load32(&record->state) == SHM_EVICTED) {
        result = SHM_CONFLICT;
    } else {
        latch_shm_store32(&record->state, SHM_HELD_SHARED);
    }
    return shm_end_change(user, &change, result);
}

shm_result latch_shm_evict(const shm_user *user, uint32_t index, uint64_t ticket)
{
    shm_record *record = &user->map.records[index];
    shm_change change;
    shm_result result = latch_shm_begin_change(user, index, &change);
    uint32_t state;

    if (result == SHM_STUCK) {
        return result;
    }
    state = latch_shm_is_still_of(record, &change) ? latch_shm_load32(&record->state) : SHM_FREE;
    if (latch_shm_load64(&record->ticket) != ticket
        || !(latch_shm_is_held_state(state) || state == SHM_PROMOTES)
        || !shm_unlink_record(&user->map, change.bucket, record)) {
        result = SHM_CONFLICT;
    } else {
        latch_shm_store32(&record->state, SHM_EVICTED);
        latch_shm_add_wake(&user->map, &change.wakes, index);
    }
    return shm_end_change(user, &change, result);
}
