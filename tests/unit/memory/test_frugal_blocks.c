/*
 * How much an allocator holds whose block size nobody has named: at most a quarter more than what
 * lives, or 4 MiB more, at every moment of its growth, over all memory types and threads, on heaps
 * of any size. A program without holes gets larger blocks.
 */
#include <pthread.h>

#include "tests/rig/rig.h"

#define EXCESS (4 * MIB)
#define PREFERRED (256 * MIB)

static VkDeviceSize allowance(VkDeviceSize live)
{
    return live + (live / 4 > EXCESS ? live / 4 : EXCESS);
}

static VkDeviceSize held(struct rig* rig)
{
    return rig_statistics(rig, VK_NULL_HANDLE).blockBytes;
}

enum { MOST_MADE = 40000 };

/* Allocations of one thread that have the same use. */
struct heap_of_things {
    MaarAllocationCreateInfo how;
    MaarAllocation made[MOST_MADE];
    uint32_t count;
};

static VkDeviceSize add(struct rig* rig, struct heap_of_things* things, VkDeviceSize size)
{
    assert_in_range(things->count, 0, MOST_MADE - 1);
    things->made[things->count++] = rig_allocate(rig, size, &things->how);
    return size;
}

static void free_all(struct rig* rig, struct heap_of_things* things)
{
    maarFreeMemories(rig->allocator, things->count, things->made);
    things->count = 0;
}

static struct heap_of_things* things_for(MaarMemoryUsage usage)
{
    static struct heap_of_things kept[2];
    static uint32_t next = 0;
    struct heap_of_things* things = &kept[next++ % 2];
    things->how = rig_how(usage);
    things->count = 0;
    return things;
}

/* Allocations of one size until `end` bytes live. Checks after each of them that at most `rest`
 * bytes more are held than the promise says. */
static void grow_to(struct rig* rig, VkDeviceSize size, VkDeviceSize end, VkDeviceSize rest,
                    uint64_t most_calls)
{
    struct heap_of_things* things = things_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    VkDeviceSize live = 0;
    while (live < end) {
        live += add(rig, things, size);
        const VkDeviceSize holds = held(rig);
        if (holds > allowance(live) + rest) {
            fail_msg("%llu KiB are held for %llu KiB in pieces of %llu KiB",
                     (unsigned long long)(holds / KIB), (unsigned long long)(live / KIB),
                     (unsigned long long)(size / KIB));
        }
    }
    assert_in_range(rig_calls(rig, "vkAllocateMemory"), 1, most_calls);
    free_all(rig, things);
}

static void growing_program_holds_a_quarter_more(void** state)
{
    (void)state;
    static const struct {
        VkDeviceSize size;
        VkDeviceSize end;
        uint64_t most_calls;
    } rows[] = {
        {64 * KIB, 16 * MIB, 6},     {64 * KIB, 256 * MIB, 25}, {256 * KIB, 1024 * MIB, 35},
        {1536 * KIB, 512 * MIB, 25}, {5 * MIB, 512 * MIB, 21},  {3 * MIB, 2048 * MIB, 36},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct rig* const rig = rig_begin(NULL);
        grow_to(rig, rows[i].size, rows[i].end, 0, rows[i].most_calls);
        rig_close(rig);
    }
}

static struct rig* begin_on_heap(VkDeviceSize size)
{
    static MaarSimulatedProfile profile;
    static const struct rig_setup setup = {.profile = &profile};
    profile = *rig_profile_discrete();
    profile.heaps[0].size = size;
    profile.heaps[0].budget = size;
    return rig_begin(&setup);
}

/* On a heap of at most 1 GiB blocks grow to an eighth of it, and a pool soon holds that much. The
 * blocks are small, so the rest of one for which a request is too large counts beside 4 MiB. */
static void heap_of_any_size_holds_a_quarter_more(void** state)
{
    (void)state;
    static const VkDeviceSize heaps[] = {64, 96, 128, 192, 256, 384, 512, 640, 1024, 1025, 2048};
    static const VkDeviceSize sizes[] = {48 * KIB, 300 * KIB, 1100 * KIB};
    for (size_t i = 0; i < sizeof heaps / sizeof heaps[0]; ++i) {
        for (size_t j = 0; j < sizeof sizes / sizeof sizes[0]; ++j) {
            struct rig* const rig = begin_on_heap(heaps[i] * MIB);
            grow_to(rig, sizes[j], heaps[i] * MIB / 4 * 3, sizes[j], 40);
            rig_close(rig);
        }
    }
}

