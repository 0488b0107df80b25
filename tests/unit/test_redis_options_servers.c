/* What a DSN for Redis asks for that names several servers: Sentinels of a master, or a cluster. */
#include "redis_dsn.h"

static void several_are_sentinels_of_a_master(void **state)
{
    static const char *const names[] = {"sentinel", "redis_sentinel", "sentinel_master"};
    char text[200], many[700] = "redis:?sentinel=m";
    redis_options options =
        parse("redis://A:1?host[b:2]&timeout=1&host[[::1]:3]&host[/run/s:]&sentinel=my-master");

    (void) state;
    assert_int_equal(options.place_count, 4);
    assert_string_equal(options.address, "a:1, b:2, [::1]:3, /run/s");
    assert_string_equal(options.places[0].address, "a:1");
    assert_string_equal(options.places[1].host, "b");
    assert_int_equal(options.places[1].port, 2);
    assert_string_equal(options.places[2].host, "::1");
    assert_string_equal(options.places[3].path, "/run/s");
    assert_null(options.places[3].host);
    assert_string_equal(options.sentinel, "my-master");
    discard(&options);
    for (size_t at = 0; at < sizeof(names) / sizeof(*names); at++) {
        snprintf(text, sizeof(text), "redis://h:26379?%s=m", names[at]);
        options = parse(text);
        assert_int_equal(options.place_count, 1); /* one is enough */
        assert_string_equal(options.sentinel, "m");
        discard(&options);
    }
    options = parse("redis://h?sentinel=m"); /* as Symfony has it */
    assert_int_equal(options.places[0].port, 6379);
    discard(&options);
    options = parse("redis://h");
    assert_null(options.sentinel);
    discard(&options);
    refuse("redis://h?sentinel=my+master", "the option \"sentinel\" is the name of a master");
    refuse("redis://h?sentinel=a%0Ab", "the option \"sentinel\" is the name of a master");
    refuse("redis://h?sentinel[]=a", "the option \"sentinel\" has one value and no brackets");
    for (int at = 0; at < 32; at++) {
        snprintf(many + strlen(many), sizeof(many) - strlen(many), "&host[h%d]", at);
    }
    accept(many);
    refuse(strcat(many, "&host[i]"), "it names more than 32 servers");
}

static void expect_logins(const char *text, const char *user, const char *password,
                          const char *sentinel_user, const char *sentinel_password)
{
    redis_options options = parse(text);

    dsn_expect_text(text, options.user, user);
    dsn_expect_text(text, options.password, password);
    dsn_expect_text(text, options.sentinel_user, sentinel_user);
    dsn_expect_text(text, options.sentinel_password, sentinel_password);
    discard(&options);
}

/* Of Symfony 6.4 to 8. */
static void sentinels_have_credentials_of_their_own(void **state)
{
    (void) state;
    expect_logins("redis://h?sentinel=m", NULL, NULL, NULL, NULL);
    expect_logins("redis://u:p@h?sentinel=m", "u", "p", NULL, NULL);
    expect_logins("redis://u:p@h?sentinel=m&auth=s", "u", "p", NULL, "s");
    expect_logins("redis://p@h?auth[]=su&auth[]=sp&sentinel=m", NULL, "p", "su", "sp");
    expect_logins("redis://h?sentinel=m&auth=s", NULL, "s", NULL, "s");
    expect_logins("redis://h?sentinel=m&auth[]=u&auth[]=s", "u", "s", "u", "s");
    expect_logins("redis://p@h?sentinel=m&auth=", NULL, "p", NULL, NULL);
    expect_logins("redis://h?auth=p", NULL, "p", NULL, NULL);
}

static void several_are_of_a_cluster(void **state)
{
    static const char *const asking[] = {"cluster=1", "cluster=TRUE", "redis_cluster=on",
                                         "redis_cluster=yes", "cluster=0&redis_cluster=1"};
    char text[100];
    redis_options options;

    (void) state;
    for (size_t at = 0; at < sizeof(asking) / sizeof(*asking); at++) {
        snprintf(text, sizeof(text), "redis://A:1?host[b:2]&host[[::1]:3]&%s", asking[at]);
        options = parse(text);
        assert_true(options.is_cluster);
        assert_int_equal(options.place_count, 3);
        discard(&options);
    }
    options = parse("redis://h?cluster=1&cluster=0");
    assert_false(options.is_cluster);
    discard(&options);
    accept("redis://h?cluster=1&prefix={shop}a{");
    accept("redis://h/0?cluster=1&dbindex=0");
    refuse("redis://h?cluster=2", "the option \"cluster\" is 0 or 1");
    refuse("redis://h?redis_cluster=maybe", "the option \"redis_cluster\" is 0 or 1");
    refuse("redis://h?sentinel=m&cluster=1", "a cluster has no Sentinels");
    leave_to_others("redis://h/1?cluster=1", "a cluster has no database but 0");
    leave_to_others("redis://h?cluster=1&dbindex=2", "a cluster has no database but 0");
    refuse("redis://h?cluster=1&prefix=a{", "a prefix of keys cannot have a \"{\" without");
    refuse("redis://h?cluster=1&prefix={}a", "a prefix of keys cannot have a \"{\" without");
    refuse("redis:///run/s?cluster=1", "are named by host and port");
    refuse("redis://h?host[/run/s:]&cluster=1", "are named by host and port");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(several_are_sentinels_of_a_master, setup),
        UNIT_TEST(sentinels_have_credentials_of_their_own, setup),
        UNIT_TEST(several_are_of_a_cluster, setup),
    };

    return cmocka_run_group_tests_name("redis_options servers", tests, NULL, NULL);
}
