/*
 * The functions that other rooms call. They pass each call on to the strategy, and keep the storage
 * of nodes and bins.
 *
 * A strategy (placement_tlsf.c, placement_buddy.c, placement_linear.c) uses only these files: nodes
 * and their links (placement_space.h), the runs of linear placements (placement_runs.h), bins of
 * free nodes (placement_bins.h), kinds and granularity (placement_granules.c), and reports of a
 * walk (placement_walk.c).
 */
#include "core/placement/placement.h"

#include <string.h>

#include "core/host_memory.h"
#include "core/placement/placement_bins.h"
#include "core/placement/placement_free.h"
#include "core/placement/placement_lowest.h"

enum {
    /* The number of nodes of a new placement. It suffices for the reset of a buddy forest of any
     * size. */
    PLACEMENT_FIRST_NODES = 56,
    /* A new segment has a sixteenth of the nodes that there are, and at least
     * PLACEMENT_LEAST_NODES. So growth leaves at most a seventeenth of the nodes unused, and
     * PLACEMENT_SEGMENTS segments hold 200 million nodes. */
    PLACEMENT_GROWTH_DIVISOR = 16,
    PLACEMENT_LEAST_NODES = 16,
    /* There are many blocks, so the placement of a block has a short table of segments. A new
     * segment has a fourth of the nodes, and half of them from PLACEMENT_LARGE_SEGMENT on (9,600
     * nodes). So PLACEMENT_FEW_SEGMENTS segments hold 100 million nodes. Nodes that are not used
     * yet are memory that nothing has touched. */
    PLACEMENT_FEW_DIVISOR = 4,
    PLACEMENT_LARGE_DIVISOR = 2,
    PLACEMENT_LARGE_SEGMENT = 24,
};

static uint32_t placement_bins_for(MaarPlacementStrategy strategy, VkDeviceSize size)
{
    switch (strategy) {
    case MAAR_PLACEMENT_STRATEGY_BUDDY:
        return PLACEMENT_ORDERS;
    case MAAR_PLACEMENT_STRATEGY_LINEAR:
        return 0;
    default:
        return maar_tlsf_bin_count(size);
    }
}

/* Returns the size of the storage of a segment in bytes: a node more for its description, and
 * another for its alignment. */
static size_t placement_segment_size(uint32_t nodes)
{
    return ((size_t)nodes + 2) * sizeof(struct placement_node);
}

/* Adds a segment whose storage has this size. Nodes begin at a multiple of their size, so no node
 * lies in two cache lines. */
static void placement_add_segment(struct maar_placement* placement, void* memory, size_t size)
{
    const uint32_t number = placement->segments;
    const uintptr_t node_size = sizeof(struct placement_node);
    const uintptr_t description = ((uintptr_t)memory + node_size - 1) & ~(node_size - 1);
    struct placement_segment* segment = (void*)description;
    segment->memory = memory;
    segment->count = (uint32_t)(size / sizeof(struct placement_node)) - 2;
    placement->bases[number] =
        description + node_size - (uintptr_t)placement_segment_begin(number) * 8;
    placement->segments = number + 1;
    placement->capacity += segment->count;
    placement->fresh_left += segment->count;
    if (number != 0 && placement->fresh_slot == placement->fresh_end) {
        placement->fresh_slot = placement_segment_begin(number);
        placement->fresh_end = placement_segment_end(placement, number);
        placement->touched_end = placement->fresh_slot;
    }
}

/* Takes longer bins into use. Returns the memory of the old ones, or NULL. */
static void* placement_adopt_bins(struct maar_placement* placement, void* memory, uint32_t bins)
{
    uint32_t* heads = memory;
    void* old = placement->bins;
    for (uint32_t bin = 0; bin < bins; ++bin) {
        heads[bin] = bin < placement->bin_count ? placement->bins[bin] : PLACEMENT_NONE;
    }
    placement->bins = heads;
    placement->bin_count = bins;
    return old;
}

