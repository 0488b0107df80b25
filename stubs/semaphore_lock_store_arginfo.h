/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 227a67f6180f9ea5be545be17490483465fed4c2 */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Semaphore_Store_LockStore___construct, 0, 0, 1)
	ZEND_ARG_OBJ_INFO(0, lockFactory, Latch\\LockFactory, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Store_LockStore_save, 0, 2, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Semaphore\\Key, 0)
	ZEND_ARG_TYPE_INFO(0, ttlInSecond, IS_DOUBLE, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Store_LockStore_delete, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Semaphore\\Key, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Store_LockStore_exists, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Semaphore\\Key, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Semaphore_Store_LockStore_putOffExpiration arginfo_class_Latch_Semaphore_Store_LockStore_save

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Store_LockStore_inspect, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Semaphore\\Key, 0)
ZEND_END_ARG_INFO()


ZEND_METHOD(Latch_Semaphore_Store_LockStore, __construct);
ZEND_METHOD(Latch_Semaphore_Store_LockStore, save);
ZEND_METHOD(Latch_Semaphore_Store_LockStore, delete);
ZEND_METHOD(Latch_Semaphore_Store_LockStore, exists);
ZEND_METHOD(Latch_Semaphore_Store_LockStore, putOffExpiration);
ZEND_METHOD(Latch_Semaphore_Store_LockStore, inspect);


static const zend_function_entry class_Latch_Semaphore_Store_LockStore_methods[] = {
	ZEND_ME(Latch_Semaphore_Store_LockStore, __construct, arginfo_class_Latch_Semaphore_Store_LockStore___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Semaphore_Store_LockStore, save, arginfo_class_Latch_Semaphore_Store_LockStore_save, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Semaphore_Store_LockStore, delete, arginfo_class_Latch_Semaphore_Store_LockStore_delete, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Semaphore_Store_LockStore, exists, arginfo_class_Latch_Semaphore_Store_LockStore_exists, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Semaphore_Store_LockStore, putOffExpiration, arginfo_class_Latch_Semaphore_Store_LockStore_putOffExpiration, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Semaphore_Store_LockStore, inspect, arginfo_class_Latch_Semaphore_Store_LockStore_inspect, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Latch_Semaphore_Store_LockStore(zend_class_entry *class_entry_Latch_Semaphore_PersistingStoreInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Semaphore\\Store", "LockStore", class_Latch_Semaphore_Store_LockStore_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Latch_Semaphore_PersistingStoreInterface);

	zend_string *property_lockFactory_class_Latch_LockFactory = zend_string_init("Latch\\LockFactory", sizeof("Latch\\LockFactory")-1, 1);
	zval property_lockFactory_default_value;
	ZVAL_UNDEF(&property_lockFactory_default_value);
	zend_string *property_lockFactory_name = zend_string_init("lockFactory", sizeof("lockFactory") - 1, 1);
	zend_declare_typed_property(class_entry, property_lockFactory_name, &property_lockFactory_default_value, ZEND_ACC_PRIVATE|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_lockFactory_class_Latch_LockFactory, 0, 0));
	zend_string_release(property_lockFactory_name);

	return class_entry;
}
