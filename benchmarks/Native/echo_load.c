/*
 * Echo load over the FastPort wire protocol (docs/protocol.md): one thread, one epoll, no allocation per message.
 *
 * It stands on neither side of a comparison: every server is driven by the same program, which has to be clearly faster
 * than any of them. Three things keep it so:
 *   - the replies found by one recv are replaced by new requests in one send;
 *   - requests are patched (correlation, stamp) in one block of ready-made frames shared by all connections, so that a
 *     body is never copied unless the socket would not take it;
 *   - the clock is read twice per burst, not per message.
 *
 * Every reply is verified: length, type, flags, version, a correlation that is in flight, and each byte of the body, which
 * starts with the request's own correlation where the payload has room for it.
 *
 * With --path the frames lie in WebSocket messages (websocket.h), either those of one send together or each alone.
 *
 * Compiled with FASTPORT_TLS it speaks TLS 1.3 below all this (tls.h): echo_load_tls.
 *
 * Prints one line of JSON on stdout. Exit code 0: every reply was right. 1: it was not, or the run failed; stderr says why.
 * 2: wrong arguments. Ends by itself: a server that stops answering ends the run after STALL_SECONDS.
 */
#define _GNU_SOURCE
#include "common.h"
#include "histogram.h"
#include "websocket.h"
#ifdef FASTPORT_TLS
#include "tls.h"
#endif

#include <getopt.h>
#include <poll.h>
#include <sys/epoll.h>

enum {
    HEADER_BYTES = 12,
    PROTOCOL_VERSION = 1,
    FLAG_REPLY = 1,
    FLAG_ERROR = 2,
    STAMP_BYTES = 4,
    LARGEST_ERROR_FRAME = 1024,
    PROTOBUF_PAYLOAD_TAG = 0x0A,
    PROTOBUF_CODE_TAG = 0x08,
    CONNECT_SECONDS = 5,
    STALL_SECONDS = 5,
    SETTLE_SECONDS = 3,
    DRAIN_SECONDS = 30,
    MAX_EVENTS = 256,
    MAX_COUNTED_SECONDS = 600,
    LARGEST_RESPONSE = 4096,
};

/* ---- options ---------------------------------------------------------------------------------------------------- */

static struct {
    const char *host;
    const char *port;
    int connections;
    int in_flight;
    long size;
    long type;
    bool protobuf;
    double duration;
    double warmup;
    double hold;
    int server_pid;
    const char *watched_cores;
    bool as_sent;
    const char *authority_file;
    const char *path;
    bool single_messages;
} opt = {"127.0.0.1", NULL, 32, 16, 64, 0x0100, true, 3.0, 0.5, 0, 0, NULL, false, NULL, NULL, false};

static void usage(FILE *to) {
    fprintf(to,
            "usage: echo_load --port PORT [options]\n"
            "  --host HOST         server to load (127.0.0.1)\n"
            "  --port PORT         its port\n"
            "  --connections N     TCP connections, 1 to 20000 (32)\n"
            "  --in-flight M       requests in flight per connection, 1 to 65536 (16)\n"
            "  --size BYTES        payload of a message, 0 to 268435000 (64)\n"
            "  --type T            message type, decimal or 0x hexadecimal (0x0100)\n"
            "  --body echo|raw     echo: Protobuf message with the payload as field 1; raw: the payload alone (echo)\n"
            "  --reply set|as-sent set: replies carry the Reply bit; as-sent: they are the requests' very bytes (set)\n"
            "  --path PATH         speak WebSocket, at this path\n"
            "  --messages M        burst: the frames of one send are one WebSocket message; single: each is one (burst)\n"
            "  --duration S        measured seconds (3)\n"
            "  --warmup S          seconds of load before measuring (0.5)\n"
            "  --hold S            instead of a load: one echo on every connection, 3 s to settle, S idle seconds, one more echo on each\n"
            "  --server-pid P      report CPU time and peak memory of this process, too\n"
            "  --watch-cores A,B   report what else ran on these cores, which have to be those of server and client\n"
#ifdef FASTPORT_TLS
            "  --authority FILE    PEM file with the certificate that has signed the server's, or is it\n"
#endif
    );
}

