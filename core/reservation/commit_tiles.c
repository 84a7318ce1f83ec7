/*
 * Committing and evicting the tiles and mip tails of a partially resident image. A region becomes
 * as few ranges of pages as possible: adjacent rows share a range.
 */
#include <stdio.h>

#include "core/bound_check.h"
#include "core/host_stack.h"
#include "core/memory/allocator_state.h"
#include "core/reservation/sparse_image.h"

/* The number of ranges that an eviction passes on at a time. They are on the stack, since eviction
 * cannot fail. */
enum { EVICT_RANGES = 32 };

/* ---- boxes as ranges ---- */

/* Writes the ranges of a box from `skip` on, at most `capacity`. Returns how many the box has. */
static uint64_t list_ranges(const struct maar_tile_level* level, const struct maar_tile_box* box,
                            uint64_t skip, uint32_t capacity, struct maar_page_range* ranges)
{
    if (maar_tile_box_is_empty(box)) {
        return 0;
    }
    const uint64_t width = box->end[0] - box->first[0];
    const uint64_t height = box->end[1] - box->first[1];
    const uint64_t depth = box->end[2] - box->first[2];
    /* Whole rows are adjacent, and so are whole slices. */
    const bool rows = width == level->tiles[0];
    const bool slices = rows && height == level->tiles[1];
    const uint64_t rows_of_slice = rows ? 1 : height;
    const uint64_t count = slices ? 1 : rows_of_slice * depth;
    const uint64_t size = width * (rows ? height : 1) * (slices ? depth : 1);
    for (uint64_t i = skip; i < count && i - skip < capacity; ++i) {
        const uint32_t at[3] = {
            box->first[0],
            box->first[1] + (uint32_t)(i % rows_of_slice),
            box->first[2] + (uint32_t)(i / rows_of_slice),
        };
        ranges[i - skip] =
            (struct maar_page_range){.first = maar_tile_number(level, at), .count = size};
    }
    return count;
}

/* Returns what is wrong with a region, or a fault without a sentence. */
static struct maar_fault find_region_fault(struct maar_sparse_image* image,
                                           const MaarTileRegion* region,
                                           struct maar_bound_text* text)
{
    uint32_t levels = image->mip_levels;
    for (uint32_t a = 0; a < image->aspect_count; ++a) {
        const uint32_t count = image->aspects[a].grid.level_count;
        levels = count < levels ? count : levels;
    }
    const VkOffset3D* from = &region->offset;
    const VkExtent3D* size = &region->extent;
    if (region->arrayLayer >= image->layers || region->mipLevel >= levels) {
        const struct maar_bound bounds[] = {
            {region->arrayLayer >= image->layers, MAAR_MESSAGE_ID_OUT_OF_RANGE,
             "arrayLayer is a layer that the image lacks",
             MAAR_SHOW_COUNT(region->arrayLayer, image->layers)},
            {region->mipLevel >= image->mip_levels, MAAR_MESSAGE_ID_OUT_OF_RANGE,
             "mipLevel is a level that the image lacks",
             MAAR_SHOW_COUNT(region->mipLevel, image->mip_levels)},
            {true, MAAR_MESSAGE_ID_OUT_OF_RANGE, "mipLevel is a level of the mip tail",
             MAAR_SHOW_COUNT(region->mipLevel, levels)},
            {0},
        };
        return maar_find_broken_bound(bounds, text);
    }
    if (size->width == 0 || size->height == 0 || size->depth == 0) {
        return maar_fault(MAAR_MESSAGE_ID_ZERO_SIZE, "extent has a 0");
    }
    /* A negative coordinate is a large number here. */
    const uint32_t at[] = {(uint32_t)from->x, (uint32_t)from->y, (uint32_t)from->z};
    const uint32_t* extent = maar_sparse_grid(image)->levels[region->mipLevel].extent;
    if (at[0] >= extent[0] || at[1] >= extent[1] || at[2] >= extent[2]) {
        (void)snprintf(text->text, sizeof text->text,
                       "offset, (%d, %d, %d), lies outside the level, of %u x %u x %u tiles",
                       from->x, from->y, from->z, extent[0], extent[1], extent[2]);
        return maar_fault(MAAR_MESSAGE_ID_OUT_OF_RANGE, text->text);
    }
    return MAAR_NO_FAULT;
}

