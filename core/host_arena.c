/*
 * Chunks of host memory, each at least as large as all before it together, up to a megabyte, and no
 * larger than a part of the limit unless one thing is.
 */
#include "core/host_arena.h"

#include "core/host_memory.h"

#include <stdint.h>
#include <string.h>

struct maar_arena_chunk {
    struct maar_arena_chunk* older;
    size_t size; /* of the payload */
    size_t used;
    size_t padding; /* keeps the payload aligned to 16 */
};

/* First and largest usual chunk, bytes: a frame of 60 resources takes one. */
enum { FIRST_CHUNK = 32 * 1024, LARGEST_CHUNK = 1024 * 1024, LIMIT_SHARE = 16 };

/* A chunk with room for so many bytes, a usual one where the limit allows. */
static struct maar_arena_chunk* add_chunk(struct maar_arena* arena, size_t bytes)
{
    const size_t limit = arena->limit != 0 ? arena->limit : SIZE_MAX;
    size_t usual = arena->held < FIRST_CHUNK ? FIRST_CHUNK : arena->held;
    usual = usual < LARGEST_CHUNK ? usual : LARGEST_CHUNK;
    usual = usual < limit / LIMIT_SHARE ? usual : limit / LIMIT_SHARE;
    const size_t left = limit - arena->held;
    const size_t head = sizeof(struct maar_arena_chunk);
    if (left < head || bytes > left - head) {
        return NULL;
    }
    size_t size = bytes > usual ? bytes : usual;
    size = size < left - head ? size : left - head;
    struct maar_arena_chunk* chunk = maar_host_alloc(arena->callbacks, head + size);
    if (chunk != NULL) {
        *chunk = (struct maar_arena_chunk){.older = arena->newest, .size = size};
        arena->newest = chunk;
        arena->held += head + size;
    }
    return chunk;
}

void* maar_arena_grab(struct maar_arena* arena, size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - 15) / size) {
        return NULL;
    }
    const size_t rounded = (count * size + 15) & ~(size_t)15;
    const size_t bytes = rounded != 0 ? rounded : 16;
    struct maar_arena_chunk* chunk = arena->newest;
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

void* maar_arena_grab_zeroed(struct maar_arena* arena, size_t count, size_t size)
{
    void* taken = maar_arena_grab(arena, count, size);
    if (taken != NULL) {
        memset(taken, 0, count * size);
    }
    return taken;
}

void* maar_arena_take(struct maar_arena* arena, size_t count, size_t size)
{
    void* taken = arena->failed ? NULL : maar_arena_grab_zeroed(arena, count, size);
    arena->failed = taken == NULL;
    return taken;
}

void* maar_arena_copy(struct maar_arena* arena, const void* array, size_t count, size_t size)
{
    void* taken = maar_arena_take(arena, count, size);
    if (taken != NULL && count * size > 0) {
        memcpy(taken, array, count * size);
    }
    return taken;
}

struct maar_arena_mark maar_arena_place(const struct maar_arena* arena)
{
    return (struct maar_arena_mark){
        .chunk = arena->newest,
        .used = arena->newest != NULL ? arena->newest->used : 0,
    };
}

void maar_arena_return(struct maar_arena* arena, struct maar_arena_mark mark)
{
    while (arena->newest != mark.chunk) {
        struct maar_arena_chunk* chunk = arena->newest;
        arena->newest = chunk->older;
        arena->held -= sizeof(struct maar_arena_chunk) + chunk->size;
        maar_host_free(arena->callbacks, chunk);
    }
    if (mark.chunk != NULL) {
        mark.chunk->used = mark.used;
    }
}

void maar_arena_reset(struct maar_arena* arena)
{
    maar_arena_return(arena, (struct maar_arena_mark){0});
    arena->failed = false;
}
