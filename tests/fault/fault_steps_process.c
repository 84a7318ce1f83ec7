/*
 * Steps: descriptors and handles on their way to another process, which is this one.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include <sys/socket.h>
#include <unistd.h>

#include "maar/process.h"
#include "tests/fault/fault_fds.h"
#include "tests/fault/fault_steps.h"

#define OPAQUE VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT

enum { BUFFER_SIZE = 5000 };
static const uint64_t timeout_ns = 1000000000;

/* What a step has besides its context; one step runs at a time. */
static struct {
    MaarDescriptor descriptor;
    uint8_t bytes[MAAR_DESCRIPTOR_SIZE];
    int ends[2];
    bool is_sent;
} wire;

/* ---- describing ---- */

static void prepare_described(struct fault_context* c)
{
    const MaarExportInfo export = {.sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO, .handleTypes = OPAQUE};
    const VkBufferCreateInfo info = rig_buffer_info(BUFFER_SIZE);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export;
    how.pName = "sent";
    assert_int_equal(maarCreateBuffer(c->rig.allocator, &info, &how, &c->buffer, &c->memory),
                     VK_SUCCESS);
}

static void finish_described(struct fault_context* c)
{
    maarDestroyBuffer(c->rig.allocator, c->buffer, c->memory);
}

static VkResult run_describe_memory(struct fault_context* c)
{
    const VkBufferCreateInfo info = rig_buffer_info(BUFFER_SIZE);
    wire.descriptor = (MaarDescriptor){.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    c->handle = (MaarExternalHandle)(uintptr_t)1;
    VkResult result = maarDescribeMemory(c->rig.allocator, c->memory, OPAQUE, &info,
                                         &wire.descriptor, &c->handle);
    assert_true((result == VK_SUCCESS) == (c->handle != VK_NULL_HANDLE));
    return result;
}

static void undo_described(struct fault_context* c)
{
    maarDestroyExternalHandle(c->rig.allocator, c->handle);
}

static void prepare_shared_timeline(struct fault_context* c)
{
    const MaarSharedSemaphoreCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SHARED_SEMAPHORE_CREATE_INFO,
        .type = VK_SEMAPHORE_TYPE_TIMELINE,
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    assert_int_equal(maarCreateSharedSemaphore(c->rig.allocator, &info, &c->semaphore), VK_SUCCESS);
}

static VkResult run_describe_timeline(struct fault_context* c)
{
    wire.descriptor = (MaarDescriptor){.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    c->handle = (MaarExternalHandle)(uintptr_t)1;
    VkResult result = maarDescribeTimeline(c->rig.allocator, c->semaphore,
                                           VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
                                           &wire.descriptor, &c->handle);
    assert_true((result == VK_SUCCESS) == (c->handle != VK_NULL_HANDLE));
    return result;
}

static void finish_shared_timeline(struct fault_context* c)
{
    vkDestroySemaphore(c->rig.device, c->semaphore, c->rig.create_info.pAllocationCallbacks);
}

/* ---- on the wire ---- */

static void prepare_handle_to_send(struct fault_context* c)
{
    prepare_described(c);
    assert_int_equal(run_describe_memory(c), VK_SUCCESS);
}

static void finish_sent_handle(struct fault_context* c)
{
    undo_described(c);
    finish_described(c);
}

static VkResult run_write_descriptor(struct fault_context* c)
{
    return maarWriteDescriptor(c->rig.allocator, &wire.descriptor, wire.bytes);
}

static VkResult run_read_descriptor(struct fault_context* c)
{
    MaarDescriptor read = {.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    assert_int_equal(run_write_descriptor(c), VK_SUCCESS);
    VkResult result = maarReadDescriptor(c->rig.allocator, MAAR_DESCRIPTOR_SIZE, wire.bytes, &read);
    assert_int_equal(read.size, wire.descriptor.size);
    return result;
}

static void prepare_wire(struct fault_context* c)
{
    prepare_handle_to_send(c);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, wire.ends), 0);
    wire.is_sent = false;
}

static void finish_wire(struct fault_context* c)
{
    close(wire.ends[0]);
    close(wire.ends[1]);
    finish_sent_handle(c);
}

static VkResult run_send(struct fault_context* c)
{
    VkResult result = maarSendHandle(c->rig.allocator, wire.ends[0], &wire.descriptor, c->handle);
    assert_true(fault_is_open(maarPeekFd(c->handle)));
    wire.is_sent = result == VK_SUCCESS;
    return result;
}

/* Without host memory or descriptors nothing is received, and the message waits. */
static VkResult run_receive(struct fault_context* c)
{
    MaarDescriptor received = {.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    if (!wire.is_sent) {
        assert_int_equal(run_send(c), VK_SUCCESS);
    }
    c->copy = (MaarExternalHandle)(uintptr_t)1;
    VkResult result =
        maarReceiveHandle(c->rig.allocator, wire.ends[1], timeout_ns, &received, &c->copy);
    assert_true((result == VK_SUCCESS) == (c->copy != VK_NULL_HANDLE));
    assert_true(result != VK_SUCCESS || received.size == wire.descriptor.size);
    wire.is_sent = result != VK_SUCCESS;
    return result;
}

static void undo_received(struct fault_context* c)
{
    maarDestroyExternalHandle(c->rig.allocator, c->copy);
}

/* ---- importing ---- */

static VkResult run_import_described(struct fault_context* c)
{
    const int fd = maarPeekFd(c->handle);
    c->imported_buffer = (VkBuffer)(uintptr_t)1;
    c->imported = (MaarAllocation)(uintptr_t)1;
    VkResult result = maarImportDescribedBuffer(c->rig.allocator, &wire.descriptor, c->handle,
                                                &c->imported_buffer, &c->imported);
    assert_int_equal(maarPeekFd(c->handle), result == VK_SUCCESS ? -1 : fd);
    assert_true(result == VK_SUCCESS || fault_is_open(fd));
    assert_true((result == VK_SUCCESS) == (c->imported != VK_NULL_HANDLE));
    assert_true((result == VK_SUCCESS) == (c->imported_buffer != VK_NULL_HANDLE));
    return result;
}

static void undo_import_described(struct fault_context* c)
{
    maarDestroyBuffer(c->rig.allocator, c->imported_buffer, c->imported);
}

static const struct fault_step steps[] = {
    {"maarWriteDescriptor", .never = "writes bytes", .prepare = prepare_handle_to_send,
     .run = run_write_descriptor, .finish = finish_sent_handle, .shares = true},
    {"maarReadDescriptor", .never = "reads bytes", .prepare = prepare_handle_to_send,
     .run = run_read_descriptor, .finish = finish_sent_handle, .shares = true},
    {"maarDescribeMemory", .prepare = prepare_described, .run = run_describe_memory,
     .undo = undo_described, .finish = finish_described, .shares = true, .keeps_fds = true},
    {"maarDescribeTimeline", .prepare = prepare_shared_timeline, .run = run_describe_timeline,
     .undo = undo_described, .finish = finish_shared_timeline, .shares = true, .keeps_fds = true},
    {"maarSendHandle", .never = "the system keeps what is under way", .prepare = prepare_wire,
     .run = run_send, .finish = finish_wire, .shares = true},
    {"maarReceiveHandle", .prepare = prepare_wire, .run = run_receive, .undo = undo_received,
     .finish = finish_wire, .shares = true},
    {"maarImportDescribedBuffer", .prepare = prepare_handle_to_send, .run = run_import_described,
     .undo = undo_import_described, .finish = finish_sent_handle, .shares = true},
};

const struct fault_table fault_process_steps = {
    steps,
    sizeof steps / sizeof steps[0],
};
