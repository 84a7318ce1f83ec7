/*
 * Open checkpoints: they are listed and read, which needs neither a manager nor a device.
 */
#include "core/residency/open_checkpoint.h"

#include "core/host_memory.h"
#include "core/residency/checkpoint_file.h"

/* An open checkpoint. */
struct MaarCheckpoint_T {
    struct maar_checkpoint_file file;
};

VKAPI_ATTR VkResult VKAPI_CALL maarOpenCheckpoint(const MaarCheckpointOpenInfo* pOpenInfo,
                                                  MaarCheckpoint* pCheckpoint)
{
    MaarCompressor standard = {.sType = MAAR_STRUCTURE_TYPE_COMPRESSOR};
    struct maar_codec codec;
    if (pCheckpoint != NULL) {
        *pCheckpoint = VK_NULL_HANDLE;
    }
    if (pOpenInfo == NULL || pCheckpoint == NULL ||
        pOpenInfo->sType != MAAR_STRUCTURE_TYPE_CHECKPOINT_OPEN_INFO ||
        pOpenInfo->pFileStore == NULL ||
        !maar_host_callbacks_serve(pOpenInfo->pAllocationCallbacks)) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const MaarCompressor* compressor = pOpenInfo->pCompressor;
    if (compressor == NULL &&
        maarGetCompressor(MAAR_COMPRESSION_DEFAULT, &standard) == VK_SUCCESS) {
        compressor = &standard;
    }
    if (!maar_codec_init(&codec, compressor)) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    MaarCheckpoint made = maar_host_calloc(pOpenInfo->pAllocationCallbacks, 1, sizeof *made);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    VkResult result = maar_checkpoint_init(&made->file, pOpenInfo->pFileStore, &codec,
                                           pOpenInfo->pAllocationCallbacks);
    if (result == VK_SUCCESS) {
        result = maar_checkpoint_load(&made->file);
    }
    if (result != VK_SUCCESS) {
        maarCloseCheckpoint(made);
        return result;
    }
    *pCheckpoint = made;
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL maarCloseCheckpoint(MaarCheckpoint checkpoint)
{
    if (checkpoint != NULL) {
        const VkAllocationCallbacks* callbacks = checkpoint->file.callbacks;
        maar_checkpoint_free(&checkpoint->file);
        maar_host_free(callbacks, checkpoint);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarEnumerateCheckpoint(MaarCheckpoint checkpoint, uint32_t* pCount,
                                                       MaarCheckpointEntry* pEntries)
{
    if (checkpoint == NULL || pCount == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const uint32_t count = checkpoint->file.entry_count;
    const uint32_t room = pEntries != NULL ? *pCount : count;
    const uint32_t written = room < count ? room : count;
    for (uint32_t i = 0; pEntries != NULL && i < written; ++i) {
        const struct maar_checkpoint_entry* entry = &checkpoint->file.entries[i];
        pEntries[i] = (MaarCheckpointEntry){entry->key, entry->size};
    }
    *pCount = written;
    return written < count ? VK_INCOMPLETE : VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarReadCheckpoint(MaarCheckpoint checkpoint, uint64_t key,
                                                  VkDeviceSize size, void* pData)
{
    if (checkpoint == NULL || pData == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const struct maar_checkpoint_entry* entry = maar_checkpoint_find(&checkpoint->file, key);
    return entry == NULL || entry->size != size
               ? VK_ERROR_FEATURE_NOT_PRESENT
               : maar_checkpoint_get(&checkpoint->file, entry, pData);
}

bool maar_checkpoint_has(MaarCheckpoint checkpoint, uint64_t key, VkDeviceSize size)
{
    const struct maar_checkpoint_entry* entry =
        checkpoint != NULL ? maar_checkpoint_find(&checkpoint->file, key) : NULL;
    return entry != NULL && entry->size == size;
}
