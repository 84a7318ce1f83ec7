/*
 * Memory that can be exported by its type: VmaAllocatorCreateInfo::pTypeExternalMemoryHandleTypes.
 */
#include "tests/vma/same_program.h"

#if VMA_EXTERNAL_MEMORY && !defined(_WIN32)

#include <stdio.h>
#include <unistd.h>

#define OPAQUE VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT

/* Says whether the driver gives a descriptor of an allocation's memory. */
static void say_export(const char* key, struct same_world* world, VmaAllocation allocation)
{
    VmaAllocationInfo info;
    vmaGetAllocationInfo(world->allocator, allocation, &info);
    const VkMemoryGetFdInfoKHR question = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                           .memory = info.deviceMemory,
                                           .handleType = OPAQUE};
    int fd = -1;
    const VkResult result = vkGetMemoryFdKHR(world->rig.device, &question, &fd);
    same_say(key, "%d %d %u", (int)result, fd >= 0, info.memoryType);
    if (fd >= 0) {
        (void)close(fd);
    }
}

static void say_exports(struct same_world* world)
{
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, .handleTypes = OPAQUE};
    VkBufferCreateInfo info = same_buffer(4096, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_GPU_ONLY};
    const VmaPoolCreateInfo pool_info = {.memoryTypeIndex = 0, .blockSize = MIB};
    VmaAllocation allocation = VK_NULL_HANDLE;
    VmaPool pool = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    info.pNext = &external;
    for (int i = 0; i < 3; ++i) {
        how.flags = i == 1 ? VMA_ALLOCATION_CREATE_DEDICATED_MEMORY_BIT : 0;
        same_say_result("create",
                        vmaCreateBuffer(world->allocator, &info, &how, &buffer, &allocation, NULL));
        say_export(i == 1 ? "dedicated" : "block", world, allocation);
        vmaDestroyBuffer(world->allocator, buffer, allocation);
    }
    same_say_result("pool", vmaCreatePool(world->allocator, &pool_info, &pool));
    how.pool = pool;
    (void)vmaCreateBuffer(world->allocator, &info, &how, &buffer, &allocation, NULL);
    say_export("in-pool", world, allocation);
    vmaDestroyBuffer(world->allocator, buffer, allocation);
    vmaDestroyPool(world->allocator, pool);
}

void same_exports(void)
{
    static struct same_world world;
    const VkExternalMemoryHandleTypeFlags types[VK_MAX_MEMORY_TYPES] = {OPAQUE, 0, 0, OPAQUE};
    const VmaAllocatorCreateInfo extra = {.pTypeExternalMemoryHandleTypes = types};
    const struct rig_setup setup = {.sharing = rig_sharing_everything()};
    same_section("export");
    same_open_as(&world, &setup, &extra);
    say_exports(&world);
    same_close(&world);
}

#else

void same_exports(void)
{
}

#endif
