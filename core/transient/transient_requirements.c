/*
 * The driver's requirements of each resource, and the memory types that can serve it.
 *
 * Only memory types as good as the preferred one of a resource go into the plan. A class can use
 * the types that all of its members allow. A member that accepts poor memory must not draw the
 * others there. Once the classes are known, all types that their members allow become candidates
 * again, for the case that the best heap is full.
 */
#include "core/memory/object_handle.h"
#include "core/memory/pool.h"
#include "core/objects/object.h"
#include "core/transient/transient_check.h"
#include "core/transient/transient_plan.h"

MaarAllocationCreateInfo maar_transient_how(const struct maar_transient_heap* heap, bool lazy)
{
    MaarAllocationCreateInfo how = heap->how;
    if (lazy) {
        how.usage = MAAR_MEMORY_USAGE_TRANSIENT;
    }
    return how;
}

/* Ranks the memory types that a request allows, the best first. Where the heap has a pool, only the
 * pool's type counts. */
static bool rank(const struct maar_transient_heap* heap, uint32_t bits, bool lazy,
                 struct maar_type_choice* choice)
{
    const MaarAllocationCreateInfo how = maar_transient_how(heap, lazy);
    const struct maar_pool* pool = maar_pool_of(heap->allocator, how.pool);
    if (pool == NULL) {
        return maar_choose_types(heap->allocator, bits, &how, choice);
    }
    choice->bits = bits & (1u << pool->type_index);
    choice->count = 1;
    choice->own[0] = (uint8_t)pool->type_index;
    choice->types = choice->own;
    return choice->bits != 0;
}

/* Returns the types as good as the preferred one: in its heap, as near to the device, and equal for
 * the host's caches. */
static uint32_t best_types(MaarAllocator allocator, const struct maar_type_choice* choice)
{
    const VkMemoryPropertyFlags same =
        (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
        (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT |
        (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_CACHED_BIT |
        (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_PROTECTED_BIT |
        (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD |
        (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD;
    const uint32_t best = maar_best_type(choice);
    const uint32_t allowed = maar_candidate_bits(choice);
    uint32_t bits = 0;
    for (uint32_t type = 0; type < allocator->device.facts.memory.memoryTypeCount; ++type) {
        const VkMemoryPropertyFlags difference =
            maar_type_flags(allocator, type) ^ maar_type_flags(allocator, best);
        if ((allowed & (1u << type)) != 0 && (difference & same) == 0 &&
            maar_type_heap(allocator, type) == maar_type_heap(allocator, best)) {
            bits |= 1u << type;
        }
    }
    return bits;
}

static bool wants_lazy(const struct maar_transient_heap* heap,
                       const struct maar_transient_resource* resource)
{
    return resource->transient_attachment && !resource->keep &&
           (heap->how.usage == MAAR_MEMORY_USAGE_DEVICE_LOCAL ||
            heap->how.usage == MAAR_MEMORY_USAGE_TRANSIENT);
}

static VkResult refuse_types(const struct maar_transient_heap* heap,
                             const struct maar_transient_resource* resource, uint32_t index)
{
    return maar_fail(heap->allocator, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_NO_MEMORY_TYPE,
                     NULL,
                     "no memory type serves %s (memoryTypeBits 0x%x) as pAllocationInfo requires",
                     maar_transient_label_resource(index, resource->name).text,
                     (unsigned)resource->requirements.memoryTypeBits);
}

/* Chooses the memory types of a resource whose requirements are known. */
static VkResult choose_for(const struct maar_transient_heap* heap,
                           struct maar_transient_resource* resource, uint32_t index)
{
    MaarAllocator allocator = heap->allocator;
    struct maar_type_choice choice;
    const bool lazy = wants_lazy(heap, resource);
    if (!rank(heap, resource->requirements.memoryTypeBits, lazy, &choice)) {
        return refuse_types(heap, resource, index);
    }
    resource->lazy = lazy && (maar_type_flags(allocator, maar_best_type(&choice)) &
                              VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT) != 0;
    if (lazy && !resource->lazy &&
        !rank(heap, resource->requirements.memoryTypeBits, false, &choice)) {
        return refuse_types(heap, resource, index);
    }
    resource->type_bits = maar_candidate_bits(&choice);
    resource->best_type_bits = best_types(allocator, &choice);
    return VK_SUCCESS;
}

VkResult maar_transient_require(const struct maar_transient_heap* heap,
                                const MaarTransientGraph* info, const uint32_t* previous,
                                struct maar_transient_state* state)
{
    for (uint32_t i = 0; i < state->graph.resource_count; ++i) {
        struct maar_transient_resource* resource = &state->graph.resources[i];
        const struct maar_transient_resource* old =
            previous != NULL && previous[i] != MAAR_TRANSIENT_NONE
                ? &heap->state->graph.resources[previous[i]]
                : NULL;
        if (old != NULL && maar_transient_same_key(resource, old)) {
            resource->requirements = old->requirements;
            resource->kind = old->kind;
            resource->needs_dedicated = old->needs_dedicated;
        } else {
            MaarMemoryRequest request;
            VkResult result = resource->is_image
                                  ? maar_image_info_request(
                                        heap->allocator, info->pResources[i].pImageInfo, &request)
                                  : maar_buffer_info_request(
                                        heap->allocator, info->pResources[i].pBufferInfo, &request);
            if (result != VK_SUCCESS) {
                return result;
            }
            resource->requirements = request.requirements;
            resource->kind = request.kind;
            resource->needs_dedicated = request.requiresDedicated == VK_TRUE;
        }
        VkResult result = choose_for(heap, resource, i);
        if (result != VK_SUCCESS) {
            return result;
        }
    }
    return VK_SUCCESS;
}
