/*
 * A whole allocator on a simulated device: which device, how it is made, then operations, each
 * followed by the heavy check and a comparison with the list of what should be there.
 */
#include "tests/fuzz/fuzz_world.h"

/* ---- set up ---- */

static void VKAPI_PTR trace_allocate(void* user, uint32_t type, VkDeviceMemory memory,
                                     VkDeviceSize size)
{
    struct fuzz_world* world = user;
    fuzz_require(type < world->profile.typeCount && memory != VK_NULL_HANDLE && size != 0);
    world->traced_allocate += 1;
}

static void VKAPI_PTR trace_free(void* user, uint32_t type, VkDeviceMemory memory,
                                 VkDeviceSize size)
{
    struct fuzz_world* world = user;
    fuzz_require(type < world->profile.typeCount && memory != VK_NULL_HANDLE && size != 0);
    world->traced_free += 1;
}

static VkBool32 VKAPI_PTR make_room(void* user, const MaarOutOfMemoryInfo* info)
{
    struct fuzz_world* world = user;
    fuzz_require(info->sType == MAAR_STRUCTURE_TYPE_OUT_OF_MEMORY_INFO && info->result < 0);
    fuzz_require(info->attempt < MAAR_MAX_OUT_OF_MEMORY_ATTEMPTS);
    world->asked_count += 1;
    return (fuzz_byte(&world->input) & 1) != 0 && world_end_any(world);
}

static void draw_profile(struct fuzz_world* world)
{
    struct fuzz_input* input = &world->input;
    MaarSimulatedProfile* profile = &world->profile;
    const uint8_t way = fuzz_byte(input);
    *profile = way % 3 == 0   ? *rig_profile_discrete()
               : way % 3 == 1 ? *rig_profile_noncoherent()
                              : *rig_profile_tiny();
    if ((way & 0x10) != 0) {
        profile->limits.bufferImageGranularity = (VkDeviceSize)1 << fuzz_below(input, 18);
        profile->limits.nonCoherentAtomSize = (VkDeviceSize)1 << fuzz_below(input, 9);
    }
    if ((way & 0x20) != 0) {
        profile->limits.maxMemoryAllocationCount = (uint32_t)fuzz_below(input, 40);
        profile->limits.maxMemoryAllocationSize = fuzz_scaled(input, 31);
    }
    for (uint32_t i = 0; i < profile->heapCount && (way & 0x40) != 0; ++i) {
        profile->heaps[i].size = 4096 + fuzz_scaled(input, 31);
        profile->heaps[i].budgetKnown = (fuzz_byte(input) & 1) != 0;
        profile->heaps[i].budget = fuzz_scaled(input, 34);
        profile->heaps[i].usage = fuzz_scaled(input, 30);
    }
}

static void draw_create_info(struct fuzz_world* world)
{
    static const VkDeviceSize retained[] = {0, 1, 1 << 20, UINT64_MAX};
    struct fuzz_input* input = &world->input;
    MaarAllocatorCreateInfo* info = &world->rig.create_info;
    const uint8_t way = fuzz_byte(input);
    info->pAllocationCallbacks = &world->host.callbacks;
    info->pfnDeviceAllocate = trace_allocate;
    info->pfnDeviceFree = trace_free;
    info->pDeviceMemoryUserData = world;
    info->pfnOutOfMemory = (way & 1) != 0 ? make_room : NULL;
    info->pOutOfMemoryUserData = world;
    info->flags = (way & 6) >> 1;
    info->strategy = (MaarPlacementStrategy)((way >> 3) % 3);
    info->retainedEmptySize = retained[way >> 6];
    info->preferredBlockSize = (way & 0x20) != 0 ? fuzz_scaled(input, 24) : 4 * MIB;
    if (fuzz_byte(input) % 4 == 0) {
        for (uint32_t i = 0; i < world->profile.heapCount; ++i) {
            world->limits[i] = fuzz_scaled(input, 30);
        }
        info->heapSizeLimitCount = world->profile.heapCount;
        info->pHeapSizeLimits = world->limits;
    }
}

/* Creation that cannot succeed leaves nothing. */
static void try_wrong_creation(struct fuzz_world* world)
{
    MaarAllocatorCreateInfo info = world->rig.create_info;
    MaarAllocator allocator = VK_NULL_HANDLE;
    switch (fuzz_byte(&world->input) % 6) {
    case 0:
        info.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO;
        break;
    case 1:
        info.strategy = (MaarPlacementStrategy)3;
        break;
    case 2:
        info.heapSizeLimitCount = world->profile.heapCount + 1;
        break;
    case 3:
        info.device = VK_NULL_HANDLE;
        break;
    case 4:
        info.flags = 0x40000000;
        break;
    default:
        info.pfnGetInstanceProcAddr = NULL;
        break;
    }
    fuzz_require(maarCreateAllocator(&info, &allocator) < 0 && allocator == VK_NULL_HANDLE);
    fuzz_require(world->host.live == 0);
}

