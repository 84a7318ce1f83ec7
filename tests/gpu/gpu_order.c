/*
 * Copies and binds: whether a queue keeps their order by itself, what a move costs that copies,
 * binds and copies again behind semaphores, and whether binds and long copies hold each other up.
 * Moving the pages of live resources depends on it.
 */
#include "gpu_block.h"

#include <stdio.h>
#include <string.h>

enum {
    MOST_ROUNDS = 200,
    WORK_COPIES = 32,
    BINDS = 64,
    OLD_WORD = 0x01DD01DD,
    NEW_WORD = 0x0E3E0E3E
};

struct order {
    struct gpu_case* gpu;
    VkDeviceSize page;
    VkQueue bind_queue;
    uint32_t bind_family;
    VkBuffer sparse;        /* one page */
    VkDeviceMemory memory;  /* two pages: the old one and the new one */
    struct gpu_buffer seen; /* read back */
    struct gpu_buffer large[2];
    VkCommandBuffer read; /* the sparse page to `seen` */
    VkCommandBuffer work; /* long copies */
    uint32_t rounds;
    double times[MOST_ROUNDS];
};

/* ---- making ---- */

static bool record(struct order* at, VkCommandBuffer* commands)
{
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = at->gpu->pool,
                                              .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    return gpu_vk(at->gpu, vkAllocateCommandBuffers(at->gpu->device, &info, commands),
                  "vkAllocateCommandBuffers") &&
           gpu_vk(at->gpu, vkBeginCommandBuffer(*commands, &begin), "vkBeginCommandBuffer");
}

static bool record_both(struct order* at)
{
    const VkBufferCopy page = {.size = at->page};
    const VkBufferCopy large = {.size = at->large[0].size};
    if (!record(at, &at->read) || !record(at, &at->work)) {
        return false;
    }
    gpu_barrier(at->read);
    vkCmdCopyBuffer(at->read, at->sparse, at->seen.buffer, 1, &page);
    gpu_barrier(at->read);
    for (uint32_t i = 0; i < WORK_COPIES; ++i) {
        vkCmdCopyBuffer(at->work, at->large[i % 2].buffer, at->large[1 - i % 2].buffer, 1, &large);
        gpu_barrier(at->work);
    }
    return gpu_vk(at->gpu, vkEndCommandBuffer(at->read), "vkEndCommandBuffer") &&
           gpu_vk(at->gpu, vkEndCommandBuffer(at->work), "vkEndCommandBuffer");
}

static bool make_sparse_page(struct order* at)
{
    const VkDevice device = at->gpu->device;
    const uint32_t families[2] = {at->gpu->queues[0].familyIndex, at->bind_family};
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT | VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT,
        .size = 64 * KIB,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkMemoryRequirements needs;
    if (families[0] != families[1]) {
        info.sharingMode = VK_SHARING_MODE_CONCURRENT;
        info.queueFamilyIndexCount = 2;
        info.pQueueFamilyIndices = families;
    }
    if (!gpu_vk(at->gpu, vkCreateBuffer(device, &info, NULL, &at->sparse), "vkCreateBuffer")) {
        return false;
    }
    vkGetBufferMemoryRequirements(device, at->sparse, &needs);
    at->page = needs.size;
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = 2 * at->page,
                                         .memoryTypeIndex =
                                             gpu_device_local_type(at->gpu, needs.memoryTypeBits)};
    return gpu_vk(at->gpu, vkAllocateMemory(device, &memory, NULL, &at->memory),
                  "vkAllocateMemory");
}

/* ---- submissions ---- */

static bool submit(struct order* at, VkQueue queue, VkCommandBuffer commands, uint64_t wait,
                   uint64_t signal)
{
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = wait != 0 ? 1 : 0,
        .pWaitSemaphoreValues = &wait,
        .signalSemaphoreValueCount = signal != 0 ? 1 : 0,
        .pSignalSemaphoreValues = &signal};
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = &values,
                               .waitSemaphoreCount = values.waitSemaphoreValueCount,
                               .pWaitSemaphores = &at->gpu->timeline,
                               .pWaitDstStageMask = &stage,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands,
                               .signalSemaphoreCount = values.signalSemaphoreValueCount,
                               .pSignalSemaphores = &at->gpu->timeline};
    return gpu_vk(at->gpu, vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
}

