/*
 * What the unit tests share: a world that they control (clocks, memory, random bytes, system
 * calls), a driver for operations, files and other processes. Nothing waits longer than
 * UNIT_TIMEOUT_NS: a wait that takes longer is a failed test.
 */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/latch.h"

#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/types.h>

#if defined(__SANITIZE_THREAD__)
#define UNIT_TSAN true
#elif defined(__has_feature)
#define UNIT_TSAN __has_feature(thread_sanitizer)
#else
#define UNIT_TSAN false
#endif
#if defined(__SANITIZE_ADDRESS__)
#define UNIT_ASAN true
#elif defined(__has_feature)
#define UNIT_ASAN __has_feature(address_sanitizer)
#else
#define UNIT_ASAN false
#endif
#define UNIT_SANITIZED (UNIT_TSAN || UNIT_ASAN)

#ifndef UNIT_TIMEOUT_NS
#define UNIT_TIMEOUT_NS (20 * LATCH_NS_PER_S)
#endif

#define UNIT_PATH 128 /* bytes of the path of a directory for temporary files */

/* ---- The world (world.c) -------------------------------------------------------------------- */

typedef struct unit_world {
    latch_env env;
    latch_engine *engine;
    latch_store *store;        /* closed by unit_teardown(), may be NULL */
    latch_error error;         /* of the calls that the helpers make */
    char directory[UNIT_PATH]; /* of the flock store; empty without one */

    bool real_clock; /* false: now_ns and wall_ns stand still unless a test moves them */
    int64_t now_ns;
    int64_t wall_ns;
    int64_t ahead_ns; /* how much the real clock shall be ahead */

    _Atomic size_t allocations; /* calls so far */
    _Atomic size_t fail_at;     /* this call gets no memory; 0 = none */
    _Atomic bool fail_on;       /* neither do the calls after it */
    _Atomic size_t live;        /* blocks that were not freed yet */
    _Atomic int allocating;     /* threads in the middle of it */
    _Atomic bool allocates_slowly;

    const uint8_t *random_bytes; /* handed out first; a generator goes on when they are used up */
    size_t random_left;
    bool random_broken;
    uint64_t random_state;

    latch_lease leases[64]; /* of unit_lease(); dropped by unit_teardown() */
    size_t lease_count;
    size_t descriptors; /* open when the test began */
    size_t threads;     /* there then */
} unit_world;

extern unit_world unit;

/* For cmocka: an engine on a fake clock; with a store; and the end, which finds what leaked. */
int unit_setup(void **state);
int unit_setup_memory(void **state);
int unit_setup_null(void **state);
int unit_setup_flock(void **state);     /* real clock, own directory */
int unit_setup_semaphore(void **state); /* real clock */
int unit_teardown(void **state);

latch_store *unit_open(const char *name);
void unit_script_random(const void *bytes, size_t size);
/* By OpenSSL, which has SHA-256, SHA-1 and MD5. */
void unit_digest(void *context, latch_digest kind, const struct iovec *parts, int part_count,
                 uint8_t digest[LATCH_DIGEST_MAX]);

#define UNIT_TEST(test, setup) cmocka_unit_test_setup_teardown(test, unit_##setup, unit_teardown)

/* ---- Driving operations (drive.c) ----------------------------------------------------------- */

/* The engine's clock. */
int64_t unit_now_ns(void);

/* A new lease in unit.store, on the text `resource`, or on so many bytes. */
latch_lease *unit_lease(const char *resource);
latch_lease *unit_lease_on(const char *resource, size_t length);

latch_request unit_request(latch_op_kind kind);
/* A request that waits: LATCH_NEVER, or so many milliseconds. */
latch_request unit_waiting(latch_op_kind kind, int64_t timeout_ms);

/* Sleeps until the operation wants a step, at most until `limit_ns`. */
void unit_await_wish(const latch_op *op, latch_status status, int64_t limit_ns);
/* Does it want one? */
bool unit_is_due(const latch_op *op, latch_status status);
/* Steps until the operation ends; a fake clock is moved on to each wake_ns. */
latch_status unit_finish(latch_op *op, latch_status status);
/* Carries a whole request out. */
latch_status unit_run_request(latch_lease *lease, latch_request request);
/* The same without waiting for other holders, or with. */
latch_status unit_run(latch_lease *lease, latch_op_kind kind);
latch_status unit_run_waiting(latch_lease *lease, latch_op_kind kind, int64_t timeout_ms);

