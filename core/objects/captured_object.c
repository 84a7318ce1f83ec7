/*
 * What a capture records of buffers and images: see captured_object.h.
 */
#include "core/objects/captured_object.h"

#include "core/chain.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/margin_size.h"
#include "core/memory/pool.h"

static uint32_t kind_of(struct maar_object object)
{
    return object.image != VK_NULL_HANDLE ? MAAR_CAPTURE_OBJECT_IMAGE : MAAR_CAPTURE_OBJECT_BUFFER;
}

static uint64_t bits_of_object(struct maar_object object)
{
    return object.image != VK_NULL_HANDLE ? MAAR_TO_BITS(object.image)
                                          : MAAR_TO_BITS(object.buffer);
}

/* Enters the log and adds an object to it. Returns NULL if no capture goes on, or if there is no
 * host memory: then the object's allocation becomes a range. */
static struct maar_capture_log* begin_object(MaarAllocator allocator, struct maar_object object)
{
    struct maar_capture_log* log = maar_capture_enter(allocator);
    struct maar_captured_object* added = NULL;
    if (log != NULL) {
        added = maar_captured_objects_reuse(&log->objects);
    }
    if (log != NULL && added == NULL) {
        maar_capture_log_leave(log); /* a host allocation may call the program's code */
        added = maar_host_alloc(allocator->callbacks, sizeof *added);
        log = added != NULL ? maar_capture_enter(allocator) : NULL;
        if (log == NULL) {
            maar_host_free(allocator->callbacks, added);
        }
    }
    if (log != NULL) {
        maar_captured_objects_add(&log->objects, added, kind_of(object), bits_of_object(object));
    }
    return log;
}

static uint32_t needs_flags(const MaarMemoryRequest* needs)
{
    uint32_t flags = MAAR_CAPTURE_NEEDS_KNOWN_BIT;
    flags |=
        needs->prefersDedicated == VK_TRUE ? (uint32_t)MAAR_CAPTURE_NEEDS_PREFERS_DEDICATED_BIT : 0;
    flags |= needs->requiresDedicated == VK_TRUE
                 ? (uint32_t)MAAR_CAPTURE_NEEDS_REQUIRES_DEDICATED_BIT
                 : 0;
    return flags;
}

void maar_capture_made_buffer(MaarAllocator allocator, VkBuffer buffer,
                              const VkBufferCreateInfo* info, const MaarMemoryRequest* needs)
{
    const VkExternalMemoryBufferCreateInfo* external =
        maar_chain_find(info->pNext, (int)VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO);
    const MaarCaptureBuffer facts = {
        .device = MAAR_CAPTURE_DEVICE,
        .createFlags = info->flags,
        .buffer = MAAR_TO_BITS(buffer),
        .size = info->size,
        .usage = info->usage,
        .needsSize = needs->requirements.size,
        .needsAlignment = needs->requirements.alignment,
        .typeBits = needs->requirements.memoryTypeBits,
        .needsFlags = needs_flags(needs),
        .handleTypes = external != NULL ? external->handleTypes : 0,
    };
    struct maar_capture_log* const log =
        begin_object(allocator, (struct maar_object){.buffer = buffer});
    if (log != NULL) {
        maar_capture_write(&log->writer, MAAR_CAPTURE_KIND_BUFFER, &facts, sizeof facts);
        maar_capture_log_leave(log);
    }
}

static uint8_t tiling_of(VkImageTiling tiling)
{
    switch (tiling) {
    case VK_IMAGE_TILING_OPTIMAL:
        return 0;
    case VK_IMAGE_TILING_LINEAR:
        return 1;
    default:
        return 2;
    }
}

void maar_capture_made_image(MaarAllocator allocator, VkImage image, const VkImageCreateInfo* info,
                             const MaarMemoryRequest* needs)
{
    const VkExternalMemoryImageCreateInfo* external =
        maar_chain_find(info->pNext, (int)VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO);
    const bool disjoint = (info->flags & VK_IMAGE_CREATE_DISJOINT_BIT) != 0;
    const MaarCaptureImage facts = {
        .device = MAAR_CAPTURE_DEVICE,
        .createFlags = info->flags,
        .image = MAAR_TO_BITS(image),
        .format = (uint32_t)info->format,
        .usage = info->usage,
        .width = info->extent.width,
        .height = info->extent.height,
        .depth = info->extent.depth,
        .mipLevels = (uint16_t)info->mipLevels,
        .samples = (uint16_t)info->samples,
        .arrayLayers = info->arrayLayers,
        .imageType = (uint8_t)info->imageType,
        .tiling = tiling_of(info->tiling),
        .initialLayout = (uint16_t)info->initialLayout,
        .needsSize = needs->requirements.size,
        .needsAlignment = needs->requirements.alignment,
        .typeBits = needs->requirements.memoryTypeBits,
        .needsFlags =
            needs_flags(needs) | (disjoint ? (uint32_t)MAAR_CAPTURE_NEEDS_DISJOINT_BIT : 0),
        .handleTypes = external != NULL ? external->handleTypes : 0,
    };
    struct maar_capture_log* const log =
        begin_object(allocator, (struct maar_object){.image = image});
    if (log != NULL) {
        maar_capture_write(&log->writer, MAAR_CAPTURE_KIND_IMAGE, &facts, sizeof facts);
        maar_capture_log_leave(log);
    }
}

