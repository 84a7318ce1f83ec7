/*
 * Residents make room for requests of others: maarYieldResidency.
 *
 * The driver gets whole VkDeviceMemory objects back, so residents leave by block: first blocks
 * whose residents are clean and idle, since those are released at once; then those that need copies
 * or are in use, after which the call waits. While it waits it holds nothing, so that calls on the
 * manager go on.
 *
 * The budget of the device is lowered by what was given up. An update raises it again as far as the
 * heap has room.
 */
#include <stdlib.h>

#include "core/memory/allocator_state.h"
#include "core/residency/host_object.h"
#include "core/residency/policy_table.h"
#include "core/residency/residency_copies.h"
#include "core/residency/residency_tiers.h"
#include "core/residency/resident_pages.h"

/* A resident on the device, and the block that has it. */
struct yield_entry {
    uint64_t block;
    uint32_t resident;
};

/* The residents of a block. */
struct yield_block {
    const struct yield_entry* entries;
    uint32_t count;
    uint32_t highest_class;
    bool must_wait;    /* for copies, uses or binds */
    uint64_t distance; /* of the resident that is needed first */
    VkDeviceSize bytes;
};

/* A call. */
struct yield {
    struct maar_residency* it;
    const char* call;
    uint32_t heaps; /* bits: whose memory is wanted */
    VkDeviceSize size;
    VkDeviceSize released;
    VkDeviceSize more; /* bytes of residents that leave the device in a round */
    VkDeviceSize left; /* that left it in the last one */
    bool may_wait;
    struct maar_copy_waits waits; /* they are in use until then */
    MaarPoint bound;
};

static bool is_wanted_heap(const struct yield* yield, uint32_t type)
{
    return (yield->heaps >> maar_type_heap(yield->it->allocator, type) & 1u) != 0;
}

/* ---- which ones ---- */

/* Returns a memory type of the device's object. */
static uint32_t type_of(const struct yield* yield, const struct maar_resident* resident)
{
    const MaarAllocationCreateInfo any = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO};
    struct maar_type_choice choice;
    if (!maar_resident_is_paged(resident) ||
        !maar_choose_types(yield->it->allocator, UINT32_MAX, &any, &choice)) {
        return resident->device_type;
    }
    return maar_best_type(&choice);
}

/* Whether a resident frees memory of a wanted heap when it leaves the device. Where the copy that
 * it needs lies in the same heap, it frees nothing. */
static bool frees_memory(const struct yield* yield, const struct maar_resident* resident)
{
    const uint32_t type = type_of(yield, resident);
    const MaarAllocator allocator = yield->it->allocator;
    return is_wanted_heap(yield, type) && maar_resident_may_leave(resident) &&
           (!resident->is_dirty ||
            maar_type_heap(allocator, type) != maar_type_heap(allocator, resident->host_type));
}

static int compare_by_block(const void* a, const void* b)
{
    const struct yield_entry* first = a;
    const struct yield_entry* second = b;
    return (first->block > second->block) - (first->block < second->block);
}

/* Those that can leave at once come first; then by priority; then what is needed last. */
static int compare_blocks(const void* a, const void* b)
{
    const struct yield_block* first = a;
    const struct yield_block* second = b;
    if (first->must_wait != second->must_wait) {
        return first->must_wait ? 1 : -1;
    }
    if (first->highest_class != second->highest_class) {
        return first->highest_class < second->highest_class ? -1 : 1;
    }
    return (first->distance < second->distance) - (first->distance > second->distance);
}

/* Lists the residents on the device by their blocks. Returns their number. */
static uint32_t list_entries(const struct maar_residency* it, struct yield_entry* entries)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < it->resident_count; ++i) {
        const struct maar_resident* resident = &it->residents[i];
        if (resident->has_object) {
            /* Pages leave by themselves. */
            const uint64_t block =
                maar_resident_is_paged(resident) ? UINT64_MAX - i : resident->block;
            entries[count++] = (struct yield_entry){block, i};
        }
    }
    qsort(entries, count, sizeof entries[0], compare_by_block);
    return count;
}

/* Describes the block that begins with an entry. Returns false if it cannot be emptied. */
static bool describe_block(const struct yield* yield, const struct yield_entry* entries,
                           uint32_t left, struct yield_block* block)
{
    const struct maar_residency* it = yield->it;
    MaarPoint points[MAAR_MAX_POINTS];
    bool may_leave = true;
    *block = (struct yield_block){.entries = entries, .distance = UINT64_MAX};
    while (block->count < left && entries[block->count].block == entries[0].block) {
        const struct maar_resident* resident = &it->residents[entries[block->count++].resident];
        const uint64_t distance = maar_residency_distance(it, resident);
        may_leave = may_leave && frees_memory(yield, resident);
        block->must_wait = block->must_wait || resident->is_dirty ||
                           maar_resident_is_paged(resident) ||
                           maar_resident_points(it, resident, points) > 0;
        block->highest_class = resident->priority_class > block->highest_class
                                   ? resident->priority_class
                                   : block->highest_class;
        block->distance = distance < block->distance ? distance : block->distance;
        block->bytes += resident->request.requirements.size;
    }
    return may_leave;
}

