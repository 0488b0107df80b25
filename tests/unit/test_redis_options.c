/* What a DSN for Redis asks for, and what makes two of them ask for the same connection. */
#include "redis_dsn.h"

#include <limits.h>

static void expect_host(const char *text, const char *host, int port)
{
    redis_options options = parse(text);

    dsn_expect_text(text, options.places[0].host, host);
    dsn_expect_text(text, options.places[0].path, NULL);
    assert_int_equal(options.places[0].port, port);
    discard(&options);
}

static void expect_socket(const char *text, const char *path)
{
    redis_options options = parse(text);

    dsn_expect_text(text, options.places[0].host, NULL);
    dsn_expect_text(text, options.places[0].path, path);
    dsn_expect_text(text, options.address, path);
    assert_int_equal(options.places[0].port, 0);
    discard(&options);
}

static void expect_address(const char *text, const char *address)
{
    redis_options options = parse(text);

    dsn_expect_text(text, options.address, address);
    discard(&options);
}

static void expect_credentials(const char *text, const char *user, const char *password)
{
    redis_options options = parse(text);

    dsn_expect_text(text, options.user, user);
    dsn_expect_text(text, options.password, password);
    discard(&options);
}

static void expect_database(const char *text, int database)
{
    redis_options options = parse(text);

    assert_int_equal(options.database, database);
    discard(&options);
}

/* ---- What is read */

static void what_is_not_given_has_its_default(void **state)
{
    redis_options options = parse("redis://localhost");

    (void) state;
    assert_string_equal(options.places[0].host, "localhost");
    assert_int_equal(options.places[0].port, 6379);
    assert_null(options.places[0].path);
    assert_null(options.user);
    assert_null(options.password);
    assert_int_equal(options.database, 0);
    assert_string_equal(options.prefix, "");
    assert_int_equal(options.prefix_length, 0);
    assert_int_equal(options.connect_timeout_ns, 5 * LATCH_NS_PER_S);
    assert_int_equal(options.command_timeout_ns, 5 * LATCH_NS_PER_S);
    assert_int_equal(options.keepalive_s, 0);
    assert_string_equal(options.address, "localhost:6379");
    discard(&options);
}

static void what_is_given_is_taken(void **state)
{
    redis_options options = parse("valkey://user:pass@Example.COM:1234/13?prefix=a+b:&timeout=0.5"
                                  "&read_timeout=7&tcp_keepalive=60&persistent_id=mine");

    (void) state;
    assert_string_equal(options.places[0].host, "example.com");
    assert_int_equal(options.places[0].port, 1234);
    assert_string_equal(options.user, "user");
    assert_string_equal(options.password, "pass");
    assert_int_equal(options.database, 13);
    assert_string_equal(options.prefix, "a b:");
    assert_int_equal(options.prefix_length, 4);
    assert_int_equal(options.connect_timeout_ns, 500 * LATCH_NS_PER_MS);
    assert_int_equal(options.command_timeout_ns, 7 * LATCH_NS_PER_S);
    assert_int_equal(options.keepalive_s, 60);
    assert_string_equal(options.address, "example.com:1234");
    discard(&options);
}

static void the_scheme_is_redis_or_valkey(void **state)
{
    (void) state;
    accept("redis://h");
    accept("valkey:/run/valkey.sock");
    accept("rediss://h"); /* test_redis_tls_options.c has more of these */
    accept("valkeys://h");
    refuse("Redis://h", "begins with \"redis:\" or \"valkey:\"");
    refuse("http://h", "begins with \"redis:\" or \"valkey:\"");
    refuse("localhost:6379", "begins with \"redis:\" or \"valkey:\"");
    refuse("redis", "begins with \"redis:\" or \"valkey:\"");
    refuse("", "begins with \"redis:\" or \"valkey:\"");
    refuse("valkeys", "begins with \"redis:\" or \"valkey:\"");
    refuse("redis2://h", "begins with \"redis:\" or \"valkey:\"");
}

