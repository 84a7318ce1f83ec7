/*
 * Copies of moves: plain buffers over the blocks that a batch touches, and commands that copy from
 * one to the other. The bytes of buffers and of images of linear tiling lie where their binding
 * says, so a buffer over the whole block reads and writes them (Vulkan, Memory Aliasing).
 *
 * One thread at a time calls these functions for a batch. No lock may be held.
 */
#ifndef MAAR_CORE_MOVE_MOVE_COPY_H
#define MAAR_CORE_MOVE_MOVE_COPY_H

#include "core/move/move_state.h"

/* What the device uses to copy, until the points of its batch have passed. */
struct maar_move_copies {
    struct maar_move_copies* next; /* of the same batch */
    VkCommandPool pool;            /* of maarSubmitMoves; else VK_NULL_HANDLE */
    uint32_t count;
    struct maar_move_view {
        VkDeviceMemory memory;
        VkDeviceSize size;
        uint32_t type_index;
        VkBuffer buffer; /* over the whole block */
    } views[];
};

/* Makes buffers over the blocks of all moves of a batch that Maar copies. They are not part of the
 * batch yet. *copies is NULL if Maar copies nothing. */
VkResult maar_move_copies_create(const struct maar_move_batch* batch, const char* call,
                                 struct maar_move_copies** copies);
/* Records the copies of a batch between two memory barriers. */
void maar_move_copies_record(const struct maar_move_batch* batch,
                             const struct maar_move_copies* copies, VkCommandBuffer commands);
/* Destroys copies and those that follow; accepts NULL. */
void maar_move_copies_destroy(MaarAllocator allocator, struct maar_move_copies* copies);
/* Makes them the object of an item, which destroys them. */
void maar_move_copies_retire(struct maar_move_copies* copies, struct maar_retire_item* item);

#endif
