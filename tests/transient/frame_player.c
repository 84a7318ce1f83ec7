/*
 * Plays frames as a program records and submits them: each pass waits, records its barriers, makes
 * its accesses and signals its queue's timeline.
 */
#include "tests/transient/frame_player.h"

#include <stdio.h>

static uint64_t memory_number(VkDeviceMemory memory)
{
    uint64_t number = 0;
    memcpy(&number, &memory, sizeof memory < sizeof number ? sizeof memory : sizeof number);
    return number;
}

static MaarTransientResourceInfo read_info(const struct player* p, uint32_t copy, uint32_t index)
{
    MaarTransientResourceInfo info = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_RESOURCE_INFO};
    assert_int_equal(maarGetTransientResource(p->rig->allocator, p->heap, copy, index, &info),
                     VK_SUCCESS);
    return info;
}

static void introduce(struct player* p, uint32_t copy, uint32_t index)
{
    const MaarTransientResourceInfo info = read_info(p, copy, index);
    const MaarAllocationInfo memory = rig_info(p->rig, info.allocation);
    const MaarTransientResource* resource = &p->maker->resources[index];
    const bool image = resource->pImageInfo != NULL;
    const struct hazard_resource known = {
        .name = resource->pName,
        .memory = memory_number(memory.memory),
        .offset = memory.offset + info.offset,
        .size = info.size,
        .buffer = info.buffer,
        .image = info.image,
        .concurrent = (image ? resource->pImageInfo->sharingMode
                             : resource->pBufferInfo->sharingMode) == VK_SHARING_MODE_CONCURRENT,
        .linear = !image,
    };
    assert_true(memory.offset + info.offset + info.size <= memory.offset + memory.size);
    p->resources[copy][index] = hazards_add_resource(p->hazards, &known);
    p->infos[copy][index] = info;
}

static void find_order(struct player* p)
{
    assert_true(graph_order(p->maker, p->order));
    for (uint32_t i = 0; i < p->maker->graph.passCount; ++i) {
        p->ranks[p->order[i]] = i;
    }
}

void player_open(struct player* p, struct rig* rig, MaarTransientHeap heap,
                 const struct graph_maker* maker)
{
    uint32_t families[GRAPH_QUEUES];
    MaarTransientHeapInfo info = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_INFO};
    assert_int_equal(maarGetTransientHeapInfo(rig->allocator, heap, &info), VK_SUCCESS);
    memset(p, 0, sizeof *p);
    p->rig = rig;
    p->heap = heap;
    p->copies = info.copyCount;
    p->maker = maker;
    for (uint32_t i = 0; i < maker->graph.queueCount; ++i) {
        families[i] = maker->queues[i].familyIndex;
    }
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(rig->physical, &properties);
    p->hazards =
        hazards_create(maker->graph.queueCount, families, properties.limits.bufferImageGranularity);
    find_order(p);
    p->resource_count = maker->graph.resourceCount;
    for (uint32_t copy = 0; copy < p->copies; ++copy) {
        for (uint32_t i = 0; i < maker->graph.resourceCount; ++i) {
            introduce(p, copy, i);
        }
    }
}

static bool is_same_object(const MaarTransientResourceInfo* a, const MaarTransientResourceInfo* b)
{
    return a->image == b->image && a->buffer == b->buffer && a->allocation == b->allocation &&
           a->offset == b->offset && a->generation == b->generation;
}

static bool keeps(const struct graph_maker* maker, uint32_t resource)
{
    return (maker->resources[resource].flags & MAAR_TRANSIENT_RESOURCE_KEEP_CONTENTS_BIT) != 0;
}

/* With several families, contents may be on their way to another family when a graph ends; then
 * they are lost. */
static bool has_one_family(const struct graph_maker* maker)
{
    for (uint32_t i = 1; i < maker->graph.queueCount; ++i) {
        if (maker->queues[i].familyIndex != maker->queues[0].familyIndex) {
            return false;
        }
    }
    return true;
}

