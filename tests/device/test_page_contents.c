/*
 * Random programs whose reservations and stitched buffers are written, read, grown, shrunk and
 * destroyed while runs of defragmentation move their pages, with several batches under way and with
 * submissions that are held back. Each page is compared with what the program wrote last. The
 * validation layer, where it is installed, checks the commands.
 *
 * MAAR_TEST_STEPS sets the number of steps, MAAR_TEST_SEED the seed.
 */
#include "tests/rig/rig.h"

#include <stdio.h>

enum {
    OBJECTS = 12,
    PAGES = 24,      /* of a reservation */
    BLOCK_PAGES = 8, /* of a page block */
    BATCHES = 3,     /* under way */
    STEPS = 4000,
    READ_BYTES = 4096, /* of a page that are compared */
    MOST_MOVES = 64
};

/* A reservation or a stitched buffer. */
struct object {
    VkBuffer buffer;
    MaarReservation reservation; /* or null */
    MaarAllocation memory;       /* of a stitched buffer */
    uint32_t count;              /* pages */
    uint32_t words[PAGES];       /* what fills each page; 0: it has no memory */
    uint32_t moving[PAGES];      /* a batch moves it: no writes */
};

struct batch {
    MaarMoveBatch handle;
    MaarPoint copied;
    struct object* objects[MOST_MOVES];
    uint32_t first[MOST_MOVES];
    uint32_t pages[MOST_MOVES];
    uint32_t count;
};

static struct rig rig;
static struct object objects[OBJECTS];
static struct batch batches[BATCHES];
static struct rig_random random_state;
static MaarPool pool;
static VkDeviceSize page_size;
static VkSemaphore hold; /* held submissions wait for its next value */
static uint64_t hold_value;
static VkSemaphore work; /* of the program's submissions */
static uint64_t work_value;
static MaarPoint bound; /* of the last binds */
static VkCommandPool command_pool;
static VkBuffer readback;
static MaarAllocation readback_memory;
static uint32_t queue_index; /* of the queue that copies */
static uint32_t moved_pages;
static uint32_t compared;

static uint32_t below(uint32_t bound_of_numbers)
{
    return rig_below(&random_state, bound_of_numbers);
}

static MaarPoint last_work(void)
{
    return (MaarPoint){work, work_value};
}

static void release_all(void)
{
    rig_signal(&rig, hold, ++hold_value);
}

/* ---- commands ---- */

static VkCommandBuffer begin_commands(void)
{
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = command_pool,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT,
    };
    VkCommandBuffer commands = VK_NULL_HANDLE;
    assert_int_equal(vkAllocateCommandBuffers(rig.device, &info, &commands), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         0, 1, &barrier, 0, NULL, 0, NULL);
    return commands;
}

/* Submits commands after the last binds, and after the hold if `holds`. */
static void submit_commands(VkCommandBuffer commands, bool holds)
{
    const VkPipelineStageFlags stages[] = {VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                           VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                           VK_PIPELINE_STAGE_ALL_COMMANDS_BIT};
    VkSemaphore waits[3];
    uint64_t values[3];
    uint32_t count = 0;
    if (bound.semaphore != VK_NULL_HANDLE) {
        waits[count] = bound.semaphore;
        values[count++] = bound.value;
    }
    if (work_value > 0) {
        waits[count] = work;
        values[count++] = work_value;
    }
    if (holds) {
        waits[count] = hold;
        values[count++] = hold_value + 1;
    }
    const uint64_t value = ++work_value;
    const VkTimelineSemaphoreSubmitInfo timelines = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = count,
        .pWaitSemaphoreValues = values,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timelines,
        .waitSemaphoreCount = count,
        .pWaitSemaphores = waits,
        .pWaitDstStageMask = stages,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &work,
    };
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    assert_int_equal(vkQueueSubmit(rig.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
}

static void wait_for_work(void)
{
    const MaarPoint point = last_work();
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &point.semaphore,
        .pValues = &point.value,
    };
    release_all();
    assert_int_equal(vkWaitSemaphores(rig.device, &info, 10000000000), VK_SUCCESS);
}

