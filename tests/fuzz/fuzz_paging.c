/*
 * Reservations on a simulated device, driven by bytes: ranges are committed, given back and shared,
 * binds submitted, reservations destroyed now or after points, while host memory and the driver
 * fail on demand. After each step the heavy check, and a comparison with a list of what is
 * committed.
 */
#include "tests/fuzz/fuzz_host.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/rig/rig.h"

enum { HOLDERS = 5, MOST_PAGES = 1100, MOST_RUNS = MOST_PAGES };

struct holder {
    MaarReservation reservation; /* null: none */
    MaarReservationInfo info;
    uint32_t page_count;
    bool aliased;
    bool copying;
    bool gave_back; /* pages, since the last submission */
    bool committed[MOST_PAGES];
};

struct paging_world {
    struct fuzz_input input;
    struct rig rig;
    struct fuzz_host host;
    MaarSimulatedProfile profile;
    struct holder holders[HOLDERS];
    VkSemaphore timeline;
    uint64_t timeline_value;
    bool may_fail;
    MaarPageRun runs[MOST_RUNS];
};

static void set_up(struct paging_world* world)
{
    struct fuzz_input* input = &world->input;
    const uint8_t way = fuzz_byte(input);
    MaarSimulatedProfile* profile = &world->profile;
    *profile = (way & 1) != 0 ? *rig_profile_tiny() : *rig_profile_discrete();
    profile->sparse.sparseBinding = (way & 0x38) != 0x38;
    profile->sparse.residencyBuffer = profile->sparse.sparseBinding && (way & 0x38) != 0x30;
    profile->sparse.residencyAliased = profile->sparse.residencyBuffer;
    profile->requirements.sparseAlignment = (VkDeviceSize)4096 << fuzz_below(input, 10);
    profile->limits.sparseAddressSpaceSize = (VkDeviceSize)1 << (30 + fuzz_below(input, 8));
    if ((way & 0x40) != 0) {
        profile->heaps[0].size = MIB + fuzz_scaled(input, 28);
    }
    rig_open(&world->rig, &(struct rig_setup){.profile = profile});
    fuzz_host_init(&world->host);
    world->rig.create_info.pAllocationCallbacks = &world->host.callbacks;
    world->rig.create_info.flags = (way & 2) != 0 ? MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT : 0;
    const MaarQueue queue = {.queue = world->rig.queue};
    world->rig.create_info.queueCount = 1;
    world->rig.create_info.pQueues = &queue;
    rig_make_allocator(&world->rig);
    world->timeline = rig_create_timeline(&world->rig, 0);
}

static VkResult allowed(const struct paging_world* world, VkResult result)
{
    fuzz_require(result == VK_SUCCESS || world->may_fail ||
                 result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_TOO_MANY_OBJECTS);
    return result;
}

static void create(struct paging_world* world, struct holder* holder)
{
    const uint8_t way = fuzz_byte(&world->input);
    const VkDeviceSize page = world->profile.requirements.sparseAlignment;
    VkBufferCreateInfo buffer = rig_buffer_info(1 + fuzz_below(&world->input, MOST_PAGES * page));
    holder->aliased = (way & 1) != 0 && world->profile.sparse.residencyAliased == VK_TRUE;
    holder->copying = (way & 0x0E) == 0x0E && !holder->aliased;
    MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .flags = (holder->aliased ? MAAR_RESERVATION_CREATE_ALIASED_BIT : 0u) |
                 (holder->copying ? MAAR_RESERVATION_CREATE_COPYING_BIT : 0u),
        .pBufferInfo = &buffer,
    };
    if (allowed(world, maarCreateReservation(world->rig.allocator, &info, &holder->reservation)) !=
        VK_SUCCESS) {
        fuzz_require(holder->reservation == VK_NULL_HANDLE);
        return;
    }
    holder->info = (MaarReservationInfo){.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    fuzz_require(maarGetReservationInfo(world->rig.allocator, holder->reservation, &holder->info) ==
                 VK_SUCCESS);
    holder->copying = holder->info.sparse != VK_TRUE;
    holder->page_count =
        (uint32_t)((holder->info.size + holder->info.pageSize - 1) / holder->info.pageSize);
    fuzz_require(holder->copying || holder->page_count <= MOST_PAGES);
    memset(holder->committed, 0, sizeof holder->committed);
}

/* Bytes, most often whole pages, always inside. */
static MaarPageRange draw_range(struct paging_world* world, const struct holder* holder)
{
    struct fuzz_input* input = &world->input;
    const bool crooked = (fuzz_byte(input) & 7) == 0;
    const VkDeviceSize page = holder->info.pageSize;
    MaarPageRange range = {.offset = fuzz_below(input, holder->page_count) * page};
    range.size = fuzz_below(input, 64) * page;
    if (crooked) {
        range.offset += fuzz_below(input, page);
        range.size += fuzz_below(input, page);
    }
    if (range.offset >= holder->info.size) {
        range.offset = 0;
    }
    if (range.size > holder->info.size - range.offset) {
        range.size = holder->info.size - range.offset;
    }
    return range;
}

