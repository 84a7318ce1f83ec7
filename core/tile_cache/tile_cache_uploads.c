/*
 * Uploads of a tile cache: started, recorded, ended by a point, and then visible. The whole image
 * is in VK_IMAGE_LAYOUT_GENERAL. The barriers here order copies and reads. The submission's wait
 * for the binds orders everything else.
 */
#include "core/tile_cache/tile_cache_uploads.h"

#include "core/device_calls.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/allocator_state.h"
#include "core/memory/mapping.h"

#include <string.h>

/* The number of copies in one command. They are on the stack. */
enum { COPIES = 16 };

/* The part of its level that a tile fills; tiles at the edge are cut. */
struct tile_part {
    VkOffset3D offset;
    VkExtent3D extent;
};

static struct tile_part part_of(struct maar_tile_cache* cache, uint32_t tile)
{
    const struct maar_tile_level* level = &cache->grid.levels[cache->tiles[tile].level];
    uint32_t at[3];
    uint32_t rest[3];
    maar_tile_place(level, maar_cache_number(cache, tile), at);
    for (uint32_t axis = 0; axis < 3; ++axis) {
        at[axis] *= cache->grid.tile[axis];
        rest[axis] = level->extent[axis] - at[axis];
        rest[axis] = rest[axis] < cache->grid.tile[axis] ? rest[axis] : cache->grid.tile[axis];
    }
    return (struct tile_part){
        .offset = {(int32_t)at[0], (int32_t)at[1], (int32_t)at[2]},
        .extent = {rest[0], rest[1], rest[2]},
    };
}

/* ---- handing out ---- */

void maar_cache_start_upload(struct maar_tile_cache* cache, uint32_t tile, MaarTileUpload* upload)
{
    struct maar_cache_tile* t = &cache->tiles[tile];
    const struct tile_part part = part_of(cache, tile);
    MAAR_DEBUG_ASSERT(t->state == MAAR_TILE_UNFILLED);
    struct maar_upload_slots* staging = &cache->staging;
    const struct maar_upload_slot* slot = maar_upload_start(staging, tile);
    cache->unfilled_count -= t->level >= cache->first_pinned ? 1 : 0;
    t->state = MAAR_TILE_UPLOADING;
    *upload = (MaarTileUpload){
        .id = maar_upload_id(staging, slot),
        .mipLevel = t->level,
        .arrayLayer = maar_cache_layer(cache, tile),
        .offset = part.offset,
        .extent = part.extent,
        .pData = staging->data + maar_upload_place(staging, slot),
        .size = staging->size,
        .rowPitch = cache->row_pitch,
        .slicePitch = cache->slice_pitch,
    };
}

/* Moves uploads that the program is filling to another state: all of them, or none after a
 * report. */
static VkResult move_slots(struct maar_tile_cache* cache, const char* call, uint32_t count,
                           const MaarTileUpload* uploads, enum maar_upload_state state)
{
    return maar_upload_move(&cache->staging, call, count, uploads != NULL ? &uploads->id : NULL,
                            sizeof *uploads, state);
}

/* Returns the slot of an upload that was found to be there. */
static struct maar_upload_slot* slot_of(struct maar_tile_cache* cache, const MaarTileUpload* upload)
{
    return &cache->staging.slots[(uint32_t)upload->id];
}

/* ---- recording ---- */

static VkResult flush_slots(struct maar_tile_cache* cache, const char* call, uint32_t count,
                            const MaarTileUpload* uploads)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; result == VK_SUCCESS && i < count; ++i) {
        result = maar_upload_flush(&cache->staging, call, slot_of(cache, &uploads[i]),
                                   cache->staging.size);
    }
    return result;
}

static VkBufferImageCopy copy_of(struct maar_tile_cache* cache, const struct maar_upload_slot* slot)
{
    const uint32_t tile = slot->owner;
    const struct tile_part part = part_of(cache, tile);
    return (VkBufferImageCopy){
        .bufferOffset = maar_upload_place(&cache->staging, slot),
        .bufferRowLength = cache->grid.tile[0],
        .bufferImageHeight = cache->grid.tile[1],
        .imageSubresource =
            {
                .aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
                .mipLevel = cache->tiles[tile].level,
                .baseArrayLayer = maar_cache_layer(cache, tile),
                .layerCount = 1,
            },
        .imageOffset = part.offset,
        .imageExtent = part.extent,
    };
}

