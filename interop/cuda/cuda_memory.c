/*
 * Memory that CUDA makes and Vulkan imports: memory from cuMemCreate as a VkDeviceMemory. No query
 * says which memory type such a handle has, or whether the driver accepts the handle. So the memory
 * types are tried one after another.
 *
 * Every other step that can fail comes before the import. After the import, CUDA's addresses become
 * an attachment of the block, and are released with the block.
 */
#include <string.h>

#include "core/memory/allocation_handle.h"
#include "core/objects/object.h"
#include "core/objects/shared_object.h"
#include "interop/cuda/cuda_internal.h"
#include "interop/share/share_internal.h"

/* A block whose memory CUDA made. CUDA maps the memory at reserved addresses instead of importing
 * it. */
struct cuda_pages {
    struct maar_peer_block block; /* first */
    maar_port_handle handle;      /* the file descriptor, until a MaarExternalHandle owns it */
};

/* Releases the pages, and leaves CUDA if `entered`. Subtracts the block from the counts as the last
 * step: the MaarCuda may be destroyed from then on. */
static void discard_pages(struct cuda_pages* pages, bool entered, int previous)
{
    MaarCuda cuda = maar_cuda_of(pages->block.peer);
    const VkDeviceSize size = pages->block.size;
    const uint64_t start = maar_atomic64_load(&pages->block.pointer);
    if (start != 0 && entered) {
        maar_cuda_unmap_pages(cuda, start, size);
        maar_cuda_unreserve_pages(cuda, start, size);
    }
    if (entered) {
        cuda->peer.driver->leave(&cuda->peer, previous);
    }
    maar_port_handle_close(pages->handle);
    maar_host_free(cuda->peer.allocator->callbacks, pages);
    maar_peer_discount_block(&cuda->peer, size);
}

static void end_pages(MaarAllocator allocator, struct maar_attachment* attachment)
{
    struct cuda_pages* pages = (struct cuda_pages*)(void*)attachment;
    struct maar_peer* peer = pages->block.peer;
    int previous = 0;
    (void)allocator;
    const bool entered =
        peer->driver->enter(peer, "the end of CUDA's pages", &previous) == VK_SUCCESS;
    discard_pages(pages, entered, previous);
}

/* Creates memory and maps it at new addresses. Both the mapping and the file descriptor keep the
 * memory alive. */
static VkResult map_new_memory(MaarCuda cuda, const char* call, struct cuda_pages* pages)
{
    const VkDeviceSize size = pages->block.size;
    maar_cuda_backing backing = 0;
    uint64_t start = 0;
    VkResult result = maar_cuda_reserve_pages(cuda, call, size, &start);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_cuda_create_backing(cuda, call, size, &backing, &pages->handle);
    if (result == VK_SUCCESS) {
        result = maar_cuda_map_pages(cuda, call, start, size, backing);
        maar_cuda_release_backing(cuda, backing);
    }
    if (result != VK_SUCCESS) {
        maar_cuda_unreserve_pages(cuda, start, size);
        return result;
    }
    maar_atomic64_store(&pages->block.pointer, start);
    return VK_SUCCESS;
}

