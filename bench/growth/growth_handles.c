/*
 * Handles of the operating system, and semaphores that are shared by them.
 */
#include "growth_cases.h"
#include "growth_shared.h"
#include "growth_steps.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- handles ---- */

static MaarExternalHandle wrap(struct growth* growth, int fd)
{
    MaarExternalHandle handle = VK_NULL_HANDLE;
    GROWTH_EXPECT(maarWrapFd(growth->allocator, fd, &handle));
    return handle;
}

static int open_nothing(void)
{
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        bench_die(BENCH_EXIT_FAILED, "no file descriptor is left");
    }
    return fd;
}

static void open_handles(struct growth* growth)
{
    bench_raise_descriptors();
    MaarExternalHandle* handles =
        growth_create_state(growth, growth->n + growth->count, sizeof *handles);
    growth->spare = bench_allocate(growth->count, sizeof(int));
    for (uint32_t i = 0; i < growth->n; ++i) {
        handles[i] = wrap(growth, open_nothing());
    }
}

static void close_handles(struct growth* growth)
{
    const MaarExternalHandle* handles = growth->state;
    for (uint32_t i = 0; i < growth->n; ++i) {
        maarDestroyExternalHandle(growth->allocator, handles[i]);
    }
}

static void open_more(struct growth* growth)
{
    for (uint32_t i = 0; i < growth->count; ++i) {
        ((int*)growth->spare)[i] = open_nothing();
    }
}

static void do_wrap(struct growth* growth, uint32_t index)
{
    MaarExternalHandle* handles = growth->state;
    handles[growth->n + index] = wrap(growth, ((int*)growth->spare)[index]);
}

static void do_destroy(struct growth* growth, uint32_t index)
{
    const MaarExternalHandle* handles = growth->state;
    maarDestroyExternalHandle(growth->allocator, handles[growth->n + index]);
}

static void destroy_more(struct growth* growth)
{
    growth_repeat(growth, growth->count, do_destroy);
}

static void wrap_more(struct growth* growth)
{
    open_more(growth);
    for (uint32_t i = 0; i < growth->count; ++i) {
        do_wrap(growth, i);
    }
}

static void do_take(struct growth* growth, uint32_t index)
{
    const MaarExternalHandle* handles = growth->state;
    GROWTH_EXPECT(
        maarTakeFd(growth->allocator, handles[growth->n + index], &((int*)growth->spare)[index]));
}

static void close_taken(struct growth* growth)
{
    for (uint32_t i = 0; i < growth->count; ++i) {
        (void)close(((int*)growth->spare)[i]);
    }
    destroy_more(growth);
}

static void do_peek(struct growth* growth, uint32_t index)
{
    const MaarExternalHandle* handles = growth->state;
    (void)index;
    if (maarPeekFd(handles[growth_pick(growth)]) < 0) {
        bench_die(BENCH_EXIT_FAILED, "a handle has no file descriptor");
    }
}

static void do_duplicate(struct growth* growth, uint32_t index)
{
    MaarExternalHandle* handles = growth->state;
    GROWTH_EXPECT(maarDuplicateExternalHandle(growth->allocator, handles[growth_pick(growth)],
                                              &handles[growth->n + index]));
}

/* ---- semaphores ---- */

static VkSemaphore create_semaphore(struct growth* growth)
{
    const MaarSharedSemaphoreCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SHARED_SEMAPHORE_CREATE_INFO,
        .type = VK_SEMAPHORE_TYPE_TIMELINE,
        .handleType = GROWTH_SHARED_SEMAPHORE,
    };
    VkSemaphore semaphore = VK_NULL_HANDLE;
    GROWTH_EXPECT(maarCreateSharedSemaphore(growth->allocator, &info, &semaphore));
    return semaphore;
}

static MaarExternalHandle export_semaphore(struct growth* growth, VkSemaphore semaphore)
{
    MaarExternalHandle handle = VK_NULL_HANDLE;
    GROWTH_EXPECT(
        maarExportSemaphore(growth->allocator, semaphore, GROWTH_SHARED_SEMAPHORE, &handle));
    return handle;
}

static void open_semaphores(struct growth* growth)
{
    bench_raise_descriptors();
    VkSemaphore* all = growth_create_state(growth, growth->n + growth->count, sizeof(VkSemaphore));
    growth->spare = bench_allocate(growth->count, sizeof(MaarExternalHandle));
    for (uint32_t i = 0; i < growth->n; ++i) {
        all[i] = create_semaphore(growth);
    }
}

static void close_semaphores(struct growth* growth)
{
    const VkSemaphore* all = growth->state;
    for (uint32_t i = 0; i < growth->n; ++i) {
        vkDestroySemaphore(growth->device, all[i], NULL);
    }
}

static void destroy_more_semaphores(struct growth* growth)
{
    const VkSemaphore* all = growth->state;
    for (uint32_t i = 0; i < growth->count; ++i) {
        vkDestroySemaphore(growth->device, all[growth->n + i], NULL);
    }
}

static void do_create_semaphore(struct growth* growth, uint32_t index)
{
    ((VkSemaphore*)growth->state)[growth->n + index] = create_semaphore(growth);
}

static void do_export_semaphore(struct growth* growth, uint32_t index)
{
    const VkSemaphore* all = growth->state;
    (void)index;
    maarDestroyExternalHandle(growth->allocator,
                              export_semaphore(growth, all[growth_pick(growth)]));
}