static void record_copies(struct maar_tile_cache* cache, VkCommandBuffer commands, uint32_t count,
                          const MaarTileUpload* uploads)
{
    const struct maar_device* device = &cache->allocator->device;
    VkBufferImageCopy copies[COPIES];
    for (uint32_t done = 0; done < count; done += COPIES) {
        const uint32_t here = count - done < COPIES ? count - done : (uint32_t)COPIES;
        for (uint32_t i = 0; i < here; ++i) {
            copies[i] = copy_of(cache, slot_of(cache, &uploads[done + i]));
        }
        device->vkCmdCopyBufferToImage(commands, cache->staging.buffer, cache->image->image,
                                       VK_IMAGE_LAYOUT_GENERAL, here, copies);
    }
}

/* Records the transition before the first use of the image. */
static void record_transition(struct maar_tile_cache* cache, VkCommandBuffer commands)
{
    const struct maar_device* device = &cache->allocator->device;
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_MEMORY_READ_BIT,
        .oldLayout = VK_IMAGE_LAYOUT_UNDEFINED,
        .newLayout = VK_IMAGE_LAYOUT_GENERAL,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = cache->image->image,
        .subresourceRange =
            {
                .aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
                .levelCount = VK_REMAINING_MIP_LEVELS,
                .layerCount = VK_REMAINING_ARRAY_LAYERS,
            },
    };
    device->vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                                 VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1,
                                 &barrier);
    cache->in_general = true;
    cache->transition_open = true;
}

/* Records the barrier after which later commands of this queue see what was copied. */
static void record_end(struct maar_tile_cache* cache, VkCommandBuffer commands)
{
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT,
    };
    cache->allocator->device.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                                  VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1,
                                                  &barrier, 0, NULL, 0, NULL);
}

VKAPI_ATTR VkResult VKAPI_CALL maarRecordTileUploads(MaarAllocator allocator, MaarTileCache cache,
                                                     VkCommandBuffer commandBuffer,
                                                     uint32_t uploadCount,
                                                     const MaarTileUpload* pUploads)
{
    struct maar_tile_cache* it = NULL;
    VkResult result = maar_check_cache(allocator, __func__, cache, &it);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (commandBuffer == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__,
                           "commandBuffer is NULL");
    }
    result =
        maar_require_functions(allocator, &allocator->device, __func__, MAAR_FUNCTIONS_COMMANDS);
    if (result == VK_SUCCESS) {
        result = move_slots(it, __func__, uploadCount, pUploads, MAAR_UPLOAD_RECORDED);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    result = flush_slots(it, __func__, uploadCount, pUploads);
    if (result != VK_SUCCESS) {
        for (uint32_t i = 0; i < uploadCount; ++i) {
            slot_of(it, &pUploads[i])->state = MAAR_UPLOAD_STARTED;
        }
        return result;
    }
    if (!it->in_general) {
        record_transition(it, commandBuffer);
    }
    if (uploadCount > 0) {
        record_copies(it, commandBuffer, uploadCount, pUploads);
        record_end(it, commandBuffer);
    }
    for (uint32_t i = 0; i < uploadCount; ++i) {
        maar_upload_push(&it->staging, &it->recorded_slot, slot_of(it, &pUploads[i]));
    }
    return VK_SUCCESS;
}

/* ---- ending ---- */

/* Adds a point, or raises the value of a point on the same timeline. Returns how many points there
 * are then: MAAR_MAX_POINTS plus one if the point does not fit. */
static uint32_t note_ending(const MaarPoint* point, uint32_t count, MaarPoint* points)
{
    for (uint32_t i = 0; i < count; ++i) {
        if (points[i].semaphore == point->semaphore) {
            points[i].value = points[i].value < point->value ? point->value : points[i].value;
            return count;
        }
    }
    if (count < MAAR_MAX_POINTS) {
        points[count] = *point;
    }
    return count + 1;
}