/* ---- large programs ---- */

static struct rig* begin_large(void)
{
    return begin_on_heap(64 * 1024 * MIB);
}

/* Fills `end` bytes with allocations of one size. Returns the number of blocks. */
static uint64_t fill(struct rig* rig, struct heap_of_things* things, VkDeviceSize size,
                     VkDeviceSize end)
{
    for (VkDeviceSize live = 0; live < end;) {
        live += add(rig, things, size);
        const VkDeviceSize ahead = live / 8 > PREFERRED ? live / 8 : PREFERRED;
        assert_in_range(held(rig), live, live + ahead + 2 * EXCESS);
    }
    return rig_calls(rig, "vkAllocateMemory");
}

/* A block takes up to an eighth of what lives, and at most 512 MiB. So 16 GiB are about 33 blocks
 * less than with blocks of 256 MiB, and 60 less than by the growth of the arena. */
static void filling_program_needs_few_blocks(void** state)
{
    (void)state;
    struct rig* const rig = begin_large();
    struct heap_of_things* things = things_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    assert_in_range(fill(rig, things, MIB, 16 * 1024 * MIB), 30, 66);
    assert_int_equal(rig_info(rig, things->made[things->count - 1]).blockSize, 2 * PREFERRED);
    free_all(rig, things);
    assert_in_range(held(rig), 0, 2 * PREFERRED);
}

/* Holes use up the bytes that a block would take ahead of need. */
static void program_with_holes_gets_blocks_by_its_growth(void** state)
{
    (void)state;
    struct rig* const rig = begin_large();
    struct heap_of_things* things = things_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    (void)fill(rig, things, MIB, 4096 * MIB);
    for (uint32_t i = 0; i < things->count; i += 4) {
        maarFreeMemory(rig->allocator, things->made[i]);
        things->made[i] = VK_NULL_HANDLE;
    }
    const uint64_t calls = rig_calls(rig, "vkAllocateMemory");
    while (rig_calls(rig, "vkAllocateMemory") == calls) {
        (void)add(rig, things, 1984 * KIB);
    }
    assert_in_range(rig_info(rig, things->made[things->count - 1]).blockSize, PREFERRED / 3,
                    PREFERRED / 2);
    free_all(rig, things);
}

/* What lives elsewhere does not enlarge the blocks of a pool. */
static void dedicated_memory_enlarges_no_block(void** state)
{
    (void)state;
    struct rig* const rig = begin_large();
    struct heap_of_things* things = things_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    for (uint32_t i = 0; i < 16; ++i) {
        (void)add(rig, things, 1024 * MIB);
    }
    for (uint32_t i = 0; i < 1500; ++i) {
        (void)add(rig, things, MIB);
        const VkDeviceSize size = rig_info(rig, things->made[things->count - 1]).blockSize;
        assert_in_range(size, MIB, PREFERRED);
    }
    free_all(rig, things);
}

/* Large requests get no block ahead of need. */
static void large_requests_get_blocks_by_the_growth(void** state)
{
    (void)state;
    struct rig* const rig = begin_large();
    struct heap_of_things* things = things_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    (void)fill(rig, things, 2 * MIB, 8 * 1024 * MIB);
    for (uint32_t i = 0; i < things->count; ++i) {
        assert_in_range(rig_info(rig, things->made[i]).blockSize, MIB, PREFERRED);
    }
    free_all(rig, things);
}

/* The driver has no memory for a block above the preferred size: the preferred size is tried, and
 * then half of that size three times, and at last the least. */
