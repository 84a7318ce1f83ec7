/*
 * The player: see stalls_run.h. Every submission declares that it reads or writes its objects, so
 * the driver checks that it waits for its copies; at the end all contents are compared.
 */
#include "stalls_run.h"

#include "bench_common.h"
#include "maar/maar.h"
#include "maar/volk.h"
#include "stalls_oldest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECORD_NS = 20000, /* the host's time for a submission */
    COMMAND_BUFFERS = 256,
    MOST_USES = 1024,
    SOME_QUEUES = 16,
    DECLARED = 256 /* bytes of each object that a submission declares to use */
};

struct player {
    const struct stalls_workload* workload;
    const struct stalls_profile* profile;
    enum stalls_manner manner;
    struct bench_device bench;
    struct bench_heaps heaps;
    MaarDeviceRecommendation advice;
    MaarQueue queues[2]; /* of the submissions, and of the copies */
    uint32_t queue_count;
    VkDevice device;
    MaarAllocator allocator;
    MaarResidency residency;
    struct stalls_oldest oldest;
    struct stalls_oldest_item* items;
    MaarResident* residents;
    VkSemaphore timeline;
    uint64_t value;
    VkCommandPool pool;
    VkCommandBuffer commands[COMMAND_BUFFERS];
    VkBuffer readback;
    MaarAllocation readback_memory;
    uint64_t largest;
    uint64_t* frame_values; /* the last value of each frame */
    uint64_t ended_ns;      /* when the last submission ended */
};

/* ---- the device ---- */

/* Finds a queue for copies: of a family that only copies, or computes, or a second one. */
static void choose_queues(struct player* player)
{
    VkQueueFamilyProperties families[SOME_QUEUES];
    uint32_t count = SOME_QUEUES;
    int best = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(player->bench.physical, &count, families);
    player->queues[1] = player->queues[0];
    if (families[0].queueCount > 1) {
        player->queues[1].queueIndex = 1;
        best = 1;
    }
    for (uint32_t i = 1; i < count; ++i) {
        const VkQueueFlags flags = families[i].queueFlags;
        const bool copies = (flags & (VK_QUEUE_TRANSFER_BIT | VK_QUEUE_COMPUTE_BIT)) != 0;
        const int rank = (flags & VK_QUEUE_GRAPHICS_BIT) != 0  ? 0
                         : (flags & VK_QUEUE_COMPUTE_BIT) != 0 ? 2
                                                               : 3;
        if (copies && rank > best) {
            best = rank;
            player->queues[1] = (MaarQueue){.familyIndex = i};
        }
    }
    player->queue_count = best > 0 ? 2 : 1;
}

static void create_stalls_device(struct player* player)
{
    const float priorities[2] = {1.0f, 1.0f};
    VkDeviceQueueCreateInfo queues[2];
    const bool is_one_family = player->queues[0].familyIndex == player->queues[1].familyIndex;
    const uint32_t infos = is_one_family ? 1 : 2;
    for (uint32_t i = 0; i < infos; ++i) {
        queues[i] = (VkDeviceQueueCreateInfo){
            .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
            .queueFamilyIndex = player->queues[i].familyIndex,
            .queueCount = is_one_family ? player->queue_count : 1,
            .pQueuePriorities = priorities,
        };
    }
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = player->advice.pFeatures,
        .queueCreateInfoCount = infos,
        .pQueueCreateInfos = queues,
        .enabledExtensionCount = player->advice.extensionCount,
        .ppEnabledExtensionNames = player->advice.ppExtensionNames,
    };
    bench_expect(vkCreateDevice(player->bench.physical, &info, NULL, &player->device),
                 "vkCreateDevice");
    volkLoadDevice(player->device);
    for (uint32_t i = 0; i < 2; ++i) {
        vkGetDeviceQueue(player->device, player->queues[i].familyIndex,
                         player->queues[i].queueIndex, &player->queues[i].queue);
    }
}

static void start_time(struct player* player, const struct stalls_profile* profile)
{
    MaarSimulatedTimeInfo time = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_TIME_INFO};
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(player->bench.physical, &memory);
    for (uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
        const bool is_local = (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0;
        const double bytes = is_local ? profile->device_bytes : profile->bus_bytes;
        time.heapBandwidth[i] = (uint64_t)(bytes * 1e9 / STALLS_SCALE);
    }
    bench_expect(maarSimulatedSetTime(player->bench.physical, &time), "maarSimulatedSetTime");
}