static VkResult make_pages(MaarCuda cuda, const char* call, VkDeviceSize least,
                           struct cuda_pages** out)
{
    MaarAllocator allocator = cuda->peer.allocator;
    struct cuda_pages* pages = maar_host_calloc(allocator->callbacks, 1, sizeof *pages);
    if (pages == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    VkDeviceSize page_size = 1;
    int previous = 0;
    pages->block.attachment.owner = &cuda->peer;
    pages->block.attachment.owner_list = &cuda->peer.blocks;
    pages->block.attachment.end = end_pages;
    pages->block.peer = &cuda->peer;
    pages->handle = MAAR_PORT_NO_HANDLE;
    maar_lock_rank_expect_none();
    VkResult result = cuda->peer.driver->enter(&cuda->peer, call, &previous);
    const bool entered = result == VK_SUCCESS;
    if (entered) {
        result = maar_cuda_page_size(cuda, call, &page_size);
    }
    if (result == VK_SUCCESS) {
        pages->block.size = maar_align_up(least, page_size);
    }
    maar_peer_count_block(&cuda->peer, pages->block.size);
    if (result == VK_SUCCESS) {
        result = map_new_memory(cuda, call, pages);
    }
    if (result != VK_SUCCESS) {
        discard_pages(pages, entered, previous);
        return result;
    }
    cuda->peer.driver->leave(&cuda->peer, previous);
    *out = pages;
    return VK_SUCCESS;
}

/* Whether another memory type may still succeed. No document says what drivers answer to a wrong
 * type; for a comparable import, NVIDIA's answers that there is no memory. */
static bool may_be_wrong_type(VkResult result)
{
    return result == VK_ERROR_INVALID_EXTERNAL_HANDLE || result == VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

/* Tries the memory types that the buffer may live in, device-local types first. The import that
 * succeeds takes the handle. */
static VkResult import_made_memory(MaarCuda cuda, const char* call, const VkBufferCreateInfo* info,
                                   MaarExternalHandle handle, VkDeviceSize size, uint32_t type_bits,
                                   VkBuffer* buffer, MaarAllocation* allocation)
{
    MaarAllocator allocator = cuda->peer.allocator;
    const uint32_t count = allocator->device.facts.memory.memoryTypeCount;
    MaarImportInfo import = {
        .sType = MAAR_STRUCTURE_TYPE_IMPORT_INFO,
        .handle = handle,
        .handleType = cuda->peer.memory_type,
        .blockSize = size,
    };
    VkResult result = VK_ERROR_INVALID_EXTERNAL_HANDLE;
    for (uint32_t pass = 0; pass < 2; ++pass) {
        for (uint32_t type = 0; type < count; ++type) {
            const bool is_local =
                (maar_type_flags(allocator, type) & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
            if (may_be_wrong_type(result) && is_local == (pass == 0) &&
                (type_bits & (1u << type)) != 0 &&
                maar_type_is_usable(&allocator->device.facts, type)) {
                import.memoryTypeIndex = type;
                result = maar_import_buffer(allocator, call, info, &import, buffer, allocation);
            }
        }
    }
    return result;
}

static VkResult check_memory_arguments(MaarCuda cuda, const char* call,
                                       const VkBufferCreateInfo* info, uint32_t type)
{
    MaarAllocator allocator = cuda->peer.allocator;
    if (!cuda->makes_memory) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, call,
                           "cuda was created without MAAR_CUDA_CREATE_CUDA_MEMORY_BIT");
    }
    const uint32_t count = allocator->device.facts.memory.memoryTypeCount;
    if (type != MAAR_MEMORY_TYPE_NONE && type >= count) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                         call, "typeIndex is %u, and the device has %u memory types", type, count);
    }
    VkResult result = maar_check_buffer_info(allocator, call, info);
    return result == VK_SUCCESS ? maar_cuda_require_pages(cuda, call) : result;
}

/* Finds the size of the buffer and the memory types that it may live in. A type that the caller
 * names must be one of them, and is then the only one left. */
static VkResult measure_buffer(MaarAllocator allocator, const char* call,
                               const VkBufferCreateInfo* info, uint32_t type,
                               MaarMemoryRequest* request)
{
    struct maar_shared_buffer shared;
    VkResult result = maar_share_buffer(
        allocator, call, info, (VkExternalMemoryHandleTypeFlags)MAAR_OPAQUE_MEMORY,
        (VkExternalMemoryFeatureFlags)VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT, &shared);
    if (result == VK_SUCCESS) {
        result = maar_buffer_info_request(allocator, shared.use, request);
    }
    if (result != VK_SUCCESS || type == MAAR_MEMORY_TYPE_NONE) {
        return result;
    }
    request->requirements.memoryTypeBits &= 1u << type;
    if (request->requirements.memoryTypeBits == 0) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NO_MEMORY_TYPE, call,
                           "typeIndex is not among the memory types that the buffer may live in");
    }
    if (!maar_type_is_usable(&allocator->device.facts, type)) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, call,
                           "typeIndex needs a feature that is not enabled (deviceCoherentMemory or "
                           "protectedMemory)");
    }
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarAllocateCudaMemory(MaarCuda cuda,
                                                      const VkBufferCreateInfo* pBufferInfo,
                                                      uint32_t typeIndex, VkBuffer* pBuffer,
                                                      MaarAllocation* pAllocation)
{
    const struct maar_output outputs[] = {{"pBuffer", pBuffer, sizeof *pBuffer},
                                          {"pAllocation", pAllocation, sizeof *pAllocation},
                                          {0}};
    VkResult result = maar_peer_enter_outputs(maar_peer_of_cuda(cuda), __func__, outputs);
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarAllocator allocator = cuda->peer.allocator;
    MaarMemoryRequest request;
    result = check_memory_arguments(cuda, __func__, pBufferInfo, typeIndex);
    if (result == VK_SUCCESS) {
        result = measure_buffer(allocator, __func__, pBufferInfo, typeIndex, &request);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct cuda_pages* pages = NULL;
    result = make_pages(cuda, __func__, request.requirements.size, &pages);
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarExternalHandle handle = VK_NULL_HANDLE;
    result = maar_external_handle_create(allocator, pages->handle, &handle);
    if (result == VK_SUCCESS) {
        pages->handle = MAAR_PORT_NO_HANDLE;
        result = import_made_memory(cuda, __func__, pBufferInfo, handle, pages->block.size,
                                    request.requirements.memoryTypeBits, pBuffer, pAllocation);
    }
    maar_external_handle_destroy(handle);
    if (result != VK_SUCCESS) {
        end_pages(allocator, &pages->block.attachment);
        return result;
    }
    const struct maar_slot* slot = maar_slot_of_own(allocator, *pAllocation);
    (void)maar_attachment_add(maar_slot_block(allocator, slot),
                              &pages->block.attachment); /* a new block has none of this owner */
    return VK_SUCCESS;
}
