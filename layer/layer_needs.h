/*
 * What the driver wants for an object, asked down the layer's own chain.
 */
#ifndef MAAR_LAYER_NEEDS_H
#define MAAR_LAYER_NEEDS_H

#include "layer/layer_state.h"

struct layer_needs {
    uint64_t size;
    uint64_t alignment;
    uint32_t type_bits;
    uint32_t flags; /* MaarCaptureNeedsFlagBits */
};

/* Asks for a buffer's requirements. */
void maar_layer_buffer_needs(const struct layer_device* device, VkBuffer buffer,
                             struct layer_needs* needs);

/* Asks for an image's requirements; those of a disjoint image plane by plane. */
void maar_layer_image_needs(const struct layer_device* device, const VkImageCreateInfo* info,
                            VkImage image, struct layer_needs* needs);

#endif
