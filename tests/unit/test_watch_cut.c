/*
 * A session whose network is cut: in a network of this process's own, where nobody else is. It is
 * silence that tells, which takes its time.
 */
#include "postgresql_store.h"
#include "watches.h"

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void switch_loopback(bool on)
{
    struct ifreq request = {.ifr_name = "lo"};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    UNIT_CHECK(fd >= 0 && ioctl(fd, SIOCGIFFLAGS, &request) == 0);
    request.ifr_flags = (short) (on ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP);
    UNIT_CHECK(ioctl(fd, SIOCSIFFLAGS, &request) == 0);
    close(fd);
}

static int group_setup(void **state)
{
    if (geteuid() != 0) {
        return 0; /* nobody else may have a network */
    }
    UNIT_CHECK(unshare(CLONE_NEWNET) == 0);
    switch_loopback(true);
    return unit_postgresql_group_setup(state);
}

static int group_teardown(void **state)
{
    return geteuid() != 0 ? 0 : unit_postgresql_group_teardown(state);
}

static int setup(void **state)
{
    return geteuid() != 0 ? 0 : postgresql_store_setup(state);
}

static int teardown(void **state)
{
    return geteuid() != 0 ? 0 : postgresql_store_teardown(state);
}

/* Its administrator is connected by a Unix socket. */
static void a_cut_network_is_known_while_the_server_still_keeps_the_lock(void **state)
{
    latch_lease *lease;
    latch_watch watch;

    (void) state;
    if (geteuid() != 0) {
        skip();
    }
    lease = postgresql_lease("r");
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_watch_begin(&watch, lease));
    switch_loopback(false);
    unit_watch_await(&watch);
    UNIT_CHECK(unit_postgresql_count_held() == 1);
    UNIT_CHECK(!unit_held(lease));
    unit_watch_end(&watch);
    switch_loopback(true);
    unit_postgresql_end_sessions();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_cut_network_is_known_while_the_server_still_keeps_the_lock, setup, teardown),
    };

    return cmocka_run_group_tests_name("watch cut", tests, group_setup, group_teardown);
}
