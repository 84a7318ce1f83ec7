/*
 * The slow path of an allocation. It tries memory types in order of preference, first within
 * budgets and then over them. In each type an allocation is dedicated (dedicated.h) or placed.
 * Placing tries existing blocks, then blocks with ranges that are no longer pending, then a new
 * block (block_growth.h). If everything fails, the observer (pfnOutOfMemory) is called. It may ask
 * for another attempt.
 */
#include "core/memory/allocate.h"
#include "core/memory/allocation_failure.h"

#include <stdio.h>

#include "core/chain.h"
#include "core/memory/allocator_state.h"
#include "core/memory/block_growth.h"
#include "core/memory/block_size.h"
#include "core/memory/dedicated.h"
#include "core/memory/default_pool.h"
#include "core/memory/draining.h"
#include "core/memory/export_types.h"
#include "core/memory/object_handle.h"
#include "core/memory/ordered_place.h"
#include "core/memory/ordered_use.h"
#include "core/memory/pool_kind.h"
#include "core/memory/pool_list.h"
#include "core/memory/range_free.h"
#include "core/memory/slot_home.h"
#include "core/time/retire_collect.h"

enum {
    /* How often a request is tried within budgets while other threads free something or make
     * blocks. */
    MOST_ATTEMPTS = 16,
    /* An ordered range of at least so many granules shares none: at most a 32nd is lost. */
    OWN_GRANULES = 64
};

/* The state of one request in the slow path. */
struct job {
    MaarAllocator allocator;
    const char* call; /* the public function, for messages */
    const MaarMemoryRequest* request;
    const MaarAllocationCreateInfo* info;
    const struct maar_place_request* general; /* the request as the caller made it */
    struct maar_place_request place;          /* the request as one memory type needs it */
    struct maar_place_request wide; /* that of an ordered request, with granules of its own */
    VkExternalMemoryHandleTypeFlags export_types; /* 0 if the caller gave a pool */
    struct maar_budget_use budgets;
    struct maar_type_choice choice;
    const MaarOrderedUseInfo* use; /* of an ordered request; else NULL */
    struct maar_patience* patience;
    VkDeviceSize block_size; /* of the smallest VkDeviceMemory of the first type that would serve */
    bool others_grow;        /* an attempt ended because of blocks that other threads were making */
};

/* Returns the least common multiple of two alignments, or 0 if it is out of bounds. If alignment is
 * 0, it was out of bounds before, and the result is 0. */
static VkDeviceSize align_more(VkDeviceSize alignment, VkDeviceSize more)
{
    return alignment != 0 ? maar_common_multiple(alignment, more, MAAR_RANGE_MAX_SIZE) : 0;
}

bool maar_shape_for_pool(const struct maar_place_request* general, const struct maar_pool* pool,
                         struct maar_place_request* place)
{
    place->size = general->size;
    place->alignment =
        maar_common_multiple(general->alignment, pool->min_alignment, MAAR_RANGE_MAX_SIZE);
    /* Two resources of unknown kind may be of different kinds, so each starts in a new granule. */
    if (place->kind == MAAR_RESOURCE_KIND_UNKNOWN) {
        place->alignment = align_more(place->alignment, pool->granularity);
    }
    if (pool->atom > 1) {
        place->alignment = align_more(place->alignment, pool->atom);
        place->size = maar_align_up(place->size, pool->atom);
    }
    place->size += pool->margin;
    return place->alignment != 0 && place->size < MAAR_RANGE_MAX_SIZE;
}

/* Whether another memory type, or another round, may succeed after this result. */
static bool is_shortage(VkResult result)
{
    return maar_driver_had_no_memory(result) || result == VK_ERROR_OUT_OF_POOL_MEMORY ||
           result == VK_ERROR_TOO_MANY_OBJECTS;
}

static VkResult place_now(struct maar_pool* pool, const struct maar_place_request* place,
                          bool patient, struct maar_made* made)
{
    if (!patient) {
        return maar_pool_result(maar_pool_place(pool, place, false, made), made);
    }
    /* Meanwhile no block moves from an arena to one where the search has been before. */
    maar_pool_begin_walk(pool);
    const VkResult result = maar_pool_result(maar_pool_place(pool, place, true, made), made);
    maar_pool_end_walk(pool);
    return result;
}

