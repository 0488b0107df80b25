/* The scripted store; one script at a time, so its state stands in one static place. */
#include "scripted_store.h"

#include "src/engine/store.h"

static struct {
    const scripted_line *next;
    size_t left, calls;
    char in_flight; /* op->state points here */
} script;

static latch_status answer(latch_op *op, scripted_call call)
{
    const scripted_line *line = script.next;

    assert_true(script.left > 0);
    script.next++;
    script.left--;
    script.calls++;
    assert_int_equal(call, line->call);
    assert_int_equal(op->request.kind, line->kind);
    assert_true(!op->request.detach || op->request.kind == LATCH_RELEASE);
    assert_true(op->lease->busy);
    if (line->call == SCRIPTED_BEGIN) {
        assert_null(op->state);
    } else {
        assert_ptr_equal(op->state, &script.in_flight);
    }
    op->state = latch_wants(line->answer) && !line->idle ? &script.in_flight : NULL;
    op->wake_ns = line->wake_ns != 0 ? line->wake_ns : op->wake_ns;
    op->sent_ns = line->sent_ns != 0 ? line->sent_ns : op->sent_ns;
    op->lease->fencing_token = line->fencing != 0 ? line->fencing : op->lease->fencing_token;
    if (line->answer == LATCH_WANT_IO) {
        op->fd = 7;
        op->events = 1;
    }
    return latch_failed(line->answer) ? latch_fail(op->error, line->answer, 0, "as the script says")
                                      : line->answer;
}

static latch_status scripted_begin(latch_op *op)
{
    return answer(op, SCRIPTED_BEGIN);
}

static latch_status scripted_step(latch_op *op, int64_t now_ns)
{
    assert_int_equal(now_ns, unit.now_ns);
    return answer(op, SCRIPTED_STEP);
}

static latch_status scripted_cancel(latch_op *op)
{
    return answer(op, SCRIPTED_CANCEL);
}

static latch_store_class scripted_class = {
    .size = sizeof(latch_store),
    .begin = scripted_begin,
    .step = scripted_step,
    .cancel = scripted_cancel,
};

void scripted_play(const scripted_line *lines, size_t count)
{
    assert_int_equal(script.left, 0);
    script.next = lines;
    script.left = count;
}

size_t scripted_calls(void)
{
    return script.calls;
}

void scripted_claim(unsigned capabilities)
{
    scripted_class.info.capabilities = capabilities;
}

void scripted_limit_pauses(int64_t slowest_poll_ms)
{
    scripted_class.info.slowest_poll_ms = slowest_poll_ms;
}

void scripted_describe_outages(void (*outage)(const latch_op *op, int64_t now_ns))
{
    scripted_class.outage = outage;
}

int unit_setup_scripted(void **state)
{
    if (unit_setup(state) != 0) {
        return -1;
    }
    memset(&script, 0, sizeof(script));
    scripted_claim(LATCH_EXPIRING | LATCH_SHARED_LOCKS | LATCH_FENCING);
    scripted_limit_pauses(0);
    scripted_describe_outages(NULL);
    unit.store = latch_store_make(unit.engine, &scripted_class, &unit.error);
    return 0;
}

int unit_teardown_scripted(void **state)
{
    assert_int_equal(script.left, 0);
    return unit_teardown(state);
}
