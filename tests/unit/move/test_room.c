/*
 * Runs that make room for one request: what they move, how the program takes the room, and what
 * happens meanwhile. The moves are compared with the fewest that are possible, which a search
 * through all windows and all places finds.
 */
#include "tests/rig/rig.h"

#include "core/memory/object_handle.h"
#include "core/memory/pool.h"

enum { UNIT = 256, MOST_BLOCKS = 3, MOST_OBJECTS = 8, UNITS = 16 };
#define BLOCK_SIZE ((VkDeviceSize)UNITS * UNIT)

static struct rig* rig;
static MaarPool pool;

/* A live allocation, as the search sees it: whole units of a block. */
struct object {
    MaarAllocation memory;
    uint32_t block;
    uint32_t begin;
    uint32_t size;
};

static struct object objects[256];
static uint32_t object_count;
static VkDeviceMemory blocks[64];
static uint32_t block_count;

static MaarAllocationCreateInfo in_pool(void)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    return how;
}

static void open_pool(VkDeviceSize block_size, uint32_t count)
{
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 1,
                                     .singleKind = VK_TRUE,
                                     .blockSize = block_size,
                                     .minBlockCount = count,
                                     .maxBlockCount = count};
    pool = rig_create_pool(rig, &info);
}

static uint32_t number_of_block(VkDeviceMemory memory)
{
    uint32_t at = 0;
    while (at < block_count && blocks[at] != memory) {
        ++at;
    }
    if (at == block_count) {
        blocks[block_count++] = memory;
    }
    return at;
}

static void add_object(uint32_t size)
{
    const MaarMemoryRequest request = {
        .sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST,
        .requirements = {.size = (VkDeviceSize)size * UNIT,
                         .alignment = UNIT,
                         .memoryTypeBits = ~0u},
        .kind = MAAR_RESOURCE_KIND_LINEAR,
    };
    MaarAllocationCreateInfo how = in_pool();
    struct object* object = &objects[object_count];
    how.flags = MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT; /* nothing is reported */
    if (maarAllocateMemory(rig->allocator, &request, &how, &object->memory) != VK_SUCCESS) {
        return;
    }
    const MaarAllocationInfo info = rig_info(rig, object->memory);
    object->block = number_of_block(info.memory);
    object->begin = (uint32_t)(info.offset / UNIT);
    object->size = size;
    ++object_count;
}

static void remove_object(uint32_t at)
{
    maarFreeMemory(rig->allocator, objects[at].memory);
    objects[at] = objects[--object_count];
}

/* A pool with at most 8 objects at random places. */
static void make_heap(struct rig_random* random)
{
    const uint32_t count = 1 + rig_below(random, MOST_BLOCKS);
    object_count = 0;
    block_count = 0;
    open_pool(BLOCK_SIZE, count);
    for (uint32_t i = 0; i < 24; ++i) {
        add_object(1 + rig_below(random, 6));
    }
    const uint32_t left = 1 + rig_below(random, MOST_OBJECTS);
    while (object_count > left) {
        remove_object(rig_below(random, object_count));
    }
    /* The search knows all blocks, also those that are empty. */
    while (block_count < count) {
        blocks[block_count++] = VK_NULL_HANDLE;
    }
}

static void drop_heap(void)
{
    while (object_count > 0) {
        remove_object(object_count - 1);
    }
    rig_check(rig);
    assert_int_equal(rig_statistics(rig, pool).allocationCount, 0);
    assert_int_equal(rig_statistics(rig, pool).pendingCount, 0);
    maarDestroyPool(rig->allocator, pool);
}

/* ---- the fewest bytes ---- */

static bool used[MOST_BLOCKS][UNITS];

static bool is_free(uint32_t block, uint32_t begin, uint32_t size)
{
    for (uint32_t i = 0; i < size; ++i) {
        if (begin + i >= UNITS || used[block][begin + i]) {
            return false;
        }
    }
    return true;
}

static void set_used(uint32_t block, uint32_t begin, uint32_t size, bool on)
{
    for (uint32_t i = 0; i < size; ++i) {
        used[block][begin + i] = on;
    }
}

/* Whether the objects from one on that are in the way have places elsewhere. */
static bool have_places(uint32_t first, uint32_t in_the_way)
{
    while (first < object_count && (in_the_way >> first & 1u) == 0) {
        ++first;
    }
    if (first == object_count) {
        return true;
    }
    const uint32_t size = objects[first].size;
    bool found = false;
    for (uint32_t block = 0; block < block_count && !found; ++block) {
        for (uint32_t begin = 0; begin + size <= UNITS && !found; ++begin) {
            if (is_free(block, begin, size)) {
                set_used(block, begin, size, true);
                found = have_places(first + 1, in_the_way);
                set_used(block, begin, size, false);
            }
        }
    }
    return found;
}

