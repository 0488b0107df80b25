/* Latch\Store\SemaphoreStore: its setting in php.ini. */
#ifndef PHP_LATCH_SEMAPHORE_STORE_H
#define PHP_LATCH_SEMAPHORE_STORE_H

#include "ext/php_latch.h"

ZEND_INI_MH(php_latch_update_semaphore_digest);

#endif
