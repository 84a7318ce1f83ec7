/*
 * Transient heaps on simulated devices: what is created, where it lies, what an update keeps, and
 * which misuse is reported.
 */
#include "tests/transient/frame_player.h"

static struct rig* rig;
static struct graph_maker maker;
static struct graph_maker other;

static void start(const MaarSimulatedProfile* profile, VkFlags off)
{
    const struct rig_setup setup = {
        .profile = profile,
        .flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT,
        .off = off,
        .count_host = true,
    };
    rig = rig_begin(&setup);
}

static int open_rig(void** state)
{
    (void)state;
    start(NULL, 0);
    return 0;
}

static int close_rig(void** state)
{
    (void)state;
    rig_close(rig);
    return 0;
}

/* Three passes of one queue: a is written and read, then b and c live in its bytes. */
static void simple_graph(struct graph_maker* g, uint32_t width)
{
    const uint32_t family = 0;
    graph_init(g, 1, &family);
    for (uint32_t i = 0; i < 3; ++i) {
        (void)graph_pass(g, 0);
    }
    const uint32_t a = graph_image(g, width, 256);
    const uint32_t b = graph_buffer(g, 100000);
    const uint32_t c = graph_image(g, 64, 64);
    graph_use(g, a, 0, GRAPH_COMPUTE_WRITE);
    graph_use(g, a, 1, GRAPH_COMPUTE_READ);
    graph_use(g, b, 2, GRAPH_COMPUTE_WRITE);
    graph_use(g, c, 2, GRAPH_COMPUTE_WRITE);
}

static MaarTransientHeapCreateInfo heap_info(void)
{
    return (MaarTransientHeapCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO,
        .pGraph = &maker.graph,
    };
}

static MaarTransientHeap create(const MaarTransientHeapCreateInfo* info)
{
    MaarTransientHeap heap = VK_NULL_HANDLE;
    VkResult result = maarCreateTransientHeap(rig->allocator, info, &heap);
    if (result != VK_SUCCESS) {
        fail_msg("no heap: %d, \"%s\"", (int)result, rig->messages.last);
    }
    return heap;
}

static MaarTransientHeapInfo read_heap(MaarTransientHeap heap)
{
    MaarTransientHeapInfo info = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_INFO};
    assert_int_equal(maarGetTransientHeapInfo(rig->allocator, heap, &info), VK_SUCCESS);
    return info;
}

static MaarTransientResourceInfo read_resource(MaarTransientHeap heap, uint32_t copy,
                                               uint32_t index)
{
    MaarTransientResourceInfo info = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_RESOURCE_INFO};
    assert_int_equal(maarGetTransientResource(rig->allocator, heap, copy, index, &info),
                     VK_SUCCESS);
    return info;
}

/* ---- creation ---- */

static void resources_share_bytes_of_one_allocation(void** state)
{
    (void)state;
    simple_graph(&maker, 256);
    const MaarTransientHeapCreateInfo info = heap_info();
    MaarTransientHeap heap = create(&info);
    const MaarTransientHeapInfo figures = read_heap(heap);
    const MaarTransientResourceInfo a = read_resource(heap, 0, 0);
    const MaarTransientResourceInfo b = read_resource(heap, 0, 1);
    assert_true(a.image != VK_NULL_HANDLE && a.buffer == VK_NULL_HANDLE);
    assert_int_equal(a.viewCount, 1);
    assert_true(a.pViews[0] != VK_NULL_HANDLE);
    assert_true(b.buffer != VK_NULL_HANDLE && b.image == VK_NULL_HANDLE && b.pViews == NULL);
    assert_true(a.allocation == b.allocation);
    assert_true(a.offset < b.offset + b.size && b.offset < a.offset + a.size);
    assert_true(figures.peakSize < figures.totalSize);
    assert_true(figures.objectReuseSize ==
                figures.totalSize); /* no two have the same create info */
    assert_int_equal(figures.createdCount, 5);
    assert_int_equal(figures.generation, 1);
    assert_int_equal(figures.copyCount, 1);
    assert_true(rig_statistics(rig, VK_NULL_HANDLE).allocationBytes >= figures.peakSize);
    maarDestroyTransientHeap(rig->allocator, heap);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, 0);
    rig_expect_silence(rig);
}

static void without_aliasing_nothing_is_shared(void** state)
{
    (void)state;
    simple_graph(&maker, 256);
    MaarTransientHeapCreateInfo info = heap_info();
    info.flags = MAAR_TRANSIENT_HEAP_CREATE_NO_ALIASING_BIT;
    MaarTransientHeap heap = create(&info);
    const MaarTransientHeapInfo figures = read_heap(heap);
    assert_true(figures.peakSize >= figures.totalSize);
    for (uint32_t i = 0; i < 6; ++i) {
        MaarTransientPassBarriers barriers = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS};
        assert_int_equal(
            maarGetTransientPassBarriers(rig->allocator, heap, i / 3, i % 3, &barriers),
            VK_SUCCESS);
        assert_int_equal(barriers.aliasing.memoryBarrierCount, 0);
    }
    maarDestroyTransientHeap(rig->allocator, heap);
}

/* A minimised window: the width is named, not a size that the planner has been given. */
static void width_of_a_minimised_window_is_named(void** state)
{
    (void)state;
    simple_graph(&maker, 256);
    maker.images[0].extent.width = 0;
    const MaarTransientHeapCreateInfo info = heap_info();
    MaarTransientHeap heap = VK_NULL_HANDLE;
    assert_int_equal(maarCreateTransientHeap(rig->allocator, &info, &heap),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_INVALID_GRAPH, "pImageInfo->extent.width");
}

/* ---- the numbers of frames ---- */

