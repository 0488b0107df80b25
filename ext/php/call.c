/*
 * PHP code that the engine calls, in the middle of an operation: statements of database
 * connections, stores and strategies written in PHP.
 *
 * Deferred throw: the engine is above on the stack and cannot be left by longjmp(). So what ends a
 * script (a fatal error, exit()), or is no failure of the store (an Error), is kept until the
 * engine has returned: php_latch_rethrow_deferred().
 */
#include "ext/php/call.h"

#include "ext/php/client_object.h"
#include "ext/php/errors.h"

#include "zend_exceptions.h"

bool php_latch_can_call(void)
{
    return !LATCH_G(all_released) && !LATCH_G(deferred_throw).bailed_out
           && !php_latch_is_out_of_memory();
}

bool php_latch_has_deferred_throw(void)
{
    return LATCH_G(deferred_throw).thrown != NULL || LATCH_G(deferred_throw).bailed_out;
}

/* State of the operation that calls, saved from the operations that the called code begins. */
typedef struct call_surroundings {
    zend_execute_data frame; /* exceptions stop here */
    zend_object *exception;  /* pending, when a destructor releases */
    const zend_op *opline_before_exception;
    php_latch_deferred_throw deferred;
    zend_object *client_failure;
} call_surroundings;

static void enter_call(call_surroundings *around)
{
    around->exception = EG(exception);
    around->opline_before_exception = EG(opline_before_exception);
    EG(exception) = NULL;
    memset(&around->frame, 0, sizeof(around->frame));
    around->frame.func = (zend_function *) &zend_pass_function;
    around->frame.prev_execute_data = EG(current_execute_data);
    EG(current_execute_data) = &around->frame;

    around->deferred = LATCH_G(deferred_throw);
    LATCH_G(deferred_throw) = (php_latch_deferred_throw){NULL, false};
    around->client_failure = LATCH_G(client_failure);
    LATCH_G(client_failure) = NULL;
}

/* Returns what was thrown. */
static zend_object *leave_call(const call_surroundings *around, bool bailed_out)
{
    zend_object *thrown = EG(exception);

    EG(current_execute_data) = around->frame.prev_execute_data;
    EG(exception) = around->exception;
    EG(opline_before_exception) = around->opline_before_exception;

    LATCH_G(client_failure) = around->client_failure;
    LATCH_G(deferred_throw) = around->deferred;
    LATCH_G(deferred_throw).bailed_out |= bailed_out;
    return thrown;
}

zend_object *php_latch_call(void (*code)(void *context), void *context)
{
    volatile bool bailed_out = false;
    call_surroundings around;

    enter_call(&around);
    zend_try
    {
        code(context);
        php_latch_client_failure_clear(); /* of nested operations */
    }
    zend_catch
    {
        bailed_out = true;
    }
    zend_end_try();
    return leave_call(&around, bailed_out);
}

static void release_object(void *object)
{
    OBJ_RELEASE((zend_object *) object);
}

void php_latch_object_release_deferred(zend_object *object)
{
    zend_object *thrown = php_latch_call(release_object, object);

    if (thrown != NULL) {
        php_latch_defer_throw(thrown);
    }
}

void php_latch_defer_throw(zend_object *thrown)
{
    if (LATCH_G(deferred_throw).thrown == NULL) {
        LATCH_G(deferred_throw).thrown = thrown;
    } else {
        php_latch_object_release_deferred(thrown); /* the first one ends the call */
    }
}

/* ---- After the engine has returned ---------------------------------------------------------- */

/* Makes it the pending exception again, without the hooks of a new throw. */
static void throw_on(zend_object *thrown)
{
    zend_execute_data *frame = EG(current_execute_data);
    zend_object *pending = EG(exception);

    if (pending != NULL) {
        php_latch_chain_exceptions(thrown, pending);
    } else {
        EG(exception) = thrown;
    }
    if (EG(exception) == pending) {
        return;
    }
    if (frame->func != NULL && ZEND_USER_CODE(frame->func->common.type)
        && frame->opline->opcode != ZEND_HANDLE_EXCEPTION) {
        EG(opline_before_exception) = frame->opline;
        frame->opline = EG(exception_op);
    }
}

/* Warns where no PHP code runs any more that could catch it. */
static void warn_of(zend_object *thrown)
{
    zend_execute_data frame = {.func = (zend_function *) &zend_pass_function};

    EG(current_execute_data) = &frame;
    EG(exception) = thrown;
    if (php_latch_is_exit(thrown)) {
        zend_clear_exception();
    } else {
        php_latch_warn_of_exception();
    }
    EG(current_execute_data) = NULL;
}

latch_status php_latch_rethrow_deferred(latch_status status)
{
    php_latch_deferred_throw deferred = LATCH_G(deferred_throw);

    LATCH_G(deferred_throw) = (php_latch_deferred_throw){NULL, false};
    if (deferred.bailed_out) {
        zend_bailout();
    }
    if (!latch_failed(status)) {
        /* No exception follows that it could be the cause of; and its backtrace may refer to
           locks. */
        php_latch_client_failure_clear();
    }
    if (deferred.thrown == NULL) {
        return status;
    }
    if (EG(current_execute_data) != NULL) {
        throw_on(deferred.thrown);
    } else {
        warn_of(deferred.thrown);
    }
    return LATCH_INTERRUPTED;
}
