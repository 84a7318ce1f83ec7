/*
 * Random operations on an allocator, each checked against the reference.
 */
#include "tests/model/allocator_model.h"

/* ---- the reference ---- */

static bool has_passed(const struct model* model, const struct model_item* item)
{
    uint64_t now =
        item->point.semaphore != VK_NULL_HANDLE ? model->timeline_value : model->host_value;
    return now >= item->point.value;
}

/* Holds its bytes for certain: alive, or waiting for a point that has not passed. */
static bool holds_bytes(const struct model* model, const struct model_item* item)
{
    return item->state == MODEL_LIVE || (item->state == MODEL_PENDING && !has_passed(model, item));
}

static struct model_item* free_item(struct model* model)
{
    for (uint32_t i = 0; i < MODEL_ITEMS; ++i) {
        if (model->items[i].state == MODEL_NONE) {
            return &model->items[i];
        }
    }
    return NULL;
}

static struct model_item* random_live(struct model* model)
{
    uint32_t start = rig_below(&model->random, MODEL_ITEMS);
    for (uint32_t i = 0; i < MODEL_ITEMS; ++i) {
        struct model_item* item = &model->items[(start + i) % MODEL_ITEMS];
        if (item->state == MODEL_LIVE) {
            return item;
        }
    }
    return NULL;
}

static void expect_no_overlap(const struct model* model, const struct model_item* made)
{
    for (uint32_t i = 0; i < MODEL_ITEMS; ++i) {
        const struct model_item* other = &model->items[i];
        if (other == made || !holds_bytes(model, other) || other->memory != made->memory) {
            continue;
        }
        assert_true(made->offset + made->size <= other->offset ||
                    other->offset + other->size <= made->offset);
    }
}

/* ---- bytes ---- */

static void write_bytes(struct model* model, struct model_item* item)
{
    MaarAllocationInfo info = rig_info(&model->rig, item->allocation);
    item->fill = 0;
    if ((info.propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) == 0) {
        return;
    }
    static unsigned char bytes[4096];
    item->fill = (unsigned char)(1 + rig_below(&model->random, 255));
    memset(bytes, item->fill, sizeof bytes);
    VkDeviceSize length = item->asked < sizeof bytes ? item->asked : sizeof bytes;
    assert_int_equal(maarCopyToAllocation(model->rig.allocator, item->allocation, 0, length, bytes),
                     VK_SUCCESS);
    assert_int_equal(maarCopyToAllocation(model->rig.allocator, item->allocation,
                                          item->asked - length, length, bytes),
                     VK_SUCCESS);
}

static void verify_bytes(struct model* model, const struct model_item* item)
{
    if (item->fill == 0) {
        return;
    }
    static unsigned char bytes[4096];
    VkDeviceSize length = item->asked < sizeof bytes ? item->asked : sizeof bytes;
    for (uint32_t end = 0; end < 2; ++end) {
        assert_int_equal(maarCopyFromAllocation(model->rig.allocator, item->allocation,
                                                end == 0 ? 0 : item->asked - length, length, bytes),
                         VK_SUCCESS);
        for (VkDeviceSize i = 0; i < length; ++i) {
            assert_int_equal(bytes[i], item->fill);
        }
    }
}

/* ---- operations ---- */

static VkDeviceSize random_size(struct model* model)
{
    uint32_t bits = 1 + rig_below(&model->random, 19);
    return 1 + (rig_next(&model->random) & ((1u << bits) - 1u));
}

static void random_how(struct model* model, MaarAllocationCreateInfo* how, uint32_t* pool)
{
    *how = rig_how((MaarMemoryUsage)rig_below(&model->random, 5));
    *pool = rig_below(&model->random, MODEL_POOLS * 3);
    *pool = *pool < MODEL_POOLS && model->pools[*pool] != VK_NULL_HANDLE ? *pool + 1 : 0;
    if (*pool != 0) {
        how->pool = model->pools[*pool - 1];
    }
    if (rig_below(&model->random, 8) == 0) {
        how->dedicated = (MaarDedicated)rig_below(&model->random, 4);
    }
    if (rig_below(&model->random, 6) == 0) {
        how->minAlignment = rig_below(&model->random, 5000);
    }
    if (rig_below(&model->random, 4) == 0) {
        how->flags |= MAAR_ALLOCATION_CREATE_UPPER_BIT;
    }
    if (rig_below(&model->random, 6) == 0) {
        how->flags |= rig_below(&model->random, 2) == 0 ? MAAR_ALLOCATION_CREATE_LOWEST_BIT
                                                        : MAAR_ALLOCATION_CREATE_TIGHTEST_BIT;
    }
    bool visible = how->usage >= MAAR_MEMORY_USAGE_UPLOAD &&
                   how->usage <= MAAR_MEMORY_USAGE_DEVICE_UPLOAD && *pool == 0;
    if (visible && rig_below(&model->random, 3) == 0) {
        how->flags |= MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    }
    how->pName = rig_below(&model->random, 3) == 0 ? "item" : NULL;
}

