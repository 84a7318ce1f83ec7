/*
 * Partially resident images: beside others, of many tiles, and of many layers.
 */
#include "growth_cases.h"
#include "growth_reservation.h"
#include "growth_steps.h"

#include <stdlib.h>

/* Texels of a tile of RGBA8 on a side. */
static void submit(struct growth* growth)
{
    GROWTH_EXPECT(maarSubmitBinds(growth->allocator, 0, NULL, NULL));
}

/* ---- beside other images ---- */

static void open_images(struct growth* growth)
{
    MaarSparseImage* images =
        growth_create_state(growth, growth->n + growth->count, sizeof(MaarSparseImage));
    for (uint32_t i = 0; i < growth->n; ++i) {
        images[i] = growth_create_sparse_image(growth, 4, 4, 1);
        GROWTH_EXPECT(maarCommitMipTail(growth->allocator, images[i], 0, 1));
    }
    submit(growth);
}

static void close_images(struct growth* growth)
{
    const MaarSparseImage* images = growth->state;
    for (uint32_t i = 0; i < growth->n; ++i) {
        maarDestroySparseImage(growth->allocator, images[i]);
    }
}

static void do_create(struct growth* growth, uint32_t index)
{
    MaarSparseImage* images = growth->state;
    images[growth->n + index] = growth_create_sparse_image(growth, 4, 4, 1);
}

static void do_destroy(struct growth* growth, uint32_t index)
{
    const MaarSparseImage* images = growth->state;
    maarDestroySparseImage(growth->allocator, images[growth->n + index]);
}

static void create_more(struct growth* growth)
{
    growth_repeat(growth, growth->count, do_create);
}

static void destroy_more(struct growth* growth)
{
    growth_repeat(growth, growth->count, do_destroy);
}

static void destroy_after(struct growth* growth, uint32_t at)
{
    const MaarSparseImage* images = growth->state;
    const MaarPoint point = {.value = 1 + bench_random(&growth->random) % 1000};
    GROWTH_EXPECT(maarDestroySparseImageAfter(growth->allocator, images[at], 1, &point));
}

static void do_destroy_after(struct growth* growth, uint32_t index)
{
    destroy_after(growth, growth->n + index);
}

static void open_pending(struct growth* growth)
{
    open_images(growth);
    for (uint32_t i = 0; i < growth->n; ++i) {
        destroy_after(growth, i);
    }
}

static void close_pending(struct growth* growth)
{
    GROWTH_EXPECT(maarAdvanceHostTimeline(growth->allocator, UINT64_MAX));
}

static void do_get_info(struct growth* growth, uint32_t index)
{
    const MaarSparseImage* images = growth->state;
    MaarSparseImageInfo info = {.sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetSparseImageInfo(growth->allocator, images[growth_pick(growth)], &info));
}

/* ---- an image of 64 x n tiles, or of n layers ---- */

enum { ROW = 64 };

static MaarSparseImage large(const struct growth* growth)
{
    return *(const MaarSparseImage*)growth->state;
}

static void open_empty(struct growth* growth)
{
    MaarSparseImage* image = growth_create_state(growth, 1, sizeof *image);
    *image = growth_create_sparse_image(growth, ROW, growth->n, 1);
    growth->spare = bench_allocate(growth->n, ROW);
}

static MaarTileRegion describe_rows(uint32_t first, uint32_t count)
{
    return (MaarTileRegion){
        .offset = {0, (int32_t)(first * GROWTH_TILE), 0},
        .extent = {ROW * GROWTH_TILE, count * GROWTH_TILE, 1},
    };
}

static void commit_rows(struct growth* growth, uint32_t first, uint32_t count)
{
    const MaarTileRegion region = describe_rows(first, count);
    GROWTH_EXPECT(maarCommitTiles(growth->allocator, large(growth), 1, &region));
}

static void evict_rows(struct growth* growth, uint32_t first, uint32_t count)
{
    const MaarTileRegion region = describe_rows(first, count);
    GROWTH_EXPECT(maarEvictTiles(growth->allocator, large(growth), 1, &region));
}

static void open_tiles(struct growth* growth)
{
    open_empty(growth);
    commit_rows(growth, 0, growth->n);
    submit(growth);
}

static void close_large(struct growth* growth)
{
    maarDestroySparseImage(growth->allocator, large(growth));
}

/* A run takes back, or commits, one row after another, and then all again. */
static void do_commit_row(struct growth* growth, uint32_t index)
{
    commit_rows(growth, index, 1);
}

static void do_evict_row(struct growth* growth, uint32_t index)
{
    evict_rows(growth, index, 1);
}

static void evict_some(struct growth* growth)
{
    evict_rows(growth, 0, growth->count);
    submit(growth);
}

static void commit_some(struct growth* growth)
{
    submit(growth);
    commit_rows(growth, 0, growth->count);
    submit(growth);
}

static void do_commit_all(struct growth* growth, uint32_t index)
{
    (void)index;
    commit_rows(growth, 0, growth->n);
}

static void do_evict_all(struct growth* growth, uint32_t index)
{
    (void)index;
    evict_rows(growth, 0, growth->n);
}

static void evict_again(struct growth* growth)
{
    submit(growth);
    evict_rows(growth, 0, growth->n);
    submit(growth);
}

static void commit_again(struct growth* growth)
{
    submit(growth);
    commit_rows(growth, 0, growth->n);
    submit(growth);
}

