/*
 * Inside the flock store: its lock files (file.c) and all names (path.c), its waits (wait.c) and
 * their order (queue.c, turn.c), inspection (inspect.c), the watch for removed files (watch.c), and
 * calls (call.c) on records in files (record.c).
 *
 * flock(2) locks belong to an open file description. So each lease has a description of its own; a
 * description that a forked child shares is never reused for another lock.
 */
#ifndef LATCH_FLOCK_H
#define LATCH_FLOCK_H

#include "src/base/hash.h"
#include "src/engine/store.h"
#include "src/store/local/memory_calls.h"

#include <sys/types.h>

/* Unlocked files that are kept open, so that the next acquire need not open them. */
#define LATCH_FLOCK_IDLE_MAX 32

/* No number in the queue. */
#define LATCH_FLOCK_NONE (-1)

typedef struct flock_waiter flock_waiter;           /* a helper thread, see wait.c */
typedef struct flock_turn_helper flock_turn_helper; /* another one, see turn.c */

typedef struct flock_store {
    latch_store store;
    latch_hash files; /* of flock_file, by resource: one for each, idle or in use */
    latch_link idle;  /* of flock_file: unlocked, least recently used first */
    size_t idle_count;
    flock_waiter *parked;           /* a helper without a wait, or NULL */
    flock_turn_helper *turn_helper; /* NULL until a number is kept */
    /* An unknown file system, such as a network's: fstat() may not show a removal, stat() may be
       slow, and flock() may be a lock on bytes. */
    bool unsure_links;
    uint8_t checks_spared;  /* number of acquires without a check for a queue */
    memory_records records; /* none, but within a step of a call */
    char directory[];
} flock_store;

