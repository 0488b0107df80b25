/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 4d1d1e015678d5acc17e4c9704c09d95a208aa81 */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Latch_Lease___construct, 0, 0, 0)
ZEND_END_ARG_INFO()


ZEND_METHOD(Latch_Lease, __construct);


static const zend_function_entry class_Latch_Lease_methods[] = {
	ZEND_ME(Latch_Lease, __construct, arginfo_class_Latch_Lease___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};

static zend_class_entry *register_class_Latch_Lease(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch", "Lease", class_Latch_Lease_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	return class_entry;
}
