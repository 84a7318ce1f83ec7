/*
 * What devices do that a program written on another one does not expect: one heap for all, memory
 * types that repeat each other or are of no use, no cached type, incoherent ones, limits of zero,
 * granules of every size, a largest allocation below the heap, queues that bind elsewhere or
 * nowhere. On simulated devices made from the profiles of those that do so.
 */
#include "tests/fault/fault_balance.h"

static void open_odd(struct rig* rig, const char* profile, bool paging)
{
    const struct rig_setup setup = {.profile = rig_profile_file(profile), .paging = paging};
    rig_start(rig, &setup);
}

static const VkPhysicalDeviceMemoryProperties* memory_of(struct rig* rig)
{
    static MaarAllocatorInfo known;
    known = (MaarAllocatorInfo){.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    assert_int_equal(maarGetAllocatorInfo(rig->allocator, &known), VK_SUCCESS);
    return &known.memoryProperties;
}

/* A buffer and an image of each usage, bound, and gone again. */
static void serve_everybody(struct rig* rig)
{
    for (uint32_t usage = 0; usage < MAAR_MEMORY_USAGE_FLAGS_ONLY; ++usage) {
        const MaarAllocationCreateInfo how = rig_how((MaarMemoryUsage)usage);
        const VkBufferCreateInfo buffer_info = rig_buffer_info(100000);
        const VkImageCreateInfo image_info = rig_image_info(200, 100);
        VkBuffer buffer = VK_NULL_HANDLE;
        VkImage image = VK_NULL_HANDLE;
        MaarAllocation memory = VK_NULL_HANDLE;
        assert_int_equal(maarCreateBuffer(rig->allocator, &buffer_info, &how, &buffer, &memory),
                         VK_SUCCESS);
        maarDestroyBuffer(rig->allocator, buffer, memory);
        if (usage == MAAR_MEMORY_USAGE_DEVICE_LOCAL || usage == MAAR_MEMORY_USAGE_TRANSIENT) {
            assert_int_equal(maarCreateImage(rig->allocator, &image_info, &how, &image, &memory),
                             VK_SUCCESS);
            maarDestroyImage(rig->allocator, image, memory);
        }
    }
    fault_expect_balance(rig);
}

/* ---- limits ---- */

/* A budget, a largest allocation and a largest buffer of 0: unknown, not nothing. */
static void driver_that_says_nothing_is_served(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    MaarAllocation large = VK_NULL_HANDLE;
    open_odd(rig, "mock-khronos-icd-1.3.239", false);
    const MaarHeapBudget budget = rig_budget(rig, 1);
    assert_int_equal(budget.fromDriver, VK_FALSE);
    assert_true(budget.budget > budget.size / 2 && budget.budget <= budget.size);
    serve_everybody(rig);
    assert_int_equal(rig_try(rig, GIB, NULL, &large), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).overBudgetCount, 0);
    maarFreeMemory(rig->allocator, large);
}

/* NVK's 2 GiB, RADV's 4 GiB less four bytes: a larger request is reported, the driver is not
 * asked, and no block is larger either; pages are as many as there is memory for. */
static void expect_largest(const char* profile, VkDeviceSize largest)
{
    struct rig* const rig = rig_new();
    MaarAllocation memory = VK_NULL_HANDLE;
    const struct rig_setup setup = {.profile = rig_profile_file(profile), .paging = true};
    rig_open(rig, &setup);
    rig->create_info.preferredBlockSize = 8 * GIB;
    rig_make_allocator(rig);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    assert_int_equal(rig_try(rig, largest + 1, &how, &memory), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_TOO_LARGE_FOR_DEVICE, "maxMemoryAllocationSize");
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), 0);
    assert_int_equal(rig_try(rig, largest, &how, &memory), VK_SUCCESS);
    assert_int_equal(rig_info(rig, memory).blockSize, largest);
    maarFreeMemory(rig->allocator, memory);

    how.dedicated = MAAR_DEDICATED_NEVER;
    assert_int_equal(rig_try(rig, largest / 2 + MIB, &how, &memory), VK_SUCCESS);
    assert_true(rig_info(rig, memory).blockSize <= largest);
    maarFreeMemory(rig->allocator, memory);
    fault_expect_balance(rig);
    rig_close(rig);
}

