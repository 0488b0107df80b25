/*
 * Locks in Redis or Valkey, in the layout of Symfony's RedisStore, with which they exclude each
 * other: one script for each request (redis/ *.lua), one round trip.
 *
 * A request may be sent twice: when its reply was lost with the connection nobody knows whether it
 * was carried out, and all of them ask for a state by the holder's token, not for a change. What
 * cannot be asked again, because the server is gone for now, is made good later: a lock that may
 * have been granted to nobody is given back before anything else is sent (a debt).
 *
 * A token belongs to one process. A forked child that inherits a lease is another holder, but for
 * leases with `inherit`, which are meant to be handed on while they are held.
 */
#include "redis_connection.h"
#include "redis_scripts.h"
#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A hundred years, which fit into Redis's numbers; what is longer is for ever. */
#define TTL_MAX_MS (INT64_C(100) * 365 * 86400 * 1000)

/* What is kept beside the locks. No lock has such a name. */
#define OWN_KEYS "latch:"

/* The member that says that the holder is a writer, so that it can be no holder's token. */
#define WRITER "__write__"

typedef enum { ACQUIRE, ACQUIRE_SHARED, REFRESH, RELEASE, PROBE, SCRIPT_COUNT } script_id;

typedef struct {
    const char *text;
    size_t length;
    uint8_t key_count; /* as many of: the lock, its record, the fencing counter */
    bool takes_ttl;    /* beside the token */
} redis_script;

#define SCRIPT(text, key_count, takes_ttl)                                                         \
    {                                                                                              \
        text, sizeof(text) - 1, key_count, takes_ttl                                               \
    }

static const redis_script scripts[SCRIPT_COUNT] = {
    [ACQUIRE] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_ACQUIRE, 3, true),
    [ACQUIRE_SHARED] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_ACQUIRE_SHARED, 2, true),
    [REFRESH] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_REFRESH, 2, true),
    [RELEASE] = SCRIPT(REDIS_LUA_RELEASE, 2, false),
    [PROBE] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_PROBE, 1, false),
};

/* lease->state: whose the token is. */
typedef struct redis_hold {
    unsigned generation; /* of the process that may use it */
    unsigned fork_count; /* of the engine when the lock was acquired or renewed */
    bool adopted;        /* it came with a key: the lock may be held by it already */
    bool spent;          /* a release by it may still be on its way: for no other hold */
} redis_hold;

/* A token by which the server may have granted a lock of which nobody knows. */
typedef struct redis_debt {
    latch_link link;
    int64_t end_ns; /* by then it has expired by itself */
    char token[LATCH_TOKEN_MAX + 1];
    size_t resource_length;
    char resource[];
} redis_debt;

typedef struct redis_store {
    latch_store store;
    redis_options options;
    redis_connection connection;
    latch_link debts;
    unsigned generation;                    /* of the process whose debts they are */
    char digests[SCRIPT_COUNT][2 * 20 + 1]; /* SHA-1 in hex */
} redis_store;

/* op->attempts */
enum { SENT = 1, LOST_BEFORE = 2, AS_TEXT = 4 };

static redis_store *store_of(const latch_op *op)
{
    return (redis_store *) op->lease->store;
}

static bool acquires(const latch_op *op)
{
    return op->request.kind == LATCH_ACQUIRE || op->request.kind == LATCH_ACQUIRE_SHARED;
}

/* ---- Opening -------------------------------------------------------------------------------- */

static void digest_scripts(redis_store *store)
{
    const latch_env *env = &store->store.engine->env;

    for (size_t at = 0; at < SCRIPT_COUNT; at++) {
        const struct iovec text = {(void *) (uintptr_t) scripts[at].text, scripts[at].length};
        uint8_t digest[LATCH_DIGEST_MAX];

        env->digest(env->context, LATCH_SHA1, &text, 1, digest);
        for (size_t byte = 0; byte < 20; byte++) {
            snprintf(&store->digests[at][2 * byte], 3, "%02x", digest[byte]);
        }
    }
}

static latch_status redis_open(latch_store *base, const latch_store_options *options,
                               latch_error *error)
{
    redis_store *store = (redis_store *) base;
    latch_status status = latch_redis_options_parse(base->engine, options->dsn, options->dsn_length,
                                                    &store->options, error);

    if (status != LATCH_DONE) {
        return status;
    }
    latch_redis_connection_init(&store->connection, base->engine, &store->options);
    latch_link_init(&store->debts);
    store->generation = base->engine->generation;
    return LATCH_DONE;
}

