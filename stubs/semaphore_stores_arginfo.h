/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: e2fbd0cf2e09b501389ff9d09d6f10214d395a64 */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Semaphore_Store_RedisStore___construct, 0, 0, 1)
	ZEND_ARG_OBJ_TYPE_MASK(0, redis, Redis|Relay\\Relay|Relay\\Cluster|RedisArray|RedisCluster|Predis\\ClientInterface, MAY_BE_STRING, NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Store_RedisStore_save, 0, 2, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Semaphore\\Key, 0)
	ZEND_ARG_TYPE_INFO(0, ttlInSecond, IS_DOUBLE, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Semaphore_Store_RedisStore_putOffExpiration arginfo_class_Latch_Semaphore_Store_RedisStore_save

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Store_RedisStore_delete, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Semaphore\\Key, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Store_RedisStore_exists, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Semaphore\\Key, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Store_RedisStore_inspect, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Semaphore\\Key, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Store_RedisStore_listHeld, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, foreign, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Semaphore_Store_SemaphoreStore___construct, 0, 0, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, projectId, IS_STRING, 0, "\'\'")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, digest, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Semaphore_Store_SemaphoreStore_save arginfo_class_Latch_Semaphore_Store_RedisStore_save

#define arginfo_class_Latch_Semaphore_Store_SemaphoreStore_putOffExpiration arginfo_class_Latch_Semaphore_Store_RedisStore_save

#define arginfo_class_Latch_Semaphore_Store_SemaphoreStore_delete arginfo_class_Latch_Semaphore_Store_RedisStore_delete

#define arginfo_class_Latch_Semaphore_Store_SemaphoreStore_exists arginfo_class_Latch_Semaphore_Store_RedisStore_exists

#define arginfo_class_Latch_Semaphore_Store_SemaphoreStore_inspect arginfo_class_Latch_Semaphore_Store_RedisStore_inspect

#define arginfo_class_Latch_Semaphore_Store_InMemoryStore_save arginfo_class_Latch_Semaphore_Store_RedisStore_save

#define arginfo_class_Latch_Semaphore_Store_InMemoryStore_putOffExpiration arginfo_class_Latch_Semaphore_Store_RedisStore_save

#define arginfo_class_Latch_Semaphore_Store_InMemoryStore_delete arginfo_class_Latch_Semaphore_Store_RedisStore_delete

#define arginfo_class_Latch_Semaphore_Store_InMemoryStore_exists arginfo_class_Latch_Semaphore_Store_RedisStore_exists

#define arginfo_class_Latch_Semaphore_Store_InMemoryStore_inspect arginfo_class_Latch_Semaphore_Store_RedisStore_inspect

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Latch_Semaphore_Store_StoreFactory_createStore, 0, 1, Latch\\Semaphore\\PersistingStoreInterface, 0)
	ZEND_ARG_TYPE_MASK(0, connection, MAY_BE_OBJECT|MAY_BE_STRING, NULL)
ZEND_END_ARG_INFO()


ZEND_METHOD(Latch_Semaphore_Store_RedisStore, __construct);
ZEND_METHOD(Latch_Semaphore_Store_NativeStore, save);
ZEND_METHOD(Latch_Semaphore_Store_NativeStore, putOffExpiration);
ZEND_METHOD(Latch_Semaphore_Store_NativeStore, delete);
ZEND_METHOD(Latch_Semaphore_Store_NativeStore, exists);
ZEND_METHOD(Latch_Semaphore_Store_NativeStore, inspect);
ZEND_METHOD(Latch_Semaphore_Store_RedisStore, listHeld);
ZEND_METHOD(Latch_Semaphore_Store_SemaphoreStore, __construct);
ZEND_METHOD(Latch_Semaphore_Store_StoreFactory, createStore);


