/*
 * What VulkanMemoryAllocator asserts, in a unit with MAAR_VMA_CHECKS: each misuse is reported in a
 * sentence that names it, or fails VMA_ASSERT where an argument is null.
 */
#include "tests/rig/rig.h"

#include <setjmp.h>
#include <stdio.h>

static char logged[4096];
static uint32_t lines;
static uint32_t leak_lines;
static uint32_t leak_assertions;
static jmp_buf after_assertion;

static void keep_line(const char* text)
{
    const size_t length = strlen(logged);
    (void)snprintf(logged + length, sizeof logged - length, "%s\n", text);
    ++lines;
}

static void fail_assertion(void)
{
    longjmp(after_assertion, 1);
}

#define VMA_STATIC_VULKAN_FUNCTIONS 0
#define VMA_DYNAMIC_VULKAN_FUNCTIONS 1
#define MAAR_VMA_CHECKS 1
#define VMA_ASSERT(expression) ((expression) ? (void)0 : fail_assertion())
#define VMA_ASSERT_LEAK(expression) (leak_assertions += (expression) ? 0 : 1)
#define VMA_DEBUG_LOG_FORMAT(format, text) keep_line(text)
#define VMA_LEAK_LOG_FORMAT(format, text) (++leak_lines, keep_line(text))
#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>

#define FLAG(name) ((VmaAllocationCreateFlags)VMA_ALLOCATION_CREATE_##name##_BIT)

static void forget(void)
{
    logged[0] = '\0';
    lines = 0;
    leak_lines = 0;
    leak_assertions = 0;
}

/* One line since the last look, which has the word. */
static void expect_line(const char* word)
{
    if (lines != 1 || strstr(logged, word) == NULL) {
        fail_msg("%u lines in the place of one with %s: %s", (unsigned)lines, word, logged);
    }
    forget();
}

static void expect_silence(void)
{
    if (lines != 0) {
        fail_msg("%s", logged);
    }
}

static VmaAllocator open_with(struct rig* rig, VmaAllocatorCreateFlags flags, uint32_t version)
{
    const VmaVulkanFunctions functions = {.vkGetInstanceProcAddr = vkGetInstanceProcAddr,
                                          .vkGetDeviceProcAddr = vkGetDeviceProcAddr};
    const VmaAllocatorCreateInfo info = {.flags = flags,
                                         .instance = rig->instance,
                                         .physicalDevice = rig->physical,
                                         .device = rig->device,
                                         .pVulkanFunctions = &functions,
                                         .vulkanApiVersion = version};
    VmaAllocator allocator = VK_NULL_HANDLE;
    assert_int_equal(vmaCreateAllocator(&info, &allocator), VK_SUCCESS);
    forget();
    return allocator;
}

static VmaAllocator open_allocator(struct rig* rig)
{
    return open_with(rig, 0, VK_API_VERSION_1_1);
}

static VkResult take(VmaAllocator allocator, const VmaAllocationCreateInfo* how,
                     VmaAllocation* made)
{
    const VkMemoryRequirements needs = {.size = 1000, .alignment = 4, .memoryTypeBits = UINT32_MAX};
    return vmaAllocateMemory(allocator, &needs, how, made, NULL);
}

/* ---- requests ---- */

