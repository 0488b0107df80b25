/*
 * Client libraries, opened when the first store that needs one is made. Linked libraries would be
 * loaded at each start of PHP, with all that they need themselves: 2 to 5 ms of processor time,
 * even in processes that use no server.
 *
 * A header library.h in the store's folder replaces the library's own. It lists the functions that
 * are called, and redirects each to a pointer of the same type, so that the calling code does not
 * change. (Functions that the library's macros call belong to the list, too.)
 */
#ifndef LATCH_LIBRARY_H
#define LATCH_LIBRARY_H

#include "src/base/base.h"

typedef struct latch_library {
    const char *name;           /* for messages: "libpq" */
    const char *file;           /* a soname, or a path, as found at build time */
    const char *alpine_package; /* Alpine's; Debian's follows from the soname */
    const char *const *symbols; /* the names of `count` functions */
    void *pointers;             /* a structure of `count` pointers to them */
    size_t count;
    _Atomic bool is_open;
} latch_library;

/*
 * Opens the library, once for the rest of the process; its functions may be called after
 * LATCH_DONE. LATCH_ERROR_SYSTEM: it cannot be opened; the message says what to install, and the
 * next call tries again. Any thread may call this.
 */
latch_status latch_library_open(latch_library *library, latch_error *error);

/* Around a fork(): no other thread is in the middle of opening a library then. */
void latch_library_before_fork(void);
void latch_library_after_fork(void);

/* Declares `name` with a member for each function, and `name`_library; in a header, before the
 * redirections. */
#define LATCH_LIBRARY_DECLARE(name, functions)                                                     \
    extern struct name##_functions {                                                               \
        functions(LATCH_LIBRARY_MEMBER)                                                            \
    } name;                                                                                        \
    extern latch_library name##_library;
#define LATCH_LIBRARY_MEMBER(function) __typeof__(&function) function;

/* Defines both; what follows initialises the rest of `name`_library. */
#define LATCH_LIBRARY_DEFINE(functions_name, functions, ...)                                       \
    struct functions_name##_functions functions_name;                                              \
    static const char *const symbols[] = {functions(LATCH_LIBRARY_SYMBOL)};                        \
    _Static_assert(sizeof(functions_name) == sizeof(symbols), "a pointer for each symbol");        \
    latch_library functions_name##_library = {                                                     \
        .symbols = symbols,                                                                        \
        .pointers = &functions_name,                                                               \
        .count = sizeof(symbols) / sizeof(*symbols),                                               \
        __VA_ARGS__,                                                                               \
    };
#define LATCH_LIBRARY_SYMBOL(function) #function,

#endif
