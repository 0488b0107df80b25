#include "src/store/sql/postgresql/library.h"

LATCH_LIBRARY_DEFINE(latch_libpq, LIBPQ_FUNCTIONS, .name = "libpq", .file = LATCH_LIBPQ_FILE,
                     .alpine_package = "libpq")
