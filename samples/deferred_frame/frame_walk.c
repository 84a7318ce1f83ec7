/*
 * Records and checks a walk; see frame_walk.h.
 */
#include "frame_walk.h"

#include "support/hazards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PRINTED_FINDINGS 10u
#define PICTURE FRAME_RESOURCE_COUNT
#define MAX_SEMAPHORES 16u
/* The frames whose barriers are omitted in turn: the first frame and the next two. */
#define FRAMES_LEFT_OUT 3u

enum walk_kind {
    WALK_BARRIER, /* one barrier of a call; others of the same call may follow */
    WALK_ACCESS,
    WALK_WAIT,   /* of the submission that follows */
    WALK_SIGNAL, /* of the submission that follows */
    WALK_SUBMIT, /* one command buffer */
};

struct walk_event {
    enum walk_kind kind;
    VkCommandBuffer commands;
    uint32_t frame, step;
    uint32_t call;        /* barriers: number of the call */
    VkStructureType type; /* barriers: which of the three */
    VkMemoryBarrier2 memory;
    VkBufferMemoryBarrier2 buffer;
    VkImageMemoryBarrier2 image;
    struct hazard_access access;
    VkSemaphoreSubmitInfo semaphore;
    uint32_t queue;
};

struct frame_walk {
    const struct sample_device* device;
    const struct frame_target* target;
    const struct frame_assets* assets;
    struct walk_event* events;
    size_t event_count, event_room;
    uint32_t call_count;
    uint32_t frame, step; /* the present place of the recording */
    bool failed;          /* out of memory */
    PFN_vkCmdPipelineBarrier2 barrier;
    PFN_vkQueueSubmit2 submit;
};

/* The walk that receives calls from volk's table. */
static struct frame_walk* listener;

static struct walk_event* add_event(struct frame_walk* walk, enum walk_kind kind,
                                    VkCommandBuffer commands)
{
    static struct walk_event nowhere;
    if (walk->event_count == walk->event_room) {
        const size_t room = walk->event_room == 0 ? 1024 : 2 * walk->event_room;
        struct walk_event* const events = realloc(walk->events, room * sizeof(*events));
        if (events == NULL) {
            walk->failed = true;
            return &nowhere;
        }
        walk->events = events;
        walk->event_room = room;
    }
    struct walk_event* const event = &walk->events[walk->event_count++];
    memset(event, 0, sizeof(*event));
    event->kind = kind;
    event->commands = commands;
    event->frame = walk->frame;
    event->step = walk->step;
    return event;
}

static void VKAPI_CALL hear_barrier(VkCommandBuffer commands, const VkDependencyInfo* dependency)
{
    struct frame_walk* const walk = listener;
    const uint32_t call = walk->call_count++;
    for (uint32_t i = 0; i < dependency->memoryBarrierCount; ++i) {
        struct walk_event* const event = add_event(walk, WALK_BARRIER, commands);
        event->call = call;
        event->type = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
        event->memory = dependency->pMemoryBarriers[i];
    }
    for (uint32_t i = 0; i < dependency->bufferMemoryBarrierCount; ++i) {
        struct walk_event* const event = add_event(walk, WALK_BARRIER, commands);
        event->call = call;
        event->type = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2;
        event->buffer = dependency->pBufferMemoryBarriers[i];
    }
    for (uint32_t i = 0; i < dependency->imageMemoryBarrierCount; ++i) {
        struct walk_event* const event = add_event(walk, WALK_BARRIER, commands);
        event->call = call;
        event->type = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2;
        event->image = dependency->pImageMemoryBarriers[i];
    }
    walk->barrier(commands, dependency);
}

static VkResult VKAPI_CALL hear_submit(VkQueue queue, uint32_t count, const VkSubmitInfo2* submits,
                                       VkFence fence)
{
    struct frame_walk* const walk = listener;
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t j = 0; j < submits[i].waitSemaphoreInfoCount; ++j) {
            add_event(walk, WALK_WAIT, VK_NULL_HANDLE)->semaphore =
                submits[i].pWaitSemaphoreInfos[j];
        }
        for (uint32_t j = 0; j < submits[i].signalSemaphoreInfoCount; ++j) {
            add_event(walk, WALK_SIGNAL, VK_NULL_HANDLE)->semaphore =
                submits[i].pSignalSemaphoreInfos[j];
        }
        /* The graph's queue. Both of the graph's queues may be one queue of the device. */
        add_event(walk, WALK_SUBMIT, submits[i].pCommandBufferInfos[0].commandBuffer)->queue =
            walk->target->graph.steps[walk->step].queue;
    }
    return walk->submit(queue, count, submits, fence);
}