/* Lists the timelines that uploads wait for, each with its latest value, for destruction to wait
 * for. Returns how many there are: MAAR_MAX_POINTS plus one if they do not fit. */
static uint32_t list_endings(struct maar_tile_cache* cache, const MaarPoint* extra,
                             MaarPoint* points)
{
    uint32_t count = 0;
    for (uint32_t i = cache->ending_slot; i != MAAR_NO_UPLOAD && count <= MAAR_MAX_POINTS;
         i = cache->staging.slots[i].next) {
        count = note_ending(&cache->staging.slots[i].point, count, points);
    }
    return extra != NULL && count <= MAAR_MAX_POINTS ? note_ending(extra, count, points) : count;
}

/* Gives the recorded uploads their point, or, without a point, back to the program. */
static void end_recorded(struct maar_tile_cache* cache, const MaarPoint* point)
{
    while (cache->recorded_slot != MAAR_NO_UPLOAD) {
        struct maar_upload_slot* slot = &cache->staging.slots[cache->recorded_slot];
        cache->recorded_slot = slot->next;
        slot->state = MAAR_UPLOAD_STARTED;
        if (point != NULL) {
            slot->state = MAAR_UPLOAD_ENDING;
            slot->point = *point;
            maar_upload_push(&cache->staging, &cache->ending_slot, slot);
        }
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarEndTileUploads(MaarAllocator allocator, MaarTileCache cache,
                                                  const MaarPoint* pPoint)
{
    struct maar_tile_cache* it = NULL;
    VkResult result = maar_check_cache(allocator, __func__, cache, &it);
    if (result == VK_SUCCESS && pPoint != NULL) {
        MaarPoint points[MAAR_MAX_POINTS];
        result = maar_retire_check_points(&allocator->retire, __func__, 1, pPoint);
        if (result == VK_SUCCESS && it->recorded_slot != MAAR_TILE_NONE &&
            list_endings(it, pPoint, points) > MAAR_MAX_POINTS) {
            return maar_fail(
                allocator, VK_ERROR_TOO_MANY_OBJECTS, MAAR_MESSAGE_ID_TOO_MANY_TIMELINES, __func__,
                "uploads are under way on %d other timelines already", MAAR_MAX_POINTS);
        }
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    end_recorded(it, pPoint);
    if (pPoint == NULL && it->transition_open) {
        it->in_general = false;
    }
    it->transition_open = false;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCancelTileUploads(MaarAllocator allocator, MaarTileCache cache,
                                                     uint32_t uploadCount,
                                                     const MaarTileUpload* pUploads)
{
    struct maar_tile_cache* it = NULL;
    VkResult result = maar_check_cache(allocator, __func__, cache, &it);
    if (result == VK_SUCCESS) {
        result = move_slots(it, __func__, uploadCount, pUploads, MAAR_UPLOAD_FREE);
    }
    for (uint32_t i = 0; result == VK_SUCCESS && i < uploadCount; ++i) {
        struct maar_upload_slot* slot = slot_of(it, &pUploads[i]);
        struct maar_cache_tile* t = &it->tiles[slot->owner];
        t->state = MAAR_TILE_UNFILLED;
        it->unfilled_count += t->level >= it->first_pinned ? 1 : 0;
        ++it->info.cancelledCount;
        maar_upload_end(&it->staging, slot);
    }
    return result;
}

/* The values of timelines. An update reads each of them once. */
struct known_values {
    uint32_t count;
    MaarPoint values[MAAR_MAX_POINTS];
};

static VkResult value_of(struct maar_tile_cache* cache, struct known_values* known,
                         VkSemaphore semaphore, uint64_t* value)
{
    const struct maar_device* device = &cache->allocator->device;
    for (uint32_t i = 0; i < known->count; ++i) {
        if (known->values[i].semaphore == semaphore) {
            *value = known->values[i].value;
            return VK_SUCCESS;
        }
    }
    VkResult result = VK_SUCCESS;
    if (semaphore == VK_NULL_HANDLE) {
        *value = maar_atomic64_load(&cache->allocator->retire.host_value);
    } else {
        maar_lock_rank_expect_none();
        result = device->vkGetSemaphoreCounterValue(device->handle, semaphore, value);
    }
    if (result == VK_SUCCESS && known->count < MAAR_MAX_POINTS) {
        known->values[known->count++] = (MaarPoint){semaphore, *value};
    }
    return result;
}

static void complete(struct maar_tile_cache* cache, struct maar_upload_slot* slot)
{
    struct maar_cache_tile* t = &cache->tiles[slot->owner];
    t->state = MAAR_TILE_VISIBLE;
    ++cache->info.visibleTileCounts[t->level];
    ++cache->info.completedCount;
    ++cache->info.levelsGeneration;
    maar_upload_end(&cache->staging, slot);
}

/* Reads the timelines that uploads wait for. */
static VkResult read_endings(struct maar_tile_cache* cache, struct known_values* known)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = cache->ending_slot; i != MAAR_NO_UPLOAD && result == VK_SUCCESS;
         i = cache->staging.slots[i].next) {
        uint64_t value = 0;
        result = value_of(cache, known, cache->staging.slots[i].point.semaphore, &value);
    }
    return result;
}

/* Makes uploads visible whose points have passed. All their timelines have been read. */
static VkResult complete_endings(struct maar_tile_cache* cache, struct known_values* known)
{
    uint32_t* link = &cache->ending_slot;
    while (*link != MAAR_NO_UPLOAD) {
        struct maar_upload_slot* slot = &cache->staging.slots[*link];
        uint64_t value = 0;
        const VkResult result = value_of(cache, known, slot->point.semaphore, &value);
        if (result != VK_SUCCESS) {
            return result;
        }
        if (value >= slot->point.value) {
            *link = slot->next;
            complete(cache, slot);
        } else {
            link = &slot->next;
        }
    }
    return VK_SUCCESS;
}

/* Reads all values before the first tile changes, since reading may fail. */
VkResult maar_cache_complete(struct maar_tile_cache* cache)
{
    struct known_values known = {.count = 0};
    const VkResult result = read_endings(cache, &known);
    return result == VK_SUCCESS ? complete_endings(cache, &known) : result;
}

uint32_t maar_cache_ending_points(struct maar_tile_cache* cache, MaarPoint* points)
{
    return list_endings(cache, NULL, points);
}

/* ---- what is visible ---- */

VKAPI_ATTR VkResult VKAPI_CALL maarGetTileCacheLevels(MaarAllocator allocator, MaarTileCache cache,
                                                      uint32_t arrayLayer, uint32_t* pCount,
                                                      uint8_t* pLevels)
{
    struct maar_tile_cache* it = NULL;
    VkResult result = maar_check_cache(allocator, __func__, cache, &it);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pCount == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__, "pCount is NULL");
    }
    if (arrayLayer >= it->layers) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                         __func__, "arrayLayer is %u, and the image has %u layers", arrayLayer,
                         it->layers);
    }
    const uint32_t count = it->grid.levels[0].count;
    if (pLevels == NULL) {
        *pCount = count;
        return VK_SUCCESS;
    }
    if (it->levels_layer != arrayLayer || it->levels_generation != it->info.levelsGeneration) {
        const struct maar_cache_tile* tiles = it->tiles + (size_t)arrayLayer * it->grid.total;
        for (uint32_t i = 0; i < it->grid.total; ++i) {
            it->levels[i] = tiles[i].state == MAAR_TILE_VISIBLE;
        }
        maar_tile_usable_levels(&it->grid, true, it->levels);
        it->levels_layer = arrayLayer;
        it->levels_generation = it->info.levelsGeneration;
    }
    *pCount = *pCount < count ? *pCount : count;
    memcpy(pLevels, it->levels, *pCount);
    return *pCount < count ? VK_INCOMPLETE : VK_SUCCESS;
}
