/*
 * Inside the client objects of Redis: client.c (their kinds, and calls of their methods) and
 * answer.c (parsing of what they return).
 */
#ifndef PHP_LATCH_REDIS_CALL_H
#define PHP_LATCH_REDIS_CALL_H

#include "ext/store/redis/client.h"

/* A kind of client objects. */
typedef struct php_latch_redis_kind {
    const char *class; /* in lower case */
    bool is_cluster;
    bool is_array;  /* \RedisArray: \Redis objects, among which it chooses by the key */
    bool is_predis; /* else they have the methods of \Redis */
} php_latch_redis_kind;

typedef struct php_latch_redis_session {
    php_latch_client client;
    const php_latch_redis_kind *kind;
    bool is_cluster;
    zend_object *shards; /* Predis's connection, if it chooses among servers; a reference */
    zend_string *prefix; /* persistent, as of prepare(); NULL before */
} php_latch_redis_session;

/* Call of PHP code, and its result. */
typedef struct php_latch_redis_call {
    php_latch_redis_session *session;
    const latch_redis_script *script;
    bool as_text;          /* send the script's text, not its digest */
    zend_string *resource; /* for prepare(); or NULL */
    zend_object *node;     /* whose methods are called; a reference */
    latch_redis_answer *answer;
    const char *trouble; /* why the client cannot, or must not, be called; NULL: no reason */
    bool is_queued;
    char failure[128]; /* failure of the client, which has not thrown it; or "" */
} php_latch_redis_call;

/* Is it of that class, if the class is loaded? */
bool php_latch_is_a(zend_object *object, const char *lower_name);
void php_latch_copy_text(char *copy, size_t size, const zval *text);
/*
 * Calls a method that returns a value of that type; undefined if it is another, or after a throw.
 */
void php_latch_redis_call_typed(zend_object *object, const char *method, zval *argument, int type,
                                zval *answer);

/* ---- answer.c */

/* Predis's form of what a server says: of exceptions, and of what is returned. */
bool php_latch_is_predis_error(zend_object *object);
/* Sets the answer to that error of the server. */
void php_latch_redis_set_error(latch_redis_answer *answer, const zval *text);
/* Parses what a client returned. */
void php_latch_redis_parse_answer(php_latch_redis_call *call, const zval *value);
/*
 * Reads the last error of phpredis: an answer if it is the server's, else call->failure. True if
 * there is one.
 */
bool php_latch_redis_read_last_error(php_latch_redis_call *call);

#endif
