/* Single slots: leases on the locks of permits, and what an inspection of them says. */
#include "src/store/slots/slots.h"

#include <stdio.h>
#include <string.h>

/* Bytes of "_" and a number, with a NUL. */
#define SUFFIX_SIZE 24

slot *latch_slot_make(const latch_lease *lease, int64_t number)
{
    const slots_store *store = (const slots_store *) lease->store;
    size_t length = lease->resource_length;
    slot *made = latch_allocate(store->store.engine, sizeof(*made) + length + SUFFIX_SIZE);

    if (made == NULL) {
        return NULL;
    }
    memcpy(made->name, lease->resource, length);
    length += (size_t) snprintf(made->name + length, SUFFIX_SIZE, "_%lld", (long long) number);
    made->next = NULL;
    made->number = number;
    latch_lease_init(&made->lease, store->locks, made->name, length);
    made->lease.inherit = lease->inherit;
    made->lease.pass_on = lease->pass_on;
    made->lease.remove = lease->remove;
    return made;
}

void latch_slot_free(slot *freed)
{
    latch_engine *engine = freed->lease.store->engine;

    latch_lease_drop(&freed->lease);
    latch_free(engine, freed);
}

/* ---- Inspection ------------------------------------------------------------------------------ */

static void merge_slot_holder(latch_lock_report *report, latch_holder *holder, bool has_info)
{
    for (latch_holder *known = report->holders; known != NULL && !has_info; known = known->next) {
        if (known->number == holder->number) {
            known->permits.weight++;
            holder->permits.weight = 0;
            return;
        }
    }
    holder->permits.weight = 1;
    report->holder_count++;
}

void latch_slots_merge(const latch_store *store, latch_lock_report *report,
                       latch_lock_report *found)
{
    bool has_info = (store->info->capabilities & LATCH_HOLDER_INFO) != 0;

    if (found->mode == LATCH_FREE) {
        return;
    }
    report->mode = LATCH_SHARED;
    report->permits_used++;
    for (latch_holder *holder = found->holders, *next; holder != NULL; holder = next) {
        next = holder->next;
        merge_slot_holder(report, holder, has_info);
        if (holder->permits.weight > 0) {
            holder->next = report->holders;
            report->holders = holder;
        } else {
            latch_free(store->engine, holder);
        }
    }
    found->holders = NULL;
}
