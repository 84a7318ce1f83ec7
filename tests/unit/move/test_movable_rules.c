/*
 * What cannot be movable, what a batch with movable objects needs, and what is bound to their
 * memory.
 */
#include "core/host_memory.h"
#include "core/memory/allocator_state.h"
#include "core/objects/movable.h"
#include "tests/rig/rig.h"

enum { BYTES = 5000 };

static struct rig* rig;

static const MaarMovableInfo movable = {.sType = MAAR_STRUCTURE_TYPE_MOVABLE_INFO};

static MaarAllocationCreateInfo movable_how(void)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &movable;
    return how;
}

/* ---- what cannot be movable ---- */

static void refuse_buffer(const VkBufferCreateInfo* info, const MaarAllocationCreateInfo* how,
                          VkResult expected, MaarMessageId id, const char* words)
{
    VkBuffer buffer = (VkBuffer)(uintptr_t)1;
    MaarAllocation memory = (MaarAllocation)(uintptr_t)1;
    assert_int_equal(maarCreateBuffer(rig->allocator, info, how, &buffer, &memory), expected);
    assert_true(buffer == VK_NULL_HANDLE && memory == VK_NULL_HANDLE);
    rig_expect_message_naming(rig, id, words);
}

static void refuse_image_as(const VkImageCreateInfo* info, VkResult expected, const char* words)
{
    const MaarAllocationCreateInfo how = movable_how();
    VkImage image = (VkImage)(uintptr_t)1;
    MaarAllocation memory = (MaarAllocation)(uintptr_t)1;
    assert_int_equal(maarCreateImage(rig->allocator, info, &how, &image, &memory), expected);
    assert_true(image == VK_NULL_HANDLE && memory == VK_NULL_HANDLE);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CANNOT_MOVE, words);
}

static void refuse_image(const VkImageCreateInfo* info, const char* words)
{
    refuse_image_as(info, VK_ERROR_FEATURE_NOT_PRESENT, words);
}

static void odd_buffers_are_refused(void** state)
{
    const VkBaseInStructure unknown = {.sType = (VkStructureType)1000999000};
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO};
    MaarMovableInfo flagged = movable;
    (void)state;
    rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = movable_how();
    VkBufferCreateInfo info = rig_buffer_info(BYTES);
    info.pNext = &unknown;
    refuse_buffer(&info, &how, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_CANNOT_MOVE,
                  "1000999000");
    info.pNext = &external;
    refuse_buffer(&info, &how, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_CANNOT_MOVE,
                  "VkExternalMemoryBufferCreateInfo");
    info.pNext = NULL;
    info.flags = VK_BUFFER_CREATE_PROTECTED_BIT;
    refuse_buffer(&info, &how, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_CANNOT_MOVE,
                  "protected");
    info.flags = VK_BUFFER_CREATE_DEVICE_ADDRESS_CAPTURE_REPLAY_BIT;
    refuse_buffer(&info, &how, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_CANNOT_MOVE, "replay");
    info.flags = 0;
    how.flags = MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT;
    refuse_buffer(&info, &how, VK_ERROR_VALIDATION_FAILED_EXT,
                  MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT");
    how.flags = 0;
    flagged.flags = 0x2;
    how.pNext = &flagged;
    refuse_buffer(&info, &how, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_UNKNOWN_FLAGS,
                  "MaarMovableInfo");
}

static void odd_images_are_refused(void** state)
{
    const VkBaseInStructure unknown = {.sType = (VkStructureType)1000999000};
    const VkImageFormatListCreateInfo formats = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO, .pNext = &unknown};
    (void)state;
    rig = rig_begin(NULL);
    const VkImageCreateInfo plain = rig_image_info(64, 64);
    VkImageCreateInfo info = plain;
    info.pNext = &formats;
    refuse_image(&info, "1000999000");
    info = plain;
    info.flags = VK_IMAGE_CREATE_PROTECTED_BIT;
    refuse_image(&info, "protected");
    info.flags = VK_IMAGE_CREATE_SUBSAMPLED_BIT_EXT;
    refuse_image(&info, "subsampled");
    info.flags = VK_IMAGE_CREATE_SPLIT_INSTANCE_BIND_REGIONS_BIT;
    refuse_image(&info, "devices");
    info = plain;
    info.usage = VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    refuse_image(&info, "transient");
    info = plain;
    info.tiling = VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT;
    refuse_image(&info, "modifier");
}

