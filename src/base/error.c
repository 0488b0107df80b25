/* Failures: see error.h. */
#include "src/base/error.h"

#include <stdarg.h>
#include <stdio.h>

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
