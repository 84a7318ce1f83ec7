/*
 * Buffers on the host's own memory, on real drivers under the validation layer: what the device
 * writes is there at the host's address, and what the host writes is there for the device, with
 * nothing touched beside it. Drivers over a no-op kernel import too, but execute nothing.
 */
#define _POSIX_C_SOURCE 200809L

#include "tests/interop/gpu_work.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 100000, MARGIN = 4096, SPACE = 131072 };

static struct rig rig;
static unsigned char* space; /* a margin, the bytes, and another margin */

/* The no-op kernel pins no pages, and a driver has been seen to wait for them without end. */
static void skip_hung_driver(int number)
{
    static const char words[] = "skipped: the driver did not come back over the no-op kernel\n";
    (void)number;
    (void)!write(STDOUT_FILENO, words, sizeof words - 1);
    _exit(77);
}

static int open_host(void** state)
{
    const struct rig_setup setup = {.paging = false};
    *state = NULL;
    if (!rig_executes()) {
        (void)signal(SIGALRM, skip_hung_driver);
        (void)alarm(60);
    }
    if (rig_open_vulkan(&rig, &setup, rig_is("lavapipe"))) {
        rig_make_allocator(&rig);
        *state = &rig;
        space = aligned_alloc(MARGIN, SPACE);
        assert_non_null(space);
    }
    return 0;
}

static int close_host(void** state)
{
    if (*state != NULL) {
        free(space);
    }
    const int result = rig_teardown(state);
    (void)alarm(0);
    return result;
}

static MaarHostBuffer make_host(unsigned char* memory, MaarHostBufferCreateFlags flags,
                                MaarHostBufferInfo* info)
{
    MaarHostBuffer made = VK_NULL_HANDLE;
    const MaarHostBufferCreateInfo create = {
        .sType = MAAR_STRUCTURE_TYPE_HOST_BUFFER_CREATE_INFO,
        .flags = flags,
        .pMemory = memory,
        .size = BYTES,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        .pName = "host",
    };
    assert_int_equal(maarCreateHostBuffer(rig.allocator, &create, &made), VK_SUCCESS);
    *info = (MaarHostBufferInfo){.sType = MAAR_STRUCTURE_TYPE_HOST_BUFFER_INFO};
    assert_int_equal(maarGetHostBufferInfo(rig.allocator, made, info), VK_SUCCESS);
    return made;
}

static void expect_margins(const unsigned char* bytes)
{
    for (const unsigned char* at = space; at < bytes; ++at) {
        assert_int_equal(*at, 0x5A);
    }
    for (const unsigned char* at = bytes + BYTES; at < space + SPACE; ++at) {
        assert_int_equal(*at, 0x5A);
    }
}

static unsigned char host_byte(uint32_t i)
{
    return (unsigned char)(i * 13 + i / 256);
}

/* The device reads what the host wrote, writes a part of it, and the host reads that. */
static void play(unsigned char* bytes, MaarHostBufferCreateFlags flags, bool executes)
{
    static unsigned char seen[BYTES];
    static unsigned char wanted[BYTES];
    enum { FIRST = 4000, SIZE = 40000 };
    MaarHostBufferInfo info;
    struct gpu_readback readback;
    struct gpu_work work;
    memset(space, 0x5A, SPACE);
    MaarHostBuffer buffer = make_host(bytes, flags, &info);
    for (uint32_t i = 0; i < BYTES; ++i) {
        bytes[i] = wanted[i] = host_byte(i);
    }
    assert_int_equal(maarPushHostBuffer(rig.allocator, buffer, 0, VK_WHOLE_SIZE), VK_SUCCESS);
    gpu_readback_make(&rig, BYTES, &readback);
    gpu_begin(&rig, &work);
    gpu_readback_record(&work, info.buffer, info.offset, &readback);
    gpu_barrier(&work);
    /* Offsets of fills are multiples of 4 in the buffer. */
    const VkDeviceSize at = (info.offset + FIRST + 3) / 4 * 4;
    vkCmdFillBuffer(work.commands, info.buffer, at, SIZE, 0xC0C1C2C3);
    gpu_finish(&rig, &work);
    for (uint32_t i = 0; i < SIZE; ++i) {
        wanted[at - info.offset + i] = (unsigned char)(0xC3 - i % 4);
    }
    assert_int_equal(maarPullHostBuffer(rig.allocator, buffer, 0, VK_WHOLE_SIZE), VK_SUCCESS);
    gpu_readback_copy(&rig, &readback, seen);
    expect_margins(bytes);
    if (executes) {
        assert_memory_equal(bytes, wanted, BYTES);
        for (uint32_t i = 0; i < BYTES; ++i) {
            wanted[i] = host_byte(i);
        }
        assert_memory_equal(seen, wanted, BYTES);
    }
    gpu_readback_destroy(&rig, &readback);
    maarDestroyHostBuffer(rig.allocator, buffer);
    expect_margins(bytes);
}