static void make_allocator(struct fuzz_world* world)
{
    const uint8_t way = fuzz_byte(&world->input);
    if ((way & 7) == 7) {
        try_wrong_creation(world);
    }
    if ((way & 0x38) == 0x38) {
        fuzz_host_plan(&world->host, fuzz_below(&world->input, 32), 1);
        const VkResult result = maarCreateAllocator(&world->rig.create_info, &world->rig.allocator);
        fuzz_require(result == VK_SUCCESS ||
                     (result == VK_ERROR_OUT_OF_HOST_MEMORY && world->host.struck != 0));
        fuzz_require((result == VK_SUCCESS) == (world->rig.allocator != VK_NULL_HANDLE));
        fuzz_require(result == VK_SUCCESS || world->host.live == 0);
        fuzz_host_plan(&world->host, 0, 0);
    }
    if (world->rig.allocator == VK_NULL_HANDLE) {
        rig_make_allocator(&world->rig);
    }
    world->info.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO;
    fuzz_require(maarGetAllocatorInfo(world->rig.allocator, &world->info) == VK_SUCCESS);
    if (world->info.timelineSemaphore) {
        world->timeline = rig_create_timeline(&world->rig, 0);
    }
    world->leaves = (way & 0xC0) == 0xC0;
}

static void set_up(struct fuzz_world* world)
{
    static const uint32_t versions[] = {VK_API_VERSION_1_3, VK_API_VERSION_1_1, VK_API_VERSION_1_2,
                                        VK_API_VERSION_1_3};
    draw_profile(world);
    const uint8_t way = fuzz_byte(&world->input);
    world->may_alias = (way & 4) != 0;
    const struct rig_setup setup = {
        .profile = &world->profile,
        .api_version = versions[way & 3],
        .flags = (world->may_alias ? MAAR_SIMULATED_ALLOW_ALIASING_BIT : 0u) |
                 ((way & 8) != 0 ? MAAR_SIMULATED_OVERCOMMIT_BIT : 0u) |
                 ((way & 0x30) == 0x30 ? MAAR_SIMULATED_UNLIMITED_COUNT_BIT : 0u),
        .off = (way & 0xC0) == 0xC0 ? (VkFlags)fuzz_below(&world->input, RIG_OFF_ALL + 1) : 0,
    };
    rig_open(&world->rig, &setup);
    fuzz_host_init(&world->host);
    draw_create_info(world);
    if ((way & 0x70) == 0x70) { /* the driver accepts more objects than it reports */
        world->rig.create_info.flags |= MAAR_ALLOCATOR_CREATE_EXCEED_ALLOCATION_COUNT_BIT;
    }
    make_allocator(world);
}

/* ---- comparing ---- */

static void require_no_misuse(struct fuzz_world* world, const MaarSimulatedCounters* counters)
{
    if (counters->violationCount != 0) {
        (void)fprintf(stderr, "violation: %s\n", world->rig.violation);
        abort();
    }
    if (world->rig.messages.counts[MAAR_MESSAGE_SEVERITY_FATAL] != 0) {
        (void)fprintf(stderr, "fatal: %s\n", world->rig.messages.last);
        abort();
    }
}

