/*
 * Defragmentation as programs for VulkanMemoryAllocator's interface do it: for each move a new
 * buffer is bound to the new place, a command copies the bytes, and the old buffer is destroyed.
 * In the end each buffer that lives has its own bytes.
 */
#include "tests/rig/rig.h"

#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>

enum { BUFFERS = 192, WORDS_MOST = 4096, BYTES_OF_PASS = 1 << 20 };

#define BLOCK_SIZE (256 * KIB)

static struct rig rig;

struct item {
    VkBuffer buffer;
    VmaAllocation allocation;
    VkDeviceSize size;
    uint32_t word;
};

struct mover {
    VmaAllocator allocator;
    VmaPool pool;
    VkCommandPool commands_pool;
    VkCommandBuffer commands;
    struct item items[BUFFERS];
    VkBuffer old[BUFFERS]; /* of a pass */
    uint32_t old_count;
    uint32_t offered, moved;
};

static int open_rig(void** state)
{
    *state = NULL;
    if (rig_is_without_driver()) {
        rig_open(&rig, &(struct rig_setup){.flags = MAAR_SIMULATED_EXECUTE_BIT |
                                                    MAAR_SIMULATED_CHECK_CONTENTS_BIT |
                                                    MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT});
        *state = &rig;
    } else if (rig_open_vulkan(&rig, NULL, rig_is("lavapipe"))) {
        *state = &rig;
    }
    return 0;
}

static VkBufferCreateInfo info_of(VkDeviceSize size)
{
    return (VkBufferCreateInfo){.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                .size = size,
                                .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                         VK_BUFFER_USAGE_TRANSFER_DST_BIT};
}

/* ---- commands ---- */

static void open_commands(struct mover* mover)
{
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = rig.recommendation.mainQueueFamily,
    };
    assert_int_equal(vkCreateCommandPool(rig.device, &pool, NULL, &mover->commands_pool),
                     VK_SUCCESS);
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = mover->commands_pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    assert_int_equal(vkAllocateCommandBuffers(rig.device, &allocate, &mover->commands), VK_SUCCESS);
}

static void begin_commands(struct mover* mover)
{
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(vkBeginCommandBuffer(mover->commands, &begin), VK_SUCCESS);
}

static void submit_commands(struct mover* mover)
{
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &mover->commands};
    const VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                    .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT |
                                                     VK_ACCESS_TRANSFER_WRITE_BIT |
                                                     (VkAccessFlags)VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(mover->commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_PIPELINE_STAGE_TRANSFER_BIT |
                             (VkPipelineStageFlags)VK_PIPELINE_STAGE_HOST_BIT,
                         0, 1, &memory, 0, NULL, 0, NULL);
    assert_int_equal(vkEndCommandBuffer(mover->commands), VK_SUCCESS);
    assert_int_equal(vkQueueSubmit(rig.queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(vkQueueWaitIdle(rig.queue), VK_SUCCESS);
}

/* ---- the program ---- */

static void open_mover(struct mover* mover)
{
    const VmaVulkanFunctions functions = {.vkGetInstanceProcAddr = vkGetInstanceProcAddr,
                                          .vkGetDeviceProcAddr = vkGetDeviceProcAddr};
    const VmaAllocatorCreateInfo info = {.instance = rig.instance,
                                         .physicalDevice = rig.physical,
                                         .device = rig.device,
                                         .pVulkanFunctions = &functions,
                                         .vulkanApiVersion = VK_API_VERSION_1_1};
    const VkBufferCreateInfo buffer = info_of(4096);
    const VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_AUTO};
    VmaPoolCreateInfo pool = {.blockSize = BLOCK_SIZE};
    assert_int_equal(vmaCreateAllocator(&info, &mover->allocator), VK_SUCCESS);
    assert_int_equal(
        vmaFindMemoryTypeIndexForBufferInfo(mover->allocator, &buffer, &how, &pool.memoryTypeIndex),
        VK_SUCCESS);
    assert_int_equal(vmaCreatePool(mover->allocator, &pool, &mover->pool), VK_SUCCESS);
    open_commands(mover);
}

static void destroy_item(struct mover* mover, struct item* item)
{
    vmaDestroyBuffer(mover->allocator, item->buffer, item->allocation);
    *item = (struct item){.word = 0};
}

static void fill_pool(struct mover* mover)
{
    begin_commands(mover);
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        struct item* const item = &mover->items[i];
        const VmaAllocationCreateInfo how = {.pool = mover->pool, .pUserData = item};
        item->size = 4 * (VkDeviceSize)(1 + i * 37 % WORDS_MOST);
        item->word = 0x10000u + i;
        const VkBufferCreateInfo info = info_of(item->size);
        assert_int_equal(
            vmaCreateBuffer(mover->allocator, &info, &how, &item->buffer, &item->allocation, NULL),
            VK_SUCCESS);
        vkCmdFillBuffer(mover->commands, item->buffer, 0, VK_WHOLE_SIZE, item->word);
    }
    submit_commands(mover);
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        if (i % 3 != 0) {
            destroy_item(mover, &mover->items[i]);
        }
    }
}

