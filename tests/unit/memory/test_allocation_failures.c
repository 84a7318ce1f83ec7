/*
 * Failures that no other test asks for: objects of another allocator, images and caches that cannot
 * be, chains that lack something, and what a pool of pages says when it goes too early. Each is
 * reported in the sentence that names the argument, and nothing is made.
 */
#include "maar/process.h"
#include "tests/tiles/simulated_tiles.h"
#include "tests/unit/reservation/reservation_fixture.h"

#define REFUSED VK_ERROR_VALIDATION_FAILED_EXT

static struct rig* rig;

/* The call failed as it should, and reported why. */
#define EXPECT_MESSAGE(call, result, id, culprit)                                                  \
    do {                                                                                           \
        assert_int_equal(call, result);                                                            \
        rig_expect_message_naming(rig, id, culprit);                                               \
    } while (0)

/* ---- another allocator's ---- */

static void another_allocators_objects_are_refused(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 65536, NULL);
    MaarAllocator other = VK_NULL_HANDLE;
    assert_int_equal(maarCreateAllocator(&rig->create_info, &other), VK_SUCCESS);
    const VkBufferCreateInfo buffer = fixture_buffer(MIB);
    const MaarReservationCreateInfo reserve = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                               .pBufferInfo = &buffer};
    const MaarArrayCreateInfo array_info = {
        .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO, .elementSize = 4, .reservation = reserve};
    const MaarPoolCreateInfo pool_info = {.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO};
    MaarReservation reservation = VK_NULL_HANDLE;
    MaarArray array = VK_NULL_HANDLE;
    MaarPool pool = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(other, &reserve, &reservation), VK_SUCCESS);
    assert_int_equal(maarCreateArray(other, &array_info, &array), VK_SUCCESS);
    assert_int_equal(maarCreatePool(other, &pool_info, &pool), VK_SUCCESS);
    MaarReservationInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    MaarArrayInfo count = {.sType = MAAR_STRUCTURE_TYPE_ARRAY_INFO};
    EXPECT_MESSAGE(maarGetReservationInfo(rig->allocator, reservation, &info), REFUSED,
                   MAAR_MESSAGE_ID_FOREIGN_HANDLE, "reservation");
    EXPECT_MESSAGE(maarGetArrayInfo(rig->allocator, array, &count), REFUSED,
                   MAAR_MESSAGE_ID_FOREIGN_HANDLE, "array");
    EXPECT_MESSAGE(maarTrim(rig->allocator, pool, NULL), REFUSED, MAAR_MESSAGE_ID_FOREIGN_HANDLE,
                   "pool");
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .pool = pool};
    const MaarMemoryRequest request = rig_request(1000, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation memory = VK_NULL_HANDLE;
    EXPECT_MESSAGE(maarAllocateMemory(rig->allocator, &request, &how, &memory), REFUSED,
                   MAAR_MESSAGE_ID_FOREIGN_HANDLE, "pCreateInfo->pool");
    MaarReservationCreateInfo in_pool = reserve;
    in_pool.pMemoryInfo = &how;
    EXPECT_MESSAGE(maarCreateReservation(rig->allocator, &in_pool, &reservation), REFUSED,
                   MAAR_MESSAGE_ID_FOREIGN_HANDLE, NULL);
    assert_null(reservation);
    in_pool.flags = MAAR_RESERVATION_CREATE_COPYING_BIT;
    EXPECT_MESSAGE(maarCreateReservation(rig->allocator, &in_pool, &reservation), REFUSED,
                   MAAR_MESSAGE_ID_FOREIGN_HANDLE, "pool");
    assert_null(reservation);
    assert_int_equal(maarTruncateArray(other, array, 1, VK_FALSE), REFUSED);
    rig_forget_messages(rig);
    maarDestroyAllocator(other); /* leaks are reported, and end with it */
    rig_forget_messages(rig);
    rig_close(rig);
}

