/*
 * Plays an input: see the header.
 */
#include "tests/fuzz/fuzz_vma_play.h"

#include "tests/fuzz/fuzz_input.h"
#include "tests/rig/rig.h"

#include <vk_mem_alloc.h>

#ifdef FUZZ_VMA_IS_PEER
#define PLAY fuzz_vma_play_peer
#define OWN false
#else
#define PLAY fuzz_vma_play_maar
#define OWN true
#endif
#define FLAG(name) ((VmaAllocationCreateFlags)VMA_ALLOCATION_CREATE_##name##_BIT)

enum { SLOTS = 24, POOLS = 3, RANGES = 16 };

struct slot {
    VmaAllocation allocation;
    VkBuffer buffer;
    uint32_t mapped; /* calls of vmaMapMemory */
};

struct play {
    struct fuzz_input input;
    struct rig rig;
    VmaAllocator allocator;
    struct fuzz_vma_answers* answers;
    uint32_t call;
    struct slot slots[SLOTS];
    VmaAllocation stale;
    VmaPool pools[POOLS];
    VmaVirtualBlock block;
    VmaVirtualAllocation ranges[RANGES];
};

/* Notes an answer that both libraries must give. */
static void note(struct play* play, uint64_t value)
{
    struct fuzz_vma_answers* const answers = play->answers;
    if (answers->count < FUZZ_VMA_ANSWERS) {
        answers->all[answers->count].call = play->call;
        answers->all[answers->count++].value = value;
    }
}

static void open_play(struct play* play)
{
    rig_open(&play->rig, NULL);
    const VmaVulkanFunctions functions = {.vkGetInstanceProcAddr = vkGetInstanceProcAddr,
                                          .vkGetDeviceProcAddr = vkGetDeviceProcAddr};
    const VmaAllocatorCreateInfo info = {.instance = play->rig.instance,
                                         .physicalDevice = play->rig.physical,
                                         .device = play->rig.device,
                                         .pVulkanFunctions = &functions,
                                         .vulkanApiVersion = VK_API_VERSION_1_1};
    const VmaVirtualBlockCreateInfo block = {.size = 64 * KIB};
    fuzz_require(vmaCreateAllocator(&info, &play->allocator) == VK_SUCCESS);
    fuzz_require(vmaCreateVirtualBlock(&block, &play->block) == VK_SUCCESS);
}

static void empty_slot(struct play* play, struct slot* slot)
{
    while (slot->mapped > 0) {
        vmaUnmapMemory(play->allocator, slot->allocation);
        slot->mapped -= 1;
    }
    if (slot->allocation != VK_NULL_HANDLE) {
        play->stale = slot->allocation;
    }
    if (slot->buffer != VK_NULL_HANDLE) {
        vmaDestroyBuffer(play->allocator, slot->buffer, slot->allocation);
    } else {
        vmaFreeMemory(play->allocator, slot->allocation);
    }
    *slot = (struct slot){.mapped = 0};
}

static void close_play(struct play* play)
{
    VmaTotalStatistics total;
    for (uint32_t i = 0; i < SLOTS; ++i) {
        empty_slot(play, &play->slots[i]);
    }
    vmaCalculateStatistics(play->allocator, &total);
    fuzz_require(total.total.statistics.allocationCount == 0);
    fuzz_require(total.total.statistics.allocationBytes == 0);
    for (uint32_t i = 0; i < POOLS; ++i) {
        vmaDestroyPool(play->allocator, play->pools[i]);
    }
    vmaClearVirtualBlock(play->block);
    vmaDestroyVirtualBlock(play->block);
    vmaDestroyAllocator(play->allocator);
    if (OWN) {
        rig_close(&play->rig);
    } else { /* that library frees memory which is mapped, which the rig forbids */
        vkDestroyDevice(play->rig.device, NULL);
        vkDestroyInstance(play->rig.instance, NULL);
    }
}

