/*
 * A small program that goes on whatever fails.
 */
#include "tests/fault/fault_replay.h"

#include "tests/fault/fault_balance.h"
#include "tests/fault/fault_rubbish.h"

enum { MOST_SLOTS = 4096 };

struct slot {
    enum replay_op op;
    bool used;
    MaarAllocation memory;
    MaarAllocation planes[2];
    VkBuffer buffer;
    VkImage image;
    MaarSlice slice;
    MaarPool pool;
    uint32_t pool_slot; /* of memory in a pool */
    uint32_t users;     /* of a pool */
};

struct player {
    struct rig rig;
    struct fault_host host;
    const struct replay_program* program;
    struct slot slots[MOST_SLOTS];
    VkSemaphore timeline;
    uint64_t clock;
    uint64_t signalled;
    bool lost;              /* the device may be, by now */
    uint64_t reported_live; /* VkDeviceMemory, as the callbacks have it */
    uint32_t skipped;
    uint32_t made;
};

/* ---- callbacks ---- */

static void VKAPI_PTR count_allocated(void* user, uint32_t type, VkDeviceMemory memory,
                                      VkDeviceSize size)
{
    struct player* p = user;
    assert_true(type < VK_MAX_MEMORY_TYPES && memory != VK_NULL_HANDLE && size > 0);
    ++p->reported_live;
}

static void VKAPI_PTR count_freed(void* user, uint32_t type, VkDeviceMemory memory,
                                  VkDeviceSize size)
{
    struct player* p = user;
    assert_true(type < VK_MAX_MEMORY_TYPES && memory != VK_NULL_HANDLE && size > 0);
    assert_true(p->reported_live > 0);
    --p->reported_live;
}

/* Gives up one plain allocation, if there is any. */
static VkBool32 VKAPI_PTR spare_something(void* user, const MaarOutOfMemoryInfo* info)
{
    struct player* p = user;
    assert_true(info->attempt < MAAR_MAX_OUT_OF_MEMORY_ATTEMPTS);
    for (uint32_t i = 0; i < p->program->slot_count; ++i) {
        struct slot* s = &p->slots[i];
        if (s->used && s->op == REPLAY_MEMORY) {
            maarFreeMemory(p->rig.allocator, s->memory);
            s->used = false;
            return VK_TRUE;
        }
    }
    return VK_FALSE;
}

/* ---- results ---- */

/* A failing call leaves nothing, which `empty` says, and nothing broken. */
static bool worked(struct player* p, VkResult result, bool empty)
{
    if (result == VK_SUCCESS) {
        assert_false(empty);
        ++p->made;
        return true;
    }
    assert_true(result < 0);
    assert_true(empty);
    assert_int_equal(p->reported_live,
                     rig_counters(&p->rig).liveCount[MAAR_SIMULATED_OBJECT_MEMORY]);
    if (++p->skipped < 8 || p->skipped % 32 == 0) { /* the check is slow */
        fault_expect_balance(&p->rig);
    }
    return false;
}

/* The same of a call that returns nothing but whether it worked. */
static bool succeeded(struct player* p, VkResult result)
{
    return worked(p, result, result != VK_SUCCESS);
}

static MaarAllocationCreateInfo how_of(const struct replay_event* event)
{
    static const MaarMemoryUsage usages[4] = {
        MAAR_MEMORY_USAGE_DEVICE_LOCAL,
        MAAR_MEMORY_USAGE_UPLOAD,
        MAAR_MEMORY_USAGE_READBACK,
        MAAR_MEMORY_USAGE_DEVICE_UPLOAD,
    };
    MaarAllocationCreateInfo how = rig_how(usages[event->style % 4]);
    how.flags = event->style % 5 == 1 ? (VkFlags)MAAR_ALLOCATION_CREATE_MAPPED_BIT : 0;
    how.dedicated = event->style % 7 == 0 ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_AUTO;
    how.pName = event->style % 3 == 0 ? "replayed" : NULL;
    return how;
}

/* ---- making ---- */

