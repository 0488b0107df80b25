/*
 * Public header of the lock engine: locks are acquired, renewed and released through stores.
 *
 * The engine knows neither PHP nor Zend. Its clock, allocator, random source and digests are passed
 * in (latch_env); it has no global state and never ends the process. It does not block: a request
 * that must wait returns what to wait for, and the caller sleeps. Two exceptions: a step of the
 * stores of semaphores and of shared memory sleeps for up to 10 ms, as neither can be polled (and a
 * step in shared memory for 5 s, before it fails, if a process was stopped in the middle of a
 * change), and closing a store takes as long as its server needs to read the last bytes sent.
 * docs/engine.md walks one contended acquire through these calls.
 *
 * Threads: a latch_engine may be shared by all threads of a process. A store, its leases and their
 * operations belong to the thread that opened the store.
 */
#ifndef LATCH_H
#define LATCH_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "src/latch_calls.h"

/* A point in time that never comes, and the deadline of a lease without expiry (monotonic ns). */
#define LATCH_NEVER INT64_MAX
#define LATCH_NS_PER_MS INT64_C(1000000)
#define LATCH_NS_PER_S INT64_C(1000000000)

/* Outcome of a call. Values from LATCH_ERROR_MEMORY on are errors, described in a latch_error. */
typedef enum latch_status {
    LATCH_DONE = 0,       /* The request was carried out; for a probe: the lease is held. */
    LATCH_CONFLICT,       /* Another holder has the resource; for a probe: the lease is not held. */
    LATCH_WANT_IO,        /* Step again when op->fd has op->events, or at op->wake_ns. */
    LATCH_WANT_TIMER,     /* Step again at op->wake_ns. */
    LATCH_INTERRUPTED,    /* Of the caller and its runners alone: the caller gave the wait up. */
    LATCH_NO_VOTE,        /* latch_lease_vote() alone: the member has sent no answer. */
    LATCH_AGAIN,          /* Within a store alone: take the next step at once. */
    LATCH_ERROR_MEMORY,   /* The allocator returned NULL. */
    LATCH_ERROR_ARGUMENT, /* An argument is out of its range. */
    LATCH_ERROR_UNSUPPORTED, /* A DSN asks for a feature that this store lacks; others may have it.
                              */
    LATCH_ERROR_SYSTEM,      /* A system call failed; sys_errno says how. */
    LATCH_ERROR_STORE,       /* The store's server cannot be reached, or has refused the request. */
    LATCH_ERROR_DEADLOCK,    /* Only this thread could end the wait that it was about to begin. */
    LATCH_ERROR_LOST,        /* A lease that was held is held no more. */
    LATCH_ERROR_BUSY,        /* Another operation is in flight on the same lease. */
} latch_status;

/* Is the request still in flight? */
static inline bool latch_wants(latch_status status)
{
    return status == LATCH_WANT_IO || status == LATCH_WANT_TIMER;
}

/* Has the request ended with an error? A latch_error describes it. */
static inline bool latch_failed(latch_status status)
{
    return status >= LATCH_ERROR_MEMORY;
}

/* Owned by the caller; written only when a call fails. The message names no credential. */
typedef struct latch_error {
    latch_status status;
    int sys_errno; /* of the system call that failed; else 0 */
    char message[512];
} latch_error;

/* Digests for the names that stores share with servers and other clients (Symfony's). */
typedef enum latch_digest {
    LATCH_SHA256,
    LATCH_SHA1,
    LATCH_MD5,
    LATCH_XXH64,
    LATCH_XXH128,
    LATCH_CRC32, /* big-endian, as hash('crc32b') */
} latch_digest;

/* Bytes of the longest digest. */
#define LATCH_DIGEST_MAX 32

/* Bytes of latch_env.holder_info. */
#define LATCH_HOLDER_INFO_MAX 319

/* Environment: what the embedding program supplies. Each function gets `context`. */
typedef struct latch_env {
    void *context;
    void *(*allocate)(void *context, size_t size);           /* NULL on failure, never exits */
    void (*deallocate)(void *context, void *pointer);        /* accepts NULL */
    int64_t (*monotonic_ns)(void *context);                  /* cannot be set; counts in suspend */
    int64_t (*wall_ns)(void *context);                       /* since 1970-01-01 UTC */
    int64_t (*coarse_ns)(void *context);                     /* cannot be set; cheap, to 10 ms */
    bool (*random)(void *context, void *bytes, size_t size); /* unpredictable; false on failure */
    /* Digest of the concatenated parts; xxHash is big-endian, as in PHP's hash(). Never NULL for
       latch_engine_create(), but latch_env_system() sets none: libc has no digests. */
    void (*digest)(void *context, latch_digest kind, const struct iovec *parts, int part_count,
                   uint8_t digest[LATCH_DIGEST_MAX]);
    /*
     * Holder information, which some stores keep beside a lock for inspections: "HOST PID SCRIPT",
     * LATCH_HOLDER_INFO_MAX bytes of one line without credentials, valid until the next call.
     * Called by the thread that acquires. A NULL function or result: no information.
     */
    const char *(*holder_info)(void *context);
} latch_env;

