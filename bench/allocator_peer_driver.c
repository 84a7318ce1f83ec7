/*
 * The driver without an allocator, which shows the cost of the calls that no allocator can avoid.
 * Also the functions that all peers share.
 */
#include "bench/allocator_peer.h"

#include "bench/bench_common.h"

#include <stdlib.h>
#include <string.h>

#define BIND_BLOCK_SIZE (UINT64_C(16) << 20)

struct driver {
    VkDevice device;
    struct allocator_tally* tally;
    uint32_t memory_type;
    VkDeviceMemory block;
};

const struct allocator_peer* const allocator_peers[] = {
    &allocator_peer_maar,
#if MAAR_BENCH_MAAR_VMA
    &allocator_peer_maar_vma,
#endif
#if MAAR_BENCH_VMA
    &allocator_peer_vma,
#endif
};
const uint32_t allocator_peer_count = sizeof(allocator_peers) / sizeof(allocator_peers[0]);

bool allocator_peer_is_listed(const struct allocator_peer* peer, const char* list)
{
    return bench_is_listed(list, peer->name) && !(peer->on_request && strcmp(list, "all") == 0);
}

void allocator_tally_add(struct allocator_tally* tally, VkDeviceSize size)
{
    atomic_fetch_add(&tally->calls, 1);
    atomic_fetch_add(&tally->blocks, 1);
    const uint64_t bytes = atomic_fetch_add(&tally->bytes, size) + size;
    uint_fast64_t peak = atomic_load(&tally->peak_bytes);
    while (peak < bytes && !atomic_compare_exchange_weak(&tally->peak_bytes, &peak, bytes)) {
    }
}

void allocator_tally_remove(struct allocator_tally* tally, VkDeviceSize size)
{
    atomic_fetch_sub(&tally->blocks, 1);
    atomic_fetch_sub(&tally->bytes, size);
}

static uint32_t pick_memory_type(VkPhysicalDevice physical, uint32_t bits)
{
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
        if ((bits >> i & 1) != 0 &&
            (memory.memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0) {
            return i;
        }
    }
    bench_die(BENCH_EXIT_FAILED, "the device has no DEVICE_LOCAL memory");
}

static VkResult take(const struct driver* driver, VkDeviceSize size, VkDeviceMemory* memory)
{
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = size,
        .memoryTypeIndex = driver->memory_type,
    };
    return vkAllocateMemory(driver->device, &info, NULL, memory);
}

/* Chooses a memory type that this benchmark's buffers accept. */
static void* create(const struct bench_device* device, const struct allocator_options* options,
                    struct allocator_tally* tally)
{
    (void)options;
    struct driver* const driver = bench_allocate(1, sizeof(*driver));
    driver->device = device->device;
    driver->tally = tally;
    const VkBufferCreateInfo info = bench_buffer_info(BENCH_ALIGNMENT);
    VkBuffer buffer = VK_NULL_HANDLE;
    if (vkCreateBuffer(driver->device, &info, NULL, &buffer) != VK_SUCCESS) {
        bench_die(BENCH_EXIT_FAILED, "the driver cannot create a buffer");
    }
    VkMemoryRequirements requirements;
    vkGetBufferMemoryRequirements(driver->device, buffer, &requirements);
    vkDestroyBuffer(driver->device, buffer, NULL);
    driver->memory_type = pick_memory_type(device->physical, requirements.memoryTypeBits);
    return driver;
}

static void* create_with_block(const struct bench_device* device,
                               const struct allocator_options* options,
                               struct allocator_tally* tally)
{
    struct driver* const driver = create(device, options, tally);
    if (take(driver, BIND_BLOCK_SIZE, &driver->block) != VK_SUCCESS) {
        bench_die(BENCH_EXIT_FAILED, "the driver cannot allocate memory");
    }
    allocator_tally_add(tally, BIND_BLOCK_SIZE);
    return driver;
}

static void destroy(void* allocator)
{
    struct driver* const driver = allocator;
    vkFreeMemory(driver->device, driver->block, NULL);
    free(driver);
}

static bool allocate(void* allocator, VkDeviceSize size, VkDeviceSize alignment,
                     struct allocator_item* item)
{
    const struct driver* const driver = allocator;
    (void)alignment;
    return take(driver, size, &item->allocation.memory) == VK_SUCCESS;
}

static void release(void* allocator, const struct allocator_item* item)
{
    const struct driver* const driver = allocator;
    vkFreeMemory(driver->device, item->allocation.memory, NULL);
}

static bool create_only(void* allocator, VkDeviceSize size, struct allocator_item* item)
{
    const struct driver* const driver = allocator;
    const VkBufferCreateInfo info = bench_buffer_info(size);
    item->allocation.number = 1;
    return vkCreateBuffer(driver->device, &info, NULL, &item->buffer) == VK_SUCCESS;
}

static bool create_and_bind(void* allocator, VkDeviceSize size, struct allocator_item* item)
{
    const struct driver* const driver = allocator;
    VkMemoryRequirements requirements;
    if (!create_only(allocator, size, item)) {
        return false;
    }
    vkGetBufferMemoryRequirements(driver->device, item->buffer, &requirements);
    return vkBindBufferMemory(driver->device, item->buffer, driver->block, 0) == VK_SUCCESS;
}

static void destroy_buffer(void* allocator, const struct allocator_item* item)
{
    const struct driver* const driver = allocator;
    vkDestroyBuffer(driver->device, item->buffer, NULL);
}

const struct allocator_peer allocator_peer_driver = {
    .name = "driver",
    .is_control = true,
    .create = create,
    .destroy = destroy,
    .allocate = allocate,
    .free = release,
};

const struct allocator_peer allocator_peer_bind = {
    .name = "driver-bind",
    .is_control = true,
    .create = create_with_block,
    .destroy = destroy,
    .create_buffer = create_and_bind,
    .destroy_buffer = destroy_buffer,
};

const struct allocator_peer allocator_peer_create = {
    .name = "driver-create",
    .is_control = true,
    .create = create,
    .destroy = destroy,
    .create_buffer = create_only,
    .destroy_buffer = destroy_buffer,
};
