/*
 * The limit: echoes bytes as they come, with as few system calls and as little code of its own as can be. One thread, one
 * buffer, no frames, no sessions, no limits; what a server with all of these is measured against.
 *
 *   --wait sleep   one epoll, asleep while there is nothing to do
 *   --wait epoll   the same epoll, asked again and again
 *   --wait recv    no epoll: every connection's socket is read again and again
 *   --wait block   no epoll: a thread per connection, asleep in recv; two system calls a round trip, and nobody can make fewer
 *
 * It spins only while somebody is connected, so that it can wait beside servers that are being measured.
 * Prints "listening on URI"; ends with its standard input.
 */
#define _GNU_SOURCE
#include "common.h"

#include <getopt.h>
#include <sys/epoll.h>

enum { MAX_EVENTS = 256, MAX_CONNECTIONS = 20000 };

static const char *const wait_words[] = {"sleep", "epoll", "recv", "block", NULL};
enum { WAIT_SLEEP, WAIT_EPOLL, WAIT_RECV, WAIT_BLOCK };

struct connection {
    int fd;
    int index;
    uint8_t *held; /* what the socket did not take; nothing is read until it has */
    size_t held_start;
    size_t held_end;
};

static int wait_mode = WAIT_SLEEP;
static size_t buffer_bytes = 256 * 1024;
static uint8_t *buffer;
static struct address listen_address;
static int epoll_fd;
static int listen_fd;
static struct connection *open_connections[MAX_CONNECTIONS];
static int open_count;

static void watch(struct connection *c, uint32_t events, int operation) {
    struct epoll_event e = {.events = events, .data.ptr = c};
    if (epoll_ctl(epoll_fd, operation, c->fd, &e) != 0) die("epoll_ctl: %s", strerror(errno));
}

static void accept_one(void) {
    int fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    if (open_count == MAX_CONNECTIONS) {
        close(fd);
        return;
    }
    send_at_once(fd, &listen_address);
    struct connection *c = allocate(1, sizeof *c);
    c->fd = fd;
    c->index = open_count;
    open_connections[open_count++] = c;
    if (wait_mode != WAIT_RECV) watch(c, EPOLLIN, EPOLL_CTL_ADD);
}

static void drop(struct connection *c) {
    close(c->fd);
    struct connection *last = open_connections[--open_count];
    open_connections[c->index] = last;
    last->index = c->index;
    free(c->held);
    free(c);
}

/* Bytes taken, or -1 where the connection is lost. */
static ssize_t send_some(const struct connection *c, const uint8_t *bytes, size_t count) {
    for (;;) {
        ssize_t n = send(c->fd, bytes, count, MSG_NOSIGNAL);
        if (n >= 0) return n;
        if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
        if (errno != EINTR) return -1;
    }
}

/* False where the connection is gone. */
static bool send_held(struct connection *c) {
    ssize_t n = send_some(c, c->held + c->held_start, c->held_end - c->held_start);
    if (n < 0) {
        drop(c);
        return false;
    }
    c->held_start += (size_t)n;
    if (c->held_start == c->held_end) {
        free(c->held);
        c->held = NULL;
        if (wait_mode != WAIT_RECV) watch(c, EPOLLIN, EPOLL_CTL_MOD);
    }
    return true;
}

static void echo(struct connection *c) {
    ssize_t n = recv(c->fd, buffer, buffer_bytes, 0);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
    ssize_t sent = n <= 0 ? -1 : send_some(c, buffer, (size_t)n);
    if (sent < 0) {
        drop(c);
        return;
    }
    if (sent < n) {
        c->held_start = 0;
        c->held_end = (size_t)(n - sent);
        c->held = allocate(1, c->held_end);
        memcpy(c->held, buffer + sent, c->held_end);
        if (wait_mode != WAIT_RECV) watch(c, EPOLLOUT, EPOLL_CTL_MOD);
    }
}

