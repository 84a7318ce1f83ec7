/*
 * One object of each kind on a simulated device that has paging.
 */
#include "tests/promise/one_of_each.h"

#define PAGE ((VkDeviceSize)65536)

static const MaarTransientQueue queue;
static const MaarTransientPass pass;
static const MaarTransientUse use = {
    .stages = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
    .access = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
};

/* What a graph of one buffer points to. */
struct small_graph {
    VkBufferCreateInfo buffer;
    MaarTransientResource resource;
    MaarTransientGraph graph;
};

static void fill_graph(struct small_graph* it, VkDeviceSize size)
{
    it->buffer = rig_buffer_info(size);
    it->resource = (MaarTransientResource){
        .pBufferInfo = &it->buffer,
        .useCount = 1,
        .pUses = &use,
    };
    it->graph = (MaarTransientGraph){
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_GRAPH,
        .queueCount = 1,
        .pQueues = &queue,
        .passCount = 1,
        .pPasses = &pass,
        .resourceCount = 1,
        .pResources = &it->resource,
    };
}

VkResult one_of_each_heap(struct one_of_each* it, const MaarAllocationCreateInfo* how,
                          MaarTransientHeap* heap)
{
    struct small_graph graph;
    fill_graph(&graph, 5000);
    const MaarTransientHeapCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO,
        .copyCount = 1,
        .pGraph = &graph.graph,
        .pAllocationInfo = how,
    };
    return maarCreateTransientHeap(it->rig->allocator, &info, heap);
}

VkResult one_of_each_update(struct one_of_each* it, MaarTransientHeap heap, VkDeviceSize size,
                            uint32_t point_count, const MaarPoint* points)
{
    struct small_graph graph;
    fill_graph(&graph, size);
    return maarUpdateTransientHeap(it->rig->allocator, heap, &graph.graph, point_count, points);
}

static void make_objects(struct one_of_each* it)
{
    const MaarAllocator allocator = it->rig->allocator;
    const VkBufferCreateInfo buffer = rig_buffer_info(5000);
    const VkImageCreateInfo image = rig_image_info(64, 64);
    const MaarSliceCreateInfo slice = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = 100,
        .usage = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
    };
    it->memory = rig_allocate(it->rig, 3000, NULL);
    assert_int_equal(maarCreateBuffer(allocator, &buffer, NULL, &it->buffer, &it->buffer_memory),
                     VK_SUCCESS);
    assert_int_equal(maarCreateImage(allocator, &image, NULL, &it->image, &it->image_memory),
                     VK_SUCCESS);
    assert_int_equal(maarCreateSlice(allocator, &slice, &it->slice), VK_SUCCESS);
    assert_int_equal(one_of_each_heap(it, NULL, &it->heap), VK_SUCCESS);
}

static void make_pages(struct one_of_each* it)
{
    const MaarAllocator allocator = it->rig->allocator;
    const VkBufferCreateInfo buffer = rig_buffer_info(16 * PAGE);
    VkImageCreateInfo image = rig_image_info(1024, 1024);
    const MaarReservationCreateInfo reservation = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pBufferInfo = &buffer,
    };
    const MaarArrayCreateInfo array = {
        .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO,
        .elementSize = 16,
        .reservation = reservation,
    };
    const MaarSparseImageCreateInfo sparse = {
        .sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_CREATE_INFO,
        .pImageInfo = &image,
    };
    const MaarPageRange range = {0, 2 * PAGE};
    image.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    assert_int_equal(maarCreateReservation(allocator, &reservation, &it->reservation), VK_SUCCESS);
    assert_int_equal(maarCommitPages(allocator, it->reservation, 1, &range), VK_SUCCESS);
    assert_int_equal(maarCreateArray(allocator, &array, &it->array), VK_SUCCESS);
    assert_int_equal(maarCreateSparseImage(allocator, &sparse, &it->sparse_image), VK_SUCCESS);
    assert_int_equal(maarSubmitBinds(allocator, 0, NULL, NULL), VK_SUCCESS);
}

void one_of_each_make(struct one_of_each* it, VkFlags off, MaarSimulatedFlags flags)
{
    MaarSimulatedProfile profile = *rig_profile_discrete();
    profile.sparse.sparseBinding = VK_TRUE;
    profile.sparse.residencyBuffer = VK_TRUE;
    profile.sparse.residencyImage2D = VK_TRUE;
    const struct rig_setup setup = {
        .profile = &profile,
        .off = off,
        .flags = flags,
        .paging = true,
    };
    memset(it, 0, sizeof *it);
    it->rig = rig_begin(&setup);
    make_objects(it);
    if ((off & RIG_OFF_TIMELINE) == 0) {
        make_pages(it);
    }
}

void one_of_each_end(struct one_of_each* it)
{
    const MaarAllocator allocator = it->rig->allocator;
    maarFreeMemory(allocator, it->memory);
    maarDestroyBuffer(allocator, it->buffer, it->buffer_memory);
    maarDestroyImage(allocator, it->image, it->image_memory);
    maarDestroySlice(allocator, it->slice);
    maarDestroyTransientHeap(allocator, it->heap);
    maarDestroyReservation(allocator, it->reservation);
    maarDestroyArray(allocator, it->array);
    maarDestroySparseImage(allocator, it->sparse_image);
    assert_int_equal(maarCollect(allocator, NULL), VK_SUCCESS);
    rig_close(it->rig);
}
