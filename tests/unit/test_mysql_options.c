/* What a DSN for MySQL or MariaDB asks for, and what makes two of them ask for the same connection.
 */
#include "src/base/dsn.h"
#include "dsn_options.h"

static mysql_store_options parse(const char *text)
{
    return dsn_parse(&dsn_of_mysql, text).mysql;
}

static void discard(mysql_store_options *options)
{
    latch_mysql_options_free(unit.engine, options);
}

static void accept(const char *text)
{
    dsn_accept(&dsn_of_mysql, text);
}

static void refuse_bytes(const char *text, size_t length, const char *why)
{
    dsn_refuse(&dsn_of_mysql, LATCH_ERROR_ARGUMENT, text, length, why);
}

static void refuse(const char *text, const char *why)
{
    refuse_bytes(text, strlen(text), why);
}

static void expect_host(const char *text, const char *host, int port, const char *address)
{
    mysql_store_options options = parse(text);

    dsn_expect_text(text, options.host, host);
    dsn_expect_text(text, options.socket, NULL);
    dsn_expect_text(text, options.address, address);
    assert_int_equal(options.port, port);
    discard(&options);
}

static void expect_socket(const char *text, const char *socket)
{
    mysql_store_options options = parse(text);

    dsn_expect_text(text, options.host, NULL);
    dsn_expect_text(text, options.socket, socket);
    dsn_expect_text(text, options.address, socket != NULL ? socket : "the default socket");
    assert_int_equal(options.port, 0);
    discard(&options);
}

static void expect_credentials(const char *text, const char *user, const char *password)
{
    mysql_store_options options = parse(text);

    dsn_expect_text(text, options.user, user);
    dsn_expect_text(text, options.password, password);
    discard(&options);
}

static void expect_database(const char *text, const char *database)
{
    mysql_store_options options = parse(text);

    dsn_expect_text(text, options.database, database);
    discard(&options);
}

/* ---- What is read */

static void what_is_not_given_has_its_default(void **state)
{
    static const char *const texts[] = {"mysql:", "mysql://"};

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        mysql_store_options options = parse(texts[at]);

        assert_null(options.host);
        assert_int_equal(options.port, 0);
        assert_null(options.socket);
        assert_null(options.user);
        assert_null(options.password);
        assert_null(options.database);
        assert_false(options.tls);
        assert_false(options.verify);
        assert_string_equal(options.charset, "utf8mb4");
        assert_string_equal(options.program_name, "latch");
        assert_int_equal(options.connect_timeout_ns, 5 * LATCH_NS_PER_S);
        assert_int_equal(options.command_timeout_ns, 5 * LATCH_NS_PER_S);
        assert_string_equal(options.address, "the default socket");
        discard(&options);
    }
}

static void what_is_given_is_taken(void **state)
{
    static const char *const texts[] = {
        "mysql:host=DB.example;port=3307;dbname=test;user=me;password=secret;charset=Latin1;"
        "timeout=0.5;read_timeout=7;program_name=app;persistent_id=mine;ssl_ca=/ca;ssl_capath=/d;"
        "ssl_cert=/cert;ssl_key=/key;ssl_cipher=AES",
        "mysql://me:secret@DB.example:3307/test?charset=Latin1&timeout=.5&read_timeout=7.0"
        "&program_name=app&persistent_id=mine&ssl_ca=/ca&ssl_capath=/d&ssl_cert=/cert&ssl_key=/key"
        "&ssl_cipher=AES",
    };

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        mysql_store_options options = parse(texts[at]);

        assert_string_equal(options.host, "db.example");
        assert_int_equal(options.port, 3307);
        assert_string_equal(options.database, "test");
        assert_string_equal(options.user, "me");
        assert_string_equal(options.password, "secret");
        assert_string_equal(options.charset, "latin1");
        assert_string_equal(options.program_name, "app");
        assert_string_equal(options.ssl_ca, "/ca");
        assert_string_equal(options.ssl_capath, "/d");
        assert_string_equal(options.ssl_cert, "/cert");
        assert_string_equal(options.ssl_key, "/key");
        assert_string_equal(options.ssl_cipher, "AES");
        assert_true(options.tls);
        assert_true(options.verify);
        assert_int_equal(options.connect_timeout_ns, 500 * LATCH_NS_PER_MS);
        assert_int_equal(options.command_timeout_ns, 7 * LATCH_NS_PER_S);
        assert_string_equal(options.address, "db.example:3307");
        discard(&options);
    }
}

