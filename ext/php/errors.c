/* Exceptions of Symfony's types and messages, for what the engine or a store answered. */
#include "ext/php/errors.h"

#include "ext/php/client_object.h"
#include "ext/php/interfaces.h"

#include "zend_exceptions.h"

#include <math.h>

zend_object *php_latch_new_exception(zend_class_entry *ce, zend_object *previous,
                                     const char *before, zend_string *resource, const char *after)
{
    zval exception, message;

    ZVAL_STR(&message, zend_string_concat3(before, strlen(before), ZSTR_VAL(resource),
                                           ZSTR_LEN(resource), after, strlen(after)));
    object_init_ex(&exception, ce);
    zend_update_property_ex(ce, Z_OBJ(exception), ZSTR_KNOWN(ZEND_STR_MESSAGE), &message);
    zval_ptr_dtor(&message);
    if (previous != NULL) {
        zend_exception_set_previous(Z_OBJ(exception), previous);
    }
    return Z_OBJ(exception);
}

bool php_latch_is_exit(const zend_object *thrown)
{
    return thrown != NULL && (zend_is_unwind_exit(thrown) || zend_is_graceful_exit(thrown));
}

void php_latch_chain_exceptions(zend_object *first, zend_object *second)
{
    bool second_goes_on = php_latch_is_exit(second) && !php_latch_is_exit(first);

    EG(exception) = second_goes_on ? second : first;
    if (second_goes_on) {
        OBJ_RELEASE(first); /* last: it may have a destructor */
    } else if (php_latch_is_exit(first)) {
        OBJ_RELEASE(second);
    } else {
        zend_exception_set_previous(first, second);
    }
}

php_latch_outcome php_latch_outcome_of_call(void)
{
    php_latch_outcome outcome = {.status = LATCH_DONE};
    zend_object *exception = EG(exception);

    if (exception == NULL) {
        return outcome;
    }
    if (!instanceof_function(exception->ce, zend_ce_exception)) {
        outcome.status = LATCH_INTERRUPTED;
        return outcome;
    }
    outcome.status = instanceof_function(exception->ce, php_latch_conflicted_ce)
                         ? LATCH_CONFLICT
                         : LATCH_ERROR_SYSTEM;
    GC_ADDREF(exception);
    zend_clear_exception();
    outcome.exception = exception;
    return outcome;
}

php_latch_outcome php_latch_outcome_of_status(latch_status status, const latch_error *error,
                                              zend_string *resource)
{
    php_latch_outcome outcome = {.status = status};
    zend_class_entry *ce = php_latch_storage_ce;
    const char *before = "Failed to store the \"", *hint = "";
    char after[sizeof(error->message) + 128];

    if (!latch_failed(status)) {
        return outcome;
    }
    switch (status) {
        case LATCH_ERROR_ARGUMENT:
        case LATCH_ERROR_UNSUPPORTED:
            ce = php_latch_invalid_argument_ce;
            break;
        case LATCH_ERROR_DEADLOCK:
            ce = php_latch_acquiring_ce;
            before = "Failed to acquire the \"";
            hint = ", so that the wait would never end; release it first, or pass a timeout";
            break;
        case LATCH_ERROR_BUSY:
            ce = php_latch_acquiring_ce;
            break;
        case LATCH_ERROR_LOST:
            ce = php_latch_expired_ce;
            break;
        default:
            break;
    }
    snprintf(after, sizeof(after), "\" lock: %s%s.", error->message, hint);
    outcome.exception =
        php_latch_new_exception(ce, php_latch_client_failure_take(), before, resource, after);
    outcome.reason_at = (uint32_t) (strlen(before) + ZSTR_LEN(resource));
    return outcome;
}

const char *php_latch_reason(const php_latch_outcome *outcome, const char *otherwise)
{
    static const char begin[] = "\" lock";
    const zval *message;
    zval unused;

    if (outcome->exception == NULL || outcome->reason_at == 0) {
        return otherwise;
    }
    message = zend_read_property_ex(zend_ce_exception, outcome->exception,
                                    ZSTR_KNOWN(ZEND_STR_MESSAGE), 1, &unused);
    /* A logger may have changed it, or have thrown the exception itself. */
    return Z_TYPE_P(message) == IS_STRING && Z_STRLEN_P(message) > outcome->reason_at
                   && strncmp(Z_STRVAL_P(message) + outcome->reason_at, begin, strlen(begin)) == 0
               ? Z_STRVAL_P(message) + outcome->reason_at
               : otherwise;
}

zend_object *php_latch_new_conflict(latch_op_kind kind, zend_string *resource)
{
    const char *after = "\" lock has another holder.";

    if (kind == LATCH_REFRESH) {
        after = "\" lock cannot be renewed: it is not held, or not any more; acquire it anew.";
    }
    return php_latch_new_exception(php_latch_conflicted_ce, NULL, "The \"", resource, after);
}

void php_latch_throw_outcome(php_latch_outcome *outcome)
{
    zval exception;

    if (outcome->status == LATCH_DONE || outcome->status == LATCH_INTERRUPTED) {
        return;
    }
    ZEND_ASSERT(outcome->exception != NULL);
    ZVAL_OBJ(&exception, outcome->exception);
    outcome->exception = NULL;
    zend_throw_exception_object(&exception);
}

void php_latch_outcome_free(php_latch_outcome *outcome)
{
    if (outcome->exception != NULL) {
        OBJ_RELEASE(outcome->exception);
        outcome->exception = NULL;
    }
}

void php_latch_warn_of_exception(void)
{
    zend_object *exception = EG(exception);
    zval unused, *message;

    GC_ADDREF(exception);
    zend_clear_exception();
    message = zend_read_property_ex(instanceof_function(exception->ce, zend_ce_exception)
                                        ? zend_ce_exception
                                        : zend_ce_error,
                                    exception, ZSTR_KNOWN(ZEND_STR_MESSAGE), 1, &unused);
    zend_error(E_WARNING, "Latch: %s",
               Z_TYPE_P(message) == IS_STRING && Z_STRLEN_P(message) > 0
                   ? Z_STRVAL_P(message)
                   : "Failed to release a lock");
    OBJ_RELEASE(exception);
    if (EG(exception) != NULL) { /* an error handler's */
        zend_clear_exception();
    }
}

void php_latch_throw_argument(zend_class_entry *ce, uint32_t number, const char *name,
                              const char *problem)
{
    zend_string *function = get_active_function_or_method_name();

    zend_throw_exception_ex(ce, 0, "%s(): Argument #%d ($%s) %s", ZSTR_VAL(function), (int) number,
                            name, problem);
    zend_string_release(function);
}

bool php_latch_check_ttl(uint32_t number, double ttl)
{
    if (isfinite(ttl) && ttl >= 0) {
        return true;
    }
    php_latch_throw_argument(php_latch_invalid_ttl_ce, number, "ttl",
                             "must be a finite number of seconds, 0 or more");
    return false;
}

int64_t php_latch_ttl_ms(double ttl)
{
    double milliseconds = ceil(ttl * 1000);

    return milliseconds < (double) (INT64_MAX / 2) ? (int64_t) milliseconds : INT64_MAX / 2;
}
