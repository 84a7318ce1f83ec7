/*
 * Host memory that is taken bit by bit and given back as a whole, or back to a mark: what belongs
 * to one call of the planner, or to one graph of transients.
 *
 * Not synchronized; no lock may be held, since the caller's allocation callbacks may run.
 */
#ifndef MAAR_CORE_HOST_STACK_H
#define MAAR_CORE_HOST_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

struct maar_stack_chunk;

struct maar_host_stack {
    const VkAllocationCallbacks* callbacks;
    struct maar_stack_chunk* newest;
    size_t limit; /* bytes that all chunks together may have; 0 for any */
    size_t held;
    bool failed; /* of maar_stack_take and maar_stack_copy */
};

/* A place to return to: what was taken later is given back. */
struct maar_stack_mark {
    struct maar_stack_chunk* chunk;
    size_t used;
};

/* count * size bytes, not zeroed, aligned to 16, never NULL for 0 elements; NULL when the limit,
 * the host or the multiplication forbids it. */
void* maar_stack_grab(struct maar_host_stack* stack, size_t count, size_t size);
void* maar_stack_grab_zeroed(struct maar_host_stack* stack, size_t count, size_t size);
/* Zeroed. A failure is remembered, so that a run of them is checked once: NULL from then on. */
void* maar_stack_take(struct maar_host_stack* stack, size_t count, size_t size);
/* A copy of an array, otherwise as maar_stack_take. */
void* maar_stack_copy(struct maar_host_stack* stack, const void* array, size_t count, size_t size);
struct maar_stack_mark maar_stack_place(const struct maar_host_stack* stack);
void maar_stack_return(struct maar_host_stack* stack, struct maar_stack_mark mark);
/* Gives everything back; the stack may be used again. */
void maar_stack_reset(struct maar_host_stack* stack);

#endif
