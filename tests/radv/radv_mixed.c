/*
 * Some thousand random operations, half of them under a random failure, while the budgets move:
 * a request either gives bytes that no other has, or fails with an error of its kind and changes
 * nothing. MAAR_TEST_SEED repeats a run.
 */
#include "tests/radv/radv_case.h"

enum { ITEMS = 120, STEPS = 4000, CHECK_EVERY = 100, POOLS = 2 };

enum item_kind { ITEM_NONE, ITEM_MEMORY, ITEM_BUFFER, ITEM_IMAGE, ITEM_SLICE };

struct item {
    enum item_kind kind;
    VkBuffer buffer;
    VkImage image;
    MaarSlice slice;
    MaarAllocation memory;
    uint32_t map_count;
    VkDeviceMemory block; /* slices have none of their own */
    VkDeviceSize offset;
    VkDeviceSize size;
};

struct mix {
    struct rig rig;
    struct rig_random random;
    struct item items[ITEMS];
    MaarPool pools[POOLS];
    uint32_t live[5]; /* by item_kind */
    uint32_t pending;
    uint64_t host_value;
    uint32_t made;
    uint32_t failures;
    uint32_t failed_steps; /* steps in which the driver failed */
    uint32_t survived;     /* requests met in spite of a failure */
};

static MaarAllocationCreateInfo random_how(struct mix* mix)
{
    MaarAllocationCreateInfo how = rig_how((MaarMemoryUsage)rig_below(&mix->random, 4));
    static const MaarDedicated modes[] = {MAAR_DEDICATED_AUTO, MAAR_DEDICATED_NEVER,
                                          MAAR_DEDICATED_ALWAYS, MAAR_DEDICATED_ALWAYS};
    how.dedicated = modes[rig_below(&mix->random, 4)];
    if (how.usage != MAAR_MEMORY_USAGE_DEVICE_LOCAL && rig_below(&mix->random, 4) == 0) {
        how.flags |= MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    }
    if (rig_below(&mix->random, 6) == 0) {
        how.flags |= MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT;
    }
    if (rig_below(&mix->random, 10) == 0) {
        how.flags |= MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    }
    how.pName = rig_below(&mix->random, 4) == 0 ? "mixed" : NULL;
    return how;
}

/* Mostly small, sometimes a block of its own. */
static VkDeviceSize random_size(struct mix* mix)
{
    const uint32_t most = rig_below(&mix->random, 25) == 0 ? 24u << 20 : 200000;
    return 1 + rig_below(&mix->random, most);
}

static bool is_expected(VkResult result)
{
    return result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_MEMORY_MAP_FAILED ||
           result == VK_ERROR_UNKNOWN || /* RADV 25.0.7, when there is no address */
           result == VK_ERROR_OUT_OF_POOL_MEMORY;
}

static void expect_counts(struct mix* mix)
{
    const MaarStatistics totals = rig_statistics(&mix->rig, VK_NULL_HANDLE);
    const uint32_t own = mix->live[ITEM_MEMORY] + mix->live[ITEM_BUFFER] + mix->live[ITEM_IMAGE];
    /* The buffers that slices share count too. */
    assert_true(totals.allocationCount >= own);
    assert_true(totals.allocationCount - own <= mix->live[ITEM_SLICE] + 4);
    assert_int_equal(totals.sliceCount, mix->live[ITEM_SLICE]);
    assert_int_equal(totals.pendingCount + totals.pendingSliceCount, mix->pending);
}

/* Its bytes are its alone. */
static void expect_apart(struct mix* mix, const struct item* item)
{
    for (uint32_t i = 0; i < ITEMS; ++i) {
        const struct item* other = &mix->items[i];
        if (other != item && other->kind != ITEM_NONE && other->kind != ITEM_SLICE &&
            other->block == item->block && other->offset < item->offset + item->size &&
            item->offset < other->offset + other->size) {
            fail_msg("two allocations share bytes at offset %llu of a block",
                     (unsigned long long)item->offset);
        }
    }
}

/* ---- operations ---- */

static VkResult make_memory(struct mix* mix, struct item* item)
{
    const MaarMemoryRequest request =
        rig_request(random_size(mix), 1u << rig_below(&mix->random, 13), UINT32_MAX,
                    (MaarResourceKind)rig_below(&mix->random, 3));
    const MaarAllocationCreateInfo how = random_how(mix);
    return maarAllocateMemory(mix->rig.allocator, &request, &how, &item->memory);
}

static VkResult make_buffer(struct mix* mix, struct item* item)
{
    const VkBufferCreateInfo info = rig_buffer_info(random_size(mix));
    MaarAllocationCreateInfo how = random_how(mix);
    if (rig_below(&mix->random, 4) == 0) {
        how.pool = mix->pools[rig_below(&mix->random, POOLS)];
        how.dedicated = MAAR_DEDICATED_AUTO;
        how.flags = 0;
    }
    return maarCreateBuffer(mix->rig.allocator, &info, &how, &item->buffer, &item->memory);
}

