/*
 * Life of a participant: a robust mutex, which its thread holds from the beginning to the end. The
 * kernel marks the mutex's futex word when the thread ends, whatever way. No process but the owner
 * ever uses it as a mutex; to all others it is one word.
 *
 * Second witness, in case that the kernel could not follow the list of robust mutexes (the OOM
 * killer may have unmapped it): a lock on the byte of the place, of the open file description,
 * which ends with the process. Closing other descriptors of the file does not end it, as it would
 * end a lock of the process; a child that a fork leaves it to closes it.
 */
#include "src/store/shm/store.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(((shm_participant *) 0)->life),
               "a mutex has room in a participant");

static pthread_mutex_t *shm_mutex_of(const shm_map *map, uint32_t place)
{
    return (pthread_mutex_t *) (void *) map->participants[place].life;
}

/* The first entry of the list; its lowest bit is a mark. */
static uintptr_t shm_first_entry(const struct robust_list_head *list)
{
    return (uintptr_t) list->list.next & ~(uintptr_t) 1;
}

/* The calling thread's list of robust mutexes; NULL: the kernel knows of none. */
static struct robust_list_head *shm_find_robust_list(void)
{
    struct robust_list_head *list = NULL;
    size_t length;

    return syscall(SYS_get_robust_list, 0, &list, &length) == 0 && length == sizeof(*list) ? list
                                                                                           : NULL;
}

/* The offset of the futex word of the mutex that the thread has locked last; -1: it is not in the
 * list. */
static int64_t shm_find_life_word(const struct robust_list_head *list, const pthread_mutex_t *mutex)
{
    uintptr_t word = list != NULL ? shm_first_entry(list) + (uintptr_t) list->futex_offset : 0;

    return word >= (uintptr_t) mutex && word < (uintptr_t) mutex + sizeof(*mutex)
               ? (int64_t) (word - (uintptr_t) mutex)
               : -1;
}

static bool shm_lock_life(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attributes;
    bool is_locked;

    if (pthread_mutexattr_init(&attributes) != 0) {
        return false;
    }
    is_locked = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0
                && pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0
                && pthread_mutex_init(mutex, &attributes) == 0 && pthread_mutex_trylock(mutex) == 0;
    pthread_mutexattr_destroy(&attributes);
    return is_locked;
}

static struct flock shm_witness_of(uint32_t place)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = place, .l_len = 1};
}

static uint64_t shm_namespace(void)
{
    struct stat status;

    return stat("/proc/self/ns/pid", &status) == 0 ? (uint64_t) status.st_ino : 0;
}

latch_status latch_shm_begin_life(const shm_map *map, uint32_t place, int fd,
                                  struct robust_list_head **list, latch_error *error)
{
    shm_participant *participant = &map->participants[place];
    pthread_mutex_t *mutex = shm_mutex_of(map, place);
    struct flock witness = shm_witness_of(place);
    int64_t offset;

    latch_shm_store32(&participant->process, (uint32_t) getpid());
    latch_shm_store64(&participant->namespace, shm_namespace());
    latch_shm_store32(&participant->waits_for, 0);
    latch_shm_store64(&participant->note[0], 0);
    latch_shm_store32(&participant->has_witness, fcntl(fd, F_OFD_SETLK, &witness) == 0);
    if (!shm_lock_life(mutex)) {
        return latch_fail(error, LATCH_ERROR_SYSTEM, errno,
                          "the system has no robust mutexes that processes share");
    }
    *list = shm_find_robust_list();
    offset = shm_find_life_word(*list, mutex);
    if (offset < 0) {
        pthread_mutex_unlock(mutex);
        return latch_fail(error, LATCH_ERROR_SYSTEM, 0,
                          "the system does not keep a list of robust futexes, by which it would "
                          "free the locks of a process that has died");
    }
    latch_shm_store32(&participant->life_offset, (uint32_t) offset);
    return LATCH_DONE;
}

void latch_shm_end_life(const shm_map *map, uint32_t place)
{
    pthread_mutex_unlock(shm_mutex_of(map, place));
}

/* musl leaves the parent's list as it was, and would write into the parent's mutex when the child
 * locks one of its own; glibc has emptied it. */
void latch_shm_forget_parents_life(struct robust_list_head *list, const void *base, size_t size)
{
    uintptr_t first = shm_first_entry(list);

    if (first >= (uintptr_t) base && first < (uintptr_t) base + size) {
        list->list.next = &list->list;
    }
}

void latch_shm_ask_witness(const shm_map *map, uint64_t identity, int fd)
{
    struct flock witness = shm_witness_of(latch_shm_place_of(identity));

    if (latch_shm_is_alive(map, identity)
        && latch_shm_load32(&map->participants[latch_shm_place_of(identity)].has_witness) != 0
        && fcntl(fd, F_OFD_GETLK, &witness) == 0 && witness.l_type == F_UNLCK) {
        latch_shm_retire(map, identity);
    }
}
