/* What a DSN for PostgreSQL asks for, and what makes two of them ask for the same connection. */
#include "src/base/dsn.h"
#include "dsn_options.h"

#include <libpq-fe.h>

static postgresql_options parse(const char *text)
{
    return dsn_parse(&dsn_of_postgresql, text).postgresql;
}

static void discard(postgresql_options *options)
{
    latch_postgresql_options_free(unit.engine, options);
}

static void accept(const char *text)
{
    dsn_accept(&dsn_of_postgresql, text);
}

static void refuse_bytes(const char *text, size_t length, const char *why)
{
    dsn_refuse(&dsn_of_postgresql, LATCH_ERROR_ARGUMENT, text, length, why);
}

static void refuse(const char *text, const char *why)
{
    refuse_bytes(text, strlen(text), why);
}

/* What libpq is told of a keyword; NULL: nothing. */
static const char *find(const postgresql_options *options, const char *keyword)
{
    const char *value = NULL;

    for (size_t at = 0; at < options->parameter_count; at++) {
        if (strcmp(options->keywords[at], keyword) == 0) {
            assert_null(value); /* once at most */
            value = options->values[at];
            assert_non_null(value);
        }
    }
    assert_null(options->keywords[options->parameter_count]);
    assert_null(options->values[options->parameter_count]);
    return value;
}

static void expect(const char *text, const char *keyword, const char *value)
{
    postgresql_options options = parse(text);

    dsn_expect_text(text, find(&options, keyword), value);
    discard(&options);
}

static void expect_address(const char *text, const char *address)
{
    postgresql_options options = parse(text);

    dsn_expect_text(text, options.address, address);
    discard(&options);
}

/* ---- What is read */

static void what_is_not_given_has_its_default(void **state)
{
    static const char *const texts[] = {"pgsql:", "postgresql://"};

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        postgresql_options options = parse(texts[at]);

        assert_int_equal(options.parameter_count, 4);
        assert_string_equal(find(&options, "fallback_application_name"), "latch");
        assert_string_equal(find(&options, "keepalives_idle"), "5");
        assert_string_equal(find(&options, "keepalives_interval"), "3");
        assert_string_equal(find(&options, "keepalives_count"), "3");
        assert_int_equal(options.host_count, 1);
        assert_null(options.hosts[0].name);
        assert_null(options.hosts[0].address);
        assert_null(options.hosts[0].port);
        assert_false(options.hosts[0].resolve);
        assert_int_equal(options.connect_timeout_ns, 5 * LATCH_NS_PER_S);
        assert_int_equal(options.command_timeout_ns, 5 * LATCH_NS_PER_S);
        assert_int_equal(options.digest, POSTGRESQL_CRC32);
        assert_string_equal(options.address, "the default server");
        discard(&options);
    }
}

static void what_is_given_is_taken(void **state)
{
    static const char *const texts[] = {
        "pgsql:host=db.example;port=5433;dbname=test;user=me;password=secret;sslmode=require;"
        "application_name=app;keepalives_idle=60;timeout=0.5;read_timeout=7;digest=sha256;"
        "persistent_id=mine",
        "postgresql://me:secret@db.example:5433/test?sslmode=require&application_name=app"
        "&keepalives_idle=60&timeout=.5&read_timeout=7.0&digest=sha256&persistent_id=mine",
    };

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        postgresql_options options = parse(texts[at]);

        assert_int_equal(options.parameter_count, 10);
        assert_string_equal(find(&options, "host"), "db.example");
        assert_string_equal(find(&options, "port"), "5433");
        assert_string_equal(find(&options, "dbname"), "test");
        assert_string_equal(find(&options, "user"), "me");
        assert_string_equal(find(&options, "password"), "secret");
        assert_string_equal(find(&options, "sslmode"), "require");
        assert_string_equal(find(&options, "application_name"), "app");
        assert_null(find(&options, "fallback_application_name"));
        assert_string_equal(find(&options, "keepalives_idle"), "60");
        assert_string_equal(find(&options, "keepalives_interval"), "3");
        assert_int_equal(options.connect_timeout_ns, 500 * LATCH_NS_PER_MS);
        assert_int_equal(options.command_timeout_ns, 7 * LATCH_NS_PER_S);
        assert_int_equal(options.digest, POSTGRESQL_SHA256);
        assert_string_equal(options.address, "db.example:5433");
        discard(&options);
    }
}