/* malloc, CLOCK_BOOTTIME, CLOCK_REALTIME, CLOCK_MONOTONIC_COARSE and getrandom(2); digest and
 * holder_info stay NULL. */
latch_env latch_env_system(void);

/* ---- Engine: what the stores of one process share ---------------------------------------- */

typedef struct latch_engine latch_engine;

/*
 * Creates an engine with a copy of `env`; env->digest must be set. NULL and `error` on failure.
 * Free it by latch_engine_destroy(), after all its stores were closed.
 */
latch_engine *latch_engine_create(const latch_env *env, latch_error *error);
void latch_engine_destroy(latch_engine *engine);

int64_t latch_engine_now_ns(const latch_engine *engine);
int64_t latch_engine_wall_ns(const latch_engine *engine);
/* A random number below `bound`, which is not 0: for pauses and the like, as that spread
 * contenders. Half of it without a random source. */
uint64_t latch_engine_random(const latch_engine *engine, uint64_t bound);

/*
 * The three handlers of pthread_atfork(3): call them around fork(2). The child closes every
 * descriptor of the engine, without sending a byte on the parent's connections. Descriptors of
 * leases with `inherit` or `pass_on` stay open: a kernel lock lives as long as any process has it
 * open.
 */
void latch_engine_before_fork(latch_engine *engine);
void latch_engine_after_fork_in_parent(latch_engine *engine);
void latch_engine_after_fork_in_child(latch_engine *engine);

/* Number of forks between the engine's creation and this process: state that is stamped with
 * another number came from another process. */
unsigned latch_engine_generation(const latch_engine *engine);
/* Number of forks that this process has seen, as the parent or as the child. */
unsigned latch_engine_fork_count(const latch_engine *engine);

/* ---- Stores ------------------------------------------------------------------------------ */

typedef struct latch_store latch_store;

enum latch_capability {
    LATCH_EXPIRING = 1 << 0,     /* a lease ends by itself after its TTL */
    LATCH_BLOCKING = 1 << 1,     /* the store waits, instead of the engine's polls */
    LATCH_SHARED_LOCKS = 1 << 2, /* shared (read) locks */
    LATCH_PUSH = 1 << 3,         /* a waiter is woken by the release */
    LATCH_FENCING = 1 << 4,      /* exclusive leases carry a fencing token */
    LATCH_SERIALIZABLE = 1 << 5, /* the token proves ownership, in any process */
    LATCH_LISTING = 1 << 6,      /* LATCH_LIST: which locks are held */
    LATCH_SESSIONS = 1 << 7,     /* holders are sessions with a server, not processes */
    LATCH_HOLDER_INFO = 1 << 8,  /* holders leave latch_env.holder_info, or an expiry and an
                                    identity at least; LATCH_EVICT */
    LATCH_PERMITS = 1 << 9,      /* counting semaphores: latch_permit_lease_init() */
    LATCH_CALLS = 1 << 10,       /* versions, throttles, count-downs ...: LATCH_CALL */
    LATCH_OWNERS = 1 << 11,      /* the caller may name the owner: latch_lease_set_owner() */
};

/* Which processes a lock excludes. */
typedef enum latch_scope {
    LATCH_SCOPE_NOTHING = 0,
    LATCH_SCOPE_PROCESS, /* threads and coroutines of one process */
    LATCH_SCOPE_MACHINE, /* processes of one machine */
    LATCH_SCOPE_SERVER,  /* all clients of a server */
    LATCH_SCOPE_MEMBERS, /* of a combined store: what its members exclude */
} latch_scope;

/* Descriptor of a store, for messages, lists and tools. */
typedef struct latch_store_info {
    const char *name;  /* for latch_store_open(), unique: "postgresql" */
    const char *title; /* for messages: "PostgreSQL" */
    const char *
        state_name; /* key of the token in a serialised key: Symfony's class name; NULL: no token */
    const char *permit_state_name; /* the same in a semaphore's key; NULL: without LATCH_PERMITS */
    unsigned capabilities;         /* of enum latch_capability */
    latch_scope scope;
    /* Schemes of the store's DSNs (options->dsn), NULL-terminated; NULL: it takes no DSN. */
    const char *const *schemes;
    const char *library; /* client library and its version at build time: "libpq 15.3"; NULL: not
                            needed, or missing */
    const char *missing_library; /* "libpq" in a build without that library; else NULL */
    int64_t default_ttl_ms;      /* of locks without a TTL of their own; 0: locks do not expire */
    int64_t slowest_poll_ms;     /* longest pause between the polls of a waiter; 0: 100 ms */
} latch_store_info;