static void parse_options(int argc, char **argv) {
    static const struct option names[] = {
        {"host", required_argument, NULL, 'h'},      {"port", required_argument, NULL, 'p'},
        {"connections", required_argument, NULL, 'c'}, {"in-flight", required_argument, NULL, 'f'},
        {"size", required_argument, NULL, 's'},      {"type", required_argument, NULL, 't'},
        {"body", required_argument, NULL, 'b'},      {"duration", required_argument, NULL, 'd'},
        {"warmup", required_argument, NULL, 'w'},    {"server-pid", required_argument, NULL, 'P'},
        {"watch-cores", required_argument, NULL, 'W'}, {"reply", required_argument, NULL, 'r'},
        {"hold", required_argument, NULL, 'H'},      {"help", no_argument, NULL, '?'},
        {"path", required_argument, NULL, 'Q'},      {"messages", required_argument, NULL, 'M'},
#ifdef FASTPORT_TLS
        {"authority", required_argument, NULL, 'A'},
#endif
        {NULL, 0, NULL, 0},
    };
    int c;
    opterr = 0;
    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (c) {
        case 'h': opt.host = optarg; break;
        case 'p': integer_option("port", optarg, 1, 65535); opt.port = optarg; break;
        case 'c': opt.connections = (int)integer_option("connections", optarg, 1, 20000); break;
        case 'f': opt.in_flight = (int)integer_option("in-flight", optarg, 1, 65536); break;
        case 's': opt.size = integer_option("size", optarg, 0, 268435000); break;
        case 't': opt.type = integer_option("type", optarg, 0, 0xFFFF); break;
        case 'b':
            if (strcmp(optarg, "echo") != 0 && strcmp(optarg, "raw") != 0) bad_argument("body", optarg, "echo or raw");
            opt.protobuf = strcmp(optarg, "echo") == 0;
            break;
        case 'r':
            if (strcmp(optarg, "set") != 0 && strcmp(optarg, "as-sent") != 0) bad_argument("reply", optarg, "set or as-sent");
            opt.as_sent = strcmp(optarg, "as-sent") == 0;
            break;
        case 'A': opt.authority_file = optarg; break;
        case 'Q':
            if (optarg[0] != '/' || strlen(optarg) > 256) bad_argument("path", optarg, "a path, / and at most 255 bytes");
            opt.path = optarg;
            break;
        case 'M':
            if (strcmp(optarg, "burst") != 0 && strcmp(optarg, "single") != 0) bad_argument("messages", optarg, "burst or single");
            opt.single_messages = strcmp(optarg, "single") == 0;
            break;
        case 'H': opt.hold = seconds_option("hold", optarg, 0.01); break;
        case 'd': opt.duration = seconds_option("duration", optarg, 0.01); break;
        case 'w': opt.warmup = seconds_option("warmup", optarg, 0); break;
        case 'P': opt.server_pid = (int)integer_option("server-pid", optarg, 1, 0x7FFFFFFF); break;
        case 'W':
            check_core_list("watch-cores", optarg);
            opt.watched_cores = optarg;
            break;
        default:
            if (optopt == 0 && strcmp(argv[optind - 1], "--help") == 0) {
                usage(stdout);
                exit(0);
            }
            fprintf(stderr, "echo_load: %s: unknown option, or its value is missing\n", argv[optind - 1]);
            usage(stderr);
            exit(2);
        }
    }
    if (optind < argc || opt.port == NULL) {
        fprintf(stderr, optind < argc ? "echo_load: %s: unexpected argument\n" : "echo_load: --port is required%s\n",
                optind < argc ? argv[optind] : "");
        usage(stderr);
        exit(2);
    }
#ifdef FASTPORT_TLS
    if (opt.authority_file == NULL) {
        fprintf(stderr, "echo_load_tls: --authority is required\n");
        exit(2);
    }
