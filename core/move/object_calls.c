/*
 * The public calls on movable objects in a batch: they create the new objects, list the swaps, and
 * take the layouts of images. See moved_object.h.
 */
#include "core/host_memory.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/margin_size.h"
#include "core/memory/pool.h"
#include "core/move/move_batch.h"
#include "core/move/move_index.h"
#include "core/move/moved_object.h"
#include "core/objects/captured_object.h"

/* ---- creation ---- */

/* Creates the new object of a record and binds it to the twin of a move. */
static VkResult create_and_bind(MaarAllocator allocator, const char* call,
                                const struct maar_move* move, const struct maar_movable* movable,
                                struct maar_object* object)
{
    const struct maar_slot* twin = maar_move_twin(allocator, move);
    const struct maar_span span = maar_slot_bytes(allocator, twin);
    MaarMemoryRequest request;
    VkResult result = maar_movable_create(allocator, call, movable, object);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (object->buffer != VK_NULL_HANDLE) {
        maar_buffer_request(allocator, object->buffer, &request);
        maar_capture_buffer(allocator, object->buffer, &movable->buffer, &request);
    } else {
        maar_image_request(allocator, object->image, maar_tiling_kind(movable->image.tiling), 0,
                           &request);
        maar_capture_image(allocator, object->image, &movable->image, &request);
    }
    result = request.requiresDedicated == VK_TRUE
                 ? maar_misuse(allocator, MAAR_MESSAGE_ID_DEDICATED_REQUIRED, call,
                               "the driver requires a dedicated allocation for a new object, and "
                               "did not for the old one; drop its move")
                 : maar_check_place(allocator, call, twin, span, 0, &request.requirements);
    if (result == VK_SUCCESS) {
        result = maar_bind_object(allocator, twin, span.offset, *object, NULL);
    }
    if (result != VK_SUCCESS) {
        maar_discard_object(allocator, *object);
    }
    return result;
}

/* Gives a move its new object, unless its allocation was freed. */
static VkResult make_new_object(MaarAllocator allocator, const char* call, struct maar_move* move)
{
    struct maar_moved_object* made = maar_host_calloc(allocator->callbacks, 1, sizeof *made);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->movable = maar_movable_hold(allocator, move->handle, &made->old_object);
    if (made->movable == NULL) {
        maar_host_free(allocator->callbacks, made);
        return VK_SUCCESS;
    }
    made->is_fresh = true;
    const VkResult result =
        create_and_bind(allocator, call, move, made->movable, &made->new_object);
    if (result != VK_SUCCESS) {
        maar_movable_release(allocator, made->movable);
        maar_host_free(allocator->callbacks, made);
        return result;
    }
    move->object = made;
    return VK_SUCCESS;
}

