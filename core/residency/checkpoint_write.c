/*
 * Writes the contents of residents to a checkpoint (checkpoint_file.h). Waits for the device.
 */
#include "core/residency/checkpoint_file.h"
#include "core/residency/residency_tiers.h"

#include "core/memory/allocator_state.h"
#include "core/residency/residency_work.h"

/* Attempts that bring nothing nearer. After the first one nothing waits for its points any more. */
enum { FRUITLESS_SAVES = 3 };

/* Does what stands in the way of a copy to the host, until nothing more helps. Places that a use
 * expects are given up, since no use comes before the end. */
static VkResult save_patiently(struct maar_residency* it, const char* call,
                               struct maar_resident* resident)
{
    uint32_t number = maar_resident_number(it, resident);
    uint32_t done = 0;
    uint32_t fruitless = 0;
    VkResult result = VK_NOT_READY;
    it->is_patient = true;
    while (result == VK_NOT_READY && fruitless < FRUITLESS_SAVES) {
        const uint64_t progress = maar_work_progress(it);
        result =
            maar_residency_save(it, call, 1, &number, true, MAAR_RESIDENCY_REASON_REQUEST, &done);
        if (result == VK_NOT_READY) {
            (void)maar_work_run(it, UINT32_MAX);
            (void)maar_work_wait(it);
            const bool is_lost = !maar_work_take(it, call);
            const VkResult waited = maar_copies_wait(it);
            result = is_lost ? VK_ERROR_DEVICE_LOST : waited != VK_SUCCESS ? waited : result;
            (void)maarWaitPending(it->allocator, UINT64_MAX);
            fruitless = maar_work_progress(it) != progress ? 0 : fruitless + 1;
        }
    }
    it->is_patient = false;
    return result;
}

/* Adds what the host object of a resident has. */
static VkResult add_host(struct maar_residency* it, struct maar_checkpoint_file* file,
                         struct maar_resident* resident)
{
    maar_resident_wait(it, resident);
    VkResult result =
        maarInvalidateAllocation(it->allocator, resident->host_allocation, 0, VK_WHOLE_SIZE);
    if (result == VK_SUCCESS) {
        result = maar_checkpoint_add(file, resident->key, resident->host_data,
                                     (size_t)resident->content_size);
    }
    if (result == VK_SUCCESS && maar_copies_are_lost(it)) {
        --file->entry_count; /* the bytes may have been anything */
        result = VK_ERROR_DEVICE_LOST;
    }
    return result;
}

/* Adds what is compressed or in the file. */
static VkResult add_lower(struct maar_residency* it, struct maar_checkpoint_file* file,
                          const struct maar_resident* resident)
{
    const size_t size = (size_t)resident->content_size;
    void* bytes = maar_host_alloc(it->allocator->callbacks, size);
    VkResult result =
        bytes != NULL ? maar_work_read(it, resident, bytes) : VK_ERROR_OUT_OF_HOST_MEMORY;
    if (result == VK_SUCCESS) {
        result = maar_checkpoint_add(file, resident->key, bytes, size);
    } else if (result == VK_ERROR_UNKNOWN) {
        result = VK_INCOMPLETE;
    }
    maar_host_free(it->allocator->callbacks, bytes);
    return result;
}

/* Adds a resident. Returns VK_INCOMPLETE if its contents cannot be had. */
static VkResult add_resident(struct maar_residency* it, const char* call,
                             struct maar_checkpoint_file* file, struct maar_resident* resident)
{
    const bool is_lower = maar_resident_has(resident, MAAR_TIER_COMPRESSED) ||
                          maar_resident_has(resident, MAAR_TIER_FILE);
    VkResult result = VK_SUCCESS;
    if (is_lower) {
        return add_lower(it, file, resident);
    }
    if (it->is_lost) {
        return VK_INCOMPLETE;
    }
    if (!maar_resident_has(resident, MAAR_TIER_HOST)) {
        result = save_patiently(it, call, resident);
    }
    if (result == VK_SUCCESS) {
        result = add_host(it, file, resident);
    }
    if (result == VK_ERROR_DEVICE_LOST) {
        it->is_lost = true;
    }
    return result == VK_ERROR_DEVICE_LOST || result == VK_NOT_READY ? VK_INCOMPLETE : result;
}