static void another_allocators_images_are_refused(void** state)
{
    (void)state;
    const struct tile_device device = {.page_size = 65536};
    rig = rig_new();
    tile_device_start(rig, &device, NULL, 0);
    MaarAllocator own = rig->allocator;
    MaarAllocator other = VK_NULL_HANDLE;
    assert_int_equal(maarCreateAllocator(&rig->create_info, &other), VK_SUCCESS);
    MaarSparseImage image =
        tile_create_image(rig, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){512, 512, 1}, 1);
    MaarTileCacheCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_CREATE_INFO, .image = image, .budget = 64 * MIB};
    const MaarTileRegion region = {.extent = {1, 1, 1}};
    MaarSparseImageInfo read = {.sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_INFO};
    MaarTileCache cache = VK_NULL_HANDLE;
    uint32_t count = 0;
    EXPECT_MESSAGE(maarCommitTiles(other, image, 1, &region), REFUSED,
                   MAAR_MESSAGE_ID_FOREIGN_HANDLE, "image");
    EXPECT_MESSAGE(maarEvictTiles(other, image, 1, &region), REFUSED,
                   MAAR_MESSAGE_ID_FOREIGN_HANDLE, "image");
    EXPECT_MESSAGE(maarCommitMipTail(other, image, 0, 1), REFUSED, MAAR_MESSAGE_ID_FOREIGN_HANDLE,
                   "image");
    EXPECT_MESSAGE(maarGetSparseImageInfo(other, image, &read), REFUSED,
                   MAAR_MESSAGE_ID_FOREIGN_HANDLE, "image");
    EXPECT_MESSAGE(maarGetTileResidency(other, image, 0, 0, &count, NULL), REFUSED,
                   MAAR_MESSAGE_ID_FOREIGN_HANDLE, "image");
    EXPECT_MESSAGE(maarCreateTileCache(other, &info, &cache), REFUSED,
                   MAAR_MESSAGE_ID_FOREIGN_HANDLE, "image");
    assert_null(cache);
    assert_int_equal(maarCreateTileCache(own, &info, &cache), VK_SUCCESS);
    MaarTileCacheUpdate update = {.sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE};
    MaarTileCacheInfo known = {.sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_INFO};
    EXPECT_MESSAGE(maarUpdateTileCache(other, cache, &update, &count, NULL), REFUSED,
                   MAAR_MESSAGE_ID_FOREIGN_HANDLE, "cache");
    EXPECT_MESSAGE(maarEndTileUploads(other, cache, NULL), REFUSED, MAAR_MESSAGE_ID_FOREIGN_HANDLE,
                   "cache");
    EXPECT_MESSAGE(maarGetTileCacheInfo(other, cache, &known), REFUSED,
                   MAAR_MESSAGE_ID_FOREIGN_HANDLE, "cache");
    maarDestroyTileCache(own, cache);
    maarDestroySparseImage(own, image);
    rig_forget_messages(rig); /* what was never submitted */
    maarDestroyAllocator(other);
    rig_close(rig);
}

/* ---- one call that is made of others ---- */

static void messages_name_the_call_that_was_made(void** state)
{
    (void)state;
    rig = rig_begin(NULL);
    MaarAllocation memory = rig_allocate(rig, 1000, NULL);
    const VkBufferCreateInfo buffer = rig_buffer_info(1000);
    const VkImageCreateInfo image =
        tile_image_info(VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){64, 64, 1}, 1);
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .usage = (MaarMemoryUsage)99};
    EXPECT_MESSAGE(maarDestroyBufferAfter(rig->allocator, VK_NULL_HANDLE, memory, 1, NULL), REFUSED,
                   MAAR_MESSAGE_ID_NULL_ARGUMENT, "maarDestroyBufferAfter");
    EXPECT_MESSAGE(maarDestroyImageAfter(rig->allocator, VK_NULL_HANDLE, memory, 1, NULL), REFUSED,
                   MAAR_MESSAGE_ID_NULL_ARGUMENT, "maarDestroyImageAfter");
    EXPECT_MESSAGE(maarChooseMemoryTypeForBuffer(rig->allocator, &buffer, &how, &choice), REFUSED,
                   MAAR_MESSAGE_ID_INVALID_ENUM, "maarChooseMemoryTypeForBuffer");
    EXPECT_MESSAGE(maarChooseMemoryTypeForImage(rig->allocator, &image, &how, &choice), REFUSED,
                   MAAR_MESSAGE_ID_INVALID_ENUM, "maarChooseMemoryTypeForImage");
    assert_int_equal(maarDestroyBufferAfter(rig->allocator, VK_NULL_HANDLE, memory, 0, NULL),
                     VK_SUCCESS);
    const MaarPoint host = {.value = 1};
    memory = rig_allocate(rig, 1000, NULL);
    assert_int_equal(maarDestroyImageAfter(rig->allocator, VK_NULL_HANDLE, memory, 1, &host),
                     VK_SUCCESS);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(maarDestroyImageAfter(rig->allocator, VK_NULL_HANDLE, VK_NULL_HANDLE, 0, NULL),
                     VK_SUCCESS);
    rig_close(rig);
}

/* ---- what memory pages are to take ---- */

