/*
 * Touches of reservations, and what follows from them.
 */
#include "growth_cases.h"
#include "growth_reservation.h"
#include "growth_steps.h"

#include <stdlib.h>

struct touches {
    MaarReservation* all;
    uint32_t count;               /* of reservations */
    MaarReservationRange* ranges; /* room for n */
    MaarReservationRange* listed; /* the same */
};

/* Touches ranges, and lists what is fresh. */
static void touch_ranges(struct growth* growth, uint32_t count, const MaarReservationRange* ranges)
{
    const struct touches* touches = growth->state;
    const MaarTouchInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TOUCH_INFO, .rangeCount = count, .pRanges = ranges};
    MaarTouchResult touched = {.sType = MAAR_STRUCTURE_TYPE_TOUCH_RESULT,
                               .freshCapacity = growth->n,
                               .pFresh = touches->listed};
    GROWTH_EXPECT(maarTouchPages(growth->allocator, &info, &touched));
}

static MaarPageTrimInfo trim_info(const struct touches* touches)
{
    return (MaarPageTrimInfo){.sType = MAAR_STRUCTURE_TYPE_PAGE_TRIM_INFO,
                              .reservationCount = touches->count,
                              .pReservations = touches->all,
                              .touchedBefore = UINT64_MAX};
}

/* ---- worlds ---- */

static struct touches* make_touches(struct growth* growth, uint32_t count, uint32_t page_count)
{
    struct touches* touches = growth_create_state(growth, 1, sizeof *touches);
    touches->count = count;
    touches->all = bench_allocate(count, sizeof(MaarReservation));
    touches->ranges = bench_allocate(growth->n, sizeof(MaarReservationRange));
    touches->listed = bench_allocate(growth->n, sizeof(MaarReservationRange));
    for (uint32_t i = 0; i < count; ++i) {
        touches->all[i] = growth_create_reservation(growth, page_count);
    }
    return touches;
}

/* One reservation of 2 n pages. Each of n ranges has every second one. */
static void open_untouched(struct growth* growth)
{
    struct touches* touches = make_touches(growth, 1, 2 * growth->n);
    for (uint32_t i = 0; i < growth->n; ++i) {
        touches->ranges[i] =
            (MaarReservationRange){touches->all[0], 2 * GROWTH_PAGE * i, GROWTH_PAGE};
    }
}

static void touch_all(struct growth* growth)
{
    const struct touches* touches = growth->state;
    touch_ranges(growth, growth->n, touches->ranges);
}

static void submit_touches(struct growth* growth)
{
    GROWTH_EXPECT(maarSubmitBinds(growth->allocator, 0, NULL, NULL));
}

static void open_touched(struct growth* growth)
{
    open_untouched(growth);
    touch_all(growth);
    submit_touches(growth);
}

/* n reservations of 16 pages, of which 4 were touched. */
static void open_touched_many(struct growth* growth)
{
    struct touches* touches = make_touches(growth, growth->n, 16);
    for (uint32_t i = 0; i < growth->n; ++i) {
        touches->ranges[i] = (MaarReservationRange){touches->all[i], 0, 4 * GROWTH_PAGE};
    }
    touch_all(growth);
    submit_touches(growth);
}

static void close_touches(struct growth* growth)
{
    struct touches* touches = growth->state;
    for (uint32_t i = 0; i < touches->count; ++i) {
        maarDestroyReservation(growth->allocator, touches->all[i]);
    }
    free(touches->all);
    free(touches->ranges);
    free(touches->listed);
}

static void trim_everything(struct growth* growth)
{
    const struct touches* touches = growth->state;
    const MaarPageTrimInfo info = trim_info(touches);
    GROWTH_EXPECT(maarTrimPages(growth->allocator, &info, NULL));
    submit_touches(growth);
}

/* ---- operations ---- */

/* A range of the list that has memory. */
static void do_touch_hot(struct growth* growth, uint32_t index)
{
    const struct touches* touches = growth->state;
    (void)index;
    touch_ranges(growth, 1, &touches->ranges[growth_pick(growth)]);
}

static void do_touch_all(struct growth* growth, uint32_t index)
{
    (void)index;
    touch_all(growth);
}

/* One range of n pages, touched as one before. */
static void touch_as_one(struct growth* growth)
{
    const struct touches* touches = growth->state;
    const MaarReservationRange range = {touches->all[0], 0, GROWTH_PAGE * growth->n};
    touch_ranges(growth, 1, &range);
}

static void do_touch_as_one(struct growth* growth, uint32_t index)
{
    (void)index;
    touch_as_one(growth);
}

static void open_one(struct growth* growth)
{
    open_untouched(growth);
    touch_as_one(growth);
    submit_touches(growth);
}

/* Two pages anywhere that have memory: mostly a part of a run, which is split. */
static void do_touch_part(struct growth* growth, uint32_t index)
{
    const struct touches* touches = growth->state;
    (void)index;
    const MaarReservationRange range = {touches->all[0], GROWTH_PAGE * (growth_pick(growth) & ~1u),
                                        GROWTH_PAGE};
    touch_ranges(growth, 1, &range);
}

static void do_trim_one(struct growth* growth, uint32_t index)
{
    const struct touches* touches = growth->state;
    MaarPageTrimInfo info = trim_info(touches);
    (void)index;
    info.maxSize = GROWTH_PAGE;
    GROWTH_EXPECT(maarTrimPages(growth->allocator, &info, NULL));
}

