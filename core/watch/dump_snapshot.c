/*
 * Takes the snapshot for a dump. One host allocation holds everything that is copied of one pool:
 * the record, its blocks, its ranges, and all names.
 */
#include "core/watch/dump_snapshot.h"

#include <stddef.h>
#include <string.h>

#include "core/memory/allocator_state.h"
#include "core/memory/margin_size.h"
#include "core/memory/pool_list.h"
#include "core/paging/paging_watch.h"
#include "core/watch/enumerate.h"
#include "core/watch/statistics.h"

_Static_assert(sizeof(struct maar_dump_block) <= MAAR_SORT_MOST,
               "maar_sort_blocks can sort this element");

/* A copy gets one part in SLACK_SHARE more room than was measured. So the copy mostly fits even if
 * other threads allocate in the meantime. */
enum { SLACK_SHARE = 8 };

/* The room of a record, or the room that a pool needs. */
struct snapshot_room {
    size_t blocks;
    size_t ranges;
    size_t text; /* bytes of names */
};

/* One walk over one pool. */
struct snapshot_walk {
    MaarAllocator allocator;
    struct snapshot_room room;
    struct snapshot_room wanted;
    struct maar_dump_block* blocks; /* room.blocks of them */
    struct maar_dump_range* ranges;
    char* text;
    struct maar_dump_totals* totals; /* of the current block */
    uint64_t page_runs;              /* live, in the current arena */
    uint64_t held_runs;              /* pending, in the current arena */
    VkDeviceSize margin;             /* of the ranges of the current block */
    VkDeviceSize hole;               /* bytes of the current run of free ranges and padding */
};

static void spread_add(struct maar_dump_spread* spread, VkDeviceSize size)
{
    const struct maar_dump_spread one = {
        .count = 1,
        .bytes = size,
        .smallest = size,
        .largest = size,
    };
    maar_dump_spread_merge(spread, &one);
}

void maar_dump_spread_merge(struct maar_dump_spread* into, const struct maar_dump_spread* from)
{
    if (from->count == 0 && from->bytes == 0) {
        return;
    }
    if ((into->count == 0 && into->bytes == 0) || from->smallest < into->smallest) {
        into->smallest = from->smallest;
    }
    if (from->largest > into->largest) {
        into->largest = from->largest;
    }
    into->count += from->count;
    into->bytes += from->bytes;
}

static void merge_totals(struct maar_dump_totals* into, const struct maar_dump_totals* from)
{
    into->block_count += from->block_count;
    into->dedicated_count += from->dedicated_count;
    into->block_bytes += from->block_bytes;
    into->dedicated_bytes += from->dedicated_bytes;
    into->padding_bytes += from->padding_bytes;
    maar_dump_spread_merge(&into->live, &from->live);
    maar_dump_spread_merge(&into->pending, &from->pending);
    maar_dump_spread_merge(&into->free, &from->free);
    maar_dump_spread_merge(&into->holes, &from->holes);
}

/* Returns the totals of the pools in some memory types. */
static struct maar_dump_totals sum_types(const struct maar_dump_snapshot* snapshot, uint32_t types)
{
    struct maar_dump_totals totals = {0};
    for (const struct maar_dump_pool* pool = snapshot->pools; pool != NULL; pool = pool->next) {
        if ((types >> pool->type_index & 1) != 0) {
            merge_totals(&totals, &pool->totals);
        }
    }
    return totals;
}

struct maar_dump_totals maar_dump_total(const struct maar_dump_snapshot* snapshot)
{
    return sum_types(snapshot, UINT32_MAX);
}

struct maar_dump_totals maar_dump_type_total(const struct maar_dump_snapshot* snapshot,
                                             uint32_t type)
{
    return sum_types(snapshot, 1u << type);
}

struct maar_dump_totals maar_dump_heap_total(const struct maar_dump_snapshot* snapshot,
                                             uint32_t heap)
{
    uint32_t types = 0;
    for (uint32_t i = 0; i < VK_MAX_MEMORY_TYPES; ++i) {
        types |= (uint32_t)(maar_type_heap(snapshot->allocator, i) == heap) << i;
    }
    return sum_types(snapshot, types);
}

static void end_hole(struct snapshot_walk* walk)
{
    if (walk->hole != 0) {
        spread_add(&walk->totals->holes, walk->hole);
        walk->hole = 0;
    }
}

