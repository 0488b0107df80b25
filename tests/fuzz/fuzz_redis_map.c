/*
 * What a server of a cluster says of the others: maps ("CLUSTER SLOTS") and redirections, whatever
 * is in them: no error of memory, no undefined behaviour, and
 *
 * - every slot that has an owner has one that is known, at a host and a port;
 * - nobody is known twice by one address;
 * - what is no map, or no redirection, changes nothing of that;
 * - nothing is left when the store is closed.
 *
 * An input is redirections, each of which ends at a newline, and behind an empty one a map as the
 * server writes it.
 */
#include "src/store/redis/lock/redis.h"
#include "src/store/redis/topology/cluster.h"
#include "support/expect.h"

#include <stdlib.h>
#include <string.h>

#define DSN "redis://seed:7000?host[[::1]:7001]&redis_cluster=1"
/* As in redis/wire/pipeline.c. */
#define ELEMENTS_MAX 16384

static redisReplyObjectFunctions functions;
static const redisReplyObjectFunctions *originals;

#if HIREDIS_MAJOR == 0
typedef int element_count;
#else
typedef size_t element_count;
#endif

static void *create_array(const redisReadTask *task, element_count count)
{
    return count <= ELEMENTS_MAX ? originals->createArray(task, count) : NULL;
}

static void check(const redis_store *store)
{
    const redis_cluster *cluster = store->topology.cluster;

    for (size_t slot = 0; slot < REDIS_SLOTS; slot++) {
        EXPECT(cluster->owners[slot] <= cluster->count);
    }
    for (size_t at = 0; at < cluster->count; at++) {
        const redis_place *place = &cluster->nodes[at]->cluster_info.place;

        EXPECT(place->host != NULL && *place->host != '\0' && place->path == NULL);
        EXPECT(place->port >= 1 && place->port <= 65535);
        EXPECT(cluster->nodes[at]->topology == &store->topology);
        for (size_t other = 0; other < at; other++) {
            EXPECT(strcmp(place->address, cluster->nodes[other]->cluster_info.place.address) != 0);
        }
    }
}

/* The line as a text of its own, which ends where its memory ends. */
static void redirect(redis_store *store, const char *line, size_t length)
{
    redis_node *node = latch_redis_next_node(&store->topology, NULL);
    redis_route route = {.node = node, .since_ns = 1};
    latch_error error;
    latch_op op = {.error = &error};
    char *text = malloc(length + 1);
    bool is_one;

    EXPECT(text != NULL);
    memcpy(text, line, length);
    text[length] = '\0';
    is_one = latch_redis_apply_redirect(node, text);
    if (latch_redis_route_redirect(&route, &op, text, 1)) {
        EXPECT(is_one);
        EXPECT(route.node != NULL || route.retry_ns > 1); /* to somebody, or later */
    }
    free(text);
}

static void read_map(redis_store *store, const uint8_t *data, size_t size)
{
    redis_node *node = latch_redis_next_node(&store->topology, NULL);
    redisReader *reader = redisReaderCreate();
    void *reply = NULL;

    EXPECT(reader != NULL);
    originals = reader->fn;
    functions = *originals;
    functions.createArray = create_array;
    reader->fn = &functions;
    if (redisReaderFeed(reader, (const char *) data, size) == REDIS_OK
        && redisReaderGetReply(reader, &reply) == REDIS_OK && reply != NULL) {
        bool is_map = latch_redis_apply_slot_map(node, reply);

        EXPECT(!is_map || ((redisReply *) reply)->type == REDIS_REPLY_ARRAY);
        freeReplyObject(reply);
    }
    redisReaderFree(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const latch_store_options options = {.dsn = DSN, .dsn_length = strlen(DSN)};
    latch_env env = latch_env_system();
    latch_error error;
    latch_engine *engine = latch_engine_create(&env, &error);
    latch_store *store = latch_store_open(engine, "redis", &options, &error);
    const uint8_t *end;

    EXPECT(store != NULL);
    while (size > 0 && (end = memchr(data, '\n', size)) != NULL && end > data) {
        redirect((redis_store *) store, (const char *) data, (size_t) (end - data));
        size -= (size_t) (end + 1 - data);
        data = end + 1;
    }
    check((redis_store *) store);
    if (size > 0) {
        read_map((redis_store *) store, data + 1, size - 1);
        check((redis_store *) store);
    }
    latch_store_close(store);
    latch_engine_destroy(engine);
    return 0;
}
