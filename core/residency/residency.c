/*
 * Creates and destroys managers of residents, and answers questions about them.
 */
#include "core/residency/residency_copies.h"

#include "core/bound_check.h"
#include "core/device_calls.h"
#include "core/memory/allocator_state.h"
#include "core/memory/queue_index.h"
#include "core/paging/paging_open.h"
#include "core/residency/policy_order.h"
#include "core/residency/policy_table.h"
#include "core/residency/residency_tiers.h"
#include "core/residency/residency_work.h"
#include "core/residency/resident_pages.h"
#include "core/residency/store_ring.h"
#include "maar/ordered.h"

/* ---- creation ---- */

static VkResult check_manager_info(MaarAllocator allocator, const char* call,
                                   const MaarResidencyCreateInfo* info)
{
    VkResult result = maar_check_structure(allocator, call, "pCreateInfo", info,
                                           MAAR_STRUCTURE_TYPE_RESIDENCY_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    const MaarResidencyCreateFlags known = MAAR_RESIDENCY_CREATE_CHECK_READS_BIT;
    if ((info->flags & ~known) != 0) {
        return maar_refuse_flags(allocator, call, "pCreateInfo->flags",
                                 "MaarResidencyCreateFlagBits", info->flags & ~known);
    }
    result = maar_check_queue_index(allocator, call, "pCreateInfo->queueIndex", info->queueIndex);
    if (result == VK_SUCCESS && !allocator->device.facts.timeline_semaphore) {
        return maar_fail(allocator, VK_ERROR_FEATURE_NOT_PRESENT,
                         MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, call,
                         "residents need timelineSemaphore among "
                         "MaarAllocatorCreateInfo::pEnabledFeatures; the device must have it "
                         "enabled");
    }
    if (result == VK_SUCCESS) {
        result =
            maar_require_functions(allocator, &allocator->device, call, MAAR_FUNCTIONS_READBACKS);
    }
    return result;
}

static VkResult open_lower_tiers(struct maar_residency* it, const MaarResidencyCreateInfo* info)
{
    const struct maar_store_info store = {
        .file = info->pFileStore,
        .callbacks = it->allocator->callbacks,
        .synchronized = true,
    };
    MaarCompressor standard = {.sType = MAAR_STRUCTURE_TYPE_COMPRESSOR};
    const MaarCompressor* compressor = info->pCompressor;
    if (compressor == NULL &&
        maarGetCompressor(MAAR_COMPRESSION_DEFAULT, &standard) == VK_SUCCESS) {
        compressor = &standard;
    }
    if (!maar_codec_init(&it->codec, compressor)) {
        return maar_misuse(it->allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, "maarCreateResidency",
                           "pCreateInfo->pCompressor lacks a function or a name");
    }
    const VkResult result =
        info->pFileStore != NULL ? maar_store_create(&store, &it->store) : VK_SUCCESS;
    return result != VK_ERROR_VALIDATION_FAILED_EXT
               ? result
               : maar_fail(it->allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                           MAAR_MESSAGE_ID_OUT_OF_RANGE, "maarCreateResidency",
                           "pCreateInfo->pFileStore lacks a function, or has a size (%s) or an "
                           "alignment (%llu) that cannot be",
                           maar_show_bytes(info->pFileStore->size).text,
                           (unsigned long long)info->pFileStore->alignment);
}

static VkResult open_parts(struct maar_residency* it, const MaarResidencyCreateInfo* info)
{
    const struct maar_policy_info policy = {.callbacks = it->allocator->callbacks,
                                            .capacity = it->device.budget};
    it->policy = maar_policy_create(&policy);
    if (it->policy == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (info->pName != NULL) {
        it->name = maar_copy_string(it->allocator->callbacks, info->pName);
        if (it->name == NULL) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    VkResult result = maar_table_open(it, "maarCreateResidency", info);
    if (result == VK_SUCCESS) {
        result = open_lower_tiers(it, info);
    }
    if (result == VK_SUCCESS) {
        result = maar_copy_stream_open(&it->copies);
    }
    if (result == VK_SUCCESS) {
        /* Bytes that are freed from now on can be placed before their points have passed. */
        const MaarSubmissionInfo none = {.sType = MAAR_STRUCTURE_TYPE_SUBMISSION_INFO};
        result = maarDeclareSubmission(it->allocator, &none);
    }
    return result;
}

static void free_parts(struct maar_residency* it)
{
    const VkAllocationCallbacks* callbacks = it->allocator->callbacks;
    maar_copy_stream_close(&it->copies);
    maar_store_destroy(it->store);
    maar_policy_destroy(it->policy);
    maar_host_free(callbacks, it->name);
    maar_host_free(callbacks, it->residents);
    maar_host_free(callbacks, it->scratch);
    maar_host_free(callbacks, it->victims);
    maar_host_free(callbacks, it->missing);
    maar_host_free(callbacks, it->by_policy);
    for (uint32_t i = 0; i < it->use_count; ++i) {
        maar_host_free(callbacks, it->uses[i].items);
    }
    maar_host_free(callbacks, it->uses);
    maar_work_close(it);
    maar_host_free(callbacks, it);
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateResidency(MaarAllocator allocator,
                                                   const MaarResidencyCreateInfo* pCreateInfo,
                                                   MaarResidency* pResidency)
{
    const struct maar_output outputs[] = {{"pResidency", pResidency, sizeof *pResidency}, {0}};
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result == VK_SUCCESS) {
        result = check_manager_info(allocator, __func__, pCreateInfo);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_residency* it = maar_host_calloc(allocator->callbacks, 1, sizeof *it);
    if (it == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    it->allocator = allocator;
    it->copies.allocator = allocator;
    if (!maar_work_open(it)) {
        maar_host_free(allocator->callbacks, it);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    const uint32_t family = allocator->queues[pCreateInfo->queueIndex].familyIndex;
    it->checks_reads = (pCreateInfo->flags & MAAR_RESIDENCY_CREATE_CHECK_READS_BIT) != 0;
    it->event = pCreateInfo->pfnEvent;
    it->user_data = pCreateInfo->pUserData;
    it->copies.queue_index = pCreateInfo->queueIndex;
    it->queue_flags =
        family < MAAR_MAX_QUEUE_FAMILIES ? allocator->device.facts.queue_flags[family] : 0;
    it->first_free = MAAR_NO_OBJECT;
    it->first_free_use = MAAR_NO_OBJECT;
    for (uint32_t i = 0; i < MAAR_RESIDENT_LISTS; ++i) {
        it->lists[i].oldest = MAAR_NO_OBJECT;
        it->lists[i].newest = MAAR_NO_OBJECT;
    }
    it->prefetch_first = MAAR_NO_OBJECT;
    it->device = (struct maar_tier_memory){.allocator = allocator, .name = "residents"};
    it->host = (struct maar_tier_memory){.allocator = allocator, .name = "residents' copies"};
    it->device_limit = pCreateInfo->deviceBudget;
    it->device.budget =
        it->device_limit == 0 ? maar_residency_available(it) : pCreateInfo->deviceBudget;
    it->host.budget = pCreateInfo->hostBudget != 0 ? pCreateInfo->hostBudget : it->device.budget;
    it->packed_budget = pCreateInfo->compressedBudget;
    result = open_parts(it, pCreateInfo);
    if (result == VK_SUCCESS) {
        result = maar_object_open(allocator, MAAR_OBJECT_RESIDENCY, it, &it->handle);
    }
    if (result != VK_SUCCESS) {
        free_parts(it);
        return result;
    }
    *pResidency = MAAR_FROM_BITS(MaarResidency, it->handle);
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL maarDestroyResidency(MaarAllocator allocator, MaarResidency residency)
{
    struct maar_residency* it = NULL;
    MaarPoint points[MAAR_MAX_POINTS];
    if (allocator == NULL || residency == VK_NULL_HANDLE ||
        maar_residency_find(allocator, __func__, residency, &it) != VK_SUCCESS ||
        maar_object_claim(allocator, __func__, "residency", MAAR_TO_BITS(residency)) !=
            VK_SUCCESS) {
        return;
    }
    if (it->info.useCount > 0) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_USE_NOT_ENDED, __func__,
                    "%u uses of %s have neither ended nor been cancelled",
                    (unsigned)it->info.useCount, maar_quote(it->name).text);
    }
    (void)maar_work_wait(it);
    for (uint32_t i = 0; i < it->timeline_count; ++i) {
        points[i] = (MaarPoint){it->timelines[i].semaphore, it->timelines[i].latest};
    }
    if (it->timeline_count > 0) {
        (void)maarWaitPoints(allocator, it->timeline_count, points, UINT64_MAX);
    }
    (void)maar_copies_wait(it);
    (void)maar_copies_poll(it);
    for (uint32_t i = 0; i < it->resident_count; ++i) {
        if (maar_resident_exists(&it->residents[i])) {
            maar_resident_end(it, __func__, &it->residents[i]);
        }
    }
    (void)maar_work_take(it, __func__);
    (void)maar_pages_submit(it, NULL);
    if (it->has_binds || it->bound.value != 0) {
        maar_paging_let_go(allocator, it->copies.timeline);
    }
    (void)maarCollect(allocator, NULL);
    maar_tier_memory_close(&it->device);
    maar_tier_memory_close(&it->host);
    (void)maarForgetTimeline(allocator, it->copies.timeline);
    free_parts(it);
}

/* ---- questions ---- */

static void count_tiers(const struct maar_residency* it, MaarResidencyInfo* info)
{
    for (uint32_t i = 0; i < it->resident_count; ++i) {
        const struct maar_resident* resident = &it->residents[i];
        const VkDeviceSize bytes[MAAR_TIER_COUNT] = {
            [MAAR_TIER_NONE] = resident->request.requirements.size,
            [MAAR_TIER_DEVICE] = resident->request.requirements.size,
            [MAAR_TIER_HOST] = resident->host_request.requirements.size,
            [MAAR_TIER_COMPRESSED] = resident->packed_size,
            [MAAR_TIER_FILE] = resident->content_size,
        };
        if (!maar_resident_exists(resident)) {
            continue;
        }
        ++info->residentCount;
        for (uint32_t tier = 0; tier < MAAR_TIER_COUNT; ++tier) {
            const bool is_there =
                tier == MAAR_TIER_NONE ? resident->valid == 0 : maar_resident_has(resident, tier);
            info->tiers[tier].residentCount += is_there ? 1 : 0;
            info->tiers[tier].residentSize += is_there ? bytes[tier] : 0;
        }
    }
}

static void answer_transfers(struct maar_store* store, MaarFileTransfers* made)
{
    const struct maar_file_counts counts = maar_store_get_counts(store);
    made->path = maar_store_has_ring(store) ? MAAR_FILE_TRANSFER_PATH_IO_URING
                                            : MAAR_FILE_TRANSFER_PATH_THREADS;
    made->threadCount = counts.thread_count;
    made->threadSize = counts.thread_size;
    made->systemCount = counts.ring_count;
    made->systemSize = counts.ring_size;
}

static void answer_info(struct maar_residency* it, MaarResidencyInfo* info)
{
    void* next = info->pNext;
    *info = it->info;
    info->sType = MAAR_STRUCTURE_TYPE_RESIDENCY_INFO;
    info->pNext = next;
    info->workCount = maar_work_count(it);
    MaarTierInfo* tiers = info->tiers;
    tiers[MAAR_TIER_DEVICE].budget = it->device.budget;
    tiers[MAAR_TIER_DEVICE].size = maar_tier_memory_bytes(&it->device);
    tiers[MAAR_TIER_DEVICE].peakSize = it->device.peak;
    tiers[MAAR_TIER_HOST].budget = it->host.budget;
    tiers[MAAR_TIER_HOST].size = maar_tier_memory_bytes(&it->host);
    tiers[MAAR_TIER_HOST].peakSize = it->host.peak;
    tiers[MAAR_TIER_COMPRESSED].budget = it->packed_budget;
    tiers[MAAR_TIER_COMPRESSED].size = it->packed_size;
    if (it->store != NULL) {
        const struct maar_store_totals totals = maar_store_get_totals(it->store);
        tiers[MAAR_TIER_FILE].budget = totals.used + totals.free;
        tiers[MAAR_TIER_FILE].size = totals.used;
        answer_transfers(it->store, &info->fileTransfers);
    }
    count_tiers(it, info);
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetResidencyInfo(MaarAllocator allocator,
                                                    MaarResidency residency,
                                                    MaarResidencyInfo* pInfo)
{
    struct maar_residency* it = NULL;
    VkResult result = maar_residency_enter(allocator, __func__, residency, &it);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_check_structure(allocator, __func__, "pInfo", pInfo,
                                  MAAR_STRUCTURE_TYPE_RESIDENCY_INFO);
    if (result == VK_SUCCESS) {
        answer_info(it, pInfo);
    }
    maar_residency_leave(it);
    return result;
}

/* ---- budgets ---- */

static VkResult set_budget(struct maar_residency* it, const char* call, MaarTier tier,
                           VkDeviceSize budget)
{
    const VkDeviceSize least = tier == MAAR_TIER_HOST     ? 2 * it->largest
                               : tier == MAAR_TIER_DEVICE ? it->largest
                                                          : 0;
    const bool follows = tier == MAAR_TIER_DEVICE && budget == 0;
    const struct maar_bound bounds[] = {
        {tier < MAAR_TIER_DEVICE || tier > MAAR_TIER_COMPRESSED, MAAR_MESSAGE_ID_INVALID_ENUM,
         "tier has no budget that can be set", MAAR_SHOW_NUMBER((uint32_t)tier)},
        {!follows && budget < least, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "budget does not hold the largest resident, or for MAAR_TIER_HOST not twice",
         MAAR_SHOW_BYTES(budget, least)},
        {0},
    };
    const VkResult result = maar_check_bounds(it->allocator, call, bounds);
    if (result != VK_SUCCESS) {
        return result;
    }
    switch (tier) {
    case MAAR_TIER_DEVICE:
        it->device_limit = budget;
        it->steps = (struct maar_budget_steps){.wait = 0};
        maar_residency_set_budget(it, follows ? maar_residency_available(it) : budget);
        break;
    case MAAR_TIER_HOST:
        it->host.budget = budget;
        break;
    default:
        it->packed_budget = budget;
        break;
    }
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarSetResidencyBudget(MaarAllocator allocator,
                                                      MaarResidency residency, MaarTier tier,
                                                      VkDeviceSize budget)
{
    struct maar_residency* it = NULL;
    VkResult result = maar_residency_enter(allocator, __func__, residency, &it);
    if (result == VK_SUCCESS) {
        result = set_budget(it, __func__, tier, budget);
        maar_residency_leave(it);
    }
    return result;
}

/* ---- work ---- */

VKAPI_ATTR VkResult VKAPI_CALL maarWorkResidency(MaarAllocator allocator, MaarResidency residency,
                                                 uint32_t maxCount, uint32_t* pDone)
{
    struct maar_residency* it = NULL;
    if (pDone != NULL) {
        *pDone = 0;
    }
    const VkResult result = maar_residency_find(allocator, __func__, residency, &it);
    if (result != VK_SUCCESS) {
        return result;
    }
    const uint32_t done = maar_work_run(it, maxCount != 0 ? maxCount : UINT32_MAX);
    if (pDone != NULL) {
        *pDone = done;
    }
    return maar_work_count(it) > 0 ? VK_INCOMPLETE : VK_SUCCESS;
}