static void do_get_residency(struct growth* growth, uint32_t index)
{
    uint32_t count = ROW * growth->n;
    (void)index;
    GROWTH_EXPECT(
        maarGetTileResidency(growth->allocator, large(growth), 0, 0, &count, growth->spare));
}

static void do_get_levels(struct growth* growth, uint32_t index)
{
    uint32_t count = ROW * growth->n;
    (void)index;
    GROWTH_EXPECT(
        maarGetMinResidentLevels(growth->allocator, large(growth), 0, &count, growth->spare));
}

static void do_get_large_info(struct growth* growth, uint32_t index)
{
    MaarSparseImageInfo info = {.sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetSparseImageInfo(growth->allocator, large(growth), &info));
}

static void do_create_large(struct growth* growth, uint32_t index)
{
    (void)index;
    maarDestroySparseImage(growth->allocator,
                           growth_create_sparse_image(growth, ROW, growth->n, 1));
}

/* ---- mip tails, one for each of n layers ---- */

static void open_layers(struct growth* growth)
{
    MaarSparseImage* image = growth_create_state(growth, 1, sizeof *image);
    *image = growth_create_sparse_image(growth, 2, 2, growth->n);
}

static void do_commit_tails(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarCommitMipTail(growth->allocator, large(growth), 0, growth->n));
}

static void do_evict_tails(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarEvictMipTail(growth->allocator, large(growth), 0, growth->n));
}

static void evict_tails(struct growth* growth)
{
    submit(growth);
    do_evict_tails(growth, 0);
    submit(growth);
}

static void commit_tails(struct growth* growth)
{
    submit(growth);
    do_commit_tails(growth, 0);
    submit(growth);
}

static void do_commit_tail(struct growth* growth, uint32_t index)
{
    GROWTH_EXPECT(maarCommitMipTail(growth->allocator, large(growth), index, 1));
}

#define SPARSE(case_name, function, how, least, text, world, before, does, after, ends)            \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = text, .kind = how, .n = least,      \
        .count = 8, .open = open_##world, .prepare = before, .operation = does, .tidy = after,     \
        .close = ends                                                                              \
    }

const struct growth_case growth_sparse_image_cases[] = {
    SPARSE("create-sparse-image", "maarCreateSparseImage", GROWTH_BESIDE, 250,
           "partially resident images", images, NULL, do_create, destroy_more, close_images),
    SPARSE("destroy-sparse-image", "maarDestroySparseImage", GROWTH_BESIDE, 250,
           "partially resident images", images, create_more, do_destroy, NULL, close_images),
    SPARSE("destroy-sparse-image-after", "maarDestroySparseImageAfter", GROWTH_BESIDE, 250,
           "partially resident images whose destruction is pending", pending, create_more,
           do_destroy_after, NULL, close_pending),
    SPARSE("sparse-image-info", "maarGetSparseImageInfo", GROWTH_BESIDE, 250,
           "partially resident images", images, NULL, do_get_info, NULL, close_images),
    SPARSE("sparse-image-info-tiles", "maarGetSparseImageInfo", GROWTH_BESIDE, 8,
           "rows of 64 committed tiles", tiles, NULL, do_get_large_info, NULL, close_large),
    SPARSE("commit-tiles-row", "maarCommitTiles", GROWTH_BESIDE, 8,
           "rows of 64 committed tiles; one row is committed", tiles, evict_some, do_commit_row,
           commit_some, close_large),
    SPARSE("evict-tiles-row", "maarEvictTiles", GROWTH_BESIDE, 8,
           "rows of 64 committed tiles; one row is evicted", tiles, NULL, do_evict_row, commit_some,
           close_large),
    SPARSE("commit-tiles", "maarCommitTiles", GROWTH_OVER, 8, "rows of 64 tiles, all committed",
           empty, NULL, do_commit_all, evict_again, close_large),
    SPARSE("evict-tiles", "maarEvictTiles", GROWTH_OVER, 8, "rows of 64 tiles, all evicted", tiles,
           NULL, do_evict_all, commit_again, close_large),
    SPARSE("tile-residency", "maarGetTileResidency", GROWTH_OVER, 8, "rows of 64 tiles", tiles,
           NULL, do_get_residency, NULL, close_large),
    SPARSE("min-resident-levels", "maarGetMinResidentLevels", GROWTH_OVER, 8, "rows of 64 tiles",
           tiles, NULL, do_get_levels, NULL, close_large),
    {
        .name = "create-sparse-image-tiles",
        .functions = "maarCreateSparseImage maarDestroySparseImage",
        .dimension = "rows of 64 tiles of the image",
        .kind = GROWTH_OVER,
        .n = 8,
        .open = growth_create_allocator,
        .operation = do_create_large,
    },
    SPARSE("commit-mip-tails", "maarCommitMipTail", GROWTH_OVER, 128, "layers, all committed",
           layers, NULL, do_commit_tails, evict_tails, close_large),
    SPARSE("evict-mip-tails", "maarEvictMipTail", GROWTH_OVER, 128, "layers, all evicted", layers,
           commit_tails, do_evict_tails, NULL, close_large),
    SPARSE("commit-mip-tail", "maarCommitMipTail", GROWTH_BESIDE, 128, "layers; one is committed",
           layers, NULL, do_commit_tail, evict_tails, close_large),
    {.name = NULL},
};