/* Returns the cost of a window in units, or UINT32_MAX if it cannot become empty. */
static uint32_t cost_of_window(uint32_t block, uint32_t begin, uint32_t size, uint32_t stays)
{
    uint32_t in_the_way = 0;
    uint32_t cost = 0;
    memset(used, 0, sizeof used);
    for (uint32_t i = 0; i < object_count; ++i) {
        const struct object* object = &objects[i];
        set_used(object->block, object->begin, object->size, true);
        if (object->block == block && object->begin < begin + size &&
            object->begin + object->size > begin) {
            in_the_way |= 1u << i;
            cost += object->size;
        }
    }
    set_used(block, begin, size, true);
    return (in_the_way & stays) == 0 && have_places(0, in_the_way) ? cost : UINT32_MAX;
}

/* Returns the fewest units that must move for so many free ones, or UINT32_MAX. stays: the objects,
 * as bits, that may not move. */
static uint32_t fewest_units(uint32_t size, uint32_t alignment, uint32_t stays)
{
    uint32_t fewest = UINT32_MAX;
    for (uint32_t block = 0; block < block_count; ++block) {
        for (uint32_t begin = 0; begin + size <= UNITS; begin += alignment) {
            const uint32_t cost = cost_of_window(block, begin, size, stays);
            fewest = cost < fewest ? cost : fewest;
        }
    }
    return fewest;
}

/* ---- runs ---- */

static MaarDefragmentation begin_with(const MaarDefragmentationBeginInfo* info)
{
    return rig_begin_run(rig, info);
}

static MaarDefragmentationBeginInfo info_for(VkDeviceSize size, VkDeviceSize alignment)
{
    return (MaarDefragmentationBeginInfo){
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = pool,
        .goal = MAAR_DEFRAGMENTATION_GOAL_ROOM,
        .roomSize = size,
        .roomAlignment = alignment,
        .roomKind = MAAR_RESOURCE_KIND_LINEAR,
    };
}

static MaarDefragmentation begin(VkDeviceSize size, VkDeviceSize alignment)
{
    const MaarDefragmentationBeginInfo info = info_for(size, alignment);
    return begin_with(&info);
}

static MaarDefragmentationInfo info_of(MaarDefragmentation run)
{
    MaarDefragmentationInfo info = {.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO};
    assert_int_equal(maarGetDefragmentationInfo(rig->allocator, run, &info), VK_SUCCESS);
    return info;
}

static MaarMoveBatch step(MaarDefragmentation run, uint32_t moves)
{
    const MaarDefragmentationStepInfo limits = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO, .maxMoves = moves};
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(maarStepDefragmentation(rig->allocator, run, &limits, &batch), VK_SUCCESS);
    return batch;
}

/* Hands out all batches and commits them. */
static void carry_out(MaarDefragmentation run, uint32_t moves)
{
    for (MaarMoveBatch batch = step(run, moves); batch != VK_NULL_HANDLE;
         batch = step(run, moves)) {
        assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL), VK_SUCCESS);
        rig_check(rig);
    }
}

static VkResult take(MaarDefragmentation run, MaarAllocation* memory)
{
    return maarTakeDefragmentationRoom(rig->allocator, run, NULL, memory);
}

/* No two live allocations overlap. */
static void expect_apart(MaarAllocation room)
{
    const MaarAllocationInfo own = rig_info(rig, room);
    for (uint32_t i = 0; i < object_count; ++i) {
        const MaarAllocationInfo other = rig_info(rig, objects[i].memory);
        assert_true(own.memory != other.memory || own.offset + own.size <= other.offset ||
                    other.offset + other.size <= own.offset);
    }
}