static bool make_memory(struct player* p, struct slot* s, const struct replay_event* event)
{
    MaarMemoryRequest request = rig_request(event->size, 16, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocationCreateInfo how = how_of(event);
    s->memory = (MaarAllocation)(uintptr_t)1;
    VkResult result = maarAllocateMemory(p->rig.allocator, &request, &how, &s->memory);
    return worked(p, result, s->memory == VK_NULL_HANDLE);
}

static bool make_in_pool(struct player* p, struct slot* s, const struct replay_event* event)
{
    uint32_t found = 0;
    while (found < p->program->slot_count &&
           !(p->slots[found].used && p->slots[found].op == REPLAY_POOL)) {
        ++found;
    }
    if (found == p->program->slot_count) {
        return false;
    }
    MaarMemoryRequest request =
        rig_request(event->size % 50000 + 1, 16, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pool = p->slots[found].pool;
    s->memory = (MaarAllocation)(uintptr_t)1;
    VkResult result = maarAllocateMemory(p->rig.allocator, &request, &how, &s->memory);
    if (!worked(p, result, s->memory == VK_NULL_HANDLE)) {
        return false;
    }
    s->pool_slot = found;
    ++p->slots[found].users;
    return true;
}

static bool make_buffer(struct player* p, struct slot* s, const struct replay_event* event)
{
    const VkBufferCreateInfo info = rig_buffer_info(event->size);
    MaarAllocationCreateInfo how = how_of(event);
    s->buffer = (VkBuffer)(uintptr_t)1;
    s->memory = (MaarAllocation)(uintptr_t)1;
    VkResult result = maarCreateBuffer(p->rig.allocator, &info, &how, &s->buffer, &s->memory);
    return worked(p, result, s->buffer == VK_NULL_HANDLE && s->memory == VK_NULL_HANDLE);
}

static bool make_image(struct player* p, struct slot* s, const struct replay_event* event)
{
    uint32_t width = 1;
    while (width * width * 4 < event->size && width < 4096) {
        width *= 2;
    }
    const VkImageCreateInfo info = rig_image_info(width, width);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = event->style % 7 == 0 ? MAAR_DEDICATED_PREFERRED : MAAR_DEDICATED_AUTO;
    s->image = (VkImage)(uintptr_t)1;
    s->memory = (MaarAllocation)(uintptr_t)1;
    VkResult result = maarCreateImage(p->rig.allocator, &info, &how, &s->image, &s->memory);
    return worked(p, result, s->image == VK_NULL_HANDLE && s->memory == VK_NULL_HANDLE);
}

static bool make_planes(struct player* p, struct slot* s)
{
    VkImageCreateInfo info = rig_image_info(128, 128);
    info.flags = VK_IMAGE_CREATE_DISJOINT_BIT;
    info.format = VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM;
    MaarAllocation planes[3] = {VK_NULL_HANDLE};
    s->image = (VkImage)(uintptr_t)1;
    VkResult result = maarCreateDisjointImage(p->rig.allocator, &info, NULL, 3, &s->image, planes);
    s->memory = planes[0];
    s->planes[0] = planes[1];
    s->planes[1] = planes[2];
    return worked(p, result,
                  s->image == VK_NULL_HANDLE && planes[0] == VK_NULL_HANDLE &&
                      planes[1] == VK_NULL_HANDLE && planes[2] == VK_NULL_HANDLE);
}

static bool make_slice(struct player* p, struct slot* s, const struct replay_event* event)
{
    const MaarSliceCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = event->size % 9000 + 1,
        .usage = event->style % 2 == 0 ? VK_BUFFER_USAGE_VERTEX_BUFFER_BIT
                                       : VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
        .memoryUsage = MAAR_MEMORY_USAGE_UPLOAD,
    };
    s->slice = (MaarSlice)(uintptr_t)1;
    VkResult result = maarCreateSlice(p->rig.allocator, &info, &s->slice);
    return worked(p, result, s->slice == VK_NULL_HANDLE);
}

static bool make_pool(struct player* p, struct slot* s, const struct replay_event* event)
{
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = 1,
        .strategy = (MaarPlacementStrategy)(event->style % 3),
        .blockSize = 128 * KIB,
        .minBlockCount = event->style % 2,
        .pName = "pool",
    };
    s->pool = (MaarPool)(uintptr_t)1;
    VkResult result = maarCreatePool(p->rig.allocator, &info, &s->pool);
    return worked(p, result, s->pool == VK_NULL_HANDLE);
}

static void make(struct player* p, const struct replay_event* event)
{
    struct slot* s = &p->slots[event->slot];
    memset(s, 0, sizeof *s);
    s->op = event->op;
    switch (event->op) {
    case REPLAY_MEMORY:
        s->used = make_memory(p, s, event);
        break;
    case REPLAY_BUFFER:
        s->used = make_buffer(p, s, event);
        break;
    case REPLAY_IMAGE:
        s->used = make_image(p, s, event);
        break;
    case REPLAY_PLANES:
        s->used = make_planes(p, s);
        break;
    case REPLAY_SLICE:
        s->used = make_slice(p, s, event);
        break;
    case REPLAY_POOL:
        s->used = make_pool(p, s, event);
        break;
    case REPLAY_IN_POOL:
        s->used = make_in_pool(p, s, event);
        break;
    default:
        break;
    }
}

/* ---- ending ---- */