static void requests_that_contradict_themselves_are_reported(void** state)
{
    (void)state;
    static const struct {
        VmaAllocationCreateFlags flags;
        VmaMemoryUsage usage;
        bool fails;
        const char* word;
    } rows[] = {
        {FLAG(HOST_ACCESS_RANDOM) | FLAG(HOST_ACCESS_SEQUENTIAL_WRITE), VMA_MEMORY_USAGE_AUTO,
         false, "RANDOM_BIT"},
        {FLAG(HOST_ACCESS_ALLOW_TRANSFER_INSTEAD), VMA_MEMORY_USAGE_AUTO, false,
         "TRANSFER_INSTEAD_BIT"},
        {FLAG(MAPPED), VMA_MEMORY_USAGE_AUTO, false, "MAPPED_BIT"},
        {FLAG(MAPPED), VMA_MEMORY_USAGE_AUTO_PREFER_DEVICE, false, "MAPPED_BIT"},
        {FLAG(MAPPED), VMA_MEMORY_USAGE_AUTO_PREFER_HOST, false, "MAPPED_BIT"},
        {0x40000000, VMA_MEMORY_USAGE_AUTO, false, "bits"},
        {0, VMA_MEMORY_USAGE_UNKNOWN, false, "usage"},
        {0, (VmaMemoryUsage)77, true, "VmaMemoryUsage"},
        {FLAG(DEDICATED_MEMORY) | FLAG(NEVER_ALLOCATE), VMA_MEMORY_USAGE_AUTO, true,
         "NEVER_ALLOCATE_BIT"},
        {FLAG(UPPER_ADDRESS), VMA_MEMORY_USAGE_AUTO, true, "UPPER_ADDRESS_BIT"},
    };
    const VkBufferCreateInfo info = rig_buffer_info(1000);
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    const VmaAllocator allocator = open_allocator(rig);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const VmaAllocationCreateInfo how = {.flags = rows[i].flags, .usage = rows[i].usage};
        VmaAllocation made = VK_NULL_HANDLE;
        VkBuffer buffer = VK_NULL_HANDLE;
        const VkResult result = vmaCreateBuffer(allocator, &info, &how, &buffer, &made, NULL);
        assert_int_equal(result == VK_SUCCESS, !rows[i].fails);
        expect_line(rows[i].word);
        vmaDestroyBuffer(allocator, buffer, made);
        made = VK_NULL_HANDLE;
        assert_int_equal(take(allocator, &how, &made) == VK_SUCCESS, !rows[i].fails);
        expect_line(rows[i].word);
        vmaFreeMemory(allocator, made);
        expect_silence();
    }
    vmaDestroyAllocator(allocator);
}

static void right_requests_are_silent(void** state)
{
    (void)state;
    static const struct {
        VmaAllocationCreateFlags flags;
        VmaMemoryUsage usage;
        VkMemoryPropertyFlags required;
    } rows[] = {
        {0, VMA_MEMORY_USAGE_AUTO, 0},
        {0, VMA_MEMORY_USAGE_GPU_ONLY, 0},
        {FLAG(MAPPED), VMA_MEMORY_USAGE_CPU_ONLY, 0},
        {FLAG(MAPPED) | FLAG(HOST_ACCESS_RANDOM), VMA_MEMORY_USAGE_AUTO, 0},
        {FLAG(HOST_ACCESS_SEQUENTIAL_WRITE) | FLAG(HOST_ACCESS_ALLOW_TRANSFER_INSTEAD) |
             FLAG(MAPPED),
         VMA_MEMORY_USAGE_AUTO, 0},
        {FLAG(DEDICATED_MEMORY) | FLAG(STRATEGY_MIN_TIME), VMA_MEMORY_USAGE_AUTO, 0},
        {0, VMA_MEMORY_USAGE_UNKNOWN, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT},
    };
    const VkBufferCreateInfo info = rig_buffer_info(1000);
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    const VmaAllocator allocator = open_allocator(rig);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const VmaAllocationCreateInfo how = {
            .flags = rows[i].flags, .usage = rows[i].usage, .requiredFlags = rows[i].required};
        VmaAllocation made = VK_NULL_HANDLE;
        VkBuffer buffer = VK_NULL_HANDLE;
        assert_int_equal(vmaCreateBuffer(allocator, &info, &how, &buffer, &made, NULL), VK_SUCCESS);
        vmaDestroyBuffer(allocator, buffer, made);
        expect_silence();
    }
    vmaDestroyAllocator(allocator);
    expect_silence();
}

