/*
 * Memory of Maar's own objects: the program learns its allocations, and cannot free them by
 * mistake.
 */
#include "core/memory/object_handle.h"
#include "tests/rig/rig.h"
#include "tests/transient/graph_maker.h"

static struct rig* rig;

static char pages[3 * 4096];

static uint64_t make_slice(void)
{
    const MaarSliceCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = 256,
        .usage = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
    };
    MaarSlice slice = VK_NULL_HANDLE;
    assert_int_equal(maarCreateSlice(rig->allocator, &info, &slice), VK_SUCCESS);
    return MAAR_TO_BITS(slice);
}

static void end_slice(uint64_t bits)
{
    maarDestroySlice(rig->allocator, MAAR_FROM_BITS(MaarSlice, bits));
}

static uint64_t make_heap(void)
{
    static struct graph_maker graph;
    const uint32_t family = 0;
    graph_init(&graph, 1, &family);
    (void)graph_pass(&graph, 0);
    graph_use(&graph, graph_image(&graph, 256, 256), 0, GRAPH_COMPUTE_WRITE);
    const MaarTransientHeapCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO,
        .pGraph = &graph.graph,
    };
    MaarTransientHeap heap = VK_NULL_HANDLE;
    assert_int_equal(maarCreateTransientHeap(rig->allocator, &info, &heap), VK_SUCCESS);
    return MAAR_TO_BITS(heap);
}

static void end_heap(uint64_t bits)
{
    maarDestroyTransientHeap(rig->allocator, MAAR_FROM_BITS(MaarTransientHeap, bits));
}

static uint64_t make_host_buffer(void)
{
    const MaarHostBufferCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_HOST_BUFFER_CREATE_INFO,
        .pMemory = pages,
        .size = sizeof pages,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
    };
    MaarHostBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(maarCreateHostBuffer(rig->allocator, &info, &buffer), VK_SUCCESS);
    rig_forget_messages(rig); /* it may have copied */
    return MAAR_TO_BITS(buffer);
}

static void end_host_buffer(uint64_t bits)
{
    maarDestroyHostBuffer(rig->allocator, MAAR_FROM_BITS(MaarHostBuffer, bits));
}

static uint64_t make_copying(void)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(MIB);
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .flags = MAAR_RESERVATION_CREATE_COPYING_BIT,
        .pBufferInfo = &buffer,
    };
    const MaarPageRange all = {0, MIB};
    MaarReservation reservation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &reservation), VK_SUCCESS);
    assert_int_equal(maarCommitPages(rig->allocator, reservation, 1, &all), VK_SUCCESS);
    return MAAR_TO_BITS(reservation);
}

static void end_copying(uint64_t bits)
{
    maarDestroyReservation(rig->allocator, MAAR_FROM_BITS(MaarReservation, bits));
}

/* Every call that could free the allocation refuses it. */
static void expect_refused(MaarAllocation allocation)
{
    const MaarPoint later = {.value = UINT64_MAX};
    MaarAllocator allocator = rig->allocator;
    const MaarStatistics before = rig_statistics(rig, VK_NULL_HANDLE);
    MaarMoveObstacle obstacle = MAAR_MOVE_OBSTACLE_NONE;
    assert_int_equal(maarGetMoveObstacle(allocator, allocation, &obstacle), VK_SUCCESS);
    assert_int_equal(obstacle, MAAR_MOVE_OBSTACLE_OWNED);
    for (uint32_t i = 0; i < 8; ++i) {
        VkResult result = VK_ERROR_VALIDATION_FAILED_EXT;
        switch (i) {
        case 0:
            maarFreeMemory(allocator, allocation);
            break;
        case 1:
            maarFreeMemories(allocator, 1, &allocation);
            break;
        case 2:
            result = maarFreeMemoryAfter(allocator, allocation, 0, NULL);
            break;
        case 3:
            result = maarFreeMemoryAfter(allocator, allocation, 1, &later);
            break;
        case 4:
            maarDestroyBuffer(allocator, VK_NULL_HANDLE, allocation);
            break;
        case 5:
            result = maarDestroyBufferAfter(allocator, VK_NULL_HANDLE, allocation, 1, &later);
            break;
        case 6:
            maarDestroyImage(allocator, VK_NULL_HANDLE, allocation);
            break;
        default:
            result = maarDestroyImageAfter(allocator, VK_NULL_HANDLE, allocation, 0, NULL);
            break;
        }
        assert_int_equal(result, VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_ALLOCATION_IS_OWNED, "allocation");
    }
    const MaarStatistics after = rig_statistics(rig, VK_NULL_HANDLE);
    assert_true(before.allocationCount == after.allocationCount && after.pendingCount == 0);
}

/* Goes through all that lies in the blocks of the allocator. */
static uint32_t refuse_all(void)
{
    MaarBlockInfo blocks[16];
    uint32_t block_count = 16;
    uint32_t found = 0;
    for (uint32_t i = 0; i < 16; ++i) {
        blocks[i] = (MaarBlockInfo){.sType = MAAR_STRUCTURE_TYPE_BLOCK_INFO};
    }
    assert_int_equal(maarEnumerateBlocks(rig->allocator, VK_NULL_HANDLE, &block_count, blocks),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < block_count; ++i) {
        MaarBlockRange ranges[16];
        uint32_t range_count = 16;
        assert_int_equal(
            maarEnumerateBlockRanges(rig->allocator, blocks[i].blockId, &range_count, ranges),
            VK_SUCCESS);
        for (uint32_t k = 0; k < range_count; ++k) {
            if (ranges[k].allocation != VK_NULL_HANDLE) {
                expect_refused(ranges[k].allocation);
                ++found;
            }
        }
    }
    return found;
}

static void memory_of_maar_s_objects_is_not_freed(void** state)
{
    static const struct {
        uint64_t (*make)(void);
        void (*end)(uint64_t bits);
    } rows[] = {
        {make_slice, end_slice},
        {make_heap, end_heap},
        {make_host_buffer, end_host_buffer},
        {make_copying, end_copying},
    };
    const struct rig_setup setup = {.paging = true, .sharing = rig_sharing_everything()};
    (void)state;
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        rig = rig_begin(&setup);
        const uint64_t object = rows[i].make();
        assert_true(refuse_all() > 0);
        rows[i].end(object);
        assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
        assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, 0);
        rig_expect_silence(rig);
        rig_close(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(memory_of_maar_s_objects_is_not_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