static bool bind(struct order* at, bool new_page, uint64_t wait, uint64_t signal)
{
    const VkSparseMemoryBind page = {
        .size = at->page, .memory = at->memory, .memoryOffset = new_page ? at->page : 0};
    const VkSparseBufferMemoryBindInfo buffer = {
        .buffer = at->sparse, .bindCount = 1, .pBinds = &page};
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = wait != 0 ? 1 : 0,
        .pWaitSemaphoreValues = &wait,
        .signalSemaphoreValueCount = signal != 0 ? 1 : 0,
        .pSignalSemaphoreValues = &signal};
    const VkBindSparseInfo info = {.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
                                   .pNext = &values,
                                   .waitSemaphoreCount = values.waitSemaphoreValueCount,
                                   .pWaitSemaphores = &at->gpu->timeline,
                                   .bufferBindCount = 1,
                                   .pBufferBinds = &buffer,
                                   .signalSemaphoreCount = values.signalSemaphoreValueCount,
                                   .pSignalSemaphores = &at->gpu->timeline};
    return gpu_vk(at->gpu, vkQueueBindSparse(at->bind_queue, 1, &info, VK_NULL_HANDLE),
                  "vkQueueBindSparse");
}

static bool wait_for(struct order* at, uint64_t value)
{
    const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &at->gpu->timeline,
                                      .pValues = &value};
    return gpu_vk(at->gpu, vkWaitSemaphores(at->gpu->device, &wait, UINT64_C(20000000000)),
                  "vkWaitSemaphores");
}

static bool wait_idle(struct order* at)
{
    return gpu_vk(at->gpu, vkDeviceWaitIdle(at->gpu->device), "vkDeviceWaitIdle");
}

/* Binds a page and has the device write its word there. */
static bool write_page(struct order* at, bool new_page)
{
    const uint64_t bound = ++at->gpu->value;
    if (!bind(at, new_page, 0, bound) || !wait_for(at, bound)) {
        return false;
    }
    vkCmdFillBuffer(gpu_begin(at->gpu), at->sparse, 0, VK_WHOLE_SIZE,
                    new_page ? (uint32_t)NEW_WORD : (uint32_t)OLD_WORD);
    gpu_barrier(at->gpu->commands);
    return gpu_run(at->gpu);
}

/* ---- order ---- */

enum order_kind { BARE, BARE_BEHIND_WORK, BY_SEMAPHORE, ORDER_KINDS };

/* Binds the new page while the old one is bound, and reads right behind it. Whether the read saw
 * the new page; false with a failure. */
static bool read_behind_bind(struct order* at, enum order_kind kind, bool* is_new)
{
    struct gpu_case* gpu = at->gpu;
    const VkQueue queue = gpu->queues[0].queue;
    uint32_t* const words = maarGetMappedData(gpu->allocator, at->seen.allocation);
    const uint64_t old_bound = ++gpu->value;
    if (!bind(at, false, 0, old_bound) || !wait_for(at, old_bound)) {
        return false;
    }
    memset(words, 0, at->page);
    const uint64_t new_bound = kind == BY_SEMAPHORE ? ++gpu->value : 0;
    const uint64_t done = ++gpu->value;
    if ((kind == BARE_BEHIND_WORK && !submit(at, queue, at->work, 0, 0)) ||
        !bind(at, true, 0, new_bound) || !submit(at, queue, at->read, new_bound, done) ||
        !wait_for(at, done) || !wait_idle(at) ||
        maarInvalidateAllocation(gpu->allocator, at->seen.allocation, 0, VK_WHOLE_SIZE) !=
            VK_SUCCESS) {
        return false;
    }
    *is_new = words[0] == (uint32_t)NEW_WORD && words[at->page / 4 - 1] == (uint32_t)NEW_WORD;
    if (!*is_new && words[0] != (uint32_t)OLD_WORD) {
        gpu_fail(gpu, "a read saw neither page: 0x%08x", words[0]);
    }
    return true;
}

