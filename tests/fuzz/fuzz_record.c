/*
 * Records of versions, throttles and the like as texts, as FlockStore keeps them in files,
 * whatever is in one: no error of memory, no undefined behaviour, and
 *
 * - a text that is no record is refused, and there is nothing to keep and no answer;
 * - what a call leaves is a record, and has the end that is told for it;
 * - a call that only asks changes nothing, but for a record that has expired, or was not written as
 * Latch does;
 * - no record is left in memory.
 *
 * An input is a byte that chooses the call, and the text.
 */
#include "src/store/local/memory_calls.h"
#include "support/expect.h"

#include <string.h>

#define TTL "60000"

static const struct {
    latch_function function;
    bool only_asks;
    const char *arguments[LATCH_CALL_ARGUMENTS_MAX];
} calls[] = {
    {LATCH_VERSION_ADVANCE, false, {TTL, "17", "0"}},
    {LATCH_VERSION_ADVANCE, false, {TTL, "b", "1"}},
    {LATCH_VERSION_REVERT, false, {TTL, "17"}},
    {LATCH_VERSION_OUTDATED, true, {"17"}},
    {LATCH_VERSION_GET, true, {NULL}},
    {LATCH_THROTTLE_RESERVE, false, {"1000000", "3000000", "9000000"}},
    {LATCH_THROTTLE_LOOK, true, {"1000000", "3000000"}},
    {LATCH_COUNT_DOWN_OPEN, false, {TTL, "1 a1 b", "last"}},
    {LATCH_COUNT_DOWN_ARRIVE, false, {TTL, "a", "0", "1000"}},
    {LATCH_COUNT_DOWN_ARRIVE, false, {TTL, "b", "1", "1000"}},
    {LATCH_COUNT_DOWN_DONE, false, {TTL}},
    {LATCH_COUNT_DOWN_CANCEL, false, {NULL}},
    {LATCH_COUNT_DOWN_STATE, true, {NULL}},
    {LATCH_COUNT_DOWN_INSPECT, true, {NULL}},
    {LATCH_SEQUENCE_ENTER, false, {TTL, "a"}},
    {LATCH_SEQUENCE_ENTER, false, {TTL, "b", "parked"}},
    {LATCH_SEQUENCE_RESUME, false, {TTL, "1700000000000000", "owner", "1000"}},
    {LATCH_SEQUENCE_NEXT, false, {TTL, "1700000000000000", "owner", "1000"}},
    {LATCH_SEQUENCE_PUT_BACK, false, {TTL, "1700000000000000", "owner"}},
    {LATCH_SEQUENCE_ABANDON, false, {TTL, "0", "owner", "1000"}},
    {LATCH_SEQUENCE_INSPECT, true, {NULL}},
    {LATCH_DEBOUNCE_REGISTER, false, {TTL, "1000", "60000"}},
    {LATCH_DEBOUNCE_SENT, false, {TTL, "1000", "60000", "1700000000000000"}},
    {LATCH_DEBOUNCE_RESUME, false, {TTL, "1000", "60000", "1700000000000000"}},
    {LATCH_DEBOUNCE_DONE, false, {TTL, "1700000000000000"}},
};

static memory_records records;

static latch_status call(latch_lease *lease, size_t number, latch_bytes before, memory_text *after)
{
    latch_call made = {.function = calls[number].function};
    latch_error error;
    latch_op op = {.lease = lease, .request = {.kind = LATCH_CALL, .call = &made}, .error = &error};
    latch_status status;

    for (; made.count < LATCH_CALL_ARGUMENTS_MAX && calls[number].arguments[made.count] != NULL;
         made.count++) {
        const char *argument = calls[number].arguments[made.count];

        made.arguments[made.count] = (latch_bytes){argument, strlen(argument)};
    }
    status = latch_memory_call_on_text(&records, &op, before, after);
    EXPECT(status == LATCH_DONE || (status == LATCH_CONFLICT && after->is_foreign));
    EXPECT((made.answer != NULL) == (status == LATCH_DONE));
    EXPECT(records.table.count == 0);
    latch_answer_free(records.engine, made.answer);
    return status;
}

/* What was kept is a record for every later call of its kind, and is written in the one way that
 * there is. */
static void check_kept(latch_lease *lease, const memory_text *kept)
{
    const latch_bytes text = {kept->text, kept->length};

    EXPECT(latch_memory_text_end_ns(text) == kept->end_ns);
    for (size_t number = 0; number < sizeof(calls) / sizeof(*calls); number++) {
        memory_text again;
        latch_status status = call(lease, number, text, &again);

        if (status == LATCH_DONE && calls[number].only_asks) {
            EXPECT(!again.is_changed || kept->end_ns <= latch_engine_wall_ns(records.engine));
        }
        latch_free(records.engine, again.text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    latch_env env = latch_env_system();
    latch_error error;
    latch_engine *engine;
    latch_store *store;
    latch_lease lease;
    memory_text after;

    if (size == 0) {
        return 0;
    }
    engine = latch_engine_create(&env, &error);
    store = latch_store_open(engine, "in-memory", &(latch_store_options){.dsn = NULL}, &error);
    EXPECT(store != NULL);
    EXPECT(latch_memory_records_init(&records, engine, latch_engine_wall_ns, &error) == LATCH_DONE);
    latch_lease_init(&lease, store, "r", 1);
    if (call(&lease, data[0] % (sizeof(calls) / sizeof(*calls)),
             (latch_bytes){(const char *) data + 1, size - 1}, &after)
        != LATCH_DONE) {
        EXPECT(after.text == NULL);
    } else if (after.text != NULL) {
        check_kept(&lease, &after);
    }
    latch_free(engine, after.text);
    latch_lease_drop(&lease);
    latch_memory_records_end(&records);
    latch_store_close(store);
    latch_engine_destroy(engine);
    return 0;
}
