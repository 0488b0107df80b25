/* What the objects of versions, throttles and the like share: their life, and their calls. */
#include "ext/sync/sync.h"

#include "ext/php/client_object.h"
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/php/poll_loop.h"
#include "ext/store/engine_store.h"

#include "zend_exceptions.h"

#include <math.h>

/* ---- Objects -------------------------------------------------------------------------------- */

static zend_object_handlers handlers;

zend_object *php_latch_sync_create(zend_class_entry *ce)
{
    php_latch_sync *sync = zend_object_alloc(sizeof(*sync), ce);

    memset(sync, 0, offsetof(php_latch_sync, std));
    zend_object_std_init(&sync->std, ce);
    object_properties_init(&sync->std, ce);
    sync->std.handlers = &handlers;
    return &sync->std;
}

php_latch_sync *php_latch_sync_of(zend_object *object)
{
    return LATCH_CONTAINER(object, php_latch_sync, std);
}

static void sync_free(zend_object *object)
{
    php_latch_sync *sync = php_latch_sync_of(object);

    if (sync->store != NULL) {
        OBJ_RELEASE(sync->store);
        sync->store = NULL;
    }
    if (sync->resource != NULL) {
        zend_string_release(sync->resource);
        sync->resource = NULL;
    }
    if (sync->owner != NULL) {
        zend_string_release(sync->owner);
        sync->owner = NULL;
    }
    zend_object_std_dtor(object);
}

static HashTable *sync_get_gc(zend_object *object, zval **table, int *count)
{
    zend_get_gc_buffer *buffer = zend_get_gc_buffer_create();

    if (php_latch_sync_of(object)->store != NULL) {
        zend_get_gc_buffer_add_obj(buffer, php_latch_sync_of(object)->store);
    }
    zend_get_gc_buffer_use(buffer, table, count);
    return NULL;
}

void php_latch_sync_startup(void)
{
    handlers = *zend_get_std_object_handlers();
    handlers.offset = offsetof(php_latch_sync, std);
    handlers.free_obj = sync_free;
    handlers.get_gc = sync_get_gc;
    handlers.clone_obj = NULL; /* a second object of the same resource makes no sense */
}

/* ---- Arguments and answers ------------------------------------------------------------------ */

void php_latch_sync_add(latch_call *call, const char *text, size_t length)
{
    call->arguments[call->count++] = (latch_bytes){text, length};
}

void php_latch_sync_add_number(latch_call *call, char digits[24], int64_t number)
{
    php_latch_sync_add(call, digits, (size_t) snprintf(digits, 24, "%lld", (long long) number));
}

void php_latch_sync_add_truth(latch_call *call, bool truth)
{
    php_latch_sync_add(call, truth ? "1" : "0", 1);
}

bool php_latch_sync_is(const latch_answer *answer, size_t part, const char *text)
{
    return strcmp(answer->parts[part].text, text) == 0;
}

zend_long php_latch_sync_number(const latch_answer *answer, size_t part)
{
    return ZEND_STRTOL(answer->parts[part].text, NULL, 10);
}

bool php_latch_sync_deadline(uint32_t number, double timeout, bool is_null, int64_t *deadline_ns)
{
    *deadline_ns = LATCH_NEVER;
    if (is_null) {
        return true;
    }
    if (isnan(timeout) || timeout < 0) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, number, "timeout",
                                 "must be a number of seconds, 0 or more");
        return false;
    }
    if (timeout < 1e9) { /* 32 years: for ever */
        *deadline_ns = php_latch_now_ns() + (int64_t) (timeout * 1e9);
    }
    return true;
}

/* ---- Calls ---------------------------------------------------------------------------------- */

