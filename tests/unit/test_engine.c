/* The engine: its environment, its errors, and what a fork does to its descriptors. */
#include "src/engine/store.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static void an_engine_works_on_a_copy_of_its_environment(void **state)
{
    (void) state;
    memset(&unit.env, 0, sizeof(unit.env));
    assert_int_equal(latch_engine_now_ns(unit.engine), unit.now_ns);
    assert_int_equal(latch_engine_wall_ns(unit.engine), unit.wall_ns);
}

static void an_engine_without_memory_is_an_error(void **state)
{
    (void) state;
    unit.fail_at = unit.allocations + 1;
    assert_null(latch_engine_create(&unit.env, &unit.error));
    assert_int_equal(unit.error.status, LATCH_ERROR_MEMORY);
    assert_int_equal(unit.error.sys_errno, 0);
    assert_string_equal(unit.error.message, "out of memory");
}

static void the_systems_environment_is_complete_but_for_the_digest(void **state)
{
    latch_env env = latch_env_system();
    uint8_t one[4096] = {0}, two[4096] = {0}, zero[32] = {0};
    int64_t before_ns, wall_ns;
    void *block;

    (void) state;
    assert_null(env.digest);
    block = env.allocate(env.context, 10);
    assert_non_null(block);
    env.deallocate(env.context, block);
    env.deallocate(env.context, NULL);
    before_ns = env.monotonic_ns(env.context);
    assert_true(env.monotonic_ns(env.context) >= before_ns);
    before_ns = env.coarse_ns(env.context);
    assert_true(before_ns > 0);
    assert_true(env.coarse_ns(env.context) >= before_ns);
    wall_ns = env.wall_ns(env.context);
    assert_true(wall_ns / LATCH_NS_PER_S > 1700000000); /* 2023 */
    assert_true(wall_ns / LATCH_NS_PER_S < INT64_C(7000000000));
    assert_true(env.random(env.context, one, sizeof(one)));
    assert_true(env.random(env.context, two, sizeof(two)));
    assert_memory_not_equal(one, two, sizeof(one));
    assert_memory_not_equal(one + sizeof(one) - 32, zero, 32); /* filled to its end */
    assert_true(env.random(env.context, zero, 0));
    assert_memory_equal(zero, (uint8_t[32]){0}, 32);
}

static void a_long_message_is_cut_off_within_its_bounds(void **state)
{
    char text[1000];

    (void) state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(latch_fail(&unit.error, LATCH_ERROR_SYSTEM, ENOENT, "%s", text),
                     LATCH_ERROR_SYSTEM);
    assert_int_equal(strlen(unit.error.message), sizeof(unit.error.message) - 1);
    assert_int_equal(unit.error.sys_errno, ENOENT);
    assert_int_equal(unit.error.status, LATCH_ERROR_SYSTEM);
}

static void links_make_a_list_that_keeps_its_order(void **state)
{
    latch_link head, links[3];

    (void) state;
    latch_list_init(&head);
    for (int at = 0; at < 3; at++) {
        latch_list_append(&head, &links[at]);
    }
    latch_list_remove(&links[1]);
    assert_ptr_equal(head.next, &links[0]);
    assert_ptr_equal(links[0].next, &links[2]);
    assert_ptr_equal(links[2].previous, &links[0]);
    assert_ptr_equal(head.previous, &links[2]);
    latch_list_remove(&links[0]);
    latch_list_remove(&links[2]);
    assert_ptr_equal(head.next, &head);
    assert_ptr_equal(head.previous, &head);
}

/* ---- Fork ----------------------------------------------------------------------------------- */

