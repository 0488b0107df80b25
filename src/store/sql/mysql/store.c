/* The store "mysql": advisory locks of MySQL and MariaDB, by libmariadb or by a runner of the
 * caller's. */
#include "src/store/sql/advisory/advisory.h"
#include "src/store/sql/mysql/options.h"

#ifdef LATCH_WITH_MYSQL
#define LIBRARY .library = "libmariadb " LATCH_LIBMARIADB_VERSION
#define OPEN_DRIVER latch_mysql_open
#else
#define LIBRARY .missing_library = "libmariadb"
#define OPEN_DRIVER NULL
#endif

static latch_status mysql_open(latch_store *base, const latch_store_options *options,
                               latch_error *error)
{
    return latch_advisory_open(base, options, &latch_mysql_dialect, OPEN_DRIVER, error);
}

const latch_store_class latch_mysql_store =
    LATCH_ADVISORY_CLASS(mysql_open, 0, .name = "mysql", .title = "MySQL",
                         .schemes = LATCH_MYSQL_SCHEMES, LIBRARY);
