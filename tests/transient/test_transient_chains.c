/*
 * The pNext chains of create infos of transients: chains that can be compared, chains that cannot.
 * Also aspects of formats, and requests that cannot be satisfied.
 */
#include "core/handle.h"
#include "tests/transient/graph_maker.h"

static struct rig rig;
static struct graph_maker maker;

static int open_rig(void** state)
{
    const struct rig_setup setup = {.flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT,
                                    .off = RIG_OFF_ADDRESS};
    (void)state;
    rig_start(&rig, &setup);
    return 0;
}

static int close_rig(void** state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

/* One image, written in one pass and read in another. */
static void make_maker(void)
{
    const uint32_t family = 0;
    graph_init(&maker, 1, &family);
    (void)graph_pass(&maker, 0);
    (void)graph_pass(&maker, 0);
    const uint32_t image = graph_image(&maker, 64, 64);
    graph_use(&maker, image, 0, GRAPH_COMPUTE_WRITE);
    graph_use(&maker, image, 1, GRAPH_COMPUTE_READ);
}

static MaarTransientHeapCreateInfo create_info(void)
{
    return (MaarTransientHeapCreateInfo){.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO,
                                         .pGraph = &maker.graph};
}

static MaarTransientHeap create_heap(void)
{
    const MaarTransientHeapCreateInfo info = create_info();
    MaarTransientHeap heap = VK_NULL_HANDLE;
    const VkResult result = maarCreateTransientHeap(rig.allocator, &info, &heap);
    if (result != VK_SUCCESS) {
        fail_msg("no heap: %d, \"%s\"", (int)result, rig.messages.last);
    }
    return heap;
}

/* Returns how many objects and views an update to the present graph creates. */
static uint32_t count_created(MaarTransientHeap heap)
{
    MaarTransientHeapInfo info = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_INFO};
    assert_int_equal(maarGetTransientHeapInfo(rig.allocator, heap, &info), VK_SUCCESS);
    const uint64_t before = info.generation;
    assert_int_equal(maarUpdateTransientHeap(rig.allocator, heap, &maker.graph, 0, NULL),
                     VK_SUCCESS);
    assert_int_equal(maarGetTransientHeapInfo(rig.allocator, heap, &info), VK_SUCCESS);
    return info.generation != before ? info.createdCount : 0;
}

static void chains_decide_what_is_kept(void** state)
{
    (void)state;
    VkFormat listed[2] = {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8G8B8A8_SRGB};
    VkImageStencilUsageCreateInfo stencil = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_STENCIL_USAGE_CREATE_INFO,
        .stencilUsage = VK_IMAGE_USAGE_SAMPLED_BIT,
    };
    VkImageFormatListCreateInfo formats = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO,
        .pNext = &stencil,
        .viewFormatCount = 2,
        .pViewFormats = listed,
    };
    VkImageViewUsageCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_USAGE_CREATE_INFO,
        .usage = VK_IMAGE_USAGE_SAMPLED_BIT,
    };
    make_maker();
    maker.images[0].pNext = &formats;
    maker.views[0].pNext = &view;
    MaarTransientHeap heap = create_heap();
    assert_int_equal(count_created(heap), 0);
    listed[1] = VK_FORMAT_R8G8B8A8_UINT;
    assert_int_equal(count_created(heap), 2);
    assert_int_equal(count_created(heap), 0);
    formats.viewFormatCount = 1;
    assert_int_equal(count_created(heap), 2);
    stencil.stencilUsage |= VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    assert_int_equal(count_created(heap), 2);
    view.usage |= VK_IMAGE_USAGE_STORAGE_BIT; /* the view alone */
    assert_int_equal(count_created(heap), 1);
    assert_int_equal(count_created(heap), 0);
    maarDestroyTransientHeap(rig.allocator, heap);
}

static void unknown_chains_are_never_the_same(void** state)
{
    (void)state;
    const VkBaseInStructure unknown = {.sType = (VkStructureType)1000999123};
    make_maker();
    maker.images[0].pNext = &unknown;
    MaarTransientHeap heap = create_heap();
    assert_int_equal(count_created(heap), 2);
    assert_int_equal(count_created(heap), 2);
    maarDestroyTransientHeap(rig.allocator, heap);
    make_maker();
    maker.views[0].pNext = &unknown;
    heap = create_heap();
    assert_int_equal(count_created(heap), 1);
    maarDestroyTransientHeap(rig.allocator, heap);
}

