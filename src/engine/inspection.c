/* Lock reports: the answers to LATCH_INSPECT and LATCH_LIST, as lists that the caller frees. */
#include "src/engine/inspection.h"

#include <string.h>

latch_lock_report *latch_lock_reports_add(const latch_engine *engine, latch_lock_report **reports,
                                          const char *name, latch_mode mode)
{
    return latch_lock_reports_add_named(engine, reports, name, strlen(name), mode);
}

latch_lock_report *latch_lock_reports_add_named(const latch_engine *engine,
                                                latch_lock_report **reports, const char *name,
                                                size_t length, latch_mode mode)
{
    latch_lock_report *report = latch_allocate(engine, sizeof(*report) + length + 1);

    if (report != NULL) {
        *report = (latch_lock_report){.next = *reports, .mode = mode, .name_length = length};
        memcpy(report->name, name, length);
        report->name[length] = '\0';
        *reports = report;
    }
    return report;
}

latch_holder *latch_lock_report_make_holder(const latch_engine *engine, latch_lock_report *report,
                                            size_t text_length)
{
    latch_holder *holder = latch_allocate(engine, sizeof(*holder) + text_length + 1);

    if (holder != NULL) {
        *holder = (latch_holder){.next = report->holders, .left_ms = LATCH_NEVER};
        holder->text[text_length] = '\0';
        report->holders = holder;
    }
    return holder;
}

bool latch_lock_report_add_holder(const latch_engine *engine, latch_lock_report *report,
                                  int64_t number)
{
    latch_holder *holder;

    for (holder = report->holders; holder != NULL; holder = holder->next) {
        if (holder->number == number) {
            return true;
        }
    }
    holder = latch_lock_report_make_holder(engine, report, 0);
    if (holder != NULL) {
        holder->number = number;
    }
    return holder != NULL;
}

void latch_lock_reports_free(const latch_engine *engine, latch_lock_report *reports)
{
    while (reports != NULL) {
        latch_lock_report *next = reports->next;

        for (latch_holder *holder = reports->holders, *after; holder != NULL; holder = after) {
            after = holder->next;
            latch_free(engine, holder);
        }
        latch_free(engine, reports);
        reports = next;
    }
}
