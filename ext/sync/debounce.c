/* Latch\Debounce: of a burst of occurrences the last one; and what is told of them. */
#include "ext/sync/sync.h"

/* As declared in stubs/sync.stub.php. */
enum { OCCURRENCE_TOKEN, OCCURRENCE_DELAY };
enum { TURN_STATE, TURN_RETRY_AFTER };

/* Texts of the numbers of a call. */
typedef struct call_digits {
    char ttl[24], quiet[24], max[24], token[24];
} call_digits;

/* (ttl_ms, quiet_us, max_us) */
static void add_times(latch_call *call, call_digits *digits, const php_latch_sync *sync)
{
    php_latch_sync_add_number(call, digits->ttl, sync->ttl_ms);
    php_latch_sync_add_number(call, digits->quiet, sync->quiet_us);
    php_latch_sync_add_number(call, digits->max, sync->max_us);
}

/* The only parameter; 0 after throwing. */
static zend_long parse_token(zend_execute_data *execute_data)
{
    zend_long token = 0;

    return zend_parse_parameters(ZEND_NUM_ARGS(), "l", &token) == SUCCESS
                   && php_latch_sync_check_ticket(token, "token")
               ? token
               : 0;
}

static void make_occurrence(void *context, const latch_answer *answer)
{
    enum { TOKEN, DELAY_US };
    zval *value = context;

    object_init_ex(value, php_latch_occurrence_ce);
    ZVAL_LONG(OBJ_PROP_NUM(Z_OBJ_P(value), OCCURRENCE_TOKEN), php_latch_sync_number(answer, TOKEN));
    ZVAL_DOUBLE(OBJ_PROP_NUM(Z_OBJ_P(value), OCCURRENCE_DELAY),
                (double) php_latch_sync_number(answer, DELAY_US) / 1e6);
}

PHP_METHOD(Latch_Debounce, register)
{
    php_latch_sync *sync = php_latch_sync_of(Z_OBJ_P(ZEND_THIS));
    php_latch_sync_task task =
        php_latch_sync_task_of(LATCH_DEBOUNCE_REGISTER, make_occurrence, return_value);
    call_digits digits;

    ZEND_PARSE_PARAMETERS_NONE();
    add_times(&task.call, &digits, sync);
    php_latch_sync_run(sync, &task);
}

PHP_METHOD(Latch_Debounce, sent)
{
    php_latch_sync *sync = php_latch_sync_of(Z_OBJ_P(ZEND_THIS));
    php_latch_sync_task task = php_latch_sync_task_of(LATCH_DEBOUNCE_SENT, NULL, return_value);
    zend_long token = parse_token(execute_data);
    call_digits digits;

    if (token == 0) {
        RETURN_THROWS();
    }
    add_times(&task.call, &digits, sync);
    php_latch_sync_add_number(&task.call, digits.token, token);
    php_latch_sync_run(sync, &task);
}

void php_latch_sync_make_turn(void *context, const latch_answer *answer)
{
    enum { STATE, RETRY_US };
    zval *value = context;

    object_init_ex(value, php_latch_turn_ce);
    ZVAL_STRINGL(OBJ_PROP_NUM(Z_OBJ_P(value), TURN_STATE), answer->parts[STATE].text,
                 answer->parts[STATE].length);
    ZVAL_DOUBLE(OBJ_PROP_NUM(Z_OBJ_P(value), TURN_RETRY_AFTER),
                (double) php_latch_sync_number(answer, RETRY_US) / 1e6);
}

PHP_METHOD(Latch_Debounce, resume)
{
    php_latch_sync *sync = php_latch_sync_of(Z_OBJ_P(ZEND_THIS));
    php_latch_sync_task task =
        php_latch_sync_task_of(LATCH_DEBOUNCE_RESUME, php_latch_sync_make_turn, return_value);
    zend_long token = parse_token(execute_data);
    call_digits digits;

    if (token == 0) {
        RETURN_THROWS();
    }
    add_times(&task.call, &digits, sync);
    php_latch_sync_add_number(&task.call, digits.token, token);
    php_latch_sync_run(sync, &task);
}

PHP_METHOD(Latch_Debounce, done)
{
    php_latch_sync *sync = php_latch_sync_of(Z_OBJ_P(ZEND_THIS));
    php_latch_sync_task task = php_latch_sync_task_of(LATCH_DEBOUNCE_DONE, NULL, return_value);
    zend_long token = parse_token(execute_data);
    call_digits digits;

    if (token == 0) {
        RETURN_THROWS();
    }
    php_latch_sync_add_number(&task.call, digits.ttl, sync->ttl_ms);
    php_latch_sync_add_number(&task.call, digits.token, token);
    php_latch_sync_run(sync, &task);
}

PHP_METHOD(Latch_Debounce, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
}

PHP_METHOD(Latch_Turn, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
}

PHP_METHOD(Latch_Occurrence, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
}
