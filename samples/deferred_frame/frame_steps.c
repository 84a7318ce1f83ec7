/*
 * Makes a graph from the tables; see frame_steps.h.
 */
#include "frame_steps.h"

#include <string.h>

VkPipelineStageFlags2 frame_use_stages(const struct frame_pass_info* pass,
                                       const struct frame_use* use)
{
    const struct frame_use_info* const info = &frame_uses[use->kind];
    return info->shader && pass->kind == FRAME_PASS_COMPUTE ? VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT
                                                            : info->stages;
}

VkImageAspectFlags frame_resource_aspect(enum frame_resource resource)
{
    return frame_resources[resource].format == VK_FORMAT_D32_SFLOAT ? VK_IMAGE_ASPECT_DEPTH_BIT
                                                                    : VK_IMAGE_ASPECT_COLOR_BIT;
}

bool frame_step_poisons(const struct frame_graph* graph, const struct frame_step* step,
                        enum frame_resource resource)
{
    return step->poisons && graph->first_pass[resource] == step->pass &&
           !frame_resources[resource].keeps_contents;
}

static void find_first_passes(struct frame_graph* graph)
{
    for (uint32_t pass = frame_pass_count; pass-- > 0;) {
        const struct frame_use* const uses = frame_passes[pass].uses;
        for (uint32_t i = 0; i < FRAME_MAX_USES && uses[i].kind != FRAME_USE_NONE; ++i) {
            graph->first_pass[uses[i].resource] = pass;
        }
    }
}

static void add_step(struct frame_graph* graph, uint32_t pass, bool poisons)
{
    const char* const name = poisons ? "poison" : frame_passes[pass].name;
    const uint32_t queue = frame_passes[pass].async ? graph->graph.queueCount - 1 : 0;
    graph->steps[graph->step_count] = (struct frame_step){pass, queue, poisons};
    graph->passes[graph->step_count] = (MaarTransientPass){.queueIndex = queue, .pName = name};
    ++graph->step_count;
}

static void list_steps(struct frame_graph* graph, bool poison)
{
    for (uint32_t pass = 0; pass < frame_pass_count; ++pass) {
        const struct frame_step step = {pass, 0, true};
        bool any = false;
        for (uint32_t i = 0; i < FRAME_RESOURCE_COUNT; ++i) {
            any = any || frame_step_poisons(graph, &step, (enum frame_resource)i);
        }
        if (poison && any) {
            add_step(graph, pass, true);
        }
        add_step(graph, pass, false);
    }
}

/* Adds the dependencies between the queues: from the step before the first step of the other queue,
 * and from the last step of the other queue to the step that waits for it. */
static void list_dependencies(struct frame_graph* graph)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < graph->step_count; ++i) {
        const struct frame_pass_info* const pass = &frame_passes[graph->steps[i].pass];
        const bool leaves = graph->steps[i].queue != 0 && graph->steps[i - 1].queue == 0;
        const bool returns = pass->joins && graph->steps[i].queue == 0 &&
                             graph->steps[i - 1].pass != graph->steps[i].pass;
        if (!leaves && !returns) {
            continue;
        }
        uint32_t before = i - 1;
        while (graph->steps[before].queue == graph->steps[i].queue && before > 0) {
            --before;
        }
        if (graph->steps[before].queue != graph->steps[i].queue) {
            graph->dependencies[count++] = (MaarTransientDependency){before, i};
        }
    }
    graph->graph.dependencyCount = count;
    graph->graph.pDependencies = graph->dependencies;
}

