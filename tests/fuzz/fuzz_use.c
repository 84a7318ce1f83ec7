/*
 * What is done with what lives: time, pools, mappings, questions, dumps, wrong arguments, faults.
 */
#include "tests/fuzz/fuzz_world.h"

#include <jansson.h>

/* ---- time ---- */

VkResult world_signal(struct fuzz_world* world, uint64_t value)
{
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
        .semaphore = world->timeline,
        .value = value,
    };
    const VkResult result = vkSignalSemaphore != NULL
                                ? vkSignalSemaphore(world->rig.device, &info)
                                : vkSignalSemaphoreKHR(world->rig.device, &info);
    world->timeline_value = result == VK_SUCCESS ? value : world->timeline_value;
    return result;
}

static void advance(struct fuzz_world* world)
{
    const uint8_t way = fuzz_byte(&world->input);
    if ((way & 1) != 0 || world->timeline == VK_NULL_HANDLE) {
        const uint64_t value = world->host_value + (way >> 1) % 4;
        fuzz_require(maarAdvanceHostTimeline(world->rig.allocator, value) == VK_SUCCESS);
        world->host_value = value;
        if (value != 0) {
            fuzz_require(maarAdvanceHostTimeline(world->rig.allocator, value - 1) ==
                         VK_ERROR_VALIDATION_FAILED_EXT);
        }
        return;
    }
    (void)world_signal(world, world->timeline_value + 1 + (way >> 1) % 4);
}

static bool was_hit(const struct fuzz_world* world)
{
    return rig_counters((struct rig*)(uintptr_t)&world->rig).faultCount != 0 ||
           world->host.struck != 0;
}

static void collect(struct fuzz_world* world)
{
    uint32_t freed = 0;
    const uint8_t way = fuzz_byte(&world->input);
    const VkResult result = (way & 1) != 0 ? maarWaitPending(world->rig.allocator, way >> 7)
                                           : maarCollect(world->rig.allocator, &freed);
    fuzz_require(freed <= WORLD_ITEMS);
    fuzz_require(result >= 0 || was_hit(world));
    for (uint32_t i = 0; i < WORLD_ITEMS && result == VK_SUCCESS; ++i) {
        struct fuzz_item* item = &world->items[i];
        if (item->state == ITEM_PENDING && world_has_passed(world, item)) {
            item->state = ITEM_NONE;
        }
    }
}

static void trim(struct fuzz_world* world)
{
    const uint8_t way = fuzz_byte(&world->input);
    const VkDeviceSize before = rig_statistics(&world->rig, VK_NULL_HANDLE).blockBytes;
    VkDeviceSize released = 0;
    MaarPool pool = (way & 1) != 0 ? world->pools[(way >> 1) % WORLD_POOLS] : VK_NULL_HANDLE;
    fuzz_require(maarTrim(world->rig.allocator, pool, &released) == VK_SUCCESS);
    fuzz_require(released <= before);
    fuzz_require(rig_statistics(&world->rig, VK_NULL_HANDLE).blockBytes <= before - released);
}

/* ---- pools ---- */

static void create_pool(struct fuzz_world* world, MaarPool* pool)
{
    struct fuzz_input* input = &world->input;
    const uint8_t way = fuzz_byte(input);
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = (uint32_t)fuzz_below(input, world->profile.typeCount),
        .strategy = (MaarPlacementStrategy)fuzz_below(input, 3),
        .blockSize = (way & 1) != 0 ? fuzz_scaled(input, 24) : 0,
        .minBlockCount = (way & 6) == 6 ? (uint32_t)fuzz_below(input, 3) : 0,
        .maxBlockCount = (way & 0x18) == 0x18 ? (uint32_t)fuzz_below(input, 5) : 0,
        .minAlignment = (way & 0x20) != 0 ? fuzz_scaled(input, 16) : 0,
        .priority = (way & 0x40) != 0 ? 0.75F : 0.0F,
        .retainedEmptySize = (way & 0x80) != 0 ? UINT64_MAX : 0,
        .singleKind = (way & 0xC0) == 0xC0,
        .pName = (way & 2) != 0 ? "a pool" : NULL,
    };
    const VkResult result = maarCreatePool(world->rig.allocator, &info, pool);
    fuzz_require((result == VK_SUCCESS) == (*pool != VK_NULL_HANDLE));
    if (result == VK_SUCCESS) {
        const MaarStatistics statistics = rig_statistics(&world->rig, *pool);
        fuzz_require(statistics.blockCount == info.minBlockCount);
        fuzz_require(statistics.allocationCount == 0 && statistics.pendingCount == 0);
    }
}

