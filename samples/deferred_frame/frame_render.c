/*
 * Renders frames; see frame_render.h. Steps are grouped in batches, each with a command buffer and
 * a submission. A batch ends where the queue changes and before a step that waits. At its end a
 * batch signals its queue's timeline.
 */
#include "frame_render.h"

#include <stdlib.h>
#include <string.h>

/* The state of a queue. */
struct render_queue {
    VkCommandPool pool;
    VkSemaphore timeline;
    uint64_t value;                     /* signalled by the last submitted batch */
    uint64_t waited[SAMPLE_MAX_QUEUES]; /* for each other queue: the value of the last wait */
};

struct rendering {
    struct frame_recording recording;
    struct render_queue queues[SAMPLE_MAX_QUEUES];
    uint64_t* values; /* for each frame and step: the value that its batch signals */
    VkSemaphoreSubmitInfo waits[SAMPLE_MAX_QUEUES];
    uint32_t wait_count;
    uint32_t queue; /* of the open batch; its steps begin at */
    uint32_t first_step;
};

static uint64_t* value_of(struct rendering* rendering, uint32_t frame, uint32_t step)
{
    return &rendering->values[(size_t)frame * rendering->recording.target->graph.step_count + step];
}

static bool begin_batch(struct rendering* rendering, uint32_t step)
{
    rendering->queue = rendering->recording.target->graph.steps[step].queue;
    rendering->first_step = step;
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = rendering->queues[rendering->queue].pool,
        .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkCommandBuffer* const commands = &rendering->recording.commands;
    return sample_succeeded(
               vkAllocateCommandBuffers(rendering->recording.device->device, &info, commands),
               "vkAllocateCommandBuffers") &&
           sample_succeeded(vkBeginCommandBuffer(*commands, &begin), "vkBeginCommandBuffer");
}

