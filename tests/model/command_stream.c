/*
 * The objects of a stream, its submissions, and what orders them. Submissions of one queue are
 * ordered by a barrier at the beginning of each command buffer; all others by semaphores.
 */
#include "tests/model/command_stream.h"

#include <stdio.h>

#define PAGE ((VkDeviceSize)65536)
#define SOURCE_BYTES ((VkDeviceSize)512 << 10)
#define READBACK_BYTES ((VkDeviceSize)2 << 20)

static const VkImageAspectFlags color = VK_IMAGE_ASPECT_COLOR_BIT;
#define COLOR VK_IMAGE_ASPECT_COLOR_BIT
#define DEPTH VK_IMAGE_ASPECT_DEPTH_BIT
#define STENCIL VK_IMAGE_ASPECT_STENCIL_BIT

const struct stream_format stream_formats[] = {
    {VK_FORMAT_R8_UNORM, 1, 1, COLOR, true, true},
    {VK_FORMAT_R8G8_UINT, 1, 2, COLOR, true, true},
    {VK_FORMAT_R5G6B5_UNORM_PACK16, 1, 2, COLOR, true, true},
    {VK_FORMAT_R16_SFLOAT, 1, 2, COLOR, true, true},
    {VK_FORMAT_R8G8B8A8_UNORM, 1, 4, COLOR, true, true},
    {VK_FORMAT_B8G8R8A8_UNORM, 1, 4, COLOR, true, true},
    {VK_FORMAT_R8G8B8A8_SINT, 1, 4, COLOR, true, true},
    {VK_FORMAT_A2B10G10R10_UNORM_PACK32, 1, 4, COLOR, true, true},
    {VK_FORMAT_R32_UINT, 1, 4, COLOR, true, true},
    {VK_FORMAT_R16G16B16A16_SFLOAT, 1, 8, COLOR, true, true},
    {VK_FORMAT_R32G32_UINT, 1, 8, COLOR, true, true},
    {VK_FORMAT_R32G32B32A32_UINT, 1, 16, COLOR, true, true},
    {VK_FORMAT_BC1_RGBA_UNORM_BLOCK, 4, 8, COLOR, true, false},
    {VK_FORMAT_BC4_UNORM_BLOCK, 4, 8, COLOR, true, false},
    {VK_FORMAT_BC7_UNORM_BLOCK, 4, 16, COLOR, true, false},
    {VK_FORMAT_ETC2_R8G8B8_UNORM_BLOCK, 4, 8, COLOR, true, false},
    {VK_FORMAT_D16_UNORM, 1, 2, DEPTH, true, true},
    {VK_FORMAT_D32_SFLOAT, 1, 4, DEPTH, false, true},
    {VK_FORMAT_S8_UINT, 1, 1, STENCIL, true, true},
    {VK_FORMAT_D32_SFLOAT_S8_UINT, 1, 4, DEPTH | STENCIL, false, true},
};
const uint32_t stream_format_count = sizeof(stream_formats) / sizeof(stream_formats[0]);

uint32_t stream_formats_of(struct rig* rig)
{
    const VkFormatFeatureFlags needed =
        VK_FORMAT_FEATURE_TRANSFER_SRC_BIT | VK_FORMAT_FEATURE_TRANSFER_DST_BIT;
    uint32_t found = 0;
    for (uint32_t i = 0; i < stream_format_count; ++i) {
        VkFormatProperties properties;
        vkGetPhysicalDeviceFormatProperties(rig->physical, stream_formats[i].format, &properties);
        if ((properties.optimalTilingFeatures & needed) == needed) {
            found |= 1u << i;
        }
    }
    return found;
}

VkQueue stream_vulkan_queue(const struct stream* s, uint32_t queue)
{
    if (queue == 2) {
        return s->rig->paging_queues[0].queue;
    }
    return s->rig->queues[queue % s->rig->family_count];
}

static uint32_t family_of(const struct stream* s, uint32_t queue)
{
    return s->rig->families[queue % s->rig->family_count];
}

/* ---- objects ---- */

