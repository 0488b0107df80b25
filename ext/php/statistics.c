/*
 * Counters of this thread's locks, for Lock::getStatistics() and phpinfo(): plain fields of the
 * module globals, so that counting costs an increment.
 */
#include "ext/php/statistics.h"

#include "ext/standard/info.h"

void php_latch_statistics_count(latch_op_kind kind, latch_status status, bool was_held)
{
    php_latch_statistics *statistics = &LATCH_G(statistics);
    bool acquires = kind == LATCH_ACQUIRE || kind == LATCH_ACQUIRE_SHARED;

    if (acquires && status == LATCH_DONE) {
        statistics->acquired++;
    } else if (acquires && status == LATCH_CONFLICT) {
        statistics->conflicts++;
    } else if (status == LATCH_ERROR_LOST || (was_held && status == LATCH_CONFLICT)) {
        statistics->lost++;
    }
}

void php_latch_statistics_count_request(const latch_lease *lease, latch_op_kind kind,
                                        latch_status status, bool is_ours)
{
    if (!lease->observed) {
        php_latch_statistics_count(kind, status, lease->lost && is_ours);
    } else if (status != LATCH_ERROR_LOST) {
        /* its loss is counted when it is reported (ext/lock/lost_locks.c) */
        php_latch_statistics_count(kind, status, false);
    }
}

static void print_row(const char *name, uint64_t count)
{
    char text[32];

    snprintf(text, sizeof(text), "%" PRIu64, count);
    php_info_print_table_row(2, name, text);
}

void php_latch_statistics_print(void)
{
    const php_latch_statistics *statistics = &LATCH_G(statistics);
    char text[32];

    php_info_print_table_start();
#ifdef ZTS
    php_info_print_table_colspan_header(2, "Locks of this thread since it started");
#else
    php_info_print_table_colspan_header(2, "Locks of this process since it started");
#endif
    print_row("Acquired", statistics->acquired);
    print_row("Conflicts", statistics->conflicts);
    print_row("Waits", statistics->waits);
    snprintf(text, sizeof(text), "%.3f s", (double) statistics->wait_ns / 1e9);
    php_info_print_table_row(2, "Time spent waiting", text);
    print_row("Released at shutdown", statistics->released_at_shutdown);
    print_row("Lost", statistics->lost);
    php_info_print_table_end();
}
