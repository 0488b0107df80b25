/* Handshake: AUTH, SELECT; and ROLE, where the address source wants a master. */
#include "src/store/redis/wire/connection.h"

#include <stdio.h>
#include <string.h>

static redis_call *send_login(redis_connection *connection, int64_t now_ns)
{
    const redis_options *options = connection->options;
    redis_command command = {.count = 0};

    latch_redis_add_text(&command, "AUTH");
    if (options->user != NULL) {
        latch_redis_add_text(&command, options->user);
    }
    latch_redis_add_text(&command, options->password);
    return latch_redis_send(connection, &command, now_ns);
}

static redis_call *send_selection(redis_connection *connection, int64_t now_ns)
{
    redis_command command = {.count = 0};
    char database[16];

    snprintf(database, sizeof(database), "%d", connection->options->database);
    latch_redis_add_text(&command, "SELECT");
    latch_redis_add_text(&command, database);
    return latch_redis_send(connection, &command, now_ns);
}

static redis_call *send_role(redis_connection *connection, int64_t now_ns)
{
    redis_command command = {.count = 0};

    latch_redis_add_text(&command, "ROLE");
    return latch_redis_send(connection, &command, now_ns);
}

latch_status latch_redis_start_handshake(redis_connection *connection, latch_op *op, int64_t now_ns)
{
    const redis_options *options = connection->options;
    bool sent = latch_redis_make_context(connection);

    connection->stage = REDIS_HANDSHAKE;
    if (sent && options->password != NULL) {
        connection->login = send_login(connection, now_ns);
        sent = connection->login != NULL;
    }
    if (sent && options->database != 0) {
        connection->selection = send_selection(connection, now_ns);
        sent = connection->selection != NULL;
    }
    if (sent && connection->source->wants_master) {
        connection->role = send_role(connection, now_ns);
        sent = connection->role != NULL;
    }
    if (!sent) {
        latch_redis_close(connection);
        return latch_fail_memory(op->error);
    }
    return LATCH_DONE;
}

static latch_status fail_refused(redis_connection *connection, latch_op *op, const char *what,
                                 const char *answer)
{
    char quoted[192], why[256];

    latch_redis_quote_error(quoted, sizeof(quoted), answer, connection->options->password);
    snprintf(why, sizeof(why), "the server refused %s (%s)", what, quoted);
    return latch_redis_fail_to_connect(connection, op, 0, why);
}

static bool is_error(const redis_call *call)
{
    return call != NULL && call->state == REDIS_ANSWERED && call->reply->type == REDIS_REPLY_ERROR;
}

static bool is_unanswered(const redis_call *call)
{
    return call != NULL && call->state == REDIS_UNANSWERED;
}

/*
 * Master by its own word? During a failover Sentinels name the old one for a while, or the new one
 * too early.
 */
static bool is_master_role(const redis_call *role)
{
    const redisReply *reply = role->reply;

    return reply->type == REDIS_REPLY_ARRAY && reply->elements > 0
           && reply->element[0]->type == REDIS_REPLY_STRING
           && strcmp(reply->element[0]->str, "master") == 0;
}

latch_status latch_redis_await_handshake(redis_connection *connection, latch_op *op, int64_t now_ns)
{
    redis_call *login = connection->login, *selection = connection->selection;
    redis_call *role = connection->role;

    if (!latch_redis_receive(connection)) {
        return connection->source->record_failure(connection, op, 0, connection->trouble, now_ns);
    }
    if (is_error(login)) {
        return fail_refused(connection, op, "the user or the password", login->reply->str);
    }
    if (is_error(selection)) {
        return fail_refused(connection, op, "the database", selection->reply->str);
    }
    if (is_error(role)) {
        return fail_refused(connection, op, "ROLE, which tells whether it is the master",
                            role->reply->str);
    }
    if (is_unanswered(login) || is_unanswered(selection) || is_unanswered(role)) {
        return latch_redis_want(connection, connection->deadline_ns, op);
    }
    if (role != NULL && !is_master_role(role)) {
        return connection->source->record_failure(connection, op, 0, "it is no master", now_ns);
    }
    latch_redis_end_handshake(connection);
    connection->established++;
    connection->stage = REDIS_READY;
    return LATCH_DONE;
}

void latch_redis_end_handshake(redis_connection *connection)
{
    if (connection->login != NULL) {
        latch_redis_call_free(connection, connection->login);
    }
    if (connection->selection != NULL) {
        latch_redis_call_free(connection, connection->selection);
    }
    if (connection->role != NULL) {
        latch_redis_call_free(connection, connection->role);
    }
    connection->login = connection->selection = connection->role = NULL;
}
