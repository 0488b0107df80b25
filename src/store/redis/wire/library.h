/* hiredis, opened at run time: in place of its own headers. See library.h. */
#ifndef LATCH_REDIS_LIBRARY_H
#define LATCH_REDIS_LIBRARY_H

#include "src/base/library.h"

#include <hiredis/hiredis.h>

/* clang-format off */
#define HIREDIS_FUNCTIONS(X) \
    X(freeReplyObject) X(redisBufferRead) X(redisConnectFd) X(redisFreeKeepFd) \
    X(redisGetReplyFromReader) X(redisReaderFeed)
/* clang-format on */

LATCH_LIBRARY_DECLARE(latch_hiredis, HIREDIS_FUNCTIONS)

#define freeReplyObject latch_hiredis.freeReplyObject
#define redisBufferRead latch_hiredis.redisBufferRead
#define redisConnectFd latch_hiredis.redisConnectFd
#define redisFreeKeepFd latch_hiredis.redisFreeKeepFd
#define redisGetReplyFromReader latch_hiredis.redisGetReplyFromReader
#define redisReaderFeed latch_hiredis.redisReaderFeed

#endif
