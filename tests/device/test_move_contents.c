/*
 * Random programs that allocate, write, move, free and read buffers, with several batches of moves
 * under way and with submissions that are held back, and that empty blocks and make room for one
 * request. Every byte is compared with what the program wrote last. The validation layer, where it
 * is installed, checks the commands.
 *
 * MAAR_TEST_STEPS sets the number of steps, MAAR_TEST_SEED the seed.
 */
#include "tests/rig/rig.h"

#include <stdio.h>

enum { BUFFERS = 48, BATCHES = 4, BATCH_MOVES = 12, STEPS = 1500, UNIT = 256, MOST_UNITS = 96 };

/* A buffer of the program. */
struct entry {
    VkBuffer buffer;
    MaarAllocation memory;
    VkDeviceSize size;
    uint32_t word;    /* the buffer contains word, word + 1, ... */
    uint32_t batch;   /* the batch that moves it, or BATCHES */
    VkBuffer moved;   /* the new buffer of a move, if the program creates it */
    bool is_movable;  /* Maar creates the new buffer of a move */
    MaarPoint usable; /* the point after which its bytes are there */
};

/* A batch that is under way. */
struct batch {
    MaarMoveBatch handle;
    MaarPoint copied;
    bool is_submitted;
};

static struct rig rig;
static struct entry entries[BUFFERS];
static struct batch batches[BATCHES];
static struct rig_random random_state;
static MaarPool pools[2];
static VkSemaphore hold;    /* held submissions wait for its next value */
static uint64_t hold_value; /* its value */
static uint32_t bytes[UNIT * MOST_UNITS / 4];
static uint32_t compared;
static uint32_t moved_count;
static uint32_t room_count;
static uint32_t emptied_count; /* blocks */

static uint32_t below(uint32_t bound)
{
    return rig_below(&random_state, bound);
}

static void wait_for(MaarPoint point)
{
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &point.semaphore,
        .pValues = &point.value,
    };
    if (point.semaphore != VK_NULL_HANDLE) {
        rig_signal(&rig, hold, ++hold_value);
        assert_int_equal(vkWaitSemaphores(rig.device, &info, 10000000000), VK_SUCCESS);
    }
}

static VkBuffer make_buffer(VkDeviceSize size)
{
    VkBufferCreateInfo info = rig_buffer_info(size);
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    VkBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(vkCreateBuffer(rig.device, &info, NULL, &buffer), VK_SUCCESS);
    return buffer;
}

static void write_entry(struct entry* entry)
{
    wait_for(entry->usable);
    entry->word = rig_next(&random_state);
    for (uint32_t i = 0; i < entry->size / 4; ++i) {
        bytes[i] = entry->word + i;
    }
    assert_int_equal(maarCopyToAllocation(rig.allocator, entry->memory, 0, entry->size, bytes),
                     VK_SUCCESS);
}

static void read_entry(const struct entry* entry)
{
    wait_for(entry->usable);
    memset(bytes, 0, sizeof bytes);
    assert_int_equal(maarCopyFromAllocation(rig.allocator, entry->memory, 0, entry->size, bytes),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < entry->size / 4; ++i) {
        if (bytes[i] != entry->word + i) {
            print_error("word %u of %u: 0x%08X instead of 0x%08X\n", i, (uint32_t)(entry->size / 4),
                        bytes[i], entry->word + i);
        }
        assert_int_equal(bytes[i], entry->word + i);
    }
    ++compared;
}