static void objects_that_cannot_be_are_reported(void** state)
{
    (void)state;
    const VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_AUTO};
    const VkMemoryRequirements nothing = {.alignment = 4, .memoryTypeBits = UINT32_MAX};
    VkBufferCreateInfo info = rig_buffer_info(1000);
    VkImageCreateInfo image_info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = VK_FORMAT_R8G8B8A8_UNORM,
                                    .extent = {16, 16, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT};
    VmaAllocation made = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    VkImage image = VK_NULL_HANDLE;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    const VmaAllocator allocator = open_allocator(rig);
    info.size = 0;
    assert_int_not_equal(vmaCreateBuffer(allocator, &info, &how, &buffer, &made, NULL), VK_SUCCESS);
    expect_line("size");
    info = rig_buffer_info(1000);
    info.usage = VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    assert_int_not_equal(vmaCreateBuffer(allocator, &info, &how, &buffer, &made, NULL), VK_SUCCESS);
    expect_line("DEVICE_ADDRESS_BIT");
    (void)vmaCreateImage(allocator, &image_info, &how, &image, &made, NULL);
    assert_non_null(strstr(logged, "usage"));
    vmaDestroyImage(allocator, image, made);
    forget();
    image_info.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
    image_info.extent.width = 0;
    assert_int_not_equal(vmaCreateImage(allocator, &image_info, &how, &image, &made, NULL),
                         VK_SUCCESS);
    expect_line("extent");
    assert_int_not_equal(vmaAllocateMemory(allocator, &nothing, &how, &made, NULL), VK_SUCCESS);
    expect_line("size");
    vmaDestroyAllocator(allocator);
}

/* Served, with offsets that are multiples of them. */
static void alignments_that_are_no_power_of_two_are_reported(void** state)
{
    (void)state;
    const VmaAllocationCreateInfo plain = {.usage = VMA_MEMORY_USAGE_AUTO};
    const VmaAllocationCreateInfo odd = {.usage = VMA_MEMORY_USAGE_AUTO, .minAlignment = 768};
    const VkMemoryRequirements needs = {
        .size = 1000, .alignment = 768, .memoryTypeBits = UINT32_MAX};
    const VmaPoolCreateInfo of_pool = {.memoryTypeIndex = 0, .minAllocationAlignment = 768};
    const VkBufferCreateInfo info = rig_buffer_info(1000);
    VmaAllocationInfo place;
    VmaAllocation made[4] = {VK_NULL_HANDLE};
    VkBuffer buffer = VK_NULL_HANDLE;
    VmaPool pool = VK_NULL_HANDLE;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    const VmaAllocator allocator = open_allocator(rig);
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(vmaAllocateMemory(allocator, &needs, &plain, &made[i], &place),
                         VK_SUCCESS);
        assert_int_equal(place.offset % 768, 0);
        expect_silence();
    }
    assert_int_equal(vmaAllocateMemory(allocator, &needs, &odd, &made[2], &place), VK_SUCCESS);
    assert_int_equal(place.offset % 768, 0);
    expect_line("minAlignment");
    assert_int_equal(
        vmaCreateBufferWithAlignment(allocator, &info, &plain, 768, &buffer, &made[3], &place),
        VK_SUCCESS);
    assert_int_equal(place.offset % 768, 0);
    expect_silence();
    vmaDestroyBuffer(allocator, buffer, made[3]);
    vmaFreeMemoryPages(allocator, 3, made);
    assert_int_equal(vmaCreatePool(allocator, &of_pool, &pool), VK_SUCCESS);
    const VmaAllocationCreateInfo inside = {.pool = pool};
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(take(allocator, &inside, &made[i]), VK_SUCCESS);
        vmaGetAllocationInfo(allocator, made[i], &place);
        assert_int_equal(place.offset % 768, 0);
    }
    vmaFreeMemoryPages(allocator, 2, made);
    vmaDestroyPool(allocator, pool);
    vmaDestroyAllocator(allocator);
    expect_silence();
}