/* Option beside a DSN: replaces the DSN's option of that name. A value of NULL or "" is no option.
 */
typedef struct latch_setting {
    const char *name, *value;
} latch_setting;

/* Why a database has refused a statement, as far as that matters. */
typedef enum latch_sql_refusal {
    LATCH_SQL_REFUSED = 0,
    LATCH_SQL_CLASHED,  /* another transaction came first: SQLSTATE 40001 or 40P01; MySQL's errors
                           1205 and 1213 */
    LATCH_SQL_BUSY,     /* SQLite's errors 5 and 6: the database or the table is locked */
    LATCH_SQL_NO_TABLE, /* SQLSTATE 42P01 or 42S02; MySQL's error 1146; SQLite's "no such table: "
                         */
} latch_sql_refusal;

/* What a statement that returns no rows has changed. Zeroed before it is run. */
typedef struct latch_sql_change {
    int64_t affected; /* the number of rows that the client tells: rowCount(), executeStatement() */
    int64_t insert_id;         /* in MySQL and MariaDB: lastInsertId(); 0 for "no such id" */
    latch_sql_refusal refusal; /* of a statement that ended with LATCH_ERROR_STORE */
} latch_sql_change;

/*
 * Runs statements in a database session that the caller has opened, for stores that hold locks in
 * it. Both run() and execute() may block, for a second and a round trip while the server works. The
 * statements have all their values in them, and no placeholders; outside of quotes they have no "?"
 * and no ":", which PDO would take for one.
 */
typedef struct latch_sql_runner {
    void *context;
    /*
     * Runs one statement and writes the first value of the first row, as text; "" for NULL or no
     * row. LATCH_DONE; LATCH_CONFLICT: the server ended the wait, by its time-out;
     * LATCH_ERROR_DEADLOCK: the server found one; LATCH_ERROR_LOST: the session has ended;
     * LATCH_ERROR_MEMORY: the statement cannot be sent; LATCH_INTERRUPTED: its effect is unknown;
     * LATCH_ERROR_STORE: any other failure. `error` describes errors and interruptions.
     */
    latch_status (*run)(void *context, const char *statement, char *value, size_t size,
                        latch_error *error);
    /* Is a transaction open, which an error would abort? */
    bool (*is_in_transaction)(void *context);
    void (*close)(void *context); /* called when the store is closed */
    /* Runs one statement that returns no rows, such as INSERT, DELETE or CREATE TABLE, with the
     * same results as run(). For the store "table" alone; others leave it NULL. */
    latch_status (*execute)(void *context, const char *statement, latch_sql_change *change,
                            latch_error *error);
} latch_sql_runner;

/* Which rows of a table are a lock. Symfony up to 8.0 and from 8.1 on name them otherwise, and so
 * do not exclude each other. */
typedef enum latch_table_names {
    LATCH_TABLE_HASH = 0, /* the sha256 of the resource in hex: Symfony up to 8.0 */
    LATCH_TABLE_PLAIN,    /* the resource, up to 64 bytes of UTF-8; else as above: Symfony 8.1 */
    LATCH_TABLE_BOTH,     /* both: a lock excludes either */
} latch_table_names;

typedef enum latch_table_layout {
    LATCH_TABLE_SYMFONY = 0,
    LATCH_TABLE_LARAVEL, /* DatabaseLock's; `names` does not matter */
} latch_table_layout;

/* Options of the store "table". Names that are NULL are those of the layout. */
typedef struct latch_table_options {
    const char *table;             /* lock_keys; cache_locks */
    const char *id_column;         /* key_id; key */
    const char *token_column;      /* key_token; owner */
    const char *expiration_column; /* key_expiration; expiration */
    latch_table_layout layout;
    latch_table_names names;
    const char *prefix; /* Laravel's, before the name of a row; NULL: none */
    /* Leases carry fencing tokens, where there is a source: in MySQL the server is one; in
     * PostgreSQL a sequence, in SQLite a table, made with the table and named after it. */
    bool fencing;
    /* Probability with which a grant removes rows that have expired, 0 to 1. */
    double prune_probability;
    /* With a runner: PDO's name of the driver: "pgsql", "mysql" or "sqlite". */
    const char *driver;
    /* latch_store_info.state_name, which outlives the store; NULL: that of Symfony's PdoStore */
    const char *state_name;
} latch_table_options;