static uint32_t memory_type(const struct stream* s, uint32_t bits, VkMemoryPropertyFlags flags)
{
    VkPhysicalDeviceMemoryProperties properties;
    vkGetPhysicalDeviceMemoryProperties(s->rig->physical, &properties);
    for (uint32_t i = 0; i < properties.memoryTypeCount; ++i) {
        if ((bits >> i & 1u) != 0 && (properties.memoryTypes[i].propertyFlags & flags) == flags) {
            return i;
        }
    }
    fail_msg("no memory type");
    return 0;
}

static VkDeviceMemory allocate(const struct stream* s, VkDeviceSize size, uint32_t bits,
                               VkMemoryPropertyFlags flags)
{
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = size,
        .memoryTypeIndex = memory_type(s, bits, flags),
    };
    VkDeviceMemory memory = VK_NULL_HANDLE;
    assert_int_equal(vkAllocateMemory(s->rig->device, &info, NULL, &memory), VK_SUCCESS);
    return memory;
}

static VkBuffer create_buffer(const struct stream* s, VkDeviceSize size, VkBufferCreateFlags flags)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .flags = flags,
        .size = size,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        .sharingMode =
            s->rig->family_count > 1 ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
        .queueFamilyIndexCount = s->rig->family_count > 1 ? s->rig->family_count : 0,
        .pQueueFamilyIndices = s->rig->families,
    };
    VkBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(vkCreateBuffer(s->rig->device, &info, NULL, &buffer), VK_SUCCESS);
    return buffer;
}

static void choose_image(struct stream* s, struct stream_object* o)
{
    do {
        o->format = &stream_formats[rig_below(&s->random, stream_format_count)];
    } while ((s->formats >> (o->format - stream_formats) & 1u) == 0);
    const bool volume =
        o->format->aspects == color && o->format->block == 1 && rig_below(&s->random, 4) == 0;
    const bool linear = o->format->aspects == color && o->format->block == 1 && !volume &&
                        rig_below(&s->random, 5) == 0;
    o->info = (VkImageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = volume ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D,
        .format = o->format->format,
        .extent = {1 + rig_below(&s->random, 40), 1 + rig_below(&s->random, 28),
                   volume ? 1 + rig_below(&s->random, 6) : 1},
        .mipLevels = linear ? 1 : 1 + rig_below(&s->random, STREAM_LEVELS),
        .arrayLayers = volume || linear ? 1 : 1 + rig_below(&s->random, 3),
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = linear ? VK_IMAGE_TILING_LINEAR : VK_IMAGE_TILING_OPTIMAL,
        .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
    };
    const uint32_t longest =
        o->info.extent.width > o->info.extent.height ? o->info.extent.width : o->info.extent.height;
    while (longest >> (o->info.mipLevels - 1) == 0) {
        o->info.mipLevels--;
    }
}

/* An image of 2x2 tiles, and one level more if the seed wants it. */
static void choose_sparse_image(struct stream* s, struct stream_object* o)
{
    o->format = &stream_formats[4];
    o->sparse_image = true;
    o->info = (VkImageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .flags = VK_IMAGE_CREATE_SPARSE_BINDING_BIT | VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = o->format->format,
        .extent = {200 + rig_below(&s->random, 57), 200 + rig_below(&s->random, 57), 1},
        .mipLevels = 1 + rig_below(&s->random, 3),
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
    };
}

static void create_image(struct stream* s, struct stream_object* o)
{
    o->info.sharingMode =
        s->rig->family_count > 1 ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE;
    o->info.queueFamilyIndexCount = s->rig->family_count > 1 ? s->rig->family_count : 0;
    o->info.pQueueFamilyIndices = s->rig->families;
    assert_int_equal(vkCreateImage(s->rig->device, &o->info, NULL, &o->image), VK_SUCCESS);
}

