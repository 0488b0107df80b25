/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 2eef1962746ef9c6730c3fee3c956b9a91d736c7 */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Store_PostgreSqlStore___construct, 0, 0, 1)
	ZEND_ARG_OBJ_TYPE_MASK(0, connOrDsn, PDO, MAY_BE_STRING, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_PostgreSqlStore_save, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Store_PostgreSqlStore_saveRead arginfo_class_Latch_Store_PostgreSqlStore_save

#define arginfo_class_Latch_Store_PostgreSqlStore_waitAndSave arginfo_class_Latch_Store_PostgreSqlStore_save

#define arginfo_class_Latch_Store_PostgreSqlStore_waitAndSaveRead arginfo_class_Latch_Store_PostgreSqlStore_save

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_PostgreSqlStore_putOffExpiration, 0, 2, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
	ZEND_ARG_TYPE_INFO(0, ttl, IS_DOUBLE, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Store_PostgreSqlStore_delete arginfo_class_Latch_Store_PostgreSqlStore_save

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_PostgreSqlStore_exists, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_PostgreSqlStore_inspect, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Store_DoctrineDbalPostgreSqlStore___construct, 0, 0, 1)
	ZEND_ARG_OBJ_TYPE_MASK(0, connOrUrl, Doctrine\\DBAL\\Connection, MAY_BE_STRING, NULL)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Store_DoctrineDbalPostgreSqlStore_save arginfo_class_Latch_Store_PostgreSqlStore_save

#define arginfo_class_Latch_Store_DoctrineDbalPostgreSqlStore_saveRead arginfo_class_Latch_Store_PostgreSqlStore_save

#define arginfo_class_Latch_Store_DoctrineDbalPostgreSqlStore_waitAndSave arginfo_class_Latch_Store_PostgreSqlStore_save

#define arginfo_class_Latch_Store_DoctrineDbalPostgreSqlStore_waitAndSaveRead arginfo_class_Latch_Store_PostgreSqlStore_save

#define arginfo_class_Latch_Store_DoctrineDbalPostgreSqlStore_putOffExpiration arginfo_class_Latch_Store_PostgreSqlStore_putOffExpiration

#define arginfo_class_Latch_Store_DoctrineDbalPostgreSqlStore_delete arginfo_class_Latch_Store_PostgreSqlStore_save

#define arginfo_class_Latch_Store_DoctrineDbalPostgreSqlStore_exists arginfo_class_Latch_Store_PostgreSqlStore_exists

#define arginfo_class_Latch_Store_DoctrineDbalPostgreSqlStore_inspect arginfo_class_Latch_Store_PostgreSqlStore_inspect


ZEND_METHOD(Latch_Store_PostgreSqlStore, __construct);
ZEND_METHOD(Latch_Store_NativeStore, save);
ZEND_METHOD(Latch_Store_NativeStore, saveRead);
ZEND_METHOD(Latch_Store_NativeStore, waitAndSave);
ZEND_METHOD(Latch_Store_NativeStore, waitAndSaveRead);
ZEND_METHOD(Latch_Store_NativeStore, putOffExpiration);
ZEND_METHOD(Latch_Store_NativeStore, delete);
ZEND_METHOD(Latch_Store_NativeStore, exists);
ZEND_METHOD(Latch_Store_NativeStore, inspect);
ZEND_METHOD(Latch_Store_DoctrineDbalPostgreSqlStore, __construct);


static const zend_function_entry class_Latch_Store_PostgreSqlStore_methods[] = {
	ZEND_ME(Latch_Store_PostgreSqlStore, __construct, arginfo_class_Latch_Store_PostgreSqlStore___construct, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, save, save, arginfo_class_Latch_Store_PostgreSqlStore_save, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, saveRead, saveRead, arginfo_class_Latch_Store_PostgreSqlStore_saveRead, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, waitAndSave, waitAndSave, arginfo_class_Latch_Store_PostgreSqlStore_waitAndSave, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, waitAndSaveRead, waitAndSaveRead, arginfo_class_Latch_Store_PostgreSqlStore_waitAndSaveRead, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, putOffExpiration, putOffExpiration, arginfo_class_Latch_Store_PostgreSqlStore_putOffExpiration, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, delete, delete, arginfo_class_Latch_Store_PostgreSqlStore_delete, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, exists, exists, arginfo_class_Latch_Store_PostgreSqlStore_exists, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, inspect, inspect, arginfo_class_Latch_Store_PostgreSqlStore_inspect, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Store_DoctrineDbalPostgreSqlStore_methods[] = {
	ZEND_ME(Latch_Store_DoctrineDbalPostgreSqlStore, __construct, arginfo_class_Latch_Store_DoctrineDbalPostgreSqlStore___construct, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, save, save, arginfo_class_Latch_Store_DoctrineDbalPostgreSqlStore_save, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, saveRead, saveRead, arginfo_class_Latch_Store_DoctrineDbalPostgreSqlStore_saveRead, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, waitAndSave, waitAndSave, arginfo_class_Latch_Store_DoctrineDbalPostgreSqlStore_waitAndSave, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, waitAndSaveRead, waitAndSaveRead, arginfo_class_Latch_Store_DoctrineDbalPostgreSqlStore_waitAndSaveRead, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, putOffExpiration, putOffExpiration, arginfo_class_Latch_Store_DoctrineDbalPostgreSqlStore_putOffExpiration, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, delete, delete, arginfo_class_Latch_Store_DoctrineDbalPostgreSqlStore_delete, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, exists, exists, arginfo_class_Latch_Store_DoctrineDbalPostgreSqlStore_exists, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, inspect, inspect, arginfo_class_Latch_Store_DoctrineDbalPostgreSqlStore_inspect, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Latch_Store_PostgreSqlStore(zend_class_entry *class_entry_Latch_BlockingSharedLockStoreInterface, zend_class_entry *class_entry_Latch_BlockingStoreInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Store", "PostgreSqlStore", class_Latch_Store_PostgreSqlStore_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 2, class_entry_Latch_BlockingSharedLockStoreInterface, class_entry_Latch_BlockingStoreInterface);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 1, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Store_DoctrineDbalPostgreSqlStore(zend_class_entry *class_entry_Latch_BlockingSharedLockStoreInterface, zend_class_entry *class_entry_Latch_BlockingStoreInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Store", "DoctrineDbalPostgreSqlStore", class_Latch_Store_DoctrineDbalPostgreSqlStore_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 2, class_entry_Latch_BlockingSharedLockStoreInterface, class_entry_Latch_BlockingStoreInterface);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}
