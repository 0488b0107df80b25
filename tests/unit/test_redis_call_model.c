/*
 * Exhaustive search: every sequence of calls of a version, a throttle and a count-down, and of
 * pauses between them, by the scripts on a real server with a clock of the test's, and by the
 * in-memory store. Both answer the same; a request that is sent twice, at once or after others, is
 * answered as the first time and changes nothing, or has changed nothing the first time; and what
 * each primitive promises holds. LATCH_MODEL_TELL=1 tells how much was searched, LATCH_MODEL_ALL=1
 * searches more.
 */
#include "calls.h"
#include "redis_sides.h"

#include "redis_scripts.h"

#include <inttypes.h>
#include <stdlib.h>

enum { DEEPEST = 8, STEPS_MAX = 16 };

/* For so long a record knows a request again (requests.lua). */
enum { MEMORY_MS = 60000 };

/* A call, or a pause. */
typedef struct model_step {
    latch_function function;
    const char *name; /* of the function, to the script; NULL: a pause */
    const char *arguments[4];
    int64_t pass_ms;
} model_step;

/* A request of this sequence, which may be sent again. */
typedef struct model_request {
    const model_step *step;
    char id[24], answer[512];
    int64_t asked_ms;
    bool is_known; /* to the record, by its identity */
} model_request;

typedef struct model {
    const char *name;
    const char *script;
    const char *kinds[2]; /* of its keys */
    model_step steps[STEPS_MAX];
    size_t opening[3]; /* every sequence begins with so many steps, and these */
    size_t depth;      /* of the rest */
    void (*begin)(void);
    /* Looks at the answer to a request. */
    void (*look)(const model_request *request, const char *answer);
} model;

static int64_t passed_ms; /* in this sequence */
static size_t sequences, calls, requests;
static const model_step *path[DEEPEST];
static size_t path_length;

#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fail_path(#condition);                                                                 \
        }                                                                                          \
    } while (0)

static bool is_claimant(const model_request *request);

static void fail_path(const char *promise)
{
    for (size_t at = 0; at < path_length; at++) {
        const model_step *step = path[at];

        print_message("%s", step->name != NULL ? step->name : "pass");
        for (size_t argument = 0; argument < 4 && step->arguments[argument] != NULL; argument++) {
            print_message(" \"%s\"", step->arguments[argument]);
        }
        print_message("; ");
    }
    print_message("\n");
    fail_msg("broken: %s", promise);
}

/* ---- By the scripts */

static char digest_of_script[48], digest_of_reader[48];

/* Command of a script, with its keys. */
typedef struct model_command {
    const char *arguments[16];
    size_t count;
    char keys[2][64];
} model_command;

static void begin_command(model_command *command, const model *tried, const char *resource,
                          const char *digest)
{
    *command = (model_command){.arguments = {"EVALSHA", digest, "0"}, .count = 3};
    for (size_t at = 0; at < 2 && tried->kinds[at] != NULL; at++) {
        snprintf(command->keys[at], sizeof(command->keys[at]), "latch:%s%s", tried->kinds[at],
                 resource);
        command->arguments[command->count++] = command->keys[at];
        command->arguments[2] = at == 0 ? "1" : "2";
    }
}

static char *ask_script(const model *tried, const char *resource, const model_step *step,
                        const char *id)
{
    static char told[512];
    model_command command;
    size_t length = 0;
    redisReply *reply;

    begin_command(&command, tried, resource, digest_of_script);
    command.arguments[command.count++] = id;
    command.arguments[command.count++] = step->name;
    for (size_t at = 0; at < 4 && step->arguments[at] != NULL; at++) {
        command.arguments[command.count++] = step->arguments[at];
    }
    reply = run_on_clock(command.count, command.arguments);
    if (reply->type == REDIS_REPLY_ERROR) {
        fail_path(reply->str);
    }
    UNIT_CHECK(reply->type == REDIS_REPLY_ARRAY);
    told[0] = '\0';
    for (size_t at = 0; at < reply->elements; at++) {
        length += (size_t) snprintf(told + length, sizeof(told) - length, "%s%s", at > 0 ? "," : "",
                                    reply->element[at]->str);
        UNIT_CHECK(length < sizeof(told));
    }
    freeReplyObject(reply);
    requests++;
    return told;
}

