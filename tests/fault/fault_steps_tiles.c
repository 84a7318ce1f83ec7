/*
 * Steps: partially resident images and tile caches.
 */
#include "tests/fault/fault_steps.h"

/* Tiles of 128x128: 16 of level 0, 4 of level 1, one of level 2, a mip tail, and metadata. */
static VkResult run_create(struct fault_context* c)
{
    VkImageCreateInfo image = rig_image_info(512, 512);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pName = "texture";
    image.mipLevels = 10;
    image.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    const MaarSparseImageCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_CREATE_INFO,
        .pImageInfo = &image,
        .pMemoryInfo = &how,
    };
    c->sparse_image = (MaarSparseImage)(uintptr_t)1;
    VkResult result = maarCreateSparseImage(c->rig.allocator, &info, &c->sparse_image);
    assert_true((result == VK_SUCCESS) == (c->sparse_image != VK_NULL_HANDLE));
    return result;
}

static void finish_image(struct fault_context* c)
{
    maarDestroySparseImage(c->rig.allocator, c->sparse_image);
    (void)maarCollect(c->rig.allocator, NULL);
}

static void prepare_image(struct fault_context* c)
{
    fault_warm_paging(c);
    assert_int_equal(run_create(c), VK_SUCCESS);
}

static VkResult run_commit(struct fault_context* c)
{
    const MaarTileRegion regions[] = {
        {.mipLevel = 0, .offset = {128, 0, 0}, .extent = {256, 256, 1}},
        {.mipLevel = 1, .extent = {256, 256, 1}},
    };
    return maarCommitTiles(c->rig.allocator, c->sparse_image, 2, regions);
}

static VkResult run_commit_tail(struct fault_context* c)
{
    return maarCommitMipTail(c->rig.allocator, c->sparse_image, 0, VK_REMAINING_ARRAY_LAYERS);
}

static void prepare_filled(struct fault_context* c)
{
    prepare_image(c);
    assert_int_equal(run_commit(c), VK_SUCCESS);
    assert_int_equal(run_commit_tail(c), VK_SUCCESS);
    assert_int_equal(maarSubmitBinds(c->rig.allocator, 0, NULL, NULL), VK_SUCCESS);
}

static VkResult run_evict(struct fault_context* c)
{
    const MaarTileRegion region = {.mipLevel = 1, .extent = {256, 128, 1}};
    return maarEvictTiles(c->rig.allocator, c->sparse_image, 1, &region);
}

static VkResult run_evict_tail(struct fault_context* c)
{
    return maarEvictMipTail(c->rig.allocator, c->sparse_image, 0, 1);
}

static VkResult run_submit(struct fault_context* c)
{
    return maarSubmitBinds(c->rig.allocator, 0, NULL, NULL);
}

static void prepare_recorded(struct fault_context* c)
{
    prepare_image(c);
    assert_int_equal(run_commit(c), VK_SUCCESS);
    assert_int_equal(run_commit_tail(c), VK_SUCCESS);
}

static VkResult run_destroy(struct fault_context* c)
{
    maarDestroySparseImage(c->rig.allocator, c->sparse_image);
    return VK_SUCCESS;
}

static VkResult run_destroy_after(struct fault_context* c)
{
    return maarDestroySparseImageAfter(c->rig.allocator, c->sparse_image, 1, &fault_host_point);
}

static VkResult run_info(struct fault_context* c)
{
    MaarSparseImageInfo info = {.sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_INFO};
    return maarGetSparseImageInfo(c->rig.allocator, c->sparse_image, &info);
}

static VkResult run_residency(struct fault_context* c)
{
    uint8_t resident[16];
    uint32_t count = 16;
    return maarGetTileResidency(c->rig.allocator, c->sparse_image, 0, 0, &count, resident);
}

static VkResult run_levels(struct fault_context* c)
{
    uint8_t levels[16];
    uint32_t count = 16;
    return maarGetMinResidentLevels(c->rig.allocator, c->sparse_image, 0, &count, levels);
}

/* ---- tile caches ---- */

