/*
 * Sparse resources: their division into tiles (sim_sparse.c), and their pages (sim_pages.c).
 */
#ifndef MAAR_SIM_SPARSE_H
#define MAAR_SIM_SPARSE_H

#include "backends/simulated/sim.h"
#include "backends/simulated/sim_tree.h"

/* A range of a sparse resource that is bound to memory, in the tree of its resource by its places.
 * A place is an offset in an order that the driver defines. For a buffer, the order is that of its
 * bytes. For an image, the layers follow one another; a layer holds its levels, then its mip tail;
 * a level holds its tiles along x, y and z. The parts that all layers share come last. */
struct sim_run {
    struct sim_node node;
    uint64_t memory;
    VkDeviceSize offset;
};

/* A mip tail or the metadata: `count` parts of `size` bytes each. The program names the part of a
 * layer by `offset` + `stride` * layer. The place of that part is `at` + `at_stride` * layer. */
struct sim_tail {
    VkDeviceSize offset, stride, size;
    VkDeviceSize at, at_stride;
    uint32_t count;
};

/* The layout of the tiles of one aspect of an image. */
struct sim_cut {
    VkSparseImageFormatProperties format;
    uint32_t tail_first;
    VkDeviceSize at, layer_stride; /* place of the first layer's tiles; distance between layers */
    struct sim_tail tail;
};

struct sim_sparse {
    bool residency;
    bool aliased;
    VkDeviceSize page;
    uint32_t cut_count; /* 0 without image residency; 2 for depth with stencil */
    struct sim_cut cuts[SIM_MAX_CUTS];
    struct sim_tail metadata;
    struct sim_tree runs; /* struct sim_run */
    VkDeviceSize bound;   /* bytes of all runs */
};

/* One change of a sparse resource's pages. */
struct sim_piece {
    uint64_t resource;
    VkDeviceSize at, size;
    uint64_t memory; /* 0: unbound */
    VkDeviceSize offset;
};

/* Returns the bytes of a tile, which are also those of every other page of an image. */
VkDeviceSize sim_sparse_page(const struct sim_gpu* gpu);
/* Fills in a new image's division into tiles, and its size. */
void sim_sparse_describe(const struct sim_gpu* gpu, const VkImageCreateInfo* info,
                         struct sim_sparse* sparse, struct sim_requirements* requirements);
/* Fills in the tile format of each aspect of such an image. Returns the number of aspects; 0 when
 * the image cannot be partially resident. */
uint32_t sim_sparse_formats(const struct sim_gpu* gpu, VkFormat format, VkImageType type,
                            VkSampleCountFlagBits samples,
                            VkSparseImageFormatProperties properties[SIM_MAX_CUTS]);
/* Checks that the features which a buffer's or an image's flags need are enabled. Lock held. */
void sim_sparse_check_features(struct sim_device* device, enum sim_function function, VkFlags flags,
                               const VkImageCreateInfo* image);
/* Returns the number of tiles of a level in each dimension. */
VkExtent3D sim_sparse_tiles(const struct sim_resource* image, const struct sim_cut* cut,
                            uint32_t level);
/* Returns the place where a level of a layer begins. */
VkDeviceSize sim_sparse_level_at(const struct sim_resource* image, const struct sim_cut* cut,
                                 uint32_t layer, uint32_t level);
/* Returns the cut of an aspect of an image with residency; NULL when no cut has the aspect. */
const struct sim_cut* sim_sparse_cut(const struct sim_resource* image, VkImageAspectFlags aspect);

/* Returns an upper bound of the number of pieces of a batch of binds. Lock held. */
size_t sim_pages_count(const struct sim_device* device, const VkBindSparseInfo* info);
/* Checks a batch and fills in its pieces. Returns their number, which is at most the result of
 * sim_pages_count(). Lock held. */
size_t sim_pages_collect(struct sim_device* device, const VkBindSparseInfo* info,
                         struct sim_piece* pieces);
/* Sorts the pieces of one batch and executes them. Returns false without host memory. Lock held
 * before and after, free during a host allocation. */
bool sim_pages_execute(struct sim_device* device, struct sim_piece* pieces, size_t count);
/* Removes all pages of a sparse resource from their memories. Lock held. */
void sim_pages_forget(struct sim_resource* resource);
/* Unbinds all pages that lie in a memory that is being freed. Lock held. */
void sim_pages_memory_freed(struct sim_memory* memory);
/* Returns the first run that ends after a place, or NULL. Lock held. */
struct sim_run* sim_pages_after(const struct sim_sparse* pages, VkDeviceSize at);
/* Returns whether any byte of [first, end) is bound. Lock held. */
bool sim_pages_have(const struct sim_resource* resource, VkDeviceSize first, VkDeviceSize end);
/* Returns whether any byte of [at, at + size) is bound to a given memory. Lock held. */
bool sim_pages_lie_in(const struct sim_resource* resource, VkDeviceSize at, VkDeviceSize size,
                      uint64_t memory);
/* Checks that a sparse resource which a command uses has the pages that it needs. Lock held. */
void sim_pages_check_use(const struct sim_resource* resource, enum sim_function function);

#endif
