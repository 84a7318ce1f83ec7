/*
 * Images of many formats, aspects, shapes, levels and layouts as residents: placed, and made of
 * tiles. Their contents come from a source, which lays them out as the header says; then others are
 * written, leave the device for host memory, and from there for a file, and come back. Each texel
 * is compared, and the layouts are those that were said.
 *
 * Runs on a real driver under the validation layer, and on simulated devices that check contents,
 * synchronization and layouts.
 */
#include "core/residency/residency_tiers.h"
#include "tests/device/image_formats.h"

#include "tests/device/resident_commands.h"
#include "tests/device/resident_files.h"

enum {
    MOST_IMAGES = 24,
    BUFFER_BYTES = 4 << 20,
    SOURCE_BYTES = 32 << 10,
    CASES = FORMATS * SHAPES
};

static const VkImageLayout layouts[] = {VK_IMAGE_LAYOUT_GENERAL,
                                        VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                        VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL};

static struct image {
    const struct format* format;
    VkImageCreateInfo info;
    VkImageLayout layout; /* after each use */
    MaarResident resident;
    MaarSparseImage sparse; /* or null */
    uint32_t region_count;
    VkBufferImageCopy regions[MOST_LEVELS * MOST_PLANES]; /* in the buffers */
    VkDeviceSize source_size;
    uint8_t source[SOURCE_BYTES];
} images[MOST_IMAGES];
static uint32_t image_count;
static VkDeviceSize used_bytes;
static MaarResidency residency;
static VkBuffer buffers[2]; /* what goes in, and what comes out */
static MaarAllocation buffer_memories[2];
static uint8_t* bytes[2];
static struct rig_random dice = {5};

/* ---- images ---- */

static VkResult VKAPI_PTR read_source(void* data, VkDeviceSize size, void* into)
{
    const struct image* image = data;
    assert_int_equal(size, image->source_size);
    memcpy(into, image->source, (size_t)size);
    return VK_SUCCESS;
}

static const struct plane* plane_of(const struct image* image, uint32_t region)
{
    return &image->format->planes[region % image->format->plane_count];
}

static VkDeviceSize bytes_of(const struct image* image, uint32_t region)
{
    const VkExtent3D extent = image->regions[region].imageExtent;
    return (VkDeviceSize)in_blocks(extent.width, image->format->block) *
           in_blocks(extent.height, image->format->block) * extent.depth * image->info.arrayLayers *
           plane_of(image, region)->bytes;
}

/* Lists the regions of an image, and puts the contents of its source in the buffer, too: level
 * after level, in each level its aspects, each at a multiple of its texel block, or of four of
 * them. */
static void list_regions(struct image* image)
{
    image->region_count = image->info.mipLevels * image->format->plane_count;
    image->source_size = 0;
    for (uint32_t i = 0; i < image->region_count; ++i) {
        const uint32_t level = i / image->format->plane_count;
        const struct plane* plane = plane_of(image, i);
        const uint32_t unit = plane->bytes % 4 == 0 ? plane->bytes : 4 * plane->bytes;
        image->regions[i] = (VkBufferImageCopy){
            .bufferOffset = used_bytes,
            .imageSubresource = {plane->aspect, level, 0, image->info.arrayLayers},
            .imageExtent = {level_of(image->info.extent.width, level),
                            level_of(image->info.extent.height, level),
                            level_of(image->info.extent.depth, level)},
        };
        const VkDeviceSize size = bytes_of(image, i);
        image->source_size = (image->source_size + unit - 1) / unit * unit;
        assert_true(image->source_size + size <= SOURCE_BYTES);
        for (VkDeviceSize at = 0; at + 4 <= size; at += 4) {
            /* Floating-point numbers between 0 and 1, since depths are. */
            const uint32_t word = 0x3F000000u | (rig_next(&dice) & 0x007FFFFFu);
            memcpy(image->source + image->source_size + at, &word, 4);
        }
        memcpy(bytes[0] + used_bytes, image->source + image->source_size, (size_t)size);
        image->source_size += size;
        used_bytes = (used_bytes + size + 47) / 48 * 48;
    }
    assert_true(used_bytes <= BUFFER_BYTES);
}

