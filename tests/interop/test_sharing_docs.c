/*
 * The C in docs/sharing.md compiles, one block after another, and does what it says on a simulated
 * device; both ends of the socket are in this process.
 */
#define _POSIX_C_SOURCE 200809L

#include "tests/interop/gpu_work.h"
#include "tests/interop/sharing_fixture.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "maar/process.h"

enum { SUCCESS = 0 };

/* Takes a descriptor, as Vulkan and CUDA do. */
static int otherImport(int fd)
{
    assert_int_equal(close(fd), 0);
    return SUCCESS;
}

#include "sharing.inc"

static void document_does_what_it_says(void** state)
{
    (void)state;
    static struct rig rig;
    static unsigned char host[5000];
    int ends[2];
    const uint32_t before = rig_count_fds();
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_true(sharing_start(&rig, NULL));
    const MaarAllocator allocator = rig.allocator;
    const uint32_t family = rig.recommendation.mainQueueFamily;
    VkBufferCreateInfo info = rig_buffer_info(10000);
    info.usage |= VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;

    VkBuffer buffers[3] = {VK_NULL_HANDLE};
    MaarAllocation allocations[3] = {VK_NULL_HANDLE};
    MaarExportedMemory memory;
    assert_int_equal(create_exported(allocator, &info, &buffers[0], &allocations[0], &memory),
                     VK_SUCCESS);
    assert_int_equal(import_exported(allocator, &info, &memory, &buffers[1], &allocations[1]),
                     VK_SUCCESS);
    maarDestroyExternalHandle(allocator, memory.handle);
    memory = rig_export(&rig, allocations[0]);
    assert_int_equal(give_away(allocator, memory.handle), VK_SUCCESS);

    struct gpu_work work[2];
    gpu_begin(&rig, &work[0]);
    gpu_begin(&rig, &work[1]);
    assert_int_equal(record_release(allocator, work[0].commands, family, buffers[0]), VK_SUCCESS);
    assert_int_equal(record_acquire(allocator, work[1].commands, family, buffers[1]), VK_SUCCESS);

    MaarDescriptor descriptor;
    assert_int_equal(send_buffer(allocator, allocations[0], &info, ends[0]), VK_SUCCESS);
    assert_int_equal(receive_buffer(allocator, ends[1], &descriptor, &buffers[2], &allocations[2]),
                     VK_SUCCESS);
    assert_int_equal(descriptor.userValue, 42);

    /* The block by itself, and a buffer in it where the exporter's buffer lies. */
    const MaarAllocationInfo placed = rig_info(&rig, allocations[0]);
    uint64_t block_id = 0;
    MaarAllocation block = VK_NULL_HANDLE;
    VkBuffer in_block = VK_NULL_HANDLE;
    assert_int_equal(send_block(allocator, allocations[0], ends[0]), VK_SUCCESS);
    assert_int_equal(receive_block(allocator, ends[1], &block_id, &block), VK_SUCCESS);
    assert_int_equal(block_id, placed.blockId);
    assert_int_equal(rig_info(&rig, block).size, placed.blockSize);
    assert_int_equal(maarCreateAliasingBuffer(allocator, block, placed.offset, &info, &in_block),
                     VK_SUCCESS);
    vkDestroyBuffer(rig.device, in_block, NULL);
    maarFreeMemory(allocator, block);

    /* Bytes of the program's own between two messages. */
    VkSemaphore made = VK_NULL_HANDLE;
    VkSemaphore received = VK_NULL_HANDLE;
    char own[4] = "";
    assert_int_equal(send_timeline(allocator, ends[0], &made), VK_SUCCESS);
    assert_int_equal(write(ends[0], "own", 4), 4);
    assert_int_equal(receive_timeline(allocator, ends[1], &received), VK_SUCCESS);
    assert_int_equal(read(ends[1], own, 4), 4);
    assert_string_equal(own, "own");
    assert_true(received != VK_NULL_HANDLE && received != made);
    vkDestroySemaphore(rig.device, made, NULL);
    vkDestroySemaphore(rig.device, received, NULL);

    MaarHostBuffer host_buffer = VK_NULL_HANDLE;
    VkBuffer lent = VK_NULL_HANDLE;
    VkDeviceSize offset = 0;
    assert_int_equal(lend_bytes(allocator, host + 3, sizeof host - 3, &host_buffer, &lent, &offset),
                     VK_SUCCESS);
    assert_true(lent != VK_NULL_HANDLE);
    assert_int_equal(take_bytes_back(allocator, host_buffer), VK_SUCCESS);

    gpu_finish(&rig, &work[0]);
    gpu_finish(&rig, &work[1]);
    maarDestroyHostBuffer(allocator, host_buffer);
    VkBuffer pair[2] = {VK_NULL_HANDLE};
    MaarAllocation pair_allocations[2] = {VK_NULL_HANDLE};
    assert_int_equal(share_in_process(allocator, &info, pair, pair_allocations), VK_SUCCESS);
    maarDestroyBuffer(allocator, pair[0], pair_allocations[0]);
    maarDestroyBuffer(allocator, pair[1], pair_allocations[1]);
    for (uint32_t i = 0; i < 3; ++i) {
        assert_true(buffers[i] != VK_NULL_HANDLE);
        maarDestroyBuffer(allocator, buffers[i], allocations[i]);
    }
    rig_check(&rig);
    rig_close(&rig);
    (void)close(ends[0]);
    (void)close(ends[1]);
    assert_int_equal(rig_count_fds(), before);
}

