/*
 * Device memory: allocation against heaps and limits, mapping, flushing.
 */
#include "backends/simulated/sim_memory.h"

#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_entries.h"
#include "backends/simulated/sim_hazard.h"
#include "backends/simulated/sim_resource.h"
#include "backends/simulated/sim_submission.h"

#include <string.h>

/* Checks the features that a memory type needs. */
static void sim_check_type_features(struct sim_device* device, VkMemoryPropertyFlags flags)
{
    const VkMemoryPropertyFlags amd =
        VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD | VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD;
    if ((flags & amd) != 0) {
        sim_need_feature(device, SIM_FN_vkAllocateMemory, SIM_FEATURE_COHERENT_AMD,
                         "deviceCoherentMemory");
    }
    if ((flags & VK_MEMORY_PROPERTY_PROTECTED_BIT) != 0) {
        sim_violate(device->gpu, SIM_FN_vkAllocateMemory, MAAR_SIMULATED_VIOLATION_FEATURE,
                    "protected memory is not enabled");
    }
}

/* Checks the rules of VkMemoryDedicatedAllocateInfo. Returns the handle that the structure names,
 * or 0. */
static uint64_t sim_check_dedicated(struct sim_device* device, const VkMemoryAllocateInfo* info)
{
    const VkMemoryDedicatedAllocateInfo* dedicated =
        sim_chain_find(info->pNext, VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO);
    if (dedicated == NULL) {
        return 0;
    }
    const uint64_t image = SIM_HANDLE(dedicated->image);
    const uint64_t buffer = SIM_HANDLE(dedicated->buffer);
    if (image != 0 && buffer != 0) {
        sim_violate(device->gpu, SIM_FN_vkAllocateMemory, MAAR_SIMULATED_VIOLATION_DEDICATED,
                    "an allocation cannot be dedicated to an image and a buffer");
        return 0;
    }
    if (image == 0 && buffer == 0) {
        return 0;
    }
    const struct sim_resource* resource =
        sim_object_get(device, SIM_FN_vkAllocateMemory, image != 0 ? image : buffer,
                       image != 0 ? SIM_KIND_IMAGE : SIM_KIND_BUFFER);
    if (resource == NULL) {
        return 0;
    }
    if (resource->plane_count > 1 || resource->sparse) {
        sim_violate(device->gpu, SIM_FN_vkAllocateMemory, MAAR_SIMULATED_VIOLATION_DEDICATED,
                    "disjoint images and sparse resources cannot have a dedicated allocation");
    } else if (resource->requirements[0].size != info->allocationSize) {
        sim_violate(device->gpu, SIM_FN_vkAllocateMemory, MAAR_SIMULATED_VIOLATION_DEDICATED,
                    "allocationSize %llu is not the resource's size %llu",
                    (unsigned long long)info->allocationSize,
                    (unsigned long long)resource->requirements[0].size);
    }
    return resource->object.handle;
}

/* Checks that each sType occurs only once in a chain, as Vulkan requires. */
static void sim_check_chain_unique(struct sim_device* device, const void* chain)
{
    for (const VkBaseInStructure* link = chain; link != NULL; link = link->pNext) {
        if (sim_chain_find(link->pNext, link->sType) != NULL) {
            sim_violate(device->gpu, SIM_FN_vkAllocateMemory, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                        "structure type %d is in the chain more than once", (int)link->sType);
        }
    }
}

