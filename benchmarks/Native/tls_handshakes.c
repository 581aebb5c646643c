/*
 * Full TLS handshakes: so many clients at a time, each of which connects, shakes hands, has one message echoed, ends its
 * session and waits for the server's end, again and again. One thread, one epoll. Nothing is resumed: each session is new,
 * and a server that resumes one all the same fails the run.
 *
 * A "message" of the result is such a connection, and its time the one from connect to the echo. Every reply is verified
 * byte for byte. Exit codes: 0 every reply was right, 1 not, or the run failed, 2 wrong arguments. Ends by itself: a server
 * that does not answer for STALL_SECONDS ends it.
 */
#define _GNU_SOURCE
#include "common.h"
#include "histogram.h"
#include "tls.h"

#include <getopt.h>
#include <sys/epoll.h>

enum { HEADER_BYTES = 12, ECHO_TYPE = 0x0100, PROTOCOL_VERSION = 1, FLAG_REPLY = 1, PROTOBUF_PAYLOAD_TAG = 0x0A };
enum { PAYLOAD_BYTES = 64, FRAME_BYTES = HEADER_BYTES + 2 + PAYLOAD_BYTES, STALL_SECONDS = 5, MAX_EVENTS = 256 };

static struct {
    const char *host;
    int port;
    int clients;
    const char *authority_file;
    double duration;
    double warmup;
    int server_pid;
    const char *watched_cores;
} opt = {"127.0.0.1", 0, 32, NULL, 3, 0.5, 0, NULL};

enum step { SHAKES_HANDS, WAITS_FOR_REPLY, WAITS_FOR_END };

struct client {
    int fd;
    SSL *tls;
    enum step step;
    bool waits_to_write;
    uint32_t correlation;
    uint64_t began_ns;
    uint8_t reply[FRAME_BYTES];
    size_t replied;
};

static struct sockaddr_in server;
static SSL_CTX *context;
static int epoll_fd;
static uint64_t finished;

static void usage(FILE *to) {
    fprintf(to,
            "usage: tls_handshakes --port PORT --authority FILE [options]\n"
            "  --host ADDRESS        IPv4 address of the server (127.0.0.1)\n"
            "  --port PORT           its port\n"
            "  --authority FILE      PEM file with the certificate that has signed the server's, or is it\n"
            "  --clients N           clients at a time, 1 to 1024 (32)\n"
            "  --duration S          measured seconds (3)\n"
            "  --warmup S            seconds of load before measuring (0.5)\n"
            "  --server-pid P        report CPU time and peak memory of this process, too\n"
            "  --watch-cores A,B     report what else ran on these cores, which have to be those of server and client\n");
}

static void parse_options(int argc, char **argv) {
    static const struct option names[] = {
        {"host", required_argument, NULL, 'h'},        {"port", required_argument, NULL, 'p'},
        {"authority", required_argument, NULL, 'A'},   {"clients", required_argument, NULL, 'c'},
        {"duration", required_argument, NULL, 'd'},    {"warmup", required_argument, NULL, 'u'},
        {"server-pid", required_argument, NULL, 'P'},  {"watch-cores", required_argument, NULL, 'W'},
        {NULL, 0, NULL, 0},
    };
    int c;
    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (c) {
        case 'h': opt.host = optarg; break;
        case 'p': opt.port = (int)integer_option("port", optarg, 1, 65535); break;
        case 'A': opt.authority_file = optarg; break;
        case 'c': opt.clients = (int)integer_option("clients", optarg, 1, 1024); break;
        case 'd': opt.duration = seconds_option("duration", optarg, 0.01); break;
        case 'u': opt.warmup = seconds_option("warmup", optarg, 0); break;
        case 'P': opt.server_pid = (int)integer_option("server-pid", optarg, 1, 0x7FFFFFFF); break;
        case 'W': check_core_list("watch-cores", optarg); opt.watched_cores = optarg; break;
        default: usage(stderr); exit(2);
        }
    }
    if (optind < argc || opt.port == 0 || opt.authority_file == NULL) {
        usage(stderr);
        exit(2);
    }
    server = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)opt.port)};
    if (inet_pton(AF_INET, opt.host, &server.sin_addr) != 1) bad_argument("host", opt.host, "an IPv4 address");
}