static VmaAllocationCreateInfo draw_how(struct play* play)
{
    static const VmaMemoryUsage usages[] = {
        VMA_MEMORY_USAGE_GPU_ONLY,   VMA_MEMORY_USAGE_CPU_ONLY, VMA_MEMORY_USAGE_CPU_TO_GPU,
        VMA_MEMORY_USAGE_GPU_TO_CPU, VMA_MEMORY_USAGE_CPU_COPY, VMA_MEMORY_USAGE_GPU_ONLY};
    static const VmaAllocationCreateFlags flags[] = {0,
                                                     FLAG(MAPPED),
                                                     FLAG(DEDICATED_MEMORY),
                                                     FLAG(WITHIN_BUDGET),
                                                     FLAG(DEDICATED_MEMORY) | FLAG(NEVER_ALLOCATE),
                                                     FLAG(STRATEGY_MIN_TIME),
                                                     FLAG(STRATEGY_MIN_MEMORY),
                                                     FLAG(CAN_ALIAS)};
    struct fuzz_input* const input = &play->input;
    VmaAllocationCreateInfo how = {.usage = usages[fuzz_below(input, 6)],
                                   .flags = flags[fuzz_below(input, 8)],
                                   .pUserData = play};
    how.minAlignment = (VkDeviceSize)1 << fuzz_below(input, 14);
    if (fuzz_below(input, 4) == 0) {
        how.pool = play->pools[fuzz_below(input, POOLS)];
    }
    return how;
}

static void note_allocation(struct play* play, VkResult result, const VmaAllocation allocation,
                            const VmaAllocationCreateInfo* how)
{
    VmaAllocationInfo2 info;
    note(play, (uint64_t)(uint32_t)result);
    note(play, allocation != VK_NULL_HANDLE);
    if (result != VK_SUCCESS) {
        return;
    }
    vmaGetAllocationInfo2(play->allocator, allocation, &info);
    fuzz_require(info.allocationInfo.offset + info.allocationInfo.size <= info.blockSize ||
                 info.dedicatedMemory);
    note(play, info.allocationInfo.pMappedData != NULL);
    note(play, info.allocationInfo.pUserData == play);
    note(play, info.allocationInfo.offset % how->minAlignment);
    note(play, info.allocationInfo.pName != NULL);
}

static void allocate(struct play* play, struct slot* slot)
{
    const VmaAllocationCreateInfo how = draw_how(play);
    const VkMemoryRequirements needs = {.size = fuzz_scaled(&play->input, 20),
                                        .alignment = (VkDeviceSize)1
                                                     << fuzz_below(&play->input, 12),
                                        .memoryTypeBits = UINT32_MAX};
    if (needs.size == 0 && !OWN) {
        return;
    }
    const VkResult result =
        vmaAllocateMemory(play->allocator, &needs, &how, &slot->allocation, NULL);
    if (needs.size == 0) {
        fuzz_require(result != VK_SUCCESS && slot->allocation == VK_NULL_HANDLE);
        return;
    }
    note_allocation(play, result, slot->allocation, &how);
}

static void create_buffer(struct play* play, struct slot* slot)
{
    const VmaAllocationCreateInfo how = draw_how(play);
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = fuzz_scaled(&play->input, 18),
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    const VkResult result =
        vmaCreateBuffer(play->allocator, &info, &how, &slot->buffer, &slot->allocation, NULL);
    note_allocation(play, result, slot->allocation, &how);
    note(play, slot->buffer != VK_NULL_HANDLE);
}