static void serve_events(void) {
    struct epoll_event events[MAX_EVENTS];
    for (;;) {
        int n = epoll_wait(epoll_fd, events, MAX_EVENTS, wait_mode == WAIT_SLEEP || open_count == 0 ? -1 : 0);
        for (int i = 0; i < n; i++) {
            struct connection *c = events[i].data.ptr;
            if (c == NULL) {
                accept_one();
            } else if (c->held != NULL) {
                send_held(c);
            } else {
                echo(c);
            }
        }
    }
}

static void serve_by_reading(void) {
    struct epoll_event event;
    for (uint32_t round = 0;; round++) {
        /* New connections are looked for now and then only: it costs a call. */
        if (open_count == 0 || (round & 0xFFFF) == 0) {
            if (epoll_wait(epoll_fd, &event, 1, open_count == 0 ? -1 : 0) > 0) accept_one();
        }
        for (int i = open_count - 1; i >= 0; i--) {
            struct connection *c = open_connections[i];
            if (c->held == NULL || send_held(c)) {
                if (c->held == NULL) echo(c);
            }
        }
    }
}

/* The connection of one thread, to its end; its socket blocks. */
static void *serve_one(void *descriptor) {
    struct connection c = {.fd = (int)(intptr_t)descriptor};
    uint8_t *bytes = allocate(1, buffer_bytes);
    ssize_t n;
    while ((n = recv(c.fd, bytes, buffer_bytes, 0)) > 0 || (n < 0 && errno == EINTR)) {
        for (ssize_t sent = 0, more; sent < n; sent += more) {
            more = send_some(&c, bytes + sent, (size_t)(n - sent));
            if (more < 0) goto lost;
        }
    }
lost:
    close(c.fd);
    free(bytes);
    return NULL;
}

static void serve_by_threads(void) {
    pthread_t thread;
    if (fcntl(listen_fd, F_SETFL, 0) != 0) die("fcntl: %s", strerror(errno));
    for (;;) {
        int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) continue;
        send_at_once(fd, &listen_address);
        if (pthread_create(&thread, NULL, serve_one, (void *)(intptr_t)fd) != 0) die("no thread for a connection");
        pthread_detach(thread);
    }
}

static void listen_at(const char *text) {
    listen_address = parse_address("listen", text);
    int family = listen_address.storage.ss_family;
    listen_fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listen_fd < 0 || bind(listen_fd, (struct sockaddr *)&listen_address.storage, listen_address.size) != 0
        || listen(listen_fd, 1024) != 0) {
        die("cannot listen on %s: %s", text, strerror(errno));
    }
    if (listen_address.is_tcp) {
        struct sockaddr_in bound;
        socklen_t size = sizeof bound;
        getsockname(listen_fd, (struct sockaddr *)&bound, &size);
        printf("listening on tcp://127.0.0.1:%u\n", ntohs(bound.sin_port));
    } else {
        printf("listening on %s\n", text);
    }
    fflush(stdout);
}

int main(int argc, char **argv) {
    static const struct option names[] = {
        {"listen", required_argument, NULL, 'l'},
        {"wait", required_argument, NULL, 'w'},
        {"buffer", required_argument, NULL, 'b'},
        {NULL, 0, NULL, 0},
    };
    program_name = "echo_server";
    const char *listen_text = "tcp://127.0.0.1:0";
    int c;
    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (c) {
        case 'l': listen_text = optarg; break;
        case 'w': wait_mode = word_option("wait", optarg, wait_words, "sleep, epoll, recv or block"); break;
        case 'b': buffer_bytes = (size_t)integer_option("buffer", optarg, 1, 1 << 26); break;
        default: fprintf(stderr, "usage: echo_server [--listen URI] [--wait sleep|epoll|recv|block] [--buffer BYTES]\n"); return 2;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "echo_server: %s: unexpected argument\n", argv[optind]);
        return 2;
    }

    end_with_standard_input();
    use_all_descriptors();
    buffer = allocate(1, buffer_bytes);
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_fd < 0) die("epoll_create1: %s", strerror(errno));
    listen_at(listen_text);
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listen_fd, &e) != 0) die("epoll_ctl: %s", strerror(errno));
    if (wait_mode == WAIT_RECV) {
        serve_by_reading();
    } else if (wait_mode == WAIT_BLOCK) {
        serve_by_threads();
    } else {
        serve_events();
    }
}
