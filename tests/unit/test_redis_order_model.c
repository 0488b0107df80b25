/*
 * Exhaustive search: every sequence of calls of a sequence and a debounce, and of pauses between
 * them, by the scripts on a real server with a clock of the test's, and by the in-memory store.
 * Both answer the same; a request that is sent twice is answered the same twice; and what each
 * primitive promises holds, by rules that know nothing of the scripts. LATCH_MODEL_TELL=1 tells how
 * much was searched, LATCH_MODEL_ALL=1 searches more. test_redis_call_model.c does so with the
 * others.
 */
#include "calls.h"
#include "redis_sides.h"

#include "redis_scripts.h"

#include <inttypes.h>
#include <stdlib.h>

enum { DEEPEST = 16, STEPS_MAX = 16, OPENING_MAX = 5, TICKETS_MAX = 16 };

/*
 * A call, or a pause. An argument "#0" is the first ticket, or token, that was given out in this
 * sequence; "#-1" the last one. A call of one that was not given out is left out.
 */
typedef struct model_step {
    latch_function function;
    const char *name; /* of the function, to the script; NULL: a pause */
    const char *arguments[4];
    int64_t pass_ms;
} model_step;

typedef struct model model;

struct model {
    const char *name;
    const char *script;
    const char *kinds[3]; /* of its keys */
    model_step steps[STEPS_MAX];
    size_t opening[1 + OPENING_MAX]; /* every sequence begins with so many steps, and these */
    size_t depth;                    /* of the rest */
    void (*begin)(void);
    void (*look)(const model_step *step, const char *answer);
    void (*end)(const model *tried, const char *resource); /* after each sequence; NULL: nothing */
};

static int64_t passed_ms; /* in this sequence */
static size_t requests;
static char digest[48]; /* of the script that is tried */
static const model_step *path[DEEPEST];
static size_t path_length;

#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fail_path(#condition);                                                                 \
        }                                                                                          \
    } while (0)

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

/* ---- Tickets and tokens: as both sides have them, and "#0", "#1" ... to the model */

typedef struct ticket_text {
    char text[24];
} ticket_text;

static ticket_text tickets[TICKETS_MAX];
static size_t ticket_count;

/* The ticket that an argument or an answer means; ticket_count: none. */
static size_t ticket_of(const char *text)
{
    long number = text != NULL && text[0] == '#' ? atol(text + 1) : (long) ticket_count;
    size_t place = number < 0 ? ticket_count - (size_t) -number : (size_t) number;

    return place < ticket_count ? place : ticket_count;
}

/* The step's arguments with the tickets. False: one of them was not given out. */
static bool translate(const model_step *step, const char *given[4])
{
    for (size_t at = 0; at < 4; at++) {
        given[at] = step->arguments[at];
        if (given[at] != NULL && given[at][0] == '#') {
            if (ticket_of(given[at]) == ticket_count) {
                return false;
            }
            given[at] = tickets[ticket_of(given[at])].text;
        }
    }
    return true;
}

/* Puts "#0" and the like in the place of the ticket with which an answer begins. */
static void name_ticket(const model_step *step, char answer[512])
{
    size_t length = strcspn(answer, ","), place = 0;
    char text[24], rest[512];

    if (length == 0 || step->function == LATCH_SEQUENCE_RESUME
        || step->function == LATCH_DEBOUNCE_RESUME) {
        return;
    }
    UNIT_CHECK(length < sizeof(text) && ticket_count < TICKETS_MAX);
    snprintf(text, sizeof(text), "%.*s", (int) length, answer);
    while (place < ticket_count && strcmp(tickets[place].text, text) != 0) {
        place++;
    }
    if (place == ticket_count) {
        strcpy(tickets[ticket_count++].text, text);
    }
    snprintf(rest, sizeof(rest), "%s", answer + length);
    snprintf(answer, 512, "#%zu%.480s", place, rest);
}

/* ---- Both sides */