/* Destroys a pool unless that would wait, or take memory from under an object. */
static void destroy_pool(struct fuzz_world* world, MaarPool* pool)
{
    for (uint32_t i = 0; i < WORLD_ITEMS; ++i) {
        const struct fuzz_item* item = &world->items[i];
        const bool bound = item->what != ITEM_MEMORY || item->alias_buffer != VK_NULL_HANDLE ||
                           item->alias_image != VK_NULL_HANDLE;
        if (item->state != ITEM_NONE && item->what != ITEM_SLICE && item->pool == *pool &&
            (item->state == ITEM_LIVE ? bound : !world_has_passed(world, item))) {
            return;
        }
    }
    /* A semaphore that cannot be read would be waited for. */
    world_forget_faults(world);
    maarDestroyPool(world->rig.allocator, *pool);
    for (uint32_t i = 0; i < WORLD_ITEMS; ++i) {
        struct fuzz_item* item = &world->items[i];
        if (item->state != ITEM_NONE && item->what != ITEM_SLICE && item->pool == *pool) {
            world_make_stale(world, item->allocation);
            item->state = ITEM_NONE;
        }
    }
    *pool = VK_NULL_HANDLE;
}

void world_pool(struct fuzz_world* world)
{
    MaarPool* pool = &world->pools[fuzz_below(&world->input, WORLD_POOLS)];
    if (*pool == VK_NULL_HANDLE) {
        create_pool(world, pool);
    } else if ((fuzz_byte(&world->input) & 3) == 0) {
        (void)maarSetPoolPriority(world->rig.allocator, *pool, 0.25F);
    } else {
        destroy_pool(world, pool);
    }
}

/* ---- the host's view ---- */

