/*
 * Opening, closing and looking, by the allocator's account and by the kernel's.
 */
#include "tests/radv/radv_case.h"

#include <dlfcn.h>

struct ioctl_faults* radv_faults;

/* Buffer objects that the driver made for itself, and their bytes. */
static uint64_t first_count;
static uint64_t first_bytes;

/* The kernel's unit of a buffer object, bytes. */
enum { KERNEL_PAGE = 4096 };

bool radv_find_faults(void)
{
    void* symbol = dlsym(RTLD_DEFAULT, MAAR_IOCTL_FAULTS_NAME);
    maar_ioctl_faults_function function = NULL;
    memcpy(&function, &symbol, sizeof function);
    radv_faults = function != NULL ? function() : NULL;
    return radv_faults != NULL;
}

/* ---- faults ---- */

void radv_refuse(enum fault_call call, uint64_t nth, uint64_t count)
{
    struct fault_rule* rule = &radv_faults->rules[call];
    atomic_store(&rule->count, count);
    atomic_store(&rule->first, atomic_load(&rule->calls) + nth);
}

uint64_t radv_allow_all(void)
{
    uint64_t struck = 0;
    for (int i = 0; i < FAULT_CALL_COUNT; ++i) {
        atomic_store(&radv_faults->rules[i].first, 0);
        struck += atomic_exchange(&radv_faults->rules[i].struck, 0);
    }
    return struck;
}

void radv_set_sizes(VkDeviceSize vram, VkDeviceSize visible_vram, VkDeviceSize gtt)
{
    atomic_store(&radv_faults->sizes[FAULT_VRAM], vram);
    atomic_store(&radv_faults->sizes[FAULT_VISIBLE_VRAM], visible_vram);
    atomic_store(&radv_faults->sizes[FAULT_GTT], gtt);
}

void radv_set_others(VkDeviceSize vram, VkDeviceSize visible_vram, VkDeviceSize gtt)
{
    atomic_store(&radv_faults->others[FAULT_VRAM], vram);
    atomic_store(&radv_faults->others[FAULT_VISIBLE_VRAM], visible_vram);
    atomic_store(&radv_faults->others[FAULT_GTT], gtt);
}

/* ---- life ---- */

static uint64_t kernel_bytes(void)
{
    return atomic_load(&radv_faults->own[FAULT_VRAM]) + atomic_load(&radv_faults->own[FAULT_GTT]);
}

bool radv_is_validated(void)
{
    return getenv("MAAR_RADV_VALIDATION") != NULL;
}

static void open_with(struct rig* rig, VkMemoryOverallocationBehaviorAMD behavior)
{
    const bool validation = radv_is_validated();
    const struct rig_setup setup = {
        .count_host = true,
        .without_layer = !validation,
        .overallocation = behavior,
    };
    if (!rig_open_vulkan(rig, &setup, validation)) {
        fail_msg("the driver gives no device");
    }
    first_count = atomic_load(&radv_faults->live_count);
    first_bytes = kernel_bytes();
}

void radv_open(struct rig* rig)
{
    open_with(rig, 0);
}

void radv_start(struct rig* rig)
{
    radv_start_with(rig, 0);
}

void radv_start_with(struct rig* rig, VkMemoryOverallocationBehaviorAMD behavior)
{
    open_with(rig, behavior);
    radv_refuse(FAULT_CALL_CREATE, 1, UINT64_MAX);
    rig_make_allocator(rig);
    assert_int_equal(radv_allow_all(), 0);
}

void radv_expect_empty(struct rig* rig)
{
    assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    const MaarStatistics end = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(end.allocationCount, 0);
    assert_int_equal(end.pendingCount, 0);
    assert_int_equal(end.sliceCount, 0);
    assert_int_equal(end.blockCount, 0);
    assert_int_equal(end.blockBytes, 0);
    radv_expect_books_agree(rig);
}

void radv_close(struct rig* rig)
{
    (void)radv_allow_all();
    radv_expect_empty(rig);
    rig_close(rig);
    assert_int_equal(atomic_load(&radv_faults->live_count), 0);
    assert_int_equal(kernel_bytes(), 0);
}

void radv_driver_begins(struct radv_driver_share* share)
{
    share->count = atomic_load(&radv_faults->live_count);
    share->bytes = kernel_bytes();
}

void radv_driver_ends(const struct radv_driver_share* share)
{
    first_count += atomic_load(&radv_faults->live_count) - share->count;
    first_bytes += kernel_bytes() - share->bytes;
}

/* ---- looking ---- */

