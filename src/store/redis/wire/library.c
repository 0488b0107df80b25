#include "src/store/redis/wire/library.h"

LATCH_LIBRARY_DEFINE(latch_hiredis, HIREDIS_FUNCTIONS, .name = "hiredis",
                     .file = LATCH_HIREDIS_FILE, .alpine_package = "hiredis")
