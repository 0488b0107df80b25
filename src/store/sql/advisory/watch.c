/*
 * How the end of a session is known while nobody asks the server anything: the renewal thread polls
 * a second descriptor of its socket, the witness. That is never read, so that TLS does not matter.
 *
 * A connection lives as long as any descriptor of it. So whoever ends a session that has a witness
 * shuts its connection down, which ends it for all of them, here and in the server.
 */
#include "src/store/sql/advisory/advisory.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

struct advisory_witness {
    latch_descriptor descriptor; /* fd is -1 in a forked child, whose parent has the session */
    _Atomic unsigned users;      /* the session, and watches: whoever leaves last frees it */
};

/* NULL: there is no memory or no descriptor to be had. */
static advisory_witness *call_witness(const advisory_session *session)
{
    advisory_witness *witness = latch_allocate(session->engine, sizeof(*witness));
    int fd = witness != NULL
                 ? fcntl(session->driver->socket(session), F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                 : -1;

    if (fd < 0) {
        latch_free(session->engine, witness);
        return NULL;
    }
    latch_descriptor_register(session->engine, &witness->descriptor, fd);
    witness->users = 1;
    return witness;
}

static void leave(latch_engine *engine, void *state)
{
    advisory_witness *witness = state;

    if (--witness->users == 0) {
        latch_descriptor_close(engine, &witness->descriptor);
        latch_free(engine, witness);
    }
}

void latch_advisory_session_hang_up(advisory_session *session)
{
    advisory_witness *witness = session->witness;

    session->driver->disconnect(session);
    if (witness != NULL) {
        if (witness->descriptor.fd >= 0) {
            shutdown(witness->descriptor.fd, SHUT_RDWR);
        }
        session->witness = NULL;
        leave(session->engine, witness);
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
    if (session->witness == NULL) {
        session->witness = call_witness(session);
    }
    if (session->witness == NULL) {
        return false;
    }
    session->witness->users++;
    *watch = (latch_watch){
        .descriptor = &session->witness->descriptor,
        .state = session->witness,
        .end = leave,
    };
    return true;
}

const char *latch_advisory_refusal(const latch_store *store)
{
    return ((const advisory_store *) store)->session->driver->socket != NULL
               ? NULL
               : "its locks are in the session of a given connection, which only the thread that "
                 "has the connection can look after";
}