static VkResult make_one(struct model* model, struct model_item* item,
                         const MaarAllocationCreateInfo* how)
{
    MaarAllocator allocator = model->rig.allocator;
    switch (rig_below(&model->random, 3)) {
    case 0: {
        const VkBufferCreateInfo info = rig_buffer_info(random_size(model));
        item->asked = info.size;
        return maarCreateBuffer(allocator, &info, how, &item->buffer, &item->allocation);
    }
    case 1: {
        const VkImageCreateInfo info =
            rig_image_info(1 + rig_below(&model->random, 128), 1 + rig_below(&model->random, 128));
        item->asked = 1;
        return maarCreateImage(allocator, &info, how, &item->image, &item->allocation);
    }
    default: {
        MaarMemoryRequest request =
            rig_request(random_size(model), (VkDeviceSize)1 << rig_below(&model->random, 13),
                        UINT32_MAX, (MaarResourceKind)rig_below(&model->random, 3));
        item->asked = request.requirements.size;
        return maarAllocateMemory(allocator, &request, how, &item->allocation);
    }
    }
}

/* Now and then something fails under a request: it must be met or refused, never half made. */
static VkResult make_in_trouble(struct model* model, struct model_item* item,
                                const MaarAllocationCreateInfo* how)
{
    uint32_t trouble = rig_below(&model->random, 16);
    if (trouble == 0) {
        rig_set_fault(&model->rig, NULL, 1 + rig_below(&model->random, 4), 1,
                      rig_below(&model->random, 2) == 0 ? VK_ERROR_OUT_OF_DEVICE_MEMORY
                                                        : VK_ERROR_OUT_OF_HOST_MEMORY);
    } else if (trouble == 1) {
        atomic_store(&model->rig.host.fail_at,
                     atomic_load(&model->rig.host.calls) + 1 + rig_below(&model->random, 4));
    }
    VkResult result = make_one(model, item, how);
    rig_clear_faults(&model->rig);
    atomic_store(&model->rig.host.fail_at, 0);
    return result;
}

static void do_make(struct model* model)
{
    struct model_item* item = free_item(model);
    MaarAllocationCreateInfo how;
    uint32_t pool = 0;
    if (item == NULL) {
        return;
    }
    memset(item, 0, sizeof *item);
    random_how(model, &how, &pool);
    VkResult result = make_in_trouble(model, item, &how);
    if (result != VK_SUCCESS) {
        assert_true(item->allocation == VK_NULL_HANDLE && item->buffer == VK_NULL_HANDLE &&
                    item->image == VK_NULL_HANDLE);
        assert_true(result != VK_ERROR_UNKNOWN && result != VK_ERROR_DEVICE_LOST);
        ++model->unmet;
        return;
    }
    MaarAllocationInfo info = rig_info(&model->rig, item->allocation);
    item->state = MODEL_LIVE;
    item->pool = pool;
    item->memory = info.memory;
    item->offset = info.offset;
    item->size = info.size;
    item->mapped_for_life = (how.flags & MAAR_ALLOCATION_CREATE_MAPPED_BIT) != 0;
    assert_true(info.size >= item->asked);
    assert_true(info.offset + info.size <= info.blockSize);
    assert_true(how.minAlignment == 0 || info.offset % how.minAlignment == 0);
    assert_true(info.pool == how.pool);
    assert_true((info.pMappedData != NULL) == item->mapped_for_life);
    expect_no_overlap(model, item);
    write_bytes(model, item);
}

