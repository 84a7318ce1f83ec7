/*
 * The current layout of each level of each layer, and the family that owns a resource which
 * families do not share. Ownership is tracked for whole resources: a transfer of a part counts for
 * all.
 */
#include "backends/simulated/sim_layout.h"

#include "backends/simulated/sim_bytes.h"
#include "backends/simulated/sim_check.h"

static size_t sim_layouts_size(const struct sim_resource* image)
{
    return (size_t)image->mips * image->layers * sizeof(image->layouts[0]);
}

void sim_layout_release(struct sim_resource* image)
{
    if (image->layouts != NULL) {
        sim_pages_unmap(image->layouts, sim_layouts_size(image));
        image->layouts = NULL;
    }
}

/* Returns the current layout of a subresource. Layouts that no barrier has changed are not stored.
 */
static VkImageLayout sim_layout_of(const struct sim_resource* image, uint32_t level, uint32_t layer)
{
    const uint32_t stored =
        image->layouts != NULL ? image->layouts[layer * image->mips + level] : 0;
    return stored == 0 ? image->initial_layout : (VkImageLayout)(stored - 1);
}

void sim_layout_check(struct sim_hazard* hazard, const struct sim_resource* image,
                      const VkImageSubresourceRange* range, VkImageLayout layout, bool writes)
{
    const VkImageLayout own =
        writes ? VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL : VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    if (hazard == NULL) {
        return;
    }
    if (layout != own && layout != VK_IMAGE_LAYOUT_GENERAL) {
        sim_violate(hazard->device->gpu, hazard->function, MAAR_SIMULATED_VIOLATION_LAYOUT,
                    "layout %d does not allow a command to %s the image", (int)layout,
                    writes ? "write" : "read");
    }
    for (uint32_t i = 0; i < range->levelCount * range->layerCount; i++) {
        const uint32_t level = range->baseMipLevel + i / range->layerCount;
        const uint32_t layer = range->baseArrayLayer + i % range->layerCount;
        if (level < image->mips && layer < image->layers &&
            sim_layout_of(image, level, layer) != layout) {
            sim_violate(hazard->device->gpu, hazard->function, MAAR_SIMULATED_VIOLATION_LAYOUT,
                        "the command names layout %d, but level %u of layer %u has layout %d",
                        (int)layout, level, layer, (int)sim_layout_of(image, level, layer));
            return;
        }
    }
}

void sim_layout_move(struct sim_hazard* hazard, struct sim_resource* image,
                     const VkImageSubresourceRange* range, VkImageLayout from, VkImageLayout to)
{
    bool wrong = false;
    if (hazard == NULL) {
        return;
    }
    if (image->layouts == NULL) {
        image->layouts = sim_pages_map(sim_layouts_size(image));
    }
    for (uint32_t i = 0; image->layouts != NULL && i < range->levelCount * range->layerCount; i++) {
        const uint32_t level = range->baseMipLevel + i / range->layerCount;
        const uint32_t layer = range->baseArrayLayer + i % range->layerCount;
        const VkImageLayout now = sim_layout_of(image, level, layer);
        if (from != VK_IMAGE_LAYOUT_UNDEFINED && from != now && !wrong) {
            wrong = true;
            sim_violate(hazard->device->gpu, hazard->function, MAAR_SIMULATED_VIOLATION_LAYOUT,
                        "a barrier moves level %u of layer %u from layout %d, but its layout is %d",
                        level, layer, (int)from, (int)now);
        }
        image->layouts[layer * image->mips + level] = (uint32_t)to + 1;
    }
}

/* Makes all contents of a resource undefined. */
static void sim_owner_discard(const struct sim_resource* resource)
{
    for (uint32_t i = 0; i < resource->plane_count; i++) {
        const struct sim_place place = {resource, i, 0};
        sim_discard_bytes(&place, resource->requirements[i].size);
    }
}

void sim_owner_use(struct sim_hazard* hazard, struct sim_resource* resource, bool reads)
{
    if (hazard == NULL || !resource->exclusive) {
        return;
    }
    const uint32_t family = hazard->family;
    if (resource->owned && resource->owner != family) {
        if (reads) {
            sim_violate(hazard->device->gpu, hazard->function, MAAR_SIMULATED_VIOLATION_OWNERSHIP,
                        "queue family %u reads a resource that family %u owns; its contents are "
                        "lost",
                        family, resource->owner);
        }
        sim_owner_discard(resource);
    }
    resource->owned = true;
    resource->released = false;
    resource->owner = family;
}

bool sim_owner_barrier(struct sim_hazard* hazard, struct sim_resource* resource,
                       const struct sim_barrier* barrier)
{
    const uint32_t from = barrier->from_family;
    const uint32_t to = barrier->to_family;
    if (hazard == NULL || from == to || !resource->exclusive) {
        return false;
    }
    if (from == hazard->family) {
        sim_owner_use(hazard, resource, barrier->from_layout != VK_IMAGE_LAYOUT_UNDEFINED);
        resource->released = true;
        resource->released_to = to;
        return true;
    }
    const bool outside = from == VK_QUEUE_FAMILY_EXTERNAL || from == VK_QUEUE_FAMILY_FOREIGN_EXT;
    const bool matches = resource->owned && resource->owner == from && resource->released &&
                         resource->released_to == to && to == hazard->family;
    const bool discards = barrier->image && barrier->from_layout == VK_IMAGE_LAYOUT_UNDEFINED;
    if (!matches && !outside && !discards) {
        sim_violate(hazard->device->gpu, hazard->function, MAAR_SIMULATED_VIOLATION_OWNERSHIP,
                    "queue family %u acquires a resource that family %u has not released to it", to,
                    from);
        sim_owner_discard(resource);
    }
    resource->owned = true;
    resource->released = false;
    resource->owner = hazard->family;
    return false;
}
