/*
 * The program after the port to Maar. This file contains everything about memory; draw_vulkan.c
 * contains everything else. draw_with_vma.c is the same program with VulkanMemoryAllocator.
 */
#include "draw_vulkan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "maar/maar.h"
#include "maar/volk.h"

#define STAGING_BLOCK ((VkDeviceSize)1 << 20)
#define SOLIDS_SIZE ((VkDeviceSize)1 << 16)
#define INSTANCES_SIZE (sizeof(struct draw_instance) * DRAW_INSTANCES)
#define TEXTURE_SIZE ((VkDeviceSize)DRAW_TEXTURE_SIZE * DRAW_TEXTURE_SIZE * 4)
#define PICTURE_SIZE ((VkDeviceSize)DRAW_WIDTH * DRAW_HEIGHT * 4)

struct buffer {
    VkBuffer handle;
    MaarAllocation memory;
    void* mapped;
};

struct image {
    VkImage handle;
    MaarAllocation memory;
    VkImageView view;
};

struct slot {
    struct buffer uniforms, instances, staged;
    bool in_place; /* instances are written directly into the device's buffer */
};

struct app {
    struct draw_device device;
    struct draw_options options;
    struct draw_pipeline pipeline;
    uint64_t submitted;
    MaarAllocator allocator;
    MaarPool staging_pool;
    MaarRangeAllocator ranges; /* of the buffer with all solids */
    struct buffer solids, picture;
    struct draw_place places[DRAW_SOLIDS];
    struct image texture, colour, depth;
    struct slot slots[DRAW_SLOTS];
};

static void VKAPI_CALL print_message(void* user_data, const MaarMessage* report)
{
    (void)user_data;
    fprintf(stderr, "maar: %s\n", report->pText);
}

static void create_allocator(struct app* app)
{
    MaarAllocatorCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
                                    .physicalDevice = app->device.physical,
                                    .device = app->device.device,
                                    .instance = app->device.instance,
                                    .apiVersion = DRAW_API_VERSION,
                                    .enabledExtensionCount = app->device.extension_count,
                                    .ppEnabledExtensionNames = app->device.extensions,
                                    .pEnabledFeatures = &app->device.features,
                                    .pfnMessage = print_message};
    maarUseVolk(&info);
    draw_require(maarCreateAllocator(&info, &app->allocator), "maarCreateAllocator");
}

/* Staging buffers are created and destroyed in order, so their pool has linear placement. */
static void create_staging_pool(struct app* app)
{
    const VkBufferCreateInfo buffer = draw_buffer_info(65536, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .usage = MAAR_MEMORY_USAGE_UPLOAD};
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    draw_require(maarChooseMemoryTypeForBuffer(app->allocator, &buffer, &how, &choice),
                 "maarChooseMemoryTypeForBuffer");
    const MaarPoolCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
                                     .memoryTypeIndex = choice.memoryTypeIndex,
                                     .strategy = MAAR_PLACEMENT_STRATEGY_LINEAR,
                                     .blockSize = STAGING_BLOCK,
                                     .pName = "staging"};
    draw_require(maarCreatePool(app->allocator, &info, &app->staging_pool), "maarCreatePool");
}

/* An allocation receives its name at its creation. */
static MaarAllocationCreateInfo memory_for(MaarMemoryUsage usage, MaarAllocationCreateFlags flags,
                                           const char* name)
{
    return (MaarAllocationCreateInfo){.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                      .usage = usage,
                                      .flags = flags,
                                      .pName = name};
}

static void create_buffer(struct app* app, const VkBufferCreateInfo* info,
                          const MaarAllocationCreateInfo* how, struct buffer* buffer)
{
    draw_require(maarCreateBuffer(app->allocator, info, how, &buffer->handle, &buffer->memory),
                 "maarCreateBuffer");
    buffer->mapped = maarGetMappedData(app->allocator, buffer->memory);
}

static void create_image(struct app* app, const VkImageCreateInfo* info,
                         const MaarAllocationCreateInfo* how, struct image* image)
{
    draw_require(maarCreateImage(app->allocator, info, how, &image->handle, &image->memory),
                 "maarCreateImage");
    image->view = draw_create_view(&app->device, image->handle, info->format);
}

/* ---- uploads ---- */

/* Creates a buffer with these bytes from the staging pool. It lives until the next submission is
 * done. */