static void fewest_bytes_move_in_small_heaps(void** state)
{
    (void)state;
    uint32_t possible = 0;
    uint32_t moving = 0;
    rig = rig_begin(NULL);
    for (uint32_t seed = 1; seed <= 400; ++seed) {
        struct rig_random random = {rig_seed(seed)};
        make_heap(&random);
        const uint32_t size = 2 + rig_below(&random, UNITS - 2);
        const uint32_t alignment = 1u << rig_below(&random, 3);
        const uint32_t fewest = fewest_units(size, alignment, 0);
        const MaarDefragmentation run =
            begin((VkDeviceSize)size * UNIT, (VkDeviceSize)alignment * UNIT);
        carry_out(run, 1 + seed % 4);
        MaarAllocation room = VK_NULL_HANDLE;
        const VkResult result = take(run, &room);
        const MaarDefragmentationInfo info = info_of(run);
        if (fewest == UINT32_MAX) {
            assert_int_equal(result, VK_ERROR_OUT_OF_POOL_MEMORY);
            assert_int_equal(info.room, MAAR_DEFRAGMENTATION_ROOM_IMPOSSIBLE);
            assert_int_equal(info.moveBytes, 0);
        } else {
            assert_int_equal(result, VK_SUCCESS);
            assert_int_equal(info.room, MAAR_DEFRAGMENTATION_ROOM_TAKEN);
            assert_int_equal(info.moveBytes, (VkDeviceSize)fewest * UNIT);
            assert_int_equal(info.batchedBytes, info.moveBytes);
            const MaarAllocationInfo own = rig_info(rig, room);
            assert_int_equal(own.size, (VkDeviceSize)size * UNIT);
            assert_int_equal(own.offset % ((VkDeviceSize)alignment * UNIT), 0);
            assert_int_equal(own.offset, info.roomOffset);
            assert_true(own.memory == info.roomMemory);
            expect_apart(room);
            ++possible;
            moving += fewest > 0 ? 1 : 0;
        }
        maarEndDefragmentation(rig->allocator, run);
        maarFreeMemory(rig->allocator, room);
        drop_heap();
    }
    print_message("%u heaps with room, %u of them after moves\n", possible, moving);
    assert_true(possible > 200 && moving > 50);
    rig_expect_silence(rig);
}

/* Two blocks: the first one is full but for every fourth of its sixteen objects, the second one has
 * one object for each four units. */
static void open_comb(void)
{
    rig = rig_begin(NULL);
    object_count = 0;
    block_count = 0;
    open_pool(BLOCK_SIZE, 2);
    for (uint32_t i = 0; i < 2 * UNITS; ++i) {
        add_object(1);
    }
    assert_int_equal(object_count, 2 * UNITS);
    for (uint32_t i = 2 * UNITS; i-- > 0;) {
        const bool is_in_first = objects[i].block == objects[0].block;
        if ((objects[i].begin % 4 == 3) == is_in_first) {
            remove_object(i);
        }
    }
}

/* Takes all that a request can have now. Returns how many allocations it takes. */
static uint32_t fill_pool(void)
{
    const uint32_t before = object_count;
    uint32_t last = UINT32_MAX;
    while (object_count != last) {
        last = object_count;
        add_object(1);
    }
    return object_count - before;
}

static MaarPoint point_of(uint64_t value)
{
    return (MaarPoint){VK_NULL_HANDLE, value}; /* of the host's timeline */
}

static void room_is_kept_until_points_have_passed(void** state)
{
    (void)state;
    open_comb();
    const uint32_t live = object_count;
    const MaarDefragmentation run = begin(8 * UNIT, UNIT);
    MaarMoveBatch batch = step(run, 0);
    MaarAllocation room = VK_NULL_HANDLE;
    assert_true(batch != VK_NULL_HANDLE);
    const MaarDefragmentationInfo info = info_of(run);
    assert_int_equal(info.room, MAAR_DEFRAGMENTATION_ROOM_FOUND);
    assert_int_equal(info.moveCount, 2);
    assert_int_equal(info.moveBytes, 2 * UNIT);
    assert_int_equal(take(run, &room), VK_NOT_READY);
    assert_true(room == VK_NULL_HANDLE);
    /* Other requests take the rest, and neither the room nor the new ranges. */
    assert_int_equal(fill_pool(), 2 * UNITS - live - 8);
    const MaarPoint point = point_of(5);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 1, &point, NULL), VK_SUCCESS);
    assert_true(step(run, 0) == VK_NULL_HANDLE);
    assert_int_equal(take(run, &room), VK_NOT_READY);
    assert_int_equal(fill_pool(), 0);
    rig_check(rig);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 5), VK_SUCCESS);
    int mark = 0;
    assert_int_equal(maarTakeDefragmentationRoom(rig->allocator, run, &mark, &room), VK_SUCCESS);
    assert_ptr_equal(rig_info(rig, room).pUserData, &mark);
    assert_int_equal(rig_info(rig, room).size, 8 * UNIT);
    assert_int_equal(info_of(run).room, MAAR_DEFRAGMENTATION_ROOM_TAKEN);
    expect_apart(room);
    MaarAllocation again = VK_NULL_HANDLE;
    assert_int_equal(take(run, &again), VK_ERROR_OUT_OF_POOL_MEMORY);
    maarEndDefragmentation(rig->allocator, run);
    assert_int_equal(rig_statistics(rig, pool).allocationCount, object_count + 1);
    assert_int_equal(rig_statistics(rig, pool).pendingCount, 0);
    maarFreeMemory(rig->allocator, room);
    drop_heap();
    rig_expect_silence(rig);
}

