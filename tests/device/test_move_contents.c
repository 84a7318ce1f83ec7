/*
 * Random programs that allocate, write, move, free and read buffers and images, with several
 * batches of moves under way, that defragment, and that make room for one request. Submissions are
 * held back, and a simulated device executes them in a random order. Every byte is compared with
 * what the program wrote last. The validation layer, where it is installed, checks the commands.
 *
 * MAAR_TEST_STEPS sets the number of steps, MAAR_TEST_SEED the seed.
 */
#include "tests/device/moved_entry.h"

#include <stdio.h>

enum {
    ENTRIES = 64,
    BATCHES = 4,
    BATCH_MOVES = 12,
    STEPS = 1500,
    POOLS = 4, /* two of buffers, two of images */
    KINDS = 2
};

/* A batch that is under way. */
struct batch {
    MaarMoveBatch handle;
    MaarPoint copied;
};

static struct rig rig;
static struct entry entries[ENTRIES];
static struct batch batches[BATCHES];
static MaarPool pools[POOLS];
static uint32_t moved_count;
static uint32_t moved_image_count;
static uint32_t room_count;
static uint32_t defragmented_count;

static uint32_t below(uint32_t bound)
{
    return entry_below(bound);
}

/* Half of the entries are images. */
static bool is_image_entry(const struct entry* entry)
{
    return (entry - entries) % KINDS == 1;
}

static MaarPool any_pool(bool of_images)
{
    return pools[(of_images ? KINDS : 0) + below(2)];
}

static void destroy_entry(struct entry* entry)
{
    const MaarPoint* copied = &batches[entry->batch % BATCHES].copied;
    entry_destroy(entry);
    if (entry->batch != ENTRY_NO_BATCH && !entry->is_movable) {
        /* The new buffer of its move goes with the batch. */
        assert_int_equal(
            maarDestroyBufferAfter(rig.allocator, entry->moved, VK_NULL_HANDLE, 1, copied),
            VK_SUCCESS);
    }
}

/* ---- batches ---- */

/* Adds a point, whose semaphore may be null, to a list that has one of each semaphore. */
static uint32_t add_point(MaarPoint* points, uint32_t count, MaarPoint point)
{
    uint32_t at = 0;
    if (point.semaphore == VK_NULL_HANDLE) {
        return count;
    }
    while (at < count && points[at].semaphore != point.semaphore) {
        ++at;
    }
    if (at == count) {
        points[count++] = point;
    }
    points[at].value = points[at].value > point.value ? points[at].value : point.value;
    return count;
}

/* Gives each entry of a batch its new object, and submits the copies, which may be held. Returns
 * the point of their end. */
static MaarPoint copy_entries(MaarMoveBatch batch, struct entry* const* chosen, uint32_t count)
{
    MaarMovedImageLayout layouts[BATCH_MOVES];
    MaarPoint waits[MAAR_MAX_POINTS];
    MaarPoint copied = {VK_NULL_HANDLE, 0};
    uint32_t layout_count = 0;
    uint32_t wait_count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        struct entry* entry = chosen[i];
        if (!entry->is_movable) {
            entry->moved = entry_make_buffer(entry->size);
            assert_int_equal(
                maarBindMovedBuffer(rig.allocator, batch, entry->memory, 0, entry->moved, NULL),
                VK_SUCCESS);
        }
        if (entry->image != VK_NULL_HANDLE) {
            layouts[layout_count++] = (MaarMovedImageLayout){entry->memory, entry->layout};
        }
        wait_count = add_point(waits, wait_count, entry->used);
        wait_count = add_point(waits, wait_count, entry->copied);
    }
    assert_int_equal(maarCreateMovedObjects(rig.allocator, batch), VK_SUCCESS);
    assert_int_equal(maarSetMovedImageLayouts(rig.allocator, batch, layout_count, layouts),
                     VK_SUCCESS);
    if (below(2) == 0) {
        waits[wait_count++] = entry_held_point();
    }
    const MaarMoveSubmitInfo submit = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO,
        .queueIndex = below(rig.create_info.queueCount),
        .waitCount = wait_count,
        .pWaits = waits,
    };
    const VkResult submitted = maarSubmitMoves(rig.allocator, batch, &submit, &copied);
    if (submitted != VK_SUCCESS) {
        print_error("%s\n", rig.messages.last);
    }
    assert_int_equal(submitted, VK_SUCCESS);
    return copied;
}

