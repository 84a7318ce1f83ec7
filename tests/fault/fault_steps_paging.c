/*
 * Steps: reservations, growable arrays, objects made of pages, and submitting.
 */
#include "tests/fault/fault_steps.h"

#define PAGE ((VkDeviceSize)65536)

const MaarSimulatedProfile* fault_paging_profile(void)
{
    static MaarSimulatedProfile profile;
    profile = *rig_profile_discrete();
    profile.sparse.sparseBinding = VK_TRUE;
    profile.sparse.residencyBuffer = VK_TRUE;
    profile.sparse.residencyImage2D = VK_TRUE;
    profile.sparse.residencyAliased = VK_TRUE;
    profile.requirements.metadataSize = PAGE;
    return &profile;
}

static VkResult reserve(struct fault_context* c, VkDeviceSize size,
                        MaarReservationCreateFlags flags, const char* name,
                        MaarReservation* reservation)
{
    VkBufferCreateInfo buffer = rig_buffer_info(size);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pName = name;
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .flags = flags,
        .pBufferInfo = &buffer,
        .pMemoryInfo = name != NULL ? &how : NULL,
    };
    *reservation = (MaarReservation)(uintptr_t)1;
    VkResult result = maarCreateReservation(c->rig.allocator, &info, reservation);
    assert_true((result == VK_SUCCESS) == (*reservation != VK_NULL_HANDLE));
    return result;
}

static VkResult commit(struct fault_context* c, VkDeviceSize offset, VkDeviceSize size)
{
    const MaarPageRange range = {offset, size};
    return maarCommitPages(c->rig.allocator, c->reservation, 1, &range);
}

static VkResult submit(struct fault_context* c)
{
    MaarPoint point;
    return maarSubmitBinds(c->rig.allocator, 0, NULL, &point);
}

static void forget_reservation(struct fault_context* c)
{
    maarDestroyReservation(c->rig.allocator, c->reservation);
    (void)maarCollect(c->rig.allocator, NULL);
}

