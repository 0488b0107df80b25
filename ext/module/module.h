/* Inside the module: what MINIT and MSHUTDOWN start and end. */
#ifndef PHP_LATCH_MODULE_H
#define PHP_LATCH_MODULE_H

#include "ext/php_latch.h"

/* ---- drop_in.c: files that declare a class of Latch's */

/* Hooks into the compiler, in drop-in mode; to be called when all classes are registered. */
void php_latch_drop_in_startup(void);
void php_latch_drop_in_shutdown(void);

/* ---- holder_info.c: holder information */

/* latch_env.holder_info */
const char *php_latch_holder_info(void *context);
ZEND_INI_MH(php_latch_update_holder_name);

/* ---- signals.c */

void php_latch_register_signals(int module_number);

#endif
