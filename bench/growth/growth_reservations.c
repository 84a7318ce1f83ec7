/*
 * Reservations: beside others, and with many pages.
 */
#include "growth_cases.h"
#include "growth_reservation.h"
#include "growth_steps.h"

#include <stdlib.h>

/* ---- beside other reservations ---- */

static void open_reservations(struct growth* growth)
{
    MaarReservation* all =
        growth_create_state(growth, growth->n + growth->count, sizeof(MaarReservation));
    for (uint32_t i = 0; i < growth->n; ++i) {
        all[i] = growth_create_reservation(growth, 16);
        growth_commit(growth, all[i], 0, 1);
    }
    GROWTH_EXPECT(maarSubmitBinds(growth->allocator, 0, NULL, NULL));
}

static void close_reservations(struct growth* growth)
{
    const MaarReservation* all = growth->state;
    for (uint32_t i = 0; i < growth->n; ++i) {
        maarDestroyReservation(growth->allocator, all[i]);
    }
}

static void do_create(struct growth* growth, uint32_t index)
{
    MaarReservation* all = growth->state;
    all[growth->n + index] = growth_create_reservation(growth, 16);
}

static void do_destroy(struct growth* growth, uint32_t index)
{
    const MaarReservation* all = growth->state;
    maarDestroyReservation(growth->allocator, all[growth->n + index]);
}

static void create_more(struct growth* growth)
{
    growth_repeat(growth, growth->count, do_create);
}

static void destroy_more(struct growth* growth)
{
    growth_repeat(growth, growth->count, do_destroy);
}

static void do_destroy_after(struct growth* growth, uint32_t index)
{
    const MaarReservation* all = growth->state;
    const MaarPoint point = {.value = 1 + bench_random(&growth->random) % 1000};
    GROWTH_EXPECT(
        maarDestroyReservationAfter(growth->allocator, all[growth->n + index], 1, &point));
}

static void let_pass(struct growth* growth)
{
    const MaarReservation* all = growth->state;
    for (uint32_t i = 0; i < growth->n; ++i) {
        const MaarPoint point = {.value = 1 + i % 1000};
        GROWTH_EXPECT(maarDestroyReservationAfter(growth->allocator, all[i], 1, &point));
    }
}

static void open_pending(struct growth* growth)
{
    open_reservations(growth);
    let_pass(growth);
}

static void close_pending(struct growth* growth)
{
    GROWTH_EXPECT(maarAdvanceHostTimeline(growth->allocator, UINT64_MAX));
}

static MaarReservation pick(struct growth* growth)
{
    const MaarReservation* all = growth->state;
    return all[growth_pick(growth)];
}

static void do_get_info(struct growth* growth, uint32_t index)
{
    MaarReservationInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetReservationInfo(growth->allocator, pick(growth), &info));
}

static void do_get_statistics(struct growth* growth, uint32_t index)
{
    MaarPagingStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    (void)index;
    GROWTH_EXPECT(maarGetPagingStatistics(growth->allocator, &statistics));
}

/* Takes and gives back a page of any of the reservations, and submits both. */
static void do_commit_and_submit(struct growth* growth, uint32_t index)
{
    const MaarReservation reservation = pick(growth);
    (void)index;
    growth_commit(growth, reservation, 8, 1);
    GROWTH_EXPECT(maarSubmitBinds(growth->allocator, 0, NULL, NULL));
    growth_decommit(growth, reservation, 8, 1);
    GROWTH_EXPECT(maarSubmitBinds(growth->allocator, 0, NULL, NULL));
}

static void do_delay(struct growth* growth, uint32_t index)
{
    const MaarPoint passed = {.value = 0};
    (void)index;
    GROWTH_EXPECT(maarDelayBinds(growth->allocator, 1, &passed));
}

static void do_submit_nothing(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarSubmitBinds(growth->allocator, 0, NULL, NULL));
}

/* ---- the address range ---- */

static void do_create_large(struct growth* growth, uint32_t index)
{
    (void)index;
    const MaarReservation reservation = growth_create_reservation(growth, growth->n);
    maarDestroyReservation(growth->allocator, reservation);
}

/* ---- records ---- */

static void record_all(struct growth* growth)
{
    const MaarReservation* all = growth->state;
    for (uint32_t i = 0; i < growth->n; ++i) {
        growth_commit(growth, all[i], 8, 1);
    }
}

static void take_back_all(struct growth* growth)
{
    const MaarReservation* all = growth->state;
    for (uint32_t i = 0; i < growth->n; ++i) {
        growth_decommit(growth, all[i], 8, 1);
    }
    GROWTH_EXPECT(maarSubmitBinds(growth->allocator, 0, NULL, NULL));
}

#define RESERVATIONS(case_name, function, how, least, text, world, before, does, after)            \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = text, .kind = how, .n = least,      \
        .open = open_##world, .prepare = before, .operation = does, .tidy = after,                 \
        .close = close_##world                                                                     \
    }

const struct growth_case growth_reservation_cases[] = {
    RESERVATIONS("create-reservation", "maarCreateReservation", GROWTH_BESIDE, 500, "reservations",
                 reservations, NULL, do_create, destroy_more),
    RESERVATIONS("destroy-reservation", "maarDestroyReservation", GROWTH_BESIDE, 500,
                 "reservations", reservations, create_more, do_destroy, NULL),
    RESERVATIONS("destroy-reservation-after", "maarDestroyReservationAfter", GROWTH_BESIDE, 500,
                 "reservations whose destruction is pending", pending, create_more,
                 do_destroy_after, NULL),
    RESERVATIONS("reservation-info", "maarGetReservationInfo", GROWTH_BESIDE, 500, "reservations",
                 reservations, NULL, do_get_info, NULL),
    RESERVATIONS("paging-statistics", "maarGetPagingStatistics", GROWTH_BESIDE, 500, "reservations",
                 reservations, NULL, do_get_statistics, NULL),
    RESERVATIONS("commit-and-submit", "maarCommitPages maarDecommitPages maarSubmitBinds",
                 GROWTH_BESIDE, 500, "reservations", reservations, NULL, do_commit_and_submit,
                 NULL),
    RESERVATIONS("delay-binds", "maarDelayBinds", GROWTH_BESIDE, 500, "reservations", reservations,
                 NULL, do_delay, NULL),
    RESERVATIONS("submit-nothing", "maarSubmitBinds", GROWTH_BESIDE, 500, "reservations",
                 reservations, NULL, do_submit_nothing, NULL),
    RESERVATIONS("submit-records", "maarSubmitBinds", GROWTH_OVER, 500,
                 "reservations with a recorded page each", reservations, record_all,
                 do_submit_nothing, take_back_all),
    {
        .name = "create-reservation-pages",
        .functions = "maarCreateReservation maarDestroyReservation",
        .dimension = "pages of its address range",
        .n = 16384,
        .open = growth_create_allocator,
        .operation = do_create_large,
    },
    {.name = NULL},
};
