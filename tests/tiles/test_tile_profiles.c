/*
 * A streamed texture on every device whose profile is kept: those with partially resident images
 * take it, whatever their pages, tails and memory types are; the others say what they lack.
 */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>

#include "tests/tiles/simulated_tiles.h"

enum { MOST = 64, UPDATES = 40 };

static struct rig* rig;

static void play(MaarSparseImage image, VkDeviceSize* page_size)
{
    const MaarSparseImageInfo made = tile_image(rig, image);
    struct rig_random random = {.state = 4};
    MaarTileUpload uploads[MOST];
    MaarTileCache cache = VK_NULL_HANDLE;
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = NULL;
    const MaarTileCacheCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_CREATE_INFO,
        .image = image,
        .budget = made.committedSize + made.arrayLayers * (made.tailSize + made.pageSize) +
                  8 * made.pageSize,
    };
    const VkCommandPoolCreateInfo pool_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = rig->recommendation.mainQueueFamily,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    *page_size = made.pageSize;
    assert_int_equal(vkCreateCommandPool(rig->device, &pool_info, NULL, &pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    assert_int_equal(vkAllocateCommandBuffers(rig->device, &allocate, &commands), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    assert_int_equal(maarCreateTileCache(rig->allocator, &info, &cache), VK_SUCCESS);
    for (uint64_t value = 1; value <= UPDATES; ++value) {
        uint32_t requests[6];
        uint32_t count = MOST;
        for (uint32_t i = 0; i < 6; ++i) {
            requests[i] = MAAR_PACK_TILE_REQUEST(rig_below(&random, 2), rig_below(&random, 2),
                                                 rig_below(&random, 2), rig_below(&random, 2));
        }
        const MaarTileCacheUpdate update = {
            .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE,
            .requestCount = 6,
            .pRequests = requests,
        };
        const MaarPoint point = {.value = value};
        assert_int_equal(maarUpdateTileCache(rig->allocator, cache, &update, &count, uploads),
                         VK_SUCCESS);
        assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_SUCCESS);
        assert_int_equal(rig_counters(rig).sparseBoundBytes, tile_cache(rig, cache).committedSize);
        assert_true(tile_cache(rig, cache).committedSize <= info.budget);
        for (uint32_t i = 0; i < count; ++i) {
            memset(uploads[i].pData, 1, (size_t)uploads[i].size);
        }
        assert_int_equal(maarRecordTileUploads(rig->allocator, cache, commands, count, uploads),
                         VK_SUCCESS);
        assert_int_equal(maarEndTileUploads(rig->allocator, cache, &point), VK_SUCCESS);
        assert_int_equal(maarAdvanceHostTimeline(rig->allocator, value), VK_SUCCESS);
    }
    assert_true(tile_cache(rig, cache).hitCount > 0);
    maarDestroyTileCache(rig->allocator, cache);
    vkDestroyCommandPool(rig->device, pool, NULL);
}

static bool stream_on(const char* name, VkDeviceSize* page_size)
{
    const struct rig_setup setup = {.profile = rig_profile_file(name), .paging = true};
    MaarPagingInfo paging = {.sType = MAAR_STRUCTURE_TYPE_PAGING_INFO};
    const VkImageCreateInfo made =
        tile_image_info(VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){700, 500, 1}, 2);
    MaarSparseImage image = VK_NULL_HANDLE;
    rig = rig_new();
    rig_open(rig, &setup);
    rig->create_info.flags |= MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT;
    rig_make_allocator(rig);
    assert_int_equal(maarGetPagingInfo(rig->allocator, &paging), VK_SUCCESS);
    const VkResult result = tile_try_image(rig, &made, &image);
    /* A device may have the feature, and no tiles for this format: the mock driver's. */
    const bool excused = result == VK_ERROR_FORMAT_NOT_SUPPORTED && strstr(name, "mock") != NULL;
    if (!excused && result != (paging.sparseImages2D ? VK_SUCCESS : VK_ERROR_FEATURE_NOT_PRESENT)) {
        fail_msg("%s: %d, \"%s\"", name, (int)result, rig->messages.last);
    }
    if (image != VK_NULL_HANDLE) {
        play(image, page_size);
        maarDestroySparseImage(rig->allocator, image);
    } else {
        rig_expect_message_naming(rig,
                                  excused ? MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED
                                          : MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED,
                                  "maarCreateSparseImage");
    }
    rig_forget_messages(rig);
    rig_close(rig);
    return image != VK_NULL_HANDLE;
}

static void every_device_streams_or_says_why_not(void** state)
{
    (void)state;
    DIR* folder = opendir(MAAR_SOURCE_DIR "/data/profiles");
    uint32_t able = 0;
    uint32_t others = 0;
    assert_non_null(folder);
    for (struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char name[256] = {0};
        VkDeviceSize page_size = 0;
        const size_t length = strlen(entry->d_name);
        if (length < 6 || length >= sizeof name ||
            strcmp(entry->d_name + length - 5, ".json") != 0) {
            continue;
        }
        memcpy(name, entry->d_name, length - 5);
        if (stream_on(name, &page_size)) {
            print_message("%s: pages of %llu bytes\n", name, (unsigned long long)page_size);
            ++able;
        } else {
            ++others;
        }
    }
    closedir(folder);
    print_message("%u devices stream, %u have no partially resident images\n", able, others);
    assert_true(able > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(every_device_streams_or_says_why_not),
    };
    return cmocka_run_group_tests_name("tile_profiles", tests, NULL, NULL);
}