static void require_sound(struct fuzz_world* world)
{
    uint32_t live = 0;
    uint32_t live_slices = 0;
    uint32_t pending = 0;
    uint32_t waiting = 0;
    VkDeviceSize bytes = 0;
    VkDeviceSize held = 0;
    for (uint32_t i = 0; i < WORLD_ITEMS; ++i) {
        const struct fuzz_item* item = &world->items[i];
        const bool slice = item->what == ITEM_SLICE;
        live += item->state == ITEM_LIVE && !slice ? 1 : 0;
        bytes += item->state == ITEM_LIVE && !slice ? item->size : 0;
        live_slices += item->state == ITEM_LIVE && slice ? 1 : 0;
        pending += item->state == ITEM_PENDING ? 1 : 0;
        waiting +=
            item->state == ITEM_PENDING && !world->may_be_lost && !world_has_passed(world, item)
                ? 1
                : 0;
    }
    const MaarSimulatedCounters counters = rig_counters(&world->rig);
    require_no_misuse(world, &counters);
    rig_check(&world->rig);
    const MaarStatistics statistics = rig_statistics(&world->rig, VK_NULL_HANDLE);
    const uint32_t counted = statistics.pendingCount + statistics.pendingSliceCount;
    fuzz_require(statistics.sliceCount == live_slices);
    fuzz_require(world->has_sliced ? statistics.allocationCount >= live
                                   : statistics.allocationCount == live);
    fuzz_require(world->has_sliced ? statistics.allocationBytes >= bytes
                                   : statistics.allocationBytes == bytes);
    if (counted < waiting || counted > pending) {
        (void)fprintf(stderr, "%u pending, not %u to %u\n", (unsigned)counted, (unsigned)waiting,
                      (unsigned)pending);
        abort();
    }
    fuzz_require(statistics.blockCount == counters.liveCount[MAAR_SIMULATED_OBJECT_MEMORY]);
    fuzz_require(world->traced_allocate - world->traced_free == statistics.blockCount);
    for (uint32_t i = 0; i < VK_MAX_MEMORY_HEAPS; ++i) {
        held += counters.heapLive[i];
        fuzz_require(world->limits[i] == 0 || counters.heapLive[i] <= world->limits[i]);
    }
    fuzz_require(statistics.blockBytes == held);
}

static void step(struct fuzz_world* world)
{
    const uint8_t action = fuzz_byte(&world->input);
    if (action < 70) {
        world_make(world);
    } else if (action < 76) {
        world_make_many(world);
    } else if (action < 82) {
        world_make_bound(world);
    } else if (action < 98) {
        world_slice(world);
    } else if (action < 104) {
        world_alias(world);
    } else if (action < 136) {
        world_free(world);
    } else if (action < 160) {
        world_free_after(world);
    } else if (action < 170) {
        world_pool(world);
    } else if (action < 178) {
        world_misuse(world);
    } else if (action < 192) {
        world_plan_faults(world);
    } else if (action < 196) {
        world_forget_faults(world);
    } else {
        world_use(world, action);
    }
    require_sound(world);
}

/* ---- the end ---- */

static void pass_all_time(struct fuzz_world* world)
{
    fuzz_require(maarAdvanceHostTimeline(world->rig.allocator, UINT64_MAX) == VK_SUCCESS);
    world->host_value = UINT64_MAX;
    if (world->timeline != VK_NULL_HANDLE) {
        const VkResult result = world_signal(world, world->timeline_value + 16);
        fuzz_require(result == VK_SUCCESS || world->may_be_lost);
    }
    const VkResult result = maarCollect(world->rig.allocator, NULL);
    fuzz_require(result == VK_SUCCESS || (result == VK_ERROR_DEVICE_LOST && world->may_be_lost));
    for (uint32_t i = 0; i < WORLD_ITEMS; ++i) {
        if (world->items[i].state == ITEM_PENDING) {
            world->items[i].state = ITEM_NONE;
        }
    }
}

static void take_down(struct fuzz_world* world)
{
    world_forget_faults(world);
    for (uint32_t i = 0; i < WORLD_ITEMS; ++i) {
        struct fuzz_item* item = &world->items[i];
        const bool bound = item->what != ITEM_MEMORY || item->alias_buffer != VK_NULL_HANDLE ||
                           item->alias_image != VK_NULL_HANDLE;
        if (item->state == ITEM_LIVE && (bound || !world->leaves)) {
            world_end_item(world, item);
        }
    }
    pass_all_time(world);
    require_sound(world);
    if (!world->leaves) {
        for (uint32_t i = 0; i < WORLD_POOLS; ++i) {
            maarDestroyPool(world->rig.allocator, world->pools[i]);
        }
        fuzz_require(maarTrim(world->rig.allocator, VK_NULL_HANDLE, NULL) == VK_SUCCESS);
        const MaarStatistics statistics = rig_statistics(&world->rig, VK_NULL_HANDLE);
        fuzz_require(world->has_sliced || statistics.blockCount == 0);
    }
    maarDestroyAllocator(world->rig.allocator);
    world->rig.allocator = VK_NULL_HANDLE;
    fuzz_require(world->traced_allocate == world->traced_free && world->host.live == 0);
    vkDestroySemaphore(world->rig.device, world->timeline, NULL);
    rig_close(&world->rig);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static struct fuzz_world world;
    memset(&world, 0, sizeof world);
    world.input = (struct fuzz_input){data, size};
    set_up(&world);
    require_sound(&world);
    while (!fuzz_is_dry(&world.input)) {
        step(&world);
    }
    take_down(&world);
    return 0;
}