/* Notes that a batch has ended for an entry, whose allocation has moved or has not. */
static void settle_entry(struct entry* entry, MaarPoint copied, bool moves)
{
    MaarPoint points[ENTRY_POINTS + 1];
    uint32_t count = entry_points(entry, points);
    points[count++] = copied;
    if (entry->is_movable) {
        const VkBuffer buffer = entry->buffer;
        const VkImage image = entry->image;
        assert_int_equal(
            maarGetMovableObject(rig.allocator, entry->memory, &entry->buffer, &entry->image),
            VK_SUCCESS);
        assert_true((entry->buffer != buffer || entry->image != image) == moves);
    } else {
        const VkBuffer ends = moves ? entry->buffer : entry->moved;
        assert_int_equal(maarDestroyBufferAfter(rig.allocator, ends, VK_NULL_HANDLE, count, points),
                         VK_SUCCESS);
        entry->buffer = moves ? entry->moved : entry->buffer;
    }
    entry->copied = copied;
    moved_count += moves ? 1 : 0;
    moved_image_count += moves && entry->image != VK_NULL_HANDLE ? 1 : 0;
}

/* Begins a batch with some entries, and submits the copies. */
static void begin_batch(uint32_t number)
{
    struct batch* batch = &batches[number];
    MaarMoveRequest requests[BATCH_MOVES];
    struct entry* chosen[BATCH_MOVES];
    uint32_t count = 0;
    const bool has_pool = below(2) == 0; /* then all are of one kind */
    const bool has_images = below(2) == 0;
    for (uint32_t i = 0; i < ENTRIES && count < BATCH_MOVES; ++i) {
        struct entry* entry = &entries[below(ENTRIES)];
        if (entry->memory != VK_NULL_HANDLE && entry->batch == ENTRY_NO_BATCH &&
            (!has_pool || is_image_entry(entry) == has_images)) {
            chosen[count] = entry;
            requests[count++] = (MaarMoveRequest){.allocation = entry->memory};
            entry->batch = number;
        }
    }
    if (count == 0) {
        return;
    }
    MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO};
    how.pool = any_pool(has_images);
    const MaarMoveBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO,
        .requestCount = count,
        .pRequests = requests,
        .pCreateInfo = has_pool ? &how : NULL,
    };
    assert_int_equal(maarBeginMoves(rig.allocator, &info, &batch->handle), VK_SUCCESS);
    batch->copied = copy_entries(batch->handle, chosen, count);
}

