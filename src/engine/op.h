/* Operations, beyond latch.h: for the stores that drive operations themselves. */
#ifndef LATCH_OP_H
#define LATCH_OP_H

#include "src/base/base.h"

static inline bool latch_op_acquires(const latch_op *op)
{
    return op->request.kind == LATCH_ACQUIRE || op->request.kind == LATCH_ACQUIRE_SHARED;
}

/* Describes in op->error the outage of an operation in flight. False: its store knows no outages.
 */
bool latch_op_outage(latch_op *op, int64_t now_ns);
/* latch_op_descriptors(), of `max` at most. */
size_t latch_op_list_descriptors(const latch_op *op, struct pollfd *descriptors, size_t max);

#endif