static void count_orders(struct order* at)
{
    static const char* const names[ORDER_KINDS] = {
        "none", "none; the queue has work before the bind", "a semaphore"};
    const uint32_t rounds = at->gpu->quick ? 5 : 50;
    printf("A page is bound in the place of another, then read, on %s.\n\n"
           "| what orders them | reads | saw the new page |\n| --- | --- | --- |\n",
           at->bind_queue == at->gpu->queues[0].queue ? "one queue" : "two queues");
    for (uint32_t kind = 0; kind < ORDER_KINDS; ++kind) {
        uint32_t made = 0;
        uint32_t seen = 0;
        bool is_new = false;
        for (; made < rounds && read_behind_bind(at, (enum order_kind)kind, &is_new); ++made) {
            seen += is_new ? 1 : 0;
        }
        printf("| %s | %u | %u |\n", names[kind], made, seen);
        if (kind == BY_SEMAPHORE && seen != rounds) {
            gpu_fail(at->gpu, "a read behind a semaphore saw the old page");
        }
    }
}

/* ---- a move ---- */

static bool copy_alone(struct order* at)
{
    const uint64_t done = ++at->gpu->value;
    return submit(at, at->gpu->queues[0].queue, at->read, 0, done) && wait_for(at, done);
}

static bool bind_alone(struct order* at)
{
    const uint64_t done = ++at->gpu->value;
    return bind(at, done % 2 == 0, 0, done) && wait_for(at, done);
}

static bool copy_bind_copy(struct order* at)
{
    const VkQueue queue = at->gpu->queues[0].queue;
    const uint64_t copied = ++at->gpu->value;
    const uint64_t bound = ++at->gpu->value;
    const uint64_t done = ++at->gpu->value;
    return submit(at, queue, at->read, 0, copied) && bind(at, bound % 2 == 0, copied, bound) &&
           submit(at, queue, at->read, bound, done) && wait_for(at, done);
}

static bool copy_bind_copy_by_host(struct order* at)
{
    return copy_alone(at) && bind_alone(at) && copy_alone(at);
}

static void time_moves(struct order* at)
{
    static const struct {
        const char* name;
        bool (*way)(struct order*);
    } ways[] = {{"a copy of a page", copy_alone},
                {"a bind of a page", bind_alone},
                {"copy, bind, copy, ordered by semaphores", copy_bind_copy},
                {"copy, bind, copy, the host waits between them", copy_bind_copy_by_host}};
    printf("\nUntil the host sees the end; %u rounds, us\n\n| | p50 | p99 |\n| --- | --- | --- |\n",
           at->rounds);
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; ++w) {
        bool done = true;
        for (uint32_t i = 0; done && i < at->rounds; ++i) {
            const double before = gpu_now();
            done = ways[w].way(at);
            at->times[i] = gpu_now() - before;
        }
        if (done) {
            const double p99 = gpu_percentile(at->times, at->rounds, 0.99);
            printf("| %s | %.1f | %.1f |\n", ways[w].name,
                   1e6 * gpu_percentile(at->times, at->rounds, 0.5), 1e6 * p99);
        }
    }
}

/* ---- at once ---- */

/* Binds, one after the other, each awaited by a semaphore of its own only at the end; seconds. */
static double bind_many(struct order* at, uint64_t* last)
{
    const double before = gpu_now();
    for (uint32_t i = 0; i < BINDS; ++i) {
        *last = ++at->gpu->value;
        if (!bind(at, i % 2 == 0, 0, *last)) {
            break;
        }
    }
    return gpu_now() - before;
}

/* The main queue copies for long meanwhile. Only the binds signal the timeline, so its values rise.
 */