/* Call of a Lua script: EVALSHA digest key_count arguments..., or EVAL with its text. */
typedef struct latch_redis_script {
    const char *text, *digest; /* the digest in hex */
    size_t text_length, digest_length;
    size_t key_count; /* the first arguments are keys: how many */
    size_t count;     /* of arguments, keys included */
    const char *const *arguments;
    const size_t *lengths;
} latch_redis_script;

/* Reply of a script, in the forms that the engine's scripts use. */
typedef struct latch_redis_answer {
    enum {
        LATCH_REDIS_NIL,
        LATCH_REDIS_INTEGER, /* integers[0] */
        LATCH_REDIS_PAIR,    /* a list of the two integers */
        LATCH_REDIS_TEXT,
        LATCH_REDIS_ERROR, /* text: the server's message */
        LATCH_REDIS_LIST,  /* of byte strings: `list` */
        LATCH_REDIS_UNEXPECTED,
    } kind;
    int64_t integers[2];
    latch_answer *list; /* made by the runner, freed by the engine; NULL: none */
    char text[512];
} latch_redis_answer;

/*
 * Runs scripts through a Redis client that the caller has connected. run() may block, for a round
 * trip while the server works.
 */
typedef struct latch_redis_runner {
    void *context;
    bool is_cluster; /* all keys of a script must be in one slot */
    /*
     * Called before each request. Can the client run a script now, for this resource (NULL: for
     * any)? LATCH_DONE, or an error that says why not; nothing is sent then. *prefix gets the
     * prefix that the client adds to keys, as it decides the slot in a cluster; owned by the
     * runner, valid until the next call.
     */
    latch_status (*prepare)(void *context, const char *resource, size_t length, const char **prefix,
                            size_t *prefix_length, latch_error *error);
    /*
     * LATCH_DONE: the server has replied, with a value or an error. LATCH_ERROR_LOST: the script or
     * its reply was lost, as `error` describes. LATCH_INTERRUPTED: the same, but do not retry.
     */
    latch_status (*run)(void *context, const latch_redis_script *script, latch_redis_answer *answer,
                        latch_error *error);
    void (*close)(void *context); /* called when the store is closed */
} latch_redis_runner;

typedef struct latch_lease latch_lease;
typedef struct latch_request latch_request;

/*
 * Store that the caller implements (name "callback"). run() carries a request out and may block:
 * operations end in their first step. In the lease it may write `state` alone, which the engine
 * leaves to it.
 */
typedef struct latch_store_calls {
    void *context;
    /* LATCH_DONE, LATCH_CONFLICT, or an error with its description. */
    latch_status (*run)(void *context, latch_lease *lease, const latch_request *request,
                        latch_error *error);
    void (*close)(void *context); /* called when the store is closed; may be NULL */
} latch_store_calls;

/*
 * Quorum of a combined store. Both functions are monotonic: if is_met() accepts a number it accepts
 * every larger one; if can_be_met() accepts a number it accepts every smaller one.
 */
typedef struct latch_strategy {
    void *context;
    bool (*is_met)(void *context, size_t successes, size_t members);
    bool (*can_be_met)(void *context, size_t failures, size_t members);
    /*
     * May is_met() be called at any time? Then a request is decided as early as possible.
     * Otherwise it is called when all members have answered, as Symfony's CombinedStore does; a
     * probe is decided early all the same, as there.
     */
    bool is_pure;
} latch_strategy;

extern const latch_strategy latch_consensus; /* more than half of the members */
extern const latch_strategy latch_unanimity; /* all members */

/* The largest number of locks in a file of shared memory. */
#define LATCH_SHM_CAPACITY_MAX 16777216

typedef struct latch_store_options {
    /* flock: an existing directory; shm: a file, which is made, NULL: this user's own on this
     * machine. Absolute; copied */
    const char *path;
    /* shm: of a file that is made: the number of locks, 0: 65,536; its mode, 0: 0600 */
    uint32_t capacity;
    uint32_t mode;
    /* semaphore: hashed before the resource; copied, may be NULL when length is 0 */
    const char *project;
    size_t project_length;
    latch_digest digest; /* semaphore: LATCH_MD5, LATCH_XXH64 or LATCH_XXH128 */
    /* redis, postgresql, mysql, table: the server and its options; see docs/redis.md and
     * docs/sql.md. shm: "shm", "shm:///path?capacity=65536&mode=0660"; instead of path */
    const char *dsn;
    size_t dsn_length;
    const latch_setting *settings; /* postgresql, mysql, table: replace the DSN's */
    size_t setting_count;
    const latch_sql_runner *runner;         /* postgresql, mysql, table: instead of dsn */
    const latch_table_options *table;       /* table; copied; NULL: Symfony's, without pruning */
    const latch_redis_runner *redis_runner; /* redis: instead of dsn; copied */
    const latch_store_calls *calls;         /* callback; copied */
    /*
     * combined; copied. The caller owns the members, and closes them after the combined store.
     * slots: the one member, whose locks RESOURCE_0, RESOURCE_1 … are the permits of RESOURCE; it
     * must not be a combined store.
     */
    const latch_strategy *strategy;
    latch_store *const *members;
    size_t member_count;
} latch_store_options;

