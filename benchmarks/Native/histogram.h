/* A latency histogram: 256 linear steps per power of two, so a value is known within 0.4 %. */
#ifndef FASTPORT_NATIVE_HISTOGRAM_H
#define FASTPORT_NATIVE_HISTOGRAM_H

#include <stdint.h>
#include <string.h>

enum { STEP_BITS = 8, STEPS = 1 << STEP_BITS, BUCKETS = (64 - STEP_BITS + 2) * (STEPS / 2) };

static struct {
    uint64_t counts[BUCKETS];
    uint64_t total;
    uint64_t max;
} histogram;

static inline void histogram_clear(void) { memset(&histogram, 0, sizeof histogram); }

static inline void histogram_record(uint64_t ns) {
    unsigned shift = ns < STEPS ? 0 : (unsigned)(63 - __builtin_clzll(ns)) - STEP_BITS + 1;
    /* From the second power of two on, the top step bit is always set: those buckets follow each other half a row apart. */
    histogram.counts[(shift << (STEP_BITS - 1)) + (ns >> shift)]++;
    histogram.total++;
    if (ns > histogram.max) histogram.max = ns;
}

static inline double histogram_max_us(void) { return (double)histogram.max / 1000.0; }

static inline double histogram_percentile_us(double percentile) {
    if (histogram.total == 0) return 0;
    uint64_t rank = (uint64_t)((double)histogram.total * percentile / 100.0 + 0.5);
    uint64_t seen = 0;
    if (rank < 1) rank = 1;
    for (uint64_t i = 0; i < BUCKETS; i++) {
        seen += histogram.counts[i];
        if (seen >= rank) {
            uint64_t half = STEPS / 2;
            uint64_t shift = i < STEPS ? 0 : i / half - 1;
            uint64_t low = (i - shift * half) << shift;
            double middle = (double)low + (double)((1ull << shift) - 1) / 2.0;
            return (middle > (double)histogram.max ? (double)histogram.max : middle) / 1000.0;
        }
    }
    return histogram_max_us();
}

#endif
