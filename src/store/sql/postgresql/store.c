/* The store "postgresql": advisory locks of PostgreSQL, by libpq or by a runner of the caller's. */
#include "src/store/sql/advisory/advisory.h"
#include "src/store/sql/postgresql/options.h"

#ifdef LATCH_WITH_PGSQL
#define LIBRARY .library = "libpq " LATCH_LIBPQ_VERSION
#define OPEN_DRIVER latch_postgresql_open
#else
#define LIBRARY .missing_library = "libpq"
#define OPEN_DRIVER postgresql_fail_without_library

static latch_status postgresql_fail_without_library(latch_engine *engine,
                                                    const latch_store_options *options,
                                                    advisory_store *store, latch_error *error)
{
    (void) engine;
    (void) options;
    (void) store;
    return latch_fail(error, LATCH_ERROR_ARGUMENT, 0,
                      "this build of Latch has no libpq: build it again where libpq's development "
                      "package and pkg-config are installed");
}
#endif

static latch_status postgresql_open(latch_store *base, const latch_store_options *options,
                                    latch_error *error)
{
    return latch_advisory_open(base, options, &latch_postgresql_dialect, OPEN_DRIVER, error);
}

const latch_store_class latch_postgresql_store =
    LATCH_ADVISORY_CLASS(postgresql_open, LATCH_SHARED_LOCKS, .name = "postgresql",
                         .title = "PostgreSQL", .schemes = LATCH_POSTGRESQL_SCHEMES, LIBRARY);
