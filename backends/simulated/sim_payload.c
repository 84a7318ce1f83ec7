/*
 * Semaphores that are exported and imported as file descriptors.
 *
 * From its first export or import on, such a semaphore has its value in a file. All semaphores that
 * share the value map the file, also those of other devices, instances and processes. A signal
 * wakes the waiting threads of the same physical device. Threads that wait elsewhere poll the value
 * every millisecond. Imports are permanent; the driver refuses temporary imports.
 */
#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_entries.h"
#include "backends/simulated/sim_share.h"
#include "backends/simulated/sim_sync.h"

#include <string.h>

enum { SIM_VALUE_OFFSET = 64 };

uint64_t sim_signal_value(const struct sim_signal* signal)
{
    return signal->pages != NULL ? sim_shared_load(signal->pages + SIM_VALUE_OFFSET)
                                 : signal->value;
}

void sim_signal_set(struct sim_signal* signal, uint64_t value)
{
    if (signal->pages != NULL) {
        sim_shared_store(signal->pages + SIM_VALUE_OFFSET, value);
    } else {
        signal->value = value;
    }
}

VkResult sim_payload_read(struct sim_device* device, const VkSemaphoreCreateInfo* info,
                          struct sim_signal* signal)
{
    const VkExportSemaphoreCreateInfo* export =
        sim_chain_find(info->pNext, VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO);
    const VkFlags opaque = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    if (export == NULL || export->handleTypes == 0) {
        return VK_SUCCESS;
    }
    if ((export->handleTypes & ~opaque) != 0 ||
        (sim_external_semaphore(device->gpu, signal->timeline,
                                VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT) &
         VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT) == 0) {
        sim_violate(device->gpu, SIM_FN_vkCreateSemaphore, MAAR_SIMULATED_VIOLATION_SHARING,
                    "%s semaphores cannot be exported as 0x%x here",
                    signal->timeline ? "timeline" : "binary", export->handleTypes);
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
    if ((device->extensions >> SIM_EXT_SEMAPHORE_FD & 1u) == 0) {
        sim_violate(device->gpu, SIM_FN_vkCreateSemaphore, MAAR_SIMULATED_VIOLATION_FEATURE,
                    "VK_KHR_external_semaphore_fd is not enabled");
    }
    signal->export_types = export->handleTypes;
    return VK_SUCCESS;
}

void sim_payload_forget(struct sim_signal* signal, enum sim_function function)
{
    if (signal->pages != NULL) {
        sim_pages_unmap(signal->pages, SIM_FILE_PAGE);
        signal->pages = NULL;
    }
    if (!sim_file_close(&signal->file)) {
        sim_violate(signal->object.device->gpu, function, MAAR_SIMULATED_VIOLATION_SHARING,
                    "another owner closed a descriptor that belongs to the driver");
    }
}

static uint8_t* sim_payload_map(const struct sim_file* file)
{
    uint8_t* pages = sim_pages_map(SIM_FILE_PAGE);
    if (pages != NULL && !sim_file_map(file, 0, SIM_FILE_PAGE, pages)) {
        sim_pages_unmap(pages, SIM_FILE_PAGE);
        return NULL;
    }
    return pages;
}

/* Moves the value of a semaphore into a file, unless a file already holds it. */
static bool sim_payload_open(struct sim_device* device, struct sim_signal* signal)
{
    if (signal->pages != NULL) {
        return true;
    }
    struct sim_file_head head = sim_file_head_of(
        device, signal->timeline ? SIM_FILE_TIMELINE : SIM_FILE_BINARY, signal->export_types);
    head.value = signal->value;
    head.semaphore = signal->object.handle;
    if (!sim_file_create(SIM_FILE_PAGE, &head, sizeof(head), &signal->file)) {
        return false;
    }
    signal->pages = sim_payload_map(&signal->file);
    if (signal->pages == NULL) {
        sim_file_close(&signal->file);
        return false;
    }
    return true;
}

static VKAPI_ATTR VkResult VKAPI_CALL
sim_get_semaphore_fd(VkDevice device, const VkSemaphoreGetFdInfoKHR* pGetFdInfo, int* pFd)
{
    struct sim_device* d = SIM_DEVICE(device);
    *pFd = -1;
    VkResult result = sim_enter(d->gpu, d, SIM_FN_vkGetSemaphoreFdKHR);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = VK_ERROR_VALIDATION_FAILED_EXT;
    sim_lock_gpu(d->gpu);
    struct sim_signal* signal = sim_object_get(
        d, SIM_FN_vkGetSemaphoreFdKHR, SIM_HANDLE(pGetFdInfo->semaphore), SIM_KIND_SEMAPHORE);
    const VkFlags type = (VkFlags)pGetFdInfo->handleType;
    if (signal != NULL && (signal->export_types & type) == 0) {
        sim_violate(d->gpu, SIM_FN_vkGetSemaphoreFdKHR, MAAR_SIMULATED_VIOLATION_SHARING,
                    "handle type 0x%x, but the semaphore was created for export as 0x%x", type,
                    signal->export_types);
    } else if (signal != NULL) {
        *pFd = sim_payload_open(d, signal) ? sim_file_duplicate(&signal->file) : -1;
        result = *pFd >= 0 ? VK_SUCCESS : VK_ERROR_TOO_MANY_OBJECTS;
        d->gpu->counters.fdsExported += *pFd >= 0 ? 1 : 0;
    }
    sim_unlock_gpu(d->gpu);
    return result;
}

/* Checks the rules of an import whose violation a real driver would not notice. Returns false when
 * the import is impossible. */
static bool sim_payload_check_import(struct sim_device* device, const struct sim_signal* signal,
                                     const VkImportSemaphoreFdInfoKHR* info)
{
    const bool importable =
        (sim_external_semaphore(device->gpu, signal->timeline, info->handleType) &
         VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT) != 0;
    if (!importable || (info->flags & VK_SEMAPHORE_IMPORT_TEMPORARY_BIT) != 0) {
        sim_violate(device->gpu, SIM_FN_vkImportSemaphoreFdKHR, MAAR_SIMULATED_VIOLATION_SHARING,
                    "handle type 0x%x cannot be imported to %s semaphores, or not temporarily",
                    (VkFlags)info->handleType, signal->timeline ? "timeline" : "binary");
        return false;
    }
    return true;
}

/* Replaces a semaphore's payload by that of a descriptor. Lock held. */
static VkResult sim_payload_import(struct sim_device* device,
                                   const VkImportSemaphoreFdInfoKHR* info)
{
    struct sim_signal* signal = sim_object_get(device, SIM_FN_vkImportSemaphoreFdKHR,
                                               SIM_HANDLE(info->semaphore), SIM_KIND_SEMAPHORE);
    struct sim_file_head head;
    struct sim_file file;
    uint64_t size = 0;
    if (signal == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (!sim_payload_check_import(device, signal, info) ||
        !sim_file_accept(device, SIM_FN_vkImportSemaphoreFdKHR, info->fd, (VkFlags)info->handleType,
                         &head, &size, &file) ||
        size != SIM_FILE_PAGE) {
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
    if (head.kind != (uint32_t)(signal->timeline ? SIM_FILE_TIMELINE : SIM_FILE_BINARY)) {
        sim_violate(device->gpu, SIM_FN_vkImportSemaphoreFdKHR, MAAR_SIMULATED_VIOLATION_SEMAPHORE,
                    "the payload is of another type than the semaphore");
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
    uint8_t* const pages = sim_payload_map(&file);
    if (pages == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    sim_payload_forget(signal, SIM_FN_vkImportSemaphoreFdKHR);
    signal->file = file;
    signal->pages = pages;
    device->gpu->counters.fdsImported++;
    sim_condition_wake_all(&device->gpu->progress);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
sim_import_semaphore_fd(VkDevice device, const VkImportSemaphoreFdInfoKHR* pImportSemaphoreFdInfo)
{
    struct sim_device* d = SIM_DEVICE(device);
    VkResult result = sim_enter(d->gpu, d, SIM_FN_vkImportSemaphoreFdKHR);
    if (result == VK_SUCCESS) {
        sim_lock_gpu(d->gpu);
        result = sim_payload_import(d, pImportSemaphoreFdInfo);
        sim_unlock_gpu(d->gpu);
    }
    if (result != VK_SUCCESS) {
        sim_import_failed(d->gpu, SIM_FN_vkImportSemaphoreFdKHR, pImportSemaphoreFdInfo->fd);
    }
    return result;
}

const struct sim_entry sim_payload_entries[] = {
    SIM_ENTRY(vkGetSemaphoreFdKHR, sim_get_semaphore_fd),
    SIM_ENTRY(vkImportSemaphoreFdKHR, sim_import_semaphore_fd),
    {SIM_FN_COUNT, NULL},
};
