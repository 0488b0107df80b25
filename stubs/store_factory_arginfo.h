/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 7cbc986d4cbc28cdc8f7b1369e87e0546cad72a8 */

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Latch_Store_StoreFactory_createStore, 0, 1, Latch\\PersistingStoreInterface, 0)
	ZEND_ARG_TYPE_MASK(0, connection, MAY_BE_OBJECT|MAY_BE_STRING, NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Store_StoreFactory_describe, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, dsn, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()


ZEND_METHOD(Latch_Store_StoreFactory, createStore);
ZEND_METHOD(Latch_Store_StoreFactory, describe);


static const zend_function_entry class_Latch_Store_StoreFactory_methods[] = {
	ZEND_ME(Latch_Store_StoreFactory, createStore, arginfo_class_Latch_Store_StoreFactory_createStore, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Latch_Store_StoreFactory, describe, arginfo_class_Latch_Store_StoreFactory_describe, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Latch_Store_StoreFactory(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Store", "StoreFactory", class_Latch_Store_StoreFactory_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "createstore", sizeof("createstore") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "describe", sizeof("describe") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}
