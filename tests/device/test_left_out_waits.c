/*
 * Each wait and barrier of some programs is left out in turn, and so is each answer about a
 * timeline, by the program and by Maar alike. A simulated device, which executes the commands and
 * checks their synchronization, must notice every one of them: so none of them is needless, and the
 * silence of the device in other tests means something.
 */
#include "tests/rig/rig_omit.h"

enum { RESULTS = 5, MOST_WAITS = 2 };

#define BUFFER_SIZE (256 * KIB)

/* The program: two queues of two families, one timeline. */
struct stage {
    struct rig rig;
    VkSemaphore timeline;
    uint64_t value;
    VkCommandPool command_pools[RIG_QUEUES];
    VkBuffer result_buffers[RESULTS];
    MaarAllocation results[RESULTS];
    uint32_t expected[RESULTS]; /* the word that fills each result; 0: not used */
    bool came_too_early;        /* memory was free although the device still used it */
};

/* A fill of `to` with the word, or a copy of `from`. */
struct operation {
    VkBuffer from;
    VkBuffer to;
    uint32_t word;
    uint32_t wait_count;
    MaarPoint waits[MOST_WAITS];
};

/* Submits an operation, and returns the point of its end. */
static MaarPoint perform(struct stage* stage, uint32_t queue, const struct operation* operation)
{
    const struct rig* rig = &stage->rig;
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = stage->command_pools[queue],
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer commands = VK_NULL_HANDLE;
    assert_int_equal(vkAllocateCommandBuffers(rig->device, &info, &commands), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    if (operation->from != VK_NULL_HANDLE) {
        const VkBufferCopy region = {0, 0, BUFFER_SIZE};
        vkCmdCopyBuffer(commands, operation->from, operation->to, 1, &region);
    } else {
        vkCmdFillBuffer(commands, operation->to, 0, BUFFER_SIZE, operation->word);
    }
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);

    VkSemaphore waits[MOST_WAITS];
    uint64_t values[MOST_WAITS];
    VkPipelineStageFlags stages[MOST_WAITS];
    for (uint32_t i = 0; i < operation->wait_count; ++i) {
        waits[i] = operation->waits[i].semaphore;
        values[i] = operation->waits[i].value;
        stages[i] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    }
    const uint64_t value = ++stage->value;
    const VkTimelineSemaphoreSubmitInfo timelines = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = operation->wait_count,
        .pWaitSemaphoreValues = values,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timelines,
        .waitSemaphoreCount = operation->wait_count,
        .pWaitSemaphores = waits,
        .pWaitDstStageMask = stages,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &stage->timeline,
    };
    assert_int_equal(vkQueueSubmit(rig->queues[queue], 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    return (MaarPoint){stage->timeline, value};
}

/* Copies a buffer to a result, which must have the word in the end. */
static MaarPoint read_back(struct stage* stage, uint32_t queue, VkBuffer from, uint32_t result,
                           uint32_t word, const MaarPoint* wait)
{
    struct operation copy = {.from = from, .to = stage->result_buffers[result]};
    if (wait != NULL) {
        copy.waits[copy.wait_count++] = *wait;
    }
    stage->expected[result] = word;
    return perform(stage, queue, &copy);
}

static VkBufferCreateInfo shared_buffer(const struct stage* stage)
{
    VkBufferCreateInfo info = rig_buffer_info(BUFFER_SIZE);
    info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    info.sharingMode = VK_SHARING_MODE_CONCURRENT;
    info.queueFamilyIndexCount = RIG_QUEUES;
    info.pQueueFamilyIndices = stage->rig.families;
    return info;
}

static void hold(struct stage* stage, bool holds)
{
    const MaarSimulatedFlags flags =
        MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_CONTENTS_BIT |
        MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT | MAAR_SIMULATED_ALLOW_ALIASING_BIT;
    maarSimulatedSetFlags(stage->rig.physical,
                          flags | (holds ? MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT : 0U));
}

static void open_stage(struct stage* stage, VkFlags off, uint64_t order, enum rig_omission kind,
                       uint32_t nth)
{
    struct rig* rig = &stage->rig;
    const struct rig_setup setup = {
        .profile = rig_profile_file("nvidia-rtx4090-linux"),
        .flags = MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT,
        .off = off,
        .two_families = true,
    };
    memset(stage, 0, sizeof *stage);
    rig_open(rig, &setup);
    assert_int_equal(rig->family_count, RIG_QUEUES);
    hold(stage, false);
    maarSimulatedSetOrder(rig->physical, order);
    rig_omit(rig, kind, nth);
    for (uint32_t i = 0; i < RIG_QUEUES; ++i) {
        rig->paging_queues[i] =
            (MaarQueue){.familyIndex = rig->families[i], .queue = rig->queues[i]};
        const VkCommandPoolCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
            .queueFamilyIndex = rig->families[i],
        };
        assert_int_equal(vkCreateCommandPool(rig->device, &info, NULL, &stage->command_pools[i]),
                         VK_SUCCESS);
    }
    rig->create_info.queueCount = RIG_QUEUES;
    rig->create_info.pQueues = rig->paging_queues;
    rig_make_allocator(rig);
    stage->timeline = rig_create_timeline(rig, 0);
    const VkBufferCreateInfo buffer = shared_buffer(stage);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    for (uint32_t i = 0; i < RESULTS; ++i) {
        assert_int_equal(maarCreateBuffer(rig->allocator, &buffer, &how, &stage->result_buffers[i],
                                          &stage->results[i]),
                         VK_SUCCESS);
    }
}

