/* Kept leases in tests: see keeping.h. */
#include "keeping.h"

#include <stdatomic.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

latch_mailbox *unit_mailbox;
int64_t unit_begun_ns;

static _Atomic int notices;
static bool is_standing_in;

static void count_notice(void *context)
{
    (void) context;
    notices++;
}

int unit_open_mailbox(void)
{
    notices = 0;
    unit_mailbox = latch_mailbox_open(unit.engine, count_notice, NULL);
    return unit_mailbox != NULL ? 0 : -1;
}

void unit_close_mailbox(void)
{
    for (size_t at = 0; at < unit.lease_count; at++) {
        latch_lease_stop_renewal(&unit.leases[at]);
    }
    latch_mailbox_close(unit_mailbox);
    unit_dismiss_the_stand_in();
}

int unit_renewal_setup(void **state)
{
    return redis_store_setup(state) == 0 ? unit_open_mailbox() : -1;
}

int unit_renewal_teardown(void **state)
{
    unit_close_mailbox();
    return redis_store_teardown(state);
}

void unit_keep_as(latch_lease *lease, latch_renewal_spec spec)
{
    UNIT_CHECK(latch_lease_start_renewal(lease, unit_mailbox, &spec, &unit.error) == LATCH_DONE);
    UNIT_CHECK(lease->observed);
}

void unit_keep(latch_lease *lease)
{
    unit_keep_as(lease, (latch_renewal_spec) UNIT_KEEP);
}

void unit_expect_notices(int count)
{
    UNIT_CHECK(notices == count);
    notices = 0;
}

void unit_pass_ms(int64_t ms)
{
    const struct timespec time = {.tv_sec = (time_t) (ms / 1000),
                                  .tv_nsec = (long) (ms % 1000 * LATCH_NS_PER_MS)};

    nanosleep(&time, NULL);
}

latch_loss unit_await_loss(void)
{
    int64_t end_ns = unit_now_ns() + UNIT_TIMEOUT_NS;
    latch_loss loss = {.lease = NULL};

    while (notices == 0) {
        UNIT_CHECK(unit_now_ns() < end_ns);
        unit_pass_ms(1);
    }
    notices--;
    UNIT_CHECK(latch_mailbox_read(unit_mailbox, &loss));
    return loss;
}

void unit_expect_no_loss(void)
{
    latch_loss loss;

    UNIT_CHECK(!latch_mailbox_read(unit_mailbox, &loss));
    UNIT_CHECK(notices == 0);
}

void unit_expect_loss(latch_lease *lease, const char *reason)
{
    latch_loss loss;

    unit_expect_notices(1);
    UNIT_CHECK(latch_mailbox_read(unit_mailbox, &loss));
    UNIT_CHECK(loss.lease == lease);
    assert_string_equal(loss.reason, reason);
    UNIT_CHECK(!unit_held(lease));
    unit_expect_no_loss();
}

/* ---- What is known of a lease -----------------------------------------------------------------
 */

int64_t unit_deadline_of(latch_lease *lease)
{
    latch_lease_sync_deadline(lease, unit_now_ns());
    return lease->deadline_ns;
}

static unsigned count_failures(const latch_lease *lease, char *reason, size_t size)
{
    latch_renewer *renewer = unit.engine->renewer;
    unsigned failures = 0;

    pthread_mutex_lock(&renewer->mutex);
    for (latch_link *link = renewer->renewals.next; link != &renewer->renewals; link = link->next) {
        const latch_renewal *renewal = LATCH_CONTAINER(link, latch_renewal, link);

        if (renewal->lease == lease) {
            failures = renewal->failures;
            snprintf(reason, size, "%s", renewal->reason);
        }
    }
    pthread_mutex_unlock(&renewer->mutex);
    return failures;
}

const char *unit_await_failure(latch_lease *lease)
{
    static char reason[256];

    UNIT_AWAIT(count_failures(lease, reason, sizeof(reason)) > 0);
    UNIT_CHECK(unit_held(lease));
    return reason;
}

void unit_await_renewal(latch_lease *lease)
{
    int64_t deadline_ns = lease->deadline_ns;

    do {
        unit_pass_ms(1);
        UNIT_CHECK(unit_held(lease));
    } while (lease->deadline_ns == deadline_ns);
}

bool unit_is_renewing(void)
{
    latch_renewer *renewer = unit.engine->renewer;
    bool is_any = false;

    pthread_mutex_lock(&renewer->mutex);
    for (latch_link *link = renewer->renewals.next; link != &renewer->renewals; link = link->next) {
        is_any |= LATCH_CONTAINER(link, latch_renewal, link)->is_in_flight;
    }
    pthread_mutex_unlock(&renewer->mutex);
    return is_any;
}

/* ---- The thread's work ------------------------------------------------------------------------
 */

void unit_stand_in_for_the_thread(void)
{
    int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    UNIT_CHECK(wake >= 0);
    latch_descriptor_unregister(unit.engine, &unit.engine->renewer->wake);
    latch_descriptor_register(unit.engine, &unit.engine->renewer->wake, wake);
    is_standing_in = true;
}

void unit_dismiss_the_stand_in(void)
{
    if (is_standing_in) {
        latch_descriptor_close(unit.engine, &unit.engine->renewer->wake);
        is_standing_in = false;
    }
}

int unit_turns_setup(void **state)
{
    if (unit_setup_three(state) != 0 || unit_open_mailbox() != 0) {
        return -1;
    }
    unit_stand_in_for_the_thread();
    return 0;
}

int unit_turns_teardown(void **state)
{
    unit_close_mailbox();
    return unit_teardown_puppets(state);
}

void unit_turn(void)
{
    latch_renewer_run_once(unit.engine->renewer, false);
}

static int64_t next_run_ns(void)
{
    if (unit_is_woken()) {
        unit_turn();
    }
    return unit.engine->renewer->wake_ns;
}

void unit_next_turn(void)
{
    int64_t wake_ns = next_run_ns();

    UNIT_CHECK(wake_ns < LATCH_NEVER);
    UNIT_CHECK(wake_ns > unit.now_ns); /* it would never sleep */
    unit.now_ns = wake_ns;
    unit_turn();
}

int unit_turns_for(int64_t ms)
{
    int64_t end_ns = unit.now_ns + ms * LATCH_NS_PER_MS;
    int count = 0;

    while (next_run_ns() <= end_ns) {
        unit_next_turn();
        count++;
    }
    unit.now_ns = end_ns;
    return count;
}

bool unit_is_woken(void)
{
    uint64_t count;

    return read(unit.engine->renewer->wake.fd, &count, sizeof(count)) > 0;
}

latch_lease *unit_keep_held_as(latch_renewal_spec spec)
{
    latch_lease *lease = puppet_own_lease(0, "r");

    unit_keep_as(lease, spec);
    unit_begun_ns = unit_now_ns();
    UNIT_CHECK(puppet_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    return lease;
}

latch_lease *unit_keep_held(void)
{
    return unit_keep_held_as((latch_renewal_spec) UNIT_KEEP);
}

puppet_store *unit_clone(void)
{
    return puppet_clones[0];
}

int64_t unit_send_late(void)
{
    unit_clone()->late = true;
    unit_next_turn();
    UNIT_CHECK(unit_clone()->requests == 1);
    return unit.now_ns;
}

void unit_answer_now(puppet_answer answer)
{
    unit_clone()->answer = answer;
    unit_clone()->late = false;
    unit_turn();
}
