/* Null object: every acquire succeeds, nothing is ever held (as Symfony's NullStore). */
#include "src/engine/store.h"

static latch_status null_begin(latch_op *op)
{
    if (op->request.kind == LATCH_INSPECT) {
        return latch_lock_reports_add(op->lease->store->engine, op->request.reports, "", LATCH_FREE)
                       != NULL
                   ? LATCH_DONE
                   : latch_fail_memory(op->error);
    }
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
            .title = "nothing",
            .capabilities = LATCH_BLOCKING | LATCH_SHARED_LOCKS | LATCH_SERIALIZABLE,
        },
    .size = sizeof(latch_store),
    .begin = null_begin,
    .held = null_held,
};
