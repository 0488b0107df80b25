/* Registration of the store classes, at MINIT. */
#ifndef PHP_LATCH_STORES_H
#define PHP_LATCH_STORES_H

#include "ext/php_latch.h"

void php_latch_register_combined_store(void);
void php_latch_register_flock_store(void);
void php_latch_register_memory_stores(void);
void php_latch_register_redis_store(void);
void php_latch_register_semaphore_store(void);
void php_latch_register_sql_stores(void);
void php_latch_register_store_factory(void);
void php_latch_register_strategies(void);

ZEND_INI_MH(php_latch_update_semaphore_digest);

#endif
