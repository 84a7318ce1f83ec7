/*
 * Chunks of host memory, each at least as large as all before it together, up to a megabyte, and no
 * larger than a part of the limit unless one thing is.
 */
#include "core/plan/plan_arena.h"

#include "core/host_memory.h"

#include <stdint.h>
#include <string.h>

struct maar_plan_chunk {
    struct maar_plan_chunk* older;
    size_t size; /* of the payload */
    size_t used;
    size_t padding; /* keeps the payload aligned to 16 */
};

/* First and largest usual chunk, bytes: a frame of 60 resources takes one. */
enum { FIRST_CHUNK = 32 * 1024, LARGEST_CHUNK = 1024 * 1024, LIMIT_SHARE = 16 };

void maar_plan_arena_init(struct maar_plan_arena* arena, const VkAllocationCallbacks* callbacks,
                          size_t limit)
{
    *arena = (struct maar_plan_arena){.callbacks = callbacks, .limit = limit};
}

/* A chunk with room for so many bytes, a usual one where the limit allows. */
static struct maar_plan_chunk* add_chunk(struct maar_plan_arena* arena, size_t bytes)
{
    size_t usual = arena->held < FIRST_CHUNK ? FIRST_CHUNK : arena->held;
    usual = usual < LARGEST_CHUNK ? usual : LARGEST_CHUNK;
    usual = usual < arena->limit / LIMIT_SHARE ? usual : arena->limit / LIMIT_SHARE;
    const size_t left = arena->limit - arena->held;
    const size_t head = sizeof(struct maar_plan_chunk);
    if (left < head || bytes > left - head) {
        return NULL;
    }
    size_t size = bytes > usual ? bytes : usual;
    size = size < left - head ? size : left - head;
    struct maar_plan_chunk* chunk = maar_host_alloc(arena->callbacks, head + size);
    if (chunk != NULL) {
        *chunk = (struct maar_plan_chunk){.older = arena->newest, .size = size};
        arena->newest = chunk;
        arena->held += head + size;
    }
    return chunk;
}

void* maar_plan_take(struct maar_plan_arena* arena, size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - 15) / size) {
        return NULL;
    }
    const size_t bytes = (count * size + 15) & ~(size_t)15;
    struct maar_plan_chunk* chunk = arena->newest;
    if (chunk == NULL || chunk->size - chunk->used < bytes) {
        chunk = add_chunk(arena, bytes);
        if (chunk == NULL) {
            return NULL;
        }
    }
    unsigned char* payload = (unsigned char*)(chunk + 1);
    void* taken = payload + chunk->used;
    chunk->used += bytes;
    return taken;
}

void* maar_plan_take_zeroed(struct maar_plan_arena* arena, size_t count, size_t size)
{
    void* taken = maar_plan_take(arena, count, size);
    if (taken != NULL) {
        memset(taken, 0, count * size);
    }
    return taken;
}

struct maar_plan_mark maar_plan_arena_mark(const struct maar_plan_arena* arena)
{
    return (struct maar_plan_mark){
        .chunk = arena->newest,
        .used = arena->newest != NULL ? arena->newest->used : 0,
    };
}

void maar_plan_arena_return(struct maar_plan_arena* arena, struct maar_plan_mark mark)
{
    while (arena->newest != mark.chunk) {
        struct maar_plan_chunk* chunk = arena->newest;
        arena->newest = chunk->older;
        arena->held -= sizeof(struct maar_plan_chunk) + chunk->size;
        maar_host_free(arena->callbacks, chunk);
    }
    if (mark.chunk != NULL) {
        mark.chunk->used = mark.used;
    }
}

void maar_plan_arena_finish(struct maar_plan_arena* arena)
{
    maar_plan_arena_return(arena, (struct maar_plan_mark){0});
}
