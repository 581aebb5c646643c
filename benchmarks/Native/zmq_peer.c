/*
 * libzmq's side of the messaging comparison, one-way and in lock-step, over any of its transports. The other side is
 * benchmarks/FastPortPeer, which sends the same messages and is driven by the same lines.
 *
 *   zmq_peer server --bind URI        sends; prints "listening on URI" (two lines in push lock-step: there and back)
 *   zmq_peer client --connect URI...  receives, or sends back
 *   zmq_peer both                     server and client as two threads of this process, over inproc
 *
 * A run is asked for by a line on the server's standard input: "run LEAD-IN SECONDS". Each side then prints one line of
 * JSON. Either ends with its standard input.
 *
 * A message begins and, from 16 bytes on, ends with its mark: its number in the run, and in the top byte the phase
 * (lead-in, measured, last). The receiver reads the first and the last 64 bytes of every message, which have to add up, and
 * every number has to follow the one before, so what the JSON counts is what was sent.
 *
 * Patterns: push (PUSH to PULL; in lock-step a second pair for the way back) and router (ROUTER to ROUTER, every message
 * addressed to a routing id, refused rather than dropped where the queue is full). Sending is zmq_send, which copies;
 * receiving is zmq_msg_recv, which does not.
 */
#define _GNU_SOURCE
#include "common.h"
#include "histogram.h"
#include "zmq_api.h"

#include <getopt.h>

enum { EDGE_BYTES = 64, MIN_SIZE = 64, MAX_SIZE = 1 << 20, STALL_MS = 10000, CLOCK_EVERY = 64 };
enum { PHASE_LEAD_IN, PHASE_MEASURED, PHASE_LAST };
enum { PATTERN_PUSH, PATTERN_ROUTER };
enum { MODE_ONE_WAY, MODE_LOCK_STEP };

#define PHASE_OF(mark) ((unsigned)((mark) >> 56))
#define NUMBER_OF(mark) ((mark) & 0x00FFFFFFFFFFFFFFull)
#define MARK(phase, number) (((uint64_t)(phase) << 56) | (number))

static const char *const pattern_words[] = {"push", "router", NULL};
static const char *const mode_words[] = {"one-way", "lock-step", NULL};
static const char server_id[] = "server-1", client_id[] = "client-1";

static struct {
    int pattern;
    int mode;
    size_t size;
    int high_water;
    const char *bind;
    const char *connect[2];
    int connects;
} opt = {PATTERN_PUSH, MODE_ONE_WAY, 64, 1000, NULL, {NULL, NULL}, 0};

static void *context;

/* ---- messages -------------------------------------------------------------------------------------------------------- */

static uint8_t *new_message(void) {
    uint8_t *m = allocate(1, opt.size);
    for (size_t i = 0; i < opt.size; i++) m[i] = (uint8_t)(i * 31 + 7);
    return m;
}

static uint64_t edges(const uint8_t *bytes) {
    uint64_t words[EDGE_BYTES / 8], sum = 0;
    memcpy(words, bytes, sizeof words);
    for (size_t i = 0; i < EDGE_BYTES / 8; i++) sum += words[i];
    memcpy(words, bytes + opt.size - EDGE_BYTES, sizeof words);
    for (size_t i = 0; i < EDGE_BYTES / 8; i++) sum += words[i];
    return sum;
}

/* What the edges of a message marked 0 add up to. */
static uint64_t edges_of_zero;
static unsigned marks_counted;

static void put_mark(uint8_t *message, uint64_t mark) {
    memcpy(message, &mark, 8);
    memcpy(message + opt.size - 8, &mark, 8);
}

static void know_edges(void) {
    uint8_t *m = new_message();
    put_mark(m, 0);
    edges_of_zero = edges(m);
    /* Where both edges are the same 64 bytes, both marks lie in both. */
    put_mark(m, 1);
    marks_counted = (unsigned)(edges(m) - edges_of_zero);
    free(m);
}

/* The mark of a received message, all of which that can be told has been verified. */
static uint64_t verified_mark(zmq_msg_t *message, uint64_t expected_number) {
    if (zmq_msg_size(message) != opt.size) die("a message has %zu bytes instead of %zu", zmq_msg_size(message), opt.size);
    const uint8_t *bytes = zmq_msg_data(message);
    uint64_t mark;
    memcpy(&mark, bytes, 8);
    if (edges(bytes) != edges_of_zero + marks_counted * mark) die("message %llu is damaged", (unsigned long long)NUMBER_OF(mark));
    if (NUMBER_OF(mark) != expected_number) {
        die("message %llu came where %llu was due", (unsigned long long)NUMBER_OF(mark), (unsigned long long)expected_number);
    }
    return mark;
}