static VkResult make_image(struct mix* mix, struct item* item)
{
    const VkImageCreateInfo info =
        rig_image_info(1 + rig_below(&mix->random, 500), 1 + rig_below(&mix->random, 500));
    MaarAllocationCreateInfo how = random_how(mix);
    how.usage = MAAR_MEMORY_USAGE_DEVICE_LOCAL;
    how.flags &= ~(VkFlags)MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    return maarCreateImage(mix->rig.allocator, &info, &how, &item->image, &item->memory);
}

static VkResult make_slice(struct mix* mix, struct item* item)
{
    const MaarSliceCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = 1 + rig_below(&mix->random, 100000),
        .usage = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
        .memoryUsage =
            rig_below(&mix->random, 2) == 0 ? MAAR_MEMORY_USAGE_UPLOAD : MAAR_MEMORY_USAGE_READBACK,
    };
    return maarCreateSlice(mix->rig.allocator, &info, &item->slice);
}

static void make(struct mix* mix, struct item* item)
{
    const enum item_kind kind = (enum item_kind)(ITEM_MEMORY + rig_below(&mix->random, 4));
    VkResult (*const makers[])(struct mix*, struct item*) = {NULL, make_memory, make_buffer,
                                                             make_image, make_slice};
    *item = (struct item){.buffer = (VkBuffer)(uintptr_t)1,
                          .image = (VkImage)(uintptr_t)1,
                          .slice = (MaarSlice)(uintptr_t)1,
                          .memory = (MaarAllocation)(uintptr_t)1};
    const VkResult result = makers[kind](mix, item);
    const bool is_made = result == VK_SUCCESS;
    assert_true(is_made || is_expected(result));
    assert_int_equal(kind == ITEM_SLICE || item->memory != VK_NULL_HANDLE,
                     kind == ITEM_SLICE || is_made);
    assert_int_equal(kind != ITEM_SLICE || item->slice != VK_NULL_HANDLE,
                     kind != ITEM_SLICE || is_made);
    assert_int_equal(kind != ITEM_BUFFER || item->buffer != VK_NULL_HANDLE,
                     kind != ITEM_BUFFER || is_made);
    assert_int_equal(kind != ITEM_IMAGE || item->image != VK_NULL_HANDLE,
                     kind != ITEM_IMAGE || is_made);
    if (!is_made) {
        ++mix->failures;
        *item = (struct item){.kind = ITEM_NONE};
        return;
    }
    ++mix->made;
    item->kind = kind;
    ++mix->live[kind];
    if (kind != ITEM_SLICE) {
        const MaarAllocationInfo info = rig_info(&mix->rig, item->memory);
        item->block = info.memory;
        item->offset = info.offset;
        item->size = info.size;
        expect_apart(mix, item);
    }
}

static void destroy(struct mix* mix, struct item* item)
{
    MaarAllocator allocator = mix->rig.allocator;
    const bool later = rig_below(&mix->random, 3) == 0;
    const MaarPoint point = {VK_NULL_HANDLE, mix->host_value + 1 + rig_below(&mix->random, 3)};
    const uint32_t points = later ? 1 : 0;
    VkResult result = VK_SUCCESS;
    for (; item->map_count > 0; --item->map_count) {
        maarUnmapMemory(allocator, item->memory);
    }
    switch (item->kind) {
    case ITEM_BUFFER:
        result = maarDestroyBufferAfter(allocator, item->buffer, item->memory, points, &point);
        break;
    case ITEM_IMAGE:
        result = maarDestroyImageAfter(allocator, item->image, item->memory, points, &point);
        break;
    case ITEM_SLICE:
        result = maarDestroySliceAfter(allocator, item->slice, points, &point);
        break;
    default:
        result = maarFreeMemoryAfter(allocator, item->memory, points, &point);
        break;
    }
    assert_int_equal(result, VK_SUCCESS);
    --mix->live[item->kind];
    mix->pending += points;
    *item = (struct item){.kind = ITEM_NONE};
}

static void map(struct mix* mix, struct item* item)
{
    if (item->kind == ITEM_SLICE) {
        return;
    }
    const MaarAllocationInfo info = rig_info(&mix->rig, item->memory);
    if ((info.propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) == 0) {
        return;
    }
    void* data = mix;
    const VkResult result = maarMapMemory(mix->rig.allocator, item->memory, &data);
    assert_int_equal(result == VK_SUCCESS, data != NULL);
    if (result != VK_SUCCESS) {
        assert_int_equal(result, VK_ERROR_MEMORY_MAP_FAILED);
        ++mix->failures;
        return;
    }
    ++item->map_count;
    memset(data, 0x77, (size_t)(item->size < 64 ? item->size : 64));
}

static void unmap(struct mix* mix, struct item* item)
{
    if (item->map_count > 0) {
        maarUnmapMemory(mix->rig.allocator, item->memory);
        --item->map_count;
    }
}

static void pass_time(struct mix* mix)
{
    const uint32_t before = mix->pending;
    uint32_t freed = 0;
    mix->host_value += 2;
    assert_int_equal(maarAdvanceHostTimeline(mix->rig.allocator, mix->host_value), VK_SUCCESS);
    assert_int_equal(maarCollect(mix->rig.allocator, &freed), VK_SUCCESS);
    assert_true(freed <= before);
}