static void open_player(struct player* player, const struct stalls_profile* profile)
{
    char name[128];
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                             .pNext = &type};
    snprintf(name, sizeof(name), "simulated:%s", profile->name);
    bench_device_open(&player->bench, name, &player->heaps);
    maarSimulatedSetFlags(player->bench.physical, MAAR_SIMULATED_EXECUTE_BIT |
                                                      MAAR_SIMULATED_CHECK_CONTENTS_BIT |
                                                      MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT |
                                                      MAAR_SIMULATED_ALLOW_ALIASING_BIT);
    player->advice.sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION;
    bench_expect(maarRecommendDevice(vkGetInstanceProcAddr, player->bench.instance.instance,
                                     player->bench.physical, NULL, &player->advice),
                 "maarRecommendDevice");
    choose_queues(player);
    create_stalls_device(player);
    start_time(player, profile);
    bench_expect(vkCreateSemaphore(player->device, &semaphore, NULL, &player->timeline),
                 "vkCreateSemaphore");
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = player->queues[0].familyIndex,
    };
    bench_expect(vkCreateCommandPool(player->device, &pool, NULL, &player->pool),
                 "vkCreateCommandPool");
    const VkCommandBufferAllocateInfo buffers = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = player->pool,
        .commandBufferCount = COMMAND_BUFFERS,
    };
    bench_expect(vkAllocateCommandBuffers(player->device, &buffers, player->commands),
                 "vkAllocateCommandBuffers");
    MaarAllocatorCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
        .apiVersion = BENCH_API_VERSION,
        .instance = player->bench.instance.instance,
        .physicalDevice = player->bench.physical,
        .device = player->device,
        .enabledExtensionCount = player->advice.extensionCount,
        .ppEnabledExtensionNames = player->advice.ppExtensionNames,
        .pEnabledFeatures = player->advice.pFeatures,
        .queueCount = player->queue_count,
        .pQueues = player->queues,
    };
    maarUseVolk(&info);
    bench_expect(maarCreateAllocator(&info, &player->allocator), "maarCreateAllocator");
}

/* ---- residents ---- */

static void open_residents(struct player* player)
{
    const struct stalls_workload* w = player->workload;
    const MaarResidencyPolicy oldest = stalls_oldest_table(&player->oldest);
    const MaarResidencyCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENCY_CREATE_INFO,
        .pNext = player->manner == STALLS_OLDEST ? &oldest : NULL,
        .queueIndex = player->queue_count - 1,
        .deviceBudget =
            player->manner == STALLS_ROOM ? 2 * w->all_bytes : w->all_bytes * w->budget / 100,
        .hostBudget = 2 * w->all_bytes,
    };
    const uint32_t families[2] = {player->queues[0].familyIndex, player->queues[1].familyIndex};
    bench_expect(maarCreateResidency(player->allocator, &how, &player->residency),
                 "maarCreateResidency");
    player->residents = bench_allocate(w->object_count, sizeof *player->residents);
    player->items = bench_allocate(w->object_count, sizeof *player->items);
    for (uint32_t i = 0; i < w->object_count; ++i) {
        const VkBufferCreateInfo buffer = {
            .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
            .size = w->sizes[i],
            .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                     VK_BUFFER_USAGE_TRANSFER_DST_BIT,
            .sharingMode =
                families[0] != families[1] ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
            .queueFamilyIndexCount = families[0] != families[1] ? 2 : 0,
            .pQueueFamilyIndices = families,
        };
        const MaarResidentCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
                                             .pBufferInfo = &buffer,
                                             .pUserData = &player->items[i]};
        bench_expect(
            maarCreateResident(player->allocator, player->residency, &info, &player->residents[i]),
            "maarCreateResident");
        player->largest = w->sizes[i] > player->largest ? w->sizes[i] : player->largest;
    }
    const VkBufferCreateInfo buffer = bench_buffer_info(player->largest);
    const MaarAllocationCreateInfo memory = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                             .usage = MAAR_MEMORY_USAGE_READBACK};
    bench_expect(maarCreateBuffer(player->allocator, &buffer, &memory, &player->readback,
                                  &player->readback_memory),
                 "maarCreateBuffer");
}

/* ---- submissions ---- */

static MaarSimulatedClocks read_clocks(const struct player* player)
{
    MaarSimulatedClocks clocks = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_CLOCKS};
    maarSimulatedGetClocks(player->device, &clocks);
    return clocks;
}

static void wait_value(const struct player* player, uint64_t value)
{
    const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &player->timeline,
                                      .pValues = &value};
    bench_expect(vkWaitSemaphoresKHR(player->device, &wait, UINT64_MAX), "vkWaitSemaphores");
}

static void order_everything(VkCommandBuffer commands)
{
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                     .dstAccessMask =
                                         VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &barrier, 0, NULL, 0, NULL);
}

