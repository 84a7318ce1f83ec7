/*
 * What a capture records of memory: see captured_memory.h.
 */
#include "core/memory/captured_memory.h"

#include "core/memory/allocation_handle.h"
#include "core/memory/pool.h"
#include "core/memory/pool_list.h"
#include "core/port_time.h"

/* Bytes of a mapping: up to the end. */
#define WHOLE_MAPPING UINT64_MAX

/* Returns the handle that an allocation has, or had until a thread claimed it. */
static uint64_t handle_of(const struct maar_slot* slot, uint32_t index)
{
    const uint32_t key = maar_atomic32_load(&slot->key);
    return maar_handle_make(index, (key & 1u) != 0 ? key : key - 1u);
}

/* ---- ranges ---- */

static void write_range(struct maar_capture_log* log, struct maar_slot* slot, uint32_t index,
                        const VkMemoryRequirements* needs)
{
    const struct maar_block* block = maar_slot_block(slot);
    const MaarCaptureRange range = {
        .device = MAAR_CAPTURE_DEVICE,
        .resourceKind = slot->kind,
        .range = handle_of(slot, index),
        .memory = MAAR_TO_BITS(block->memory),
        .offset = maar_slot_offset(slot),
        .size = maar_slot_size(slot),
        .alignment = needs != NULL ? needs->alignment : 0,
        .typeBits = needs != NULL ? needs->memoryTypeBits : 0,
    };
    maar_capture_write(&log->writer, MAAR_CAPTURE_KIND_RANGE, &range, sizeof range);
    if (slot->name != NULL) {
        maar_capture_log_name(log, MAAR_CAPTURE_OBJECT_RANGE, range.range, slot->name);
    }
    slot->ranged = true;
}

void maar_captured_slot_end(struct maar_arena* arena, struct maar_slot* slot, uint32_t index)
{
    struct maar_capture_log* const log = arena->capture;
    const uint64_t handle = handle_of(slot, index);
    if (log == NULL) {
        return; /* the capture in which the allocation was recorded has ended */
    }
    if (slot->ranged) {
        maar_capture_log_end(log, MAAR_CAPTURE_KIND_RANGE_END, handle);
    } else {
        /* The program has destroyed the object itself, unless the end is recorded already. */
        uint32_t kind = 0;
        uint64_t object = 0;
        if (maar_captured_objects_find(&log->objects, handle, &kind, &object)) {
            maar_capture_log_end_object(log, kind, object);
        }
    }
}

bool maar_captured_slot_yields(struct maar_arena* arena, struct maar_slot* slot, uint32_t index)
{
    if (arena->capture == NULL) {
        return false;
    }
    if (slot->ranged) {
        maar_capture_log_end(arena->capture, MAAR_CAPTURE_KIND_RANGE_END, handle_of(slot, index));
    }
    slot->ranged = false;
    slot->held = true;
    return true;
}

void maar_captured_pending(struct maar_arena* arena, struct maar_slot* slot, uint32_t index)
{
    if (!slot->ranged && !slot->held && !slot->stitched) {
        write_range(arena->capture, slot, index, NULL);
    }
}

void maar_capture_parted(MaarAllocator allocator, MaarAllocation allocation)
{
    const uint32_t index = (uint32_t)MAAR_TO_BITS(allocation) - 1u;
    struct maar_slot* const slot = maar_slot_of_own(allocator, allocation);
    const struct maar_block* const block = maar_slot_enter(slot);
    struct maar_arena* const arena = maar_block_arena(block);
    (void)maar_captured_slot_yields(arena, slot, index);
    maar_mutex_unlock(&arena->lock);
}

void maar_capture_allocation(MaarAllocator allocator, MaarAllocation allocation,
                             const VkMemoryRequirements* needs)
{
    const uint32_t index = (uint32_t)MAAR_TO_BITS(allocation) - 1u;
    struct maar_slot* const slot = maar_slot_of_own(allocator, allocation);
    const struct maar_block* const block = maar_slot_enter(slot);
    struct maar_arena* const arena = maar_block_arena(block);
    if (arena->capture != NULL && !slot->ranged && !slot->stitched) {
        write_range(arena->capture, slot, index, needs);
    }
    maar_mutex_unlock(&arena->lock);
}

/* ---- device memory ---- */

