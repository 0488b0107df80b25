/*
 * Attachments: what a thread has of a file, whichever of its stores use it: one mapping, and one
 * participant, so that a thread recognises its own locks.
 */
#include "src/store/shm/store.h"

#include <string.h>

/* How old an answer about the path may be: asking takes twenty times as long as a lock. */
#define CHECK_INTERVAL_NS (100 * LATCH_NS_PER_MS)

static latch_link *shm_attachments(void)
{
    static _Thread_local latch_link list;

    if (list.next == NULL) {
        latch_list_init(&list);
    }
    return &list;
}

/* ---- The participant */

static latch_status shm_register(shm_attachment *attachment, latch_error *error)
{
    shm_user *user = &attachment->user;
    latch_status status;

    for (uint32_t place = 0; place < user->map.participant_count; place++) {
        user->self = latch_shm_take_place(&user->map, place);
        if (user->self != 0) {
            status = latch_shm_begin_life(&user->map, place, attachment->file.descriptor.fd,
                                          &attachment->robust_list, error);
            attachment->next_chunk = place % user->map.chunk_count;
            return status;
        }
    }
    return latch_fail(error, LATCH_ERROR_STORE, 0,
                      "all %u places for threads in the file \"%s\" are taken; a file with a "
                      "larger capacity has more",
                      user->map.participant_count, attachment->file.path);
}

bool latch_shm_is_retired(const shm_attachment *attachment)
{
    return latch_shm_load64(&latch_shm_own_place(attachment)->generation)
           != attachment->user.self >> SHM_PLACE_BITS;
}

/* Chunks without a lock in them are anybody's again. */
static void shm_unregister(shm_attachment *attachment)
{
    const shm_map *map = &attachment->user.map;

    for (shm_chunk *chunk = attachment->chunks; chunk != NULL; chunk = chunk->next) {
        bool is_free = true;

        for (uint32_t at = 0; at < SHM_CHUNK_RECORDS; at++) {
            is_free &= latch_shm_load32(&map->records[chunk->holds[at].index].state) == SHM_FREE;
        }
        if (is_free) {
            latch_shm_store64(&map->chunks[chunk->number], 0);
        }
    }
    latch_shm_end_life(map, latch_shm_place_of(attachment->user.self));
}

static latch_status shm_attach_new(latch_engine *engine, const shm_options *options,
                                   shm_attachment **made, latch_error *error)
{
    shm_attachment *attachment = latch_allocate(engine, sizeof(*attachment));
    latch_status status;

    if (attachment == NULL) {
        return latch_fail_memory(error);
    }
    memset(attachment, 0, sizeof(*attachment));
    attachment->engine = engine;
    attachment->generation = engine->generation;
    attachment->users = 1;
    status = latch_shm_open_file(engine, options, &attachment->file, &attachment->user.map, error);
    if (status != LATCH_DONE) {
        latch_free(engine, attachment);
        return status;
    }
    status = shm_register(attachment, error);
    latch_shm_unlock_file(&attachment->file);
    if (status != LATCH_DONE) {
        latch_shm_close_file(engine, &attachment->file);
        latch_free(engine, attachment);
        return status;
    }
    attachment->now_ns = engine->env.coarse_ns(engine->env.context);
    attachment->checked_ns = attachment->now_ns;
    latch_list_append(shm_attachments(), &attachment->link);
    *made = attachment;
    return LATCH_DONE;
}

latch_status latch_shm_attach(latch_engine *engine, const shm_options *options,
                              shm_attachment **attachment, latch_error *error)
{
    shm_options full = *options;
    latch_status status = latch_shm_complete_path(&full, error);

    if (status != LATCH_DONE) {
        return status;
    }
    for (latch_link *link = shm_attachments()->next; link != shm_attachments(); link = link->next) {
        shm_attachment *other = LATCH_CONTAINER(link, shm_attachment, link);

        if (!latch_shm_is_of_this_process(other)) {
            latch_shm_forget_parents_life(other->robust_list, other->file.base, other->file.size);
        }
        if (other->engine == engine && strcmp(other->file.path, full.path) == 0
            && latch_shm_is_attached(other)) {
            other->users++;
            *attachment = other;
            return LATCH_DONE;
        }
    }
    return shm_attach_new(engine, &full, attachment, error);
}

void latch_shm_detach(shm_attachment *attachment)
{
    latch_engine *engine = attachment->engine;

    if (--attachment->users > 0) {
        return;
    }
    latch_list_remove(&attachment->link);
    if (!latch_shm_is_of_this_process(attachment)) {
        latch_shm_forget_parents_life(attachment->robust_list, attachment->file.base,
                                      attachment->file.size);
        latch_shm_close_file(engine, &attachment->file);
    } else if (latch_shm_is_retired(attachment)) {
        /* Mapped it stays: the thread's list of robust mutexes leads into it. */
        latch_descriptor_close(engine, &attachment->file.descriptor);
    } else {
        shm_unregister(attachment);
        latch_shm_close_file(engine, &attachment->file);
    }
    while (attachment->chunks != NULL) {
        shm_chunk *chunk = attachment->chunks;

        attachment->chunks = chunk->next;
        latch_free(engine, chunk);
    }
    latch_free(engine, attachment);
}