#endif
}

/* ---- connections -------------------------------------------------------------------------------------------------- */

struct slot {
    uint32_t correlation; /* 0: free */
    uint64_t sent_ns;
};

struct connection {
    int fd;
#ifdef FASTPORT_TLS
    SSL *tls;
#endif
    struct ws_reader websocket;
    uint32_t next_correlation;
    uint32_t outstanding;
    struct slot *slots;    /* requests in flight, at correlation & slot_mask */
    uint8_t *carry;        /* head of a frame whose rest has not come yet */
    size_t carried;
    uint8_t *backlog;      /* request bytes that the socket did not take */
    size_t backlog_start;
    size_t backlog_end;
    bool waits_to_write;
};

static struct connection *connections;
static uint32_t slot_mask;
static int epoll_fd;

static size_t body_prefix;   /* bytes of tag and length before the payload */
static size_t frame_bytes;
static size_t wire_frame_bytes; /* with a WebSocket header of its own, if there are any */
static size_t stamp_bytes;
static uint8_t *frames;      /* in_flight ready-made requests, patched and sent */
static uint8_t *expected;    /* the body of a right reply, its stamp apart */
static uint8_t *wire;        /* requests as WebSocket messages */
static uint8_t *input;
static size_t input_bytes;

static uint64_t sent_messages;
static uint64_t received_messages;
static uint64_t errors;
static bool measuring;

