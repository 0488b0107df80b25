/* How the model begins, what must always hold in it, and how it is told. See redis_model.h. */
#include "redis_model.h"

#include <stdlib.h>

#define SAFETY_MS 1100

/* ---- The beginning */

static void take_at_first(model_state *state, model_script script, int actor)
{
    const model_outcome *outcome;
    model_call call;

    memset(&call, 0, sizeof(call));
    call.script = (uint8_t) script;
    call.actor = (uint8_t) actor;
    call.ttl_ms = MODEL_TTL_MS;
    outcome = model_ask(&state->server, &call);
    UNIT_CHECK(outcome->answer == MODEL_HAS && outcome->violation == NULL);
    memcpy(&state->server, &outcome->after, sizeof(state->server));
}

void model_begin(model_state *state)
{
    const model_scenario *scenario = model_scenario_now;
    model_server *server = &state->server;

    memset(state, 0, sizeof(*state));
    server->write_expiry = server->lock_ends = server->record_ends = MODEL_NONE;
    server->due = server->until = server->free_for = MODEL_NONE;
    server->noted_sum = MODEL_NONE;
    for (int actor = 0; actor < MODEL_ACTORS; actor++) {
        server->expiry[actor] = MODEL_NONE;
        server->hears[actor] = actor < MODEL_WAITERS && !scenario->tries;
    }
    for (int actor = 0; actor < MODEL_CLIENTS; actor++) {
        model_client *client = &state->clients[actor];

        client->wants = actor < MODEL_WAITERS ? scenario->wants[actor] : 'w';
        client->phase = actor < MODEL_WAITERS && client->wants != ' ' ? MODEL_AWAY : MODEL_GONE;
        client->ticket = 1;
        client->asks_in = client->holds_for = MODEL_NONE;
        if (client->wants == 'p'
            || (actor == MODEL_HOLDER && strpbrk(scenario->holder, "wr123456789") != NULL)) {
            bool reads = client->wants == 'p' || scenario->holder[0] == 'r';

            take_at_first(state, model_script_of(reads ? MODEL_SHARE : MODEL_ACQUIRE), actor);
            client->holds = model_has_permits() ? 's' : reads ? 'r' : 'w';
            client->holds_for = MODEL_TTL_MS;
            client->phase = client->wants == 'p' ? MODEL_AWAY : MODEL_HOLDING;
        }
    }
    if (strchr(scenario->holder, 's') != NULL) {
        take_at_first(state, model_script_of(MODEL_PEER_TAKES), MODEL_PEER);
        state->peer_phase = MODEL_HOLDING;
    }
    state->faults = scenario->faults;
    state->fault_count = scenario->fault_count;
}

/* ---- The fair course */

static bool is_through(int phase)
{
    return phase == MODEL_GONE || phase == MODEL_DEAD;
}

static bool are_all_through(const model_state *state)
{
    for (int actor = 0; actor < MODEL_CLIENTS; actor++) {
        if (!is_through(state->clients[actor].phase)) {
            return false;
        }
    }
    return state->peer_phase != MODEL_HOLDING;
}

bool model_fair_event(const model_state *state, model_event *event)
{
    const char *ignored = NULL;
    model_state next;
    int16_t ms;

    for (event->kind = MODEL_RESUMES; event->kind < MODEL_TIME_PASSES; event->kind++) {
        for (event->actor = 0; event->actor < MODEL_ACTORS; event->actor++) {
            if (model_happen(state, *event, &next, &ms, &ignored)) {
                return true;
            }
        }
    }
    event->actor = 0;
    return !are_all_through(state) && model_happen(state, *event, &next, &ms, &ignored);
}

/* ---- What must hold */

static const char *check_exclusion(const model_server *server)
{
    int holders = 0, used = 0;

    for (int actor = 0; actor < MODEL_ACTORS; actor++) {
        holders += server->expiry[actor] > 0;
        used += server->expiry[actor] > 0 ? model_weight_of(actor) : 0;
    }
    if (model_has_permits() && used > model_scenario_now->limit) {
        return "more permits are held than there are";
    }
    return server->write_expiry > 0 && holders != 1 ? "a writer is not the only holder" : NULL;
}

static const char *check_certainty(const model_state *state, int actor)
{
    const model_client *client = &state->clients[actor];
    const model_server *server = &state->server;

    if (client->holds == 0 || client->holds_for <= 0 || client->is_excused) {
        return NULL;
    }
    if (server->expiry[actor] < client->holds_for) {
        return "who was told that it holds does not";
    }
    if (client->holds == 'w' && server->write_expiry < client->holds_for) {
        return "who was told that it writes does not";
    }
    return NULL;
}

