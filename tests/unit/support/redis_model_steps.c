/* What the model's server does for a client, and time for all. See redis_model.h. */
#include "redis_model.h"

#define OLDEST_MS 20000 /* an older request is no older */

/* ---- What the server does */

model_script model_script_of(model_script script)
{
    static const model_script permits[] = {
        [MODEL_ACQUIRE] = MODEL_PERMIT_ACQUIRE,
        [MODEL_SHARE] = MODEL_PERMIT_ACQUIRE,
        [MODEL_RELEASE] = MODEL_PERMIT_RELEASE,
        [MODEL_LET_GO] = MODEL_PERMIT_LET_GO,
        [MODEL_REFRESH] = MODEL_PERMIT_REFRESH,
        [MODEL_PEER_TAKES] = MODEL_PERMIT_PEER_TAKES,
        [MODEL_PEER_RELEASES] = MODEL_PERMIT_PEER_RELEASES,
    };

    return model_has_permits() ? permits[script] : script;
}

model_call model_call_of(const model_client *client, int actor, const model_request *request)
{
    model_call call;

    memset(&call, 0, sizeof(call));
    call.actor = (uint8_t) actor;
    call.ttl_ms = MODEL_TTL_MS;
    call.manner = request->manner;
    call.peer = model_scenario_now->peers ? 'p' : 0;
    if (request->errand == MODEL_RENEWS) {
        call.script = MODEL_REFRESH;
    } else if (request->errand == MODEL_GIVES_BACK) {
        call.script = MODEL_RELEASE;
    } else if (request->errand == MODEL_GIVES_UP) {
        /* Who reads until it can write reads on. */
        call.script = client->wants == 'p' ? MODEL_SHARE : MODEL_RELEASE;
        call.manner = MODEL_TRY;
        call.ticket = client->ticket;
    } else {
        call.script = client->wants == 'r' ? MODEL_SHARE : MODEL_ACQUIRE;
        call.ticket = client->ticket;
    }
    call.script = (uint8_t) model_script_of(call.script);
    return call;
}

static void deliver(model_state *state, const model_outcome *outcome)
{
    for (int at = 0; at < outcome->message_count; at++) {
        const model_message *message = &outcome->messages[at];

        for (int actor = 0; actor < MODEL_WAITERS; actor++) {
            model_client *client = &state->clients[actor];

            if (!state->server.hears[actor] || client->phase != MODEL_WAITING
                || (message->word != MODEL_REQUEUE && message->ticket != client->ticket)
                || (message->actor != actor && message->actor != MODEL_ACTORS)) {
                continue;
            }
            UNIT_CHECK(client->message_count < MODEL_MESSAGES);
            client->messages[client->message_count].word = message->word;
            client->messages[client->message_count].ticket = message->ticket;
            client->messages[client->message_count].ms = message->ms;
            client->message_count++;
        }
    }
}

const model_outcome *model_carry_out(model_state *state, const model_call *call,
                                     const char **violation)
{
    const model_outcome *outcome = model_ask(&state->server, call);

    memcpy(&state->server, &outcome->after, sizeof(state->server));
    deliver(state, outcome);
    if (outcome->violation != NULL) {
        *violation = outcome->violation;
    }
    return outcome;
}

static int permits_used(const model_server *server)
{
    int used = 0;

    for (int actor = 0; actor < MODEL_ACTORS; actor++) {
        used += server->expiry[actor] > 0 ? model_weight_of(actor) : 0;
    }
    return used;
}

/* Is it in the queue, lives, and still waits there? */
static bool is_passed(const model_state *before, const model_server *after, int at)
{
    int actor = before->server.queue[at].actor, ticket = before->server.queue[at].ticket;
    const model_client *client = &before->clients[actor];

    return client->phase == MODEL_WAITING && client->ticket == ticket
           && model_is_in_queue(after, actor, ticket);
}

/* Had a waiter that was passed no right to be served before one that may overtake, when so many
 * permits were used? It does not fit; or it is neither the first nor may overtake. */
static bool may_be_passed(const model_server *after, int actor, int used)
{
    return used + model_weight_of(actor) > model_scenario_now->limit
           || (after->queue[0].actor != actor && !model_may_overtake(actor));
}

/* Who was in front of the caller, lives, and still waits: is it overtaken, and may it not? */
static bool overtakes(const model_state *before, const model_state *after, const model_call *call)
{
    bool may_overtake = model_has_permits() && model_may_overtake(call->actor);
    int used = may_overtake ? permits_used(&after->server) - model_weight_of(call->actor) : 0;

    for (int at = 0; at < before->server.queue_length; at++) {
        int actor = before->server.queue[at].actor;

        if (actor == call->actor) {
            return false;
        }
        if (is_passed(before, &after->server, at)
            && !(may_overtake && may_be_passed(&after->server, actor, used))) {
            return true;
        }
    }
    return false;
}

static bool is_granted(const model_state *before, const model_server *after, int actor)
{
    return before->server.expiry[actor] <= 0 && after->expiry[actor] > 0;
}

