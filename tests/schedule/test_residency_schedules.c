/*
 * All schedules of small programs of a manager of residents: a thread or two that use, update,
 * destroy, prefetch and write checkpoints, threads that do the work of the host or take memory
 * back, and a device that executes one submission after another. No schedule ends in a deadlock,
 * loses a wake-up or lets a thread spin, and every byte is right at the end.
 *
 * The device has room for two residents of the six, host memory for two, and the rest is compressed
 * or in a file. Where two threads call the manager, they take turns: a lock of the program.
 */
#define UNIT (4 * KIB)

#include "core/residency/residency_state.h"
#include "maar/checkpoint.h"
#include "tests/schedule/schedule.h"
#include "tests/schedule/scheduled_file.h"
#include "tests/unit/residency/residency_fixture.h"

enum { BUFFERS = 6, FILE_SIZE = 256 * 1024, CHECKPOINT_SIZE = 256 * 1024 };

static struct {
    MaarResident handle;
    uint32_t word;
    uint32_t source;
} all[BUFFERS];

static uint8_t file_bytes[FILE_SIZE];
static uint8_t checkpoint_bytes[CHECKPOINT_SIZE];
static struct schedule_lock door = {.number = 0};
static uint32_t executed_by_the_device;
static struct {
    uint32_t now;  /* sets that the present schedule has used */
    uint32_t most; /* of all schedules */
    uint32_t least;
} sets;

/* ---- files and sources, whose transfers others may interrupt ---- */

static const MaarFileStore file = SCHEDULED_FILE(file_bytes, FILE_SIZE);

static const MaarFileStore checkpoint_file = SCHEDULED_FILE(checkpoint_bytes, CHECKPOINT_SIZE);

static VkResult VKAPI_PTR read_source(void* data, VkDeviceSize size, void* bytes)
{
    const uint32_t word = *(const uint32_t*)data;
    schedule_point("source");
    for (VkDeviceSize i = 0; i < size / sizeof word; ++i) {
        ((uint32_t*)bytes)[i] = word;
    }
    return VK_SUCCESS;
}

/* ---- the scene ---- */

static void make_buffer(uint32_t at)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(UNIT);
    const bool is_sourced = at >= BUFFERS - 2;
    const MaarResidentCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .flags = at == 0 ? MAAR_RESIDENT_CREATE_NOT_COMPRESSED_BIT : 0,
        .pBufferInfo = &buffer,
        .key = 1 + at,
        .pfnRead = is_sourced ? read_source : NULL,
        .pSourceUserData = &all[at].source,
    };
    all[at].word = 100 + at;
    all[at].source = 100 + at;
    all[at].handle = create_resident(&info);
    if (!is_sourced) {
        write_buffer(all[at].handle, all[at].word);
    }
}

/* Opens a manager whose first two residents lie in the file or compressed, the next two on the
 * device or in host memory. The last two have a source. */
static void open_tiers(void)
{
    MaarResidencyCreateInfo info = manager_info(2 * UNIT, 2 * UNIT);
    info.compressedBudget = 2 * UNIT;
    info.pFileStore = &file;
    info.pfnEvent = NULL;
    door.is_held = false;
    sets.now = 0;
    open_device();
    open_manager(&info);
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        make_buffer(i);
        if (i < 4) {
            settle();
            do_work();
        }
    }
    settle();
    rig->call = schedule_call;
    hold(true);
}

/* All contents are right, and nothing is pinned. */
static void close_tiers(void)
{
    sets.most = sets.now > sets.most ? sets.now : sets.most;
    sets.least = sets.now < sets.least ? sets.now : sets.least;
    const struct maar_residency* state =
        maar_object_of(rig->allocator, MAAR_OBJECT_RESIDENCY, MAAR_TO_BITS(manager));
    hold(false);
    expect_no_pins();
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        if (all[i].handle != VK_NULL_HANDLE) {
            expect_buffer(all[i].handle, all[i].word);
        }
    }
    assert_null(maar_residency_check(state));
    assert_int_equal(manager_state().lostCount, 0);
    rig_forget_messages(rig);
    close_scene();
    (void)rig_end_case(NULL);
}

