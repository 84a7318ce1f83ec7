/*
 * Graphs built call by call, and at random.
 */
#include "tests/transient/graph_maker.h"

#include <stdio.h>

static const struct {
    VkPipelineStageFlags2 stages;
    VkAccessFlags2 access;
    VkImageLayout layout;
} use_kinds[GRAPH_USE_KINDS] = {
    [GRAPH_COMPUTE_WRITE] = {VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                             VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT, VK_IMAGE_LAYOUT_GENERAL},
    [GRAPH_COMPUTE_READ] = {VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                            VK_ACCESS_2_SHADER_SAMPLED_READ_BIT,
                            VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL},
    [GRAPH_COMPUTE_UPDATE] = {VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                              VK_ACCESS_2_SHADER_STORAGE_READ_BIT |
                                  VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                              VK_IMAGE_LAYOUT_GENERAL},
    [GRAPH_FRAGMENT_READ] = {VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
                             VK_ACCESS_2_SHADER_SAMPLED_READ_BIT,
                             VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL},
    [GRAPH_COPY_FROM] = {VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_READ_BIT,
                         VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL},
    [GRAPH_COPY_TO] = {VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                       VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL},
    [GRAPH_TRANSFER_WRITE] = {VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                              VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL},
    [GRAPH_TRANSFER_READ] = {VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_READ_BIT,
                             VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL},
    [GRAPH_COLOR_WRITE] = {VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
                           VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
                           VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL},
    [GRAPH_DEPTH_UPDATE] = {VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT |
                                VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT,
                            VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                                VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT,
                            /* the images have colours, so they cannot be in a layout of depth */
                            VK_IMAGE_LAYOUT_GENERAL},
    [GRAPH_SHADERS_READ] = {VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT |
                                VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT |
                                VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                            VK_ACCESS_2_SHADER_SAMPLED_READ_BIT |
                                VK_ACCESS_2_SHADER_STORAGE_READ_BIT,
                            VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL},
};

const MaarSimulatedProfile* graph_profile(const MaarSimulatedProfile* profile)
{
    static MaarSimulatedProfile families;
    families = *profile;
    while (families.queueFamilyCount < 2) {
        families.queueFamilies[families.queueFamilyCount++] = (MaarSimulatedQueueFamily){
            .count = 16,
            .flags = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT |
                     VK_QUEUE_SPARSE_BINDING_BIT,
        };
    }
    return &families;
}

void graph_init(struct graph_maker* g, uint32_t queue_count, const uint32_t* families)
{
    memset(g, 0, sizeof *g);
    assert_true(queue_count <= GRAPH_QUEUES);
    for (uint32_t i = 0; i < queue_count; ++i) {
        g->queues[i].familyIndex = families[i];
    }
    g->families[0] = 0;
    g->families[1] = 1;
    g->graph = (MaarTransientGraph){
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_GRAPH,
        .queueCount = queue_count,
        .pQueues = g->queues,
        .pPasses = g->passes,
        .pDependencies = g->dependencies,
        .pResources = g->resources,
    };
}

uint32_t graph_pass(struct graph_maker* g, uint32_t queue)
{
    assert_true(g->graph.passCount < GRAPH_PASSES);
    g->passes[g->graph.passCount].queueIndex = queue;
    return g->graph.passCount++;
}

void graph_depend(struct graph_maker* g, uint32_t before, uint32_t after)
{
    assert_true(g->graph.dependencyCount < GRAPH_DEPENDENCIES);
    g->dependencies[g->graph.dependencyCount++] =
        (MaarTransientDependency){.before = before, .after = after};
}

static uint32_t add_resource(struct graph_maker* g, const char* kind)
{
    const uint32_t at = g->graph.resourceCount++;
    assert_true(at < GRAPH_RESOURCES);
    (void)snprintf(g->names[at], sizeof g->names[at], "%s %u", kind, at);
    g->resources[at] = (MaarTransientResource){.pUses = g->uses[at], .pName = g->names[at]};
    return at;
}

uint32_t graph_buffer(struct graph_maker* g, VkDeviceSize size)
{
    const uint32_t at = add_resource(g, "buffer");
    g->buffers[at] = rig_buffer_info(size);
    g->buffers[at].usage |= VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    g->resources[at].pBufferInfo = &g->buffers[at];
    return at;
}