/* ---- sockets --------------------------------------------------------------------------------------------------------- */

static void check(int result, const char *what) {
    if (result < 0) die("%s: %s", what, zmq_strerror(zmq_errno()));
}

static void *new_socket(int type, const char *own_id) {
    void *s = zmq_socket(context, type);
    int on = 1, off = 0;
    if (s == NULL) die("zmq_socket: %s", zmq_strerror(zmq_errno()));
    check(zmq_setsockopt(s, ZMQ_LINGER, &off, sizeof off), "ZMQ_LINGER");
    check(zmq_setsockopt(s, ZMQ_SNDHWM, &opt.high_water, sizeof opt.high_water), "ZMQ_SNDHWM");
    check(zmq_setsockopt(s, ZMQ_RCVHWM, &opt.high_water, sizeof opt.high_water), "ZMQ_RCVHWM");
    if (type == ZMQ_ROUTER) {
        check(zmq_setsockopt(s, ZMQ_ROUTING_ID, own_id, strlen(own_id)), "ZMQ_ROUTING_ID");
        check(zmq_setsockopt(s, ZMQ_ROUTER_MANDATORY, &on, sizeof on), "ZMQ_ROUTER_MANDATORY");
    }
    return s;
}

static void announce(void *socket) {
    char endpoint[256];
    size_t size = sizeof endpoint;
    check(zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, endpoint, &size), "ZMQ_LAST_ENDPOINT");
    printf("listening on %s\n", endpoint);
    fflush(stdout);
}

/* Sends; with a pattern of routing ids the message is addressed. */
static void send_to(void *socket, const char *id, const uint8_t *bytes) {
    if (opt.pattern == PATTERN_ROUTER) check(zmq_send(socket, id, strlen(id), ZMQ_SNDMORE), "zmq_send");
    check(zmq_send(socket, bytes, opt.size, 0), "zmq_send");
}

static void receive_from(void *socket, zmq_msg_t *sender, zmq_msg_t *message) {
    if (opt.pattern == PATTERN_ROUTER) check(zmq_msg_recv(sender, socket, 0), "zmq_msg_recv");
    check(zmq_msg_recv(message, socket, 0), "zmq_msg_recv");
}

struct side {
    void *out;
    void *in;
};

static struct side open_server(const char *there, const char *back) {
    struct side s = {NULL, NULL};
    s.out = new_socket(opt.pattern == PATTERN_PUSH ? ZMQ_PUSH : ZMQ_ROUTER, server_id);
    check(zmq_bind(s.out, there), there);
    announce(s.out);
    s.in = s.out;
    if (opt.pattern == PATTERN_PUSH && opt.mode == MODE_LOCK_STEP) {
        s.in = new_socket(ZMQ_PULL, NULL);
        check(zmq_bind(s.in, back), back);
        announce(s.in);
    }
    return s;
}

static struct side open_client(const char *there, const char *back) {
    struct side s = {NULL, NULL};
    s.in = new_socket(opt.pattern == PATTERN_PUSH ? ZMQ_PULL : ZMQ_ROUTER, client_id);
    check(zmq_connect(s.in, there), there);
    s.out = s.in;
    if (opt.pattern == PATTERN_PUSH && opt.mode == MODE_LOCK_STEP) {
        s.out = new_socket(ZMQ_PUSH, NULL);
        check(zmq_connect(s.out, back), back);
    }
    if (opt.pattern == PATTERN_ROUTER) {
        /* A ROUTER can address a peer only once both know each other's id: the client says so, until its own side takes it. */
        uint64_t until = now_ns() + STALL_MS * 1000000ull;
        while (zmq_send(s.out, server_id, strlen(server_id), ZMQ_SNDMORE) < 0) {
            if (now_ns() > until) die("the server was not reached: %s", zmq_strerror(zmq_errno()));
            usleep(1000);
        }
        check(zmq_send(s.out, "", 0, 0), "zmq_send");
    }
    return s;
}

