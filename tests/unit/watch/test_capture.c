/*
 * Captures from inside, on one thread: the history that is read back equals what the case did and
 * what the allocator says.
 */
#define _POSIX_C_SOURCE 200809L
#include "core/memory/object_handle.h"
#include "core/memory/pool.h"
#include "tests/rig/captured.h"

#include <pthread.h>
#include <time.h>

struct inside {
    struct rig* rig;
    char path[128];
    struct support_history history;
};

static struct inside inside_begin(const struct rig_setup* setup)
{
    struct inside inside = {.rig = rig_begin(setup)};
    assert_int_equal(captured_begin(inside.rig->allocator, captured_path(0, inside.path), 0),
                     VK_SUCCESS);
    return inside;
}

static void inside_end(struct inside* inside)
{
    assert_int_equal(maarEndCapture(inside->rig->allocator), VK_SUCCESS);
    captured_load(inside->path, &inside->history);
}

static VkBuffer make_buffer(struct rig* rig, VkDeviceSize size, const char* name,
                            MaarAllocation* allocation)
{
    const VkBufferCreateInfo info = rig_buffer_info(size);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    VkBuffer buffer = VK_NULL_HANDLE;
    how.pName = name;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffer, allocation),
                     VK_SUCCESS);
    return buffer;
}

static void capture_empty_names_device(void** state)
{
    (void)state;
    struct inside inside = inside_begin(NULL);
    inside_end(&inside);
    const struct support_history* const history = &inside.history;
    const MaarAllocatorInfo info = rig_allocator_info(inside.rig);
    const VkPhysicalDeviceMemoryProperties* const memory = &info.memoryProperties;
    captured_check(history, false);
    assert_int_equal(history->devices.count, 1);
    assert_string_equal(history->header.program, "a test");
    const struct support_history_device* const device = &history->devices.items[0];
    assert_string_equal(support_history_text(history, device->name), info.deviceName);
    assert_int_equal(device->facts.heapCount, memory->memoryHeapCount);
    for (uint32_t i = 0; i < memory->memoryHeapCount; ++i) {
        assert_int_equal(device->heaps[i].size, memory->memoryHeaps[i].size);
        assert_int_equal(device->heaps[i].flags, memory->memoryHeaps[i].flags);
    }
    for (uint32_t i = 0; i < memory->memoryTypeCount; ++i) {
        assert_int_equal(device->types[i].flags, memory->memoryTypes[i].propertyFlags);
        assert_int_equal(device->types[i].heap, memory->memoryTypes[i].heapIndex);
    }
    assert_int_equal(captured_count(history, MAAR_CAPTURE_KIND_BUDGET), 1);
    support_history_release(&inside.history);
}

static void capture_allocations_are_ranges(void** state)
{
    (void)state;
    struct inside inside = inside_begin(NULL);
    struct rig* const rig = inside.rig;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pName = "first";
    const MaarAllocation first = rig_allocate(rig, 1000, &how);
    how.pName = NULL;
    const MaarAllocation second = rig_allocate(rig, 5000, &how);
    const MaarAllocation third = rig_allocate(rig, 64 * MIB, &how);
    assert_int_equal(maarSetAllocationName(rig->allocator, second, "second"), VK_SUCCESS);
    maarFreeMemory(rig->allocator, first);
    const MaarAllocationInfo info = rig_info(rig, second);
    inside_end(&inside);
    captured_check(&inside.history, false);
    captured_compare(&inside.history, rig);
    const struct support_history_resource* const found = captured_find(&inside.history, "second");
    assert_non_null(found);
    assert_int_equal(found->kind, SUPPORT_HISTORY_RANGE);
    assert_int_equal(found->size, 5000);
    assert_int_equal(found->offset, info.offset);
    assert_int_equal(found->end_event, SUPPORT_HISTORY_NONE);
    const struct support_history_resource* const gone = captured_find(&inside.history, "first");
    assert_non_null(gone);
    assert_int_not_equal(gone->end_event, SUPPORT_HISTORY_NONE);
    assert_int_equal(captured_count(&inside.history, MAAR_CAPTURE_KIND_RANGE), 3);
    assert_int_equal(captured_count(&inside.history, MAAR_CAPTURE_KIND_MEMORY), 2);
    support_history_release(&inside.history);
    maarFreeMemory(rig->allocator, second);
    maarFreeMemory(rig->allocator, third);
}

