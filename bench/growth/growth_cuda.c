/*
 * CUDA, by a stand-in for its driver: objects beside others, blocks, handoffs.
 */
#include "growth_cases.h"
#include "growth_peer.h"
#include "growth_shared.h"
#include "growth_steps.h"

#include <stdlib.h>

struct cudas {
    MaarCuda cuda;
    MaarCuda* others;
    MaarCudaTimeline* timelines;
    MaarCudaImage* images;
    MaarHandoffResource* resources;
    VkImage image;
    MaarAllocation image_memory;
    VkBuffer buffer;
    MaarAllocation buffer_memory;
};

/* ---- worlds ---- */

/* An object, with room for as many others as a run needs. */
static struct cudas* open_cuda(struct growth* growth)
{
    struct cudas* all = bench_allocate(1, sizeof *all);
    if (growth->allocator == NULL) {
        bench_raise_descriptors();
        growth_create_allocator(growth);
    }
    growth->state = all;
    all->cuda = growth_create_cuda(growth);
    return all;
}

static void close_cuda(struct growth* growth)
{
    const struct cudas* all = growth->state;
    maarDestroyCuda(all->cuda);
}

/* n blocks with a buffer each, all imported. */
static void open_blocks(struct growth* growth)
{
    growth_open_shared(growth, true);
    const struct cudas* all = open_cuda(growth);
    for (uint32_t i = 0; i < growth->n; ++i) {
        MaarCudaMemory memory = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY};
        GROWTH_EXPECT(maarGetCudaMemory(all->cuda, growth->memory[i], &memory));
    }
}

static void close_blocks(struct growth* growth)
{
    growth_close_shared(growth);
    close_cuda(growth);
}

/* ---- blocks ---- */

static void do_get_memory(struct growth* growth, uint32_t index)
{
    const struct cudas* all = growth->state;
    MaarCudaMemory memory = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY};
    (void)index;
    GROWTH_EXPECT(maarGetCudaMemory(all->cuda, growth->memory[growth_pick(growth)], &memory));
}

static void do_import(struct growth* growth, uint32_t index)
{
    const struct cudas* all = growth->state;
    MaarCudaMemory memory = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY};
    GROWTH_EXPECT(maarGetCudaMemory(all->cuda, growth->memory[growth->n + index], &memory));
}

static void do_destroy_block(struct growth* growth, uint32_t index)
{
    const VkBuffer* buffers = growth->spare;
    const uint32_t at = growth->n + index;
    maarDestroyBuffer(growth->allocator, buffers[at], growth->memory[at]);
}

static void import_more_blocks(struct growth* growth)
{
    growth_create_more_shared(growth);
    growth_repeat(growth, growth->count, do_import);
}

static void do_get_info(struct growth* growth, uint32_t index)
{
    const struct cudas* all = growth->state;
    MaarCudaInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetCudaInfo(all->cuda, &info));
}

/* ---- the object itself ---- */

static void open_others(struct growth* growth)
{
    struct cudas* all = open_cuda(growth);
    growth->spare = bench_allocate(growth->n, sizeof *all->others);
    all->others = growth->spare;
    for (uint32_t i = 0; i < growth->n; ++i) {
        all->others[i] = growth_create_cuda(growth);
    }
}

static void close_others(struct growth* growth)
{
    const struct cudas* all = growth->state;
    for (uint32_t i = 0; i < growth->n; ++i) {
        maarDestroyCuda(all->others[i]);
    }
    close_cuda(growth);
}

static void do_create(struct growth* growth, uint32_t index)
{
    (void)index;
    maarDestroyCuda(growth_create_cuda(growth));
}

static void open_shared(struct growth* growth)
{
    growth_open_shared(growth, true);
    growth->state = bench_allocate(1, sizeof(struct cudas));
}

static void import_all(struct growth* growth)
{
    free(growth->state);
    const struct cudas* all = open_cuda(growth);
    for (uint32_t i = 0; i < growth->n; ++i) {
        MaarCudaMemory memory = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY};
        GROWTH_EXPECT(maarGetCudaMemory(all->cuda, growth->memory[i], &memory));
    }
}

static void do_destroy(struct growth* growth, uint32_t index)
{
    (void)index;
    close_cuda(growth);
}

/* ---- timelines ---- */

