/*
 * The page tables of a partially resident image: one for each level, layer and aspect, and one for
 * each mip tail. Each is made when its first tile is committed.
 */
#include "core/reservation/sparse_image.h"

VkResult maar_check_sparse_image(MaarAllocator allocator, const char* call, const char* argument,
                                 MaarSparseImage image, struct maar_sparse_image** found)
{
    void* object = NULL;
    const VkResult result = maar_object_enter(allocator, call, argument, MAAR_OBJECT_SPARSE_IMAGE,
                                              MAAR_TO_BITS(image), &object);
    *found = object;
    return result;
}

static struct maar_page_table_info table_info(const char* call, struct maar_sparse_image* image)
{
    return (struct maar_page_table_info){
        .call = call,
        .image = image->image,
        .page_size = image->page_size,
        .type_bits = image->type_bits,
        .kind = MAAR_RESOURCE_KIND_OPTIMAL,
        .memory = &image->memory,
    };
}

VkResult maar_sparse_bring_table(MaarAllocator allocator, const char* call,
                                 struct maar_sparse_image* image, uint32_t aspect, uint32_t level,
                                 uint32_t layer, struct maar_page_table** table)
{
    const struct maar_sparse_aspect* of = &image->aspects[aspect];
    struct maar_page_table** at = &of->tables[(size_t)layer * of->grid.level_count + level];
    if (*at == NULL) {
        const uint32_t* extent = of->grid.levels[level].extent;
        struct maar_page_table_info info = table_info(call, image);
        info.target = MAAR_PAGES_TILES;
        info.subresource = (VkImageSubresource){
            .aspectMask = of->aspect,
            .mipLevel = level,
            .arrayLayer = layer,
        };
        info.tile = (VkExtent3D){of->grid.tile[0], of->grid.tile[1], of->grid.tile[2]};
        info.extent = (VkExtent3D){extent[0], extent[1], extent[2]};
        const VkResult result = maar_page_table_create(allocator, &info, at);
        if (result != VK_SUCCESS) {
            *at = NULL;
            return result;
        }
    }
    *table = *at;
    return VK_SUCCESS;
}

VkResult maar_sparse_bring_tail(MaarAllocator allocator, const char* call,
                                struct maar_sparse_image* image, struct maar_sparse_aspect* aspect,
                                uint32_t index, struct maar_page_table** table)
{
    struct maar_page_table** at = &aspect->tails[index];
    if (*at == NULL) {
        struct maar_page_table_info info = table_info(call, image);
        info.target = MAAR_PAGES_OPAQUE;
        info.resource_offset = aspect->tail_offset + index * aspect->tail_stride;
        info.size = aspect->tail_size;
        info.bind_flags = aspect->bind_flags;
        const VkResult result = maar_page_table_create(allocator, &info, at);
        if (result != VK_SUCCESS) {
            *at = NULL;
            return result;
        }
    }
    *table = *at;
    return VK_SUCCESS;
}

/* Returns how many tables one aspect may have. */
static size_t slot_count(const struct maar_sparse_aspect* aspect, uint32_t layers)
{
    const size_t levels = aspect->tables == NULL ? 0 : (size_t)layers * aspect->grid.level_count;
    return levels + (aspect->tails == NULL ? 0 : aspect->tail_count);
}

/* Returns one of these tables, or NULL. The tables of levels come first, then those of tails. */
static struct maar_page_table* slot_at(const struct maar_sparse_aspect* aspect, uint32_t layers,
                                       size_t index)
{
    const size_t levels = aspect->tables == NULL ? 0 : (size_t)layers * aspect->grid.level_count;
    return index < levels ? aspect->tables[index] : aspect->tails[index - levels];
}

struct maar_page_table* maar_sparse_next_table(struct maar_sparse_image* image,
                                               struct maar_sparse_walk* walk)
{
    for (; walk->part <= image->aspect_count; ++walk->part, walk->index = 0) {
        const struct maar_sparse_aspect* aspect =
            walk->part < image->aspect_count ? &image->aspects[walk->part] : &image->metadata;
        while (walk->index < slot_count(aspect, image->layers)) {
            struct maar_page_table* table = slot_at(aspect, image->layers, walk->index++);
            if (table != NULL) {
                return table;
            }
        }
    }
    return NULL;
}

VkDeviceSize maar_sparse_committed(struct maar_sparse_image* image)
{
    struct maar_sparse_walk walk = {0, 0};
    uint64_t pages = 0;
    for (struct maar_page_table* table = NULL;
         (table = maar_sparse_next_table(image, &walk)) != NULL;) {
        pages += maar_page_table_committed(table);
    }
    return pages * image->page_size;
}

VkDeviceSize maar_sparse_metadata_size(struct maar_sparse_image* image)
{
    uint64_t pages = 0;
    for (uint32_t i = 0; i < image->metadata.tail_count; ++i) {
        pages += maar_page_table_committed(image->metadata.tails[i]);
    }
    return pages * image->page_size;
}
