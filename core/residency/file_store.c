/*
 * The default file store and sources: files of the system as tables of functions.
 */
#include "core/residency/file_store.h"

#include "core/bits.h"
#include "core/host_memory.h"
#include "core/port_disk.h"

/* All of MaarFileStoreOpenFlagBits. */
#define KNOWN_OPEN_FLAGS                                                                           \
    ((MaarFileStoreOpenFlags)MAAR_FILE_STORE_OPEN_EXISTING_BIT |                                   \
     (MaarFileStoreOpenFlags)MAAR_FILE_STORE_OPEN_KEEP_BIT |                                       \
     (MaarFileStoreOpenFlags)MAAR_FILE_STORE_OPEN_CACHED_BIT |                                     \
     (MaarFileStoreOpenFlags)MAAR_FILE_STORE_OPEN_THREADS_BIT)
#define MOST_FILE_SIZE ((VkDeviceSize)1 << 48)

/* A file of the system, which a table's pUserData points to. */
struct opened_file {
    struct maar_disk disk;
    VkAllocationCallbacks callbacks;
    bool has_callbacks;
    bool is_for_threads; /* alone: the program wants no transfers by the system */
    void* view;          /* of a source, or NULL */
    size_t view_size;
};

static VkResult VKAPI_CALL read_opened(void* user, VkDeviceSize offset, size_t size, void* data)
{
    const struct opened_file* opened = user;
    return maar_disk_read(&opened->disk, offset, data, size) ? VK_SUCCESS : VK_ERROR_UNKNOWN;
}

static VkResult VKAPI_CALL write_opened(void* user, VkDeviceSize offset, size_t size, void* data)
{
    const struct opened_file* opened = user;
    return maar_disk_write(&opened->disk, offset, data, size) ? VK_SUCCESS : VK_ERROR_UNKNOWN;
}

static VkResult VKAPI_CALL sync_opened(void* user)
{
    const struct opened_file* opened = user;
    return maar_disk_sync(&opened->disk) ? VK_SUCCESS : VK_ERROR_UNKNOWN;
}

static struct opened_file* allocate_opened(const VkAllocationCallbacks* callbacks)
{
    struct opened_file* opened = maar_host_calloc(callbacks, 1, sizeof *opened);
    if (opened != NULL && callbacks != NULL) {
        opened->callbacks = *callbacks;
        opened->has_callbacks = true;
    }
    return opened;
}

static void free_opened(struct opened_file* opened)
{
    const VkAllocationCallbacks callbacks = opened->callbacks;
    maar_host_free(opened->has_callbacks ? &callbacks : NULL, opened);
}

static VkResult result_of_disk(enum maar_disk_outcome outcome)
{
    return outcome == MAAR_DISK_DONE   ? VK_SUCCESS
           : outcome == MAAR_DISK_FULL ? VK_ERROR_OUT_OF_POOL_MEMORY
                                       : VK_ERROR_INITIALIZATION_FAILED;
}

static bool is_opening_right(const MaarFileStoreOpenInfo* info)
{
    const bool exists =
        info != NULL && (info->flags & (VkFlags)MAAR_FILE_STORE_OPEN_EXISTING_BIT) != 0;
    return info != NULL && info->sType == MAAR_STRUCTURE_TYPE_FILE_STORE_OPEN_INFO &&
           info->pPath != NULL && (info->flags & ~KNOWN_OPEN_FLAGS) == 0 &&
           (info->size != 0 || exists) && info->size <= MOST_FILE_SIZE &&
           maar_host_callbacks_serve(info->pAllocationCallbacks);
}