static void the_server_is_a_host(void **state)
{
    (void) state;
    expect_host("redis://127.0.0.1", "127.0.0.1", 6379);
    expect_host("redis://h:", "h", 6379);
    expect_host("redis://h:1/", "h", 1);
    expect_host("redis://[::1]", "::1", 6379);
    expect_host("redis://secret@[FE80::1%25eth0]:65535/1", "fe80::1%eth0", 65535);
    expect_address("redis://127.0.0.1:6380/3", "127.0.0.1:6380");
    expect_address("redis://secret@[::1]", "[::1]:6379");
    expect_address("redis://user:secret@H:65535", "h:65535");
    refuse("redis://h:0", "the port is a number from 1 to 65535");
}

static void or_a_socket(void **state)
{
    (void) state;
    expect_socket("redis:///var/run/redis.sock", "/var/run/redis.sock");
    expect_socket("redis:/var/run/redis.sock", "/var/run/redis.sock");
    expect_socket("redis://secret@/var/run/redis.sock/13", "/var/run/redis.sock");
    expect_socket("redis:///var/run/redis.sock/", "/var/run/redis.sock");
    expect_socket("redis:///run/a%20b.sock?dbindex=1", "/run/a b.sock");
    expect_socket("redis:///run/6379/1x", "/run/6379/1x");
    expect_socket("redis:///run/6379", "/run"); /* as Symfony reads it */
    refuse("redis:///run/a%0ab", "control character");
    refuse("redis:///run/a%7fb", "control character");
    refuse("redis:?host[/run/a%0ab:]", "control character");
}

static void the_path_of_a_socket_fits_into_its_address(void **state)
{
    char text[200] = "redis:///";

    (void) state;
    memset(text + 9, 'x', 106);
    accept(text); /* with the slash, 107 */
    text[9 + 106] = 'x';
    refuse(text, "the path of a socket is no longer than 107 bytes");
    strcat(text, "/1");
    refuse(text, "the path of a socket is no longer than 107 bytes");
}

static void or_the_one_that_the_option_host_names(void **state)
{
    static const char brackets[] = "names a server in brackets and has no value";
    static const char parameters[] = "\"host\" asks for parameters of a server, which this";
    static const char several[] = "it names several servers; if they are of a cluster, give it";

    (void) state;
    expect_host("redis:?host[localhost]", "localhost", 6379);
    expect_host("redis:?host[redis-1.example:26379]&timeout=1", "redis-1.example", 26379);
    expect_host("redis:?host%5Blocalhost%3A1%5D=", "localhost", 1);
    expect_host("redis://?host[h:1]", "h", 1);
    expect_host("redis:secret@?host[h:1]", "h", 1);
    expect_host("redis:?host[[::1]]", "::1", 6379);
    expect_host("redis:?host[[::1]:1]", "::1", 1);
    expect_host("redis:?host[::1:6380]", "::1", 6380); /* as Symfony reads it */
    expect_socket("redis:?host[/run/redis.sock:]", "/run/redis.sock");
    expect_socket("redis:?host[/run/redis.sock]", "/run/redis.sock");
    expect_database("redis:/3?host[h]", 3);
    expect_database("redis:?host[h]&dbindex=3", 3);
    leave_to_others("redis:?host[a]&host[b]", several);
    leave_to_others("redis:?host[a]&host[/run/b:]", several);
    leave_to_others("redis://a?host[b]", several);
    leave_to_others("redis:///run/redis.sock?host[b]", several);
    refuse("redis:?host=localhost", brackets);
    refuse("redis:?host", brackets);
    refuse("redis:?host[]=localhost", brackets);
    leave_to_others("redis:?host[a][weight]=1", parameters);
    leave_to_others("redis:?host[a][b]", parameters);
    leave_to_others("redis:?host[a]=weight%3D1", parameters);
    refuse("redis:?host[::1]", "takes an IPv6 address in brackets");
    refuse("redis:?host[::]", "takes an IPv6 address in brackets");
    refuse("redis:?host[a:0]", "the port is a number");
    refuse("redis:?host[a:b]", "the port is a number");
    refuse("redis:?host[user:pass:6379]", "the host is a name or an address");
    refuse("redis:?host[:1]", "no host before the port");
    refuse("redis:?host[a b]", "the host is a name or an address");
}