static void largest_allocation_is_never_passed(void** state)
{
    (void)state;
    expect_largest("nvidia-ada-ad102-nvk26.2", 2 * GIB);
    expect_largest("amd-rx7900xtx-radv25.0", 0xFFFFFFFC);
}

/* Above the heap, below the largest allocation. */
static void request_above_the_heap_is_refused_unasked(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    MaarAllocation none = VK_NULL_HANDLE;
    open_odd(rig, "intel-arc-a770m-anv25.0", false);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    how.flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    assert_int_equal(rig_try(rig, 3 * GIB, &how, &none), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_TOO_LARGE_FOR_HEAP, "2147483648");
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), 0);
}

/* ---- memory types ---- */

/* Nothing to fall back to: within budget as long as there is one, above it as a last resort and
 * reported, and not at all for those who forbid it. */
static void expect_one_heap(const char* profile)
{
    struct rig* const rig = rig_new();
    MaarAllocation held = VK_NULL_HANDLE;
    MaarAllocation more = VK_NULL_HANDLE;
    open_odd(rig, profile, false);
    const VkPhysicalDeviceMemoryProperties* memory = memory_of(rig);
    assert_int_equal(memory->memoryHeapCount, 1);
    serve_everybody(rig);
    assert_int_equal(rig_try(rig, 100 * MIB, NULL, &held), VK_SUCCESS);
    rig_expect_silence(rig);
    assert_int_equal(
        maarSimulatedSetHeapBudget(rig->physical, 0, 150 * MIB, memory->memoryHeaps[0].size / 4),
        VK_SUCCESS);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.flags = MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT;
    assert_int_equal(rig_try(rig, 200 * MIB, &how, &more), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_expect_message(rig, MAAR_MESSAGE_ID_BUDGET_REACHED);
    assert_int_equal(rig->messages.counts[MAAR_MESSAGE_SEVERITY_WARNING], 0);
    assert_int_equal(rig_try(rig, 200 * MIB, NULL, &more), VK_SUCCESS);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OVER_BUDGET, "0");
    assert_int_equal(rig_info(rig, more).fallback, VK_FALSE);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).overBudgetCount, 1);
    maarFreeMemory(rig->allocator, more);
    maarFreeMemory(rig->allocator, held);
    fault_expect_balance(rig);
    rig_close(rig);
}

static void one_heap_for_all_is_kept_or_exceeded_and_reported(void** state)
{
    (void)state;
    expect_one_heap("intel-iris-xe-tgl-anv25.0");
    expect_one_heap("qualcomm-adreno740-turnip26.2");
    expect_one_heap("cpu-lavapipe25.0");
}

static void readback_without_a_cached_type_is_served(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    unsigned char out[1000];
    unsigned char back[1000];
    open_odd(rig, "arm-mali-g610-panvk25.0", false);
    for (size_t i = 0; i < sizeof out; ++i) {
        out[i] = (unsigned char)(i * 7);
    }
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    const MaarAllocation memory = rig_allocate(rig, sizeof out, &how);
    const MaarAllocationInfo info = rig_info(rig, memory);
    assert_int_equal(info.propertyFlags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 0);
    assert_int_equal(info.fallback, VK_FALSE); /* the device has nothing better */
    assert_int_equal(maarCopyToAllocation(rig->allocator, memory, 0, sizeof out, out), VK_SUCCESS);
    assert_int_equal(maarCopyFromAllocation(rig->allocator, memory, 0, sizeof back, back),
                     VK_SUCCESS);
    assert_memory_equal(out, back, sizeof out);
    rig_expect_silence(rig);
    /* A request that requires a cache fails: there is none. */
    MaarAllocationCreateInfo must = how;
    MaarAllocation none = VK_NULL_HANDLE;
    must.requiredFlags = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    assert_int_equal(rig_try(rig, 100, &must, &none), VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_NO_MEMORY_TYPE);
    maarFreeMemory(rig->allocator, memory);
}