/* A thread that allocates while others do. */
struct late {
    struct rig* rig;
    const MaarAllocationCreateInfo* how;
    pthread_t thread;
    MaarAllocation memory;
    VkResult result;
};

static void* allocate_late(void* argument)
{
    struct late* const late = argument;
    const MaarMemoryRequest request =
        rig_request(600 * KIB, 256, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    late->result = maarAllocateMemory(late->rig->allocator, &request, late->how, &late->memory);
    return NULL;
}

/* Two threads find the first arena of a pool locked. One of them gets an arena of its own, and
 * makes a block there, since the others have no room. */
static void capture_has_arenas_of_threads_that_come_later(void** state)
{
    enum { LATE = 2 };
    (void)state;
    struct inside inside = inside_begin(NULL);
    struct rig* const rig = inside.rig;
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 0, .blockSize = MIB};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = rig_create_pool(rig, &info);
    how.dedicated = MAAR_DEDICATED_NEVER;
    struct maar_pool* const pool = maar_pool_of(rig->allocator, how.pool);
    const MaarAllocation first = rig_allocate(rig, 600 * KIB, &how);
    struct late late[LATE];
    maar_mutex_lock(&pool->first_arena->lock);
    for (int i = 0; i < LATE; ++i) {
        late[i] = (struct late){.rig = rig, .how = &how};
        assert_int_equal(pthread_create(&late[i].thread, NULL, allocate_late, &late[i]), 0);
    }
    while (maar_atomic32_load(&pool->arenas.count) < 2) {
        const struct timespec time = {.tv_nsec = 1000000};
        nanosleep(&time, NULL);
    }
    maar_mutex_unlock(&pool->first_arena->lock);
    for (int i = 0; i < LATE; ++i) {
        assert_int_equal(pthread_join(late[i].thread, NULL), 0);
        assert_int_equal(late[i].result, VK_SUCCESS);
    }
    struct maar_arena* const second = maar_pool_next_arena(pool, 1);
    assert_int_equal(second->block_count, 1);
    for (int i = 0; i < LATE; ++i) {
        maarFreeMemory(rig->allocator, late[i].memory);
    }
    maarFreeMemory(rig->allocator, first);
    inside_end(&inside);
    captured_check(&inside.history, false);
    captured_compare(&inside.history, rig);
    assert_int_equal(captured_count(&inside.history, MAAR_CAPTURE_KIND_MEMORY), LATE + 1);
    assert_int_equal(captured_count(&inside.history, MAAR_CAPTURE_KIND_RANGE), LATE + 1);
    assert_int_equal(captured_count(&inside.history, MAAR_CAPTURE_KIND_RANGE_END), LATE + 1);
    support_history_release(&inside.history);
}

static void capture_objects_take_the_place_of_ranges(void** state)
{
    (void)state;
    struct inside inside = inside_begin(NULL);
    struct rig* const rig = inside.rig;
    MaarAllocation memories[3];
    const VkBuffer kept = make_buffer(rig, 3000, "vertices", &memories[0]);
    const VkBuffer destroyed = make_buffer(rig, 4000, "staging", &memories[1]);
    const VkImageCreateInfo image_info = rig_image_info(64, 32);
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .dedicated = MAAR_DEDICATED_ALWAYS};
    VkImage image = VK_NULL_HANDLE;
    assert_int_equal(maarCreateImage(rig->allocator, &image_info, &how, &image, &memories[2]),
                     VK_SUCCESS);
    assert_int_equal(maarSetAllocationName(rig->allocator, memories[2], "shadow"), VK_SUCCESS);
    maarDestroyBuffer(rig->allocator, destroyed, memories[1]);
    inside_end(&inside);
    const struct support_history* const history = &inside.history;
    captured_check(history, false);
    captured_compare(history, rig);
    assert_int_equal(captured_count(history, MAAR_CAPTURE_KIND_RANGE), 0);
    const struct support_history_resource* const buffer = captured_find(history, "vertices");
    assert_non_null(buffer);
    assert_int_equal(buffer->kind, SUPPORT_HISTORY_BUFFER);
    assert_int_equal(buffer->asked, 3000);
    assert_int_equal(buffer->usage, rig_buffer_info(1).usage);
    assert_int_not_equal(captured_find(history, "staging")->end_event, SUPPORT_HISTORY_NONE);
    const struct support_history_resource* const shadow = captured_find(history, "shadow");
    assert_non_null(shadow);
    assert_int_equal(shadow->kind, SUPPORT_HISTORY_IMAGE);
    assert_int_equal(history->images.items[shadow->image].width, 64);
    assert_int_equal(history->memories.items[shadow->memory].flags &
                         MAAR_CAPTURE_MEMORY_DEDICATED_IMAGE_BIT,
                     MAAR_CAPTURE_MEMORY_DEDICATED_IMAGE_BIT);
    assert_int_equal(history->memories.items[buffer->memory].flags & MAAR_CAPTURE_MEMORY_BLOCK_BIT,
                     MAAR_CAPTURE_MEMORY_BLOCK_BIT);
    support_history_release(&inside.history);
    maarDestroyBuffer(rig->allocator, kept, memories[0]);
    maarDestroyImage(rig->allocator, image, memories[2]);
}

