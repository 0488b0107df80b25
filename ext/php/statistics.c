/*
 * Counters of this thread's locks, semaphores and multi-locks, for getStatistics() and phpinfo():
 * plain fields of the module globals, so that counting costs an increment.
 */
#include "ext/php/statistics.h"

#include "ext/standard/info.h"

void php_latch_statistics_count(php_latch_statistics *statistics, latch_op_kind kind,
                                latch_status status, bool was_held)
{
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
    php_latch_statistics *statistics = php_latch_statistics_of(lease);

    if (!lease->observed) {
        php_latch_statistics_count(statistics, kind, status, lease->lost && is_ours);
    } else if (status != LATCH_ERROR_LOST) {
        /* its loss is counted when it is reported (ext/lock/lost_locks.c) */
        php_latch_statistics_count(statistics, kind, status, false);
    }
}

/* Of multi-locks only acquired and conflicts count the whole. */
static php_latch_statistics shown_statistics(php_latch_counted counted)
{
    const php_latch_statistics *statistics = &LATCH_G(statistics)[counted];
    php_latch_statistics shown = *statistics;

    if (counted == PHP_LATCH_COUNTED_MULTI_LOCKS) {
        shown = LATCH_G(statistics)[PHP_LATCH_COUNTED_MEMBERS];
        shown.acquired = statistics->acquired;
        shown.conflicts = statistics->conflicts;
    }
    return shown;
}

void php_latch_statistics_return(php_latch_counted counted, zval *return_value)
{
    const php_latch_statistics shown = shown_statistics(counted);

    array_init(return_value);
    add_assoc_long(return_value, "acquired", (zend_long) shown.acquired);
    add_assoc_long(return_value, "conflicts", (zend_long) shown.conflicts);
    add_assoc_long(return_value, "waits", (zend_long) shown.waits);
    add_assoc_double(return_value, "waitSeconds", (double) shown.wait_ns / 1e9);
    add_assoc_long(return_value, "releasedAtShutdown", (zend_long) shown.released_at_shutdown);
    add_assoc_long(return_value, "lost", (zend_long) shown.lost);
}

static void print_row(const char *name, uint64_t count)
{
    char text[32];

    snprintf(text, sizeof(text), "%" PRIu64, count);
    php_info_print_table_row(2, name, text);
}

static void print_table(const char *title, php_latch_counted counted)
{
    const php_latch_statistics shown = shown_statistics(counted);
    char text[32];

    php_info_print_table_start();
    php_info_print_table_colspan_header(2, title);
    print_row("Acquired", shown.acquired);
    print_row("Conflicts", shown.conflicts);
    print_row("Waits", shown.waits);
    snprintf(text, sizeof(text), "%.3f s", (double) shown.wait_ns / 1e9);
    php_info_print_table_row(2, "Time spent waiting", text);
    print_row("Released at shutdown", shown.released_at_shutdown);
    print_row("Lost", shown.lost);
    php_info_print_table_end();
}

#ifdef ZTS
#define SINCE " of this thread since it started"
#else
#define SINCE " of this process since it started"
#endif

void php_latch_statistics_print(void)
{
    print_table("Locks" SINCE, PHP_LATCH_COUNTED_LOCKS);
    print_table("Semaphores" SINCE, PHP_LATCH_COUNTED_SEMAPHORES);
    print_table("Multi-locks" SINCE, PHP_LATCH_COUNTED_MULTI_LOCKS);
}
