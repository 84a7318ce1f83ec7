/*
 * Synchronization of executed commands: what orders an access and what does not, layouts, and the
 * families that own resources. Each rule is kept once and broken once.
 */
#include "tests/unit/simulated/simulated_commands.h"

enum { SIZE = 4096 };

struct hazards {
    struct executed x; /* first */
    struct executed_buffer a, b, c;
    VkSemaphore timeline;
};

static const VkPipelineStageFlags copy_stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
static const VkAccessFlags reads = VK_ACCESS_TRANSFER_READ_BIT;
static const VkAccessFlags writes = VK_ACCESS_TRANSFER_WRITE_BIT;

static int hazards_setup(void** state)
{
    struct hazards* h = calloc(1, sizeof(*h));
    MaarSimulatedProfile* profile = malloc(sizeof(*profile));
    assert_non_null(h);
    assert_non_null(profile);
    executed_profile(profile);
    profile->queueFamilyCount = 2;
    profile->queueFamilies[1] = profile->queueFamilies[0];
    executed_open(&h->x, profile, MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT);
    free(profile);
    h->a = executed_buffer(&h->x, 0, SIZE);
    h->b = executed_buffer(&h->x, 0, SIZE);
    h->c = executed_buffer(&h->x, 1, SIZE);
    h->timeline = executed_timeline(&h->x);
    *state = h;
    return 0;
}

static int hazards_teardown(void** state)
{
    struct hazards* h = *state;
    executed_free_buffer(&h->x, &h->a);
    executed_free_buffer(&h->x, &h->b);
    executed_free_buffer(&h->x, &h->c);
    h->x.f.vkDestroySemaphore(h->x.f.device, h->timeline, NULL);
    return executed_teardown(state);
}

static uint64_t found(const struct hazards* h)
{
    const MaarSimulatedCounters counters = fixture_counters(&h->x.f);
    assert_int_equal(counters.violationCount,
                     counters.violations[MAAR_SIMULATED_VIOLATION_SYNCHRONIZATION]);
    return counters.violationCount;
}

/* ---- commands ---- */

static VkCommandBuffer start(const struct hazards* h)
{
    const VkCommandBuffer commands = executed_commands(&h->x, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    executed_begin(&h->x, commands);
    return commands;
}

static void fill(const struct hazards* h, VkCommandBuffer commands,
                 const struct executed_buffer* buffer)
{
    h->x.f.vkCmdFillBuffer(commands, buffer->buffer, 0, SIZE, 1);
}

static void copy(const struct hazards* h, VkCommandBuffer commands,
                 const struct executed_buffer* from, const struct executed_buffer* to)
{
    const VkBufferCopy region = {0, 0, SIZE};
    h->x.f.vkCmdCopyBuffer(commands, from->buffer, to->buffer, 1, &region);
}

static void barrier(const struct hazards* h, VkCommandBuffer commands, VkPipelineStageFlags from,
                    VkAccessFlags from_accesses, VkPipelineStageFlags to, VkAccessFlags to_accesses)
{
    const VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask = from_accesses,
                                    .dstAccessMask = to_accesses};
    h->x.f.vkCmdPipelineBarrier(commands, from, to, 0, 1, &memory, 0, NULL, 0, NULL);
}

/* Ends commands and submits them after a value of the timeline (0: none) to signal another. */
static void finish(const struct hazards* h, VkQueue queue, VkCommandBuffer commands, uint64_t wait,
                   uint64_t signal, VkFence fence)
{
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &wait,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &signal};
    const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .pNext = &values,
                                 .waitSemaphoreCount = wait != 0 ? 1 : 0,
                                 .pWaitSemaphores = &h->timeline,
                                 .pWaitDstStageMask = &all,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &commands,
                                 .signalSemaphoreCount = signal != 0 ? 1 : 0,
                                 .pSignalSemaphores = &h->timeline};
    assert_int_equal(h->x.f.vkEndCommandBuffer(commands), VK_SUCCESS);
    assert_int_equal(h->x.f.vkQueueSubmit(queue, 1, &submit, fence), VK_SUCCESS);
}

static void submit(const struct hazards* h, VkCommandBuffer commands)
{
    finish(h, h->x.f.queue, commands, 0, 0, VK_NULL_HANDLE);
}

/* ---- shaders and the host ---- */

static const VkPipelineStageFlags shader_stage = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
static const VkAccessFlags shader_reads = VK_ACCESS_SHADER_READ_BIT;
static const VkAccessFlags shader_writes = VK_ACCESS_SHADER_WRITE_BIT;