/* The first error is described, all are counted. */
static void report_error(const char *format, ...) {
    if (errors++ > 0) return;
    va_list arguments;
    va_start(arguments, format);
    fputs("echo_load: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

static void build_frames(void) {
    uint8_t prefix[1 + 10];
    body_prefix = 0;
    /* Protobuf leaves a field out that has its default value: the empty payload is an empty body. */
    if (opt.protobuf && opt.size > 0) {
        prefix[body_prefix++] = PROTOBUF_PAYLOAD_TAG;
        unsigned long rest = (unsigned long)opt.size;
        for (; rest >= 0x80; rest >>= 7) prefix[body_prefix++] = (uint8_t)(rest | 0x80);
        prefix[body_prefix++] = (uint8_t)rest;
    }

    size_t payload = (size_t)opt.size;
    size_t body = body_prefix + payload;
    stamp_bytes = payload < STAMP_BYTES ? 0 : STAMP_BYTES;
    frame_bytes = HEADER_BYTES + body;
    wire_frame_bytes = frame_bytes + (opt.path == NULL ? 0 : WS_LARGEST_HEADER);
    expected = allocate(1, body);
    memcpy(expected, prefix, body_prefix);
    uint32_t noise = 2463534242u;
    for (size_t i = 0; i < payload; i++) {
        noise ^= noise << 13;
        noise ^= noise >> 17;
        noise ^= noise << 5;
        expected[body_prefix + i] = (uint8_t)noise;
    }

    frames = allocate((size_t)opt.in_flight, frame_bytes);
    uint32_t length = (uint32_t)(frame_bytes - 4);
    uint16_t type = (uint16_t)opt.type;
    for (int i = 0; i < opt.in_flight; i++) {
        uint8_t *frame = frames + (size_t)i * frame_bytes;
        memcpy(frame, &length, 4);
        memcpy(frame + 4, &type, 2);
        frame[6] = 0;
        frame[7] = PROTOCOL_VERSION;
        memcpy(frame + HEADER_BYTES, expected, body);
    }

    if (opt.path != NULL) wire = allocate((size_t)opt.in_flight, wire_frame_bytes);

    /* One recv takes everything a connection can have in flight, and the head of a frame left from the one before. */
    input_bytes = (size_t)(opt.in_flight + 1) * wire_frame_bytes;
    if (input_bytes < 256 * 1024) input_bytes = 256 * 1024;
    input = allocate(1, input_bytes);
}

static int connect_to(const struct addrinfo *address) {
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    if (connect(fd, address->ai_addr, address->ai_addrlen) != 0) {
        int error = errno;
        if (error == EINPROGRESS) {
            struct pollfd p = {fd, POLLOUT, 0};
            socklen_t size = sizeof error;
            error = ETIMEDOUT;
            if (poll(&p, 1, CONNECT_SECONDS * 1000) == 1) getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
        }
        if (error != 0) {
            close(fd);
            errno = error;
            return -1;
        }
    }
    int on = 1;
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

#ifdef FASTPORT_TLS

static void shake_hands(struct connection *c, SSL_CTX *context) {
    c->tls = tls_new_session(context, c->fd);
    for (int result; (result = tls_connect(c->tls)) != 1;) {
        struct pollfd p = {c->fd, result == TLS_WAITS_TO_WRITE ? POLLOUT : POLLIN, 0};
        if (poll(&p, 1, CONNECT_SECONDS * 1000) != 1) die("no TLS handshake within %d s", CONNECT_SECONDS);
    }
}

/* Bytes the server sent; 0 for its end, -1 for none now. */
static ssize_t receive_some(struct connection *c, uint8_t *bytes, size_t count) {
    size_t taken = 0;
    while (taken < count) {
        /* A record at a time, and no event tells of those that the library holds: until there are none. */
        int n = tls_read(c->tls, bytes + taken, count - taken);
        if (n <= 0) return taken > 0 ? (ssize_t)taken : n == 0 ? 0 : -1;
        taken += (size_t)n;
    }
    return (ssize_t)taken;
}

/* Bytes the socket took; 0 where it is full. */
static size_t send_some(struct connection *c, const uint8_t *bytes, size_t count) {
    size_t taken = 0;
    while (taken < count) {
        int n = tls_write(c->tls, bytes + taken, count - taken);
        if (n <= 0) break;
        taken += (size_t)n;
    }
    return taken;
}

#else

static ssize_t receive_some(struct connection *c, uint8_t *bytes, size_t count) {
    ssize_t n = recv(c->fd, bytes, count, 0);
    if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) die("recv: %s", strerror(errno));
    return n;
}

/* Bytes the socket took; 0 where it is full. */
static size_t send_some(struct connection *c, const uint8_t *bytes, size_t count) {
    for (;;) {
        ssize_t n = send(c->fd, bytes, count, MSG_NOSIGNAL);
        if (n >= 0) return (size_t)n;
        if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
        if (errno != EINTR) die("send: %s", strerror(errno));
    }
}

#endif

static void wait_for(const struct connection *c, short event, const char *what) {
    struct pollfd p = {c->fd, event, 0};
    if (poll(&p, 1, CONNECT_SECONDS * 1000) != 1) die("no %s within %d s", what, CONNECT_SECONDS);
}

static void upgrade(struct connection *c) {
    char text[LARGEST_RESPONSE];
    size_t request = (size_t)ws_request(text, sizeof text, opt.host, opt.port, opt.path);
    for (size_t sent = 0; (sent += send_some(c, (const uint8_t *)text + sent, request - sent)) < request;) {
        wait_for(c, POLLOUT, "room for the WebSocket request");
    }

    /* Nothing follows the response before the first request, so it may be read in one piece. */
    size_t received = 0;
    text[0] = '\0';
    while (strstr(text, "\r\n\r\n") == NULL) {
        wait_for(c, POLLIN, "response to the WebSocket request");
        ssize_t n = receive_some(c, (uint8_t *)text + received, sizeof text - 1 - received);
        if (n == 0) die("the server ended the WebSocket handshake, or its response is too long");
        if (n > 0) received += (size_t)n;
        text[received] = '\0';
    }
    ws_check_response(text);
}

static void open_connections(void) {
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *address;
    int error = getaddrinfo(opt.host, opt.port, &hints, &address);
    if (error != 0) die("cannot resolve %s: %s", opt.host, gai_strerror(error));

    use_all_descriptors();

    /* Four places per request in flight: one that waits long for its reply does not stand in the way of the next. */
    uint32_t slots = 4;
    while (slots < (uint32_t)opt.in_flight * 4) slots *= 2;
    slot_mask = slots - 1;

    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_fd < 0) die("epoll_create1: %s", strerror(errno));
    connections = allocate((size_t)opt.connections, sizeof *connections);
#ifdef FASTPORT_TLS
    SSL_CTX *context = tls_client_context(opt.authority_file, opt.host);

    /* One recv takes many records, as one recv without TLS takes many messages. */
    SSL_CTX_set_default_read_buffer_len(context, 256 * 1024);
#endif
    for (int i = 0; i < opt.connections; i++) {
        struct connection *c = &connections[i];
        c->fd = connect_to(address);
        if (c->fd < 0) {
            die("cannot connect to %s:%s (connection %d of %d): %s", opt.host, opt.port, i + 1, opt.connections, strerror(errno));
        }
#ifdef FASTPORT_TLS
        shake_hands(c, context);
#endif
        if (opt.path != NULL) upgrade(c);
        c->next_correlation = 1;
        c->slots = allocate(slots, sizeof *c->slots);
        c->carry = allocate(1, frame_bytes > LARGEST_ERROR_FRAME ? frame_bytes : LARGEST_ERROR_FRAME);
        c->backlog = allocate((size_t)opt.in_flight, wire_frame_bytes);
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
        if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &e) != 0) die("epoll_ctl: %s", strerror(errno));
    }
    freeaddrinfo(address);
}

