/* TLS options of DSNs for MySQL and MariaDB, and of plain passwords, which need TLS or a socket. */
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

static void refuse(const char *text, const char *why)
{
    dsn_refuse(&dsn_of_mysql, LATCH_ERROR_ARGUMENT, text, strlen(text), why);
}

static void expect_tls(const char *text, bool tls, bool verify)
{
    mysql_store_options options = parse(text);

    if (options.tls != tls || options.verify != verify) {
        fail_msg("%s: %d and %d", text, options.tls, options.verify);
    }
    discard(&options);
}

static void tls_is_asked_for_by_any_of_its_options(void **state)
{
    (void) state;
    expect_tls("mysql:ssl_ca=/f", true, true);
    expect_tls("mysql:ssl_capath=/f", true, true);
    expect_tls("mysql:ssl_cert=/f", true, true);
    expect_tls("mysql:ssl_key=/f", true, true);
    expect_tls("mysql:ssl_cipher=f", true, true);
    expect_tls("mysql:ssl_cipher=", false, false);
    expect_tls("mysql:ssl_verify_server_cert=1", true, true);
    expect_tls("mysql:ssl_verify_server_cert=false", false, false);
    expect_tls("mysql:ssl_ca=/f;ssl_verify_server_cert=0", true, false);
    expect_tls("mysql:ssl_mode=disabled;ssl_verify_server_cert=yes;ssl_ca=/f", false, false);
    expect_tls("mysql:ssl_mode=required", true, false);
    expect_tls("mysql:ssl_mode=REQUIRED;ssl_key=/f", true, false);
    expect_tls("mysql:ssl_mode=required;ssl_ca=/f", true, true);
    expect_tls("mysql:ssl_mode=required;ssl_capath=/f", true, true);
    expect_tls("mysql:ssl_mode=required;ssl_verify_server_cert=true", true, true);
    expect_tls("mysql:ssl_mode=required;ssl_verify_server_cert=off;ssl_ca=/f", true, false);
    expect_tls("mysql://?ssl_mode=verify_identity", true, true);
    refuse("mysql:ssl_mode=preferred",
           "the option \"ssl_mode\" is disabled, required or verify_identity");
    refuse("mysql:ssl_mode=", "the option \"ssl_mode\" is disabled, required or verify_identity");
    refuse("mysql:ssl_verify_server_cert=maybe", "\"ssl_verify_server_cert\" is 0 or 1");
    refuse("mysql:ssl_mode=verify_identity;ssl_verify_server_cert=0",
           "the options \"ssl_mode\" and \"ssl_verify_server_cert\" contradict each other");
}

static void expect_cleartext(const char *text, bool allowed)
{
    mysql_store_options options = parse(text);

    assert_int_equal(options.cleartext, allowed);
    discard(&options);
}

static void the_password_as_it_is_goes_to_a_known_server_only(void **state)
{
    static const char why[] = "the option \"enable_cleartext_plugin\" sends the password as it is: it "
                              "needs \"ssl_mode=verify_identity\", or a socket";

    (void) state;
    expect_cleartext("mysql:host=h", false);
    expect_cleartext("mysql:host=h;enable_cleartext_plugin=0", false);
    expect_cleartext("mysql:enable_cleartext_plugin=1", true);
    expect_cleartext("mysql://localhost?unix_socket=/s&enable_cleartext_plugin=yes", true);
    expect_cleartext("mysql://h?enable_cleartext_plugin=1&ssl_mode=verify_identity", true);
    expect_cleartext("mysql://h?enable_cleartext_plugin=1&ssl_ca=/f", true);
    refuse("mysql://h?enable_cleartext_plugin=1", why);
    refuse("mysql://h?enable_cleartext_plugin=1&ssl_mode=required", why);
    refuse("mysql://h?enable_cleartext_plugin=1&ssl_ca=/f&ssl_verify_server_cert=0", why);
    refuse("mysql://h?enable_cleartext_plugin=1&ssl_ca=/f&ssl_mode=disabled", why);
    refuse("mysql:enable_cleartext_plugin=please", "\"enable_cleartext_plugin\" is 0 or 1");
}

/* The numbers of PDO::MYSQL_ATTR_SSL_KEY and so on. */
static void nor_is_it_left_out_where_doctrines_driver_options_ask_for_it(void **state)
{
    mysql_store_options options = parse("mysql://h?driverOptions[1007]=k&driverOptions[1008]=c"
                                        "&driverOptions[1009]=a&driverOptions[1010]=p"
                                        "&driverOptions[1011]=i&driverOptions[1014]=0");

    (void) state;
    assert_string_equal(options.ssl_key, "k");
    assert_string_equal(options.ssl_cert, "c");
    assert_string_equal(options.ssl_ca, "a");
    assert_string_equal(options.ssl_capath, "p");
    assert_string_equal(options.ssl_cipher, "i");
    assert_true(options.tls);
    assert_false(options.verify);
    discard(&options);
    refuse("mysql://?driverOptions[1014]=x", "the option \"driverOptions[1014]\" is 0 or 1");
}

static void what_asks_for_no_tls_names_no_files_for_it(void **state)
{
    mysql_store_options options = parse("mysql:ssl_mode=disabled;ssl_ca=a;ssl_capath=a;ssl_cert=a;"
                                        "ssl_key=a;ssl_cipher=a");

    (void) state;
    assert_null(options.ssl_ca);
    assert_null(options.ssl_capath);
    assert_null(options.ssl_cert);
    assert_null(options.ssl_key);
    assert_null(options.ssl_cipher);
    discard(&options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(tls_is_asked_for_by_any_of_its_options, setup),
        UNIT_TEST(the_password_as_it_is_goes_to_a_known_server_only, setup),
        UNIT_TEST(nor_is_it_left_out_where_doctrines_driver_options_ask_for_it, setup),
        UNIT_TEST(what_asks_for_no_tls_names_no_files_for_it, setup),
    };

    return cmocka_run_group_tests_name("mysql_tls_options", tests, NULL, NULL);
}
