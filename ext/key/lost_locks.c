/*
 * Locks that were lost: the thread's mailbox, and how it is told at the next interrupt of the VM,
 * also while Latch waits (ext/php/poll_loop.c). A loss is counted and logged once, however many
 * Locks share its lease; each Lock's callbacks are called; and with latch.throw_on_lost an
 * exception comes last.
 */
#include "ext/lock/keep_alive.h"

#include "zend_exceptions.h"
#include "zend_fibers.h"

static void (*interrupt_before)(zend_execute_data *execute_data);

/* ---- The mailbox ------------------------------------------------------------------------------
 */

/* Called by any thread: no globals but what it is given. */
static void notify(void *context)
{
    php_latch_mail *mail = context;

    mail->is_there = true;
    zend_atomic_bool_store_ex(mail->vm_interrupt, true);
}

latch_mailbox *php_latch_mailbox_get(void)
{
    php_latch_mail *mail = &LATCH_G(mail);

    if (mail->box == NULL) {
        mail->vm_interrupt = &EG(vm_interrupt);
        mail->box = latch_mailbox_open(php_latch_engine, notify, mail);
    }
    return mail->box;
}

void php_latch_mailbox_end(php_latch_mail *mail)
{
    if (mail->box != NULL) {
        latch_mailbox_close(mail->box);
        mail->box = NULL;
    }
}

/* ---- Notices ----------------------------------------------------------------------------------
 */

void php_latch_notice_init(php_latch_notice *notice)
{
    *notice = (php_latch_notice){0};
    latch_link_init(&notice->link);
}

void php_latch_notice_drop(php_latch_notice *notice)
{
    latch_link_remove(&notice->link);
    if (notice->reason != NULL) {
        zend_string_release(notice->reason);
    }
    php_latch_notice_init(notice);
}

/* Of an earlier loss, of which it has not been told to the end, it need not hear any more. */
static php_latch_notice *post(php_latch_keeping *keeping, zend_string *reason)
{
    php_latch_notice *notice = &keeping->notice;

    php_latch_notice_drop(notice);
    notice->reason = zend_string_copy(reason);
    latch_link_append(&LATCH_G(notices), &notice->link);
    return notice;
}

static void note(php_latch_kept *kept, zend_string *reason)
{
    latch_link *keepings = &kept->keepings;
    php_latch_notice *notice = NULL;
    bool is_logged = false;

    kept->is_lost = true;
    kept->lease->lease.losses++;
    LATCH_G(statistics).lost++;
    for (latch_link *link = keepings->next; link != keepings; link = link->next) {
        php_latch_keeping *keeping = LATCH_CONTAINER(link, php_latch_keeping, link);

        notice = post(keeping, reason);
        notice->logs = !is_logged && keeping->lock->logger != NULL;
        is_logged |= notice->logs;
    }
    if (notice != NULL) {
        notice->throws = LATCH_G(throw_on_lost);
    }
}

void php_latch_losses_collect(void)
{
    php_latch_mail *mail = &LATCH_G(mail);

    while (mail->box != NULL && !php_latch_is_out_of_memory()) {
        /* Before the loss is read: an allocation after that could bail out, and nobody would hear.
         */
        zend_string *reason = zend_string_alloc(sizeof(((latch_loss *) NULL)->reason), 0);
        php_latch_kept *kept = NULL;
        latch_loss loss;
        bool found = latch_mailbox_read(mail->box, &loss);

        if (found) {
            kept = php_latch_kept_find(LATCH_CONTAINER(loss.lease, php_latch_lease, lease));
        }
        if (kept != NULL) {
            ZSTR_LEN(reason) = strlen(loss.reason);
            memcpy(ZSTR_VAL(reason), loss.reason, ZSTR_LEN(reason) + 1);
            note(kept, reason);
        }
        zend_string_release(reason);
        if (!found) {
            return;
        }
    }
}

void php_latch_losses_forget(void)
{
    latch_link *notices = &LATCH_G(notices);

    LATCH_G(mail).is_there = false;
    while (notices->next != notices) {
        latch_link *link = notices->next;

        latch_link_remove(link);
        latch_link_init(link);
    }
}

/* ---- Telling ----------------------------------------------------------------------------------
 */

static void log_loss(const php_latch_lock *lock, zend_string *reason)
{
    zval value;

    ZVAL_STR(&value, reason);
    php_latch_log(lock->logger, "notice", "The \"{resource}\" lock was lost.", lock->key, "reason",
                  &value);
}

