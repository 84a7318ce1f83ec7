/*
 * The temporary allocations of a pass of defragmentation, in memory that the host sees: what a
 * program that copies by the host does with them.
 */
#include "tests/vma/same_program.h"

#include <stdio.h>

enum { PLACED = 8, PLACED_SIZE = 256 * 1024 };

struct placed {
    struct same_world world;
    VmaPool pool;
    VmaAllocation allocations[PLACED];
};

/* Two blocks of four allocations each, of which one lives in the first and three in the second. */
static void open_placed(struct placed* p)
{
    const VmaPoolCreateInfo pool = {.memoryTypeIndex = 1, .blockSize = MIB};
    const VkMemoryRequirements needs = {
        .size = PLACED_SIZE, .alignment = 1024, .memoryTypeBits = 2};
    VmaAllocationCreateInfo how = {0};
    same_open(&p->world, NULL, NULL);
    (void)vmaCreatePool(p->world.allocator, &pool, &p->pool);
    how.pool = p->pool;
    for (uint32_t i = 0; i < PLACED; ++i) {
        unsigned char bytes[64];
        (void)vmaAllocateMemory(p->world.allocator, &needs, &how, &p->allocations[i], NULL);
        memset(bytes, (int)i + 1, sizeof bytes);
        (void)vmaCopyMemoryToAllocation(p->world.allocator, bytes, p->allocations[i], 0,
                                        sizeof bytes);
    }
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t gone = i < 3 ? i : 4;
        vmaFreeMemory(p->world.allocator, p->allocations[gone]);
        p->allocations[gone] = VK_NULL_HANDLE;
    }
}

static void close_placed(struct placed* p)
{
    for (uint32_t i = 0; i < PLACED; ++i) {
        vmaFreeMemory(p->world.allocator, p->allocations[i]);
    }
    vmaDestroyPool(p->world.allocator, p->pool);
    same_close(&p->world);
}

/* What the calls on a temporary allocation answer. */
static void say_place(VmaAllocator allocator, VmaAllocation place)
{
    static char tag;
    unsigned char bytes[4] = {1, 2, 3, 4};
    VmaAllocationInfo info;
    VkMemoryPropertyFlags flags = 0;
    void* data = NULL;
    vmaGetAllocationInfo(allocator, place, &info);
    same_say("place.type", "%u %d", info.memoryType, info.size == PLACED_SIZE);
    same_say("place.unmapped", "%d", info.pMappedData == NULL);
    same_say_result("place.map", vmaMapMemory(allocator, place, &data));
    vmaGetAllocationInfo(allocator, place, &info);
    same_say("place.mapped", "%d", data != NULL && info.pMappedData == data);
    same_say_result("place.map-again", vmaMapMemory(allocator, place, &data));
    vmaUnmapMemory(allocator, place);
    vmaUnmapMemory(allocator, place);
    vmaGetAllocationInfo(allocator, place, &info);
    same_say("place.unmapped-again", "%d", info.pMappedData == NULL);
    same_say_result("place.write", vmaCopyMemoryToAllocation(allocator, bytes, place, 60, 4));
    memset(bytes, 0, sizeof bytes);
    same_say_result("place.read", vmaCopyAllocationToMemory(allocator, place, 60, bytes, 4));
    same_say("place.bytes", "%d %d", bytes[0], bytes[3]);
    same_say_result("place.flush", vmaFlushAllocation(allocator, place, 0, VK_WHOLE_SIZE));
    same_say_result("place.invalidate",
                    vmaInvalidateAllocation(allocator, place, 0, VK_WHOLE_SIZE));
    same_say_result("place.flush-all", vmaFlushAllocations(allocator, 1, &place, NULL, NULL));
    vmaGetAllocationMemoryProperties(allocator, place, &flags);
    same_say("place.flags", "%u", (unsigned)flags);
    vmaSetAllocationUserData(allocator, place, &tag);
    vmaSetAllocationName(allocator, place, "temporary");
    vmaGetAllocationInfo(allocator, place, &info);
    same_say("place.named", "%d %s", info.pUserData == &tag, info.pName);
}

