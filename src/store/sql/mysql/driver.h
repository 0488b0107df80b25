/* Sessions with MySQL and MariaDB, by libmariadb; in builds that have it. */
#ifndef LATCH_MYSQL_DRIVER_H
#define LATCH_MYSQL_DRIVER_H

#include "src/store/sql/session/session.h"

/* sql_opener */
latch_status latch_mysql_open(latch_engine *engine, const latch_store_options *given,
                              sql_session **session, latch_error *error);

#endif
