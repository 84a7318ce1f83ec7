/*
 * Copies between the device's object of a resident and its host object. The host object has the
 * bytes of a buffer, or the texels of an image: level after level, in each level plane after plane,
 * in each plane layer after layer, tightly packed.
 */
#ifndef MAAR_CORE_RESIDENCY_RESIDENT_COPY_H
#define MAAR_CORE_RESIDENCY_RESIDENT_COPY_H

#include "core/residency/residency_state.h"

/* A walk over the regions of an image. */
struct maar_region_walk {
    const VkImageCreateInfo* info;
    uint32_t level;
    uint32_t aspect;
    VkDeviceSize end; /* bytes of the regions so far */
};

/* Returns whether images like this can be copied: one sample, one plane, a known format. */
bool maar_is_copied_image(const VkImageCreateInfo* info);
/* Writes the next region. Returns false after the last one. The walk begins with only the info
 * set. */
bool maar_region_next(struct maar_region_walk* walk, VkBufferImageCopy* region);
/* Returns the bytes of the texels of all levels and layers of an image that can be copied. */
VkDeviceSize maar_content_size(const VkImageCreateInfo* info);
/* Record a copy to the host object, or from it. The image is in `layout` before the copy to the
 * host, and in the layout of the resident after the copy from it. keeps: the image goes on. The
 * caller records the barriers before and after all copies. */
void maar_resident_record_save(const struct maar_residency* it,
                               const struct maar_resident* resident, bool keeps,
                               VkCommandBuffer commands);
void maar_resident_record_restore(const struct maar_residency* it,
                                  const struct maar_resident* resident, VkCommandBuffer commands);

#endif
