/*
 * What the commands of the sample write into textures: the first contents, and paint.
 */
#ifndef MAAR_SAMPLE_HALL_CONTENTS_H
#define MAAR_SAMPLE_HALL_CONTENTS_H

#include "hall_scene.h"
#include "sample_work.h"

struct hall_contents {
    const struct sample_device* device;
    uint32_t side;
    VkBuffer paint; /* a square of one colour */
    MaarAllocation paint_memory;
    VkBuffer staging[SAMPLE_WORK_SLOTS]; /* a whole texture each */
    MaarAllocation staging_memory[SAMPLE_WORK_SLOTS];
};

bool hall_contents_create(struct hall_contents* contents, const struct sample_device* device,
                          uint32_t side);
void hall_contents_destroy(struct hall_contents* contents);

/* Records a barrier that gives an image the layout for shaders, if it has another one. */
void hall_contents_show(const MaarResidentObject* object, VkCommandBuffer commands);
/* Records the first contents of a texture. The last commands of the slot are done. */
bool hall_contents_load(const struct hall_contents* contents, uint32_t slot, uint32_t texture,
                        const MaarResidentObject* object, VkCommandBuffer commands);
/* Records a square of paint below the eye. The texture is that of the floor there. */
void hall_contents_paint(const struct hall_contents* contents, const struct hall_eye* eye,
                         const MaarResidentObject* object, VkCommandBuffer commands);

#endif
