/* Sessions with SQLite, by libsqlite3; in builds that have it. */
#ifndef LATCH_SQLITE_DRIVER_H
#define LATCH_SQLITE_DRIVER_H

#include "src/store/sql/session/session.h"

/* sql_opener */
latch_status latch_sqlite_open(latch_engine *engine, const latch_store_options *given,
                               sql_session **session, latch_error *error);

#endif
