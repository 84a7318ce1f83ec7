/*
 * Renders the planets of a heap, headless, a few frames ahead of the host.
 */
#ifndef MAAR_SAMPLE_CHEESE_VIEW_H
#define MAAR_SAMPLE_CHEESE_VIEW_H

#include "cheese_heap.h"

/* What one frame in flight has for itself. */
struct cheese_canvas {
    VkImage image;
    MaarAllocation image_memory;
    VkImageView view;
    VkBuffer pixels; /* receives the image */
    MaarAllocation pixels_memory;
    uint32_t frame; /* that was recorded last */
    bool is_used;
};

struct cheese_view {
    const struct sample_device* device;
    uint32_t width, height;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    struct cheese_canvas canvases[SAMPLE_WORK_SLOTS];
};

/* Creates the objects. Prints an error and returns false on failure. The caller destroys them in
 * every case. */
bool cheese_view_create(struct cheese_view* view, const struct sample_device* device,
                        const struct cheese_sets* sets, uint32_t width, uint32_t height);
void cheese_view_destroy(struct cheese_view* view);

/* Records a frame for the canvas with the number `slot`, which must be done with its last frame. */
void cheese_view_record(struct cheese_view* view, uint32_t slot, const struct cheese_heap* heap,
                        uint32_t frame, VkCommandBuffer commands);

/* Returns the pixels of the last frame of a canvas, whose commands must have been executed: four
 * bytes each. Returns NULL on failure. */
const uint8_t* cheese_view_read(const struct cheese_view* view, uint32_t slot);

#endif
