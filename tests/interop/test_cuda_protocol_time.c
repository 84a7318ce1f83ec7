/*
 * Protocol tests of maar/cuda.h: timelines and handoffs. Vulkan writes a number that CUDA reads,
 * and CUDA one that Vulkan reads, round after round; on lavapipe both really happen. What holds
 * them in order is then left out on purpose, to see that it is noticed.
 */
#include "tests/interop/cuda_case.h"

#include <time.h>

enum { ROUNDS = 2000, FEWER_ROUNDS = 300 };

/* A shared word, and what each side saw of it. */
struct exchange {
    struct cuda_case* c;
    VkBuffer shared;
    MaarAllocation shared_memory;
    uint64_t pointer; /* the word in CUDA */
    VkBuffer readback;
    MaarAllocation readback_memory;
    const uint32_t* seen_by_vulkan;
    uint32_t seen_by_cuda[ROUNDS + 1];
    VkCommandPool pool;
    VkCommandBuffer commands[2 * ROUNDS];
    uint32_t command_count;
};

static void open_exchange(struct exchange* x, struct cuda_case* c)
{
    memset(x, 0, sizeof *x);
    x->c = c;
    x->shared_memory = rig_create_shared_buffer(&c->rig, 256, &x->shared);
    x->pointer = cuda_case_memory(c, x->shared_memory).devicePointer;
    VkBufferCreateInfo info = rig_buffer_info((VkDeviceSize)4 * (ROUNDS + 1));
    info.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    assert_int_equal(
        maarCreateBuffer(c->rig.allocator, &info, &how, &x->readback, &x->readback_memory),
        VK_SUCCESS);
    x->seen_by_vulkan = maarGetMappedData(c->rig.allocator, x->readback_memory);
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = c->queue.familyIndex,
    };
    assert_int_equal(vkCreateCommandPool(c->rig.device, &pool, NULL, &x->pool), VK_SUCCESS);
}

static void close_exchange(struct exchange* x)
{
    struct rig* rig = &x->c->rig;
    sharing_finish(rig);
    vkDestroyCommandPool(rig->device, x->pool, NULL);
    maarDestroyBuffer(rig->allocator, x->shared, x->shared_memory);
    maarDestroyBuffer(rig->allocator, x->readback, x->readback_memory);
}

static MaarHandoffResource shared_resource(const struct exchange* x)
{
    return (MaarHandoffResource){
        .buffer = x->shared,
        .stages = VK_PIPELINE_STAGE_TRANSFER_BIT,
        .access = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
    };
}

static VkCommandBuffer begin_commands(struct exchange* x)
{
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = x->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer* commands = &x->commands[x->command_count++];
    assert_int_equal(vkAllocateCommandBuffers(x->c->rig.device, &allocate, commands), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(*commands, &begin), VK_SUCCESS);
    return *commands;
}

/* The word goes to seen_by_vulkan[round]. */
static void record_look(struct exchange* x, VkCommandBuffer commands, uint32_t round)
{
    const VkBufferCopy region = {.dstOffset = 4 * (VkDeviceSize)round, .size = 4};
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_HOST_READ_BIT,
    };
    vkCmdCopyBuffer(commands, x->shared, x->readback, 1, &region);
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &barrier, 0, NULL, 0, NULL);
}

static void record_write(struct exchange* x, VkCommandBuffer commands, uint32_t value)
{
    vkCmdFillBuffer(commands, x->shared, 0, 4, value);
}

/* CUDA's part of a round: looks at the word, and writes its own. */
static void queue_cuda_part(struct exchange* x, uint32_t round)
{
    const struct maar_cuda_driver* d = &x->c->driver;
    assert_int_equal(d->cuMemcpyDtoHAsync(&x->seen_by_cuda[round], x->pointer, 4, x->c->stream), 0);
    assert_int_equal(d->cuMemsetD32Async(x->pointer, ~round, 1, x->c->stream), 0);
}

/* How many numbers were not what the other side had written. */
static uint32_t count_wrong(const struct exchange* x, uint32_t rounds)
{
    uint32_t wrong = 0;
    for (uint32_t i = 1; i <= rounds && !x->c->rig.simulated; ++i) {
        wrong += x->seen_by_cuda[i] != i;
        wrong += x->seen_by_vulkan[i] != ~i;
    }
    return wrong;
}

