/* Inspection: how stores build the answers to LATCH_INSPECT and LATCH_LIST. */
#ifndef LATCH_INSPECTION_H
#define LATCH_INSPECTION_H

#include "src/base/base.h"

/* Prepends a report of that name and mode to the list; NULL when memory ran out. */
latch_lock_report *latch_lock_reports_add(const latch_engine *engine, latch_lock_report **reports,
                                          const char *name, latch_mode mode);
/* The same, for a name with NUL bytes. */
latch_lock_report *latch_lock_reports_add_named(const latch_engine *engine,
                                                latch_lock_report **reports, const char *name,
                                                size_t length, latch_mode mode);
/* Adds a holder unless it is listed already; false when memory ran out. */
bool latch_lock_report_add_holder(const latch_engine *engine, latch_lock_report *report,
                                  int64_t number);
/* Prepends a holder with room for a text of that length; NULL when memory ran out. */
latch_holder *latch_lock_report_make_holder(const latch_engine *engine, latch_lock_report *report,
                                            size_t text_length);

#endif
