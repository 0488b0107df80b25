/* Client libraries at run time: see library.h. */
#include "src/base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Guards the pointers of all libraries while they are written; held across fork(). */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void latch_library_before_fork(void)
{
    pthread_mutex_lock(&mutex);
}

void latch_library_after_fork(void)
{
    pthread_mutex_unlock(&mutex);
}

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash != NULL ? slash + 1 : file;
}

/* Debian's rule: "libpq.so.5" is in libpq5, and a name that ends in a digit gets a hyphen behind
 * it. */
static void write_debian_package(const char *soname, char *package, size_t size)
{
    const char *version = strstr(soname, ".so.");
    int length = version != NULL ? (int) (version - soname) : (int) strlen(soname);
    bool ends_in_digit = length > 0 && soname[length - 1] >= '0' && soname[length - 1] <= '9';

    snprintf(package, size, "%.*s%s%s", length, soname, ends_in_digit ? "-" : "",
             version != NULL ? version + strlen(".so.") : "");
}

/* `why` is dlerror()'s, which names the file that is missing or broken: it may be one that the
 * library needs. */
static latch_status fail_to_open(const latch_library *library, const char *why, latch_error *error)
{
    const char *soname = base_name(library->file);
    char package[64];

    write_debian_package(soname, package, sizeof(package));
    return latch_fail(
        error, LATCH_ERROR_SYSTEM, 0,
        "cannot open the client library %s: %.250s; install the package with %s (Debian, "
        "Ubuntu: %s, Alpine: %s), or build Latch again for the one that is installed",
        library->name, why != NULL ? why : "no reason was given", soname, package,
        library->alpine_package);
}

static latch_status find_symbols(const latch_library *library, void *handle, latch_error *error)
{
    for (size_t at = 0; at < library->count; at++) {
        void *symbol = dlsym(handle, library->symbols[at]);

        if (symbol == NULL) {
            return fail_to_open(library, dlerror(), error);
        }
        memcpy((char *) library->pointers + at * sizeof(symbol), &symbol, sizeof(symbol));
    }
    return LATCH_DONE;
}

/*
 * RTLD_LOCAL: none of its symbols shall take the place of another extension's. It is never closed:
 * libraries of this size start threads, and register what is called at the end of threads and of
 * the process.
 */
static latch_status open_library(latch_library *library, latch_error *error)
{
    void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
    latch_status status;

    if (handle == NULL) {
        return fail_to_open(library, dlerror(), error);
    }
    status = find_symbols(library, handle, error);
    if (status != LATCH_DONE) {
        dlclose(handle); /* nothing of it was called */
        return status;
    }
    library->is_open = true;
    return LATCH_DONE;
}

latch_status latch_library_open(latch_library *library, latch_error *error)
{
    latch_status status = LATCH_DONE;

    if (library->is_open) {
        return LATCH_DONE;
    }
    pthread_mutex_lock(&mutex);
    if (!library->is_open) {
        status = open_library(library, error);
    }
    pthread_mutex_unlock(&mutex);
    return status;
}