struct frame_walk* frame_walk_start(const struct sample_device* device,
                                    const struct frame_target* target,
                                    const struct frame_assets* assets)
{
    struct frame_walk* const walk = calloc(1, sizeof(*walk));
    if (walk != NULL) {
        walk->device = device;
        walk->target = target;
        walk->assets = assets;
        walk->barrier = vkCmdPipelineBarrier2;
        walk->submit = vkQueueSubmit2;
        listener = walk;
        vkCmdPipelineBarrier2 = hear_barrier;
        vkQueueSubmit2 = hear_submit;
    }
    return walk;
}

void frame_walk_stop(struct frame_walk* walk)
{
    if (walk != NULL && listener == walk) {
        vkCmdPipelineBarrier2 = walk->barrier;
        vkQueueSubmit2 = walk->submit;
        listener = NULL;
    }
}

void frame_walk_destroy(struct frame_walk* walk)
{
    frame_walk_stop(walk);
    if (walk != NULL) {
        free(walk->events);
    }
    free(walk);
}

static void add_access(struct frame_walk* walk, VkCommandBuffer commands,
                       enum frame_resource resource, const struct frame_use_info* info,
                       VkPipelineStageFlags2 stages)
{
    /* The shaders know that the first frame has no history. */
    const bool is_empty = walk->frame == 0 && frame_resources[resource].keeps_contents;
    struct walk_event* const event = add_event(walk, WALK_ACCESS, commands);
    event->access = (struct hazard_access){.resource = resource,
                                           .stages = stages,
                                           .access = info->access,
                                           .layout = info->layout,
                                           .discards = info->discards || is_empty};
}

void frame_walk_begin_step(struct frame_walk* walk, uint32_t frame, uint32_t step)
{
    if (walk != NULL) {
        walk->frame = frame;
        walk->step = step;
    }
}

void frame_walk_use(struct frame_walk* walk, VkCommandBuffer commands)
{
    if (walk == NULL) {
        return;
    }
    const struct frame_graph* const graph = &walk->target->graph;
    const struct frame_step* const step = &graph->steps[walk->step];
    const struct frame_pass_info* const pass = &frame_passes[step->pass];
    const struct frame_use_info* const fill = &frame_uses[FRAME_USE_COPY_TO];
    for (uint32_t i = 0; i < FRAME_RESOURCE_COUNT; ++i) {
        if (frame_step_poisons(graph, step, (enum frame_resource)i)) {
            add_access(walk, commands, (enum frame_resource)i, fill, fill->stages);
        }
    }
    for (uint32_t i = 0; i < FRAME_MAX_USES && !step->poisons; ++i) {
        const struct frame_use* const use = &pass->uses[i];
        if (use->kind == FRAME_USE_NONE) {
            break;
        }
        add_access(walk, commands, use->resource, &frame_uses[use->kind],
                   frame_use_stages(pass, use));
    }
}

void frame_walk_picture(struct frame_walk* walk, VkCommandBuffer commands,
                        VkPipelineStageFlags2 stages, VkAccessFlags2 access)
{
    if (walk != NULL) {
        struct walk_event* const event = add_event(walk, WALK_ACCESS, commands);
        event->access =
            (struct hazard_access){.resource = PICTURE,
                                   .stages = stages,
                                   .access = access,
                                   .discards = (access & VK_ACCESS_2_HOST_READ_BIT) == 0};
    }
}

