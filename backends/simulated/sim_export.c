/*
 * Memory that is exported and imported as file descriptors.
 *
 * Shared memory has its bytes in a file without a name. The first mapping or export creates the
 * file. Every holder of a descriptor (another memory object, device or process) can use the bytes
 * for as long as it keeps the descriptor. A successful import makes the descriptor the driver's
 * property; a failing import leaves it with the caller. When the driver closes a descriptor, it
 * checks that the descriptor still names the same file.
 */
#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_entries.h"
#include "backends/simulated/sim_memory.h"
#include "backends/simulated/sim_resource.h"

#include <string.h>

/* Bytes that follow the contents, as in lavapipe's files. maar/simulated.h describes the layout. */
enum { SIM_FILE_TAIL = 40 };

static const char sim_file_magic[8] = "MAARSIM";

struct sim_file_head sim_file_head_of(const struct sim_device* device, enum sim_file_kind kind,
                                      uint32_t handle_types)
{
    struct sim_file_head head = {
        .kind = (uint32_t)kind,
        .handle_types = handle_types,
        .device = (uint64_t)(uintptr_t)device,
    };
    memcpy(head.magic, sim_file_magic, sizeof(head.magic));
    memcpy(head.device_uuid, device->gpu->sharing.deviceUUID, VK_UUID_SIZE);
    memcpy(head.driver_uuid, device->gpu->sharing.driverUUID, VK_UUID_SIZE);
    return head;
}

bool sim_file_accept(struct sim_device* device, enum sim_function function, int fd,
                     uint32_t handle_type, struct sim_file_head* head, uint64_t* size,
                     struct sim_file* file)
{
    const MaarSimulatedSharingInfo* own = &device->gpu->sharing;
    if (!sim_file_look(fd, head, sizeof(*head), size, file) ||
        memcmp(head->magic, sim_file_magic, sizeof(head->magic)) != 0 ||
        (head->handle_types & handle_type) == 0) {
        return false;
    }
    const bool is_opaque = handle_type != VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
    if (is_opaque && (memcmp(head->device_uuid, own->deviceUUID, VK_UUID_SIZE) != 0 ||
                      memcmp(head->driver_uuid, own->driverUUID, VK_UUID_SIZE) != 0)) {
        sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_SHARING,
                    "descriptor %d comes from a device of another deviceUUID or driverUUID", fd);
        return false;
    }
    return true;
}

void sim_reused_forget(struct sim_gpu* gpu, enum sim_function function)
{
    if (gpu->reused.open) {
        const int fd = gpu->reused.fd;
        gpu->counters.fdsReused--;
        if (!sim_file_close(&gpu->reused)) {
            sim_violate(gpu, function, MAAR_SIMULATED_VIOLATION_SHARING,
                        "descriptor %d was closed again after a failing import had closed it and "
                        "its number had a new owner",
                        fd);
        }
    }
}

void sim_import_failed(struct sim_gpu* gpu, enum sim_function function, int fd)
{
    sim_lock_gpu(gpu);
    if ((gpu->flags & MAAR_SIMULATED_CLOSE_FD_ON_FAILED_IMPORT_BIT) != 0) {
        sim_reused_forget(gpu, function);
        gpu->counters.fdsClosedByFailure++;
        if ((gpu->flags & MAAR_SIMULATED_REUSE_CLOSED_FD_BIT) != 0 &&
            sim_file_take_number(fd, &gpu->reused)) {
            gpu->counters.fdsReused++;
        } else {
            sim_file_close_foreign(fd);
        }
    }
    sim_unlock_gpu(gpu);
}

/* Returns the import of a descriptor that an allocation requests; NULL if it requests none. */
static const VkImportMemoryFdInfoKHR* sim_import_of(const VkMemoryAllocateInfo* info)
{
    const VkImportMemoryFdInfoKHR* import =
        sim_chain_find(info->pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR);
    return import != NULL && import->handleType != 0 ? import : NULL;
}