/* A fill, a shader that reads it and writes another buffer, and a copy of that; with two barriers
 * of the given accesses. Returns how many violations there are. */
static uint64_t use_shader(const struct hazards* h, VkPipelineStageFlags to, VkAccessFlags visible,
                           VkPipelineStageFlags from, VkAccessFlags available)
{
    const uint64_t before = found(h);
    VkCommandBuffer commands = start(h);
    fill(h, commands, &h->a);
    barrier(h, commands, copy_stage, writes, to, visible);
    maarSimulatedCmdAccess(commands, h->a.buffer, 0, VK_WHOLE_SIZE, shader_reads);
    maarSimulatedCmdAccess(commands, h->b.buffer, 64, 512, shader_writes);
    barrier(h, commands, from, available, copy_stage, reads);
    const VkBufferCopy region = {64, 0, 512};
    h->x.f.vkCmdCopyBuffer(commands, h->b.buffer, h->c.buffer, 1, &region);
    submit(h, commands);
    assert_int_equal(h->x.f.vkDeviceWaitIdle(h->x.f.device), VK_SUCCESS);
    return found(h) - before;
}

static void shaders_are_ordered_like_copies(void** state)
{
    const struct hazards* h = *state;
    assert_int_equal(use_shader(h, shader_stage, shader_reads, shader_stage, shader_writes), 0);
    assert_int_equal(use_shader(h, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_READ_BIT,
                                VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT),
                     0);
    assert_int_equal(use_shader(h, copy_stage, reads, shader_stage, shader_writes), 1);
    assert_int_equal(use_shader(h, shader_stage, shader_writes, shader_stage, shader_writes), 1);
    assert_int_equal(use_shader(h, shader_stage, shader_reads, copy_stage, writes), 1);
    assert_int_equal(use_shader(h, shader_stage, shader_reads, shader_stage, writes), 1);
}

/* A write behind a shader's read needs an order, and one behind a copy's read another one. */
static void readers_have_stages_of_their_own(void** state)
{
    const struct hazards* h = *state;
    for (uint32_t i = 0; i < 2; ++i) {
        const uint64_t before = found(h);
        VkCommandBuffer commands = start(h);
        fill(h, commands, &h->a);
        barrier(h, commands, copy_stage, writes, shader_stage, shader_reads);
        maarSimulatedCmdAccess(commands, h->a.buffer, 0, SIZE, shader_reads);
        barrier(h, commands, i == 0 ? shader_stage : copy_stage, 0, copy_stage, 0);
        fill(h, commands, &h->a);
        submit(h, commands);
        assert_int_equal(h->x.f.vkDeviceWaitIdle(h->x.f.device), VK_SUCCESS);
        assert_int_equal(found(h) - before, i);
    }
}

/* A shader that reads and writes the same bytes needs an order with what was before, and none with
 * itself. */
static void shader_may_write_what_it_reads(void** state)
{
    const struct hazards* h = *state;
    const VkAccessFlags both = shader_reads | shader_writes;
    for (uint32_t i = 0; i < 2; ++i) {
        const uint64_t before = found(h);
        VkCommandBuffer commands = start(h);
        fill(h, commands, &h->a);
        barrier(h, commands, copy_stage, writes, shader_stage, both);
        maarSimulatedCmdAccess(commands, h->a.buffer, 0, SIZE, both);
        if (i == 0) {
            barrier(h, commands, shader_stage, shader_writes, shader_stage, both);
        }
        maarSimulatedCmdAccess(commands, h->a.buffer, 0, SIZE, both);
        submit(h, commands);
        assert_int_equal(h->x.f.vkDeviceWaitIdle(h->x.f.device), VK_SUCCESS);
        assert_int_equal(found(h) - before, i);
    }
}

static void what_shaders_write_counts_as_written(void** state)
{
    struct hazards* h = *state;
    const MaarSimulatedFlags flags = MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_CONTENTS_BIT;
    maarSimulatedSetFlags(h->x.f.physical, flags);
    VkCommandBuffer commands = start(h);
    maarSimulatedCmdAccess(commands, h->a.buffer, 0, 64, shader_reads);
    submit(h, commands);
    MaarSimulatedCounters counters = fixture_counters(&h->x.f);
    assert_int_equal(counters.violationCount, 1);
    commands = start(h);
    maarSimulatedCmdAccess(commands, h->a.buffer, 0, SIZE, shader_writes);
    copy(h, commands, &h->a, &h->b);
    submit(h, commands);
    counters = fixture_counters(&h->x.f);
    assert_int_equal(counters.violations[MAAR_SIMULATED_VIOLATION_CONTENTS], 1);
    assert_int_equal(counters.violationCount, 1);
    assert_int_equal(counters.unwrittenReadBytes, 64);
}

