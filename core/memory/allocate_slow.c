/*
 * The slow path of an allocation. It tries memory types in order of preference, first within
 * budgets and then over them. In each type an allocation is dedicated or placed. Placing tries
 * existing blocks, then blocks with ranges that are no longer pending, then a new block, and
 * smaller new blocks when the driver has no memory for a large one. If everything fails, the
 * observer is asked last.
 */
#include "core/memory/allocate.h"
#include "core/memory/allocator_state.h"
#include "core/memory/block_growth.h"
#include "core/memory/default_pool.h"
#include "core/memory/export_types.h"
#include "core/memory/pool_handle.h"
#include "core/memory/pool_kind.h"
#include "core/memory/pool_list.h"
#include "core/memory/range_free.h"
#include "core/memory/slot_home.h"
#include "core/time/retire_collect.h"

/* How often the size of a new block is halved after a failure, before the smallest useful size is
 * tried. */
enum { BLOCK_HALVINGS = 3 };

/* Bytes. In a pool that stitches, a request of this size or more that cannot be made of pages is
 * dedicated. */
#define LARGE_BESIDE_PAGES ((VkDeviceSize)1 << 20)

/* One request while it is served. */
struct job {
    MaarAllocator allocator;
    const char* call; /* the public function, for messages */
    const MaarMemoryRequest* request;
    const MaarAllocationCreateInfo* info;
    const struct maar_place_request* general; /* the request as the caller made it */
    struct maar_place_request place;          /* the request as one memory type needs it */
    float priority;
    VkExternalMemoryHandleTypeFlags export_types; /* 0 if the caller gave a pool */
    bool over_budget_allowed;                     /* true in the second round */
    bool refused_by_budget;                       /* only a budget prevented some step */
    bool exceeded;                                /* the allocation exceeded a budget */
    struct maar_type_choice choice;
};

/* Returns the least common multiple of two alignments. An alignment of 0 is out of bounds and stays
 * 0. */
static VkDeviceSize align_more(VkDeviceSize alignment, VkDeviceSize more)
{
    return alignment != 0 ? maar_common_multiple(alignment, more, MAAR_RANGE_MAX_SIZE) : 0;
}

/* Adapts the request to one memory type: non-coherent memory needs whole atoms. Returns false when
 * the size is out of bounds. */
static bool shape_for_pool(const struct maar_place_request* general, const struct maar_pool* pool,
                           struct maar_place_request* place)
{
    place->size = general->size;
    place->alignment =
        maar_common_multiple(general->alignment, pool->min_alignment, MAAR_RANGE_MAX_SIZE);
    /* Two resources of unknown kind may be of different kinds, so each starts a granule of its
     * own. */
    if (place->kind == MAAR_RESOURCE_KIND_UNKNOWN) {
        place->alignment = align_more(place->alignment, pool->granularity);
    }
    if (pool->atom > 1) {
        place->alignment = align_more(place->alignment, pool->atom);
        place->size = maar_align_up(place->size, pool->atom);
    }
    return place->alignment != 0 && place->size < MAAR_RANGE_MAX_SIZE;
}

/* Whether this round may ask for a new VkDeviceMemory of that size. Returns also the total of the
 * heap's blocks that the reservation may reach: the part of the budget that is ours, or no limit as
 * a last resort. The reservation checks that total, so two threads never use the same room. */
static bool budget_admits(struct job* job, uint32_t heap, VkDeviceSize size, VkDeviceSize* cap)
{
    struct maar_budget budget = maar_budget_read(job->allocator, heap);
    bool within = maar_budget_holds(&budget, size);
    *cap = job->over_budget_allowed ? UINT64_MAX : budget.cap;
    job->exceeded = !within && job->over_budget_allowed;
    if (!within && !job->over_budget_allowed) {
        job->refused_by_budget = true;
    }
    return within || job->over_budget_allowed;
}

/* Asks for exactly the size of the request, as Vulkan requires of memory dedicated to a resource.
 * Whole atoms do not matter here, because no other allocation shares the last atom. */