static void do_trim_all(struct growth* growth, uint32_t index)
{
    const struct touches* touches = growth->state;
    const MaarPageTrimInfo info = trim_info(touches);
    (void)index;
    GROWTH_EXPECT(maarTrimPages(growth->allocator, &info, NULL));
}

static void touch_and_submit(struct growth* growth)
{
    touch_all(growth);
    submit_touches(growth);
}

static void do_list_touched(struct growth* growth, uint32_t index)
{
    const struct touches* touches = growth->state;
    uint32_t count = 0;
    (void)index;
    GROWTH_EXPECT(maarEnumerateTouchedRuns(growth->allocator, touches->all[0], &count, NULL));
}

/* ---- pages that spill ---- */

static MaarMoveBatch begin_migration(struct growth* growth, MaarPageMigration direction,
                                     VkDeviceSize bytes)
{
    const struct touches* touches = growth->state;
    const MaarPageMigrationInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_PAGE_MIGRATION_INFO,
        .direction = direction,
        .reservationCount = touches->count,
        .pReservations = touches->all,
        .maxBytes = bytes,
        .touchedBefore = UINT64_MAX,
    };
    MaarMoveBatch batch = VK_NULL_HANDLE;
    GROWTH_EXPECT(maarBeginPageMigration(growth->allocator, &info, &batch));
    return batch;
}

static void do_spill_page(struct growth* growth, uint32_t index)
{
    (void)index;
    const MaarMoveBatch batch = begin_migration(growth, MAAR_PAGE_MIGRATION_SPILL, GROWTH_PAGE);
    GROWTH_EXPECT(maarCancelMoves(growth->allocator, batch, 0, NULL));
}

/* Nothing has spilled. */
static void do_return_nothing(struct growth* growth, uint32_t index)
{
    (void)index;
    (void)begin_migration(growth, MAAR_PAGE_MIGRATION_RETURN, 0);
}

static void set_priority(struct growth* growth, const MaarPageRange* range)
{
    const struct touches* touches = growth->state;
    const MaarPagePriority priority = {.sType = MAAR_STRUCTURE_TYPE_PAGE_PRIORITY,
                                       .priority = (int32_t)(growth_pick(growth) % 8) +
                                                   MAAR_PAGE_PRIORITY_MIN};
    GROWTH_EXPECT(maarSetPagePriority(growth->allocator, touches->all[0], 1, range, &priority));
}

static void do_set_priority(struct growth* growth, uint32_t index)
{
    (void)index;
    const MaarPageRange range = {2 * GROWTH_PAGE * growth_pick(growth), GROWTH_PAGE};
    set_priority(growth, &range);
}

static void do_set_all_priorities(struct growth* growth, uint32_t index)
{
    (void)index;
    const MaarPageRange range = {0, VK_WHOLE_SIZE};
    set_priority(growth, &range);
}

#define TOUCHES(case_name, function, how, text, world, before, does, after)                        \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = text, .kind = how, .n = 1000,       \
        .count = 64, .open = open_##world, .prepare = before, .operation = does, .tidy = after,    \
        .close = close_touches                                                                     \
    }

const struct growth_case growth_touch_cases[] = {
    TOUCHES("touch-hot", "maarTouchPages", GROWTH_BESIDE, "ranges that were touched", touched, NULL,
            do_touch_hot, NULL),
    TOUCHES("touch-hot-range", "maarTouchPages", GROWTH_BESIDE, "pages of the range", one, NULL,
            do_touch_as_one, NULL),
    TOUCHES("touch-hot-part", "maarTouchPages", GROWTH_BESIDE, "pages that have memory", one, NULL,
            do_touch_part, NULL),
    TOUCHES("touch-hot-ranges", "maarTouchPages", GROWTH_OVER, "ranges that have memory", touched,
            NULL, do_touch_all, NULL),
    TOUCHES("touch-hot-many", "maarTouchPages", GROWTH_OVER, "reservations", touched_many, NULL,
            do_touch_all, NULL),
    TOUCHES("touch-fresh-ranges", "maarTouchPages", GROWTH_OVER, "ranges without memory", untouched,
            NULL, do_touch_all, trim_everything),
    TOUCHES("trim-page", "maarTrimPages", GROWTH_BESIDE, "ranges that were touched", touched, NULL,
            do_trim_one, touch_and_submit),
    TOUCHES("trim-ranges", "maarTrimPages", GROWTH_OVER, "ranges that were touched", touched, NULL,
            do_trim_all, touch_and_submit),
    TOUCHES("trim-many", "maarTrimPages", GROWTH_OVER, "reservations", touched_many, NULL,
            do_trim_all, touch_and_submit),
    TOUCHES("list-touched", "maarEnumerateTouchedRuns", GROWTH_OVER, "ranges that were touched",
            touched, NULL, do_list_touched, NULL),
    TOUCHES("spill-page", "maarBeginPageMigration", GROWTH_BESIDE, "ranges that were touched",
            touched, NULL, do_spill_page, NULL),
    TOUCHES("return-nothing", "maarBeginPageMigration", GROWTH_BESIDE, "ranges that were touched",
            touched, NULL, do_return_nothing, NULL),
    TOUCHES("set-page-priority", "maarSetPagePriority", GROWTH_BESIDE, "ranges that were touched",
            touched, NULL, do_set_priority, NULL),
    TOUCHES("set-page-priorities", "maarSetPagePriority", GROWTH_OVER, "ranges that were touched",
            touched, NULL, do_set_all_priorities, NULL),
    {.name = NULL},
};
