/* The engine: what the stores of one process share, and what a fork does to their descriptors. */
#include "src/base/library.h"
#include "src/renewal/renewal.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

latch_engine *latch_engine_create(const latch_env *env, latch_error *error)
{
    latch_engine *engine = env->allocate(env->context, sizeof(*engine));

    if (engine == NULL) {
        latch_fail_memory(error);
        return NULL;
    }
    engine->env = *env;
    engine->generation = 0;
    engine->fork_count = 0;
    latch_link_init(&engine->descriptors);
    pthread_mutex_init(&engine->mutex, NULL);
    pthread_mutex_init(&engine->renewer_mutex, NULL);
    engine->renewer = NULL;
    return engine;
}

void latch_engine_destroy(latch_engine *engine)
{
    if (engine->renewer != NULL && !latch_renewer_destroy(engine->renewer)) {
        return; /* its thread is still at work with it */
    }
    pthread_mutex_destroy(&engine->renewer_mutex);
    pthread_mutex_destroy(&engine->mutex);
    engine->env.deallocate(engine->env.context, engine);
}

int64_t latch_engine_now_ns(const latch_engine *engine)
{
    return engine->env.monotonic_ns(engine->env.context);
}

int64_t latch_engine_wall_ns(const latch_engine *engine)
{
    return engine->env.wall_ns(engine->env.context);
}

void latch_engine_before_fork(latch_engine *engine)
{
    /* A fork copies memory at one instant: no other thread may be changing these lists then. */
    pthread_mutex_lock(&engine->renewer_mutex);
    if (engine->renewer != NULL) {
        latch_renewer_before_fork(engine->renewer);
    }
    pthread_mutex_lock(&engine->mutex);
    latch_library_before_fork();
}

void latch_engine_after_fork_in_parent(latch_engine *engine)
{
    engine->fork_count++;
    latch_library_after_fork();
    pthread_mutex_unlock(&engine->mutex);
    if (engine->renewer != NULL) {
        latch_renewer_after_fork_in_parent(engine->renewer);
    }
    pthread_mutex_unlock(&engine->renewer_mutex);
}

/*
 * A file that is empty, and that nobody can write to. (To OpenSSL a socket that is not connected
 * may yet be: it would try for ever to say good-bye there.)
 */
static int open_nowhere(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    return fd >= 0 ? fd : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* Async-signal-safe, as all that a child of a process with threads may call. */
static void leave_to_parent(latch_descriptor *descriptor)
{
    int nowhere = descriptor->is_shadowed ? open_nowhere() : -1;

    if (nowhere < 0 || dup3(nowhere, descriptor->fd, O_CLOEXEC) < 0) {
        close(descriptor->fd);
    }
    if (nowhere >= 0) {
        close(nowhere);
    }
    descriptor->fd = -1;
}

void latch_engine_after_fork_in_child(latch_engine *engine)
{
    for (latch_link *link = engine->descriptors.next; link != &engine->descriptors;
         link = link->next) {
        latch_descriptor *descriptor = LATCH_CONTAINER(link, latch_descriptor, link);

        if (!descriptor->inherit && descriptor->fd >= 0) {
            leave_to_parent(descriptor);
        }
    }
    engine->generation++;
    engine->fork_count++;
    if (engine->renewer != NULL) {
        latch_renewer_after_fork_in_child(engine->renewer);
    }
    latch_library_after_fork();
    pthread_mutex_unlock(&engine->mutex);
    pthread_mutex_unlock(&engine->renewer_mutex);
}

unsigned latch_engine_generation(const latch_engine *engine)
{
    return engine->generation;
}

unsigned latch_engine_fork_count(const latch_engine *engine)
{
    return engine->fork_count;
}

void latch_descriptor_register(latch_engine *engine, latch_descriptor *descriptor, int fd)
{
    descriptor->fd = fd;
    descriptor->inherit = false;
    descriptor->is_shadowed = false;
    pthread_mutex_lock(&engine->mutex);
    latch_link_append(&engine->descriptors, &descriptor->link);
    pthread_mutex_unlock(&engine->mutex);
}

void latch_descriptor_shadow(latch_engine *engine, latch_descriptor *descriptor, int fd)
{
    latch_descriptor_register(engine, descriptor, fd);
    descriptor->is_shadowed = true;
}

int latch_descriptor_forget(latch_engine *engine, latch_descriptor *descriptor)
{
    pthread_mutex_lock(&engine->mutex);
    latch_link_remove(&descriptor->link);
    latch_link_init(&descriptor->link);
    pthread_mutex_unlock(&engine->mutex);
    return descriptor->fd;
}

void latch_descriptor_close(latch_engine *engine, latch_descriptor *descriptor)
{
    latch_descriptor_forget(engine, descriptor);
    if (descriptor->fd >= 0) {
        close(descriptor->fd);
        descriptor->fd = -1;
    }
}

/* ---- Threads --------------------------------------------------------------------------------- */

/* What answers for getaddrinfo() is the machine's choice (NSS): it may be LDAP over TLS. */
#define STACK_SIZE (512 * 1024)

/* PHP may unload this library, at the end of the process, while a thread still runs in it. */
static void pin_library(void)
{
    Dl_info info;
    void *library;

    if (dladdr((void *) pin_library, &info) == 0 || info.dli_fname == NULL) {
        return;
    }
    /* NULL for a program, which nobody unloads. What is pinned remains so when it is closed. */
    library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    if (library != NULL) {
        dlclose(library);
    }
}

int latch_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    pthread_attr_t attributes;
    pthread_t nobodys;
    sigset_t all, before;
    int result = pthread_attr_init(&attributes);

    if (result != 0) {
        return result;
    }
    pin_library();
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    if (thread == NULL) {
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    result = pthread_create(thread != NULL ? thread : &nobodys, &attributes, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return result;
}

/* ---- What the surroundings give -------------------------------------------------------------- */

int64_t latch_jittered_ns(const latch_engine *engine, int64_t duration_ns)
{
    uint16_t random;

    if (!engine->env.random(engine->env.context, &random, sizeof(random))) {
        random = UINT16_MAX / 2; /* it only spreads contenders: no reason to fail */
    }
    return duration_ns / 10 * 9 + duration_ns / 5 * random / UINT16_MAX;
}

void *latch_allocate(const latch_engine *engine, size_t size)
{
    return engine->env.allocate(engine->env.context, size);
}

void latch_free(const latch_engine *engine, void *pointer)
{
    engine->env.deallocate(engine->env.context, pointer);
}

latch_status latch_fail(latch_error *error, latch_status status, int sys_errno, const char *format,
                        ...)
{
    va_list arguments;

    error->status = status;
    error->sys_errno = sys_errno;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof(error->message), format, arguments);
    va_end(arguments);
    return status;
}

latch_status latch_fail_memory(latch_error *error)
{
    return latch_fail(error, LATCH_ERROR_MEMORY, 0, "out of memory");
}
