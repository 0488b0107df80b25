/* The stores of the module, by src/store/stores.def. */
#ifndef PHP_LATCH_STORES_H
#define PHP_LATCH_STORES_H

/* Registers the classes of all stores, and StoreFactory. */
void php_latch_register_stores(void);
/* Prints their rows of phpinfo(). */
void php_latch_print_stores(void);

#endif
