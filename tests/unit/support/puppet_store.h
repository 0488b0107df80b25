/*
 * Stores whose answers a test gives, one by one and when it likes: to be members of a combined
 * store. Each knows what its server would: whether the lock is held. As a store of ours has to, it
 * gives back by itself what an acquire may have taken that has failed or was cancelled.
 */
#ifndef PUPPET_STORE_H
#define PUPPET_STORE_H

#include "src/engine/store.h"
#include "unit.h"

#define PUPPETS 5

/* How a puppet answers what it is asked. */
typedef enum puppet_answer {
    PUPPET_YES,   /* it does as it is told: LATCH_DONE */
    PUPPET_NO,    /* somebody else holds the lock: LATCH_CONFLICT */
    PUPPET_LOSES, /* LATCH_ERROR_LOST */
    PUPPET_FAILS, /* LATCH_ERROR_STORE */
} puppet_answer;

typedef struct puppet_store {
    latch_store store;
    latch_store_info info;
    int place; /* in `puppets`; a clone's: of the one whose it is */
    puppet_answer answer;
    bool late;       /* it answers not before puppet_speak() */
    bool is_clingy;  /* what is in flight cannot be left, and a cancel takes a step */
    bool is_cut_off; /* while it is late not even what nobody awaits is sent */
    bool is_held;    /* in the server */
    int64_t started_ns;
    size_t requests; /* since the test began */
    latch_op_kind last;
    latch_request request;           /* the last one */
    char token[LATCH_TOKEN_MAX + 1]; /* of its lease; "" for none */
    char spoken;                     /* op->state points here while it has not answered */
} puppet_store;

extern puppet_store puppets[PUPPETS];
/* Their clones, which have servers of their own; NULL while there is none. */
extern puppet_store *puppet_clones[PUPPETS];

/* Sets up a combined store of so many puppets as unit.store, and ends it. */
int unit_setup_puppets(size_t count, const latch_strategy *strategy);
int unit_setup_three(void **state); /* of which most have to agree */
int unit_setup_five(void **state);
int unit_setup_all_of_three(void **state);
int unit_teardown_puppets(void **state);
/* What latch_store_close() does for the renewal. */
void unit_leave_renewal(latch_store *store);

/* A new lease in unit.store, with its parts. */
latch_lease *puppet_lease(const char *resource);
/* A new lease in a puppet alone. */
latch_lease *puppet_own_lease(size_t puppet, const char *resource);
/* The part of it that is in a puppet. */
latch_lease *puppet_part(const latch_lease *lease, size_t puppet);

/* With a TTL of 10 s, or of so much. */
#define PUPPET_TTL_MS INT64_C(10000)
latch_request puppet_request(latch_op_kind kind);
latch_status puppet_run(latch_lease *lease, latch_op_kind kind);
latch_status puppet_run_for(latch_lease *lease, latch_op_kind kind, int64_t ttl_ms);

/* What it was asked is answered now, and what it is asked from now on at once. */
void puppet_speak(size_t puppet);
size_t puppet_count_held(void);

#define PUPPET_TEST(test, setup)                                                                   \
    cmocka_unit_test_setup_teardown(test, unit_setup_##setup, unit_teardown_puppets)

#endif
