/* Operations, beyond latch.h: for the stores that drive operations themselves. */
#ifndef LATCH_OP_H
#define LATCH_OP_H

#include "src/base/base.h"

/* Describes in op->error what the server of an operation in flight has failed to do. False: its
 * store cannot tell. */
bool latch_op_outage(latch_op *op, int64_t now_ns);
/* latch_op_descriptors(), of `max` at most. */
size_t latch_op_list_descriptors(const latch_op *op, struct pollfd *descriptors, size_t max);

#endif