void fault_warm_paging(struct fault_context* c)
{
    assert_int_equal(reserve(c, 4 * PAGE, 0, NULL, &c->reservation), VK_SUCCESS);
    assert_int_equal(commit(c, 0, PAGE), VK_SUCCESS);
    assert_int_equal(submit(c), VK_SUCCESS);
    forget_reservation(c);
    assert_int_equal(maarTrim(c->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
}

void fault_pass_point(struct fault_context* c)
{
    assert_int_equal(maarAdvanceHostTimeline(c->rig.allocator, fault_host_point.value), VK_SUCCESS);
    fault_collect(c);
}

void fault_collect(struct fault_context* c)
{
    (void)maarCollect(c->rig.allocator, NULL);
}

/* ---- reservations ---- */

static VkResult run_reserve(struct fault_context* c)
{
    return reserve(c, 64 * MIB, 0, NULL, &c->reservation);
}

static VkResult run_reserve_named(struct fault_context* c)
{
    return reserve(c, 64 * MIB, 0, "range", &c->reservation);
}

static VkResult run_reserve_copying(struct fault_context* c)
{
    return reserve(c, 64 * MIB, MAAR_RESERVATION_CREATE_COPYING_BIT, "range", &c->reservation);
}

static void prepare_reservation(struct fault_context* c)
{
    fault_warm_paging(c);
    assert_int_equal(run_reserve(c), VK_SUCCESS);
}

static void prepare_committed(struct fault_context* c)
{
    prepare_reservation(c);
    assert_int_equal(commit(c, 0, 10 * PAGE), VK_SUCCESS);
}

static void prepare_bound(struct fault_context* c)
{
    prepare_committed(c);
    assert_int_equal(submit(c), VK_SUCCESS);
}

static void prepare_copying(struct fault_context* c)
{
    fault_warm_paging(c);
    assert_int_equal(run_reserve_copying(c), VK_SUCCESS);
}

static void prepare_copied(struct fault_context* c)
{
    prepare_copying(c);
    assert_int_equal(commit(c, 0, MIB), VK_SUCCESS);
    assert_int_equal(submit(c), VK_SUCCESS);
}

/* A copy was submitted before: its command buffer is kept for the next. */
static void prepare_outgrown(struct fault_context* c)
{
    prepare_copied(c);
    assert_int_equal(commit(c, 0, 8 * MIB), VK_SUCCESS);
    assert_int_equal(submit(c), VK_SUCCESS);
    (void)maarCollect(c->rig.allocator, NULL);
    assert_int_equal(commit(c, 0, 32 * MIB), VK_SUCCESS);
}

static void prepare_first_copy(struct fault_context* c)
{
    prepare_copied(c);
    assert_int_equal(commit(c, 0, 32 * MIB), VK_SUCCESS);
}

static VkResult run_destroy(struct fault_context* c)
{
    maarDestroyReservation(c->rig.allocator, c->reservation);
    return VK_SUCCESS;
}

static VkResult run_destroy_after(struct fault_context* c)
{
    return maarDestroyReservationAfter(c->rig.allocator, c->reservation, 1, &fault_host_point);
}

static VkResult run_info(struct fault_context* c)
{
    MaarReservationInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    return maarGetReservationInfo(c->rig.allocator, c->reservation, &info);
}

static VkResult run_commit(struct fault_context* c)
{
    return commit(c, 0, 20 * PAGE);
}

static VkResult run_commit_much(struct fault_context* c)
{
    const MaarPageRange ranges[] = {{40 * MIB, 20 * MIB}, {0, 3 * PAGE}, {PAGE, 30 * MIB}};
    return maarCommitPages(c->rig.allocator, c->reservation, 3, ranges);
}

static VkResult run_commit_listed(struct fault_context* c)
{
    const MaarPageRange ranges[] = {{40 * MIB, 20 * MIB}, {0, 3 * PAGE}, {PAGE, 30 * MIB}};
    MaarPageRange listed[4];
    MaarNewPages pages = {
        .sType = MAAR_STRUCTURE_TYPE_NEW_PAGES, .rangeCapacity = 4, .pRanges = listed};
    const VkResult result = maarCommitNewPages(c->rig.allocator, c->reservation, 3, ranges, &pages);
    assert_true((result == VK_SUCCESS) == (pages.rangeCount != 0));
    assert_true((result == VK_SUCCESS) == (pages.size != 0));
    return result;
}

static void prepare_mapped(struct fault_context* c)
{
    fault_warm_paging(c);
    assert_int_equal(
        reserve(c, 64 * MIB, MAAR_RESERVATION_CREATE_MAPPED_BIT, "range", &c->reservation),
        VK_SUCCESS);
}

static void prepare_host_pages(struct fault_context* c)
{
    prepare_mapped(c);
    assert_int_equal(commit(c, 0, 20 * PAGE), VK_SUCCESS);
}

static VkResult run_host_pages(struct fault_context* c)
{
    const MaarPageRange range = {0, 20 * PAGE};
    MaarHostRun runs[4];
    uint32_t count = 4;
    return maarGetHostPages(c->rig.allocator, c->reservation, &range, &count, runs);
}

static VkResult run_flush_pages(struct fault_context* c)
{
    const MaarPageRange range = {0, 20 * PAGE};
    return maarFlushPages(c->rig.allocator, c->reservation, 1, &range);
}

static VkResult run_invalidate_pages(struct fault_context* c)
{
    const MaarPageRange range = {0, 20 * PAGE};
    return maarInvalidatePages(c->rig.allocator, c->reservation, 1, &range);
}

static void prepare_zeros(struct fault_context* c)
{
    prepare_copying(c);
    assert_int_equal(commit(c, 0, 20 * PAGE), VK_SUCCESS);
    c->commands = rig_open_commands(&c->rig, &c->command_pool);
}

static VkResult run_zeros(struct fault_context* c)
{
    const MaarPageRange range = {0, 20 * PAGE};
    return maarRecordZeroPages(c->rig.allocator, c->reservation, 1, &range, c->commands);
}

static void finish_zeros(struct fault_context* c)
{
    vkDestroyCommandPool(c->rig.device, c->command_pool, NULL);
    forget_reservation(c);
}

static VkResult run_outgrow(struct fault_context* c)
{
    return commit(c, 0, 32 * MIB);
}

static VkResult run_decommit(struct fault_context* c)
{
    const MaarPageRange range = {2 * PAGE, 5 * PAGE};
    return maarDecommitPages(c->rig.allocator, c->reservation, 1, &range);
}

static void prepare_aliased(struct fault_context* c)
{
    const MaarReservationCreateFlags flags = MAAR_RESERVATION_CREATE_ALIASED_BIT;
    fault_warm_paging(c);
    assert_int_equal(reserve(c, 64 * MIB, flags, NULL, &c->reservation), VK_SUCCESS);
    assert_int_equal(commit(c, 0, 10 * PAGE), VK_SUCCESS);
    c->source = c->reservation;
    assert_int_equal(reserve(c, 128 * MIB, flags, NULL, &c->reservation), VK_SUCCESS);
}

static VkResult run_alias(struct fault_context* c)
{
    return maarAliasPages(c->rig.allocator, c->reservation, 60 * MIB, 4 * PAGE, c->source,
                          2 * PAGE);
}

static void finish_aliased(struct fault_context* c)
{
    maarDestroyReservation(c->rig.allocator, c->source);
    forget_reservation(c);
}

static VkResult run_enumerate(struct fault_context* c)
{
    MaarPageRun runs[4];
    uint32_t count = 4;
    return maarEnumerateReservationPages(c->rig.allocator, c->reservation, &count, runs);
}

static VkResult run_paging_info(struct fault_context* c)
{
    MaarPagingInfo info = {.sType = MAAR_STRUCTURE_TYPE_PAGING_INFO};
    return maarGetPagingInfo(c->rig.allocator, &info);
}

static VkResult run_paging_statistics(struct fault_context* c)
{
    MaarPagingStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    return maarGetPagingStatistics(c->rig.allocator, &statistics);
}

/* ---- arrays ---- */

static VkResult run_create_array(struct fault_context* c)
{
    VkBufferCreateInfo buffer = rig_buffer_info(64 * MIB);
    const MaarArrayCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO,
        .elementSize = 100,
        .reservation =
            {
                .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                .pBufferInfo = &buffer,
            },
    };
    c->array = (MaarArray)(uintptr_t)1;
    VkResult result = maarCreateArray(c->rig.allocator, &info, &c->array);
    assert_true((result == VK_SUCCESS) == (c->array != VK_NULL_HANDLE));
    return result;
}

static void prepare_array(struct fault_context* c)
{
    fault_warm_paging(c);
    assert_int_equal(run_create_array(c), VK_SUCCESS);
}

static void prepare_filled_array(struct fault_context* c)
{
    prepare_array(c);
    assert_int_equal(maarAppendArray(c->rig.allocator, c->array, 100000, NULL), VK_SUCCESS);
    assert_int_equal(submit(c), VK_SUCCESS);
}

static void finish_array(struct fault_context* c)
{
    maarDestroyArray(c->rig.allocator, c->array);
    (void)maarCollect(c->rig.allocator, NULL);
}

static VkResult run_destroy_array(struct fault_context* c)
{
    maarDestroyArray(c->rig.allocator, c->array);
    return VK_SUCCESS;
}

static VkResult run_destroy_array_after(struct fault_context* c)
{
    return maarDestroyArrayAfter(c->rig.allocator, c->array, 1, &fault_host_point);
}

static VkResult run_array_info(struct fault_context* c)
{
    MaarArrayInfo info = {.sType = MAAR_STRUCTURE_TYPE_ARRAY_INFO};
    return maarGetArrayInfo(c->rig.allocator, c->array, &info);
}

static VkResult run_reserve_array(struct fault_context* c)
{
    return maarReserveArray(c->rig.allocator, c->array, 300000);
}

static VkResult run_append(struct fault_context* c)
{
    uint64_t first = 7;
    VkResult result = maarAppendArray(c->rig.allocator, c->array, 300000, &first);
    assert_true(first == 0);
    return result;
}

static VkResult run_truncate(struct fault_context* c)
{
    return maarTruncateArray(c->rig.allocator, c->array, 10, VK_TRUE);
}

/* ---- submitting ---- */

static VkResult run_submit(struct fault_context* c)
{
    MaarPoint point = {.value = 9};
    VkResult result = maarSubmitBinds(c->rig.allocator, 0, NULL, &point);
    assert_true((result == VK_SUCCESS) == (point.semaphore != VK_NULL_HANDLE));
    return result;
}

static VkResult run_delay(struct fault_context* c)
{
    const MaarPoint passed = {.value = 0};
    return maarDelayBinds(c->rig.allocator, 1, &passed);
}

/* Binds and unbinds of some length, of two reservations. */
static void prepare_much(struct fault_context* c)
{
    prepare_aliased(c);
    assert_int_equal(run_alias(c), VK_SUCCESS);
    assert_int_equal(run_submit(c), VK_SUCCESS);
    assert_int_equal(run_decommit(c), VK_SUCCESS);
    for (uint32_t i = 0; i < 60; ++i) {
        assert_int_equal(commit(c, (2 * i + 1) * PAGE, PAGE), VK_SUCCESS);
    }
}

/* ---- objects made of pages ---- */

static void prepare_stitching(struct fault_context* c)
{
    const MaarPoolPagingInfo paging = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
        .stitch = VK_TRUE,
    };
    const MaarPoolCreateInfo pool = {.pNext = &paging, .memoryTypeIndex = 0};
    fault_warm_paging(c);
    c->pool = rig_create_pool(&c->rig, &pool);
}

