/*
 * Client objects: PHP objects by which the engine reaches a server (\PDO, a Doctrine DBAL
 * connection, \Redis and their like), and the calls of their methods.
 */
#ifndef PHP_LATCH_CLIENT_H
#define PHP_LATCH_CLIENT_H

#include "ext/php/call.h"

typedef struct php_latch_client {
    zend_object *object; /* a reference */
    bool is_running;     /* a method of it is under way, for the engine */
} php_latch_client;

/* Calls a method that the object has; leaves what it throws. */
void php_latch_call_method(zend_object *object, const char *lower_name, zval *result,
                           uint32_t argument_count, zval *arguments);

/* False where no PHP code can run any more, or the client is in the middle of a call. */
bool php_latch_client_can_call(const php_latch_client *client);
/*
 * As php_latch_call(). The engine is above on the stack, in the middle of an operation, and must
 * not be called for the same client. So PHP's signal handlers wait until the call has ended, and
 * the call cannot suspend a fiber.
 */
zend_object *php_latch_client_call(php_latch_client *client, void (*code)(void *context),
                                   void *context);
/* The same; drops what is thrown. */
void php_latch_client_call_quietly(php_latch_client *client, void (*code)(void *context),
                                   void *context);

/* ---- The exception of the last failed call: cause of the next exception */

/* Consumes the exception. */
void php_latch_client_failure_set(zend_object *exception);
/* Returns the exception, which the caller owns then; NULL: none. */
zend_object *php_latch_client_failure_take(void);
void php_latch_client_failure_clear(void);

#endif
