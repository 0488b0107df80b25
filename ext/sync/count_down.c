/* Latch\CountDown: members that have to arrive; Latch\Arrival: what is told to each. */
#include "ext/sync/sync.h"

#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/php/poll_loop.h"

#include "zend_exceptions.h"
#include "zend_interfaces.h"
#include "zend_smart_str.h"

#include <math.h>

#define NOUN "count-down"
#define NOT_OPEN                                                                                   \
    NOUN " is not open: it was not opened, or has expired; open it before its parts are sent."

/* As declared in stubs/sync.stub.php. */
enum { ARRIVAL_LEFT, ARRIVAL_PAYLOAD, ARRIVAL_FAILED };

/* ---- Members -------------------------------------------------------------------------------- */

static bool throw_members(const char *problem)
{
    php_latch_throw_argument(php_latch_invalid_argument_ce, 1, "members", problem);
    return false;
}

static int compare_names(const void *one, const void *other)
{
    const zend_string *first = *(zend_string *const *) one;
    const zend_string *second = *(zend_string *const *) other;
    size_t length = MIN(ZSTR_LEN(first), ZSTR_LEN(second));
    int order = memcmp(ZSTR_VAL(first), ZSTR_VAL(second), length);

    return order != 0 ? order
                      : (ZSTR_LEN(first) > ZSTR_LEN(second)) - (ZSTR_LEN(first) < ZSTR_LEN(second));
}

/* Reads the names; counts them in *count. False after throwing. */
static bool read_names(const HashTable *members, zend_string **names, size_t *count)
{
    zval *member;

    ZEND_HASH_FOREACH_VAL((HashTable *) members, member)
    {
        ZVAL_DEREF(member);
        if (Z_TYPE_P(member) != IS_STRING && Z_TYPE_P(member) != IS_LONG) {
            return throw_members("must have strings or whole numbers alone");
        }
        names[(*count)++] = zval_get_string(member);
        if (ZSTR_LEN(names[*count - 1]) == 0) {
            return throw_members("must not have an empty member");
        }
        if (ZSTR_LEN(names[*count - 1]) > LATCH_MEMBER_MAX) {
            return throw_members("must not have a member of more than 1024 bytes");
        }
    }
    ZEND_HASH_FOREACH_END();
    return true;
}

/* "LENGTH MEMBER" behind each other, in byte order. False after throwing. */
static bool write_member_list(smart_str *list, zend_string **names, size_t count)
{
    qsort(names, count, sizeof(*names), compare_names);
    for (size_t at = 0; at < count; at++) {
        if (at > 0 && zend_string_equals(names[at - 1], names[at])) {
            return throw_members("must not have a member twice");
        }
        smart_str_append_unsigned(list, ZSTR_LEN(names[at]));
        smart_str_appendc(list, ' ');
        smart_str_append(list, names[at]);
    }
    smart_str_0(list);
    return true;
}

/* The list of the members; a string of NULL after throwing. */
static smart_str member_list_of(const HashTable *members)
{
    smart_str list = {0};
    zend_string **names;
    size_t count = 0;

    if (zend_hash_num_elements(members) == 0) {
        throw_members("must not be empty");
        return list;
    }
    if (zend_hash_num_elements(members) > LATCH_MEMBERS_MAX) {
        throw_members("must not have more than 10,000 members");
        return list;
    }
    names = safe_emalloc(zend_hash_num_elements(members), sizeof(*names), 0);
    if (!read_names(members, names, &count) || !write_member_list(&list, names, count)) {
        smart_str_free(&list);
    }
    while (count > 0) {
        zend_string_release(names[--count]);
    }
    efree(names);
    return list;
}

/* ---- Opening and arriving ------------------------------------------------------------------- */

/* Of a call, and the object that throws. */
typedef struct count_down_result {
    const php_latch_sync *sync;
    zval *value;
    bool is_true;
} count_down_result;

static void make_opened(void *context, const latch_answer *answer)
{
    count_down_result *result = context;

    if (php_latch_sync_is(answer, 0, "other")) {
        php_latch_sync_throw(result->sync, NOUN " is open with other members; give each batch a "
                                                "name of its own.");
    }
    result->is_true = php_latch_sync_is(answer, 0, "1");
}

