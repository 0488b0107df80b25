/*
 * PHP code that a CombinedStore calls: members written in PHP, and strategies of the user's.
 *
 * As in Symfony's, a member's \Exception is its failure. Any other end of a call (an Error, an
 * exit(), an exception of a strategy) ends the request: the strategy is not met any more, the
 * members that were acquired are released, and then the throw goes on.
 */
#include "ext/store/combined/combined.h"

#include "ext/key/key.h"
#include "ext/php/call.h"
#include "ext/php/interfaces.h"
#include "ext/php/poll_loop.h"
#include "ext/store/callback_store.h"

#include "zend_exceptions.h"
#include "zend_interfaces.h"

/* ---- Members -------------------------------------------------------------------------------- */

/* A call of a member's method. */
typedef struct member_call {
    zend_object *store;
    const php_latch_part *part;
    const latch_request *request;
    php_latch_outcome outcome;
} member_call;

/* The rest of the TTL: as in Symfony's, time that earlier members took is subtracted. */
static double rest_of_ttl(const member_call *call)
{
    return (double) call->request->ttl_ms / 1000
           - (double) (php_latch_now_ns() - call->part->begun_ns) / LATCH_NS_PER_S;
}

static void call_member(void *context)
{
    member_call *call = context;
    zend_object *store = call->store, *key = call->part->key;
    latch_op_kind kind = call->request->kind;
    bool exists = false;

    switch (kind) {
        case LATCH_ACQUIRE_SHARED:
            if (!instanceof_function(store->ce, php_latch_shared_store_ce)) {
                kind = LATCH_ACQUIRE;
            }
            /* fall through */
        case LATCH_ACQUIRE:
            call->outcome = php_latch_callback_acquire(store, key, kind, false, LATCH_NEVER, 0,
                                                       php_latch_store_call_inherits());
            break;
        case LATCH_REFRESH:
            call->outcome = php_latch_callback_refresh(store, key, rest_of_ttl(call));
            break;
        case LATCH_RELEASE:
            call->outcome = php_latch_callback_delete(store, key);
            break;
        default:
            call->outcome = php_latch_callback_exists(store, key, &exists);
            if (call->outcome.status == LATCH_DONE && !exists) {
                call->outcome.status = LATCH_CONFLICT;
            }
            break;
    }
}

/* Records the exception for the log. Ignores one of a later undo of the answer. */
static void record_failure(php_latch_part *part, latch_op_kind kind, zend_object *failure)
{
    zend_object **place = kind == LATCH_RELEASE ? &part->release_failure : &part->failure;

    if (failure != NULL && (*place != NULL || (kind != LATCH_RELEASE && part->is_asked))) {
        php_latch_object_release_deferred(failure);
    } else if (failure != NULL) {
        *place = failure;
    }
    part->is_asked = true;
}

static latch_status fail_member(latch_error *error, const char *message)
{
    *error = (latch_error){.status = LATCH_ERROR_SYSTEM};
    snprintf(error->message, sizeof(error->message), "%s", message);
    return error->status;
}

static latch_status run_called_member(void *context, latch_lease *lease,
                                      const latch_request *request, latch_error *error)
{
    zend_object **store = context;
    php_latch_part *part = lease->state;
    member_call call = {.store = *store, .part = part, .request = request};
    zend_object *thrown;

    if (part == NULL || part->key == NULL || call.store == NULL) {
        return fail_member(error, "the store is gone");
    }
    if (!php_latch_can_call()
        || (php_latch_has_deferred_throw() && request->kind != LATCH_RELEASE)) {
        return fail_member(error, "no PHP code can be called");
    }
    if (request->kind == LATCH_REFRESH && rest_of_ttl(&call) <= 0) {
        part->is_late = true;
        php_latch_key_reduce_lifetime(part->key, 0);
        return fail_member(error, "the time to live has passed");
    }
    thrown = php_latch_call(call_member, &call);
    if (thrown != NULL) {
        php_latch_defer_throw(thrown);
    }
    record_failure(part, request->kind, call.outcome.exception);
    if (thrown != NULL || LATCH_G(deferred_throw).bailed_out) {
        return fail_member(error, "the script is to end, or an error was thrown");
    }
    return latch_failed(call.outcome.status)
               ? fail_member(error, "the store has thrown an exception")
               : call.outcome.status;
}

static void close_called(void *context)
{
    pefree(context, 1);
}

php_latch_backend *php_latch_called_backend_open(zend_object *store, zend_object ***called)
{
    latch_store_calls calls = {.run = run_called_member, .close = close_called};
    const latch_store_options options = {.calls = &calls};
    php_latch_backend *backend;

    *called = pemalloc(sizeof(**called), 1);
    **called = store;
    calls.context = *called;
    backend = php_latch_backend_open(&php_latch_locks, "callback", &options);
    if (backend == NULL) {
        pefree(*called, 1);
    } else {
        backend->calls_php = true;
    }
    return backend;
}

/* ---- Strategies ----------------------------------------------------------------------------- */

/* A question to a strategy that is written in PHP. */
typedef struct strategy_question {
    zend_object *strategy;
    const char *method; /* in lower case */
    size_t number, members;
    bool answer;
} strategy_question;

static void call_strategy_method(void *context)
{
    strategy_question *question = context;
    zend_function *method = zend_hash_str_find_ptr(&question->strategy->ce->function_table,
                                                   question->method, strlen(question->method));
    zval arguments[2], answer;

    ZVAL_LONG(&arguments[0], (zend_long) question->number);
    ZVAL_LONG(&arguments[1], (zend_long) question->members);
    ZVAL_UNDEF(&answer);
    zend_call_known_instance_method(method, question->strategy, &answer, 2, arguments);
    question->answer = zend_is_true(&answer);
    zval_ptr_dtor(&answer);
}

static bool call_strategy(php_latch_combined_backend *combined, const char *method, size_t number,
                          size_t members)
{
    strategy_question question = {combined->strategy, method, number, members, false};
    zend_object *thrown;

    if (question.strategy == NULL || php_latch_has_deferred_throw() || !php_latch_can_call()) {
        return false;
    }
    thrown = php_latch_call(call_strategy_method, &question);
    if (thrown != NULL) {
        php_latch_defer_throw(thrown);
    }
    return question.answer && !php_latch_has_deferred_throw();
}

static bool is_met(void *context, size_t successes, size_t members)
{
    return call_strategy(context, "ismet", successes, members);
}

static bool can_be_met(void *context, size_t failures, size_t members)
{
    return call_strategy(context, "canbemet", failures, members);
}

static bool own_is_met(void *context, size_t successes, size_t members)
{
    const php_latch_combined_backend *combined = context;

    return !php_latch_has_deferred_throw() && combined->own->is_met(NULL, successes, members);
}

static bool own_can_be_met(void *context, size_t failures, size_t members)
{
    const php_latch_combined_backend *combined = context;

    return !php_latch_has_deferred_throw() && combined->own->can_be_met(NULL, failures, members);
}

latch_strategy php_latch_combined_strategy(php_latch_combined_backend *combined)
{
    if (!combined->calls_php) {
        return *combined->own;
    }
    if (combined->own != NULL) {
        return (latch_strategy){combined, own_is_met, own_can_be_met, true};
    }
    return (latch_strategy){combined, is_met, can_be_met, false};
}
