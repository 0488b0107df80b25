/*
 * Lock files: opening them safely in a directory that other users write to, and a cache of open
 * files. Their modes are Symfony's FlockStore's, so that both exclude each other.
 */
#include "src/store/flock/flock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A newly created file is unreadable to others until its creator has set its mode. */
#define CREATION_PAUSE_NS (LATCH_NS_PER_MS / 10)
#define OPEN_ATTEMPTS_MAX 10

#define PATH_CHECK_NS LATCH_NS_PER_S

/* Before all that is remembered. */
#define FAR_PAST_NS (3600 * LATCH_NS_PER_S)

/* Descriptors 0 to 2 are avoided: a program that was started without standard streams must not
 * print into its lock file. */
static int move_above_standard(int fd)
{
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int sys_errno = errno;

    close(fd);
    errno = sys_errno;
    return moved;
}

/*
 * O_CREAT comes last and only with O_EXCL: in a sticky directory fs.protected_regular refuses it
 * on an existing file of another user. A file that cannot be written is locked all the same.
 * O_NONBLOCK: a FIFO in the lock's place must not hang us.
 */
static int open_lock_file_once(const char *path)
{
    const int flags = O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;
    int fd = open(path, O_RDWR | flags);

    if (fd < 0 && (errno == EACCES || errno == EROFS || errno == EPERM)) {
        fd = open(path, O_RDONLY | flags);
    }
    if (fd < 0 && errno == ENOENT) {
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | flags, 0666);
        if (fd >= 0) {
            fchmod(fd, 0666); /* despite the umask: the file is everybody's */
        }
    }
    return fd >= 0 && fd <= STDERR_FILENO ? move_above_standard(fd) : fd;
}

/* EEXIST: another process made the file between the two calls. The next attempt finds it, unless it
 * was removed. */
static int open_lock_file(const char *path)
{
    int fd, attempts = 0;

    do {
        fd = open_lock_file_once(path);
    } while (fd < 0 && errno == EEXIST && ++attempts < OPEN_ATTEMPTS_MAX);
    return fd;
}

latch_status latch_flock_explain(latch_error *error, int sys_errno, const char *path)
{
    switch (sys_errno) {
        case ELOOP:
            return latch_fail(error, LATCH_ERROR_SYSTEM, sys_errno,
                              "the lock file \"%s\" is a symbolic link; remove it", path);
        case EISDIR:
            return latch_fail(error, LATCH_ERROR_SYSTEM, sys_errno,
                              "the lock file \"%s\" is not a regular file; remove it", path);
        case EMFILE:
            return latch_fail(error, LATCH_ERROR_SYSTEM, sys_errno,
                              "too many open files, every held lock has one; raise ulimit -n");
        default:
            return latch_fail(error, LATCH_ERROR_SYSTEM, sys_errno,
                              "the lock file \"%s\" cannot be opened: %s", path,
                              strerror(sys_errno));
    }
}

int64_t latch_flock_coarse_ns(const flock_store *store)
{
    const latch_env *env = &store->store.engine->env;

    return env->coarse_ns(env->context);
}

static flock_file *make_file(flock_store *store, const latch_lease *lease, int fd)
{
    flock_file *file = latch_allocate(store->store.engine, sizeof(*file) + lease->resource_length);

    if (file == NULL) {
        return NULL;
    }
    latch_descriptor_register(store->store.engine, &file->descriptor, fd);
    file->device = 0;
    file->inode = 0;
    file->path_checked_ns = latch_flock_coarse_ns(store);
    file->checked_ns = file->released_ns = file->overtook_ns = file->path_checked_ns - FAR_PAST_NS;
    file->is_wanted = file->has_number = file->is_kept = false;
    file->turn_ns = file->left_ns = 0;
    file->returns = 0;
    file->number = LATCH_FLOCK_NONE;
    file->turn_left = 0;
    file->generation = store->store.engine->generation;
    file->fork_count = store->store.engine->fork_count;
    file->mode = LATCH_FREE;
    file->is_listed = file->is_idle = false;
    memcpy(file->resource, lease->resource, lease->resource_length);
    file->node.key = file->resource;
    file->node.length = lease->resource_length;
    return file;
}

static void end_idleness(flock_store *store, flock_file *file)
{
    latch_list_remove(&file->link);
    file->is_idle = false;
    store->idle_count--;
}

static flock_file *reuse_idle(flock_store *store, const latch_lease *lease)
{
    latch_hash_node *node = latch_hash_find(&store->files, lease->resource, lease->resource_length);
    flock_file *file = node != NULL ? LATCH_CONTAINER(node, flock_file, node) : NULL;

    if (file == NULL || !file->is_idle) {
        return NULL;
    }
    end_idleness(store, file);
    latch_flock_turn_reclaim_number(store, file);
    if (file->descriptor.fd < 0) { /* closed by a fork */
        latch_flock_file_close(store, file);
        return NULL;
    }
    return file;
}

latch_status latch_flock_file_get(flock_store *store, latch_op *op, flock_file **file)
{
    const latch_lease *lease = op->lease;
    char path[PATH_MAX];
    latch_status status;
    int fd;

    *file = reuse_idle(store, lease);
    if (*file != NULL) {
        return LATCH_DONE;
    }
    status = latch_flock_path(store, lease->resource, lease->resource_length, path, sizeof(path),
                              op->error);
    if (status != LATCH_DONE) {
        return status;
    }
    fd = open_lock_file(path);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
        latch_flock_close_idle(store);
        fd = open_lock_file(path);
    }
    if (fd < 0 && errno == EEXIST) {
        return LATCH_CONFLICT; /* created and removed all the time: it is in use */
    }
    if (fd < 0 && errno == EACCES && op->flags < OPEN_ATTEMPTS_MAX) {
        op->flags++;
        op->wake_ns = latch_engine_now_ns(store->store.engine) + CREATION_PAUSE_NS;
        return LATCH_WANT_TIMER;
    }
    if (fd < 0) {
        return latch_flock_explain(op->error, errno, path);
    }
    op->flags = 0;
    *file = make_file(store, lease, fd);
    if (*file == NULL) {
        close(fd);
        return latch_fail_memory(op->error);
    }
    return LATCH_DONE;
}