void radv_take_snapshot(struct rig* rig, struct radv_snapshot* snapshot)
{
    memset(snapshot, 0, sizeof *snapshot);
    snapshot->totals = rig_statistics(rig, VK_NULL_HANDLE);
    snapshot->live_count = atomic_load(&radv_faults->live_count);
    for (int i = 0; i < FAULT_MEMORY_COUNT; ++i) {
        snapshot->own[i] = atomic_load(&radv_faults->own[i]);
    }
    snapshot->block_count = sizeof snapshot->blocks / sizeof snapshot->blocks[0];
    for (uint32_t i = 0; i < snapshot->block_count; ++i) {
        snapshot->blocks[i].sType = MAAR_STRUCTURE_TYPE_BLOCK_INFO;
    }
    assert_int_equal(maarEnumerateBlocks(rig->allocator, VK_NULL_HANDLE, &snapshot->block_count,
                                         snapshot->blocks),
                     VK_SUCCESS);
}

void radv_expect_unchanged(struct rig* rig, const struct radv_snapshot* before)
{
    struct radv_snapshot now;
    radv_take_snapshot(rig, &now);
    const MaarStatistics* a = &before->totals;
    const MaarStatistics* b = &now.totals;
    assert_int_equal(a->blockCount, b->blockCount);
    assert_int_equal(a->dedicatedCount, b->dedicatedCount);
    assert_int_equal(a->allocationCount, b->allocationCount);
    assert_int_equal(a->pendingCount, b->pendingCount);
    assert_int_equal(a->sliceCount, b->sliceCount);
    assert_int_equal(a->blockBytes, b->blockBytes);
    assert_int_equal(a->dedicatedBytes, b->dedicatedBytes);
    assert_int_equal(a->allocationBytes, b->allocationBytes);
    assert_int_equal(a->pendingBytes, b->pendingBytes);
    assert_int_equal(a->paddingBytes, b->paddingBytes);
    assert_int_equal(a->freeBytes, b->freeBytes);
    assert_int_equal(before->live_count, now.live_count);
    assert_memory_equal(before->own, now.own, sizeof now.own);
    assert_int_equal(before->block_count, now.block_count);
    for (uint32_t i = 0; i < now.block_count; ++i) {
        assert_true(before->blocks[i].memory == now.blocks[i].memory);
        assert_int_equal(before->blocks[i].allocationBytes, now.blocks[i].allocationBytes);
    }
    radv_expect_books_agree(rig);
}

/* What is reserved of the heaps is what blocks take, whatever failed before. */
static void expect_heaps_agree(struct rig* rig, const MaarStatistics* totals)
{
    MaarHeapBudget budgets[VK_MAX_MEMORY_HEAPS];
    uint32_t count = VK_MAX_MEMORY_HEAPS;
    VkDeviceSize bytes = 0;
    uint32_t blocks = 0;
    for (uint32_t i = 0; i < count; ++i) {
        budgets[i] = (MaarHeapBudget){.sType = MAAR_STRUCTURE_TYPE_HEAP_BUDGET};
    }
    assert_int_equal(maarGetHeapBudgets(rig->allocator, &count, budgets), VK_SUCCESS);
    for (uint32_t i = 0; i < count; ++i) {
        bytes += budgets[i].blockBytes;
        blocks += budgets[i].blockCount;
    }
    assert_int_equal(bytes, totals->blockBytes);
    assert_int_equal(blocks, totals->blockCount);
}

void radv_expect_books_agree(struct rig* rig)
{
    const MaarStatistics totals = rig_statistics(rig, VK_NULL_HANDLE);
    const uint64_t count = atomic_load(&radv_faults->live_count) - first_count;
    const uint64_t bytes = kernel_bytes() - first_bytes;
    assert_int_equal(totals.blockCount, count);
    assert_true(totals.blockBytes <= bytes);
    assert_true(bytes - totals.blockBytes < (count + 1) * KERNEL_PAGE);
    expect_heaps_agree(rig, &totals);
    rig_check(rig);
}

bool radv_is_discrete(struct rig* rig)
{
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(rig->physical, &properties);
    return properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
}

uint32_t radv_heap_of(struct rig* rig, MaarAllocation allocation)
{
    MaarAllocatorInfo known = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    assert_int_equal(maarGetAllocatorInfo(rig->allocator, &known), VK_SUCCESS);
    return known.memoryProperties.memoryTypes[rig_info(rig, allocation).memoryTypeIndex].heapIndex;
}

VkResult radv_allocate_dedicated(struct rig* rig, VkDeviceSize size, MaarMemoryUsage usage,
                                 MaarAllocationCreateFlags flags, MaarAllocation* allocation)
{
    const MaarMemoryRequest request = rig_request(size, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocationCreateInfo how = rig_how(usage);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    how.flags = flags;
    *allocation = (MaarAllocation)(uintptr_t)1;
    VkResult result = maarAllocateMemory(rig->allocator, &request, &how, allocation);
    assert_int_equal(result == VK_SUCCESS, *allocation != VK_NULL_HANDLE);
    return result;
}
