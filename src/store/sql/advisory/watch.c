/*
 * Liveness: the renewal thread detects the end of a session by polling a duplicate of its socket,
 * also while no statement is in flight. The duplicate is never read, so TLS does not matter.
 *
 * A connection lives as long as any descriptor of it. So the end of a session with a duplicate
 * shuts the connection down, for all descriptors and in the server.
 */
#include "src/store/sql/advisory/advisory.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

struct advisory_liveness {
    latch_descriptor descriptor; /* fd is -1 in a forked child, whose parent has the session */
    _Atomic unsigned users;      /* reference count: the session, and each watch */
};

/* NULL: there is no memory or no descriptor to be had. */
static advisory_liveness *open_liveness(const advisory_session *session)
{
    advisory_liveness *liveness = latch_allocate(session->engine, sizeof(*liveness));
    int fd = liveness != NULL
                 ? fcntl(session->driver->socket(session), F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                 : -1;

    if (fd < 0) {
        latch_free(session->engine, liveness);
        return NULL;
    }
    latch_descriptor_register(session->engine, &liveness->descriptor, fd);
    liveness->users = 1;
    return liveness;
}

static void advisory_liveness_release(latch_engine *engine, void *state)
{
    advisory_liveness *liveness = state;

    if (--liveness->users == 0) {
        latch_descriptor_close(engine, &liveness->descriptor);
        latch_free(engine, liveness);
    }
}

void latch_advisory_session_disconnect(advisory_session *session)
{
    advisory_liveness *liveness = session->liveness;

    session->driver->disconnect(session);
    if (liveness != NULL) {
        if (liveness->descriptor.fd >= 0) {
            shutdown(liveness->descriptor.fd, SHUT_RDWR);
        }
        session->liveness = NULL;
        advisory_liveness_release(session->engine, liveness);
    }
}

bool latch_advisory_watch(const latch_lease *lease, latch_watch *watch)
{
    const advisory_hold *hold = lease->state;
    advisory_session *session = latch_advisory_store_of(lease)->session;

    if (lease->mode == LATCH_FREE || hold == NULL || !latch_advisory_hold_is_live(hold)
        || session->driver->socket == NULL) {
        return false;
    }
    if (session->liveness == NULL) {
        session->liveness = open_liveness(session);
    }
    if (session->liveness == NULL) {
        return false;
    }
    session->liveness->users++;
    *watch = (latch_watch){
        .descriptor = &session->liveness->descriptor,
        .state = session->liveness,
        .end = advisory_liveness_release,
    };
    return true;
}

const char *latch_advisory_renewal_unsupported_reason(const latch_store *store)
{
    return ((const advisory_store *) store)->session->driver->socket != NULL
               ? NULL
               : "its locks are in the session of a given connection, which only the thread that "
                 "has the connection can look after";
}
