/*
 * Begins moves: takes a twin for each allocation. On failure every allocation is as before.
 */
#include <string.h>

#include "core/bits.h"
#include "core/memory/allocate.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/allocator_state.h"
#include "core/memory/arena_place.h"
#include "core/memory/mapping.h"
#include "core/memory/margin_size.h"
#include "core/memory/object_handle.h"
#include "core/memory/pool.h"
#include "core/move/move_batch.h"
#include "core/objects/movable.h"

/* The alignment of the new range, bytes, where neither the program nor the block knows one. It is
 * the largest that drivers ask for buffers and images in practice: that of sparse pages and of
 * render targets. */
enum { UNKNOWN_ALIGNMENT = 65536 };

static const char* describe_obstacle(MaarMoveObstacle obstacle)
{
    switch (obstacle) {
    case MAAR_MOVE_OBSTACLE_MAPPED:
        return "it is mapped";
    case MAAR_MOVE_OBSTACLE_MOVING:
        return "it moves already";
    case MAAR_MOVE_OBSTACLE_SHARED:
        return "another API or process may use its block";
    case MAAR_MOVE_OBSTACLE_PAGES:
        return "its pages move in runs with MAAR_DEFRAGMENTATION_GOAL_PAGES";
    case MAAR_MOVE_OBSTACLE_ADDRESS:
        return "it belongs to a buffer with a device address, created without "
               "MAAR_MOVABLE_ADDRESS_MAY_CHANGE_BIT";
    case MAAR_MOVE_OBSTACLE_DEDICATED:
        return "the driver requires that its memory is dedicated to its object";
    case MAAR_MOVE_OBSTACLE_PENDING:
        return "its memory still waits for the points of its former owner";
    default:
        return "an object of Maar owns it";
    }
}

/* Reports an allocation that cannot move. */
static VkResult refuse_move(MaarAllocator allocator, const char* call, uint32_t at,
                            MaarMoveObstacle obstacle)
{
    return maar_fail(allocator, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_CANNOT_MOVE, call,
                     "pRequests[%u].allocation cannot move: %s", at, describe_obstacle(obstacle));
}

/* Makes an allocation move. */
static VkResult begin_move(MaarAllocator allocator, const char* call, uint32_t at,
                           MaarAllocation allocation)
{
    const uint64_t handle = MAAR_TO_BITS(allocation);
    struct maar_slot* slot = maar_resolve(allocator, call, allocation, NULL);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    MaarMoveObstacle obstacle = maar_slot_obstacle(allocator, slot, handle);
    if (obstacle == MAAR_MOVE_OBSTACLE_NONE && maar_slot_is_mapped(allocator, slot, handle)) {
        obstacle = MAAR_MOVE_OBSTACLE_MAPPED;
    }
    if (obstacle == MAAR_MOVE_OBSTACLE_NONE) {
        const VkResult result =
            maar_epoch_reserve(&allocator->epochs, allocator->callbacks, handle);
        if (result != VK_SUCCESS) {
            return result;
        }
        if (maar_slot_begin_move(slot, handle)) {
            return VK_SUCCESS;
        }
        obstacle = MAAR_MOVE_OBSTACLE_MOVING;
    }
    return maar_key_read(&slot->key) == handle >> 32 ? refuse_move(allocator, call, at, obstacle)
                                                     : maar_refuse_late_free(allocator, call);
}

/* What Maar knows of an allocation that moves. */
struct old_place {
    MaarMemoryRequest request;
    MaarAllocationCreateInfo how;
    bool is_named; /* no other object may be bound to the block */
};

/* Returns the alignment that an allocation was made with. Called under its arena's lock. */
static VkDeviceSize kept_alignment(const struct maar_block* block, const struct maar_slot* slot)
{
    struct maar_placement_range range;
    uint64_t tag = 0;
    uint32_t kind = 0;
    if (block->placement != NULL) {
        (void)maar_placement_get(block->placement, slot->node, &range, &tag, &kind);
    }
    return maar_tag_alignment(tag) != 0 ? maar_tag_alignment(tag) : UNKNOWN_ALIGNMENT;
}

