/*
 * The wait queue of locks or of semaphores in Redis (docs/redis-queue.md) as a model that can be
 * searched: Latch's scripts as they are embedded in the engine, at work on a real server, and
 * processes that ask and listen as the page says. Time stands still, and passes from one thing that
 * is due to the next.
 */
#ifndef REDIS_MODEL_H
#define REDIS_MODEL_H

#include "redis_server.h"

enum {
    MODEL_WAITERS = 3,
    MODEL_HOLDER = MODEL_WAITERS, /* one of ours that has the lock at the beginning */
    MODEL_CLIENTS,
    MODEL_PEER = MODEL_CLIENTS, /* on Symfony */
    MODEL_ACTORS,
    MODEL_QUEUE = 6,
    MODEL_MESSAGES = 6,
    MODEL_REQUESTS = 2,
};

/* Times are in ms from now on. */
#define MODEL_NONE INT16_MIN
#define MODEL_LONG_FREE 300

/* ---- The server (redis_model_server.c) */

/* The fencing token that a record has for a holder. */
typedef enum { MODEL_NO_RECORD, MODEL_NO_TOKEN, MODEL_LAST_TOKEN, MODEL_OLDER_TOKEN } model_token;

/* Everything that the scripts can see, padding included: states are compared by their bytes. */
typedef struct model_server {
    int16_t expiry[MODEL_ACTORS]; /* of the lock's members; 0 when it is over */
    int16_t write_expiry;
    int16_t lock_ends, record_ends;
    int16_t due, until; /* for peers */
    int16_t free_for;   /* since a release; more than a poll of peers counts as MODEL_LONG_FREE */
    uint8_t record[MODEL_ACTORS];
    uint8_t hears[MODEL_ACTORS];
    uint8_t has_counter, has_peers;
    uint8_t queue_length;
    /* Of a semaphore: ms since the last whole second; the sum in the record; do its keys have the
       mark? */
    int16_t phase, noted_sum, is_marked;
    struct {
        char mode;
        uint8_t actor, ticket;
    } queue[MODEL_QUEUE];
} model_server;

typedef enum {
    MODEL_ACQUIRE,
    MODEL_SHARE,
    MODEL_RELEASE,
    MODEL_LET_GO, /* what comes behind a release */
    MODEL_REFRESH,
    MODEL_PEER_TAKES,
    MODEL_PEER_RELEASES,
    MODEL_PERMIT_ACQUIRE,
    MODEL_PERMIT_REFRESH,
    MODEL_PERMIT_RELEASE,
    MODEL_PERMIT_LET_GO,
    MODEL_PERMIT_PEER_TAKES,
    MODEL_PERMIT_PEER_RELEASES,
    MODEL_FLUSH
} model_script;

typedef enum { MODEL_TRY, MODEL_CHECK, MODEL_WAIT, MODEL_POLL, MODEL_CLAIM } model_manner;

typedef struct model_call {
    uint8_t script, manner;
    uint8_t actor;
    uint8_t ticket; /* 0: the caller waits for nothing */
    uint8_t peer;   /* 'p' where there are peers, 'm' for one that is mute, or 0 */
    uint8_t unused;
    int16_t ttl_ms;
} model_call;

typedef enum { MODEL_GRANTED, MODEL_FIRST, MODEL_REQUEUE } model_word;

typedef struct model_message {
    uint8_t word, actor, ticket;
    uint8_t unused;
    int16_t ms;
} model_message;

typedef enum {
    MODEL_REFUSED,     /* nil, or 0 */
    MODEL_HAS,         /* a token, or 1 or 2 */
    MODEL_HAS_PLACE,   /* place and delay */
    MODEL_UNREACHABLE, /* {-1, 0} */
    MODEL_CONFLICT     /* {-2, 0} */
} model_answer;

typedef struct model_outcome {
    model_server after;
    uint8_t answer, place;
    int16_t delay_ms;
    uint8_t message_count;
    model_message messages[MODEL_MESSAGES];
    const char *violation; /* NULL: what the script did and said is as it has to be */
} model_outcome;

/* What is kept in the server in a layout, and how the scripts of that are called. */
typedef struct model_kind {
    const char *const *texts, *const *key_counts; /* of each script */
    const char *(*key)(int script, int number);
    const char *name, *queue, *peers; /* in messages; keys */
    char writer; /* what the queue has in the place of the state's 'w' */
    void (*put)(const model_server *server);
    /* Asks for what was put there, and reads it. */
    void (*ask)(void);
    void (*read)(model_server *after);
} model_kind;

