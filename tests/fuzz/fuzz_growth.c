/*
 * Growable arrays and partially resident images on a simulated device, driven by bytes, while host
 * memory and the driver fail on demand. Counts of the arrays and tiles of the images are compared
 * with naive ones after each step.
 */
#include "tests/fuzz/fuzz_device.h"
#include "tests/tiles/tile_images.h"

enum { GROWN_ARRAYS = 3, GROWN_IMAGES = 2, GROWN_LAYERS = 3, GROWN_LEVELS = 12, GROWN_TILES = 256 };

struct grown_array {
    MaarArray array;
    uint64_t count;
    uint64_t capacity;
};

struct grown_image {
    MaarSparseImage image;
    MaarSparseImageInfo info;
    VkExtent3D extent;
    uint32_t tiles[GROWN_LEVELS][3]; /* of a level above the tail */
    bool there[GROWN_LAYERS][GROWN_LEVELS][GROWN_TILES];
    bool tail[GROWN_LAYERS];
};

struct growth_world {
    struct fuzz_device device;
    MaarSimulatedProfile profile;
    VkSemaphore timeline;
    uint64_t value;
    struct grown_array arrays[GROWN_ARRAYS];
    struct grown_image images[GROWN_IMAGES];
};

static MaarAllocator allocator_of(const struct growth_world* world)
{
    return world->device.rig.allocator;
}

/* ---- arrays ---- */

static MaarArrayInfo array_info(const struct growth_world* world, const struct grown_array* array)
{
    MaarArrayInfo info = {.sType = MAAR_STRUCTURE_TYPE_ARRAY_INFO};
    fuzz_require(maarGetArrayInfo(allocator_of(world), array->array, &info) == VK_SUCCESS);
    fuzz_require(info.count == array->count && info.count <= info.capacity);
    fuzz_require(info.capacity <= info.maxCount && info.elementSize != 0);
    return info;
}

static void make_array(struct growth_world* world, struct grown_array* array)
{
    struct fuzz_input* input = &world->device.input;
    const VkBufferCreateInfo buffer = rig_buffer_info(1 + fuzz_scaled(input, 26));
    const uint8_t way = fuzz_byte(input);
    const MaarArrayCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO,
        .elementSize = fuzz_scaled(input, 16),
        .growSize = (way & 1) != 0 ? fuzz_scaled(input, 24) : 0,
        .reservation =
            {
                .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                .flags = (way & 2) != 0 ? MAAR_RESERVATION_CREATE_COPYING_BIT : 0u,
                .pBufferInfo = &buffer,
            },
    };
    const VkResult result = maarCreateArray(allocator_of(world), &info, &array->array);
    fuzz_require((result == VK_SUCCESS) == (array->array != VK_NULL_HANDLE));
    if (result == VK_ERROR_VALIDATION_FAILED_EXT) {
        fuzz_require(info.elementSize == 0 || info.elementSize > buffer.size);
    } else if (fuzz_device_allow(&world->device, result) == VK_SUCCESS) {
        *array = (struct grown_array){.array = array->array};
        fuzz_require(array_info(world, array).maxCount == buffer.size / info.elementSize);
    }
}

/* A number of elements that mostly makes sense. */
static uint64_t draw_count(struct growth_world* world, const MaarArrayInfo* info)
{
    const uint8_t way = fuzz_byte(&world->device.input);
    if (way >= 250) {
        return fuzz_scaled(&world->device.input, 64);
    }
    const uint64_t part = info->maxCount / 16 + 1;
    return (way & 1) != 0 ? fuzz_below(&world->device.input, part) : (way >> 1) % 32;
}

static void grow_array(struct growth_world* world, struct grown_array* array, bool append)
{
    uint64_t first = UINT64_MAX;
    const MaarArrayInfo before = array_info(world, array);
    const uint64_t drawn = draw_count(world, &before);
    const VkResult result = append
                                ? maarAppendArray(allocator_of(world), array->array, drawn, &first)
                                : maarReserveArray(allocator_of(world), array->array, drawn);
    const uint64_t room = before.maxCount - (append ? before.count : 0);
    if (result == VK_SUCCESS) {
        fuzz_require(drawn <= room);
        fuzz_require(!append || first == array->count);
        array->count += append ? drawn : 0;
        const MaarArrayInfo after = array_info(world, array);
        fuzz_require(after.capacity >= before.capacity && (append || after.capacity >= drawn));
    } else if (result == VK_ERROR_OUT_OF_POOL_MEMORY) {
        fuzz_require(drawn > room);
    } else {
        (void)fuzz_device_allow(&world->device, result);
        fuzz_require(array_info(world, array).capacity == before.capacity);
    }
}