static VkResult run_create_cache(struct fault_context* c)
{
    const MaarTileCacheCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_CREATE_INFO,
        .image = c->sparse_image,
        .budget = MIB,
        .maxUploadsPerUpdate = FAULT_UPLOADS,
    };
    c->tile_cache = (MaarTileCache)(uintptr_t)1;
    VkResult result = maarCreateTileCache(c->rig.allocator, &info, &c->tile_cache);
    assert_true((result == VK_SUCCESS) == (c->tile_cache != VK_NULL_HANDLE));
    return result;
}

static void undo_create_cache(struct fault_context* c)
{
    maarDestroyTileCache(c->rig.allocator, c->tile_cache);
}

static void prepare_cache(struct fault_context* c)
{
    prepare_image(c);
    assert_int_equal(run_create_cache(c), VK_SUCCESS);
}

static void finish_cache(struct fault_context* c)
{
    undo_create_cache(c);
    finish_image(c);
}

static VkResult run_update(struct fault_context* c)
{
    const uint32_t requests[] = {
        MAAR_PACK_TILE_REQUEST(0u, 0u, 1u, 1u),
        MAAR_PACK_TILE_REQUEST(0u, 0u, 2u, 3u),
    };
    const MaarTileCacheUpdate update = {
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE,
        .requestCount = 2,
        .pRequests = requests,
    };
    c->upload_count = FAULT_UPLOADS;
    return maarUpdateTileCache(c->rig.allocator, c->tile_cache, &update, &c->upload_count,
                               c->uploads);
}

/* A reservation has taken all free pages. */
static void prepare_crowded_cache(struct fault_context* c)
{
    MaarPagingStatistics paging = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    const VkBufferCreateInfo buffer = rig_buffer_info(64 * MIB);
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pBufferInfo = &buffer,
    };
    prepare_cache(c);
    assert_int_equal(maarGetPagingStatistics(c->rig.allocator, &paging), VK_SUCCESS);
    const MaarPageRange range = {0, paging.freeBytes};
    assert_int_equal(maarCreateReservation(c->rig.allocator, &info, &c->reservation), VK_SUCCESS);
    assert_int_equal(maarCommitPages(c->rig.allocator, c->reservation, 1, &range), VK_SUCCESS);
}

static void finish_crowded_cache(struct fault_context* c)
{
    maarDestroyReservation(c->rig.allocator, c->reservation);
    finish_cache(c);
}