static void forgive_debts(redis_store *store)
{
    while (store->debts.next != &store->debts) {
        redis_debt *debt = LATCH_CONTAINER(store->debts.next, redis_debt, link);

        latch_link_remove(&debt->link);
        latch_free(store->store.engine, debt);
    }
}

static void redis_close(latch_store *base)
{
    redis_store *store = (redis_store *) base;

    latch_redis_connection_end(&store->connection);
    forgive_debts(store);
    latch_redis_options_free(base->engine, &store->options);
}

static const char *redis_identity(const latch_store *base)
{
    return ((const redis_store *) base)->options.identity;
}

/* ---- Sending -------------------------------------------------------------------------------- */

typedef struct {
    const char *arguments[10];
    size_t lengths[10];
    int count;
} redis_command;

static void add(redis_command *command, const char *argument, size_t length)
{
    command->arguments[command->count] = argument;
    command->lengths[command->count++] = length;
}

static void add_text(redis_command *command, const char *text)
{
    add(command, text, strlen(text));
}

/* Writes prefix, name and resource behind each other, as one key. */
static char *add_key(redis_command *command, char *at, const redis_options *options,
                     const char *name, const char *resource, size_t length)
{
    char *key = at;

    memcpy(at, options->prefix, options->prefix_length);
    at += options->prefix_length;
    memcpy(at, name, strlen(name));
    at += strlen(name);
    memcpy(at, resource, length);
    at += length;
    add(command, key, (size_t) (at - key));
    return at;
}

/* NULL when memory ran out. */
static redis_call *send_script(redis_store *store, script_id id, bool as_text, const char *resource,
                               size_t resource_length, const char *token, int64_t ttl_ms,
                               int64_t now_ns)
{
    static const char *const names[] = {"", OWN_KEYS "holder:", OWN_KEYS "fencing"};
    const latch_engine *engine = store->store.engine;
    const redis_script *script = &scripts[id];
    const redis_options *options = &store->options;
    size_t size = 3 * options->prefix_length + 2 * resource_length + 64;
    char small[512], *keys = size <= sizeof(small) ? small : latch_allocate(engine, size);
    char key_count[2] = {(char) ('0' + script->key_count), '\0'}, ttl[24], *at = keys;
    redis_command command = {.count = 0};
    redis_call *call;

    if (keys == NULL) {
        return NULL;
    }
    if (store->digests[id][0] == '\0') {
        digest_scripts(store);
    }
    add_text(&command, as_text ? "EVAL" : "EVALSHA");
    add(&command, as_text ? script->text : store->digests[id],
        as_text ? script->length : sizeof(store->digests[id]) - 1);
    add_text(&command, key_count);
    for (size_t key = 0; key < script->key_count; key++) {
        at = add_key(&command, at, options, names[key], resource, key == 2 ? 0 : resource_length);
    }
    add_text(&command, token);
    if (script->takes_ttl) {
        add(&command, ttl, (size_t) snprintf(ttl, sizeof(ttl), "%lld", (long long) ttl_ms));
    }
    call = latch_redis_send(&store->connection, command.count, command.arguments, command.lengths,
                            now_ns);
    if (keys != small) {
        latch_free(engine, keys);
    }
    return call;
}

/*
 * Gives a lock back without waiting for an answer. So it is sent as text: nobody would see that the
 * server has forgotten the script.
 */
static bool send_release(redis_store *store, const char *resource, size_t length, const char *token,
                         int64_t now_ns)
{
    redis_call *call = send_script(store, RELEASE, true, resource, length, token, 0, now_ns);

    if (call != NULL) {
        latch_redis_call_free(&store->connection, call);
    }
    return call != NULL;
}

static void forget_token(latch_lease *lease)
{
    latch_free(lease->store->engine, lease->token);
    lease->token = NULL;
}

/* ---- Debts ---------------------------------------------------------------------------------- */

/* Before anything else is sent on a new connection: whoever comes next may want one of the locks.
 */
