/*
 * Partially resident images: their parts, and the functions that a tile cache needs.
 *
 * An image belongs to one caller at a time. The page table of a level is made when its first tile
 * is committed, so that an image of many layers costs little before that.
 */
#ifndef MAAR_CORE_RESERVATION_SPARSE_IMAGE_H
#define MAAR_CORE_RESERVATION_SPARSE_IMAGE_H

#include "core/paging/page_commit.h"
#include "core/paging/paged_object.h"
#include "core/reservation/tile_grid.h"

/* Aspects whose tiles are bound separately: colour, or depth and stencil. */
enum { MAAR_SPARSE_ASPECTS = 2 };

/* The tiles and tails of one aspect. */
struct maar_sparse_aspect {
    VkImageAspectFlags aspect;
    struct maar_tile_grid grid;
    VkDeviceSize tail_size; /* of one tail; 0 for none */
    VkDeviceSize tail_offset;
    VkDeviceSize tail_stride; /* from one layer's tail to the next */
    uint32_t tail_count;      /* 0 for none, 1, or one for each layer */
    VkSparseMemoryBindFlags bind_flags;
    struct maar_page_table** tables; /* the levels of one layer after another; NULL until needed */
    struct maar_page_table** tails;
};

/* A partially resident image. */
struct maar_sparse_image {
    struct maar_paged_object listed;
    MaarAllocator allocator;
    VkImage image;
    VkFormat format;
    VkImageType type;
    VkImageUsageFlags usage;
    VkExtent3D extent;
    uint32_t mip_levels;
    uint32_t layers;
    VkDeviceSize size;  /* as the driver requires */
    VkDeviceSize space; /* bytes of address space taken */
    VkDeviceSize page_size;
    uint32_t type_bits;
    MaarAllocationCreateInfo memory;
    char* name;
    uint32_t aspect_count;
    struct maar_sparse_aspect aspects[MAAR_SPARSE_ASPECTS];
    struct maar_sparse_aspect metadata; /* it has only tails */
    VkExtent3D tile;                    /* texels, of the first aspect */
    struct maar_retire_item* ending;    /* prepared, with room for one point */
    bool in_cache;                      /* a tile cache decides which tiles have memory */
};

/* Returns the grid of the first aspect. */
static inline const struct maar_tile_grid* maar_sparse_grid(struct maar_sparse_image* image)
{
    return &image->aspects[0].grid;
}

/* Returns the table of a level and layer, or NULL while it does not exist. */
static inline struct maar_page_table* maar_sparse_table(const struct maar_sparse_aspect* aspect,
                                                        uint32_t level, uint32_t layer)
{
    return aspect->tables[(size_t)layer * aspect->grid.level_count + level];
}

/* Finds the image of a handle, as maar_object_enter does. */
VkResult maar_check_sparse_image(MaarAllocator allocator, const char* call, const char* argument,
                                 MaarSparseImage image, struct maar_sparse_image** found);
/* Finds or makes the table of a level and layer. */
VkResult maar_sparse_bring_table(MaarAllocator allocator, const char* call,
                                 struct maar_sparse_image* image, uint32_t aspect, uint32_t level,
                                 uint32_t layer, struct maar_page_table** table);
/* Finds or makes the table of a tail of an aspect or of the metadata. */
VkResult maar_sparse_bring_tail(MaarAllocator allocator, const char* call,
                                struct maar_sparse_image* image, struct maar_sparse_aspect* aspect,
                                uint32_t index, struct maar_page_table** table);
/* Returns the bytes of all pages that the image has. */
VkDeviceSize maar_sparse_committed(struct maar_sparse_image* image);
/* Returns the bytes of the pages for the driver's metadata. These were committed with the image. */
VkDeviceSize maar_sparse_metadata_size(struct maar_sparse_image* image);

/* The state of a walk over the tables of an image; zero at the beginning. */
struct maar_sparse_walk {
    uint32_t part; /* aspect, or aspect_count for the metadata */
    size_t index;
};
/* Returns the next table that exists, or NULL. The caller may destroy it. */
struct maar_page_table* maar_sparse_next_table(struct maar_sparse_image* image,
                                               struct maar_sparse_walk* walk);

/* ---- commit_tiles.c ---- */

/* Commits the tails of all aspects for some layers. */
VkResult maar_sparse_commit_tails(MaarAllocator allocator, const char* call,
                                  struct maar_sparse_image* image, uint32_t first_layer,
                                  uint32_t layer_count);
/* Returns whether the tails of a layer have all their memory. */
bool maar_sparse_tail_is_there(struct maar_sparse_image* image, uint32_t layer);

#endif
