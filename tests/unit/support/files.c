/* Directories, lock files, and what /proc says about this process. */
#include "src/store/flock/flock.h"
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void unit_make_temporary(char path[UNIT_PATH])
{
    const char *parent = getenv("TMPDIR");

    snprintf(path, UNIT_PATH, "%s/latch-unit.XXXXXX",
             parent != NULL && strlen(parent) < 64 ? parent : "/tmp");
    UNIT_CHECK(mkdtemp(path) != NULL);
}

void unit_make_directory(void)
{
    unit_make_temporary(unit.directory);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void) status;
    (void) type;
    (void) place;
    return remove(path) == 0 || errno == ENOENT ? 0 : -1; /* a killed child's last act: gone */
}

void unit_remove_temporary(const char *path)
{
    UNIT_CHECK(nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

void unit_remove_directory(void)
{
    unit_remove_temporary(unit.directory);
}

const char *unit_lock_path(const char *resource)
{
    static char path[PATH_MAX];

    UNIT_CHECK(latch_flock_path((flock_store *) unit.store, resource, strlen(resource), path,
                                sizeof(path), &unit.error)
               == LATCH_DONE);
    return path;
}

static size_t count_entries(const char *path)
{
    DIR *directory = opendir(path);
    size_t count = 0;

    UNIT_CHECK(directory != NULL);
    while (readdir(directory) != NULL) {
        count++;
    }
    closedir(directory);
    return count - 2; /* . and .. */
}

size_t unit_count_descriptors(void)
{
    return count_entries("/proc/self/fd") - 1; /* opendir()'s own */
}

bool unit_is_free(const char *resource, int operation)
{
    return unit_is_free_at(unit_lock_path(resource), operation);
}

bool unit_is_free_at(const char *path, int operation)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    bool is_free;

    UNIT_CHECK(fd >= 0);
    is_free = flock(fd, operation | LOCK_NB) == 0;
    UNIT_CHECK(is_free || errno == EWOULDBLOCK);
    close(fd);
    return is_free;
}

/* A line of /proc/locks about a waiter: the number of the lock that it waits for, and the rest. */
typedef struct sleeper {
    int number;
    char text[100];
} sleeper;

/*
 * /proc/locks is read in parts, and a line is shown again, with another number, when others lock
 * between two parts: so often with eight tests at a time that any number of looks is in vain.
 * Waiters whose lines are alike wait for the same lock.
 */
static bool is_shown_again(const sleeper *sleepers, size_t count, const sleeper *shown)
{
    for (size_t at = 0; at < count; at++) {
        if (sleepers[at].number != shown->number && strcmp(sleepers[at].text, shown->text) == 0) {
            return true;
        }
    }
    return false;
}

static size_t count_sleepers(ino_t inode)
{
    FILE *locks = fopen("/proc/locks", "re");
    sleeper found[64], *next = found;
    unsigned long of;
    char line[256];

    UNIT_CHECK(locks != NULL);
    while (fgets(line, sizeof(line), locks) != NULL) {
        UNIT_CHECK(next < found + sizeof(found) / sizeof(*found));
        if (sscanf(line, "%d: -> %99[^\n]", &next->number, next->text) == 2
            && (sscanf(next->text, "FLOCK %*s %*s %*d %*x:%*x:%lu", &of) == 1
                || sscanf(next->text, "OFDLCK %*s %*s %*d %*x:%*x:%lu", &of) == 1)
            && of == inode && !is_shown_again(found, (size_t) (next - found), next)) {
            next++;
        }
    }
    fclose(locks);
    return (size_t) (next - found);
}

/* To be called in a loop until what /proc says is as expected; fails when it never is. */
static void look_again(unsigned *looks)
{
    const struct timespec pause = {0, 200000};

    UNIT_CHECK((*looks)++ < UNIT_TIMEOUT_NS / pause.tv_nsec);
    nanosleep(&pause, NULL);
}

size_t unit_count_threads(void)
{
    return count_entries("/proc/self/task");
}

void unit_await_sleepers(const char *path, size_t count)
{
    struct stat status;
    unsigned looks = 0, found = 0;

    UNIT_CHECK(stat(path, &status) == 0);
    /* Five times: a line can be left out, too, when others unlock meanwhile. */
    while ((found = count_sleepers(status.st_ino) == count ? found + 1 : 0) < 5) {
        look_again(&looks);
    }
}

void unit_await_thread_end(pid_t id)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/task/%d", id);
    for (unsigned looks = 0; access(path, F_OK) == 0;) {
        look_again(&looks);
    }
}

void unit_await_threads(size_t count)
{
    for (unsigned looks = 0; unit_count_threads() > unit.threads + count;) {
        look_again(&looks);
    }
}
