/* The model's clients, and what may happen to them. See redis_model.h. */
#include "redis_model.h"

const model_scenario *model_scenario_now;

static bool is_waiting(const model_client *client)
{
    return client->phase == MODEL_WAITING;
}

/* ---- What a client does */

static void send_request(model_client *client, model_errand errand, model_manner manner)
{
    model_request *request = &client->requests[client->requests[0].is_there ? 1 : 0];

    UNIT_CHECK(!request->is_there);
    memset(request, 0, sizeof(*request));
    request->is_there = 1;
    request->errand = errand;
    request->manner = manner;
    client->asks_in = MODEL_NONE;
}

/* Of a wait or a hold that is over. */
static void forget_wait(model_client *client)
{
    client->is_lost = client->place = 0;
    client->asks_in = MODEL_NONE;
}

static void stop_holding(model_client *client)
{
    client->holds = 0;
    client->holds_for = MODEL_NONE;
    client->is_excused = 0;
}

static void begin(model_client *client, model_server *server, int actor)
{
    bool hears = server->hears[actor];

    if (!hears && client->wants != 'p' && model_scenario_now->tries) {
        send_request(client, MODEL_ASKS, MODEL_TRY);
        client->phase = MODEL_TRYING;
    } else if (!hears) {
        client->phase = MODEL_SUBSCRIBING;
    } else {
        send_request(client, MODEL_ASKS, MODEL_WAIT);
        client->phase = MODEL_WAITING;
    }
}

static void hold(model_client *client, char as, const model_request *request)
{
    client->phase = MODEL_HOLDING;
    client->holds = as;
    client->is_excused = request->was_lost;
    client->holds_for = MODEL_TTL_MS > request->age_ms ? (int16_t) (MODEL_TTL_MS - request->age_ms)
                                                       : 0;
    forget_wait(client);
}

static void end_wait(model_client *client)
{
    forget_wait(client);
    if (model_scenario_now->comes_again && client->ticket == 1) {
        client->ticket = 2;
        client->phase = MODEL_AWAY;
    } else {
        client->phase = client->holds ? MODEL_HOLDING : MODEL_GONE;
    }
}

static void read_answer(model_client *client, const model_request *request)
{
    if (request->errand == MODEL_GIVES_BACK) {
        stop_holding(client);
        client->phase = MODEL_GONE;
    } else if (request->errand == MODEL_RENEWS) {
        if (request->answer == MODEL_REFUSED) {
            stop_holding(client);
            client->phase = MODEL_GONE;
        } else if (client->phase == MODEL_HOLDING) {
            hold(client, client->holds, request);
        }
    } else if (request->errand == MODEL_GIVES_UP) {
        if (client->wants != 'p' || request->answer == MODEL_REFUSED) {
            stop_holding(client);
        } else {
            hold(client, 'r', request);
        }
        end_wait(client);
    } else if (client->phase != MODEL_TRYING && client->phase != MODEL_WAITING) {
        return; /* it has given up since */
    } else if (request->answer == MODEL_HAS) {
        hold(client, model_has_permits() ? 's' : client->wants == 'r' ? 'r' : 'w', request);
    } else if (request->answer == MODEL_HAS_PLACE) {
        client->place = request->place;
        client->asks_in = request->delay_ms;
    } else if (request->answer == MODEL_REFUSED) {
        client->phase = MODEL_SUBSCRIBING;
    } else if (request->answer == MODEL_CONFLICT) {
        forget_wait(client);
        client->phase = client->holds ? MODEL_HOLDING : MODEL_GONE;
    }
}

static void hear(model_client *client, uint8_t word, uint8_t ticket, int16_t ms)
{
    if (word == MODEL_REQUEUE) {
        client->is_lost = 1;
        client->asks_in = client->asks_in > client->place ? client->place : client->asks_in;
    } else if (ticket == client->ticket && word == MODEL_GRANTED) {
        send_request(client, MODEL_ASKS, MODEL_CLAIM);
    } else if (ticket == client->ticket) {
        client->place = 0;
        client->asks_in = client->asks_in > ms ? ms : client->asks_in; /* it may be old */
    }
}

