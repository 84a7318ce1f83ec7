/*
 * A stack consists of chunks of host memory. Without a limit, each chunk is at least as large as
 * all earlier ones together, up to a megabyte.
 */
#include "core/host_stack.h"

#include "core/host_memory.h"

#include <stdint.h>
#include <string.h>

struct maar_stack_chunk {
    struct maar_stack_chunk* older;
    size_t size; /* of the payload */
    size_t used;
    size_t padding; /* keeps the payload aligned to 16 */
};

/* In bytes: the size of the first chunk, and the largest size that a chunk gets unless one array
 * needs more. A frame of 60 resources takes one chunk. LIMIT_SHARE: the size of a chunk is at most
 * the limit divided by this, unless one array needs more. */
enum { FIRST_CHUNK = 32 * 1024, LARGEST_CHUNK = 1024 * 1024, LIMIT_SHARE = 16 };

/* Adds a chunk that holds at least `bytes`. The chunk has the usual size if the limit allows it.
 * Returns NULL when the limit is reached or host memory is short. */
static struct maar_stack_chunk* add_chunk(struct maar_host_stack* stack, size_t bytes)
{
    const size_t limit = stack->limit != 0 ? stack->limit : SIZE_MAX;
    size_t usual = stack->held < FIRST_CHUNK ? FIRST_CHUNK : stack->held;
    usual = usual < LARGEST_CHUNK ? usual : LARGEST_CHUNK;
    usual = usual < limit / LIMIT_SHARE ? usual : limit / LIMIT_SHARE;
    const size_t left = limit - stack->held;
    const size_t head = sizeof(struct maar_stack_chunk);
    if (left < head || bytes > left - head) {
        return NULL;
    }
    size_t size = bytes > usual ? bytes : usual;
    size = size < left - head ? size : left - head;
    struct maar_stack_chunk* chunk = maar_host_alloc(stack->callbacks, head + size);
    if (chunk != NULL) {
        *chunk = (struct maar_stack_chunk){.older = stack->newest, .size = size};
        stack->newest = chunk;
        stack->held += head + size;
    }
    return chunk;
}

void* maar_stack_grab(struct maar_host_stack* stack, size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - 15) / size) {
        return NULL;
    }
    const size_t rounded = (count * size + 15) & ~(size_t)15;
    const size_t bytes = rounded != 0 ? rounded : 16;
    struct maar_stack_chunk* chunk = stack->newest;
    if (chunk == NULL || chunk->size - chunk->used < bytes) {
        chunk = add_chunk(stack, bytes);
        if (chunk == NULL) {
            return NULL;
        }
    }
    unsigned char* payload = (unsigned char*)(chunk + 1);
    void* taken = payload + chunk->used;
    chunk->used += bytes;
    return taken;
}

void* maar_stack_grab_zeroed(struct maar_host_stack* stack, size_t count, size_t size)
{
    void* taken = maar_stack_grab(stack, count, size);
    if (taken != NULL) {
        memset(taken, 0, count * size);
    }
    return taken;
}

void* maar_stack_take(struct maar_host_stack* stack, size_t count, size_t size)
{
    void* taken = stack->failed ? NULL : maar_stack_grab_zeroed(stack, count, size);
    stack->failed = taken == NULL;
    return taken;
}

void* maar_stack_copy(struct maar_host_stack* stack, const void* array, size_t count, size_t size)
{
    void* taken = maar_stack_take(stack, count, size);
    if (taken != NULL && count * size > 0) {
        memcpy(taken, array, count * size);
    }
    return taken;
}

void* maar_stack_grow(struct maar_host_stack* stack, const void* array, uint32_t* capacity,
                      uint32_t first, size_t size)
{
    const uint32_t larger = *capacity == 0 ? first : *capacity * 2;
    void* taken = maar_stack_take(stack, larger, size);
    if (taken != NULL) {
        if (*capacity > 0) {
            memcpy(taken, array, *capacity * size);
        }
        *capacity = larger;
    }
    return taken;
}

struct maar_stack_mark maar_stack_place(const struct maar_host_stack* stack)
{
    return (struct maar_stack_mark){
        .chunk = stack->newest,
        .used = stack->newest != NULL ? stack->newest->used : 0,
    };
}

void maar_stack_return(struct maar_host_stack* stack, struct maar_stack_mark mark)
{
    while (stack->newest != mark.chunk) {
        struct maar_stack_chunk* chunk = stack->newest;
        stack->newest = chunk->older;
        stack->held -= sizeof(struct maar_stack_chunk) + chunk->size;
        maar_host_free(stack->callbacks, chunk);
    }
    if (mark.chunk != NULL) {
        mark.chunk->used = mark.used;
    }
}

void maar_stack_reset(struct maar_host_stack* stack)
{
    maar_stack_return(stack, (struct maar_stack_mark){0});
    stack->failed = false;
}
