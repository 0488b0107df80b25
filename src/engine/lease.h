/* Leases, beyond latch.h: tokens, and holds that do not expire. */
#ifndef LATCH_LEASE_H
#define LATCH_LEASE_H

#include "src/base/base.h"

/* A fresh token. */
latch_status latch_token_make(const latch_engine *engine, char token[LATCH_TOKEN_MAX + 1],
                              latch_error *error);

/*
 * Of a lease in a store whose locks do not expire: was it held, until the watch on it told that it
 * is lost? It may be acquired anew then.
 */
bool latch_lease_was_lost(const latch_lease *lease);

#endif