static void touch(const struct hazards* h, const struct executed_buffer* buffer, bool is_written)
{
    maarSimulatedHostAccess(h->x.f.device, buffer->memory, 0, SIZE,
                            is_written ? VK_TRUE : VK_FALSE);
}

/* The host waits before it accesses what the device has written, and reads it behind a barrier. */
static void the_host_waits_before_it_accesses(void** state)
{
    const struct hazards* h = *state;
    VkCommandBuffer commands = start(h);
    fill(h, commands, &h->a);
    fill(h, commands, &h->b);
    barrier(h, commands, copy_stage, writes, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    fill(h, commands, &h->c);
    submit(h, commands);
    touch(h, &h->a, false);
    assert_int_equal(found(h), 1);
    touch(h, &h->b, true);
    assert_int_equal(found(h), 2);
    assert_int_equal(h->x.f.vkDeviceWaitIdle(h->x.f.device), VK_SUCCESS);
    touch(h, &h->a, false);
    touch(h, &h->b, true);
    assert_int_equal(found(h), 2);
    touch(h, &h->c, false); /* without a barrier */
    assert_int_equal(found(h), 3);
    touch(h, &h->c, true);
    touch(h, &h->c, false); /* what it has written itself */
    assert_int_equal(found(h), 3);
}

/* The host must not write what the device may read now or later. */
static void the_host_does_not_write_under_submissions(void** state)
{
    const struct hazards* h = *state;
    const MaarSimulatedFlags flags =
        MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT;
    touch(h, &h->a, true);
    VkCommandBuffer commands = start(h);
    copy(h, commands, &h->a, &h->b);
    submit(h, commands);
    touch(h, &h->a, false);
    assert_int_equal(found(h), 0);
    touch(h, &h->a, true);
    assert_int_equal(found(h), 1);
    assert_int_equal(h->x.f.vkDeviceWaitIdle(h->x.f.device), VK_SUCCESS);
    touch(h, &h->a, true);
    assert_int_equal(found(h), 1);

    maarSimulatedSetFlags(h->x.f.physical, flags | MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT);
    commands = start(h);
    copy(h, commands, &h->a, &h->c);
    submit(h, commands);
    touch(h, &h->b, true);
    assert_int_equal(found(h), 1);
    touch(h, &h->a, true);
    assert_int_equal(found(h), 2);
    assert_int_equal(h->x.f.vkDeviceWaitIdle(h->x.f.device), VK_SUCCESS);
    /* The submission waits for the host. */
    commands = start(h);
    copy(h, commands, &h->a, &h->c);
    finish(h, h->x.f.queue, commands, 1, 2, VK_NULL_HANDLE);
    commands = start(h);
    copy(h, commands, &h->a, &h->b);
    finish(h, h->x.f.queue, commands, 2, 3, VK_NULL_HANDLE);
    touch(h, &h->a, true);
    assert_int_equal(found(h), 2);
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = h->timeline, .value = 1};
    assert_int_equal(h->x.f.vkSignalSemaphore(h->x.f.device, &info), VK_SUCCESS);
    touch(h, &h->a, true);
    assert_int_equal(found(h), 3);
    maarSimulatedSetFlags(h->x.f.physical, flags);
    assert_int_equal(h->x.f.vkDeviceWaitIdle(h->x.f.device), VK_SUCCESS);
}

/* ---- within a queue ---- */

static void reads_need_a_barrier_after_a_write(void** state)
{
    const struct hazards* h = *state;
    VkCommandBuffer commands = start(h);
    fill(h, commands, &h->a);
    barrier(h, commands, copy_stage, writes, copy_stage, reads);
    copy(h, commands, &h->a, &h->b);
    submit(h, commands);
    assert_int_equal(found(h), 0);
    assert_int_equal(h->x.f.vkDeviceWaitIdle(h->x.f.device), VK_SUCCESS);
    commands = start(h);
    fill(h, commands, &h->a);
    copy(h, commands, &h->a, &h->b);
    submit(h, commands);
    assert_int_equal(found(h), 1);
}

static void writes_need_a_barrier_after_a_write(void** state)
{
    const struct hazards* h = *state;
    VkCommandBuffer commands = start(h);
    fill(h, commands, &h->a);
    barrier(h, commands, copy_stage, writes, copy_stage, writes);
    fill(h, commands, &h->a);
    submit(h, commands);
    assert_int_equal(found(h), 0);
    assert_int_equal(h->x.f.vkDeviceWaitIdle(h->x.f.device), VK_SUCCESS);
    commands = start(h);
    fill(h, commands, &h->a);
    barrier(h, commands, copy_stage, writes, copy_stage, reads); /* not for writes */
    fill(h, commands, &h->a);
    submit(h, commands);
    assert_int_equal(found(h), 1);
}