static void large_block_is_halved_to_the_preferred_size_first(void** state)
{
    (void)state;
    struct rig* const rig = begin_large();
    struct heap_of_things* things = things_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    (void)fill(rig, things, MIB, 8 * 1024 * MIB);
    const MaarMemoryRequest request = rig_request(MIB, 1, 1, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation other = VK_NULL_HANDLE;
    const uint64_t calls = rig_calls(rig, "vkAllocateMemory");
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    VkResult result = VK_SUCCESS;
    while (result == VK_SUCCESS) {
        result = maarAllocateMemory(rig->allocator, &request, NULL, &other);
        things->made[things->count] = other;
        things->count += result == VK_SUCCESS ? 1 : 0;
    }
    assert_int_equal(result, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(rig_calls(rig, "vkAllocateMemory") - calls, 6);
    rig_clear_faults(rig);
    free_all(rig, things);
}

/* A pool that has large blocks places what fits there, so that its first, small blocks empty. */
static void large_blocks_are_filled_first(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    struct heap_of_things* things = things_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    const uint32_t count = (uint32_t)(512 * MIB / (256 * KIB));
    for (uint32_t i = 0; i < count; ++i) {
        (void)add(rig, things, 256 * KIB);
    }
    MaarAllocation* const first = &things->made[0];
    MaarAllocation* const later = &things->made[count - 1];
    assert_in_range(rig_info(rig, *first).blockSize, 1, PREFERRED / 8);
    assert_in_range(rig_info(rig, *later).blockSize, PREFERRED / 4, PREFERRED);
    maarFreeMemory(rig->allocator, *first);
    maarFreeMemory(rig->allocator, *later);
    *later = rig_allocate(rig, 256 * KIB, &things->how);
    assert_in_range(rig_info(rig, *later).blockSize, PREFERRED / 4, PREFERRED);
    *first = rig_allocate(rig, 256 * KIB, &things->how);
    free_all(rig, things);
}

/* Allocates until a block is made, and returns its size. */
static VkDeviceSize size_of_next_block(struct rig* rig, struct heap_of_things* things,
                                       VkDeviceSize size)
{
    const uint64_t calls = rig_calls(rig, "vkAllocateMemory");
    while (rig_calls(rig, "vkAllocateMemory") == calls) {
        (void)add(rig, things, size);
    }
    return rig_info(rig, things->made[things->count - 1]).blockSize;
}

/* Where holes have used up the excess, two ninths of what lives, a block has a third of it, but at
 * most a quarter of what its arena holds. */
static void holes_leave_blocks_a_third_of_the_excess(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    struct heap_of_things* local = things_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    struct heap_of_things* host = things_for(MAAR_MEMORY_USAGE_READBACK);
    VkDeviceSize live = add(rig, host, 8 * MIB);
    const VkDeviceSize host_held = held(rig);
    for (uint32_t i = 0; i < 1600; ++i) {
        live += add(rig, local, 64 * KIB);
    }
    for (uint32_t i = 0; i < 1600; i += 2) {
        maarFreeMemory(rig->allocator, local->made[i]);
        local->made[i] = VK_NULL_HANDLE;
        live -= 64 * KIB;
    }
    const uint32_t before = local->count;
    const VkDeviceSize made = size_of_next_block(rig, local, 256 * KIB);
    live += 256 * KIB * (local->count - before);
    const VkDeviceSize third = live / 9 * 2 / 3;
    assert_in_range(made, third - third / 8, third + third / 8);
    const VkDeviceSize quarter = host_held / 4;
    assert_in_range(quarter, MIB, third * 3 / 4);
    assert_in_range(size_of_next_block(rig, host, 256 * KIB), quarter, quarter + 64 * KIB);
    free_all(rig, local);
    free_all(rig, host);
}

static void first_block_is_small(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation one = rig_allocate(rig, 16 * KIB, NULL);
    assert_in_range(held(rig), 16 * KIB, EXCESS);
    maarFreeMemory(rig->allocator, one);
}

/* A block of its size alone, so that the excess remains for others. */
static void large_request_gets_a_block_of_its_size(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_NEVER;
    MaarAllocation large = rig_allocate(rig, 40 * MIB, &how);
    assert_int_equal(rig_info(rig, large).blockSize, 40 * MIB);
    maarFreeMemory(rig->allocator, large);
}

/* The types share what may be held beside the live bytes. */
static void types_share_the_excess(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    struct heap_of_things* local = things_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    struct heap_of_things* host = things_for(MAAR_MEMORY_USAGE_READBACK);
    VkDeviceSize live = 0;
    for (uint32_t i = 0; i < 4000; ++i) {
        live += add(rig, local, 48 * KIB);
        live += add(rig, host, 16 * KIB);
        assert_in_range(held(rig), live, allowance(live));
    }
    assert_int_not_equal(rig_info(rig, local->made[0]).memoryTypeIndex,
                         rig_info(rig, host->made[0]).memoryTypeIndex);
    free_all(rig, local);
    free_all(rig, host);
}

/* Pools of the program share it too. */
static void pools_share_the_excess(void** state)
{
    (void)state;
    enum { POOLS = 6, EACH = 200 };
    struct rig* const rig = rig_begin(NULL);
    struct heap_of_things* things = things_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarPool pools[POOLS];
    VkDeviceSize live = 0;
    for (uint32_t i = 0; i < POOLS; ++i) {
        pools[i] = rig_create_pool(rig, &(MaarPoolCreateInfo){.memoryTypeIndex = 0});
    }
    for (uint32_t i = 0; i < POOLS * EACH; ++i) {
        things->how.pool = pools[i % POOLS];
        live += add(rig, things, 32 * KIB);
    }
    assert_in_range(held(rig), live, allowance(live));
    free_all(rig, things);
    for (uint32_t i = 0; i < POOLS; ++i) {
        maarDestroyPool(rig->allocator, pools[i]);
    }
}

static void named_size_keeps_its_meaning(void** state)
{
    (void)state;
    static const struct rig_setup named = {.preferred_block = 64 * MIB};
    struct rig* const rig = rig_begin(&named);
    MaarAllocation one = rig_allocate(rig, 16 * KIB, NULL);
    assert_int_equal(rig_info(rig, one).blockSize, 8 * MIB);
    maarFreeMemory(rig->allocator, one);
    MaarPool pool = rig_create_pool(rig, &(MaarPoolCreateInfo){.blockSize = 24 * MIB});
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = pool;
    MaarAllocation other = rig_allocate(rig, 16 * KIB, &how);
    assert_int_equal(rig_info(rig, other).blockSize, 24 * MIB);
    maarFreeMemory(rig->allocator, other);
    maarDestroyPool(rig->allocator, pool);
}

/* ---- empty blocks ---- */

/* What a program frees and makes again, in each frame, stays in its blocks. */
static void frames_make_no_blocks_again(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    struct heap_of_things* things = things_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    uint64_t calls = 0;
    for (uint32_t frame = 0; frame < 5; ++frame) {
        for (uint32_t i = 0; i < 50; ++i) {
            (void)add(rig, things, MIB);
        }
        free_all(rig, things);
        calls = frame == 0 ? rig_calls(rig, "vkAllocateMemory") : calls;
    }
    assert_in_range(calls, 5, 20);
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), calls);
}

