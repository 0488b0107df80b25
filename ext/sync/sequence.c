/* Latch\Sequence: entries in their order; Latch\Place, Turn and Entry: what is told of them. */
#include "ext/sync/sync.h"

#include "ext/php/errors.h"
#include "ext/php/interfaces.h"

#include "zend_exceptions.h"
#include "zend_interfaces.h"

#include <math.h>

#define NOUN "sequence"

/* As declared in stubs/sync.stub.php. */
enum { PLACE_TICKET, PLACE_IS_HEAD };
enum { TURN_STATE, TURN_RETRY_AFTER };
enum { ENTRY_TICKET, ENTRY_PAYLOAD };

/* ---- Arguments ------------------------------------------------------------------------------ */

/* A call, and the digits of its numbers. */
typedef struct sequence_call {
    php_latch_sync *sync;
    php_latch_sync_task task;
    char ttl[24], number[24], lease[24];
} sequence_call;

/* A call of the method's object, with the TTL; `make` makes the return value. */
static void begin_call(sequence_call *call, zval *object, const char *action,
                       latch_function function, size_t least, php_latch_sync_maker make,
                       zval *return_value)
{
    call->sync = php_latch_sync_of(Z_OBJ_P(object));
    call->task = (php_latch_sync_task){
        .action = action,
        .noun = NOUN,
        .call = {.function = function},
        .least = least,
        .make = make,
        .context = return_value,
    };
    php_latch_sync_add_number(&call->task.call, call->ttl, call->sync->ttl_ms);
}

/* An owner like no other, as a lock's token is. NULL after throwing. */
static zend_string *make_owner(void)
{
    const latch_env env = latch_env_system();
    uint8_t bytes[16];
    zend_string *owner;

    if (!env.random(env.context, bytes, sizeof(bytes))) {
        zend_throw_exception(php_latch_storage_ce, "The random source gave no bytes.", 0);
        return NULL;
    }
    owner = zend_string_alloc(2 * sizeof(bytes), false);
    for (size_t at = 0; at < sizeof(bytes); at++) {
        snprintf(ZSTR_VAL(owner) + 2 * at, 3, "%02x", bytes[at]);
    }
    return owner;
}

/* The owner of the object's leases: in a forked process another one, unless it was given. NULL
 * after throwing. */
static zend_string *owner_of(php_latch_sync *sync)
{
    unsigned generation = latch_engine_generation(php_latch_engine);

    if (sync->owner != NULL && (sync->is_owner_given || sync->owner_generation == generation)) {
        return sync->owner;
    }
    if (sync->owner != NULL) {
        zend_string_release(sync->owner);
    }
    sync->owner = make_owner();
    sync->owner_generation = generation;
    return sync->owner;
}

/* Adds a number and the owner, and the lease if there is to be one; runs the call. */
static void run_owned(sequence_call *call, int64_t number, bool has_lease)
{
    const zend_string *owner = owner_of(call->sync);

    if (owner == NULL) {
        return;
    }
    php_latch_sync_add_number(&call->task.call, call->number, number);
    php_latch_sync_add(&call->task.call, ZSTR_VAL(owner), ZSTR_LEN(owner));
    if (has_lease) {
        php_latch_sync_add_number(&call->task.call, call->lease, call->sync->lease_ms);
    }
    php_latch_sync_run(call->sync, &call->task);
}

/* False after throwing: the first argument is no ticket. */
static bool check_ticket(zend_long ticket)
{
    if (ticket <= 0) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, 1, "ticket",
                                 "must be a ticket that enter() gave out, a number above 0");
        return false;
    }
    return true;
}

/* ---- Entering ------------------------------------------------------------------------------- */

static void make_place(void *context, const latch_answer *answer)
{
    zend_object *place;

    object_init_ex((zval *) context, php_latch_place_ce);
    place = Z_OBJ_P((zval *) context);
    ZVAL_LONG(OBJ_PROP_NUM(place, PLACE_TICKET), php_latch_sync_number(answer, 0));
    ZVAL_BOOL(OBJ_PROP_NUM(place, PLACE_IS_HEAD), php_latch_sync_is(answer, 1, "1"));
}

PHP_METHOD(Latch_Sequence, enter)
{
    zend_string *id, *payload = NULL;
    sequence_call call;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_STR(id)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR_OR_NULL(payload)
    ZEND_PARSE_PARAMETERS_END();
    if (ZSTR_LEN(id) == 0 || ZSTR_LEN(id) > LATCH_MEMBER_MAX) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, 1, "id",
                                 "must have 1 to 1024 bytes: give each entry a name of its own");
        RETURN_THROWS();
    }
    if (!php_latch_sync_check_payload(2, payload)) {
        RETURN_THROWS();
    }
    begin_call(&call, ZEND_THIS, "enter", LATCH_SEQUENCE_ENTER, 2, make_place, return_value);
    php_latch_sync_add(&call.task.call, ZSTR_VAL(id), ZSTR_LEN(id));
    if (payload != NULL) {
        php_latch_sync_add(&call.task.call, ZSTR_VAL(payload), ZSTR_LEN(payload));
    }
    php_latch_sync_run(call.sync, &call.task);
}

/* ---- Turns ---------------------------------------------------------------------------------- */

