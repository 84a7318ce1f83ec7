/*
 * Steps: transient heaps.
 */
#include "tests/fault/fault_steps.h"

static const MaarTransientQueue queue = {.familyIndex = 0};
static const MaarTransientPass passes[3];

static const MaarTransientUse written[] = {
    {.pass = 0,
     .layout = VK_IMAGE_LAYOUT_GENERAL,
     .stages = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
     .access = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT},
    {.pass = 1,
     .layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
     .stages = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
     .access = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT},
};

static const MaarTransientUse later[] = {
    {.pass = 2,
     .layout = VK_IMAGE_LAYOUT_GENERAL,
     .stages = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
     .access = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT},
};

/* Two images and two buffers; the second image has another width in an update. */
struct graph {
    VkImageCreateInfo images[2];
    VkImageViewCreateInfo view;
    VkBufferCreateInfo buffer;
    MaarTransientResource resources[4];
    MaarTransientGraph graph;
};

static void fill_graph(struct graph* g, uint32_t width)
{
    memset(g, 0, sizeof *g);
    g->images[0] = rig_image_info(64, 64);
    g->images[1] = rig_image_info(width, 64);
    g->buffer = rig_buffer_info(5000);
    g->view = (VkImageViewCreateInfo){
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = g->images[0].format,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
    for (uint32_t i = 0; i < 4; ++i) {
        g->resources[i] = (MaarTransientResource){
            .pImageInfo = i < 2 ? &g->images[i] : NULL,
            .pBufferInfo = i < 2 ? NULL : &g->buffer,
            .useCount = i % 2 == 0 ? 2 : 1,
            .pUses = i % 2 == 0 ? written : later,
            .viewCount = i < 2 ? 1 : 0,
            .pViewInfos = &g->view,
        };
    }
    g->resources[2].flags = MAAR_TRANSIENT_RESOURCE_KEEP_CONTENTS_BIT;
    g->graph = (MaarTransientGraph){
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_GRAPH,
        .queueCount = 1,
        .pQueues = &queue,
        .passCount = 3,
        .pPasses = passes,
        .resourceCount = 4,
        .pResources = g->resources,
    };
}

static VkResult create(struct fault_context* c, uint32_t copies, const char* name)
{
    struct graph g;
    fill_graph(&g, 32);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pName = name;
    const MaarTransientHeapCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO,
        .copyCount = copies,
        .pGraph = &g.graph,
        .pAllocationInfo = name != NULL ? &how : NULL,
        .planNodeLimit = 100,
    };
    c->heap = (MaarTransientHeap)(uintptr_t)1;
    VkResult result = maarCreateTransientHeap(c->rig.allocator, &info, &c->heap);
    assert_true((result == VK_SUCCESS) == (c->heap != VK_NULL_HANDLE));
    return result;
}

static VkResult run_create(struct fault_context* c)
{
    return create(c, 1, NULL);
}

static VkResult run_create_copies(struct fault_context* c)
{
    return create(c, 2, "frames");
}

static void prepare_dedicated(struct fault_context* c)
{
    const MaarSimulatedDedicated dedicated = {.imagesRequire = VK_TRUE};
    maarSimulatedSetDedicated(c->rig.physical, &dedicated);
}

static void undo_create(struct fault_context* c)
{
    maarDestroyTransientHeap(c->rig.allocator, c->heap);
}

static void prepare_heap(struct fault_context* c)
{
    assert_int_equal(run_create(c), VK_SUCCESS);
}

static MaarTransientResourceInfo read_resource(struct fault_context* c, uint32_t index)
{
    MaarTransientResourceInfo info = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_RESOURCE_INFO};
    assert_int_equal(maarGetTransientResource(c->rig.allocator, c->heap, 0, index, &info),
                     VK_SUCCESS);
    return info;
}

