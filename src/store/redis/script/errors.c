/* Errors that a Redis server answers with: see errors.h. */
#include "src/store/redis/script/errors.h"

#include <stddef.h>
#include <string.h>

bool latch_redis_is_transient_error(const char *text)
{
    static const char *const words[] = {"LOADING ",    "BUSY ",        "READONLY ", "MASTERDOWN ",
                                        "NOREPLICAS ", "CLUSTERDOWN ", "TRYAGAIN "};

    for (size_t at = 0; at < sizeof(words) / sizeof(*words); at++) {
        if (strstr(text, words[at]) != NULL) { /* before Redis 7 it stands in the middle */
            return true;
        }
    }
    return false;
}

bool latch_redis_is_noscript_error(const char *text)
{
    return strncmp(text, "NOSCRIPT", 8) == 0;
}

bool latch_redis_is_readonly_error(const char *text)
{
    return strstr(text, "READONLY") != NULL;
}

bool latch_redis_is_wrongtype_error(const char *text)
{
    return strncmp(text, "WRONGTYPE", 9) == 0;
}

bool latch_redis_is_permission_error(const char *text)
{
    return text != NULL && (strncmp(text, "NOPERM", 6) == 0 || strstr(text, "unknown") != NULL);
}

const char *latch_redis_skip_place(const char *text)
{
    static const char place[] = "@user_script:", failed[] = "ERR Error running script";
    const char *at = strncmp(text, failed, sizeof(failed) - 1) == 0 ? strstr(text, place) : text;

    while (at != NULL && strncmp(at, place, sizeof(place) - 1) == 0) {
        at += sizeof(place) - 1;
        at += strspn(at, "0123456789: ");
        text = *at == '-' ? at + 1 : at;
    }
    return text;
}
