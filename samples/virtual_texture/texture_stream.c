/*
 * Streams tiles; see texture_stream.h.
 */
#include "texture_stream.h"

#include <stdlib.h>
#include <string.h>

#define LARGEST_TEXTURE 16384u
#define SMALLEST_TEXTURE 256u
#define FORMAT VK_FORMAT_R8G8B8A8_UNORM

/* One in 64 pixels requests its tile, a different one in each frame. Therefore a tile with few
 * visible pixels may stay without a request for some frames. */
#define KEEP_UPDATES 16u

/* The most tiles that wait in the loader. A longer queue would only load tiles that were wanted
 * long ago. */
#define MOST_LOADING 32u

/* The bytes of a tile on nearly all devices, and the most bytes of one allocation from the
 * device. */
#define BLOCK_UNIT 65536u
#define MOST_BLOCK ((VkDeviceSize)256 << 20)

static uint32_t count_levels(uint32_t texture)
{
    uint32_t count = 1;
    while (texture >> count != 0) {
        ++count;
    }
    return count;
}

static VkDeviceSize count_bytes(uint32_t texture)
{
    VkDeviceSize bytes = 0;
    for (uint32_t level = 0; level < count_levels(texture); ++level) {
        bytes += (VkDeviceSize)4 * (texture >> level) * (texture >> level);
    }
    return bytes;
}

/* Creates a pool whose page block has the size of the budget, so that the device memory equals that
 * of the pages. */
static VkResult create_pool(struct texture_stream* stream, const VkImageCreateInfo* image)
{
    const MaarAllocator allocator = stream->device->allocator;
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO};
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    VkImageCreateInfo sparse = *image;
    sparse.flags |= VK_IMAGE_CREATE_SPARSE_BINDING_BIT | VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT;
    VkResult result = maarChooseMemoryTypeForImage(allocator, &sparse, &how, &choice);
    if (result == VK_SUCCESS) {
        const VkDeviceSize whole = stream->budget / BLOCK_UNIT * BLOCK_UNIT;
        const MaarPoolPagingInfo paging = {.sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
                                           .stitch = VK_TRUE,
                                           .pageBlockSize = whole <= MOST_BLOCK ? whole : 0};
        const MaarPoolCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
                                         .pNext = &paging,
                                         .memoryTypeIndex = choice.memoryTypeIndex,
                                         .pName = "pages of the map"};
        result = maarCreatePool(allocator, &info, &stream->pool);
    }
    return result;
}

static VkResult try_image(struct texture_stream* stream, uint32_t texture,
                          const struct texture_options* options)
{
    const VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = FORMAT,
        .extent = {texture, texture, 1},
        .mipLevels = count_levels(texture),
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
    };
    stream->texture_bytes = count_bytes(texture);
    stream->budget = options->budget_kib != 0 ? (VkDeviceSize)options->budget_kib * 1024
                                              : stream->texture_bytes / options->budget_part;
    VkResult result = create_pool(stream, &info);
    if (result == VK_SUCCESS) {
        const MaarAllocationCreateInfo memory = {.sType =
                                                     MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                                 .pool = stream->pool,
                                                 .pName = "map"};
        const MaarSparseImageCreateInfo sparse = {.sType =
                                                      MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_CREATE_INFO,
                                                  .pImageInfo = &info,
                                                  .pMemoryInfo = &memory};
        result = maarCreateSparseImage(stream->device->allocator, &sparse, &stream->image);
    }
    if (result != VK_SUCCESS) {
        maarDestroyPool(stream->device->allocator, stream->pool);
        stream->pool = VK_NULL_HANDLE;
    }
    return result;
}

/* Finds the requested size, or the largest possible one. */
static int create_image(struct texture_stream* stream, const struct texture_options* options)
{
    struct sample_device* const device = stream->device;
    uint32_t texture = options->texture != 0 ? options->texture : LARGEST_TEXTURE;
    const uint32_t least = options->texture != 0 ? options->texture : SMALLEST_TEXTURE;
    const uint32_t errors = device->messages.count;
    VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    while (texture > device->properties.limits.maxImageDimension2D && texture > least) {
        texture /= 2;
    }
    if (texture > device->properties.limits.maxImageDimension2D) {
        sample_complain("%s has no images of %u x %u texels", device->properties.deviceName,
                        texture, texture);
        return SAMPLE_EXIT_SKIPPED;
    }
    for (;;) {
        result = try_image(stream, texture, options);
        if (result != VK_ERROR_OUT_OF_DEVICE_MEMORY || texture <= least) {
            break;
        }
        texture /= 2;
    }
    if (result == VK_ERROR_FEATURE_NOT_PRESENT || result == VK_ERROR_FORMAT_NOT_SUPPORTED) {
        sample_complain("%s has no partially resident images of this kind",
                        device->properties.deviceName);
        return SAMPLE_EXIT_SKIPPED;
    }
    if (!sample_succeeded(result, "maarCreateSparseImage")) {
        return SAMPLE_EXIT_FAILED;
    }
    device->messages.count = errors;
    stream->texture = texture;
    stream->info.sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_INFO;
    if (!sample_succeeded(maarGetSparseImageInfo(device->allocator, stream->image, &stream->info),
                          "maarGetSparseImageInfo")) {
        return SAMPLE_EXIT_FAILED;
    }
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = stream->info.image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = FORMAT,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, stream->info.mipLevels, 0, 1},
    };
    return sample_succeeded(vkCreateImageView(device->device, &view, NULL, &stream->view),
                            "vkCreateImageView")
               ? SAMPLE_EXIT_OK
               : SAMPLE_EXIT_FAILED;
}

