/*
 * The macros that reach Maar: each in a unit that defines them all. What cannot be served says so.
 */
#include "tests/rig/rig.h"

#include <stdarg.h>
#include <stdio.h>

static char logged[4096];
static uint32_t leak_lines;
static uint32_t leak_assertions;
static uint32_t failed_assertions;

#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
static void
keep_line(const char* format, ...)
{
    const size_t length = strlen(logged);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(logged + length, sizeof logged - length, format, arguments);
    va_end(arguments);
}

#define VMA_STATIC_VULKAN_FUNCTIONS 0
#define VMA_DYNAMIC_VULKAN_FUNCTIONS 1
#define VMA_ASSERT(expression) (failed_assertions += (expression) ? 0 : 1)
#define VMA_ASSERT_LEAK(expression) (leak_assertions += (expression) ? 0 : 1)
#define VMA_DEBUG_LOG_FORMAT(format, ...) keep_line(format "\n", __VA_ARGS__)
#define VMA_LEAK_LOG_FORMAT(format, ...) (++leak_lines, keep_line(format "\n", __VA_ARGS__))
#define VMA_MIN_ALIGNMENT 4096
#define VMA_DEFAULT_LARGE_HEAP_BLOCK_SIZE 4194304
#define VMA_DEBUG_MARGIN 16
#define VMA_DEBUG_DETECT_CORRUPTION 1
#define VMA_DEBUG_INITIALIZE_ALLOCATIONS 1
#define VMA_CONFIGURATION_USER_INCLUDES_H "tests/vma/user_includes.h"
#define VMA_VULKAN_HEADERS_ALREADY_INCLUDED
#define VMA_MEMORY_PRIORITY 1
#define VMA_KHR_MAINTENANCE5 0
#define VMA_CALL_PRE static
#define VMA_CALL_POST
#define VMA_IMPLEMENTATION
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#include <vk_mem_alloc.h>

#ifndef USER_INCLUDES_SEEN
#error "VMA_CONFIGURATION_USER_INCLUDES_H was not included"
#endif

static VmaAllocator open_allocator(struct rig* rig, const VkExternalMemoryHandleTypeFlags* exports)
{
    VmaVulkanFunctions functions = {0};
    VmaAllocatorCreateInfo info = {.physicalDevice = rig->physical,
                                   .device = rig->device,
                                   .instance = rig->instance,
                                   .pVulkanFunctions = &functions,
                                   .pTypeExternalMemoryHandleTypes = exports,
                                   .vulkanApiVersion = VK_API_VERSION_1_1};
    VmaAllocator allocator = VK_NULL_HANDLE;
    assert_int_equal(vmaImportVulkanFunctionsFromVolk(&info, &functions), VK_SUCCESS);
    assert_int_equal(vmaCreateAllocator(&info, &allocator), VK_SUCCESS);
    return allocator;
}

static VmaAllocation take(VmaAllocator allocator, VmaAllocationInfo* info)
{
    const VkMemoryRequirements needs = {.size = 100, .alignment = 4, .memoryTypeBits = 1};
    const VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_GPU_ONLY};
    VmaAllocation made = VK_NULL_HANDLE;
    assert_int_equal(vmaAllocateMemory(allocator, &needs, &how, &made, info), VK_SUCCESS);
    return made;
}

static void settings_reach_the_allocator(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    VmaAllocationInfo first;
    VmaAllocationInfo second;
    VmaAllocationInfo2 block;
    rig_open(rig, NULL);
    const VmaAllocator allocator = open_allocator(rig, NULL);
    const VmaAllocation one = take(allocator, &first);
    const VmaAllocation two = take(allocator, &second);
    assert_true(second.offset - first.offset == 4096);
    vmaGetAllocationInfo2(allocator, one, &block);
    assert_true(block.blockSize <= 4 * MIB);
    vmaFreeMemory(allocator, one);
    vmaFreeMemory(allocator, two);
    vmaDestroyAllocator(allocator);
}

static void what_is_not_served_is_said(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    const VkExternalMemoryHandleTypeFlags exports[VK_MAX_MEMORY_TYPES] = {
        VK_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP_BIT};
    rig_open(rig, NULL);
    logged[0] = '\0';
    const VmaAllocator allocator = open_allocator(rig, exports);
    assert_non_null(strstr(logged, "pTypeExternalMemoryHandleTypes"));
    vmaDestroyAllocator(allocator);
}