/* Whether the device saw a breach, or a result has other bytes than it should. */
static bool has_noticed(struct stage* stage)
{
    static uint32_t words[BUFFER_SIZE / 4];
    bool noticed = stage->came_too_early || rig_counters(&stage->rig).violationCount > 0;
    for (uint32_t i = 0; i < RESULTS && !noticed; ++i) {
        assert_int_equal(
            maarCopyFromAllocation(stage->rig.allocator, stage->results[i], 0, BUFFER_SIZE, words),
            VK_SUCCESS);
        for (uint32_t k = 0; k < BUFFER_SIZE / 4 && stage->expected[i] != 0; ++k) {
            noticed = noticed || words[k] != stage->expected[i];
        }
    }
    return noticed;
}

static void close_stage(struct stage* stage)
{
    struct rig* rig = &stage->rig;
    for (uint32_t i = 0; i < RESULTS; ++i) {
        maarDestroyBuffer(rig->allocator, stage->result_buffers[i], stage->results[i]);
    }
    vkDestroySemaphore(rig->device, stage->timeline, NULL);
    for (uint32_t i = 0; i < RIG_QUEUES; ++i) {
        vkDestroyCommandPool(rig->device, stage->command_pools[i], NULL);
    }
    rig->expected_violations = rig_counters(rig).violationCount;
    rig_close(rig);
}

/* ---- programs ---- */

/* Moves a buffer in a pool that has room for it and its move alone, so that the next buffer gets
 * its old place. */
static void move_a_buffer(struct stage* stage, uint32_t copying_queue)
{
    struct rig* rig = &stage->rig;
    const bool crosses = copying_queue != 0;
    const VkBufferCreateInfo buffer_info = shared_buffer(stage);
    const MaarPoolCreateInfo pool_info = {.blockSize = 2 * BUFFER_SIZE, .maxBlockCount = 1};
    const MaarPool pool = rig_create_pool(rig, &pool_info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = pool;
    how.dedicated = MAAR_DEDICATED_NEVER;
    VkBuffer old = VK_NULL_HANDLE;
    VkBuffer moved = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(rig->allocator, &buffer_info, &how, &old, &allocation),
                     VK_SUCCESS);
    const VkDeviceSize old_offset = rig_info(rig, allocation).offset;

    hold(stage, true);
    const MaarPoint written = perform(stage, 0, &(struct operation){.to = old, .word = 0x11111111});
    MaarMoveBatch batch = VK_NULL_HANDLE;
    const MaarMoveRequest request = {.allocation = allocation};
    const MaarMoveBeginInfo begin = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO, .requestCount = 1, .pRequests = &request};
    assert_int_equal(maarBeginMoves(rig->allocator, &begin, &batch), VK_SUCCESS);
    assert_int_equal(vkCreateBuffer(rig->device, &buffer_info, NULL, &moved), VK_SUCCESS);
    assert_int_equal(maarBindMovedBuffer(rig->allocator, batch, allocation, 0, moved, NULL),
                     VK_SUCCESS);
    const MaarMoveSubmitInfo submit = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO,
                                       .queueIndex = copying_queue,
                                       .waitCount = crosses ? 1 : 0,
                                       .pWaits = &written};
    MaarPoint copied = {VK_NULL_HANDLE, 0};
    assert_int_equal(maarSubmitMoves(rig->allocator, batch, &submit, &copied), VK_SUCCESS);
    const MaarPoint old_read = read_back(stage, 0, old, 0, 0x11111111, crosses ? &written : NULL);
    (void)read_back(stage, 0, moved, 1, 0x11111111, crosses ? &copied : NULL);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 1, &old_read, NULL), VK_SUCCESS);
    const MaarPoint ends[] = {old_read, copied};
    assert_int_equal(maarDestroyBufferAfter(rig->allocator, old, VK_NULL_HANDLE, 2, ends),
                     VK_SUCCESS);

    /* Nothing has been executed yet, so there is no room. */
    VkBuffer next = VK_NULL_HANDLE;
    MaarAllocation next_allocation = VK_NULL_HANDLE;
    stage->came_too_early =
        maarCreateBuffer(rig->allocator, &buffer_info, &how, &next, &next_allocation) == VK_SUCCESS;
    hold(stage, false);
    if (!stage->came_too_early) {
        assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
        assert_int_equal(
            maarCreateBuffer(rig->allocator, &buffer_info, &how, &next, &next_allocation),
            VK_SUCCESS);
        assert_int_equal(rig_info(rig, next_allocation).offset, old_offset);
    }
    const MaarPoint filled = perform(stage, 1, &(struct operation){.to = next, .word = 0x22222222});
    (void)read_back(stage, 1, next, 2, 0x22222222, &filled);
    assert_int_equal(vkDeviceWaitIdle(rig->device), VK_SUCCESS);
    maarDestroyBuffer(rig->allocator, next, next_allocation);
    maarDestroyBuffer(rig->allocator, moved, allocation);
    maarDestroyPool(rig->allocator, pool);
}