static void take_message(model_client *client)
{
    client->message_count--;
    memmove(&client->messages[0], &client->messages[1],
            (MODEL_MESSAGES - 1) * sizeof(client->messages[0]));
    memset(&client->messages[MODEL_MESSAGES - 1], 0, sizeof(client->messages[0]));
}

/* Messages that are of no wait now, nor of one to come, are as good as dropped. */
static void drop_messages(model_client *client)
{
    if (!is_waiting(client)) {
        client->message_count = 0;
        memset(client->messages, 0, sizeof(client->messages));
    }
}

/* ---- Events */

/* Of those who want the same, the one with the smaller number comes first: who is who is all one.
 */
static bool comes_later(const model_state *state, int actor)
{
    for (int other = 0; other < actor; other++) {
        const model_client *client = &state->clients[other];

        if (client->phase == MODEL_AWAY && client->wants == state->clients[actor].wants
            && client->ticket == 1) {
            return true;
        }
    }
    return false;
}

static bool happens_to_client(model_state *state, model_event event, const char **violation)
{
    model_client *client = &state->clients[event.actor];
    model_request *requests = client->requests, *request = &requests[0];
    bool is_alive = client->phase != MODEL_DEAD && !client->is_paused;

    switch (event.kind) {
        case MODEL_RESUMES:
            /* Some time later: else it was but slow, as any process may be. */
            if (client->is_paused == 0 || (client->is_paused == 1 && model_next_due(state) > 0)) {
                return false;
            }
            client->is_paused = 0;
            return true;
        case MODEL_IS_CARRIED_OUT: {
            model_call call;
            model_state before;
            const model_outcome *outcome;

            if (request->is_there && request->is_done) {
                request = &requests[1];
            }
            if (!request->is_there || request->is_done) {
                return false;
            }
            call = model_call_of(client, event.actor, request);
            before = *state;
            outcome = model_carry_out(state, &call, violation);
            *violation = *violation != NULL ? *violation
                                            : model_check_order(&before, state, &call, outcome);
            request->is_done = 1;
            request->answer = outcome->answer;
            request->place = outcome->place;
            request->delay_ms = outcome->delay_ms;
            if (client->phase == MODEL_DEAD) {
                requests[0] = requests[1];
                memset(&requests[1], 0, sizeof(requests[1]));
            }
            return true;
        }
        case MODEL_IS_ANSWERED: {
            model_request done = *request;

            if (!is_alive || !request->is_done) {
                return false;
            }
            requests[0] = requests[1];
            memset(&requests[1], 0, sizeof(requests[1]));
            read_answer(client, &done);
            return true;
        }
        case MODEL_HEARS: {
            uint8_t word = client->messages[0].word, ticket = client->messages[0].ticket;
            int16_t ms = client->messages[0].ms;

            /* Not before a request is answered: then it is read at once. */
            if (!is_alive || client->message_count == 0 || request->is_there) {
                return false;
            }
            take_message(client);
            hear(client, word, ticket, ms);
            return true;
        }
        case MODEL_SUBSCRIBES:
            if (!is_alive || client->phase != MODEL_SUBSCRIBING) {
                return false;
            }
            state->server.hears[event.actor] = 1;
            send_request(client, MODEL_ASKS, MODEL_CHECK);
            client->phase = MODEL_WAITING;
            return true;
        case MODEL_POLLS:
            if (!is_alive || !is_waiting(client) || request->is_there || client->asks_in != 0
                || client->message_count > 0) {
                return false;
            }
            send_request(client, MODEL_ASKS, client->is_lost ? MODEL_WAIT : MODEL_POLL);
            client->is_lost = 0;
            return true;
        case MODEL_COMES:
            if (!is_alive || client->phase != MODEL_AWAY || comes_later(state, event.actor)) {
                return false;
            }
            begin(client, &state->server, event.actor);
            return true;
        case MODEL_STOPS_HOLDING:
            if (!is_alive || client->phase != MODEL_HOLDING || request->is_there) {
                return false;
            }
            send_request(client, MODEL_GIVES_BACK, MODEL_TRY);
            client->phase = MODEL_RELEASING;
            client->holds_for = 0; /* it does not count on it any more */
            return true;
        default:
            return false;
    }
}

