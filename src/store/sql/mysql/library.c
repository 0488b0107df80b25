#include "src/store/sql/mysql/library.h"

LATCH_LIBRARY_DEFINE(latch_libmariadb, LIBMARIADB_FUNCTIONS, .name = "libmariadb",
                     .file = LATCH_LIBMARIADB_FILE, .alpine_package = "mariadb-connector-c")
