/*
 * Host memory of one call of the planner: taken bit by bit, given back all at once, never more than
 * a limit. Not for several threads.
 */
#ifndef MAAR_CORE_PLAN_PLAN_ARENA_H
#define MAAR_CORE_PLAN_PLAN_ARENA_H

#include <stddef.h>
#include <vulkan/vulkan_core.h>

struct maar_plan_chunk;

struct maar_plan_arena {
    const VkAllocationCallbacks* callbacks;
    struct maar_plan_chunk* newest;
    size_t limit; /* bytes that all chunks together may have */
    size_t held;
};

/* A place to return to: what was taken later is given back. */
struct maar_plan_mark {
    struct maar_plan_chunk* chunk;
    size_t used;
};

void maar_plan_arena_init(struct maar_plan_arena* arena, const VkAllocationCallbacks* callbacks,
                          size_t limit);
/* count * size bytes, not zeroed, aligned to 16; NULL when the limit, the host or the
 * multiplication forbids it. A count of 0 gives a valid pointer. */
void* maar_plan_take(struct maar_plan_arena* arena, size_t count, size_t size);
void* maar_plan_take_zeroed(struct maar_plan_arena* arena, size_t count, size_t size);
struct maar_plan_mark maar_plan_arena_mark(const struct maar_plan_arena* arena);
void maar_plan_arena_return(struct maar_plan_arena* arena, struct maar_plan_mark mark);
void maar_plan_arena_finish(struct maar_plan_arena* arena);

#endif