void maar_capture_object_name(MaarAllocator allocator, struct maar_object object, const char* name)
{
    struct maar_capture_log* const log = name != NULL ? maar_capture_enter(allocator) : NULL;
    if (log != NULL) {
        if (maar_captured_objects_place(&log->objects, kind_of(object), bits_of_object(object),
                                        0)) {
            maar_capture_log_name(log, kind_of(object), bits_of_object(object), name);
        }
        maar_capture_log_leave(log);
    }
}

/* Under the arena's lock. span: the bytes of the object in the block of the slot. */
static void write_object_bind(struct maar_capture_log* log, struct maar_object object,
                              const struct maar_block* block, struct maar_span span, uint32_t plane)
{
    const MaarCaptureBind bind = {
        .device = MAAR_CAPTURE_DEVICE,
        .objectKind = kind_of(object),
        .object = bits_of_object(object),
        .memory = MAAR_TO_BITS(block->memory),
        .offset = span.offset,
        .size = span.size,
        .plane = plane,
    };
    maar_capture_write(&log->writer, MAAR_CAPTURE_KIND_BIND, &bind, sizeof bind);
}

/* Under the arena's lock: the object takes the place of a range that may have been recorded. An
 * arena that the capture has not reached yet records the allocation as a range. */
static void hold(struct maar_capture_log* log, struct maar_object object,
                 const struct maar_block* block, struct maar_slot* slot, uint32_t index,
                 uint32_t plane)
{
    const char* name = maar_slot_name(slot, index);
    if (maar_captured_slot_yields(maar_block_arena(block), slot, index)) {
        if (!slot->stitched) {
            write_object_bind(log, object, block, maar_slot_bytes(block->pool->allocator, slot),
                              plane);
        }
        if (name != NULL && plane == 0) {
            maar_capture_log_name(log, kind_of(object), bits_of_object(object), name);
        }
    }
}

void maar_capture_held_memory(MaarAllocator allocator, struct maar_object object,
                              MaarAllocation allocation, uint32_t plane)
{
    struct maar_capture_log* const log = maar_capture_enter(allocator);
    if (log == NULL) {
        return;
    }
    const bool known = maar_captured_objects_place(
        &log->objects, kind_of(object), bits_of_object(object), MAAR_TO_BITS(allocation));
    if (known) {
        struct maar_slot* const slot = maar_slot_of_own(allocator, allocation);
        const struct maar_block* const block = maar_slot_enter(allocator, slot);
        hold(log, object, block, slot, maar_slot_index(allocation), plane);
        maar_mutex_unlock(&maar_block_arena(block)->lock);
    }
    maar_capture_log_leave(log);
    if (!known) {
        maar_capture_allocation(allocator, allocation, NULL);
    }
}

void maar_capture_shared_memory(MaarAllocator allocator, struct maar_object object,
                                const struct maar_slot* slot, VkDeviceSize place)
{
    struct maar_capture_log* const log = maar_capture_enter(allocator);
    if (log == NULL) {
        return;
    }
    if (maar_captured_objects_place(&log->objects, kind_of(object), bits_of_object(object), 0)) {
        const struct maar_block* const block = maar_slot_enter(allocator, slot);
        struct maar_arena* const arena = maar_block_arena(block);
        if (arena->capture != NULL) {
            write_object_bind(log, object, block, (struct maar_span){place, 0}, 0);
        }
        maar_mutex_unlock(&arena->lock);
    }
    maar_capture_log_leave(log);
}

void maar_capture_ended_object(MaarAllocator allocator, struct maar_object object)
{
    struct maar_capture_log* const log =
        bits_of_object(object) != 0 ? maar_capture_enter(allocator) : NULL;
    if (log != NULL) {
        maar_capture_log_end_object(log, kind_of(object), bits_of_object(object));
        maar_capture_log_leave(log);
    }
}