/* The usages that copies need are added, and the driver is asked whether it can have them. */
static void images_without_copies_are_refused(void** state)
{
    static const char function[] = "vkGetPhysicalDeviceImageFormatProperties2";
    (void)state;
    rig = rig_begin(NULL);
    const VkImageCreateInfo info = rig_image_info(64, 64);
    rig_set_fault(rig, function, 1, 1, VK_ERROR_FORMAT_NOT_SUPPORTED);
    refuse_image_as(&info, VK_ERROR_FORMAT_NOT_SUPPORTED, "TRANSFER_SRC");
    rig_clear_faults(rig);
}

/* An object of pages keeps its handle. */
static void objects_of_pages_are_not_movable(void** state)
{
    const struct rig_setup setup = {.profile = rig_profile_sparse(), .paging = true};
    const MaarPoolPagingInfo pages = {.sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
                                      .stitch = VK_TRUE};
    const MaarPoolCreateInfo pool_info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO, .pNext = &pages, .memoryTypeIndex = 0};
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    MaarMoveObstacle obstacle = MAAR_MOVE_OBSTACLE_NONE;
    (void)state;
    rig = rig_begin(&setup);
    MaarAllocationCreateInfo how = movable_how();
    how.pool = rig_create_pool(rig, &pool_info);
    const VkBufferCreateInfo info = rig_buffer_info(MIB);
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffer, &allocation),
                     VK_SUCCESS);
    assert_int_equal(maarGetMoveObstacle(rig->allocator, allocation, &obstacle), VK_SUCCESS);
    assert_int_equal(obstacle, MAAR_MOVE_OBSTACLE_PAGES);
    assert_int_equal(maarGetMovableObject(rig->allocator, allocation, NULL, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "allocation");
    maarDestroyBuffer(rig->allocator, buffer, allocation);
}

static void disjoint_images_are_refused(void** state)
{
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation memories[2] = {0};
    (void)state;
    rig = rig_begin(NULL);
    VkImageCreateInfo info = rig_image_info(64, 64);
    info.format = VK_FORMAT_G8_B8R8_2PLANE_420_UNORM;
    info.flags = VK_IMAGE_CREATE_DISJOINT_BIT;
    const MaarAllocationCreateInfo how = movable_how();
    assert_int_equal(maarCreateDisjointImage(rig->allocator, &info, &how, 2, &image, memories),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CANNOT_MOVE, "disjoint");
}

static void exportable_memory_is_refused(void** state)
{
    const struct rig_setup setup = {.sharing = rig_sharing_everything()};
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .pNext = &movable,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    (void)state;
    rig = rig_begin(&setup);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export;
    const VkBufferCreateInfo info = rig_buffer_info(BYTES);
    refuse_buffer(&info, &how, VK_ERROR_VALIDATION_FAILED_EXT,
                  MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "exported");
}