static void writes_need_an_order_after_a_read(void** state)
{
    const struct hazards* h = *state;
    VkCommandBuffer commands = start(h);
    copy(h, commands, &h->a, &h->b);
    barrier(h, commands, copy_stage, 0, copy_stage, 0); /* no access: nothing was written */
    fill(h, commands, &h->a);
    submit(h, commands);
    assert_int_equal(found(h), 0);
    assert_int_equal(h->x.f.vkDeviceWaitIdle(h->x.f.device), VK_SUCCESS);
    commands = start(h);
    copy(h, commands, &h->a, &h->b);
    fill(h, commands, &h->a);
    submit(h, commands);
    assert_int_equal(found(h), 1);
}

static void barriers_of_other_scopes_do_not_help(void** state)
{
    const struct hazards* h = *state;
    const struct {
        VkPipelineStageFlags from;
        VkAccessFlags from_accesses;
        VkPipelineStageFlags to;
        VkAccessFlags to_accesses;
    } wrong[] = {
        {VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, writes, copy_stage, reads},
        {VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, 0, copy_stage, reads},
        {copy_stage, 0, copy_stage, reads},
        {copy_stage, reads, copy_stage, reads},
        {copy_stage, writes, copy_stage, 0},
        {copy_stage, writes, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT},
        {copy_stage, writes, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const VkCommandBuffer commands = start(h);
        fill(h, commands, &h->a);
        barrier(h, commands, wrong[i].from, wrong[i].from_accesses, wrong[i].to,
                wrong[i].to_accesses);
        copy(h, commands, &h->a, &h->b);
        submit(h, commands);
        assert_int_equal(found(h), i + 1);
        assert_int_equal(h->x.f.vkDeviceWaitIdle(h->x.f.device), VK_SUCCESS);
    }
}

static void general_stages_and_accesses_cover_copies(void** state)
{
    const struct hazards* h = *state;
    const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkCommandBuffer commands = start(h);
    fill(h, commands, &h->a);
    barrier(h, commands, all, VK_ACCESS_MEMORY_WRITE_BIT, all, VK_ACCESS_MEMORY_READ_BIT);
    copy(h, commands, &h->a, &h->b);
    barrier(h, commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0, copy_stage, 0);
    fill(h, commands, &h->a);
    submit(h, commands);
    assert_int_equal(found(h), 0);
}

static void barriers_form_chains(void** state)
{
    const struct hazards* h = *state;
    const VkPipelineStageFlags shader = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    VkCommandBuffer commands = start(h);
    fill(h, commands, &h->a);
    barrier(h, commands, copy_stage, writes, shader, VK_ACCESS_SHADER_READ_BIT);
    barrier(h, commands, shader, 0, copy_stage, reads);
    copy(h, commands, &h->a, &h->b);
    submit(h, commands);
    assert_int_equal(found(h), 0);
    assert_int_equal(h->x.f.vkDeviceWaitIdle(h->x.f.device), VK_SUCCESS);
    commands = start(h);
    fill(h, commands, &h->a);
    barrier(h, commands, copy_stage, writes, shader, VK_ACCESS_SHADER_READ_BIT);
    barrier(h, commands, VK_PIPELINE_STAGE_VERTEX_SHADER_BIT, 0, copy_stage, reads);
    copy(h, commands, &h->a, &h->b);
    submit(h, commands);
    assert_int_equal(found(h), 1);
}

static void barriers_of_buffers_cover_their_bytes(void** state)
{
    const struct hazards* h = *state;
    VkBufferMemoryBarrier half = {.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
                                  .srcAccessMask = writes,
                                  .dstAccessMask = reads,
                                  .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                  .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                  .buffer = h->a.buffer,
                                  .size = SIZE / 2};
    const VkBufferCopy first = {0, 0, SIZE / 2};
    const VkBufferCopy second = {SIZE / 2, SIZE / 2, SIZE / 2};
    const VkCommandBuffer commands = start(h);
    fill(h, commands, &h->a);
    h->x.f.vkCmdPipelineBarrier(commands, copy_stage, copy_stage, 0, 0, NULL, 1, &half, 0, NULL);
    h->x.f.vkCmdCopyBuffer(commands, h->a.buffer, h->b.buffer, 1, &first);
    submit(h, commands);
    assert_int_equal(found(h), 0);
    const VkCommandBuffer more = start(h);
    h->x.f.vkCmdCopyBuffer(more, h->a.buffer, h->b.buffer, 1, &second);
    submit(h, more);
    assert_int_equal(found(h), 1);
}

static void bytes_beside_each_other_are_independent(void** state)
{
    const struct hazards* h = *state;
    const VkCommandBuffer commands = start(h);
    h->x.f.vkCmdFillBuffer(commands, h->a.buffer, 0, 1024, 1);
    h->x.f.vkCmdFillBuffer(commands, h->a.buffer, 1024, 1024, 2);
    const VkBufferCopy region = {2048, 0, 1024};
    h->x.f.vkCmdCopyBuffer(commands, h->a.buffer, h->b.buffer, 1, &region);
    submit(h, commands);
    assert_int_equal(found(h), 0);
}

/* ---- between submissions ---- */

static void queue_order_alone_is_no_dependency(void** state)
{
    const struct hazards* h = *state;
    VkCommandBuffer commands = start(h);
    fill(h, commands, &h->a);
    submit(h, commands);
    commands = start(h);
    barrier(h, commands, copy_stage, writes, copy_stage, reads);
    copy(h, commands, &h->a, &h->b);
    submit(h, commands);
    assert_int_equal(found(h), 0);
    commands = start(h);
    fill(h, commands, &h->c);
    submit(h, commands);
    commands = start(h);
    copy(h, commands, &h->c, &h->b);
    submit(h, commands);
    assert_int_equal(found(h), 1); /* at most one for each command */
}

static void semaphores_order_queues(void** state)
{
    const struct hazards* h = *state;
    VkCommandBuffer commands = start(h);
    fill(h, commands, &h->a);
    finish(h, h->x.f.queue, commands, 0, 1, VK_NULL_HANDLE);
    commands = start(h);
    copy(h, commands, &h->a, &h->b);
    finish(h, h->x.f.second_queue, commands, 1, 2, VK_NULL_HANDLE);
    commands = start(h);
    fill(h, commands, &h->a); /* after the read, and, through it, after the write */
    finish(h, h->x.f.queue, commands, 2, 3, VK_NULL_HANDLE);
    assert_int_equal(found(h), 0);
    commands = start(h);
    copy(h, commands, &h->a, &h->b);
    finish(h, h->x.f.second_queue, commands, 2, 4, VK_NULL_HANDLE); /* the value before */
    assert_int_equal(found(h), 1);
}

static void a_wait_holds_for_later_submissions_too(void** state)
{
    const struct hazards* h = *state;
    VkCommandBuffer commands = start(h);
    fill(h, commands, &h->a);
    finish(h, h->x.f.queue, commands, 0, 1, VK_NULL_HANDLE);
    finish(h, h->x.f.second_queue, start(h), 1, 0, VK_NULL_HANDLE);
    commands = start(h);
    copy(h, commands, &h->a, &h->b);
    finish(h, h->x.f.second_queue, commands, 0, 0, VK_NULL_HANDLE);
    assert_int_equal(found(h), 0);
    commands = start(h);
    fill(h, commands, &h->a);
    finish(h, h->x.f.queue, commands, 0, 0, VK_NULL_HANDLE);
    assert_int_equal(found(h), 1);
}

static void binary_semaphores_order_queues(void** state)
{
    const struct hazards* h = *state;
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSemaphore binary = VK_NULL_HANDLE;
    assert_int_equal(h->x.f.vkCreateSemaphore(h->x.f.device, &info, NULL, &binary), VK_SUCCESS);
    const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    for (uint32_t waits = 1; waits < 2; waits--) {
        const VkCommandBuffer first = start(h);
        fill(h, first, waits != 0 ? &h->a : &h->c);
        assert_int_equal(h->x.f.vkEndCommandBuffer(first), VK_SUCCESS);
        const VkCommandBuffer second = start(h);
        copy(h, second, waits != 0 ? &h->a : &h->c, &h->b);
        assert_int_equal(h->x.f.vkEndCommandBuffer(second), VK_SUCCESS);
        const VkSubmitInfo one = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                  .commandBufferCount = 1,
                                  .pCommandBuffers = &first,
                                  .signalSemaphoreCount = waits,
                                  .pSignalSemaphores = &binary};
        const VkSubmitInfo two = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                  .waitSemaphoreCount = waits,
                                  .pWaitSemaphores = &binary,
                                  .pWaitDstStageMask = &all,
                                  .commandBufferCount = 1,
                                  .pCommandBuffers = &second};
        assert_int_equal(h->x.f.vkQueueSubmit(h->x.f.queue, 1, &one, VK_NULL_HANDLE), VK_SUCCESS);
        assert_int_equal(h->x.f.vkQueueSubmit(h->x.f.second_queue, 1, &two, VK_NULL_HANDLE),
                         VK_SUCCESS);
        assert_int_equal(found(h), waits != 0 ? 0 : 1);
    }
    h->x.f.vkDestroySemaphore(h->x.f.device, binary, NULL);
}

