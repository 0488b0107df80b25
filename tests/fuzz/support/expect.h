#ifndef LATCH_FUZZ_EXPECT_H
#define LATCH_FUZZ_EXPECT_H

#include <stdio.h>
#include <stdlib.h>

/* Not assert(), which can be compiled out. */
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
