/* What DSNs for PostgreSQL and MySQL must not leave behind: a password where others read it, and
 * memory. */
#include "dsn_options.h"

static const dsn_kind *kind_of(const char *text)
{
    return *text == 'm' ? &dsn_of_mysql : &dsn_of_postgresql;
}

/* ---- Secrets */

static void expect_secrecy(const char *pattern, const latch_setting *setting)
{
    dsn_beside = (struct dsn_settings){setting, setting != NULL};
    dsn_expect_secrecy(kind_of(pattern), pattern);
    dsn_beside.count = 0;
}

static void no_message_has_a_password_in_it(void **state)
{
    static const char *const patterns[] = {
        /* no DSN, or another's */
        "*",
        "*@h",
        "user:*@h",
        "*://h",
        "postgresql:u:*@h",
        "redis://u:*@h",
        "postgresql:*",
        "my*://h",
        "mysql2:u:*@h",
        "mysqlx://u:*@h",
        /* PDO's form: what is no option, and what is not all of the password */
        "pgsql:*",
        "pgsql:u:*@h",
        "pgsql:password=a *",
        "pgsql:password=a;*",
        "pgsql:password=a *=b",
        "pgsql:password=a;*=b",
        "pgsql:password=a;b=*",
        "pgsql:password='*",
        "pgsql:password='a' *=b",
        "pgsql:password='*';x=y",
        "pgsql:password=*;x=y",
        "pgsql:x=y;password=*",
        "pgsql:sslpassword=a;*=b",
        "pgsql:password=*;timeout=x",
        "pgsql:password=*;port=x",
        "pgsql:password=*;digest=x",
        "pgsql:password=*;host=a\x01",
        "pgsql:password=*;port=1,2",
        "pgsql:u:*@host=h",
        "pgsql:postgresql://u:*@h/?a=b",
        "pgsql:pass=*",
        "pgsql:timeout=*",
        "pgsql:digest=*",
        "pgsql:port=*",
        "pgsql:host=*\x01",
        "pgsql:host=*,b;hostaddr=c",
        "mysql:*",
        "mysql:u:*@h",
        "mysql:password=a;*",
        "mysql:password=a;*=b",
        "mysql:password=a;b=*",
        "mysql:password=*;x=y",
        "mysql:x=y;password=*",
        "mysql:password=*;timeout=x",
        "mysql:password=*;port=x",
        "mysql:password=*;host=a b",
        "mysql:password=*;unix_socket=x",
        "mysql:password=*;charset=-",
        "mysql:password=*;ssl_mode=x",
        "mysql:password=*;ssl_verify_server_cert=x",
        "mysql:pass=*",
        "mysql:host=* a",
        "mysql:port=*",
        "mysql:unix_socket=*",
        "mysql:charset=-*",
        "mysql:ssl_mode=*",
        "mysql:ssl_verify_server_cert=*",
        "mysql:timeout=*",
        /* URLs: raw characters where they may not be, or not so many */
        "postgresql://u:*@ss@h",
        "postgresql://u:p@*@h",
        "postgresql://u:p@ss/*@h",
        "postgresql://u:p@ss?*@h",
        "postgresql://u:*/a@h",
        "postgresql://u:*?a@h",
        "postgresql://u:*#a@h",
        "postgresql://u:a/*@h",
        "postgresql://u:a#*@h",
        "postgresql://h/db?password=a@*",
        "postgresql://h/db?password=*@a",
        "postgresql://u:p@h#*",
        "postgresql://u:p@h:*",
        "postgresql://u:*",
        "postgresql://u:*/db",
        "postgresql://u:*%@h",
        "postgresql://u:%*@h",
        "postgresql://u:*%00@h",
        "mysql://u:*@ss@h",
        "mysql://u:*/a@h",
        "mysql://u:*",
        "mysql://h?password=*@a",
        "mysql://h?password=a@*",
        /* the right place, and a fault elsewhere */
        "postgresql://u:*@h:x",
        "postgresql://u:*@h?x=y",
        "postgresql://u:*@h?timeout=x",
        "postgresql://u:*@h?password=a&x=y",
        "mysql://u:*@h:x",
        "mysql://u:*@h?x=y",
        "mysql://u:*@h?ssl_mode=x",
        "mysql://u:*@h?ssl_mode=verify_identity&ssl_verify_server_cert",
        /* the option */
        "postgresql://h?password=a&*",
        "postgresql://h?password=a&*=b",
        "postgresql://h?password=*&x=y",
        "postgresql://h?x=y&password=*",
        "postgresql://h?password=*#",
        "postgresql://h?password=*%",
        "postgresql://h?password=*\n",
        "mysql://h?password=a&*",
        "mysql://h?password=a&*=b",
        "mysql://h?password=*&x=y",
        "mysql://h?password[*]=x",
    };

    (void) state;
    for (size_t at = 0; at < sizeof(patterns) / sizeof(*patterns); at++) {
        expect_secrecy(patterns[at], NULL);
    }
}

