/* List of all stores, for the module's start and phpinfo(). */
#include "ext/module/stores.h"
#include "ext/store/store_class.h"

#include "ext/standard/info.h"

#define LATCH_STORE(store) extern const php_latch_store_class php_latch_##store##_classes[];
#include "src/store/stores.def"

static const php_latch_store_class *const classes[] = {
#define LATCH_STORE(store) php_latch_##store##_classes,
#include "src/store/stores.def"
    NULL,
};

void php_latch_register_stores(void)
{
    php_latch_register_store_classes(classes);
}

void php_latch_print_stores(void)
{
    for (const php_latch_store_class *const *store = classes; *store != NULL; store++) {
        zend_string *build = php_latch_store_class_build(*store);
        char name[64];

        snprintf(name, sizeof(name), "%s store", (*store)->store);
        php_info_print_table_row(2, name, ZSTR_VAL(build));
        zend_string_release(build);
        if ((*store)->print_info != NULL) {
            (*store)->print_info();
        }
    }
}
