/*
 * The numbers of blocks. A slot names its block by a number of 32 bits, half as many as a pointer.
 * A header of a block gets its number when it is made and keeps it until the allocator ends, since
 * headers are recycled (recycled.h). Reading needs no lock: an array that was outgrown stays,
 * because a thread may still read it.
 */
#ifndef MAAR_CORE_MEMORY_BLOCK_NUMBERS_H
#define MAAR_CORE_MEMORY_BLOCK_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/port_atomic.h"
#include "maar/allocator.h"

struct maar_block;

/* The numbers that need no host memory. */
enum { MAAR_FIRST_BLOCK_NUMBERS = 32 };

struct maar_block_numbers {
    /* The headers by their numbers. Entry 0 is no header: it is the array that this one has
     * outgrown. */
    maar_atomic_pointer headers;
    uint32_t end; /* this member and the next one are guarded by the list lock */
    uint32_t capacity;
    struct maar_block* first[MAAR_FIRST_BLOCK_NUMBERS];
};

void maar_block_numbers_init(struct maar_block_numbers* numbers);
/* Frees all arrays. */
void maar_block_numbers_destroy(struct maar_block_numbers* numbers,
                                const VkAllocationCallbacks* callbacks);
/* Gives a new header its number. Returns false when there is no host memory. No lock may be held.
 */
bool maar_block_numbers_add(MaarAllocator allocator, struct maar_block* block);

/* Returns the header with a number that was read from a slot with acquire order. */
static inline struct maar_block* maar_block_of_number(const struct maar_block_numbers* numbers,
                                                      uint32_t number)
{
    struct maar_block* const* headers = maar_atomic_pointer_load(&numbers->headers);
    return headers[number];
}

#endif