static void capture_begun_late_lists_what_lives(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    struct inside inside = {.rig = rig};
    const VkSemaphore timeline = rig_create_timeline(rig, 0);
    const MaarPoint point = {.semaphore = timeline, .value = 1};
    MaarAllocation memories[5];
    VkBuffer buffers[4];
    buffers[0] = make_buffer(rig, 1000, "old buffer", &memories[0]);
    buffers[1] = make_buffer(rig, 2000, NULL, &memories[1]);
    buffers[2] = make_buffer(rig, 3000, "pending", &memories[2]);
    memories[3] = rig_allocate(rig, 64 * MIB, NULL);
    assert_int_equal(maarDestroyBufferAfter(rig->allocator, buffers[2], memories[2], 1, &point),
                     VK_SUCCESS);
    assert_int_equal(captured_begin(rig->allocator, captured_path(1, inside.path), 0), VK_SUCCESS);
    buffers[3] = make_buffer(rig, 4000, "new buffer", &memories[4]);
    assert_int_equal(maarSetAllocationName(rig->allocator, memories[0], "renamed"), VK_SUCCESS);
    maarDestroyBuffer(rig->allocator, buffers[1], memories[1]);
    rig_signal(rig, timeline, 1);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    inside_end(&inside);
    captured_check(&inside.history, false);
    captured_compare(&inside.history, rig);
    assert_int_equal(captured_count(&inside.history, MAAR_CAPTURE_KIND_RANGE), 4);
    assert_int_equal(captured_count(&inside.history, MAAR_CAPTURE_KIND_RANGE_END), 2);
    assert_int_equal(captured_count(&inside.history, MAAR_CAPTURE_KIND_BUFFER), 1);
    assert_int_equal(captured_find(&inside.history, "renamed")->kind, SUPPORT_HISTORY_RANGE);
    assert_int_not_equal(captured_find(&inside.history, "pending")->end_event,
                         SUPPORT_HISTORY_NONE);
    support_history_release(&inside.history);
    maarDestroyBuffer(rig->allocator, buffers[0], memories[0]);
    maarDestroyBuffer(rig->allocator, buffers[3], memories[4]);
    maarFreeMemory(rig->allocator, memories[3]);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

/* The end stands where the bytes come free. */
static void capture_pending_ends_when_its_points_pass(void** state)
{
    (void)state;
    struct inside inside = inside_begin(NULL);
    struct rig* const rig = inside.rig;
    const MaarPoint point = {.value = 1}; /* of the host timeline */
    MaarAllocation memory;
    const VkBuffer buffer = make_buffer(rig, 1000, "late", &memory);
    assert_int_equal(maarDestroyBufferAfter(rig->allocator, buffer, memory, 1, &point), VK_SUCCESS);
    assert_int_equal(maarCaptureMark(rig->allocator, "freed"), VK_SUCCESS);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    inside_end(&inside);
    const struct support_history* const history = &inside.history;
    captured_check(history, false);
    uint32_t mark = SUPPORT_HISTORY_NONE;
    for (uint32_t i = 0; i < history->events.count; ++i) {
        mark = history->events.items[i].kind == MAAR_CAPTURE_KIND_MARK ? i : mark;
    }
    assert_true(captured_find(history, "late")->end_event > mark);
    assert_string_equal(support_history_text(history, history->marks.items[0]), "freed");
    support_history_release(&inside.history);
}

static void capture_of_bare_destruction_ends_object(void** state)
{
    (void)state;
    struct inside inside = inside_begin(NULL);
    struct rig* const rig = inside.rig;
    MaarAllocation memory;
    const VkBuffer buffer = make_buffer(rig, 1000, "bare", &memory);
    vkDestroyBuffer(rig->device, buffer, NULL);
    maarFreeMemory(rig->allocator, memory);
    inside_end(&inside);
    captured_check(&inside.history, false);
    captured_compare(&inside.history, rig);
    assert_int_not_equal(captured_find(&inside.history, "bare")->end_event, SUPPORT_HISTORY_NONE);
    support_history_release(&inside.history);
}

static void capture_aliases_lie_in_their_range(void** state)
{
    (void)state;
    struct inside inside = inside_begin(NULL);
    struct rig* const rig = inside.rig;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.flags = MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT;
    how.pName = "shared";
    const MaarAllocation memory = rig_allocate(rig, 64 * KIB, &how);
    const VkBufferCreateInfo info = rig_buffer_info(1000);
    VkBuffer buffers[2];
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(maarCreateAliasingBuffer(rig->allocator, memory, 4096 * (VkDeviceSize)i,
                                                  &info, &buffers[i]),
                         VK_SUCCESS);
    }
    maarDestroyBuffer(rig->allocator, buffers[0], VK_NULL_HANDLE);
    const VkDeviceSize offset = rig_info(rig, memory).offset;
    inside_end(&inside);
    const struct support_history* const history = &inside.history;
    captured_check(history, true);
    assert_int_equal(captured_count(history, MAAR_CAPTURE_KIND_BUFFER), 2);
    assert_int_equal(captured_count(history, MAAR_CAPTURE_KIND_BUFFER_END), 1);
    const struct support_history_resource* const last =
        &history->resources.items[history->resources.count - 1];
    assert_int_equal(last->offset, offset + 4096);
    support_history_release(&inside.history);
    maarDestroyBuffer(rig->allocator, buffers[1], VK_NULL_HANDLE);
    maarFreeMemory(rig->allocator, memory);
}