/* Neighbours in incoherent memory share no atom, so that flushing one leaves the other alone; the
 * simulated driver sees a range that is not whole atoms or leaves the block. */
static void expect_atoms(const char* profile, VkDeviceSize atom)
{
    enum { COUNT = 40 };
    struct rig* const rig = rig_new();
    MaarAllocation made[COUNT];
    open_odd(rig, profile, false);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.requiredFlags = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
    const VkPhysicalDeviceMemoryProperties* memory = memory_of(rig);
    uint32_t incoherent = 0;
    for (uint32_t type = 0; type < memory->memoryTypeCount; ++type) {
        const VkMemoryPropertyFlags flags = memory->memoryTypes[type].propertyFlags;
        const bool seen = (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
        const bool coherent = (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0;
        if (!seen || coherent) {
            continue;
        }
        how.memoryTypeBits = 1u << type;
        how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
        const uint64_t flushes = rig_calls(rig, "vkFlushMappedMemoryRanges");
        for (uint32_t i = 0; i < COUNT; ++i) {
            made[i] = rig_allocate(rig, 1 + i * 3, &how);
            const MaarAllocationInfo info = rig_info(rig, made[i]);
            assert_int_equal(info.offset % atom, 0);
            assert_int_equal(info.size % atom, 0);
            memset(info.pMappedData, (int)i, 1 + i * 3);
            assert_int_equal(maarFlushAllocation(rig->allocator, made[i], i, 1), VK_SUCCESS);
            assert_int_equal(maarInvalidateAllocation(rig->allocator, made[i], 0, VK_WHOLE_SIZE),
                             VK_SUCCESS);
        }
        assert_int_equal(rig_calls(rig, "vkFlushMappedMemoryRanges"), flushes + COUNT);
        maarFreeMemories(rig->allocator, COUNT, made);
        ++incoherent;
    }
    assert_true(incoherent > 0);
    rig_close(rig);
}

static void atoms_of_incoherent_types_are_whole(void** state)
{
    (void)state;
    expect_atoms("intel-meteorlake-anv25.0", 64);
    expect_atoms("qualcomm-adreno740-turnip26.2", 64);
}

/* A large atom where all is coherent costs nobody anything (SwiftShader: 256). */
static void atom_of_coherent_memory_does_not_matter(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    open_odd(rig, "cpu-swiftshader", false);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    const MaarAllocation memory = rig_allocate(rig, 3, &how);
    assert_int_equal(rig_info(rig, memory).size, 3);
    assert_int_equal(maarFlushAllocation(rig->allocator, memory, 0, VK_WHOLE_SIZE), VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkFlushMappedMemoryRanges"), 0);
    maarFreeMemory(rig->allocator, memory);
}

/* Types that repeat each other: a full one is followed by its like, then by other heaps. Types
 * without a flag are used where memoryTypeBits says so, and refused by no bug of ours. */
static void duplicate_types_are_survived(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    MaarAllocation memory = VK_NULL_HANDLE;
    open_odd(rig, "intel-arc-a770m-anv25.0", false);
    serve_everybody(rig);
    rig_forget_messages(rig);
    assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    rig_set_fault(rig, "vkAllocateMemory", 1, 2, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(rig_try(rig, 10 * MIB, &how, &memory), VK_SUCCESS);
    assert_int_equal(rig_info(rig, memory).fallback, VK_TRUE);
    rig_expect_message(rig, MAAR_MESSAGE_ID_FALLBACK_TYPE);
    maarFreeMemory(rig->allocator, memory);
    rig_clear_faults(rig);
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    const uint64_t calls = rig_calls(rig, "vkAllocateMemory");
    assert_int_equal(rig_try(rig, 10 * MIB, &how, &memory), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    /* Each once, but for the protected one. */
    assert_int_equal(rig_calls(rig, "vkAllocateMemory") - calls, 6);
    rig_clear_faults(rig);
    fault_expect_empty(rig);
}

static void useless_types_are_passed_over(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    MaarAllocation memory = VK_NULL_HANDLE;
    open_odd(rig, "nvidia-gtx950-linux440", false);
    serve_everybody(rig);
    const MaarMemoryUsage usages[] = {MAAR_MEMORY_USAGE_UPLOAD, MAAR_MEMORY_USAGE_READBACK,
                                      MAAR_MEMORY_USAGE_DEVICE_LOCAL};
    const uint32_t types[] = {8, 9, 7};
    for (uint32_t i = 0; i < 3; ++i) {
        const MaarAllocationCreateInfo how = rig_how(usages[i]);
        assert_int_equal(rig_try(rig, 1000, &how, &memory), VK_SUCCESS);
        assert_int_equal(rig_info(rig, memory).memoryTypeIndex, types[i]);
        maarFreeMemory(rig->allocator, memory);
    }
    /* A resource that one of them alone takes, as images of odd formats do there. */
    const MaarMemoryRequest odd = rig_request(1000, 1, 1u << 3, MAAR_RESOURCE_KIND_OPTIMAL);
    assert_int_equal(maarAllocateMemory(rig->allocator, &odd, NULL, &memory), VK_SUCCESS);
    assert_int_equal(rig_info(rig, memory).memoryTypeIndex, 3);
    maarFreeMemory(rig->allocator, memory);
}

/* Whatever is refused, memory that is coherent for the device's sake alone is no way out. */
static void coherent_amd_types_are_no_way_out(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    MaarAllocation none = VK_NULL_HANDLE;
    open_odd(rig, "amd-rx7900xtx-radv25.0", false);
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    const uint64_t calls = rig_calls(rig, "vkAllocateMemory");
    for (uint32_t usage = 0; usage < MAAR_MEMORY_USAGE_FLAGS_ONLY; ++usage) {
        MaarAllocationCreateInfo how = rig_how((MaarMemoryUsage)usage);
        how.dedicated = MAAR_DEDICATED_ALWAYS;
        assert_int_equal(rig_try(rig, MIB, &how, &none), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    }
    /* The driver would count an allocation there without the feature as a violation. */
    assert_true(rig_calls(rig, "vkAllocateMemory") > calls);
    rig_clear_faults(rig);
}

/* Lazily allocated memory that is not to be had: transient attachments go elsewhere; nobody else
 * is ever put there. */
static void lazy_memory_refused_is_replaced(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    MaarAllocation memory = VK_NULL_HANDLE;
    open_odd(rig, "qualcomm-adreno740-turnip26.2", false);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_TRANSIENT);
    assert_int_equal(rig_try(rig, MIB, &how, &memory), VK_SUCCESS);
    assert_int_equal(rig_info(rig, memory).memoryTypeIndex, 3);
    maarFreeMemory(rig->allocator, memory);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    rig_set_fault(rig, "vkAllocateMemory", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(rig_try(rig, 64 * MIB, &how, &memory), VK_SUCCESS);
    assert_true(rig_info(rig, memory).memoryTypeIndex < 3);
    assert_int_equal(rig_info(rig, memory).fallback, VK_TRUE);
    maarFreeMemory(rig->allocator, memory);
    assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    how.usage = MAAR_MEMORY_USAGE_DEVICE_LOCAL;
    const uint64_t calls = rig_calls(rig, "vkAllocateMemory");
    assert_int_equal(rig_try(rig, 64 * MIB, &how, &memory), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(rig_calls(rig, "vkAllocateMemory") - calls, 3);
    rig_clear_faults(rig);
}

/* The driver demands memory of its own for each object: then in the next type, if that is what
 * there is, and not at all where no object is left. */
static void demanded_dedicated_memory_goes_elsewhere(void** state)
{
    (void)state;
    enum { LIMIT = 16 };
    const MaarSimulatedDedicated demand = {.imagesRequire = VK_TRUE, .buffersRequire = VK_TRUE};
    const struct rig_setup setup = {.profile = rig_profile_tiny()};
    const VkBufferCreateInfo info = rig_buffer_info(MIB);
    VkBuffer buffers[LIMIT + 1];
    MaarAllocation memory[LIMIT + 1];
    struct rig* const rig = rig_begin(&setup);
    maarSimulatedSetDedicated(rig->physical, &demand);
    rig_set_fault(rig, "vkAllocateMemory", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    for (uint32_t i = 0; i < LIMIT; ++i) {
        assert_int_equal(maarCreateBuffer(rig->allocator, &info, NULL, &buffers[i], &memory[i]),
                         VK_SUCCESS);
        assert_int_equal(rig_info(rig, memory[i]).dedicated, VK_TRUE);
        assert_int_equal(rig_info(rig, memory[i]).fallback, i == 0);
    }
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, NULL, &buffers[LIMIT], &memory[LIMIT]),
                     VK_ERROR_TOO_MANY_OBJECTS);
    assert_true(buffers[LIMIT] == VK_NULL_HANDLE && memory[LIMIT] == VK_NULL_HANDLE);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_TOO_MANY_ALLOCATIONS,
                              "maxMemoryAllocationCount");
    const MaarAllocationCreateInfo never = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .dedicated = MAAR_DEDICATED_NEVER,
    };
    assert_int_equal(
        maarCreateBuffer(rig->allocator, &info, &never, &buffers[LIMIT], &memory[LIMIT]),
        VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_DEDICATED_REQUIRED);
    for (uint32_t i = 0; i < LIMIT; ++i) {
        maarDestroyBuffer(rig->allocator, buffers[i], memory[i]);
    }
    fault_expect_empty(rig);
}

/* ---- granularity ---- */

/* Buffers and images come and go in the same blocks; the simulated driver sees any two kinds that
 * share a granule. */
static void expect_granules(VkDeviceSize granularity)
{
    enum { SLOTS = 60, ROUNDS = 600 };
    static MaarSimulatedProfile profile;
    struct rig* const rig = rig_new();
    struct rig_random random = {.state = granularity};
    VkBuffer buffers[SLOTS] = {VK_NULL_HANDLE};
    VkImage images[SLOTS] = {VK_NULL_HANDLE};
    MaarAllocation memory[SLOTS] = {VK_NULL_HANDLE};
    profile = *rig_profile_discrete();
    profile.limits.bufferImageGranularity = granularity;
    const struct rig_setup setup = {.profile = &profile};
    rig_start(rig, &setup);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_NEVER;
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        const uint32_t i = rig_below(&random, SLOTS);
        if (memory[i] != VK_NULL_HANDLE) {
            maarDestroyBuffer(rig->allocator, buffers[i], VK_NULL_HANDLE);
            maarDestroyImage(rig->allocator, images[i], VK_NULL_HANDLE);
            maarFreeMemory(rig->allocator, memory[i]);
            memory[i] = VK_NULL_HANDLE;
            buffers[i] = VK_NULL_HANDLE;
            images[i] = VK_NULL_HANDLE;
        } else if (rig_below(&random, 2) == 0) {
            const VkBufferCreateInfo info = rig_buffer_info(1 + rig_below(&random, 5000));
            assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffers[i], &memory[i]),
                             VK_SUCCESS);
        } else {
            const VkImageCreateInfo info =
                rig_image_info(1 + rig_below(&random, 60), 1 + rig_below(&random, 60));
            assert_int_equal(maarCreateImage(rig->allocator, &info, &how, &images[i], &memory[i]),
                             VK_SUCCESS);
        }
    }
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, 1); /* they did meet */
    fault_expect_balance(rig);
    for (uint32_t i = 0; i < SLOTS; ++i) {
        maarDestroyBuffer(rig->allocator, buffers[i], VK_NULL_HANDLE);
        maarDestroyImage(rig->allocator, images[i], VK_NULL_HANDLE);
        maarFreeMemory(rig->allocator, memory[i]);
    }
    rig_close(rig);
}