static void move_on_one_queue(struct stage* stage)
{
    move_a_buffer(stage, 0);
}

static void move_across_queues(struct stage* stage)
{
    move_a_buffer(stage, 1);
}

static MaarReservation reserve(struct stage* stage)
{
    VkBufferCreateInfo buffer = shared_buffer(stage);
    buffer.size = 4 * BUFFER_SIZE;
    const MaarReservationCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                            .pBufferInfo = &buffer};
    MaarReservation reservation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(stage->rig.allocator, &info, &reservation), VK_SUCCESS);
    return reservation;
}

static MaarReservationInfo reservation_info(struct stage* stage, MaarReservation reservation)
{
    MaarReservationInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    assert_int_equal(maarGetReservationInfo(stage->rig.allocator, reservation, &info), VK_SUCCESS);
    return info;
}

/* Commits the pages that BUFFER_SIZE bytes need, and returns the point after which they exist. */
static MaarPoint commit(struct stage* stage, MaarReservation reservation, VkDeviceSize size,
                        const MaarPoint* wait)
{
    const MaarPageRange range = {0, size};
    MaarPoint bound = {VK_NULL_HANDLE, 0};
    assert_int_equal(maarCommitPages(stage->rig.allocator, reservation, 1, &range), VK_SUCCESS);
    assert_int_equal(maarSubmitBinds(stage->rig.allocator, wait != NULL ? 1 : 0, wait, &bound),
                     VK_SUCCESS);
    return bound;
}

/* Two reservations have the same pages, one after the other. */
static void hand_pages_on(struct stage* stage)
{
    struct rig* rig = &stage->rig;
    const MaarReservation first = reserve(stage);
    const MaarReservation second = reserve(stage);
    const VkBuffer buffers[] = {reservation_info(stage, first).buffer,
                                reservation_info(stage, second).buffer};
    hold(stage, true);
    struct operation fill = {.to = buffers[0], .word = 0x11111111, .wait_count = 1};
    fill.waits[0] = commit(stage, first, BUFFER_SIZE, NULL);
    const MaarPoint filled = perform(stage, 0, &fill);
    const MaarPoint read = read_back(stage, 0, buffers[0], 0, 0x11111111, &filled);
    const MaarPageRange range = {0, BUFFER_SIZE};
    assert_int_equal(maarDecommitPages(rig->allocator, first, 1, &range), VK_SUCCESS);
    assert_int_equal(maarSubmitBinds(rig->allocator, 1, &read, NULL), VK_SUCCESS);
    fill = (struct operation){.to = buffers[1], .word = 0x22222222, .wait_count = 1};
    fill.waits[0] = commit(stage, second, BUFFER_SIZE, NULL);
    const MaarPoint filled_again = perform(stage, 1, &fill);
    (void)read_back(stage, 1, buffers[1], 1, 0x22222222, &filled_again);
    hold(stage, false);
    assert_int_equal(vkDeviceWaitIdle(rig->device), VK_SUCCESS);
    maarDestroyReservation(rig->allocator, first);
    maarDestroyReservation(rig->allocator, second);
}

