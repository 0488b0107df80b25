/* Threads of the engine: see thread.h. */
#include "src/base/thread.h"

#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>

/* getaddrinfo()'s back end is the machine's choice (NSS): it may be LDAP over TLS. */
#define STACK_SIZE (512 * 1024)

/* PHP may unload this library, at the end of the process, while a thread still runs in it. */
static void pin_library(void)
{
    Dl_info info;
    void *library;

    if (dladdr((void *) pin_library, &info) == 0 || info.dli_fname == NULL) {
        return;
    }
    /* NULL for a program, which is never unloaded. RTLD_NODELETE outlives dlclose(). */
    library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    if (library != NULL) {
        dlclose(library);
    }
}

int latch_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    pthread_attr_t attributes;
    pthread_t detached;
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
    result = pthread_create(thread != NULL ? thread : &detached, &attributes, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return result;
}
