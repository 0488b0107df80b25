/* DSNs: read as Symfony reads them; what is wrong with one is said without a word of it. */
#include "src/base/dsn.h"
#include "unit.h"

#include <stdlib.h>

#define TEXT_MAX (LATCH_DSN_MAX + 100)

static latch_dsn *parse(const char *text)
{
    latch_dsn *dsn = NULL;
    latch_status status = latch_dsn_parse(unit.engine, text, strlen(text), &dsn, &unit.error);

    if (status != LATCH_DONE) {
        fail_msg("%s: %s", text, unit.error.message);
    }
    return dsn;
}

static void refuse_bytes(const char *text, size_t length, const char *why)
{
    latch_dsn *untouched = (latch_dsn *) &unit, *dsn = untouched;

    memset(&unit.error, 0, sizeof(unit.error));
    if (latch_dsn_parse(unit.engine, text, length, &dsn, &unit.error) != LATCH_ERROR_ARGUMENT) {
        fail_msg("%s: not refused", text);
    }
    assert_ptr_equal(dsn, untouched);
    assert_int_equal(unit.error.status, LATCH_ERROR_ARGUMENT);
    assert_int_equal(unit.error.sys_errno, 0);
    assert_memory_equal(unit.error.message, "invalid DSN: ", 13);
    if (strstr(unit.error.message, why) == NULL) {
        fail_msg("%s: \"%s\", not \"%s\"", text, unit.error.message, why);
    }
}

static void refuse(const char *text, const char *why)
{
    refuse_bytes(text, strlen(text), why);
}

static void expect_text(const char *of, const char *text, const char *expected)
{
    if ((text == NULL) != (expected == NULL) || (text != NULL && strcmp(text, expected) != 0)) {
        fail_msg("%s: \"%s\", not \"%s\"", of, text != NULL ? text : "(none)",
                 expected != NULL ? expected : "(none)");
    }
}

/* `options` is "<name>=<value>;..." */
static void expect(const char *text, const latch_dsn *expected, const char *options)
{
    latch_dsn *dsn = parse(text);
    char got[TEXT_MAX] = "";

    expect_text(text, dsn->scheme, expected->scheme);
    expect_text(text, dsn->user, expected->user);
    expect_text(text, dsn->password, expected->password);
    expect_text(text, dsn->host, expected->host);
    assert_int_equal(dsn->port, expected->port);
    expect_text(text, dsn->path, expected->path != NULL ? expected->path : "");
    for (const latch_dsn_option *option = dsn->options; option != NULL; option = option->next) {
        strcat(got, option->name);
        strcat(got, "=");
        strcat(got, option->value);
        strcat(got, ";");
    }
    expect_text(text, got, options);
    latch_dsn_free(unit.engine, dsn);
}

#define EXPECT(text, ...) expect(text, &(latch_dsn){__VA_ARGS__}, "")
#define EXPECT_OPTIONS(text, options, ...) expect(text, &(latch_dsn){__VA_ARGS__}, options)

static void what_symfony_documents_is_read_as_there(void **state)
{
    (void) state;
    EXPECT("redis://localhost", .scheme = "redis", .host = "localhost");
    EXPECT("redis://example.com:1234", .scheme = "redis", .host = "example.com", .port = 1234);
    EXPECT("redis://secret@example.com/13", .scheme = "redis", .password = "secret",
           .host = "example.com", .path = "/13");
    EXPECT("redis:///var/run/redis.sock", .scheme = "redis", .path = "/var/run/redis.sock");
    EXPECT("redis://secret@/var/run/redis.sock/13", .scheme = "redis", .password = "secret",
           .path = "/var/run/redis.sock/13");
    EXPECT("redis://user:pass@host:6379/1", .scheme = "redis", .user = "user", .password = "pass",
           .host = "host", .port = 6379, .path = "/1");
    EXPECT_OPTIONS("redis:?host[redis1:26379]&host[redis2:26379]&sentinel=mymaster",
                   "host[redis1:26379]=;host[redis2:26379]=;sentinel=mymaster;", .scheme = "redis");
}

