/*
 * Host memory that is counted, and refused from a chosen call on for a chosen number of calls.
 */
#ifndef MAAR_TESTS_FUZZ_FUZZ_HOST_H
#define MAAR_TESTS_FUZZ_FUZZ_HOST_H

#include "maar/base.h"

struct fuzz_host {
    VkAllocationCallbacks callbacks;
    uint64_t live;   /* pieces of memory */
    uint64_t before; /* calls that still succeed before the first failure */
    uint64_t refuse; /* calls to refuse then */
    uint64_t struck; /* refused so far */
};

/* host must not move afterwards. */
void fuzz_host_init(struct fuzz_host* host);
/* After `before` more calls, `refuse` calls fail; 0 and 0: none. */
void fuzz_host_plan(struct fuzz_host* host, uint64_t before, uint64_t refuse);

#endif