static void create_timeline(struct growth* growth, uint32_t at)
{
    struct cudas* all = growth->state;
    GROWTH_EXPECT(maarCreateCudaTimeline(all->cuda, NULL, &all->timelines[at]));
}

static void destroy_timeline(struct growth* growth, uint32_t at)
{
    const struct cudas* all = growth->state;
    maarDestroyCudaTimeline(all->cuda, all->timelines[at]);
}

/* n timelines, and n resources, which are parts of one buffer. */
static void open_timelines(struct growth* growth)
{
    struct cudas* all = open_cuda(growth);
    const size_t count = (size_t)growth->n + growth->count;
    growth->spare = bench_allocate(count, sizeof *all->timelines + sizeof *all->resources);
    all->resources = growth->spare;
    all->timelines = (MaarCudaTimeline*)(void*)(all->resources + count);
    all->buffer_memory = growth_create_shared(growth, 64 * GROWTH_KIB, true, &all->buffer);
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
    const struct cudas* all = growth->state;
    for (uint32_t i = 0; i < growth->n; ++i) {
        destroy_timeline(growth, i);
    }
    maarDestroyBuffer(growth->allocator, all->buffer, all->buffer_memory);
    close_cuda(growth);
}

static void do_create_timeline(struct growth* growth, uint32_t index)
{
    create_timeline(growth, growth->n + index);
}

static void do_destroy_timeline(struct growth* growth, uint32_t index)
{
    destroy_timeline(growth, growth->n + index);
}

static void create_more_timelines(struct growth* growth)
{
    growth_repeat(growth, growth->count, do_create_timeline);
}

static void destroy_more_timelines(struct growth* growth)
{
    growth_repeat(growth, growth->count, do_destroy_timeline);
}

static void do_get_timeline(struct growth* growth, uint32_t index)
{
    const struct cudas* all = growth->state;
    MaarCudaTimelineInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetCudaTimelineInfo(all->cuda, all->timelines[growth_pick(growth)], &info));
}

static void do_get_points(struct growth* growth, uint32_t index)
{
    const struct cudas* all = growth->state;
    const MaarCudaTimeline timeline = all->timelines[growth_pick(growth)];
    MaarPoint point;
    (void)index;
    GROWTH_EXPECT(maarGetCudaTimelineSignal(all->cuda, timeline, ++growth->serial, &point));
    GROWTH_EXPECT(maarGetCudaTimelineWait(all->cuda, timeline, growth->serial, &point));
}

static void do_signal_and_wait(struct growth* growth, uint32_t index)
{
    const struct cudas* all = growth->state;
    const MaarCudaTimeline timeline = all->timelines[growth_pick(growth)];
    (void)index;
    GROWTH_EXPECT(maarCudaSignal(all->cuda, timeline, ++growth->serial, NULL));
    GROWTH_EXPECT(maarCudaWait(all->cuda, timeline, growth->serial, NULL));
}

static void hand_over(struct growth* growth, MaarCudaTimeline timeline, uint32_t count)
{
    const struct cudas* all = growth->state;
    const MaarCudaHandoffInfo release = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO,
        .value = ++growth->serial,
        .resourceCount = count,
        .pResources = all->resources,
    };
    MaarCudaHandoffInfo acquire = release;
    acquire.value = ++growth->serial;
    GROWTH_EXPECT(maarReleaseToCuda(all->cuda, timeline, &release));
    GROWTH_EXPECT(maarAcquireFromCuda(all->cuda, timeline, &acquire));
}

static void do_hand_over(struct growth* growth, uint32_t index)
{
    const struct cudas* all = growth->state;
    (void)index;
    hand_over(growth, all->timelines[growth_pick(growth)], 1);
}

static void do_hand_over_all(struct growth* growth, uint32_t index)
{
    const struct cudas* all = growth->state;
    (void)index;
    hand_over(growth, all->timelines[0], growth->n);
}

/* ---- images ---- */

static void create_cuda_image(struct growth* growth, uint32_t at)
{
    struct cudas* all = growth->state;
    const VkImageCreateInfo info = growth_image(64, 1, 1);
    GROWTH_EXPECT(maarCreateCudaImage(all->cuda, all->image_memory, &info, &all->images[at]));
}

