/* The store "postgresql": advisory locks of PostgreSQL, by libpq or by a runner of the caller's. */
#include "src/store/sql/advisory/advisory.h"
#include "src/store/sql/postgresql/options.h"

#ifdef LATCH_WITH_PGSQL
#define LIBRARY .library = "libpq " LATCH_LIBPQ_VERSION
#define OPEN_DRIVER latch_postgresql_open
#else
#define LIBRARY .missing_library = "libpq"
#define OPEN_DRIVER NULL
#endif

static latch_status postgresql_open(latch_store *base, const latch_store_options *options,
                                    latch_error *error)
{
    return latch_advisory_open(base, options, &latch_postgresql_dialect, OPEN_DRIVER, error);
}

const latch_store_class latch_postgresql_store =
    LATCH_ADVISORY_CLASS(postgresql_open, LATCH_SHARED_LOCKS, .name = "postgresql",
                         .title = "PostgreSQL", .schemes = LATCH_POSTGRESQL_SCHEMES, LIBRARY);