static void granules_of_every_size_hold_one_kind(void** state)
{
    (void)state;
    static const VkDeviceSize sizes[] = {1, 64, 1024, 4096, 65536};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        expect_granules(sizes[i]);
    }
}

/* ---- heaps that overflow ---- */

/* VK_AMD_memory_overallocation_behavior: where it is allowed, a heap is exceeded last, with a
 * message; where it is not, the driver's failure leads to other heaps. */
static void expect_overallocation(VkMemoryOverallocationBehaviorAMD behavior)
{
    enum { MOST = 40 };
    struct rig* const rig = rig_new();
    MaarAllocation made[MOST];
    MaarAllocation none = VK_NULL_HANDLE;
    const struct rig_setup setup = {
        .profile = rig_profile_file("amd-rx7900xtx-radv25.0"),
        .overallocation = behavior,
    };
    const bool allowed = behavior == VK_MEMORY_OVERALLOCATION_BEHAVIOR_ALLOWED_AMD;
    rig_start(rig, &setup);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    uint32_t count = 0;
    while (count < MOST && rig_try(rig, GIB, &how, &made[count]) == VK_SUCCESS) {
        ++count;
    }
    const VkDeviceSize heap = rig_budget(rig, 1).size; /* a little below 24 GiB */
    assert_int_equal(count, allowed ? MOST : heap / GIB);
    if (!allowed) {
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_DEVICE_MEMORY, "0");
        how.flags = 0;
        assert_int_equal(rig_try(rig, GIB, &how, &none), VK_SUCCESS);
        assert_int_equal(rig_info(rig, none).fallback, VK_TRUE);
        maarFreeMemory(rig->allocator, none);
    } else {
        assert_true(rig_statistics(rig, VK_NULL_HANDLE).overBudgetCount > 0);
    }
    how.flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT | MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT;
    assert_int_equal(rig_try(rig, GIB, &how, &none), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    fault_expect_balance(rig);
    maarFreeMemories(rig->allocator, count, made);
    fault_expect_empty(rig);
    rig_close(rig);
}