static void do_describe_timeline(struct growth* growth, uint32_t index)
{
    const VkSemaphore* all = growth->state;
    MaarDescriptor descriptor = {.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    MaarExternalHandle handle = VK_NULL_HANDLE;
    (void)index;
    GROWTH_EXPECT(maarDescribeTimeline(growth->allocator, all[growth_pick(growth)],
                                       GROWTH_SHARED_SEMAPHORE, &descriptor, &handle));
    maarDestroyExternalHandle(growth->allocator, handle);
}

static void export_more(struct growth* growth)
{
    const VkSemaphore* all = growth->state;
    MaarExternalHandle* handles = growth->spare;
    for (uint32_t i = 0; i < growth->count; ++i) {
        handles[i] = export_semaphore(growth, all[0]);
    }
}

static void do_import_semaphore(struct growth* growth, uint32_t index)
{
    VkSemaphore* all = growth->state;
    const MaarExternalHandle* handles = growth->spare;
    GROWTH_EXPECT(maarImportSemaphore(growth->allocator, handles[index], GROWTH_SHARED_SEMAPHORE,
                                      VK_SEMAPHORE_TYPE_TIMELINE, &all[growth->n + index]));
}

static void destroy_imports(struct growth* growth)
{
    const MaarExternalHandle* handles = growth->spare;
    for (uint32_t i = 0; i < growth->count; ++i) {
        maarDestroyExternalHandle(growth->allocator, handles[i]);
    }
    destroy_more_semaphores(growth);
}

/* ---- messages ---- */

struct messages {
    int sockets[2];
    MaarDescriptor descriptor;
    MaarExternalHandle handle;
    unsigned char bytes[MAAR_DESCRIPTOR_SIZE];
};

static void open_messages(struct growth* growth)
{
    growth_open_shared(growth, false);
    struct messages* messages = bench_allocate(1, sizeof *messages);
    const VkBufferCreateInfo info = growth_shared_buffer(64 * GROWTH_KIB);
    growth->state = messages;
    messages->descriptor.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR;
    GROWTH_EXPECT(maarDescribeMemory(growth->allocator, growth->memory[0], GROWTH_SHARED_TYPE,
                                     &info, &messages->descriptor, &messages->handle));
    GROWTH_EXPECT(maarWriteDescriptor(growth->allocator, &messages->descriptor, messages->bytes));
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, messages->sockets) != 0) {
        bench_die(BENCH_EXIT_FAILED, "socketpair fails");
    }
}

static void close_messages(struct growth* growth)
{
    const struct messages* messages = growth->state;
    maarDestroyExternalHandle(growth->allocator, messages->handle);
    (void)close(messages->sockets[0]);
    (void)close(messages->sockets[1]);
    growth_close_shared(growth);
}

static void do_write(struct growth* growth, uint32_t index)
{
    struct messages* messages = growth->state;
    (void)index;
    GROWTH_EXPECT(maarWriteDescriptor(growth->allocator, &messages->descriptor, messages->bytes));
}

static void do_read(struct growth* growth, uint32_t index)
{
    const struct messages* messages = growth->state;
    MaarDescriptor descriptor = {.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    (void)index;
    GROWTH_EXPECT(maarReadDescriptor(growth->allocator, sizeof messages->bytes, messages->bytes,
                                     &descriptor));
}

static void do_pass(struct growth* growth, uint32_t index)
{
    const struct messages* messages = growth->state;
    MaarDescriptor descriptor = {.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    MaarExternalHandle handle = VK_NULL_HANDLE;
    (void)index;
    GROWTH_EXPECT(maarSendHandle(growth->allocator, messages->sockets[0], &messages->descriptor,
                                 messages->handle));
    GROWTH_EXPECT(maarReceiveHandle(growth->allocator, messages->sockets[1], UINT64_MAX,
                                    &descriptor, &handle));
    maarDestroyExternalHandle(growth->allocator, handle);
}

#define HANDLES(case_name, function, text, world, before, does, after)                             \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = text, .n = 256, .count = 64,        \
        .open = open_##world, .prepare = before, .operation = does, .tidy = after,                 \
        .close = close_##world                                                                     \
    }

const struct growth_case growth_handle_cases[] = {
    HANDLES("wrap-fd", "maarWrapFd", "handles", handles, open_more, do_wrap, destroy_more),
    HANDLES("destroy-handle", "maarDestroyExternalHandle", "handles", handles, wrap_more,
            do_destroy, NULL),
    HANDLES("take-fd", "maarTakeFd", "handles", handles, wrap_more, do_take, close_taken),
    HANDLES("peek-fd", "maarPeekFd", "handles", handles, NULL, do_peek, NULL),
    HANDLES("duplicate-handle", "maarDuplicateExternalHandle", "handles", handles, NULL,
            do_duplicate, destroy_more),
    HANDLES("create-shared-semaphore", "maarCreateSharedSemaphore", "shared semaphores", semaphores,
            NULL, do_create_semaphore, destroy_more_semaphores),
    HANDLES("export-semaphore", "maarExportSemaphore", "shared semaphores", semaphores, NULL,
            do_export_semaphore, NULL),
    HANDLES("describe-timeline", "maarDescribeTimeline", "shared semaphores", semaphores, NULL,
            do_describe_timeline, NULL),
    HANDLES("import-semaphore", "maarImportSemaphore", "shared semaphores", semaphores, export_more,
            do_import_semaphore, destroy_imports),
    HANDLES("write-descriptor", "maarWriteDescriptor", "shared buffers", messages, NULL, do_write,
            NULL),
    HANDLES("read-descriptor", "maarReadDescriptor", "shared buffers", messages, NULL, do_read,
            NULL),
    HANDLES("send-and-receive", "maarSendHandle maarReceiveHandle", "shared buffers", messages,
            NULL, do_pass, NULL),
    {.name = NULL},
};
