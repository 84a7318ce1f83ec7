/*
 * One way to grow, from an empty array to a full one, with the figures of it.
 */
#ifndef MAAR_SAMPLE_GROW_RUN_H
#define MAAR_SAMPLE_GROW_RUN_H

#include "grow_options.h"
#include "sample_device.h"

#include <stddef.h>

#define GROW_MAX_MARKS 4096u

/* How things stood after an append. */
struct grow_mark {
    uint64_t appended;  /* bytes */
    uint64_t committed; /* bytes of the array's pages, or of its buffer */
    uint64_t memory;    /* bytes of device memory that the allocator has */
    uint64_t copied;    /* bytes in all */
    uint64_t binds;     /* VkSparseMemoryBind elements in all */
    uint64_t submissions;
};

struct grow_figures {
    bool copying;      /* asked for, or all that the device can do: */
    const char* why;   /* then it says why, else NULL */
    bool by_address;   /* elements are reached through an address, else through descriptors */
    bool out_of_reach; /* memory was short before the array was full */
    bool verified_all;
    uint64_t size; /* bytes that it was to reach */
    uint64_t appended;
    uint64_t committed;
    uint64_t page_size;
    uint64_t first_address, last_address;
    uint32_t moves; /* of the buffer */
    uint64_t elements, matching;
    uint64_t pages, binds, submissions, copied;
    uint64_t most_memory;
    uint64_t batch; /* bytes of an append */
    double seconds;
    struct grow_mark marks[GROW_MAX_MARKS];
    uint32_t mark_count;
};

/* Grows an array of at most so many bytes. False, having complained, when it could not. */
bool grow_run(const struct sample_device* device, const struct grow_options* options, bool copying,
              struct grow_figures* figures);

/* The most of `size` that the device can take in this way; why receives what limits it, or NULL. */
uint64_t grow_fitting_size(const struct sample_device* device, uint64_t size, bool copying,
                           const char** why);

/* Whether all held that the way promises. */
bool grow_is_well(const struct grow_figures* figures, const struct grow_options* options);

#endif