PHP_METHOD(Latch_CountDown, open)
{
    php_latch_sync *sync = php_latch_sync_of(Z_OBJ_P(ZEND_THIS));
    count_down_result result = {.sync = sync};
    php_latch_sync_task task = php_latch_sync_task_of(LATCH_COUNT_DOWN_OPEN, make_opened, &result);
    zend_string *payload = NULL;
    HashTable *members;
    smart_str list;
    char ttl[24];
    bool is_done;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_ARRAY_HT(members)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR_OR_NULL(payload)
    ZEND_PARSE_PARAMETERS_END();
    if (payload != NULL && ZSTR_LEN(payload) > LATCH_PAYLOAD_MAX) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, 2, "payload",
                                 "must not have more than 1 MiB: keep the data elsewhere, and pass "
                                 "an identifier of them");
        RETURN_THROWS();
    }
    list = member_list_of(members);
    if (list.s == NULL) {
        RETURN_THROWS();
    }
    php_latch_sync_add_number(&task.call, ttl, sync->ttl_ms);
    php_latch_sync_add(&task.call, ZSTR_VAL(list.s), ZSTR_LEN(list.s));
    if (payload != NULL) {
        php_latch_sync_add(&task.call, ZSTR_VAL(payload), ZSTR_LEN(payload));
    }
    is_done = php_latch_sync_run(sync, &task);
    smart_str_free(&list);
    if (is_done) {
        RETVAL_BOOL(result.is_true);
    }
}

/* Adds so many texts of an answer to a list. */
static void add_texts(zval *list, const latch_answer *answer, size_t from, size_t to)
{
    array_init(list);
    for (size_t at = from; at < to; at++) {
        add_next_index_stringl(list, answer->parts[at].text, answer->parts[at].length);
    }
}

static void make_arrival(void *context, const latch_answer *answer)
{
    enum { LEFT = 1, IS_CLAIMED, PAYLOAD, FAILED };
    count_down_result *result = context;
    zend_object *arrival;

    if (php_latch_sync_is(answer, 0, "stranger")) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, 1, "member",
                                 "must be one of the members with which the count-down was opened");
        return;
    }
    if (php_latch_sync_is(answer, 0, "none") || answer->count < FAILED) {
        php_latch_sync_throw(result->sync, NOT_OPEN);
        return;
    }
    object_init_ex(result->value, php_latch_arrival_ce);
    arrival = Z_OBJ_P(result->value);
    ZVAL_LONG(OBJ_PROP_NUM(arrival, ARRIVAL_LEFT), php_latch_sync_number(answer, LEFT));
    ZVAL_NULL(OBJ_PROP_NUM(arrival, ARRIVAL_PAYLOAD));
    if (php_latch_sync_is(answer, IS_CLAIMED, "1")) {
        ZVAL_STRINGL(OBJ_PROP_NUM(arrival, ARRIVAL_PAYLOAD), answer->parts[PAYLOAD].text,
                     answer->parts[PAYLOAD].length);
    }
    add_texts(OBJ_PROP_NUM(arrival, ARRIVAL_FAILED), answer, FAILED, answer->count);
}

PHP_METHOD(Latch_CountDown, arrive)
{
    php_latch_sync *sync = php_latch_sync_of(Z_OBJ_P(ZEND_THIS));
    count_down_result result = {.sync = sync, .value = return_value};
    php_latch_sync_task task =
        php_latch_sync_task_of(LATCH_COUNT_DOWN_ARRIVE, make_arrival, &result);
    char ttl[24], claim_ms[24];
    zend_string *member;
    bool has_failed = false;
    double claim = 30;

    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_STR(member)
        Z_PARAM_OPTIONAL
        Z_PARAM_BOOL(has_failed)
        Z_PARAM_DOUBLE(claim)
    ZEND_PARSE_PARAMETERS_END();
    if (!isfinite(claim) || claim <= 0 || claim > 1e9) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, 3, "claim",
                                 "must be a number of seconds above 0, and 1e9 at most");
        RETURN_THROWS();
    }
    php_latch_sync_add_number(&task.call, ttl, sync->ttl_ms);
    php_latch_sync_add(&task.call, ZSTR_VAL(member), ZSTR_LEN(member));
    php_latch_sync_add_truth(&task.call, has_failed);
    php_latch_sync_add_number(&task.call, claim_ms, (int64_t) ceil(claim * 1000));
    php_latch_sync_run(sync, &task);
}

/* ---- The end -------------------------------------------------------------------------------- */

static void make_done(void *context, const latch_answer *answer)
{
    count_down_result *result = context;
    char rest[128];

    if (php_latch_sync_is(answer, 0, "open")) {
        snprintf(rest, sizeof(rest), NOUN " is not done: %s of its members have not arrived.",
                 answer->parts[1].length < 20 ? answer->parts[1].text : "some");
        php_latch_sync_throw(result->sync, rest);
    }
}

