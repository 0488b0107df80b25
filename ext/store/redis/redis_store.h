/* What Latch\Semaphore\Store\RedisStore has in common with Latch\Store\RedisStore. */
#ifndef PHP_LATCH_REDIS_STORE_H
#define PHP_LATCH_REDIS_STORE_H

#include "ext/store/engine_store.h"
#include "ext/store/store_class.h"

/* DSNs of either class. */
extern const php_latch_dsn_form php_latch_redis_forms[];

/* create_object: the back end is still missing. */
zend_object *php_latch_redis_store_create(zend_class_entry *ce);
/*
 * The constructor of a store of semaphores, with its one argument: a client object or a DSN. The
 * back end is the one of all stores on that client, or with these settings. After throwing there is
 * none.
 */
void php_latch_redis_store_construct(php_latch_store *store, zval *redis);

#endif
