/*
 * What is freed after points, driven by bytes: memory and buffers go after up to as many points as
 * there may be, on three timelines and the host's own, which move one by one, while semaphores
 * cannot be read and the device is lost. After each collection exactly what has passed is gone.
 */
#include "tests/fuzz/fuzz_device.h"

enum { RETIRED_ITEMS = 32, RETIRED_LINES = 4 };

struct retired_item {
    bool pending;
    uint32_t point_count;
    uint32_t lines[MAAR_MAX_POINTS];
    uint64_t values[MAAR_MAX_POINTS];
};

struct retire_world {
    struct fuzz_device device;
    VkSemaphore timelines[RETIRED_LINES]; /* the first is null: the host's */
    uint64_t values[RETIRED_LINES];
    struct retired_item items[RETIRED_ITEMS];
    bool lost;
};

static bool item_has_passed(const struct retire_world* world, const struct retired_item* item)
{
    for (uint32_t i = 0; i < item->point_count; ++i) {
        if (world->values[item->lines[i]] < item->values[i]) {
            return false;
        }
    }
    return true;
}

/* Of what is pending in the list, what must still be. */
static uint32_t count_waiting(const struct retire_world* world)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < RETIRED_ITEMS; ++i) {
        const struct retired_item* item = &world->items[i];
        count += item->pending && !world->lost && !item_has_passed(world, item) ? 1 : 0;
    }
    return count;
}

static uint32_t count_pending(struct retire_world* world)
{
    const MaarStatistics statistics = rig_statistics(&world->device.rig, VK_NULL_HANDLE);
    uint32_t listed = 0;
    for (uint32_t i = 0; i < RETIRED_ITEMS; ++i) {
        listed += world->items[i].pending ? 1 : 0;
    }
    fuzz_require(statistics.pendingCount <= listed);
    if (statistics.pendingCount < count_waiting(world)) {
        /* A request or a trim has seen the loss, and freed everything. */
        fuzz_require(world->device.may_be_lost && statistics.pendingCount == 0);
        world->lost = true;
    }
    fuzz_require(statistics.allocationCount == 0);
    return statistics.pendingCount;
}

static void draw_points(struct retire_world* world, struct retired_item* item, MaarPoint* points)
{
    struct fuzz_input* input = &world->device.input;
    item->point_count = fuzz_device_pick(&world->device, MAAR_MAX_POINTS + 1);
    for (uint32_t i = 0; i < item->point_count; ++i) {
        const uint8_t way = fuzz_byte(input);
        item->lines[i] = way % RETIRED_LINES;
        item->values[i] = world->values[item->lines[i]] + (way >> 5);
        points[i] =
            (MaarPoint){.semaphore = world->timelines[item->lines[i]], .value = item->values[i]};
    }
}