/* A reservation in a pool whose page blocks have room for two buffers. It has its pages. */
static MaarReservation reserve_in(struct stage* stage, MaarPool pool, VkDeviceSize size)
{
    VkBufferCreateInfo buffer = shared_buffer(stage);
    buffer.size = size;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    const MaarReservationCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                            .pBufferInfo = &buffer,
                                            .pMemoryInfo = &how};
    const MaarPageRange range = {0, size};
    MaarReservation reservation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(stage->rig.allocator, &info, &reservation), VK_SUCCESS);
    assert_int_equal(maarCommitPages(stage->rig.allocator, reservation, 1, &range), VK_SUCCESS);
    return reservation;
}

static MaarMoveBatch begin_page_moves(struct stage* stage, MaarPool pool)
{
    MaarAllocator allocator = stage->rig.allocator;
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = pool,
        .goal = MAAR_DEFRAGMENTATION_GOAL_PAGES,
    };
    MaarDefragmentation run = VK_NULL_HANDLE;
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(maarBeginDefragmentation(allocator, &info, &run), VK_SUCCESS);
    assert_int_equal(maarStepDefragmentation(allocator, run, NULL, &batch), VK_SUCCESS);
    assert_true(batch != VK_NULL_HANDLE);
    maarEndDefragmentation(allocator, run);
    return batch;
}

/* Moves the pages of a buffer to those that another reservation has just given back, and gives its
 * old ones to a third. */
static void move_pages_across_queues(struct stage* stage)
{
    struct rig* rig = &stage->rig;
    MaarAllocator allocator = rig->allocator;
    enum { STAYS, LEAVES, MOVES, COUNT };
    const MaarPoolPagingInfo paging = {.sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
                                       .stitch = VK_TRUE,
                                       .pageBlockSize = 2 * BUFFER_SIZE};
    const MaarPoolCreateInfo pool_info = {.pNext = &paging};
    const MaarPool pool = rig_create_pool(rig, &pool_info);
    MaarReservation reservations[COUNT];
    VkBuffer buffers[COUNT];
    for (uint32_t i = 0; i < COUNT; ++i) {
        reservations[i] = reserve_in(stage, pool, BUFFER_SIZE);
        buffers[i] = reservation_info(stage, reservations[i]).buffer;
    }
    MaarPoint bound = {VK_NULL_HANDLE, 0};
    assert_int_equal(maarSubmitBinds(allocator, 0, NULL, &bound), VK_SUCCESS);
    assert_int_equal(vkDeviceWaitIdle(rig->device), VK_SUCCESS);

    hold(stage, true);
    struct operation fill = {.to = buffers[LEAVES], .word = 0x11111111};
    const MaarPoint filled = perform(stage, 0, &fill);
    fill = (struct operation){.to = buffers[MOVES], .word = 0x22222222};
    const MaarPoint written = perform(stage, 0, &fill);
    const MaarPoint read = read_back(stage, 0, buffers[LEAVES], 0, 0x11111111, &filled);
    const MaarPageRange all = {0, BUFFER_SIZE};
    assert_int_equal(maarDecommitPages(allocator, reservations[LEAVES], 1, &all), VK_SUCCESS);
    assert_int_equal(maarSubmitBinds(allocator, 1, &read, NULL), VK_SUCCESS);

    const MaarMoveBatch batch = begin_page_moves(stage, pool);
    const MaarMoveSubmitInfo submit = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO,
                                       .queueIndex = 1,
                                       .waitCount = 1,
                                       .pWaits = &written};
    assert_int_equal(maarSubmitMoves(allocator, batch, &submit, NULL), VK_SUCCESS);
    const MaarPoint old_read = read_back(stage, 0, buffers[MOVES], 1, 0x22222222, &written);
    assert_int_equal(maarCommitMoves(allocator, batch, 1, &old_read, NULL), VK_SUCCESS);
    assert_int_equal(maarSubmitBinds(allocator, 0, NULL, &bound), VK_SUCCESS);
    fill = (struct operation){.to = buffers[MOVES], .word = 0x44444444, .wait_count = 1};
    fill.waits[0] = read_back(stage, 0, buffers[MOVES], 2, 0x22222222, &bound);
    const MaarPoint written_anew = perform(stage, 0, &fill);
    (void)read_back(stage, 0, buffers[MOVES], 4, 0x44444444, &written_anew);

    /* Nothing has been executed yet, so the old pages are not free. */
    MaarPagingStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    assert_int_equal(maarCollect(allocator, NULL), VK_SUCCESS);
    assert_int_equal(maarGetPagingStatistics(allocator, &statistics), VK_SUCCESS);
    stage->came_too_early = statistics.heldBytes != BUFFER_SIZE;
    hold(stage, false);
    assert_int_equal(maarWaitPending(allocator, UINT64_MAX), VK_SUCCESS);
    const MaarReservation next = reserve_in(stage, pool, 2 * BUFFER_SIZE);
    assert_int_equal(maarSubmitBinds(allocator, 0, NULL, &bound), VK_SUCCESS);
    fill = (struct operation){
        .to = reservation_info(stage, next).buffer, .word = 0x33333333, .wait_count = 1};
    fill.waits[0] = bound;
    const MaarPoint filled_again = perform(stage, 1, &fill);
    (void)read_back(stage, 1, fill.to, 3, 0x33333333, &filled_again);
    assert_int_equal(vkDeviceWaitIdle(rig->device), VK_SUCCESS);
    maarDestroyReservation(allocator, next);
    for (uint32_t i = 0; i < COUNT; ++i) {
        maarDestroyReservation(allocator, reservations[i]);
    }
    maarDestroyPool(allocator, pool);
}

