/*
 * A user of Maar in C99: ranges, a plan, and on a simulated device buffers, images that share
 * memory, and an array that grows. Prints what is wrong and returns 1, or else nothing and 0.
 */
#include <string.h>

#include "consumer_device.h"

static int use_ranges(void)
{
    const MaarRangeAllocatorCreateInfo create_info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO,
        .size = 1024,
    };
    MaarRangeAllocator allocator;
    if (maarCreateRangeAllocator(&create_info, &allocator) != VK_SUCCESS) {
        return consumer_fail("no range allocator");
    }
    const MaarRangeAllocateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO,
        .size = 512,
    };
    MaarRange ranges[2];
    VkDeviceSize offsets[2] = {0, 0};
    const VkResult first = maarAllocateRange(allocator, &info, &ranges[0], &offsets[0]);
    const VkResult second = maarAllocateRange(allocator, &info, &ranges[1], &offsets[1]);
    maarDestroyRangeAllocator(allocator);
    if (first != VK_SUCCESS || second != VK_SUCCESS || offsets[0] + offsets[1] != 512) {
        return consumer_fail("two halves do not fill the space");
    }
    return 0;
}

/* The first and the last of three live at different times. */
static int use_plan(void)
{
    const MaarPlanResource resources[3] = {
        {.size = 4096, .alignment = 256, .firstPass = 0, .lastPass = 1},
        {.size = 8192, .alignment = 256, .firstPass = 1, .lastPass = 2},
        {.size = 4096, .alignment = 256, .firstPass = 2, .lastPass = 3},
    };
    const MaarPlanCreateInfo create_info = {
        .sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
        .resourceCount = 3,
        .pResources = resources,
    };
    MaarPlan plan;
    if (maarCreatePlan(&create_info, &plan) != VK_SUCCESS) {
        return consumer_fail("no plan");
    }
    MaarPlanInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
    const VkResult result = maarGetPlanInfo(plan, &info);
    maarDestroyPlan(plan);
    if (result != VK_SUCCESS || info.peakSize != 12288 || !info.provedOptimal) {
        return consumer_fail("the plan is not the best one");
    }
    return 0;
}

static int use_buffer(MaarAllocator allocator)
{
    const VkBufferCreateInfo buffer_info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = 4096,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
    };
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .usage = MAAR_MEMORY_USAGE_UPLOAD,
    };
    VkBuffer buffer;
    MaarAllocation allocation;
    if (maarCreateBuffer(allocator, &buffer_info, &how, &buffer, &allocation) != VK_SUCCESS) {
        return consumer_fail("no buffer");
    }
    const char sent[] = "these bytes";
    char received[sizeof sent] = "";
    const VkResult there = maarCopyToAllocation(allocator, allocation, 64, sizeof sent, sent);
    const VkResult back =
        maarCopyFromAllocation(allocator, allocation, 64, sizeof received, received);
    maarDestroyBuffer(allocator, buffer, allocation);
    if (there != VK_SUCCESS || back != VK_SUCCESS || memcmp(sent, received, sizeof sent) != 0) {
        return consumer_fail("the buffer holds other bytes than were written");
    }
    return 0;
}

static MaarTransientUse use_of(uint32_t pass, VkImageLayout layout, VkAccessFlags2 access)
{
    const MaarTransientUse use = {
        .pass = pass,
        .layout = layout,
        .stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        .access = access,
    };
    return use;
}

/* Three images of one size, each drawn in one pass and read in the next. */
static int use_transients(const struct consumer_device* d)
{
    const VkImageCreateInfo image_info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {256, 256, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT,
    };
    const MaarTransientQueue queue = {.familyIndex = d->advice.mainQueueFamily};
    MaarTransientPass passes[4];
    MaarTransientUse uses[6];
    MaarTransientResource resources[3];
    memset(passes, 0, sizeof passes);
    memset(resources, 0, sizeof resources);
    for (uint32_t i = 0; i < 3; ++i) {
        uses[2 * i] = use_of(i, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                             VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT);
        uses[2 * i + 1] = use_of(i + 1, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                                 VK_ACCESS_2_SHADER_SAMPLED_READ_BIT);
        resources[i].pImageInfo = &image_info;
        resources[i].useCount = 2;
        resources[i].pUses = &uses[2 * i];
    }
    const MaarTransientGraph graph = {
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_GRAPH,
        .queueCount = 1,
        .pQueues = &queue,
        .passCount = 4,
        .pPasses = passes,
        .resourceCount = 3,
        .pResources = resources,
    };
    const MaarTransientHeapCreateInfo create_info = {
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO,
        .pGraph = &graph,
    };
    MaarTransientHeap heap;
    if (maarCreateTransientHeap(d->allocator, &create_info, &heap) != VK_SUCCESS) {
        return consumer_fail("no transient heap");
    }
    MaarTransientHeapInfo info = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_INFO};
    const VkResult result = maarGetTransientHeapInfo(d->allocator, heap, &info);
    MaarTransientPassBarriers barriers = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS};
    const VkResult asked = maarGetTransientPassBarriers(d->allocator, heap, 0, 2, &barriers);
    maarDestroyTransientHeap(d->allocator, heap);
    if (result != VK_SUCCESS || info.totalSize != (VkDeviceSize)3 * 256 * 256 * 4 ||
        info.peakSize != (VkDeviceSize)2 * 256 * 256 * 4) {
        return consumer_fail("three images that live in turn do not take two thirds");
    }
    return asked == VK_SUCCESS ? 0 : consumer_fail("no barriers");
}

/* Appends to one array a few times, more than its first pages hold. */
static int use_array(MaarAllocator allocator)
{
    const VkBufferCreateInfo buffer_info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = (VkDeviceSize)1 << 30,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
    };
    const MaarArrayCreateInfo create_info = {
        .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO,
        .elementSize = 48,
        .reservation = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                        .pBufferInfo = &buffer_info},
    };
    MaarArray array;
    if (maarCreateArray(allocator, &create_info, &array) != VK_SUCCESS) {
        return consumer_fail("no array");
    }
    VkResult result = VK_SUCCESS;
    uint64_t first = 0;
    for (uint64_t i = 0; i < 5 && result == VK_SUCCESS; ++i) {
        MaarPoint bound;
        result = maarAppendArray(allocator, array, 100000, &first);
        result = result == VK_SUCCESS ? maarSubmitBinds(allocator, 0, NULL, &bound) : result;
    }
    MaarArrayInfo info = {.sType = MAAR_STRUCTURE_TYPE_ARRAY_INFO};
    MaarReservationInfo reserved = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    result = result == VK_SUCCESS ? maarGetArrayInfo(allocator, array, &info) : result;
    result = result == VK_SUCCESS ? maarGetReservationInfo(allocator, info.reservation, &reserved)
                                  : result;
    maarDestroyArray(allocator, array);
    (void)maarWaitPending(allocator, UINT64_MAX);
    if (result != VK_SUCCESS || first != 400000 || info.count != 500000) {
        return consumer_fail("the array did not grow");
    }
    return reserved.sparse ? 0 : consumer_fail("the array grows by copies, though pages are there");
}

int main(void)
{
    struct consumer_device device;
    memset(&device, 0, sizeof device);
    if (maarGetVersion() != MAAR_VERSION) {
        return consumer_fail("headers and library differ in version");
    }
    if (use_ranges() != 0 || use_plan() != 0 || consumer_open(&device) != 0) {
        return 1;
    }
    int wrong = use_buffer(device.allocator) != 0 || use_transients(&device) != 0 ||
                use_array(device.allocator) != 0;
    wrong |= consumer_close(&device);
    return wrong;
}