static void capture_slices_are_one_buffer(void** state)
{
    (void)state;
    struct inside inside = inside_begin(NULL);
    struct rig* const rig = inside.rig;
    MaarSlice slices[10];
    const MaarSliceCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
                                      .size = 100,
                                      .usage = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
                                      .memoryUsage = MAAR_MEMORY_USAGE_UPLOAD};
    for (int i = 0; i < 10; ++i) {
        assert_int_equal(maarCreateSlice(rig->allocator, &info, &slices[i]), VK_SUCCESS);
    }
    inside_end(&inside);
    captured_check(&inside.history, false);
    captured_compare(&inside.history, rig);
    assert_int_equal(captured_count(&inside.history, MAAR_CAPTURE_KIND_BUFFER), 1);
    assert_true(captured_count(&inside.history, MAAR_CAPTURE_KIND_MAP) >= 1);
    support_history_release(&inside.history);
    for (int i = 0; i < 10; ++i) {
        maarDestroySlice(rig->allocator, slices[i]);
    }
}

static void capture_pages_are_sparse_binds(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_sparse(), .paging = true};
    struct inside inside = inside_begin(&setup);
    struct rig* const rig = inside.rig;
    VkBufferCreateInfo buffer = rig_buffer_info(16 * MIB);
    const MaarReservationCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                            .pBufferInfo = &buffer};
    MaarReservation reservation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &reservation), VK_SUCCESS);
    const MaarPageRange four = {.offset = 0, .size = 4 * 64 * KIB};
    const MaarPageRange last = {.offset = 3 * 64 * KIB, .size = 64 * KIB};
    assert_int_equal(maarCommitPages(rig->allocator, reservation, 1, &four), VK_SUCCESS);
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_SUCCESS);
    assert_int_equal(maarDecommitPages(rig->allocator, reservation, 1, &last), VK_SUCCESS);
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_SUCCESS);
    inside_end(&inside);
    const struct support_history* const history = &inside.history;
    assert_int_equal(history->strays, 0);
    assert_int_equal(history->resources.count, 1);
    assert_int_equal(history->resources.items[0].sparse_bytes, 3 * 64 * KIB);
    assert_int_equal(history->resources.items[0].sparse_peak, 4 * 64 * KIB);
    assert_int_equal(history->submits.count, 2);
    assert_int_equal(history->submits.items[0].facts.kind, MAAR_CAPTURE_SUBMIT_BINDS);
    assert_int_equal(history->submits.items[1].facts.signalCount, 1);
    support_history_release(&inside.history);
    maarDestroyReservation(rig->allocator, reservation);
}

