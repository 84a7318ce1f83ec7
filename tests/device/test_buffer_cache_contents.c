/*
 * Random programs with a buffer cache: uses, prefetches, locks, budgets, items that come and go,
 * uploads that fail or are cancelled, and submissions that are held back. After each use the
 * device reads the items, and each byte that it reads is compared with the source. What the cache
 * reports is compared with a simple model; on simulated devices the pages that the driver has bound
 * are counted.
 *
 * MAAR_TEST_STEPS sets the number of steps, MAAR_TEST_SEED the seed.
 */
#include <stdio.h>

#include "tests/rig/rig.h"

enum {
    ITEMS = 24,
    PLACES = 32, /* of 8 pages each */
    PLACE_PAGES = 8,
    BUDGET_PAGES = 60,
    USES = 3,    /* that are open at a time */
    MOST = 6,    /* items of a use */
    SLOTS = 4,   /* readbacks under way */
    PART = 1024, /* bytes that are read at the begin and at the end of an item */
    STEPS = 2500,
    MOST_UPLOADS = 8
};

struct item {
    bool exists;
    uint32_t place;
    VkDeviceSize size;
    uint32_t seed;
    uint32_t pins;
    uint32_t locks;
};

struct use {
    uint64_t handle; /* 0: none */
    uint32_t count;
    uint32_t items[MOST];
};

struct readback {
    uint64_t value; /* of the work; 0: unused */
    uint32_t count;
    uint32_t seeds[MOST];
    VkDeviceSize sizes[MOST];
};

static struct rig rig;
static struct item items[ITEMS];
static struct use uses[USES];
static struct readback readbacks[SLOTS];
static struct rig_random random_state;
static bool places[PLACES];
static MaarReservation reservation;
static MaarReservationInfo reserved;
static MaarBufferCache cache;
static MaarBufferCacheInfo known;
static VkDeviceSize budget;
static VkDeviceSize highest_budget; /* since the device was idle */
static VkSemaphore hold;
static uint64_t hold_value;
static VkSemaphore work;
static uint64_t work_value;
static VkCommandPool command_pool;
static VkBuffer readback;
static MaarAllocation readback_memory;
static uint32_t fill_failures; /* the next fills fail after so many */
static uint64_t compared;
static uint64_t refused;
static uint64_t waited;
static bool is_over; /* the budget was made smaller than what is pinned */
static bool manual;
static uint32_t missing; /* the item that does not exist, or UINT32_MAX */

static uint32_t below(uint32_t bound)
{
    return rig_below(&random_state, bound);
}

static uint32_t word_of(uint32_t seed, VkDeviceSize word)
{
    return (seed ^ (uint32_t)word) * 2654435761u + 12345u;
}

static void fill_bytes(uint32_t seed, VkDeviceSize offset, VkDeviceSize size, void* data)
{
    uint32_t* words = data;
    assert_int_equal(offset % 4, 0);
    for (VkDeviceSize i = 0; i < size / 4; ++i) {
        words[i] = word_of(seed, offset / 4 + i);
    }
}

static VkResult VKAPI_CALL fill(void* user, uint32_t number, void* item_user, VkDeviceSize offset,
                                VkDeviceSize size, void* data)
{
    assert_ptr_equal(user, items);
    assert_ptr_equal(item_user, &items[number]);
    assert_true(offset + size <= items[number].size);
    if (fill_failures > 0 && --fill_failures == 0) {
        return VK_ERROR_UNKNOWN;
    }
    fill_bytes(items[number].seed, offset, size, data);
    return VK_SUCCESS;
}

/* ---- the device ---- */

static void wait_for(uint64_t value)
{
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &work,
        .pValues = &value,
    };
    rig_signal(&rig, hold, ++hold_value);
    assert_int_equal(vkWaitSemaphores(rig.device, &info, 10000000000), VK_SUCCESS);
}

