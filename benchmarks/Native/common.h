/*
 * What the programs of this folder share: option values, clocks, CPU time and memory of processes, addresses, and the
 * thread that ends a program together with whoever started it. Everything is static inline: each program is one file.
 */
#ifndef FASTPORT_NATIVE_COMMON_H
#define FASTPORT_NATIVE_COMMON_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the wire format is little-endian and these programs write it as it lies in memory"
#endif

/* Set first thing in main: the name in front of every complaint. */
static const char *program_name;

/* ---- complaints ---------------------------------------------------------------------------------------------------- */

__attribute__((format(printf, 1, 2), noreturn)) static inline void die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program_name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

__attribute__((noreturn)) static inline void bad_argument(const char *name, const char *value, const char *allowed) {
    fprintf(stderr, "%s: --%s %s: must be %s\n", program_name, name, value, allowed);
    exit(2);
}

static inline void *allocate(size_t count, size_t size) {
    void *p = calloc(count == 0 ? 1 : count, size == 0 ? 1 : size);
    if (p == NULL) die("out of memory for %zu x %zu bytes: use fewer connections, requests in flight or bytes", count, size);
    return p;
}

/* ---- option values ------------------------------------------------------------------------------------------------- */

static inline long integer_option(const char *name, const char *text, long low, long high) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 0);
    if (errno != 0 || end == text || *end != '\0' || value < low || value > high) {
        char allowed[64];
        snprintf(allowed, sizeof allowed, "an integer from %ld to %ld", low, high);
        bad_argument(name, text, allowed);
    }
    return value;
}

static inline double seconds_option(const char *name, const char *text, double low) {
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (errno != 0 || end == text || *end != '\0' || !(value >= low && value <= 86400)) {
        char allowed[64];
        snprintf(allowed, sizeof allowed, "seconds from %g to 86400", low);
        bad_argument(name, text, allowed);
    }
    return value;
}

/* The index of a word in a list that ends with NULL. */
static inline int word_option(const char *name, const char *text, const char *const *words, const char *allowed) {
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(text, words[i]) == 0) return i;
    }
    bad_argument(name, text, allowed);
}

/* ---- clocks, CPU time, memory --------------------------------------------------------------------------------------- */

static inline uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline double own_cpu_seconds(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* User and system time of a process, from fields 14 and 15 of its stat line; the name in field 2 may hold anything. */
static inline bool process_cpu_seconds(int pid, double *seconds) {
    char path[64], line[2048];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "r");
    if (f == NULL) return false;
    size_t n = fread(line, 1, sizeof line - 1, f);
    fclose(f);
    line[n] = '\0';
    char *after_name = strrchr(line, ')');
    unsigned long user, system;
    if (after_name == NULL ||
        sscanf(after_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2) {
        return false;
    }
    *seconds = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
    return true;
}

/* A field of a process's status in kB: VmHWM is its largest memory so far (getrusage would report the parent's where that
 * was larger when it forked), VmRSS its memory now. */
static inline bool process_memory_kb(int pid, const char *field, long *kb) {
    char path[64], line[256];
    size_t length = strlen(field);
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *f = fopen(path, "r");
    if (f == NULL) return false;
    bool found = false;
    while (!found && fgets(line, sizeof line, f) != NULL) {
        found = strncmp(line, field, length) == 0 && line[length] == ':' && sscanf(line + length + 1, "%ld", kb) == 1;
    }
    fclose(f);
    return found;
}

static inline bool core_is_in(const char *list, int core) {
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        if (*at == ',') at++;
        if (atoi(at) == core) return true;
    }
    return false;
}

/* CPU seconds of cores since the machine's start: all that was not idle, and of that what the hypervisor took. */
struct core_time {
    double busy;
    double stolen;
};

/* Most kernels count the time of interrupts as that of the process which they interrupt, too: without irq and softirq what the
 * processes have would be more than what the cores have. */
static inline struct core_time cores_time(const char *list) {
    char line[512];
    struct core_time sum = {0, 0};
    FILE *f = list == NULL ? NULL : fopen("/proc/stat", "r");
    if (f == NULL) return sum;
    double tick = 1 / (double)sysconf(_SC_CLK_TCK);
    while (fgets(line, sizeof line, f) != NULL) {
        int core;
        unsigned long user, nice, system, irq, softirq, steal;
        if (sscanf(line, "cpu%d %lu %lu %lu %*u %*u %lu %lu %lu", &core, &user, &nice, &system, &irq, &softirq, &steal) == 7 &&
            core_is_in(list, core)) {
            sum.busy += (double)(user + nice + system + irq + softirq + steal) * tick;
            sum.stolen += (double)steal * tick;
        }
    }
    fclose(f);
    return sum;
}

/* What others have had of the cores, other machines among them; own is the CPU time of the processes that are measured. Some kernels
 * count stolen time as that of the process it was stolen from, so it is in both sums there: it is the least there can be. Else the
 * difference may be below zero only by the rounding to ticks. */
static inline double others_seconds(struct core_time from, struct core_time to, double own) {
    double rest = to.busy - from.busy - own, stolen = to.stolen - from.stolen;
    return rest > stolen ? rest : stolen;
}

static inline void check_core_list(const char *name, const char *list) {
    if (list[strspn(list, "0123456789,")] != '\0') bad_argument(name, list, "core numbers separated by commas");
}

/* ---- life ------------------------------------------------------------------------------------------------------------ */

static inline void *wait_for_end_of_input(void *unused) {
    char bytes[256];
    while (read(STDIN_FILENO, bytes, sizeof bytes) > 0) {
    }
    _exit(0);
    return unused;
}

/* Whoever started this program holds the other end of its standard input: when that goes, so does the program. */
static inline void end_with_standard_input(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_for_end_of_input, NULL) != 0) die("no thread can be started");
    pthread_detach(thread);
}

static inline void use_all_descriptors(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

/* ---- addresses: tcp://127.0.0.1:PORT or unix:///PATH ------------------------------------------------------------------ */

struct address {
    struct sockaddr_storage storage;
    socklen_t size;
    bool is_tcp;
};

static inline struct address parse_address(const char *option, const char *text) {
    struct address a = {.size = 0};
    if (strncmp(text, "unix://", 7) == 0) {
        struct sockaddr_un *un = (struct sockaddr_un *)&a.storage;
        if (strlen(text + 7) >= sizeof un->sun_path) bad_argument(option, text, "a path of at most 107 bytes");
        un->sun_family = AF_UNIX;
        strcpy(un->sun_path, text + 7);
        a.size = sizeof *un;
        return a;
    }
    char host[64];
    unsigned port;
    struct sockaddr_in *in = (struct sockaddr_in *)&a.storage;
    if (sscanf(text, "tcp://%63[0-9.]:%u", host, &port) != 2 || port > 65535 || inet_pton(AF_INET, host, &in->sin_addr) != 1) {
        bad_argument(option, text, "tcp://ADDRESS:PORT or unix:///PATH");
    }
    in->sin_family = AF_INET;
    in->sin_port = htons((uint16_t)port);
    a.size = sizeof *in;
    a.is_tcp = true;
    return a;
}

static inline void send_at_once(int fd, const struct address *a) {
    int on = 1;
    if (a->is_tcp && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) die("TCP_NODELAY: %s", strerror(errno));
}

#endif
