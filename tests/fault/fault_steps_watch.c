/*
 * Steps: life of an allocator, and what can be learnt of it.
 */
#include "tests/fault/fault_steps.h"
#include "tests/rig/captured.h"

/* ---- captures ---- */

static char capture_path[128];

static VkResult run_begin_capture(struct fault_context* c)
{
    return captured_begin(c->rig.allocator, captured_path(50, capture_path), 0);
}

static void undo_begin_capture(struct fault_context* c)
{
    assert_int_equal(maarEndCapture(c->rig.allocator), VK_SUCCESS);
    (void)remove(capture_path);
}

static void prepare_capture(struct fault_context* c)
{
    fault_prepare_memory(c);
    assert_int_equal(run_begin_capture(c), VK_SUCCESS);
}

static void finish_capture(struct fault_context* c)
{
    undo_begin_capture(c);
    fault_undo_memory(c);
}

static VkResult run_end_capture(struct fault_context* c)
{
    return maarEndCapture(c->rig.allocator);
}

static void finish_ended_capture(struct fault_context* c)
{
    (void)remove(capture_path);
    fault_undo_memory(c);
}

static VkResult run_frame(struct fault_context* c)
{
    return maarCaptureFrame(c->rig.allocator, c->rig.queue);
}

static VkResult run_mark(struct fault_context* c)
{
    return maarCaptureMark(c->rig.allocator, "a mark");
}

static VkResult run_submit(struct fault_context* c)
{
    const MaarCaptureAccess access = {.allocation = c->memory};
    const MaarCaptureSubmitInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CAPTURE_SUBMIT_INFO, .accessCount = 1, .pAccesses = &access};
    return maarCaptureSubmit(c->rig.allocator, &info);
}

/* A creation during a capture needs host memory for the capture too. */
static VkResult run_captured_buffer(struct fault_context* c)
{
    const VkBufferCreateInfo info = rig_buffer_info(5000);
    return maarCreateBuffer(c->rig.allocator, &info, NULL, &c->buffer, &c->many[0]);
}

static void undo_captured_buffer(struct fault_context* c)
{
    maarDestroyBuffer(c->rig.allocator, c->buffer, c->many[0]);
}

/* ---- before and around an allocator ---- */

static VkResult run_version(struct fault_context* c)
{
    (void)c;
    assert_int_equal(maarGetVersion(), MAAR_VERSION);
    return VK_SUCCESS;
}

static VkResult run_result_name(struct fault_context* c)
{
    (void)c;
    assert_string_equal(maarGetResultName(VK_NOT_READY), "VK_NOT_READY");
    return VK_SUCCESS;
}

static VkResult run_recommend(struct fault_context* c)
{
    static MaarDeviceRecommendation before;
    memset(&c->recommendation, 0, sizeof c->recommendation);
    c->recommendation.sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION;
    c->recommendation.extensionCount = 77;
    memcpy(&before, &c->recommendation, sizeof before);
    VkResult result = maarRecommendDevice(vkGetInstanceProcAddr, c->rig.instance, c->rig.physical,
                                          &c->host.callbacks, &c->recommendation);
    if (result != VK_SUCCESS) {
        assert_memory_equal(&before, &c->recommendation, sizeof before);
    }
    return result;
}

static VkResult run_create(struct fault_context* c)
{
    const MaarQueue queue = {.queue = c->rig.queue};
    MaarAllocatorCreateInfo info = c->rig.create_info;
    info.queueCount = 1;
    info.pQueues = &queue;
    c->second = (MaarAllocator)(uintptr_t)1;
    VkResult result = maarCreateAllocator(&info, &c->second);
    assert_true((result == VK_SUCCESS) == (c->second != VK_NULL_HANDLE));
    return result;
}

static void undo_create(struct fault_context* c)
{
    maarDestroyAllocator(c->second);
}

static MaarAllocation allocate_in_second(struct fault_context* c)
{
    MaarMemoryRequest request = rig_request(5000, 16, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(maarAllocateMemory(c->second, &request, NULL, &memory), VK_SUCCESS);
    return memory;
}

/* Live, leaked, pending on a semaphore that has passed and on the host: all must go. */
static void prepare_second(struct fault_context* c)
{
    const MaarSliceCreateInfo slice = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = 100,
        .usage = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
        .memoryUsage = MAAR_MEMORY_USAGE_UPLOAD,
    };
    const MaarPoolCreateInfo pool = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .minBlockCount = 2,
        .pName = "leaked",
    };
    assert_int_equal(run_create(c), VK_SUCCESS);
    c->timeline = rig_create_timeline(&c->rig, 1);
    const MaarPoint points[2] = {{c->timeline, 1}, {VK_NULL_HANDLE, 1}};
    (void)allocate_in_second(c);
    assert_int_equal(maarCreateSlice(c->second, &slice, &c->slice), VK_SUCCESS);
    assert_int_equal(maarCreatePool(c->second, &pool, &c->pool), VK_SUCCESS);
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(maarFreeMemoryAfter(c->second, allocate_in_second(c), 1, &points[i]),
                         VK_SUCCESS);
    }
}