static void compare_part(uint32_t seed, VkDeviceSize offset, VkDeviceSize place)
{
    static uint32_t words[PART / 4];
    assert_int_equal(maarCopyFromAllocation(rig.allocator, readback_memory, place, PART, words),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < PART / 4; ++i) {
        if (words[i] != word_of(seed, offset / 4 + i)) {
            fail_msg("byte %llu of an item: 0x%08X", (unsigned long long)(offset + 4 * i),
                     words[i]);
        }
    }
    compared += PART;
}

static VkDeviceSize place_of(const struct readback* slot, uint32_t i)
{
    return ((VkDeviceSize)(slot - readbacks) * MOST + i) * 2 * PART;
}

static void finish_readback(struct readback* slot)
{
    if (slot->value > 0) {
        wait_for(slot->value);
    }
    for (uint32_t i = 0; i < slot->count; ++i) {
        compare_part(slot->seeds[i], 0, place_of(slot, i));
        compare_part(slot->seeds[i], slot->sizes[i] - PART, place_of(slot, i) + PART);
    }
    *slot = (struct readback){.value = 0};
}

static void finish_all(void)
{
    for (uint32_t i = 0; i < SLOTS; ++i) {
        finish_readback(&readbacks[i]);
    }
    /* What removed items give back is only recorded. */
    assert_int_equal(maarSubmitBinds(rig.allocator, 0, NULL, NULL), VK_SUCCESS);
    rig_signal(&rig, hold, ++hold_value);
    assert_int_equal(vkDeviceWaitIdle(rig.device), VK_SUCCESS);
    assert_int_equal(maarGetBufferCacheInfo(rig.allocator, cache, &known), VK_SUCCESS);
    highest_budget = budget > known.committedSize ? budget : known.committedSize;
}

static void record_reads(VkCommandBuffer commands, const struct use* use, struct readback* slot)
{
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    for (uint32_t i = 0; i < use->count; ++i) {
        const struct item* item = &items[use->items[i]];
        const VkDeviceSize at = item->place * PLACE_PAGES * reserved.pageSize;
        const VkBufferCopy copies[] = {
            {at, place_of(slot, i), PART},
            {at + item->size - PART, place_of(slot, i) + PART, PART},
        };
        slot->seeds[i] = item->seed;
        slot->sizes[i] = item->size;
        vkCmdCopyBuffer(commands, reserved.buffer, readback, 2, copies);
    }
    slot->count = use->count;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &barrier, 0, NULL, 0, NULL);
}

