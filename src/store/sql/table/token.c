/* Tokens of leases in a table, and their owner after forks. */
#include "src/store/sql/table/table.h"

#include <string.h>

/* Is the token another process's? One that is to be inherited is this one's, too. */
static bool is_other_process(const latch_lease *lease)
{
    const table_hold *hold = lease->state;

    return hold != NULL && hold->generation != lease->store->engine->generation
           && !(lease->inherit && lease->mode != LATCH_FREE);
}

table_hold *latch_table_hold_get(latch_lease *lease)
{
    latch_engine *engine = lease->store->engine;
    table_hold *hold = lease->state;
    char text[TABLE_NAMES_SIZE];
    table_names names;
    size_t size;

    if (hold != NULL) {
        return hold;
    }
    size = latch_table_write_names(lease, &names, text);
    hold = latch_allocate(engine, sizeof(*hold) + size);
    if (hold == NULL) {
        return NULL;
    }
    memset(hold, 0, sizeof(*hold));
    hold->statement.class = &latch_table_statement;
    hold->store = latch_table_store_of(lease);
    hold->lease = lease;
    hold->generation = engine->generation;
    hold->fork_count = engine->fork_count;
    if (hold->store->has_notifications) {
        hold->ticket_number = latch_table_ticket_number(lease);
    }
    memcpy(hold->text, text, size);
    for (unsigned at = 0; at < names.count; at++) {
        names.texts[at] = hold->text + (names.texts[at] - text);
    }
    hold->names = names;
    lease->state = hold;
    return hold;
}

void latch_table_hold_confirm(table_hold *hold)
{
    const latch_engine *engine = hold->store->store.engine;

    hold->generation = engine->generation;
    hold->fork_count = engine->fork_count;
    hold->is_uncertain = false;
}

/* The token of another process is not this one's to use. */
static void forget_token(latch_lease *lease)
{
    latch_free(lease->store->engine, lease->token);
    lease->token = NULL;
    lease->mode = LATCH_FREE;
}

/* A hold that was to be inherited counts until its deadline, whichever process has renewed it. */
static void resolve_forked_hold(latch_op *op, const table_hold *hold)
{
    latch_lease *lease = op->lease;

    if (!lease->inherit || lease->mode == LATCH_FREE
        || hold->fork_count == lease->store->engine->fork_count) {
        return;
    }
    if (op->sent_ns < lease->deadline_ns) {
        op->mode_before = lease->mode;
    } else if (latch_op_acquires(op)) {
        forget_token(lease);
    }
}

latch_status latch_table_prepare_token(latch_op *op)
{
    latch_lease *lease = op->lease;
    latch_status status = LATCH_DONE;
    table_hold *hold;

    if (is_other_process(lease)) {
        if (!latch_op_acquires(op)) {
            lease->mode = LATCH_FREE;
            return LATCH_CONFLICT;
        }
        forget_token(lease);
        op->mode_before = LATCH_FREE;
    }
    if (lease->token == NULL && !latch_op_acquires(op)) {
        return LATCH_CONFLICT;
    }
    hold = latch_table_hold_get(lease);
    if (hold == NULL) {
        return latch_fail_memory(op->error);
    }
    resolve_forked_hold(op, hold);
    if (lease->token == NULL) {
        status = latch_lease_make_token(lease, op->error);
        hold->generation = lease->store->engine->generation;
        hold->is_uncertain = false;
    }
    if (status == LATCH_DONE) {
        memcpy(hold->token, lease->token, (size_t) lease->token_length + 1);
    }
    return status;
}

bool latch_table_held(const latch_lease *lease)
{
    const table_hold *hold = lease->state;

    return lease->mode != LATCH_FREE && hold != NULL && !is_other_process(lease)
           && (!lease->inherit || hold->fork_count == lease->store->engine->fork_count);
}

bool latch_table_shares_token(const latch_lease *lease)
{
    return !is_other_process(lease);
}