/* Each host allocation and each call of the driver fails once. */
static void failed_creation_leaves_nothing(void** state)
{
    static const char* const functions[] = {"vkCreateBuffer", "vkBindBufferMemory2",
                                            "vkAllocateMemory"};
    const struct rig_setup setup = {.count_host = true};
    (void)state;
    rig = rig_begin(&setup);
    const MaarAllocationCreateInfo how = movable_how();
    const VkBufferCreateInfo info = rig_buffer_info(BYTES);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    for (uint32_t f = 0; f < sizeof functions / sizeof functions[0]; ++f) {
        rig_set_fault(rig, functions[f], 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
        assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffer, &memory),
                         VK_ERROR_OUT_OF_HOST_MEMORY);
        rig_clear_faults(rig);
        assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 0);
    }
    for (uint32_t nth = 1;; ++nth) {
        rig->host.fail_at = rig->host.calls + nth;
        const VkResult result = maarCreateBuffer(rig->allocator, &info, &how, &buffer, &memory);
        rig->host.fail_at = 0;
        if (result == VK_SUCCESS) {
            assert_true(nth > 2);
            break;
        }
        assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 0);
        assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, 0);
    }
    rig_forget_messages(rig);
    maarDestroyBuffer(rig->allocator, buffer, memory);
}

/* ---- what stays ---- */

static MaarMoveObstacle obstacle_of(MaarAllocation memory)
{
    MaarMoveObstacle obstacle = MAAR_MOVE_OBSTACLE_MAX_ENUM;
    assert_int_equal(maarGetMoveObstacle(rig->allocator, memory, &obstacle), VK_SUCCESS);
    return obstacle;
}

static VkResult try_begin(MaarAllocation memory, const MaarAllocationCreateInfo* how,
                          MaarMoveBatch* batch)
{
    const MaarMoveRequest request = {.allocation = memory};
    const MaarMoveBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO,
        .requestCount = 1,
        .pRequests = &request,
        .pCreateInfo = how,
    };
    return maarBeginMoves(rig->allocator, &info, batch);
}

static void address_moves_only_where_it_may(void** state)
{
    const MaarMovableInfo free_address = {.sType = MAAR_STRUCTURE_TYPE_MOVABLE_INFO,
                                          .flags = MAAR_MOVABLE_ADDRESS_MAY_CHANGE_BIT};
    MaarMoveBatch batch = VK_NULL_HANDLE;
    (void)state;
    rig = rig_begin(NULL);
    VkBufferCreateInfo info = rig_buffer_info(BYTES);
    info.usage = VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    for (uint32_t allowed = 0; allowed < 2; ++allowed) {
        MaarAllocationCreateInfo how = movable_how();
        VkBuffer buffer = VK_NULL_HANDLE;
        MaarAllocation memory = VK_NULL_HANDLE;
        how.pNext = allowed != 0 ? &free_address : &movable;
        assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffer, &memory),
                         VK_SUCCESS);
        if (allowed == 0) {
            assert_int_equal(obstacle_of(memory), MAAR_MOVE_OBSTACLE_ADDRESS);
            assert_int_equal(try_begin(memory, NULL, &batch), VK_ERROR_FEATURE_NOT_PRESENT);
            rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CANNOT_MOVE,
                                      "MAAR_MOVABLE_ADDRESS_MAY_CHANGE_BIT");
        } else {
            assert_int_equal(obstacle_of(memory), MAAR_MOVE_OBSTACLE_NONE);
            assert_int_equal(try_begin(memory, NULL, &batch), VK_SUCCESS);
            assert_int_equal(maarCancelMoves(rig->allocator, batch, 0, NULL), VK_SUCCESS);
        }
        maarDestroyBuffer(rig->allocator, buffer, memory);
    }
    rig_expect_silence(rig);
}

static void what_must_be_dedicated_stays(void** state)
{
    const MaarSimulatedDedicated dedicated = {.buffersRequire = VK_TRUE};
    MaarMoveBatch batch = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    (void)state;
    rig = rig_begin(NULL);
    maarSimulatedSetDedicated(rig->physical, &dedicated);
    const VkBufferCreateInfo info = rig_buffer_info(BYTES);
    const MaarAllocationCreateInfo how = movable_how();
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffer, &memory), VK_SUCCESS);
    assert_int_equal(obstacle_of(memory), MAAR_MOVE_OBSTACLE_DEDICATED);
    assert_int_equal(try_begin(memory, NULL, &batch), VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CANNOT_MOVE, "dedicated");
    maarDestroyBuffer(rig->allocator, buffer, memory);
}

