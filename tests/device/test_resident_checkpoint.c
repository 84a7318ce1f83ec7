/*
 * Checkpoints: contents of residents are written on one device and read on another one, byte for
 * byte; after the loss of the device what was below it survives; a checkpoint that was cut off
 * while it was written, truncated or altered never hands out wrong bytes.
 */
#include "core/residency/checkpoint_file.h"
#include "core/residency/checksum.h"
#include "core/residency/residency_state.h"
#include "tests/rig/rig.h"

enum { COUNT = 12, SIZE = 24 * 1024, FILE_SIZE = 1 << 20, UNIT = 4096 };

static struct rig rig;
static MaarResidency residency;
static MaarResident residents[COUNT];
static VkSemaphore timeline;
static uint64_t submitted;
static uint8_t contents[COUNT][SIZE];

/* ---- a file in memory ---- */

static struct {
    uint8_t bytes[FILE_SIZE];
    uint64_t left;    /* bytes that can be written before the power goes */
    uint32_t lose_at; /* the write with which the device is lost, counted from now; 0: none */
    VkDeviceSize least_unit; /* reads are of whole units; 0: of any bytes */
} disk;

static VkResult VKAPI_PTR read_disk(void* data, VkDeviceSize offset, size_t size, void* bytes)
{
    (void)data;
    assert_true(size > 0);
    if (disk.least_unit > 0) {
        assert_int_equal(offset % disk.least_unit, 0);
        assert_int_equal(size % disk.least_unit, 0);
        assert_int_equal((uintptr_t)bytes % disk.least_unit, 0);
    }
    memcpy(bytes, disk.bytes + offset, size);
    return VK_SUCCESS;
}

/* The device is lost, and mapped memory has other bytes. */
static void lose_device(void)
{
    const struct maar_residency* state =
        maar_object_of(rig.allocator, MAAR_OBJECT_RESIDENCY, MAAR_TO_BITS(residency));
    rig_set_fault(&rig, "vkQueueSubmit", 1, 1, VK_ERROR_DEVICE_LOST);
    assert_int_equal(vkQueueSubmit(rig.queue, 0, NULL, VK_NULL_HANDLE), VK_ERROR_DEVICE_LOST);
    for (uint32_t i = 0; i < state->resident_count; ++i) {
        const struct maar_resident* resident = &state->residents[i];
        if (resident->host_buffer != VK_NULL_HANDLE) {
            memset(resident->host_data, 0xEE, (size_t)resident->content_size);
        }
    }
}

static VkResult VKAPI_PTR write_disk(void* data, VkDeviceSize offset, size_t size, void* bytes)
{
    (void)data;
    const size_t written = size < disk.left ? size : (size_t)disk.left;
    memcpy(disk.bytes + offset, bytes, written);
    disk.left -= written;
    if (disk.lose_at > 0 && --disk.lose_at == 0) {
        lose_device();
    }
    return VK_SUCCESS; /* a cut that nobody notices */
}

static const MaarFileStore store = {
    .sType = MAAR_STRUCTURE_TYPE_FILE_STORE,
    .size = FILE_SIZE,
    .alignment = 512,
    .pfnRead = read_disk,
    .pfnWrite = write_disk,
};

/* ---- the program ---- */

/* Half of the contents shrink. Each resident has another size. */
static void make_contents(void)
{
    struct rig_random random = {.state = 77};
    for (uint32_t i = 0; i < COUNT; ++i) {
        for (uint32_t k = 0; k < SIZE; ++k) {
            contents[i][k] = i % 2 == 0 ? (uint8_t)(i + k / 512) : (uint8_t)rig_next(&random);
        }
    }
}

static VkDeviceSize size_of(uint32_t number)
{
    return SIZE - number * 256;
}

static void open_manager(VkDeviceSize device, VkDeviceSize compressed)
{
    uint32_t queue = 0;
    for (uint32_t i = 0; i < rig.create_info.queueCount; ++i) {
        queue = rig.create_info.pQueues[i].queue == rig.queue ? i : queue;
    }
    const MaarResidencyCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENCY_CREATE_INFO,
        .queueIndex = queue,
        .deviceBudget = device,
        .hostBudget = 1024 * KIB,
        .compressedBudget = compressed,
    };
    assert_int_equal(maarCreateResidency(rig.allocator, &info, &residency), VK_SUCCESS);
    timeline = rig_create_timeline(&rig, 0);
    submitted = 0;
}

