/* Latch\Sequence: entries that are handled one after the other; and what is told of them. */
#include "ext/sync/sync.h"

#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/store/engine_store.h"

#include "zend_exceptions.h"

#include <math.h>

/* As declared in stubs/sync.stub.php. */
enum { PLACE_TICKET, PLACE_IS_HEAD };
enum { ENTRY_TICKET, ENTRY_PAYLOAD };

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

/* An owner like no other, as a lock's token is. NULL after throwing. */
static zend_string *make_owner(zend_object *store)
{
    const php_latch_backend *backend = php_latch_store_backend(store);
    zend_string *owner = NULL;
    latch_lease lease;
    latch_error error;

    if (backend == NULL) {
        return NULL;
    }
    latch_lease_init(&lease, backend->store, "", 0);
    if (latch_lease_make_token(&lease, &error) == LATCH_DONE) {
        owner = zend_string_init(lease.token, strlen(lease.token), false);
    } else {
        zend_throw_exception(php_latch_storage_ce, error.message, 0);
    }
    latch_lease_drop(&lease);
    return owner;
}

/* The owner of the object's leases: in a forked process another one, unless it was given. NULL
 * after throwing. */
static zend_string *owner_of(php_latch_sync *sync)
{
    unsigned generation = latch_engine_generation(php_latch_engine);

    if (sync->owner == NULL || (!sync->is_owner_given && sync->owner_generation != generation)) {
        if (sync->owner != NULL) {
            zend_string_release(sync->owner);
        }
        sync->owner = make_owner(sync->store);
        sync->owner_generation = generation;
    }
    return sync->owner;
}

/* (ttl_ms, number, owner, lease_ms), the lease if there is to be one; runs the call. */
static void run_for_owner(php_latch_sync *sync, php_latch_sync_task *task, int64_t number,
                          bool has_lease)
{
    zend_string *owner = owner_of(sync);
    call_digits digits;

    if (owner == NULL) {
        return;
    }
    zend_string_addref(owner); /* a signal handler may fork meanwhile, and make another one */
    php_latch_sync_add_number(&task->call, digits.ttl, sync->ttl_ms);
    php_latch_sync_add_number(&task->call, digits.number, number);
    php_latch_sync_add(&task->call, ZSTR_VAL(owner), ZSTR_LEN(owner));
    if (has_lease) {
        php_latch_sync_add_number(&task->call, digits.lease, sync->lease_ms);
    }
    php_latch_sync_run(sync, task);
    zend_string_release(owner);
}

/* The only parameter; 0 after throwing. */
static zend_long parse_ticket(zend_execute_data *execute_data)
{
    zend_long ticket = 0;

    return zend_parse_parameters(ZEND_NUM_ARGS(), "l", &ticket) == SUCCESS
                   && php_latch_sync_check_ticket(ticket, "ticket")
               ? ticket
               : 0;
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static void make_place(void *context, const latch_answer *answer)
{
    enum { TICKET, IS_HEAD };
    zval *value = context;

    object_init_ex(value, php_latch_place_ce);
    ZVAL_LONG(OBJ_PROP_NUM(Z_OBJ_P(value), PLACE_TICKET), php_latch_sync_number(answer, TICKET));
    ZVAL_BOOL(OBJ_PROP_NUM(Z_OBJ_P(value), PLACE_IS_HEAD), php_latch_sync_is(answer, IS_HEAD, "1"));
}

PHP_METHOD(Latch_Sequence, enter)
{
    php_latch_sync *sync = php_latch_sync_of(Z_OBJ_P(ZEND_THIS));
    php_latch_sync_task task =
        php_latch_sync_task_of(LATCH_SEQUENCE_ENTER, make_place, return_value);
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
        php_latch_sync_task_of(LATCH_SEQUENCE_RESUME, php_latch_sync_make_turn, return_value);
    zend_long ticket = parse_ticket(execute_data);

    if (ticket == 0) {
        RETURN_THROWS();
    }
    run_for_owner(sync, &task, ticket, true);
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
        php_latch_sync_task_of(LATCH_SEQUENCE_NEXT, make_entry, return_value);
    zend_long ticket = parse_ticket(execute_data);

    if (ticket == 0) {
        RETURN_THROWS();
    }
    run_for_owner(sync, &task, ticket, true);
}

PHP_METHOD(Latch_Sequence, putBack)
{
    php_latch_sync *sync = php_latch_sync_of(Z_OBJ_P(ZEND_THIS));
    php_latch_sync_task task = php_latch_sync_task_of(LATCH_SEQUENCE_PUT_BACK, NULL, return_value);
    zend_long ticket = parse_ticket(execute_data);

    if (ticket == 0) {
        RETURN_THROWS();
    }
    run_for_owner(sync, &task, ticket, false);
}

PHP_METHOD(Latch_Sequence, abandon)
{
    php_latch_sync *sync = php_latch_sync_of(Z_OBJ_P(ZEND_THIS));
    php_latch_sync_task task =
        php_latch_sync_task_of(LATCH_SEQUENCE_ABANDON, make_entry, return_value);
    double patience;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_DOUBLE(patience)
    ZEND_PARSE_PARAMETERS_END();
    if (!(patience >= 0 && patience <= 1e9)) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, 1, "patience",
                                 "must be a number of seconds from 0 to 1e9");
        RETURN_THROWS();
    }
    run_for_owner(sync, &task, (int64_t) ceil(patience * 1000), true);
}

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

static double seconds_of(const latch_answer *answer, size_t part)
{
    return (double) php_latch_sync_number(answer, part) / 1e6;
}

static void make_sequence_inspection(void *context, const latch_answer *answer)
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
        php_latch_sync_task_of(LATCH_SEQUENCE_INSPECT, make_sequence_inspection, return_value);

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
