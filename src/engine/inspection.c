/* Lock reports: the answers to LATCH_INSPECT and LATCH_LIST, as lists that the caller frees. */
#include "src/engine/inspection.h"

#include <string.h>

latch_finding *latch_findings_add(const latch_engine *engine, latch_finding **findings,
                                  const char *name, latch_mode mode)
{
    return latch_findings_add_named(engine, findings, name, strlen(name), mode);
}

latch_finding *latch_findings_add_named(const latch_engine *engine, latch_finding **findings,
                                        const char *name, size_t length, latch_mode mode)
{
    latch_finding *finding = latch_allocate(engine, sizeof(*finding) + length + 1);

    if (finding != NULL) {
        *finding = (latch_finding){.next = *findings, .mode = mode, .name_length = length};
        memcpy(finding->name, name, length);
        finding->name[length] = '\0';
        *findings = finding;
    }
    return finding;
}

latch_holder *latch_finding_make_holder(const latch_engine *engine, latch_finding *finding,
                                        size_t text_length)
{
    latch_holder *holder = latch_allocate(engine, sizeof(*holder) + text_length + 1);

    if (holder != NULL) {
        *holder = (latch_holder){.next = finding->holders, .left_ms = LATCH_NEVER};
        holder->text[text_length] = '\0';
        finding->holders = holder;
    }
    return holder;
}

bool latch_finding_add_holder(const latch_engine *engine, latch_finding *finding, int64_t number)
{
    latch_holder *holder;

    for (holder = finding->holders; holder != NULL; holder = holder->next) {
        if (holder->number == number) {
            return true;
        }
    }
    holder = latch_finding_make_holder(engine, finding, 0);
    if (holder != NULL) {
        holder->number = number;
    }
    return holder != NULL;
}

void latch_findings_free(const latch_engine *engine, latch_finding *findings)
{
    while (findings != NULL) {
        latch_finding *next = findings->next;

        for (latch_holder *holder = findings->holders, *after; holder != NULL; holder = after) {
            after = holder->next;
            latch_free(engine, holder);
        }
        latch_free(engine, findings);
        findings = next;
    }
}
