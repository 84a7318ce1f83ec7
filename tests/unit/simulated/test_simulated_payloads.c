/*
 * Semaphores of simulated devices that are exported and imported as file descriptors, and the queue
 * families outside a device to which memory is handed.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include "tests/unit/simulated/simulated_sharing.h"

#if defined(__linux__)
#include <pthread.h>

#define OPAQUE VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT

enum { CYCLES = 2000, SECOND_NS = 1000000000 };

static VkResult make_semaphore(const struct sharing_fixture* s, bool timeline, uint64_t value,
                               VkExternalSemaphoreHandleTypeFlags types, VkSemaphore* semaphore)
{
    const VkExportSemaphoreCreateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO, .handleTypes = types};
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .pNext = &export,
                                            .semaphoreType = timeline ? VK_SEMAPHORE_TYPE_TIMELINE
                                                                      : VK_SEMAPHORE_TYPE_BINARY,
                                            .initialValue = value};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    return s->f.vkCreateSemaphore(s->f.device, &info, NULL, semaphore);
}

static VkSemaphore semaphore_of(const struct sharing_fixture* s, bool timeline, uint64_t value)
{
    VkSemaphore semaphore = VK_NULL_HANDLE;
    assert_int_equal(make_semaphore(s, timeline, value, OPAQUE, &semaphore), VK_SUCCESS);
    return semaphore;
}

static VkResult export_fd(const struct sharing_fixture* s, VkSemaphore semaphore, int* fd)
{
    const VkSemaphoreGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                          .semaphore = semaphore,
                                          .handleType = OPAQUE};
    return s->vkGetSemaphoreFdKHR(s->f.device, &info, fd);
}

static int fd_of(const struct sharing_fixture* s, VkSemaphore semaphore)
{
    int fd = -1;
    assert_int_equal(export_fd(s, semaphore, &fd), VK_SUCCESS);
    assert_true(fd >= 0);
    return fd;
}

static VkResult import_fd(const struct sharing_fixture* s, VkSemaphore semaphore, int fd,
                          VkSemaphoreImportFlags flags)
{
    const VkImportSemaphoreFdInfoKHR info = {.sType =
                                                 VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
                                             .semaphore = semaphore,
                                             .flags = flags,
                                             .handleType = OPAQUE,
                                             .fd = fd};
    return s->vkImportSemaphoreFdKHR(s->f.device, &info);
}

static VkResult wait_value(const struct sharing_fixture* s, VkSemaphore semaphore, uint64_t value,
                           uint64_t timeout_ns)
{
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &semaphore,
                                      .pValues = &value};
    return s->f.vkWaitSemaphores(s->f.device, &info, timeout_ns);
}

static VkResult signal_value(const struct sharing_fixture* s, VkSemaphore semaphore, uint64_t value)
{
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = semaphore, .value = value};
    return s->f.vkSignalSemaphore(s->f.device, &info);
}

static uint64_t value_of(const struct sharing_fixture* s, VkSemaphore semaphore)
{
    uint64_t value = 0;
    assert_int_equal(s->f.vkGetSemaphoreCounterValue(s->f.device, semaphore, &value), VK_SUCCESS);
    return value;
}

static void destroy(const struct sharing_fixture* s, VkSemaphore semaphore)
{
    s->f.vkDestroySemaphore(s->f.device, semaphore, NULL);
}

static VkExternalSemaphoreProperties offer_of(const struct sharing_fixture* s, bool timeline)
{
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkPhysicalDeviceExternalSemaphoreInfo info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
        .pNext = timeline ? &type : NULL,
        .handleType = OPAQUE};
    VkExternalSemaphoreProperties found = {.sType =
                                               VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
    s->vkGetPhysicalDeviceExternalSemaphoreProperties(s->f.physical, &info, &found);
    return found;
}

static void binary_support_does_not_imply_timelines(void** state)
{
    struct sharing_fixture s;
    (void)state;
    const MaarSimulatedSharingInfo info = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_SHARING_INFO,
                                           .opaqueBinary =
                                               VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT};
    sharing_open(&s, &info);
    assert_int_equal(offer_of(&s, false).externalSemaphoreFeatures, info.opaqueBinary);
    assert_int_equal(offer_of(&s, false).compatibleHandleTypes, OPAQUE);
    assert_int_equal(offer_of(&s, true).externalSemaphoreFeatures, 0);
    assert_int_equal(offer_of(&s, true).compatibleHandleTypes, 0);
    const VkSemaphore binary = semaphore_of(&s, false, 0);
    VkSemaphore timeline = VK_NULL_HANDLE;
    assert_int_equal(make_semaphore(&s, true, 0, OPAQUE, &timeline),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_true(timeline == VK_NULL_HANDLE);
    fixture_expect(&s.f, MAAR_SIMULATED_VIOLATION_SHARING, 1);
    const int fd = fd_of(&s, binary);
    assert_int_equal(import_fd(&s, binary, fd, 0), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    fixture_expect(&s.f, MAAR_SIMULATED_VIOLATION_SHARING, 2);
    close(fd);
    destroy(&s, binary);
    sharing_close(&s);
}

static void timelines_share_their_value(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    struct sharing_fixture other;
    const MaarSimulatedSharingInfo info = sharing_info();
    const uint32_t before = sharing_open_fds();
    sharing_open(&other, &info);
    const VkSemaphore one = semaphore_of(s, true, 7);
    const VkSemaphore two = semaphore_of(s, true, 0);
    const VkSemaphore far = semaphore_of(&other, true, 0);
    assert_int_equal(import_fd(s, two, fd_of(s, one), 0), VK_SUCCESS);
    assert_int_equal(import_fd(&other, far, fd_of(s, two), 0), VK_SUCCESS);
    assert_int_equal(value_of(s, two), 7);
    assert_int_equal(signal_value(&other, far, 9), VK_SUCCESS);
    assert_int_equal(value_of(s, one), 9);
    assert_int_equal(wait_value(s, two, 10, 0), VK_TIMEOUT);
    destroy(s, one);
    assert_int_equal(signal_value(s, two, 10), VK_SUCCESS);
    assert_int_equal(wait_value(&other, far, 10, 0), VK_SUCCESS);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 0);
    assert_int_equal(signal_value(s, two, 10), VK_SUCCESS);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SEMAPHORE, 1);
    destroy(s, two);
    destroy(&other, far);
    fixture_expect(&other.f, MAAR_SIMULATED_VIOLATION_SHARING, 0);
    sharing_close(&other);
    assert_int_equal(sharing_open_fds(), before);
}

struct late_signal {
    const struct sharing_fixture* s;
    VkSemaphore semaphore;
    uint64_t rounds;
};

/* Answers each odd value with the next. */
static void* answer_rounds(void* data)
{
    const struct late_signal* late = data;
    for (uint64_t round = 0; round < late->rounds; round++) {
        if (wait_value(late->s, late->semaphore, 2 * round + 1, SECOND_NS) != VK_SUCCESS ||
            signal_value(late->s, late->semaphore, 2 * round + 2) != VK_SUCCESS) {
            return NULL;
        }
    }
    return data;
}

