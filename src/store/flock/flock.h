/*
 * Inside the flock store: its lock files (file.c), its waits (wait.c) and their order
 * (queue.c), who holds (inspect.c), and whether a held file was removed
 * (watch.c).
 *
 * flock(2) locks belong to an open file description. So a lease has a description of its own, and
 * one that a forked child still shares is never used for another lock.
 */
#ifndef LATCH_FLOCK_H
#define LATCH_FLOCK_H

#include "src/base/hash.h"
#include "src/engine/store.h"

#include <sys/types.h>

/* Unlocked files that are kept open, so that the next acquire need not open them. */
#define LATCH_FLOCK_IDLE_MAX 32

/* No number in the queue. */
#define LATCH_FLOCK_NONE (-1)

typedef struct flock_waiter flock_waiter; /* a helper thread, see wait.c */

typedef struct flock_store {
    latch_store store;
    latch_hash files; /* of flock_file, by resource: one for each, idle or in use */
    latch_link idle;  /* of flock_file: unlocked, least recently used first */
    size_t idle_count;
    flock_waiter *parked; /* a helper without a wait, or NULL */
    /* A file system of which little is known, as of the network's: it may hide a removal from
       fstat(), a look at a path may take long, and flock() may be a lock on bytes. */
    bool unsure_links;
    uint8_t looks_spared; /* so many acquires need not look for a queue */
    char directory[];
} flock_store;

typedef struct flock_file {
    latch_descriptor descriptor;
    latch_link link;      /* in the store's `idle`, or in what the thread holds */
    latch_hash_node node; /* in the store's `files`, if it is listed */
    dev_t device;         /* known from the first latch_flock_file_check() on */
    ino_t inode;
    int64_t path_checked_ns; /* when it was known to be what its path leads to */
    int64_t looked_ns;       /* when the queue was looked for; by the coarse clock, like those: */
    int64_t released_ns, overtook_ns;
    int64_t turn_ns;     /* when its turn began, see latch_flock_queue_go_on() */
    int64_t number;      /* with which that was waited for, or LATCH_FLOCK_NONE */
    unsigned generation; /* of the process that opened it */
    unsigned fork_count; /* of the engine, when a lease got it */
    uint8_t mode;        /* while held, or waited for: of latch_mode */
    uint8_t turn_left;   /* so many acquires at most before others that wait, in that turn */
    bool is_wanted;      /* others waited for it when it was last looked, or we did */
    bool has_number;     /* in the queue, although it is locked: others wait for that */
    bool is_listed;
    bool is_idle;
    char resource[];
} flock_file;

/* Writes the lock file's path: `<directory>/sf.<readable part>.<digest>.lock`, as Symfony's. */
latch_status latch_flock_path(const flock_store *store, const char *resource, size_t length,
                              char *path, size_t size, latch_error *error);

/* Whether a file of that name in a lock directory is a lock file. */
bool latch_flock_is_file_name(const char *name);
/* Describes why the file cannot be opened, or cannot serve as a lock file (ELOOP, EISDIR). */
latch_status latch_flock_explain(latch_error *error, int sys_errno, const char *path);

/*
 * Hands out an unlocked file for the lease's resource: an idle one, else a newly opened one. It is
 * neither idle nor held. LATCH_WANT_TIMER: somebody is creating it just now, try again in a moment.
 * LATCH_CONFLICT: it comes and goes under others' hands.
 */
latch_status latch_flock_file_get(flock_store *store, latch_op *op, flock_file **file);
/* Takes back such an unlocked file: keeps it for the next lease, or closes it. */
void latch_flock_file_put(flock_store *store, flock_file *file);
/* Closes and frees a file that is neither idle nor held, with the lock that it may have. */
void latch_flock_file_close(flock_store *store, flock_file *file);
void latch_flock_close_idle(flock_store *store);

/*
 * LATCH_CONFLICT when the locked file was removed, so that others lock another file of its name; an
 * error when it cannot serve as a lock file.
 */
latch_status latch_flock_file_check(const flock_store *store, flock_file *file, latch_error *error);
int64_t latch_flock_coarse_ns(const flock_store *store);
/* Whether its path still leads to the file. */
bool latch_flock_file_at_path(const flock_store *store, const flock_file *file);
/* Whether it was removed, or its path leads to another file; no while that cannot be known, as
 * where a directory cannot be read any more. */
bool latch_flock_leads_elsewhere(const char *path, dev_t device, ino_t inode);
bool latch_flock_file_gone(const flock_store *store, const flock_file *file);
/* Whether anybody at all has it locked, this process included. */
bool latch_flock_file_locked(const flock_store *store, const flock_file *file);
/* Whether another process may have it open too, so that it can be unlocked there. */
bool latch_flock_file_shared(const flock_store *store, const flock_file *file);

/*
 * Takes a number, the one behind the highest that is taken, which is *ahead. LATCH_FLOCK_NONE where
 * none can be had: the queue may still be waited for, by *ahead.
 */
int64_t latch_flock_queue_join(const flock_store *store, const flock_file *file, int64_t *ahead);
/* Gives the number back, with whatever was locked to wait for another one. */
void latch_flock_queue_leave(int fd);
/* The highest number that somebody has before `number`; LATCH_FLOCK_NONE: it is the first. */
int64_t latch_flock_queue_ahead(int fd, int64_t number);
/* The lowest one; of all numbers for LATCH_FLOCK_NONE. */
int64_t latch_flock_queue_first(int fd, int64_t number);
/* Whether somebody waits for the file; says no without a look where that is most probable. */
bool latch_flock_queue_look(flock_store *store, flock_file *file);
/* A turn begins: the lock was waited for, with that number or LATCH_FLOCK_NONE, and is granted. */
void latch_flock_queue_begin_turn(const flock_store *store, flock_file *file, int64_t number);
/* Whether the process may take the lock once more before others that wait, as it is its turn. Then
 * an exclusive lock has the number of the turn again. */
bool latch_flock_queue_go_on(const flock_store *store, flock_file *file, bool exclusive);
/* Whether an attempt without a wait may go before those who wait. */
bool latch_flock_queue_overtake(const flock_store *store, flock_file *file);

/*
 * Waits for LOCK_EX or LOCK_SH on `file` in a helper thread, in the queue or besides it; op->state
 * becomes the wait. Returns LATCH_WANT_IO, or LATCH_CONFLICT where no thread can be had: then op.c
 * polls.
 */
latch_status latch_flock_wait_begin(latch_op *op, flock_file *file, int operation, bool queues);

typedef enum flock_wait_outcome {
    FLOCK_WAIT_GOES_ON,
    FLOCK_WAIT_GRANTED,
    FLOCK_WAIT_FORKED, /* this is a child: the thread stayed in the parent */
    FLOCK_WAIT_FAILED, /* op->error says why */
    FLOCK_WAIT_GIVEN_UP,
} flock_wait_outcome;

/* Looks whether the wait has ended. If so op->state is NULL, and *file the caller's. */
flock_wait_outcome latch_flock_wait_check(latch_op *op, int64_t now_ns, flock_file **file);
/* Ends the wait at once, FLOCK_WAIT_GIVEN_UP unless it had ended already. */
flock_wait_outcome latch_flock_wait_end(latch_op *op, flock_file **file);
void latch_flock_end_parked(flock_store *store);

/* LATCH_INSPECT and LATCH_LIST. */
latch_status latch_flock_inspect(latch_op *op);
latch_status latch_flock_list(latch_op *op);

/* latch_store_class.watch */
bool latch_flock_watch(const latch_lease *lease, latch_watch *watch);

#endif