/* Walks through the old resources: a new resource with the same object takes over its number. */
static void change_copy(struct player* p, uint32_t copy, const bool* kept)
{
    uint32_t numbers[GRAPH_RESOURCES];
    MaarTransientResourceInfo infos[GRAPH_RESOURCES];
    bool known[GRAPH_RESOURCES] = {false};
    memset(p->has_contents[copy], 0, sizeof p->has_contents[copy]);
    memcpy(numbers, p->resources[copy], sizeof numbers);
    memcpy(infos, p->infos[copy], sizeof infos);
    for (uint32_t old = 0; old < p->resource_count; ++old) {
        bool stays = false;
        for (uint32_t i = 0; i < p->maker->graph.resourceCount && !stays; ++i) {
            const MaarTransientResourceInfo info = read_info(p, copy, i);
            stays = is_same_object(&info, &infos[old]);
            if (stays) {
                p->has_contents[copy][i] =
                    keeps(p->maker, i) && kept[old] && has_one_family(p->maker);
                p->resources[copy][i] = numbers[old];
                p->infos[copy][i] = info;
                known[i] = true;
            }
        }
        if (!stays) {
            hazards_forget_resource(p->hazards, numbers[old]);
        }
    }
    for (uint32_t i = 0; i < p->maker->graph.resourceCount; ++i) {
        if (!known[i]) {
            introduce(p, copy, i);
        }
    }
}

void player_change(struct player* p, const struct graph_maker* maker, uint64_t played)
{
    bool kept[GRAPH_RESOURCES] = {false};
    for (uint32_t i = 0; i < p->resource_count; ++i) {
        kept[i] = keeps(p->maker, i) && played >= p->copies;
    }
    p->submitted += played;
    p->old_pass_count = p->maker->graph.passCount;
    for (uint32_t i = 0; i < p->old_pass_count; ++i) {
        p->old_queues[i] = p->maker->passes[i].queueIndex;
    }
    p->maker = maker;
    find_order(p);
    for (uint32_t copy = 0; copy < p->copies; ++copy) {
        change_copy(p, copy, kept);
    }
    p->resource_count = maker->graph.resourceCount;
}

void player_close(struct player* p)
{
    hazards_destroy(p->hazards);
}

static MaarTransientPassBarriers read_barriers(const struct player* p, uint64_t frame,
                                               uint32_t pass)
{
    MaarTransientPassBarriers barriers = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS};
    assert_int_equal(
        maarGetTransientPassBarriers(p->rig->allocator, p->heap, p->base + frame, pass, &barriers),
        VK_SUCCESS);
    return barriers;
}

static bool is_left_out(const struct player* p, uint64_t frame, uint32_t pass,
                        enum player_part part, uint32_t index)
{
    const struct player_gap* gap = p->gap;
    return gap != NULL && gap->first == (frame < p->copies) && gap->pass == pass &&
           gap->part == part && gap->index == index;
}

static bool opens_queue(const struct player* p, uint32_t pass)
{
    for (uint32_t i = 0; i < pass; ++i) {
        if (p->maker->passes[i].queueIndex == p->maker->passes[pass].queueIndex) {
            return false;
        }
    }
    return true;
}

