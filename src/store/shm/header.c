/*
 * The header of the file: what it says about the rest, and how a file is initialised.
 *
 * A file from before the machine was started is made anew: those that used it are gone, and what
 * they left may be anything. A file of another version is an error, never a second file beside it:
 * two files exclude nobody.
 */
#include "src/store/shm/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "LATCHSHM"
#define NEW_MAGIC "LATCHNEW" /* until it is complete */
#define FORMAT 1
#define HEADER_SIZE 4096
#define BOOT_ID_PATH "/proc/sys/kernel/random/boot_id"

_Static_assert(sizeof(shm_header) <= HEADER_SIZE, "the header has a page");

/* ---- Errors */

latch_status latch_shm_fail_file(latch_error *error, const char *path, const char *what)
{
    return latch_fail(error, LATCH_ERROR_STORE, 0, "the file \"%s\" %s", path, what);
}

latch_status latch_shm_fail_call(latch_error *error, const char *path, const char *what)
{
    int sys_errno = errno;
    const char *hint = "";

    switch (sys_errno) {
        case ELOOP:
            return latch_fail(error, LATCH_ERROR_SYSTEM, sys_errno,
                              "the file \"%s\" is a symbolic link; name its target", path);
        case EACCES:
        case EPERM:
            hint = "; it may belong to another user, and its mode keeps others out";
            break;
        case ENOENT:
            hint = "; its directory is missing";
            break;
        case ENOSPC:
        case EDQUOT:
            hint = "; a smaller capacity needs less room, and containers can be given a larger "
                   "/dev/shm";
            break;
        default:
            break;
    }
    return latch_fail(error, LATCH_ERROR_SYSTEM, sys_errno, "the file \"%s\" cannot be %s: %s%s",
                      path, what, strerror(sys_errno), hint);
}

/* ---- Geometry */

static uint32_t shm_bucket_count_for(uint32_t records)
{
    uint32_t count = 64;

    while (count < records / 4) {
        count *= 2;
    }
    return count;
}

static shm_header shm_plan(const shm_options *options)
{
    uint32_t chunks = (options->capacity + SHM_CHUNK_RECORDS - 1) / SHM_CHUNK_RECORDS;
    shm_header header = {
        .format = FORMAT,
        .participant_size = sizeof(shm_participant),
        .bucket_size = sizeof(shm_bucket),
        .record_size = sizeof(shm_record),
        .chunk_records = SHM_CHUNK_RECORDS,
        .chunks = chunks < SHM_MIN_CHUNKS ? SHM_MIN_CHUNKS : chunks,
    };

    memcpy(header.magic, NEW_MAGIC, sizeof(header.magic));
    header.participants = header.chunks < SHM_PLACES_MAX ? header.chunks : SHM_PLACES_MAX;
    header.buckets = shm_bucket_count_for(header.chunks * SHM_CHUNK_RECORDS);
    return header;
}

shm_layout latch_shm_lay_out(const shm_header *header)
{
    shm_layout layout = {.participants = HEADER_SIZE};

    layout.buckets = layout.participants + (size_t) header->participants * sizeof(shm_participant);
    layout.chunks = layout.buckets + (size_t) header->buckets * sizeof(shm_bucket);
    layout.records = layout.chunks + (size_t) header->chunks * sizeof(shm_long);
    layout.records = (layout.records + sizeof(shm_record) - 1) / sizeof(shm_record)
                     * sizeof(shm_record);
    layout.size = layout.records + (size_t) header->chunks * SHM_CHUNK_RECORDS * sizeof(shm_record);
    return layout;
}

/* A file may say anything: nothing of it is used before this. */
static bool shm_is_sound(const shm_header *header, off_t size)
{
    return header->participant_size == sizeof(shm_participant)
           && header->bucket_size == sizeof(shm_bucket) && header->record_size == sizeof(shm_record)
           && header->chunk_records == SHM_CHUNK_RECORDS && header->participants > 0
           && header->participants <= SHM_PLACES_MAX && header->chunks > 0
           && header->chunks <= SHM_MAX_CAPACITY / SHM_CHUNK_RECORDS && header->buckets > 0
           && header->buckets <= SHM_MAX_CAPACITY && (header->buckets & (header->buckets - 1)) == 0
           && (off_t) latch_shm_lay_out(header).size == size;
}