static void pay_debts(redis_store *store, int64_t now_ns)
{
    if (store->generation != store->store.engine->generation) {
        forgive_debts(store); /* they are the parent's */
        store->generation = store->store.engine->generation;
    }
    while (store->debts.next != &store->debts) {
        redis_debt *debt = LATCH_CONTAINER(store->debts.next, redis_debt, link);

        if (now_ns < debt->end_ns
            && !send_release(store, debt->resource, debt->resource_length, debt->token, now_ns)) {
            return;
        }
        latch_link_remove(&debt->link);
        latch_free(store->store.engine, debt);
    }
}

/*
 * A request has failed, and yet the server may have granted the lock: the reply was lost, or the
 * script failed in its middle. The token is given up, so that nobody else uses it, and the lock is
 * to be given back.
 */
static void owe(latch_op *op, int64_t now_ns)
{
    redis_store *store = store_of(op);
    latch_lease *lease = op->lease;
    redis_hold *hold = lease->state;
    redis_debt *debt;

    if (!acquires(op) || (op->attempts & SENT) == 0) {
        return;
    }
    if (op->mode_before != LATCH_FREE || hold->adopted) {
        return; /* it was held before, or may have been */
    }
    debt = latch_allocate(store->store.engine, sizeof(*debt) + lease->resource_length);
    if (debt != NULL) {
        debt->end_ns = now_ns + op->request.ttl_ms * LATCH_NS_PER_MS;
        snprintf(debt->token, sizeof(debt->token), "%s", lease->token);
        debt->resource_length = lease->resource_length;
        memcpy(debt->resource, lease->resource, lease->resource_length);
        latch_link_append(&store->debts, &debt->link);
    }
    forget_token(lease);
    if (store->connection.stage == REDIS_READY) {
        pay_debts(store, now_ns);
    }
}

/* ---- Whose token ---------------------------------------------------------------------------- */

static bool is_foreign(const latch_lease *lease)
{
    const redis_hold *hold = lease->state;

    return hold != NULL && hold->generation != lease->store->engine->generation
           && !(lease->inherit && lease->mode != LATCH_FREE);
}

static latch_status make_hold(latch_op *op)
{
    latch_engine *engine = op->lease->store->engine;
    redis_hold *hold = latch_allocate(engine, sizeof(*hold));

    if (hold == NULL) {
        return latch_fail_memory(op->error);
    }
    hold->generation = engine->generation;
    hold->fork_count = engine->fork_count;
    hold->adopted = op->lease->token != NULL;
    hold->spent = false;
    op->lease->state = hold;
    return LATCH_DONE;
}

/*
 * Sees that the lease has a token of this process's. LATCH_CONFLICT: it has none, and the request
 * needs one that it had before.
 */
static latch_status claim_token(latch_op *op)
{
    latch_lease *lease = op->lease;
    redis_hold *hold;
    latch_status status = LATCH_DONE;

    if (is_foreign(lease)) {
        if (!acquires(op)) {
            lease->mode = LATCH_FREE;
            return LATCH_CONFLICT;
        }
        forget_token(lease);
        lease->mode = op->mode_before = LATCH_FREE;
    }
    hold = lease->state;
    if (lease->token != NULL
        && (strcmp(lease->token, WRITER) == 0
            || (hold != NULL && hold->spent && acquires(op) && lease->mode == LATCH_FREE))) {
        forget_token(lease);
    }
    if (lease->token == NULL && !acquires(op)) {
        return LATCH_CONFLICT;
    }
    if (lease->state == NULL) {
        status = make_hold(op);
    }
    if (status != LATCH_DONE || lease->token != NULL) {
        return status;
    }
    hold = lease->state;
    hold->generation = lease->store->engine->generation;
    hold->adopted = hold->spent = false;
    return latch_lease_make_token(lease, op->error);
}

/* ---- Replies -------------------------------------------------------------------------------- */

/* The server answered, but not as our script does. */
static latch_status fail_confused(latch_op *op)
{
    redis_store *store = store_of(op);

    latch_redis_close(&store->connection);
    return latch_fail(op->error, LATCH_ERROR_STORE, 0,
                      "Redis at %s gave an answer that makes no sense", store->options.address);
}

/*
 * Tells what the server says, but not the arguments that it may repeat ("unknown command 'EVALSHA',
 * with args beginning with"): the token is among them.
 */