static void room_without_moves_is_ready_at_once(void** state)
{
    (void)state;
    open_comb();
    MaarAllocation room = VK_NULL_HANDLE;
    const MaarDefragmentation run = begin(3 * UNIT, UNIT);
    assert_true(step(run, 0) == VK_NULL_HANDLE);
    assert_int_equal(info_of(run).moveCount, 0);
    assert_int_equal(info_of(run).room, MAAR_DEFRAGMENTATION_ROOM_READY);
    assert_int_equal(take(run, &room), VK_SUCCESS);
    expect_apart(room);
    maarEndDefragmentation(rig->allocator, run);
    maarFreeMemory(rig->allocator, room);
    drop_heap();
    rig_expect_silence(rig);
}

static void pending_bytes_become_part_of_the_room(void** state)
{
    (void)state;
    open_comb();
    /* All of one block is freed after a point, so nothing need move there. */
    const MaarPoint point = point_of(3);
    const uint32_t block = objects[0].block;
    for (uint32_t i = object_count; i-- > 0;) {
        if (objects[i].block == block) {
            assert_int_equal(maarFreeMemoryAfter(rig->allocator, objects[i].memory, 1, &point),
                             VK_SUCCESS);
            objects[i] = objects[--object_count];
        }
    }
    const MaarDefragmentation run = begin(BLOCK_SIZE, UNIT);
    MaarAllocation room = VK_NULL_HANDLE;
    assert_true(step(run, 0) == VK_NULL_HANDLE);
    assert_int_equal(info_of(run).moveBytes, 0);
    assert_int_equal(take(run, &room), VK_NOT_READY);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 3), VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    (void)fill_pool();
    assert_int_equal(take(run, &room), VK_SUCCESS);
    expect_apart(room);
    maarEndDefragmentation(rig->allocator, run);
    maarFreeMemory(rig->allocator, room);
    drop_heap();
    rig_expect_silence(rig);
}

static void what_is_freed_meanwhile_belongs_to_the_room(void** state)
{
    (void)state;
    /* When: 0 after the begin of the run, 1 while it moves, 2 the same, after a point. */
    for (uint32_t when = 0; when < 3; ++when) {
        open_comb();
        const MaarPoint point = point_of(9);
        MaarAllocation room = VK_NULL_HANDLE;
        const MaarDefragmentation run = begin(8 * UNIT, UNIT);
        MaarMoveBatch batch = when > 0 ? step(run, 1) : VK_NULL_HANDLE;
        const MaarDefragmentationInfo info = info_of(run);
        for (uint32_t i = object_count; i-- > 0;) {
            const MaarAllocationInfo own = rig_info(rig, objects[i].memory);
            if (when > 0 && own.memory == info.roomMemory && own.offset >= info.roomOffset &&
                own.offset < info.roomOffset + 8 * UNIT) {
                if (when == 1) {
                    maarFreeMemory(rig->allocator, objects[i].memory);
                } else {
                    assert_int_equal(
                        maarFreeMemoryAfter(rig->allocator, objects[i].memory, 1, &point),
                        VK_SUCCESS);
                }
                objects[i] = objects[--object_count];
            }
        }
        assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL), VK_SUCCESS);
        rig_check(rig);
        carry_out(run, 1);
        assert_int_equal(take(run, &room), when == 2 ? VK_NOT_READY : VK_SUCCESS);
        if (when == 2) {
            assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 9), VK_SUCCESS);
            assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
            carry_out(run, 1);
            assert_int_equal(take(run, &room), VK_SUCCESS);
        }
        expect_apart(room);
        maarEndDefragmentation(rig->allocator, run);
        maarFreeMemory(rig->allocator, room);
        drop_heap();
        rig_expect_silence(rig);
        rig_close(rig);
    }
    rig = rig_begin(NULL);
}

/* How an allocation of the room is kept where it is. */
enum veto { VETO_MAPPED, VETO_CANCELED, VETO_DROPPED, VETO_MAPPED_LATER, VETOES };