static void end_now(struct player* p, struct slot* s)
{
    if (s->slice != VK_NULL_HANDLE) {
        maarDestroySlice(p->rig.allocator, s->slice);
    } else if (s->buffer != VK_NULL_HANDLE) {
        maarDestroyBuffer(p->rig.allocator, s->buffer, s->memory);
    } else if (s->image != VK_NULL_HANDLE) {
        maarDestroyImage(p->rig.allocator, s->image, s->memory);
        maarFreeMemories(p->rig.allocator, 2, s->planes);
    } else {
        maarFreeMemory(p->rig.allocator, s->memory);
    }
}

/* Where it cannot be kept for later, the program waits for the device and ends it at once. */
static void end_later(struct player* p, struct slot* s, uint32_t style)
{
    const MaarPoint points[2] = {
        {style % 2 == 0 ? p->timeline : VK_NULL_HANDLE, p->clock + style % 3},
        {VK_NULL_HANDLE, p->clock + 1},
    };
    MaarAllocator allocator = p->rig.allocator;
    VkResult result = VK_SUCCESS;
    if (s->slice != VK_NULL_HANDLE) {
        result = maarDestroySliceAfter(allocator, s->slice, 2, points);
    } else if (s->buffer != VK_NULL_HANDLE) {
        result = maarDestroyBufferAfter(allocator, s->buffer, s->memory, 2, points);
    } else {
        result = maarFreeMemoryAfter(allocator, s->memory, 2, points);
    }
    if (!succeeded(p, result)) {
        end_now(p, s);
    }
}

static void end(struct player* p, uint32_t index, uint32_t style)
{
    struct slot* s = &p->slots[index];
    if (!s->used || (s->op == REPLAY_POOL && s->users > 0)) {
        return;
    }
    if (s->op == REPLAY_POOL) {
        maarDestroyPool(p->rig.allocator, s->pool);
    } else if (s->op == REPLAY_IN_POOL) {
        --p->slots[s->pool_slot].users;
        end_now(p, s);
    } else if (style % 2 == 0 || s->op == REPLAY_IMAGE || s->op == REPLAY_PLANES) {
        end_now(p, s);
    } else {
        end_later(p, s, style / 2);
    }
    s->used = false;
}

/* ---- using ---- */

static void touch(struct player* p, uint32_t index, uint32_t style)
{
    struct slot* s = &p->slots[index];
    if (!s->used || (s->op != REPLAY_MEMORY && s->op != REPLAY_BUFFER)) {
        return;
    }
    MaarAllocator allocator = p->rig.allocator;
    MaarAllocationInfo info = rig_info(&p->rig, s->memory);
    if (style % 3 == 0) {
        (void)succeeded(p, maarSetAllocationName(allocator, s->memory, "touched"));
    }
    if ((info.propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) == 0) {
        return;
    }
    const unsigned char sent = (unsigned char)style;
    if (succeeded(p, maarCopyToAllocation(allocator, s->memory, info.size - 1, 1, &sent))) {
        unsigned char back = (unsigned char)~sent;
        if (succeeded(p, maarCopyFromAllocation(allocator, s->memory, info.size - 1, 1, &back))) {
            assert_int_equal(sent, back);
        }
    }
    void* data = p;
    VkResult result = maarMapMemory(allocator, s->memory, &data);
    if (worked(p, result, data == NULL)) {
        memset(data, (int)style, info.size < 100 ? (size_t)info.size : 100);
        (void)succeeded(p, maarFlushAllocation(allocator, s->memory, 0, VK_WHOLE_SIZE));
        maarUnmapMemory(allocator, s->memory);
    }
}

static void signal_timeline(struct player* p, uint64_t value)
{
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
        .semaphore = p->timeline,
        .value = value,
    };
    if (p->timeline != VK_NULL_HANDLE && vkSignalSemaphore(p->rig.device, &info) == VK_SUCCESS) {
        p->signalled = value;
    }
}

static uint32_t pending_of(struct player* p)
{
    MaarStatistics statistics = rig_statistics(&p->rig, VK_NULL_HANDLE);
    return statistics.pendingCount + statistics.pendingSliceCount;
}

static void turn_frame(struct player* p)
{
    ++p->clock;
    assert_int_equal(maarAdvanceHostTimeline(p->rig.allocator, p->clock), VK_SUCCESS);
    signal_timeline(p, p->clock);
    const uint32_t before = pending_of(p);
    uint32_t freed = 99;
    VkResult result = maarCollect(p->rig.allocator, &freed);
    /* What waits for another timeline than the one that cannot be read is freed all the same. */
    assert_int_equal(freed, before - pending_of(p));
    if (result == VK_ERROR_DEVICE_LOST) {
        assert_true(p->lost);
        assert_int_equal(pending_of(p), 0);
    } else {
        (void)succeeded(p, result);
    }
}

static void write_dump(struct player* p)
{
    static char text[1 << 18];
    const MaarDumpInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DUMP_INFO,
        .format = p->clock % 2 == 0 ? MAAR_DUMP_FORMAT_MAAR : MAAR_DUMP_FORMAT_VMA,
        .detailed = VK_TRUE,
    };
    size_t size = sizeof text;
    if (succeeded(p, maarWriteDump(p->rig.allocator, &info, &size, text))) {
        assert_int_equal(text[0], '{');
    }
}