static void requests_that_no_memory_can_grant_are_refused(void** state)
{
    (void)state;
    static const struct {
        MaarAllocationCreateInfo how;
        MaarMessageId id;
        const char* culprit;
    } rows[] = {
        {{.usage = (MaarMemoryUsage)99}, MAAR_MESSAGE_ID_INVALID_ENUM, "->usage"},
        {{.flags = 0x40000000}, MAAR_MESSAGE_ID_UNKNOWN_FLAGS, "->flags"},
        {{.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT}, MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED, NULL},
        {{.dedicated = (MaarDedicated)99}, MAAR_MESSAGE_ID_INVALID_ENUM, "->dedicated"},
        {{.priority = 2.0F}, MAAR_MESSAGE_ID_OUT_OF_RANGE, "->priority"},
    };
    const struct tile_device device = {.page_size = 65536};
    rig = rig_new();
    tile_device_start(rig, &device, NULL, 0);
    const VkBufferCreateInfo buffer = fixture_buffer(MIB);
    const VkImageCreateInfo image =
        tile_image_info(VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){512, 512, 1}, 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        MaarAllocationCreateInfo how = rows[i].how;
        how.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO;
        MaarReservationCreateInfo reserve = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                             .pBufferInfo = &buffer,
                                             .pMemoryInfo = &how};
        const MaarSparseImageCreateInfo tiles = {.sType =
                                                     MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_CREATE_INFO,
                                                 .pImageInfo = &image,
                                                 .pMemoryInfo = &how};
        MaarReservation reservation = VK_NULL_HANDLE;
        MaarSparseImage made = VK_NULL_HANDLE;
        EXPECT_MESSAGE(maarCreateReservation(rig->allocator, &reserve, &reservation), REFUSED,
                       rows[i].id, rows[i].culprit);
        reserve.flags = MAAR_RESERVATION_CREATE_COPYING_BIT;
        EXPECT_MESSAGE(maarCreateReservation(rig->allocator, &reserve, &reservation), REFUSED,
                       rows[i].id, rows[i].culprit);
        EXPECT_MESSAGE(maarCreateSparseImage(rig->allocator, &tiles, &made), REFUSED, rows[i].id,
                       rows[i].culprit);
        assert_true(reservation == VK_NULL_HANDLE && made == VK_NULL_HANDLE);
    }
    /* Sound, but no memory of this device is so. */
    const MaarAllocationCreateInfo none = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                           .memoryTypeBits = 0x80000000};
    const MaarReservationCreateInfo reserve = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                               .pBufferInfo = &buffer,
                                               .pMemoryInfo = &none};
    MaarReservation reservation = VK_NULL_HANDLE;
    EXPECT_MESSAGE(maarCreateReservation(rig->allocator, &reserve, &reservation),
                   VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_NO_MEMORY_TYPE,
                   "maarCreateReservation");
    rig_close(rig);
}

/* ---- images and caches ---- */

static MaarSparseImageCreateInfo sparse_info(const VkImageCreateInfo* image)
{
    return (MaarSparseImageCreateInfo){.sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_CREATE_INFO,
                                       .pImageInfo = image};
}

static void tiles_that_are_not_there_are_refused(void** state)
{
    (void)state;
    const struct tile_device device = {.page_size = 65536};
    rig = rig_new();
    tile_device_start(rig, &device, NULL, 0);
    MaarSparseImage image =
        tile_create_image(rig, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){512, 512, 1}, 2);
    VkImageCreateInfo made =
        tile_image_info(VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){512, 512, 1}, 1);
    MaarSparseImage none = image;
    uint32_t count = 0;
    made.mipLevels = 33;
    const MaarSparseImageCreateInfo info = sparse_info(&made);
    EXPECT_MESSAGE(maarCreateSparseImage(rig->allocator, &info, &none), REFUSED,
                   MAAR_MESSAGE_ID_OUT_OF_RANGE, "mipLevels");
    assert_null(none);
    EXPECT_MESSAGE(maarCommitTiles(rig->allocator, image, 1, NULL), REFUSED,
                   MAAR_MESSAGE_ID_NULL_ARGUMENT, "pRegions");
    EXPECT_MESSAGE(maarCommitMipTail(rig->allocator, image, 1, 2), REFUSED,
                   MAAR_MESSAGE_ID_OUT_OF_RANGE, "layerCount");
    EXPECT_MESSAGE(maarCommitMipTail(rig->allocator, image, 2, 1), REFUSED,
                   MAAR_MESSAGE_ID_OUT_OF_RANGE, "firstLayer");
    EXPECT_MESSAGE(maarGetTileResidency(rig->allocator, image, 0, 0, NULL, NULL), REFUSED,
                   MAAR_MESSAGE_ID_NULL_ARGUMENT, "pCount");
    EXPECT_MESSAGE(maarGetTileResidency(rig->allocator, image, 32, 0, &count, NULL), REFUSED,
                   MAAR_MESSAGE_ID_OUT_OF_RANGE, "mipLevel");
    EXPECT_MESSAGE(maarGetTileResidency(rig->allocator, image, 0, 2, &count, NULL), REFUSED,
                   MAAR_MESSAGE_ID_OUT_OF_RANGE, "arrayLayer");
    assert_int_equal(tile_image(rig, image).committedSize, 0);
    maarDestroySparseImage(rig->allocator, image);
    rig_close(rig);
}