static void note(struct holder* holder, const MaarPageRange* range, bool committed)
{
    const VkDeviceSize page = holder->info.pageSize;
    const VkDeviceSize end = range->offset + range->size;
    for (uint32_t i = 0; i < holder->page_count && !holder->copying; ++i) {
        const VkDeviceSize from = i * page;
        const VkDeviceSize to = from + page < holder->info.size ? from + page : holder->info.size;
        const bool touched = range->size > 0 && from < end && range->offset < to;
        const bool inside = range->size > 0 && range->offset <= from && to <= end;
        if (committed ? touched : inside) {
            holder->committed[i] = committed;
        }
    }
}

static void commit(struct paging_world* world, struct holder* holder, bool committed)
{
    MaarPageRange ranges[3];
    const uint32_t count = 1 + (uint32_t)fuzz_below(&world->input, 3);
    for (uint32_t i = 0; i < count; ++i) {
        ranges[i] = draw_range(world, holder);
    }
    MaarAllocator allocator = world->rig.allocator;
    VkResult result = VK_SUCCESS;
    if (committed) {
        result = maarCommitPages(allocator, holder->reservation, count, ranges);
        if (result == VK_ERROR_VALIDATION_FAILED_EXT) {
            /* Another range shows a page that this one gave back and has not submitted. */
            fuzz_require(holder->aliased && holder->gave_back);
        } else {
            (void)allowed(world, result);
        }
    } else {
        result = maarDecommitPages(allocator, holder->reservation, count, ranges);
        fuzz_require(result == VK_SUCCESS);
        holder->gave_back = true;
    }
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; ++i) {
        note(holder, &ranges[i], committed);
    }
}

static void alias(struct paging_world* world, struct holder* to, struct holder* from)
{
    const uint32_t from_first = (uint32_t)fuzz_below(&world->input, from->page_count);
    const uint32_t to_first = (uint32_t)fuzz_below(&world->input, to->page_count);
    const uint32_t count = 1 + (uint32_t)fuzz_below(&world->input, 8);
    const VkDeviceSize page = to->info.pageSize;
    const VkResult result = maarAliasPages(world->rig.allocator, to->reservation, to_first * page,
                                           count * page, from->reservation, from_first * page);
    if (result != VK_SUCCESS) {
        return;
    }
    fuzz_require(to->aliased && from->aliased);
    for (uint32_t i = 0; i < count; ++i) {
        fuzz_require(from->committed[from_first + i] && !to->committed[to_first + i]);
        to->committed[to_first + i] = true;
    }
}

static void submit(struct paging_world* world)
{
    const MaarPoint wait = {.semaphore = world->timeline, .value = world->timeline_value};
    MaarPoint point;
    const VkResult result = allowed(
        world, maarSubmitBinds(world->rig.allocator, fuzz_byte(&world->input) & 1, &wait, &point));
    for (uint32_t i = 0; i < HOLDERS && result == VK_SUCCESS; ++i) {
        world->holders[i].gave_back = false;
    }
}

static void destroy(struct paging_world* world, struct holder* holder)
{
    const uint8_t way = fuzz_byte(&world->input);
    const MaarPoint point = {.semaphore = world->timeline,
                             .value = world->timeline_value + (way >> 6)};
    if ((way & 1) == 0) {
        maarDestroyReservation(world->rig.allocator, holder->reservation);
    } else if (maarDestroyReservationAfter(world->rig.allocator, holder->reservation, 1, &point) !=
               VK_SUCCESS) {
        fuzz_require(world->may_fail);
        return;
    }
    *holder = (struct holder){.page_count = 0};
}

static void plan_faults(struct paging_world* world)
{
    const uint8_t way = fuzz_byte(&world->input);
    rig_clear_faults(&world->rig);
    fuzz_host_plan(&world->host, 0, 0);
    if ((way & 3) == 0) {
        return;
    }
    world->may_fail = true;
    if ((way & 1) != 0) {
        fuzz_host_plan(&world->host, way >> 4, 1 + (way >> 2 & 1));
    }
    if ((way & 2) != 0) {
        const bool lost = (way & 0xFC) == 0xFC;
        rig_set_fault(&world->rig, NULL, 1 + (way >> 5), 1 + (way >> 3 & 1),
                      lost ? VK_ERROR_DEVICE_LOST : VK_SUCCESS);
    }
}

/* ---- comparing ---- */

