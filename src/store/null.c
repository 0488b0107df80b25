/* The store that locks nothing: every acquire succeeds, nothing is ever held (as Symfony's). */
#include "store.h"

static latch_status null_begin(latch_op *op)
{
    return op->request.kind == LATCH_PROBE ? LATCH_CONFLICT : LATCH_DONE;
}

static bool null_held(const latch_lease *lease)
{
    (void) lease;
    return false;
}

const latch_store_class latch_null_store = {
    .info =
        {
            .name = "null",
            .capabilities = LATCH_BLOCKING | LATCH_SHARED_LOCKS | LATCH_SERIALIZABLE
                            | LATCH_THREAD_SAFE,
        },
    .size = sizeof(latch_store),
    .begin = null_begin,
    .held = null_held,
};
