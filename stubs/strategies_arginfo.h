/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: ac077b6d05c8be47943ade8ed1e26cdd12835d17 */

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Strategy_StrategyInterface_isMet, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, numberOfSuccess, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, numberOfItems, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Strategy_StrategyInterface_canBeMet, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, numberOfFailure, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, numberOfItems, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Strategy_ConsensusStrategy_isMet, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, numberOfSuccess, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, numberOfItems, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Latch_Strategy_ConsensusStrategy_canBeMet, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, numberOfFailure, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, numberOfItems, IS_LONG, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_Strategy_UnanimousStrategy_isMet arginfo_class_Latch_Strategy_ConsensusStrategy_isMet

#define arginfo_class_Latch_Strategy_UnanimousStrategy_canBeMet arginfo_class_Latch_Strategy_ConsensusStrategy_canBeMet


ZEND_METHOD(Latch_Strategy_ConsensusStrategy, isMet);
ZEND_METHOD(Latch_Strategy_ConsensusStrategy, canBeMet);
ZEND_METHOD(Latch_Strategy_UnanimousStrategy, isMet);
ZEND_METHOD(Latch_Strategy_UnanimousStrategy, canBeMet);


static const zend_function_entry class_Latch_Strategy_StrategyInterface_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_Strategy_StrategyInterface, isMet, arginfo_class_Latch_Strategy_StrategyInterface_isMet, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_Strategy_StrategyInterface, canBeMet, arginfo_class_Latch_Strategy_StrategyInterface_canBeMet, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Strategy_ConsensusStrategy_methods[] = {
	ZEND_ME(Latch_Strategy_ConsensusStrategy, isMet, arginfo_class_Latch_Strategy_ConsensusStrategy_isMet, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Strategy_ConsensusStrategy, canBeMet, arginfo_class_Latch_Strategy_ConsensusStrategy_canBeMet, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_Strategy_UnanimousStrategy_methods[] = {
	ZEND_ME(Latch_Strategy_UnanimousStrategy, isMet, arginfo_class_Latch_Strategy_UnanimousStrategy_isMet, ZEND_ACC_PUBLIC)
	ZEND_ME(Latch_Strategy_UnanimousStrategy, canBeMet, arginfo_class_Latch_Strategy_UnanimousStrategy_canBeMet, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Latch_Strategy_StrategyInterface(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Strategy", "StrategyInterface", class_Latch_Strategy_StrategyInterface_methods);
	class_entry = zend_register_internal_interface(&ce);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Strategy_ConsensusStrategy(zend_class_entry *class_entry_Latch_Strategy_StrategyInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Strategy", "ConsensusStrategy", class_Latch_Strategy_ConsensusStrategy_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	zend_class_implements(class_entry, 1, class_entry_Latch_Strategy_StrategyInterface);

	return class_entry;
}

static zend_class_entry *register_class_Latch_Strategy_UnanimousStrategy(zend_class_entry *class_entry_Latch_Strategy_StrategyInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch\\Strategy", "UnanimousStrategy", class_Latch_Strategy_UnanimousStrategy_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	zend_class_implements(class_entry, 1, class_entry_Latch_Strategy_StrategyInterface);

	return class_entry;
}
