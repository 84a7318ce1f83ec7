/*
 * Reservations where buffers cannot be sparse: a larger buffer replaces a plain one, and the next
 * submission copies the contents. Growth is geometric. So all copies together move a constant times
 * the bytes of the last buffer.
 *
 * A buffer is usable once a submission has taken the copy to it. Growing again before that drops
 * the buffer.
 */
#include "core/reservation/reservation_copy.h"

#include "core/memory/allocate.h"
#include "core/memory/allocation_check.h"
#include "core/memory/allocation_free.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/device_memory.h"
#include "core/memory/object_handle.h"
#include "core/memory/slot_home.h"
#include "core/objects/buffer.h"
#include "core/objects/object.h"
#include "core/paging/paging_timeline.h"
#include "core/reservation/reservation_sparse.h"
#include "core/time/retire_collect.h"

/* The least unit of growth, bytes: the page size of sparse buffers on most devices, so that
 * programs see similar numbers everywhere. Most growth is larger. */
#define LEAST_UNIT ((VkDeviceSize)1 << 16)

/* A buffer that was replaced, and the copy out of it. */
struct outgrown_buffer {
    struct maar_page_copy
        copy; /* the first member: a pointer to it is cast back to this structure */
    struct maar_leaving_buffer leaving;
};

/* ---- buffers that are destroyed later ---- */

/* Counts the bytes of a buffer as pending. */
static void begin_leaving(MaarAllocator allocator, struct maar_leaving_buffer* leaving)
{
    uint32_t index = MAAR_SLOT_NONE;
    struct maar_slot* slot =
        maar_slot_resolve(&allocator->slots, MAAR_TO_BITS(leaving->allocation), &index);
    if (leaving->buffer != VK_NULL_HANDLE && slot != NULL &&
        maar_slot_claim(slot, MAAR_TO_BITS(leaving->allocation))) {
        leaving->slot = index;
        maar_slot_make_pending(allocator, index);
    }
}

static void end_leaving(MaarAllocator allocator, const struct maar_leaving_buffer* leaving)
{
    if (leaving->buffer == VK_NULL_HANDLE) {
        return;
    }
    if (leaving->slot == MAAR_SLOT_NONE) {
        (void)maar_destroy_buffer(allocator, "a reservation", leaving->buffer, leaving->allocation);
        return;
    }
    maar_discard_object(allocator, (struct maar_object){.buffer = leaving->buffer});
    maar_release_pending(allocator, leaving->slot);
}

static struct outgrown_buffer* outgrown_of(struct maar_page_copy* copy)
{
    return (struct outgrown_buffer*)(void*)copy;
}

static void free_outgrown(MaarAllocator allocator, const struct maar_retire_item* item)
{
    struct outgrown_buffer* outgrown = (struct outgrown_buffer*)(uintptr_t)item->object;
    end_leaving(allocator, &outgrown->leaving);
    maar_host_free(allocator->callbacks, outgrown);
}

/* ---- the end of a reservation ---- */

static void finish_copying(MaarAllocator allocator, const struct maar_retire_item* item)
{
    struct maar_reservation* reservation = (struct maar_reservation*)(uintptr_t)item->object;
    struct maar_copying* copying = reservation->copying;
    for (struct maar_page_copy *copy = copying->undone, *older; copy != NULL; copy = older) {
        older = copy->older;
        end_leaving(allocator, &outgrown_of(copy)->leaving);
        maar_retire_discard(&allocator->retire, copy->item);
        maar_host_free(allocator->callbacks, outgrown_of(copy));
    }
    end_leaving(allocator, &copying->present);
    maar_host_free(allocator->callbacks, copying);
    maar_reservation_free(reservation);
}

static void release_copying(MaarAllocator allocator, struct maar_copy_owner* owner,
                            struct maar_page_copy* undone)
{
    struct maar_copying* copying = (struct maar_copying*)(void*)owner;
    struct maar_retire_item* item = copying->reservation->item;
    copying->undone = undone;
    item->action = finish_copying;
    item->describe = maar_reservation_describe;
    item->pool = maar_pool_pending(maar_pool_of(allocator, copying->memory_info.pool));
    item->object = (uint64_t)(uintptr_t)copying->reservation;
    if (owner->value != 0) {
        maar_retire_add_point(item, maar_paging_point(allocator, owner->value));
    }
    if (copying->at_once || item->point_count == 0) {
        maar_retire_run(&allocator->retire, item);
        return;
    }
    for (struct maar_page_copy* copy = undone; copy != NULL; copy = copy->older) {
        begin_leaving(allocator, &outgrown_of(copy)->leaving);
    }
    begin_leaving(allocator, &copying->present);
    maar_retire_queue(&allocator->retire, item);
}