static void imported_memory_is_one_with_the_hosts(void** state)
{
    rig_need(state, true, "");
    MaarSharingInfo sharing = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
    assert_int_equal(maarGetSharingInfo(rig.allocator, &sharing), VK_SUCCESS);
    rig_need(state, sharing.hostPointers == VK_TRUE, "no VK_EXT_external_memory_host");
    /* Unprivileged drivers may refuse pages; then the reason is reported, and the case says so. */
    MaarHostBufferInfo info;
    MaarHostBuffer probe = make_host(space + MARGIN, 0, &info);
    print_message("alignment %llu, %s%s\n",
                  (unsigned long long)sharing.minImportedHostPointerAlignment,
                  info.copied == VK_TRUE ? "copied: " : "imported", info.reason);
    maarDestroyHostBuffer(rig.allocator, probe);
    rig_need(state, info.copied == VK_FALSE || rig_executes(),
             "the kernel behind this driver imports no pages");
    rig_need(state, info.copied == VK_FALSE || !rig_is("swiftshader"),
             "SwiftShader says of no buffer that it imports host memory");
    assert_int_equal(info.copied, VK_FALSE);
    for (uint32_t odd = 0; odd < 4; ++odd) {
        play(space + MARGIN + (size_t)601 * odd, MAAR_HOST_BUFFER_CREATE_NO_COPY_BIT,
             rig_executes());
    }
}

static void copies_are_pushed_and_pulled(void** state)
{
    rig_need(state, true, "");
    for (uint32_t odd = 0; odd < 4; ++odd) {
        play(space + MARGIN + (size_t)601 * odd, MAAR_HOST_BUFFER_CREATE_ALWAYS_COPY_BIT,
             rig_executes());
    }
}

/* Whether a host buffer of these bytes is imported; it is destroyed again. */
static bool is_imported(void** state, unsigned char* bytes)
{
    MaarHostBufferInfo info;
    MaarSharingInfo sharing = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
    assert_int_equal(maarGetSharingInfo(rig.allocator, &sharing), VK_SUCCESS);
    rig_need(state, sharing.hostPointers == VK_TRUE, "no VK_EXT_external_memory_host");
    MaarHostBuffer probe = make_host(bytes, 0, &info);
    maarDestroyHostBuffer(rig.allocator, probe);
    return info.copied == VK_FALSE;
}

/* A file that is mapped for reading: imported or copied, the device reads its bytes. */
static void mapped_file_is_read_in_place(void** state)
{
    rig_need(state, true, "");
    static unsigned char seen[BYTES];
    static unsigned char wanted[BYTES];
    FILE* file = tmpfile();
    assert_non_null(file);
    for (uint32_t i = 0; i < BYTES; ++i) {
        wanted[i] = host_byte(i);
    }
    assert_int_equal(fwrite(wanted, 1, BYTES, file), BYTES);
    assert_int_equal(fflush(file), 0);
    unsigned char* mapped = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, fileno(file), 0);
    assert_true(mapped != MAP_FAILED);
    MaarHostBufferInfo info;
    MaarHostBuffer buffer = make_host(mapped, MAAR_HOST_BUFFER_CREATE_READ_ONLY_BIT, &info);
    print_message("%s%s\n", info.copied == VK_TRUE ? "copied: " : "imported", info.reason);
    assert_true(info.copied == VK_FALSE || !rig_is("lavapipe"));
    assert_int_equal(maarPushHostBuffer(rig.allocator, buffer, 0, VK_WHOLE_SIZE), VK_SUCCESS);
    struct gpu_readback readback;
    struct gpu_work work;
    gpu_readback_make(&rig, BYTES, &readback);
    gpu_begin(&rig, &work);
    gpu_readback_record(&work, info.buffer, info.offset, &readback);
    gpu_finish(&rig, &work);
    gpu_readback_copy(&rig, &readback, seen);
    if (rig_executes()) {
        assert_memory_equal(seen, wanted, BYTES);
    }
    gpu_readback_destroy(&rig, &readback);
    maarDestroyHostBuffer(rig.allocator, buffer);
    assert_int_equal(munmap(mapped, BYTES), 0);
    assert_int_equal(fclose(file), 0);
    rig_forget_messages(&rig);
}