void maar_captured_block(struct maar_arena* arena, struct maar_block* block)
{
    const struct maar_block_origin* origin = &block->origin;
    const bool divided = block->placement != NULL || maar_block_is_paged(block);
    const MaarCaptureMemory memory = {
        .device = MAAR_CAPTURE_DEVICE,
        .type = arena->pool->type_index,
        .memory = MAAR_TO_BITS(block->memory),
        .size = block->size,
        .duration_ns = origin->duration_ns,
        .flags = origin->flags | (divided ? (uint32_t)MAAR_CAPTURE_MEMORY_BLOCK_BIT : 0),
        .object = origin->object,
        .handleTypes = block->shared_types,
        .priority = origin->priority,
    };
    maar_capture_write(&arena->capture->writer, MAAR_CAPTURE_KIND_MEMORY, &memory, sizeof memory);
    maar_atomic32_store(&block->captured, 1);
}

void maar_captured_block_end(struct maar_arena* arena, struct maar_block* block)
{
    maar_atomic32_store(&block->captured, 0);
    maar_capture_log_end(arena->capture, MAAR_CAPTURE_KIND_MEMORY_END,
                         MAAR_TO_BITS(block->memory));
}

/* Calls a function for each block of an arena. The arena's lock is held. */
static void for_each_block(struct maar_arena* arena,
                           void (*visit)(struct maar_arena* arena, struct maar_block* block))
{
    for (uint32_t at = 0; at < arena->block_end; ++at) {
        if (arena->blocks[at] != NULL) {
            visit(arena, arena->blocks[at]);
        }
    }
    for (struct maar_block* block = arena->dedicated; block != NULL; block = block->next) {
        visit(arena, block);
    }
}

/* Calls a function for each allocation of a block, but not for pages. The arena's lock is held. */
static void for_each_slot(struct maar_arena* arena, const struct maar_block* block,
                          maar_placement_visit visit)
{
    if (block->placement != NULL) {
        maar_placement_walk(block->placement, visit, arena);
    } else if (!maar_block_is_paged(block)) {
        const MaarRangeInfo whole = {.state = MAAR_RANGE_STATE_LIVE,
                                     .userData = block->dedicated_slot};
        (void)visit(arena, &whole);
    }
}

/* ---- arenas ---- */

/* An allocation that is not live is recorded by the thread that makes it. One that a thread frees
 * at this moment is recorded only if it is pending, now or later. */
static bool begin_range(void* context, const MaarRangeInfo* info)
{
    struct maar_arena* const arena = context;
    if (info->state == MAAR_RANGE_STATE_LIVE) {
        const uint32_t index = (uint32_t)info->userData;
        struct maar_slot* const slot = maar_slot_at(&arena->pool->allocator->slots, index);
        slot->ranged = false;
        slot->held = false;
        if ((maar_atomic32_load_acquire(&slot->key) & 1u) != 0 || slot->pending) {
            write_range(arena->capture, slot, index, NULL);
        }
    }
    return true;
}

static void begin_block(struct maar_arena* arena, struct maar_block* block)
{
    maar_captured_block(arena, block);
    if (maar_atomic32_load(&block->map_count) > 0) {
        const MaarCaptureMap map = {.device = MAAR_CAPTURE_DEVICE,
                                    .memory = MAAR_TO_BITS(block->memory),
                                    .size = WHOLE_MAPPING};
        maar_capture_write(&arena->capture->writer, MAAR_CAPTURE_KIND_MAP, &map, sizeof map);
    }
    for_each_slot(arena, block, begin_range);
}

/* Captures an arena, unless it is captured already. The caller is inside the log, or begins the
 * capture. */
static void capture_arena(struct maar_arena* arena, struct maar_capture_log* log)
{
    maar_mutex_lock(&arena->lock);
    if (arena->capture == NULL) {
        arena->capture = log;
        for_each_block(arena, begin_block);
    }
    maar_mutex_unlock(&arena->lock);
}

static void forget_block(struct maar_arena* arena, struct maar_block* block)
{
    (void)arena;
    maar_atomic32_store(&block->captured, 0);
}

static void forget_arena(struct maar_arena* arena)
{
    maar_mutex_lock(&arena->lock);
    for_each_block(arena, forget_block);
    arena->capture = NULL;
    maar_mutex_unlock(&arena->lock);
}

static bool end_range(void* context, const MaarRangeInfo* info)
{
    struct maar_arena* const arena = context;
    if (info->state == MAAR_RANGE_STATE_LIVE) {
        const uint32_t index = (uint32_t)info->userData;
        struct maar_slot* const slot = maar_slot_at(&arena->pool->allocator->slots, index);
        if (slot->ranged || slot->held) {
            maar_captured_slot_end(arena, slot, index);
        }
    }
    return true;
}

