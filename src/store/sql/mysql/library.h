/* libmariadb, opened at run time: in place of its own headers. See library.h. */
#ifndef LATCH_MYSQL_LIBRARY_H
#define LATCH_MYSQL_LIBRARY_H

#include "src/base/library.h"

#include <mysql.h>
#include <errmsg.h>

/* clang-format off */
#define LIBMARIADB_FUNCTIONS(X) \
    X(mariadb_connection) X(mysql_affected_rows) X(mysql_close) X(mysql_errno) X(mysql_error) X(mysql_fetch_row) \
    X(mysql_field_count) X(mysql_free_result) X(mysql_get_server_info) \
    X(mysql_get_server_version) X(mysql_get_socket) X(mysql_get_ssl_cipher) X(mysql_init) X(mysql_insert_id) \
    X(mysql_optionsv) X(mysql_real_connect_cont) X(mysql_real_connect_start) \
    X(mysql_real_query_cont) X(mysql_real_query_start) X(mysql_server_init) \
    X(mysql_stmt_affected_rows) \
    X(mysql_stmt_bind_param) X(mysql_stmt_bind_result) X(mysql_stmt_close) X(mysql_stmt_errno) \
    X(mysql_stmt_error) X(mysql_stmt_execute_cont) X(mysql_stmt_execute_start) \
    X(mysql_stmt_fetch) X(mysql_stmt_field_count) X(mysql_stmt_init) X(mysql_stmt_insert_id) X(mysql_stmt_param_count) \
    X(mysql_stmt_prepare_cont) X(mysql_stmt_prepare_start) X(mysql_stmt_store_result_cont) \
    X(mysql_stmt_store_result_start) X(mysql_store_result_cont) X(mysql_store_result_start)
/* clang-format on */

LATCH_LIBRARY_DECLARE(latch_libmariadb, LIBMARIADB_FUNCTIONS)

#define mariadb_connection latch_libmariadb.mariadb_connection
#define mysql_affected_rows latch_libmariadb.mysql_affected_rows
#define mysql_close latch_libmariadb.mysql_close
#define mysql_errno latch_libmariadb.mysql_errno
#define mysql_error latch_libmariadb.mysql_error
#define mysql_fetch_row latch_libmariadb.mysql_fetch_row
#define mysql_field_count latch_libmariadb.mysql_field_count
#define mysql_free_result latch_libmariadb.mysql_free_result
#define mysql_get_server_info latch_libmariadb.mysql_get_server_info
#define mysql_get_server_version latch_libmariadb.mysql_get_server_version
#define mysql_get_socket latch_libmariadb.mysql_get_socket
#define mysql_get_ssl_cipher latch_libmariadb.mysql_get_ssl_cipher
#define mysql_init latch_libmariadb.mysql_init
#define mysql_insert_id latch_libmariadb.mysql_insert_id
#define mysql_optionsv latch_libmariadb.mysql_optionsv
#define mysql_real_connect_cont latch_libmariadb.mysql_real_connect_cont
#define mysql_real_connect_start latch_libmariadb.mysql_real_connect_start
#define mysql_real_query_cont latch_libmariadb.mysql_real_query_cont
#define mysql_real_query_start latch_libmariadb.mysql_real_query_start
#define mysql_server_init latch_libmariadb.mysql_server_init
#define mysql_stmt_affected_rows latch_libmariadb.mysql_stmt_affected_rows
#define mysql_stmt_bind_param latch_libmariadb.mysql_stmt_bind_param
#define mysql_stmt_bind_result latch_libmariadb.mysql_stmt_bind_result
#define mysql_stmt_close latch_libmariadb.mysql_stmt_close
#define mysql_stmt_errno latch_libmariadb.mysql_stmt_errno
#define mysql_stmt_error latch_libmariadb.mysql_stmt_error
#define mysql_stmt_execute_cont latch_libmariadb.mysql_stmt_execute_cont
#define mysql_stmt_execute_start latch_libmariadb.mysql_stmt_execute_start
#define mysql_stmt_fetch latch_libmariadb.mysql_stmt_fetch
#define mysql_stmt_field_count latch_libmariadb.mysql_stmt_field_count
#define mysql_stmt_init latch_libmariadb.mysql_stmt_init
#define mysql_stmt_insert_id latch_libmariadb.mysql_stmt_insert_id
#define mysql_stmt_param_count latch_libmariadb.mysql_stmt_param_count
#define mysql_stmt_prepare_cont latch_libmariadb.mysql_stmt_prepare_cont
#define mysql_stmt_prepare_start latch_libmariadb.mysql_stmt_prepare_start
#define mysql_stmt_store_result_cont latch_libmariadb.mysql_stmt_store_result_cont
#define mysql_stmt_store_result_start latch_libmariadb.mysql_stmt_store_result_start
#define mysql_store_result_cont latch_libmariadb.mysql_store_result_cont
#define mysql_store_result_start latch_libmariadb.mysql_store_result_start

#endif
