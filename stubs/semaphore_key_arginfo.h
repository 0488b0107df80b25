/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 0922dd3e0ef4679c0404f2aae6c4649ad80914a8 */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Semaphore_Key___construct, 0, 0, 2)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, limit, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, weight, IS_LONG, 0, "1")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Key___toString, 0, 0, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Key_getLimit, 0, 0, IS_LONG, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Semaphore_Key_getWeight arginfo_class_Latch_Semaphore_Key_getLimit

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Key_hasState, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, stateKey, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Key_setState, 0, 2, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, stateKey, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, state, IS_MIXED, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Key_removeState, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, stateKey, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Key_getState, 0, 1, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, stateKey, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Key_markUnserializable, 0, 0, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, owner, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Key_resetLifetime, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Key_reduceLifetime, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, ttlInSeconds, IS_DOUBLE, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Key_getRemainingLifetime, 0, 0, IS_DOUBLE, 1)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Key_isExpired, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Key___unserialize, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, data, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Key___serialize, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Semaphore_Key___debugInfo arginfo_class_Latch_Semaphore_Key___serialize


ZEND_METHOD(Latch_Semaphore_Key, __construct);
ZEND_METHOD(Latch_Key, __toString);
ZEND_METHOD(Latch_Semaphore_Key, getLimit);
ZEND_METHOD(Latch_Semaphore_Key, getWeight);
ZEND_METHOD(Latch_Key, hasState);
ZEND_METHOD(Latch_Key, setState);
ZEND_METHOD(Latch_Key, removeState);
ZEND_METHOD(Latch_Key, getState);
ZEND_METHOD(Latch_Semaphore_Key, markUnserializable);
ZEND_METHOD(Latch_Key, resetLifetime);
ZEND_METHOD(Latch_Key, reduceLifetime);
ZEND_METHOD(Latch_Key, getRemainingLifetime);
ZEND_METHOD(Latch_Key, isExpired);
ZEND_METHOD(Latch_Key, __unserialize);
ZEND_METHOD(Latch_Key, __serialize);
ZEND_METHOD(Latch_Key, __debugInfo);


static const zend_function_entry class_Latch_Semaphore_Key_methods[] = {
	ZEND_ME(Latch_Semaphore_Key, __construct, arginfo_class_Latch_Semaphore_Key___construct, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Key, __toString, __toString, arginfo_class_Latch_Semaphore_Key___toString, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Semaphore_Key, getLimit, arginfo_class_Latch_Semaphore_Key_getLimit, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Semaphore_Key, getWeight, arginfo_class_Latch_Semaphore_Key_getWeight, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Key, hasState, hasState, arginfo_class_Latch_Semaphore_Key_hasState, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Key, setState, setState, arginfo_class_Latch_Semaphore_Key_setState, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Key, removeState, removeState, arginfo_class_Latch_Semaphore_Key_removeState, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Key, getState, getState, arginfo_class_Latch_Semaphore_Key_getState, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Semaphore_Key, markUnserializable, arginfo_class_Latch_Semaphore_Key_markUnserializable, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Key, resetLifetime, resetLifetime, arginfo_class_Latch_Semaphore_Key_resetLifetime, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Key, reduceLifetime, reduceLifetime, arginfo_class_Latch_Semaphore_Key_reduceLifetime, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Key, getRemainingLifetime, getRemainingLifetime, arginfo_class_Latch_Semaphore_Key_getRemainingLifetime, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Key, isExpired, isExpired, arginfo_class_Latch_Semaphore_Key_isExpired, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Key, __unserialize, __unserialize, arginfo_class_Latch_Semaphore_Key___unserialize, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Key, __serialize, __serialize, arginfo_class_Latch_Semaphore_Key___serialize, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Key, __debugInfo, __debugInfo, arginfo_class_Latch_Semaphore_Key___debugInfo, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Latch_Semaphore_Key(zend_class_entry *class_entry_Stringable)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Semaphore", "Key", class_Latch_Semaphore_Key_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES;
	zend_class_implements(class_entry, 1, class_entry_Stringable);

	zval property_resource_default_value;
	ZVAL_UNDEF(&property_resource_default_value);
	zend_string *property_resource_name = zend_string_init("resource", sizeof("resource") - 1, 1);
	zend_declare_typed_property(class_entry, property_resource_name, &property_resource_default_value, ZEND_ACC_PRIVATE, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_resource_name);

	zval property_expiringTime_default_value;
	ZVAL_NULL(&property_expiringTime_default_value);
	zend_string *property_expiringTime_name = zend_string_init("expiringTime", sizeof("expiringTime") - 1, 1);
	zend_declare_typed_property(class_entry, property_expiringTime_name, &property_expiringTime_default_value, ZEND_ACC_PRIVATE, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_expiringTime_name);

	zval property_state_default_value;
	ZVAL_EMPTY_ARRAY(&property_state_default_value);
	zend_string *property_state_name = zend_string_init("state", sizeof("state") - 1, 1);
	zend_declare_typed_property(class_entry, property_state_name, &property_state_default_value, ZEND_ACC_PRIVATE, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_state_name);

	zval property_serializable_default_value;
	ZVAL_TRUE(&property_serializable_default_value);
	zend_string *property_serializable_name = zend_string_init("serializable", sizeof("serializable") - 1, 1);
	zend_declare_typed_property(class_entry, property_serializable_name, &property_serializable_default_value, ZEND_ACC_PRIVATE, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_BOOL));
	zend_string_release(property_serializable_name);

	zend_string *property_lease_class_Latch_Lease = zend_string_init("Latch\\Lease", sizeof("Latch\\Lease")-1, 1);
	zval property_lease_default_value;
	ZVAL_NULL(&property_lease_default_value);
	zend_string *property_lease_name = zend_string_init("lease", sizeof("lease") - 1, 1);
	zend_declare_typed_property(class_entry, property_lease_name, &property_lease_default_value, ZEND_ACC_PRIVATE, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_lease_class_Latch_Lease, 0, MAY_BE_NULL));
	zend_string_release(property_lease_name);

	zval property_limit_default_value;
	ZVAL_UNDEF(&property_limit_default_value);
	zend_string *property_limit_name = zend_string_init("limit", sizeof("limit") - 1, 1);
	zend_declare_typed_property(class_entry, property_limit_name, &property_limit_default_value, ZEND_ACC_PRIVATE, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_limit_name);

	zval property_weight_default_value;
	ZVAL_UNDEF(&property_weight_default_value);
	zend_string *property_weight_name = zend_string_init("weight", sizeof("weight") - 1, 1);
	zend_declare_typed_property(class_entry, property_weight_name, &property_weight_default_value, ZEND_ACC_PRIVATE, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_weight_name);

	zval property_unserializableOwner_default_value;
	ZVAL_NULL(&property_unserializableOwner_default_value);
	zend_string *property_unserializableOwner_name = zend_string_init("unserializableOwner", sizeof("unserializableOwner") - 1, 1);
	zend_declare_typed_property(class_entry, property_unserializableOwner_name, &property_unserializableOwner_default_value, ZEND_ACC_PRIVATE, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_unserializableOwner_name);

	return class_entry;
}
