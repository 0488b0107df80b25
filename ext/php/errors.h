/* Exceptions for the outcomes of the engine and of stores. */
#ifndef PHP_LATCH_ERRORS_H
#define PHP_LATCH_ERRORS_H

#include "ext/php/primitive.h"

/* Outcome of a call of PHP code for a holder of that primitive, whose exception of a conflict means
 * one: consumes the exception; an Error or an exit stays pending: INTERRUPTED. */
php_latch_outcome php_latch_outcome_of_call(const php_latch_primitive *primitive);
/* The same, where exceptions of the class `conflict` mean a conflict. */
php_latch_outcome php_latch_outcome_of_store_call(const zend_class_entry *conflict);
/* Makes the exception for the engine's answer. */
php_latch_outcome php_latch_outcome_of_status(const php_latch_primitive *primitive,
                                              latch_status status, const latch_error *error,
                                              zend_string *resource);
/*
 * The part of the exception's message behind the resource and the noun: only for Latch's own
 * messages, as other messages may contain a password. `otherwise` when there is none.
 */
const char *php_latch_reason(const php_latch_primitive *primitive, const php_latch_outcome *outcome,
                             const char *otherwise);
/*
 * Makes the exception for a request of this kind that ended in a conflict; in_slots: the permits
 * are locks.
 */
zend_object *php_latch_new_conflict(const php_latch_primitive *primitive, latch_op_kind kind,
                                    zend_string *resource, bool in_slots);
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
/* The same of "BEFORE RESOURCE" NOUN AFTER": `after` follows the noun without a blank. */
zend_object *php_latch_new_failure(const php_latch_primitive *primitive, zend_class_entry *ce,
                                   zend_object *previous, const char *before, zend_string *resource,
                                   const char *after);
/* Throws an exception that names the argument. */
void php_latch_throw_argument(zend_class_entry *ce, uint32_t number, const char *name,
                              const char *problem);
/*
 * False after throwing when the TTL, argument `number`, is negative or not finite. One of 0 is
 * none, which semaphores do not have.
 */
bool php_latch_check_ttl(const php_latch_primitive *primitive, uint32_t number, double ttl);
/* Whole milliseconds, rounded up, so that a TTL is never 0 by rounding. */
int64_t php_latch_ttl_ms(double ttl);

#endif