static void pools_and_types_that_are_not_there_are_reported(void** state)
{
    (void)state;
    VmaPoolCreateInfo info = {.memoryTypeIndex = 31};
    VmaPool pool = VK_NULL_HANDLE;
    VmaAllocation made = VK_NULL_HANDLE;
    VkMemoryPropertyFlags flags = 0xFF;
    VmaDefragmentationContext context = VK_NULL_HANDLE;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    const VmaAllocator allocator = open_allocator(rig);
    assert_int_equal(vmaCreatePool(allocator, &info, &pool), VK_ERROR_FEATURE_NOT_PRESENT);
    expect_line("memoryTypeIndex");
    vmaGetMemoryTypeProperties(allocator, 31, &flags);
    assert_int_equal(flags, 0);
    expect_line("memoryTypeIndex");
    info = (VmaPoolCreateInfo){.memoryTypeIndex = 0, .blockSize = MIB};
    assert_int_equal(vmaCreatePool(allocator, &info, &pool), VK_SUCCESS);
    const VmaAllocationCreateInfo dedicated = {.flags = FLAG(DEDICATED_MEMORY), .pool = pool};
    assert_int_not_equal(take(allocator, &dedicated, &made), VK_SUCCESS);
    expect_line("blockSize");
    vmaDestroyPool(allocator, pool);
    info.flags = VMA_POOL_CREATE_LINEAR_ALGORITHM_BIT;
    assert_int_equal(vmaCreatePool(allocator, &info, &pool), VK_SUCCESS);
    const VmaDefragmentationInfo run = {.pool = pool};
    assert_int_not_equal(vmaBeginDefragmentation(allocator, &run, &context), VK_SUCCESS);
    expect_line("LINEAR_ALGORITHM_BIT");
    vmaDestroyPool(allocator, pool);
    vmaDestroyAllocator(allocator);
    expect_silence();
}

/* ---- mappings ---- */

static void access_without_its_flag_is_reported(void** state)
{
    (void)state;
    const VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_AUTO,
                                         .requiredFlags = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT};
    const VkBufferCreateInfo info = rig_buffer_info(1000);
    char bytes[16] = {0};
    VmaAllocation made = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    void* data = NULL;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    const VmaAllocator allocator = open_allocator(rig);
    assert_int_equal(vmaCreateBuffer(allocator, &info, &how, &buffer, &made, NULL), VK_SUCCESS);
    vmaSetAllocationName(allocator, made, "seen");
    expect_silence();
    assert_int_equal(vmaMapMemory(allocator, made, &data), VK_SUCCESS);
    assert_non_null(strstr(logged, "seen"));
    expect_line("HOST_ACCESS_RANDOM_BIT");
    vmaUnmapMemory(allocator, made);
    assert_int_equal(vmaCopyMemoryToAllocation(allocator, bytes, made, 0, sizeof bytes),
                     VK_SUCCESS);
    expect_line("HOST_ACCESS_RANDOM_BIT");
    assert_int_equal(vmaCopyAllocationToMemory(allocator, made, 0, bytes, sizeof bytes),
                     VK_SUCCESS);
    expect_line("HOST_ACCESS_RANDOM_BIT");
    vmaDestroyBuffer(allocator, buffer, made);
    expect_silence();
    vmaDestroyAllocator(allocator);
}

static void what_is_freed_while_mapped_is_reported(void** state)
{
    (void)state;
    const VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_CPU_ONLY};
    VmaAllocation made[2] = {VK_NULL_HANDLE};
    void* data = NULL;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    const VmaAllocator allocator = open_allocator(rig);
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(take(allocator, &how, &made[i]), VK_SUCCESS);
        assert_int_equal(vmaMapMemory(allocator, made[i], &data), VK_SUCCESS);
        assert_int_equal(vmaMapMemory(allocator, made[i], &data), VK_SUCCESS);
        vmaUnmapMemory(allocator, made[i]);
    }
    vmaUnmapMemory(allocator, made[0]);
    vmaFreeMemory(allocator, made[0]);
    expect_silence();
    vmaSetAllocationName(allocator, made[1], "held");
    vmaFreeMemory(allocator, made[1]);
    assert_non_null(strstr(logged, "held"));
    expect_line("vmaUnmapMemory");
    /* A handle with the same number begins anew. */
    assert_int_equal(take(allocator, &how, &made[1]), VK_SUCCESS);
    vmaFreeMemory(allocator, made[1]);
    expect_silence();
    vmaDestroyAllocator(allocator);
}

