/*
 * What the engine's own files share: the engine's inside, registered descriptors, error helpers.
 */
#ifndef LATCH_INTERNAL_H
#define LATCH_INTERNAL_H

#include "src/latch.h"
#include "src/base/list.h"

#include <pthread.h>
#include <stdatomic.h>

/* A descriptor that a forked child must not share. Its fd is -1 when closed, also by a fork. */
typedef struct latch_descriptor {
    latch_link link;
    int fd;
    _Atomic bool inherit; /* read in the child, written by the owner's thread */
    bool is_shadowed;     /* see latch_descriptor_shadow() */
} latch_descriptor;

struct latch_engine {
    latch_env env;
    pthread_mutex_t mutex;         /* guards descriptors; held across fork() */
    latch_link descriptors;        /* of latch_descriptor */
    unsigned generation;           /* written only in a child that has one thread */
    _Atomic unsigned fork_count;   /* forks seen, as parent or as child */
    pthread_mutex_t renewer_mutex; /* guards the making of: */
    struct latch_renewer *renewer; /* NULL until somebody has a mailbox */
};

void latch_descriptor_register(latch_engine *engine, latch_descriptor *descriptor, int fd);
/*
 * The same for one that a client library has opened and is going to close, which may say good-bye
 * on it even in a forked child. There its number stays taken, by a file that leads nowhere, for the
 * library to close; fd is -1 all the same.
 */
void latch_descriptor_shadow(latch_engine *engine, latch_descriptor *descriptor, int fd);
/* Closes and forgets it; safe when a fork closed it already, or when it is done twice. */
void latch_descriptor_close(latch_engine *engine, latch_descriptor *descriptor);
/* Forgets it, so that its memory may go, and leaves it open: the caller's to close, unless -1. */
int latch_descriptor_forget(latch_engine *engine, latch_descriptor *descriptor);

/* A request that goes on, though who began it has what it wanted. */
typedef struct latch_left {
    latch_op op;
    latch_error error;
    unsigned generation; /* of the process whose it is */
} latch_left;

/*
 * Leaves an operation in flight to its lease, whose next one waits for its end; but a release comes
 * behind whatever it is, and goes on with one that was left. False: it has to be waited for, as its
 * store cannot go without, or memory ran out.
 */
bool latch_op_leave(const latch_op *op);
/* Describes in op->error what the server of an operation in flight has failed to do. False: its
 * store cannot tell. */
bool latch_op_outage(latch_op *op, int64_t now_ns);
/* latch_op_descriptors(), of `max` at most. */
size_t latch_op_list_descriptors(const latch_op *op, struct pollfd *descriptors, size_t max);
/*
 * Makes way for what is to come behind a release that was left, without its answer, and forgets
 * what a fork has copied. False: nothing should come, if that can be, as the server has not
 * answered many releases yet.
 */
bool latch_left_pass(latch_lease *lease);
/* Forgets what was left on a lease. */
void latch_left_drop(latch_lease *lease);

/* A fresh token. */
latch_status latch_token_make(const latch_engine *engine, char token[LATCH_TOKEN_MAX + 1],
                              latch_error *error);

/*
 * Starts a thread that lets no signal in, as PHP's handlers touch its interpreter, and keeps this
 * library loaded to the process's end. `thread` is to be joined; NULL: nobody joins it. Returns an
 * errno.
 */
int latch_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

/* Times and durations of any length: what is too late, or too long, is LATCH_NEVER. */
static inline int64_t latch_add_ns(int64_t time_ns, int64_t duration_ns)
{
    int64_t sum;

    return __builtin_add_overflow(time_ns, duration_ns, &sum) ? LATCH_NEVER : sum;
}

static inline int64_t latch_ms_to_ns(int64_t ms)
{
    int64_t ns;

    return __builtin_mul_overflow(ms, LATCH_NS_PER_MS, &ns) ? LATCH_NEVER : ns;
}

/* +-10 %, by chance, so that contenders do not meet again. */
int64_t latch_jittered_ns(const latch_engine *engine, int64_t duration_ns);

void *latch_allocate(const latch_engine *engine, size_t size); /* uninitialised */
void latch_free(const latch_engine *engine, void *pointer);

/* Describes a failure and returns `status`, so that a caller can return it on. */
latch_status latch_fail(latch_error *error, latch_status status, int sys_errno, const char *format,
                        ...) __attribute__((format(printf, 4, 5)));
latch_status latch_fail_memory(latch_error *error);

/* A new finding of that name and mode, in front of the list; NULL when memory ran out. */
latch_finding *latch_findings_add(const latch_engine *engine, latch_finding **findings,
                                  const char *name, latch_mode mode);
/* The same of a name that may have NUL bytes. */
latch_finding *latch_findings_add_named(const latch_engine *engine, latch_finding **findings,
                                        const char *name, size_t length, latch_mode mode);
/* Notes a holder, once; false when memory ran out. */
bool latch_finding_add_holder(const latch_engine *engine, latch_finding *finding, int64_t number);
/* A new holder in front of the others, with room for a text of that length; NULL: no memory. */
latch_holder *latch_finding_make_holder(const latch_engine *engine, latch_finding *finding,
                                        size_t text_length);

/* Writes the base64 form of `size` bytes and a NUL: 4 * ceil(size / 3) + 1 bytes. */
void latch_base64(const uint8_t *bytes, size_t size, char *text);

#endif