static void the_scheme_says_the_form(void **state)
{
    (void) state;
    expect("pgsql:host=h", "host", "h");
    expect("pgsql+advisory:host=h", "host", "h");
    expect("pgsql+advisory:", "host", NULL);
    expect("postgresql://h", "host", "h");
    expect("postgres://h", "host", "h");
    expect("pgsql://h", "host", "h");
    expect("pdo-pgsql://h", "host", "h");
    expect("postgresql+advisory://h", "host", "h");
    expect("postgres+advisory://h", "host", "h");
    expect("pgsql+advisory://h", "host", "h");
    expect("pdo-pgsql+advisory://h", "host", "h");
    refuse("", "written as in \"pgsql:host=localhost;dbname=test\" or \"postgresql://");
    refuse("pgsql", "written as in");
    refuse("PgSQL:host=h", "written as in");
    refuse("postgresql:host=h", "written as in");
    refuse("postgres:host=h", "written as in");
    refuse("pdo-pgsql:host=h", "written as in");
    refuse("postgresql:/h", "written as in");
    refuse("pgsql+advisor:host=h", "written as in");
    refuse("pgsql+advisory", "written as in");
    refuse("pgsql2:host=h", "written as in");
    refuse("mysql://h", "written as in");
    refuse("host=h", "written as in");
}

static void pdos_form_has_semicolons_or_blanks(void **state)
{
    (void) state;
    expect("pgsql:host=h;user=u", "user", "u");
    expect("pgsql:host=h user=u", "user", "u");
    expect("pgsql: ; host = h ;\t\n user =u ; ", "user", "u");
    expect("pgsql: ; host = h ;\t\n user =u ; ", "host", "h");
    expect("pgsql:user=;host=h", "host", NULL); /* blanks go before a value */
    expect("pgsql:user=;host=h", "user", "host=h");
    expect("pgsql:user=''host=h", "user", NULL);
    expect("pgsql:user=''host=h", "host", "h");
    refuse("pgsql:host", "an option has no \"=\"; a value with blanks stands in quotes");
    refuse("pgsql:host=h;user", "an option has no \"=\"");
    refuse("pgsql:password=a b", "an option has no \"=\"");
    refuse("pgsql:=h", "it has an option that is unknown, and not shown as it may be a part of a "
                       "password; known are digest");
}

static void a_value_is_quoted_as_libpq_has_it(void **state)
{
    (void) state;
    expect("pgsql:password='a b'", "password", "a b");
    expect("pgsql:password='a b\\'c';user=u", "password", "a b'c");
    expect("pgsql:password='a b\\'c';user=u", "user", "u");
    expect("pgsql:password=a\\ b\\'c\\\\", "password", "a b'c\\");
    expect("pgsql:password=it's", "password", "it's");
    expect("pgsql:password==", "password", "=");
    expect("pgsql:password=a\\", "password", "a");
    expect("pgsql:password='a;b'", "password", "a b"); /* as with PDO */
    expect("pgsql:password=p%40+q", "password", "p%40+q");
    refuse("pgsql:password='a", "a \"'\" before a value is not closed behind it");
    refuse("pgsql:password='a\\'", "a \"'\" before a value is not closed behind it");
    refuse("pgsql:password='", "a \"'\" before a value is not closed behind it");
}