static void truncate_array(struct growth_world* world, struct grown_array* array)
{
    const uint8_t way = fuzz_byte(&world->device.input);
    const uint64_t stay = fuzz_below(&world->device.input, array->count + 1) + (way == 255);
    const VkResult result =
        maarTruncateArray(allocator_of(world), array->array, stay, (way & 1) != 0);
    fuzz_require(result == (stay <= array->count ? VK_SUCCESS : VK_ERROR_VALIDATION_FAILED_EXT));
    array->count = result == VK_SUCCESS ? stay : array->count;
    (void)array_info(world, array);
}

static MaarPoint draw_point(struct growth_world* world)
{
    return (MaarPoint){.semaphore = world->timeline,
                       .value = world->value + fuzz_device_pick(&world->device, 3)};
}

static void end_array(struct growth_world* world, struct grown_array* array)
{
    const MaarPoint point = draw_point(world);
    if ((fuzz_byte(&world->device.input) & 1) == 0) {
        maarDestroyArray(allocator_of(world), array->array);
    } else if (maarDestroyArrayAfter(allocator_of(world), array->array, 1, &point) != VK_SUCCESS) {
        fuzz_require(world->device.may_fail);
        (void)array_info(world, array);
        return;
    }
    *array = (struct grown_array){.count = 0};
}

static void step_array(struct growth_world* world, uint8_t action)
{
    struct grown_array* array = &world->arrays[action % GROWN_ARRAYS];
    const uint8_t what = fuzz_byte(&world->device.input);
    if (array->array == VK_NULL_HANDLE) {
        make_array(world, array);
    } else if (what < 160) {
        grow_array(world, array, what >= 40);
    } else if (what < 230) {
        truncate_array(world, array);
    } else {
        end_array(world, array);
    }
}

/* ---- images ---- */

static void note_image(struct grown_image* image, VkExtent3D extent)
{
    image->extent = extent;
    memset(image->there, 0, sizeof image->there);
    memset(image->tail, 0, sizeof image->tail);
    for (uint32_t level = 0; level < image->info.tailFirstLevel; ++level) {
        const uint32_t whole[3] = {extent.width >> level, extent.height >> level,
                                   extent.depth >> level};
        const uint32_t tile[3] = {image->info.tileExtent.width, image->info.tileExtent.height,
                                  image->info.tileExtent.depth};
        for (uint32_t axis = 0; axis < 3; ++axis) {
            const uint32_t texels = whole[axis] > 1 ? whole[axis] : 1;
            image->tiles[level][axis] = (texels + tile[axis] - 1) / tile[axis];
        }
    }
}

static void make_image(struct growth_world* world, struct grown_image* image)
{
    struct fuzz_device* device = &world->device;
    const bool deep = (fuzz_byte(&device->input) & 3) == 3;
    const VkExtent3D extent = {1 + fuzz_device_pick(device, deep ? 90 : 900),
                               1 + fuzz_device_pick(device, deep ? 90 : 900),
                               deep ? 1 + fuzz_device_pick(device, 60) : 1};
    const uint32_t layers = deep ? 1 : 1 + fuzz_device_pick(device, GROWN_LAYERS);
    const VkImageCreateInfo made = tile_image_info(VK_FORMAT_R8G8B8A8_UNORM, extent, layers);
    const VkResult result = tile_try_image(&device->rig, &made, &image->image);
    fuzz_require((result == VK_SUCCESS) == (image->image != VK_NULL_HANDLE));
    if (fuzz_device_allow(device, result) == VK_SUCCESS) {
        image->info = tile_image(&device->rig, image->image);
        fuzz_require(image->info.arrayLayers == layers && image->info.mipLevels <= GROWN_LEVELS);
        note_image(image, extent);
        fuzz_require(image->info.tileCount <= (uint64_t)GROWN_LAYERS * 2 * GROWN_TILES);
    }
}

