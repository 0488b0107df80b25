/*
 * Latch's engine: locks that are taken, renewed and given back through stores.
 *
 * This is the engine's one public header. The engine knows neither PHP nor Zend; clock, allocator,
 * random source and digests are passed in (latch_env), it keeps no global state and never ends the
 * process. What a request waits for is told to the caller, who owns the waiting; only a step of the
 * semaphore store sleeps by itself, for 10 ms at most, as semaphores cannot be polled.
 * docs/engine.md walks one contended acquire through these calls.
 *
 * Threads: a latch_engine may be shared by all threads of a process. A store, its leases and their
 * operations belong to the thread that opened the store.
 */
#ifndef LATCH_H
#define LATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* A point in time that never comes, and the deadline of a lease without expiry (monotonic ns). */
#define LATCH_NEVER INT64_MAX
#define LATCH_NS_PER_MS INT64_C(1000000)
#define LATCH_NS_PER_S INT64_C(1000000000)

/* Outcome of a call. Values from LATCH_ERROR_MEMORY on are errors, described in a latch_error. */
typedef enum latch_status {
    LATCH_DONE = 0,     /* The request was carried out; for a probe: the lease is held. */
    LATCH_CONFLICT,     /* Somebody else holds the resource; for a probe: the lease is not held. */
    LATCH_WANT_IO,      /* Step again when op->fd has op->events, or at op->wake_ns. */
    LATCH_WANT_TIMER,   /* Step again at op->wake_ns. */
    LATCH_INTERRUPTED,  /* Never the engine's answer: its user gave the wait up. */
    LATCH_ERROR_MEMORY, /* The allocator returned NULL. */
    LATCH_ERROR_ARGUMENT, /* An argument is out of its range. */
    LATCH_ERROR_SYSTEM,   /* A system call failed; sys_errno says how. */
    LATCH_ERROR_STORE,    /* The store's server cannot be reached, or has refused the request. */
    LATCH_ERROR_DEADLOCK, /* Only this thread could end the wait that it was about to begin. */
    LATCH_ERROR_LOST,     /* A lease that was held is held no more. */
    LATCH_ERROR_BUSY,     /* Another operation is in flight on the same lease. */
} latch_status;

#define LATCH_WANTS(status) ((status) == LATCH_WANT_IO || (status) == LATCH_WANT_TIMER)
#define LATCH_FAILED(status) ((status) >= LATCH_ERROR_MEMORY)

/* Owned by the caller; written only when a call fails. The message names no credential. */
typedef struct latch_error {
    latch_status status;
    int sys_errno; /* 0 when no system call is to blame */
    char message[512];
} latch_error;

/* The digests of which the names are made that stores share with their peers and servers. */
typedef enum latch_digest {
    LATCH_SHA256,
    LATCH_SHA1,
    LATCH_MD5,
    LATCH_XXH64,
    LATCH_XXH128,
    LATCH_CRC32, /* big-endian, as hash('crc32b') */
} latch_digest;

/* The longest of them, in bytes. */
#define LATCH_DIGEST_MAX 32

/* What the engine asks of its surroundings. Every function gets `context`. */
typedef struct latch_env {
    void *context;
    void *(*allocate)(void *context, size_t size);    /* NULL on failure, never exits */
    void (*deallocate)(void *context, void *pointer); /* accepts NULL */
    int64_t (*monotonic_ns)(void *context);           /* never set; goes on in suspend */
    int64_t (*wall_ns)(void *context);                /* since 1970-01-01 UTC */
    int64_t (*coarse_ns)(void *context);              /* never set; cheap, exact to some 10 ms */
    bool (*random)(void *context, void *bytes, size_t size); /* unpredictable; false on failure */
    /* Of the parts one after the other; xxHash big-endian, as PHP's hash(). latch_env_system()
       leaves it NULL: PHP brings them, libc does not. */
    void (*digest)(void *context, latch_digest kind, const struct iovec *parts, int part_count,
                   uint8_t digest[LATCH_DIGEST_MAX]);
} latch_env;

