/*
 * Host memory that is taken bit by bit and given back as a whole, or back to a mark: what belongs
 * to one call of the planner, or to one graph of transients.
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
    struct maar_arena_chunk* newest;
    size_t limit; /* bytes that all chunks together may have; 0 for any */
    size_t held;
    bool failed; /* of maar_arena_take and maar_arena_copy */
};

/* A place to return to: what was taken later is given back. */
struct maar_arena_mark {
    struct maar_arena_chunk* chunk;
    size_t used;
};

/* count * size bytes, not zeroed, aligned to 16, never NULL for 0 elements; NULL when the limit,
 * the host or the multiplication forbids it. */
void* maar_arena_grab(struct maar_arena* arena, size_t count, size_t size);
void* maar_arena_grab_zeroed(struct maar_arena* arena, size_t count, size_t size);
/* Zeroed. A failure is remembered, so that a run of them is checked once: NULL from then on. */
void* maar_arena_take(struct maar_arena* arena, size_t count, size_t size);
/* A copy of an array, otherwise as maar_arena_take. */
void* maar_arena_copy(struct maar_arena* arena, const void* array, size_t count, size_t size);
struct maar_arena_mark maar_arena_place(const struct maar_arena* arena);
void maar_arena_return(struct maar_arena* arena, struct maar_arena_mark mark);
/* Gives everything back; the arena may be used again. */
void maar_arena_reset(struct maar_arena* arena);

#endif
