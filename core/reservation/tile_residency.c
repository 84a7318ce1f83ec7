/*
 * Information about a partially resident image: its properties, which tiles have memory, and which
 * levels can be sampled everywhere.
 */
#include <string.h>

#include "core/bound_check.h"
#include "core/memory/allocator_state.h"
#include "core/reservation/sparse_image.h"

VKAPI_ATTR VkResult VKAPI_CALL maarGetSparseImageInfo(MaarAllocator allocator,
                                                      MaarSparseImage image,
                                                      MaarSparseImageInfo* pInfo)
{
    struct maar_sparse_image* it = NULL;
    VkResult result = maar_check_sparse_image(allocator, __func__, "image", image, &it);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_INFO);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_sparse_aspect* first = &it->aspects[0];
    const size_t table_count = (size_t)it->layers * first->grid.level_count;
    *pInfo = (MaarSparseImageInfo){
        .sType = pInfo->sType,
        .pNext = pInfo->pNext,
        .image = it->image,
        .tileExtent = it->tile,
        .pageSize = it->page_size,
        .mipLevels = it->mip_levels,
        .arrayLayers = it->layers,
        .tailFirstLevel = first->grid.level_count,
        .singleTail = first->tail_count == 1,
        .tailSize = first->tail_count == 0 ? 0 : first->tail_size,
        .tileCount = (uint64_t)first->grid.total * it->layers,
        .committedSize = maar_sparse_committed(it),
        .aspect = first->aspect,
    };
    for (size_t i = 0; i < table_count; ++i) {
        pInfo->committedTileCount +=
            first->tables[i] == NULL ? 0 : maar_page_table_committed(first->tables[i]);
    }
    return VK_SUCCESS;
}

/* Applies the two-call idiom. Returns how many elements may be written, or UINT32_MAX when the
 * caller asks only for their number. */
static uint32_t room_for(uint32_t count, uint32_t* given, const uint8_t* out)
{
    const uint32_t room = out == NULL ? UINT32_MAX : *given < count ? *given : count;
    *given = out == NULL ? count : room;
    return room;
}

static VkResult check_look(MaarAllocator allocator, const char* call, MaarSparseImage image,
                           uint32_t level, uint32_t layer, const uint32_t* count,
                           struct maar_sparse_image** found)
{
    const VkResult result = maar_check_sparse_image(allocator, call, "image", image, found);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (count == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, call, "pCount is NULL");
    }
    const struct maar_bound bounds[] = {
        {level >= (*found)->mip_levels, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "mipLevel is not below the image's levels", MAAR_SHOW_COUNT(level, (*found)->mip_levels)},
        {layer >= (*found)->layers, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "arrayLayer is not below the image's layers", MAAR_SHOW_COUNT(layer, (*found)->layers)},
        {0},
    };
    return maar_check_bounds(allocator, call, bounds);
}

/* Writes for each of the first `count` tiles of a level whether it has memory. */
static void read_level(struct maar_sparse_image* image, uint32_t level, uint32_t layer,
                       uint32_t count, uint8_t* resident)
{
    const struct maar_page_table* table = maar_sparse_table(&image->aspects[0], level, layer);
    if (table != NULL) {
        maar_page_table_read(table, count, resident);
    } else {
        memset(resident, 0, count);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetTileResidency(MaarAllocator allocator, MaarSparseImage image,
                                                    uint32_t mipLevel, uint32_t arrayLayer,
                                                    uint32_t* pCount, uint8_t* pResident)
{
    struct maar_sparse_image* it = NULL;
    const VkResult result =
        check_look(allocator, __func__, image, mipLevel, arrayLayer, pCount, &it);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_tile_grid* grid = maar_sparse_grid(it);
    const bool tail = mipLevel >= grid->level_count;
    const uint32_t count = tail ? 1 : grid->levels[mipLevel].count;
    const uint32_t room = room_for(count, pCount, pResident);
    if (pResident != NULL && !tail) {
        read_level(it, mipLevel, arrayLayer, room, pResident);
    } else if (pResident != NULL && room > 0) {
        pResident[0] = maar_sparse_tail_is_there(it, arrayLayer);
    }
    return pResident != NULL && room < count ? VK_INCOMPLETE : VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetMinResidentLevels(MaarAllocator allocator,
                                                        MaarSparseImage image, uint32_t arrayLayer,
                                                        uint32_t* pCount, uint8_t* pLevels)
{
    struct maar_sparse_image* it = NULL;
    const VkResult result = check_look(allocator, __func__, image, 0, arrayLayer, pCount, &it);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_tile_grid* grid = maar_sparse_grid(it);
    const uint32_t count = grid->level_count == 0 ? 1 : grid->levels[0].count;
    if (pLevels == NULL) {
        *pCount = count;
        return VK_SUCCESS;
    }
    uint8_t* scratch =
        maar_host_alloc(allocator->callbacks, grid->total == 0 ? 1 : (size_t)grid->total);
    if (scratch == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    const uint32_t room = room_for(count, pCount, pLevels);
    for (uint32_t level = 0; level < grid->level_count; ++level) {
        read_level(it, level, arrayLayer, grid->levels[level].count,
                   scratch + grid->levels[level].first);
    }
    maar_tile_usable_levels(grid, maar_sparse_tail_is_there(it, arrayLayer), scratch);
    memcpy(pLevels, scratch, room);
    maar_host_free(allocator->callbacks, scratch);
    return room < count ? VK_INCOMPLETE : VK_SUCCESS;
}
