/*
 * New objects of movable objects: what a batch asks of them, and their end. See moved_object.h.
 */
#include "core/move/moved_object.h"

#include "core/host_memory.h"

VkResult maar_moved_objects_require(const struct maar_move_batch* batch, const char* call)
{
    MaarAllocator allocator = batch->allocator;
    for (uint32_t i = 0; i < batch->count; ++i) {
        const struct maar_move* move = &batch->moves[i];
        if (move->object == NULL && maar_move_is_under_way(allocator, move) &&
            maar_move_is_of_object(allocator, move)) {
            return maar_misuse(allocator, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, call,
                               "batch moves movable objects that have no new objects; call "
                               "maarCreateMovedObjects first, or drop their moves");
        }
    }
    return VK_SUCCESS;
}

/* ---- the end of a move ---- */

/* Ends a move whose objects are exchanged with the homes. Under the list lock. */
static enum maar_move_end swap_and_end(MaarAllocator allocator, const struct maar_move* move)
{
    struct maar_moved_object* object = move->object;
    const enum maar_move_end end = maar_slot_end_move(allocator, move->handle, move->twin);
    if (end == MAAR_MOVE_DONE) {
        object->movable->previous = object->old_object;
        object->movable->object = object->new_object;
        object->new_object = object->old_object; /* it is the one that ends */
    }
    return end;
}

enum maar_move_end maar_moved_object_end_move(MaarAllocator allocator, const struct maar_move* move,
                                              bool commits)
{
    struct maar_moved_object* object = move->object;
    enum maar_move_end end = MAAR_MOVE_MAPPED;
    maar_mutex_lock(&allocator->list_lock);
    if (commits && !move->is_dropped) {
        end = swap_and_end(allocator, move);
    } else if (!maar_slot_abandon_move(maar_move_slot(allocator, move), move->handle)) {
        end = MAAR_MOVE_FREED;
    }
    if (end != MAAR_MOVE_FREED) {
        /* The allocation lives, so its reference is left. Nobody else needs this one. */
        --object->movable->reference_count;
        object->movable = NULL;
    }
    maar_mutex_unlock(&allocator->list_lock);
    return end;
}

void maar_moved_object_destroy(MaarAllocator allocator, struct maar_moved_object* object)
{
    maar_discard_object(allocator, object->new_object);
    if (object->movable != NULL) {
        maar_movable_release(allocator, object->movable);
    }
    maar_host_free(allocator->callbacks, object);
}

static void end_retired_object(MaarAllocator allocator, const struct maar_retire_item* item)
{
    maar_moved_object_destroy(allocator, (struct maar_moved_object*)(uintptr_t)item->object);
}

void maar_moved_object_retire(struct maar_moved_object* object, struct maar_retire_item* item)
{
    item->action = end_retired_object;
    item->object = (uint64_t)(uintptr_t)object;
    item->object_first = true;
}
