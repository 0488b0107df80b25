/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: ad0be65277dbba595b3bb23545ee19f79e224edb */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_MultiLock___construct, 0, 0, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_MultiLock___serialize, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_MultiLock___unserialize, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, data, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_MultiLock_acquire, 0, 0, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, blocking, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_MultiLock_acquireRead arginfo_class_Latch_MultiLock_acquire

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_MultiLock_synchronized, 0, 1, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, callback, IS_CALLABLE, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_MultiLock_refresh, 0, 0, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_MultiLock_isAcquired, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_MultiLock_isHeld arginfo_class_Latch_MultiLock_isAcquired

#define arginfo_class_Latch_MultiLock_getFencingTokens arginfo_class_Latch_MultiLock___serialize

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_MultiLock_keepAlive, 0, 0, IS_STATIC, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxHold, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_MultiLock_onLost, 0, 1, IS_STATIC, 0)
	ZEND_ARG_TYPE_INFO(0, callback, IS_CALLABLE, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_MultiLock_release, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_MultiLock_isExpired arginfo_class_Latch_MultiLock_isAcquired

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_MultiLock_getRemainingLifetime, 0, 0, IS_DOUBLE, 1)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_MultiLock_getStatistics arginfo_class_Latch_MultiLock___serialize

#define arginfo_class_Latch_MultiLock___debugInfo arginfo_class_Latch_MultiLock___serialize


ZEND_METHOD(Latch_MultiLock, __construct);
ZEND_METHOD(Latch_Lock, __serialize);
ZEND_METHOD(Latch_Lock, __unserialize);
ZEND_METHOD(Latch_MultiLock, acquire);
ZEND_METHOD(Latch_MultiLock, acquireRead);
ZEND_METHOD(Latch_MultiLock, synchronized);
ZEND_METHOD(Latch_MultiLock, refresh);
ZEND_METHOD(Latch_MultiLock, isAcquired);
ZEND_METHOD(Latch_MultiLock, isHeld);
ZEND_METHOD(Latch_MultiLock, getFencingTokens);
ZEND_METHOD(Latch_MultiLock, keepAlive);
ZEND_METHOD(Latch_MultiLock, onLost);
ZEND_METHOD(Latch_MultiLock, release);
ZEND_METHOD(Latch_MultiLock, isExpired);
ZEND_METHOD(Latch_MultiLock, getRemainingLifetime);
ZEND_METHOD(Latch_MultiLock, getStatistics);
ZEND_METHOD(Latch_MultiLock, __debugInfo);


static const zend_function_entry class_Latch_MultiLock_methods[] = {
	ZEND_ME(Latch_MultiLock, __construct, arginfo_class_Latch_MultiLock___construct, ZEND_ACC_PRIVATE)
	ZEND_MALIAS(Latch_Lock, __serialize, __serialize, arginfo_class_Latch_MultiLock___serialize, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Lock, __unserialize, __unserialize, arginfo_class_Latch_MultiLock___unserialize, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_MultiLock, acquire, arginfo_class_Latch_MultiLock_acquire, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_MultiLock, acquireRead, arginfo_class_Latch_MultiLock_acquireRead, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_MultiLock, synchronized, arginfo_class_Latch_MultiLock_synchronized, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_MultiLock, refresh, arginfo_class_Latch_MultiLock_refresh, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_MultiLock, isAcquired, arginfo_class_Latch_MultiLock_isAcquired, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_MultiLock, isHeld, arginfo_class_Latch_MultiLock_isHeld, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_MultiLock, getFencingTokens, arginfo_class_Latch_MultiLock_getFencingTokens, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_MultiLock, keepAlive, arginfo_class_Latch_MultiLock_keepAlive, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_MultiLock, onLost, arginfo_class_Latch_MultiLock_onLost, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_MultiLock, release, arginfo_class_Latch_MultiLock_release, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_MultiLock, isExpired, arginfo_class_Latch_MultiLock_isExpired, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_MultiLock, getRemainingLifetime, arginfo_class_Latch_MultiLock_getRemainingLifetime, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_MultiLock, getStatistics, arginfo_class_Latch_MultiLock_getStatistics, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Latch_MultiLock, __debugInfo, arginfo_class_Latch_MultiLock___debugInfo, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Latch_MultiLock(zend_class_entry *class_entry_Latch_SharedLockInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch", "MultiLock", class_Latch_MultiLock_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES;
	zend_class_implements(class_entry, 1, class_entry_Latch_SharedLockInterface);

	return class_entry;
}
