/*
 * Kept leases against a server that a model stands for, in random histories: commands and answers
 * are late, cross each other, and are lost; the holder refreshes, releases and acquires again;
 * locks are taken away. Whatever happens, what counts as held is held in the server, for as long as
 * that is said to be certain, and of each hold that is lost one loss is told.
 */
#include "keeping.h"

#define MS LATCH_NS_PER_MS
#define HISTORIES 1000
#define STEPS 1500
#define MESSAGES 64

/* ---- The server and its lines -----------------------------------------------------------------
 */

typedef struct message {
    bool is_used, has_arrived, is_awaited;
    latch_op_kind kind;
    bool extend;
    int64_t ttl_ns, arrives_ns, answered_ns, given_up_ns; /* LATCH_NEVER: it is lost */
    char token[LATCH_TOKEN_MAX + 1];
    latch_status answer;
} message;

typedef struct model_store {
    latch_store store;
    int64_t last_arrival_ns; /* what is sent on one line arrives in that order */
} model_store;

static struct {
    char token[LATCH_TOKEN_MAX + 1]; /* "": nobody's */
    int64_t ends_ns;
    message messages[MESSAGES];
} server;

static struct {
    size_t renewals, refusals, losses, longest;
} seen;

static uint64_t dice;

static int64_t roll(int64_t sides)
{
    dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t) (dice >> 33) % sides;
}

static bool is_held_by(const char *token, int64_t now_ns)
{
    return strcmp(server.token, token) == 0 && now_ns < server.ends_ns;
}

static bool is_free(int64_t now_ns)
{
    return server.token[0] == '\0' || now_ns >= server.ends_ns;
}

static latch_status carry_out(const message *sent)
{
    int64_t ends_ns = sent->arrives_ns + sent->ttl_ns;
    bool is_own = is_held_by(sent->token, sent->arrives_ns);

    switch (sent->kind) {
        case LATCH_RELEASE:
            if (is_own) {
                server.token[0] = '\0';
            }
            return LATCH_DONE;
        case LATCH_REFRESH:
            if (!is_own) {
                return LATCH_CONFLICT;
            }
            if (!sent->extend || ends_ns > server.ends_ns) {
                server.ends_ns = ends_ns;
            }
            return LATCH_DONE;
        default:
            if (!is_own && !is_free(sent->arrives_ns)) {
                return LATCH_CONFLICT;
            }
            snprintf(server.token, sizeof(server.token), "%s", sent->token);
            server.ends_ns = ends_ns;
            return LATCH_DONE;
    }
}

static message *next_arrival(int64_t now_ns)
{
    message *next = NULL;

    for (size_t at = 0; at < MESSAGES; at++) {
        message *one = &server.messages[at];

        if (one->is_used && !one->has_arrived && one->arrives_ns <= now_ns
            && (next == NULL || one->arrives_ns < next->arrives_ns)) {
            next = one;
        }
    }
    return next;
}

/* All that arrives until then, in its order. */
static void serve_until(int64_t now_ns)
{
    message *one;

    while ((one = next_arrival(now_ns)) != NULL) {
        one->has_arrived = true;
        one->answer = carry_out(one);
        seen.renewals += one->extend && one->answer == LATCH_DONE;
        seen.refusals += one->extend && one->answer != LATCH_DONE;
    }
    for (size_t at = 0; at < MESSAGES; at++) {
        one = &server.messages[at];
        one->is_used =
            one->is_used
            && (one->is_awaited || (!one->has_arrived && one->arrives_ns != LATCH_NEVER));
    }
}

/* Mostly soon, now and then late. */
static int64_t delay_ns(void)
{
    return roll(10) > 0 ? roll(40) * MS : roll(4000) * MS;
}

static latch_status model_step(latch_op *op, int64_t now_ns)
{
    message *sent = op->state;
    latch_status status = LATCH_WANT_IO;

    if (sent->has_arrived && sent->answered_ns <= now_ns) {
        status = sent->answer;
    } else if (now_ns >= sent->given_up_ns) {
        status = latch_fail(op->error, LATCH_ERROR_STORE, 0, "no answer");
    }
    if (latch_wants(status)) {
        op->fd = 10;
        op->wake_ns = sent->given_up_ns;
    } else {
        sent->is_awaited = false;
    }
    return status;
}

static latch_status model_begin(latch_op *op)
{
    model_store *store = (model_store *) op->lease->store;
    int64_t now_ns = latch_engine_now_ns(store->store.engine);
    int64_t timeout_ms =
        op->request.response_timeout_ms > 0 ? op->request.response_timeout_ms : 2000;
    message *sent = server.messages;

    while (sent->is_used) {
        sent++;
    }
    UNIT_CHECK(sent < server.messages + MESSAGES);
    *sent = (message){.is_used = true,
                      .is_awaited = true,
                      .kind = op->request.kind,
                      .extend = op->request.extend,
                      .ttl_ns = op->request.ttl_ms * MS,
                      .arrives_ns = now_ns + delay_ns(),
                      .given_up_ns = now_ns + timeout_ms * MS};
    snprintf(sent->token, sizeof(sent->token), "%s", op->lease->token);
    if (sent->arrives_ns <= store->last_arrival_ns) {
        sent->arrives_ns = store->last_arrival_ns + 1;
    }
    store->last_arrival_ns = sent->arrives_ns;
    sent->answered_ns = roll(12) > 0 ? sent->arrives_ns + delay_ns() : LATCH_NEVER;
    if (roll(20) == 0) {
        sent->arrives_ns = sent->answered_ns = LATCH_NEVER;
    }
    op->state = sent;
    op->sent_ns = now_ns;
    if (op->request.kind == LATCH_RELEASE) {
        op->lease->mode = LATCH_FREE;
    }
    return model_step(op, now_ns);
}