/* Whether a slot's memory is visible to the host. */
static bool is_visible(struct play* play, const struct slot* slot)
{
    VkMemoryPropertyFlags flags = 0;
    vmaGetAllocationMemoryProperties(play->allocator, slot->allocation, &flags);
    return (flags & (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
}

static void use_memory(struct play* play, struct slot* slot)
{
    VmaAllocationInfo info;
    void* data = NULL;
    if (slot->allocation == VK_NULL_HANDLE) {
        return;
    }
    vmaGetAllocationInfo(play->allocator, slot->allocation, &info);
    const VkDeviceSize offset = fuzz_below(&play->input, info.size);
    vmaSetAllocationName(play->allocator, slot->allocation, "used");
    if (!is_visible(play, slot)) {
        note(play, vmaFlushAllocation(play->allocator, slot->allocation, offset, VK_WHOLE_SIZE) ==
                       VK_SUCCESS);
    } else if (slot->mapped == 0 || fuzz_below(&play->input, 2) == 0) {
        note(play, vmaMapMemory(play->allocator, slot->allocation, &data) == VK_SUCCESS);
        slot->mapped += data != NULL;
        fuzz_require(data != NULL);
        memset((uint8_t*)data + offset, 1, (size_t)(info.size - offset));
        note(play, vmaFlushAllocation(play->allocator, slot->allocation, offset, VK_WHOLE_SIZE) ==
                       VK_SUCCESS);
    } else {
        vmaUnmapMemory(play->allocator, slot->allocation);
        slot->mapped -= 1;
    }
}

static void use_pool(struct play* play)
{
    VmaPool* const pool = &play->pools[fuzz_below(&play->input, POOLS)];
    VmaPoolCreateInfo info = {.memoryTypeIndex = (uint32_t)fuzz_below(&play->input, 4),
                              .blockSize = fuzz_below(&play->input, 2) * 4 * MIB};
    VmaStatistics statistics;
    if (*pool == VK_NULL_HANDLE) {
        note(play, vmaCreatePool(play->allocator, &info, pool) == VK_SUCCESS);
        vmaSetPoolName(play->allocator, *pool, "pool");
    }
    vmaGetPoolStatistics(play->allocator, *pool, &statistics);
    note(play, statistics.allocationCount);
}

static void use_ranges(struct play* play)
{
    VmaVirtualAllocation* const range = &play->ranges[fuzz_below(&play->input, RANGES)];
    const VmaVirtualAllocationCreateInfo info = {.size = 1 + fuzz_below(&play->input, 2048),
                                                 .alignment = (VkDeviceSize)1
                                                              << fuzz_below(&play->input, 8),
                                                 .pUserData = play};
    VmaVirtualAllocationInfo got;
    if (*range != VK_NULL_HANDLE) {
        vmaVirtualFree(play->block, *range);
        *range = VK_NULL_HANDLE;
    } else {
        note(play, vmaVirtualAllocate(play->block, &info, range, NULL) == VK_SUCCESS);
        vmaGetVirtualAllocationInfo(play->block, *range, &got);
        note(play, got.size);
        note(play, got.offset % info.alignment);
        note(play, got.pUserData == play);
    }
    note(play, vmaIsVirtualBlockEmpty(play->block));
}

static void look_at_all(struct play* play)
{
    VmaTotalStatistics total;
    VmaBudget budgets[VK_MAX_MEMORY_HEAPS];
    char* text = NULL;
    vmaCalculateStatistics(play->allocator, &total);
    vmaGetHeapBudgets(play->allocator, budgets);
    vmaBuildStatsString(play->allocator, &text, VK_TRUE);
    fuzz_require(text != NULL);
    vmaFreeStatsString(play->allocator, text);
    note(play, total.total.statistics.allocationCount);
}

/* The new place of a move is read, named, mapped where the host sees it, and written to. */
static void use_place(struct play* play, VmaAllocation place)
{
    VmaAllocationInfo info;
    VmaAllocationInfo mapped;
    VkMemoryPropertyFlags flags = 0;
    void* data = NULL;
    vmaGetAllocationMemoryProperties(play->allocator, place, &flags);
    vmaGetAllocationInfo(play->allocator, place, &info);
    fuzz_require(info.size > 0);
    fuzz_require(!OWN || info.pMappedData == NULL); /* there, what is mapped moves too */
    vmaSetAllocationName(play->allocator, place, "place");
    vmaSetAllocationUserData(play->allocator, place, play);
    if ((flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0) {
        fuzz_require(vmaMapMemory(play->allocator, place, &data) == VK_SUCCESS);
        vmaGetAllocationInfo(play->allocator, place, &mapped);
        fuzz_require(mapped.pMappedData == data && mapped.pUserData == play);
        memset(data, 2, (size_t)info.size);
        fuzz_require(vmaFlushAllocation(play->allocator, place, 0, VK_WHOLE_SIZE) == VK_SUCCESS);
        vmaUnmapMemory(play->allocator, place);
    }
}

static void defragment(struct play* play)
{
    const VmaDefragmentationInfo info = {.maxAllocationsPerPass = 4};
    VmaDefragmentationContext context = VK_NULL_HANDLE;
    VmaDefragmentationPassMoveInfo pass = {0};
    fuzz_require(vmaBeginDefragmentation(play->allocator, &info, &context) == VK_SUCCESS);
    for (uint32_t i = 0; i < 4; ++i) {
        if (vmaBeginDefragmentationPass(play->allocator, context, &pass) != VK_INCOMPLETE) {
            break;
        }
        for (uint32_t j = 0; j < pass.moveCount; ++j) {
            use_place(play, pass.pMoves[j].dstTmpAllocation);
            /* Buffers are not bound again, so nothing moves. */
            pass.pMoves[j].operation = VMA_DEFRAGMENTATION_MOVE_OPERATION_IGNORE;
        }
        if (vmaEndDefragmentationPass(play->allocator, context, &pass) != VK_INCOMPLETE) {
            break;
        }
    }
    vmaEndDefragmentation(play->allocator, context, NULL);
}

/* Calls that the interface forbids. Each is reported and changes nothing. */
static void misuse(struct play* play)
{
    VmaAllocationInfo info;
    void* data = NULL;
    const uint64_t which = fuzz_below(&play->input, 6);
    if (!OWN || play->stale == VK_NULL_HANDLE) {
        return;
    }
    for (uint32_t i = 0; i < SLOTS; ++i) {
        if (play->slots[i].allocation == play->stale) {
            return; /* the handle is in use again */
        }
    }
    if (which == 0) {
        vmaFreeMemory(play->allocator, play->stale);
    } else if (which == 1) {
        fuzz_require(vmaMapMemory(play->allocator, play->stale, &data) != VK_SUCCESS);
        fuzz_require(data == NULL);
    } else if (which == 2) {
        vmaUnmapMemory(play->allocator, play->stale);
    } else if (which == 3) {
        vmaGetAllocationInfo(play->allocator, play->stale, &info);
        fuzz_require(info.deviceMemory == VK_NULL_HANDLE);
    } else if (which == 4) {
        vmaSetAllocationUserData(play->allocator, play->stale, play);
    } else {
        (void)vmaFlushAllocation(play->allocator, play->stale, 0, VK_WHOLE_SIZE);
    }
}

static void step(struct play* play)
{
    struct slot* const slot = &play->slots[fuzz_below(&play->input, SLOTS)];
    const uint32_t call = (uint32_t)fuzz_below(&play->input, 9);
    play->call = call;
    if (call <= 1 && slot->allocation != VK_NULL_HANDLE) {
        empty_slot(play, slot);
    } else if (call == 0) {
        allocate(play, slot);
    } else if (call == 1) {
        create_buffer(play, slot);
    } else if (call <= 3) {
        use_memory(play, slot);
    } else if (call == 4) {
        use_pool(play);
    } else if (call == 5) {
        use_ranges(play);
    } else if (call == 6) {
        look_at_all(play);
    } else if (call == 7) {
        defragment(play);
    } else {
        misuse(play);
    }
}

void PLAY(const uint8_t* data, size_t size, struct fuzz_vma_answers* answers)
{
    static struct play play;
    memset(&play, 0, sizeof play);
    play.input = (struct fuzz_input){data, size};
    play.answers = answers;
    answers->count = 0;
    open_play(&play);
    while (!fuzz_is_dry(&play.input)) {
        step(&play);
    }
    close_play(&play);
}
