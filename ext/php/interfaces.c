/* The interfaces and the exceptions. */
#include "ext/php/interfaces.h"

#include "ext/php/primitive.h"

#include "ext/spl/spl_exceptions.h"
#include "zend_exceptions.h"

#include "stubs/exceptions_arginfo.h"
#include "stubs/interfaces_arginfo.h"
#include "stubs/psr_log_arginfo.h"

zend_class_entry *php_latch_lock_interface_ce;
zend_class_entry *php_latch_shared_lock_interface_ce;
zend_class_entry *php_latch_persisting_store_ce;
zend_class_entry *php_latch_blocking_store_ce;
zend_class_entry *php_latch_shared_store_ce;
zend_class_entry *php_latch_blocking_shared_store_ce;
zend_class_entry *php_latch_logger_aware_ce;

zend_class_entry *php_latch_exception_ce;
zend_class_entry *php_latch_invalid_argument_ce;
zend_class_entry *php_latch_invalid_ttl_ce;
zend_class_entry *php_latch_acquiring_ce;
zend_class_entry *php_latch_conflicted_ce;
zend_class_entry *php_latch_expired_ce;
zend_class_entry *php_latch_releasing_ce;
zend_class_entry *php_latch_storage_ce;
zend_class_entry *php_latch_unserializable_key_ce;

PHP_METHOD(Latch_Exception_LockExpiredException, getResult)
{
    zval *result, unused;

    ZEND_PARSE_PARAMETERS_NONE();
    result = zend_read_property(EX(func)->common.scope, Z_OBJ_P(ZEND_THIS), ZEND_STRL("result"), 1,
                                &unused);
    RETURN_COPY_DEREF(result);
}

static void describe_locks(void)
{
    php_latch_locks.store = php_latch_persisting_store_ce;
    php_latch_locks.invalid_argument = php_latch_invalid_argument_ce;
    php_latch_locks.invalid_ttl = php_latch_invalid_ttl_ce;
    php_latch_locks.conflicted = php_latch_conflicted_ce;
    php_latch_locks.lost = php_latch_conflicted_ce;
    php_latch_locks.expired = php_latch_expired_ce;
    php_latch_locks.not_stored = php_latch_acquiring_ce;
    php_latch_locks.releasing = php_latch_releasing_ce;
    php_latch_locks.not_released = php_latch_releasing_ce;
    php_latch_locks.storage = php_latch_storage_ce;
    php_latch_locks.unserializable = php_latch_unserializable_key_ce;
}

void php_latch_register_interfaces(void)
{
    zend_class_entry *base = register_class_Latch_Exception_ExceptionInterface(zend_ce_throwable);

    php_latch_exception_ce = base;
    php_latch_invalid_argument_ce =
        register_class_Latch_Exception_InvalidArgumentException(spl_ce_InvalidArgumentException,
                                                                base);
    php_latch_invalid_ttl_ce =
        register_class_Latch_Exception_InvalidTtlException(php_latch_invalid_argument_ce, base);
    php_latch_acquiring_ce =
        register_class_Latch_Exception_LockAcquiringException(spl_ce_RuntimeException, base);
    php_latch_conflicted_ce =
        register_class_Latch_Exception_LockConflictedException(spl_ce_RuntimeException, base);
    php_latch_expired_ce =
        register_class_Latch_Exception_LockExpiredException(spl_ce_RuntimeException, base);
    php_latch_releasing_ce =
        register_class_Latch_Exception_LockReleasingException(spl_ce_RuntimeException, base);
    php_latch_storage_ce =
        register_class_Latch_Exception_LockStorageException(spl_ce_RuntimeException, base);
    php_latch_unserializable_key_ce =
        register_class_Latch_Exception_UnserializableKeyException(spl_ce_RuntimeException, base);

    php_latch_lock_interface_ce = register_class_Latch_LockInterface();
    php_latch_shared_lock_interface_ce =
        register_class_Latch_SharedLockInterface(php_latch_lock_interface_ce);
    php_latch_persisting_store_ce = register_class_Latch_PersistingStoreInterface();
    php_latch_blocking_store_ce =
        register_class_Latch_BlockingStoreInterface(php_latch_persisting_store_ce);
    php_latch_shared_store_ce =
        register_class_Latch_SharedLockStoreInterface(php_latch_persisting_store_ce);
    php_latch_blocking_shared_store_ce =
        register_class_Latch_BlockingSharedLockStoreInterface(php_latch_shared_store_ce);
    describe_locks();

    /* Composer loads psr/log's interface long after MINIT: drop-in mode registers it. */
    if (LATCH_G(symfony) || LATCH_G(symfony_semaphore)) {
        php_latch_logger_aware_ce = register_class_Psr_Log_LoggerAwareInterface();
    }
}
