/*
 * What is shared, point by point: as in test_allocator_faults, every host allocation and every call
 * of the driver fails, one after another, and file descriptors run out. After each failure nothing
 * has changed, no descriptor was lost, and a handle that was to be imported is its owner's still,
 * also under a driver that closes what it refuses. Every function that fault_elsewhere.h names has
 * a step.
 */
#include "tests/fault/fault_elsewhere.h"
#include "tests/fault/fault_tables.h"

static const struct fault_table* const tables[] = {
    &fault_handle_steps,        &fault_export_steps,       &fault_import_steps,
    &fault_semaphore_steps,     &fault_handoff_steps,      &fault_process_steps,
    &fault_host_steps,          &fault_cuda_object_steps,  &fault_cuda_memory_steps,
    &fault_cuda_timeline_steps, &fault_cuda_handoff_steps, &fault_hip_steps,
    &fault_page_steps,
};

static void every_point_of_sharing_may_fail(void** state)
{
    (void)state;
    fault_run_tables(tables, sizeof tables / sizeof tables[0]);
}

static void drivers_may_close_what_they_refuse(void** state)
{
    (void)state;
    fault_set_flags(MAAR_SIMULATED_CLOSE_FD_ON_FAILED_IMPORT_BIT);
    fault_run_tables(tables, sizeof tables / sizeof tables[0]);
    fault_set_flags(0);
}

/* A descriptor that is closed twice is somebody else's the second time. */
static void closed_numbers_may_be_taken_at_once(void** state)
{
    (void)state;
    fault_set_flags(MAAR_SIMULATED_CLOSE_FD_ON_FAILED_IMPORT_BIT |
                    MAAR_SIMULATED_REUSE_CLOSED_FD_BIT);
    fault_run_tables(tables, sizeof tables / sizeof tables[0]);
    fault_set_flags(0);
}

static void points_are_where_they_are_said_to_be(void** state)
{
    (void)state;
    fault_expect_points(500);
}

static void every_function_that_shares_has_a_step(void** state)
{
    (void)state;
    uint32_t missing = 0;
    for (size_t i = 0; i < sizeof fault_elsewhere / sizeof fault_elsewhere[0]; ++i) {
        if (!fault_is_tallied(fault_elsewhere[i])) {
            ++missing;
            print_error("%s has no step\n", fault_elsewhere[i]);
        }
    }
    assert_int_equal(missing, 0);
}