static void waits_end_by_signals_of_other_instances(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    struct sharing_fixture other;
    const MaarSimulatedSharingInfo info = sharing_info();
    sharing_open(&other, &info);
    const VkSemaphore here = semaphore_of(s, true, 0);
    const VkSemaphore there = semaphore_of(&other, true, 0);
    assert_int_equal(import_fd(&other, there, fd_of(s, here), 0), VK_SUCCESS);
    struct late_signal late = {.s = &other, .semaphore = there, .rounds = 50};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, answer_rounds, &late), 0);
    for (uint64_t round = 0; round < late.rounds; round++) {
        assert_int_equal(signal_value(s, here, 2 * round + 1), VK_SUCCESS);
        assert_int_equal(wait_value(s, here, 2 * round + 2, SECOND_NS), VK_SUCCESS);
    }
    void* done = NULL;
    pthread_join(thread, &done);
    assert_non_null(done);
    destroy(s, here);
    destroy(&other, there);
    sharing_close(&other);
}

static void waits_end_by_signals_of_other_processes(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    const VkSemaphore here = semaphore_of(s, true, 0);
    const int fd = fd_of(s, here);
    const pid_t child = fork();
    if (child == 0) {
        VkSemaphore there = VK_NULL_HANDLE;
        const bool good = make_semaphore(s, true, 0, OPAQUE, &there) == VK_SUCCESS &&
                          import_fd(s, there, fd, 0) == VK_SUCCESS &&
                          wait_value(s, there, 1, SECOND_NS) == VK_SUCCESS &&
                          signal_value(s, there, 2) == VK_SUCCESS;
        _exit(good ? 0 : 1);
    }
    assert_int_equal(signal_value(s, here, 1), VK_SUCCESS);
    assert_int_equal(wait_value(s, here, 2, SECOND_NS), VK_SUCCESS);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(fd);
    destroy(s, here);
}