static void await_client(const struct side *s) {
    if (opt.pattern != PATTERN_ROUTER) return;
    zmq_msg_t id, empty;
    zmq_msg_init(&id);
    zmq_msg_init(&empty);
    receive_from(s->in, &id, &empty);
}

/* ---- the server's runs ------------------------------------------------------------------------------------------------ */

/* One call, since in one process both threads print. */
static void print_side(const char *side, uint64_t messages, double seconds, double cpu, const char *more) {
    long peak_kb = 0;
    process_memory_kb(getpid(), "VmHWM", &peak_kb);
    printf("{\"side\":\"%s\",\"messages\":%llu,\"seconds\":%.6f,\"cpu_s\":%.6f,\"peak_rss_kb\":%ld%s}\n",
           side, (unsigned long long)messages, seconds, cpu, peak_kb, more);
    fflush(stdout);
}

static void run_one_way(const struct side *s, uint8_t *message, double lead_in, double seconds) {
    uint64_t from = now_ns() + (uint64_t)(lead_in * 1e9), until = UINT64_MAX;
    uint64_t number = 0, first = 0, begun = 0, now = 0;
    double cpu = 0;
    unsigned phase = PHASE_LEAD_IN;
    for (;;) {
        if (number % CLOCK_EVERY == 0) {
            now = now_ns();
            if (phase == PHASE_LEAD_IN && now >= from) {
                phase = PHASE_MEASURED;
                first = number;
                begun = now;
                until = begun + (uint64_t)(seconds * 1e9);
                cpu = own_cpu_seconds();
            } else if (now >= until) {
                break;
            }
        }
        put_mark(message, MARK(phase, number++));
        send_to(s->out, client_id, message);
    }
    cpu = own_cpu_seconds() - cpu;
    put_mark(message, MARK(PHASE_LAST, number));
    send_to(s->out, client_id, message);
    print_side("server", number - first, (double)(now - begun) / 1e9, cpu, "");
}

static void run_lock_step(const struct side *s, uint8_t *message, double lead_in, double seconds) {
    zmq_msg_t id, reply;
    zmq_msg_init(&id);
    zmq_msg_init(&reply);
    uint64_t now = now_ns(), from = now + (uint64_t)(lead_in * 1e9), until = UINT64_MAX;
    uint64_t number = 0, first = 0, begun = 0;
    double cpu = 0;
    unsigned phase = PHASE_LEAD_IN;
    histogram_clear();
    for (;; number++) {
        if (phase == PHASE_LEAD_IN && now >= from) {
            phase = PHASE_MEASURED;
            first = number;
            begun = now = now_ns();
            until = begun + (uint64_t)(seconds * 1e9);
            cpu = own_cpu_seconds();
        } else if (now >= until) {
            break;
        }
        put_mark(message, MARK(phase, number));
        send_to(s->out, client_id, message);
        receive_from(s->in, &id, &reply);
        verified_mark(&reply, number);
        uint64_t then = now_ns();
        if (phase == PHASE_MEASURED) histogram_record(then - now);
        now = then;
    }
    cpu = own_cpu_seconds() - cpu;
    put_mark(message, MARK(PHASE_LAST, number));
    send_to(s->out, client_id, message);
    receive_from(s->in, &id, &reply);
    verified_mark(&reply, number);
    char latencies[160];
    snprintf(latencies, sizeof latencies, ",\"p50_us\":%.3f,\"p95_us\":%.3f,\"p99_us\":%.3f,\"max_us\":%.3f", histogram_percentile_us(50),
             histogram_percentile_us(95), histogram_percentile_us(99), histogram_max_us());
    print_side("server", number - first, (double)(now - begun) / 1e9, cpu, latencies);
    zmq_msg_close(&id);
    zmq_msg_close(&reply);
}

static void serve(const struct side *s) {
    char line[128];
    uint8_t *message = new_message();
    await_client(s);
    printf("ready\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        double lead_in, seconds;
        if (sscanf(line, "run %lf %lf", &lead_in, &seconds) != 2) die("'%s' is not: run LEAD-IN SECONDS", line);
        if (opt.mode == MODE_ONE_WAY) {
            run_one_way(s, message, lead_in, seconds);
        } else {
            run_lock_step(s, message, lead_in, seconds);
        }
    }
    exit(0);
}

/* ---- the client: one endless reception ---------------------------------------------------------------------------------- */