/* Commits or cancels a batch. Reads of what it moves are correct in between. */
static void end_batch(uint32_t number)
{
    struct batch* batch = &batches[number];
    MaarPoint points[RIG_QUEUES];
    uint32_t point_count = 0;
    uint32_t moved = 0;
    uint32_t expected = 0;
    const bool commits = below(4) != 0;
    MaarAllocation dropped = VK_NULL_HANDLE;
    for (uint32_t i = 0; i < ENTRIES; ++i) {
        const struct entry* entry = &entries[i];
        if (entry->batch == number && entry->memory != VK_NULL_HANDLE) {
            point_count = add_point(points, point_count, entry->used);
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
        assert_int_equal(maarCommitMoves(rig.allocator, batch->handle, point_count, points, &moved),
                         VK_SUCCESS);
        assert_int_equal(moved, expected);
    } else {
        assert_int_equal(maarCancelMoves(rig.allocator, batch->handle, point_count, points),
                         VK_SUCCESS);
    }
    for (uint32_t i = 0; i < ENTRIES; ++i) {
        struct entry* entry = &entries[i];
        if (entry->batch != number) {
            continue;
        }
        entry->batch = ENTRY_NO_BATCH;
        if (entry->memory != VK_NULL_HANDLE) {
            settle_entry(entry, batch->copied, commits && entry->memory != dropped);
        }
    }
    batch->handle = VK_NULL_HANDLE;
}

/* ---- runs ---- */

static struct entry* entry_of(MaarAllocation memory)
{
    uint32_t at = 0;
    while (at < ENTRIES && entries[at].memory != memory) {
        ++at;
    }
    assert_true(at < ENTRIES);
    return &entries[at];
}

/* Carries out a batch of a run. */
static void carry_out(MaarMoveBatch batch)
{
    MaarMove moves[BATCH_MOVES];
    struct entry* chosen[BATCH_MOVES];
    MaarPoint points[RIG_QUEUES];
    uint32_t point_count = 0;
    uint32_t count = BATCH_MOVES;
    uint32_t moved = 0;
    for (uint32_t i = 0; i < BATCH_MOVES; ++i) {
        moves[i] = (MaarMove){.sType = MAAR_STRUCTURE_TYPE_MOVE};
    }
    assert_int_equal(maarGetMoves(rig.allocator, batch, &count, moves), VK_SUCCESS);
    for (uint32_t i = 0; i < count; ++i) {
        chosen[i] = entry_of(moves[i].allocation);
        point_count = add_point(points, point_count, chosen[i]->used);
    }
    const MaarPoint copied = copy_entries(batch, chosen, count);
    assert_int_equal(maarCommitMoves(rig.allocator, batch, point_count, points, &moved),
                     VK_SUCCESS);
    assert_int_equal(moved, count);
    for (uint32_t i = 0; i < count; ++i) {
        settle_entry(chosen[i], copied, true);
    }
}

static const MaarDefragmentationStepInfo step_limits = {
    .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO, .maxMoves = BATCH_MOVES};

/* Gives blocks back; may end before the run is complete. */
static void defragment(void)
{
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = pools[below(POOLS)],
    };
    MaarDefragmentation run = VK_NULL_HANDLE;
    assert_int_equal(maarBeginDefragmentation(rig.allocator, &info, &run), VK_SUCCESS);
    for (uint32_t i = below(8); i > 0; --i) {
        MaarMoveBatch batch = VK_NULL_HANDLE;
        const VkResult result = maarStepDefragmentation(rig.allocator, run, &step_limits, &batch);
        assert_true(result == VK_SUCCESS || (result == VK_NOT_READY && batch == VK_NULL_HANDLE));
        if (result == VK_NOT_READY) { /* old places are in use still */
            entry_let_go();
            assert_int_equal(maarWaitPending(rig.allocator, UINT64_MAX), VK_SUCCESS);
            continue;
        }
        if (batch == VK_NULL_HANDLE) {
            break;
        }
        carry_out(batch);
        ++defragmented_count;
    }
    maarEndDefragmentation(rig.allocator, run);
}

