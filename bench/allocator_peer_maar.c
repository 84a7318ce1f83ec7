/*
 * Maar behind the interface of the device-level benchmarks.
 */
#include "bench/allocator_peer.h"

#include "bench/bench_common.h"

#include "maar/objects.h"
#include "maar/volk.h"

static const MaarAllocationCreateInfo memory_info = {
    .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
    .requiredFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
};

static void VKAPI_CALL on_allocate(void* user_data, uint32_t memory_type, VkDeviceMemory memory,
                                   VkDeviceSize size)
{
    (void)memory_type;
    (void)memory;
    allocator_tally_add(user_data, size);
}

static void VKAPI_CALL on_free(void* user_data, uint32_t memory_type, VkDeviceMemory memory,
                               VkDeviceSize size)
{
    (void)memory_type;
    (void)memory;
    allocator_tally_remove(user_data, size);
}

static void* create(const struct bench_device* device, const struct allocator_options* options,
                    struct allocator_tally* tally)
{
    MaarAllocatorCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
        .flags = options->externally_synchronized
                     ? MAAR_ALLOCATOR_CREATE_EXTERNALLY_SYNCHRONIZED_BIT
                     : 0,
        .apiVersion = BENCH_API_VERSION,
        .instance = device->instance.instance,
        .physicalDevice = device->physical,
        .device = device->device,
        .pfnDeviceAllocate = on_allocate,
        .pfnDeviceFree = on_free,
        .pDeviceMemoryUserData = tally,
        .preferredBlockSize = options->block_size,
    };
    maarUseVolk(&info);
    info.pfnGetDeviceProcAddr = bench_device_proc_addr;
    MaarAllocator allocator = VK_NULL_HANDLE;
    const VkResult result = maarCreateAllocator(&info, &allocator);
    if (result != VK_SUCCESS) {
        bench_die(BENCH_EXIT_FAILED, "maar cannot be created (%s)", maarGetResultName(result));
    }
    return allocator;
}

static void destroy(void* allocator)
{
    maarDestroyAllocator(allocator);
}

static bool allocate(void* allocator, VkDeviceSize size, VkDeviceSize alignment,
                     struct allocator_item* item)
{
    const MaarMemoryRequest request = {
        .sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST,
        .requirements = {.size = size, .alignment = alignment, .memoryTypeBits = UINT32_MAX},
    };
    return maarAllocateMemory(allocator, &request, &memory_info, &item->allocation.maar) ==
           VK_SUCCESS;
}

static void release(void* allocator, const struct allocator_item* item)
{
    maarFreeMemory(allocator, item->allocation.maar);
}

static bool create_buffer(void* allocator, VkDeviceSize size, struct allocator_item* item)
{
    const VkBufferCreateInfo info = bench_buffer_info(size);
    return maarCreateBuffer(allocator, &info, NULL, &item->buffer, &item->allocation.maar) ==
           VK_SUCCESS;
}

static void destroy_buffer(void* allocator, const struct allocator_item* item)
{
    maarDestroyBuffer(allocator, item->buffer, item->allocation.maar);
}

static void place(void* allocator, const struct allocator_item* item, struct allocator_place* out)
{
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    if (maarGetAllocationInfo(allocator, item->allocation.maar, &info) != VK_SUCCESS) {
        bench_die(BENCH_EXIT_FAILED, "maar does not know an allocation");
    }
    *out = (struct allocator_place){
        .memory = info.memory, .offset = info.offset, .block_size = info.blockSize};
}

const struct allocator_peer allocator_peer_maar = {
    .name = "maar",
    .create = create,
    .destroy = destroy,
    .allocate = allocate,
    .free = release,
    .create_buffer = create_buffer,
    .destroy_buffer = destroy_buffer,
    .place = place,
};