/* A region in whole texels, begin and end of which may lie anywhere in a level. */
static MaarTileRegion draw_region(struct growth_world* world, const struct grown_image* image)
{
    struct fuzz_device* device = &world->device;
    const uint32_t level = fuzz_device_pick(device, image->info.tailFirstLevel);
    const VkExtent3D* tile = &image->info.tileExtent;
    const uint32_t* tiles = image->tiles[level];
    const bool crooked = (fuzz_byte(&device->input) & 7) == 7;
    MaarTileRegion region = {
        .mipLevel = level,
        .arrayLayer = fuzz_device_pick(device, image->info.arrayLayers),
        .offset = {(int32_t)(fuzz_device_pick(device, tiles[0]) * tile->width),
                   (int32_t)(fuzz_device_pick(device, tiles[1]) * tile->height),
                   (int32_t)(fuzz_device_pick(device, tiles[2]) * tile->depth)},
        .extent = {(1 + fuzz_device_pick(device, tiles[0])) * tile->width,
                   (1 + fuzz_device_pick(device, tiles[1])) * tile->height,
                   (1 + fuzz_device_pick(device, tiles[2])) * tile->depth},
    };
    if (crooked) {
        const uint32_t whole = image->extent.width >> level > 1 ? image->extent.width >> level : 1;
        region.offset.x = (int32_t)fuzz_device_pick(device, whole);
        region.extent.width = 1 + fuzz_device_pick(device, whole);
    }
    if (image->extent.depth == 1) {
        region.extent.depth = 1;
    }
    return region;
}

/* The tiles of an axis that a region names: outward when committed, inward when evicted, where the
 * level's own end counts as the end of a tile. */
static void find_span(uint32_t first, uint32_t count, uint32_t tile, uint32_t tiles, uint32_t whole,
                      bool commit, uint32_t* from, uint32_t* to)
{
    const uint32_t end = first + count;
    *from = commit ? first / tile : (first + tile - 1) / tile;
    *to = commit || end >= whole ? (end + tile - 1) / tile : end / tile;
    *to = *to < tiles ? *to : tiles;
}

static void note_region(struct grown_image* image, const MaarTileRegion* region, bool commit)
{
    const uint32_t first[3] = {(uint32_t)region->offset.x, (uint32_t)region->offset.y,
                               (uint32_t)region->offset.z};
    const uint32_t count[3] = {region->extent.width, region->extent.height, region->extent.depth};
    const uint32_t tile[3] = {image->info.tileExtent.width, image->info.tileExtent.height,
                              image->info.tileExtent.depth};
    const uint32_t extent[3] = {image->extent.width, image->extent.height, image->extent.depth};
    const uint32_t* tiles = image->tiles[region->mipLevel];
    uint32_t from[3];
    uint32_t to[3];
    for (uint32_t axis = 0; axis < 3; ++axis) {
        const uint32_t whole = extent[axis] >> region->mipLevel;
        find_span(first[axis], count[axis], tile[axis], tiles[axis], whole > 1 ? whole : 1, commit,
                  &from[axis], &to[axis]);
    }
    for (uint32_t i = 0; i < tiles[0] * tiles[1] * tiles[2]; ++i) {
        const uint32_t at[3] = {i % tiles[0], i / tiles[0] % tiles[1], i / tiles[0] / tiles[1]};
        bool inside = true;
        for (uint32_t axis = 0; axis < 3; ++axis) {
            inside = inside && at[axis] >= from[axis] && at[axis] < to[axis];
        }
        if (inside) {
            image->there[region->arrayLayer][region->mipLevel][i] = commit;
        }
    }
}