/* Asks the script, and returns its answer's parts with "," between them. */
static const char *ask_script(const model *tried, const char *resource, const model_step *step,
                              const char *const given[4], const char *id)
{
    static char told[512];
    char keys[3][64];
    const char *arguments[16] = {"EVALSHA", digest, "0"};
    size_t count = 3, length = 0;
    redisReply *reply;

    for (size_t at = 0; at < 3 && tried->kinds[at] != NULL; at++) {
        snprintf(keys[at], sizeof(keys[at]), "latch:%s%s", tried->kinds[at], resource);
        arguments[count++] = keys[at];
        arguments[2] = (const char *[]){"1", "2", "3"}[at];
    }
    arguments[count++] = id;
    arguments[count++] = step->name;
    for (size_t at = 0; at < 4 && given[at] != NULL; at++) {
        arguments[count++] = given[at];
    }
    reply = run_on_clock(count, arguments);
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

static void run_step(const model *tried, const char *resource, const model_step *step)
{
    const char *given[4];
    char id[24], told[512];

    if (step->name == NULL) {
        passed_ms += step->pass_ms;
        clock_us += 1000 * step->pass_ms;
        unit.now_ns += step->pass_ms * LATCH_NS_PER_MS;
        unit.wall_ns += step->pass_ms * LATCH_NS_PER_MS;
        return;
    }
    if (!translate(step, given)) {
        return;
    }
    snprintf(id, sizeof(id), "%020zu", requests);
    snprintf(told, sizeof(told), "%s",
             unit_call_run(resource, step->function, given[0], given[1], given[2], given[3], NULL));
    for (int sending = 0; sending < 2; sending++) {
        const char *answer = ask_script(tried, resource, step, given, id);

        if (strcmp(answer, told) != 0) {
            print_message("%s: Redis says \"%s\", memory \"%s\"\n",
                          sending == 0 ? "first" : "sent again", answer, told);
            fail_path("both answer the same");
        }
    }
    name_ticket(step, told);
    tried->look(step, told);
}

static void take_step(const model *tried, const char *resource, size_t step)
{
    path[path_length++] = &tried->steps[step];
    run_step(tried, resource, &tried->steps[step]);
}

static void search(const model *tried)
{
    size_t depth = tried->depth + (getenv("LATCH_MODEL_ALL") != NULL ? 1 : 0);
    size_t steps = 0, total = 1;

    if (!is_under_test(tried->script)) {
        return;
    }
    while (steps < STEPS_MAX
           && (tried->steps[steps].name != NULL || tried->steps[steps].pass_ms > 0)) {
        steps++;
    }
    for (size_t at = 0; at < depth; at++) {
        total *= steps;
    }
    requests = 0;
    load_on_clock(tried->script, digest);
    for (size_t number = 0; number < total; number++) {
        size_t rest = number;
        char resource[24];

        snprintf(resource, sizeof(resource), "r%zu", number);
        passed_ms = 0;
        path_length = ticket_count = 0;
        tried->begin();
        for (size_t at = 1; at <= tried->opening[0]; at++) {
            take_step(tried, resource, tried->opening[at]);
        }
        for (size_t at = 0; at < depth; at++, rest /= steps) {
            take_step(tried, resource, rest % steps);
        }
        if (tried->end != NULL) {
            tried->end(tried, resource);
        }
        if (number % 1024 == 0) {
            unit_redis_ask("FLUSHALL");
        }
    }
    if (getenv("LATCH_MODEL_TELL") != NULL) {
        print_message("%s: %zu sequences of %zu, %zu requests\n", tried->name, total, depth,
                      requests);
    }
}

/* ---- Sequences: one head, in order, whose owner nobody disturbs; what is parked comes out */

typedef enum { ENTRY_NONE, ENTRY_WAITS, ENTRY_ENDED, ENTRY_ABANDONED } entry_state;

static struct {
    entry_state entries[TICKETS_MAX];
    bool is_parked[TICKETS_MAX];
    char owner;
    int64_t lease_ms, seen_ms; /* the lease's end, and the last sign of life */
} queue;

static void begin_queue(void)
{
    memset(&queue, 0, sizeof(queue));
}

static size_t head_of_queue(void)
{
    size_t at = 0;

    while (at < TICKETS_MAX && queue.entries[at] != ENTRY_WAITS) {
        at++;
    }
    return at;
}

static bool is_free_for(char owner)
{
    return queue.owner == '\0' || queue.owner == owner || passed_ms >= queue.lease_ms;
}

static void lease_queue(char owner, const char *lease_ms)
{
    queue.owner = owner;
    queue.lease_ms = passed_ms + atoi(lease_ms);
    queue.seen_ms = passed_ms;
}

static void end_head(entry_state state)
{
    queue.entries[head_of_queue()] = state;
    queue.owner = '\0';
    queue.seen_ms = passed_ms;
}

/* An entry that was handed out, or none. */
static void look_at_entry(const char *answer, char owner, const char *lease_ms)
{
    size_t head = head_of_queue();

    if (answer[0] == '\0') {
        HOLDS(head == TICKETS_MAX || !queue.is_parked[head] || !is_free_for(owner));
        return;
    }
    HOLDS(ticket_of(answer) == head && queue.is_parked[head] && is_free_for(owner));
    HOLDS(strcmp(answer + 2, ",p") == 0);
    lease_queue(owner, lease_ms);
}

static void look_at_turn(size_t ticket, const char *answer, char owner, const char *lease_ms)
{
    size_t head = head_of_queue();

    if (strcmp(answer, "go,0") == 0) {
        HOLDS(ticket == head && is_free_for(owner));
        lease_queue(owner, lease_ms);
    } else if (strncmp(answer, "held,", 5) == 0) {
        HOLDS(queue.entries[ticket] == ENTRY_WAITS && (ticket != head || !is_free_for(owner)));
        HOLDS(ticket != head || atoll(answer + 5) == 1000 * (queue.lease_ms - passed_ms));
    } else {
        HOLDS(queue.entries[ticket] == (answer[0] == 'd' ? ENTRY_ENDED : ENTRY_ABANDONED));
        HOLDS((atoll(answer + 5) > 0)
              == (answer[0] == 'd' && head < TICKETS_MAX && queue.is_parked[head]
                  && !is_free_for(owner)));
    }
}

static void look_at_queue(const model_step *step, const char *answer)
{
    const char *const *arguments = step->arguments;
    size_t ticket = ticket_of(arguments[1]), head = head_of_queue();

    if (step->function == LATCH_SEQUENCE_ENTER) {
        size_t entered = ticket_of(answer);

        if (queue.entries[entered] == ENTRY_NONE) {
            queue.entries[entered] = ENTRY_WAITS;
            queue.is_parked[entered] = head < TICKETS_MAX && arguments[2] != NULL;
            queue.seen_ms = head < TICKETS_MAX ? queue.seen_ms : passed_ms;
        }
        HOLDS((answer[3] == '1') == (entered == head_of_queue() && !queue.is_parked[entered]));
    } else if (step->function == LATCH_SEQUENCE_RESUME) {
        look_at_turn(ticket, answer, arguments[2][0], arguments[3]);
    } else if (step->function == LATCH_SEQUENCE_NEXT) {
        if (ticket == head && is_free_for(arguments[2][0])) {
            end_head(ENTRY_ENDED);
        }
        if (queue.entries[ticket] == ENTRY_WAITS) {
            HOLDS(answer[0] == '\0');
        } else {
            look_at_entry(answer, arguments[2][0], arguments[3]);
        }
    } else if (step->function == LATCH_SEQUENCE_PUT_BACK) {
        if (ticket == head && queue.owner == arguments[2][0]) {
            queue.is_parked[head] = false;
            queue.owner = '\0';
            queue.seen_ms = passed_ms;
        }
    } else if (head == TICKETS_MAX || (queue.owner != '\0' && passed_ms < queue.lease_ms)
               || passed_ms < queue.seen_ms + atoi(arguments[1])) {
        HOLDS(answer[0] == '\0');
    } else {
        if (!queue.is_parked[head]) {
            end_head(ENTRY_ABANDONED);
        }
        look_at_entry(answer, arguments[2][0], arguments[3]);
    }
}

/* All are gone: whoever sweeps gets what is parked, entry by entry. */
static void end_queue(const model *tried, const char *resource)
{
    static const model_step pause = {.pass_ms = 100000};
    static const model_step sweep = {LATCH_SEQUENCE_ABANDON,
                                     "abandon",
                                     {"3600000", "50000", "z", "10000"},
                                     0};

    for (size_t at = 0; at < TICKETS_MAX && head_of_queue() < TICKETS_MAX; at++) {
        size_t head = head_of_queue();

        run_step(tried, resource, &pause);
        run_step(tried, resource, &sweep);
        if (queue.is_parked[head]) {
            char ticket[8];
            const model_step finish = {LATCH_SEQUENCE_NEXT,
                                       "next",
                                       {"3600000", ticket, "z", "10000"},
                                       0};

            snprintf(ticket, sizeof(ticket), "#%zu", head);
            HOLDS(queue.owner == 'z');
            run_step(tried, resource, &finish);
        }
    }
    HOLDS(head_of_queue() == TICKETS_MAX);
}

static void entries_are_handled_in_order(void **state)
{
    static const model sequences = {
        .name = "sequences",
        .script = REDIS_LUA_REQUESTS REDIS_LUA_SEQUENCE,
        .kinds = {"sequence:", "sequence-tickets:", "sequence-payloads:"},
        .steps =
            {
                {LATCH_SEQUENCE_ENTER, "enter", {"3600000", "a", "p"}, 0},
                {LATCH_SEQUENCE_ENTER, "enter", {"3600000", "b", "p"}, 0},
                {LATCH_SEQUENCE_ENTER, "enter", {"3600000", "c", "p"}, 0},
                {LATCH_SEQUENCE_RESUME, "resume", {"3600000", "#0", "w", "10000"}, 0},
                {LATCH_SEQUENCE_RESUME, "resume", {"3600000", "#0", "v", "10000"}, 0},
                {LATCH_SEQUENCE_RESUME, "resume", {"3600000", "#1", "v", "10000"}, 0},
                {LATCH_SEQUENCE_NEXT, "next", {"3600000", "#0", "w", "10000"}, 0},
                {LATCH_SEQUENCE_NEXT, "next", {"3600000", "#0", "v", "10000"}, 0},
                {LATCH_SEQUENCE_NEXT, "next", {"3600000", "#1", "w", "10000"}, 0},
                {LATCH_SEQUENCE_PUT_BACK, "put_back", {"3600000", "#1", "w"}, 0},
                {LATCH_SEQUENCE_ABANDON, "abandon", {"3600000", "20000", "v", "10000"}, 0},
                {.pass_ms = 10000},
            },
        .opening = {3, 0, 1, 3},
        .depth = 3,
        .begin = begin_queue,
        .look = look_at_queue,
        .end = end_queue,
    };

    model in_hand = sequences;

    (void) state;
    search(&sequences);
    in_hand.name = "sequences, a follower in hand";
    in_hand.opening[++in_hand.opening[0]] = 6; /* next */
    search(&in_hand);
}

/* ---- Debounces: of each burst that has ended one goes, the last */

enum { QUIET_US = 10000000, MOST_US = 25000000 };

static struct {
    int64_t at_us[TICKETS_MAX];
    bool is_sent[TICKETS_MAX], is_done[TICKETS_MAX];
} burst;

static void begin_burst(void)
{
    memset(&burst, 0, sizeof(burst));
}

/* By the rules alone, from the first occurrence on. *due_us: when its burst ends. */
static bool is_last_of_a_burst(size_t token, int64_t *due_us)
{
    size_t last = TICKETS_MAX; /* of the burst so far; TICKETS_MAX: there was none */
    int64_t first_us = 0;

    for (size_t at = 0; at < ticket_count; at++) {
        if (!burst.is_sent[at]) {
            continue;
        }
        if (last == TICKETS_MAX || burst.is_done[last] || burst.at_us[at] >= *due_us) {
            if (last == token) {
                return true;
            }
            first_us = burst.at_us[at];
        }
        last = at;
        *due_us = burst.at_us[at] + QUIET_US < first_us + MOST_US ? burst.at_us[at] + QUIET_US
                                                                  : first_us + MOST_US;
    }
    return last == token;
}

static void look_at_burst(const model_step *step, const char *answer)
{
    size_t token = ticket_of(step->arguments[step->function == LATCH_DEBOUNCE_DONE ? 1 : 3]);
    int64_t now_us = unit.wall_ns / 1000, due_us = 0;
    bool is_overtaken = false;

    if (step->function == LATCH_DEBOUNCE_REGISTER) {
        token = ticket_of(answer);
        burst.at_us[token] = atoll(tickets[token].text);
        HOLDS(atoll(answer + 3) > 0 && atoll(answer + 3) <= QUIET_US + TICKETS_MAX);
        return;
    }
    if (step->function == LATCH_DEBOUNCE_DONE) {
        burst.is_done[token] = burst.is_done[token]
                               || (burst.is_sent[token] && is_last_of_a_burst(token, &due_us));
        return;
    }
    for (size_t at = token + 1; at < ticket_count; at++) {
        is_overtaken = is_overtaken || (burst.is_sent[at] && !burst.is_sent[token]);
    }
    burst.is_sent[token] = !is_overtaken; /* else it counts for nothing */
    if (step->function == LATCH_DEBOUNCE_RESUME) {
        bool goes = !is_overtaken && !burst.is_done[token] && is_last_of_a_burst(token, &due_us);

        HOLDS((strncmp(answer, "done", 4) == 0) == !goes);
        HOLDS((answer[0] == 'g') == (goes && now_us >= due_us));
        HOLDS(answer[0] != 'h' || atoll(answer + 5) == due_us - now_us);
    }
}

static void of_each_burst_the_last_goes(void **state)
{
    static const model debounces = {
        .name = "debounces",
        .script = REDIS_LUA_REQUESTS REDIS_LUA_DEBOUNCE,
        .kinds = {"debounce:", "debounce-ended:"},
        .steps =
            {
                {LATCH_DEBOUNCE_REGISTER, "register", {"3600000", "10000000", "25000000"}, 0},
                {LATCH_DEBOUNCE_SENT, "sent", {"3600000", "10000000", "25000000", "#-1"}, 0},
                {LATCH_DEBOUNCE_SENT, "sent", {"3600000", "10000000", "25000000", "#-2"}, 0},
                {LATCH_DEBOUNCE_RESUME, "resume", {"3600000", "10000000", "25000000", "#-1"}, 0},
                {LATCH_DEBOUNCE_RESUME, "resume", {"3600000", "10000000", "25000000", "#-2"}, 0},
                {LATCH_DEBOUNCE_DONE, "done", {"3600000", "#-1"}, 0},
                {LATCH_DEBOUNCE_DONE, "done", {"3600000", "#-2"}, 0},
                {.pass_ms = 9000},
                {.pass_ms = 10000},
            },
        .opening = {4, 0, 1, 7, 0},
        .depth = 4,
        .begin = begin_burst,
        .look = look_at_burst,
    };
    model two_bursts = debounces;

    (void) state;
    search(&debounces);
    two_bursts.name = "debounces, a second burst";
    two_bursts.opening[3] = 8; /* the first one's quiet time */
    search(&two_bursts);
}

/* ---- Requests that are sent again after others */

/* Asks with an identity that ends so. */
static const char *ask(const model *tried, char id, const char *name, const char *ticket,
                       const char *owner, const char *rest)
{
    const model_step step = {.name = name};
    const char *const given[4] = {"3600000", ticket, owner, rest};
    char identity[24];

    snprintf(identity, sizeof(identity), "%019d%c", 0, id);
    return ask_script(tried, "again", &step, given, identity);
}

static void enter_again(const model *tried, char id, const char *name, ticket_text *ticket)
{
    const char *answer = ask(tried, id, "enter", name, "p", NULL);

    snprintf(ticket->text, sizeof(ticket->text), "%.*s", (int) strcspn(answer, ","), answer);
}

static void a_sequence_knows_a_request_again(void **state)
{
    static const model tried = {.script = REDIS_LUA_REQUESTS REDIS_LUA_SEQUENCE,
                                .kinds = {"sequence:", "sequence-tickets:", "sequence-payloads:"}};
    ticket_text a, b, c;

    (void) state;
    load_on_clock(tried.script, digest);
    enter_again(&tried, '1', "a", &a);
    enter_again(&tried, '2', "b", &b);
    enter_again(&tried, '3', "c", &c);
    HOLDS(strncmp(ask(&tried, '4', "abandon", "0", "v", "10000"), b.text, strlen(b.text)) == 0);
    HOLDS(strncmp(ask(&tried, '5', "next", b.text, "v", "10000"), c.text, strlen(c.text)) == 0);
    ask(&tried, '6', "put_back", c.text, "v", NULL);
    HOLDS(strcmp(ask(&tried, '4', "abandon", "0", "v", "10000"), "") == 0); /* not once more */
    HOLDS(strcmp(ask(&tried, '7', "resume", c.text, "v", "10000"), "go,0") == 0);
    ask(&tried, '6', "put_back", c.text, "v", NULL);
    HOLDS(strncmp(ask(&tried, '8', "resume", c.text, "w", "10000"), "held,", 5) == 0);
    HOLDS(strcmp(ask(&tried, '9', "resume", a.text, "w", "10000"), "late,0") == 0);
}

static void a_debounce_knows_a_request_again(void **state)
{
    static const model tried = {.script = REDIS_LUA_REQUESTS REDIS_LUA_DEBOUNCE,
                                .kinds = {"debounce:", "debounce-ended:"}};
    char first[64];

    (void) state;
    load_on_clock(tried.script, digest);
    snprintf(first, sizeof(first), "%s", ask(&tried, '1', "register", "1000", "5000", NULL));
    HOLDS(strcmp(ask(&tried, '2', "register", "1000", "5000", NULL), first) != 0);
    HOLDS(strcmp(ask(&tried, '1', "register", "1000", "5000", NULL), first) == 0);
}

static int setup(void **state)
{
    unit_redis_setup(state);
    if (unit_setup_memory(state) != 0) {
        return -1;
    }
    clock_us = unit.wall_ns / 1000;
    unit.now_ns -= unit.now_ns % 1000;
    return 0;
}

#define MODEL_TEST(test) cmocka_unit_test_setup_teardown(test, setup, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(entries_are_handled_in_order),
        MODEL_TEST(of_each_burst_the_last_goes),
        MODEL_TEST(a_sequence_knows_a_request_again),
        MODEL_TEST(a_debounce_knows_a_request_again),
    };

    return cmocka_run_group_tests_name("redis order model", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
