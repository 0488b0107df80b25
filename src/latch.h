/*
 * Latch's engine: locks that are taken, renewed and given back through stores.
 *
 * This is the engine's one public header. The engine knows neither PHP nor Zend; clock, allocator,
 * random source and digests are passed in (latch_env), it keeps no global state and never ends the
 * process. What a request waits for is told to the caller, who owns the waiting; only a step of the
 * semaphore store sleeps by itself, for 10 ms at most, as semaphores cannot be polled; and to close
 * a store may take as long as its server needs to read what was sent last.
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
    LATCH_INTERRUPTED,  /* Of the caller and its runners alone: the caller gave the wait up. */
    LATCH_NO_VOTE,      /* latch_lease_vote() alone: the member has sent no answer. */
    LATCH_AGAIN,        /* Within a store alone: take the next step at once. */
    LATCH_ERROR_MEMORY, /* The allocator returned NULL. */
    LATCH_ERROR_ARGUMENT,    /* An argument is out of its range. */
    LATCH_ERROR_UNSUPPORTED, /* A DSN asks for what this store does not have, others may. */
    LATCH_ERROR_SYSTEM,      /* A system call failed; sys_errno says how. */
    LATCH_ERROR_STORE,       /* The store's server cannot be reached, or has refused the request. */
    LATCH_ERROR_DEADLOCK,    /* Only this thread could end the wait that it was about to begin. */
    LATCH_ERROR_LOST,        /* A lease that was held is held no more. */
    LATCH_ERROR_BUSY,        /* Another operation is in flight on the same lease. */
} latch_status;

/* Is the request still on its way? */
static inline bool latch_wants(latch_status status)
{
    return status == LATCH_WANT_IO || status == LATCH_WANT_TIMER;
}

/* Has it ended with an error, which a latch_error describes? */
static inline bool latch_failed(latch_status status)
{
    return status >= LATCH_ERROR_MEMORY;
}

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

#define LATCH_HOLDER_INFO_MAX 319

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
    /*
     * What who asks who holds a lock is told of this process, where stores keep that: "HOST PID
     * SCRIPT", LATCH_HOLDER_INFO_MAX bytes of plain text without credentials; valid until the next
     * call. Called by the thread that takes a lock. NULL, both: nothing.
     */
    const char *(*holder_info)(void *context);
} latch_env;

/* malloc, CLOCK_BOOTTIME, CLOCK_REALTIME, CLOCK_MONOTONIC_COARSE and getrandom(2); digest and
 * holder_info stay NULL. */
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
/* Counts all forks that it has seen, as the parent and as the child. */
unsigned latch_engine_fork_count(const latch_engine *engine);

/* ---- Stores ------------------------------------------------------------------------------ */

typedef struct latch_store latch_store;

enum latch_capability {
    LATCH_EXPIRING = 1 << 0,     /* leases end by themselves after their TTL */
    LATCH_BLOCKING = 1 << 1,     /* waits by itself, without polls of the engine */
    LATCH_SHARED_LOCKS = 1 << 2, /* knows shared holders */
    LATCH_PUSH = 1 << 3,         /* a waiter is woken by the release */
    LATCH_FENCING = 1 << 4,      /* exclusive leases carry a fencing token */
    LATCH_SERIALIZABLE = 1 << 5, /* the token alone proves ownership, also in another process */
    LATCH_LISTING = 1 << 6,      /* can tell which locks are held (LATCH_LIST) */
    LATCH_SESSIONS = 1 << 7,     /* holders are sessions with a server, not processes */
    LATCH_HOLDER_INFO = 1 << 8,  /* holders leave their holder_info; LATCH_EVICT */
    LATCH_PERMITS = 1 << 9,      /* has counting semaphores: latch_permit_lease_init() */
};

/* Which processes a lock excludes. */
typedef enum latch_scope {
    LATCH_SCOPE_NOTHING = 0,
    LATCH_SCOPE_PROCESS, /* threads and coroutines of one process */
    LATCH_SCOPE_MACHINE, /* processes of one machine */
    LATCH_SCOPE_SERVER,  /* all that can reach a server */
    LATCH_SCOPE_MEMBERS, /* those that the members of a combined store exclude */
} latch_scope;

