/* What a DSN for Redis must not leave behind: its password where others read it, and memory. */
#include "dsn_options.h"

/* ---- Secrets */

static void no_message_has_a_password_in_it(void **state)
{
    static const char *const patterns[] = {
        /* no DSN, or another's */
        "*", "*@h", "*:6379", "user:*@h", "*://h", "1redis://*@h", "http://u:*@h", "rediss:/*@h/r",
        "r%65dis://*@h", "Redis://*@h", "redis//*@h",
        /* raw characters where they may not be, or not so many */
        "redis://u:*@ss@h", "redis://u:p@*@h", "redis://p@*:x", "redis://u:p@*:0",
        "redis://u:p@ss/*@h", "redis://u:p@ss?*@h", "redis://u:p@ss?*=x@h", "redis://u:p@ss?*&x@h",
        "redis://u:p@ss#*@h", "redis://u:p@ss/*#@h", "redis://u:p@h#*", "redis://u:p@[*", "redis:*",
        "redis://u:p@h:*", "redis://u:p@h:1*", "redis://u:p@[::1]*", "redis://u:p@h/*",
        "redis:u:p@*", "redis://h:*", "redis://u:*/x", "redis://u:*?x=y", "redis://u:*",
        "redis:///", "redis://%*@h", "redis://*%@h", "redis://u%:*@h", "redis://u:*%zz@h",
        "redis://u:*%00@h",
        /* the right place, and a fault elsewhere */
        "redis://u:*@", "redis://u:*@/", "redis://*@/1", "redis://*@h:x", "redis://*@h:0",
        "redis://*@[::1", "redis://*@h/x", "redis://*@h/99999999999", "redis://*@h?x=y",
        "redis://*@h?timeout=x", "redis://*@h?read_timeout=-1", "redis://*@h?tcp_keepalive=x",
        "redis://*@h?dbindex=x", "redis://*@h/1?dbindex=2", "redis://*@h/1?cluster=1",
        "redis://*@h?sentinel=x+y", "redis://*@h?ssl[x]=1", "redis://*@h?host[b]",
        "redis://*@h?host=b", "redis://*@h?auth[]=x", "redis://*@h?host[",
        "redis://*@h?=", "redis://*@h?a%", "redis://*@h\n",
        /* the option */
        "redis://h?auth=*&x=y", "redis://h?x=y&auth=*", "redis://h?auth=p&*",
        "redis://h?auth=p&*=x", "redis://h?auth=p&*[x]=y", "redis://h?auth=p&x&*",
        "redis://h?auth=*#", "redis://h?auth=*%", "redis://h?auth=%*", "redis://h?auth[]=*",
        "redis://h?auth[]=u&auth[]=*&auth[]=x", "redis://h?auth[]=u&auth[]=p&*",
        "redis://h?auth[*]=x", "redis://h?auth[*", "redis:?auth=*", "redis://h?auth=x&auth[]=*",
        "redis://h:x?auth=*", "redis://h/x?auth=*", "redis://h?auth=*&timeout=x",
        "redis://h?auth=*\n", "redis://h?timeout=1&auth=*&dbindex=1&cluster=1",
        /* another option's value, where somebody may have put it */
        "redis://h?password=*", "redis://h?pass[]=*", "redis://h?user=u&password=*",
        "redis://h?timeout=*", "redis://h?read_timeout=*", "redis://h?tcp_keepalive=*",
        "redis://h?dbindex=*", "redis://h?cluster=*", "redis://h?sentinel=*+x", "redis://h?host=*",
        "redis://h?ssl[passphrase]=*", "redis://h?ssl=*", "redis:?host[a:*]", "redis:?host[a]=*",
        "redis:?host[a][password]=*", "rediss://h?ssl[passphrase]=*&ssl[local_pk]=x",
        "rediss://h?ssl[passphrase]=p&ssl[*]=x", "rediss://h?ssl[*",
        "rediss://h?ssl[passphrase]=p&*=x", "rediss://h?ssl[crypto_method]=*",
        "rediss://h?ssl[verify_peer]=*", "rediss://:*@h?ssl[verify_depth]=x",
        "redis:?host[a][*]=", "redis:?host[*@a]=x"};

    (void) state;
    for (size_t at = 0; at < sizeof(patterns) / sizeof(*patterns); at++) {
        dsn_expect_secrecy(&dsn_of_redis, patterns[at]);
    }
}

static void no_password_stays_in_freed_memory(void **state)
{
    static const char *const texts[] = {
        "redis://user:" DSN_MARKER "@h/1?prefix=a", "redis://" DSN_MARKER ":x@/run/s",
        "redis://h?auth[]=u&auth[]=" DSN_MARKER,    "redis://" DSN_MARKER "@h?timeout=x",
        "redis://h?auth=" DSN_MARKER "&x",          "rediss://h?ssl[passphrase]=" DSN_MARKER,
        "redis://h?sentinel=m&auth=" DSN_MARKER,
    };
    latch_engine *engine = dsn_begin_watching();
    redis_options options;

    (void) state;
    for (size_t at = 0; at < sizeof(texts) / sizeof(*texts); at++) {
        if (latch_redis_options_parse(engine, texts[at], strlen(texts[at]), &options, &unit.error)
            == LATCH_DONE) {
            latch_redis_options_free(engine, &options);
            latch_redis_options_free(engine, &options); /* nothing happens */
        }
    }
    assert_true(dsn_end_watching(engine) >= 5 + 4 * 5 + 5);
}

/* ---- Memory */

static void every_allocation_may_fail(void **state)
{
    static const char *const texts[] = {
        "redis://user:password@host:1/2?prefix=p&persistent_id=i&timeout=1",
        "redis://password@/run/redis.sock",
        "redis:?host[[::1]:1]",
        "rediss://host?ssl[cafile]=/ca&ssl[local_cert]=/cert",
        "redis://u:p@h?host[i:1]&sentinel=m&auth[]=su&auth[]=sp",
    };

    (void) state;
    for (size_t at = 0; at < sizeof(texts) / sizeof(*texts); at++) {
        dsn_expect_survival(&dsn_of_redis, texts[at], 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(no_message_has_a_password_in_it, setup),
        UNIT_TEST(no_password_stays_in_freed_memory, setup),
        UNIT_TEST(every_allocation_may_fail, setup),
    };

    return cmocka_run_group_tests_name("redis_options leaks", tests, NULL, NULL);
}
