/*
 * The allocator on real drivers, any message of the validation layer a failure. Where commands do
 * not execute (drivers over a no-op kernel) the cases that read back what the device wrote are
 * skipped.
 */
#include "tests/device/device_commands.h"

static struct rig rig;

/* Every case has a device of its own; without one it is skipped. */
static int open_rig(void** state)
{
    *state = NULL;
    if (rig_open_vulkan(&rig, NULL, rig_is("lavapipe"))) {
        rig_make_allocator(&rig);
        *state = &rig;
    }
    return 0;
}

/* The layer is listening: what the other cases take for silence is not deafness. */
static void planted_breach_is_heard(void** state)
{
    rig_need(state, *state == NULL || rig.validated, "the validation layer is not installed");
    VkBufferCreateInfo info = rig_buffer_info(1000);
    info.usage = 0;
    VkBuffer buffer = VK_NULL_HANDLE;
    VkResult result = vkCreateBuffer(rig.device, &info, NULL, &buffer);
    assert_true(atomic_load(&rig.validation_count) > 0);
    if (result == VK_SUCCESS) {
        vkDestroyBuffer(rig.device, buffer, NULL);
    }
    atomic_store(&rig.validation_count, 0);
}

/* Synchronization is among what it listens to: a buffer is written twice with nothing in between.
 */
