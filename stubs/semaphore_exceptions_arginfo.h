/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 3e1960c2bac7fc372698a024a8c3180f61904878 */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Semaphore_Exception_SemaphoreAcquiringException___construct, 0, 0, 2)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Semaphore\\Key, 0)
	ZEND_ARG_TYPE_INFO(0, message, IS_STRING, 0)
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, previous, Throwable, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Semaphore_Exception_SemaphoreExpiredException___construct arginfo_class_Latch_Semaphore_Exception_SemaphoreAcquiringException___construct

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Semaphore_Exception_SemaphoreExpiredException_getResult, 0, 0, IS_MIXED, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Semaphore_Exception_SemaphoreReleasingException___construct arginfo_class_Latch_Semaphore_Exception_SemaphoreAcquiringException___construct


ZEND_METHOD(Latch_Semaphore_Exception_SemaphoreAcquiringException, __construct);
ZEND_METHOD(Latch_Semaphore_Exception_SemaphoreExpiredException, __construct);
ZEND_METHOD(Latch_Exception_LockExpiredException, getResult);
ZEND_METHOD(Latch_Semaphore_Exception_SemaphoreReleasingException, __construct);


static const zend_function_entry class_Latch_Semaphore_Exception_ExceptionInterface_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Semaphore_Exception_InvalidArgumentException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Semaphore_Exception_RuntimeException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Semaphore_Exception_SemaphoreAcquiringException_methods[] = {
	ZEND_ME(Latch_Semaphore_Exception_SemaphoreAcquiringException, __construct, arginfo_class_Latch_Semaphore_Exception_SemaphoreAcquiringException___construct, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Semaphore_Exception_SemaphoreExpiredException_methods[] = {
	ZEND_ME(Latch_Semaphore_Exception_SemaphoreExpiredException, __construct, arginfo_class_Latch_Semaphore_Exception_SemaphoreExpiredException___construct, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Latch_Exception_LockExpiredException, getResult, getResult, arginfo_class_Latch_Semaphore_Exception_SemaphoreExpiredException_getResult, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Semaphore_Exception_SemaphoreReleasingException_methods[] = {
	ZEND_ME(Latch_Semaphore_Exception_SemaphoreReleasingException, __construct, arginfo_class_Latch_Semaphore_Exception_SemaphoreReleasingException___construct, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Semaphore_Exception_SemaphoreStorageException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Semaphore_Exception_UnserializableKeyException_methods[] = {
	ZEND_FE_END
};

static zend_class_entry *register_class_Latch_Semaphore_Exception_ExceptionInterface(zend_class_entry *class_entry_Throwable)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Semaphore\\Exception", "ExceptionInterface", class_Latch_Semaphore_Exception_ExceptionInterface_methods);
	class_entry = zend_register_internal_interface(&ce);
	zend_class_implements(class_entry, 1, class_entry_Throwable);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Semaphore_Exception_InvalidArgumentException(zend_class_entry *class_entry_InvalidArgumentException, zend_class_entry *class_entry_Latch_Semaphore_Exception_ExceptionInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Semaphore\\Exception", "InvalidArgumentException", class_Latch_Semaphore_Exception_InvalidArgumentException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_InvalidArgumentException);
	zend_class_implements(class_entry, 1, class_entry_Latch_Semaphore_Exception_ExceptionInterface);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Semaphore_Exception_RuntimeException(zend_class_entry *class_entry_RuntimeException, zend_class_entry *class_entry_Latch_Semaphore_Exception_ExceptionInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Semaphore\\Exception", "RuntimeException", class_Latch_Semaphore_Exception_RuntimeException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);
	zend_class_implements(class_entry, 1, class_entry_Latch_Semaphore_Exception_ExceptionInterface);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Semaphore_Exception_SemaphoreAcquiringException(zend_class_entry *class_entry_RuntimeException, zend_class_entry *class_entry_Latch_Semaphore_Exception_ExceptionInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Semaphore\\Exception", "SemaphoreAcquiringException", class_Latch_Semaphore_Exception_SemaphoreAcquiringException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);
	zend_class_implements(class_entry, 1, class_entry_Latch_Semaphore_Exception_ExceptionInterface);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Semaphore_Exception_SemaphoreExpiredException(zend_class_entry *class_entry_RuntimeException, zend_class_entry *class_entry_Latch_Semaphore_Exception_ExceptionInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Semaphore\\Exception", "SemaphoreExpiredException", class_Latch_Semaphore_Exception_SemaphoreExpiredException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);
	zend_class_implements(class_entry, 1, class_entry_Latch_Semaphore_Exception_ExceptionInterface);

	zval property_result_default_value;
	ZVAL_NULL(&property_result_default_value);
	zend_string *property_result_name = zend_string_init("result", sizeof("result") - 1, 1);
	zend_declare_typed_property(class_entry, property_result_name, &property_result_default_value, ZEND_ACC_PRIVATE, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ANY));
	zend_string_release(property_result_name);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Semaphore_Exception_SemaphoreReleasingException(zend_class_entry *class_entry_RuntimeException, zend_class_entry *class_entry_Latch_Semaphore_Exception_ExceptionInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Semaphore\\Exception", "SemaphoreReleasingException", class_Latch_Semaphore_Exception_SemaphoreReleasingException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);
	zend_class_implements(class_entry, 1, class_entry_Latch_Semaphore_Exception_ExceptionInterface);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Semaphore_Exception_SemaphoreStorageException(zend_class_entry *class_entry_RuntimeException, zend_class_entry *class_entry_Latch_Semaphore_Exception_ExceptionInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Semaphore\\Exception", "SemaphoreStorageException", class_Latch_Semaphore_Exception_SemaphoreStorageException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);
	zend_class_implements(class_entry, 1, class_entry_Latch_Semaphore_Exception_ExceptionInterface);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Semaphore_Exception_UnserializableKeyException(zend_class_entry *class_entry_RuntimeException, zend_class_entry *class_entry_Latch_Semaphore_Exception_ExceptionInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Semaphore\\Exception", "UnserializableKeyException", class_Latch_Semaphore_Exception_UnserializableKeyException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);
	zend_class_implements(class_entry, 1, class_entry_Latch_Semaphore_Exception_ExceptionInterface);

	return class_entry;
}