static void wait_to_write(struct connection *c, bool wanted) {
    if (c->waits_to_write == wanted) return;
    c->waits_to_write = wanted;
    struct epoll_event e = {.events = EPOLLIN | (wanted ? EPOLLOUT : 0), .data.ptr = c};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_MOD, c->fd, &e) != 0) die("epoll_ctl: %s", strerror(errno));
}

static void flush_backlog(struct connection *c) {
    c->backlog_start += send_some(c, c->backlog + c->backlog_start, c->backlog_end - c->backlog_start);
    if (c->backlog_start == c->backlog_end) {
        c->backlog_start = c->backlog_end = 0;
        wait_to_write(c, false);
    }
}

static void keep_for_later(struct connection *c, const uint8_t *bytes, size_t count) {
    if (c->backlog_end + count > (size_t)opt.in_flight * wire_frame_bytes) {
        memmove(c->backlog, c->backlog + c->backlog_start, c->backlog_end - c->backlog_start);
        c->backlog_end -= c->backlog_start;
        c->backlog_start = 0;
    }
    memcpy(c->backlog + c->backlog_end, bytes, count);
    c->backlog_end += count;
    wait_to_write(c, true);
}

/* The first requests as WebSocket messages, in wire. Returns their bytes. */
static size_t wrap_requests(int count) {
    int messages = opt.single_messages ? count : 1;
    size_t payload = (size_t)(opt.single_messages ? 1 : count) * frame_bytes;
    size_t bytes = 0;
    for (int i = 0; i < messages; i++) bytes += ws_write_message(wire + bytes, frames + (size_t)i * payload, payload);
    return bytes;
}

static void send_requests(struct connection *c, int count) {
    uint64_t now = now_ns();
    uint8_t *frame = frames;
    for (int i = 0; i < count; i++, frame += frame_bytes) {
        uint32_t correlation = c->next_correlation;
        while (correlation == 0 || c->slots[correlation & slot_mask].correlation != 0) correlation++;
        c->next_correlation = correlation + 1;
        struct slot *slot = &c->slots[correlation & slot_mask];
        slot->correlation = correlation;
        slot->sent_ns = now;
        memcpy(frame + 8, &correlation, 4);
        memcpy(frame + HEADER_BYTES + body_prefix, &correlation, stamp_bytes);
    }
    c->outstanding += (uint32_t)count;
    sent_messages += (uint64_t)count;

    const uint8_t *requests = opt.path == NULL ? frames : wire;
    size_t bytes = opt.path == NULL ? (size_t)count * frame_bytes : wrap_requests(count);
    size_t taken = c->backlog_end > 0 ? 0 : send_some(c, requests, bytes);
    if (taken < bytes) keep_for_later(c, requests + taken, bytes - taken);
}