/* The descriptor of a store: what messages, lists and tools tell of it. */
typedef struct latch_store_info {
    const char *name;       /* "postgresql": for latch_store_open(); no other store has it */
    const char *title;      /* where its locks are, for messages: "PostgreSQL" */
    const char *state_name; /* under which peers keep the token in a key: Symfony's class name;
                               NULL when there is no token */
    const char *permit_state_name; /* the same of a semaphore's key; NULL: without LATCH_PERMITS */
    unsigned capabilities;         /* of enum latch_capability */
    latch_scope scope;
    /* Schemes of DSNs, as in options->dsn, NULL-terminated; NULL: the store is opened without. */
    const char *const *schemes;
    const char *library; /* the client library with its version at build time: "libpq 15.3"; NULL:
                            none is needed, or it is missing */
    const char *missing_library; /* its name in a build without it: "libpq"; else NULL */
    int64_t default_ttl_ms;      /* of locks for which none is given; 0: they do not expire */
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

/* A script that is to be run in Redis: EVALSHA digest key_count arguments..., or EVAL by its text.
 */
typedef struct latch_redis_script {
    const char *text, *digest; /* the digest in hex */
    size_t text_length, digest_length;
    size_t key_count; /* as many of the arguments, from the first one */
    size_t count;     /* of all arguments */
    const char *const *arguments;
    const size_t *lengths;
} latch_redis_script;

/* What the server has answered, in the forms in which ours do. */
typedef struct latch_redis_answer {
    enum {
        LATCH_REDIS_NIL,
        LATCH_REDIS_INTEGER, /* integers[0] */
        LATCH_REDIS_PAIR,    /* a list of the two integers */
        LATCH_REDIS_TEXT,
        LATCH_REDIS_ERROR, /* which the text describes as the server has */
        LATCH_REDIS_UNEXPECTED,
    } kind;
    int64_t integers[2];
    char text[512];
} latch_redis_answer;

/*
 * Runs scripts in Redis by a client that the engine's user has. As of latch_sql_runner, run() may
 * block, for a round trip where the server is well.
 */
typedef struct latch_redis_runner {
    void *context;
    bool is_cluster; /* keys of one script have to be in one slot */
    /*
     * Called before each request: can the client run scripts now, for that resource? NULL: for no
     * one in particular. LATCH_DONE; else an error that says why not: nothing is sent then.
     * `prefix` gets what the client puts before each key, which matters in a cluster; it is the
     * runner's, and stays until the next call.
     */
    latch_status (*prepare)(void *context, const char *resource, size_t length, const char **prefix,
                            size_t *prefix_length, latch_error *error);
    /*
     * LATCH_DONE: the server has answered, be it by an error. LATCH_ERROR_LOST: it may not have got
     * the script, or its answer is lost, which `error` describes; LATCH_INTERRUPTED: the same, and
     * it shall not be repeated.
     */
    latch_status (*run)(void *context, const latch_redis_script *script, latch_redis_answer *answer,
                        latch_error *error);
    void (*close)(void *context); /* called when the store is closed */
} latch_redis_runner;

typedef struct latch_lease latch_lease;
typedef struct latch_request latch_request;

/*
 * Carries requests out for a store that the engine's user has, whatever it locks in. run() may
 * block: the store's operations end within their first step. Of what the lease notes it writes
 * nothing but `state`, which is the user's own here.
 */
typedef struct latch_store_calls {
    void *context;
    /* LATCH_DONE, LATCH_CONFLICT, or an error, which it describes. */
    latch_status (*run)(void *context, latch_lease *lease, const latch_request *request,
                        latch_error *error);
    void (*close)(void *context); /* called when the store is closed; may be NULL */
} latch_store_calls;

/*
 * How many members of a combined store have to agree. What is_met() says of a number it says of
 * every larger one, and can_be_met() of every smaller one.
 */
typedef struct latch_strategy {
    void *context;
    bool (*is_met)(void *context, size_t successes, size_t members);
    bool (*can_be_met)(void *context, size_t failures, size_t members);
    /*
     * May is_met() be asked as often as one likes? Then a request is decided as soon as it says so.
     * Else when all members have answered, as Symfony's CombinedStore does, which a strategy of the
     * user's may count on; a probe is decided early all the same, as there.
     */
    bool is_pure;
} latch_strategy;

extern const latch_strategy latch_consensus; /* more than half of them */
extern const latch_strategy latch_unanimity; /* all of them */

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
    const latch_redis_runner
        *redis_runner;              /* redis: a client that is there; instead of dsn; copied */
    const latch_store_calls *calls; /* callback; copied */
    /* combined; copied. The members are the caller's, and are closed after the combined store. */
    const latch_strategy *strategy;
    latch_store *const *members;
    size_t member_count;
} latch_store_options;