/* Half of the most that was held stays, with the largest blocks, until maarTrim. */
static void half_of_the_peak_is_kept(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    struct heap_of_things* things = things_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    for (uint32_t i = 0; i < 200; ++i) {
        (void)add(rig, things, MIB);
    }
    const VkDeviceSize peak = held(rig);
    free_all(rig, things);
    assert_in_range(held(rig), peak * 2 / 5, peak / 2);
    assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(held(rig), 0);
}

/* An empty block that is too small for a request goes before a larger one is made. */
static void small_empty_blocks_make_room(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_NEVER;
    for (VkDeviceSize size = 8; size <= 120; size += 8) {
        MaarAllocation one = rig_allocate(rig, size * MIB, &how);
        assert_int_equal(held(rig), size * MIB);
        maarFreeMemory(rig->allocator, one);
    }
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).peakBlockBytes, 120 * MIB);
}

/* An empty block of one memory type goes before another type gets a block beyond the promise. */
static void empty_blocks_of_other_types_make_room(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    struct heap_of_things* local = things_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    how.dedicated = MAAR_DEDICATED_NEVER;
    MaarAllocation host = rig_allocate(rig, 8 * MIB, &how);
    maarFreeMemory(rig->allocator, host);
    assert_int_equal(held(rig), 8 * MIB);
    VkDeviceSize live = 0;
    for (uint32_t i = 0; i < 300; ++i) {
        live += add(rig, local, 64 * KIB);
        assert_in_range(held(rig), live, allowance(live));
    }
    free_all(rig, local);
}