/* Cuts the names of members off, which are in no order. */
static void cut_names(const model_step *step, char *answer)
{
    for (int part = 0; step->function == LATCH_COUNT_DOWN_INSPECT && *answer != '\0'; answer++) {
        if (*answer == ',' && ++part == 6) {
            *answer = '\0';
            return;
        }
    }
}

/* What is in the server, as a text: the record, and the requests that it knows again. */
typedef struct model_record {
    char state[512], requests[1024];
} model_record;

static const char reader[] =
    "local out, requests = {}, '' for _, key in ipairs(KEYS) do "
    "if redis.call('TYPE', key).ok == 'string' then "
    "out[1], requests = string.match(redis.call('GET', key), '^(%d+) (.*)$') else "
    "local all = redis.call('HGETALL', key) for at = 1, #all, 2 do "
    "if all[at] == 'requests' then requests = all[at + 1] "
    "else out[#out + 1] = all[at] .. '=' .. all[at + 1] end end end end "
    "table.sort(out) return {table.concat(out, ' '), requests}";

static void read_record(const model *tried, const char *resource, model_record *record)
{
    model_command command;
    redisReply *reply;

    begin_command(&command, tried, resource, digest_of_reader);
    reply = redisCommandArgv(unit_redis.connection, (int) command.count, command.arguments, NULL);
    UNIT_CHECK(reply != NULL && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2);
    UNIT_CHECK(reply->element[0]->len < sizeof(record->state));
    UNIT_CHECK(reply->element[1]->len < sizeof(record->requests));
    strcpy(record->state, reply->element[0]->str);
    strcpy(record->requests, reply->element[1]->str);
    freeReplyObject(reply);
}

static bool knows_request(const model_record *record, const model_request *request)
{
    char key[32];

    snprintf(key, sizeof(key), "%s:", request->id);
    return strstr(record->requests, key) != NULL;
}

static model_request sent[DEEPEST];
static size_t sent_count;

/* Arrivals and ends are idempotent by what they say. */
static bool is_recorded_when_it_changes(const model_step *step)
{
    return step->function != LATCH_COUNT_DOWN_ARRIVE && step->function != LATCH_COUNT_DOWN_DONE;
}

static bool is_reading(const model_step *step)
{
    return step->function == LATCH_VERSION_GET || step->function == LATCH_THROTTLE_LOOK
           || step->function == LATCH_COUNT_DOWN_INSPECT;
}

static void expect_answer(const char *when, const char *answer, const char *expected)
{
    if (strcmp(answer, expected) != 0) {
        print_message("%s: Redis says \"%s\", and not \"%s\"\n", when, answer, expected);
        fail_path("both answer the same");
    }
}

/* The request is carried out by both. */
static void run_request(const model *tried, const char *resource, model_request *request)
{
    const model_step *step = request->step;
    const char *const *arguments = step->arguments;
    model_record before, after;

    read_record(tried, resource, &before);
    snprintf(request->answer, sizeof(request->answer), "%s",
             unit_call_run(resource, step->function, arguments[0], arguments[1], arguments[2],
                           arguments[3], NULL));
    cut_names(step, request->answer);
    request->asked_ms = passed_ms;
    for (int sending = 0; sending < 2; sending++) {
        char *answer = ask_script(tried, resource, step, request->id);

        cut_names(step, answer);
        expect_answer(sending == 0 ? "first" : "sent again", answer, request->answer);
        if (sending == 0) {
            read_record(tried, resource, &after);
        }
    }
    request->is_known = knows_request(&after, request);
    if (is_recorded_when_it_changes(step) && !request->is_known) {
        HOLDS(strcmp(before.state, after.state) == 0);
    }
    read_record(tried, resource, &before);
    HOLDS(strcmp(before.state, after.state) == 0);
    tried->look(request, request->answer);
}

