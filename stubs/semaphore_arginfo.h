/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 80cb2ad5b70c7cdcabce07572cee729f43d76ec1 */

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_SemaphoreInterface_acquire, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_SemaphoreInterface_refresh, 0, 0, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttlInSecond, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Semaphore_SemaphoreInterface_isAcquired arginfo_class_Latch_Semaphore_SemaphoreInterface_acquire

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_SemaphoreInterface_release, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Semaphore_SemaphoreInterface_isExpired arginfo_class_Latch_Semaphore_SemaphoreInterface_acquire

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_SemaphoreInterface_getRemainingLifetime, 0, 0, IS_DOUBLE, 1)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_PersistingStoreInterface_save, 0, 2, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Semaphore\\Key, 0)
	ZEND_ARG_TYPE_INFO(0, ttlInSecond, IS_DOUBLE, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_PersistingStoreInterface_delete, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Semaphore\\Key, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_PersistingStoreInterface_exists, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Semaphore\\Key, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Semaphore_PersistingStoreInterface_putOffExpiration arginfo_class_Latch_Semaphore_PersistingStoreInterface_save

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Semaphore_Semaphore___construct, 0, 0, 2)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Semaphore\\Key, 0)
	ZEND_ARG_OBJ_INFO(0, store, Latch\\Semaphore\\PersistingStoreInterface, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttlInSecond, IS_DOUBLE, 0, "300.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, autoRelease, _IS_BOOL, 0, "true")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Semaphore___serialize, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Semaphore___unserialize, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, data, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Semaphore_Semaphore___destruct, 0, 0, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Semaphore_setLogger, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, logger, Psr\\Log\\LoggerInterface, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Semaphore_acquire, 0, 0, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, blocking, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Semaphore_synchronized, 0, 1, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, callback, IS_CALLABLE, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Semaphore_refresh, 0, 0, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttlInSecond, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Semaphore_isAcquired, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Semaphore_Semaphore_isHeld arginfo_class_Latch_Semaphore_Semaphore_isAcquired

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Semaphore_available, 0, 0, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Semaphore_overtaking, 0, 0, IS_STATIC, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, overtaking, _IS_BOOL, 0, "true")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Semaphore_keepAlive, 0, 0, IS_STATIC, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxHold, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Semaphore_onLost, 0, 1, IS_STATIC, 0)
	ZEND_ARG_TYPE_INFO(0, callback, IS_CALLABLE, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Semaphore_release, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Semaphore_Semaphore_isExpired arginfo_class_Latch_Semaphore_Semaphore_isAcquired

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Semaphore_getRemainingLifetime, 0, 0, IS_DOUBLE, 1)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Semaphore_Semaphore_getStatistics arginfo_class_Latch_Semaphore_Semaphore___serialize

#define arginfo_class_Latch_Semaphore_Semaphore___debugInfo arginfo_class_Latch_Semaphore_Semaphore___serialize

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Semaphore_SemaphoreFactory___construct, 0, 0, 1)
	ZEND_ARG_OBJ_INFO(0, store, Latch\\Semaphore\\PersistingStoreInterface, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Semaphore_SemaphoreFactory_setLogger arginfo_class_Latch_Semaphore_Semaphore_setLogger

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Latch_Semaphore_SemaphoreFactory_createSemaphore, 0, 2, Latch\\Semaphore\\SemaphoreInterface, 0)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, limit, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, weight, IS_LONG, 0, "1")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttlInSecond, IS_DOUBLE, 1, "300.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, autoRelease, _IS_BOOL, 0, "true")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Latch_Semaphore_SemaphoreFactory_createSemaphoreFromKey, 0, 1, Latch\\Semaphore\\SemaphoreInterface, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Semaphore\\Key, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttlInSecond, IS_DOUBLE, 1, "300.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, autoRelease, _IS_BOOL, 0, "true")
ZEND_END_ARG_INFO()


