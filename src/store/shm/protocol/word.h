/*
 * Words of the shared file: every access of the protocol goes through these few functions, so that
 * a test can run the same protocol under a scheduler of its own, which switches between
 * participants, or kills one, at each of them (tests/unit/test_shm_model.c), or in processes that
 * kill themselves at any of them (tests/unit/test_shm_stress.c).
 */
#ifndef LATCH_SHM_WORD_H
#define LATCH_SHM_WORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef _Atomic uint32_t shm_word;
typedef _Atomic uint64_t shm_long;

#ifdef LATCH_SHM_MODEL

uint32_t latch_shm_load32(const shm_word *word);
uint64_t latch_shm_load64(const shm_long *word);
void latch_shm_store32(shm_word *word, uint32_t value);
void latch_shm_store64(shm_long *word, uint64_t value);
bool latch_shm_cas32(shm_word *word, uint32_t expected, uint32_t value);
/* Writes the value that it found when it fails. */
bool latch_shm_cas64(shm_long *word, uint64_t *expected, uint64_t value);
/* Begin of a loop that latch_shm_pause() repeats. */
void latch_shm_retry_point(void);

#else

/* A place where a test ends the process. */
#ifndef LATCH_SHM_POINT
#define LATCH_SHM_POINT() ((void) 0)
#endif

static inline uint32_t latch_shm_load32(const shm_word *word)
{
    return atomic_load_explicit(word, memory_order_acquire);
}

static inline uint64_t latch_shm_load64(const shm_long *word)
{
    return atomic_load_explicit(word, memory_order_acquire);
}

static inline void latch_shm_store32(shm_word *word, uint32_t value)
{
    atomic_store_explicit(word, value, memory_order_release);
    LATCH_SHM_POINT();
}

static inline void latch_shm_store64(shm_long *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_release);
    LATCH_SHM_POINT();
}

static inline bool latch_shm_cas32(shm_word *word, uint32_t expected, uint32_t value)
{
    bool done = atomic_compare_exchange_strong(word, &expected, value);

    LATCH_SHM_POINT();
    return done;
}

static inline bool latch_shm_cas64(shm_long *word, uint64_t *expected, uint64_t value)
{
    bool done = atomic_compare_exchange_strong(word, expected, value);

    LATCH_SHM_POINT();
    return done;
}

static inline void latch_shm_retry_point(void)
{
}

#endif

#endif