static void play_waits(struct player* p, uint64_t frame, uint32_t pass, uint32_t queue,
                       const MaarTransientPassBarriers* barriers)
{
    const MaarTransientGraph* graph = &p->maker->graph;
    const uint64_t value = p->submitted + frame + 1;
    for (uint32_t i = 0; i < graph->dependencyCount; ++i) {
        if (graph->pDependencies[i].after == pass) {
            hazards_wait(p->hazards, queue, graph->pDependencies[i].before, value,
                         VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
        }
    }
    for (uint32_t i = 0; i < p->old_pass_count && frame == 0 && opens_queue(p, pass); ++i) {
        if (p->old_queues[i] != queue) {
            hazards_wait(p->hazards, queue, i, p->submitted, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
        }
    }
    for (uint32_t i = 0; i < barriers->waitCount; ++i) {
        const MaarTransientWait* wait = &barriers->pWaits[i];
        assert_true(wait->framesBack <= frame);
        assert_int_not_equal(graph->pPasses[wait->pass].queueIndex, queue);
        if (!is_left_out(p, frame, pass, PLAYER_WAIT, i)) {
            hazards_wait(p->hazards, queue, wait->pass, value - wait->framesBack, wait->stages);
        }
    }
}

/* Plays a call of vkCmdPipelineBarrier2, without the part that is left out. */
static void play_barrier(struct player* p, uint64_t frame, uint32_t pass, uint32_t queue,
                         const VkDependencyInfo* info, enum player_part global,
                         enum player_part images, enum player_part buffers)
{
    VkImageMemoryBarrier2 image_barriers[GRAPH_RESOURCES];
    VkBufferMemoryBarrier2 buffer_barriers[GRAPH_RESOURCES];
    VkDependencyInfo left = *info;
    left.imageMemoryBarrierCount = 0;
    left.pImageMemoryBarriers = image_barriers;
    left.bufferMemoryBarrierCount = 0;
    left.pBufferMemoryBarriers = buffer_barriers;
    if (is_left_out(p, frame, pass, global, 0)) {
        left.memoryBarrierCount = 0;
    }
    for (uint32_t i = 0; i < info->imageMemoryBarrierCount; ++i) {
        if (!is_left_out(p, frame, pass, images, i)) {
            image_barriers[left.imageMemoryBarrierCount++] = info->pImageMemoryBarriers[i];
        }
    }
    for (uint32_t i = 0; i < info->bufferMemoryBarrierCount; ++i) {
        if (!is_left_out(p, frame, pass, buffers, i)) {
            buffer_barriers[left.bufferMemoryBarrierCount++] = info->pBufferMemoryBarriers[i];
        }
    }
    hazards_barrier(p->hazards, queue, &left);
}

/* Whether a use is the first of its resource in the frame. */
static bool is_first_use(const struct player* p, const MaarTransientResource* resource,
                         uint32_t use)
{
    for (uint32_t i = 0; i < resource->useCount; ++i) {
        if (p->ranks[resource->pUses[i].pass] < p->ranks[resource->pUses[use].pass]) {
            return false;
        }
    }
    return true;
}

static void play_accesses(struct player* p, uint64_t frame, uint32_t pass, uint32_t queue)
{
    const MaarTransientGraph* graph = &p->maker->graph;
    const uint32_t copy = (uint32_t)((p->base + frame) % p->copies);
    for (uint32_t i = 0; i < graph->resourceCount; ++i) {
        const MaarTransientResource* resource = &graph->pResources[i];
        for (uint32_t k = 0; k < resource->useCount; ++k) {
            if (resource->pUses[k].pass != pass) {
                continue;
            }
            const struct hazard_access access = {
                .resource = p->resources[copy][i],
                .stages = resource->pUses[k].stages,
                .access = resource->pUses[k].access,
                .layout = resource->pUses[k].layout,
                .discards =
                    is_first_use(p, resource, k) &&
                    (!keeps(p->maker, i) || (frame < p->copies && !p->has_contents[copy][i])),
            };
            hazards_access(p->hazards, queue, &access);
        }
    }
}

/* Returns the use of a resource before another one, in the order of the frame; for the first use,
 * the last one. */
static uint32_t previous_use(const struct player* p, const MaarTransientResource* r, uint32_t use)
{
    uint32_t found = use;
    uint32_t last = use;
    for (uint32_t i = 0; i < r->useCount; ++i) {
        const uint32_t rank = p->ranks[r->pUses[i].pass];
        if (rank < p->ranks[r->pUses[use].pass] &&
            (found == use || rank > p->ranks[r->pUses[found].pass])) {
            found = i;
        }
        last = rank > p->ranks[r->pUses[last].pass] ? i : last;
    }
    return found != use ? found : last;
}

/* Plays the barrier that a program of one queue records ahead of a use: it waits for the use
 * before. */
static void play_own_barrier(struct player* p, uint64_t frame, uint32_t queue, uint32_t index,
                             uint32_t use)
{
    const MaarTransientResource* r = &p->maker->resources[index];
    const MaarTransientUse* now = &r->pUses[use];
    const MaarTransientUse* before = &r->pUses[previous_use(p, r, use)];
    const bool first = is_first_use(p, r, use);
    const VkMemoryBarrier2 memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = before->stages | (first ? now->stages : 0),
        .srcAccessMask = before->access,
        .dstStageMask = now->stages,
        .dstAccessMask = now->access,
    };
    const VkImageMemoryBarrier2 image = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = memory.srcStageMask,
        .srcAccessMask = memory.srcAccessMask,
        .dstStageMask = memory.dstStageMask,
        .dstAccessMask = memory.dstAccessMask,
        .oldLayout = first ? VK_IMAGE_LAYOUT_UNDEFINED : before->layout,
        .newLayout = now->layout,
        .image = p->infos[(p->base + frame) % p->copies][index].image,
    };
    const VkDependencyInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .memoryBarrierCount = r->pImageInfo == NULL ? 1 : 0,
        .pMemoryBarriers = &memory,
        .imageMemoryBarrierCount = r->pImageInfo != NULL ? 1 : 0,
        .pImageMemoryBarriers = &image,
    };
    hazards_barrier(p->hazards, queue, &info);
}