static void barriers_name_the_aspects_of_a_format(void** state)
{
    static const struct {
        VkFormat format;
        VkImageAspectFlags aspects;
    } rows[] = {
        {VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_ASPECT_COLOR_BIT},
        {VK_FORMAT_D16_UNORM, VK_IMAGE_ASPECT_DEPTH_BIT},
        {VK_FORMAT_D32_SFLOAT, VK_IMAGE_ASPECT_DEPTH_BIT},
        {VK_FORMAT_S8_UINT, VK_IMAGE_ASPECT_STENCIL_BIT},
        {VK_FORMAT_D16_UNORM_S8_UINT, VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT},
        {VK_FORMAT_D24_UNORM_S8_UINT, VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT},
        {VK_FORMAT_D32_SFLOAT_S8_UINT, VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT},
    };
    (void)state;
    uint32_t tried = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        VkImageFormatProperties properties;
        make_maker();
        maker.images[0].format = rows[i].format;
        maker.images[0].usage = VK_IMAGE_USAGE_SAMPLED_BIT;
        if (vkGetPhysicalDeviceImageFormatProperties(
                rig.physical, rows[i].format, VK_IMAGE_TYPE_2D, VK_IMAGE_TILING_OPTIMAL,
                VK_IMAGE_USAGE_SAMPLED_BIT, 0, &properties) != VK_SUCCESS) {
            continue;
        }
        ++tried;
        maker.resources[0].viewCount = 0;
        MaarTransientHeap heap = create_heap();
        MaarTransientPassBarriers barriers = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS};
        for (uint32_t pass = 0; pass < 2; ++pass) {
            assert_int_equal(maarGetTransientPassBarriers(rig.allocator, heap, 0, pass, &barriers),
                             VK_SUCCESS);
            assert_int_equal(barriers.before.imageMemoryBarrierCount, 1);
            assert_int_equal(barriers.before.pImageMemoryBarriers[0].subresourceRange.aspectMask,
                             rows[i].aspects);
        }
        maarDestroyTransientHeap(rig.allocator, heap);
    }
    assert_true(tried >= 5);
}

/* A resource with a dedicated allocation keeps it, and its object, over an update that changes
 * others. */
static void dedicated_ones_keep_their_memory(void** state)
{
    const MaarSimulatedDedicated dedicated = {.imagesRequire = VK_TRUE, .buffersRequire = VK_TRUE};
    (void)state;
    maarSimulatedSetDedicated(rig.physical, &dedicated);
    make_maker();
    for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t buffer = graph_buffer(&maker, 5000 + 1000 * i);
        graph_use(&maker, buffer, i, GRAPH_COMPUTE_WRITE);
    }
    MaarTransientHeap heap = create_heap();
    MaarTransientResourceInfo before[3];
    for (uint32_t i = 0; i < 3; ++i) {
        before[i] =
            (MaarTransientResourceInfo){.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_RESOURCE_INFO};
        assert_int_equal(maarGetTransientResource(rig.allocator, heap, 0, i, &before[i]),
                         VK_SUCCESS);
    }
    maker.buffers[2].size = 9000;
    assert_int_equal(count_created(heap), 1);
    for (uint32_t i = 0; i < 3; ++i) {
        MaarTransientResourceInfo after = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_RESOURCE_INFO};
        assert_int_equal(maarGetTransientResource(rig.allocator, heap, 0, i, &after), VK_SUCCESS);
        assert_int_equal(after.offset, 0);
        assert_true((after.allocation == before[i].allocation) == (i != 2));
        assert_true(after.image == before[i].image);
    }
    maarDestroyTransientHeap(rig.allocator, heap);
}

static void refuse(const MaarTransientHeapCreateInfo* info, VkResult result, MaarMessageId id,
                   const char* culprit)
{
    MaarTransientHeap heap = VK_NULL_HANDLE;
    assert_int_equal(maarCreateTransientHeap(rig.allocator, info, &heap), result);
    assert_null(heap);
    rig_expect_message_naming(&rig, id, culprit);
}

