/*
 * Frames of a transient heap on a real driver, under the validation layer. In each frame, buffers
 * are filled and images are cleared with a number of that frame. They are read back later in the
 * frame and compared, while frames overlap on the device. The checker of barriers sees the same
 * commands.
 */
#include <stdio.h>

#include "tests/transient/frame_player.h"

enum { FRAMES = 6, SLOT_WORDS = 1024, MOST_READS = 512 };

static struct rig rig;
static struct graph_maker maker;
static struct graph_maker resized;

/* One copy into the readback buffer. */
struct read {
    uint32_t resource;
    uint32_t word; /* the expected contents */
};

struct scene {
    VkCommandPool pools[RIG_QUEUES];
    VkSemaphore timelines[RIG_QUEUES]; /* each pass raises it by one */
    uint64_t base[RIG_QUEUES];         /* their values before the present graph */
    VkBuffer readback;
    MaarAllocation readback_memory;
    MaarTransientHeap heap;
    uint32_t copies;
    uint32_t read_count;
    struct read reads[MOST_READS];
};

static void random_frame(struct graph_maker* g, struct rig_random* random, uint32_t passes,
                         uint32_t resources, uint32_t width)
{
    graph_init(g, rig.family_count, rig.families);
    for (uint32_t i = 0; i < passes; ++i) {
        (void)graph_pass(g, rig_below(random, rig.family_count));
    }
    for (uint32_t i = 0; i < resources; ++i) {
        const uint32_t first = rig_below(random, passes - 1);
        const uint32_t last = first + 1 + rig_below(random, 2);
        const uint32_t at = i % 2 == 0
                                ? graph_buffer(g, (VkDeviceSize)4096 * (1 + rig_below(random, 9)))
                                : graph_image(g, width + 32 * rig_below(random, 5), 32);
        if (i % 2 != 0) {
            g->images[at].format = VK_FORMAT_R32_UINT;
            g->images[at].usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                                  VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_SAMPLED_BIT;
            g->views[at].format = VK_FORMAT_R32_UINT;
        }
        graph_use(g, at, first, GRAPH_TRANSFER_WRITE);
        graph_use(g, at, last < passes ? last : passes - 1, GRAPH_TRANSFER_READ);
    }
}

/* ---- commands ---- */

static MaarTransientResourceInfo read_resource(const struct scene* s, uint64_t frame,
                                               uint32_t index)
{
    MaarTransientResourceInfo info = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_RESOURCE_INFO};
    assert_int_equal(maarGetTransientResource(rig.allocator, s->heap, (uint32_t)(frame % s->copies),
                                              index, &info),
                     VK_SUCCESS);
    return info;
}

static void record_write(VkCommandBuffer commands, const MaarTransientResourceInfo* info,
                         uint32_t word)
{
    const VkClearColorValue color = {.uint32 = {word, 0, 0, 0}};
    const VkImageSubresourceRange range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    if (info->image != VK_NULL_HANDLE) {
        vkCmdClearColorImage(commands, info->image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &color, 1,
                             &range);
    } else {
        vkCmdFillBuffer(commands, info->buffer, 0, VK_WHOLE_SIZE, word);
    }
}

/* The first 4 KiB of a buffer, or 32 times 32 texels of an image. */
static void record_read(struct scene* s, VkCommandBuffer commands,
                        const MaarTransientResourceInfo* info, uint32_t resource, uint32_t word)
{
    const VkDeviceSize at = (VkDeviceSize)s->read_count * SLOT_WORDS * sizeof(uint32_t);
    assert_true(s->read_count < MOST_READS);
    s->reads[s->read_count++] = (struct read){.resource = resource, .word = word};
    if (info->image != VK_NULL_HANDLE) {
        const VkBufferImageCopy copy = {
            .bufferOffset = at,
            .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
            .imageExtent = {32, 32, 1},
        };
        vkCmdCopyImageToBuffer(commands, info->image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                               s->readback, 1, &copy);
    } else {
        const VkBufferCopy copy = {.dstOffset = at, .size = SLOT_WORDS * sizeof(uint32_t)};
        vkCmdCopyBuffer(commands, info->buffer, s->readback, 1, &copy);
    }
}

static void record_barrier(VkCommandBuffer commands, const VkDependencyInfo* info)
{
    if (info->memoryBarrierCount + info->imageMemoryBarrierCount + info->bufferMemoryBarrierCount >
        0) {
        vkCmdPipelineBarrier2(commands, info);
    }
}