/* Makes room for one request, if there can be any, and writes all over it where the host can. */
static void use_room(void)
{
    static uint8_t bytes[ENTRY_UNIT * 64];
    const bool of_images = below(2) == 0;
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = any_pool(of_images),
        .goal = MAAR_DEFRAGMENTATION_GOAL_ROOM,
        .roomKind = of_images ? MAAR_RESOURCE_KIND_OPTIMAL : MAAR_RESOURCE_KIND_LINEAR,
        .roomSize = ENTRY_UNIT * (64 + below(ENTRY_MOST_UNITS)),
        .roomAlignment = ENTRY_UNIT,
    };
    MaarDefragmentation run = VK_NULL_HANDLE;
    MaarAllocation room = VK_NULL_HANDLE;
    VkResult result = VK_NOT_READY;
    assert_int_equal(maarBeginDefragmentation(rig.allocator, &info, &run), VK_SUCCESS);
    for (uint32_t i = 0; i < 8 && result == VK_NOT_READY; ++i) {
        MaarMoveBatch batch = VK_NULL_HANDLE;
        assert_int_equal(maarStepDefragmentation(rig.allocator, run, &step_limits, &batch),
                         VK_SUCCESS);
        if (batch != VK_NULL_HANDLE) {
            carry_out(batch);
        }
        if (below(2) == 0) {
            entry_let_go();
            assert_int_equal(maarWaitPending(rig.allocator, UINT64_MAX), VK_SUCCESS);
        }
        result = maarTakeDefragmentationRoom(rig.allocator, run, NULL, &room);
    }
    if (result == VK_SUCCESS) {
        if (!of_images) {
            memset(bytes, 0x5A, sizeof bytes);
            assert_int_equal(maarCopyToAllocation(rig.allocator, room, 0, sizeof bytes, bytes),
                             VK_SUCCESS);
        }
        ++room_count;
    }
    maarEndDefragmentation(rig.allocator, run);
    maarFreeMemory(rig.allocator, room);
}

/* ---- the program ---- */

static void read_entry(struct entry* entry)
{
    const MaarPoint none = {VK_NULL_HANDLE, 0};
    const bool waits = entry->batch != ENTRY_NO_BATCH && entry->image != VK_NULL_HANDLE;
    entry_read(entry, waits ? batches[entry->batch].copied : none);
}

/* Something that the program does with an entry that has memory. */
static void use_entry(struct entry* entry)
{
    switch (below(8)) {
    case 0:
    case 1:
        if (entry->batch == ENTRY_NO_BATCH) {
            entry_write(entry);
        }
        break;
    case 2:
        destroy_entry(entry);
        break;
    default:
        read_entry(entry);
        break;
    }
}

static void step(void)
{
    struct entry* entry = &entries[below(ENTRIES)];
    const uint32_t number = below(BATCHES);
    switch (below(16)) {
    case 0:
    case 1:
    case 2:
    case 3:
        if (batches[number].handle == VK_NULL_HANDLE) {
            begin_batch(number);
        } else {
            end_batch(number);
        }
        break;
    case 4:
        entry_let_go();
        break;
    case 5:
        if (rig.simulated) {
            (void)maarSimulatedExecuteSubmissions(rig.physical, below(6));
        }
        assert_int_equal(maarCollect(rig.allocator, NULL), VK_SUCCESS);
        break;
    case 6:
        use_room();
        break;
    case 7:
        defragment();
        break;
    default:
        if (entry->memory != VK_NULL_HANDLE) {
            use_entry(entry);
        } else if (entry->batch == ENTRY_NO_BATCH) {
            entry_create(entry, any_pool(is_image_entry(entry)), is_image_entry(entry));
        }
        break;
    }
}

static int close_rig(void** state)
{
    entry_abandon();
    return rig_teardown(state);
}

static int open_rig(void** state)
{
    return rig_setup_driver(&rig, state);
}

/* Two pools for buffers that the host sees, and two for images. */
static void create_pools(void)
{
    MaarMemoryTypeChoice choices[KINDS] = {{.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE},
                                           {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE}};
    const VkBufferCreateInfo buffer_info = rig_buffer_info(1000);
    VkImageCreateInfo image_info = rig_image_info(8, 8);
    image_info.format = VK_FORMAT_R8G8B8A8_UNORM;
    const MaarAllocationCreateInfo upload = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    const MaarAllocationCreateInfo local = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    assert_int_equal(
        maarChooseMemoryTypeForBuffer(rig.allocator, &buffer_info, &upload, &choices[0]),
        VK_SUCCESS);
    assert_int_equal(maarChooseMemoryTypeForImage(rig.allocator, &image_info, &local, &choices[1]),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < POOLS; ++i) {
        const MaarPoolCreateInfo info = {.memoryTypeIndex = choices[i / KINDS].memoryTypeIndex,
                                         .blockSize = 64 * KIB << i};
        pools[i] = rig_create_pool(&rig, &info);
    }
}

