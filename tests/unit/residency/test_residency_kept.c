/*
 * Contents are kept: by evictions while the host's memory is nearly full, by uses in host memory
 * beside work of the host, by uses that overlap or are cancelled, and by losses.
 */
#include "tests/rig/captured.h"
#include "tests/unit/residency/residency_fixture.h"

enum { DEVICE_UNITS = 4 };

static struct {
    MaarResident all[16];
    uint32_t count;
} made;

/* Creates so many buffers of one unit, and gives each its number as contents. */
static void make_buffers(uint32_t count)
{
    made.count = count;
    for (uint32_t i = 0; i < count; ++i) {
        made.all[i] = create_buffer(UNIT, 0);
        write_buffer(made.all[i], i + 1);
    }
}

static void expect_buffers(void)
{
    for (uint32_t i = 0; i < made.count; ++i) {
        if (made.all[i] != VK_NULL_HANDLE) {
            expect_buffer(made.all[i], i + 1);
        }
    }
}

/* Destroys a buffer on the device, so that others can change their places. */
static void free_one(void)
{
    for (uint32_t i = 0; i < made.count; ++i) {
        if (made.all[i] != VK_NULL_HANDLE && is_in(made.all[i], MAAR_TIER_DEVICE)) {
            destroy_resident(made.all[i]);
            made.all[i] = VK_NULL_HANDLE;
            return;
        }
    }
    fail();
}

static VkResult VKAPI_PTR read_word(void* data, VkDeviceSize size, void* bytes)
{
    const uint32_t* word = data;
    for (VkDeviceSize i = 0; i < size / sizeof *word; ++i) {
        ((uint32_t*)bytes)[i] = *word;
    }
    return VK_SUCCESS;
}

static VkResult VKAPI_PTR fail_to_read(void* data, VkDeviceSize size, void* bytes)
{
    (void)size;
    (void)bytes;
    ++*(uint32_t*)data;
    return VK_ERROR_UNKNOWN;
}

/* One use evicts two residents at once, and the host's memory has room for one of them. */
static void evictions_into_a_full_host_tier_keep_contents(void** state)
{
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    open_scene(4);
    make_buffers(DEVICE_UNITS + 3);
    assert_int_equal(manager_state().tiers[MAAR_TIER_HOST].residentCount, 3);
    const MaarResident large = create_buffer(2 * UNIT, 0);
    assert_int_equal(try_use(large, MAAR_ACCESS_OVERWRITE_BIT, 0, &use),
                     VK_ERROR_OUT_OF_POOL_MEMORY);
    assert_true(rig_message_names_number(rig, 4 * UNIT));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_TOO_MUCH_IN_USE, "hostBudget");
    expect_no_pins();
    destroy_resident(large);
    expect_buffers();
    close_scene();
}

/* A restored resident keeps its source: its copy in host memory may go, but not while a prefetch
 * reads it. */
static void prefetch_into_a_full_host_tier_keeps_contents(void** state)
{
    uint32_t word = 77;
    (void)state;
    open_scene(2);
    const MaarResident sourced = create_sourced(UNIT, read_word, &word);
    expect_buffer(sourced, word);
    make_buffers(DEVICE_UNITS + 1);
    assert_int_equal(state_of(sourced).tier, MAAR_TIER_HOST);
    for (uint32_t i = 0; i < 4; ++i) {
        assert_int_equal(maarPrefetchResidents(rig->allocator, manager, 1, &sourced), VK_SUCCESS);
        settle();
    }
    destroy_resident(made.all[--made.count]);
    expect_buffer(sourced, word);
    expect_buffers();
    close_scene();
}

/* Pins all of the device's memory. */
static void pin_device(MaarUse pins[DEVICE_UNITS], const MaarResident* residents)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < made.count && count < DEVICE_UNITS; ++i) {
        if (is_in(residents[i], MAAR_TIER_DEVICE)) {
            pins[count++] = begin_use(residents[i], MAAR_ACCESS_READ_BIT, 0);
        }
    }
    assert_int_equal(count, DEVICE_UNITS);
}

