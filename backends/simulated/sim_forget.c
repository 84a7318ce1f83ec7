/*
 * Makes the bytes that leave a resource undefined, if a test asks for that. Another resource that
 * has the same bytes keeps them: any other for a placed resource, and another sparse one for a
 * sparse resource, so that a buffer over the whole memory, which copies pages, keeps nothing.
 */
#include "backends/simulated/sim_forget.h"

#include "backends/simulated/sim_bytes.h"

static bool sim_forget_is_on(const struct sim_device* device)
{
    return (device->gpu->flags & MAAR_SIMULATED_FORGET_UNBOUND_BIT) != 0;
}

/* Returns whether a resource other than the leaving one has some of these bytes. */
static bool sim_is_held_elsewhere(const struct sim_device* device, const struct sim_memory* memory,
                                  const struct sim_resource* leaving, VkDeviceSize offset,
                                  VkDeviceSize size)
{
    for (const struct sim_bind* bind = sim_tree_after(&memory->binds, offset);
         bind != NULL && bind->node.begin < offset + size;
         bind = sim_tree_next_after(&bind->node, offset)) {
        const struct sim_resource* other = sim_resource_peek(device, bind->resource);
        if (other != NULL && other != leaving && (other->sparse || !leaving->sparse)) {
            return true;
        }
    }
    return false;
}

/* Returns whether a piece of the batch binds some of these bytes. */
static bool sim_is_bound_by(const struct sim_piece* pieces, size_t count, uint64_t memory,
                            VkDeviceSize offset, VkDeviceSize size)
{
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].memory == memory && pieces[i].offset < offset + size &&
            offset < pieces[i].offset + pieces[i].size) {
            return true;
        }
    }
    return false;
}

/* Forgets the pages of one piece's range, one by one. */
static void sim_forget_piece(struct sim_device* device, const struct sim_resource* resource,
                             const struct sim_piece* piece, const struct sim_piece* pieces,
                             size_t count)
{
    const VkDeviceSize page = sim_or(resource->pages.page, 1);
    for (VkDeviceSize done = 0; done < piece->size; done += page) {
        const struct sim_place place = {resource, 0, piece->at + done};
        const VkDeviceSize left = piece->size - done;
        const struct sim_span span = sim_span_at(&place, left < page ? left : page);
        if (span.memory != NULL &&
            !sim_is_bound_by(pieces, count, span.memory->object.handle, span.offset, span.size) &&
            !sim_is_held_elsewhere(device, span.memory, resource, span.offset, span.size)) {
            sim_discard_memory(span.memory, span.offset, span.size);
        }
    }
}

void sim_forget_batch(struct sim_device* device, const struct sim_piece* pieces, size_t count)
{
    for (size_t i = 0; i < count && sim_forget_is_on(device); i++) {
        const struct sim_resource* resource = sim_resource_peek(device, pieces[i].resource);
        if (resource != NULL) {
            sim_forget_piece(device, resource, &pieces[i], pieces, count);
        }
    }
}

static void sim_forget_part(const struct sim_resource* resource, uint64_t handle,
                            VkDeviceSize offset, VkDeviceSize size)
{
    const struct sim_device* device = resource->object.device;
    struct sim_memory* memory = sim_object_peek(device, handle, SIM_KIND_MEMORY);
    if (memory != NULL && !sim_is_held_elsewhere(device, memory, resource, offset, size)) {
        sim_discard_memory(memory, offset, size);
    }
}

void sim_forget_resource(const struct sim_resource* resource)
{
    if (!sim_forget_is_on(resource->object.device)) {
        return;
    }
    for (const struct sim_run* run = sim_pages_after(&resource->pages, 0); run != NULL;
         run = sim_tree_next(&run->node)) {
        sim_forget_part(resource, run->memory, run->offset, run->node.end - run->node.begin);
    }
    for (uint32_t i = 0; !resource->sparse && i < resource->plane_count; i++) {
        sim_forget_part(resource, resource->memory[i], resource->offset[i],
                        resource->requirements[i].size);
    }
}