/* Submits reads of the items of a use, after a point. */
static void submit_reads(const struct use* use, const MaarPoint* ready, bool holds)
{
    const VkPipelineStageFlags stages[] = {VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                           VK_PIPELINE_STAGE_ALL_COMMANDS_BIT};
    const VkSemaphore waits[] = {ready->semaphore, hold};
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = command_pool,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    struct readback* slot = &readbacks[work_value % SLOTS];
    finish_readback(slot);
    const uint64_t value = work_value + 1;
    const uint64_t held[] = {ready->value, hold_value + 1};
    VkCommandBuffer commands = VK_NULL_HANDLE;
    assert_int_equal(vkAllocateCommandBuffers(rig.device, &info, &commands), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    record_reads(commands, use, slot);
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    const VkTimelineSemaphoreSubmitInfo timelines = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = holds ? 2 : 1,
        .pWaitSemaphoreValues = held,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timelines,
        .waitSemaphoreCount = holds ? 2 : 1,
        .pWaitSemaphores = waits,
        .pWaitDstStageMask = stages,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &work,
    };
    assert_int_equal(vkQueueSubmit(rig.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    work_value = value;
    slot->value = value;
}

/* ---- what the cache reports ---- */

static VkDeviceSize bound_bytes(void)
{
    static MaarSimulatedPages pages[PLACES * PLACE_PAGES];
    uint32_t count = PLACES * PLACE_PAGES;
    VkDeviceSize bytes = 0;
    assert_int_equal(maarSimulatedEnumeratePages(rig.device, VK_OBJECT_TYPE_BUFFER,
                                                 (uint64_t)(uintptr_t)reserved.buffer, &count,
                                                 pages),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < count; ++i) {
        bytes += pages[i].size;
    }
    return bytes;
}

static void check_cache(void)
{
    uint32_t pins = 0;
    uint32_t open = 0;
    uint32_t count = 0;
    assert_int_equal(maarGetBufferCacheInfo(rig.allocator, cache, &known), VK_SUCCESS);
    for (uint32_t i = 0; i < ITEMS; ++i) {
        if (!items[i].exists) {
            continue;
        }
        MaarBufferItemInfo info = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_ITEM_INFO};
        assert_int_equal(maarGetBufferItemInfo(rig.allocator, cache, i, &info), VK_SUCCESS);
        assert_int_equal(info.pinCount, items[i].pins);
        assert_int_equal(info.lockCount, items[i].locks);
        assert_int_equal(info.item.size, items[i].size);
        assert_true(!info.resident || info.committed);
        pins += items[i].pins;
        ++count;
    }
    for (uint32_t i = 0; i < USES; ++i) {
        open += uses[i].handle != 0;
    }
    assert_int_equal(known.pinCount, pins);
    assert_int_equal(known.useCount, open);
    assert_int_equal(known.itemCount, count);
    /* Pins keep a smaller budget from being reached, until the next use after their end. */
    is_over = is_over && known.committedSize > budget;
    assert_true(known.committedSize <= budget || is_over);
    if (rig.simulated) {
        assert_true(bound_bytes() <= highest_budget);
    }
}

/* ---- uses ---- */

/* Fills and submits all uploads that wait. May cancel one of them: returns false then. */
static bool upload_by_hand(MaarPoint* ready, bool may_cancel)
{
    MaarBufferUpload uploads[MOST_UPLOADS];
    VkResult result = VK_INCOMPLETE;
    bool is_complete = true;
    while (result == VK_INCOMPLETE) {
        uint32_t count = 1 + below(MOST_UPLOADS);
        result = maarTakeBufferUploads(rig.allocator, cache, &count, uploads);
        assert_true(result == VK_SUCCESS || result == VK_INCOMPLETE);
        for (uint32_t i = 0; i < count; ++i) {
            fill_bytes(items[uploads[i].item].seed, uploads[i].offset, uploads[i].size,
                       uploads[i].pData);
        }
        if (count > 0 && may_cancel && below(8) == 0) {
            assert_int_equal(maarCancelBufferUploads(rig.allocator, cache, 1, uploads), VK_SUCCESS);
            uploads[0] = uploads[--count];
            is_complete = false;
        }
        if (count > 0) {
            assert_int_equal(maarSubmitBufferUploads(rig.allocator, cache, count, uploads, ready),
                             VK_SUCCESS);
        } else if (result == VK_INCOMPLETE) {
            ++waited;
            finish_all();
        }
    }
    return is_complete;
}

static void drop_use(struct use* use)
{
    for (uint32_t i = 0; i < use->count; ++i) {
        --items[use->items[i]].pins;
    }
    use->handle = 0;
}

static void choose_items(struct use* use)
{
    static uint32_t circle;
    const bool in_circle = below(3) != 0;
    use->count = 0;
    for (uint32_t want = 1 + below(MOST), tries = 0; use->count < want && tries < 50; ++tries) {
        const uint32_t number = in_circle ? circle++ % ITEMS : below(ITEMS);
        bool is_new = items[number].exists;
        for (uint32_t i = 0; i < use->count; ++i) {
            is_new = is_new && use->items[i] != number;
        }
        if (is_new) {
            use->items[use->count++] = number;
        }
    }
}

static VkResult try_begin(struct use* use, MaarBufferUseInfo* info)
{
    const MaarBufferUseBeginInfo begin = {
        .sType = MAAR_STRUCTURE_TYPE_BUFFER_USE_BEGIN_INFO,
        .flags = below(2) == 0 ? MAAR_BUFFER_USE_WAIT_BIT : 0,
        .itemCount = use->count,
        .pItems = use->items,
    };
    if (begin.flags != 0) {
        rig_signal(&rig, hold, ++hold_value); /* the host cannot release what the call waits for */
    }
    return maarBeginBufferUse(rig.allocator, cache, &begin, info, &use->handle);
}

static void begin_use(struct use* use)
{
    MaarBufferUseInfo info = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_USE_INFO};
    choose_items(use);
    if (use->count == 0) {
        return;
    }
    fill_failures = !manual && below(20) == 0 ? 1 + below(6) : 0;
    VkResult result = try_begin(use, &info);
    if (result == VK_NOT_READY) {
        ++waited;
        finish_all();
        result = try_begin(use, &info);
    }
    assert_true(result == VK_SUCCESS || use->handle == 0);
    if (result == VK_ERROR_OUT_OF_POOL_MEMORY) {
        assert_true(info.missingSize > 0);
        rig_expect_message(&rig, MAAR_MESSAGE_ID_ITEMS_TOO_LARGE);
    }
    if (result != VK_SUCCESS) {
        assert_true(result == VK_ERROR_OUT_OF_POOL_MEMORY || result == VK_ERROR_UNKNOWN ||
                    result == VK_NOT_READY);
        ++refused;
        return;
    }
    assert_int_equal(info.hitCount + info.missCount, use->count);
    for (uint32_t i = 0; i < use->count; ++i) {
        ++items[use->items[i]].pins;
    }
    MaarPoint ready = info.wait;
    const bool is_complete = !manual || upload_by_hand(&ready, true);
    if (!is_complete || below(10) == 0) {
        maarCancelBufferUse(rig.allocator, cache, use->handle);
        drop_use(use);
        return;
    }
    assert_true(ready.semaphore != VK_NULL_HANDLE);
    submit_reads(use, &ready, below(3) == 0);
}

