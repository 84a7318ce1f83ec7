/*
 * Draws the hall, headless: surfaces first, then their light.
 */
#ifndef MAAR_SAMPLE_HALL_VIEW_H
#define MAAR_SAMPLE_HALL_VIEW_H

#include "hall_pipelines.h"
#include "hall_scene.h"
#include "sample_work.h"

enum { HALL_COLOUR, HALL_SURFACE, HALL_DEPTH, HALL_LIT, HALL_TARGETS };

/* A render target. All frames use the same ones, one after another. */
struct hall_target {
    VkImage image;
    MaarAllocation memory;
    VkImageView view;
};

/* How the frames of a slot reach a texture. */
struct hall_binding {
    uint64_t epoch; /* of the object that the view belongs to */
    VkImageView view;
    VkDescriptorSet set;
};

struct hall_view {
    const struct sample_device* device;
    uint32_t width, height, texture_count;
    bool forgets_epochs; /* a mistake: views are never made anew */
    struct hall_pipeline surface, light;
    struct hall_target targets[HALL_TARGETS];
    VkSampler sampler;
    VkDescriptorPool pool;
    VkDescriptorSet lit;
    /* For each slot of the commands: */
    struct hall_binding* bindings[SAMPLE_WORK_SLOTS]; /* for each texture */
    VkBuffer pixels[SAMPLE_WORK_SLOTS];               /* receive the frames */
    MaarAllocation pixels_memory[SAMPLE_WORK_SLOTS];
};

/* A texture that a frame uses. */
struct hall_seen {
    uint32_t texture;
    MaarResidentObject object;
};

bool hall_view_create(struct hall_view* view, const struct sample_device* device,
                      uint32_t texture_count, uint32_t width, uint32_t height);
void hall_view_destroy(struct hall_view* view);

/* Records a frame for a slot whose last frame is done. The textures have the layout for shaders. */
bool hall_view_record(struct hall_view* view, uint32_t slot, const struct hall_eye* eye,
                      uint32_t count, const struct hall_seen* seen, VkCommandBuffer commands);

/* Returns the pixels of the last frame of a slot, which is done, four bytes each; or NULL. */
const uint8_t* hall_view_read(const struct hall_view* view, uint32_t slot);

#endif
