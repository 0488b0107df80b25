/* The module: its settings, its life and that of its requests, and its page in phpinfo(). */
#include "ext/php_latch.h"

#include "ext/key/backend.h"
#include "ext/key/key.h"
#include "ext/key/lease.h"
#include "ext/key/mailbox.h"
#include "ext/key/renewed_lease.h"
#include "ext/lock/lock.h"
#include "ext/module/module.h"
#include "ext/module/stores.h"
#include "ext/php/digest.h"
#include "ext/php/interfaces.h"
#include "ext/php/statistics.h"
#include "ext/semaphore/semaphore.h"
#include "ext/store/engine_store.h"
#include "ext/store/semaphore_store.h"
#include "ext/store/sql/sql.h"
#include "ext/sync/sync.h"

#include "ext/standard/info.h"
#include "php_ini.h"

#include <pthread.h>

/* Number of threads with module globals: the last one destroys the engine. */
static _Atomic unsigned thread_count;

PHP_INI_BEGIN()
STD_PHP_INI_BOOLEAN("latch.symfony", "0", PHP_INI_SYSTEM, OnUpdateBool, symfony, zend_latch_globals,
                    latch_globals)
STD_PHP_INI_BOOLEAN("latch.symfony_semaphore", "0", PHP_INI_SYSTEM, OnUpdateBool, symfony_semaphore,
                    zend_latch_globals, latch_globals)
PHP_INI_ENTRY("latch.lock_names", "hash", PHP_INI_ALL, php_latch_update_lock_names)
PHP_INI_ENTRY("latch.semaphore_digest", "xxh128", PHP_INI_ALL, php_latch_update_semaphore_digest)
STD_PHP_INI_BOOLEAN("latch.keep_alive", "0", PHP_INI_ALL, OnUpdateBool, keep_alive,
                    zend_latch_globals, latch_globals)
PHP_INI_ENTRY("latch.max_hold", "0", PHP_INI_ALL, php_latch_update_max_hold)
STD_PHP_INI_BOOLEAN("latch.throw_on_lost", "0", PHP_INI_ALL, OnUpdateBool, throw_on_lost,
                    zend_latch_globals, latch_globals)
STD_PHP_INI_BOOLEAN("latch.holder_note", "1", PHP_INI_ALL, OnUpdateBool, holder_note,
                    zend_latch_globals, latch_globals)
PHP_INI_ENTRY("latch.holder_name", "", PHP_INI_ALL, php_latch_update_holder_name)
PHP_INI_END()

static void before_fork(void)
{
    if (php_latch_engine != NULL) {
        latch_engine_before_fork(php_latch_engine);
    }
}

static void after_fork_in_parent(void)
{
    if (php_latch_engine != NULL) {
        latch_engine_after_fork_in_parent(php_latch_engine);
    }
}

static void after_fork_in_child(void)
{
    if (php_latch_engine != NULL) {
        latch_engine_after_fork_in_child(php_latch_engine);
    }
#ifdef ZTS
    if (tsrm_get_ls_cache() == NULL) {
        return; /* a thread that is not PHP's has forked: it has no globals */
    }
#endif
    memset(LATCH_G(statistics), 0, sizeof(LATCH_G(statistics))); /* a new process counts anew */
    php_latch_lost_locks_drop_notices();
}

/*
 * Registers the fork handlers once for each load of this library: libc removes them when it unloads
 * the library. If it stays loaded, as a thread may be in it (src/base/resolve.c), the next start in
 * the same process finds handlers and variables unchanged.
 */
static bool watch_forks(void)
{
    static bool watched;

    watched = watched
              || pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
    return watched;
}