static void create_entry(struct entry* entry)
{
    static const MaarMovableInfo movable = {.sType = MAAR_STRUCTURE_TYPE_MOVABLE_INFO};
    *entry = (struct entry){
        .size = UNIT * (1 + below(MOST_UNITS)), .batch = BATCHES, .is_movable = below(2) == 0};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pool = pools[below(2)];
    if (entry->is_movable) {
        VkBufferCreateInfo info = rig_buffer_info(entry->size);
        info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
        how.pNext = &movable;
        assert_int_equal(
            maarCreateBuffer(rig.allocator, &info, &how, &entry->buffer, &entry->memory),
            VK_SUCCESS);
    } else {
        entry->buffer = make_buffer(entry->size);
        assert_int_equal(
            maarAllocateMemoryForBuffer(rig.allocator, entry->buffer, &how, &entry->memory),
            VK_SUCCESS);
        assert_int_equal(maarBindBuffer(rig.allocator, entry->memory, 0, entry->buffer, NULL),
                         VK_SUCCESS);
    }
    write_entry(entry);
}

/* The device has finished with the program's buffer, but perhaps not with a copy of a batch, of
 * which Maar knows while the batch is under way. Of other copies the point is given. */
static void destroy_entry(struct entry* entry)
{
    if (entry->batch != BATCHES || entry->usable.semaphore == VK_NULL_HANDLE) {
        maarDestroyBuffer(rig.allocator, entry->buffer, entry->memory);
    } else {
        assert_int_equal(
            maarDestroyBufferAfter(rig.allocator, entry->buffer, entry->memory, 1, &entry->usable),
            VK_SUCCESS);
    }
    if (entry->batch != BATCHES && !entry->is_movable) {
        /* The new buffer of its move goes with the batch. */
        wait_for(batches[entry->batch].copied);
        vkDestroyBuffer(rig.device, entry->moved, NULL);
    }
    entry->memory = VK_NULL_HANDLE;
}

/* Begins a batch with some buffers, binds new buffers, and submits the copies. */
static void begin_batch(uint32_t number)
{
    struct batch* batch = &batches[number];
    MaarMoveRequest requests[BATCH_MOVES];
    struct entry* chosen[BATCH_MOVES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < BUFFERS && count < BATCH_MOVES; ++i) {
        struct entry* entry = &entries[below(BUFFERS)];
        if (entry->memory != VK_NULL_HANDLE && entry->batch == BATCHES) {
            chosen[count] = entry;
            requests[count++] = (MaarMoveRequest){.allocation = entry->memory};
            entry->batch = number;
        }
    }
    if (count == 0) {
        return;
    }
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pool = pools[below(2)];
    const MaarMoveBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO,
        .requestCount = count,
        .pRequests = requests,
        .pCreateInfo = below(2) == 0 ? &how : NULL,
    };
    assert_int_equal(maarBeginMoves(rig.allocator, &info, &batch->handle), VK_SUCCESS);
    MaarPoint waits[BATCH_MOVES + 1];
    uint32_t wait_count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (!chosen[i]->is_movable) {
            chosen[i]->moved = make_buffer(chosen[i]->size);
            assert_int_equal(maarBindMovedBuffer(rig.allocator, batch->handle, chosen[i]->memory, 0,
                                                 chosen[i]->moved, NULL),
                             VK_SUCCESS);
        }
        if (chosen[i]->usable.semaphore != VK_NULL_HANDLE) {
            waits[wait_count++] = chosen[i]->usable;
        }
    }
    assert_int_equal(maarCreateMovedObjects(rig.allocator, batch->handle), VK_SUCCESS);
    if (below(2) == 0) {
        waits[wait_count++] = (MaarPoint){hold, hold_value + 1};
    }
    const MaarMoveSubmitInfo submit = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO,
        .waitCount = wait_count,
        .pWaits = waits,
    };
    const VkResult submitted =
        maarSubmitMoves(rig.allocator, batch->handle, &submit, &batch->copied);
    if (submitted != VK_SUCCESS) {
        print_error("%s\n", rig.messages.last);
    }
    assert_int_equal(submitted, VK_SUCCESS);
}

