/*
 * Several blocks as one array in CUDA. Addresses are reserved once, and each block is mapped right
 * after the previous one. CUDA keeps mapped memory alive, so a block's memory lives as long as the
 * range.
 */
#include "core/memory/allocation_handle.h"
#include "interop/cuda/cuda_internal.h"
#include "interop/share/share_internal.h"

/* A block in the range. The blocks have consecutive addresses. The list begins with the last
 * block. */
struct range_piece {
    struct range_piece* previous;
    uint64_t start;
    VkDeviceSize size;
};

struct maar_cuda_range {
    struct maar_peer_object object; /* first */
    uint64_t start;
    VkDeviceSize reserved_size;
    VkDeviceSize size; /* bytes that have blocks behind them */
    VkDeviceSize granularity;
    struct range_piece* pieces;
};

static VkResult reserve_range(struct maar_cuda_range* range, const char* call, VkDeviceSize size)
{
    MaarCuda cuda = maar_cuda_of(range->object.peer);
    int previous = 0;
    maar_lock_rank_expect_none();
    VkResult result = cuda->peer.driver->enter(&cuda->peer, call, &previous);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_cuda_page_size(cuda, call, &range->granularity);
    if (result == VK_SUCCESS) {
        range->reserved_size = maar_align_up(size, range->granularity);
        result = range->reserved_size < size
                     ? maar_cuda_refuse_space(cuda, call, size)
                     : maar_cuda_reserve_pages(cuda, call, range->reserved_size, &range->start);
    }
    cuda->peer.driver->leave(&cuda->peer, previous);
    return result;
}

VkResult maar_cuda_range_create(MaarCuda cuda, const char* call, VkDeviceSize size,
                                struct maar_cuda_range** range)
{
    MaarAllocator allocator = cuda->peer.allocator;
    VkResult result = maar_cuda_require_pages(cuda, call);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_cuda_range* made = maar_host_calloc(allocator->callbacks, 1, sizeof *made);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->object.peer = &cuda->peer;
    result = reserve_range(made, call, size);
    if (result != VK_SUCCESS) {
        maar_host_free(allocator->callbacks, made);
        return result;
    }
    (void)maar_atomic32_add(&cuda->peer.object_count, 1);
    *range = made;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateCudaRange(MaarCuda cuda, VkDeviceSize reservedSize,
                                                   MaarCudaRange* pRange)
{
    const struct maar_output outputs[] = {{"pRange", pRange, sizeof *pRange}, {0}};
    VkResult result = maar_peer_enter_outputs(maar_peer_of_cuda(cuda), __func__, outputs);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (reservedSize == 0) {
        return maar_misuse(cuda->peer.allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__,
                           "reservedSize is 0");
    }
    struct maar_cuda_range* range = NULL;
    result = maar_cuda_range_create(cuda, __func__, reservedSize, &range);
    if (result == VK_SUCCESS) {
        result = maar_peer_object_open(&range->object, MAAR_OBJECT_CUDA_RANGE);
    }
    if (result != VK_SUCCESS) {
        maar_cuda_range_destroy(range, __func__);
        return result;
    }
    *pRange = MAAR_FROM_BITS(MaarCudaRange, range->object.handle);
    return VK_SUCCESS;
}

void maar_cuda_range_destroy(struct maar_cuda_range* range, const char* call)
{
    if (range == NULL) {
        return;
    }
    maar_peer_object_close(&range->object);
    MaarCuda cuda = maar_cuda_of(range->object.peer);
    MaarAllocator allocator = cuda->peer.allocator;
    int previous = 0;
    maar_lock_rank_expect_none();
    const bool entered = cuda->peer.driver->enter(&cuda->peer, call, &previous) == VK_SUCCESS;
    while (range->pieces != NULL) {
        struct range_piece* piece = range->pieces;
        range->pieces = piece->previous;
        if (entered) {
            maar_cuda_unmap_pages(cuda, piece->start, piece->size);
        }
        maar_host_free(allocator->callbacks, piece);
    }
    if (entered) {
        maar_cuda_unreserve_pages(cuda, range->start, range->reserved_size);
        cuda->peer.driver->leave(&cuda->peer, previous);
    }
    maar_host_free(allocator->callbacks, range);
    (void)maar_atomic32_drop(&cuda->peer.object_count);
}

VKAPI_ATTR void VKAPI_CALL maarDestroyCudaRange(MaarCuda cuda, MaarCudaRange range)
{
    if (cuda != VK_NULL_HANDLE && range != VK_NULL_HANDLE) {
        maar_cuda_range_destroy(maar_peer_object_claim(&cuda->peer, __func__, "range",
                                                       MAAR_OBJECT_CUDA_RANGE, MAAR_TO_BITS(range)),
                                __func__);
    }
}

static VkResult check_range_block(struct maar_cuda_range* range, const char* call,
                                  const struct maar_block* block)
{
    MaarAllocator allocator = range->object.peer->allocator;
    const VkExternalMemoryHandleTypeFlags type =
        (VkExternalMemoryHandleTypeFlags)range->object.peer->memory_type;
    if ((block->shared_types & type) == 0) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NOT_EXPORTABLE, call,
                           "allocation was not created for export to CUDA: chain MaarExportInfo "
                           "to its create info");
    }
    if (block->placement != NULL || maar_block_is_paged(block)) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NOT_DEDICATED, call,
                           "allocation is not dedicated, but a range maps only whole blocks");
    }
    if (block->size % range->granularity != 0) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_INVALID_ALIGNMENT, call,
                    "allocation's block has %s, which is not a multiple of the "
                    "granularity, %s",
                    maar_show_bytes(block->size).text, maar_show_bytes(range->granularity).text);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (block->size > range->reserved_size - range->size) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_OUT_OF_RANGE, call,
                    "the range has %s of %s left, and the block has %s",
                    maar_show_bytes(range->reserved_size - range->size).text,
                    maar_show_bytes(range->reserved_size).text, maar_show_bytes(block->size).text);
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    }
    return VK_SUCCESS;
}

