/* The linker puts these in the place of the engine's system calls (Makefile, WRAPPED). */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <pthread.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

unit_system unit_calls;

/* The linker's names begin with two underscores. */
int __real_open(const char *path, int flags, ...);
int __real_fcntl(int fd, int command, ...);
int __real_flock(int fd, int operation);
int __real_semget(key_t key, int count, int flags);
int __real_rename(const char *from, const char *to);
int __real_statfs(const char *path, struct statfs *status);
int __real_eventfd(unsigned value, int flags);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*body)(void *), void *argument);
void *__real_calloc(size_t count, size_t size);
ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __real_send(int fd, const void *bytes, size_t size, int flags);
int __real_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **addresses);
void __real_freeaddrinfo(struct addrinfo *addresses);

int __wrap_open(const char *path, int flags, ...);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_flock(int fd, int operation);
int __wrap_semget(key_t key, int count, int flags);
int __wrap_rename(const char *from, const char *to);
int __wrap_statfs(const char *path, struct statfs *status);
int __wrap_eventfd(unsigned value, int flags);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*body)(void *), void *argument);
void *__wrap_calloc(size_t count, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_send(int fd, const void *bytes, size_t size, int flags);
int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **addresses);
void __wrap_freeaddrinfo(struct addrinfo *addresses);

int __wrap_open(const char *path, int flags, ...)
{
    int result = unit_calls.on_open != NULL ? unit_calls.on_open(path, flags) : UNIT_GO_ON;
    mode_t mode = 0;

    if ((flags & O_CREAT) != 0) {
        va_list rest;

        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    unit_calls.opened++;
    return result == UNIT_GO_ON ? __real_open(path, flags, mode) : result;
}

int __wrap_fcntl(int fd, int command, ...)
{
    va_list rest;
    void *argument;

    va_start(rest, command);
    argument = va_arg(rest, void *); /* or an int: in the same register */
    va_end(rest);
    if (command == F_OFD_SETLKW && unit_calls.no_byte_waits) {
        errno = ENOLCK;
        return -1;
    }
    return __real_fcntl(fd, command, argument);
}

int __wrap_flock(int fd, int operation)
{
    int result = unit_calls.on_flock != NULL ? unit_calls.on_flock(fd, operation) : UNIT_GO_ON;

    return result == UNIT_GO_ON ? __real_flock(fd, operation) : result;
}

int __wrap_rename(const char *from, const char *to)
{
    int result = unit_calls.on_rename != NULL ? unit_calls.on_rename() : UNIT_GO_ON;

    return result == UNIT_GO_ON ? __real_rename(from, to) : result;
}

int __wrap_semget(key_t key, int count, int flags)
{
    int result = unit_calls.on_semget != NULL ? unit_calls.on_semget(key, flags) : UNIT_GO_ON;

    return result == UNIT_GO_ON ? __real_semget(key, count, flags) : result;
}

int __wrap_statfs(const char *path, struct statfs *status)
{
    int result = __real_statfs(path, status);

    if (unit_calls.file_system != 0) {
        status->f_type = unit_calls.file_system;
    }
    return result;
}

int __wrap_eventfd(unsigned value, int flags)
{
    if (unit_calls.no_eventfd) {
        errno = EMFILE;
        return -1;
    }
    return __real_eventfd(value, flags);
}

/* The program has threads: TSan is to look at it (Makefile). */
static void leave_mark(void)
{
    static const char ending[] = ".threads";
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - sizeof(ending));
    int fd;

    if (length > 0) {
        strcpy(path + length, ending);
        fd = creat(path, 0644);
        if (fd >= 0) {
            close(fd);
        }
    }
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*body)(void *), void *argument)
{
    if (unit_calls.no_threads) {
        return EAGAIN;
    }
    if (unit_calls.started++ == 0) {
        leave_mark();
    }
    return __real_pthread_create(thread, attributes, body, argument);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return unit_calls.no_calloc ? NULL : __real_calloc(count, size);
}

void unit_reset_calls(void)
{
    /* Not as a whole: the atomic ones may be read just now. */
    unit_calls.on_open = NULL;
    unit_calls.on_flock = NULL;
    unit_calls.on_semget = NULL;
    unit_calls.on_rename = NULL;
    unit_calls.on_getaddrinfo = NULL;
    unit_calls.before_write = NULL;
    unit_calls.no_eventfd = unit_calls.no_threads = unit_calls.no_calloc = false;
    unit_calls.no_byte_waits = false;
    unit_calls.file_system = 0;
    unit_calls.opened = unit_calls.started = unit_calls.written = unit_calls.sent = 0;
    unit_calls.address_lists = 0;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
    void (*before_write)(int fd) = unit_calls.before_write;

    if (before_write != NULL) {
        before_write(fd);
    }
    unit_calls.written++;
    return __real_write(fd, bytes, size);
}

ssize_t __wrap_send(int fd, const void *bytes, size_t size, int flags)
{
    unit_calls.sent++;
    return __real_send(fd, bytes, size, flags);
}

int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **addresses)
{
    bool is_asked = unit_calls.on_getaddrinfo != NULL && (hints->ai_flags & AI_NUMERICHOST) == 0;
    int result = (is_asked ? unit_calls.on_getaddrinfo : __real_getaddrinfo)(host, service, hints,
                                                                             addresses);

    unit_calls.address_lists += result == 0;
    return result;
}

void __wrap_freeaddrinfo(struct addrinfo *addresses)
{
    unit_calls.address_lists--;
    __real_freeaddrinfo(addresses);
}