/*
 * Opens a store by the name of its descriptor. NULL and `error` on failure. Close it by
 * latch_store_close() after all its leases were dropped.
 */
latch_store *latch_store_open(latch_engine *engine, const char *name,
                              const latch_store_options *options, latch_error *error);
void latch_store_close(latch_store *store);
/*
 * Flushes several stores before they are closed: sends pending releases and awaits the replies, for
 * one second in all. Without this call closing a store waits up to a second for its own server.
 */
void latch_stores_settle(latch_store *const *stores, size_t count);
const latch_store_info *latch_store_describe(const latch_store *store);
/*
 * Identity: stores with the same name and identity have the same locks. NULL: the store has none.
 * May contain credentials: compare it, never show it.
 */
const char *latch_store_identity(const latch_store *store);

/* The descriptors of all stores, those without their client library included; NULL past the end. */
const latch_store_info *latch_store_at(size_t index);
/* The descriptor with this name, or NULL. */
const latch_store_info *latch_store_find(const char *name);

/* ---- Leases: one holder's hold on one resource ------------------------------------------- */

typedef enum latch_mode { LATCH_FREE = 0, LATCH_SHARED, LATCH_EXCLUSIVE } latch_mode;

/* Length of a new token: base64 of 32 random bytes, as Symfony's stores write it. */
#define LATCH_TOKEN_LENGTH 44
/* Longest token of a store without owners. */
#define LATCH_TOKEN_MAX 63
/* Longest owner, in stores with LATCH_OWNERS. */
#define LATCH_OWNER_MAX 1024

/*
 * Initialised by latch_lease_init(), ended by latch_lease_drop(); not to be moved in between. The
 * caller writes `inherit`, `pass_on` and `remove`, which take effect at an acquire or release, and
 * the caller's own fields; all others are read-only.
 */
struct latch_lease {
    latch_store *store;     /* NULL: the caller drives the store, and records outcomes here */
    const char *resource;   /* owned by the caller; outlives the lease */
    int64_t deadline_ns;    /* monotonic; the hold is certain before it. LATCH_NEVER = no expiry */
    uint64_t fencing_token; /* 0 = none */
    void *state;            /* private to the store */
    char *token;            /* owned by the lease; NULL: none yet. A NUL follows it */
    struct latch_detached_op *detached; /* a request in flight without a caller; NULL: none */
    uint32_t resource_length;
    /* In one word with what follows: a program may have 100,000 leases. */
    uint32_t token_length : 11;
    uint32_t losses : 8; /* number of losses, modulo 256 */
    uint32_t mode : 2;   /* of latch_mode */
    bool busy : 1;       /* an operation is in flight */
    bool lost : 1;       /* the last operation found a held lease gone */
    bool inherit : 1;    /* a forked child may release it (daemons); flock: and keeps it */
    bool pass_on : 1;    /* flock: programs that are started meanwhile keep it, too */
    bool remove : 1;     /* flock: an exclusive release removes the lock file */
    bool observed : 1;   /* latch_lease_start_renewal() was called */
    /* The caller's own; the engine reads only the first, for latch_renewal_spec.is_shared_out. */
    bool handed_over : 1; /* another process knows the token */
    bool imported : 1;    /* the token came from another process */
    bool forked : 1;      /* another process shares the hold, or did */
    bool is_member : 1;   /* of a lock on several resources; for the caller's use */
    bool is_permit : 1;   /* on permits of a semaphore: latch_permit_lease_init() */
};

/* Uses the first 4 GiB of a longer resource. */
void latch_lease_init(latch_lease *lease, latch_store *store, const char *resource, size_t length);

/*
 * The same for a hold on permits of the counting semaphore `resource`, which is independent of a
 * lock of that name. Held, its mode is LATCH_EXCLUSIVE. In a store without LATCH_PERMITS each
 * request on it fails (LATCH_ERROR_UNSUPPORTED).
 */
void latch_permit_lease_init(latch_lease *lease, latch_store *store, const char *resource,
                             size_t length);