/*
 * Opens the store called `name`. Closed by latch_store_close() once no lease uses it any more.
 * NULL and `error` when the name is unknown, an option is missing or memory ran out.
 */
latch_store *latch_store_open(latch_engine *engine, const char *name,
                              const latch_store_options *options, latch_error *error);
void latch_store_close(latch_store *store);
/*
 * To be called before several stores are closed: sends their servers what has to be sent, and
 * awaits the answers, for a second at most in all. Else each store takes a second of its own to be
 * closed when its server is silent.
 */
void latch_stores_settle(latch_store *const *stores, size_t count);
const latch_store_info *latch_store_describe(const latch_store *store);
/*
 * Stores of one name and one identity are one and the same, for all but their connections. NULL:
 * the store has none. It may contain credentials: for comparing only.
 */
const char *latch_store_identity(const latch_store *store);

/*
 * The stores in the order in which they are listed, also those that lack their library in this
 * build; NULL past the last one.
 */
const latch_store_info *latch_store_at(size_t index);
/* The one of them that is called `name`; NULL: there is none. */
const latch_store_info *latch_store_find(const char *name);

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
struct latch_lease {
    latch_store *store;     /* NULL: somebody else drives the store and notes the outcome here */
    const char *resource;   /* the caller's; outlives the lease */
    int64_t deadline_ns;    /* monotonic; the hold is certain before it. LATCH_NEVER = no expiry */
    uint64_t fencing_token; /* 0 = none */
    void *state;            /* the store's own */
    char *token;            /* the lease's own; NULL until it has one */
    struct latch_detached_op *detached; /* a request in flight without a caller; NULL: none */
    uint32_t resource_length;
    uint8_t mode;      /* of latch_mode */
    bool busy : 1;     /* an operation is in flight */
    bool lost : 1;     /* the last operation found it gone, though it had been held */
    bool inherit : 1;  /* forked children may release it (daemons); flock: and keep it */
    bool pass_on : 1;  /* flock: and in the programs that are started meanwhile */
    bool remove : 1;   /* flock: remove the lock file when an exclusive lock is released */
    bool observed : 1; /* by latch_lease_start_renewal() */
    /* The caller's notes; the engine reads the first one, for latch_renewal_spec.is_shared_out. */
    bool handed_over : 1; /* somebody else knows the token */
    bool imported : 1;    /* the token was somebody else's first */
    bool forked : 1;      /* another process has, or had, a part in the hold */
    bool is_permit : 1;   /* by latch_permit_lease_init(): on permits of a semaphore, not a lock */
    uint8_t losses;       /* how often it was lost, modulo 256 */
};

/* Of a resource that is longer the first 4 GiB count. */
void latch_lease_init(latch_lease *lease, latch_store *store, const char *resource, size_t length);

/*
 * The same for a hold on permits of the counting semaphore `resource`, which has nothing to do with
 * a lock of that name. Held, its mode is LATCH_EXCLUSIVE. In a store without LATCH_PERMITS each
 * request on it fails (LATCH_ERROR_UNSUPPORTED).
 */
