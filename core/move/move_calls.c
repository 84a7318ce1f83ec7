/*
 * The public calls on batches of moves, except for their begin (move_begin.c) and their submission
 * (move_submit.c).
 */
#include "core/device_calls.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/allocator_state.h"
#include "core/memory/mapping.h"
#include "core/memory/margin_size.h"
#include "core/memory/object_handle.h"
#include "core/memory/pool.h"
#include "core/move/move_batch.h"
#include "core/move/move_copy.h"
#include "core/move/move_index.h"
#include "core/move/moved_object.h"
#include "core/objects/object.h"
#include "core/paging/page_move.h"
#include "core/paging/paging_timeline.h"

/* Reports an allocation that is not in a batch. */
static VkResult refuse_stranger(MaarAllocator allocator, const char* call, const char* argument)
{
    return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                     MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, call,
                     "%s is not an allocation of the batch", argument);
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetMoveObstacle(MaarAllocator allocator,
                                                   MaarAllocation allocation,
                                                   MaarMoveObstacle* pObstacle)
{
    const VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pObstacle == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__, "pObstacle is NULL");
    }
    struct maar_slot* slot = maar_resolve(allocator, __func__, allocation, NULL);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    MaarMoveObstacle obstacle = maar_slot_obstacle(allocator, slot, MAAR_TO_BITS(allocation));
    if (obstacle == MAAR_MOVE_OBSTACLE_NONE &&
        maar_slot_is_mapped(allocator, slot, MAAR_TO_BITS(allocation))) {
        obstacle = MAAR_MOVE_OBSTACLE_MAPPED;
    }
    if (obstacle == MAAR_MOVE_OBSTACLE_NONE &&
        (maar_atomic32_load_acquire(&slot->key) & MAAR_SLOT_MOVING) != 0) {
        obstacle = MAAR_MOVE_OBSTACLE_MOVING;
    }
    *pObstacle = obstacle;
    return VK_SUCCESS;
}