static void the_scheme_says_the_form(void **state)
{
    static const char *const accepted[] = {
        "mysql:host=h",
        "mysql+advisory:host=h",
        "mysql://h",
        "mysql2://h",
        "mysqli://h",
        "mariadb://h",
        "pdo-mysql://h",
        "mysql+advisory://h",
        "mysql2+advisory://h",
        "mysqli+advisory://h",
        "mariadb+advisory://h",
        "pdo-mysql+advisory://h",
    };
    static const char *const refused[] = {
        "",          "mysql",          "MySQL:host=h", "mysql2:host=h",  "mariadb:host=h",
        "mysqli:/h", "pdo-mysql:host", "pgsql://h",    "mysql+advisory", "mysql+advisor:host=h",
        "host=h",    "mysql3://h",     "127.0.0.1",
    };

    (void) state;
    for (size_t at = 0; at < sizeof(accepted) / sizeof(*accepted); at++) {
        expect_host(accepted[at], "h", 3306, "h:3306");
    }
    for (size_t at = 0; at < sizeof(refused) / sizeof(*refused); at++) {
        refuse(refused[at], "written as in \"mysql:host=localhost;dbname=test\" or \"mysql://");
    }
}

static void pdos_form_has_literal_values(void **state)
{
    (void) state;
    expect_credentials("mysql:user=u;password=p", "u", "p");
    expect_credentials("mysql: user=u; \n password=p; ", "u", "p");
    expect_credentials("mysql:user=u;password= 'a\\b' ", "u", " 'a\\b' ");
    expect_credentials("mysql:password=a;;b;user=u", "u", "a;b");
    expect_credentials("mysql:password=a;;", NULL, "a;");
    expect_credentials("mysql:password=;;;;;user=u", "u", ";;");
    expect_credentials("mysql:password=a=b@/?&#%41+;user=u", "u", "a=b@/?&#%41+");
    expect_credentials("mysql:password=;user=", NULL, NULL);
    refuse("mysql:host", "an option has no \"=\"; a \";\" within a value is written as \";;\"");
    refuse("mysql:password=a;b", "an option has no \"=\"");
    refuse("mysql:=h", "it has an option that is unknown, and not shown as it may be a part of a "
                       "password; known are charset");
    refuse("mysql:charset;host=h", "it has an option that is unknown, and not shown");
}

static void a_url_is_read_as_doctrine_does(void **state)
{
    (void) state;
    expect_credentials("mysql://u@h", "u", NULL);
    expect_credentials("mysql://u:p%40%3A@h", "u", "p@:");
    expect_credentials("mysql://u:@h", "u", NULL);
    expect_credentials("mysql://:p@h", NULL, "p");
    expect_credentials("mysql://u:p@h?user=me&password=m+n", "me", "m n");
    expect_database("mysql://h", NULL);
    expect_database("mysql://h/", NULL);
    expect_database("mysql:///db", "db");
    expect_database("mysql://h/a%20b/c", "a b/c");
    expect_database("mysql://h/db?dbname=other", "other");
    expect_host("mysql://a:1?host=b&port=2", "b", 2, "b:2");
    refuse("mysql://h:0", "the port is a number from 1 to 65535");
    refuse("mysql://u:a/b@h", "\"/\", \"?\", \"#\" and \"@\" are written as \"%2F\", ");
}

static void of_an_option_that_is_given_twice_the_last_one_counts(void **state)
{
    (void) state;
    expect_host("mysql:host=a;host=b", "b", 3306, "b:3306");
    expect_host("mysql:host=a;port=1;port=", "a", 3306, "a:3306");
    expect_socket("mysql:host=a;host=", NULL);
}

static void settings_beside_go_before_those_in_the_dsn(void **state)
{
    const latch_setting settings[] = {{"user", "root"},  {"password", "s;p"},
                                      {"ssl_ca", "/ca"}, {"host", "Other.Host"},
                                      {"dbname", ""},    {"port", NULL},
                                      {"timeout", "2"}};
    static const char *const texts[] = {
        "mysql:user=u;password=p;timeout=1;dbname=d;host=h;port=1",
        "mysql://u:p@h:1/d?timeout=1",
    };

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        mysql_store_options options;

        dsn_beside.first = settings;
        dsn_beside.count = sizeof(settings) / sizeof(*settings);
        options = parse(texts[at]);
        dsn_beside.count = 0;
        assert_string_equal(options.user, "root");
        assert_string_equal(options.password, "s;p");
        assert_string_equal(options.ssl_ca, "/ca");
        assert_string_equal(options.address, "other.host:1");
        assert_string_equal(options.database, "d"); /* an empty one is as none */
        assert_int_equal(options.connect_timeout_ns, 2 * LATCH_NS_PER_S);
        discard(&options);
    }
    assert_string_equal(settings[3].value, "Other.Host"); /* the caller's stay as they were */
}

