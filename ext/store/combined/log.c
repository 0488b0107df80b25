/*
 * Log of a CombinedStore, with Symfony's messages and contexts, written when a request has ended: a
 * logger cannot get in the way of operations in flight then.
 */
#include "ext/store/combined/combined.h"

#include "ext/key/key.h"
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/php/log.h"
#include "ext/php/poll_loop.h"

/* A member's answer; a copy, as a logger may use the same lease. */
typedef struct member_answer {
    latch_status status;
    bool is_late;
    zend_object *exception;         /* owned; NULL: it has none */
    zend_object *release_exception; /* the same, of the release of a lock that was of no use */
} member_answer;

/* Log lines of a kind of request. */
typedef struct log_lines {
    const char *level;  /* of a failed member */
    const char *failed; /* of a failed member */
    const char *unmet_level, *unmet;
} log_lines;

static const log_lines *lines_of(latch_op_kind kind)
{
    static const log_lines acquire = {
        "debug",
        "One store failed to save the \"{resource}\" lock.",
        "info",
        "Failed to store the \"{resource}\" lock. Quorum has not been met.",
    };
    static const log_lines refresh = {
        "debug",
        "One store failed to put off the expiration of the \"{resource}\" lock.",
        "notice",
        "Failed to define the expiration for the \"{resource}\" lock. Quorum has not been met.",
    };
    static const log_lines release = {
        "notice",
        "One store failed to delete the \"{resource}\" lock.",
        NULL,
        NULL,
    };
    static const log_lines probe = {
        "debug",
        "One store failed to check the \"{resource}\" lock.",
        NULL,
        NULL,
    };

    switch (kind) {
        case LATCH_REFRESH:
            return &refresh;
        case LATCH_RELEASE:
            return &release;
        case LATCH_PROBE:
            return &probe;
        default:
            return &acquire;
    }
}

/* A request that has ended. */
typedef struct log_subject {
    zend_object *store, *key;
    php_latch_lease *lease;
    const latch_request *request;
    latch_status status;
} log_subject;

static const php_latch_combined_backend *combined_of(const log_subject *subject)
{
    return php_latch_combined_backend_of(subject->lease);
}

static void collect_answers(const log_subject *subject, member_answer *answers)
{
    for (size_t at = 0; at < combined_of(subject)->count; at++) {
        const latch_vote vote = latch_lease_vote(&subject->lease->lease, at);
        php_latch_part *part = &subject->lease->parts[at];
        member_answer *answer = &answers[at];

        *answer = (member_answer){vote.status, part->is_late, part->failure, part->release_failure};
        part->failure = part->release_failure = NULL;
        if (subject->request->kind == LATCH_RELEASE) {
            answer->exception = answer->release_exception;
            answer->release_exception = NULL;
        }
        if (answer->exception == NULL && latch_failed(vote.status)) {
            answer->exception =
                php_latch_outcome_of_status(&php_latch_locks, vote.status, vote.error,
                                            php_latch_lease_resource(subject->lease))
                    .exception;
        } else if (answer->exception == NULL && vote.status == LATCH_CONFLICT
                   && subject->request->kind != LATCH_PROBE) {
            answer->exception =
                php_latch_new_exception(php_latch_conflicted_ce, NULL, "", ZSTR_EMPTY_ALLOC(), "");
        }
    }
}

static void free_answers(const log_subject *subject, member_answer *answers)
{
    for (size_t at = 0; at < combined_of(subject)->count; at++) {
        if (answers[at].exception != NULL) {
            OBJ_RELEASE(answers[at].exception);
        }
        if (answers[at].release_exception != NULL) {
            OBJ_RELEASE(answers[at].release_exception);
        }
    }
}

/* Logs a line with that context, which it consumes. */
static void log_line(const log_subject *subject, const char *level, const char *message,
                     zval *context)
{
    php_latch_log_context(php_latch_combined_store_logger(subject->store), level, message,
                          subject->key, context);
}

static void add_object(zval *context, const char *name, zend_object *object)
{
    zval value;

    ZVAL_OBJ_COPY(&value, object);
    add_assoc_zval(context, name, &value);
}

static void log_failure(const log_subject *subject, const log_lines *lines, size_t at,
                        zend_object *exception)
{
    zval context;

    array_init(&context);
    add_object(&context, "store", combined_of(subject)->members[at].store);
    add_object(&context, "exception", exception);
    log_line(subject, lines->level, lines->failed, &context);
}

/* Logs a renewal whose time had passed before that member was asked. */
static void log_lateness(const log_subject *subject, size_t at)
{
    zval context;

    array_init(&context);
    add_object(&context, "store", combined_of(subject)->members[at].store);
    add_assoc_double(&context, "ttl", (double) subject->request->ttl_ms / 1000);
    log_line(subject, "debug",
             "Stores took to long to put off the expiration of the \"{resource}\" lock.", &context);
}

