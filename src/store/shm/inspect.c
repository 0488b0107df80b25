/* Inspections: who holds a lock, which locks are held, and taking one away from its holders. */
#include "src/store/shm/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HOLDERS_MAX 100

/* A copy of a record, made under the guard. */
typedef struct shm_holder {
    uint64_t owner, ticket, fence;
    int64_t since_ns;
    uint32_t index, name_length;
    bool is_exclusive;
    uint64_t name[SHM_NAME_MAX / sizeof(uint64_t)];
} shm_holder;

/* All that is known of one resource. */
typedef struct shm_survey {
    uint64_t holder_count, waiter_count;
    uint32_t count, first; /* first: the lowest index of a holder's record */
    shm_holder holders[HOLDERS_MAX];
} shm_survey;

/* ---- Reading */

static void shm_copy_record(const shm_record *record, uint32_t index, uint32_t state,
                            shm_holder *held)
{
    *held = (shm_holder){
        .owner = latch_shm_load64(&record->owner),
        .ticket = latch_shm_load64(&record->ticket),
        .fence = latch_shm_load64(&record->fence),
        .since_ns = (int64_t) latch_shm_load64(&record->since_ns),
        .index = index,
        .name_length = latch_shm_load32(&record->name_length),
        .is_exclusive = state == SHM_HELD_EXCLUSIVE,
    };
    for (size_t at = 0; at < sizeof(held->name) / sizeof(held->name[0]); at++) {
        held->name[at] = latch_shm_load64(&record->name[at]);
    }
}

static void shm_survey_record(const shm_user *user, const shm_cursor *cursor, shm_survey *survey)
{
    uint32_t state = latch_shm_load32(&cursor->record->state);

    if (latch_shm_is_dead(user, cursor->record)) {
        return;
    }
    if (!latch_shm_is_held_state(state) && state != SHM_PROMOTES) {
        survey->waiter_count++;
        return;
    }
    survey->waiter_count += state == SHM_PROMOTES;
    survey->holder_count++;
    survey->first = cursor->index < survey->first ? cursor->index : survey->first;
    if (survey->count < HOLDERS_MAX) {
        shm_copy_record(cursor->record, cursor->index, state, &survey->holders[survey->count++]);
    }
}

static latch_status shm_survey_lock(shm_attachment *attachment, const uint64_t digest[2],
                                    shm_survey *survey, latch_error *error)
{
    const shm_user *user = &attachment->user;
    uint32_t bucket = latch_shm_bucket_of(&user->map, digest[0]);
    shm_wakes wakes = {0};
    shm_result result = latch_shm_enter(user, bucket);
    shm_cursor cursor;

    *survey = (shm_survey){.first = UINT32_MAX};
    if (result == SHM_STUCK) {
        return latch_shm_fail(attachment, result, digest[0], error);
    }
    for (cursor = latch_shm_first(&user->map, bucket); cursor.record != NULL;
         latch_shm_next(&cursor)) {
        if (latch_shm_load64(&cursor.record->digest[0]) == digest[0]
            && latch_shm_load64(&cursor.record->digest[1]) == digest[1]) {
            shm_survey_record(user, &cursor, survey);
        }
    }
    latch_shm_leave(user, bucket, &wakes);
    return cursor.is_corrupt || result == SHM_CORRUPT
               ? latch_shm_fail(attachment, SHM_CORRUPT, digest[0], error)
               : LATCH_DONE;
}

/* ---- Reports */

static void shm_format_identity(const shm_holder *held, char identity[LATCH_IDENTITY_LENGTH + 1])
{
    snprintf(identity, LATCH_IDENTITY_LENGTH + 1, "%06x%010llx", held->index & 0xffffff,
             (unsigned long long) (held->ticket & UINT64_C(0xffffffffff)));
}

static void shm_read_note(const shm_participant *place, char note[SHM_NOTE_MAX])
{
    for (size_t at = 0; at < SHM_NOTE_MAX / sizeof(uint64_t); at++) {
        uint64_t part = latch_shm_load64(&place->note[at]);

        memcpy(note + at * sizeof(part), &part, sizeof(part));
    }
    note[SHM_NOTE_MAX - 1] = '\0';
}

/* "HOST PID SCRIPT", in the holder's text; anything else is no information. */
static void shm_split_note(latch_holder *holder)
{
    char *pid = strchr(holder->text, ' '), *script = pid != NULL ? strchr(pid + 1, ' ') : NULL;

    if (script != NULL) {
        *pid = '\0';
        *script = '\0';
        holder->host = holder->text;
        holder->script = script + 1;
    }
}

/* The process ID, as this process sees it. */
static int64_t shm_process_of(const shm_attachment *attachment, const shm_participant *place)
{
    return latch_shm_load64(&place->namespace)
                   == latch_shm_load64(&latch_shm_own_place(attachment)->namespace)
               ? (int64_t) latch_shm_load32(&place->process)
               : 0;
}