static void build_frame(uint8_t *frame, uint32_t correlation, uint8_t flags) {
    uint32_t length = FRAME_BYTES - 4;
    uint16_t type = ECHO_TYPE;
    memcpy(frame, &length, 4);
    memcpy(frame + 4, &type, 2);
    frame[6] = flags;
    frame[7] = PROTOCOL_VERSION;
    memcpy(frame + 8, &correlation, 4);
    frame[HEADER_BYTES] = PROTOBUF_PAYLOAD_TAG;
    frame[HEADER_BYTES + 1] = PAYLOAD_BYTES;
    for (uint32_t i = 0; i < PAYLOAD_BYTES; i++) frame[HEADER_BYTES + 2 + i] = (uint8_t)(correlation + i * 7);
}

static void watch(struct client *c, bool to_write) {
    if (c->waits_to_write == to_write) return;
    c->waits_to_write = to_write;
    struct epoll_event e = {.events = to_write ? EPOLLOUT : EPOLLIN, .data.ptr = c};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_MOD, c->fd, &e) != 0) die("epoll_ctl: %s", strerror(errno));
}

static void begin(struct client *c) {
    static uint32_t correlation;
    c->began_ns = now_ns();
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0) die("socket: %s", strerror(errno));
    int on = 1;
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(c->fd, (struct sockaddr *)&server, sizeof server) != 0 && errno != EINPROGRESS) {
        die("cannot connect to %s:%d: %s", opt.host, opt.port, strerror(errno));
    }
    c->tls = tls_new_session(context, c->fd);
    c->step = SHAKES_HANDS;
    c->correlation = ++correlation == 0 ? ++correlation : correlation;
    c->replied = 0;
    c->waits_to_write = true;
    struct epoll_event e = {.events = EPOLLOUT, .data.ptr = c};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &e) != 0) die("epoll_ctl: %s", strerror(errno));
}

/* True once the handshake is done and the request sent. */
static bool shake_hands(struct client *c) {
    int result = tls_connect(c->tls);
    watch(c, result == TLS_WAITS_TO_WRITE);
    if (result == 0) die("the server ended the connection in the handshake");
    if (result < 0) return false;
    if (SSL_session_reused(c->tls)) die("the server resumed a session that this client has never had");
    uint8_t request[FRAME_BYTES];
    build_frame(request, c->correlation, 0);
    if (tls_write(c->tls, request, FRAME_BYTES) != FRAME_BYTES) die("a new connection takes no %d bytes", FRAME_BYTES);
    return true;
}

/* True once the reply is there and the session ended. */
static bool take_reply(struct client *c) {
    while (c->replied < FRAME_BYTES) {
        int n = tls_read(c->tls, c->reply + c->replied, FRAME_BYTES - c->replied);
        if (n == 0) die("the server closed a connection without a reply");
        if (n < 0) return false;
        c->replied += (size_t)n;
    }
    uint8_t expected[FRAME_BYTES];
    build_frame(expected, c->correlation, FLAG_REPLY);
    if (memcmp(c->reply, expected, FRAME_BYTES) != 0) die("the reply to request %u differs from what was expected", c->correlation);
    histogram_record(now_ns() - c->began_ns);
    SSL_shutdown(c->tls);
    shutdown(c->fd, SHUT_WR);
    return true;
}

/* True once the server has closed its side, too. What it sends before is TLS's end, in which there is no message. */
static bool take_end(struct client *c) {
    uint8_t bytes[256];
    ssize_t n = recv(c->fd, bytes, sizeof bytes, 0);
    if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))) return false;
    if (n < 0 && errno != ECONNRESET) die("recv: %s", strerror(errno));
    SSL_free(c->tls);
    close(c->fd);
    finished++;
    return true;
}

