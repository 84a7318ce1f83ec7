/*
 * The range allocator against a list of ranges: requests of any numbers, names that are stale or
 * made up, host memory that fails, walks that stop. Each answer is predicted where maar/range.h
 * foretells it, and after each step the whole space is compared.
 */
#include "maar/range.h"
#include "tests/fuzz/fuzz_host.h"
#include "tests/fuzz/fuzz_placement.h"

enum { RANGE_LIVE = 96, RANGE_STALE = 16 };

struct range_item {
    MaarRange range;
    VkDeviceSize offset, size;
    uint64_t user;
    uint32_t kind;
};

struct range_world {
    struct fuzz_input* input;
    struct fuzz_host host;
    MaarRangeAllocator allocator;
    VkDeviceSize size, granularity;
    MaarPlacementStrategy strategy;
    uint32_t errors; /* messages of that severity */
    uint32_t count;
    struct range_item items[RANGE_LIVE];
    MaarRange stale[RANGE_STALE];
    uint32_t stale_count;
};

struct range_walk {
    struct range_world* world;
    VkDeviceSize cursor, live, padding, free, largest;
    uint32_t live_count, visits, stop_at;
};

static void VKAPI_PTR count_message(void* user, const MaarMessage* report)
{
    struct range_world* world = user;
    fuzz_require(report->pText != NULL && report->pText[0] != '\0' &&
                 report->severity == MAAR_MESSAGE_SEVERITY_ERROR);
    world->errors += 1;
}

/* Misuse is reported once and answered with an error. Nothing else is reported. */
static void require_reported(struct range_world* world, VkResult result)
{
    fuzz_require(world->errors == (result == VK_ERROR_VALIDATION_FAILED_EXT ? 1 : 0));
    world->errors = 0;
}

/* ---- looking ---- */

static VkBool32 VKAPI_PTR visit_stretch(void* user, const MaarRangeInfo* info)
{
    struct range_walk* walk = user;
    struct range_world* world = walk->world;
    fuzz_require(info->offset == walk->cursor && info->size != 0);
    walk->cursor += info->size;
    walk->visits += 1;
    if (info->state == MAAR_RANGE_STATE_LIVE) {
        uint32_t i = 0;
        while (i < world->count && world->items[i].range != info->range) {
            i += 1;
        }
        fuzz_require(i < world->count);
        const struct range_item* item = &world->items[i];
        fuzz_require(item->offset == info->offset && item->size == info->size);
        fuzz_require(item->kind == info->kind && item->user == info->userData);
        walk->live += info->size;
        walk->live_count += 1;
    } else {
        fuzz_require(info->range == VK_NULL_HANDLE && info->kind == 0 && info->userData == 0);
        walk->padding += info->state == MAAR_RANGE_STATE_PADDING ? info->size : 0;
    }
    if (info->state == MAAR_RANGE_STATE_FREE) {
        walk->free += info->size;
        walk->largest = info->size > walk->largest ? info->size : walk->largest;
    }
    return walk->visits != walk->stop_at;
}

static void require_sound(struct range_world* world)
{
    struct range_walk walk = {.world = world};
    const char* broken = maarCheckRangeAllocator(world->allocator);
    if (broken != NULL) {
        (void)fprintf(stderr, "strategy %d: %s\n", (int)world->strategy, broken);
        abort();
    }
    fuzz_require(maarWalkRanges(world->allocator, visit_stretch, &walk) == VK_SUCCESS);
    fuzz_require(walk.cursor == world->size && walk.live_count == world->count);
    MaarRangeStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_RANGE_STATISTICS};
    fuzz_require(maarGetRangeStatistics(world->allocator, &statistics) == VK_SUCCESS);
    fuzz_require(statistics.size == world->size && statistics.rangeCount == world->count);
    fuzz_require(statistics.usedSize == walk.live && statistics.freeSize == walk.free);
    fuzz_require(statistics.paddingSize == walk.padding);
    fuzz_require(statistics.largestFreeBound >= walk.largest);
    require_reported(world, VK_SUCCESS);
}

