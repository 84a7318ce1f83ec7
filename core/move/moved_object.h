/*
 * The new objects of movable objects (core/objects/movable.h) while a batch moves them: they are
 * created, copied from the old ones, and either replace them or end.
 *
 * A batch holds the records of its movable objects, so an object that the program destroys
 * meanwhile lives until the batch has ended, and until the points of its end have passed. The swap
 * of the objects and the exchange of the homes of their slots happen together under the list lock,
 * so a thread that destroys the object of an allocation finds the one that is bound to the
 * allocation's bytes.
 *
 * One thread at a time calls these functions for a batch. No lock may be held.
 */
#ifndef MAAR_CORE_MOVE_MOVED_OBJECT_H
#define MAAR_CORE_MOVE_MOVED_OBJECT_H

#include "core/memory/allocation_handle.h"
#include "core/memory/moving_slot.h"
#include "core/move/move_state.h"
#include "core/objects/movable.h"

struct maar_moved_object {
    struct maar_movable* movable; /* held; NULL once the batch has let go */
    struct maar_object old_object;
    struct maar_object new_object;
    VkImageLayout layout; /* of the old image */
    bool has_layout;
    bool is_fresh; /* created by the call that runs */
};

/* Whether the allocation of a move belongs to a movable object. */
static inline bool maar_move_is_of_object(MaarAllocator allocator, const struct maar_move* move)
{
    return maar_slot_is_movable(allocator, maar_move_slot(allocator, move));
}

/* Whether the allocation of a move is live, and its move not dropped. */
static inline bool maar_move_is_under_way(MaarAllocator allocator, const struct maar_move* move)
{
    return !move->is_dropped &&
           maar_key_read(&maar_move_slot(allocator, move)->key) == move->handle >> 32;
}

/* Returns VK_SUCCESS if each movable object that moves has its new object. Otherwise reports that
 * it has none. */
VkResult maar_moved_objects_require(const struct maar_move_batch* batch, const char* call);

/* ---- copies: see object_copy.c ---- */

/* Whether a move copies the contents of an object. It does so too if the program has destroyed the
 * object meanwhile, since the batch holds it. */
bool maar_moved_object_is_copied(const struct maar_move* move);
/* Whether a move loses the contents of an object if nobody copies it: not those of an image of
 * which the program has said that it has none. */
bool maar_moved_object_loses(const struct maar_move* move);
/* Returns VK_SUCCESS if the objects of a batch can be copied in a queue family: they exist, and the
 * layouts of images are known. family_flags: what the family can do; 0 if that is not known.
 * Otherwise reports what is missing. */
VkResult maar_moved_objects_check_copies(const struct maar_move_batch* batch, const char* call,
                                         VkQueueFlags family_flags);
/* Record the transitions into the layouts of copies, the copies, and the transitions back. Memory
 * barriers of the caller's surround them. */
void maar_moved_objects_record_begin(const struct maar_move_batch* batch, VkCommandBuffer commands);
void maar_moved_objects_record_copies(const struct maar_move_batch* batch,
                                      VkCommandBuffer commands);
void maar_moved_objects_record_end(const struct maar_move_batch* batch, VkCommandBuffer commands);

/* ---- the end of a move ---- */

/* Ends a move: see maar_slot_end_move and maar_slot_abandon_move. An object whose allocation has
 * changed homes is replaced by the new one. */
enum maar_move_end maar_moved_object_end_move(MaarAllocator allocator, const struct maar_move* move,
                                              bool commits);
/* Destroys the object that the end of the move has left over, and lets go of the record. */
void maar_moved_object_destroy(MaarAllocator allocator, struct maar_moved_object* object);
/* Makes this the action of an item. */
void maar_moved_object_retire(struct maar_moved_object* object, struct maar_retire_item* item);

#endif