bool latch_shm_is_attached(shm_attachment *attachment)
{
    const latch_env *env = &attachment->engine->env;

    if (!latch_shm_is_of_this_process(attachment) || attachment->is_gone
        || latch_shm_is_retired(attachment)) {
        return false;
    }
    attachment->now_ns = env->coarse_ns(env->context);
    if (attachment->now_ns - attachment->checked_ns >= CHECK_INTERVAL_NS) {
        attachment->checked_ns = attachment->now_ns;
        attachment->is_gone = latch_shm_leads_elsewhere(attachment->file.path,
                                                        attachment->file.device,
                                                        attachment->file.inode);
    }
    return !attachment->is_gone;
}

/* ---- Records */

static shm_result shm_find_chunk(shm_attachment *attachment, uint32_t *number)
{
    const shm_map *map = &attachment->user.map;

    for (uint32_t tried = 0; tried < map->chunk_count; tried++) {
        shm_result result;

        *number = attachment->next_chunk;
        attachment->next_chunk = (attachment->next_chunk + 1) % map->chunk_count;
        result = latch_shm_claim(&attachment->user, *number);
        if (result != SHM_CONFLICT) {
            return result;
        }
    }
    return SHM_CONFLICT;
}

static latch_status shm_add_chunk(shm_attachment *attachment, latch_error *error)
{
    shm_chunk *chunk = latch_allocate(attachment->engine, sizeof(*chunk));
    shm_result result;

    if (chunk == NULL) {
        return latch_fail_memory(error);
    }
    result = shm_find_chunk(attachment, &chunk->number);
    if (result != SHM_DONE) {
        latch_free(attachment->engine, chunk);
        return result == SHM_CONFLICT
                   ? latch_fail(error, LATCH_ERROR_STORE, 0,
                                "all %u locks that the file \"%s\" has room for are in use, or "
                                "reserved by its processes; make a new one with a larger "
                                "capacity",
                                attachment->user.map.record_count, attachment->file.path)
                   : latch_shm_fail(attachment, result, 0, error);
    }
    for (uint32_t at = SHM_CHUNK_RECORDS; at-- > 0;) {
        shm_hold *hold = &chunk->holds[at];

        *hold = (shm_hold){.attachment = attachment,
                           .index = chunk->number * SHM_CHUNK_RECORDS + at,
                           .next_free = attachment->free};
        attachment->free = hold;
    }
    chunk->next = attachment->chunks;
    attachment->chunks = chunk;
    return LATCH_DONE;
}

static void shm_reclaim(shm_attachment *attachment)
{
    shm_hold **link = &attachment->abandoned;

    while (*link != NULL) {
        shm_hold *hold = *link;
        shm_word *state = &latch_shm_record_of(hold)->state;

        if (latch_shm_load32(state) == SHM_EVICTED) { /* in no chain: only its owner frees it */
            latch_shm_store32(state, SHM_FREE);
        }
        if (latch_shm_load32(state) != SHM_FREE) {
            link = &hold->next_free;
            continue;
        }
        *link = hold->next_free;
        hold->next_free = attachment->free;
        attachment->free = hold;
    }
}

shm_hold *latch_shm_take_hold(shm_attachment *attachment, latch_error *error)
{
    shm_hold *hold;

    shm_reclaim(attachment);
    if (attachment->free == NULL && shm_add_chunk(attachment, error) != LATCH_DONE) {
        return NULL;
    }
    hold = attachment->free;
    attachment->free = hold->next_free;
    attachment->users++;
    return hold;
}

void latch_shm_give_hold(shm_hold *hold)
{
    shm_attachment *attachment = hold->attachment;

    hold->next_free = attachment->free;
    attachment->free = hold;
    latch_shm_detach(attachment);
}

void latch_shm_abandon_hold(shm_hold *hold)
{
    shm_attachment *attachment = hold->attachment;

    latch_shm_abandon(&attachment->user, hold->index);
    hold->next_free = attachment->abandoned;
    attachment->abandoned = hold;
    latch_shm_detach(attachment); /* whose end frees what is left */
}

/* ---- Holder information */

void latch_shm_write_note(shm_attachment *attachment)
{
    const latch_env *env = &attachment->engine->env;
    const char *note = env->holder_info != NULL ? env->holder_info(env->context) : NULL;
    shm_participant *own = latch_shm_own_place(attachment);

    if (note == NULL || strcmp(note, attachment->note) == 0) {
        return;
    }
    memset(attachment->note, 0, sizeof(attachment->note));
    memcpy(attachment->note, note, strnlen(note, sizeof(attachment->note) - 1));
    for (size_t at = 0; at < sizeof(attachment->note) / sizeof(uint64_t); at++) {
        uint64_t part;

        memcpy(&part, attachment->note + at * sizeof(part), sizeof(part));
        latch_shm_store64(&own->note[at], part);
    }
}
