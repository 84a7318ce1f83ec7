/*
 * Makes and destroys a MaarCuda: loads the driver, finds the allocator's device, chooses a context
 * and finds out what the device can do. Also returns the addresses of allocations in CUDA: the
 * address of the block plus an offset.
 */
#include <string.h>

#include "core/bound_check.h"
#include "core/memory/allocator_state.h"
#include "core/memory/export_types.h"
#include "core/memory/slot_home.h"
#include "interop/cuda/cuda_internal.h"
#include "interop/share/share_internal.h"

static const MaarCudaCreateInfo default_cuda_info = {
    .sType = MAAR_STRUCTURE_TYPE_CUDA_CREATE_INFO,
};

static VkResult check_cuda_info(MaarAllocator allocator, const char* call,
                                const MaarCudaCreateInfo* info)
{
    VkResult result = maar_check_structure(allocator, call, "pCreateInfo", info,
                                           MAAR_STRUCTURE_TYPE_CUDA_CREATE_INFO);
    const MaarCudaCreateFlags known = MAAR_CUDA_CREATE_CUDA_MEMORY_BIT;
    if (result == VK_SUCCESS && (info->flags & ~known) != 0) {
        result = maar_refuse_flags(allocator, call, "pCreateInfo->flags", "MaarCudaCreateFlagBits",
                                   info->flags & ~known);
    }
    return result == VK_SUCCESS ? maar_shared_types_require(allocator, call, MAAR_OPAQUE_MEMORY)
                                : result;
}

/* Chooses the context of the caller, if there is one, or else the primary context. The caller's
 * context must belong to the allocator's device. */
static VkResult choose_context(MaarCuda cuda, const char* call, void* given)
{
    if (given == NULL) {
        VkResult result =
            maar_cuda_report(cuda, call, "cuDevicePrimaryCtxRetain",
                             cuda->driver.cuDevicePrimaryCtxRetain(&cuda->context, cuda->device),
                             MAAR_CUDA_CALL_PLAIN);
        cuda->retained = result == VK_SUCCESS;
        return result;
    }
    cuda->context = given;
    maar_cuda_device device = 0;
    int previous = 0;
    VkResult result = cuda->peer.driver->enter(&cuda->peer, call, &previous);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_cuda_report(cuda, call, "cuCtxGetDevice", cuda->driver.cuCtxGetDevice(&device),
                              MAAR_CUDA_CALL_PLAIN);
    cuda->peer.driver->leave(&cuda->peer, previous);
    if (result == VK_SUCCESS && device != cuda->device) {
        maar_report(cuda->peer.allocator, MAAR_MESSAGE_SEVERITY_ERROR,
                    MAAR_MESSAGE_ID_PEER_DEVICE_MISMATCH, call,
                    "pCreateInfo->pContext is of CUDA device %d, but the allocator's device is "
                    "%d, %s",
                    (int)device, (int)cuda->device, cuda->name);
        result = VK_ERROR_INCOMPATIBLE_DRIVER;
    }
    return result;
}

static bool has_all_of_virtual_memory(const struct maar_cuda_driver* driver)
{
    return driver->cuMemGetAllocationGranularity != NULL && driver->cuMemCreate != NULL &&
           driver->cuMemRelease != NULL && driver->cuMemExportToShareableHandle != NULL &&
           driver->cuMemImportFromShareableHandle != NULL && driver->cuMemAddressReserve != NULL &&
           driver->cuMemAddressFree != NULL && driver->cuMemMap != NULL &&
           driver->cuMemUnmap != NULL && driver->cuMemSetAccess != NULL;
}

static void look_at_capabilities(MaarCuda cuda)
{
    MaarAllocator allocator = cuda->peer.allocator;
    const VkExternalSemaphoreFeatureFlags exportable = VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT;
    const VkExternalSemaphoreFeatureFlags timelines =
        maar_semaphore_sharing(allocator, VK_SEMAPHORE_TYPE_TIMELINE, MAAR_OPAQUE_SEMAPHORE);
    const VkExternalSemaphoreFeatureFlags binaries =
        maar_semaphore_sharing(allocator, VK_SEMAPHORE_TYPE_BINARY, MAAR_OPAQUE_SEMAPHORE);
    cuda->peer.shares_timelines =
        (timelines & exportable) != 0 &&
        maar_cuda_attribute(cuda, MAAR_CUDA_ATTRIBUTE_TIMELINE_SEMAPHORES);
    cuda->peer.shares_binaries = (binaries & exportable) != 0;
    cuda->peer.calls_host = allocator->device.facts.timeline_semaphore;
    cuda->images = true;
    cuda->virtual_memory = MAAR_PORT_HAS_FDS && has_all_of_virtual_memory(&cuda->driver) &&
                           maar_cuda_attribute(cuda, MAAR_CUDA_ATTRIBUTE_VIRTUAL_MEMORY) &&
                           maar_cuda_attribute(cuda, MAAR_CUDA_ATTRIBUTE_FILE_DESCRIPTORS);
}

/* Reports why handoffs do not use the fastest mode. Without the report, a program would notice only
 * that handoffs are slow. */
