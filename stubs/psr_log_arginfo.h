/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 068fcb0dbc32e147ad2807c063b611d2f41e3970 */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Psr_Log_LoggerAwareInterface_setLogger, 0, 0, 1)
	ZEND_ARG_OBJ_INFO(0, logger, Psr\\Log\\LoggerInterface, 0)
ZEND_END_ARG_INFO()




static const zend_function_entry class_Psr_Log_LoggerAwareInterface_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Psr_Log_LoggerAwareInterface, setLogger, arginfo_class_Psr_Log_LoggerAwareInterface_setLogger, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};

static zend_class_entry *register_class_Psr_Log_LoggerAwareInterface(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Psr\\Log", "LoggerAwareInterface", class_Psr_Log_LoggerAwareInterface_methods);
	class_entry = zend_register_internal_interface(&ce);

	return class_entry;
}