/* By function: "Failed to ACTION the "RESOURCE" NOUN". */
static const struct {
    const char *action, *noun;
} calls[LATCH_FUNCTION_COUNT] = {
    [LATCH_VERSION_ADVANCE] = {"advance", "version"},
    [LATCH_VERSION_REVERT] = {"revert", "version"},
    [LATCH_VERSION_OUTDATED] = {"read", "version"},
    [LATCH_VERSION_GET] = {"read", "version"},
    [LATCH_THROTTLE_RESERVE] = {"acquire", "throttle"},
    [LATCH_THROTTLE_LOOK] = {"read", "throttle"},
    [LATCH_COUNT_DOWN_OPEN] = {"open", "count-down"},
    [LATCH_COUNT_DOWN_ARRIVE] = {"arrive at", "count-down"},
    [LATCH_COUNT_DOWN_DONE] = {"end", "count-down"},
    [LATCH_COUNT_DOWN_CANCEL] = {"cancel", "count-down"},
    [LATCH_COUNT_DOWN_STATE] = {"await", "count-down"},
    [LATCH_COUNT_DOWN_INSPECT] = {"inspect", "count-down"},
    [LATCH_SEQUENCE_ENTER] = {"enter", "sequence"},
    [LATCH_SEQUENCE_RESUME] = {"resume", "sequence"},
    [LATCH_SEQUENCE_NEXT] = {"advance", "sequence"},
    [LATCH_SEQUENCE_PUT_BACK] = {"put an entry back into", "sequence"},
    [LATCH_SEQUENCE_ABANDON] = {"abandon the head of", "sequence"},
    [LATCH_SEQUENCE_INSPECT] = {"inspect", "sequence"},
    [LATCH_DEBOUNCE_REGISTER] = {"register an occurrence of", "debounce"},
    [LATCH_DEBOUNCE_SENT] = {"count an occurrence of", "debounce"},
    [LATCH_DEBOUNCE_RESUME] = {"resume an occurrence of", "debounce"},
    [LATCH_DEBOUNCE_DONE] = {"end an occurrence of", "debounce"},
};

php_latch_sync_task php_latch_sync_task_of(latch_function function, php_latch_sync_maker make,
                                           void *context)
{
    return (php_latch_sync_task){
        .call = {.function = function},
        .make = make,
        .context = context,
    };
}

static void throw_of(zend_class_entry *ce, zend_object *previous, const char *before,
                     zend_string *resource, const char *after)
{
    zval exception;

    ZVAL_OBJ(&exception, php_latch_new_exception(ce, previous, before, resource, after));
    zend_throw_exception_object(&exception);
}

void php_latch_sync_throw(const php_latch_sync *sync, const char *rest)
{
    char after[256];

    snprintf(after, sizeof(after), "\" %s", rest);
    throw_of(php_latch_invalid_argument_ce, NULL, "The \"", sync->resource, after);
}

static void throw_call_failure(const php_latch_sync *sync, latch_function function,
                               const latch_error *error)
{
    bool is_argument = error->status == LATCH_ERROR_ARGUMENT
                       || error->status == LATCH_ERROR_UNSUPPORTED;
    char before[64], after[sizeof(error->message) + 64];

    snprintf(before, sizeof(before), "Failed to %s the \"", calls[function].action);
    snprintf(after, sizeof(after), "\" %s: %s.", calls[function].noun, error->message);
    throw_of(is_argument ? php_latch_invalid_argument_ce : php_latch_storage_ce,
             php_latch_client_failure_take(), before, sync->resource, after);
}

/* Makes the result, and frees the answer, whatever happens meanwhile. */
static void use_answer(const php_latch_sync_task *task)
{
    volatile bool bailed_out = false;

    zend_try
    {
        if (task->make != NULL) {
            task->make(task->context, task->call.answer);
        }
    }
    zend_catch
    {
        bailed_out = true;
    }
    zend_end_try();
    latch_answer_free(php_latch_engine, task->call.answer);
    if (bailed_out) {
        zend_bailout();
    }
}

bool php_latch_sync_run(const php_latch_sync *sync, php_latch_sync_task *task)
{
    const latch_request request = {
        .kind = LATCH_CALL,
        .call = &task->call,
        .wait = task->deadline_ns > 0,
        .deadline_ns = task->deadline_ns,
    };
    php_latch_backend *backend = php_latch_store_backend(sync->store);
    latch_status status;
    latch_lease lease;
    latch_error error;

    if (backend == NULL) {
        return false;
    }
    task->call.answer = NULL;
    latch_lease_init(&lease, backend->store, ZSTR_VAL(sync->resource), ZSTR_LEN(sync->resource));
    status = php_latch_run_request(&lease, &request, &error);
    latch_lease_drop(&lease);
    if (status == LATCH_DONE) {
        use_answer(task);
        return EG(exception) == NULL;
    }
    latch_answer_free(php_latch_engine, task->call.answer);
    if (latch_failed(status)) {
        throw_call_failure(sync, task->call.function, &error);
    }
    return status == LATCH_CONFLICT;
}