/* The stages that a pass of a frame waits for, of all its barriers. */
static VkPipelineStageFlags2 sources_of(MaarTransientHeap heap, uint64_t frame, uint32_t pass)
{
    MaarTransientPassBarriers barriers = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS};
    assert_int_equal(maarGetTransientPassBarriers(rig->allocator, heap, frame, pass, &barriers),
                     VK_SUCCESS);
    const VkDependencyInfo* const infos[] = {&barriers.aliasing, &barriers.before};
    VkPipelineStageFlags2 stages = 0;
    for (uint32_t i = 0; i < 2; ++i) {
        for (uint32_t k = 0; k < infos[i]->memoryBarrierCount; ++k) {
            stages |= infos[i]->pMemoryBarriers[k].srcStageMask;
        }
        for (uint32_t k = 0; k < infos[i]->imageMemoryBarrierCount; ++k) {
            stages |= infos[i]->pImageMemoryBarriers[k].srcStageMask;
        }
    }
    assert_int_equal(barriers.hasAliasing != VK_FALSE, barriers.aliasing.memoryBarrierCount > 0);
    assert_int_equal(barriers.hasBefore != VK_FALSE,
                     barriers.before.memoryBarrierCount + barriers.before.bufferMemoryBarrierCount +
                             barriers.before.imageMemoryBarrierCount >
                         0);
    assert_int_equal(
        barriers.hasAfter != VK_FALSE,
        barriers.after.bufferMemoryBarrierCount + barriers.after.imageMemoryBarrierCount > 0);
    return stages;
}

/* The barriers of a first frame come again and again, which is wrong on a device. */
static void index_of_a_frame_in_flight_is_noticed(void** state)
{
    (void)state;
    simple_graph(&maker, 256);
    const MaarTransientHeapCreateInfo info = heap_info();
    MaarTransientHeap heap = create(&info);
    for (uint32_t frame = 0; frame < 3 * 63; ++frame) {
        (void)sources_of(heap, frame % 3, 0);
    }
    rig_expect_silence(rig);
    (void)sources_of(heap, 0, 0);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FRAME_NUMBER_NOT_RISING, "frameNumber");
    for (uint32_t frame = 0; frame < 200; ++frame) {
        (void)sources_of(heap, frame % 3, 0);
    }
    rig_expect_silence(rig); /* once is enough */
    maarDestroyTransientHeap(rig->allocator, heap);
}

static void number_that_never_changes_is_noticed(void** state)
{
    (void)state;
    simple_graph(&maker, 256);
    for (uint32_t copies = 1; copies <= 3; copies += 2) {
        MaarTransientHeapCreateInfo info = heap_info();
        info.copyCount = copies;
        MaarTransientHeap heap = create(&info);
        for (uint32_t i = 0; i < 63; ++i) {
            (void)sources_of(heap, 7 + i % copies, 1);
        }
        rig_expect_silence(rig);
        (void)sources_of(heap, 7, 1);
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FRAME_NUMBER_NOT_RISING, "frameNumber");
        (void)sources_of(heap, 7, 1);
        rig_expect_silence(rig);
        maarDestroyTransientHeap(rig->allocator, heap);
    }
}

/* Two frames may be recorded by turns, and a pass for each eye. */
static void frames_in_order_are_not_reported(void** state)
{
    (void)state;
    simple_graph(&maker, 256);
    const MaarTransientHeapCreateInfo info = heap_info();
    MaarTransientHeap heap = create(&info);
    for (uint64_t frame = 0; frame < 300; ++frame) {
        (void)sources_of(heap, frame + 1, 0);
        (void)sources_of(heap, frame, 1);
        (void)sources_of(heap, frame, 1);
    }
    rig_expect_silence(rig);
    maarDestroyTransientHeap(rig->allocator, heap);
}

static void plan_only_creates_nothing(void** state)
{
    (void)state;
    simple_graph(&maker, 256);
    MaarTransientHeapCreateInfo info = heap_info();
    info.flags = MAAR_TRANSIENT_HEAP_CREATE_PLAN_ONLY_BIT;
    MaarTransientHeap heap = create(&info);
    assert_int_equal(rig_calls(rig, "vkCreateImage") + rig_calls(rig, "vkCreateBuffer"), 0);
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), 0);
    assert_true(read_resource(heap, 0, 0).image == VK_NULL_HANDLE);
    assert_true(read_resource(heap, 0, 0).size > 0);
    assert_true(read_heap(heap).plan != VK_NULL_HANDLE);
    MaarTransientPassBarriers barriers = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS};
    assert_int_equal(maarGetTransientPassBarriers(rig->allocator, heap, 0, 2, &barriers),
                     VK_SUCCESS);
    assert_int_equal(barriers.before.imageMemoryBarrierCount, 1);
    assert_int_equal(barriers.pImageResources[0], 2);
    simple_graph(&other, 512);
    for (uint32_t i = 0; i < 2; ++i) { /* another graph, then the same again */
        assert_int_equal(maarUpdateTransientHeap(rig->allocator, heap, &other.graph, 0, NULL),
                         VK_SUCCESS);
        assert_int_equal(rig_calls(rig, "vkCreateImage"), 0);
        assert_int_equal(read_heap(heap).keptCount, 0);
        assert_int_equal(read_heap(heap).generation, 1);
    }
    maarDestroyTransientHeap(rig->allocator, heap);
}

static void copies_have_memory_of_their_own(void** state)
{
    (void)state;
    simple_graph(&maker, 256);
    MaarTransientHeapCreateInfo info = heap_info();
    info.copyCount = 3;
    MaarTransientHeap heap = create(&info);
    assert_int_equal(read_heap(heap).copyCount, 3);
    assert_int_equal(read_heap(heap).createdCount, 15);
    for (uint32_t copy = 1; copy < 3; ++copy) {
        assert_true(read_resource(heap, copy, 0).allocation !=
                    read_resource(heap, 0, 0).allocation);
        assert_true(read_resource(heap, copy, 0).image != read_resource(heap, 0, 0).image);
        assert_true(read_resource(heap, copy, 0).offset == read_resource(heap, 0, 0).offset);
    }
    maarDestroyTransientHeap(rig->allocator, heap);
}