void sim_share_failed(struct sim_device* device, const VkMemoryAllocateInfo* info)
{
    const VkImportMemoryFdInfoKHR* import = sim_import_of(info);
    if (import != NULL) {
        sim_import_failed(device->gpu, SIM_FN_vkAllocateMemory, import->fd);
    }
}

/* Returns whether buffers or images have a sharing feature with a handle type. */
static bool sim_share_can(const struct sim_gpu* gpu, VkFlags type,
                          VkExternalMemoryFeatureFlags feature)
{
    const VkExternalMemoryHandleTypeFlagBits bit = (VkExternalMemoryHandleTypeFlagBits)type;
    return ((sim_external_memory(gpu, false, 0, bit).externalMemoryFeatures |
             sim_external_memory(gpu, true, 0, bit).externalMemoryFeatures) &
            feature) != 0;
}

/* Returns whether the extension of a handle type is enabled. Records a violation if it is not. */
static bool sim_share_is_enabled(struct sim_device* device, VkFlags type)
{
    const enum sim_extension extension = type == VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT
                                             ? SIM_EXT_DMA_BUF
                                             : SIM_EXT_MEMORY_FD;
    if ((device->extensions >> extension & 1u) == 0) {
        sim_violate(device->gpu, SIM_FN_vkAllocateMemory, MAAR_SIMULATED_VIOLATION_FEATURE,
                    "%s is not enabled", sim_extension_name(extension));
        return false;
    }
    return true;
}

static void sim_export_read(struct sim_device* device, const VkMemoryAllocateInfo* info,
                            bool dedicated, struct sim_share* share)
{
    struct sim_gpu* gpu = device->gpu;
    const VkExportMemoryAllocateInfo* export =
        sim_chain_find(info->pNext, VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO);
    share->may_export = export != NULL;
    for (uint32_t bit = 0; bit < 32 && export != NULL; bit++) {
        const VkFlags type = export->handleTypes & 1u << bit;
        if (type == 0) {
            continue;
        }
        if (!sim_share_can(gpu, type, VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT)) {
            sim_violate(gpu, SIM_FN_vkAllocateMemory, MAAR_SIMULATED_VIOLATION_SHARING,
                        "handle type 0x%x cannot be exported here", type);
        } else if (sim_share_is_enabled(device, type)) {
            share->export_types |= type;
        }
    }
    if (!dedicated && sim_external_needs_dedicated(gpu, false, share->export_types) &&
        sim_external_needs_dedicated(gpu, true, share->export_types)) {
        sim_violate(gpu, SIM_FN_vkAllocateMemory, MAAR_SIMULATED_VIOLATION_DEDICATED,
                    "handle types 0x%x are exported from dedicated allocations only",
                    share->export_types);
    }
}

/* Returns the memory types to which a dma-buf can be imported. */
static uint32_t sim_dma_buf_types(const struct sim_gpu* gpu)
{
    uint32_t types = gpu->sharing.dmaBufTypeBits;
    for (uint32_t i = 0; i < gpu->profile.typeCount && gpu->sharing.dmaBufTypeBits == 0; i++) {
        const VkMemoryPropertyFlags special =
            VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT | VK_MEMORY_PROPERTY_PROTECTED_BIT;
        types |= (gpu->profile.types[i].flags & special) == 0 ? 1u << i : 0;
    }
    return types;
}

static bool sim_is_memory_file(const struct sim_file_head* head, uint64_t size)
{
    return head->kind == SIM_FILE_MEMORY && size >= SIM_FILE_PAGE + SIM_FILE_TAIL &&
           head->size == size - SIM_FILE_PAGE - SIM_FILE_TAIL;
}