static void throw_loss(const php_latch_lock *lock, zend_string *reason)
{
    zend_string *after;
    zval exception;

    if ((EG(flags) & EG_FLAGS_IN_SHUTDOWN) != 0) {
        return; /* the script has ended: there is nothing to be kept from going on */
    }
    after = zend_strpprintf(0, "\" lock was lost: %s.", ZSTR_VAL(reason));
    ZVAL_OBJ(&exception, php_latch_new_exception(php_latch_expired_ce, NULL, "The \"",
                                                 php_latch_key_name(lock->key), ZSTR_VAL(after)));
    zend_string_release(after);
    zend_throw_exception_object(&exception);
}

static void call_back(zval *callback, php_latch_lock *lock, zend_string *reason)
{
    zval arguments[2], result;

    ZVAL_OBJ(&arguments[0], &lock->std);
    ZVAL_STR(&arguments[1], reason);
    ZVAL_UNDEF(&result);
    call_user_function(NULL, NULL, callback, &result, 2, arguments);
    zval_ptr_dtor(&result);
}

/* What was thrown before, by a signal handler or a callback, and is to go on. */
typedef struct pending {
    zend_object *thrown;
    const zend_op *opline_before_exception;
} pending;

/*
 * Clears the way for the next call. The first exception goes on, with later ones among its previous
 * ones; but nothing stops an exit. Backtraces of the interrupted frame need its instruction.
 */
static void put_aside(pending *before)
{
    zend_object *thrown = EG(exception);

    EG(exception) = NULL;
    if (before->thrown == NULL) {
        *before = (pending){thrown, EG(opline_before_exception)};
        return;
    }
    EG(opline_before_exception) = before->opline_before_exception;
    if (thrown != NULL) {
        php_latch_join_thrown(before->thrown, thrown);
        before->thrown = EG(exception);
        EG(exception) = NULL;
    }
}

static bool can_tell(const pending *before)
{
    return !php_latch_is_exit(before->thrown) && !LATCH_G(shutting_down)
           && !php_latch_is_out_of_memory();
}

static void call_all(HashTable *callbacks, php_latch_lock *lock, zend_string *reason,
                     pending *before)
{
    zval *callback;

    ZEND_HASH_FOREACH_VAL(callbacks, callback)
    {
        if (can_tell(before)) {
            call_back(callback, lock, reason);
            put_aside(before);
        }
    }
    ZEND_HASH_FOREACH_END();
}

static void tell(php_latch_keeping *keeping, pending *before)
{
    php_latch_lock *lock = keeping->lock;
    php_latch_notice notice = keeping->notice;
    zval callbacks;

    latch_link_remove(&keeping->notice.link);
    php_latch_notice_init(&keeping->notice);
    GC_ADDREF(&lock->std);                      /* a callback may let it go, */
    ZVAL_COPY(&callbacks, &keeping->callbacks); /* and add others, for the next loss */
    if (notice.logs) {
        log_loss(lock, notice.reason);
        put_aside(before);
    }
    if (Z_TYPE(callbacks) == IS_ARRAY) {
        call_all(Z_ARR(callbacks), lock, notice.reason, before);
    }
    if (notice.throws && can_tell(before)) {
        throw_loss(lock, notice.reason);
        put_aside(before);
    }
    zend_string_release(notice.reason);
    zval_ptr_dtor(&callbacks);
    OBJ_RELEASE(&lock->std);
    put_aside(before);
}

/*
 * All at once: an interrupt that is asked for while an exception is pending would have the VM call
 * us again and again. As pcntl's signal handlers, what is called cannot suspend the fiber that it
 * interrupts.
 */
static void tell_all(void)
{
    latch_link *notices = &LATCH_G(notices);
    pending before = {0};

    put_aside(&before);
    zend_fiber_switch_block();
    php_latch_losses_collect();
    while (notices->next != notices && can_tell(&before)) {
        tell(LATCH_CONTAINER(notices->next, php_latch_keeping, notice.link), &before);
    }
    zend_fiber_switch_unblock();
    EG(exception) = before.thrown;
}

static void interrupt(zend_execute_data *execute_data)
{
    const pending none = {0};
    php_latch_mail *mail;

    if (interrupt_before != NULL) {
        interrupt_before(execute_data);
    }
    mail = &LATCH_G(mail);
    if (mail->is_there && can_tell(&none)) {
        mail->is_there = false;
        tell_all();
    }
}

void php_latch_losses_startup(void)
{
    interrupt_before = zend_interrupt_function;
    zend_interrupt_function = interrupt;
}

void php_latch_losses_shutdown(void)
{
    if (zend_interrupt_function == interrupt) {
        zend_interrupt_function = interrupt_before;
    }
}