void maar_copying_end(struct maar_reservation* reservation, bool at_once)
{
    reservation->copying->at_once = at_once;
    maar_copy_owner_end(reservation->allocator, &reservation->copying->owner);
}

/* ---- the beginning ---- */

static void add_family(struct maar_copying* copying, uint32_t family)
{
    uint32_t count = copying->buffer_info.queueFamilyIndexCount;
    for (uint32_t i = 0; i < count; ++i) {
        if (copying->families[i] == family) {
            return;
        }
    }
    copying->families[count] = family;
    copying->buffer_info.queueFamilyIndexCount = count + 1;
}

/* Shares the buffers between all families that may use them: those of the allocator's queues,
 * including the queue for copies, and those that the program named. */
static void share_buffers(MaarAllocator allocator, const VkBufferCreateInfo* info,
                          struct maar_copying* copying)
{
    VkBufferCreateInfo* mine = &copying->buffer_info;
    mine->queueFamilyIndexCount = 0;
    for (uint32_t i = 0; i < allocator->queue_count; ++i) {
        add_family(copying, allocator->queues[i].familyIndex);
    }
    for (uint32_t i = 0;
         info->sharingMode == VK_SHARING_MODE_CONCURRENT && i < info->queueFamilyIndexCount; ++i) {
        add_family(copying, info->pQueueFamilyIndices[i]);
    }
    const bool alone = mine->queueFamilyIndexCount < 2;
    mine->sharingMode = alone ? VK_SHARING_MODE_EXCLUSIVE : VK_SHARING_MODE_CONCURRENT;
    mine->queueFamilyIndexCount = alone ? 0 : mine->queueFamilyIndexCount;
    mine->pQueueFamilyIndices = alone ? NULL : copying->families;
}

static bool has_copying_queue(MaarAllocator allocator)
{
    const VkQueueFlags copies = (VkQueueFlags)VK_QUEUE_GRAPHICS_BIT |
                                (VkQueueFlags)VK_QUEUE_COMPUTE_BIT |
                                (VkQueueFlags)VK_QUEUE_TRANSFER_BIT;
    const struct maar_device_facts* facts = &allocator->device.facts;
    for (uint32_t i = 0; i < allocator->queue_count; ++i) {
        const uint32_t family = allocator->queues[i].familyIndex;
        if (family < facts->queue_family_count && (facts->queue_flags[family] & copies) != 0) {
            return true;
        }
    }
    return false;
}

/* Finds the unit of growth by a question to the driver, and whether a memory type serves. */
static VkResult ask_driver(struct maar_reservation* reservation, const char* call,
                           const struct maar_copying* copying)
{
    const MaarAllocator allocator = reservation->allocator;
    VkBufferCreateInfo question = copying->buffer_info;
    question.size = LEAST_UNIT;
    MaarMemoryRequest request;
    VkResult result = maar_buffer_info_request(allocator, &question, &request);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_type_choice choice;
    if (copying->memory_info.pool == VK_NULL_HANDLE &&
        !maar_choose_types(allocator, request.requirements.memoryTypeBits, &copying->memory_info,
                           &choice)) {
        return maar_fail(allocator, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_NO_MEMORY_TYPE,
                         call, "no memory type serves the buffer and pMemoryInfo");
    }
    reservation->page_size = maar_align_up(LEAST_UNIT, request.requirements.alignment);
    return VK_SUCCESS;
}

