/*
 * A client's TLS 1.3 on sockets that do not block. The server's certificate is verified against one authority and the
 * server's address; no session is ever resumed; one cipher suite, so that every server does the same work.
 */
#ifndef FASTPORT_NATIVE_TLS_H
#define FASTPORT_NATIVE_TLS_H

#include "common.h"
#include "tls_api.h"

#include <signal.h>

enum { TLS_WAITS = -1, TLS_WAITS_TO_WRITE = -2 };

static inline const char *tls_error_text(void) {
    static char text[256];
    unsigned long error = ERR_get_error();
    if (error == 0) return errno == 0 ? "the server ended the connection" : strerror(errno);
    ERR_error_string_n(error, text, sizeof text);
    return text;
}

/* What all sessions share. */
static inline SSL_CTX *tls_client_context(const char *authority_file, const char *address) {
    /* OpenSSL writes to sockets as to files: a server that has gone away would end the program without a word. */
    signal(SIGPIPE, SIG_IGN);
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (context == NULL) die("TLS: %s", tls_error_text());
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_3_VERSION, NULL);
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, TLS1_3_VERSION, NULL);
    SSL_CTX_ctrl(context, SSL_CTRL_MODE, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER, NULL);
    SSL_CTX_ctrl(context, SSL_CTRL_SET_READ_AHEAD, 1, NULL);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    if (SSL_CTX_set_ciphersuites(context, "TLS_AES_256_GCM_SHA384") != 1 ||
        SSL_CTX_load_verify_locations(context, authority_file, NULL) != 1 ||
        X509_VERIFY_PARAM_set1_ip_asc(SSL_CTX_get0_param(context), address) != 1) {
        die("TLS: %s for %s: %s", authority_file, address, tls_error_text());
    }
    return context;
}

static inline SSL *tls_new_session(SSL_CTX *context, int fd) {
    SSL *session = SSL_new(context);
    if (session == NULL || SSL_set_fd(session, fd) != 1) die("TLS: %s", tls_error_text());
    return session;
}

/* The result of a call: a count, 0 for the server's end, TLS_WAITS or TLS_WAITS_TO_WRITE. What else goes wrong ends the program. */
static inline int tls_result(const char *what, SSL *session, int result) {
    if (result > 0) return result;
    switch (SSL_get_error(session, result)) {
    case SSL_ERROR_WANT_READ: return TLS_WAITS;
    case SSL_ERROR_WANT_WRITE: return TLS_WAITS_TO_WRITE;
    case SSL_ERROR_ZERO_RETURN: return 0;
    default: die("TLS %s: %s", what, tls_error_text());
    }
}

static inline int tls_connect(SSL *session) {
    errno = 0;
    ERR_clear_error();
    return tls_result("handshake", session, SSL_connect(session));
}

static inline int tls_read(SSL *session, void *bytes, size_t count) {
    errno = 0;
    ERR_clear_error();
    return tls_result("read", session, SSL_read(session, bytes, count > INT32_MAX ? INT32_MAX : (int)count));
}

static inline int tls_write(SSL *session, const void *bytes, size_t count) {
    errno = 0;
    ERR_clear_error();
    return tls_result("write", session, SSL_write(session, bytes, count > INT32_MAX ? INT32_MAX : (int)count));
}

#endif
