/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 3721e2365abd442b579eb52eaf036bb58947948c */

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Exception_LockExpiredException_getResult, 0, 0, IS_MIXED, 0)
ZEND_END_ARG_INFO()


ZEND_METHOD(Latch_Exception_LockExpiredException, getResult);


static const zend_function_entry class_Latch_Exception_ExceptionInterface_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Exception_InvalidArgumentException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Exception_InvalidTtlException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Exception_LockAcquiringException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Exception_LockConflictedException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Exception_LockExpiredException_methods[] = {
	ZEND_ME(Latch_Exception_LockExpiredException, getResult, arginfo_class_Latch_Exception_LockExpiredException_getResult, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Exception_LockReleasingException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Exception_LockStorageException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Exception_UnserializableKeyException_methods[] = {
	ZEND_FE_END
};

static zend_class_entry *register_class_Latch_Exception_ExceptionInterface(zend_class_entry *class_entry_Throwable)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Exception", "ExceptionInterface", class_Latch_Exception_ExceptionInterface_methods);
	class_entry = zend_register_internal_interface(&ce);
	zend_class_implements(class_entry, 1, class_entry_Throwable);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Exception_InvalidArgumentException(zend_class_entry *class_entry_InvalidArgumentException, zend_class_entry *class_entry_Latch_Exception_ExceptionInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Exception", "InvalidArgumentException", class_Latch_Exception_InvalidArgumentException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_InvalidArgumentException);
	zend_class_implements(class_entry, 1, class_entry_Latch_Exception_ExceptionInterface);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Exception_InvalidTtlException(zend_class_entry *class_entry_Latch_Exception_InvalidArgumentException, zend_class_entry *class_entry_Latch_Exception_ExceptionInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Exception", "InvalidTtlException", class_Latch_Exception_InvalidTtlException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Latch_Exception_InvalidArgumentException);
	zend_class_implements(class_entry, 1, class_entry_Latch_Exception_ExceptionInterface);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Exception_LockAcquiringException(zend_class_entry *class_entry_RuntimeException, zend_class_entry *class_entry_Latch_Exception_ExceptionInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Exception", "LockAcquiringException", class_Latch_Exception_LockAcquiringException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);
	zend_class_implements(class_entry, 1, class_entry_Latch_Exception_ExceptionInterface);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Exception_LockConflictedException(zend_class_entry *class_entry_RuntimeException, zend_class_entry *class_entry_Latch_Exception_ExceptionInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Exception", "LockConflictedException", class_Latch_Exception_LockConflictedException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);
	zend_class_implements(class_entry, 1, class_entry_Latch_Exception_ExceptionInterface);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Exception_LockExpiredException(zend_class_entry *class_entry_RuntimeException, zend_class_entry *class_entry_Latch_Exception_ExceptionInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Exception", "LockExpiredException", class_Latch_Exception_LockExpiredException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);
	zend_class_implements(class_entry, 1, class_entry_Latch_Exception_ExceptionInterface);

	zval property_result_default_value;
	ZVAL_NULL(&property_result_default_value);
	zend_string *property_result_name = zend_string_init("result", sizeof("result") - 1, 1);
	zend_declare_typed_property(class_entry, property_result_name, &property_result_default_value, ZEND_ACC_PRIVATE, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ANY));
	zend_string_release(property_result_name);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Exception_LockReleasingException(zend_class_entry *class_entry_RuntimeException, zend_class_entry *class_entry_Latch_Exception_ExceptionInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Exception", "LockReleasingException", class_Latch_Exception_LockReleasingException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);
	zend_class_implements(class_entry, 1, class_entry_Latch_Exception_ExceptionInterface);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Exception_LockStorageException(zend_class_entry *class_entry_RuntimeException, zend_class_entry *class_entry_Latch_Exception_ExceptionInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Exception", "LockStorageException", class_Latch_Exception_LockStorageException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);
	zend_class_implements(class_entry, 1, class_entry_Latch_Exception_ExceptionInterface);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Exception_UnserializableKeyException(zend_class_entry *class_entry_RuntimeException, zend_class_entry *class_entry_Latch_Exception_ExceptionInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Exception", "UnserializableKeyException", class_Latch_Exception_UnserializableKeyException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);
	zend_class_implements(class_entry, 1, class_entry_Latch_Exception_ExceptionInterface);

	return class_entry;
}