/* Chooses the residents that leave, and lists them in it->victims. Returns their number. */
static uint32_t choose_leaving(struct yield* yield, const struct yield_block* blocks,
                               uint32_t block_count)
{
    struct maar_residency* it = yield->it;
    VkDeviceSize bytes = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < block_count && bytes < yield->more; ++i) {
        if (blocks[i].must_wait && !yield->may_wait) {
            break;
        }
        for (uint32_t k = 0; k < blocks[i].count; ++k) {
            MaarPoint points[MAAR_MAX_POINTS];
            const uint32_t number = blocks[i].entries[k].resident;
            const uint32_t used = maar_resident_points(it, &it->residents[number], points);
            for (uint32_t at = 0; at < used; ++at) {
                maar_copies_add_wait(&yield->waits, points[at]);
            }
            it->victims[count++] = number;
        }
        bytes += blocks[i].bytes;
    }
    return count;
}

/* ---- what leaves ---- */

static VkResult evict_blocks(struct yield* yield, const struct yield_block* blocks,
                             uint32_t block_count)
{
    struct maar_residency* it = yield->it;
    struct maar_tier_room room = {.reason = MAAR_RESIDENCY_REASON_BUDGET};
    const VkDeviceSize held = maar_tier_memory_bytes(&it->device);
    const uint64_t copied = it->copies.submitted;
    const uint32_t count = choose_leaving(yield, blocks, block_count);
    if (count == 0) {
        return VK_SUCCESS;
    }
    VkResult result = maar_residency_evict(it, yield->call, count, &room);
    if (it->copies.submitted > copied) {
        maar_copies_add_wait(&yield->waits, (MaarPoint){it->copies.timeline, it->copies.submitted});
    }
    const VkResult bound = maar_pages_submit(it, NULL);
    yield->left = room.evicted;
    /* Nothing takes this room again before an update has found that the heap has it. */
    const VkDeviceSize rest = held > room.evicted ? held - room.evicted : 0;
    if (room.evicted > 0 && rest < it->device.budget) {
        maar_residency_set_budget(it, rest > it->largest ? rest : it->largest);
        maar_residency_note_fall(it);
    }
    /* Where host memory is short of room for copies, fewer leave. */
    result = result == VK_NOT_READY || result == VK_ERROR_OUT_OF_POOL_MEMORY ? VK_SUCCESS : result;
    return result != VK_SUCCESS ? result : bound;
}

static VkResult yield_device(struct yield* yield)
{
    struct maar_residency* it = yield->it;
    const VkAllocationCallbacks* callbacks = it->allocator->callbacks;
    const uint32_t most = it->resident_count;
    if (most == 0) {
        return VK_SUCCESS;
    }
    struct yield_entry* entries = maar_host_calloc(callbacks, most, sizeof entries[0]);
    struct yield_block* blocks = maar_host_calloc(callbacks, most, sizeof blocks[0]);
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (entries != NULL && blocks != NULL) {
        const uint32_t count = list_entries(it, entries);
        uint32_t block_count = 0;
        for (uint32_t at = 0; at < count;) {
            struct yield_block* block = &blocks[block_count];
            block_count += describe_block(yield, &entries[at], count - at, block) ? 1 : 0;
            at += block->count;
        }
        qsort(blocks, block_count, sizeof blocks[0], compare_blocks);
        result = evict_blocks(yield, blocks, block_count);
    }
    maar_host_free(callbacks, entries);
    maar_host_free(callbacks, blocks);
    return result;
}

/* Returns the bytes of a tier's VkDeviceMemory objects in the wanted heaps. */
static VkDeviceSize wanted_bytes(const struct yield* yield, const struct maar_tier_memory* memory)
{
    VkDeviceSize bytes = 0;
    for (uint32_t i = 0; i < memory->pool_count; ++i) {
        bytes += is_wanted_heap(yield, memory->pools[i].type) ? memory->pools[i].bytes : 0;
    }
    return bytes;
}

