/*
 * Draws the map by a compute shader. Each frame in flight has its own input and output.
 */
#ifndef MAAR_SAMPLE_TEXTURE_VIEW_H
#define MAAR_SAMPLE_TEXTURE_VIEW_H

#include "sample_device.h"
#include "texture_camera.h"
#include "texture_stream.h"

#define TEXTURE_FRAMES_IN_FLIGHT 3u

/* The flags in a plan's haze, from bit 16 on. */
enum texture_kind { TEXTURE_KIND_MAP = 0, TEXTURE_KIND_OUTSIDE = 1, TEXTURE_KIND_SKY = 2 };

/* The shader's plan for a pixel: a place in 256ths of a texel of level 0, the wanted level in
 * 256ths, the haze or sky in front in 256ths, and the number of probes, which lie at odd multiples
 * of half a step around that place. */
struct texture_pixel_plan {
    uint32_t x, y, level, haze;
    int32_t half_step_x, half_step_y;
    uint32_t probes;
    uint32_t unused;
};

struct texture_buffer {
    VkBuffer buffer;
    MaarAllocation allocation;
    VkDeviceSize size;
};

/* The resources of one frame in flight. */
struct texture_slot {
    struct texture_buffer levels;   /* the levels that may be sampled; written by the host */
    struct texture_buffer requests; /* written by the shader, like the next two */
    struct texture_buffer pixels;
    struct texture_buffer plans;
    VkDescriptorSet set;
    VkCommandBuffer commands;
};

/* The parameters of a frame's drawing. */
struct texture_drawing {
    struct texture_camera camera;
    uint32_t asking; /* the one in 64 pixels that requests its tile */
    bool tint;
    bool plan; /* store the plan of fetches */
    uint32_t frame;
};

struct texture_view {
    struct sample_device* device;
    uint32_t width, height;
    uint32_t request_count;
    uint32_t map[4]; /* for the shader: texels, levels, log2 of a tile's width and height */
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkDescriptorPool sets;
    VkCommandPool pool;
    VkQueryPool queries; /* two timestamps for each frame, read at the end; null if unsupported */
    struct texture_slot slots[TEXTURE_FRAMES_IN_FLIGHT];
};

bool texture_view_create(struct texture_view* view, struct sample_device* device,
                         const struct texture_stream* stream, uint32_t width, uint32_t height,
                         uint32_t frame_count);

void texture_view_destroy(struct texture_view* view);

/* Records a frame into a slot's command buffer. `levels` has one element for each tile of level 0.
 * The slot's last frame must have been executed. */
bool texture_view_record(struct texture_view* view, uint32_t slot,
                         const struct texture_drawing* drawing, const uint8_t* levels,
                         uint32_t level_count);

/* Makes the device's output visible to the host. */
bool texture_view_read(const struct texture_view* view, const struct texture_buffer* buffer,
                       void* data);

#endif
