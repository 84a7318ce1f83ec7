/*
 * The plans of recent inputs. A slot has the whole input as bytes beside its hash, so that a match
 * means the same input, not only the same hash.
 *
 * One lock synchronizes the cache. Under the lock no code allocates, frees or calls back.
 */
#include "core/plan/plan_cache.h"

#include "core/host_memory.h"
#include "core/plan/plan_result.h"
#include "core/port_thread.h"

#include <string.h>

enum { DEFAULT_PLAN_COUNT = 16, MAX_PLAN_COUNT = 4096 };

struct slot {
    MaarPlan plan; /* NULL: empty */
    void* bytes;
    size_t size;
    uint64_t hash;
    uint64_t used_at;
};

struct MaarPlanCache_T {
    struct maar_mutex mutex; /* guards the contents of the slots, and the clock */
    struct slot* slots;
    uint32_t slot_count;
    uint64_t clock;
    VkAllocationCallbacks callbacks;
    bool has_callbacks;
};

static const VkAllocationCallbacks* cache_callbacks(MaarPlanCache cache)
{
    return cache->has_callbacks ? &cache->callbacks : NULL;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreatePlanCache(const MaarPlanCacheCreateInfo* pCreateInfo,
                                                   MaarPlanCache* pCache)
{
    if (pCache != NULL) {
        *pCache = VK_NULL_HANDLE;
    }
    if (pCache == NULL || pCreateInfo == NULL ||
        pCreateInfo->sType != MAAR_STRUCTURE_TYPE_PLAN_CACHE_CREATE_INFO ||
        pCreateInfo->maxPlanCount > MAX_PLAN_COUNT) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const VkAllocationCallbacks* callbacks = pCreateInfo->pAllocationCallbacks;
    if (!maar_host_callbacks_serve(callbacks)) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const uint32_t slot_count =
        pCreateInfo->maxPlanCount != 0 ? pCreateInfo->maxPlanCount : DEFAULT_PLAN_COUNT;
    MaarPlanCache cache = maar_host_calloc(callbacks, 1, sizeof *cache);
    if (cache == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    cache->slots = maar_host_calloc(callbacks, slot_count, sizeof *cache->slots);
    if (cache->slots == NULL || !maar_mutex_init(&cache->mutex, MAAR_LOCK_PLANS, true)) {
        maar_host_free(callbacks, cache->slots);
        maar_host_free(callbacks, cache);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    cache->slot_count = slot_count;
    if (callbacks != NULL) {
        cache->callbacks = *callbacks;
        cache->has_callbacks = true;
    }
    *pCache = cache;
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL maarDestroyPlanCache(MaarPlanCache cache)
{
    if (cache == VK_NULL_HANDLE) {
        return;
    }
    const bool has_callbacks = cache->has_callbacks;
    const VkAllocationCallbacks callbacks = cache->callbacks;
    const VkAllocationCallbacks* used = has_callbacks ? &callbacks : NULL;
    for (uint32_t i = 0; i < cache->slot_count; ++i) {
        if (cache->slots[i].plan != NULL) {
            maar_plan_release(cache->slots[i].plan);
            maar_host_free(used, cache->slots[i].bytes);
        }
    }
    maar_mutex_destroy(&cache->mutex);
    maar_host_free(used, cache->slots);
    maar_host_free(used, cache);
}

static struct slot* find_slot(MaarPlanCache cache, const struct maar_plan_key_bytes* key)
{
    for (uint32_t i = 0; i < cache->slot_count; ++i) {
        struct slot* slot = &cache->slots[i];
        if (slot->plan != NULL && slot->hash == key->hash && slot->size == key->size &&
            memcmp(slot->bytes, key->bytes, key->size) == 0) {
            return slot;
        }
    }
    return NULL;
}

MaarPlan maar_plan_cache_find(MaarPlanCache cache, const struct maar_plan_key_bytes* key)
{
    MaarPlan plan = VK_NULL_HANDLE;
    maar_mutex_lock(&cache->mutex);
    struct slot* slot = find_slot(cache, key);
    if (slot != NULL) {
        plan = slot->plan;
        slot->used_at = ++cache->clock;
        maar_plan_retain(plan);
    }
    maar_mutex_unlock(&cache->mutex);
    return plan;
}

void maar_plan_cache_keep(MaarPlanCache cache, const struct maar_plan_key_bytes* key, MaarPlan plan)
{
    struct slot unwanted = {
        .plan = maar_plan_copy(plan, cache_callbacks(cache)),
        .bytes = maar_host_alloc(cache_callbacks(cache), key->size),
        .size = key->size,
        .hash = key->hash,
    };
    if (unwanted.plan != VK_NULL_HANDLE && unwanted.bytes != NULL) {
        memcpy(unwanted.bytes, key->bytes, key->size);
        maar_mutex_lock(&cache->mutex);
        if (find_slot(cache, key) == NULL) {
            struct slot* oldest = &cache->slots[0];
            for (uint32_t i = 1; i < cache->slot_count; ++i) {
                oldest = cache->slots[i].used_at < oldest->used_at ? &cache->slots[i] : oldest;
            }
            const struct slot old = *oldest;
            *oldest = unwanted;
            oldest->used_at = ++cache->clock;
            unwanted = old;
        }
        maar_mutex_unlock(&cache->mutex);
    }
    if (unwanted.plan != VK_NULL_HANDLE) {
        maar_plan_release(unwanted.plan);
    }
    maar_host_free(cache_callbacks(cache), unwanted.bytes);
}

/* Words that are written one after another. */
struct writer {
    uint64_t* words; /* NULL: only count them */
    size_t count;
};

static void write_word(struct writer* writer, uint64_t word)
{
    if (writer->words != NULL) {
        writer->words[writer->count] = word;
    }
    ++writer->count;
}

static void write_resource(struct writer* writer, const MaarPlanResource* resource)
{
    write_word(writer, resource->size);
    write_word(writer, resource->alignment);
    write_word(writer, resource->memoryTypeBits | (uint64_t)resource->flags << 32);
    write_word(writer, (uint64_t)resource->kind | (uint64_t)resource->useCount << 32);
    const bool fixed = (resource->flags & MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT) != 0;
    write_word(writer, fixed ? resource->fixedOffset : 0);
    if (resource->useCount == 0) {
        write_word(writer, resource->firstPass | (uint64_t)resource->lastPass << 32);
    }
    const bool keeps = (resource->flags & MAAR_PLAN_RESOURCE_NO_ALIASING_BIT) != 0;
    for (uint32_t k = 0; k < resource->useCount && !keeps; ++k) {
        write_word(writer, resource->pUses[k]);
    }
}

static void write_previous(struct writer* writer, const MaarPlanCreateInfo* info)
{
    const struct MaarPlan_T* previous = info->previous;
    write_word(writer, previous->info.resourceCount);
    for (uint32_t i = 0; i < previous->info.resourceCount; ++i) {
        const MaarPlanPlacement* placement = &previous->placements[i];
        write_word(writer, placement->offset);
        write_word(writer, previous->classes[placement->classIndex].memoryTypeBits);
    }
    for (uint32_t i = 0; i < info->previousIndexCount; ++i) {
        write_word(writer, info->pPreviousIndices[i]);
    }
}

static void write_input(struct writer* writer, const MaarPlanCreateInfo* info)
{
    write_word(writer, info->flags | (uint64_t)info->resourceCount << 32);
    write_word(writer, info->passCount | (uint64_t)info->dependencyCount << 32);
    write_word(writer, info->granularity);
    write_word(writer, info->capacity);
    write_word(writer, info->nodeLimit);
    write_word(writer, info->timeLimit_ns);
    write_word(writer, info->hostMemoryLimit);
    write_word(writer, (info->pPassQueues != NULL) | (uint64_t)(info->previous != NULL) << 1 |
                           (uint64_t)info->previousIndexCount << 32);
    for (uint32_t i = 0; i < info->resourceCount; ++i) {
        write_resource(writer, &info->pResources[i]);
    }
    for (uint32_t i = 0; info->pPassQueues != NULL && i < info->passCount; ++i) {
        write_word(writer, info->pPassQueues[i]);
    }
    for (uint32_t i = 0; i < info->dependencyCount; ++i) {
        write_word(writer,
                   info->pDependencies[i].before | (uint64_t)info->pDependencies[i].after << 32);
    }
    if (info->previous != NULL) {
        write_previous(writer, info);
    }
}

VkResult maar_plan_write_key(const MaarPlanCreateInfo* info, struct maar_host_stack* stack,
                             struct maar_plan_key_bytes* key)
{
    struct writer writer = {0};
    write_input(&writer, info);
    writer.words = maar_stack_grab(stack, writer.count, sizeof *writer.words);
    if (writer.words == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    writer.count = 0;
    write_input(&writer, info);
    /* FNV-1a over words, with the high half mixed in after each. */
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < writer.count; ++i) {
        hash = (hash ^ writer.words[i]) * 0x100000001B3u;
        hash ^= hash >> 32;
    }
    *key = (struct maar_plan_key_bytes){
        .bytes = writer.words, .size = writer.count * sizeof *writer.words, .hash = hash};
    return VK_SUCCESS;
}
