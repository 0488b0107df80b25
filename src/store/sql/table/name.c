/* Names of rows. */
#include "src/store/sql/table/table.h"

#include <stdio.h>
#include <string.h>

#define PLAIN_MAX 64 /* bytes of a resource that Symfony 8.1 takes as it is */

/* Length of the character of UTF-8 at the beginning of the text; 0: there is none. */
static size_t character_length(const unsigned char *text, size_t left)
{
    static const struct {
        unsigned char first, last, low, high; /* the first byte, and the bounds of the second */
        size_t length;
    } forms[] = {
        {0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };

    for (size_t at = 0; at < sizeof(forms) / sizeof(*forms); at++) {
        size_t length = forms[at].length;

        if (*text < forms[at].first || *text > forms[at].last || left < length) {
            continue;
        }
        if (length > 1 && (text[1] < forms[at].low || text[1] > forms[at].high)) {
            return 0;
        }
        for (size_t byte = 2; byte < length; byte++) {
            if ((text[byte] & 0xc0) != 0x80) {
                return 0;
            }
        }
        return length;
    }
    return 0;
}

/* Is it what a column of text can have: UTF-8 without a NUL? */
static bool is_text(const char *bytes, size_t length)
{
    const unsigned char *at = (const unsigned char *) bytes, *end = at + length;

    while (at < end) {
        size_t step = character_length(at, (size_t) (end - at));

        if (step == 0) {
            return false;
        }
        at += step;
    }
    return true;
}

/* With the prefix: other prefixes are other applications. */
static size_t write_hash(const latch_lease *lease, const char *prefix, char *text)
{
    const latch_env *env = &lease->store->engine->env;
    const struct iovec parts[] = {{(void *) prefix, strlen(prefix)},
                                  {(void *) lease->resource, lease->resource_length}};
    uint8_t digest[LATCH_DIGEST_MAX];

    env->digest(env->context, LATCH_SHA256, parts, 2, digest);
    for (size_t at = 0; at < LATCH_DIGEST_MAX; at++) {
        snprintf(text + 2 * at, 3, "%02x", digest[at]);
    }
    return 2 * LATCH_DIGEST_MAX;
}

/* Returns the bytes that it takes. */
static size_t add_name(table_names *names, char *text, size_t length)
{
    text[length] = '\0';
    names->texts[names->count] = text;
    names->lengths[names->count++] = (unsigned) length;
    return length + 1;
}

/* The resource as it is, behind a prefix; 0: it cannot be a name of `max` bytes, so that no peer
 * has it. */
static size_t write_plain(const latch_lease *lease, const char *prefix, size_t max, char *text)
{
    size_t prefix_length = strlen(prefix), length = prefix_length + lease->resource_length;

    if (length > max || !is_text(lease->resource, lease->resource_length)) {
        return 0;
    }
    memcpy(text, prefix, prefix_length);
    memcpy(text + prefix_length, lease->resource, lease->resource_length);
    return length;
}

size_t latch_table_write_names(const latch_lease *lease, table_names *names,
                               char text[TABLE_NAMES_SIZE])
{
    const latch_table_options *table = &latch_table_store_of(lease)->options->table;
    bool is_laravel = table->layout == LATCH_TABLE_LARAVEL;
    bool has_plain = is_laravel || table->names != LATCH_TABLE_HASH;
    bool has_hash = !is_laravel && table->names != LATCH_TABLE_PLAIN;
    size_t plain_max = is_laravel ? TABLE_NAME_MAX : PLAIN_MAX;
    const char *prefix = is_laravel ? table->prefix : "";
    size_t size = 0, length = 0;

    names->count = 0;
    if (has_plain) {
        length = write_plain(lease, prefix, plain_max, text);
    }
    if (length > 0 || (has_plain && lease->resource_length == 0)) {
        size += add_name(names, text, length);
    } else {
        has_hash = true;
    }
    if (has_hash) {
        length = write_hash(lease, prefix, text + size);
        size += add_name(names, text + size, length);
    }
    return size;
}
