/*
 * Drain before close: stores flush what they still have to send (pending releases), for a second at
 * most. Stores that are closed together drain side by side, as each silent server would take the
 * whole second.
 */
#include "src/engine/store.h"

/* Time limit of the drain. */
#define LAST_ANSWERS_NS LATCH_NS_PER_S
/* Poll interval of a store whose descriptor found no room in `polled`. */
#define CHECK_INTERVAL_NS (5 * LATCH_NS_PER_MS)

typedef struct settlement {
    int64_t begun_ns, wake_ns;
    nfds_t count;
    struct pollfd polled[LATCH_DESCRIPTORS_MAX];
} settlement;

/* Takes one step of a store; false: done. */
static bool settle_store(settlement *all, latch_store *store, int64_t now_ns)
{
    latch_error ignored;
    latch_op op = {.error = &ignored, .fd = -1, .sent_ns = all->begun_ns, .wake_ns = LATCH_NEVER};
    latch_status status = store->class->settle != NULL ? store->class->settle(store, &op, now_ns)
                                                       : LATCH_DONE;

    if (!latch_wants(status)) {
        store->is_settled = true;
        return false;
    }
    if (status == LATCH_WANT_IO && all->count < LATCH_DESCRIPTORS_MAX) {
        all->polled[all->count++] = (struct pollfd){.fd = op.fd, .events = op.events};
    } else if (status == LATCH_WANT_IO) {
        op.wake_ns = now_ns + CHECK_INTERVAL_NS;
    }
    all->wake_ns = op.wake_ns < all->wake_ns ? op.wake_ns : all->wake_ns;
    return true;
}

static void settle_sleep(settlement *all, int64_t now_ns)
{
    int64_t left_ns = all->wake_ns > now_ns ? all->wake_ns - now_ns : 0;
    struct timespec left = {(time_t) (left_ns / LATCH_NS_PER_S), (long) (left_ns % LATCH_NS_PER_S)};

    ppoll(all->polled, all->count, &left, NULL);
}

void latch_stores_settle(latch_store *const *stores, size_t count)
{
    const latch_engine *engine = count > 0 ? stores[0]->engine : NULL;
    int64_t now_ns = count > 0 ? latch_engine_now_ns(engine) : 0;
    settlement all = {.begun_ns = now_ns};
    bool is_any = count > 0;

    while (is_any && now_ns < all.begun_ns + LAST_ANSWERS_NS) {
        is_any = false;
        all.count = 0;
        all.wake_ns = all.begun_ns + LAST_ANSWERS_NS;
        for (size_t at = 0; at < count; at++) {
            is_any |= !stores[at]->is_settled && settle_store(&all, stores[at], now_ns);
        }
        if (is_any) {
            settle_sleep(&all, now_ns);
        }
        now_ns = latch_engine_now_ns(engine);
    }
    for (size_t at = 0; at < count; at++) {
        stores[at]->is_settled = true;
    }
}