static void settings_beside_are_checked_as_those_in_the_dsn(void **state)
{
    static char longer[LATCH_DSN_MAX + 2];
    latch_setting setting = {"port", "x"};

    (void) state;
    dsn_beside.first = &setting;
    dsn_beside.count = 1;
    refuse("mysql:host=h", "the option \"port\" is a number from 1 to 65535");
    setting = (latch_setting){"nobody", "x"};
    refuse("mysql:password=p", "the option \"nobody\" is unknown; known are charset");
    memset(longer, 'x', LATCH_DSN_MAX);
    setting = (latch_setting){"password", longer};
    accept("mysql:");
    longer[LATCH_DSN_MAX] = 'x';
    refuse("mysql:", "the option \"password\" is longer than 4096 bytes");
    dsn_beside.count = 0;
}

/* ---- Where the server is */

static void the_server_is_a_host(void **state)
{
    (void) state;
    expect_host("mysql:host=127.0.0.1", "127.0.0.1", 3306, "127.0.0.1:3306");
    expect_host("mysql:host=h;port=65535", "h", 65535, "h:65535");
    expect_host("mysql:host=::1", "::1", 3306, "[::1]:3306");
    expect_host("mysql:host=[::1];port=1", "::1", 1, "[::1]:1");
    expect_host("mysql://[FE80::1%25eth0]:1", "fe80::1%eth0", 1, "[fe80::1%eth0]:1");
    expect_host("mysql:host=h;unix_socket=/s", "h", 3306, "h:3306"); /* as with PDO */
    refuse("mysql:host=a,b", "the option \"host\" is one name or address");
    refuse("mysql:host=/run/s", "a socket has the option \"unix_socket\"");
    refuse("mysql:host=[a", "the option \"host\" is one name or address");
    refuse("mysql:host=a b", "the option \"host\" is one name or address");
    refuse("mysql:ssl_key=-----BEGIN PRIVATE KEY-----",
           "the option \"ssl_key\" is the path of a file");
    refuse("mysql:host=user:pass", "the option \"host\" is one name or address");
    refuse("mysql:host=a@b", "the option \"host\" is one name or address");
    refuse("mysql:host=a\x7f", "the option \"host\" is one name or address");
    refuse("mysql:host=h;port=0", "the option \"port\" is a number from 1 to 65535");
    refuse("mysql:host=h;port=65536", "the option \"port\" is a number from 1 to 65535");
    refuse("mysql:host=h;port= 1", "the option \"port\" is a number from 1 to 65535");
}

/* PDO's rule, and libmariadb's. */
static void or_a_socket_where_the_host_is_localhost_or_not_given(void **state)
{
    (void) state;
    expect_socket("mysql:unix_socket=/run/s", "/run/s");
    expect_socket("mysql:host=localhost", NULL);
    expect_socket("mysql:host=LocalHost;port=3307", NULL);
    expect_socket("mysql:host=localhost;unix_socket=/run/s", "/run/s");
    expect_socket("mysql://u:p@localhost/db?unix_socket=/run/mysqld/mysqld.sock",
                  "/run/mysqld/mysqld.sock");
    expect_socket("mysql:///db?unix_socket=/run/a%20b", "/run/a b");
    expect_socket("mysql://localhost:3306/db", NULL);
    refuse("mysql:unix_socket=run", "the option \"unix_socket\" is the path of a socket");
    refuse("mysql:unix_socket=/a\nb", "without control characters");
}

static void the_path_of_a_socket_fits_into_its_address(void **state)
{
    char text[200] = "mysql:unix_socket=/";

    (void) state;
    memset(text + 19, 'x', 106);
    expect_socket(text, text + 18); /* with the slash, 107 */
    text[19 + 106] = 'x';
    refuse(text, "the option \"unix_socket\" is no longer than 107 bytes");
}

/* ---- Options */

static void a_charset_has_a_name(void **state)
{
    mysql_store_options options = parse("mysql:charset=UTF8");

    (void) state;
    assert_string_equal(options.charset, "utf8");
    discard(&options);
    options = parse("mysql:charset=");
    assert_string_equal(options.charset, "utf8mb4");
    discard(&options);
    refuse("mysql:charset=UTF-8", "is the name of a character set, such as utf8mb4");
    refuse("mysql:charset=a23456789012345678901234567890123", "is the name of a character set");
}