/* Passes binds on. They wait for the work of the program so far. */
static void submit_binds(void)
{
    const MaarPoint before = last_work();
    MaarPoint point = {VK_NULL_HANDLE, 0};
    assert_int_equal(maarSubmitBinds(rig.allocator, work_value > 0 ? 1 : 0, &before, &point),
                     VK_SUCCESS);
    bound = point.value > 0 ? point : bound;
}

/* ---- objects ---- */

/* Fills pages that have memory and do not move with new words. */
static void write_pages(struct object* object, uint32_t first, uint32_t end)
{
    VkCommandBuffer commands = begin_commands();
    for (uint32_t i = first; i < end; ++i) {
        if (object->words[i] != 0 && object->moving[i] == 0) {
            object->words[i] = rig_next(&random_state) | 1u;
            vkCmdFillBuffer(commands, object->buffer, i * page_size, page_size, object->words[i]);
        }
    }
    submit_commands(commands, below(3) == 0);
}

/* Compares the last bytes of each page, and a few others. */
static void read_object(const struct object* object)
{
    static uint32_t words[PAGES * READ_BYTES / 4];
    const VkDeviceSize part = page_size < READ_BYTES ? page_size : READ_BYTES;
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    VkCommandBuffer commands = begin_commands();
    for (uint32_t i = 0; i < object->count; ++i) {
        const VkDeviceSize at = below((uint32_t)(page_size / part)) * part;
        const VkBufferCopy region = {i * page_size + at, i * part, part};
        if (object->words[i] != 0) {
            vkCmdCopyBuffer(commands, object->buffer, readback, 1, &region);
        }
    }
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &barrier, 0, NULL, 0, NULL);
    submit_commands(commands, false);
    wait_for_work();
    assert_int_equal(
        maarCopyFromAllocation(rig.allocator, readback_memory, 0, object->count * part, words),
        VK_SUCCESS);
    for (uint32_t i = 0; i < object->count; ++i) {
        for (uint32_t k = 0; object->words[i] != 0 && k < part / 4; ++k) {
            if (words[i * part / 4 + k] != object->words[i]) {
                fail_msg("page %u of %u: 0x%08X instead of 0x%08X", i, object->count,
                         words[i * part / 4 + k], object->words[i]);
            }
        }
        compared += object->words[i] != 0;
    }
}

static VkBufferCreateInfo buffer_info(uint32_t pages)
{
    VkBufferCreateInfo info = rig_buffer_info(pages * page_size);
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    return info;
}

static void create_object(struct object* object)
{
    *object = (struct object){.count = PAGES};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    how.pUserData = object;
    if (below(2) == 0) {
        const VkBufferCreateInfo info = buffer_info(PAGES);
        const MaarReservationCreateInfo reserve = {
            .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
            .pBufferInfo = &info,
            .pMemoryInfo = &how,
        };
        MaarReservationInfo made = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
        assert_int_equal(maarCreateReservation(rig.allocator, &reserve, &object->reservation),
                         VK_SUCCESS);
        assert_int_equal(maarGetReservationInfo(rig.allocator, object->reservation, &made),
                         VK_SUCCESS);
        object->buffer = made.buffer;
        return;
    }
    object->count = 2 + below(PAGES - 2);
    const VkBufferCreateInfo info = buffer_info(object->count);
    assert_int_equal(maarCreateBuffer(rig.allocator, &info, &how, &object->buffer, &object->memory),
                     VK_SUCCESS);
    submit_binds();
    for (uint32_t i = 0; i < object->count; ++i) {
        object->words[i] = 1;
    }
    write_pages(object, 0, object->count);
}

/* Commits pages, or gives some back. */
static void change_object(struct object* object, bool grows)
{
    const uint32_t first = below(PAGES);
    const uint32_t end = first + 1 + below(PAGES - first);
    const MaarPageRange range = {first * page_size, (end - first) * page_size};
    if (grows) {
        bool is_new[PAGES] = {false};
        assert_int_equal(maarCommitPages(rig.allocator, object->reservation, 1, &range),
                         VK_SUCCESS);
        submit_binds();
        for (uint32_t i = first; i < end; ++i) {
            is_new[i] = object->words[i] == 0;
            object->words[i] = is_new[i] ? 1 : object->words[i];
        }
        for (uint32_t i = first; i < end; ++i) {
            if (is_new[i]) {
                /* A page that was given back does not move any more. */
                object->moving[i] = 0;
                write_pages(object, i, i + 1);
            }
        }
        return;
    }
    assert_int_equal(maarDecommitPages(rig.allocator, object->reservation, 1, &range), VK_SUCCESS);
    if (below(2) == 0) {
        submit_binds();
    } else {
        const MaarPoint point = last_work();
        assert_int_equal(maarDelayBinds(rig.allocator, work_value > 0 ? 1 : 0, &point), VK_SUCCESS);
    }
    for (uint32_t i = first; i < end; ++i) {
        object->words[i] = 0;
    }
}