static bool create_commands(struct texture_stream* stream, uint32_t frames)
{
    const VkDevice device = stream->device->device;
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = stream->device->queue_families[0]};
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                             .pNext = &type};
    const VkQueryPoolCreateInfo queries = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                           .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                           .queryCount = 2 * (frames + 1)};
    if (!sample_succeeded(vkCreateCommandPool(device, &pool, NULL, &stream->command_pool),
                          "vkCreateCommandPool") ||
        !sample_succeeded(vkCreateSemaphore(device, &semaphore, NULL, &stream->timeline),
                          "vkCreateSemaphore") ||
        (stream->device->properties.limits.timestampComputeAndGraphics != VK_FALSE &&
         !sample_succeeded(vkCreateQueryPool(device, &queries, NULL, &stream->queries),
                           "vkCreateQueryPool"))) {
        return false;
    }
    const VkCommandBufferAllocateInfo buffers = {.sType =
                                                     VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                 .commandPool = stream->command_pool,
                                                 .commandBufferCount = TEXTURE_UPLOAD_SLOTS};
    return sample_succeeded(vkAllocateCommandBuffers(device, &buffers, stream->commands),
                            "vkAllocateCommandBuffers");
}

static bool create_cache(struct texture_stream* stream, const struct texture_options* options)
{
    const MaarAllocator allocator = stream->device->allocator;
    const MaarTileCacheCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_CREATE_INFO,
        .image = stream->image,
        .budget = options->plant == TEXTURE_PLANT_OVERRUN ? 2 * stream->budget : stream->budget,
        .maxUploadsPerUpdate = TEXTURE_MAX_UPLOADS,
        .keepUpdates = KEEP_UPDATES};
    if (!sample_succeeded(maarCreateTileCache(allocator, &info, &stream->cache),
                          "maarCreateTileCache")) {
        return false;
    }
    MaarTileCacheInfo found = {.sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_INFO};
    if (!sample_succeeded(maarGetTileCacheInfo(allocator, stream->cache, &found),
                          "maarGetTileCacheInfo") ||
        !sample_succeeded(
            maarGetTileCacheLevels(allocator, stream->cache, 0, &stream->level_count, NULL),
            "maarGetTileCacheLevels")) {
        return false;
    }
    stream->levels = malloc(stream->level_count);
    stream->loader = texture_loader_start(stream->texture, found.slotCount,
                                          options->plant == TEXTURE_PLANT_SKIPPED ? 3 : 0);
    if (stream->levels == NULL || stream->loader == NULL) {
        sample_complain("out of memory");
        return false;
    }
    memset(stream->levels, (int)stream->info.mipLevels, stream->level_count);
    return true;
}

/* Submits the recorded binds. */
static bool submit_binds(struct texture_stream* stream, const MaarPoint* after)
{
    return sample_succeeded(
        maarSubmitBinds(stream->device->allocator, after != NULL ? 1 : 0, after, &stream->bound),
        "maarSubmitBinds");
}

int texture_stream_create(struct texture_stream* stream, struct sample_device* device,
                          const struct texture_options* options)
{
    memset(stream, 0, sizeof(*stream));
    stream->device = device;
    const int code = create_image(stream, options);
    if (code != SAMPLE_EXIT_OK) {
        return code;
    }
    /* The first recording gives the image its layout, so it precedes all frames. */
    return create_commands(stream, options->frames) && create_cache(stream, options) &&
                   submit_binds(stream, NULL) && texture_stream_upload(stream)
               ? SAMPLE_EXIT_OK
               : SAMPLE_EXIT_FAILED;
}

VkSemaphore texture_stream_destroy(struct texture_stream* stream)
{
    const VkSemaphore timeline = stream->timeline;
    if (stream->device == NULL) {
        return VK_NULL_HANDLE;
    }
    const VkDevice device = stream->device->device;
    texture_loader_stop(stream->loader);
    maarDestroyTileCache(stream->device->allocator, stream->cache);
    vkDestroyImageView(device, stream->view, NULL);
    maarDestroySparseImage(stream->device->allocator, stream->image);
    maarDestroyPool(stream->device->allocator, stream->pool);
    vkDestroyCommandPool(device, stream->command_pool, NULL);
    vkDestroyQueryPool(device, stream->queries, NULL);
    free(stream->levels);
    memset(stream, 0, sizeof(*stream));
    return timeline;
}