static void capture_refusals_are_recorded(void** state)
{
    (void)state;
    struct inside inside = inside_begin(NULL);
    struct rig* const rig = inside.rig;
    MaarAllocation memory = VK_NULL_HANDLE;
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT32_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(rig_try(rig, 1000, NULL, &memory), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_clear_faults(rig);
    rig_forget_messages(rig);
    inside_end(&inside);
    captured_check(&inside.history, false);
    captured_compare(&inside.history, rig);
    assert_true(inside.history.failures.count > 0);
    assert_int_equal(inside.history.failures.items[0].result, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    support_history_release(&inside.history);
}

static void capture_submissions_have_points_and_uses(void** state)
{
    (void)state;
    struct inside inside = inside_begin(NULL);
    struct rig* const rig = inside.rig;
    const VkSemaphore timeline = rig_create_timeline(rig, 0);
    MaarAllocation memories[2];
    const VkBuffer buffer = make_buffer(rig, 1000, "used", &memories[0]);
    memories[1] = rig_allocate(rig, 1000, NULL);
    const MaarPoint wait = {.semaphore = timeline, .value = 3};
    const MaarPoint signal = {.semaphore = timeline, .value = 4};
    const MaarCaptureAccess accesses[] = {
        {.allocation = memories[0], .flags = MAAR_CAPTURE_ACCESS_READ_BIT},
        {.allocation = memories[1], .flags = MAAR_CAPTURE_ACCESS_WRITE_BIT},
    };
    const MaarCaptureSubmitInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CAPTURE_SUBMIT_INFO,
        .queue = rig->queue,
        .commandBufferCount = 2,
        .waitCount = 1,
        .pWaits = &wait,
        .signalCount = 1,
        .pSignals = &signal,
        .accessCount = 2,
        .pAccesses = accesses,
    };
    assert_int_equal(maarCaptureSubmit(rig->allocator, &info), VK_SUCCESS);
    assert_int_equal(maarCaptureFrame(rig->allocator, rig->queue), VK_SUCCESS);
    inside_end(&inside);
    const struct support_history* const history = &inside.history;
    captured_check(history, false);
    assert_int_equal(history->submits.count, 1);
    assert_int_equal(history->submits.items[0].facts.commandBufferCount, 2);
    assert_int_equal(history->points.count, 2);
    assert_int_equal(history->points.items[0].value, 3);
    assert_false(history->points.items[0].is_signal);
    assert_int_equal(history->points.items[1].value, 4);
    assert_true(history->points.items[1].is_signal);
    assert_int_equal(history->uses.count, 2);
    assert_int_equal(history->uses.items[0].facts.objectKind, MAAR_CAPTURE_OBJECT_BUFFER);
    assert_int_equal(history->uses.items[0].facts.flags, MAAR_CAPTURE_USE_READ_BIT);
    assert_int_equal(history->uses.items[1].facts.objectKind, MAAR_CAPTURE_OBJECT_RANGE);
    assert_int_equal(history->uses.items[1].facts.flags, MAAR_CAPTURE_USE_WRITE_BIT);
    assert_int_equal(history->devices.items[0].frame_count, 1);
    support_history_release(&inside.history);
    maarDestroyBuffer(rig->allocator, buffer, memories[0]);
    maarFreeMemory(rig->allocator, memories[1]);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

static void capture_ended_by_allocator_shows_leaks(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    char path[128];
    struct support_history history;
    rig_start(rig, NULL);
    assert_int_equal(captured_begin(rig->allocator, captured_path(2, path), 0), VK_SUCCESS);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pName = "forgotten";
    (void)rig_allocate(rig, 1000, &how);
    maarDestroyAllocator(rig->allocator);
    rig->allocator = NULL;
    rig_expect_message(rig, MAAR_MESSAGE_ID_LEAK);
    captured_load(path, &history);
    captured_check(&history, false);
    assert_int_not_equal(history.devices.items[0].end_event, SUPPORT_HISTORY_NONE);
    assert_int_equal(captured_find(&history, "forgotten")->end_event, SUPPORT_HISTORY_NONE);
    support_history_release(&history);
}

static void capture_ends_at_its_limit(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    char path[128];
    struct support_history history;
    assert_int_equal(captured_begin(rig->allocator, captured_path(3, path), 80000), VK_SUCCESS);
    for (int i = 0; i < 1000; ++i) {
        maarFreeMemory(rig->allocator, rig_allocate(rig, 1000, NULL));
    }
    assert_int_equal(maarEndCapture(rig->allocator), VK_INCOMPLETE);
    captured_load(path, &history);
    assert_int_equal(history.header.state, MAAR_CAPTURE_STATE_LIMIT);
    assert_true(history.resources.count > 10);
    support_history_release(&history);
}

static void capture_file_that_exists_is_refused(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    char path[128];
    const MaarCaptureBeginInfo info = {.sType = MAAR_STRUCTURE_TYPE_CAPTURE_BEGIN_INFO,
                                       .pPath = captured_path(4, path)};
    (void)remove(path);
    FILE* const file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(maarBeginCapture(rig->allocator, &info), VK_ERROR_INITIALIZATION_FAILED);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CAPTURE_FAILED, "exists");
    (void)remove(path);
    assert_int_equal(maarBeginCapture(rig->allocator, &info), VK_SUCCESS);
    assert_int_equal(maarEndCapture(rig->allocator), VK_SUCCESS);
    (void)remove(path);
}

static void capture_without_host_memory_is_refused(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    struct rig* const rig = rig_begin(&setup);
    char path[128];
    for (uint64_t nth = 1; nth <= 2; ++nth) {
        rig->host.fail_at = rig->host.calls + nth;
        assert_int_equal(captured_begin(rig->allocator, captured_path(8, path), 0),
                         VK_ERROR_OUT_OF_HOST_MEMORY);
    }
    rig->host.fail_at = 0;
    assert_int_equal(captured_begin(rig->allocator, path, 0), VK_SUCCESS);
    assert_int_equal(maarEndCapture(rig->allocator), VK_SUCCESS);
    (void)remove(path);
}

static void capture_twice_at_once_is_refused(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    char path[128];
    char other[128];
    const MaarCaptureBeginInfo info = {.sType = MAAR_STRUCTURE_TYPE_CAPTURE_BEGIN_INFO,
                                       .pPath = captured_path(6, other)};
    assert_int_equal(maarEndCapture(rig->allocator), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_CAPTURE_ORDER);
    assert_int_equal(captured_begin(rig->allocator, captured_path(5, path), 0), VK_SUCCESS);
    assert_int_equal(maarBeginCapture(rig->allocator, &info), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_CAPTURE_ORDER);
    assert_int_equal(maarEndCapture(rig->allocator), VK_SUCCESS);
    assert_int_equal(maarEndCapture(rig->allocator), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_CAPTURE_ORDER);
    (void)remove(path);
}

static void capture_refuses_misuse(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarCaptureBeginInfo begin = {.sType = MAAR_STRUCTURE_TYPE_CAPTURE_BEGIN_INFO};
    assert_int_equal(maarBeginCapture(rig->allocator, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pInfo");
    assert_int_equal(maarBeginCapture(rig->allocator, &begin), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT);
    begin.pPath = "x";
    begin.maxBytes = 65535;
    assert_int_equal(maarBeginCapture(rig->allocator, &begin), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE);
    assert_int_equal(maarCaptureMark(rig->allocator, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pText");
    MaarCaptureSubmitInfo submit = {.sType = MAAR_STRUCTURE_TYPE_CAPTURE_SUBMIT_INFO,
                                    .waitCount = 1};
    assert_int_equal(maarCaptureSubmit(rig->allocator, &submit), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT);
    submit =
        (MaarCaptureSubmitInfo){.sType = MAAR_STRUCTURE_TYPE_CAPTURE_SUBMIT_INFO, .signalCount = 1};
    assert_int_equal(maarCaptureSubmit(rig->allocator, &submit), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT);
    submit =
        (MaarCaptureSubmitInfo){.sType = MAAR_STRUCTURE_TYPE_CAPTURE_SUBMIT_INFO, .accessCount = 1};
    assert_int_equal(maarCaptureSubmit(rig->allocator, &submit), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT);
    const MaarAllocation stale = rig_allocate(rig, 1000, NULL);
    const MaarCaptureAccess access = {.allocation = stale};
    maarFreeMemory(rig->allocator, stale);
    submit.pAccesses = &access;
    assert_int_equal(maarCaptureSubmit(rig->allocator, &submit), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
}

/* Without a capture the calls do nothing, and say so with success. */
static void capture_calls_without_capture_do_nothing(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarCaptureSubmitInfo submit = {.sType = MAAR_STRUCTURE_TYPE_CAPTURE_SUBMIT_INFO};
    const uint64_t calls = rig_calls(rig, "vkGetPhysicalDeviceMemoryProperties2");
    assert_int_equal(maarCaptureMark(rig->allocator, "nobody reads this"), VK_SUCCESS);
    assert_int_equal(maarCaptureFrame(rig->allocator, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(maarCaptureSubmit(rig->allocator, &submit), VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkGetPhysicalDeviceMemoryProperties2"), calls);
}

static void refuse_driver(void* data, const char* function)
{
    (void)data;
    fail_msg("%s was called", function);
}

static void capture_marks_call_no_driver(void** state)
{
    (void)state;
    struct inside inside = inside_begin(NULL);
    const MaarAllocator allocator = inside.rig->allocator;
    const MaarCaptureSubmitInfo submit = {.sType = MAAR_STRUCTURE_TYPE_CAPTURE_SUBMIT_INFO};
    inside.rig->call = refuse_driver;
    assert_int_equal(maarCaptureMark(allocator, "level 3 loaded"), VK_SUCCESS);
    assert_int_equal(maarCaptureSubmit(allocator, &submit), VK_SUCCESS);
    inside.rig->call = NULL;
    inside_end(&inside);
    assert_int_equal(inside.history.submits.count, 1);
    support_history_release(&inside.history);
}

/* A file that may not grow fails as a full disk does. */
static void capture_ends_with_the_disk(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    char path[128];
    struct support_history history;
    if (!captured_limit_disk(3 * MIB)) {
        skip();
    }
    assert_int_equal(captured_begin(rig->allocator, captured_path(7, path), 0), VK_SUCCESS);
    for (int i = 0; i < 30000; ++i) {
        maarFreeMemory(rig->allocator, rig_allocate(rig, 1000, NULL));
    }
    assert_int_equal(maarEndCapture(rig->allocator), VK_INCOMPLETE);
    assert_true(captured_limit_disk(0));
    captured_load(path, &history);
    assert_int_equal(history.header.state, MAAR_CAPTURE_STATE_DISK_FULL);
    assert_true(history.resources.count > 1000);
    support_history_release(&history);
    maarFreeMemory(rig->allocator, rig_allocate(rig, 1000, NULL));
}

static void capture_of_destroyed_pool_ends_its_memory(void** state)
{
    (void)state;
    struct inside inside = inside_begin(NULL);
    struct rig* const rig = inside.rig;
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 0, .blockSize = MIB, .minBlockCount = 2};
    const MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    (void)rig_allocate(rig, 1000, &how);
    maarDestroyPool(rig->allocator, pool);
    rig_expect_message(rig, MAAR_MESSAGE_ID_LEAK);
    inside_end(&inside);
    captured_check(&inside.history, false);
    captured_compare(&inside.history, rig);
    assert_int_equal(captured_count(&inside.history, MAAR_CAPTURE_KIND_MEMORY), 2);
    assert_int_equal(captured_count(&inside.history, MAAR_CAPTURE_KIND_RANGE_END), 1);
    support_history_release(&inside.history);
}

static void capture_again_knows_nothing_of_the_first(void** state)
{
    (void)state;
    struct inside inside = inside_begin(NULL);
    struct rig* const rig = inside.rig;
    MaarAllocation memories[2];
    const VkBuffer first = make_buffer(rig, 1000, "first", &memories[0]);
    inside_end(&inside);
    support_history_release(&inside.history);
    assert_int_equal(captured_begin(rig->allocator, inside.path, 0), VK_SUCCESS);
    const VkBuffer second = make_buffer(rig, 1000, "second", &memories[1]);
    maarDestroyBuffer(rig->allocator, first, memories[0]);
    inside_end(&inside);
    captured_check(&inside.history, false);
    captured_compare(&inside.history, rig);
    assert_int_equal(captured_find(&inside.history, "first")->kind, SUPPORT_HISTORY_RANGE);
    assert_int_equal(captured_find(&inside.history, "second")->kind, SUPPORT_HISTORY_BUFFER);
    support_history_release(&inside.history);
    maarDestroyBuffer(rig->allocator, second, memories[1]);
}

/* Without names, a reader of the file cannot distinguish the resources of a frame. */
static void capture_has_names_of_transients(void** state)
{
    (void)state;
    struct inside inside = inside_begin(NULL);
    struct rig* const rig = inside.rig;
    const VkBufferCreateInfo buffer = rig_buffer_info(256 * KIB);
    const VkImageCreateInfo image = rig_image_info(64, 32);
    const MaarTransientQueue queue = {0};
    const MaarTransientPass pass = {.pName = "sort"};
    const MaarTransientUse use = {.layout = VK_IMAGE_LAYOUT_GENERAL,
                                  .stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                  .access = VK_ACCESS_2_MEMORY_WRITE_BIT};
    const MaarTransientResource resources[] = {
        {.pBufferInfo = &buffer, .useCount = 1, .pUses = &use, .pName = "keys"},
        {.pImageInfo = &image, .useCount = 1, .pUses = &use, .pName = "depth"},
        {.pBufferInfo = &buffer, .useCount = 1, .pUses = &use},
    };
    const MaarTransientGraph graph = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_GRAPH,
                                      .queueCount = 1,
                                      .pQueues = &queue,
                                      .passCount = 1,
                                      .pPasses = &pass,
                                      .resourceCount = 3,
                                      .pResources = resources};
    const MaarTransientHeapCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO, .pGraph = &graph};
    MaarTransientHeap heap = VK_NULL_HANDLE;
    assert_int_equal(maarCreateTransientHeap(rig->allocator, &info, &heap), VK_SUCCESS);
    inside_end(&inside);
    captured_check(&inside.history, false);
    assert_non_null(captured_find(&inside.history, "keys"));
    assert_int_equal(captured_find(&inside.history, "keys")->kind, SUPPORT_HISTORY_BUFFER);
    assert_non_null(captured_find(&inside.history, "depth"));
    assert_int_equal(captured_find(&inside.history, "depth")->kind, SUPPORT_HISTORY_IMAGE);
    support_history_release(&inside.history);
    maarDestroyTransientHeap(rig->allocator, heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(capture_empty_names_device),
        rig_unit_test(capture_allocations_are_ranges),
        rig_unit_test(capture_has_arenas_of_threads_that_come_later),
        rig_unit_test(capture_objects_take_the_place_of_ranges),
        rig_unit_test(capture_begun_late_lists_what_lives),
        rig_unit_test(capture_pending_ends_when_its_points_pass),
        rig_unit_test(capture_of_bare_destruction_ends_object),
        rig_unit_test(capture_aliases_lie_in_their_range),
        rig_unit_test(capture_slices_are_one_buffer),
        rig_unit_test(capture_pages_are_sparse_binds),
        rig_unit_test(capture_refusals_are_recorded),
        rig_unit_test(capture_submissions_have_points_and_uses),
        rig_unit_test(capture_ended_by_allocator_shows_leaks),
        rig_unit_test(capture_ends_at_its_limit),
        rig_unit_test(capture_file_that_exists_is_refused),
        rig_unit_test(capture_without_host_memory_is_refused),
        rig_unit_test(capture_twice_at_once_is_refused),
        rig_unit_test(capture_refuses_misuse),
        rig_unit_test(capture_calls_without_capture_do_nothing),
        rig_unit_test(capture_marks_call_no_driver),
        rig_unit_test(capture_ends_with_the_disk),
        rig_unit_test(capture_of_destroyed_pool_ends_its_memory),
        rig_unit_test(capture_again_knows_nothing_of_the_first),
        rig_unit_test(capture_has_names_of_transients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