VKAPI_ATTR VkResult VKAPI_CALL maarOpenFileStore(const MaarFileStoreOpenInfo* pInfo,
                                                 MaarFileStore* pStore)
{
    if (pStore == NULL || pStore->sType != MAAR_STRUCTURE_TYPE_FILE_STORE) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    *pStore = (MaarFileStore){.sType = pStore->sType, .pNext = pStore->pNext};
    if (!is_opening_right(pInfo)) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct opened_file* opened = allocate_opened(pInfo->pAllocationCallbacks);
    if (opened == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    const struct maar_disk_opening opening = {
        .path = pInfo->pPath,
        .size = maar_align_up(pInfo->size, MAAR_DISK_ALIGNMENT),
        .exists = (pInfo->flags & (VkFlags)MAAR_FILE_STORE_OPEN_EXISTING_BIT) != 0,
        .is_kept = (pInfo->flags & (VkFlags)MAAR_FILE_STORE_OPEN_KEEP_BIT) != 0,
        .is_direct = (pInfo->flags & (VkFlags)MAAR_FILE_STORE_OPEN_CACHED_BIT) == 0,
    };
    VkResult result = result_of_disk(maar_disk_open(&opening, &opened->disk));
    VkDeviceSize size = opening.size;
    if (result == VK_SUCCESS && size == 0) {
        size = maar_disk_size(&opened->disk) & ~(VkDeviceSize)(MAAR_DISK_ALIGNMENT - 1);
        size = size < MOST_FILE_SIZE ? size : MOST_FILE_SIZE;
        if (size == 0) {
            maar_disk_close(&opened->disk);
            result = VK_ERROR_INITIALIZATION_FAILED;
        }
    }
    if (result != VK_SUCCESS) {
        free_opened(opened);
        return result;
    }
    opened->is_for_threads = (pInfo->flags & (VkFlags)MAAR_FILE_STORE_OPEN_THREADS_BIT) != 0;
    pStore->pUserData = opened;
    pStore->size = size;
    pStore->alignment = MAAR_DISK_ALIGNMENT;
    pStore->pfnRead = read_opened;
    pStore->pfnWrite = write_opened;
    pStore->pfnSync = sync_opened;
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL maarCloseFileStore(MaarFileStore* pStore)
{
    if (pStore == NULL || pStore->pfnRead != read_opened) {
        return;
    }
    struct opened_file* opened = pStore->pUserData;
    maar_disk_close(&opened->disk);
    free_opened(opened);
    *pStore = (MaarFileStore){.sType = pStore->sType, .pNext = pStore->pNext};
}

bool maar_file_store_has_ring(const MaarFileStore* store, intptr_t* file)
{
    const bool is_own = store->pfnRead == read_opened && store->pfnWrite == write_opened;
    const struct opened_file* opened = is_own ? store->pUserData : NULL;
    *file = is_own ? opened->disk.file.handle : -1;
    return is_own && !opened->is_for_threads;
}

VKAPI_ATTR VkResult VKAPI_CALL maarOpenFileSource(const char* pPath,
                                                  const VkAllocationCallbacks* pAllocationCallbacks,
                                                  MaarFileSource* pSource)
{
    if (pSource == NULL || pSource->sType != MAAR_STRUCTURE_TYPE_FILE_SOURCE) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    *pSource = (MaarFileSource){.sType = pSource->sType, .pNext = pSource->pNext};
    if (pPath == NULL || !maar_host_callbacks_serve(pAllocationCallbacks)) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct opened_file* opened = allocate_opened(pAllocationCallbacks);
    if (opened == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    const VkResult result = result_of_disk(maar_disk_open_source(pPath, &opened->disk));
    if (result != VK_SUCCESS) {
        free_opened(opened);
        return result;
    }
    pSource->size = maar_disk_size(&opened->disk);
    if (pSource->size != 0 && pSource->size <= SIZE_MAX / 2) {
        opened->view_size = (size_t)pSource->size;
        opened->view = maar_disk_map(&opened->disk, opened->view_size);
    }
    pSource->pUserData = opened;
    pSource->pBytes = opened->view;
    pSource->pfnRead = read_opened;
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL maarCloseFileSource(MaarFileSource* pSource)
{
    if (pSource == NULL || pSource->pfnRead != read_opened) {
        return;
    }
    struct opened_file* opened = pSource->pUserData;
    if (opened->view != NULL) {
        maar_file_unmap(opened->view, opened->view_size);
    }
    maar_disk_close(&opened->disk);
    free_opened(opened);
    *pSource = (MaarFileSource){.sType = pSource->sType, .pNext = pSource->pNext};
}
