/*
 * Name resolution with a time-out, for stores that connect to servers. getaddrinfo(3) blocks for an
 * unlimited time, so a thread calls it.
 */
#ifndef LATCH_RESOLVE_H
#define LATCH_RESOLVE_H

#include "src/base/base.h"

#include <netdb.h>

typedef struct latch_resolution latch_resolution;

/*
 * Begins to resolve `host` (copied): a name, or a numeric address, which needs no thread. End it by
 * latch_resolve_end(). NULL and `error` when there is no memory, descriptor or thread, or no such
 * port.
 */
latch_resolution *latch_resolve_begin(latch_engine *engine, const char *host, int port,
                                      latch_error *error);

/*
 * LATCH_DONE: *addresses is a list for SOCK_STREAM in the resolver's order, owned by the
 * resolution. LATCH_WANT_IO: in progress; poll latch_resolve_fd() for POLLIN, with the caller's own
 * time-out. LATCH_ERROR_SYSTEM: the name has no address, or the lookup failed.
 *
 * A forked child, which lacks the thread, restarts the resolution here: LATCH_WANT_IO with another
 * descriptor, or an error as of latch_resolve_begin(), after which a further call retries.
 */
latch_status latch_resolve_check(latch_resolution *resolution, const struct addrinfo **addresses,
                                 latch_error *error);

/* Valid after LATCH_WANT_IO, until the next check or the end. */
int latch_resolve_fd(const latch_resolution *resolution);

/*
 * Frees the resolution and its addresses, at any time, without waiting: a thread that is still in
 * getaddrinfo() frees the rest when that call returns. (So threads add up while a resolver is dead,
 * one for each cancelled resolution, until its own time-out.) NULL is allowed.
 */
void latch_resolve_end(latch_resolution *resolution);

#endif
