/* libpq, opened at run time: in place of its own headers. See library.h. */
#ifndef LATCH_POSTGRESQL_LIBRARY_H
#define LATCH_POSTGRESQL_LIBRARY_H

#include "src/base/library.h"

#include <libpq-fe.h>

/* clang-format off */
#define LIBPQ_FUNCTIONS(X) \
    X(PQbackendPID) X(PQclear) X(PQcmdTuples) X(PQconnectPoll) X(PQconnectStartParams) X(PQconninfoFree) \
    X(PQconninfoParse) X(PQconsumeInput) X(PQerrorMessage) X(PQfinish) X(PQflush) X(PQfreemem) \
    X(PQftype) X(PQgetResult) X(PQgetlength) X(PQgetvalue) X(PQhostaddr) X(PQisBusy) X(PQnotifies) \
    X(PQntuples) \
    X(PQresultErrorField) X(PQresultErrorMessage) X(PQresultStatus) X(PQsendQuery) \
    X(PQsendQueryPrepared) X(PQserverVersion) X(PQsetNoticeReceiver) X(PQsetnonblocking) \
    X(PQsocket) X(PQstatus)
/* clang-format on */

LATCH_LIBRARY_DECLARE(latch_libpq, LIBPQ_FUNCTIONS)

#define PQbackendPID latch_libpq.PQbackendPID
#define PQclear latch_libpq.PQclear
#define PQcmdTuples latch_libpq.PQcmdTuples
#define PQconnectPoll latch_libpq.PQconnectPoll
#define PQconnectStartParams latch_libpq.PQconnectStartParams
#define PQconninfoFree latch_libpq.PQconninfoFree
#define PQconninfoParse latch_libpq.PQconninfoParse
#define PQconsumeInput latch_libpq.PQconsumeInput
#define PQerrorMessage latch_libpq.PQerrorMessage
#define PQfinish latch_libpq.PQfinish
#define PQflush latch_libpq.PQflush
#define PQfreemem latch_libpq.PQfreemem
#define PQftype latch_libpq.PQftype
#define PQgetResult latch_libpq.PQgetResult
#define PQgetlength latch_libpq.PQgetlength
#define PQgetvalue latch_libpq.PQgetvalue
#define PQhostaddr latch_libpq.PQhostaddr
#define PQisBusy latch_libpq.PQisBusy
#define PQnotifies latch_libpq.PQnotifies
#define PQntuples latch_libpq.PQntuples
#define PQresultErrorField latch_libpq.PQresultErrorField
#define PQresultErrorMessage latch_libpq.PQresultErrorMessage
#define PQresultStatus latch_libpq.PQresultStatus
#define PQsendQuery latch_libpq.PQsendQuery
#define PQsendQueryPrepared latch_libpq.PQsendQueryPrepared
#define PQserverVersion latch_libpq.PQserverVersion
#define PQsetNoticeReceiver latch_libpq.PQsetNoticeReceiver
#define PQsetnonblocking latch_libpq.PQsetnonblocking
#define PQsocket latch_libpq.PQsocket
#define PQstatus latch_libpq.PQstatus

#endif