static void map(struct fuzz_world* world)
{
    struct fuzz_item* item = world_pick(world, false);
    const uint8_t way = fuzz_byte(&world->input);
    void* data = NULL;
    if (item == NULL) {
        return;
    }
    if ((way & 1) != 0) {
        maarUnmapMemory(world->rig.allocator, item->allocation); /* perhaps once too often */
        item->map_count -= item->map_count != 0 ? 1 : 0;
    } else {
        const VkResult result = maarMapMemory(world->rig.allocator, item->allocation, &data);
        const bool visible = (item->properties & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
        fuzz_require((result == VK_SUCCESS) == (data != NULL));
        fuzz_require(visible ? result == VK_SUCCESS || was_hit(world)
                             : result == VK_ERROR_MEMORY_MAP_FAILED);
        item->map_count += result == VK_SUCCESS ? 1 : 0;
        if (data != NULL && item->asked != 0) {
            unsigned char* bytes = data;
            bytes[0] = item->fill != 0 ? item->fill : 1;
            bytes[item->asked - 1] = bytes[0];
            fuzz_require(maarGetMappedData(world->rig.allocator, item->allocation) == data);
        }
    }
    const MaarAllocationInfo info = rig_info(&world->rig, item->allocation);
    fuzz_require((info.pMappedData != NULL) == (item->map_count != 0 || item->mapped_for_life));
}

static void flush(struct fuzz_world* world)
{
    struct fuzz_input* input = &world->input;
    struct fuzz_item* item = world_pick(world, false);
    const uint8_t way = fuzz_byte(input);
    const VkDeviceSize offset = fuzz_scaled(input, (way & 1) != 0 ? 64 : 12);
    const VkDeviceSize size = (way & 2) != 0 ? VK_WHOLE_SIZE : fuzz_scaled(input, way >> 2);
    if (item == NULL) {
        return;
    }
    const bool mapped = item->map_count != 0 || item->mapped_for_life;
    const bool outside =
        offset > item->size || (size != VK_WHOLE_SIZE && size > item->size - offset);
    const VkResult result =
        (way & 4) != 0
            ? maarFlushAllocation(world->rig.allocator, item->allocation, offset, size)
            : maarInvalidateAllocations(world->rig.allocator, 1, &item->allocation, &offset, &size);
    fuzz_require(!outside || result == VK_ERROR_VALIDATION_FAILED_EXT);
    fuzz_require(outside || !mapped || size == 0 || offset == item->size || result == VK_SUCCESS ||
                 was_hit(world));
}

static void rename_item(struct fuzz_world* world)
{
    struct fuzz_item* item = world_pick(world, false);
    char name[200];
    (void)fuzz_text(&world->input, name, sizeof name);
    if (item == NULL) {
        return;
    }
    const bool none = name[0] == '-';
    const VkResult result =
        maarSetAllocationName(world->rig.allocator, item->allocation, none ? NULL : name);
    fuzz_require(result == VK_SUCCESS || was_hit(world));
    fuzz_require(maarSetAllocationUserData(world->rig.allocator, item->allocation, name) ==
                 VK_SUCCESS);
    const MaarAllocationInfo info = rig_info(&world->rig, item->allocation);
    fuzz_require(info.pUserData == name);
    if (result == VK_SUCCESS) {
        fuzz_require((info.pName == NULL) == none);
        fuzz_require(none || strcmp(info.pName, name) == 0);
    }
    (void)maarSetAllocationPriority(world->rig.allocator, item->allocation, 0.5F);
}

/* ---- looking ---- */

static void add_up(struct fuzz_world* world)
{
    const MaarStatistics all = rig_statistics(&world->rig, VK_NULL_HANDLE);
    MaarStatistics sum = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    for (uint32_t i = 0; i < world->profile.typeCount; ++i) {
        MaarStatistics one = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
        fuzz_require(maarGetMemoryTypeStatistics(world->rig.allocator, i, &one) == VK_SUCCESS);
        sum.blockCount += one.blockCount;
        sum.blockBytes += one.blockBytes;
        sum.allocationCount += one.allocationCount;
        sum.allocationBytes += one.allocationBytes;
        sum.pendingBytes += one.pendingBytes;
        sum.freeBytes += one.freeBytes;
    }
    fuzz_require(sum.blockCount == all.blockCount && sum.blockBytes == all.blockBytes);
    fuzz_require(sum.allocationCount == all.allocationCount);
    fuzz_require(sum.allocationBytes == all.allocationBytes);
    fuzz_require(sum.pendingBytes == all.pendingBytes && sum.freeBytes == all.freeBytes);
    fuzz_require(all.peakBlockBytes >= all.blockBytes && all.peakBlockCount >= all.blockCount);
    fuzz_require(all.peakAllocationBytes >= all.allocationBytes);
    MaarDetailedStatistics detailed = {.sType = MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS};
    fuzz_require(maarGetDetailedStatistics(world->rig.allocator, VK_NULL_HANDLE, &detailed) ==
                 VK_SUCCESS);
    fuzz_require(detailed.fragmentation >= 0.0 && detailed.fragmentation <= 1.0);
    fuzz_require(detailed.freeRangeSizeMax <= all.freeBytes);
    maarResetPeaks(world->rig.allocator);
    for (uint32_t i = 0; i < world->profile.heapCount; ++i) {
        const MaarHeapBudget budget = rig_budget(&world->rig, i);
        fuzz_require(budget.heapIndex == i && budget.size == world->profile.heaps[i].size);
        fuzz_require(budget.limit == world->limits[i]);
    }
}

static void list_ranges(struct fuzz_world* world, const MaarBlockInfo* block)
{
    static MaarBlockRange ranges[256];
    uint32_t count = 256;
    VkDeviceSize cursor = 0;
    VkDeviceSize live = 0;
    const VkResult result =
        maarEnumerateBlockRanges(world->rig.allocator, block->blockId, &count, ranges);
    fuzz_require(result == VK_SUCCESS || result == VK_INCOMPLETE);
    for (uint32_t i = 0; i < count; ++i) {
        fuzz_require(ranges[i].offset == cursor && ranges[i].size != 0);
        cursor += ranges[i].size;
        if (ranges[i].state == MAAR_BLOCK_RANGE_STATE_LIVE) {
            const MaarAllocationInfo info = rig_info(&world->rig, ranges[i].allocation);
            fuzz_require(info.blockId == block->blockId && info.offset == ranges[i].offset);
            live += info.size;
        }
    }
    fuzz_require(result == VK_INCOMPLETE || cursor == block->size);
    fuzz_require(result == VK_INCOMPLETE || live == block->allocationBytes);
}

static void list_blocks(struct fuzz_world* world)
{
    MaarBlockInfo blocks[12];
    uint32_t all = 0;
    uint32_t count = 12;
    for (uint32_t i = 0; i < count; ++i) {
        blocks[i] = (MaarBlockInfo){.sType = MAAR_STRUCTURE_TYPE_BLOCK_INFO};
    }
    MaarPool pool = world->pools[fuzz_below(&world->input, WORLD_POOLS)];
    fuzz_require(maarEnumerateBlocks(world->rig.allocator, pool, &all, NULL) == VK_SUCCESS);
    fuzz_require(all == rig_statistics(&world->rig, pool).blockCount);
    const VkResult result = maarEnumerateBlocks(world->rig.allocator, pool, &count, blocks);
    fuzz_require(result == (all > 12 ? VK_INCOMPLETE : VK_SUCCESS));
    fuzz_require(count == (all > 12 ? 12 : all));
    for (uint32_t i = 0; i < count; ++i) {
        fuzz_require(pool == VK_NULL_HANDLE || blocks[i].pool == pool);
        list_ranges(world, &blocks[i]);
    }
}

static void dump(struct fuzz_world* world)
{
    const uint8_t way = fuzz_byte(&world->input);
    const MaarDumpInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DUMP_INFO,
        .format = (way & 1) != 0 ? MAAR_DUMP_FORMAT_VMA : MAAR_DUMP_FORMAT_MAAR,
        .detailed = (way & 2) != 0,
    };
    size_t size = 0;
    VkResult result = maarWriteDump(world->rig.allocator, &info, &size, NULL);
    fuzz_require(result == VK_SUCCESS || was_hit(world));
    char* text = malloc(size + 1);
    fuzz_require(text != NULL);
    result =
        result == VK_SUCCESS ? maarWriteDump(world->rig.allocator, &info, &size, text) : result;
    fuzz_require(result == VK_SUCCESS || was_hit(world));
    if (result == VK_SUCCESS) {
        json_t* root = json_loads(text, JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES, NULL);
        fuzz_require(root != NULL);
        json_decref(root);
    }
    free(text);
}

