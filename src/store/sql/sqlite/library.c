#include "src/store/sql/sqlite/library.h"

LATCH_LIBRARY_DEFINE(latch_libsqlite3, SQLITE_FUNCTIONS, .name = "libsqlite3",
                     .file = LATCH_SQLITE_FILE, .alpine_package = "sqlite-libs")
