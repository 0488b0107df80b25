/*
 * The servers that raw/redis.c asks, one or those of a cluster, blocking: by hiredis, and where it
 * is TLS by OpenSSL.
 */
#ifndef LATCH_BENCHMARK_REDIS_NODE_H
#define LATCH_BENCHMARK_REDIS_NODE_H

#include "src/store/redis/options/slot.h"
#include "redis_keys.h"
#include "tls.h"

#define NODES_MAX 16

struct node {
    redisContext *server;
    SSL *tls;             /* on its socket; or NULL */
    int unread;           /* releases that were not awaited */
    unsigned first, last; /* the slots that it has */
};

static struct node nodes[NODES_MAX];
static int node_count;
static bool is_cluster;

static inline struct node *add_node(redisContext *server, const char *cafile)
{
    struct node *node = &nodes[node_count++];

    if (!server || server->err) {
        fprintf(stderr, "redis: %s\n", server ? server->errstr : "no memory");
        exit(EXIT_FAILURE);
    }
    *node = (struct node){.server = server, .last = REDIS_SLOTS - 1};
    if (cafile) {
        node->tls = tls_connect(server->fd, cafile);
    }
    return node;
}

/* ---- Talking to one --------------------------------------------------------------------- */

/* Sends what was appended. */
static inline void send_all(struct node *node)
{
    int sent = 0;

    if (node->tls) {
        tls_write(node->tls, node->server->obuf, sdslen(node->server->obuf));
        sdsclear(node->server->obuf);
        return;
    }
    while (!sent) {
        check(redisBufferWrite(node->server, &sent) == REDIS_OK, "write");
    }
}

static inline redisReply *next_tls_reply(struct node *node)
{
    redisReader *reader = node->server->reader;
    char text[16 * 1024];
    void *reply = NULL;

    send_all(node);
    while (redisReaderGetReply(reader, &reply) == REDIS_OK && !reply) {
        redisReaderFeed(reader, text, tls_read(node->tls, text, sizeof text));
    }
    check(reply, "reply");
    return reply;
}

static inline redisReply *next_reply(struct node *node)
{
    void *reply;

    if (node->tls) {
        return next_tls_reply(node);
    }
    if (redisGetReply(node->server, &reply) != REDIS_OK) {
        fprintf(stderr, "redis: %s\n", node->server->errstr);
        exit(EXIT_FAILURE);
    }
    return reply;
}

/* Ends the program unless the reply is of that type, and of that value if it is a number. */
static inline void expect(redisReply *reply, int type, long long value)
{
    if (reply->type != type || (type == REDIS_REPLY_INTEGER && reply->integer != value)) {
        fprintf(stderr, "redis: unexpected reply %d, %lld, %s\n", reply->type, reply->integer,
                reply->str ? reply->str : "");
        exit(EXIT_FAILURE);
    }
    freeReplyObject(reply);
}

static inline void append_command(struct node *node, int count, const char **arguments)
{
    check(redisAppendCommandArgv(node->server, count, arguments, NULL) == REDIS_OK, "append");
}

/* Sends a command and awaits its answer, after those that are still to come. */
static inline redisReply *ask(struct node *node, int count, const char **arguments)
{
    append_command(node, count, arguments);
    for (; node->unread > 0; node->unread--) {
        expect(next_reply(node), REDIS_REPLY_INTEGER, 1);
        expect(next_reply(node), REDIS_REPLY_NIL, 0);
    }
    return next_reply(node);
}

/* Sends a release and what comes behind it, whose answers are read before that of the next command.
 */
static inline void tell_both(struct node *node, int count, const char **arguments, int behind_count,
                             const char **behind)
{
    append_command(node, count, arguments);
    append_command(node, behind_count, behind);
    send_all(node);
    node->unread++;
}

/* As load_script(), by TLS, too, and on all. */
static inline void load(struct script *script)
{
    for (struct node *node = nodes; node < nodes + node_count; node++) {
        redisReply *reply = ask(node, 3, (const char *[]){"SCRIPT", "LOAD", script->text});

        check(reply->type == REDIS_REPLY_STRING && reply->len == 40, "SCRIPT LOAD");
        memcpy(script->digest, reply->str, 41);
        freeReplyObject(reply);
    }
}

/* ---- A cluster -------------------------------------------------------------------------- */

/* Its masters, by what this one of them says: for each part of the slots a connection. */
static inline void add_cluster(const char *host, int port)
{
    redisContext *server = redisConnect(host, port);
    redisReply *parts = server && !server->err ? redisCommand(server, "CLUSTER SLOTS") : NULL;

    check(parts && parts->type == REDIS_REPLY_ARRAY && parts->elements > 0
              && parts->elements <= NODES_MAX,
          "CLUSTER SLOTS");
    for (size_t i = 0; i < parts->elements; i++) {
        redisReply **part = parts->element[i]->element, **master = part[2]->element;
        struct node *node = add_node(redisConnect(master[0]->str, (int) master[1]->integer), NULL);

        node->first = (unsigned) part[0]->integer;
        node->last = (unsigned) part[1]->integer;
    }
    freeReplyObject(parts);
    redisFree(server);
    is_cluster = true;
}

static inline struct node *node_of(unsigned slot)
{
    for (struct node *node = nodes; node < nodes + node_count; node++) {
        if (node->first <= slot && slot <= node->last) {
            return node;
        }
    }
    fprintf(stderr, "redis: nobody has slot %u\n", slot);
    exit(EXIT_FAILURE);
}

/* ---- Locks ------------------------------------------------------------------------------ */

/* Its keys, and the server that has them. */
struct lock {
    struct keys keys;
    struct node *node;
};

static inline void set_lock(struct lock *lock, const char *name)
{
    unsigned slot = latch_redis_slot("", 0, name, strlen(name));
    char tag[REDIS_SLOT_TAG_SIZE], own[sizeof "{}:" + REDIS_SLOT_TAG_SIZE] = "";

    if (is_cluster) {
        latch_redis_slot_tag(slot, tag);
        snprintf(own, sizeof own, "{%s}:", tag);
    }
    set_keys(&lock->keys, name, own);
    lock->node = node_of(slot);
}

#endif