static void unpin_device(const MaarUse pins[DEVICE_UNITS])
{
    for (uint32_t i = 0; i < DEVICE_UNITS; ++i) {
        cancel_use(pins[i]);
    }
}

/* The host is to pack what a use in host memory changes meanwhile. */
static void demoted_writes_beside_work_keep_contents(void** state)
{
    MaarResidencyCreateInfo info = manager_info(4 * UNIT, 3 * UNIT);
    MaarUse pins[DEVICE_UNITS];
    (void)state;
    info.compressedBudget = 4 * UNIT;
    open_device();
    open_manager(&info);
    make_buffers(DEVICE_UNITS + 3);
    settle();
    assert_true(manager_state().workCount > 0);
    pin_device(pins, made.all);
    for (uint32_t i = 0; i < made.count; ++i) {
        if (!is_in(made.all[i], MAAR_TIER_DEVICE)) {
            const MaarUse use =
                begin_use(made.all[i], MAAR_ACCESS_WRITE_BIT, MAAR_USE_MAY_DEMOTE_BIT);
            assert_int_equal(object.tier, MAAR_TIER_HOST);
            assert_int_equal(answer.demotedSize, UNIT);
            do_work();
            fill_and_end(use, i + 1);
        }
    }
    unpin_device(pins);
    update();
    free_one();
    expect_buffers();
    close_scene();
}

/* Zeros shrink to nothing, but nobody packs what is said not to shrink. */
static void not_compressed_contents_stay_in_host_memory(void** state)
{
    static const MaarResidentCreateFlags flags[] = {0, MAAR_RESIDENT_CREATE_NOT_COMPRESSED_BIT};
    (void)state;
    for (uint32_t i = 0; i < 2; ++i) {
        MaarResidencyCreateInfo info = manager_info(4 * UNIT, 3 * UNIT);
        uint32_t packed = 0;
        info.compressedBudget = 8 * UNIT;
        open_device();
        open_manager(&info);
        made.count = DEVICE_UNITS + 3;
        for (uint32_t k = 0; k < made.count; ++k) {
            made.all[k] = create_buffer(UNIT, flags[i]);
            write_buffer(made.all[k], 0);
        }
        for (uint32_t k = 0; k < 4; ++k) {
            settle();
            do_work();
        }
        for (uint32_t k = 0; k < made.count; ++k) {
            packed += is_in(made.all[k], MAAR_TIER_COMPRESSED) ? 1 : 0;
        }
        assert_true((packed > 0) == (i == 0));
        close_scene();
        (void)rig_end_case(state);
    }
}

/* What a thread reads while another one uses the same resident in host memory. */
static struct {
    MaarResident resident;
    VkResult result;
    MaarUse use;
    uint32_t reads;
} meanwhile;

static VkResult VKAPI_PTR read_meanwhile(void* data, VkDeviceSize size, void* bytes)
{
    ++meanwhile.reads;
    meanwhile.result = try_use(meanwhile.resident, MAAR_ACCESS_OVERWRITE_BIT,
                               MAAR_USE_MAY_DEMOTE_BIT, &meanwhile.use);
    if (meanwhile.result == VK_SUCCESS) {
        fill_and_end(meanwhile.use, 11);
        wait_for(submitted);
    }
    return read_word(data, size, bytes);
}

static void demoted_overwriting_beside_a_read_keeps_contents(void** state)
{
    uint32_t word = 10;
    MaarUse pins[DEVICE_UNITS];
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    open_scene(8);
    make_buffers(DEVICE_UNITS);
    memset(&meanwhile, 0, sizeof meanwhile);
    meanwhile.resident = create_sourced(UNIT, read_meanwhile, &word);
    assert_int_equal(try_use(meanwhile.resident, MAAR_ACCESS_READ_BIT, 0, &use), VK_NOT_READY);
    pin_device(pins, made.all);
    do_work();
    assert_int_equal(meanwhile.reads, 1);
    unpin_device(pins);
    expect_buffer(meanwhile.resident, meanwhile.result == VK_SUCCESS ? 11 : word);
    expect_buffers();
    close_scene();
}

