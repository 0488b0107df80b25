/* Options of the store: fields of latch_store_options, or a DSN. */
#include "src/store/shm/store.h"

#include "src/base/dsn.h"

#include <string.h>

static latch_status shm_set_path(const char *path, shm_options *options, latch_error *error)
{
    size_t length = strlen(path);

    if (length >= sizeof(options->path)) {
        return latch_fail(error, LATCH_ERROR_ARGUMENT, 0,
                          "the path of the shared memory's file is too long");
    }
    if (length > 0 && path[0] != '/') {
        return latch_fail(error, LATCH_ERROR_ARGUMENT, 0,
                          "the path of the shared memory's file must be absolute, and \"%s\" is "
                          "not",
                          path);
    }
    memcpy(options->path, path, length + 1);
    return LATCH_DONE;
}

static latch_status shm_set_capacity(int64_t capacity, shm_options *options, latch_error *error)
{
    if (capacity < 1 || capacity > SHM_MAX_CAPACITY) {
        return latch_fail(error, LATCH_ERROR_ARGUMENT, 0,
                          "the capacity of shared memory must be a number of locks from 1 to %d",
                          SHM_MAX_CAPACITY);
    }
    options->capacity = (uint32_t) capacity;
    return LATCH_DONE;
}

static latch_status shm_set_mode(int64_t mode, shm_options *options, latch_error *error)
{
    if (mode < 0 || (mode & ~0666) != 0 || (mode & 0600) != 0600) {
        return latch_fail(error, LATCH_ERROR_ARGUMENT, 0,
                          "the mode of shared memory must be an octal number from 0600 to 0666 "
                          "that lets its owner read and write");
    }
    options->mode = (uint32_t) mode;
    return LATCH_DONE;
}

/* An octal number, as chmod(1) has it; -1: something else. */
static int64_t shm_read_mode(const char *text)
{
    int64_t mode = 0;

    if (*text == '\0' || strlen(text) > 5) {
        return -1;
    }
    for (; *text >= '0' && *text <= '7'; text++) {
        mode = mode * 8 + (*text - '0');
    }
    return *text == '\0' ? mode : -1;
}

static latch_status shm_set_option(const latch_dsn_option *option, shm_options *options,
                                   latch_error *error)
{
    bool shows;

    if (strcmp(option->name, "capacity") == 0) {
        return shm_set_capacity(latch_dsn_read_number(option->value, strlen(option->value),
                                                      SHM_MAX_CAPACITY),
                                options, error);
    }
    if (strcmp(option->name, "mode") == 0) {
        return shm_set_mode(shm_read_mode(option->value), options, error);
    }
    shows = latch_dsn_may_show(option->name, option->value);
    return latch_fail(error, LATCH_ERROR_ARGUMENT, 0,
                      "unknown option%s%s%s in the DSN; shared memory has \"capacity\" and "
                      "\"mode\"",
                      shows ? " \"" : "", shows ? option->name : "", shows ? "\"" : "");
}

static latch_status shm_read_dsn(const latch_dsn *dsn, shm_options *options, latch_error *error)
{
    latch_status status = LATCH_DONE;

    if (strcmp(dsn->scheme, "shm") != 0 || dsn->host != NULL || dsn->user != NULL
        || dsn->password != NULL || dsn->port != 0) {
        return latch_fail(error, LATCH_ERROR_ARGUMENT, 0,
                          "a DSN of shared memory is \"shm\", or like "
                          "\"shm:///dev/shm/application/locks?capacity=65536&mode=0660\"");
    }
    status = shm_set_path(strcmp(dsn->path, "/") == 0 ? "" : dsn->path, options, error);
    for (const latch_dsn_option *option = dsn->options; option != NULL && status == LATCH_DONE;
         option = option->next) {
        status = shm_set_option(option, options, error);
    }
    return status;
}

latch_status latch_shm_read_options(latch_engine *engine, const latch_store_options *given,
                                    shm_options *options, latch_error *error)
{
    latch_status status = LATCH_DONE;
    latch_dsn *dsn;

    *options = (shm_options){.capacity = SHM_DEFAULT_CAPACITY, .mode = 0600};
    if (given == NULL) {
        return LATCH_DONE;
    }
    if (given->dsn != NULL) {
        if (given->dsn_length == strlen("shm") && memcmp(given->dsn, "shm", 3) == 0) {
            return LATCH_DONE;
        }
        status = latch_dsn_parse(engine, given->dsn, given->dsn_length, &dsn, error);
        if (status == LATCH_DONE) {
            status = shm_read_dsn(dsn, options, error);
            latch_dsn_free(engine, dsn);
        }
        return status;
    }
    if (given->path != NULL) {
        status = shm_set_path(given->path, options, error);
    }
    if (status == LATCH_DONE && given->capacity != 0) {
        status = shm_set_capacity(given->capacity, options, error);
    }
    if (status == LATCH_DONE && given->mode != 0) {
        status = shm_set_mode(given->mode, options, error);
    }
    return status;
}