/* What a program asks a pool to retain stays. */
static void retained_blocks_of_other_pools_stay(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    struct heap_of_things* local = things_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 0, .retainedEmptySize = 16 * MIB};
    MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = pool;
    MaarAllocation one = rig_allocate(rig, 8 * MIB, &how);
    maarFreeMemory(rig->allocator, one);
    (void)add(rig, local, 64 * KIB);
    assert_int_equal(rig_statistics(rig, pool).blockBytes, 8 * MIB);
    free_all(rig, local);
    maarDestroyPool(rig->allocator, pool);
}

/* Images of many drivers begin at multiples of more than a block is rounded to. A block for a whole
 * number of them counts the gaps. */
static void blocks_count_the_gaps_of_alignments(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const VkDeviceSize size = 1365 * KIB;
    const MaarMemoryRequest request = rig_request(size, 256 * KIB, 1, MAAR_RESOURCE_KIND_OPTIMAL);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    struct heap_of_things* things = things_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    for (VkDeviceSize live = size; live < 96 * MIB; live += size) {
        assert_int_equal(
            maarAllocateMemory(rig->allocator, &request, &how, &things->made[things->count++]),
            VK_SUCCESS);
        assert_in_range(held(rig), live, allowance(live) + size / 8);
    }
    free_all(rig, things);
}

/* ---- threads ---- */

enum { THREADS = 4, EACH_THREAD = 300 };

struct worker {
    pthread_t thread;
    struct rig* rig;
    MaarAllocation made[EACH_THREAD];
    VkResult result;
};

static void* work(void* data)
{
    struct worker* worker = data;
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    const MaarMemoryRequest request =
        rig_request(24 * KIB, 256, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    for (uint32_t i = 0; i < EACH_THREAD && worker->result == VK_SUCCESS; ++i) {
        worker->result =
            maarAllocateMemory(worker->rig->allocator, &request, &how, &worker->made[i]);
    }
    return NULL;
}

/* Each thread may have taken its share at the same moment, so the excess is that of all threads.
 * Blocks that depend on what the arena alone holds would have 32 MiB each. */
static void threads_do_not_multiply_the_excess(void** state)
{
    (void)state;
    static struct worker workers[THREADS];
    struct rig* const rig = rig_begin(NULL);
    for (uint32_t i = 0; i < THREADS; ++i) {
        workers[i] = (struct worker){.rig = rig};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; ++i) {
        (void)pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].result, VK_SUCCESS);
    }
    const VkDeviceSize live = (VkDeviceSize)THREADS * EACH_THREAD * 24 * KIB;
    assert_in_range(held(rig), live, live + THREADS * EXCESS);
    for (uint32_t i = 0; i < THREADS; ++i) {
        maarFreeMemories(rig->allocator, EACH_THREAD, workers[i].made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(growing_program_holds_a_quarter_more),
        rig_unit_test(heap_of_any_size_holds_a_quarter_more),
        rig_unit_test(filling_program_needs_few_blocks),
        rig_unit_test(program_with_holes_gets_blocks_by_its_growth),
        rig_unit_test(dedicated_memory_enlarges_no_block),
        rig_unit_test(large_requests_get_blocks_by_the_growth),
        rig_unit_test(large_block_is_halved_to_the_preferred_size_first),
        rig_unit_test(large_blocks_are_filled_first),
        rig_unit_test(holes_leave_blocks_a_third_of_the_excess),
        rig_unit_test(first_block_is_small),
        rig_unit_test(large_request_gets_a_block_of_its_size),
        rig_unit_test(types_share_the_excess),
        rig_unit_test(pools_share_the_excess),
        rig_unit_test(named_size_keeps_its_meaning),
        rig_unit_test(frames_make_no_blocks_again),
        rig_unit_test(half_of_the_peak_is_kept),
        rig_unit_test(small_empty_blocks_make_room),
        rig_unit_test(empty_blocks_of_other_types_make_room),
        rig_unit_test(retained_blocks_of_other_pools_stay),
        rig_unit_test(blocks_count_the_gaps_of_alignments),
        rig_unit_test(threads_do_not_multiply_the_excess),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