static bool share_granule(const struct range_world* world, const struct range_item* low,
                          const struct range_item* high)
{
    return world->granularity > 1 && low->kind != 0 && high->kind != 0 && low->kind != high->kind &&
           (low->offset + low->size - 1) / world->granularity == high->offset / world->granularity;
}

static void require_fits(const struct range_world* world, const struct range_item* made,
                         VkDeviceSize alignment)
{
    fuzz_require(alignment == 0 || made->offset % alignment == 0);
    fuzz_require(made->offset <= world->size && made->size <= world->size - made->offset);
    for (uint32_t i = 0; i < world->count; ++i) {
        const struct range_item* other = &world->items[i];
        const struct range_item* low = other->offset < made->offset ? other : made;
        const struct range_item* high = low == made ? other : made;
        fuzz_require(other->range != made->range);
        fuzz_require(low->offset + low->size <= high->offset);
        fuzz_require(!share_granule(world, low, high));
    }
}

/* ---- doing ---- */

static VkDeviceSize draw_size(struct range_world* world)
{
    switch (fuzz_below(world->input, 8)) {
    case 0:
        return fuzz_scaled(world->input, 64);
    case 1:
        return 1 + world->size / (1 + fuzz_below(world->input, 8));
    case 2:
        return world->size - fuzz_below(world->input, 4);
    default:
        return 1 + fuzz_scaled(world->input, 20);
    }
}

static VkDeviceSize draw_alignment(struct range_world* world)
{
    switch (fuzz_below(world->input, 4)) {
    case 0:
        return fuzz_scaled(world->input, 64);
    case 1:
        return fuzz_below(world->input, 300);
    default:
        return (VkDeviceSize)1 << fuzz_below(world->input, 20);
    }
}

static void do_allocate(struct range_world* world)
{
    const uint8_t way = fuzz_byte(world->input);
    const MaarRangeAllocateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO,
        .size = draw_size(world),
        .alignment = draw_alignment(world),
        .kind = (way & 1) != 0 ? (uint32_t)fuzz_below(world->input, 40) : way >> 6,
        .flags = (way & 2) != 0     ? MAAR_RANGE_ALLOCATE_UPPER_BIT
                 : (way & 60) == 60 ? fuzz_byte(world->input)
                                    : 0,
        .userData = fuzz_scaled(world->input, 64),
    };
    const bool wrong = info.size == 0 || info.kind > MAAR_RANGE_MAX_KIND ||
                       (info.flags & ~((VkFlags)MAAR_RANGE_ALLOCATE_UPPER_BIT |
                                       (VkFlags)MAAR_RANGE_ALLOCATE_LOWEST_BIT)) != 0;
    if (world->count == RANGE_LIVE) {
        return;
    }
    const uint64_t struck = world->host.struck;
    struct range_item item = {.size = info.size, .user = info.userData, .kind = info.kind};
    item.offset = 77;
    const VkResult result = maarAllocateRange(world->allocator, &info, &item.range, &item.offset);
    require_reported(world, result);
    fuzz_require((result == VK_ERROR_VALIDATION_FAILED_EXT) == wrong);
    fuzz_require(result != VK_ERROR_OUT_OF_HOST_MEMORY || world->host.struck != struck);
    if (result != VK_SUCCESS) {
        fuzz_require(result == VK_ERROR_VALIDATION_FAILED_EXT ||
                     result == VK_ERROR_OUT_OF_HOST_MEMORY ||
                     result == VK_ERROR_OUT_OF_POOL_MEMORY);
        fuzz_require(item.range == VK_NULL_HANDLE && item.offset == 0);
        /* An empty space takes whatever is no larger than it, unless a buddy node cannot. */
        fuzz_require(result != VK_ERROR_OUT_OF_POOL_MEMORY || world->count != 0 ||
                     info.size > world->size || world->strategy == MAAR_PLACEMENT_STRATEGY_BUDDY ||
                     info.flags != 0);
        return;
    }
    require_fits(world, &item, info.alignment);
    world->items[world->count++] = item;
}

static void make_stale(struct range_world* world, MaarRange range)
{
    world->stale[world->stale_count++ % RANGE_STALE] = range;
}

