/*
 * Liveness: the renewal thread detects the end of a session by polling a duplicate of its socket,
 * also while no statement is in flight. The duplicate is never read, so TLS does not matter.
 *
 * A connection lives as long as any descriptor of it. So the end of a session with a duplicate
 * shuts the connection down, for all descriptors and in the server.
 */
#include "src/store/sql/session/session.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

struct sql_liveness {
    latch_descriptor descriptor; /* fd is -1 in a forked child, whose parent has the session */
    _Atomic unsigned users;      /* reference count: the session, and each watch */
};

/* NULL: there is no memory or no descriptor to be had. */
static sql_liveness *open_liveness(const sql_session *session)
{
    sql_liveness *liveness = latch_allocate(session->engine, sizeof(*liveness));
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

static void sql_liveness_release(latch_engine *engine, void *state)
{
    sql_liveness *liveness = state;

    if (--liveness->users == 0) {
        latch_descriptor_close(engine, &liveness->descriptor);
        latch_free(engine, liveness);
    }
}

void latch_sql_session_disconnect(sql_session *session)
{
    sql_liveness *liveness = session->liveness;

    session->driver->disconnect(session);
    if (liveness != NULL) {
        if (liveness->descriptor.fd >= 0) {
            shutdown(liveness->descriptor.fd, SHUT_RDWR);
        }
        session->liveness = NULL;
        sql_liveness_release(session->engine, liveness);
    }
}

bool latch_sql_session_can_be_watched(const sql_session *session)
{
    return session->driver->socket != NULL;
}

bool latch_sql_session_watch(sql_session *session, latch_watch *watch)
{
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
        .end = sql_liveness_release,
    };
    return true;
}
