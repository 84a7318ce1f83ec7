/*
 * What a tile cache records and flushes for its uploads. Functions of ours stand in front of the
 * simulated driver's, which executes nothing and whose caches need no flushing.
 */
#include "tests/tiles/simulated_tiles.h"

enum { MOST = 64 };

static struct {
    uint32_t barrier_count;
    VkPipelineStageFlags before; /* of the last barrier */
    VkPipelineStageFlags after;
    VkMemoryBarrier memory; /* likewise, all 0 if it has none */
    VkImageMemoryBarrier image;
    uint32_t flush_count;
    VkMappedMemoryRange flushed[MOST];
} seen;

static VKAPI_ATTR void VKAPI_CALL barrier(VkCommandBuffer commands, VkPipelineStageFlags before,
                                          VkPipelineStageFlags after, VkDependencyFlags flags,
                                          uint32_t memory_count, const VkMemoryBarrier* memory,
                                          uint32_t buffer_count,
                                          const VkBufferMemoryBarrier* buffers,
                                          uint32_t image_count, const VkImageMemoryBarrier* images)
{
    ++seen.barrier_count;
    seen.before = before;
    seen.after = after;
    seen.memory = memory_count != 0 ? *memory : (VkMemoryBarrier){.srcAccessMask = 0};
    seen.image = image_count != 0 ? *images : (VkImageMemoryBarrier){.srcAccessMask = 0};
    vkCmdPipelineBarrier(commands, before, after, flags, memory_count, memory, buffer_count,
                         buffers, image_count, images);
}

static VKAPI_ATTR VkResult VKAPI_CALL flush(VkDevice device, uint32_t count,
                                            const VkMappedMemoryRange* ranges)
{
    for (uint32_t i = 0; i < count; ++i) {
        assert_true(seen.flush_count < MOST);
        seen.flushed[seen.flush_count++] = ranges[i];
    }
    return vkFlushMappedMemoryRanges(device, count, ranges);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_address(VkDevice device, const char* name)
{
    if (strcmp(name, "vkCmdPipelineBarrier") == 0) {
        return (PFN_vkVoidFunction)barrier;
    }
    return strcmp(name, "vkFlushMappedMemoryRanges") == 0 ? (PFN_vkVoidFunction)flush
                                                          : vkGetDeviceProcAddr(device, name);
}

static VkCommandBuffer open_commands(struct rig* rig, VkCommandPool* pool)
{
    VkCommandBuffer commands = NULL;
    const VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = rig->recommendation.mainQueueFamily,
    };
    assert_int_equal(vkCreateCommandPool(rig->device, &info, NULL, pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = *pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(vkAllocateCommandBuffers(rig->device, &allocate, &commands), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    return commands;
}

/* All that is pinned in one recording, once the layout has been changed. */
static void uploads_are_flushed_and_made_visible(void** state)
{
    (void)state;
    const struct tile_device device = {
        .noncoherent = true,
        .addresses = device_address,
    };
    struct rig* const rig = rig_new();
    memset(&seen, 0, sizeof seen);
    tile_device_start(rig, &device, NULL, 0);
    MaarSparseImage image =
        tile_create_image(rig, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){1024, 1024, 1}, 1);
    const MaarTileCacheCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_CREATE_INFO,
        .image = image,
        .budget = 8 * MIB,
    };
    MaarTileCache cache = VK_NULL_HANDLE;
    assert_int_equal(maarCreateTileCache(rig->allocator, &info, &cache), VK_SUCCESS);
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = open_commands(rig, &pool);
    const uint32_t request = MAAR_PACK_TILE_REQUEST(0u, 0u, 5u, 2u);
    const MaarTileCacheUpdate update = {
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE,
        .requestCount = 1,
        .pRequests = &request,
    };
    MaarTileUpload uploads[MOST];
    uint32_t count = MOST;
    assert_int_equal(maarUpdateTileCache(rig->allocator, cache, &update, &count, uploads),
                     VK_SUCCESS);
    assert_true(count > 1);
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_SUCCESS);

    assert_int_equal(maarRecordTileUploads(rig->allocator, cache, commands, 0, NULL), VK_SUCCESS);
    assert_int_equal(seen.barrier_count, 1);
    assert_int_equal(seen.after, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    assert_int_equal(seen.image.newLayout, VK_IMAGE_LAYOUT_GENERAL);
    assert_true((seen.image.dstAccessMask & VK_ACCESS_TRANSFER_WRITE_BIT) != 0);
    assert_int_equal(seen.flush_count, 0);

    assert_int_equal(maarRecordTileUploads(rig->allocator, cache, commands, count, uploads),
                     VK_SUCCESS);
    assert_int_equal(seen.barrier_count, 2);
    assert_int_equal(seen.before, VK_PIPELINE_STAGE_TRANSFER_BIT);
    assert_int_equal(seen.after, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    assert_int_equal(seen.memory.srcAccessMask, VK_ACCESS_TRANSFER_WRITE_BIT);
    assert_int_equal(seen.memory.dstAccessMask, VK_ACCESS_MEMORY_READ_BIT);
    assert_int_equal(seen.flush_count, count);
    for (uint32_t i = 0; i < count; ++i) {
        /* Each where the program wrote it. */
        const ptrdiff_t place = (const char*)uploads[i].pData - (const char*)uploads[0].pData;
        assert_true((ptrdiff_t)(seen.flushed[i].offset - seen.flushed[0].offset) == place);
        assert_true(seen.flushed[i].size >= uploads[i].size);
        assert_true(seen.flushed[i].memory == seen.flushed[0].memory);
    }
    const MaarPoint point = {.value = 1};
    assert_int_equal(maarEndTileUploads(rig->allocator, cache, &point), VK_SUCCESS);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    maarDestroyTileCache(rig->allocator, cache);
    maarDestroySparseImage(rig->allocator, image);
    vkDestroyCommandPool(rig->device, pool, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {rig_unit_test(uploads_are_flushed_and_made_visible)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