static void two_slashes_announce_a_host_and_can_be_left_out_without_one(void **state)
{
    (void) state;
    EXPECT("redis:", .scheme = "redis");
    EXPECT("redis://", .scheme = "redis");
    EXPECT("redis:/run/redis.sock", .scheme = "redis", .path = "/run/redis.sock");
    EXPECT("redis:secret@/run/redis.sock", .scheme = "redis", .password = "secret",
           .path = "/run/redis.sock");
    EXPECT("redis:user:secret@", .scheme = "redis", .user = "user", .password = "secret");
    EXPECT_OPTIONS("redis://?host[a]", "host[a]=;", .scheme = "redis");
    EXPECT_OPTIONS("redis:secret@?host[a]", "host[a]=;", .scheme = "redis", .password = "secret");
    EXPECT_OPTIONS("redis:/3?host[a]", "host[a]=;", .scheme = "redis", .path = "/3");
    refuse("redis:localhost", "a host stands after two slashes");
    refuse("redis:secret@localhost", "a host stands after two slashes");
}

static void a_scheme_is_letters_digits_and_a_few_signs(void **state)
{
    (void) state;
    EXPECT("r:", .scheme = "r");
    EXPECT("pgsql+advisory://host", .scheme = "pgsql+advisory", .host = "host");
    EXPECT("A-1.x+Z://host", .scheme = "A-1.x+Z", .host = "host");
    refuse("", "begins with a scheme and a colon");
    refuse("redis", "begins with a scheme and a colon");
    refuse(":", "begins with a scheme and a colon");
    refuse("://host", "begins with a scheme and a colon");
    refuse("1redis://host", "begins with a scheme and a colon");
    refuse(" redis://host", "begins with a scheme and a colon");
    refuse("re dis://host", "begins with a scheme and a colon");
    refuse("r%65dis://host", "begins with a scheme and a colon");
    refuse("localhost", "begins with a scheme and a colon");
    refuse("/run/redis.sock", "begins with a scheme and a colon");
}

static void user_and_password_end_at_the_first_at_sign(void **state)
{
    (void) state;
    EXPECT("redis://@host", .scheme = "redis", .password = "", .host = "host");
    EXPECT("redis://:@host", .scheme = "redis", .user = "", .password = "", .host = "host");
    EXPECT("redis://:pass@host", .scheme = "redis", .user = "", .password = "pass", .host = "host");
    EXPECT("redis://user:@host", .scheme = "redis", .user = "user", .password = "", .host = "host");
    EXPECT("redis://u:p:q@host", .scheme = "redis", .user = "u", .password = "p:q", .host = "host");
    EXPECT("redis://a/b?c#d[e&f=g@host", .scheme = "redis", .password = "a/b?c#d[e&f=g",
           .host = "host");
    EXPECT("redis://u/?:#/?[]&=+ \n@host/1", .scheme = "redis", .user = "u/?",
           .password = "#/?[]&=+ \n", .host = "host", .path = "/1");
    EXPECT("redis:////@host", .scheme = "redis", .password = "//", .host = "host");
    EXPECT("redis://us%65r%3A:p%40s%25%2fs+@host", .scheme = "redis",
           .user = "user:", .password = "p@s%/s+", .host = "host");
    /* So they do where somebody meant something else, as for Symfony. */
    EXPECT("redis://localhost/1?prefix=a@b", .scheme = "redis", .password = "localhost/1?prefix=a",
           .host = "b");
}