static void the_host_orders_what_it_has_waited_for(void** state)
{
    const struct hazards* h = *state;
    const struct simulated_fixture* f = &h->x.f;
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const uint64_t value = 1;
    const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &h->timeline,
                                      .pValues = &value};
    VkFence fence = VK_NULL_HANDLE;
    uint64_t seen = 0;
    assert_int_equal(f->vkCreateFence(f->device, &info, NULL, &fence), VK_SUCCESS);
    for (uint32_t how = 0; how < 6; how++) {
        VkCommandBuffer commands = start(h);
        fill(h, commands, &h->a);
        finish(h, f->queue, commands, 0, how == 1 ? 1 : how == 2 ? 2 : 0, fence);
        if (how == 0) {
            assert_int_equal(f->vkWaitForFences(f->device, 1, &fence, VK_TRUE, UINT64_MAX),
                             VK_SUCCESS);
        } else if (how == 1) {
            assert_int_equal(f->vkWaitSemaphores(f->device, &wait, UINT64_MAX), VK_SUCCESS);
        } else if (how == 2) {
            assert_int_equal(f->vkGetSemaphoreCounterValue(f->device, h->timeline, &seen),
                             VK_SUCCESS);
        } else if (how == 3) {
            assert_int_equal(f->vkQueueWaitIdle(f->queue), VK_SUCCESS);
        } else if (how == 4) {
            assert_int_equal(f->vkGetFenceStatus(f->device, fence), VK_SUCCESS);
        }
        commands = start(h);
        copy(h, commands, &h->a, &h->b);
        finish(h, f->queue, commands, 0, 0, VK_NULL_HANDLE);
        assert_int_equal(found(h), how == 5 ? 1 : 0);
        assert_int_equal(f->vkDeviceWaitIdle(f->device), VK_SUCCESS);
        assert_int_equal(f->vkResetFences(f->device, 1, &fence), VK_SUCCESS);
    }
    f->vkDestroyFence(f->device, fence, NULL);
}

