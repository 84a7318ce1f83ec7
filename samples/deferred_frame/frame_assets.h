/*
 * What the frame needs beside its transients: the scene's buffers, the noise texture, constants for
 * every frame, and a buffer that the host reads the picture from.
 */
#ifndef MAAR_SAMPLE_FRAME_ASSETS_H
#define MAAR_SAMPLE_FRAME_ASSETS_H

#include "frame_options.h"
#include "frame_scene.h"
#include "sample_device.h"

struct frame_buffer {
    VkBuffer buffer;
    MaarAllocation allocation;
};

struct frame_assets {
    struct frame_buffer vertices, indices, instances, constants, picture;
    VkDeviceSize constants_stride, picture_size;
    VkImage noise;
    MaarAllocation noise_allocation;
    VkImageView noise_view;
};

/* Makes and fills everything, and waits. Complains on failure; destroy in any case. */
bool frame_assets_create(struct frame_assets* assets, struct sample_device* device,
                         const struct frame_scene* scene, const struct frame_options* options);

void frame_assets_destroy(struct frame_assets* assets, struct sample_device* device);

#endif