static void a_second_at_sign_is_refused(void **state)
{
    static const char why[] = "any other is written as \"%40\"";

    (void) state;
    refuse("redis://p@ss@host", why);
    refuse("redis://user:p@ss@host", why);
    refuse("redis://user:p@ss/word@host", why);
    refuse("redis://user:p@ss?wo=rd@host", why);
    refuse("redis://user:p@ss?wo&rd@host", why);
    refuse("redis://secret@/run/a@b.sock", why);
    refuse("redis://secret@host?prefix=a@b", why);
    EXPECT_OPTIONS("redis://secret@/run/a%40b?prefix=a%40b", "prefix=a@b;", .scheme = "redis",
                   .password = "secret", .path = "/run/a@b");
}

static void hashes_and_control_characters_are_refused_outside_the_password(void **state)
{
    (void) state;
    refuse("redis://host#", "\"%23\"");
    refuse("redis://host/1#x", "\"%23\"");
    refuse("redis://secret@host?prefix=a#b", "\"%23\"");
    refuse("redis://host\n", "control character");
    refuse("redis://host/1\r", "control character");
    refuse("redis://host/1?prefix=\x7f", "control character");
    refuse("redis://host/1?pre\tfix=", "control character");
    EXPECT_OPTIONS("redis://host?prefix=%23%0A%7f", "prefix=#\n\x7f;", .scheme = "redis",
                   .host = "host");
}

static void a_host_is_a_name_or_an_address(void **state)
{
    static const char why[] = "the host is a name or an address";

    (void) state;
    EXPECT("redis://h%6Fst:1", .scheme = "redis", .host = "host", .port = 1);
    EXPECT("redis://10.0.0.1", .scheme = "redis", .host = "10.0.0.1");
    EXPECT("redis://a_b-c.d~", .scheme = "redis", .host = "a_b-c.d~");
    EXPECT("redis://gr\xc3\xb6n", .scheme = "redis", .host = "gr\xc3\xb6n");
    refuse("redis://a b", why);
    refuse("redis://%2Frun%2Fredis.sock", why);
    refuse("redis://a%0Ab", why);
    refuse("redis://a%40b", why);
    refuse("redis://a]", why);
    refuse("redis://a[1]", why);
    refuse("redis://a\\b", why);
    refuse("redis://a&b=c", why);
    refuse("redis://a+b", why);
    refuse("redis://*", why);
    refuse("redis://[::1 ]", why);
    refuse("redis://:6379", "no host before the port");
    refuse("redis://secret@:6379/1", "no host before the port");
    refuse("redis://:", "no host before the port");
}

static void an_ipv6_address_stands_in_brackets(void **state)
{
    (void) state;
    EXPECT("redis://[::1]", .scheme = "redis", .host = "::1");
    EXPECT("redis://[::1]:6380/1", .scheme = "redis", .host = "::1", .port = 6380, .path = "/1");
    EXPECT("redis://secret@[2001:db8::1]:1", .scheme = "redis", .password = "secret",
           .host = "2001:db8::1", .port = 1);
    EXPECT("redis://[fe80::1%25eth0]:1", .scheme = "redis", .host = "fe80::1%eth0", .port = 1);
    EXPECT_OPTIONS("redis://[::1]?a=b", "a=b;", .scheme = "redis", .host = "::1");
    refuse("redis://[::1", "a \"[\" of the host is not closed");
    refuse("redis://[::1:6379/1", "a \"[\" of the host is not closed");
    refuse("redis://[::1/1]", "a \"[\" of the host is not closed");
    refuse("redis://[", "a \"[\" of the host is not closed");
    refuse("redis://[]", "no host");
    refuse("redis://[user:pass]", "the host is a name or an address");
    refuse("redis://[user:]", "the host is a name or an address");
    refuse("redis://user%3Apass:6379", "the host is a name or an address");
    refuse("redis://[localhost]", "only an IPv6 address stands in brackets");
    refuse("redis://[::1]6379", "after the \"]\" of the host");
    refuse("redis://[::1]]", "after the \"]\" of the host");
    refuse("redis://::1", "an IPv6 address stands in brackets");
    refuse("redis://::1:6379", "an IPv6 address stands in brackets");
    refuse("redis://fe80::abc", "an IPv6 address stands in brackets");
}