/* Copies what moves into a new buffer at its new place. */
static void copy_move(struct mover* mover, const VmaDefragmentationMove* move)
{
    VmaAllocationInfo info;
    vmaGetAllocationInfo(mover->allocator, move->srcAllocation, &info);
    struct item* const item = info.pUserData;
    const VkBufferCreateInfo create = info_of(item->size);
    const VkBufferCopy copy = {.size = item->size};
    VkBuffer buffer = VK_NULL_HANDLE;
    VkMemoryRequirements needs;
    assert_ptr_equal(item->allocation, move->srcAllocation);
    assert_int_equal(vkCreateBuffer(rig.device, &create, NULL, &buffer), VK_SUCCESS);
    vkGetBufferMemoryRequirements(rig.device, buffer, &needs);
    assert_int_equal(vmaBindBufferMemory(mover->allocator, move->dstTmpAllocation, buffer),
                     VK_SUCCESS);
    vkCmdCopyBuffer(mover->commands, item->buffer, buffer, 1, &copy);
    mover->old[mover->old_count++] = item->buffer;
    item->buffer = buffer;
    mover->moved += 1;
}

/* One move in eight is ignored, the first ones of a run: later passes may offer them again. */
static bool is_ignored(struct mover* mover)
{
    mover->offered += 1;
    return mover->offered % 8 == 3;
}

static void defragment(struct mover* mover)
{
    const VmaDefragmentationInfo info = {.pool = mover->pool, .maxBytesPerPass = BYTES_OF_PASS};
    VmaDefragmentationContext context = VK_NULL_HANDLE;
    VmaDefragmentationPassMoveInfo pass = {0};
    VmaDefragmentationStats stats = {0};
    assert_int_equal(vmaBeginDefragmentation(mover->allocator, &info, &context), VK_SUCCESS);
    while (vmaBeginDefragmentationPass(mover->allocator, context, &pass) == VK_INCOMPLETE) {
        mover->old_count = 0;
        begin_commands(mover);
        for (uint32_t i = 0; i < pass.moveCount; ++i) {
            if (is_ignored(mover)) {
                pass.pMoves[i].operation = VMA_DEFRAGMENTATION_MOVE_OPERATION_IGNORE;
            } else {
                copy_move(mover, &pass.pMoves[i]);
            }
        }
        submit_commands(mover);
        for (uint32_t i = 0; i < mover->old_count; ++i) {
            vkDestroyBuffer(rig.device, mover->old[i], NULL);
        }
        if (vmaEndDefragmentationPass(mover->allocator, context, &pass) != VK_INCOMPLETE) {
            break;
        }
    }
    vmaEndDefragmentation(mover->allocator, context, &stats);
    assert_int_equal(stats.allocationsMoved, mover->moved);
    assert_true(stats.deviceMemoryBlocksFreed > 0);
}

static void require_contents(struct mover* mover)
{
    const VkBufferCreateInfo info = info_of(4 * WORDS_MOST);
    const VmaAllocationCreateInfo how = {
        .flags = VMA_ALLOCATION_CREATE_MAPPED_BIT |
                 (VmaAllocationCreateFlags)VMA_ALLOCATION_CREATE_HOST_ACCESS_RANDOM_BIT,
        .usage = VMA_MEMORY_USAGE_AUTO};
    VmaAllocation allocation = VK_NULL_HANDLE;
    VmaAllocationInfo seen;
    VkBuffer readback = VK_NULL_HANDLE;
    assert_int_equal(vmaCreateBuffer(mover->allocator, &info, &how, &readback, &allocation, &seen),
                     VK_SUCCESS);
    const uint32_t* const words = seen.pMappedData;
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        const struct item* const item = &mover->items[i];
        const VkBufferCopy copy = {.size = item->size};
        if (item->buffer == VK_NULL_HANDLE) {
            continue;
        }
        begin_commands(mover);
        vkCmdCopyBuffer(mover->commands, item->buffer, readback, 1, &copy);
        submit_commands(mover);
        assert_int_equal(vmaInvalidateAllocation(mover->allocator, allocation, 0, VK_WHOLE_SIZE),
                         VK_SUCCESS);
        for (uint32_t j = 0; j < item->size / 4 && rig_executes(); ++j) {
            assert_int_equal(words[j], item->word);
        }
    }
    vmaDestroyBuffer(mover->allocator, readback, allocation);
}

static void every_byte_moves(void** state)
{
    rig_need(state, *state != NULL, "no driver");
    static struct mover mover;
    open_mover(&mover);
    fill_pool(&mover);
    defragment(&mover);
    assert_true(mover.moved > 10);
    require_contents(&mover);
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        destroy_item(&mover, &mover.items[i]);
    }
    vkDestroyCommandPool(rig.device, mover.commands_pool, NULL);
    vmaDestroyPool(mover.allocator, mover.pool);
    vmaDestroyAllocator(mover.allocator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_byte_moves, open_rig, rig_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