/* ---- images ---- */

static const VkImageUsageFlags transfers =
    VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;

static struct executed_image make_image(const struct hazards* h)
{
    VkImageCreateInfo info = fixture_image_info(VK_FORMAT_R8G8B8A8_UNORM, 16, 16);
    info.usage = transfers;
    info.mipLevels = 2;
    return executed_image(&h->x, &info);
}

static void clear(const struct hazards* h, VkCommandBuffer commands, VkImage image,
                  VkImageLayout layout)
{
    const VkClearColorValue value = {.float32 = {1.0F, 1.0F, 1.0F, 1.0F}};
    const VkImageSubresourceRange all = {VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0,
                                         VK_REMAINING_ARRAY_LAYERS};
    h->x.f.vkCmdClearColorImage(commands, image, layout, &value, 1, &all);
}

static void read_image(const struct hazards* h, VkCommandBuffer commands, VkImage image,
                       VkImageLayout layout)
{
    const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {16, 16, 1}};
    h->x.f.vkCmdCopyImageToBuffer(commands, image, layout, h->b.buffer, 1, &region);
}

static void move(const struct hazards* h, VkCommandBuffer commands, VkImage image,
                 VkPipelineStageFlags from_stage, VkAccessFlags from_access, VkImageLayout from,
                 VkImageLayout to)
{
    const VkImageMemoryBarrier move_barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                               .srcAccessMask = from_access,
                                               .dstAccessMask = reads | writes,
                                               .oldLayout = from,
                                               .newLayout = to,
                                               .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                               .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                               .image = image,
                                               .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0,
                                                                    VK_REMAINING_MIP_LEVELS, 0,
                                                                    VK_REMAINING_ARRAY_LAYERS}};
    h->x.f.vkCmdPipelineBarrier(commands, from_stage, copy_stage, 0, 0, NULL, 0, NULL, 1,
                                &move_barrier);
}

