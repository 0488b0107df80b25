/* What DSNs for PostgreSQL and MySQL must not leave behind: a password where others read it, and
 * memory. */
#include "store/mysql_options.h"
#include "store/postgresql_options.h"
#include "unit.h"

#define MARKER "hUnT3r2"

typedef union server_options {
    postgresql_options postgresql;
    mysql_store_options mysql;
} server_options;

static bool is_mysql(const char *text)
{
    return *text == 'm';
}

static latch_status parse(latch_engine *engine, const char *text, const latch_setting *setting,
                          server_options *options)
{
    latch_store_options given = {.dsn = text,
                                 .dsn_length = strlen(text),
                                 .settings = setting,
                                 .setting_count = setting != NULL};

    return is_mysql(text)
               ? latch_mysql_options_parse(engine, &given, &options->mysql, &unit.error)
               : latch_postgresql_options_parse(engine, &given, &options->postgresql, &unit.error);
}

static void discard(latch_engine *engine, const char *text, server_options *options)
{
    if (is_mysql(text)) {
        latch_mysql_options_free(engine, &options->mysql);
        assert_null(options->mysql.identity);
    } else {
        latch_postgresql_options_free(engine, &options->postgresql);
        assert_null(options->postgresql.identity);
    }
}

/* ---- Secrets */

/* Reads it with the marker in place of each "*", and expects a message without the marker. */
static void expect_secrecy(const char *pattern, const latch_setting *setting)
{
    char text[400];
    size_t length = 0;
    server_options options;

    for (const char *at = pattern; *at != '\0'; at++) {
        const char *piece = *at == '*' ? MARKER : (char[]){*at, '\0'};

        memcpy(text + length, piece, strlen(piece) + 1);
        length += strlen(piece);
    }
    if (parse(unit.engine, text, setting, &options) == LATCH_DONE) {
        fail_msg("%s: not refused", text);
    }
    if (strstr(unit.error.message, MARKER) != NULL) {
        fail_msg("%s: %s", text, unit.error.message);
    }
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
            expect_secrecy(texts[at], &(latch_setting){names[name], MARKER});
        }
        if (strchr("xy", texts[at][strlen(texts[at]) - 1]) != NULL) {
            expect_secrecy(texts[at], &(latch_setting){"password", MARKER});
        }
    }
}

static void (*deallocate)(void *context, void *pointer);
static void *(*allocate)(void *context, size_t size);
static size_t freed; /* blocks, without the engine's */

/* malloc_usable_size() is no help: the size of a block is remembered. */
static struct {
    void *block;
    size_t size;
} blocks[32];

static void *remember(void *context, size_t size)
{
    void *block = allocate(context, size);

    for (size_t at = 0; at < sizeof(blocks) / sizeof(*blocks); at++) {
        if (blocks[at].block == NULL) {
            blocks[at].block = block;
            blocks[at].size = size;
            return block;
        }
    }
    fail_msg("more blocks than expected");
    return block;
}

static void look_for_marker(void *context, void *pointer)
{
    for (size_t at = 0; pointer != NULL && at < sizeof(blocks) / sizeof(*blocks); at++) {
        if (blocks[at].block == pointer) {
            assert_null(memmem(pointer, blocks[at].size, MARKER, strlen(MARKER)));
            blocks[at].block = NULL;
            freed++;
        }
    }
    deallocate(context, pointer);
}

static void no_password_stays_in_freed_memory(void **state)
{
    static const char *const texts[] = {
        "pgsql:user=u;password=" MARKER ";host=h",
        "pgsql:password='" MARKER "' sslpassword=" MARKER,
        "postgresql://u:" MARKER "@h/db?digest=sha256",
        "postgresql://h?password=" MARKER,
        "postgresql://u:" MARKER "@h?timeout=x",
        "pgsql:password=" MARKER ";x",
        "pgsql:password=" MARKER ";x=y",
        "mysql:user=u;password=" MARKER ";host=h",
        "mysql://u:" MARKER "@h/db?ssl_mode=required",
        "mysql://h?password=" MARKER "&timeout=x",
        "mysql:password=" MARKER ";x",
    };
    const latch_setting setting = {"password", "beside" MARKER};
    latch_env env = unit.env;
    latch_engine *engine;
    server_options options;

    (void) state;
    allocate = env.allocate;
    deallocate = env.deallocate;
    env.allocate = remember;
    env.deallocate = look_for_marker;
    engine = latch_engine_create(&env, &unit.error);
    freed = 0;
    for (size_t at = 0; at < 2 * sizeof(texts) / sizeof(*texts); at++) {
        const char *text = texts[at / 2];

        if (parse(engine, text, at % 2 == 0 ? &setting : NULL, &options) == LATCH_DONE) {
            discard(engine, text, &options);
            discard(engine, text, &options); /* nothing happens */
        }
    }
    assert_true(freed >= 2 * (4 * 6 + 2 * 3 + 5));
    latch_engine_destroy(engine);
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
    for (size_t at = 0; at < sizeof(texts) / sizeof(*texts); at++) {
        latch_status status = LATCH_ERROR_MEMORY;
        size_t live = unit.live, number = 0;

        while (status != LATCH_DONE) {
            server_options options;

            unit.fail_at = unit.allocations + ++number;
            status = parse(unit.engine, texts[at], &setting, &options);
            unit.fail_at = 0;
            if (status != LATCH_DONE) {
                assert_string_equal(unit.error.message, "out of memory");
                assert_int_equal(status, LATCH_ERROR_MEMORY);
            }
            discard(unit.engine, texts[at], &options);
            assert_int_equal(unit.live, live);
            assert_true(number < 20);
        }
        assert_true(number > 3);
    }
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