static void expect_timeouts(const char *text, int64_t connect_ns, int64_t command_ns)
{
    mysql_store_options options = parse(text);

    if (options.connect_timeout_ns != connect_ns || options.command_timeout_ns != command_ns) {
        fail_msg("%s: %jd and %jd", text, (intmax_t) options.connect_timeout_ns,
                 (intmax_t) options.command_timeout_ns);
    }
    discard(&options);
}

static void timeouts_are_decimal_seconds(void **state)
{
    const int64_t five = 5 * LATCH_NS_PER_S;

    (void) state;
    expect_timeouts("mysql:timeout=2.5", 2500 * LATCH_NS_PER_MS, five);
    expect_timeouts("mysql:connect_timeout=3", 3 * LATCH_NS_PER_S, five);
    expect_timeouts("mysql:read_timeout=0.001", five, LATCH_NS_PER_MS);
    expect_timeouts("mysql://?read_timeout=86400", five, 86400 * LATCH_NS_PER_S);
    expect_timeouts("mysql:timeout=0;read_timeout=0.0", five, five);
    refuse("mysql:timeout=x", "\"timeout\" is a number of seconds from 0.001 to 86400");
    refuse("mysql:timeout=", "\"timeout\" is a number of seconds from 0.001 to 86400");
    refuse("mysql:connect_timeout=-1", "\"connect_timeout\" is a number of seconds");
    refuse("mysql:read_timeout=86401", "\"read_timeout\" is a number of seconds");
}

static void what_has_no_meaning_here_is_accepted(void **state)
{
    static const char *const names[] = {
        "default_dbname",
        "defaultTableOptions[a]",
        "driver",
        "driverClass",
        "driverOptions[1002][2]",
        "driverOptions[1005]",
        "keepReplica",
        "keepSlave",
        "persistent",
        "platform",
        "serverVersion",
        "wrapperClass",
    };

    (void) state;
    for (size_t at = 0; at < sizeof(names) / sizeof(*names); at++) {
        mysql_store_options options, others = parse("mysql://");
        char text[64];

        snprintf(text, sizeof(text), "mysql://?%s=1", names[at]);
        options = parse(text);
        assert_string_equal(options.identity, others.identity);
        discard(&options);
        discard(&others);
    }
    accept("mysql://u:p@h:3306/db?serverVersion=8.0.37&charset=utf8mb4");
    refuse("mysql://?persistent[a]=b", "the option \"persistent\" has one value and no brackets");
}

static void an_unknown_option_is_named(void **state)
{
    static const char known[] =
        "known are charset, dbname, enable_cleartext_plugin, host, password, persistent_id, port, "
        "program_name, read_timeout, ssl_ca, ssl_capath, ssl_cert, ssl_cipher, ssl_key, ssl_mode, "
        "ssl_verify_server_cert, timeout, unix_socket and user";

    (void) state;
    refuse("mysql:nobody=1", "the option \"nobody\" is unknown; ");
    refuse("mysql:nobody=1", known);
    refuse("mysql://u:p@h?no.body[x]=1", "the option \"no.body[x]\" is unknown; ");
    refuse("mysql://?a23456789012345678901234567890123456789012345678901234567890abcd=1",
           "the option \"a23456789012345678901234567890123456789012345678901234567890abcd\"");
    refuse("mysql://?a23456789012345678901234567890123456789012345678901234567890abcde=1",
           "it has an option that is unknown, and not shown");
    refuse("mysql://u:p@h?nobody", "it has an option that is unknown, and not shown");
    refuse("mysql://u:p@h?bm9ib2R5==", "it has an option that is unknown, and not shown");
    /* but where it may be part of a password */
    refuse("mysql:password=a;b=c", "an option after \"password\" is unknown (is a \";\" or a blank "
                                   "in the password?); known are charset");
    refuse("mysql://?password=a&b=c", "an option after \"password\" is unknown (is a \"&\" not "
                                      "written as \"%26\" in the password?)");
}

static void a_dsn_has_its_limits(void **state)
{
    static char text[LATCH_DSN_MAX + 2] = "mysql:password=";

    (void) state;
    memset(text + 15, 'x', LATCH_DSN_MAX - 15);
    accept(text);
    text[LATCH_DSN_MAX] = 'x';
    refuse(text, "it is longer than 4096 bytes");
    refuse_bytes("mysql:host=h\0x", 14, "it must not contain a NUL byte");
    refuse_bytes(NULL, 0, "written as in");
}