/* A reservation that grows by copies on a device without sparse binding. */
static void grow_by_copies(struct stage* stage)
{
    struct rig* rig = &stage->rig;
    const MaarReservation reservation = reserve(stage);
    hold(stage, true);
    struct operation fill = {.word = 0x11111111, .wait_count = 1};
    fill.waits[0] = commit(stage, reservation, BUFFER_SIZE, NULL);
    fill.to = reservation_info(stage, reservation).buffer;
    const MaarPoint filled = perform(stage, 1, &fill);
    const MaarPoint copied = commit(stage, reservation, 3 * BUFFER_SIZE, &filled);
    const VkBuffer grown = reservation_info(stage, reservation).buffer;
    assert_true(grown != fill.to);
    (void)read_back(stage, 1, grown, 0, 0x11111111, &copied);
    hold(stage, false);
    assert_int_equal(vkDeviceWaitIdle(rig->device), VK_SUCCESS);
    maarDestroyReservation(rig->allocator, reservation);
}

/* ---- leaving out ---- */

/* What a device need not notice, with the reason. */
struct excuse {
    enum rig_omission kind;
    uint32_t nth;
    const char* reason;
    uint32_t last; /* or all from the nth to this one; 0: only the nth */
};

struct program {
    void (*play)(struct stage* stage);
    VkFlags off;
    struct excuse excuses[12];
};

static const char all_has_ended[] = "all work has ended by then";
static const char waits_order_all[] = "the waits of the submissions order everything";

static struct stage stage;

/* Orders in which a driver may execute what nothing orders. */
static const uint64_t orders[] = {MAAR_SIMULATED_ORDER_OLDEST_FIRST,
                                  MAAR_SIMULATED_ORDER_NEWEST_FIRST, 1, 2};
enum { ORDERS = sizeof orders / sizeof orders[0] };

/* Plays the program whole, in every order. *counts: the calls of each kind. */
static void leave_out_nothing(const struct program* program, uint32_t* counts)
{
    for (uint32_t i = 0; i < ORDERS; ++i) {
        open_stage(&stage, program->off, orders[i], RIG_OMIT_NOTHING, 0);
        program->play(&stage);
        const bool noticed = has_noticed(&stage);
        if (noticed) {
            print_error("nothing was left out: %s\n", stage.rig.violation);
        }
        assert_false(noticed);
        for (uint32_t kind = 1; kind < RIG_OMISSION_COUNT; ++kind) {
            counts[kind] = rig_omit_count((enum rig_omission)kind);
        }
        close_stage(&stage);
    }
}

/* Plays the program without one call, in every order until it is noticed. */
static bool leave_out(const struct program* program, enum rig_omission kind, uint32_t nth)
{
    bool noticed = false;
    for (uint32_t i = 0; i < ORDERS && !noticed; ++i) {
        open_stage(&stage, program->off, orders[i], kind, nth);
        program->play(&stage);
        noticed = has_noticed(&stage);
        if (noticed) {
            print_message("%s %u left out: %s\n", rig_omission_name(kind), nth,
                          stage.came_too_early             ? "memory was free too early"
                          : stage.rig.violation[0] != '\0' ? stage.rig.violation
                                                           : "other bytes");
        }
        close_stage(&stage);
    }
    return noticed;
}

