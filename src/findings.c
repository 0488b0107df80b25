/* Findings: what LATCH_INSPECT and LATCH_LIST answer, as lists that the caller frees. */
#include "internal.h"

#include <string.h>

latch_finding *latch_findings_add(const latch_engine *engine, latch_finding **findings,
                                  const char *name, latch_mode mode)
{
    size_t size = strlen(name) + 1;
    latch_finding *finding = latch_allocate(engine, sizeof(*finding) + size);

    if (finding != NULL) {
        *finding = (latch_finding){.next = *findings, .mode = mode};
        memcpy(finding->name, name, size);
        *findings = finding;
    }
    return finding;
}

bool latch_finding_add_holder(const latch_engine *engine, latch_finding *finding, int64_t number)
{
    latch_holder *holder;

    for (holder = finding->holders; holder != NULL; holder = holder->next) {
        if (holder->number == number) {
            return true;
        }
    }
    holder = latch_allocate(engine, sizeof(*holder));
    if (holder == NULL) {
        return false;
    }
    *holder = (latch_holder){.next = finding->holders, .number = number};
    finding->holders = holder;
    return true;
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