static latch_status fail_with_reply(latch_op *op, const char *text)
{
    redis_store *store = store_of(op);
    const char *arguments = strstr(text, ", with args");
    int length = arguments != NULL ? (int) (arguments - text) : (int) strcspn(text, "\r\n");

    latch_fail(op->error, LATCH_ERROR_STORE, 0, "Redis at %s answered: %.*s",
               store->options.address, length, text);
    return LATCH_ERROR_STORE;
}

/* A key that was handed over brings a hold of which this process has not heard yet. */
static void note_mode(latch_lease *lease, long long writer)
{
    redis_hold *hold = lease->state;

    lease->mode = writer ? LATCH_EXCLUSIVE : LATCH_SHARED;
    hold->fork_count = lease->store->engine->fork_count;
}

static bool is_integer(const redisReply *reply, long long least, long long most)
{
    return reply->type == REDIS_REPLY_INTEGER && reply->integer >= least && reply->integer <= most;
}

/* Digits, of a number that PHP can hold. */
static bool read_number(const redisReply *reply, uint64_t *number)
{
    if (reply->type != REDIS_REPLY_STRING || reply->len == 0 || reply->len > 18
        || strspn(reply->str, "0123456789") != reply->len) {
        return false;
    }
    *number = strtoull(reply->str, NULL, 10);
    return *number > 0;
}

static latch_status understand_acquired(latch_op *op, const redisReply *reply)
{
    bool exclusive = op->request.kind == LATCH_ACQUIRE;
    uint64_t fencing_token = 0;

    if (exclusive ? !read_number(reply, &fencing_token) : !is_integer(reply, 1, 1)) {
        return fail_confused(op);
    }
    op->lease->fencing_token = fencing_token;
    note_mode(op->lease, exclusive);
    return LATCH_DONE;
}

static latch_status understand_refreshed(latch_op *op, const redisReply *reply)
{
    if (!is_integer(reply, 0, 2)) {
        return fail_confused(op);
    }
    if (reply->integer == 0) {
        return LATCH_CONFLICT;
    }
    note_mode(op->lease, reply->integer == 2);
    return LATCH_DONE;
}

static latch_status understand_released(latch_op *op, const redisReply *reply)
{
    redis_hold *hold = op->lease->state;

    if (!is_integer(reply, 0, 1)) {
        return fail_confused(op);
    }
    hold->spent = (op->attempts & LOST_BEFORE) != 0;
    return LATCH_DONE;
}

static latch_status understand_probed(latch_op *op, const redisReply *reply)
{
    latch_lease *lease = op->lease;

    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2
        || !is_integer(reply->element[0], 1, INT64_MAX) || !is_integer(reply->element[1], 1, 2)) {
        return fail_confused(op);
    }
    if (lease->mode == LATCH_FREE) {
        long long left_ms = reply->element[0]->integer;

        left_ms = left_ms < TTL_MAX_MS ? left_ms : TTL_MAX_MS;
        lease->deadline_ns = op->sent_ns + left_ms * LATCH_NS_PER_MS;
        note_mode(lease, reply->element[1]->integer == 2);
    }
    return LATCH_DONE;
}

static latch_status understand(latch_op *op, const redisReply *reply)
{
    if (reply->type == REDIS_REPLY_NIL && (acquires(op) || op->request.kind == LATCH_PROBE)) {
        return LATCH_CONFLICT;
    }
    switch (op->request.kind) {
        case LATCH_ACQUIRE:
        case LATCH_ACQUIRE_SHARED:
            return understand_acquired(op, reply);
        case LATCH_REFRESH:
            return understand_refreshed(op, reply);
        case LATCH_RELEASE:
            return understand_released(op, reply);
        case LATCH_PROBE:
            return understand_probed(op, reply);
        case LATCH_INSPECT:
        case LATCH_LIST:
            break; /* never come here */
    }
    return fail_confused(op);
}

/* ---- A request, step by step ---------------------------------------------------------------- */

/* op->state while there is no call yet, as the connection is still to come. */
static void *unsent(redis_store *store)
{
    return &store->connection;
}

static bool is_sent(const latch_op *op)
{
    return op->state != unsent(store_of(op));
}

/* What was sent is lost. Once it is sent again: all that it asks for is a state. */
static bool count_loss(latch_op *op)
{
    bool again = (op->attempts & LOST_BEFORE) == 0;

    op->attempts |= LOST_BEFORE;
    return again;
}