static void a_port_is_a_number_from_1_to_65535(void **state)
{
    static const char *const bad[] = {"0",    "00",    "65536", "99999999999999999999",
                                      "-1",   "+1",    "1 ",    " 1",
                                      "0x10", "6379a", "abc",   "%20",
                                      "1.0"};
    char text[64];

    (void) state;
    EXPECT("redis://h:1", .scheme = "redis", .host = "h", .port = 1);
    EXPECT("redis://h:65535", .scheme = "redis", .host = "h", .port = 65535);
    EXPECT("redis://h:0080", .scheme = "redis", .host = "h", .port = 80);
    EXPECT("redis://h:%36379", .scheme = "redis", .host = "h", .port = 6379);
    EXPECT("redis://h:", .scheme = "redis", .host = "h");
    EXPECT("redis://[::1]:/1", .scheme = "redis", .host = "::1", .path = "/1");
    for (size_t at = 0; at < sizeof(bad) / sizeof(*bad); at++) {
        snprintf(text, sizeof(text), "redis://host:%s", bad[at]);
        refuse(text, "the port is a number from 1 to 65535");
        snprintf(text, sizeof(text), "redis://[::1]:%s/1", bad[at]);
        refuse(text, "the port is a number from 1 to 65535");
    }
}

static void a_path_is_decoded(void **state)
{
    (void) state;
    EXPECT("redis://h/", .scheme = "redis", .host = "h", .path = "/");
    EXPECT("redis:///a%20b/c+d%3F", .scheme = "redis", .path = "/a b/c+d?");
    EXPECT("redis:///a b:c[d]&e=f", .scheme = "redis", .path = "/a b:c[d]&e=f");
}

static void options_are_decoded_in_their_order(void **state)
{
    (void) state;
    EXPECT_OPTIONS("r:?", "", .scheme = "r");
    EXPECT_OPTIONS("r:?&&", "", .scheme = "r");
    EXPECT_OPTIONS("r:?b=1&a=2&b=3", "b=1;a=2;b=3;", .scheme = "r");
    EXPECT_OPTIONS("r:?&a&b=&c=d=e?f/g:h[&", "a=;b=;c=d=e?f/g:h[;", .scheme = "r");
    EXPECT_OPTIONS("r:?a=x+y%2Bz%20%26%3d", "a=x y+z &=;", .scheme = "r");
    EXPECT_OPTIONS("r:?a+%62=+", "a b= ;", .scheme = "r");
    EXPECT_OPTIONS("r:/p?a=b", "a=b;", .scheme = "r", .path = "/p");
    refuse("r:?=", "an option has no name");
    refuse("r:?=a", "an option has no name");
    refuse("r:?a=b&=c", "an option has no name");
    refuse("r:?[a]=b", "an option has no name");
}

static void brackets_of_names_are_kept_and_have_their_fellows(void **state)
{
    (void) state;
    EXPECT_OPTIONS("r:?host[a:1]", "host[a:1]=;", .scheme = "r");
    EXPECT_OPTIONS("r:?host%5Ba:1%5d=b", "host[a:1]=b;", .scheme = "r");
    EXPECT_OPTIONS("r:?a[]=1&a[]=2", "a[]=1;a[]=2;", .scheme = "r");
    EXPECT_OPTIONS("r:?host[[::1]:1]&a[b][c]=d", "host[[::1]:1]=;a[b][c]=d;", .scheme = "r");
    refuse("r:?host[", "a \"[\" of an option's name is not closed");
    refuse("r:?host[a=b", "a \"[\" of an option's name is not closed");
    refuse("r:?host[a&b]", "a \"[\" of an option's name is not closed");
    refuse("r:?host[[::1:1]", "a \"[\" of an option's name is not closed");
    refuse("r:?host[a][", "a \"[\" of an option's name is not closed");
    refuse("r:?host[a]b", "after the \"]\" of an option's name");
    refuse("r:?host[a]]", "after the \"]\" of an option's name");
    refuse("r:?host[a]b[c]", "after the \"]\" of an option's name");
}