/* Ends the objects that this call has created, or keeps them. */
static void settle_fresh(struct maar_move_batch* batch, bool keeps)
{
    for (uint32_t i = 0; i < batch->count; ++i) {
        struct maar_moved_object* object = batch->moves[i].object;
        if (object != NULL && object->is_fresh) {
            object->is_fresh = false;
            if (!keeps) {
                batch->moves[i].object = NULL;
                maar_moved_object_destroy(batch->allocator, object);
            }
        }
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateMovedObjects(MaarAllocator allocator, MaarMoveBatch batch)
{
    struct maar_move_batch* own = NULL;
    VkResult result = maar_move_batch_enter(allocator, __func__, batch, &own);
    if (result != VK_SUCCESS) {
        return result;
    }
    for (uint32_t i = 0; i < own->count && result == VK_SUCCESS; ++i) {
        struct maar_move* move = &own->moves[i];
        if (move->object == NULL && maar_move_is_under_way(allocator, move) &&
            maar_move_is_of_object(allocator, move)) {
            result = make_new_object(allocator, __func__, move);
        }
    }
    settle_fresh(own, result == VK_SUCCESS);
    return result;
}

/* ---- the list ---- */

static void describe_swap(MaarAllocator allocator, const struct maar_move* move,
                          MaarObjectSwap* out)
{
    const struct maar_slot* slot = maar_move_slot(allocator, move);
    out->allocation = MAAR_FROM_BITS(MaarAllocation, move->handle);
    out->obstacle = maar_move_obstacle(allocator, move);
    out->oldBuffer = move->object->old_object.buffer;
    out->newBuffer = move->object->new_object.buffer;
    out->oldImage = move->object->old_object.image;
    out->newImage = move->object->new_object.image;
    const struct maar_block* block = maar_slot_enter(allocator, slot);
    out->pUserData = out->obstacle != MAAR_MOVE_OBSTACLE_FREED
                         ? maar_slot_user_data(slot, (uint32_t)move->handle - 1u)
                         : NULL;
    maar_mutex_unlock(&maar_block_arena(block)->lock);
}

static uint32_t count_objects(const struct maar_move_batch* batch)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->count; ++i) {
        count += batch->moves[i].object != NULL ? 1u : 0u;
    }
    return count;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetObjectSwaps(MaarAllocator allocator, MaarMoveBatch batch,
                                                  uint32_t* pCount, MaarObjectSwap* pSwaps)
{
    struct maar_move_batch* own = NULL;
    VkResult result = maar_move_batch_enter_list(allocator, __func__, batch, pCount, &own);
    if (result != VK_SUCCESS) {
        return result;
    }
    const uint32_t count = count_objects(own);
    if (pSwaps == NULL) {
        *pCount = count;
        return VK_SUCCESS;
    }
    const uint32_t room = *pCount < count ? *pCount : count;
    for (uint32_t i = 0; i < room && result == VK_SUCCESS; ++i) {
        result = maar_check_structure(allocator, __func__, "pSwaps", &pSwaps[i],
                                      MAAR_STRUCTURE_TYPE_OBJECT_SWAP);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    uint32_t written = 0;
    for (uint32_t i = 0; i < own->count && written < room; ++i) {
        if (own->moves[i].object != NULL) {
            describe_swap(allocator, &own->moves[i], &pSwaps[written++]);
        }
    }
    *pCount = room;
    return room < count ? VK_INCOMPLETE : VK_SUCCESS;
}

/* ---- layouts ---- */

/* Returns the object of a movable image in a batch, or NULL. */
static struct maar_moved_object* find_image(const struct maar_move_batch* batch,
                                            MaarAllocation allocation)
{
    const uint32_t at = maar_move_index_find(batch, allocation);
    struct maar_moved_object* object = at < batch->count ? batch->moves[at].object : NULL;
    return object != NULL && object->new_object.image != VK_NULL_HANDLE ? object : NULL;
}

VKAPI_ATTR VkResult VKAPI_CALL maarSetMovedImageLayouts(MaarAllocator allocator,
                                                        MaarMoveBatch batch, uint32_t layoutCount,
                                                        const MaarMovedImageLayout* pLayouts)
{
    struct maar_move_batch* own = NULL;
    const VkResult result = maar_move_batch_enter(allocator, __func__, batch, &own);
    if (result != VK_SUCCESS || layoutCount == 0) {
        return result;
    }
    if (pLayouts == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__, "pLayouts is NULL");
    }
    for (uint32_t i = 0; i < layoutCount; ++i) {
        if (find_image(own, pLayouts[i].allocation) == NULL) {
            return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                             MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, __func__,
                             "pLayouts[%u].allocation is not that of a movable image with a new "
                             "image in the batch",
                             i);
        }
        if (pLayouts[i].layout == VK_IMAGE_LAYOUT_PREINITIALIZED) {
            return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                             MAAR_MESSAGE_ID_INVALID_LAYOUT, __func__,
                             "pLayouts[%u].layout is VK_IMAGE_LAYOUT_PREINITIALIZED, into which "
                             "no image can be brought; move the image once it has another one",
                             i);
        }
    }
    for (uint32_t i = 0; i < layoutCount; ++i) {
        struct maar_moved_object* object = find_image(own, pLayouts[i].allocation);
        object->layout = pLayouts[i].layout;
        object->has_layout = true;
    }
    return VK_SUCCESS;
}
