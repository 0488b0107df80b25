/*
 * The file: found or made, checked and mapped. Whoever opens it locks it by flock(2) until its
 * participant is registered; so one at a time initialises it.
 *
 * A file from before the machine was started is made anew: those that used it are gone, and what
 * they left may be anything. A file of another version is an error, never a second file beside it:
 * two files exclude nobody.
 */
#include "src/store/shm/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define MAGIC "LATCHSHM"
#define NEW_MAGIC "LATCHNEW" /* until it is complete */
#define FORMAT 1
#define HEADER_SIZE 4096
#define BOOT_ID_PATH "/proc/sys/kernel/random/boot_id"
#define BOOT_ID_LENGTH 36
#define REMOVALS_MAX 100
#define LOCK_PATIENCE_NS (5 * LATCH_NS_PER_S)

typedef struct shm_header {
    char magic[8];
    uint32_t format;
    uint32_t participant_size, bucket_size, record_size, chunk_records;
    uint32_t participants, buckets, chunks;
    uint64_t epoch; /* wall clock in ns, before all fencing tokens */
    char boot_id[BOOT_ID_LENGTH + 4];
} shm_header;

_Static_assert(sizeof(shm_header) <= HEADER_SIZE, "the header has a page");

/* ---- Errors */

static latch_status shm_fail_file(latch_error *error, const char *path, const char *what)
{
    return latch_fail(error, LATCH_ERROR_STORE, 0, "the file \"%s\" %s", path, what);
}

static latch_status shm_fail_call(latch_error *error, const char *path, const char *what)
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

typedef struct shm_layout {
    size_t participants, buckets, chunks, records, size;
} shm_layout;

static shm_layout shm_lay_out(const shm_header *header)
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
           && (off_t) shm_lay_out(header).size == size;
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
        return shm_fail_call(error, options->path, "written");
    }
    errno = posix_fallocate(fd, 0, (off_t) shm_lay_out(header).size);
    if (errno != 0) {
        shm_fail_call(error, options->path, "made as large as it has to be");
        ftruncate(fd, 0);
        return error->status;
    }
    fchmod(fd, options->mode); /* the umask does not count; a failure leaves it to its owner */
    memcpy(header->magic, MAGIC, sizeof(header->magic));
    return pwrite(fd, header->magic, sizeof(header->magic), 0) == sizeof(header->magic)
               ? LATCH_DONE
               : shm_fail_call(error, options->path, "written");
}

static bool shm_is_from_before_boot(const shm_header *header)
{
    char boot_id[BOOT_ID_LENGTH + 4];

    shm_read_boot_id(boot_id);
    return boot_id[0] != '\0' && header->boot_id[0] != '\0'
           && memcmp(boot_id, header->boot_id, BOOT_ID_LENGTH) != 0;
}

/* Reads the header, or makes the file. */
static latch_status shm_read_header(latch_engine *engine, int fd, const shm_options *options,
                                    shm_header *header, latch_error *error)
{
    struct stat status;
    ssize_t got;

    if (fstat(fd, &status) != 0) {
        return shm_fail_call(error, options->path, "read");
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
        return shm_fail_file(error, options->path,
                             "is not one of Latch's shared memory; name another one, or remove it");
    }
    if (header->format != FORMAT) {
        return latch_fail(error, LATCH_ERROR_STORE, 0,
                          "the file \"%s\" was made by another version of Latch (it has format "
                          "%u, this one reads %d); end the programs that use it, and remove it",
                          options->path, header->format, FORMAT);
    }
    if (!shm_is_sound(header, status.st_size)) {
        return shm_fail_file(error, options->path,
                             "is corrupt; end the programs that use it, and remove it");
    }
    return shm_is_from_before_boot(header) ? shm_make(engine, fd, options, header, error)
                                           : LATCH_DONE;
}

/* ---- Opening */

/* Futexes and locks do not reach other machines, nor all that a user-space file system does. */
static const char *shm_find_unfit(const char *path)
{
    struct statfs status;

    if (statfs(path, &status) != 0) {
        return NULL;
    }
    switch ((unsigned long) status.f_type & 0xffffffffu) { /* linux/magic.h */
        case 0x6969:
            return "NFS";
        case 0xff534d42:
        case 0xfe534d42:
        case 0x517b:
            return "CIFS";
        case 0x01021997:
            return "9p";
        case 0x65735546:
            return "FUSE";
        case 0x00c36400:
            return "Ceph";
        default:
            return NULL;
    }
}

/* In a directory where everybody may write, anybody could have put the file there. */
static bool shm_is_trusted(const char *path, const struct stat *status)
{
    char directory[PATH_MAX];
    char *slash;
    struct stat parent;

    strcpy(directory, path);
    slash = strrchr(directory, '/');
    slash[slash == directory] = '\0';
    return status->st_uid == geteuid() || stat(directory, &parent) != 0
           || (parent.st_mode & S_ISVTX) == 0 || status->st_uid == parent.st_uid;
}

static latch_status shm_check_kind(const char *path, int fd, struct stat *status,
                                   latch_error *error)
{
    const char *unfit = shm_find_unfit(path);

    if (fstat(fd, status) != 0) {
        return shm_fail_call(error, path, "read");
    }
    if (!S_ISREG(status->st_mode)) {
        return shm_fail_file(error, path, "is not a regular file");
    }
    if (unfit != NULL) {
        return latch_fail(error, LATCH_ERROR_STORE, 0,
                          "the file \"%s\" is on %s, where processes cannot share memory safely; "
                          "use a local file system, such as /dev/shm",
                          path, unfit);
    }
    if (!shm_is_trusted(path, status)) {
        return shm_fail_file(error, path,
                             "belongs to another user, and everybody may write into its "
                             "directory; use a directory of your own");
    }
    return LATCH_DONE;
}

