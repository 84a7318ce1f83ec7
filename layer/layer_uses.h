/*
 * Uses of resources, on request (MAAR_CAPTURE_USES=1): the layer then intercepts the commands that
 * name buffers and images, keeps a list of uses for each command buffer, and writes the uses of
 * each submitted batch. Without the request it intercepts none of them.
 */
#ifndef MAAR_LAYER_USES_H
#define MAAR_LAYER_USES_H

#include "layer/layer_state.h"

/* Whether the user asked for uses. */
bool maar_layer_wants_uses(void);

/* Begins to record the uses of a new device, if they are wanted. The device has its handle. Returns
 * false without host memory. */
bool maar_layer_begin_uses(struct layer_device* device, const VkDeviceCreateInfo* info);
void maar_layer_end_uses(struct layer_device* device);

/* Finds the layer's own function among those for uses: of a device, if its uses are recorded, or of
 * any device (NULL). Returns NULL if there is none. */
PFN_vkVoidFunction maar_layer_find_use_hook(const struct layer_device* device, const char* name);

/* Objects begin and end. These calls do nothing unless uses are recorded. */
void maar_layer_use_buffer_begins(const struct layer_device* device, VkBuffer buffer,
                                  VkDeviceSize size);
void maar_layer_use_image_begins(const struct layer_device* device, VkImage image,
                                 const VkImageCreateInfo* info);
void maar_layer_use_object_ends(const struct layer_device* device, uint64_t handle, bool is_image);

/* Records the uses of a batch: of each command buffer in turn. */
void maar_layer_record_uses(const struct layer_device* device, uint64_t submission, uint32_t count,
                            const VkCommandBuffer* commands);
void maar_layer_record_uses2(const struct layer_device* device, uint64_t submission, uint32_t count,
                             const VkCommandBufferSubmitInfo* commands);

#endif