static void room_is_made_elsewhere_after_a_veto(void** state)
{
    (void)state;
    for (uint32_t veto = 0; veto < VETOES; ++veto) {
        open_comb();
        void* data = NULL;
        MaarAllocation room = VK_NULL_HANDLE;
        MaarAllocation stays = VK_NULL_HANDLE;
        /* The block of the comb that has the fewest objects has the room, at one of two places. */
        const MaarDefragmentation run = begin(8 * UNIT, UNIT);
        if (veto == VETO_MAPPED) {
            for (uint32_t i = 0; i < object_count; ++i) {
                if (objects[i].begin == 3) {
                    stays = objects[i].memory;
                    assert_int_equal(maarMapMemory(rig->allocator, stays, &data), VK_SUCCESS);
                }
            }
        } else {
            const MaarMoveBatch batch = step(run, 1);
            MaarMove move = {.sType = MAAR_STRUCTURE_TYPE_MOVE};
            uint32_t count = 1;
            assert_int_equal(maarGetMoves(rig->allocator, batch, &count, &move), VK_SUCCESS);
            stays = move.allocation;
            if (veto == VETO_DROPPED) {
                assert_int_equal(maarDropMoves(rig->allocator, batch, 1, &stays), VK_SUCCESS);
            } else if (veto == VETO_MAPPED_LATER) {
                assert_int_equal(maarMapMemory(rig->allocator, stays, &data), VK_SUCCESS);
            }
            assert_int_equal(veto == VETO_CANCELED
                                 ? maarCancelMoves(rig->allocator, batch, 0, NULL)
                                 : maarCommitMoves(rig->allocator, batch, 0, NULL, NULL),
                             VK_SUCCESS);
        }
        carry_out(run, 3);
        const MaarAllocationInfo where = rig_info(rig, stays);
        assert_int_equal(where.locationEpoch, 0);
        assert_int_equal(take(run, &room), VK_SUCCESS);
        expect_apart(room);
        assert_true(veto == VETO_MAPPED || info_of(run).abandonedCount > 0);
        for (uint32_t i = 0; i < object_count; ++i) {
            assert_true(rig_info(rig, objects[i].memory).locationEpoch <= 1);
        }
        if (data != NULL) {
            maarUnmapMemory(rig->allocator, stays);
        }
        maarEndDefragmentation(rig->allocator, run);
        maarFreeMemory(rig->allocator, room);
        drop_heap();
        rig_expect_silence(rig);
        rig_close(rig);
    }
    rig = rig_begin(NULL);
}

static VkBool32 VKAPI_PTR moves_nothing(void* data, MaarAllocation allocation, void* own)
{
    (void)allocation;
    (void)own;
    ++*(uint32_t*)data;
    return VK_FALSE;
}

static void room_is_impossible_if_nothing_may_move(void** state)
{
    (void)state;
    open_comb();
    uint32_t asked = 0;
    MaarDefragmentationBeginInfo info = info_for(8 * UNIT, UNIT);
    MaarAllocation room = VK_NULL_HANDLE;
    info.pfnMayMove = moves_nothing;
    info.pUserData = &asked;
    const MaarStatistics before = rig_statistics(rig, pool);
    const MaarDefragmentation run = begin_with(&info);
    assert_true(step(run, 0) == VK_NULL_HANDLE);
    assert_int_equal(info_of(run).room, MAAR_DEFRAGMENTATION_ROOM_IMPOSSIBLE);
    assert_true(asked > 0 && asked <= object_count); /* of each allocation once at most */
    assert_int_equal(take(run, &room), VK_ERROR_OUT_OF_POOL_MEMORY);
    const MaarStatistics after = rig_statistics(rig, pool);
    assert_memory_equal(&before, &after, sizeof before);
    maarEndDefragmentation(rig->allocator, run);
    drop_heap();
    rig_expect_silence(rig);
}

static void dry_run_says_what_a_room_costs(void** state)
{
    (void)state;
    open_comb();
    const MaarStatistics before = rig_statistics(rig, pool);
    MaarDefragmentationBeginInfo info = info_for(8 * UNIT, UNIT);
    MaarAllocation room = VK_NULL_HANDLE;
    info.flags = MAAR_DEFRAGMENTATION_DRY_RUN_BIT;
    const MaarDefragmentation run = begin_with(&info);
    assert_true(step(run, 0) == VK_NULL_HANDLE);
    assert_int_equal(info_of(run).room, MAAR_DEFRAGMENTATION_ROOM_FOUND);
    assert_int_equal(info_of(run).moveBytes, 2 * UNIT);
    assert_true(info_of(run).roomMemory != VK_NULL_HANDLE);
    assert_int_equal(take(run, &room), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "dry");
    maarEndDefragmentation(rig->allocator, run);
    const MaarStatistics after = rig_statistics(rig, pool);
    assert_memory_equal(&before, &after, sizeof before);
    drop_heap();
}

/* A room that two runs want, and runs that end while the other one goes on. */
static void two_runs_make_rooms_of_their_own(void** state)
{
    (void)state;
    open_comb();
    MaarAllocation rooms[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    const MaarDefragmentation one = begin(6 * UNIT, UNIT);
    const MaarDefragmentation other = begin(4 * UNIT, UNIT);
    const MaarMoveBatch batches[] = {step(one, 0), step(other, 0)};
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(maarCommitMoves(rig->allocator, batches[i], 0, NULL, NULL), VK_SUCCESS);
    }
    carry_out(one, 0);
    carry_out(other, 0);
    assert_int_equal(take(one, &rooms[0]), VK_SUCCESS);
    expect_apart(rooms[0]);
    maarEndDefragmentation(rig->allocator, one);
    rig_check(rig);
    const VkResult result = take(other, &rooms[1]);
    assert_true(result == VK_SUCCESS || result == VK_ERROR_OUT_OF_POOL_MEMORY);
    maarEndDefragmentation(rig->allocator, other);
    maarFreeMemories(rig->allocator, 2, rooms);
    drop_heap();
    rig_expect_silence(rig);
}