void latch_permit_lease_init(latch_lease *lease, latch_store *store, const char *resource,
                             size_t length);

/*
 * Adopts the token of a key that was handed over, in place of its own. LATCH_ERROR_ARGUMENT unless
 * it is a text of 1 to 63 bytes.
 */
latch_status latch_lease_set_token(latch_lease *lease, const char *token, size_t length,
                                   latch_error *error);

/*
 * Gives the lease a fresh token unless it has one; also in place of a token by which nothing is
 * held, and a release may still come. A store that needs none makes it on demand.
 */
latch_status latch_lease_make_token(latch_lease *lease, latch_error *error);

/*
 * The token, for another lease of the same holder; its own still. NULL when there is none, or when
 * somebody is known by it already: another process, or nobody, as it is being given back.
 */
const char *latch_lease_shared_token(const latch_lease *lease);

/*
 * True while nobody else can hold the resource, as far as is known here, without I/O: acquired,
 * not released, not lost, and `now_ns` before a deadline that was counted from the moment at which
 * the acquiring or renewing command was sent. A renewed lease (latch_lease_start_renewal()) found
 * past its deadline is lost from then on.
 */
bool latch_lease_held(latch_lease *lease, int64_t now_ns);

/*
 * Forgets the lease, and its token, without releasing it. What the store keeps (a token in a table)
 * stays until it expires; a kernel lock ends with its last descriptor. No operation may be in
 * flight.
 */
void latch_lease_drop(latch_lease *lease);

/* ---- Leases in combined stores ----------------------------------------------------------- */

/* What a lease in a combined store holds in one of its members. */
typedef struct latch_lease_part {
    latch_lease *lease; /* the caller's; outlives the one that it is a part of */
    int64_t ttl_ms;     /* of requests that name none */
} latch_lease_part;

/*
 * Makes the leases, in the order of the store's members, the parts of `lease`, which lies in a
 * combined store and has none yet. To be called before its first request.
 */
latch_status latch_lease_join(latch_lease *lease, const latch_lease_part *members,
                              latch_error *error);

/* How a member has answered the last request. */
typedef struct latch_vote {
    latch_status status;      /* LATCH_WANT_*: not yet; LATCH_NO_VOTE: not asked, or cancelled */
    const latch_error *error; /* when status is one */
} latch_vote;

/*
 * The members' answers to the last request on a lease in a combined store, until the next one; in
 * the order of the members. What was given back since is not among them.
 */
latch_vote latch_lease_vote(const latch_lease *lease, size_t member);

/* ---- Renewal: leases that a thread renews, or watches for their loss ---------------------- */

/*
 * Where a thread hears of the leases that it has lost. `notify` is called when there is something
 * to be read, by any thread, with a lock held: it may set a flag, and no more. Closed by its thread
 * with latch_mailbox_close(), after all leases that name it were let go. NULL when memory ran out.
 */
typedef struct latch_mailbox latch_mailbox;
latch_mailbox *latch_mailbox_open(latch_engine *engine, void (*notify)(void *context),
                                  void *context);
void latch_mailbox_close(latch_mailbox *mailbox);

/* What became of a lease: it was held, and it is no more, though nobody here has released it. */
typedef struct latch_loss {
    latch_lease *lease; /* whose latch_lease_start_renewal() named the mailbox */
    char reason[256];   /* a clause: "it could not be renewed in time: …" */
} latch_loss;

/* Takes the next loss out; false when there is none. What was dropped or taken anew is none. */
bool latch_mailbox_read(latch_mailbox *mailbox, latch_loss *loss);

typedef struct latch_renewal_spec {
    bool renew;          /* extend it each third of its TTL; false: only tell when it is lost */
    int64_t ttl_ms;      /* of a hold that was acquired before the call */
    int64_t max_hold_ms; /* not beyond so long after it was acquired; 0: for ever */
    bool is_shared_out;  /* others may release it, by its token: then it is not lost */
} latch_renewal_spec;

