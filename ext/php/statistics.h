/* Counters of this thread's locks, semaphores and multi-locks. */
#ifndef PHP_LATCH_STATISTICS_H
#define PHP_LATCH_STATISTICS_H

#include "ext/php_latch.h"

/* The counters of what the lease is a hold on. */
static inline php_latch_statistics *php_latch_statistics_of(const latch_lease *lease)
{
    return &LATCH_G(statistics)[lease->is_member   ? PHP_LATCH_COUNTED_MEMBERS
                                : lease->is_permit ? PHP_LATCH_COUNTED_SEMAPHORES
                                                   : PHP_LATCH_COUNTED_LOCKS];
}

/* Counts the end of a request to a store; `was_held`: the lock was held before, as far as was
 * known. */
void php_latch_statistics_count(php_latch_statistics *statistics, latch_op_kind kind,
                                latch_status status, bool was_held);
/* The same of a request of the engine's on that lease; `is_ours`: a loss is this process's. */
void php_latch_statistics_count_request(const latch_lease *lease, latch_op_kind kind,
                                        latch_status status, bool is_ours);
/* The array of getStatistics(). */
void php_latch_statistics_return(php_latch_counted counted, zval *return_value);
/* Prints tables of them for phpinfo(). */
void php_latch_statistics_print(void);

#endif