static VkResult add_residents(struct maar_residency* it, const char* call,
                              struct maar_checkpoint_file* file, MaarCheckpointInfo* info)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < it->resident_count && result == VK_SUCCESS; ++i) {
        struct maar_resident* resident = &it->residents[i];
        if (!maar_resident_exists(resident) || resident->key == 0 || resident->valid == 0 ||
            maar_resident_has(resident, MAAR_TIER_SOURCE)) {
            continue;
        }
        result = add_resident(it, call, file, resident);
        if (result == VK_SUCCESS) {
            ++info->entryCount;
            info->contentSize += resident->content_size;
        } else if (result == VK_INCOMPLETE) {
            ++info->missingCount;
            result = VK_SUCCESS;
        }
    }
    return result;
}

static VkResult write_checkpoint(struct maar_residency* it, const char* call,
                                 const MaarFileStore* store, MaarCheckpointInfo* info)
{
    struct maar_checkpoint_file file;
    uint64_t twice = 0;
    VkResult result = maar_checkpoint_init(&file, store, &it->codec, it->allocator->callbacks);
    if (result != VK_SUCCESS) {
        return maar_fail(it->allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                         MAAR_MESSAGE_ID_OUT_OF_RANGE, call,
                         "pFileStore lacks a function, or has an alignment (%llu) that cannot be",
                         (unsigned long long)store->alignment);
    }
    result = maar_copies_poll(it);
    it->is_lost = result == VK_ERROR_DEVICE_LOST;
    if (result != VK_SUCCESS && !it->is_lost) {
        return result;
    }
    it->is_lost = !maar_work_take(it, call) || it->is_lost;
    result = maar_checkpoint_begin(&file);
    /* Host memory may be full of contents that can go nowhere: one more block is needed for what is
     * on the device. */
    const VkDeviceSize budget = it->host.budget;
    const VkDeviceSize held = maar_tier_memory_bytes(&it->host);
    it->host.budget = (held > budget ? held : budget) + budget / 8 + 8 * it->largest;
    if (result == VK_SUCCESS) {
        result = add_residents(it, call, &file, info);
    }
    it->host.budget = budget;
    if (result == VK_SUCCESS) {
        result = maar_checkpoint_end(&file, &twice);
    }
    if (twice != 0) {
        (void)maar_fail(it->allocator, result, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, call,
                        "residency has two residents with the key %llu", (unsigned long long)twice);
    }
    if (it->is_lost) {
        (void)maarCollect(it->allocator, NULL); /* nothing waits for a lost device */
    }
    info->fileSize = file.end;
    maar_checkpoint_free(&file);
    return result == VK_SUCCESS && info->missingCount > 0 ? VK_INCOMPLETE : result;
}

static VkResult check_and_write(struct maar_residency* it, const char* call,
                                const MaarFileStore* store, MaarCheckpointInfo* info)
{
    MaarCheckpointInfo written = {.sType = MAAR_STRUCTURE_TYPE_CHECKPOINT_INFO};
    VkResult result = maar_check_structure(it->allocator, call, "pFileStore", store,
                                           MAAR_STRUCTURE_TYPE_FILE_STORE);
    if (result == VK_SUCCESS && info != NULL) {
        result = maar_check_structure(it->allocator, call, "pInfo", info,
                                      MAAR_STRUCTURE_TYPE_CHECKPOINT_INFO);
    }
    if (result == VK_SUCCESS && it->info.useCount > 0) {
        result = maar_misuse(it->allocator, MAAR_MESSAGE_ID_USE_NOT_ENDED, call,
                             "residency has uses that have neither ended nor been cancelled");
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    result = write_checkpoint(it, call, store, &written);
    if (info != NULL) {
        written.pNext = info->pNext;
        *info = written;
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarWriteCheckpoint(MaarAllocator allocator, MaarResidency residency,
                                                   const MaarFileStore* pFileStore,
                                                   MaarCheckpointInfo* pInfo)
{
    struct maar_residency* it = NULL;
    VkResult result = maar_residency_enter(allocator, __func__, residency, &it);
    if (result == VK_SUCCESS) {
        result = check_and_write(it, __func__, pFileStore, pInfo);
        maar_residency_leave(it);
    }
    return result;
}