static void some_server_has_to_be_named(void **state)
{
    static const char *const none[] = {"redis:",   "redis://",          "redis:/",
                                       "redis:/3", "redis://secret@/3", "valkey:?timeout=1"};

    (void) state;
    for (size_t at = 0; at < sizeof(none) / sizeof(*none); at++) {
        refuse(none[at], "it names no server");
    }
}

static void the_database_is_in_the_path_or_an_option(void **state)
{
    static const char number[] = "is a number from 0 to 2147483647";

    (void) state;
    expect_database("redis://h/", 0);
    expect_database("redis://h/0", 0);
    expect_database("redis://h/15", 15);
    expect_database("redis://h/%31%35", 15);
    expect_database("redis://h/2147483647", INT_MAX);
    expect_database("redis://h?dbindex=7", 7);
    expect_database("redis://h/?dbindex=7", 7);
    expect_database("redis://h/7?dbindex=7", 7);
    expect_database("redis://h/7?dbindex=1&dbindex=7", 7);
    expect_database("redis:///run/redis.sock/7", 7);
    expect_database("redis:///run/redis.sock?dbindex=7", 7);
    expect_database("redis:///run/redis.sock/?dbindex=7", 7);
    refuse("redis://h/1?dbindex=2", "the path and the option \"dbindex\" are different");
    refuse("redis://h/0?dbindex=2", "the path and the option \"dbindex\" are different");
    refuse("redis:///run/redis.sock/1?dbindex=0", "are different");
    refuse("redis://h/2147483648", number);
    refuse("redis://h/99999999999999999999999", number);
    refuse("redis:///run/redis.sock/2147483648", number);
    refuse("redis://h/-1", number);
    refuse("redis://h/one", number);
    refuse("redis://h/1/2", number);
    refuse("redis://h/1x", number);
    refuse("redis://h?dbindex=", number);
    refuse("redis://h?dbindex=-1", number);
    refuse("redis://h?dbindex=1.0", number);
    refuse("redis://h?dbindex=+1", number);
    refuse("redis://h?dbindex=2147483648", number);
}

static void credentials_stand_before_the_at_sign_or_in_auth(void **state)
{
    (void) state;
    expect_credentials("redis://h", NULL, NULL);
    expect_credentials("redis://secret@h", NULL, "secret");
    expect_credentials("redis://:secret@h", NULL, "secret");
    expect_credentials("redis://user:secret@h", "user", "secret");
    expect_credentials("redis://user:@h", "user", "");
    expect_credentials("redis://default:secret@h", NULL, "secret");
    expect_credentials("redis://defaults:secret@h", "defaults", "secret");
    expect_credentials("redis://@h", NULL, NULL);
    expect_credentials("redis://:@h", NULL, NULL);
    expect_credentials("redis://default:@h", NULL, NULL);
    expect_credentials("redis://u%3A:p%40+@h", "u:", "p@+");
    expect_credentials("redis://h?auth=se+cr%26t", NULL, "se cr&t");
    expect_credentials("redis://h?auth[]=user&auth[]=secret", "user", "secret");
    expect_credentials("redis://h?auth[0]=user&timeout=1&auth[1]=secret", "user", "secret");
    expect_credentials("redis://h?auth[]=default&auth[]=secret", NULL, "secret");
    /* As with Symfony, the option wins. */
    expect_credentials("redis://old:older@h?auth=new", NULL, "new");
    expect_credentials("redis://old:older@h?auth[]=a&auth[]=b", "a", "b");
    expect_credentials("redis://old:older@h?auth=", NULL, NULL);
    expect_credentials("redis://h?auth=a&auth=b", NULL, "b");
}

static void auth_is_a_password_or_a_list_of_two(void **state)
{
    static const char *const bad[] = {
        "auth[]=a",
        "auth[0]=a",
        "auth[]=a&auth[]=b&auth[]=c",
        "auth[1]=a&auth[0]=b",
        "auth[0]=a&auth[0]=b",
        "auth[user]=a&auth[password]=b",
        "auth[a]=b",
        "auth[][]=a&auth[][]=b",
        "auth=a&auth[]=b",
        "auth=a&auth[]=b&auth[]=c",
        "auth[]=a&auth=b",
        "auth[]=a&auth[]=b&auth=c",
    };
    char text[100];

    (void) state;
    for (size_t at = 0; at < sizeof(bad) / sizeof(*bad); at++) {
        snprintf(text, sizeof(text), "redis://h?%s", bad[at]);
        refuse(text, "the option \"auth\" is a password");
    }
}