/* ---- Initialisation */

/* "": not known */
static void shm_read_boot_id(char boot_id[BOOT_ID_LENGTH + 4])
{
    int fd = open(BOOT_ID_PATH, O_RDONLY | O_CLOEXEC);

    memset(boot_id, 0, BOOT_ID_LENGTH + 4);
    if (fd >= 0) {
        if (read(fd, boot_id, BOOT_ID_LENGTH) != BOOT_ID_LENGTH) {
            boot_id[0] = '\0';
        }
        close(fd);
    }
}

/* Room is taken at once: a hole that cannot be filled would end the process that touches it. */
static latch_status shm_make(latch_engine *engine, int fd, const shm_options *options,
                             shm_header *header, latch_error *error)
{
    *header = shm_plan(options);
    header->epoch = (uint64_t) engine->env.wall_ns(engine->env.context);
    shm_read_boot_id(header->boot_id);
    if (ftruncate(fd, 0) != 0
        || pwrite(fd, header, sizeof(*header), 0) != (ssize_t) sizeof(*header)) {
        return latch_shm_fail_call(error, options->path, "written");
    }
    errno = posix_fallocate(fd, 0, (off_t) latch_shm_lay_out(header).size);
    if (errno != 0) {
        latch_shm_fail_call(error, options->path, "made as large as it has to be");
        ftruncate(fd, 0);
        return error->status;
    }
    fchmod(fd, options->mode); /* the umask does not count; a failure leaves it to its owner */
    memcpy(header->magic, MAGIC, sizeof(header->magic));
    return pwrite(fd, header->magic, sizeof(header->magic), 0) == sizeof(header->magic)
               ? LATCH_DONE
               : latch_shm_fail_call(error, options->path, "written");
}

static bool shm_is_from_before_boot(const shm_header *header)
{
    char boot_id[BOOT_ID_LENGTH + 4];

    shm_read_boot_id(boot_id);
    return boot_id[0] != '\0' && header->boot_id[0] != '\0'
           && memcmp(boot_id, header->boot_id, BOOT_ID_LENGTH) != 0;
}

/* Reads the header, or makes the file. */
latch_status latch_shm_read_header(latch_engine *engine, int fd, const shm_options *options,
                                   shm_header *header, latch_error *error)
{
    struct stat status;
    ssize_t got;

    if (fstat(fd, &status) != 0) {
        return latch_shm_fail_call(error, options->path, "read");
    }
    if (status.st_size == 0) {
        return shm_make(engine, fd, options, header, error);
    }
    got = pread(fd, header, sizeof(*header), 0);
    if (got >= (ssize_t) sizeof(header->magic)
        && memcmp(header->magic, NEW_MAGIC, sizeof(header->magic)) == 0) {
        return shm_make(engine, fd, options, header, error); /* its maker has died */
    }
    if (got != (ssize_t) sizeof(*header)
        || memcmp(header->magic, MAGIC, sizeof(header->magic)) != 0) {
        return latch_shm_fail_file(
            error, options->path,
            "is not one of Latch's shared memory; name another one, or remove it");
    }
    if (header->format != FORMAT) {
        return latch_fail(error, LATCH_ERROR_STORE, 0,
                          "the file \"%s\" was made by another version of Latch (it has format "
                          "%u, this one reads %d); end the programs that use it, and remove it",
                          options->path, header->format, FORMAT);
    }
    if (!shm_is_sound(header, status.st_size)) {
        return latch_shm_fail_file(error, options->path,
                                   "is corrupt; end the programs that use it, and remove it");
    }
    return shm_is_from_before_boot(header) ? shm_make(engine, fd, options, header, error)
                                           : LATCH_DONE;
}
