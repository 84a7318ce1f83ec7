/*
 * The program before the port, with VulkanMemoryAllocator. This file contains everything about
 * memory; draw_vulkan.c contains everything else. draw_with_maar.c is the same program with Maar,
 * in the same order.
 */
#include "draw_vulkan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vk_mem_alloc.h>

#define STAGING_BLOCK ((VkDeviceSize)1 << 20)
#define SOLIDS_SIZE ((VkDeviceSize)1 << 16)
#define INSTANCES_SIZE (sizeof(struct draw_instance) * DRAW_INSTANCES)
#define TEXTURE_SIZE ((VkDeviceSize)DRAW_TEXTURE_SIZE * DRAW_TEXTURE_SIZE * 4)
#define PICTURE_SIZE ((VkDeviceSize)DRAW_WIDTH * DRAW_HEIGHT * 4)
enum { MAX_RETIRED = 8 };

struct buffer {
    VkBuffer handle;
    VmaAllocation memory;
    void* mapped;
};

struct image {
    VkImage handle;
    VmaAllocation memory;
    VkImageView view;
};

struct slot {
    struct buffer uniforms, instances, staged;
    bool in_place; /* instances are written directly into the device's buffer */
};

/* A staging buffer that the device may still read. */
struct retired {
    struct buffer buffer;
    uint64_t submission;
};

struct app {
    struct draw_device device;
    struct draw_options options;
    struct draw_pipeline pipeline;
    uint64_t submitted;
    VmaAllocator allocator;
    VmaPool staging_pool;
    VmaVirtualBlock ranges; /* of the buffer with all solids */
    struct buffer solids, picture;
    struct draw_place places[DRAW_SOLIDS];
    struct image texture, colour, depth;
    struct slot slots[DRAW_SLOTS];
    struct retired retired[MAX_RETIRED];
    uint32_t retired_count;
};

static void create_allocator(struct app* app)
{
    const VmaVulkanFunctions functions = {.vkGetInstanceProcAddr = vkGetInstanceProcAddr,
                                          .vkGetDeviceProcAddr = vkGetDeviceProcAddr};
    VmaAllocatorCreateFlags flags = VMA_ALLOCATOR_CREATE_KHR_MAINTENANCE4_BIT;
    if (app->device.extension_count > 0) {
        flags |= VMA_ALLOCATOR_CREATE_EXT_MEMORY_BUDGET_BIT;
    }
    const VmaAllocatorCreateInfo info = {.flags = flags,
                                         .physicalDevice = app->device.physical,
                                         .device = app->device.device,
                                         .pVulkanFunctions = &functions,
                                         .instance = app->device.instance,
                                         .vulkanApiVersion = DRAW_API_VERSION};
    draw_require(vmaCreateAllocator(&info, &app->allocator), "vmaCreateAllocator");
}

/* Staging buffers are created and destroyed in order, so their pool has the linear algorithm. */
static void create_staging_pool(struct app* app)
{
    const VkBufferCreateInfo buffer = draw_buffer_info(65536, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
    const VmaAllocationCreateInfo how = {.flags =
                                             VMA_ALLOCATION_CREATE_HOST_ACCESS_SEQUENTIAL_WRITE_BIT,
                                         .usage = VMA_MEMORY_USAGE_AUTO};
    VmaPoolCreateInfo info = {.flags = VMA_POOL_CREATE_LINEAR_ALGORITHM_BIT,
                              .blockSize = STAGING_BLOCK};
    draw_require(
        vmaFindMemoryTypeIndexForBufferInfo(app->allocator, &buffer, &how, &info.memoryTypeIndex),
        "vmaFindMemoryTypeIndexForBufferInfo");
    draw_require(vmaCreatePool(app->allocator, &info, &app->staging_pool), "vmaCreatePool");
    vmaSetPoolName(app->allocator, app->staging_pool, "staging");
}

static void create_buffer(struct app* app, const char* name, const VkBufferCreateInfo* info,
                          const VmaAllocationCreateInfo* how, struct buffer* buffer)
{
    VmaAllocationInfo made;
    draw_require(
        vmaCreateBuffer(app->allocator, info, how, &buffer->handle, &buffer->memory, &made),
        "vmaCreateBuffer");
    vmaSetAllocationName(app->allocator, buffer->memory, name);
    buffer->mapped = made.pMappedData;
}

static void create_image(struct app* app, const char* name, const VkImageCreateInfo* info,
                         const VmaAllocationCreateInfo* how, struct image* image)
{
    draw_require(vmaCreateImage(app->allocator, info, how, &image->handle, &image->memory, NULL),
                 "vmaCreateImage");
    vmaSetAllocationName(app->allocator, image->memory, name);
    image->view = draw_create_view(&app->device, image->handle, info->format);
}

/* ---- uploads ---- */

/* Creates a buffer with these bytes from the staging pool. It lives until the next submission is
 * done. */
static VkBuffer stage(struct app* app, const void* bytes, VkDeviceSize size)
{
    const VkBufferCreateInfo info = draw_buffer_info(size, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
    const VmaAllocationCreateInfo how = {.flags = VMA_ALLOCATION_CREATE_MAPPED_BIT,
                                         .pool = app->staging_pool};
    draw_require(app->retired_count < MAX_RETIRED ? VK_SUCCESS : VK_ERROR_TOO_MANY_OBJECTS,
                 "the list of staging buffers");
    struct retired* retired = &app->retired[app->retired_count++];
    create_buffer(app, "staging", &info, &how, &retired->buffer);
    draw_require(vmaCopyMemoryToAllocation(app->allocator, bytes, retired->buffer.memory, 0, size),
                 "vmaCopyMemoryToAllocation");
    retired->submission = app->submitted + 1;
    return retired->buffer.handle;
}

/* Destroys the staging buffers of submissions that have been executed. */
static void release_passed(struct app* app, uint64_t done)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < app->retired_count; ++i) {
        const struct retired retired = app->retired[i];
        if (retired.submission <= done) {
            vmaDestroyBuffer(app->allocator, retired.buffer.handle, retired.buffer.memory);
        } else {
            app->retired[kept++] = retired;
        }
    }
    app->retired_count = kept;
}