/* malloc, CLOCK_BOOTTIME, CLOCK_REALTIME, CLOCK_MONOTONIC_COARSE and getrandom(2); digest stays
 * NULL. */
latch_env latch_env_system(void);

/* ---- Engine: what the stores of one process share ---------------------------------------- */

typedef struct latch_engine latch_engine;

/*
 * Creates an engine that works on a copy of `env`; digest must be set. Freed by
 * latch_engine_destroy(), after all its stores were closed. NULL and `error` on failure.
 */
latch_engine *latch_engine_create(const latch_env *env, latch_error *error);
void latch_engine_destroy(latch_engine *engine);

int64_t latch_engine_now_ns(const latch_engine *engine);
int64_t latch_engine_wall_ns(const latch_engine *engine);

/*
 * To be called around fork(2), as the three handlers of pthread_atfork(3). In the child every
 * descriptor of the engine is closed, without any good-bye that the parent's peer could hear,
 * except those of leases with `inherit` or `pass_on`: kernel locks live as long as any process has
 * them open.
 */
void latch_engine_before_fork(latch_engine *engine);
void latch_engine_after_fork_in_parent(latch_engine *engine);
void latch_engine_after_fork_in_child(latch_engine *engine);

/* Counts the forks that led to this process: what was stamped in another process differs. */
unsigned latch_engine_generation(const latch_engine *engine);

/* ---- Stores ------------------------------------------------------------------------------ */

typedef struct latch_store latch_store;

enum latch_capability {
    LATCH_EXPIRING = 1 << 0,     /* leases end by themselves after their TTL */
    LATCH_BLOCKING = 1 << 1,     /* waits by itself, without polls of the engine */
    LATCH_SHARED_LOCKS = 1 << 2, /* knows shared holders */
    LATCH_PUSH = 1 << 3,         /* a waiter is woken by the release */
    LATCH_FENCING = 1 << 4,      /* exclusive leases carry a fencing token */
    LATCH_SERIALIZABLE = 1 << 5, /* the token alone proves ownership, also in another process */
    LATCH_THREAD_SAFE = 1 << 6,  /* may be driven by the renewal thread */
    LATCH_LISTING = 1 << 7,      /* can tell which locks are held (LATCH_LIST) */
    LATCH_SESSIONS = 1 << 8,     /* holders are sessions with a server, not processes */
};

typedef struct latch_store_info {
    const char *name;       /* "flock" */
    const char *state_name; /* under which peers keep the token in a key: Symfony's class name;
                               NULL when there is no token */
    unsigned capabilities;  /* of enum latch_capability */
} latch_store_info;

/* Comes beside a DSN, and goes before what is so called in it. A value of NULL or "" is as none. */
typedef struct latch_setting {
    const char *name, *value;
} latch_setting;

/*
 * Runs statements in a session with a database server that the engine's user has: for stores that
 * hold locks in it. Unlike everything else here run() may block, for a second and a round trip at
 * most where the server is well.
 */
typedef struct latch_sql_runner {
    void *context;
    /*
     * Runs one statement and writes the first value of the first row, as text, "" for NULL or no
     * row. LATCH_DONE; LATCH_CONFLICT: it waited as long as it might; LATCH_ERROR_DEADLOCK: the
     * server has found one; LATCH_ERROR_LOST: the session is over; LATCH_ERROR_MEMORY: nothing can
     * be sent now; LATCH_INTERRUPTED: nobody knows what came of it; LATCH_ERROR_STORE: any other
     * failure. On an error and an interruption `error` says why.
     */
    latch_status (*run)(void *context, const char *statement, char *value, size_t size,
                        latch_error *error);
    /* Is there a transaction that an error would spoil? */
    bool (*is_in_transaction)(void *context);
    void (*close)(void *context); /* called when the store is closed */
} latch_sql_runner;