static void equal_objects_count_once_in_the_comparison(void** state)
{
    (void)state;
    const uint32_t family = 0;
    graph_init(&maker, 1, &family);
    VkDeviceSize size = 0;
    for (uint32_t i = 0; i < 4; ++i) {
        (void)graph_pass(&maker, 0);
        graph_use(&maker, graph_image(&maker, 128, 128), i, GRAPH_COMPUTE_WRITE);
    }
    const MaarTransientHeapCreateInfo info = heap_info();
    MaarTransientHeap heap = create(&info);
    size = read_resource(heap, 0, 0).size;
    assert_true(read_heap(heap).totalSize == 4 * size);
    assert_true(read_heap(heap).objectReuseSize == size);
    assert_true(read_heap(heap).peakSize == size);
    maarDestroyTransientHeap(rig->allocator, heap);
}

/* A resource that keeps its contents gives its object to no other. */
static void objects_that_are_kept_count_for_themselves(void** state)
{
    (void)state;
    for (uint32_t kept = 0; kept < 2; ++kept) {
        const uint32_t family = 0;
        graph_init(&maker, 1, &family);
        for (uint32_t i = 0; i < 2; ++i) {
            (void)graph_pass(&maker, 0);
            graph_use(&maker, graph_image(&maker, 128, 128), i, GRAPH_COMPUTE_WRITE);
        }
        maker.resources[kept].flags = MAAR_TRANSIENT_RESOURCE_KEEP_CONTENTS_BIT;
        const MaarTransientHeapCreateInfo info = heap_info();
        MaarTransientHeap heap = create(&info);
        assert_true(read_heap(heap).objectReuseSize == read_heap(heap).totalSize);
        maarDestroyTransientHeap(rig->allocator, heap);
    }
}

/* Two resources with the same create info. One is used before and behind the other. */
static void objects_in_use_are_not_reused(void** state)
{
    (void)state;
    const uint32_t family = 0;
    graph_init(&maker, 1, &family);
    for (uint32_t i = 0; i < 3; ++i) {
        (void)graph_pass(&maker, 0);
    }
    const uint32_t around = graph_image(&maker, 128, 128);
    graph_use(&maker, around, 0, GRAPH_COMPUTE_WRITE);
    graph_use(&maker, around, 2, GRAPH_COMPUTE_UPDATE);
    graph_use(&maker, graph_image(&maker, 128, 128), 1, GRAPH_COMPUTE_WRITE);
    const MaarTransientHeapCreateInfo info = heap_info();
    MaarTransientHeap heap = create(&info);
    assert_true(read_heap(heap).objectReuseSize == read_heap(heap).totalSize);
    maarDestroyTransientHeap(rig->allocator, heap);
}

/* Two queues: the last use of an object on each of them must be over. */
static void objects_in_use_on_another_queue_are_not_reused(void** state)
{
    (void)state;
    for (uint32_t held = 0; held < 2; ++held) {
        const uint32_t families[2] = {0, 0};
        graph_init(&maker, 2, families);
        const uint32_t writer = graph_pass(&maker, 0);
        const uint32_t reader = graph_pass(&maker, 1);
        const uint32_t holder = graph_pass(&maker, 0);
        const uint32_t next = graph_pass(&maker, 1);
        graph_depend(&maker, writer, reader);
        const uint32_t object = graph_image(&maker, 128, 128);
        graph_use(&maker, object, writer, GRAPH_COMPUTE_WRITE);
        graph_use(&maker, object, reader, GRAPH_COMPUTE_READ);
        if (held == 1) {
            graph_use(&maker, object, holder, GRAPH_COMPUTE_READ);
        }
        graph_use(&maker, graph_image(&maker, 128, 128), next, GRAPH_COMPUTE_WRITE);
        const MaarTransientHeapCreateInfo info = heap_info();
        MaarTransientHeap heap = create(&info);
        assert_true(read_heap(heap).objectReuseSize ==
                    (held == 1 ? read_heap(heap).totalSize : read_heap(heap).totalSize / 2));
        maarDestroyTransientHeap(rig->allocator, heap);
    }
}

/* In each frame, one queue writes what the other one reads. Only the frame that used the same copy
 * must be over. */
static void waits_are_for_the_frame_of_their_copy(void** state)
{
    (void)state;
    for (uint32_t copies = 1; copies < 4; ++copies) {
        const uint32_t families[2] = {0, 0};
        graph_init(&maker, 2, families);
        const uint32_t writer = graph_pass(&maker, 0);
        const uint32_t reader = graph_pass(&maker, 1);
        const uint32_t buffer = graph_buffer(&maker, 4096);
        graph_use(&maker, buffer, writer, GRAPH_COMPUTE_WRITE);
        graph_use(&maker, buffer, reader, GRAPH_COMPUTE_READ);
        graph_depend(&maker, writer, reader);
        MaarTransientHeapCreateInfo info = heap_info();
        info.copyCount = copies;
        MaarTransientHeap heap = create(&info);
        for (uint64_t frame = 0; frame < 3 * (uint64_t)copies; ++frame) {
            MaarTransientPassBarriers barriers = {.sType =
                                                      MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS};
            assert_int_equal(
                maarGetTransientPassBarriers(rig->allocator, heap, frame, writer, &barriers),
                VK_SUCCESS);
            assert_int_equal(barriers.waitCount, frame < copies ? 0 : 1);
            if (barriers.waitCount > 0) {
                assert_int_equal(barriers.pWaits[0].pass, reader);
                assert_int_equal(barriers.pWaits[0].framesBack, copies);
            }
        }
        maarDestroyTransientHeap(rig->allocator, heap);
    }
}

