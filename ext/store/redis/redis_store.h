/* What the classes of stores in Redis have in common: RedisStore, of locks and of semaphores, and
 * RedisStringStore. */
#ifndef PHP_LATCH_REDIS_STORE_H
#define PHP_LATCH_REDIS_STORE_H

#include "ext/store/engine_store.h"
#include "ext/store/store_class.h"

/* DSNs of either RedisStore. */
extern const php_latch_dsn_form php_latch_redis_forms[];

/* create_object: the back end is still missing. */
zend_object *php_latch_redis_store_create(zend_class_entry *ce);
/*
 * The constructor of a store: `name` is the engine's, `redis` a client object or a DSN. The back
 * end is the one of all stores of that name on that client, or with these settings. After throwing
 * there is none.
 */
void php_latch_redis_store_construct(php_latch_store *store, const char *name,
                                     const php_latch_primitive *primitive, zval *redis,
                                     int64_t ttl_ms);

#endif
