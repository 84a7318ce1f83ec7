/*
 * Lists of a run: they grow piece by piece, so that no step copies what is listed already.
 */
#ifndef MAAR_CORE_MOVE_DRAIN_LIST_H
#define MAAR_CORE_MOVE_DRAIN_LIST_H

#include <stdint.h>

#include "core/host_memory.h"

/* A piece has 2^9 elements, some ten KiB: one step of a run pays for at most one of them. */
enum { MAAR_DRAIN_PIECE_BITS = 9, MAAR_DRAIN_PIECE = 1 << MAAR_DRAIN_PIECE_BITS };

struct maar_drain_list {
    void** pieces;
    uint32_t piece_capacity;
    uint32_t piece_count;
    uint32_t count;
};

/* Returns an element. size: of an element, bytes. */
static inline void* maar_drain_list_at(const struct maar_drain_list* list, uint32_t at, size_t size)
{
    return (char*)list->pieces[at >> MAAR_DRAIN_PIECE_BITS] + (at % MAAR_DRAIN_PIECE) * size;
}

/* Ensures that the list has room for so many more elements. Returns false if there is no host
 * memory. */
static inline bool maar_drain_list_reserve(const VkAllocationCallbacks* callbacks,
                                           struct maar_drain_list* list, uint32_t more, size_t size)
{
    const uint32_t needed = (list->count + more + MAAR_DRAIN_PIECE - 1) >> MAAR_DRAIN_PIECE_BITS;
    if (needed > list->piece_capacity) {
        void** pieces = maar_host_grow(callbacks, list->pieces, &list->piece_capacity, needed,
                                       sizeof list->pieces[0]);
        if (pieces == NULL) {
            return false;
        }
        list->pieces = pieces;
    }
    while (list->piece_count < needed) {
        void* piece = maar_host_alloc(callbacks, MAAR_DRAIN_PIECE * size);
        if (piece == NULL) {
            return false;
        }
        list->pieces[list->piece_count++] = piece;
    }
    return true;
}

/* Frees some memory of a list that is not needed any more, at most *most pieces, which it counts
 * down. Returns whether none is left. */
static inline bool maar_drain_list_shrink(const VkAllocationCallbacks* callbacks,
                                          struct maar_drain_list* list, uint32_t* most)
{
    list->count = 0;
    while (list->piece_count > 0 && *most > 0) {
        maar_host_free(callbacks, list->pieces[--list->piece_count]);
        --*most;
    }
    return list->piece_count == 0;
}

static inline void maar_drain_list_free(const VkAllocationCallbacks* callbacks,
                                        struct maar_drain_list* list)
{
    for (uint32_t i = 0; i < list->piece_count; ++i) {
        maar_host_free(callbacks, list->pieces[i]);
    }
    maar_host_free(callbacks, list->pieces);
    *list = (struct maar_drain_list){0};
}

#endif