/* Commits or cancels a batch. Reads from buffers that it moves are correct in between. */
static void end_batch(uint32_t number)
{
    struct batch* batch = &batches[number];
    uint32_t moved = 0;
    uint32_t expected = 0;
    const bool commits = below(4) != 0;
    MaarAllocation dropped = VK_NULL_HANDLE;
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        struct entry* entry = &entries[i];
        if (entry->batch == number && entry->memory != VK_NULL_HANDLE) {
            ++expected;
            if (dropped == VK_NULL_HANDLE && below(4) == 0) {
                dropped = entry->memory;
                --expected;
            }
        }
    }
    if (dropped != VK_NULL_HANDLE) {
        assert_int_equal(maarDropMoves(rig.allocator, batch->handle, 1, &dropped), VK_SUCCESS);
    }
    if (commits) {
        assert_int_equal(maarCommitMoves(rig.allocator, batch->handle, 0, NULL, &moved),
                         VK_SUCCESS);
        assert_int_equal(moved, expected);
        moved_count += moved;
    } else {
        assert_int_equal(maarCancelMoves(rig.allocator, batch->handle, 0, NULL), VK_SUCCESS);
    }
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        struct entry* entry = &entries[i];
        if (entry->batch != number) {
            continue;
        }
        entry->batch = BATCHES;
        if (entry->memory == VK_NULL_HANDLE) {
            continue;
        }
        const bool moves = commits && entry->memory != dropped;
        if (entry->is_movable) {
            const VkBuffer old = entry->buffer;
            assert_int_equal(
                maarGetMovableObject(rig.allocator, entry->memory, &entry->buffer, NULL),
                VK_SUCCESS);
            assert_true((entry->buffer != old) == moves);
            entry->usable = batch->copied;
            continue;
        }
        wait_for(batch->copied); /* before either buffer is destroyed */
        vkDestroyBuffer(rig.device, moves ? entry->buffer : entry->moved, NULL);
        entry->buffer = moves ? entry->moved : entry->buffer;
        entry->usable = batch->copied;
    }
    batch->handle = VK_NULL_HANDLE;
}

static struct entry* entry_of(MaarAllocation memory)
{
    uint32_t at = 0;
    while (at < BUFFERS && entries[at].memory != memory) {
        ++at;
    }
    assert_true(at < BUFFERS);
    return &entries[at];
}

/* Carries out a batch of a run. */
static void carry_out(MaarMoveBatch batch)
{
    MaarMove moves[BATCH_MOVES];
    MaarPoint waits[BATCH_MOVES];
    MaarPoint copied = {VK_NULL_HANDLE, 0};
    uint32_t count = BATCH_MOVES;
    uint32_t moved = 0;
    MaarMoveSubmitInfo submit = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO, .pWaits = waits};
    for (uint32_t i = 0; i < BATCH_MOVES; ++i) {
        moves[i] = (MaarMove){.sType = MAAR_STRUCTURE_TYPE_MOVE};
    }
    assert_int_equal(maarGetMoves(rig.allocator, batch, &count, moves), VK_SUCCESS);
    for (uint32_t i = 0; i < count; ++i) {
        struct entry* entry = entry_of(moves[i].allocation);
        if (!entry->is_movable) {
            entry->moved = make_buffer(entry->size);
            assert_int_equal(
                maarBindMovedBuffer(rig.allocator, batch, entry->memory, 0, entry->moved, NULL),
                VK_SUCCESS);
        }
        if (entry->usable.semaphore != VK_NULL_HANDLE) {
            waits[submit.waitCount++] = entry->usable;
        }
    }
    assert_int_equal(maarCreateMovedObjects(rig.allocator, batch), VK_SUCCESS);
    assert_int_equal(maarSubmitMoves(rig.allocator, batch, &submit, &copied), VK_SUCCESS);
    assert_int_equal(maarCommitMoves(rig.allocator, batch, 0, NULL, &moved), VK_SUCCESS);
    assert_int_equal(moved, count);
    moved_count += moved;
    wait_for(copied);
    for (uint32_t i = 0; i < count; ++i) {
        struct entry* entry = entry_of(moves[i].allocation);
        entry->usable = copied;
        if (entry->is_movable) {
            assert_int_equal(
                maarGetMovableObject(rig.allocator, entry->memory, &entry->buffer, NULL),
                VK_SUCCESS);
            continue;
        }
        vkDestroyBuffer(rig.device, entry->buffer, NULL);
        entry->buffer = entry->moved;
    }
}