static void time_at_once(struct order* at)
{
    struct gpu_case* gpu = at->gpu;
    const VkQueue main_queue = gpu->queues[0].queue;
    uint64_t last = 0;
    double before = gpu_now();
    if (!submit(at, main_queue, at->work, 0, 0) || vkQueueWaitIdle(main_queue) != VK_SUCCESS) {
        return;
    }
    const double work = gpu_now() - before;
    before = gpu_now();
    const double calls = bind_many(at, &last);
    if (!wait_for(at, last)) {
        return;
    }
    const double binds = gpu_now() - before;
    before = gpu_now();
    if (!submit(at, main_queue, at->work, 0, 0)) {
        return;
    }
    const double begun = gpu_now();
    const double calls_meanwhile = bind_many(at, &last);
    if (!wait_for(at, last)) {
        return;
    }
    const double binds_meanwhile = gpu_now() - begun;
    (void)vkQueueWaitIdle(main_queue);
    const double work_meanwhile = gpu_now() - before;
    printf("\n%d binds of a page and %d copies of %llu MiB, on %s; ms\n\n"
           "| | alone | at once |\n| --- | --- | --- |\n"
           "| vkQueueBindSparse, the calls | %.3f | %.3f |\n"
           "| until the last bind is done | %.3f | %.3f |\n"
           "| until the last copy is done | %.3f | %.3f |\n",
           BINDS, WORK_COPIES, (unsigned long long)(at->large[0].size / MIB),
           at->bind_queue == main_queue ? "one queue" : "two queues", 1e3 * calls,
           1e3 * calls_meanwhile, 1e3 * binds, 1e3 * binds_meanwhile, 1e3 * work,
           1e3 * work_meanwhile);
}

static void look_at_order(struct order* at)
{
    struct gpu_case* gpu = at->gpu;
    const VkDeviceSize large = (gpu->quick ? 4 : 256) * MIB;
    if (make_sparse_page(at) && gpu_make_readback(gpu, at->page, &at->seen) &&
        gpu_make_shared(gpu, large, MAAR_DEDICATED_ALWAYS, &at->large[0]) &&
        gpu_make_shared(gpu, large, MAAR_DEDICATED_ALWAYS, &at->large[1]) && record_both(at) &&
        write_page(at, false) && write_page(at, true)) {
        count_orders(at);
        time_moves(at);
        time_at_once(at);
    }
    (void)vkDeviceWaitIdle(gpu->device);
    vkDestroyBuffer(gpu->device, at->sparse, NULL);
    vkFreeMemory(gpu->device, at->memory, NULL);
    gpu_free(gpu, &at->seen);
    gpu_free(gpu, &at->large[0]);
    gpu_free(gpu, &at->large[1]);
    at->sparse = VK_NULL_HANDLE;
    at->memory = VK_NULL_HANDLE;
}

int main(int argc, char** argv)
{
    static struct gpu_case gpu;
    static struct order at;
    int code = gpu_open(&gpu, argc, argv, GPU_NEEDS_NOTHING, "The order of copies and binds");
    if (code == GPU_EXIT_OK && (gpu.binding == UINT32_MAX ||
                                gpu.advice.features.features.sparseResidencyBuffer != VK_TRUE)) {
        printf("No sparse buffers here.\n");
        (void)gpu_close(&gpu);
        return GPU_EXIT_SKIPPED;
    }
    if (code == GPU_EXIT_OK) {
        at.gpu = &gpu;
        at.rounds = gpu.quick ? 20 : MOST_ROUNDS;
        at.bind_queue = gpu.queues[gpu.binding].queue;
        at.bind_family = gpu.queues[gpu.binding].familyIndex;
        look_at_order(&at);
        if (gpu.side_queue != NULL && gpu.side_queue != at.bind_queue) {
            printf("\nThe binds on another queue (family %u):\n\n", gpu.side_family);
            at.bind_queue = gpu.side_queue;
            at.bind_family = gpu.side_family;
            look_at_order(&at);
        }
    }
    const int closed = gpu_close(&gpu);
    return code == GPU_EXIT_OK ? closed : code;
}
