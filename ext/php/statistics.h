/* Counters of this thread's locks. */
#ifndef PHP_LATCH_STATISTICS_H
#define PHP_LATCH_STATISTICS_H

#include "ext/php_latch.h"

/* Counts the end of a request to a store; `was_held`: the lock was held before, as far as was
 * known. */
void php_latch_statistics_count(latch_op_kind kind, latch_status status, bool was_held);
/* The same of a request of the engine's on that lease; `is_ours`: a loss is this process's. */
void php_latch_statistics_count_request(const latch_lease *lease, latch_op_kind kind,
                                        latch_status status, bool is_ours);
/* Prints a table of them for phpinfo(). */
void php_latch_statistics_print(void);

#endif