static void destroy_object(struct object* object)
{
    const MaarPoint point = last_work();
    const uint32_t count = work_value > 0 ? 1 : 0;
    if (object->reservation != VK_NULL_HANDLE) {
        assert_int_equal(
            maarDestroyReservationAfter(rig.allocator, object->reservation, count, &point),
            VK_SUCCESS);
    } else {
        assert_int_equal(
            maarDestroyBufferAfter(rig.allocator, object->buffer, object->memory, count, &point),
            VK_SUCCESS);
    }
    for (uint32_t i = 0; i < BATCHES; ++i) {
        for (uint32_t k = 0; k < batches[i].count; ++k) {
            batches[i].objects[k] = batches[i].objects[k] == object ? NULL : batches[i].objects[k];
        }
    }
    *object = (struct object){.count = 0};
}

/* ---- moves ---- */

static struct object* object_of(VkBuffer buffer)
{
    uint32_t at = 0;
    while (at < OBJECTS && objects[at].buffer != buffer) {
        ++at;
    }
    assert_true(at < OBJECTS);
    return &objects[at];
}

/* Submits the copies of a batch of a run. */
static void begin_batch(struct batch* batch, MaarMoveBatch handle)
{
    MaarPageMove moves[MOST_MOVES];
    *batch = (struct batch){.handle = handle, .count = MOST_MOVES};
    for (uint32_t i = 0; i < MOST_MOVES; ++i) {
        moves[i] = (MaarPageMove){.sType = MAAR_STRUCTURE_TYPE_PAGE_MOVE};
    }
    assert_int_equal(maarGetPageMoves(rig.allocator, handle, &batch->count, moves), VK_SUCCESS);
    assert_true(batch->count > 0);
    for (uint32_t i = 0; i < batch->count; ++i) {
        struct object* object = object_of(moves[i].buffer);
        assert_int_equal(moves[i].obstacle, MAAR_MOVE_OBSTACLE_NONE);
        assert_ptr_equal(moves[i].pUserData, object);
        assert_true(moves[i].allocation == object->memory);
        assert_true(moves[i].sourceMemory != moves[i].targetMemory);
        batch->objects[i] = object;
        batch->first[i] = (uint32_t)(moves[i].offset / page_size);
        batch->pages[i] = (uint32_t)(moves[i].size / page_size);
        for (uint32_t page = 0; page < batch->pages[i]; ++page) {
            assert_true(object->words[batch->first[i] + page] != 0);
            object->moving[batch->first[i] + page] = 1;
        }
    }
    const MaarPoint waits[] = {last_work(), {hold, hold_value + 1}};
    const MaarMoveSubmitInfo submit = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO,
        .queueIndex = queue_index,
        .waitCount = 1 + below(2),
        .pWaits = waits,
    };
    assert_int_equal(maarSubmitMoves(rig.allocator, handle, &submit, &batch->copied), VK_SUCCESS);
}

static void end_batch(struct batch* batch)
{
    uint32_t moved = 0;
    const MaarPoint point = last_work();
    if (below(4) != 0) {
        assert_int_equal(maarCommitMoves(rig.allocator, batch->handle, 1, &point, &moved),
                         VK_SUCCESS);
        if (below(2) == 0) {
            /* The pages have new places already, and may go before the device knows these. */
            struct object* object = &objects[below(OBJECTS)];
            if (object->reservation != VK_NULL_HANDLE) {
                change_object(object, false);
            }
        }
        submit_binds();
    } else {
        assert_int_equal(maarCancelMoves(rig.allocator, batch->handle, 1, &point), VK_SUCCESS);
    }
    moved_pages += moved;
    for (uint32_t i = 0; i < batch->count; ++i) {
        for (uint32_t page = 0; batch->objects[i] != NULL && page < batch->pages[i]; ++page) {
            batch->objects[i]->moving[batch->first[i] + page] = 0;
        }
    }
    *batch = (struct batch){.count = 0};
}

