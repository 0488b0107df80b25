/*
 * PHP code that the engine calls, in the middle of an operation: statements of database
 * connections, stores and strategies that are written in PHP.
 *
 * The engine stands above on the stack and cannot be left by longjmp(). So what ends a script (a
 * fatal error, exit()) or is no matter of the store (an Error) is put aside until the engine has
 * returned: php_latch_end_calls().
 */
#include "ext/php_latch.h"

#include "zend_exceptions.h"

bool php_latch_can_call(void)
{
    return !LATCH_G(all_released) && !LATCH_G(aside).bailed_out && !php_latch_is_out_of_memory();
}

bool php_latch_is_put_aside(void)
{
    return LATCH_G(aside).thrown != NULL || LATCH_G(aside).bailed_out;
}

/* What belongs to the operation that calls, and not to those that the called code begins. */
typedef struct call_surroundings {
    zend_execute_data frame; /* exceptions stop here */
    zend_object *exception;  /* pending, when a destructor releases */
    const zend_op *opline_before_exception;
    php_latch_aside aside;
    zend_object *client_failure;
} call_surroundings;

static void enter(call_surroundings *around)
{
    around->exception = EG(exception);
    around->opline_before_exception = EG(opline_before_exception);
    EG(exception) = NULL;
    memset(&around->frame, 0, sizeof(around->frame));
    around->frame.func = (zend_function *) &zend_pass_function;
    around->frame.prev_execute_data = EG(current_execute_data);
    EG(current_execute_data) = &around->frame;

    around->aside = LATCH_G(aside);
    LATCH_G(aside) = (php_latch_aside){NULL, false};
    around->client_failure = LATCH_G(client_failure);
    LATCH_G(client_failure) = NULL;
}

/* Returns what was thrown. */
static zend_object *leave(const call_surroundings *around, bool bailed_out)
{
    zend_object *thrown = EG(exception);

    EG(current_execute_data) = around->frame.prev_execute_data;
    EG(exception) = around->exception;
    EG(opline_before_exception) = around->opline_before_exception;

    LATCH_G(client_failure) = around->client_failure;
    LATCH_G(aside) = around->aside;
    LATCH_G(aside).bailed_out |= bailed_out;
    return thrown;
}

zend_object *php_latch_call(void (*code)(void *context), void *context)
{
    volatile bool bailed_out = false;
    call_surroundings around;

    enter(&around);
    zend_try
    {
        code(context);
        php_latch_forget_client_failure(); /* of operations within */
    }
    zend_catch
    {
        bailed_out = true;
    }
    zend_end_try();
    return leave(&around, bailed_out);
}

static void release(void *object)
{
    OBJ_RELEASE((zend_object *) object);
}

void php_latch_let_go(zend_object *object)
{
    zend_object *thrown = php_latch_call(release, object);

    if (thrown != NULL) {
        php_latch_put_aside(thrown);
    }
}

void php_latch_put_aside(zend_object *thrown)
{
    if (LATCH_G(aside).thrown == NULL) {
        LATCH_G(aside).thrown = thrown;
    } else {
        php_latch_let_go(thrown); /* one is enough to end the call */
    }
}

/* ---- After the engine has returned ---------------------------------------------------------- */

/* It was thrown before: nobody need be told of it anew. */
static void rethrow(zend_object *thrown)
{
    zend_execute_data *frame = EG(current_execute_data);
    zend_object *pending = EG(exception);

    if (pending != NULL) {
        php_latch_join_thrown(thrown, pending);
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

/* Where no PHP code runs any more that it could be thrown to. */
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

latch_status php_latch_end_calls(latch_status status)
{
    php_latch_aside aside = LATCH_G(aside);

    LATCH_G(aside) = (php_latch_aside){NULL, false};
    if (aside.bailed_out) {
        zend_bailout();
    }
    if (!latch_failed(status)) {
        /* Nobody is told of it; and it holds on to whatever was passed to its callers: locks, too.
         */
        php_latch_forget_client_failure();
    }
    if (aside.thrown == NULL) {
        return status;
    }
    if (EG(current_execute_data) != NULL) {
        rethrow(aside.thrown);
    } else {
        warn_of(aside.thrown);
    }
    return LATCH_INTERRUPTED;
}