/* Checks that an import repeats the parameters of the exported allocation. */
static bool sim_import_fits(struct sim_device* device, const VkMemoryAllocateInfo* info,
                            const VkImportMemoryFdInfoKHR* import, const struct sim_file_head* head,
                            bool dedicated)
{
    const bool opaque = import->handleType == VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    const uint32_t type = info->memoryTypeIndex;
    if (opaque ? info->allocationSize != head->size : info->allocationSize > head->size) {
        sim_violate(device->gpu, SIM_FN_vkAllocateMemory, MAAR_SIMULATED_VIOLATION_SHARING,
                    "allocationSize %llu, but the memory was exported with %llu",
                    (unsigned long long)info->allocationSize, (unsigned long long)head->size);
        return false;
    }
    if (opaque ? type != head->type
               : type >= 32 || (sim_dma_buf_types(device->gpu) >> type & 1u) == 0) {
        sim_violate(device->gpu, SIM_FN_vkAllocateMemory, MAAR_SIMULATED_VIOLATION_SHARING,
                    "memoryTypeIndex %u, but the memory was exported with %u, or "
                    "vkGetMemoryFdPropertiesKHR does not list the type",
                    type, head->type);
        return false;
    }
    if (opaque && dedicated && head->dedicated == 0) {
        sim_violate(device->gpu, SIM_FN_vkAllocateMemory, MAAR_SIMULATED_VIOLATION_DEDICATED,
                    "the memory was not exported from a dedicated allocation");
    }
    return true;
}

