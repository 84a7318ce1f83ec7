/*
 * Steps: touches of reservations, trims, pages that spill, and arrays that are resized together.
 */
#include "tests/fault/fault_steps.h"

#define PAGE (64 * KIB)

enum { TOUCHED_PAGES = 20 };

static MaarReservation reserve_touched(struct fault_context* c, MaarReservationCreateFlags flags)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(64 * MIB);
    const MaarReservationCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                            .flags = flags,
                                            .pBufferInfo = &buffer};
    MaarReservation reservation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(c->rig.allocator, &info, &reservation), VK_SUCCESS);
    return reservation;
}

static VkResult touch(struct fault_context* c, VkDeviceSize size)
{
    const MaarReservationRange ranges[] = {
        {c->reservation, 0, size}, {c->source, 8 * PAGE, size}, {c->reservation, 40 * MIB, size}};
    const MaarTouchInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TOUCH_INFO, .rangeCount = 3, .pRanges = ranges};
    MaarReservationRange fresh[8];
    MaarTouchResult touched = {
        .sType = MAAR_STRUCTURE_TYPE_TOUCH_RESULT, .freshCapacity = 8, .pFresh = fresh};
    const VkResult result = maarTouchPages(c->rig.allocator, &info, &touched);
    assert_true((result == VK_SUCCESS) == (touched.touch != 0));
    assert_true(result == VK_SUCCESS || (touched.freshCount == 0 && touched.freshSize == 0));
    return result;
}

static void prepare_touch(struct fault_context* c)
{
    fault_warm_paging(c);
    c->reservation = reserve_touched(c, 0);
    c->source = reserve_touched(c, 0);
}

static void prepare_copying_touch(struct fault_context* c)
{
    fault_warm_paging(c);
    c->reservation = reserve_touched(c, MAAR_RESERVATION_CREATE_COPYING_BIT);
    c->source = reserve_touched(c, MAAR_RESERVATION_CREATE_COPYING_BIT);
}

static void prepare_touched(struct fault_context* c)
{
    maarSimulatedSetFlags(c->rig.physical, MAAR_SIMULATED_ALLOW_ALIASING_BIT);
    prepare_touch(c);
    assert_int_equal(touch(c, TOUCHED_PAGES * PAGE), VK_SUCCESS);
    assert_int_equal(maarSubmitBinds(c->rig.allocator, 0, NULL, NULL), VK_SUCCESS);
}

static void finish_touch(struct fault_context* c)
{
    (void)maarWaitPending(c->rig.allocator, UINT64_MAX);
    maarDestroyReservation(c->rig.allocator, c->reservation);
    maarDestroyReservation(c->rig.allocator, c->source);
    fault_collect(c);
}

static VkResult run_touch(struct fault_context* c)
{
    return touch(c, TOUCHED_PAGES * PAGE);
}

static VkResult run_touch_hot(struct fault_context* c)
{
    return touch(c, TOUCHED_PAGES * PAGE);
}

static VkResult run_touch_much(struct fault_context* c)
{
    return touch(c, 20 * MIB);
}

static VkResult run_list_touched(struct fault_context* c)
{
    MaarTouchedRun runs[4];
    uint32_t count = 4;
    return maarEnumerateTouchedRuns(c->rig.allocator, c->reservation, &count, runs);
}

/* More reservations than a list has without host memory, though all of them the same. */
static VkResult run_trim(struct fault_context* c)
{
    MaarReservation many[20];
    for (uint32_t i = 0; i < 20; ++i) {
        many[i] = c->reservation;
    }
    const MaarPageTrimInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_PAGE_TRIM_INFO,
        .reservationCount = 20,
        .pReservations = many,
        .touchedBefore = UINT64_MAX,
    };
    MaarPageTrimResult trimmed = {.sType = MAAR_STRUCTURE_TYPE_PAGE_TRIM_RESULT};
    const VkResult result = maarTrimPages(c->rig.allocator, &info, &trimmed);
    assert_true((result == VK_SUCCESS) == (trimmed.rangeCount != 0));
    return result;
}

/* ---- spilling ---- */

static VkResult run_set_priority(struct fault_context* c)
{
    const MaarPagePriority priority = {.sType = MAAR_STRUCTURE_TYPE_PAGE_PRIORITY, .priority = 2};
    const MaarPageRange range = {0, 8 * PAGE};
    return maarSetPagePriority(c->rig.allocator, c->reservation, 1, &range, &priority);
}

static VkResult migrate(struct fault_context* c, MaarPageMigration direction)
{
    const MaarReservation both[] = {c->reservation, c->source};
    const MaarPageMigrationInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_PAGE_MIGRATION_INFO,
        .direction = direction,
        .reservationCount = 2,
        .pReservations = both,
        .touchedBefore = UINT64_MAX,
    };
    c->batch = (MaarMoveBatch)(uintptr_t)1;
    const VkResult result = maarBeginPageMigration(c->rig.allocator, &info, &c->batch);
    assert_true((result == VK_SUCCESS) == (c->batch != VK_NULL_HANDLE));
    return result;
}

