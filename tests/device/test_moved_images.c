/*
 * Movable images of many formats, shapes, tilings and layouts: each is filled, moved in a batch
 * with all others, and read back from its new image. Nothing but what Maar records orders the
 * copies: neither the commands before nor those after them have a barrier of their own.
 *
 * Runs on real drivers under the validation layer, and on simulated devices that check contents,
 * synchronization and layouts.
 */
#include "tests/device/image_formats.h"

enum { MOST_IMAGES = 512, BUFFER_BYTES = 4 << 20 };

static struct rig rig;

static const VkImageLayout layouts[] = {VK_IMAGE_LAYOUT_GENERAL,
                                        VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                        VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL};

/* ---- images ---- */

struct moved_image {
    const struct format* format;
    VkImageCreateInfo info;
    VkImageLayout layout; /* between the commands */
    VkImage image;
    MaarAllocation memory;
    uint32_t region_count;
    VkDeviceSize begin, end; /* its bytes in the buffers */
    VkBufferImageCopy regions[MOST_LEVELS * MOST_PLANES];
};

static struct moved_image images[MOST_IMAGES];
static uint32_t image_count;
static VkDeviceSize used_bytes;
static VkBuffer buffers[2]; /* what goes in, and what comes out */
static MaarAllocation buffer_memories[2];
static uint8_t* bytes[2];

static VkDeviceSize region_bytes(const struct moved_image* image, uint32_t at)
{
    const VkBufferImageCopy* region = &image->regions[at];
    const struct plane* plane = &image->format->planes[at % image->format->plane_count];
    return (VkDeviceSize)in_blocks(region->imageExtent.width, image->format->block) *
           in_blocks(region->imageExtent.height, image->format->block) * region->imageExtent.depth *
           image->info.arrayLayers * plane->bytes;
}

/* Lists the copies of all levels and planes of an image, with all layers. */
static void list_regions(struct moved_image* image)
{
    const struct format* format = image->format;
    image->region_count = image->info.mipLevels * format->plane_count;
    image->begin = used_bytes;
    for (uint32_t i = 0; i < image->region_count; ++i) {
        const uint32_t level = i / format->plane_count;
        const struct plane* plane = &format->planes[i % format->plane_count];
        image->regions[i] = (VkBufferImageCopy){
            .bufferOffset = used_bytes,
            .imageSubresource = {plane->aspect, level, 0, image->info.arrayLayers},
            .imageExtent = {level_of(image->info.extent.width, level) / plane->divide_x,
                            level_of(image->info.extent.height, level) / plane->divide_y,
                            level_of(image->info.extent.depth, level)},
        };
        used_bytes = (used_bytes + region_bytes(image, i) + 47) / 48 * 48;
    }
    image->end = used_bytes;
    assert_true(used_bytes <= BUFFER_BYTES);
}

static VkSampleCountFlagBits add_samples = VK_SAMPLE_COUNT_1_BIT;

/* Creates an image, if the device supports it. */
static void add_image(const struct format* format, const struct shape* shape, VkImageTiling tiling)
{
    const MaarMovableInfo movable = {.sType = MAAR_STRUCTURE_TYPE_MOVABLE_INFO};
    struct moved_image* image = &images[image_count];
    const bool is_planar = format->plane_count > 1 && format->aspects == COLOR;
    const VkImageUsageFlags transfers =
        VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    *image = (struct moved_image){
        .format = format,
        .info =
            {
                .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                .imageType = shape->type,
                .format = format->format,
                .extent = shape->extent,
                .mipLevels = is_planar ? 1 : shape->levels,
                .arrayLayers = is_planar ? 1 : shape->layers,
                .samples = add_samples,
                .tiling = tiling,
                .usage = format->usage | transfers,
                .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
            },
        .layout = layouts[image_count % (sizeof layouts / sizeof layouts[0])],
    };
    if ((is_planar && shape->type != VK_IMAGE_TYPE_2D) ||
        !is_supported(rig.physical, &image->info)) {
        return;
    }
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &movable;
    /* Maar adds one of these usages by itself. */
    image->info.usage &= ~(VkImageUsageFlags)VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    assert_int_equal(
        maarCreateImage(rig.allocator, &image->info, &how, &image->image, &image->memory),
        VK_SUCCESS);
    list_regions(image);
    ++image_count;
}

/* What a group of images is made of: the next case, counted through all of them. */
enum { CASES = 2 * FORMATS * SHAPES };

/* Creates images for the cases from a first one on, and returns the case behind the last one. */
static uint32_t create_group(uint32_t first, uint32_t most)
{
    static const VkImageTiling tilings[] = {VK_IMAGE_TILING_OPTIMAL, VK_IMAGE_TILING_LINEAR};
    uint32_t at = first;
    image_count = 0;
    used_bytes = 0;
    for (; at < CASES && image_count < most; ++at) {
        add_image(&formats[at / SHAPES % FORMATS], &shapes[at % SHAPES],
                  tilings[at / SHAPES / FORMATS]);
    }
    return at;
}