/* Verifies one whole frame and frees its request's slot. */
static void take_reply(struct connection *c, const uint8_t *frame, size_t bytes, uint64_t now) {
    uint16_t type;
    uint32_t correlation;
    memcpy(&type, frame + 4, 2);
    memcpy(&correlation, frame + 8, 4);
    uint8_t flags = frame[6];

    struct slot *slot = &c->slots[correlation & slot_mask];
    if (correlation == 0 || slot->correlation != correlation) {
        die("reply with correlation %u, which is not in flight (type 0x%04x, flags 0x%02x)", correlation, type, flags);
    }
    if (measuring) histogram_record(now - slot->sent_ns);
    slot->correlation = 0;
    c->outstanding--;
    received_messages++;

    if (flags == (FLAG_REPLY | FLAG_ERROR) && bytes > HEADER_BYTES + 1 && frame[HEADER_BYTES] == PROTOBUF_CODE_TAG) {
        report_error("the server answered type 0x%04x with error code %d", type, frame[HEADER_BYTES + 1]);
        return;
    }
    if (flags != (opt.as_sent ? 0 : FLAG_REPLY) || type != (uint16_t)opt.type || frame[7] != PROTOCOL_VERSION) {
        report_error("reply has type 0x%04x, flags 0x%02x, version %d; expected 0x%04lx, 0x%02x, %d", type, flags, frame[7], opt.type,
                     opt.as_sent ? 0 : FLAG_REPLY, PROTOCOL_VERSION);
        return;
    }
    if (bytes != frame_bytes) {
        report_error("reply has %zu bytes, its request had %zu", bytes, frame_bytes);
        return;
    }
    const uint8_t *payload = frame + HEADER_BYTES + body_prefix;
    if (memcmp(frame + HEADER_BYTES, expected, body_prefix) != 0 || memcmp(payload, &correlation, stamp_bytes) != 0 ||
        memcmp(payload + stamp_bytes, expected + body_prefix + stamp_bytes, (size_t)opt.size - stamp_bytes) != 0) {
        report_error("the body of the reply with correlation %u differs from its request's", correlation);
    }
}

static void receive(struct connection *c, bool send_more) {
    memcpy(input, c->carry, c->carried);
    ssize_t n = receive_some(c, input + c->carried, input_bytes - c->carried);
    if (n < 0) return;
    if (n == 0) die("the server closed a connection with %u requests in flight", c->outstanding);
    if (opt.path != NULL) n = (ssize_t)ws_read_payload(&c->websocket, input + c->carried, (size_t)n);

    uint64_t now = now_ns();
    const uint8_t *at = input;
    size_t left = c->carried + (size_t)n;
    int replies = 0;
    while (left >= 4) {
        uint32_t length;
        memcpy(&length, at, 4);
        size_t bytes = 4 + (size_t)length;
        /* An error's reply is shorter or longer than an echo; whatever could not be a frame of this run ends it. */
        if (length < HEADER_BYTES - 4 || (bytes > frame_bytes && bytes > LARGEST_ERROR_FRAME)) {
            die("a reply's length field says %u; a request here has %zu", length, frame_bytes - 4);
        }
        if (left < bytes) break;
        take_reply(c, at, bytes, now);
        at += bytes;
        left -= bytes;
        replies++;
    }
    memcpy(c->carry, at, left);
    c->carried = left;
    if (replies > 0 && send_more) send_requests(c, replies);
}

/* ---- the run ------------------------------------------------------------------------------------------------------ */

/* Messages of each whole second of the measured time, the first minutes of a long one. */
static uint64_t by_second[MAX_COUNTED_SECONDS];
static size_t seconds_counted;

struct reading {
    uint64_t ns;
    uint64_t messages;
    double own_cpu;
    double server_cpu;
    struct core_time cores;
};

