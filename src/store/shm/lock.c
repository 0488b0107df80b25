/*
 * Locks: requests, releases, promotions and waits, each of which changes records under the guard of
 * their bucket.
 *
 * First come first served: a request conflicts with every record of its resource that holds or
 * waits, unless both are shared. What ends a hold or a wait, and whoever finds a dead holder or
 * waiter, runs the one grant procedure.
 */
#include "src/store/shm/shm.h"

#include <string.h>

/* ---- Granting */

static bool shm_is_of(const shm_record *record, const uint64_t digest[2])
{
    return latch_shm_load64(&record->digest[0]) == digest[0]
           && latch_shm_load64(&record->digest[1]) == digest[1];
}

static bool shm_waits(uint32_t state)
{
    return state == SHM_WAITS_SHARED || state == SHM_WAITS_EXCLUSIVE;
}

static bool shm_is_dead(const shm_user *user, const shm_record *record)
{
    uint64_t owner = latch_shm_load64(&record->owner);

    return owner != user->self && !latch_shm_is_alive(&user->map, owner);
}

/* The fencing token is in the record before the state makes it count. */
static void shm_hold_exclusively(const shm_map *map, uint32_t bucket, shm_record *record)
{
    uint64_t fence = latch_shm_load64(&map->buckets[bucket].fence) + 1;

    latch_shm_store64(&map->buckets[bucket].fence, fence);
    latch_shm_store64(&record->fence, fence);
    latch_shm_store32(&record->state, SHM_HELD_EXCLUSIVE);
}

/* What is in the records of one resource, behind the burial of the dead. */
typedef struct shm_tally {
    uint32_t holders; /* those that promote included */
    bool is_exclusive, is_corrupt;
    uint32_t promotes, first; /* 1 + index: the one that promotes; the first in the queue */
} shm_tally;

