/* Reports of the scripts that inspect locks and semaphores: see report.h. */
#include "src/store/redis/script/report.h"

#include "src/store/redis/script/holder_record.h"

#include <string.h>

/* Elements of the list: the report's own, and behind them those of each holder. */
enum {
    REPORT_MODE,
    REPORT_HOLDERS,
    REPORT_WAITERS,
    LOCK_HEAD,
    REPORT_USED = LOCK_HEAD,
    PERMIT_HEAD
};
enum {
    HOLDER_IDENTITY,
    HOLDER_LEFT,
    HOLDER_RECORD,
    LOCK_FIELDS,
    HOLDER_WEIGHT = LOCK_FIELDS,
    HOLDER_LIMIT,
    PERMIT_FIELDS
};

/* A decimal number below 10^18; false: it is something else. */
static bool parse_count(const redisReply *text, int64_t *number)
{
    *number = 0;
    if (text->len < 1 || text->len > 18 || strspn(text->str, "0123456789") != text->len) {
        return false;
    }
    for (size_t at = 0; at < text->len; at++) {
        *number = *number * 10 + (text->str[at] - '0');
    }
    return true;
}

/* A number of ms, or -1, which is that of a hold without an end. */
static bool parse_left(const redisReply *text, int64_t *left_ms)
{
    if (strcmp(text->str, "-1") == 0) {
        *left_ms = LATCH_NEVER;
        return true;
    }
    return parse_count(text, left_ms);
}

static bool is_holder(redisReply *const *fields, bool is_permit)
{
    int64_t number;

    return fields[HOLDER_IDENTITY]->len == LATCH_IDENTITY_LENGTH
           && strspn(fields[HOLDER_IDENTITY]->str, "0123456789abcdef") == LATCH_IDENTITY_LENGTH
           && parse_left(fields[HOLDER_LEFT], &number)
           && (!is_permit
               || (parse_count(fields[HOLDER_WEIGHT], &number)
                   && parse_count(fields[HOLDER_LIMIT], &number)));
}

static size_t head_of(bool is_permit)
{
    return is_permit ? PERMIT_HEAD : LOCK_HEAD;
}

static size_t fields_of(bool is_permit)
{
    return is_permit ? PERMIT_FIELDS : LOCK_FIELDS;
}

bool latch_redis_is_report(const redisReply *reply, bool is_permit)
{
    size_t head = head_of(is_permit), fields = fields_of(is_permit);
    int64_t number;

    if (reply->type != REDIS_REPLY_ARRAY || reply->elements < head
        || (reply->elements - head) % fields != 0) {
        return false;
    }
    for (size_t at = 0; at < reply->elements; at++) {
        if (reply->element[at]->type != REDIS_REPLY_STRING
            || (at < head && !parse_count(reply->element[at], &number))) {
            return false;
        }
    }
    for (size_t at = head; at < reply->elements; at += fields) {
        if (!is_holder(&reply->element[at], is_permit)) {
            return false;
        }
    }
    return parse_count(reply->element[REPORT_MODE], &number) && (number == 1 || number == 2);
}

static bool add_holder(const latch_engine *engine, latch_lock_report *report,
                       redisReply *const *fields, bool is_permit)
{
    latch_holder *holder;

    if (!latch_redis_read_record(engine, report, fields[HOLDER_RECORD]->str,
                                 fields[HOLDER_RECORD]->len)) {
        return false;
    }
    holder = report->holders;
    memcpy(holder->identity, fields[HOLDER_IDENTITY]->str, LATCH_IDENTITY_LENGTH + 1);
    parse_left(fields[HOLDER_LEFT], &holder->left_ms);
    if (is_permit) {
        parse_count(fields[HOLDER_WEIGHT], &holder->permits.weight);
        parse_count(fields[HOLDER_LIMIT], &holder->permits.limit);
    }
    return true;
}

bool latch_redis_read_report(const latch_engine *engine, latch_lock_report *report,
                             const redisReply *reply, bool is_permit)
{
    size_t head = head_of(is_permit), fields = fields_of(is_permit);
    int64_t number;

    parse_count(reply->element[REPORT_MODE], &number);
    report->mode = number == 2 ? LATCH_EXCLUSIVE : LATCH_SHARED;
    parse_count(reply->element[REPORT_HOLDERS], &number);
    report->holder_count = (uint64_t) number;
    parse_count(reply->element[REPORT_WAITERS], &number);
    report->waiter_count = (uint64_t) number;
    if (is_permit) {
        parse_count(reply->element[REPORT_USED], &report->permits_used);
    }
    for (size_t at = reply->elements; at > head; at -= fields) {
        if (!add_holder(engine, report, &reply->element[at - fields], is_permit)) {
            return false;
        }
    }
    return true;
}