static void placement_set_border(struct maar_placement* placement)
{
    *placement_at(placement, PLACEMENT_NONE) =
        (struct placement_node){.where = placement_meta(PLACEMENT_DEAD, 0, 0)};
    memset(placement->fast_ends, 0, placement->segment_limit * sizeof(*placement->fast_ends));
    placement->fresh_end = placement_segment_end(placement, 0);
    placement->fresh_left = placement->capacity - 1;
    placement_pass_fresh(placement, PLACEMENT_NONE);
}

/* Counts the nodes that are retired, or that the next reset retires. */
static uint32_t placement_count_old(const struct maar_placement* placement)
{
    uint32_t count = 0;
    uint32_t slot = PLACEMENT_SLOT_STEP;
    for (; slot < placement->touched_end; slot = placement_slot_after(placement, slot)) {
        count += (placement_at(placement, slot)->where & PLACEMENT_ERA_MASK) >= PLACEMENT_OLD_ERA;
    }
    return count;
}

bool maar_placement_can_reset(struct maar_placement* placement)
{
    if (!placement->has_old && placement->retired_slots == 0) {
        return true;
    }
    const uint32_t old =
        placement->has_old ? placement_count_old(placement) : placement->retired_slots;
    placement->wanted_capacity = old + PLACEMENT_FIRST_NODES;
    return placement->capacity >= placement->wanted_capacity;
}

/* Retires the nodes that a reset would use again too often. */
static void placement_retire_old(struct maar_placement* placement)
{
    placement->retired_slots = 0;
    uint32_t slot = PLACEMENT_SLOT_STEP;
    for (; slot < placement->touched_end; slot = placement_slot_after(placement, slot)) {
        struct placement_node* node = placement_at(placement, slot);
        if ((node->where & PLACEMENT_ERA_MASK) >= PLACEMENT_OLD_ERA) {
            placement_retire(node);
            ++placement->retired_slots;
        }
    }
    placement->has_old = false;
}

void maar_placement_reset(struct maar_placement* placement)
{
    MAAR_DEBUG_ASSERT(maar_placement_can_reset(placement));
    if (placement->has_old) {
        placement_retire_old(placement);
    }
    placement_set_border(placement);
    placement->fresh_left -= placement->retired_slots;
    placement->free_slot = PLACEMENT_NONE;
    placement->range_count = 0;
    placement->used_size = 0;
    placement->free_extent = placement->size << PLACEMENT_SIZE_SHIFT;
    for (size_t bin = placement_bin_next(placement, PLACEMENT_BIN_BASE); bin != PLACEMENT_NO_BIN;
         bin = placement_bin_next(placement, bin + 1)) {
        *placement_bin_head(placement, bin) = PLACEMENT_NONE;
    }
    placement->bin_summary = 0;
    memset(placement->bin_words, 0, sizeof(placement->bin_words));
    switch (placement->strategy) {
    case MAAR_PLACEMENT_STRATEGY_BUDDY:
        maar_buddy_reset(placement);
        break;
    case MAAR_PLACEMENT_STRATEGY_LINEAR:
        maar_linear_reset(placement);
        break;
    default:
        maar_tlsf_reset(placement);
        break;
    }
}