static const char* excuse_of(const struct program* program, enum rig_omission kind, uint32_t nth)
{
    for (const struct excuse* at = program->excuses; at->reason != NULL; ++at) {
        const uint32_t last = at->last != 0 ? at->last : at->nth;
        if (at->kind == kind && nth >= at->nth && nth <= last) {
            return at->reason;
        }
    }
    return NULL;
}

static void leave_out_each(const struct program* program)
{
    uint32_t counts[RIG_OMISSION_COUNT] = {0};
    uint32_t missed = 0;
    leave_out_nothing(program, counts);
    for (uint32_t kind = 1; kind < RIG_OMISSION_COUNT; ++kind) {
        for (uint32_t nth = 1; nth <= counts[kind]; ++nth) {
            const enum rig_omission omission = (enum rig_omission)kind;
            const char* excuse = excuse_of(program, omission, nth);
            const bool noticed = leave_out(program, omission, nth);
            if (noticed == (excuse != NULL)) {
                print_error("%s %u of %u left out: %s\n", rig_omission_name(omission), nth,
                            counts[kind], noticed ? "noticed, although excused" : "not noticed");
                ++missed;
            } else if (!noticed) {
                print_message("%s %u left out: %s\n", rig_omission_name(omission), nth, excuse);
            }
        }
    }
    assert_int_equal(missed, 0);
}

static void moves_on_one_queue(void** state)
{
    static const struct program program = {
        .play = move_on_one_queue,
        .excuses = {{RIG_OMIT_ANSWER, 4, all_has_ended, 0}},
    };
    (void)state;
    leave_out_each(&program);
}

static void moves_across_queues(void** state)
{
    static const struct program program = {
        .play = move_across_queues,
        .excuses = {{RIG_OMIT_BARRIER, 1, waits_order_all, 0},
                    {RIG_OMIT_BARRIER, 2, waits_order_all, 0},
                    {RIG_OMIT_ANSWER, 4, all_has_ended, 0}},
    };
    (void)state;
    leave_out_each(&program);
}

static void pages_that_go_on(void** state)
{
    static const struct program program = {
        .play = hand_pages_on,
        .excuses = {{RIG_OMIT_BIND_WAIT, 1, "the program's point implies the first binds", 0},
                    {RIG_OMIT_ANSWER, 1, all_has_ended, 0},
                    {RIG_OMIT_ANSWER, 2, all_has_ended, 0}},
    };
    (void)state;
    leave_out_each(&program);
}

static void pages_that_move(void** state)
{
    static const struct program program = {
        .play = move_pages_across_queues,
        .excuses = {{RIG_OMIT_BARRIER, 1, waits_order_all, 2},
                    {RIG_OMIT_WAIT, 2, "the binds that freed the new pages wait for later work", 0},
                    {RIG_OMIT_WAIT, 8, all_has_ended, 0},
                    {RIG_OMIT_BIND_WAIT, 1, all_has_ended, 0},
                    {RIG_OMIT_BIND_WAIT, 3, "the copies wait for the binds before", 0},
                    {RIG_OMIT_BIND_WAIT, 6, all_has_ended, 0},
                    {RIG_OMIT_ANSWER, 2, "no block is empty then", 0},
                    {RIG_OMIT_ANSWER, 4, all_has_ended, 10},
                    {RIG_OMIT_HOST_WAIT, 2, all_has_ended, 4}},
    };
    (void)state;
    leave_out_each(&program);
}

static void growth_by_copies(void** state)
{
    static const struct program program = {
        .play = grow_by_copies,
        .off = RIG_OFF_SPARSE,
        .excuses = {{RIG_OMIT_BARRIER, 1, waits_order_all, 0},
                    {RIG_OMIT_BARRIER, 2, waits_order_all, 0},
                    {RIG_OMIT_WAIT, 1, "nothing is copied to the first buffer", 0},
                    {RIG_OMIT_ANSWER, 1, all_has_ended, 0}},
    };
    (void)state;
    leave_out_each(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_on_one_queue), cmocka_unit_test(moves_across_queues),
        cmocka_unit_test(pages_that_go_on),   cmocka_unit_test(pages_that_move),
        cmocka_unit_test(growth_by_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