static PHP_MINIT_FUNCTION(latch)
{
    latch_env env = latch_env_system();
    latch_error error;

    REGISTER_INI_ENTRIES();
    if (!php_latch_digests_startup()) {
        zend_error(E_CORE_ERROR, "Latch cannot start: PHP's hash extension lacks an algorithm");
        return FAILURE;
    }
    env.digest = php_latch_digest;
    env.holder_info = php_latch_holder_info;
    php_latch_engine = latch_engine_create(&env, &error);
    if (php_latch_engine == NULL) {
        zend_error(E_CORE_ERROR, "Latch cannot start: %s", error.message);
        return FAILURE;
    }
    if (!watch_forks()) {
        zend_error(E_CORE_ERROR, "Latch cannot start: pthread_atfork() failed");
        return FAILURE;
    }
    php_latch_lost_locks_startup();
    php_latch_deadlock_startup();
    php_latch_engine_store_startup();
    php_latch_register_interfaces();
    php_latch_register_lease();
    php_latch_register_key();
    php_latch_register_lock();
    php_latch_register_no_lock();
    php_latch_register_multi_lock();
    php_latch_register_lock_factory();
    php_latch_register_stores();
    php_latch_register_semaphores();
    php_latch_register_sync();
    php_latch_finish_names();
    php_latch_drop_in_startup();
    php_latch_register_signals(module_number);
    return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(latch)
{
    php_latch_drop_in_shutdown();
    php_latch_lost_locks_shutdown();
    UNREGISTER_INI_ENTRIES();
    return SUCCESS;
}

static void init_globals(void *memory)
{
    zend_latch_globals *globals = memory;

#if defined(COMPILE_DL_LATCH) && defined(ZTS)
    ZEND_TSRMLS_CACHE_UPDATE();
#endif
    thread_count++;
    memset(globals, 0, sizeof(*globals));
    latch_list_init(&globals->shared_backends);
    latch_list_init(&globals->orphans);
    latch_list_init(&globals->loss_notices);
    latch_list_init(&globals->store_calls);
    zend_hash_init(&globals->renewed_leases, 8, NULL, NULL, 1);
}

static void end_globals(void *memory)
{
    zend_latch_globals *globals = memory;

    zend_hash_destroy(&globals->renewed_leases);
    if (php_latch_engine != NULL) {
        php_latch_mailbox_close(&globals->mail);
    }
    php_latch_backends_close(&globals->shared_backends);
    if (--thread_count == 0 && php_latch_engine != NULL) {
        latch_engine_destroy(php_latch_engine);
        php_latch_engine = NULL;
    }
}

static PHP_RINIT_FUNCTION(latch)
{
#if defined(COMPILE_DL_LATCH) && defined(ZTS)
    ZEND_TSRMLS_CACHE_UPDATE();
#endif
    LATCH_G(shutting_down) = LATCH_G(all_released) = false;
    LATCH_G(holder_info)[0] = '\0'; /* another request may run another script */
    latch_list_init(&LATCH_G(store_calls));
    LATCH_G(failed_lock) = NULL;
    LATCH_G(client_failure) = NULL;
    LATCH_G(deferred_throw) = (php_latch_deferred_throw){NULL, false};
    zend_hash_clean(&LATCH_G(renewed_leases)); /* should a request have ended in a crash */
    latch_list_init(&LATCH_G(loss_notices));
    LATCH_G(mail).is_there = false;
    php_latch_backends_close_surplus(); /* those of the last request */
    return SUCCESS;
}

static PHP_RSHUTDOWN_FUNCTION(latch)
{
    LATCH_G(shutting_down) = true;
    php_latch_release_all();
    php_latch_stop_all_renewals();
    return SUCCESS;
}

/* The namespaces of the classes' names. */
static const char *describe_names(void)
{
    if (LATCH_G(symfony) && LATCH_G(symfony_semaphore)) {
        return "Symfony\\Component\\Lock and \\Semaphore, with aliases in Latch";
    }
    if (LATCH_G(symfony)) {
        return "Symfony\\Component\\Lock, with aliases in Latch";
    }
    return LATCH_G(symfony_semaphore)
               ? "Latch; Symfony\\Component\\Semaphore, with aliases in Latch"
               : "Latch";
}

static PHP_MINFO_FUNCTION(latch)
{
    php_info_print_table_start();
    php_info_print_table_row(2, "Latch", "enabled");
    php_info_print_table_row(2, "Version", PHP_LATCH_VERSION);
    php_info_print_table_row(2, "Classes", describe_names());
    php_latch_print_stores();
    php_info_print_table_end();
    php_latch_statistics_print();
    DISPLAY_INI_ENTRIES();
}

zend_module_entry latch_module_entry = {
    STANDARD_MODULE_HEADER,
    "latch",
    NULL,
    PHP_MINIT(latch),
    PHP_MSHUTDOWN(latch),
    PHP_RINIT(latch),
    PHP_RSHUTDOWN(latch),
    PHP_MINFO(latch),
    PHP_LATCH_VERSION,
    PHP_MODULE_GLOBALS(latch),
    init_globals,
    end_globals,
    NULL,
    STANDARD_MODULE_PROPERTIES_EX,
};

#ifdef COMPILE_DL_LATCH
ZEND_GET_MODULE(latch)
#endif