static VkBuffer stage(struct app* app, const void* bytes, VkDeviceSize size)
{
    const VkBufferCreateInfo info = draw_buffer_info(size, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
    MaarAllocationCreateInfo how = memory_for(MAAR_MEMORY_USAGE_UPLOAD, 0, "staging");
    how.pool = app->staging_pool;
    struct buffer buffer;
    create_buffer(app, &info, &how, &buffer);
    draw_require(maarCopyToAllocation(app->allocator, buffer.memory, 0, size, bytes),
                 "maarCopyToAllocation");
    /* The buffer's end is a point of the host timeline, which release_passed() advances. So the
     * program needs no list. */
    const MaarPoint point = {VK_NULL_HANDLE, app->submitted + 1};
    draw_require(maarDestroyBufferAfter(app->allocator, buffer.handle, buffer.memory, 1, &point),
                 "maarDestroyBufferAfter");
    return buffer.handle;
}

/* Destroys the staging buffers of submissions that have been executed. */
static void release_passed(struct app* app, uint64_t done)
{
    draw_require(maarAdvanceHostTimeline(app->allocator, done), "maarAdvanceHostTimeline");
    draw_require(maarCollect(app->allocator, NULL), "maarCollect");
}

/* All vertices and indices lie in one buffer. A range allocator chooses their offsets. */
static VkDeviceSize place_range(struct app* app, VkDeviceSize size, VkDeviceSize alignment)
{
    const MaarRangeAllocateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO, .size = size, .alignment = alignment};
    MaarRange range = VK_NULL_HANDLE;
    VkDeviceSize offset = 0;
    draw_require(maarAllocateRange(app->ranges, &info, &range, &offset), "maarAllocateRange");
    return offset;
}

static void upload_solids(struct app* app, VkCommandBuffer commands)
{
    static struct draw_solid solid;
    const VkBufferCreateInfo info = draw_buffer_info(
        SOLIDS_SIZE, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT |
                         VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    const MaarAllocationCreateInfo how = memory_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL, 0, "solids");
    create_buffer(app, &info, &how, &app->solids);
    const MaarRangeAllocatorCreateInfo block = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO, .size = SOLIDS_SIZE};
    draw_require(maarCreateRangeAllocator(&block, &app->ranges), "maarCreateRangeAllocator");
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
    MaarRangeStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_RANGE_STATISTICS};
    draw_require(maarGetRangeStatistics(app->ranges, &statistics), "maarGetRangeStatistics");
    printf("solids: %u ranges, %" PRIu64 " of %" PRIu64 " bytes\n", statistics.rangeCount,
           (uint64_t)statistics.usedSize, (uint64_t)statistics.size);
}

static void upload_texture(struct app* app, VkCommandBuffer commands)
{
    static uint8_t texels[TEXTURE_SIZE];
    const VkImageCreateInfo info =
        draw_image_info(DRAW_TEXTURE_SIZE, DRAW_TEXTURE_SIZE, DRAW_COLOUR_FORMAT,
                        VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT);
    const MaarAllocationCreateInfo how = memory_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL, 0, "stone");
    create_image(app, &info, &how, &app->texture);
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
    MaarAllocationCreateInfo own = memory_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL, 0, "colour");
    own.dedicated = MAAR_DEDICATED_ALWAYS;
    create_image(app, &colour, &own, &app->colour);

    /* The image lives only within a frame. Devices with lazily allocated memory need not back
     * it. */
    const VkImageCreateInfo depth = draw_image_info(DRAW_WIDTH, DRAW_HEIGHT, DRAW_DEPTH_FORMAT,
                                                    VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT |
                                                        VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT);
    const MaarAllocationCreateInfo lazy = memory_for(MAAR_MEMORY_USAGE_TRANSIENT, 0, "depth");
    create_image(app, &depth, &lazy, &app->depth);

    const VkBufferCreateInfo picture =
        draw_buffer_info(PICTURE_SIZE, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    const MaarAllocationCreateInfo read =
        memory_for(MAAR_MEMORY_USAGE_READBACK, MAAR_ALLOCATION_CREATE_MAPPED_BIT, "picture");
    create_buffer(app, &picture, &read, &app->picture);
}

/* Uniforms are written in place. Instances are written in place if the host can access the device's
 * memory, else staged. */
