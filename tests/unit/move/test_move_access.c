/*
 * The host's access to the new ranges of allocations that move.
 */
#include "tests/rig/rig.h"

enum { BYTES = 4096 };

static struct rig* rig;
static MaarAllocation memory;

static void open_scene(const struct rig_setup* setup, MaarMemoryUsage usage,
                       VkMemoryPropertyFlags required)
{
    MaarAllocationCreateInfo how = rig_how(usage);
    how.requiredFlags = required;
    rig = rig_begin(setup);
    memory = rig_allocate(rig, BYTES, &how);
}

static void close_scene(void)
{
    rig_check(rig);
    maarFreeMemory(rig->allocator, memory);
    (void)maarCollect(rig->allocator, NULL);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, 0);
    rig_expect_silence(rig);
}

static MaarMoveBatch begin(void)
{
    const MaarMoveRequest request = {.allocation = memory};
    const MaarMoveBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO, .requestCount = 1, .pRequests = &request};
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(maarBeginMoves(rig->allocator, &info, &batch), VK_SUCCESS);
    return batch;
}

static uint32_t commit(MaarMoveBatch batch)
{
    uint32_t moved = 0;
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, &moved), VK_SUCCESS);
    return moved;
}

static unsigned char* map(MaarMoveBatch batch)
{
    void* data = NULL;
    assert_int_equal(maarMapMovedMemory(rig->allocator, batch, memory, &data), VK_SUCCESS);
    assert_non_null(data);
    return data;
}

/* The host copies; the allocation has its bytes in the new range. */
static void what_the_host_writes_has_moved(void** state)
{
    (void)state;
    open_scene(NULL, MAAR_MEMORY_USAGE_UPLOAD, 0);
    unsigned char bytes[BYTES];
    unsigned char* old = NULL;
    memset(bytes, 0x5A, sizeof bytes);
    assert_int_equal(maarCopyToAllocation(rig->allocator, memory, 0, BYTES, bytes), VK_SUCCESS);
    const MaarMoveBatch batch = begin();
    unsigned char* target = map(batch);
    assert_int_equal(maarMapMemory(rig->allocator, memory, (void**)&old), VK_SUCCESS);
    assert_ptr_not_equal(target, old);
    memcpy(target, old, BYTES);
    old[0] = 0;
    maarUnmapMemory(rig->allocator, memory);
    maarUnmapMovedMemory(rig->allocator, batch, memory);
    assert_int_equal(commit(batch), 1);
    bytes[0] = 0;
    assert_int_equal(maarCopyFromAllocation(rig->allocator, memory, 0, BYTES, bytes), VK_SUCCESS);
    assert_true(bytes[0] == 0x5A && bytes[BYTES - 1] == 0x5A);
    close_scene();
}

/* Mappings are counted, and a commit ends those that are left; the allocation moves all the same.
 */
static void a_commit_ends_mappings(void** state)
{
    (void)state;
    open_scene(NULL, MAAR_MEMORY_USAGE_UPLOAD, 0);
    for (uint32_t i = 0; i < 3; ++i) {
        const MaarMoveBatch batch = begin();
        for (uint32_t j = 0; j < i; ++j) {
            assert_ptr_equal(map(batch), map(batch));
        }
        assert_int_equal(commit(batch), 1);
        (void)maarCollect(rig->allocator, NULL);
        assert_null(maarGetMappedData(rig->allocator, memory));
        rig_check(rig);
    }
    const MaarMoveBatch batch = begin();
    (void)map(batch);
    assert_int_equal(maarCancelMoves(rig->allocator, batch, 0, NULL), VK_SUCCESS);
    close_scene();
}

/* Memory that is not coherent is flushed in whole atoms. */
static void ranges_are_flushed(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_noncoherent()};
    open_scene(&setup, MAAR_MEMORY_USAGE_READBACK, VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
    const MaarMoveBatch batch = begin();
    const uint64_t flushes = rig_calls(rig, "vkFlushMappedMemoryRanges");
    const uint64_t invalidations = rig_calls(rig, "vkInvalidateMappedMemoryRanges");
    (void)map(batch);
    assert_int_equal(maarFlushMovedMemory(rig->allocator, batch, memory, 100, 3), VK_SUCCESS);
    assert_int_equal(maarInvalidateMovedMemory(rig->allocator, batch, memory, 0, VK_WHOLE_SIZE),
                     VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkFlushMappedMemoryRanges"), flushes + 1);
    assert_int_equal(rig_calls(rig, "vkInvalidateMappedMemoryRanges"), invalidations + 1);
    maarUnmapMovedMemory(rig->allocator, batch, memory);
    assert_int_equal(commit(batch), 1);
    close_scene();
}

static void misuse_is_reported(void** state)
{
    (void)state;
    const VkResult refused = VK_ERROR_VALIDATION_FAILED_EXT;
    void* data = NULL;
    open_scene(NULL, MAAR_MEMORY_USAGE_UPLOAD, 0);
    MaarMoveBatch batch = begin();
    assert_int_equal(maarMapMovedMemory(rig->allocator, batch, memory, NULL), refused);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "ppData");
    assert_int_equal(maarFlushMovedMemory(rig->allocator, batch, memory, 0, BYTES), refused);
    rig_expect_message(rig, MAAR_MESSAGE_ID_NOT_MAPPED);
    maarUnmapMovedMemory(rig->allocator, batch, memory);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NOT_MAPPED, "maarUnmapMovedMemory");
    (void)map(batch);
    assert_int_equal(maarInvalidateMovedMemory(rig->allocator, batch, memory, 1, BYTES), refused);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "offset");
    rig_set_fault(rig, "vkMapMemory", 1, 1, VK_ERROR_MEMORY_MAP_FAILED);
    assert_int_equal(commit(batch), 1);
    rig_clear_faults(rig);
    close_scene();
    open_scene(NULL, MAAR_MEMORY_USAGE_DEVICE_LOCAL, 0);
    batch = begin();
    assert_int_equal(maarMapMovedMemory(rig->allocator, batch, memory, &data),
                     VK_ERROR_MEMORY_MAP_FAILED);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NOT_MAPPABLE, "allocation");
    assert_int_equal(commit(batch), 1);
    close_scene();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(what_the_host_writes_has_moved),
        rig_unit_test(a_commit_ends_mappings),
        rig_unit_test(ranges_are_flushed),
        rig_unit_test(misuse_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