/* Called after a shortage. Looks for room in the arenas of all threads, and again each time a block
 * that another thread is making is listed or fails. Waits for as many blocks as are being made at
 * the start, and not for later ones, so that the function always returns. */
static VkResult wait_for_others(struct job* job, struct maar_pool* pool, VkResult shortage,
                                struct maar_made* made)
{
    uint32_t creating = 0;
    uint32_t turn = maar_pool_turn(pool, &creating);
    const uint32_t last = turn + creating;
    bool in_time = true;
    if (creating == 0 && !maar_pool_is_shared(pool)) {
        return shortage;
    }
    for (;;) {
        /* Decided before the search for room, so the last search sees every block that was listed
         * in time. */
        const bool is_last = creating == 0 || (int32_t)(turn - last) >= 0;
        const VkResult result = place_now(pool, &job->place, true, made);
        if (result != VK_ERROR_OUT_OF_POOL_MEMORY) {
            return result;
        }
        if (is_last || !in_time) {
            return shortage;
        }
        const uint64_t deadline = maar_patience_deadline(job->patience);
        in_time = maar_pool_wait(pool, turn, deadline);
        maar_patience_spend(job->patience, deadline);
        turn = maar_pool_turn(pool, &creating);
    }
}

/* Gives a large ordered request granules of its own, so that any kind can have its bytes next. */
static void widen_to_granules(struct job* job, const struct maar_pool* pool)
{
    job->place.apart = job->use != NULL;
    job->wide = job->place;
    if (job->use != NULL && pool->strategy == MAAR_PLACEMENT_STRATEGY_TLSF &&
        pool->granularity > 1 && job->place.size / pool->granularity >= OWN_GRANULES) {
        job->wide.alignment = align_more(job->place.alignment, pool->granularity);
        job->wide.size = maar_align_up(job->place.size, pool->granularity);
    }
}

static bool is_widened(const struct job* job)
{
    return job->wide.size != job->place.size || job->wide.alignment != job->place.alignment;
}

/* Serves an ordered request by a pending range. flags: enum maar_ordered_flag. Adds waits only if
 * the program has set a flag. Returns whether it did. */
static bool serve_ordered(struct job* job, struct maar_pool* pool, uint32_t flags,
                          MaarOrderedUseFlagBits waits_flag, struct maar_made* made)
{
    if (job->use == NULL) {
        return false;
    }
    const bool may_wait = (job->use->flags & (MaarOrderedUseFlags)waits_flag) != 0;
    const bool tries_all = (flags & MAAR_ORDERED_DIVIDE_ANY) != 0 && is_widened(job);
    bool is_served = false;
    for (uint32_t wait = 0; wait <= (may_wait ? 1u : 0u) && !is_served; ++wait) {
        const uint32_t how = flags | (wait != 0 ? (uint32_t)MAAR_ORDERED_ADD_WAITS : 0);
        is_served = maar_ordered_serve(pool, &job->wide, job->use, how, made) ||
                    (tries_all && maar_ordered_serve(pool, &job->place, job->use, how, made));
    }
    return is_served;
}

/* Places into existing blocks, then into ranges that are no longer pending, then into a new block.
 * The first attempt passes over arenas that other threads have locked: threads that wait for each
 * other's arenas would meet there again and again. Later attempts wait for these arenas, so a pool
 * does not grow because another thread reads its statistics. */
