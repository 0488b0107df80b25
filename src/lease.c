/* Leases: one holder's hold on one resource, its token and its certain end. */
#include "store/store.h"

#include <string.h>

void latch_lease_init(latch_lease *lease, latch_store *store, const char *resource, size_t length)
{
    memset(lease, 0, sizeof(*lease));
    lease->store = store;
    lease->resource = resource;
    lease->resource_length = length;
    lease->deadline_ns = LATCH_NEVER;
}

bool latch_lease_adopt_token(latch_lease *lease, const char *token, size_t length)
{
    if (length == 0 || length > LATCH_TOKEN_MAX || memchr(token, '\0', length) != NULL) {
        return false;
    }
    memcpy(lease->token, token, length);
    lease->token[length] = '\0';
    lease->token_length = (uint8_t) length;
    return true;
}

latch_status latch_lease_make_token(latch_lease *lease, latch_error *error)
{
    const latch_env *env = &lease->store->engine->env;
    uint8_t bytes[32];

    if (lease->token_length > 0) {
        return LATCH_DONE;
    }
    if (!env->random(env->context, bytes, sizeof(bytes))) {
        return latch_fail(error, LATCH_ERROR_SYSTEM, 0, "the random source gave no bytes");
    }
    latch_base64(bytes, sizeof(bytes), lease->token);
    lease->token_length = LATCH_TOKEN_LENGTH;
    return LATCH_DONE;
}

bool latch_lease_held(const latch_lease *lease, int64_t now_ns)
{
    if (now_ns >= lease->deadline_ns) {
        return false;
    }
    return lease->store != NULL && lease->store->class->held != NULL
               ? lease->store->class->held(lease)
               : lease->mode != LATCH_FREE;
}

void latch_lease_drop(latch_lease *lease)
{
    if (lease->store != NULL && lease->store->class->drop != NULL) {
        lease->store->class->drop(lease);
    }
    lease->mode = LATCH_FREE;
    lease->state = NULL;
}

void latch_base64(const uint8_t *bytes, size_t size, char *text)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t at = 0; at < size; at += 3) {
        size_t left = size - at;
        uint32_t group = (uint32_t) bytes[at] << 16 | (uint32_t) (left > 1 ? bytes[at + 1] : 0) << 8
                         | (left > 2 ? bytes[at + 2] : 0);

        *text++ = alphabet[group >> 18];
        *text++ = alphabet[group >> 12 & 63];
        *text++ = left > 1 ? alphabet[group >> 6 & 63] : '=';
        *text++ = left > 2 ? alphabet[group & 63] : '=';
    }
    *text = '\0';
}
