/*
 * Handoffs of one buffer. The buffer is released and acquired in turn, and each step waits for the
 * previous one. Maar records each step. The driver alone submits the same barrier, recorded once or
 * recorded again each time.
 */
#include "bench/sharing_calls.h"

#include "maar/objects.h"
#include "maar/share.h"

#include <stdlib.h>

enum { HANDOFFS = 256, DIRECTIONS = 2 };

#define HANDOFF_WAIT_NS 10000000000u

struct handoff_bench {
    const struct sharing_devices* devices;
    const struct sharing_side* side;
    MaarAllocator allocator;
    VkBuffer buffer;
    MaarAllocation allocation;
    VkSemaphore timeline;
    uint64_t value;
    uint32_t in_flight;
    VkCommandPool pool;
    VkCommandBuffer recorded[DIRECTIONS];
    VkCommandBuffer ring[SHARING_MAX_IN_FLIGHT];
};

static void make_shared_buffer(struct handoff_bench* bench)
{
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = SHARING_TYPE,
    };
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pNext = &export,
        .memoryTypeBits = 1u << bench->devices->type_index,
    };
    const VkBufferCreateInfo info = sharing_buffer_info(65536);
    bench_expect(
        maarCreateBuffer(bench->allocator, &info, &how, &bench->buffer, &bench->allocation),
        "maarCreateBuffer");
}

static void make_timeline(struct handoff_bench* bench)
{
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkSemaphoreCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = &type,
    };
    bench_expect(
        bench->side->table.vkCreateSemaphore(bench->side->handle, &info, NULL, &bench->timeline),
        "vkCreateSemaphore");
}

static void record_barrier(struct handoff_bench* bench, VkCommandBuffer commands, bool acquires,
                           VkCommandBufferUsageFlags usage)
{
    const struct VolkDeviceTable* const table = &bench->side->table;
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = usage,
    };
    const VkAccessFlags all = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    const uint32_t family = bench->devices->family;
    const VkBufferMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
        .srcAccessMask = acquires ? 0 : all,
        .dstAccessMask = acquires ? all : 0,
        .srcQueueFamilyIndex = acquires ? VK_QUEUE_FAMILY_EXTERNAL : family,
        .dstQueueFamilyIndex = acquires ? family : VK_QUEUE_FAMILY_EXTERNAL,
        .buffer = bench->buffer,
        .size = VK_WHOLE_SIZE,
    };
    bench_expect(table->vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    table->vkCmdPipelineBarrier(
        commands, acquires ? VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT : VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
        acquires ? VK_PIPELINE_STAGE_ALL_COMMANDS_BIT : VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0, 0,
        NULL, 1, &barrier, 0, NULL);
    bench_expect(table->vkEndCommandBuffer(commands), "vkEndCommandBuffer");
}

static void make_command_buffers(struct handoff_bench* bench)
{
    const struct sharing_side* const side = bench->side;
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = bench->devices->family,
    };
    bench_expect(side->table.vkCreateCommandPool(side->handle, &pool, NULL, &bench->pool),
                 "vkCreateCommandPool");
    VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = bench->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = DIRECTIONS,
    };
    bench_expect(side->table.vkAllocateCommandBuffers(side->handle, &info, bench->recorded),
                 "vkAllocateCommandBuffers");
    info.commandBufferCount = SHARING_MAX_IN_FLIGHT;
    bench_expect(side->table.vkAllocateCommandBuffers(side->handle, &info, bench->ring),
                 "vkAllocateCommandBuffers");
    for (int i = 0; i < DIRECTIONS; ++i) {
        record_barrier(bench, bench->recorded[i], i == 1,
                       VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    }
}

/* Does a handoff by Maar: waits for the previous value and signals the next. */
static void hand_off_maar(struct handoff_bench* bench, uint32_t index)
{
    const MaarHandoffResource resource = {
        .buffer = bench->buffer,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    const MaarPoint wait = {.semaphore = bench->timeline, .value = bench->value};
    const MaarPoint signal = {.semaphore = bench->timeline, .value = ++bench->value};
    const MaarHandoffInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_HANDOFF_INFO,
        .direction = index % DIRECTIONS == 1 ? MAAR_HANDOFF_DIRECTION_ACQUIRE
                                             : MAAR_HANDOFF_DIRECTION_RELEASE,
        .resourceCount = 1,
        .pResources = &resource,
        .waitCount = 1,
        .pWaits = &wait,
        .signalCount = 1,
        .pSignals = &signal,
    };
    bench_expect(maarSubmitHandoff(bench->allocator, &info), "maarSubmitHandoff");
}