VkResult maar_copying_create(struct maar_reservation* reservation, const char* call,
                             const MaarReservationCreateInfo* info)
{
    const MaarAllocator allocator = reservation->allocator;
    const VkBufferCreateInfo* buffer_info = info->pBufferInfo;
    if (buffer_info->pNext != NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED, call,
                           "pBufferInfo->pNext is not NULL, but a reservation that grows by copies "
                           "makes its buffers later, when the chain is gone");
    }
    if (!has_copying_queue(allocator)) {
        return maar_fail(allocator, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_NO_QUEUE, call,
                         "growing by copies needs a queue in MaarAllocatorCreateInfo::pQueues that "
                         "copies");
    }
    if (info->pMemoryInfo != NULL && maar_pool_require_own(allocator, call, "pMemoryInfo->pool",
                                                           info->pMemoryInfo->pool) != VK_SUCCESS) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const size_t named = buffer_info->sharingMode == VK_SHARING_MODE_CONCURRENT
                             ? (size_t)buffer_info->queueFamilyIndexCount
                             : 0;
    struct maar_copying* copying = maar_host_calloc(
        allocator->callbacks, 1,
        sizeof *copying + (allocator->queue_count + named) * sizeof copying->families[0]);
    if (copying == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    copying->owner.release = release_copying;
    copying->reservation = reservation;
    copying->present.slot = MAAR_SLOT_NONE;
    copying->buffer_info = *buffer_info;
    copying->buffer_info.flags = maar_without_sparse_bits(buffer_info->flags);
    copying->buffer_info.usage |= (VkBufferUsageFlags)VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                  (VkBufferUsageFlags)VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    reservation->usage = copying->buffer_info.usage;
    share_buffers(allocator, buffer_info, copying);
    copying->memory_info =
        info->pMemoryInfo != NULL ? *info->pMemoryInfo : maar_default_create_info;
    copying->memory_info.pNext = NULL;
    if ((info->flags & MAAR_RESERVATION_CREATE_MAPPED_BIT) != 0) {
        copying->memory_info.flags |= MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    }
    copying->memory_info.pName = reservation->name;
    VkResult result = ask_driver(reservation, call, copying);
    if (result != VK_SUCCESS) {
        maar_host_free(allocator->callbacks, copying);
        return result;
    }
    reservation->copying = copying;
    return VK_SUCCESS;
}

/* ---- growing ---- */

/* Prepares a copy out of the present buffer; returns NULL when host memory is short. */
static struct outgrown_buffer* prepare_outgrown(MaarAllocator allocator)
{
    struct outgrown_buffer* outgrown = maar_host_calloc(allocator->callbacks, 1, sizeof *outgrown);
    if (outgrown == NULL) {
        return NULL;
    }
    outgrown->copy.item = maar_retire_prepare(&allocator->retire, 1, NULL);
    if (outgrown->copy.item == NULL) {
        maar_host_free(allocator->callbacks, outgrown);
        return NULL;
    }
    outgrown->copy.item->action = free_outgrown;
    outgrown->copy.item->object = (uint64_t)(uintptr_t)outgrown;
    return outgrown;
}

static void discard_outgrown(MaarAllocator allocator, struct outgrown_buffer* outgrown)
{
    if (outgrown != NULL) {
        maar_retire_discard(&allocator->retire, outgrown->copy.item);
        maar_host_free(allocator->callbacks, outgrown);
    }
}

/* Creates a buffer with room to spare or, when memory is short, of exactly the needed size. */
static VkResult make_larger(struct maar_reservation* reservation, const char* call,
                            VkDeviceSize least, struct maar_leaving_buffer* larger,
                            VkDeviceSize* size)
{
    struct maar_copying* copying = reservation->copying;
    const VkDeviceSize ample = copying->present_size + copying->present_size / 2;
    VkDeviceSize wanted = maar_align_up(ample > least ? ample : least, reservation->page_size);
    VkDeviceSize needed = maar_align_up(least, reservation->page_size);
    wanted = wanted < reservation->size ? wanted : reservation->size;
    needed = needed < reservation->size ? needed : reservation->size;
    struct maar_patience patience = maar_patience_begin();
    for (;;) {
        copying->buffer_info.size = wanted;
        MaarAllocationCreateInfo how = copying->memory_info;
        how.flags |= wanted != needed ? MAAR_ALLOCATE_WITHOUT_REPORT : 0;
        VkResult result = maar_create_buffer(reservation->allocator, call, &copying->buffer_info,
                                             &how, &patience, &larger->buffer, &larger->allocation);
        if (!maar_driver_had_no_memory(result) || wanted == needed) {
            *size = wanted;
            return result;
        }
        wanted = needed;
    }
}

