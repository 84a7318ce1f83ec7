/*
 * The same traffic through VulkanMemoryAllocator; see tool_vma.h.
 *
 * Each row becomes the buffer, image or plain requirement that it becomes for Maar, and each
 * purpose the flags that VulkanMemoryAllocator's documentation names for it. Its own defaults
 * decide the rest, dedicated allocations too.
 */
#include "tool_vma.h"

#if MAAR_TOOL_VMA

#include "tool_resource.h"

#include <stdlib.h>
#include <string.h>
#include <vk_mem_alloc.h>

struct vma_item {
    VmaAllocation allocation; /* NULL: not alive */
    VkBuffer buffer;
    VkImage image;
};

struct vma_player {
    const struct tool_device* tool;
    struct tool_resource_facts facts;
    VmaAllocator allocator;
    struct vma_item* items;
    uint64_t bytes;
    uint32_t blocks;
    struct tool_vma_outcome* outcome;
};

/* Calls of vkAllocateMemory during the replay. The entry point has no user data. */
static uint64_t allocate_calls;

static VKAPI_ATTR VkResult VKAPI_CALL count_allocate(VkDevice device,
                                                     const VkMemoryAllocateInfo* info,
                                                     const VkAllocationCallbacks* callbacks,
                                                     VkDeviceMemory* memory)
{
    ++allocate_calls;
    return vkAllocateMemory(device, info, callbacks, memory);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vma_proc_addr(VkDevice device, const char* name)
{
    return strcmp(name, "vkAllocateMemory") == 0 ? (PFN_vkVoidFunction)count_allocate
                                                 : vkGetDeviceProcAddr(device, name);
}

static void VKAPI_CALL on_vma_allocate(VmaAllocator allocator, uint32_t type, VkDeviceMemory memory,
                                       VkDeviceSize size, void* user_data)
{
    (void)allocator;
    (void)type;
    (void)memory;
    struct vma_player* const player = user_data;
    struct tool_vma_outcome* const outcome = player->outcome;
    player->bytes += size;
    ++player->blocks;
    outcome->peak_reserved_bytes =
        player->bytes > outcome->peak_reserved_bytes ? player->bytes : outcome->peak_reserved_bytes;
    outcome->peak_blocks =
        player->blocks > outcome->peak_blocks ? player->blocks : outcome->peak_blocks;
}

static void VKAPI_CALL on_vma_free(VmaAllocator allocator, uint32_t type, VkDeviceMemory memory,
                                   VkDeviceSize size, void* user_data)
{
    (void)allocator;
    (void)type;
    (void)memory;
    struct vma_player* const player = user_data;
    player->bytes -= size;
    --player->blocks;
}

static VkResult create_vma(struct vma_player* player, VkDeviceSize block_size)
{
    const struct tool_device* const tool = player->tool;
    VkDeviceSize limits[VK_MAX_MEMORY_HEAPS];
    for (uint32_t i = 0; i < VK_MAX_MEMORY_HEAPS; ++i) {
        limits[i] = VK_WHOLE_SIZE;
    }
    for (uint32_t i = 0; i < tool->options.heap_count && !tool->simulated; ++i) {
        limits[tool->options.heaps[i].heap] = tool->options.heaps[i].size;
    }
    const VmaVulkanFunctions functions = {
        .vkGetInstanceProcAddr = vkGetInstanceProcAddr,
        .vkGetDeviceProcAddr = vma_proc_addr,
    };
    const VmaDeviceMemoryCallbacks callbacks = {
        .pfnAllocate = on_vma_allocate, .pfnFree = on_vma_free, .pUserData = player};
    const VmaAllocatorCreateInfo info = {
        .flags =
            VMA_ALLOCATOR_CREATE_EXTERNALLY_SYNCHRONIZED_BIT |
            (player->facts.buffer_address ? VMA_ALLOCATOR_CREATE_BUFFER_DEVICE_ADDRESS_BIT : 0u),
        .physicalDevice = tool->physical,
        .device = tool->device,
        .preferredLargeHeapBlockSize = block_size,
        .pDeviceMemoryCallbacks = &callbacks,
        .pHeapSizeLimit = limits,
        .pVulkanFunctions = &functions,
        .instance = tool->instance.instance,
        .vulkanApiVersion = VK_API_VERSION_1_2,
    };
    return vmaCreateAllocator(&info, &player->allocator);
}

/* Describes memory for a buffer or an image. */
static VmaAllocationCreateInfo describe_vma_resource(MaarMemoryUsage usage)
{
    VmaAllocationCreateInfo info = {.usage = VMA_MEMORY_USAGE_AUTO};
    switch (usage) {
    case MAAR_MEMORY_USAGE_UPLOAD:
        info.flags = VMA_ALLOCATION_CREATE_HOST_ACCESS_SEQUENTIAL_WRITE_BIT;
        break;
    case MAAR_MEMORY_USAGE_DEVICE_UPLOAD:
        info.usage = VMA_MEMORY_USAGE_AUTO_PREFER_DEVICE;
        info.flags = VMA_ALLOCATION_CREATE_HOST_ACCESS_SEQUENTIAL_WRITE_BIT;
        break;
    case MAAR_MEMORY_USAGE_READBACK:
        info.flags = VMA_ALLOCATION_CREATE_HOST_ACCESS_RANDOM_BIT;
        break;
    case MAAR_MEMORY_USAGE_TRANSIENT:
        info.preferredFlags = VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT;
        break;
    default:
        break;
    }
    return info;
}

/* Describes memory without a resource, for which there are only property flags. */
static VmaAllocationCreateInfo describe_vma_memory(MaarMemoryUsage usage)
{
    switch (usage) {
    case MAAR_MEMORY_USAGE_UPLOAD:
        return (VmaAllocationCreateInfo){.requiredFlags = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT};
    case MAAR_MEMORY_USAGE_DEVICE_UPLOAD:
        return (VmaAllocationCreateInfo){.requiredFlags = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
                                         .preferredFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT};
    case MAAR_MEMORY_USAGE_READBACK:
        return (VmaAllocationCreateInfo){.requiredFlags = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
                                         .preferredFlags = VK_MEMORY_PROPERTY_HOST_CACHED_BIT};
    default:
        return (VmaAllocationCreateInfo){.preferredFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT};
    }
}

static void allocate_with_vma(struct vma_player* player, const struct support_trace* trace,
                              uint32_t resource)
{
    struct vma_item* const item = &player->items[resource];
    struct tool_resource_plan plan;
    tool_resource_plan_for(player->tool, &player->facts, trace, resource, &plan);
    const VmaAllocationCreateInfo info = plan.form == TOOL_FORM_PLAIN
                                             ? describe_vma_memory(plan.usage)
                                             : describe_vma_resource(plan.usage);
    VkResult result = VK_SUCCESS;
    if (plan.form == TOOL_FORM_BUFFER) {
        result = vmaCreateBuffer(player->allocator, &plan.buffer, &info, &item->buffer,
                                 &item->allocation, NULL);
    } else if (plan.form == TOOL_FORM_IMAGE) {
        result = vmaCreateImage(player->allocator, &plan.image, &info, &item->image,
                                &item->allocation, NULL);
    } else {
        result = vmaAllocateMemory(player->allocator, &plan.requirements, &info, &item->allocation,
                                   NULL);
    }
    if (result != VK_SUCCESS) {
        *item = (struct vma_item){0};
        ++player->outcome->failures;
    }
}

static void free_with_vma(struct vma_player* player, uint32_t resource)
{
    struct vma_item* const item = &player->items[resource];
    if (item->buffer != VK_NULL_HANDLE) {
        vmaDestroyBuffer(player->allocator, item->buffer, item->allocation);
    } else if (item->image != VK_NULL_HANDLE) {
        vmaDestroyImage(player->allocator, item->image, item->allocation);
    } else {
        vmaFreeMemory(player->allocator, item->allocation);
    }
    *item = (struct vma_item){0};
}

void tool_vma_run(const struct tool_device* tool, const struct support_trace* trace,
                  VkDeviceSize block_size, struct tool_vma_outcome* outcome)
{
    *outcome = (struct tool_vma_outcome){.measured = false};
    struct vma_player player = {.tool = tool, .outcome = outcome};
    player.items = calloc(trace->resource_count + 1, sizeof(*player.items));
    allocate_calls = 0;
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (player.items != NULL && tool_resource_read_facts(tool, &player.facts)) {
        result = create_vma(&player, block_size);
    }
    if (result != VK_SUCCESS) {
        tool_complain("%s: VulkanMemoryAllocator cannot be compared: %s", trace->name,
                      maarGetResultName(result));
        free(player.items);
        return;
    }
    for (size_t i = 0; i < trace->event_count; ++i) {
        const struct support_trace_event* const event = &trace->events[i];
        if (event->op == SUPPORT_TRACE_FRAME ||
            !tool_resource_is_played(tool, trace, event->resource)) {
            continue;
        }
        if (event->op == SUPPORT_TRACE_ALLOC) {
            allocate_with_vma(&player, trace, event->resource);
        } else {
            free_with_vma(&player, event->resource);
        }
    }
    for (size_t i = 0; i < trace->resource_count; ++i) {
        free_with_vma(&player, (uint32_t)i);
    }
    vmaDestroyAllocator(player.allocator);
    free(player.items);
    outcome->device_allocation_calls = allocate_calls;
    outcome->measured = true;
}

#else

void tool_vma_run(const struct tool_device* tool, const struct support_trace* trace,
                  VkDeviceSize block_size, struct tool_vma_outcome* outcome)
{
    (void)tool;
    (void)trace;
    (void)block_size;
    *outcome = (struct tool_vma_outcome){.measured = false};
}

#endif
