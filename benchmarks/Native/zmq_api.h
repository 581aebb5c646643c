/*
 * The part of libzmq's interface that zmq_peer uses, declared here because the package libzmq5 brings the library without
 * its headers. Names and numbers are those of libzmq 4.3 (zmq(7), zmq_socket(3), zmq_setsockopt(3)).
 */
#ifndef FASTPORT_NATIVE_ZMQ_API_H
#define FASTPORT_NATIVE_ZMQ_API_H

#include <stddef.h>

enum { ZMQ_ROUTER = 6, ZMQ_PULL = 7, ZMQ_PUSH = 8 };
enum {
    ZMQ_ROUTING_ID = 5,
    ZMQ_LINGER = 17,
    ZMQ_SNDHWM = 23,
    ZMQ_RCVHWM = 24,
    ZMQ_LAST_ENDPOINT = 32,
    ZMQ_ROUTER_MANDATORY = 33,
};
enum { ZMQ_SNDMORE = 2 };

/* 64 bytes, aligned like a pointer; its inside is the library's. */
typedef union {
    unsigned char bytes[64];
    void *alignment;
} zmq_msg_t;

int zmq_errno(void);
const char *zmq_strerror(int error);
void zmq_version(int *major, int *minor, int *patch);
void *zmq_ctx_new(void);
void *zmq_socket(void *context, int type);
int zmq_setsockopt(void *socket, int option, const void *value, size_t size);
int zmq_getsockopt(void *socket, int option, void *value, size_t *size);
int zmq_bind(void *socket, const char *endpoint);
int zmq_connect(void *socket, const char *endpoint);
int zmq_send(void *socket, const void *bytes, size_t size, int flags);
int zmq_msg_init(zmq_msg_t *message);
int zmq_msg_recv(zmq_msg_t *message, void *socket, int flags);
int zmq_msg_close(zmq_msg_t *message);
void *zmq_msg_data(zmq_msg_t *message);
size_t zmq_msg_size(const zmq_msg_t *message);

#endif
