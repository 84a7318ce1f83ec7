/*
 * The frame's objects beside its transients: the scene's buffers, the noise texture, constants for
 * every frame, and a buffer from which the host reads the picture.
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

/* Creates and fills everything, and waits. Prints an error on failure. The caller destroys the
 * assets in every case. */
bool frame_assets_create(struct frame_assets* assets, struct sample_device* device,
                         const struct frame_scene* scene, const struct frame_options* options);

void frame_assets_destroy(struct frame_assets* assets, struct sample_device* device);

#endif