/* Brings an image into the layout in which the host may write it. */
static void begin_host_access(struct gpu_work* work, VkImage image)
{
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .dstAccessMask = VK_ACCESS_HOST_WRITE_BIT,
        .oldLayout = VK_IMAGE_LAYOUT_UNDEFINED,
        .newLayout = VK_IMAGE_LAYOUT_GENERAL,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
    vkCmdPipelineBarrier(work->commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                         VK_PIPELINE_STAGE_HOST_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

/* Copies an image on the host's bytes out, row after row. */
static void copy_image_out(struct gpu_work* work, VkImage image, uint32_t side, VkBuffer to)
{
    const VkBufferImageCopy region = {
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .imageExtent = {side, side, 1},
    };
    vkCmdCopyImageToBuffer(work->commands, image, VK_IMAGE_LAYOUT_GENERAL, to, 1, &region);
    gpu_barrier(work);
}

static void image_shows_the_hosts_pixels(void** state)
{
    enum { SIDE = 64, ROW = SIDE * 4 };
    static unsigned char seen[SIDE * ROW];
    rig_need(state, true, "");
    rig_need(state, is_imported(state, space + MARGIN), "the driver imports no host memory");
    VkImageCreateInfo info = rig_image_info(SIDE, SIDE);
    info.tiling = VK_IMAGE_TILING_LINEAR;
    info.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    const MaarHostImportInfo import = {
        .sType = MAAR_STRUCTURE_TYPE_HOST_IMPORT_INFO,
        .pMemory = space + MARGIN,
        .size = SPACE - MARGIN,
    };
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    const VkResult result = maarImportHostImage(rig.allocator, &info, &import, &image, &memory);
    if (result != VK_SUCCESS) {
        print_message("%s\n", rig.messages.last);
    }
    rig_forget_messages(&rig);
    rig_need(state, result == VK_SUCCESS, "the driver imports no images of host memory");
    const VkImageSubresource colour = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT};
    VkSubresourceLayout layout;
    vkGetImageSubresourceLayout(rig.device, image, &colour, &layout);
    struct gpu_readback readback;
    struct gpu_work work;
    gpu_readback_make(&rig, sizeof seen, &readback);
    gpu_begin(&rig, &work);
    begin_host_access(&work, image);
    gpu_finish(&rig, &work);
    for (uint32_t i = 0; i < SPACE - MARGIN; ++i) {
        space[MARGIN + i] = host_byte(i);
    }
    gpu_begin(&rig, &work);
    copy_image_out(&work, image, SIDE, readback.buffer);
    gpu_finish(&rig, &work);
    gpu_readback_copy(&rig, &readback, seen);
    for (uint32_t y = 0; y < SIDE && rig_executes(); ++y) {
        assert_memory_equal(seen + (size_t)y * ROW,
                            space + MARGIN + layout.offset + y * layout.rowPitch, ROW);
    }
    gpu_readback_destroy(&rig, &readback);
    maarDestroyImage(rig.allocator, image, memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(imported_memory_is_one_with_the_hosts, open_host,
                                        close_host),
        cmocka_unit_test_setup_teardown(copies_are_pushed_and_pulled, open_host, close_host),
        cmocka_unit_test_setup_teardown(mapped_file_is_read_in_place, open_host, close_host),
        cmocka_unit_test_setup_teardown(image_shows_the_hosts_pixels, open_host, close_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