static script_id script_of(const latch_op *op)
{
    static const script_id ids[] = {
        [LATCH_ACQUIRE] = ACQUIRE, [LATCH_ACQUIRE_SHARED] = ACQUIRE_SHARED,
        [LATCH_REFRESH] = REFRESH, [LATCH_RELEASE] = RELEASE,
        [LATCH_PROBE] = PROBE,
    };

    return ids[op->request.kind];
}

/* Not held from the moment at which the command may arrive, whatever comes of it. */
static void note_release(latch_lease *lease)
{
    redis_hold *hold = lease->state;

    lease->mode = LATCH_FREE;
    hold->generation = lease->store->engine->generation;
    hold->adopted = false;
    hold->spent = true;
}

static latch_status send_request(latch_op *op, int64_t now_ns)
{
    redis_store *store = store_of(op);
    const latch_lease *lease = op->lease;
    bool as_text = (op->attempts & AS_TEXT) != 0 || op->request.detach;
    redis_call *call;

    pay_debts(store, now_ns);
    call = send_script(store, script_of(op), as_text, lease->resource, lease->resource_length,
                       lease->token, op->request.ttl_ms, now_ns);
    if (call == NULL) {
        return latch_fail_memory(op->error);
    }
    if (op->request.kind == LATCH_RELEASE) {
        note_release(op->lease);
    }
    op->attempts |= SENT;
    op->sent_ns = now_ns;
    op->state = call;
    return LATCH_DONE;
}

static latch_status fail_lost(latch_op *op)
{
    redis_store *store = store_of(op);

    return latch_fail(op->error, LATCH_ERROR_STORE, 0, "lost the connection to Redis at %s: %s",
                      store->options.address, store->connection.trouble);
}

/* Connects, and sends. LATCH_DONE: it is on its way. */
static latch_status dispatch(latch_op *op, int64_t now_ns)
{
    redis_store *store = store_of(op);
    latch_status status = claim_token(op); /* a process may have been forked meanwhile */

    while (status == LATCH_DONE) {
        status = latch_redis_connect(&store->connection, op, now_ns);
        /* What nobody awaits must not go to a server that has hung up. */
        if (status != LATCH_DONE || !op->request.detach
            || latch_redis_receive(&store->connection)) {
            break;
        }
        status = count_loss(op) ? LATCH_DONE : fail_lost(op);
    }
    return status == LATCH_DONE ? send_request(op, now_ns) : status;
}

static latch_status fail_overdue(latch_op *op)
{
    redis_store *store = store_of(op);

    latch_redis_close(&store->connection);
    return latch_fail(op->error, LATCH_ERROR_STORE, 0, "Redis at %s did not answer within %g s",
                      store->options.address,
                      (double) store->options.command_timeout_ns / (double) LATCH_NS_PER_S);
}

/* Takes the reply of an answered call. LATCH_WANT_TIMER: it is to be sent again, as text. */
static latch_status conclude(latch_op *op, const redisReply *reply)
{
    if (reply->type != REDIS_REPLY_ERROR) {
        return understand(op, reply);
    }
    if (strncmp(reply->str, "NOSCRIPT", 8) == 0 && (op->attempts & AS_TEXT) == 0) {
        op->attempts |= AS_TEXT;
        return LATCH_WANT_TIMER;
    }
    return fail_with_reply(op, reply->str);
}

/* Looks after what was sent. LATCH_WANT_TIMER: it is to be sent again. */
static latch_status await(latch_op *op, int64_t now_ns)
{
    redis_store *store = store_of(op);
    redis_call *call = op->state;
    latch_status status;

    if (call->state == REDIS_UNANSWERED && now_ns < call->deadline_ns) {
        return latch_redis_want(&store->connection, call->deadline_ns, op);
    }
    op->state = unsent(store);
    if (call->state == REDIS_ANSWERED) {
        status = conclude(op, call->reply);
    } else if (call->state == REDIS_UNANSWERED) {
        status = fail_overdue(op);
    } else {
        status = count_loss(op) ? LATCH_WANT_TIMER : fail_lost(op);
    }
    latch_redis_call_free(&store->connection, call);
    return status;
}

