/*
 * Where messages go if the program defines no macro: to stderr, each kind once, or nowhere. The
 * build has this test with NDEBUG, with MAAR_VMA_CHECKS 0 and with neither.
 */
#include "tests/rig/rig.h"

#include <stdio.h>

#define VMA_STATIC_VULKAN_FUNCTIONS 0
#define VMA_DYNAMIC_VULKAN_FUNCTIONS 1
#define VMA_ASSERT(expression)
#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>

#if defined(NDEBUG) || defined(TEST_CHECKS_OFF)
enum { PRINTS = 0 };
#else
enum { PRINTS = 1 };
#endif

/* A file in the place of stderr. */
struct redirection {
    char path[64];
    char text[8192];
};

static void redirect(struct redirection* to)
{
    (void)snprintf(to->path, sizeof to->path, "stderr_of_%s.txt", TEST_NAME);
    assert_non_null(freopen(to->path, "w", stderr));
}

/* Reads what was printed. stderr stays in the file, which says why a case fails and is then left.
 */
static void read_printed(struct redirection* to)
{
    (void)fflush(stderr);
    FILE* file = fopen(to->path, "r");
    assert_non_null(file);
    to->text[fread(to->text, 1, sizeof to->text - 1, file)] = '\0';
    (void)fclose(file);
}

static uint32_t count_of(const char* text, const char* word)
{
    uint32_t count = 0;
    for (const char* at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        ++count;
    }
    return count;
}

static void misuse_is_printed_once_for_each_kind(void** state)
{
    (void)state;
    enum { LEAKS = 20 };
    const VkMemoryRequirements needs = {.size = 100, .alignment = 4, .memoryTypeBits = UINT32_MAX};
    const VmaAllocationCreateInfo mapped = {.flags = VMA_ALLOCATION_CREATE_MAPPED_BIT,
                                            .usage = VMA_MEMORY_USAGE_AUTO};
    const VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_AUTO};
    const VmaAllocationCreateInfo never = {.flags = VMA_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT,
                                           .usage = VMA_MEMORY_USAGE_GPU_TO_CPU};
    struct redirection to;
    VmaAllocator allocator = VK_NULL_HANDLE;
    VmaAllocation made = VK_NULL_HANDLE;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    const VmaVulkanFunctions functions = {.vkGetInstanceProcAddr = vkGetInstanceProcAddr,
                                          .vkGetDeviceProcAddr = vkGetDeviceProcAddr};
    const VmaAllocatorCreateInfo info = {.instance = rig->instance,
                                         .physicalDevice = rig->physical,
                                         .device = rig->device,
                                         .pVulkanFunctions = &functions,
                                         .vulkanApiVersion = VK_API_VERSION_1_1};
    redirect(&to);
    assert_int_equal(vmaCreateAllocator(&info, &allocator), VK_SUCCESS);
    /* Worth knowing, and no misuse: never printed. */
    assert_int_not_equal(vmaAllocateMemory(allocator, &needs, &never, &made, NULL), VK_SUCCESS);
    for (uint32_t i = 0; i < 3; ++i) {
        assert_int_equal(vmaAllocateMemory(allocator, &needs, &mapped, &made, NULL), VK_SUCCESS);
        vmaFreeMemory(allocator, made);
        vmaFreeMemory(allocator, made);
    }
    for (uint32_t i = 0; i < LEAKS; ++i) {
        assert_int_equal(vmaAllocateMemory(allocator, &needs, &how, &made, NULL), VK_SUCCESS);
        vmaSetAllocationName(allocator, made, i == 0 ? "first" : "later");
    }
    vmaDestroyAllocator(allocator);
    read_printed(&to);
    assert_int_equal(count_of(to.text, "MAPPED_BIT"), PRINTS);
    assert_int_equal(count_of(to.text, "maarFreeMemory"), PRINTS);
    assert_int_equal(count_of(to.text, "never freed"), PRINTS * 17);
    assert_int_equal(count_of(to.text, "vmaDestroyAllocator: 20 "), PRINTS);
    assert_int_equal(count_of(to.text, "\n"), PRINTS * 19);
    assert_int_equal(count_of(to.text, "maar: "), PRINTS * 19);
    (void)remove(to.path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(misuse_is_printed_once_for_each_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
