/* Latch\IGNORED_SIGNALS: the signals that this process was started to ignore, for bin/latch. */
#include "ext/module/module.h"

#include <signal.h>

#define SIGNAL_MAX 31 /* the real-time signals beyond have no meaning of their own */

/*
 * Modules start before PHP's deferred signal handlers are set up, which hide the rest. SIGPIPE is
 * PHP's command line's own doing: it ignores that before it starts any module.
 */
static zend_long ignored_signals(void)
{
    zend_long ignored = 0;

    for (int number = 1; number <= SIGNAL_MAX; number++) {
        struct sigaction action;

        if (number != SIGPIPE && sigaction(number, NULL, &action) == 0
            && action.sa_handler == SIG_IGN) {
            ignored |= (zend_long) 1 << (number - 1);
        }
    }
    return ignored;
}

#include "stubs/signals_arginfo.h"

void php_latch_register_signals(int module_number)
{
    register_signals_symbols(module_number);
}