/* Has somebody permits who was behind a living waiter that has none, and may not pass it? */
static bool is_overtaken_by_grant(const model_state *before, const model_server *after)
{
    bool is_somebody_left = false, has_right = false;
    int used = permits_used(after);

    for (int at = 0; at < before->server.queue_length; at++) {
        int actor = before->server.queue[at].actor;

        used -= is_granted(before, after, actor) ? model_weight_of(actor) : 0;
    }
    /* In their order, as they were granted what they have. */
    for (int at = 0; at < before->server.queue_length; at++) {
        int actor = before->server.queue[at].actor;

        if (is_granted(before, after, actor)) {
            if (is_somebody_left && (has_right || !model_may_overtake(actor))) {
                return true;
            }
            used += model_weight_of(actor);
        } else if (is_passed(before, after, at)) {
            is_somebody_left = true;
            has_right = has_right || !may_be_passed(after, actor, used);
        }
    }
    return false;
}

/* Could the first waiter have what it waits for, or one that may overtake it, and is nothing left
 * free for peers? */
static bool does_somebody_fit(const model_server *server)
{
    int used = permits_used(server);

    for (int at = 0; at < server->queue_length; at++) {
        int actor = server->queue[at].actor;

        if ((at == 0 || model_may_overtake(actor)) && server->until <= 0
            && used + model_weight_of(actor) <= model_scenario_now->limit) {
            return true;
        }
    }
    return false;
}

const char *model_check_order(const model_state *before, const model_state *after,
                              const model_call *call, const model_outcome *outcome)
{
    bool held = before->server.expiry[call->actor] > 0;
    bool asked = call->ticket != 0
                 && (call->script <= MODEL_SHARE || call->script == MODEL_PERMIT_ACQUIRE);
    int place = 0;

    if (asked && call->manner != MODEL_CLAIM && outcome->answer == MODEL_HAS && !held
        && overtakes(before, after, call)) {
        return "a living waiter is overtaken";
    }
    /* Who was in the queue and still is has kept its place among the others. */
    for (int at = 0; at < before->server.queue_length; at++) {
        int actor = before->server.queue[at].actor, on = 0;

        if (!model_is_in_queue(&after->server, actor, before->server.queue[at].ticket)) {
            continue;
        }
        while (after->server.queue[on].actor != actor) {
            on++;
        }
        if (on < place) {
            return "a waiter has lost its place";
        }
        place = on;
    }
    if (asked && call->manner == MODEL_CLAIM && outcome->answer == MODEL_HAS_PLACE
        && outcome->place > 0 && after->server.queue[0].mode != 'p'
        && !model_is_in_queue(&before->server, call->actor, call->ticket)) {
        return "who comes too late to claim is not the first";
    }
    if (model_has_permits()
        && (call->script == MODEL_PERMIT_RELEASE || outcome->answer == MODEL_HAS_PLACE
            || outcome->answer == MODEL_REFUSED)
        && call->script != MODEL_PERMIT_REFRESH && does_somebody_fit(&after->server)) {
        return "who is the first, or may overtake it, and fits has to wait";
    }
    if (model_has_permits() && is_overtaken_by_grant(before, &after->server)) {
        return "a living waiter is overtaken by a grant";
    }
    return NULL;
}

const model_outcome *model_carry_out_plain(model_state *state, model_script script, int actor,
                                           const char **violation)
{
    model_call call;

    memset(&call, 0, sizeof(call));
    call.script = (uint8_t) script;
    call.actor = (uint8_t) actor;
    call.ttl_ms = MODEL_TTL_MS;
    return model_carry_out(state, &call, violation);
}

/* ---- Time */

static void record_due(int16_t due, int16_t *next)
{
    if (due > 0 && (*next == 0 || due < *next)) {
        *next = due;
    }
}

static void pass(int16_t *due, int16_t ms)
{
    if (*due != MODEL_NONE) {
        *due = *due > ms ? (int16_t) (*due - ms) : 0;
    }
}

/* Lets so many ms pass; returns in how many the next thing is due. */
int16_t model_pass_time(model_state *state, int16_t ms)
{
    model_server *server = &state->server;
    int16_t *times[MODEL_ACTORS + 5 + 2 * MODEL_CLIENTS], next = 0;
    size_t count = 0;

    for (int actor = 0; actor < MODEL_ACTORS; actor++) {
        times[count++] = &server->expiry[actor];
    }
    times[count++] = &server->write_expiry;
    times[count++] = &server->lock_ends;
    times[count++] = &server->record_ends;
    times[count++] = &server->due;
    times[count++] = &server->until;
    if (server->free_for != MODEL_NONE) {
        server->free_for = (int16_t) (server->free_for + ms < MODEL_LONG_FREE
                                          ? server->free_for + ms
                                          : MODEL_LONG_FREE);
    }
    for (int actor = 0; actor < MODEL_CLIENTS; actor++) {
        model_client *client = &state->clients[actor];

        client->is_paused = client->is_paused && ms > 0 ? 2 : client->is_paused;
        times[count++] = &client->asks_in;
        times[count++] = &client->holds_for;
        for (int at = 0; at < MODEL_REQUESTS; at++) {
            model_request *request = &client->requests[at];

            if (request->is_there && request->age_ms < OLDEST_MS) {
                request->age_ms = (int16_t) (request->age_ms + ms);
            }
        }
    }
    if (model_has_permits()) {
        server->phase = (int16_t) ((server->phase + ms) % 1000);
    }
    for (size_t at = 0; at < count; at++) {
        record_due(*times[at], &next);
        pass(times[at], ms);
    }
    return next;
}

int16_t model_next_due(const model_state *state)
{
    model_state copy = *state;

    return model_pass_time(&copy, 0);
}