static void retire_one(struct retire_world* world)
{
    MaarPoint points[MAAR_MAX_POINTS];
    struct fuzz_device* device = &world->device;
    MaarAllocator allocator = device->rig.allocator;
    struct retired_item* item = &world->items[fuzz_device_pick(device, RETIRED_ITEMS)];
    const bool buffer = (fuzz_byte(&device->input) & 1) != 0;
    if (item->pending) {
        return;
    }
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    const MaarMemoryRequest request = rig_request(4096, 256, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    const VkBufferCreateInfo info = rig_buffer_info(5000);
    MaarAllocation memory = VK_NULL_HANDLE;
    VkBuffer made = VK_NULL_HANDLE;
    const VkResult result = buffer ? maarCreateBuffer(allocator, &info, &how, &made, &memory)
                                   : maarAllocateMemory(allocator, &request, &how, &memory);
    if (fuzz_device_allow(device, result) != VK_SUCCESS) {
        return;
    }
    draw_points(world, item, points);
    const VkResult freed =
        buffer ? maarDestroyBufferAfter(allocator, made, memory, item->point_count, points)
               : maarFreeMemoryAfter(allocator, memory, item->point_count, points);
    if (freed != VK_SUCCESS) {
        fuzz_require(freed == VK_ERROR_OUT_OF_HOST_MEMORY && device->may_fail);
        maarDestroyBuffer(allocator, made, memory);
        return;
    }
    item->pending = item->point_count != 0;
}

static void note_collected(struct retire_world* world)
{
    for (uint32_t i = 0; i < RETIRED_ITEMS; ++i) {
        struct retired_item* item = &world->items[i];
        item->pending = item->pending && !world->lost && !item_has_passed(world, item);
    }
}

static void require_known(struct retire_world* world, VkResult result)
{
    world->lost = world->lost || result == VK_ERROR_DEVICE_LOST;
    fuzz_require(result != VK_ERROR_DEVICE_LOST || world->device.may_be_lost);
    fuzz_require(result != VK_SUCCESS || !world->lost || count_waiting(world) == 0);
}

static void collect(struct retire_world* world)
{
    uint32_t freed = UINT32_MAX;
    const uint32_t before = count_pending(world);
    const VkResult result = maarCollect(world->device.rig.allocator, &freed);
    require_known(world, result);
    fuzz_require(before - freed == count_pending(world));
    if (result == VK_SUCCESS || result == VK_ERROR_DEVICE_LOST) {
        fuzz_require(count_pending(world) == count_waiting(world));
        note_collected(world);
    } else {
        fuzz_require(world->device.may_fail);
    }
}

/* Whether only host points, or some of a semaphore, are waited for. */
static void require_reason(const struct retire_world* world, VkResult result)
{
    bool host_only = false;
    bool semaphore = false;
    for (uint32_t i = 0; i < RETIRED_ITEMS; ++i) {
        const struct retired_item* item = &world->items[i];
        bool waits = false;
        for (uint32_t k = 0; item->pending && k < item->point_count; ++k) {
            waits =
                waits || (item->lines[k] != 0 && world->values[item->lines[k]] < item->values[k]);
        }
        semaphore = semaphore || waits;
        host_only = host_only || (item->pending && !waits && !item_has_passed(world, item));
    }
    fuzz_require(result != VK_SUCCESS || (!semaphore && !host_only));
    fuzz_require(result != VK_NOT_READY || (host_only || semaphore));
    fuzz_require(result != VK_TIMEOUT || semaphore);
}

static void wait_pending(struct retire_world* world)
{
    const VkResult result = maarWaitPending(world->device.rig.allocator, 0);
    require_known(world, result);
    if (result >= 0 && !world->lost) {
        require_reason(world, result);
    } else {
        fuzz_require(world->device.may_fail);
    }
    if (result == VK_SUCCESS || result == VK_ERROR_DEVICE_LOST) {
        fuzz_require(count_pending(world) == 0);
        note_collected(world);
    }
}

/* A lost device takes no signal. */
static void signal_line(struct retire_world* world, uint32_t line, uint64_t value)
{
    const bool good = fuzz_device_signal(&world->device, world->timelines[line], value);
    world->values[line] = good ? value : world->values[line];
}

static void advance(struct retire_world* world, uint8_t way)
{
    const uint32_t line = way % RETIRED_LINES;
    const uint64_t value = world->values[line] + 1 + (way >> 2 & 3);
    fuzz_device_forget(&world->device);
    if (line != 0) {
        signal_line(world, line, value);
    } else {
        fuzz_require(maarAdvanceHostTimeline(world->device.rig.allocator, value) == VK_SUCCESS);
        world->values[0] = value;
    }
}

static void misuse(struct retire_world* world)
{
    MaarPoint points[MAAR_MAX_POINTS + 1] = {{.value = 1}};
    MaarAllocator allocator = world->device.rig.allocator;
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    fuzz_device_forget(&world->device);
    MaarAllocation memory = rig_allocate(&world->device.rig, 1000, &how);
    rig_forget_messages(&world->device.rig);
    fuzz_require(maarFreeMemoryAfter(allocator, VK_NULL_HANDLE, 1, points) == VK_SUCCESS);
    fuzz_require(world->device.rig.messages.total == 0);
    fuzz_require(maarFreeMemoryAfter(allocator, memory, MAAR_MAX_POINTS + 1, points) ==
                 VK_ERROR_VALIDATION_FAILED_EXT);
    fuzz_require(maarFreeMemoryAfter(allocator, memory, 1, NULL) == VK_ERROR_VALIDATION_FAILED_EXT);
    fuzz_require(world->device.rig.messages.total == 2);
    maarFreeMemory(allocator, memory);
    fuzz_require(maarFreeMemoryAfter(allocator, memory, 0, NULL) == VK_ERROR_VALIDATION_FAILED_EXT);
    fuzz_require(maarAdvanceHostTimeline(allocator, 0) ==
                 (world->values[0] == 0 ? VK_SUCCESS : VK_ERROR_VALIDATION_FAILED_EXT));
    rig_forget_messages(&world->device.rig);
}

static void step(struct retire_world* world)
{
    const uint8_t action = fuzz_byte(&world->device.input);
    if (action < 128) {
        retire_one(world);
    } else if (action < 176) {
        advance(world, fuzz_byte(&world->device.input));
    } else if (action < 208) {
        collect(world);
    } else if (action < 228) {
        wait_pending(world);
    } else if (action < 248) {
        fuzz_device_plan(&world->device);
    } else if (action < 252) {
        fuzz_device_forget(&world->device);
        fuzz_require(maarTrim(world->device.rig.allocator, VK_NULL_HANDLE, NULL) >= 0 ||
                     world->device.may_be_lost);
    } else {
        misuse(world);
    }
    fuzz_device_sound(&world->device);
    (void)count_pending(world);
}

static void take_down(struct retire_world* world)
{
    MaarAllocator allocator = world->device.rig.allocator;
    fuzz_device_forget(&world->device);
    for (uint32_t i = 1; i < RETIRED_LINES; ++i) {
        signal_line(world, i, world->values[i] + 8);
    }
    fuzz_require(maarAdvanceHostTimeline(allocator, UINT64_MAX) == VK_SUCCESS);
    world->values[0] = UINT64_MAX;
    if (!world->device.may_be_lost) {
        fuzz_require(maarWaitPending(allocator, UINT64_MAX) == VK_SUCCESS);
        fuzz_require(rig_statistics(&world->device.rig, VK_NULL_HANDLE).pendingCount == 0);
    }
    maarDestroyAllocator(allocator);
    world->device.rig.allocator = VK_NULL_HANDLE;
    for (uint32_t i = 1; i < RETIRED_LINES; ++i) {
        vkDestroySemaphore(world->device.rig.device, world->timelines[i], NULL);
    }
    fuzz_device_close(&world->device);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static struct retire_world world;
    memset(&world, 0, sizeof world);
    world.device.input = (struct fuzz_input){data, size};
    fuzz_device_open(&world.device, NULL, 0);
    for (uint32_t i = 1; i < RETIRED_LINES; ++i) {
        world.timelines[i] = rig_create_timeline(&world.device.rig, 0);
    }
    while (!fuzz_is_dry(&world.device.input)) {
        step(&world);
    }
    take_down(&world);
    return 0;
}