/* The driver prefers dedicated memory: the object itself is copied, so it can leave its block. */
static void dedicated_objects_move(void** state)
{
    const MaarSimulatedDedicated dedicated = {.buffersPrefer = VK_TRUE};
    const struct rig_setup setup = {.paging = true, .flags = MAAR_SIMULATED_EXECUTE_BIT};
    const MaarMoveSubmitInfo submit = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO};
    MaarMoveBatch batch = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    uint32_t moved = 0;
    (void)state;
    rig = rig_begin(&setup);
    maarSimulatedSetDedicated(rig->physical, &dedicated);
    const VkBufferCreateInfo info = rig_buffer_info(BYTES);
    const MaarAllocationCreateInfo how = movable_how();
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffer, &memory), VK_SUCCESS);
    assert_int_equal(rig_info(rig, memory).dedicated, VK_TRUE);
    MaarAllocationCreateInfo shared = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    shared.dedicated = MAAR_DEDICATED_NEVER;
    assert_int_equal(try_begin(memory, &shared, &batch), VK_SUCCESS);
    assert_int_equal(maarCreateMovedObjects(rig->allocator, batch), VK_SUCCESS);
    assert_int_equal(maarSubmitMoves(rig->allocator, batch, &submit, NULL), VK_SUCCESS);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, &moved), VK_SUCCESS);
    assert_int_equal(moved, 1);
    assert_int_equal(rig_info(rig, memory).dedicated, VK_FALSE);
    maarDestroyBuffer(rig->allocator, VK_NULL_HANDLE, memory);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
}

/* A run that empties blocks leaves a block alone whose buffer has an address. */
static void runs_leave_blocks_with_addresses(void** state)
{
    enum { MANY = 24 };
    VkBuffer buffers[MANY];
    MaarAllocation memories[MANY];
    const MaarPoolCreateInfo pool_info = {.memoryTypeIndex = 0, .blockSize = 64 * KIB};
    MaarDefragmentationInfo info = {.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO};
    (void)state;
    rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = movable_how();
    how.pool = rig_create_pool(rig, &pool_info);
    for (uint32_t i = 0; i < MANY; ++i) {
        VkBufferCreateInfo buffer = rig_buffer_info(8 * KIB);
        buffer.usage = VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
        assert_int_equal(maarCreateBuffer(rig->allocator, &buffer, &how, &buffers[i], &memories[i]),
                         VK_SUCCESS);
    }
    for (uint32_t i = 0; i < MANY; ++i) {
        if (i % 8 != 0) {
            maarDestroyBuffer(rig->allocator, buffers[i], memories[i]);
            memories[i] = VK_NULL_HANDLE;
        }
    }
    const MaarDefragmentationBeginInfo begin = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO, .pool = how.pool};
    MaarDefragmentation run = VK_NULL_HANDLE;
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(maarBeginDefragmentation(rig->allocator, &begin, &run), VK_SUCCESS);
    assert_int_equal(maarStepDefragmentation(rig->allocator, run, NULL, &batch), VK_SUCCESS);
    assert_true(batch == VK_NULL_HANDLE);
    assert_int_equal(maarGetDefragmentationInfo(rig->allocator, run, &info), VK_SUCCESS);
    assert_int_equal(info.abandonedCount, 2);
    maarEndDefragmentation(rig->allocator, run);
    for (uint32_t i = 0; i < MANY; ++i) {
        if (memories[i] != VK_NULL_HANDLE) {
            maarDestroyBuffer(rig->allocator, buffers[i], memories[i]);
        }
    }
}

/* ---- what a batch needs ---- */

static VkImage image;
static MaarAllocation memory;

