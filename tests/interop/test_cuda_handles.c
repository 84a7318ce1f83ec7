/*
 * The handles of what is made of a MaarCuda, over the FAKE CUDA driver and a simulated device. Each
 * public call refuses a null, a stale, a foreign and a forged handle, and says which. Nothing of
 * this says anything about a GPU.
 */
#include "tests/interop/cuda_fixture.h"

#include <pthread.h>
#include <sched.h>

#include "core/handle.h"

/* A MaarCuda with what its objects are made of. */
struct handle_side {
    MaarAllocator allocator;
    MaarCuda cuda;
    VkImage image;
    MaarAllocation memory; /* of the image, and of a range's block */
};

struct handle_bench {
    struct cuda_desk desk;
    struct handle_side own;
    struct handle_side sibling;  /* another MaarCuda of the same allocator */
    struct handle_side stranger; /* of another allocator */
};

/* One type of handle, and every public call that takes it. */
struct handle_kind {
    const char* argument;
    uint64_t (*make)(const struct handle_side* side);
    void (*destroy)(MaarCuda cuda, uint64_t handle);
    VkResult (*call)(const struct handle_side* side, uint64_t handle, uint32_t number);
    uint32_t call_count; /* the first one succeeds with any object */
    bool sparse;
};

/* ---- the types ---- */

static uint64_t make_timeline(const struct handle_side* side)
{
    MaarCudaTimeline timeline = VK_NULL_HANDLE;
    assert_int_equal(maarCreateCudaTimeline(side->cuda, NULL, &timeline), VK_SUCCESS);
    return MAAR_TO_BITS(timeline);
}

static void destroy_timeline(MaarCuda cuda, uint64_t handle)
{
    maarDestroyCudaTimeline(cuda, MAAR_FROM_BITS(MaarCudaTimeline, handle));
}

/* Returns the result of a call that writes a point, which is all zero on failure. */
static VkResult get_point(const struct handle_side* side, MaarCudaTimeline timeline, bool wait)
{
    MaarPoint point;
    memset(&point, 0x55, sizeof point);
    const VkResult result = wait ? maarGetCudaTimelineWait(side->cuda, timeline, 1, &point)
                                 : maarGetCudaTimelineSignal(side->cuda, timeline, 1, &point);
    assert_true(result == VK_SUCCESS || (point.semaphore == VK_NULL_HANDLE && point.value == 0));
    return result;
}

static VkResult call_timeline(const struct handle_side* side, uint64_t handle, uint32_t number)
{
    const MaarCudaTimeline timeline = MAAR_FROM_BITS(MaarCudaTimeline, handle);
    const MaarCudaHandoffInfo handoff = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO,
        .value = 1,
    };
    MaarCudaTimelineInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_INFO};
    switch (number) {
    case 0:
        return maarGetCudaTimelineInfo(side->cuda, timeline, &info);
    case 1:
        return get_point(side, timeline, false);
    case 2:
        return get_point(side, timeline, true);
    case 3:
        return maarCudaWait(side->cuda, timeline, 1, NULL);
    case 4:
        return maarCudaSignal(side->cuda, timeline, 1, NULL);
    case 5:
        return maarReleaseToCuda(side->cuda, timeline, &handoff);
    default:
        return maarAcquireFromCuda(side->cuda, timeline, &handoff);
    }
}

static uint64_t make_image(const struct handle_side* side)
{
    const VkImageCreateInfo info = rig_image_info(32, 32);
    MaarCudaImage image = VK_NULL_HANDLE;
    assert_int_equal(maarCreateCudaImage(side->cuda, side->memory, &info, &image), VK_SUCCESS);
    return MAAR_TO_BITS(image);
}

static void destroy_image(MaarCuda cuda, uint64_t handle)
{
    maarDestroyCudaImage(cuda, MAAR_FROM_BITS(MaarCudaImage, handle));
}

static VkResult call_image(const struct handle_side* side, uint64_t handle, uint32_t number)
{
    MaarCudaImageInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_IMAGE_INFO};
    (void)number;
    return maarGetCudaImageInfo(side->cuda, MAAR_FROM_BITS(MaarCudaImage, handle), &info);
}