static void change_tiles(struct growth_world* world, struct grown_image* image, bool commit)
{
    MaarTileRegion regions[3];
    const uint32_t count = 1 + fuzz_device_pick(&world->device, 3);
    if (image->info.tailFirstLevel == 0) {
        return;
    }
    for (uint32_t i = 0; i < count; ++i) {
        regions[i] = draw_region(world, image);
    }
    const VkResult result = commit
                                ? maarCommitTiles(allocator_of(world), image->image, count, regions)
                                : maarEvictTiles(allocator_of(world), image->image, count, regions);
    fuzz_require(commit || result == VK_SUCCESS);
    for (uint32_t i = 0; fuzz_device_allow(&world->device, result) == VK_SUCCESS && i < count;
         ++i) {
        note_region(image, &regions[i], commit);
    }
}

static void change_tail(struct growth_world* world, struct grown_image* image, bool commit)
{
    const uint32_t layers = image->info.arrayLayers;
    const uint32_t first = fuzz_device_pick(&world->device, layers);
    const uint32_t count = 1 + fuzz_device_pick(&world->device, layers - first);
    const bool single = image->info.singleTail == VK_TRUE;
    const VkResult result = commit
                                ? maarCommitMipTail(allocator_of(world), image->image, first, count)
                                : maarEvictMipTail(allocator_of(world), image->image, first, count);
    fuzz_require(commit || result == VK_SUCCESS);
    const bool none = image->info.tailFirstLevel == image->info.mipLevels;
    if (fuzz_device_allow(&world->device, result) != VK_SUCCESS || none ||
        (single && !commit && count != layers)) {
        return;
    }
    for (uint32_t i = 0; i < layers; ++i) {
        if (single || (i >= first && i < first + count)) {
            image->tail[i] = commit;
        }
    }
}

static void end_image(struct growth_world* world, struct grown_image* image)
{
    const MaarPoint point = draw_point(world);
    if ((fuzz_byte(&world->device.input) & 1) == 0) {
        maarDestroySparseImage(allocator_of(world), image->image);
    } else if (maarDestroySparseImageAfter(allocator_of(world), image->image, 1, &point) !=
               VK_SUCCESS) {
        fuzz_require(world->device.may_fail);
        return;
    }
    image->image = VK_NULL_HANDLE;
}

static void require_image(struct growth_world* world, const struct grown_image* image)
{
    uint8_t found[GROWN_TILES];
    uint8_t levels[GROWN_TILES];
    uint64_t committed = 0;
    for (uint32_t layer = 0; layer < image->info.arrayLayers; ++layer) {
        for (uint32_t level = 0; level < image->info.mipLevels; ++level) {
            uint32_t count = GROWN_TILES;
            const bool tail = level >= image->info.tailFirstLevel;
            fuzz_require(maarGetTileResidency(allocator_of(world), image->image, level, layer,
                                              &count, found) == VK_SUCCESS);
            for (uint32_t i = 0; i < count; ++i) {
                const bool there = tail ? image->tail[layer] : image->there[layer][level][i];
                fuzz_require(found[i] == there);
                committed += !tail && there ? 1 : 0;
            }
        }
        uint32_t count = GROWN_TILES;
        const VkResult result =
            maarGetMinResidentLevels(allocator_of(world), image->image, layer, &count, levels);
        for (uint32_t i = 0; fuzz_device_allow(&world->device, result) == VK_SUCCESS && i < count;
             ++i) {
            fuzz_require(levels[i] <= image->info.mipLevels);
            fuzz_require(levels[i] != 0 || image->info.tailFirstLevel == 0 ||
                         image->there[layer][0][i]);
        }
    }
    const MaarSparseImageInfo info = tile_image(&world->device.rig, image->image);
    fuzz_require(info.committedTileCount == committed);
    fuzz_require(info.committedSize >= committed * info.pageSize);
}

static void step_image(struct growth_world* world, uint8_t action)
{
    struct grown_image* image = &world->images[action % GROWN_IMAGES];
    const uint8_t what = fuzz_byte(&world->device.input);
    if (image->image == VK_NULL_HANDLE) {
        make_image(world, image);
    } else if (what < 190) {
        change_tiles(world, image, what >= 70);
    } else if (what < 235) {
        change_tail(world, image, what >= 205);
    } else {
        end_image(world, image);
    }
}

/* ---- */

static void submit(struct growth_world* world)
{
    const MaarPoint wait = {.semaphore = world->timeline, .value = world->value};
    MaarPoint point;
    (void)fuzz_device_allow(
        &world->device,
        maarSubmitBinds(allocator_of(world), fuzz_byte(&world->device.input) & 1, &wait, &point));
}

