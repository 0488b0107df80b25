/* TLS on the test program's Redis server: see redis_tls.h. */
#include "redis_tls.h"

#include <stdlib.h>
#include <unistd.h>

unit_redis_tls redis_tls_server;

static int port_keeper;

void redis_tls_certify(const char *directory)
{
    char command[2 * UNIT_PATH];

    snprintf(command, sizeof(command), "%s %s", UNIT_CERTIFICATES, directory);
    UNIT_CHECK(system(command) == 0);
}

int redis_tls_group_setup(void **state)
{
    unit_redis_group_setup(state);
    unit_make_temporary(redis_tls_server.directory);
    redis_tls_certify(redis_tls_server.directory);
    redis_tls_server.port = unit_redis_keep_port(&port_keeper);
    return 0;
}

int redis_tls_group_teardown(void **state)
{
    unit_redis_group_teardown(state);
    close(port_keeper);
    unit_remove_temporary(redis_tls_server.directory);
    return 0;
}

void redis_tls_show(const char *certificate)
{
    const char *directory = redis_tls_server.directory;

    unit_redis_ask("CONFIG SET tls-cert-file %s/%s.crt tls-key-file %s/%s.key", directory,
                   certificate, directory, certificate);
}

void redis_tls_demand(void)
{
    unit_redis_ask("CONFIG SET tls-auth-clients yes");
}

void redis_tls_serve(void)
{
    const char *directory = redis_tls_server.directory;

    unit_redis_ask("CONFIG SET tls-port %d tls-auth-clients no tls-ca-cert-file %s/ca.crt"
                   " tls-cert-file %s/server.crt tls-key-file %s/server.key",
                   redis_tls_server.port, directory, directory, directory);
}

int redis_tls_setup(void **state)
{
    int result = redis_store_setup(state);

    redis_tls_serve();
    return result;
}

latch_store *redis_tls_open(const char *place)
{
    char dsn[512];
    size_t length = 0;

    for (; *place != '\0'; place++) {
        if (strncmp(place, ":PORT", 5) == 0) {
            place += 4;
            length +=
                (size_t) snprintf(dsn + length, sizeof(dsn) - length, ":%d", redis_tls_server.port);
        } else if (*place == '@') {
            length += (size_t) snprintf(dsn + length, sizeof(dsn) - length, "%s/",
                                        redis_tls_server.directory);
        } else {
            length += (size_t) snprintf(dsn + length, sizeof(dsn) - length, "%c", *place);
        }
        UNIT_CHECK(length < sizeof(dsn));
    }
    return redis_open("rediss://%s", dsn);
}

latch_store *redis_tls_open_with(const char *options)
{
    char place[400];

    snprintf(place, sizeof(place), "127.0.0.1:PORT?ssl[cafile]=@ca.crt&%s", options);
    return redis_tls_open(place);
}

void redis_tls_expect(const char *place)
{
    latch_store *store = redis_tls_open(place);

    if (store == NULL) {
        fail_msg("%s: %s", place, unit.error.message);
    }
    redis_expect_working(redis_lease_in(store, "r"));
    redis_store_forget();
}

void redis_tls_expect_failure(const char *place, const char *message)
{
    latch_store *store = redis_tls_open(place);
    latch_lease *lease;

    if (store == NULL) {
        fail_msg("%s: %s", place, unit.error.message);
    }
    lease = redis_lease_in(store, "r");
    if (!redis_failed(redis_run(lease, LATCH_ACQUIRE), message)) {
        fail_msg("%s: not so", place);
    }
    UNIT_CHECK(strstr(unit.error.message, "cannot connect to Redis at ") != NULL
               || strstr(unit.error.message, "lost the connection to Redis at ") != NULL);
    UNIT_CHECK(redis_is_free("r"));
    redis_store_forget();
}
