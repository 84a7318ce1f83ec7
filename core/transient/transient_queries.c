/*
 * Reading a transient heap: its figures, its resources, and the barriers and waits of its passes.
 */
#include "core/objects/object.h"
#include "core/transient/transient_state.h"

/* Finds the heap of a public call that fills a structure, and checks the type of the structure. */
static VkResult enter_query(MaarAllocator allocator, const char* call, MaarTransientHeap heap,
                            const char* name, const void* structure, int wanted,
                            struct maar_transient_heap** found)
{
    const VkResult result = maar_transient_enter(allocator, call, heap, found);
    return result == VK_SUCCESS ? maar_check_structure(allocator, call, name, structure, wanted)
                                : result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetTransientHeapInfo(MaarAllocator allocator,
                                                        MaarTransientHeap heap,
                                                        MaarTransientHeapInfo* pInfo)
{
    struct maar_transient_heap* self = NULL;
    const VkResult result = enter_query(allocator, __func__, heap, "pInfo", pInfo,
                                        MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_INFO, &self);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_transient_state* state = self->state;
    *pInfo = (MaarTransientHeapInfo){
        .sType = pInfo->sType,
        .pNext = pInfo->pNext,
        .copyCount = self->copy_count,
        .plan = state->plan,
        .totalSize = state->sizes.resources,
        .peakSize = state->sizes.classes,
        .lazySize = state->sizes.lazy,
        .objectReuseSize = state->object_reuse_size,
        .lowerBound = state->plan_info.lowerBound + state->sizes.dedicated,
        .provedOptimal = state->plan_info.provedOptimal,
        .createdCount = state->created_count,
        .keptCount = state->kept_count,
        .generation = self->generation,
    };
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetTransientResource(MaarAllocator allocator,
                                                        MaarTransientHeap heap, uint32_t copyIndex,
                                                        uint32_t resourceIndex,
                                                        MaarTransientResourceInfo* pInfo)
{
    struct maar_transient_heap* self = NULL;
    const VkResult result = enter_query(allocator, __func__, heap, "pInfo", pInfo,
                                        MAAR_STRUCTURE_TYPE_TRANSIENT_RESOURCE_INFO, &self);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_transient_state* state = self->state;
    if (copyIndex >= self->copy_count || resourceIndex >= state->graph.resource_count) {
        const bool copy = copyIndex >= self->copy_count;
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                         __func__, "%s is %u, not below the %s (%u)",
                         copy ? "copyIndex" : "resourceIndex", copy ? copyIndex : resourceIndex,
                         copy ? "heap's copyCount" : "graph's resourceCount",
                         copy ? self->copy_count : state->graph.resource_count);
    }
    const struct maar_transient_resource* resource = &state->graph.resources[resourceIndex];
    const struct maar_transient_object* object =
        maar_transient_object_at(state, copyIndex, resourceIndex);
    const uint64_t handle = object->handle;
    const uint32_t view_count = handle != 0 ? resource->view_count : 0;
    *pInfo = (MaarTransientResourceInfo){
        .sType = pInfo->sType,
        .pNext = pInfo->pNext,
        .buffer = resource->is_image ? VK_NULL_HANDLE : MAAR_FROM_BITS(VkBuffer, handle),
        .image = resource->is_image ? MAAR_FROM_BITS(VkImage, handle) : VK_NULL_HANDLE,
        .viewCount = view_count,
        .pViews = view_count > 0 ? object->views : NULL,
        .generation = object->generation,
        .allocation = maar_transient_memory_at(state, copyIndex, resource->class_index)->allocation,
        .offset = resource->offset,
        .size = resource->requirements.size,
        .classIndex = resource->class_index,
    };
    return VK_SUCCESS;
}

/* ---- barriers ---- */

/* The answer to one question of the caller. */
struct barrier_answer {
    struct maar_transient_state* state;
    uint32_t copy;
    bool first; /* the frame is the first of its copy */
    uint32_t image_count;
    uint32_t buffer_count;
};

static void write_global(struct barrier_answer* a, uint32_t slot,
                         const struct maar_transient_global* global, VkDependencyInfo* info)
{
    VkMemoryBarrier2* barrier = &a->state->records.globals[slot];
    *info = (VkDependencyInfo){.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
    if (global->src_stages != 0) {
        *barrier = (VkMemoryBarrier2){
            .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
            .srcStageMask = global->src_stages,
            .srcAccessMask = global->src_access,
            .dstStageMask = global->dst_stages,
            .dstAccessMask = global->dst_access,
        };
        info->memoryBarrierCount = 1;
        info->pMemoryBarriers = barrier;
    }
}

static void write_image(struct barrier_answer* a, const struct maar_transient_barrier* b)
{
    const struct maar_transient_records* records = &a->state->records;
    const struct maar_transient_object* object =
        maar_transient_object_at(a->state, a->copy, b->resource);
    /* Kept contents may be in the right layout already. The barrier is never left out, since other
     * uses rely on its order. */
    const bool carries = b->carries && a->first && object->has_contents;
    records->image_resources[a->image_count] = b->resource;
    records->images[a->image_count++] = (VkImageMemoryBarrier2){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = b->src_stages,
        .srcAccessMask = b->src_access,
        .dstStageMask = b->dst_stages,
        .dstAccessMask = b->dst_access,
        .oldLayout = carries ? object->old_layout : b->old_layout,
        .newLayout = b->new_layout,
        .srcQueueFamilyIndex = b->src_family,
        .dstQueueFamilyIndex = b->dst_family,
        .image = MAAR_FROM_BITS(VkImage, object->handle),
        .subresourceRange =
            {
                .aspectMask = a->state->graph.resources[b->resource].aspects,
                .levelCount = VK_REMAINING_MIP_LEVELS,
                .layerCount = VK_REMAINING_ARRAY_LAYERS,
            },
    };
}

static void write_buffer(struct barrier_answer* a, const struct maar_transient_barrier* b)
{
    const struct maar_transient_records* records = &a->state->records;
    const struct maar_transient_object* object =
        maar_transient_object_at(a->state, a->copy, b->resource);
    records->buffer_resources[a->buffer_count] = b->resource;
    records->buffers[a->buffer_count++] = (VkBufferMemoryBarrier2){
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2,
        .srcStageMask = b->src_stages,
        .srcAccessMask = b->src_access,
        .dstStageMask = b->dst_stages,
        .dstAccessMask = b->dst_access,
        .srcQueueFamilyIndex = b->src_family,
        .dstQueueFamilyIndex = b->dst_family,
        .buffer = MAAR_FROM_BITS(VkBuffer, object->handle),
        .size = VK_WHOLE_SIZE,
    };
}

/* Writes barriers of images, then of buffers, after those that were written before. */
static void write_barriers(struct barrier_answer* a, uint32_t first, uint32_t images,
                           uint32_t buffers, VkDependencyInfo* info)
{
    const struct maar_transient_records* records = &a->state->records;
    const uint32_t first_image = a->image_count;
    const uint32_t first_buffer = a->buffer_count;
    for (uint32_t i = 0; i < images + buffers; ++i) {
        if (i < images) {
            write_image(a, &records->barriers[first + i]);
        } else {
            write_buffer(a, &records->barriers[first + i]);
        }
    }
    info->imageMemoryBarrierCount = a->image_count - first_image;
    info->pImageMemoryBarriers =
        info->imageMemoryBarrierCount > 0 ? &records->images[first_image] : NULL;
    info->bufferMemoryBarrierCount = a->buffer_count - first_buffer;
    info->pBufferMemoryBarriers =
        info->bufferMemoryBarrierCount > 0 ? &records->buffers[first_buffer] : NULL;
}

static VkBool32 has_barriers(const VkDependencyInfo* info)
{
    return info->memoryBarrierCount + info->bufferMemoryBarrierCount +
                       info->imageMemoryBarrierCount >
                   0
               ? VK_TRUE
               : VK_FALSE;
}

/* Frames of an earlier graph may still be executing on the queue. The first pass of the queue waits
 * for all of them. */
static const struct maar_transient_global after_update = {
    .src_stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    .src_access = VK_ACCESS_2_MEMORY_WRITE_BIT,
    .dst_stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    .dst_access = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT,
};

/* Whether a frame is the first of its copy. The graph's frames are counted from the first one that
 * the program asked about. */
static bool is_first_of_copy(struct maar_transient_heap* heap, uint64_t frame)
{
    if (!heap->counting) {
        heap->counting = true;
        heap->first_frame = frame;
    }
    return frame < heap->first_frame || frame - heap->first_frame < heap->copy_count;
}

/* Counts a question about a pass of a first frame. Too many of them are reported once. */
static void count_question(MaarAllocator allocator, struct maar_transient_state* state,
                           uint64_t frame, uint32_t pass)
{
    if (state->asked[pass] < MAAR_TRANSIENT_MOST_ASKED) {
        ++state->asked[pass];
    }
    if (state->asked[pass] < MAAR_TRANSIENT_MOST_ASKED || state->number_reported) {
        return;
    }
    state->number_reported = true;
    maar_report(
        allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_FRAME_NUMBER_NOT_RISING,
        "maarGetTransientPassBarriers",
        "pass %u was asked about %d times for a first frame, now with frameNumber %llu: the "
        "barriers of a first frame wait for no frame before it; give each frame a number "
        "one above that of the frame before it, and not the index of a frame in flight",
        (unsigned)pass, (int)MAAR_TRANSIENT_MOST_ASKED, (unsigned long long)frame);
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetTransientPassBarriers(MaarAllocator allocator,
                                                            MaarTransientHeap heap,
                                                            uint64_t frameNumber,
                                                            uint32_t passIndex,
                                                            MaarTransientPassBarriers* pBarriers)
{
    struct maar_transient_heap* self = NULL;
    const VkResult result = enter_query(allocator, __func__, heap, "pBarriers", pBarriers,
                                        MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS, &self);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (passIndex >= self->state->graph.pass_count) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                         __func__, "passIndex is %u, not below the graph's passCount (%u)",
                         passIndex, self->state->graph.pass_count);
    }
    const struct maar_transient_records* records = &self->state->records;
    struct barrier_answer answer = {
        .state = self->state,
        .copy = (uint32_t)(frameNumber % self->copy_count),
        .first = is_first_of_copy(self, frameNumber),
    };
    if (answer.first) {
        count_question(allocator, self->state, frameNumber, passIndex);
    }
    const struct maar_transient_record* record =
        &records->records[answer.first ? MAAR_TRANSIENT_FIRST : MAAR_TRANSIENT_LATER][passIndex];
    const bool opens_queue = self->state->graph.passes[passIndex].position == 0;
    write_global(&answer, 0,
                 self->updated && answer.first && opens_queue ? &after_update : &record->aliasing,
                 &pBarriers->aliasing);
    write_global(&answer, 1, &record->before, &pBarriers->before);
    write_barriers(&answer, record->first_before, record->before_images, record->before_buffers,
                   &pBarriers->before);
    pBarriers->after = (VkDependencyInfo){.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
    write_barriers(&answer, record->first_after, record->after_images, record->after_buffers,
                   &pBarriers->after);
    pBarriers->hasAliasing = has_barriers(&pBarriers->aliasing);
    pBarriers->hasBefore = has_barriers(&pBarriers->before);
    pBarriers->hasAfter = has_barriers(&pBarriers->after);
    pBarriers->pImageResources = answer.image_count > 0 ? records->image_resources : NULL;
    pBarriers->pBufferResources = answer.buffer_count > 0 ? records->buffer_resources : NULL;
    pBarriers->waitCount = record->wait_count;
    pBarriers->pWaits = record->wait_count > 0 ? &records->waits[record->first_wait] : NULL;
    self->copies_used |= 1u << answer.copy;
    return VK_SUCCESS;
}