/* Puts `what` into each part of a DSN. */
static void refuse_everywhere(const char *what, const char *why)
{
    static const char *const frames[] = {
        "redis://a%sz:password@host/1?a=b",
        "redis://user:a%sz@host/1?a=b",
        "redis://a%sz@host",
        "redis://a%sz:1/1?a=b",
        "redis://[::1%s]:1",
        "redis://host/%s?a=b",
        "redis:///%s",
        "redis://host/1?a%sz=c",
        "redis://host/1?a=%s",
        "redis://host/1?a=b&c=%s&d=e",
    };
    char text[100];

    for (size_t at = 0; at < sizeof(frames) / sizeof(*frames); at++) {
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, sizeof(text), frames[at], what);
        refuse(text, why);
    }
}

static void bad_percent_encoding_is_refused_everywhere(void **state)
{
    static const char *const bad[] = {"%", "%%", "%4", "%4g", "%g4", "%-1", "% 4", "%u0040"};

    (void) state;
    for (size_t at = 0; at < sizeof(bad) / sizeof(*bad); at++) {
        refuse_everywhere(bad[at], "\"%25\"");
    }
    refuse("redis://host?a%4", "\"%25\"");
    refuse("redis://%4@host", "\"%25\""); /* not "%4@" */
}

static void nul_bytes_are_refused_everywhere(void **state)
{
    static const char text[] = "redis://user:password@host:1/1?option[a]=value";

    (void) state;
    refuse_everywhere("%00", "NUL byte");
    for (size_t at = 0; at < sizeof(text) - 1; at++) {
        char broken[sizeof(text)];

        memcpy(broken, text, sizeof(text));
        broken[at] = '\0';
        refuse_bytes(broken, sizeof(text) - 1, "NUL byte");
    }
    refuse_bytes(text, sizeof(text), "NUL byte");
}

static void a_dsn_has_4096_bytes_at_most(void **state)
{
    char text[TEXT_MAX];
    latch_dsn *dsn;

    (void) state;
    memset(text, 'x', sizeof(text));
    memcpy(text, "redis://", 8);
    text[LATCH_DSN_MAX] = '\0';
    dsn = parse(text);
    assert_int_equal(strlen(dsn->host), LATCH_DSN_MAX - 8);
    latch_dsn_free(unit.engine, dsn);
    text[LATCH_DSN_MAX] = 'x';
    text[LATCH_DSN_MAX + 1] = '\0';
    refuse(text, "longer than 4096 bytes");
}

/* The buffer is as large as it has to be, also where every byte is a part of its own. */
static void parts_find_room_however_many_there_are(void **state)
{
    char text[LATCH_DSN_MAX + 1] = "r://u:p@h/?";
    size_t length = strlen(text), count = 0;
    latch_dsn *dsn;

    (void) state;
    for (; length + 2 <= LATCH_DSN_MAX; length += 2) {
        memcpy(text + length, "a&", 3);
    }
    dsn = parse(text);
    for (const latch_dsn_option *option = dsn->options; option != NULL; option = option->next) {
        assert_string_equal(option->name, "a");
        assert_string_equal(option->value, "");
        count++;
    }
    assert_int_equal(count, (LATCH_DSN_MAX - 11) / 2);
    assert_string_equal(dsn->password, "p");
    latch_dsn_free(unit.engine, dsn);
}

