/*
 * Calls that wait end where waiting brings nothing nearer: contents that do not fit into the
 * compressed tier, work that fails each time for want of host memory, and places in host memory
 * that are kept for another call. A case whose call goes on for ever ends the process.
 */
#include "tests/unit/residency/residency_fixture.h"

#include <stdlib.h>

#include "maar/checkpoint.h"

enum { RESIDENTS = 4, FILE_SIZE = 4 << 20, MOST_CALLS = 20000 };

static uint8_t file_bytes[FILE_SIZE];
static uint8_t checkpoint_bytes[FILE_SIZE];
static MaarResident residents[RESIDENTS];
static uint32_t calls; /* of the driver, since the last case began */

static void count_calls(void* data, const char* function)
{
    (void)data;
    if (++calls > MOST_CALLS) {
        print_error("%s is called again and again\n", function);
        abort();
    }
}

static VkResult VKAPI_PTR read_bytes(void* data, VkDeviceSize offset, size_t size, void* bytes)
{
    memcpy(bytes, (uint8_t*)data + offset, size);
    return VK_SUCCESS;
}

static VkResult VKAPI_PTR write_bytes(void* data, VkDeviceSize offset, size_t size, void* bytes)
{
    memcpy((uint8_t*)data + offset, bytes, size);
    return VK_SUCCESS;
}

static MaarFileStore file_of(uint8_t* bytes)
{
    return (MaarFileStore){
        .sType = MAAR_STRUCTURE_TYPE_FILE_STORE,
        .pUserData = bytes,
        .size = FILE_SIZE,
        .pfnRead = read_bytes,
        .pfnWrite = write_bytes,
    };
}

/* Room for one resident on the device and for two in host memory, and residents with contents, of
 * which the last one is on the device. */
static void open_tiers(VkDeviceSize compressed, const MaarFileStore* file, uint32_t count,
                       MaarResidentCreateFlags flags)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(UNIT);
    MaarResidencyCreateInfo info = manager_info(UNIT, 2 * UNIT);
    info.compressedBudget = compressed;
    info.pFileStore = file;
    info.pfnEvent = NULL;
    open_device();
    calls = 0;
    rig->call = count_calls;
    open_manager(&info);
    for (uint32_t i = 0; i < count; ++i) {
        const MaarResidentCreateInfo resident = {
            .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
            .flags = flags,
            .pBufferInfo = &buffer,
            .key = 1 + i,
        };
        residents[i] = create_resident(&resident);
        write_buffer(residents[i], i + 1);
    }
}

static void close_tiers(void)
{
    expect_no_pins();
    rig_forget_messages(rig);
    close_scene();
}

/* ---- uses ---- */

/* Contents that take more bytes than one word when they are packed. */
static void write_halves(MaarResident resident)
{
    const MaarUse use = begin_use(resident, MAAR_ACCESS_OVERWRITE_BIT, 0);
    VkCommandBuffer into = begin_commands();
    vkCmdFillBuffer(into, object.buffer, 0, UNIT / 2, 0);
    vkCmdFillBuffer(into, object.buffer, UNIT / 2, VK_WHOLE_SIZE, 5);
    end_use_at(use, submit_commands());
}