static int open_null(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    return fd;
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

typedef struct forked {
    latch_descriptor ordinary, inherited, closed;
    int fds[3];
} forked;

static void check_in_child(unit_process *self, void *argument)
{
    forked *all = argument;

    (void) self;
    UNIT_CHECK(!is_open(all->fds[0]));
    UNIT_CHECK(all->ordinary.fd == -1);
    UNIT_CHECK(is_open(all->fds[1]));
    UNIT_CHECK(all->inherited.fd == all->fds[1]);
    UNIT_CHECK(latch_engine_generation(unit.engine) == 1);
    latch_descriptor_close(unit.engine, &all->ordinary); /* closed by the fork: harmless */
    latch_descriptor_close(unit.engine, &all->inherited);
    UNIT_CHECK(!is_open(all->fds[1]));
    UNIT_CHECK(unit.engine->descriptors.list.next == &unit.engine->descriptors.list);
}

static void a_child_has_only_the_descriptors_that_it_inherits(void **state)
{
    forked all;
    unit_process child;

    (void) state;
    latch_descriptor_register(unit.engine, &all.ordinary, all.fds[0] = open_null());
    latch_descriptor_register(unit.engine, &all.inherited, all.fds[1] = open_null());
    latch_descriptor_register(unit.engine, &all.closed, all.fds[2] = open_null());
    assert_false(all.ordinary.inherit); /* unless its owner says otherwise */
    all.inherited.inherit = true;
    latch_descriptor_close(unit.engine, &all.closed);
    assert_int_equal(all.closed.fd, -1);
    assert_false(is_open(all.fds[2]));

    child = unit_fork(check_in_child, &all);
    unit_join(&child);
    assert_true(is_open(all.fds[0]));
    assert_true(is_open(all.fds[1]));
    assert_int_equal(latch_engine_generation(unit.engine), 0);
    latch_descriptor_close(unit.engine, &all.ordinary);
    latch_descriptor_close(unit.engine, &all.inherited);
}

static void check_grandchild(unit_process *self, void *expected)
{
    (void) self;
    UNIT_CHECK(latch_engine_generation(unit.engine) == *(unsigned *) expected);
}

static void fork_again(unit_process *self, void *unused)
{
    unsigned expected = 2;
    unit_process child;

    (void) self;
    (void) unused;
    child = unit_fork(check_grandchild, &expected);
    unit_join(&child);
    child = unit_fork(check_grandchild, &expected);
    unit_join(&child);
    UNIT_CHECK(latch_engine_generation(unit.engine) == 1);
}

static void each_fork_is_a_generation(void **state)
{
    unit_process child;

    (void) state;
    assert_int_equal(latch_engine_generation(unit.engine), 0);
    child = unit_fork(fork_again, NULL);
    unit_join(&child);
    assert_int_equal(latch_engine_generation(unit.engine), 0);
}

static void a_child_whose_descriptor_number_is_used_again_closes_nothing_foreign(void **state)
{
    latch_descriptor descriptor;
    int fd = open_null(), again;

    (void) state;
    latch_descriptor_register(unit.engine, &descriptor, fd);
    latch_engine_before_fork(unit.engine);
    latch_engine_after_fork_in_child(unit.engine); /* as if this process were one */
    assert_false(is_open(fd));
    again = open_null();
    assert_int_equal(again, fd);
    latch_descriptor_close(unit.engine, &descriptor);
    assert_true(is_open(again));
    close(again);
}

typedef struct hooked {
    latch_fork_hook hook;
    int before, after;
} hooked;

static void count_before(latch_fork_hook *hook)
{
    LATCH_CONTAINER(hook, hooked, hook)->before++;
}

static void count_after(latch_fork_hook *hook)
{
    hooked *all = LATCH_CONTAINER(hook, hooked, hook);

    UNIT_CHECK(all->before == ++all->after);
}

static void check_hooks_in_child(unit_process *self, void *argument)
{
    hooked *all = argument;

    (void) self;
    for (size_t at = 0; at < 2; at++) {
        UNIT_CHECK(all[at].before == 1 && all[at].after == 1);
        latch_fork_hook_remove(unit.engine, &all[at].hook);
    }
}

static void hooks_are_called_around_a_fork(void **state)
{
    hooked all[2] = {{.hook = {.before = count_before, .after = count_after}},
                     {.hook = {.before = count_before, .after = count_after}}};
    unit_process child;

    (void) state;
    latch_fork_hook_add(unit.engine, &all[0].hook);
    latch_fork_hook_add(unit.engine, &all[1].hook);
    child = unit_fork(check_hooks_in_child, all);
    unit_join(&child);
    assert_true(all[0].after == 1 && all[1].after == 1);
    latch_fork_hook_remove(unit.engine, &all[0].hook);
    child = unit_fork(check_grandchild, &(unsigned){1});
    unit_join(&child);
    assert_true(all[0].before == 1 && all[0].after == 1);
    assert_true(all[1].before == 2 && all[1].after == 2);
    latch_fork_hook_remove(unit.engine, &all[1].hook);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(an_engine_works_on_a_copy_of_its_environment, setup),
        UNIT_TEST(an_engine_without_memory_is_an_error, setup),
        UNIT_TEST(the_systems_environment_is_complete_but_for_the_digest, setup),
        UNIT_TEST(a_long_message_is_cut_off_within_its_bounds, setup),
        UNIT_TEST(links_make_a_list_that_keeps_its_order, setup),
        UNIT_TEST(a_child_has_only_the_descriptors_that_it_inherits, setup),
        UNIT_TEST(each_fork_is_a_generation, setup),
        UNIT_TEST(hooks_are_called_around_a_fork, setup),
        UNIT_TEST(a_child_whose_descriptor_number_is_used_again_closes_nothing_foreign, setup),
    };

    return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
