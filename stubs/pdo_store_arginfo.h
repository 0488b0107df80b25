/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 2357aaa5f1291693f71ab67652e3e816633392b2 */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Store_PdoStore___construct, 0, 0, 1)
	ZEND_ARG_OBJ_TYPE_MASK(0, connOrDsn, PDO, MAY_BE_STRING, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, gcProbability, IS_DOUBLE, 0, "0.01")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, initialTtl, IS_LONG, 0, "300")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_PdoStore_createTable, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_PdoStore_save, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_PdoStore_putOffExpiration, 0, 2, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
	ZEND_ARG_TYPE_INFO(0, ttl, IS_DOUBLE, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Store_PdoStore_delete arginfo_class_Latch_Store_PdoStore_save

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_PdoStore_exists, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_PdoStore_inspect, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_PdoStore_listHeld, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_PdoStore_forceRelease, 0, 2, IS_LONG, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
	ZEND_ARG_TYPE_INFO(0, holders, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Store_DoctrineDbalStore___construct, 0, 0, 1)
	ZEND_ARG_OBJ_TYPE_MASK(0, connOrUrl, Doctrine\\DBAL\\Connection, MAY_BE_STRING, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, gcProbability, IS_DOUBLE, 0, "0.01")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, initialTtl, IS_LONG, 0, "300")
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Store_DoctrineDbalStore_createTable arginfo_class_Latch_Store_PdoStore_createTable

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Store_DoctrineDbalStore_configureSchema, 0, 0, 2)
	ZEND_ARG_OBJ_INFO(0, schema, Doctrine\\DBAL\\Schema\\Schema, 0)
	ZEND_ARG_OBJ_INFO(0, isSameDatabase, Closure, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Store_DoctrineDbalStore_save arginfo_class_Latch_Store_PdoStore_save

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_DoctrineDbalStore_putOffExpiration, 0, 2, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
	ZEND_ARG_INFO(0, ttl)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Store_DoctrineDbalStore_delete arginfo_class_Latch_Store_PdoStore_save

#define arginfo_class_Latch_Store_DoctrineDbalStore_exists arginfo_class_Latch_Store_PdoStore_exists

#define arginfo_class_Latch_Store_DoctrineDbalStore_inspect arginfo_class_Latch_Store_PdoStore_inspect

#define arginfo_class_Latch_Store_DoctrineDbalStore_listHeld arginfo_class_Latch_Store_PdoStore_listHeld

#define arginfo_class_Latch_Store_DoctrineDbalStore_forceRelease arginfo_class_Latch_Store_PdoStore_forceRelease


ZEND_METHOD(Latch_Store_PdoStore, __construct);
ZEND_METHOD(Latch_Store_PdoStore, createTable);
ZEND_METHOD(Latch_Store_NativeStore, save);
ZEND_METHOD(Latch_Store_PdoStore, putOffExpiration);
ZEND_METHOD(Latch_Store_NativeStore, delete);
ZEND_METHOD(Latch_Store_NativeStore, exists);
ZEND_METHOD(Latch_Store_NativeStore, inspect);
ZEND_METHOD(Latch_Store_NativeStore, listHeld);
ZEND_METHOD(Latch_Store_NativeStore, forceRelease);
ZEND_METHOD(Latch_Store_DoctrineDbalStore, __construct);
ZEND_METHOD(Latch_Store_DoctrineDbalStore, createTable);
ZEND_METHOD(Latch_Store_DoctrineDbalStore, configureSchema);
ZEND_METHOD(Latch_Store_DoctrineDbalStore, putOffExpiration);


static const zend_function_entry class_Latch_Store_PdoStore_methods[] = {
	ZEND_ME(Latch_Store_PdoStore, __construct, arginfo_class_Latch_Store_PdoStore___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Store_PdoStore, createTable, arginfo_class_Latch_Store_PdoStore_createTable, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, save, save, arginfo_class_Latch_Store_PdoStore_save, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Store_PdoStore, putOffExpiration, arginfo_class_Latch_Store_PdoStore_putOffExpiration, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, delete, delete, arginfo_class_Latch_Store_PdoStore_delete, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, exists, exists, arginfo_class_Latch_Store_PdoStore_exists, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, inspect, inspect, arginfo_class_Latch_Store_PdoStore_inspect, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, listHeld, listHeld, arginfo_class_Latch_Store_PdoStore_listHeld, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, forceRelease, forceRelease, arginfo_class_Latch_Store_PdoStore_forceRelease, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Store_DoctrineDbalStore_methods[] = {
	ZEND_ME(Latch_Store_DoctrineDbalStore, __construct, arginfo_class_Latch_Store_DoctrineDbalStore___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Store_DoctrineDbalStore, createTable, arginfo_class_Latch_Store_DoctrineDbalStore_createTable, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Store_DoctrineDbalStore, configureSchema, arginfo_class_Latch_Store_DoctrineDbalStore_configureSchema, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, save, save, arginfo_class_Latch_Store_DoctrineDbalStore_save, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Store_DoctrineDbalStore, putOffExpiration, arginfo_class_Latch_Store_DoctrineDbalStore_putOffExpiration, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, delete, delete, arginfo_class_Latch_Store_DoctrineDbalStore_delete, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, exists, exists, arginfo_class_Latch_Store_DoctrineDbalStore_exists, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, inspect, inspect, arginfo_class_Latch_Store_DoctrineDbalStore_inspect, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, listHeld, listHeld, arginfo_class_Latch_Store_DoctrineDbalStore_listHeld, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, forceRelease, forceRelease, arginfo_class_Latch_Store_DoctrineDbalStore_forceRelease, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Latch_Store_PdoStore(zend_class_entry *class_entry_Latch_PersistingStoreInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Store", "PdoStore", class_Latch_Store_PdoStore_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Latch_PersistingStoreInterface);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 1, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Store_DoctrineDbalStore(zend_class_entry *class_entry_Latch_PersistingStoreInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Store", "DoctrineDbalStore", class_Latch_Store_DoctrineDbalStore_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Latch_PersistingStoreInterface);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}