/* The contents are lost, and defined again by a use that overwrites them. */
static void loss_is_over_when_contents_are_overwritten(void** state)
{
    uint32_t reads = 0;
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    open_scene(4);
    const MaarResident resident = create_sourced(UNIT, fail_to_read, &reads);
    assert_int_equal(try_use(resident, MAAR_ACCESS_READ_BIT, 0, &use), VK_NOT_READY);
    do_work();
    update();
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONTENTS_LOST, "resident");
    assert_int_equal(manager_state().lostCount, 1);
    write_buffer(resident, 5);
    expect_buffer(resident, 5);
    assert_int_equal(reads, 1);
    close_scene();
}

/* ---- a file that fails once ---- */

static struct {
    uint8_t bytes[32 * UNIT];
    uint32_t fails; /* so many of the next writes */
    uint32_t written;
} disk;

static VkResult VKAPI_PTR read_disk(void* data, VkDeviceSize offset, size_t size, void* bytes)
{
    (void)data;
    memcpy(bytes, disk.bytes + offset, size);
    return VK_SUCCESS;
}

static VkResult VKAPI_PTR write_disk(void* data, VkDeviceSize offset, size_t size, void* bytes)
{
    (void)data;
    if (disk.fails > 0) {
        --disk.fails;
        return VK_ERROR_UNKNOWN;
    }
    memcpy(disk.bytes + offset, bytes, size);
    ++disk.written;
    return VK_SUCCESS;
}

/* A write fails: nothing is written any more until the next update, and one message says so. Then
 * the file is used again. */
static void file_that_failed_is_tried_again_by_the_next_update(void** state)
{
    const MaarFileStore file = {
        .sType = MAAR_STRUCTURE_TYPE_FILE_STORE,
        .size = sizeof disk.bytes,
        .pfnRead = read_disk,
        .pfnWrite = write_disk,
    };
    MaarResidencyCreateInfo info = manager_info(4 * UNIT, 3 * UNIT);
    (void)state;
    info.pFileStore = &file;
    open_device();
    open_manager(&info);
    disk.written = 0;
    disk.fails = 1;
    make_buffers(DEVICE_UNITS + 3);
    settle();
    do_work();
    update();
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STORE_WRITE_FAILED, "resident");
    rig_forget_messages(rig);
    for (uint32_t i = 0; i < 4; ++i) {
        do_work();
        settle();
    }
    assert_true(disk.written > 0);
    rig_expect_silence(rig);
    expect_buffers();
    close_scene();
}

/* A loss is reported once, the first use that reads fails, and later ones find no contents. */
static void loss_is_reported_once(void** state)
{
    uint32_t reads = 0;
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    open_scene(4);
    const MaarResident resident = create_sourced(UNIT, fail_to_read, &reads);
    assert_int_equal(try_use(resident, MAAR_ACCESS_READ_BIT, MAAR_USE_WAIT_BIT, &use),
                     VK_ERROR_INITIALIZATION_FAILED);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONTENTS_LOST, "resident");
    expect_no_pins();
    assert_int_equal(state_of(resident).tier, MAAR_TIER_NONE);
    use = begin_use(resident, MAAR_ACCESS_READ_BIT, 0);
    assert_int_equal(object.isFresh, VK_TRUE);
    assert_int_equal(answer.freshCount, 1);
    cancel_use(use);
    const MaarResidencyInfo info = manager_state();
    assert_int_equal(info.lostCount, 1);
    assert_int_equal(info.tiers[MAAR_TIER_FILE].cleanCount, 0);
    assert_int_equal(event_count, 1);
    assert_int_equal(events[0].reason, MAAR_RESIDENCY_REASON_LOST);
    assert_int_equal(events[0].to, MAAR_TIER_NONE);
    close_scene();
}

/* A use is cancelled, but not a later one that counts on what it would have written. Contents that
 * lie elsewhere are neither hidden from a third use nor lost. */