static VkResult place_or_grow(struct job* job, struct maar_pool* pool, struct maar_made* made)
{
    const struct maar_place_request* place = &job->place;
    struct maar_retire* retire = &job->allocator->retire;
    const uint32_t heap = 1u << pool->heap_index;
    const uint64_t seen = maar_retire_returned_in(retire, pool->heap_index);
    VkResult result = place_now(pool, &job->wide, false, made);
    if (result == VK_ERROR_OUT_OF_POOL_MEMORY && is_widened(job)) {
        result = place_now(pool, place, false, made);
    }
    if (result != VK_ERROR_OUT_OF_POOL_MEMORY) {
        return result;
    }
    if (maar_retire_reclaim(retire, heap, seen) || maar_pool_is_shared(pool)) {
        result = place_now(pool, place, true, made);
    }
    if (result == VK_ERROR_OUT_OF_POOL_MEMORY && maar_pool_revive(pool)) {
        result = place_now(pool, place, true, made);
    }
    if (result == VK_ERROR_OUT_OF_POOL_MEMORY &&
        serve_ordered(job, pool, MAAR_ORDERED_DIVIDE_ANY, MAAR_ORDERED_USE_MAY_ADD_WAITS_BIT,
                      made)) {
        return VK_SUCCESS;
    }
    const bool may_grow = (job->info->flags & MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT) == 0;
    if (result == VK_ERROR_OUT_OF_POOL_MEMORY && may_grow) {
        result = maar_pool_add_block(pool, place, &job->budgets, job->patience, made);
    }
    if (is_shortage(result) && may_grow && maar_pool_fits_fixed_block(pool, place)) {
        result = wait_for_others(job, pool, result, made);
    } else if (result == VK_ERROR_OUT_OF_POOL_MEMORY && maar_pool_is_shared(pool)) {
        result = place_now(pool, place, true, made);
    }
    return result;
}

/* Places, and after a shortage notes whether another thread is still making a block. That block may
 * take the last bytes of a heap and yet have room for this request. wait_for_others waits for as
 * many blocks to end, and these may be blocks that began later. Notes also whether the pool was
 * full only while another thread tried to make its last block: this request must try, too. */
static VkResult allocate_placed(struct job* job, struct maar_pool* pool, struct maar_made* made)
{
    const VkResult result = place_or_grow(job, pool, made);
    if (is_shortage(result) && job->patience->left_ns != 0) {
        const bool may_grow = (job->info->flags & MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT) == 0;
        job->others_grow |= maar_atomic32_load(&pool->creating_count) != 0;
        job->others_grow |= result == VK_ERROR_OUT_OF_POOL_MEMORY && may_grow &&
                            maar_pool_may_announce(pool, &job->place);
    }
    return result;
}

/* Notes the size for the report of a failure. */
static void note_block_size(struct job* job, const struct maar_pool* pool, bool dedicated)
{
    if (pool->type_index == maar_best_type(&job->choice)) {
        job->block_size =
            dedicated ? job->general->size : maar_pool_least_block(pool, job->place.size);
    }
}

static VkResult allocate_in_pool(struct job* job, struct maar_pool* pool, struct maar_made* made)
{
    if (!maar_shape_for_pool(job->general, pool, &job->place)) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    widen_to_granules(job, pool);
    bool must_be_dedicated =
        job->request->requiresDedicated == VK_TRUE || job->info->dedicated == MAAR_DEDICATED_ALWAYS;
    if (must_be_dedicated && (job->info->flags & MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT) != 0) {
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    }
    const bool dedicated = maar_wants_dedicated(job->request, job->info, pool);
    note_block_size(job, pool, dedicated);
    if (!must_be_dedicated &&
        serve_ordered(job, pool, 0, MAAR_ORDERED_USE_PREFER_WAITS_BIT, made)) {
        return VK_SUCCESS;
    }
    if (dedicated) {
        struct maar_place_request place = job->place;
        place.size = job->general->size;
        VkResult result =
            maar_allocate_dedicated(pool, job->request, job->info, &place, &job->budgets, made);
        bool may_share = !must_be_dedicated &&
                         (maar_driver_had_no_memory(result) || result == VK_ERROR_TOO_MANY_OBJECTS);
        if (!may_share) {
            return result;
        }
    }
    return allocate_placed(job, pool, made);
}

/* Returns the heaps (bits) where released memory helps after a shortage: any heap if the device has
 * too many VkDeviceMemory objects. */
static uint32_t heaps_of_shortage(VkResult shortage, uint32_t heaps)
{
    return shortage == VK_ERROR_TOO_MANY_OBJECTS ? UINT32_MAX : heaps;
}

/* Allocates in a pool. After a shortage of device memory, releases the empty page blocks, which no
 * pool can use, and tries again before another memory type is tried. */
static VkResult allocate_beside_pages(struct job* job, struct maar_pool* pool,
                                      struct maar_made* made)
{
    const bool may_grow = (job->info->flags & MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT) == 0;
    VkResult result = allocate_in_pool(job, pool, made);
    if (is_shortage(result) && result != VK_ERROR_OUT_OF_POOL_MEMORY && may_grow &&
        maar_trim_paging(job->allocator, NULL, heaps_of_shortage(result, 1u << pool->heap_index),
                         MAAR_ANY_AGE) > 0) {
        result = allocate_in_pool(job, pool, made);
    }
    return result;
}

