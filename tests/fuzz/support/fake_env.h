#ifndef LATCH_FUZZ_FAKE_ENV_H
#define LATCH_FUZZ_FAKE_ENV_H

#include "src/latch.h"

/* What a fuzzer decides of an engine's environment, and sees of it. */
extern int64_t now_ns;        /* by all clocks */
extern uint64_t random_state; /* from which its random bytes follow */
extern size_t allocations;    /* not freed yet */

/* An environment without the system's clock and random source, whose allocations are counted. */
latch_env fake_env(void (*digest)(void *context, latch_digest kind, const struct iovec *parts,
                                  int part_count, uint8_t digest[LATCH_DIGEST_MAX]));

/* How many file descriptors this process has open, up to 64. */
size_t count_descriptors(void);

#endif
