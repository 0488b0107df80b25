/* The store of shared memory above the protocol: options, the file, attachments to it, leases. */
#ifndef LATCH_SHM_STORE_H
#define LATCH_SHM_STORE_H

#include "src/engine/store.h"
#include "src/store/shm/protocol/shm.h"

#include <limits.h>
#include <pthread.h>

#define SHM_DEFAULT_CAPACITY 65536
#define SHM_MAX_CAPACITY LATCH_SHM_CAPACITY_MAX
/* What is rounded up to: a chunk for each of the fewest participants. */
#define SHM_MIN_CHUNKS 64

/* ---- options.c */

typedef struct shm_options {
    char path[PATH_MAX]; /* "": the default */
    uint32_t capacity;
    uint32_t mode; /* of a new file */
} shm_options;

latch_status latch_shm_read_options(latch_engine *engine, const latch_store_options *given,
                                    shm_options *options, latch_error *error);

/* ---- file.c */

typedef struct shm_file {
    char path[PATH_MAX];
    latch_descriptor descriptor; /* -1 in a child */
    void *base;                  /* of the mapping */
    size_t size;
    dev_t device;
    ino_t inode;
    uint64_t epoch;
} shm_file;

/*
 * Opens, or makes and initialises, the file of these options, and maps it. The file is locked by
 * flock(2): latch_shm_unlock_file().
 */
latch_status latch_shm_open_file(latch_engine *engine, const shm_options *options, shm_file *file,
                                 shm_map *map, latch_error *error);
/* Fills the default path in. */
latch_status latch_shm_complete_path(shm_options *options, latch_error *error);
void latch_shm_unlock_file(const shm_file *file);
/* Unmaps and closes it. */
void latch_shm_close_file(latch_engine *engine, shm_file *file);
/* Does the path lead to no file, or to another one? No while that cannot be known. */
bool latch_shm_leads_elsewhere(const char *path, dev_t device, ino_t inode);

/* ---- life.c: the robust mutex, and the second witness */

struct robust_list_head;

/* Begins a life in a place that was taken: the calling thread's, whose list of robust mutexes is
 * then *list. */
latch_status latch_shm_begin_life(const shm_map *map, uint32_t place, int fd,
                                  struct robust_list_head **list, latch_error *error);
/* In a child: takes a mutex of its parent's, in that mapping, out of its own list. */
void latch_shm_forget_parents_life(struct robust_list_head *list, const void *base, size_t size);
/* Ends it, by the same thread. */
void latch_shm_end_life(const shm_map *map, uint32_t place);
/* Retires a participant that seems to be alive although the kernel has dropped its witness. */
void latch_shm_ask_witness(const shm_map *map, uint64_t identity, int fd);

/* ---- attachment.c */

typedef struct shm_attachment shm_attachment;

/* A record of this participant's. */
typedef struct shm_hold {
    shm_attachment *attachment;
    struct shm_hold *next_free;
    uint32_t index;
    uint32_t outer_wait; /* shm_participant.waits_for, before this wait */
    bool notes_wait;
    int64_t waits_since_ns, asked_ns; /* monotonic */
} shm_hold;

typedef struct shm_chunk {
    struct shm_chunk *next;
    uint32_t number;
    shm_hold holds[SHM_CHUNK_RECORDS];
} shm_chunk;

/* What a thread has of a file: the mapping, and its participant in it. */
struct shm_attachment {
    latch_link link; /* in the thread's list */
    latch_engine *engine;
    size_t users; /* stores and holds */
    unsigned generation;
    struct robust_list_head *robust_list; /* the thread's */
    bool is_gone;                         /* the file was removed, or replaced */
    int64_t now_ns, checked_ns;           /* coarse: of the last call of latch_shm_is_attached() */
    shm_user user;
    shm_file file;
    uint32_t next_chunk; /* to be tried */
    shm_chunk *chunks;
    shm_hold *free, *abandoned; /* abandoned: until others have freed their records */
    char note[SHM_NOTE_MAX];
};

/* Gives the store's options an attachment of this thread's, an existing one if there is. */
latch_status latch_shm_attach(latch_engine *engine, const shm_options *options,
                              shm_attachment **attachment, latch_error *error);
/* Ends one use of it; the last one ends the participant, and unmaps the file. */
void latch_shm_detach(shm_attachment *attachment);
/* Have others taken the participant for dead? It must not change the file any more. */
bool latch_shm_is_retired(const shm_attachment *attachment);
/* Is it of this process, and its file still the one that others use? */
bool latch_shm_is_attached(shm_attachment *attachment);
/* A free record, and one more use of the attachment; NULL: see `error`. */
shm_hold *latch_shm_take_hold(shm_attachment *attachment, latch_error *error);
/* The record is free again, or the hold is of another process. */
void latch_shm_give_hold(shm_hold *hold);
/* Of a hold whose bucket cannot be entered: it is given back when others have freed its record. */
void latch_shm_abandon_hold(shm_hold *hold);
void latch_shm_write_note(shm_attachment *attachment);

static inline bool latch_shm_is_of_this_process(const shm_attachment *attachment)
{
    return attachment->generation == attachment->engine->generation;
}

static inline shm_record *latch_shm_record_of(const shm_hold *hold)
{
    return &hold->attachment->user.map.records[hold->index];
}

static inline shm_participant *latch_shm_own_place(const shm_attachment *attachment)
{
    return &attachment->user.map.participants[latch_shm_place_of(attachment->user.self)];
}

/* ---- deadlock.c */

typedef enum shm_deadlock { SHM_NO_DEADLOCK, SHM_OWN_DEADLOCK, SHM_CIRCLE } shm_deadlock;

/* Notes that the hold waits without end, and tells whether that would never end. */
shm_deadlock latch_shm_begin_endless_wait(shm_hold *hold);
void latch_shm_end_endless_wait(shm_hold *hold);

/* ---- inspect.c: LATCH_INSPECT, LATCH_LIST, LATCH_EVICT */

latch_status latch_shm_inspect(shm_attachment *attachment, latch_op *op);
latch_status latch_shm_list(shm_attachment *attachment, latch_op *op);
latch_status latch_shm_evict_holders(shm_attachment *attachment, latch_op *op);

/* ---- digest.c */

void latch_shm_digest(const char *bytes, size_t length, uint64_t digest[2]);

/* ---- store.c */

typedef struct shm_store {
    latch_store store;
    shm_options options;
    shm_attachment *attachment; /* NULL: to be made anew */
} shm_store;

/* Attaches the store, if it is not. */
latch_status latch_shm_ready(shm_store *store, latch_error *error);
/* Does the lease hold what this process has acquired, as far as the file tells? */
bool latch_shm_is_live(const latch_lease *lease);
/* Frees the record, if it is this process's to free, or leaves that to others where a guard is
 * stuck, and gives the hold back. */
void latch_shm_end_hold(shm_hold *hold);
/* The same for a lease's, whatever comes of it. */
void latch_shm_lose(latch_lease *lease);
latch_status latch_shm_fail_hold(latch_op *op, shm_hold *hold, shm_result result);

/* Describes SHM_STUCK and SHM_CORRUPT; `digest` says in which bucket. */
latch_status latch_shm_fail(const shm_attachment *attachment, shm_result result, uint64_t digest,
                            latch_error *error);

/* ---- acquire.c: LATCH_ACQUIRE, LATCH_ACQUIRE_SHARED; as latch_store_class.step() and cancel() */

latch_status latch_shm_acquire(latch_op *op);
latch_status latch_shm_step(latch_op *op, int64_t now_ns);
latch_status latch_shm_cancel(latch_op *op);

#endif
