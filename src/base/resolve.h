/*
 * Host names to addresses, for stores that talk to servers. getaddrinfo(3) blocks for as long as a
 * resolver pleases, while Latch promises time-outs: a thread waits in its stead.
 */
#ifndef LATCH_RESOLVE_H
#define LATCH_RESOLVE_H

#include "src/base/base.h"

#include <netdb.h>

typedef struct latch_resolution latch_resolution;

/*
 * Begins to resolve `host`, which is copied: a name, or an address in digits, which takes no
 * thread. Ended by latch_resolve_end(). NULL and `error` when there is no memory, descriptor or
 * thread to be had, or no such port.
 */
latch_resolution *latch_resolve_begin(latch_engine *engine, const char *host, int port,
                                      latch_error *error);

/*
 * LATCH_DONE: *addresses is a list for SOCK_STREAM in the resolver's order, the resolution's own.
 * LATCH_WANT_IO: it goes on; poll latch_resolve_fd() for POLLIN. Without a time: how long to wait
 * is the caller's to know. LATCH_ERROR_SYSTEM: the name has no address, or cannot be looked up.
 *
 * In a forked child, which has not the thread, it begins anew, in silence: LATCH_WANT_IO with
 * another descriptor; or it fails as latch_resolve_begin() does, and can be asked again.
 */
latch_status latch_resolve_check(latch_resolution *resolution, const struct addrinfo **addresses,
                                 latch_error *error);

/* Valid after LATCH_WANT_IO, until the next check or the end. */
int latch_resolve_fd(const latch_resolution *resolution);

/*
 * Frees the resolution and its addresses, at any time, without waiting: a thread that still is in
 * getaddrinfo() ends with that call, and then frees what is left. (So threads add up while a
 * resolver is dead, one for each name given up, until its own time-out.) NULL is allowed.
 */
void latch_resolve_end(latch_resolution *resolution);

#endif