/* Takes some steps of a run. */
static void defragment(void)
{
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = pool,
        .goal = MAAR_DEFRAGMENTATION_GOAL_PAGES,
        .maxBlockCount = below(3),
    };
    const MaarDefragmentationStepInfo limits = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO, .maxMoves = 1 + below(32)};
    MaarDefragmentation run = VK_NULL_HANDLE;
    assert_int_equal(maarBeginDefragmentation(rig.allocator, &info, &run), VK_SUCCESS);
    for (uint32_t i = 0; i < BATCHES; ++i) {
        MaarMoveBatch batch = VK_NULL_HANDLE;
        if (batches[i].handle == VK_NULL_HANDLE) {
            assert_int_equal(maarStepDefragmentation(rig.allocator, run, &limits, &batch),
                             VK_SUCCESS);
        }
        if (batch != VK_NULL_HANDLE) {
            begin_batch(&batches[i], batch);
        }
    }
    maarEndDefragmentation(rig.allocator, run);
}

/* ---- programs ---- */

static void step(void)
{
    struct object* object = &objects[below(OBJECTS)];
    struct batch* batch = &batches[below(BATCHES)];
    if (object->buffer == VK_NULL_HANDLE) {
        create_object(object);
    }
    switch (below(12)) {
    case 0:
        if (below(2) == 0) {
            destroy_object(object);
        }
        break;
    case 1:
    case 2:
        if (object->reservation != VK_NULL_HANDLE) {
            change_object(object, true);
        }
        break;
    case 3:
    case 4:
        if (object->reservation != VK_NULL_HANDLE) {
            change_object(object, false);
        }
        break;
    case 5:
        write_pages(object, 0, object->count);
        break;
    case 6:
    case 7:
        defragment();
        break;
    case 8:
    case 9:
        if (batch->handle != VK_NULL_HANDLE) {
            end_batch(batch);
        }
        break;
    case 10:
        release_all();
        assert_int_equal(maarCollect(rig.allocator, NULL), VK_SUCCESS);
        break;
    default:
        read_object(object);
        break;
    }
}

static void open_program(void)
{
    const VkCommandPoolCreateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = rig.families[0],
    };
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    MaarPagingInfo paging = {.sType = MAAR_STRUCTURE_TYPE_PAGING_INFO};
    page_size = 64 * KIB;
    VkBufferCreateInfo info = buffer_info(1);
    const MaarReservationCreateInfo probe = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                             .pBufferInfo = &info};
    MaarReservation reservation = VK_NULL_HANDLE;
    MaarReservationInfo made = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    assert_int_equal(maarCreateReservation(rig.allocator, &probe, &reservation), VK_SUCCESS);
    assert_int_equal(maarGetReservationInfo(rig.allocator, reservation, &made), VK_SUCCESS);
    page_size = made.pageSize;
    maarDestroyReservation(rig.allocator, reservation);
    assert_int_equal(maarGetPagingInfo(rig.allocator, &paging), VK_SUCCESS);
    assert_true(paging.stitching == VK_TRUE && made.sparse == VK_TRUE);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    assert_int_equal(maarChooseMemoryTypeForBuffer(rig.allocator, &info, &how, &choice),
                     VK_SUCCESS);
    const MaarPoolPagingInfo stitch = {.sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
                                       .stitch = VK_TRUE,
                                       .threshold = 1,
                                       .pageBlockSize = BLOCK_PAGES * page_size};
    const MaarPoolCreateInfo pool_info = {.pNext = &stitch,
                                          .memoryTypeIndex = choice.memoryTypeIndex};
    pool = rig_create_pool(&rig, &pool_info);
    info = rig_buffer_info((VkDeviceSize)PAGES * READ_BYTES);
    info.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    const MaarAllocationCreateInfo read = rig_how(MAAR_MEMORY_USAGE_READBACK);
    assert_int_equal(maarCreateBuffer(rig.allocator, &info, &read, &readback, &readback_memory),
                     VK_SUCCESS);
    assert_int_equal(vkCreateCommandPool(rig.device, &commands, NULL, &command_pool), VK_SUCCESS);
    hold = rig_create_timeline(&rig, 0);
    work = rig_create_timeline(&rig, 0);
    hold_value = 0;
    work_value = 0;
    bound = (MaarPoint){VK_NULL_HANDLE, 0};
    moved_pages = 0;
    compared = 0;
    queue_index = UINT32_MAX;
    for (uint32_t i = 0; i < rig.create_info.queueCount; ++i) {
        queue_index = rig.paging_queues[i].queue == rig.queue ? i : queue_index;
    }
    assert_true(queue_index != UINT32_MAX);
    memset(objects, 0, sizeof objects);
    memset(batches, 0, sizeof batches);
}