static VkResult check_regions(MaarAllocator allocator, const char* call,
                              struct maar_sparse_image* image, uint32_t count,
                              const MaarTileRegion* regions)
{
    if (count > 0 && regions == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, call, "pRegions is NULL");
    }
    for (uint32_t i = 0; i < count; ++i) {
        struct maar_bound_text text;
        const struct maar_fault fault = find_region_fault(image, &regions[i], &text);
        if (fault.sentence != NULL) {
            return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, fault.id, call,
                             "pRegions[%u].%s", i, fault.sentence);
        }
    }
    return VK_SUCCESS;
}

static VkResult check_change(MaarAllocator allocator, const char* call, MaarSparseImage image,
                             struct maar_sparse_image** found)
{
    const VkResult result = maar_check_sparse_image(allocator, call, "image", image, found);
    if (result == VK_SUCCESS && (*found)->in_cache) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_TILE_CACHE_OWNS_IMAGE, call,
                           "image belongs to a tile cache, which decides this");
    }
    return result;
}

/* ---- tiles ---- */

/* Writes the ranges of a region in one aspect. With ranges == NULL, counts them only. */
static VkResult list_region(MaarAllocator allocator, const char* call,
                            struct maar_sparse_image* image, uint32_t aspect,
                            const MaarTileRegion* region, struct maar_page_range* ranges,
                            uint64_t* count)
{
    const struct maar_tile_grid* grid = &image->aspects[aspect].grid;
    const struct maar_tile_box box =
        maar_tile_box_touched(grid, region->mipLevel, region->offset, region->extent);
    struct maar_page_table* table = NULL;
    const VkResult result = maar_sparse_bring_table(allocator, call, image, aspect,
                                                    region->mipLevel, region->arrayLayer, &table);
    if (result != VK_SUCCESS) {
        return result;
    }
    *count = list_ranges(&grid->levels[region->mipLevel], &box, 0, ranges == NULL ? 0 : UINT32_MAX,
                         ranges);
    for (uint64_t i = 0; ranges != NULL && i < *count; ++i) {
        ranges[i].table = table;
    }
    return VK_SUCCESS;
}