bool texture_stream_update(struct texture_stream* stream, uint32_t request_count,
                           const uint32_t* requests, VkDeviceSize budget,
                           const MaarPoint* last_frame)
{
    const MaarAllocator allocator = stream->device->allocator;
    const MaarTileCacheUpdate update = {
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE,
        .requestCount = request_count,
        .pRequests = requests,
        .budget = budget,
        .maxUploads = stream->loading < MOST_LOADING ? MOST_LOADING - stream->loading : 1};
    MaarTileUpload uploads[TEXTURE_MAX_UPLOADS];
    uint32_t count = TEXTURE_MAX_UPLOADS;
    uint32_t level_count = stream->level_count;
    if (!sample_succeeded(maarUpdateTileCache(allocator, stream->cache, &update, &count, uploads),
                          "maarUpdateTileCache") ||
        !submit_binds(stream, last_frame) ||
        !sample_succeeded(
            maarGetTileCacheLevels(allocator, stream->cache, 0, &level_count, stream->levels),
            "maarGetTileCacheLevels")) {
        return false;
    }
    texture_loader_give(stream->loader, count, uploads);
    stream->loading += count;
    return true;
}

double texture_seconds_between(const struct sample_device* device, VkQueryPool queries,
                               uint32_t first)
{
    uint64_t times[2];
    if (queries == VK_NULL_HANDLE ||
        vkGetQueryPoolResults(device->device, queries, first, 2, sizeof(times), times,
                              sizeof(times[0]), VK_QUERY_RESULT_64_BIT) != VK_SUCCESS) {
        return 0.0;
    }
    return 1e-9 * (double)(times[1] - times[0]) * (double)device->properties.limits.timestampPeriod;
}

void texture_stream_measure(struct texture_stream* stream)
{
    for (uint32_t i = 0; i < stream->value; ++i) {
        const double seconds = texture_seconds_between(stream->device, stream->queries, 2 * i);
        stream->longest_upload =
            seconds > stream->longest_upload ? seconds : stream->longest_upload;
    }
}

static bool record_uploads(struct texture_stream* stream, uint32_t slot, uint32_t count,
                           const MaarTileUpload* uploads)
{
    const VkCommandBuffer commands = stream->commands[slot];
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    const bool timed = stream->queries != VK_NULL_HANDLE;
    const uint32_t query = 2 * (uint32_t)stream->value;
    if (!sample_succeeded(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer")) {
        return false;
    }
    if (timed) {
        vkCmdResetQueryPool(commands, stream->queries, query, 2);
        vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, stream->queries, query);
    }
    if (!sample_succeeded(maarRecordTileUploads(stream->device->allocator, stream->cache, commands,
                                                count, uploads),
                          "maarRecordTileUploads")) {
        return false;
    }
    if (timed) {
        vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, stream->queries,
                            query + 1);
    }
    return sample_succeeded(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
}

static bool submit_uploads(struct texture_stream* stream, uint32_t slot)
{
    const VkSemaphoreSubmitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                        .semaphore = stream->bound.semaphore,
                                        .value = stream->bound.value,
                                        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSemaphoreSubmitInfo signal = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                          .semaphore = stream->timeline,
                                          .value = stream->value + 1,
                                          .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkCommandBufferSubmitInfo commands = {.sType =
                                                    VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                                .commandBuffer = stream->commands[slot]};
    const VkSubmitInfo2 submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                  .waitSemaphoreInfoCount =
                                      stream->bound.semaphore != VK_NULL_HANDLE ? 1 : 0,
                                  .pWaitSemaphoreInfos = &wait,
                                  .commandBufferInfoCount = 1,
                                  .pCommandBufferInfos = &commands,
                                  .signalSemaphoreInfoCount = 1,
                                  .pSignalSemaphoreInfos = &signal};
    const MaarPoint point = {stream->timeline, stream->value + 1};
    if (!sample_succeeded(vkQueueSubmit2(stream->device->queues[0], 1, &submit, VK_NULL_HANDLE),
                          "vkQueueSubmit2")) {
        return false;
    }
    ++stream->value;
    stream->values[slot] = stream->value;
    return sample_succeeded(maarEndTileUploads(stream->device->allocator, stream->cache, &point),
                            "maarEndTileUploads");
}

bool texture_stream_upload(struct texture_stream* stream)
{
    const uint32_t slot = (uint32_t)(stream->value % TEXTURE_UPLOAD_SLOTS);
    uint64_t passed = 0;
    if (!sample_succeeded(
            vkGetSemaphoreCounterValue(stream->device->device, stream->timeline, &passed),
            "vkGetSemaphoreCounterValue")) {
        return false;
    }
    if (passed < stream->values[slot]) {
        ++stream->late_uploads;
        return true;
    }
    MaarTileUpload uploads[TEXTURE_MAX_UPLOADS];
    const uint32_t count = texture_loader_take(stream->loader, TEXTURE_MAX_UPLOADS, uploads);
    stream->loading -= count;
    if (count == 0 && stream->value != 0) {
        return true;
    }
    return record_uploads(stream, slot, count, uploads) && submit_uploads(stream, slot);
}
