/*
 * Holders of lock files. The kernel shows them in two places, without disturbing any process:
 * /proc/locks, which everybody may read, knows the process that took a lock, while it lives; and
 * /proc/<pid>/fdinfo knows for each process of ours, or for root, the locks of its descriptors:
 * also of one that was handed on by a process that is dead, or that lives in a container. Where
 * neither shows a holder, a momentary try to lock the file has the last word.
 */
#include "src/store/flock/flock.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Identity of a file; a key in a hash table, so without padding. */
typedef struct file_identity {
    uint64_t device, inode;
} file_identity;

typedef struct watched_file {
    struct watched_file *next;
    latch_hash_node node; /* in `files` */
    file_identity identity;
    latch_lock_report *report;
} watched_file;

typedef struct inspection {
    const latch_engine *engine;
    watched_file *watched;
    latch_hash files; /* the same, by identity */
    latch_lock_report *reports;
    bool out_of_memory;
} inspection;

static latch_status begin_inspection(inspection *all, latch_op *op)
{
    latch_engine *engine = op->lease->store->engine;

    *all = (inspection){.engine = engine};
    return latch_hash_init(&all->files, engine, op->error);
}

static watched_file *find_watched(const inspection *all, dev_t device, ino_t inode)
{
    const file_identity identity = {.device = device, .inode = inode};
    latch_hash_node *node =
        latch_hash_find(&all->files, (const char *) &identity, sizeof(identity));

    return node != NULL ? LATCH_CONTAINER(node, watched_file, node) : NULL;
}

static void flock_watch(inspection *all, const char *path, const struct stat *status)
{
    watched_file *file;

    if (find_watched(all, status->st_dev, status->st_ino) != NULL) {
        return; /* by another link */
    }
    file = latch_allocate(all->engine, sizeof(*file));
    if (file == NULL) {
        all->out_of_memory = true;
        return;
    }
    *file = (watched_file){.next = all->watched,
                           .identity = {.device = status->st_dev, .inode = status->st_ino}};
    file->node.key = (const char *) &file->identity;
    file->node.length = sizeof(file->identity);
    all->watched = file;
    file->report = latch_lock_reports_add(all->engine, &all->reports, path, LATCH_FREE);
    if (file->report == NULL || !latch_hash_add(&all->files, &file->node)) {
        all->out_of_memory = true;
    }
}

/*
 * Reads a line such as "1: FLOCK  ADVISORY  WRITE 359 00:13:11691 0 EOF"; LATCH_FREE when it tells
 * of no flock, or of one that is waited for ("1: -> FLOCK …").
 */
static latch_mode parse_lock(const char *line, int *pid, dev_t *device, ino_t *inode)
{
    unsigned major_number, minor_number;
    unsigned long long number;
    char kind[16];

    if (sscanf(line, "%*[0-9]: FLOCK %*s %15s %d %x:%x:%llu", kind, pid, &major_number,
               &minor_number, &number)
        != 5) {
        return LATCH_FREE;
    }
    *device = makedev(major_number, minor_number);
    *inode = (ino_t) number;
    return strcmp(kind, "WRITE") == 0 ? LATCH_EXCLUSIVE : LATCH_SHARED;
}

static void report_holder(inspection *all, watched_file *file, latch_mode mode, int pid)
{
    file->report->mode = mode;
    if (pid > 0 && !latch_lock_report_add_holder(all->engine, file->report, pid)) {
        all->out_of_memory = true;
    }
}

/*
 * The process that took a lock is named only where its descriptors are not ours to read: else they
 * tell (read_descriptors()), and it may be dead, with its number given to another one.
 */
static bool is_closed_to_us(int pid)
{
    char path[32], unused[1];

    snprintf(path, sizeof(path), "/proc/%d/exe", pid);
    return readlink(path, unused, sizeof(unused)) < 0 && errno == EACCES;
}

/* A file system whose files have another device here (btrfs) is found by read_descriptors() alone.
 */
static void read_table_of_locks(inspection *all)
{
    FILE *table = fopen("/proc/locks", "re");
    char line[256];

    while (table != NULL && fgets(line, sizeof(line), table) != NULL) {
        dev_t device;
        ino_t inode;
        int pid;
        latch_mode mode = parse_lock(line, &pid, &device, &inode);
        watched_file *file = mode != LATCH_FREE ? find_watched(all, device, inode) : NULL;

        if (file != NULL) {
            report_holder(all, file, mode, is_closed_to_us(pid) ? pid : 0);
        }
    }
    if (table != NULL) {
        fclose(table);
    }
}

/* The flock of one descriptor, which the kernel shows as "lock:\t1: FLOCK …". */
static void read_descriptor(inspection *all, int pid, const char *fd, watched_file *file)
{
    char path[64], line[256];
    FILE *info;

    snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.20s", pid, fd);
    info = fopen(path, "re");
    while (info != NULL && fgets(line, sizeof(line), info) != NULL) {
        dev_t device;
        ino_t inode;
        int taker;
        latch_mode mode = LATCH_FREE;

        if (strncmp(line, "lock:\t", 6) == 0) {
            mode = parse_lock(line + 6, &taker, &device, &inode);
        }
        if (mode != LATCH_FREE) {
            report_holder(all, file, mode, pid);
        }
    }
    if (info != NULL) {
        fclose(info);
    }
}

/*
 * May the descriptor be of a lock file, by its name? stat() could hang, if the file is on a server
 * that is down.
 */
