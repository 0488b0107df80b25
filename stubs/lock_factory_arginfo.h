/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 147fb3fb620cbb2f4847e8b414216074f51d2a43 */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_LockFactory___construct, 0, 0, 1)
	ZEND_ARG_OBJ_INFO(0, store, Latch\\PersistingStoreInterface, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_LockFactory_setLogger, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, logger, Psr\\Log\\LoggerInterface, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Latch_LockFactory_createLock, 0, 1, Latch\\SharedLockInterface, 0)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 1, "300.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, autoRelease, _IS_BOOL, 0, "true")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Latch_LockFactory_createLockFromKey, 0, 1, Latch\\SharedLockInterface, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 1, "300.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, autoRelease, _IS_BOOL, 0, "true")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Latch_LockFactory_createMultiLock, 0, 1, Latch\\MultiLock, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, resources, Traversable, MAY_BE_ARRAY, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 1, "300.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, autoRelease, _IS_BOOL, 0, "true")
ZEND_END_ARG_INFO()


ZEND_METHOD(Latch_LockFactory, __construct);
ZEND_METHOD(Latch_LockFactory, setLogger);
ZEND_METHOD(Latch_LockFactory, createLock);
ZEND_METHOD(Latch_LockFactory, createLockFromKey);
ZEND_METHOD(Latch_LockFactory, createMultiLock);


static const zend_function_entry class_Latch_LockFactory_methods[] = {
	ZEND_ME(Latch_LockFactory, __construct, arginfo_class_Latch_LockFactory___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_LockFactory, setLogger, arginfo_class_Latch_LockFactory_setLogger, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_LockFactory, createLock, arginfo_class_Latch_LockFactory_createLock, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_LockFactory, createLockFromKey, arginfo_class_Latch_LockFactory_createLockFromKey, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_LockFactory, createMultiLock, arginfo_class_Latch_LockFactory_createMultiLock, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Latch_LockFactory(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch", "LockFactory", class_Latch_LockFactory_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);

	zend_string *property_store_class_Latch_PersistingStoreInterface = zend_string_init("Latch\\PersistingStoreInterface", sizeof("Latch\\PersistingStoreInterface")-1, 1);
	zval property_store_default_value;
	ZVAL_UNDEF(&property_store_default_value);
	zend_string *property_store_name = zend_string_init("store", sizeof("store") - 1, 1);
	zend_declare_typed_property(class_entry, property_store_name, &property_store_default_value, ZEND_ACC_PRIVATE, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_store_class_Latch_PersistingStoreInterface, 0, 0));
	zend_string_release(property_store_name);

	zend_string *property_logger_class_Psr_Log_LoggerInterface = zend_string_init("Psr\\Log\\LoggerInterface", sizeof("Psr\\Log\\LoggerInterface")-1, 1);
	zval property_logger_default_value;
	ZVAL_NULL(&property_logger_default_value);
	zend_string *property_logger_name = zend_string_init("logger", sizeof("logger") - 1, 1);
	zend_declare_typed_property(class_entry, property_logger_name, &property_logger_default_value, ZEND_ACC_PROTECTED, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_logger_class_Psr_Log_LoggerInterface, 0, MAY_BE_NULL));
	zend_string_release(property_logger_name);

	return class_entry;
}
