/*
 * PHP code that the engine calls in the middle of an operation.
 *
 * Deferred throw: a fatal error, exit(), or an Error, which is no failure of the store, is kept
 * until the engine has returned, and rethrown then.
 */
#ifndef PHP_LATCH_CALL_H
#define PHP_LATCH_CALL_H

#include "ext/php_latch.h"

/* False where no PHP code can run any more, or a bailout is deferred. */
bool php_latch_can_call(void);
/* Runs code that may call PHP, and returns the exception that it throws, which the caller owns
 * then. */
zend_object *php_latch_call(void (*code)(void *context), void *context);
/* Releases an object whose destructor, or that of an object it refers to, may call PHP code. */
void php_latch_object_release_deferred(zend_object *object);
/* Keeps an exception that the engine must not see, until php_latch_rethrow_deferred(); consumes it.
 */
void php_latch_defer_throw(zend_object *thrown);
/* Is there a throw or a bailout that the engine's caller will not return from? */
bool php_latch_has_deferred_throw(void);
/*
 * Rethrows, or bails out, if PHP code that the engine called did, and returns LATCH_INTERRUPTED
 * then; else returns `status`. To be called when the engine has returned.
 */
latch_status php_latch_rethrow_deferred(latch_status status);

#endif