static MaarTileCacheCreateInfo cache_info(MaarSparseImage image)
{
    return (MaarTileCacheCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_CREATE_INFO, .image = image, .budget = 64 * MIB};
}

static VkResult try_cache(MaarSparseImage image)
{
    const MaarTileCacheCreateInfo info = cache_info(image);
    MaarTileCache cache = VK_NULL_HANDLE;
    const VkResult result = maarCreateTileCache(rig->allocator, &info, &cache);
    assert_true((result == VK_SUCCESS) == (cache != VK_NULL_HANDLE));
    maarDestroyTileCache(rig->allocator, cache);
    return result;
}

static void images_that_no_cache_can_stream_are_refused(void** state)
{
    (void)state;
    const VkExtent3D extent = {512, 512, 1};
    const struct tile_device device = {.page_size = 65536};
    rig = rig_new();
    tile_device_start(rig, &device, NULL, 0);
    EXPECT_MESSAGE(try_cache(VK_NULL_HANDLE), REFUSED, MAAR_MESSAGE_ID_NULL_HANDLE,
                   "pCreateInfo->image");
    VkImageCreateInfo made = tile_image_info(VK_FORMAT_R8G8B8A8_UNORM, extent, 1);
    MaarSparseImage image = VK_NULL_HANDLE;
    made.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
    assert_int_equal(tile_try_image(rig, &made, &image), VK_SUCCESS);
    EXPECT_MESSAGE(try_cache(image), REFUSED, MAAR_MESSAGE_ID_IMAGE_NOT_STREAMABLE, "TRANSFER_DST");
    maarDestroySparseImage(rig->allocator, image);
    image = tile_create_image(rig, VK_FORMAT_R8G8B8A8_UNORM, extent, 1);
    assert_int_equal(maarCommitMipTail(rig->allocator, image, 0, 1), VK_SUCCESS);
    EXPECT_MESSAGE(try_cache(image), REFUSED, MAAR_MESSAGE_ID_IMAGE_NOT_STREAMABLE, NULL);
    maarDestroySparseImage(rig->allocator, image);
    /* Not of colour. */
    image = tile_create_image(rig, VK_FORMAT_D32_SFLOAT, extent, 1);
    EXPECT_MESSAGE(try_cache(image), VK_ERROR_FORMAT_NOT_SUPPORTED,
                   MAAR_MESSAGE_ID_IMAGE_NOT_STREAMABLE, NULL);
    maarDestroySparseImage(rig->allocator, image);
    /* 257 layers. */
    image = tile_create_image(rig, VK_FORMAT_R8G8B8A8_UNORM, extent, 257);
    EXPECT_MESSAGE(try_cache(image), VK_ERROR_FEATURE_NOT_PRESENT,
                   MAAR_MESSAGE_ID_IMAGE_NOT_STREAMABLE, NULL);
    maarDestroySparseImage(rig->allocator, image);
    rig_close(rig);
}