static VkResult run_destroy(struct fault_context* c)
{
    maarDestroyAllocator(c->second);
    return VK_SUCCESS;
}

static void finish_second(struct fault_context* c)
{
    vkDestroySemaphore(c->rig.device, c->timeline, NULL);
}

static VkResult run_allocator_info(struct fault_context* c)
{
    MaarAllocatorInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    VkResult result = maarGetAllocatorInfo(c->rig.allocator, &info);
    assert_int_equal(info.memoryProperties.memoryTypeCount, 4);
    return result;
}

static VkResult run_choose(struct fault_context* c)
{
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    c->choice.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE;
    VkResult result = maarChooseMemoryType(c->rig.allocator, UINT32_MAX, &how, &c->choice);
    assert_int_equal(c->choice.memoryTypeIndex, 1);
    return result;
}

/* ---- looking ---- */

static VkResult run_statistics(struct fault_context* c)
{
    assert_int_equal(rig_statistics(&c->rig, VK_NULL_HANDLE).allocationCount, 1);
    return VK_SUCCESS;
}

static VkResult run_type_statistics(struct fault_context* c)
{
    const uint32_t type = rig_info(&c->rig, c->memory).memoryTypeIndex;
    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    VkResult result = maarGetMemoryTypeStatistics(c->rig.allocator, type, &statistics);
    assert_int_equal(statistics.allocationCount, 1);
    return result;
}

static VkResult run_details(struct fault_context* c)
{
    MaarDetailedStatistics details = {.sType = MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS};
    VkResult result = maarGetDetailedStatistics(c->rig.allocator, VK_NULL_HANDLE, &details);
    assert_int_equal(details.allocationSizeMax, MIB);
    return result;
}

static VkResult run_type_details(struct fault_context* c)
{
    const uint32_t type = rig_info(&c->rig, c->memory).memoryTypeIndex;
    MaarDetailedStatistics details = {.sType = MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS};
    VkResult result = maarGetMemoryTypeDetailedStatistics(c->rig.allocator, type, &details);
    assert_int_equal(details.allocationSizeMax, MIB);
    return result;
}

static VkResult run_reset_peaks(struct fault_context* c)
{
    maarResetPeaks(c->rig.allocator);
    assert_int_equal(rig_statistics(&c->rig, VK_NULL_HANDLE).peakAllocationBytes, MIB);
    return VK_SUCCESS;
}

static VkResult run_budgets(struct fault_context* c)
{
    assert_int_equal(rig_budget(&c->rig, 0).size, 8 * GIB);
    return VK_SUCCESS;
}

static VkResult run_blocks(struct fault_context* c)
{
    MaarBlockInfo block = {.sType = MAAR_STRUCTURE_TYPE_BLOCK_INFO};
    uint32_t count = 1;
    VkResult result = maarEnumerateBlocks(c->rig.allocator, VK_NULL_HANDLE, &count, &block);
    assert_int_equal(block.allocationCount, 1);
    return result;
}

static VkResult run_block_ranges(struct fault_context* c)
{
    MaarBlockRange ranges[4];
    uint32_t count = 4;
    VkResult result = maarEnumerateBlockRanges(
        c->rig.allocator, rig_info(&c->rig, c->memory).blockId, &count, ranges);
    assert_true(count >= 1 && ranges[0].state == MAAR_BLOCK_RANGE_STATE_LIVE);
    return result;
}

static VkResult run_check(struct fault_context* c)
{
    rig_check(&c->rig);
    return VK_SUCCESS;
}

/* An allocator with margins, in the place of the one without. */
static void prepare_margins(struct fault_context* c)
{
    const MaarMarginInfo margins = {.sType = MAAR_STRUCTURE_TYPE_MARGIN_INFO,
                                    .pNext = c->rig.create_info.pNext,
                                    .marginSize = 16,
                                    .checksMargins = VK_TRUE};
    maarDestroyAllocator(c->rig.allocator);
    c->rig.create_info.pNext = &margins;
    rig_make_allocator(&c->rig);
    c->rig.create_info.pNext = margins.pNext;
    fault_prepare_memory(c);
}

static VkResult run_margins(struct fault_context* c)
{
    return maarCheckMargins(c->rig.allocator, VK_NULL_HANDLE, UINT32_MAX);
}