static void create_buffers(void)
{
    const VkBufferCreateInfo info = rig_buffer_info(BUFFER_BYTES);
    for (uint32_t i = 0; i < 2; ++i) {
        MaarAllocationCreateInfo how =
            rig_how(i == 0 ? MAAR_MEMORY_USAGE_UPLOAD : MAAR_MEMORY_USAGE_READBACK);
        how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
        how.requiredFlags = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
        assert_int_equal(
            maarCreateBuffer(rig.allocator, &info, &how, &buffers[i], &buffer_memories[i]),
            VK_SUCCESS);
        bytes[i] = maarGetMappedData(rig.allocator, buffer_memories[i]);
        assert_non_null(bytes[i]);
    }
}

/* ---- commands ---- */

static VkCommandPool pools[2];
static VkCommandBuffer commands[2];

static void transition(VkCommandBuffer into, const struct moved_image* image, VkImageLayout from,
                       VkImageLayout to, VkPipelineStageFlags before, VkPipelineStageFlags after)
{
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image->image,
        .subresourceRange = {image->format->aspects, 0, VK_REMAINING_MIP_LEVELS, 0,
                             VK_REMAINING_ARRAY_LAYERS},
    };
    if (from != to) {
        vkCmdPipelineBarrier(into, before, after, 0, 0, NULL, 0, NULL, 1, &barrier);
    }
}

static void record_fill(VkCommandBuffer into)
{
    for (uint32_t i = 0; i < image_count; ++i) {
        const VkImageLayout filled = images[i].layout == VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL
                                         ? VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL
                                         : images[i].layout;
        transition(into, &images[i], VK_IMAGE_LAYOUT_UNDEFINED, filled,
                   VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT);
        vkCmdCopyBufferToImage(into, buffers[0], images[i].image, filled, images[i].region_count,
                               images[i].regions);
        transition(into, &images[i], filled, images[i].layout, VK_PIPELINE_STAGE_TRANSFER_BIT,
                   VK_PIPELINE_STAGE_TRANSFER_BIT);
    }
}

static void record_read(VkCommandBuffer into)
{
    for (uint32_t i = 0; i < image_count; ++i) {
        const VkImageLayout read = images[i].layout == VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL
                                       ? VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL
                                       : images[i].layout;
        transition(into, &images[i], images[i].layout, read, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                   VK_PIPELINE_STAGE_TRANSFER_BIT);
        vkCmdCopyImageToBuffer(into, images[i].image, read, buffers[1], images[i].region_count,
                               images[i].regions);
        transition(into, &images[i], read, images[i].layout, VK_PIPELINE_STAGE_TRANSFER_BIT,
                   VK_PIPELINE_STAGE_TRANSFER_BIT);
    }
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(into, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &barrier, 0, NULL, 0, NULL);
}

static void submit(VkCommandBuffer recorded)
{
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &recorded};
    assert_int_equal(vkEndCommandBuffer(recorded), VK_SUCCESS);
    assert_int_equal(vkQueueSubmit(rig.queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
}

/* ---- contents ---- */

/* Chooses contents that no image had before. */
static void choose_contents(uint32_t seed)
{
    struct rig_random random = {seed};
    for (VkDeviceSize at = 0; at < used_bytes; at += 4) {
        /* Floating-point numbers between 0 and 1, since depths are. */
        const uint32_t word = 0x3F000000u | (rig_next(&random) & 0x007FFFFFu);
        memcpy(bytes[0] + at, &word, 4);
    }
    memset(bytes[1], 0xEE, used_bytes);
}

static void compare_region(const struct moved_image* image, uint32_t at)
{
    const struct plane* plane = &image->format->planes[at % image->format->plane_count];
    const VkDeviceSize begin = image->regions[at].bufferOffset;
    const VkDeviceSize end = begin + region_bytes(image, at);
    for (VkDeviceSize i = begin; i < end; i += plane->bytes) {
        if (memcmp(bytes[0] + i, bytes[1] + i, plane->kept) != 0) {
            fail_msg("format %d, type %d, tiling %d, layout %d: byte %llu of region %u of %u",
                     (int)image->info.format, (int)image->info.imageType, (int)image->info.tiling,
                     (int)image->layout, (unsigned long long)(i - begin), at, image->region_count);
        }
    }
}

static void compare_all(void)
{
    for (uint32_t i = 0; i < image_count; ++i) {
        for (uint32_t at = 0; at < images[i].region_count; ++at) {
            compare_region(&images[i], at);
        }
    }
}

/* ---- moves ---- */

static uint32_t main_queue(void)
{
    uint32_t at = 0;
    while (rig.create_info.pQueues[at].familyIndex != rig.recommendation.mainQueueFamily) {
        ++at;
        assert_true(at < rig.create_info.queueCount);
    }
    return at;
}

static MaarMoveBatch begin_all(void)
{
    static MaarMoveRequest requests[MOST_IMAGES];
    static MaarMovedImageLayout known[MOST_IMAGES];
    MaarMoveBatch batch = VK_NULL_HANDLE;
    for (uint32_t i = 0; i < image_count; ++i) {
        requests[i] = (MaarMoveRequest){.allocation = images[i].memory};
        known[i] = (MaarMovedImageLayout){images[i].memory, images[i].layout};
    }
    const MaarMoveBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO,
        .requestCount = image_count,
        .pRequests = requests,
    };
    assert_int_equal(maarBeginMoves(rig.allocator, &info, &batch), VK_SUCCESS);
    assert_int_equal(maarCreateMovedObjects(rig.allocator, batch), VK_SUCCESS);
    assert_int_equal(maarSetMovedImageLayouts(rig.allocator, batch, image_count, known),
                     VK_SUCCESS);
    return batch;
}