static void count_range(struct snapshot_walk* walk, MaarBlockRangeState state, VkDeviceSize size)
{
    struct maar_dump_totals* totals = walk->totals;
    switch (state) {
    case MAAR_BLOCK_RANGE_STATE_LIVE:
        end_hole(walk);
        spread_add(&totals->live, size);
        break;
    case MAAR_BLOCK_RANGE_STATE_PENDING:
        end_hole(walk);
        spread_add(&totals->pending, size);
        break;
    case MAAR_BLOCK_RANGE_STATE_FREE:
        walk->hole += size;
        spread_add(&totals->free, size);
        break;
    default:
        walk->hole += size;
        totals->padding_bytes += size;
        break;
    }
}

/* Copies a name. Returns NULL when there is no room or no name. */
static const char* copy_name(struct snapshot_walk* walk, const char* name)
{
    if (name == NULL) {
        return NULL;
    }
    size_t size = strlen(name) + 1;
    size_t at = walk->wanted.text;
    walk->wanted.text += size;
    if (walk->text == NULL || walk->wanted.text > walk->room.text) {
        return NULL;
    }
    memcpy(walk->text + at, name, size);
    return walk->text + at;
}

/* Adds a range of the current block. index: the slot of the range's allocation, or
 * MAAR_SLOT_NONE. */
static void add_range(struct snapshot_walk* walk, MaarBlockRangeState state, VkDeviceSize offset,
                      VkDeviceSize size, uint32_t index)
{
    const struct maar_slot* owner =
        index != MAAR_SLOT_NONE ? maar_slot_at(&walk->allocator->slots, index) : NULL;
    count_range(walk, state, size);
    const char* name = owner != NULL ? copy_name(walk, maar_slot_name(owner, index)) : NULL;
    size_t at = walk->wanted.ranges++;
    if (at >= walk->room.ranges) {
        return;
    }
    /* The key is even while another thread makes the allocation live or ends it. */
    const uint32_t key = owner != NULL ? maar_atomic32_load_acquire(&owner->key) : 0;
    walk->ranges[at] = (struct maar_dump_range){
        .handle = (key & 1u) != 0 ? maar_handle_make(index, key) : 0,
        .offset = offset,
        .size = size,
        .state = state,
        .name = name,
        .kind =
            owner != NULL ? (MaarResourceKind)maar_slot_kind(owner) : MAAR_RESOURCE_KIND_UNKNOWN,
        .user_data = owner != NULL ? (uint64_t)(uintptr_t)maar_slot_user_data(owner, index) : 0,
        .internal = owner != NULL && maar_slot_has(owner, MAAR_SLOT_INTERNAL),
    };
}

/* Returns the state of a range that an allocation has. */
static MaarBlockRangeState state_of_slot(const struct snapshot_walk* walk, uint32_t index)
{
    return maar_slot_has(maar_slot_at(&walk->allocator->slots, index), MAAR_SLOT_PENDING)
               ? MAAR_BLOCK_RANGE_STATE_PENDING
               : MAAR_BLOCK_RANGE_STATE_LIVE;
}

static bool visit_dump_range(void* context, const MaarRangeInfo* info)
{
    struct snapshot_walk* walk = context;
    uint32_t owner = MAAR_SLOT_NONE;
    MaarBlockRangeState state = MAAR_BLOCK_RANGE_STATE_PADDING;
    VkDeviceSize margin = 0;
    if (info->state == MAAR_RANGE_STATE_FREE) {
        state = MAAR_BLOCK_RANGE_STATE_FREE;
    } else if (info->state == MAAR_RANGE_STATE_LIVE) {
        owner = (uint32_t)info->userData;
        state = state_of_slot(walk, owner);
        margin = maar_shown_margin(walk->allocator, walk->margin, owner);
    }
    add_range(walk, state, info->offset, info->size - margin, owner);
    if (margin != 0) {
        add_range(walk, MAAR_BLOCK_RANGE_STATE_PADDING, info->offset + info->size - margin, margin,
                  MAAR_SLOT_NONE);
    }
    return true;
}

static void add_page_run(struct snapshot_walk* walk, const struct maar_page_walk* run)
{
    walk->page_runs += run->state == MAAR_BLOCK_RANGE_STATE_LIVE ? 1 : 0;
    walk->held_runs += run->state == MAAR_BLOCK_RANGE_STATE_PENDING ? 1 : 0;
    add_range(walk, run->state, run->offset, run->size, MAAR_SLOT_NONE);
}

