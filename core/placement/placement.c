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

enum {
    /* The number of nodes of a new placement. It suffices for the reset of a buddy forest of any
     * size. */
    PLACEMENT_FIRST_NODES = 56,
    /* The size of a cache line in bytes. The nodes begin at a multiple of this size, so that no
     * node lies in two cache lines. */
    PLACEMENT_CACHE_LINE = 64,
    /* The maximum number of nodes. It leaves one bit of a link for PLACEMENT_LINK_FREE. */
    PLACEMENT_MOST_NODES = INT32_MAX,
    /* Storage grows by an eighth. So growth leaves about a ninth of the nodes unused, and a node is
     * copied about eight times in a growing placement. */
    PLACEMENT_GROWTH_DIVISOR = 8,
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

/* Returns the size of the storage in bytes, or UINT64_MAX if a link cannot name that many nodes. */
static uint64_t placement_storage_size(uint64_t nodes, uint32_t bins)
{
    if (nodes > PLACEMENT_MOST_NODES) {
        return UINT64_MAX;
    }
    return PLACEMENT_CACHE_LINE + nodes * sizeof(struct placement_node) + bins * sizeof(uint32_t);
}

static void placement_adopt(struct maar_placement* placement, void* memory, uint32_t capacity,
                            uint32_t bins)
{
    const uintptr_t skipped = (0 - (uintptr_t)memory) & (PLACEMENT_CACHE_LINE - 1);
    struct placement_node* nodes = (void*)((char*)memory + skipped);
    uint32_t* heads = (uint32_t*)(void*)(nodes + capacity);
    if (placement->touched_slots != 0) {
        memcpy(nodes, placement->nodes, placement->touched_slots * sizeof(*nodes));
    }
    for (uint32_t bin = 0; bin < bins; ++bin) {
        heads[bin] = bin < placement->bin_count ? placement->bins[bin] : PLACEMENT_NONE;
    }
    placement->slots_left += capacity - placement->capacity;
    placement->storage = memory;
    placement->nodes = nodes;
    maar_atomic_pointer_store(&placement->nodes_now, nodes);
    placement->bins = heads;
    placement->capacity = capacity;
    placement->bin_count = bins;
}

static void placement_set_border(struct maar_placement* placement)
{
    placement->nodes[PLACEMENT_NONE] =
        (struct placement_node){.where = placement_meta(PLACEMENT_DEAD, 0, 0)};
    placement->used_slots = 1;
    placement->slots_left = placement->capacity - 1;
    if (placement->touched_slots == 0) {
        placement->touched_slots = 1;
    }
}

/* Counts the nodes that are retired, or that the next reset retires. */
static uint32_t placement_count_old(const struct maar_placement* placement)
{
    uint32_t count = 0;
    for (uint32_t slot = 1; slot < placement->touched_slots; ++slot) {
        count += (placement->nodes[slot].where & PLACEMENT_ERA_MASK) >= PLACEMENT_OLD_ERA;
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
    placement->wanted_slots = PLACEMENT_FIRST_NODES;
    return placement->capacity - old >= PLACEMENT_FIRST_NODES;
}

/* Retires the nodes that a reset would use again too often. */
static void placement_retire_old(struct maar_placement* placement)
{
    placement->retired_slots = 0;
    for (uint32_t slot = 1; slot < placement->touched_slots; ++slot) {
        struct placement_node* node = &placement->nodes[slot];
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
    placement->slots_left -= placement->retired_slots;
    placement->free_slot = PLACEMENT_NONE;
    placement->range_count = 0;
    placement->used_size = 0;
    placement->free_extent = placement->size << PLACEMENT_SIZE_SHIFT;
    for (uint32_t bin = placement_bin_next(placement, 0); bin != UINT32_MAX;
         bin = placement_bin_next(placement, bin + 1)) {
        placement->bins[bin] = PLACEMENT_NONE;
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

VkResult maar_placement_create(const struct maar_placement_info* info,
                               const VkAllocationCallbacks* callbacks,
                               struct maar_placement** placement)
{
    *placement = NULL;
    struct maar_placement* created = maar_host_calloc(callbacks, 1, sizeof(*created));
    if (created == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    const uint32_t bins = placement_bins_for(info->strategy, info->size);
    const size_t size = (size_t)placement_storage_size(PLACEMENT_FIRST_NODES, bins);
    void* memory = maar_host_alloc(callbacks, size);
    if (memory == NULL) {
        maar_host_free(callbacks, created);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    created->strategy = info->strategy;
    created->size = info->size;
    created->granularity =
        info->granularity < MAAR_RANGE_MAX_SIZE ? info->granularity : MAAR_RANGE_MAX_SIZE;
    placement_adopt(created, memory, PLACEMENT_FIRST_NODES, bins);
    maar_placement_reset(created);
    *placement = created;
    return VK_SUCCESS;
}

void maar_placement_destroy(struct maar_placement* placement,
                            const VkAllocationCallbacks* callbacks)
{
    if (placement != NULL) {
        maar_host_free(callbacks, placement->storage);
        maar_host_free(callbacks, placement);
    }
}

static bool placement_is_live(const struct maar_placement* placement, uint32_t node)
{
    return node < placement->used_slots &&
           placement_state(&placement->nodes[node]) == PLACEMENT_LIVE;
}

enum maar_place_outcome maar_placement_allocate(struct maar_placement* placement,
                                                const struct maar_placement_request* request,
                                                struct maar_placement_range* range)
{
    range->node = MAAR_PLACEMENT_NO_NODE;
    switch (placement->strategy) {
    case MAAR_PLACEMENT_STRATEGY_BUDDY:
        return maar_buddy_allocate(placement, request, range);
    case MAAR_PLACEMENT_STRATEGY_LINEAR:
        return maar_linear_allocate(placement, request, range);
    default:
        return maar_tlsf_allocate(placement, request, range);
    }
}

void maar_placement_prefetch(const struct maar_placement* placement, uint32_t node)
{
    const struct placement_node* nodes = maar_atomic_pointer_load(&placement->nodes_now);
    MAAR_PREFETCH(&nodes[node]);
}

bool maar_placement_free(struct maar_placement* placement, uint32_t node)
{
    VkDeviceSize size = 0;
    return maar_placement_free_into(placement, node, &size);
}

bool maar_placement_free_into(struct maar_placement* placement, uint32_t node, VkDeviceSize* size)
{
    if (!placement_is_live(placement, node)) {
        return false;
    }
    *size = placement_free_live(placement, node) >> PLACEMENT_SIZE_SHIFT;
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
    const struct placement_node* live = &placement->nodes[node];
    range->offset = placement_offset(live);
    range->size = placement_size(live);
    range->node = node;
    range->generation = placement_node_generation(live);
    *user = live->u.user;
    *kind = placement_kind(live);
    return true;
}

size_t maar_placement_storage_wanted(const struct maar_placement* placement)
{
    const uint64_t capacity = placement->capacity;
    uint64_t nodes = capacity + capacity / PLACEMENT_GROWTH_DIVISOR + 1;
    if (nodes < capacity + placement->wanted_slots) {
        nodes = capacity + placement->wanted_slots;
    }
    if (nodes > PLACEMENT_MOST_NODES && capacity + placement->wanted_slots < PLACEMENT_MOST_NODES) {
        nodes = PLACEMENT_MOST_NODES;
    }
    const uint32_t bins = placement->bin_count > placement->wanted_bins ? placement->bin_count
                                                                        : placement->wanted_bins;
    const uint64_t size = placement_storage_size(nodes, bins);
    return size < SIZE_MAX ? (size_t)size : SIZE_MAX;
}

void* maar_placement_storage_give(struct maar_placement* placement, void* memory, size_t size)
{
    const uint32_t bin_choices[2] = {placement->wanted_bins, placement->bin_count};
    for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t bins = bin_choices[i];
        const uint64_t other_bytes = PLACEMENT_CACHE_LINE + bins * sizeof(uint32_t);
        if (bins < placement->bin_count || size < other_bytes) {
            continue;
        }
        const uint64_t nodes = (size - other_bytes) / sizeof(struct placement_node);
        const bool is_larger = nodes > placement->capacity ||
                               (nodes == placement->capacity && bins > placement->bin_count);
        if (is_larger && nodes <= PLACEMENT_MOST_NODES) {
            void* old = placement->storage;
            placement_adopt(placement, memory, (uint32_t)nodes, bins);
            return old;
        }
    }
    return memory;
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

void maar_placement_walk(const struct maar_placement* placement, maar_placement_visit visit,
                         void* context)
{
    struct placement_walk walk = {.visit = visit, .context = context};
    if (placement->strategy == MAAR_PLACEMENT_STRATEGY_LINEAR) {
        maar_linear_walk(placement, &walk);
    } else {
        for (uint32_t slot = placement_next(&placement->nodes[PLACEMENT_NONE]);
             slot != PLACEMENT_NONE && !walk.stopped;) {
            const struct placement_node* node = &placement->nodes[slot];
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
