/*
 * HIP, by a stand-in for its runtime.
 */
#include "growth_cases.h"
#include "growth_peer.h"
#include "growth_shared.h"
#include "growth_steps.h"

#include <stdlib.h>

struct hips {
    MaarHip hip;
    MaarHip* others;
    MaarHipTimeline* timelines;
    MaarHandoffResource* resources;
    VkBuffer buffer;
    MaarAllocation memory;
};

static struct hips* open_hip(struct growth* growth)
{
    struct hips* all = bench_allocate(1, sizeof *all);
    if (growth->allocator == NULL) {
        bench_raise_descriptors();
        growth_create_allocator(growth);
    }
    growth->state = all;
    all->hip = growth_create_hip(growth);
    return all;
}

static void close_hip(struct growth* growth)
{
    const struct hips* all = growth->state;
    maarDestroyHip(all->hip);
}

/* ---- blocks ---- */

static void import(struct growth* growth, uint32_t at)
{
    const struct hips* all = growth->state;
    MaarHipMemory memory = {.sType = MAAR_STRUCTURE_TYPE_HIP_MEMORY};
    GROWTH_EXPECT(maarGetHipMemory(all->hip, growth->memory[at], &memory));
}

static void open_blocks(struct growth* growth)
{
    growth_open_shared(growth, true);
    (void)open_hip(growth);
    for (uint32_t i = 0; i < growth->n; ++i) {
        import(growth, i);
    }
}

static void close_blocks(struct growth* growth)
{
    growth_close_shared(growth);
    close_hip(growth);
}

static void do_get_memory(struct growth* growth, uint32_t index)
{
    (void)index;
    import(growth, growth_pick(growth));
}

static void do_import(struct growth* growth, uint32_t index)
{
    import(growth, growth->n + index);
}

static void do_get_info(struct growth* growth, uint32_t index)
{
    const struct hips* all = growth->state;
    MaarHipInfo info = {.sType = MAAR_STRUCTURE_TYPE_HIP_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetHipInfo(all->hip, &info));
}

/* ---- the object itself ---- */

static void open_others(struct growth* growth)
{
    struct hips* all = open_hip(growth);
    growth->spare = bench_allocate(growth->n, sizeof *all->others);
    all->others = growth->spare;
    for (uint32_t i = 0; i < growth->n; ++i) {
        all->others[i] = growth_create_hip(growth);
    }
}

static void close_others(struct growth* growth)
{
    const struct hips* all = growth->state;
    for (uint32_t i = 0; i < growth->n; ++i) {
        maarDestroyHip(all->others[i]);
    }
    close_hip(growth);
}

static void do_create(struct growth* growth, uint32_t index)
{
    (void)index;
    maarDestroyHip(growth_create_hip(growth));
}

static void open_shared(struct growth* growth)
{
    growth_open_shared(growth, true);
    growth->state = bench_allocate(1, sizeof(struct hips));
}

static void import_all(struct growth* growth)
{
    free(growth->state);
    (void)open_hip(growth);
    for (uint32_t i = 0; i < growth->n; ++i) {
        import(growth, i);
    }
}

static void do_destroy(struct growth* growth, uint32_t index)
{
    (void)index;
    close_hip(growth);
}

/* ---- timelines ---- */

static void create_timeline(struct growth* growth, uint32_t at)
{
    const struct hips* all = growth->state;
    GROWTH_EXPECT(maarCreateHipTimeline(all->hip, 0, &all->timelines[at]));
}

static void open_timelines(struct growth* growth)
{
    struct hips* all = open_hip(growth);
    growth->spare =
        bench_allocate((size_t)growth->n + 1, sizeof *all->timelines + sizeof *all->resources);
    all->resources = growth->spare;
    all->timelines = (MaarHipTimeline*)(void*)(all->resources + growth->n + 1);
    all->memory = growth_create_shared(growth, 64 * GROWTH_KIB, true, &all->buffer);
    for (uint32_t i = 0; i < growth->n; ++i) {
        create_timeline(growth, i);
        all->resources[i] = (MaarHandoffResource){
            .buffer = all->buffer,
            .offset = i % 1024 * 16,
            .size = 16,
        };
    }
}

static void close_timelines(struct growth* growth)
{
    const struct hips* all = growth->state;
    for (uint32_t i = 0; i < growth->n; ++i) {
        maarDestroyHipTimeline(all->hip, all->timelines[i]);
    }
    maarDestroyBuffer(growth->allocator, all->buffer, all->memory);
    close_hip(growth);
}

