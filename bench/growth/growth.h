/*
 * How the cost of an operation grows: each case runs one public function, or several, beside n
 * things of one kind. bench_growth.c times a case at one n. growth.py runs all cases at n, 4 n and
 * 16 n, fits the exponents and writes docs/project/results/growth.md.
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

/* The device of a case, and what the case keeps between its steps. */
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
    MaarPool pool;
    MaarAllocation* memory; /* n of them, or more */
    void* state;
};

/* One case. The steps are called in the order open, then for each run prepare, run and tidy, then
 * close. Only run is timed. */
struct growth_case {
    const char* name;
    const char* functions; /* the public functions that it measures, separated by blanks */
    const char* dimension; /* what there are n of */
    uint32_t n;            /* the smallest */
    uint32_t count;        /* operations in a run; 0: one */
    bool each;             /* the operation works off n things: its figure is for each of them */
    void (*open)(struct growth* growth);
    void (*prepare)(struct growth* growth); /* may be NULL */
    void (*run)(struct growth* growth);
    void (*tidy)(struct growth* growth);  /* may be NULL */
    void (*close)(struct growth* growth); /* may be NULL */
};

/* The cases of each file, which end with an entry without a name. */
extern const struct growth_case growth_memory_cases[];
extern const struct growth_case growth_pool_cases[];
extern const struct growth_case growth_pending_cases[];

/* Creates the allocator from allocator_info. */
void growth_create_allocator(struct growth* growth);

/* Returns a request for `size` bytes of device-local memory. */
MaarMemoryRequest growth_request(VkDeviceSize size, VkDeviceSize alignment);
/* Allocates `count` times `size` bytes from growth->pool into growth->memory, which it makes. */
void growth_fill(struct growth* growth, uint32_t count, VkDeviceSize size);
/* Creates a pool of device-local memory. */
MaarPool growth_create_pool(struct growth* growth, VkDeviceSize block_size, uint32_t max_blocks);
/* Creates a timeline semaphore. */
VkSemaphore growth_create_timeline(struct growth* growth);

#endif
