/*
 * A client's WebSocket: the handshake's texts, and binary messages around a stream of bytes. A message is one WebSocket
 * frame, masked with a key of its own; what the server sends may be cut into frames anywhere.
 */
#ifndef FASTPORT_NATIVE_WEBSOCKET_H
#define FASTPORT_NATIVE_WEBSOCKET_H

#include "common.h"

enum {
    WS_LARGEST_HEADER = 14,
    WS_LARGEST_SERVER_HEADER = 10,
    WS_CONTINUATION = 0,
    WS_BINARY = 2,
    WS_PONG = 10,
};

/* The sample key of RFC 6455 and what a server makes of it. */
#define WS_KEY "dGhlIHNhbXBsZSBub25jZQ=="
#define WS_ACCEPT "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

/* A frame's header as it comes, and how much of its payload is still to come. */
struct ws_reader {
    uint8_t header[WS_LARGEST_SERVER_HEADER];
    size_t header_bytes;
    uint64_t left;
    bool skips; /* the payload of a Pong */
};

static inline int ws_request(char *to, size_t size, const char *host, const char *port, const char *path) {
    return snprintf(to, size,
                    "GET %s HTTP/1.1\r\nHost: %s:%s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    "Sec-WebSocket-Key: " WS_KEY "\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: fastport.v1\r\n\r\n",
                    path, host, port);
}

/* Dies unless the server has agreed. */
static inline void ws_check_response(const char *response) {
    if (strncmp(response, "HTTP/1.1 101 ", 13) != 0 || strstr(response, WS_ACCEPT) == NULL ||
        strstr(response, "fastport.v1") == NULL) {
        die("the server refused the WebSocket: %.*s", (int)strcspn(response, "\r\n"), response);
    }
}

/* Writes one message; there has to be room for the largest header and the payload. Returns its bytes. */
static inline size_t ws_write_message(uint8_t *to, const uint8_t *payload, size_t count) {
    static uint32_t key = 2463534242u;
    key ^= key << 13;
    key ^= key >> 17;
    key ^= key << 5;

    size_t at = 0;
    to[at++] = 0x80 | WS_BINARY;
    if (count < 126) {
        to[at++] = 0x80 | (uint8_t)count;
    } else {
        int length_bytes = count <= 0xFFFF ? 2 : 8;
        to[at++] = 0x80 | (length_bytes == 2 ? 126 : 127);
        for (int i = length_bytes - 1; i >= 0; i--) to[at++] = (uint8_t)(count >> (8 * i));
    }
    memcpy(to + at, &key, 4);
    at += 4;

    uint64_t mask = (uint64_t)key << 32 | key;
    uint8_t *masked = to + at;
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint64_t word;
        memcpy(&word, payload + i, 8);
        word ^= mask;
        memcpy(masked + i, &word, 8);
    }
    for (; i < count; i++) masked[i] = payload[i] ^ (uint8_t)(mask >> (8 * (i % 8)));
    return at + count;
}

/* Begins the payload, if the header is whole. */
static inline void ws_begin_payload(struct ws_reader *reader) {
    const uint8_t *header = reader->header;
    if (reader->header_bytes < 2) return;
    int short_length = header[1] & 0x7F;
    size_t length_bytes = short_length == 127 ? 8 : short_length == 126 ? 2 : 0;
    if (reader->header_bytes < 2 + length_bytes) return;

    int opcode = header[0] & 0x0F;
    if ((header[0] & 0x70) != 0 || (header[1] & 0x80) != 0 ||
        (opcode != WS_BINARY && opcode != WS_CONTINUATION && opcode != WS_PONG)) {
        die("the server sent a WebSocket frame that begins 0x%02x 0x%02x", header[0], header[1]);
    }
    reader->skips = opcode == WS_PONG;
    reader->left = length_bytes == 0 ? (uint64_t)short_length : 0;
    for (size_t i = 0; i < length_bytes; i++) reader->left = reader->left << 8 | header[2 + i];
    reader->header_bytes = 0;
}

/* Takes the headers out of received bytes, in place. Returns the bytes of payload. */
static inline size_t ws_read_payload(struct ws_reader *reader, uint8_t *bytes, size_t count) {
    size_t taken = 0;
    for (size_t at = 0; at < count;) {
        if (reader->left == 0) {
            reader->header[reader->header_bytes++] = bytes[at++];
            ws_begin_payload(reader);
            continue;
        }
        size_t part = reader->left < count - at ? (size_t)reader->left : count - at;
        if (!reader->skips) {
            memmove(bytes + taken, bytes + at, part);
            taken += part;
        }
        at += part;
        reader->left -= part;
    }
    return taken;
}

#endif
