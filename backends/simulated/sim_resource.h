/*
 * Buffers and images, and their memory requirements: sim_requirements.c.
 */
#ifndef MAAR_SIM_RESOURCE_H
#define MAAR_SIM_RESOURCE_H

#include "backends/simulated/sim_object.h"
#include "backends/simulated/sim_sparse.h"

struct sim_requirements {
    VkDeviceSize size, alignment;
    uint32_t type_bits;
    bool prefers_dedicated, requires_dedicated;
};

/* A buffer or an image. */
struct sim_resource {
    struct sim_object object;
    bool linear;
    bool sparse;
    struct sim_sparse pages; /* when sparse */
    uint64_t address;        /* of a sparse buffer */
    bool needs_address;
    bool aliased;         /* VK_IMAGE_CREATE_ALIAS_BIT */
    uint32_t plane_count; /* parts that are bound separately: more than 1 only when disjoint */
    struct sim_requirements requirements[SIM_MAX_PLANES];
    uint64_t memory[SIM_MAX_PLANES]; /* 0 when unbound */
    VkDeviceSize offset[SIM_MAX_PLANES];
    VkDeviceSize size; /* of a buffer, as the program requested */
    VkFormat format;   /* this field and those up to samples: of an image */
    VkImageType type;
    VkExtent3D extent;
    uint32_t mips, layers, samples;
    VkExternalMemoryHandleTypeFlags external_types; /* handle types that may share its memory */
    bool has_modifier;                              /* of an image */
    VkDeviceSize row_pitch;                         /* of a linear image's first plane */
    VkImageLayout initial_layout;
    uint32_t* layouts; /* of each level of each layer, plus 1; NULL before the first barrier */
    bool exclusive;    /* queue families do not share it */
    bool owned, released;
    uint32_t owner, released_to; /* queue families, where owned and released */
};

struct sim_format;

/* Returns the layout of a linear image's plane, for its first layer. Planes that are bound together
 * follow one another. */
VkSubresourceLayout sim_linear_layout(const struct sim_resource* resource,
                                      const struct sim_format* format, uint32_t index);
/* Fills in the requirements of a buffer that is being created. */
void sim_requirements_of_buffer(const struct sim_gpu* gpu, const VkBufferCreateInfo* info,
                                struct sim_requirements* requirements);
/* Fills in the requirements of an image: one part, or one part for each plane of a disjoint image.
 * Returns the number of parts. */
uint32_t sim_requirements_of_image(const struct sim_gpu* gpu, const VkImageCreateInfo* info,
                                   struct sim_requirements requirements[SIM_MAX_PLANES]);

#endif