static void create_residents(MaarCheckpoint checkpoint)
{
    for (uint32_t i = 0; i < COUNT; ++i) {
        const VkBufferCreateInfo buffer = rig_buffer_info(size_of(i));
        const MaarResidentCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
            .pBufferInfo = &buffer,
            .key = 100 + i,
            .checkpoint = checkpoint,
        };
        assert_int_equal(maarCreateResident(rig.allocator, residency, &info, &residents[i]),
                         VK_SUCCESS);
    }
}

static void close_manager(void)
{
    maarDestroyResidency(rig.allocator, residency);
    vkDestroySemaphore(rig.device, timeline, NULL);
}

/* Copies between a resident and a buffer of the program, and waits. */
static void copy(uint32_t number, MaarAccessFlags access, VkBuffer other)
{
    MaarResidentUse wanted = {.resident = residents[number], .access = access};
    const MaarUseBeginInfo begin = {.sType = MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO,
                                    .flags = MAAR_USE_WAIT_BIT,
                                    .useCount = 1,
                                    .pUses = &wanted};
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                               .queueFamilyIndex = rig.families[0]};
    const VkCommandBufferBeginInfo start = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkBufferCopy region = {.size = size_of(number)};
    const VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    MaarResidentObject object;
    MaarUseInfo info = {.sType = MAAR_STRUCTURE_TYPE_USE_INFO};
    MaarUse use = VK_NULL_HANDLE;
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    assert_int_equal(maarBeginUse(rig.allocator, residency, &begin, &object, &info, &use),
                     VK_SUCCESS);
    assert_int_equal(object.isFresh, access == MAAR_ACCESS_OVERWRITE_BIT);
    assert_int_equal(vkCreateCommandPool(rig.device, &pool_info, NULL, &pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo how = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .commandBufferCount = 1,
    };
    assert_int_equal(vkAllocateCommandBuffers(rig.device, &how, &commands), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(commands, &start), VK_SUCCESS);
    const bool writes = access == MAAR_ACCESS_OVERWRITE_BIT;
    vkCmdCopyBuffer(commands, writes ? other : object.buffer, writes ? object.buffer : other, 1,
                    &region);
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &to_host, 0, NULL, 0, NULL);
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    const MaarPoint end = {timeline, ++submitted};
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = info.mustWait == VK_TRUE ? 1 : 0,
        .pWaitSemaphoreValues = &info.wait.value,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &end.value,
    };
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .waitSemaphoreCount = info.mustWait == VK_TRUE ? 1 : 0,
        .pWaitSemaphores = &info.wait.semaphore,
        .pWaitDstStageMask = &stage,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &end.semaphore,
    };
    assert_int_equal(vkQueueSubmit(rig.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(maarEndUse(rig.allocator, residency, use, 1, &end), VK_SUCCESS);
    assert_int_equal(vkDeviceWaitIdle(rig.device), VK_SUCCESS);
    vkDestroyCommandPool(rig.device, pool, NULL);
}

/* Writes the contents, or compares them. */
static void fill_or_compare(bool fills)
{
    static uint8_t found[SIZE];
    for (uint32_t i = 0; i < COUNT; ++i) {
        VkBuffer buffer = VK_NULL_HANDLE;
        MaarAllocation memory = VK_NULL_HANDLE;
        const MaarAllocationCreateInfo how =
            rig_how(fills ? MAAR_MEMORY_USAGE_UPLOAD : MAAR_MEMORY_USAGE_READBACK);
        VkBufferCreateInfo info = rig_buffer_info(size_of(i));
        info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
        assert_int_equal(maarCreateBuffer(rig.allocator, &info, &how, &buffer, &memory),
                         VK_SUCCESS);
        if (fills) {
            assert_int_equal(
                maarCopyToAllocation(rig.allocator, memory, 0, size_of(i), contents[i]),
                VK_SUCCESS);
        }
        copy(i, fills ? MAAR_ACCESS_OVERWRITE_BIT : MAAR_ACCESS_READ_BIT, buffer);
        if (!fills) {
            assert_int_equal(maarCopyFromAllocation(rig.allocator, memory, 0, size_of(i), found),
                             VK_SUCCESS);
            assert_memory_equal(found, contents[i], size_of(i));
        }
        maarDestroyBuffer(rig.allocator, buffer, memory);
    }
}

static MaarCheckpointInfo write_checkpoint(VkResult expected)
{
    MaarCheckpointInfo info = {.sType = MAAR_STRUCTURE_TYPE_CHECKPOINT_INFO};
    assert_int_equal(maarWriteCheckpoint(rig.allocator, residency, &store, &info), expected);
    return info;
}

static VkResult open_checkpoint(MaarCheckpoint* checkpoint)
{
    const MaarCheckpointOpenInfo info = {.sType = MAAR_STRUCTURE_TYPE_CHECKPOINT_OPEN_INFO,
                                         .pFileStore = &store};
    return maarOpenCheckpoint(&info, checkpoint);
}

/* Reads all entries without a device, and returns how many are right. No read may return wrong
 * bytes. */
static uint32_t count_right(MaarCheckpoint checkpoint)
{
    static uint8_t found[SIZE];
    uint32_t right = 0;
    for (uint32_t i = 0; i < COUNT; ++i) {
        const VkResult result = maarReadCheckpoint(checkpoint, 100 + i, size_of(i), found);
        if (result == VK_SUCCESS) {
            assert_memory_equal(found, contents[i], size_of(i));
            ++right;
        } else {
            assert_true(result == VK_ERROR_UNKNOWN || result == VK_ERROR_FEATURE_NOT_PRESENT);
        }
    }
    return right;
}

/* ---- cases ---- */

/* Opens a rig on lavapipe, or on a simulated device that executes commands. */
static void open_any(void** state, const char* vendor)
{
    if (rig_is_without_driver()) {
        const struct rig_setup setup = {
            .profile = rig_profile_file(vendor),
            .flags = MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_CONTENTS_BIT |
                     MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT | MAAR_SIMULATED_ALLOW_ALIASING_BIT,
            .paging = true,
            .count_host = true,
        };
        rig_need_simulated_devices();
        rig_open(&rig, &setup);
        rig_make_allocator(&rig);
    } else {
        *state = rig_start_paging(&rig) ? &rig : NULL;
        rig_need(state, *state != NULL && rig_executes(), "commands do not execute on this driver");
    }
}

/* Opens a simulated device and a manager whose residents all have their contents. */
static void open_filled(void** state)
{
    make_contents();
    disk.left = UINT64_MAX;
    open_any(state, rig_vendors[0]);
    open_manager(512 * KIB, 0);
    create_residents(VK_NULL_HANDLE);
    fill_or_compare(true);
}

static void close_all(void** state)
{
    close_manager();
    rig_close(&rig);
    *state = NULL;
}

static void contents_go_to_another_device(void** state)
{
    MaarCheckpoint checkpoint = VK_NULL_HANDLE;
    MaarCheckpointEntry entries[COUNT];
    uint32_t count = COUNT;
    make_contents();
    disk.left = UINT64_MAX;
    open_any(state, rig_vendors[0]);
    open_manager(128 * KIB, 64 * KIB);
    create_residents(VK_NULL_HANDLE);
    fill_or_compare(true);
    const MaarCheckpointInfo info = write_checkpoint(VK_SUCCESS);
    assert_int_equal(info.entryCount, COUNT);
    assert_int_equal(info.missingCount, 0);
    fill_or_compare(false);
    close_manager();
    rig_close(&rig);

    open_any(state, rig_vendors[1]);
    assert_int_equal(open_checkpoint(&checkpoint), VK_SUCCESS);
    assert_int_equal(maarEnumerateCheckpoint(checkpoint, &count, entries), VK_SUCCESS);
    assert_int_equal(count, COUNT);
    for (uint32_t i = 0; i < COUNT; ++i) {
        assert_int_equal(entries[i].key, 100 + i);
        assert_int_equal(entries[i].size, size_of(i));
    }
    open_manager(128 * KIB, 0);
    create_residents(checkpoint);
    fill_or_compare(false);
    fill_or_compare(false);
    close_manager();
    maarCloseCheckpoint(checkpoint);
    rig_close(&rig);
    *state = NULL;
}

/* What was compressed survives the loss of the device; the rest is counted. */
static void what_was_below_survives_a_loss(void** state)
{
    MaarCheckpoint checkpoint = VK_NULL_HANDLE;
    MaarResidencyInfo now = {.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_INFO};
    make_contents();
    disk.left = UINT64_MAX;
    if (!rig_is_without_driver()) {
        print_message("skipped: only simulated devices can be lost\n");
        skip();
    }
    open_any(state, rig_vendors[0]);
    open_manager(64 * KIB, 512 * KIB);
    create_residents(VK_NULL_HANDLE);
    fill_or_compare(true);
    assert_int_equal(maarSetResidencyBudget(rig.allocator, residency, MAAR_TIER_HOST, 64 * KIB),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < 8; ++i) {
        assert_int_equal(maarUpdateResidency(rig.allocator, residency, NULL), VK_SUCCESS);
        (void)maarWorkResidency(rig.allocator, residency, 0, NULL);
    }
    assert_int_equal(maarGetResidencyInfo(rig.allocator, residency, &now), VK_SUCCESS);
    const uint32_t below = now.tiers[MAAR_TIER_COMPRESSED].residentCount;
    assert_true(below > 0 && below < COUNT);
    rig_set_fault(&rig, "vkQueueSubmit", 1, UINT64_MAX, VK_ERROR_DEVICE_LOST);
    rig_set_fault(&rig, "vkGetSemaphoreCounterValue", 1, UINT64_MAX, VK_ERROR_DEVICE_LOST);
    rig_set_fault(&rig, "vkWaitSemaphores", 1, UINT64_MAX, VK_ERROR_DEVICE_LOST);
    const MaarCheckpointInfo info = write_checkpoint(VK_INCOMPLETE);
    assert_true(info.entryCount >= below);
    assert_int_equal(info.entryCount + info.missingCount, COUNT);
    rig_clear_faults(&rig);
    assert_int_equal(open_checkpoint(&checkpoint), VK_SUCCESS);
    assert_int_equal(count_right(checkpoint), info.entryCount);
    maarCloseCheckpoint(checkpoint);
    close_all(state);
}

/* The device is lost with each write of a checkpoint in turn. What was read of its memory is not in
 * the checkpoint. */
static void loss_during_a_checkpoint_spoils_no_entry(void** state)
{
    uint32_t missing = 0;
    make_contents();
    disk.left = UINT64_MAX;
    if (!rig_is_without_driver()) {
        print_message("skipped: only simulated devices can be lost\n");
        skip();
    }
    for (uint32_t nth = 1; nth <= COUNT + 1; ++nth) {
        MaarCheckpoint checkpoint = VK_NULL_HANDLE;
        MaarCheckpointInfo info = {.sType = MAAR_STRUCTURE_TYPE_CHECKPOINT_INFO};
        open_any(state, rig_vendors[nth % RIG_VENDORS]);
        open_manager(128 * KIB, 0);
        create_residents(VK_NULL_HANDLE);
        fill_or_compare(true);
        disk.lose_at = nth;
        const VkResult result = maarWriteCheckpoint(rig.allocator, residency, &store, &info);
        assert_int_equal(result, info.missingCount > 0 ? VK_INCOMPLETE : VK_SUCCESS);
        assert_int_equal(info.entryCount + info.missingCount, COUNT);
        disk.lose_at = 0;
        assert_int_equal(open_checkpoint(&checkpoint), VK_SUCCESS);
        assert_int_equal(count_right(checkpoint), info.entryCount);
        maarCloseCheckpoint(checkpoint);
        missing += info.missingCount;
        close_manager();
        rig_close(&rig);
    }
    assert_true(missing >= COUNT);
    *state = NULL;
}

/* The power goes at every multiple of some bytes while a checkpoint is written over another one. */
static void a_cut_is_noticed_at_every_place(void** state)
{
    MaarCheckpoint checkpoint = VK_NULL_HANDLE;
    uint32_t opened = 0;
    open_filled(state);
    const uint64_t whole = write_checkpoint(VK_SUCCESS).fileSize + 2 * UNIT;
    for (uint64_t cut = 0; cut < whole; cut += cut < 512 || cut + 2 * UNIT > whole ? 8 : 509) {
        disk.left = cut;
        (void)maarWriteCheckpoint(rig.allocator, residency, &store, NULL);
        const VkResult result = open_checkpoint(&checkpoint);
        if (result == VK_SUCCESS) {
            ++opened;
            assert_int_equal(count_right(checkpoint), COUNT);
            maarCloseCheckpoint(checkpoint);
        } else {
            assert_int_equal(result, VK_ERROR_INITIALIZATION_FAILED);
        }
        disk.left = UINT64_MAX;
        if (cut % 16 == 0 && cut < 512) {
            assert_int_equal(maarWriteCheckpoint(rig.allocator, residency, &store, NULL),
                             VK_SUCCESS);
        }
    }
    assert_true(opened > 0);
    close_all(state);
}

static void altered_bytes_are_not_handed_out(void** state)
{
    MaarCheckpoint checkpoint = VK_NULL_HANDLE;
    uint32_t refused = 0;
    uint32_t lost = 0;
    open_filled(state);
    const uint64_t size = write_checkpoint(VK_SUCCESS).fileSize;
    for (uint64_t at = 0; at < size; at += at < 64 ? 1 : 97) {
        disk.bytes[at] ^= 0x10;
        const VkResult result = open_checkpoint(&checkpoint);
        if (result == VK_SUCCESS) {
            lost += COUNT - count_right(checkpoint);
            maarCloseCheckpoint(checkpoint);
        } else {
            assert_int_equal(result, VK_ERROR_INITIALIZATION_FAILED);
            ++refused;
        }
        disk.bytes[at] ^= 0x10;
    }
    assert_true(refused >= 56 && lost > size / 97 / 2);
    close_all(state);
}

/* The directory says which contents belong to which key. */
static void altered_directory_is_noticed(void** state)
{
    MaarCheckpoint checkpoint = VK_NULL_HANDLE;
    open_filled(state);
    const uint64_t end = write_checkpoint(VK_SUCCESS).fileSize;
    const uint64_t size = COUNT * sizeof(struct maar_checkpoint_entry);
    for (uint64_t at = end - UNIT; at < end - UNIT + size; ++at) {
        for (uint32_t bit = 0; bit < 8; bit += 3) {
            disk.bytes[at] ^= (uint8_t)(1u << bit);
            assert_int_equal(open_checkpoint(&checkpoint), VK_ERROR_INITIALIZATION_FAILED);
            disk.bytes[at] ^= (uint8_t)(1u << bit);
        }
    }
    assert_int_equal(open_checkpoint(&checkpoint), VK_SUCCESS);
    maarCloseCheckpoint(checkpoint);
    close_all(state);
}

/* A checkpoint is carried to a disk that transfers larger units. */
static void checkpoint_opens_on_a_disk_of_larger_units(void** state)
{
    MaarFileStore other = store;
    const MaarCheckpointOpenInfo info = {.sType = MAAR_STRUCTURE_TYPE_CHECKPOINT_OPEN_INFO,
                                         .pFileStore = &other};
    MaarCheckpoint checkpoint = VK_NULL_HANDLE;
    open_filled(state);
    (void)write_checkpoint(VK_SUCCESS);
    other.alignment = 16384;
    disk.least_unit = other.alignment;
    assert_int_equal(maarOpenCheckpoint(&info, &checkpoint), VK_SUCCESS);
    assert_int_equal(count_right(checkpoint), COUNT);
    maarCloseCheckpoint(checkpoint);
    disk.least_unit = 0;
    close_all(state);
}

/* An entry of no bytes would be a read of none. */
static void entry_without_bytes_is_noticed(void** state)
{
    MaarCheckpoint checkpoint = VK_NULL_HANDLE;
    struct maar_checkpoint_entry entry;
    uint64_t head[7];
    open_filled(state);
    const uint64_t directory = write_checkpoint(VK_SUCCESS).fileSize - UNIT;
    memcpy(&entry, disk.bytes + directory, sizeof entry);
    entry.stored = 0;
    entry.is_packed = 1;
    memcpy(disk.bytes + directory, &entry, sizeof entry);
    memcpy(head, disk.bytes, sizeof head);
    head[5] = maar_checksum(disk.bytes + directory, COUNT * sizeof entry);
    head[6] = maar_checksum(head, 6 * sizeof head[0]);
    memcpy(disk.bytes, head, sizeof head);
    assert_int_equal(open_checkpoint(&checkpoint), VK_ERROR_INITIALIZATION_FAILED);
    close_all(state);
}

/* ---- a disk with a cache ---- */

enum { MOST_CACHED = 64 };

/* Writes reach the disk when it is synchronized. When the power goes, any of the others are lost.
 */
static struct {
    struct {
        VkDeviceSize offset;
        size_t size;
        uint8_t* before;
    } writes[MOST_CACHED];
    uint32_t count;
    uint32_t calls_left; /* before the power goes */
} cache;

static bool has_power(void)
{
    cache.calls_left -= cache.calls_left > 0 ? 1 : 0;
    return cache.calls_left > 0;
}

static VkResult VKAPI_PTR write_cached(void* data, VkDeviceSize offset, size_t size, void* bytes)
{
    (void)data;
    if (has_power()) {
        assert_true(cache.count < MOST_CACHED);
        cache.writes[cache.count].offset = offset;
        cache.writes[cache.count].size = size;
        cache.writes[cache.count].before = malloc(size);
        assert_non_null(cache.writes[cache.count].before);
        memcpy(cache.writes[cache.count++].before, disk.bytes + offset, size);
        memcpy(disk.bytes + offset, bytes, size);
    }
    return VK_SUCCESS;
}

static VkResult VKAPI_PTR sync_cached(void* data)
{
    (void)data;
    for (uint32_t i = 0; i < cache.count && has_power(); ++i) {
        free(cache.writes[i].before);
        cache.writes[i].before = NULL;
    }
    cache.count = cache.calls_left > 0 ? 0 : cache.count;
    return VK_SUCCESS;
}

/* The power goes: all writes are lost that were not synchronized, but the last `kept` of them. */
static void lose_cache(uint32_t kept)
{
    for (uint32_t i = cache.count; i-- > 0;) {
        if (cache.writes[i].before != NULL && i + kept < cache.count) {
            memcpy(disk.bytes + cache.writes[i].offset, cache.writes[i].before,
                   cache.writes[i].size);
        }
        free(cache.writes[i].before);
        cache.writes[i].before = NULL;
    }
    cache.count = 0;
}

/* A checkpoint is written over another one, and the power goes at each call: what opens then is
 * whole, in whatever order the disk has written. */
static void checkpoints_survive_a_disk_that_writes_in_another_order(void** state)
{
    MaarFileStore cached = store;
    MaarCheckpoint checkpoint = VK_NULL_HANDLE;
    make_contents();
    disk.left = UINT64_MAX;
    cached.pfnWrite = write_cached;
    cached.pfnSync = sync_cached;
    open_any(state, rig_vendors[0]);
    open_manager(512 * KIB, 0);
    create_residents(VK_NULL_HANDLE);
    fill_or_compare(true);
    for (uint32_t calls = 1; calls < 3 * COUNT; ++calls) {
        for (uint32_t kept = 0; kept < 3; ++kept) {
            memset(disk.bytes, 0xCD, sizeof disk.bytes);
            cache.calls_left = calls;
            (void)maarWriteCheckpoint(rig.allocator, residency, &cached, NULL);
            lose_cache(kept);
            const VkResult result = open_checkpoint(&checkpoint);
            if (result == VK_SUCCESS) {
                assert_int_equal(count_right(checkpoint), COUNT);
                maarCloseCheckpoint(checkpoint);
            } else {
                assert_int_equal(result, VK_ERROR_INITIALIZATION_FAILED);
            }
        }
    }
    close_all(state);
}

static void bad_input_is_reported(void** state)
{
    MaarCheckpoint checkpoint = VK_NULL_HANDLE;
    MaarFileStore bad = store;
    open_filled(state);
    bad.pfnWrite = NULL;
    assert_int_equal(maarWriteCheckpoint(rig.allocator, residency, &bad, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pFileStore");
    assert_int_equal(maarWriteCheckpoint(rig.allocator, residency, NULL, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pFileStore");
    bad = store;
    bad.size = 64 * KIB;
    assert_int_equal(maarWriteCheckpoint(rig.allocator, residency, &bad, NULL),
                     VK_ERROR_OUT_OF_POOL_MEMORY);
    assert_int_equal(open_checkpoint(&checkpoint), VK_ERROR_INITIALIZATION_FAILED);
    const VkBufferCreateInfo buffer = rig_buffer_info(size_of(3));
    const MaarResidentCreateInfo twin = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO, .pBufferInfo = &buffer, .key = 103};
    maarDestroyResident(rig.allocator, residency, residents[4]);
    assert_int_equal(maarCreateResident(rig.allocator, residency, &twin, &residents[4]),
                     VK_SUCCESS);
    const MaarResident kept = residents[3];
    residents[3] = residents[4];
    VkBuffer source = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    VkBufferCreateInfo info = rig_buffer_info(size_of(3));
    info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
    assert_int_equal(maarCreateBuffer(rig.allocator, &info, &how, &source, &memory), VK_SUCCESS);
    assert_int_equal(maarCopyToAllocation(rig.allocator, memory, 0, size_of(3), contents[3]),
                     VK_SUCCESS);
    copy(3, MAAR_ACCESS_OVERWRITE_BIT, source);
    residents[3] = kept;
    maarDestroyBuffer(rig.allocator, source, memory);
    assert_int_equal(maarWriteCheckpoint(rig.allocator, residency, &store, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "residency");
    assert_int_equal(open_checkpoint(&checkpoint), VK_ERROR_INITIALIZATION_FAILED);
    assert_int_equal(maarReadCheckpoint(VK_NULL_HANDLE, 1, 1, &bad),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    maarCloseCheckpoint(VK_NULL_HANDLE);
    close_all(state);
}

/* ---- failures ---- */

static VkResult disk_error; /* of the failing table */

static VkResult VKAPI_PTR fail_to_write(void* data, VkDeviceSize offset, size_t size, void* bytes)
{
    return offset == 0 ? write_disk(data, offset, size, bytes) : disk_error;
}

static VkResult VKAPI_PTR fail_to_read(void* data, VkDeviceSize offset, size_t size, void* bytes)
{
    return offset == 0 ? read_disk(data, offset, size, bytes) : disk_error;
}

static void errors_of_the_store_are_returned(void** state)
{
    static uint8_t found[SIZE];
    MaarFileStore bad = store;
    MaarCheckpoint checkpoint = VK_NULL_HANDLE;
    MaarCheckpointOpenInfo how = {.sType = MAAR_STRUCTURE_TYPE_CHECKPOINT_OPEN_INFO,
                                  .pFileStore = &bad};
    make_contents();
    disk.left = UINT64_MAX;
    disk_error = VK_ERROR_FRAGMENTATION;
    open_any(state, rig_vendors[0]);
    open_manager(512 * KIB, 0);
    create_residents(VK_NULL_HANDLE);
    fill_or_compare(true);
    bad.pfnWrite = fail_to_write;
    assert_int_equal(maarWriteCheckpoint(rig.allocator, residency, &bad, NULL), disk_error);
    assert_int_equal(open_checkpoint(&checkpoint), VK_ERROR_INITIALIZATION_FAILED);
    write_checkpoint(VK_SUCCESS);
    bad = store;
    bad.pfnRead = fail_to_read;
    assert_int_equal(maarOpenCheckpoint(&how, &checkpoint), disk_error);
    assert_null(checkpoint);
    bad.pfnRead = NULL;
    assert_int_equal(maarOpenCheckpoint(&how, &checkpoint), VK_ERROR_VALIDATION_FAILED_EXT);
    how.pFileStore = NULL;
    assert_int_equal(maarOpenCheckpoint(&how, &checkpoint), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(maarOpenCheckpoint(NULL, &checkpoint), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(open_checkpoint(&checkpoint), VK_SUCCESS);
    assert_int_equal(maarReadCheckpoint(checkpoint, 100, SIZE - 4, found),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    assert_int_equal(maarReadCheckpoint(checkpoint, 99, SIZE, found), VK_ERROR_FEATURE_NOT_PRESENT);
    assert_int_equal(maarReadCheckpoint(checkpoint, 100, SIZE, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    MaarCheckpointEntry first;
    uint32_t count = 1;
    assert_int_equal(maarEnumerateCheckpoint(checkpoint, &count, &first), VK_INCOMPLETE);
    assert_int_equal(count, 1);
    assert_int_equal(first.key, 100);
    assert_int_equal(maarEnumerateCheckpoint(checkpoint, NULL, &first),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    maarCloseCheckpoint(checkpoint);
    close_all(state);
}

/* Each host allocation of writing, opening and reading fails in turn. */
static void host_memory_may_run_out(void** state)
{
    static uint8_t found[SIZE];
    MaarCheckpoint checkpoint = VK_NULL_HANDLE;
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    uint32_t failed = 0;
    if (!rig_is_without_driver()) {
        print_message("skipped: host memory is counted on simulated devices\n");
        skip();
    }
    open_filled(state);
    write_checkpoint(VK_SUCCESS);
    for (uint64_t nth = 1; result != VK_SUCCESS; ++nth) {
        rig.host.calls = 0;
        rig.host.fail_at = nth;
        result = maarWriteCheckpoint(rig.allocator, residency, &store, NULL);
        rig.host.fail_at = 0;
        assert_true(result == VK_SUCCESS || result == VK_ERROR_OUT_OF_HOST_MEMORY);
        failed += result != VK_SUCCESS ? 1 : 0;
        if (rig.host.calls < nth) {
            break;
        }
        result = rig.host.calls >= nth ? VK_ERROR_OUT_OF_HOST_MEMORY : result;
    }
    assert_true(failed > COUNT);
    const uint64_t live = rig.host.live;
    const MaarCheckpointOpenInfo how = {.sType = MAAR_STRUCTURE_TYPE_CHECKPOINT_OPEN_INFO,
                                        .pFileStore = &store,
                                        .pAllocationCallbacks = &rig.host_callbacks};
    failed = 0;
    for (uint64_t nth = 1; nth < 100; ++nth) {
        rig.host.calls = 0;
        rig.host.fail_at = nth;
        result = maarOpenCheckpoint(&how, &checkpoint);
        if (result == VK_SUCCESS) {
            result = maarReadCheckpoint(checkpoint, 100, SIZE, found);
        }
        rig.host.fail_at = 0;
        maarCloseCheckpoint(checkpoint);
        assert_int_equal(rig.host.live, live);
        if (result == VK_SUCCESS) {
            assert_memory_equal(found, contents[0], SIZE);
            break;
        }
        assert_int_equal(result, VK_ERROR_OUT_OF_HOST_MEMORY);
        ++failed;
    }
    assert_true(failed >= 3);
    close_all(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(contents_go_to_another_device, rig_teardown),
        cmocka_unit_test_teardown(what_was_below_survives_a_loss, rig_teardown),
        cmocka_unit_test_teardown(loss_during_a_checkpoint_spoils_no_entry, rig_teardown),
        cmocka_unit_test_teardown(a_cut_is_noticed_at_every_place, rig_teardown),
        cmocka_unit_test_teardown(altered_bytes_are_not_handed_out, rig_teardown),
        cmocka_unit_test_teardown(altered_directory_is_noticed, rig_teardown),
        cmocka_unit_test_teardown(checkpoint_opens_on_a_disk_of_larger_units, rig_teardown),
        cmocka_unit_test_teardown(entry_without_bytes_is_noticed, rig_teardown),
        cmocka_unit_test_teardown(checkpoints_survive_a_disk_that_writes_in_another_order,
                                  rig_teardown),
        cmocka_unit_test_teardown(bad_input_is_reported, rig_teardown),
        cmocka_unit_test_teardown(errors_of_the_store_are_returned, rig_teardown),
        cmocka_unit_test_teardown(host_memory_may_run_out, rig_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