/* Ends runs after any number of steps, with frees, vetoes and requests in between. */
static void run_for_a_room_ends_at_any_time(void** state)
{
    (void)state;
    rig = rig_begin(NULL);
    uint32_t taken = 0;
    uint64_t value = 1;
    for (uint32_t seed = 1; seed <= 300; ++seed) {
        struct rig_random random = {rig_seed(seed)};
        make_heap(&random);
        const MaarDefragmentation run =
            begin((VkDeviceSize)(2 + rig_below(&random, UNITS - 2)) * UNIT, UNIT);
        MaarAllocation room = VK_NULL_HANDLE;
        const uint32_t steps = rig_below(&random, 8);
        for (uint32_t i = 0; i < steps; ++i) {
            const MaarMoveBatch batch = step(run, 1 + rig_below(&random, 2));
            const MaarPoint point = point_of(value);
            const uint32_t points = rig_below(&random, 2);
            if (rig_below(&random, 3) == 0 && object_count > 0) {
                remove_object(rig_below(&random, object_count));
            }
            if (rig_below(&random, 4) == 0) {
                add_object(1 + rig_below(&random, 2));
            }
            assert_int_equal(rig_below(&random, 8) == 0
                                 ? maarCancelMoves(rig->allocator, batch, points, &point)
                                 : maarCommitMoves(rig->allocator, batch, points, &point, NULL),
                             VK_SUCCESS);
            rig_check(rig);
            if (rig_below(&random, 2) == 0) {
                assert_int_equal(maarAdvanceHostTimeline(rig->allocator, value), VK_SUCCESS);
                ++value;
            }
            if (room == VK_NULL_HANDLE && rig_below(&random, 3) != 0 &&
                take(run, &room) == VK_SUCCESS) {
                expect_apart(room);
                ++taken;
            }
        }
        maarEndDefragmentation(rig->allocator, run);
        rig_check(rig);
        assert_int_equal(maarAdvanceHostTimeline(rig->allocator, value++), VK_SUCCESS);
        assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
        maarFreeMemory(rig->allocator, room);
        drop_heap();
    }
    assert_true(taken > 50);
    rig_expect_silence(rig);
}

/* A run for a room gives up after any number of parts, when it has handed out a move, and when the
 * room is ready. */
static void run_for_a_room_is_given_up_in_parts(void** state)
{
    (void)state;
    uint32_t most = 0;
    uint32_t handed_count = 0;
    for (uint32_t parts = 1; parts < 20; ++parts) {
        MaarDefragmentationStepInfo limits = {
            .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO,
            .maxMoves = 1,
            .maxHostTime_ns = 1,
        };
        MaarAllocation room = VK_NULL_HANDLE;
        open_comb();
        const MaarDefragmentation run = begin(UNITS * UNIT, UNIT);
        for (uint32_t i = 0; i < parts; ++i) {
            MaarMoveBatch batch = VK_NULL_HANDLE;
            assert_true(maarStepDefragmentation(rig->allocator, run, &limits, &batch) >=
                        VK_SUCCESS);
            handed_count += batch != VK_NULL_HANDLE ? 1 : 0;
            assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL), VK_SUCCESS);
        }
        uint32_t waits = 0;
        MaarMoveBatch batch = VK_NULL_HANDLE;
        limits.givesUp = VK_TRUE;
        while (maarStepDefragmentation(rig->allocator, run, &limits, &batch) == VK_NOT_READY) {
            ++waits;
            rig_check(rig);
        }
        most = waits > most ? waits : most;
        assert_true(batch == VK_NULL_HANDLE);
        assert_int_equal(rig_statistics(rig, pool).pendingCount, 0);
        assert_int_equal(info_of(run).room, MAAR_DEFRAGMENTATION_ROOM_NONE);
        assert_int_equal(take(run, &room), VK_ERROR_OUT_OF_POOL_MEMORY);
        maarEndDefragmentation(rig->allocator, run);
        drop_heap();
        rig_expect_silence(rig);
        rig_close(rig);
    }
    assert_true(handed_count > 10);
    assert_true(most >= 1);
}