typedef struct latch_store_options {
    const char *path; /* flock: an existing directory, absolute; copied */
    /* semaphore: goes before the resource into the digest; copied, may be NULL when length is 0 */
    const char *project;
    size_t project_length;
    latch_digest digest; /* semaphore: LATCH_MD5, LATCH_XXH64 or LATCH_XXH128 */
    /* redis, postgresql, mysql: where the server is and what it is told; docs/redis.md, docs/sql.md
     */
    const char *dsn;
    size_t dsn_length;
    const latch_setting *settings; /* postgresql, mysql: what goes before the same in the DSN */
    size_t setting_count;
    const latch_sql_runner *runner; /* postgresql, mysql: a session that is there; instead of dsn */
} latch_store_options;

/*
 * Opens the store called `name`. Closed by latch_store_close() once no lease uses it any more.
 * NULL and `error` when the name is unknown, an option is missing or memory ran out.
 */
latch_store *latch_store_open(latch_engine *engine, const char *name,
                              const latch_store_options *options, latch_error *error);
void latch_store_close(latch_store *store);
const latch_store_info *latch_store_describe(const latch_store *store);
/*
 * Stores of one name and one identity are one and the same, for all but their connections. NULL:
 * the store has none. It may contain credentials: for comparing only.
 */
const char *latch_store_identity(const latch_store *store);

/* The stores of this build, in the order in which they are listed; NULL past the last one. */
const latch_store_info *latch_store_at(size_t index);

/* ---- Leases: one holder's hold on one resource ------------------------------------------- */

typedef enum latch_mode { LATCH_FREE = 0, LATCH_SHARED, LATCH_EXCLUSIVE } latch_mode;

/* base64 of 32 random bytes, as Symfony's stores write it */
#define LATCH_TOKEN_LENGTH 44
/* the longest token that is taken from elsewhere */
#define LATCH_TOKEN_MAX 63

/*
 * Initialised by latch_lease_init(), ended by latch_lease_drop(), not moved between them. All is
 * read-only to the caller but `inherit`, `pass_on` and `remove`, which are read when the lease is
 * acquired and released.
 */
typedef struct latch_lease {
    latch_store *store;   /* NULL: somebody else drives the store and notes the outcome here */
    const char *resource; /* the caller's; outlives the lease */
    size_t resource_length;
    int64_t deadline_ns;    /* monotonic; the hold is certain before it. LATCH_NEVER = no expiry */
    uint64_t fencing_token; /* 0 = none */
    void *state;            /* the store's own */
    char *token;            /* the lease's own; NULL until it has one */
    uint8_t mode;           /* of latch_mode */
    bool busy;              /* an operation is in flight */
    bool lost;              /* the last operation found it gone, though it had been held */
    bool inherit;           /* forked children may release it (daemons); flock: and keep it */
    bool pass_on;           /* flock: and in the programs that are started meanwhile */
    bool remove;            /* flock: remove the lock file when an exclusive lock is released */
} latch_lease;

void latch_lease_init(latch_lease *lease, latch_store *store, const char *resource, size_t length);

/*
 * Adopts the token of a key that was handed over, in place of its own. LATCH_ERROR_ARGUMENT unless
 * it is a text of 1 to 63 bytes.
 */
latch_status latch_lease_adopt_token(latch_lease *lease, const char *token, size_t length,
                                     latch_error *error);

/* Gives the lease a fresh token unless it has one. A store that needs none makes it on demand. */
latch_status latch_lease_make_token(latch_lease *lease, latch_error *error);

/*
 * The token, for another lease of the same holder; its own still. NULL when there is none, or when
 * somebody is known by it already: another process, or nobody, as it is being given back.
 */
const char *latch_lease_shared_token(const latch_lease *lease);

/*
 * True while nobody else can hold the resource, as far as is known here, without I/O: acquired,
 * not released, not lost, and `now_ns` before a deadline that was counted from the moment at which
 * the acquiring or renewing command was sent.
 */
bool latch_lease_held(const latch_lease *lease, int64_t now_ns);

/*
 * Forgets the lease, and its token, without releasing it. What the store keeps (a token in a table)
 * stays until it expires; a kernel lock ends with its last descriptor. No operation may be in
 * flight.
 */