static struct old_place look_at_old_place(MaarAllocator allocator, const struct maar_slot* slot,
                                          VkDeviceSize alignment)
{
    const struct maar_block* block = maar_slot_enter(allocator, slot);
    const VkDeviceSize kept = kept_alignment(block, slot);
    const struct old_place place = {
        .request =
            {
                .sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST,
                .requirements = {.size = maar_slot_bytes(allocator, slot).size,
                                 .alignment = alignment != 0 ? alignment : kept,
                                 .memoryTypeBits = 1u << block->pool->type_index},
                .kind = (MaarResourceKind)maar_slot_kind(slot),
            },
        .how =
            {
                .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                .usage = MAAR_MEMORY_USAGE_FLAGS_ONLY,
                .flags = slot->can_alias
                             ? (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT
                             : 0,
                .memoryTypeBits = 1u << block->pool->type_index,
                .pool = block->pool->handle,
            },
        .is_named = block->named,
    };
    maar_mutex_unlock(&maar_block_arena(block)->lock);
    return place;
}

/* Takes the twin of an allocation that moves. */
static VkResult take_twin(MaarAllocator allocator, const char* call, const MaarMoveBeginInfo* info,
                          VkDeviceSize alignment, struct maar_patience* patience,
                          struct maar_move* move)
{
    const struct maar_slot* slot = maar_move_slot(allocator, move);
    struct old_place old = look_at_old_place(allocator, slot, alignment);
    MaarAllocation twin = VK_NULL_HANDLE;
    if (info->pCreateInfo != NULL) {
        const MaarAllocationCreateFlags kept = old.how.flags;
        old.how = *info->pCreateInfo;
        old.how.flags |= kept;
        old.how.pUserData = NULL;
        old.how.pName = NULL;
        old.request.requirements.memoryTypeBits =
            old.how.memoryTypeBits != 0 ? old.how.memoryTypeBits : UINT32_MAX;
    }
    VkMemoryRequirements needs = {0};
    if (slot->owned && maar_movable_needs(allocator, move->handle, &needs)) {
        old.request.requirements.size = needs.size;
        old.request.requirements.alignment =
            alignment > needs.alignment ? alignment : needs.alignment;
        old.request.requirements.memoryTypeBits &= needs.memoryTypeBits;
    }
    const VkResult result =
        maar_allocate_own(allocator, call, &old.request, &old.how, patience, &twin);
    if (result == VK_SUCCESS) {
        move->twin = (uint32_t)MAAR_TO_BITS(twin) - 1u;
        maar_slot_make_twin(allocator, twin);
        move->is_copyable = old.request.kind == MAAR_RESOURCE_KIND_LINEAR && !old.is_named;
    }
    return result;
}

/* Takes back the first moves of a batch, and the twins that were taken. */
static void take_moves_back(const struct maar_move_batch* batch, uint32_t move_count,
                            uint32_t twin_count)
{
    for (uint32_t i = 0; i < move_count; ++i) {
        const struct maar_move* move = &batch->moves[i];
        if (!maar_slot_abandon_move(maar_move_slot(batch->allocator, move), move->handle)) {
            maar_slot_settle(batch->allocator, (uint32_t)move->handle - 1u);
        }
        if (i < twin_count) {
            maar_twin_end(batch->allocator, move->twin);
        }
    }
}

static VkResult begin_all(struct maar_move_batch* batch, const char* call,
                          const MaarMoveBeginInfo* info)
{
    struct maar_patience patience = maar_patience_begin();
    uint32_t move_count = 0;
    uint32_t twin_count = 0;
    VkResult result = VK_SUCCESS;
    while (move_count < batch->count && result == VK_SUCCESS) {
        const MaarAllocation allocation = info->pRequests[move_count].allocation;
        batch->moves[move_count].handle = MAAR_TO_BITS(allocation);
        result = begin_move(batch->allocator, call, move_count, allocation);
        move_count += result == VK_SUCCESS ? 1u : 0u;
    }
    while (twin_count < batch->count && result == VK_SUCCESS) {
        result = take_twin(batch->allocator, call, info, info->pRequests[twin_count].alignment,
                           &patience, &batch->moves[twin_count]);
        twin_count += result == VK_SUCCESS ? 1u : 0u;
    }
    if (result != VK_SUCCESS) {
        take_moves_back(batch, move_count, twin_count);
    }
    return result;
}

static VkResult check_begin_info(MaarAllocator allocator, const char* call,
                                 const MaarMoveBeginInfo* info)
{
    VkResult result = maar_check_structure(allocator, call, "pBeginInfo", info,
                                           MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    const MaarAllocationCreateFlags mapped =
        (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_MAPPED_BIT |
        (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_MAPPED_IF_VISIBLE_BIT;
    const struct maar_rule rules[] = {
        {info->requestCount == 0, MAAR_MESSAGE_ID_ZERO_SIZE, "pBeginInfo->requestCount is 0"},
        {info->pRequests == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pBeginInfo->pRequests is NULL"},
        {info->pCreateInfo != NULL && (info->pCreateInfo->flags & mapped) != 0,
         MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS,
         "pBeginInfo->pCreateInfo->flags has MAAR_ALLOCATION_CREATE_MAPPED_BIT or "
         "MAAR_ALLOCATION_CREATE_MAPPED_IF_VISIBLE_BIT, but what is mapped does not move"},
        {0},
    };
    result = maar_check_rules(allocator, call, rules);
    for (uint32_t i = 0; result == VK_SUCCESS && i < info->requestCount; ++i) {
        if (!maar_is_power_of_two_or_zero(info->pRequests[i].alignment)) {
            result = maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                               MAAR_MESSAGE_ID_INVALID_ALIGNMENT, call,
                               "pBeginInfo->pRequests[%u].alignment is %llu, not a power of two", i,
                               (unsigned long long)info->pRequests[i].alignment);
        }
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarBeginMoves(MaarAllocator allocator,
                                              const MaarMoveBeginInfo* pBeginInfo,
                                              MaarMoveBatch* pBatch)
{
    const struct maar_output outputs[] = {{"pBatch", pBatch, sizeof *pBatch}, {0}};
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result == VK_SUCCESS) {
        result = check_begin_info(allocator, __func__, pBeginInfo);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_move_batch* batch = maar_moves_open(allocator) != NULL
                                        ? maar_move_batch_make(allocator, pBeginInfo->requestCount)
                                        : NULL;
    if (batch == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    result = begin_all(batch, __func__, pBeginInfo);
    if (result == VK_SUCCESS) {
        result = maar_move_batch_open(batch);
        if (result != VK_SUCCESS) {
            take_moves_back(batch, batch->count, batch->count);
        }
    }
    if (result != VK_SUCCESS) {
        maar_host_free(allocator->callbacks, batch);
        return result;
    }
    *pBatch = MAAR_FROM_BITS(MaarMoveBatch, batch->handle);
    return VK_SUCCESS;
}
