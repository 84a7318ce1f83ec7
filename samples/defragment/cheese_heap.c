/*
 * Makes the heap; see cheese_heap.h.
 */
#include "cheese_heap.h"

#include "cheese_look.h"

#include <stdlib.h>
#include <string.h>

/* A planet has at most the objects that it uses and, for each frame in flight, those that it used
 * before. */
#define SETS_EACH (1u + SAMPLE_WORK_SLOTS)

static bool create_pool(struct cheese_heap* heap)
{
    const VkImageCreateInfo image = cheese_image_info(256);
    const VkBufferCreateInfo buffer = cheese_buffer_info(128);
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO};
    MaarMemoryTypeChoice images = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    MaarMemoryTypeChoice buffers = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    MaarAllocator const allocator = heap->device->allocator;
    if (!sample_succeeded(maarChooseMemoryTypeForImage(allocator, &image, &how, &images),
                          "maarChooseMemoryTypeForImage") ||
        !sample_succeeded(maarChooseMemoryTypeForBuffer(allocator, &buffer, &how, &buffers),
                          "maarChooseMemoryTypeForBuffer")) {
        return false;
    }
    bool serves_both = false;
    for (uint32_t i = 0; i < buffers.candidateCount; ++i) {
        serves_both = serves_both || buffers.candidates[i] == images.memoryTypeIndex;
    }
    if (!serves_both) {
        sample_complain("images and buffers have no memory type in common");
        return false;
    }
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = images.memoryTypeIndex,
        .blockSize = CHEESE_BLOCK_SIZE,
        .retainedEmptySize = 1, /* no empty block is kept */
        .pName = "planets",
    };
    return sample_succeeded(maarCreatePool(allocator, &info, &heap->pool), "maarCreatePool");
}

static bool is_kept(uint32_t number)
{
    const uint32_t bits = (number ^ number >> 3) * 0x85EBCA77u;
    return (bits >> 20) % 3 == 0;
}

/* Creates all planets, and destroys those that are not kept. */
static bool make_holes(struct cheese_heap* heap, uint32_t count)
{
    struct cheese_planet* const all = calloc(count, sizeof(*all));
    uint32_t made = 0;
    while (all != NULL && made < count &&
           cheese_planet_create(&all[made], heap->device, heap->pool, made)) {
        ++made;
    }
    const bool done = sample_has_memory(all) && made == count;
    for (uint32_t i = 0; i <= made && i < count && all != NULL; ++i) {
        if (!done || !is_kept(i)) {
            cheese_planet_destroy(&all[i], heap->device, &heap->sets);
        }
    }
    heap->planets = all;
    heap->count = done ? count : 0;
    for (uint32_t i = 0; i < heap->count; ++i) {
        heap->kept += cheese_planet_is_kept(&all[i]);
    }
    return done;
}

/* ---- contents ---- */

/* Memory from which the contents of all planets are copied. */
struct staging {
    VkBuffer buffer;
    MaarAllocation memory;
    uint8_t* bytes;
};

static bool create_staging(const struct cheese_heap* heap, struct staging* staging)
{
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT,
                                          .usage = MAAR_MEMORY_USAGE_UPLOAD,
                                          .pName = "staging"};
    for (uint32_t i = 0; i < heap->count; ++i) {
        if (cheese_planet_is_kept(&heap->planets[i])) {
            info.size +=
                cheese_look_bytes(heap->planets[i].size) + heap->planets[i].buffer_info.size;
        }
    }
    if (!sample_succeeded(maarCreateBuffer(heap->device->allocator, &info, &how, &staging->buffer,
                                           &staging->memory),
                          "maarCreateBuffer")) {
        return false;
    }
    staging->bytes = maarGetMappedData(heap->device->allocator, staging->memory);
    return true;
}

const struct cheese_side cheese_fresh = {VK_PIPELINE_STAGE_2_NONE, VK_ACCESS_2_NONE,
                                         VK_IMAGE_LAYOUT_UNDEFINED};