static void die(model_state *state, int actor, bool unheard)
{
    model_client *client = &state->clients[actor];
    model_request left[MODEL_REQUESTS];
    size_t count = 0;
    char wants = client->wants;
    uint8_t ticket = client->ticket;

    memset(left, 0, sizeof(left));
    for (int at = 0; at < MODEL_REQUESTS && !unheard; at++) {
        if (client->requests[at].is_there && !client->requests[at].is_done) {
            left[count++] = client->requests[at];
        }
    }
    memset(client, 0, sizeof(*client));
    client->wants = wants;
    client->ticket = ticket;
    client->phase = MODEL_DEAD;
    client->asks_in = client->holds_for = MODEL_NONE;
    memcpy(client->requests, left, sizeof(left));
    state->server.hears[actor] = 0;
}

/* What it holds, or is being told that it holds, is not there any more. */
static void lose(model_client *client)
{
    client->is_excused = client->holds != 0;
    for (int at = 0; at < MODEL_REQUESTS; at++) {
        client->requests[at].was_lost = client->requests[at].is_done;
    }
}

static bool is_just_queued(const model_state *state, int actor)
{
    const model_client *client = &state->clients[actor];

    return is_waiting(client) && state->server.expiry[actor] <= 0
           && (!client->requests[0].is_there || client->requests[0].is_done);
}

/*
 * In the place of the release, or some time behind it. Readers aside: their lock's key may last for
 * longer than they do then.
 */
static bool is_released_by_other_script(model_state *state, int actor, const char **violation)
{
    model_client *client = &state->clients[actor];
    model_request *request = &client->requests[0];
    model_call call;

    if (client->phase != MODEL_RELEASING || client->holds == 'r') {
        return false;
    }
    call = model_call_of(client, actor, request);
    call.script = (uint8_t) model_script_of(MODEL_LET_GO);
    model_carry_out(state, &call, violation);
    request->is_done = 1;
    return true;
}

static bool fault_happens(model_state *state, model_event event, const char **violation)
{
    model_client *client = &state->clients[event.actor % MODEL_CLIENTS];
    bool is_there = client->phase != MODEL_DEAD && client->phase != MODEL_GONE;
    bool is_peers = event.actor == MODEL_PEER;

    switch (event.kind) {
        case MODEL_DIES:
            if (is_peers) {
                if (state->peer_phase != MODEL_HOLDING) {
                    return false;
                }
                state->peer_phase = MODEL_DEAD;
                return true;
            }
            if (!is_there || client->phase == MODEL_AWAY
                || (model_scenario_now->only_queued_die && !is_just_queued(state, event.actor))) {
                return false;
            }
            die(state, event.actor, false);
            return true;
        case MODEL_DIES_UNHEARD:
            if (is_peers || !client->requests[0].is_there || client->phase == MODEL_DEAD) {
                return false;
            }
            die(state, event.actor, true);
            return true;
        case MODEL_CANCELS:
            if (is_peers || client->is_paused || client->requests[1].is_there
                || (client->phase != MODEL_TRYING && !is_waiting(client))) {
                return false;
            }
            forget_wait(client);
            send_request(client, MODEL_GIVES_UP, MODEL_TRY);
            client->phase = MODEL_LEAVING;
            return true;
        case MODEL_LOSES_MESSAGE:
            if (is_peers || client->message_count == 0 || !is_waiting(client)) {
                return false;
            }
            take_message(client);
            client->has_lost = 1;
            return true;
        case MODEL_PAUSES:
            /* When there is something to do for it: else it makes no difference yet. */
            if (is_peers || !is_there || client->phase == MODEL_AWAY || client->is_paused
                || (client->message_count == 0 && !client->requests[0].is_done
                    && client->asks_in != 0)) {
                return false;
            }
            client->is_paused = 1;
            return true;
        case MODEL_REFRESHES:
            if (is_peers || client->phase != MODEL_HOLDING || client->is_paused
                || client->requests[0].is_there) {
                return false;
            }
            send_request(client, MODEL_RENEWS, MODEL_TRY);
            return true;
        case MODEL_DATA_IS_LOST:
            if (event.actor != 0) {
                return false;
            }
            for (int actor = 0; actor < MODEL_CLIENTS; actor++) {
                lose(&state->clients[actor]);
            }
            model_carry_out_plain(state, MODEL_FLUSH, 0, violation);
            return true;
        case MODEL_PEER_COMES:
            if (!is_peers || state->peer_phase != MODEL_AWAY) {
                return false;
            }
            if (model_carry_out_plain(state, model_script_of(MODEL_PEER_TAKES), MODEL_PEER,
                                      violation)
                    ->answer
                == MODEL_HAS) {
                state->peer_phase = MODEL_HOLDING;
                return true;
            }
            return false;
        case MODEL_RELEASE_IS_UNKNOWN:
            return !is_peers && is_released_by_other_script(state, event.actor, violation);
        default:
            return false;
    }
}

