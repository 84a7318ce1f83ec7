/*
 * The resources that a command buffer's commands use. The driver checks the handles of each
 * command: they must be live and bound to memory.
 */
#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_command.h"
#include "backends/simulated/sim_format.h"
#include "backends/simulated/sim_resource.h"
#include "backends/simulated/sim_submission.h"

#include <string.h>

enum { SIM_FIRST_USES = 8 };

/* Checks that a resource which a command uses is live and bound to live memory. */
static void sim_command_check_use(struct sim_device* d, enum sim_function function, uint64_t handle,
                                  enum sim_kind kind)
{
    const struct sim_resource* resource = sim_object_get(d, function, handle, kind);
    for (uint32_t i = 0; resource != NULL && !resource->sparse && i < resource->plane_count; i++) {
        if (sim_object_peek(d, resource->memory[i], SIM_KIND_MEMORY) == NULL) {
            sim_violate(d->gpu, function, MAAR_SIMULATED_VIOLATION_UNBOUND, "the %s has no memory",
                        sim_kind_name(kind));
        }
    }
}

/* Makes room in a command buffer's list of uses. Returns false without host memory. */
static bool sim_command_grow(struct sim_command_buffer* self)
{
    const VkAllocationCallbacks* callbacks = self->object.device->callbacks;
    const uint32_t capacity = self->use_capacity == 0 ? SIM_FIRST_USES : self->use_capacity * 2;
    struct sim_use* uses = maar_host_calloc(callbacks, capacity, sizeof(*uses));
    if (uses == NULL) {
        return false;
    }
    if (self->uses != NULL) {
        memcpy(uses, self->uses, self->use_count * sizeof(*uses));
    }
    maar_host_free(callbacks, self->uses);
    self->uses = uses;
    self->use_capacity = capacity;
    return true;
}

/* Adds a use to the command buffer, for its submission. One thread at a time uses a command
 * buffer. */
static void sim_command_keep(struct sim_command_buffer* self, const struct sim_use* use)
{
    if (self->uses != NULL && self->use_count != 0) {
        const struct sim_use* last = &self->uses[self->use_count - 1];
        if (last->resource == use->resource && last->at == use->at && last->size == use->size) {
            return;
        }
    }
    if (self->uses == NULL || self->use_count == self->use_capacity) {
        if (!sim_command_grow(self)) {
            return;
        }
    }
    self->uses[self->use_count++] = *use;
}

void sim_command_take_uses(struct sim_command_buffer* self, const struct sim_command_buffer* from)
{
    for (uint32_t i = 0; i < from->use_count; i++) {
        sim_command_keep(self, &from->uses[i]);
    }
}

void sim_command(VkCommandBuffer commandBuffer, enum sim_function function)
{
    struct sim_command_buffer* self = (struct sim_command_buffer*)(void*)commandBuffer;
    struct sim_device* d = self->object.device;
    sim_enter(d->gpu, d, function);
    sim_lock_gpu(d->gpu);
    if (self->state != SIM_COMMAND_RECORDING) {
        sim_violate(d->gpu, function, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "the command buffer is not recording");
    }
    sim_unlock_gpu(d->gpu);
}

/* Records the ranges of a buffer that a command uses. */
static struct sim_command_buffer* sim_command_use(VkCommandBuffer commandBuffer,
                                                  enum sim_function function, uint64_t handle,
                                                  enum sim_kind kind)
{
    struct sim_command_buffer* self = (struct sim_command_buffer*)(void*)commandBuffer;
    struct sim_device* d = self->object.device;
    sim_lock_gpu(d->gpu);
    sim_command_check_use(d, function, handle, kind);
    sim_unlock_gpu(d->gpu);
    return self;
}

void sim_command_use_buffer(VkCommandBuffer commandBuffer, enum sim_function function,
                            VkBuffer buffer, VkDeviceSize at, VkDeviceSize size)
{
    const struct sim_use use = {SIM_HANDLE(buffer), at, size};
    struct sim_command_buffer* self =
        sim_command_use(commandBuffer, function, use.resource, SIM_KIND_BUFFER);
    sim_command_keep(self, &use);
}

void sim_command_use_image(VkCommandBuffer commandBuffer, enum sim_function function, VkImage image)
{
    const struct sim_use use = {SIM_HANDLE(image), 0, SIM_ALL_BYTES};
    struct sim_command_buffer* self =
        sim_command_use(commandBuffer, function, use.resource, SIM_KIND_IMAGE);
    sim_command_keep(self, &use);
}

/* Records the tiles of one layer that hold the given texels, row by row. */
static void sim_command_keep_tiles(struct sim_command_buffer* self,
                                   const struct sim_resource* image, const struct sim_cut* cut,
                                   uint32_t layer, uint32_t mip_level, const VkOffset3D* offset,
                                   const VkExtent3D* extent)
{
    const VkExtent3D tile = cut->format.imageGranularity;
    const VkExtent3D level = sim_sparse_tiles(image, cut, mip_level);
    const VkDeviceSize base = sim_sparse_level_at(image, cut, layer, mip_level);
    const uint32_t x = (uint32_t)offset->x / tile.width;
    const uint32_t y = (uint32_t)offset->y / tile.height;
    const uint32_t z = (uint32_t)offset->z / tile.depth;
    const uint32_t width = ((uint32_t)offset->x + extent->width + tile.width - 1u) / tile.width - x;
    const uint32_t height =
        ((uint32_t)offset->y + extent->height + tile.height - 1u) / tile.height - y;
    const uint32_t depth = ((uint32_t)offset->z + extent->depth + tile.depth - 1u) / tile.depth - z;
    for (uint32_t row = 0; row < height * depth; row++) {
        const VkDeviceSize at_y = y + row % height;
        const VkDeviceSize at_z = z + row / height;
        const VkDeviceSize at =
            base + ((at_z * level.height + at_y) * level.width + x) * image->pages.page;
        sim_command_keep(self,
                         &(struct sim_use){image->object.handle, at, width * image->pages.page});
    }
}

/* Records the texels of an image that a command uses: the tiles that hold them, or the whole mip
 * tail. */
void sim_command_use_texels(VkCommandBuffer commandBuffer, enum sim_function function,
                            VkImage image, const VkImageSubresourceLayers* layers,
                            const VkOffset3D* offset, const VkExtent3D* extent)
{
    const uint64_t handle = SIM_HANDLE(image);
    struct sim_command_buffer* self =
        sim_command_use(commandBuffer, function, handle, SIM_KIND_IMAGE);
    struct sim_device* d = self->object.device;
    sim_lock_gpu(d->gpu);
    const struct sim_resource* found = sim_object_peek(d, handle, SIM_KIND_IMAGE);
    sim_unlock_gpu(d->gpu);
    if (found == NULL || !found->pages.residency) {
        sim_command_keep(self, &(struct sim_use){handle, 0, SIM_ALL_BYTES});
        return;
    }
    for (uint32_t c = 0; c < found->pages.cut_count; c++) {
        const struct sim_cut* cut = &found->pages.cuts[c];
        const uint32_t first = layers->baseArrayLayer;
        for (uint32_t layer = first; (cut->format.aspectMask & layers->aspectMask) != 0 &&
                                     layer < found->layers && layer - first < layers->layerCount;
             layer++) {
            if (layers->mipLevel >= cut->tail_first) {
                const VkDeviceSize at = cut->tail.at + cut->tail.at_stride * layer;
                sim_command_keep(self, &(struct sim_use){handle, at, cut->tail.size});
            } else {
                sim_command_keep_tiles(self, found, cut, layer, layers->mipLevel, offset, extent);
            }
        }
    }
}