static void expect_stranded(MaarResident resident, MaarUseFlags flags)
{
    MaarUse use = VK_NULL_HANDLE;
    MaarUse second = VK_NULL_HANDLE;
    assert_int_equal(try_use(resident, MAAR_ACCESS_OVERWRITE_BIT, flags, &use), VK_SUCCESS);
    assert_int_equal(try_use(resident, MAAR_ACCESS_READ_BIT, flags, &second), VK_SUCCESS);
    assert_int_equal(object.isFresh, VK_FALSE);
    rig_expect_silence(rig);
    cancel_use(use);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_USE_NOT_ENDED, "use");
    rig_forget_messages(rig);
    assert_int_equal(try_use(resident, MAAR_ACCESS_READ_BIT, flags | MAAR_USE_WAIT_BIT, &use),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_USE_NOT_ENDED, "pBeginInfo->pUses[0].resident");
    rig_forget_messages(rig);
    assert_int_equal(try_use(resident, MAAR_ACCESS_OVERWRITE_BIT, flags, &use), VK_SUCCESS);
    assert_int_equal(object.isFresh, VK_TRUE);
    cancel_use(use);
    rig_forget_messages(rig);
    cancel_use(second);
    rig_expect_silence(rig);
}

static void contents_are_not_hidden_by_uses_that_should_be_cancelled(void** state)
{
    uint32_t word = 77;
    MaarUse pins[DEVICE_UNITS];
    (void)state;
    open_scene(8);
    make_buffers(DEVICE_UNITS + 1);
    settle();
    for (uint32_t i = 0; i < made.count; ++i) {
        if (!is_in(made.all[i], MAAR_TIER_DEVICE)) {
            expect_stranded(made.all[i], 0);
            break;
        }
    }
    expect_buffers();
    const MaarResident sourced = create_sourced(UNIT, read_word, &word);
    pin_device(pins, made.all);
    expect_stranded(sourced, MAAR_USE_MAY_DEMOTE_BIT);
    unpin_device(pins);
    expect_buffer(sourced, word);
    expect_buffers();
    close_scene();
}

/* A demoted use that is cancelled leaves an object in host memory, in bytes that a copy of another
 * resident has not left yet. */
static void read_after_a_cancelled_demotion_spares_copies_under_way(void** state)
{
    uint32_t word = 66;
    MaarUse pins[DEVICE_UNITS];
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    open_scene(2);
    make_buffers(DEVICE_UNITS + 1);
    const MaarResident sourced = create_sourced(UNIT, read_word, &word);
    settle();
    hold(true);
    for (uint32_t i = 0; i < made.count; ++i) {
        if (!is_in(made.all[i], MAAR_TIER_DEVICE)) {
            assert_int_equal(try_use(made.all[i], MAAR_ACCESS_READ_BIT, 0, &use), VK_SUCCESS);
            cancel_use(use);
            break;
        }
    }
    pin_device(pins, made.all);
    assert_int_equal(try_use(sourced, MAAR_ACCESS_OVERWRITE_BIT, MAAR_USE_MAY_DEMOTE_BIT, &use),
                     VK_SUCCESS);
    cancel_use(use);
    unpin_device(pins);
    assert_int_equal(try_use(sourced, MAAR_ACCESS_READ_BIT, MAAR_USE_MAY_DEMOTE_BIT, &use),
                     VK_NOT_READY);
    do_work();
    hold(false);
    settle();
    expect_buffers();
    free_one();
    expect_buffer(sourced, word);
    close_scene();
}

/* A use that fails, after some of its residents were to stay in host memory, leaves nothing of
 * that. */
static void failed_demotion_is_forgotten(void** state)
{
    uint32_t word = 3;
    MaarUse pins[DEVICE_UNITS];
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    open_scene(8);
    make_buffers(DEVICE_UNITS);
    const MaarResidentUse uses[] = {
        {create_sourced(UNIT, read_word, &word), MAAR_ACCESS_READ_BIT, 0},
        {create_buffer(UNIT, 0), MAAR_ACCESS_OVERWRITE_BIT, 0},
    };
    pin_device(pins, made.all);
    assert_int_equal(try_uses(2, uses, MAAR_USE_MAY_DEMOTE_BIT, NULL, &use), VK_NOT_READY);
    assert_int_equal(answer.queuedSize, UNIT);
    unpin_device(pins);
    expect_no_pins();
    assert_int_equal(state_of(uses[1].resident).object.tier, MAAR_TIER_NONE);
    use = begin_use(uses[1].resident, MAAR_ACCESS_OVERWRITE_BIT, 0);
    assert_int_equal(object.tier, MAAR_TIER_DEVICE);
    cancel_use(use);
    do_work();
    expect_buffer(uses[0].resident, word);
    expect_buffers();
    close_scene();
}

