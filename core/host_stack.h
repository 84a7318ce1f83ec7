/*
 * A stack of host memory. A caller takes arrays one after another, and gives them back all together
 * or back to a mark. Each call of the planner has a stack, and each graph of transients has one.
 *
 * Not synchronized. No lock may be held, since the caller's allocation callbacks may run.
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
    size_t limit; /* the most bytes that all chunks together may have; 0: no limit */
    size_t held;
    bool failed; /* a call of maar_stack_take, _copy or _grow has failed */
};

/* A mark in a stack. maar_stack_return gives back everything that was taken after it. */
struct maar_stack_mark {
    struct maar_stack_chunk* chunk;
    size_t used;
};

/* Takes count * size bytes, not zeroed, aligned to 16. Taking 0 bytes works too. Returns NULL when
 * the limit is reached, host memory is short, or the multiplication overflows. */
void* maar_stack_grab(struct maar_host_stack* stack, size_t count, size_t size);
/* Does the same as maar_stack_grab, and sets the bytes to 0. */
void* maar_stack_grab_zeroed(struct maar_host_stack* stack, size_t count, size_t size);
/* Takes zeroed bytes. Remembers a failure and returns NULL from then on, so that several calls can
 * be checked once, by `failed`. */
void* maar_stack_take(struct maar_host_stack* stack, size_t count, size_t size);
/* Returns a copy of an array. Fails as maar_stack_take does. */
void* maar_stack_copy(struct maar_host_stack* stack, const void* array, size_t count, size_t size);
/* Returns a copy of a full array with room for twice as many elements, and updates the capacity. A
 * capacity of 0 becomes `first`. After a failure it returns NULL, sets `failed`, and leaves the
 * array as it is. */
void* maar_stack_grow(struct maar_host_stack* stack, const void* array, uint32_t* capacity,
                      uint32_t first, size_t size);
/* Returns a mark for the present state of the stack. */
struct maar_stack_mark maar_stack_place(const struct maar_host_stack* stack);
/* Gives back everything that was taken after the mark. */
void maar_stack_return(struct maar_host_stack* stack, struct maar_stack_mark mark);
/* Gives everything back. The stack may be used again. */
void maar_stack_reset(struct maar_host_stack* stack);

#endif
