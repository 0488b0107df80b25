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

#endif
