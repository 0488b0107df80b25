/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 5058bdfe9b69f96f6a5fe018c3f4baff8411403b */

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

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Latch_SyncFactory_createSequence, 0, 1, Latch\\Sequence, 0)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 0, "604800.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, lease, IS_DOUBLE, 0, "30.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, owner, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Latch_SyncFactory_createDebounce, 0, 2, Latch\\Debounce, 0)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, quiet, IS_DOUBLE, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, max, IS_DOUBLE, 1, "null")
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

#define arginfo_class_Latch_Sequence___construct arginfo_class_Latch_Version___construct

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Latch_Sequence_enter, 0, 1, Latch\\Place, 0)
	ZEND_ARG_TYPE_INFO(0, id, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, payload, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Latch_Sequence_resume, 0, 1, Latch\\Turn, 0)
	ZEND_ARG_TYPE_INFO(0, ticket, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Latch_Sequence_next, 0, 1, Latch\\Entry, 1)
	ZEND_ARG_TYPE_INFO(0, ticket, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Sequence_putBack, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, ticket, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Latch_Sequence_abandon, 0, 1, Latch\\Entry, 1)
	ZEND_ARG_TYPE_INFO(0, patience, IS_DOUBLE, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Sequence_getOwner, 0, 0, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Sequence_inspect arginfo_class_Latch_CountDown_inspect

#define arginfo_class_Latch_Place___construct arginfo_class_Latch_Version___construct

#define arginfo_class_Latch_Turn___construct arginfo_class_Latch_Version___construct

#define arginfo_class_Latch_Entry___construct arginfo_class_Latch_Version___construct

#define arginfo_class_Latch_Debounce___construct arginfo_class_Latch_Version___construct

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Latch_Debounce_register, 0, 0, Latch\\Occurrence, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Debounce_sent, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, token, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Latch_Debounce_resume, 0, 1, Latch\\Turn, 0)
	ZEND_ARG_TYPE_INFO(0, token, IS_LONG, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Debounce_done arginfo_class_Latch_Debounce_sent

#define arginfo_class_Latch_Occurrence___construct arginfo_class_Latch_Version___construct


ZEND_METHOD(Latch_SyncFactory, __construct);
ZEND_METHOD(Latch_SyncFactory, createVersion);
ZEND_METHOD(Latch_SyncFactory, createThrottle);
ZEND_METHOD(Latch_SyncFactory, createCountDown);
ZEND_METHOD(Latch_SyncFactory, createSequence);
ZEND_METHOD(Latch_SyncFactory, createDebounce);
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
ZEND_METHOD(Latch_Sequence, __construct);
ZEND_METHOD(Latch_Sequence, enter);
ZEND_METHOD(Latch_Sequence, resume);
ZEND_METHOD(Latch_Sequence, next);
ZEND_METHOD(Latch_Sequence, putBack);
ZEND_METHOD(Latch_Sequence, abandon);
ZEND_METHOD(Latch_Sequence, getOwner);
ZEND_METHOD(Latch_Sequence, inspect);
ZEND_METHOD(Latch_Place, __construct);
ZEND_METHOD(Latch_Turn, __construct);
ZEND_METHOD(Latch_Entry, __construct);
ZEND_METHOD(Latch_Debounce, __construct);
ZEND_METHOD(Latch_Debounce, register);
ZEND_METHOD(Latch_Debounce, sent);
ZEND_METHOD(Latch_Debounce, resume);
ZEND_METHOD(Latch_Debounce, done);
ZEND_METHOD(Latch_Occurrence, __construct);


static const zend_function_entry class_Latch_SyncFactory_methods[] = {
	ZEND_ME(Latch_SyncFactory, __construct, arginfo_class_Latch_SyncFactory___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_SyncFactory, createVersion, arginfo_class_Latch_SyncFactory_createVersion, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_SyncFactory, createThrottle, arginfo_class_Latch_SyncFactory_createThrottle, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_SyncFactory, createCountDown, arginfo_class_Latch_SyncFactory_createCountDown, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_SyncFactory, createSequence, arginfo_class_Latch_SyncFactory_createSequence, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_SyncFactory, createDebounce, arginfo_class_Latch_SyncFactory_createDebounce, ZEND_ACC_PUBLIC)
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


static const zend_function_entry class_Latch_Sequence_methods[] = {
	ZEND_ME(Latch_Sequence, __construct, arginfo_class_Latch_Sequence___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Latch_Sequence, enter, arginfo_class_Latch_Sequence_enter, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Sequence, resume, arginfo_class_Latch_Sequence_resume, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Sequence, next, arginfo_class_Latch_Sequence_next, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Sequence, putBack, arginfo_class_Latch_Sequence_putBack, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Sequence, abandon, arginfo_class_Latch_Sequence_abandon, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Sequence, getOwner, arginfo_class_Latch_Sequence_getOwner, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Sequence, inspect, arginfo_class_Latch_Sequence_inspect, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Place_methods[] = {
	ZEND_ME(Latch_Place, __construct, arginfo_class_Latch_Place___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Turn_methods[] = {
	ZEND_ME(Latch_Turn, __construct, arginfo_class_Latch_Turn___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Entry_methods[] = {
	ZEND_ME(Latch_Entry, __construct, arginfo_class_Latch_Entry___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Debounce_methods[] = {
	ZEND_ME(Latch_Debounce, __construct, arginfo_class_Latch_Debounce___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Latch_Debounce, register, arginfo_class_Latch_Debounce_register, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Debounce, sent, arginfo_class_Latch_Debounce_sent, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Debounce, resume, arginfo_class_Latch_Debounce_resume, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Debounce, done, arginfo_class_Latch_Debounce_done, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Occurrence_methods[] = {
	ZEND_ME(Latch_Occurrence, __construct, arginfo_class_Latch_Occurrence___construct, ZEND_ACC_PRIVATE)
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

static zend_class_entry *register_class_Latch_Sequence(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch", "Sequence", class_Latch_Sequence_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	return class_entry;
}

static zend_class_entry *register_class_Latch_Place(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch", "Place", class_Latch_Place_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_ticket_default_value;
	ZVAL_UNDEF(&property_ticket_default_value);
	zend_string *property_ticket_name = zend_string_init("ticket", sizeof("ticket") - 1, 1);
	zend_declare_typed_property(class_entry, property_ticket_name, &property_ticket_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_ticket_name);

	zval property_isHead_default_value;
	ZVAL_UNDEF(&property_isHead_default_value);
	zend_string *property_isHead_name = zend_string_init("isHead", sizeof("isHead") - 1, 1);
	zend_declare_typed_property(class_entry, property_isHead_name, &property_isHead_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_BOOL));
	zend_string_release(property_isHead_name);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Turn(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch", "Turn", class_Latch_Turn_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_state_default_value;
	ZVAL_UNDEF(&property_state_default_value);
	zend_string *property_state_name = zend_string_init("state", sizeof("state") - 1, 1);
	zend_declare_typed_property(class_entry, property_state_name, &property_state_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_state_name);

	zval property_retryAfter_default_value;
	ZVAL_UNDEF(&property_retryAfter_default_value);
	zend_string *property_retryAfter_name = zend_string_init("retryAfter", sizeof("retryAfter") - 1, 1);
	zend_declare_typed_property(class_entry, property_retryAfter_name, &property_retryAfter_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_retryAfter_name);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Entry(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch", "Entry", class_Latch_Entry_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_ticket_default_value;
	ZVAL_UNDEF(&property_ticket_default_value);
	zend_string *property_ticket_name = zend_string_init("ticket", sizeof("ticket") - 1, 1);
	zend_declare_typed_property(class_entry, property_ticket_name, &property_ticket_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_ticket_name);

	zval property_payload_default_value;
	ZVAL_UNDEF(&property_payload_default_value);
	zend_string *property_payload_name = zend_string_init("payload", sizeof("payload") - 1, 1);
	zend_declare_typed_property(class_entry, property_payload_name, &property_payload_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_payload_name);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Debounce(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch", "Debounce", class_Latch_Debounce_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	return class_entry;
}

static zend_class_entry *register_class_Latch_Occurrence(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch", "Occurrence", class_Latch_Occurrence_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_token_default_value;
	ZVAL_UNDEF(&property_token_default_value);
	zend_string *property_token_name = zend_string_init("token", sizeof("token") - 1, 1);
	zend_declare_typed_property(class_entry, property_token_name, &property_token_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_token_name);

	zval property_delay_default_value;
	ZVAL_UNDEF(&property_delay_default_value);
	zend_string *property_delay_name = zend_string_init("delay", sizeof("delay") - 1, 1);
	zend_declare_typed_property(class_entry, property_delay_name, &property_delay_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_delay_name);

	return class_entry;
}