static void step(struct player* p, const struct replay_event* event)
{
    switch (event->op) {
    case REPLAY_END:
        end(p, event->slot, event->style);
        break;
    case REPLAY_TOUCH:
        touch(p, event->slot, event->style);
        break;
    case REPLAY_FRAME:
        turn_frame(p);
        break;
    case REPLAY_TRIM:
        assert_int_equal(maarTrim(p->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
        break;
    case REPLAY_DUMP:
        write_dump(p);
        break;
    default:
        if (p->slots[event->slot].used) {
            end(p, event->slot, event->style);
        } else {
            make(p, event);
        }
        break;
    }
}

/* ---- a life ---- */

static void open_player(struct player* p, const struct replay_program* program)
{
    const struct replay_setting* setting = program->setting;
    const struct rig_setup setup = {
        .profile = setting->profile != NULL ? setting->profile() : NULL,
        .flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT,
        .off = setting->off,
        .count_host = true,
    };
    assert_true(program->slot_count <= MOST_SLOTS);
    memset(p, 0, sizeof *p);
    p->program = program;
    rig_open(&p->rig, &setup);
    fault_host_init(&p->host, &p->rig.host_callbacks);
    p->rig.create_info.pAllocationCallbacks = &p->host.callbacks;
    fault_use_rubbish(&p->rig.create_info);
    p->rig.create_info.preferredBlockSize = 2 * MIB; /* many blocks: many calls that may fail */
    p->rig.create_info.flags = setting->flags;
    p->rig.create_info.pfnDeviceAllocate = count_allocated;
    p->rig.create_info.pfnDeviceFree = count_freed;
    p->rig.create_info.pDeviceMemoryUserData = p;
    p->rig.create_info.pfnOutOfMemory = setting->observed ? spare_something : NULL;
    p->rig.create_info.pOutOfMemoryUserData = p;
    p->rig.create_info.strategy = setting->strategy;
    rig_make_allocator(&p->rig);
    if ((setting->off & RIG_OFF_TIMELINE) == 0) {
        p->timeline = rig_create_timeline(&p->rig, 0);
    }
}

static void close_player(struct player* p)
{
    for (uint32_t i = 0; i < p->program->slot_count; ++i) {
        if (p->slots[i].op != REPLAY_POOL) {
            end(p, i, 0);
        }
    }
    for (uint32_t i = 0; i < p->program->slot_count; ++i) {
        end(p, i, 0);
    }
    assert_int_equal(maarAdvanceHostTimeline(p->rig.allocator, UINT64_MAX), VK_SUCCESS);
    signal_timeline(p, p->clock + 10);
    VkResult result = maarWaitPending(p->rig.allocator, UINT64_MAX);
    assert_true(result == VK_SUCCESS || (p->lost && result == VK_ERROR_DEVICE_LOST));
    assert_int_equal(maarTrim(p->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    fault_expect_empty(&p->rig);
    assert_int_equal(p->reported_live, 0);
    assert_int_equal(p->rig.messages.counts[MAAR_MESSAGE_SEVERITY_FATAL], 0);
    assert_int_equal(p->rig.messages.counts[MAAR_MESSAGE_SEVERITY_ERROR], 0);
    vkDestroySemaphore(p->rig.device, p->timeline, NULL);
    rig_close(&p->rig);
}

struct replay_result replay_run(const struct replay_program* program,
                                const struct replay_fault* fault, rig_call_hook call, void* data)
{
    static struct player player;
    open_player(&player, program);
    MaarSimulatedCounters before = rig_counters(&player.rig);
    player.rig.call_data = data;
    player.rig.call = call;
    fault_host_arm(&player.host, fault->kind == REPLAY_HOST ? fault->first : 0, fault->count);
    if (fault->kind == REPLAY_DRIVER && fault->first != 0) {
        player.lost = fault->code == VK_ERROR_DEVICE_LOST;
        rig_set_fault(&player.rig, NULL, fault->first, fault->count, fault->code);
    }
    for (uint32_t i = 0; i < program->event_count; ++i) {
        step(&player, &program->events[i]);
    }
    player.rig.call = NULL;
    rig_clear_faults(&player.rig);
    MaarSimulatedCounters after = rig_counters(&player.rig);
    struct replay_result result = {
        .host_calls = atomic_load(&player.host.calls),
        .driver_calls = after.fallibleCallCount - before.fallibleCallCount,
        .struck = fault_host_disarm(&player.host) + after.faultCount - before.faultCount,
        .skipped = player.skipped,
        .made = player.made,
    };
    close_player(&player);
    return result;
}
