/* The message about a DSN that no store has: its scheme, and the nearest that is known. */
#include "ext/store/store_class.h"

#include "ext/php/interfaces.h"

#include "zend_exceptions.h"
#include "zend_smart_str.h"

/* A DSN's beginning: its scheme with ":" or "://", or all of it where there is no colon. */
#define HEAD_MAX 31

/* Schemes that mean databases and servers that have others here; in front of what is but spelt
 * alike. */
static const struct {
    const char *scheme, *ours;
} namesakes[] = {
    {"pdo-mysql", "mysql"},
    {"mariadb", "mysql"},
    {"mariadb+advisory", "mysql+advisory"},
    {"pdo-pgsql", "pgsql"},
    {"postgresql+advisory", "pgsql+advisory"},
    {"pdo-sqlite", "sqlite"},
    {"file", "flock"},
    {"predis", "redis"},
    {"phpredis", "redis"},
    {"tcp", "redis"},
    {"unix", "redis"},
};

/* How many characters have to be changed, added or left out to make the one of the other. */
static size_t distance_of(const char *one, const char *other)
{
    size_t length = strlen(other), row[HEAD_MAX + 1];

    for (size_t at = 0; at <= length; at++) {
        row[at] = at;
    }
    for (size_t from = 0; one[from] != '\0'; from++) {
        size_t before = row[0];

        row[0] = from + 1;
        for (size_t at = 0; at < length; at++) {
            size_t changed = before + (one[from] != other[at]);

            before = row[at + 1];
            row[at + 1] = MIN(changed, MIN(row[at], before) + 1);
        }
    }
    return row[length];
}

/* The head as it is written. False where it is no scheme: it may be a password, then. */
static bool read_head(zend_string *dsn, char head[HEAD_MAX + 4], size_t *length)
{
    const char *text = ZSTR_VAL(dsn);
    size_t end =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-._ ");

    *length = end;
    if (end == 0 || end > HEAD_MAX || (text[end] != ':' && end < ZSTR_LEN(dsn))) {
        return false;
    }
    end += strncmp(text + end, "://", 3) == 0 ? 3 : text[end] == ':';
    snprintf(head, HEAD_MAX + 4, "%.*s", (int) end, text);
    return true;
}

/* The form of ours that is nearest to a scheme; NULL: none is near. */
static const php_latch_dsn_form *find_nearest(const char *scheme, bool has_colon)
{
    const php_latch_dsn_form *nearest = NULL;
    size_t least = 3;

    for (size_t at = 0; at < sizeof(namesakes) / sizeof(*namesakes); at++) {
        scheme = strcmp(namesakes[at].scheme, scheme) == 0 ? namesakes[at].ours : scheme;
    }
    PHP_LATCH_EACH_STORE_CLASS(class)
    {
        const php_latch_dsn_form *form = class->forms;

        for (; form != NULL && form->text != NULL; form++) {
            size_t length = strcspn(form->text, ":"), distance;
            char known[HEAD_MAX + 1] = "";

            memcpy(known, form->text, length);
            distance = distance_of(scheme, known);
            if (distance < least
                || (distance == least && nearest != NULL
                    && php_latch_dsn_form_is_whole(nearest) == has_colon
                    && php_latch_dsn_form_is_whole(form) != has_colon)) {
                least = distance;
                nearest = form;
            }
        }
    }
    return nearest;
}

/* Is it one of several ways to name a store: a URL, or "flock+remove" beside "flock"? */
static bool is_variant(const php_latch_store_class *class, const php_latch_dsn_form *form)
{
    for (const php_latch_dsn_form *other = class->forms; other->text != NULL; other++) {
        size_t length = strlen(other->text);

        if (strncmp(form->text, other->text, length) == 0 && form->text[length] == '+') {
            return true;
        }
    }
    return form->text[strlen(form->text) - 1] == '/';
}

/* "known are flock, semaphore and redis:" */
static zend_string *known_forms(void)
{
    smart_str text = {0};
    const char *last = NULL;

    PHP_LATCH_EACH_STORE_CLASS(class)
    {
        const php_latch_dsn_form *form = class->forms;

        for (; form != NULL && form->text != NULL; form++) {
            if (is_variant(class, form)) {
                continue;
            }
            if (last != NULL) {
                smart_str_appends(&text, smart_str_get_len(&text) == 0 ? "known are " : ", ");
                smart_str_appends(&text, last);
            }
            last = form->text;
        }
    }
    smart_str_appends(&text, " and ");
    smart_str_appends(&text, last);
    return smart_str_extract(&text);
}

/* The form of ours that is nearest to the scheme that was read; NULL: none is near. */
static const php_latch_dsn_form *find_nearest_of(const char head[HEAD_MAX + 4], size_t length)
{
    char scheme[HEAD_MAX + 1];

    zend_str_tolower_copy(scheme, head, length);
    return find_nearest(scheme, head[length] == ':');
}

zend_string *php_latch_tell_dsn(zend_string *dsn)
{
    char head[HEAD_MAX + 4];
    size_t length, told = 0;

    if (read_head(dsn, head, &length)
        && (strchr(head, '/') != NULL || find_nearest_of(head, length) != NULL)) {
        told = strlen(head);
    }
    return zend_string_concat2(ZSTR_VAL(dsn), told, "…", told < ZSTR_LEN(dsn) ? strlen("…") : 0);
}

/* Has the scheme two forms, PDO's and that of URLs? */
static bool has_two_forms(const char *scheme, size_t length)
{
    bool has_url = false, has_other = false;

    PHP_LATCH_EACH_STORE_CLASS(class)
    {
        const php_latch_dsn_form *form = class->forms;

        for (; form != NULL && form->text != NULL; form++) {
            if (strncmp(form->text, scheme, length) == 0 && form->text[length] == ':') {
                has_url |= form->text[length + 1] == '/';
                has_other |= form->text[length + 1] == '\0';
            }
        }
    }
    return has_url && has_other;
}

void php_latch_throw_unknown_dsn(zend_string *dsn)
{
    const php_latch_dsn_form *nearest = NULL;
    const char *hint = php_latch_find_composer_class(dsn, &nearest) != NULL
                           ? " (with latch.symfony = 1 Symfony's store serves it)"
                           : "";
    zend_string *known = known_forms();
    const char *end = "";
    char head[HEAD_MAX + 4];
    size_t length;
    bool is_read = read_head(dsn, head, &length);

    nearest = is_read ? find_nearest_of(head, length) : NULL;
    if (nearest != NULL) { /* databases have DSNs of two forms */
        size_t form = strcspn(nearest->text, ":");

        if (!php_latch_dsn_form_is_whole(nearest)) {
            bool is_either = head[length] == ':' && has_two_forms(nearest->text, form);

            end = is_either ? head + length : "://";
        }
        zend_throw_exception_ex(php_latch_invalid_argument_ce, 0,
                                "No lock store supports the given DSN: the scheme \"%s\" is "
                                "unknown; did you mean \"%.*s%s\"?%s",
                                head, (int) form, nearest->text, end, hint);
    } else if (is_read && strchr(head, '/') != NULL) {
        zend_throw_exception_ex(
            php_latch_invalid_argument_ce, 0,
            "No lock store supports the given DSN: the scheme \"%s\" is unknown; %s%s", head,
            ZSTR_VAL(known), hint);
    } else {
        zend_throw_exception_ex(php_latch_invalid_argument_ce, 0,
                                "No lock store supports the given DSN: it begins with no scheme; "
                                "%s%s",
                                ZSTR_VAL(known), hint);
    }
    zend_string_release(known);
}