/* Adds the resources in the order of enum frame_resource, followed by the picture. */
static void add_resources(const struct frame_walk* walk, struct hazards* hazards)
{
    for (uint32_t i = 0; i < FRAME_RESOURCE_COUNT; ++i) {
        const MaarTransientResourceInfo* const info = &walk->target->resources[i];
        const struct frame_graph* const graph = &walk->target->graph;
        const bool is_concurrent = graph->images[i].sharingMode == VK_SHARING_MODE_CONCURRENT ||
                                   graph->buffers[i].sharingMode == VK_SHARING_MODE_CONCURRENT;
        const struct hazard_resource resource = {.name = frame_resources[i].name,
                                                 .memory = (uint64_t)info->allocation,
                                                 .offset = info->offset,
                                                 .size = info->size,
                                                 .buffer = info->buffer,
                                                 .image = info->image,
                                                 .concurrent = is_concurrent,
                                                 .linear = info->buffer != VK_NULL_HANDLE};
        hazards_add_resource(hazards, &resource);
    }
    const struct hazard_resource picture = {.name = "picture",
                                            .memory = UINT64_MAX,
                                            .size = walk->assets->picture_size,
                                            .buffer = walk->assets->picture.buffer,
                                            .linear = true};
    hazards_add_resource(hazards, &picture);
}

/* Reports the barriers of one call to the checker, except that of event `left_out`. Returns the
 * next event. */
static size_t replay_call(const struct frame_walk* walk, struct hazards* hazards, size_t first,
                          size_t left_out)
{
    VkMemoryBarrier2 memories[4];
    VkBufferMemoryBarrier2 buffers[FRAME_RESOURCE_COUNT];
    VkImageMemoryBarrier2 images[FRAME_RESOURCE_COUNT];
    VkDependencyInfo dependency = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                   .pMemoryBarriers = memories,
                                   .pBufferMemoryBarriers = buffers,
                                   .pImageMemoryBarriers = images};
    size_t i = first;
    for (; i < walk->event_count && walk->events[i].kind == WALK_BARRIER &&
           walk->events[i].call == walk->events[first].call;
         ++i) {
        const struct walk_event* const event = &walk->events[i];
        if (i == left_out) {
            continue;
        }
        if (event->type == VK_STRUCTURE_TYPE_MEMORY_BARRIER_2) {
            memories[dependency.memoryBarrierCount++] = event->memory;
        } else if (event->type == VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2) {
            buffers[dependency.bufferMemoryBarrierCount++] = event->buffer;
        } else {
            images[dependency.imageMemoryBarrierCount++] = event->image;
        }
    }
    hazards_record_barrier(hazards, walk->events[first].commands, &dependency);
    return i;
}

/* Writes the place of an event, such as "frame 1, poison for lighting". */
static void name_place(const struct frame_walk* walk, const struct walk_event* event, char* text,
                       size_t size)
{
    const struct frame_step* const step = &walk->target->graph.steps[event->step];
    snprintf(text, size, "frame %u, %s%s", event->frame, step->poisons ? "poison for " : "",
             frame_passes[step->pass].name);
}

static void set_place(const struct frame_walk* walk, struct hazards* hazards, size_t at)
{
    const struct walk_event* const event = &walk->events[at];
    if (at == 0 || event->frame != event[-1].frame || event->step != event[-1].step) {
        char text[96];
        name_place(walk, event, text, sizeof(text));
        hazards_set_place(hazards, text);
    }
}

/* Reports one submission and its semaphores to the checker. Returns the next event. */
static size_t replay_submit(const struct frame_walk* walk, struct hazards* hazards, size_t first,
                            size_t left_out)
{
    VkSemaphoreSubmitInfo waits[MAX_SEMAPHORES];
    VkSemaphoreSubmitInfo signals[MAX_SEMAPHORES];
    VkSubmitInfo2 submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                            .pWaitSemaphoreInfos = waits,
                            .commandBufferInfoCount = 1,
                            .pSignalSemaphoreInfos = signals};
    size_t i = first;
    for (; walk->events[i].kind != WALK_SUBMIT; ++i) {
        if (walk->events[i].kind == WALK_SIGNAL) {
            signals[submit.signalSemaphoreInfoCount++] = walk->events[i].semaphore;
        } else if (i != left_out) {
            waits[submit.waitSemaphoreInfoCount++] = walk->events[i].semaphore;
        }
    }
    const VkCommandBufferSubmitInfo commands = {.sType =
                                                    VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                                .commandBuffer = walk->events[i].commands};
    submit.pCommandBufferInfos = &commands;
    hazards_submit(hazards, walk->events[i].queue, 1, &submit);
    return i + 1;
}