/* Whether the VkDeviceMemory of an allocation was made for this allocation. */
static bool has_made_memory(MaarAllocator allocator, const struct maar_slot* slot)
{
    return slot->made_block || maar_slot_block(allocator, slot)->placement == NULL;
}

/* Returns what a request's memory of a type is made to be exported as: what the request asks for,
 * or what the allocator's default is for the program's own memory. The bytes of a movable object
 * must be able to move. */
static VkExternalMemoryHandleTypeFlags exports_of(const struct job* job, uint32_t type)
{
    const bool has_default =
        job->allocator->has_default_exports && job->export_types == 0 && !job->general->internal &&
        maar_chain_find(job->info->pNext, MAAR_STRUCTURE_TYPE_MOVABLE_INFO) == NULL;
    return has_default ? job->allocator->default_exports[type] : job->export_types;
}

/* Tries all candidate types once. */
static VkResult try_types(struct job* job, struct maar_made* made, bool* fallback)
{
    const struct maar_type_choice* choice = &job->choice;
    VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    bool first = true;
    for (uint32_t i = 0; i < choice->count; ++i) {
        const uint32_t type = choice->types[i];
        if ((choice->bits & (1u << type)) == 0) {
            continue;
        }
        struct maar_pool* pool = maar_pool_of(job->allocator, job->info->pool);
        VkResult attempt = VK_SUCCESS;
        if (pool == NULL) {
            const VkExternalMemoryHandleTypeFlags exports = exports_of(job, type);
            attempt =
                exports != 0
                    ? maar_pool_exporting(job->allocator, type, job->place.kind, exports, &pool)
                    : maar_pool_of_type(job->allocator, type, job->place.kind, &pool);
        }
        if (attempt == VK_SUCCESS) {
            attempt = allocate_beside_pages(job, pool, made);
        }
        if (first || !is_shortage(attempt)) {
            result = attempt;
        }
        if (!is_shortage(attempt)) {
            *fallback = attempt == VK_SUCCESS && !first;
            job->budgets.exceeded &=
                attempt == VK_SUCCESS && has_made_memory(job->allocator, made->slot);
            return result;
        }
        if ((job->info->flags & MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT) != 0) {
            return result;
        }
        first = false;
    }
    return result;
}

/* Whether some pool has an empty block in one of these heaps. */
static bool has_empty_blocks(MaarAllocator allocator, uint32_t heaps)
{
    bool any = false;
    for (uint32_t i = 0; i < allocator->device.facts.memory.memoryHeapCount; ++i) {
        any = any || ((heaps & (1u << i)) != 0 &&
                      maar_atomic64_load(&allocator->heaps[i].empty_bytes) != 0);
    }
    return any;
}

/* How often frees have returned bytes, and how often blocks have been released, by heap. */
struct returns {
    uint64_t bytes[VK_MAX_MEMORY_HEAPS];
    uint64_t blocks[VK_MAX_MEMORY_HEAPS];
};

/* Every request that looks in a pool reads these numbers, so it only copies them. */
static void read_returns(const struct MaarAllocator_T* allocator, struct returns* seen)
{
    for (uint32_t i = 0; i < allocator->device.facts.memory.memoryHeapCount; ++i) {
        seen->bytes[i] = maar_retire_returned_in(&allocator->retire, i);
        seen->blocks[i] = maar_leaving_ended(&allocator->leaving, i);
    }
}

/* The sum of some heaps (bits). */
static uint64_t sum_of_heaps(const struct MaarAllocator_T* allocator, const uint64_t* counts,
                             uint32_t heaps)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < allocator->device.facts.memory.memoryHeapCount; ++i) {
        sum += (heaps >> i & 1) != 0 ? counts[i] : 0;
    }
    return sum;
}

/* Frees ranges whose points have passed, and waits for what other threads are freeing in some
 * heaps: the bytes of objects that they destroy and, for a request that may make a block, blocks
 * that they release. These bytes are free by the program's count, although the driver does not know
 * it yet. Returns whether anything was freed in these heaps since `seen`. */