static void submit_points(struct exchange* x, VkCommandBuffer commands, const MaarPoint* wait,
                          const MaarPoint* signal)
{
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = wait != NULL,
        .pWaitSemaphoreValues = wait != NULL ? &wait->value : NULL,
        .signalSemaphoreValueCount = signal != NULL,
        .pSignalSemaphoreValues = signal != NULL ? &signal->value : NULL,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .waitSemaphoreCount = wait != NULL,
        .pWaitSemaphores = wait != NULL ? &wait->semaphore : NULL,
        .pWaitDstStageMask = &stage,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = signal != NULL,
        .pSignalSemaphores = signal != NULL ? &signal->semaphore : NULL,
    };
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    assert_int_equal(vkQueueSubmit(x->c->rig.queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
}

/* ---- a timeline, its waits queued before its signals ---- */

enum broken { NOTHING_BROKEN, WAIT_LEFT_OUT, SIGNAL_LEFT_OUT };

/* Vulkan's part of a round: looks at what CUDA wrote in the last, and writes its own. */
static void submit_vulkan_part(struct exchange* x, MaarCudaTimeline timeline, uint32_t round)
{
    const MaarHandoffResource resource = shared_resource(x);
    struct rig* rig = &x->c->rig;
    MaarPoint wait = {.value = 0};
    MaarPoint signal = {.value = 0};
    VkCommandBuffer commands = begin_commands(x);
    if (round > 1) {
        assert_int_equal(
            maarGetCudaTimelineWait(x->c->cuda, timeline, 2 * (uint64_t)round - 2, &wait),
            VK_SUCCESS);
        assert_int_equal(maarCmdAcquire(rig->allocator, commands, x->c->queue.familyIndex,
                                        MAAR_HANDOFF_PEER_EXTERNAL, 1, &resource),
                         VK_SUCCESS);
        record_look(x, commands, round - 1);
    }
    record_write(x, commands, round);
    assert_int_equal(maarCmdRelease(rig->allocator, commands, x->c->queue.familyIndex,
                                    MAAR_HANDOFF_PEER_EXTERNAL, 1, &resource),
                     VK_SUCCESS);
    assert_int_equal(
        maarGetCudaTimelineSignal(x->c->cuda, timeline, 2 * (uint64_t)round - 1, &signal),
        VK_SUCCESS);
    submit_points(x, commands, round > 1 ? &wait : NULL, &signal);
}

/* Of round r, Vulkan signals 2r - 1 and CUDA 2r. */
static uint32_t play_rounds(struct exchange* x, MaarCudaTimeline timeline, uint32_t rounds,
                            enum broken broken)
{
    for (uint32_t round = 1; round <= rounds; ++round) {
        const uint64_t value = 2 * (uint64_t)round - 1;
        if (broken != WAIT_LEFT_OUT) {
            assert_int_equal(maarCudaWait(x->c->cuda, timeline, value, x->c->stream), VK_SUCCESS);
        }
        queue_cuda_part(x, round);
        if (broken ==
            WAIT_LEFT_OUT) { /* nothing holds CUDA back: it is done before Vulkan begins */
            cuda_case_finish(x->c);
            submit_vulkan_part(x, timeline, round);
            sharing_finish(&x->c->rig);
        }
        assert_int_equal(maarCudaSignal(x->c->cuda, timeline, value + 1, x->c->stream), VK_SUCCESS);
        if (broken == SIGNAL_LEFT_OUT && round == rounds) {
            return 0;
        }
        if (broken != WAIT_LEFT_OUT) {
            submit_vulkan_part(x, timeline, round);
        }
    }
    const MaarHandoffResource resource = shared_resource(x);
    MaarPoint wait = {.value = 0};
    VkCommandBuffer commands = begin_commands(x);
    assert_int_equal(maarGetCudaTimelineWait(x->c->cuda, timeline, 2 * (uint64_t)rounds, &wait),
                     VK_SUCCESS);
    assert_int_equal(maarCmdAcquire(x->c->rig.allocator, commands, x->c->queue.familyIndex,
                                    MAAR_HANDOFF_PEER_EXTERNAL, 1, &resource),
                     VK_SUCCESS);
    record_look(x, commands, rounds);
    submit_points(x, commands, &wait, NULL);
    sharing_finish(&x->c->rig);
    cuda_case_finish(x->c);
    return count_wrong(x, rounds);
}

static struct exchange exchange;

static void timeline_orders_2000_rounds_whose_waits_come_first(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    MaarCudaTimeline timeline = cuda_case_timeline(c, MAAR_HANDOFF_MODE_AUTO);
    MaarCudaTimelineInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_INFO};
    struct timespec start;
    struct timespec end;
    assert_int_equal(maarGetCudaTimelineInfo(c->cuda, timeline, &info), VK_SUCCESS);
    assert_int_equal(info.mode, MAAR_HANDOFF_MODE_TIMELINE);
    open_exchange(&exchange, c);
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    assert_int_equal(play_rounds(&exchange, timeline, ROUNDS, NOTHING_BROKEN), 0);
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    const double seconds =
        (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    print_message("%d rounds between Vulkan and the FAKE CUDA driver, waits queued first: %.1f us "
                  "each; says nothing about a GPU\n",
                  (int)ROUNDS, seconds * 1e6 / ROUNDS);
    uint64_t value = 0;
    assert_int_equal(vkGetSemaphoreCounterValue(c->rig.device, info.semaphore, &value), VK_SUCCESS);
    assert_int_equal(value, 2 * ROUNDS);
    close_exchange(&exchange);
    maarDestroyCudaTimeline(c->cuda, timeline);
}

static void left_out_wait_is_noticed(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    if (c->rig.simulated) {
        print_message("skipped: the simulated device writes nothing that could be wrong\n");
        skip();
    }
    MaarCudaTimeline timeline = cuda_case_timeline(c, MAAR_HANDOFF_MODE_TIMELINE);
    open_exchange(&exchange, c);
    /* CUDA reads before Vulkan has written: every number that it sees is wrong. */
    assert_true(play_rounds(&exchange, timeline, 1, WAIT_LEFT_OUT) > 0);
    close_exchange(&exchange);
    maarDestroyCudaTimeline(c->cuda, timeline);
}

static void left_out_signal_is_noticed(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    const struct timespec time = {.tv_nsec = 50000000};
    MaarCudaTimeline timeline = cuda_case_timeline(c, MAAR_HANDOFF_MODE_TIMELINE);
    open_exchange(&exchange, c);
    (void)play_rounds(&exchange, timeline, 3, SIGNAL_LEFT_OUT);
    (void)nanosleep(&time, NULL);
    assert_int_equal(c->driver.cuStreamQuery(c->stream), MAAR_CUDA_NOT_READY);
    c->fake->abandon_waits();
    cuda_case_finish(c);
    fake_expect_breach(c->fake, "a stream waits for value 5 of a semaphore for ever");
    close_exchange(&exchange);
    maarDestroyCudaTimeline(c->cuda, timeline);
}

/* ---- handoffs in each mode ---- */

static uint32_t hand_over_rounds(struct exchange* x, MaarCudaTimeline timeline, uint32_t rounds)
{
    const MaarHandoffResource resource = shared_resource(x);
    for (uint32_t round = 1; round <= rounds; ++round) {
        MaarCudaHandoffInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO,
            .value = 2 * (uint64_t)round - 1,
            .stream = x->c->stream,
            .resourceCount = 1,
            .pResources = &resource,
        };
        VkCommandBuffer commands = begin_commands(x);
        record_write(x, commands, round);
        submit_points(x, commands, NULL, NULL);
        assert_int_equal(maarReleaseToCuda(x->c->cuda, timeline, &info), VK_SUCCESS);
        queue_cuda_part(x, round);
        ++info.value;
        assert_int_equal(maarAcquireFromCuda(x->c->cuda, timeline, &info), VK_SUCCESS);
        commands = begin_commands(x);
        record_look(x, commands, round);
        submit_points(x, commands, NULL, NULL);
    }
    sharing_finish(&x->c->rig);
    cuda_case_finish(x->c);
    return count_wrong(x, rounds);
}