static void require_pages(struct paging_world* world, const struct holder* holder)
{
    uint32_t count = MOST_RUNS;
    fuzz_require(maarEnumerateReservationPages(world->rig.allocator, holder->reservation, &count,
                                               world->runs) == VK_SUCCESS);
    if (holder->copying) {
        return;
    }
    uint32_t page = 0;
    VkDeviceSize sum = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const MaarPageRun* run = &world->runs[i];
        const uint32_t first = (uint32_t)(run->offset / holder->info.pageSize);
        fuzz_require(run->memory != VK_NULL_HANDLE && run->size > 0 && first >= page);
        for (; page < first; ++page) {
            fuzz_require(!holder->committed[page]);
        }
        for (VkDeviceSize done = 0; done < run->size; done += holder->info.pageSize) {
            fuzz_require(holder->committed[page++]);
        }
        sum += run->size;
    }
    for (; page < holder->page_count; ++page) {
        fuzz_require(!holder->committed[page]);
    }
    MaarReservationInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    fuzz_require(maarGetReservationInfo(world->rig.allocator, holder->reservation, &info) ==
                 VK_SUCCESS);
    fuzz_require(info.buffer == holder->info.buffer && info.address == holder->info.address);
    fuzz_require(info.committedSize >= sum);
}

static void require_sound(struct paging_world* world)
{
    const MaarSimulatedCounters counters = rig_counters(&world->rig);
    if (counters.violationCount != 0) {
        (void)fprintf(stderr, "violation: %s\n", world->rig.violation);
        abort();
    }
    rig_check(&world->rig);
    const MaarStatistics statistics = rig_statistics(&world->rig, VK_NULL_HANDLE);
    fuzz_require(statistics.blockCount == counters.liveCount[MAAR_SIMULATED_OBJECT_MEMORY]);
    MaarPagingStatistics paging = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    fuzz_require(maarGetPagingStatistics(world->rig.allocator, &paging) == VK_SUCCESS);
    fuzz_require(paging.committedBytes + paging.heldBytes + paging.freeBytes == paging.blockBytes);
    for (uint32_t i = 0; i < HOLDERS; ++i) {
        if (world->holders[i].reservation != VK_NULL_HANDLE) {
            require_pages(world, &world->holders[i]);
        }
    }
}

static void step(struct paging_world* world)
{
    const uint8_t action = fuzz_byte(&world->input);
    struct holder* holder = &world->holders[action % HOLDERS];
    if (action >= 240) {
        plan_faults(world);
    } else if (action >= 200) {
        submit(world);
    } else if (action >= 190) {
        ++world->timeline_value;
        rig_clear_faults(&world->rig);
        rig_signal(&world->rig, world->timeline, world->timeline_value);
    } else if (holder->reservation == VK_NULL_HANDLE) {
        create(world, holder);
    } else if (action >= 175) {
        destroy(world, holder);
    } else if (action >= 165) {
        struct holder* other = &world->holders[(action + 1) % HOLDERS];
        if (other->reservation != VK_NULL_HANDLE) {
            alias(world, holder, other);
        }
    } else {
        commit(world, holder, action >= 60);
    }
    require_sound(world);
}

static void take_down(struct paging_world* world)
{
    rig_clear_faults(&world->rig);
    fuzz_host_plan(&world->host, 0, 0);
    for (uint32_t i = 0; i < HOLDERS; ++i) {
        maarDestroyReservation(world->rig.allocator, world->holders[i].reservation);
    }
    /* A fault of a submission may be the loss of the device. */
    const VkResult last = maarSubmitBinds(world->rig.allocator, 0, NULL, NULL);
    if (last == VK_SUCCESS) {
        rig_signal(&world->rig, world->timeline, world->timeline_value + 8);
    }
    const VkResult waited = maarWaitPending(world->rig.allocator, UINT64_MAX);
    fuzz_require(waited == VK_SUCCESS || (waited == VK_ERROR_DEVICE_LOST && world->may_fail));
    if (waited == VK_SUCCESS) {
        fuzz_require(last == VK_SUCCESS);
        fuzz_require(maarTrim(world->rig.allocator, VK_NULL_HANDLE, NULL) == VK_SUCCESS);
        const MaarStatistics statistics = rig_statistics(&world->rig, VK_NULL_HANDLE);
        fuzz_require(statistics.blockCount == 0);
    }
    maarDestroyAllocator(world->rig.allocator);
    world->rig.allocator = VK_NULL_HANDLE;
    fuzz_require(world->host.live == 0);
    vkDestroySemaphore(world->rig.device, world->timeline, NULL);
    rig_close(&world->rig);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static struct paging_world world;
    memset(&world, 0, sizeof world);
    world.input = (struct fuzz_input){data, size};
    set_up(&world);
    while (!fuzz_is_dry(&world.input)) {
        step(&world);
    }
    take_down(&world);
    return 0;
}
