/*
 * Registered descriptors: closed in a forked child, without any message to the peer, unless they
 * are to be inherited.
 */
#ifndef LATCH_DESCRIPTOR_H
#define LATCH_DESCRIPTOR_H

#include "src/base/list.h"
#include "src/latch.h"

#include <pthread.h>
#include <stdatomic.h>

/* Descriptor. Its fd is -1 when closed, also by a fork. */
typedef struct latch_descriptor {
    latch_link link;
    int fd;
    _Atomic bool inherit; /* read in the child, written by the owner's thread */
    bool is_shadowed;     /* see latch_descriptor_shadow() */
} latch_descriptor;

/* All descriptors of an engine. */
typedef struct latch_descriptors {
    pthread_mutex_t mutex; /* guards the list; held across fork() */
    latch_link list;       /* of latch_descriptor */
} latch_descriptors;

void latch_descriptors_init(latch_descriptors *descriptors);
void latch_descriptors_destroy(latch_descriptors *descriptors);

/* Around fork(2): lock; in the child close what is not inherited; unlock in both processes. */
void latch_descriptors_before_fork(latch_descriptors *descriptors);
void latch_descriptors_close_in_child(latch_descriptors *descriptors);
void latch_descriptors_after_fork(latch_descriptors *descriptors);

void latch_descriptor_register(latch_engine *engine, latch_descriptor *descriptor, int fd);
/*
 * Registers a descriptor that a client library has opened and will close. In a forked child the
 * library may still write a farewell to it; so its number stays taken there, by a file that leads
 * nowhere, until the library closes that. `fd` is -1 all the same.
 */
void latch_descriptor_shadow(latch_engine *engine, latch_descriptor *descriptor, int fd);
/* Closes and unregisters; safe after a fork has closed it already, or when called twice. */
void latch_descriptor_close(latch_engine *engine, latch_descriptor *descriptor);
/* Unregisters, so that the memory may go, without closing: returns the fd, the caller's to close,
 * or -1. */
int latch_descriptor_unregister(latch_engine *engine, latch_descriptor *descriptor);

#endif