/*
 * From now on, and whenever it is acquired again, the lease is renewed by a thread of the engine's,
 * on connections of its own, each third of the TTL that it was last acquired or refreshed with, and
 * its loss is told to the mailbox: when its deadline has passed, when the store says that it is
 * gone, or, where leases do not expire, when what holds it has ended (a session, a lock file).
 * latch_op_begin() and its like see to the rest: nothing is renewed once a release is on its way.
 * Called again it changes the settings. LATCH_ERROR_UNSUPPORTED: a thread cannot do that for a
 * lease in this store, and why; LATCH_ERROR_SYSTEM: there is no thread to be had.
 */
latch_status latch_lease_start_renewal(latch_lease *lease, latch_mailbox *mailbox,
                                       const latch_renewal_spec *spec, latch_error *error);
/* Ends that, also for what is in flight; latch_lease_drop() does, too. */
void latch_lease_stop_renewal(latch_lease *lease);
/*
 * Brings deadline_ns up to date with what the thread knows. Of a lease that is lost it is in the
 * past, also where leases do not expire; its mode stays until it is released or acquired anew.
 */
void latch_lease_sync_deadline(latch_lease *lease, int64_t now_ns);

/* ---- Operations: one request in flight --------------------------------------------------- */

/* Of a permit lease: LATCH_ACQUIRE, LATCH_REFRESH, LATCH_RELEASE, LATCH_PROBE, LATCH_INSPECT. */
typedef enum latch_op_kind {
    LATCH_ACQUIRE,        /* exclusively; promotes a shared hold; of a permit lease: its weight */
    LATCH_ACQUIRE_SHARED, /* demotes an exclusive hold */
    LATCH_REFRESH,        /* renew for ttl_ms from now */
    LATCH_RELEASE,        /* succeeds also when nothing is held */
    LATCH_PROBE,          /* is it still held? */
    LATCH_INSPECT,        /* who holds the resource, if anybody does? One report */
    LATCH_LIST,           /* which locks of the store are held? A report each, in no order */
    LATCH_EVICT,          /* take the lock away from others, who may not notice */
} latch_op_kind;

#define LATCH_IDENTITY_LENGTH 16

/* The most permits that a semaphore has: servers count them in floating point. */
#define LATCH_PERMITS_MAX (INT64_C(1) << 53)

/* How many permits of a semaphore: 1 <= weight <= limit <= LATCH_PERMITS_MAX. */
typedef struct latch_permits {
    int64_t limit;  /* how many there are, as this holder says; each may say another number */
    int64_t weight; /* how many of them it takes: all at once, or none */
} latch_permits;

/* One who holds a lock, as far as the store knows. */
typedef struct latch_holder {
    struct latch_holder *next;
    int64_t number; /* of the process, as this one sees it; LATCH_SESSIONS: of the session;
                       LATCH_HOLDER_INFO: of the process on its host, 0 when it left none */
    /* The rest with LATCH_HOLDER_INFO alone. */
    char identity[LATCH_IDENTITY_LENGTH + 1]; /* for LATCH_EVICT; tells nothing of its token */
    int64_t since_us;       /* since when it holds, by the server's clock, since 1970; 0: unknown */
    int64_t left_ms;        /* until its hold ends if it is not renewed; LATCH_NEVER: it does not */
    uint64_t fencing_token; /* 0: none */
    latch_permits permits;  /* of a semaphore's holder, any store's; {0}: a lock's; a limit of 0: it
                               is not known */
    const char *host, *script; /* as anybody may have written them; NULL: unknown */
    char text[];               /* of those */
} latch_holder;