/* Seconds of a number of microseconds; clocks that are set back make none below 0. */
static double seconds_of(const latch_answer *answer, size_t part)
{
    zend_long us = php_latch_sync_number(answer, part);

    return us > 0 ? (double) us / 1e6 : 0;
}

void php_latch_sync_make_turn(void *context, const latch_answer *answer)
{
    zend_object *turn;

    object_init_ex((zval *) context, php_latch_turn_ce);
    turn = Z_OBJ_P((zval *) context);
    ZVAL_STRINGL(OBJ_PROP_NUM(turn, TURN_STATE), answer->parts[0].text, answer->parts[0].length);
    ZVAL_DOUBLE(OBJ_PROP_NUM(turn, TURN_RETRY_AFTER), seconds_of(answer, 1));
}

PHP_METHOD(Latch_Sequence, resume)
{
    sequence_call call;
    zend_long ticket;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_LONG(ticket)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_ticket(ticket)) {
        RETURN_THROWS();
    }
    begin_call(&call, ZEND_THIS, "resume", LATCH_SEQUENCE_RESUME, 2, php_latch_sync_make_turn,
               return_value);
    run_owned(&call, ticket, true);
}

/* An entry, or null of an answer without parts. */
static void make_entry(void *context, const latch_answer *answer)
{
    zend_object *entry;

    ZVAL_NULL((zval *) context);
    if (answer->count < 2) {
        return;
    }
    object_init_ex((zval *) context, php_latch_entry_ce);
    entry = Z_OBJ_P((zval *) context);
    ZVAL_LONG(OBJ_PROP_NUM(entry, ENTRY_TICKET), php_latch_sync_number(answer, 0));
    ZVAL_STRINGL(OBJ_PROP_NUM(entry, ENTRY_PAYLOAD), answer->parts[1].text,
                 answer->parts[1].length);
}

PHP_METHOD(Latch_Sequence, next)
{
    sequence_call call;
    zend_long ticket;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_LONG(ticket)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_ticket(ticket)) {
        RETURN_THROWS();
    }
    begin_call(&call, ZEND_THIS, "go on with", LATCH_SEQUENCE_NEXT, 0, make_entry, return_value);
    run_owned(&call, ticket, true);
}

static void make_nothing(void *context, const latch_answer *answer)
{
    (void) context;
    (void) answer;
}

PHP_METHOD(Latch_Sequence, putBack)
{
    sequence_call call;
    zend_long ticket;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_LONG(ticket)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_ticket(ticket)) {
        RETURN_THROWS();
    }
    begin_call(&call, ZEND_THIS, "put back the head of", LATCH_SEQUENCE_PUT_BACK, 0, make_nothing,
               NULL);
    run_owned(&call, ticket, false);
}

PHP_METHOD(Latch_Sequence, abandon)
{
    sequence_call call;
    double patience;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_DOUBLE(patience)
    ZEND_PARSE_PARAMETERS_END();
    if (isnan(patience) || patience < 0 || patience > 1e9) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, 1, "patience",
                                 "must be a number of seconds from 0 to 1e9");
        RETURN_THROWS();
    }
    begin_call(&call, ZEND_THIS, "abandon the head of", LATCH_SEQUENCE_ABANDON, 0, make_entry,
               return_value);
    run_owned(&call, (int64_t) ceil(patience * 1000), true);
}

/* ---- Looking -------------------------------------------------------------------------------- */

PHP_METHOD(Latch_Sequence, getOwner)
{
    zend_string *owner;

    ZEND_PARSE_PARAMETERS_NONE();
    owner = owner_of(php_latch_sync_of(Z_OBJ_P(ZEND_THIS)));
    if (owner == NULL) {
        RETURN_THROWS();
    }
    RETURN_STR_COPY(owner);
}

static void make_inspection(void *context, const latch_answer *answer)
{
    enum { HEAD, IS_PARKED, HELD_US, IDLE_US, BEHIND, AVERAGE_US };

    array_init((zval *) context);
    if (answer->parts[HEAD].length > 0) {
        add_assoc_long(context, "head", php_latch_sync_number(answer, HEAD));
    } else {
        add_assoc_null(context, "head");
    }
    add_assoc_bool(context, "parked", php_latch_sync_is(answer, IS_PARKED, "1"));
    add_assoc_double(context, "heldFor", seconds_of(answer, HELD_US));
    add_assoc_double(context, "idleFor", seconds_of(answer, IDLE_US));
    add_assoc_long(context, "waiting", php_latch_sync_number(answer, BEHIND));
    if (php_latch_sync_number(answer, AVERAGE_US) > 0) {
        add_assoc_double(context, "average", seconds_of(answer, AVERAGE_US));
    } else {
        add_assoc_null(context, "average");
    }
}

PHP_METHOD(Latch_Sequence, inspect)
{
    const php_latch_sync *sync = php_latch_sync_of(Z_OBJ_P(ZEND_THIS));
    php_latch_sync_task task = {
        .action = "inspect",
        .noun = NOUN,
        .call = {.function = LATCH_SEQUENCE_INSPECT},
        .least = 6,
        .make = make_inspection,
        .context = return_value,
    };

    ZEND_PARSE_PARAMETERS_NONE();
    php_latch_sync_run(sync, &task);
}

PHP_METHOD(Latch_Sequence, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
}

PHP_METHOD(Latch_Place, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
}

PHP_METHOD(Latch_Turn, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
}

PHP_METHOD(Latch_Entry, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
}