static void end_use(struct use* use)
{
    const MaarPoint point = {work, work_value};
    assert_int_equal(maarEndBufferUse(rig.allocator, cache, use->handle, 1, &point), VK_SUCCESS);
    drop_use(use);
}

/* ---- steps ---- */

static void prefetch(void)
{
    struct use wanted;
    MaarBufferUseInfo info = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_USE_INFO};
    choose_items(&wanted);
    const MaarBufferPrefetch request = {
        .sType = MAAR_STRUCTURE_TYPE_BUFFER_PREFETCH,
        .itemCount = wanted.count,
        .pItems = wanted.items,
        .distance = below(20),
        .maxSize = below(2) * 4 * reserved.pageSize,
    };
    fill_failures = !manual && below(20) == 0 ? 1 + below(6) : 0;
    const VkResult result = maarPrefetchBufferItems(rig.allocator, cache, &request, &info);
    if (result != VK_SUCCESS && (result != VK_ERROR_UNKNOWN || manual)) {
        fail_msg("a prefetch returned %d", (int)result);
    }
    if (request.maxSize > 0) {
        assert_true(info.uploadSize <= request.maxSize);
    }
    if (manual && below(2) == 0) {
        MaarPoint ready;
        (void)upload_by_hand(&ready, true);
    }
}

static void change_item(uint32_t number)
{
    struct item* item = &items[number];
    if (item->exists) {
        const VkResult result = maarRemoveBufferItems(rig.allocator, cache, 1, &number);
        if (item->pins > 0 || item->locks > 0) {
            assert_int_equal(result, VK_ERROR_VALIDATION_FAILED_EXT);
        } else if (result == VK_SUCCESS) {
            item->exists = false;
            places[item->place] = false;
        } else {
            assert_true(manual); /* it is being uploaded */
        }
        rig_forget_messages(&rig);
        return;
    }
    /* The numbers of items are those that were removed last, so only one is missing at a time. */
    uint32_t place = below(PLACES);
    while (places[place]) {
        place = (place + 1) % PLACES;
    }
    *item = (struct item){
        .exists = true,
        .place = place,
        .size = PART * (2 + below((uint32_t)(PLACE_PAGES * reserved.pageSize / PART) - 1)),
        .seed = rig_next(&random_state),
    };
    const MaarBufferItem info = {
        .offset = place * PLACE_PAGES * reserved.pageSize,
        .size = item->size,
        .priorityClass = below(8) == 0 ? 1 : 0,
        .pUserData = item,
    };
    uint32_t made = UINT32_MAX;
    assert_int_equal(maarAddBufferItems(rig.allocator, cache, 1, &info, &made), VK_SUCCESS);
    assert_int_equal(made, number);
    places[place] = true;
}