/* Whether a driver is to be trusted with tiles of a format. lavapipe gives those of depth images
 * the color aspect, and puts texels of 12 bytes into wrong tiles. */
static bool has_right_tiles(const struct format* format)
{
    const uint32_t size = format->planes[0].bytes;
    return rig.simulated || (format->aspects == COLOR && (size & (size - 1)) == 0);
}

/* Makes tiles of the device's memory stand behind an image, if it can have them. */
static bool make_sparse(struct image* image)
{
    MaarPagingInfo paging = {.sType = MAAR_STRUCTURE_TYPE_PAGING_INFO};
    const MaarSparseImageCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_CREATE_INFO,
                                            .pImageInfo = &image->info};
    assert_int_equal(maarGetPagingInfo(rig.allocator, &paging), VK_SUCCESS);
    const bool is_made = image->info.imageType == VK_IMAGE_TYPE_2D && paging.sparseImages2D &&
                         image->format->plane_count == 1 && has_right_tiles(image->format) &&
                         maarCreateSparseImage(rig.allocator, &info, &image->sparse) == VK_SUCCESS;
    rig_forget_messages(&rig); /* of formats that have no tiles */
    return is_made;
}

/* Adds an image, if the device supports it. */
static void add_image(uint32_t number, bool is_sparse)
{
    struct image* image = &images[image_count];
    const struct shape* shape = &shapes[number % SHAPES];
    const struct format* format = &formats[number / SHAPES];
    *image = (struct image){
        .format = format,
        .info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                 .imageType = shape->type,
                 .format = format->format,
                 .extent = shape->extent,
                 .mipLevels = shape->levels,
                 .arrayLayers = shape->layers,
                 .samples = VK_SAMPLE_COUNT_1_BIT,
                 .tiling = VK_IMAGE_TILING_OPTIMAL,
                 .usage = format->usage | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                          VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                 .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED},
        .layout = layouts[number % (sizeof layouts / sizeof layouts[0])],
    };
    const bool is_planar = format->plane_count > 1 && format->aspects == COLOR;
    if (is_planar || !is_supported(rig.physical, &image->info) ||
        (is_sparse && !make_sparse(image))) {
        return;
    }
    list_regions(image);
    const MaarResidentCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .pImageInfo = is_sparse ? NULL : &image->info,
        .sparseImage = image->sparse,
        .pfnRead = read_source,
        .pSourceUserData = image,
    };
    assert_int_equal(maarCreateResident(rig.allocator, residency, &info, &image->resident),
                     VK_SUCCESS);
    ++image_count;
}

/* ---- uses ---- */

static void transition(VkCommandBuffer into, const struct image* image, VkImage object,
                       VkImageLayout from, VkImageLayout to)
{
    const VkImageMemoryBarrier change = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = object,
        .subresourceRange = {image->format->aspects, 0, VK_REMAINING_MIP_LEVELS, 0,
                             VK_REMAINING_ARRAY_LAYERS},
    };
    vkCmdPipelineBarrier(into, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &change);
}

/* Begins a use that must succeed. */
static MaarUse begin(uint32_t count, const MaarResidentUse* uses, MaarResidentObject* objects,
                     MaarUseInfo* info)
{
    const MaarUseBeginInfo how = {.sType = MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO,
                                  .flags = MAAR_USE_WAIT_BIT,
                                  .useCount = count,
                                  .pUses = uses};
    MaarUse use = VK_NULL_HANDLE;
    *info = (MaarUseInfo){.sType = MAAR_STRUCTURE_TYPE_USE_INFO};
    const VkResult result = maarBeginUse(rig.allocator, residency, &how, objects, info, &use);
    if (result != VK_SUCCESS) {
        fail_msg("%d: %s", (int)result, rig.messages.last);
    }
    return use;
}

