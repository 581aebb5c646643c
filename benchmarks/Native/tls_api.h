/*
 * The part of OpenSSL's interface that the TLS load clients use, declared here because the package libssl3 brings the
 * library without its headers. Names and numbers are those of OpenSSL 3 (ssl(7), SSL_CTX_ctrl(3)); what its headers have as
 * macros is one of the two _ctrl functions.
 */
#ifndef FASTPORT_NATIVE_TLS_API_H
#define FASTPORT_NATIVE_TLS_API_H

#include <stddef.h>

enum { SSL_ERROR_SSL = 1, SSL_ERROR_WANT_READ = 2, SSL_ERROR_WANT_WRITE = 3, SSL_ERROR_SYSCALL = 5, SSL_ERROR_ZERO_RETURN = 6 };
enum { SSL_FILETYPE_PEM = 1, SSL_VERIFY_PEER = 1, TLS1_3_VERSION = 0x0304 };
enum { SSL_CTRL_MODE = 33, SSL_CTRL_SET_READ_AHEAD = 41, SSL_CTRL_SET_MIN_PROTO_VERSION = 123, SSL_CTRL_SET_MAX_PROTO_VERSION = 124 };
enum { SSL_MODE_ENABLE_PARTIAL_WRITE = 1, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER = 2 };

typedef struct ssl_method_st SSL_METHOD;
typedef struct ssl_ctx_st SSL_CTX;
typedef struct ssl_st SSL;
typedef struct X509_VERIFY_PARAM_st X509_VERIFY_PARAM;

unsigned long ERR_get_error(void);
void ERR_clear_error(void);
void ERR_error_string_n(unsigned long error, char *text, size_t size);
int X509_VERIFY_PARAM_set1_ip_asc(X509_VERIFY_PARAM *parameters, const char *address);
const SSL_METHOD *TLS_client_method(void);
SSL_CTX *SSL_CTX_new(const SSL_METHOD *method);
long SSL_CTX_ctrl(SSL_CTX *context, int command, long number, void *pointer);
int SSL_CTX_set_ciphersuites(SSL_CTX *context, const char *names);
void SSL_CTX_set_default_read_buffer_len(SSL_CTX *context, size_t bytes);
int SSL_CTX_load_verify_locations(SSL_CTX *context, const char *file, const char *folder);
void SSL_CTX_set_verify(SSL_CTX *context, int mode, int (*callback)(int, void *));
X509_VERIFY_PARAM *SSL_CTX_get0_param(SSL_CTX *context);
SSL *SSL_new(SSL_CTX *context);
void SSL_free(SSL *session);
int SSL_set_fd(SSL *session, int descriptor);
int SSL_connect(SSL *session);
int SSL_read(SSL *session, void *bytes, int count);
int SSL_write(SSL *session, const void *bytes, int count);
int SSL_shutdown(SSL *session);
int SSL_get_error(const SSL *session, int result);
int SSL_session_reused(const SSL *session);

#endif
