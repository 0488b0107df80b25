/* PHP's own header, and the differences between its versions. */
#ifndef PHP_LATCH_COMPAT_H
#define PHP_LATCH_COMPAT_H

/* The streams' header of 8.5 has a parameter that is named like a type. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include "php.h"
#pragma GCC diagnostic pop

/*
 * Deferred memory limit (from PHP 8.2.35 on): a failed allocation no longer bails out on the spot.
 * The VM reports it between two instructions and unwinds; until the request's end no PHP function
 * can be called. Older PHP bails out in the allocation.
 */
#ifdef ZEND_HAS_OOM
#define php_latch_is_out_of_memory() ZEND_HAS_OOM()
#else
#define php_latch_is_out_of_memory() false
#endif

/*
 * Removes the slot of 16 bytes by which PHP, from 8.4 on, knows of each object of a class with
 * __debugInfo() whether it is being dumped. Without a slot PHP marks the object itself, as before.
 * For final classes whose __debugInfo() calls no PHP code; to be called before there is an object.
 */
#define php_latch_drop_guards(ce) ((ce)->ce_flags &= ~ZEND_ACC_USE_GUARDS)

#endif
