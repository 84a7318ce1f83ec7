/*
 * Ordered reuse where commands are executed: random programs write buffers whose memory is still
 * pending when they are created. Every buffer is read again later and compared. On simulated
 * devices the submissions of two queues are executed in any order that semaphores allow, and each
 * first use in pending memory is then submitted without its waits in turn: the device must notice.
 */
#include "tests/rig/rig.h"

enum { STEPS = 120, LIVE = 12, QUEUES = 2, MOST_WAITS = QUEUES + 2, WORDS = 64 };

/* A buffer, which was written once. */
struct written {
    VkBuffer buffer;
    MaarAllocation memory;
    uint32_t word;
    uint64_t last[QUEUES]; /* the last value of each queue that uses it; 0: none */
};

/* A command that accesses bytes of the pool. */
struct use {
    VkDeviceMemory memory;
    VkDeviceSize begin;
    VkDeviceSize end;
    uint32_t queue;
    uint64_t value;
};

struct program {
    struct rig* rig;
    struct rig_random random;
    MaarPool pool;
    uint32_t queue_count;
    VkCommandPool command_pools[QUEUES];
    VkSemaphore timelines[QUEUES];
    uint64_t values[QUEUES];
    struct written live[LIVE];
    uint32_t live_count;
    VkBuffer result; /* 4 * WORDS bytes for each step */
    MaarAllocation result_memory;
    uint32_t expected[STEPS];
    uint32_t reuse_count; /* first uses in pending memory so far */
    uint32_t mistake;     /* the first use that does not wait; 0: none */
    bool needs_its_wait;  /* without the wait some bytes are accessed out of order */
    uint32_t use_count;
    struct use uses[2 * STEPS];
    /* What happens before the next command of a queue, and before the end of each submission: the
     * highest value of each queue. */
    uint64_t known[QUEUES][QUEUES];
    uint64_t known_at_end[QUEUES][STEPS + 1][QUEUES];
};

/* ---- submissions ---- */

struct submission {
    uint32_t queue;
    uint32_t wait_count;
    MaarPoint waits[MOST_WAITS];
    VkCommandBuffer commands;
};

static void begin_commands(struct program* program, struct submission* submission)
{
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = program->command_pools[submission->queue],
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(vkAllocateCommandBuffers(program->rig->device, &info, &submission->commands),
                     VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(submission->commands, &begin), VK_SUCCESS);
}

/* Adds a wait, or raises that for the same timeline. */
static void add_wait(struct submission* submission, MaarPoint point)
{
    uint32_t at = 0;
    while (at < submission->wait_count && submission->waits[at].semaphore != point.semaphore) {
        ++at;
    }
    if (at == submission->wait_count) {
        assert_true(at < MOST_WAITS);
        submission->waits[submission->wait_count++] = point;
    } else if (submission->waits[at].value < point.value) {
        submission->waits[at].value = point.value;
    }
}

/* A wait orders all later commands of its queue, and a signal comes after all earlier ones. */
static void learn(struct program* program, const struct submission* submission, uint32_t wait_count,
                  uint64_t value)
{
    uint64_t* known = program->known[submission->queue];
    for (uint32_t i = 0; i < wait_count; ++i) {
        const uint32_t of = submission->waits[i].semaphore == program->timelines[0] ? 0 : 1;
        for (uint32_t k = 0; k < QUEUES; ++k) {
            const uint64_t more = program->known_at_end[of][submission->waits[i].value][k];
            known[k] = known[k] > more ? known[k] : more;
        }
    }
    uint64_t* at_end = program->known_at_end[submission->queue][value];
    memcpy(at_end, known, sizeof program->known[0]);
    at_end[submission->queue] = value;
}