/* Every beginning of a DSN is one, or is refused: nothing is read behind its end. */
static void a_dsn_that_is_cut_off_is_not_read_past_its_end(void **state)
{
    static const char text[] = "redis://us%65r:p%61ss@[::1%25eth0]:6379/%31?a%5Bb%5d=c+%64&e";

    (void) state;
    for (size_t length = 0; length < sizeof(text); length++) {
        char *cut = malloc(length); /* of the very size, for ASan */
        latch_dsn *dsn = NULL;

        assert_true(cut != NULL || length == 0);
        if (length > 0) {
            memcpy(cut, text, length);
        }
        latch_dsn_parse(unit.engine, cut, length, &dsn, &unit.error);
        latch_dsn_free(unit.engine, dsn);
        free(cut);
    }
}

static const char *wiped; /* what is to be wiped before it is freed */
static size_t wiped_size;
static void (*deallocate)(void *context, void *pointer);

static void check_wiped(void *context, void *pointer)
{
    if (pointer == wiped) {
        for (size_t at = 0; at < wiped_size; at++) {
            assert_int_equal(wiped[at], 0);
        }
        wiped = NULL;
    }
    deallocate(context, pointer);
}

static void a_dsn_is_wiped_when_it_is_freed(void **state)
{
    latch_engine *engine;
    latch_dsn *dsn;
    latch_env env = unit.env;

    (void) state;
    deallocate = env.deallocate;
    env.deallocate = check_wiped;
    engine = latch_engine_create(&env, &unit.error);
    assert_int_equal(latch_dsn_parse(engine, "r://u:p@h?a=b", 13, &dsn, &unit.error), LATCH_DONE);
    wiped = (const char *) dsn;
    wiped_size = dsn->size;
    latch_dsn_free(engine, dsn);
    assert_null(wiped); /* it was looked at */
    latch_dsn_free(engine, NULL);
    latch_engine_destroy(engine);
}

static void one_allocation_holds_it_and_its_failure_is_an_error(void **state)
{
    latch_dsn *dsn = NULL;
    size_t before = unit.allocations;

    (void) state;
    latch_dsn_free(unit.engine, parse("redis://user:password@host:1/1?a=b&c=d"));
    assert_int_equal(unit.allocations, before + 1);
    unit.fail_at = unit.allocations + 1;
    assert_int_equal(latch_dsn_parse(unit.engine, "r:", 2, &dsn, &unit.error), LATCH_ERROR_MEMORY);
    assert_string_equal(unit.error.message, "out of memory");
    assert_null(dsn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(what_symfony_documents_is_read_as_there, setup),
        UNIT_TEST(two_slashes_announce_a_host_and_can_be_left_out_without_one, setup),
        UNIT_TEST(a_scheme_is_letters_digits_and_a_few_signs, setup),
        UNIT_TEST(user_and_password_end_at_the_first_at_sign, setup),
        UNIT_TEST(a_second_at_sign_is_refused, setup),
        UNIT_TEST(hashes_and_control_characters_are_refused_outside_the_password, setup),
        UNIT_TEST(a_host_is_a_name_or_an_address, setup),
        UNIT_TEST(an_ipv6_address_stands_in_brackets, setup),
        UNIT_TEST(a_port_is_a_number_from_1_to_65535, setup),
        UNIT_TEST(a_path_is_decoded, setup),
        UNIT_TEST(options_are_decoded_in_their_order, setup),
        UNIT_TEST(brackets_of_names_are_kept_and_have_their_fellows, setup),
        UNIT_TEST(bad_percent_encoding_is_refused_everywhere, setup),
        UNIT_TEST(nul_bytes_are_refused_everywhere, setup),
        UNIT_TEST(a_dsn_has_4096_bytes_at_most, setup),
        UNIT_TEST(parts_find_room_however_many_there_are, setup),
        UNIT_TEST(a_dsn_that_is_cut_off_is_not_read_past_its_end, setup),
        UNIT_TEST(a_dsn_is_wiped_when_it_is_freed, setup),
        UNIT_TEST(one_allocation_holds_it_and_its_failure_is_an_error, setup),
    };

    return cmocka_run_group_tests_name("dsn", tests, NULL, NULL);
}