/* Copies between all images and a buffer. */
static void copy_all(bool writes)
{
    MaarResidentUse uses[MOST_IMAGES];
    MaarResidentObject objects[MOST_IMAGES];
    MaarUseInfo info;
    for (uint32_t i = 0; i < image_count; ++i) {
        uses[i] = (MaarResidentUse){images[i].resident,
                                    writes ? MAAR_ACCESS_OVERWRITE_BIT : MAAR_ACCESS_READ_BIT,
                                    images[i].layout};
    }
    const MaarUse use = begin(image_count, uses, objects, &info);
    VkCommandBuffer into = begin_commands();
    barrier(into, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    for (uint32_t i = 0; i < image_count; ++i) {
        const struct image* image = &images[i];
        const VkImageLayout copies =
            writes ? VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL : VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
        assert_int_equal(objects[i].isFresh, writes);
        assert_true(writes || objects[i].layout != VK_IMAGE_LAYOUT_UNDEFINED);
        transition(into, image, objects[i].image, objects[i].layout, copies);
        if (writes) {
            vkCmdCopyBufferToImage(into, buffers[0], objects[i].image, copies, image->region_count,
                                   image->regions);
        } else {
            vkCmdCopyImageToBuffer(into, objects[i].image, copies, buffers[1], image->region_count,
                                   image->regions);
        }
        transition(into, image, objects[i].image, copies, image->layout);
    }
    const MaarPoint end = submit_commands(&info);
    assert_int_equal(maarEndUse(rig.allocator, residency, use, 1, &end), VK_SUCCESS);
    wait_for(submitted);
}

/* All images leave the device, as if its budget were gone. */
static void push_out(void)
{
    struct maar_residency* state =
        maar_object_of(rig.allocator, MAAR_OBJECT_RESIDENCY, MAAR_TO_BITS(residency));
    struct maar_tier_room room = {
        .reason = MAAR_RESIDENCY_REASON_ROOM, .most_bytes = UINT64_MAX, .most_count = UINT32_MAX};
    assert_int_equal(maar_residency_make_room(state, "test", &room), VK_SUCCESS);
    assert_true(room.evicted > 0);
    for (uint32_t i = 0; i < image_count; ++i) {
        MaarResidentInfo one = {.sType = MAAR_STRUCTURE_TYPE_RESIDENT_INFO};
        assert_int_equal(maarGetResidentInfo(rig.allocator, residency, images[i].resident, &one),
                         VK_SUCCESS);
        assert_int_not_equal(one.tier, MAAR_TIER_DEVICE);
        assert_int_not_equal(one.tier, MAAR_TIER_NONE);
    }
}

/* What host memory has goes to the file. */
static void lower_all(void)
{
    assert_int_equal(maarSetResidencyBudget(rig.allocator, residency, MAAR_TIER_HOST, 2 * MIB),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < 4; ++i) {
        assert_int_equal(maarUpdateResidency(rig.allocator, residency, NULL), VK_SUCCESS);
        assert_int_equal(maarWorkResidency(rig.allocator, residency, 0, NULL), VK_SUCCESS);
    }
    assert_int_equal(maarSetResidencyBudget(rig.allocator, residency, MAAR_TIER_HOST, 8 * MIB),
                     VK_SUCCESS);
}

static void compare_all(const char* when)
{
    assert_int_equal(maarInvalidateAllocation(rig.allocator, buffer_memories[1], 0, VK_WHOLE_SIZE),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < image_count; ++i) {
        const struct image* image = &images[i];
        for (uint32_t k = 0; k < image->region_count; ++k) {
            const struct plane* plane = plane_of(image, k);
            const VkDeviceSize first = image->regions[k].bufferOffset;
            for (VkDeviceSize at = first; at < first + bytes_of(image, k); at += plane->bytes) {
                if (memcmp(bytes[0] + at, bytes[1] + at, plane->kept) != 0) {
                    fail_msg("%s: format %d, type %d, tiles %d, region %u of %u, byte %llu", when,
                             (int)image->info.format, (int)image->info.imageType,
                             image->sparse != VK_NULL_HANDLE, k, image->region_count,
                             (unsigned long long)(at - first));
                }
            }
        }
    }
    memset(bytes[1], 0xEE, (size_t)used_bytes);
}

/* ---- the program ---- */

static void open_scene(void)
{
    const VkBufferCreateInfo plain = rig_buffer_info(BUFFER_BYTES);
    const MaarFileStore file = file_of(FILE_SIZE);
    open_commands();
    const MaarResidencyCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENCY_CREATE_INFO,
        .queueIndex = queue_index,
        .deviceBudget = 16 * MIB,
        .hostBudget = 8 * MIB,
        .pFileStore = &file,
    };
    disk.fails = 0;
    assert_int_equal(maarCreateResidency(rig.allocator, &info, &residency), VK_SUCCESS);
    for (uint32_t i = 0; i < 2; ++i) {
        MaarAllocationCreateInfo how =
            rig_how(i == 0 ? MAAR_MEMORY_USAGE_UPLOAD : MAAR_MEMORY_USAGE_READBACK);
        how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
        assert_int_equal(
            maarCreateBuffer(rig.allocator, &plain, &how, &buffers[i], &buffer_memories[i]),
            VK_SUCCESS);
        bytes[i] = maarGetMappedData(rig.allocator, buffer_memories[i]);
        assert_non_null(bytes[i]);
    }
}