/* Whether the bytes of a new buffer were used by commands that its queue does not know yet. */
static bool needs_waits(struct program* program, uint32_t queue, MaarAllocation memory)
{
    const MaarAllocationInfo info = rig_info(program->rig, memory);
    bool needs = false;
    for (uint32_t i = 0; i < program->use_count; ++i) {
        const struct use* use = &program->uses[i];
        needs = needs || (use->memory == info.memory && use->begin < info.offset + info.size &&
                          info.offset < use->end && use->value > program->known[queue][use->queue]);
    }
    return needs;
}

static void note_use(struct program* program, MaarAllocation memory, VkDeviceSize size,
                     uint32_t queue, uint64_t value)
{
    const MaarAllocationInfo info = rig_info(program->rig, memory);
    program->uses[program->use_count++] =
        (struct use){info.memory, info.offset, info.offset + size, queue, value};
}

/* Submits and declares. Returns the value of the queue's timeline. */
static uint64_t submit(struct program* program, struct submission* submission, bool waits)
{
    const uint32_t queue = submission->queue;
    VkSemaphore semaphores[MOST_WAITS];
    uint64_t values[MOST_WAITS];
    VkPipelineStageFlags stages[MOST_WAITS];
    for (uint32_t i = 0; i < submission->wait_count; ++i) {
        semaphores[i] = submission->waits[i].semaphore;
        values[i] = submission->waits[i].value;
        stages[i] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    }
    const MaarPoint end = {program->timelines[queue], ++program->values[queue]};
    const VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = waits ? submission->wait_count : 0,
        .pWaitSemaphoreValues = values,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &end.value,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timeline,
        .waitSemaphoreCount = waits ? submission->wait_count : 0,
        .pWaitSemaphores = semaphores,
        .pWaitDstStageMask = stages,
        .commandBufferCount = 1,
        .pCommandBuffers = &submission->commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &end.semaphore,
    };
    const MaarSubmissionInfo declared = {
        .sType = MAAR_STRUCTURE_TYPE_SUBMISSION_INFO,
        .waitCount = submission->wait_count,
        .pWaits = submission->waits,
        .signalCount = 1,
        .pSignals = &end,
    };
    assert_int_equal(vkEndCommandBuffer(submission->commands), VK_SUCCESS);
    assert_int_equal(maarDeclareSubmission(program->rig->allocator, &declared), VK_SUCCESS);
    assert_int_equal(vkQueueSubmit(program->rig->queues[queue], 1, &info, VK_NULL_HANDLE),
                     VK_SUCCESS);
    learn(program, submission, waits ? submission->wait_count : 0, end.value);
    return end.value;
}

/* Waits for the submission before it on its queue, and sometimes for the other queue's last one. */
static void choose_waits(struct program* program, struct submission* submission)
{
    for (uint32_t i = 0; i < program->queue_count; ++i) {
        if (program->values[i] != 0 &&
            (i == submission->queue || rig_below(&program->random, 3) == 0)) {
            add_wait(submission, (MaarPoint){program->timelines[i], program->values[i]});
        }
    }
}

/* ---- steps ---- */

static VkBufferCreateInfo shared_info(const struct program* program, VkDeviceSize size)
{
    VkBufferCreateInfo info = rig_buffer_info(size);
    info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    if (program->queue_count > 1) {
        info.sharingMode = VK_SHARING_MODE_CONCURRENT;
        info.queueFamilyIndexCount = program->queue_count;
        info.pQueueFamilyIndices = program->rig->families;
    }
    return info;
}

static uint64_t reuses(struct program* program)
{
    MaarOrderedStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_ORDERED_STATISTICS};
    assert_int_equal(maarGetOrderedStatistics(program->rig->allocator, &statistics), VK_SUCCESS);
    return statistics.coveredCount + statistics.waitedCount;
}

/* Creates a buffer that is first used by a submission, which may get more waits. Returns whether it
 * is in pending memory. */