/* What an inspection found out about one lock at one moment, which is over when it is read. */
typedef struct latch_lock_report {
    struct latch_lock_report *next;
    latch_holder *holders; /* NULL: nobody, or nobody that can be known from here */
    latch_mode mode;       /* LATCH_FREE: nobody holds it; LATCH_SHARED: permits are held */
    int64_t permits_used;  /* of a semaphore: by all holders together */
    uint64_t holder_count; /* LATCH_HOLDER_INFO: there may be more than are listed */
    uint64_t waiter_count; /* LATCH_HOLDER_INFO */
    size_t name_length;    /* a resource may have NUL bytes */
    char name[];           /* what the store calls the lock: flock the lock file's path, a store
                              with LATCH_HOLDER_INFO the resource */
} latch_lock_report;

/* Frees a list of reports; NULL is an empty one. */
void latch_lock_reports_free(const latch_engine *engine, latch_lock_report *reports);

struct latch_request {
    latch_op_kind kind;
    bool wait;                   /* acquire: wait while somebody else holds */
    int64_t deadline_ns;         /* acquire with wait: monotonic end of the wait, or LATCH_NEVER */
    int64_t ttl_ms;              /* acquire, refresh: > 0 where leases expire; unused elsewhere */
    latch_permits permits;       /* acquire on a permit lease alone; who holds already keeps the
                                    weight that it has */
    bool extend;                 /* refresh: never to an earlier end than the hold has already */
    int64_t response_timeout_ms; /* how long to wait for an answer; 0: as long as the store does */
    bool detach;                 /* release: sent, but its answer not awaited, where there is one */
    latch_lock_report **reports; /* inspect, list: *reports, NULL before, gets what was found; the
                                 caller's to free, however it ends */
    bool include_peer_locks;     /* list: also what is a peer's lock by all that can be seen */
    const char *evicted;         /* evict: the identities, as a report has them, blanks between */
    uint64_t *evicted_count;     /* evict: *evicted_count gets how many of them held the lock */
};

/*
 * A plain value: between two calls it may be copied elsewhere, it holds no pointer to itself.
 * `fd`, `events`, `wake_ns` and `waiting` are answers; the rest is the engine's.
 */
typedef struct latch_op {
    latch_lease *lease;
    latch_request request;
    latch_error *error;
    int fd;          /* LATCH_WANT_IO: the descriptor to poll; -1: latch_op_descriptors() */
    short events;    /* LATCH_WANT_IO: POLLIN, POLLOUT */
    int64_t wake_ns; /* LATCH_WANT_*: step at this time at the latest, or LATCH_NEVER */
    int64_t sent_ns; /* when the last command was sent */
    int64_t poll_ns; /* pause before the next poll, 0 before the first */
    /* Of an acquire with a deadline: a first answer is awaited until then even if the deadline is
       earlier; 0: there is no deadline. */
    int64_t first_response_deadline_ns;
    void *state;    /* the store's own, NULL when nothing is in flight in the store */
    bool waiting;   /* it has come to wait for what somebody else holds */
    bool contended; /* the store has learnt that another holder has the lock; see store.h, outage */
    uint8_t mode_before;
    uint8_t flags; /* the store's own */
    bool cancelled;
    bool rolling_back;       /* the cancel found a grant and is giving it back */
    bool waits_for_detached; /* not sent yet: the detached operation of its lease comes first */
} latch_op;

/* As many descriptors as an operation has at most. */
#define LATCH_DESCRIPTORS_MAX 64

/*
 * After LATCH_WANT_IO: writes what to poll, and returns how many that are. More than one only on
 * leases in combined stores.
 */
size_t latch_op_descriptors(const latch_op *op, struct pollfd descriptors[LATCH_DESCRIPTORS_MAX]);

/*
 * Starts `request` on `lease` and takes the first step. Returns LATCH_WANT_* when there is
 * something to wait for, else the outcome, after which the op needs no clean-up. `error` must live
 * as long as the op.
 */
latch_status latch_op_begin(latch_op *op, latch_lease *lease, const latch_request *request,
                            latch_error *error);

/*
 * Moves a waiting op on. A wait whose deadline has come ends in LATCH_CONFLICT if another holder is
 * known to have the lock, else in LATCH_ERROR_STORE: its server has not answered. Its
 * first answer is awaited for half a second, also where the deadline is earlier.
 */
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
