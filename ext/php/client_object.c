/* Calls of the methods of client objects: see client_object.h. */
#include "ext/php/client_object.h"

#include "zend_exceptions.h"
#include "zend_fibers.h"

#include <signal.h>

void php_latch_call_method(zend_object *object, const char *lower_name, zval *result,
                           uint32_t argument_count, zval *arguments)
{
    zend_function *method =
        zend_hash_str_find_ptr(&object->ce->function_table, lower_name, strlen(lower_name));

    ZVAL_UNDEF(result);
    if (method != NULL && EG(exception) == NULL) {
        zend_call_known_instance_method(method, object, result, argument_count, arguments);
    }
}

/* All signals but those of faults in the call itself. */
static void block_signals(sigset_t *before)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t blocked;

    sigfillset(&blocked);
    for (size_t at = 0; at < sizeof(faults) / sizeof(*faults); at++) {
        sigdelset(&blocked, faults[at]);
    }
    pthread_sigmask(SIG_BLOCK, &blocked, before);
}

bool php_latch_client_can_call(const php_latch_client *client)
{
    return !client->is_running && php_latch_can_call();
}

zend_object *php_latch_client_call(php_latch_client *client, void (*code)(void *context),
                                   void *context)
{
    zend_object *thrown;
    bool interrupt;
    sigset_t signals;

    client->is_running = true;
    block_signals(&signals);
    zend_fiber_switch_block();
    interrupt = zend_atomic_bool_load_ex(&EG(vm_interrupt));
    zend_atomic_bool_store_ex(&EG(vm_interrupt), false);
    thrown = php_latch_call(code, context);
    if (interrupt) {
        zend_atomic_bool_store_ex(&EG(vm_interrupt), true);
    }
    zend_fiber_switch_unblock();
    pthread_sigmask(SIG_SETMASK, &signals, NULL);
    client->is_running = false;
    return thrown;
}

void php_latch_client_call_quietly(php_latch_client *client, void (*code)(void *context),
                                   void *context)
{
    zend_object *thrown = php_latch_client_call(client, code, context);

    if (thrown != NULL) {
        php_latch_object_release_deferred(thrown);
    }
}

/* ---- Failures ------------------------------------------------------------------------------- */

void php_latch_client_failure_clear(void)
{
    zend_object *failure = LATCH_G(client_failure);

    LATCH_G(client_failure) = NULL;
    if (failure != NULL) {
        OBJ_RELEASE(failure);
    }
}

zend_object *php_latch_client_failure_take(void)
{
    zend_object *failure = LATCH_G(client_failure);

    LATCH_G(client_failure) = NULL;
    return failure;
}

void php_latch_client_failure_set(zend_object *exception)
{
    zend_object *before = php_latch_client_failure_take();

    LATCH_G(client_failure) = exception;
    if (before != NULL) {
        php_latch_object_release_deferred(before);
    }
}