static MaarMoveBatch begin_image(const struct rig_setup* setup, VkFormat format)
{
    MaarMoveBatch batch = VK_NULL_HANDLE;
    rig = rig_begin(setup);
    VkImageCreateInfo info = rig_image_info(64, 64);
    info.format = format;
    const MaarAllocationCreateInfo how = movable_how();
    assert_int_equal(maarCreateImage(rig->allocator, &info, &how, &image, &memory), VK_SUCCESS);
    assert_int_equal(try_begin(memory, NULL, &batch), VK_SUCCESS);
    return batch;
}

static void end_image(MaarMoveBatch batch)
{
    rig_expect_silence(rig);
    assert_int_equal(maarCancelMoves(rig->allocator, batch, 0, NULL), VK_SUCCESS);
    maarDestroyImage(rig->allocator, image, memory);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
}

static const struct rig_setup with_queues = {.paging = true, .flags = MAAR_SIMULATED_EXECUTE_BIT};
static const MaarMoveSubmitInfo submission = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO};

static void batch_needs_its_objects(void** state)
{
    VkCommandPool command_pool = VK_NULL_HANDLE;
    (void)state;
    const MaarMoveBatch batch = begin_image(&with_queues, VK_FORMAT_R8G8B8A8_UNORM);
    const VkCommandBuffer commands = rig_open_commands(rig, &command_pool);
    MaarMove move = {.sType = MAAR_STRUCTURE_TYPE_MOVE};
    uint32_t count = 1;
    assert_int_equal(maarGetMoves(rig->allocator, batch, &count, &move), VK_SUCCESS);
    assert_int_equal(move.copiedByMaar, VK_TRUE);
    assert_int_equal(maarSubmitMoves(rig->allocator, batch, &submission, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "maarCreateMovedObjects");
    assert_int_equal(maarRecordMoves(rig->allocator, batch, commands),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "maarCreateMovedObjects");
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "maarCreateMovedObjects");
    vkDestroyCommandPool(rig->device, command_pool, NULL);
    end_image(batch);
}

/* A commit would leave the bytes behind. */
static void commit_needs_the_copies(void** state)
{
    const MaarMoveSubmitInfo elsewhere = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO,
                                          .queueIndex = 77};
    VkCommandPool command_pool = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    VkBuffer now = VK_NULL_HANDLE;
    MaarMoveBatch batch = VK_NULL_HANDLE;
    uint32_t moved = 9;
    (void)state;
    rig = rig_begin(&with_queues);
    const VkCommandBuffer commands = rig_open_commands(rig, &command_pool);
    const VkBufferCreateInfo info = rig_buffer_info(BYTES);
    const MaarAllocationCreateInfo how = movable_how();
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffer, &memory), VK_SUCCESS);
    assert_int_equal(try_begin(memory, NULL, &batch), VK_SUCCESS);
    assert_int_equal(maarCreateMovedObjects(rig->allocator, batch), VK_SUCCESS);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, &moved),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "0)");
    assert_int_equal(moved, 0);
    assert_int_equal(maarSubmitMoves(rig->allocator, batch, &elsewhere, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_forget_messages(rig);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "failed");
    assert_int_equal(maarGetMovableObject(rig->allocator, memory, &now, NULL), VK_SUCCESS);
    assert_true(now == buffer);
    assert_int_equal(maarRecordMoves(rig->allocator, batch, commands), VK_SUCCESS);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, &moved), VK_SUCCESS);
    assert_int_equal(moved, 1);
    /* What is dropped loses nothing. */
    assert_int_equal(try_begin(memory, NULL, &batch), VK_SUCCESS);
    assert_int_equal(maarCreateMovedObjects(rig->allocator, batch), VK_SUCCESS);
    assert_int_equal(maarDropMoves(rig->allocator, batch, 1, &memory), VK_SUCCESS);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, &moved), VK_SUCCESS);
    assert_int_equal(moved, 0);
    vkDestroyCommandPool(rig->device, command_pool, NULL);
    maarDestroyBuffer(rig->allocator, VK_NULL_HANDLE, memory);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
}