static VkResult run_spill(struct fault_context* c)
{
    return migrate(c, MAAR_PAGE_MIGRATION_SPILL);
}

static void cancel_migration(struct fault_context* c)
{
    assert_int_equal(maarCancelMoves(c->rig.allocator, c->batch, 0, NULL), VK_SUCCESS);
    c->batch = VK_NULL_HANDLE;
    fault_collect(c);
}

static void prepare_spilled(struct fault_context* c)
{
    prepare_touched(c);
    assert_int_equal(run_spill(c), VK_SUCCESS);
    const MaarMoveSubmitInfo info = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO,
                                     .queueIndex = c->rig.create_info.queueCount - 1};
    MaarPoint copied;
    assert_int_equal(maarSubmitMoves(c->rig.allocator, c->batch, &info, &copied), VK_SUCCESS);
    assert_int_equal(maarCommitMoves(c->rig.allocator, c->batch, 1, &copied, NULL), VK_SUCCESS);
    assert_int_equal(maarSubmitBinds(c->rig.allocator, 0, NULL, NULL), VK_SUCCESS);
    assert_int_equal(maarWaitPending(c->rig.allocator, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(maarTrim(c->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    c->batch = VK_NULL_HANDLE;
}

static VkResult run_return(struct fault_context* c)
{
    return migrate(c, MAAR_PAGE_MIGRATION_RETURN);
}

/* ---- arrays ---- */

static MaarArray other_array;

static void prepare_resize(struct fault_context* c)
{
    fault_warm_paging(c);
    const VkBufferCreateInfo buffer = rig_buffer_info(64 * MIB);
    const MaarArrayCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO,
        .elementSize = 1000,
        .reservation = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                        .pBufferInfo = &buffer},
    };
    assert_int_equal(maarCreateArray(c->rig.allocator, &info, &c->array), VK_SUCCESS);
    assert_int_equal(maarCreateArray(c->rig.allocator, &info, &other_array), VK_SUCCESS);
}

static VkResult run_resize(struct fault_context* c)
{
    const MaarArrayResize resizes[] = {{c->array, 5000, VK_TRUE}, {other_array, 30000, VK_TRUE}};
    MaarArrayInfo info = {.sType = MAAR_STRUCTURE_TYPE_ARRAY_INFO};
    const VkResult result = maarResizeArrays(c->rig.allocator, 2, resizes, NULL);
    assert_int_equal(maarGetArrayInfo(c->rig.allocator, c->array, &info), VK_SUCCESS);
    assert_int_equal(info.count, result == VK_SUCCESS ? 5000 : 0);
    return result;
}

static void finish_resize(struct fault_context* c)
{
    maarDestroyArray(c->rig.allocator, c->array);
    maarDestroyArray(c->rig.allocator, other_array);
    fault_collect(c);
}

static const struct fault_step steps[] = {
    {.function = "maarTouchPages",
     .prepare = prepare_touch,
     .run = run_touch,
     .finish = finish_touch,
     FAULT_PAGED},
    {.function = "maarTouchPages",
     .variant = "more than before",
     .prepare = prepare_touched,
     .run = run_touch_much,
     .finish = finish_touch,
     FAULT_PAGED},
    {.function = "maarTouchPages",
     .variant = "what has memory",
     .never = "notes what was made before",
     .prepare = prepare_touched,
     .run = run_touch_hot,
     .finish = finish_touch,
     FAULT_PAGED},
    {.function = "maarTouchPages",
     .variant = "by copies",
     .prepare = prepare_copying_touch,
     .run = run_touch,
     .finish = finish_touch,
     FAULT_PAGED},
    {.function = "maarEnumerateTouchedRuns",
     .never = "reads what is kept",
     .prepare = prepare_touched,
     .run = run_list_touched,
     .finish = finish_touch,
     FAULT_PAGED},
    {.function = "maarTrimPages",
     .prepare = prepare_touched,
     .run = run_trim,
     .finish = finish_touch,
     FAULT_PAGED},
    {.function = "maarSetPagePriority",
     .prepare = prepare_touch,
     .run = run_set_priority,
     .finish = finish_touch,
     FAULT_PAGED},
    {.function = "maarBeginPageMigration",
     .prepare = prepare_touched,
     .run = run_spill,
     .undo = cancel_migration,
     .finish = finish_touch,
     FAULT_PAGED},
    {.function = "maarBeginPageMigration",
     .variant = "back",
     .prepare = prepare_spilled,
     .run = run_return,
     .undo = cancel_migration,
     .finish = finish_touch,
     FAULT_PAGED},
    {.function = "maarResizeArrays",
     .prepare = prepare_resize,
     .run = run_resize,
     .finish = finish_resize,
     FAULT_PAGED},
};

const struct fault_table fault_touch_steps = {steps, sizeof steps / sizeof steps[0]};
