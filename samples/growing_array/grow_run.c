/*
 * Grows an array; see grow_run.h. append_batch() contains the lesson of the sample: append, submit
 * the binds, and let the work wait for the point.
 */
#include "grow_run.h"

#include "grow_work.h"
#include "support/seconds.h"

#include <string.h>

struct growth {
    const struct sample_device* device;
    const struct grow_options* options;
    struct grow_figures* figures;
    struct grow_work work;
    MaarArray array;
    MaarPagingStatistics before;
};

/* ---- what fits ---- */

/* Returns the available bytes of the largest device-local heap. */
static uint64_t room_in_memory(const struct sample_device* device)
{
    MaarAllocatorInfo known = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    MaarHeapBudget budgets[VK_MAX_MEMORY_HEAPS];
    uint32_t count = VK_MAX_MEMORY_HEAPS;
    uint64_t most = 0;
    for (uint32_t i = 0; i < count; ++i) {
        budgets[i] = (MaarHeapBudget){.sType = MAAR_STRUCTURE_TYPE_HEAP_BUDGET};
    }
    if (maarGetAllocatorInfo(device->allocator, &known) != VK_SUCCESS ||
        maarGetHeapBudgets(device->allocator, &count, budgets) != VK_SUCCESS) {
        return 0;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const bool local =
            (known.memoryProperties.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0;
        const uint64_t room =
            budgets[i].budget > budgets[i].usage ? budgets[i].budget - budgets[i].usage : 0;
        most = local && room > most ? room : most;
    }
    return most;
}

uint64_t grow_fitting_size(const struct sample_device* device, uint64_t size, bool copying,
                           const char** why)
{
    MaarPagingInfo paging = {.sType = MAAR_STRUCTURE_TYPE_PAGING_INFO};
    MaarAllocatorInfo known = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    const uint64_t wanted = size;
    *why = NULL;
    if (maarGetPagingInfo(device->allocator, &paging) != VK_SUCCESS ||
        maarGetAllocatorInfo(device->allocator, &known) != VK_SUCCESS) {
        return 0;
    }
    const bool sparse = paging.sparseReservations == VK_TRUE && !copying;
    /* The new buffer and the old one exist at the same time. */
    const uint64_t room = room_in_memory(device) / 8 * (sparse ? 7 : 3);
    const struct {
        uint64_t limit;
        const char* name;
    } limits[] = {
        {room, "memory"},
        {paging.maxBufferSize, "maxBufferSize"},
        {sparse ? paging.addressSpaceSize : known.maxMemoryAllocationSize,
         sparse ? "sparseAddressSpaceSize" : "maxMemoryAllocationSize"},
    };
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); ++i) {
        if (limits[i].limit < size) {
            size = limits[i].limit;
            *why = limits[i].name;
        }
    }
    const uint64_t unit = (uint64_t)1 << 16;
    return size == wanted ? size : size / unit * unit;
}

/* ---- growing ---- */

static bool create_array(struct growth* growth)
{
    const struct sample_device* const device = growth->device;
    /* Work runs on the main queue. A copying reservation also uses the queue for copies. */
    const uint32_t families[2] = {device->queue_families[0], device->binding.familyIndex};
    const bool shared = families[0] != families[1];
    const VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = growth->figures->size,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                 (growth->figures->by_address ? VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT : 0),
        .sharingMode = shared ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
        .queueFamilyIndexCount = shared ? 2 : 0,
        .pQueueFamilyIndices = families,
    };
    const MaarAllocationCreateInfo memory = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pName = "elements",
    };
    const MaarArrayCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO,
        .elementSize = GROW_ELEMENT_SIZE,
        .reservation = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                        .flags = growth->figures->copying ? MAAR_RESERVATION_CREATE_COPYING_BIT : 0,
                        .pBufferInfo = &buffer,
                        .pMemoryInfo = &memory},
    };
    return sample_succeeded(maarCreateArray(device->allocator, &info, &growth->array),
                            "maarCreateArray");
}

