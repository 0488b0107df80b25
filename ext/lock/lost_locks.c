/*
 * Lost locks: reads the thread's mailbox (ext/key/mailbox.c) at the next interrupt of the VM, also
 * during a wait (ext/php/poll_loop.c). A loss is counted and logged once, however many Locks share
 * its lease; each Lock's callbacks are called; with latch.throw_on_lost an exception comes last.
 */
#include "ext/lock/keep_alive.h"

#include "ext/key/key.h"
#include "ext/lock/multi_lock.h"
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/php/log.h"
#include "ext/php/statistics.h"

#include "zend_exceptions.h"
#include "zend_fibers.h"

static void (*interrupt_before)(zend_execute_data *execute_data);

/* ---- Notices --------------------------------------------------------------------------------- */

void php_latch_loss_notice_init(php_latch_loss_notice *notice)
{
    *notice = (php_latch_loss_notice){0};
    latch_list_init(&notice->link);
}

void php_latch_loss_notice_drop(php_latch_loss_notice *notice)
{
    latch_list_remove(&notice->link);
    if (notice->reason != NULL) {
        zend_string_release(notice->reason);
    }
    php_latch_loss_notice_init(notice);
}

/* Replaces the notice of an earlier loss that was not reported yet. */
static php_latch_loss_notice *post_notice(php_latch_keep_alive *keep_alive, zend_string *reason)
{
    php_latch_loss_notice *notice = &keep_alive->notice;

    php_latch_loss_notice_drop(notice);
    notice->reason = zend_string_copy(reason);
    notice->hold = keep_alive->multi != NULL ? keep_alive->multi->hold : 0;
    latch_list_append(&LATCH_G(loss_notices), &notice->link);
    return notice;
}

static void record_loss(php_latch_renewed_lease *renewed, zend_string *reason)
{
    latch_link *requests = &renewed->requests;
    php_latch_loss_notice *notice = NULL;
    bool is_logged = false;

    renewed->is_lost = true;
    renewed->lease->lease.losses++;
    php_latch_statistics_of(&renewed->lease->lease)->lost++;
    for (latch_link *link = requests->next; link != requests; link = link->next) {
        php_latch_keep_alive *keep_alive =
            LATCH_CONTAINER(link, php_latch_keep_alive, request.link);

        notice = post_notice(keep_alive, reason);
        notice->logs = !is_logged && keep_alive->lock->logger != NULL;
        is_logged |= notice->logs;
    }
    if (notice != NULL) {
        notice->throws = LATCH_G(throw_on_lost);
    }
}

void php_latch_lost_locks_collect(void)
{
    php_latch_mail *mail = &LATCH_G(mail);

    while (mail->box != NULL && !php_latch_is_out_of_memory()) {
        /* Allocated before the loss is read: an allocation after that could bail out, and drop
           the loss. */
        zend_string *reason = zend_string_alloc(sizeof(((latch_loss *) NULL)->reason), 0);
        php_latch_renewed_lease *renewed = NULL;
        latch_loss loss;
        bool found = latch_mailbox_read(mail->box, &loss);

        if (found) {
            renewed =
                php_latch_renewed_lease_find(LATCH_CONTAINER(loss.lease, php_latch_lease, lease));
        }
        if (renewed != NULL) {
            ZSTR_LEN(reason) = strlen(loss.reason);
            memcpy(ZSTR_VAL(reason), loss.reason, ZSTR_LEN(reason) + 1);
            record_loss(renewed, reason);
        }
        zend_string_release(reason);
        if (!found) {
            return;
        }
    }
}

void php_latch_lost_locks_drop_notices(void)
{
    latch_link *notices = &LATCH_G(loss_notices);

    LATCH_G(mail).is_there = false;
    while (notices->next != notices) {
        latch_link *link = notices->next;

        latch_list_remove(link);
        latch_list_init(link);
    }
}

/* ---- Telling --------------------------------------------------------------------------------- */