/* ---- All of it */

/* Time passes when nothing else is to be done, but by those who are paused. */
static bool is_anything_due(const model_state *state)
{
    for (int actor = 0; actor < MODEL_CLIENTS; actor++) {
        const model_client *client = &state->clients[actor];
        const model_request *request = client->requests;

        if ((request[0].is_there && !request[0].is_done)
            || (request[1].is_there && !request[1].is_done)) {
            return true;
        }
        if (client->is_paused || client->phase == MODEL_DEAD) {
            continue;
        }
        if (request[0].is_done || client->message_count > 0 || client->phase == MODEL_SUBSCRIBING
            || (client->asks_in == 0 && !request[0].is_there)) {
            return true;
        }
    }
    return false;
}

static bool time_passes(model_state *state, int16_t *passed_ms)
{
    if (is_anything_due(state)) {
        return false;
    }
    *passed_ms = model_next_due(state);
    model_pass_time(state, *passed_ms);
    model_end_keys(&state->server);
    return *passed_ms > 0;
}

static bool peer_happens(model_state *state, model_event event, const char **violation)
{
    if (event.kind != MODEL_STOPS_HOLDING || state->peer_phase != MODEL_HOLDING) {
        return false;
    }
    model_carry_out_plain(state, model_script_of(MODEL_PEER_RELEASES), MODEL_PEER, violation);
    state->peer_phase = MODEL_GONE;
    return true;
}

bool model_happen(const model_state *state, model_event event, model_state *next,
                  int16_t *passed_ms, const char **violation)
{
    memcpy(next, state, sizeof(*state));
    *passed_ms = 0;
    if (event.kind == MODEL_TIME_PASSES) {
        return event.actor == 0 && time_passes(next, passed_ms);
    }
    if (event.kind < MODEL_DIES) {
        if (event.actor == MODEL_PEER ? !peer_happens(next, event, violation)
                                      : !happens_to_client(next, event, violation)) {
            return false;
        }
    } else {
        uint16_t fault = MODEL_MAY(event.kind);

        if ((state->faults & fault) == 0 || state->fault_count == 0
            || !fault_happens(next, event, violation)) {
            return false;
        }
        next->faults &= (uint16_t) ~fault;
        next->happened |= fault;
        if (--next->fault_count == 0) {
            next->faults = 0;
        }
    }
    for (int actor = 0; actor < MODEL_WAITERS; actor++) {
        drop_messages(&next->clients[actor]);
    }
    return true;
}
