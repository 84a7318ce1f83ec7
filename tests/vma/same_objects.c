/*
 * Pools, buffers, images, and the totals of them.
 */
#include "tests/vma/same_program.h"

#include <inttypes.h>
#include <stdio.h>

#define FLAG(name) ((VmaAllocationCreateFlags)VMA_ALLOCATION_CREATE_##name##_BIT)

static VkResult take(struct same_world* world, VmaPool pool, VkDeviceSize size,
                     VmaAllocationCreateFlags flags, VmaAllocation* allocation,
                     VmaAllocationInfo* info)
{
    const VkMemoryRequirements needs = {
        .size = size, .alignment = 256, .memoryTypeBits = UINT32_MAX};
    const VmaAllocationCreateInfo how = {.flags = flags, .pool = pool};
    return vmaAllocateMemory(world->allocator, &needs, &how, allocation, info);
}

/* ---- pools ---- */

static void say_bounded_pool(struct same_world* world)
{
    const VmaPoolCreateInfo info = {
        .memoryTypeIndex = 0, .blockSize = MIB, .minBlockCount = 1, .maxBlockCount = 2};
    VmaPool pool = VK_NULL_HANDLE;
    VmaStatistics totals;
    VmaDetailedStatistics details;
    VmaAllocation all[20];
    VmaAllocationInfo place;
    uint32_t count = 0;
    const char* name = NULL;
    same_say_result("create", vmaCreatePool(world->allocator, &info, &pool));
    vmaGetPoolName(world->allocator, pool, &name);
    same_say("name.none", "%d", name == NULL);
    vmaSetPoolName(world->allocator, pool, "pool");
    vmaGetPoolName(world->allocator, pool, &name);
    same_say("name", "%s", name);
    vmaSetPoolName(world->allocator, pool, NULL);
    vmaGetPoolName(world->allocator, pool, &name);
    same_say("name.cleared", "%d", name == NULL);
    vmaCalculatePoolStatistics(world->allocator, pool, &details);
    same_say_statistics("empty", &details);
    same_say_result("own-memory", take(world, pool, 1000, FLAG(DEDICATED_MEMORY), &all[0], NULL));
    same_say_result("too-large", take(world, pool, 2 * MIB, 0, &all[0], NULL));
    while (count < 20 && take(world, pool, 256 * KIB, 0, &all[count], &place) == VK_SUCCESS) {
        ++count;
    }
    same_say_bytes("filled", count);
    same_say_result("full", take(world, pool, 256 * KIB, 0, &all[19], NULL));
    vmaGetPoolStatistics(world->allocator, pool, &totals);
    same_say("totals", "%u %u %" PRIu64 " %" PRIu64, totals.blockCount, totals.allocationCount,
             (uint64_t)totals.blockBytes, (uint64_t)totals.allocationBytes);
    vmaFreeMemory(world->allocator, all[1]);
    vmaFreeMemory(world->allocator, all[6]);
    vmaCalculatePoolStatistics(world->allocator, pool, &details);
    same_say_statistics("holes", &details);
    same_say_result("never", take(world, pool, 200 * KIB, FLAG(NEVER_ALLOCATE), &all[1], NULL));
    same_say_result("upper", take(world, pool, 256, FLAG(UPPER_ADDRESS), &all[6], NULL));
    same_say_result("corruption", vmaCheckPoolCorruption(world->allocator, pool));
    all[6] = VK_NULL_HANDLE;
    vmaFreeMemoryPages(world->allocator, count, all);
    vmaGetPoolStatistics(world->allocator, pool, &totals);
    same_say("emptied", "%u %" PRIu64, totals.blockCount, (uint64_t)totals.blockBytes);
    vmaDestroyPool(world->allocator, pool);
}

