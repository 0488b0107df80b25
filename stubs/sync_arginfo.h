/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 7e42f0270f1ec590cb1e5b12fc303c576a3c9945 */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_SyncFactory___construct, 0, 0, 1)
	ZEND_ARG_OBJ_INFO(0, store, Latch\\PersistingStoreInterface, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Latch_SyncFactory_createVersion, 0, 1, Latch\\Version, 0)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 0, "604800.0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Latch_SyncFactory_createThrottle, 0, 3, Latch\\Throttle, 0)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, limit, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, interval, IS_DOUBLE, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, burst, IS_LONG, 0, "1")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Latch_SyncFactory_createCountDown, 0, 1, Latch\\CountDown, 0)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 0, "604800.0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Version___construct, 0, 0, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Version_advance, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, version, DateTimeInterface, MAY_BE_LONG|MAY_BE_STRING, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, orSame, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Version_revert, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, version, DateTimeInterface, MAY_BE_LONG|MAY_BE_STRING, NULL)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Version_isOutdated arginfo_class_Latch_Version_revert

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Version_get, 0, 0, IS_STRING, 1)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Throttle___construct arginfo_class_Latch_Version___construct

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Throttle_acquire, 0, 0, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, blocking, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Throttle_getRetryAfter, 0, 0, IS_DOUBLE, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_CountDown___construct arginfo_class_Latch_Version___construct

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_CountDown_open, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, members, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, payload, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Latch_CountDown_arrive, 0, 1, Latch\\Arrival, 0)
	ZEND_ARG_TYPE_INFO(0, member, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, failed, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, claim, IS_DOUBLE, 0, "30.0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_CountDown_done, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_CountDown_cancel, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_CountDown_await, 0, 0, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_CountDown_inspect, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Arrival___construct arginfo_class_Latch_Version___construct


ZEND_METHOD(Latch_SyncFactory, __construct);
ZEND_METHOD(Latch_SyncFactory, createVersion);
ZEND_METHOD(Latch_SyncFactory, createThrottle);
ZEND_METHOD(Latch_SyncFactory, createCountDown);
ZEND_METHOD(Latch_Version, __construct);
ZEND_METHOD(Latch_Version, advance);
ZEND_METHOD(Latch_Version, revert);
ZEND_METHOD(Latch_Version, isOutdated);
ZEND_METHOD(Latch_Version, get);
ZEND_METHOD(Latch_Throttle, __construct);
ZEND_METHOD(Latch_Throttle, acquire);
ZEND_METHOD(Latch_Throttle, getRetryAfter);
ZEND_METHOD(Latch_CountDown, __construct);
ZEND_METHOD(Latch_CountDown, open);
ZEND_METHOD(Latch_CountDown, arrive);
ZEND_METHOD(Latch_CountDown, done);
ZEND_METHOD(Latch_CountDown, cancel);
ZEND_METHOD(Latch_CountDown, await);
ZEND_METHOD(Latch_CountDown, inspect);
ZEND_METHOD(Latch_Arrival, __construct);


static const zend_function_entry class_Latch_SyncFactory_methods[] = {
	ZEND_ME(Latch_SyncFactory, __construct, arginfo_class_Latch_SyncFactory___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_SyncFactory, createVersion, arginfo_class_Latch_SyncFactory_createVersion, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_SyncFactory, createThrottle, arginfo_class_Latch_SyncFactory_createThrottle, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_SyncFactory, createCountDown, arginfo_class_Latch_SyncFactory_createCountDown, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Version_methods[] = {
	ZEND_ME(Latch_Version, __construct, arginfo_class_Latch_Version___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Latch_Version, advance, arginfo_class_Latch_Version_advance, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Version, revert, arginfo_class_Latch_Version_revert, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Version, isOutdated, arginfo_class_Latch_Version_isOutdated, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Version, get, arginfo_class_Latch_Version_get, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Throttle_methods[] = {
	ZEND_ME(Latch_Throttle, __construct, arginfo_class_Latch_Throttle___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Latch_Throttle, acquire, arginfo_class_Latch_Throttle_acquire, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Throttle, getRetryAfter, arginfo_class_Latch_Throttle_getRetryAfter, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_CountDown_methods[] = {
	ZEND_ME(Latch_CountDown, __construct, arginfo_class_Latch_CountDown___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Latch_CountDown, open, arginfo_class_Latch_CountDown_open, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_CountDown, arrive, arginfo_class_Latch_CountDown_arrive, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_CountDown, done, arginfo_class_Latch_CountDown_done, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_CountDown, cancel, arginfo_class_Latch_CountDown_cancel, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_CountDown, await, arginfo_class_Latch_CountDown_await, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_CountDown, inspect, arginfo_class_Latch_CountDown_inspect, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Arrival_methods[] = {
	ZEND_ME(Latch_Arrival, __construct, arginfo_class_Latch_Arrival___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};

static zend_class_entry *register_class_Latch_SyncFactory(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch", "SyncFactory", class_Latch_SyncFactory_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	return class_entry;
}

static zend_class_entry *register_class_Latch_Version(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch", "Version", class_Latch_Version_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	return class_entry;
}

static zend_class_entry *register_class_Latch_Throttle(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch", "Throttle", class_Latch_Throttle_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	return class_entry;
}

static zend_class_entry *register_class_Latch_CountDown(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch", "CountDown", class_Latch_CountDown_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	return class_entry;
}

static zend_class_entry *register_class_Latch_Arrival(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch", "Arrival", class_Latch_Arrival_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_left_default_value;
	ZVAL_UNDEF(&property_left_default_value);
	zend_string *property_left_name = zend_string_init("left", sizeof("left") - 1, 1);
	zend_declare_typed_property(class_entry, property_left_name, &property_left_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_left_name);

	zval property_payload_default_value;
	ZVAL_UNDEF(&property_payload_default_value);
	zend_string *property_payload_name = zend_string_init("payload", sizeof("payload") - 1, 1);
	zend_declare_typed_property(class_entry, property_payload_name, &property_payload_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_payload_name);

	zval property_failed_default_value;
	ZVAL_UNDEF(&property_failed_default_value);
	zend_string *property_failed_name = zend_string_init("failed", sizeof("failed") - 1, 1);
	zend_declare_typed_property(class_entry, property_failed_name, &property_failed_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_failed_name);

	return class_entry;
}