latch_status unit_begin(latch_op *op, latch_lease *lease, latch_request request);
/* Cancels to the end. */
latch_status unit_cancel(latch_op *op);
bool unit_held(latch_lease *lease);
/* Succeeds always; the lease holds nothing then. */
void unit_release(latch_lease *lease);
/* Returns when a waiting operation could be stepped with success, without doing so. */
void unit_await_grant(const latch_op *op);

/* ---- Files, descriptors, threads (files.c) -------------------------------------------------- */

void unit_make_directory(void); /* fills unit.directory */
void unit_remove_directory(void);
/* Any other directory, with all that is in it. */
void unit_make_temporary(char path[UNIT_PATH]);
void unit_remove_temporary(const char *path);
/* The lock file of `resource` in unit.directory; valid until the next call. */
const char *unit_lock_path(const char *resource);
size_t unit_count_descriptors(void);
size_t unit_count_threads(void);
/* Waits until the kernel has done with a thread: one that was joined is there for a moment. */
void unit_await_thread_end(pid_t id);
/*
 * Returns when there are at most so many threads more than when the test began; fails when there
 * are for long. (One that was joined may yet be seen for a moment.)
 */
void unit_await_threads(size_t count);
/* Is LOCK_EX or LOCK_SH to be had at once, through a description of its own? Takes nothing. */
bool unit_is_free(const char *resource, int operation);
bool unit_is_free_at(const char *path, int operation);
/* Returns when so many threads sleep in the kernel for this file, in flock() or in the queue. */
void unit_await_sleepers(const char *path, size_t count);

/* ---- Other processes (process.c) ------------------------------------------------------------ */

typedef struct unit_process {
    pid_t pid; /* 0 in the child itself */
    int to, from;
} unit_process;

/* Forks as a PHP process does, with the engine's handlers around. The child runs `body` and exits.
 */
unit_process unit_fork(void (*body)(unit_process *self, void *argument), void *argument);
void unit_say(const unit_process *other, char word);
char unit_hear(const unit_process *other); /* 0 at its end */
void unit_expect(const unit_process *other, char word);
void unit_join(unit_process *other); /* it must exit by itself, with 0 */
void unit_kill(unit_process *other);

/* An assertion for code that may run in a child too: there it ends the child with exit code 1. */
#define UNIT_CHECK(condition) unit_check((condition), #condition, __FILE__, __LINE__)
void unit_check(bool holds, const char *text, const char *file, int line);

/* Goes on when the condition holds; fails when it does not for long. */
#define UNIT_AWAIT(condition)                                                                      \
    do {                                                                                           \
        int64_t give_up_ns = unit_now_ns() + UNIT_TIMEOUT_NS;                                      \
                                                                                                   \
        while (!(condition)) {                                                                     \
            UNIT_CHECK(unit_now_ns() < give_up_ns);                                                \
        }                                                                                          \
    } while (0)

/* A process that opens and locks a file with nothing of Latch in it, as any foreign program. */
unit_process unit_peer(const char *path);
bool unit_peer_try(const unit_process *peer, int operation);  /* LOCK_EX, LOCK_SH or LOCK_UN */
void unit_peer_wait(const unit_process *peer, int operation); /* asks, without awaiting it */
void unit_peer_has(const unit_process *peer);                 /* awaits what was asked */

/* ---- System calls of the engine (system.c) -------------------------------------------------- */

/* Hooks that are asked first: -1 with errno set, or what the call shall return, or... */
#define UNIT_GO_ON (-2) /* ... make the real call. */

struct addrinfo;

typedef struct unit_system {
    int (*on_open)(const char *path, int flags);
    int (*on_flock)(int fd, int operation);
    int (*on_semget)(key_t key, int flags);
    int (*on_rename)(void);
    /* Asked in place of the real call about names, not about numbers. */
    int (*on_getaddrinfo)(const char *host, const char *service, const struct addrinfo *hints,
                          struct addrinfo **addresses);
    void (*_Atomic before_write)(int fd); /* a helper may be about to write when its test is over */
    bool no_eventfd, no_threads;          /* there are none to be had */
    bool no_byte_waits;                   /* the kernel refuses to wait for a byte of a file */
    bool no_calloc;                       /* no memory for what is not the engine's allocator's */
    long file_system;                     /* what statfs() says, 0 = the truth */
    _Atomic size_t opened;                /* calls of open() */
    _Atomic size_t started;               /* threads */
    _Atomic size_t written;               /* calls of write() */
    _Atomic size_t sent;                  /* calls of send() */
    _Atomic size_t address_lists;         /* of getaddrinfo() that were not freed yet */
} unit_system;

extern unit_system unit_calls;

/* Makes all of them real again, counted from 0. */
void unit_reset_calls(void);

#endif