static void cache_refuses_what_is_missing(void** state)
{
    (void)state;
    const struct tile_device device = {.page_size = 65536};
    rig = rig_new();
    tile_device_start(rig, &device, NULL, 0);
    MaarSparseImage image =
        tile_create_image(rig, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){512, 512, 1}, 1);
    const MaarTileCacheCreateInfo info = cache_info(image);
    const MaarTileCacheUpdate update = {.sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE};
    MaarTileCache cache = VK_NULL_HANDLE;
    uint32_t count = 0;
    assert_int_equal(maarCreateTileCache(rig->allocator, &info, &cache), VK_SUCCESS);
    EXPECT_MESSAGE(maarUpdateTileCache(rig->allocator, cache, &update, NULL, NULL), REFUSED,
                   MAAR_MESSAGE_ID_NULL_ARGUMENT, "pUploadCount");
    EXPECT_MESSAGE(maarCancelTileUploads(rig->allocator, cache, 1, NULL), REFUSED,
                   MAAR_MESSAGE_ID_NULL_ARGUMENT, "pUploads");
    EXPECT_MESSAGE(maarRecordTileUploads(rig->allocator, cache, NULL, 0, NULL), REFUSED,
                   MAAR_MESSAGE_ID_NULL_ARGUMENT, "commandBuffer");
    EXPECT_MESSAGE(maarGetTileCacheLevels(rig->allocator, cache, 0, NULL, NULL), REFUSED,
                   MAAR_MESSAGE_ID_NULL_ARGUMENT, "pCount");
    EXPECT_MESSAGE(maarGetTileCacheLevels(rig->allocator, cache, 1, &count, NULL), REFUSED,
                   MAAR_MESSAGE_ID_OUT_OF_RANGE, "arrayLayer");
    assert_int_equal(maarGetTileCacheLevels(rig->allocator, cache, 0, &count, NULL), VK_SUCCESS);
    assert_int_equal(count, 16);
    maarDestroyTileCache(rig->allocator, cache);
    maarDestroySparseImage(rig->allocator, image);
    rig_close(rig);
}

/* ---- planes, slices ---- */

static void planes_and_slices_that_cannot_be_are_refused(void** state)
{
    (void)state;
    rig = rig_begin(NULL);
    VkImageCreateInfo image = rig_image_info(64, 64);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    image.flags = VK_IMAGE_CREATE_DISJOINT_BIT;
    EXPECT_MESSAGE(maarChooseMemoryTypeForImage(rig->allocator, &image, &how, &choice), REFUSED,
                   MAAR_MESSAGE_ID_DISJOINT_IMAGE, NULL);
    const MaarSliceCreateInfo slice_info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = 100,
        .usage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT,
        .allocationFlags = MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT,
    };
    MaarSlice slice = VK_NULL_HANDLE;
    EXPECT_MESSAGE(maarCreateSlice(rig->allocator, &slice_info, &slice), REFUSED,
                   MAAR_MESSAGE_ID_UNKNOWN_FLAGS, NULL);
    assert_true(slice == VK_NULL_HANDLE);
    rig_close(rig);
}

/* ---- chains of what is shared ---- */

static VkResult try_shared_image(const void* chain)
{
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    VkImageCreateInfo info = rig_image_info(64, 64);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    how.pNext = &export;
    info.pNext = chain;
    const VkResult result = maarCreateImage(rig->allocator, &info, &how, &image, &memory);
    assert_true((result == VK_SUCCESS) == (image != VK_NULL_HANDLE));
    maarDestroyImage(rig->allocator, image, memory);
    return result;
}

/* The simulated device shares by file descriptors. */
static void need_descriptors(void)
{
#if defined(_WIN32)
    print_message("skipped: Windows has no file descriptors to share\n");
    skip();
#endif
}

static void chains_of_shared_objects_are_read(void** state)
{
    (void)state;
    need_descriptors();
    const struct rig_setup setup = {.sharing = rig_sharing_everything()};
    const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    VkExternalMemoryImageCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT,
    };
    const VkImageStencilUsageCreateInfo stencil = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_STENCIL_USAGE_CREATE_INFO,
        .pNext = &external,
        .stencilUsage = VK_IMAGE_USAGE_SAMPLED_BIT,
    };
    const VkImageFormatListCreateInfo formats = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO,
        .pNext = &stencil,
        .viewFormatCount = 1,
        .pViewFormats = &format,
    };
    rig = rig_begin(&setup);
    EXPECT_MESSAGE(try_shared_image(&formats), REFUSED, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS,
                   NULL);
    external.handleTypes |= VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    assert_int_equal(try_shared_image(&formats), VK_SUCCESS);
    /* Types that do not go together. */
    const MaarExportInfo both = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT |
                       VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    const VkBufferCreateInfo info = rig_buffer_info(1000);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    how.pNext = &both;
    EXPECT_MESSAGE(maarCreateBuffer(rig->allocator, &info, &how, &buffer, &memory),
                   VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_NOT_EXPORTABLE, NULL);
    assert_true(buffer == VK_NULL_HANDLE);
    rig_close(rig);
}

/* ---- arguments of what is shared ---- */