static void change_lock(uint32_t number)
{
    struct item* item = &items[number];
    uint32_t locked = 0;
    for (uint32_t i = 0; i < ITEMS; ++i) {
        locked += items[i].locks > 0;
    }
    if (!item->exists) {
        return;
    }
    if (item->locks == 0 && locked < 2) {
        assert_int_equal(maarLockBufferItems(rig.allocator, cache, 1, &number), VK_SUCCESS);
        ++item->locks;
    } else {
        const bool was_locked = item->locks > 0;
        assert_int_equal(maarUnlockBufferItems(rig.allocator, cache, 1, &number),
                         was_locked ? VK_SUCCESS : VK_ERROR_VALIDATION_FAILED_EXT);
        item->locks -= was_locked;
        rig_forget_messages(&rig);
    }
}

static void change_budget(void)
{
    budget = (BUDGET_PAGES - below(BUDGET_PAGES / 2)) * reserved.pageSize;
    highest_budget = budget > highest_budget ? budget : highest_budget;
    assert_int_equal(maarSetBufferCacheBudget(rig.allocator, cache, budget), VK_SUCCESS);
    assert_int_equal(maarGetBufferCacheInfo(rig.allocator, cache, &known), VK_SUCCESS);
    assert_true(known.committedSize <= budget || known.committedSize == known.pinnedSize);
    is_over = known.committedSize > budget;
}

static void step(void)
{
    const uint32_t what = below(100);
    struct use* use = &uses[below(USES)];
    if (what < 70) {
        if (use->handle != 0) {
            end_use(use);
        }
        begin_use(use);
    } else if (what < 80) {
        prefetch();
    } else if (what < 86) {
        change_lock(below(ITEMS));
    } else if (what < 94) {
        const uint32_t number = missing != UINT32_MAX ? missing : below(ITEMS);
        change_item(number);
        missing = items[number].exists ? UINT32_MAX : number;
    } else if (what < 97) {
        change_budget();
    } else {
        finish_all();
    }
    if (what >= 97 && rig.simulated) {
        check_cache();
        assert_int_equal(bound_bytes(), known.committedSize);
    }
    check_cache();
}

/* ---- a program ---- */

static void open_cache(void)
{
    VkBufferCreateInfo buffer = rig_buffer_info(PLACES * PLACE_PAGES * 64 * KIB);
    buffer.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                   VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    const MaarReservationCreateInfo reserve = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .flags = MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT,
        .pBufferInfo = &buffer,
    };
    assert_int_equal(maarCreateReservation(rig.allocator, &reserve, &reservation), VK_SUCCESS);
    reserved.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO;
    assert_int_equal(maarGetReservationInfo(rig.allocator, reservation, &reserved), VK_SUCCESS);
    budget = BUDGET_PAGES * reserved.pageSize;
    highest_budget = budget;
    MaarBufferCacheCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_BUFFER_CACHE_CREATE_INFO,
        .reservation = reservation,
        .budget = budget,
        .stagingSize = 20 * reserved.pageSize,
        .uploadSize = 3 * reserved.pageSize,
        .pfnFill = manual ? NULL : fill,
        .pUserData = items,
    };
    while (rig.create_info.pQueues[info.queueIndex].queue != rig.queue) {
        ++info.queueIndex;
    }
    assert_int_equal(maarCreateBufferCache(rig.allocator, &info, &cache), VK_SUCCESS);
}

