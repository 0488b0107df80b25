/*
 * Calls of the lock engine (LATCH_CALL): functions of primitives that are neither locks nor
 * semaphores. A part of latch.h, which includes it.
 */
#ifndef LATCH_CALLS_H
#define LATCH_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct latch_engine;

/* Byte string; its owner is named where it is used. */
typedef struct latch_bytes {
    const char *text;
    size_t length;
} latch_bytes;

/*
 * Answer to a call (LATCH_CALL): a list of byte strings, each with a NUL behind it, in one block of
 * memory.
 */
typedef struct latch_answer {
    size_t count;
    char *end; /* private: of the texts written so far */
    latch_bytes parts[];
} latch_answer;

/*
 * Makes an empty answer with room for so many parts, of so many bytes together. NULL when memory
 * ran out. Freed by latch_answer_free().
 */
latch_answer *latch_answer_make(const struct latch_engine *engine, size_t count, size_t bytes);
/* Adds a copy of the text, for which latch_answer_make() has made room. */
void latch_answer_add(latch_answer *answer, const char *text, size_t length);
void latch_answer_free(const struct latch_engine *engine, latch_answer *answer); /* accepts NULL */

/*
 * Functions, with their arguments and answers: byte strings, in which numbers are decimal, truths
 * are "0" and "1", and times have the unit of their names. `resource` of the lease names the
 * version, throttle or count-down; it is independent of a lock of that name. Each record expires
 * ttl_ms after the last call that has changed it.
 *
 * Version: the newest one of a resource. Versions are whole numbers of any length, written without
 * leading zeros, "+" and "-0", and are compared as numbers; or other texts, compared as bytes. An
 * answer {"mixed", newest}: the one is a number, the other is none; nothing was changed.
 * Throttle: begins are step_us apart at least, but for as many as fit into burst_us.
 * Count-down: members that have to arrive. States: "none" (or expired), "open", "arrived" (all
 * members), "done", "cancelled".
 * Sequence: entries that are handled one after the other, in the order in which they entered. The
 * first that has not ended is the head. An entry is known by its ticket, a number that rises: the
 * time of the enter in us. The head is an owner's, a text of the caller's, for lease_ms after each
 * call that is answered "go" or with an entry; then it is anybody's. An entry whose payload the
 * store keeps is parked: nothing else has it. Turns: "go" (the head, and the owner's), "held",
 * "done" (has ended), "late" (unknown: abandoned, forgotten, or lost with the server's data).
 * Debounce: occurrences in bursts. A burst ends quiet_us after its last occurrence, or max_us after
 * its first one. An occurrence is known by its token, as an entry by its ticket, and counts from
 * the moment when it is known to be sent. Turns: "go" (the last of a burst that has ended, and not
 * done), "held", "done" (replaced by a later one, or done).
 */
typedef enum latch_function {
    LATCH_VERSION_ADVANCE,   /* (ttl_ms, version, or_same): {is newest now} */
    LATCH_VERSION_REVERT,    /* (ttl_ms, version): {was newest; is it no more} */
    LATCH_VERSION_OUTDATED,  /* (version): {a newer one is known} */
    LATCH_VERSION_GET,       /* (): {newest}, or {} */
    LATCH_THROTTLE_RESERVE,  /* (step_us, burst_us, patience_us): {is reserved, wait_us}; nothing is
                                reserved if the wait would be longer than patience_us */
    LATCH_THROTTLE_LOOK,     /* (step_us, burst_us): {wait_us} */
    LATCH_COUNT_DOWN_OPEN,   /* (ttl_ms, members, payload), payload only if there is a last step;
                                members: "LENGTH MEMBER" behind each other, in byte order: {"1"},
                                {"0"}: it was open with these; {"other"}: with others */
    LATCH_COUNT_DOWN_ARRIVE, /* (ttl_ms, member, has_failed, claim_ms): {state, left, is_claimed,
                                payload or "", failed members...}; {"stranger"}: is no member */
    LATCH_COUNT_DOWN_DONE,   /* (ttl_ms): {state, left}: done only if none is left */
    LATCH_COUNT_DOWN_CANCEL, /* (): {was open, and is cancelled} */
    LATCH_COUNT_DOWN_STATE,  /* (): {state}; of a request that waits: once it is none of "open" and
                                "arrived" */
    LATCH_COUNT_DOWN_INSPECT, /* (): {state, total, left, has_payload, claim_us, number of failed,
                                 failed members..., missing members...} */
    LATCH_SEQUENCE_ENTER,     /* (ttl_ms, id, payload), payload only if it is to be parked: {ticket,
                                 is the head and not parked}; once more for an id that is known */
    LATCH_SEQUENCE_RESUME,    /* (ttl_ms, ticket, owner, lease_ms): {turn, retry_us} */
    LATCH_SEQUENCE_NEXT,      /* (ttl_ms, ticket, owner, lease_ms): ends the head, if that is its
                                 ticket: {ticket, payload} of the next one, now the owner's; of one
                                 that is parked and was another's after a ticket that has ended; or
                                 {} */
    LATCH_SEQUENCE_PUT_BACK,  /* (ttl_ms, ticket, owner): {}; the owner's head is nobody's, and not
                                 parked any more */
    LATCH_SEQUENCE_ABANDON,   /* (ttl_ms, patience_ms, owner, lease_ms): {ticket, payload} or {}, as
                                 of next; the head is anybody's, and was not heard of for so long:
                                 ends it if it is not parked */
    LATCH_SEQUENCE_INSPECT,   /* (): {ticket of the head or "", is parked, held_us, idle_us, number
                                 of entries behind it, average_us} */
    LATCH_DEBOUNCE_REGISTER,  /* (ttl_ms, quiet_us, max_us): {token, delay_us} */
    LATCH_DEBOUNCE_SENT,      /* (ttl_ms, quiet_us, max_us, token): {} */
    LATCH_DEBOUNCE_RESUME,    /* (ttl_ms, quiet_us, max_us, token): {turn, retry_us}; it was sent */
    LATCH_DEBOUNCE_DONE,      /* (ttl_ms, token): {} */
    LATCH_FUNCTION_COUNT,
} latch_function;

enum {
    LATCH_CALL_ARGUMENTS_MAX = 4,
    LATCH_PAYLOAD_MAX = 1024 * 1024, /* bytes of one that a store keeps */
    LATCH_MEMBERS_MAX = 10000,       /* of a count-down */
    LATCH_MEMBER_MAX = 1024,         /* bytes of a member's name */
    LATCH_VERSION_MAX = 4096,        /* bytes of a version */
    LATCH_TICKETS_MAX = 1000,        /* that have ended, and are remembered by a sequence */
    LATCH_BURSTS_MAX = 64,           /* that have ended, and are not done, of a debounce */
    LATCH_AVERAGE_US = 1000000,      /* time of an entry, until one has ended */
};

/*
 * Call, and its answer. Idempotent: a store may carry it out twice, as after a lost answer, and
 * this changes nothing, and is answered as the first time.
 */
typedef struct latch_call {
    latch_function function;
    size_t count;
    latch_bytes arguments[LATCH_CALL_ARGUMENTS_MAX]; /* the caller's; outlive the operation */
    latch_answer *answer; /* must be NULL; after LATCH_DONE the answer, for latch_answer_free() */
} latch_call;

#endif