static void report_handoffs(MaarCuda cuda)
{
    MaarAllocator allocator = cuda->peer.allocator;
    const struct maar_device_facts* facts = &allocator->device.facts;
    const char* reason = "the CUDA driver or device imports none";
    if (!facts->semaphore_fd && !facts->semaphore_win32) {
        reason = MAAR_PORT_HAS_FDS ? "VK_KHR_external_semaphore_fd is not enabled"
                                   : "VK_KHR_external_semaphore_win32 is not enabled";
    } else if (!facts->timeline_semaphore) {
        reason = "timelineSemaphore is not among MaarAllocatorCreateInfo::pEnabledFeatures";
    } else if ((maar_semaphore_sharing(allocator, VK_SEMAPHORE_TYPE_TIMELINE,
                                       MAAR_OPAQUE_SEMAPHORE) &
                VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT) == 0) {
        reason = "the Vulkan driver exports none";
    }
    const MaarHandoffMode mode = maar_peer_best_mode(&cuda->peer);
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_INFO, MAAR_MESSAGE_ID_PEER_NOT_SUPPORTED,
                "maarCreateCuda", "Vulkan and CUDA cannot share a timeline semaphore, so %s: %s",
                mode == MAAR_HANDOFF_MODE_BINARY ? "handoffs use binary semaphores"
                : mode == MAAR_HANDOFF_MODE_HOST ? "handoffs go through the host"
                                                 : "there are no handoffs",
                reason);
}

static void discard_cuda(MaarCuda cuda, const char* call)
{
    if (cuda->retained) {
        (void)maar_cuda_report(cuda, call, "cuDevicePrimaryCtxRelease",
                               cuda->driver.cuDevicePrimaryCtxRelease(cuda->device),
                               MAAR_CUDA_CALL_PLAIN);
    }
    maar_library_close(&cuda->library);
    maar_peer_discard(&cuda->peer);
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateCuda(MaarAllocator allocator,
                                              const MaarCudaCreateInfo* pCreateInfo,
                                              MaarCuda* pCuda)
{
    const MaarCudaCreateInfo* info = pCreateInfo != NULL ? pCreateInfo : &default_cuda_info;
    const struct maar_output outputs[] = {{"pCuda", pCuda, sizeof *pCuda}, {0}};
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = check_cuda_info(allocator, __func__, info);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_peer* peer =
        maar_peer_make(allocator, sizeof(struct MaarCuda_T), &maar_cuda_peer_driver);
    if (peer == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    MaarCuda cuda = maar_cuda_of(peer);
    cuda->makes_memory = (info->flags & MAAR_CUDA_CREATE_CUDA_MEMORY_BIT) != 0;
    result = maar_cuda_load(cuda, __func__, info->pLibraryPath);
    if (result == VK_SUCCESS) {
        result = maar_cuda_find_device(cuda, __func__);
    }
    if (result == VK_SUCCESS) {
        result = choose_context(cuda, __func__, info->pContext);
    }
    if (result != VK_SUCCESS) {
        discard_cuda(cuda, __func__);
        return result;
    }
    look_at_capabilities(cuda);
    if (!cuda->peer.shares_timelines) {
        report_handoffs(cuda);
    }
    *pCuda = cuda;
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL maarDestroyCuda(MaarCuda cuda)
{
    if (cuda != VK_NULL_HANDLE && maar_peer_end(&cuda->peer, __func__)) {
        discard_cuda(cuda, __func__);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetCudaInfo(MaarCuda cuda, MaarCudaInfo* pInfo)
{
    VkResult result = maar_peer_enter(maar_peer_of_cuda(cuda), __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_CUDA_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    memcpy(pInfo->deviceName, cuda->name, sizeof pInfo->deviceName);
    pInfo->deviceOrdinal = cuda->ordinal;
    pInfo->driverVersion = cuda->version;
    pInfo->pContext = cuda->context;
    pInfo->memoryHandleType = cuda->peer.memory_type;
    pInfo->handoffMode = maar_peer_best_mode(&cuda->peer);
    pInfo->timelineSemaphores = cuda->peer.shares_timelines ? VK_TRUE : VK_FALSE;
    pInfo->binarySemaphores = cuda->peer.shares_binaries ? VK_TRUE : VK_FALSE;
    pInfo->images = cuda->images ? VK_TRUE : VK_FALSE;
    pInfo->virtualMemory = cuda->virtual_memory ? VK_TRUE : VK_FALSE;
    pInfo->importedBlockCount = maar_gate_count(&cuda->peer.imported);
    pInfo->importedBytes = maar_atomic64_load(&cuda->peer.block_bytes);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetCudaMemory(MaarCuda cuda, MaarAllocation allocation,
                                                 MaarCudaMemory* pMemory)
{
    struct maar_slot* slot = NULL;
    struct maar_peer_block* block = NULL;
    VkResult result = maar_peer_enter(maar_peer_of_cuda(cuda), __func__, "pMemory", pMemory,
                                      MAAR_STRUCTURE_TYPE_CUDA_MEMORY);
    if (result != VK_SUCCESS) {
        return result;
    }
    pMemory->devicePointer = 0;
    pMemory->pDevice = NULL;
    pMemory->size = 0;
    pMemory->blockPointer = 0;
    pMemory->blockSize = 0;
    result = maar_peer_map(&cuda->peer, __func__, allocation, &slot, &block);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_span span = maar_slot_find_bytes(cuda->peer.allocator, slot);
    pMemory->blockPointer = maar_atomic64_load(&block->pointer);
    pMemory->blockSize = block->size;
    pMemory->devicePointer = pMemory->blockPointer + span.offset;
    pMemory->pDevice = (void*)(uintptr_t)pMemory->devicePointer;
    pMemory->size = span.size;
    return VK_SUCCESS;
}