/* Makes room for one request, if there can be any, and writes all over it. */
static void use_room(void)
{
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = pools[below(2)],
        .goal = MAAR_DEFRAGMENTATION_GOAL_ROOM,
        .roomKind = MAAR_RESOURCE_KIND_LINEAR,
        .roomSize = UNIT * (64 + below(MOST_UNITS)),
        .roomAlignment = UNIT,
    };
    const MaarDefragmentationStepInfo limits = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO, .maxMoves = BATCH_MOVES};
    MaarDefragmentation run = VK_NULL_HANDLE;
    MaarAllocation room = VK_NULL_HANDLE;
    VkResult result = VK_NOT_READY;
    assert_int_equal(maarBeginDefragmentation(rig.allocator, &info, &run), VK_SUCCESS);
    for (uint32_t i = 0; i < 8 && result == VK_NOT_READY; ++i) {
        MaarMoveBatch batch = VK_NULL_HANDLE;
        assert_int_equal(maarStepDefragmentation(rig.allocator, run, &limits, &batch), VK_SUCCESS);
        if (batch != VK_NULL_HANDLE) {
            carry_out(batch);
        }
        result = maarTakeDefragmentationRoom(rig.allocator, run, NULL, &room);
    }
    if (result == VK_SUCCESS) {
        memset(bytes, 0x5A, sizeof bytes);
        assert_int_equal(maarCopyToAllocation(rig.allocator, room, 0, UNIT * 64, bytes),
                         VK_SUCCESS);
        ++room_count;
    }
    maarEndDefragmentation(rig.allocator, run);
    maarFreeMemory(rig.allocator, room);
}

/* Empties blocks, or some of them. */
static void empty_blocks(void)
{
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = pools[below(2)],
        .maxBlockCount = below(3),
    };
    const MaarDefragmentationStepInfo limits = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO, .maxMoves = 1 + below(BATCH_MOVES)};
    MaarDefragmentation run = VK_NULL_HANDLE;
    MaarMoveBatch batch = VK_NULL_HANDLE;
    VkResult result = VK_SUCCESS;
    uint32_t waits = 0;
    assert_int_equal(maarBeginDefragmentation(rig.allocator, &info, &run), VK_SUCCESS);
    do {
        result = maarStepDefragmentation(rig.allocator, run, &limits, &batch);
        if (batch != VK_NULL_HANDLE) {
            carry_out(batch);
        } else if (result == VK_NOT_READY) {
            assert_int_equal(maarCollect(rig.allocator, NULL), VK_SUCCESS);
            ++waits;
        }
    } while ((result == VK_SUCCESS && batch != VK_NULL_HANDLE) ||
             (result == VK_NOT_READY && waits < 8));
    MaarDefragmentationInfo done = {.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO};
    assert_int_equal(maarGetDefragmentationInfo(rig.allocator, run, &done), VK_SUCCESS);
    emptied_count += done.blockCount;
    maarEndDefragmentation(rig.allocator, run);
}

static void step(void)
{
    struct entry* entry = &entries[below(BUFFERS)];
    const uint32_t number = below(BATCHES);
    switch (below(8)) {
    case 0:
    case 1:
        if (batches[number].handle == VK_NULL_HANDLE) {
            begin_batch(number);
        } else {
            end_batch(number);
        }
        break;
    case 2:
        rig_signal(&rig, hold, ++hold_value);
        assert_int_equal(maarCollect(rig.allocator, NULL), VK_SUCCESS);
        break;
    case 3:
        if (below(4) == 0) {
            use_room();
        } else if (below(8) == 0) {
            empty_blocks();
        } else if (entry->memory != VK_NULL_HANDLE && entry->batch == BATCHES) {
            write_entry(entry);
        }
        break;
    case 4:
        if (entry->memory != VK_NULL_HANDLE) {
            destroy_entry(entry);
        }
        break;
    default:
        if (entry->memory == VK_NULL_HANDLE && entry->batch == BATCHES) {
            create_entry(entry);
        } else if (entry->memory != VK_NULL_HANDLE) {
            read_entry(entry);
        }
        break;
    }
}