static void walk_block(struct snapshot_walk* walk, const struct maar_block* block)
{
    if (maar_block_is_paged(block)) {
        struct maar_page_walk run;
        for (bool more = maar_page_walk_begin(walk->allocator, block, &run); more;
             more = maar_page_walk_next(&run)) {
            add_page_run(walk, &run);
        }
        end_hole(walk);
        return;
    }
    if (block->placement != NULL) {
        walk->margin = maar_block_margin(block);
        maar_placement_walk(block->placement, visit_dump_range, walk);
        end_hole(walk);
        return;
    }
    add_range(walk, state_of_slot(walk, block->dedicated_slot), 0, block->size,
              block->dedicated_slot);
}

static void add_dump_block(struct snapshot_walk* walk, const struct maar_block* block,
                           struct maar_dump_totals* sum)
{
    const bool dedicated = block->placement == NULL && !maar_block_is_paged(block);
    struct maar_dump_totals totals = {
        .block_count = 1,
        .dedicated_count = dedicated ? 1 : 0,
        .block_bytes = block->size,
        .dedicated_bytes = dedicated ? block->size : 0,
    };
    size_t first = walk->wanted.ranges;
    walk->totals = &totals;
    walk_block(walk, block);
    merge_totals(sum, &totals);
    size_t at = walk->wanted.blocks++;
    if (at >= walk->room.blocks) {
        return;
    }
    walk->blocks[at] = (struct maar_dump_block){
        .id = block->id,
        .size = block->size,
        .memory = MAAR_TO_BITS(block->memory),
        .dedicated = dedicated,
        .imported = block->imported,
        .shared_types = block->shared_types,
        .map_count = maar_atomic32_load(&block->map_count),
        .totals = totals,
        .ranges = first < walk->room.ranges ? &walk->ranges[first] : NULL,
        .range_count = (uint32_t)(walk->wanted.ranges - first),
    };
}

/* Adds one arena. The arena's lock is held. */
static void walk_arena_blocks(struct snapshot_walk* walk, const struct maar_arena* arena,
                              struct maar_dump_totals* sum)
{
    walk->page_runs = 0;
    walk->held_runs = 0;
    for (const struct maar_block* block = maar_arena_next_block(arena, 0); block != NULL;
         block = maar_arena_next_block(arena, block->at + 1)) {
        add_dump_block(walk, block, sum);
    }
    /* The arena's list of dedicated blocks begins with the newest block, but the copy begins with
     * the oldest block. */
    const struct maar_block* last = arena->dedicated;
    while (last != NULL && last->next != NULL) {
        last = last->next;
    }
    for (; last != NULL; last = last->previous) {
        add_dump_block(walk, last, sum);
    }
    /* Until here, each run of pages was counted as an allocation. The dump counts the stitched
     * allocations that are made of these runs instead. */
    sum->live.count += arena->stitched_count - arena->stitched_pending_count;
    sum->pending.count += arena->stitched_pending_count;
    sum->live.count -= walk->page_runs;
    sum->pending.count -= walk->held_runs;
}

static void walk_pool_blocks(struct snapshot_walk* walk, struct maar_pool* pool,
                             struct maar_dump_totals* sum)
{
    maar_pool_begin_walk(pool);
    for (struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL;
         arena = maar_pool_next_arena(pool, arena->number + 1)) {
        maar_mutex_lock(&arena->lock);
        walk_arena_blocks(walk, arena, sum);
        maar_mutex_unlock(&arena->lock);
    }
    maar_pool_end_walk(pool);
}

/* Returns a record with this room, or NULL when host memory is short. Sets the walk's arrays to the
 * memory behind the record. */
static struct maar_dump_pool* make_record(MaarAllocator allocator, const struct snapshot_room* room,
                                          struct snapshot_walk* walk)
{
    size_t block_size = room->blocks * sizeof(struct maar_dump_block);
    size_t range_size = room->ranges * sizeof(struct maar_dump_range);
    size_t size = sizeof(struct maar_dump_pool) + block_size + range_size + room->text;
    char* memory = maar_host_alloc(allocator->callbacks, size);
    if (memory == NULL) {
        return NULL;
    }
    struct maar_dump_pool* record = (struct maar_dump_pool*)(void*)memory;
    memset(record, 0, sizeof *record);
    memory += sizeof *record;
    walk->blocks = (struct maar_dump_block*)(void*)memory;
    walk->ranges = (struct maar_dump_range*)(void*)(memory + block_size);
    walk->text = memory + block_size + range_size;
    walk->room = *room;
    return record;
}