/* Maps a block. The file descriptor still belongs to the caller; the mapping keeps the memory
 * alive. */
static VkResult map_piece(MaarCuda cuda, const char* call, maar_port_handle handle,
                          const struct range_piece* piece)
{
    maar_cuda_backing backing = 0;
    int previous = 0;
    maar_lock_rank_expect_none();
    VkResult result = cuda->peer.driver->enter(&cuda->peer, call, &previous);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_cuda_import_backing(cuda, call, handle, &backing);
    if (result == VK_SUCCESS) {
        result = maar_cuda_map_pages(cuda, call, piece->start, piece->size, backing);
        maar_cuda_release_backing(cuda, backing);
    }
    cuda->peer.driver->leave(&cuda->peer, previous);
    return result;
}

VkResult maar_cuda_range_append(struct maar_cuda_range* range, const char* call,
                                const struct maar_slot* slot)
{
    MaarCuda cuda = maar_cuda_of(range->object.peer);
    MaarAllocator allocator = cuda->peer.allocator;
    VkResult result = check_range_block(range, call, maar_slot_block(allocator, slot));
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    result = maar_export_memory(allocator, call, slot, cuda->peer.memory_type, &exported);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct range_piece* piece = maar_host_calloc(allocator->callbacks, 1, sizeof *piece);
    if (piece == NULL) {
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
    } else {
        piece->start = range->start + range->size;
        piece->size = exported.blockSize;
        result = map_piece(cuda, call, maar_external_handle_peek(exported.handle), piece);
    }
    maar_external_handle_destroy(exported.handle);
    if (result != VK_SUCCESS) {
        maar_host_free(allocator->callbacks, piece);
        return result;
    }
    piece->previous = range->pieces;
    range->pieces = piece;
    range->size += piece->size;
    return VK_SUCCESS;
}

/* Begins a public call that uses a range. */
static VkResult enter_range(MaarCuda cuda, const char* call, MaarCudaRange range, void** object)
{
    return maar_peer_object_enter(maar_peer_of_cuda(cuda), call, "range", MAAR_OBJECT_CUDA_RANGE,
                                  MAAR_TO_BITS(range), object);
}

VKAPI_ATTR VkResult VKAPI_CALL maarAppendToCudaRange(MaarCuda cuda, MaarCudaRange range,
                                                     MaarAllocation allocation)
{
    void* own = NULL;
    VkResult result = enter_range(cuda, __func__, range, &own);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_slot* slot = maar_resolve(cuda->peer.allocator, __func__, allocation, NULL);
    return slot != NULL ? maar_cuda_range_append(own, __func__, slot)
                        : VK_ERROR_VALIDATION_FAILED_EXT;
}

void maar_cuda_range_read(const struct maar_cuda_range* range, MaarCudaRangeInfo* info)
{
    info->devicePointer = range->start;
    info->reservedSize = range->reserved_size;
    info->size = range->size;
    info->granularity = range->granularity;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetCudaRangeInfo(MaarCuda cuda, MaarCudaRange range,
                                                    MaarCudaRangeInfo* pInfo)
{
    void* own = NULL;
    VkResult result = enter_range(cuda, __func__, range, &own);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(cuda->peer.allocator, __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_CUDA_RANGE_INFO);
    }
    if (result == VK_SUCCESS) {
        maar_cuda_range_read(own, pInfo);
    }
    return result;
}