static void end_item(struct model* model, struct model_item* item)
{
    MaarAllocator allocator = model->rig.allocator;
    verify_bytes(model, item);
    if (item->buffer != VK_NULL_HANDLE) {
        maarDestroyBuffer(allocator, item->buffer, item->allocation);
    } else if (item->image != VK_NULL_HANDLE) {
        maarDestroyImage(allocator, item->image, item->allocation);
    } else {
        maarFreeMemory(allocator, item->allocation);
    }
    item->state = MODEL_NONE;
}

static void do_free(struct model* model)
{
    struct model_item* item = random_live(model);
    if (item != NULL) {
        end_item(model, item);
    }
}

static void do_free_later(struct model* model)
{
    MaarAllocator allocator = model->rig.allocator;
    struct model_item* item = random_live(model);
    if (item == NULL) {
        return;
    }
    verify_bytes(model, item);
    bool host = rig_below(&model->random, 2) == 0;
    item->point.semaphore = host ? VK_NULL_HANDLE : model->timeline;
    item->point.value =
        (host ? model->host_value : model->timeline_value) + rig_below(&model->random, 4);
    if (item->buffer != VK_NULL_HANDLE) {
        assert_int_equal(
            maarDestroyBufferAfter(allocator, item->buffer, item->allocation, 1, &item->point),
            VK_SUCCESS);
    } else if (item->image != VK_NULL_HANDLE) {
        assert_int_equal(
            maarDestroyImageAfter(allocator, item->image, item->allocation, 1, &item->point),
            VK_SUCCESS);
    } else {
        assert_int_equal(maarFreeMemoryAfter(allocator, item->allocation, 1, &item->point),
                         VK_SUCCESS);
    }
    item->state = MODEL_PENDING;
}

static void do_collect(struct model* model)
{
    assert_int_equal(maarCollect(model->rig.allocator, NULL), VK_SUCCESS);
    uint32_t pending = 0;
    VkDeviceSize bytes = 0;
    for (uint32_t i = 0; i < MODEL_ITEMS; ++i) {
        struct model_item* item = &model->items[i];
        if (item->state == MODEL_PENDING && has_passed(model, item)) {
            item->state = MODEL_NONE;
        } else if (item->state == MODEL_PENDING) {
            ++pending;
            bytes += item->size;
        }
    }
    MaarStatistics statistics = rig_statistics(&model->rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.pendingCount, pending);
    assert_true(statistics.pendingBytes == bytes);
}

static void do_advance(struct model* model)
{
    if (rig_below(&model->random, 2) == 0) {
        ++model->host_value;
        assert_int_equal(maarAdvanceHostTimeline(model->rig.allocator, model->host_value),
                         VK_SUCCESS);
    } else {
        ++model->timeline_value;
        rig_signal(&model->rig, model->timeline, model->timeline_value);
    }
}

static void do_map(struct model* model)
{
    struct model_item* item = random_live(model);
    if (item == NULL || item->fill == 0) {
        return;
    }
    void* data = NULL;
    if (item->map_count > 0 && rig_below(&model->random, 2) == 0) {
        maarUnmapMemory(model->rig.allocator, item->allocation);
        --item->map_count;
    } else {
        assert_int_equal(maarMapMemory(model->rig.allocator, item->allocation, &data), VK_SUCCESS);
        ++item->map_count;
    }
    MaarAllocationInfo info = rig_info(&model->rig, item->allocation);
    assert_true((info.pMappedData != NULL) == (item->map_count > 0 || item->mapped_for_life));
}

static void do_pool(struct model* model)
{
    uint32_t number = rig_below(&model->random, MODEL_POOLS);
    if (model->pools[number] != VK_NULL_HANDLE) {
        for (uint32_t i = 0; i < MODEL_ITEMS; ++i) {
            if (model->items[i].state != MODEL_NONE && model->items[i].pool == number + 1) {
                return;
            }
        }
        maarDestroyPool(model->rig.allocator, model->pools[number]);
        model->pools[number] = VK_NULL_HANDLE;
        return;
    }
    MaarAllocatorInfo known = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    assert_int_equal(maarGetAllocatorInfo(model->rig.allocator, &known), VK_SUCCESS);
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    const VkBufferCreateInfo buffer = rig_buffer_info(1);
    assert_int_equal(maarChooseMemoryTypeForBuffer(model->rig.allocator, &buffer, NULL, &choice),
                     VK_SUCCESS);
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = choice.memoryTypeIndex,
        .strategy = (MaarPlacementStrategy)rig_below(&model->random, 3),
        .blockSize = rig_below(&model->random, 2) * (300000 + rig_below(&model->random, 500000)),
        .maxBlockCount = rig_below(&model->random, 2) * 4,
        .minAlignment = rig_below(&model->random, 2) * 96,
    };
    VkResult result = maarCreatePool(model->rig.allocator, &info, &model->pools[number]);
    assert_true((result == VK_SUCCESS) == (model->pools[number] != VK_NULL_HANDLE));
}