/* VMA_DEBUG_MARGIN and VMA_DEBUG_DETECT_CORRUPTION. */
static void what_writes_behind_its_end_is_said(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    const VkMemoryRequirements needs = {.size = 100, .alignment = 4, .memoryTypeBits = UINT32_MAX};
    const VmaAllocationCreateInfo how = {.flags = VMA_ALLOCATION_CREATE_MAPPED_BIT,
                                         .usage = VMA_MEMORY_USAGE_CPU_ONLY};
    const VmaPoolCreateInfo info = {.memoryTypeIndex = 0};
    VmaPool pool = VK_NULL_HANDLE;
    VmaAllocation made = VK_NULL_HANDLE;
    VmaAllocationInfo place;
    rig_open(rig, NULL);
    const VmaAllocator allocator = open_allocator(rig, NULL);
    logged[0] = '\0';
    failed_assertions = 0;
    assert_int_equal(vmaAllocateMemory(allocator, &needs, &how, &made, &place), VK_SUCCESS);
    vmaSetAllocationName(allocator, made, "written");
    assert_true(place.size == 100);
    assert_int_equal(vmaCheckCorruption(allocator, UINT32_MAX), VK_SUCCESS);
    ((unsigned char*)place.pMappedData)[100 + 15] ^= 1;
    assert_int_equal(vmaCheckCorruption(allocator, UINT32_MAX), VK_ERROR_UNKNOWN);
    assert_int_equal(failed_assertions, 1);
    assert_non_null(strstr(logged, "written"));
    vmaFreeMemory(allocator, made);
    assert_int_equal(failed_assertions, 2);
    assert_int_equal(vmaCreatePool(allocator, &info, &pool), VK_SUCCESS);
    assert_int_equal(vmaCheckPoolCorruption(allocator, pool), VK_ERROR_FEATURE_NOT_PRESENT);
    vmaDestroyPool(allocator, pool);
    vmaDestroyAllocator(allocator);
}

/* Two allocations in one block, which stays mapped: one can be looked at after its end. */
static void new_and_freed_memory_is_filled(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    const VkMemoryRequirements needs = {.size = 100, .alignment = 4, .memoryTypeBits = UINT32_MAX};
    const VmaAllocationCreateInfo how = {.flags = VMA_ALLOCATION_CREATE_MAPPED_BIT,
                                         .usage = VMA_MEMORY_USAGE_CPU_ONLY};
    const VkBufferCreateInfo info = rig_buffer_info(100);
    VmaAllocation made[3];
    VmaAllocationInfo places[3];
    VkBuffer buffer = VK_NULL_HANDLE;
    rig_open(rig, NULL);
    const VmaAllocator allocator = open_allocator(rig, NULL);
    assert_int_equal(vmaAllocateMemoryPages(allocator, &needs, &how, 2, made, places), VK_SUCCESS);
    assert_int_equal(vmaCreateBuffer(allocator, &info, &how, &buffer, &made[2], &places[2]),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < 3; ++i) {
        const unsigned char* bytes = places[i].pMappedData;
        assert_true(bytes[0] == 0xDC && bytes[99] == 0xDC);
    }
    vmaFreeMemory(allocator, made[0]);
    vmaDestroyBuffer(allocator, buffer, made[2]);
    const unsigned char* freed = places[0].pMappedData;
    const unsigned char* destroyed = places[2].pMappedData;
    assert_true(freed[0] == 0xEF && freed[99] == 0xEF);
    assert_true(destroyed[0] == 0xEF && destroyed[99] == 0xEF);
    vmaFreeMemory(allocator, take(allocator, &places[0])); /* the host cannot see it */
    vmaFreeMemoryPages(allocator, 1, &made[1]);
    vmaDestroyAllocator(allocator);
}

static void leaks_have_macros_of_their_own(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    VmaAllocationInfo info;
    rig_open(rig, NULL);
    const VmaAllocator allocator = open_allocator(rig, NULL);
    vmaSetAllocationName(allocator, take(allocator, &info), "forgotten");
    leak_lines = 0;
    leak_assertions = 0;
    logged[0] = '\0';
    vmaDestroyAllocator(allocator);
    assert_int_equal(leak_lines, 2); /* the one, and how many */
    assert_int_equal(leak_assertions, 1);
    assert_non_null(strstr(logged, "forgotten"));
}

#if VMA_EXTERNAL_MEMORY_WIN32
/* Memory that was not made for it gives no handle. */
static void win32_handles_need_exported_memory(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    VmaAllocationInfo info;
    HANDLE handle = NULL;
    rig_open(rig, NULL);
    const VmaAllocator allocator = open_allocator(rig, NULL);
    const VmaAllocation made = take(allocator, &info);
    assert_int_not_equal(vmaGetMemoryWin32Handle(allocator, made, NULL, &handle), VK_SUCCESS);
    assert_int_not_equal(vmaGetMemoryWin32Handle2(allocator, made,
                                                  VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT,
                                                  NULL, &handle),
                         VK_SUCCESS);
    vmaFreeMemory(allocator, made);
    vmaDestroyAllocator(allocator);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(settings_reach_the_allocator),
        rig_unit_test(what_is_not_served_is_said),
        rig_unit_test(what_writes_behind_its_end_is_said),
        rig_unit_test(new_and_freed_memory_is_filled),
        rig_unit_test(leaks_have_macros_of_their_own),
#if VMA_EXTERNAL_MEMORY_WIN32
        rig_unit_test(win32_handles_need_exported_memory),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
