/*
 * TLS on the test program's Redis server: a port of its own beside that for plain text, and
 * certificates that were made on the spot (tests/utils/certificates.sh says which).
 */
#ifndef UNIT_REDIS_TLS_H
#define UNIT_REDIS_TLS_H

#include "redis_store.h"
#include "src/store/redis/lock/redis.h"

typedef struct unit_redis_tls {
    int port;
    char directory[UNIT_PATH]; /* with the certificates */
} unit_redis_tls;

extern unit_redis_tls redis_tls_server;

/* Makes the certificates in a folder. */
void redis_tls_certify(const char *directory);

/* For cmocka: the server and the certificates; a test with the certificate "server". */
int redis_tls_group_setup(void **state);
int redis_tls_group_teardown(void **state);
int redis_tls_setup(void **state);

/* The server, from Redis 7 on, speaks TLS, after unit_redis_setup() or a start, with the
 * certificate "server". */
void redis_tls_serve(void);
/* From now on the server shows this certificate to those who connect. */
void redis_tls_show(const char *certificate);
/* From now on it demands one of them. */
void redis_tls_demand(void);

/*
 * A store of "rediss://PLACE", where ":PORT" stands for the server's port, and "@" for the folder
 * of the certificates.
 */
latch_store *redis_tls_open(const char *place);
/* The same at 127.0.0.1, with the right CA, and these options more. */
latch_store *redis_tls_open_with(const char *options);
/* Takes a lock there, and gives it back. */
void redis_tls_expect(const char *place);
/* Cannot connect there, for a reason with this in it. */
void redis_tls_expect_failure(const char *place, const char *message);

#define REDIS_TLS_TEST(test)                                                                       \
    cmocka_unit_test_setup_teardown(test, redis_tls_setup, redis_store_teardown)

#endif