static void squeeze(struct mix* mix)
{
    const bool is_free = rig_below(&mix->random, 2) == 0;
    radv_set_others(is_free ? 0 : rig_below(&mix->random, 2000) * MIB,
                    is_free ? 0 : rig_below(&mix->random, 256) * MIB,
                    is_free ? 0 : rig_below(&mix->random, 4096) * MIB);
}

/* What was pending may be collected by any request; only the allocator knows when. */
static void recount_pending(struct mix* mix)
{
    const MaarStatistics totals = rig_statistics(&mix->rig, VK_NULL_HANDLE);
    const uint32_t pending = totals.pendingCount + totals.pendingSliceCount;
    assert_true(pending <= mix->pending);
    mix->pending = pending;
}

/* ---- the run ---- */

/* Half of all steps meet a failure, if they call the kernel at all. */
static void refuse_at_random(struct mix* mix)
{
    static const enum fault_call calls[] = {FAULT_CALL_CREATE, FAULT_CALL_CREATE, FAULT_CALL_MAP,
                                            FAULT_CALL_PLACE};
    if (rig_below(&mix->random, 2) == 0) {
        const uint64_t nth = rig_below(&mix->random, 4) == 0 ? 2 : 1;
        const uint64_t count = rig_below(&mix->random, 2) == 0 ? 1 : UINT64_MAX;
        radv_refuse(calls[rig_below(&mix->random, 4)], nth, count);
    }
}

static void take_step(struct mix* mix)
{
    struct item* item = &mix->items[rig_below(&mix->random, ITEMS)];
    const uint32_t choice = rig_below(&mix->random, 100);
    const uint32_t made = mix->made;
    refuse_at_random(mix);
    if (choice < 2) {
        squeeze(mix);
    } else if (choice < 8) {
        pass_time(mix);
    } else if (choice < 20) {
        assert_int_equal(maarTrim(mix->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    } else if (item->kind == ITEM_NONE) {
        make(mix, item);
    } else if (choice < 40) {
        map(mix, item);
    } else if (choice < 55) {
        unmap(mix, item);
    } else {
        destroy(mix, item);
    }
    if (radv_allow_all() > 0) {
        ++mix->failed_steps;
        mix->survived += mix->made - made;
    }
    recount_pending(mix);
    expect_counts(mix);
}

static void start_mix(struct mix* mix, uint64_t seed)
{
    radv_set_sizes(2048 * MIB, 256 * MIB, 4096 * MIB);
    radv_open(&mix->rig);
    mix->rig.create_info.preferredBlockSize = 512 * KIB; /* so that the kernel is often called */
    rig_make_allocator(&mix->rig);
    mix->random.state = seed;
    const VkBufferCreateInfo info = rig_buffer_info(1000);
    for (uint32_t i = 0; i < POOLS; ++i) {
        const MaarAllocationCreateInfo how =
            rig_how(i == 0 ? MAAR_MEMORY_USAGE_DEVICE_LOCAL : MAAR_MEMORY_USAGE_UPLOAD);
        MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
        assert_int_equal(maarChooseMemoryTypeForBuffer(mix->rig.allocator, &info, &how, &choice),
                         VK_SUCCESS);
        const MaarPoolCreateInfo pool = {
            .memoryTypeIndex = choice.memoryTypeIndex,
            .strategy = i == 0 ? MAAR_PLACEMENT_STRATEGY_BUDDY : MAAR_PLACEMENT_STRATEGY_LINEAR,
            .blockSize = 2 * MIB,
            .maxBlockCount = 6,
        };
        mix->pools[i] = rig_create_pool(&mix->rig, &pool);
    }
}

static void end_mix(struct mix* mix)
{
    for (uint32_t i = 0; i < ITEMS; ++i) {
        if (mix->items[i].kind != ITEM_NONE) {
            destroy(mix, &mix->items[i]);
        }
    }
    assert_int_equal(maarAdvanceHostTimeline(mix->rig.allocator, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(maarWaitPending(mix->rig.allocator, UINT64_MAX), VK_SUCCESS);
    for (uint32_t i = 0; i < POOLS; ++i) {
        maarDestroyPool(mix->rig.allocator, mix->pools[i]);
    }
    radv_close(&mix->rig);
}

static void random_operations_survive_random_failures(void** state)
{
    (void)state;
    static struct mix mix;
    start_mix(&mix, rig_seed(11));
    for (uint32_t step = 0; step < STEPS; ++step) {
        take_step(&mix);
        if (step % CHECK_EVERY == 0) {
            radv_expect_books_agree(&mix.rig);
        }
    }
    print_message("%d steps, %u met a failure of the driver: %u requests failed, %u succeeded\n",
                  STEPS, mix.failed_steps, mix.failures, mix.survived);
    assert_true(mix.failures >= STEPS / 100 && mix.survived >= STEPS / 200);
    end_mix(&mix);
}

const struct radv_case radv_mixed_cases[] = {
    {"random_operations_survive_random_failures", random_operations_survive_random_failures},
    {NULL, NULL},
};