static void close_program(void)
{
    for (uint32_t i = 0; i < BATCHES; ++i) {
        if (batches[i].handle != VK_NULL_HANDLE) {
            end_batch(&batches[i]);
        }
    }
    for (uint32_t i = 0; i < OBJECTS; ++i) {
        if (objects[i].buffer != VK_NULL_HANDLE) {
            read_object(&objects[i]);
            destroy_object(&objects[i]);
        }
    }
    submit_binds();
    wait_for_work();
    assert_int_equal(maarWaitPending(rig.allocator, 10000000000), VK_SUCCESS);
    assert_int_equal(rig_statistics(&rig, VK_NULL_HANDLE).pendingCount, 0);
    assert_int_equal(rig_statistics(&rig, VK_NULL_HANDLE).pendingBytes, 0);
    assert_int_equal(maarTrim(rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    maarDestroyBuffer(rig.allocator, readback, readback_memory);
    maarDestroyPool(rig.allocator, pool);
    assert_int_equal(vkDeviceWaitIdle(rig.device), VK_SUCCESS);
    vkDestroyCommandPool(rig.device, command_pool, NULL);
    vkDestroySemaphore(rig.device, hold, NULL);
    maarDestroyAllocator(rig.allocator);
    rig.allocator = VK_NULL_HANDLE;
    vkDestroySemaphore(rig.device, work, NULL);
}

/* Plays a random program, of a number. The rig is open. */
static void play(uint32_t number)
{
    const char* text = getenv("MAAR_TEST_STEPS");
    const uint32_t steps = text != NULL ? (uint32_t)strtoul(text, NULL, 10) : STEPS;
    random_state = (struct rig_random){rig_seed(5) + number};
    open_program();
    for (uint32_t i = 0; i < steps; ++i) {
        step();
        if (i % 16 == 0) {
            rig_check(&rig);
        }
    }
    close_program();
    print_message("%u steps: %u pages moved, %u compared\n", steps, moved_pages, compared);
    assert_true(moved_pages > steps / 8);
    assert_true(compared > steps / 2);
}

static int open_rig(void** state)
{
    return rig_setup_driver(&rig, state);
}

static void pages_survive_random_moves(void** state)
{
    rig_need(state, !rig_is_without_driver(), "drivers have entries of their own");
    rig_need(state, rig_executes(), "commands do not execute on this driver");
    play(0);
}

/* Simulated devices execute the copies on real bytes, and check contents and synchronization. */
static void pages_survive_on_simulated_devices(void** state)
{
    static const uint64_t orders[] = {MAAR_SIMULATED_ORDER_OLDEST_FIRST,
                                      MAAR_SIMULATED_ORDER_NEWEST_FIRST, 1, 2, 3};
    (void)state;
    rig_need_simulated_devices();
    for (size_t i = 0; i < RIG_VENDORS; ++i) {
        const struct rig_setup setup = {
            .profile = rig_profile_file(rig_vendors[i]),
            .flags = MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_CONTENTS_BIT |
                     MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT | MAAR_SIMULATED_ALLOW_ALIASING_BIT,
            .paging = true,
        };
        rig_open(&rig, &setup);
        maarSimulatedSetOrder(rig.physical, orders[i]);
        rig_make_allocator(&rig);
        play((uint32_t)i);
        rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pages_survive_random_moves, open_rig, rig_teardown),
        cmocka_unit_test(pages_survive_on_simulated_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
