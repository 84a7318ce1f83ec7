/*
 * What a capture records of allocations: see captured_slot.h.
 */
#include "core/memory/captured_slot.h"

#include "core/memory/allocation_handle.h"
#include "core/memory/margin_size.h"
#include "core/memory/pool.h"

/* Returns the handle that an allocation has, or had until a thread claimed it. */
static uint64_t captured_handle(const struct maar_slot* slot, uint32_t index)
{
    const uint32_t key = maar_key_read(&slot->key);
    return maar_handle_make(index, (key & 1u) != 0 ? key : key - 1u);
}

void maar_captured_range(struct maar_arena* arena, struct maar_slot* slot, uint32_t index,
                         const VkMemoryRequirements* needs)
{
    MaarAllocator allocator = arena->pool->allocator;
    struct maar_capture_log* const log = arena->capture;
    const struct maar_block* block = maar_slot_block(allocator, slot);
    const struct maar_span span = maar_slot_bytes(allocator, slot);
    const char* name = maar_slot_name(slot, index);
    const MaarCaptureRange range = {
        .device = MAAR_CAPTURE_DEVICE,
        .resourceKind = maar_slot_kind(slot),
        .range = captured_handle(slot, index),
        .memory = MAAR_TO_BITS(block->memory),
        .offset = span.offset,
        .size = span.size,
        .alignment = needs != NULL ? needs->alignment : 0,
        .typeBits = needs != NULL ? needs->memoryTypeBits : 0,
    };
    maar_capture_write(&log->writer, MAAR_CAPTURE_KIND_RANGE, &range, sizeof range);
    if (name != NULL) {
        maar_capture_log_name(log, MAAR_CAPTURE_OBJECT_RANGE, range.range, name);
    }
    maar_slot_mark(slot, MAAR_SLOT_RANGED, true);
}

void maar_captured_slot_end(struct maar_arena* arena, struct maar_slot* slot, uint32_t index)
{
    struct maar_capture_log* const log = arena->capture;
    const uint64_t handle = captured_handle(slot, index);
    if (log == NULL) {
        return; /* the capture in which the allocation was recorded has ended */
    }
    if (maar_slot_has(slot, MAAR_SLOT_RANGED)) {
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
    if (maar_slot_has(slot, MAAR_SLOT_RANGED)) {
        maar_capture_log_end(arena->capture, MAAR_CAPTURE_KIND_RANGE_END,
                             captured_handle(slot, index));
    }
    maar_slot_mark(slot, MAAR_SLOT_RANGED, false);
    maar_slot_mark(slot, MAAR_SLOT_HELD, true);
    return true;
}

void maar_captured_pending(struct maar_arena* arena, struct maar_slot* slot, uint32_t index)
{
    if (!maar_slot_has(slot, MAAR_SLOT_RANGED | MAAR_SLOT_HELD) && !slot->stitched) {
        maar_captured_range(arena, slot, index, NULL);
    }
}

void maar_capture_parted(MaarAllocator allocator, MaarAllocation allocation)
{
    const uint32_t index = maar_slot_index(allocation);
    struct maar_slot* const slot = maar_slot_of_own(allocator, allocation);
    const struct maar_block* const block = maar_slot_enter(allocator, slot);
    struct maar_arena* const arena = maar_block_arena(block);
    (void)maar_captured_slot_yields(arena, slot, index);
    maar_mutex_unlock(&arena->lock);
}

void maar_capture_allocation(MaarAllocator allocator, MaarAllocation allocation,
                             const VkMemoryRequirements* needs)
{
    const uint32_t index = maar_slot_index(allocation);
    struct maar_slot* const slot = maar_slot_of_own(allocator, allocation);
    const struct maar_block* const block = maar_slot_enter(allocator, slot);
    struct maar_arena* const arena = maar_block_arena(block);
    if (arena->capture != NULL && !maar_slot_has(slot, MAAR_SLOT_RANGED) && !slot->stitched) {
        maar_captured_range(arena, slot, index, needs);
    }
    maar_mutex_unlock(&arena->lock);
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
    const struct maar_block* const block = maar_slot_enter(allocator, slot);
    struct maar_arena* const arena = maar_block_arena(block);
    const bool is_captured = arena->capture != NULL && captured_handle(slot, index) == handle;
    const bool is_range = is_captured && maar_slot_has(slot, MAAR_SLOT_RANGED);
    const bool is_object = is_captured && maar_slot_has(slot, MAAR_SLOT_HELD);
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