/* Replays the frames before `end_frame` without one event. Ends early when the number of findings
 * exceeds the known one. The caller destroys the returned checker. */
static struct hazards* replay(const struct frame_walk* walk, uint32_t end_frame, size_t left_out,
                              uint32_t known_findings)
{
    const struct sample_device* const device = walk->device;
    struct hazards* const hazards =
        hazards_create(device->queue_count, device->queue_families,
                       device->properties.limits.bufferImageGranularity);
    add_resources(walk, hazards);
    for (size_t i = 0; i < walk->event_count && walk->events[i].frame < end_frame &&
                       hazards_finding_count(hazards) <= known_findings;) {
        const struct walk_event* const event = &walk->events[i];
        set_place(walk, hazards, i);
        switch (event->kind) {
        case WALK_BARRIER:
            i = replay_call(walk, hazards, i, left_out);
            break;
        case WALK_ACCESS:
            hazards_record_access(hazards, event->commands, &event->access);
            ++i;
            break;
        case WALK_WAIT:
        case WALK_SIGNAL:
        case WALK_SUBMIT:
            i = replay_submit(walk, hazards, i, left_out);
            break;
        }
    }
    return hazards;
}

static void complain_unnoticed(const struct frame_walk* walk, size_t at)
{
    const struct walk_event* const event = &walk->events[at];
    const char* name = event->kind == WALK_WAIT                                   ? "a semaphore"
                       : event->type == VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2 ? "a buffer"
                                                                                  : "memory";
    for (uint32_t i = 0; i < FRAME_RESOURCE_COUNT; ++i) {
        if (event->type == VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2 &&
            walk->target->resources[i].image == event->image.image) {
            name = frame_resources[i].name;
        }
    }
    char place[96];
    name_place(walk, event, place, sizeof(place));
    sample_complain("the checker does not notice a missing barrier or wait of %s: %s", place, name);
}

/* Barriers of the picture do not come from Maar. Other barriers may do their work by chance. */
static bool can_be_left_out(const struct frame_walk* walk, const struct walk_event* event)
{
    const bool own = event->type == VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2 &&
                     event->buffer.buffer == walk->assets->picture.buffer;
    return event->kind == WALK_WAIT || (event->kind == WALK_BARRIER && !own);
}

/* Omits an event. All that the event orders lies in its own frame or in the next. */
static bool is_missed(const struct frame_walk* walk, size_t left_out, uint32_t known_findings)
{
    struct hazards* const without =
        replay(walk, walk->events[left_out].frame + 2, left_out, known_findings);
    const bool missed = hazards_finding_count(without) > known_findings;
    hazards_destroy(without);
    return missed;
}

void frame_walk_check(const struct frame_walk* walk, struct frame_walk_result* result)
{
    memset(result, 0, sizeof(*result));
    struct hazards* const whole = replay(walk, UINT32_MAX, SIZE_MAX, UINT32_MAX - 1);
    result->findings = hazards_finding_count(whole) + (walk->failed ? 1 : 0);
    result->pairs = hazards_pair_count(whole);
    for (uint32_t i = 0; i < result->findings && i < MAX_PRINTED_FINDINGS; ++i) {
        const char* const text = hazards_finding(whole, i);
        sample_complain("hazard: %s", text != NULL ? text : "out of memory");
    }
    hazards_destroy(whole);
    for (size_t i = 0; i < walk->event_count && walk->events[i].frame < FRAMES_LEFT_OUT; ++i) {
        if (!can_be_left_out(walk, &walk->events[i])) {
            continue;
        }
        result->barriers += walk->events[i].kind == WALK_BARRIER;
        result->waits += walk->events[i].kind == WALK_WAIT;
        if (!is_missed(walk, i, result->findings) && result->unnoticed++ < MAX_PRINTED_FINDINGS) {
            complain_unnoticed(walk, i);
        }
    }
}
