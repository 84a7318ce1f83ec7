/*
 * What vkAllocateMemory receives: priorities, device addresses. A function of ours stands in front
 * of the simulated driver's.
 */
#include "tests/rig/rig.h"

/* Of the last call. */
static struct {
    float priority; /* -1: none was given */
    bool address;
    bool dedicated;
} passed;

static VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                                               const VkAllocationCallbacks* callbacks,
                                               VkDeviceMemory* memory)
{
    passed.priority = -1.0F;
    passed.address = false;
    passed.dedicated = false;
    for (const VkBaseInStructure* link = info->pNext; link != NULL; link = link->pNext) {
        const void* structure = link;
        if (link->sType == VK_STRUCTURE_TYPE_MEMORY_PRIORITY_ALLOCATE_INFO_EXT) {
            passed.priority = ((const VkMemoryPriorityAllocateInfoEXT*)structure)->priority;
        } else if (link->sType == VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO) {
            passed.address = ((const VkMemoryAllocateFlagsInfo*)structure)->flags ==
                             VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
        } else if (link->sType == VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO) {
            passed.dedicated = true;
        }
    }
    return vkAllocateMemory(device, info, callbacks, memory);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_address(VkDevice device, const char* name)
{
    return strcmp(name, "vkAllocateMemory") == 0 ? (PFN_vkVoidFunction)allocate
                                                 : vkGetDeviceProcAddr(device, name);
}

static void start(struct rig* rig)
{
    rig_open(rig, NULL);
    rig->create_info.pfnGetDeviceProcAddr = device_address;
    rig_make_allocator(rig);
}

static void expect_priority(double priority)
{
    assert_true(passed.priority > priority - 0.001 && passed.priority < priority + 0.001);
}

static void a_priority_of_zero_is_the_usual_one(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    start(rig);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    maarFreeMemory(rig->allocator, rig_allocate(rig, 1000, &how));
    expect_priority(0.5);
    how.priority = 0.75F;
    maarFreeMemory(rig->allocator, rig_allocate(rig, 1000, &how));
    expect_priority(0.75);
    maarFreeMemory(rig->allocator, rig_allocate(rig, 1000, NULL));
    expect_priority(0.5);
}

static void later_blocks_of_a_pool_have_its_new_priority(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    start(rig);
    const MaarPoolCreateInfo info = {.blockSize = MIB, .priority = 0.25F};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = rig_create_pool(rig, &info);
    MaarAllocation made[2];
    made[0] = rig_allocate(rig, MIB, &how);
    expect_priority(0.25);
    assert_int_equal(maarSetPoolPriority(rig->allocator, how.pool, 1.0F), VK_SUCCESS);
    made[1] = rig_allocate(rig, MIB, &how);
    expect_priority(1.0);
    maarFreeMemories(rig->allocator, 2, made);
    maarDestroyPool(rig->allocator, how.pool);
}

/* Shaders reach buffers by address, whatever block they lie in; images never. */
static void memory_of_an_image_alone_has_no_address(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    start(rig);
    const VkBufferCreateInfo buffer_info = rig_buffer_info(4096);
    const VkImageCreateInfo image_info = rig_image_info(64, 64);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    VkBuffer buffer = VK_NULL_HANDLE;
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    for (int alone = 0; alone < 2; ++alone) {
        how.dedicated = alone != 0 ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_NEVER;
        assert_int_equal(maarCreateBuffer(rig->allocator, &buffer_info, &how, &buffer, &memory),
                         VK_SUCCESS);
        assert_true(passed.address && passed.dedicated == (alone != 0));
        maarDestroyBuffer(rig->allocator, buffer, memory);
        assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
        assert_int_equal(maarCreateImage(rig->allocator, &image_info, &how, &image, &memory),
                         VK_SUCCESS);
        assert_true(passed.address == (alone == 0) && passed.dedicated == (alone != 0));
        maarDestroyImage(rig->allocator, image, memory);
        assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(a_priority_of_zero_is_the_usual_one),
        rig_unit_test(later_blocks_of_a_pool_have_its_new_priority),
        rig_unit_test(memory_of_an_image_alone_has_no_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
