/* Puppets: see puppet_store.h. */
#include "puppet_store.h"

#include "src/renewal/renewal.h"

puppet_store puppets[PUPPETS], *puppet_clones[PUPPETS];

static struct {
    size_t count;
    latch_lease parts[64][PUPPETS]; /* of unit.leases */
} stage;

static puppet_store *puppet_of(const latch_op *op)
{
    return (puppet_store *) op->lease->store;
}

static bool acquires(const latch_op *op)
{
    return op->request.kind == LATCH_ACQUIRE || op->request.kind == LATCH_ACQUIRE_SHARED;
}

static latch_status answer(latch_op *op)
{
    puppet_store *puppet = puppet_of(op);

    switch (puppet->answer) {
        case PUPPET_YES:
            if (acquires(op)) {
                puppet->is_held = true;
            } else if (op->request.kind == LATCH_RELEASE) {
                puppet->is_held = false;
            }
            return LATCH_DONE;
        case PUPPET_NO:
            puppet->is_held = puppet->is_held && op->mode_before == LATCH_SHARED;
            return op->request.kind == LATCH_RELEASE ? LATCH_DONE : LATCH_CONFLICT;
        case PUPPET_LOSES:
            puppet->is_held = false;
            return latch_fail(op->error, LATCH_ERROR_LOST, 0, "as the puppet says");
        case PUPPET_FAILS:
            if (acquires(op) && op->mode_before == LATCH_FREE) {
                puppet->is_held = false;
            }
            return latch_fail(op->error, LATCH_ERROR_STORE, 0, "as the puppet says");
    }
    return LATCH_ERROR_ARGUMENT;
}

/* Each has a time-out of its own: 1 s, 2 s, ... */
static int64_t wake_of(const puppet_store *puppet)
{
    return unit.now_ns + (1 + puppet->place) * LATCH_NS_PER_S;
}

static latch_status puppet_begin(latch_op *op)
{
    puppet_store *puppet = puppet_of(op);

    puppet->requests++;
    puppet->last = op->request.kind;
    puppet->request = op->request;
    snprintf(puppet->token, sizeof(puppet->token), "%s",
             op->lease->token != NULL ? op->lease->token : "");
    if (puppet->late && (!op->request.detach || puppet->is_cut_off)
        && (op->request.kind != LATCH_RELEASE || op->mode_before != LATCH_FREE)) {
        op->state = &puppet->spoken;
        op->fd = 10 + puppet->place;
        op->events = POLLIN;
        op->wake_ns = wake_of(puppet);
        /* A release that is not awaited is the store's from its beginning: it will be sent. */
        puppet->is_held = puppet->is_held && !op->request.detach;
        return LATCH_WANT_IO;
    }
    return answer(op);
}

static latch_status puppet_step(latch_op *op, int64_t now_ns)
{
    (void) now_ns;
    if (puppet_of(op)->late) {
        op->wake_ns = wake_of(puppet_of(op));
        return LATCH_WANT_IO;
    }
    return op->cancelled && op->mode_before == LATCH_FREE ? LATCH_CONFLICT : answer(op);
}

static latch_status puppet_cancel(latch_op *op)
{
    puppet_store *puppet = puppet_of(op);

    if (puppet->is_clingy) {
        puppet->late = false;
        return LATCH_WANT_IO;
    }
    if (op->mode_before == LATCH_FREE) {
        puppet->is_held = false;
    }
    return LATCH_CONFLICT;
}

/* What was sent arrives all the same. */
static void puppet_abandon(latch_op *op)
{
    UNIT_CHECK(op->state != NULL); /* something is in flight */
    if (puppet_of(op)->answer != PUPPET_YES || op->request.detach) {
        return;
    }
    if (acquires(op)) {
        puppet_of(op)->is_held = true;
    } else if (op->request.kind == LATCH_RELEASE) {
        puppet_of(op)->is_held = false;
    }
}

static int64_t puppet_server_start_ns(latch_store *store)
{
    return ((puppet_store *) store)->started_ns;
}

static latch_store *puppet_clone(const latch_store *store, latch_error *error)
{
    latch_store *clone = latch_store_make(store->engine, store->class, error);

    if (clone != NULL) {
        ((puppet_store *) clone)->started_ns = INT64_MIN;
        int place = ((const puppet_store *) store)->place;

        ((puppet_store *) clone)->place = place;
        puppet_clones[place] = (puppet_store *) clone;
    }
    return clone;
}

static void puppet_close(latch_store *store)
{
    puppet_store *clone = (puppet_store *) store;

    if (puppet_clones[clone->place] == clone) {
        puppet_clones[clone->place] = NULL;
    }
}

