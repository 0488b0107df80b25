/* Answers to calls: lists of byte strings, in one block of memory each. */
#include "src/base/base.h"

#include <string.h>

latch_answer *latch_answer_make(const latch_engine *engine, size_t count, size_t bytes)
{
    size_t size = sizeof(latch_answer) + count * (sizeof(latch_bytes) + 1);
    latch_answer *answer = latch_allocate(engine, size + bytes);

    if (answer != NULL) {
        answer->count = 0;
        answer->end = (char *) (answer->parts + count);
    }
    return answer;
}

void latch_answer_add(latch_answer *answer, const char *text, size_t length)
{
    answer->parts[answer->count++] = (latch_bytes){answer->end, length};
    if (length > 0) {
        memcpy(answer->end, text, length);
    }
    answer->end[length] = '\0';
    answer->end += length + 1;
}

void latch_answer_free(const latch_engine *engine, latch_answer *answer)
{
    latch_free(engine, answer);
}