static VkResult submit(const struct sharing_fixture* s, VkSemaphore wait, uint64_t wait_value_,
                       VkSemaphore signal, uint64_t signal_value_)
{
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = wait != VK_NULL_HANDLE ? 1 : 0,
        .pWaitSemaphoreValues = &wait_value_,
        .signalSemaphoreValueCount = signal != VK_NULL_HANDLE ? 1 : 0,
        .pSignalSemaphoreValues = &signal_value_};
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = &values,
                               .waitSemaphoreCount = values.waitSemaphoreValueCount,
                               .pWaitSemaphores = &wait,
                               .pWaitDstStageMask = &stage,
                               .signalSemaphoreCount = values.signalSemaphoreValueCount,
                               .pSignalSemaphores = &signal};
    return s->f.vkQueueSubmit(s->f.queue, 1, &info, VK_NULL_HANDLE);
}

static void held_submission_goes_on_when_others_signal(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    struct sharing_fixture other;
    const MaarSimulatedSharingInfo info = sharing_info();
    sharing_open(&other, &info);
    const VkSemaphore here = semaphore_of(s, true, 0);
    const VkSemaphore there = semaphore_of(&other, true, 0);
    assert_int_equal(import_fd(&other, there, fd_of(s, here), 0), VK_SUCCESS);
    maarSimulatedSetFlags(s->f.physical, MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT);
    /* The wait is queued first; a thread of the other instance signals what it waits for. */
    assert_int_equal(submit(s, here, 2, here, 3), VK_SUCCESS);
    assert_int_equal(wait_value(s, here, 3, SECOND_NS / 1000), VK_TIMEOUT);
    assert_int_equal(signal_value(s, here, 1), VK_SUCCESS);
    struct late_signal late = {.s = &other, .semaphore = there, .rounds = 1};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, answer_rounds, &late), 0);
    assert_int_equal(wait_value(s, here, 3, SECOND_NS), VK_SUCCESS);
    pthread_join(thread, NULL);
    assert_int_equal(fixture_counters(&s->f).earlyWaitCount, 0);
    destroy(s, here);
    destroy(&other, there);
    sharing_close(&other);
}

static void binary_semaphores_share_their_signal(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    const VkSemaphore one = semaphore_of(s, false, 0);
    const VkSemaphore two = semaphore_of(s, false, 0);
    assert_int_equal(import_fd(s, two, fd_of(s, one), 0), VK_SUCCESS);
    assert_int_equal(submit(s, VK_NULL_HANDLE, 0, one, 0), VK_SUCCESS);
    assert_int_equal(submit(s, two, 0, VK_NULL_HANDLE, 0), VK_SUCCESS);
    assert_int_equal(fixture_counters(&s->f).earlyWaitCount, 0);
    assert_int_equal(submit(s, one, 0, VK_NULL_HANDLE, 0), VK_SUCCESS);
    assert_int_equal(fixture_counters(&s->f).earlyWaitCount, 1);
    destroy(s, one);
    destroy(s, two);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 0);
}