/* An image that exists, of the layout that a dma-buf has. */
static void document_imports_for_an_image_that_exists(void** state)
{
    (void)state;
    static struct rig rig;
    assert_true(sharing_start(&rig, NULL));
    VkImageCreateInfo info = rig_image_info(64, 64);
    const uint64_t linear = 0;
    const VkExternalMemoryImageCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT,
    };
    const VkImageDrmFormatModifierListCreateInfoEXT list = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_LIST_CREATE_INFO_EXT,
        .pNext = &external,
        .drmFormatModifierCount = 1,
        .pDrmFormatModifiers = &linear,
    };
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export;
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    info.tiling = VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT;
    info.pNext = &list;
    VkImage first = VK_NULL_HANDLE;
    VkImage own = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    MaarAllocation imported = VK_NULL_HANDLE;
    assert_int_equal(maarCreateImage(rig.allocator, &info, &how, &first, &memory), VK_SUCCESS);
    MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    assert_int_equal(maarExportMemory(rig.allocator, memory,
                                      VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT, &exported),
                     VK_SUCCESS);
    assert_int_equal(vkCreateImage(rig.device, &info, NULL, &own), VK_SUCCESS);
    assert_int_equal(
        import_for_image(rig.allocator, exported.handle, exported.blockSize, own, &imported),
        VK_SUCCESS);
    maarDestroyExternalHandle(rig.allocator, exported.handle);
    maarDestroyImage(rig.allocator, own, imported);
    maarDestroyImage(rig.allocator, first, memory);
    rig_close(&rig);
}

/* A file and a frame of the host's, which the simulated device takes. */
static void document_lends_files_and_frames(void** state)
{
    (void)state;
    enum { PAGE = 4096, SIZE = 16 * PAGE };
    static struct rig rig;
    MaarSimulatedProfile profile = *rig_profile_discrete();
    profile.limits.minImportedHostPointerAlignment = PAGE;
    (void)snprintf(profile.extensions[profile.extensionCount++], sizeof profile.extensions[0], "%s",
                   VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    const struct rig_setup setup = {.profile = &profile};
    assert_true(sharing_start(&rig, &setup));
    FILE* file = tmpfile();
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), SIZE), 0);
    void* mapping = NULL;
    MaarHostBuffer lent = VK_NULL_HANDLE;
    assert_int_equal(lend_file(rig.allocator, fileno(file), SIZE, &mapping, &lent), VK_SUCCESS);
    maarDestroyHostBuffer(rig.allocator, lent);
    assert_int_equal(munmap(mapping, SIZE), 0);
    assert_int_equal(fclose(file), 0);

    unsigned char* pixels = aligned_alloc(PAGE, SIZE);
    assert_non_null(pixels);
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(import_frame(rig.allocator, pixels, SIZE, 64, 64, 256, &image, &memory),
                     VK_SUCCESS);
    maarDestroyImage(rig.allocator, image, memory);
    free(pixels);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(document_does_what_it_says),
        cmocka_unit_test(document_imports_for_an_image_that_exists),
        cmocka_unit_test(document_lends_files_and_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