static shm_tally shm_count(const shm_user *user, uint32_t bucket, const uint64_t digest[2])
{
    shm_tally tally = {0};
    uint64_t first_ticket = 0;
    shm_cursor cursor = latch_shm_first(&user->map, bucket);

    while (cursor.record != NULL) {
        uint32_t state;

        if (!shm_is_of(cursor.record, digest)) {
            latch_shm_next(&cursor);
            continue;
        }
        if (shm_is_dead(user, cursor.record)) {
            latch_shm_bury(&cursor);
            continue;
        }
        state = latch_shm_load32(&cursor.record->state);
        if (shm_waits(state)) {
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
        shm_tally tally = shm_count(user, bucket, digest);
        shm_record *record;

        if (tally.is_corrupt) {
            return SHM_CORRUPT;
        }
        if (tally.is_exclusive || (tally.promotes != 0 && tally.holders > 1)) {
            return SHM_DONE;
        }
        if (tally.promotes != 0) { /* before the queue: it holds already */
            shm_hold_exclusively(map, bucket, &map->records[tally.promotes - 1]);
            latch_shm_add_wake(map, wakes, tally.promotes - 1);
            return SHM_DONE;
        }
        if (tally.first == 0) {
            return SHM_DONE;
        }
        record = &map->records[tally.first - 1];
        if (latch_shm_load32(&record->state) == SHM_WAITS_EXCLUSIVE) {
            if (tally.holders == 0) {
                shm_hold_exclusively(map, bucket, record);
                latch_shm_add_wake(map, wakes, tally.first - 1);
            }
            return SHM_DONE;
        }
        latch_shm_store32(&record->state, SHM_HELD_SHARED);
        latch_shm_add_wake(map, wakes, tally.first - 1);
    }
}

/* ---- Requests */

/* Is anything in the way of the request? Buries the dead: *buried. */
static bool shm_conflicts(const shm_user *user, uint32_t bucket, const shm_request *request,
                          bool *buried, bool *is_corrupt)
{
    bool conflicts = false, is_own = false;
    shm_cursor cursor = latch_shm_first(&user->map, bucket);

    while (cursor.record != NULL) {
        uint32_t state;

        if (!shm_is_of(cursor.record, request->digest)) {
            latch_shm_next(&cursor);
            continue;
        }
        if (shm_is_dead(user, cursor.record)) {
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
            shm_hold_exclusively(map, bucket, record);
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

typedef struct shm_change {
    uint32_t bucket;
    uint64_t digest[2];
    shm_wakes wakes;
} shm_change;

/* Enters the bucket of a record that is not free. */
static shm_result shm_begin_change(const shm_user *user, uint32_t index, shm_change *change)
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

/*
 * Whether a record, of any owner's, is still of the resource whose bucket was entered. Its state is
 * read first: a record that is not free has a complete digest.
 */
static bool shm_is_still_of(const shm_record *record, const shm_change *change)
{
    return latch_shm_load32(&record->state) != SHM_FREE && shm_is_of(record, change->digest);
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
    shm_result result = shm_begin_change(user, index, &change);

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

shm_result latch_shm_promote(const shm_user *user, uint32_t index, bool waits)
{
    shm_record *record = &user->map.records[index];
    shm_change change;
    shm_result result = shm_begin_change(user, index, &change);
    shm_tally tally;

    if (result != SHM_DONE) {
        if (result == SHM_CORRUPT) {
            latch_shm_leave(user, change.bucket, &change.wakes);
        }
        return result;
    }
    tally = shm_count(user, change.bucket, change.digest);
    if (tally.is_corrupt) {
        result = SHM_CORRUPT;
    } else if (latch_shm_load32(&record->state) != SHM_HELD_SHARED) {
        result = SHM_CONFLICT; /* evicted */
    } else if (tally.holders == 1) {
        shm_hold_exclusively(&user->map, change.bucket, record);
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
    shm_result result = shm_begin_change(user, index, &change);

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
    shm_result result = shm_begin_change(user, index, &change);
    uint32_t state;

    if (result == SHM_STUCK) {
        return result;
    }
    state = shm_is_still_of(record, &change) ? latch_shm_load32(&record->state) : SHM_FREE;
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

/* ---- Waits */

static void shm_add_blocker(shm_view *view, const shm_cursor *cursor)
{
    if (view->count < SHM_BLOCKERS_MAX) {
        view->blockers[view->count++] =
            (shm_blocker){.owner = latch_shm_load64(&cursor->record->owner),
                          .ticket = latch_shm_load64(&cursor->record->ticket),
                          .index = cursor->index};
    }
}

/* Is a waiter with this state and ticket behind the other record? */
static bool shm_is_blocked_by(uint32_t state, uint64_t ticket, uint32_t other,
                              uint64_t other_ticket)
{
    bool is_shared = state == SHM_WAITS_SHARED;

    if (shm_waits(other)) {
        return state != SHM_PROMOTES && other_ticket < ticket
               && !(is_shared && other == SHM_WAITS_SHARED);
    }
    return !(is_shared && other == SHM_HELD_SHARED);
}

shm_result latch_shm_look(const shm_user *user, uint32_t index, shm_view *view)
{
    const shm_record *record = &user->map.records[index];
    shm_change change;
    shm_result result = shm_begin_change(user, index, &change);
    shm_cursor cursor;

    view->count = 0;
    view->state = SHM_FREE;
    if (result != SHM_DONE) {
        if (result == SHM_CORRUPT) {
            latch_shm_leave(user, change.bucket, &change.wakes);
        }
        return result;
    }
    result = latch_shm_grant(user, change.bucket, change.digest, &change.wakes);
    if (shm_is_still_of(record, &change)) {
        view->state = latch_shm_load32(&record->state);
    }
    view->ticket = latch_shm_load64(&record->ticket);
    if (result == SHM_DONE && (shm_waits(view->state) || view->state == SHM_PROMOTES)) {
        cursor = latch_shm_first(&user->map, change.bucket);
        for (; cursor.record != NULL; latch_shm_next(&cursor)) {
            if (cursor.record != record && shm_is_of(cursor.record, change.digest)
                && shm_is_blocked_by(view->state, view->ticket,
                                     latch_shm_load32(&cursor.record->state),
                                     latch_shm_load64(&cursor.record->ticket))) {
                shm_add_blocker(view, &cursor);
            }
        }
    }
    latch_shm_leave(user, change.bucket, &change.wakes);
    return result;
}

/* Adds a life to those whose end is to wake the sleeper; false: it has ended. */
static bool shm_watch_life(const shm_map *map, uint64_t identity, shm_watched *watched)
{
    shm_word *life = latch_shm_life(map, latch_shm_place_of(identity));
    uint32_t value;

    do {
        value = life != NULL ? latch_shm_load32(life) : 0;
        /* No bit in a mutex that is being made: its next owner would take it for locked. */
        if ((value & SHM_LIFE_OWNER) == 0 || !latch_shm_is_alive(map, identity)) {
            return false;
        }
    } while ((value & SHM_LIFE_WAITERS) == 0
             && !latch_shm_cas32(life, value, value | SHM_LIFE_WAITERS));
    *watched = (shm_watched){life, value | SHM_LIFE_WAITERS};
    return true;
}

shm_result latch_shm_wait(const shm_user *user, uint32_t index, int64_t timeout_ns)
{
    const shm_map *map = &user->map;
    shm_record *record = &map->records[index];
    shm_watched watched[SHM_WATCHES_MAX];
    uint32_t count = 1;
    shm_view view;
    shm_result result = latch_shm_look(user, index, &view);

    if (result != SHM_DONE || latch_shm_is_held_state(view.state)) {
        return result;
    }
    if (view.state == SHM_EVICTED) {
        return SHM_CONFLICT;
    }
    watched[0] = (shm_watched){&record->state, view.state};
    for (uint32_t at = 0; at < view.count && count < SHM_WATCHES_MAX; at++) {
        if (view.blockers[at].owner == user->self) {
            continue;
        }
        if (!shm_watch_life(map, view.blockers[at].owner, &watched[count])) {
            return SHM_WAITING; /* look again */
        }
        count++;
    }
    latch_shm_sleep(watched, count, timeout_ns);
    for (uint32_t at = 1; at < count; at++) {
        if (latch_shm_load32(watched[at].word) != watched[at].value) {
            latch_shm_wake(watched[at].word, INT32_MAX); /* the kernel wakes one sleeper alone */
        }
    }
    return latch_shm_is_held_state(latch_shm_load32(&record->state)) ? SHM_DONE : SHM_WAITING;
}