/* Ends the batch before a step and submits it. */
static bool end_batch(struct rendering* rendering, uint32_t step)
{
    struct render_queue* const queue_state = &rendering->queues[rendering->queue];
    ++queue_state->value;
    for (uint32_t i = rendering->first_step; i < step; ++i) {
        *value_of(rendering, rendering->recording.frame, i) = queue_state->value;
    }
    const VkCommandBufferSubmitInfo commands = {.sType =
                                                    VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                                .commandBuffer = rendering->recording.commands};
    const VkSemaphoreSubmitInfo signal = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                          .semaphore = queue_state->timeline,
                                          .value = queue_state->value,
                                          .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSubmitInfo2 submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                  .waitSemaphoreInfoCount = rendering->wait_count,
                                  .pWaitSemaphoreInfos = rendering->waits,
                                  .commandBufferInfoCount = 1,
                                  .pCommandBufferInfos = &commands,
                                  .signalSemaphoreInfoCount = 1,
                                  .pSignalSemaphoreInfos = &signal};
    rendering->wait_count = 0;
    const VkQueue queue = rendering->recording.device->queues[rendering->queue];
    return sample_succeeded(vkEndCommandBuffer(commands.commandBuffer), "vkEndCommandBuffer") &&
           sample_succeeded(vkQueueSubmit2(queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit2");
}

/* Makes the next batch of a queue wait for a submitted step, unless an earlier batch of that queue
 * has waited for the step or a later one. */
static void add_wait(struct rendering* rendering, uint32_t queue, uint32_t frame, uint32_t step)
{
    const uint32_t other = rendering->recording.target->graph.steps[step].queue;
    const uint64_t value = *value_of(rendering, frame, step);
    uint64_t* const waited = &rendering->queues[queue].waited[other];
    if (value <= *waited) {
        return;
    }
    *waited = value;
    VkSemaphoreSubmitInfo* wait = &rendering->waits[0];
    while (wait < rendering->waits + rendering->wait_count &&
           wait->semaphore != rendering->queues[other].timeline) {
        ++wait;
    }
    rendering->wait_count += wait == rendering->waits + rendering->wait_count;
    *wait = (VkSemaphoreSubmitInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                    .semaphore = rendering->queues[other].timeline,
                                    .value = value,
                                    .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
}

/* Returns whether a step waits, by the graph's declaration or by Maar's addition. */
static bool step_waits(const struct rendering* rendering, uint32_t step,
                       const MaarTransientPassBarriers* barriers)
{
    const MaarTransientGraph* const graph = &rendering->recording.target->graph.graph;
    bool waits = barriers->waitCount != 0;
    for (uint32_t i = 0; i < graph->dependencyCount; ++i) {
        waits = waits || graph->pDependencies[i].after == step;
    }
    return waits;
}

static void add_waits(struct rendering* rendering, uint32_t step,
                      const MaarTransientPassBarriers* barriers)
{
    const MaarTransientGraph* const graph = &rendering->recording.target->graph.graph;
    const uint32_t frame = rendering->recording.frame;
    const uint32_t queue = rendering->recording.target->graph.steps[step].queue;
    for (uint32_t i = 0; i < graph->dependencyCount; ++i) {
        if (graph->pDependencies[i].after == step) {
            add_wait(rendering, queue, frame, graph->pDependencies[i].before);
        }
    }
    for (uint32_t i = 0; i < barriers->waitCount; ++i) {
        if (barriers->pWaits[i].framesBack <= frame) {
            add_wait(rendering, queue, frame - barriers->pWaits[i].framesBack,
                     barriers->pWaits[i].pass);
        }
    }
}

static bool render_frame(struct rendering* rendering)
{
    const struct frame_graph* const graph = &rendering->recording.target->graph;
    for (uint32_t i = 0; i < graph->step_count; ++i) {
        MaarTransientPassBarriers barriers = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS};
        if (!sample_succeeded(maarGetTransientPassBarriers(rendering->recording.device->allocator,
                                                           rendering->recording.target->heap,
                                                           rendering->recording.frame, i,
                                                           &barriers),
                              "maarGetTransientPassBarriers")) {
            return false;
        }
        const bool ends = i != 0 && (graph->steps[i].queue != rendering->queue ||
                                     step_waits(rendering, i, &barriers));
        if (ends && !end_batch(rendering, i)) {
            return false;
        }
        if (i == 0 || ends) {
            add_waits(rendering, i, &barriers);
            if (!begin_batch(rendering, i)) {
                return false;
            }
        }
        frame_record_step(&rendering->recording, i, &barriers);
    }
    return end_batch(rendering, graph->step_count);
}

static bool create_queue(const struct sample_device* device, uint32_t queue,
                         struct render_queue* queue_state)
{
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = device->queue_families[queue]};
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                             .pNext = &type};
    return sample_succeeded(vkCreateCommandPool(device->device, &pool, NULL, &queue_state->pool),
                            "vkCreateCommandPool") &&
           sample_succeeded(
               vkCreateSemaphore(device->device, &semaphore, NULL, &queue_state->timeline),
               "vkCreateSemaphore");
}

bool frame_render(const struct frame_recording* recording, uint8_t* pixels)
{
    const struct sample_device* const device = recording->device;
    struct rendering rendering;
    memset(&rendering, 0, sizeof(rendering));
    rendering.recording = *recording;
    rendering.values =
        calloc((size_t)recording->options->frames * recording->target->graph.step_count,
               sizeof(*rendering.values));
    bool done = sample_has_memory(rendering.values);
    for (uint32_t i = 0; done && i < device->queue_count; ++i) {
        done = create_queue(device, i, &rendering.queues[i]);
    }
    for (uint32_t i = 0; done && i < recording->options->frames; ++i) {
        rendering.recording.frame = i;
        done = render_frame(&rendering);
    }
    const VkResult idle = vkDeviceWaitIdle(device->device);
    if (done) {
        done = sample_succeeded(idle, "vkDeviceWaitIdle") &&
               sample_succeeded(maarCopyFromAllocation(device->allocator,
                                                       recording->assets->picture.allocation, 0,
                                                       recording->assets->picture_size, pixels),
                                "maarCopyFromAllocation");
    }
    for (uint32_t i = 0; i < device->queue_count; ++i) {
        vkDestroyCommandPool(device->device, rendering.queues[i].pool, NULL);
        vkDestroySemaphore(device->device, rendering.queues[i].timeline, NULL);
    }
    free(rendering.values);
    return done;
}
