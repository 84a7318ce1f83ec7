/*
 * The C in docs/sharing.md compiles, one block after another, and does what it says on a simulated
 * device; both ends of the socket are in this process.
 */
#define _POSIX_C_SOURCE 200809L

#include "tests/interop/gpu_work.h"
#include "tests/interop/sharing_fixture.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(document_does_what_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
