# What the engine's code is told of the client libraries that it opens at run time, as config.m4 tells it in a build of
# the extension: the sonames of those that the compiler finds, and their versions.
soname = $(shell objdump -p "$$($(or $(CLANG),$(CC)) -print-file-name=lib$(1).so)" | sed -n 's/^ *SONAME *//p')
version = '"$(shell pkg-config --modversion $(1))"'

LIBRARY_FLAGS := -DLATCH_WITH_REDIS=1 -DLATCH_HIREDIS_FILE='"$(call soname,hiredis)"' \
    -DLATCH_HIREDIS_VERSION=$(call version,hiredis) \
    -DLATCH_WITH_OPENSSL=1 -DLATCH_OPENSSL_FILE='"$(call soname,ssl)"' \
    -DLATCH_WITH_PGSQL=1 -DLATCH_LIBPQ_FILE='"$(call soname,pq)"' -DLATCH_LIBPQ_VERSION=$(call version,libpq) \
    -DLATCH_WITH_MYSQL=1 -DLATCH_LIBMARIADB_FILE='"$(call soname,mariadb)"' \
    -DLATCH_LIBMARIADB_VERSION=$(call version,libmariadb) \
    -DLATCH_WITH_SQLITE=1 -DLATCH_SQLITE_FILE='"$(call soname,sqlite3)"' -DLATCH_SQLITE_VERSION=$(call version,sqlite3)