static void play_own_barriers(struct player* p, uint64_t frame, uint32_t pass, uint32_t queue)
{
    for (uint32_t i = 0; i < p->maker->graph.resourceCount; ++i) {
        for (uint32_t k = 0; k < p->maker->resources[i].useCount; ++k) {
            if (p->maker->uses[i][k].pass == pass) {
                play_own_barrier(p, frame, queue, i, k);
            }
        }
    }
}

static void play_pass(struct player* p, uint64_t frame, uint32_t pass)
{
    char place[40];
    const uint32_t queue = p->maker->passes[pass].queueIndex;
    const MaarTransientPassBarriers barriers = read_barriers(p, frame, pass);
    (void)snprintf(place, sizeof place, "frame %u, pass %u", (unsigned)(p->submitted + frame),
                   pass);
    hazards_set_place(p->hazards, place);
    play_waits(p, frame, pass, queue, &barriers);
    play_barrier(p, frame, pass, queue, &barriers.aliasing, PLAYER_ALIASING, PLAYER_PARTS,
                 PLAYER_PARTS);
    play_barrier(p, frame, pass, queue, &barriers.before, PLAYER_BEFORE, PLAYER_BEFORE_IMAGE,
                 PLAYER_BEFORE_BUFFER);
    if (p->own_barriers) {
        play_own_barriers(p, frame, pass, queue);
    }
    play_accesses(p, frame, pass, queue);
    play_barrier(p, frame, pass, queue, &barriers.after, PLAYER_PARTS, PLAYER_AFTER_IMAGE,
                 PLAYER_AFTER_BUFFER);
    hazards_signal(p->hazards, queue, pass, p->submitted + frame + 1,
                   VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
}

void player_run(struct player* p, uint64_t first_frame, uint32_t count, uint32_t step)
{
    for (uint32_t i = 0; i < count; ++i) {
        const uint64_t frame = first_frame + (uint64_t)i * step;
        for (uint32_t k = 0; k < p->maker->graph.passCount; ++k) {
            play_pass(p, frame, p->order[k]);
        }
    }
}

uint32_t player_count(const struct player* p, bool first, uint32_t pass, enum player_part part)
{
    (void)read_barriers(p, 0, pass); /* the first frame that is asked about is the first of the
                                        graph */
    const MaarTransientPassBarriers b = read_barriers(p, first ? 0 : p->copies, pass);
    switch (part) {
    case PLAYER_ALIASING:
        return b.aliasing.memoryBarrierCount;
    case PLAYER_BEFORE:
        return b.before.memoryBarrierCount;
    case PLAYER_BEFORE_IMAGE:
        return b.before.imageMemoryBarrierCount;
    case PLAYER_BEFORE_BUFFER:
        return b.before.bufferMemoryBarrierCount;
    case PLAYER_AFTER_IMAGE:
        return b.after.imageMemoryBarrierCount;
    case PLAYER_AFTER_BUFFER:
        return b.after.bufferMemoryBarrierCount;
    case PLAYER_WAIT:
        return b.waitCount;
    default:
        return 0;
    }
}

const char* player_part_name(enum player_part part)
{
    static const char* const names[PLAYER_PARTS] = {
        "aliasing",    "before",       "before image", "before buffer",
        "after image", "after buffer", "wait",
    };
    return names[part];
}