static void close_scene(void)
{
    maarDestroyResidency(rig.allocator, residency);
    for (uint32_t i = 0; i < 2; ++i) {
        maarDestroyBuffer(rig.allocator, buffers[i], buffer_memories[i]);
    }
    assert_int_equal(maarWaitPending(rig.allocator, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(vkDeviceWaitIdle(rig.device), VK_SUCCESS);
    close_commands();
}

/* A group of images, from their sources, through host memory, and through the file. */
static void try_group(void)
{
    assert_int_equal(maarFlushAllocation(rig.allocator, buffer_memories[0], 0, VK_WHOLE_SIZE),
                     VK_SUCCESS);
    copy_all(false);
    compare_all("from the source");
    push_out();
    for (VkDeviceSize at = 0; at < used_bytes; ++at) {
        bytes[0][at] ^= (uint8_t)(at % 4 == 3 ? 0 : 0x55);
    }
    assert_int_equal(maarFlushAllocation(rig.allocator, buffer_memories[0], 0, VK_WHOLE_SIZE),
                     VK_SUCCESS);
    copy_all(true);
    push_out();
    copy_all(false);
    compare_all("from host memory");
    push_out();
    lower_all();
    copy_all(false);
    compare_all("from the file");
    rig_check(&rig);
}

/* Tries all images that the device supports. The rig is open. */
static void try_images(void)
{
    uint32_t placed = 0;
    uint32_t tiled = 0;
    open_scene();
    for (uint32_t next = 0; next < 2 * CASES;) {
        image_count = 0;
        used_bytes = 0;
        for (; next < 2 * CASES && image_count < MOST_IMAGES; ++next) {
            add_image(next % CASES, next >= CASES);
        }
        if (image_count > 0) {
            try_group();
        }
        for (uint32_t i = 0; i < image_count; ++i) {
            placed += images[i].sparse == VK_NULL_HANDLE ? 1 : 0;
            tiled += images[i].sparse == VK_NULL_HANDLE ? 0 : 1;
            maarDestroyResident(rig.allocator, residency, images[i].resident);
            maarDestroySparseImage(rig.allocator, images[i].sparse);
        }
    }
    close_scene();
    print_message("%u placed images and %u of tiles\n", placed, tiled);
    assert_true(placed >= 40);
}

static int open_rig(void** state)
{
    return rig_setup_driver(&rig, state);
}

static void images_come_back_as_they_were(void** state)
{
    rig_need(state, !rig_is_without_driver(), "drivers have entries of their own");
    rig_need(state, rig_executes(), "commands do not execute on this driver");
    try_images();
}

static void images_come_back_on_simulated_devices(void** state)
{
    (void)state;
    rig_need_simulated_devices();
    for (size_t i = 0; i < RIG_VENDORS; ++i) {
        const struct rig_setup setup = {
            .profile = rig_profile_file(rig_vendors[i]),
            .flags = MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_CONTENTS_BIT |
                     MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT | MAAR_SIMULATED_ALLOW_ALIASING_BIT,
            .paging = true,
        };
        print_message("%s: ", rig_vendors[i]);
        rig_open(&rig, &setup);
        rig_make_allocator(&rig);
        try_images();
        rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(images_come_back_as_they_were, open_rig, rig_teardown),
        cmocka_unit_test(images_come_back_on_simulated_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
