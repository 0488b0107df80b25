/* Latch\Strategy: the number of stores of a CombinedStore that have to agree. */
#include "ext/store/combined/combined.h"

#include "stubs/strategies_arginfo.h"

zend_class_entry *php_latch_strategy_ce;

static zend_class_entry *consensus_ce, *unanimous_ce;

const latch_strategy *php_latch_own_strategy(const zend_object *strategy)
{
    if (strategy->ce == consensus_ce) {
        return &latch_consensus;
    }
    return strategy->ce == unanimous_ce ? &latch_unanimity : NULL;
}

/* Symfony's formulas, for any numbers: PHP code may call these methods, too. */
PHP_METHOD(Latch_Strategy_ConsensusStrategy, isMet)
{
    zend_long successes, items;

    ZEND_PARSE_PARAMETERS_START(2, 2)
        Z_PARAM_LONG(successes)
        Z_PARAM_LONG(items)
    ZEND_PARSE_PARAMETERS_END();
    RETURN_BOOL((double) successes > (double) items / 2);
}

PHP_METHOD(Latch_Strategy_ConsensusStrategy, canBeMet)
{
    zend_long failures, items;

    ZEND_PARSE_PARAMETERS_START(2, 2)
        Z_PARAM_LONG(failures)
        Z_PARAM_LONG(items)
    ZEND_PARSE_PARAMETERS_END();
    RETURN_BOOL((double) failures < (double) items / 2);
}

PHP_METHOD(Latch_Strategy_UnanimousStrategy, isMet)
{
    zend_long successes, items;

    ZEND_PARSE_PARAMETERS_START(2, 2)
        Z_PARAM_LONG(successes)
        Z_PARAM_LONG(items)
    ZEND_PARSE_PARAMETERS_END();
    RETURN_BOOL(successes == items);
}

PHP_METHOD(Latch_Strategy_UnanimousStrategy, canBeMet)
{
    zend_long failures, items;

    ZEND_PARSE_PARAMETERS_START(2, 2)
        Z_PARAM_LONG(failures)
        Z_PARAM_LONG(items)
    ZEND_PARSE_PARAMETERS_END();
    (void) items;
    RETURN_BOOL(failures == 0);
}

void php_latch_register_strategies(void)
{
    php_latch_strategy_ce = register_class_Latch_Strategy_StrategyInterface();
    consensus_ce = register_class_Latch_Strategy_ConsensusStrategy(php_latch_strategy_ce);
    unanimous_ce = register_class_Latch_Strategy_UnanimousStrategy(php_latch_strategy_ce);
}