static void unmapping_what_is_not_mapped_is_reported(void** state)
{
    (void)state;
    const VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_CPU_ONLY};
    VmaAllocation made = VK_NULL_HANDLE;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    const VmaAllocator allocator = open_allocator(rig);
    assert_int_equal(take(allocator, &how, &made), VK_SUCCESS);
    vmaSetAllocationName(allocator, made, "terrain");
    vmaUnmapMemory(allocator, made);
    expect_line("vmaUnmapMemory or maarUnmapMemory: allocation \"terrain\"");
    vmaFreeMemory(allocator, made);
    vmaFreeMemory(allocator, made);
    expect_line("vmaFreeMemory or maarFreeMemory: allocation 0x");
    maarFreeMemory(maarVmaGetMaarAllocator(allocator), maarVmaGetMaarAllocation(allocator, made));
    expect_line("vmaFreeMemory or maarFreeMemory: allocation 0x");
    vmaDestroyAllocator(allocator);
}

/* ---- leaks ---- */

static void leaks_are_named_and_counted_before_the_assertion(void** state)
{
    (void)state;
    const VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_AUTO};
    const VmaPoolCreateInfo info = {.memoryTypeIndex = 0};
    VmaAllocationCreateInfo in_pool = {.usage = VMA_MEMORY_USAGE_UNKNOWN};
    VmaAllocation made = VK_NULL_HANDLE;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    const VmaAllocator allocator = open_allocator(rig);
    assert_int_equal(vmaCreatePool(allocator, &info, &in_pool.pool), VK_SUCCESS);
    assert_int_equal(take(allocator, &in_pool, &made), VK_SUCCESS);
    expect_silence();
    vmaDestroyPool(allocator, in_pool.pool);
    assert_int_equal(leak_lines, 2);
    assert_int_equal(leak_assertions, 1);
    assert_non_null(strstr(logged, "vmaDestroyPool: 1 "));
    for (uint32_t i = 0; i < 20; ++i) {
        assert_int_equal(take(allocator, &how, &made), VK_SUCCESS);
    }
    vmaSetAllocationName(allocator, made, "forgotten");
    forget();
    vmaDestroyAllocator(allocator);
    assert_int_equal(leak_lines, 21);
    assert_int_equal(leak_assertions, 1);
    assert_non_null(strstr(logged, "forgotten"));
    assert_non_null(strstr(logged, "vmaDestroyAllocator: 20 "));
}

/* ---- virtual blocks ---- */

static void virtual_blocks_report_too(void** state)
{
    (void)state;
    VmaVirtualBlockCreateInfo info = {.size = 0};
    const VmaVirtualAllocationCreateInfo how = {.size = 100};
    const VmaVirtualAllocationCreateInfo empty = {.size = 0};
    VmaVirtualBlock block = VK_NULL_HANDLE;
    VmaVirtualAllocation made = VK_NULL_HANDLE;
    VmaVirtualAllocation other = VK_NULL_HANDLE;
    forget();
    assert_int_not_equal(vmaCreateVirtualBlock(&info, &block), VK_SUCCESS);
    expect_line("size");
    info.size = 1000;
    assert_int_equal(vmaCreateVirtualBlock(&info, &block), VK_SUCCESS);
    assert_int_not_equal(vmaVirtualAllocate(block, &empty, &made, NULL), VK_SUCCESS);
    expect_line("size");
    assert_int_equal(vmaVirtualAllocate(block, &how, &made, NULL), VK_SUCCESS);
    assert_int_equal(vmaVirtualAllocate(block, &how, &other, NULL), VK_SUCCESS);
    vmaVirtualFree(block, made);
    expect_silence();
    vmaVirtualFree(block, made);
    expect_line("vmaVirtualFree or maarFreeRange: ");
    vmaDestroyVirtualBlock(block);
    assert_int_equal(leak_lines, 2);
    assert_int_equal(leak_assertions, 1);
    assert_non_null(strstr(logged, "vmaDestroyVirtualBlock: 1 "));
    forget();
    assert_int_equal(vmaCreateVirtualBlock(&info, &block), VK_SUCCESS);
    assert_int_equal(vmaVirtualAllocate(block, &how, &made, NULL), VK_SUCCESS);
    vmaClearVirtualBlock(block);
    vmaDestroyVirtualBlock(block);
    expect_silence();
}

