/*
 * Semaphores that both sides see: on a simulated device, where they are real files and submissions
 * are held until what they wait for is signalled, and on lavapipe, which has none, behind a FAKE of
 * exportable semaphores (tests/fakes/semaphore_wrap.h).
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "tests/fakes/semaphore_wrap.h"
#include "tests/interop/sharing_fixture.h"

#define FD VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT

enum { ROUNDS = 2000, CYCLES = 10000, SOON_NS = 20000000 };
static const uint64_t long_ns = 10000000000;

/* The rig, and the functions that tests call as a program would: the driver's or the FAKE's. */
static struct {
    struct rig rig;
    bool wrapped;
    const char* extensions[MAAR_MAX_RECOMMENDED_EXTENSIONS + 1];
    PFN_vkDestroySemaphore destroy;
    PFN_vkGetSemaphoreCounterValue get_value;
    PFN_vkSignalSemaphore signal;
    PFN_vkWaitSemaphores wait;
    PFN_vkQueueSubmit submit;
} desk;

/* ---- opening ---- */

static bool open_wrapped(void)
{
    const struct rig_setup setup = {.without_layer = true};
    MaarAllocatorCreateInfo* info = &desk.rig.create_info;
    if (!rig_open_vulkan(&desk.rig, &setup, false)) {
        return false;
    }
    desk.wrapped = true;
    semaphore_wrap_open(desk.rig.instance, vkGetInstanceProcAddr, vkGetDeviceProcAddr,
                        SEMAPHORE_WRAP_ALL);
    memcpy(desk.extensions, info->ppEnabledExtensionNames,
           info->enabledExtensionCount * sizeof desk.extensions[0]);
    desk.extensions[info->enabledExtensionCount++] = VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME;
    info->ppEnabledExtensionNames = desk.extensions;
    info->pfnGetInstanceProcAddr = semaphore_wrap_instance_function;
    info->pfnGetDeviceProcAddr = semaphore_wrap_device_function;
    rig_make_allocator(&desk.rig);
    return true;
}

static void find_functions(void)
{
    const PFN_vkGetDeviceProcAddr get =
        desk.wrapped ? semaphore_wrap_device_function : vkGetDeviceProcAddr;
#define FIND(member, name) desk.member = (PFN_##name)get(desk.rig.device, #name)
    FIND(destroy, vkDestroySemaphore);
    FIND(get_value, vkGetSemaphoreCounterValue);
    FIND(signal, vkSignalSemaphore);
    FIND(wait, vkWaitSemaphores);
    FIND(submit, vkQueueSubmit);
    if (desk.wrapped) {
        vkDestroyDevice = (PFN_vkDestroyDevice)get(desk.rig.device, "vkDestroyDevice");
    }
#undef FIND
}

static int open_desk(void** state)
{
    const char* name = getenv("MAAR_RIG");
    memset(&desk, 0, sizeof desk);
    if (name != NULL && strcmp(name, "lavapipe") == 0) {
        if (!open_wrapped()) {
            return 0;
        }
    } else {
        const struct rig_setup setup = {.sharing = rig_sharing_everything(), .count_host = true};
        rig_start(&desk.rig, &setup);
    }
    find_functions();
    *state = &desk.rig;
    return 0;
}

static int close_desk(void** state)
{
    if (*state == NULL) {
        return 0;
    }
    rig_close(&desk.rig);
    if (desk.wrapped) {
        assert_int_equal(semaphore_wrap_close(), 0);
        assert_int_equal(semaphore_wrap_breach_count(), 0);
    }
    return 0;
}

/* ---- doing ---- */

static VkSemaphore make_shared(VkSemaphoreType type, uint64_t value)
{
    const MaarSharedSemaphoreCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SHARED_SEMAPHORE_CREATE_INFO,
        .type = type,
        .initialValue = value,
        .handleType = FD,
    };
    VkSemaphore semaphore = VK_NULL_HANDLE;
    assert_int_equal(maarCreateSharedSemaphore(desk.rig.allocator, &info, &semaphore), VK_SUCCESS);
    return semaphore;
}

static MaarExternalHandle export_semaphore(VkSemaphore semaphore)
{
    MaarExternalHandle handle = VK_NULL_HANDLE;
    assert_int_equal(maarExportSemaphore(desk.rig.allocator, semaphore, FD, &handle), VK_SUCCESS);
    assert_true(maarPeekFd(handle) >= 0);
    return handle;
}

