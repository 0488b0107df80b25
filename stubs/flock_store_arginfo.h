/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 54dc65d8004125c1c559b38153c69d6578454881 */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Store_FlockStore___construct, 0, 0, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, lockPath, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, removeOnRelease, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, inheritable, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_FlockStore_save, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Store_FlockStore_saveRead arginfo_class_Latch_Store_FlockStore_save

#define arginfo_class_Latch_Store_FlockStore_waitAndSave arginfo_class_Latch_Store_FlockStore_save

#define arginfo_class_Latch_Store_FlockStore_waitAndSaveRead arginfo_class_Latch_Store_FlockStore_save

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_FlockStore_putOffExpiration, 0, 2, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
	ZEND_ARG_TYPE_INFO(0, ttl, IS_DOUBLE, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Store_FlockStore_delete arginfo_class_Latch_Store_FlockStore_save

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_FlockStore_exists, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_FlockStore_inspect, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_FlockStore_listHeld, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()


ZEND_METHOD(Latch_Store_FlockStore, __construct);
ZEND_METHOD(Latch_Store_NativeStore, save);
ZEND_METHOD(Latch_Store_NativeStore, saveRead);
ZEND_METHOD(Latch_Store_NativeStore, waitAndSave);
ZEND_METHOD(Latch_Store_NativeStore, waitAndSaveRead);
ZEND_METHOD(Latch_Store_NativeStore, putOffExpiration);
ZEND_METHOD(Latch_Store_NativeStore, delete);
ZEND_METHOD(Latch_Store_NativeStore, exists);
ZEND_METHOD(Latch_Store_NativeStore, inspect);
ZEND_METHOD(Latch_Store_NativeStore, listHeld);


static const zend_function_entry class_Latch_Store_FlockStore_methods[] = {
	ZEND_ME(Latch_Store_FlockStore, __construct, arginfo_class_Latch_Store_FlockStore___construct, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, save, save, arginfo_class_Latch_Store_FlockStore_save, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, saveRead, saveRead, arginfo_class_Latch_Store_FlockStore_saveRead, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, waitAndSave, waitAndSave, arginfo_class_Latch_Store_FlockStore_waitAndSave, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, waitAndSaveRead, waitAndSaveRead, arginfo_class_Latch_Store_FlockStore_waitAndSaveRead, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, putOffExpiration, putOffExpiration, arginfo_class_Latch_Store_FlockStore_putOffExpiration, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, delete, delete, arginfo_class_Latch_Store_FlockStore_delete, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, exists, exists, arginfo_class_Latch_Store_FlockStore_exists, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, inspect, inspect, arginfo_class_Latch_Store_FlockStore_inspect, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, listHeld, listHeld, arginfo_class_Latch_Store_FlockStore_listHeld, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Latch_Store_FlockStore(zend_class_entry *class_entry_Latch_BlockingStoreInterface, zend_class_entry *class_entry_Latch_SharedLockStoreInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Store", "FlockStore", class_Latch_Store_FlockStore_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 2, class_entry_Latch_BlockingStoreInterface, class_entry_Latch_SharedLockStoreInterface);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}