static bool create_written(struct program* program, struct submission* submission,
                           struct written* written)
{
    MaarOrderedUseInfo use = {
        .sType = MAAR_STRUCTURE_TYPE_ORDERED_USE_INFO,
        .flags = MAAR_ORDERED_USE_MAY_ADD_WAITS_BIT,
        .pointCount = submission->wait_count,
        .pPoints = submission->waits,
        .waitCapacity = 2,
    };
    MaarPoint points[MOST_WAITS];
    MaarPoint added[2];
    uint32_t added_count = 0;
    memcpy(points, submission->waits, sizeof points);
    use.pPoints = points;
    use.pWaits = added;
    use.pWaitCount = &added_count;
    use.flags |= rig_below(&program->random, 2) == 0 ? MAAR_ORDERED_USE_PREFER_WAITS_BIT : 0;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = program->pool;
    how.dedicated = MAAR_DEDICATED_NEVER;
    how.pNext = &use;
    const VkDeviceSize size = 4096 * (1 + (VkDeviceSize)rig_below(&program->random, 12));
    const VkBufferCreateInfo info = shared_info(program, size);
    const uint64_t before = reuses(program);
    *written = (struct written){.word = rig_below(&program->random, UINT32_MAX) | 1u};
    const VkResult result =
        maarCreateBuffer(program->rig->allocator, &info, &how, &written->buffer, &written->memory);
    if (result != VK_SUCCESS) { /* the pool is full */
        rig_forget_messages(program->rig);
        written->buffer = VK_NULL_HANDLE;
        return false;
    }
    for (uint32_t i = 0; i < added_count; ++i) {
        add_wait(submission, added[i]);
    }
    return reuses(program) != before;
}

static void free_written(struct program* program, uint32_t at)
{
    const struct written gone = program->live[at];
    MaarPoint points[QUEUES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < QUEUES; ++i) {
        if (gone.last[i] != 0) {
            points[count++] = (MaarPoint){program->timelines[i], gone.last[i]};
        }
    }
    program->live[at] = program->live[--program->live_count];
    assert_int_equal(
        maarDestroyBufferAfter(program->rig->allocator, gone.buffer, gone.memory, count, points),
        VK_SUCCESS);
}

/* One submission: writes a new buffer, and reads an old one into the result of the step. */
static void take_step(struct program* program, uint32_t step)
{
    struct submission submission = {.queue = rig_below(&program->random, program->queue_count)};
    struct written fresh = {.buffer = VK_NULL_HANDLE};
    bool is_reuse = false;
    choose_waits(program, &submission);
    if (program->live_count < LIVE) {
        is_reuse = create_written(program, &submission, &fresh);
    }
    program->reuse_count += is_reuse ? 1 : 0;
    const bool errs = is_reuse && program->reuse_count == program->mistake;
    if (errs) {
        program->needs_its_wait = needs_waits(program, submission.queue, fresh.memory);
    }
    begin_commands(program, &submission);
    if (fresh.buffer != VK_NULL_HANDLE) {
        vkCmdFillBuffer(submission.commands, fresh.buffer, 0, VK_WHOLE_SIZE, fresh.word);
    }
    struct written* old = NULL;
    if (program->live_count > 0 && !errs) {
        old = &program->live[rig_below(&program->random, program->live_count)];
        for (uint32_t i = 0; i < QUEUES; ++i) { /* it may read what the other queue has written */
            if (old->last[i] != 0) {
                add_wait(&submission, (MaarPoint){program->timelines[i], old->last[i]});
            }
        }
        const VkBufferCopy copy = {0, (VkDeviceSize)step * 4 * WORDS, 4 * WORDS};
        vkCmdCopyBuffer(submission.commands, old->buffer, program->result, 1, &copy);
        program->expected[step] = old->word;
    }
    const uint64_t value = submit(program, &submission, !errs);
    if (old != NULL) {
        old->last[submission.queue] = value;
        note_use(program, old->memory, sizeof(uint32_t) * WORDS, submission.queue, value);
    }
    if (fresh.buffer != VK_NULL_HANDLE) {
        fresh.last[submission.queue] = value;
        note_use(program, fresh.memory, rig_info(program->rig, fresh.memory).size, submission.queue,
                 value);
        program->live[program->live_count++] = fresh;
    }
    while (program->live_count > 0 && rig_below(&program->random, 5) < 3) {
        free_written(program, rig_below(&program->random, program->live_count));
    }
}