static void end_block(struct maar_arena* arena, struct maar_block* block)
{
    for_each_slot(arena, block, end_range);
    maar_captured_block_end(arena, block);
}

void maar_captured_arena_end(struct maar_arena* arena)
{
    for_each_block(arena, end_block);
    arena->capture = NULL;
}

static void capture_pool(struct maar_pool* pool, struct maar_capture_log* log)
{
    /* An arena that another thread adds is seen here, or its maker sees that the log is open. */
    maar_mutex_lock(&pool->arenas.lock);
    maar_mutex_unlock(&pool->arenas.lock);
    for (struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL;
         arena = maar_pool_next_arena(pool, arena->number + 1)) {
        capture_arena(arena, log);
    }
}

void maar_capture_new_pool(struct maar_pool* pool)
{
    struct maar_capture_log* const log = maar_capture_enter(pool->allocator);
    if (log != NULL) {
        capture_pool(pool, log);
        maar_capture_log_leave(log);
    }
}

void maar_capture_new_arena(struct maar_arena* arena)
{
    struct maar_capture_log* const log = maar_capture_enter(arena->pool->allocator);
    if (log != NULL) {
        capture_arena(arena, log);
        maar_capture_log_leave(log);
    }
}

/* ---- the log ---- */

struct maar_capture_log* maar_capture_enter(MaarAllocator allocator)
{
    struct maar_capture_log* const log =
        maar_may_capture(allocator) ? maar_atomic_pointer_load(&allocator->capture) : NULL;
    return log != NULL && maar_capture_log_enter(log) ? log : NULL;
}

struct maar_capture_log* maar_capture_log_of(MaarAllocator allocator)
{
    struct maar_capture_log* log = maar_atomic_pointer_load(&allocator->capture);
    if (log != NULL) {
        return log;
    }
    struct maar_capture_log* made = maar_capture_log_create(
        allocator->callbacks, &allocator->capture_users, maar_is_synchronized(allocator));
    if (made == NULL) {
        return NULL;
    }
    maar_mutex_lock(&allocator->list_lock);
    log = maar_atomic_pointer_load(&allocator->capture);
    if (log == NULL) {
        maar_atomic_pointer_store(&allocator->capture, made);
        log = made;
        made = NULL;
    }
    maar_mutex_unlock(&allocator->list_lock);
    maar_capture_log_destroy(made, allocator->callbacks);
    return log;
}

void maar_capture_start(MaarAllocator allocator, struct maar_capture_log* log)
{
    maar_capture_log_open(log);
    for (struct maar_pool* pool = maar_pool_next(allocator, NULL); pool != NULL;
         pool = maar_pool_next(allocator, pool)) {
        capture_pool(pool, log);
    }
    maar_capture_budgets(allocator);
}

bool maar_capture_stop(MaarAllocator allocator, MaarCaptureKind last, MaarCaptureState* state)
{
    struct maar_capture_log* const log = maar_atomic_pointer_load(&allocator->capture);
    if (log == NULL ||
        !maar_capture_log_turn(log, MAAR_CAPTURE_RUNNING, MAAR_CAPTURE_CHANGING)) {
        return false;
    }
    maar_capture_log_close(log);
    for (struct maar_pool* pool = maar_pool_next(allocator, NULL); pool != NULL;
         pool = maar_pool_next(allocator, pool)) {
        for (struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL;
             arena = maar_pool_next_arena(pool, arena->number + 1)) {
            forget_arena(arena);
        }
    }
    if (last != MAAR_CAPTURE_KIND_EMPTY) {
        maar_capture_log_end(log, last, MAAR_CAPTURE_DEVICE);
    }
    maar_capture_close(&log->writer);
    *state = (MaarCaptureState)maar_atomic32_load(&log->writer.ended);
    maar_captured_objects_close(&log->objects, allocator->callbacks);
    (void)maar_capture_log_turn(log, MAAR_CAPTURE_CHANGING, MAAR_CAPTURE_IDLE);
    return true;
}

/* ---- the rest ---- */