/* Writes the ranges of all regions and aspects in the same way. */
static VkResult list_regions(MaarAllocator allocator, const char* call,
                             struct maar_sparse_image* image, uint32_t region_count,
                             const MaarTileRegion* regions, struct maar_page_range* ranges,
                             uint64_t* count)
{
    *count = 0;
    for (uint32_t i = 0; i < region_count; ++i) {
        for (uint32_t aspect = 0; aspect < image->aspect_count; ++aspect) {
            uint64_t here = 0;
            const VkResult result = list_region(allocator, call, image, aspect, &regions[i],
                                                ranges == NULL ? NULL : ranges + *count, &here);
            if (result != VK_SUCCESS) {
                return result;
            }
            *count += here;
        }
    }
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCommitTiles(MaarAllocator allocator, MaarSparseImage image,
                                               uint32_t regionCount, const MaarTileRegion* pRegions)
{
    struct maar_sparse_image* it = NULL;
    VkResult result = check_change(allocator, __func__, image, &it);
    if (result == VK_SUCCESS) {
        result = check_regions(allocator, __func__, it, regionCount, pRegions);
    }
    if (result != VK_SUCCESS || regionCount == 0) {
        return result;
    }
    struct maar_host_stack scratch = {.callbacks = allocator->callbacks};
    struct maar_page_range* ranges = NULL;
    uint64_t count = 0;
    result = list_regions(allocator, __func__, it, regionCount, pRegions, NULL, &count);
    if (result == VK_SUCCESS && count > 0) {
        ranges =
            count > UINT32_MAX ? NULL : maar_stack_grab(&scratch, (size_t)count, sizeof *ranges);
        result = ranges == NULL
                     ? VK_ERROR_OUT_OF_HOST_MEMORY
                     : list_regions(allocator, __func__, it, regionCount, pRegions, ranges, &count);
    }
    if (result == VK_SUCCESS && count > 0) {
        result = maar_pages_commit(allocator, __func__, (uint32_t)count, ranges);
    }
    maar_stack_reset(&scratch);
    return result;
}

static void evict_box(MaarAllocator allocator, struct maar_page_table* table,
                      const struct maar_tile_level* level, const struct maar_tile_box* box)
{
    struct maar_page_range ranges[EVICT_RANGES];
    for (uint64_t done = 0;; done += EVICT_RANGES) {
        const uint64_t count = list_ranges(level, box, done, EVICT_RANGES, ranges);
        if (done >= count) {
            return;
        }
        const uint32_t here =
            count - done < EVICT_RANGES ? (uint32_t)(count - done) : (uint32_t)EVICT_RANGES;
        for (uint32_t i = 0; i < here; ++i) {
            ranges[i].table = table;
        }
        maar_pages_decommit(allocator, here, ranges);
    }
}

static bool box_has_pages(const struct maar_page_table* table, const struct maar_tile_level* level,
                          const struct maar_tile_box* box)
{
    uint32_t at[3];
    for (bool more = maar_tile_box_begin(box, at); more; more = maar_tile_box_next(box, at)) {
        if (maar_page_is_committed(table, maar_tile_number(level, at))) {
            return true;
        }
    }
    return false;
}

/* Evicts the tiles of another aspect where the first aspect has none left. */
static void evict_followers(MaarAllocator allocator, struct maar_sparse_image* image,
                            uint32_t aspect, const MaarTileRegion* region)
{
    const struct maar_tile_grid* grid = &image->aspects[aspect].grid;
    const struct maar_tile_level* level = &grid->levels[region->mipLevel];
    struct maar_page_table* table =
        maar_sparse_table(&image->aspects[aspect], region->mipLevel, region->arrayLayer);
    const struct maar_page_table* leader =
        maar_sparse_table(&image->aspects[0], region->mipLevel, region->arrayLayer);
    const struct maar_tile_box box =
        maar_tile_box_touched(grid, region->mipLevel, region->offset, region->extent);
    uint32_t at[3];
    if (table == NULL || leader == NULL) {
        return;
    }
    for (bool more = maar_tile_box_begin(&box, at); more; more = maar_tile_box_next(&box, at)) {
        const VkOffset3D offset = {(int32_t)(at[0] * grid->tile[0]),
                                   (int32_t)(at[1] * grid->tile[1]),
                                   (int32_t)(at[2] * grid->tile[2])};
        const VkExtent3D extent = {grid->tile[0], grid->tile[1], grid->tile[2]};
        const struct maar_tile_box led =
            maar_tile_box_touched(maar_sparse_grid(image), region->mipLevel, offset, extent);
        const struct maar_page_range page = {
            .table = table, .first = maar_tile_number(level, at), .count = 1};
        if (!box_has_pages(leader, &maar_sparse_grid(image)->levels[region->mipLevel], &led)) {
            maar_pages_decommit(allocator, 1, &page);
        }
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarEvictTiles(MaarAllocator allocator, MaarSparseImage image,
                                              uint32_t regionCount, const MaarTileRegion* pRegions)
{
    struct maar_sparse_image* it = NULL;
    VkResult result = check_change(allocator, __func__, image, &it);
    if (result == VK_SUCCESS) {
        result = check_regions(allocator, __func__, it, regionCount, pRegions);
    }
    for (uint32_t i = 0; result == VK_SUCCESS && i < regionCount; ++i) {
        const MaarTileRegion* region = &pRegions[i];
        const struct maar_tile_grid* grid = maar_sparse_grid(it);
        struct maar_page_table* table =
            maar_sparse_table(&it->aspects[0], region->mipLevel, region->arrayLayer);
        const struct maar_tile_box box =
            maar_tile_box_within(grid, region->mipLevel, region->offset, region->extent);
        if (table == NULL) {
            continue;
        }
        evict_box(allocator, table, &grid->levels[region->mipLevel], &box);
        for (uint32_t aspect = 1; aspect < it->aspect_count; ++aspect) {
            evict_followers(allocator, it, aspect, region);
        }
    }
    return result;
}

/* ---- mip tails ---- */

/* Returns the number of tails of some layers, and the first tail. A single tail for all layers
 * counts if, with `any`, one layer is named; otherwise only if all are named. */
static uint32_t tail_range(const struct maar_sparse_aspect* aspect, uint32_t layers,
                           uint32_t first_layer, uint32_t layer_count, bool any, uint32_t* first)
{
    if (aspect->tail_count == layers) {
        *first = first_layer;
        return layer_count;
    }
    *first = 0;
    return aspect->tail_count == 1 && layer_count > 0 && (any || layer_count == layers) ? 1 : 0;
}

static VkResult check_layers(MaarAllocator allocator, const char* call,
                             struct maar_sparse_image* image, uint32_t first, uint32_t* count)
{
    if (first > image->layers || (first == image->layers && *count != 0)) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                         call, "firstLayer is %u, and the image has %u layers", first,
                         image->layers);
    }
    if (*count == VK_REMAINING_ARRAY_LAYERS) {
        *count = image->layers - first;
    }
    return *count > image->layers - first
               ? maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                           call, "layerCount is %u, and the image has %u layers from firstLayer on",
                           *count, image->layers - first)
               : VK_SUCCESS;
}

