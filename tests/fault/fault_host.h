/*
 * Host memory that fails on demand: one call, a run of calls, or some at random. What it lets
 * through goes to the rig's own callbacks, which count what is alive. Any thread may call.
 */
#ifndef MAAR_TESTS_FAULT_FAULT_HOST_H
#define MAAR_TESTS_FAULT_FAULT_HOST_H

#include "tests/rig/rig.h"

struct fault_host {
    const VkAllocationCallbacks* under;
    VkAllocationCallbacks callbacks;
    _Atomic uint64_t calls;  /* since it was armed */
    _Atomic uint64_t first;  /* the call that fails first, 1 being the next; 0: none */
    _Atomic uint64_t count;  /* how many fail from there on; UINT64_MAX: all */
    _Atomic uint32_t chance; /* of 65536, of any other call to fail */
    _Atomic uint64_t random;
    _Atomic uint64_t struck; /* failures since it was armed */
};

/* under must outlive it. */
void fault_host_init(struct fault_host* host, const VkAllocationCallbacks* under);
void fault_host_arm(struct fault_host* host, uint64_t first, uint64_t count);
/* Returns how many calls failed since. */
uint64_t fault_host_disarm(struct fault_host* host);

#endif
