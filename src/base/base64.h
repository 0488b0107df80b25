#ifndef LATCH_BASE64_H
#define LATCH_BASE64_H

#include <stddef.h>
#include <stdint.h>

/* Writes the base64 form of `size` bytes and a NUL: 4 * ceil(size / 3) + 1 bytes. */
void latch_base64(const uint8_t *bytes, size_t size, char *text);

#endif