static void finish_stitching(struct fault_context* c)
{
    maarDestroyPool(c->rig.allocator, c->pool);
}

static VkResult run_stitched_buffer(struct fault_context* c)
{
    const VkBufferCreateInfo info = rig_buffer_info(20 * MIB);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = c->pool;
    VkResult result = maarCreateBuffer(c->rig.allocator, &info, &how, &c->buffer, &c->memory);
    assert_true((result == VK_SUCCESS) == (c->buffer != VK_NULL_HANDLE));
    assert_true((result == VK_SUCCESS) == (c->memory != VK_NULL_HANDLE));
    return result;
}

static void undo_stitched_buffer(struct fault_context* c)
{
    maarDestroyBuffer(c->rig.allocator, c->buffer, c->memory);
    (void)maarCollect(c->rig.allocator, NULL);
}

static VkResult run_stitched_image(struct fault_context* c)
{
    const VkImageCreateInfo info = rig_image_info(2048, 2048);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = c->pool;
    VkResult result = maarCreateImage(c->rig.allocator, &info, &how, &c->image, &c->memory);
    assert_true((result == VK_SUCCESS) == (c->image != VK_NULL_HANDLE));
    assert_true((result == VK_SUCCESS) == (c->memory != VK_NULL_HANDLE));
    return result;
}