const struct cheese_side cheese_sampled = {VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
                                           VK_ACCESS_2_SHADER_SAMPLED_READ_BIT,
                                           VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
const struct cheese_side cheese_copied_from = {VK_PIPELINE_STAGE_2_COPY_BIT,
                                               VK_ACCESS_2_TRANSFER_READ_BIT,
                                               VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL};
const struct cheese_side cheese_copied_to = {VK_PIPELINE_STAGE_2_COPY_BIT,
                                             VK_ACCESS_2_TRANSFER_WRITE_BIT,
                                             VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL};
const struct cheese_side cheese_cleared = {VK_PIPELINE_STAGE_2_CLEAR_BIT,
                                           VK_ACCESS_2_TRANSFER_WRITE_BIT,
                                           VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL};

void cheese_pass(VkCommandBuffer commands, VkImage image, struct cheese_side before,
                 struct cheese_side after)
{
    const VkImageMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = before.stages,
        .srcAccessMask = before.access,
        .dstStageMask = after.stages,
        .dstAccessMask = after.access,
        .oldLayout = before.layout,
        .newLayout = after.layout,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0, 1}};
    const VkDependencyInfo dependency = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                         .imageMemoryBarrierCount = 1,
                                         .pImageMemoryBarriers = &barrier};
    vkCmdPipelineBarrier2(commands, &dependency);
}

/* Fills the image and the buffer of a planet with what lies at an offset of the staging memory.
 * Returns the offset behind it. */
static VkDeviceSize record_fill(const struct cheese_planet* planet, const struct staging* staging,
                                VkDeviceSize offset, VkCommandBuffer commands)
{
    const struct cheese_objects* const objects = &planet->objects;
    cheese_look_texels(planet->number, planet->size, staging->bytes + offset);
    cheese_pass(commands, objects->image, cheese_fresh, cheese_copied_to);
    for (uint32_t level = 0; level < planet->image_info.mipLevels; ++level) {
        const uint32_t size = planet->size >> level;
        const VkBufferImageCopy region = {
            .bufferOffset = offset,
            .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, 1},
            .imageExtent = {size, size, 1}};
        vkCmdCopyBufferToImage(commands, staging->buffer, objects->image,
                               VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
        offset += (VkDeviceSize)4 * size * size;
    }
    cheese_pass(commands, objects->image, cheese_copied_to, cheese_sampled);
    cheese_look_heights(planet->number, planet->grid, (float*)(void*)(staging->bytes + offset));
    const VkBufferCopy region = {offset, 0, planet->buffer_info.size};
    vkCmdCopyBuffer(commands, staging->buffer, objects->buffer, 1, &region);
    return offset + region.size;
}

static bool fill_planets(const struct cheese_heap* heap, struct sample_work* work)
{
    struct staging staging = {0};
    MaarAllocator const allocator = heap->device->allocator;
    const VkMemoryBarrier2 filled = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                     .srcStageMask = VK_PIPELINE_STAGE_2_COPY_BIT,
                                     .srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
                                     .dstStageMask = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
                                     .dstAccessMask = VK_ACCESS_2_SHADER_STORAGE_READ_BIT};
    const VkDependencyInfo dependency = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                         .memoryBarrierCount = 1,
                                         .pMemoryBarriers = &filled};
    const bool created = create_staging(heap, &staging);
    const VkCommandBuffer commands = created ? sample_work_begin(work) : NULL;
    VkDeviceSize offset = 0;
    for (uint32_t i = 0; commands != NULL && i < heap->count; ++i) {
        if (cheese_planet_is_kept(&heap->planets[i])) {
            offset = record_fill(&heap->planets[i], &staging, offset, commands);
        }
    }
    bool done = commands != NULL;
    if (done) {
        vkCmdPipelineBarrier2(commands, &dependency);
        done = sample_succeeded(maarFlushAllocation(allocator, staging.memory, 0, VK_WHOLE_SIZE),
                                "maarFlushAllocation") &&
               sample_work_submit(work, NULL, NULL) && sample_work_wait(work);
    }
    maarDestroyBuffer(allocator, staging.buffer, staging.memory);
    return done;
}

bool cheese_heap_create(struct cheese_heap* heap, const struct sample_device* device,
                        struct sample_work* work, uint32_t count)
{
    *heap = (struct cheese_heap){.device = device};
    bool done = create_pool(heap) && make_holes(heap, count) &&
                cheese_sets_create(&heap->sets, device->device, heap->kept * SETS_EACH) &&
                fill_planets(heap, work);
    for (uint32_t i = 0; done && i < heap->count; ++i) {
        struct cheese_planet* const planet = &heap->planets[i];
        done = !cheese_planet_is_kept(planet) ||
               cheese_objects_describe(&planet->objects, &planet->image_info, &heap->sets);
    }
    return done;
}

void cheese_heap_destroy(struct cheese_heap* heap)
{
    for (uint32_t i = 0; i < heap->count; ++i) {
        cheese_planet_destroy(&heap->planets[i], heap->device, &heap->sets);
    }
    cheese_sets_destroy(&heap->sets);
    if (heap->pool != VK_NULL_HANDLE) {
        maarDestroyPool(heap->device->allocator, heap->pool);
    }
    free(heap->planets);
    memset(heap, 0, sizeof(*heap));
}