static void log_loss(const php_latch_lock *lock, zend_string *reason)
{
    zval value;

    ZVAL_STR(&value, reason);
    php_latch_log(lock->logger, php_latch_lock_primitive(lock), "notice",
                  "The \"{resource}\" %s was lost.", lock->key, "reason", &value);
}

/* A loss as it is reported: of a Lock, or of a MultiLock in place of a member. */
typedef struct lost_object {
    php_latch_lock *lock;
    php_latch_multi_lock *multi; /* NULL: none */
    zend_string *reason;
    zval callbacks; /* an array of closures; or undefined */
} lost_object;

static zend_object *new_lost_exception(const lost_object *lost, const char *after)
{
    const php_latch_primitive *primitive = php_latch_lock_primitive(lost->lock);
    zend_object *exception;
    zend_string *name;

    if (lost->multi == NULL) {
        return php_latch_new_failure(primitive, primitive->expired, NULL, "The \"",
                                     php_latch_key_name(lost->lock->key), after);
    }
    name = php_latch_multi_lock_describe(lost->multi);
    exception = php_latch_new_exception(primitive->expired, NULL, "The ", name, after);
    zend_string_release(name);
    return exception;
}

static void throw_lost(const lost_object *lost)
{
    zend_string *after;
    zval exception;

    if ((EG(flags) & EG_FLAGS_IN_SHUTDOWN) != 0) {
        return; /* the script has ended: there is no code for the exception to stop */
    }
    after = zend_strpprintf(0, " was lost: %s.", ZSTR_VAL(lost->reason));
    ZVAL_OBJ(&exception, new_lost_exception(lost, ZSTR_VAL(after)));
    zend_string_release(after);
    zend_throw_exception_object(&exception);
}

static void call_back(zval *callback, zend_object *object, zend_string *reason)
{
    zval arguments[2], result;

    ZVAL_OBJ(&arguments[0], object);
    ZVAL_STR(&arguments[1], reason);
    ZVAL_UNDEF(&result);
    call_user_function(NULL, NULL, callback, &result, 2, arguments);
    zval_ptr_dtor(&result);
}

/* Exception that a signal handler or a callback has thrown before: it goes on in the end. */
typedef struct pending_exception {
    zend_object *thrown;
    const zend_op *opline_before_exception;
} pending_exception;

/*
 * Sets the pending exception aside for the next call. The first exception goes on, with later ones
 * among its previous ones; an exit goes before all. Backtraces of the interrupted frame need its
 * instruction.
 */
static void set_pending(pending_exception *before)
{
    zend_object *thrown = EG(exception);

    EG(exception) = NULL;
    if (before->thrown == NULL) {
        *before = (pending_exception){thrown, EG(opline_before_exception)};
        return;
    }
    EG(opline_before_exception) = before->opline_before_exception;
    if (thrown != NULL) {
        php_latch_chain_exceptions(before->thrown, thrown);
        before->thrown = EG(exception);
        EG(exception) = NULL;
    }
}

static bool can_report(const pending_exception *before)
{
    return !php_latch_is_exit(before->thrown) && !LATCH_G(shutting_down)
           && !php_latch_is_out_of_memory();
}

static void call_callbacks(const lost_object *lost, pending_exception *before)
{
    zend_object *object = lost->multi != NULL ? &lost->multi->std : &lost->lock->std;
    zval *callback;

    ZEND_HASH_FOREACH_VAL(Z_ARR(lost->callbacks), callback)
    {
        if (can_report(before)) {
            call_back(callback, object, lost->reason);
            set_pending(before);
        }
    }
    ZEND_HASH_FOREACH_END();
}

/*
 * Is the loss the first one of a hold of the MultiLock? One is enough for all its members. An
 * acquire under way detects a loss itself.
 */
static bool is_news(php_latch_multi_lock *multi, uint64_t hold)
{
    if (hold <= multi->no_news || (multi->is_taking && hold == multi->hold)) {
        return false;
    }
    multi->no_news = hold;
    return true;
}