/* A second semaphore with the payload of the first. */
static VkSemaphore share_semaphore(VkSemaphore semaphore, VkSemaphoreType type)
{
    MaarExternalHandle handle = export_semaphore(semaphore);
    VkSemaphore other = VK_NULL_HANDLE;
    assert_int_equal(maarImportSemaphore(desk.rig.allocator, handle, FD, type, &other), VK_SUCCESS);
    assert_int_equal(maarPeekFd(handle), -1);
    maarDestroyExternalHandle(desk.rig.allocator, handle);
    return other;
}

static void destroy(VkSemaphore semaphore)
{
    desk.destroy(desk.rig.device, semaphore, desk.rig.create_info.pAllocationCallbacks);
}

static VkResult wait_value(VkSemaphore semaphore, uint64_t value, uint64_t timeout_ns)
{
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &semaphore,
        .pValues = &value,
    };
    return desk.wait(desk.rig.device, &info, timeout_ns);
}

static void signal_value(VkSemaphore semaphore, uint64_t value)
{
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = semaphore, .value = value};
    assert_int_equal(desk.signal(desk.rig.device, &info), VK_SUCCESS);
}

static uint64_t value_of(VkSemaphore semaphore)
{
    uint64_t value = 0;
    assert_int_equal(desk.get_value(desk.rig.device, semaphore, &value), VK_SUCCESS);
    return value;
}

/* Waits for one value and signals another; either semaphore may be null. */
static void submit(VkSemaphore waits, uint64_t wait_for, VkSemaphore signals, uint64_t signal_to)
{
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = waits != VK_NULL_HANDLE ? 1 : 0,
        .pWaitSemaphoreValues = &wait_for,
        .signalSemaphoreValueCount = signals != VK_NULL_HANDLE ? 1 : 0,
        .pSignalSemaphoreValues = &signal_to,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .waitSemaphoreCount = values.waitSemaphoreValueCount,
        .pWaitSemaphores = &waits,
        .pWaitDstStageMask = &stage,
        .signalSemaphoreCount = values.signalSemaphoreValueCount,
        .pSignalSemaphores = &signals,
    };
    assert_int_equal(desk.submit(desk.rig.queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
}

/* Submissions of a simulated device wait for real from now on. */
static void hold(bool held)
{
    if (desk.rig.simulated) {
        maarSimulatedSetFlags(desk.rig.physical, held ? MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT : 0);
    }
}

/* ---- cases ---- */

static void device_says_what_semaphores_it_shares(void** state)
{
    rig_need(state, true, "");
    MaarSharingInfo info = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
    assert_int_equal(maarGetSharingInfo(desk.rig.allocator, &info), VK_SUCCESS);
    assert_int_equal(info.exportableTimelineTypes, FD);
    assert_int_equal(info.importableTimelineTypes, FD);
    assert_int_equal(info.exportableBinaryTypes, FD);
    assert_int_equal(info.importableBinaryTypes, FD);
}

static void timeline_is_seen_from_both_sides(void** state)
{
    rig_need(state, true, "");
    const VkSemaphore here = make_shared(VK_SEMAPHORE_TYPE_TIMELINE, 7);
    const VkSemaphore there = share_semaphore(here, VK_SEMAPHORE_TYPE_TIMELINE);
    assert_int_equal(value_of(there), 7);
    signal_value(there, 8);
    assert_int_equal(value_of(here), 8);
    assert_int_equal(wait_value(there, 9, 0), VK_TIMEOUT);
    submit(VK_NULL_HANDLE, 0, here, 9);
    assert_int_equal(wait_value(there, 9, long_ns), VK_SUCCESS);
    destroy(there);
    destroy(here);
    rig_expect_silence(&desk.rig);
}

/* The queue waits before there is anything to wait for, and answers; without the host's signal it
 * would wait for ever. */
static void rounds_go_back_and_forth_with_the_wait_queued_first(void** state)
{
    rig_need(state, true, "");
    const VkSemaphore here = make_shared(VK_SEMAPHORE_TYPE_TIMELINE, 0);
    const VkSemaphore there = share_semaphore(here, VK_SEMAPHORE_TYPE_TIMELINE);
    hold(true);
    for (uint64_t round = 0; round < ROUNDS; ++round) {
        submit(there, 2 * round + 1, there, 2 * round + 2);
        if (round == 0) {
            assert_int_equal(wait_value(here, 2, SOON_NS), VK_TIMEOUT);
        }
        signal_value(here, 2 * round + 1);
        assert_int_equal(wait_value(here, 2 * round + 2, long_ns), VK_SUCCESS);
    }
    if (desk.rig.simulated) {
        assert_int_equal(rig_counters(&desk.rig).earlyWaitCount, 0);
    }
    hold(false);
    assert_int_equal(vkDeviceWaitIdle(desk.rig.device), VK_SUCCESS);
    destroy(there);
    destroy(here);
}

struct answerer {
    VkSemaphore semaphore;
    uint64_t answered;
};

static void* answer(void* data)
{
    struct answerer* a = data;
    while (a->answered < ROUNDS &&
           wait_value(a->semaphore, 2 * a->answered + 1, long_ns) == VK_SUCCESS) {
        signal_value(a->semaphore, 2 * a->answered + 2);
        ++a->answered;
    }
    return NULL;
}

static void threads_answer_each_other(void** state)
{
    rig_need(state, true, "");
    const VkSemaphore here = make_shared(VK_SEMAPHORE_TYPE_TIMELINE, 0);
    struct answerer other = {.semaphore = share_semaphore(here, VK_SEMAPHORE_TYPE_TIMELINE)};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, answer, &other), 0);
    for (uint64_t round = 0; round < ROUNDS; ++round) {
        signal_value(here, 2 * round + 1);
        assert_int_equal(wait_value(here, 2 * round + 2, long_ns), VK_SUCCESS);
    }
    pthread_join(thread, NULL);
    assert_int_equal(other.answered, ROUNDS);
    destroy(other.semaphore);
    destroy(here);
}