static bool read_reservation(const struct growth* growth, MaarReservationInfo* info)
{
    MaarArrayInfo array = {.sType = MAAR_STRUCTURE_TYPE_ARRAY_INFO};
    *info = (MaarReservationInfo){.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    MaarAllocator const allocator = growth->device->allocator;
    return sample_succeeded(maarGetArrayInfo(allocator, growth->array, &array),
                            "maarGetArrayInfo") &&
           sample_succeeded(maarGetReservationInfo(allocator, array.reservation, info),
                            "maarGetReservationInfo");
}

static void read_statistics(const struct growth* growth, MaarPagingStatistics* paging)
{
    *paging = (MaarPagingStatistics){.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    (void)maarGetPagingStatistics(growth->device->allocator, paging);
}

static void mark(struct growth* growth, const MaarReservationInfo* reservation)
{
    struct grow_figures* const figures = growth->figures;
    MaarPagingStatistics paging;
    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    read_statistics(growth, &paging);
    (void)maarGetStatistics(growth->device->allocator, VK_NULL_HANDLE, &statistics);
    figures->committed = reservation->committedSize;
    figures->pages = paging.pagesBound - growth->before.pagesBound;
    figures->binds = paging.bindCount - growth->before.bindCount;
    figures->submissions = paging.submissionCount - growth->before.submissionCount;
    figures->copied = paging.copiedBytes - growth->before.copiedBytes;
    figures->moves = reservation->moveCount;
    figures->last_address = reservation->address;
    if (statistics.blockBytes > figures->most_memory) {
        figures->most_memory = statistics.blockBytes;
    }
    if (figures->mark_count < GROW_MAX_MARKS) {
        figures->marks[figures->mark_count++] = (struct grow_mark){
            .appended = figures->appended,
            .committed = figures->committed,
            .memory = statistics.blockBytes,
            .copied = figures->copied,
            .binds = figures->binds,
            .submissions = figures->submissions,
        };
    }
}

/* Appends elements. The device writes them as soon as their pages are bound. Only the device waits
 * for the device. */
static bool append_batch(struct growth* growth, uint64_t count)
{
    struct grow_figures* const figures = growth->figures;
    MaarAllocator const allocator = growth->device->allocator;
    uint64_t first = 0;
    const VkResult result = maarAppendArray(allocator, growth->array, count, &first);
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY) {
        figures->out_of_reach = true;
        return true;
    }
    /* Bound pages never move, so binds wait for nothing. A copy waits for earlier writes to the
     * buffer that it copies. */
    const MaarPoint written = {growth->work.timeline, growth->work.value};
    MaarPoint bound = {.value = 0};
    MaarReservationInfo reservation;
    if (!sample_succeeded(result, "maarAppendArray") ||
        !sample_succeeded(maarSubmitBinds(allocator, figures->copying ? 1 : 0, &written, &bound),
                          "maarSubmitBinds") ||
        !read_reservation(growth, &reservation)) {
        return false;
    }
    /* The address of the empty array stays valid, unless the array grows by copies. */
    const struct grow_place place = {.buffer = reservation.buffer,
                                     .address = figures->copying ? reservation.address
                                                                 : figures->first_address};
    if (!growth->options->memory_only &&
        !grow_work_write(&growth->work, &place, first, count, &bound)) {
        return false;
    }
    figures->appended += count * GROW_ELEMENT_SIZE;
    figures->elements += count;
    mark(growth, &reservation);
    (void)maarCollect(allocator, NULL);
    return true;
}

static bool verify(struct growth* growth)
{
    struct grow_figures* const figures = growth->figures;
    MaarReservationInfo reservation;
    if (!read_reservation(growth, &reservation)) {
        return false;
    }
    const struct grow_place place = {.buffer = reservation.buffer,
                                     .address = figures->copying ? reservation.address
                                                                 : figures->first_address};
    if (!growth->options->memory_only &&
        !grow_work_verify(&growth->work, &place, figures->elements, &figures->matching)) {
        return false;
    }
    figures->verified_all = figures->elements > 0 && figures->matching == figures->elements;
    return true;
}

/* Returns the reason why the device can only grow by copies. */
static const char* find_lack(const struct growth* growth)
{
    MaarPagingInfo paging = {.sType = MAAR_STRUCTURE_TYPE_PAGING_INFO};
    (void)maarGetPagingInfo(growth->device->allocator, &paging);
    return paging.stitching == VK_TRUE ? "the device has no sparse residency of buffers"
                                       : "the device has no sparse binding";
}

static bool fill_array(struct growth* growth)
{
    struct grow_figures* const figures = growth->figures;
    MaarReservationInfo reservation;
    if (!create_array(growth) || !read_reservation(growth, &reservation)) {
        return false;
    }
    if (!figures->copying && reservation.sparse == VK_FALSE) {
        figures->why = find_lack(growth);
        figures->copying = true;
    }
    figures->page_size = reservation.pageSize;
    figures->first_address = reservation.address;
    const uint64_t total = figures->size / GROW_ELEMENT_SIZE;
    const uint64_t batch = growth->options->batch / GROW_ELEMENT_SIZE;
    while (figures->elements < total && !figures->out_of_reach) {
        const uint64_t left = total - figures->elements;
        if (!append_batch(growth, batch < left ? batch : left)) {
            return false;
        }
    }
    return grow_work_wait(&growth->work) && verify(growth);
}

bool grow_run(const struct sample_device* device, const struct grow_options* options, bool copying,
              struct grow_figures* figures)
{
    MaarAllocatorInfo known = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    struct growth growth = {.device = device, .options = options, .figures = figures};
    const uint64_t size = figures->size;
    memset(figures, 0, sizeof(*figures));
    figures->size = size;
    figures->copying = copying;
    figures->batch = options->batch;
    (void)maarGetAllocatorInfo(device->allocator, &known);
    figures->by_address = known.bufferDeviceAddress == VK_TRUE && !options->windows;
    read_statistics(&growth, &growth.before);
    const double begin = support_seconds_now();
    const bool done =
        grow_work_create(&growth.work, device, figures->by_address) && fill_array(&growth);
    figures->seconds = support_seconds_now() - begin;
    grow_work_destroy(&growth.work);
    maarDestroyArray(device->allocator, growth.array);
    (void)maarWaitPending(device->allocator, UINT64_MAX);
    (void)maarTrim(device->allocator, VK_NULL_HANDLE, NULL);
    return done;
}

bool grow_is_well(const struct grow_figures* figures, const struct grow_options* options)
{
    const bool unmoved = figures->moves == 0 && figures->copied == 0 &&
                         figures->last_address == figures->first_address;
    return figures->elements > 0 && figures->committed >= figures->appended &&
           (figures->copying || unmoved) && (options->memory_only || figures->verified_all);
}
