/* Exceptions of Symfony's types and messages, for what the engine or a store answered. */
#include "ext/php/errors.h"

#include "ext/php/client_object.h"
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

zend_object *php_latch_new_failure(const php_latch_primitive *primitive, zend_class_entry *ce,
                                   zend_object *previous, const char *before, zend_string *resource,
                                   const char *after)
{
    zend_string *rest = strpprintf(0, "\" %s%s", primitive->noun, after);
    zend_object *exception =
        php_latch_new_exception(ce, previous, before, resource, ZSTR_VAL(rest));

    zend_string_release(rest);
    return exception;
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

php_latch_outcome php_latch_outcome_of_call(const php_latch_primitive *primitive)
{
    return php_latch_outcome_of_store_call(primitive->conflicted);
}

php_latch_outcome php_latch_outcome_of_store_call(const zend_class_entry *conflict)
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
    outcome.status = instanceof_function(exception->ce, conflict) ? LATCH_CONFLICT
                                                                  : LATCH_ERROR_SYSTEM;
    GC_ADDREF(exception);
    zend_clear_exception();
    outcome.exception = exception;
    return outcome;
}

php_latch_outcome php_latch_outcome_of_status(const php_latch_primitive *primitive,
                                              latch_status status, const latch_error *error,
                                              zend_string *resource)
{
    php_latch_outcome outcome = {.status = status};
    zend_class_entry *ce = primitive->storage;
    const char *before = "Failed to store the \"", *hint = "";
    char after[sizeof(error->message) + 128];

    if (!latch_failed(status)) {
        return outcome;
    }
    switch (status) {
        case LATCH_ERROR_ARGUMENT:
        case LATCH_ERROR_UNSUPPORTED:
            ce = primitive->invalid_argument;
            break;
        case LATCH_ERROR_DEADLOCK:
            ce = primitive->not_stored;
            before = "Failed to acquire the \"";
            hint = ", so that the wait would never end; release it first, or pass a timeout";
            break;
        case LATCH_ERROR_BUSY:
            ce = primitive->not_stored;
            break;
        case LATCH_ERROR_LOST:
            ce = primitive->expired;
            break;
        default:
            break;
    }
    snprintf(after, sizeof(after), ": %s%s.", error->message, hint);
    outcome.exception = php_latch_new_failure(primitive, ce, php_latch_client_failure_take(),
                                              before, resource, after);
    outcome.reason_at = (uint32_t) (strlen(before) + ZSTR_LEN(resource));
    return outcome;
}

/* Does the text begin with the noun, as behind a resource? Its length then; else 0. */
static size_t find_noun(const php_latch_primitive *primitive, const char *text)
{
    size_t length = strlen(primitive->noun);

    return strncmp(text, "\" ", 2) == 0 && strncmp(text + 2, primitive->noun, length) == 0
               ? 2 + length
               : 0;
}

const char *php_latch_reason(const php_latch_primitive *primitive, const php_latch_outcome *outcome,
                             const char *otherwise)
{
    const zval *message;
    size_t noun = 0;
    zval unused;

    if (outcome->exception == NULL || outcome->reason_at == 0) {
        return otherwise;
    }
    message = zend_read_property_ex(zend_ce_exception, outcome->exception,
                                    ZSTR_KNOWN(ZEND_STR_MESSAGE), 1, &unused);
    /* A logger may have changed it, or have thrown the exception itself. */
    if (Z_TYPE_P(message) == IS_STRING && Z_STRLEN_P(message) > outcome->reason_at) {
        noun = find_noun(primitive, Z_STRVAL_P(message) + outcome->reason_at);
    }
    return noun > 0 ? Z_STRVAL_P(message) + outcome->reason_at + noun : otherwise;
}

zend_object *php_latch_new_conflict(const php_latch_primitive *primitive, latch_op_kind kind,
                                    zend_string *resource, bool in_slots)
{
    bool is_refresh = kind == LATCH_REFRESH;
    const php_latch_message *message =
        in_slots     ? (is_refresh ? &primitive->slots_not_held : &primitive->slots_not_acquired)
        : is_refresh ? &primitive->not_held
                     : &primitive->not_acquired;

    return php_latch_new_exception(is_refresh ? primitive->lost : primitive->conflicted, NULL,
                                   message->before, resource, message->after);
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

/* Throws with Symfony's message. */
static bool check_permit_ttl(const php_latch_primitive *primitive, double ttl)
{
    if (isfinite(ttl) && ttl > 0) {
        return true;
    }
    zend_throw_exception_ex(primitive->invalid_ttl, 0, "The TTL should be %s, '%.*G' given.",
                            ttl > 0 ? "a finite number of seconds" : "greater than 0",
                            (int) EG(precision), ttl);
    return false;
}

bool php_latch_check_ttl(const php_latch_primitive *primitive, uint32_t number, double ttl)
{
    if (primitive->is_permit) {
        return check_permit_ttl(primitive, ttl);
    }
    if (isfinite(ttl) && ttl >= 0) {
        return true;
    }
    php_latch_throw_argument(primitive->invalid_ttl, number, primitive->ttl,
                             "must be a finite number of seconds, 0 or more");
    return false;
}

int64_t php_latch_ttl_ms(double ttl)
{
    double milliseconds = ceil(ttl * 1000);

    return milliseconds < (double) (INT64_MAX / 2) ? (int64_t) milliseconds : INT64_MAX / 2;
}
