/* The module's globals, and the engine of the process. */
#include "ext/php_latch.h"

ZEND_DECLARE_MODULE_GLOBALS(latch)
#if defined(ZTS) && defined(COMPILE_DL_LATCH)
ZEND_TSRMLS_CACHE_DEFINE()
#endif

latch_engine *php_latch_engine;
