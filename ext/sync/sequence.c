/* Latch\Sequence: entries that are handled one after the other; and what is told of them. */
#include "ext/sync/sync.h"

#include "ext/php/errors.h"
#include "ext/php/interfaces.h"

#include <math.h>

#define NOUN "sequence"

/* As declared in stubs/sync.stub.php. */
enum { PLACE_TICKET, PLACE_IS_HEAD };
enum { ENTRY_TICKET, ENTRY_PAYLOAD };

static php_latch_sync_task task_of(const char *action, latch_function function, size_t least,
                                   php_latch_sync_maker make, zval *value)
{
    return (php_latch_sync_task){
        .action = action,
        .noun = NOUN,
        .call = {.function = function},
        .least = least,
        .make = make,
        .context = value,
    };
}

/* ---- Arguments ------------------------------------------------------------------------------ */

static bool check_entry(const zend_string *id, const zend_string *payload)
{
    if (ZSTR_LEN(id) == 0 || ZSTR_LEN(id) > LATCH_MEMBER_MAX) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, 1, "id",
                                 ZSTR_LEN(id) == 0 ? "must not be empty"
                                                   : "must not have more than 1024 bytes");
        return false;
    }
    if (payload != NULL && ZSTR_LEN(payload) > LATCH_PAYLOAD_MAX) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, 2, "payload",
                                 "must not have more than 1 MiB: keep the data elsewhere, and "
                                 "pass an identifier of them");
        return false;
    }
    return true;
}

bool php_latch_sync_check_ticket(zend_long ticket, const char *name)
{
    if (ticket > 0) {
        return true;
    }
    php_latch_throw_argument(php_latch_invalid_argument_ce, 1, name,
                             "must be one that was told, which is above 0");
    return false;
}

/* Texts of the numbers of a call. */
typedef struct call_digits {
    char ttl[24], number[24], lease[24];
} call_digits;

/* (ttl_ms, number, owner, lease_ms) */
static void add_for_owner(latch_call *call, call_digits *digits, const php_latch_sync *sync,
                          int64_t number)
{
    php_latch_sync_add_number(call, digits->ttl, sync->ttl_ms);
    php_latch_sync_add_number(call, digits->number, number);
    php_latch_sync_add(call, ZSTR_VAL(sync->owner), ZSTR_LEN(sync->owner));
    php_latch_sync_add_number(call, digits->lease, sync->lease_ms);
}

/* The only parameter; 0 after throwing. */
static zend_long parse_ticket(zend_execute_data *execute_data)
{
    zend_long ticket = 0;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_LONG(ticket)
    ZEND_PARSE_PARAMETERS_END_EX(return 0);
    return php_latch_sync_check_ticket(ticket, "ticket") ? ticket : 0;
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static void make_place(void *context, const latch_answer *answer)
{
    enum { TICKET, IS_HEAD };
    zval *value = context;

    object_init_ex(value, php_latch_place_ce);
    ZVAL_LONG(OBJ_PROP_NUM(Z_OBJ_P(value), PLACE_TICKET), php_latch_sync_number(answer, TICKET));
    ZVAL_BOOL(OBJ_PROP_NUM(Z_OBJ_P(value), PLACE_IS_HEAD),
              php_latch_sync_is(answer, IS_HEAD, "1"));
}

PHP_METHOD(Latch_Sequence, enter)
{
    php_latch_sync *sync = php_latch_sync_of(Z_OBJ_P(ZEND_THIS));
    php_latch_sync_task task =
        task_of("enter", LATCH_SEQUENCE_ENTER, 2, make_place, return_value);
    zend_string *id, *payload = NULL;
    char ttl[24];

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_STR(id)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR_OR_NULL(payload)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_entry(id, payload)) {
        RETURN_THROWS();
    }
    php_latch_sync_add_number(&task.call, ttl, sync->ttl_ms);
    php_latch_sync_add(&task.call, ZSTR_VAL(id), ZSTR_LEN(id));
    if (payload != NULL) {
        php_latch_sync_add(&task.call, ZSTR_VAL(payload), ZSTR_LEN(payload));
    }
    php_latch_sync_run(sync, &task);
}

PHP_METHOD(Latch_Sequence, resume)
{
    php_latch_sync *sync = php_latch_sync_of(Z_OBJ_P(ZEND_THIS));
    php_latch_sync_task task =
        task_of("resume", LATCH_SEQUENCE_RESUME, 2, php_latch_sync_make_turn, return_value);
    zend_long ticket = parse_ticket(execute_data);
    call_digits digits;

    if (ticket == 0) {
        RETURN_THROWS();
    }
    add_for_owner(&task.call, &digits, sync, ticket);
    php_latch_sync_run(sync, &task);
}

