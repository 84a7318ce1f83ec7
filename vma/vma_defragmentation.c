/*
 * Passes of defragmentation, on Maar's runs and batches. The moves of a pass are those of a batch.
 * A place of a pass lives until the pass ends.
 *
 * A context belongs to one thread at a time. Other threads may use and free the allocations that
 * move, since Maar's batches allow that.
 */
#include "vma/vma_layer.h"
#include "vma/vma_place.h"

struct VmaDefragmentationContext_T {
    MaarDefragmentation run;
    VkDeviceSize max_bytes;
    uint32_t max_moves;
    PFN_vmaCheckDefragmentationBreakFunction ask; /* NULL, or whether the program wants to stop */
    void* ask_data;
    MaarMoveBatch batch; /* VK_NULL_HANDLE between passes */
    uint32_t count;
    struct maar_vma_place* places;
    VmaDefragmentationMove* moves; /* what the program sees */
    VmaDefragmentationStats stats;
};

VKAPI_ATTR VkResult VKAPI_CALL maarVmaBeginDefragmentation(VmaAllocator allocator,
                                                           const VmaDefragmentationInfo* pInfo,
                                                           VmaDefragmentationContext* pContext)
{
    *pContext = VK_NULL_HANDLE;
    if (pInfo->pool != VK_NULL_HANDLE && pInfo->pool->linear) {
        maar_vma_report(&allocator->listener, MAAR_MESSAGE_SEVERITY_ERROR,
                        MAAR_MESSAGE_ID_POOL_MISMATCH,
                        "vmaBeginDefragmentation: the pool has "
                        "VMA_POOL_CREATE_LINEAR_ALGORITHM_BIT, and nothing moves in such a pool");
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    VmaDefragmentationContext made = maar_vma_host_allocate(allocator->callbacks, sizeof *made);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = pInfo->pool != VK_NULL_HANDLE ? pInfo->pool->maar : VK_NULL_HANDLE,
    };
    made->max_bytes = pInfo->maxBytesPerPass;
    made->max_moves = pInfo->maxAllocationsPerPass;
    made->ask = pInfo->pfnBreakCallback;
    made->ask_data = pInfo->pBreakCallbackUserData;
    const VkResult result = maarBeginDefragmentation(allocator->maar, &info, &made->run);
    if (result != VK_SUCCESS) {
        maar_vma_host_free(allocator->callbacks, made);
        return maar_vma_result(result);
    }
    *pContext = made;
    return VK_SUCCESS;
}

static void forget_pass(VmaAllocator allocator, VmaDefragmentationContext context)
{
    for (uint32_t i = 0; i < context->count; ++i) {
        maar_vma_host_free(allocator->callbacks, context->places[i].name);
    }
    maar_vma_host_free(allocator->callbacks, context->places);
    maar_vma_host_free(allocator->callbacks, context->moves);
    context->places = NULL;
    context->moves = NULL;
    context->count = 0;
    context->batch = VK_NULL_HANDLE;
}

static void fill_place(MaarMoveBatch batch, const MaarMove* move, struct maar_vma_place* place)
{
    place->batch = batch;
    place->source = move->allocation;
    place->info = (VmaAllocationInfo){
        .memoryType = move->targetMemoryTypeIndex,
        .deviceMemory = move->targetMemory,
        .offset = move->targetOffset,
        .size = move->size,
    };
}

/* Lists the moves of a batch for the program. */
static VkResult list_moves(VmaAllocator allocator, VmaDefragmentationContext context)
{
    uint32_t count = 0;
    VkResult result = maarGetMoves(allocator->maar, context->batch, &count, NULL);
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarMove* moves = maar_vma_host_allocate(allocator->callbacks, count * sizeof *moves);
    context->places = maar_vma_host_allocate(allocator->callbacks, count * sizeof *context->places);
    context->moves = maar_vma_host_allocate(allocator->callbacks, count * sizeof *context->moves);
    if (moves == NULL || context->places == NULL || context->moves == NULL) {
        maar_vma_host_free(allocator->callbacks, moves);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < count; ++i) {
        moves[i].sType = MAAR_STRUCTURE_TYPE_MOVE;
    }
    result = maarGetMoves(allocator->maar, context->batch, &count, moves);
    context->count = count;
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; ++i) {
        VmaDefragmentationMove* move = &context->moves[i];
        fill_place(context->batch, &moves[i], &context->places[i]);
        move->operation = VMA_DEFRAGMENTATION_MOVE_OPERATION_COPY;
        move->dstTmpAllocation = maar_vma_from_place(&context->places[i]);
        move->srcAllocation = maar_vma_handle(moves[i].allocation);
    }
    maar_vma_host_free(allocator->callbacks, moves);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL
maarVmaBeginDefragmentationPass(VmaAllocator allocator, VmaDefragmentationContext context,
                                VmaDefragmentationPassMoveInfo* pPass)
{
    const MaarDefragmentationStepInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO,
        .maxBytes = context->max_bytes,
        .maxMoves = context->max_moves,
    };
    *pPass = (VmaDefragmentationPassMoveInfo){.moveCount = 0};
    if (context->ask != NULL && context->ask(context->ask_data) != VK_FALSE) {
        return VK_SUCCESS;
    }
    VkResult result =
        maarStepDefragmentation(allocator->maar, context->run, &info, &context->batch);
    if (context->batch == VK_NULL_HANDLE) {
        return result == VK_INCOMPLETE || result == VK_NOT_READY ? VK_SUCCESS
                                                                 : maar_vma_result(result);
    }
    result = list_moves(allocator, context);
    if (result != VK_SUCCESS) {
        (void)maarCancelMoves(allocator->maar, context->batch, 0, NULL);
        forget_pass(allocator, context);
        return maar_vma_result(result);
    }
    pPass->moveCount = context->count;
    pPass->pMoves = context->moves;
    return VK_INCOMPLETE;
}

/* Does what the program has said of each move. Returns the bytes of the moves that take place. */
static VkDeviceSize apply_operations(VmaAllocator allocator, VmaDefragmentationContext context,
                                     const VmaDefragmentationMove* moves)
{
    VkDeviceSize bytes = 0;
    for (uint32_t i = 0; i < context->count; ++i) {
        const MaarAllocation source = context->places[i].source;
        if (moves[i].operation == VMA_DEFRAGMENTATION_MOVE_OPERATION_COPY) {
            bytes += context->places[i].info.size;
        } else {
            (void)maarDropMoves(allocator->maar, context->batch, 1, &source);
        }
        if (moves[i].operation == VMA_DEFRAGMENTATION_MOVE_OPERATION_DESTROY) {
            maarVmaFreeMemory(allocator, moves[i].srcAllocation);
        }
    }
    return bytes;
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaEndDefragmentationPass(VmaAllocator allocator,
                                                             VmaDefragmentationContext context,
                                                             VmaDefragmentationPassMoveInfo* pPass)
{
    uint32_t moved = 0;
    if (context->batch == VK_NULL_HANDLE) {
        return VK_SUCCESS;
    }
    const VkDeviceSize bytes = apply_operations(allocator, context, pPass->pMoves);
    const VkResult result = maarCommitMoves(allocator->maar, context->batch, 0, NULL, &moved);
    if (result == VK_SUCCESS) {
        context->stats.bytesMoved += bytes;
        context->stats.allocationsMoved += moved;
    } else {
        (void)maarCancelMoves(allocator->maar, context->batch, 0, NULL);
    }
    forget_pass(allocator, context);
    *pPass = (VmaDefragmentationPassMoveInfo){.moveCount = 0};
    return result == VK_SUCCESS ? VK_INCOMPLETE : maar_vma_result(result);
}

VKAPI_ATTR void VKAPI_CALL maarVmaEndDefragmentation(VmaAllocator allocator,
                                                     VmaDefragmentationContext context,
                                                     VmaDefragmentationStats* pStats)
{
    MaarDefragmentationInfo info = {.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO};
    if (context == VK_NULL_HANDLE) {
        return;
    }
    if (context->batch != VK_NULL_HANDLE) {
        (void)maarCancelMoves(allocator->maar, context->batch, 0, NULL);
        forget_pass(allocator, context);
    }
    /* What was moved has no points to wait for, so emptied blocks are given back at once. */
    (void)maarCollect(allocator->maar, NULL);
    if (maarGetDefragmentationInfo(allocator->maar, context->run, &info) == VK_SUCCESS) {
        context->stats.bytesFreed = info.releasedBytes;
        context->stats.deviceMemoryBlocksFreed = info.releasedCount;
    }
    maarEndDefragmentation(allocator->maar, context->run);
    if (pStats != NULL) {
        *pStats = context->stats;
    }
    maar_vma_host_free(allocator->callbacks, context);
}