/* The device has not executed what a use in host memory writes when the contents go back. */
static void restore_waits_for_uses_in_host_memory(void** state)
{
    MaarUse pins[DEVICE_UNITS];
    (void)state;
    open_scene(8);
    make_buffers(DEVICE_UNITS + 1);
    pin_device(pins, made.all);
    settle();
    hold(true);
    for (uint32_t i = 0; i < made.count; ++i) {
        if (!is_in(made.all[i], MAAR_TIER_DEVICE)) {
            const MaarUse use =
                begin_use(made.all[i], MAAR_ACCESS_WRITE_BIT, MAAR_USE_MAY_DEMOTE_BIT);
            assert_int_equal(object.tier, MAAR_TIER_HOST);
            fill_and_end(use, 500);
            unpin_device(pins);
            expect_buffer(made.all[i], 500);
            assert_int_equal(object.tier, MAAR_TIER_DEVICE);
            break;
        }
    }
    hold(false);
    close_scene();
}

/* Creates a buffer for two queue families. */
static MaarResident create_shared(const uint32_t* families)
{
    VkBufferCreateInfo buffer = rig_buffer_info(UNIT);
    const MaarResidentCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .pBufferInfo = &buffer,
    };
    buffer.sharingMode = VK_SHARING_MODE_CONCURRENT;
    buffer.queueFamilyIndexCount = 2;
    buffer.pQueueFamilyIndices = families;
    return create_resident(&info);
}

/* The manager copies on another queue than the program's: only waits order its restore after a use
 * of the object in host memory. */
static void restore_waits_for_uses_on_another_queue(void** state)
{
    MaarResidencyCreateInfo info = manager_info(4 * UNIT, 8 * UNIT);
    MaarUse pins[DEVICE_UNITS];
    (void)state;
    open_device_of(rig_profile_file(rig_vendors[0]));
    assert_int_equal(rig->create_info.queueCount, 2);
    const uint32_t families[] = {rig->paging_queues[0].familyIndex, rig->families[0]};
    info.queueIndex = 0;
    assert_int_equal(maarCreateResidency(rig->allocator, &info, &manager), VK_SUCCESS);
    made.count = DEVICE_UNITS + 1;
    for (uint32_t i = 0; i < made.count; ++i) {
        made.all[i] = create_shared(families);
        write_buffer(made.all[i], i + 1);
    }
    settle();
    pin_device(pins, made.all);
    hold(true);
    const MaarResident evicted = made.all[0];
    const MaarUse use = begin_use(evicted, MAAR_ACCESS_WRITE_BIT, MAAR_USE_MAY_DEMOTE_BIT);
    assert_int_equal(object.tier, MAAR_TIER_HOST);
    fill_and_end(use, 500);
    unpin_device(pins);
    expect_buffer(evicted, 500);
    assert_int_equal(object.tier, MAAR_TIER_DEVICE);
    hold(false);
    close_scene();
}

/* What makes room need not have been copied yet: the next object takes its bytes, and waits. */
static void evictions_under_way_hold_up_no_use(void** state)
{
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    open_scene(8);
    make_buffers(DEVICE_UNITS);
    settle();
    hold(true);
    const MaarResident resident = create_buffer(UNIT, 0);
    assert_int_equal(try_use(resident, MAAR_ACCESS_OVERWRITE_BIT, 0, &use), VK_SUCCESS);
    assert_int_equal(answer.mustWait, VK_TRUE);
    assert_int_equal(answer.evictedSize, UNIT);
    fill_and_end(use, 9);
    hold(false);
    expect_buffer(resident, 9);
    expect_buffers();
    close_scene();
}

/* ---- layouts ---- */