/* {ticket, payload}, or {} */
static void make_entry(void *context, const latch_answer *answer)
{
    enum { TICKET, PAYLOAD, PARTS };
    zval *value = context;

    if (answer->count < PARTS) {
        ZVAL_NULL(value);
        return;
    }
    object_init_ex(value, php_latch_entry_ce);
    ZVAL_LONG(OBJ_PROP_NUM(Z_OBJ_P(value), ENTRY_TICKET), php_latch_sync_number(answer, TICKET));
    ZVAL_STRINGL(OBJ_PROP_NUM(Z_OBJ_P(value), ENTRY_PAYLOAD), answer->parts[PAYLOAD].text,
                 answer->parts[PAYLOAD].length);
}

PHP_METHOD(Latch_Sequence, next)
{
    php_latch_sync *sync = php_latch_sync_of(Z_OBJ_P(ZEND_THIS));
    php_latch_sync_task task =
        task_of("advance", LATCH_SEQUENCE_NEXT, 0, make_entry, return_value);
    zend_long ticket = parse_ticket(execute_data);
    call_digits digits;

    if (ticket == 0) {
        RETURN_THROWS();
    }
    add_for_owner(&task.call, &digits, sync, ticket);
    php_latch_sync_run(sync, &task);
}

static void make_nothing(void *context, const latch_answer *answer)
{
    (void) answer;
    ZVAL_NULL((zval *) context);
}

PHP_METHOD(Latch_Sequence, putBack)
{
    php_latch_sync *sync = php_latch_sync_of(Z_OBJ_P(ZEND_THIS));
    php_latch_sync_task task =
        task_of("put an entry back into", LATCH_SEQUENCE_PUT_BACK, 0, make_nothing, return_value);
    zend_long ticket = parse_ticket(execute_data);
    call_digits digits;

    if (ticket == 0) {
        RETURN_THROWS();
    }
    php_latch_sync_add_number(&task.call, digits.ttl, sync->ttl_ms);
    php_latch_sync_add_number(&task.call, digits.number, ticket);
    php_latch_sync_add(&task.call, ZSTR_VAL(sync->owner), ZSTR_LEN(sync->owner));
    php_latch_sync_run(sync, &task);
}

PHP_METHOD(Latch_Sequence, abandon)
{
    php_latch_sync *sync = php_latch_sync_of(Z_OBJ_P(ZEND_THIS));
    php_latch_sync_task task =
        task_of("abandon the head of", LATCH_SEQUENCE_ABANDON, 0, make_entry, return_value);
    call_digits digits;
    double patience;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_DOUBLE(patience)
    ZEND_PARSE_PARAMETERS_END();
    if (!(patience >= 0 && patience <= 1e9)) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, 1, "patience",
                                 "must be a number of seconds from 0 to 1e9");
        RETURN_THROWS();
    }
    add_for_owner(&task.call, &digits, sync, (int64_t) ceil(patience * 1000));
    php_latch_sync_run(sync, &task);
}

PHP_METHOD(Latch_Sequence, getOwner)
{
    ZEND_PARSE_PARAMETERS_NONE();
    RETURN_STR_COPY(php_latch_sync_of(Z_OBJ_P(ZEND_THIS))->owner);
}

static double seconds_of(const latch_answer *answer, size_t part)
{
    return (double) php_latch_sync_number(answer, part) / 1e6;
}

static void make_inspection(void *context, const latch_answer *answer)
{
    enum { HEAD, IS_PARKED, HELD_US, IDLE_US, BEHIND, AVERAGE_US };

    array_init((zval *) context);
    if (php_latch_sync_is(answer, HEAD, "")) {
        add_assoc_null(context, "head");
    } else {
        add_assoc_long(context, "head", php_latch_sync_number(answer, HEAD));
    }
    add_assoc_bool(context, "parked", php_latch_sync_is(answer, IS_PARKED, "1"));
    add_assoc_double(context, "heldFor", seconds_of(answer, HELD_US));
    add_assoc_double(context, "idleFor", seconds_of(answer, IDLE_US));
    add_assoc_long(context, "waiting", php_latch_sync_number(answer, BEHIND));
    if (php_latch_sync_is(answer, AVERAGE_US, "0")) {
        add_assoc_null(context, "average");
    } else {
        add_assoc_double(context, "average", seconds_of(answer, AVERAGE_US));
    }
}

PHP_METHOD(Latch_Sequence, inspect)
{
    php_latch_sync_task task =
        task_of("inspect", LATCH_SEQUENCE_INSPECT, 6, make_inspection, return_value);

    ZEND_PARSE_PARAMETERS_NONE();
    php_latch_sync_run(php_latch_sync_of(Z_OBJ_P(ZEND_THIS)), &task);
}

PHP_METHOD(Latch_Sequence, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
}

PHP_METHOD(Latch_Place, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
}

PHP_METHOD(Latch_Entry, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
}