static void create_slot(struct app* app, struct slot* slot)
{
    const VkBufferCreateInfo uniforms =
        draw_buffer_info(sizeof(struct draw_view), VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT);
    const MaarAllocationCreateInfo written =
        memory_for(MAAR_MEMORY_USAGE_DEVICE_UPLOAD, MAAR_ALLOCATION_CREATE_MAPPED_BIT, "uniforms");
    create_buffer(app, &uniforms, &written, &slot->uniforms);

    const VkBufferCreateInfo instances = draw_buffer_info(
        INSTANCES_SIZE, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    MaarAllocationCreateInfo either = memory_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL, 0, "instances");
    either.preferredFlags =
        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
    create_buffer(app, &instances, &either, &slot->instances);
    MaarAllocationInfo made = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    draw_require(maarGetAllocationInfo(app->allocator, slot->instances.memory, &made),
                 "maarGetAllocationInfo");
    slot->in_place =
        (made.propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0 && !app->options.stage;
    if (slot->in_place) {
        draw_require(maarMapMemory(app->allocator, slot->instances.memory, &slot->instances.mapped),
                     "maarMapMemory");
    } else {
        const VkBufferCreateInfo staged =
            draw_buffer_info(INSTANCES_SIZE, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
        const MaarAllocationCreateInfo upload = memory_for(
            MAAR_MEMORY_USAGE_UPLOAD, MAAR_ALLOCATION_CREATE_MAPPED_BIT, "staged instances");
        create_buffer(app, &staged, &upload, &slot->staged);
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
    const MaarAllocation written[2] = {slot->uniforms.memory, target->memory};
    draw_require(maarFlushAllocations(app->allocator, 2, written, NULL, NULL),
                 "maarFlushAllocations");
}

static void draw_frames(struct app* app)
{
    for (uint32_t number = 0; number < DRAW_FRAMES; ++number) {
        const uint32_t index = (uint32_t)(app->submitted % DRAW_SLOTS);
        struct slot* slot = &app->slots[index];
        const VkCommandBuffer commands = draw_begin(&app->device, index);
        release_passed(app, app->submitted + 1 - DRAW_SLOTS);
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
    MaarHeapBudget budgets[VK_MAX_MEMORY_HEAPS];
    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    uint32_t heap_count = VK_MAX_MEMORY_HEAPS;
    uint32_t over = 0;
    for (uint32_t i = 0; i < VK_MAX_MEMORY_HEAPS; ++i) {
        budgets[i] = (MaarHeapBudget){.sType = MAAR_STRUCTURE_TYPE_HEAP_BUDGET};
    }
    draw_require(maarGetHeapBudgets(app->allocator, &heap_count, budgets), "maarGetHeapBudgets");
    for (uint32_t i = 0; i < heap_count; ++i) {
        over += budgets[i].usage > budgets[i].budget ? 1 : 0;
    }
    draw_require(maarGetStatistics(app->allocator, VK_NULL_HANDLE, &statistics),
                 "maarGetStatistics");
    printf("memory: %u allocations, %" PRIu64 " bytes, %u heaps over budget; instances %s\n",
           statistics.allocationCount, (uint64_t)statistics.allocationBytes, over,
           app->slots[0].in_place ? "written in place" : "staged");
}

/* Writes a dump in the schema of VMA's viewers. */
static void write_dump(struct app* app)
{
    const MaarDumpInfo info = {.sType = MAAR_STRUCTURE_TYPE_DUMP_INFO,
                               .format = MAAR_DUMP_FORMAT_VMA,
                               .detailed = VK_TRUE};
    size_t size = 0; /* suffices as long as nobody allocates between the calls */
    if (app->options.dump == NULL) {
        return;
    }
    draw_require(maarWriteDump(app->allocator, &info, &size, NULL), "maarWriteDump");
    char* text = malloc(size);
    draw_require(text != NULL ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY, "malloc");
    draw_require(maarWriteDump(app->allocator, &info, &size, text), "maarWriteDump");
    FILE* file = fopen(app->options.dump, "w");
    const bool written = file != NULL && fputs(text, file) >= 0;
    draw_require(file != NULL && fclose(file) == 0 && written ? VK_SUCCESS : VK_ERROR_UNKNOWN,
                 "the dump");
    free(text);
}

static void finish_picture(struct app* app)
{
    draw_require(maarInvalidateAllocation(app->allocator, app->picture.memory, 0, VK_WHOLE_SIZE),
                 "maarInvalidateAllocation");
    draw_finish_picture(&app->options, app->picture.mapped);
}

static void destroy_image(struct app* app, struct image* image)
{
    vkDestroyImageView(app->device.device, image->view, NULL);
    maarDestroyImage(app->allocator, image->handle, image->memory);
}

static void destroy_all(struct app* app)
{
    for (uint32_t i = 0; i < DRAW_SLOTS; ++i) {
        struct slot* slot = &app->slots[i];
        maarDestroyBuffer(app->allocator, slot->uniforms.handle, slot->uniforms.memory);
        maarDestroyBuffer(app->allocator, slot->instances.handle, slot->instances.memory);
        maarDestroyBuffer(app->allocator, slot->staged.handle, slot->staged.memory);
    }
    maarDestroyBuffer(app->allocator, app->picture.handle, app->picture.memory);
    maarDestroyBuffer(app->allocator, app->solids.handle, app->solids.memory);
    destroy_image(app, &app->depth);
    destroy_image(app, &app->colour);
    destroy_image(app, &app->texture);
    maarDestroyRangeAllocator(app->ranges);
    maarDestroyPool(app->allocator, app->staging_pool);
    maarDestroyAllocator(app->allocator);
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
