/*
 * The file: found or made, checked and mapped. Whoever opens it locks it by flock(2) until its
 * participant is registered; so one at a time initialises it.
 */
#include "src/store/shm/file.h"

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

#define REMOVALS_MAX 100
#define LOCK_PATIENCE_NS (5 * LATCH_NS_PER_S)

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
        return latch_shm_fail_call(error, path, "read");
    }
    if (!S_ISREG(status->st_mode)) {
        return latch_shm_fail_file(error, path, "is not a regular file");
    }
    if (unfit != NULL) {
        return latch_fail(error, LATCH_ERROR_STORE, 0,
                          "the file \"%s\" is on %s, where processes cannot share memory safely; "
                          "use a local file system, such as /dev/shm",
                          path, unfit);
    }
    if (!shm_is_trusted(path, status)) {
        return latch_shm_fail_file(error, path,
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
            return latch_shm_fail_call(error, path, "locked");
        }
        if (waited_ns >= LOCK_PATIENCE_NS) {
            return latch_shm_fail_file(
                error, path,
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
        return latch_shm_fail_call(error, options->path, "opened");
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
    shm_layout layout = latch_shm_lay_out(header);
    char *base = mmap(NULL, layout.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (base == MAP_FAILED) {
        return latch_shm_fail_call(error, file->path, "mapped");
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
        return latch_shm_fail_file(error, options->path, "is removed all the time");
    }
    result = latch_shm_read_header(engine, fd, options, &header, error);
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
        return latch_shm_fail_call(error, path, "made");
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