static void a_url_is_read_as_doctrine_does(void **state)
{
    (void) state;
    expect("postgresql://u@h", "user", "u");
    expect("postgresql://u@h", "password", NULL);
    expect("postgresql://u:p%40%3A@h", "password", "p@:");
    expect("postgresql://u:@h", "password", NULL);
    expect("postgresql://:p@h", "user", NULL);
    expect("postgresql://:p@h", "password", "p");
    expect("postgresql:///db", "host", NULL);
    expect("postgresql:///db", "dbname", "db");
    expect("postgresql://h/", "dbname", NULL);
    expect("postgresql://h/a%20b/c", "dbname", "a b/c");
    expect("postgresql://[::1]:1/db", "host", "::1");
    expect("postgresql://[::1]:1/db", "port", "1");
    expect("postgresql://u:p@h/db?user=me&password=mine", "user", "me");
    expect("postgresql://u:p@h/db?user=me&password=mine", "password", "mine");
    expect("postgresql://h/db?host=i&port=2&dbname=other", "host", "i");
    expect("postgresql://h/db?host=i&port=2&dbname=other", "dbname", "other");
    expect("postgresql://h?options=-c+a%3Db", "options", "-c a=b");
    refuse("postgresql://h:0", "the port is a number from 1 to 65535");
    refuse("postgresql://a b", "the host is a name or an address");
    refuse("postgresql://h?host=@a", "\"%40\" in user and password, as is \"@\" in options");
    refuse("postgresql://u:a/b@h", "\"/\", \"?\", \"#\" and \"@\" are written as \"%2F\", ");
    refuse("postgresql://u:a?b@h", "\"/\", \"?\", \"#\" and \"@\" are written as \"%2F\", ");
    refuse("postgresql://u:a#b@h", "\"/\", \"?\", \"#\" and \"@\" are written as \"%2F\", ");
    refuse("postgresql://u:a@b@h", "only one \"@\" may stand in it");
}

static void every_keyword_of_libpq_is_known(void **state)
{
    PQconninfoOption *known = PQconninfoParse("", NULL);
    size_t count = 0;
    char text[128];

    (void) state;
    for (const PQconninfoOption *option = known; option->keyword != NULL; option++, count++) {
        bool is_ours = strcmp(option->keyword, "connect_timeout") == 0;

        const char *value = strcmp(option->keyword, "hostaddr") == 0 ? "::7" : "7";

        snprintf(text, sizeof(text), "pgsql:%s=%s", option->keyword, value);
        expect(text, option->keyword, is_ours ? NULL : value);
        snprintf(text, sizeof(text), "postgresql://?%s=%s", option->keyword, value);
        expect(text, option->keyword, is_ours ? NULL : value);
        snprintf(text, sizeof(text), "pgsql:%s[]=7", option->keyword);
        refuse(text, is_ours ? "has one value and no brackets" : "is unknown");
    }
    assert_true(count > 30);
    PQconninfoFree(known);
}

static void of_an_option_that_is_given_twice_the_last_one_counts(void **state)
{
    (void) state;
    expect("pgsql:host=a;host=b", "host", "b");
    expect("pgsql:host=a;host=''", "host", NULL);
    expect("postgresql://a?host=b&host=c", "host", "c");
}

static void settings_beside_go_before_those_in_the_dsn(void **state)
{
    const latch_setting settings[] = {
        {"user", "root"}, {"password", "s p'\\;"}, {"timeout", "2"},
        {"dbname", ""},   {"host", NULL},          {"digest", "sha256"},
    };
    static const char *const texts[] = {
        "pgsql:user=u;password=p;timeout=1;dbname=d;host=h",
        "postgresql://u:p@h/d?timeout=1",
    };

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        postgresql_options options;

        dsn_beside.first = settings;
        dsn_beside.count = sizeof(settings) / sizeof(*settings);
        options = parse(texts[at]);
        dsn_beside.count = 0;
        assert_string_equal(find(&options, "user"), "root");
        assert_string_equal(find(&options, "password"), "s p'\\;");
        assert_string_equal(find(&options, "dbname"), "d"); /* an empty one is as none */
        assert_string_equal(find(&options, "host"), "h");
        assert_int_equal(options.connect_timeout_ns, 2 * LATCH_NS_PER_S);
        assert_int_equal(options.digest, POSTGRESQL_SHA256);
        discard(&options);
    }
}

