/* What the renewal thread does with a watch, with and without it: see watches.h. */
#include "watches.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static latch_mailbox *mailbox;
static int bell; /* rings for each loss */

bool unit_watch_begin(latch_watch *watch, const latch_lease *lease)
{
    *watch = (latch_watch){.state = NULL};
    return lease->store->class->watch(lease, watch);
}

void unit_watch_end(latch_watch *watch)
{
    if (watch->end != NULL) {
        watch->end(unit.engine, watch->state);
    } else {
        latch_free(unit.engine, watch->state);
    }
    *watch = (latch_watch){.state = NULL};
}

static bool has_ended(const latch_watch *watch, int timeout_ms)
{
    struct pollfd descriptor = {.fd = watch->descriptor->fd, .events = POLLRDHUP};

    return poll(&descriptor, 1, timeout_ms) == 1
           && (descriptor.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

bool unit_watch_tells(const latch_watch *watch)
{
    return watch->is_gone != NULL ? watch->is_gone(watch) : has_ended(watch, 0);
}

void unit_watch_await(const latch_watch *watch)
{
    UNIT_CHECK(watch->is_gone == NULL);
    UNIT_CHECK(has_ended(watch, UNIT_TIMEOUT_NS / LATCH_NS_PER_MS));
}

/* ---- Tests of any store */

void what_is_not_held_is_not_watched(void **state)
{
    latch_lease *lease = &unit.leases[0];
    latch_watch watch;

    (void) state;
    UNIT_CHECK(!unit_watch_begin(&watch, lease));
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    UNIT_CHECK(!unit_watch_begin(&watch, lease));
}

static void watch_in_child(unit_process *self, void *lease)
{
    latch_watch own;

    (void) self;
    UNIT_CHECK(!unit_watch_begin(&own, lease));
}

void a_child_watches_nothing_of_its_parents(void **state)
{
    latch_lease *lease = &unit.leases[0];
    unit_process child;
    latch_watch watch;

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_watch_begin(&watch, lease));
    child = unit_fork(watch_in_child, lease);
    unit_join(&child);
    UNIT_CHECK(!unit_watch_tells(&watch));
    unit_watch_end(&watch);
}

void a_watch_does_without_memory(void **state)
{
    latch_lease *lease = &unit.leases[0];
    latch_watch watch;

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit.fail_at = unit.allocations + 1;
    UNIT_CHECK(!unit_watch_begin(&watch, lease));
    UNIT_CHECK(unit_held(lease) && unit_run(lease, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(unit_watch_begin(&watch, lease));
    unit_watch_end(&watch);
}

/* ---- The renewal thread */

static void ring(void *context)
{
    (void) context;
    eventfd_write(bell, 1);
}

void unit_losses_open(void)
{
    bell = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    UNIT_CHECK(bell >= 0);
    mailbox = latch_mailbox_open(unit.engine, ring, NULL);
    UNIT_CHECK(mailbox != NULL);
}

void unit_losses_close(void)
{
    while (unit.lease_count > 0) {
        latch_lease_drop(&unit.leases[--unit.lease_count]);
    }
    latch_mailbox_close(mailbox);
    close(bell);
}

void unit_losses_keep(latch_lease *lease)
{
    const latch_renewal_spec spec = {.renew = true};

    UNIT_CHECK(latch_lease_start_renewal(lease, mailbox, &spec, &unit.error) == LATCH_DONE);
}

void unit_losses_expect(latch_lease *lease)
{
    struct pollfd descriptor = {.fd = bell, .events = POLLIN};
    latch_loss loss = {.lease = NULL};
    eventfd_t count;

    do { /* it rang for nothing where a lost lease was acquired anew, or released */
        UNIT_CHECK(poll(&descriptor, 1, UNIT_TIMEOUT_NS / LATCH_NS_PER_MS) == 1);
        UNIT_CHECK(eventfd_read(bell, &count) == 0);
    } while (!latch_mailbox_read(mailbox, &loss));
    UNIT_CHECK(loss.lease == lease && loss.reason[0] != '\0');
    UNIT_CHECK(!unit_held(lease));
}