/* What is left of a throttle's wait. */
static void age_answer(const model_request *request, char *answer, size_t size)
{
    int64_t wait_us = 0;

    snprintf(answer, size, "%s", request->answer);
    if (request->step->function == LATCH_THROTTLE_RESERVE) {
        wait_us = atoll(answer + 2) - 1000 * (passed_ms - request->asked_ms);
        snprintf(answer, size, "1,%" PRId64, wait_us > 0 ? wait_us : 0);
    }
}

/* A request is sent again, after others: as the first time if that is known, else it is one more.
 */
static void repeat_request(const model *tried, const char *resource, model_request *request)
{
    model_record before, after;
    char expected[512];
    bool is_known;

    if (is_reading(request->step)) {
        return;
    }
    read_record(tried, resource, &before);
    is_known = knows_request(&before, request);
    HOLDS(is_known || !request->is_known || passed_ms - request->asked_ms > MEMORY_MS);
    if (!is_known && !is_claimant(request)) {
        run_request(tried, resource, request);
        return;
    }
    age_answer(request, expected, sizeof(expected));
    expect_answer("sent again after others",
                  ask_script(tried, resource, request->step, request->id), expected);
    read_record(tried, resource, &after);
    HOLDS(strcmp(before.state, after.state) == 0);
}

static void run_step(const model *tried, const char *resource, const model_step *step)
{
    model_request *request;

    if (step->name == NULL) {
        passed_ms += step->pass_ms;
        clock_us += 1000 * step->pass_ms;
        unit.now_ns += step->pass_ms * LATCH_NS_PER_MS;
    } else {
        request = &sent[sent_count++];
        *request = (model_request){.step = step};
        snprintf(request->id, sizeof(request->id), "%020zu", calls++);
        run_request(tried, resource, request);
    }
    if (sent_count > 1) {
        repeat_request(tried, resource, &sent[sent_count - 2]);
    }
    if (sent_count > 3) {
        repeat_request(tried, resource, &sent[0]);
    }
}

static size_t count_steps(const model *tried)
{
    size_t count = 0;

    while (count < STEPS_MAX
           && (tried->steps[count].name != NULL || tried->steps[count].pass_ms > 0)) {
        count++;
    }
    return count;
}

static void take_step(const model *tried, const char *resource, size_t step)
{
    path[path_length++] = &tried->steps[step];
    run_step(tried, resource, &tried->steps[step]);
}

static void search(const model *tried)
{
    size_t steps = count_steps(tried), total = 1;
    size_t depth = tried->depth + (getenv("LATCH_MODEL_ALL") != NULL ? 1 : 0);

    if (!is_under_test(tried->script)) {
        return;
    }
    calls = requests = 0;
    load_on_clock(tried->script, digest_of_script);
    load_on_clock(reader, digest_of_reader);
    for (size_t at = 0; at < depth; at++) {
        total *= steps;
    }
    for (sequences = 0; sequences < total; sequences++) {
        size_t rest = sequences;
        char resource[24];

        snprintf(resource, sizeof(resource), "r%zu", sequences);
        passed_ms = 0;
        tried->begin();
        path_length = sent_count = 0;
        for (size_t at = 1; at <= tried->opening[0]; at++) {
            take_step(tried, resource, tried->opening[at]);
        }
        for (size_t at = 0; at < depth; at++, rest /= steps) {
            take_step(tried, resource, rest % steps);
        }
        if (sequences % 1024 == 0) {
            unit_redis_ask("FLUSHALL");
        }
    }
    if (getenv("LATCH_MODEL_TELL") != NULL) {
        print_message("%s: %zu sequences of %zu, %zu requests\n", tried->name, sequences, depth,
                      requests);
    }
}