static latch_status shm_lock_file(const char *path, int fd, latch_error *error)
{
    const struct timespec nap = {.tv_nsec = LATCH_NS_PER_MS};
    int64_t waited_ns = 0;

    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return shm_fail_call(error, path, "locked");
        }
        if (waited_ns >= LOCK_PATIENCE_NS) {
            return shm_fail_file(error, path,
                                 "has been locked for five seconds by a process that opens it, "
                                 "and seems to be stopped");
        }
        nanosleep(&nap, NULL);
        waited_ns += nap.tv_nsec;
    }
    return LATCH_DONE;
}

bool latch_shm_leads_elsewhere(const char *path, dev_t device, ino_t inode)
{
    struct stat status;

    if (stat(path, &status) != 0) {
        return errno == ENOENT || errno == ENOTDIR;
    }
    return status.st_dev != device || status.st_ino != inode;
}

/* Opens and locks the file at the path; *fd is -1 when it was removed meanwhile. */
static latch_status shm_open_locked(const shm_options *options, int *fd, struct stat *status,
                                    latch_error *error)
{
    latch_status result;

    *fd = open(options->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
               options->mode);
    if (*fd < 0) {
        return shm_fail_call(error, options->path, "opened");
    }
    result = shm_check_kind(options->path, *fd, status, error);
    if (result == LATCH_DONE) {
        result = shm_lock_file(options->path, *fd, error);
    }
    if (result != LATCH_DONE
        || latch_shm_leads_elsewhere(options->path, status->st_dev, status->st_ino)) {
        close(*fd);
        *fd = -1;
    }
    return result;
}

static latch_status shm_map_file(int fd, const shm_header *header, shm_file *file, shm_map *map,
                                 latch_error *error)
{
    shm_layout layout = shm_lay_out(header);
    char *base = mmap(NULL, layout.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (base == MAP_FAILED) {
        return shm_fail_call(error, file->path, "mapped");
    }
    file->base = base;
    file->size = layout.size;
    file->epoch = header->epoch;
    *map = (shm_map){
        .participants = (shm_participant *) (void *) (base + layout.participants),
        .buckets = (shm_bucket *) (void *) (base + layout.buckets),
        .chunks = (shm_long *) (void *) (base + layout.chunks),
        .records = (shm_record *) (void *) (base + layout.records),
        .participant_count = header->participants,
        .bucket_count = header->buckets,
        .chunk_count = header->chunks,
        .record_count = header->chunks * SHM_CHUNK_RECORDS,
    };
    return LATCH_DONE;
}

latch_status latch_shm_open_file(latch_engine *engine, const shm_options *options, shm_file *file,
                                 shm_map *map, latch_error *error)
{
    struct stat status;
    shm_header header;
    latch_status result;
    int fd = -1;

    strcpy(file->path, options->path);
    for (int removals = 0; fd < 0 && removals < REMOVALS_MAX; removals++) {
        result = shm_open_locked(options, &fd, &status, error);
        if (result != LATCH_DONE) {
            return result;
        }
    }
    if (fd < 0) {
        return shm_fail_file(error, options->path, "is removed all the time");
    }
    result = shm_read_header(engine, fd, options, &header, error);
    if (result == LATCH_DONE) {
        result = shm_map_file(fd, &header, file, map, error);
    }
    if (result != LATCH_DONE) {
        close(fd);
        return result;
    }
    file->device = status.st_dev;
    file->inode = status.st_ino;
    latch_descriptor_register(engine, &file->descriptor, fd);
    return LATCH_DONE;
}

void latch_shm_unlock_file(const shm_file *file)
{
    flock(file->descriptor.fd, LOCK_UN);
}

void latch_shm_close_file(latch_engine *engine, shm_file *file)
{
    munmap(file->base, file->size);
    latch_descriptor_close(engine, &file->descriptor);
}

/* ---- The default path */

/* A directory that is this user's alone. */
static latch_status shm_make_directory(const char *path, latch_error *error)
{
    struct stat status;

    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        return shm_fail_call(error, path, "made");
    }
    if (lstat(path, &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid()
        || (status.st_mode & 0077) != 0) {
        return latch_fail(error, LATCH_ERROR_STORE, 0,
                          "the directory \"%s\" must belong to this user alone (mode 0700); name "
                          "the path of a file elsewhere",
                          path);
    }
    return LATCH_DONE;
}

latch_status latch_shm_complete_path(shm_options *options, latch_error *error)
{
    const char *parent = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : getenv("TMPDIR");
    char directory[PATH_MAX];
    latch_status status;

    if (options->path[0] != '\0') {
        return LATCH_DONE;
    }
    parent = parent != NULL && parent[0] == '/' && strlen(parent) < PATH_MAX - 64 ? parent : "/tmp";
    snprintf(directory, sizeof(directory), "%s/latch-%u", parent, (unsigned) geteuid());
    status = shm_make_directory(directory, error);
    snprintf(options->path, sizeof(options->path), "%.*s/locks", (int) sizeof(directory) - 8,
             directory);
    return status;
}
