/*
 * Staging memory in slots: see upload_slots.h.
 */
#include "core/staging/upload_slots.h"

#include "core/memory/allocation_free.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/mapping.h"
#include "core/objects/buffer.h"
#include "core/objects/object.h"

/* An alignment above this is not worth its padding. */
enum { MOST_COPY_ALIGNMENT = 65536 };

VkDeviceSize maar_upload_stride(MaarAllocator allocator, VkDeviceSize size, VkDeviceSize unit)
{
    const VkDeviceSize best =
        allocator->device.facts.properties.limits.optimalBufferCopyOffsetAlignment;
    if (best <= MOST_COPY_ALIGNMENT) {
        unit = maar_common_multiple(unit, best, MAAR_RANGE_MAX_SIZE);
    }
    return maar_align_up(size, unit);
}

VkResult maar_upload_slots_create(struct maar_upload_slots* slots, const char* call,
                                  const char* name)
{
    const MaarAllocator allocator = slots->allocator;
    const VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = slots->count * slots->stride,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
    };
    const MaarAllocationCreateInfo memory = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT,
        .usage = MAAR_MEMORY_USAGE_UPLOAD,
        .pName = name,
    };
    slots->slots = maar_host_calloc(allocator->callbacks, slots->count, sizeof *slots->slots);
    if (slots->slots == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < slots->count; ++i) {
        slots->slots[i].next = i + 1 < slots->count ? i + 1 : MAAR_NO_UPLOAD;
    }
    struct maar_patience patience = maar_patience_begin();
    const VkResult result = maar_create_buffer(allocator, call, &buffer, &memory, &patience,
                                               &slots->buffer, &slots->memory);
    if (result == VK_SUCCESS) {
        slots->data = maar_slot_address(allocator, maar_slot_of_own(allocator, slots->memory));
    }
    return result;
}

void maar_upload_slots_undo(struct maar_upload_slots* slots)
{
    maar_discard_object(slots->allocator, (struct maar_object){.buffer = slots->buffer});
    maar_undo_allocation(slots->allocator, slots->memory);
}

void maar_upload_slots_free(struct maar_upload_slots* slots)
{
    maar_host_free(slots->allocator->callbacks, slots->slots);
    slots->slots = NULL;
}

struct maar_upload_slot* maar_upload_start(struct maar_upload_slots* slots, uint32_t owner)
{
    MAAR_DEBUG_ASSERT(slots->first_free != MAAR_NO_UPLOAD);
    struct maar_upload_slot* slot = &slots->slots[slots->first_free];
    slots->first_free = slot->next;
    ++slots->used;
    slot->state = MAAR_UPLOAD_STARTED;
    slot->owner = owner;
    ++slot->generation;
    return slot;
}

void maar_upload_push(struct maar_upload_slots* slots, uint32_t* list,
                      struct maar_upload_slot* slot)
{
    slot->next = *list;
    *list = maar_upload_index(slots, slot);
}

void maar_upload_end(struct maar_upload_slots* slots, struct maar_upload_slot* slot)
{
    slot->state = MAAR_UPLOAD_FREE;
    maar_upload_push(slots, &slots->first_free, slot);
    --slots->used;
}

struct maar_upload_slot* maar_upload_find(struct maar_upload_slots* slots, uint64_t id)
{
    const uint32_t index = (uint32_t)id;
    if (index >= slots->count || slots->slots[index].generation != id >> 32 ||
        slots->slots[index].state != MAAR_UPLOAD_STARTED) {
        return NULL;
    }
    return &slots->slots[index];
}

VkResult maar_upload_move(struct maar_upload_slots* slots, const char* call, uint32_t count,
                          const uint64_t* ids, size_t stride, enum maar_upload_state state)
{
    if (count > 0 && ids == NULL) {
        return maar_misuse(slots->allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, call,
                           "pUploads is NULL");
    }
    for (uint32_t i = 0; i < count; ++i) {
        struct maar_upload_slot* slot = maar_upload_find(slots, maar_upload_id_at(ids, stride, i));
        if (slot == NULL) {
            for (uint32_t k = 0; k < i; ++k) {
                slots->slots[(uint32_t)maar_upload_id_at(ids, stride, k)].state =
                    MAAR_UPLOAD_STARTED;
            }
            return maar_fail(slots->allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                             MAAR_MESSAGE_ID_STALE_UPLOAD, call,
                             "pUploads[%u] names an upload that is not there any more, is recorded "
                             "already, or is named twice",
                             i);
        }
        slot->state = state;
    }
    return VK_SUCCESS;
}

VkResult maar_upload_flush(struct maar_upload_slots* slots, const char* call,
                           const struct maar_upload_slot* slot, VkDeviceSize size)
{
    return maar_slot_flush(slots->allocator, call,
                           maar_slot_of_own(slots->allocator, slots->memory),
                           maar_upload_place(slots, slot), size);
}

uint32_t maar_upload_count(const struct maar_upload_slots* slots, uint32_t first,
                           enum maar_upload_state state)
{
    uint32_t count = 0;
    for (uint32_t i = first; i != MAAR_NO_UPLOAD; i = slots->slots[i].next) {
        if (slots->slots[i].state != state || ++count > slots->count) {
            return UINT32_MAX;
        }
    }
    return count;
}
