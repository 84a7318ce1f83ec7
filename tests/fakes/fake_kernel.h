/*
 * FAKES. Kernels for the FAKE CUDA driver, which has no GPU to run any: host functions that stand
 * in for them, in a library that MAAR_FAKE_KERNELS in the environment names. The kernel `name` is
 * the object fake_kernel_name there. What nvcc compiled is not looked at.
 */
#ifndef MAAR_TESTS_FAKES_FAKE_KERNEL_H
#define MAAR_TESTS_FAKES_FAKE_KERNEL_H

#include <stdint.h>

enum { FAKE_KERNEL_ARGUMENTS = 8, FAKE_KERNEL_BYTES = 256 };

struct fake_kernel {
    uint32_t argument_count;
    uint32_t sizes[FAKE_KERNEL_ARGUMENTS]; /* of the arguments, bytes; FAKE_KERNEL_BYTES in all */
    /* Called once for a launch, on the stream's thread. */
    void (*run)(void* const* arguments, uint64_t thread_count);
};

#endif