static void say_linear_pool(struct same_world* world)
{
    const VmaPoolCreateInfo info = {.memoryTypeIndex = 1,
                                    .flags = VMA_POOL_CREATE_LINEAR_ALGORITHM_BIT,
                                    .blockSize = 64 * KIB,
                                    .maxBlockCount = 1};
    VmaPool pool = VK_NULL_HANDLE;
    VmaAllocation all[8];
    VmaAllocationInfo place;
    char offsets[200] = "";
    same_say_result("linear", vmaCreatePool(world->allocator, &info, &pool));
    for (uint32_t i = 0; i < 8; ++i) {
        const VmaAllocationCreateFlags flags = i % 4 == 3 ? FLAG(UPPER_ADDRESS) : 0;
        const VkResult result = take(world, pool, 1000 + i * 100, flags, &all[i], &place);
        const size_t length = strlen(offsets);
        (void)snprintf(offsets + length, sizeof offsets - length, " %d:%" PRIu64, (int)result,
                       (uint64_t)place.offset);
    }
    same_say("linear.offsets", "%s", offsets + 1);
    vmaFreeMemoryPages(world->allocator, 8, all);
    vmaDestroyPool(world->allocator, pool);
}

/* Two kinds in one pool, close together. */
static void say_kinds(VmaAllocator allocator)
{
    const VmaPoolCreateInfo info = {.flags = VMA_POOL_CREATE_IGNORE_BUFFER_IMAGE_GRANULARITY_BIT,
                                    .memoryTypeIndex = 0,
                                    .blockSize = MIB};
    const VkBufferCreateInfo buffer_info = same_buffer(256, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    const VkImageCreateInfo image_info = same_image(64, VK_IMAGE_USAGE_SAMPLED_BIT);
    VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_AUTO};
    VmaAllocation made[3];
    VmaAllocationInfo places[3];
    VkBuffer buffers[2];
    VkImage image = VK_NULL_HANDLE;
    same_say_result("kinds", vmaCreatePool(allocator, &info, &how.pool));
    for (int i = 0; i < 2; ++i) {
        (void)vmaCreateBuffer(allocator, &buffer_info, &how, &buffers[i], &made[i], &places[i]);
    }
    same_say_bytes("kinds.distance", places[1].offset - places[0].offset);
    same_say_result("kinds.other",
                    vmaCreateImage(allocator, &image_info, &how, &image, &made[2], NULL));
    vmaDestroyImage(allocator, image, made[2]);
    for (int i = 0; i < 2; ++i) {
        vmaDestroyBuffer(allocator, buffers[i], made[i]);
    }
    vmaDestroyPool(allocator, how.pool);
}

void same_pools(void)
{
    static struct same_world world;
    VmaPool pool = VK_NULL_HANDLE;
    same_section("pool");
    same_open(&world, NULL, NULL);
    say_bounded_pool(&world);
    say_linear_pool(&world);
    const VmaPoolCreateInfo no_type = {.memoryTypeIndex = 31};
    same_say_result("no-type", vmaCreatePool(world.allocator, &no_type, &pool));
    const VmaPoolCreateInfo aligned = {.memoryTypeIndex = 0, .minAllocationAlignment = 65536};
    VmaAllocation two[2];
    VmaAllocationInfo place;
    same_say_result("aligned", vmaCreatePool(world.allocator, &aligned, &pool));
    (void)take(&world, pool, 100, 0, &two[0], NULL);
    (void)take(&world, pool, 100, 0, &two[1], &place);
    same_say("aligned.offset", "%" PRIu64, (uint64_t)(place.offset % 65536));
    vmaFreeMemoryPages(world.allocator, 2, two);
    vmaDestroyPool(world.allocator, pool);
    vmaDestroyPool(world.allocator, VK_NULL_HANDLE);
    say_kinds(world.allocator);
    same_close(&world);
}

/* ---- objects ---- */

static void say_buffer(const char* key, VkResult result, VkBuffer buffer, VmaAllocation allocation,
                       const VmaAllocationInfo* info)
{
    const bool made = result == VK_SUCCESS;
    same_say(key, "%d %d %d %" PRIu64, (int)result, buffer != VK_NULL_HANDLE,
             allocation != VK_NULL_HANDLE, made ? (uint64_t)info->size : 0);
}