static bool may_be_lock_file(int directory, const char *fd)
{
    char path[PATH_MAX];
    ssize_t length = readlinkat(directory, fd, path, sizeof(path) - 1);
    const char *name;

    if (length <= 0) {
        return false;
    }
    path[length] = '\0';
    name = strrchr(path, '/');
    return name != NULL && latch_flock_is_file_name(name + 1);
}

static void read_descriptors(inspection *all, int pid)
{
    char path[32];
    DIR *directory;

    snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    directory = opendir(path);
    if (directory == NULL) {
        return; /* gone, or another user's */
    }
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        struct stat status;
        watched_file *file = NULL;

        if (may_be_lock_file(dirfd(directory), entry->d_name)
            && fstatat(dirfd(directory), entry->d_name, &status, 0) == 0) {
            file = find_watched(all, status.st_dev, status.st_ino);
        }
        if (file != NULL) {
            read_descriptor(all, pid, entry->d_name, file);
        }
    }
    closedir(directory);
}

static void read_all_descriptors(inspection *all)
{
    DIR *processes = opendir("/proc");

    for (struct dirent *entry; processes != NULL && (entry = readdir(processes)) != NULL;) {
        if (isdigit((unsigned char) entry->d_name[0])) {
            read_descriptors(all, atoi(entry->d_name));
        }
    }
    if (processes != NULL) {
        closedir(processes);
    }
}

static bool flock_refuses(int fd, int operation)
{
    int result;

    do {
        result = flock(fd, operation | LOCK_NB);
    } while (result != 0 && errno == EINTR);
    return result != 0 && errno == EWOULDBLOCK;
}

/* Tries to lock the file: for some microseconds other processes find it locked. */
static latch_mode try_to_lock(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
    latch_mode mode = LATCH_FREE;

    if (fd < 0) {
        return LATCH_FREE;
    }
    if (flock_refuses(fd, LOCK_SH)) {
        mode = LATCH_EXCLUSIVE;
    } else if (flock_refuses(fd, LOCK_EX)) {
        mode = LATCH_SHARED;
    }
    close(fd);
    return mode;
}

static void collect_holders(inspection *all)
{
    if (all->files.count == 0) {
        return;
    }
    read_table_of_locks(all);
    read_all_descriptors(all);
    for (latch_lock_report *report = all->reports; report != NULL; report = report->next) {
        if (report->mode == LATCH_FREE) {
            report->mode = try_to_lock(report->name);
        }
    }
}

static latch_status end_inspection(inspection *all, latch_op *op, latch_status status)
{
    latch_hash_end(&all->files);
    while (all->watched != NULL) {
        watched_file *file = all->watched;

        all->watched = file->next;
        latch_free(all->engine, file);
    }
    if (status == LATCH_DONE && all->out_of_memory) {
        status = latch_fail_memory(op->error);
    }
    if (status == LATCH_DONE) {
        *op->request.reports = all->reports;
    } else {
        latch_lock_reports_free(all->engine, all->reports);
    }
    return status;
}

latch_status latch_flock_inspect(latch_op *op)
{
    const flock_store *store = (flock_store *) op->lease->store;
    latch_status result;
    struct stat status;
    char path[PATH_MAX];
    inspection all;

    result = latch_flock_path(store, op->lease->resource, op->lease->resource_length, path,
                              sizeof(path), op->error);
    if (result != LATCH_DONE || (result = begin_inspection(&all, op)) != LATCH_DONE) {
        return result;
    }
    if (lstat(path, &status) == 0) {
        if (S_ISREG(status.st_mode)) {
            flock_watch(&all, path, &status);
        } else {
            result = latch_flock_explain(op->error, S_ISLNK(status.st_mode) ? ELOOP : EISDIR, path);
        }
    } else if (errno != ENOENT) {
        result = latch_flock_explain(op->error, errno, path);
    } else if (latch_lock_reports_add(all.engine, &all.reports, path, LATCH_FREE) == NULL) {
        all.out_of_memory = true;
    }
    collect_holders(&all);
    return end_inspection(&all, op, result);
}

static latch_lock_report *remove_free(const latch_engine *engine, latch_lock_report *reports)
{
    latch_lock_report *held = NULL;

    while (reports != NULL) {
        latch_lock_report *report = reports;

        reports = report->next;
        report->next = NULL;
        if (report->mode != LATCH_FREE) {
            report->next = held;
            held = report;
        } else {
            latch_lock_reports_free(engine, report);
        }
    }
    return held;
}

latch_status latch_flock_list(latch_op *op)
{
    const flock_store *store = (flock_store *) op->lease->store;
    latch_status result;
    DIR *directory;
    inspection all;

    result = begin_inspection(&all, op);
    if (result != LATCH_DONE) {
        return result;
    }
    directory = opendir(store->directory);
    if (directory == NULL) {
        return end_inspection(&all, op,
                              latch_fail(op->error, LATCH_ERROR_SYSTEM, errno,
                                         "the lock directory \"%s\" cannot be read: %s",
                                         store->directory, strerror(errno)));
    }
    for (struct dirent *entry; (entry = readdir(directory)) != NULL && !all.out_of_memory;) {
        char path[PATH_MAX + NAME_MAX + 2];
        struct stat status;

        if (latch_flock_is_file_name(entry->d_name)
            && fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0
            && S_ISREG(status.st_mode)) {
            snprintf(path, sizeof(path), "%s/%s", store->directory, entry->d_name);
            flock_watch(&all, path, &status);
        }
    }
    closedir(directory);
    collect_holders(&all);
    all.reports = remove_free(all.engine, all.reports);
    return end_inspection(&all, op, result);
}