bool model_is_in_queue(const model_server *server, int actor, int ticket)
{
    for (int at = 0; at < server->queue_length; at++) {
        if (server->queue[at].actor == actor && server->queue[at].ticket == ticket) {
            return true;
        }
    }
    return false;
}

static bool is_being_told(const model_client *client, model_word word)
{
    for (int at = 0; at < client->message_count; at++) {
        if (client->messages[at].word == word) {
            return true;
        }
    }
    return false;
}

static const char *check_not_forgotten(const model_state *state, int actor)
{
    const uint16_t losses = MODEL_MAY(MODEL_LOSES_MESSAGE) | MODEL_MAY(MODEL_DATA_IS_LOST)
                            | MODEL_MAY(MODEL_PAUSES);
    const model_client *client = &state->clients[actor];

    if (client->phase != MODEL_WAITING || client->requests[0].is_there) {
        return NULL;
    }
    if (client->asks_in == MODEL_NONE) {
        return "a waiter will not ask again";
    }
    if ((state->happened & losses) == 0 && !model_is_in_queue(&state->server, actor, client->ticket)
        && !(state->server.expiry[actor] > 0 && is_being_told(client, MODEL_GRANTED))) {
        return "a waiter is neither in the queue nor told that it holds";
    }
    return NULL;
}

/* When a waiter will ask, by all that it knows or is being told; 0: at once. */
static int knows_when_to_ask(const model_client *client)
{
    const model_request *request = &client->requests[0];
    int when = INT16_MAX;

    if (is_being_told(client, MODEL_GRANTED) || (request->is_there && !request->is_done)) {
        return 0;
    }
    if (request->is_done) {
        when = request->answer == MODEL_HAS_PLACE ? request->delay_ms : 0;
    } else if (client->asks_in != MODEL_NONE) {
        when = client->asks_in;
    }
    for (int at = 0; at < client->message_count; at++) {
        if (client->messages[at].word == MODEL_FIRST && client->messages[at].ms < when) {
            when = client->messages[at].ms;
        }
    }
    return when;
}

/* When the next holder's time is over, or something is no longer left free for peers. */
static int first_end(const model_server *server)
{
    int first = server->until > 0 ? server->until : INT16_MAX;

    for (int actor = 0; actor < MODEL_ACTORS; actor++) {
        if (server->expiry[actor] > 0 && server->expiry[actor] < first) {
            first = server->expiry[actor];
        }
    }
    return first;
}

/* When the lock can be had at the latest, if nobody renews it; or when more permits may be. */
static int last_end(const model_server *server)
{
    int last = server->until > 0 ? server->until : 0;

    if (model_has_permits()) {
        return first_end(server);
    }

    for (int actor = 0; actor < MODEL_ACTORS; actor++) {
        last = server->expiry[actor] > last ? server->expiry[actor] : last;
    }
    return last;
}

static const char *check_first_knows(const model_state *state)
{
    const model_server *server = &state->server;
    const model_client *client;

    if (server->queue_length == 0) {
        return NULL;
    }
    client = &state->clients[server->queue[0].actor];
    if (client->phase != MODEL_WAITING || client->has_lost) {
        return NULL;
    }
    if (knows_when_to_ask(client) > SAFETY_MS) {
        return "the first does not know that it is";
    }
    if (state->peer_phase == MODEL_AWAY
        && (state->happened
            & (MODEL_MAY(MODEL_PAUSES) | MODEL_MAY(MODEL_DATA_IS_LOST)
               | MODEL_MAY(MODEL_RELEASE_IS_UNKNOWN)))
               == 0
        && knows_when_to_ask(client) > last_end(server)) {
        return "the first does not ask when the lease ends";
    }
    return NULL;
}

/* May this waiter be in the queue? */
static bool belongs_there(const model_client *client, int ticket)
{
    switch (client->phase) {
        case MODEL_DEAD:
            return true;
        case MODEL_WAITING:
            return client->ticket == ticket
                   && !(client->requests[0].is_done && client->requests[0].answer == MODEL_HAS);
        case MODEL_LEAVING: /* until the server has heard that it leaves */
            return client->ticket == ticket
                   && !(client->requests[1].is_there ? client->requests[1].is_done
                                                     : client->requests[0].is_done);
        default:
            return false;
    }
}