static void describe_image(struct frame_graph* graph, enum frame_resource resource, uint32_t width,
                           uint32_t height)
{
    const VkExtent2D extent = frame_resource_extent(resource, width, height);
    const VkFormat format = frame_resources[resource].format;
    graph->images[resource] = (VkImageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = format,
        .extent = {extent.width, extent.height, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    graph->views[resource] = (VkImageViewCreateInfo){
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = format,
        .subresourceRange = {frame_resource_aspect(resource), 0, 1, 0, 1},
    };
    graph->resources[resource].pImageInfo = &graph->images[resource];
    graph->resources[resource].viewCount = 1;
    graph->resources[resource].pViewInfos = &graph->views[resource];
}

static void describe_buffer(struct frame_graph* graph, enum frame_resource resource, uint32_t width,
                            uint32_t height)
{
    graph->buffers[resource] =
        (VkBufferCreateInfo){.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                             .size = frame_resource_bytes(resource, width, height)};
    graph->resources[resource].pBufferInfo = &graph->buffers[resource];
}

static void add_use(struct frame_graph* graph, uint32_t step, const struct frame_use* use,
                    VkPipelineStageFlags2 stages)
{
    const struct frame_use_info* const info = &frame_uses[use->kind];
    MaarTransientResource* const resource = &graph->resources[use->resource];
    graph->images[use->resource].usage |= info->image_usage;
    graph->buffers[use->resource].usage |= info->buffer_usage;
    graph->uses[use->resource][resource->useCount++] = (MaarTransientUse){
        .pass = step, .layout = info->layout, .stages = stages, .access = info->access};
}

/* A resource that passes of both queues use has no owning family, so that ownership need not be
 * transferred. */
static void share(struct frame_graph* graph, const struct sample_device* device,
                  enum frame_resource resource)
{
    uint32_t queues = 0;
    for (uint32_t i = 0; i < graph->resources[resource].useCount; ++i) {
        queues |= 1u << graph->steps[graph->uses[resource][i].pass].queue;
    }
    VkImageCreateInfo* const image = &graph->images[resource];
    VkBufferCreateInfo* const buffer = &graph->buffers[resource];
    if (queues == 3) {
        image->sharingMode = sample_device_sharing(device, &image->queueFamilyIndexCount,
                                                   &image->pQueueFamilyIndices);
        buffer->sharingMode = sample_device_sharing(device, &buffer->queueFamilyIndexCount,
                                                    &buffer->pQueueFamilyIndices);
    }
}

static void list_uses(struct frame_graph* graph, uint32_t step_index)
{
    const struct frame_step* const step = &graph->steps[step_index];
    const struct frame_pass_info* const pass = &frame_passes[step->pass];
    for (uint32_t i = 0; i < FRAME_RESOURCE_COUNT; ++i) {
        const struct frame_use fill = {FRAME_USE_COPY_TO, (enum frame_resource)i};
        if (frame_step_poisons(graph, step, fill.resource)) {
            add_use(graph, step_index, &fill, frame_uses[FRAME_USE_COPY_TO].stages);
        }
    }
    for (uint32_t i = 0; i < FRAME_MAX_USES && !step->poisons; ++i) {
        const struct frame_use* const use = &pass->uses[i];
        if (use->kind == FRAME_USE_NONE) {
            break;
        }
        add_use(graph, step_index, use, frame_use_stages(pass, use));
    }
}

void frame_graph_build(struct frame_graph* graph, uint32_t width, uint32_t height,
                       const struct sample_device* device, bool poison)
{
    memset(graph, 0, sizeof(*graph));
    graph->graph = (MaarTransientGraph){
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_GRAPH,
        .queueCount = device->queue_count,
        .pQueues = graph->queues,
        .pPasses = graph->passes,
        .resourceCount = FRAME_RESOURCE_COUNT,
        .pResources = graph->resources,
    };
    for (uint32_t i = 0; i < device->queue_count; ++i) {
        graph->queues[i].familyIndex = device->queue_families[i];
    }
    find_first_passes(graph);
    list_steps(graph, poison);
    for (uint32_t i = 0; i < FRAME_RESOURCE_COUNT; ++i) {
        const enum frame_resource resource = (enum frame_resource)i;
        if (frame_resource_is_image(resource)) {
            describe_image(graph, resource, width, height);
        } else {
            describe_buffer(graph, resource, width, height);
        }
        graph->resources[i].pName = frame_resources[i].name;
        graph->resources[i].pUses = graph->uses[i];
        graph->resources[i].flags =
            frame_resources[i].keeps_contents ? MAAR_TRANSIENT_RESOURCE_KEEP_CONTENTS_BIT : 0;
    }
    for (uint32_t i = 0; i < graph->step_count; ++i) {
        list_uses(graph, i);
    }
    for (uint32_t i = 0; i < FRAME_RESOURCE_COUNT; ++i) {
        share(graph, device, (enum frame_resource)i);
    }
    graph->graph.passCount = graph->step_count;
    list_dependencies(graph);
}
