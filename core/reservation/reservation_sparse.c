/*
 * Makes and ends sparse reservations. commit_pages.c commits their pages.
 */
#include "core/reservation/reservation_sparse.h"

#include <stdio.h>

#include "core/chain.h"
#include "core/memory/allocation_check.h"
#include "core/memory/object_handle.h"
#include "core/memory/pool.h"
#include "core/objects/buffer.h"
#include "core/objects/captured_object.h"
#include "core/objects/object.h"
#include "core/paging/address_space.h"
#include "core/paging/page_table.h"
#include "core/paging/paging_timeline.h"
#include "core/reservation/page_uses.h"
#include "core/time/retire_collect.h"
#include "maar/touch.h"

/* Creates the buffer, and asks what it requires. */
static VkResult create_sparse_buffer(MaarAllocator allocator, const MaarReservationCreateInfo* info,
                                     VkBuffer* buffer, MaarMemoryRequest* request)
{
    const struct maar_device* device = &allocator->device;
    VkBufferCreateInfo buffer_info = *info->pBufferInfo;
    buffer_info.flags = maar_without_sparse_bits(buffer_info.flags) |
                        (VkBufferCreateFlags)VK_BUFFER_CREATE_SPARSE_BINDING_BIT |
                        (VkBufferCreateFlags)VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT;
    if ((info->flags & MAAR_RESERVATION_CREATE_ALIASED_BIT) != 0) {
        buffer_info.flags |= VK_BUFFER_CREATE_SPARSE_ALIASED_BIT;
    }
    maar_lock_rank_expect_none();
    VkResult result =
        device->vkCreateBuffer(device->handle, &buffer_info, device->callbacks, buffer);
    if (result != VK_SUCCESS) {
        *buffer = VK_NULL_HANDLE;
        return result;
    }
    maar_buffer_request(allocator, *buffer, request);
    maar_capture_buffer(allocator, *buffer, &buffer_info, request);
    return VK_SUCCESS;
}

VkResult maar_reservation_create_sparse(struct maar_reservation* reservation, const char* call,
                                        const MaarReservationCreateInfo* info)
{
    const MaarAllocator allocator = reservation->allocator;
    VkResult result = maar_paging_take_space(allocator, call, reservation->size, NULL);
    if (result != VK_SUCCESS) {
        return result;
    }
    reservation->space = reservation->size;
    MaarMemoryRequest request;
    result = create_sparse_buffer(allocator, info, &reservation->buffer, &request);
    if (result != VK_SUCCESS) {
        goto return_space;
    }
    reservation->page_size = maar_page_size(&request.requirements);
    if (request.requirements.size > reservation->space) {
        /* The driver has rounded the size up, so more address space is taken. */
        const VkDeviceSize more = request.requirements.size - reservation->space;
        result = maar_paging_take_space(allocator, call, more, NULL);
        if (result != VK_SUCCESS) {
            goto destroy_buffer;
        }
        reservation->space += more;
    }
    const MaarReservationSpillInfo* spill =
        maar_chain_find(info->pNext, MAAR_STRUCTURE_TYPE_RESERVATION_SPILL_INFO);
    const struct maar_page_table_info table = {
        .call = call,
        .target = MAAR_PAGES_BUFFER,
        .buffer = reservation->buffer,
        .page_size = reservation->page_size,
        .type_bits = request.requirements.memoryTypeBits,
        .kind = MAAR_RESOURCE_KIND_LINEAR,
        .memory = info->pMemoryInfo != NULL ? info->pMemoryInfo : &maar_default_create_info,
        .may_alias = (info->flags & MAAR_RESERVATION_CREATE_ALIASED_BIT) != 0,
        .mapped = (info->flags & MAAR_RESERVATION_CREATE_MAPPED_BIT) != 0,
        .spill = spill != NULL ? spill->pool : VK_NULL_HANDLE,
        .reservation = reservation->listed.handle,
        .reserved = reservation->size,
        .size = request.requirements.size,
    };
    result = maar_page_table_create(allocator, &table, &reservation->table);
    if (result != VK_SUCCESS) {
        goto destroy_buffer;
    }
    const MaarReservationTouchInfo* touches =
        maar_chain_find(info->pNext, MAAR_STRUCTURE_TYPE_RESERVATION_TOUCH_INFO);
    maar_uses_begin(reservation, touches != NULL ? touches->unitSize : 0);
    reservation->address =
        maar_buffer_address(allocator, reservation->buffer, info->pBufferInfo->usage);
    return VK_SUCCESS;

destroy_buffer:
    maar_discard_object(allocator, (struct maar_object){.buffer = reservation->buffer});
return_space:
    maar_paging_return_space(allocator, reservation->space);
    return result;
}

/* Destroys the buffer first. The buffer stays bound to its pages until it is destroyed. Only then
 * may others use the pages. */
static void finish_sparse(MaarAllocator allocator, const struct maar_retire_item* item)
{
    struct maar_reservation* reservation = (struct maar_reservation*)(uintptr_t)item->object;
    maar_discard_object(allocator, (struct maar_object){.buffer = reservation->buffer});
    maar_page_table_destroy(reservation->table);
    maar_paging_return_space(allocator, reservation->space);
    maar_reservation_free(reservation);
}

void maar_reservation_describe(const struct maar_retire_item* item, char* text, size_t size)
{
    const struct maar_reservation* reservation =
        (const struct maar_reservation*)(uintptr_t)item->object;
    (void)snprintf(text, size, "the %s %s and its pages",
                   maar_object_kind_name(reservation->listed.kind),
                   maar_quote(reservation->name).text);
}

void maar_reservation_end_sparse(struct maar_reservation* reservation, bool at_once)
{
    const MaarAllocator allocator = reservation->allocator;
    struct maar_retire_item* item = reservation->item;
    const uint64_t value = maar_page_table_seal(reservation->table);
    if (value == 0) {
        maar_paging_report_unsubmitted(allocator, maar_object_kind_name(reservation->listed.kind),
                                       reservation->name,
                                       maar_page_table_committed(reservation->table));
    } else {
        maar_retire_add_point(item, maar_paging_point(allocator, value));
    }
    item->action = finish_sparse;
    item->describe = maar_reservation_describe;
    item->pool = maar_pool_pending(maar_page_table_owner(reservation->table));
    item->object = (uint64_t)(uintptr_t)reservation;
    if (at_once || item->point_count == 0) {
        maar_retire_run(&allocator->retire, item);
    } else {
        maar_retire_queue(&allocator->retire, item);
    }
}