/* An image without contents needs no copy, and the program says that it is one. */
static void commit_needs_no_copy_of_nothing(void** state)
{
    (void)state;
    MaarMoveBatch batch = begin_image(&with_queues, VK_FORMAT_R8G8B8A8_UNORM);
    MaarMovedImageLayout layout = {memory, VK_IMAGE_LAYOUT_GENERAL};
    assert_int_equal(maarCreateMovedObjects(rig->allocator, batch), VK_SUCCESS);
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "batch");
        assert_int_equal(maarSetMovedImageLayouts(rig->allocator, batch, 1, &layout), VK_SUCCESS);
    }
    layout.layout = VK_IMAGE_LAYOUT_UNDEFINED;
    assert_int_equal(maarSetMovedImageLayouts(rig->allocator, batch, 1, &layout), VK_SUCCESS);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL), VK_SUCCESS);
    image = VK_NULL_HANDLE;
    end_image(VK_NULL_HANDLE);
}

static void images_need_their_layouts(void** state)
{
    (void)state;
    const MaarMoveBatch batch = begin_image(&with_queues, VK_FORMAT_R8G8B8A8_UNORM);
    MaarMovedImageLayout layout = {memory, VK_IMAGE_LAYOUT_GENERAL};
    assert_int_equal(maarSetMovedImageLayouts(rig->allocator, batch, 1, &layout),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "pLayouts[0].allocation");
    assert_int_equal(maarCreateMovedObjects(rig->allocator, batch), VK_SUCCESS);
    assert_int_equal(maarSubmitMoves(rig->allocator, batch, &submission, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_INVALID_LAYOUT, "maarSetMovedImageLayouts");
    layout.layout = VK_IMAGE_LAYOUT_PREINITIALIZED;
    const MaarMovedImageLayout half[] = {{memory, VK_IMAGE_LAYOUT_GENERAL}, layout};
    assert_int_equal(maarSetMovedImageLayouts(rig->allocator, batch, 2, half),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_INVALID_LAYOUT, "pLayouts[1].layout");
    assert_int_equal(maarSubmitMoves(rig->allocator, batch, &submission, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_INVALID_LAYOUT, "maarSetMovedImageLayouts");
    assert_int_equal(maarSetMovedImageLayouts(rig->allocator, batch, 1, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pLayouts");
    assert_int_equal(maarSetMovedImageLayouts(rig->allocator, batch, 0, NULL), VK_SUCCESS);
    /* What is dropped needs none. */
    assert_int_equal(maarDropMoves(rig->allocator, batch, 1, &memory), VK_SUCCESS);
    assert_int_equal(maarSubmitMoves(rig->allocator, batch, &submission, NULL), VK_SUCCESS);
    end_image(batch);
}

static void depth_needs_a_queue_that_does_graphics(void** state)
{
    (void)state;
    const struct rig_setup setup = {
        .paging = true,
        .profile = rig_profile_file("nvidia-rtx4090-linux"),
        .flags = MAAR_SIMULATED_EXECUTE_BIT,
        .two_families = true,
    };
    rig = rig_new();
    rig_open(rig, &setup);
    MaarQueue transfer = {0};
    uint32_t family = UINT32_MAX;
    for (uint32_t i = 0; i < rig->family_count; ++i) {
        if (rig->families[i] != rig->recommendation.mainQueueFamily) {
            family = rig->families[i];
            transfer = (MaarQueue){.familyIndex = family, .queue = rig->queues[i]};
        }
    }
    assert_true(family != UINT32_MAX);
    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    vkGetPhysicalDeviceQueueFamilyProperties(rig->physical, &count, families);
    assert_true((families[family].queueFlags & VK_QUEUE_GRAPHICS_BIT) == 0);
    rig->create_info.queueCount = 1;
    rig->create_info.pQueues = &transfer;
    rig_make_allocator(rig);
    VkImageCreateInfo info = rig_image_info(64, 64);
    info.format = VK_FORMAT_D32_SFLOAT;
    const MaarAllocationCreateInfo how = movable_how();
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(maarCreateImage(rig->allocator, &info, &how, &image, &memory), VK_SUCCESS);
    assert_int_equal(try_begin(memory, NULL, &batch), VK_SUCCESS);
    assert_int_equal(maarCreateMovedObjects(rig->allocator, batch), VK_SUCCESS);
    const MaarMovedImageLayout layout = {memory, VK_IMAGE_LAYOUT_GENERAL};
    assert_int_equal(maarSetMovedImageLayouts(rig->allocator, batch, 1, &layout), VK_SUCCESS);
    assert_int_equal(maarSubmitMoves(rig->allocator, batch, &submission, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CANNOT_MOVE, "graphics");
    end_image(batch);
}

/* ---- what else is bound ---- */

static void nothing_else_is_bound_to_its_memory(void** state)
{
    VkBuffer buffer = VK_NULL_HANDLE;
    VkBuffer other = VK_NULL_HANDLE;
    MaarMoveBatch batch = VK_NULL_HANDLE;
    (void)state;
    rig = rig_begin(NULL);
    const VkBufferCreateInfo info = rig_buffer_info(BYTES);
    const MaarAllocationCreateInfo how = movable_how();
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffer, &memory), VK_SUCCESS);
    assert_int_equal(maarCreateAliasingBuffer(rig->allocator, memory, 0, &info, &other),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT, "movable");
    assert_int_equal(vkCreateBuffer(rig->device, &info, NULL, &other), VK_SUCCESS);
    assert_int_equal(maarBindBuffer(rig->allocator, memory, 0, other, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT, "movable");
    assert_int_equal(try_begin(memory, NULL, &batch), VK_SUCCESS);
    assert_int_equal(maarBindMovedBuffer(rig->allocator, batch, memory, 0, other, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT, "maarCreateMovedObjects");
    assert_int_equal(maarCancelMoves(rig->allocator, batch, 0, NULL), VK_SUCCESS);
    vkDestroyBuffer(rig->device, other, NULL);
    maarDestroyBuffer(rig->allocator, buffer, memory);
}

/* A run that empties blocks knows only what the range needs. Here the driver wants more for the new
 * object than it wanted for the old one. */
static void objects_that_do_not_fit_are_refused_anew(void** state)
{
    const MaarSimulatedDedicated dedicated = {.buffersRequire = VK_TRUE};
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarMoveBatch batch = VK_NULL_HANDLE;
    (void)state;
    rig = rig_begin(NULL);
    const VkBufferCreateInfo info = rig_buffer_info(BYTES);
    const MaarAllocationCreateInfo how = movable_how();
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffer, &memory), VK_SUCCESS);
    assert_int_equal(try_begin(memory, NULL, &batch), VK_SUCCESS);
    maarSimulatedSetDedicated(rig->physical, &dedicated);
    assert_int_equal(maarCreateMovedObjects(rig->allocator, batch), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_DEDICATED_REQUIRED, "dedicated");
    assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 1);
    assert_int_equal(maarCancelMoves(rig->allocator, batch, 0, NULL), VK_SUCCESS);
    maarDestroyBuffer(rig->allocator, buffer, memory);
}

/* The create info may be gone when the object is created anew. */
static void create_info_is_copied(void** state)
{
    const struct rig_setup setup = {
        .profile = rig_profile_file("nvidia-rtx4090-linux"), .paging = true, .two_families = true};
    (void)state;
    rig = rig_begin(&setup);
    assert_int_equal(rig->family_count, 2);
    uint32_t* families = malloc(2 * sizeof *families);
    VkFormat* formats = malloc(2 * sizeof *formats);
    VkImageFormatListCreateInfo* list = malloc(sizeof *list);
    VkImageStencilUsageCreateInfo* stencil = malloc(sizeof *stencil);
    assert_true(families != NULL && formats != NULL && list != NULL && stencil != NULL);
    memcpy(families, rig->families, 2 * sizeof *families);
    formats[0] = VK_FORMAT_D24_UNORM_S8_UINT;
    formats[1] = VK_FORMAT_D24_UNORM_S8_UINT;
    *stencil = (VkImageStencilUsageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_IMAGE_STENCIL_USAGE_CREATE_INFO,
        .stencilUsage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT};
    *list = (VkImageFormatListCreateInfo){
        .sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO,
        .pNext = stencil,
        .viewFormatCount = 2,
        .pViewFormats = formats,
    };
    VkImageCreateInfo info = rig_image_info(64, 64);
    info.format = VK_FORMAT_D24_UNORM_S8_UINT;
    info.usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
    info.pNext = list;
    info.sharingMode = VK_SHARING_MODE_CONCURRENT;
    info.queueFamilyIndexCount = 2;
    info.pQueueFamilyIndices = families;
    const MaarAllocationCreateInfo how = movable_how();
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(maarCreateImage(rig->allocator, &info, &how, &image, &memory), VK_SUCCESS);
    free(families);
    free(formats);
    free(list);
    free(stencil);
    assert_int_equal(try_begin(memory, NULL, &batch), VK_SUCCESS);
    assert_int_equal(maarCreateMovedObjects(rig->allocator, batch), VK_SUCCESS);
    end_image(batch);
}

/* What a record contains is what the driver gets. */
static void record_has_families_and_formats(void** state)
{
    const uint32_t families[] = {0, 1};
    const VkFormat views[] = {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8G8B8A8_SRGB};
    const VkImageFormatListCreateInfo list = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO,
        .viewFormatCount = 2,
        .pViewFormats = views,
    };
    struct maar_movable* record = NULL;
    (void)state;
    rig = rig_begin(NULL);
    const MaarAllocationCreateInfo how = movable_how();
    VkImageCreateInfo info = rig_image_info(64, 64);
    info.pNext = &list;
    info.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
    info.sharingMode = VK_SHARING_MODE_CONCURRENT;
    info.queueFamilyIndexCount = 2;
    info.pQueueFamilyIndices = families;
    assert_int_equal(maar_movable_prepare_image(rig->allocator, __func__, &info, &how, &record),
                     VK_SUCCESS);
    assert_true(record->image.pQueueFamilyIndices != families);
    assert_memory_equal(record->image.pQueueFamilyIndices, families, sizeof families);
    assert_ptr_equal(record->image.pNext, &record->formats);
    assert_true(record->formats.pViewFormats != views);
    assert_memory_equal(record->formats.pViewFormats, views, sizeof views);
    assert_int_equal(record->image.usage, VK_IMAGE_USAGE_SAMPLED_BIT |
                                              VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                              VK_IMAGE_USAGE_TRANSFER_DST_BIT);
    maar_host_free(rig->allocator->callbacks, record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(odd_buffers_are_refused),
        rig_unit_test(odd_images_are_refused),
        rig_unit_test(images_without_copies_are_refused),
        rig_unit_test(objects_of_pages_are_not_movable),
        rig_unit_test(disjoint_images_are_refused),
        rig_unit_test(exportable_memory_is_refused),
        rig_unit_test(failed_creation_leaves_nothing),
        rig_unit_test(address_moves_only_where_it_may),
        rig_unit_test(what_must_be_dedicated_stays),
        rig_unit_test(dedicated_objects_move),
        rig_unit_test(runs_leave_blocks_with_addresses),
        rig_unit_test(batch_needs_its_objects),
        rig_unit_test(commit_needs_the_copies),
        rig_unit_test(commit_needs_no_copy_of_nothing),
        rig_unit_test(images_need_their_layouts),
        rig_unit_test(depth_needs_a_queue_that_does_graphics),
        rig_unit_test(nothing_else_is_bound_to_its_memory),
        rig_unit_test(objects_that_do_not_fit_are_refused_anew),
        rig_unit_test(create_info_is_copied),
        rig_unit_test(record_has_families_and_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