/* What is freed after a point of a shared timeline waits for the other side. */
static void free_waits_for_the_other_side(void** state)
{
    rig_need(state, true, "");
    const VkSemaphore here = make_shared(VK_SEMAPHORE_TYPE_TIMELINE, 0);
    const VkSemaphore there = share_semaphore(here, VK_SEMAPHORE_TYPE_TIMELINE);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = rig_create_shared_buffer(&desk.rig, 4096, &buffer);
    const MaarPoint point = {.semaphore = there, .value = 5};
    assert_int_equal(maarDestroyBufferAfter(desk.rig.allocator, buffer, memory, 1, &point),
                     VK_SUCCESS);
    assert_int_equal(maarCollect(desk.rig.allocator, NULL), VK_SUCCESS);
    assert_int_equal(rig_statistics(&desk.rig, VK_NULL_HANDLE).pendingCount, 1);
    signal_value(here, 5);
    assert_int_equal(maarCollect(desk.rig.allocator, NULL), VK_SUCCESS);
    assert_int_equal(rig_statistics(&desk.rig, VK_NULL_HANDLE).pendingCount, 0);
    destroy(there);
    destroy(here);
}

static void binary_signal_is_seen_by_the_other(void** state)
{
    rig_need(state, true, "");
    const VkSemaphore here = make_shared(VK_SEMAPHORE_TYPE_BINARY, 0);
    const VkSemaphore there = share_semaphore(here, VK_SEMAPHORE_TYPE_BINARY);
    for (uint32_t round = 0; round < 10; ++round) {
        submit(VK_NULL_HANDLE, 0, here, 0);
        submit(there, 0, VK_NULL_HANDLE, 0);
    }
    assert_int_equal(vkDeviceWaitIdle(desk.rig.device), VK_SUCCESS);
    if (desk.rig.simulated) {
        assert_int_equal(rig_counters(&desk.rig).earlyWaitCount, 0);
    }
    destroy(there);
    destroy(here);
}

static void exports_and_imports_leave_no_descriptor(void** state)
{
    rig_need(state, true, "");
    const uint32_t before = rig_count_fds();
    for (uint32_t i = 0; i < CYCLES; ++i) {
        const VkSemaphore here = make_shared(VK_SEMAPHORE_TYPE_TIMELINE, i);
        const VkSemaphore there = share_semaphore(here, VK_SEMAPHORE_TYPE_TIMELINE);
        destroy(there);
        destroy(here);
    }
    assert_int_equal(rig_count_fds(), before);
}

/* The handle keeps its descriptor, which is open still. */
static void expect_kept(MaarExternalHandle handle, int fd)
{
    assert_int_equal(maarPeekFd(handle), fd);
    assert_true(fcntl(fd, F_GETFD) != -1);
}