static void overallocation_is_used_last_where_it_is_allowed(void** state)
{
    (void)state;
    expect_overallocation(VK_MEMORY_OVERALLOCATION_BEHAVIOR_ALLOWED_AMD);
    expect_overallocation(VK_MEMORY_OVERALLOCATION_BEHAVIOR_DISALLOWED_AMD);
}

/* ---- queues that bind ---- */

/* In the graphics family, in one of its own, or in none: by pages where they can, by copies
 * elsewhere, with the same calls. */
static void expect_growth(const char* profile, uint32_t family, bool by_pages)
{
    struct rig* const rig = rig_new();
    open_odd(rig, profile, true);
    assert_int_equal(rig->recommendation.sparseQueueFamily, family);
    const VkBufferCreateInfo buffer_info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = 64 * MIB,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
    };
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pBufferInfo = &buffer_info,
    };
    MaarReservation reservation = VK_NULL_HANDLE;
    MaarReservationInfo known = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    if (maarCreateReservation(rig->allocator, &info, &reservation) != VK_SUCCESS) {
        fail_msg("%s: no reservation: \"%s\"", profile, rig->messages.last);
    }
    for (VkDeviceSize size = MIB; size <= 64 * MIB; size *= 2) {
        const MaarPageRange range = {.offset = 0, .size = size};
        assert_int_equal(maarCommitPages(rig->allocator, reservation, 1, &range), VK_SUCCESS);
        assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_SUCCESS);
    }
    assert_int_equal(maarGetReservationInfo(rig->allocator, reservation, &known), VK_SUCCESS);
    assert_true(known.committedSize >= 64 * MIB);
    assert_int_equal(known.sparse == VK_TRUE, by_pages);
    assert_int_equal(rig_calls(rig, "vkQueueBindSparse") > 0, by_pages);
    maarDestroyReservation(rig->allocator, reservation);
    rig_close(rig);
}