/* ---- programs ---- */

static void open_program(struct program* program, struct rig* rig, uint64_t seed, uint32_t mistake)
{
    memset(program, 0, sizeof *program);
    program->rig = rig;
    program->random.state = seed;
    program->mistake = mistake;
    program->queue_count = rig->family_count == QUEUES ? QUEUES : 1;
    if (rig->family_count == 0) {
        rig->queues[0] = rig->queue;
    }
    for (uint32_t i = 0; i < program->queue_count; ++i) {
        const VkCommandPoolCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
            .queueFamilyIndex = rig->family_count != 0 ? rig->families[i] : 0,
        };
        assert_int_equal(vkCreateCommandPool(rig->device, &info, NULL, &program->command_pools[i]),
                         VK_SUCCESS);
        program->timelines[i] = rig_create_timeline(rig, 0);
    }
    VkBufferCreateInfo info = shared_info(program, (VkDeviceSize)STEPS * 4 * WORDS);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    assert_int_equal(
        maarCreateBuffer(rig->allocator, &info, &how, &program->result, &program->result_memory),
        VK_SUCCESS);
    const MaarSubmissionInfo nothing = {.sType = MAAR_STRUCTURE_TYPE_SUBMISSION_INFO};
    assert_int_equal(maarDeclareSubmission(rig->allocator, &nothing), VK_SUCCESS);
    /* Small, so that most buffers need pending memory. */
    info.size = 4096;
    how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    assert_int_equal(maarChooseMemoryTypeForBuffer(rig->allocator, &info, &how, &choice),
                     VK_SUCCESS);
    const MaarPoolCreateInfo pool = {
        .memoryTypeIndex = choice.memoryTypeIndex, .blockSize = 256 * 1024, .maxBlockCount = 2};
    program->pool = rig_create_pool(rig, &pool);
}

static void wait_for_all(struct program* program)
{
    for (uint32_t i = 0; i < program->queue_count; ++i) {
        assert_int_equal(vkQueueWaitIdle(program->rig->queues[i]), VK_SUCCESS);
    }
}

/* Returns whether each result has the word that it must have. */
static bool results_are_right(struct program* program)
{
    static uint32_t words[STEPS * WORDS];
    bool are_right = true;
    assert_int_equal(maarCopyFromAllocation(program->rig->allocator, program->result_memory, 0,
                                            sizeof words, words),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < STEPS; ++i) {
        for (uint32_t k = 0; k < WORDS && program->expected[i] != 0; ++k) {
            are_right = are_right && words[i * WORDS + k] == program->expected[i];
        }
    }
    return are_right;
}

static void close_program(struct program* program)
{
    struct rig* rig = program->rig;
    while (program->live_count > 0) {
        free_written(program, 0);
    }
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    rig_check(rig);
    maarDestroyPool(rig->allocator, program->pool);
    maarDestroyBuffer(rig->allocator, program->result, program->result_memory);
    for (uint32_t i = 0; i < program->queue_count; ++i) {
        vkDestroySemaphore(rig->device, program->timelines[i], NULL);
        vkDestroyCommandPool(rig->device, program->command_pools[i], NULL);
    }
}

static void hold(struct rig* rig, bool holds)
{
    const MaarSimulatedFlags flags =
        MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_CONTENTS_BIT |
        MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT | MAAR_SIMULATED_ALLOW_ALIASING_BIT;
    maarSimulatedSetFlags(rig->physical,
                          flags | (holds ? MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT : 0U));
}

