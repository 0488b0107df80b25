/* Renewed leases: the thread's records of what the engine renews (src/latch.h, "Renewal"). */
#include "ext/key/renewed_lease.h"

#include "ext/key/key.h"
#include "ext/key/mailbox.h"
#include "ext/php/poll_loop.h"

php_latch_renewed_lease *php_latch_renewed_lease_find(const php_latch_lease *lease)
{
    return zend_hash_index_find_ptr(&LATCH_G(renewed_leases), lease->std.handle);
}

static php_latch_renewed_lease *renewed_lease_get(php_latch_lease *lease)
{
    php_latch_renewed_lease *renewed = php_latch_renewed_lease_find(lease);

    if (renewed == NULL) {
        renewed = ecalloc(1, sizeof(*renewed));
        renewed->lease = lease;
        latch_list_init(&renewed->requests);
        zend_hash_index_add_new_ptr(&LATCH_G(renewed_leases), lease->std.handle, renewed);
    }
    return renewed;
}

static void renewed_lease_free(php_latch_renewed_lease *renewed)
{
    latch_lease_stop_renewal(&renewed->lease->lease);
    zend_hash_index_del(&LATCH_G(renewed_leases), renewed->lease->std.handle);
    efree(renewed);
}

/* The renewal that satisfies all requests. */
static latch_renewal_spec sum_up_requests(const php_latch_renewed_lease *renewed)
{
    latch_renewal_spec spec = {0};
    bool for_ever = false;

    for (const latch_link *link = renewed->requests.next; link != &renewed->requests;
         link = link->next) {
        const php_latch_renewal_request *request =
            LATCH_CONTAINER(link, php_latch_renewal_request, link);

        if (spec.ttl_ms == 0 || request->ttl_ms < spec.ttl_ms) {
            spec.ttl_ms = request->ttl_ms;
        }
        if (request->renews || request->renews_by_setting) {
            spec.renew = true;
            for_ever |= request->max_hold_ms == 0;
            if (request->max_hold_ms > spec.max_hold_ms) {
                spec.max_hold_ms = request->max_hold_ms;
            }
        }
        spec.is_shared_out |= renewed->lease->lease.handed_over && !request->auto_release;
    }
    if (for_ever) {
        spec.max_hold_ms = 0;
    }
    return spec;
}

/* False also in a forked child, whose engine renews nothing of its parent's. */
static bool is_renewed_here(const php_latch_renewed_lease *renewed)
{
    return renewed->lease->lease.observed
           && renewed->generation == latch_engine_generation(php_latch_engine);
}

static bool is_applied(const php_latch_renewed_lease *renewed, const latch_renewal_spec *spec)
{
    return is_renewed_here(renewed) && renewed->spec.renew == spec->renew
           && renewed->spec.max_hold_ms == spec->max_hold_ms
           && renewed->spec.is_shared_out == spec->is_shared_out;
}

latch_status php_latch_renewed_lease_apply(php_latch_renewed_lease *renewed, latch_error *error)
{
    latch_renewal_spec spec = sum_up_requests(renewed);
    latch_mailbox *mailbox;
    latch_status status;

    if (is_applied(renewed, &spec) || LATCH_G(all_released)) {
        return LATCH_DONE;
    }
    mailbox = php_latch_mailbox_get();
    if (mailbox == NULL) {
        *error = (latch_error){.status = LATCH_ERROR_MEMORY, .message = "out of memory"};
        return LATCH_ERROR_MEMORY;
    }
    status = latch_lease_start_renewal(&renewed->lease->lease, mailbox, &spec, error);
    if (status == LATCH_DONE) {
        renewed->spec = spec;
        renewed->generation = latch_engine_generation(php_latch_engine);
    }
    return status;
}

void php_latch_renewed_lease_update(php_latch_renewed_lease *renewed)
{
    latch_error error;

    if (is_renewed_here(renewed)) {
        php_latch_renewed_lease_apply(renewed, &error); /* on failure: renewed as before */
    }
}

/* ---- Requests ------------------------------------------------------------------------------- */

void php_latch_renewal_leave(php_latch_renewal_request *request)
{
    php_latch_renewed_lease *renewed = request->renewed;

    if (renewed == NULL) {
        return;
    }
    latch_list_remove(&request->link);
    request->renewed = NULL;
    if (renewed->requests.next == &renewed->requests) {
        renewed_lease_free(renewed);
    } else {
        php_latch_renewed_lease_update(renewed);
    }
}

void php_latch_renewal_join(php_latch_renewal_request *request, php_latch_lease *lease)
{
    php_latch_renewed_lease *renewed;

    if (request->renewed != NULL && request->renewed->lease == lease) {
        return;
    }
    php_latch_renewal_leave(request);
    renewed = renewed_lease_get(lease);
    latch_list_append(&renewed->requests, &request->link);
    request->renewed = renewed;
}

void php_latch_stop_all_renewals(void)
{
    php_latch_renewed_lease *renewed;

    ZEND_HASH_FOREACH_PTR(&LATCH_G(renewed_leases), renewed) {
        latch_lease_stop_renewal(&renewed->lease->lease);
    }
    ZEND_HASH_FOREACH_END();
}

void php_latch_lease_end_renewal(const php_latch_lease *lease)
{
    php_latch_renewed_lease *renewed = zend_hash_num_elements(&LATCH_G(renewed_leases)) > 0
                                           ? php_latch_renewed_lease_find(lease)
                                           : NULL;

    if (renewed == NULL) {
        return;
    }
    while (renewed->requests.next != &renewed->requests) {
        php_latch_renewal_request *request =
            LATCH_CONTAINER(renewed->requests.next, php_latch_renewal_request, link);

        latch_list_remove(&request->link);
        request->renewed = NULL;
    }
    renewed_lease_free(renewed);
}

void php_latch_lease_share_token(php_latch_lease *lease)
{
    php_latch_renewed_lease *renewed = lease->lease.observed ? php_latch_renewed_lease_find(lease)
                                                             : NULL;

    lease->lease.handed_over = true;
    if (renewed != NULL) {
        php_latch_renewed_lease_update(renewed);
    }
}

/* ---- The key's lifetime --------------------------------------------------------------------- */

/* The earliest deadline of the key's renewed leases; LATCH_NEVER when there is none. */
static int64_t find_renewed_deadline(zend_object *key, int64_t now_ns)
{
    int64_t deadline_ns = LATCH_NEVER;

    for (php_latch_lease *lease = php_latch_lease_first(key); lease != NULL;
         lease = php_latch_lease_next(lease)) {
        if (!lease->lease.observed) {
            continue;
        }
        latch_lease_sync_deadline(&lease->lease, now_ns);
        if (lease->lease.mode != LATCH_FREE && lease->lease.deadline_ns < deadline_ns) {
            deadline_ns = lease->lease.deadline_ns;
        }
    }
    return deadline_ns;
}

void php_latch_key_sync_lifetime(zend_object *key)
{
    int64_t now_ns, deadline_ns;

    if (zend_hash_num_elements(&LATCH_G(renewed_leases)) == 0) {
        return;
    }
    now_ns = php_latch_now_ns();
    deadline_ns = find_renewed_deadline(key, now_ns);
    if (deadline_ns != LATCH_NEVER) {
        php_latch_key_set_lifetime(key, (double) (deadline_ns - now_ns) / LATCH_NS_PER_S);
    }
}
