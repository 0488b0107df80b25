/* By which stores the renewal thread renews: twins of those in which the locks were taken. */
#include "src/renewal/renewal.h"
#include "src/store/combined/combined.h"

#include <string.h>

/* ---- Stores -----------------------------------------------------------------------------------
 */

static latch_twin *find_by_identity(latch_renewer *renewer, const latch_store *store)
{
    const char *identity = latch_store_identity(store);

    for (latch_link *link = renewer->twins.next; identity != NULL && link != &renewer->twins;
         link = link->next) {
        latch_twin *twin = LATCH_CONTAINER(link, latch_twin, link);

        if (twin->store->class == store->class && twin->identity != NULL
            && strcmp(twin->identity, identity) == 0) {
            return twin;
        }
    }
    return NULL;
}

static latch_twin *open_twin(latch_renewer *renewer, const latch_store *store, latch_error *error)
{
    const char *identity = latch_store_identity(store);
    latch_engine *engine = renewer->engine;
    size_t length = identity != NULL ? strlen(identity) + 1 : 0;
    latch_twin *twin = latch_allocate(engine, sizeof(*twin) + length);

    if (twin == NULL) {
        latch_fail_memory(error);
        return NULL;
    }
    memset(twin, 0, sizeof(*twin));
    twin->store = store->class->twin(store, error);
    if (twin->store == NULL) {
        latch_free(engine, twin);
        return NULL;
    }
    if (identity != NULL) {
        twin->identity = memcpy(twin + 1, identity, length);
    }
    twin->generation = engine->generation;
    latch_link_init(&twin->due);
    latch_link_init(&twin->flight);
    latch_link_append(&renewer->twins, &twin->link);
    return twin;
}

latch_twin *latch_twin_get(latch_renewer *renewer, latch_store *store, latch_error *error)
{
    latch_twin *twin = store->twin;

    if (twin == NULL || twin->generation != renewer->engine->generation) {
        twin = find_by_identity(renewer, store);
        if (twin == NULL) {
            twin = open_twin(renewer, store, error);
        }
        if (twin == NULL) {
            return NULL;
        }
        twin->users++; /* the store */
        store->twin = twin;
    }
    twin->users++;
    return twin;
}

void latch_twin_close(latch_renewer *renewer, latch_twin *twin)
{
    latch_link_remove(&twin->link);
    latch_store_close(twin->store);
    latch_free(renewer->engine, twin);
}

void latch_twins_close_unused(latch_renewer *renewer)
{
    for (latch_link *link = renewer->twins.next; link != &renewer->twins;) {
        latch_twin *twin = LATCH_CONTAINER(link, latch_twin, link);

        link = link->next;
        if (twin->users == 0) {
            latch_twin_close(renewer, twin);
        }
    }
}

/* ---- Leases -----------------------------------------------------------------------------------
 */

static bool is_combined(const latch_lease *lease)
{
    return lease->store->class == &latch_combined_store;
}

bool latch_lease_has_parts(const latch_lease *lease)
{
    bool has_parts = !is_combined(lease) || latch_lease_is_joined(lease);

    if (has_parts && is_combined(lease)) {
        EACH_MEMBER(combined_store_of(lease), (combined_hold *) lease->state, member)
        {
            has_parts = has_parts && latch_lease_has_parts(member->lease);
        }
    }
    return has_parts;
}

size_t latch_lease_leaves(latch_lease *lease, latch_lease **leaves, size_t max)
{
    size_t count = 0;

    if (!is_combined(lease)) {
        leaves[0] = lease;
        return 1;
    }
    EACH_MEMBER(combined_store_of(lease), (combined_hold *) lease->state, member)
    {
        if (count < max) {
            count += latch_lease_leaves(member->lease, leaves + count, max - count);
        }
    }
    return count;
}

static latch_lease *make(latch_store *store, const latch_lease *like);

/* Its parts are made as those of `like` are. */
static bool join(latch_lease *lease, const latch_lease *like)
{
    const combined_store *store = combined_store_of(lease);
    const combined_hold *hold = like->state;
    latch_member members[LATCH_DESCRIPTORS_MAX] = {{NULL, 0}};
    bool is_made = true;
    latch_error error;
    size_t count = 0;

    for (; count < store->count && is_made; count++) {
        size_t first = 0;

        while (hold->members[first].lease != hold->members[count].lease) {
            first++;
        }
        members[count].ttl_ms = hold->members[count].ttl_ms;
        members[count].lease = first < count
                                   ? members[first].lease
                                   : make(store->members[count], hold->members[count].lease);
        is_made = members[count].lease != NULL;
    }
    is_made = is_made && latch_lease_join(lease, members, &error) == LATCH_DONE;
    for (size_t at = 0; !is_made && at < count; at++) {
        bool is_first = members[at].lease != NULL;

        for (size_t before = 0; before < at; before++) {
            is_first = is_first && members[before].lease != members[at].lease;
        }
        if (is_first) {
            latch_twin_lease_free(members[at].lease);
        }
    }
    return is_made;
}

static latch_lease *make(latch_store *store, const latch_lease *like)
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
    if (is_combined(lease) && !join(lease, like)) {
        latch_free(engine, lease);
        return NULL;
    }
    return lease;
}

latch_lease *latch_twin_lease_make(latch_twin *twin, const latch_lease *like)
{
    return make(twin->store, like);
}

void latch_twin_lease_free(latch_lease *lease)
{
    latch_lease *parts[LATCH_DESCRIPTORS_MAX];
    size_t count = 0;

    if (is_combined(lease)) {
        EACH_MEMBER(combined_store_of(lease), (combined_hold *) lease->state, member)
        {
            parts[count++] = member->lease;
        }
    }
    latch_lease_drop(lease);
    latch_free(lease->store->engine, lease);
    while (count > 0) {
        latch_twin_lease_free(parts[--count]);
    }
}