static void submit_barrier(struct handoff_bench* bench, VkCommandBuffer commands)
{
    const uint64_t before = bench->value;
    const uint64_t after = ++bench->value;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &before,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &after,
    };
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &bench->timeline,
        .pWaitDstStageMask = &stage,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &bench->timeline,
    };
    bench_expect(bench->side->table.vkQueueSubmit(bench->side->queue, 1, &submit, VK_NULL_HANDLE),
                 "vkQueueSubmit");
}

static void hand_off_recorded(struct handoff_bench* bench, uint32_t index)
{
    submit_barrier(bench, bench->recorded[index % DIRECTIONS]);
}

static void hand_off_recording(struct handoff_bench* bench, uint32_t index)
{
    VkCommandBuffer const commands = bench->ring[index % SHARING_MAX_IN_FLIGHT];
    record_barrier(bench, commands, index % DIRECTIONS == 1,
                   VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    submit_barrier(bench, commands);
}

static void wait_handed(struct handoff_bench* bench)
{
    const VkSemaphoreWaitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &bench->timeline,
        .pValues = &bench->value,
    };
    bench_expect(
        bench->side->table.vkWaitSemaphoresKHR(bench->side->handle, &wait, HANDOFF_WAIT_NS),
        "vkWaitSemaphoresKHR");
}

static void time_handoffs(struct handoff_bench* bench,
                          void (*hand_off)(struct handoff_bench*, uint32_t), double* cpu,
                          double* wall)
{
    double spent = 0;
    const double start = bench_wall_ns();
    for (uint32_t i = 0; i < HANDOFFS; i += bench->in_flight) {
        const double before = bench_thread_ns();
        for (uint32_t j = i; j < i + bench->in_flight; ++j) {
            hand_off(bench, j);
        }
        spent += bench_thread_ns() - before;
        wait_handed(bench);
    }
    *cpu = spent / HANDOFFS;
    *wall = (bench_wall_ns() - start) / HANDOFFS;
}

void sharing_time_handoffs(const struct sharing_devices* devices, uint32_t runs, uint32_t in_flight,
                           struct sharing_times times[SHARING_HANDOFF_PEERS])
{
    static void (*const ways[SHARING_HANDOFF_PEERS])(struct handoff_bench*, uint32_t) = {
        hand_off_maar, hand_off_recorded, hand_off_recording};
    static const char* const names[SHARING_HANDOFF_PEERS] = {"maar", "driver", "driver-record"};
    struct handoff_bench bench = {
        .devices = devices,
        .in_flight = in_flight,
        .side = &devices->sides[SHARING_EXPORTER],
        .allocator = sharing_make_maar(devices, SHARING_EXPORTER),
    };
    make_shared_buffer(&bench);
    make_timeline(&bench);
    make_command_buffers(&bench);
    for (int way = 0; way < SHARING_HANDOFF_PEERS; ++way) {
        double unused;
        time_handoffs(&bench, ways[way], &unused, &unused); /* warm */
        times[way].workload = in_flight == 1 ? "handoff" : "handoff-burst";
        times[way].peer = names[way];
        times[way].self_check = way == 0 ? "passed" : "none";
    }
    for (uint32_t run = 0; run < runs; ++run) {
        for (int way = 0; way < SHARING_HANDOFF_PEERS; ++way) {
            time_handoffs(&bench, ways[way], &times[way].cpu[run], &times[way].wall[run]);
        }
    }
    /* Submissions wait for the timeline. lavapipe's queue thread reads a submission's wait once
     * more after the host has seen its signal. */
    bench_expect(bench.side->table.vkQueueWaitIdle(bench.side->queue), "vkQueueWaitIdle");
    bench_expect(maarCheckAllocator(bench.allocator, NULL), "maarCheckAllocator");
    maarDestroyBuffer(bench.allocator, bench.buffer, bench.allocation);
    maarDestroyAllocator(bench.allocator);
    bench.side->table.vkDestroyCommandPool(bench.side->handle, bench.pool, NULL);
    bench.side->table.vkDestroySemaphore(bench.side->handle, bench.timeline, NULL);
}