static void an_empty_graph_is_a_heap(void** state)
{
    (void)state;
    const uint32_t family = 0;
    graph_init(&maker, 1, &family);
    (void)graph_pass(&maker, 0);
    const MaarTransientHeapCreateInfo info = heap_info();
    MaarTransientHeap heap = create(&info);
    assert_true(read_heap(heap).peakSize == 0);
    maarDestroyTransientHeap(rig->allocator, heap);
}

/* The second stage of the planner finds fewer edges here. The flag leaves that stage out. */
static void edges_are_kept_on_request(void** state)
{
    (void)state;
    uint64_t saved = 0;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        struct rig_random random = {seed};
        graph_randomize(&maker, &random, 2, 1, 12, 24);
        MaarTransientHeapCreateInfo info = heap_info();
        for (uint32_t keep = 0; keep < 2; ++keep) {
            MaarPlanInfo plan = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
            info.flags = keep != 0 ? MAAR_TRANSIENT_HEAP_CREATE_KEEP_EDGES_BIT : 0;
            MaarTransientHeap heap = create(&info);
            assert_int_equal(maarGetPlanInfo(read_heap(heap).plan, &plan), VK_SUCCESS);
            saved += keep == 0 && plan.edgeCount < plan.firstStageEdgeCount ? 1 : 0;
            assert_true(keep == 0 || plan.edgeCount == plan.firstStageEdgeCount);
            maarDestroyTransientHeap(rig->allocator, heap);
        }
    }
    assert_true(saved > 0);
}

/* ---- memory ---- */

static void memory_without_a_name_is_named_transients(void** state)
{
    (void)state;
    simple_graph(&maker, 256);
    const MaarTransientHeapCreateInfo info = heap_info();
    MaarTransientHeap heap = create(&info);
    assert_string_equal(rig_info(rig, read_resource(heap, 0, 0).allocation).pName, "transients");
    maarDestroyTransientHeap(rig->allocator, heap);
}

static void transient_attachments_live_in_lazy_memory(void** state)
{
    (void)state;
    start(rig_profile_noncoherent(), 0);
    simple_graph(&maker, 256);
    maker.images[0].usage =
        VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT;
    maker.uses[0][0].layout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
    maker.uses[0][1].layout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
    MaarAllocationCreateInfo named = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    named.pName = "a name alone";
    MaarTransientHeapCreateInfo info = heap_info();
    info.pAllocationInfo = &named;
    MaarTransientHeap heap = create(&info);
    const MaarTransientResourceInfo a = read_resource(heap, 0, 0);
    const MaarTransientResourceInfo b = read_resource(heap, 0, 1);
    assert_true(
        (rig_info(rig, a.allocation).propertyFlags & VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT) != 0);
    assert_true(
        (rig_info(rig, b.allocation).propertyFlags & VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT) == 0);
    assert_true(read_heap(heap).lazySize == a.size);
    maarDestroyTransientHeap(rig->allocator, heap);
}

static void what_the_driver_wants_alone_gets_memory_of_its_own(void** state)
{
    (void)state;
    const MaarSimulatedDedicated dedicated = {.imagesRequire = VK_TRUE};
    simple_graph(&maker, 256);
    maarSimulatedSetDedicated(rig->physical, &dedicated);
    const MaarTransientHeapCreateInfo info = heap_info();
    MaarTransientHeap heap = create(&info);
    assert_true(rig_info(rig, read_resource(heap, 0, 0).allocation).dedicated);
    assert_true(read_resource(heap, 0, 0).allocation != read_resource(heap, 0, 2).allocation);
    assert_true(read_resource(heap, 0, 0).classIndex != read_resource(heap, 0, 1).classIndex);
    assert_true(read_heap(heap).peakSize == read_heap(heap).totalSize);
    maarDestroyTransientHeap(rig->allocator, heap);
}

static void a_class_above_the_largest_allocation_is_refused(void** state)
{
    (void)state;
    start(rig_profile_tiny(), 0);
    simple_graph(&maker, 4096);
    maker.images[0].extent.height = 4096;
    const MaarTransientHeapCreateInfo info = heap_info();
    MaarTransientHeap heap = (MaarTransientHeap)(uintptr_t)1;
    assert_int_equal(maarCreateTransientHeap(rig->allocator, &info, &heap),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_null(heap);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_TRANSIENTS_TOO_LARGE, "pGraph->pResources[0]");
}