static void wrong_imports_leave_the_handle(void** state)
{
    (void)state;
    need_descriptors();
    const struct rig_setup setup = {.sharing = rig_sharing_everything(), .off = RIG_OFF_ADDRESS};
    const VkExternalMemoryHandleTypeFlagBits type = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    const MaarExportInfo export = {.sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO, .handleTypes = type};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    const MaarMemoryRequest request = rig_request(1000, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation memory = VK_NULL_HANDLE;
    MaarAllocation none = VK_NULL_HANDLE;
    MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    rig = rig_begin(&setup);
    how.pNext = &export;
    assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &memory), VK_SUCCESS);
    EXPECT_MESSAGE(maarExportMemory(rig->allocator, memory, 3, &exported), REFUSED,
                   MAAR_MESSAGE_ID_INVALID_ENUM, "handleType");
    exported.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY;
    assert_int_equal(maarExportMemory(rig->allocator, memory, type, &exported), VK_SUCCESS);
    const MaarImportInfo right = {
        .sType = MAAR_STRUCTURE_TYPE_IMPORT_INFO,
        .handle = exported.handle,
        .handleType = type,
        .blockSize = exported.blockSize,
        .memoryTypeIndex = exported.memoryTypeIndex,
    };
    MaarImportInfo info = right;
#define EXPECT_NO_IMPORT(change, id, culprit)                                                      \
    do {                                                                                           \
        info = right;                                                                              \
        change;                                                                                    \
        EXPECT_MESSAGE(maarImportMemory(rig->allocator, &info, &none), REFUSED, id, culprit);      \
        assert_true(none == VK_NULL_HANDLE && maarPeekFd(exported.handle) >= 0);                   \
    } while (0)
    EXPECT_NO_IMPORT(info.handle = VK_NULL_HANDLE, MAAR_MESSAGE_ID_NULL_HANDLE,
                     "pImportInfo->handle");
    EXPECT_NO_IMPORT(info.handleType = 3, MAAR_MESSAGE_ID_INVALID_ENUM, NULL);
    EXPECT_NO_IMPORT(info.blockSize = 0, MAAR_MESSAGE_ID_ZERO_SIZE, "blockSize");
    EXPECT_NO_IMPORT(info.memoryTypeIndex = MAAR_MEMORY_TYPE_NONE, MAAR_MESSAGE_ID_NOT_IMPORTABLE,
                     NULL);
    EXPECT_NO_IMPORT(info.memoryTypeIndex = 31, MAAR_MESSAGE_ID_OUT_OF_RANGE, NULL);
    EXPECT_NO_IMPORT(info.usage = (MaarMemoryUsage)99, MAAR_MESSAGE_ID_INVALID_ENUM, "usage");
    EXPECT_NO_IMPORT(info.dedicated = VK_TRUE, MAAR_MESSAGE_ID_NOT_IMPORTABLE, "dedicated");
    assert_int_equal(maarImportMemory(rig->allocator, &right, &none), VK_SUCCESS);
    maarFreeMemory(rig->allocator, none);
    maarDestroyExternalHandle(rig->allocator, exported.handle);
    maarFreeMemory(rig->allocator, memory);
    rig_close(rig);
}