extern const model_kind model_locks, model_strings, model_permits;
/* The scenario's. */
const model_kind *model_kind_now(void);

typedef struct model_mutation {
    const char *name;
    const char *text;  /* this, in the scripts... */
    const char *other; /* ...becomes that */
} model_mutation;

/* Has the server load the scripts, changed by `mutation` unless that is NULL. */
void model_load(const model_mutation *mutation);
void model_unload(void);
/* What a call does and answers; it is asked of the server once for each state. Valid until the
 * next. */
const model_outcome *model_ask(const model_server *server, const model_call *call);
size_t model_asked(void); /* how often, by now */
/* Ends the keys whose time is over. */
void model_end_keys(model_server *server);

/* ---- Locks (redis_model_locks.c, redis_model_strings.c) */

#define MODEL_LOCK "model"

/*
 * Now, in the scripts: far ahead of the server's own clock, by which it ends keys, so that none
 * ends by itself. The jitter of polls is none then.
 */
#define MODEL_EPOCH_MS INT64_C(4102444800010)
/* The last fencing token before now. */
#define MODEL_FENCING (MODEL_EPOCH_MS * 1000 - 1000000)
/* What a record has for a token; and the text of it. */
model_token model_token_of(const char *fencing, int64_t last_fencing);
const char *model_fencing_of(model_token token, char text[24]);
/* The last fencing token, by what was read from the counter. */
int64_t model_last_fencing(const redisReply *counter);
/* An actor as a holder: "t1"; if its lock is a string, and all have one owner, "t1 o". */
const char *model_holder(int actor, char text[8]);

/* ---- Semaphores (redis_model_permits.c) */

/* Is the scenario about a semaphore? How many permits an actor of it wants, or takes. */
bool model_has_permits(void);
int model_weight_of(int actor);
/* May it overtake a first waiter that does not fit? */
bool model_may_overtake(int actor);
/* The time of a state, in ms since 1970. */
int64_t model_permit_now_ms(const model_server *server);
/* What a peer says behind its token; returns how many words. */
int model_permit_peer_words(const model_server *server, const model_call *call,
                            const char *words[4]);

/* Sends a command, receives an answer, and notes what does not hold: redis_model_server.c. */
void model_command(const char *format, ...); /* as redisCommand() */
redisReply *model_receive(void);
void model_demand(bool holds, const char *text);
int model_actor_of(const char *token);
int16_t model_from_now(int64_t ms);

uint64_t model_hash(const void *bytes, size_t size);

/* ---- Clients and events (redis_model_clients.c, redis_model_steps.c, redis_model_rules.c) */

typedef enum {
    MODEL_AWAY, /* has not come yet */
    MODEL_TRYING,
    MODEL_SUBSCRIBING,
    MODEL_WAITING, /* asks when a request is under way */
    MODEL_HOLDING,
    MODEL_LEAVING,
    MODEL_RELEASING,
    MODEL_GONE,
    MODEL_DEAD
} model_phase;

typedef enum { MODEL_ASKS, MODEL_RENEWS, MODEL_GIVES_BACK, MODEL_GIVES_UP } model_errand;

typedef struct model_request {
    uint8_t is_there, is_done;
    uint8_t errand, manner;
    uint8_t answer, place;
    uint8_t was_lost; /* with the server's data, after it was done */
    uint8_t unused;
    int16_t delay_ms, age_ms;
} model_request;

typedef struct model_client {
    char wants; /* to be: 'r', 'w', 'p'; or its weight */
    char holds; /* what it believes that it is: 'r', 'w', 's' of a semaphore, or 0 */
    uint8_t phase, ticket;
    uint8_t is_lost; /* it was told that its queue may be lost */
    uint8_t place;
    uint8_t is_paused;
    uint8_t is_excused; /* what it holds was lost with the server's data */
    uint8_t has_lost;   /* a message */
    uint8_t message_count;
    int16_t asks_in; /* when it is to ask again */
    int16_t holds_for;
    model_request requests[MODEL_REQUESTS];
    struct {
        uint8_t word, ticket;
        int16_t ms;
    } messages[MODEL_MESSAGES];
} model_client;

typedef struct model_state {
    model_server server;
    model_client clients[MODEL_CLIENTS];
    uint16_t faults; /* that may happen yet */
    uint16_t happened;
    uint8_t fault_count; /* how many of them */
    uint8_t peer_phase;
} model_state;

