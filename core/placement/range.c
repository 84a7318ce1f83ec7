/*
 * The public range allocator: a placement with handles, host memory and messages.
 *
 * The caller synchronizes calls on one allocator. So the allocator has no lock, and holds none when
 * it calls the caller's callbacks.
 */
#include "maar/range.h"

#include <stddef.h>
#include <string.h>

#include "core/bound_check.h"
#include "core/check.h"
#include "core/host_memory.h"
#include "core/message_delivery.h"
#include "core/placement/placement_fast.h"
#include "core/placement/placement_free.h"
#include "core/placement/range_visitor.h"

/* All of MaarRangeAllocateFlagBits. */
#define KNOWN_RANGE_FLAGS                                                                          \
    ((MaarRangeAllocateFlags)MAAR_RANGE_ALLOCATE_UPPER_BIT |                                       \
     (MaarRangeAllocateFlags)MAAR_RANGE_ALLOCATE_LOWEST_BIT)

struct MaarRangeAllocator_T {
    /* First: both have one address. */
    struct maar_placement placement;
    VkDeviceSize size;
    VkAllocationCallbacks callbacks;
    bool has_callbacks;
    struct maar_reporter reporter;
    uint32_t fast_ends[PLACEMENT_SEGMENTS]; /* of the placement */
};

static const VkAllocationCallbacks* range_callbacks(MaarRangeAllocator allocator)
{
    return allocator->has_callbacks ? &allocator->callbacks : NULL;
}

static VkResult range_misuse(MaarRangeAllocator allocator, MaarMessageId id, const char* function,
                             const char* sentence)
{
    maar_message_deliver(&allocator->reporter, MAAR_MESSAGE_SEVERITY_ERROR, id, function, sentence);
    return VK_ERROR_VALIDATION_FAILED_EXT;
}

/* In builds with heavy checks, checks all structures. Called after each change. */
static void range_check_heavily(MaarRangeAllocator allocator)
{
#if defined(MAAR_HEAVY_CHECKS)
    const char* broken = maar_placement_check(&allocator->placement);
    if (broken != NULL) {
        maar_message_deliver(&allocator->reporter, MAAR_MESSAGE_SEVERITY_FATAL,
                             MAAR_MESSAGE_ID_BROKEN_INVARIANT, NULL, broken);
        maar_trap();
    }
#else
    (void)allocator;
#endif
}

