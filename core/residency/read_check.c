/*
 * Compares what leaves the device with what came: see read_check.h.
 */
#include "core/residency/read_check.h"

#include "core/memory/allocator_state.h"
#include "core/residency/checksum.h"
#include "core/residency/residency_copies.h"
#include "core/residency/resident_copy.h"
#include "core/residency/resident_valid.h"

/* How long a comparison waits for the device, ns. */
static const uint64_t longest_wait = 1000000000;

/* Returns the checksum of contents as they lie in a host object. What lies between the regions of
 * an image is left out. */
static uint64_t sum_contents(const struct maar_resident* resident, const uint8_t* bytes)
{
    if (!maar_resident_is_image(resident)) {
        return maar_checksum(bytes, (size_t)maar_resident_copied_size(resident));
    }
    struct maar_region_walk walk = {.info = &resident->record->image};
    VkBufferImageCopy region;
    uint64_t sum = 0;
    while (maar_region_next(&walk, &region)) {
        const size_t size = (size_t)(walk.end - region.bufferOffset);
        sum = sum * 31 + maar_checksum(bytes + region.bufferOffset, size);
    }
    return sum;
}

/* Sums the contents of the host object. Returns false if it is not valid, or not readable yet. */
static bool sum_host(struct maar_residency* it, const struct maar_resident* resident, uint64_t* sum)
{
    const MaarPoint end = {it->copies.timeline, resident->host_ready};
    if (!maar_resident_has(resident, MAAR_TIER_HOST) ||
        (resident->host_ready > it->copies.completed &&
         maarWaitPoints(it->allocator, 1, &end, longest_wait) != VK_SUCCESS) ||
        maarInvalidateAllocation(it->allocator, resident->host_allocation, 0, VK_WHOLE_SIZE) !=
            VK_SUCCESS) {
        return false;
    }
    *sum = sum_contents(resident, resident->host_data);
    return true;
}

/* Submits a copy of the device's object to a buffer. */
static VkResult copy_object(struct maar_residency* it, struct maar_resident* resident,
                            VkBuffer buffer)
{
    struct maar_copy_waits waits = {.count = 0};
    struct maar_stream_commands* commands = NULL;
    struct maar_resident view = *resident;
    view.host_buffer = buffer;
    waits.count = maar_resident_points(it, resident, waits.points);
    VkResult result = maar_copies_begin(it, &commands);
    if (result == VK_SUCCESS) {
        maar_resident_record_save(it, &view, true, commands->buffer);
        result = maar_copies_submit(it, commands, &waits);
    }
    resident->ready = result == VK_SUCCESS ? it->copies.submitted : resident->ready;
    return result;
}

/* Sums the contents of the device's object. Returns false if they cannot be copied now. */
static bool sum_device(struct maar_residency* it, struct maar_resident* resident, uint64_t* sum)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = resident->content_size,
        .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT,
        .usage = MAAR_MEMORY_USAGE_READBACK,
    };
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    if (maarCreateBuffer(it->allocator, &info, &how, &buffer, &memory) != VK_SUCCESS) {
        return false;
    }
    const VkResult copied = copy_object(it, resident, buffer);
    const MaarPoint end = {it->copies.timeline, it->copies.submitted};
    const bool is_there =
        copied == VK_SUCCESS &&
        maarWaitPoints(it->allocator, 1, &end, longest_wait) == VK_SUCCESS &&
        maarInvalidateAllocation(it->allocator, memory, 0, VK_WHOLE_SIZE) == VK_SUCCESS;
    if (is_there) {
        *sum = sum_contents(resident, maarGetMappedData(it->allocator, memory));
    }
    (void)maarDestroyBufferAfter(it->allocator, buffer, memory, copied == VK_SUCCESS ? 1 : 0, &end);
    return is_there;
}

void maar_reads_check(struct maar_residency* it, const char* call, struct maar_resident* resident)
{
    uint64_t before = resident->checksum;
    uint64_t now = 0;
    if (!it->checks_reads || resident->is_reported ||
        !maar_resident_has(resident, MAAR_TIER_DEVICE) ||
        maar_resident_copied_size(resident) == 0) {
        return;
    }
    if ((sum_host(it, resident, &before) || resident->has_checksum) &&
        sum_device(it, resident, &now) && now != before) {
        resident->is_reported = true;
        maar_report(
            it->allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_READ_BUT_WRITTEN, call,
            "resident %s was written by uses that have declared MAAR_ACCESS_READ_BIT alone, "
            "and what they wrote is lost now",
            maar_quote(resident->name).text);
    }
}

void maar_reads_note(struct maar_residency* it, struct maar_resident* resident)
{
    if (it->checks_reads && maar_resident_has(resident, MAAR_TIER_DEVICE)) {
        resident->has_checksum =
            sum_host(it, resident, &resident->checksum) || resident->has_checksum;
    }
}