static void choose(struct fuzz_world* world)
{
    struct fuzz_input* input = &world->input;
    MaarMemoryTypeReason reason = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_REASON};
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE,
                                   .pNext = &reason};
    MaarAllocationCreateInfo how = rig_how((MaarMemoryUsage)fuzz_below(input, 6));
    how.requiredFlags = (VkFlags)fuzz_below(input, 256);
    how.preferredFlags = (VkFlags)fuzz_below(input, 256);
    how.memoryTypeBits = (uint32_t)fuzz_scaled(input, 32);
    const uint32_t bits = (uint32_t)fuzz_scaled(input, 32);
    const VkResult result = maarChooseMemoryType(world->rig.allocator, bits, &how, &choice);
    if (result != VK_SUCCESS) {
        return;
    }
    fuzz_require(choice.candidateCount >= 1 && choice.candidateCount <= world->profile.typeCount);
    fuzz_require(choice.memoryTypeIndex == choice.candidates[0] && reason.text[0] != '\0');
    for (uint32_t i = 0; i < choice.candidateCount; ++i) {
        const uint32_t type = choice.candidates[i];
        fuzz_require(type < world->profile.typeCount && (bits >> type & 1) != 0);
        fuzz_require((world->profile.types[type].flags & how.requiredFlags) == how.requiredFlags);
    }
}

/* ---- what goes wrong ---- */

