/* Sessions with PostgreSQL, by libpq; in builds that have it. */
#ifndef LATCH_POSTGRESQL_DRIVER_H
#define LATCH_POSTGRESQL_DRIVER_H

#include "src/store/sql/postgresql/options.h"
#include "src/store/sql/session/session.h"

/* sql_opener */
latch_status latch_postgresql_open(latch_engine *engine, const latch_store_options *given,
                                   sql_session **session, latch_error *error);
/* Options of a session that was opened by it. They live as long as the session. */
const postgresql_options *latch_postgresql_session_options(const sql_session *session);

#endif