/* The use is refused, whether it waits or not. */
static void packed_copies_without_room_end_a_use(void** state)
{
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    open_tiers(1, NULL, 3, 0);
    const MaarResident further = create_buffer(UNIT, 0);
    assert_int_equal(try_use(further, MAAR_ACCESS_OVERWRITE_BIT, MAAR_USE_WAIT_BIT, &use),
                     VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_expect_message(rig, MAAR_MESSAGE_ID_TOO_MUCH_IN_USE);
    assert_int_equal(try_use(further, MAAR_ACCESS_OVERWRITE_BIT, 0, &use),
                     VK_ERROR_OUT_OF_POOL_MEMORY);
    for (uint32_t i = 3; i-- > 0;) {
        expect_no_pins();
        assert_int_equal(state_of(residents[i]).tier, i == 2 ? MAAR_TIER_DEVICE : MAAR_TIER_HOST);
    }
    close_tiers();
}

/* What found no room is packed when there is some. */
static void packed_copies_find_room_that_others_leave(void** state)
{
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    open_tiers(FILE_SIZE, NULL, 3, 0);
    residents[3] = create_buffer(UNIT, 0);
    write_buffer(residents[3], 4);
    assert_int_equal(state_of(residents[0]).tier, MAAR_TIER_COMPRESSED);
    const VkDeviceSize size = state_of(residents[0]).compressedSize;
    assert_int_equal(
        maarSetResidencyBudget(rig->allocator, manager, MAAR_TIER_COMPRESSED, size + 1),
        VK_SUCCESS);
    const MaarResident further = create_buffer(UNIT, 0);
    assert_int_equal(try_use(further, MAAR_ACCESS_OVERWRITE_BIT, MAAR_USE_WAIT_BIT, &use),
                     VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_forget_messages(rig);
    destroy_resident(residents[0]);
    write_buffer(further, 5);
    assert_int_equal(manager_state().tiers[MAAR_TIER_COMPRESSED].residentCount, 1);
    expect_no_pins();
    close_tiers();
}

/* Where both contents of host memory found no room, new contents of one of them may find it. */
static void new_contents_may_need_less_room(void** state)
{
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    open_tiers(FILE_SIZE, NULL, 0, 0);
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        residents[i] = create_buffer(UNIT, 0);
        write_halves(residents[i]);
    }
    const VkDeviceSize size = state_of(residents[0]).compressedSize;
    assert_true(size > 0);
    destroy_resident(residents[0]);
    assert_int_equal(
        maarSetResidencyBudget(rig->allocator, manager, MAAR_TIER_COMPRESSED, size - 1),
        VK_SUCCESS);
    const MaarResident further = create_buffer(UNIT, 0);
    assert_int_equal(try_use(further, MAAR_ACCESS_OVERWRITE_BIT, MAAR_USE_WAIT_BIT, &use),
                     VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_forget_messages(rig);
    destroy_resident(residents[3]); /* the one on the device */
    write_buffer(residents[1], 1);
    write_buffer(further, 2); /* the other one leaves its place in host memory, and comes back */
    residents[0] = create_buffer(UNIT, 0);
    write_buffer(residents[0], 3);
    assert_int_equal(state_of(residents[1]).tier, MAAR_TIER_COMPRESSED);
    close_tiers();
}

/* The allocation of a piece of work succeeds, and that of the memory that it needs does not. */
static void fail_every_second(struct rig_host* host)
{
    static uint32_t count;
    if (++count % 2 == 0) {
        atomic_store(&host->fail_at, atomic_load(&host->calls) + 1);
    }
}

/* Without host memory nothing can be packed. The use comes back, and begins when there is some. */
static void work_without_host_memory_ends_a_use(void** state)
{
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    open_tiers(FILE_SIZE, NULL, 3, 0);
    const MaarResident further = create_buffer(UNIT, 0);
    assert_int_equal(try_use(further, MAAR_ACCESS_OVERWRITE_BIT, 0, &use), VK_NOT_READY);
    rig->host.before = fail_every_second;
    assert_int_equal(try_use(further, MAAR_ACCESS_OVERWRITE_BIT, MAAR_USE_WAIT_BIT, &use),
                     VK_NOT_READY);
    rig->host.before = NULL;
    atomic_store(&rig->host.fail_at, 0);
    expect_no_pins();
    write_buffer(further, 4);
    close_tiers();
}

/* ---- checkpoints ---- */

/* A use that was not ready keeps a place in host memory, and the driver has no other one. */
static void places_that_are_kept_do_not_hold_a_checkpoint(void** state)
{
    const MaarFileStore own = file_of(file_bytes);
    const MaarFileStore into = file_of(checkpoint_bytes);
    MaarCheckpointInfo written = {.sType = MAAR_STRUCTURE_TYPE_CHECKPOINT_INFO};
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    open_tiers(0, &own, 4, MAAR_RESIDENT_CREATE_NOT_COMPRESSED_BIT);
    assert_int_equal(state_of(residents[0]).tier, MAAR_TIER_FILE);
    /* The first call makes the place, the second one begins to read. */
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(try_use(residents[0], MAAR_ACCESS_READ_BIT, 0, &use), VK_NOT_READY);
        do_work();
    }
    assert_int_equal(state_of(residents[3]).tierBits, 1u << MAAR_TIER_DEVICE);
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarWriteCheckpoint(rig->allocator, manager, &into, &written), VK_SUCCESS);
    assert_int_equal(written.entryCount, 4);
    rig_clear_faults(rig);
    close_tiers();
}

static uint32_t allocations; /* since the last object was discarded that found no place */

static void count_and_discard(void* data, const char* function)
{
    count_calls(data, function);
    allocations = strcmp(function, "vkDestroyBuffer") == 0 ? 0 : allocations;
}

static void fail_second(struct rig_host* host)
{
    if (++allocations == 2) {
        atomic_store(&host->fail_at, atomic_load(&host->calls) + 1);
    }
}

/* The driver has no memory for the copy of what is on the device. Another one would have to be
 * packed, and there is memory for the piece of work alone. */
static void work_without_host_memory_ends_a_checkpoint(void** state)
{
    const MaarFileStore into = file_of(checkpoint_bytes);
    MaarCheckpointInfo written = {.sType = MAAR_STRUCTURE_TYPE_CHECKPOINT_INFO};
    (void)state;
    open_tiers(FILE_SIZE, NULL, 3, 0);
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    allocations = 2;
    rig->call = count_and_discard;
    rig->host.before = fail_second;
    assert_int_equal(maarWriteCheckpoint(rig->allocator, manager, &into, &written), VK_INCOMPLETE);
    assert_int_equal(written.missingCount, 1);
    rig->host.before = NULL;
    atomic_store(&rig->host.fail_at, 0);
    assert_int_equal(maarWriteCheckpoint(rig->allocator, manager, &into, &written), VK_SUCCESS);
    assert_int_equal(written.entryCount, 3);
    rig_clear_faults(rig);
    close_tiers();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(packed_copies_without_room_end_a_use),
        rig_unit_test(packed_copies_find_room_that_others_leave),
        rig_unit_test(new_contents_may_need_less_room),
        rig_unit_test(work_without_host_memory_ends_a_use),
        rig_unit_test(places_that_are_kept_do_not_hold_a_checkpoint),
        rig_unit_test(work_without_host_memory_ends_a_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