void world_misuse(struct fuzz_world* world)
{
    MaarAllocator allocator = world->rig.allocator;
    const uint8_t way = fuzz_byte(&world->input);
    const uint32_t what = way / WORLD_STALE % 14;
    MaarAllocation stale = world->stale[way % WORLD_STALE];
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    const MaarMemoryRequest request = rig_request(0, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    const MaarPoolCreateInfo wrong_pool = {.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
                                           .memoryTypeIndex = world->profile.typeCount};
    const VkBufferCreateInfo buffer_info = rig_buffer_info(64);
    const uint32_t errors = world->rig.messages.counts[MAAR_MESSAGE_SEVERITY_ERROR];
    MaarAllocation made = VK_NULL_HANDLE;
    MaarPool pool = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarSlice slice = VK_NULL_HANDLE;
    void* data = NULL;
    VkResult result = VK_ERROR_VALIDATION_FAILED_EXT;
    switch (what) {
    case 0:
        result = maarAllocateMemory(allocator, &request, NULL, &made);
        break;
    case 1:
        result = maarAllocateMemory(allocator, NULL, NULL, &made);
        break;
    case 2:
        result = maarCreatePool(allocator, &wrong_pool, &pool);
        break;
    case 3:
        result = maarCreateBuffer(allocator, NULL, NULL, &buffer, &made);
        break;
    case 4:
        result = maarCreateSlice(allocator, NULL, &slice);
        break;
    case 5:
        result = maarFreeMemoryAfter(allocator, stale, 17, NULL);
        break;
    case 6:
        result = maarMapMemory(allocator, stale, &data);
        break;
    case 7:
        result = maarGetAllocationInfo(allocator, stale, &info);
        break;
    case 8:
        result = maarFlushAllocation(allocator, stale, 0, 1);
        break;
    case 9:
        result = maarSetAllocationName(allocator, stale, "gone");
        break;
    case 10:
        result = maarCreateAliasingBuffer(allocator, stale, 0, &buffer_info, &buffer);
        break;
    case 11:
        maarFreeMemory(allocator, stale);
        break;
    case 12:
        maarDestroyBuffer(allocator, VK_NULL_HANDLE, stale);
        break;
    default:
        maarUnmapMemory(allocator, stale);
        break;
    }
    fuzz_require(made == VK_NULL_HANDLE && pool == VK_NULL_HANDLE && buffer == VK_NULL_HANDLE);
    fuzz_require(slice == VK_NULL_HANDLE && data == NULL);
    /* To free nothing is no misuse. */
    const bool fair = stale == VK_NULL_HANDLE && (what == 5 || what == 11 || what == 12);
    fuzz_require(fair || result == VK_ERROR_VALIDATION_FAILED_EXT);
    fuzz_require(fair || world->rig.messages.counts[MAAR_MESSAGE_SEVERITY_ERROR] == errors + 1);
}

void world_plan_faults(struct fuzz_world* world)
{
    static const char* const functions[] = {
        NULL,
        "vkAllocateMemory",
        "vkMapMemory",
        "vkBindBufferMemory2",
        "vkBindImageMemory2",
        "vkCreateBuffer",
        "vkCreateImage",
        "vkGetSemaphoreCounterValue",
    };
    static const VkResult results[] = {
        VK_SUCCESS, /* what is usual for the function */
        VK_ERROR_OUT_OF_DEVICE_MEMORY,
        VK_ERROR_OUT_OF_HOST_MEMORY,
        VK_ERROR_OUT_OF_DEVICE_MEMORY,
    };
    struct fuzz_input* input = &world->input;
    const uint8_t way = fuzz_byte(input);
    if ((way & 3) == 0) {
        fuzz_host_plan(&world->host, fuzz_below(input, 8), 1 + fuzz_below(input, 4));
        return;
    }
    if ((way & 3) == 1) {
        const uint32_t heap = (uint32_t)fuzz_below(input, world->profile.heapCount);
        fuzz_require(maarSimulatedSetHeapBudget(world->rig.physical, heap,
                                                fuzz_scaled(input, way == 0xFD ? 64 : 34),
                                                fuzz_scaled(input, 32)) == VK_SUCCESS);
        return;
    }
    if ((way & 0x1F) == 3) {
        const MaarSimulatedDedicated dedicated = {
            .imagesPrefer = (way & 0x80) != 0,
            .imagesRequire = (way & 0xC0) == 0xC0,
            .buffersPrefer = (way & 0x20) != 0,
            .buffersRequire = (way & 0xE0) == 0x60,
        };
        maarSimulatedSetDedicated(world->rig.physical, &dedicated);
        return;
    }
    const bool loses = way >= 0xFE;
    const bool may_lose = loses || results[way >> 5 & 3] == VK_SUCCESS; /* it is usual for some */
    const MaarSimulatedFault fault = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_FAULT,
        .pFunctionName = functions[way >> 2 & 7],
        .nth = 1 + fuzz_below(input, 4),
        .count = 1 + fuzz_below(input, 3),
        .result = loses ? VK_ERROR_DEVICE_LOST : results[way >> 5 & 3],
    };
    world->may_be_lost = world->may_be_lost || may_lose;
    const VkResult result = maarSimulatedSetFault(world->rig.physical, &fault);
    fuzz_require(result == VK_SUCCESS || result == VK_ERROR_TOO_MANY_OBJECTS);
}

void world_forget_faults(struct fuzz_world* world)
{
    fuzz_require(maarSimulatedSetFault(world->rig.physical, NULL) == VK_SUCCESS);
    fuzz_host_plan(&world->host, 0, 0);
}

void world_use(struct fuzz_world* world, uint8_t which)
{
    static void (*const uses[])(struct fuzz_world*) = {
        advance, collect, trim, map, flush, rename_item, add_up, list_blocks, dump, choose,
    };
    uses[which % (sizeof uses / sizeof uses[0])](world);
}