static const latch_store_class puppet_class = {
    .info = {.name = "puppet", .capabilities = LATCH_EXPIRING | LATCH_SHARED_LOCKS},
    .size = sizeof(puppet_store),
    .begin = puppet_begin,
    .step = puppet_step,
    .cancel = puppet_cancel,
    .abandon = puppet_abandon,
    .server_start_ns = puppet_server_start_ns,
    .close = puppet_close,
    .clone = puppet_clone,
};

/* The same without the way to leave what is in flight. */
static const latch_store_class clingy_class = {
    .info = {.name = "clingy", .capabilities = LATCH_EXPIRING | LATCH_SHARED_LOCKS},
    .size = sizeof(puppet_store),
    .begin = puppet_begin,
    .step = puppet_step,
    .cancel = puppet_cancel,
};

int unit_setup_puppets(size_t count, const latch_strategy *strategy)
{
    latch_store *members[PUPPETS];
    const latch_store_options options = {.strategy = strategy,
                                         .members = members,
                                         .member_count = count};

    if (unit_setup(NULL) != 0) {
        return -1;
    }
    memset(puppets, 0, sizeof(puppets));
    memset(puppet_clones, 0, sizeof(puppet_clones));
    stage.count = count;
    for (size_t at = 0; at < count; at++) {
        puppets[at].store.class = &puppet_class;
        puppets[at].store.info = &puppet_class.info;
        puppets[at].store.engine = unit.engine;
        puppets[at].started_ns = INT64_MIN;
        puppets[at].place = (int) at;
        members[at] = &puppets[at].store;
    }
    unit.store = latch_store_open(unit.engine, "combined", &options, &unit.error);
    return unit.store != NULL ? 0 : -1;
}

int unit_setup_three(void **state)
{
    (void) state;
    return unit_setup_puppets(3, &latch_consensus);
}

int unit_setup_five(void **state)
{
    (void) state;
    return unit_setup_puppets(5, &latch_consensus);
}

int unit_setup_all_of_three(void **state)
{
    (void) state;
    return unit_setup_puppets(3, &latch_unanimity);
}

void unit_leave_renewal(latch_store *store)
{
    if (store->renewal_store != NULL) {
        unit.engine->observer->close_store(store);
    }
}

int unit_teardown_puppets(void **state)
{
    size_t count = unit.lease_count;

    while (unit.lease_count > 0) {
        latch_lease_drop(&unit.leases[--unit.lease_count]);
    }
    for (size_t at = 0; at < count; at++) {
        for (size_t puppet = 0; puppet < stage.count; puppet++) {
            latch_lease_drop(&stage.parts[at][puppet]);
        }
    }
    for (size_t puppet = 0; puppet < stage.count; puppet++) {
        unit_leave_renewal(&puppets[puppet].store);
    }
    return unit_teardown(state);
}

latch_lease *puppet_lease(const char *resource)
{
    latch_lease *lease = unit_lease(resource);
    latch_lease *parts = stage.parts[lease - unit.leases];
    latch_lease_part members[PUPPETS];

    for (size_t at = 0; at < stage.count; at++) {
        if (puppets[at].is_clingy) {
            puppets[at].store.class = &clingy_class;
        }
        latch_lease_init(&parts[at], &puppets[at].store, resource, strlen(resource));
        members[at] = (latch_lease_part){&parts[at], 300000};
    }
    UNIT_CHECK(latch_lease_join(lease, members, &unit.error) == LATCH_DONE);
    return lease;
}

latch_lease *puppet_own_lease(size_t puppet, const char *resource)
{
    latch_lease *lease = unit_lease(resource);

    latch_lease_init(lease, &puppets[puppet].store, resource, strlen(resource));
    return lease;
}

latch_lease *puppet_part(const latch_lease *lease, size_t puppet)
{
    return &stage.parts[lease - unit.leases][puppet];
}

latch_request puppet_request(latch_op_kind kind)
{
    latch_request request = unit_request(kind);

    request.ttl_ms = PUPPET_TTL_MS;
    return request;
}

latch_status puppet_run_for(latch_lease *lease, latch_op_kind kind, int64_t ttl_ms)
{
    latch_request request = unit_request(kind);

    request.ttl_ms = ttl_ms;
    return unit_run_request(lease, request);
}

latch_status puppet_run(latch_lease *lease, latch_op_kind kind)
{
    return puppet_run_for(lease, kind, PUPPET_TTL_MS);
}

void puppet_speak(size_t puppet)
{
    puppets[puppet].late = false;
}

size_t puppet_count_held(void)
{
    size_t count = 0;

    for (size_t at = 0; at < stage.count; at++) {
        count += puppets[at].is_held;
    }
    return count;
}