static void settings_beside_are_checked_as_those_in_the_dsn(void **state)
{
    static char longer[LATCH_DSN_MAX + 2];
    latch_setting setting = {"timeout", "x"};

    (void) state;
    dsn_beside.first = &setting;
    dsn_beside.count = 1;
    refuse("pgsql:", "the option \"timeout\" is a number of seconds");
    setting = (latch_setting){"nobody", "x"};
    refuse("pgsql:password=p", "the option \"nobody\" is unknown; known are digest");
    memset(longer, 'x', LATCH_DSN_MAX);
    setting = (latch_setting){"password", longer};
    accept("pgsql:");
    longer[LATCH_DSN_MAX] = 'x';
    refuse("pgsql:", "the option \"password\" is longer than 4096 bytes");
    setting = (latch_setting){longer, "x"};
    refuse("pgsql:", "the option \"?\" is longer than 4096 bytes");
    dsn_beside.count = 0;
}

/* ---- Servers */

static void a_name_is_to_be_resolved_and_an_address_is_not(void **state)
{
    static const struct {
        const char *text, *name, *address, *port;
        bool resolve;
    } hosts[] = {
        {"pgsql:host=h", "h", NULL, NULL, true},
        {"pgsql:host=localhost;port=1", "localhost", NULL, "1", true},
        {"pgsql:host=1.2.3.4.example", "1.2.3.4.example", NULL, NULL, true},
        {"pgsql:host=127.0.0.1", "127.0.0.1", NULL, NULL, false},
        {"postgresql://[::1]:1", "::1", NULL, "1", false},
        {"postgresql://[fe80::1%25eth0]", "fe80::1%eth0", NULL, NULL, false},
        {"pgsql:host=127.0.0.1%eth0", "127.0.0.1%eth0", NULL, NULL, true},
        {"pgsql:host=/run/postgresql", "/run/postgresql", NULL, NULL, false},
        {"postgresql:///db?host=/run/postgresql", "/run/postgresql", NULL, NULL, false},
        {"postgresql://?host=%40abstract", "@abstract", NULL, NULL, false},
        {"pgsql:host=@abstract", "@abstract", NULL, NULL, false},
        {"pgsql:host=h;hostaddr=127.0.0.1", "h", "127.0.0.1", NULL, false},
        {"pgsql:hostaddr=127.0.0.1", NULL, "127.0.0.1", NULL, false},
        {"pgsql:port=1", NULL, NULL, "1", false},
    };

    (void) state;
    for (size_t at = 0; at < sizeof(hosts) / sizeof(*hosts); at++) {
        postgresql_options options = parse(hosts[at].text);

        assert_int_equal(options.host_count, 1);
        dsn_expect_text(hosts[at].text, options.hosts->name, hosts[at].name);
        dsn_expect_text(hosts[at].text, options.hosts->address, hosts[at].address);
        dsn_expect_text(hosts[at].text, options.hosts->port, hosts[at].port);
        assert_int_equal(options.hosts->resolve, hosts[at].resolve);
        discard(&options);
    }
}

static void there_may_be_several_servers(void **state)
{
    postgresql_options options = parse("pgsql:host=a,/run,,d;hostaddr=::1,,,127.0.0.1;port=1,,3,4");

    (void) state;
    assert_int_equal(options.host_count, 4);
    dsn_expect_text("0", options.hosts[0].name, "a");
    dsn_expect_text("0", options.hosts[0].address, "::1");
    dsn_expect_text("0", options.hosts[0].port, "1");
    dsn_expect_text("1", options.hosts[1].name, "/run");
    dsn_expect_text("1", options.hosts[1].address, NULL);
    dsn_expect_text("1", options.hosts[1].port, NULL);
    dsn_expect_text("2", options.hosts[2].name, NULL);
    dsn_expect_text("2", options.hosts[2].port, "3");
    dsn_expect_text("3", options.hosts[3].name, "d");
    dsn_expect_text("3", options.hosts[3].address, "127.0.0.1");
    assert_string_equal(options.address, "a:1, /run/.s.PGSQL.5432, the default server, d:4");
    discard(&options);

    options = parse("pgsql:host=a,b,;port=7");
    assert_int_equal(options.host_count, 3);
    for (size_t at = 0; at < 3; at++) {
        dsn_expect_text("one for all", options.hosts[at].port, "7");
    }
    assert_true(options.hosts[1].resolve);
    discard(&options);

    options = parse("postgresql://?hostaddr=::1,::2");
    assert_int_equal(options.host_count, 2);
    dsn_expect_text("1", options.hosts[1].address, "::2");
    discard(&options);
}

