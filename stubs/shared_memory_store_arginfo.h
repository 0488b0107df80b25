/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: dd886ddfd2da2277bbb1d38f90e7c24a88e54c56 */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Store_SharedMemoryStore___construct, 0, 0, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, path, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, capacity, IS_LONG, 0, "65536")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, mode, IS_LONG, 0, "0600")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_SharedMemoryStore_save, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Store_SharedMemoryStore_saveRead arginfo_class_Latch_Store_SharedMemoryStore_save

#define arginfo_class_Latch_Store_SharedMemoryStore_waitAndSave arginfo_class_Latch_Store_SharedMemoryStore_save

#define arginfo_class_Latch_Store_SharedMemoryStore_waitAndSaveRead arginfo_class_Latch_Store_SharedMemoryStore_save

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_SharedMemoryStore_putOffExpiration, 0, 2, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
	ZEND_ARG_TYPE_INFO(0, ttl, IS_DOUBLE, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Store_SharedMemoryStore_delete arginfo_class_Latch_Store_SharedMemoryStore_save

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_SharedMemoryStore_exists, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_SharedMemoryStore_inspect, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_SharedMemoryStore_listHeld, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_SharedMemoryStore_forceRelease, 0, 2, IS_LONG, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
	ZEND_ARG_TYPE_INFO(0, holders, IS_ARRAY, 0)
ZEND_END_ARG_INFO()


ZEND_METHOD(Latch_Store_SharedMemoryStore, __construct);
ZEND_METHOD(Latch_Store_NativeStore, save);
ZEND_METHOD(Latch_Store_NativeStore, saveRead);
ZEND_METHOD(Latch_Store_NativeStore, waitAndSave);
ZEND_METHOD(Latch_Store_NativeStore, waitAndSaveRead);
ZEND_METHOD(Latch_Store_NativeStore, putOffExpiration);
ZEND_METHOD(Latch_Store_NativeStore, delete);
ZEND_METHOD(Latch_Store_NativeStore, exists);
ZEND_METHOD(Latch_Store_NativeStore, inspect);
ZEND_METHOD(Latch_Store_NativeStore, listHeld);
ZEND_METHOD(Latch_Store_NativeStore, forceRelease);


static const zend_function_entry class_Latch_Store_SharedMemoryStore_methods[] = {
	ZEND_ME(Latch_Store_SharedMemoryStore, __construct, arginfo_class_Latch_Store_SharedMemoryStore___construct, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, save, save, arginfo_class_Latch_Store_SharedMemoryStore_save, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, saveRead, saveRead, arginfo_class_Latch_Store_SharedMemoryStore_saveRead, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, waitAndSave, waitAndSave, arginfo_class_Latch_Store_SharedMemoryStore_waitAndSave, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, waitAndSaveRead, waitAndSaveRead, arginfo_class_Latch_Store_SharedMemoryStore_waitAndSaveRead, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, putOffExpiration, putOffExpiration, arginfo_class_Latch_Store_SharedMemoryStore_putOffExpiration, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, delete, delete, arginfo_class_Latch_Store_SharedMemoryStore_delete, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, exists, exists, arginfo_class_Latch_Store_SharedMemoryStore_exists, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, inspect, inspect, arginfo_class_Latch_Store_SharedMemoryStore_inspect, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, listHeld, listHeld, arginfo_class_Latch_Store_SharedMemoryStore_listHeld, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, forceRelease, forceRelease, arginfo_class_Latch_Store_SharedMemoryStore_forceRelease, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Latch_Store_SharedMemoryStore(zend_class_entry *class_entry_Latch_BlockingSharedLockStoreInterface, zend_class_entry *class_entry_Latch_BlockingStoreInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Store", "SharedMemoryStore", class_Latch_Store_SharedMemoryStore_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 2, class_entry_Latch_BlockingSharedLockStoreInterface, class_entry_Latch_BlockingStoreInterface);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}