static int64_t timeout_of(const char *seconds)
{
    char text[200];
    redis_options options;
    int64_t timeout_ns;

    snprintf(text, sizeof(text), "redis://h?timeout=%s", seconds);
    options = parse(text);
    timeout_ns = options.connect_timeout_ns;
    discard(&options);
    return timeout_ns;
}

static void timeouts_are_decimal_seconds(void **state)
{
    static const char *const bad[] = {
        "",      "0.0009", "0.000999999", "86400.000000001",
        "86401", "-1",     "+1",          "1e3",
        "inf",   "nan",    ".",           "1.2.",
        "1,5",   " 1",     "1s",          "99999999999999999999999999",
        "0x10",  "--1",    "1.-1"};
    char text[100];

    (void) state;
    assert_int_equal(timeout_of("1"), LATCH_NS_PER_S);
    assert_int_equal(timeout_of("0001.500"), 1500 * LATCH_NS_PER_MS);
    assert_int_equal(timeout_of(".25"), 250 * LATCH_NS_PER_MS);
    assert_int_equal(timeout_of("3."), 3 * LATCH_NS_PER_S);
    assert_int_equal(timeout_of("0.001"), LATCH_NS_PER_MS);
    assert_int_equal(timeout_of("1.000000001"), LATCH_NS_PER_S + 1);
    assert_int_equal(timeout_of("1.00000000000000000000000000000000"), LATCH_NS_PER_S);
    assert_int_equal(timeout_of("1.00000000000000000000000000000001"), LATCH_NS_PER_S + 1);
    assert_int_equal(timeout_of("0.00099999999999"), LATCH_NS_PER_MS);
    assert_int_equal(timeout_of("86400"), INT64_C(86400) * LATCH_NS_PER_S);
    for (size_t at = 0; at < sizeof(bad) / sizeof(*bad); at++) {
        /* "+" is a space in an option. */
        snprintf(text, sizeof(text), "redis://h?timeout=%s", bad[at]);
        refuse(text, "the option \"timeout\" is a number of seconds from 0.001 to 86400");
    }
    refuse("redis://h?timeout", "the option \"timeout\" is a number of seconds");
    refuse("redis://h?timeout[]=1", "the option \"timeout\" has one value and no brackets");
}

static void a_timeout_of_0_is_the_default(void **state)
{
    static const char *const zero[] = {"0", "0.0", ".0", "00.00000000000"};
    char text[100];
    redis_options options = parse("redis://h?read_timeout=0.75");

    (void) state;
    assert_int_equal(options.command_timeout_ns, 750 * LATCH_NS_PER_MS);
    assert_int_equal(options.connect_timeout_ns, REDIS_DEFAULT_CONNECT_TIMEOUT_NS);
    discard(&options);
    for (size_t at = 0; at < sizeof(zero) / sizeof(*zero); at++) {
        snprintf(text, sizeof(text),
                 "redis://h?read_timeout=3&timeout=3&read_timeout=%s&timeout=%s", zero[at],
                 zero[at]);
        options = parse(text);
        assert_int_equal(options.command_timeout_ns, REDIS_DEFAULT_COMMAND_TIMEOUT_NS);
        assert_int_equal(options.connect_timeout_ns, REDIS_DEFAULT_CONNECT_TIMEOUT_NS);
        discard(&options);
    }
    refuse("redis://h?read_timeout=0.0000000000001", "the option \"read_timeout\" is a number");
    refuse("redis://h?read_timeout=-1", "the option \"read_timeout\" is a number");
    refuse("redis://h?read_timeout=", "the option \"read_timeout\" is a number");
    refuse("redis://h?read_timeout=86401", "the option \"read_timeout\" is a number");
}

