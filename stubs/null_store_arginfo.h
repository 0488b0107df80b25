/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 09cad033a803d60ba32a4a36514ec1ec8d509b86 */

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_NullStore_save, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Store_NullStore_delete arginfo_class_Latch_Store_NullStore_save

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_NullStore_exists, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_NullStore_inspect, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_NullStore_putOffExpiration, 0, 2, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
	ZEND_ARG_TYPE_INFO(0, ttl, IS_DOUBLE, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Store_NullStore_saveRead arginfo_class_Latch_Store_NullStore_save

#define arginfo_class_Latch_Store_NullStore_waitAndSaveRead arginfo_class_Latch_Store_NullStore_save


ZEND_METHOD(Latch_Store_NativeStore, save);
ZEND_METHOD(Latch_Store_NativeStore, delete);
ZEND_METHOD(Latch_Store_NativeStore, exists);
ZEND_METHOD(Latch_Store_NativeStore, inspect);
ZEND_METHOD(Latch_Store_NativeStore, putOffExpiration);
ZEND_METHOD(Latch_Store_NativeStore, saveRead);
ZEND_METHOD(Latch_Store_NativeStore, waitAndSaveRead);


static const zend_function_entry class_Latch_Store_NullStore_methods[] = {
	ZEND_MALIAS(Latch_Store_NativeStore, save, save, arginfo_class_Latch_Store_NullStore_save, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, delete, delete, arginfo_class_Latch_Store_NullStore_delete, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, exists, exists, arginfo_class_Latch_Store_NullStore_exists, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, inspect, inspect, arginfo_class_Latch_Store_NullStore_inspect, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, putOffExpiration, putOffExpiration, arginfo_class_Latch_Store_NullStore_putOffExpiration, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, saveRead, saveRead, arginfo_class_Latch_Store_NullStore_saveRead, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, waitAndSaveRead, waitAndSaveRead, arginfo_class_Latch_Store_NullStore_waitAndSaveRead, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Latch_Store_NullStore(zend_class_entry *class_entry_Latch_BlockingSharedLockStoreInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Store", "NullStore", class_Latch_Store_NullStore_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Latch_BlockingSharedLockStoreInterface);

	return class_entry;
}
