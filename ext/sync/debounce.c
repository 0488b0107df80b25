/* Latch\Debounce: of a burst of occurrences the last one; Latch\Occurrence: what is told to each.
 */
#include "ext/sync/sync.h"

#include "ext/php/errors.h"
#include "ext/php/interfaces.h"

#include "zend_exceptions.h"
#include "zend_interfaces.h"

#define NOUN "debounce"

/* As declared in stubs/sync.stub.php. */
enum { OCCURRENCE_TOKEN, OCCURRENCE_DELAY };

/* Runs a call with the TTL, the times of a burst if the function has them, and a token above 0. */
static void run_call(zval *object, const char *action, latch_function function, zend_long token,
                     size_t least, php_latch_sync_maker make, zval *return_value)
{
    const php_latch_sync *sync = php_latch_sync_of(Z_OBJ_P(object));
    php_latch_sync_task task = {
        .action = action,
        .noun = NOUN,
        .call = {.function = function},
        .least = least,
        .make = make,
        .context = return_value,
    };
    char digits[4][24];

    php_latch_sync_add_number(&task.call, digits[0], sync->ttl_ms);
    if (function != LATCH_DEBOUNCE_DONE) {
        php_latch_sync_add_number(&task.call, digits[1], sync->quiet_us);
        php_latch_sync_add_number(&task.call, digits[2], sync->max_us);
    }
    if (token > 0) {
        php_latch_sync_add_number(&task.call, digits[3], token);
    }
    php_latch_sync_run(sync, &task);
}

static void make_occurrence(void *context, const latch_answer *answer)
{
    zend_object *occurrence;
    zend_long delay_us = php_latch_sync_number(answer, 1);

    object_init_ex((zval *) context, php_latch_occurrence_ce);
    occurrence = Z_OBJ_P((zval *) context);
    ZVAL_LONG(OBJ_PROP_NUM(occurrence, OCCURRENCE_TOKEN), php_latch_sync_number(answer, 0));
    ZVAL_DOUBLE(OBJ_PROP_NUM(occurrence, OCCURRENCE_DELAY),
                delay_us > 0 ? (double) delay_us / 1e6 : 0);
}

PHP_METHOD(Latch_Debounce, register)
{
    ZEND_PARSE_PARAMETERS_NONE();
    run_call(ZEND_THIS, "register at", LATCH_DEBOUNCE_REGISTER, 0, 2, make_occurrence,
             return_value);
}

/* The methods of one token. */
static void call_with_token(INTERNAL_FUNCTION_PARAMETERS, const char *action,
                            latch_function function, size_t least, php_latch_sync_maker make)
{
    zend_long token;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_LONG(token)
    ZEND_PARSE_PARAMETERS_END();
    if (token <= 0) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, 1, "token",
                                 "must be a token that register() gave out, a number above 0");
        RETURN_THROWS();
    }
    run_call(ZEND_THIS, action, function, token, least, make, return_value);
}

static void make_nothing(void *context, const latch_answer *answer)
{
    (void) context;
    (void) answer;
}

PHP_METHOD(Latch_Debounce, sent)
{
    call_with_token(INTERNAL_FUNCTION_PARAM_PASSTHRU, "tell of a message to", LATCH_DEBOUNCE_SENT,
                    0, make_nothing);
}

PHP_METHOD(Latch_Debounce, resume)
{
    call_with_token(INTERNAL_FUNCTION_PARAM_PASSTHRU, "resume", LATCH_DEBOUNCE_RESUME, 2,
                    php_latch_sync_make_turn);
}

PHP_METHOD(Latch_Debounce, done)
{
    call_with_token(INTERNAL_FUNCTION_PARAM_PASSTHRU, "end an occurrence of", LATCH_DEBOUNCE_DONE,
                    0, make_nothing);
}

PHP_METHOD(Latch_Debounce, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
}

PHP_METHOD(Latch_Occurrence, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
}