/*
 * Replaces the lease's token, as by that of a serialised key. LATCH_ERROR_ARGUMENT unless it is a
 * text of 1 to LATCH_TOKEN_MAX bytes; in a store with LATCH_OWNERS any bytes, up to
 * latch_token_max().
 */
latch_status latch_lease_set_token(latch_lease *lease, const char *token, size_t length,
                                   latch_error *error);

/* Bytes of the longest token that a lease in the store can have. */
size_t latch_token_max(const latch_store *store);

/* Has the lease this token? */
bool latch_lease_has_token(const latch_lease *lease, const char *token, size_t length);

/*
 * Gives the lease, which has no token, the owner of its locks: 1 to LATCH_OWNER_MAX bytes, any. For
 * stores with LATCH_OWNERS. Until it acquires, the lease stands for any hold of that owner: it can
 * be released, renewed and probed.
 */
latch_status latch_lease_set_owner(latch_lease *lease, const char *owner, size_t length,
                                   latch_error *error);

/*
 * Gives the lease a fresh token unless it has one; also in place of a token by which nothing is
 * held, and a release may still come. Otherwise stores make tokens on demand.
 */
latch_status latch_lease_make_token(latch_lease *lease, latch_error *error);

/*
 * The token, to be set in another lease of the same holder; owned by this lease. NULL: there is
 * none, or another process holds by it, or a release by it is in flight.
 */
const char *latch_lease_shared_token(const latch_lease *lease);

/*
 * Is the lease held, as far as this process knows, without I/O? It is if it was acquired, not
 * released, not found lost, and `now_ns` is before its deadline, which counts from the moment at
 * which the acquiring or renewing command was sent. A renewed lease (latch_lease_start_renewal())
 * past its deadline becomes lost here.
 */
bool latch_lease_held(latch_lease *lease, int64_t now_ns);

/*
 * Ends the lease and frees its token, without a release: a lock in a server stays until it expires,
 * a kernel lock until its last descriptor is closed. No operation may be in flight.
 */
void latch_lease_drop(latch_lease *lease);

/* ---- Leases in combined stores ----------------------------------------------------------- */

/* Part of a lease in a combined store: the lease in one member. */
typedef struct latch_lease_part {
    latch_lease *lease; /* owned by the caller; outlives the combined lease */
    int64_t ttl_ms;     /* of requests without a TTL */
} latch_lease_part;

/*
 * Gives a lease in a combined store its parts, in the order of the store's members. To be called
 * once, before the first request.
 */
latch_status latch_lease_join(latch_lease *lease, const latch_lease_part *members,
                              latch_error *error);

/* Vote of a member: its answer to the last request. */
typedef struct latch_vote {
    latch_status status;      /* LATCH_WANT_*: not yet; LATCH_NO_VOTE: not asked, or cancelled */
    const latch_error *error; /* if status is an error */
} latch_vote;

/*
 * Vote of one member on the last request of a lease in a combined store; valid until the next
 * request. Rollbacks since then do not change it.
 */
latch_vote latch_lease_vote(const latch_lease *lease, size_t member);

/* ---- Renewal: leases that a thread renews, or watches for their loss ---------------------- */

/*
 * Mailbox of a thread: reports of lost leases. Any thread calls `notify` when there is one to read,
 * with a mutex locked: it may set a flag, nothing more. NULL when memory ran out. To be closed by
 * its thread, after the renewal of all leases that name it was stopped.
 */
typedef struct latch_mailbox latch_mailbox;
latch_mailbox *latch_mailbox_open(latch_engine *engine, void (*notify)(void *context),
                                  void *context);
void latch_mailbox_close(latch_mailbox *mailbox);

/* Loss: a lease that was held has ended without a release by this process. */
typedef struct latch_loss {
    latch_lease *lease; /* whose latch_lease_start_renewal() named the mailbox */
    char reason[256];   /* a clause: "it could not be renewed in time: …" */
} latch_loss;

/* Removes and returns the next loss; false: none. Skips leases that were dropped or acquired anew
 * meanwhile. */
bool latch_mailbox_read(latch_mailbox *mailbox, latch_loss *loss);

typedef struct latch_renewal_spec {
    bool renew;          /* extend each third of the TTL; false: only report a loss */
    int64_t ttl_ms;      /* of a lease that is held already */
    int64_t max_hold_ms; /* end of renewal, counted from the acquire; 0: never */
    bool is_shared_out;  /* other processes may release it by its token: no loss then */
} latch_renewal_spec;

/*
 * Starts renewal of the lease, now and after each later acquire: the engine's thread extends it,
 * on connections of its own, each third of the TTL of the last acquire or refresh. A loss goes to
 * the mailbox: the deadline has passed, the store says that the lock is gone, or, where leases do
 * not expire, its session or lock file has ended. Operations keep the thread informed: renewal
 * stops when a release is sent. A second call changes the settings. LATCH_ERROR_UNSUPPORTED: this
 * store's leases cannot be renewed by a thread; LATCH_ERROR_SYSTEM: no thread could be started.
 */
