/* Inspection: how stores build the answers to LATCH_INSPECT and LATCH_LIST. */
#ifndef LATCH_INSPECTION_H
#define LATCH_INSPECTION_H

#include "src/base/base.h"

/* A new finding of that name and mode, in front of the list; NULL when memory ran out. */
latch_finding *latch_findings_add(const latch_engine *engine, latch_finding **findings,
                                  const char *name, latch_mode mode);
/* The same of a name that may have NUL bytes. */
latch_finding *latch_findings_add_named(const latch_engine *engine, latch_finding **findings,
                                        const char *name, size_t length, latch_mode mode);
/* Notes a holder, once; false when memory ran out. */
bool latch_finding_add_holder(const latch_engine *engine, latch_finding *finding, int64_t number);
/* A new holder in front of the others, with room for a text of that length; NULL: no memory. */
latch_holder *latch_finding_make_holder(const latch_engine *engine, latch_finding *finding,
                                        size_t text_length);

#endif