static struct schedule_result explore(const struct schedule_program* program)
{
    sets.most = 0;
    sets.least = UINT32_MAX;
    const struct schedule_result result = schedule_explore(program);
    assert_int_equal(result.end, SCHEDULE_DONE);
    return result;
}

/* ---- what tasks do ---- */

static void work_once(void)
{
    const VkResult result = maarWorkResidency(rig->allocator, manager, 1, NULL);
    assert_true(result == VK_SUCCESS || result == VK_INCOMPLETE);
}

static void work_twice(void)
{
    work_once();
    work_once();
}

/* The device executes what was submitted until then. */
static void execute(void)
{
    for (uint32_t i = 0; i < 2; ++i) {
        schedule_point("device");
        executed_by_the_device += maarSimulatedExecuteSubmissions(rig->physical, 1);
    }
}

static void read_buffer(uint32_t at)
{
    const MaarUse use = begin_use(all[at].handle, MAAR_ACCESS_READ_BIT, 0);
    assert_int_equal(object.isFresh, VK_FALSE);
    compare_and_end(use, all[at].handle, all[at].word);
}

static void overwrite(uint32_t at, uint32_t word)
{
    all[at].word = word;
    write_buffer(all[at].handle, word);
}

static void prefetch(uint32_t at)
{
    assert_int_equal(maarPrefetchResidents(rig->allocator, manager, 1, &all[at].handle),
                     VK_SUCCESS);
}

/* ---- one thread that calls the manager, beside threads that work ---- */

static void use_low_ones(void)
{
    read_buffer(0);
    read_buffer(1);
}

static void use_runs_beside_work(void** state)
{
    (void)state;
    const struct schedule_program program = {.name = "use, work, device",
                                             .task_count = 3,
                                             .preemptions = 1,
                                             .begin = open_tiers,
                                             .tasks = {use_low_ones, work_twice, execute},
                                             .end = close_tiers};
    executed_by_the_device = 0;
    assert_true(explore(&program).schedule_count > 100);
    assert_true(executed_by_the_device > 0);
}

static void use_runs_beside_two_workers(void** state)
{
    (void)state;
    const struct schedule_program program = {.name = "use, work, work",
                                             .task_count = 3,
                                             .preemptions = 1,
                                             .begin = open_tiers,
                                             .tasks = {use_low_ones, work_once, work_once},
                                             .end = close_tiers};
    assert_true(explore(&program).schedule_count > 100);
}

/* The first update queues reading, the second one copies what was read. */
static void update_and_use(void)
{
    prefetch(0);
    prefetch(4);
    update();
    update();
    read_buffer(4);
}

static void updates_run_beside_work(void** state)
{
    (void)state;
    const struct schedule_program program = {.name = "prefetch, update, use, work",
                                             .task_count = 2,
                                             .preemptions = 2,
                                             .begin = open_tiers,
                                             .tasks = {update_and_use, work_twice},
                                             .end = close_tiers};
    assert_true(explore(&program).schedule_count > 100);
}

/* A resident ends, and another one loses its contents to new ones, while work reads them. */
static void destroy_and_overwrite(void)
{
    prefetch(0);
    prefetch(1);
    update();
    destroy_resident(all[0].handle);
    all[0].handle = VK_NULL_HANDLE;
    overwrite(1, 7);
    read_buffer(1);
}

static void residents_end_beside_work(void** state)
{
    (void)state;
    const struct schedule_program program = {.name = "destroy, overwrite, work",
                                             .task_count = 2,
                                             .preemptions = 2,
                                             .begin = open_tiers,
                                             .tasks = {destroy_and_overwrite, work_twice},
                                             .end = close_tiers};
    assert_true(explore(&program).schedule_count > 100);
}