/* ---- Versions: nothing is let through that is not newer than all that was, and has not failed */

static struct {
    bool was_let_through[10], has_failed[10];
} gate;

static void begin_gate(void)
{
    memset(&gate, 0, sizeof(gate));
}

static void look_at_gate(const model_request *request, const char *answer)
{
    const model_step *step = request->step;
    int version = step->function == LATCH_VERSION_GET ? 0 : atoi(step->arguments[1]);

    if (step->function == LATCH_VERSION_REVERT && gate.was_let_through[version]) {
        gate.has_failed[version] = true;
    }
    if (step->function != LATCH_VERSION_ADVANCE || strcmp(answer, "1") != 0) {
        return;
    }
    for (int other = version + (step->arguments[2][0] == '1' ? 1 : 0); other < 10; other++) {
        HOLDS(!gate.was_let_through[other] || gate.has_failed[other]);
    }
    gate.was_let_through[version] = true;
    gate.has_failed[version] = false;
}

static void versions_never_go_back(void **state)
{
    static const model versions = {
        .name = "versions",
        .script = REDIS_LUA_REQUESTS REDIS_LUA_VERSION,
        .kinds = {"version:"},
        .steps =
            {
                {LATCH_VERSION_ADVANCE, "advance", {"3600000", "1", "0"}, 0},
                {LATCH_VERSION_ADVANCE, "advance", {"3600000", "2", "0"}, 0},
                {LATCH_VERSION_ADVANCE, "advance", {"3600000", "3", "0"}, 0},
                {LATCH_VERSION_ADVANCE, "advance", {"3600000", "2", "1"}, 0},
                {LATCH_VERSION_REVERT, "revert", {"3600000", "1"}, 0},
                {LATCH_VERSION_REVERT, "revert", {"3600000", "2"}, 0},
                {LATCH_VERSION_REVERT, "revert", {"3600000", "3"}, 0},
            },
        .opening = {2, 0, 1},
        .depth = 4,
        .begin = begin_gate,
        .look = look_at_gate,
    };

    (void) state;
    search(&versions);
}

/* ---- Throttles: begins are a step apart */

static int64_t last_begin_us;

static void begin_throttle(void)
{
    last_begin_us = INT64_MIN / 2;
}

static void look_at_throttle(const model_request *request, const char *answer)
{
    const model_step *step = request->step;
    int64_t begin_us;

    if (step->function != LATCH_THROTTLE_RESERVE || answer[0] != '1') {
        return;
    }
    begin_us = 1000 * passed_ms + atoll(answer + 2);
    HOLDS(begin_us - last_begin_us >= 100000000);
    HOLDS(atoll(answer + 2) <= atoll(step->arguments[2]));
    last_begin_us = begin_us;
}

static void begins_are_a_step_apart(void **state)
{
    static const model throttles = {
        .name = "throttles",
        .script = REDIS_LUA_REQUESTS REDIS_LUA_THROTTLE,
        .kinds = {"throttle:"},
        .steps =
            {
                {LATCH_THROTTLE_RESERVE, "reserve", {"100000000", "0", "0"}, 0},
                {LATCH_THROTTLE_RESERVE, "reserve", {"100000000", "0", "150000000"}, 0},
                {LATCH_THROTTLE_RESERVE, "reserve", {"100000000", "0", "946080000000000"}, 0},
                {LATCH_THROTTLE_LOOK, "look", {"100000000", "0"}, 0},
                {.pass_ms = 50000},
                {.pass_ms = 100000},
            },
        .opening = {1, 0},
        .depth = 4,
        .begin = begin_throttle,
        .look = look_at_throttle,
    };

    (void) state;
    search(&throttles);
}

/* ---- Count-downs: the payload is given away once, and never while a member is left */