void latch_lease_drop(latch_lease *lease);

/* ---- Operations: one request in flight --------------------------------------------------- */

typedef enum latch_op_kind {
    LATCH_ACQUIRE,        /* exclusively; promotes a shared hold */
    LATCH_ACQUIRE_SHARED, /* demotes an exclusive hold */
    LATCH_REFRESH,        /* renew for ttl_ms from now */
    LATCH_RELEASE,        /* succeeds also when nothing is held */
    LATCH_PROBE,          /* is it still held? */
    LATCH_INSPECT,        /* who holds the resource, if anybody does? One finding */
    LATCH_LIST,           /* which locks of the store are held? A finding each, in no order */
} latch_op_kind;

/* One who holds a lock, as far as the store knows. */
typedef struct latch_holder {
    struct latch_holder *next;
    int64_t number; /* of the process, as this one sees it; LATCH_SESSIONS: of the session */
} latch_holder;

/* What an inspection found out about one lock at one moment, which is over when it is read. */
typedef struct latch_finding {
    struct latch_finding *next;
    latch_holder *holders; /* NULL: nobody, or nobody that can be known from here */
    latch_mode mode;       /* LATCH_FREE: nobody holds it */
    char name[];           /* what the store calls the lock; flock: the lock file's path */
} latch_finding;

/* Frees a list of findings; NULL is an empty one. */
void latch_findings_free(const latch_engine *engine, latch_finding *findings);

typedef struct latch_request {
    latch_op_kind kind;
    bool wait;                /* acquire: wait while somebody else holds */
    int64_t deadline_ns;      /* acquire with wait: monotonic end of the wait, or LATCH_NEVER */
    int64_t ttl_ms;           /* acquire, refresh: > 0 where leases expire; unused elsewhere */
    bool detach;              /* release: sent, but its answer not awaited, where there is one */
    latch_finding **findings; /* inspect, list: *findings, NULL before, gets what was found; the
                                 caller's to free, however it ends */
} latch_request;

/*
 * A plain value: between two calls it may be copied elsewhere, it holds no pointer to itself.
 * `fd`, `events`, `wake_ns` and `waiting` are answers; the rest is the engine's.
 */
typedef struct latch_op {
    latch_lease *lease;
    latch_request request;
    latch_error *error;
    int fd;          /* LATCH_WANT_IO: the descriptor to poll */
    short events;    /* LATCH_WANT_IO: POLLIN, POLLOUT */
    int64_t wake_ns; /* LATCH_WANT_*: step at this time at the latest, or LATCH_NEVER */
    int64_t sent_ns; /* when the last command was sent */
    int64_t poll_ns; /* pause before the next poll, 0 before the first */
    void *state;     /* the store's own, NULL when nothing is in flight in the store */
    bool waiting;    /* it has come to wait for what somebody else holds */
    uint8_t mode_before;
    uint8_t attempts; /* the store's own */
    bool cancelled;
    bool undoing; /* the cancel found a grant and is giving it back */
} latch_op;

/*
 * Starts `request` on `lease` and takes the first step. Returns LATCH_WANT_* when there is
 * something to wait for, else the outcome, after which the op needs no clean-up. `error` must live
 * as long as the op.
 */
latch_status latch_op_begin(latch_op *op, latch_lease *lease, const latch_request *request,
                            latch_error *error);

/* Moves a waiting op on. A wait whose deadline has come ends in LATCH_CONFLICT. */
latch_status latch_op_step(latch_op *op, int64_t now_ns);

/*
 * Gives a waiting op up. An acquire ends in LATCH_CONFLICT, with the lease as it was before: a
 * grant that crossed the cancel is given back. LATCH_ERROR_LOST: a hold that was being promoted
 * could not be kept. LATCH_DONE: a demotion, or an inspection, was carried out before the cancel.
 * Renewals, releases and probes are carried out to their end: what they did must be known.
 * LATCH_WANT_*: call latch_op_cancel() again then.
 */
latch_status latch_op_cancel(latch_op *op, int64_t now_ns);

#endif
