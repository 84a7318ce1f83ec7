/*
 * What else AMD's driver does or lets happen: heaps that overflow, memory types that are for nobody
 * unasked, use above what there is, exports that fail, host memory that runs out.
 */
#include "tests/radv/radv_case.h"

#define AMD_FLAGS                                                                                  \
    ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD |                           \
     (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD)

enum { VRAM_MIB = 1024, BAR_MIB = 256, GTT_MIB = 1024 };

static const VkPhysicalDeviceMemoryProperties* memory_of(struct rig* rig)
{
    static MaarAllocatorInfo known;
    known = (MaarAllocatorInfo){.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    assert_int_equal(maarGetAllocatorInfo(rig->allocator, &known), VK_SUCCESS);
    return &known.memoryProperties;
}

/* The heap of plain device-local memory. */
static uint32_t local_heap(struct rig* rig)
{
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(radv_allocate_dedicated(rig, MIB, MAAR_MEMORY_USAGE_DEVICE_LOCAL, 0, &memory),
                     VK_SUCCESS);
    const uint32_t heap = radv_heap_of(rig, memory);
    maarFreeMemory(rig->allocator, memory);
    return heap;
}

/* ---- heaps ---- */

/* RADV would accept it (the no-op kernel has 4 GiB); Maar does not ask. */
static void allocation_above_its_heap_is_refused_unasked(void** state)
{
    (void)state;
    static struct rig rig;
    MaarAllocation none = VK_NULL_HANDLE;
    radv_set_sizes(VRAM_MIB * MIB, BAR_MIB * MIB, GTT_MIB * MIB);
    radv_start(&rig);
    const uint32_t heap = local_heap(&rig);
    const VkDeviceSize size = rig_budget(&rig, heap).size;
    struct radv_snapshot before;
    radv_take_snapshot(&rig, &before);
    rig_forget_messages(&rig);
    assert_int_equal(radv_allocate_dedicated(&rig, size + MIB, MAAR_MEMORY_USAGE_DEVICE_LOCAL,
                                             MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT, &none),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_expect_message(&rig, MAAR_MESSAGE_ID_TOO_LARGE_FOR_HEAP);
    radv_expect_unchanged(&rig, &before);
    const MaarStatistics now = rig_statistics(&rig, VK_NULL_HANDLE);
    assert_int_equal(now.deviceAllocationCalls, before.totals.deviceAllocationCalls);
    /* Above what the driver makes at once, whatever the heap has: 4 GiB less four bytes. */
    assert_int_equal(
        radv_allocate_dedicated(&rig, 8 * GIB, MAAR_MEMORY_USAGE_DEVICE_LOCAL, 0, &none),
        VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_TOO_LARGE_FOR_DEVICE,
                              "maxMemoryAllocationSize");
    radv_expect_unchanged(&rig, &before);
    radv_close(&rig);
}

/* RADV lets a heap be filled twice over: within budget only half of that is taken, the rest as a
 * last resort, counted and reported. */
static void fill_twice(VkMemoryOverallocationBehaviorAMD behavior, bool is_refused)
{
    enum { PIECE_MIB = 50, MOST = 2 * VRAM_MIB / PIECE_MIB };
    static struct rig rig;
    static MaarAllocation made[MOST];
    MaarAllocation none = VK_NULL_HANDLE;
    radv_set_sizes(VRAM_MIB * MIB, BAR_MIB * MIB, GTT_MIB * MIB);
    radv_start_with(&rig, behavior);
    const uint32_t heap = local_heap(&rig);
    const VkDeviceSize size = rig_budget(&rig, heap).size;
    MaarAllocationCreateFlags flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    uint32_t count = 0;
    while (count < MOST &&
           radv_allocate_dedicated(&rig, PIECE_MIB * MIB, MAAR_MEMORY_USAGE_DEVICE_LOCAL, flags,
                                   &made[count]) == VK_SUCCESS) {
        ++count;
    }
    const MaarStatistics totals = rig_statistics(&rig, VK_NULL_HANDLE);
    print_message("%u pieces of %d MiB in a heap of %u; %u above the budget\n", count, PIECE_MIB,
                  (unsigned)(size / MIB), (unsigned)totals.overBudgetCount);
    if (is_refused) {
        assert_true(count * PIECE_MIB * MIB <= size);
        rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_OUT_OF_DEVICE_MEMORY, "52428800");
    } else {
        assert_int_equal(count, MOST);
        assert_true(totals.overBudgetCount >= MOST - size / (PIECE_MIB * MIB));
        assert_true(rig_budget(&rig, heap).blockBytes > size);
    }
    radv_expect_books_agree(&rig);
    flags |= MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT;
    assert_int_equal(radv_allocate_dedicated(&rig, PIECE_MIB * MIB, MAAR_MEMORY_USAGE_DEVICE_LOCAL,
                                             flags, &none),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    maarFreeMemories(rig.allocator, count, made);
    radv_close(&rig);
}

static void heap_overflows_and_adds_up(void** state)
{
    (void)state;
    fill_twice(0, false);
}

/* VK_AMD_memory_overallocation_behavior: the driver itself refuses. */
static void overallocation_disallowed_is_obeyed(void** state)
{
    (void)state;
    fill_twice(VK_MEMORY_OVERALLOCATION_BEHAVIOR_DISALLOWED_AMD, true);
}

static void overallocation_allowed_is_a_last_resort(void** state)
{
    (void)state;
    fill_twice(VK_MEMORY_OVERALLOCATION_BEHAVIOR_ALLOWED_AMD, false);
}

/* Others use more than there is: whatever the driver makes of it, no budget is above its heap, and
 * memory is still served. */
static void use_above_the_whole_is_survived(void** state)
{
    (void)state;
    static struct rig rig;
    MaarAllocation memory = VK_NULL_HANDLE;
    radv_set_sizes(VRAM_MIB * MIB, BAR_MIB * MIB, GTT_MIB * MIB);
    radv_start(&rig);
    static const VkDeviceSize uses[] = {2 * GIB, 100 * GIB, UINT64_MAX / 2, UINT64_MAX - 4095};
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; ++i) {
        radv_set_others(uses[i], uses[i], uses[i]);
        for (uint32_t heap = 0; heap < memory_of(&rig)->memoryHeapCount; ++heap) {
            const MaarHeapBudget budget = rig_budget(&rig, heap);
            print_message("heap %u: a budget of %llu MiB, %s\n", heap,
                          (unsigned long long)(budget.budget / MIB),
                          budget.fromDriver == VK_TRUE ? "the driver's" : "assumed");
            assert_true(budget.budget <= budget.size);
        }
        assert_int_equal(
            radv_allocate_dedicated(&rig, 20 * MIB, MAAR_MEMORY_USAGE_DEVICE_LOCAL, 0, &memory),
            VK_SUCCESS);
        maarFreeMemory(rig.allocator, memory);
    }
    radv_set_others(0, 0, 0);
    radv_close(&rig);
}

/* ---- memory types ---- */

/* RADV offers four types that are coherent on the device; using them without their feature is an
 * error that nobody but the validation layer reports. Neither requests nor failures lead there. */
static void coherent_amd_types_are_never_taken(void** state)
{
    (void)state;
    static struct rig rig;
    radv_start(&rig);
    const VkPhysicalDeviceMemoryProperties* memory = memory_of(&rig);
    uint32_t offered = 0;
    for (uint32_t i = 0; i < memory->memoryTypeCount; ++i) {
        offered += (memory->memoryTypes[i].propertyFlags & AMD_FLAGS) != 0;
    }
    if (offered == 0) { /* gfx1201 has none */
        radv_close(&rig);
        radv_skip("the device offers no such types");
    }
    for (uint32_t usage = 0; usage < MAAR_MEMORY_USAGE_FLAGS_ONLY; ++usage) {
        for (uint64_t failures = 0; failures < 8; ++failures) {
            MaarAllocation made = VK_NULL_HANDLE;
            if (failures > 0) {
                radv_refuse(FAULT_CALL_CREATE, 1, failures);
            }
            const VkResult result =
                radv_allocate_dedicated(&rig, MIB, (MaarMemoryUsage)usage, 0, &made);
            (void)radv_allow_all();
            if (result == VK_SUCCESS) {
                assert_int_equal(rig_info(&rig, made).propertyFlags & AMD_FLAGS, 0);
            } else {
                assert_int_equal(result, VK_ERROR_OUT_OF_DEVICE_MEMORY);
            }
            maarFreeMemory(rig.allocator, made);
        }
    }
    radv_close(&rig);
}

/* Types that repeat each other and that no ordinary resource takes (1, 4 and 6 of navi31's eleven):
 * whatever a resource says, it lies where it may. */
static void types_that_resources_refuse_are_never_taken(void** state)
{
    (void)state;
    static struct rig rig;
    radv_start(&rig);
    uint32_t all = 0;
    for (uint32_t i = 0; i < memory_of(&rig)->memoryTypeCount; ++i) {
        all |= 1u << i;
    }
    uint32_t refused = 0;
    for (uint32_t usage = 0; usage < MAAR_MEMORY_USAGE_FLAGS_ONLY; ++usage) {
        const MaarAllocationCreateInfo how = rig_how((MaarMemoryUsage)usage);
        const VkBufferCreateInfo info = rig_buffer_info(10000);
        VkBuffer buffer = VK_NULL_HANDLE;
        MaarAllocation memory = VK_NULL_HANDLE;
        VkMemoryRequirements needs;
        assert_int_equal(maarCreateBuffer(rig.allocator, &info, &how, &buffer, &memory),
                         VK_SUCCESS);
        vkGetBufferMemoryRequirements(rig.device, buffer, &needs);
        refused = all & ~needs.memoryTypeBits;
        assert_true((needs.memoryTypeBits & 1u << rig_info(&rig, memory).memoryTypeIndex) != 0);
        maarDestroyBuffer(rig.allocator, buffer, memory);
    }
    print_message("buffers take none of the types 0x%X\n", refused);
    assert_true(refused != 0);
    radv_close(&rig);
}

/* ---- exports ---- */

/* The no-op kernel gives no file descriptor. */
static void export_that_fails_changes_nothing(void** state)
{
    (void)state;
    static struct rig rig;
    radv_open(&rig);
    bool can_share = false;
    for (uint32_t i = 0; i < rig.create_info.enabledExtensionCount; ++i) {
        const char* name = rig.create_info.ppEnabledExtensionNames[i];
        can_share = can_share || strcmp(name, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME) == 0;
    }
    rig_make_allocator(&rig);
    if (!can_share) {
        rig_close(&rig);
        radv_skip("VK_KHR_external_memory_fd is not among what is recommended");
    }
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export;
    const VkBufferCreateInfo info = rig_buffer_info(100000);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(rig.allocator, &info, &how, &buffer, &memory), VK_SUCCESS);
    struct radv_snapshot before;
    radv_take_snapshot(&rig, &before);
    for (uint32_t i = 0; i < 3; ++i) { /* as often as one likes */
        MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
        const VkResult result = maarExportMemory(
            rig.allocator, memory, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, &exported);
        print_message("the export fails with %d\n", (int)result);
        assert_true(result != VK_SUCCESS);
        assert_null(exported.handle);
        rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_NOT_EXPORTABLE, "1");
    }
    radv_expect_unchanged(&rig, &before);
    maarDestroyBuffer(rig.allocator, buffer, memory);
    radv_close(&rig);
}