static void do_free(struct range_world* world)
{
    if (world->count == 0) {
        return;
    }
    const uint8_t way = fuzz_byte(world->input);
    const uint32_t pick = (way & 3) == 0   ? 0
                          : (way & 3) == 1 ? world->count - 1
                                           : (uint32_t)(way >> 2) % world->count;
    const struct range_item item = world->items[pick];
    const VkResult result = maarFreeRange(world->allocator, item.range);
    fuzz_require(result == VK_SUCCESS);
    memmove(&world->items[pick], &world->items[pick + 1], (world->count - pick - 1) * sizeof(item));
    world->count -= 1;
    make_stale(world, item.range);
}

/* A name that no live range has: freed, or made up. */
static MaarRange draw_wrong_name(struct range_world* world)
{
    const uint8_t way = fuzz_byte(world->input);
    uint64_t bits = 0;
    MaarRange name = VK_NULL_HANDLE;
    if ((way & 1) != 0 && world->stale_count != 0) {
        name = world->stale[(way >> 1) % RANGE_STALE];
    } else {
        bits = fuzz_scaled(world->input, 64);
        if ((way & 2) != 0 && world->count != 0) {
            uint64_t near = 0;
            memcpy(&near, &world->items[(way >> 2) % world->count].range, sizeof(near));
            bits ^= near;
        }
        memcpy(&name, &bits, sizeof(name));
    }
    for (uint32_t i = 0; i < world->count; ++i) {
        if (world->items[i].range == name) {
            return VK_NULL_HANDLE;
        }
    }
    return name;
}

static void do_wrong_name(struct range_world* world)
{
    const MaarRange name = draw_wrong_name(world);
    MaarRangeInfo info = {.sType = MAAR_STRUCTURE_TYPE_RANGE_INFO, .size = 5};
    VkResult result = maarGetRangeInfo(world->allocator, name, &info);
    fuzz_require(result == VK_ERROR_VALIDATION_FAILED_EXT && info.size == 0);
    require_reported(world, result);
    result = maarFreeRange(world->allocator, name);
    fuzz_require(result == (name == VK_NULL_HANDLE ? VK_SUCCESS : VK_ERROR_VALIDATION_FAILED_EXT));
    require_reported(world, result);
}

static void do_look(struct range_world* world)
{
    if (world->count != 0) {
        const struct range_item* item = &world->items[fuzz_below(world->input, world->count)];
        MaarRangeInfo info = {.sType = MAAR_STRUCTURE_TYPE_RANGE_INFO};
        fuzz_require(maarGetRangeInfo(world->allocator, item->range, &info) == VK_SUCCESS);
        fuzz_require(info.state == MAAR_RANGE_STATE_LIVE && info.range == item->range);
        fuzz_require(info.offset == item->offset && info.size == item->size);
        fuzz_require(info.kind == item->kind && info.userData == item->user);
    }
    struct range_walk walk = {.world = world};
    walk.stop_at = 1 + (uint32_t)fuzz_below(world->input, 8);
    fuzz_require(maarWalkRanges(world->allocator, visit_stretch, &walk) == VK_SUCCESS);
    fuzz_require(walk.visits <= walk.stop_at);
}

static void do_resize(struct range_world* world)
{
    const uint8_t way = fuzz_byte(world->input);
    VkDeviceSize size = world->size + fuzz_scaled(world->input, (way & 1) != 0 ? 49 : 16);
    if (way >= 0xF0) {
        size = fuzz_scaled(world->input, 64);
    }
    const bool wrong = size < world->size || size > MAAR_RANGE_MAX_SIZE;
    const uint64_t struck = world->host.struck;
    const VkResult result = maarResizeRangeAllocator(world->allocator, size);
    require_reported(world, result);
    fuzz_require((result == VK_ERROR_VALIDATION_FAILED_EXT) == wrong);
    if (result == VK_SUCCESS) {
        world->size = size;
    } else {
        fuzz_require(wrong ||
                     (result == VK_ERROR_OUT_OF_HOST_MEMORY && world->host.struck != struck));
    }
}