static const char *check_queue(const model_state *state)
{
    const model_server *server = &state->server;

    for (int at = 0; at < server->queue_length; at++) {
        if (!belongs_there(&state->clients[server->queue[at].actor], server->queue[at].ticket)) {
            return "somebody is in the queue who has left it";
        }
        for (int other = 0; other < at; other++) {
            if (server->queue[at].actor == server->queue[other].actor) {
                return "somebody is in the queue twice";
            }
        }
    }
    return NULL;
}

const char *model_check(const model_state *state)
{
    const char *violation = check_exclusion(&state->server);

    for (int actor = 0; actor < MODEL_CLIENTS && violation == NULL; actor++) {
        violation = check_certainty(state, actor);
        if (violation == NULL) {
            violation = check_not_forgotten(state, actor);
        }
    }
    if (violation == NULL) {
        violation = check_first_knows(state);
    }
    return violation != NULL ? violation : check_queue(state);
}

const char *model_check_end(const model_state *state)
{
    const model_server *server = &state->server;

    if (!are_all_through(state)) {
        return "somebody waits for ever";
    }
    for (int actor = 0; actor < MODEL_ACTORS; actor++) {
        bool is_dead = actor < MODEL_CLIENTS ? state->clients[actor].phase == MODEL_DEAD
                                             : state->peer_phase == MODEL_DEAD;

        if (!is_dead && server->expiry[actor] > 0) {
            return "the lock is held by one who has left";
        }
    }
    return NULL;
}

/* ---- Telling */

static const char *const phases[] = {"away",    "trying",    "subscribing", "waiting", "holding",
                                     "leaving", "releasing", "gone",        "dead"};
static const char *const errands[] = {"asks", "renews", "gives back", "gives up"};
static const char *const manners[] = {"try", "check", "wait", "poll", "claim"};
static const char *const answers[] = {"refused", "has", "place", "unreachable", "conflict"};
static const char *const words[] = {"granted", "first", "requeue"};
static const char *const events[] = {"resumes",         "is carried out",
                                     "is answered",     "hears",
                                     "subscribes",      "polls",
                                     "comes",           "stops holding",
                                     "(time passes)",   "dies",
                                     "dies unheard",    "cancels",
                                     "loses a message", "is paused",
                                     "refreshes",       "(data is lost)",
                                     "takes the lock",  "is released by the other script"};

void model_describe_event(model_event event, FILE *out)
{
    fprintf(out, "%d %s\n", event.actor, events[event.kind]);
}

static void describe_client(const model_client *client, int actor, FILE *out)
{
    fprintf(out, "    %d wants %c: %s%s", actor, client->wants, phases[client->phase],
            client->is_paused ? " (paused)" : "");
    if (client->holds) {
        fprintf(out, ", holds %c for %d", client->holds, client->holds_for);
    }
    if (client->asks_in != MODEL_NONE) {
        fprintf(out, ", place %d, asks in %d", client->place, client->asks_in);
    }
    for (int at = 0; at < MODEL_REQUESTS; at++) {
        const model_request *request = &client->requests[at];

        if (request->is_there) {
            fprintf(out, ", %s (%s)", errands[request->errand], manners[request->manner]);
        }
        if (request->is_done) {
            fprintf(out, " -> %s %d %d", answers[request->answer], request->place,
                    request->delay_ms);
        }
    }
    for (int at = 0; at < client->message_count; at++) {
        fprintf(out, ", <%s %d>", words[client->messages[at].word], client->messages[at].ms);
    }
    fputc('\n', out);
}

void model_describe(const model_state *state, FILE *out)
{
    const model_server *server = &state->server;

    fputs("    lock:", out);
    for (int actor = 0; actor < MODEL_ACTORS; actor++) {
        if (server->expiry[actor] != MODEL_NONE) {
            fprintf(out, " %d for %d", actor, server->expiry[actor]);
        }
    }
    if (server->write_expiry != MODEL_NONE) {
        fprintf(out, " (writes for %d)", server->write_expiry);
    }
    fputs("; record:", out);
    for (int actor = 0; actor < MODEL_ACTORS; actor++) {
        if (server->record[actor] != MODEL_NO_RECORD) {
            fprintf(out, " %d", actor);
        }
    }
    fputs("; queue:", out);
    for (int at = 0; at < server->queue_length; at++) {
        fprintf(out, " %c%d#%d", server->queue[at].mode, server->queue[at].actor,
                server->queue[at].ticket);
    }
    if (server->has_peers) {
        fprintf(out, "; due %d until %d free for %d", server->due, server->until, server->free_for);
    }
    fputc('\n', out);
    for (int actor = 0; actor < MODEL_CLIENTS; actor++) {
        if (state->clients[actor].phase != MODEL_GONE) {
            describe_client(&state->clients[actor], actor, out);
        }
    }
}