/* ---- Which connections are the same */

static void dsns_that_mean_the_same_have_one_identity(void **state)
{
    static const char *const pairs[][2] = {
        {"mysql:", "mariadb://"},
        {"mysql:", "mysql+advisory:host=localhost;port=3307"},
        {"mysql:host=h", "mysql2://H:3306?serverVersion=8&charset=UTF8MB4&persistent_id="},
        {"mysql:host=h", "mysql:host=h;timeout=5;read_timeout=0;program_name=latch"},
        {"mysql:host=h", "mysql:host=h;enable_cleartext_plugin=0"},
        {"mysql:host=h", "mysql:ssl_mode=disabled;host=h;ssl_ca=/f;ssl_verify_server_cert=0"},
        {"mysql:host=h;port=1;dbname=d;user=u;password=a b", "mysql://u:a%20b@h:1/d"},
        {"mysql:user=a;user=b", "mysql:user=b"},
        {"mysql:host=::1", "mysql://[::1]"},
        {"mysql:ssl_ca=/f", "mysql:ssl_ca=/f;ssl_mode=verify_identity"},
        {"mysql:ssl_ca=/f", "mysql://?driverOptions[1009]=/f"},
    };

    (void) state;
    dsn_expect_same(&dsn_of_mysql, pairs, sizeof(pairs) / sizeof(*pairs));
}

/* No two of these are the same, also not those that could be if parts were run together. */
static void dsns_that_mean_different_things_have_different_ones(void **state)
{
    static const char *const different[] = {
        "mysql:",
        "mysql:host=h",
        "mysql:host=i",
        "mysql:host=h;port=1",
        "mysql:unix_socket=/h",
        "mysql:unix_socket=/i",
        "mysql:dbname=h",
        "mysql:dbname=u",
        "mysql:user=u",
        "mysql:user=U",
        "mysql:user=u;password=p",
        "mysql:user=p;password=u",
        "mysql:user=u 1:p",
        "mysql:user=-",
        "mysql:password=-",
        "mysql:password=u",
        "mysql:password=- -",
        "mysql:user=u;password=- 1:p",
        "mysql:ssl_mode=required",
        "mysql:ssl_mode=verify_identity",
        "mysql:enable_cleartext_plugin=1",
        "mysql:ssl_ca=a",
        "mysql:ssl_capath=a",
        "mysql:ssl_cert=a",
        "mysql:ssl_key=a",
        "mysql:ssl_cipher=a",
        "mysql:ssl_ca=a;ssl_verify_server_cert=0",
        "mysql:charset=latin1",
        "mysql:program_name=a",
        "mysql:timeout=1",
        "mysql:read_timeout=1",
        "mysql:persistent_id=1",
        "mysql:persistent_id=-",
    };

    (void) state;
    dsn_expect_different(&dsn_of_mysql, different, sizeof(different) / sizeof(*different));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(what_is_not_given_has_its_default, setup),
        UNIT_TEST(what_is_given_is_taken, setup),
        UNIT_TEST(the_scheme_says_the_form, setup),
        UNIT_TEST(pdos_form_has_literal_values, setup),
        UNIT_TEST(a_url_is_read_as_doctrine_does, setup),
        UNIT_TEST(of_an_option_that_is_given_twice_the_last_one_counts, setup),
        UNIT_TEST(settings_beside_go_before_those_in_the_dsn, setup),
        UNIT_TEST(settings_beside_are_checked_as_those_in_the_dsn, setup),
        UNIT_TEST(the_server_is_a_host, setup),
        UNIT_TEST(or_a_socket_where_the_host_is_localhost_or_not_given, setup),
        UNIT_TEST(the_path_of_a_socket_fits_into_its_address, setup),
        UNIT_TEST(a_charset_has_a_name, setup),
        UNIT_TEST(timeouts_are_decimal_seconds, setup),
        UNIT_TEST(what_has_no_meaning_here_is_accepted, setup),
        UNIT_TEST(an_unknown_option_is_named, setup),
        UNIT_TEST(a_dsn_has_its_limits, setup),
        UNIT_TEST(dsns_that_mean_the_same_have_one_identity, setup),
        UNIT_TEST(dsns_that_mean_different_things_have_different_ones, setup),
    };

    return cmocka_run_group_tests_name("mysql_store_options", tests, NULL, NULL);
}