static bool shm_add_holder(const shm_attachment *attachment, latch_lock_report *report,
                           const shm_holder *held)
{
    const latch_engine *engine = attachment->engine;
    const latch_env *env = &engine->env;
    const shm_participant *place =
        &attachment->user.map.participants[latch_shm_place_of(held->owner)]; /* alive just now */
    int64_t held_ns = env->coarse_ns(env->context) - held->since_ns;
    char note[SHM_NOTE_MAX];
    latch_holder *holder;

    shm_read_note(place, note);
    holder = latch_lock_report_make_holder(engine, report, strlen(note));
    if (holder == NULL) {
        return false;
    }
    strcpy(holder->text, note);
    shm_split_note(holder);
    holder->number = shm_process_of(attachment, place);
    holder->since_us = (env->wall_ns(env->context) - held_ns) / 1000;
    holder->fencing_token = held->is_exclusive ? attachment->file.epoch + held->fence : 0;
    shm_format_identity(held, holder->identity);
    return true;
}

static bool shm_report(const shm_attachment *attachment, latch_lock_report **reports,
                       const shm_survey *survey, const char *name, size_t length)
{
    latch_mode mode = survey->count == 0                ? LATCH_FREE
                      : survey->holders[0].is_exclusive ? LATCH_EXCLUSIVE
                                                        : LATCH_SHARED;
    latch_lock_report *report =
        latch_lock_reports_add_named(attachment->engine, reports, name, length, mode);

    if (report == NULL) {
        return false;
    }
    report->holder_count = survey->holder_count;
    report->waiter_count = survey->waiter_count;
    for (uint32_t at = 0; at < survey->count; at++) {
        if (!shm_add_holder(attachment, report, &survey->holders[at])) {
            return false;
        }
    }
    return true;
}

/* ---- The requests */

latch_status latch_shm_inspect(shm_attachment *attachment, latch_op *op)
{
    const latch_lease *lease = op->lease;
    shm_survey survey;
    uint64_t digest[2];
    latch_status status;

    latch_shm_digest(lease->resource, lease->resource_length, digest);
    status = shm_survey_lock(attachment, digest, &survey, op->error);
    if (status == LATCH_DONE
        && !shm_report(attachment, op->request.reports, &survey, lease->resource,
                       lease->resource_length)) {
        status = latch_fail_memory(op->error);
    }
    return status;
}

/* The name that was kept, which may be the beginning of it alone. */
static bool shm_report_listed(const shm_attachment *attachment, latch_lock_report **reports,
                              const shm_survey *survey)
{
    const shm_holder *held = &survey->holders[0];
    char name[SHM_NAME_MAX + 4];
    size_t length = held->name_length < SHM_NAME_MAX ? held->name_length : SHM_NAME_MAX;

    memcpy(name, held->name, length);
    if (held->name_length > SHM_NAME_MAX) {
        memcpy(name + length, "...", 3);
        length += 3;
    }
    return shm_report(attachment, reports, survey, name, length);
}

/* A lock is listed by the holder's record that comes first in the file. */
static latch_status shm_list_record(shm_attachment *attachment, latch_op *op, uint32_t index)
{
    const shm_record *record = &attachment->user.map.records[index];
    uint32_t state = latch_shm_load32(&record->state);
    shm_survey survey;
    uint64_t digest[2];
    latch_status status;

    if (!latch_shm_is_held_state(state) && state != SHM_PROMOTES) {
        return LATCH_DONE;
    }
    digest[0] = latch_shm_load64(&record->digest[0]);
    digest[1] = latch_shm_load64(&record->digest[1]);
    status = shm_survey_lock(attachment, digest, &survey, op->error);
    if (status == LATCH_DONE && survey.first == index
        && !shm_report_listed(attachment, op->request.reports, &survey)) {
        status = latch_fail_memory(op->error);
    }
    return status;
}

latch_status latch_shm_list(shm_attachment *attachment, latch_op *op)
{
    const shm_map *map = &attachment->user.map;
    latch_status status = LATCH_DONE;

    for (uint32_t chunk = 0; chunk < map->chunk_count && status == LATCH_DONE; chunk++) {
        if (latch_shm_load64(&map->chunks[chunk]) == 0) {
            continue;
        }
        for (uint32_t at = 0; at < SHM_CHUNK_RECORDS && status == LATCH_DONE; at++) {
            status = shm_list_record(attachment, op, chunk * SHM_CHUNK_RECORDS + at);
        }
    }
    return status;
}

static bool shm_is_named(const char *identities, const shm_holder *held)
{
    char identity[LATCH_IDENTITY_LENGTH + 1];

    shm_format_identity(held, identity);
    return strstr(identities, identity) != NULL;
}

latch_status latch_shm_evict_holders(shm_attachment *attachment, latch_op *op)
{
    const latch_lease *lease = op->lease;
    shm_survey survey;
    uint64_t digest[2], evicted = 0;
    latch_status status;

    latch_shm_digest(lease->resource, lease->resource_length, digest);
    status = shm_survey_lock(attachment, digest, &survey, op->error);
    for (uint32_t at = 0; at < survey.count && status == LATCH_DONE; at++) {
        const shm_holder *held = &survey.holders[at];
        shm_result result;

        if (op->request.evicted != NULL && !shm_is_named(op->request.evicted, held)) {
            continue;
        }
        result = latch_shm_evict(&attachment->user, held->index, held->ticket);
        evicted += result == SHM_DONE;
        if (result == SHM_STUCK || result == SHM_CORRUPT) {
            status = latch_shm_fail(attachment, result, digest[0], op->error);
        }
    }
    *op->request.evicted_count = evicted;
    return status;
}
