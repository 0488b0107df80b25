/*
 * Watch on held lock files: the renewal thread checks each second that the path still leads to the
 * held file. The held file itself is not touched: another descriptor of it would keep the lock.
 *
 * Not by inotify(7): it does not tell when a directory further up is renamed or a link on the path
 * is turned, nor of what another machine does, so that checks are needed all the same; every
 * process would need one of 128 instances that a user has at first; and a watched directory wakes
 * its watchers for each lock that is acquired in it. A check costs a microsecond.
 */
#include "src/store/flock/flock.h"

#include <limits.h>
#include <string.h>

typedef struct watched_file {
    dev_t device;
    ino_t inode;
    char path[];
} watched_file;

static bool flock_is_gone(const latch_watch *watch)
{
    const watched_file *file = watch->state;

    return latch_flock_leads_elsewhere(file->path, file->device, file->inode);
}

/* Not on network file systems: a server that does not answer would hold the renewal thread up, and
 * with it what other stores have to renew. */
bool latch_flock_watch(const latch_lease *lease, latch_watch *watch)
{
    const flock_store *store = (const flock_store *) lease->store;
    const flock_file *file = lease->state;
    char path[PATH_MAX];
    watched_file *watched;
    latch_error unused;

    if (lease->mode == LATCH_FREE || file == NULL || file->descriptor.fd < 0 || store->unsure_links
        || latch_flock_path(store, file->resource, file->node.length, path, sizeof(path), &unused)
               != LATCH_DONE) {
        return false;
    }
    watched = latch_allocate(store->store.engine, sizeof(*watched) + strlen(path) + 1);
    if (watched == NULL) {
        return false;
    }
    watched->device = file->device;
    watched->inode = file->inode;
    strcpy(watched->path, path);
    watch->state = watched;
    watch->is_gone = flock_is_gone;
    return true;
}
