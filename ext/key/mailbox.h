/* The thread's mailbox: where the engine's renewal thread reports lost leases. */
#ifndef PHP_LATCH_MAILBOX_H
#define PHP_LATCH_MAILBOX_H

#include "ext/php_latch.h"

/* The thread's, opened when it is missing; NULL when memory ran out. */
latch_mailbox *php_latch_mailbox_get(void);
void php_latch_mailbox_close(php_latch_mail *mail);

#endif