uint32_t graph_image(struct graph_maker* g, uint32_t width, uint32_t height)
{
    const uint32_t at = add_resource(g, "image");
    g->images[at] = rig_image_info(width, height);
    g->images[at].usage |= VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                           VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    g->views[at] = (VkImageViewCreateInfo){
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = g->images[at].format,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
    g->resources[at].pImageInfo = &g->images[at];
    g->resources[at].viewCount = 1;
    g->resources[at].pViewInfos = &g->views[at];
    return at;
}

void graph_use(struct graph_maker* g, uint32_t resource, uint32_t pass, enum graph_use use)
{
    MaarTransientResource* r = &g->resources[resource];
    assert_true(r->useCount < GRAPH_USES);
    g->uses[resource][r->useCount++] = (MaarTransientUse){
        .pass = pass,
        .layout = use_kinds[use].layout,
        .stages = use_kinds[use].stages,
        .access = use_kinds[use].access,
    };
}

void graph_share(struct graph_maker* g, uint32_t resource)
{
    if (g->resources[resource].pImageInfo != NULL) {
        g->images[resource].sharingMode = VK_SHARING_MODE_CONCURRENT;
        g->images[resource].queueFamilyIndexCount = 2;
        g->images[resource].pQueueFamilyIndices = g->families;
    } else {
        g->buffers[resource].sharingMode = VK_SHARING_MODE_CONCURRENT;
        g->buffers[resource].queueFamilyIndexCount = 2;
        g->buffers[resource].pQueueFamilyIndices = g->families;
    }
}

/* Whether all passes that a pass comes after are done. */
static bool is_ready(const struct graph_maker* g, const bool* done, uint32_t pass)
{
    for (uint32_t i = 0; i < pass; ++i) {
        if (!done[i] && g->passes[i].queueIndex == g->passes[pass].queueIndex) {
            return false;
        }
    }
    for (uint32_t i = 0; i < g->graph.dependencyCount; ++i) {
        if (g->dependencies[i].after == pass && !done[g->dependencies[i].before]) {
            return false;
        }
    }
    return true;
}

bool graph_order(const struct graph_maker* g, uint32_t* order)
{
    bool done[GRAPH_PASSES] = {false};
    for (uint32_t count = 0; count < g->graph.passCount; ++count) {
        uint32_t pass = 0;
        while (pass < g->graph.passCount && (done[pass] || !is_ready(g, done, pass))) {
            ++pass;
        }
        if (pass == g->graph.passCount) {
            return false;
        }
        done[pass] = true;
        order[count] = pass;
    }
    return true;
}

/* The first use in the order of the frame writes. */
static void random_uses(struct graph_maker* g, struct rig_random* random, uint32_t resource,
                        const uint32_t* order)
{
    static const enum graph_use first[] = {GRAPH_COMPUTE_WRITE, GRAPH_COPY_TO, GRAPH_COLOR_WRITE,
                                           GRAPH_DEPTH_UPDATE};
    static const enum graph_use later[] = {
        GRAPH_COMPUTE_READ, GRAPH_COMPUTE_READ,   GRAPH_FRAGMENT_READ, GRAPH_COPY_FROM,
        GRAPH_COPY_TO,      GRAPH_COMPUTE_UPDATE, GRAPH_SHADERS_READ,  GRAPH_COLOR_WRITE,
    };
    const uint32_t passes = g->graph.passCount;
    uint32_t at = rig_below(random, passes);
    graph_use(g, resource, order[at], first[rig_below(random, 4)]);
    for (++at; at < passes; ++at) {
        if (rig_below(random, 3) == 0 && g->resources[resource].useCount < GRAPH_USES) {
            graph_use(g, resource, order[at], later[rig_below(random, 8)]);
        }
        if (rig_below(random, 5) == 0) {
            break;
        }
    }
}

/* Adds dependencies forwards and, where they make no circle, backwards. */
static void random_dependencies(struct graph_maker* g, struct rig_random* random)
{
    uint32_t order[GRAPH_PASSES];
    const uint32_t passes = g->graph.passCount;
    const uint32_t count = rig_below(random, passes * 2);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t a = rig_below(random, passes);
        const uint32_t b = rig_below(random, passes);
        const bool backwards = rig_below(random, 4) == 0;
        if (g->passes[a].queueIndex == g->passes[b].queueIndex) {
            continue;
        }
        graph_depend(g, (a < b) != backwards ? a : b, (a < b) != backwards ? b : a);
        if (!graph_order(g, order)) {
            --g->graph.dependencyCount;
        }
    }
}

void graph_randomize(struct graph_maker* g, struct rig_random* random, uint32_t queues,
                     uint32_t families, uint32_t passes, uint32_t resources)
{
    const uint32_t queue_families[GRAPH_QUEUES] = {0, families - 1, 0, families - 1};
    uint32_t order[GRAPH_PASSES];
    graph_init(g, queues, queue_families);
    const uint32_t pass_count = 2 + rig_below(random, passes - 1);
    for (uint32_t i = 0; i < pass_count; ++i) {
        (void)graph_pass(g, rig_below(random, queues));
    }
    random_dependencies(g, random);
    assert_true(graph_order(g, order));
    const uint32_t count = 2 + rig_below(random, resources - 1);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t at = rig_below(random, 2) == 0
                                ? graph_buffer(g, 1000 + rig_below(random, 100000))
                                : graph_image(g, 16 + rig_below(random, 200), 64);
        random_uses(g, random, at, order);
        if (families > 1 && rig_below(random, 3) == 0) {
            graph_share(g, at);
        }
        const uint32_t kind = rig_below(random, 8);
        g->resources[at].flags = kind == 0   ? MAAR_TRANSIENT_RESOURCE_KEEP_CONTENTS_BIT
                                 : kind == 1 ? MAAR_TRANSIENT_RESOURCE_NO_ALIASING_BIT
                                             : 0;
    }
}
