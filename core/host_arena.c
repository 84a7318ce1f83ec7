/*
 * Chunks of host memory, filled from the front.
 */
#include "core/host_arena.h"

#include <string.h>

#include "core/host_memory.h"

/* Bytes of a chunk: graphs of some dozens of passes take a few of them. */
enum { CHUNK_SIZE = 16384 };

struct maar_arena_chunk {
    struct maar_arena_chunk* next;
    size_t used;
    size_t size;
};

/* Bytes in front of what is given out; a multiple of 16 that holds the struct everywhere. */
enum { CHUNK_HEADER = 32 };

static struct maar_arena_chunk* open_chunk(struct maar_arena* arena, size_t size)
{
    struct maar_arena_chunk* chunk = size > SIZE_MAX - CHUNK_HEADER
                                         ? NULL
                                         : maar_host_alloc(arena->callbacks, CHUNK_HEADER + size);
    if (chunk == NULL) {
        arena->failed = true;
        return NULL;
    }
    chunk->next = arena->chunks;
    chunk->used = 0;
    chunk->size = size;
    arena->chunks = chunk;
    return chunk;
}

void* maar_arena_take(struct maar_arena* arena, size_t count, size_t size)
{
    if (arena->failed || (size != 0 && count > (SIZE_MAX - 15) / size)) {
        arena->failed = true;
        return NULL;
    }
    size_t bytes = (count * size + 15) & ~(size_t)15;
    bytes = bytes == 0 ? 16 : bytes;
    struct maar_arena_chunk* chunk = arena->chunks;
    if (chunk == NULL || chunk->size - chunk->used < bytes) {
        chunk = open_chunk(arena, bytes > CHUNK_SIZE ? bytes : CHUNK_SIZE);
        if (chunk == NULL) {
            return NULL;
        }
    }
    char* memory = (char*)chunk + CHUNK_HEADER + chunk->used;
    chunk->used += bytes;
    memset(memory, 0, bytes);
    return memory;
}

void* maar_arena_copy(struct maar_arena* arena, const void* array, size_t count, size_t size)
{
    void* memory = maar_arena_take(arena, count, size);
    if (memory != NULL && count * size > 0) {
        memcpy(memory, array, count * size);
    }
    return memory;
}

void maar_arena_reset(struct maar_arena* arena)
{
    while (arena->chunks != NULL) {
        struct maar_arena_chunk* chunk = arena->chunks;
        arena->chunks = chunk->next;
        maar_host_free(arena->callbacks, chunk);
    }
    arena->failed = false;
}