static void do_create_timeline(struct growth* growth, uint32_t index)
{
    const struct hips* all = growth->state;
    (void)index;
    create_timeline(growth, growth->n);
    maarDestroyHipTimeline(all->hip, all->timelines[growth->n]);
}

static void do_get_semaphore(struct growth* growth, uint32_t index)
{
    const struct hips* all = growth->state;
    VkSemaphore semaphore = VK_NULL_HANDLE;
    (void)index;
    GROWTH_EXPECT(
        maarGetHipTimelineSemaphore(all->hip, all->timelines[growth_pick(growth)], &semaphore));
}

static void do_signal_and_wait(struct growth* growth, uint32_t index)
{
    const struct hips* all = growth->state;
    const MaarHipTimeline timeline = all->timelines[growth_pick(growth)];
    (void)index;
    GROWTH_EXPECT(maarHipSignal(all->hip, timeline, ++growth->serial, NULL));
    GROWTH_EXPECT(maarHipWait(all->hip, timeline, growth->serial, NULL));
}

static void hand_over(struct growth* growth, MaarHipTimeline timeline, uint32_t count)
{
    const struct hips* all = growth->state;
    const MaarHipHandoffInfo release = {
        .sType = MAAR_STRUCTURE_TYPE_HIP_HANDOFF_INFO,
        .value = ++growth->serial,
        .resourceCount = count,
        .pResources = all->resources,
    };
    MaarHipHandoffInfo acquire = release;
    acquire.value = ++growth->serial;
    GROWTH_EXPECT(maarReleaseToHip(all->hip, timeline, &release));
    GROWTH_EXPECT(maarAcquireFromHip(all->hip, timeline, &acquire));
    /* The stream's signal goes through the host. The next handoff comes after it. */
    GROWTH_EXPECT(maarHipWait(all->hip, timeline, acquire.value, NULL));
}

static void do_hand_over(struct growth* growth, uint32_t index)
{
    const struct hips* all = growth->state;
    (void)index;
    hand_over(growth, all->timelines[growth_pick(growth)], 1);
}

static void do_hand_over_all(struct growth* growth, uint32_t index)
{
    const struct hips* all = growth->state;
    (void)index;
    hand_over(growth, all->timelines[0], growth->n);
}

#define HIP(case_name, function, how, text, world, before, does, after)                            \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = text, .kind = how, .n = 64,         \
        .count = 64, .open = open_##world, .prepare = before, .operation = does, .tidy = after,    \
        .close = close_##world                                                                     \
    }
#define close_shared growth_close_shared

const struct growth_case growth_hip_cases[] = {
    HIP("hip-memory", "maarGetHipMemory", GROWTH_BESIDE, "imported blocks", blocks, NULL,
        do_get_memory, NULL),
    HIP("hip-import", "maarGetHipMemory", GROWTH_BESIDE, "imported blocks; another one is imported",
        blocks, growth_create_more_shared, do_import, growth_destroy_more_shared),
    HIP("hip-info", "maarGetHipInfo", GROWTH_BESIDE, "imported blocks", blocks, NULL, do_get_info,
        NULL),
    HIP("create-hip", "maarCreateHip maarDestroyHip", GROWTH_BESIDE, "other MaarHip objects",
        others, NULL, do_create, NULL),
    HIP("destroy-hip", "maarDestroyHip", GROWTH_OVER, "imported blocks", shared, import_all,
        do_destroy, NULL),
    HIP("create-hip-timeline", "maarCreateHipTimeline maarDestroyHipTimeline", GROWTH_BESIDE,
        "timelines", timelines, NULL, do_create_timeline, NULL),
    HIP("hip-timeline-semaphore", "maarGetHipTimelineSemaphore", GROWTH_BESIDE, "timelines",
        timelines, NULL, do_get_semaphore, NULL),
    HIP("hip-signal-and-wait", "maarHipSignal maarHipWait", GROWTH_BESIDE, "timelines", timelines,
        NULL, do_signal_and_wait, NULL),
    HIP("hip-handoff", "maarReleaseToHip maarAcquireFromHip maarHipWait", GROWTH_BESIDE,
        "timelines", timelines, NULL, do_hand_over, NULL),
    HIP("hip-handoff-resources", "maarReleaseToHip maarAcquireFromHip maarHipWait", GROWTH_OVER,
        "resources of the calls", timelines, NULL, do_hand_over_all, NULL),
    {.name = NULL},
};
