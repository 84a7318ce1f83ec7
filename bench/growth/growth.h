/*
 * How the cost of an operation grows: each case runs one public function, or several, beside n
 * things of one kind. bench_growth.c times a case at one n after another. growth.py runs all cases
 * at n, 4 n and 16 n, fits the exponents and writes docs/project/results/growth.md.
 */
#ifndef MAAR_BENCH_GROWTH_H
#define MAAR_BENCH_GROWTH_H

#include "volk.h"

#include "bench_common.h"
#include "bench_device.h"
#include "maar/maar.h"

#include <stdbool.h>
#include <stdint.h>

#define GROWTH_KIB ((VkDeviceSize)1 << 10)
#define GROWTH_MIB ((VkDeviceSize)1 << 20)
#define GROWTH_GIB ((VkDeviceSize)1 << 30)

/* Ends the program unless a call of Vulkan or of Maar succeeds. */
#define GROWTH_EXPECT(call) bench_expect((call), #call)

/* The device of a case, and what the case keeps between its steps. growth_close frees the arrays.
 */
struct growth {
    struct support_instance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    MaarDeviceRecommendation advice;
    MaarAllocatorCreateInfo allocator_info;
    MaarQueue queues[1];
    MaarAllocator allocator;
    uint32_t n;
    uint32_t count;  /* operations in a timed run */
    uint64_t random; /* for bench_random */
    /* The case's own. */
    uint64_t serial; /* of points */
    MaarPool pool;
    MaarAllocation* memory;
    void* state;
    void* spare;
};

/* What a run does, and of what its figure is. */
enum growth_kind {
    GROWTH_BESIDE = 0, /* `count` operations beside n things: of an operation */
    GROWTH_EACH = 1,   /* n operations, one on each thing: of an operation */
    GROWTH_OVER = 2,   /* one operation on n things: of a thing */
};

/* One case. The steps are called in the order open, then for each run prepare, the operations and
 * tidy, then close. Only the operations are timed. Before open, growth->count is set. */
struct growth_case {
    const char* name;
    const char* functions; /* the public functions that it measures, separated by blanks */
    const char* dimension; /* what there are n of */
    enum growth_kind kind;
    uint32_t n;     /* the smallest */
    uint32_t count; /* operations in a run beside n things; 0: GROWTH_COUNT */
    void (*open)(struct growth* growth);
    void (*prepare)(struct growth* growth);                   /* may be NULL */
    void (*operation)(struct growth* growth, uint32_t index); /* index is below growth->count */
    void (*tidy)(struct growth* growth);                      /* may be NULL */
    void (*close)(struct growth* growth);                     /* may be NULL */
};

enum { GROWTH_COUNT = 256 };

#endif