VkResult maar_placement_open(struct maar_placement* placement,
                             const struct maar_placement_info* info,
                             const VkAllocationCallbacks* callbacks)
{
    const uint32_t bins = placement_bins_for(info->strategy, info->size);
    const size_t size = placement_segment_size(PLACEMENT_FIRST_NODES);
    uint32_t* heads = maar_host_calloc(callbacks, bins + 1, sizeof(*heads));
    void* memory = maar_host_alloc(callbacks, size);
    if (heads == NULL || memory == NULL) {
        maar_host_free(callbacks, memory);
        maar_host_free(callbacks, heads);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    placement->strategy = info->strategy;
    placement->size = info->size;
    placement->granularity =
        info->granularity < MAAR_RANGE_MAX_SIZE ? info->granularity : MAAR_RANGE_MAX_SIZE;
    placement->bins = heads;
    placement->bin_count = bins;
    placement_add_segment(placement, memory, size);
    maar_placement_reset(placement);
    return VK_SUCCESS;
}

void maar_placement_close(struct maar_placement* placement, const VkAllocationCallbacks* callbacks)
{
    for (uint32_t segment = 0; segment < placement->segments; ++segment) {
        maar_host_free(callbacks, placement_segment(placement, segment)->memory);
    }
    maar_host_free(callbacks, placement->bins);
}

VkResult maar_placement_create(const struct maar_placement_info* info,
                               const VkAllocationCallbacks* callbacks,
                               struct maar_placement** placement)
{
    *placement = NULL;
    struct maar_placement* created =
        maar_host_calloc(callbacks, 1, placement_bytes(PLACEMENT_FEW_SEGMENTS));
    if (created == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    created->segment_limit = PLACEMENT_FEW_SEGMENTS;
    created->fast_ends = created->few_ends;
    const VkResult result = maar_placement_open(created, info, callbacks);
    if (result != VK_SUCCESS) {
        maar_host_free(callbacks, created);
        return result;
    }
    *placement = created;
    return VK_SUCCESS;
}

void maar_placement_destroy(struct maar_placement* placement,
                            const VkAllocationCallbacks* callbacks)
{
    if (placement != NULL) {
        maar_placement_close(placement, callbacks);
        maar_host_free(callbacks, placement);
    }
}

static bool placement_is_live(const struct maar_placement* placement, uint32_t node)
{
    return placement_is_used(placement, node) &&
           placement_state(placement_at(placement, node)) == PLACEMENT_LIVE;
}

enum maar_place_outcome maar_placement_allocate(struct maar_placement* placement,
                                                const struct maar_placement_request* request,
                                                struct maar_placement_range* range)
{
    range->node = MAAR_PLACEMENT_NO_NODE;
    if (placement->strategy == MAAR_PLACEMENT_STRATEGY_TLSF) {
        return maar_tlsf_allocate(placement, request, range);
    }
    return placement->strategy == MAAR_PLACEMENT_STRATEGY_BUDDY
               ? maar_buddy_allocate(placement, request, range)
               : maar_linear_allocate(placement, request, range);
}

enum maar_place_outcome maar_placement_allocate_lowest(struct maar_placement* placement,
                                                       const struct maar_placement_request* request,
                                                       struct maar_placement_range* range)
{
    range->node = MAAR_PLACEMENT_NO_NODE;
    if (placement->strategy == MAAR_PLACEMENT_STRATEGY_LINEAR) {
        return maar_linear_allocate(placement, request, range);
    }
    if (request->size > placement->size) {
        return MAAR_PLACE_NO_ROOM;
    }
    const struct placement_lowest place = maar_placement_find_lowest(placement, request);
    if (place.slot == PLACEMENT_NONE) {
        return MAAR_PLACE_NO_ROOM;
    }
    return placement->strategy == MAAR_PLACEMENT_STRATEGY_TLSF
               ? maar_tlsf_allocate_at(placement, request, place.offset, place.slot, range)
               : maar_buddy_allocate_at(placement, request, place.offset, place.slot, range);
}

enum maar_place_outcome maar_placement_allocate_last(struct maar_placement* placement,
                                                     const struct maar_placement_request* request,
                                                     VkDeviceSize after,
                                                     struct maar_placement_range* range)
{
    if (placement->strategy != MAAR_PLACEMENT_STRATEGY_TLSF || after == UINT64_MAX) {
        return maar_placement_allocate(placement, request, range);
    }
    range->node = MAAR_PLACEMENT_NO_NODE;
    return maar_tlsf_allocate_last(placement, request, after, range);
}

void maar_placement_prefetch(const struct maar_placement* placement, uint32_t node)
{
    MAAR_PREFETCH(placement_at(placement, node));
}

bool maar_placement_free(struct maar_placement* placement, uint32_t node)
{
    struct maar_placement_freed freed;
    return maar_placement_free_into(placement, node, &freed);
}

/* Frees a node that the fast path does not free, or that is not live. */
MAAR_NOINLINE bool placement_free_slow(struct maar_placement* placement, uint32_t slot,
                                       struct maar_placement_freed* freed)
{
    if (!placement_is_live(placement, slot)) {
        *freed = (struct maar_placement_freed){0};
        return false;
    }
    freed->size = placement_size(placement_at(placement, slot));
    freed->room = placement_free_live(placement, slot);
    return true;
}

/* Frees a node between two free nodes, or an odd one. */
MAAR_NOINLINE bool placement_free_rare(struct maar_placement* placement,
                                       struct placement_node* node, uint32_t slot, uint64_t extent,
                                       struct maar_placement_freed* freed)
{
    freed->room = placement_tlsf_free_rare(placement, node, slot, extent) >> PLACEMENT_SIZE_SHIFT;
    return true;
}

/* The last step of the fast path after a free range has grown: moves it to its bin. */
MAAR_NOINLINE bool placement_end_grown(struct maar_placement* placement,
                                       struct placement_node* node, uint32_t slot, uint64_t old)
{
    placement_tlsf_move(placement, node, slot, old);
    return true;
}

/* Frees a node beside one free node. Passes on all others that are not alone. */
MAAR_NOINLINE bool placement_free_joined(struct maar_placement* placement,
                                         struct placement_node* node, uint32_t slot,
                                         uint64_t extent, uint64_t generation,
                                         struct maar_placement_freed* freed)
{
    if (placement_tlsf_is_rare(node)) {
        return placement_free_rare(placement, node, slot, extent, freed);
    }
    placement_tlsf_clear(node, generation);
    const struct placement_tlsf_joined joined =
        placement_tlsf_join_one(placement, node, slot, extent);
    freed->room = placement_size(joined.node);
    return placement_end_grown(placement, joined.node, joined.slot, joined.old);
}

bool maar_placement_free_into(struct maar_placement* placement, uint32_t slot,
                              struct maar_placement_freed* freed)
{
    /* A slot of a higher segment is above the end of any other segment too. */
    const uint32_t segment = slot >> PLACEMENT_SEGMENT_SHIFT;
    if (slot >= placement->few_ends[segment % PLACEMENT_FEW_SEGMENTS] ||
        slot % PLACEMENT_SLOT_STEP != 0) {
        return placement_free_slow(placement, slot, freed);
    }
    struct placement_node* node = placement_at(placement, slot);
    const uint64_t generation = placement_following_generation(node);
    if (placement_state(node) != PLACEMENT_LIVE || generation == 0) {
        return placement_free_slow(placement, slot, freed);
    }
    const uint64_t extent = placement_tlsf_extent(node);
    freed->size = placement_size(node);
    placement_tlsf_count_out(placement, node, extent);
    if (!placement_tlsf_is_alone(node)) {
        return placement_free_joined(placement, node, slot, extent, generation, freed);
    }
    const uint32_t* head = placement_tlsf_free_alone(placement, node, slot, extent, generation);
    if (head != NULL) {
        placement_bin_mark_filled(placement, head);
    }
    freed->room = extent >> PLACEMENT_SIZE_SHIFT;
    return true;
}

bool maar_placement_resize(struct maar_placement* placement, VkDeviceSize size)
{
    if (size <= placement->size) {
        return true;
    }
    switch (placement->strategy) {
    case MAAR_PLACEMENT_STRATEGY_BUDDY:
        return maar_buddy_resize(placement, size);
    case MAAR_PLACEMENT_STRATEGY_LINEAR:
        placement->size = size;
        return true;
    default:
        return maar_tlsf_resize(placement, size);
    }
}

bool maar_placement_get(const struct maar_placement* placement, uint32_t node,
                        struct maar_placement_range* range, uint64_t* user, uint32_t* kind)
{
    if (!placement_is_live(placement, node)) {
        return false;
    }
    const struct placement_node* live = placement_at(placement, node);
    range->offset = placement_offset(live);
    range->size = placement_size(live);
    range->node = node;
    range->generation = placement_node_generation(live);
    *user = live->u.user;
    *kind = placement_kind(live);
    return true;
}

struct maar_span maar_placement_span(const struct maar_placement* placement, uint32_t node)
{
    const struct placement_node* live = placement_at(placement, node);
    return (struct maar_span){placement_offset(live), placement_size(live)};
}

void maar_placement_set_user(struct maar_placement* placement, uint32_t node, uint64_t user)
{
    MAAR_DEBUG_ASSERT(placement_is_live(placement, node));
    placement_at(placement, node)->u.user = user;
}

/* Returns whether the space is to grow beyond the sizes that have bins. */
static bool placement_wants_bins(const struct maar_placement* placement)
{
    return placement->wanted_bins > placement->bin_count;
}

/* Returns by what the number of nodes is divided to get the number of nodes of a new segment. */
static uint32_t placement_growth_divisor(const struct maar_placement* placement)
{
    if (placement->segment_limit == PLACEMENT_SEGMENTS) {
        return PLACEMENT_GROWTH_DIVISOR;
    }
    return placement->segments < PLACEMENT_LARGE_SEGMENT ? PLACEMENT_FEW_DIVISOR
                                                         : PLACEMENT_LARGE_DIVISOR;
}

size_t maar_placement_storage_wanted(const struct maar_placement* placement)
{
    if (placement_wants_bins(placement)) {
        return placement->wanted_bins * sizeof(uint32_t);
    }
    if (placement->segments == placement->segment_limit) {
        return SIZE_MAX;
    }
    uint32_t nodes = placement->capacity / placement_growth_divisor(placement);
    nodes = nodes > PLACEMENT_LEAST_NODES ? nodes : PLACEMENT_LEAST_NODES;
    if (placement->wanted_capacity > placement->capacity + nodes) {
        nodes = placement->wanted_capacity - placement->capacity;
    }
    return placement_segment_size(nodes < PLACEMENT_SEGMENT_NODES ? nodes
                                                                  : PLACEMENT_SEGMENT_NODES);
}

void* maar_placement_storage_give(struct maar_placement* placement, void* memory, size_t size)
{
    if (placement_wants_bins(placement)) {
        const size_t bins = size / sizeof(uint32_t);
        return bins >= placement->wanted_bins
                   ? placement_adopt_bins(placement, memory, placement->wanted_bins)
                   : memory;
    }
    if (placement->segments == placement->segment_limit ||
        placement->wanted_capacity <= placement->capacity ||
        size < placement_segment_size(PLACEMENT_LEAST_NODES) ||
        size > placement_segment_size(PLACEMENT_SEGMENT_NODES)) {
        return memory;
    }
    placement_add_segment(placement, memory, size);
    return NULL;
}

void maar_placement_totals(const struct maar_placement* placement,
                           struct maar_placement_totals* totals)
{
    totals->range_count = placement->range_count;
    totals->used_size = placement->used_size;
    totals->free_size = placement->strategy == MAAR_PLACEMENT_STRATEGY_LINEAR
                            ? maar_linear_free_size(placement)
                            : placement->free_extent >> PLACEMENT_SIZE_SHIFT;
    totals->padding_size = placement->size - totals->free_size - totals->used_size;
}

VkDeviceSize maar_placement_largest_free_bound(const struct maar_placement* placement)
{
    switch (placement->strategy) {
    case MAAR_PLACEMENT_STRATEGY_BUDDY:
        return maar_buddy_largest_free_bound(placement);
    case MAAR_PLACEMENT_STRATEGY_LINEAR:
        return maar_linear_largest_free_bound(placement);
    default:
        return maar_tlsf_largest_free_bound(placement);
    }
}

/* Two free ranges are never neighbours. */
bool maar_placement_next_live(const struct maar_placement* placement, uint32_t* node,
                              struct maar_placement_range* range, uint64_t* user)
{
    uint32_t kind = 0;
    MAAR_DEBUG_ASSERT(placement->strategy != MAAR_PLACEMENT_STRATEGY_LINEAR);
    const uint32_t before = *node != MAAR_PLACEMENT_NO_NODE ? *node : PLACEMENT_NONE;
    uint32_t slot = placement_next(placement_at(placement, before));
    while (slot != PLACEMENT_NONE && !placement_is_live(placement, slot)) {
        slot = placement_next(placement_at(placement, slot));
    }
    *node = slot;
    return slot != PLACEMENT_NONE && maar_placement_get(placement, slot, range, user, &kind);
}

/* Returns the slot directly behind a node, or behind the beginning of the space. */
static uint32_t placement_slot_behind(const struct maar_placement* placement, uint32_t before)
{
    MAAR_DEBUG_ASSERT(placement->strategy == MAAR_PLACEMENT_STRATEGY_TLSF);
    return placement_next(
        placement_at(placement, before != MAAR_PLACEMENT_NO_NODE ? before : PLACEMENT_NONE));
}

uint32_t maar_placement_live_before(const struct maar_placement* placement, uint32_t node)
{
    uint32_t slot = placement_prev(placement_at(placement, node));
    while (slot != PLACEMENT_NONE && !placement_is_live(placement, slot)) {
        slot = placement_prev(placement_at(placement, slot));
    }
    return slot != PLACEMENT_NONE ? slot : MAAR_PLACEMENT_NO_NODE;
}

VkDeviceSize maar_placement_extent_end(const struct maar_placement* placement, uint32_t node)
{
    const uint32_t slot = placement_slot_behind(placement, node);
    return slot != PLACEMENT_NONE ? placement_offset(placement_at(placement, slot))
                                  : placement->size;
}

bool maar_placement_has_nodes(struct maar_placement* placement, uint32_t count)
{
    return placement_has_slots(placement, count);
}

struct maar_span maar_placement_free_behind(const struct maar_placement* placement, uint32_t before)
{
    const uint32_t slot = placement_slot_behind(placement, before);
    const struct placement_node* node = placement_at(placement, slot);
    const bool is_free = slot != PLACEMENT_NONE && placement_state(node) == PLACEMENT_FREE;
    return is_free ? (struct maar_span){placement_offset(node), placement_size(node)}
                   : (struct maar_span){0, 0};
}

enum maar_place_outcome maar_placement_allocate_at(struct maar_placement* placement,
                                                   const struct maar_placement_request* request,
                                                   VkDeviceSize offset, uint32_t before,
                                                   struct maar_placement_range* range)
{
    return maar_tlsf_allocate_at(placement, request, offset,
                                 placement_slot_behind(placement, before), range);
}

void maar_placement_walk(const struct maar_placement* placement, maar_placement_visit visit,
                         void* context)
{
    struct placement_walk walk = {.visit = visit, .context = context};
    if (placement->strategy == MAAR_PLACEMENT_STRATEGY_LINEAR) {
        maar_linear_walk(placement, &walk);
    } else {
        for (uint32_t slot = placement_next(placement_at(placement, PLACEMENT_NONE));
             slot != PLACEMENT_NONE && !walk.stopped;) {
            const struct placement_node* node = placement_at(placement, slot);
            if (placement_state(node) == PLACEMENT_LIVE) {
                maar_placement_walk_live(placement, &walk, slot);
            } else {
                const VkDeviceSize offset = placement_offset(node);
                maar_placement_walk_free(&walk, offset, offset + placement_size(node));
            }
            slot = placement_next(node);
        }
    }
    if (!walk.stopped) {
        /* An empty free range at the end makes the walk report the padding before it. The empty
         * range itself is not reported. */
        maar_placement_walk_free(&walk, placement->size, placement->size);
    }
}
