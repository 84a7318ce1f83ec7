/*
 * Whoever declares a read and writes is reported once, with the resident's name; honest programs
 * never are, whatever their residents are and wherever the copies lie.
 */
#include "tests/unit/residency/residency_fixture.h"

enum { BUFFERS = 12 };

static void open_checking(void)
{
    MaarResidencyCreateInfo info = manager_info(4 * UNIT, 8 * UNIT);
    info.flags = MAAR_RESIDENCY_CREATE_CHECK_READS_BIT;
    info.compressedBudget = 16 * UNIT;
    info.pfnEvent = NULL;
    open_device();
    open_manager(&info);
}

static MaarResident create_named(const char* name)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(UNIT);
    const MaarResidentCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .pBufferInfo = &buffer,
        .pName = name,
    };
    return create_resident(&info);
}

/* Others take its place on the device. */
static void displace(const MaarResident* others)
{
    for (uint32_t i = 0; i < 4; ++i) {
        expect_buffer(others[i], 100 + i);
    }
}

static void make_others(MaarResident* others)
{
    for (uint32_t i = 0; i < 4; ++i) {
        others[i] = create_buffer(UNIT, 0);
        write_buffer(others[i], 100 + i);
    }
}

/* A program that reads a resident after it has come from below, and writes to it. */
static void forget(MaarResident resident)
{
    const MaarUse use = begin_use(resident, MAAR_ACCESS_READ_BIT, 0);
    fill_and_end(use, 7);
}

static void reader_that_writes_is_reported_once(void** state)
{
    MaarResident others[4];
    (void)state;
    open_checking();
    const MaarResident resident = create_named("weights");
    write_buffer(resident, 1);
    make_others(others);
    displace(others);
    assert_false(is_in(resident, MAAR_TIER_DEVICE));
    rig_expect_silence(rig);
    forget(resident);
    displace(others);
    assert_false(is_in(resident, MAAR_TIER_DEVICE));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_READ_BUT_WRITTEN, "weights");
    rig_forget_messages(rig);
    forget(resident);
    displace(others);
    rig_expect_silence(rig);
    close_scene();
}

static VkResult VKAPI_PTR read_ones(void* data, VkDeviceSize size, void* bytes)
{
    (void)data;
    for (VkDeviceSize i = 0; i < size / sizeof(uint32_t); ++i) {
        ((uint32_t*)bytes)[i] = 1;
    }
    return VK_SUCCESS;
}

/* The copy in host memory has gone: the source has the contents. */
static void copy_in_host_memory_is_not_needed(void** state)
{
    MaarResident others[4];
    (void)state;
    for (uint32_t forgets = 0; forgets < 2; ++forgets) {
        open_checking();
        find_heap();
        const MaarResident resident = create_sourced(UNIT, read_ones, NULL);
        expect_buffer(resident, 1);
        if (forgets == 1) {
            forget(resident);
        }
        settle();
        (void)maarYieldResidency(rig->allocator, manager, ~(1u << memory_type), 64 * UNIT, 0, NULL);
        assert_false(is_in(resident, MAAR_TIER_HOST));
        assert_true(is_in(resident, MAAR_TIER_DEVICE));
        make_others(others);
        displace(others);
        assert_false(is_in(resident, MAAR_TIER_DEVICE));
        if (forgets == 1) {
            rig_expect_message(rig, MAAR_MESSAGE_ID_READ_BUT_WRITTEN);
            rig_forget_messages(rig);
        }
        expect_buffer(resident, 1);
        close_scene();
    }
}

static void honest_programs_are_never_reported(void** state)
{
    MaarResident all[BUFFERS];
    uint32_t words[BUFFERS];
    MaarResident images[4];
    struct rig_random dice = {rig_seed(9)};
    (void)state;
    open_checking();
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        all[i] = create_buffer(UNIT, 0);
        words[i] = i + 1;
        write_buffer(all[i], words[i]);
    }
    for (uint32_t i = 0; i < 4; ++i) {
        images[i] = create_image(61 + i);
    }
    for (uint32_t i = 0; i < 400; ++i) {
        const uint32_t at = rig_below(&dice, BUFFERS);
        const uint32_t what = rig_below(&dice, 8);
        if (what == 0) {
            update();
        } else if (what == 1) {
            do_work();
        } else if (what == 2) {
            write_buffer(all[at], words[at] = 100 + i);
        } else if (what == 3) {
            hold(rig_below(&dice, 2) == 0);
        } else if (what == 4) {
            const VkClearColorValue color = {.float32 = {0.5f}};
            const VkImageSubresourceRange range = {VK_IMAGE_ASPECT_COLOR_BIT, 0,
                                                   VK_REMAINING_MIP_LEVELS, 0,
                                                   VK_REMAINING_ARRAY_LAYERS};
            const bool is_new = state_of(images[at % 4]).tier == MAAR_TIER_NONE;
            const MaarUse use = begin_use(
                images[at % 4], is_new ? MAAR_ACCESS_OVERWRITE_BIT : MAAR_ACCESS_READ_BIT, 0);
            VkCommandBuffer into = begin_commands();
            if (is_new) {
                const VkImageMemoryBarrier change = {
                    .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                    .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                    .newLayout = VK_IMAGE_LAYOUT_GENERAL,
                    .image = object.image,
                    .subresourceRange = range,
                };
                vkCmdPipelineBarrier(into, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1,
                                     &change);
                vkCmdClearColorImage(into, object.image, VK_IMAGE_LAYOUT_GENERAL, &color, 1,
                                     &range);
            }
            end_use_at(use, submit_commands());
        } else {
            expect_buffer(all[at], words[at]);
        }
    }
    hold(false);
    assert_true(manager_state().tiers[MAAR_TIER_DEVICE].cleanCount > 20);
    rig_expect_silence(rig);
    close_scene();
}

static void checking_keeps_contents_when_it_fails(void** state)
{
    MaarResident all[BUFFERS];
    (void)state;
    open_checking();
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        all[i] = create_buffer(UNIT, 0);
        write_buffer(all[i], i + 1);
    }
    for (uint64_t nth = 1; nth < 12; ++nth) {
        MaarUse use = VK_NULL_HANDLE;
        rig_set_fault(rig, "vkCreateBuffer", nth, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
        if (try_use(all[nth], MAAR_ACCESS_READ_BIT, MAAR_USE_WAIT_BIT, &use) == VK_SUCCESS) {
            cancel_use(use);
        }
        assert_int_equal(maarSimulatedSetFault(rig->physical, NULL), VK_SUCCESS);
        rig_forget_messages(rig);
        expect_no_pins();
    }
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        expect_buffer(all[i], i + 1);
    }
    close_scene();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(reader_that_writes_is_reported_once),
        rig_unit_test(copy_in_host_memory_is_not_needed),
        rig_unit_test(honest_programs_are_never_reported),
        rig_unit_test(checking_keeps_contents_when_it_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