/* All vertices and indices lie in one buffer. A virtual block chooses their offsets. */
static VkDeviceSize place_range(struct app* app, VkDeviceSize size, VkDeviceSize alignment)
{
    const VmaVirtualAllocationCreateInfo info = {.size = size, .alignment = alignment};
    VmaVirtualAllocation range = VK_NULL_HANDLE;
    VkDeviceSize offset = 0;
    draw_require(vmaVirtualAllocate(app->ranges, &info, &range, &offset), "vmaVirtualAllocate");
    return offset;
}

static void upload_solids(struct app* app, VkCommandBuffer commands)
{
    static struct draw_solid solid;
    const VkBufferCreateInfo info = draw_buffer_info(
        SOLIDS_SIZE, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT |
                         VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    const VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_AUTO};
    create_buffer(app, "solids", &info, &how, &app->solids);
    const VmaVirtualBlockCreateInfo block = {.size = SOLIDS_SIZE};
    draw_require(vmaCreateVirtualBlock(&block, &app->ranges), "vmaCreateVirtualBlock");
    for (uint32_t i = 0; i < DRAW_SOLIDS; ++i) {
        draw_make_solid(i, &solid);
        const VkDeviceSize vertices_size = solid.vertex_count * sizeof(struct draw_vertex);
        const VkDeviceSize indices_size = solid.index_count * sizeof(uint32_t);
        const VkDeviceSize vertices = place_range(app, vertices_size, sizeof(struct draw_vertex));
        const VkDeviceSize indices = place_range(app, indices_size, sizeof(uint32_t));
        draw_record_copy(commands, stage(app, solid.vertices, vertices_size), app->solids.handle,
                         vertices, vertices_size);
        draw_record_copy(commands, stage(app, solid.indices, indices_size), app->solids.handle,
                         indices, indices_size);
        app->places[i] =
            (struct draw_place){.first_index = (uint32_t)(indices / sizeof(uint32_t)),
                                .index_count = solid.index_count,
                                .first_vertex = (int32_t)(vertices / sizeof(struct draw_vertex))};
    }
    VmaStatistics statistics;
    vmaGetVirtualBlockStatistics(app->ranges, &statistics);
    printf("solids: %u ranges, %" PRIu64 " of %" PRIu64 " bytes\n", statistics.allocationCount,
           (uint64_t)statistics.allocationBytes, (uint64_t)statistics.blockBytes);
}

static void upload_texture(struct app* app, VkCommandBuffer commands)
{
    static uint8_t texels[TEXTURE_SIZE];
    const VkImageCreateInfo info =
        draw_image_info(DRAW_TEXTURE_SIZE, DRAW_TEXTURE_SIZE, DRAW_COLOUR_FORMAT,
                        VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT);
    const VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_AUTO};
    create_image(app, "stone", &info, &how, &app->texture);
    draw_make_texture(texels);
    draw_record_texture(commands, stage(app, texels, TEXTURE_SIZE), app->texture.handle);
}

static void upload_all(struct app* app)
{
    const VkCommandBuffer commands = draw_begin(&app->device, 0);
    upload_solids(app, commands);
    upload_texture(app, commands);
    draw_submit(&app->device, 0);
    ++app->submitted;
}

/* ---- what a frame needs ---- */