static void requests_that_cannot_be_granted_are_refused(void** state)
{
    (void)state;
    make_maker();
    MaarTransientHeapCreateInfo info = create_info();
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarAllocator other = VK_NULL_HANDLE;
    assert_int_equal(maarCreateAllocator(&rig.create_info, &other), VK_SUCCESS);
    const MaarPoolCreateInfo pool = {.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO};
    info.flags = 0x100;
    refuse(&info, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_UNKNOWN_FLAGS,
           "pCreateInfo->flags");
    info = create_info();
    info.copyCount = MAAR_TRANSIENT_MAX_COPIES + 1;
    refuse(&info, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE, "copyCount");
    info = create_info();
    info.pAllocationInfo = &how;
    how.usage = (MaarMemoryUsage)(MAAR_MEMORY_USAGE_FLAGS_ONLY + 1);
    refuse(&info, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_INVALID_ENUM, "usage");
    how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    assert_int_equal(maarCreatePool(other, &pool, &how.pool), VK_SUCCESS);
    refuse(&info, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_FOREIGN_HANDLE, NULL);
    maarDestroyPool(other, how.pool);
    how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.requiredFlags = VK_MEMORY_PROPERTY_PROTECTED_BIT;
    refuse(&info, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_NO_MEMORY_TYPE,
           "pGraph->pResources[0]");
    /* A buffer with a device address, without the feature. */
    const uint32_t buffer = graph_buffer(&maker, 1000);
    graph_use(&maker, buffer, 0, GRAPH_COMPUTE_WRITE);
    maker.buffers[buffer].usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    info = create_info();
    refuse(&info, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_INVALID_GRAPH,
           "bufferDeviceAddress");
    make_maker();
    graph_share(&maker, 0);
    maker.families[0] = 1;
    refuse(&info, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_INVALID_GRAPH, NULL);
    /* A heap of another allocator. */
    make_maker();
    MaarTransientHeap heap = create_heap();
    MaarTransientHeapInfo read = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_INFO};
    rig_expect_silence(&rig);
    assert_int_equal(maarGetTransientHeapInfo(other, heap, &read), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_FOREIGN_HANDLE, "heap");
    maarDestroyTransientHeap(rig.allocator, heap);
    maarDestroyAllocator(other);
}

static void expect_heap_refused(MaarTransientHeap heap, MaarMessageId id)
{
    const VkResult refused = VK_ERROR_VALIDATION_FAILED_EXT;
    MaarTransientHeapInfo info = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_INFO};
    MaarTransientResourceInfo resource = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_RESOURCE_INFO};
    MaarTransientPassBarriers barriers = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS};
    const MaarTransientHeapCreateInfo made = create_info();
    assert_int_equal(maarGetTransientHeapInfo(rig.allocator, heap, &info), refused);
    rig_expect_message_naming(&rig, id, "heap");
    assert_int_equal(maarGetTransientResource(rig.allocator, heap, 0, 0, &resource), refused);
    rig_expect_message_naming(&rig, id, "heap");
    assert_int_equal(maarGetTransientPassBarriers(rig.allocator, heap, 0, 0, &barriers), refused);
    rig_expect_message_naming(&rig, id, "heap");
    assert_int_equal(maarUpdateTransientHeap(rig.allocator, heap, made.pGraph, 0, NULL), refused);
    rig_expect_message_naming(&rig, id, "heap");
    if (heap == VK_NULL_HANDLE) {
        maarDestroyTransientHeap(rig.allocator, heap);
        assert_int_equal(maarDestroyTransientHeapAfter(rig.allocator, heap, 0, NULL), VK_SUCCESS);
        rig_expect_silence(&rig);
        return;
    }
    maarDestroyTransientHeap(rig.allocator, heap);
    rig_expect_message_naming(&rig, id, "heap");
    assert_int_equal(maarDestroyTransientHeapAfter(rig.allocator, heap, 0, NULL), refused);
    rig_expect_message_naming(&rig, id, "heap");
}

static void bad_heaps_are_refused(void** state)
{
    (void)state;
    make_maker();
    expect_heap_refused(VK_NULL_HANDLE, MAAR_MESSAGE_ID_NULL_HANDLE);
    expect_heap_refused(MAAR_FROM_BITS(MaarTransientHeap, (uintptr_t)&rig),
                        MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    const MaarTransientHeap stale = create_heap();
    maarDestroyTransientHeap(rig.allocator, stale);
    expect_heap_refused(stale, MAAR_MESSAGE_ID_STALE_HANDLE);
    const MaarTransientHeap heap = create_heap();
    assert_int_equal((uint32_t)MAAR_TO_BITS(heap), (uint32_t)MAAR_TO_BITS(stale));
    expect_heap_refused(stale, MAAR_MESSAGE_ID_STALE_HANDLE);
    maarDestroyTransientHeap(rig.allocator, heap);
}

#define ON_RIG(name) cmocka_unit_test_setup_teardown(name, open_rig, close_rig)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_RIG(chains_decide_what_is_kept),
        ON_RIG(unknown_chains_are_never_the_same),
        ON_RIG(barriers_name_the_aspects_of_a_format),
        ON_RIG(dedicated_ones_keep_their_memory),
        ON_RIG(requests_that_cannot_be_granted_are_refused),
        ON_RIG(bad_heaps_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