static MaarUse begin_layout(MaarResident image, MaarAccessFlags access, VkImageLayout layout)
{
    const MaarResidentUse one = {image, access, layout};
    MaarUse use = VK_NULL_HANDLE;
    assert_int_equal(try_uses(1, &one, MAAR_USE_WAIT_BIT, &object, &use), VK_SUCCESS);
    return use;
}

static void end_now(MaarUse use)
{
    (void)begin_commands();
    end_use_at(use, submit_commands());
}

/* Two uses of an image are submitted in the order of their begins, and ended in the other one. */
static void layout_is_that_of_the_use_that_began_last(void** state)
{
    (void)state;
    open_scene(4);
    const MaarResident image = create_image(64);
    const MaarUse first =
        begin_layout(image, MAAR_ACCESS_OVERWRITE_BIT, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    assert_int_equal(object.layout, VK_IMAGE_LAYOUT_UNDEFINED);
    const MaarUse second =
        begin_layout(image, MAAR_ACCESS_WRITE_BIT, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    assert_int_equal(object.layout, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    assert_int_equal(object.isFresh, VK_FALSE);
    end_now(second);
    end_now(first);
    assert_int_equal(state_of(image).object.layout, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    close_scene();
}

/* A use that is cancelled leaves the layout to what begins behind it. */
static void layout_of_a_cancelled_use_does_not_count(void** state)
{
    (void)state;
    open_scene(4);
    const MaarResident image = create_image(64);
    const MaarUse first =
        begin_layout(image, MAAR_ACCESS_OVERWRITE_BIT, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    cancel_use(begin_layout(image, MAAR_ACCESS_WRITE_BIT, VK_IMAGE_LAYOUT_GENERAL));
    const MaarUse third = begin_layout(image, MAAR_ACCESS_READ_BIT, VK_IMAGE_LAYOUT_UNDEFINED);
    assert_int_equal(object.layout, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    end_now(first);
    end_now(third);
    assert_int_equal(state_of(image).object.layout, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    close_scene();
}

/* Contents without a layout could not be copied. */
static void image_written_without_a_layout_is_refused(void** state)
{
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    open_scene(4);
    MaarResidentUse one = {create_image(64), MAAR_ACCESS_OVERWRITE_BIT, VK_IMAGE_LAYOUT_UNDEFINED};
    assert_int_equal(try_uses(1, &one, 0, NULL, &use), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_INVALID_LAYOUT, "finalLayout");
    one.access = MAAR_ACCESS_WRITE_BIT;
    assert_int_equal(try_uses(1, &one, 0, NULL, &use), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_INVALID_LAYOUT, "finalLayout");
    one.access = MAAR_ACCESS_READ_BIT;
    assert_int_equal(try_uses(1, &one, 0, NULL, &use), VK_SUCCESS);
    cancel_use(use);
    close_scene();
}

/* What a submission uses that has not ended gives its place to one resident, and not to none. */
static void resident_in_flight_makes_room_at_once(void** state)
{
    MaarResident all[5];
    (void)state;
    open_scene(8);
    for (uint32_t i = 0; i < 5; ++i) {
        all[i] = create_buffer(UNIT, 0);
        write_buffer(all[i], i);
    }
    settle();
    hold(true);
    for (uint32_t i = 1; i < 5; ++i) {
        const MaarUse use = begin_use(all[i], MAAR_ACCESS_READ_BIT, 0);
        (void)begin_commands();
        end_use_at(use, submit_commands());
    }
    MaarUse use = VK_NULL_HANDLE;
    assert_int_equal(try_use(all[0], MAAR_ACCESS_READ_BIT, 0, &use), VK_SUCCESS);
    assert_int_equal(answer.evictedSize, UNIT);
    assert_int_equal(answer.restoredSize, UNIT);
    hold(false);
    compare_and_end(use, all[0], 0);
    for (uint32_t i = 1; i < 5; ++i) {
        expect_buffer(all[i], i);
    }
    close_scene();
}

/* Returns the reason of the last event in which a resident went to a tier. */
static MaarResidencyReason reason_of(MaarResident resident, MaarTier to)
{
    MaarResidencyReason reason = MAAR_RESIDENCY_REASON_MAX_ENUM;
    for (uint32_t i = 0; i < event_count; ++i) {
        if (events[i].resident == resident && events[i].to == to) {
            reason = events[i].reason;
        }
    }
    return reason;
}

static void events_say_why(void** state)
{
    (void)state;
    open_scene(8);
    make_buffers(DEVICE_UNITS + 1);
    settle();
    const bool first = is_in(made.all[0], MAAR_TIER_DEVICE);
    const MaarResident away = made.all[first ? DEVICE_UNITS : 0];
    assert_false(is_in(away, MAAR_TIER_DEVICE));
    event_count = 0;
    MaarUse use = begin_use(away, MAAR_ACCESS_READ_BIT, 0);
    cancel_use(use);
    assert_int_equal(reason_of(away, MAAR_TIER_DEVICE), MAAR_RESIDENCY_REASON_USE);
    MaarResident gone = VK_NULL_HANDLE;
    for (uint32_t i = 0; i < DEVICE_UNITS + 1; ++i) {
        gone = is_in(made.all[i], MAAR_TIER_DEVICE) ? gone : made.all[i];
    }
    assert_int_equal(reason_of(gone, MAAR_TIER_HOST), MAAR_RESIDENCY_REASON_ROOM);
    event_count = 0;
    assert_int_equal(maarEvictResident(rig->allocator, manager, away), VK_SUCCESS);
    assert_int_equal(maarPrefetchResidents(rig->allocator, manager, 1, &gone), VK_SUCCESS);
    update();
    assert_int_equal(reason_of(gone, MAAR_TIER_DEVICE), MAAR_RESIDENCY_REASON_REQUEST);
    assert_int_equal(reason_of(away, MAAR_TIER_HOST), MAAR_RESIDENCY_REASON_ROOM);
    close_scene();
}

/* A resident on the device is an object of its name. */
static void captures_have_names_of_residents(void** state)
{
    (void)state;
    struct support_history history;
    char path[128];
    open_scene(8);
    assert_int_equal(captured_begin(rig->allocator, captured_path(0, path), 0), VK_SUCCESS);
    const VkBufferCreateInfo buffer = rig_buffer_info(UNIT);
    const MaarResidentCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .pBufferInfo = &buffer,
        .pName = "weights",
    };
    const MaarResident named = create_resident(&info);
    write_buffer(named, 1);
    assert_int_equal(maarEndCapture(rig->allocator), VK_SUCCESS);
    captured_load(path, &history);
    const struct support_history_resource* const weights = captured_find(&history, "weights");
    assert_non_null(weights);
    assert_int_equal(weights->kind, SUPPORT_HISTORY_BUFFER);
    support_history_release(&history);
    close_scene();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(captures_have_names_of_residents),
        rig_unit_test(evictions_into_a_full_host_tier_keep_contents),
        rig_unit_test(prefetch_into_a_full_host_tier_keeps_contents),
        rig_unit_test(demoted_writes_beside_work_keep_contents),
        rig_unit_test(not_compressed_contents_stay_in_host_memory),
        rig_unit_test(demoted_overwriting_beside_a_read_keeps_contents),
        rig_unit_test(loss_is_over_when_contents_are_overwritten),
        rig_unit_test(file_that_failed_is_tried_again_by_the_next_update),
        rig_unit_test(loss_is_reported_once),
        rig_unit_test(contents_are_not_hidden_by_uses_that_should_be_cancelled),
        rig_unit_test(read_after_a_cancelled_demotion_spares_copies_under_way),
        rig_unit_test(failed_demotion_is_forgotten),
        rig_unit_test(restore_waits_for_uses_in_host_memory),
        rig_unit_test(restore_waits_for_uses_on_another_queue),
        rig_unit_test(evictions_under_way_hold_up_no_use),
        rig_unit_test(layout_is_that_of_the_use_that_began_last),
        rig_unit_test(layout_of_a_cancelled_use_does_not_count),
        rig_unit_test(image_written_without_a_layout_is_refused),
        rig_unit_test(resident_in_flight_makes_room_at_once),
        rig_unit_test(events_say_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