static VkCommandBuffer begin_commands(struct player* player)
{
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkCommandBuffer commands = player->commands[player->value % COMMAND_BUFFERS];
    bench_expect(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    order_everything(commands);
    return commands;
}

/* Submits commands after what a use waits for. Returns the point of their end. */
static MaarPoint submit_commands(struct player* player, VkCommandBuffer commands,
                                 const MaarUseInfo* use)
{
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const uint64_t signal = ++player->value;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = use->mustWait == VK_TRUE ? 1 : 0,
        .pWaitSemaphoreValues = &use->wait.value,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &signal,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .waitSemaphoreCount = values.waitSemaphoreValueCount,
        .pWaitSemaphores = &use->wait.semaphore,
        .pWaitDstStageMask = &stage,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &player->timeline,
    };
    order_everything(commands);
    bench_expect(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    bench_expect(vkQueueSubmit(player->queues[0].queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
    return (MaarPoint){player->timeline, signal};
}

static MaarUse begin_use(struct player* player, uint32_t count, const MaarResidentUse* uses,
                         MaarResidentObject* objects, MaarUseInfo* info)
{
    const MaarUseBeginInfo begin = {.sType = MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO,
                                    .flags = MAAR_USE_WAIT_BIT,
                                    .useCount = count,
                                    .pUses = uses};
    MaarUse use = VK_NULL_HANDLE;
    *info = (MaarUseInfo){.sType = MAAR_STRUCTURE_TYPE_USE_INFO};
    bench_expect(maarBeginUse(player->allocator, player->residency, &begin, objects, info, &use),
                 "maarBeginUse");
    return use;
}

/* Submits one command for an object's buffer: writes its contents, or reads them back. */
static void fill_or_read(struct player* player, uint32_t object, bool fills)
{
    const MaarResidentUse use = {.resident = player->residents[object],
                                 .access =
                                     fills ? MAAR_ACCESS_OVERWRITE_BIT : MAAR_ACCESS_READ_BIT};
    const VkBufferCopy region = {.size = player->workload->sizes[object]};
    MaarResidentObject buffer;
    MaarUseInfo info;
    const MaarUse begun = begin_use(player, 1, &use, &buffer, &info);
    const VkCommandBuffer commands = begin_commands(player);
    if (fills) {
        vkCmdFillBuffer(commands, buffer.buffer, 0, VK_WHOLE_SIZE, object + 1);
    } else {
        vkCmdCopyBuffer(commands, buffer.buffer, player->readback, 1, &region);
    }
    const MaarPoint point = submit_commands(player, commands, &info);
    bench_expect(maarEndUse(player->allocator, player->residency, begun, 1, &point), "maarEndUse");
    wait_value(player, player->value);
}

static void compare_contents(struct player* player)
{
    uint32_t* words = bench_allocate(1, player->largest);
    for (uint32_t object = 0; object < player->workload->object_count; ++object) {
        const uint64_t size = player->workload->sizes[object];
        fill_or_read(player, object, false);
        bench_expect(
            maarCopyFromAllocation(player->allocator, player->readback_memory, 0, size, words),
            "maarCopyFromAllocation");
        for (uint64_t i = 0; i < size / sizeof words[0]; ++i) {
            if (words[i] != object + 1) {
                bench_die(BENCH_EXIT_FAILED, "object %u has lost its contents", object);
            }
        }
    }
    free(words);
}

/* ---- the play ---- */

/* Lets the host come to the beginning of a frame. */
static void begin_frame(struct player* player, uint32_t frame, uint64_t begin_ns)
{
    const struct stalls_workload* w = player->workload;
    if (frame >= w->frames_ahead) {
        wait_value(player, player->frame_values[frame - w->frames_ahead]);
    }
    const uint64_t host = read_clocks(player).host;
    const uint64_t tick = begin_ns + frame * w->frame_ns;
    if (w->frame_ns != 0 && host < tick) {
        maarSimulatedAdvanceHostClock(player->device, tick - host);
    }
}

static void name_ahead(struct player* player, const struct stalls_submission* submission)
{
    static MaarResident named[1 << 16];
    /* What the bus carries until the next update; on the only queue, while that has nothing else to
     * do. */
    const uint64_t frame_ns = player->workload->frame_ns;
    const bool is_paced = frame_ns > submission->work_ns;
    const uint64_t busy_ns = player->queue_count == 1 ? submission->work_ns : 0;
    const double ns = (double)(is_paced ? frame_ns - busy_ns : submission->work_ns);
    const MaarResidencyUpdate update = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENCY_UPDATE,
        .maxCopySize = (VkDeviceSize)(ns * player->profile->bus_bytes / STALLS_SCALE) + 1,
        .maxCopyCount = UINT32_MAX,
    };
    for (uint32_t i = 0; i < submission->ahead_count; ++i) {
        named[i] = player->residents[player->workload->ahead[submission->ahead_begin + i]];
    }
    if (player->manner == STALLS_MAAR) {
        bench_expect(maarPrefetchResidents(player->allocator, player->residency,
                                           submission->ahead_count, named),
                     "maarPrefetchResidents");
    }
    bench_expect(maarUpdateResidency(player->allocator, player->residency, &update),
                 "maarUpdateResidency");
}

/* Plays one submission. Returns its stall. */
static uint64_t play_submission(struct player* player, const struct stalls_submission* submission)
{
    MaarResidentUse uses[MOST_USES];
    MaarResidentObject objects[MOST_USES];
    MaarUseInfo info;
    const uint64_t host_ns = read_clocks(player).host;
    for (uint32_t i = 0; i < submission->use_count; ++i) {
        const uint32_t use = player->workload->uses[submission->use_begin + i];
        uses[i] =
            (MaarResidentUse){.resident = player->residents[use & ~STALLS_WRITES],
                              .access = MAAR_ACCESS_READ_BIT |
                                        ((use & STALLS_WRITES) != 0 ? MAAR_ACCESS_WRITE_BIT : 0u)};
    }
    const MaarUse use = begin_use(player, submission->use_count, uses, objects, &info);
    const VkCommandBuffer commands = begin_commands(player);
    for (uint32_t i = 0; i < submission->use_count; ++i) {
        const bool writes = (uses[i].access & MAAR_ACCESS_WRITE_BIT) != 0;
        maarSimulatedCmdAccess(commands, objects[i].buffer, 0, DECLARED,
                               VK_ACCESS_SHADER_READ_BIT |
                                   (writes ? VK_ACCESS_SHADER_WRITE_BIT : 0u));
    }
    maarSimulatedCmdWork(commands, submission->work_ns);
    maarSimulatedAdvanceHostClock(player->device, RECORD_NS);
    const MaarPoint point = submit_commands(player, commands, &info);
    const uint64_t submitted_ns = host_ns + RECORD_NS;
    const uint64_t possible_ns = submitted_ns > player->ended_ns ? submitted_ns : player->ended_ns;
    player->ended_ns = read_clocks(player).queues[0];
    const uint64_t begin_ns = player->ended_ns - submission->work_ns;
    bench_expect(maarEndUse(player->allocator, player->residency, use, 1, &point), "maarEndUse");
    return begin_ns > possible_ns ? begin_ns - possible_ns : 0;
}

static uint64_t restored_bytes(const struct player* player)
{
    MaarResidencyInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_INFO};
    bench_expect(maarGetResidencyInfo(player->allocator, player->residency, &info),
                 "maarGetResidencyInfo");
    return info.tiers[MAAR_TIER_DEVICE].restoredSize * STALLS_SCALE;
}

static void play(struct player* player, struct stalls_result* result)
{
    const struct stalls_workload* w = player->workload;
    const uint64_t begin_ns = read_clocks(player).host;
    uint64_t counted_ns = begin_ns;
    uint64_t counted_bytes = 0;
    for (uint32_t i = 0; i < w->submission_count; ++i) {
        const struct stalls_submission* submission = &w->submissions[i];
        const bool is_first = i == 0 || w->submissions[i - 1].frame != submission->frame;
        if (is_first) {
            begin_frame(player, submission->frame, begin_ns);
        }
        if (is_first && submission->frame == w->warm_frames) {
            counted_ns = read_clocks(player).host;
            counted_bytes = restored_bytes(player);
        }
        result->stalls_ns[i] = play_submission(player, submission);
        player->frame_values[submission->frame] = player->value;
        if (submission->updates) {
            name_ahead(player, submission);
        }
    }
    result->restored = restored_bytes(player) - counted_bytes;
    wait_value(player, player->value);
    result->time_ns = read_clocks(player).host - counted_ns;
}

static void close_player(struct player* player)
{
    maarDestroyResidency(player->allocator, player->residency);
    maarDestroyBuffer(player->allocator, player->readback, player->readback_memory);
    maarDestroyAllocator(player->allocator);
    vkDestroyCommandPool(player->device, player->pool, NULL);
    vkDestroySemaphore(player->device, player->timeline, NULL);
    vkDestroyDevice(player->device, NULL);
    bench_device_close(&player->bench);
    free(player->residents);
    free(player->items);
    free(player->frame_values);
}

struct stalls_result stalls_run(const struct stalls_workload* workload,
                                const struct stalls_profile* profile, enum stalls_manner manner)
{
    struct player* player = bench_allocate(1, sizeof *player);
    struct stalls_result result = {
        .stalls_ns = bench_allocate(workload->submission_count, sizeof(uint64_t))};
    player->workload = workload;
    player->manner = manner;
    player->profile = profile;
    player->frame_values = bench_allocate(workload->frame_count, sizeof(uint64_t));
    open_player(player, profile);
    result.shares_queue = player->queue_count == 1;
    open_residents(player);
    for (uint32_t i = 0; i < workload->object_count; ++i) {
        fill_or_read(player, i, true);
    }
    play(player, &result);
    compare_contents(player);
    close_player(player);
    free(player);
    return result;
}