static bool has_room(const struct snapshot_room* room, const struct snapshot_room* wanted)
{
    return wanted->blocks <= room->blocks && wanted->ranges <= room->ranges &&
           wanted->text <= room->text;
}

static void fill_record(const struct maar_pool* pool, struct snapshot_walk* walk,
                        struct maar_dump_pool* record)
{
    *record = (struct maar_dump_pool){
        .custom = pool->custom,
        .type_index = pool->type_index,
        .strategy = pool->strategy,
        .fixed_size = pool->fixed_size,
        .preferred_size = pool->preferred_size,
        .priority = pool->priority,
        .blocks = walk->blocks,
        .name = copy_name(walk, pool->name),
    };
}

/* Copies one pool. The caller's walk over the pools keeps this pool in the list. */
static VkResult take_pool(MaarAllocator allocator, struct maar_pool* pool, bool detailed,
                          struct maar_dump_pool** out)
{
    struct snapshot_room room = {
        .text = pool->name != NULL ? strlen(pool->name) + 1 : 0,
    };
    for (;;) {
        struct snapshot_walk walk = {.allocator = allocator};
        struct maar_dump_pool* record = make_record(allocator, &room, &walk);
        if (record == NULL) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        maar_mutex_lock(&pool->arenas.lock);
        fill_record(pool, &walk, record);
        maar_mutex_unlock(&pool->arenas.lock);
        walk_pool_blocks(&walk, pool, &record->totals);
        if (!detailed || has_room(&room, &walk.wanted)) {
            if (detailed) {
                maar_sort_blocks(walk.blocks, walk.wanted.blocks, sizeof walk.blocks[0],
                                 offsetof(struct maar_dump_block, id));
            }
            record->block_count = detailed ? (uint32_t)walk.wanted.blocks : 0;
            *out = record;
            return VK_SUCCESS;
        }
        maar_host_free(allocator->callbacks, record);
        room.blocks = walk.wanted.blocks + walk.wanted.blocks / SLACK_SHARE;
        room.ranges = walk.wanted.ranges + walk.wanted.ranges / SLACK_SHARE;
        room.text = walk.wanted.text + walk.wanted.text / SLACK_SHARE;
    }
}

void maar_dump_snapshot_ask(struct maar_dump_snapshot* snapshot, const MaarDumpUsageInfo* info)
{
    maar_lock_rank_expect_none();
    for (struct maar_dump_pool* pool = snapshot->pools; pool != NULL; pool = pool->next) {
        for (uint32_t i = 0; i < pool->block_count; ++i) {
            const struct maar_dump_block* block = &pool->blocks[i];
            for (uint32_t j = 0; j < block->range_count; ++j) {
                struct maar_dump_range* range = &block->ranges[j];
                if (range->handle != 0 && !range->internal) {
                    range->usage = info->pfnUsage(info->pUserData,
                                                  MAAR_FROM_BITS(MaarAllocation, range->handle));
                }
            }
        }
    }
}

VkResult maar_dump_snapshot_take(MaarAllocator allocator, bool detailed,
                                 struct maar_dump_snapshot* snapshot)
{
    memset(snapshot, 0, sizeof *snapshot);
    snapshot->allocator = allocator;
    snapshot->detailed = detailed;
    (void)maar_budget_read_all(allocator, snapshot->budgets);
    maar_statistics_read(allocator, NULL, MAAR_MEMORY_TYPE_NONE, &snapshot->counters);
    for (struct maar_pool* pool = maar_pool_next(allocator, NULL); pool != NULL;
         pool = maar_pool_next(allocator, pool)) {
        struct maar_dump_pool* record = NULL;
        VkResult result = take_pool(allocator, pool, detailed, &record);
        if (result != VK_SUCCESS) {
            maar_pool_leave(allocator, pool);
            maar_dump_snapshot_release(snapshot);
            return result;
        }
        /* The list of pools begins with the newest pool, but the dump begins with the oldest
         * pool. */
        record->next = snapshot->pools;
        snapshot->pools = record;
    }
    return VK_SUCCESS;
}

void maar_dump_snapshot_release(struct maar_dump_snapshot* snapshot)
{
    while (snapshot->pools != NULL) {
        struct maar_dump_pool* record = snapshot->pools;
        snapshot->pools = record->next;
        maar_host_free(snapshot->allocator->callbacks, record);
    }
}