static void prefetch_and_cancel(void)
{
    MaarUse use = VK_NULL_HANDLE;
    prefetch(0);
    update();
    cancel_use(begin_use(all[0].handle, MAAR_ACCESS_OVERWRITE_BIT, 0));
    if (try_use(all[1].handle, MAAR_ACCESS_READ_BIT, 0, &use) == VK_SUCCESS) {
        cancel_use(use);
    }
    read_buffer(0);
}

static void cancelled_uses_run_beside_work(void** state)
{
    (void)state;
    const struct schedule_program program = {.name = "prefetch, cancel, work",
                                             .task_count = 2,
                                             .preemptions = 2,
                                             .begin = open_tiers,
                                             .tasks = {prefetch_and_cancel, work_twice},
                                             .end = close_tiers};
    assert_true(explore(&program).schedule_count > 100);
}

static void write_checkpoint(void)
{
    MaarCheckpointInfo info = {.sType = MAAR_STRUCTURE_TYPE_CHECKPOINT_INFO};
    prefetch(0);
    prefetch(4);
    update();
    assert_int_equal(maarWriteCheckpoint(rig->allocator, manager, &checkpoint_file, &info),
                     VK_SUCCESS);
    assert_int_equal(info.entryCount, BUFFERS - 2); /* not those that their source has */
}

/* The checkpoint has what was written. */
static void close_checkpoint(void)
{
    static uint32_t words[UNIT / sizeof(uint32_t)];
    MaarCheckpoint checkpoint = VK_NULL_HANDLE;
    const MaarCheckpointOpenInfo info = {.sType = MAAR_STRUCTURE_TYPE_CHECKPOINT_OPEN_INFO,
                                         .pFileStore = &checkpoint_file};
    assert_int_equal(maarOpenCheckpoint(&info, &checkpoint), VK_SUCCESS);
    for (uint32_t i = 0; i < BUFFERS - 2; ++i) {
        assert_int_equal(maarReadCheckpoint(checkpoint, 1 + i, UNIT, words), VK_SUCCESS);
        for (size_t k = 0; k < sizeof words / sizeof words[0]; ++k) {
            assert_int_equal(words[k], all[i].word);
        }
    }
    maarCloseCheckpoint(checkpoint);
    close_tiers();
}

static void checkpoints_are_written_beside_work(void** state)
{
    (void)state;
    const struct schedule_program program = {.name = "checkpoint, work, device",
                                             .task_count = 3,
                                             .preemptions = 1,
                                             .begin = open_tiers,
                                             .tasks = {write_checkpoint, work_twice, execute},
                                             .end = close_checkpoint};
    assert_true(explore(&program).schedule_count > 100);
}

/* ---- two threads that take turns in calling the manager ---- */

/* Uses two residents, which is all that the device holds. Others may come between the calls, and
 * their pins leave no room. Returns whether the use was made. */
static bool use_two(uint32_t first, MaarUseFlags flags)
{
    const MaarResidentUse uses[] = {
        {.resident = all[first].handle, .access = MAAR_ACCESS_READ_BIT},
        {.resident = all[first + 1].handle, .access = MAAR_ACCESS_WRITE_BIT},
    };
    MaarResidentObject objects[2];
    MaarUse use = VK_NULL_HANDLE;
    schedule_lock_take(&door);
    const VkResult result = try_uses(2, uses, flags, objects, &use);
    const MaarUseInfo info = answer;
    schedule_lock_release(&door);
    if (result != VK_SUCCESS) {
        assert_true(result == VK_NOT_READY || result == VK_ERROR_OUT_OF_POOL_MEMORY);
        return false;
    }
    schedule_lock_take(&door);
    answer = info;
    vkCmdFillBuffer(begin_commands(), objects[1].buffer, 0, VK_WHOLE_SIZE, 1000 + first);
    end_use_at(use, submit_commands());
    all[first + 1].word = 1000 + first;
    ++sets.now;
    schedule_lock_release(&door);
    return true;
}

