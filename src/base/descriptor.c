/* Registered descriptors, which a forked child closes: see descriptor.h. */
#include "src/base/descriptor.h"

#include "src/base/context.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- The registry ---------------------------------------------------------------------------- */

void latch_descriptors_init(latch_descriptors *descriptors)
{
    latch_list_init(&descriptors->list);
    pthread_mutex_init(&descriptors->mutex, NULL);
}

void latch_descriptors_destroy(latch_descriptors *descriptors)
{
    pthread_mutex_destroy(&descriptors->mutex);
}

void latch_descriptor_register(latch_engine *engine, latch_descriptor *descriptor, int fd)
{
    descriptor->fd = fd;
    descriptor->inherit = false;
    descriptor->is_shadowed = false;
    pthread_mutex_lock(&engine->descriptors.mutex);
    latch_list_append(&engine->descriptors.list, &descriptor->link);
    pthread_mutex_unlock(&engine->descriptors.mutex);
}

void latch_descriptor_shadow(latch_engine *engine, latch_descriptor *descriptor, int fd)
{
    latch_descriptor_register(engine, descriptor, fd);
    descriptor->is_shadowed = true;
}

int latch_descriptor_unregister(latch_engine *engine, latch_descriptor *descriptor)
{
    pthread_mutex_lock(&engine->descriptors.mutex);
    latch_list_remove(&descriptor->link);
    latch_list_init(&descriptor->link);
    pthread_mutex_unlock(&engine->descriptors.mutex);
    return descriptor->fd;
}

void latch_descriptor_close(latch_engine *engine, latch_descriptor *descriptor)
{
    latch_descriptor_unregister(engine, descriptor);
    if (descriptor->fd >= 0) {
        close(descriptor->fd);
        descriptor->fd = -1;
    }
}

/* ---- Fork ------------------------------------------------------------------------------------ */

/*
 * An empty file that no process can write to. (OpenSSL takes an unconnected socket for one that is
 * being connected, and would retry its farewell there for ever.)
 */
static int open_nowhere(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    return fd >= 0 ? fd : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* Async-signal-safe, as a child of a process with threads may call nothing else. */
static void close_in_child(latch_descriptor *descriptor)
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

void latch_descriptors_before_fork(latch_descriptors *descriptors)
{
    pthread_mutex_lock(&descriptors->mutex);
}

void latch_descriptors_close_in_child(latch_descriptors *descriptors)
{
    for (latch_link *link = descriptors->list.next; link != &descriptors->list; link = link->next) {
        latch_descriptor *descriptor = LATCH_CONTAINER(link, latch_descriptor, link);

        if (!descriptor->inherit && descriptor->fd >= 0) {
            close_in_child(descriptor);
        }
    }
}

void latch_descriptors_after_fork(latch_descriptors *descriptors)
{
    pthread_mutex_unlock(&descriptors->mutex);
}