static void odd_alignments_of_ranges_are_reported(void** state)
{
    (void)state;
    const VmaVirtualBlockCreateInfo info = {.size = 1000};
    VmaVirtualAllocationCreateInfo how = {.size = 100, .alignment = 3};
    VmaVirtualBlock block = VK_NULL_HANDLE;
    VmaVirtualAllocation made[2] = {VK_NULL_HANDLE};
    VkDeviceSize offset = 7;
    forget();
    assert_int_equal(vmaCreateVirtualBlock(&info, &block), VK_SUCCESS);
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(vmaVirtualAllocate(block, &how, &made[i], &offset), VK_SUCCESS);
        assert_int_equal(offset % 3, 0);
        expect_line("vmaVirtualAllocate: pCreateInfo->alignment is 3, not a power of two");
    }
    vmaClearVirtualBlock(block);
    for (how.alignment = 1; how.alignment <= 4; how.alignment *= 2) {
        assert_int_equal(vmaVirtualAllocate(block, &how, &made[0], &offset), VK_SUCCESS);
    }
    how.alignment = 0;
    assert_int_equal(vmaVirtualAllocate(block, &how, &made[0], &offset), VK_SUCCESS);
    vmaClearVirtualBlock(block);
    vmaDestroyVirtualBlock(block);
    expect_silence();
}

/* ---- null arguments ---- */

#define EXPECT_ASSERTION(call)                                                                     \
    do {                                                                                           \
        if (setjmp(after_assertion) == 0) {                                                        \
            call;                                                                                  \
            fail_msg("no assertion: %s", #call);                                                   \
        }                                                                                          \
    } while (0)

static void null_arguments_fail_an_assertion(void** state)
{
    (void)state;
    const VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_AUTO};
    const VkBufferCreateInfo info = rig_buffer_info(1000);
    static VmaAllocation made;
    static VkBuffer buffer;
    VmaTotalStatistics totals;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    const VmaAllocator allocator = open_allocator(rig);
    EXPECT_ASSERTION(vmaCreateAllocator(NULL, NULL));
    EXPECT_ASSERTION(vmaCalculateStatistics(VK_NULL_HANDLE, &totals));
    EXPECT_ASSERTION(vmaCalculateStatistics(allocator, NULL));
    EXPECT_ASSERTION(vmaCreatePool(allocator, NULL, NULL));
    EXPECT_ASSERTION(vmaGetPoolStatistics(allocator, VK_NULL_HANDLE, NULL));
    EXPECT_ASSERTION(vmaCreateBuffer(allocator, NULL, &how, &buffer, &made, NULL));
    EXPECT_ASSERTION(vmaCreateBuffer(allocator, &info, NULL, &buffer, &made, NULL));
    EXPECT_ASSERTION(vmaCreateBuffer(allocator, &info, &how, NULL, &made, NULL));
    EXPECT_ASSERTION(vmaCreateBuffer(allocator, &info, &how, &buffer, NULL, NULL));
    EXPECT_ASSERTION(vmaCreateImage(allocator, NULL, &how, NULL, &made, NULL));
    EXPECT_ASSERTION(vmaMapMemory(allocator, VK_NULL_HANDLE, NULL));
    EXPECT_ASSERTION(vmaUnmapMemory(allocator, VK_NULL_HANDLE));
    EXPECT_ASSERTION(vmaFlushAllocation(allocator, VK_NULL_HANDLE, 0, 1));
    EXPECT_ASSERTION(vmaBindBufferMemory(allocator, VK_NULL_HANDLE, VK_NULL_HANDLE));
    EXPECT_ASSERTION(vmaFreeMemory(VK_NULL_HANDLE, VK_NULL_HANDLE));
    EXPECT_ASSERTION(vmaBeginDefragmentation(allocator, NULL, NULL));
    EXPECT_ASSERTION(vmaEndDefragmentation(allocator, VK_NULL_HANDLE, NULL));
    EXPECT_ASSERTION(vmaCreateVirtualBlock(NULL, NULL));
    EXPECT_ASSERTION(vmaClearVirtualBlock(VK_NULL_HANDLE));
    vmaFreeMemory(allocator, VK_NULL_HANDLE);
    vmaDestroyBuffer(allocator, VK_NULL_HANDLE, VK_NULL_HANDLE);
    vmaDestroyImage(allocator, VK_NULL_HANDLE, VK_NULL_HANDLE);
    vmaDestroyPool(allocator, VK_NULL_HANDLE);
    vmaDestroyAllocator(allocator);
    vmaDestroyAllocator(VK_NULL_HANDLE);
    vmaDestroyVirtualBlock(VK_NULL_HANDLE);
    expect_silence();
}