static bool wait_for_returns(MaarAllocator allocator, uint32_t heaps, bool may_grow,
                             const struct returns* seen, struct maar_patience* patience)
{
    const uint64_t deadline = maar_patience_deadline(patience);
    heaps &= (1u << allocator->device.facts.memory.memoryHeapCount) - 1; /* those that exist */
    const uint64_t bytes = sum_of_heaps(allocator, seen->bytes, heaps);
    const bool reclaimed = maar_retire_reclaim(&allocator->retire, heaps, bytes);
    maar_retire_wait_for_batches(&allocator->retire, heaps, deadline);
    if (may_grow) {
        maar_leaving_wait(&allocator->leaving, heaps, deadline);
    }
    maar_patience_spend(patience, deadline);
    struct returns now;
    read_returns(allocator, &now);
    const uint64_t before = sum_of_heaps(allocator, seen->blocks, heaps);
    return reclaimed || sum_of_heaps(allocator, now.bytes, heaps) != bytes ||
           (may_grow && sum_of_heaps(allocator, now.blocks, heaps) != before);
}

/* Releases the empty buffers of slices, the empty page blocks and the empty blocks in some heaps.
 * Returns the released bytes. */
static VkDeviceSize release_empty_in(MaarAllocator allocator, uint32_t heaps)
{
    VkDeviceSize released = maar_trim_slices(allocator, heaps, MAAR_ANY_AGE);
    released += maar_trim_paging(allocator, NULL, heaps, MAAR_ANY_AGE);
    if (has_empty_blocks(allocator, heaps)) {
        for (struct maar_pool* pool = maar_pool_next(allocator, NULL); pool != NULL;
             pool = maar_pool_next(allocator, pool)) {
            if ((heaps & (1u << pool->heap_index)) != 0) {
                released += maar_pool_trim(pool);
            }
        }
    }
    return released;
}

/* Releases what is empty where that helps after a shortage. If only the limit of a pool prevented a
 * block, that is this pool: another empty block of it may be too small. */
static VkDeviceSize release_empty(const struct job* job, VkResult shortage, uint32_t heaps)
{
    struct maar_pool* own = maar_pool_of(job->allocator, job->info->pool);
    return shortage == VK_ERROR_OUT_OF_POOL_MEMORY && own != NULL
               ? maar_pool_trim(own)
               : release_empty_in(job->allocator, heaps);
}

bool maar_make_room(MaarAllocator allocator, uint32_t heaps, struct maar_patience* patience)
{
    struct returns seen;
    read_returns(allocator, &seen);
    const bool returned = wait_for_returns(allocator, heaps, true, &seen, patience);
    return release_empty_in(allocator, heaps) > 0 || returned;
}

/* Returns the heaps (bits) of the candidate types. */
static uint32_t candidate_heaps(const struct job* job)
{
    const uint32_t types = maar_candidate_bits(&job->choice);
    uint32_t heaps = 0;
    for (uint32_t i = 0; i < job->allocator->device.facts.memory.memoryTypeCount; ++i) {
        heaps |= (types & (1u << i)) != 0 ? 1u << maar_type_heap(job->allocator, i) : 0;
    }
    return heaps;
}

/* Tries all candidate types once. After a shortage, frees and releases what it can, and sets *again
 * if that may have helped. */
static VkResult try_and_make_room(struct job* job, struct maar_made* made, bool* fallback,
                                  bool* again)
{
    const bool may_grow = (job->info->flags & MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT) == 0;
    struct returns seen;
    read_returns(job->allocator, &seen);
    job->others_grow = false;
    const VkResult result = try_types(job, made, fallback);
    *again = is_shortage(result);
    if (*again) {
        const uint32_t heaps = heaps_of_shortage(result, candidate_heaps(job));
        *again = wait_for_returns(job->allocator, heaps, may_grow, &seen, job->patience);
        *again |= job->others_grow;
        *again |= may_grow && release_empty(job, result, heaps) > 0;
    }
    return result;
}

/* Tries within budgets. After a shortage, frees and releases what it can and tries again. Other
 * threads may take what came free, so there are several attempts. If a budget was the reason and
 * the request may exceed it, tries a last time without budgets. */