static void queues_bind_wherever_they_are(void** state)
{
    (void)state;
    expect_growth("amd-rx7900xtx-radv25.0", 2, true);
    expect_growth("amd-rx7900xtx-radv26.2", 0, true);
    expect_growth("nvidia-ada-ad102-nvk26.2", 0, true);
    expect_growth("cpu-swiftshader", UINT32_MAX, false);
}

/* Pages of a driver that asks for no alignment are not of one byte, and the last one may be cut. */
static void pages_are_never_tiny(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    open_odd(rig, "mock-khronos-icd-1.3.239", true);
    const VkBufferCreateInfo buffer_info = rig_buffer_info(MIB + 100);
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pBufferInfo = &buffer_info,
    };
    const MaarPoolPagingInfo stitches = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
        .stitch = VK_TRUE,
    };
    const MaarPoolCreateInfo pool_info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .pNext = &stitches,
        .memoryTypeIndex = 1,
    };
    MaarReservation reservation = VK_NULL_HANDLE;
    MaarReservationInfo known = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    const MaarPageRange all = {.offset = 0, .size = MIB + 100};
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &reservation), VK_SUCCESS);
    assert_int_equal(maarCommitPages(rig->allocator, reservation, 1, &all), VK_SUCCESS);
    assert_int_equal(maarGetReservationInfo(rig->allocator, reservation, &known), VK_SUCCESS);
    assert_int_equal(known.sparse, VK_TRUE);
    assert_int_equal(known.pageSize, 4096);
    assert_int_equal(known.committedSize, MIB + 4096);

    MaarPool pool = VK_NULL_HANDLE;
    assert_int_equal(maarCreatePool(rig->allocator, &pool_info, &pool), VK_SUCCESS);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = pool;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(rig->allocator, &buffer_info, &how, &buffer, &memory),
                     VK_SUCCESS);
    assert_int_equal(rig_info(rig, memory).size, MIB + 100);
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_SUCCESS);
    maarDestroyBuffer(rig->allocator, buffer, memory);
    maarDestroyReservation(rig->allocator, reservation);
    maarDestroyPool(rig->allocator, pool);
}