static void expect_handoffs(uint32_t kinds, bool timelines_in_cuda, MaarHandoffMode expected)
{
    const struct cuda_case_setup setup = {.kinds = kinds, .without_cuda = true, .threads = true};
    static struct cuda_case c;
    if (!cuda_case_open(&c, &setup)) {
        skip();
    }
    c.fake->set_attribute(0, MAAR_CUDA_ATTRIBUTE_TIMELINE_SEMAPHORES, timelines_in_cuda);
    const MaarCudaCreateInfo create = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_CREATE_INFO,
        .pLibraryPath = MAAR_FAKE_CUDA,
    };
    cuda_case_start(&c, &create);
    const MaarCudaInfo found = cuda_case_info(&c);
    assert_int_equal(found.handoffMode, expected);
    assert_int_equal(found.timelineSemaphores, expected == MAAR_HANDOFF_MODE_TIMELINE);
    assert_int_equal(found.binarySemaphores, (kinds & SEMAPHORE_WRAP_BINARY) != 0);
    MaarCudaTimeline timeline = cuda_case_timeline(&c, MAAR_HANDOFF_MODE_AUTO);
    open_exchange(&exchange, &c);
    assert_int_equal(hand_over_rounds(&exchange, timeline, FEWER_ROUNDS), 0);
    close_exchange(&exchange);
    maarDestroyCudaTimeline(c.cuda, timeline);
    for (int mode = MAAR_HANDOFF_MODE_TIMELINE; mode < (int)expected; ++mode) {
        const MaarCudaTimelineCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_CREATE_INFO, .mode = (MaarHandoffMode)mode};
        if (mode == MAAR_HANDOFF_MODE_BINARY && found.binarySemaphores == VK_TRUE) {
            continue;
        }
        assert_int_equal(maarCreateCudaTimeline(c.cuda, &info, &timeline),
                         VK_ERROR_FEATURE_NOT_PRESENT);
        assert_null(timeline);
        rig_forget_messages(&c.rig);
    }
    cuda_case_close(&c);
}