static void create_targets(struct app* app)
{
    const VkImageCreateInfo colour =
        draw_image_info(DRAW_WIDTH, DRAW_HEIGHT, DRAW_COLOUR_FORMAT,
                        VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    const VmaAllocationCreateInfo own = {.flags = VMA_ALLOCATION_CREATE_DEDICATED_MEMORY_BIT,
                                         .usage = VMA_MEMORY_USAGE_AUTO};
    create_image(app, "colour", &colour, &own, &app->colour);

    /* The image lives only within a frame. Devices with lazily allocated memory need not back
     * it. */
    const VkImageCreateInfo depth = draw_image_info(DRAW_WIDTH, DRAW_HEIGHT, DRAW_DEPTH_FORMAT,
                                                    VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT |
                                                        VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT);
    VmaAllocationCreateInfo lazy = {.usage = VMA_MEMORY_USAGE_GPU_LAZILY_ALLOCATED};
    uint32_t type = 0;
    if (vmaFindMemoryTypeIndexForImageInfo(app->allocator, &depth, &lazy, &type) != VK_SUCCESS) {
        lazy.usage = VMA_MEMORY_USAGE_AUTO;
    }
    create_image(app, "depth", &depth, &lazy, &app->depth);

    const VkBufferCreateInfo picture =
        draw_buffer_info(PICTURE_SIZE, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    const VmaAllocationCreateInfo read = {.flags = VMA_ALLOCATION_CREATE_HOST_ACCESS_RANDOM_BIT |
                                                   VMA_ALLOCATION_CREATE_MAPPED_BIT,
                                          .usage = VMA_MEMORY_USAGE_AUTO};
    create_buffer(app, "picture", &picture, &read, &app->picture);
}

/* Uniforms are written in place. Instances are written in place if the host can access the device's
 * memory, else staged. */
static void create_slot(struct app* app, struct slot* slot)
{
    const VkBufferCreateInfo uniforms =
        draw_buffer_info(sizeof(struct draw_view), VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT);
    const VmaAllocationCreateInfo written = {
        .flags = VMA_ALLOCATION_CREATE_HOST_ACCESS_SEQUENTIAL_WRITE_BIT |
                 VMA_ALLOCATION_CREATE_MAPPED_BIT,
        .usage = VMA_MEMORY_USAGE_AUTO};
    create_buffer(app, "uniforms", &uniforms, &written, &slot->uniforms);

    const VkBufferCreateInfo instances = draw_buffer_info(
        INSTANCES_SIZE, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    const VmaAllocationCreateInfo either = {
        .flags = VMA_ALLOCATION_CREATE_HOST_ACCESS_SEQUENTIAL_WRITE_BIT |
                 VMA_ALLOCATION_CREATE_HOST_ACCESS_ALLOW_TRANSFER_INSTEAD_BIT |
                 VMA_ALLOCATION_CREATE_MAPPED_BIT,
        .usage = VMA_MEMORY_USAGE_AUTO};
    create_buffer(app, "instances", &instances, &either, &slot->instances);
    VkMemoryPropertyFlags flags = 0;
    vmaGetAllocationMemoryProperties(app->allocator, slot->instances.memory, &flags);
    slot->in_place = (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0 && !app->options.stage;
    if (!slot->in_place) {
        const VkBufferCreateInfo staged =
            draw_buffer_info(INSTANCES_SIZE, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
        create_buffer(app, "staged instances", &staged, &written, &slot->staged);
    }
}

static void write_slot(struct app* app, struct slot* slot, float time)
{
    struct draw_instance instances[DRAW_INSTANCES];
    struct draw_view view;
    draw_make_view(time, (float)DRAW_WIDTH / DRAW_HEIGHT, &view);
    draw_make_instances(time, instances);
    const struct buffer* target = slot->in_place ? &slot->instances : &slot->staged;
    memcpy(slot->uniforms.mapped, &view, sizeof view);
    memcpy(target->mapped, instances, sizeof instances);
    const VmaAllocation written[2] = {slot->uniforms.memory, target->memory};
    draw_require(vmaFlushAllocations(app->allocator, 2, written, NULL, NULL),
                 "vmaFlushAllocations");
}

static void draw_frames(struct app* app)
{
    for (uint32_t number = 0; number < DRAW_FRAMES; ++number) {
        const uint32_t index = (uint32_t)(app->submitted % DRAW_SLOTS);
        struct slot* slot = &app->slots[index];
        const VkCommandBuffer commands = draw_begin(&app->device, index);
        release_passed(app, app->submitted + 1 - DRAW_SLOTS);
        vmaSetCurrentFrameIndex(app->allocator, number);
        write_slot(app, slot, (float)number / DRAW_FRAMES);
        struct draw_frame frame = {.slot = index,
                                   .colour = app->colour.handle,
                                   .colour_view = app->colour.view,
                                   .depth = app->depth.handle,
                                   .depth_view = app->depth.view,
                                   .solids = app->solids.handle,
                                   .instances = slot->instances.handle,
                                   .staged_instances = slot->staged.handle,
                                   .picture = number + 1 == DRAW_FRAMES ? app->picture.handle
                                                                        : VK_NULL_HANDLE};
        memcpy(frame.places, app->places, sizeof frame.places);
        draw_record_frame(commands, &app->pipeline, &frame);
        draw_submit(&app->device, index);
        ++app->submitted;
    }
    for (uint32_t i = 0; i < DRAW_SLOTS; ++i) {
        draw_wait(&app->device, i);
    }
    release_passed(app, app->submitted);
}

/* ---- what became of it ---- */

static void report(struct app* app)
{
    const VkPhysicalDeviceMemoryProperties* memory = NULL;
    VmaBudget budgets[VK_MAX_MEMORY_HEAPS];
    VmaTotalStatistics statistics;
    uint32_t over = 0;
    vmaGetMemoryProperties(app->allocator, &memory);
    vmaGetHeapBudgets(app->allocator, budgets);
    for (uint32_t i = 0; i < memory->memoryHeapCount; ++i) {
        over += budgets[i].usage > budgets[i].budget ? 1 : 0;
    }
    vmaCalculateStatistics(app->allocator, &statistics);
    printf("memory: %u allocations, %" PRIu64 " bytes, %u heaps over budget; instances %s\n",
           statistics.total.statistics.allocationCount,
           (uint64_t)statistics.total.statistics.allocationBytes, over,
           app->slots[0].in_place ? "written in place" : "staged");
}

static void write_dump(struct app* app)
{
    char* text = NULL;
    if (app->options.dump == NULL) {
        return;
    }
    vmaBuildStatsString(app->allocator, &text, VK_TRUE);
    FILE* file = fopen(app->options.dump, "w");
    const bool written = file != NULL && text != NULL && fputs(text, file) >= 0;
    draw_require(file != NULL && fclose(file) == 0 && written ? VK_SUCCESS : VK_ERROR_UNKNOWN,
                 "the dump");
    vmaFreeStatsString(app->allocator, text);
}

static void finish_picture(struct app* app)
{
    draw_require(vmaInvalidateAllocation(app->allocator, app->picture.memory, 0, VK_WHOLE_SIZE),
                 "vmaInvalidateAllocation");
    draw_finish_picture(&app->options, app->picture.mapped);
}

static void destroy_image(struct app* app, struct image* image)
{
    vkDestroyImageView(app->device.device, image->view, NULL);
    vmaDestroyImage(app->allocator, image->handle, image->memory);
}

static void destroy_all(struct app* app)
{
    for (uint32_t i = 0; i < DRAW_SLOTS; ++i) {
        struct slot* slot = &app->slots[i];
        vmaDestroyBuffer(app->allocator, slot->uniforms.handle, slot->uniforms.memory);
        vmaDestroyBuffer(app->allocator, slot->instances.handle, slot->instances.memory);
        vmaDestroyBuffer(app->allocator, slot->staged.handle, slot->staged.memory);
    }
    vmaDestroyBuffer(app->allocator, app->picture.handle, app->picture.memory);
    vmaDestroyBuffer(app->allocator, app->solids.handle, app->solids.memory);
    destroy_image(app, &app->depth);
    destroy_image(app, &app->colour);
    destroy_image(app, &app->texture);
    vmaClearVirtualBlock(app->ranges);
    vmaDestroyVirtualBlock(app->ranges);
    vmaDestroyPool(app->allocator, app->staging_pool);
    vmaDestroyAllocator(app->allocator);
}

int main(int argc, char** argv)
{
    static struct app app;
    int exit_code = EXIT_SUCCESS;
    if (!draw_parse_options(argc, argv, &app.options, &exit_code)) {
        return exit_code;
    }
    draw_open_device(&app.device);
    create_allocator(&app);
    create_staging_pool(&app);
    draw_create_pipeline(&app.device, &app.pipeline);
    upload_all(&app);
    create_targets(&app);
    for (uint32_t i = 0; i < DRAW_SLOTS; ++i) {
        create_slot(&app, &app.slots[i]);
        draw_use_resources(&app.device, &app.pipeline, i, app.slots[i].uniforms.handle,
                           app.texture.view);
    }
    draw_frames(&app);
    report(&app);
    write_dump(&app);
    finish_picture(&app);
    draw_destroy_pipeline(&app.device, &app.pipeline);
    destroy_all(&app);
    draw_close_device(&app.device);
    return EXIT_SUCCESS;
}