/* A resource's first file stays listed until it is closed; a second one is not kept. */
static bool flock_list(flock_store *store, flock_file *file)
{
    if (!file->is_listed) {
        file->is_listed = latch_hash_find(&store->files, file->resource, file->node.length) == NULL
                          && latch_hash_add(&store->files, &file->node);
    }
    return file->is_listed;
}

void latch_flock_file_put(flock_store *store, flock_file *file)
{
    /* Another process with the same open file description shares the lock. */
    bool shared = file->descriptor.inherit || file->generation != store->store.engine->generation;

    if (shared || file->descriptor.fd < 0 || !flock_list(store, file)) {
        latch_flock_file_close(store, file);
        return;
    }
    latch_list_append(&store->idle, &file->link);
    file->is_idle = true;
    if (++store->idle_count > LATCH_FLOCK_IDLE_MAX) {
        flock_file *oldest = LATCH_CONTAINER(store->idle.next, flock_file, link);

        end_idleness(store, oldest);
        latch_flock_file_close(store, oldest);
    }
}

void latch_flock_file_close(flock_store *store, flock_file *file)
{
    latch_flock_turn_reclaim_number(store, file); /* before its descriptor becomes another file's */
    if (file->is_listed) {
        latch_hash_remove(&store->files, &file->node);
    }
    latch_descriptor_close(store->store.engine, &file->descriptor);
    latch_free(store->store.engine, file);
}

void latch_flock_close_idle(flock_store *store)
{
    while (store->idle.next != &store->idle) {
        flock_file *file = LATCH_CONTAINER(store->idle.next, flock_file, link);

        end_idleness(store, file);
        latch_flock_file_close(store, file);
    }
}

/* fstat(2), which runs at every acquire, without glibc's detour over newfstatat(2). */
static int quick_fstat(int fd, struct stat *status)
{
#if defined(__x86_64__) && defined(__LP64__)
    return (int) syscall(SYS_fstat, fd, status); /* libc's structure is the kernel's there */
#else
    return fstat(fd, status);
#endif
}

bool latch_flock_file_at_path(const flock_store *store, const flock_file *file)
{
    struct stat status;
    char path[PATH_MAX];
    latch_error unused;

    return latch_flock_path(store, file->resource, file->node.length, path, sizeof(path), &unused)
               == LATCH_DONE
           && lstat(path, &status) == 0 && status.st_dev == file->device
           && status.st_ino == file->inode;
}

bool latch_flock_leads_elsewhere(const char *path, dev_t device, ino_t inode)
{
    struct stat status;

    if (lstat(path, &status) != 0) {
        return errno == ENOENT || errno == ENOTDIR;
    }
    return status.st_dev != device || status.st_ino != inode;
}

bool latch_flock_file_gone(const flock_store *store, const flock_file *file)
{
    char path[PATH_MAX];
    latch_error unused;

    return latch_flock_path(store, file->resource, file->node.length, path, sizeof(path), &unused)
               == LATCH_DONE
           && latch_flock_leads_elsewhere(path, file->device, file->inode);
}

/*
 * A cached file may no longer be at its path: its directory was renamed, or a symbolic link was
 * changed. The check costs as much as a lock, so it is made once a second: a holder could have kept
 * the old file for as long.
 */
static bool is_still_the_lock(const flock_store *store, flock_file *file)
{
    int64_t now_ns = latch_flock_coarse_ns(store);

    if (!store->unsure_links && now_ns - file->path_checked_ns < PATH_CHECK_NS) {
        return true;
    }
    file->path_checked_ns = now_ns;
    return latch_flock_file_at_path(store, file);
}

latch_status latch_flock_file_check(const flock_store *store, flock_file *file, latch_error *error)
{
    struct stat status;

    if (quick_fstat(file->descriptor.fd, &status) != 0) {
        return latch_fail(error, LATCH_ERROR_SYSTEM, errno, "fstat() failed: %s", strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        char path[PATH_MAX];
        latch_status named =
            latch_flock_path(store, file->resource, file->node.length, path, sizeof(path), error);

        return named != LATCH_DONE ? named : latch_flock_explain(error, EISDIR, path);
    }
    file->device = status.st_dev;
    file->inode = status.st_ino;
    return status.st_nlink > 0 && is_still_the_lock(store, file) ? LATCH_DONE : LATCH_CONFLICT;
}

bool latch_flock_file_locked(const flock_store *store, const flock_file *file)
{
    char path[PATH_MAX];
    latch_error unused;
    int fd = -1;
    bool locked;

    /* Tries to lock it on a description of its own: on the file's own one that would always
     * succeed. */
    if (latch_flock_path(store, file->resource, file->node.length, path, sizeof(path), &unused)
        == LATCH_DONE) {
        fd = open_lock_file(path);
    }
    locked = fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0;
    if (fd >= 0) {
        flock(fd, LOCK_UN); /* explicitly: a child that is just forked has the description, too */
        close(fd);
    }
    return locked;
}

bool latch_flock_file_shared(const flock_store *store, const flock_file *file)
{
    return file->descriptor.inherit && file->fork_count != store->store.engine->fork_count;
}