/* What may happen; those from MODEL_DIES on are faults, and events of which there is one at most.
 */
typedef enum {
    MODEL_RESUMES,
    MODEL_IS_CARRIED_OUT, /* the request that was sent first */
    MODEL_IS_ANSWERED,
    MODEL_HEARS,
    MODEL_SUBSCRIBES,
    MODEL_POLLS,
    MODEL_COMES,
    MODEL_STOPS_HOLDING,
    MODEL_TIME_PASSES,
    MODEL_DIES,
    MODEL_DIES_UNHEARD, /* what it had sent is lost with it */
    MODEL_CANCELS,
    MODEL_LOSES_MESSAGE,
    MODEL_PAUSES,
    MODEL_REFRESHES,
    MODEL_DATA_IS_LOST,
    MODEL_PEER_COMES,
    MODEL_RELEASE_IS_UNKNOWN, /* so that what comes behind it gives the lock back */
    MODEL_EVENTS
} model_event_kind;

typedef struct model_event {
    uint8_t kind, actor;
} model_event;

#define MODEL_MAY(kind) (1U << ((kind) -MODEL_DIES))

/* How a lock is kept: in Symfony's layout, or in Laravel's. */
typedef enum { MODEL_SORTED_SET, MODEL_STRING, MODEL_STRING_OF_ONE_OWNER } model_layout;

typedef struct model_scenario {
    model_layout layout;
    int limit;            /* of a semaphore; 0: it is about a lock */
    const char *wants;    /* what each waiter wants to be; ' ' where there is none; or its weight:
                             'a' is 1, 'b' 2 and so on of one that may overtake */
    const char *holder;   /* of the beginning: "w" or "r" of ours, "s" on Symfony, "" nobody; or
                             the weight of ours */
    uint16_t faults;      /* MODEL_MAY(), of which there are... */
    uint8_t fault_count;  /* ...so many at most */
    bool tries;           /* each begins with a try, and has not subscribed yet */
    bool peers;           /* they know that there are peers */
    bool comes_again;     /* who has cancelled */
    bool only_queued_die; /* and nobody who has or is given the lock */
    bool is_long;         /* not for every day */
    /* Once nothing more goes wrong, and who holds gives back at once, all have had it within... */
    int16_t longest_ms;
    size_t states; /* at least so many; a search that finds less has not searched */
} model_scenario;

enum { MODEL_TTL_MS = 1500 };

extern const model_scenario *model_scenario_now;
/* Asks all again that was asked since model_load(), in another layout: is each outcome the same? */
bool model_answers_alike(const model_scenario *other);

/* The script that does the same to what the scenario is about, a lock or a semaphore. */
model_script model_script_of(model_script script);
/* The script of a client's request. */
model_call model_call_of(const model_client *client, int actor, const model_request *request);
/* Carries it out; messages are in the sockets then. Sets *violation if it is one. */
const model_outcome *model_carry_out(model_state *state, const model_call *call,
                                     const char **violation);
const model_outcome *model_carry_out_plain(model_state *state, model_script script, int actor,
                                           const char **violation);
/* Has the queue's order not been kept? */
const char *model_check_order(const model_state *before, const model_state *after,
                              const model_call *call, const model_outcome *outcome);
/* Lets time pass; in how many ms something is due, 0 when nothing is. */
int16_t model_pass_time(model_state *state, int16_t ms);
int16_t model_next_due(const model_state *state);

void model_begin(model_state *state);
/* What comes of an event in a state: false when it cannot happen there. Sets *violation if it has
 * to. */
bool model_happen(const model_state *state, model_event event, model_state *next,
                  int16_t *passed_ms, const char **violation);
/* The event that happens when nothing goes wrong and nobody delays; false at the end. */
bool model_fair_event(const model_state *state, model_event *event);
/* What must hold and does not, or NULL. */
const char *model_check(const model_state *state);
bool model_is_in_queue(const model_server *server, int actor, int ticket);
const char *model_check_end(const model_state *state);
void model_describe(const model_state *state, FILE *out);
void model_describe_event(model_event event, FILE *out);

/* ---- The search (redis_model.c) */

typedef struct model_result {
    size_t states, transitions;
    int longest_ms;  /* from any state until all living waiters have had the lock */
    char *violation; /* with the events that lead there; freed by model_forget(); NULL: none */
} model_result;

model_result model_search(const model_scenario *scenario);
void model_forget(model_result *result);

#endif