static void record_pass(struct scene* s, VkCommandBuffer commands, const struct graph_maker* g,
                        uint64_t frame, uint32_t pass)
{
    MaarTransientPassBarriers barriers = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS};
    assert_int_equal(maarGetTransientPassBarriers(rig.allocator, s->heap, frame, pass, &barriers),
                     VK_SUCCESS);
    record_barrier(commands, &barriers.aliasing);
    record_barrier(commands, &barriers.before);
    for (uint32_t i = 0; i < g->graph.resourceCount; ++i) {
        for (uint32_t k = 0; k < g->resources[i].useCount; ++k) {
            const uint32_t word = (uint32_t)(frame + 1) * 1000 + i;
            if (g->uses[i][k].pass != pass) {
                continue;
            }
            const MaarTransientResourceInfo info = read_resource(s, frame, i);
            if (g->uses[i][k].access == VK_ACCESS_2_TRANSFER_WRITE_BIT) {
                record_write(commands, &info, word);
            } else {
                record_read(s, commands, &info, i, word);
            }
        }
    }
    record_barrier(commands, &barriers.after);
}

static const VkMemoryBarrier2 to_host = {
    .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
    .srcStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
    .srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
    .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT,
    .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT,
};

static VkCommandBuffer record_commands(struct scene* s, const struct graph_maker* g, uint64_t frame,
                                       uint32_t pass)
{
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = s->pools[g->passes[pass].queueIndex],
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkDependencyInfo dependency = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .memoryBarrierCount = 1,
        .pMemoryBarriers = &to_host,
    };
    VkCommandBuffer commands = NULL;
    assert_int_equal(vkAllocateCommandBuffers(rig.device, &allocate, &commands), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    record_pass(s, commands, g, frame, pass);
    vkCmdPipelineBarrier2(commands, &dependency);
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    return commands;
}

/* The value of a queue's timeline when a pass is over. */
static uint64_t value_of(const struct scene* s, const struct graph_maker* g, uint64_t frame,
                         uint32_t pass)
{
    uint64_t passes = 0;
    uint64_t position = 0;
    for (uint32_t i = 0; i < g->graph.passCount; ++i) {
        const bool same = g->passes[i].queueIndex == g->passes[pass].queueIndex;
        passes += same ? 1 : 0;
        position += same && i <= pass ? 1 : 0;
    }
    return s->base[g->passes[pass].queueIndex] + frame * passes + position;
}

static VkSemaphoreSubmitInfo timeline_of(const struct scene* s, uint32_t queue, uint64_t value)
{
    return (VkSemaphoreSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = s->timelines[queue],
        .value = value,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
}

/* Submits a pass. It waits for what the heap says, and in the first frame of a graph for everything
 * that other queues did before. */
static void submit_pass(struct scene* s, const struct graph_maker* g, uint64_t frame, uint32_t pass)
{
    VkSemaphoreSubmitInfo waits[RIG_QUEUES + GRAPH_QUEUES];
    uint32_t wait_count = 0;
    const uint32_t queue = g->passes[pass].queueIndex;
    const VkCommandBuffer commands = record_commands(s, g, frame, pass);
    MaarTransientPassBarriers barriers = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS};
    assert_int_equal(maarGetTransientPassBarriers(rig.allocator, s->heap, frame, pass, &barriers),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < barriers.waitCount; ++i) {
        const MaarTransientWait* wait = &barriers.pWaits[i];
        waits[wait_count++] = timeline_of(s, g->passes[wait->pass].queueIndex,
                                          value_of(s, g, frame - wait->framesBack, wait->pass));
    }
    for (uint32_t i = 0; i < rig.family_count && frame == 0; ++i) {
        if (i != queue && s->base[i] > 0) {
            waits[wait_count++] = timeline_of(s, i, s->base[i]);
        }
    }
    const VkCommandBufferSubmitInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                              .commandBuffer = commands};
    const VkSemaphoreSubmitInfo signal = timeline_of(s, queue, value_of(s, g, frame, pass));
    const VkSubmitInfo2 submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .waitSemaphoreInfoCount = wait_count,
        .pWaitSemaphoreInfos = waits,
        .commandBufferInfoCount = 1,
        .pCommandBufferInfos = &buffer,
        .signalSemaphoreInfoCount = 1,
        .pSignalSemaphoreInfos = &signal,
    };
    assert_int_equal(vkQueueSubmit2(rig.queues[queue], 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
}

/* Submits frames of the present graph; returns the points behind them. */
static uint32_t submit_frames(struct scene* s, const struct graph_maker* g, MaarPoint* points)
{
    uint32_t order[GRAPH_PASSES];
    uint64_t last[RIG_QUEUES];
    assert_true(graph_order(g, order));
    memcpy(last, s->base, sizeof last);
    for (uint64_t frame = 0; frame < FRAMES; ++frame) {
        for (uint32_t i = 0; i < g->graph.passCount; ++i) {
            submit_pass(s, g, frame, order[i]);
            last[g->passes[order[i]].queueIndex] = value_of(s, g, frame, order[i]);
        }
    }
    memcpy(s->base, last, sizeof last);
    for (uint32_t i = 0; i < rig.family_count; ++i) {
        points[i] = (MaarPoint){.semaphore = s->timelines[i], .value = last[i]};
    }
    return rig.family_count;
}

static void compare(struct scene* s)
{
    void* data = NULL;
    assert_int_equal(vkDeviceWaitIdle(rig.device), VK_SUCCESS);
    assert_int_equal(maarMapMemory(rig.allocator, s->readback_memory, &data), VK_SUCCESS);
    assert_int_equal(maarInvalidateAllocation(rig.allocator, s->readback_memory, 0, VK_WHOLE_SIZE),
                     VK_SUCCESS);
    const uint32_t* words = data;
    for (uint32_t i = 0; i < s->read_count && rig_executes(); ++i) {
        for (uint32_t k = 0; k < SLOT_WORDS; ++k) {
            if (words[i * SLOT_WORDS + k] != s->reads[i].word) {
                fail_msg("read %u of resource %u has %u at word %u, not %u", i,
                         s->reads[i].resource, words[i * SLOT_WORDS + k], k, s->reads[i].word);
            }
        }
    }
    maarUnmapMemory(rig.allocator, s->readback_memory);
}

static void open_scene(struct scene* s, uint32_t copies)
{
    memset(s, 0, sizeof *s);
    for (uint32_t i = 0; i < rig.family_count; ++i) {
        const VkCommandPoolCreateInfo pool = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
            .queueFamilyIndex = rig.families[i],
        };
        assert_int_equal(vkCreateCommandPool(rig.device, &pool, NULL, &s->pools[i]), VK_SUCCESS);
        s->timelines[i] = rig_create_timeline(&rig, 0);
    }
    VkBufferCreateInfo info =
        rig_buffer_info((VkDeviceSize)MOST_READS * SLOT_WORDS * sizeof(uint32_t));
    if (rig.family_count > 1) {
        info.sharingMode = VK_SHARING_MODE_CONCURRENT;
        info.queueFamilyIndexCount = rig.family_count;
        info.pQueueFamilyIndices = rig.families;
    }
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    assert_int_equal(
        maarCreateBuffer(rig.allocator, &info, &how, &s->readback, &s->readback_memory),
        VK_SUCCESS);
    const MaarTransientHeapCreateInfo heap = {
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO,
        .copyCount = copies,
        .pGraph = &maker.graph,
    };
    s->copies = copies;
    assert_int_equal(maarCreateTransientHeap(rig.allocator, &heap, &s->heap), VK_SUCCESS);
}