static void memory_comes_from_the_pool_asked_for(void** state)
{
    (void)state;
    const MaarPoolCreateInfo pool_info = {.memoryTypeIndex = 3};
    MaarPool pool = rig_create_pool(rig, &pool_info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = pool;
    how.pName = "frame";
    simple_graph(&maker, 256);
    MaarTransientHeapCreateInfo info = heap_info();
    info.pAllocationInfo = &how;
    MaarTransientHeap heap = create(&info);
    const MaarAllocationInfo memory = rig_info(rig, read_resource(heap, 0, 0).allocation);
    assert_int_equal(memory.memoryTypeIndex, 3);
    assert_string_equal(memory.pName, "frame");
    maarDestroyTransientHeap(rig->allocator, heap);
    maarDestroyPool(rig->allocator, pool);
}

/* ---- updates ---- */

static void an_unchanged_graph_changes_nothing(void** state)
{
    (void)state;
    simple_graph(&maker, 256);
    simple_graph(&other, 256);
    const MaarTransientHeapCreateInfo info = heap_info();
    MaarTransientHeap heap = create(&info);
    const MaarTransientResourceInfo before = read_resource(heap, 0, 0);
    const uint64_t calls = rig_counters(rig).callCount;
    assert_int_equal(maarUpdateTransientHeap(rig->allocator, heap, &other.graph, 0, NULL),
                     VK_SUCCESS);
    assert_int_equal(rig_counters(rig).callCount, calls);
    const MaarTransientResourceInfo after = read_resource(heap, 0, 0);
    assert_memory_equal(&before, &after, sizeof after);
    assert_int_equal(read_heap(heap).createdCount, 0);
    assert_int_equal(read_heap(heap).generation, 1);
    maarDestroyTransientHeap(rig->allocator, heap);
}

/* The new image fits into the old memory: what has not changed stays. */
static void a_smaller_image_leaves_the_rest_alone(void** state)
{
    (void)state;
    simple_graph(&maker, 256);
    simple_graph(&other, 240);
    const MaarTransientHeapCreateInfo info = heap_info();
    MaarTransientHeap heap = create(&info);
    const MaarTransientResourceInfo a = read_resource(heap, 0, 0);
    const MaarTransientResourceInfo b = read_resource(heap, 0, 1);
    assert_int_equal(maarUpdateTransientHeap(rig->allocator, heap, &other.graph, 0, NULL),
                     VK_SUCCESS);
    const MaarTransientHeapInfo figures = read_heap(heap);
    assert_true(read_resource(heap, 0, 0).image != a.image);
    assert_true(read_resource(heap, 0, 0).allocation == a.allocation);
    assert_int_equal(read_resource(heap, 0, 0).generation, 2);
    assert_true(read_resource(heap, 0, 1).buffer == b.buffer);
    assert_int_equal(read_resource(heap, 0, 1).generation, 1);
    assert_int_equal(figures.generation, 2);
    assert_int_equal(figures.createdCount, 2);
    assert_int_equal(figures.keptCount, 2);
    maarDestroyTransientHeap(rig->allocator, heap);
}

/* The image stays. Its view is replaced, since it shows another part of the image now. */
static void another_view_of_an_image_is_created(void** state)
{
    (void)state;
    struct graph_maker* const makers[2] = {&maker, &other};
    for (uint32_t i = 0; i < 2; ++i) {
        simple_graph(makers[i], 256);
        makers[i]->images[0].mipLevels = 2;
        makers[i]->views[0].subresourceRange.baseMipLevel = i;
        makers[i]->views[0].subresourceRange.levelCount = 1;
    }
    const MaarTransientHeapCreateInfo info = heap_info();
    MaarTransientHeap heap = create(&info);
    const VkImage kept = read_resource(heap, 0, 0).image;
    assert_int_equal(rig_calls(rig, "vkCreateImageView"), 2);
    assert_int_equal(maarUpdateTransientHeap(rig->allocator, heap, &other.graph, 0, NULL),
                     VK_SUCCESS);
    assert_true(read_resource(heap, 0, 0).image == kept);
    assert_int_equal(rig_calls(rig, "vkCreateImageView"), 3);
    assert_int_equal(rig_calls(rig, "vkDestroyImageView"), 1);
    maarDestroyTransientHeap(rig->allocator, heap);
}

/* Nothing is created, so that no generation is newer than the heap's. */
static void an_image_without_its_view_is_not_new(void** state)
{
    (void)state;
    simple_graph(&maker, 256);
    simple_graph(&other, 256);
    other.resources[0].viewCount = 0;
    const MaarTransientHeapCreateInfo info = heap_info();
    MaarTransientHeap heap = create(&info);
    assert_int_equal(maarUpdateTransientHeap(rig->allocator, heap, &other.graph, 0, NULL),
                     VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkDestroyImageView"), 1);
    assert_int_equal(read_heap(heap).createdCount, 0);
    assert_int_equal(read_heap(heap).keptCount, 3);
    assert_int_equal(read_heap(heap).generation, 1);
    assert_int_equal(read_resource(heap, 0, 0).viewCount, 0);
    assert_int_equal(read_resource(heap, 0, 0).generation, 1);
    maarDestroyTransientHeap(rig->allocator, heap);
}

static void resources_are_found_by_their_previous_indices(void** state)
{
    (void)state;
    simple_graph(&maker, 256);
    const MaarTransientHeapCreateInfo info = heap_info();
    MaarTransientHeap heap = create(&info);
    const VkImage c = read_resource(heap, 0, 2).image;
    const VkBuffer b = read_resource(heap, 0, 1).buffer;
    const VkImage a = read_resource(heap, 0, 0).image;
    const uint32_t family = 0;
    graph_init(&other, 1, &family);
    for (uint32_t i = 0; i < 3; ++i) {
        (void)graph_pass(&other, 0);
    }
    graph_use(&other, graph_image(&other, 64, 64), 2, GRAPH_COMPUTE_WRITE);
    graph_use(&other, graph_buffer(&other, 100000), 2, GRAPH_COMPUTE_WRITE);
    const uint32_t image = graph_image(&other, 256, 256);
    graph_use(&other, image, 0, GRAPH_COMPUTE_WRITE);
    graph_use(&other, image, 1, GRAPH_COMPUTE_READ);
    const uint32_t previous[] = {2, 1, 0};
    other.graph.pPreviousIndices = previous;
    assert_int_equal(maarUpdateTransientHeap(rig->allocator, heap, &other.graph, 0, NULL),
                     VK_SUCCESS);
    assert_true(read_resource(heap, 0, 0).image == c);
    assert_true(read_resource(heap, 0, 1).buffer == b);
    assert_true(read_resource(heap, 0, 2).image == a);
    assert_int_equal(read_heap(heap).createdCount, 0);
    assert_int_equal(read_heap(heap).generation, 1);
    maarDestroyTransientHeap(rig->allocator, heap);
}

static void what_goes_waits_for_its_points(void** state)
{
    (void)state;
    const MaarPoint point = {.value = 7};
    simple_graph(&maker, 256);
    simple_graph(&other, 2048);
    const MaarTransientHeapCreateInfo info = heap_info();
    MaarTransientHeap heap = create(&info);
    const uint64_t destroyed = rig_calls(rig, "vkDestroyImage");
    assert_int_equal(maarUpdateTransientHeap(rig->allocator, heap, &other.graph, 1, &point),
                     VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkDestroyImage"), destroyed);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 1);
    assert_int_equal(maarDestroyTransientHeapAfter(rig->allocator, heap, 1, &point), VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkDestroyImage"), destroyed);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 2);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, 0);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 7), VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_true(rig_calls(rig, "vkDestroyImage") > destroyed);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 0);
    rig_check(rig);
}

/* Destroys the heap once more while the driver destroys one of its objects. */
static MaarTransientHeap doomed;

static void destroy_doomed(void* data, const char* function)
{
    (void)data;
    if (strncmp(function, "vkDestroy", 9) == 0 && doomed != VK_NULL_HANDLE) {
        const MaarTransientHeap heap = doomed;
        doomed = VK_NULL_HANDLE;
        maarDestroyTransientHeap(rig->allocator, heap);
    }
}

static void heap_that_is_destroyed_meanwhile_ends_once(void** state)
{
    (void)state;
    simple_graph(&maker, 256);
    const MaarTransientHeapCreateInfo info = heap_info();
    doomed = create(&info);
    const uint64_t images = rig_calls(rig, "vkDestroyImage");
    rig->call = destroy_doomed;
    maarDestroyTransientHeap(rig->allocator, doomed);
    rig->call = NULL;
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, "heap");
    assert_int_equal(rig_calls(rig, "vkDestroyImage"), images + 2);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, 0);
}

static void heap_that_cannot_end_later_keeps_its_handle(void** state)
{
    (void)state;
    const MaarPoint point = {.value = 1};
    simple_graph(&maker, 256);
    const MaarTransientHeapCreateInfo info = heap_info();
    const MaarTransientHeap heap = create(&info);
    rig->host.fail_at = rig->host.calls + 1;
    assert_int_equal(maarDestroyTransientHeapAfter(rig->allocator, heap, 1, &point),
                     VK_ERROR_OUT_OF_HOST_MEMORY);
    rig->host.fail_at = 0;
    assert_int_equal(read_heap(heap).copyCount, 1);
    assert_int_equal(maarDestroyTransientHeapAfter(rig->allocator, heap, 1, &point), VK_SUCCESS);
    MaarTransientHeapInfo gone = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_INFO};
    assert_int_equal(maarGetTransientHeapInfo(rig->allocator, heap, &gone),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
}

static void a_resized_heap_gives_large_memory_back(void** state)
{
    (void)state;
    simple_graph(&maker, 4096);
    simple_graph(&other, 64);
    const MaarTransientHeapCreateInfo info = heap_info();
    MaarTransientHeap heap = create(&info);
    const VkDeviceSize before = rig_statistics(rig, VK_NULL_HANDLE).allocationBytes;
    assert_int_equal(maarUpdateTransientHeap(rig->allocator, heap, &other.graph, 0, NULL),
                     VK_SUCCESS);
    assert_true(rig_statistics(rig, VK_NULL_HANDLE).allocationBytes < before / 2);
    maarDestroyTransientHeap(rig->allocator, heap);
}

/* A history image keeps its object, and its first barrier after the update its layout. */
static void kept_contents_survive_an_update(void** state)
{
    (void)state;
    simple_graph(&maker, 256);
    simple_graph(&other, 256);
    other.buffers[1].size = 90000;
    maker.resources[2].flags = MAAR_TRANSIENT_RESOURCE_KEEP_CONTENTS_BIT;
    other.resources[2].flags = MAAR_TRANSIENT_RESOURCE_KEEP_CONTENTS_BIT;
    other.uses[2][0].layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    const MaarTransientHeapCreateInfo info = heap_info();
    MaarTransientHeap heap = create(&info);
    MaarTransientPassBarriers barriers = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS};
    assert_int_equal(maarGetTransientPassBarriers(rig->allocator, heap, 0, 2, &barriers),
                     VK_SUCCESS);
    assert_int_equal(barriers.before.pImageMemoryBarriers[0].oldLayout, VK_IMAGE_LAYOUT_UNDEFINED);
    const VkImage image = read_resource(heap, 0, 2).image;
    assert_int_equal(maarUpdateTransientHeap(rig->allocator, heap, &other.graph, 0, NULL),
                     VK_SUCCESS);
    assert_true(read_resource(heap, 0, 2).image == image);
    assert_int_equal(maarGetTransientPassBarriers(rig->allocator, heap, 0, 2, &barriers),
                     VK_SUCCESS);
    assert_int_equal(barriers.before.imageMemoryBarrierCount, 1);
    assert_int_equal(barriers.before.pImageMemoryBarriers[0].oldLayout, VK_IMAGE_LAYOUT_GENERAL);
    maarDestroyTransientHeap(rig->allocator, heap);
}

/* Objects that stay were used before: the first frame waits for what came before it. */
static void frames_of_two_graphs_are_in_order(void** state)
{
    (void)state;
    struct player player;
    simple_graph(&maker, 256);
    simple_graph(&other, 240);
    const MaarTransientHeapCreateInfo info = heap_info();
    MaarTransientHeap heap = create(&info);
    player_open(&player, rig, heap, &maker);
    player_run(&player, 0, 3, 1);
    assert_int_equal(maarUpdateTransientHeap(rig->allocator, heap, &other.graph, 0, NULL),
                     VK_SUCCESS);
    player_change(&player, &other, 3);
    player_run(&player, 0, 3, 1);
    if (hazards_finding_count(player.hazards) > 0) {
        fail_msg("%s", hazards_finding(player.hazards, 0));
    }
    player_close(&player);
    maarDestroyTransientHeap(rig->allocator, heap);
}

/* ---- misuse ---- */

/* Fails with a message that names the item, where it names one, and the field. */
static void expect_refused(MaarMessageId id, const char* item, const char* field)
{
    const MaarTransientHeapCreateInfo info = heap_info();
    MaarTransientHeap heap = (MaarTransientHeap)(uintptr_t)1;
    assert_int_equal(maarCreateTransientHeap(rig->allocator, &info, &heap),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_null(heap);
    assert_true(item == NULL || rig_message_names(rig, item));
    rig_expect_message_naming(rig, id, field);
    simple_graph(&maker, 256);
}

static void misuse_of_the_graph_is_named(void** state)
{
    (void)state;
    simple_graph(&maker, 256);
    maker.graph.passCount = 0;
    expect_refused(MAAR_MESSAGE_ID_INVALID_GRAPH, NULL, "pGraph->passCount");
    maker.graph.pQueues = NULL;
    expect_refused(MAAR_MESSAGE_ID_INVALID_GRAPH, NULL, "pGraph->pQueues");
    maker.queues[0].familyIndex = 64;
    expect_refused(MAAR_MESSAGE_ID_INVALID_GRAPH, "pQueues[0]", "familyIndex");
    maker.passes[1].queueIndex = 1;
    expect_refused(MAAR_MESSAGE_ID_INVALID_GRAPH, "pPasses[1]", "queueIndex");
    graph_depend(&maker, 2, 1);
    expect_refused(MAAR_MESSAGE_ID_INVALID_GRAPH, NULL, NULL);
    graph_depend(&maker, 2, 3);
    expect_refused(MAAR_MESSAGE_ID_INVALID_GRAPH, "pDependencies[0]", NULL);
    maker.resources[0].pBufferInfo = &maker.buffers[1];
    expect_refused(MAAR_MESSAGE_ID_INVALID_GRAPH, "pResources[0]", NULL);
    maker.uses[1][0].stages = 0;
    expect_refused(MAAR_MESSAGE_ID_INVALID_GRAPH, "pResources[1]", "pUses[0].stages");
    maker.uses[1][0].pass = 3;
    expect_refused(MAAR_MESSAGE_ID_INVALID_GRAPH, "pResources[1]", "pUses[0].pass");
    maker.uses[0][1].pass = 0;
    expect_refused(MAAR_MESSAGE_ID_INVALID_GRAPH, "pResources[0]", "pUses");
    maker.uses[0][1].layout = VK_IMAGE_LAYOUT_UNDEFINED;
    expect_refused(MAAR_MESSAGE_ID_INVALID_GRAPH, "pResources[0]", "pUses[1].layout");
    maker.resources[1].useCount = 0;
    expect_refused(MAAR_MESSAGE_ID_INVALID_GRAPH, "pResources[1]", "useCount");
    maker.resources[1].viewCount = 1;
    expect_refused(MAAR_MESSAGE_ID_INVALID_GRAPH, "pResources[1]", "viewCount");
    maker.images[0].flags = VK_IMAGE_CREATE_SPARSE_BINDING_BIT;
    expect_refused(MAAR_MESSAGE_ID_INVALID_GRAPH, "pResources[0]", "pImageInfo");
    maker.images[0].initialLayout = VK_IMAGE_LAYOUT_PREINITIALIZED;
    expect_refused(MAAR_MESSAGE_ID_INVALID_GRAPH, NULL, "initialLayout");
    maker.buffers[1].size = 0;
    expect_refused(MAAR_MESSAGE_ID_INVALID_GRAPH, NULL, "size");
    maker.images[0].sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    expect_refused(MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pResources[0]", "pImageInfo->sType");
    maker.buffers[1].flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT;
    expect_refused(MAAR_MESSAGE_ID_INVALID_GRAPH, "pResources[1]", "pBufferInfo");
    maker.views[0].sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    expect_refused(MAAR_MESSAGE_ID_INVALID_GRAPH, "pResources[0]", "pViewInfos[0].sType");
    maker.passes[2].pName = "blur";
    maker.uses[1][0].access = 0;
    expect_refused(MAAR_MESSAGE_ID_INVALID_GRAPH, "\"blur\"", "pUses[0].access");
    maker.resources[0].pName = NULL;
    maker.resources[0].flags = 0x80;
    expect_refused(MAAR_MESSAGE_ID_INVALID_GRAPH, "pResources[0]", "flags");
    maker.resources[0].flags = 0x80;
    expect_refused(MAAR_MESSAGE_ID_INVALID_GRAPH, "pResources[0]", "flags");
}

/* Vulkan allows some layouts only to images with a usage that fits. */
static void layout_that_the_usage_forbids_is_named(void** state)
{
    (void)state;
    static const struct {
        VkImageLayout layout;
        VkImageUsageFlags usages; /* each of them suffices */
    } layouts[] = {
        {VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT},
        {VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
         VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT},
        {VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL,
         VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT},
        {VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL,
         VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT |
             VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT},
        {VK_IMAGE_LAYOUT_ATTACHMENT_OPTIMAL,
         VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT},
        {VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
         VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT},
        {VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, VK_IMAGE_USAGE_TRANSFER_SRC_BIT},
        {VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_USAGE_TRANSFER_DST_BIT},
        {VK_IMAGE_LAYOUT_GENERAL, UINT32_MAX},
    };
    for (uint32_t i = 0; i < sizeof layouts / sizeof layouts[0]; ++i) {
        for (VkImageUsageFlags usage = 1; usage <= VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT;
             usage <<= 1) {
            simple_graph(&maker, 256);
            maker.images[0].usage = usage;
            if (usage == VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT) {
                maker.images[0].format = VK_FORMAT_D16_UNORM;
            } else if (usage == VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT) {
                continue; /* no image has this usage alone */
            }
            maker.uses[0][0].layout = VK_IMAGE_LAYOUT_GENERAL;
            maker.uses[0][1].layout = layouts[i].layout;
            maker.graph.resourceCount = 1;
            if ((usage & layouts[i].usages) == 0) {
                expect_refused(MAAR_MESSAGE_ID_INVALID_GRAPH, "pResources[0]", "pUses[1].layout");
            } else {
                MaarTransientHeapCreateInfo info = heap_info();
                info.flags = MAAR_TRANSIENT_HEAP_CREATE_PLAN_ONLY_BIT;
                maarDestroyTransientHeap(rig->allocator, create(&info));
            }
        }
    }
    /* The stencil aspect may have usages of its own. */
    const VkImageStencilUsageCreateInfo stencil = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_STENCIL_USAGE_CREATE_INFO,
        .stencilUsage = VK_IMAGE_USAGE_SAMPLED_BIT,
    };
    simple_graph(&maker, 256);
    maker.images[0].usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
    maker.images[0].format = VK_FORMAT_D24_UNORM_S8_UINT;
    maker.images[0].pNext = &stencil;
    maker.uses[0][0].layout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
    maker.uses[0][1].layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    MaarTransientHeapCreateInfo info = heap_info();
    info.flags = MAAR_TRANSIENT_HEAP_CREATE_PLAN_ONLY_BIT;
    maarDestroyTransientHeap(rig->allocator, create(&info));
}

static void reading_what_nothing_wrote_is_warned_of(void** state)
{
    (void)state;
    simple_graph(&maker, 256);
    maker.passes[2].pName = "mix";
    maker.uses[2][0].access = VK_ACCESS_2_SHADER_STORAGE_READ_BIT;
    const MaarTransientHeapCreateInfo info = heap_info();
    MaarTransientHeap heap = create(&info);
    assert_int_equal(rig->messages.counts[MAAR_MESSAGE_SEVERITY_WARNING], 1);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_UNDEFINED_CONTENTS, "\"mix\"");
    maker.resources[2].flags = MAAR_TRANSIENT_RESOURCE_KEEP_CONTENTS_BIT;
    assert_int_equal(maarUpdateTransientHeap(rig->allocator, heap, &maker.graph, 0, NULL),
                     VK_SUCCESS);
    rig_expect_silence(rig);
    maarDestroyTransientHeap(rig->allocator, heap);
}

static void misuse_of_heaps_is_named(void** state)
{
    (void)state;
    simple_graph(&maker, 256);
    MaarTransientHeapCreateInfo info = heap_info();
    MaarTransientHeap heap = create(&info);
    MaarTransientResourceInfo resource = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_RESOURCE_INFO};
    MaarTransientPassBarriers barriers = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS};
    assert_int_equal(maarGetTransientResource(rig->allocator, heap, 1, 0, &resource),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(rig_message_number(rig, 0) == 1 && rig_message_number(rig, 1) == 1);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "copyIndex");
    assert_int_equal(maarGetTransientResource(rig->allocator, heap, 0, 3, &resource),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(rig_message_number(rig, 0) == 3 && rig_message_number(rig, 1) == 3);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "resourceIndex");
    assert_int_equal(maarGetTransientPassBarriers(rig->allocator, heap, 0, 3, &barriers),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(rig_message_number(rig, 0) == 3 && rig_message_number(rig, 1) == 3);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "passIndex");
    const uint32_t twice[] = {1, 1, 0};
    maker.graph.pPreviousIndices = twice;
    assert_int_equal(maarUpdateTransientHeap(rig->allocator, heap, &maker.graph, 0, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_INVALID_GRAPH, "pPreviousIndices");
    assert_int_equal(maarUpdateTransientHeap(rig->allocator, VK_NULL_HANDLE, &maker.graph, 0, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_HANDLE, "heap");
    info.copyCount = MAAR_TRANSIENT_MAX_COPIES + 1;
    MaarTransientHeap none = VK_NULL_HANDLE;
    assert_int_equal(maarCreateTransientHeap(rig->allocator, &info, &none),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "copyCount");
    maarDestroyTransientHeap(rig->allocator, VK_NULL_HANDLE);
    maarDestroyTransientHeap(rig->allocator, heap);
}

#define ON_RIG(name) cmocka_unit_test_setup_teardown(name, open_rig, close_rig)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_RIG(resources_share_bytes_of_one_allocation),
        ON_RIG(without_aliasing_nothing_is_shared),
        ON_RIG(index_of_a_frame_in_flight_is_noticed),
        ON_RIG(number_that_never_changes_is_noticed),
        ON_RIG(frames_in_order_are_not_reported),
        ON_RIG(width_of_a_minimised_window_is_named),
        ON_RIG(layout_that_the_usage_forbids_is_named),
        ON_RIG(plan_only_creates_nothing),
        ON_RIG(copies_have_memory_of_their_own),
        ON_RIG(equal_objects_count_once_in_the_comparison),
        ON_RIG(an_empty_graph_is_a_heap),
        ON_RIG(edges_are_kept_on_request),
        ON_RIG(memory_without_a_name_is_named_transients),
        rig_unit_test(transient_attachments_live_in_lazy_memory),
        ON_RIG(what_the_driver_wants_alone_gets_memory_of_its_own),
        rig_unit_test(a_class_above_the_largest_allocation_is_refused),
        ON_RIG(memory_comes_from_the_pool_asked_for),
        ON_RIG(an_unchanged_graph_changes_nothing),
        ON_RIG(a_smaller_image_leaves_the_rest_alone),
        ON_RIG(an_image_without_its_view_is_not_new),
        ON_RIG(resources_are_found_by_their_previous_indices),
        ON_RIG(what_goes_waits_for_its_points),
        ON_RIG(heap_that_is_destroyed_meanwhile_ends_once),
        ON_RIG(heap_that_cannot_end_later_keeps_its_handle),
        ON_RIG(a_resized_heap_gives_large_memory_back),
        ON_RIG(kept_contents_survive_an_update),
        ON_RIG(frames_of_two_graphs_are_in_order),
        ON_RIG(misuse_of_the_graph_is_named),
        ON_RIG(reading_what_nothing_wrote_is_warned_of),
        ON_RIG(misuse_of_heaps_is_named),
        ON_RIG(objects_that_are_kept_count_for_themselves),
        ON_RIG(objects_in_use_are_not_reused),
        ON_RIG(objects_in_use_on_another_queue_are_not_reused),
        ON_RIG(waits_are_for_the_frame_of_their_copy),
        ON_RIG(another_view_of_an_image_is_created),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
