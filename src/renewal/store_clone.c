/* Clones: the stores, and the leases in them, that the renewal thread drives by itself. */
#include "src/renewal/renewal.h"

#include <string.h>

/* ---- Stores -----------------------------------------------------------------------------------
 */

static latch_renewal_store *find_by_identity(latch_renewer *renewer, const latch_store *store)
{
    const char *identity = latch_store_identity(store);

    for (latch_link *link = renewer->clones.next; identity != NULL && link != &renewer->clones;
         link = link->next) {
        latch_renewal_store *clone = LATCH_CONTAINER(link, latch_renewal_store, link);

        if (clone->store->class == store->class && clone->identity != NULL
            && strcmp(clone->identity, identity) == 0) {
            return clone;
        }
    }
    return NULL;
}

static latch_renewal_store *open_renewal_store(latch_renewer *renewer, const latch_store *store,
                                               latch_error *error)
{
    const char *identity = latch_store_identity(store);
    latch_engine *engine = renewer->engine;
    size_t length = identity != NULL ? strlen(identity) + 1 : 0;
    latch_renewal_store *clone = latch_allocate(engine, sizeof(*clone) + length);

    if (clone == NULL) {
        latch_fail_memory(error);
        return NULL;
    }
    memset(clone, 0, sizeof(*clone));
    clone->store = store->class->clone(store, error);
    if (clone->store == NULL) {
        latch_free(engine, clone);
        return NULL;
    }
    if (identity != NULL) {
        clone->identity = memcpy(clone + 1, identity, length);
    }
    clone->generation = engine->generation;
    latch_list_init(&clone->due);
    latch_list_init(&clone->flight);
    latch_list_append(&renewer->clones, &clone->link);
    return clone;
}

latch_renewal_store *latch_renewal_store_get(latch_renewer *renewer, latch_store *store,
                                             latch_error *error)
{
    latch_renewal_store *clone = store->renewal_store;

    if (clone == NULL || clone->generation != renewer->engine->generation) {
        clone = find_by_identity(renewer, store);
        if (clone == NULL) {
            clone = open_renewal_store(renewer, store, error);
        }
        if (clone == NULL) {
            return NULL;
        }
        clone->users++; /* the store */
        store->renewal_store = clone;
    }
    clone->users++;
    return clone;
}

void latch_renewal_store_close(latch_renewer *renewer, latch_renewal_store *clone)
{
    latch_list_remove(&clone->link);
    latch_store_close(clone->store);
    latch_free(renewer->engine, clone);
}

void latch_renewal_stores_close_unused(latch_renewer *renewer)
{
    for (latch_link *link = renewer->clones.next; link != &renewer->clones;) {
        latch_renewal_store *clone = LATCH_CONTAINER(link, latch_renewal_store, link);

        link = link->next;
        if (clone->users == 0) {
            latch_renewal_store_close(renewer, clone);
        }
    }
}

/* ---- Leases -----------------------------------------------------------------------------------
 */

static const latch_composite *composite_of(const latch_lease *lease)
{
    return lease->store->class->composite;
}

/* The lease's part in that member; NULL past the last one, and of a lease that is no composite. */
static latch_lease *part_of(const latch_lease *lease, size_t index)
{
    const latch_composite *composite = composite_of(lease);

    return composite != NULL ? composite->part(lease, index).lease : NULL;
}

/* The first member that has the same part. */
static size_t first_with_part(const latch_lease *lease, size_t index)
{
    const latch_lease *part = part_of(lease, index);
    size_t first = 0;

    while (part_of(lease, first) != part) {
        first++;
    }
    return first;
}

bool latch_lease_has_parts(const latch_lease *lease)
{
    const latch_composite *composite = composite_of(lease);
    bool has_parts = true;

    for (size_t at = 0;
         composite != NULL && has_parts && composite->member(lease->store, at) != NULL; at++) {
        const latch_lease *part = part_of(lease, at);

        has_parts = part != NULL && latch_lease_has_parts(part);
    }
    return has_parts;
}

size_t latch_lease_leaves(latch_lease *lease, latch_lease **leaves, size_t max)
{
    latch_lease *part;
    size_t count = 0;

    if (composite_of(lease) == NULL) {
        leaves[0] = lease;
        return 1;
    }
    for (size_t at = 0; count < max && (part = part_of(lease, at)) != NULL; at++) {
        if (first_with_part(lease, at) == at) {
            count += latch_lease_leaves(part, leaves + count, max - count);
        }
    }
    return count;
}

static latch_lease *clone_make(latch_store *store, const latch_lease *like);

/* Makes the parts of a lease in a clone as those of `like` are, and joins them. */
static bool join(latch_lease *lease, const latch_lease *like)
{
    const latch_composite *composite = composite_of(lease);
    latch_lease_part parts[LATCH_DESCRIPTORS_MAX] = {{NULL, 0}};
    latch_store *member;
    bool is_made = true;
    latch_error error;
    size_t count = 0;

    for (; is_made && (member = composite->member(lease->store, count)) != NULL; count++) {
        size_t first = first_with_part(like, count);

        parts[count] = composite->part(like, count);
        parts[count].lease = first < count ? parts[first].lease
                                           : clone_make(member, parts[count].lease);
        is_made = parts[count].lease != NULL;
    }
    is_made = is_made && composite->join(lease, parts, &error) == LATCH_DONE;
    for (size_t at = 0; !is_made && at < count; at++) {
        if (parts[at].lease != NULL && first_with_part(like, at) == at) {
            latch_clone_lease_free(parts[at].lease);
        }
    }
    return is_made;
}

static latch_lease *clone_make(latch_store *store, const latch_lease *like)
{
    latch_engine *engine = store->engine;
    latch_lease *lease = latch_allocate(engine, sizeof(*lease) + like->resource_length);
    char *resource;

    if (lease == NULL) {
        return NULL;
    }
    resource = (char *) (lease + 1);
    memcpy(resource, like->resource, like->resource_length);
    latch_lease_init(lease, store, resource, like->resource_length);
    lease->is_permit = like->is_permit;
    if (composite_of(lease) != NULL && !join(lease, like)) {
        latch_free(engine, lease);
        return NULL;
    }
    return lease;
}

latch_lease *latch_clone_lease_make(latch_renewal_store *clone, const latch_lease *like)
{
    return clone_make(clone->store, like);
}

void latch_clone_lease_free(latch_lease *lease)
{
    latch_lease *parts[LATCH_DESCRIPTORS_MAX], *part;
    size_t count = 0;

    for (size_t at = 0; (part = part_of(lease, at)) != NULL; at++) {
        if (first_with_part(lease, at) == at) {
            parts[count++] = part;
        }
    }
    latch_lease_drop(lease);
    latch_free(lease->store->engine, lease);
    while (count > 0) {
        latch_clone_lease_free(parts[--count]);
    }
}