static void keepalive_is_whole_seconds(void **state)
{
    static const char *const bad[] = {"", "-1", "32768", "1.5", "true", "99999999999999999999"};
    char text[100];
    redis_options options = parse("redis://h?tcp_keepalive=32767");

    (void) state;
    assert_int_equal(options.keepalive_s, 32767);
    discard(&options);
    options = parse("redis://h?tcp_keepalive=1&tcp_keepalive=0");
    assert_int_equal(options.keepalive_s, 0);
    discard(&options);
    for (size_t at = 0; at < sizeof(bad) / sizeof(*bad); at++) {
        snprintf(text, sizeof(text), "redis://h?tcp_keepalive=%s", bad[at]);
        refuse(text, "\"tcp_keepalive\" is a whole number of seconds from 0 (off) to 32767");
    }
}

static void what_has_no_meaning_here_is_accepted(void **state)
{
    (void) state;
    accept("redis://h?class=Redis&persistent=1&retry_interval=100&lazy=true&failover=none"
           "&cluster_command_timeout=1.5&cluster_relay_context[use-cache]=1"
           "&cluster_relay_context[a][b]=c&persistent_id=");
    accept("redis://h?cluster=0&redis_cluster=0&sentinel=&sentinel_master&redis_sentinel=");
    accept("redis://h?cluster&redis_cluster=&cluster=false&cluster=OFF&cluster=No");
    refuse("redis://h?lazy[]=1", "the option \"lazy\" has one value and no brackets");
}

static void an_unknown_option_is_named(void **state)
{
    char text[400] = "redis://h?";

    (void) state;
    leave_to_others("redis://h?readtimeout=1",
                    "the option \"readtimeout\" is unknown; known are auth, class");
    assert_non_null(strstr(unit.error.message, ", tcp_keepalive, timeout")); /* all of them */
    leave_to_others("redis://h?TIMEOUT=1", "the option \"TIMEOUT\" is unknown");
    leave_to_others("redis://h?timeou=1", "the option \"timeou\" is unknown");
    leave_to_others("redis://h?timeout2=1", "the option \"timeout2\" is unknown");
    leave_to_others("redis://h?a[b]=1", "the option \"a[b]\" is unknown");
    leave_to_others("redis://h?a%0Ab%ff%7f=1",
                    "an option that is unknown, and not shown as it may be");
    leave_to_others("redis://h?word", "an option that is unknown, and not shown as it may be");
    leave_to_others("redis://h?d29yZA==", "an option that is unknown, and not shown as it may be");
    memset(text + 10, 'x', 300);
    leave_to_others(text, "that is unknown, and not shown as it may be a part of a password; known "
                          "are auth");
    assert_non_null(strstr(unit.error.message, ", tcp_keepalive, timeout"));
    /* What may be the rest of a password is not. */
    leave_to_others("redis://h?auth=pass&word", "an option after \"auth\" is unknown (is a \"&\"");
    assert_non_null(strstr(unit.error.message, ", tcp_keepalive, timeout"));
    leave_to_others("redis://h?auth[]=user&auth[]=pass&timeout=1&word", "an option after \"auth\"");
}

/* ---- Which connections are the same */

static void dsns_that_mean_the_same_have_one_identity(void **state)
{
    static const char *const pairs[][2] = {
        {"redis://h", "valkey://h"},
        {"redis://h", "redis://h:6379/0"},
        {"redis://h", "redis://H:/?dbindex=00"},
        {"redis://h", "redis:?host[h]"},
        {"redis://h", "redis://h?timeout=5.0&read_timeout=0&tcp_keepalive=0&prefix="},
        {"redis://h?cluster=1", "redis://h?redis_cluster=1"},
        {"redis://h", "redis://h?class=a&persistent=1&lazy=1&cluster=0&persistent_id="},
        {"redis://h", "redis://@h"},
        {"redis://h", "redis://user:secret@h?auth="},
        {"redis://secret@h", "redis://default:secr%65t@h"},
        {"redis://secret@h", "redis://h?auth=secret"},
        {"redis://secret@h", "redis://h?auth[]=default&auth[]=secret"},
        {"redis://u:p@h", "redis://h?auth[]=u&auth[1]=%70"},
        {"redis://h/3", "redis:?host[h]&dbindex=3"},
        {"redis://[::1]", "redis:?host[::1:6379]"},
        {"redis:///run/s", "redis:/run/s/0"},
        {"redis:///run/s", "redis:?host[/run/s:]"},
        {"redis://h?prefix=a&timeout=1", "redis://h?timeout=01.0&prefix=%61"},
        {"redis://h?sentinel=m&host[i]", "redis:?redis_sentinel=m&host[h]&host[i:6379]"},
        {"redis://h?persistent_id=1&prefix=a+b", "redis://h?prefix=a%20b&persistent_id=1"},
    };

    (void) state;
    dsn_expect_same(&dsn_of_redis, pairs, sizeof(pairs) / sizeof(*pairs));
}