static void transitions_are_ordered_like_writes(void** state)
{
    const struct hazards* h = *state;
    const struct executed_image image = make_image(h);
    const VkPipelineStageFlags top = VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT;
    const VkImageLayout in = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    const VkImageLayout out = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    VkCommandBuffer commands = start(h);
    move(h, commands, image.image, top, 0, VK_IMAGE_LAYOUT_UNDEFINED, in);
    clear(h, commands, image.image, in);
    move(h, commands, image.image, copy_stage, writes, in, out);
    read_image(h, commands, image.image, out);
    move(h, commands, image.image, copy_stage, 0, out, in);
    submit(h, commands);
    assert_int_equal(found(h), 0);
    assert_int_equal(h->x.f.vkDeviceWaitIdle(h->x.f.device), VK_SUCCESS);
    commands = start(h);
    clear(h, commands, image.image, in);
    move(h, commands, image.image, top, 0, in, out); /* not ordered after the clear */
    submit(h, commands);
    assert_int_equal(found(h), 1);
    assert_int_equal(h->x.f.vkDeviceWaitIdle(h->x.f.device), VK_SUCCESS);
    commands = start(h);
    read_image(h, commands, image.image, out);
    move(h, commands, image.image, top, 0, out, in); /* not ordered after the read */
    submit(h, commands);
    assert_int_equal(found(h), 2);
    executed_free_image(&h->x, &image);
}

static void copies_to_parts_of_an_image_are_independent(void** state)
{
    const struct hazards* h = *state;
    const struct executed_image image = make_image(h);
    const VkImageLayout general = VK_IMAGE_LAYOUT_GENERAL;
    VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                .imageOffset = {0, 0, 0},
                                .imageExtent = {7, 5, 1}};
    const VkCommandBuffer commands = start(h);
    move(h, commands, image.image, copy_stage, writes, VK_IMAGE_LAYOUT_UNDEFINED, general);
    h->x.f.vkCmdCopyBufferToImage(commands, h->a.buffer, image.image, general, 1, &region);
    region.imageOffset = (VkOffset3D){7, 0, 0};
    h->x.f.vkCmdCopyBufferToImage(commands, h->a.buffer, image.image, general, 1, &region);
    region.imageOffset = (VkOffset3D){3, 5, 0};
    h->x.f.vkCmdCopyBufferToImage(commands, h->a.buffer, image.image, general, 1, &region);
    submit(h, commands);
    assert_int_equal(found(h), 0);
    const VkCommandBuffer more = start(h);
    region.imageOffset = (VkOffset3D){9, 4, 0}; /* overlaps two of them */
    h->x.f.vkCmdCopyBufferToImage(more, h->a.buffer, image.image, general, 1, &region);
    submit(h, more);
    assert_int_equal(found(h), 1);
    executed_free_image(&h->x, &image);
}

static void layouts_must_be_those_that_commands_name(void** state)
{
    const struct hazards* h = *state;
    const struct executed_image image = make_image(h);
    const VkImageLayout in = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    const VkImageLayout out = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    VkCommandBuffer commands = start(h);
    move(h, commands, image.image, copy_stage, writes, VK_IMAGE_LAYOUT_UNDEFINED, in);
    clear(h, commands, image.image, in);
    barrier(h, commands, copy_stage, writes, copy_stage, reads | writes);
    submit(h, commands);
    fixture_expect(&h->x.f, MAAR_SIMULATED_VIOLATION_LAYOUT, 0);
    commands = start(h);
    barrier(h, commands, copy_stage, writes, copy_stage, reads | writes);
    clear(h, commands, image.image, VK_IMAGE_LAYOUT_GENERAL); /* another one than it has */
    submit(h, commands);
    fixture_expect(&h->x.f, MAAR_SIMULATED_VIOLATION_LAYOUT, 1);
    commands = start(h);
    move(h, commands, image.image, copy_stage, writes, out, in); /* from one it does not have */
    submit(h, commands);
    fixture_expect(&h->x.f, MAAR_SIMULATED_VIOLATION_LAYOUT, 2);
    commands = start(h);
    read_image(h, commands, image.image, in); /* one that does not allow it */
    submit(h, commands);
    fixture_expect(&h->x.f, MAAR_SIMULATED_VIOLATION_LAYOUT, 3);
    executed_free_image(&h->x, &image);
}

/* ---- families ---- */

/* A barrier that hands the whole of a buffer from one family to another. */
static void hand_over(const struct hazards* h, VkCommandBuffer commands, VkBuffer buffer,
                      uint32_t from, uint32_t to)
{
    const VkBufferMemoryBarrier hand = {.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
                                        .srcAccessMask = writes,
                                        .dstAccessMask = reads | writes,
                                        .srcQueueFamilyIndex = from,
                                        .dstQueueFamilyIndex = to,
                                        .buffer = buffer,
                                        .size = VK_WHOLE_SIZE};
    h->x.f.vkCmdPipelineBarrier(commands, copy_stage, copy_stage, 0, 0, NULL, 1, &hand, 0, NULL);
}