/* Fills all images, copies them, and reads either the new images or the old ones. */
static void move_all(uint32_t round, bool commits)
{
    uint32_t moved = 0;
    MaarPoint copied = {0};
    const MaarMoveSubmitInfo info = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO,
                                     .queueIndex = main_queue()};
    choose_contents(round + 1);
    commands[0] = rig_open_commands(&rig, &pools[0]);
    record_fill(commands[0]);
    submit(commands[0]);
    const MaarMoveBatch batch = begin_all();
    assert_int_equal(maarSubmitMoves(rig.allocator, batch, &info, &copied), VK_SUCCESS);
    if (commits) {
        assert_int_equal(maarCommitMoves(rig.allocator, batch, 0, NULL, &moved), VK_SUCCESS);
        assert_int_equal(moved, image_count);
    } else {
        assert_int_equal(maarCancelMoves(rig.allocator, batch, 0, NULL), VK_SUCCESS);
    }
    for (uint32_t i = 0; i < image_count; ++i) {
        const VkImage old = images[i].image;
        assert_int_equal(
            maarGetMovableObject(rig.allocator, images[i].memory, NULL, &images[i].image),
            VK_SUCCESS);
        assert_true((images[i].image != old) == commits);
    }
    commands[1] = rig_open_commands(&rig, &pools[1]);
    record_read(commands[1]);
    submit(commands[1]);
    assert_int_equal(vkQueueWaitIdle(rig.queue), VK_SUCCESS);
    compare_all();
    assert_int_equal(maarWaitPending(rig.allocator, 10000000000), VK_SUCCESS);
    for (uint32_t i = 0; i < 2; ++i) {
        vkDestroyCommandPool(rig.device, pools[i], NULL);
    }
}

/* Moves all images that the device supports, some at a time. The rig is open. */
static void move_images(uint32_t at_a_time)
{
    uint32_t total = 0;
    create_buffers();
    for (uint32_t next = 0; next < CASES;) {
        next = create_group(next, at_a_time);
        for (uint32_t round = 0; round < 3; ++round) {
            move_all(next + round, round != 1);
            rig_check(&rig);
        }
        for (uint32_t i = 0; i < image_count; ++i) {
            maarDestroyImage(rig.allocator, images[i].image, images[i].memory);
        }
        total += image_count;
    }
    for (uint32_t i = 0; i < 2; ++i) {
        maarDestroyBuffer(rig.allocator, buffers[i], buffer_memories[i]);
    }
    assert_int_equal(rig_statistics(&rig, VK_NULL_HANDLE).allocationCount, 0);
    print_message("%u of %u images are supported\n", total, (uint32_t)CASES);
    assert_true(total >= 40);
}

static int open_rig(void** state)
{
    return rig_setup_driver(&rig, state);
}

static void images_keep_their_contents(void** state)
{
    rig_need(state, !rig_is_without_driver(), "drivers have entries of their own");
    rig_need(state, rig_executes(), "commands do not execute on this driver");
    move_images(MOST_IMAGES);
}

/* Clears each layer of an image of four samples with a color of its own. */
static void record_clears(VkCommandBuffer into, const struct moved_image* image)
{
    transition(into, image, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL,
               VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT);
    for (uint32_t i = 0; i < image->info.arrayLayers; ++i) {
        const VkClearColorValue color = {.uint32 = {i + 1, 2 * i + 1, 3 * i + 1, 4 * i + 1}};
        const VkImageSubresourceRange range = {COLOR, 0, 1, i, 1};
        vkCmdClearColorImage(into, image->image, VK_IMAGE_LAYOUT_GENERAL, &color, 1, &range);
    }
}