static void do_reset(struct range_world* world)
{
    fuzz_require(maarResetRangeAllocator(world->allocator) == VK_SUCCESS);
    while (world->count != 0) {
        world->count -= 1;
        make_stale(world, world->items[world->count].range);
    }
}

/* Arguments that are wrong whatever the state. */
static void do_misuse(struct range_world* world)
{
    MaarRange range = VK_NULL_HANDLE;
    MaarRangeAllocateInfo info = {.size = 1};
    MaarRangeStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_RANGE_INFO};
    VkResult result = VK_SUCCESS;
    switch (fuzz_below(world->input, 6)) {
    case 0:
        result = maarAllocateRange(world->allocator, &info, &range, NULL);
        break;
    case 1:
        result = maarAllocateRange(world->allocator, NULL, &range, NULL);
        break;
    case 2:
        info.sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO;
        result = maarAllocateRange(world->allocator, &info, NULL, NULL);
        break;
    case 3:
        result = maarGetRangeStatistics(world->allocator, &statistics);
        break;
    case 4:
        result = maarSetRangeUserData(world->allocator, VK_NULL_HANDLE, 1);
        fuzz_require(result == VK_ERROR_VALIDATION_FAILED_EXT);
        require_reported(world, result);
        result = maarGetRangeInfo(world->allocator, VK_NULL_HANDLE, NULL);
        break;
    default:
        result = maarWalkRanges(world->allocator, NULL, NULL);
        break;
    }
    fuzz_require(result == VK_ERROR_VALIDATION_FAILED_EXT && range == VK_NULL_HANDLE);
    require_reported(world, result);
}

static bool create(struct range_world* world)
{
    struct fuzz_input* input = world->input;
    static const VkDeviceSize granularities[] = {0, 1, 2, 256, 1024, 65536, 3, UINT64_MAX};
    const MaarRangeAllocatorCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO,
        .strategy = (MaarPlacementStrategy)(fuzz_byte(input) & 3),
        .size = fuzz_scaled(input, 49),
        .granularity = granularities[fuzz_below(input, 8)],
        .pAllocationCallbacks = &world->host.callbacks,
        .pfnMessage = count_message,
        .pMessageUserData = world,
    };
    const bool wrong = info.strategy > MAAR_PLACEMENT_STRATEGY_LINEAR || info.size == 0 ||
                       info.size > MAAR_RANGE_MAX_SIZE ||
                       (info.granularity & (info.granularity - 1)) != 0;
    if ((fuzz_byte(input) & 15) == 15) {
        fuzz_host_plan(&world->host, fuzz_below(input, 3), 1);
    }
    const VkResult result = maarCreateRangeAllocator(&info, &world->allocator);
    fuzz_require((result == VK_ERROR_VALIDATION_FAILED_EXT) == wrong);
    fuzz_require((result == VK_SUCCESS) == (world->allocator != VK_NULL_HANDLE));
    fuzz_require(wrong || result == VK_SUCCESS || world->host.struck != 0);
    world->errors = 0;
    world->size = info.size;
    world->granularity = info.granularity;
    world->strategy = info.strategy;
    return result == VK_SUCCESS;
}

static void step(struct range_world* world)
{
    const uint8_t action = fuzz_byte(world->input);
    if (action < 110) {
        do_allocate(world);
    } else if (action < 200) {
        do_free(world);
    } else if (action < 212) {
        do_wrong_name(world);
    } else if (action < 224) {
        do_look(world);
    } else if (action < 234) {
        do_resize(world);
    } else if (action < 238) {
        do_reset(world);
    } else if (action < 242) {
        do_misuse(world);
    } else {
        fuzz_host_plan(&world->host, fuzz_below(world->input, 3), fuzz_below(world->input, 3));
    }
    require_sound(world);
}

void fuzz_range_run(struct fuzz_input* input)
{
    static struct range_world world;
    world = (struct range_world){.input = input};
    fuzz_host_init(&world.host);
    if (create(&world)) {
        require_sound(&world);
        while (!fuzz_is_dry(input)) {
            step(&world);
        }
    }
    maarDestroyRangeAllocator(world.allocator);
    fuzz_require(world.host.live == 0);
}
