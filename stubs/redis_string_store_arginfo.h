/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 0fd9e7697733ebae30e55c07917daf300cf28e59 */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Store_RedisStringStore___construct, 0, 0, 1)
	ZEND_ARG_OBJ_TYPE_MASK(0, redis, Redis|Relay\\Relay|Relay\\Cluster|RedisArray|RedisCluster|Predis\\ClientInterface, MAY_BE_STRING, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, initialTtl, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Latch_Store_RedisStringStore_key, 0, 2, Latch\\Key, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, owner, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_RedisStringStore_save, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_RedisStringStore_putOffExpiration, 0, 2, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
	ZEND_ARG_TYPE_INFO(0, ttl, IS_DOUBLE, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Store_RedisStringStore_delete arginfo_class_Latch_Store_RedisStringStore_save

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_RedisStringStore_exists, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Store_RedisStringStore_release arginfo_class_Latch_Store_RedisStringStore_exists

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_RedisStringStore_owner, 0, 1, IS_STRING, 1)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Store_RedisStringStore_evict arginfo_class_Latch_Store_RedisStringStore_exists

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_RedisStringStore_inspect, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_RedisStringStore_listHeld, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_RedisStringStore_forceRelease, 0, 2, IS_LONG, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
	ZEND_ARG_TYPE_INFO(0, holders, IS_ARRAY, 0)
ZEND_END_ARG_INFO()


ZEND_METHOD(Latch_Store_RedisStringStore, __construct);
ZEND_METHOD(Latch_Store_RedisStringStore, key);
ZEND_METHOD(Latch_Store_NativeStore, save);
ZEND_METHOD(Latch_Store_NativeStore, putOffExpiration);
ZEND_METHOD(Latch_Store_NativeStore, delete);
ZEND_METHOD(Latch_Store_NativeStore, exists);
ZEND_METHOD(Latch_Store_RedisStringStore, release);
ZEND_METHOD(Latch_Store_RedisStringStore, owner);
ZEND_METHOD(Latch_Store_RedisStringStore, evict);
ZEND_METHOD(Latch_Store_NativeStore, inspect);
ZEND_METHOD(Latch_Store_NativeStore, listHeld);
ZEND_METHOD(Latch_Store_NativeStore, forceRelease);


static const zend_function_entry class_Latch_Store_RedisStringStore_methods[] = {
	ZEND_ME(Latch_Store_RedisStringStore, __construct, arginfo_class_Latch_Store_RedisStringStore___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Store_RedisStringStore, key, arginfo_class_Latch_Store_RedisStringStore_key, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_MALIAS(Latch_Store_NativeStore, save, save, arginfo_class_Latch_Store_RedisStringStore_save, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, putOffExpiration, putOffExpiration, arginfo_class_Latch_Store_RedisStringStore_putOffExpiration, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, delete, delete, arginfo_class_Latch_Store_RedisStringStore_delete, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, exists, exists, arginfo_class_Latch_Store_RedisStringStore_exists, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Store_RedisStringStore, release, arginfo_class_Latch_Store_RedisStringStore_release, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Store_RedisStringStore, owner, arginfo_class_Latch_Store_RedisStringStore_owner, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Store_RedisStringStore, evict, arginfo_class_Latch_Store_RedisStringStore_evict, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, inspect, inspect, arginfo_class_Latch_Store_RedisStringStore_inspect, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, listHeld, listHeld, arginfo_class_Latch_Store_RedisStringStore_listHeld, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Store_NativeStore, forceRelease, forceRelease, arginfo_class_Latch_Store_RedisStringStore_forceRelease, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Latch_Store_RedisStringStore(zend_class_entry *class_entry_Latch_PersistingStoreInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Store", "RedisStringStore", class_Latch_Store_RedisStringStore_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Latch_PersistingStoreInterface);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "key", sizeof("key") - 1), 1, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}
