/* Failures: a latch_error is described where the failure is found, and its status returned. */
#ifndef LATCH_ERROR_H
#define LATCH_ERROR_H

#include "src/latch.h"

/* Describes a failure and returns `status`, so that a caller can return it in turn. */
latch_status latch_fail(latch_error *error, latch_status status, int sys_errno, const char *format,
                        ...) __attribute__((format(printf, 4, 5)));
latch_status latch_fail_memory(latch_error *error);

#endif