static void describe_move(MaarAllocator allocator, const struct maar_move* move, MaarMove* out)
{
    const struct maar_slot* slot = maar_move_slot(allocator, move);
    const struct maar_slot* twin = maar_move_twin(allocator, move);
    const struct maar_block* target = maar_slot_block(allocator, twin);
    out->allocation = MAAR_FROM_BITS(MaarAllocation, move->handle);
    out->obstacle = maar_move_obstacle(allocator, move);
    out->targetMemory = target->memory;
    out->targetOffset = maar_slot_span(allocator, twin).offset;
    out->targetMemoryTypeIndex = target->pool->type_index;
    out->copiedByMaar =
        move->is_copyable || maar_move_is_of_object(allocator, move) ? VK_TRUE : VK_FALSE;
    const struct maar_block* source = maar_slot_enter(allocator, slot);
    out->kind = (MaarResourceKind)maar_slot_kind(slot);
    out->pUserData = out->obstacle != MAAR_MOVE_OBSTACLE_FREED
                         ? maar_slot_user_data(slot, (uint32_t)move->handle - 1u)
                         : NULL;
    out->size = maar_slot_bytes(allocator, slot).size;
    out->sourceMemory = source->memory;
    out->sourceOffset = maar_slot_span(allocator, slot).offset;
    maar_mutex_unlock(&maar_block_arena(source)->lock);
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetMoves(MaarAllocator allocator, MaarMoveBatch batch,
                                            uint32_t* pCount, MaarMove* pMoves)
{
    struct maar_move_batch* own = NULL;
    VkResult result = maar_move_batch_enter_list(allocator, __func__, batch, pCount, &own);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pMoves == NULL) {
        *pCount = own->count;
        return VK_SUCCESS;
    }
    const uint32_t room = *pCount < own->count ? *pCount : own->count;
    for (uint32_t i = 0; i < room && result == VK_SUCCESS; ++i) {
        result = maar_check_structure(allocator, __func__, "pMoves", &pMoves[i],
                                      MAAR_STRUCTURE_TYPE_MOVE);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    for (uint32_t i = 0; i < room; ++i) {
        describe_move(allocator, &own->moves[i], &pMoves[i]);
    }
    *pCount = room;
    return room < own->count ? VK_INCOMPLETE : VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetPageMoves(MaarAllocator allocator, MaarMoveBatch batch,
                                                uint32_t* pCount, MaarPageMove* pMoves)
{
    struct maar_move_batch* own = NULL;
    VkResult result = maar_move_batch_enter_list(allocator, __func__, batch, pCount, &own);
    if (result != VK_SUCCESS) {
        return result;
    }
    const uint32_t count = own->pages != NULL ? own->pages->count : 0;
    if (pMoves == NULL) {
        *pCount = count;
        return VK_SUCCESS;
    }
    const uint32_t room = *pCount < count ? *pCount : count;
    for (uint32_t i = 0; i < room && result == VK_SUCCESS; ++i) {
        result = maar_check_structure(allocator, __func__, "pMoves", &pMoves[i],
                                      MAAR_STRUCTURE_TYPE_PAGE_MOVE);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    for (uint32_t i = 0; i < room; ++i) {
        maar_page_moves_describe(own->pages, i, &pMoves[i]);
    }
    *pCount = room;
    return room < count ? VK_INCOMPLETE : VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarDropMoves(MaarAllocator allocator, MaarMoveBatch batch,
                                             uint32_t allocationCount,
                                             const MaarAllocation* pAllocations)
{
    struct maar_move_batch* own = NULL;
    const VkResult result = maar_move_batch_enter(allocator, __func__, batch, &own);
    if (result != VK_SUCCESS || allocationCount == 0) {
        return result;
    }
    if (pAllocations == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__,
                           "pAllocations is NULL");
    }
    for (uint32_t i = 0; i < allocationCount; ++i) {
        if (maar_move_index_find(own, pAllocations[i]) == own->count) {
            return refuse_stranger(allocator, __func__, "an element of pAllocations");
        }
    }
    for (uint32_t i = 0; i < allocationCount; ++i) {
        own->moves[maar_move_index_find(own, pAllocations[i])].is_dropped = true;
    }
    return VK_SUCCESS;
}

/* Binds an object to the new range of an allocation. */
static VkResult bind_moved(MaarAllocator allocator, const char* call, MaarMoveBatch batch,
                           MaarAllocation allocation, VkDeviceSize offset,
                           struct maar_object object, const void* next)
{
    struct maar_move_batch* own = NULL;
    const VkResult result = maar_move_batch_enter(allocator, call, batch, &own);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (object.buffer == VK_NULL_HANDLE && object.image == VK_NULL_HANDLE) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_HANDLE, call,
                           "the object is VK_NULL_HANDLE");
    }
    const uint32_t at = maar_move_index_find(own, allocation);
    if (at == own->count) {
        return refuse_stranger(allocator, call, "allocation");
    }
    if (maar_move_is_of_object(allocator, &own->moves[at])) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT, call,
                           "allocation belongs to a movable object, whose new object "
                           "maarCreateMovedObjects creates");
    }
    const struct maar_slot* twin = maar_move_twin(allocator, &own->moves[at]);
    const struct maar_span span = maar_slot_bytes(allocator, twin);
    if (offset >= span.size) {
        return maar_refuse_offset(allocator, call, offset, "the new range", span.size);
    }
    MaarMemoryRequest request = {.requiresDedicated = VK_FALSE};
    if (object.buffer != VK_NULL_HANDLE) {
        maar_buffer_request(allocator, object.buffer, &request);
    } else if (next == NULL) {
        maar_image_request(allocator, object.image, MAAR_RESOURCE_KIND_UNKNOWN, 0, &request);
    }
    const VkResult placed =
        object.buffer != VK_NULL_HANDLE || next == NULL
            ? maar_check_place(allocator, call, twin, span, offset, &request.requirements)
            : VK_SUCCESS;
    return placed == VK_SUCCESS
               ? maar_bind_object(allocator, twin, span.offset + offset, object, next)
               : placed;
}

VKAPI_ATTR VkResult VKAPI_CALL maarBindMovedBuffer(MaarAllocator allocator, MaarMoveBatch batch,
                                                   MaarAllocation allocation, VkDeviceSize offset,
                                                   VkBuffer buffer, const void* pNext)
{
    const struct maar_object object = {.buffer = buffer};
    return bind_moved(allocator, __func__, batch, allocation, offset, object, pNext);
}

VKAPI_ATTR VkResult VKAPI_CALL maarBindMovedImage(MaarAllocator allocator, MaarMoveBatch batch,
                                                  MaarAllocation allocation, VkDeviceSize offset,
                                                  VkImage image, const void* pNext)
{
    const struct maar_object object = {.image = image};
    return bind_moved(allocator, __func__, batch, allocation, offset, object, pNext);
}