static void step(struct growth_world* world)
{
    const uint8_t action = fuzz_byte(&world->device.input);
    if (action < 100) {
        step_array(world, action);
    } else if (action < 200) {
        step_image(world, action);
    } else if (action < 230) {
        submit(world);
    } else if (action < 240) {
        fuzz_device_forget(&world->device);
        if (fuzz_device_signal(&world->device, world->timeline, world->value + 1)) {
            ++world->value;
        }
    } else {
        fuzz_device_plan(&world->device);
    }
    fuzz_device_sound(&world->device);
    for (uint32_t i = 0; i < GROWN_IMAGES; ++i) {
        if (world->images[i].image != VK_NULL_HANDLE) {
            require_image(world, &world->images[i]);
        }
    }
    for (uint32_t i = 0; i < GROWN_ARRAYS; ++i) {
        if (world->arrays[i].array != VK_NULL_HANDLE) {
            (void)array_info(world, &world->arrays[i]);
        }
    }
}

static void set_up(struct growth_world* world)
{
    static const MaarSimulatedMipTail tails[] = {
        MAAR_SIMULATED_MIP_TAIL_PER_LAYER, MAAR_SIMULATED_MIP_TAIL_PER_LAYER,
        MAAR_SIMULATED_MIP_TAIL_SINGLE, MAAR_SIMULATED_MIP_TAIL_NONE};
    MaarSimulatedProfile* profile = &world->profile;
    const uint8_t way = fuzz_byte(&world->device.input);
    const struct rig_setup setup = {.profile = profile, .paging = true};
    *profile = (way & 1) != 0 ? *rig_profile_tiny() : *rig_profile_discrete();
    profile->sparse.sparseBinding = VK_TRUE;
    profile->sparse.residencyBuffer = VK_TRUE;
    profile->sparse.residencyImage2D = VK_TRUE;
    profile->sparse.residencyImage3D = VK_TRUE;
    profile->limits.sparseAddressSpaceSize = (VkDeviceSize)1 << (30 + (way >> 1) % 4);
    profile->requirements.sparseAlignment = (way & 8) != 0 ? 16384 : 65536;
    profile->requirements.sparseImageAlignment = profile->requirements.sparseAlignment;
    profile->requirements.mipTail = tails[(way >> 4) % 4];
    profile->requirements.metadataSize = (way & 0x40) != 0 ? 131072 : 0;
    if ((way & 0x80) != 0) {
        profile->heaps[0].size = MIB + fuzz_scaled(&world->device.input, 26);
    }
    fuzz_device_open(&world->device, &setup, 0);
    world->timeline = rig_create_timeline(&world->device.rig, 0);
}

static void take_down(struct growth_world* world)
{
    struct rig* rig = &world->device.rig;
    fuzz_device_forget(&world->device);
    for (uint32_t i = 0; i < GROWN_ARRAYS; ++i) {
        maarDestroyArray(rig->allocator, world->arrays[i].array);
    }
    for (uint32_t i = 0; i < GROWN_IMAGES; ++i) {
        maarDestroySparseImage(rig->allocator, world->images[i].image);
    }
    const VkResult last = maarSubmitBinds(rig->allocator, 0, NULL, NULL);
    fuzz_require(last == VK_SUCCESS || world->device.may_be_lost);
    (void)fuzz_device_signal(&world->device, world->timeline, world->value + 4);
    if (!world->device.may_be_lost) {
        fuzz_require(maarWaitPending(rig->allocator, UINT64_MAX) == VK_SUCCESS);
        fuzz_require(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL) == VK_SUCCESS);
        fuzz_require(rig_statistics(rig, VK_NULL_HANDLE).blockCount == 0);
    }
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    vkDestroySemaphore(rig->device, world->timeline, NULL);
    fuzz_device_close(&world->device);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static struct growth_world world;
    memset(&world, 0, sizeof world);
    world.device.input = (struct fuzz_input){data, size};
    set_up(&world);
    while (!fuzz_is_dry(&world.device.input)) {
        step(&world);
    }
    take_down(&world);
    return 0;
}