static void import_of_what_is_no_such_semaphore_is_refused(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    const VkSemaphore timeline = semaphore_of(s, true, 0);
    const VkSemaphore binary = semaphore_of(s, false, 0);
    VkSemaphore plain = VK_NULL_HANDLE;
    assert_int_equal(make_semaphore(s, true, 0, 0, &plain), VK_SUCCESS);
    const VkDeviceMemory memory = sharing_exportable(s, 1, 4096, SHARING_OPAQUE);
    const int memory_fd = sharing_fd(s, memory);
    const int fd = fd_of(s, timeline);
    assert_int_equal(import_fd(s, timeline, memory_fd, 0), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 0);
    assert_int_equal(import_fd(s, binary, fd, 0), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_int_equal(fixture_counters(&s->f).violations[MAAR_SIMULATED_VIOLATION_SEMAPHORE], 1);
    assert_int_equal(import_fd(s, timeline, fd, VK_SEMAPHORE_IMPORT_TEMPORARY_BIT),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_int_equal(fixture_counters(&s->f).violations[MAAR_SIMULATED_VIOLATION_SHARING], 1);
    int none = 0;
    assert_int_equal(export_fd(s, plain, &none), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(none, -1);
    assert_int_equal(fixture_counters(&s->f).violations[MAAR_SIMULATED_VIOLATION_SHARING], 2);
    assert_true(sharing_is_open(fd));
    assert_true(sharing_is_open(memory_fd));
    assert_int_equal(fixture_counters(&s->f).fdsImported, 0);
    close(memory_fd);
    close(fd);
    s->f.vkFreeMemory(s->f.device, memory, NULL);
    destroy(s, plain);
    destroy(s, binary);
    destroy(s, timeline);
}

static void fault_takes_no_descriptor(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    const VkSemaphore one = semaphore_of(s, true, 3);
    const VkSemaphore two = semaphore_of(s, true, 0);
    const uint32_t before = sharing_open_fds();
    int fd = 5;
    sharing_fault(s, "vkGetSemaphoreFdKHR");
    assert_int_equal(export_fd(s, one, &fd), VK_ERROR_TOO_MANY_OBJECTS);
    assert_int_equal(fd, -1);
    assert_int_equal(sharing_open_fds(), before);
    fd = fd_of(s, one);
    sharing_fault(s, "vkImportSemaphoreFdKHR");
    assert_int_equal(import_fd(s, two, fd, 0), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_true(sharing_is_open(fd));
    assert_int_equal(value_of(s, two), 0);
    maarSimulatedSetFlags(s->f.physical, MAAR_SIMULATED_CLOSE_FD_ON_FAILED_IMPORT_BIT);
    sharing_fault(s, "vkImportSemaphoreFdKHR");
    assert_int_equal(import_fd(s, two, fd, 0), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_false(sharing_is_open(fd));
    maarSimulatedSetFlags(s->f.physical, 0);
    assert_int_equal(import_fd(s, two, fd_of(s, one), 0), VK_SUCCESS);
    assert_int_equal(value_of(s, two), 3);
    destroy(s, one);
    destroy(s, two);
    assert_int_equal(sharing_open_fds(), before);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 0);
}

static void file_of_a_semaphore_is_as_documented(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    const VkSemaphore semaphore = semaphore_of(s, true, 3);
    const int fd = fd_of(s, semaphore);
    assert_int_equal(signal_value(s, semaphore, 77), VK_SUCCESS);
    uint32_t kind[2] = {0, 0};
    uint64_t words[3] = {0, 0, 0};
    assert_int_equal(lseek(fd, 0, SEEK_END), 4096);
    assert_int_equal(pread(fd, kind, sizeof(kind), 8), sizeof(kind));
    assert_int_equal(pread(fd, words, sizeof(words), 64), sizeof(words));
    assert_int_equal(kind[0], 2);
    assert_int_equal(kind[1], OPAQUE);
    assert_int_equal(words[0], 77);
    assert_true(words[1] == (uint64_t)(uintptr_t)s->f.device);
    assert_true(words[2] == (uint64_t)semaphore);
    close(fd);
    destroy(s, semaphore);
}

static void many_exports_and_imports_leave_no_descriptor_open(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    const uint32_t before = sharing_open_fds();
    const VkSemaphore kept = semaphore_of(s, true, 0);
    for (uint64_t i = 1; i <= CYCLES; i++) {
        const VkSemaphore semaphore = semaphore_of(s, true, i);
        assert_int_equal(import_fd(s, kept, fd_of(s, semaphore), 0), VK_SUCCESS);
        destroy(s, semaphore);
        assert_int_equal(value_of(s, kept), i);
    }
    destroy(s, kept);
    assert_int_equal(sharing_open_fds(), before);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 0);
}

static void device_that_goes_lets_go_of_semaphores(void** state)
{
    struct sharing_fixture s;
    const MaarSimulatedSharingInfo info = sharing_info();
    const uint32_t before = sharing_open_fds();
    (void)state;
    sharing_open(&s, &info);
    close(fd_of(&s, semaphore_of(&s, true, 1)));
    sharing_close(&s);
    assert_int_equal(sharing_open_fds(), before);
}
#endif

/* A barrier that hands a buffer from one queue family to another. */
static void hand_over(struct sharing_fixture* s, uint32_t src, uint32_t dst)
{
    const PFN_vkGetDeviceProcAddr get = (PFN_vkGetDeviceProcAddr)maarSimulatedGetInstanceProcAddr(
        s->f.instance, "vkGetDeviceProcAddr");
    const PFN_vkCmdPipelineBarrier barrier =
        (PFN_vkCmdPipelineBarrier)get(s->f.device, "vkCmdPipelineBarrier");
    const PFN_vkCmdPipelineBarrier2 barrier2 =
        (PFN_vkCmdPipelineBarrier2)get(s->f.device, "vkCmdPipelineBarrier2");
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandPool pool = VK_NULL_HANDLE;
    assert_int_equal(s->f.vkCreateCommandPool(s->f.device, &pool_info, NULL, &pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo one = {.sType =
                                                 VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                             .commandPool = pool,
                                             .commandBufferCount = 1};
    VkCommandBuffer commands = NULL;
    assert_int_equal(s->f.vkAllocateCommandBuffers(s->f.device, &one, &commands), VK_SUCCESS);
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(s->f.vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    const VkBuffer buffer = fixture_buffer(&s->f, 64, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    const VkBufferMemoryBarrier first = {.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
                                         .srcQueueFamilyIndex = src,
                                         .dstQueueFamilyIndex = dst,
                                         .buffer = buffer,
                                         .size = VK_WHOLE_SIZE};
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    barrier(commands, stage, stage, 0, 0, NULL, 1, &first, 0, NULL);
    const VkBufferMemoryBarrier2 second = {.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2,
                                           .srcQueueFamilyIndex = src,
                                           .dstQueueFamilyIndex = dst,
                                           .buffer = buffer,
                                           .size = VK_WHOLE_SIZE};
    const VkDependencyInfo dependency = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                         .bufferMemoryBarrierCount = 1,
                                         .pBufferMemoryBarriers = &second};
    barrier2(commands, &dependency);
    assert_int_equal(s->f.vkEndCommandBuffer(commands), VK_SUCCESS);
    s->f.vkDestroyBuffer(s->f.device, buffer, NULL);
    s->f.vkDestroyCommandPool(s->f.device, pool, NULL);
}

static void barriers_name_families_that_are_enabled(void** state)
{
    struct sharing_fixture s;
    (void)state;
    sharing_open(&s, NULL);
    hand_over(&s, 0, VK_QUEUE_FAMILY_EXTERNAL);
    hand_over(&s, VK_QUEUE_FAMILY_EXTERNAL, 0);
    hand_over(&s, VK_QUEUE_FAMILY_IGNORED, VK_QUEUE_FAMILY_IGNORED);
    fixture_expect(&s.f, MAAR_SIMULATED_VIOLATION_FEATURE, 0);
    hand_over(&s, 0, VK_QUEUE_FAMILY_FOREIGN_EXT);
    fixture_expect(&s.f, MAAR_SIMULATED_VIOLATION_FEATURE, 2);
    hand_over(&s, 0, 1);
    assert_int_equal(fixture_counters(&s.f).violations[MAAR_SIMULATED_VIOLATION_ARGUMENT], 2);
    sharing_close(&s);
}

#define SHARING_TEST(name) cmocka_unit_test_setup_teardown(name, sharing_setup, sharing_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(barriers_name_families_that_are_enabled),
#if defined(__linux__)
        cmocka_unit_test(binary_support_does_not_imply_timelines),
        SHARING_TEST(timelines_share_their_value),
        SHARING_TEST(waits_end_by_signals_of_other_instances),
        SHARING_TEST(waits_end_by_signals_of_other_processes),
        SHARING_TEST(held_submission_goes_on_when_others_signal),
        SHARING_TEST(binary_semaphores_share_their_signal),
        SHARING_TEST(import_of_what_is_no_such_semaphore_is_refused),
        SHARING_TEST(fault_takes_no_descriptor),
        SHARING_TEST(file_of_a_semaphore_is_as_documented),
        SHARING_TEST(many_exports_and_imports_leave_no_descriptor_open),
        cmocka_unit_test(device_that_goes_lets_go_of_semaphores),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