static VkResult try_rounds(struct job* job, struct maar_made* made, bool* fallback)
{
    MaarAllocationCreateFlags flags = job->info->flags;
    job->budgets = (struct maar_budget_use){.may_exceed = false};
    const bool may_grow = (flags & MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT) == 0;
    VkResult result = VK_SUCCESS;
    bool again = true;
    for (uint32_t attempt = 0; again && attempt < MOST_ATTEMPTS; ++attempt) {
        result = try_and_make_room(job, made, fallback, &again);
    }
    if (may_grow && is_shortage(result) && job->budgets.refused &&
        (flags & MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT) == 0) {
        job->budgets.may_exceed = true;
        result = try_types(job, made, fallback);
    }
    return result;
}

static VkResult try_with_observer(struct job* job, struct maar_made* made, bool* fallback)
{
    MaarAllocator allocator = job->allocator;
    const bool wants_observer = !maar_is_trial(job->info) &&
                                (job->info->flags & MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT) == 0;
    for (uint32_t attempt = 0;; ++attempt) {
        VkResult result = try_rounds(job, made, fallback);
        if (!is_shortage(result) || allocator->out_of_memory == NULL || !wants_observer ||
            attempt == MAAR_MAX_OUT_OF_MEMORY_ATTEMPTS) {
            return result;
        }
        const MaarOutOfMemoryInfo report = {
            .sType = MAAR_STRUCTURE_TYPE_OUT_OF_MEMORY_INFO,
            .size = job->general->size,
            .memoryTypeBits = maar_candidate_bits(&job->choice),
            .memoryTypeIndex = maar_best_type(&job->choice),
            .heapIndex = maar_type_heap(allocator, maar_best_type(&job->choice)),
            .attempt = attempt,
            .result = result,
        };
        maar_lock_rank_expect_none();
        if (allocator->out_of_memory(allocator->out_of_memory_user_data, &report) != VK_TRUE) {
            return result;
        }
    }
}

/* Reports that a pool of the caller's cannot serve a request: its name, then the reason. */
static VkResult reject_pool(const struct job* job, const struct maar_pool* pool, MaarMessageId id,
                            const char* reason)
{
    maar_report(job->allocator, MAAR_MESSAGE_SEVERITY_ERROR, id, job->call, "pool %s %s",
                maar_quote(pool->name).text, reason);
    return VK_ERROR_VALIDATION_FAILED_EXT;
}

/* Checks that a pool of the caller's can serve the request, and reports why it cannot. Claims a
 * pool of one kind for the request. types: the handle types that MaarExportInfo names. */