static VkResult sim_import_read(struct sim_device* device, const VkMemoryAllocateInfo* info,
                                bool dedicated, struct sim_share* share)
{
    const VkImportMemoryFdInfoKHR* import = sim_import_of(info);
    struct sim_file_head head;
    struct sim_file file;
    uint64_t size = 0;
    if (import == NULL) {
        return VK_SUCCESS;
    }
    const VkFlags type = (VkFlags)import->handleType;
    if (!sim_share_is_enabled(device, type)) {
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
    if (!sim_share_can(device->gpu, type, VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) ||
        share->export_types != 0) {
        sim_violate(device->gpu, SIM_FN_vkAllocateMemory, MAAR_SIMULATED_VIOLATION_SHARING,
                    "handle type 0x%x cannot be imported here, or cannot be exported again", type);
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
    if (!sim_file_accept(device, SIM_FN_vkAllocateMemory, import->fd, type, &head, &size, &file) ||
        !sim_is_memory_file(&head, size)) {
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
    if ((device->gpu->flags & MAAR_SIMULATED_NO_MEMORY_FOR_WRONG_TYPE_BIT) != 0 &&
        type == VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT &&
        info->memoryTypeIndex != head.type) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    if (!sim_import_fits(device, info, import, &head, dedicated)) {
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
    share->import_type = type;
    share->file = file;
    return VK_SUCCESS;
}

VkResult sim_share_read(struct sim_device* device, const VkMemoryAllocateInfo* info, bool dedicated,
                        struct sim_share* share)
{
    sim_export_read(device, info, dedicated, share);
    return sim_import_read(device, info, dedicated, share);
}

/* Creates the file of a memory unless it exists. */
static bool sim_share_open(struct sim_memory* memory)
{
    if (memory->share.file.open) {
        return true;
    }
    struct sim_file_head head =
        sim_file_head_of(memory->object.device, SIM_FILE_MEMORY, memory->share.export_types);
    head.size = memory->size;
    head.type = memory->type;
    head.dedicated = memory->dedicated != 0 ? 1 : 0;
    return sim_file_create(memory->size + SIM_FILE_PAGE + SIM_FILE_TAIL, &head, sizeof(head),
                           &memory->share.file);
}

bool sim_share_back(struct sim_memory* memory, void* pages)
{
    return sim_share_open(memory) &&
           sim_file_map(&memory->share.file, SIM_FILE_PAGE, (size_t)memory->size, pages);
}

void sim_share_forget(struct sim_memory* memory)
{
    if (!sim_file_close(&memory->share.file)) {
        sim_violate(memory->object.device->gpu, SIM_FN_vkFreeMemory,
                    MAAR_SIMULATED_VIOLATION_SHARING,
                    "another owner closed a descriptor that belongs to the driver");
    }
}

void sim_share_check_bind(const struct sim_resource* resource, const struct sim_memory* memory,
                          enum sim_function function)
{
    const struct sim_share* share = &memory->share;
    if (share->export_types != 0 && (share->export_types & resource->external_types) == 0) {
        sim_violate(memory->object.device->gpu, function, MAAR_SIMULATED_VIOLATION_SHARING,
                    "the memory may be exported as 0x%x, and the resource was created with none of "
                    "these types",
                    share->export_types);
    }
    if (share->import_type != 0 && (share->import_type & resource->external_types) == 0) {
        sim_violate(
            memory->object.device->gpu, function, MAAR_SIMULATED_VIOLATION_SHARING,
            "the memory was imported as 0x%x, and the resource was not created for that type",
            share->import_type);
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_get_memory_fd(VkDevice device,
                                                        const VkMemoryGetFdInfoKHR* pGetFdInfo,
                                                        int* pFd)
{
    struct sim_device* d = SIM_DEVICE(device);
    *pFd = -1;
    VkResult result = sim_enter(d->gpu, d, SIM_FN_vkGetMemoryFdKHR);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = VK_ERROR_VALIDATION_FAILED_EXT;
    sim_lock_gpu(d->gpu);
    struct sim_memory* memory =
        sim_object_get(d, SIM_FN_vkGetMemoryFdKHR, SIM_HANDLE(pGetFdInfo->memory), SIM_KIND_MEMORY);
    const VkFlags type = (VkFlags)pGetFdInfo->handleType;
    if (memory != NULL && (memory->share.export_types & type) == 0) {
        sim_violate(d->gpu, SIM_FN_vkGetMemoryFdKHR, MAAR_SIMULATED_VIOLATION_SHARING,
                    "handle type 0x%x, but the memory was allocated for export as 0x%x", type,
                    memory->share.export_types);
    } else if (memory != NULL) {
        *pFd = sim_share_open(memory) ? sim_file_duplicate(&memory->share.file) : -1;
        result = *pFd >= 0 ? VK_SUCCESS : VK_ERROR_TOO_MANY_OBJECTS;
        d->gpu->counters.fdsExported += *pFd >= 0 ? 1 : 0;
    }
    sim_unlock_gpu(d->gpu);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL
sim_get_memory_fd_properties(VkDevice device, VkExternalMemoryHandleTypeFlagBits handleType, int fd,
                             VkMemoryFdPropertiesKHR* pMemoryFdProperties)
{
    struct sim_device* d = SIM_DEVICE(device);
    struct sim_file_head head;
    struct sim_file file;
    uint64_t size = 0;
    pMemoryFdProperties->memoryTypeBits = 0;
    VkResult result = sim_enter(d->gpu, d, SIM_FN_vkGetMemoryFdPropertiesKHR);
    if (result != VK_SUCCESS) {
        return result;
    }
    sim_lock_gpu(d->gpu);
    if (handleType != VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT) {
        sim_violate(d->gpu, SIM_FN_vkGetMemoryFdPropertiesKHR, MAAR_SIMULATED_VIOLATION_SHARING,
                    "this query does not apply to handle type 0x%x", (VkFlags)handleType);
        result = VK_ERROR_VALIDATION_FAILED_EXT;
    } else if (!sim_file_accept(d, SIM_FN_vkGetMemoryFdPropertiesKHR, fd, (VkFlags)handleType,
                                &head, &size, &file) ||
               !sim_is_memory_file(&head, size)) {
        result = VK_ERROR_INVALID_EXTERNAL_HANDLE;
    } else {
        pMemoryFdProperties->memoryTypeBits = sim_dma_buf_types(d->gpu);
    }
    sim_unlock_gpu(d->gpu);
    return result;
}

const struct sim_entry sim_export_entries[] = {
    SIM_ENTRY(vkGetMemoryFdKHR, sim_get_memory_fd),
    SIM_ENTRY(vkGetMemoryFdPropertiesKHR, sim_get_memory_fd_properties),
    {SIM_FN_COUNT, NULL},
};