static void sim_check_allocate_chain(struct sim_device* device, const VkMemoryAllocateInfo* info)
{
    sim_check_chain_unique(device, info->pNext);
    const VkMemoryPriorityAllocateInfoEXT* priority =
        sim_chain_find(info->pNext, VK_STRUCTURE_TYPE_MEMORY_PRIORITY_ALLOCATE_INFO_EXT);
    if (priority != NULL) {
        sim_need_feature(device, SIM_FN_vkAllocateMemory, SIM_FEATURE_MEMORY_PRIORITY,
                         "memoryPriority");
        if (!(priority->priority >= 0.0F && priority->priority <= 1.0F)) {
            sim_violate(device->gpu, SIM_FN_vkAllocateMemory, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                        "priority is outside 0 to 1");
        }
    }
    const VkMemoryAllocateFlagsInfo* flags =
        sim_chain_find(info->pNext, VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
    if (flags != NULL && (flags->flags & VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT) != 0) {
        sim_need_feature(device, SIM_FN_vkAllocateMemory, SIM_FEATURE_BUFFER_ADDRESS,
                         "bufferDeviceAddress");
    }
}

static bool sim_may_overcommit(const struct sim_device* device)
{
    return device->overcommit_known ? device->overcommit
                                    : (device->gpu->flags & MAAR_SIMULATED_OVERCOMMIT_BIT) != 0;
}

/* Checks an allocation against limits and heaps. Lock held. */
static VkResult sim_check_limits(struct sim_device* device, const VkMemoryAllocateInfo* info,
                                 bool imported)
{
    struct sim_gpu* gpu = device->gpu;
    const MaarSimulatedLimits* limits = &gpu->profile.limits;
    const VkDeviceSize size = info->allocationSize;
    const unsigned long long shown = size;
    if (info->memoryTypeIndex >= gpu->profile.typeCount || size == 0) {
        sim_violate(gpu, SIM_FN_vkAllocateMemory, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "memoryTypeIndex %u, allocationSize %llu", info->memoryTypeIndex, shown);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const uint32_t heap_index = gpu->profile.types[info->memoryTypeIndex].heap;
    const VkDeviceSize heap_size = gpu->profile.heaps[heap_index].size;
    sim_check_type_features(device, gpu->profile.types[info->memoryTypeIndex].flags);
    if (limits->maxMemoryAllocationSize != 0 && size > limits->maxMemoryAllocationSize) {
        sim_violate(gpu, SIM_FN_vkAllocateMemory, MAAR_SIMULATED_VIOLATION_ALLOCATION_SIZE,
                    "%llu bytes are above maxMemoryAllocationSize %llu", shown,
                    (unsigned long long)limits->maxMemoryAllocationSize);
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    if (!imported && size > heap_size) {
        sim_violate(gpu, SIM_FN_vkAllocateMemory, MAAR_SIMULATED_VIOLATION_ALLOCATION_SIZE,
                    "%llu bytes are more than heap %u's %llu", shown, heap_index,
                    (unsigned long long)heap_size);
        if (!sim_may_overcommit(device)) {
            return VK_ERROR_OUT_OF_DEVICE_MEMORY;
        }
    }
    if (limits->maxMemoryAllocationCount != 0 &&
        (gpu->flags & MAAR_SIMULATED_UNLIMITED_COUNT_BIT) == 0 &&
        device->memory_count >= limits->maxMemoryAllocationCount) {
        sim_violate(gpu, SIM_FN_vkAllocateMemory, MAAR_SIMULATED_VIOLATION_ALLOCATION_COUNT,
                    "maxMemoryAllocationCount %u is reached", limits->maxMemoryAllocationCount);
        return VK_ERROR_TOO_MANY_OBJECTS;
    }
    const VkDeviceSize used = gpu->counters.heapLive[heap_index];
    const VkDeviceSize others = gpu->used_by_others[heap_index];
    const VkDeviceSize room = others < heap_size ? heap_size - others : 0;
    if (!imported && !sim_may_overcommit(device) && (used > room || size > room - used)) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    return VK_SUCCESS;
}

/* Returns the host memory that the program imports: NULL if it imports none or breaks a rule. */
static void* sim_check_import(struct sim_device* device, const VkMemoryAllocateInfo* info)
{
    const VkImportMemoryHostPointerInfoEXT* import =
        sim_chain_find(info->pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT);
    if (import == NULL || import->handleType == 0) {
        return NULL;
    }
    const uint64_t alignment =
        sim_or(device->gpu->profile.limits.minImportedHostPointerAlignment, 1);
    if ((device->extensions >> SIM_EXT_MEMORY_HOST & 1u) == 0) {
        sim_violate(device->gpu, SIM_FN_vkAllocateMemory, MAAR_SIMULATED_VIOLATION_FEATURE,
                    "VK_EXT_external_memory_host is not enabled");
        return NULL;
    }
    if ((uintptr_t)import->pHostPointer % alignment != 0 || info->allocationSize % alignment != 0 ||
        import->pHostPointer == NULL) {
        sim_violate(device->gpu, SIM_FN_vkAllocateMemory, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "the host pointer or its size is not a multiple of %llu",
                    (unsigned long long)alignment);
        return NULL;
    }
    return import->pHostPointer;
}

static void sim_memory_count_share(struct sim_memory* memory)
{
    MaarSimulatedCounters* counters = &memory->object.device->gpu->counters;
    counters->exportableLive += memory->share.export_types != 0 ? 1 : 0;
    counters->importedLive += memory->share.import_type != 0 ? 1 : 0;
    counters->fdsImported += memory->share.file.open ? 1 : 0;
    counters->heapImported[memory->heap] += memory->share.import_type != 0 ? memory->size : 0;
}

/* Adds a new memory to the heaps' totals. Lock held. */
static void sim_memory_describe(struct sim_memory* memory, const VkMemoryAllocateInfo* info,
                                void* host_pointer)
{
    struct sim_gpu* gpu = memory->object.device->gpu;
    MaarSimulatedCounters* counters = &gpu->counters;
    const VkMemoryAllocateFlagsInfo* flags =
        sim_chain_find(info->pNext, VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
    memory->size = info->allocationSize;
    memory->type = info->memoryTypeIndex;
    memory->heap = gpu->profile.types[memory->type].heap;
    memory->addressable =
        flags != NULL && (flags->flags & VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT) != 0;
    memory->address = gpu->next_address;
    gpu->next_address += maar_align_up(memory->size, (VkDeviceSize)1 << 20) + ((uint64_t)1 << 20);
    memory->bytes = host_pointer;
    memory->host_writes = memory->share.import_type != 0 || memory->share.export_types != 0;
    memory->object.device->memory_count++;
    sim_memory_count_share(memory);
    counters->heapLive[memory->heap] += memory->share.import_type != 0 ? 0 : memory->size;
    if (counters->heapLive[memory->heap] > counters->heapPeak[memory->heap]) {
        counters->heapPeak[memory->heap] = counters->heapLive[memory->heap];
    }
    if (counters->liveCount[MAAR_SIMULATED_OBJECT_MEMORY] > counters->peakMemoryCount) {
        counters->peakMemoryCount = counters->liveCount[MAAR_SIMULATED_OBJECT_MEMORY];
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_allocate_memory(VkDevice device,
                                                          const VkMemoryAllocateInfo* pInfo,
                                                          const VkAllocationCallbacks* pAllocator,
                                                          VkDeviceMemory* pMemory)
{
    struct sim_device* d = SIM_DEVICE(device);
    *pMemory = VK_NULL_HANDLE;
    VkResult result = sim_enter(d->gpu, d, SIM_FN_vkAllocateMemory);
    struct sim_memory* memory = NULL;
    if (result != VK_SUCCESS) {
        goto failed;
    }
    memory = sim_object_create(d, SIM_KIND_MEMORY, sizeof(struct sim_memory), pAllocator);
    if (memory == NULL) {
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
        goto failed;
    }
    sim_lock_gpu(d->gpu);
    void* const host_pointer = sim_check_import(d, pInfo);
    sim_check_allocate_chain(d, pInfo);
    memory->dedicated = sim_check_dedicated(d, pInfo);
    result = sim_share_read(d, pInfo, memory->dedicated != 0, &memory->share);
    if (host_pointer != NULL) {
        memory->share.import_type = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    }
    if (result == VK_SUCCESS) {
        result = sim_check_limits(d, pInfo, memory->share.import_type != 0);
    }
    if (result == VK_SUCCESS) {
        sim_memory_describe(memory, pInfo, host_pointer);
        *pMemory = (VkDeviceMemory)memory->object.handle;
    } else {
        sim_object_remove(&memory->object);
    }
    sim_unlock_gpu(d->gpu);
    if (result == VK_SUCCESS) {
        return VK_SUCCESS;
    }
    sim_object_release(&memory->object);
failed:
    sim_share_failed(d, pInfo);
    return result;
}

void sim_memory_uncount(struct sim_memory* memory)
{
    struct sim_device* device = memory->object.device;
    const bool imported = memory->share.import_type != 0;
    device->memory_count--;
    device->gpu->counters.heapLive[memory->heap] -= imported ? 0 : memory->size;
    device->gpu->counters.importedLive -= imported ? 1 : 0;
    device->gpu->counters.heapImported[memory->heap] -= imported ? memory->size : 0;
    device->gpu->counters.exportableLive -= memory->share.export_types != 0 ? 1 : 0;
    sim_share_forget(memory);
    if (memory->mapped) {
        device->gpu->counters.mappedCount--;
    }
}

void sim_memory_release(struct sim_memory* memory)
{
    if (memory->pages != NULL) {
        sim_pages_unmap(memory->pages, memory->pages_size);
    }
    sim_hazard_release(memory);
    if (memory->states != NULL) {
        sim_pages_unmap(memory->states, (size_t)memory->size);
    }
    sim_tree_release(memory->object.device->callbacks, &memory->binds);
    sim_object_release(&memory->object);
}

static VKAPI_ATTR void VKAPI_CALL sim_free_memory(VkDevice device, VkDeviceMemory memory,
                                                  const VkAllocationCallbacks* pAllocator)
{
    struct sim_device* d = SIM_DEVICE(device);
    sim_enter(d->gpu, d, SIM_FN_vkFreeMemory);
    sim_lock_gpu(d->gpu);
    struct sim_memory* m =
        sim_object_retire(d, SIM_FN_vkFreeMemory, SIM_HANDLE(memory), SIM_KIND_MEMORY, pAllocator);
    if (m != NULL) {
        sim_submissions_check_memory(d, SIM_HANDLE(memory));
        sim_memory_uncount(m);
        d->gpu->counters.freedWhileMappedCount += m->mapped ? 1 : 0;
        d->gpu->counters.freedBeforeResourceCount += m->binds.count != 0 ? 1 : 0;
        sim_pages_memory_freed(m);
    }
    sim_unlock_gpu(d->gpu);
    if (m != NULL) {
        sim_memory_release(m);
    }
}

bool sim_memory_back(struct sim_memory* memory)
{
    const MaarSimulatedLimits* limits = &memory->object.device->gpu->profile.limits;
    VkDeviceSize alignment = sim_or(limits->minMemoryMapAlignment, 1);
    if (memory->bytes != NULL) {
        return true;
    }
    const bool shared = memory->share.export_types != 0 || memory->share.file.open;
    if (shared && alignment < SIM_FILE_PAGE) {
        alignment = SIM_FILE_PAGE;
    }
    const VkDeviceSize length = memory->size + alignment;
    if (length > SIZE_MAX / 2) {
        return false;
    }
    memory->pages = sim_pages_map((size_t)length);
    if (memory->pages == NULL) {
        return false;
    }
    memory->pages_size = (size_t)length;
    const uintptr_t rest = (uintptr_t)memory->pages % (size_t)alignment;
    uint8_t* const bytes = (uint8_t*)memory->pages + (rest == 0 ? 0 : (size_t)alignment - rest);
    if (shared && !sim_share_back(memory, bytes)) {
        sim_pages_unmap(memory->pages, memory->pages_size);
        memory->pages = NULL;
        return false;
    }
    memory->bytes = bytes;
    return true;
}

/* Returns whether [offset, offset + size) may be mapped. Replaces VK_WHOLE_SIZE by the real
 * size. */
static bool sim_check_map(struct sim_memory* memory, VkDeviceSize offset, VkDeviceSize* size)
{
    struct sim_gpu* gpu = memory->object.device->gpu;
    if (memory->mapped) {
        sim_violate(gpu, SIM_FN_vkMapMemory, MAAR_SIMULATED_VIOLATION_MAP,
                    "the memory is already mapped");
        return false;
    }
    if ((gpu->profile.types[memory->type].flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) == 0) {
        sim_violate(gpu, SIM_FN_vkMapMemory, MAAR_SIMULATED_VIOLATION_MAP,
                    "memory type %u is not host-visible", memory->type);
        return false;
    }
    if (offset >= memory->size || *size == 0 ||
        (*size != VK_WHOLE_SIZE && *size > memory->size - offset)) {
        sim_violate(gpu, SIM_FN_vkMapMemory, MAAR_SIMULATED_VIOLATION_MAP,
                    "the range is not inside the memory's %llu bytes",
                    (unsigned long long)memory->size);
        return false;
    }
    *size = *size == VK_WHOLE_SIZE ? memory->size - offset : *size;
    return true;
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_map_memory(VkDevice device, VkDeviceMemory memory,
                                                     VkDeviceSize offset, VkDeviceSize size,
                                                     VkMemoryMapFlags flags, void** ppData)
{
    (void)flags;
    struct sim_device* d = SIM_DEVICE(device);
    *ppData = NULL;
    VkResult result = sim_enter(d->gpu, d, SIM_FN_vkMapMemory);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = VK_ERROR_MEMORY_MAP_FAILED;
    sim_lock_gpu(d->gpu);
    struct sim_memory* m =
        sim_object_get(d, SIM_FN_vkMapMemory, SIM_HANDLE(memory), SIM_KIND_MEMORY);
    if (m != NULL) {
        sim_claim(d->gpu, SIM_FN_vkMapMemory, &m->object.busy, "VkDeviceMemory");
        m = sim_object_peek(d, SIM_HANDLE(memory), SIM_KIND_MEMORY);
    }
    if (m != NULL) {
        if (sim_check_map(m, offset, &size) && sim_memory_back(m)) {
            m->mapped = true;
            m->host_writes = true;
            m->map_offset = offset;
            m->map_size = size;
            d->gpu->counters.mappedCount++;
            *ppData = m->bytes + offset;
            result = VK_SUCCESS;
        }
        m->object.busy--;
    }
    sim_unlock_gpu(d->gpu);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL sim_unmap_memory(VkDevice device, VkDeviceMemory memory)
{
    struct sim_device* d = SIM_DEVICE(device);
    sim_enter(d->gpu, d, SIM_FN_vkUnmapMemory);
    sim_lock_gpu(d->gpu);
    struct sim_memory* m =
        sim_object_get(d, SIM_FN_vkUnmapMemory, SIM_HANDLE(memory), SIM_KIND_MEMORY);
    if (m != NULL) {
        sim_claim(d->gpu, SIM_FN_vkUnmapMemory, &m->object.busy, "VkDeviceMemory");
        m = sim_object_peek(d, SIM_HANDLE(memory), SIM_KIND_MEMORY);
    }
    if (m != NULL) {
        if (m->mapped) {
            d->gpu->counters.mappedCount--;
        } else {
            sim_violate(d->gpu, SIM_FN_vkUnmapMemory, MAAR_SIMULATED_VIOLATION_MAP,
                        "the memory is not mapped");
        }
        m->mapped = false;
        m->object.busy--;
    }
    sim_unlock_gpu(d->gpu);
}

/* Checks one range of a flush or an invalidation. */
static void sim_check_range(struct sim_device* device, enum sim_function function,
                            const VkMappedMemoryRange* range)
{
    struct sim_gpu* gpu = device->gpu;
    const struct sim_memory* m =
        sim_object_get(device, function, SIM_HANDLE(range->memory), SIM_KIND_MEMORY);
    if (m == NULL) {
        return;
    }
    const VkDeviceSize atom = sim_or(gpu->profile.limits.nonCoherentAtomSize, 1);
    const VkDeviceSize map_end = m->map_offset + m->map_size;
    if (!m->mapped || range->offset < m->map_offset || range->offset > map_end ||
        (range->size != VK_WHOLE_SIZE && range->size > map_end - range->offset)) {
        sim_violate(gpu, function, MAAR_SIMULATED_VIOLATION_FLUSH,
                    "offset %llu, size %llu is not inside a mapping",
                    (unsigned long long)range->offset, (unsigned long long)range->size);
        return;
    }
    const VkDeviceSize end = range->size == VK_WHOLE_SIZE ? map_end : range->offset + range->size;
    if (range->offset % atom != 0 || (end % atom != 0 && end != m->size)) {
        sim_violate(gpu, function, MAAR_SIMULATED_VIOLATION_FLUSH,
                    "[%llu, %llu) does not consist of whole atoms of %llu",
                    (unsigned long long)range->offset, (unsigned long long)end,
                    (unsigned long long)atom);
    }
}

static VkResult sim_check_ranges(VkDevice device, enum sim_function function, uint32_t count,
                                 const VkMappedMemoryRange* ranges)
{
    struct sim_device* d = SIM_DEVICE(device);
    const VkResult result = sim_enter(d->gpu, d, function);
    if (result != VK_SUCCESS) {
        return result;
    }
    sim_lock_gpu(d->gpu);
    for (uint32_t i = 0; i < count; i++) {
        sim_check_range(d, function, &ranges[i]);
    }
    sim_unlock_gpu(d->gpu);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_flush(VkDevice device, uint32_t memoryRangeCount,
                                                const VkMappedMemoryRange* pMemoryRanges)
{
    return sim_check_ranges(device, SIM_FN_vkFlushMappedMemoryRanges, memoryRangeCount,
                            pMemoryRanges);
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_invalidate(VkDevice device, uint32_t memoryRangeCount,
                                                     const VkMappedMemoryRange* pMemoryRanges)
{
    return sim_check_ranges(device, SIM_FN_vkInvalidateMappedMemoryRanges, memoryRangeCount,
                            pMemoryRanges);
}

static VKAPI_ATTR void VKAPI_CALL sim_get_commitment(VkDevice device, VkDeviceMemory memory,
                                                     VkDeviceSize* pCommittedMemoryInBytes)
{
    struct sim_device* d = SIM_DEVICE(device);
    *pCommittedMemoryInBytes = 0;
    sim_enter(d->gpu, d, SIM_FN_vkGetDeviceMemoryCommitment);
    sim_lock_gpu(d->gpu);
    const struct sim_memory* m =
        sim_object_get(d, SIM_FN_vkGetDeviceMemoryCommitment, SIM_HANDLE(memory), SIM_KIND_MEMORY);
    if (m != NULL &&
        (d->gpu->profile.types[m->type].flags & VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT) == 0) {
        sim_violate(d->gpu, SIM_FN_vkGetDeviceMemoryCommitment, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "memory type %u is not lazily allocated", m->type);
    }
    sim_unlock_gpu(d->gpu);
}

static VKAPI_ATTR void VKAPI_CALL sim_set_priority(VkDevice device, VkDeviceMemory memory,
                                                   float priority)
{
    struct sim_device* d = SIM_DEVICE(device);
    sim_enter(d->gpu, d, SIM_FN_vkSetDeviceMemoryPriorityEXT);
    sim_lock_gpu(d->gpu);
    sim_need_feature(d, SIM_FN_vkSetDeviceMemoryPriorityEXT, SIM_FEATURE_PAGEABLE,
                     "pageableDeviceLocalMemory");
    sim_object_get(d, SIM_FN_vkSetDeviceMemoryPriorityEXT, SIM_HANDLE(memory), SIM_KIND_MEMORY);
    if (!(priority >= 0.0F && priority <= 1.0F)) {
        sim_violate(d->gpu, SIM_FN_vkSetDeviceMemoryPriorityEXT, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "priority is outside 0 to 1");
    }
    sim_unlock_gpu(d->gpu);
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_get_host_pointer_properties(
    VkDevice device, VkExternalMemoryHandleTypeFlagBits handleType, const void* pHostPointer,
    VkMemoryHostPointerPropertiesEXT* pProperties)
{
    struct sim_device* d = SIM_DEVICE(device);
    (void)handleType;
    (void)pHostPointer;
    pProperties->memoryTypeBits = 0;
    const VkResult result = sim_enter(d->gpu, d, SIM_FN_vkGetMemoryHostPointerPropertiesEXT);
    for (uint32_t i = 0; result == VK_SUCCESS && i < d->gpu->profile.typeCount; i++) {
        const VkMemoryPropertyFlags flags = d->gpu->profile.types[i].flags;
        if ((flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0) {
            pProperties->memoryTypeBits |= 1u << i;
        }
    }
    return result;
}

const struct sim_entry sim_memory_entries[] = {
    SIM_ENTRY(vkAllocateMemory, sim_allocate_memory),
    SIM_ENTRY(vkFreeMemory, sim_free_memory),
    SIM_ENTRY(vkMapMemory, sim_map_memory),
    SIM_ENTRY(vkUnmapMemory, sim_unmap_memory),
    SIM_ENTRY(vkFlushMappedMemoryRanges, sim_flush),
    SIM_ENTRY(vkInvalidateMappedMemoryRanges, sim_invalidate),
    SIM_ENTRY(vkGetDeviceMemoryCommitment, sim_get_commitment),
    SIM_ENTRY(vkSetDeviceMemoryPriorityEXT, sim_set_priority),
    SIM_ENTRY(vkGetMemoryHostPointerPropertiesEXT, sim_get_host_pointer_properties),
    {SIM_FN_COUNT, NULL},
};