/* Its memory types have other numbers than this one's. */
static void dma_buf_of_another_device_is_imported(void** state)
{
    (void)state;
    need_descriptors();
    const struct rig_setup setup = {.sharing = rig_sharing_everything()};
    const VkExternalMemoryHandleTypeFlagBits type = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
    const MaarExportInfo export = {.sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO, .handleTypes = type};
    const VkBufferCreateInfo info = rig_buffer_info(1000);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarDescriptor descriptor = {.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    MaarExternalHandle handle = VK_NULL_HANDLE;
    VkBuffer buffers[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    MaarAllocation memory[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    rig = rig_begin(&setup);
    how.pNext = &export;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffers[0], &memory[0]),
                     VK_SUCCESS);
    assert_int_equal(
        maarDescribeMemory(rig->allocator, memory[0], type, &info, &descriptor, &handle),
        VK_SUCCESS);
    MaarDescriptor foreign = descriptor;
    foreign.memoryTypeIndex = 31;
    EXPECT_MESSAGE(
        maarImportDescribedBuffer(rig->allocator, &foreign, handle, &buffers[1], &memory[1]),
        REFUSED, MAAR_MESSAGE_ID_OUT_OF_RANGE, NULL);
    foreign.deviceUUID[0] ^= 1;
    assert_int_equal(
        maarImportDescribedBuffer(rig->allocator, &foreign, handle, &buffers[1], &memory[1]),
        VK_SUCCESS);
    assert_int_equal(maarPeekFd(handle), -1);
    for (uint32_t i = 0; i < 2; ++i) {
        maarDestroyBuffer(rig->allocator, buffers[i], memory[i]);
    }
    maarDestroyExternalHandle(rig->allocator, handle);
    rig_close(rig);
}

static void what_describes_names_itself(void** state)
{
    (void)state;
    const struct rig_setup setup = {.sharing = rig_sharing_everything()};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarDescriptor descriptor = {.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    MaarExternalHandle handle = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation none = VK_NULL_HANDLE;
    rig = rig_begin(&setup);
    const MaarAllocation memory = rig_allocate(rig, 1000, &how);
    EXPECT_MESSAGE(maarDescribeMemory(rig->allocator, memory, 3, NULL, &descriptor, &handle),
                   REFUSED, MAAR_MESSAGE_ID_INVALID_ENUM, "handleType");
    EXPECT_MESSAGE(maarDescribeTimeline(rig->allocator, VK_NULL_HANDLE,
                                        VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
                                        &descriptor, &handle),
                   REFUSED, MAAR_MESSAGE_ID_NULL_HANDLE, "semaphore");
    descriptor.kind = MAAR_DESCRIPTOR_KIND_BUFFER;
    descriptor.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
    descriptor.blockSize = descriptor.size = 1000;
    descriptor.bufferUsage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
    EXPECT_MESSAGE(
        maarImportDescribedBuffer(rig->allocator, &descriptor, VK_NULL_HANDLE, &buffer, &none),
        REFUSED, MAAR_MESSAGE_ID_NULL_HANDLE, "handle");
    maarFreeMemory(rig->allocator, memory);
    rig_close(rig);
}

static void wrong_questions_about_sharing_are_refused(void** state)
{
    (void)state;
    const struct rig_setup setup = {.sharing = rig_sharing_everything(), .off = RIG_OFF_ADDRESS};
    const VkBufferCreateInfo buffer = rig_buffer_info(1000);
    MaarSharingQuery query = {.sType = MAAR_STRUCTURE_TYPE_SHARING_QUERY,
                              .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    MaarSharingSupport support = {.sType = MAAR_STRUCTURE_TYPE_SHARING_SUPPORT};
    MaarExternalHandle handle = VK_NULL_HANDLE;
    VkSemaphore semaphore = VK_NULL_HANDLE;
    unsigned char bytes[64] = {0};
    rig = rig_begin(&setup);
    EXPECT_MESSAGE(maarGetSharingSupport(rig->allocator, &query, &support), REFUSED,
                   MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "pBufferInfo");
    VkImageCreateInfo image = rig_image_info(64, 64);
    image.flags = VK_IMAGE_CREATE_DISJOINT_BIT;
    query.pImageInfo = &image;
    EXPECT_MESSAGE(maarGetSharingSupport(rig->allocator, &query, &support), REFUSED,
                   MAAR_MESSAGE_ID_NOT_EXPORTABLE, "pQuery->pImageInfo");
    query.pImageInfo = NULL;
    query.pBufferInfo = &buffer;
    query.handleType = 3;
    EXPECT_MESSAGE(maarGetSharingSupport(rig->allocator, &query, &support), REFUSED,
                   MAAR_MESSAGE_ID_INVALID_ENUM, "handleType");
    EXPECT_MESSAGE(maarExportSemaphore(rig->allocator, VK_NULL_HANDLE,
                                       VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT, &handle),
                   REFUSED, MAAR_MESSAGE_ID_NULL_HANDLE, "semaphore");
    semaphore = rig_create_timeline(rig, 0);
    EXPECT_MESSAGE(maarExportSemaphore(rig->allocator, semaphore,
                                       VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT, &handle),
                   VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_NOT_EXPORTABLE, NULL);
    vkDestroySemaphore(rig->device, semaphore, NULL);
    EXPECT_MESSAGE(maarImportSemaphore(rig->allocator, VK_NULL_HANDLE,
                                       VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
                                       VK_SEMAPHORE_TYPE_TIMELINE, &semaphore),
                   REFUSED, MAAR_MESSAGE_ID_NULL_HANDLE, "handle");
    const MaarHostBufferCreateInfo host = {
        .sType = MAAR_STRUCTURE_TYPE_HOST_BUFFER_CREATE_INFO,
        .pMemory = bytes,
        .size = sizeof bytes,
        .usage = VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
    };
    MaarHostBuffer made = VK_NULL_HANDLE;
    EXPECT_MESSAGE(maarCreateHostBuffer(rig->allocator, &host, &made), REFUSED,
                   MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, "bufferDeviceAddress");
    assert_null(made);
    rig_close(rig);
}

/* ---- pools that cannot serve ---- */

static void requests_that_a_pool_of_pages_cannot_grant_are_refused(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 65536, NULL);
    const MaarPoolPagingInfo paging = {.sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
                                       .stitch = VK_TRUE};
    const MaarPoolCreateInfo pool_info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO, .pNext = &paging, .memoryTypeIndex = 0};
    MaarPool pool = rig_create_pool(rig, &pool_info);
    const VkBufferCreateInfo buffer_info = rig_buffer_info(4 * MIB);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                    .pool = pool,
                                    .requiredFlags = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT};
    EXPECT_MESSAGE(maarCreateBuffer(rig->allocator, &buffer_info, &how, &buffer, &memory), REFUSED,
                   MAAR_MESSAGE_ID_POOL_MISMATCH, "pCreateInfo->requiredFlags");
    how.requiredFlags = 0;
    how.usage = (MaarMemoryUsage)99;
    EXPECT_MESSAGE(maarCreateBuffer(rig->allocator, &buffer_info, &how, &buffer, &memory), REFUSED,
                   MAAR_MESSAGE_ID_INVALID_ENUM, "usage");
    how.usage = MAAR_MEMORY_USAGE_DEVICE_LOCAL;
    how.memoryTypeBits = 2;
    EXPECT_MESSAGE(maarCreateBuffer(rig->allocator, &buffer_info, &how, &buffer, &memory), REFUSED,
                   MAAR_MESSAGE_ID_POOL_MISMATCH, "pCreateInfo->memoryTypeBits");
    assert_true(buffer == VK_NULL_HANDLE && memory == VK_NULL_HANDLE);
    /* What the peak of page blocks is since the last look. */
    MaarReservation reservation = fixture_reserve(rig, 64 * MIB, 0);
    assert_int_equal(fixture_commit(rig, reservation, 0, 32 * MIB), VK_SUCCESS);
    const VkDeviceSize most = fixture_statistics(rig).peakBlockBytes;
    assert_int_equal(fixture_decommit(rig, reservation, 0, 32 * MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_true(fixture_statistics(rig).peakBlockBytes == most);
    maarResetPeaks(rig->allocator);
    assert_true(fixture_statistics(rig).peakBlockBytes < most);
    EXPECT_MESSAGE(maarEnumerateReservationPages(rig->allocator, reservation, NULL, NULL), REFUSED,
                   MAAR_MESSAGE_ID_NULL_ARGUMENT, "pCount");
    maarDestroyReservation(rig->allocator, reservation);
    maarDestroyPool(rig->allocator, pool);
    rig_close(rig);
}

/* ---- a pool that goes with its pages in use ---- */

static void pages_of_a_pool_that_goes_are_reported(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 65536, NULL);
    const MaarPoolPagingInfo paging = {.sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
                                       .stitch = VK_TRUE};
    const MaarPoolCreateInfo pool_info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO, .pNext = &paging, .memoryTypeIndex = 0};
    MaarPool pool = rig_create_pool(rig, &pool_info);
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .pool = pool};
    const VkBufferCreateInfo buffer = fixture_buffer(64 * MIB);
    const MaarReservationCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                            .pBufferInfo = &buffer,
                                            .pMemoryInfo = &how};
    MaarReservation reservation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &reservation), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, reservation, 48 * MIB, MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    maarDestroyPool(rig->allocator, pool);
    rig_expect_message(rig, MAAR_MESSAGE_ID_LEAK);
    /* The reservation has no page any more, and that adds up. */
    assert_int_equal(fixture_info(rig, reservation).committedSize, 0);
    rig_check(rig);
    rig->expected_violations = rig_counters(rig).violationCount; /* memory that went bound */
    maarDestroyReservation(rig->allocator, reservation);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(another_allocators_objects_are_refused),
        rig_unit_test(another_allocators_images_are_refused),
        rig_unit_test(messages_name_the_call_that_was_made),
        rig_unit_test(requests_that_no_memory_can_grant_are_refused),
        rig_unit_test(tiles_that_are_not_there_are_refused),
        rig_unit_test(images_that_no_cache_can_stream_are_refused),
        rig_unit_test(cache_refuses_what_is_missing),
        rig_unit_test(planes_and_slices_that_cannot_be_are_refused),
        rig_unit_test(chains_of_shared_objects_are_read),
        rig_unit_test(wrong_imports_leave_the_handle),
        rig_unit_test(dma_buf_of_another_device_is_imported),
        rig_unit_test(what_describes_names_itself),
        rig_unit_test(wrong_questions_about_sharing_are_refused),
        rig_unit_test(requests_that_a_pool_of_pages_cannot_grant_are_refused),
        rig_unit_test(pages_of_a_pool_that_goes_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