static struct reading read_meters(void) {
    struct reading r = {.messages = received_messages, .own_cpu = own_cpu_seconds(), .cores = cores_time(opt.watched_cores)};
    if (opt.server_pid != 0 && !process_cpu_seconds(opt.server_pid, &r.server_cpu)) {
        die("--server-pid %d: there is no such process, or /proc is not readable", opt.server_pid);
    }
    r.ns = now_ns();
    return r;
}

/* Serves events until the deadline, or, once no more is to be sent, until every reply is there. */
static void pump(uint64_t deadline_ns, bool send_more) {
    static struct epoll_event events[MAX_EVENTS];
    uint64_t last_reply = now_ns();
    for (uint64_t now = last_reply; now < deadline_ns; now = now_ns()) {
        if (!send_more && received_messages == sent_messages) return;
        uint64_t before = received_messages;
        uint64_t left_ms = (deadline_ns - now) / 1000000 + 1;
        int n = epoll_wait(epoll_fd, events, MAX_EVENTS, left_ms > 100 ? 100 : (int)left_ms);
        if (n < 0 && errno != EINTR) die("epoll_wait: %s", strerror(errno));
        for (int i = 0; i < n; i++) {
            struct connection *c = events[i].data.ptr;
            if (events[i].events & EPOLLOUT) flush_backlog(c);
            if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(c, send_more);
        }
        if (received_messages != before) {
            last_reply = now;
        } else if (now - last_reply > STALL_SECONDS * 1000000000ull) {
            die("no reply for %d s with %llu requests in flight", STALL_SECONDS, (unsigned long long)(sent_messages - received_messages));
        }
    }
}

/* Pumps for the measured time, second by second: how fast a server becomes warm is read from the seconds' messages. */
static void measure(const struct reading *from) {
    uint64_t end = from->ns + (uint64_t)(opt.duration * 1e9);
    for (uint64_t before = from->messages; seconds_counted < MAX_COUNTED_SECONDS; before = received_messages) {
        uint64_t until = from->ns + (seconds_counted + 1) * 1000000000ull;
        if (until > end) break;
        pump(until, true);
        by_second[seconds_counted++] = received_messages - before;
    }
    pump(end, true);
}

static void print_result(const struct reading *from, const struct reading *to) {
    double seconds = (double)(to->ns - from->ns) / 1e9;
    double messages = (double)(to->messages - from->messages);
    long own_peak_kb = 0;
    process_memory_kb(getpid(), "VmHWM", &own_peak_kb);
    printf("{\"messages\":%.0f,\"seconds\":%.6f,\"messages_per_s\":%.1f,\"errors\":%llu,"
           "\"p50_us\":%.3f,\"p95_us\":%.3f,\"p99_us\":%.3f,\"max_us\":%.3f,"
           "\"client_cpu_s\":%.6f,\"client_peak_rss_kb\":%ld",
           messages, seconds, messages / seconds, (unsigned long long)errors, histogram_percentile_us(50), histogram_percentile_us(95),
           histogram_percentile_us(99), histogram_max_us(), to->own_cpu - from->own_cpu, own_peak_kb);
    if (opt.server_pid != 0) {
        double cpu = to->server_cpu - from->server_cpu;
        long peak_kb = 0;
        if (!process_memory_kb(opt.server_pid, "VmHWM", &peak_kb)) die("--server-pid %d: it ended during the run", opt.server_pid);
        printf(",\"server_cpu_s\":%.2f,\"server_cpu_us_per_message\":%.4f,\"server_peak_rss_kb\":%ld", cpu,
               messages > 0 ? cpu * 1e6 / messages : 0.0, peak_kb);
    }
    if (opt.watched_cores != NULL) {
        double own = (to->own_cpu - from->own_cpu) + (to->server_cpu - from->server_cpu);
        printf(",\"other_cpu_s\":%.2f", others_seconds(from->cores, to->cores, own));
    }
    printf(",\"by_second\":[");
    for (size_t i = 0; i < seconds_counted; i++) printf(i == 0 ? "%llu" : ",%llu", (unsigned long long)by_second[i]);
    printf("]}\n");
}