static VkResult allocate_dedicated(struct job* job, struct maar_pool* pool, struct maar_made* made)
{
    const MaarAllocationCreateFlags untying =
        (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT |
        (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_UNTIED_BIT;
    bool untied = (job->info->flags & untying) != 0 && job->request->requiresDedicated != VK_TRUE;
    struct maar_device_memory_info info = {
        .type_index = pool->type_index,
        .size = job->general->size,
        .priority = job->priority,
        .dedicated_buffer = untied ? VK_NULL_HANDLE : job->request->dedicatedBuffer,
        .dedicated_image = untied ? VK_NULL_HANDLE : job->request->dedicatedImage,
        .next = pool->allocate_next,
        .export_types = pool->export_types,
    };
    if (!budget_admits(job, pool->heap_index, job->general->size, &info.cap)) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    struct maar_place_request place = job->place;
    place.size = job->general->size;
    info.over_cap = &job->refused_by_budget;
    return maar_pool_result(maar_pool_place_dedicated(pool, &place, &info, made), made);
}

/* Whether an empty block of a pool with blocks of one size could hold the request. */
static bool fits_fixed_block(const struct maar_pool* pool, const struct maar_place_request* place)
{
    VkDeviceSize room = pool->fixed_size;
    if (pool->strategy == MAAR_PLACEMENT_STRATEGY_BUDDY) {
        while ((room & (room - 1)) != 0) {
            room &= room - 1;
        }
    }
    return pool->fixed_size == 0 || place->size <= room;
}

/* Whether the driver had no memory. RADV returns VK_ERROR_UNKNOWN when the kernel has no room for
 * page tables. */
static bool driver_had_no_memory(VkResult result)
{
    return result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_UNKNOWN;
}

/* Whether another memory type, or another round, may succeed after this result. */
static bool is_shortage(VkResult result)
{
    return driver_had_no_memory(result) || result == VK_ERROR_OUT_OF_POOL_MEMORY ||
           result == VK_ERROR_TOO_MANY_OBJECTS;
}

/* Attempts once to make a block of that size, or waits for a block that another thread is making.
 * Another thread may use up the budget between the check and the reservation; the attempt then
 * fails like any attempt that a budget prevents. */
static VkResult grow_or_share(struct job* job, struct maar_pool* pool, VkDeviceSize size,
                              VkDeviceSize cap, struct maar_made* made)
{
    enum maar_pool_outcome outcome = MAAR_POOL_NO_ROOM;
    do {
        outcome = maar_pool_grow(pool, &job->place, size, cap, &job->refused_by_budget, made);
        if (outcome == MAAR_POOL_WAIT) {
            maar_pool_wait(pool, made->turn);
        } else if (outcome != MAAR_POOL_CHANGED) {
            break;
        }
        outcome = maar_pool_place(pool, &job->place, true, made);
    } while (outcome == MAAR_POOL_NO_ROOM);
    return maar_pool_result(outcome, made);
}

static VkResult place_now(struct maar_pool* pool, const struct maar_place_request* place,
                          bool patient, struct maar_made* made)
{
    return maar_pool_result(maar_pool_place(pool, place, patient, made), made);
}

/* Makes a new block of the best size, or of a smaller size when the heap or the budget has no room
 * for that. */
static VkResult allocate_block(struct job* job, struct maar_pool* pool,
                               const struct maar_place_request* place, struct maar_made* made)
{
    VkDeviceSize least = 0;
    VkDeviceSize size = maar_pool_next_size(pool, place, &least);
    if (least < place->size || !fits_fixed_block(pool, place)) {
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    }
    if (job->over_budget_allowed && !maar_device_count_is_high(job->allocator)) {
        /* Over budget the block is small, but large enough for more than one object. */
        VkDeviceSize modest = maar_pool_modest_size(pool);
        size = size < modest ? size : (modest > least ? modest : least);
    }
    for (uint32_t halving = 0;; ++halving) {
        VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
        VkDeviceSize cap = 0;
        if (budget_admits(job, pool->heap_index, size, &cap)) {
            result = grow_or_share(job, pool, size, cap, made);
        }
        if (!driver_had_no_memory(result) || size == least) {
            return result;
        }
        size /= 2;
        if (size < least || halving >= BLOCK_HALVINGS) {
            size = least;
        }
    }
}

/* After a shortage: looks for room in the arenas of other threads and in the blocks that they are
 * making now, each as soon as it is listed. Blocks that are begun later are left out, so that the
 * function returns. */
static VkResult wait_for_others(struct maar_pool* pool, const struct maar_place_request* place,
                                VkResult shortage, struct maar_made* made)
{
    uint32_t creating = 0;
    uint32_t turn = maar_pool_turn(pool, &creating);
    const uint32_t last = turn + creating;
    if (creating == 0 && !maar_arena_set_is_divided(&pool->arenas)) {
        return shortage;
    }
    for (;;) {
        /* Read before the look, which sees every block that was listed by then. */
        const bool is_last = creating == 0 || (int32_t)(turn - last) >= 0;
        const enum maar_pool_outcome outcome = maar_pool_place(pool, place, true, made);
        if (outcome != MAAR_POOL_NO_ROOM) {
            return maar_pool_result(outcome, made);
        }
        if (is_last) {
            return shortage;
        }
        maar_pool_wait(pool, turn);
        turn = maar_pool_turn(pool, &creating);
    }
}

/* Places into existing blocks, then into ranges that are no longer pending, then into a new block.
 * Only then it waits for blocks that other threads use: threads that wait for each other's blocks
 * would meet there again and again. */
static VkResult allocate_placed(struct job* job, struct maar_pool* pool, struct maar_made* made)
{
    const struct maar_place_request* place = &job->place;
    struct maar_retire* retire = &job->allocator->retire;
    const uint64_t seen = maar_atomic64_load(&retire->returned_count);
    VkResult result = place_now(pool, place, false, made);
    if (result != VK_ERROR_OUT_OF_POOL_MEMORY) {
        return result;
    }
    if (maar_retire_reclaim(retire, seen)) {
        result = place_now(pool, place, true, made);
    }
    const bool may_grow = (job->info->flags & MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT) == 0;
    if (result == VK_ERROR_OUT_OF_POOL_MEMORY && may_grow) {
        result = allocate_block(job, pool, place, made);
    }
    if (is_shortage(result) && may_grow && fits_fixed_block(pool, place)) {
        result = wait_for_others(pool, place, result, made);
    } else if (result == VK_ERROR_OUT_OF_POOL_MEMORY && maar_arena_set_is_divided(&pool->arenas)) {
        result = place_now(pool, place, true, made);
    }
    return result;
}

static inline bool wants_dedicated(MaarAllocator allocator, const MaarMemoryRequest* request,
                                   const MaarAllocationCreateInfo* info,
                                   const struct maar_pool* pool)
{
    MaarDedicated mode = info->dedicated;
    if (request->requiresDedicated == VK_TRUE || mode == MAAR_DEDICATED_ALWAYS) {
        return true;
    }
    /* Blocks beside pages are small: a block made for a large request would serve no other
     * request. */
    const bool preferred =
        mode == MAAR_DEDICATED_PREFERRED ||
        (pool->stitches && request->requirements.size >= LARGE_BESIDE_PAGES) ||
        (!pool->custom && (request->prefersDedicated == VK_TRUE ||
                           request->requirements.size >= pool->preferred_size / 2));
    return preferred && mode != MAAR_DEDICATED_NEVER &&
           (info->flags & MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT) == 0 &&
           !maar_device_count_is_high(allocator);
}

static VkResult allocate_in_pool(struct job* job, struct maar_pool* pool, struct maar_made* made)
{
    if (!shape_for_pool(job->general, pool, &job->place)) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    bool must_be_dedicated =
        job->request->requiresDedicated == VK_TRUE || job->info->dedicated == MAAR_DEDICATED_ALWAYS;
    if (must_be_dedicated && (job->info->flags & MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT) != 0) {
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    }
    if (wants_dedicated(job->allocator, job->request, job->info, pool)) {
        VkResult result = allocate_dedicated(job, pool, made);
        bool may_share = !must_be_dedicated &&
                         (driver_had_no_memory(result) || result == VK_ERROR_TOO_MANY_OBJECTS);
        if (!may_share) {
            return result;
        }
    }
    return allocate_placed(job, pool, made);
}

/* Whether the VkDeviceMemory of an allocation was made for it. */
static bool has_made_memory(const struct maar_slot* slot)
{
    return slot->made_block || maar_slot_block(slot)->placement == NULL;
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
            attempt = job->export_types != 0
                          ? maar_pool_exporting(job->allocator, type, job->place.kind,
                                                job->export_types, &pool)
                          : maar_pool_of_type(job->allocator, type, job->place.kind, &pool);
        }
        if (attempt == VK_SUCCESS) {
            attempt = allocate_in_pool(job, pool, made);
        }
        if (first || !is_shortage(attempt)) {
            result = attempt;
        }
        if (!is_shortage(attempt)) {
            *fallback = attempt == VK_SUCCESS && !first;
            job->exceeded = job->exceeded && attempt == VK_SUCCESS && has_made_memory(made->slot);
            return result;
        }
        if ((job->info->flags & MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT) != 0) {
            return result;
        }
        first = false;
    }
    return result;
}

