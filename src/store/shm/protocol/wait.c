/* Waits: who is in the way of a record, and a sleep until it is granted or one of them dies. */
#include "src/store/shm/protocol/shm.h"

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

    if (latch_shm_is_waiting_state(other)) {
        return state != SHM_PROMOTES && other_ticket < ticket
               && !(is_shared && other == SHM_WAITS_SHARED);
    }
    return !(is_shared && other == SHM_HELD_SHARED);
}

shm_result latch_shm_look(const shm_user *user, uint32_t index, shm_view *view)
{
    const shm_record *record = &user->map.records[index];
    shm_change change;
    shm_result result = latch_shm_begin_change(user, index, &change);
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
    if (latch_shm_is_still_of(record, &change)) {
        view->state = latch_shm_load32(&record->state);
    }
    view->ticket = latch_shm_load64(&record->ticket);
    if (result == SHM_DONE
        && (latch_shm_is_waiting_state(view->state) || view->state == SHM_PROMOTES)) {
        cursor = latch_shm_first(&user->map, change.bucket);
        for (; cursor.record != NULL; latch_shm_next(&cursor)) {
            if (cursor.record != record && latch_shm_is_of(cursor.record, change.digest)
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