static void handoffs_use_timelines_where_both_have_them(void** state)
{
    (void)state;
    expect_handoffs(SEMAPHORE_WRAP_ALL, true, MAAR_HANDOFF_MODE_TIMELINE);
}

static void handoffs_fall_back_to_binary_without_vulkan_s_timelines(void** state)
{
    (void)state;
    expect_handoffs(SEMAPHORE_WRAP_BINARY, true, MAAR_HANDOFF_MODE_BINARY);
}

static void handoffs_fall_back_to_binary_without_cuda_s_timelines(void** state)
{
    (void)state;
    expect_handoffs(SEMAPHORE_WRAP_ALL, false, MAAR_HANDOFF_MODE_BINARY);
}

static void handoffs_fall_back_to_the_host_without_semaphores(void** state)
{
    (void)state;
    expect_handoffs(SEMAPHORE_WRAP_NONE, true, MAAR_HANDOFF_MODE_HOST);
}

static void handoffs_by_the_host_do_not_use_cuda_s_semaphores(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    MaarCudaTimeline timeline = cuda_case_timeline(c, MAAR_HANDOFF_MODE_HOST);
    open_exchange(&exchange, c);
    assert_int_equal(hand_over_rounds(&exchange, timeline, FEWER_ROUNDS), 0);
    close_exchange(&exchange);
    maarDestroyCudaTimeline(c->cuda, timeline);
    assert_int_equal(c->fake->calls("cuImportExternalSemaphore"), 0);
    assert_true(c->fake->calls("cuLaunchHostFunc") >= FEWER_ROUNDS);
}

/* Ownership passes to VK_QUEUE_FAMILY_EXTERNAL and back, of the whole buffer, with what the program
 * said of its own use. */
static void handoffs_pass_ownership(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    MaarCudaTimeline timeline = cuda_case_timeline(c, MAAR_HANDOFF_MODE_AUTO);
    open_exchange(&exchange, c);
    const MaarHandoffResource resource = shared_resource(&exchange);
    MaarCudaHandoffInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO,
        .value = 1,
        .stream = c->stream,
        .resourceCount = 1,
        .pResources = &resource,
    };
    const struct cuda_case_barriers* seen = &cuda_case_barriers;
    assert_int_equal(seen->count, 0);
    assert_int_equal(maarReleaseToCuda(c->cuda, timeline, &info), VK_SUCCESS);
    assert_int_equal(seen->count, 1);
    assert_true(seen->last.buffer == exchange.shared);
    assert_true(seen->last.offset == 0 && seen->last.size == VK_WHOLE_SIZE);
    assert_int_equal(seen->last.srcQueueFamilyIndex, c->queue.familyIndex);
    assert_int_equal(seen->last.dstQueueFamilyIndex, VK_QUEUE_FAMILY_EXTERNAL);
    assert_int_equal(seen->before, resource.stages);
    assert_int_equal(seen->last.srcAccessMask & VK_ACCESS_TRANSFER_WRITE_BIT,
                     VK_ACCESS_TRANSFER_WRITE_BIT);
    info.value = 2;
    assert_int_equal(maarAcquireFromCuda(c->cuda, timeline, &info), VK_SUCCESS);
    assert_int_equal(seen->count, 2);
    assert_true(seen->last.buffer == exchange.shared);
    assert_int_equal(seen->last.srcQueueFamilyIndex, VK_QUEUE_FAMILY_EXTERNAL);
    assert_int_equal(seen->last.dstQueueFamilyIndex, c->queue.familyIndex);
    assert_int_equal(seen->after, resource.stages);
    assert_int_equal(seen->last.dstAccessMask, resource.access);
    close_exchange(&exchange);
    maarDestroyCudaTimeline(c->cuda, timeline);
}