struct outcome {
    uint32_t reuse_count;
    bool needs_its_wait;
    bool noticed; /* the device saw a breach, or a result is wrong */
};

/* Runs a program on a simulated device. If that lags, it executes nothing before the end, so the
 * host never knows that a use is over. */
static struct outcome run_simulated(const char* profile, uint64_t seed, bool lags, uint32_t mistake)
{
    static struct program program;
    struct rig rig;
    const struct rig_setup setup = {
        .profile = rig_profile_file(profile),
        .flags = MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT,
        .two_families = true,
    };
    rig_open(&rig, &setup);
    hold(&rig, true);
    maarSimulatedSetOrder(rig.physical, seed);
    rig_make_allocator(&rig);
    open_program(&program, &rig, seed, mistake);
    for (uint32_t step = 0; step < STEPS; ++step) {
        take_step(&program, step);
        if (!lags) {
            (void)maarSimulatedExecuteSubmissions(rig.physical, rig_below(&program.random, 3));
        }
        if (step % 8 == 7) {
            assert_int_equal(maarCollect(rig.allocator, NULL), VK_SUCCESS);
        }
    }
    hold(&rig, false);
    wait_for_all(&program);
    const bool noticed = rig_counters(&rig).violationCount > 0 || !results_are_right(&program);
    close_program(&program);
    rig.expected_violations = rig_counters(&rig).violationCount;
    rig_close(&rig);
    return (struct outcome){program.reuse_count, program.needs_its_wait, noticed};
}

static void bytes_are_right_on_simulated_devices(void** state)
{
    (void)state;
    const uint64_t seed = rig_seed(20261127);
    rig_need_simulated_devices();
    for (uint32_t i = 0; i < RIG_VENDORS; ++i) {
        for (uint64_t k = 0; k < 8; ++k) {
            const struct outcome outcome = run_simulated(rig_vendors[i], seed + k, k % 4 == 3, 0);
            assert_true(outcome.reuse_count > STEPS / 4);
            assert_false(outcome.noticed);
        }
    }
}

static void each_missing_wait_is_noticed(void** state)
{
    (void)state;
    const uint64_t seed = rig_seed(20261127);
    rig_need_simulated_devices();
    uint32_t count = 0;
    uint32_t needed = 0;
    uint32_t unnoticed = 0;
    for (uint64_t k = 0; k < 4; ++k) {
        const struct outcome right = run_simulated("nvidia-rtx4090-linux", seed + k, true, 0);
        assert_false(right.noticed);
        count += right.reuse_count;
        for (uint32_t mistake = 1; mistake <= right.reuse_count; ++mistake) {
            const struct outcome wrong =
                run_simulated("nvidia-rtx4090-linux", seed + k, true, mistake);
            needed += wrong.needs_its_wait ? 1 : 0;
            unnoticed += wrong.needs_its_wait && !wrong.noticed ? 1 : 0;
        }
    }
    print_message("%u first uses in pending memory, %u of which need their own waits\n", count,
                  needed);
    assert_true(needed > count / 16);
    assert_int_equal(unnoticed, 0);
}

static void bytes_are_right_on_the_driver(void** state)
{
    (void)state;
    static struct program program;
    struct rig rig;
    const struct rig_setup setup = {.two_families = true};
    if (rig_is_without_driver() || !rig_executes()) {
        print_message("skipped: no driver that executes commands\n");
        skip();
    }
    if (!rig_open_vulkan(&rig, &setup, true)) {
        skip();
    }
    rig_make_allocator(&rig);
    open_program(&program, &rig, rig_seed(20261127), 0);
    for (uint32_t step = 0; step < STEPS; ++step) {
        take_step(&program, step);
    }
    wait_for_all(&program);
    assert_true(results_are_right(&program));
    close_program(&program);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_right_on_simulated_devices),
        cmocka_unit_test(each_missing_wait_is_noticed),
        cmocka_unit_test(bytes_are_right_on_the_driver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
