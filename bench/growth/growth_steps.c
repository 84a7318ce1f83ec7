/*
 * The steps that cases share: see growth_steps.h.
 */
#include "growth_steps.h"

#include <string.h>

void growth_create_allocator(struct growth* growth)
{
    GROWTH_EXPECT(maarCreateAllocator(&growth->allocator_info, &growth->allocator));
}

void* growth_create_state(struct growth* growth, uint32_t count, size_t size)
{
    growth_create_allocator(growth);
    growth->state = bench_allocate(count, size);
    return growth->state;
}

uint32_t growth_pick(struct growth* growth)
{
    return (uint32_t)(bench_random(&growth->random) % growth->n);
}

void growth_shuffle(struct growth* growth, void* elements, uint32_t count)
{
    enum { SIZE = 8 };
    unsigned char* bytes = elements;
    for (size_t i = count - 1; i > 0; --i) {
        const size_t other = bench_random(&growth->random) % (i + 1);
        unsigned char element[SIZE];
        memcpy(element, bytes + SIZE * i, SIZE);
        memcpy(bytes + SIZE * i, bytes + SIZE * other, SIZE);
        memcpy(bytes + SIZE * other, element, SIZE);
    }
}

MaarMemoryRequest growth_request(VkDeviceSize size, VkDeviceSize alignment)
{
    return (MaarMemoryRequest){
        .sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST,
        .requirements = {.size = size, .alignment = alignment, .memoryTypeBits = 1},
        .kind = MAAR_RESOURCE_KIND_LINEAR,
    };
}

MaarMemoryRequest growth_visible_request(VkDeviceSize size)
{
    MaarMemoryRequest request = growth_request(size, 256);
    request.requirements.memoryTypeBits = 4;
    return request;
}

MaarAllocationCreateInfo growth_how(const struct growth* growth)
{
    return (MaarAllocationCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pool = growth->pool,
    };
}

void growth_fill(struct growth* growth, uint32_t count, const MaarMemoryRequest* request,
                 MaarAllocationCreateFlags flags, MaarDedicated dedicated)
{
    MaarAllocationCreateInfo how = growth_how(growth);
    how.flags = flags;
    how.dedicated = dedicated;
    how.usage = MAAR_MEMORY_USAGE_FLAGS_ONLY;
    growth->memory = bench_allocate((size_t)count + growth->count, sizeof *growth->memory);
    for (uint32_t i = 0; i < count; ++i) {
        GROWTH_EXPECT(maarAllocateMemory(growth->allocator, request, &how, &growth->memory[i]));
    }
}

void growth_empty(struct growth* growth, uint32_t count)
{
    maarFreeMemories(growth->allocator, count, growth->memory);
}

void growth_open_live(struct growth* growth)
{
    const MaarMemoryRequest request = growth_request(4 * GROWTH_KIB, 256);
    growth_create_allocator(growth);
    growth_fill(growth, growth->n, &request, 0, MAAR_DEDICATED_AUTO);
}

void growth_close_live(struct growth* growth)
{
    growth_empty(growth, growth->n);
}

MaarPool growth_create_pool(struct growth* growth, VkDeviceSize block_size, uint32_t max_blocks)
{
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .blockSize = block_size,
        .maxBlockCount = max_blocks,
        .retainedEmptySize = UINT64_MAX,
    };
    MaarPool pool = VK_NULL_HANDLE;
    GROWTH_EXPECT(maarCreatePool(growth->allocator, &info, &pool));
    return pool;
}

VkSemaphore growth_create_timeline(struct growth* growth)
{
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkSemaphoreCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = &type,
    };
    VkSemaphore semaphore = VK_NULL_HANDLE;
    GROWTH_EXPECT(vkCreateSemaphore(growth->device, &info, NULL, &semaphore));
    return semaphore;
}

void growth_signal(struct growth* growth, VkSemaphore timeline)
{
    const VkSemaphoreSignalInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
        .semaphore = timeline,
        .value = UINT32_MAX,
    };
    GROWTH_EXPECT(vkSignalSemaphore(growth->device, &signal));
}

void growth_repeat(struct growth* growth, uint32_t count,
                   void (*operation)(struct growth* growth, uint32_t index))
{
    for (uint32_t i = 0; i < count; ++i) {
        operation(growth, i);
    }
}

void growth_open_dedicated(struct growth* growth)
{
    const MaarMemoryRequest request = growth_request(4 * GROWTH_KIB, 256);
    growth_create_allocator(growth);
    growth_fill(growth, growth->n, &request, 0, MAAR_DEDICATED_ALWAYS);
}

void growth_destroy_pools(struct growth* growth)
{
    const MaarPool* pools = growth->state;
    for (uint32_t i = 0; i < growth->n; ++i) {
        maarDestroyPool(growth->allocator, pools[i]);
    }
}

VkBufferCreateInfo growth_buffer(VkDeviceSize size)
{
    return bench_buffer_info(size);
}

VkImageCreateInfo growth_image(uint32_t size, uint32_t levels, uint32_t layers)
{
    return (VkImageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {size, size, 1},
        .mipLevels = levels,
        .arrayLayers = layers,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
    };
}

void growth_read_details(struct growth* growth, uint32_t index)
{
    MaarDetailedStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS};
    (void)index;
    GROWTH_EXPECT(maarGetDetailedStatistics(growth->allocator, VK_NULL_HANDLE, &statistics));
}

VkCommandBuffer growth_open_commands(struct growth* growth, VkCommandPool* pool)
{
    VkCommandBuffer commands = VK_NULL_HANDLE;
    const VkCommandPoolCreateInfo pool_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = growth->queues[0].familyIndex,
    };
    GROWTH_EXPECT(vkCreateCommandPool(growth->device, &pool_info, NULL, pool));
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = *pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
    };
    GROWTH_EXPECT(vkAllocateCommandBuffers(growth->device, &info, &commands));
    GROWTH_EXPECT(vkBeginCommandBuffer(commands, &begin_info));
    return commands;
}
