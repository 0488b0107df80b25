/* Messages of failed requests to advisory stores. */
#include "src/store/sql/advisory/advisory.h"

#include <errno.h>

latch_status latch_advisory_fail_at(latch_op *op, const char *what)
{
    const sql_session *session = latch_advisory_store_of(op->lease)->session;

    return latch_fail(op->error, LATCH_ERROR_STORE, 0, "%s %s at %s: %s", what, session->server,
                      session->address, session->trouble);
}

latch_status latch_advisory_fail_held(latch_op *op)
{
    const sql_session *session = latch_advisory_store_of(op->lease)->session;

    return latch_fail(op->error, LATCH_ERROR_LOST, 0,
                      "the session with %s at %s that held it is over", session->server,
                      session->address);
}

latch_status latch_advisory_fail_moved(latch_op *op)
{
    const sql_session *session = latch_advisory_store_of(op->lease)->session;

    if (session->driver->clone == NULL) {
        return latch_fail(op->error, LATCH_ERROR_STORE, 0,
                          "%s is in another session with %s than before (%s): it was made anew, or "
                          "goes through a pooler that changes sessions between statements, where "
                          "locks of a session are not safe",
                          session->address, session->server, session->trouble);
    }
    return latch_fail(op->error, LATCH_ERROR_STORE, 0,
                      "%s at %s is reached through a pooler that changes sessions between "
                      "statements (%s), so that locks of a session are not safe; connect directly, "
                      "or let it pool by sessions",
                      session->server, session->address, session->trouble);
}

void latch_advisory_outage(const latch_op *op, int64_t now_ns)
{
    const advisory_hold *hold = op->state;
    const sql_session *session = latch_advisory_store_of(op->lease)->session;
    double seconds = (double) ((now_ns - op->sent_ns) / LATCH_NS_PER_MS) / 1000;

    if (session->stage == SQL_CONNECTED) {
        latch_fail(op->error, LATCH_ERROR_STORE, ETIMEDOUT, "%s at %s did not answer within %g s",
                   session->server, session->address, seconds);
    } else if (hold->trouble_ns == 0) {
        latch_fail(op->error, LATCH_ERROR_STORE, ETIMEDOUT,
                   "cannot connect to %s at %s within %g s", session->server, session->address,
                   seconds);
    }
}