void maar_capture_failure(MaarAllocator allocator, const struct maar_device_memory_info* info,
                          VkResult result, uint64_t duration_ns)
{
    const MaarCaptureMemory failed = {
        .device = MAAR_CAPTURE_DEVICE,
        .type = info->type_index,
        .size = info->size,
        .duration_ns = duration_ns,
        .result = result,
        .handleTypes = info->export_types | info->import_types,
        .priority = info->priority,
    };
    struct maar_capture_log* const log = maar_capture_enter(allocator);
    if (log != NULL) {
        maar_capture_write(&log->writer, MAAR_CAPTURE_KIND_MEMORY_FAILED, &failed, sizeof failed);
        maar_capture_log_leave(log);
    }
}

bool maar_captured_as(MaarAllocator allocator, struct maar_capture_log* log,
                      MaarAllocation allocation, uint32_t* kind, uint64_t* object)
{
    const uint64_t handle = MAAR_TO_BITS(allocation);
    uint32_t index = 0;
    struct maar_slot* const slot = maar_slot_resolve(&allocator->slots, handle, &index);
    if (slot == NULL) {
        return false;
    }
    const struct maar_block* const block = maar_slot_enter(slot);
    struct maar_arena* const arena = maar_block_arena(block);
    const bool is_captured = arena->capture != NULL && handle_of(slot, index) == handle;
    const bool is_range = is_captured && slot->ranged;
    const bool is_object = is_captured && slot->held;
    maar_mutex_unlock(&arena->lock);
    *kind = MAAR_CAPTURE_OBJECT_RANGE;
    *object = handle;
    return is_range ||
           (is_object && maar_captured_objects_find(&log->objects, handle, kind, object));
}

void maar_capture_name(MaarAllocator allocator, MaarAllocation allocation, const char* name)
{
    struct maar_capture_log* const log = maar_capture_enter(allocator);
    uint32_t kind = 0;
    uint64_t object = 0;
    if (log != NULL) {
        if (maar_captured_as(allocator, log, allocation, &kind, &object)) {
            maar_capture_log_name(log, kind, object, name);
        }
        maar_capture_log_leave(log);
    }
}

/* Writes the budgets, which the driver is asked for while this thread is not inside the log. */
static void write_budgets(MaarAllocator allocator,
                          const VkPhysicalDeviceMemoryBudgetPropertiesEXT* answer)
{
    struct maar_capture_log* const log = maar_capture_enter(allocator);
    const uint32_t heaps = allocator->device.facts.memory.memoryHeapCount;
    MaarCaptureBudget facts = {.device = MAAR_CAPTURE_DEVICE, .heapCount = heaps};
    if (log == NULL) {
        return;
    }
    for (uint32_t i = 0; i < heaps && i < MAAR_CAPTURE_MOST_HEAPS; ++i) {
        facts.budget[i] = answer->heapBudget[i];
        facts.usage[i] = answer->heapUsage[i];
    }
    maar_capture_write(&log->writer, MAAR_CAPTURE_KIND_BUDGET, &facts, sizeof facts);
    maar_capture_log_leave(log);
}

void maar_capture_budgets(MaarAllocator allocator)
{
    const struct maar_device* device = &allocator->device;
    struct maar_capture_log* const log =
        device->facts.memory_budget ? maar_capture_enter(allocator) : NULL;
    if (log == NULL) {
        return;
    }
    const bool due = maar_capture_log_wants_budget(log);
    maar_capture_log_leave(log);
    if (due) {
        VkPhysicalDeviceMemoryBudgetPropertiesEXT answer = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT,
        };
        VkPhysicalDeviceMemoryProperties2 question = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2,
            .pNext = &answer,
        };
        maar_lock_rank_expect_none();
        device->vkGetPhysicalDeviceMemoryProperties2(device->physical, &question);
        write_budgets(allocator, &answer);
    }
}

void maar_capture_mapping(MaarAllocator allocator, struct maar_block* block, bool mapped)
{
    const uint64_t memory = MAAR_TO_BITS(block->memory);
    struct maar_capture_log* const log = maar_capture_enter(allocator);
    if (log == NULL) {
        return;
    }
    if (maar_atomic32_load(&block->captured) == 0) {
        /* the capture has not reached the block yet */
    } else if (mapped) {
        const MaarCaptureMap map = {
            .device = MAAR_CAPTURE_DEVICE, .memory = memory, .size = WHOLE_MAPPING};
        maar_capture_write(&log->writer, MAAR_CAPTURE_KIND_MAP, &map, sizeof map);
    } else {
        maar_capture_log_end(log, MAAR_CAPTURE_KIND_UNMAP, memory);
    }
    maar_capture_log_leave(log);
}
