#include "dsn_options.h"

struct dsn_settings dsn_beside;

/* ---- Kinds */

static latch_status parse_redis(latch_engine *engine, const latch_store_options *given,
                                dsn_options *options, latch_error *error)
{
    return latch_redis_options_parse(engine, given->dsn, given->dsn_length, &options->redis, error);
}

static void free_redis(latch_engine *engine, dsn_options *options)
{
    latch_redis_options_free(engine, &options->redis);
}

static const char *identity_of_redis(const dsn_options *options)
{
    return options->redis.identity;
}

static latch_status parse_mysql(latch_engine *engine, const latch_store_options *given,
                                dsn_options *options, latch_error *error)
{
    return latch_mysql_options_parse(engine, given, &options->mysql, error);
}

static void free_mysql(latch_engine *engine, dsn_options *options)
{
    latch_mysql_options_free(engine, &options->mysql);
}

static const char *identity_of_mysql(const dsn_options *options)
{
    return options->mysql.identity;
}

static latch_status parse_postgresql(latch_engine *engine, const latch_store_options *given,
                                     dsn_options *options, latch_error *error)
{
    return latch_postgresql_options_parse(engine, given, &options->postgresql, error);
}

static void free_postgresql(latch_engine *engine, dsn_options *options)
{
    latch_postgresql_options_free(engine, &options->postgresql);
}

static const char *identity_of_postgresql(const dsn_options *options)
{
    return options->postgresql.identity;
}

const dsn_kind dsn_of_redis = {parse_redis, free_redis, identity_of_redis};
const dsn_kind dsn_of_mysql = {parse_mysql, free_mysql, identity_of_mysql};
const dsn_kind dsn_of_postgresql = {parse_postgresql, free_postgresql, identity_of_postgresql};

/* ---- Reading */

static latch_status try(const dsn_kind *kind, const char *text, size_t length, dsn_options *options)
{
    latch_store_options given = {.dsn = text,
                                 .dsn_length = length,
                                 .settings = dsn_beside.first,
                                 .setting_count = dsn_beside.count};

    memset(options, 0xa5, sizeof(*options));
    memset(&unit.error, 0, sizeof(unit.error));
    return kind->parse(unit.engine, &given, options, &unit.error);
}

dsn_options dsn_parse(const dsn_kind *kind, const char *text)
{
    dsn_options options;

    if (try(kind, text, strlen(text), &options) != LATCH_DONE) {
        fail_msg("%s: %s", text, unit.error.message);
    }
    return options;
}

void dsn_discard(const dsn_kind *kind, dsn_options *options)
{
    kind->discard(unit.engine, options);
    assert_null(kind->identity(options));
}

void dsn_accept(const dsn_kind *kind, const char *text)
{
    dsn_options options = dsn_parse(kind, text);

    dsn_discard(kind, &options);
}

void dsn_refuse(const dsn_kind *kind, latch_status status, const char *text, size_t length,
                const char *why)
{
    dsn_options options;

    if (try(kind, text, length, &options) != status) {
        fail_msg("%s: not refused so", text);
    }
    assert_int_equal(unit.error.status, status);
    assert_int_equal(unit.error.sys_errno, 0);
    if (strncmp(unit.error.message, "invalid ", 8) != 0
        || strstr(unit.error.message, why) == NULL) {
        fail_msg("%s: \"%s\", not \"%s\"", text, unit.error.message, why);
    }
    assert_true(strlen(unit.error.message) < sizeof(unit.error.message) - 1); /* not cut off */
    assert_null(kind->identity(&options));
    dsn_discard(kind, &options);
}

void dsn_expect_text(const char *of, const char *text, const char *expected)
{
    if ((text == NULL) != (expected == NULL) || (text != NULL && strcmp(text, expected) != 0)) {
        fail_msg("%s: \"%s\", not \"%s\"", of, text != NULL ? text : "(none)",
                 expected != NULL ? expected : "(none)");
    }
}

/* ---- Which connections are the same */

static bool is_same(const dsn_kind *kind, const char *one, const char *two)
{
    dsn_options first = dsn_parse(kind, one), second = dsn_parse(kind, two);
    bool same = strcmp(kind->identity(&first), kind->identity(&second)) == 0;

    dsn_discard(kind, &first);
    dsn_discard(kind, &second);
    return same;
}

void dsn_expect_same(const dsn_kind *kind, const char *const (*pairs)[2], size_t count)
{
    for (size_t at = 0; at < count; at++) {
        if (!is_same(kind, pairs[at][0], pairs[at][1])) {
            fail_msg("%s is not %s", pairs[at][0], pairs[at][1]);
        }
    }
}

void dsn_expect_different(const dsn_kind *kind, const char *const *texts, size_t count)
{
    for (size_t one = 0; one < count; one++) {
        for (size_t two = 0; two < count; two++) {
            if (is_same(kind, texts[one], texts[two]) != (one == two)) {
                fail_msg("%s and %s", texts[one], texts[two]);
            }
        }
    }
}

/* ---- Secrets */

void dsn_expect_secrecy(const dsn_kind *kind, const char *pattern)
{
    char text[400];
    size_t length = 0;
    dsn_options options;

    for (const char *at = pattern; *at != '\0'; at++) {
        const char *piece = *at == '*' ? DSN_MARKER : (char[]){*at, '\0'};

        memcpy(text + length, piece, strlen(piece) + 1);
        length += strlen(piece);
    }
    if (try(kind, text, length, &options) == LATCH_DONE) {
        fail_msg("%s: not refused", text);
    }
    if (strstr(unit.error.message, DSN_MARKER) != NULL) {
        fail_msg("%s: %s", text, unit.error.message);
    }
}

static void *(*allocate)(void *context, size_t size);
static void (*deallocate)(void *context, void *pointer);
static size_t freed;

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
            assert_null(memmem(pointer, blocks[at].size, DSN_MARKER, strlen(DSN_MARKER)));
            blocks[at].block = NULL;
            freed++;
        }
    }
    deallocate(context, pointer);
}

latch_engine *dsn_begin_watching(void)
{
    latch_env env = unit.env;
    latch_engine *engine;

    allocate = env.allocate;
    deallocate = env.deallocate;
    env.allocate = remember;
    env.deallocate = look_for_marker;
    engine = latch_engine_create(&env, &unit.error);
    freed = 0;
    return engine;
}

size_t dsn_end_watching(latch_engine *engine)
{
    size_t count = freed;

    latch_engine_destroy(engine);
    return count;
}

/* ---- Memory */

void dsn_expect_survival(const dsn_kind *kind, const char *text, size_t allocations)
{
    latch_status status = LATCH_ERROR_MEMORY;
    size_t live = unit.live, number = 0;

    while (status != LATCH_DONE) {
        dsn_options options;

        unit.fail_at = unit.allocations + ++number;
        status = try(kind, text, strlen(text), &options);
        unit.fail_at = 0;
        if (status != LATCH_DONE) {
            assert_int_equal(status, LATCH_ERROR_MEMORY);
            assert_string_equal(unit.error.message, "out of memory");
            assert_null(kind->identity(&options));
        }
        dsn_discard(kind, &options);
        assert_int_equal(unit.live, live);
        assert_true(number < 20);
    }
    assert_true(number > allocations);
}