/* The cost of the cheapest window of a block in a sweep of its own, without regard to places. */
static VkDeviceSize cheapest_window(const MaarAllocation* memories, uint32_t count,
                                    VkDeviceSize block_size, VkDeviceSize size)
{
    uint32_t* units = calloc((size_t)(64 * (block_size / UNIT)), sizeof *units);
    VkDeviceSize best = UINT64_MAX;
    block_count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (memories[i] != VK_NULL_HANDLE) {
            const MaarAllocationInfo info = rig_info(rig, memories[i]);
            const VkDeviceSize first =
                number_of_block(info.memory) * (block_size / UNIT) + info.offset / UNIT;
            for (VkDeviceSize unit = 0; unit < info.size / UNIT; ++unit) {
                units[first + unit] = i + 1;
            }
        }
    }
    for (uint32_t block = 0; block < block_count; ++block) {
        const uint32_t* own = &units[block * (block_size / UNIT)];
        for (VkDeviceSize begin = 0; begin + size / UNIT <= block_size / UNIT; ++begin) {
            VkDeviceSize cost = 0;
            uint32_t last = 0;
            for (VkDeviceSize unit = begin; unit < begin + size / UNIT; ++unit) {
                if (own[unit] != 0 && own[unit] != last) {
                    last = own[unit];
                    cost += rig_info(rig, memories[last - 1]).size;
                }
            }
            best = cost < best ? cost : best;
        }
    }
    free(units);
    return best;
}

/* A pool of many small resources, of which half are freed. */
static void compare_with_cheapest_window(uint32_t most, uint32_t units, uint32_t block_limit,
                                         uint32_t wanted, uint32_t seed)
{
    struct rig_random random = {rig_seed(seed)};
    MaarAllocation* memories = calloc(most, sizeof *memories);
    const VkDeviceSize block_size = (VkDeviceSize)units * UNIT;
    const VkDeviceSize size = (VkDeviceSize)wanted * UNIT;
    uint32_t count = 0;
    assert_non_null(memories);
    rig = rig_begin(NULL);
    object_count = 0;
    open_pool(block_size, block_limit);
    while (count < most) {
        add_object(1 + rig_below(&random, 8));
        if (object_count == 0) {
            break;
        }
        memories[count++] = objects[--object_count].memory;
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (rig_below(&random, 2) == 0) {
            maarFreeMemory(rig->allocator, memories[i]);
            memories[i] = VK_NULL_HANDLE;
        }
    }
    const VkDeviceSize best = cheapest_window(memories, count, block_size, size);
    const MaarDefragmentation run = begin(size, UNIT);
    MaarAllocation room = VK_NULL_HANDLE;
    carry_out(run, 7);
    assert_int_equal(take(run, &room), VK_SUCCESS);
    const VkDeviceSize moved = info_of(run).moveBytes;
    print_message("%u of %u allocations live: %u bytes moved, %u at least\n",
                  rig_statistics(rig, pool).allocationCount - 1, count, (uint32_t)moved,
                  (uint32_t)best);
    assert_true(best > 0 && moved >= best && 4 * moved <= 5 * best);
    maarEndDefragmentation(rig->allocator, run);
    maarFreeMemory(rig->allocator, room);
    maarFreeMemories(rig->allocator, count, memories);
    free(memories);
    drop_heap();
    rig_expect_silence(rig);
    rig_close(rig);
}

static void large_heap_moves_little_more_than_its_cheapest_window(void** state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 4; ++seed) {
        compare_with_cheapest_window(2000, 512, 16, 64, seed);
    }
    compare_with_cheapest_window(200000, 1 << 14, 54, 256, 5);
    rig = rig_begin(NULL);
}

