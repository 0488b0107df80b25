/* A host with several addresses: one that does not answer must not take all the time. */
#include "redis_store.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <unistd.h>

int __real_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **addresses);

static const char *const two[] = {"127.0.0.2", "127.0.0.1"}; /* the server is at the second */

static int answer_two(const char *host, const char *service, const struct addrinfo *hints,
                      struct addrinfo **addresses)
{
    const struct addrinfo digits = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};

    (void) host;
    (void) hints;
    for (size_t at = 0; at < 2; at++) {
        UNIT_CHECK(__real_getaddrinfo(two[at], service, &digits, addresses) == 0);
        addresses = &(*addresses)->ai_next; /* glibc's lists can be joined */
    }
    return 0;
}

static struct sockaddr_in first_address(void)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t) unit_redis.port),
    };

    inet_pton(AF_INET, two[0], &address.sin_addr);
    return address;
}

static latch_status acquire_by_name(void)
{
    latch_store *store = redis_open("redis://two.example:%d?timeout=2", unit_redis.port);
    latch_lease *lease = redis_lease_in(store, "r");
    latch_status status;

    unit_calls.on_getaddrinfo = answer_two;
    status = redis_run(lease, LATCH_ACQUIRE);
    unit_calls.on_getaddrinfo = NULL;
    return status;
}

static void an_address_that_refuses_is_passed_over(void **state)
{
    (void) state;
    UNIT_CHECK(acquire_by_name() == LATCH_DONE && !redis_is_free("r"));
}

/* Nobody takes the connection: the queue of those who want one is full. */
static void an_address_that_does_not_answer_leaves_time_for_the_next(void **state)
{
    const struct sockaddr_in address = first_address();
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), queued[8];

    (void) state;
    UNIT_CHECK(bind(listener, (const struct sockaddr *) &address, sizeof(address)) == 0);
    UNIT_CHECK(listen(listener, 0) == 0);
    for (size_t at = 0; at < 8; at++) {
        queued[at] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        connect(queued[at], (const struct sockaddr *) &address, sizeof(address));
    }
    UNIT_CHECK(acquire_by_name() == LATCH_DONE && !redis_is_free("r"));
    for (size_t at = 0; at < 8; at++) {
        close(queued[at]);
    }
    close(listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_TEST(an_address_that_refuses_is_passed_over),
        REDIS_TEST(an_address_that_does_not_answer_leaves_time_for_the_next),
    };

    return cmocka_run_group_tests_name("redis addresses", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