/* Resolves each layer into an image of one sample, and copies that to the buffer. */
static void record_resolves(VkCommandBuffer into, const struct moved_image* image,
                            const struct moved_image* plain)
{
    const VkImageSubresourceLayers layers = {COLOR, 0, 0, image->info.arrayLayers};
    const VkImageResolve region = {
        .srcSubresource = layers, .dstSubresource = layers, .extent = image->info.extent};
    transition(into, plain, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
               VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT);
    vkCmdResolveImage(into, image->image, VK_IMAGE_LAYOUT_GENERAL, plain->image,
                      VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
    transition(into, plain, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
               VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, VK_PIPELINE_STAGE_TRANSFER_BIT,
               VK_PIPELINE_STAGE_TRANSFER_BIT);
    vkCmdCopyImageToBuffer(into, plain->image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, buffers[1],
                           plain->region_count, plain->regions);
}

static void multisampled_images_keep_their_contents(void** state)
{
    static const struct format words = COLORS(R8G8B8A8_UINT, 1, 4);
    static const struct shape shape = {VK_IMAGE_TYPE_2D, {16, 16, 1}, 1, 3};
    rig_need(state, rig_is("lavapipe"), "only lavapipe resolves images of integers");
    image_count = 0;
    used_bytes = 0;
    create_buffers();
    add_image(&words, &shape, VK_IMAGE_TILING_OPTIMAL);
    assert_int_equal(image_count, 1);
    struct moved_image plain = images[0];
    image_count = 0;
    add_samples = VK_SAMPLE_COUNT_4_BIT;
    add_image(&words, &shape, VK_IMAGE_TILING_OPTIMAL);
    add_samples = VK_SAMPLE_COUNT_1_BIT;
    assert_int_equal(image_count, 1);
    images[0].layout = VK_IMAGE_LAYOUT_GENERAL;
    const MaarMoveSubmitInfo info = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO,
                                     .queueIndex = main_queue()};
    commands[0] = rig_open_commands(&rig, &pools[0]);
    record_clears(commands[0], &images[0]);
    submit(commands[0]);
    const MaarMoveBatch batch = begin_all();
    assert_int_equal(maarSubmitMoves(rig.allocator, batch, &info, NULL), VK_SUCCESS);
    assert_int_equal(maarCommitMoves(rig.allocator, batch, 0, NULL, NULL), VK_SUCCESS);
    assert_int_equal(maarGetMovableObject(rig.allocator, images[0].memory, NULL, &images[0].image),
                     VK_SUCCESS);
    commands[1] = rig_open_commands(&rig, &pools[1]);
    record_resolves(commands[1], &images[0], &plain);
    submit(commands[1]);
    assert_int_equal(vkQueueWaitIdle(rig.queue), VK_SUCCESS);
    for (uint32_t i = 0; i < 3 * 16 * 16; ++i) {
        const uint8_t layer = (uint8_t)(i / (16 * 16));
        const uint8_t expected[4] = {(uint8_t)(layer + 1), (uint8_t)(2 * layer + 1),
                                     (uint8_t)(3 * layer + 1), (uint8_t)(4 * layer + 1)};
        assert_memory_equal(bytes[1] + plain.begin + 4 * i, expected, 4);
    }
    assert_int_equal(maarWaitPending(rig.allocator, 10000000000), VK_SUCCESS);
    maarDestroyImage(rig.allocator, images[0].image, images[0].memory);
    maarDestroyImage(rig.allocator, plain.image, plain.memory);
    for (uint32_t i = 0; i < 2; ++i) {
        vkDestroyCommandPool(rig.device, pools[i], NULL);
        maarDestroyBuffer(rig.allocator, buffers[i], buffer_memories[i]);
    }
}

static void images_keep_their_contents_on_simulated_devices(void** state)
{
    (void)state;
    rig_need_simulated_devices();
    for (size_t i = 0; i < RIG_VENDORS; ++i) {
        const struct rig_setup setup = {
            .profile = rig_profile_file(rig_vendors[i]),
            .flags = MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_CONTENTS_BIT |
                     MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT,
            .paging = true,
        };
        print_message("%s: ", rig_vendors[i]);
        rig_open(&rig, &setup);
        rig_make_allocator(&rig);
        move_images(12);
        rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(images_keep_their_contents, open_rig, rig_teardown),
        cmocka_unit_test_setup_teardown(multisampled_images_keep_their_contents, open_rig,
                                        rig_teardown),
        cmocka_unit_test(images_keep_their_contents_on_simulated_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
