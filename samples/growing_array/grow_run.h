/*
 * Grows an array in one way, from empty to full, and collects the figures.
 */
#ifndef MAAR_SAMPLE_GROW_RUN_H
#define MAAR_SAMPLE_GROW_RUN_H

#include "grow_options.h"
#include "sample_device.h"

#include <stddef.h>

#define GROW_MAX_MARKS 4096u

/* The figures after an append. */
struct grow_mark {
    uint64_t appended;  /* bytes */
    uint64_t committed; /* bytes of the array's pages, or of its buffer */
    uint64_t memory;    /* bytes of the allocator's device memory */
    uint64_t copied;    /* bytes in all */
    uint64_t binds;     /* VkSparseMemoryBind elements in all */
    uint64_t submissions;
};

struct grow_figures {
    bool copying;      /* requested, or the device's only way: */
    const char* why;   /* the reason for the latter, else NULL */
    bool by_address;   /* shaders access elements by an address, else by descriptors */
    bool out_of_reach; /* memory ran out before the array was full */
    bool verified_all;
    uint64_t size; /* intended final bytes */
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

/* Grows an array to at most `size` bytes. Prints an error and returns false on failure. */
bool grow_run(const struct sample_device* device, const struct grow_options* options, bool copying,
              struct grow_figures* figures);

/* Returns the largest size up to `size` that the device supports in this way. `why` receives the
 * name of the limit, or NULL. */
uint64_t grow_fitting_size(const struct sample_device* device, uint64_t size, bool copying,
                           const char** why);

/* Returns whether all promises of the way were kept. */
bool grow_is_well(const struct grow_figures* figures, const struct grow_options* options);

#endif