/* Resources of both kinds in a pool that keeps them in granules of their own. */
static void try_kinds(uint32_t seed)
{
    enum { GRANULES = 32, COUNT = 64 };
    struct rig_random random = {rig_seed(seed)};
    const VkDeviceSize granule = 1024;
    const MaarPoolCreateInfo info = {
        .memoryTypeIndex = 1, .blockSize = GRANULES * granule, .maxBlockCount = 2};
    MaarAllocation memories[COUNT] = {VK_NULL_HANDLE};
    MaarResourceKind kinds[COUNT];
    pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = in_pool();
    how.flags = MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT;
    for (uint32_t i = 0; i < COUNT; ++i) {
        kinds[i] =
            rig_below(&random, 2) == 0 ? MAAR_RESOURCE_KIND_LINEAR : MAAR_RESOURCE_KIND_OPTIMAL;
        const MaarMemoryRequest request = {
            .sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST,
            .requirements = {.size = 256 * (1 + rig_below(&random, 6)),
                             .alignment = 256,
                             .memoryTypeBits = ~0u},
            .kind = kinds[i],
        };
        how.flags = i == 0 ? 0 : how.flags;
        (void)maarAllocateMemory(rig->allocator, &request, &how, &memories[i]);
        how.flags = MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT;
    }
    for (uint32_t i = 0; i < COUNT; ++i) {
        if (rig_below(&random, 3) != 0) {
            maarFreeMemory(rig->allocator, memories[i]);
            memories[i] = VK_NULL_HANDLE;
        }
    }
    MaarDefragmentationBeginInfo begin_info = info_for(256 * (20 + rig_below(&random, 30)), 256);
    begin_info.roomKind = MAAR_RESOURCE_KIND_OPTIMAL;
    const MaarDefragmentation run = begin_with(&begin_info);
    MaarAllocation room = VK_NULL_HANDLE;
    carry_out(run, 0);
    if (take(run, &room) == VK_SUCCESS) {
        const MaarAllocationInfo own = rig_info(rig, room);
        for (uint32_t i = 0; i < COUNT; ++i) {
            if (memories[i] != VK_NULL_HANDLE && kinds[i] == MAAR_RESOURCE_KIND_LINEAR) {
                const MaarAllocationInfo other = rig_info(rig, memories[i]);
                assert_true(own.memory != other.memory ||
                            (own.offset + own.size - 1) / granule < other.offset / granule ||
                            (other.offset + other.size - 1) / granule < own.offset / granule);
            }
        }
    }
    maarEndDefragmentation(rig->allocator, run);
    maarFreeMemory(rig->allocator, room);
    maarFreeMemories(rig->allocator, COUNT, memories);
    maarDestroyPool(rig->allocator, pool);
}

static void kinds_stay_in_granules_of_their_own(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_file("nvidia-rtx4090-linux")};
    rig = rig_begin(&setup);
    for (uint32_t seed = 1; seed <= 60; ++seed) {
        try_kinds(seed);
    }
    rig_expect_silence(rig);
}

static void misuse_of_rooms_is_reported(void** state)
{
    (void)state;
    open_comb();
    MaarDefragmentation run = VK_NULL_HANDLE;
    MaarAllocation room = VK_NULL_HANDLE;
    MaarDefragmentationBeginInfo info = info_for(0, UNIT);
    assert_int_equal(maarBeginDefragmentation(rig->allocator, &info, &run),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_ZERO_SIZE, "roomSize");
    info = info_for(UNIT, 3);
    assert_int_equal(maarBeginDefragmentation(rig->allocator, &info, &run),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_INVALID_ALIGNMENT, "roomAlignment");
    info = info_for(UNIT, 0);
    info.roomKind = (MaarResourceKind)7;
    assert_int_equal(maarBeginDefragmentation(rig->allocator, &info, &run),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_INVALID_ENUM, "roomKind");
    info = info_for(UNIT, 0);
    info.goal = (MaarDefragmentationGoal)3;
    assert_int_equal(maarBeginDefragmentation(rig->allocator, &info, &run),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_INVALID_ENUM, "goal");
    const MaarPoolCreateInfo buddy = {.strategy = MAAR_PLACEMENT_STRATEGY_BUDDY,
                                      .blockSize = BLOCK_SIZE};
    info = info_for(UNIT, 0);
    info.pool = rig_create_pool(rig, &buddy);
    assert_int_equal(maarBeginDefragmentation(rig->allocator, &info, &run),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CANNOT_MOVE, "buddy");
    maarDestroyPool(rig->allocator, info.pool);
    info.pool = pool;
    info.goal = MAAR_DEFRAGMENTATION_GOAL_BLOCKS;
    run = begin_with(&info);
    assert_int_equal(take(run, &room), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "goal");
    maarEndDefragmentation(rig->allocator, run);
    assert_int_equal(take(run, &room), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, "defragmentation");
    drop_heap();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(fewest_bytes_move_in_small_heaps),
        rig_unit_test(room_is_kept_until_points_have_passed),
        rig_unit_test(room_without_moves_is_ready_at_once),
        rig_unit_test(pending_bytes_become_part_of_the_room),
        rig_unit_test(what_is_freed_meanwhile_belongs_to_the_room),
        rig_unit_test(room_is_made_elsewhere_after_a_veto),
        rig_unit_test(room_is_impossible_if_nothing_may_move),
        rig_unit_test(dry_run_says_what_a_room_costs),
        rig_unit_test(two_runs_make_rooms_of_their_own),
        rig_unit_test(run_for_a_room_ends_at_any_time),
        rig_unit_test(run_for_a_room_is_given_up_in_parts),
        rig_unit_test(large_heap_moves_little_more_than_its_cheapest_window),
        rig_unit_test(kinds_stay_in_granules_of_their_own),
        rig_unit_test(misuse_of_rooms_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
