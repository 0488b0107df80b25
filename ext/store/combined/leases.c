/*
 * Leases in a CombinedStore: their parts are the key's leases in the members, where the members
 * find them, too.
 */
#include "ext/store/combined/combined.h"

#include "ext/php/client_object.h"
#include "ext/php/interfaces.h"
#include "ext/php/poll_loop.h"

#include "zend_exceptions.h"

php_latch_combined_backend *php_latch_combined_backend_of(const php_latch_lease *lease)
{
    return lease->backend->data;
}

static size_t count_parts(const php_latch_lease *lease)
{
    return lease->backend->member_count;
}

/* The leases of the key in the members, referenced; false after throwing. */
static bool find_parts(php_latch_lease *lease, zend_object *key, latch_lease_part *members)
{
    const php_latch_combined_backend *combined = php_latch_combined_backend_of(lease);

    for (size_t at = 0; at < combined->count; at++) {
        const php_latch_member *member = &combined->members[at];
        php_latch_lease *part = php_latch_lease_get(key, member->backend, NULL);

        if (part == NULL) {
            return false;
        }
        GC_ADDREF(&part->std);
        lease->parts[at].lease = part;
        members[at] = (latch_lease_part){&part->lease, member->initial_ttl_ms};
    }
    return true;
}

bool php_latch_combined_join(php_latch_lease *lease, zend_object *key)
{
    latch_lease_part *members = safe_emalloc(count_parts(lease) + 1, sizeof(*members), 0);
    bool done = false;
    latch_error error;

    lease->parts = ecalloc(count_parts(lease) + 1, sizeof(*lease->parts));
    if (find_parts(lease, key, members)) {
        done = latch_lease_join(&lease->lease, members, &error) == LATCH_DONE;
        if (!done) {
            zend_throw_exception(php_latch_storage_ce, error.message, 0);
        }
    }
    efree(members);
    return done;
}

void php_latch_combined_detach_members(php_latch_lease *lease)
{
    php_latch_part *parts = lease->parts;

    php_latch_combined_clear_failures(lease);
    lease->parts = NULL;
    for (size_t at = 0; at < count_parts(lease); at++) {
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

bool php_latch_combined_contains(const php_latch_lease *lease, const php_latch_lease *part)
{
    for (size_t at = 0; php_latch_lease_has_parts(lease) && at < count_parts(lease); at++) {
        const php_latch_lease *own = lease->parts[at].lease;

        if (own == part || (own != NULL && php_latch_combined_contains(own, part))) {
            return true;
        }
    }
    return false;
}

void php_latch_combined_for_each_part(php_latch_lease *lease, void (*visit)(php_latch_lease *part))
{
    for (size_t at = 0; at < count_parts(lease); at++) {
        visit(lease->parts[at].lease);
    }
}

static bool is_called(const php_latch_lease *lease, size_t at)
{
    return php_latch_combined_backend_of(lease)->members[at].called != NULL;
}

bool php_latch_combined_holds_in_part(const php_latch_lease *lease)
{
    for (size_t at = 0; php_latch_lease_has_parts(lease) && at < count_parts(lease); at++) {
        const php_latch_lease *part = lease->parts[at].lease;

        if (php_latch_combined_holds_in_part(part)
            || (!php_latch_lease_has_parts(part) && !is_called(lease, at)
                && part->lease.mode != LATCH_FREE)) {
            return true;
        }
    }
    return false;
}

void php_latch_combined_release_parts(php_latch_lease *lease, bool detach)
{
    const latch_request release = {.kind = LATCH_RELEASE, .detach = detach};
    latch_error error;

    for (size_t at = 0; php_latch_lease_has_parts(lease) && at < count_parts(lease); at++) {
        php_latch_lease *part = lease->parts[at].lease;

        php_latch_combined_release_parts(part, detach);
        if (!php_latch_lease_has_parts(part) && !is_called(lease, at)
            && part->lease.mode != LATCH_FREE) {
            php_latch_run_request(&part->lease, &release, &error);
            php_latch_client_failure_clear();
        }
    }
}

void php_latch_combined_configure(php_latch_lease *lease, zend_object *key)
{
    const php_latch_combined_backend *combined = php_latch_combined_backend_of(lease);
    int64_t now_ns = !combined->calls_php ? 0 : php_latch_now_ns();

    php_latch_combined_clear_failures(lease);
    for (size_t at = 0; at < combined->count; at++) {
        const php_latch_member *member = &combined->members[at];
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
        if (php_latch_lease_has_parts(part->lease)) {
            php_latch_combined_configure(part->lease, key);
        }
    }
}

latch_status php_latch_combined_find_deadlock(php_latch_lease *wanted, latch_op_kind kind,
                                              bool verifies)
{
    const php_latch_combined_backend *combined = php_latch_combined_backend_of(wanted);
    size_t blocked = 0;
    bool is_hopeless;

    for (size_t at = 0; at < combined->count; at++) {
        latch_status status =
            php_latch_find_deadlock(&wanted->parts[at].lease->lease, kind, verifies);

        if (status == LATCH_INTERRUPTED) {
            return status;
        }
        blocked += status == LATCH_DONE;
    }
    /* A strategy written in PHP is asked during a request alone. */
    is_hopeless = combined->own != NULL ? !combined->own->can_be_met(NULL, blocked, combined->count)
                                        : blocked == combined->count;
    return blocked > 0 && is_hopeless ? LATCH_DONE : LATCH_CONFLICT;
}

static void release_failure(zend_object **failure)
{
    zend_object *object = *failure;

    *failure = NULL;
    if (object != NULL) {
        OBJ_RELEASE(object);
    }
}

void php_latch_combined_clear_failures(php_latch_lease *lease)
{
    for (size_t at = 0; lease->parts != NULL && at < count_parts(lease); at++) {
        release_failure(&lease->parts[at].failure);
        release_failure(&lease->parts[at].release_failure);
    }
}