static uint64_t make_range(const struct handle_side* side)
{
    MaarCudaRange range = VK_NULL_HANDLE;
    assert_int_equal(maarCreateCudaRange(side->cuda, FAKE_GRANULARITY, &range), VK_SUCCESS);
    return MAAR_TO_BITS(range);
}

static void destroy_range(MaarCuda cuda, uint64_t handle)
{
    maarDestroyCudaRange(cuda, MAAR_FROM_BITS(MaarCudaRange, handle));
}

static VkResult call_range(const struct handle_side* side, uint64_t handle, uint32_t number)
{
    const MaarCudaRange range = MAAR_FROM_BITS(MaarCudaRange, handle);
    MaarCudaRangeInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_RANGE_INFO};
    return number == 0 ? maarGetCudaRangeInfo(side->cuda, range, &info)
                       : maarAppendToCudaRange(side->cuda, range, side->memory);
}

static uint64_t make_mirror(const struct handle_side* side)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(64 * MIB);
    const MaarCudaMirrorCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_MIRROR_CREATE_INFO,
        .pBufferInfo = &buffer,
    };
    MaarCudaMirror mirror = VK_NULL_HANDLE;
    assert_int_equal(maarCreateCudaMirror(side->cuda, &info, &mirror), VK_SUCCESS);
    return MAAR_TO_BITS(mirror);
}

static void destroy_mirror(MaarCuda cuda, uint64_t handle)
{
    maarDestroyCudaMirror(cuda, MAAR_FROM_BITS(MaarCudaMirror, handle));
}

static VkResult call_mirror(const struct handle_side* side, uint64_t handle, uint32_t number)
{
    const MaarCudaMirror mirror = MAAR_FROM_BITS(MaarCudaMirror, handle);
    MaarCudaMirrorInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MIRROR_INFO};
    return number == 0 ? maarGetCudaMirrorInfo(side->cuda, mirror, &info)
                       : maarGrowCudaMirror(side->cuda, mirror, FAKE_GRANULARITY);
}

static const struct handle_kind timelines = {
    "timeline", make_timeline, destroy_timeline, call_timeline, .call_count = 7,
};
static const struct handle_kind images = {
    "image", make_image, destroy_image, call_image, .call_count = 1,
};
static const struct handle_kind ranges = {
    "range", make_range, destroy_range, call_range, .call_count = 2,
};
static const struct handle_kind mirrors = {
    "mirror", make_mirror, destroy_mirror, call_mirror, .call_count = 2, .sparse = true,
};

/* ---- the bench ---- */

static void open_side(struct handle_side* side, MaarAllocator allocator, bool sparse)
{
    const MaarCudaCreateInfo cuda_info = cuda_desk_info();
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    const VkImageCreateInfo image_info = rig_image_info(32, 32);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export;
    *side = (struct handle_side){.allocator = allocator};
    assert_int_equal(maarCreateCuda(allocator, &cuda_info, &side->cuda), VK_SUCCESS);
    if (!sparse) {
        assert_int_equal(maarCreateImage(allocator, &image_info, &how, &side->image, &side->memory),
                         VK_SUCCESS);
    }
}

static void close_side(struct handle_side* side)
{
    maarDestroyImage(side->allocator, side->image, side->memory);
    maarDestroyCuda(side->cuda);
}

static void open_bench(struct handle_bench* bench, bool sparse)
{
    const struct rig_setup setup = {
        .sharing = rig_sharing_sparse(), .profile = rig_profile_sparse(), .paging = true};
    cuda_desk_open(&bench->desk, sparse ? &setup : NULL);
    MaarAllocator other = VK_NULL_HANDLE;
    assert_int_equal(maarCreateAllocator(&bench->desk.rig.create_info, &other), VK_SUCCESS);
    open_side(&bench->own, bench->desk.rig.allocator, sparse);
    open_side(&bench->sibling, bench->desk.rig.allocator, sparse);
    open_side(&bench->stranger, other, sparse);
    rig_forget_messages(&bench->desk.rig);
}