/* Releases what is empty. */
static void release(struct yield* yield)
{
    struct maar_residency* it = yield->it;
    const VkDeviceSize before = wanted_bytes(yield, &it->device) + wanted_bytes(yield, &it->host);
    (void)maar_tier_memory_trim(&it->device);
    (void)maar_tier_memory_trim(&it->host);
    yield->released += before;
    yield->released -= wanted_bytes(yield, &it->device) + wanted_bytes(yield, &it->host);
    yield->released += maar_trim_paging(it->allocator, NULL, yield->heaps, MAAR_ANY_AGE);
}

/* Ends copies in host memory of which there are others, the longest unused first, and twice as many
 * each time until blocks are empty. */
static VkResult yield_host(struct yield* yield)
{
    struct maar_residency* it = yield->it;
    bool is_wanted = false;
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < it->host.pool_count; ++i) {
        is_wanted = is_wanted || is_wanted_heap(yield, it->host.pools[i].type);
    }
    VkDeviceSize more = yield->size;
    while (is_wanted && result == VK_SUCCESS && yield->released < yield->size) {
        const VkDeviceSize before = it->host.live;
        result = maar_host_object_yield(it, yield->call, more);
        release(yield);
        is_wanted = it->host.live < before;
        more = more < it->host.live ? 2 * more : it->host.live;
    }
    return result;
}

/* ---- the call ---- */

/* Does what can be done without waiting. */
static VkResult give_up_round(struct yield* yield)
{
    VkResult result = maar_copies_poll(yield->it);
    yield->left = 0;
    yield->waits.count = 0;
    if (result == VK_SUCCESS) {
        release(yield);
    }
    if (result == VK_SUCCESS && yield->released < yield->size) {
        result = yield_host(yield);
    }
    if (result == VK_SUCCESS && yield->released < yield->size) {
        result = yield_device(yield);
        release(yield);
    }
    yield->bound = yield->it->bound;
    return result;
}

/* Waits until what has left is free. Returns whether it is. */
static bool await_release(const struct yield* yield, uint64_t deadline_ns)
{
    const MaarAllocator allocator = yield->it->allocator;
    const uint32_t count = yield->waits.count;
    return maarWaitPoints(allocator, count, yield->waits.points, maar_time_left_ns(deadline_ns)) ==
               VK_SUCCESS &&
           (yield->bound.value == 0 ||
            maarWaitPoints(allocator, 1, &yield->bound, maar_time_left_ns(deadline_ns)) ==
                VK_SUCCESS);
}

/* Gives up more and more: what has left a block, or pages of one, are no bytes of the driver's
 * before all of it is empty. Returns VK_NOT_READY if the manager was busy all the time. */
static VkResult give_up_until(struct yield* yield, uint64_t deadline_ns)
{
    VkResult result = VK_NOT_READY;
    for (yield->more = yield->size;; yield->more *= 2) {
        if (!maar_residency_try_enter(yield->it, deadline_ns)) {
            yield->released += yield->left; /* the request that is tried again releases it */
            return result;
        }
        result = give_up_round(yield);
        maar_residency_leave(yield->it);
        if (result != VK_SUCCESS || yield->released >= yield->size || yield->left == 0 ||
            yield->more > UINT64_MAX / 4 ||
            (yield->may_wait && !await_release(yield, deadline_ns))) {
            return result;
        }
    }
}

static uint32_t heaps_of_types(MaarAllocator allocator, uint32_t types)
{
    uint32_t heaps = 0;
    for (uint32_t i = 0; i < allocator->device.facts.memory.memoryTypeCount; ++i) {
        heaps |= (types >> i & 1u) != 0 ? 1u << maar_type_heap(allocator, i) : 0;
    }
    return heaps;
}

VKAPI_ATTR VkResult VKAPI_CALL maarYieldResidency(MaarAllocator allocator, MaarResidency residency,
                                                  uint32_t memoryTypeBits, VkDeviceSize size,
                                                  uint64_t timeout_ns, VkDeviceSize* pReleased)
{
    struct yield yield = {.call = __func__, .size = size, .may_wait = timeout_ns > 0};
    const uint64_t deadline = maar_deadline_ns(timeout_ns);
    if (pReleased != NULL) {
        *pReleased = 0;
    }
    VkResult result = maar_residency_find(allocator, __func__, residency, &yield.it);
    if (result == VK_SUCCESS && size == 0) {
        result = maar_misuse(allocator, MAAR_MESSAGE_ID_ZERO_SIZE, __func__, "size is 0");
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    yield.heaps = heaps_of_types(allocator, memoryTypeBits);
    result = give_up_until(&yield, deadline);
    if (pReleased != NULL) {
        *pReleased = yield.released;
    }
    return result != VK_SUCCESS || yield.released >= size ? result : VK_INCOMPLETE;
}