static VkResult write_dump(struct fault_context* c, MaarDumpFormat format)
{
    const MaarDumpInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DUMP_INFO,
        .format = format,
        .detailed = VK_TRUE,
    };
    size_t size = 0;
    VkResult result = maarWriteDump(c->rig.allocator, &info, &size, NULL);
    if (result != VK_SUCCESS) {
        return result;
    }
    c->dump = malloc(size);
    assert_non_null(c->dump);
    result = maarWriteDump(c->rig.allocator, &info, &size, c->dump);
    assert_true(result != VK_SUCCESS || strlen(c->dump) + 1 == size);
    free(c->dump);
    return result;
}

static VkResult run_dump(struct fault_context* c)
{
    return write_dump(c, MAAR_DUMP_FORMAT_MAAR);
}

static VkResult run_dump_vma(struct fault_context* c)
{
    return write_dump(c, MAAR_DUMP_FORMAT_VMA);
}

static const char only_reads[] = "reads what is kept";

static const struct fault_step steps[] = {
    {.function = "maarGetVersion", .never = "a constant", .run = run_version},
    {.function = "maarGetResultName", .never = "a constant", .run = run_result_name},
    {.function = "maarRecommendDevice", .run = run_recommend},
    {.function = "maarCreateAllocator", .run = run_create, .undo = undo_create},
    {.function = "maarDestroyAllocator",
     .prepare = prepare_second,
     .run = run_destroy,
     .finish = finish_second},
    {.function = "maarGetAllocatorInfo", .never = only_reads, .run = run_allocator_info},
    {.function = "maarChooseMemoryType", .never = "reads the device's tables", .run = run_choose},
    {.function = "maarGetStatistics",
     .never = only_reads,
     .prepare = fault_prepare_memory,
     .run = run_statistics,
     .finish = fault_undo_memory},
    {.function = "maarGetMemoryTypeStatistics",
     .never = only_reads,
     .prepare = fault_prepare_memory,
     .run = run_type_statistics,
     .finish = fault_undo_memory},
    {.function = "maarGetDetailedStatistics",
     .never = only_reads,
     .prepare = fault_prepare_memory,
     .run = run_details,
     .finish = fault_undo_memory},
    {.function = "maarGetMemoryTypeDetailedStatistics",
     .never = only_reads,
     .prepare = fault_prepare_memory,
     .run = run_type_details,
     .finish = fault_undo_memory},
    {.function = "maarResetPeaks",
     .never = "copies numbers",
     .prepare = fault_prepare_memory,
     .run = run_reset_peaks,
     .finish = fault_undo_memory},
    {.function = "maarGetHeapBudgets",
     .never = "vkGetPhysicalDeviceMemoryProperties2 returns nothing",
     .run = run_budgets},
    {.function = "maarEnumerateBlocks",
     .never = only_reads,
     .prepare = fault_prepare_memory,
     .run = run_blocks,
     .finish = fault_undo_memory},
    {.function = "maarEnumerateBlockRanges",
     .never = only_reads,
     .prepare = fault_prepare_memory,
     .run = run_block_ranges,
     .finish = fault_undo_memory},
    {.function = "maarCheckAllocator",
     .never = only_reads,
     .prepare = fault_prepare_memory,
     .run = run_check,
     .finish = fault_undo_memory},
    {.function = "maarCheckMargins",
     .prepare = prepare_margins,
     .run = run_margins,
     .finish = fault_undo_memory},
    {.function = "maarBeginCapture",
     .prepare = fault_prepare_memory,
     .run = run_begin_capture,
     .undo = undo_begin_capture,
     .finish = fault_undo_memory},
    {.function = "maarEndCapture",
     .never = "frees memory, and cuts a file off",
     .prepare = prepare_capture,
     .run = run_end_capture,
     .finish = finish_ended_capture},
    {.function = "maarCaptureFrame",
     .never = "vkGetPhysicalDeviceMemoryProperties2 returns nothing",
     .prepare = prepare_capture,
     .run = run_frame,
     .finish = finish_capture},
    {.function = "maarCaptureMark",
     .never = "writes to memory of the file",
     .prepare = prepare_capture,
     .run = run_mark,
     .finish = finish_capture},
    {.function = "maarCaptureSubmit",
     .never = "writes to memory of the file",
     .prepare = prepare_capture,
     .run = run_submit,
     .finish = finish_capture},
    {.function = "maarCreateBuffer",
     .variant = "captured",
     .prepare = prepare_capture,
     .run = run_captured_buffer,
     .undo = undo_captured_buffer,
     .finish = finish_capture},
    {.function = "maarWriteDump",
     .prepare = fault_prepare_memory,
     .run = run_dump,
     .finish = fault_undo_memory},
    {.function = "maarWriteDump",
     .variant = "vma",
     .prepare = fault_prepare_memory,
     .run = run_dump_vma,
     .finish = fault_undo_memory},
};

const struct fault_table fault_watch_steps = {steps, sizeof steps / sizeof steps[0]};
