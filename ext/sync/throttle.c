/* Latch\Throttle: begins that are an even time apart. */
#include "ext/sync/sync.h"

#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/php/poll_loop.h"

#include "zend_exceptions.h"
#include "zend_interfaces.h"

/* The longest wait of a caller that waits for ever, 30 years: servers count in floating point. */
#define PATIENCE_MAX_US INT64_C(946080000000000)

/* Answer to the question for a slot. */
typedef struct throttle_slot {
    bool is_reserved;
    int64_t wait_us;
} throttle_slot;

static void make_slot(void *context, const latch_answer *answer)
{
    throttle_slot *slot = context;

    slot->is_reserved = php_latch_sync_is(answer, 0, "1");
    slot->wait_us = php_latch_sync_number(answer, answer->count - 1);
    if (slot->wait_us < 0 || slot->wait_us > PATIENCE_MAX_US) {
        slot->wait_us = PATIENCE_MAX_US; /* no answer of ours */
    }
}

/* Adds the throttle's numbers; `digits` has room for two. */
static void add_steps(latch_call *call, const php_latch_sync *sync, char digits[2][24])
{
    php_latch_sync_add_number(call, digits[0], sync->step_us);
    php_latch_sync_add_number(call, digits[1], sync->burst_us);
}

/* Takes the next slot, unless it is later than that. False after throwing. */
static bool reserve_slot(const php_latch_sync *sync, int64_t patience_us, throttle_slot *slot)
{
    php_latch_sync_task task = php_latch_sync_task_of(LATCH_THROTTLE_RESERVE, make_slot, slot);
    char digits[2][24], patience[24];

    add_steps(&task.call, sync, digits);
    php_latch_sync_add_number(&task.call, patience, patience_us);
    return php_latch_sync_run(sync, &task);
}

/* Time that is left until a deadline. */
static int64_t patience_until_us(int64_t deadline_ns)
{
    int64_t left_us = (deadline_ns - php_latch_now_ns()) / 1000;

    return deadline_ns == LATCH_NEVER || left_us > PATIENCE_MAX_US ? PATIENCE_MAX_US
           : left_us < 0                                           ? 0
                                                                   : left_us;
}

PHP_METHOD(Latch_Throttle, acquire)
{
    const php_latch_sync *sync = php_latch_sync_of(Z_OBJ_P(ZEND_THIS));
    bool blocking = false, timeout_is_null = true;
    throttle_slot slot = {.is_reserved = false};
    int64_t deadline_ns;
    double timeout = 0;

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_BOOL(blocking)
        Z_PARAM_DOUBLE_OR_NULL(timeout, timeout_is_null)
    ZEND_PARSE_PARAMETERS_END();
    if (!blocking && !timeout_is_null) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, 2, "timeout",
                                 "must be null unless $blocking is true");
        RETURN_THROWS();
    }
    if (!php_latch_sync_deadline(2, timeout, timeout_is_null, &deadline_ns)
        || !reserve_slot(sync, blocking ? patience_until_us(deadline_ns) : 0, &slot)) {
        RETURN_THROWS();
    }
    if (slot.is_reserved && slot.wait_us > 0
        && !php_latch_sleep(php_latch_now_ns() + slot.wait_us * 1000)) {
        RETURN_THROWS();
    }
    RETURN_BOOL(slot.is_reserved);
}

PHP_METHOD(Latch_Throttle, getRetryAfter)
{
    const php_latch_sync *sync = php_latch_sync_of(Z_OBJ_P(ZEND_THIS));
    throttle_slot slot = {.is_reserved = false};
    php_latch_sync_task task = php_latch_sync_task_of(LATCH_THROTTLE_LOOK, make_slot, &slot);
    char digits[2][24];

    ZEND_PARSE_PARAMETERS_NONE();
    add_steps(&task.call, sync, digits);
    if (!php_latch_sync_run(sync, &task)) {
        RETURN_THROWS();
    }
    RETURN_DOUBLE((double) slot.wait_us / 1e6);
}

PHP_METHOD(Latch_Throttle, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
}