static void close_bench(struct handle_bench* bench)
{
    close_side(&bench->own);
    close_side(&bench->sibling);
    close_side(&bench->stranger);
    maarDestroyAllocator(bench->stranger.allocator);
    rig_expect_silence(&bench->desk.rig);
    cuda_desk_close(&bench->desk);
}

/* ---- the cases ---- */

/* Every call refuses the handle with this message; the one that destroys accepts a null one. */
static void expect_refused(struct handle_bench* bench, const struct handle_kind* kind,
                           uint64_t handle, MaarMessageId id)
{
    struct rig* rig = &bench->desk.rig;
    for (uint32_t i = 0; i < kind->call_count; ++i) {
        assert_int_equal(kind->call(&bench->own, handle, i), VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(rig, id, kind->argument);
    }
    kind->destroy(bench->own.cuda, handle);
    if (handle == 0) {
        rig_expect_silence(rig);
    } else {
        rig_expect_message_naming(rig, id, kind->argument);
    }
}

/* A handle of another MaarCuda is foreign, and its object stays. */
static void expect_foreign(struct handle_bench* bench, const struct handle_kind* kind,
                           struct handle_side* side)
{
    const uint64_t handle = kind->make(side);
    expect_refused(bench, kind, handle, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    assert_int_equal(kind->call(side, handle, 0), VK_SUCCESS);
    kind->destroy(side->cuda, handle);
    rig_expect_silence(&bench->desk.rig);
}

static void expect_checked_handles(const struct handle_kind* kind)
{
    struct handle_bench bench;
    open_bench(&bench, kind->sparse);
    expect_refused(&bench, kind, 0, MAAR_MESSAGE_ID_NULL_HANDLE);
    expect_foreign(&bench, kind, &bench.sibling);
    expect_foreign(&bench, kind, &bench.stranger);

    const uint64_t first = kind->make(&bench.own);
    const uint64_t newer_key = UINT64_C(2) << 32; /* the slot's next object has it */
    expect_refused(&bench, kind, first + newer_key, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    expect_refused(&bench, kind, first + 1000000, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    expect_refused(&bench, kind, UINT64_MAX, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    const struct handle_kind* other = kind == &ranges ? &timelines : &ranges;
    const uint64_t of_another_kind = other->make(&bench.own);
    expect_refused(&bench, kind, of_another_kind, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    other->destroy(bench.own.cuda, of_another_kind);
    assert_int_equal(kind->call(&bench.own, first, 0), VK_SUCCESS);

    kind->destroy(bench.own.cuda, first);
    expect_refused(&bench, kind, first, MAAR_MESSAGE_ID_STALE_HANDLE);
    const uint64_t second = kind->make(&bench.own);
    assert_int_equal((uint32_t)second, (uint32_t)first); /* the same slot */
    assert_true(second != first);
    expect_refused(&bench, kind, first, MAAR_MESSAGE_ID_STALE_HANDLE);
    assert_int_equal(kind->call(&bench.own, second, 0), VK_SUCCESS);
    kind->destroy(bench.own.cuda, second);
    rig_expect_silence(&bench.desk.rig);
    close_bench(&bench);
}

static void timeline_handles_are_checked_by_every_call(void** state)
{
    (void)state;
    expect_checked_handles(&timelines);
}

static void image_handles_are_checked_by_every_call(void** state)
{
    (void)state;
    expect_checked_handles(&images);
}

static void range_handles_are_checked_by_every_call(void** state)
{
    (void)state;
    expect_checked_handles(&ranges);
}

static void mirror_handles_are_checked_by_every_call(void** state)
{
    (void)state;
    expect_checked_handles(&mirrors);
}

/* ---- two threads that destroy one object ---- */

enum { RACES = 300, SPARSE_RACES = 30 }; /* a mirror has 64 MiB of address space */

/* What both threads see. */
struct handle_race {
    struct handle_bench bench;
    const struct handle_kind* kind;
    uint64_t handles[RACES];
    uint32_t count;
    _Atomic uint32_t arrived;
};

static void* destroy_all(void* data)
{
    struct handle_race* race = data;
    for (uint32_t i = 0; i < race->count; ++i) {
        (void)atomic_fetch_add(&race->arrived, 1);
        while (atomic_load(&race->arrived) < 2 * (i + 1)) {
            (void)sched_yield();
        }
        race->kind->destroy(race->bench.own.cuda, race->handles[i]);
    }
    return NULL;
}

static void expect_one_end(const struct handle_kind* kind)
{
    static struct handle_race race;
    pthread_t thread;
    memset(&race, 0, sizeof race);
    race.kind = kind;
    race.count = kind->sparse ? SPARSE_RACES : RACES;
    open_bench(&race.bench, kind->sparse);
    for (uint32_t i = 0; i < race.count; ++i) {
        race.handles[i] = kind->make(&race.bench.own);
    }
    assert_int_equal(pthread_create(&thread, NULL, destroy_all, &race), 0);
    (void)destroy_all(&race);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(race.bench.desk.rig.messages.total,
                     race.count); /* one for each second thread */
    rig_forget_messages(&race.bench.desk.rig);
    close_bench(&race.bench);
}

static void object_that_two_threads_destroy_ends_once(void** state)
{
    (void)state;
    expect_one_end(&timelines);
    expect_one_end(&images);
    expect_one_end(&ranges);
    expect_one_end(&mirrors);
}

/* Each call that takes an allocation refuses this one under the identifier. */
static void expect_allocation_refused(struct handle_bench* bench, MaarAllocation allocation,
                                      MaarMessageId id)
{
    struct rig* rig = &bench->desk.rig;
    const VkImageCreateInfo image_info = rig_image_info(32, 32);
    const MaarCudaRange range = MAAR_FROM_BITS(MaarCudaRange, make_range(&bench->own));
    MaarCudaMemory memory = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY};
    MaarCudaImage image = VK_NULL_HANDLE;
    assert_int_equal(maarGetCudaMemory(bench->own.cuda, allocation, &memory),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, id, "allocation");
    assert_int_equal(maarCreateCudaImage(bench->own.cuda, allocation, &image_info, &image),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, id, "allocation");
    assert_int_equal(maarAppendToCudaRange(bench->own.cuda, range, allocation),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, id, "allocation");
    maarDestroyCudaRange(bench->own.cuda, range);
}

static void allocation_handles_are_checked_by_every_call(void** state)
{
    struct handle_bench bench;
    (void)state;
    open_bench(&bench, false);
    struct rig* rig = &bench.desk.rig;
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    const MaarAllocation stale = rig_allocate(rig, 4096, &how);
    maarFreeMemory(rig->allocator, stale);
    expect_allocation_refused(&bench, VK_NULL_HANDLE, MAAR_MESSAGE_ID_NULL_HANDLE);
    expect_allocation_refused(&bench, stale, MAAR_MESSAGE_ID_STALE_HANDLE);
    expect_allocation_refused(&bench, bench.stranger.memory, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    expect_allocation_refused(&bench, MAAR_FROM_BITS(MaarAllocation, UINT64_MAX),
                              MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    close_bench(&bench);
}

/* An owner with a living object is kept, and so is the object under its handle. */
static void handle_stays_valid_when_its_owner_is_kept(void** state)
{
    struct handle_bench bench;
    (void)state;
    open_bench(&bench, false);
    const uint64_t handle = make_image(&bench.own);
    maarDestroyCuda(bench.own.cuda);
    rig_expect_message(&bench.desk.rig, MAAR_MESSAGE_ID_PEER_IN_USE);
    assert_int_equal(call_image(&bench.own, handle, 0), VK_SUCCESS);
    destroy_image(bench.own.cuda, handle);
    close_bench(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timeline_handles_are_checked_by_every_call),
        cmocka_unit_test(image_handles_are_checked_by_every_call),
        cmocka_unit_test(range_handles_are_checked_by_every_call),
        cmocka_unit_test(mirror_handles_are_checked_by_every_call),
        cmocka_unit_test(allocation_handles_are_checked_by_every_call),
        cmocka_unit_test(object_that_two_threads_destroy_ends_once),
        cmocka_unit_test(handle_stays_valid_when_its_owner_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