static void log_unmet(const log_subject *subject, size_t successes, size_t failures)
{
    const log_lines *lines = lines_of(subject->request->kind);
    zval context;

    if (lines->unmet == NULL || subject->status == LATCH_DONE
        || php_latch_key_is_expired(subject->key)) {
        return;
    }
    array_init(&context);
    add_assoc_long(&context, "success", (zend_long) successes);
    add_assoc_long(&context, "failure", (zend_long) failures);
    log_line(subject, lines->unmet_level, lines->unmet, &context);
}

/* Symfony's asks one member after the other, and stops when the answers decide. */
static bool is_decided(const log_subject *subject, size_t successes, size_t failures)
{
    const latch_strategy *strategy = combined_of(subject)->own;
    size_t count = combined_of(subject)->count;

    if (strategy == NULL || subject->request->kind == LATCH_RELEASE) {
        return false;
    }
    return !strategy->can_be_met(NULL, failures, count)
           || (subject->request->kind == LATCH_PROBE && strategy->is_met(NULL, successes, count));
}

static void log_request(const log_subject *subject);

/* Logs the request of a combined store within this one. */
static void log_within(const log_subject *subject, size_t at, const member_answer *answer)
{
    php_latch_lease *lease = subject->lease->parts[at].lease;
    const log_subject within = {
        .store = combined_of(subject)->members[at].store,
        .key = subject->key,
        .lease = lease,
        .request = subject->request,
        .status = answer->status,
    };

    if (lease->parts != NULL) {
        log_request(&within);
    }
}

static void log_answers(const log_subject *subject, const member_answer *answers)
{
    size_t successes = 0, failures = 0;

    for (size_t at = 0; at < combined_of(subject)->count; at++) {
        const member_answer *answer = &answers[at];

        if (latch_wants(answer->status) || answer->status == LATCH_NO_VOTE) {
            continue; /* its answer was not awaited */
        }
        log_within(subject, at, answer);
        successes += answer->status == LATCH_DONE;
        failures += answer->status != LATCH_DONE && !answer->is_late;
        if (EG(exception) == NULL && answer->is_late) {
            log_lateness(subject, at);
        } else if (EG(exception) == NULL && answer->exception != NULL) {
            log_failure(subject, lines_of(subject->request->kind), at, answer->exception);
        }
        if (EG(exception) != NULL) {
            return;
        }
        if (answer->is_late || is_decided(subject, successes, failures)) {
            break;
        }
    }
    log_unmet(subject, successes, failures);
    for (size_t at = 0; at < combined_of(subject)->count && EG(exception) == NULL; at++) {
        if (answers[at].release_exception != NULL) {
            log_failure(subject, lines_of(LATCH_RELEASE), at, answers[at].release_exception);
        }
    }
}

static void log_request(const log_subject *subject)
{
    member_answer *answers = safe_emalloc(combined_of(subject)->count + 1, sizeof(*answers), 0);

    collect_answers(subject, answers);
    log_answers(subject, answers);
    free_answers(subject, answers);
    efree(answers);
}

bool php_latch_combined_logs(zend_object *store)
{
    const php_latch_combined_backend *combined = php_latch_store_of(store)->backend->data;
    bool has = php_latch_combined_store_logger(store) != NULL;

    for (size_t at = 0; !has && at < combined->count; at++) {
        has = combined->members[at].called == NULL
              && php_latch_store_logs(combined->members[at].store);
    }
    return has;
}

void php_latch_combined_log_too_late(zend_object *store, zend_object *key, php_latch_lease *lease,
                                     const latch_request *request)
{
    const log_subject subject = {store, key, lease, request, LATCH_INTERRUPTED};

    log_lateness(&subject, 0);
}

bool php_latch_combined_log_outcome(zend_object *store, zend_object *key, php_latch_lease *lease,
                                    const latch_request *request, latch_status status,
                                    bool was_free)
{
    const latch_request release = {.kind = LATCH_RELEASE, .detach = true};
    const log_subject subject = {store, key, lease, request, status};
    latch_error error;

    if (lease->lease.busy) { /* the request under way will log */
        return true;
    }
    if (status != LATCH_INTERRUPTED && php_latch_combined_logs(store)) {
        log_request(&subject);
    }
    php_latch_combined_clear_failures(lease);
    if (EG(exception) == NULL || status == LATCH_INTERRUPTED) {
        return true;
    }
    if (status == LATCH_DONE && was_free
        && (request->kind == LATCH_ACQUIRE || request->kind == LATCH_ACQUIRE_SHARED)) {
        php_latch_run_request(&lease->lease, &release, &error);
        php_latch_combined_clear_failures(lease);
    }
    return false;
}