static int open_rig(void** state)
{
    return rig_setup_driver(&rig, state);
}

/* Plays a random program. The rig is open. */
static void play(void)
{
    const char* text = getenv("MAAR_TEST_STEPS");
    const uint32_t steps = text != NULL ? (uint32_t)strtoul(text, NULL, 10) : STEPS;
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    const VkBufferCreateInfo buffer_info = rig_buffer_info(1000);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    random_state = (struct rig_random){rig_seed(3)};
    compared = 0;
    moved_count = 0;
    room_count = 0;
    emptied_count = 0;
    hold_value = 0;
    hold = rig_create_timeline(&rig, 0);
    assert_int_equal(maarChooseMemoryTypeForBuffer(rig.allocator, &buffer_info, &how, &choice),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < 2; ++i) {
        const MaarPoolCreateInfo info = {.memoryTypeIndex = choice.memoryTypeIndex,
                                         .blockSize = 64 * KIB << i};
        pools[i] = rig_create_pool(&rig, &info);
    }
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        entries[i] = (struct entry){.batch = BATCHES};
    }
    for (uint32_t i = 0; i < steps; ++i) {
        step();
        if (i % 100 == 0) {
            rig_check(&rig);
        }
    }
    for (uint32_t i = 0; i < BATCHES; ++i) {
        if (batches[i].handle != VK_NULL_HANDLE) {
            end_batch(i);
        }
    }
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        if (entries[i].memory != VK_NULL_HANDLE) {
            read_entry(&entries[i]);
            destroy_entry(&entries[i]);
        }
    }
    rig_signal(&rig, hold, ++hold_value);
    assert_int_equal(maarWaitPending(rig.allocator, 10000000000), VK_SUCCESS);
    assert_int_equal(rig_statistics(&rig, VK_NULL_HANDLE).pendingCount, 0);
    print_message(
        "%u steps: %u allocations moved, %u buffers compared, %u rooms, %u blocks emptied\n", steps,
        moved_count, compared, room_count, emptied_count);
    assert_true(emptied_count > steps / 200);
    assert_true(room_count > steps / 200);
    assert_true(moved_count > steps / 4);
    assert_true(compared > steps / 8);
    for (uint32_t i = 0; i < 2; ++i) {
        maarDestroyPool(rig.allocator, pools[i]);
    }
    vkDestroySemaphore(rig.device, hold, NULL);
}

static void bytes_survive_random_moves(void** state)
{
    rig_need(state, !rig_is_without_driver(), "drivers have entries of their own");
    rig_need(state, rig_executes(), "commands do not execute on this driver");
    play();
}

/* Simulated devices execute the copies on real bytes, and check contents and synchronization. */
static void bytes_survive_on_simulated_devices(void** state)
{
    static const char* const names[] = {"amd-rx7900xtx-radv25.0", "nvidia-rtx4090-linux",
                                        "intel-arc-a770m-anv25.0", "qualcomm-adreno740-turnip26.2",
                                        "amd-steamdeck-vangogh-radv25.0"};
    (void)state;
    if (!rig_is_without_driver()) {
        print_message("skipped: simulated devices have an entry of their own\n");
        skip();
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        const struct rig_setup setup = {
            .profile = rig_profile_file(names[i]),
            .flags = MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_CONTENTS_BIT |
                     MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT | MAAR_SIMULATED_ALLOW_ALIASING_BIT,
            .paging = true,
        };
        rig_open(&rig, &setup);
        rig_make_allocator(&rig);
        play();
        rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bytes_survive_random_moves, open_rig, rig_teardown),
        cmocka_unit_test(bytes_survive_on_simulated_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