/* ---- host memory ---- */

/* Each allocation of host memory fails once, Maar's and the driver's, while a buffer is made. */
static void host_memory_refused_changes_nothing(void** state)
{
    (void)state;
    static struct rig rig;
    uint32_t failures = 0;
    uint64_t nth = 0;
    radv_start(&rig);
    for (bool done = false; !done;) {
        struct radv_snapshot before;
        const VkBufferCreateInfo info = rig_buffer_info(3 * MIB);
        MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
        how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
        how.pName = "mapped";
        VkBuffer buffer = (VkBuffer)(uintptr_t)1;
        MaarAllocation memory = (MaarAllocation)(uintptr_t)1;
        radv_take_snapshot(&rig, &before);
        const uint64_t now = atomic_load(&rig.host.calls);
        atomic_store(&rig.host.fail_at, now + ++nth);
        const VkResult result = maarCreateBuffer(rig.allocator, &info, &how, &buffer, &memory);
        done = atomic_load(&rig.host.calls) < now + nth;
        atomic_store(&rig.host.fail_at, 0);
        if (result == VK_SUCCESS) {
            maarDestroyBuffer(rig.allocator, buffer, memory);
            radv_expect_empty(&rig);
            continue;
        }
        assert_int_equal(result, VK_ERROR_OUT_OF_HOST_MEMORY);
        assert_true(buffer == VK_NULL_HANDLE && memory == VK_NULL_HANDLE);
        radv_expect_unchanged(&rig, &before);
        assert_true(++failures < 100);
    }
    print_message("%u allocations of host memory failed\n", failures);
    assert_true(failures >= 3);
    radv_close(&rig);
}

const struct radv_case radv_odd_cases[] = {
    {"allocation_above_its_heap_is_refused_unasked", allocation_above_its_heap_is_refused_unasked},
    {"heap_overflows_and_adds_up", heap_overflows_and_adds_up},
    {"overallocation_disallowed_is_obeyed", overallocation_disallowed_is_obeyed},
    {"overallocation_allowed_is_a_last_resort", overallocation_allowed_is_a_last_resort},
    {"use_above_the_whole_is_survived", use_above_the_whole_is_survived},
    {"coherent_amd_types_are_never_taken", coherent_amd_types_are_never_taken},
    {"types_that_resources_refuse_are_never_taken", types_that_resources_refuse_are_never_taken},
    {"export_that_fails_changes_nothing", export_that_fails_changes_nothing},
    {"host_memory_refused_changes_nothing", host_memory_refused_changes_nothing},
    {NULL, NULL},
};