/* No two of these are the same, also not those that could be if parts were run together. */
static void dsns_that_mean_different_things_have_different_ones(void **state)
{
    static const char *const different[] = {
        "redis://h",
        "redis://h2",
        "redis://h:6380",
        "redis://h/1",
        "redis://h/16",
        "redis://h1/6",
        "redis:/h",
        "redis:/H",
        "redis:/h/1",
        "redis:/run/h",
        "redis://p@h",
        "redis://P@h",
        "redis://u:p@h",
        "redis://u:@h",
        "redis://up:@h",
        "redis://u%20:p@h",
        "redis://u:%20p@h",
        "redis://u%3Ap:@h",
        "redis://u:p%201:-@h",
        "redis://p%200:@h",
        "redis://p%20-@h",
        "redis://u%20x:y@h",
        "redis://u:x%20y@h",
        "redis://u%201%3Ax:y@h",
        "redis://u:x%201%3Ay@h",
        "redis://-@h",
        "redis://-:-@h",
        "redis://0:%200:@h",
        "redis://h?prefix=p",
        "redis://h?prefix=-",
        "redis://h?prefix=%20",
        "redis://h?prefix=p+1:i",
        "redis://h?prefix=p&persistent_id=i",
        "redis://h?persistent_id=p",
        "redis://h?persistent_id=i",
        "redis://h?timeout=1",
        "redis://h?read_timeout=1",
        "redis://h?timeout=5.000000001",
        "redis://h?tcp_keepalive=1",
        "redis://h?tcp_keepalive=5",
        "redis://h?sentinel=m",
        "redis://h?sentinel=n",
        "redis://p@h?sentinel=m",
        "redis://h?sentinel=m&auth=p",
        "redis://p@h?sentinel=m&auth=q",
        "redis://h?sentinel=m&host[i]",
        "redis://i?sentinel=m&host[h]",
        "redis://h?sentinel=m&host[i:1]",
        "redis://h?sentinel=m&host[/i]",
    };

    (void) state;
    dsn_expect_different(&dsn_of_redis, different, sizeof(different) / sizeof(*different));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(what_is_not_given_has_its_default, setup),
        UNIT_TEST(what_is_given_is_taken, setup),
        UNIT_TEST(the_scheme_is_redis_or_valkey, setup),
        UNIT_TEST(the_server_is_a_host, setup),
        UNIT_TEST(or_a_socket, setup),
        UNIT_TEST(the_path_of_a_socket_fits_into_its_address, setup),
        UNIT_TEST(or_the_one_that_the_option_host_names, setup),
        UNIT_TEST(some_server_has_to_be_named, setup),
        UNIT_TEST(the_database_is_in_the_path_or_an_option, setup),
        UNIT_TEST(credentials_stand_before_the_at_sign_or_in_auth, setup),
        UNIT_TEST(auth_is_a_password_or_a_list_of_two, setup),
        UNIT_TEST(timeouts_are_decimal_seconds, setup),
        UNIT_TEST(a_timeout_of_0_is_the_default, setup),
        UNIT_TEST(keepalive_is_whole_seconds, setup),
        UNIT_TEST(what_has_no_meaning_here_is_accepted, setup),
        UNIT_TEST(an_unknown_option_is_named, setup),
        UNIT_TEST(dsns_that_mean_the_same_have_one_identity, setup),
        UNIT_TEST(dsns_that_mean_different_things_have_different_ones, setup),
    };

    return cmocka_run_group_tests_name("redis_options", tests, NULL, NULL);
}