static void what_libpq_could_not_take_apart_is_refused(void **state)
{
    (void) state;
    accept("pgsql:port=65535");
    refuse("pgsql:port=0", "the option \"port\" is a number from 1 to 65535");
    refuse("pgsql:port=65536", "the option \"port\" is a number from 1 to 65535");
    refuse("pgsql:port=-1", "the option \"port\" is a number from 1 to 65535");
    refuse("pgsql:port=x", "the option \"port\" is a number from 1 to 65535");
    refuse("pgsql:host=a,b;port=1,x", "the option \"port\" is a number from 1 to 65535");
    refuse("pgsql:port=1,2", "one number, or as many as there are servers");
    refuse("pgsql:host=a;port=1,", "one number, or as many as there are servers");
    refuse("pgsql:host=a,b;port=1,2,3", "one number, or as many as there are servers");
    refuse("pgsql:host=a,b;hostaddr=::1", "\"hostaddr\" has as many addresses as");
    refuse("pgsql:host=a;hostaddr=::1,", "\"hostaddr\" has as many addresses as");
    refuse("pgsql:host=a\x01", "the option \"host\" has a control character in it");
    refuse("postgresql://?host=/a%0ab", "the option \"host\" has a control character in it");
    refuse("pgsql:sslkey='-----BEGIN KEY-----'", "the option \"sslkey\" is the path of a file");
    refuse("pgsql:host=user:pass", "the option \"host\" is a name, an address or the folder");
    refuse("pgsql:host=user:pass@h", "the option \"host\" is a name, an address or the folder");
    refuse("pgsql:host=a,user:pass,b", "the option \"host\" is a name, an address or the folder");
    refuse("pgsql:host='user:pass h'", "the option \"host\" is a name, an address or the folder");
    refuse("pgsql:hostaddr=user:pass", "the option \"hostaddr\" is an IP address");
    refuse("pgsql:hostaddr=a\x7f", "the option \"hostaddr\" has a control character in it");
}

static void the_address_is_for_people(void **state)
{
    (void) state;
    expect_address("pgsql:host=127.0.0.1", "127.0.0.1:5432");
    expect_address("postgresql://u:p@[::1]:1/db", "[::1]:1");
    expect_address("pgsql:hostaddr=::1", "[::1]:5432");
    expect_address("pgsql:host=h;hostaddr=::1", "h:5432");
    expect_address("pgsql:host=/run/postgresql", "/run/postgresql/.s.PGSQL.5432");
    expect_address("pgsql:host=/tmp port=6432", "/tmp/.s.PGSQL.6432");
    expect_address("pgsql:service=s", "the default server");
}

/* ---- Options of Latch */

static void expect_timeouts(const char *text, int64_t connect_ns, int64_t command_ns)
{
    postgresql_options options = parse(text);

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
    expect_timeouts("pgsql:timeout=2.5", 2500 * LATCH_NS_PER_MS, five);
    expect_timeouts("pgsql:connect_timeout=3", 3 * LATCH_NS_PER_S, five);
    expect_timeouts("pgsql:connect_timeout=3;timeout=4", 4 * LATCH_NS_PER_S, five);
    expect_timeouts("postgresql://?timeout=4&connect_timeout=3", 3 * LATCH_NS_PER_S, five);
    expect_timeouts("pgsql:read_timeout=0.001", five, LATCH_NS_PER_MS);
    expect_timeouts("pgsql:read_timeout=86400", five, 86400 * LATCH_NS_PER_S);
    expect_timeouts("pgsql:timeout=0 read_timeout=0.0", five, five);
    refuse("pgsql:timeout=x", "\"timeout\" is a number of seconds from 0.001 to 86400");
    refuse("pgsql:timeout=''", "\"timeout\" is a number of seconds from 0.001 to 86400");
    refuse("pgsql:timeout=-1", "\"timeout\" is a number of seconds from 0.001 to 86400");
    refuse("pgsql:connect_timeout=-1", "\"connect_timeout\" is a number of seconds");
    refuse("pgsql:read_timeout=0.0009", "\"read_timeout\" is a number of seconds");
    refuse("pgsql:read_timeout=86400.1", "\"read_timeout\" is a number of seconds");
    refuse("pgsql:read_timeout=86401", "\"read_timeout\" is a number of seconds");
}