static void refused_import_leaves_the_handle(void** state)
{
    rig_need(state, true, "");
    const VkSemaphore here = make_shared(VK_SEMAPHORE_TYPE_TIMELINE, 3);
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    MaarExternalHandle handle = VK_NULL_HANDLE;
    VkSemaphore other = (VkSemaphore)(uintptr_t)1;
    assert_int_equal(maarWrapFd(desk.rig.allocator, null, &handle), VK_SUCCESS);
    assert_int_not_equal(
        maarImportSemaphore(desk.rig.allocator, handle, FD, VK_SEMAPHORE_TYPE_TIMELINE, &other),
        VK_SUCCESS);
    assert_true(other == VK_NULL_HANDLE);
    expect_kept(handle, null);
    maarDestroyExternalHandle(desk.rig.allocator, handle);
    assert_int_equal(fcntl(null, F_GETFD), -1);
    /* And what was imported is empty. */
    handle = export_semaphore(here);
    assert_int_equal(
        maarImportSemaphore(desk.rig.allocator, handle, FD, VK_SEMAPHORE_TYPE_TIMELINE, &other),
        VK_SUCCESS);
    destroy(other);
    rig_forget_messages(&desk.rig);
    assert_int_equal(
        maarImportSemaphore(desk.rig.allocator, handle, FD, VK_SEMAPHORE_TYPE_TIMELINE, &other),
        VK_ERROR_INVALID_EXTERNAL_HANDLE);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_HANDLE_EMPTY, "handle");
    assert_true(other == VK_NULL_HANDLE);
    maarDestroyExternalHandle(desk.rig.allocator, handle);
    destroy(here);
}

static VkResult create(VkSemaphoreType type, VkExternalSemaphoreHandleTypeFlagBits handle)
{
    const MaarSharedSemaphoreCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SHARED_SEMAPHORE_CREATE_INFO,
        .type = type,
        .handleType = handle,
    };
    VkSemaphore semaphore = (VkSemaphore)(uintptr_t)1;
    VkResult result = maarCreateSharedSemaphore(desk.rig.allocator, &info, &semaphore);
    assert_true((result == VK_SUCCESS) == (semaphore != VK_NULL_HANDLE));
    if (result == VK_SUCCESS) {
        desk.destroy(desk.rig.device, semaphore, desk.rig.create_info.pAllocationCallbacks);
    }
    return result;
}