PHP_METHOD(Latch_CountDown, done)
{
    php_latch_sync *sync = php_latch_sync_of(Z_OBJ_P(ZEND_THIS));
    count_down_result result = {.sync = sync};
    php_latch_sync_task task = php_latch_sync_task_of(LATCH_COUNT_DOWN_DONE, make_done, &result);
    char ttl[24];

    ZEND_PARSE_PARAMETERS_NONE();
    php_latch_sync_add_number(&task.call, ttl, sync->ttl_ms);
    php_latch_sync_run(sync, &task);
}

static void make_cancelled(void *context, const latch_answer *answer)
{
    ZVAL_BOOL((zval *) context, php_latch_sync_is(answer, 0, "1"));
}

PHP_METHOD(Latch_CountDown, cancel)
{
    php_latch_sync_task task =
        php_latch_sync_task_of(LATCH_COUNT_DOWN_CANCEL, make_cancelled, return_value);

    ZEND_PARSE_PARAMETERS_NONE();
    php_latch_sync_run(php_latch_sync_of(Z_OBJ_P(ZEND_THIS)), &task);
}

/* ---- Waiting and looking -------------------------------------------------------------------- */

static void make_wait_result(void *context, const latch_answer *answer)
{
    count_down_result *result = context;

    if (php_latch_sync_is(answer, 0, "none")) {
        php_latch_sync_throw(result->sync, NOT_OPEN);
    }
    ZVAL_BOOL(result->value, php_latch_sync_is(answer, 0, "done"));
    result->is_true = php_latch_sync_is(answer, 0, "done")
                      || php_latch_sync_is(answer, 0, "cancelled");
}

PHP_METHOD(Latch_CountDown, await)
{
    php_latch_sync *sync = php_latch_sync_of(Z_OBJ_P(ZEND_THIS));
    count_down_result result = {.sync = sync, .value = return_value};
    php_latch_sync_task task =
        php_latch_sync_task_of(LATCH_COUNT_DOWN_STATE, make_wait_result, &result);
    bool timeout_is_null = true;
    int64_t deadline_ns;
    double timeout = 0;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_DOUBLE_OR_NULL(timeout, timeout_is_null)
    ZEND_PARSE_PARAMETERS_END();
    if (!php_latch_sync_deadline(1, timeout, timeout_is_null, &deadline_ns)) {
        RETURN_THROWS();
    }
    /* The first answer counts, however short the time is. */
    if (!php_latch_sync_run(sync, &task) || result.is_true || php_latch_now_ns() >= deadline_ns) {
        return;
    }
    task.deadline_ns = deadline_ns;
    php_latch_sync_run(sync, &task);
}

static void make_inspection(void *context, const latch_answer *answer)
{
    enum { STATE, TOTAL, LEFT, HAS_PAYLOAD, CLAIM_US, FAILED_COUNT, NAMES };
    size_t failed = (size_t) php_latch_sync_number(answer, FAILED_COUNT), missing_from;
    zval list;

    missing_from = failed <= answer->count - NAMES ? NAMES + failed : answer->count;
    array_init((zval *) context);
    add_assoc_stringl(context, "state", answer->parts[STATE].text, answer->parts[STATE].length);
    add_assoc_long(context, "total", php_latch_sync_number(answer, TOTAL));
    add_assoc_long(context, "left", php_latch_sync_number(answer, LEFT));
    add_assoc_bool(context, "hasPayload", php_latch_sync_is(answer, HAS_PAYLOAD, "1"));
    add_assoc_double(context, "claimedFor", (double) php_latch_sync_number(answer, CLAIM_US) / 1e6);
    add_texts(&list, answer, NAMES, missing_from);
    add_assoc_zval(context, "failed", &list);
    add_texts(&list, answer, missing_from, answer->count);
    add_assoc_zval(context, "missing", &list);
}

PHP_METHOD(Latch_CountDown, inspect)
{
    php_latch_sync_task task =
        php_latch_sync_task_of(LATCH_COUNT_DOWN_INSPECT, make_inspection, return_value);

    ZEND_PARSE_PARAMETERS_NONE();
    php_latch_sync_run(php_latch_sync_of(Z_OBJ_P(ZEND_THIS)), &task);
}

PHP_METHOD(Latch_CountDown, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
}

PHP_METHOD(Latch_Arrival, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
}
