/*
 * Host memory that is given back as a whole: what belongs to one graph of transients, say. A
 * failed allocation is remembered, so that a run of them is checked once.
 *
 * Not synchronized; no lock may be held, since the caller's allocation callbacks may run.
 */
#ifndef MAAR_CORE_HOST_ARENA_H
#define MAAR_CORE_HOST_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

struct maar_arena_chunk;

struct maar_arena {
    const VkAllocationCallbacks* callbacks;
    struct maar_arena_chunk* chunks; /* the newest first */
    bool failed;
};

/* Zeroed, aligned to 16 bytes, never NULL for 0 elements; NULL when host memory is out or has been
 * out before. */
void* maar_arena_take(struct maar_arena* arena, size_t count, size_t size);
/* A copy of an array. */
void* maar_arena_copy(struct maar_arena* arena, const void* array, size_t count, size_t size);
/* Gives everything back; the arena may be used again. */
void maar_arena_reset(struct maar_arena* arena);

#endif