VKAPI_ATTR VkResult VKAPI_CALL maarRecordMoves(MaarAllocator allocator, MaarMoveBatch batch,
                                               VkCommandBuffer commandBuffer)
{
    struct maar_move_batch* own = NULL;
    struct maar_move_copies* copies = NULL;
    VkResult result = maar_move_batch_enter(allocator, __func__, batch, &own);
    if (result != VK_SUCCESS) {
        return result;
    }
    own->has_failed_copy = true; /* until it is done */
    if (commandBuffer == VK_NULL_HANDLE) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_HANDLE, __func__,
                           "commandBuffer is VK_NULL_HANDLE");
    }
    result =
        maar_require_functions(allocator, &allocator->device, __func__, MAAR_FUNCTIONS_COMMANDS);
    if (result == VK_SUCCESS) {
        result = maar_moved_objects_check_copies(own, __func__, 0);
    }
    MaarPoint ready;
    if (result == VK_SUCCESS && own->pages != NULL &&
        maar_page_moves_wait_point(own->pages, &ready)) {
        return VK_NOT_READY;
    }
    if (result == VK_SUCCESS) {
        result = maar_move_copies_create(own, __func__, &copies);
    }
    if (result == VK_SUCCESS && copies != NULL) {
        maar_move_copies_record(own, copies, commandBuffer);
        copies->next = own->copies;
        own->copies = copies;
    }
    own->is_copied = own->is_copied || result == VK_SUCCESS;
    return result;
}

/* Refuses to lose contents. Nobody but Maar copies a movable object. A program may copy other
 * allocations by commands of its own, which Maar does not see, but not after it has asked Maar to
 * and that has failed. */
static VkResult check_contents(const struct maar_move_batch* batch, const char* call)
{
    MaarAllocator allocator = batch->allocator;
    for (uint32_t i = 0; i < batch->count && !batch->is_copied; ++i) {
        const struct maar_move* move = &batch->moves[i];
        const bool is_left = move->object != NULL ? maar_moved_object_loses(move)
                                                  : move->is_copyable && batch->has_failed_copy;
        if (is_left && maar_move_is_under_way(allocator, move)) {
            return maar_fail(
                allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS,
                call,
                "batch moves an allocation whose bytes were not copied (move %u): %s; call "
                "maarSubmitMoves or maarRecordMoves, drop its move, or cancel the batch",
                i,
                batch->has_failed_copy ? "the call that was to copy them failed"
                                       : "neither by maarSubmitMoves nor by maarRecordMoves");
        }
    }
    return VK_SUCCESS;
}

/* Returns whether the pages of a batch may be rebound, and reports why not. */
static VkResult check_page_commit(const struct maar_move_batch* batch, const char* call,
                                  uint32_t point_count, const MaarPoint* points)
{
    if (!batch->is_submitted && batch->copies == NULL) {
        return maar_misuse(batch->allocator, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, call,
                           "batch moves pages whose bytes were not copied: neither by "
                           "maarSubmitMoves nor by maarRecordMoves");
    }
    return maar_paging_check_waits(batch->allocator, call, point_count, points);
}

/* Ends a batch, and its handle. */
static VkResult end_batch(MaarAllocator allocator, const char* call, MaarMoveBatch batch,
                          bool commits, uint32_t point_count, const MaarPoint* points,
                          uint32_t* moved)
{
    struct maar_move_batch* own = NULL;
    if (moved != NULL) {
        *moved = 0;
    }
    if (batch == VK_NULL_HANDLE) {
        return maar_enter(allocator);
    }
    VkResult result = maar_move_batch_enter(allocator, call, batch, &own);
    if (result == VK_SUCCESS) {
        result = maar_retire_check_points(&allocator->retire, call, point_count, points);
    }
    if (result == VK_SUCCESS && commits) {
        result = maar_moved_objects_require(own, call);
    }
    if (result == VK_SUCCESS && commits) {
        result = check_contents(own, call);
    }
    if (result == VK_SUCCESS && commits && own->pages != NULL) {
        result = check_page_commit(own, call, point_count, points);
    }
    if (result == VK_SUCCESS) {
        result = maar_object_begin_claim(allocator, call, "batch", MAAR_TO_BITS(batch));
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_move_batch_end(own, commits, point_count, points, moved);
    if (result != VK_SUCCESS) {
        maar_object_unclaim(allocator, MAAR_TO_BITS(batch));
    } else {
        maar_object_end_claim(allocator, MAAR_TO_BITS(batch));
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCommitMoves(MaarAllocator allocator, MaarMoveBatch batch,
                                               uint32_t pointCount, const MaarPoint* pPoints,
                                               uint32_t* pMovedCount)
{
    return end_batch(allocator, __func__, batch, true, pointCount, pPoints, pMovedCount);
}

VKAPI_ATTR VkResult VKAPI_CALL maarCancelMoves(MaarAllocator allocator, MaarMoveBatch batch,
                                               uint32_t pointCount, const MaarPoint* pPoints)
{
    return end_batch(allocator, __func__, batch, false, pointCount, pPoints, NULL);
}