static void open_program(uint32_t variant)
{
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = rig.recommendation.mainQueueFamily,
    };
    VkBufferCreateInfo info = rig_buffer_info(SLOTS * MOST * 2 * PART);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    info.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    memset(items, 0, sizeof items);
    memset(uses, 0, sizeof uses);
    memset(readbacks, 0, sizeof readbacks);
    memset(places, 0, sizeof places);
    random_state.state = rig_seed(71) + variant;
    known = (MaarBufferCacheInfo){.sType = MAAR_STRUCTURE_TYPE_BUFFER_CACHE_INFO};
    is_over = false;
    hold_value = 0;
    missing = UINT32_MAX;
    work_value = 0;
    hold = rig_create_timeline(&rig, 0);
    work = rig_create_timeline(&rig, 0);
    assert_int_equal(vkCreateCommandPool(rig.device, &pool, NULL, &command_pool), VK_SUCCESS);
    assert_int_equal(maarCreateBuffer(rig.allocator, &info, &how, &readback, &readback_memory),
                     VK_SUCCESS);
    open_cache();
    for (uint32_t i = 0; i < ITEMS; ++i) {
        change_item(i);
    }
}

static void close_program(void)
{
    for (uint32_t i = 0; i < USES; ++i) {
        if (uses[i].handle != 0) {
            end_use(&uses[i]);
        }
    }
    finish_all();
    check_cache();
    assert_int_equal(known.pinCount, 0);
    printf("%s: compared %llu bytes, %llu uses refused, %llu waits, %llu hits, %llu misses, "
           "%llu evictions, %llu shortages\n",
           manual ? "by hand" : "filled", (unsigned long long)compared, (unsigned long long)refused,
           (unsigned long long)waited, (unsigned long long)known.hitCount,
           (unsigned long long)known.missCount, (unsigned long long)known.evictionCount,
           (unsigned long long)known.shortageCount);
    assert_true(compared > 0 && known.evictionCount > 0 && known.hitCount > 0);
    maarDestroyBufferCache(rig.allocator, cache);
    maarDestroyReservation(rig.allocator, reservation);
    maarDestroyBuffer(rig.allocator, readback, readback_memory);
    vkDestroyCommandPool(rig.device, command_pool, NULL);
    vkDestroySemaphore(rig.device, work, NULL);
    vkDestroySemaphore(rig.device, hold, NULL);
}

static void play(uint32_t variant)
{
    const char* wanted = getenv("MAAR_TEST_STEPS");
    const uint32_t steps = wanted != NULL ? (uint32_t)strtoul(wanted, NULL, 10) : STEPS;
    manual = variant % 2 == 1;
    open_program(variant);
    for (uint32_t i = 0; i < steps; ++i) {
        step();
        if (i % 64 == 0) {
            rig_check(&rig);
        }
    }
    close_program();
}

static int open_rig(void** state)
{
    return rig_setup_driver(&rig, state);
}

static void items_are_read_as_filled(void** state)
{
    rig_need(state, !rig_is_without_driver(), "drivers have entries of their own");
    rig_need(state, rig_executes(), "commands do not execute on this driver");
    play(0);
    play(1);
}

static void items_are_read_as_filled_on_simulated_devices(void** state)
{
    static const uint64_t orders[] = {MAAR_SIMULATED_ORDER_OLDEST_FIRST,
                                      MAAR_SIMULATED_ORDER_NEWEST_FIRST, 1, 2, 3};
    (void)state;
    rig_need_simulated_devices();
    for (uint32_t i = 0; i < RIG_VENDORS; ++i) {
        const struct rig_setup setup = {
            .profile = rig_profile_file(rig_vendors[i]),
            .flags = MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_CONTENTS_BIT |
                     MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT | MAAR_SIMULATED_FORGET_UNBOUND_BIT,
            .paging = true,
        };
        rig_open(&rig, &setup);
        rig.create_info.flags |= MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT;
        maarSimulatedSetOrder(rig.physical, orders[i]);
        rig_make_allocator(&rig);
        play(i);
        rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(items_are_read_as_filled, open_rig, rig_teardown),
        cmocka_unit_test(items_are_read_as_filled_on_simulated_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
