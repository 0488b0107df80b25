/*
 * Name resolution with a time-out. The caller's thread and a helper thread, which calls
 * getaddrinfo(3), share a resolution: that function has no time-out, and cannot be cancelled
 * because of its locks. The last of the two to finish frees the resolution; `progress` tells which,
 * without a mutex, as a forked child would inherit a mutex in any state. libc's malloc holds it, as
 * it may outlive the engine.
 *
 * The helper wakes the caller by an eventfd. The caller owns it, so that a child can close its
 * copy; but if the caller cancels while the helper is about to write, the helper closes it. A child
 * has no helper, and owns everything; resolutions that were cancelled before the fork are leaked
 * there, as is libc's memory.
 */
#include "src/base/resolve.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define PORT_MAX 65535

enum progress {
    RESOLVING, /* both use it; the helper frees it if it was given up */
    TELLING,   /* the outcome is there; the helper still needs the descriptor */
    TOLD,      /* the helper, if there was one, is done with it */
    GIVEN_UP,  /* by the caller */
};

struct latch_resolution {
    latch_engine *engine;
    latch_descriptor wake; /* the eventfd; -1 without a helper, as in a forked child */
    int helpers_fd;        /* the same, where no fork changes it */
    _Atomic int progress;  /* of enum progress */
    int outcome;           /* what getaddrinfo() returned */
    int sys_errno;         /* for EAI_SYSTEM */
    struct addrinfo *addresses;
    char port[12];
    char host[];
};

/* Called by the last user. */
static void dispose(latch_resolution *resolution)
{
    if (resolution->addresses != NULL) {
        freeaddrinfo(resolution->addresses);
    }
    free(resolution);
}

static void call_getaddrinfo(latch_resolution *resolution, int flags)
{
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC,
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_NUMERICSERV | flags,
    };
    struct addrinfo *addresses = NULL;

    resolution->outcome = getaddrinfo(resolution->host, resolution->port, &hints, &addresses);
    resolution->sys_errno = resolution->outcome == EAI_SYSTEM ? errno : 0;
    resolution->addresses = resolution->outcome == 0 ? addresses : NULL;
}

static bool advance(latch_resolution *resolution, int from, int to)
{
    return atomic_compare_exchange_strong(&resolution->progress, &from, to);
}

static void *resolve(void *argument)
{
    static const uint64_t one = 1;
    latch_resolution *resolution = argument;

    call_getaddrinfo(resolution, 0);
    if (advance(resolution, RESOLVING, TELLING)) {
        while (write(resolution->helpers_fd, &one, sizeof(one)) < 0 && errno == EINTR) {
        }
        if (advance(resolution, TELLING, TOLD)) {
            return NULL;
        }
        close(resolution->helpers_fd);
    }
    dispose(resolution);
    return NULL;
}

static latch_status fail_start(const latch_resolution *resolution, int sys_errno,
                               latch_error *error)
{
    return latch_fail(error, LATCH_ERROR_SYSTEM, sys_errno,
                      "cannot begin to resolve \"%.255s\": %s", resolution->host,
                      strerror(sys_errno));
}

/* Starts the resolution, for the first time or in a child, whose descriptor is closed. */
static latch_status resolver_start(latch_resolution *resolution, latch_error *error)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), result;

    if (fd < 0) {
        return fail_start(resolution, errno, error);
    }
    latch_descriptor_unregister(resolution->engine, &resolution->wake);
    latch_descriptor_register(resolution->engine, &resolution->wake, fd);
    resolution->helpers_fd = fd;
    result = latch_thread_start(NULL, resolve, resolution);
    if (result != 0) {
        latch_descriptor_close(resolution->engine, &resolution->wake);
        return fail_start(resolution, result, error);
    }
    return LATCH_WANT_IO;
}

static latch_status answer(const latch_resolution *resolution, const struct addrinfo **addresses,
                           latch_error *error)
{
    switch (resolution->outcome) {
        case 0:
            *addresses = resolution->addresses;
            return LATCH_DONE;
        case EAI_MEMORY:
            return latch_fail_memory(error);
        case EAI_SYSTEM:
            return latch_fail(error, LATCH_ERROR_SYSTEM, resolution->sys_errno,
                              "cannot resolve \"%.255s\": %s", resolution->host,
                              strerror(resolution->sys_errno));
        default:
            return latch_fail(error, LATCH_ERROR_SYSTEM, 0, "cannot resolve \"%.255s\": %s",
                              resolution->host, gai_strerror(resolution->outcome));
    }
}

latch_resolution *latch_resolve_begin(latch_engine *engine, const char *host, int port,
                                      latch_error *error)
{
    size_t size = strlen(host) + 1;
    latch_resolution *resolution;

    if (port < 0 || port > PORT_MAX) {
        latch_fail(error, LATCH_ERROR_ARGUMENT, 0, "there is no port %d", port);
        return NULL;
    }
    resolution = calloc(1, sizeof(*resolution) + size);
    if (resolution == NULL) {
        latch_fail_memory(error);
        return NULL;
    }
    resolution->engine = engine;
    memcpy(resolution->host, host, size);
    snprintf(resolution->port, sizeof(resolution->port), "%d", port);
    latch_descriptor_register(engine, &resolution->wake, -1);

    call_getaddrinfo(resolution, AI_NUMERICHOST);
    if (resolution->outcome != EAI_NONAME) {
        resolution->progress = TOLD;
    } else if (resolver_start(resolution, error) != LATCH_WANT_IO) {
        latch_resolve_end(resolution);
        return NULL;
    }
    return resolution;
}

latch_status latch_resolve_check(latch_resolution *resolution, const struct addrinfo **addresses,
                                 latch_error *error)
{
    if (resolution->progress != RESOLVING) {
        return answer(resolution, addresses, error);
    }
    return resolution->wake.fd >= 0 ? LATCH_WANT_IO : resolver_start(resolution, error);
}

int latch_resolve_fd(const latch_resolution *resolution)
{
    return resolution->wake.fd;
}

void latch_resolve_end(latch_resolution *resolution)
{
    int fd, progress;

    if (resolution == NULL) {
        return;
    }
    fd = latch_descriptor_unregister(resolution->engine, &resolution->wake);
    /* From here on it can be gone. */
    progress = fd >= 0 ? atomic_exchange(&resolution->progress, GIVEN_UP) : TOLD;
    if (fd >= 0 && progress != TELLING) {
        close(fd);
    }
    if (progress == TOLD) {
        dispose(resolution);
    }
}
