/* RedisStores for StoreFactory. */
#ifndef PHP_LATCH_REDIS_STORE_H
#define PHP_LATCH_REDIS_STORE_H

#include "ext/php_latch.h"

/* Makes a RedisStore for the DSN; on failure `error` says why. */
latch_status php_latch_redis_store_make(zval *store, zend_string *dsn, latch_error *error);
/* Throws what `error` says of the DSN in that first argument. */
void php_latch_throw_redis_dsn(const latch_error *error, const char *argument);

#endif