/* One echo on every connection: sent by all, then awaited from all. */
static void echo_on_all(void) {
    uint64_t before = received_messages;
    for (int i = 0; i < opt.connections; i++) send_requests(&connections[i], 1);
    pump(now_ns() + DRAIN_SECONDS * 1000000000ull, false);
    if (received_messages - before != (uint64_t)opt.connections) {
        die("%llu of %d connections echoed within %d s", (unsigned long long)(received_messages - before), opt.connections, DRAIN_SECONDS);
    }
}

static long server_memory_kb(void) {
    long kb = 0;
    if (!process_memory_kb(opt.server_pid, "VmRSS", &kb)) {
        die("--server-pid %d: there is no such process, or /proc is not readable", opt.server_pid);
    }
    return kb;
}

static int hold_connections(void) {
    if (opt.server_pid == 0) die("--hold needs --server-pid: its memory is what is measured");
    long before_kb = server_memory_kb();
    open_connections();
    echo_on_all();
    long open_kb = server_memory_kb();

    /* What accepting them has set in motion (deferred work, a garbage collection) is not idleness. */
    nanosleep(&(struct timespec){SETTLE_SECONDS, 0}, NULL);
    struct reading from = read_meters();
    struct timespec idle = {(time_t)opt.hold, (long)((opt.hold - (double)(time_t)opt.hold) * 1e9)};
    nanosleep(&idle, NULL);
    struct reading to = read_meters();
    long held_kb = server_memory_kb();

    echo_on_all();
    long server_peak_kb = 0;
    long own_peak_kb = 0;
    if (!process_memory_kb(opt.server_pid, "VmHWM", &server_peak_kb)) die("--server-pid %d: it ended during the run", opt.server_pid);
    process_memory_kb(getpid(), "VmHWM", &own_peak_kb);
    printf("{\"messages\":%llu,\"seconds\":%.6f,\"errors\":%llu,\"server_cpu_s\":%.2f,"
           "\"server_rss_before_kb\":%ld,\"server_rss_open_kb\":%ld,\"server_rss_held_kb\":%ld,"
           "\"server_peak_rss_kb\":%ld,\"client_peak_rss_kb\":%ld}\n",
           (unsigned long long)received_messages, (double)(to.ns - from.ns) / 1e9, (unsigned long long)errors,
           to.server_cpu - from.server_cpu, before_kb, open_kb, held_kb, server_peak_kb, own_peak_kb);
    return errors == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
#ifdef FASTPORT_TLS
    program_name = "echo_load_tls";
#else
    program_name = "echo_load";
#endif
    parse_options(argc, argv);
    build_frames();
    if (opt.hold > 0) return hold_connections();
    open_connections();

    for (int i = 0; i < opt.connections; i++) send_requests(&connections[i], opt.in_flight);
    pump(now_ns() + (uint64_t)(opt.warmup * 1e9), true);

    struct reading from = read_meters();
    measuring = true;
    measure(&from);
    /* On a busy machine a short time may pass without a reply: then until there is one. */
    while (received_messages == from.messages) {
        if (now_ns() - from.ns > (uint64_t)((opt.duration + STALL_SECONDS) * 1e9)) {
            die("no reply came in the %g s of measuring", opt.duration);
        }
        pump(now_ns() + 1000000, true);
    }
    measuring = false;
    struct reading to = read_meters();

    /* Replies still under way belong to the verification, not to the measured time. */
    pump(now_ns() + DRAIN_SECONDS * 1000000000ull, false);
    if (received_messages != sent_messages) {
        report_error("%llu requests had no reply %d s after the last was sent", (unsigned long long)(sent_messages - received_messages),
                     DRAIN_SECONDS);
    }

    print_result(&from, &to);
    return errors == 0 ? 0 : 1;
}