static void do_trim(struct model* model)
{
    VkDeviceSize before = rig_statistics(&model->rig, VK_NULL_HANDLE).blockBytes;
    VkDeviceSize released = 0;
    assert_int_equal(maarTrim(model->rig.allocator, VK_NULL_HANDLE, &released), VK_SUCCESS);
    assert_true(rig_statistics(&model->rig, VK_NULL_HANDLE).blockBytes <= before - released);
}

/* ---- checks ---- */

static void check_all(struct model* model)
{
    uint32_t live = 0;
    uint32_t waiting = 0;
    uint32_t pending = 0;
    VkDeviceSize bytes = 0;
    for (uint32_t i = 0; i < MODEL_ITEMS; ++i) {
        const struct model_item* item = &model->items[i];
        if (item->state == MODEL_LIVE) {
            ++live;
            bytes += item->size;
        }
        pending += item->state == MODEL_PENDING;
        waiting += item->state == MODEL_PENDING && !has_passed(model, item);
    }
    rig_check(&model->rig);
    MaarStatistics statistics = rig_statistics(&model->rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.allocationCount, live);
    assert_true(statistics.allocationBytes == bytes);
    assert_true(statistics.pendingCount >= waiting && statistics.pendingCount <= pending);
    MaarSimulatedCounters counters = rig_counters(&model->rig);
    assert_int_equal(statistics.blockCount, counters.liveCount[MAAR_SIMULATED_OBJECT_MEMORY]);
    VkDeviceSize held = 0;
    for (uint32_t i = 0; i < VK_MAX_MEMORY_HEAPS; ++i) {
        held += counters.heapLive[i];
    }
    assert_true(statistics.blockBytes == held);
    assert_int_equal(counters.violationCount, 0);
}

static void step(struct model* model)
{
    uint32_t dice = rig_below(&model->random, 100);
    if (dice < 45) {
        do_make(model);
    } else if (dice < 63) {
        do_free(model);
    } else if (dice < 75) {
        do_free_later(model);
    } else if (dice < 80) {
        do_advance(model);
    } else if (dice < 84) {
        do_collect(model);
    } else if (dice < 93) {
        do_map(model);
    } else if (dice < 97) {
        do_pool(model);
    } else {
        do_trim(model);
    }
}

static void take_down(struct model* model)
{
    for (uint32_t i = 0; i < MODEL_ITEMS; ++i) {
        if (model->items[i].state == MODEL_LIVE) {
            end_item(model, &model->items[i]);
        }
    }
    model->host_value += 10;
    model->timeline_value += 10;
    assert_int_equal(maarAdvanceHostTimeline(model->rig.allocator, model->host_value), VK_SUCCESS);
    rig_signal(&model->rig, model->timeline, model->timeline_value);
    do_collect(model);
    for (uint32_t i = 0; i < MODEL_POOLS; ++i) {
        maarDestroyPool(model->rig.allocator, model->pools[i]);
    }
    check_all(model);
    assert_int_equal(maarTrim(model->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(rig_statistics(&model->rig, VK_NULL_HANDLE).blockCount, 0);
    vkDestroySemaphore(model->rig.device, model->timeline, NULL);
}

void model_run(struct model* model, const MaarSimulatedProfile* profile,
               MaarPlacementStrategy strategy, uint64_t seed, uint32_t steps)
{
    const struct rig_setup setup = {.profile = profile, .count_host = true};
    memset(model, 0, sizeof *model);
    rig_open(&model->rig, &setup);
    model->rig.create_info.strategy = strategy;
    model->rig.create_info.flags = MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT;
    model->rig.create_info.preferredBlockSize = 4 * MIB; /* many blocks, many meetings */
    rig_make_allocator(&model->rig);
    model->random.state = seed;
    model->timeline = rig_create_timeline(&model->rig, 0);
    for (uint32_t i = 0; i < steps; ++i) {
        step(model);
        check_all(model);
    }
    take_down(model);
    rig_close(&model->rig);
}
