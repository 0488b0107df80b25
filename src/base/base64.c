/* Base64 (RFC 4648), with padding. */
#include "src/base/base64.h"

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