/* Neither pages nor timelines: it is said before anything is made. */
static void device_without_timelines_says_so(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    const VkBufferCreateInfo buffer_info = rig_buffer_info(MIB);
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pBufferInfo = &buffer_info,
    };
    MaarReservation reservation = (MaarReservation)(uintptr_t)1;
    open_odd(rig, "arm-mali-g610-panvk25.0", true);
    assert_int_equal(rig->recommendation.sparseQueueFamily, UINT32_MAX);
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &reservation),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    assert_null(reservation);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, "pEnabledFeatures");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(driver_that_says_nothing_is_served),
        rig_unit_test(largest_allocation_is_never_passed),
        rig_unit_test(request_above_the_heap_is_refused_unasked),
        rig_unit_test(one_heap_for_all_is_kept_or_exceeded_and_reported),
        rig_unit_test(readback_without_a_cached_type_is_served),
        rig_unit_test(atoms_of_incoherent_types_are_whole),
        rig_unit_test(atom_of_coherent_memory_does_not_matter),
        rig_unit_test(duplicate_types_are_survived),
        rig_unit_test(useless_types_are_passed_over),
        rig_unit_test(coherent_amd_types_are_no_way_out),
        rig_unit_test(lazy_memory_refused_is_replaced),
        rig_unit_test(demanded_dedicated_memory_goes_elsewhere),
        rig_unit_test(granules_of_every_size_hold_one_kind),
        rig_unit_test(overallocation_is_used_last_where_it_is_allowed),
        rig_unit_test(queues_bind_wherever_they_are),
        rig_unit_test(pages_are_never_tiny),
        rig_unit_test(device_without_timelines_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