static void the_digest_is_crc32_or_sha256(void **state)
{
    postgresql_options options = parse("pgsql:digest=crc32");

    (void) state;
    assert_int_equal(options.digest, POSTGRESQL_CRC32);
    discard(&options);
    refuse("pgsql:digest=md5", "the option \"digest\" is crc32 or sha256");
    refuse("postgresql://?digest=", "the option \"digest\" is crc32 or sha256");
}

static void what_has_no_meaning_here_is_accepted(void **state)
{
    static const char *const names[] = {
        "charset",   "default_dbname", "defaultTableOptions[a]", "driver",
        "platform",  "driverClass",    "driverOptions[1][2]",    "keepReplica",
        "keepSlave", "persistent",     "serverVersion",          "wrapperClass",
    };

    (void) state;
    for (size_t at = 0; at < sizeof(names) / sizeof(*names); at++) {
        postgresql_options options;
        char text[64];

        snprintf(text, sizeof(text), "postgresql://?%s=1", names[at]);
        options = parse(text);
        assert_int_equal(options.parameter_count, 4);
        discard(&options);
    }
    accept("postgresql://u:p@h:5432/db?serverVersion=15&charset=utf8");
    refuse("postgresql://?charset[a]=b", "the option \"charset\" has one value and no brackets");
    refuse("postgresql://?timeout[]=1", "the option \"timeout\" has one value and no brackets");
}

static void an_unknown_option_is_named(void **state)
{
    static const char known[] = "known are digest, persistent_id, read_timeout, timeout and "
                                "libpq's keywords";

    (void) state;
    refuse("pgsql:nobody=1", "the option \"nobody\" is unknown; ");
    refuse("pgsql:nobody=1", known);
    refuse("postgresql://?no.body[x]=1", "the option \"no.body[x]\" is unknown; ");
    refuse("postgresql://u:p@h?nobody", "it has an option that is unknown, and not shown");
    refuse("postgresql://u:p@h?bm9ib2R5==", "it has an option that is unknown, and not shown");
    refuse("postgresql://?Host=h", "the option \"Host\" is unknown; ");
    /* but where it may be part of a password */
    refuse("pgsql:password=a;b=c", "an option after \"password\" is unknown (is a \";\" or a blank "
                                   "in the password?); known are digest");
    refuse("postgresql://?sslpassword=a&b=c", "an option after \"password\" is unknown (is a \"&\" "
                                              "not written as \"%26\" in the password?)");
    refuse("pgsql:postgresql://u:p@h/?a=b", "it has an option that is unknown, and not shown");
}

static void a_dsn_has_its_limits(void **state)
{
    static char text[LATCH_DSN_MAX + 2] = "pgsql:password=";

    (void) state;
    memset(text + 15, 'x', LATCH_DSN_MAX - 15);
    accept(text);
    text[LATCH_DSN_MAX] = 'x';
    refuse(text, "it is longer than 4096 bytes");
    refuse_bytes("pgsql:host=h\0x", 14, "it must not contain a NUL byte");
    refuse_bytes("postgresql://h?\0", 16, "it must not contain a NUL byte");
    refuse_bytes(NULL, 0, "written as in");
    refuse("postgresql://h?a=%00", "it must not contain a NUL byte");
}

/* ---- Which connections are the same */

