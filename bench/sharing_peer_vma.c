/*
 * Shares buffers from a VulkanMemoryAllocator pool of exportable memory. VMA itself exports and
 * imports nothing on Linux, so that this file adds that part.
 */
#include "bench/sharing_peer.h"

#include "bench/bench_common.h"
#include "bench/vma_name.h"

#include <stdlib.h>
#include <vk_mem_alloc.h>

enum { MAX_VMA_BLOCKS = 1024 };

struct vma_block {
    VkDeviceMemory memory;
    VkDeviceMemory imported;
};

struct vma_state {
    const struct sharing_devices* devices;
    VmaAllocator allocator;
    VmaPool pool;
    VkExportMemoryAllocateInfo export;
    struct vma_block blocks[MAX_VMA_BLOCKS];
    uint32_t block_count;
};

static void* open_vma(const struct sharing_devices* devices)
{
    struct vma_state* const state = bench_allocate(1, sizeof(*state));
    state->devices = devices;
    const VmaVulkanFunctions functions = {
        .vkGetInstanceProcAddr = vkGetInstanceProcAddr,
        .vkGetDeviceProcAddr = sharing_proc_addr,
    };
    const VmaAllocatorCreateInfo info = {
        .physicalDevice = devices->base.physical,
        .device = devices->sides[SHARING_EXPORTER].handle,
        .pVulkanFunctions = &functions,
        .instance = devices->base.instance.instance,
        .vulkanApiVersion = BENCH_API_VERSION,
    };
    bench_expect(vmaCreateAllocator(&info, &state->allocator), "vmaCreateAllocator");
    state->export = (VkExportMemoryAllocateInfo){
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
        .handleTypes = SHARING_TYPE,
    };
    const VmaPoolCreateInfo pool = {
        .memoryTypeIndex = devices->type_index,
        .pMemoryAllocateNext = &state->export,
    };
    bench_expect(vmaCreatePool(state->allocator, &pool, &state->pool), "vmaCreatePool");
    return state;
}

static void close_vma(void* opaque)
{
    struct vma_state* const state = opaque;
    for (uint32_t i = 0; i < state->block_count; ++i) {
        sharing_free(state->devices->sides[SHARING_IMPORTER].handle, state->blocks[i].imported,
                     NULL);
    }
    vmaDestroyPool(state->allocator, state->pool);
    vmaDestroyAllocator(state->allocator);
    free(state);
}

static bool create_vma(void* opaque, struct sharing_item* item)
{
    const struct vma_state* const state = opaque;
    struct sharing_end* const end = &item->ends[SHARING_EXPORTER];
    const VkBufferCreateInfo info = sharing_buffer_info(item->size);
    const VmaAllocationCreateInfo how = {.pool = state->pool};
    VmaAllocation allocation = VK_NULL_HANDLE;
    const VkResult result =
        vmaCreateBuffer(state->allocator, &info, &how, &end->buffer, &allocation, NULL);
    end->allocation.pointer = allocation;
    return result == VK_SUCCESS;
}

static VmaAllocationInfo2 find_vma(const struct vma_state* state, const struct sharing_item* item)
{
    VmaAllocationInfo2 where;
    vmaGetAllocationInfo2(state->allocator, item->ends[SHARING_EXPORTER].allocation.pointer,
                          &where);
    return where;
}

/* Returns the importer's memory for a block. The first call for a block imports it. */
static VkDeviceMemory find_vma_import(struct vma_state* state, const VmaAllocationInfo2* where)
{
    const VkDeviceMemory memory = where->allocationInfo.deviceMemory;
    for (uint32_t i = state->block_count; i-- > 0;) { /* most often the last one */
        if (state->blocks[i].memory == memory) {
            return state->blocks[i].imported;
        }
    }
    if (state->block_count == MAX_VMA_BLOCKS) {
        return VK_NULL_HANDLE;
    }
    struct vma_block* const block = &state->blocks[state->block_count];
    block->memory = memory;
    const VkResult result =
        sharing_import_raw(state->devices, memory, where->blockSize, &block->imported);
    state->block_count += result == VK_SUCCESS;
    return result == VK_SUCCESS ? block->imported : VK_NULL_HANDLE;
}

static bool hand_over_vma(void* opaque, struct sharing_item* item)
{
    struct vma_state* const state = opaque;
    struct sharing_end* const end = &item->ends[SHARING_IMPORTER];
    const VmaAllocationInfo2 where = find_vma(state, item);
    end->allocation.memory = find_vma_import(state, &where);
    return end->allocation.memory != VK_NULL_HANDLE &&
           sharing_bind_raw(&state->devices->sides[SHARING_IMPORTER], item->size,
                            end->allocation.memory, where.allocationInfo.offset,
                            &end->buffer) == VK_SUCCESS;
}

static bool hand_over_vma_each(void* opaque, struct sharing_item* item)
{
    const struct vma_state* const state = opaque;
    struct sharing_end* const end = &item->ends[SHARING_IMPORTER];
    const VmaAllocationInfo2 where = find_vma(state, item);
    if (sharing_import_raw(state->devices, where.allocationInfo.deviceMemory, where.blockSize,
                           &end->allocation.memory) != VK_SUCCESS) {
        end->allocation.memory = VK_NULL_HANDLE;
        return false;
    }
    bench_expect(sharing_bind_raw(&state->devices->sides[SHARING_IMPORTER], item->size,
                                  end->allocation.memory, where.allocationInfo.offset,
                                  &end->buffer),
                 "vkBindBufferMemory");
    return true;
}

static void destroy_vma(void* opaque, struct sharing_item* item)
{
    const struct vma_state* const state = opaque;
    const struct sharing_side* const side = &state->devices->sides[SHARING_IMPORTER];
    side->table.vkDestroyBuffer(side->handle, item->ends[SHARING_IMPORTER].buffer, NULL);
    vmaDestroyBuffer(state->allocator, item->ends[SHARING_EXPORTER].buffer,
                     item->ends[SHARING_EXPORTER].allocation.pointer);
}

static void destroy_vma_each(void* opaque, struct sharing_item* item)
{
    const struct vma_state* const state = opaque;
    destroy_vma(opaque, item);
    if (item->ends[SHARING_IMPORTER].allocation.memory != VK_NULL_HANDLE) {
        sharing_free(state->devices->sides[SHARING_IMPORTER].handle,
                     item->ends[SHARING_IMPORTER].allocation.memory, NULL);
    }
}

static void place_vma(void* opaque, const struct sharing_item* item,
                      struct sharing_place places[SHARING_SIDES])
{
    const VmaAllocationInfo2 where = find_vma(opaque, item);
    places[SHARING_EXPORTER] = (struct sharing_place){.memory = where.allocationInfo.deviceMemory,
                                                      .offset = where.allocationInfo.offset};
    places[SHARING_IMPORTER] =
        (struct sharing_place){.memory = item->ends[SHARING_IMPORTER].allocation.memory,
                               .offset = where.allocationInfo.offset};
}

const struct sharing_peer sharing_peer_vma = {
    .name = VMA_NAME(""),
    .open = open_vma,
    .create = create_vma,
    .hand_over = hand_over_vma,
    .destroy = destroy_vma,
    .close = close_vma,
    .place = place_vma,
};

const struct sharing_peer sharing_peer_vma_each = {
    .name = VMA_NAME("-each"),
    .open = open_vma,
    .create = create_vma,
    .hand_over = hand_over_vma_each,
    .destroy = destroy_vma_each,
    .close = close_vma,
    .place = place_vma,
};
