/* Exceptions for the outcomes of the engine and of stores. */
#ifndef PHP_LATCH_ERRORS_H
#define PHP_LATCH_ERRORS_H

#include "ext/php_latch.h"

/* Outcome of a call of PHP code: consumes its exception; an Error or an exit stays pending:
 * INTERRUPTED. */
php_latch_outcome php_latch_outcome_of_call(void);
/* Makes the exception for the engine's answer. */
php_latch_outcome php_latch_outcome_of_status(latch_status status, const latch_error *error,
                                              zend_string *resource);
/*
 * The part of the exception's message behind the resource, quotation mark included: only for
 * Latch's own messages, as other messages may contain a password. `otherwise` when there is none.
 */
const char *php_latch_reason(const php_latch_outcome *outcome, const char *otherwise);
/* Makes the exception for a request of this kind that ended in a conflict. */
zend_object *php_latch_new_conflict(latch_op_kind kind, zend_string *resource);
/* Throws the outcome's exception, which it consumes, unless it is DONE. */
void php_latch_throw_outcome(php_latch_outcome *outcome);
void php_latch_outcome_free(php_latch_outcome *outcome);
/* Is it the end of the script, or of a fiber? Such an object has no properties, nor previous ones.
 */
bool php_latch_is_exit(const zend_object *thrown);
/*
 * Makes one pending exception of two: an exit, else `first`, with `second` among its previous ones.
 * Consumes both.
 */
void php_latch_chain_exceptions(zend_object *first, zend_object *second);
/* Turns the pending exception into a warning, where it must not go on; leaves none. */
void php_latch_warn_of_exception(void);

/*
 * A new exception with `previous`, which it consumes and which may be NULL. The message is
 * `before`, the resource in whole (it may have NUL bytes), `after`.
 */
zend_object *php_latch_new_exception(zend_class_entry *ce, zend_object *previous,
                                     const char *before, zend_string *resource, const char *after);
/* Throws an exception that names the argument. */
void php_latch_throw_argument(zend_class_entry *ce, uint32_t number, const char *name,
                              const char *problem);
/* False after throwing InvalidTtlException when the TTL is negative or not finite. */
bool php_latch_check_ttl(uint32_t number, double ttl);
/* Whole milliseconds, rounded up, so that a TTL is never 0 by rounding. */
int64_t php_latch_ttl_ms(double ttl);

#endif
