/* PHP's own header, and the differences between its versions. */
#ifndef PHP_LATCH_COMPAT_H
#define PHP_LATCH_COMPAT_H

/* The streams' header of 8.5 has a parameter that is named like a type. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include "php.h"
#pragma GCC diagnostic pop

/*
 * PHP that reports the memory limit later (8.2.35 and its like): a failed allocation no longer
 * bails out on the spot. The VM reports it between two instructions and unwinds; until the
 * request's end no PHP function can be called. Older PHP has bailed out before anybody could ask.
 */
#ifdef ZEND_HAS_OOM
#define php_latch_is_out_of_memory() ZEND_HAS_OOM()
#else
#define php_latch_is_out_of_memory() false
#endif

/*
 * From PHP 8.4 on, __debugInfo() gives every object of its class a slot of 16 bytes, to know there
 * whether it is being dumped. Without that PHP marks the object itself, as before. For classes that
 * nobody extends and whose __debugInfo() calls no PHP code; before there is an object.
 */
#define php_latch_drop_guards(ce) ((ce)->ce_flags &= ~ZEND_ACC_USE_GUARDS)

#endif
