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

static void document_does_what_it_says(void** state)
{
    (void)state;
    static struct rig rig;
    static unsigned char host[5000];
    unsigned char* bytes = host + 3;
    const VkDeviceSize size = sizeof host - 3;
    int ends[2];
    const uint32_t before = rig_count_fds();
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    const int socketFd = ends[0];
    const int otherEndFd = ends[1];
    assert_true(sharing_start(&rig, NULL));
    const MaarAllocator allocator = rig.allocator;
    VkBufferCreateInfo bufferInfo = rig_buffer_info(10000);
    bufferInfo.usage |= VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;

    /* A block that came from elsewhere. */
    VkBuffer elsewhere = VK_NULL_HANDLE;
    const MaarAllocation foreign = rig_create_shared_buffer(&rig, 10000, &elsewhere);
    const MaarExportedMemory exported = rig_export(&rig, foreign);
    const MaarExternalHandle handle = exported.handle;
    const VkDeviceSize blockSize = exported.blockSize;
    const VkDeviceSize offset = exported.offset;
    const uint32_t memoryTypeIndex = exported.memoryTypeIndex;
    const VkBool32 dedicated = exported.dedicated;

    const uint32_t familyIndex = rig.recommendation.mainQueueFamily;
    struct gpu_work work[2];
    gpu_begin(&rig, &work[0]);
    gpu_begin(&rig, &work[1]);
    const VkCommandBuffer commands = work[0].commands;
    const VkCommandBuffer theirCommands = work[1].commands;

    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    VkBuffer imported = VK_NULL_HANDLE;
    MaarAllocation importedBlock = VK_NULL_HANDLE;
    VkBuffer theirBuffer = VK_NULL_HANDLE;
    MaarAllocation theirBlock = VK_NULL_HANDLE;
#include "sharing.inc"
    assert_true(buffer != VK_NULL_HANDLE && imported != VK_NULL_HANDLE);
    assert_int_equal(result, VK_SUCCESS);
    assert_true(theirBuffer != VK_NULL_HANDLE);
    assert_int_equal(arrived.userValue, 42);
    assert_true(made.buffer != VK_NULL_HANDLE);
    gpu_finish(&rig, &work[0]);
    gpu_finish(&rig, &work[1]);
    maarDestroyHostBuffer(allocator, hostBuffer);
    maarDestroyExternalHandle(allocator, handle);
    maarDestroyBuffer(allocator, theirBuffer, theirBlock);
    maarDestroyBuffer(allocator, imported, importedBlock);
    maarDestroyBuffer(allocator, buffer, allocation);
    maarDestroyBuffer(allocator, elsewhere, foreign);
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