/* Records that the present buffer is copied to a larger one. If the copy to the present buffer is
 * not submitted yet, that copy goes to the larger buffer instead: nothing has used the present
 * buffer. */
static void replace_present(struct maar_reservation* reservation, struct outgrown_buffer* outgrown,
                            VkBuffer larger)
{
    const MaarAllocator allocator = reservation->allocator;
    struct maar_copying* copying = reservation->copying;
    struct maar_page_copy* copy = maar_copy_take_back(allocator, &copying->owner);
    if (copy != NULL) {
        end_leaving(allocator, &copying->present);
        discard_outgrown(allocator, outgrown);
    } else {
        outgrown->leaving = copying->present;
        copy = &outgrown->copy;
        copy->item->pool = maar_pool_pending(maar_pool_of(allocator, copying->memory_info.pool));
        copy->owner = &copying->owner;
        copy->from = copying->present.buffer;
        copy->size = copying->present_size;
    }
    copy->to = larger;
    maar_copy_record(allocator, copy);
}

VkResult maar_copying_prepare(struct maar_reservation* reservation, const char* call,
                              VkDeviceSize least)
{
    const MaarAllocator allocator = reservation->allocator;
    struct maar_copying* copying = reservation->copying;
    struct maar_growth* growth = &copying->growth;
    const bool replaces = copying->present.buffer != VK_NULL_HANDLE;
    MAAR_DEBUG_ASSERT(growth->size == 0 && least > copying->present_size);
    growth->outgrown = replaces ? prepare_outgrown(allocator) : NULL;
    if (replaces && growth->outgrown == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    growth->larger = (struct maar_leaving_buffer){.slot = MAAR_SLOT_NONE};
    const VkResult result = make_larger(reservation, call, least, &growth->larger, &growth->size);
    if (result != VK_SUCCESS) {
        discard_outgrown(allocator, growth->outgrown);
        *growth = (struct maar_growth){.size = 0};
    }
    return result;
}

void maar_copying_adopt(struct maar_reservation* reservation)
{
    struct maar_copying* copying = reservation->copying;
    struct maar_growth* growth = &copying->growth;
    MAAR_DEBUG_ASSERT(growth->size > copying->present_size);
    if (copying->present.buffer != VK_NULL_HANDLE) {
        replace_present(reservation, growth->outgrown, growth->larger.buffer);
    }
    copying->present = growth->larger;
    copying->present_size = growth->size;
    reservation->ready = growth->size;
    reservation->buffer = growth->larger.buffer;
    reservation->address = maar_buffer_address(reservation->allocator, reservation->buffer,
                                               copying->buffer_info.usage);
    ++reservation->move_count;
    *growth = (struct maar_growth){.size = 0};
}

void maar_copying_discard(struct maar_reservation* reservation)
{
    const MaarAllocator allocator = reservation->allocator;
    struct maar_growth* growth = &reservation->copying->growth;
    maar_discard_object(allocator, (struct maar_object){.buffer = growth->larger.buffer});
    maar_undo_own_allocation(allocator, growth->larger.allocation);
    discard_outgrown(allocator, growth->outgrown);
    *growth = (struct maar_growth){.size = 0};
}

VkResult maar_copying_grow(struct maar_reservation* reservation, const char* call,
                           VkDeviceSize least)
{
    if (least <= reservation->copying->present_size) {
        return VK_SUCCESS;
    }
    const VkResult result = maar_copying_prepare(reservation, call, least);
    if (result == VK_SUCCESS) {
        maar_copying_adopt(reservation);
    }
    return result;
}

bool maar_copying_run(const struct maar_reservation* reservation, MaarPageRun* run)
{
    const struct maar_copying* copying = reservation->copying;
    if (copying->present.buffer == VK_NULL_HANDLE) {
        return false;
    }
    MaarAllocator allocator = reservation->allocator;
    const struct maar_slot* slot = maar_slot_of_own(allocator, copying->present.allocation);
    const struct maar_block* block = maar_slot_block(allocator, slot);
    *run = (MaarPageRun){
        .size = copying->present_size,
        .memory = block->memory,
        .memoryOffset = maar_slot_span(allocator, slot).offset,
        .blockId = block->id,
        .memoryTypeIndex = block->pool->type_index,
    };
    return true;
}