static VkResult claim_pool(const struct job* job, struct maar_pool* pool,
                           VkExternalMemoryHandleTypeFlags types)
{
    const MaarAllocationCreateInfo* info = job->info;
    const uint32_t resource = job->request->requirements.memoryTypeBits;
    const uint32_t named = info->memoryTypeBits != 0 ? info->memoryTypeBits : UINT32_MAX;
    const VkMemoryPropertyFlags flags = maar_type_flags(job->allocator, pool->type_index);
    const bool visible = (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
    char reason[200];
    if ((types & ~pool->export_types) != 0) {
        return reject_pool(job, pool, MAAR_MESSAGE_ID_POOL_MISMATCH,
                           "was not made for some of the handle types that MaarExportInfo names");
    }
    if ((flags & info->requiredFlags) != info->requiredFlags) {
        (void)snprintf(reason, sizeof reason,
                       "has memory type %u alone, which lacks some of pCreateInfo->requiredFlags",
                       (unsigned)pool->type_index);
        return reject_pool(job, pool, MAAR_MESSAGE_ID_POOL_MISMATCH, reason);
    }
    if ((resource & named & (1u << pool->type_index)) == 0) {
        (void)snprintf(reason, sizeof reason,
                       "has memory type %u alone, and the memoryTypeBits of the resource are 0x%X, "
                       "those of pCreateInfo 0x%X",
                       (unsigned)pool->type_index, (unsigned)resource, (unsigned)named);
        return reject_pool(job, pool, MAAR_MESSAGE_ID_POOL_MISMATCH, reason);
    }
    if ((info->flags & MAAR_ALLOCATION_CREATE_MAPPED_BIT) != 0 && !visible) {
        (void)snprintf(reason, sizeof reason,
                       "has memory type %u alone, which is not HOST_VISIBLE, and "
                       "pCreateInfo->flags has MAAR_ALLOCATION_CREATE_MAPPED_BIT",
                       (unsigned)pool->type_index);
        return reject_pool(job, pool, MAAR_MESSAGE_ID_NOT_MAPPABLE, reason);
    }
    if (!maar_pool_claim_kind(pool, job->request->kind)) {
        return reject_pool(job, pool, MAAR_MESSAGE_ID_POOL_MISMATCH,
                           job->request->kind == MAAR_RESOURCE_KIND_OPTIMAL
                               ? "has singleKind and holds buffers and linear images; this is an "
                                 "image of optimal tiling"
                               : "has singleKind and holds images of optimal tiling; this is a "
                                 "buffer or a linear image");
    }
    return VK_SUCCESS;
}

/* Fills in the candidate types: the type of the caller's pool, or the ranking of all types. Checks
 * the request against the pool and against the enabled extensions. */
static VkResult choose(struct job* job)
{
    struct maar_pool* pool = maar_pool_of(job->allocator, job->info->pool);
    const uint32_t bits = job->request->requirements.memoryTypeBits;
    const VkResult known =
        maar_pool_require_own(job->allocator, job->call, "pCreateInfo->pool", job->info->pool);
    if (known != VK_SUCCESS) {
        return known;
    }
    const VkExternalMemoryHandleTypeFlags types = maar_export_types(job->allocator, job->info);
    if (pool == NULL && types != 0) {
        VkResult result = maar_shared_types_require(job->allocator, job->call, types);
        if (result != VK_SUCCESS) {
            return result;
        }
        job->export_types = types;
    }
    if (pool == NULL) {
        if (maar_choose_types(job->allocator, bits, job->info, &job->choice)) {
            return VK_SUCCESS;
        }
        maar_report_no_type(job->allocator, job->call, bits, job->info);
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    const VkResult fits = claim_pool(job, pool, types);
    if (fits != VK_SUCCESS) {
        return fits;
    }
    job->choice.bits = 1u << pool->type_index;
    job->choice.count = 1;
    job->choice.own[0] = (uint8_t)pool->type_index;
    job->choice.types = job->choice.own;
    return VK_SUCCESS;
}

/* Reports a request that failed for lack of memory, unless its caller expects the failure. */
static void report_failure(const struct job* job, VkResult result)
{
    const MaarAllocationCreateFlags flags = job->info->flags;
    if (!is_shortage(result) || maar_is_without_report(job->info)) {
        return;
    }
    const bool strict = (flags & MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT) != 0;
    const struct maar_allocation_failure failure = {
        .call = job->call,
        .reason = MAAR_FAILURE_REASONS,
        .name = job->general->name,
        .size = job->general->size,
        .block_size = job->block_size,
        .result = result,
        .type_index = maar_best_type(&job->choice),
        .type_bits = strict ? 0 : maar_candidate_bits(&job->choice),
        .pool = maar_pool_of(job->allocator, job->info->pool),
        .only_budget = job->budgets.refused && !job->budgets.may_exceed,
    };
    maar_report_allocation_failure(job->allocator, &failure);
}

VkResult maar_allocate_slowly(MaarAllocator allocator, const char* call,
                              const MaarMemoryRequest* request,
                              const MaarAllocationCreateInfo* info,
                              const struct maar_place_request* general,
                              struct maar_patience* patience, struct maar_made* made,
                              struct maar_deviation* deviation)
{
    struct job job = {
        .allocator = allocator,
        .call = call,
        .request = request,
        .info = info,
        .general = general,
        .place = *general,
        .use = info->pNext != NULL ? maar_ordered_use_find(info->pNext) : NULL,
        .patience = patience,
    };
    VkResult result = choose(&job);
    if (result == VK_SUCCESS) {
        result = try_with_observer(&job, made, &deviation->fallback);
        report_failure(&job, result);
        if (result != VK_SUCCESS && info->pool != VK_NULL_HANDLE) {
            maar_pool_disclaim_kind(maar_pool_of(allocator, info->pool), request->kind);
        }
    }
    if (result == VK_SUCCESS) {
        deviation->exceeded = job.budgets.exceeded;
        deviation->best_type = maar_best_type(&job.choice);
    }
    return result;
}
