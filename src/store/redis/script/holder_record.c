/* Holder record: see holder_record.h. */
#include "src/store/redis/script/holder_record.h"

#include <string.h>

/* Digits; where they end, or NULL when there are none, or too many. */
static const char *parse_digits(const char *at, const char *end, uint64_t *number)
{
    const char *begin = at;

    *number = 0;
    while (at < end && *at >= '0' && *at <= '9' && at - begin < 18) {
        *number = *number * 10 + (uint64_t) (*at++ - '0');
    }
    return at > begin && (at == end || *at == ' ') ? at : NULL;
}

static char *copy_printable(char *to, const char *from, size_t length)
{
    for (size_t at = 0; at < length; at++) {
        to[at] = (unsigned char) from[at] < ' ' || from[at] == '\177' ? '?' : from[at];
    }
    to[length] = '\0';
    return to;
}

/* "SINCE HOST PID SCRIPT"; false when it is something else. */
static bool parse_holder_info(const latch_engine *engine, latch_lock_report *report, const char *at,
                              const char *end, latch_holder **holder)
{
    uint64_t since_us, pid;
    const char *host, *host_end, *script;

    at = parse_digits(at, end, &since_us);
    if (at == NULL || at == end) {
        return false;
    }
    host = at + 1;
    host_end = memchr(host, ' ', (size_t) (end - host));
    script = host_end != NULL ? parse_digits(host_end + 1, end, &pid) : NULL;
    if (script == NULL || script == end) {
        return false;
    }
    script++;
    *holder = latch_lock_report_make_holder(engine, report,
                                            (size_t) (host_end - host + 1 + (end - script)));
    if (*holder != NULL) {
        char *text = (*holder)->text;

        (*holder)->since_us = (int64_t) since_us;
        (*holder)->number = (int64_t) pid;
        (*holder)->host = copy_printable(text, host, (size_t) (host_end - host));
        (*holder)->script =
            copy_printable(text + (host_end - host) + 1, script, (size_t) (end - script));
    }
    return true;
}

bool latch_redis_read_record(const latch_engine *engine, latch_lock_report *report,
                             const char *text, size_t length)
{
    const char *end = text + length, *at = text;
    latch_holder *holder = NULL;
    uint64_t fencing = 0;

    if (at < end && *at != ' ') {
        at = parse_digits(at, end, &fencing);
    }
    if (at == NULL || at == end || !parse_holder_info(engine, report, at + 1, end, &holder)) {
        holder = latch_lock_report_make_holder(engine, report, 0);
    }
    if (holder != NULL) {
        holder->fencing_token = at != NULL ? fencing : 0;
    }
    return holder != NULL;
}
