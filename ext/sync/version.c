/* Latch\Version: the newest version of a resource. */
#include "ext/sync/sync.h"

#include "ext/php/errors.h"
#include "ext/php/interfaces.h"

#include "ext/date/php_date.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"

#include <inttypes.h>

/* Seconds since 1970 of dates whose microseconds fit into 63 bits. */
#define DATE_MAX_S INT64_C(9000000000000)

/*
 * The form in which versions are compared: a whole number without "+", leading zeros and "-0";
 * any other text as it is. A new string.
 */
static zend_string *normalise_version(const char *text, size_t length)
{
    size_t at = length > 0 && (*text == '-' || *text == '+') ? 1 : 0;
    bool is_negative = length > 0 && *text == '-';
    zend_string *number;

    if (length == at || strspn(text + at, "0123456789") != length - at) {
        return zend_string_init(text, length, 0);
    }
    while (at + 1 < length && text[at] == '0') {
        at++;
    }
    is_negative = is_negative && text[at] != '0';
    number = zend_string_alloc(length - at + is_negative, 0);
    ZSTR_VAL(number)[0] = '-';
    memcpy(ZSTR_VAL(number) + is_negative, text + at, length - at + 1);
    return number;
}

/* Microseconds since 1970; NULL after throwing. */
static zend_string *version_of_date(zend_object *date)
{
    zval result, format;
    int64_t seconds, microseconds;
    zend_string *version = NULL;

    ZVAL_STRING(&format, "U u");
    ZVAL_UNDEF(&result);
    zend_call_method(date, date->ce, NULL, ZEND_STRL("format"), &result, 1, &format, NULL);
    zval_ptr_dtor(&format);
    if (EG(exception) == NULL
        && (Z_TYPE(result) != IS_STRING
            || sscanf(Z_STRVAL(result), "%" SCNd64 " %" SCNd64, &seconds, &microseconds) != 2
            || seconds > DATE_MAX_S || seconds < -DATE_MAX_S)) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, 1, "version",
                                 "must not be a date that is that far away");
    }
    if (EG(exception) == NULL) {
        version = strpprintf(0, "%" PRId64, seconds * 1000000 + microseconds);
    }
    zval_ptr_dtor(&result);
    return version;
}

static bool check_version(const zend_string *version)
{
    if (ZSTR_LEN(version) > 0 && ZSTR_LEN(version) <= LATCH_VERSION_MAX) {
        return true;
    }
    php_latch_throw_argument(php_latch_invalid_argument_ce, 1, "version",
                             ZSTR_LEN(version) == 0 ? "must not be empty"
                                                    : "must not have more than 4096 bytes");
    return false;
}

/* The argument as a new string; NULL after throwing. */
static zend_string *read_version(const zval *given)
{
    zend_string *version = NULL;

    if (Z_TYPE_P(given) == IS_LONG) {
        version = zend_long_to_str(Z_LVAL_P(given));
    } else if (Z_TYPE_P(given) == IS_STRING) {
        version = normalise_version(Z_STRVAL_P(given), Z_STRLEN_P(given));
    } else if (Z_TYPE_P(given) == IS_OBJECT
               && instanceof_function(Z_OBJCE_P(given), php_date_get_interface_ce())) {
        version = version_of_date(Z_OBJ_P(given));
    } else {
        zend_argument_type_error(1, "must be of type DateTimeInterface|string|int, %s given",
                                 zend_zval_type_name(given));
    }
    if (version != NULL && !check_version(version)) {
        zend_string_release(version);
        version = NULL;
    }
    return version;
}

/* Result of a call about a given version. */
typedef struct version_result {
    const php_latch_sync *sync;
    bool is_true;
} version_result;

static void make_version_result(void *context, const latch_answer *answer)
{
    version_result *result = context;

    if (!php_latch_sync_is(answer, 0, "mixed")) {
        result->is_true = php_latch_sync_is(answer, 0, "1");
        return;
    }
    php_latch_sync_throw(result->sync,
                         "version must be given in one form: the newest is a number and this one "
                         "is none, or the other way round.");
}

/* Calls the function; consumes the version. */
static void run_version_call(zval *return_value, zend_object *object, latch_function function,
                             zend_string *version, const bool *or_same)
{
    php_latch_sync *sync = php_latch_sync_of(object);
    version_result result = {.sync = sync};
    php_latch_sync_task task = php_latch_sync_task_of(function, make_version_result, &result);
    char ttl[24];

    if (function != LATCH_VERSION_OUTDATED) {
        php_latch_sync_add_number(&task.call, ttl, sync->ttl_ms);
    }
    php_latch_sync_add(&task.call, ZSTR_VAL(version), ZSTR_LEN(version));
    if (or_same != NULL) {
        php_latch_sync_add_truth(&task.call, *or_same);
    }
    if (php_latch_sync_run(sync, &task)) {
        RETVAL_BOOL(result.is_true);
    }
    zend_string_release(version);
}

PHP_METHOD(Latch_Version, advance)
{
    bool or_same = false;
    zend_string *version;
    zval *given;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_ZVAL(given)
        Z_PARAM_OPTIONAL
        Z_PARAM_BOOL(or_same)
    ZEND_PARSE_PARAMETERS_END();
    version = read_version(given);
    if (version != NULL) {
        run_version_call(return_value, Z_OBJ_P(ZEND_THIS), LATCH_VERSION_ADVANCE, version,
                         &or_same);
    }
}

PHP_METHOD(Latch_Version, revert)
{
    zend_string *version;
    zval *given;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ZVAL(given)
    ZEND_PARSE_PARAMETERS_END();
    version = read_version(given);
    if (version != NULL) {
        run_version_call(return_value, Z_OBJ_P(ZEND_THIS), LATCH_VERSION_REVERT, version, NULL);
    }
}

PHP_METHOD(Latch_Version, isOutdated)
{
    zend_string *version;
    zval *given;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ZVAL(given)
    ZEND_PARSE_PARAMETERS_END();
    version = read_version(given);
    if (version != NULL) {
        run_version_call(return_value, Z_OBJ_P(ZEND_THIS), LATCH_VERSION_OUTDATED, version, NULL);
    }
}

static void make_newest(void *context, const latch_answer *answer)
{
    if (answer->count > 0) {
        ZVAL_STRINGL((zval *) context, answer->parts[0].text, answer->parts[0].length);
    }
}

PHP_METHOD(Latch_Version, get)
{
    php_latch_sync_task task = php_latch_sync_task_of(LATCH_VERSION_GET, make_newest, return_value);

    ZEND_PARSE_PARAMETERS_NONE();
    php_latch_sync_run(php_latch_sync_of(Z_OBJ_P(ZEND_THIS)), &task);
}

PHP_METHOD(Latch_Version, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
}
