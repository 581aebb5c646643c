/*
 * One connection, one Echo request in flight: the round trip and nothing else. How the reply is waited for is the client's
 * half of it:
 *
 *   --wait block   in recv, asleep
 *   --wait recv    the socket is read again and again
 *
 * With --every N a request is due every N us. Where a reply took longer, those that were due meanwhile are sent one after the other at
 * once: they are late. A round trip counts from when its request was due.
 *
 * Every reply is verified byte for byte. Prints one line of JSON with the names of echo_load. Exit codes: 0 every reply was
 * right, 1 not, or the run failed, 2 wrong arguments. Ends by itself: a server that does not answer for STALL_SECONDS ends it.
 */
#define _GNU_SOURCE
#include "common.h"
#include "histogram.h"

#include <getopt.h>
#include <sys/prctl.h>

enum { HEADER_BYTES = 12, ECHO_TYPE = 0x0100, PROTOCOL_VERSION = 1, FLAG_REPLY = 1, PROTOBUF_PAYLOAD_TAG = 0x0A };
enum { STALL_SECONDS = 5, MAX_SIZE = 1 << 20 };
enum { MAX_PERIOD_US = 1000000 };

static const char *const wait_words[] = {"block", "recv", NULL};
enum { WAIT_BLOCK, WAIT_RECV };

static struct {
    const char *connect;
    int wait;
    long size;
    long every_us;
    bool as_sent;
    double duration;
    double warmup;
    int server_pid;
    const char *watched_cores;
} opt = {NULL, WAIT_BLOCK, 64, 0, false, 3, 0.5, 0, NULL};

static int fd;
static uint8_t request[HEADER_BYTES + 8 + MAX_SIZE];
static uint8_t expected[sizeof request];
static uint8_t reply[sizeof request];
static size_t frame_bytes;
static size_t body_prefix;

static void usage(FILE *to) {
    fprintf(to,
            "usage: lock_step --connect URI [options]\n"
            "  --wait block|recv     how a reply is waited for (block)\n"
            "  --size BYTES          payload of a message, 4 to 1048576 (64)\n"
            "  --every US            one request in so many microseconds, up to 1000000; 0: one after the other (0)\n"
            "  --reply set|as-sent   set: replies carry the Reply bit; as-sent: they are the requests' very bytes (set)\n"
            "  --duration S          measured seconds (3)\n"
            "  --warmup S            seconds of load before measuring (0.5)\n"
            "  --server-pid P        report CPU time and peak memory of this process, too\n"
            "  --watch-cores A,B     report what else ran on these cores, which have to be those of server and client\n");
}

static void parse_options(int argc, char **argv) {
    static const struct option names[] = {
        {"connect", required_argument, NULL, 'c'},    {"wait", required_argument, NULL, 'w'},
        {"size", required_argument, NULL, 's'},       {"every", required_argument, NULL, 'e'},
        {"reply", required_argument, NULL, 'r'},      {"duration", required_argument, NULL, 'd'},
        {"warmup", required_argument, NULL, 'u'},     {"server-pid", required_argument, NULL, 'P'},
        {"watch-cores", required_argument, NULL, 'W'},
        {NULL, 0, NULL, 0},
    };
    static const char *const reply_words[] = {"set", "as-sent", NULL};
    int c;
    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (c) {
        case 'c': opt.connect = optarg; break;
        case 'w': opt.wait = word_option("wait", optarg, wait_words, "block or recv"); break;
        case 's': opt.size = integer_option("size", optarg, 4, MAX_SIZE); break;
        case 'e': opt.every_us = integer_option("every", optarg, 0, MAX_PERIOD_US); break;
        case 'r': opt.as_sent = word_option("reply", optarg, reply_words, "set or as-sent") == 1; break;
        case 'd': opt.duration = seconds_option("duration", optarg, 0.01); break;
        case 'u': opt.warmup = seconds_option("warmup", optarg, 0); break;
        case 'P': opt.server_pid = (int)integer_option("server-pid", optarg, 1, 0x7FFFFFFF); break;
        case 'W': check_core_list("watch-cores", optarg); opt.watched_cores = optarg; break;
        default: usage(stderr); exit(2);
        }
    }
    if (optind < argc || opt.connect == NULL) {
        usage(stderr);
        exit(2);
    }
}

static void build_request(void) {
    uint8_t *at = request + HEADER_BYTES;
    *at++ = PROTOBUF_PAYLOAD_TAG;
    unsigned long rest = (unsigned long)opt.size;
    for (; rest >= 0x80; rest >>= 7) *at++ = (uint8_t)(rest | 0x80);
    *at++ = (uint8_t)rest;
    body_prefix = (size_t)(at - request) - HEADER_BYTES;
    uint32_t noise = 2463534242u;
    for (long i = 0; i < opt.size; i++) {
        noise ^= noise << 13;
        noise ^= noise >> 17;
        noise ^= noise << 5;
        *at++ = (uint8_t)noise;
    }
    frame_bytes = (size_t)(at - request);
    uint32_t length = (uint32_t)(frame_bytes - 4);
    uint16_t type = ECHO_TYPE;
    memcpy(request, &length, 4);
    memcpy(request + 4, &type, 2);
    request[7] = PROTOCOL_VERSION;
    memcpy(expected, request, frame_bytes);
    if (!opt.as_sent) expected[6] = FLAG_REPLY;
}