static void go_on(struct client *c) {
    if (c->step == SHAKES_HANDS && shake_hands(c)) c->step = WAITS_FOR_REPLY;
    if (c->step == WAITS_FOR_REPLY && take_reply(c)) c->step = WAITS_FOR_END;
    if (c->step == WAITS_FOR_END && take_end(c)) begin(c);
}

/* Serves events until the deadline. Returns when that was. */
static uint64_t pump(uint64_t from, double seconds) {
    static struct epoll_event events[MAX_EVENTS];
    static uint64_t last;
    uint64_t until = from + (uint64_t)(seconds * 1e9), now;
    if (last == 0) last = from;
    while ((now = now_ns()) < until) {
        uint64_t before = finished;
        int n = epoll_wait(epoll_fd, events, MAX_EVENTS, 100);
        if (n < 0 && errno != EINTR) die("epoll_wait: %s", strerror(errno));
        for (int i = 0; i < n; i++) go_on(events[i].data.ptr);
        if (finished != before) {
            last = now;
        } else if (now - last > STALL_SECONDS * 1000000000ull) {
            die("no connection came to its end for %d s", STALL_SECONDS);
        }
    }
    return now;
}

int main(int argc, char **argv) {
    program_name = "tls_handshakes";
    parse_options(argc, argv);
    context = tls_client_context(opt.authority_file, opt.host);
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_fd < 0) die("epoll_create1: %s", strerror(errno));
    struct client *clients = allocate((size_t)opt.clients, sizeof *clients);
    for (int i = 0; i < opt.clients; i++) begin(&clients[i]);
    pump(now_ns(), opt.warmup);
    histogram_clear();

    double server_from = 0, server_to = 0;
    if (opt.server_pid != 0 && !process_cpu_seconds(opt.server_pid, &server_from)) {
        die("--server-pid %d: there is no such process", opt.server_pid);
    }
    double own_from = own_cpu_seconds();
    struct core_time cores_from = cores_time(opt.watched_cores);
    uint64_t before = finished, from = now_ns(), to = pump(from, opt.duration);

    /* On a busy machine a short time may pass without one: then until there is one. */
    while (finished == before) to = pump(now_ns(), 0.01);
    double own = own_cpu_seconds() - own_from;
    struct core_time cores_to = cores_time(opt.watched_cores);
    if (opt.server_pid != 0) process_cpu_seconds(opt.server_pid, &server_to);

    uint64_t count = finished - before;
    double seconds = (double)(to - from) / 1e9;
    long own_peak_kb = 0, server_peak_kb = 0;
    process_memory_kb(getpid(), "VmHWM", &own_peak_kb);
    printf("{\"messages\":%llu,\"seconds\":%.6f,\"messages_per_s\":%.1f,\"errors\":0,"
           "\"p50_us\":%.3f,\"p95_us\":%.3f,\"p99_us\":%.3f,\"max_us\":%.3f,\"client_cpu_s\":%.6f,\"client_peak_rss_kb\":%ld",
           (unsigned long long)count, seconds, (double)count / seconds, histogram_percentile_us(50), histogram_percentile_us(95),
           histogram_percentile_us(99), histogram_max_us(), own, own_peak_kb);
    if (opt.server_pid != 0) {
        double cpu = server_to - server_from;
        process_memory_kb(opt.server_pid, "VmHWM", &server_peak_kb);
        printf(",\"server_cpu_s\":%.2f,\"server_cpu_us_per_message\":%.4f,\"server_peak_rss_kb\":%ld", cpu,
               cpu * 1e6 / (double)count, server_peak_kb);
    }
    if (opt.watched_cores != NULL) {
        printf(",\"other_cpu_s\":%.2f", others_seconds(cores_from, cores_to, own + server_to - server_from));
    }
    printf("}\n");
    return 0;
}
