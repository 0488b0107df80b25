/* OpenSSL, opened at run time: in place of its own headers. See library.h. */
#ifndef LATCH_REDIS_TLS_LIBRARY_H
#define LATCH_REDIS_TLS_LIBRARY_H

#include "src/base/library.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* clang-format off */
#define OPENSSL_FUNCTIONS(X) \
    X(BIO_clear_flags) X(BIO_get_data) X(BIO_meth_free) X(BIO_meth_new) X(BIO_meth_set_ctrl) \
    X(BIO_meth_set_read) X(BIO_meth_set_write) X(BIO_new) X(BIO_set_data) X(BIO_set_flags) \
    X(BIO_set_init) X(ERR_clear_error) X(ERR_peek_error) X(ERR_reason_error_string) \
    X(SSL_CTX_ctrl) X(SSL_CTX_free) X(SSL_CTX_load_verify_locations) X(SSL_CTX_new) \
    X(SSL_CTX_sess_set_new_cb) X(SSL_CTX_set_cert_cb) X(SSL_CTX_set_cipher_list) \
    X(SSL_CTX_set_default_passwd_cb) X(SSL_CTX_set_default_passwd_cb_userdata) \
    X(SSL_CTX_set_default_verify_paths) X(SSL_CTX_set_options) X(SSL_CTX_set_security_level) \
    X(SSL_CTX_set_verify) X(SSL_CTX_set_verify_depth) X(SSL_CTX_use_PrivateKey_file) \
    X(SSL_CTX_use_certificate_chain_file) X(SSL_SESSION_free) X(SSL_ctrl) X(SSL_do_handshake) \
    X(SSL_free) X(SSL_get0_param) X(SSL_get_SSL_CTX) X(SSL_get_error) X(SSL_get_ex_data) \
    X(SSL_get_ex_data_X509_STORE_CTX_idx) X(SSL_get_verify_result) X(SSL_has_pending) \
    X(SSL_is_init_finished) X(SSL_new) X(SSL_read) X(SSL_set_bio) X(SSL_set_connect_state) \
    X(SSL_set_ex_data) X(SSL_set_session) X(SSL_set_shutdown) X(SSL_write) X(TLS_client_method) \
    X(X509_STORE_CTX_get_error) X(X509_STORE_CTX_get_ex_data) X(X509_VERIFY_PARAM_set1_host) \
    X(X509_VERIFY_PARAM_set1_ip_asc) X(X509_VERIFY_PARAM_set_hostflags) \
    X(X509_verify_cert_error_string)
/* clang-format on */

LATCH_LIBRARY_DECLARE(latch_openssl, OPENSSL_FUNCTIONS)

#define BIO_clear_flags latch_openssl.BIO_clear_flags
#define BIO_get_data latch_openssl.BIO_get_data
#define BIO_meth_free latch_openssl.BIO_meth_free
#define BIO_meth_new latch_openssl.BIO_meth_new
#define BIO_meth_set_ctrl latch_openssl.BIO_meth_set_ctrl
#define BIO_meth_set_read latch_openssl.BIO_meth_set_read
#define BIO_meth_set_write latch_openssl.BIO_meth_set_write
#define BIO_new latch_openssl.BIO_new
#define BIO_set_data latch_openssl.BIO_set_data
#define BIO_set_flags latch_openssl.BIO_set_flags
#define BIO_set_init latch_openssl.BIO_set_init
#define ERR_clear_error latch_openssl.ERR_clear_error
#define ERR_peek_error latch_openssl.ERR_peek_error
#define ERR_reason_error_string latch_openssl.ERR_reason_error_string
#define SSL_CTX_ctrl latch_openssl.SSL_CTX_ctrl
#define SSL_CTX_free latch_openssl.SSL_CTX_free
#define SSL_CTX_load_verify_locations latch_openssl.SSL_CTX_load_verify_locations
#define SSL_CTX_new latch_openssl.SSL_CTX_new
#define SSL_CTX_sess_set_new_cb latch_openssl.SSL_CTX_sess_set_new_cb
#define SSL_CTX_set_cert_cb latch_openssl.SSL_CTX_set_cert_cb
#define SSL_CTX_set_cipher_list latch_openssl.SSL_CTX_set_cipher_list
#define SSL_CTX_set_default_passwd_cb latch_openssl.SSL_CTX_set_default_passwd_cb
#define SSL_CTX_set_default_passwd_cb_userdata latch_openssl.SSL_CTX_set_default_passwd_cb_userdata
#define SSL_CTX_set_default_verify_paths latch_openssl.SSL_CTX_set_default_verify_paths
#define SSL_CTX_set_options latch_openssl.SSL_CTX_set_options
#define SSL_CTX_set_security_level latch_openssl.SSL_CTX_set_security_level
#define SSL_CTX_set_verify latch_openssl.SSL_CTX_set_verify
#define SSL_CTX_set_verify_depth latch_openssl.SSL_CTX_set_verify_depth
#define SSL_CTX_use_PrivateKey_file latch_openssl.SSL_CTX_use_PrivateKey_file
#define SSL_CTX_use_certificate_chain_file latch_openssl.SSL_CTX_use_certificate_chain_file
#define SSL_SESSION_free latch_openssl.SSL_SESSION_free
#define SSL_ctrl latch_openssl.SSL_ctrl
#define SSL_do_handshake latch_openssl.SSL_do_handshake
#define SSL_free latch_openssl.SSL_free
#define SSL_get0_param latch_openssl.SSL_get0_param
#define SSL_get_SSL_CTX latch_openssl.SSL_get_SSL_CTX
#define SSL_get_error latch_openssl.SSL_get_error
#define SSL_get_ex_data latch_openssl.SSL_get_ex_data
#define SSL_get_ex_data_X509_STORE_CTX_idx latch_openssl.SSL_get_ex_data_X509_STORE_CTX_idx
#define SSL_get_verify_result latch_openssl.SSL_get_verify_result
#define SSL_has_pending latch_openssl.SSL_has_pending
#define SSL_is_init_finished latch_openssl.SSL_is_init_finished
#define SSL_new latch_openssl.SSL_new
#define SSL_read latch_openssl.SSL_read
#define SSL_set_bio latch_openssl.SSL_set_bio
#define SSL_set_connect_state latch_openssl.SSL_set_connect_state
#define SSL_set_ex_data latch_openssl.SSL_set_ex_data
#define SSL_set_session latch_openssl.SSL_set_session
#define SSL_set_shutdown latch_openssl.SSL_set_shutdown
#define SSL_write latch_openssl.SSL_write
#define TLS_client_method latch_openssl.TLS_client_method
#define X509_STORE_CTX_get_error latch_openssl.X509_STORE_CTX_get_error
#define X509_STORE_CTX_get_ex_data latch_openssl.X509_STORE_CTX_get_ex_data
#define X509_VERIFY_PARAM_set1_host latch_openssl.X509_VERIFY_PARAM_set1_host
#define X509_VERIFY_PARAM_set1_ip_asc latch_openssl.X509_VERIFY_PARAM_set1_ip_asc
#define X509_VERIFY_PARAM_set_hostflags latch_openssl.X509_VERIFY_PARAM_set_hostflags
#define X509_verify_cert_error_string latch_openssl.X509_verify_cert_error_string

#endif