/* ---- rules ---- */

static void binary_sides_take_turns(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    MaarCudaTimeline timeline = cuda_case_timeline(c, MAAR_HANDOFF_MODE_BINARY);
    MaarPoint point = {.value = 0};
    /* Nobody has asked for a signal of Vulkan's, and no stream has signalled. */
    assert_int_equal(maarCudaWait(c->cuda, timeline, 1, c->stream), VK_NOT_READY);
    assert_int_equal(maarGetCudaTimelineWait(c->cuda, timeline, 1, &point), VK_NOT_READY);
    assert_int_equal(c->fake->calls("cuWaitExternalSemaphoresAsync"), 0);
    assert_int_equal(maarCudaSignal(c->cuda, timeline, 1, c->stream), VK_SUCCESS);
    assert_int_equal(maarCudaSignal(c->cuda, timeline, 2, c->stream), VK_NOT_READY);
    assert_int_equal(c->fake->calls("cuSignalExternalSemaphoresAsync"), 1);
    assert_int_equal(maarGetCudaTimelineWait(c->cuda, timeline, 1, &point), VK_SUCCESS);
    open_exchange(&exchange, c);
    VkCommandBuffer commands = begin_commands(&exchange);
    submit_points(&exchange, commands, &point, NULL);
    /* Nothing would order a second signal after that wait; Vulkan's orders both. */
    assert_int_equal(maarCudaSignal(c->cuda, timeline, 2, c->stream), VK_NOT_READY);
    assert_int_equal(maarGetCudaTimelineSignal(c->cuda, timeline, 1, &point), VK_SUCCESS);
    commands = begin_commands(&exchange);
    submit_points(&exchange, commands, NULL, &point);
    assert_int_equal(maarCudaSignal(c->cuda, timeline, 2, c->stream), VK_NOT_READY);
    assert_int_equal(maarCudaWait(c->cuda, timeline, 1, c->stream), VK_SUCCESS);
    assert_int_equal(maarGetCudaTimelineSignal(c->cuda, timeline, 2, &point), VK_NOT_READY);
    assert_int_equal(maarCudaSignal(c->cuda, timeline, 2, c->stream), VK_SUCCESS);
    assert_int_equal(maarGetCudaTimelineWait(c->cuda, timeline, 2, &point), VK_SUCCESS);
    commands = begin_commands(&exchange);
    submit_points(&exchange, commands, &point, NULL);
    close_exchange(&exchange);
    maarDestroyCudaTimeline(c->cuda, timeline);
    fake_expect_no_breach(c->fake);
}

static void semaphore_is_imported_as_what_it_is(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    MaarCudaTimeline timeline = cuda_case_timeline(c, MAAR_HANDOFF_MODE_TIMELINE);
    assert_int_equal(c->fake->last_semaphore().type, MAAR_CUDA_SEMAPHORE_TIMELINE_FD);
    maarDestroyCudaTimeline(c->cuda, timeline);
    assert_int_equal(c->fake->live(FAKE_KIND_SEMAPHORE), 0);
    timeline = cuda_case_timeline(c, MAAR_HANDOFF_MODE_BINARY);
    assert_int_equal(c->fake->last_semaphore().type, MAAR_CUDA_SEMAPHORE_OPAQUE_FD);
    assert_int_equal(c->fake->live(FAKE_KIND_SEMAPHORE), 2);
    maarDestroyCudaTimeline(c->cuda, timeline);
}

static void spoil_semaphore(struct maar_cuda_semaphore_handle* handle, void* data)
{
    handle->type = *(const enum maar_cuda_semaphore_handle_type*)data;
}