static void undo_stitched_image(struct fault_context* c)
{
    maarDestroyImage(c->rig.allocator, c->image, c->memory);
    (void)maarCollect(c->rig.allocator, NULL);
}

static void prepare_stitched(struct fault_context* c)
{
    prepare_stitching(c);
    assert_int_equal(run_stitched_buffer(c), VK_SUCCESS);
    assert_int_equal(submit(c), VK_SUCCESS);
}

static void finish_stitched(struct fault_context* c)
{
    undo_stitched_buffer(c);
    finish_stitching(c);
}

static VkResult run_allocation_pages(struct fault_context* c)
{
    MaarPageRun runs[4];
    uint32_t count = 4;
    return maarEnumerateAllocationPages(c->rig.allocator, c->memory, &count, runs);
}

static const char reads_what_is_kept[] = "reads what is kept";

static const struct fault_step steps[] = {
    {.function = "maarCreateReservation",
     .prepare = fault_warm_paging,
     .run = run_reserve_named,
     .undo = forget_reservation,
     FAULT_PAGED},
    {.function = "maarCreateReservation",
     .variant = "the first of all",
     .run = run_reserve,
     .undo = forget_reservation,
     .partial = true,
     FAULT_PAGED},
    {.function = "maarCreateReservation",
     .variant = "by copies",
     .prepare = fault_warm_paging,
     .run = run_reserve_copying,
     .undo = forget_reservation,
     FAULT_PAGED},
    {.function = "maarDestroyReservation",
     .prepare = prepare_bound,
     .run = run_destroy,
     .finish = fault_collect,
     FAULT_PAGED},
    {.function = "maarDestroyReservationAfter",
     .never = "what it queues was made with the reservation",
     .prepare = prepare_bound,
     .run = run_destroy_after,
     .undo = fault_pass_point,
     FAULT_PAGED},
    {.function = "maarGetReservationInfo",
     .never = reads_what_is_kept,
     .prepare = prepare_reservation,
     .run = run_info,
     .finish = forget_reservation,
     FAULT_PAGED},
    {.function = "maarCommitPages",
     .prepare = prepare_reservation,
     .run = run_commit,
     .finish = forget_reservation,
     FAULT_PAGED},
    {.function = "maarCommitPages",
     .variant = "several blocks",
     .prepare = prepare_bound,
     .run = run_commit_much,
     .finish = forget_reservation,
     FAULT_PAGED},
    {.function = "maarCommitPages",
     .variant = "by copies",
     .prepare = prepare_copying,
     .run = run_commit,
     .finish = forget_reservation,
     FAULT_PAGED},
    {.function = "maarCommitPages",
     .variant = "by copies, outgrown",
     .prepare = prepare_copied,
     .run = run_outgrow,
     .finish = forget_reservation,
     FAULT_PAGED},
    {.function = "maarCommitNewPages",
     .prepare = prepare_bound,
     .run = run_commit_listed,
     .finish = forget_reservation,
     FAULT_PAGED},
    {.function = "maarCommitNewPages",
     .variant = "by copies",
     .prepare = prepare_copying,
     .run = run_commit_listed,
     .finish = forget_reservation,
     FAULT_PAGED},
    {.function = "maarCommitPages",
     .variant = "mapped",
     .prepare = prepare_mapped,
     .run = run_commit,
     .finish = forget_reservation,
     FAULT_PAGED},
    {.function = "maarGetHostPages",
     .never = reads_what_is_kept,
     .prepare = prepare_host_pages,
     .run = run_host_pages,
     .finish = forget_reservation,
     FAULT_PAGED},
    {.function = "maarFlushPages",
     .never = "the memory of this device is coherent",
     .prepare = prepare_host_pages,
     .run = run_flush_pages,
     .finish = forget_reservation,
     FAULT_PAGED},
    {.function = "maarInvalidatePages",
     .never = "the memory of this device is coherent",
     .prepare = prepare_host_pages,
     .run = run_invalidate_pages,
     .finish = forget_reservation,
     FAULT_PAGED},
    {.function = "maarRecordZeroPages",
     .never = "records commands, which cannot fail",
     .prepare = prepare_zeros,
     .run = run_zeros,
     .finish = finish_zeros,
     FAULT_PAGED},
    {.function = "maarDecommitPages",
     .prepare = prepare_bound,
     .never = "takes notes in leaves that are there",
     .run = run_decommit,
     .finish = forget_reservation,
     FAULT_PAGED},
    {.function = "maarAliasPages",
     .prepare = prepare_aliased,
     .run = run_alias,
     .finish = finish_aliased,
     FAULT_PAGED},
    {.function = "maarEnumerateReservationPages",
     .never = reads_what_is_kept,
     .prepare = prepare_committed,
     .run = run_enumerate,
     .finish = forget_reservation,
     FAULT_PAGED},
    {.function = "maarGetPagingInfo",
     .never = reads_what_is_kept,
     .run = run_paging_info,
     FAULT_PAGED},
    {.function = "maarGetPagingStatistics",
     .never = reads_what_is_kept,
     .prepare = prepare_committed,
     .run = run_paging_statistics,
     .finish = forget_reservation,
     FAULT_PAGED},
    {.function = "maarCreateArray",
     .prepare = fault_warm_paging,
     .run = run_create_array,
     .undo = finish_array,
     FAULT_PAGED},
    {.function = "maarDestroyArray",
     .prepare = prepare_filled_array,
     .run = run_destroy_array,
     .finish = fault_collect,
     FAULT_PAGED},
    {.function = "maarDestroyArrayAfter",
     .never = "what it queues was made with the array",
     .prepare = prepare_filled_array,
     .run = run_destroy_array_after,
     .undo = fault_pass_point,
     FAULT_PAGED},
    {.function = "maarGetArrayInfo",
     .never = reads_what_is_kept,
     .prepare = prepare_array,
     .run = run_array_info,
     .finish = finish_array,
     FAULT_PAGED},
    {.function = "maarReserveArray",
     .prepare = prepare_array,
     .run = run_reserve_array,
     .finish = finish_array,
     FAULT_PAGED},
    {.function = "maarAppendArray",
     .prepare = prepare_array,
     .run = run_append,
     .finish = finish_array,
     FAULT_PAGED},
    {.function = "maarTruncateArray",
     .never = "takes notes in leaves that are there",
     .prepare = prepare_filled_array,
     .run = run_truncate,
     .finish = finish_array,
     FAULT_PAGED},
    {.function = "maarDelayBinds",
     .never = "it writes down what a submission will wait for",
     .prepare = prepare_committed,
     .run = run_delay,
     .finish = forget_reservation,
     FAULT_PAGED},
    {.function = "maarSubmitBinds",
     .prepare = prepare_committed,
     .run = run_submit,
     .finish = forget_reservation,
     .lost_is_done = true,
     FAULT_PAGED},
    {.function = "maarSubmitBinds",
     .variant = "much",
     .prepare = prepare_much,
     .run = run_submit,
     .finish = finish_aliased,
     .lost_is_done = true,
     FAULT_PAGED},
    {.function = "maarSubmitBinds",
     .variant = "the first copy",
     .prepare = prepare_first_copy,
     .run = run_submit,
     .finish = forget_reservation,
     .partial = true,
     .lost_is_done = true,
     FAULT_PAGED},
    {.function = "maarSubmitBinds",
     .variant = "copies",
     .prepare = prepare_outgrown,
     .run = run_submit,
     .finish = forget_reservation,
     .partial = true, /* a command buffer may be made and kept */
     .lost_is_done = true,
     FAULT_PAGED},
    {.function = "maarCreateBuffer",
     .variant = "made of pages",
     .prepare = prepare_stitching,
     .run = run_stitched_buffer,
     .undo = undo_stitched_buffer,
     .finish = finish_stitching,
     FAULT_PAGED},
    {.function = "maarCreateImage",
     .variant = "made of pages",
     .prepare = prepare_stitching,
     .run = run_stitched_image,
     .undo = undo_stitched_image,
     .finish = finish_stitching,
     FAULT_PAGED},
    {.function = "maarEnumerateAllocationPages",
     .never = reads_what_is_kept,
     .prepare = prepare_stitched,
     .run = run_allocation_pages,
     .finish = finish_stitched,
     FAULT_PAGED},
};

const struct fault_table fault_paging_steps = {steps, sizeof steps / sizeof steps[0]};
