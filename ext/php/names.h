/*
 * Names of Latch's classes, in the mode of the process: all class entries are initialised here.
 * Included by ext/php_latch.h, so that no class is registered under another name.
 */
#ifndef PHP_LATCH_NAMES_H
#define PHP_LATCH_NAMES_H

#include "ext/php/compat.h"

/* Initialises a class entry; the generated register_class_…() functions use this macro. */
#undef INIT_NS_CLASS_ENTRY
#define INIT_NS_CLASS_ENTRY(ce, ns, name, functions)                                               \
    php_latch_init_class_entry(&(ce), ns "\\" name, functions)
void php_latch_init_class_entry(zend_class_entry *ce, const char *name,
                                const zend_function_entry *functions);

/* Drop-in mode: adds the aliases under Latch\, and renames types for reflection. */
void php_latch_finish_names(void);

/* Finds a loaded class by its name in lower case; NULL when there is none. */
zend_class_entry *php_latch_find_class(const char *lower_name);
/* Finds a class, by autoload if need be; NULL when there is none, or the autoloader has thrown. */
zend_class_entry *php_latch_load_class(const char *name);

#endif
