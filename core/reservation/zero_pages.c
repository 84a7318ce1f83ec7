/*
 * Commands that fill committed ranges of reservations with zeros, in command buffers of the
 * program.
 */
#include <stdio.h>

#include "core/bound_check.h"
#include "core/device_calls.h"
#include "core/memory/allocator_state.h"
#include "core/memory_order.h"
#include "core/paging/page_table.h"
#include "core/reservation/reservation_copy.h"

/* Vulkan fills whole words of so many bytes. */
enum { FILL_BYTES = 4 };

static VkDeviceSize end_of_fill(const struct maar_reservation* reservation,
                                const MaarPageRange* range)
{
    return range->size == VK_WHOLE_SIZE ? reservation->size : range->offset + range->size;
}

static bool is_filled_part_committed(const struct maar_reservation* reservation,
                                     const MaarPageRange* range)
{
    const VkDeviceSize end = end_of_fill(reservation, range);
    if (range->offset == end) {
        return true;
    }
    if (reservation->table == NULL) {
        return end <= reservation->copying->present_size;
    }
    const uint64_t first = range->offset / reservation->page_size;
    return maar_pages_are_committed(reservation->table, first,
                                    (end - 1) / reservation->page_size + 1 - first);
}

static struct maar_fault find_fill_fault(const struct maar_reservation* reservation,
                                         const MaarPageRange* range, struct maar_bound_text* text)
{
    const VkDeviceSize size = reservation->size;
    if (range->offset > size ||
        (range->size != VK_WHOLE_SIZE && range->size > size - range->offset)) {
        (void)snprintf(text->text, sizeof text->text,
                       "it begins at byte %llu, and ends beyond the reservation, which has %s",
                       (unsigned long long)range->offset, maar_show_bytes(size).text);
        return maar_fault(MAAR_MESSAGE_ID_OUT_OF_RANGE, text->text);
    }
    const VkDeviceSize end = end_of_fill(reservation, range);
    if (range->offset % FILL_BYTES != 0 || (end % FILL_BYTES != 0 && end != size)) {
        (void)snprintf(text->text, sizeof text->text,
                       "it begins at byte %llu and ends at byte %llu, and not both are multiples "
                       "of %u",
                       (unsigned long long)range->offset, (unsigned long long)end,
                       (unsigned)FILL_BYTES);
        return maar_fault(MAAR_MESSAGE_ID_INVALID_ALIGNMENT, text->text);
    }
    if (!is_filled_part_committed(reservation, range)) {
        (void)snprintf(text->text, sizeof text->text, "bytes %llu to %llu are not all committed",
                       (unsigned long long)range->offset, (unsigned long long)end);
        return maar_fault(MAAR_MESSAGE_ID_OUT_OF_RANGE, text->text);
    }
    return MAAR_NO_FAULT;
}

static VkResult check_fill(const struct maar_reservation* reservation, const char* call,
                           uint32_t count, const MaarPageRange* ranges, VkCommandBuffer commands)
{
    MaarAllocator allocator = reservation->allocator;
    const struct maar_rule rules[] = {
        {commands == VK_NULL_HANDLE, MAAR_MESSAGE_ID_NULL_HANDLE,
         "commandBuffer is VK_NULL_HANDLE"},
        {count > 0 && ranges == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pRanges is NULL"},
        {(reservation->usage & VK_BUFFER_USAGE_TRANSFER_DST_BIT) == 0,
         MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED,
         "reservation was made without VK_BUFFER_USAGE_TRANSFER_DST_BIT"},
        {0},
    };
    VkResult result = maar_check_rules(allocator, call, rules);
    for (uint32_t i = 0; result == VK_SUCCESS && i < count; ++i) {
        struct maar_bound_text text;
        const struct maar_fault fault = find_fill_fault(reservation, &ranges[i], &text);
        if (fault.sentence != NULL) {
            result = maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, fault.id, call,
                               "pRanges[%u] cannot be filled: %s", i, fault.sentence);
        }
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarRecordZeroPages(MaarAllocator allocator,
                                                   MaarReservation reservation, uint32_t rangeCount,
                                                   const MaarPageRange* pRanges,
                                                   VkCommandBuffer commandBuffer)
{
    struct maar_reservation* it = NULL;
    VkResult result =
        maar_reservation_check(allocator, __func__, "reservation", reservation, false, &it);
    if (result == VK_SUCCESS) {
        result = check_fill(it, __func__, rangeCount, pRanges, commandBuffer);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_device* device = &allocator->device;
    result = maar_require_functions(allocator, device, __func__, MAAR_FUNCTIONS_COMMANDS);
    if (result == VK_SUCCESS) {
        result = maar_require_functions(allocator, device, __func__, MAAR_FUNCTIONS_FILLS);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    maar_order_commands(device, commandBuffer, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                        VK_PIPELINE_STAGE_TRANSFER_BIT);
    for (uint32_t i = 0; i < rangeCount; ++i) {
        const VkDeviceSize end = end_of_fill(it, &pRanges[i]) / FILL_BYTES * FILL_BYTES;
        if (end > pRanges[i].offset) {
            device->vkCmdFillBuffer(commandBuffer, it->buffer, pRanges[i].offset,
                                    end - pRanges[i].offset, 0);
        }
    }
    maar_order_commands(device, commandBuffer, VK_PIPELINE_STAGE_TRANSFER_BIT,
                        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT);
    return VK_SUCCESS;
}