static void allocators_without_a_device_or_functions_are_reported(void** state)
{
    (void)state;
    VmaVulkanFunctions functions = {.vkGetInstanceProcAddr = vkGetInstanceProcAddr,
                                    .vkGetDeviceProcAddr = vkGetDeviceProcAddr};
    VmaAllocator allocator = VK_NULL_HANDLE;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    VmaAllocatorCreateInfo info = {.instance = rig->instance,
                                   .physicalDevice = rig->physical,
                                   .pVulkanFunctions = &functions,
                                   .vulkanApiVersion = VK_API_VERSION_1_1};
    forget();
    assert_int_not_equal(vmaCreateAllocator(&info, &allocator), VK_SUCCESS);
    expect_line("device");
    info.device = rig->device;
    functions = (VmaVulkanFunctions){.vkGetInstanceProcAddr = NULL};
    assert_int_not_equal(vmaCreateAllocator(&info, &allocator), VK_SUCCESS);
    assert_non_null(strstr(logged, "vkCreateBuffer"));
    forget();
}

static void priorities_below_zero_are_reported(void** state)
{
    (void)state;
    const VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_AUTO, .priority = -1.0F};
    VmaAllocation made = VK_NULL_HANDLE;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    const VmaAllocator allocator =
        open_with(rig, VMA_ALLOCATOR_CREATE_EXT_MEMORY_PRIORITY_BIT, VK_API_VERSION_1_1);
    assert_int_equal(take(allocator, &how, &made), VK_SUCCESS);
    expect_line("priority");
    vmaFreeMemory(allocator, made);
    vmaDestroyAllocator(allocator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(requests_that_contradict_themselves_are_reported),
        rig_unit_test(right_requests_are_silent),
        rig_unit_test(objects_that_cannot_be_are_reported),
        rig_unit_test(alignments_that_are_no_power_of_two_are_reported),
        rig_unit_test(pools_and_types_that_are_not_there_are_reported),
        rig_unit_test(access_without_its_flag_is_reported),
        rig_unit_test(what_is_freed_while_mapped_is_reported),
        rig_unit_test(unmapping_what_is_not_mapped_is_reported),
        rig_unit_test(leaks_are_named_and_counted_before_the_assertion),
        rig_unit_test(virtual_blocks_report_too),
        rig_unit_test(odd_alignments_of_ranges_are_reported),
        rig_unit_test(null_arguments_fail_an_assertion),
        rig_unit_test(allocators_without_a_device_or_functions_are_reported),
        rig_unit_test(priorities_below_zero_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
