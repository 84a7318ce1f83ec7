/*
 * Promise 3, call by call: fail the Nth host allocation, then the Nth call of the driver, for every
 * N until the call succeeds untouched. After each failure outputs are null, totals are as they
 * were, the driver holds the same objects, the heavy check finds nothing; at the end nothing is
 * left.
 */
#include "tests/fault/fault_steps.h"

enum fault_kind {
    FAULT_HOST,           /* the Nth host allocation */
    FAULT_DEVICE_USUAL,   /* the Nth call of the driver, as it usually fails */
    FAULT_DEVICE_HOST,    /* the same, for want of host memory */
    FAULT_DEVICE_SHORTAGE /* the Nth and all later ones, for want of device memory */
};

enum { MOST_FAULTS = 200 };

struct snapshot {
    MaarStatistics totals;
    MaarSimulatedCounters driver;
    uint32_t block_count;
    MaarBlockInfo blocks[32];
};

static void take_snapshot(struct rig* rig, struct snapshot* snapshot)
{
    memset(snapshot, 0, sizeof *snapshot);
    snapshot->totals = rig_statistics(rig, VK_NULL_HANDLE);
    snapshot->driver = rig_counters(rig);
    snapshot->block_count = 32;
    for (uint32_t i = 0; i < 32; ++i) {
        snapshot->blocks[i].sType = MAAR_STRUCTURE_TYPE_BLOCK_INFO;
    }
    assert_int_equal(maarEnumerateBlocks(rig->allocator, VK_NULL_HANDLE, &snapshot->block_count,
                                         snapshot->blocks),
                     VK_SUCCESS);
}

/* Counters of calls and failures, and peaks, are what they are. */
static void expect_unchanged(struct rig* rig, const struct snapshot* before)
{
    struct snapshot now;
    take_snapshot(rig, &now);
    const MaarStatistics* a = &before->totals;
    const MaarStatistics* b = &now.totals;
    assert_int_equal(a->blockCount, b->blockCount);
    assert_int_equal(a->dedicatedCount, b->dedicatedCount);
    assert_int_equal(a->allocationCount, b->allocationCount);
    assert_int_equal(a->pendingCount, b->pendingCount);
    assert_true(a->blockBytes == b->blockBytes && a->dedicatedBytes == b->dedicatedBytes);
    assert_true(a->allocationBytes == b->allocationBytes && a->pendingBytes == b->pendingBytes);
    assert_true(a->paddingBytes == b->paddingBytes && a->freeBytes == b->freeBytes);
    assert_memory_equal(before->driver.liveCount, now.driver.liveCount,
                        sizeof now.driver.liveCount);
    assert_memory_equal(before->driver.heapLive, now.driver.heapLive, sizeof now.driver.heapLive);
    assert_int_equal(before->driver.mappedCount, now.driver.mappedCount);
    assert_int_equal(before->block_count, now.block_count);
    for (uint32_t i = 0; i < now.block_count; ++i) {
        assert_true(before->blocks[i].memory == now.blocks[i].memory);
        assert_true(before->blocks[i].allocationBytes == now.blocks[i].allocationBytes);
    }
    rig_check(rig);
}

static void arm(struct rig* rig, enum fault_kind kind, uint64_t nth)
{
    switch (kind) {
    case FAULT_HOST:
        atomic_store(&rig->host.calls, 0);
        atomic_store(&rig->host.fail_at, nth);
        break;
    case FAULT_DEVICE_USUAL:
        rig_set_fault(rig, NULL, nth, 1, VK_SUCCESS);
        break;
    case FAULT_DEVICE_HOST:
        rig_set_fault(rig, NULL, nth, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
        break;
    case FAULT_DEVICE_SHORTAGE:
        rig_set_fault(rig, NULL, nth, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
        break;
    }
}

/* Whether the fault struck since it was armed. */
static bool disarm(struct rig* rig, enum fault_kind kind, uint64_t nth, uint64_t faults_before)
{
    bool struck = kind == FAULT_HOST ? atomic_load(&rig->host.calls) >= nth
                                     : rig_counters(rig).faultCount > faults_before;
    atomic_store(&rig->host.fail_at, 0);
    rig_clear_faults(rig);
    return struck;
}

/* Returns how many failures the step survived. */
static uint32_t fail_every_call(struct fault_context* context, const struct fault_step* step,
                                enum fault_kind kind)
{
    struct rig* rig = &context->rig;
    uint32_t failures = 0;
    for (uint64_t nth = 1; nth <= MOST_FAULTS; ++nth) {
        struct snapshot before;
        take_snapshot(rig, &before);
        arm(rig, kind, nth);
        VkResult result = step->run(context);
        bool struck = disarm(rig, kind, nth, before.driver.faultCount);
        if (result == VK_SUCCESS && !struck) {
            return failures;
        }
        if (result == VK_SUCCESS) {
            step->undo(context); /* it found another way */
            if (step->prepare != NULL && context->memory == VK_NULL_HANDLE) {
                return failures;
            }
            assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
            continue;
        }
        assert_true(struck);
        ++failures;
        expect_unchanged(rig, &before);
    }
    fail_msg("%s still fails at the %dth fault", step->name, MOST_FAULTS);
    return failures;
}

static uint32_t run_step(const struct fault_step* step, enum fault_kind kind)
{
    static struct fault_context context;
    const struct rig_setup setup = {
        .profile = step->profile != NULL ? step->profile() : NULL,
        .flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT,
        .off = step->off,
        .count_host = true,
    };
    memset(&context, 0, sizeof context);
    rig_start(&context.rig, &setup);
    if (step->prepare != NULL) {
        step->prepare(&context);
    }
    uint32_t failures = fail_every_call(&context, step, kind);
    step->undo(&context);
    if (step->finish != NULL) {
        step->finish(&context);
    }
    assert_int_equal(maarTrim(context.rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    MaarStatistics end = rig_statistics(&context.rig, VK_NULL_HANDLE);
    assert_int_equal(end.allocationCount, 0);
    assert_int_equal(end.pendingCount, 0);
    rig_close(&context.rig);
    return failures;
}

static uint32_t run_all(enum fault_kind kind)
{
    uint32_t failures = 0;
    for (uint32_t i = 0; i < fault_step_count; ++i) {
        if (fault_steps[i].waits && kind == FAULT_DEVICE_USUAL) {
            continue; /* usually the device is lost then, which test_retire covers */
        }
        uint32_t count = run_step(&fault_steps[i], kind);
        print_message("%-28s %u failures\n", fault_steps[i].name, count);
        failures += count;
    }
    return failures;
}

static void host_memory_failing_changes_nothing(void** state)
{
    (void)state;
    assert_true(run_all(FAULT_HOST) >= 60);
}

static void driver_failing_as_usual_changes_nothing(void** state)
{
    (void)state;
    assert_true(run_all(FAULT_DEVICE_USUAL) >= 20);
}

static void driver_short_of_host_memory_changes_nothing(void** state)
{
    (void)state;
    assert_true(run_all(FAULT_DEVICE_HOST) >= 40);
}

static void driver_short_of_device_memory_changes_nothing(void** state)
{
    (void)state;
    assert_true(run_all(FAULT_DEVICE_SHORTAGE) >= 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_memory_failing_changes_nothing),
        cmocka_unit_test(driver_failing_as_usual_changes_nothing),
        cmocka_unit_test(driver_short_of_host_memory_changes_nothing),
        cmocka_unit_test(driver_short_of_device_memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
