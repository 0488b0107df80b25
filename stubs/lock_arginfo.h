/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 65ddecd6acdb459adad3197c976bde3efa5547af */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Lock___construct, 0, 0, 2)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
	ZEND_ARG_OBJ_INFO(0, store, Latch\\PersistingStoreInterface, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, autoRelease, _IS_BOOL, 0, "true")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Lock___serialize, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Lock___unserialize, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, data, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Lock___destruct, 0, 0, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Lock_setLogger, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, logger, Psr\\Log\\LoggerInterface, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Lock_acquire, 0, 0, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, blocking, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Lock_acquireRead arginfo_class_Latch_Lock_acquire

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Lock_synchronized, 0, 1, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, callback, IS_CALLABLE, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Lock_refresh, 0, 0, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Lock_isAcquired, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Lock_isHeld arginfo_class_Latch_Lock_isAcquired

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Lock_getFencingToken, 0, 0, IS_LONG, 1)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Lock_keepAlive, 0, 0, IS_STATIC, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxHold, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Lock_onLost, 0, 1, IS_STATIC, 0)
	ZEND_ARG_TYPE_INFO(0, callback, IS_CALLABLE, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Lock_release, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Lock_releaseIfHeld arginfo_class_Latch_Lock_isAcquired

#define arginfo_class_Latch_Lock_isExpired arginfo_class_Latch_Lock_isAcquired

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Lock_getRemainingLifetime, 0, 0, IS_DOUBLE, 1)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Lock_getStatistics arginfo_class_Latch_Lock___serialize

#define arginfo_class_Latch_Lock___debugInfo arginfo_class_Latch_Lock___serialize


ZEND_METHOD(Latch_Lock, __construct);
ZEND_METHOD(Latch_Lock, __serialize);
ZEND_METHOD(Latch_Lock, __unserialize);
ZEND_METHOD(Latch_Lock, __destruct);
ZEND_METHOD(Latch_Lock, setLogger);
ZEND_METHOD(Latch_Lock, acquire);
ZEND_METHOD(Latch_Lock, acquireRead);
ZEND_METHOD(Latch_Lock, synchronized);
ZEND_METHOD(Latch_Lock, refresh);
ZEND_METHOD(Latch_Lock, isAcquired);
ZEND_METHOD(Latch_Lock, isHeld);
ZEND_METHOD(Latch_Lock, getFencingToken);
ZEND_METHOD(Latch_Lock, keepAlive);
ZEND_METHOD(Latch_Lock, onLost);
ZEND_METHOD(Latch_Lock, release);
ZEND_METHOD(Latch_Lock, releaseIfHeld);
ZEND_METHOD(Latch_Lock, isExpired);
ZEND_METHOD(Latch_Lock, getRemainingLifetime);
ZEND_METHOD(Latch_Lock, getStatistics);
ZEND_METHOD(Latch_Lock, __debugInfo);


static const zend_function_entry class_Latch_Lock_methods[] = {
	ZEND_ME(Latch_Lock, __construct, arginfo_class_Latch_Lock___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Lock, __serialize, arginfo_class_Latch_Lock___serialize, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Lock, __unserialize, arginfo_class_Latch_Lock___unserialize, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Lock, __destruct, arginfo_class_Latch_Lock___destruct, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Lock, setLogger, arginfo_class_Latch_Lock_setLogger, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Lock, acquire, arginfo_class_Latch_Lock_acquire, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Lock, acquireRead, arginfo_class_Latch_Lock_acquireRead, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Lock, synchronized, arginfo_class_Latch_Lock_synchronized, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Lock, refresh, arginfo_class_Latch_Lock_refresh, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Lock, isAcquired, arginfo_class_Latch_Lock_isAcquired, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Lock, isHeld, arginfo_class_Latch_Lock_isHeld, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Lock, getFencingToken, arginfo_class_Latch_Lock_getFencingToken, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Lock, keepAlive, arginfo_class_Latch_Lock_keepAlive, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Lock, onLost, arginfo_class_Latch_Lock_onLost, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Lock, release, arginfo_class_Latch_Lock_release, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Lock, releaseIfHeld, arginfo_class_Latch_Lock_releaseIfHeld, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Lock, isExpired, arginfo_class_Latch_Lock_isExpired, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Lock, getRemainingLifetime, arginfo_class_Latch_Lock_getRemainingLifetime, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Lock, getStatistics, arginfo_class_Latch_Lock_getStatistics, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Latch_Lock, __debugInfo, arginfo_class_Latch_Lock___debugInfo, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Latch_Lock(zend_class_entry *class_entry_Latch_SharedLockInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch", "Lock", class_Latch_Lock_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES;
	zend_class_implements(class_entry, 1, class_entry_Latch_SharedLockInterface);

	return class_entry;
}