static void nor_one_that_comes_beside(void **state)
{
    static const char *const texts[] = {"pgsql:x=y",     "pgsql:timeout=x",    "postgresql://h:x",
                                        "postgresql://", "mysql:x=y",          "mysql:timeout=x",
                                        "mysql://h:x",   "mysql://?timeout=0", "x"};
    static const char *const names[] = {"timeout", "read_timeout", "port", "nobody", "pass"};

    (void) state;
    for (size_t at = 0; at < sizeof(texts) / sizeof(*texts); at++) {
        for (size_t name = 0; name < sizeof(names) / sizeof(*names); name++) {
            expect_secrecy(texts[at], &(latch_setting){names[name], DSN_MARKER});
        }
        if (strchr("xy", texts[at][strlen(texts[at]) - 1]) != NULL) {
            expect_secrecy(texts[at], &(latch_setting){"password", DSN_MARKER});
        }
    }
}

static void no_password_stays_in_freed_memory(void **state)
{
    static const char *const texts[] = {
        "pgsql:user=u;password=" DSN_MARKER ";host=h",
        "pgsql:password='" DSN_MARKER "' sslpassword=" DSN_MARKER,
        "postgresql://u:" DSN_MARKER "@h/db?digest=sha256",
        "postgresql://h?password=" DSN_MARKER,
        "postgresql://u:" DSN_MARKER "@h?timeout=x",
        "pgsql:password=" DSN_MARKER ";x",
        "pgsql:password=" DSN_MARKER ";x=y",
        "mysql:user=u;password=" DSN_MARKER ";host=h",
        "mysql://u:" DSN_MARKER "@h/db?ssl_mode=required",
        "mysql://h?password=" DSN_MARKER "&timeout=x",
        "mysql:password=" DSN_MARKER ";x",
    };
    const latch_setting setting = {"password", "beside" DSN_MARKER};
    latch_engine *engine = dsn_begin_watching();
    dsn_options options;

    (void) state;
    for (size_t at = 0; at < 2 * sizeof(texts) / sizeof(*texts); at++) {
        const dsn_kind *kind = kind_of(texts[at / 2]);
        latch_store_options given = {.dsn = texts[at / 2],
                                     .dsn_length = strlen(texts[at / 2]),
                                     .settings = &setting,
                                     .setting_count = at % 2 == 0};

        if (kind->parse(engine, &given, &options, &unit.error) == LATCH_DONE) {
            kind->discard(engine, &options);
            kind->discard(engine, &options); /* nothing happens */
        }
    }
    assert_true(dsn_end_watching(engine) >= 2 * (4 * 6 + 2 * 3 + 5));
}

/* ---- Memory */

static void every_allocation_may_fail(void **state)
{
    static const char *const texts[] = {
        "pgsql:host=a,b;port=1;user=u;password=p;digest=sha256;persistent_id=i",
        "postgresql+advisory://u:p@[::1]:1/db?sslmode=require&timeout=1",
        "mysql:unix_socket=/run/s;user=u;password=p",
        "mariadb://u:p@h:1/db?ssl_ca=/f&persistent_id=i",
    };
    const latch_setting setting = {"user", "me"};

    (void) state;
    dsn_beside = (struct dsn_settings){&setting, 1};
    for (size_t at = 0; at < sizeof(texts) / sizeof(*texts); at++) {
        dsn_expect_survival(kind_of(texts[at]), texts[at], 3);
    }
    dsn_beside.count = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(no_message_has_a_password_in_it, setup),
        UNIT_TEST(nor_one_that_comes_beside, setup),
        UNIT_TEST(no_password_stays_in_freed_memory, setup),
        UNIT_TEST(every_allocation_may_fail, setup),
    };

    return cmocka_run_group_tests_name("sql_options leaks", tests, NULL, NULL);
}