static void contents_are_lost_without_a_transfer(void** state)
{
    const struct hazards* h = *state;
    const struct simulated_fixture* f = &h->x.f;
    VkCommandBuffer commands = start(h);
    fill(h, commands, &h->a);
    hand_over(h, commands, h->a.buffer, 0, 1);
    finish(h, f->queue, commands, 0, 1, VK_NULL_HANDLE);
    commands = start(h);
    hand_over(h, commands, h->a.buffer, 0, 1);
    copy(h, commands, &h->a, &h->b);
    finish(h, f->other_queue, commands, 1, 2, VK_NULL_HANDLE);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_OWNERSHIP, 0);
    assert_int_equal(fixture_counters(f).unwrittenReadBytes, 0);
    commands = start(h);
    copy(h, commands, &h->a, &h->c); /* without having it back */
    finish(h, f->queue, commands, 2, 3, VK_NULL_HANDLE);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_OWNERSHIP, 1);
    assert_int_equal(fixture_counters(f).unwrittenReadBytes, SIZE);
    commands = start(h);
    fill(h, commands, &h->a); /* takes it, and needs no contents */
    finish(h, f->other_queue, commands, 3, 4, VK_NULL_HANDLE);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_OWNERSHIP, 1);
    commands = start(h);
    hand_over(h, commands, h->a.buffer, 1, 0); /* acquired, but never released */
    finish(h, f->queue, commands, 4, 5, VK_NULL_HANDLE);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_OWNERSHIP, 2);
}

static void images_change_hands_with_their_layout(void** state)
{
    const struct hazards* h = *state;
    const struct simulated_fixture* f = &h->x.f;
    const struct executed_image image = make_image(h);
    const VkImageMemoryBarrier hand = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                       .srcAccessMask = writes,
                                       .dstAccessMask = reads,
                                       .oldLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                                       .newLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                       .srcQueueFamilyIndex = 0,
                                       .dstQueueFamilyIndex = 1,
                                       .image = image.image,
                                       .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 2, 0, 1}};
    VkCommandBuffer commands = start(h);
    move(h, commands, image.image, copy_stage, writes, VK_IMAGE_LAYOUT_UNDEFINED,
         VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    clear(h, commands, image.image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    f->vkCmdPipelineBarrier(commands, copy_stage, copy_stage, 0, 0, NULL, 0, NULL, 1, &hand);
    finish(h, f->queue, commands, 0, 1, VK_NULL_HANDLE);
    commands = start(h);
    f->vkCmdPipelineBarrier(commands, copy_stage, copy_stage, 0, 0, NULL, 0, NULL, 1, &hand);
    read_image(h, commands, image.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    finish(h, f->other_queue, commands, 1, 2, VK_NULL_HANDLE);
    assert_int_equal(fixture_counters(f).violationCount, 0);
    assert_int_equal(fixture_counters(f).unwrittenReadBytes, 0);
    executed_free_image(&h->x, &image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, hazards_setup, hazards_teardown)
        CASE(shaders_are_ordered_like_copies),
        CASE(readers_have_stages_of_their_own),
        CASE(shader_may_write_what_it_reads),
        CASE(what_shaders_write_counts_as_written),
        CASE(the_host_waits_before_it_accesses),
        CASE(the_host_does_not_write_under_submissions),
        CASE(reads_need_a_barrier_after_a_write),
        CASE(writes_need_a_barrier_after_a_write),
        CASE(writes_need_an_order_after_a_read),
        CASE(barriers_of_other_scopes_do_not_help),
        CASE(general_stages_and_accesses_cover_copies),
        CASE(barriers_form_chains),
        CASE(barriers_of_buffers_cover_their_bytes),
        CASE(bytes_beside_each_other_are_independent),
        CASE(queue_order_alone_is_no_dependency),
        CASE(semaphores_order_queues),
        CASE(a_wait_holds_for_later_submissions_too),
        CASE(binary_semaphores_order_queues),
        CASE(the_host_orders_what_it_has_waited_for),
        CASE(transitions_are_ordered_like_writes),
        CASE(copies_to_parts_of_an_image_are_independent),
        CASE(layouts_must_be_those_that_commands_name),
        CASE(contents_are_lost_without_a_transfer),
        CASE(images_change_hands_with_their_layout),
#undef CASE
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