/* Allocates the storage that the placement wants. */
static VkResult range_bring_storage(MaarRangeAllocator allocator)
{
    const size_t size = maar_placement_storage_wanted(&allocator->placement);
    void* memory = maar_host_alloc(range_callbacks(allocator), size);
    if (memory == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    maar_host_free(range_callbacks(allocator),
                   maar_placement_storage_give(&allocator->placement, memory, size));
    return VK_SUCCESS;
}

/* Returns the live node that a handle names, or MAAR_PLACEMENT_NO_NODE. */
static inline uint32_t range_node(MaarRangeAllocator allocator, MaarRange range)
{
    /* A non-dispatchable handle is a pointer on some platforms and a 64-bit number on others. */
    const uint64_t handle = (uint64_t)range;
    const uint32_t slot = maar_placement_handle_node(handle);
    const struct maar_placement* placement = &allocator->placement;
    if (placement_is_used(placement, slot) &&
        placement_is_named(placement_at(placement, slot),
                           maar_placement_handle_generation(handle))) {
        return slot;
    }
    return MAAR_PLACEMENT_NO_NODE;
}

/* text: may have the sentence, as long as the fault is used. */
static struct maar_fault range_create_fault(const MaarRangeAllocatorCreateInfo* info,
                                            struct maar_bound_text* text)
{
    const VkDeviceSize granularity = info->granularity;
    if (info->sType != MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO) {
        return maar_fault(MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE,
                          "maarCreateRangeAllocator: pCreateInfo->sType is not "
                          "MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO");
    }
    if (info->size == 0) {
        return maar_fault(MAAR_MESSAGE_ID_ZERO_SIZE,
                          "maarCreateRangeAllocator: pCreateInfo->size is 0");
    }
    const struct maar_bound bounds[] = {
        {(uint32_t)info->strategy > MAAR_PLACEMENT_STRATEGY_LINEAR, MAAR_MESSAGE_ID_INVALID_ENUM,
         "maarCreateRangeAllocator: pCreateInfo->strategy is not a MaarPlacementStrategy",
         MAAR_SHOW_NUMBER((uint32_t)info->strategy)},
        {info->size > MAAR_RANGE_MAX_SIZE, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "maarCreateRangeAllocator: pCreateInfo->size is above MAAR_RANGE_MAX_SIZE",
         MAAR_SHOW_LIMIT(info->size, MAAR_RANGE_MAX_SIZE)},
        {!maar_is_power_of_two_or_zero(granularity), MAAR_MESSAGE_ID_INVALID_ALIGNMENT,
         "maarCreateRangeAllocator: pCreateInfo->granularity must be 0 or a power of two",
         MAAR_SHOW_NUMBER(granularity)},
        {0},
    };
    const struct maar_fault fault = maar_find_broken_bound(bounds, text);
    if (fault.sentence != NULL) {
        return fault;
    }
    if (!maar_host_callbacks_serve(info->pAllocationCallbacks)) {
        return maar_fault(MAAR_MESSAGE_ID_NULL_ARGUMENT,
                          "maarCreateRangeAllocator: pCreateInfo->pAllocationCallbacks lacks "
                          "pfnAllocation or pfnFree");
    }
    return MAAR_NO_FAULT;
}

VkResult VKAPI_CALL maarCreateRangeAllocator(const MaarRangeAllocatorCreateInfo* pCreateInfo,
                                             MaarRangeAllocator* pAllocator)
{
    if (pAllocator == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    *pAllocator = VK_NULL_HANDLE;
    if (pCreateInfo == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct maar_bound_text text;
    const struct maar_fault fault = range_create_fault(pCreateInfo, &text);
    if (fault.sentence != NULL) {
        const struct maar_reporter reporter = {.message = pCreateInfo->pfnMessage,
                                               .user_data = pCreateInfo->pMessageUserData};
        maar_message_deliver(&reporter, MAAR_MESSAGE_SEVERITY_ERROR, fault.id, __func__,
                             fault.sentence);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const VkAllocationCallbacks* callbacks = pCreateInfo->pAllocationCallbacks;
    MaarRangeAllocator allocator = maar_host_calloc(callbacks, 1, sizeof(*allocator));
    if (allocator == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    const struct maar_placement_info info = {
        .strategy = pCreateInfo->strategy,
        .size = pCreateInfo->size,
        .granularity = pCreateInfo->granularity,
    };
    allocator->placement.segment_limit = PLACEMENT_SEGMENTS;
    allocator->placement.fast_ends = allocator->fast_ends;
    const VkResult result = maar_placement_open(&allocator->placement, &info, callbacks);
    if (result != VK_SUCCESS) {
        maar_host_free(callbacks, allocator);
        return result;
    }
    allocator->size = pCreateInfo->size;
    allocator->has_callbacks = callbacks != NULL;
    if (callbacks != NULL) {
        allocator->callbacks = *callbacks;
    }
    allocator->reporter.message = pCreateInfo->pfnMessage;
    allocator->reporter.user_data = pCreateInfo->pMessageUserData;
    *pAllocator = allocator;
    return VK_SUCCESS;
}

void VKAPI_CALL maarDestroyRangeAllocator(MaarRangeAllocator allocator)
{
    if (allocator == VK_NULL_HANDLE) {
        return;
    }
    const VkAllocationCallbacks callbacks = allocator->callbacks;
    const VkAllocationCallbacks* used = allocator->has_callbacks ? &callbacks : NULL;
    maar_placement_close(&allocator->placement, used);
    maar_host_free(used, allocator);
}

/* Returns the first fault in the arguments of maarAllocateRange. text: may have the sentence, as
 * long as the fault is used. */
static struct maar_fault range_allocate_fault(const MaarRangeAllocateInfo* info,
                                              const MaarRange* range, struct maar_bound_text* text)
{
    if (info == NULL) {
        return maar_fault(MAAR_MESSAGE_ID_NULL_ARGUMENT, "maarAllocateRange: pInfo is NULL");
    }
    if (range == NULL) {
        return maar_fault(MAAR_MESSAGE_ID_NULL_ARGUMENT, "maarAllocateRange: pRange is NULL");
    }
    if (info->sType != MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO) {
        return maar_fault(
            MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE,
            "maarAllocateRange: pInfo->sType is not MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO");
    }
    if (info->size == 0) {
        return maar_fault(MAAR_MESSAGE_ID_ZERO_SIZE, "maarAllocateRange: pInfo->size is 0");
    }
    if (info->kind <= MAAR_RANGE_MAX_KIND && (info->flags & ~KNOWN_RANGE_FLAGS) == 0) {
        return MAAR_NO_FAULT;
    }
    const struct maar_bound bounds[] = {
        {info->kind > MAAR_RANGE_MAX_KIND, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "maarAllocateRange: pInfo->kind is above MAAR_RANGE_MAX_KIND",
         MAAR_SHOW_LIMIT(info->kind, MAAR_RANGE_MAX_KIND)},
        {true, MAAR_MESSAGE_ID_UNKNOWN_FLAGS,
         "maarAllocateRange: pInfo->flags has bits that are no MaarRangeAllocateFlagBits",
         MAAR_SHOW_BITS(info->flags & ~KNOWN_RANGE_FLAGS)},
        {0},
    };
    return maar_find_broken_bound(bounds, text);
}

/* Clears the outputs of a call that fails. Returns the result. */
static VkResult range_allocate_fail(MaarRange* pRange, VkDeviceSize* pOffset, VkResult result)
{
    if (pRange != NULL) {
        *pRange = VK_NULL_HANDLE;
    }
    if (pOffset != NULL) {
        *pOffset = 0;
    }
    return result;
}

/* Places a request. Allocates storage when the placement wants it, which is usually at most
 * once. */
static VkResult range_place(MaarRangeAllocator allocator,
                            const struct maar_placement_request* request, bool lowest,
                            struct maar_placement_range* range)
{
    enum maar_place_outcome outcome = MAAR_PLACE_WANTS_STORAGE;
    for (;;) {
        outcome = lowest ? maar_placement_allocate_lowest(&allocator->placement, request, range)
                         : maar_placement_allocate(&allocator->placement, request, range);
        if (outcome != MAAR_PLACE_WANTS_STORAGE) {
            break;
        }
        const VkResult result = range_bring_storage(allocator);
        if (result != VK_SUCCESS) {
            return result;
        }
    }
    return outcome == MAAR_PLACED ? VK_SUCCESS : VK_ERROR_OUT_OF_POOL_MEMORY;
}

/* The slow path of maarAllocateRange: misuse, flags, and requests that TLSF cannot place at
 * once. */
MAAR_NOINLINE VkResult range_allocate_slow(MaarRangeAllocator allocator,
                                           const MaarRangeAllocateInfo* pInfo, MaarRange* pRange,
                                           VkDeviceSize* pOffset)
{
    if (allocator == VK_NULL_HANDLE) {
        return range_allocate_fail(pRange, pOffset, VK_ERROR_VALIDATION_FAILED_EXT);
    }
    struct maar_bound_text text;
    const struct maar_fault fault = range_allocate_fault(pInfo, pRange, &text);
    if (fault.sentence != NULL) {
        return range_allocate_fail(
            pRange, pOffset,
            range_misuse(allocator, fault.id, "maarAllocateRange", fault.sentence));
    }
    const struct maar_placement_request request = {
        .size = pInfo->size,
        .alignment = pInfo->alignment != 0 ? pInfo->alignment : 1,
        .user = pInfo->userData,
        .kind = pInfo->kind,
        .upper = (pInfo->flags & MAAR_RANGE_ALLOCATE_UPPER_BIT) != 0,
    };
    struct maar_placement_range range;
    const bool lowest = (pInfo->flags & MAAR_RANGE_ALLOCATE_LOWEST_BIT) != 0;
    const VkResult result = range_place(allocator, &request, lowest, &range);
    if (result != VK_SUCCESS) {
        return range_allocate_fail(pRange, pOffset, result);
    }
    *pRange = maar_placement_handle(range.node, range.generation);
    if (pOffset != NULL) {
        *pOffset = range.offset;
    }
    range_check_heavily(allocator);
    return VK_SUCCESS;
}

/* The last step of the fast path, where a bin has become empty. */
MAAR_NOINLINE VkResult range_end_empty(MaarRangeAllocator allocator, const uint32_t* head)
{
    struct maar_placement* placement = &allocator->placement;
    placement_bin_mark_empty(placement, head);
    range_check_heavily(allocator);
    return VK_SUCCESS;
}

/* The last step of the fast path, where a bin is no longer empty. */
MAAR_NOINLINE VkResult range_end_filled(MaarRangeAllocator allocator, const uint32_t* head)
{
    placement_bin_mark_filled(&allocator->placement, head);
    range_check_heavily(allocator);
    return VK_SUCCESS;
}

/* The last step of the fast path, where a bin is no longer empty, and another may be empty now. */
MAAR_NOINLINE VkResult range_end_moved(MaarRangeAllocator allocator, const uint32_t* head,
                                       const uint32_t* other)
{
    placement_bin_mark_filled(&allocator->placement, head);
    if (*other == PLACEMENT_NONE) {
        return range_end_empty(allocator, other);
    }
    range_check_heavily(allocator);
    return VK_SUCCESS;
}

/* The last step of the fast path after a request took the front of a free node: moves the rest,
 * which is the first node of a bin, to the bin of its extent. */
MAAR_INLINE VkResult range_end_front(MaarRangeAllocator allocator, struct placement_node* rest,
                                     uint32_t slot, uint32_t* head)
{
    const struct placement_tlsf_moved moved =
        placement_tlsf_move_first(&allocator->placement, rest, slot, head);
    if (moved.is_filled) {
        return range_end_moved(allocator, moved.head, head);
    }
    if (moved.is_empty) {
        return range_end_empty(allocator, head);
    }
    range_check_heavily(allocator);
    return VK_SUCCESS;
}

/* Places a request in the front of the first node of a bin when no node is on the stack. With the
 * steps in another order, a fill took up to 5 ns a request longer on some processors (AMD EPYC). */
MAAR_NOINLINE VkResult range_allocate_fresh(MaarRangeAllocator allocator,
                                            const MaarRangeAllocateInfo* pInfo, MaarRange* pRange,
                                            uint32_t* head, VkDeviceSize* pOffset, uint64_t extent)
{
    struct maar_placement* placement = &allocator->placement;
    const struct placement_tlsf_need need = {&pInfo->size, NULL, &pInfo->userData};
    if (placement->fresh_left == 0) {
        return range_allocate_slow(allocator, pInfo, pRange, pOffset);
    }
    const uint32_t part_slot = placement_take_fresh_slot(placement);
    const uint32_t slot = *head;
    struct placement_node* part = placement_at(placement, part_slot);
    struct placement_node* rest = placement_at(placement, slot);
    placement_tlsf_take_front(placement, rest, part, extent, need);
    placement_tlsf_link_front(placement, rest, slot, part, part_slot);
    *pRange = maar_placement_handle(part_slot, placement_node_generation(part));
    return range_end_front(allocator, rest, slot, head);
}

/* Places a request in the front of the first node of a bin when a node is on the stack. */
MAAR_NOINLINE VkResult range_allocate_front(MaarRangeAllocator allocator,
                                            const MaarRangeAllocateInfo* pInfo, MaarRange* pRange,
                                            uint32_t* head, struct placement_node* rest,
                                            uint64_t extent)
{
    struct maar_placement* placement = &allocator->placement;
    const struct placement_tlsf_need need = {&pInfo->size, NULL, &pInfo->userData};
    const uint32_t part_slot = placement->free_slot;
    struct placement_node* part = placement_follow(placement, &placement->free_slot);
    placement->free_slot = part->next;
    placement_tlsf_take_front(placement, rest, part, extent, need);
    *pRange = maar_placement_handle(part_slot, placement_node_generation(part));
    const uint32_t slot = *head;
    placement_tlsf_link_front(placement, rest, slot, part, part_slot);
    return range_end_front(allocator, rest, slot, head);
}

/* Places a request in the front of the first node of a bin. */
MAAR_INLINE VkResult range_allocate_part(MaarRangeAllocator allocator,
                                         const MaarRangeAllocateInfo* pInfo, MaarRange* pRange,
                                         uint32_t* head, VkDeviceSize* pOffset, uint64_t extent)
{
    const struct maar_placement* placement = &allocator->placement;
    struct placement_node* node = placement_follow(placement, head);
    if (pOffset != NULL) {
        *pOffset = placement_offset(node);
    }
    if (placement->free_slot == PLACEMENT_NONE) {
        return range_allocate_fresh(allocator, pInfo, pRange, head, pOffset, extent);
    }
    return range_allocate_front(allocator, pInfo, pRange, head, node, extent);
}

/* Places a request in a node of the next filled octave, where every node is larger. */
MAAR_NOINLINE VkResult range_allocate_octave(MaarRangeAllocator allocator,
                                             const MaarRangeAllocateInfo* pInfo, MaarRange* pRange,
                                             uint32_t* head, VkDeviceSize* pOffset, uint64_t extent)
{
    head = placement_bin_in_next_octave(&allocator->placement, head);
    return head == NULL ? range_allocate_slow(allocator, pInfo, pRange, pOffset)
                        : range_allocate_part(allocator, pInfo, pRange, head, pOffset, extent);
}

/* Places a request in a node of a bin above its own, where every node is larger. */
MAAR_NOINLINE VkResult range_allocate_above(MaarRangeAllocator allocator,
                                            const MaarRangeAllocateInfo* pInfo, MaarRange* pRange,
                                            uint32_t* head, VkDeviceSize* pOffset, uint64_t extent)
{
    const uint64_t bits = placement_bins_above(&allocator->placement, head);
    if (bits == 0) {
        return range_allocate_octave(allocator, pInfo, pRange, head, pOffset, extent);
    }
    head += 1 + maar_low_bit(bits);
    return range_allocate_part(allocator, pInfo, pRange, head, pOffset, extent);
}

/* Returns whether a request has neither kind nor flags, which are neighbours, and has the alignment
 * of the unit (0 means 1). */
static inline bool range_is_plain(const struct maar_placement* placement,
                                  const MaarRangeAllocateInfo* info)
{
    uint64_t both = 0;
    _Static_assert(offsetof(MaarRangeAllocateInfo, flags) ==
                       offsetof(MaarRangeAllocateInfo, kind) + sizeof(uint32_t),
                   "neighbours");
    memcpy(&both, (const char*)info + offsetof(MaarRangeAllocateInfo, kind), sizeof(both));
    return (((info->alignment | placement->unit_is_one) ^ placement->unit) | both) == 0;
}

/* The fast path is in several functions, each of which calls the next one last. So each needs, and
 * saves, few registers. */
VkResult VKAPI_CALL maarAllocateRange(MaarRangeAllocator allocator,
                                      const MaarRangeAllocateInfo* pInfo, MaarRange* pRange,
                                      VkDeviceSize* pOffset)
{
    if (pInfo == NULL || pInfo->sType != MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO ||
        pRange == NULL || allocator == VK_NULL_HANDLE) {
        return range_allocate_slow(allocator, pInfo, pRange, pOffset);
    }
    /* The next test also sends size 0 to the slow path. */
    struct maar_placement* placement = &allocator->placement;
    if (pInfo->size - 1 >= placement->fast_size || !range_is_plain(placement, pInfo)) {
        return range_allocate_slow(allocator, pInfo, pRange, pOffset);
    }
    const uint64_t extent = placement_tlsf_round(placement, pInfo->size);
    const size_t bin = placement_tlsf_bin_of_extent(extent);
    const struct placement_tlsf_found found = placement_tlsf_first(placement, bin, extent);
    if (found.surplus < 0) {
        return range_allocate_above(allocator, pInfo, pRange, found.head, pOffset, extent);
    }
    const enum placement_tlsf_use use = placement_tlsf_use(&found);
    if (use != PLACEMENT_USE_WHOLE) {
        return use == PLACEMENT_USE_FRONT
                   ? range_allocate_part(allocator, pInfo, pRange, found.head, pOffset, extent)
                   : range_allocate_slow(allocator, pInfo, pRange, pOffset);
    }
    const struct placement_tlsf_need need = {&pInfo->size, NULL, &pInfo->userData};
    const bool is_empty = placement_tlsf_take_whole(placement, &found, extent, need, pOffset);
    *pRange = maar_placement_handle(found.slot, placement_node_generation(found.node));
    if (is_empty) {
        return range_end_empty(allocator, found.head);
    }
    range_check_heavily(allocator);
    return VK_SUCCESS;
}

/* Frees a range that the fast path does not free. The handle may be null or name no live range. */
MAAR_NOINLINE VkResult range_free_slow(MaarRangeAllocator allocator, MaarRange range)
{
    if (allocator == VK_NULL_HANDLE) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (range == VK_NULL_HANDLE) {
        return VK_SUCCESS;
    }
    const uint32_t node = range_node(allocator, range);
    if (node == MAAR_PLACEMENT_NO_NODE) {
        return range_misuse(allocator, MAAR_MESSAGE_ID_STALE_HANDLE, "maarFreeRange",
                            "maarFreeRange: range is no live range of allocator; it was freed "
                            "before or belongs to another allocator");
    }
    (void)placement_free_live(&allocator->placement, node);
    range_check_heavily(allocator);
    return VK_SUCCESS;
}

/* The last step of the fast path after a free range has grown, where it stays in its bin or was the
 * first in it. */
MAAR_NOINLINE VkResult range_end_grown_slow(MaarRangeAllocator allocator,
                                            struct placement_node* node, uint32_t slot,
                                            uint64_t old)
{
    placement_tlsf_move(&allocator->placement, node, slot, old);
    range_check_heavily(allocator);
    return VK_SUCCESS;
}

/* The last step of the fast path after a free range has grown: moves it to its bin. */
MAAR_INLINE VkResult range_end_grown(MaarRangeAllocator allocator,
                                     struct placement_tlsf_joined joined)
{
    struct maar_placement* placement = &allocator->placement;
    const size_t old = placement_tlsf_bin(joined.old >> PLACEMENT_SIZE_SHIFT);
    const size_t bin = placement_tlsf_bin_of(joined.node);
    if (*placement_bin_head(placement, old) == joined.slot || bin == old) {
        return range_end_grown_slow(allocator, joined.node, joined.slot, joined.old);
    }
    placement_bin_unlink(placement, joined.node);
    uint32_t* head = placement_bin_head(placement, bin);
    if (placement_bin_link_first(placement, head, joined.node, joined.slot)) {
        return range_end_filled(allocator, head);
    }
    range_check_heavily(allocator);
    return VK_SUCCESS;
}

/* Frees a range between two free ranges, or an odd one. */
MAAR_NOINLINE VkResult range_free_rare(MaarRangeAllocator allocator, struct placement_node* node,
                                       uint32_t slot, uint64_t extent)
{
    (void)placement_tlsf_free_rare(&allocator->placement, node, slot, extent);
    range_check_heavily(allocator);
    return VK_SUCCESS;
}

/* Frees a range before a free range. */
MAAR_NOINLINE VkResult range_free_before(MaarRangeAllocator allocator, struct placement_node* node,
                                         uint32_t slot, uint64_t extent, uint64_t generation)
{
    placement_tlsf_clear(node, generation);
    return range_end_grown(allocator,
                           placement_tlsf_join_next(&allocator->placement, node, slot, extent));
}

/* Frees a range after a free range. */
MAAR_NOINLINE VkResult range_free_after(MaarRangeAllocator allocator, struct placement_node* node,
                                        uint32_t slot, uint64_t extent, uint64_t generation)
{
    placement_tlsf_clear(node, generation);
    return range_end_grown(allocator,
                           placement_tlsf_join_prev(&allocator->placement, node, slot, extent));
}

/* Frees a range that is not alone. */
MAAR_NOINLINE VkResult range_free_joined(MaarRangeAllocator allocator, struct placement_node* node,
                                         uint32_t slot, uint64_t extent, uint64_t generation)
{
    if (placement_tlsf_is_rare(node)) {
        return range_free_rare(allocator, node, slot, extent);
    }
    return (node->prev & PLACEMENT_LINK_FREE) != 0
               ? range_free_after(allocator, node, slot, extent, generation)
               : range_free_before(allocator, node, slot, extent, generation);
}

VkResult VKAPI_CALL maarFreeRange(MaarRangeAllocator allocator, MaarRange range)
{
    if (allocator == VK_NULL_HANDLE) {
        return range_free_slow(allocator, range);
    }
    const uint64_t handle = (uint64_t)range;
    struct maar_placement* placement = &allocator->placement;
    const uint32_t slot = maar_placement_handle_node(handle);
    if (slot >= allocator->fast_ends[slot >> PLACEMENT_SEGMENT_SHIFT]) {
        return range_free_slow(allocator, range);
    }
    struct placement_node* node = placement_at(placement, slot);
    if (!placement_is_named(node, maar_placement_handle_generation(handle))) {
        return range_free_slow(allocator, range);
    }
    const uint64_t generation = placement_following_generation(node);
    if (generation == 0) {
        return range_free_slow(allocator, range);
    }
    const uint64_t extent = placement_tlsf_extent(node);
    placement_tlsf_count_out(placement, node, extent);
    if (!placement_tlsf_is_alone(node)) {
        return range_free_joined(allocator, node, slot, extent, generation);
    }
    const uint32_t* head = placement_tlsf_free_alone(placement, node, slot, extent, generation);
    if (head != NULL) {
        return range_end_filled(allocator, head);
    }
    range_check_heavily(allocator);
    return VK_SUCCESS;
}

VkResult VKAPI_CALL maarResetRangeAllocator(MaarRangeAllocator allocator)
{
    if (allocator == VK_NULL_HANDLE) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    while (!maar_placement_can_reset(&allocator->placement)) {
        const VkResult result = range_bring_storage(allocator);
        if (result != VK_SUCCESS) {
            return result;
        }
    }
    maar_placement_reset(&allocator->placement);
    range_check_heavily(allocator);
    return VK_SUCCESS;
}

VkResult VKAPI_CALL maarResizeRangeAllocator(MaarRangeAllocator allocator, VkDeviceSize size)
{
    if (allocator == VK_NULL_HANDLE) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (size < allocator->size || size > MAAR_RANGE_MAX_SIZE) {
        const struct maar_bound bounds[] = {
            {size < allocator->size, MAAR_MESSAGE_ID_OUT_OF_RANGE,
             "maarResizeRangeAllocator: size is below the present size",
             MAAR_SHOW_LIMIT(size, allocator->size)},
            {true, MAAR_MESSAGE_ID_OUT_OF_RANGE,
             "maarResizeRangeAllocator: size is above MAAR_RANGE_MAX_SIZE",
             MAAR_SHOW_LIMIT(size, MAAR_RANGE_MAX_SIZE)},
            {0},
        };
        struct maar_bound_text text;
        const struct maar_fault fault = maar_find_broken_bound(bounds, &text);
        return range_misuse(allocator, fault.id, __func__, fault.sentence);
    }
    VkResult result = VK_SUCCESS;
    while (result == VK_SUCCESS && !maar_placement_resize(&allocator->placement, size)) {
        result = range_bring_storage(allocator);
    }
    if (result == VK_SUCCESS) {
        allocator->size = size;
    }
    range_check_heavily(allocator);
    return result;
}

VkResult VKAPI_CALL maarGetRangeInfo(MaarRangeAllocator allocator, MaarRange range,
                                     MaarRangeInfo* pInfo)
{
    if (allocator == VK_NULL_HANDLE) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (pInfo == NULL) {
        return range_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, "maarGetRangeInfo",
                            "maarGetRangeInfo: pInfo is NULL");
    }
    if (pInfo->sType != MAAR_STRUCTURE_TYPE_RANGE_INFO) {
        return range_misuse(allocator, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "maarGetRangeInfo",
                            "maarGetRangeInfo: pInfo->sType is not MAAR_STRUCTURE_TYPE_RANGE_INFO");
    }
    struct maar_placement_range found;
    MaarRangeInfo info = {.sType = pInfo->sType, .pNext = pInfo->pNext};
    const uint32_t node = range_node(allocator, range);
    const bool is_live =
        maar_placement_get(&allocator->placement, node, &found, &info.userData, &info.kind);
    if (is_live) {
        info.state = MAAR_RANGE_STATE_LIVE;
        info.offset = found.offset;
        info.size = found.size;
        info.range = range;
    }
    *pInfo = info;
    return is_live ? VK_SUCCESS
                   : range_misuse(allocator, MAAR_MESSAGE_ID_STALE_HANDLE, "maarGetRangeInfo",
                                  "maarGetRangeInfo: range is no live range of allocator");
}

VkResult VKAPI_CALL maarSetRangeUserData(MaarRangeAllocator allocator, MaarRange range,
                                         uint64_t userData)
{
    if (allocator == VK_NULL_HANDLE) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const uint32_t node = range_node(allocator, range);
    if (node == MAAR_PLACEMENT_NO_NODE) {
        return range_misuse(allocator, MAAR_MESSAGE_ID_STALE_HANDLE, "maarSetRangeUserData",
                            "maarSetRangeUserData: range is no live range of allocator");
    }
    maar_placement_set_user(&allocator->placement, node, userData);
    return VK_SUCCESS;
}

VkResult VKAPI_CALL maarGetRangeStatistics(MaarRangeAllocator allocator,
                                           MaarRangeStatistics* pStatistics)
{
    if (allocator == VK_NULL_HANDLE) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (pStatistics == NULL) {
        return range_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, "maarGetRangeStatistics",
                            "maarGetRangeStatistics: pStatistics is NULL");
    }
    if (pStatistics->sType != MAAR_STRUCTURE_TYPE_RANGE_STATISTICS) {
        return range_misuse(allocator, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE,
                            "maarGetRangeStatistics",
                            "maarGetRangeStatistics: pStatistics->sType is not "
                            "MAAR_STRUCTURE_TYPE_RANGE_STATISTICS");
    }
    struct maar_placement_totals totals;
    maar_placement_totals(&allocator->placement, &totals);
    *pStatistics = (MaarRangeStatistics){
        .sType = pStatistics->sType,
        .pNext = pStatistics->pNext,
        .size = allocator->size,
        .usedSize = totals.used_size,
        .paddingSize = totals.padding_size,
        .freeSize = totals.free_size,
        .largestFreeBound = maar_placement_largest_free_bound(&allocator->placement),
        .rangeCount = totals.range_count,
    };
    return VK_SUCCESS;
}

VkResult VKAPI_CALL maarWalkRanges(MaarRangeAllocator allocator, PFN_maarVisitRange pfnVisit,
                                   void* pUserData)
{
    if (allocator == VK_NULL_HANDLE) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (pfnVisit == NULL) {
        return range_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, "maarWalkRanges",
                            "maarWalkRanges: pfnVisit is NULL");
    }
    struct range_visitor visitor = {.visit = pfnVisit, .user_data = pUserData};
    maar_placement_walk(&allocator->placement, range_visit, &visitor);
    return VK_SUCCESS;
}

const char* VKAPI_CALL maarCheckRangeAllocator(MaarRangeAllocator allocator)
{
    return allocator != VK_NULL_HANDLE ? maar_placement_check(&allocator->placement)
                                       : "the allocator is NULL";
}
