/*
 * Names of files: `sf.<readable part>.<digest>.lock` of a lock, as Symfony's FlockStore has them,
 * and `sl.<kind>-<readable part>.<digest>` of a record, whose digest is longer: locks of one name
 * would only exclude each other, records would be mixed up.
 */
#include "src/store/flock/flock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define READABLE_LENGTH 50
#define DIGEST_LENGTH 7
#define RECORD_DIGEST_LENGTH 22

_Static_assert(sizeof("sl..") + READABLE_LENGTH + RECORD_DIGEST_LENGTH <= LATCH_FLOCK_RECORD_NAME,
               "a record's name fits");

static bool is_plain(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z')
           || (byte >= '0' && byte <= '9') || byte == '.' || byte == '_' || byte == '-';
}

/* Every run of other characters becomes one '-'; READABLE_LENGTH bytes at most. */
static size_t write_readable(const char *resource, size_t length, char *text, size_t most)
{
    size_t written = 0;

    for (size_t at = 0; at < length && written < most; at++) {
        if (is_plain(resource[at])) {
            text[written++] = resource[at];
        } else if (at == 0 || is_plain(resource[at - 1])) {
            text[written++] = '-';
        }
    }
    return written;
}

/* Writes the first bytes of the parts' digest, and returns the end. */
static char *write_digest(const flock_store *store, const struct iovec *parts, int part_count,
                          char *end, size_t length)
{
    const latch_env *env = &store->store.engine->env;
    uint8_t digest[LATCH_DIGEST_MAX];
    char text[sizeof(digest) / 3 * 4 + 5];

    env->digest(env->context, LATCH_SHA256, parts, part_count, digest);
    latch_base64(digest, sizeof(digest), text);
    for (size_t at = 0; at < length; at++) {
        *end++ = text[at] == '/' ? '_' : text[at];
    }
    return end;
}

static latch_status fail_long_directory(latch_error *error)
{
    return latch_fail(error, LATCH_ERROR_ARGUMENT, ENAMETOOLONG,
                      "the path of the lock directory is too long");
}

latch_status latch_flock_path(const flock_store *store, const char *resource, size_t length,
                              char *path, size_t size, latch_error *error)
{
    size_t directory_length = strlen(store->directory);
    const struct iovec part = {(void *) resource, length};
    char *end = path;

    if (directory_length + sizeof("/sf...lock") + READABLE_LENGTH + DIGEST_LENGTH > size) {
        return fail_long_directory(error);
    }
    memcpy(end, store->directory, directory_length);
    end += directory_length;
    memcpy(end, "/sf.", 4);
    end += 4;
    end += write_readable(resource, length, end, READABLE_LENGTH);
    *end++ = '.';
    end = write_digest(store, &part, 1, end, DIGEST_LENGTH);
    memcpy(end, ".lock", sizeof(".lock"));
    return LATCH_DONE;
}

bool latch_flock_is_file_name(const char *name)
{
    const size_t ends = strlen("sf.") + strlen(".") + DIGEST_LENGTH + strlen(".lock");
    size_t length = strlen(name), digest = length - strlen(".lock") - DIGEST_LENGTH;

    if (length < ends || length > ends + READABLE_LENGTH || strncmp(name, "sf.", 3) != 0
        || name[digest - 1] != '.' || strcmp(name + digest + DIGEST_LENGTH, ".lock") != 0) {
        return false;
    }
    for (size_t at = 3; at < digest + DIGEST_LENGTH; at++) {
        if (!is_plain(name[at]) && !(at >= digest && name[at] == '+')) {
            return false;
        }
    }
    return true;
}

/* ---- Records -------------------------------------------------------------------------------- */

void latch_flock_record_name(const flock_store *store, const char *kind, const char *resource,
                             size_t length, char name[LATCH_FLOCK_RECORD_NAME])
{
    size_t kind_length = strlen(kind);
    const struct iovec parts[] = {{(void *) kind, kind_length + 1}, {(void *) resource, length}};
    char *end = name + sprintf(name, "sl.%s-", kind);

    end += write_readable(resource, length, end, READABLE_LENGTH - kind_length - 1);
    *end++ = '.';
    end = write_digest(store, parts, 2, end, RECORD_DIGEST_LENGTH);
    *end = '\0';
}

latch_status latch_flock_record_path(const flock_store *store, const char *name, const char *ending,
                                     char *path, size_t size, latch_error *error)
{
    int length = snprintf(path, size, "%s/%s%s", store->directory, name, ending);

    return length > 0 && (size_t) length < size ? LATCH_DONE : fail_long_directory(error);
}

bool latch_flock_is_record_name(const char *file, const char *ending,
                                char name[LATCH_FLOCK_RECORD_NAME])
{
    size_t length = strlen(file), end = strlen(ending);

    if (strncmp(file, "sl.", 3) != 0 || length <= end + 3 || length - end >= LATCH_FLOCK_RECORD_NAME
        || strcmp(file + length - end, ending) != 0) {
        return false;
    }
    memcpy(name, file, length - end);
    name[length - end] = '\0';
    return true;
}