static void end_program(void)
{
    for (uint32_t i = 0; i < BATCHES; ++i) {
        if (batches[i].handle != VK_NULL_HANDLE) {
            end_batch(i);
        }
    }
    for (uint32_t i = 0; i < ENTRIES; ++i) {
        if (entries[i].memory != VK_NULL_HANDLE) {
            read_entry(&entries[i]);
            entry_destroy(&entries[i]);
        }
    }
    entry_let_go();
    assert_int_equal(maarWaitPending(rig.allocator, 10000000000), VK_SUCCESS);
    assert_int_equal(rig_statistics(&rig, VK_NULL_HANDLE).pendingCount, 0);
}

/* Plays a random program. The rig is open. */
static void play(void)
{
    const char* text = getenv("MAAR_TEST_STEPS");
    const uint32_t steps = text != NULL ? (uint32_t)strtoul(text, NULL, 10) : STEPS;
    entry_open(&rig, rig_seed(3));
    moved_count = 0;
    moved_image_count = 0;
    room_count = 0;
    defragmented_count = 0;
    create_pools();
    for (uint32_t i = 0; i < ENTRIES; ++i) {
        entries[i] = (struct entry){.batch = ENTRY_NO_BATCH};
    }
    for (uint32_t i = 0; i < steps; ++i) {
        step();
        if (i % 100 == 0) {
            rig_check(&rig);
        }
    }
    end_program();
    print_message("%u steps: %u moved, of which %u images, %u compared, %u accesses of the device, "
                  "%u rooms, %u batches of defragmentation\n",
                  steps, moved_count, moved_image_count, entry_compared_count(), entry_used_count(),
                  room_count, defragmented_count);
    assert_true(room_count > steps / 200);
    assert_true(defragmented_count > steps / 400);
    assert_true(moved_count > steps / 4);
    assert_true(moved_image_count > steps / 10);
    assert_true(entry_compared_count() > steps / 8);
    for (uint32_t i = 0; i < POOLS; ++i) {
        maarDestroyPool(rig.allocator, pools[i]);
    }
    entry_close();
}

static void bytes_survive_random_moves(void** state)
{
    rig_need(state, !rig_is_without_driver(), "drivers have entries of their own");
    rig_need(state, rig_executes(), "commands do not execute on this driver");
    play();
}

/* Maar gets all queues of the program. */
static void give_queues(void)
{
    for (uint32_t i = 0; i < rig.family_count; ++i) {
        rig.paging_queues[i] = (MaarQueue){.familyIndex = rig.families[i], .queue = rig.queues[i]};
    }
    rig.create_info.queueCount = rig.family_count;
    rig.create_info.pQueues = rig.paging_queues;
}

/* Simulated devices execute the commands on real bytes, in a random order and not before they must,
 * and check contents and synchronization. */
static void bytes_survive_on_simulated_devices(void** state)
{
    (void)state;
    rig_need_simulated_devices();
    for (size_t i = 0; i < RIG_VENDORS; ++i) {
        const struct rig_setup setup = {
            .profile = rig_profile_file(rig_vendors[i]),
            .flags = MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_CONTENTS_BIT |
                     MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT | MAAR_SIMULATED_ALLOW_ALIASING_BIT |
                     MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT,
            .two_families = true,
        };
        print_message("%s: ", rig_vendors[i]);
        rig_open(&rig, &setup);
        maarSimulatedSetOrder(rig.physical, rig_seed(3) + i + 1);
        give_queues();
        rig_make_allocator(&rig);
        play();
        rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bytes_survive_random_moves, open_rig, close_rig),
        cmocka_unit_test(bytes_survive_on_simulated_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