__attribute__((noreturn)) static void receive_runs(const struct side *s) {
    zmq_msg_t id, message;
    zmq_msg_init(&id);
    zmq_msg_init(&message);
    uint8_t *reply = new_message();
    uint64_t number = 0, first = 0, begun = 0;
    double cpu = 0;
    bool measured = false;
    for (;;) {
        receive_from(s->in, &id, &message);
        uint64_t mark = verified_mark(&message, number);
        if (!measured && PHASE_OF(mark) == PHASE_MEASURED) {
            measured = true;
            first = number;
            begun = now_ns();
            cpu = own_cpu_seconds();
        }
        if (opt.mode == MODE_LOCK_STEP) {
            put_mark(reply, mark);
            send_to(s->out, server_id, reply);
        }
        number++;
        if (PHASE_OF(mark) != PHASE_LAST) continue;
        double seconds = (double)(now_ns() - begun) / 1e9;
        print_side("client", number - 1 - first, seconds, own_cpu_seconds() - cpu, "");
        number = 0;
        measured = false;
    }
}

/* ---- both in one process -------------------------------------------------------------------------------------------------- */

static const char there_inproc[] = "inproc://there", back_inproc[] = "inproc://back";

static void *run_client_thread(void *unused) {
    struct side s = open_client(there_inproc, back_inproc);
    receive_runs(&s);
    return unused;
}

static void serve_both(void) {
    struct side s = open_server(there_inproc, back_inproc);
    pthread_t client;
    if (pthread_create(&client, NULL, run_client_thread, NULL) != 0) die("no thread can be started");
    serve(&s);
}

int main(int argc, char **argv) {
    static const struct option names[] = {
        {"pattern", required_argument, NULL, 'p'}, {"mode", required_argument, NULL, 'm'},    {"size", required_argument, NULL, 's'},
        {"hwm", required_argument, NULL, 'h'},     {"bind", required_argument, NULL, 'b'},    {"connect", required_argument, NULL, 'c'},
        {NULL, 0, NULL, 0},
    };
    static const char *const role_words[] = {"server", "client", "both", NULL};
    program_name = "zmq_peer";
    int c, role = argc < 2 ? -1 : word_option("role", argv[1], role_words, "server, client or both");
    while (role >= 0 && (c = getopt_long(argc - 1, argv + 1, "", names, NULL)) != -1) {
        switch (c) {
        case 'p': opt.pattern = word_option("pattern", optarg, pattern_words, "push or router"); break;
        case 'm': opt.mode = word_option("mode", optarg, mode_words, "one-way or lock-step"); break;
        case 's': opt.size = (size_t)integer_option("size", optarg, MIN_SIZE, MAX_SIZE); break;
        case 'h': opt.high_water = (int)integer_option("hwm", optarg, 1, 10000000); break;
        case 'b': opt.bind = optarg; break;
        case 'c':
            if (opt.connects == 2) bad_argument("connect", optarg, "given twice at most");
            opt.connect[opt.connects++] = optarg;
            break;
        default: role = -1;
        }
    }
    if (role < 0 || (role == 0 && opt.bind == NULL) || (role == 1 && opt.connects == 0)) {
        fprintf(stderr,
                "usage: zmq_peer server --bind URI | client --connect URI [--connect URI] | both\n"
                "       [--pattern push|router] [--mode one-way|lock-step] [--size BYTES] [--hwm MESSAGES]\n");
        return 2;
    }

    if (opt.size != EDGE_BYTES && opt.size < 2 * EDGE_BYTES) die("--size %zu: must be 64, or at least 128", opt.size);
    context = zmq_ctx_new();
    if (context == NULL) die("zmq_ctx_new: %s", zmq_strerror(zmq_errno()));
    know_edges();
    if (role == 2) {
        serve_both();
    } else if (role == 0) {
        char back[300];
        /* The way back over a Unix socket needs a path of its own; port 0 of TCP is one by itself. */
        snprintf(back, sizeof back, strncmp(opt.bind, "ipc", 3) == 0 ? "%s.back" : "%s", opt.bind);
        struct side s = open_server(opt.bind, back);
        serve(&s);
    } else {
        end_with_standard_input();
        struct side s = open_client(opt.connect[0], opt.connect[1] != NULL ? opt.connect[1] : opt.connect[0]);
        receive_runs(&s);
    }
}