latch_status latch_lease_start_renewal(latch_lease *lease, latch_mailbox *mailbox,
                                       const latch_renewal_spec *spec, latch_error *error);
/* Stops renewal, also one that is in flight; latch_lease_drop() does, too. */
void latch_lease_stop_renewal(latch_lease *lease);
/*
 * Copies the renewal thread's deadline into the lease. The deadline of a lost lease is in the past,
 * also where leases do not expire; its mode stays until it is released or acquired anew.
 */
void latch_lease_sync_deadline(latch_lease *lease, int64_t now_ns);

/* ---- Operations: one request in flight --------------------------------------------------- */

/* Of a permit lease: LATCH_ACQUIRE, LATCH_REFRESH, LATCH_RELEASE, LATCH_PROBE, LATCH_INSPECT, and
 * LATCH_LIST, whose reports are then those of semaphores. */
typedef enum latch_op_kind {
    LATCH_ACQUIRE,        /* exclusively; promotes a shared hold; of a permit lease: its weight */
    LATCH_ACQUIRE_SHARED, /* demotes an exclusive hold */
    LATCH_REFRESH,        /* renew for ttl_ms from now */
    LATCH_RELEASE,        /* succeeds also when nothing is held */
    LATCH_PROBE,          /* is it still held? */
    LATCH_INSPECT,        /* who holds the resource? One report */
    LATCH_LIST,           /* which locks of the store are held? A report each, unordered */
    LATCH_EVICT,          /* take the lock away from other holders; they may not notice */
    LATCH_CALL,           /* call a function of a primitive that is no lock: latch_call */
} latch_op_kind;

#define LATCH_IDENTITY_LENGTH 16

/* Most permits of a semaphore: servers count them in floating point. */
#define LATCH_PERMITS_MAX (INT64_C(1) << 53)

/* Permits of a semaphore: 1 <= weight <= limit <= LATCH_PERMITS_MAX. */
typedef struct latch_permits {
    int64_t limit;  /* number of permits, by this holder's request; others may name another limit */
    int64_t weight; /* number of them that the holder takes: all at once, or none */
    bool overtakes; /* an acquire's: it may pass a first waiter whose weight does not fit; in stores
                       with a queue of waiters for permits */
} latch_permits;

/* Holder of a lock, as known to the store. */
typedef struct latch_holder {
    struct latch_holder *next;
    int64_t number; /* the process ID, as seen by this process; LATCH_SESSIONS: the session's
                       number; LATCH_HOLDER_INFO: the process ID on its host, 0: unknown */
    /* The rest: LATCH_HOLDER_INFO alone. */
    char identity[LATCH_IDENTITY_LENGTH + 1]; /* for LATCH_EVICT; does not reveal the token */
    int64_t since_us;       /* time of the acquire, by the server's clock, since 1970; 0: unknown */
    int64_t left_ms;        /* time until the hold expires, or LATCH_NEVER */
    uint64_t fencing_token; /* 0: none */
    latch_permits permits;  /* of a semaphore's holder, in any store; {0}: a lock's holder; a limit
                               of 0: unknown */
    const char *host, *script; /* not verified: any client may write them; NULL: unknown */
    const char *owner;         /* where the request asks for it, else NULL */
    size_t owner_length;
    char text[]; /* of these */
} latch_holder;

/* Report on one lock, at the moment of the inspection. */
typedef struct latch_lock_report {
    struct latch_lock_report *next;
    latch_holder *holders; /* NULL: none, or none that is visible to this process */
    latch_mode mode;       /* LATCH_FREE: not held; LATCH_SHARED: permits are held */
    bool is_hashed;        /* the name is the SHA-256 of a resource that is not known, in hex */
    int64_t permits_used;  /* of a semaphore: by all holders together */
    uint64_t holder_count; /* LATCH_HOLDER_INFO: may be more than are listed */
    uint64_t waiter_count; /* LATCH_HOLDER_INFO */
    size_t name_length;    /* a resource may have NUL bytes */
    char name[]; /* the store's name of the lock: flock: path of the lock file; a store with
                    LATCH_HOLDER_INFO: the resource */
} latch_lock_report;

/* Frees a list of reports; NULL is an empty one. */
void latch_lock_reports_free(const latch_engine *engine, latch_lock_report *reports);