typedef struct flock_file {
    latch_descriptor descriptor;
    latch_link link;      /* in the store's `idle`, or in what the thread holds */
    latch_hash_node node; /* in the store's `files`, if it is listed */
    dev_t device;         /* known from the first latch_flock_file_check() on */
    ino_t inode;
    int64_t path_checked_ns; /* time of the last check that the path leads to it */
    int64_t checked_ns;      /* time of the last check for a queue; by the coarse clock, as are: */
    int64_t released_ns, overtook_ns;
    int64_t turn_ns;     /* when its turn began, see latch_flock_turn_continue() */
    int64_t left_ns;     /* time of the last release with a number */
    int64_t number;      /* number in the queue of the turn's wait, or LATCH_FLOCK_NONE */
    unsigned generation; /* of the process that opened it */
    unsigned fork_count; /* of the engine, when a lease got it */
    uint8_t mode;        /* while held, or waited for: of latch_mode */
    uint8_t turn_left;   /* acquires left in that turn, ahead of waiters */
    int8_t returns;      /* number of returns at once, see turn.c */
    bool is_wanted;      /* there were waiters at the last check, or this process waited */
    bool has_number;     /* keeps its number while it is locked: waiters wait for that */
    bool is_kept;        /* it has been released, and the number is left to the helper of turn.c */
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
 * neither idle nor held. LATCH_WANT_TIMER: another process is creating it, try again in a moment.
 * LATCH_CONFLICT: other processes create and remove it all the time.
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
/* Is it locked by any process, this one included? */
bool latch_flock_file_locked(const flock_store *store, const flock_file *file);
/* Whether another process may have it open too, so that it can be unlocked there. */
bool latch_flock_file_shared(const flock_store *store, const flock_file *file);

/*
 * Joins the queue: takes the number after the highest one, which becomes *ahead. LATCH_FLOCK_NONE:
 * no number can be taken; the caller can still wait for *ahead.
 */
int64_t latch_flock_queue_join(const flock_store *store, const flock_file *file, int64_t *ahead);
/* Leaves the queue: frees the number, and the lock on a predecessor's. */
void latch_flock_queue_leave(int fd);
/* The next lower number that is taken; LATCH_FLOCK_NONE: `number` is the first. */
int64_t latch_flock_queue_ahead(int fd, int64_t number);
/* The lowest number below `number` that is taken; LATCH_FLOCK_NONE: of all numbers. */
int64_t latch_flock_queue_first(int fd, int64_t number);
/* Has no other process a number? */
bool latch_flock_queue_is_empty(int fd);
/* Are there waiters? Answers no without a system call where that is most probable. */
bool latch_flock_queue_has_waiters(flock_store *store, flock_file *file);
/* May an attempt without a wait overtake the waiters? */
bool latch_flock_queue_overtake(const flock_store *store, flock_file *file);

/* Begins a turn: a wait with this number, or LATCH_FLOCK_NONE, has ended with a grant. */
void latch_flock_turn_begin(flock_file *file, int64_t now_ns, int64_t number);
/* May the process acquire once more ahead of the waiters, in its turn? An exclusive lock then has
 * the number of the turn again. */
bool latch_flock_turn_continue(const flock_store *store, flock_file *file, bool exclusive);
/* Keeps the number of a file that was just unlocked for the next acquire, if that is likely to
 * follow at once in the same turn, and other processes wait. */
bool latch_flock_turn_keep_number(flock_store *store, flock_file *file);
/* Takes a kept number back from the helper: the caller has to give it back, or to close the file.
 */
void latch_flock_turn_reclaim_number(flock_store *store, flock_file *file);
void latch_flock_turn_end_helper(flock_store *store);

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

/* Has the wait ended? Then op->state is NULL, and the caller owns *file. */
flock_wait_outcome latch_flock_wait_check(latch_op *op, int64_t now_ns, flock_file **file);
/* Ends the wait at once, FLOCK_WAIT_GIVEN_UP unless it had ended already. */
flock_wait_outcome latch_flock_wait_end(latch_op *op, flock_file **file);
void latch_flock_end_parked(flock_store *store);

/* LATCH_INSPECT and LATCH_LIST. */
latch_status latch_flock_inspect(latch_op *op);
latch_status latch_flock_list(latch_op *op);

/* ---- Calls: records in files */

#define LATCH_FLOCK_RECORD_NAME 80 /* bytes of a record's name, with a NUL */
#define LATCH_FLOCK_STATE ".state"
#define LATCH_FLOCK_NEW_STATE ".state.new" /* what becomes the next one; written under its lock */

/* LATCH_CALL, as latch_store_class.begin(), step() and cancel(). */
latch_status latch_flock_call(latch_op *op);
latch_status latch_flock_call_step(latch_op *op, int64_t now_ns);
latch_status latch_flock_call_cancel(latch_op *op);

/* The name of a record: of its files, and of the lock that its writers hold. */
void latch_flock_record_name(const flock_store *store, const char *kind, const char *resource,
                             size_t length, char name[LATCH_FLOCK_RECORD_NAME]);
/* The path of a record's file with that ending. */
latch_status latch_flock_record_path(const flock_store *store, const char *name, const char *ending,
                                     char *path, size_t size, latch_error *error);
/* Whether a file is a record's with that ending: writes the name. */
bool latch_flock_is_record_name(const char *file, const char *ending,
                                char name[LATCH_FLOCK_RECORD_NAME]);

/* Reads a record, with or without its lock; a text of NULL: there is none. For latch_free(). */
latch_status latch_flock_record_read(flock_store *store, const char *name, latch_bytes *text,
                                     latch_error *error);
/* Replaces or removes a record under its lock. After an error it is as before. */
latch_status latch_flock_record_write(flock_store *store, const char *name,
                                      const memory_text *record, latch_error *error);
latch_status latch_flock_record_remove(const flock_store *store, const char *name,
                                       latch_error *error);
/* Describes what is wrong with the file: "the file PATH PROBLEM". */
latch_status latch_flock_record_fail(const flock_store *store, const char *name,
                                     const char *problem, latch_error *error);
/* Removes files of records that have expired, once in a while: to be called when one was made. */
void latch_flock_sweep(flock_store *store);

/* latch_store_class.watch */
bool latch_flock_watch(const latch_lease *lease, latch_watch *watch);

#endif
