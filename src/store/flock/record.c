/*
 * Files of records: `<name>.state`. A file is never changed, but replaced as a whole, so that
 * readers need no lock, and the death of a writer leaves the record as it was.
 *
 * It may be read and replaced by those that may write into the directory, and by no one else: what
 * is in it can be more than a name. Its time of modification is the end of the record, as a sweep
 * looks for those that have expired, and programs that clean a directory for those that are old.
 */
#include "src/store/flock/flock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static latch_status fail_record(latch_error *error, const char *path, const char *what,
                                int sys_errno)
{
    return latch_fail(error, LATCH_ERROR_SYSTEM, sys_errno, "the file \"%s\" cannot be %s: %s",
                      path, what, strerror(sys_errno));
}

latch_status latch_flock_record_fail(const flock_store *store, const char *name,
                                     const char *problem, latch_error *error)
{
    return latch_fail(error, LATCH_ERROR_SYSTEM, 0, "the file \"%s/%s" LATCH_FLOCK_STATE "\" %s",
                      store->directory, name, problem);
}

/* Files of locks may be in the way. */
static int open_record(flock_store *store, const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0600);

    if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
        latch_flock_close_idle(store);
        fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0600);
    }
    return fd;
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* In a directory where everybody may write, anybody could have put the file there. */
static bool is_trusted(const flock_store *store, const struct stat *status)
{
    struct stat directory;

    return status->st_uid == geteuid()
           || (stat(store->directory, &directory) == 0
               && ((directory.st_mode & S_ISVTX) == 0 || status->st_uid == directory.st_uid));
}

/* True: all bytes are read, and there are no more. */
static bool read_record_bytes(int fd, char *text, size_t length)
{
    size_t done = 0;

    errno = 0;
    while (done <= length) {
        char more;
        ssize_t got = done < length ? read(fd, text + done, length - done) : read(fd, &more, 1);

        if (got == 0) {
            return done == length;
        }
        if (got < 0 && errno != EINTR) {
            return false;
        }
        done += got > 0 ? (size_t) got : 0;
    }
    return false;
}

static latch_status read_open_record(const flock_store *store, int fd, const char *name,
                                     latch_bytes *text, latch_error *error)
{
    const latch_engine *engine = store->store.engine;
    struct stat status;
    char *read;

    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        return latch_flock_record_fail(store, name, "is not a regular file; remove it", error);
    }
    if (!is_trusted(store, &status)) {
        return latch_flock_record_fail(store, name,
                                       "belongs to another user, and everybody may write into the "
                                       "directory: use a directory of your own",
                                       error);
    }
    read = latch_allocate(engine, (size_t) status.st_size + 1);
    if (read == NULL) {
        return latch_fail_memory(error);
    }
    if (!read_record_bytes(fd, read, (size_t) status.st_size)) {
        latch_free(engine, read);
        return errno == 0
                   ? latch_flock_record_fail(store, name, "has changed while it was read", error)
                   : latch_flock_record_fail(store, name, strerror(errno), error);
    }
    *text = (latch_bytes){read, (size_t) status.st_size};
    return LATCH_DONE;
}

latch_status latch_flock_record_read(flock_store *store, const char *name, latch_bytes *text,
                                     latch_error *error)
{
    char path[PATH_MAX];
    latch_status status =
        latch_flock_record_path(store, name, LATCH_FLOCK_STATE, path, sizeof(path), error);
    int fd;

    *text = (latch_bytes){NULL, 0};
    if (status != LATCH_DONE) {
        return status;
    }
    fd = open_record(store, path, O_RDONLY);
    if (fd < 0 && errno == ENOENT) {
        return access(store->directory, F_OK) == 0
                   ? LATCH_DONE
                   : fail_record(error, store->directory, "found", errno);
    }
    if (fd < 0 && errno == ELOOP) {
        return latch_flock_record_fail(store, name, "is a symbolic link; remove it", error);
    }
    if (fd < 0) {
        return fail_record(error, path, "opened", errno);
    }
    status = read_open_record(store, fd, name, text, error);
    close(fd);
    return status;
}

/* ---- Writing -------------------------------------------------------------------------------- */

/* Those that may write into the directory may replace the file, so let them read it, too; but not
 * where they may not replace it, as in /tmp. Failures leave the file to its owner. */
static void set_rights(const flock_store *store, int fd)
{
    struct stat directory;
    mode_t mode = 0600;

    if (stat(store->directory, &directory) != 0 || (directory.st_mode & S_ISVTX) != 0) {
        return;
    }
    if ((directory.st_mode & S_IWGRP) != 0 && fchown(fd, (uid_t) -1, directory.st_gid) == 0) {
        mode |= 0060;
    }
    if ((directory.st_mode & S_IWOTH) != 0) {
        mode |= 0066;
    }
    fchmod(fd, mode);
    if (geteuid() == 0 && fchown(fd, directory.st_uid, (gid_t) -1) != 0) {
        return; /* root's then */
    }
}

static bool write_all(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t got = write(fd, text, length);

        if (got < 0 && errno != EINTR) {
            return false;
        }
        text += got > 0 ? got : 0;
        length -= got > 0 ? (size_t) got : 0;
    }
    return true;
}

/* A failure does no harm: a sweep looks into the file before it removes it. */
static void set_record_end(int fd, int64_t end_ns)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_NOW}};

    times[1].tv_sec = (time_t) (end_ns / LATCH_NS_PER_S);
    times[1].tv_nsec = (long) (end_ns % LATCH_NS_PER_S);
    futimens(fd, times);
}

/* Writes the new file, beside the old one. False: errno says why. */
static bool write_new(flock_store *store, const char *path, const memory_text *record)
{
    int fd = open_record(store, path, O_WRONLY | O_CREAT | O_EXCL);
    int sys_errno;
    bool is_written;

    if (fd < 0 && errno == EEXIST && unlink(path) == 0) { /* of a process that was killed */
        fd = open_record(store, path, O_WRONLY | O_CREAT | O_EXCL);
    }
    if (fd < 0) {
        return false;
    }
    set_rights(store, fd);
    is_written = write_all(fd, record->text, record->length);
    sys_errno = errno;
    set_record_end(fd, record->end_ns);
    if (close(fd) != 0 && is_written) {
        is_written = false;
        sys_errno = errno;
    }
    errno = sys_errno;
    return is_written;
}

latch_status latch_flock_record_write(flock_store *store, const char *name,
                                      const memory_text *record, latch_error *error)
{
    char path[PATH_MAX], new_path[PATH_MAX];
    latch_status status =
        latch_flock_record_path(store, name, LATCH_FLOCK_STATE, path, sizeof(path), error);

    if (status == LATCH_DONE) {
        status = latch_flock_record_path(store, name, LATCH_FLOCK_NEW_STATE, new_path,
                                         sizeof(new_path), error);
    }
    if (status != LATCH_DONE) {
        return status;
    }
    if (!write_new(store, new_path, record) || rename(new_path, path) != 0) {
        status = fail_record(error, path, "written", errno);
        unlink(new_path);
    }
    return status;
}

latch_status latch_flock_record_remove(const flock_store *store, const char *name,
                                       latch_error *error)
{
    char path[PATH_MAX];
    latch_status status =
        latch_flock_record_path(store, name, LATCH_FLOCK_STATE, path, sizeof(path), error);

    if (status == LATCH_DONE && unlink(path) != 0 && errno != ENOENT) {
        status = fail_record(error, path, "removed", errno);
    }
    return status;
}