/* Frees ranges whose points have passed, and gives back the empty blocks of the candidates' heaps.
 * Returns whether that released anything. */
static bool release_empty(const struct job* job)
{
    MaarAllocator allocator = job->allocator;
    uint32_t heaps = 0;
    VkDeviceSize released = 0;
    uint32_t types = maar_candidate_bits(&job->choice);
    for (uint32_t i = 0; i < allocator->device.facts.memory.memoryTypeCount; ++i) {
        heaps |= (types & (1u << i)) != 0 ? 1u << maar_type_heap(allocator, i) : 0;
    }
    const uint64_t seen = maar_atomic64_load(&allocator->retire.returned_count);
    const bool reclaimed = maar_retire_reclaim(&allocator->retire, seen);
    released += maar_trim_paging(allocator, NULL);
    for (struct maar_pool* pool = maar_pool_next(allocator, NULL); pool != NULL;
         pool = maar_pool_next(allocator, pool)) {
        if ((heaps & (1u << pool->heap_index)) != 0) {
            released += maar_pool_trim(pool);
        }
    }
    return reclaimed || released > 0;
}

/* Tries within budgets, tries again after empty blocks are given back, and exceeds a budget as a
 * last resort. */
static VkResult try_rounds(struct job* job, struct maar_made* made, bool* fallback)
{
    MaarAllocationCreateFlags flags = job->info->flags;
    job->over_budget_allowed = false;
    job->refused_by_budget = false;
    VkResult result = try_types(job, made, fallback);
    if (!is_shortage(result) || (flags & MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT) != 0) {
        return result;
    }
    if (release_empty(job)) {
        result = try_types(job, made, fallback);
    }
    if (is_shortage(result) && job->refused_by_budget &&
        (flags & MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT) == 0) {
        job->over_budget_allowed = true;
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

/* Fills the candidates: the type of the caller's pool, or the ranking of all types. */
static VkResult choose(struct job* job)
{
    struct maar_pool* pool = maar_pool_of(job->allocator, job->info->pool);
    uint32_t bits = job->request->requirements.memoryTypeBits;
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
    if ((types & ~pool->export_types) != 0) {
        return maar_misuse(job->allocator, MAAR_MESSAGE_ID_POOL_MISMATCH, job->call,
                           "MaarExportInfo names handle types that the pool was not made for");
    }
    if (job->info->memoryTypeBits != 0) {
        bits &= job->info->memoryTypeBits;
    }
    VkMemoryPropertyFlags required = job->info->requiredFlags;
    if ((maar_type_flags(job->allocator, pool->type_index) & required) != required) {
        return maar_misuse(job->allocator, MAAR_MESSAGE_ID_POOL_MISMATCH, job->call,
                           "the pool's memory type lacks some of pCreateInfo->requiredFlags");
    }
    if ((bits & (1u << pool->type_index)) == 0) {
        return maar_misuse(job->allocator, MAAR_MESSAGE_ID_POOL_MISMATCH, job->call,
                           "the pool's memory type is not among the memoryTypeBits of pRequest and "
                           "pCreateInfo");
    }
    if ((job->info->flags & MAAR_ALLOCATION_CREATE_MAPPED_BIT) != 0 &&
        (maar_type_flags(job->allocator, pool->type_index) & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) ==
            0) {
        return maar_misuse(job->allocator, MAAR_MESSAGE_ID_NOT_MAPPABLE, job->call,
                           "the mapped flag with a pool whose memory type is not HOST_VISIBLE");
    }
    if (!maar_pool_claim_kind(pool, job->request->kind)) {
        return maar_misuse(job->allocator, MAAR_MESSAGE_ID_POOL_MISMATCH, job->call,
                           "the pool was made for resources of one kind, and this is of the other");
    }
    job->choice.bits = 1u << pool->type_index;
    job->choice.count = 1;
    job->choice.own[0] = (uint8_t)pool->type_index;
    job->choice.types = job->choice.own;
    return VK_SUCCESS;
}

/* Reports that the request failed because no memory was free or no memory type serves. */
static void report_failure(const struct job* job, VkResult result)
{
    const MaarAllocationCreateFlags flags = job->info->flags;
    if (!is_shortage(result) || maar_is_without_report(job->info)) {
        return;
    }
    const bool strict = (flags & MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT) != 0;
    const struct maar_allocation_failure failure = {
        .call = job->call,
        .name = job->general->name,
        .size = job->general->size,
        .result = result,
        .type_index = maar_best_type(&job->choice),
        .type_bits = strict ? 0 : maar_candidate_bits(&job->choice),
        .pool = maar_pool_of(job->allocator, job->info->pool),
        .only_budget = job->refused_by_budget && !job->over_budget_allowed,
    };
    maar_report_allocation_failure(job->allocator, &failure);
}

VkResult maar_allocate_slowly(MaarAllocator allocator, const char* call,
                              const MaarMemoryRequest* request,
                              const MaarAllocationCreateInfo* info,
                              const struct maar_place_request* general, struct maar_made* made,
                              struct maar_deviation* deviation)
{
    struct job job = {
        .allocator = allocator,
        .call = call,
        .request = request,
        .info = info,
        .general = general,
        .place = *general,
        .priority = info->priority != 0.0F ? info->priority : 0.5F,
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
        deviation->exceeded = job.exceeded;
        deviation->best_type = maar_best_type(&job.choice);
    }
    return result;
}
