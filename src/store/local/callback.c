/*
 * Callback store: a function of the caller's carries requests out at once. So a combined store can
 * have members that are written in PHP.
 */
#include "src/engine/store.h"

typedef struct callback_store {
    latch_store store;
    latch_store_calls calls;
} callback_store;

static latch_status callback_open(latch_store *base, const latch_store_options *options,
                                  latch_error *error)
{
    if (options == NULL || options->calls == NULL) {
        return latch_fail(error, LATCH_ERROR_ARGUMENT, 0, "a callback store needs `calls`");
    }
    ((callback_store *) base)->calls = *options->calls;
    return LATCH_DONE;
}

static void callback_close(latch_store *base)
{
    const latch_store_calls *calls = &((callback_store *) base)->calls;

    if (calls->close != NULL) {
        calls->close(calls->context);
    }
}

static latch_status callback_begin(latch_op *op)
{
    const latch_store_calls *calls = &((callback_store *) op->lease->store)->calls;

    if (op->request.kind == LATCH_INSPECT) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0,
                          "this store cannot tell who holds a lock");
    }
    return calls->run(calls->context, op->lease, &op->request, op->error);
}

static const char *callback_renewal_unsupported_reason(const latch_store *store)
{
    (void) store;
    return "its requests are carried out by functions of its user's, which no other thread can "
           "call";
}

const latch_store_class latch_callback_store = {
    .info =
        {
            .name = "callback",
            .capabilities = LATCH_SHARED_LOCKS | LATCH_SERIALIZABLE,
        },
    .size = sizeof(callback_store),
    .open = callback_open,
    .close = callback_close,
    .begin = callback_begin,
    .may_hold_unknown = true,
    .renewal_unsupported_reason = callback_renewal_unsupported_reason,
};