static void choose_object(struct stream* s, uint32_t index, bool sparse)
{
    struct stream_object* o = &s->objects[index];
    const uint32_t dice = rig_below(&s->random, 8);
    o->root = index;
    o->size = 4 * (256 + rig_below(&s->random, 8192));
    if (sparse && index == 1) {
        o->kind = STREAM_SPARSE_BUFFER;
        o->size = STREAM_PAGES * PAGE;
    } else if (sparse && index == 2) {
        o->kind = STREAM_IMAGE;
        choose_sparse_image(s, o);
    } else if (index == 0 || dice < 2) {
        o->kind = STREAM_BUFFER;
    } else if (dice == 2) {
        o->kind = STREAM_ALIAS;
        o->root = 0;
        o->size = s->objects[0].size;
    } else {
        o->kind = STREAM_IMAGE;
        choose_image(s, o);
    }
}

/* Submits one batch of binds which nothing precedes, and waits for it. */
static void bind_now(const struct stream* s, const VkBindSparseInfo* info)
{
    const VkQueue queue = stream_vulkan_queue(s, 2);
    assert_int_equal(vkQueueBindSparse(queue, 1, info, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(vkQueueWaitIdle(queue), VK_SUCCESS);
}

static void bind_sparse_buffer(struct stream* s, struct stream_object* o)
{
    VkMemoryRequirements requirements;
    vkGetBufferMemoryRequirements(s->rig->device, o->buffer, &requirements);
    assert_int_equal(PAGE % requirements.alignment, 0);
    o->memory = allocate(s, STREAM_PAGES * PAGE, requirements.memoryTypeBits, 0);
    const VkSparseMemoryBind bind = {.size = STREAM_PAGES * PAGE, .memory = o->memory};
    const VkSparseBufferMemoryBindInfo buffers = {o->buffer, 1, &bind};
    bind_now(s, &(VkBindSparseInfo){.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
                                    .bufferBindCount = 1,
                                    .pBufferBinds = &buffers});
    for (int32_t page = 0; page < STREAM_PAGES; ++page) {
        o->pages[page] = page;
    }
}

static void bind_sparse_image(struct stream* s, struct stream_object* o)
{
    VkMemoryRequirements requirements;
    VkSparseImageMemoryRequirements parts[4];
    VkSparseImageMemoryBind tiles[STREAM_LEVELS];
    VkSparseMemoryBind tails[4];
    uint32_t part_count = 4;
    uint32_t tile_count = 0;
    uint32_t tail_count = 0;
    VkDeviceSize at = 0;
    vkGetImageMemoryRequirements(s->rig->device, o->image, &requirements);
    vkGetImageSparseMemoryRequirements(s->rig->device, o->image, &part_count, parts);
    o->memory = allocate(s, requirements.size, requirements.memoryTypeBits, 0);
    for (uint32_t p = 0; p < part_count; ++p) {
        const VkSparseImageMemoryRequirements* part = &parts[p];
        const VkExtent3D tile = part->formatProperties.imageGranularity;
        for (uint32_t level = 0; level < part->imageMipTailFirstLod && level < o->info.mipLevels;
             ++level) {
            const VkExtent3D extent = {o->info.extent.width >> level,
                                       o->info.extent.height >> level, 1};
            tiles[tile_count++] = (VkSparseImageMemoryBind){.subresource = {color, level, 0},
                                                            .extent = extent,
                                                            .memory = o->memory,
                                                            .memoryOffset = at};
            at += requirements.alignment * ((extent.width + tile.width - 1) / tile.width) *
                  ((extent.height + tile.height - 1) / tile.height);
        }
        if (part->imageMipTailFirstLod < o->info.mipLevels && part->imageMipTailSize != 0) {
            tails[tail_count++] = (VkSparseMemoryBind){.resourceOffset = part->imageMipTailOffset,
                                                       .size = part->imageMipTailSize,
                                                       .memory = o->memory,
                                                       .memoryOffset = at};
            at += part->imageMipTailSize;
        }
    }
    assert_true(at <= requirements.size);
    const VkSparseImageMemoryBindInfo images = {o->image, tile_count, tiles};
    const VkSparseImageOpaqueMemoryBindInfo opaque = {o->image, tail_count, tails};
    bind_now(s, &(VkBindSparseInfo){.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
                                    .imageOpaqueBindCount = tail_count != 0 ? 1 : 0,
                                    .pImageOpaqueBinds = &opaque,
                                    .imageBindCount = tile_count != 0 ? 1 : 0,
                                    .pImageBinds = &images});
}

static void bind_placed(struct stream* s)
{
    VkDeviceSize offsets[STREAM_OBJECTS] = {0};
    VkDeviceSize end = 0;
    uint32_t bits = UINT32_MAX;
    for (uint32_t i = 0; i < s->object_count; ++i) {
        const struct stream_object* o = &s->objects[i];
        VkMemoryRequirements requirements;
        if (o->kind == STREAM_SPARSE_BUFFER || o->sparse_image) {
            continue;
        }
        if (o->kind == STREAM_IMAGE) {
            vkGetImageMemoryRequirements(s->rig->device, o->image, &requirements);
        } else {
            vkGetBufferMemoryRequirements(s->rig->device, o->buffer, &requirements);
        }
        bits &= requirements.memoryTypeBits;
        const VkDeviceSize step = requirements.alignment > PAGE ? requirements.alignment : PAGE;
        offsets[i] = o->kind == STREAM_ALIAS ? offsets[o->root] : (end + step - 1) / step * step;
        end = o->kind == STREAM_ALIAS ? end : offsets[i] + requirements.size;
    }
    s->memory = allocate(s, end, bits, 0);
    for (uint32_t i = 0; i < s->object_count; ++i) {
        const struct stream_object* o = &s->objects[i];
        VkResult result = VK_SUCCESS;
        if (o->kind == STREAM_IMAGE && !o->sparse_image) {
            result = vkBindImageMemory(s->rig->device, o->image, s->memory, offsets[i]);
        } else if (o->kind == STREAM_BUFFER || o->kind == STREAM_ALIAS) {
            result = vkBindBufferMemory(s->rig->device, o->buffer, s->memory, offsets[i]);
        }
        assert_int_equal(result, VK_SUCCESS);
    }
}

static void make_host_buffers(struct stream* s)
{
    VkMemoryRequirements requirements;
    void* mapped = NULL;
    s->source = create_buffer(s, SOURCE_BYTES, 0);
    s->readback = create_buffer(s, READBACK_BYTES, 0);
    vkGetBufferMemoryRequirements(s->rig->device, s->readback, &requirements);
    s->host_memory =
        allocate(s, SOURCE_BYTES + READBACK_BYTES + PAGE, requirements.memoryTypeBits,
                 VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    assert_int_equal(vkBindBufferMemory(s->rig->device, s->source, s->host_memory, 0), VK_SUCCESS);
    assert_int_equal(vkBindBufferMemory(s->rig->device, s->readback, s->host_memory, SOURCE_BYTES),
                     VK_SUCCESS);
    assert_int_equal(vkMapMemory(s->rig->device, s->host_memory, 0, VK_WHOLE_SIZE, 0, &mapped),
                     VK_SUCCESS);
    s->host = mapped;
    for (VkDeviceSize i = 0; i < SOURCE_BYTES; i += 4) {
        const uint32_t word = rig_next(&s->random);
        memcpy(s->host + i, &word, 4);
    }
    memset(s->host + SOURCE_BYTES, 0, READBACK_BYTES);
}

static void make_queues(struct stream* s)
{
    for (uint32_t q = 0; q < STREAM_QUEUES; ++q) {
        const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                              .queueFamilyIndex = family_of(s, q % 2)};
        assert_int_equal(vkCreateCommandPool(s->rig->device, &info, NULL, &s->pools[q]),
                         VK_SUCCESS);
        s->timelines[q] = rig_create_timeline(s->rig, 0);
    }
}

void stream_make_objects(struct stream* s)
{
    const bool sparse = rig_below(&s->random, 4) == 0;
    s->object_count = 4 + rig_below(&s->random, STREAM_OBJECTS - 4);
    make_queues(s);
    make_host_buffers(s);
    for (uint32_t i = 0; i < s->object_count; ++i) {
        struct stream_object* o = &s->objects[i];
        choose_object(s, i, sparse);
        if (o->kind == STREAM_IMAGE) {
            create_image(s, o);
        } else {
            const VkBufferCreateFlags flags =
                VK_BUFFER_CREATE_SPARSE_BINDING_BIT | VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT;
            o->buffer = create_buffer(s, o->size, o->kind == STREAM_SPARSE_BUFFER ? flags : 0);
        }
        if (o->kind == STREAM_SPARSE_BUFFER) {
            bind_sparse_buffer(s, o);
        } else if (o->sparse_image) {
            bind_sparse_image(s, o);
        }
    }
    bind_placed(s);
}

void stream_destroy_objects(struct stream* s)
{
    const VkDevice device = s->rig->device;
    for (uint32_t i = 0; i < s->object_count; ++i) {
        vkDestroyBuffer(device, s->objects[i].buffer, NULL);
        vkDestroyImage(device, s->objects[i].image, NULL);
        vkFreeMemory(device, s->objects[i].memory, NULL);
    }
    vkDestroyBuffer(device, s->source, NULL);
    vkDestroyBuffer(device, s->readback, NULL);
    vkUnmapMemory(device, s->host_memory);
    vkFreeMemory(device, s->host_memory, NULL);
    vkFreeMemory(device, s->memory, NULL);
    for (uint32_t i = 0; i < s->binary_count; ++i) {
        vkDestroySemaphore(device, s->binaries[i], NULL);
    }
    for (uint32_t q = 0; q < STREAM_QUEUES; ++q) {
        vkDestroySemaphore(device, s->timelines[q], NULL);
        vkDestroyCommandPool(device, s->pools[q], NULL);
    }
}

/* ---- submissions ---- */

/* What a submission waits for and signals. */
struct points {
    uint32_t wait_count, signal_count;
    VkSemaphore waits[STREAM_QUEUES + 1], signals[2];
    uint64_t wait_values[STREAM_QUEUES + 1], signal_values[2];
    VkPipelineStageFlags stages[STREAM_QUEUES + 1];
    VkTimelineSemaphoreSubmitInfo chain;
};

static VkSemaphore take_binary(struct stream* s)
{
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSemaphore* made = &s->binaries[s->binary_count++];
    assert_int_equal(vkCreateSemaphore(s->rig->device, &info, NULL, made), VK_SUCCESS);
    return *made;
}

/* Turns what the next submission depends on into semaphores. Commands of its own queue need none,
 * unless a bind is concerned. */
static void fill_points(struct stream* s, struct points* p, bool gives_binary)
{
    memset(p, 0, sizeof *p);
    for (uint32_t q = 0; q < STREAM_QUEUES; ++q) {
        uint64_t value = 0;
        for (uint32_t i = 0; i < s->submission_count; ++i) {
            const bool needed = (s->waits >> i & 1u) != 0 && (q != s->queue || q == 2);
            if (needed && s->submissions[i].queue == q && s->submissions[i].value > value) {
                value = s->submissions[i].value;
            }
        }
        if (value != 0) {
            p->waits[p->wait_count] = s->timelines[q];
            p->wait_values[p->wait_count++] = value;
        }
    }
    if (s->binary != VK_NULL_HANDLE) {
        p->waits[p->wait_count++] = s->binary;
        s->binary = VK_NULL_HANDLE;
    }
    p->signals[0] = s->timelines[s->queue];
    p->signal_values[0] = ++s->values[s->queue];
    p->signal_count = 1;
    if (gives_binary) {
        s->binary = take_binary(s);
        p->signals[p->signal_count++] = s->binary;
    }
    for (uint32_t i = 0; i < p->wait_count; ++i) {
        p->stages[i] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    }
    p->chain = (VkTimelineSemaphoreSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = p->wait_count,
        .pWaitSemaphoreValues = p->wait_values,
        .signalSemaphoreValueCount = p->signal_count,
        .pSignalSemaphoreValues = p->signal_values,
    };
}

/* Remembers what the submission has read and written. */
static void note_submission(struct stream* s)
{
    const uint32_t index = s->submission_count++;
    s->submissions[index].queue = s->queue;
    s->submissions[index].value = s->values[s->queue];
    for (uint32_t i = 0; i < s->object_count; ++i) {
        struct stream_object* o = &s->objects[i];
        if ((s->touched_written >> i & 1u) != 0) {
            o->writer = index;
            o->readers = 0;
        } else if ((s->touched_read >> i & 1u) != 0) {
            o->readers |= 1u << index;
        }
    }
}

static void submit_commands(struct stream* s, bool gives_binary)
{
    struct points p;
    fill_points(s, &p, gives_binary);
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &p.chain,
        .waitSemaphoreCount = p.wait_count,
        .pWaitSemaphores = p.waits,
        .pWaitDstStageMask = p.stages,
        .commandBufferCount = 1,
        .pCommandBuffers = &s->commands,
        .signalSemaphoreCount = p.signal_count,
        .pSignalSemaphores = p.signals,
    };
    assert_int_equal(vkQueueSubmit(stream_vulkan_queue(s, s->queue), 1, &info, VK_NULL_HANDLE),
                     VK_SUCCESS);
    note_submission(s);
}

/* Swaps two pages of the sparse buffer's memory, or takes one away, or brings one back. */
static void submit_binds(struct stream* s)
{
    struct stream_object* o = &s->objects[1];
    struct points p;
    const uint32_t a = rig_below(&s->random, STREAM_PAGES);
    const uint32_t b = rig_below(&s->random, STREAM_PAGES);
    const int32_t page = o->pages[a];
    o->pages[a] = o->pages[b];
    o->pages[b] = page;
    s->queue = 2;
    s->touched_read = 0;
    s->touched_written = 1u << 1;
    s->waits = o->readers | 1u << o->writer;
    for (uint32_t i = 0; i < s->submission_count; ++i) {
        s->waits |= s->submissions[i].queue == 2 ? 1u << i : 0; /* the timeline must rise */
    }
    VkSparseMemoryBind binds[2];
    for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t place = i == 0 ? a : b;
        binds[i] = (VkSparseMemoryBind){.resourceOffset = place * PAGE,
                                        .size = PAGE,
                                        .memory = o->memory,
                                        .memoryOffset = (VkDeviceSize)o->pages[place] * PAGE};
    }
    const VkSparseBufferMemoryBindInfo buffers = {o->buffer, a != b ? 2 : 1, binds};
    fill_points(s, &p, false);
    const VkBindSparseInfo info = {
        .sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
        .pNext = &p.chain,
        .waitSemaphoreCount = p.wait_count,
        .pWaitSemaphores = p.waits,
        .bufferBindCount = 1,
        .pBufferBinds = &buffers,
        .signalSemaphoreCount = p.signal_count,
        .pSignalSemaphores = p.signals,
    };
    assert_int_equal(vkQueueBindSparse(stream_vulkan_queue(s, 2), 1, &info, VK_NULL_HANDLE),
                     VK_SUCCESS);
    note_submission(s);
}