/* An object in a temporary allocation, which the library makes. */
static void say_object(const struct placed* p, VmaAllocation place)
{
    const VkBufferCreateInfo buffer_info = same_buffer(1024, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    VkImageCreateInfo image_info = same_image(8, VK_IMAGE_USAGE_TRANSFER_DST_BIT);
    VkBuffer buffer = VK_NULL_HANDLE;
    VkImage image = VK_NULL_HANDLE;
    image_info.tiling = VK_IMAGE_TILING_LINEAR;
    same_say_result("place.buffer",
                    vmaCreateAliasingBuffer(p->world.allocator, place, &buffer_info, &buffer));
    vkDestroyBuffer(p->world.rig.device, buffer, NULL);
    same_say_result("place.buffer-behind", vmaCreateAliasingBuffer2(p->world.allocator, place, 4096,
                                                                    &buffer_info, &buffer));
    vkDestroyBuffer(p->world.rig.device, buffer, NULL);
    same_say_result("place.image",
                    vmaCreateAliasingImage(p->world.allocator, place, &image_info, &image));
    vkDestroyImage(p->world.rig.device, image, NULL);
}

/* Copies the bytes of a move by the host. */
static void copy_move(VmaAllocator allocator, const VmaDefragmentationMove* move)
{
    void* source = NULL;
    void* target = NULL;
    (void)vmaMapMemory(allocator, move->srcAllocation, &source);
    (void)vmaMapMemory(allocator, move->dstTmpAllocation, &target);
    if (source != NULL && target != NULL) {
        memcpy(target, source, PLACED_SIZE);
    }
    vmaUnmapMemory(allocator, move->dstTmpAllocation);
    vmaUnmapMemory(allocator, move->srcAllocation);
}

/* Whether all allocations that are left have their bytes. */
static bool are_intact(const struct placed* p)
{
    bool intact = true;
    for (uint32_t i = 0; i < PLACED; ++i) {
        unsigned char bytes[64] = {0};
        if (p->allocations[i] != VK_NULL_HANDLE) {
            (void)vmaCopyAllocationToMemory(p->world.allocator, p->allocations[i], 0, bytes,
                                            sizeof bytes);
            intact = intact && bytes[0] == i + 1 && bytes[63] == i + 1;
        }
    }
    return intact;
}

void same_places(void)
{
    static struct placed p;
    const VmaDefragmentationInfo none = {0};
    VmaDefragmentationInfo info = none;
    VmaDefragmentationContext context = VK_NULL_HANDLE;
    VmaDefragmentationPassMoveInfo pass;
    VmaStatistics totals;
    same_section("pass");
    open_placed(&p);
    info.pool = p.pool;
    (void)vmaBeginDefragmentation(p.world.allocator, &info, &context);
    uint32_t moves = 0;
    while (vmaBeginDefragmentationPass(p.world.allocator, context, &pass) == VK_INCOMPLETE) {
        if (moves == 0) {
            say_place(p.world.allocator, pass.pMoves[0].dstTmpAllocation);
            say_object(&p, pass.pMoves[0].dstTmpAllocation);
        }
        for (uint32_t i = 0; i < pass.moveCount; ++i) {
            copy_move(p.world.allocator, &pass.pMoves[i]);
            ++moves;
        }
        if (vmaEndDefragmentationPass(p.world.allocator, context, &pass) == VK_SUCCESS) {
            break;
        }
    }
    vmaEndDefragmentation(p.world.allocator, context, NULL);
    same_say("moved", "%d", moves > 0);
    same_say("intact", "%d", are_intact(&p));
    vmaGetPoolStatistics(p.world.allocator, p.pool, &totals);
    same_say("left", "%u", totals.allocationCount);
    close_placed(&p);
}