static void spoiled_semaphore_is_refused_for_its_reason(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    enum maar_cuda_semaphore_handle_type type = MAAR_CUDA_SEMAPHORE_OPAQUE_FD;
    const struct fake_tamper tamper = {.semaphore = spoil_semaphore, .data = &type};
    const MaarCudaTimelineCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_CREATE_INFO,
                                             .mode = MAAR_HANDOFF_MODE_TIMELINE};
    MaarCudaTimeline timeline = (MaarCudaTimeline)c;
    const uint32_t descriptors = rig_count_fds();
    c->fake->set_tamper(&tamper);
    assert_int_equal(maarCreateCudaTimeline(c->cuda, &info, &timeline),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    c->fake->set_tamper(NULL);
    fake_expect_breach(c->fake, "a timeline semaphore is imported as a binary one");
    assert_null(timeline);
    assert_int_equal(rig_count_fds(), descriptors);
    rig_forget_messages(&c->rig);
}

static void value_that_does_not_grow_is_misuse(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    MaarCudaTimeline timeline = cuda_case_timeline(c, MAAR_HANDOFF_MODE_TIMELINE);
    assert_int_equal(maarCudaSignal(c->cuda, timeline, 5, c->stream), VK_SUCCESS);
    assert_int_equal(maarCudaSignal(c->cuda, timeline, 5, c->stream),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_forget_messages(&c->rig);
    cuda_case_finish(c);
    assert_int_equal(c->fake->calls("cuSignalExternalSemaphoresAsync"), 1);
    maarDestroyCudaTimeline(c->cuda, timeline);
}

static void free_waits_for_a_point_that_a_stream_signals(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    MaarCudaTimeline timeline = cuda_case_timeline(c, MAAR_HANDOFF_MODE_TIMELINE);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarPoint point = {.value = 0};
    const MaarAllocation allocation = rig_create_shared_buffer(&c->rig, 65536, &buffer);
    const uint64_t pointer = cuda_case_memory(c, allocation).devicePointer;
    assert_int_equal(maarCudaWait(c->cuda, timeline, 1, c->stream), VK_SUCCESS);
    assert_int_equal(c->driver.cuMemsetD8Async(pointer, 1, 65536, c->stream), 0);
    assert_int_equal(maarCudaSignal(c->cuda, timeline, 2, c->stream), VK_SUCCESS);
    assert_int_equal(maarGetCudaTimelineWait(c->cuda, timeline, 2, &point), VK_SUCCESS);
    assert_int_equal(maarDestroyBufferAfter(c->rig.allocator, buffer, allocation, 1, &point),
                     VK_SUCCESS);
    assert_int_equal(maarTrim(c->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(c->fake->live(FAKE_KIND_MEMORY), 1); /* the stream still needs it */
    rig_signal(&c->rig, point.semaphore, 1);
    cuda_case_finish(c);
    assert_int_equal(maarTrim(c->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(c->fake->live(FAKE_KIND_MEMORY), 0);
    fake_expect_no_breach(c->fake);
    maarDestroyCudaTimeline(c->cuda, timeline);
}

int run_cuda_timeline_cases(void)
{
    const struct CMUnitTest cases[] = {
        CUDA_THREADS_CASE(timeline_orders_2000_rounds_whose_waits_come_first),
        CUDA_THREADS_CASE(left_out_wait_is_noticed),
        CUDA_THREADS_CASE(left_out_signal_is_noticed),
        cmocka_unit_test(handoffs_use_timelines_where_both_have_them),
        cmocka_unit_test(handoffs_fall_back_to_binary_without_vulkan_s_timelines),
        cmocka_unit_test(handoffs_fall_back_to_binary_without_cuda_s_timelines),
        cmocka_unit_test(handoffs_fall_back_to_the_host_without_semaphores),
        CUDA_THREADS_CASE(handoffs_by_the_host_do_not_use_cuda_s_semaphores),
        CUDA_THREADS_CASE(handoffs_pass_ownership),
        CUDA_THREADS_CASE(binary_sides_take_turns),
        CUDA_THREADS_CASE(semaphore_is_imported_as_what_it_is),
        CUDA_THREADS_CASE(spoiled_semaphore_is_refused_for_its_reason),
        CUDA_THREADS_CASE(value_that_does_not_grow_is_misuse),
        CUDA_THREADS_CASE(free_waits_for_a_point_that_a_stream_signals),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