/* The reason with the name of the member. */
static zend_string *name_member(const php_latch_lock *lock, zend_string *reason)
{
    static const char before[] = "member \"", after[] = "\": ";
    zend_string *name = php_latch_key_name(lock->key);
    zend_string *start = zend_string_concat3(before, sizeof(before) - 1, ZSTR_VAL(name),
                                             ZSTR_LEN(name), after, sizeof(after) - 1);
    zend_string *whole =
        zend_string_concat2(ZSTR_VAL(start), ZSTR_LEN(start), ZSTR_VAL(reason), ZSTR_LEN(reason));

    zend_string_release(start);
    return whole;
}

/* The loss, with references. */
static lost_object lost_object_of(php_latch_keep_alive *keep_alive, zend_string *reason)
{
    lost_object lost = {.lock = keep_alive->lock, .multi = keep_alive->multi};

    GC_ADDREF(&lost.lock->std); /* a callback may release it, */
    if (lost.multi == NULL) {
        lost.reason = zend_string_copy(reason);
        ZVAL_COPY(&lost.callbacks, &keep_alive->callbacks); /* and add others, for the next loss */
    } else {
        GC_ADDREF(&lost.multi->std);
        lost.reason = name_member(lost.lock, reason);
        ZVAL_COPY(&lost.callbacks, &lost.multi->callbacks);
    }
    return lost;
}

static void lost_object_free(lost_object *lost)
{
    zend_string_release(lost->reason);
    zval_ptr_dtor(&lost->callbacks);
    if (lost->multi != NULL) {
        OBJ_RELEASE(&lost->multi->std);
    }
    OBJ_RELEASE(&lost->lock->std);
}

static void report_loss(php_latch_keep_alive *keep_alive, pending_exception *before)
{
    php_latch_loss_notice notice = keep_alive->notice;
    lost_object lost = lost_object_of(keep_alive, notice.reason);
    bool is_reported = lost.multi == NULL || is_news(lost.multi, notice.hold);

    latch_list_remove(&keep_alive->notice.link);
    php_latch_loss_notice_init(&keep_alive->notice);
    if (notice.logs) {
        log_loss(lost.lock, notice.reason);
        set_pending(before);
    }
    if (is_reported && Z_TYPE(lost.callbacks) == IS_ARRAY) {
        call_callbacks(&lost, before);
    }
    if (is_reported && notice.throws && can_report(before)) {
        throw_lost(&lost);
        set_pending(before);
    }
    zend_string_release(notice.reason);
    lost_object_free(&lost);
    set_pending(before);
}

/*
 * Reports all in one interrupt: an interrupt requested while an exception is pending would make the
 * VM call the handler again and again. As in pcntl's signal handlers, callbacks cannot suspend the
 * fiber that they interrupt.
 */
static void report_all_losses(void)
{
    latch_link *notices = &LATCH_G(loss_notices);
    pending_exception before = {0};

    set_pending(&before);
    zend_fiber_switch_block();
    php_latch_lost_locks_collect();
    while (notices->next != notices && can_report(&before)) {
        report_loss(LATCH_CONTAINER(notices->next, php_latch_keep_alive, notice.link), &before);
    }
    zend_fiber_switch_unblock();
    EG(exception) = before.thrown;
}

static void handle_interrupt(zend_execute_data *execute_data)
{
    const pending_exception none = {0};
    php_latch_mail *mail;

    if (interrupt_before != NULL) {
        interrupt_before(execute_data);
    }
    mail = &LATCH_G(mail);
    if (mail->is_there && can_report(&none)) {
        mail->is_there = false;
        report_all_losses();
    }
}

void php_latch_lost_locks_startup(void)
{
    interrupt_before = zend_interrupt_function;
    zend_interrupt_function = handle_interrupt;
}

void php_latch_lost_locks_shutdown(void)
{
    if (zend_interrupt_function == handle_interrupt) {
        zend_interrupt_function = interrupt_before;
    }
}