/* One image, seen by n mipmapped arrays. */
static void open_images(struct growth* growth)
{
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = GROWTH_SHARED_TYPE,
    };
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pNext = &export,
    };
    struct cudas* all = open_cuda(growth);
    const VkImageCreateInfo info = growth_image(64, 1, 1);
    growth->spare = bench_allocate((size_t)growth->n + growth->count, sizeof *all->images);
    all->images = growth->spare;
    GROWTH_EXPECT(maarCreateImage(growth->allocator, &info, &how, &all->image, &all->image_memory));
    for (uint32_t i = 0; i < growth->n; ++i) {
        create_cuda_image(growth, i);
    }
}

static void close_images(struct growth* growth)
{
    const struct cudas* all = growth->state;
    for (uint32_t i = 0; i < growth->n; ++i) {
        maarDestroyCudaImage(all->cuda, all->images[i]);
    }
    maarDestroyImage(growth->allocator, all->image, all->image_memory);
    close_cuda(growth);
}

static void do_create_image(struct growth* growth, uint32_t index)
{
    const struct cudas* all = growth->state;
    (void)index;
    create_cuda_image(growth, growth->n);
    maarDestroyCudaImage(all->cuda, all->images[growth->n]);
}

static void do_get_image(struct growth* growth, uint32_t index)
{
    const struct cudas* all = growth->state;
    MaarCudaImageInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_IMAGE_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetCudaImageInfo(all->cuda, all->images[growth_pick(growth)], &info));
}

#define CUDA(case_name, function, how, text, world, before, does, after)                           \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = text, .kind = how, .n = 64,         \
        .count = 64, .open = open_##world, .prepare = before, .operation = does, .tidy = after,    \
        .close = close_##world                                                                     \
    }
#define close_shared growth_close_shared

const struct growth_case growth_cuda_cases[] = {
    CUDA("cuda-memory", "maarGetCudaMemory", GROWTH_BESIDE, "imported blocks", blocks, NULL,
         do_get_memory, NULL),
    CUDA("cuda-import", "maarGetCudaMemory", GROWTH_BESIDE,
         "imported blocks; another one is imported", blocks, growth_create_more_shared, do_import,
         growth_destroy_more_shared),
    CUDA("cuda-free", "maarDestroyBuffer", GROWTH_BESIDE, "imported blocks; another one is freed",
         blocks, import_more_blocks, do_destroy_block, NULL),
    CUDA("cuda-info", "maarGetCudaInfo", GROWTH_BESIDE, "imported blocks", blocks, NULL,
         do_get_info, NULL),
    CUDA("create-cuda", "maarCreateCuda maarDestroyCuda", GROWTH_BESIDE, "other MaarCuda objects",
         others, NULL, do_create, NULL),
    CUDA("destroy-cuda", "maarDestroyCuda", GROWTH_OVER, "imported blocks", shared, import_all,
         do_destroy, NULL),
    CUDA("create-cuda-timeline", "maarCreateCudaTimeline", GROWTH_BESIDE, "timelines", timelines,
         NULL, do_create_timeline, destroy_more_timelines),
    CUDA("destroy-cuda-timeline", "maarDestroyCudaTimeline", GROWTH_BESIDE, "timelines", timelines,
         create_more_timelines, do_destroy_timeline, NULL),
    CUDA("cuda-timeline-info", "maarGetCudaTimelineInfo", GROWTH_BESIDE, "timelines", timelines,
         NULL, do_get_timeline, NULL),
    CUDA("cuda-points", "maarGetCudaTimelineSignal maarGetCudaTimelineWait", GROWTH_BESIDE,
         "timelines", timelines, NULL, do_get_points, NULL),
    CUDA("cuda-signal-and-wait", "maarCudaSignal maarCudaWait", GROWTH_BESIDE, "timelines",
         timelines, NULL, do_signal_and_wait, NULL),
    CUDA("cuda-handoff", "maarReleaseToCuda maarAcquireFromCuda", GROWTH_BESIDE, "timelines",
         timelines, NULL, do_hand_over, NULL),
    CUDA("cuda-handoff-resources", "maarReleaseToCuda maarAcquireFromCuda", GROWTH_OVER,
         "resources of the calls", timelines, NULL, do_hand_over_all, NULL),
    CUDA("create-cuda-image", "maarCreateCudaImage maarDestroyCudaImage", GROWTH_BESIDE,
         "other arrays", images, NULL, do_create_image, NULL),
    CUDA("cuda-image-info", "maarGetCudaImageInfo", GROWTH_BESIDE, "other arrays", images, NULL,
         do_get_image, NULL),
    {.name = NULL},
};