/* Shows the same frames to the checker. */
static void check_barriers(const struct scene* s, const struct graph_maker* g)
{
    struct player player;
    player_open(&player, &rig, s->heap, g);
    player_run(&player, 0, FRAMES, 1);
    if (hazards_finding_count(player.hazards) > 0) {
        fail_msg("%s", hazards_finding(player.hazards, 0));
    }
    player_close(&player);
}

/* Runs frames, an update while they may still execute, and frames of the new graph behind them. */
static void run_frames(uint32_t seed, uint32_t copies)
{
    static struct scene scene;
    struct rig_random random = {seed};
    random_frame(&maker, &random, 8, 10, 64);
    random_frame(&resized, &random, 8, 12, 96);
    open_scene(&scene, copies);
    MaarPoint points[RIG_QUEUES];
    check_barriers(&scene, &maker);
    const uint32_t point_count = submit_frames(&scene, &maker, points);
    assert_int_equal(
        maarUpdateTransientHeap(rig.allocator, scene.heap, &resized.graph, point_count, points),
        VK_SUCCESS);
    (void)submit_frames(&scene, &resized, points);
    check_barriers(&scene, &resized);
    compare(&scene);
    maarDestroyTransientHeap(rig.allocator, scene.heap);
    maarDestroyBuffer(rig.allocator, scene.readback, scene.readback_memory);
    assert_int_equal(maarWaitPending(rig.allocator, 0), VK_SUCCESS);
    maarDestroyAllocator(rig.allocator);
    rig.allocator = VK_NULL_HANDLE;
    for (uint32_t i = 0; i < rig.family_count; ++i) {
        vkDestroyCommandPool(rig.device, scene.pools[i], NULL);
        vkDestroySemaphore(rig.device, scene.timelines[i], NULL);
    }
}

static void contents_stay_apart(void** state)
{
    (void)state;
    for (uint32_t copies = 1; copies <= 3; ++copies) {
        if (!rig_open_vulkan(&rig, NULL, false)) {
            skip();
        }
        rig_make_allocator(&rig);
        run_frames(copies, copies);
        rig_close(&rig);
    }
}

static void contents_stay_apart_on_two_queues(void** state)
{
    const struct rig_setup setup = {.two_families = true};
    (void)state;
    for (uint32_t seed = 1; seed <= 4; ++seed) {
        if (!rig_open_vulkan(&rig, &setup, false)) {
            skip();
        }
        rig_make_allocator(&rig);
        if (rig.family_count < 2) {
            print_message("skipped: the device has no second queue family that computes\n");
            rig_close(&rig);
            skip();
        }
        run_frames(seed, 1 + seed % 2);
        rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contents_stay_apart),
        cmocka_unit_test(contents_stay_apart_on_two_queues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
