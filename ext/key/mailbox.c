/* The thread's mailbox for lost leases. A loss sets EG(vm_interrupt): ext/lock/lost_locks.c. */
#include "ext/key/mailbox.h"

/* Called by any thread: reads no globals but its argument's. */
static void notify_vm(void *context)
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
        mail->box = latch_mailbox_open(php_latch_engine, notify_vm, mail);
    }
    return mail->box;
}

void php_latch_mailbox_close(php_latch_mail *mail)
{
    if (mail->box != NULL) {
        latch_mailbox_close(mail->box);
        mail->box = NULL;
    }
}
