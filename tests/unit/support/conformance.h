/*
 * The conformance suite: one table of promises, through which each store is run by its descriptor.
 *
 * A store takes part by a fixture, which is a test program of a few lines, test_conformance_X.c. It
 * says how the store is opened, and where its server is; the suite selects the promises by the
 * store's capabilities and by the fixture's traits. What only one store promises stands in the
 * tests of this store.
 */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include "unit.h"

#define MINUTE INT64_C(60000)

/* What a store's descriptor does not tell; beside the bits of enum latch_capability. */
enum conformance_trait {
    CONFORMANCE_ALONE = 1 << 16,      /* its locks are seen in this one store alone */
    CONFORMANCE_GRANTS_ALL = 1 << 17, /* locks nothing */
    CONFORMANCE_CLIENT = 1 << 18,     /* on its user's connection, which no child may use */
    CONFORMANCE_DEADLOCKS = 1 << 19,  /* refuses a wait that only its own thread could end */
    CONFORMANCE_INSPECTS = 1 << 20,   /* tells who holds a lock */
    CONFORMANCE_INHERITS = 1 << 21,   /* a child may release a lease with `inherit` */
    CONFORMANCE_OWN_TTLS = 1 << 22,   /* a request need not name a TTL */
    CONFORMANCE_UNTIMED = 1 << 23, /* a probe does not tell how long: the key of another's hold is
                                      known to be held when it is renewed */
    CONFORMANCE_NO_HOLDERS = 1 << 28, /* of what its descriptor says, LATCH_LISTING and
                                         LATCH_HOLDER_INFO are for other databases */
    /* Derived from the fixture and the descriptor. */
    CONFORMANCE_SERVER = 1 << 24, /* has a server that can fall silent */
    CONFORMANCE_CUTS = 1 << 25,   /* has connections that can be ended */
    CONFORMANCE_TOKENS = 1 << 26, /* a token proves the hold */
    CONFORMANCE_RENEWS = 1 << 27, /* asks a server when it renews: it expires, or has sessions */
};

typedef enum conformance_variant {
    CONFORMANCE_PLAIN,
    CONFORMANCE_PATIENT, /* with time-outs that no test waits for, and a greeting */
    CONFORMANCE_OTHER,   /* by another transport */
} conformance_variant;

typedef struct conformance_fixture {
    const char *name;      /* of the program's tests */
    const char *store;     /* its name in the registry */
    unsigned capabilities; /* which its descriptor shall have, no more and no fewer */
    unsigned traits;       /* of enum conformance_trait */
    size_t rounds;         /* of random requests and races */
    size_t stride;         /* so many allocations apart one fails; 0: each in turn */

    int (*group_setup)(void **state); /* starts the server; NULL, with its end: there is none */
    int (*group_teardown)(void **state);
    int (*reset)(void **state); /* makes the server as it was when it was new; may be NULL */
    void (*prepare)(void);      /* behind unit_setup(); may be NULL */
    bool fake_clock;
    /* A store on the same locks as all others, with a connection of its own. NULL and unit.error.
     * A variant is asked for of those alone that have `silence`, or `has_other`. The pointer may be
     * NULL: unit_open(). */
    latch_store *(*open)(conformance_variant variant);
    bool has_other;
    /* NULL: latch_store_close() */
    void (*close)(latch_store *store);
    /* Behind latch_lease_init(): the parts of a lease, and their end. NULL: it has none. */
    void (*join)(latch_lease *lease);
    void (*leave)(latch_lease *lease);
    /* Fails unless nothing is held, queued or open any more; NULL: the world would tell. */
    void (*expect_nothing_left)(void);
    /* The number of the holder that an inspection shall name; NULL: this process's. */
    long long (*holder)(const char *resource);

    /* Halts the server with its connections open, and lets it go on; NULL: it has none. */
    void (*silence)(void);
    void (*resume)(void);
    const char *silent, *unreachable; /* in the errors for a server that does not answer or greet */
    void (*cut)(void);                /* ends the connections of all stores */
} conformance_fixture;

/* The whole test program of a store. */
int conformance_run(const conformance_fixture *fixture);

/* ---- For the promises ----------------------------------------------------------------------- */

typedef struct conformance_promise {
    const char *name;
    void (*test)(void **state);
    unsigned needs, excludes; /* capabilities and traits */
} conformance_promise;

#define PROMISE(test, needs, excludes)                                                             \
    {                                                                                              \
#test, test, needs, excludes                                                               \
    }
#define NO_MORE_PROMISES                                                                           \
    {                                                                                              \
        NULL, NULL, 0, 0                                                                           \
    }

extern const conformance_promise conformance_holds[], conformance_inspections[],
    conformance_waits[], conformance_forks[], conformance_faults[];

typedef struct conformance_scene {
    const conformance_fixture *fixture;
    unsigned has;                    /* capabilities and traits */
    latch_store *another;            /* beside unit.store; the same where a store is alone */
    char r[48], s[48], t[48], u[48]; /* resources of this test program's alone */
} conformance_scene;

extern conformance_scene scene;

/* For fixtures: a store of a DSN, formatted as by printf(). */
latch_store *conformance_open_dsn(const char *format, ...) __attribute__((format(printf, 1, 2)));

bool conformance_has(unsigned bits); /* all of them */
bool conformance_has_any(unsigned bits);

/* A store until the end of the test, or until it is closed; NULL and unit.error. */
latch_store *conformance_open(conformance_variant variant);
void conformance_close(latch_store *store);

/* A new lease in unit.store, in the other store, or in any. */
latch_lease *conformance_lease(const char *resource);
latch_lease *conformance_other_lease(const char *resource);
latch_lease *conformance_lease_in(latch_store *store, const char *resource, size_t length);
/* Drops the leases that were made last, but for so many. */
void conformance_drop_leases(size_t kept);

/* Requests with a TTL of a minute; that wait at most so long. */
latch_request conformance_request(latch_op_kind kind);
latch_request conformance_waiting(latch_op_kind kind, int64_t timeout_ms);
latch_status conformance_try(latch_lease *lease, latch_op_kind kind);
latch_status conformance_try_for(latch_lease *lease, latch_op_kind kind, int64_t ttl_ms);
latch_status conformance_wait(latch_lease *lease, latch_op_kind kind, int64_t timeout_ms);
latch_status conformance_detach(latch_lease *lease);
/* Begins a wait; returns when the operation waits for another holder, or has ended. */
latch_status conformance_begin_wait(latch_op *op, latch_lease *lease, latch_op_kind kind,
                                    int64_t timeout_ms);
/* Steps first: another operation of the store may have read the answer. */
latch_status conformance_finish(latch_op *op);
/* Acquires, by a wait as long as it takes, and releases. */
void conformance_expect_free(latch_lease *lease);
/* Did the request fail as the store's server does, with this in its message? */
bool conformance_failed(latch_status status, const char *message);

#endif