static void planted_hazard_is_heard(void** state)
{
    rig_need(state, *state == NULL || rig.validated, "the validation layer is not installed");
    const VkBufferCreateInfo info = rig_buffer_info(1024);
    const VkCommandPoolCreateInfo pool_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = rig.recommendation.mainQueueFamily,
    };
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = NULL;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(rig.allocator, &info, NULL, &buffer, &memory), VK_SUCCESS);
    assert_int_equal(vkCreateCommandPool(rig.device, &pool_info, NULL, &pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(vkAllocateCommandBuffers(rig.device, &allocate, &commands), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    vkCmdFillBuffer(commands, buffer, 0, 1024, 1);
    vkCmdFillBuffer(commands, buffer, 0, 1024, 2);
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    assert_true(atomic_load(&rig.validation_count) > 0);
    assert_non_null(strstr(rig.validation_text, "WRITE_AFTER_WRITE"));
    atomic_store(&rig.validation_count, 0);
    vkDestroyCommandPool(rig.device, pool, NULL);
    maarDestroyBuffer(rig.allocator, buffer, memory);
}

#if defined(__SANITIZE_ADDRESS__)
static const bool shim_hears_its_name = false; /* it is asked before the environment is there */
#else
static const bool shim_hears_its_name = true;
#endif

/* What a rig proves, it proves of the GPU in its name. */
static void rig_is_the_gpu_that_it_names(void** state)
{
    rig_need(state, !rig_is("nvk"), "NVK has no name for a GPU over the no-op kernel");
    rig_need(state, strchr(rig_name(), ':') != NULL, "this rig names no GPU");
    rig_need(state, shim_hears_its_name,
             "under AddressSanitizer the shim always gives its default GPU");
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(rig.physical, &properties);
    char wanted[32] = {0};
    const char* gpu = strchr(rig_name(), ':') + 1;
    for (size_t i = 0; i + 1 < sizeof wanted && gpu[i] != '\0'; ++i) {
        wanted[i] = (char)(gpu[i] >= 'a' && gpu[i] <= 'z' ? gpu[i] - 'a' + 'A' : gpu[i]);
    }
    assert_non_null(strstr(properties.deviceName, wanted));
}

static void usages_get_what_they_need(void** state)
{
    rig_need(state, true, "");
    static const struct {
        MaarMemoryUsage usage;
        VkMemoryPropertyFlags needed;
    } rows[] = {
        {MAAR_MEMORY_USAGE_DEVICE_LOCAL, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT},
        {MAAR_MEMORY_USAGE_UPLOAD, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT},
        {MAAR_MEMORY_USAGE_READBACK,
         VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT},
        {MAAR_MEMORY_USAGE_DEVICE_UPLOAD,
         VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT},
    };
    MaarAllocatorInfo known = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    assert_int_equal(maarGetAllocatorInfo(rig.allocator, &known), VK_SUCCESS);
    print_message("%s\n", known.deviceName);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const VkBufferCreateInfo info = rig_buffer_info(10000);
        const MaarAllocationCreateInfo how = rig_how(rows[i].usage);
        VkBuffer buffer;
        MaarAllocation memory;
        assert_int_equal(maarCreateBuffer(rig.allocator, &info, &how, &buffer, &memory),
                         VK_SUCCESS);
        MaarAllocationInfo place = rig_info(&rig, memory);
        assert_int_equal(place.propertyFlags & rows[i].needed, rows[i].needed);
        assert_int_equal(known.avoidedTypeBits >> place.memoryTypeIndex & 1u, 0);
        maarDestroyBuffer(rig.allocator, buffer, memory);
    }
}

enum { CROWD = 200 };

static void crowd_is_bound_and_freed(void** state)
{
    rig_need(state, true, "");
    static VkBuffer buffers[CROWD];
    static VkImage images[CROWD];
    static MaarAllocation memory[CROWD];
    static const VkFormat formats[] = {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R16G16B16A16_SFLOAT,
                                       VK_FORMAT_R8_UNORM};
    struct rig_random random = {.state = rig_seed(5)};
    for (uint32_t round = 0; round < 3; ++round) {
        for (uint32_t i = 0; i < CROWD; ++i) {
            if (memory[i] != VK_NULL_HANDLE) {
                continue;
            }
            MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
            how.dedicated =
                rig_below(&random, 20) == 0 ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_AUTO;
            buffers[i] = VK_NULL_HANDLE;
            images[i] = VK_NULL_HANDLE;
            VkResult result;
            if (rig_below(&random, 2) == 0) {
                const VkBufferCreateInfo info = rig_buffer_info(1 + rig_below(&random, 200000));
                how.usage = (MaarMemoryUsage)rig_below(&random, 4);
                result = maarCreateBuffer(rig.allocator, &info, &how, &buffers[i], &memory[i]);
            } else {
                VkImageCreateInfo info =
                    rig_image_info(1 + rig_below(&random, 300), 1 + rig_below(&random, 300));
                info.format = formats[rig_below(&random, 3)];
                result = maarCreateImage(rig.allocator, &info, &how, &images[i], &memory[i]);
            }
            assert_int_equal(result, VK_SUCCESS);
        }
        rig_check(&rig);
        (void)rig_statistics(&rig, VK_NULL_HANDLE);
        for (uint32_t i = 0; i < CROWD; ++i) {
            if (round < 2 && rig_below(&random, 2) == 0) {
                continue;
            }
            if (images[i] != VK_NULL_HANDLE) {
                maarDestroyImage(rig.allocator, images[i], memory[i]);
            } else {
                maarDestroyBuffer(rig.allocator, buffers[i], memory[i]);
            }
            memory[i] = VK_NULL_HANDLE;
        }
    }
    assert_int_equal(rig_statistics(&rig, VK_NULL_HANDLE).allocationCount, 0);
    rig_check(&rig);
}

enum { NEIGHBOURS = 32 };

/* Each buffer filled with a word of its own by the device: every byte must come back. */
static void neighbours_keep_their_bytes(void** state)
{
    rig_need(state, rig_executes(), "commands do not execute on this rig");
    VkBuffer buffers[NEIGHBOURS];
    MaarAllocation memory[NEIGHBOURS];
    VkDeviceSize sizes[NEIGHBOURS];
    uint32_t words[NEIGHBOURS];
    VkDeviceSize total = 0;
    for (uint32_t i = 0; i < NEIGHBOURS; ++i) {
        sizes[i] = 4 * (1 + i * 97);
        words[i] = 0xA5000000u + i;
        total += sizes[i];
        const VkBufferCreateInfo info = rig_buffer_info(sizes[i]);
        assert_int_equal(maarCreateBuffer(rig.allocator, &info, NULL, &buffers[i], &memory[i]),
                         VK_SUCCESS);
    }
    const VkBufferCreateInfo info = rig_buffer_info(total);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    VkBuffer readback;
    MaarAllocation host;
    assert_int_equal(maarCreateBuffer(rig.allocator, &info, &how, &readback, &host), VK_SUCCESS);
    device_fill_and_read(&rig, NEIGHBOURS, buffers, sizes, words, readback, VK_NULL_HANDLE, 0);
    assert_int_equal(maarInvalidateAllocation(rig.allocator, host, 0, VK_WHOLE_SIZE), VK_SUCCESS);
    const uint32_t* word = rig_info(&rig, host).pMappedData;
    uint32_t matching = 0;
    for (uint32_t i = 0; i < NEIGHBOURS; ++i) {
        for (VkDeviceSize k = 0; k < sizes[i] / 4; ++k) {
            matching += *word++ == words[i];
        }
    }
    assert_int_equal(matching, total / 4);
    maarDestroyBuffer(rig.allocator, readback, host);
    for (uint32_t i = 0; i < NEIGHBOURS; ++i) {
        maarDestroyBuffer(rig.allocator, buffers[i], memory[i]);
    }
}

/* A kernel that does nothing keeps time all the same, with the preload of its rig. */
static void frees_wait_for_the_queue(void** state)
{
    rig_need(state, true, "");
    MaarAllocatorInfo known = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    assert_int_equal(maarGetAllocatorInfo(rig.allocator, &known), VK_SUCCESS);
    assert_int_equal(known.timelineSemaphore, VK_TRUE);
    VkSemaphore timeline = rig_create_timeline(&rig, 0);
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    VkBuffer source;
    VkBuffer readback;
    MaarAllocation a;
    MaarAllocation b;
    const VkDeviceSize size = 4096;
    const uint32_t word = 7;
    assert_int_equal(maarCreateBuffer(rig.allocator, &info, NULL, &source, &a), VK_SUCCESS);
    assert_int_equal(maarCreateBuffer(rig.allocator, &info, &how, &readback, &b), VK_SUCCESS);
    MaarAllocation waiting = rig_allocate(&rig, 5000, NULL);
    const MaarPoint point = {timeline, 3};
    assert_int_equal(maarFreeMemoryAfter(rig.allocator, waiting, 1, &point), VK_SUCCESS);
    uint32_t freed = 9;
    assert_int_equal(maarCollect(rig.allocator, &freed), VK_SUCCESS);
    assert_int_equal(freed, 0);
    device_fill_and_read(&rig, 1, &source, &size, &word, readback, timeline, 3);
    assert_int_equal(maarWaitPending(rig.allocator, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(rig_statistics(&rig, VK_NULL_HANDLE).pendingCount, 0);
    maarDestroyBuffer(rig.allocator, source, a);
    maarDestroyBuffer(rig.allocator, readback, b);
    vkDestroySemaphore(rig.device, timeline, NULL);
}

static void host_copies_arrive(void** state)
{
    rig_need(state, true, "");
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_UPLOAD);
    MaarAllocation memory = rig_allocate(&rig, 100000, &how);
    char out[1000];
    char in[1000];
    for (uint32_t i = 0; i < sizeof out; ++i) {
        out[i] = (char)(i * 7);
    }
    assert_int_equal(maarCopyToAllocation(rig.allocator, memory, 12345, sizeof out, out),
                     VK_SUCCESS);
    assert_int_equal(maarCopyFromAllocation(rig.allocator, memory, 12345, sizeof in, in),
                     VK_SUCCESS);
    if (rig_executes()) { /* the no-op kernel's memory forgets */
        assert_memory_equal(in, out, sizeof in);
    }
    maarFreeMemory(rig.allocator, memory);
}

static void slices_and_addresses(void** state)
{
    rig_need(state, true, "");
    enum { COUNT = 1000 };
    static MaarSlice slices[COUNT];
    MaarAllocatorInfo known = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    assert_int_equal(maarGetAllocatorInfo(rig.allocator, &known), VK_SUCCESS);
    VkBufferUsageFlags usage = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT;
    if (known.bufferDeviceAddress == VK_TRUE) {
        usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    }
    for (uint32_t i = 0; i < COUNT; ++i) {
        const MaarSliceCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
            .size = 1 + i,
            .usage = usage,
            .memoryUsage = MAAR_MEMORY_USAGE_DEVICE_UPLOAD,
        };
        assert_int_equal(maarCreateSlice(rig.allocator, &info, &slices[i]), VK_SUCCESS);
        MaarSliceInfo slice = {.sType = MAAR_STRUCTURE_TYPE_SLICE_INFO};
        assert_int_equal(maarGetSliceInfo(rig.allocator, slices[i], &slice), VK_SUCCESS);
        assert_non_null(slice.pMappedData);
        assert_true((slice.address != 0) == (known.bufferDeviceAddress == VK_TRUE));
    }
    for (uint32_t i = 0; i < COUNT; ++i) {
        maarDestroySlice(rig.allocator, slices[i]);
    }
    assert_int_equal(maarTrim(rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(rig_statistics(&rig, VK_NULL_HANDLE).blockCount, 0);
}

static void pools_of_every_strategy(void** state)
{
    rig_need(state, true, "");
    const VkBufferCreateInfo buffer_info = rig_buffer_info(7000);
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    assert_int_equal(maarChooseMemoryTypeForBuffer(rig.allocator, &buffer_info, NULL, &choice),
                     VK_SUCCESS);
    for (int strategy = MAAR_PLACEMENT_STRATEGY_TLSF; strategy <= MAAR_PLACEMENT_STRATEGY_LINEAR;
         ++strategy) {
        const MaarPoolCreateInfo info = {
            .memoryTypeIndex = choice.memoryTypeIndex,
            .strategy = (MaarPlacementStrategy)strategy,
            .blockSize = 200000,
            .priority = 0.75F,
        };
        MaarPool pool = rig_create_pool(&rig, &info);
        MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
        how.pool = pool;
        VkBuffer buffers[40];
        MaarAllocation memory[40];
        for (uint32_t i = 0; i < 40; ++i) {
            assert_int_equal(
                maarCreateBuffer(rig.allocator, &buffer_info, &how, &buffers[i], &memory[i]),
                VK_SUCCESS);
        }
        rig_check(&rig);
        VkResult result = maarSetPoolPriority(rig.allocator, pool, 0.25F);
        assert_true(result == VK_SUCCESS || result == VK_INCOMPLETE ||
                    result == VK_ERROR_FEATURE_NOT_PRESENT);
        for (uint32_t i = 0; i < 40; ++i) {
            maarDestroyBuffer(rig.allocator, buffers[i], memory[i]);
        }
        maarDestroyPool(rig.allocator, pool);
    }
}

static void aliases_of_either_kind_are_bound(void** state)
{
    rig_need(state, true, "");
    const VkBufferCreateInfo whole = rig_buffer_info(MIB);
    const VkImageCreateInfo image_info = rig_image_info(64, 64);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.flags = MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT;
    how.minAlignment = 262144;
    VkBuffer buffer;
    VkBuffer half;
    VkImage image;
    MaarAllocation memory;
    assert_int_equal(maarCreateBuffer(rig.allocator, &whole, &how, &buffer, &memory), VK_SUCCESS);
    const VkBufferCreateInfo small = rig_buffer_info(1000);
    assert_int_equal(maarCreateAliasingBuffer(rig.allocator, memory, 524288, &small, &half),
                     VK_SUCCESS);
    assert_int_equal(maarCreateAliasingImage(rig.allocator, memory, 262144, &image_info, &image),
                     VK_SUCCESS);
    vkDestroyImage(rig.device, image, NULL);
    vkDestroyBuffer(rig.device, half, NULL);
    maarDestroyBuffer(rig.allocator, buffer, memory);
}

/* What the device writes through an alias lies at its offset of the memory, and nowhere else. */
static void aliases_share_bytes(void** state)
{
    rig_need(state, rig_executes(), "commands do not execute on this rig");
    enum { OFFSET = 524288, BYTES = 1000 };
    const VkBufferCreateInfo whole = rig_buffer_info(MIB);
    const VkBufferCreateInfo part = rig_buffer_info(BYTES);
    const MaarAllocationCreateInfo read = rig_how(MAAR_MEMORY_USAGE_READBACK);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_UPLOAD);
    how.flags = MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT | MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    how.minAlignment = OFFSET;
    const uint32_t word = 0xA5A5A5A5;
    VkBuffer buffer;
    VkBuffer alias;
    VkBuffer readback;
    MaarAllocation memory;
    MaarAllocation host;
    assert_int_equal(maarCreateBuffer(rig.allocator, &whole, &how, &buffer, &memory), VK_SUCCESS);
    assert_int_equal(maarCreateBuffer(rig.allocator, &part, &read, &readback, &host), VK_SUCCESS);
    uint32_t* bytes = maarGetMappedData(rig.allocator, memory);
    memset(bytes, 0x11, MIB);
    assert_int_equal(maarFlushAllocation(rig.allocator, memory, 0, VK_WHOLE_SIZE), VK_SUCCESS);
    assert_int_equal(maarCreateAliasingBuffer(rig.allocator, memory, OFFSET, &part, &alias),
                     VK_SUCCESS);
    device_fill_and_read(&rig, 1, &alias, &part.size, &word, readback, VK_NULL_HANDLE, 0);
    assert_int_equal(maarInvalidateAllocation(rig.allocator, memory, 0, VK_WHOLE_SIZE), VK_SUCCESS);
    for (uint32_t i = 0; i < MIB / 4; ++i) {
        const bool is_aliased = i >= OFFSET / 4 && i < (OFFSET + BYTES) / 4;
        assert_int_equal(bytes[i], is_aliased ? word : 0x11111111);
    }
    vkDestroyBuffer(rig.device, alias, NULL);
    maarDestroyBuffer(rig.allocator, readback, host);
    maarDestroyBuffer(rig.allocator, buffer, memory);
}

/* Seen in Mesa 25.0.7: a crash in vkBindImageMemory2, with arguments that the layer has nothing
 * against; not in 26.2.6. */
static bool nvk_crashes_on_planes(void)
{
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(rig.physical, &properties);
    return rig_is("nvk") && VK_API_VERSION_MAJOR(properties.driverVersion) < 26;
}

static void planes_are_bound(void** state)
{
    rig_need(state, true, "");
    rig_need(state, !nvk_crashes_on_planes(), "NVK before Mesa 26 crashes binding disjoint planes");
    const VkFormat format = VK_FORMAT_G8_B8R8_2PLANE_420_UNORM;
    VkFormatProperties properties;
    vkGetPhysicalDeviceFormatProperties(rig.physical, format, &properties);
    const VkFormatFeatureFlags wanted =
        VK_FORMAT_FEATURE_DISJOINT_BIT | VK_FORMAT_FEATURE_TRANSFER_DST_BIT;
    rig_need(state, (properties.optimalTilingFeatures & wanted) == wanted,
             "the driver has no disjoint two-plane images");
    VkImageCreateInfo info = rig_image_info(256, 256);
    info.format = format;
    info.flags = VK_IMAGE_CREATE_DISJOINT_BIT;
    info.usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    VkImage image;
    MaarAllocation memory[2];
    assert_int_equal(maarCreateDisjointImage(rig.allocator, &info, NULL, 2, &image, memory),
                     VK_SUCCESS);
    maarDestroyImage(rig.allocator, image, memory[0]);
    maarFreeMemory(rig.allocator, memory[1]);
}

static void budgets_make_sense(void** state)
{
    rig_need(state, true, "");
    MaarHeapBudget before = rig_budget(&rig, 0);
    assert_true(before.budget > 0 && before.budget <= before.size);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    MaarAllocation memory = rig_allocate(&rig, 16 * MIB, &how);
    MaarAllocatorInfo known = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    assert_int_equal(maarGetAllocatorInfo(rig.allocator, &known), VK_SUCCESS);
    uint32_t type = rig_info(&rig, memory).memoryTypeIndex;
    uint32_t heap = known.memoryProperties.memoryTypes[type].heapIndex;
    MaarHeapBudget after = rig_budget(&rig, heap);
    assert_true(after.blockBytes == 16 * MIB && after.blockCount == 1);
    assert_true(after.usage >= 16 * MIB);
    maarFreeMemory(rig.allocator, memory);
}

/* Drivers accept it (lavapipe and RADV do); Maar does not ask them. */
static void allocation_above_its_heap_is_refused(void** state)
{
    rig_need(state, true, "");
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    const MaarStatistics before = rig_statistics(&rig, VK_NULL_HANDLE);
    MaarAllocatorInfo known = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    VkDeviceSize largest = 0;
    assert_int_equal(maarGetAllocatorInfo(rig.allocator, &known), VK_SUCCESS);
    for (uint32_t i = 0; i < known.memoryProperties.memoryHeapCount; ++i) {
        const VkDeviceSize size = known.memoryProperties.memoryHeaps[i].size;
        largest = size > largest ? size : largest;
    }
    const bool is_limit_lower = known.maxMemoryAllocationSize < largest + MIB;
    const MaarMemoryRequest request =
        rig_request(largest + MIB, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation memory = (MaarAllocation)(uintptr_t)1;
    assert_int_equal(maarAllocateMemory(rig.allocator, &request, &how, &memory),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_true(memory == VK_NULL_HANDLE);
    rig_expect_message_naming(&rig,
                              is_limit_lower ? MAAR_MESSAGE_ID_TOO_LARGE_FOR_DEVICE
                                             : MAAR_MESSAGE_ID_TOO_LARGE_FOR_HEAP,
                              "maarAllocateMemory");
    const MaarStatistics after = rig_statistics(&rig, VK_NULL_HANDLE);
    assert_int_equal(after.deviceAllocationCalls, before.deviceAllocationCalls);
    assert_int_equal(after.blockBytes, before.blockBytes);
}

/* Device-local memory that the host sees, in a heap of its own, far smaller than the device's. */
static bool has_small_bar(void)
{
    const VkMemoryPropertyFlags both = (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
                                       (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(rig.physical, &memory);
    VkDeviceSize seen = 0;
    for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
        VkDeviceSize size = memory.memoryHeaps[memory.memoryTypes[i].heapIndex].size;
        if ((memory.memoryTypes[i].propertyFlags & both) == both && size > seen) {
            seen = size;
        }
    }
    return seen > 0 && seen <= 256 * MIB;
}

static void small_bar_overflows_into_system_memory(void** state)
{
    rig_need(state, true, "");
    rig_need(state, has_small_bar(), "the device has no small BAR");
    MaarAllocation made[8];
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_UPLOAD);
    uint32_t fallbacks = 0;
    for (uint32_t i = 0; i < 8; ++i) {
        made[i] = rig_allocate(&rig, 50 * MIB, &how);
        fallbacks += rig_info(&rig, made[i]).fallback;
        assert_true((rig_info(&rig, made[i]).propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) !=
                    0);
    }
    assert_int_equal(rig_info(&rig, made[0]).fallback, VK_FALSE);
    assert_true(fallbacks >= 3);
    assert_true(rig.messages.counts[MAAR_MESSAGE_SEVERITY_WARNING] >= 2); /* of the 1st, 2nd, 4th */
    maarFreeMemories(rig.allocator, 8, made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(planted_breach_is_heard, open_rig, rig_teardown),
        cmocka_unit_test_setup_teardown(planted_hazard_is_heard, open_rig, rig_teardown),
        cmocka_unit_test_setup_teardown(rig_is_the_gpu_that_it_names, open_rig, rig_teardown),
        cmocka_unit_test_setup_teardown(usages_get_what_they_need, open_rig, rig_teardown),
        cmocka_unit_test_setup_teardown(crowd_is_bound_and_freed, open_rig, rig_teardown),
        cmocka_unit_test_setup_teardown(neighbours_keep_their_bytes, open_rig, rig_teardown),
        cmocka_unit_test_setup_teardown(frees_wait_for_the_queue, open_rig, rig_teardown),
        cmocka_unit_test_setup_teardown(host_copies_arrive, open_rig, rig_teardown),
        cmocka_unit_test_setup_teardown(slices_and_addresses, open_rig, rig_teardown),
        cmocka_unit_test_setup_teardown(pools_of_every_strategy, open_rig, rig_teardown),
        cmocka_unit_test_setup_teardown(aliases_of_either_kind_are_bound, open_rig, rig_teardown),
        cmocka_unit_test_setup_teardown(aliases_share_bytes, open_rig, rig_teardown),
        cmocka_unit_test_setup_teardown(planes_are_bound, open_rig, rig_teardown),
        cmocka_unit_test_setup_teardown(budgets_make_sense, open_rig, rig_teardown),
        cmocka_unit_test_setup_teardown(allocation_above_its_heap_is_refused, open_rig,
                                        rig_teardown),
        cmocka_unit_test_setup_teardown(small_bar_overflows_into_system_memory, open_rig,
                                        rig_teardown),
    };
    /* Without any device every case would be skipped: say so to ctest. */
    if (!rig_open_vulkan(&rig, NULL, rig_is("lavapipe"))) {
        return 77;
    }
    rig_close(&rig);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