static void prepare_uploads(struct fault_context* c)
{
    prepare_cache(c);
    assert_int_equal(run_update(c), VK_SUCCESS);
    assert_true(c->upload_count > 0);
    assert_int_equal(run_submit(c), VK_SUCCESS);
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = c->rig.families[0],
    };
    assert_int_equal(vkCreateCommandPool(c->rig.device, &pool, NULL, &c->command_pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = c->command_pool,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(vkAllocateCommandBuffers(c->rig.device, &info, &c->commands), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(c->commands, &begin), VK_SUCCESS);
}

static VkResult run_record(struct fault_context* c)
{
    return maarRecordTileUploads(c->rig.allocator, c->tile_cache, c->commands, c->upload_count,
                                 c->uploads);
}

static void prepare_recorded_uploads(struct fault_context* c)
{
    prepare_uploads(c);
    assert_int_equal(run_record(c), VK_SUCCESS);
}

static void finish_uploads(struct fault_context* c)
{
    vkDestroyCommandPool(c->rig.device, c->command_pool, NULL);
    undo_create_cache(c);
    fault_pass_point(c);
    finish_image(c);
}

static VkResult run_end(struct fault_context* c)
{
    return maarEndTileUploads(c->rig.allocator, c->tile_cache, &fault_host_point);
}

static VkResult run_cancel(struct fault_context* c)
{
    return maarCancelTileUploads(c->rig.allocator, c->tile_cache, c->upload_count, c->uploads);
}

static VkResult run_destroy_cache(struct fault_context* c)
{
    undo_create_cache(c);
    return VK_SUCCESS;
}

static VkResult run_cache_levels(struct fault_context* c)
{
    uint8_t levels[16];
    uint32_t count = 16;
    return maarGetTileCacheLevels(c->rig.allocator, c->tile_cache, 0, &count, levels);
}

static VkResult run_cache_info(struct fault_context* c)
{
    MaarTileCacheInfo info = {.sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_INFO};
    return maarGetTileCacheInfo(c->rig.allocator, c->tile_cache, &info);
}

static const char reads_what_is_kept[] = "reads what is kept";

static const struct fault_step steps[] = {
    {.function = "maarCreateSparseImage",
     .prepare = fault_warm_paging,
     .run = run_create,
     .undo = finish_image,
     FAULT_PAGED},
    {.function = "maarDestroySparseImage",
     .prepare = prepare_filled,
     .run = run_destroy,
     .finish = fault_collect,
     FAULT_PAGED},
    {.function = "maarDestroySparseImageAfter",
     .prepare = prepare_filled,
     .run = run_destroy_after,
     .undo = fault_pass_point,
     FAULT_PAGED},
    {.function = "maarGetSparseImageInfo",
     .never = reads_what_is_kept,
     .prepare = prepare_image,
     .run = run_info,
     .finish = finish_image,
     FAULT_PAGED},
    {.function = "maarCommitTiles",
     .prepare = prepare_image,
     .run = run_commit,
     .finish = finish_image,
     FAULT_PAGED},
    {.function = "maarCommitMipTail",
     .prepare = prepare_image,
     .run = run_commit_tail,
     .finish = finish_image,
     FAULT_PAGED},
    {.function = "maarEvictTiles",
     .never = "takes notes in leaves that are there",
     .prepare = prepare_filled,
     .run = run_evict,
     .finish = finish_image,
     FAULT_PAGED},
    {.function = "maarEvictMipTail",
     .never = "takes notes in leaves that are there",
     .prepare = prepare_filled,
     .run = run_evict_tail,
     .finish = finish_image,
     FAULT_PAGED},
    {.function = "maarGetTileResidency",
     .never = reads_what_is_kept,
     .prepare = prepare_filled,
     .run = run_residency,
     .finish = finish_image,
     FAULT_PAGED},
    {.function = "maarGetMinResidentLevels",
     .prepare = prepare_filled,
     .run = run_levels,
     .finish = finish_image,
     FAULT_PAGED},
    {.function = "maarSubmitBinds",
     .variant = "tiles, a mip tail and metadata",
     .prepare = prepare_recorded,
     .run = run_submit,
     .finish = finish_image,
     .lost_is_done = true,
     FAULT_PAGED},
    {.function = "maarCreateTileCache",
     .prepare = prepare_image,
     .run = run_create_cache,
     .undo = undo_create_cache,
     .finish = finish_image,
     FAULT_PAGED},
    {.function = "maarDestroyTileCache",
     .never = "its end was made with the cache",
     .prepare = prepare_cache,
     .run = run_destroy_cache,
     .finish = finish_image,
     FAULT_PAGED},
    {.function = "maarUpdateTileCache",
     .prepare = prepare_cache,
     .run = run_update,
     .finish = finish_cache,
     FAULT_PAGED},
    {.function = "maarUpdateTileCache",
     .variant = "no page is free",
     .prepare = prepare_crowded_cache,
     .run = run_update,
     .finish = finish_crowded_cache,
     FAULT_PAGED},
    {.function = "maarRecordTileUploads",
     .never = "records commands; coherent memory needs no flush",
     .prepare = prepare_uploads,
     .run = run_record,
     .finish = finish_uploads,
     FAULT_PAGED},
    {.function = "maarEndTileUploads",
     .never = "keeps points in a list of fixed length",
     .prepare = prepare_recorded_uploads,
     .run = run_end,
     .finish = finish_uploads,
     FAULT_PAGED},
    {.function = "maarCancelTileUploads",
     .never = "takes notes in what was made with the cache",
     .prepare = prepare_uploads,
     .run = run_cancel,
     .finish = finish_uploads,
     FAULT_PAGED},
    {.function = "maarGetTileCacheLevels",
     .never = reads_what_is_kept,
     .prepare = prepare_cache,
     .run = run_cache_levels,
     .finish = finish_cache,
     FAULT_PAGED},
    {.function = "maarGetTileCacheInfo",
     .never = reads_what_is_kept,
     .prepare = prepare_cache,
     .run = run_cache_info,
     .finish = finish_cache,
     FAULT_PAGED},
};

const struct fault_table fault_tile_steps = {steps, sizeof steps / sizeof steps[0]};