static void open_connection(void) {
    struct address a = parse_address("connect", opt.connect);
    fd = socket(a.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a.storage, a.size) != 0) die("cannot connect to %s: %s", opt.connect, strerror(errno));
    send_at_once(fd, &a);
    struct timeval limit = {STALL_SECONDS, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (opt.wait == WAIT_RECV) fcntl(fd, F_SETFL, O_NONBLOCK);
}

static void send_all(void) {
    size_t sent = 0;
    while (sent < frame_bytes) {
        ssize_t n = send(fd, request + sent, frame_bytes - sent, MSG_NOSIGNAL);
        if (n >= 0) {
            sent += (size_t)n;
        } else if (errno != EAGAIN && errno != EINTR) {
            die("send: %s", strerror(errno));
        }
    }
}

static void receive_all(void) {
    size_t got = 0;
    uint64_t tries = 0, since = 0;
    while (got < frame_bytes) {
        ssize_t n = recv(fd, reply + got, frame_bytes - got, 0);
        if (n > 0) {
            got += (size_t)n;
        } else if (n == 0) {
            die("the server closed the connection");
        } else if (errno == EAGAIN && opt.wait == WAIT_RECV) {
            /* The clock is looked at seldom, so that it costs nothing. */
            if ((++tries & 0xFFFFF) != 0) continue;
            if (since == 0) since = now_ns();
            if (now_ns() - since > STALL_SECONDS * 1000000000ull) die("no reply for %d s", STALL_SECONDS);
        } else if (errno == EAGAIN) {
            die("no reply for %d s", STALL_SECONDS);
        } else if (errno != EINTR) {
            die("recv: %s", strerror(errno));
        }
    }
}

static uint64_t sleep_until(uint64_t then) {
    struct timespec until = {(time_t)(then / 1000000000ull), (long)(then % 1000000000ull)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
    return now_ns();
}

/* Round trips until the deadline; each is stamped with its number. Late are those that were due before the reply to the one before,
 * with those that were not sent any more. Returns when the last one ended. */
static uint64_t round_trips(uint64_t from, double seconds, uint64_t *count, uint64_t *late) {
    static uint32_t correlation;
    uint64_t now = from, due = from, until = from + (uint64_t)(seconds * 1e9), period = (uint64_t)opt.every_us * 1000;
    while (now < until) {
        if (++correlation == 0) correlation = 1;
        memcpy(request + 8, &correlation, 4);
        memcpy(expected + 8, &correlation, 4);
        memcpy(request + HEADER_BYTES + body_prefix, &correlation, 4);
        memcpy(expected + HEADER_BYTES + body_prefix, &correlation, 4);
        send_all();
        receive_all();
        now = now_ns();
        histogram_record(now - due);
        if (memcmp(reply, expected, frame_bytes) != 0) die("the reply to request %u differs from what was expected", correlation);
        (*count)++;
        due = period == 0 ? now : due + period;
        if (due > now) {
            now = sleep_until(due);
        } else if (period != 0 && due < until) {
            (*late)++;
        }
    }
    if (period != 0 && due < until) *late += (until - 1 - due) / period;
    return now;
}

int main(int argc, char **argv) {
    program_name = "lock_step";
    parse_options(argc, argv);
    build_request();
    open_connection();
    if (opt.every_us != 0) prctl(PR_SET_TIMERSLACK, 1);
    uint64_t count = 0, late = 0;
    round_trips(now_ns(), opt.warmup, &count, &late);
    histogram_clear();

    double server_from = 0, server_to = 0;
    if (opt.server_pid != 0 && !process_cpu_seconds(opt.server_pid, &server_from)) {
        die("--server-pid %d: there is no such process", opt.server_pid);
    }
    double own_from = own_cpu_seconds();
    struct core_time cores_from = cores_time(opt.watched_cores);
    count = late = 0;
    uint64_t from = now_ns(), to = round_trips(from, opt.duration, &count, &late);
    double own = own_cpu_seconds() - own_from;
    struct core_time cores_to = cores_time(opt.watched_cores);
    if (opt.server_pid != 0) process_cpu_seconds(opt.server_pid, &server_to);

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
        printf(",\"server_cpu_s\":%.2f,\"server_cpu_us_per_message\":%.4f,\"server_peak_rss_kb\":%ld",
               cpu, cpu * 1e6 / (double)count, server_peak_kb);
    }
    if (opt.every_us != 0) printf(",\"late\":%llu", (unsigned long long)late);
    if (opt.watched_cores != NULL) {
        printf(",\"other_cpu_s\":%.2f", others_seconds(cores_from, cores_to, own + server_to - server_from));
    }
    printf("}\n");
    return 0;
}