static const zend_function_entry class_Latch_Semaphore_Store_RedisStore_methods[] = {
	ZEND_ME(Latch_Semaphore_Store_RedisStore, __construct, arginfo_class_Latch_Semaphore_Store_RedisStore___construct, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Semaphore_Store_NativeStore, save, save, arginfo_class_Latch_Semaphore_Store_RedisStore_save, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Semaphore_Store_NativeStore, putOffExpiration, putOffExpiration, arginfo_class_Latch_Semaphore_Store_RedisStore_putOffExpiration, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Semaphore_Store_NativeStore, delete, delete, arginfo_class_Latch_Semaphore_Store_RedisStore_delete, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Semaphore_Store_NativeStore, exists, exists, arginfo_class_Latch_Semaphore_Store_RedisStore_exists, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Semaphore_Store_NativeStore, inspect, inspect, arginfo_class_Latch_Semaphore_Store_RedisStore_inspect, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Semaphore_Store_RedisStore, listHeld, arginfo_class_Latch_Semaphore_Store_RedisStore_listHeld, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Semaphore_Store_SemaphoreStore_methods[] = {
	ZEND_ME(Latch_Semaphore_Store_SemaphoreStore, __construct, arginfo_class_Latch_Semaphore_Store_SemaphoreStore___construct, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Semaphore_Store_NativeStore, save, save, arginfo_class_Latch_Semaphore_Store_SemaphoreStore_save, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Semaphore_Store_NativeStore, putOffExpiration, putOffExpiration, arginfo_class_Latch_Semaphore_Store_SemaphoreStore_putOffExpiration, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Semaphore_Store_NativeStore, delete, delete, arginfo_class_Latch_Semaphore_Store_SemaphoreStore_delete, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Semaphore_Store_NativeStore, exists, exists, arginfo_class_Latch_Semaphore_Store_SemaphoreStore_exists, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Semaphore_Store_NativeStore, inspect, inspect, arginfo_class_Latch_Semaphore_Store_SemaphoreStore_inspect, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Semaphore_Store_InMemoryStore_methods[] = {
	ZEND_MALIAS(Latch_Semaphore_Store_NativeStore, save, save, arginfo_class_Latch_Semaphore_Store_InMemoryStore_save, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Semaphore_Store_NativeStore, putOffExpiration, putOffExpiration, arginfo_class_Latch_Semaphore_Store_InMemoryStore_putOffExpiration, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Semaphore_Store_NativeStore, delete, delete, arginfo_class_Latch_Semaphore_Store_InMemoryStore_delete, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Semaphore_Store_NativeStore, exists, exists, arginfo_class_Latch_Semaphore_Store_InMemoryStore_exists, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Semaphore_Store_NativeStore, inspect, inspect, arginfo_class_Latch_Semaphore_Store_InMemoryStore_inspect, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Semaphore_Store_StoreFactory_methods[] = {
	ZEND_ME(Latch_Semaphore_Store_StoreFactory, createStore, arginfo_class_Latch_Semaphore_Store_StoreFactory_createStore, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Latch_Semaphore_Store_RedisStore(zend_class_entry *class_entry_Latch_Semaphore_PersistingStoreInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Semaphore\\Store", "RedisStore", class_Latch_Semaphore_Store_RedisStore_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Latch_Semaphore_PersistingStoreInterface);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Semaphore_Store_SemaphoreStore(zend_class_entry *class_entry_Latch_Semaphore_PersistingStoreInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Semaphore\\Store", "SemaphoreStore", class_Latch_Semaphore_Store_SemaphoreStore_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Latch_Semaphore_PersistingStoreInterface);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Semaphore_Store_InMemoryStore(zend_class_entry *class_entry_Latch_Semaphore_PersistingStoreInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Semaphore\\Store", "InMemoryStore", class_Latch_Semaphore_Store_InMemoryStore_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Latch_Semaphore_PersistingStoreInterface);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Semaphore_Store_StoreFactory(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Semaphore\\Store", "StoreFactory", class_Latch_Semaphore_Store_StoreFactory_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "createstore", sizeof("createstore") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}