/* Codes that the headers name for these functions, each seen while something failed. */
static const struct fault_answer answers[] = {
    {"maarAcquireFromHip", VK_SUCCESS, "vkQueueSubmit"},
    {"maarReleaseToHip", VK_SUCCESS, "vkQueueSubmit"},
    {"maarAcquireFromCuda", VK_SUCCESS, "vkQueueSubmit"},
    {"maarReleaseToCuda", VK_SUCCESS, "vkQueueSubmit"},
    {"maarAcquireFromCuda", VK_ERROR_DEVICE_LOST, NULL},
    {"maarAcquireFromCuda", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarAcquireFromCuda", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarAcquireFromCuda", VK_ERROR_UNKNOWN, NULL},
    {"maarAcquireFromHip", VK_ERROR_DEVICE_LOST, NULL},
    {"maarAcquireFromHip", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarAcquireFromHip", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarAcquireFromHip", VK_ERROR_UNKNOWN, NULL},
    {"maarAllocateCudaMemory", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarAllocateCudaMemory", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarAllocateCudaMemory", VK_ERROR_UNKNOWN, NULL},
    {"maarAppendToCudaRange", VK_ERROR_INVALID_EXTERNAL_HANDLE, NULL},
    {"maarAppendToCudaRange", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarAppendToCudaRange", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarAppendToCudaRange", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarAppendToCudaRange", VK_ERROR_UNKNOWN, NULL},
    {"maarCreateCuda", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarCreateCuda", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreateCuda", VK_ERROR_UNKNOWN, NULL},
    {"maarCreateCudaImage", VK_ERROR_INVALID_EXTERNAL_HANDLE, NULL},
    {"maarCreateCudaImage", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarCreateCudaImage", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreateCudaImage", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarCreateCudaImage", VK_ERROR_UNKNOWN, NULL},
    {"maarCreateCudaMirror", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarCreateCudaMirror", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreateCudaMirror", VK_ERROR_UNKNOWN, NULL},
    {"maarCreateCudaRange", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreateCudaRange", VK_ERROR_UNKNOWN, NULL},
    {"maarCreateCudaTimeline", VK_ERROR_INVALID_EXTERNAL_HANDLE, NULL},
    {"maarCreateCudaTimeline", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarCreateCudaTimeline", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreateCudaTimeline", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarCreateCudaTimeline", VK_ERROR_UNKNOWN, NULL},
    {"maarCreateHip", VK_ERROR_INCOMPATIBLE_DRIVER, NULL},
    {"maarCreateHip", VK_ERROR_INITIALIZATION_FAILED, NULL},
    {"maarCreateHip", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreateHipTimeline", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarCreateHipTimeline", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreateHostBuffer", VK_ERROR_INVALID_EXTERNAL_HANDLE, NULL},
    {"maarCreateHostBuffer", VK_ERROR_MEMORY_MAP_FAILED, NULL},
    {"maarCreateHostBuffer", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarCreateHostBuffer", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreateHostBuffer", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarCreateSharedSemaphore", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarCreateSharedSemaphore", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCudaSignal", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarCudaSignal", VK_ERROR_UNKNOWN, NULL},
    {"maarCudaWait", VK_ERROR_DEVICE_LOST, NULL},
    {"maarCudaWait", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarCudaWait", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCudaWait", VK_ERROR_UNKNOWN, NULL},
    {"maarDescribeMemory", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarDescribeMemory", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarDescribeMemory", VK_ERROR_UNKNOWN, NULL},
    {"maarDescribeTimeline", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarDescribeTimeline", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarDescribeTimeline", VK_ERROR_UNKNOWN, NULL},
    {"maarDuplicateExternalHandle", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarDuplicateExternalHandle", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarExportMemory", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarExportMemory", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarExportMemory", VK_ERROR_UNKNOWN, NULL},
    {"maarExportSemaphore", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarExportSemaphore", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarExportSemaphore", VK_ERROR_UNKNOWN, NULL},
    {"maarGetCudaMemory", VK_ERROR_INVALID_EXTERNAL_HANDLE, NULL},
    {"maarGetCudaMemory", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarGetCudaMemory", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarGetCudaMemory", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarGetCudaMemory", VK_ERROR_UNKNOWN, NULL},
    {"maarGetHipMemory", VK_ERROR_INVALID_EXTERNAL_HANDLE, NULL},
    {"maarGetHipMemory", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarGetHipMemory", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarGetHipMemory", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarGetHipMemory", VK_ERROR_UNKNOWN, NULL},
    {"maarGetSharingSupport", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarGetSharingSupport", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarGrowCudaMirror", VK_ERROR_DEVICE_LOST, NULL},
    {"maarGrowCudaMirror", VK_ERROR_INVALID_EXTERNAL_HANDLE, NULL},
    {"maarGrowCudaMirror", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarGrowCudaMirror", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarGrowCudaMirror", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarGrowCudaMirror", VK_ERROR_UNKNOWN, NULL},
    {"maarHipSignal", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarHipSignal", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarHipSignal", VK_ERROR_UNKNOWN, NULL},
    {"maarHipWait", VK_ERROR_DEVICE_LOST, NULL},
    {"maarHipWait", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarHipWait", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarHipWait", VK_ERROR_UNKNOWN, NULL},
    {"maarImportBuffer", VK_ERROR_INVALID_EXTERNAL_HANDLE, NULL},
    {"maarImportBuffer", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarImportBuffer", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarImportBuffer", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarImportBuffer", VK_SUCCESS, "vkBindBufferMemory2"},
    {"maarImportBuffer", VK_SUCCESS, "vkCreateBuffer"},
    {"maarImportDescribedBuffer", VK_ERROR_INVALID_EXTERNAL_HANDLE, NULL},
    {"maarImportDescribedBuffer", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarImportDescribedBuffer", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarImportDescribedBuffer", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarImportImage", VK_ERROR_FEATURE_NOT_PRESENT, NULL},
    {"maarImportImage", VK_ERROR_INVALID_EXTERNAL_HANDLE, NULL},
    {"maarImportImage", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarImportImage", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarImportImage", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarImportMemory", VK_ERROR_INVALID_EXTERNAL_HANDLE, NULL},
    {"maarImportMemory", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarImportMemory", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarImportMemory", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarImportSemaphore", VK_ERROR_INVALID_EXTERNAL_HANDLE, NULL},
    {"maarImportSemaphore", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarImportSemaphore", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarImportSemaphore", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarPullHostBuffer", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarPullHostBuffer", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarPushHostBuffer", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarPushHostBuffer", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarReceiveHandle", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarReceiveHandle", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarReleaseToCuda", VK_ERROR_DEVICE_LOST, NULL},
    {"maarReleaseToCuda", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarReleaseToCuda", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarReleaseToCuda", VK_ERROR_UNKNOWN, NULL},
    {"maarReleaseToHip", VK_ERROR_DEVICE_LOST, NULL},
    {"maarReleaseToHip", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarReleaseToHip", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarReleaseToHip", VK_ERROR_UNKNOWN, NULL},
    {"maarSubmitHandoff", VK_ERROR_DEVICE_LOST, NULL},
    {"maarSubmitHandoff", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarSubmitHandoff", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarWrapFd", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
};

static void listed_codes_are_answered(void** state)
{
    (void)state;
    fault_expect_listed(answers, sizeof answers / sizeof answers[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_point_of_sharing_may_fail, fault_report_where),
        cmocka_unit_test_teardown(drivers_may_close_what_they_refuse, fault_report_where),
        cmocka_unit_test_teardown(closed_numbers_may_be_taken_at_once, fault_report_where),
        cmocka_unit_test(listed_codes_are_answered),
        cmocka_unit_test(points_are_where_they_are_said_to_be),
        cmocka_unit_test(every_function_that_shares_has_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
