/*
 * Options of DSNs for Redis or Valkey:
 *
 *     redis://[[user:]password@]host[:port][/database][?option=value&...]
 *     redis://[[user:]password@]/path/of/socket[/database][?option=value&...]
 *     redis:?host[host:port]&option=value
 *     redis://[[user:]password@]host:port[/database]?host[host:port]&sentinel=name
 *
 * or the same with valkey:, or, for TLS, with rediss: or valkeys:. The options are those of
 * Symfony's RedisTrait::createConnection():
 *
 *     timeout       seconds to connect in, 0.001 to 86400; 0 is the default
 *     read_timeout  seconds for a command, the same
 *     tcp_keepalive seconds between probes of an idle connection, 0 to 32767; 0 is off
 *     dbindex       the database; must be that of the path if both are given
 *     auth          the password, or auth[]=user&auth[]=password; precedes those before the "@"
 *                   (with Sentinels: theirs, and the server's only if there are none there)
 *     prefix        prepended to every key
 *     peers         auto, yes or no: are there clients that wait by polling, and need a chance?
 *     persistent_id stores with the same ID share a connection of their own
 *     ssl[...]      options of TLS: see tls.c
 *     host[...]     the server, where none stands in the DSN: "host:port" or "/path/of/socket:"
 *     cluster       1: the servers are some of a Redis Cluster, or redis_cluster; 0 is the default
 *     sentinel      name of a master: the servers are Sentinels, which know its address; also
 *                   redis_sentinel and sentinel_master. Empty: none
 *
 * class, cluster_command_timeout, cluster_relay_context, failover, lazy, persistent and
 * retry_interval have no meaning here and are accepted. Of an option that is given twice the last
 * one counts.
 */
#ifndef LATCH_REDIS_OPTIONS_H
#define LATCH_REDIS_OPTIONS_H

#include "src/base/base.h"

#define REDIS_DEFAULT_PORT 6379
#define REDIS_DEFAULT_CONNECT_TIMEOUT_NS (5 * LATCH_NS_PER_S)
#define REDIS_DEFAULT_COMMAND_TIMEOUT_NS (5 * LATCH_NS_PER_S)

#define REDIS_MAX_TIMEOUT_S 86400
#define REDIS_MAX_KEEPALIVE_S 32767

/* Clients that wait by polling, as Symfony's do: present, absent, or to be detected. */
typedef enum { REDIS_PEERS_AUTO = 0, REDIS_PEERS_YES, REDIS_PEERS_NO } redis_peers;

/* Place of a server. */
typedef struct redis_place {
    char *address; /* for messages: "127.0.0.1:6379", "[::1]:6379" or "/run/redis.sock" */
    char *host;    /* in lower case; NULL: a unix socket at `path` */
    char *path;    /* NULL: a host */
    int port;      /* 0 for a unix socket */
} redis_place;

typedef struct redis_options {
    char *identity; /* normal form: one connection for each; holds credentials, never to be shown */
    char *address;  /* for messages: those of all places */
    redis_place *places; /* the server; or the Sentinels, of which there may be several */
    size_t place_count;
    char *user;     /* NULL: none, or the default user */
    char *password; /* NULL: none */
    char *sentinel; /* what the Sentinels call the master; NULL: there are none */
    char *sentinel_user, *sentinel_password; /* as user and password, for the Sentinels */
    bool is_cluster;                         /* the places are some of a cluster's */
    int database;
    char *prefix; /* "" by default */
    size_t prefix_length;
    int64_t connect_timeout_ns;
    int64_t command_timeout_ns;
    int keepalive_s; /* 0: off */
    redis_peers peers;
    struct redis_tls *tls; /* NULL: without TLS */
} redis_options;

/*
 * Reads a DSN. Two have the same identity exactly if they ask for the same connection, however they
 * are written. On success the texts are the caller's, to be freed by latch_redis_options_free(); on
 * failure there is nothing to be freed, and the message names no credential.
 */
latch_status latch_redis_options_parse(latch_engine *engine, const char *dsn, size_t length,
                                       redis_options *options, latch_error *error);

/* "localhost:6379" or "[::1]:6379" */
void latch_redis_write_address(char *text, size_t size, const char *host, int port);

/* The same once more, with texts of its own. False, and nothing to be freed, when memory ran out.
 */
bool latch_redis_options_copy(latch_engine *engine, const redis_options *from, redis_options *to);

/* Wipes and frees the texts. May be called again, and on zeroed options. */
void latch_redis_options_free(latch_engine *engine, redis_options *options);

#endif
