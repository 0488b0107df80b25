/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 65fa272f3b6a2063f37c2b67e6cf72901be17911 */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Store_CombinedStore___construct, 0, 0, 2)
	ZEND_ARG_TYPE_INFO(0, stores, IS_ARRAY, 0)
	ZEND_ARG_OBJ_INFO(0, strategy, Latch\\Strategy\\StrategyInterface, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_CombinedStore_setLogger, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, logger, Psr\\Log\\LoggerInterface, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_CombinedStore_save, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Store_CombinedStore_saveRead arginfo_class_Latch_Store_CombinedStore_save

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_CombinedStore_putOffExpiration, 0, 2, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
	ZEND_ARG_TYPE_INFO(0, ttl, IS_DOUBLE, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Store_CombinedStore_delete arginfo_class_Latch_Store_CombinedStore_save

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_CombinedStore_exists, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()


ZEND_METHOD(Latch_Store_CombinedStore, __construct);
ZEND_METHOD(Latch_Store_CombinedStore, setLogger);
ZEND_METHOD(Latch_Store_NativeStore, save);
ZEND_METHOD(Latch_Store_NativeStore, saveRead);
ZEND_METHOD(Latch_Store_NativeStore, putOffExpiration);
ZEND_METHOD(Latch_Store_NativeStore, delete);
ZEND_METHOD(Latch_Store_NativeStore, exists);


static const zend_function_entry class_Latch_Store_CombinedStore_methods[] = {
	ZEND_ME(Latch_Store_CombinedStore, __construct, arginfo_class_Latch_Store_CombinedStore___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Store_CombinedStore, setLogger, arginfo_class_Latch_Store_CombinedStore_setLogger, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, save, save, arginfo_class_Latch_Store_CombinedStore_save, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, saveRead, saveRead, arginfo_class_Latch_Store_CombinedStore_saveRead, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, putOffExpiration, putOffExpiration, arginfo_class_Latch_Store_CombinedStore_putOffExpiration, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, delete, delete, arginfo_class_Latch_Store_CombinedStore_delete, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, exists, exists, arginfo_class_Latch_Store_CombinedStore_exists, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Latch_Store_CombinedStore(zend_class_entry *class_entry_Latch_SharedLockStoreInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Store", "CombinedStore", class_Latch_Store_CombinedStore_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Latch_SharedLockStoreInterface);

	zval property_stores_default_value;
	ZVAL_UNDEF(&property_stores_default_value);
	zend_string *property_stores_name = zend_string_init("stores", sizeof("stores") - 1, 1);
	zend_declare_typed_property(class_entry, property_stores_name, &property_stores_default_value, ZEND_ACC_PRIVATE, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_stores_name);

	zend_string *property_strategy_class_Latch_Strategy_StrategyInterface = zend_string_init("Latch\\Strategy\\StrategyInterface", sizeof("Latch\\Strategy\\StrategyInterface")-1, 1);
	zval property_strategy_default_value;
	ZVAL_UNDEF(&property_strategy_default_value);
	zend_string *property_strategy_name = zend_string_init("strategy", sizeof("strategy") - 1, 1);
	zend_declare_typed_property(class_entry, property_strategy_name, &property_strategy_default_value, ZEND_ACC_PRIVATE, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_strategy_class_Latch_Strategy_StrategyInterface, 0, 0));
	zend_string_release(property_strategy_name);

	zend_string *property_logger_class_Psr_Log_LoggerInterface = zend_string_init("Psr\\Log\\LoggerInterface", sizeof("Psr\\Log\\LoggerInterface")-1, 1);
	zval property_logger_default_value;
	ZVAL_NULL(&property_logger_default_value);
	zend_string *property_logger_name = zend_string_init("logger", sizeof("logger") - 1, 1);
	zend_declare_typed_property(class_entry, property_logger_name, &property_logger_default_value, ZEND_ACC_PROTECTED, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_logger_class_Psr_Log_LoggerInterface, 0, MAY_BE_NULL));
	zend_string_release(property_logger_name);

	return class_entry;
}