static VkCommandBuffer begin(struct stream* s, VkCommandBufferLevel level,
                             VkCommandBufferUsageFlags usage)
{
    const VkCommandBufferAllocateInfo allocate_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = s->pools[s->queue],
        .level = level,
        .commandBufferCount = 1,
    };
    const VkCommandBufferInheritanceInfo inheritance = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = usage,
                                           .pInheritanceInfo = &inheritance};
    VkCommandBuffer commands = VK_NULL_HANDLE;
    assert_int_equal(vkAllocateCommandBuffers(s->rig->device, &allocate_info, &commands),
                     VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(commands, &info), VK_SUCCESS);
    return commands;
}

/* Orders everything before on the same queue with everything behind. */
static void first_barrier(VkCommandBuffer commands)
{
    const VkMemoryBarrier all = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
    };
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         0, 1, &all, 0, NULL, 0, NULL);
}

static void begin_submission(struct stream* s, uint32_t queue)
{
    s->queue = queue;
    s->waits = 0;
    s->touched_read = 0;
    s->touched_written = 0;
    for (uint32_t i = 0; i < s->object_count; ++i) {
        s->objects[i].read = false;
        s->objects[i].written = false;
    }
}

static bool layouts_are(const struct stream* s, const VkImageLayout* layouts)
{
    for (uint32_t i = 0; i < s->object_count; ++i) {
        if (s->objects[i].layout != layouts[i]) {
            return false;
        }
    }
    return true;
}

