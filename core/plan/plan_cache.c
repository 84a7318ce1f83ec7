/*
 * The plans of recent inputs. A slot has the whole input as bytes beside its hash, so that a match
 * means the same input, not only the same hash. Chains of slots by hash find an input in O(1), and
 * a list in the order of use knows the slot that gives way to a new plan.
 *
 * One lock synchronizes the cache. Under the lock no code allocates, frees or calls back.
 */
#include "core/plan/plan_cache.h"

#include "core/host_memory.h"
#include "core/plan/plan_result.h"
#include "core/plan/problem/plan_problem.h"
#include "core/port_thread.h"

#include <string.h>

enum { DEFAULT_PLAN_COUNT = 16, MAX_PLAN_COUNT = 4096 };

struct slot {
    MaarPlan plan; /* NULL: empty, and in no chain */
    void* bytes;
    size_t size;
    uint64_t hash;
    struct slot* chained; /* the next slot of the chain */
    struct slot* newer;   /* in the order of use */
    struct slot* older;
};

struct MaarPlanCache_T {
    struct maar_mutex mutex; /* guards the slots, the chains and the order of use */
    struct slot* slots;
    uint32_t slot_count;
    struct slot** chains;
    uint32_t chain_count; /* a power of two */
    struct slot* newest;  /* all slots, with empty ones last */
    struct slot* oldest;
    VkAllocationCallbacks callbacks;
    bool has_callbacks;
};

static const VkAllocationCallbacks* cache_callbacks(MaarPlanCache cache)
{
    return cache->has_callbacks ? &cache->callbacks : NULL;
}

/* Puts a slot that is in no order at the end of the newest one. */
static void put_newest(MaarPlanCache cache, struct slot* slot)
{
    slot->newer = NULL;
    slot->older = cache->newest;
    if (cache->newest != NULL) {
        cache->newest->newer = slot;
    } else {
        cache->oldest = slot;
    }
    cache->newest = slot;
}

/* Makes a slot the newest one. */
static void note_use(MaarPlanCache cache, struct slot* slot)
{
    if (slot == cache->newest) {
        return;
    }
    slot->newer->older = slot->older;
    if (slot->older != NULL) {
        slot->older->newer = slot->newer;
    } else {
        cache->oldest = slot->newer;
    }
    put_newest(cache, slot);
}

static struct slot** chain_of_hash(MaarPlanCache cache, uint64_t hash)
{
    return &cache->chains[hash & (cache->chain_count - 1)];
}

/* Takes a slot out of its chain. */
static void unchain(MaarPlanCache cache, const struct slot* slot)
{
    struct slot** link = chain_of_hash(cache, slot->hash);
    while (*link != slot) {
        link = &(*link)->chained;
    }
    *link = slot->chained;
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
    cache->slot_count = slot_count;
    cache->chain_count = 1;
    while (cache->chain_count < slot_count) {
        cache->chain_count *= 2;
    }
    cache->slots = maar_host_calloc(callbacks, slot_count, sizeof *cache->slots);
    cache->chains = maar_host_calloc(callbacks, cache->chain_count, sizeof(struct slot*));
    if (cache->slots == NULL || cache->chains == NULL ||
        !maar_mutex_init(&cache->mutex, MAAR_LOCK_PLANS, true)) {
        maar_host_free(callbacks, cache->chains);
        maar_host_free(callbacks, cache->slots);
        maar_host_free(callbacks, cache);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < slot_count; ++i) {
        put_newest(cache, &cache->slots[i]);
    }
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
    maar_host_free(used, cache->chains);
    maar_host_free(used, cache->slots);
    maar_host_free(used, cache);
}

static struct slot* find_slot(MaarPlanCache cache, const struct maar_plan_key_bytes* key)
{
    struct slot* slot = *chain_of_hash(cache, key->hash);
    while (slot != NULL && (slot->hash != key->hash || slot->size != key->size ||
                            memcmp(slot->bytes, key->bytes, key->size) != 0)) {
        slot = slot->chained;
    }
    return slot;
}

MaarPlan maar_plan_cache_find(MaarPlanCache cache, const struct maar_plan_key_bytes* key)
{
    MaarPlan plan = VK_NULL_HANDLE;
    maar_mutex_lock(&cache->mutex);
    struct slot* slot = find_slot(cache, key);
    if (slot != NULL) {
        plan = slot->plan;
        note_use(cache, slot);
        maar_plan_retain(plan);
    }
    maar_mutex_unlock(&cache->mutex);
    return plan;
}

/* Puts a plan and its input into the slot that was not used for the longest time. Returns the plan
 * and the input that were there. */
static struct slot replace_oldest(MaarPlanCache cache, const struct slot* wanted)
{
    struct slot* slot = cache->oldest;
    const struct slot old = *slot;
    if (old.plan != VK_NULL_HANDLE) {
        unchain(cache, slot);
    }
    slot->plan = wanted->plan;
    slot->bytes = wanted->bytes;
    slot->size = wanted->size;
    slot->hash = wanted->hash;
    struct slot** chain = chain_of_hash(cache, slot->hash);
    slot->chained = *chain;
    *chain = slot;
    note_use(cache, slot);
    return old;
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
            unwanted = replace_oldest(cache, &unwanted);
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
    write_word(writer, maar_plan_seed(info));
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