static struct {
    unsigned members, arrived; /* a set of bits */
    bool is_done;
    int64_t claim_ms;  /* end of the claim */
    char claimant[24]; /* the request that has it */
} down;

static void begin_count(void)
{
    memset(&down, 0, sizeof(down));
}

/* Has it been given the payload, and time for the last step? */
static bool is_claimant(const model_request *request)
{
    return request->step->function == LATCH_COUNT_DOWN_ARRIVE
           && strcmp(request->id, down.claimant) == 0 && !down.is_done && passed_ms < down.claim_ms;
}

static void look_at_count(const model_request *request, const char *answer)
{
    const model_step *step = request->step;
    if (step->function == LATCH_COUNT_DOWN_OPEN && strcmp(answer, "1") == 0) {
        begin_count();
        down.members = step->arguments[1][3] == '\0' ? 1 : 3;
    } else if (step->function == LATCH_COUNT_DOWN_ARRIVE
               && (strncmp(answer, "open", 4) == 0 || strncmp(answer, "arrived", 7) == 0
                   || strncmp(answer, "done", 4) == 0)) {
        down.arrived |= step->arguments[1][0] == 'a' ? 1 : 2;
        HOLDS((strncmp(answer, "open", 4) == 0) == ((down.arrived & down.members) != down.members));
        if (strncmp(answer, "arrived,0,1", 11) == 0) {
            HOLDS((down.arrived & down.members) == down.members && !down.is_done);
            HOLDS(passed_ms >= down.claim_ms);
            down.claim_ms = passed_ms + 10000;
            strcpy(down.claimant, request->id);
        }
    } else if (step->function == LATCH_COUNT_DOWN_DONE && strncmp(answer, "done", 4) == 0) {
        HOLDS((down.arrived & down.members) == down.members);
        down.is_done = true;
    } else if (step->function == LATCH_COUNT_DOWN_CANCEL && strcmp(answer, "1") == 0) {
        begin_count();
    }
}

static void a_payload_is_given_away_once(void **state)
{
    static const model counts = {
        .name = "count-downs",
        .script = REDIS_LUA_REQUESTS REDIS_LUA_COUNT_DOWN,
        .kinds = {"count:", "count-members:"},
        .steps =
            {
                {LATCH_COUNT_DOWN_OPEN, "open", {"3600000", "1 a1 b", "p"}, 0},
                {LATCH_COUNT_DOWN_OPEN, "open", {"3600000", "1 a"}, 0},
                {LATCH_COUNT_DOWN_ARRIVE, "arrive", {"3600000", "a", "0", "10000"}, 0},
                {LATCH_COUNT_DOWN_ARRIVE, "arrive", {"3600000", "b", "0", "10000"}, 0},
                {LATCH_COUNT_DOWN_ARRIVE, "arrive", {"3600000", "a", "1", "10000"}, 0},
                {LATCH_COUNT_DOWN_DONE, "done", {"3600000"}, 0},
                {LATCH_COUNT_DOWN_CANCEL, "cancel", {NULL}, 0},
                {LATCH_COUNT_DOWN_INSPECT, "inspect", {NULL}, 0},
                {.pass_ms = 10000},
            },
        .opening = {1, 0},
        .depth = 4,
        .begin = begin_count,
        .look = look_at_count,
    };

    (void) state;
    search(&counts);
}

static int setup(void **state)
{
    unit_redis_setup(state);
    if (unit_setup_memory(state) != 0) {
        return -1;
    }
    clock_us = unit_redis_now_us();
    unit.now_ns += LATCH_NS_PER_S - unit.now_ns % LATCH_NS_PER_S; /* whole microseconds */
    return 0;
}

#define MODEL_TEST(test) cmocka_unit_test_setup_teardown(test, setup, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(versions_never_go_back),
        MODEL_TEST(begins_are_a_step_apart),
        MODEL_TEST(a_payload_is_given_away_once),
    };

    return cmocka_run_group_tests_name("redis call model", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