ZEND_METHOD(Latch_Semaphore_Semaphore, __construct);
ZEND_METHOD(Latch_Lock, __serialize);
ZEND_METHOD(Latch_Lock, __unserialize);
ZEND_METHOD(Latch_Lock, __destruct);
ZEND_METHOD(Latch_Lock, setLogger);
ZEND_METHOD(Latch_Lock, acquire);
ZEND_METHOD(Latch_Lock, synchronized);
ZEND_METHOD(Latch_Lock, refresh);
ZEND_METHOD(Latch_Lock, isAcquired);
ZEND_METHOD(Latch_Lock, isHeld);
ZEND_METHOD(Latch_Semaphore_Semaphore, available);
ZEND_METHOD(Latch_Semaphore_Semaphore, overtaking);
ZEND_METHOD(Latch_Lock, keepAlive);
ZEND_METHOD(Latch_Lock, onLost);
ZEND_METHOD(Latch_Lock, release);
ZEND_METHOD(Latch_Lock, isExpired);
ZEND_METHOD(Latch_Lock, getRemainingLifetime);
ZEND_METHOD(Latch_Semaphore_Semaphore, getStatistics);
ZEND_METHOD(Latch_Lock, __debugInfo);
ZEND_METHOD(Latch_Semaphore_SemaphoreFactory, __construct);
ZEND_METHOD(Latch_LockFactory, setLogger);
ZEND_METHOD(Latch_Semaphore_SemaphoreFactory, createSemaphore);
ZEND_METHOD(Latch_Semaphore_SemaphoreFactory, createSemaphoreFromKey);


