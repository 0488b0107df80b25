/*
 * What a server answers who asks who holds a lock, which locks are held, or takes one away:
 * whatever that is, there is no error of memory, no undefined behaviour, no endless loop, and
 *
 * - what is told is a list of reports with plain texts in them;
 * - errors are told in plain text;
 * - nothing is left of a question that has ended.
 *
 * An input begins with the question: i, p (of a semaphore), l (a list), f (a list with foreign
 * locks) or e; of locks that are strings s, o (the owner), m (a list) or x (whoever it is, away
 * with him). What follows is said by the server, in pieces with NUL bytes between them; then it
 * hangs up, as it does on whoever comes again.
 */
#include "src/latch.h"
#include "support/expect.h"
#include "support/fake_env.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define ROUNDS_MAX 10000

static latch_engine *engine;
static int listener = -1;
static struct sockaddr_un address = {.sun_family = AF_UNIX};

static void make_digest(void *context, latch_digest kind, const struct iovec *parts, int part_count,
                        uint8_t digest[LATCH_DIGEST_MAX])
{
    (void) context;
    (void) kind;
    (void) parts;
    (void) part_count;
    memset(digest, 0xab, LATCH_DIGEST_MAX);
}

static void end_listener(void)
{
    unlink(address.sun_path);
    *strrchr(address.sun_path, '/') = '\0';
    rmdir(address.sun_path);
}

static void set_up(void)
{
    const latch_env env = fake_env(make_digest);
    latch_error error;

    engine = latch_engine_create(&env, &error);
    EXPECT(engine != NULL);
    strcpy(address.sun_path, "/tmp/latch-fuzz-XXXXXX");
    EXPECT(mkdtemp(address.sun_path) != NULL);
    strcat(address.sun_path, "/socket");
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    EXPECT(listener >= 0);
    EXPECT(bind(listener, (struct sockaddr *) &address, sizeof(address)) == 0);
    EXPECT(listen(listener, 8) == 0);
    atexit(end_listener);
}

static void check_text(const char *text)
{
    for (; text != NULL && *text != '\0'; text++) {
        EXPECT((unsigned char) *text >= ' ' && *text != '\177');
    }
}

static void check_reports(const latch_lock_report *report)
{
    for (; report != NULL; report = report->next) {
        EXPECT(report->mode <= LATCH_EXCLUSIVE && report->name[report->name_length] == '\0');
        EXPECT(report->permits_used >= 0);
        for (const latch_holder *holder = report->holders; holder != NULL; holder = holder->next) {
            if (holder->owner != NULL) {
                EXPECT(holder->owner[holder->owner_length] == '\0' && holder->next == NULL);
                continue;
            }
            EXPECT(strlen(holder->identity) == LATCH_IDENTITY_LENGTH);
            EXPECT(strspn(holder->identity, "0123456789abcdef") == LATCH_IDENTITY_LENGTH);
            EXPECT((holder->host == NULL) == (holder->script == NULL));
            EXPECT(holder->number >= 0 && holder->since_us >= 0 && holder->left_ms >= 0);
            EXPECT(holder->permits.weight >= 0 && holder->permits.limit >= 0);
            EXPECT(holder->fencing_token < UINT64_C(1000000000000000000));
            check_text(holder->host);
            check_text(holder->script);
        }
    }
}

/* What the server has to say, one piece for each that it hears; a connection that ends is followed
 * by another. */
static int accepted = -1;

static void hang_up(void)
{
    if (accepted >= 0) {
        close(accepted);
        accepted = -1;
    }
}

static bool hear(void)
{
    static char some[65536];
    bool any = false;

    if (accepted < 0) {
        accepted = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    }
    while (accepted >= 0 && recv(accepted, some, sizeof(some), 0) > 0) {
        any = true;
    }
    return any;
}

static const char *say(const char *at, const char *end)
{
    const char *stop = memchr(at, '\0', (size_t) (end - at));

    stop = stop != NULL ? stop : end;
    if (stop > at) {
        (void) !send(accepted, at, (size_t) (stop - at), MSG_NOSIGNAL);
    }
    return stop < end ? stop + 1 : end;
}

typedef struct question {
    char letter;
    latch_op_kind kind;
    bool is_foreign, is_permit, is_string, is_of_owner;
} question;

static const question questions[] = {
    {'i', LATCH_INSPECT},
    {'p', LATCH_INSPECT, .is_permit = true},
    {'l', LATCH_LIST},
    {'f', LATCH_LIST, .is_foreign = true},
    {'e', LATCH_EVICT},
    {'s', LATCH_INSPECT, .is_string = true},
    {'o', LATCH_INSPECT, .is_string = true, .is_of_owner = true},
    {'m', LATCH_LIST, .is_string = true},
    {'x', LATCH_EVICT, .is_string = true, .is_of_owner = true},
    {'\0'},
};

static latch_status ask(latch_store *store, const question *asked, const char *at, const char *end,
                        latch_lock_report **reports, latch_error *error)
{
    uint64_t evicted = 0;
    const latch_request request = {.kind = asked->kind,
                                   .reports = reports,
                                   .include_peer_locks = asked->is_foreign,
                                   .ask_owner = asked->is_of_owner,
                                   .evicted = asked->is_of_owner ? NULL : "0123456789abcdef",
                                   .evicted_count = &evicted};
    bool lists = asked->kind == LATCH_LIST;
    latch_lease lease;
    latch_status status;
    latch_op op;

    (asked->is_permit ? latch_permit_lease_init : latch_lease_init)(&lease, store,
                                                                    lists ? "" : "r", !lists);
    status = latch_op_begin(&op, &lease, &request, error);
    for (size_t round = 0; latch_wants(status); round++) {
        EXPECT(round < ROUNDS_MAX);
        now_ns += LATCH_NS_PER_MS;
        hear();
        if (accepted >= 0 && at < end) {
            at = say(at, end);
        } else if (accepted >= 0) {
            hang_up();
        }
        status = latch_op_step(&op, now_ns);
    }
    latch_lease_drop(&lease);
    hang_up();
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const question *asked = questions;
    const char *input = (const char *) data;
    latch_lock_report *reports = NULL;
    latch_status status = LATCH_DONE;
    latch_error error;
    latch_store *store;
    char dsn[200];
    latch_store_options options = {.dsn = dsn};
    size_t before;

    if (size == 0) {
        return 0;
    }
    if (engine == NULL) {
        set_up();
    }
    now_ns = LATCH_NS_PER_S;
    random_state = 0;
    before = allocations;
    options.dsn_length =
        (size_t) sprintf(dsn, "redis://%s?prefix=%s", address.sun_path, size % 2 ? "p%3A" : "");
    while (asked->letter != '\0' && asked->letter != *input) {
        asked++;
    }
    store =
        latch_store_open(engine, asked->is_string ? "redis-string" : "redis", &options, &error);
    EXPECT(store != NULL);
    if (asked->letter != '\0') {
        status = ask(store, asked, input + 1, input + size, &reports, &error);
    }
    if (status == LATCH_DONE) {
        check_reports(reports);
    } else {
        EXPECT(latch_failed(status) && reports == NULL);
        check_text(error.message);
    }
    latch_lock_reports_free(engine, reports);
    latch_store_close(store);
    while (hear()) {
    }
    hang_up();
    EXPECT(allocations == before);
    return 0;
}