static void use_one_set(void)
{
    (void)use_two(0, MAAR_USE_WAIT_BIT);
}

static void use_another_set(void)
{
    (void)use_two(2, MAAR_USE_WAIT_BIT);
}

static void sets_that_exceed_the_device_take_turns(void** state)
{
    (void)state;
    const struct schedule_program program = {.name = "two sets of the device's size, work",
                                             .task_count = 3,
                                             .preemptions = 1,
                                             .begin = open_tiers,
                                             .tasks = {use_one_set, use_another_set, work_once},
                                             .end = close_tiers};
    assert_true(explore(&program).schedule_count > 100);
    /* In some schedules the second one finds no room beside the first one's pins. */
    assert_int_equal(sets.least, 1);
    assert_int_equal(sets.most, 2);
}

static void update_at_the_door(void)
{
    for (uint32_t i = 0; i < 2; ++i) {
        schedule_lock_take(&door);
        update();
        schedule_lock_release(&door);
    }
}

static void updates_run_between_begin_and_end(void** state)
{
    (void)state;
    const struct schedule_program program = {.name = "use, update, work",
                                             .task_count = 3,
                                             .preemptions = 1,
                                             .begin = open_tiers,
                                             .tasks = {use_one_set, update_at_the_door, work_once},
                                             .end = close_tiers};
    assert_true(explore(&program).schedule_count > 100);
    assert_int_equal(sets.least, 1);
}

/* ---- a thread whose request for memory has failed ---- */

static void yield(VkDeviceSize size, uint64_t timeout_ns)
{
    VkDeviceSize released = 0;
    const VkResult result =
        maarYieldResidency(rig->allocator, manager, 1, size, timeout_ns, &released);
    assert_true(result == VK_SUCCESS || result == VK_INCOMPLETE || result == VK_NOT_READY);
    assert_int_equal(result == VK_SUCCESS, released >= size);
}

static void yield_all(void)
{
    yield(2 * UNIT, UINT64_MAX);
}

static void yield_twice(void)
{
    yield(UNIT, 0);
    yield(UNIT, 1000000000);
}

static void memory_is_given_up_beside_uses_and_work(void** state)
{
    (void)state;
    const struct schedule_program program = {.name = "use, yield, work",
                                             .task_count = 3,
                                             .preemptions = 1,
                                             .begin = open_tiers,
                                             .tasks = {use_low_ones, yield_twice, work_twice},
                                             .end = close_tiers};
    assert_true(explore(&program).schedule_count > 100);
}

static void two_threads_give_up_memory_beside_updates(void** state)
{
    (void)state;
    const struct schedule_program program = {.name = "prefetch, update, use; yield; yield",
                                             .task_count = 3,
                                             .preemptions = 1,
                                             .begin = open_tiers,
                                             .tasks = {update_and_use, yield_all, yield_twice},
                                             .end = close_tiers};
    assert_true(explore(&program).schedule_count > 100);
}

static void memory_is_given_up_beside_a_checkpoint(void** state)
{
    (void)state;
    const struct schedule_program program = {.name = "checkpoint, yield",
                                             .task_count = 2,
                                             .preemptions = 1,
                                             .begin = open_tiers,
                                             .tasks = {write_checkpoint, yield_all},
                                             .end = close_checkpoint};
    assert_true(explore(&program).schedule_count > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(use_runs_beside_work),
        rig_unit_test(use_runs_beside_two_workers),
        rig_unit_test(updates_run_beside_work),
        rig_unit_test(residents_end_beside_work),
        rig_unit_test(cancelled_uses_run_beside_work),
        rig_unit_test(checkpoints_are_written_beside_work),
        rig_unit_test(sets_that_exceed_the_device_take_turns),
        rig_unit_test(updates_run_between_begin_and_end),
        rig_unit_test(memory_is_given_up_beside_uses_and_work),
        rig_unit_test(two_threads_give_up_memory_beside_updates),
        rig_unit_test(memory_is_given_up_beside_a_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