/* One submission of random commands, some in a secondary command buffer, some submitted twice. */
static void submit_random(struct stream* s)
{
    VkImageLayout layouts[STREAM_OBJECTS] = {VK_IMAGE_LAYOUT_UNDEFINED};
    const bool nested = rig_below(&s->random, 4) == 0;
    const bool twice = rig_below(&s->random, 4) == 0;
    begin_submission(s, rig_below(&s->random, 2));
    for (uint32_t i = 0; i < s->object_count; ++i) {
        layouts[i] = s->objects[i].layout;
    }
    const VkCommandBuffer primary =
        begin(s, VK_COMMAND_BUFFER_LEVEL_PRIMARY, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    first_barrier(primary);
    s->commands = nested ? begin(s, VK_COMMAND_BUFFER_LEVEL_SECONDARY,
                                 VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT)
                         : primary;
    stream_record_random(s);
    if (nested) {
        assert_int_equal(vkEndCommandBuffer(s->commands), VK_SUCCESS);
        vkCmdExecuteCommands(primary, 1, &s->commands);
        s->commands = primary;
    }
    assert_int_equal(vkEndCommandBuffer(primary), VK_SUCCESS);
    submit_commands(s, rig_below(&s->random, 3) == 0);
    if (twice && layouts_are(s, layouts)) {
        submit_commands(s, false);
    }
}

static void submit_first(struct stream* s)
{
    begin_submission(s, 0);
    s->commands =
        begin(s, VK_COMMAND_BUFFER_LEVEL_PRIMARY, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    stream_record_first(s);
    assert_int_equal(vkEndCommandBuffer(s->commands), VK_SUCCESS);
    submit_commands(s, false);
}

static void submit_last(struct stream* s, struct stream_result* result)
{
    begin_submission(s, 0);
    s->commands =
        begin(s, VK_COMMAND_BUFFER_LEVEL_PRIMARY, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    first_barrier(s->commands);
    stream_record_last(s, result);
    const VkMemoryBarrier host = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    vkCmdPipelineBarrier(s->commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0,
                         1, &host, 0, NULL, 0, NULL);
    assert_int_equal(vkEndCommandBuffer(s->commands), VK_SUCCESS);
    s->waits = (1u << s->submission_count) - 1;
    submit_commands(s, false);
    assert_int_equal(vkDeviceWaitIdle(s->rig->device), VK_SUCCESS);
}

static uint64_t hash_bytes(const uint8_t* bytes, VkDeviceSize size)
{
    uint64_t hash = 14695981039346656037u;
    for (VkDeviceSize i = 0; i < size; ++i) {
        hash = (hash ^ bytes[i]) * 1099511628211u;
    }
    return hash;
}

void stream_play(struct rig* rig, uint64_t seed, uint32_t formats, struct stream_result* result)
{
    static struct stream s;
    memset(&s, 0, sizeof s);
    memset(result, 0, sizeof *result);
    s.rig = rig;
    s.formats = formats;
    s.random.state = seed * 0x9E3779B97F4A7C15u + 1;
    stream_make_objects(&s);
    submit_first(&s);
    const uint32_t count = 3 + rig_below(&s.random, 7);
    for (uint32_t i = 0; i < count; ++i) {
        if (s.objects[1].kind == STREAM_SPARSE_BUFFER && rig_below(&s.random, 3) == 0) {
            submit_binds(&s);
        } else {
            submit_random(&s);
        }
    }
    submit_last(&s, result);
    const uint8_t* bytes = s.host + SOURCE_BYTES;
    for (uint32_t i = 0; i < result->object_count; ++i) {
        const VkDeviceSize size = result->hashes[i];
        result->hashes[i] = hash_bytes(bytes, size);
        bytes += (size + 63) / 64 * 64;
    }
    stream_destroy_objects(&s);
}
