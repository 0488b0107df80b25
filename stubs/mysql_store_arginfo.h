/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: eeb5be6b879b935d8f3893c7c4d6605b14f1543e */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Store_MysqlStore___construct, 0, 0, 1)
	ZEND_ARG_OBJ_TYPE_MASK(0, connOrDsn, PDO, MAY_BE_STRING, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_MysqlStore_save, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Store_MysqlStore_waitAndSave arginfo_class_Latch_Store_MysqlStore_save

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_MysqlStore_putOffExpiration, 0, 2, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
	ZEND_ARG_TYPE_INFO(0, ttl, IS_DOUBLE, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Store_MysqlStore_delete arginfo_class_Latch_Store_MysqlStore_save

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_MysqlStore_exists, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_MysqlStore_inspect, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Store_DoctrineDbalMysqlStore___construct, 0, 0, 1)
	ZEND_ARG_OBJ_TYPE_MASK(0, connOrUrl, Doctrine\\DBAL\\Connection, MAY_BE_STRING, NULL)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Store_DoctrineDbalMysqlStore_save arginfo_class_Latch_Store_MysqlStore_save

#define arginfo_class_Latch_Store_DoctrineDbalMysqlStore_waitAndSave arginfo_class_Latch_Store_MysqlStore_save

#define arginfo_class_Latch_Store_DoctrineDbalMysqlStore_putOffExpiration arginfo_class_Latch_Store_MysqlStore_putOffExpiration

#define arginfo_class_Latch_Store_DoctrineDbalMysqlStore_delete arginfo_class_Latch_Store_MysqlStore_save

#define arginfo_class_Latch_Store_DoctrineDbalMysqlStore_exists arginfo_class_Latch_Store_MysqlStore_exists

#define arginfo_class_Latch_Store_DoctrineDbalMysqlStore_inspect arginfo_class_Latch_Store_MysqlStore_inspect


ZEND_METHOD(Latch_Store_MysqlStore, __construct);
ZEND_METHOD(Latch_Store_NativeStore, save);
ZEND_METHOD(Latch_Store_NativeStore, waitAndSave);
ZEND_METHOD(Latch_Store_NativeStore, putOffExpiration);
ZEND_METHOD(Latch_Store_NativeStore, delete);
ZEND_METHOD(Latch_Store_NativeStore, exists);
ZEND_METHOD(Latch_Store_NativeStore, inspect);
ZEND_METHOD(Latch_Store_DoctrineDbalMysqlStore, __construct);


static const zend_function_entry class_Latch_Store_MysqlStore_methods[] = {
	ZEND_ME(Latch_Store_MysqlStore, __construct, arginfo_class_Latch_Store_MysqlStore___construct, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, save, save, arginfo_class_Latch_Store_MysqlStore_save, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, waitAndSave, waitAndSave, arginfo_class_Latch_Store_MysqlStore_waitAndSave, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, putOffExpiration, putOffExpiration, arginfo_class_Latch_Store_MysqlStore_putOffExpiration, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, delete, delete, arginfo_class_Latch_Store_MysqlStore_delete, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, exists, exists, arginfo_class_Latch_Store_MysqlStore_exists, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, inspect, inspect, arginfo_class_Latch_Store_MysqlStore_inspect, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Store_DoctrineDbalMysqlStore_methods[] = {
	ZEND_ME(Latch_Store_DoctrineDbalMysqlStore, __construct, arginfo_class_Latch_Store_DoctrineDbalMysqlStore___construct, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, save, save, arginfo_class_Latch_Store_DoctrineDbalMysqlStore_save, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, waitAndSave, waitAndSave, arginfo_class_Latch_Store_DoctrineDbalMysqlStore_waitAndSave, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, putOffExpiration, putOffExpiration, arginfo_class_Latch_Store_DoctrineDbalMysqlStore_putOffExpiration, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, delete, delete, arginfo_class_Latch_Store_DoctrineDbalMysqlStore_delete, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, exists, exists, arginfo_class_Latch_Store_DoctrineDbalMysqlStore_exists, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, inspect, inspect, arginfo_class_Latch_Store_DoctrineDbalMysqlStore_inspect, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Latch_Store_MysqlStore(zend_class_entry *class_entry_Latch_BlockingStoreInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Store", "MysqlStore", class_Latch_Store_MysqlStore_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Latch_BlockingStoreInterface);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 1, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Store_DoctrineDbalMysqlStore(zend_class_entry *class_entry_Latch_BlockingStoreInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Store", "DoctrineDbalMysqlStore", class_Latch_Store_DoctrineDbalMysqlStore_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Latch_BlockingStoreInterface);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}