static void model_abandon(latch_op *op)
{
    ((message *) op->state)->is_awaited = false;
}

static const latch_store_class model_class;

static latch_store *model_clone(const latch_store *store, latch_error *error)
{
    return latch_store_make(store->engine, &model_class, error);
}

static const latch_store_class model_class = {
    .info = {.name = "model", .capabilities = LATCH_EXPIRING},
    .size = sizeof(model_store),
    .begin = model_begin,
    .step = model_step,
    .abandon = model_abandon,
    .clone = model_clone,
};

/* ---- A history --------------------------------------------------------------------------------
 */

static latch_lease *lease;
static latch_op op;
static latch_status status; /* LATCH_WANT_*: op is in flight */
static bool is_taken_away;  /* though the holder has not been told yet */
static int losses;          /* of this hold that were read */
static int64_t held_since_ns, taken_away_ns;
static unsigned tokens;

static void take_new_token(void)
{
    char token[24];

    snprintf(token, sizeof(token), "token %u", tokens++);
    UNIT_CHECK(latch_lease_set_token(lease, token, strlen(token), &unit.error) == LATCH_DONE);
}

static void begin(void)
{
    latch_request request = unit_request(LATCH_REFRESH);

    request.ttl_ms = 300 + roll(10) * 300;
    if (lease->mode == LATCH_FREE) {
        request.kind = LATCH_ACQUIRE;
        take_new_token();
    } else {
        request.kind = roll(4) == 0 ? LATCH_RELEASE : roll(2) == 0 ? LATCH_ACQUIRE : LATCH_REFRESH;
    }
    status = unit_begin(&op, lease, request);
}

/* What its user's request has come to; what was lost before it is held anew. */
static void record_end(bool was_held)
{
    if (status == LATCH_DONE && op.request.kind != LATCH_RELEASE && !was_held) {
        is_taken_away = is_taken_away && op.sent_ns <= taken_away_ns;
        losses = 0;
        held_since_ns = unit.now_ns;
    }
    if (op.request.kind == LATCH_RELEASE) {
        losses = 0;
    }
    if (latch_failed(status) && !unit_held(lease)) {
        lease->mode = LATCH_FREE; /* to be taken anew, by another token */
    }
}

static void act(void)
{
    bool was_held = unit_held(lease);

    if (latch_wants(status)) {
        status = latch_op_step(&op, unit.now_ns);
        if (!latch_wants(status)) {
            record_end(was_held);
        }
    } else if (roll(lease->mode == LATCH_FREE ? 5 : 70) == 0) {
        begin();
        if (!latch_wants(status)) {
            record_end(was_held);
        }
    }
    if (roll(1000) == 0 && is_held_by(lease->token, unit.now_ns)) {
        server.token[0] = '\0';
        is_taken_away = true;
        taken_away_ns = unit.now_ns;
    }
    if (roll(20) == 0 && is_free(unit.now_ns)) { /* somebody else takes what is free */
        snprintf(server.token, sizeof(server.token), "%s", "somebody");
        server.ends_ns = unit.now_ns + roll(500) * MS;
    }
}

static void check(void)
{
    latch_loss loss;

    if (unit_held(lease) && !is_taken_away) {
        assert_true(is_held_by(lease->token, unit.now_ns));
        assert_true(server.ends_ns >= lease->deadline_ns);
        if ((size_t) (unit.now_ns - held_since_ns) > seen.longest) {
            seen.longest = (size_t) (unit.now_ns - held_since_ns);
        }
    }
    if (roll(3) == 0 && latch_mailbox_read(unit_mailbox, &loss)) {
        assert_ptr_equal(loss.lease, lease);
        assert_false(unit_held(lease));
        assert_int_equal(losses++, 0);
        seen.losses++;
    }
}

static void run_history(void)
{
    memset(&server, 0, sizeof(server));
    unit.store = latch_store_make(unit.engine, &model_class, &unit.error);
    lease = unit_lease("r");
    take_new_token();
    status = LATCH_DONE;
    is_taken_away = false;
    losses = 0;
    unit_keep_as(lease, (latch_renewal_spec){.renew = true,
                                     .ttl_ms = 1000,
                                     .max_hold_ms = roll(3) == 0 ? 5000 : 0});
    for (int step = 0; step < STEPS; step++) {
        unit.now_ns += roll(20) > 0 ? roll(30) * MS
                                    : roll(1000) * MS; /* it stands still at times */
        serve_until(unit.now_ns);
        if (roll(4) > 0) {
            unit_turn();
        }
        act();
        serve_until(unit.now_ns);
        check();
    }
    if (latch_wants(status)) {
        model_class.abandon(&op);
        lease->busy = false;
    }
    latch_lease_drop(lease);
    unit.lease_count = 0;
    latch_store_close(unit.store);
    unit.store = NULL;
}

static int setup(void **state)
{
    if (unit_setup(state) != 0) {
        return -1;
    }
    unit_open_mailbox();
    unit_stand_in_for_the_thread();
    return 0;
}

static int teardown(void **state)
{
    unit_close_mailbox();
    return unit_teardown(state);
}

static void what_counts_as_held_is_held(void **state)
{
    (void) state;
    for (int history = 0; history < HISTORIES; history++) {
        dice = (uint64_t) history;
        run_history();
    }
    print_message("%zu renewals, %zu refused, %zu losses, longest hold %zu s\n", seen.renewals,
                  seen.refusals, seen.losses, seen.longest / (size_t) LATCH_NS_PER_S);
    assert_true(seen.renewals > 5000 && seen.refusals > 100 && seen.losses > 500);
    assert_true(seen.longest > (size_t) (10 * LATCH_NS_PER_S));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_counts_as_held_is_held, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
