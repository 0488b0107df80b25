/*
 * What a key holds in a CombinedStore: a lease whose parts are the key's leases in the members,
 * where the members find them, too.
 */
#include "ext/store/combined/combined.h"

#include "zend_exceptions.h"

size_t php_latch_lease_count(const php_latch_lease *lease)
{
    return lease->backend->combination->count;
}

/* The leases of the key in the members, referenced; false after throwing. */
static bool find_parts(php_latch_lease *lease, zend_object *key, latch_member *members)
{
    const php_latch_combination *combination = lease->backend->combination;

    for (size_t at = 0; at < combination->count; at++) {
        const php_latch_member *member = &combination->members[at];
        php_latch_lease *part = php_latch_lease_get(key, member->backend, NULL);

        if (part == NULL) {
            return false;
        }
        GC_ADDREF(&part->std);
        lease->parts[at].lease = part;
        members[at] = (latch_member){&part->lease, member->initial_ttl_ms};
    }
    return true;
}

bool php_latch_lease_join(php_latch_lease *lease, zend_object *key)
{
    latch_member *members = safe_emalloc(php_latch_lease_count(lease) + 1, sizeof(*members), 0);
    bool done = false;
    latch_error error;

    lease->parts = ecalloc(php_latch_lease_count(lease) + 1, sizeof(*lease->parts));
    if (find_parts(lease, key, members)) {
        done = latch_lease_join(&lease->lease, members, &error) == LATCH_DONE;
        if (!done) {
            zend_throw_exception(php_latch_storage_ce, error.message, 0);
        }
    }
    efree(members);
    return done;
}

void php_latch_lease_disjoin(php_latch_lease *lease)
{
    php_latch_part *parts;

    if (!php_latch_lease_is_combined(lease)) {
        return;
    }
    php_latch_lease_forget_failures(lease);
    parts = lease->parts;
    lease->parts = NULL;
    for (size_t at = 0; at < php_latch_lease_count(lease); at++) {
        php_latch_lease *part = parts[at].lease;

        if (part != NULL && part->lease.state == &parts[at]) {
            part->lease.state = NULL;
        }
        if (part != NULL) {
            OBJ_RELEASE(&part->std);
        }
    }
    efree(parts);
}

bool php_latch_lease_has_part(const php_latch_lease *lease, const php_latch_lease *part)
{
    for (size_t at = 0; php_latch_lease_is_combined(lease) && at < php_latch_lease_count(lease);
         at++) {
        const php_latch_lease *own = lease->parts[at].lease;

        if (own == part || (own != NULL && php_latch_lease_has_part(own, part))) {
            return true;
        }
    }
    return false;
}

static bool is_called(const php_latch_lease *lease, size_t at)
{
    return lease->backend->combination->members[at].called != NULL;
}

bool php_latch_lease_holds_in_part(const php_latch_lease *lease)
{
    for (size_t at = 0; php_latch_lease_is_combined(lease) && at < php_latch_lease_count(lease);
         at++) {
        const php_latch_lease *part = lease->parts[at].lease;

        if (php_latch_lease_holds_in_part(part)
            || (!php_latch_lease_is_combined(part) && !is_called(lease, at)
                && part->lease.mode != LATCH_FREE)) {
            return true;
        }
    }
    return false;
}

void php_latch_lease_release_parts(php_latch_lease *lease, bool detach)
{
    const latch_request release = {.kind = LATCH_RELEASE, .detach = detach};
    latch_error error;

    for (size_t at = 0; php_latch_lease_is_combined(lease) && at < php_latch_lease_count(lease);
         at++) {
        php_latch_lease *part = lease->parts[at].lease;

        php_latch_lease_release_parts(part, detach);
        if (!php_latch_lease_is_combined(part) && !is_called(lease, at)
            && part->lease.mode != LATCH_FREE) {
            php_latch_run(&part->lease, &release, &error);
            php_latch_forget_client_failure();
        }
    }
}

void php_latch_lease_configure_parts(php_latch_lease *lease, zend_object *key)
{
    const php_latch_combination *combination = lease->backend->combination;
    int64_t now_ns = combination->is_native ? 0 : php_latch_now_ns();

    php_latch_lease_forget_failures(lease);
    for (size_t at = 0; at < combination->count; at++) {
        const php_latch_member *member = &combination->members[at];
        php_latch_part *part = &lease->parts[at];

        if (member->called != NULL) {
            part->key = key;
            part->begun_ns = now_ns;
            part->is_asked = part->is_late = false;
            part->lease->lease.state = part;
            continue;
        }
        part->lease->lease.remove = member->remove_on_release;
        part->lease->lease.pass_on = member->pass_on;
        if (part->lease->parts != NULL) {
            php_latch_lease_configure_parts(part->lease, key);
        }
    }
}

static void forget(zend_object **failure)
{
    zend_object *object = *failure;

    *failure = NULL;
    if (object != NULL) {
        OBJ_RELEASE(object);
    }
}

void php_latch_lease_forget_failures(php_latch_lease *lease)
{
    for (size_t at = 0; lease->parts != NULL && at < php_latch_lease_count(lease); at++) {
        forget(&lease->parts[at].failure);
        forget(&lease->parts[at].release_failure);
    }
}
