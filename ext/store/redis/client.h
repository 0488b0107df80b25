/* Client objects as connections of RedisStore. */
#ifndef PHP_LATCH_REDIS_CLIENT_H
#define PHP_LATCH_REDIS_CLIENT_H

#include "ext/php/client_object.h"

/* Names of the classes, for messages. */
#define PHP_LATCH_REDIS_CLASSES                                                                    \
    "Redis|Relay\\Relay|Relay\\Cluster|RedisArray|RedisCluster|Predis\\ClientInterface"

/* Is it of one of them? */
bool php_latch_is_redis_client(zend_object *object);
/*
 * Makes a runner of scripts by such an object, of which it keeps a reference. False after throwing
 * the object's exception.
 */
bool php_latch_redis_runner(zend_object *object, latch_redis_runner *runner);

#endif