static void say_buffers(struct same_world* world)
{
    VkBufferCreateInfo info = same_buffer(10000, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_AUTO};
    VkBuffer buffer = VK_NULL_HANDLE;
    VkBuffer alias = VK_NULL_HANDLE;
    VmaAllocation allocation = VK_NULL_HANDLE;
    VmaAllocationInfo place;
    VkResult result = vmaCreateBuffer(world->allocator, &info, &how, &buffer, &allocation, &place);
    say_buffer("buffer", result, buffer, allocation, &place);
    vmaDestroyBuffer(world->allocator, buffer, allocation);
    how.flags = FLAG(DONT_BIND);
    result = vmaCreateBuffer(world->allocator, &info, &how, &buffer, &allocation, &place);
    say_buffer("unbound", result, buffer, allocation, &place);
    same_say_result("bind", vmaBindBufferMemory(world->allocator, allocation, buffer));
    vmaDestroyBuffer(world->allocator, buffer, allocation);
    how.flags = FLAG(CAN_ALIAS);
    (void)vmaCreateBuffer(world->allocator, &info, &how, &buffer, &allocation, &place);
    info.size = 4096;
    same_say_result("alias", vmaCreateAliasingBuffer(world->allocator, allocation, &info, &alias));
    vmaDestroyBuffer(world->allocator, alias, VK_NULL_HANDLE);
    same_say_result("alias.offset",
                    vmaCreateAliasingBuffer2(world->allocator, allocation, 4096, &info, &alias));
    vmaDestroyBuffer(world->allocator, alias, VK_NULL_HANDLE);
    vmaDestroyBuffer(world->allocator, buffer, allocation);
    how.flags = 0;
    result = vmaCreateBufferWithAlignment(world->allocator, &info, &how, 65536, &buffer,
                                          &allocation, &place);
    say_buffer("aligned", result, buffer, allocation, &place);
    same_say_bytes("aligned.offset", place.offset % 65536);
    vmaDestroyBuffer(world->allocator, buffer, allocation);
    result =
        vmaCreateDedicatedBuffer(world->allocator, &info, &how, NULL, &buffer, &allocation, &place);
    say_buffer("dedicated", result, buffer, allocation, &place);
    same_say_bytes("dedicated.offset", place.offset);
    vmaDestroyBuffer(world->allocator, buffer, allocation);
    info.size = 0;
    result = vmaCreateBuffer(world->allocator, &info, &how, &buffer, &allocation, &place);
    say_buffer("empty", result, buffer, allocation, &place);
    info.size = 4096;
    info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    result = vmaCreateBuffer(world->allocator, &info, &how, &buffer, &allocation, &place);
    say_buffer("address", result, buffer, allocation, &place);
    vmaDestroyBuffer(world->allocator, VK_NULL_HANDLE, VK_NULL_HANDLE);
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    (void)vkCreateBuffer(world->rig.device, &info, NULL, &buffer);
    how.usage = VMA_MEMORY_USAGE_GPU_ONLY;
    result = vmaAllocateMemoryForBuffer(world->allocator, buffer, &how, &allocation, &place);
    say_buffer("for-buffer", result, buffer, allocation, &place);
    same_say_result("for-buffer.bind",
                    vmaBindBufferMemory2(world->allocator, allocation, 0, buffer, NULL));
    vkDestroyBuffer(world->rig.device, buffer, NULL);
    vmaFreeMemory(world->allocator, allocation);
}