static void misuse_is_named(void** state)
{
    rig_need(state, true, "");
    VkSemaphore semaphore = VK_NULL_HANDLE;
    MaarExternalHandle handle = VK_NULL_HANDLE;
    MaarSharedSemaphoreCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO};
    assert_int_equal(maarCreateSharedSemaphore(desk.rig.allocator, &info, &semaphore),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pCreateInfo");
    info.sType = MAAR_STRUCTURE_TYPE_SHARED_SEMAPHORE_CREATE_INFO;
    assert_int_equal(maarCreateSharedSemaphore(desk.rig.allocator, &info, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pSemaphore");
    assert_int_equal(create((VkSemaphoreType)9, FD), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_INVALID_ENUM, "VkSemaphoreType");
    assert_int_equal(create(VK_SEMAPHORE_TYPE_TIMELINE, (VkExternalSemaphoreHandleTypeFlagBits)3),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(&desk.rig, MAAR_MESSAGE_ID_INVALID_ENUM);
    assert_int_equal(maarExportSemaphore(desk.rig.allocator, VK_NULL_HANDLE, FD, &handle),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_NULL_HANDLE, "semaphore");
    assert_int_equal(maarImportSemaphore(desk.rig.allocator, VK_NULL_HANDLE, FD,
                                         VK_SEMAPHORE_TYPE_TIMELINE, &semaphore),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_NULL_HANDLE, "handle");
    assert_int_equal(
        create(VK_SEMAPHORE_TYPE_TIMELINE, VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT),
        VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message(&desk.rig, MAAR_MESSAGE_ID_NOT_EXPORTABLE);
}

/* ---- devices that share less; simulated ---- */

static void kinds_that_are_not_offered_are_refused(void** state)
{
    rig_need(state, desk.rig.simulated, "devices that share less are simulated");
    static const struct {
        VkExternalSemaphoreFeatureFlags binary, timeline;
    } offers[] = {
        {VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT, 0},
        {0, VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT},
        {0, 0},
    };
    for (size_t i = 0; i < sizeof offers / sizeof offers[0]; ++i) {
        const MaarSimulatedSharingInfo sharing = {
            .sType = MAAR_STRUCTURE_TYPE_SIMULATED_SHARING_INFO,
            .opaqueBinary = offers[i].binary,
            .opaqueTimeline = offers[i].timeline,
        };
        const struct rig_setup setup = {.sharing = &sharing};
        rig_close(&desk.rig);
        rig_start(&desk.rig, &setup);
        find_functions();
        assert_int_equal(create(VK_SEMAPHORE_TYPE_TIMELINE, FD),
                         offers[i].timeline != 0 ? VK_SUCCESS : VK_ERROR_FEATURE_NOT_PRESENT);
        assert_int_equal(create(VK_SEMAPHORE_TYPE_BINARY, FD),
                         offers[i].binary != 0 ? VK_SUCCESS : VK_ERROR_FEATURE_NOT_PRESENT);
        const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        MaarExternalHandle handle = VK_NULL_HANDLE;
        VkSemaphore other = VK_NULL_HANDLE;
        assert_int_equal(maarWrapFd(desk.rig.allocator, null, &handle), VK_SUCCESS);
        assert_int_equal(
            maarImportSemaphore(desk.rig.allocator, handle, FD, VK_SEMAPHORE_TYPE_TIMELINE, &other),
            VK_ERROR_FEATURE_NOT_PRESENT);
        expect_kept(handle, null);
        maarDestroyExternalHandle(desk.rig.allocator, handle);
    }
}

static void payload_of_another_kind_is_refused(void** state)
{
    rig_need(state, desk.rig.simulated, "lavapipe's semaphores are a FAKE, which has rules too");
    const VkSemaphore here = make_shared(VK_SEMAPHORE_TYPE_TIMELINE, 3);
    MaarExternalHandle handle = export_semaphore(here);
    const int fd = maarPeekFd(handle);
    VkSemaphore other = VK_NULL_HANDLE;
    assert_int_equal(
        maarImportSemaphore(desk.rig.allocator, handle, FD, VK_SEMAPHORE_TYPE_BINARY, &other),
        VK_ERROR_INVALID_EXTERNAL_HANDLE);
    expect_kept(handle, fd);
    desk.rig.expected_violations = 1;
    maarDestroyExternalHandle(desk.rig.allocator, handle);
    destroy(here);
}

/* Two devices, one after the other, of the same name: the same hardware. */
static void payload_outlives_its_device(void** state)
{
    rig_need(state, desk.rig.simulated, "lavapipe's semaphores are a FAKE that does not");
    const VkSemaphore here = make_shared(VK_SEMAPHORE_TYPE_TIMELINE, 3);
    MaarExternalHandle handle = export_semaphore(here);
    signal_value(here, 4);
    int fd = -1;
    assert_int_equal(maarTakeFd(desk.rig.allocator, handle, &fd), VK_SUCCESS);
    maarDestroyExternalHandle(desk.rig.allocator, handle);
    destroy(here);
    rig_close(&desk.rig);
    const struct rig_setup setup = {.sharing = rig_sharing_everything()};
    rig_start(&desk.rig, &setup);
    find_functions();
    assert_int_equal(maarWrapFd(desk.rig.allocator, fd, &handle), VK_SUCCESS);
    VkSemaphore there = VK_NULL_HANDLE;
    assert_int_equal(
        maarImportSemaphore(desk.rig.allocator, handle, FD, VK_SEMAPHORE_TYPE_TIMELINE, &there),
        VK_SUCCESS);
    maarDestroyExternalHandle(desk.rig.allocator, handle);
    assert_int_equal(value_of(there), 4);
    destroy(there);
}

#define DESK_TEST(name) cmocka_unit_test_setup_teardown(name, open_desk, close_desk)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DESK_TEST(device_says_what_semaphores_it_shares),
        DESK_TEST(timeline_is_seen_from_both_sides),
        DESK_TEST(rounds_go_back_and_forth_with_the_wait_queued_first),
        DESK_TEST(threads_answer_each_other),
        DESK_TEST(free_waits_for_the_other_side),
        DESK_TEST(binary_signal_is_seen_by_the_other),
        DESK_TEST(exports_and_imports_leave_no_descriptor),
        DESK_TEST(refused_import_leaves_the_handle),
        DESK_TEST(misuse_is_named),
        DESK_TEST(kinds_that_are_not_offered_are_refused),
        DESK_TEST(payload_of_another_kind_is_refused),
        DESK_TEST(payload_outlives_its_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