VkResult maar_sparse_commit_tails(MaarAllocator allocator, const char* call,
                                  struct maar_sparse_image* image, uint32_t first_layer,
                                  uint32_t layer_count)
{
    struct maar_host_stack scratch = {.callbacks = allocator->callbacks};
    struct maar_page_range* ranges =
        maar_stack_grab(&scratch, (size_t)layer_count * image->aspect_count, sizeof *ranges);
    VkResult result = ranges == NULL ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
    uint32_t count = 0;
    for (uint32_t a = 0; a < image->aspect_count; ++a) {
        struct maar_sparse_aspect* aspect = &image->aspects[a];
        uint32_t first = 0;
        const uint32_t tails =
            tail_range(aspect, image->layers, first_layer, layer_count, true, &first);
        for (uint32_t i = first; result == VK_SUCCESS && i < first + tails; ++i) {
            struct maar_page_table* table = NULL;
            result = maar_sparse_bring_tail(allocator, call, image, aspect, i, &table);
            if (result == VK_SUCCESS) {
                ranges[count++] =
                    (struct maar_page_range){.table = table, .count = maar_page_table_count(table)};
            }
        }
    }
    if (result == VK_SUCCESS && count > 0) {
        result = maar_pages_commit(allocator, call, count, ranges);
    }
    maar_stack_reset(&scratch);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCommitMipTail(MaarAllocator allocator, MaarSparseImage image,
                                                 uint32_t firstLayer, uint32_t layerCount)
{
    struct maar_sparse_image* it = NULL;
    VkResult result = check_change(allocator, __func__, image, &it);
    if (result == VK_SUCCESS) {
        result = check_layers(allocator, __func__, it, firstLayer, &layerCount);
    }
    return result == VK_SUCCESS && layerCount > 0
               ? maar_sparse_commit_tails(allocator, __func__, it, firstLayer, layerCount)
               : result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarEvictMipTail(MaarAllocator allocator, MaarSparseImage image,
                                                uint32_t firstLayer, uint32_t layerCount)
{
    struct maar_sparse_image* it = NULL;
    VkResult result = check_change(allocator, __func__, image, &it);
    if (result == VK_SUCCESS) {
        result = check_layers(allocator, __func__, it, firstLayer, &layerCount);
    }
    for (uint32_t a = 0; result == VK_SUCCESS && a < it->aspect_count; ++a) {
        const struct maar_sparse_aspect* aspect = &it->aspects[a];
        uint32_t first = 0;
        const uint32_t tails =
            tail_range(aspect, it->layers, firstLayer, layerCount, false, &first);
        for (uint32_t i = first; i < first + tails; ++i) {
            if (aspect->tails[i] != NULL) {
                const struct maar_page_range range = {
                    .table = aspect->tails[i], .count = maar_page_table_count(aspect->tails[i])};
                maar_pages_decommit(allocator, 1, &range);
            }
        }
    }
    return result;
}

bool maar_sparse_tail_is_there(struct maar_sparse_image* image, uint32_t layer)
{
    for (uint32_t a = 0; a < image->aspect_count; ++a) {
        const struct maar_sparse_aspect* aspect = &image->aspects[a];
        if (aspect->tail_count == 0) {
            continue;
        }
        const struct maar_page_table* table = aspect->tails[aspect->tail_count == 1 ? 0 : layer];
        if (table == NULL || maar_page_table_committed(table) != maar_page_table_count(table)) {
            return false;
        }
    }
    return true;
}