/* What may have been done all the same. */
static void note_failure(latch_op *op, int64_t now_ns)
{
    latch_lease *lease = op->lease;

    owe(op, now_ns);
    if (op->request.kind == LATCH_ACQUIRE_SHARED && (op->attempts & SENT) != 0
        && lease->mode == LATCH_EXCLUSIVE) {
        lease->mode = LATCH_SHARED;
        lease->fencing_token = 0;
    }
}

/* Sends the request, unless that has been done, and looks after its reply. */
static latch_status advance(latch_op *op, int64_t now_ns)
{
    redis_store *store = store_of(op);
    latch_status status = LATCH_WANT_TIMER;

    while (status == LATCH_WANT_TIMER) {
        if (is_sent(op)) {
            latch_redis_receive(&store->connection);
        } else {
            status = dispatch(op, now_ns);
            if (status != LATCH_DONE) {
                break;
            }
        }
        if (op->request.detach && store->connection.unsent_length == 0) {
            latch_redis_call_free(&store->connection, op->state);
            return LATCH_DONE;
        }
        status = await(op, now_ns);
    }
    if (LATCH_FAILED(status)) {
        note_failure(op, now_ns);
    }
    /* A lock that this process has never had is as free of it as can be. */
    return status == LATCH_CONFLICT && op->request.kind == LATCH_RELEASE ? LATCH_DONE : status;
}

static latch_status redis_begin(latch_op *op)
{
    redis_store *store = store_of(op);

    if (op->lease->resource_length >= sizeof(OWN_KEYS) - 1
        && memcmp(op->lease->resource, OWN_KEYS, sizeof(OWN_KEYS) - 1) == 0) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0,
                          "in Redis, names that begin with \"" OWN_KEYS "\" are Latch's own");
    }
    if (op->request.kind == LATCH_INSPECT) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0,
                          "the redis store cannot tell who holds a lock");
    }
    if (op->request.ttl_ms == 0 && (acquires(op) || op->request.kind == LATCH_REFRESH)) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0, "a lock in Redis needs a TTL");
    }
    if (op->request.ttl_ms > TTL_MAX_MS) {
        op->request.ttl_ms = TTL_MAX_MS;
    }
    op->attempts = 0;
    op->state = unsent(store);
    latch_redis_forget_stale(&store->connection, op->sent_ns);
    return advance(op, op->sent_ns);
}

static latch_status redis_step(latch_op *op, int64_t now_ns)
{
    return advance(op, now_ns);
}

/*
 * A lock that was free before is given back by a command right behind the one that takes it, and
 * neither is awaited. What was held before must not be guessed at: the answer is awaited then.
 */
static latch_status redis_cancel(latch_op *op)
{
    redis_store *store = store_of(op);
    const latch_lease *lease = op->lease;
    redis_hold *hold = lease->state;
    redis_call *call = op->state;

    if (!is_sent(op)) {
        owe(op, op->sent_ns); /* what was sent before and is lost */
        return LATCH_CONFLICT;
    }
    if (op->mode_before != LATCH_FREE || call->state == REDIS_ANSWERED) {
        return latch_redis_want(&store->connection, op->sent_ns, op);
    }
    if (call->state == REDIS_LOST
        || (!hold->adopted && !is_foreign(lease)
            && !send_release(store, lease->resource, lease->resource_length, lease->token,
                             op->sent_ns))) {
        owe(op, op->sent_ns);
    }
    hold->spent = true;
    latch_redis_call_free(&store->connection, call);
    return LATCH_CONFLICT;
}

static bool redis_held(const latch_lease *lease)
{
    const redis_hold *hold = lease->state;

    return lease->mode != LATCH_FREE && hold != NULL && !is_foreign(lease)
           && (!lease->inherit || hold->fork_count == lease->store->engine->fork_count);
}

static void redis_drop(latch_lease *lease)
{
    latch_free(lease->store->engine, lease->state);
}

const latch_store_class latch_redis_store = {
    .info =
        {
            .name = "redis",
            .state_name = "Symfony\\Component\\Lock\\Store\\RedisStore",
            .capabilities = LATCH_EXPIRING | LATCH_SHARED_LOCKS | LATCH_FENCING
                            | LATCH_SERIALIZABLE,
        },
    .size = sizeof(redis_store),
    .open = redis_open,
    .close = redis_close,
    .identity = redis_identity,
    .begin = redis_begin,
    .step = redis_step,
    .cancel = redis_cancel,
    .held = redis_held,
    .drop = redis_drop,
};