struct latch_request {
    latch_op_kind kind;
    bool wait;                   /* acquire: wait for another holder's release; call of
                                    LATCH_COUNT_DOWN_STATE: for the end; else false */
    int64_t deadline_ns;         /* with wait: monotonic end of the wait, or LATCH_NEVER */
    int64_t ttl_ms;              /* acquire, refresh: > 0 where leases expire, 0 with LATCH_OWNERS:
                                    for ever; else unused */
    latch_permits permits;       /* acquire on a permit lease; a holder that asks again keeps the
                                    weight that it has. Inspect of one: the limit, which tells the
                                    slots store how many there are; others ignore it */
    bool extend;                 /* refresh: never shorten the hold */
    int64_t response_timeout_ms; /* of each reply; 0: the store's time-out */
    bool detach;                 /* release: do not await the reply */
    bool create;                 /* probe, in the store "table": creates the table, and nothing
                                    else; LATCH_ERROR_STORE if it is there already */
    bool *was_held;              /* release: a store with a server that tells sets *was_held; NULL:
                                    the caller does not ask */
    latch_lock_report **reports; /* inspect, list: *reports must be NULL, and gets a list; the
                                 caller frees it, also after an error */
    bool ask_owner;          /* inspect, in stores with LATCH_OWNERS: tell of the holder its owner,
                                and nothing else */
    bool include_peer_locks; /* list: also what looks like a lock of another client (Symfony) */
    const char *evicted;     /* evict: identities from a report, separated by blanks; NULL, in
                                stores with LATCH_OWNERS: whoever it is */
    uint64_t *evicted_count; /* evict: *evicted_count gets the number of those that held it */
    latch_call *call;        /* call: outlives the operation */
};

/*
 * Operation: one request in flight. A plain value without pointers to itself: it may be moved
 * between two calls. The caller reads `fd`, `events`, `wake_ns` and `waiting`; the rest is private.
 */
typedef struct latch_op {
    latch_lease *lease;
    latch_request request;
    latch_error *error;
    int fd;            /* LATCH_WANT_IO: the descriptor to poll; -1: latch_op_descriptors() */
    short events;      /* LATCH_WANT_IO: POLLIN, POLLOUT */
    int64_t wake_ns;   /* LATCH_WANT_*: latest time of the next step, or LATCH_NEVER */
    int64_t sent_ns;   /* time at which the last command was sent */
    int64_t poll_ns;   /* pause before the next poll, 0 before the first */
    int64_t expiry_ns; /* set by the store with LATCH_CONFLICT: time at which the other holder's
                          lock expires, if it is not renewed; 0: unknown. A poll comes no later */
    /* Acquire with a deadline: the first reply is awaited until then, even past the deadline. 0: no
       deadline. */
    int64_t first_response_deadline_ns;
    void *state;         /* private to the store; NULL: nothing in flight */
    unsigned generation; /* private to the store: of the process that has sent its last request */
    bool waiting;        /* waits for another holder's release */
    bool contended;      /* the store has seen another holder; see store.h, outage */
    uint8_t mode_before;
    uint8_t flags; /* private to the store */
    bool cancelled;
    bool rolling_back;       /* the cancel found a grant, and releases it */
    bool waits_for_detached; /* not sent yet: the lease's detached operation goes first */
} latch_op;

/* Most descriptors of one operation. */
#define LATCH_DESCRIPTORS_MAX 64

/*
 * After LATCH_WANT_IO: writes the descriptors to poll and returns their number, which is more than
 * one only for leases in combined stores.
 */
size_t latch_op_descriptors(const latch_op *op, struct pollfd descriptors[LATCH_DESCRIPTORS_MAX]);

/*
 * Starts a request and takes its first step. LATCH_WANT_*: wait, then call latch_op_step(). Any
 * other status is the outcome; the operation needs no clean-up then. `error` must outlive the
 * operation.
 */
latch_status latch_op_begin(latch_op *op, latch_lease *lease, const latch_request *request,
                            latch_error *error);

/*
 * Takes the next step. A wait past its deadline ends in LATCH_CONFLICT if another holder was seen,
 * else in LATCH_ERROR_STORE, as the server has not answered. The first reply is awaited for half a
 * second even if the deadline is earlier.
 */
latch_status latch_op_step(latch_op *op, int64_t now_ns);

/*
 * Cancels an operation. LATCH_WANT_*: wait, then call latch_op_cancel() again. An acquire ends in
 * LATCH_CONFLICT with the lease as it was before, as a grant that crossed the cancel is released;
 * LATCH_ERROR_LOST: a hold that was being promoted could not be kept; LATCH_DONE: a demotion or an
 * inspection had ended already. Renewals, releases and probes run to their end, as their outcome
 * must be known.
 */
latch_status latch_op_cancel(latch_op *op, int64_t now_ns);

#endif