static const zend_function_entry class_Latch_Semaphore_SemaphoreInterface_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_Semaphore_SemaphoreInterface, acquire, arginfo_class_Latch_Semaphore_SemaphoreInterface_acquire, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_Semaphore_SemaphoreInterface, refresh, arginfo_class_Latch_Semaphore_SemaphoreInterface_refresh, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_Semaphore_SemaphoreInterface, isAcquired, arginfo_class_Latch_Semaphore_SemaphoreInterface_isAcquired, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_Semaphore_SemaphoreInterface, release, arginfo_class_Latch_Semaphore_SemaphoreInterface_release, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_Semaphore_SemaphoreInterface, isExpired, arginfo_class_Latch_Semaphore_SemaphoreInterface_isExpired, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_Semaphore_SemaphoreInterface, getRemainingLifetime, arginfo_class_Latch_Semaphore_SemaphoreInterface_getRemainingLifetime, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Semaphore_PersistingStoreInterface_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_Semaphore_PersistingStoreInterface, save, arginfo_class_Latch_Semaphore_PersistingStoreInterface_save, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_Semaphore_PersistingStoreInterface, delete, arginfo_class_Latch_Semaphore_PersistingStoreInterface_delete, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_Semaphore_PersistingStoreInterface, exists, arginfo_class_Latch_Semaphore_PersistingStoreInterface_exists, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_Semaphore_PersistingStoreInterface, putOffExpiration, arginfo_class_Latch_Semaphore_PersistingStoreInterface_putOffExpiration, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Semaphore_Semaphore_methods[] = {
	ZEND_ME(Latch_Semaphore_Semaphore, __construct, arginfo_class_Latch_Semaphore_Semaphore___construct, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Lock, __serialize, __serialize, arginfo_class_Latch_Semaphore_Semaphore___serialize, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Lock, __unserialize, __unserialize, arginfo_class_Latch_Semaphore_Semaphore___unserialize, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Lock, __destruct, __destruct, arginfo_class_Latch_Semaphore_Semaphore___destruct, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Lock, setLogger, setLogger, arginfo_class_Latch_Semaphore_Semaphore_setLogger, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Lock, acquire, acquire, arginfo_class_Latch_Semaphore_Semaphore_acquire, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Lock, synchronized, synchronized, arginfo_class_Latch_Semaphore_Semaphore_synchronized, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Lock, refresh, refresh, arginfo_class_Latch_Semaphore_Semaphore_refresh, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Lock, isAcquired, isAcquired, arginfo_class_Latch_Semaphore_Semaphore_isAcquired, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Lock, isHeld, isHeld, arginfo_class_Latch_Semaphore_Semaphore_isHeld, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Semaphore_Semaphore, available, arginfo_class_Latch_Semaphore_Semaphore_available, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Semaphore_Semaphore, overtaking, arginfo_class_Latch_Semaphore_Semaphore_overtaking, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Lock, keepAlive, keepAlive, arginfo_class_Latch_Semaphore_Semaphore_keepAlive, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Lock, onLost, onLost, arginfo_class_Latch_Semaphore_Semaphore_onLost, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Lock, release, release, arginfo_class_Latch_Semaphore_Semaphore_release, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Lock, isExpired, isExpired, arginfo_class_Latch_Semaphore_Semaphore_isExpired, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Lock, getRemainingLifetime, getRemainingLifetime, arginfo_class_Latch_Semaphore_Semaphore_getRemainingLifetime, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Semaphore_Semaphore, getStatistics, arginfo_class_Latch_Semaphore_Semaphore_getStatistics, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_MALIAS(Latch_Lock, __debugInfo, __debugInfo, arginfo_class_Latch_Semaphore_Semaphore___debugInfo, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Semaphore_SemaphoreFactory_methods[] = {
	ZEND_ME(Latch_Semaphore_SemaphoreFactory, __construct, arginfo_class_Latch_Semaphore_SemaphoreFactory___construct, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_LockFactory, setLogger, setLogger, arginfo_class_Latch_Semaphore_SemaphoreFactory_setLogger, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Semaphore_SemaphoreFactory, createSemaphore, arginfo_class_Latch_Semaphore_SemaphoreFactory_createSemaphore, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Semaphore_SemaphoreFactory, createSemaphoreFromKey, arginfo_class_Latch_Semaphore_SemaphoreFactory_createSemaphoreFromKey, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Latch_Semaphore_SemaphoreInterface(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Semaphore", "SemaphoreInterface", class_Latch_Semaphore_SemaphoreInterface_methods);
	class_entry = zend_register_internal_interface(&ce);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Semaphore_PersistingStoreInterface(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Semaphore", "PersistingStoreInterface", class_Latch_Semaphore_PersistingStoreInterface_methods);
	class_entry = zend_register_internal_interface(&ce);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Semaphore_Semaphore(zend_class_entry *class_entry_Latch_Semaphore_SemaphoreInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Semaphore", "Semaphore", class_Latch_Semaphore_Semaphore_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES;
	zend_class_implements(class_entry, 1, class_entry_Latch_Semaphore_SemaphoreInterface);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Semaphore_SemaphoreFactory(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Semaphore", "SemaphoreFactory", class_Latch_Semaphore_SemaphoreFactory_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);

	zend_string *property_store_class_Latch_Semaphore_PersistingStoreInterface = zend_string_init("Latch\\Semaphore\\PersistingStoreInterface", sizeof("Latch\\Semaphore\\PersistingStoreInterface")-1, 1);
	zval property_store_default_value;
	ZVAL_UNDEF(&property_store_default_value);
	zend_string *property_store_name = zend_string_init("store", sizeof("store") - 1, 1);
	zend_declare_typed_property(class_entry, property_store_name, &property_store_default_value, ZEND_ACC_PRIVATE, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_store_class_Latch_Semaphore_PersistingStoreInterface, 0, 0));
	zend_string_release(property_store_name);

	zend_string *property_logger_class_Psr_Log_LoggerInterface = zend_string_init("Psr\\Log\\LoggerInterface", sizeof("Psr\\Log\\LoggerInterface")-1, 1);
	zval property_logger_default_value;
	ZVAL_NULL(&property_logger_default_value);
	zend_string *property_logger_name = zend_string_init("logger", sizeof("logger") - 1, 1);
	zend_declare_typed_property(class_entry, property_logger_name, &property_logger_default_value, ZEND_ACC_PROTECTED, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_logger_class_Psr_Log_LoggerInterface, 0, MAY_BE_NULL));
	zend_string_release(property_logger_name);

	return class_entry;
}