static void dsns_that_mean_the_same_have_one_identity(void **state)
{
    static const char *const pairs[][2] = {
        {"pgsql:", "postgresql://"},
        {"pgsql:", "pgsql+advisory:host=''"},
        {"pgsql:host=h", "postgres://h"},
        {"pgsql:host=h", "postgresql+advisory://h?serverVersion=15&charset=utf8&persistent_id="},
        {"pgsql:host=h", "pgsql:host=h;timeout=5;read_timeout=0;digest=crc32;keepalives_count=3"},
        {"pgsql:host=h", "pgsql:fallback_application_name=latch;host=h"},
        {"pgsql:host=h;user=u", "pgsql:user=u;host=h"},
        {"pgsql:user=a;user=b", "pgsql:user=b"},
        {"pgsql:host=h port=1 dbname=d user=u password='a b'", "postgresql://u:a%20b@h:1/d"},
        {"pgsql:timeout=2", "pgsql:connect_timeout=2.0"},
    };

    (void) state;
    dsn_expect_same(&dsn_of_postgresql, pairs, sizeof(pairs) / sizeof(*pairs));
}

/* No two of these are the same, also not those that could be if parts were run together. */
static void dsns_that_mean_different_things_have_different_ones(void **state)
{
    static const char *const different[] = {
        "pgsql:",
        "pgsql:host=h",
        "pgsql:host=i",
        "pgsql:hostaddr=::1",
        "pgsql:host=h;port=1",
        "pgsql:dbname=h",
        "pgsql:dbname=u",
        "pgsql:user=u",
        "pgsql:user=U",
        "pgsql:user=u;password=p",
        "pgsql:user=p;password=u",
        "pgsql:user='u 1:p'",
        "pgsql:user=-",
        "pgsql:password=-",
        "pgsql:password='- -'",
        "pgsql:user=u;password='- 1:p'",
        "pgsql:sslmode=require",
        "pgsql:application_name=a",
        "pgsql:fallback_application_name=a",
        "pgsql:keepalives_idle=1",
        "pgsql:options=a",
        "pgsql:timeout=1",
        "pgsql:read_timeout=1",
        "pgsql:digest=sha256",
        "pgsql:persistent_id=1",
        "pgsql:persistent_id=-",
        "pgsql:persistent_id=sha256",
    };

    (void) state;
    dsn_expect_different(&dsn_of_postgresql, different, sizeof(different) / sizeof(*different));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(what_is_not_given_has_its_default, setup),
        UNIT_TEST(what_is_given_is_taken, setup),
        UNIT_TEST(the_scheme_says_the_form, setup),
        UNIT_TEST(pdos_form_has_semicolons_or_blanks, setup),
        UNIT_TEST(a_value_is_quoted_as_libpq_has_it, setup),
        UNIT_TEST(a_url_is_read_as_doctrine_does, setup),
        UNIT_TEST(every_keyword_of_libpq_is_known, setup),
        UNIT_TEST(of_an_option_that_is_given_twice_the_last_one_counts, setup),
        UNIT_TEST(settings_beside_go_before_those_in_the_dsn, setup),
        UNIT_TEST(settings_beside_are_checked_as_those_in_the_dsn, setup),
        UNIT_TEST(a_name_is_to_be_resolved_and_an_address_is_not, setup),
        UNIT_TEST(there_may_be_several_servers, setup),
        UNIT_TEST(what_libpq_could_not_take_apart_is_refused, setup),
        UNIT_TEST(the_address_is_for_people, setup),
        UNIT_TEST(timeouts_are_decimal_seconds, setup),
        UNIT_TEST(the_digest_is_crc32_or_sha256, setup),
        UNIT_TEST(what_has_no_meaning_here_is_accepted, setup),
        UNIT_TEST(an_unknown_option_is_named, setup),
        UNIT_TEST(a_dsn_has_its_limits, setup),
        UNIT_TEST(dsns_that_mean_the_same_have_one_identity, setup),
        UNIT_TEST(dsns_that_mean_different_things_have_different_ones, setup),
    };

    return cmocka_run_group_tests_name("postgresql_options", tests, NULL, NULL);
}