static VkResult update(struct fault_context* c, uint32_t point_count)
{
    struct graph g;
    MaarTransientResourceInfo before[4];
    for (uint32_t i = 0; i < 4; ++i) {
        before[i] = read_resource(c, i);
    }
    fill_graph(&g, 300);
    VkResult result = maarUpdateTransientHeap(c->rig.allocator, c->heap, &g.graph, point_count,
                                              &fault_host_point);
    for (uint32_t i = 0; i < 4 && result != VK_SUCCESS; ++i) {
        const MaarTransientResourceInfo after = read_resource(c, i);
        assert_memory_equal(&before[i], &after, sizeof after);
    }
    return result;
}

static VkResult run_update(struct fault_context* c)
{
    return update(c, 0);
}

static VkResult run_update_after(struct fault_context* c)
{
    return update(c, 1);
}

static VkResult run_same(struct fault_context* c)
{
    struct graph g;
    fill_graph(&g, 32);
    return maarUpdateTransientHeap(c->rig.allocator, c->heap, &g.graph, 0, NULL);
}

static void undo_after(struct fault_context* c)
{
    assert_int_equal(maarAdvanceHostTimeline(c->rig.allocator, fault_host_point.value), VK_SUCCESS);
    assert_int_equal(maarCollect(c->rig.allocator, NULL), VK_SUCCESS);
}

static VkResult run_destroy(struct fault_context* c)
{
    undo_create(c);
    return VK_SUCCESS;
}

static VkResult run_destroy_after(struct fault_context* c)
{
    return maarDestroyTransientHeapAfter(c->rig.allocator, c->heap, 1, &fault_host_point);
}

static VkResult run_info(struct fault_context* c)
{
    MaarTransientHeapInfo info = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_INFO};
    return maarGetTransientHeapInfo(c->rig.allocator, c->heap, &info);
}

static VkResult run_resource(struct fault_context* c)
{
    assert_true(read_resource(c, 0).image != VK_NULL_HANDLE);
    return VK_SUCCESS;
}

static VkResult run_barriers(struct fault_context* c)
{
    MaarTransientPassBarriers barriers = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS};
    return maarGetTransientPassBarriers(c->rig.allocator, c->heap, 0, 0, &barriers);
}

static const char reads_what_is_kept[] = "reads what is kept";

static const struct fault_step steps[] = {
    {.function = "maarCreateTransientHeap", .run = run_create, .undo = undo_create},
    {.function = "maarCreateTransientHeap",
     .variant = "asks by creating",
     .run = run_create,
     .undo = undo_create,
     .off = RIG_OFF_MAINTENANCE4},
    {.function = "maarCreateTransientHeap",
     .variant = "named copies",
     .run = run_create_copies,
     .undo = undo_create},
    {.function = "maarCreateTransientHeap",
     .variant = "memory of their own",
     .prepare = prepare_dedicated,
     .run = run_create,
     .undo = undo_create},
    {.function = "maarDestroyTransientHeap",
     .never = "destroys and gives back, which cannot fail",
     .prepare = prepare_heap,
     .run = run_destroy},
    {.function = "maarDestroyTransientHeapAfter",
     .prepare = prepare_heap,
     .run = run_destroy_after,
     .undo = undo_after},
    {.function = "maarUpdateTransientHeap",
     .prepare = prepare_heap,
     .run = run_update,
     .finish = undo_create},
    {.function = "maarUpdateTransientHeap",
     .variant = "after points",
     .prepare = prepare_heap,
     .run = run_update_after,
     .undo = undo_after,
     .finish = undo_create},
    {.function = "maarUpdateTransientHeap",
     .variant = "unchanged",
     .prepare = prepare_heap,
     .run = run_same,
     .finish = undo_create},
    {.function = "maarGetTransientHeapInfo",
     .never = reads_what_is_kept,
     .prepare = prepare_heap,
     .run = run_info,
     .finish = undo_create},
    {.function = "maarGetTransientResource",
     .never = reads_what_is_kept,
     .prepare = prepare_heap,
     .run = run_resource,
     .finish = undo_create},
    {.function = "maarGetTransientPassBarriers",
     .never = reads_what_is_kept,
     .prepare = prepare_heap,
     .run = run_barriers,
     .finish = undo_create},
};

const struct fault_table fault_transient_steps = {steps, sizeof steps / sizeof steps[0]};