static void say_images(struct same_world* world)
{
    VkImageCreateInfo info = same_image(128, VK_IMAGE_USAGE_SAMPLED_BIT);
    VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_AUTO};
    VkImage image = VK_NULL_HANDLE;
    VkImage alias = VK_NULL_HANDLE;
    VmaAllocation allocation = VK_NULL_HANDLE;
    VmaAllocationInfo place = {0};
    same_say_result("image",
                    vmaCreateImage(world->allocator, &info, &how, &image, &allocation, &place));
    same_say_bytes("image.size", place.size);
    vmaDestroyImage(world->allocator, image, allocation);
    how.flags = FLAG(CAN_ALIAS);
    (void)vmaCreateImage(world->allocator, &info, &how, &image, &allocation, &place);
    same_say_result("image.alias",
                    vmaCreateAliasingImage(world->allocator, allocation, &info, &alias));
    vmaDestroyImage(world->allocator, alias, VK_NULL_HANDLE);
    same_say_result("image.alias.offset",
                    vmaCreateAliasingImage2(world->allocator, allocation, 0, &info, &alias));
    vmaDestroyImage(world->allocator, alias, VK_NULL_HANDLE);
    vmaDestroyImage(world->allocator, image, allocation);
    how.flags = FLAG(DONT_BIND);
    same_say_result("image.unbound",
                    vmaCreateImage(world->allocator, &info, &how, &image, &allocation, NULL));
    same_say_result("image.bind", vmaBindImageMemory(world->allocator, allocation, image));
    vmaDestroyImage(world->allocator, image, allocation);
    how.flags = 0;
    same_say_result("image.dedicated", vmaCreateDedicatedImage(world->allocator, &info, &how, NULL,
                                                               &image, &allocation, &place));
    same_say_bytes("image.dedicated.offset", place.offset);
    vmaDestroyImage(world->allocator, image, allocation);
    (void)vkCreateImage(world->rig.device, &info, NULL, &image);
    how.usage = VMA_MEMORY_USAGE_GPU_ONLY;
    same_say_result("for-image",
                    vmaAllocateMemoryForImage(world->allocator, image, &how, &allocation, &place));
    same_say_result("for-image.bind",
                    vmaBindImageMemory2(world->allocator, allocation, 0, image, NULL));
    vkDestroyImage(world->rig.device, image, NULL);
    vmaFreeMemory(world->allocator, allocation);
    info.extent.width = 0;
    same_say_result("image.empty",
                    vmaCreateImage(world->allocator, &info, &how, &image, &allocation, NULL));
    same_say("image.none", "%d", image == VK_NULL_HANDLE && allocation == VK_NULL_HANDLE);
}

void same_objects(void)
{
    static struct same_world world;
    same_section("object");
    same_open(&world, NULL, NULL);
    say_buffers(&world);
    say_images(&world);
    same_close(&world);
}

/* ---- totals ---- */

void same_statistics(void)
{
    static struct same_world world;
    VmaTotalStatistics totals;
    VmaBudget budgets[VK_MAX_MEMORY_HEAPS];
    const VmaPoolCreateInfo info = {.memoryTypeIndex = 0, .blockSize = MIB};
    VmaPool pool = VK_NULL_HANDLE;
    VmaAllocation all[3];
    same_section("total");
    same_open(&world, NULL, NULL);
    vmaCalculateStatistics(world.allocator, &totals);
    same_say_statistics("empty", &totals.total);
    (void)vmaCreatePool(world.allocator, &info, &pool);
    for (uint32_t i = 0; i < 3; ++i) {
        (void)take(&world, pool, 1000 * (i + 1), 0, &all[i], NULL);
    }
    vmaFreeMemory(world.allocator, all[1]);
    vmaCalculateStatistics(world.allocator, &totals);
    same_say_statistics("all", &totals.total);
    same_say_statistics("type", &totals.memoryType[0]);
    same_say_statistics("heap", &totals.memoryHeap[0]);
    same_say_statistics("other-type", &totals.memoryType[2]);
    same_say_statistics("no-type", &totals.memoryType[20]);
    same_say_statistics("no-heap", &totals.memoryHeap[10]);
    vmaGetHeapBudgets(world.allocator, budgets);
    same_say("budget", "%u %u %" PRIu64 " %" PRIu64, budgets[0].statistics.blockCount,
             budgets[0].statistics.allocationCount, (uint64_t)budgets[0].statistics.blockBytes,
             (uint64_t)budgets[0].statistics.allocationBytes);
    same_say("budget.use", "%" PRIu64 " %" PRIu64, (uint64_t)budgets[0].usage,
             (uint64_t)budgets[0].budget);
    vmaFreeMemory(world.allocator, all[0]);
    vmaFreeMemory(world.allocator, all[2]);
    vmaDestroyPool(world.allocator, pool);
    same_close(&world);
}
