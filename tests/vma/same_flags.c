/*
 * Flags of allocators, budgets as limits, and what a program may say of a move.
 */
#include "tests/vma/same_program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- allocators ---- */

/* What an allocator with a flag answers: a buffer, with and without a device address. */
static void say_allocator(const char* name, VmaAllocatorCreateFlags flags)
{
    static struct same_world world;
    const VmaAllocatorCreateInfo extra = {.flags = flags};
    const VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_AUTO, .priority = 0.5F};
    char key[64];
    same_open(&world, NULL, &extra);
    for (uint32_t i = 0; i < 2; ++i) {
        const VkBufferUsageFlags address = VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
        const VkBufferCreateInfo info =
            same_buffer(4096, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | (i == 1 ? address : 0));
        VkBuffer buffer = VK_NULL_HANDLE;
        VmaAllocation allocation = VK_NULL_HANDLE;
        (void)snprintf(key, sizeof key, "%s.%s", name, i == 1 ? "addressed" : "buffer");
        same_say_result(key,
                        vmaCreateBuffer(world.allocator, &info, &how, &buffer, &allocation, NULL));
        vmaDestroyBuffer(world.allocator, buffer, allocation);
    }
    VmaBudget budgets[VK_MAX_MEMORY_HEAPS];
    vmaGetHeapBudgets(world.allocator, budgets);
    (void)snprintf(key, sizeof key, "%s.budget", name);
    same_say_bytes(key, budgets[0].budget);
    same_close(&world);
}

static void say_allocators(void)
{
    static const struct {
        const char* name;
        VmaAllocatorCreateFlags flag;
    } rows[] = {
        {"none", 0},
        {"alone", VMA_ALLOCATOR_CREATE_EXTERNALLY_SYNCHRONIZED_BIT},
        {"dedicated", VMA_ALLOCATOR_CREATE_KHR_DEDICATED_ALLOCATION_BIT},
        {"bind2", VMA_ALLOCATOR_CREATE_KHR_BIND_MEMORY2_BIT},
        {"budget", VMA_ALLOCATOR_CREATE_EXT_MEMORY_BUDGET_BIT},
        {"coherent", VMA_ALLOCATOR_CREATE_AMD_DEVICE_COHERENT_MEMORY_BIT},
        {"address", VMA_ALLOCATOR_CREATE_BUFFER_DEVICE_ADDRESS_BIT},
        {"priority", VMA_ALLOCATOR_CREATE_EXT_MEMORY_PRIORITY_BIT},
        {"maintenance4", VMA_ALLOCATOR_CREATE_KHR_MAINTENANCE4_BIT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        say_allocator(rows[i].name, rows[i].flag);
    }
#if VMA_KHR_MAINTENANCE5
    say_allocator("maintenance5", VMA_ALLOCATOR_CREATE_KHR_MAINTENANCE5_BIT);
#endif
#if VMA_EXTERNAL_MEMORY_WIN32
    say_allocator("win32", VMA_ALLOCATOR_CREATE_KHR_EXTERNAL_MEMORY_WIN32_BIT);
#endif
}

/* ---- a budget as a limit ---- */

static void say_budget(void)
{
    static struct same_world world;
    const VkMemoryRequirements needs = {
        .size = 3584 * MIB, .alignment = 256, .memoryTypeBits = 1}; /* a heap of 8 GiB */
    VmaAllocationCreateInfo how = {.flags = VMA_ALLOCATION_CREATE_WITHIN_BUDGET_BIT |
                                            VMA_ALLOCATION_CREATE_DEDICATED_MEMORY_BIT};
    VmaAllocation allocation = VK_NULL_HANDLE;
    VmaAllocation first = VK_NULL_HANDLE;
    same_open(&world, NULL, NULL);
    same_say_result("first-half", vmaAllocateMemory(world.allocator, &needs, &how, &first, NULL));
    same_say_result("within-budget",
                    vmaAllocateMemory(world.allocator, &needs, &how, &allocation, NULL));
    how.flags = VMA_ALLOCATION_CREATE_DEDICATED_MEMORY_BIT;
    same_say_result("over-budget",
                    vmaAllocateMemory(world.allocator, &needs, &how, &allocation, NULL));
    vmaFreeMemory(world.allocator, allocation);
    vmaFreeMemory(world.allocator, first);
    how.flags = VMA_ALLOCATION_CREATE_MAPPED_BIT;
    how.usage = VMA_MEMORY_USAGE_CPU_ONLY;
    const VkMemoryRequirements small = {
        .size = 4096, .alignment = 256, .memoryTypeBits = UINT32_MAX};
    (void)vmaAllocateMemory(world.allocator, &small, &how, &allocation, NULL);
    same_say_result("invalidate",
                    vmaInvalidateAllocation(world.allocator, allocation, 0, VK_WHOLE_SIZE));
    vmaFreeMemory(world.allocator, allocation);
    same_close(&world);
}

/* Returns the number behind the first `key` after `from`. */
static uint64_t number_after(const char* from, const char* key)
{
    const char* const at = from != NULL ? strstr(from, key) : NULL;
    return at != NULL ? strtoull(at + strlen(key) + strspn(at + strlen(key), ": "), NULL, 10) : 0;
}

/* Limits of heaps in budgets and in the JSON: one below what the driver says, one above the heap's
 * size, and none. */
static void say_limits(const char* name, VmaAllocatorCreateFlags flags)
{
    static struct same_world world;
    const VkDeviceSize limits[3] = {64 * MIB, VK_WHOLE_SIZE - 1, VK_WHOLE_SIZE};
    const VmaAllocatorCreateInfo extra = {.flags = flags, .pHeapSizeLimit = limits};
    VmaBudget budgets[VK_MAX_MEMORY_HEAPS];
    char* text = NULL;
    char key[64];
    same_open(&world, NULL, &extra);
    vmaGetHeapBudgets(world.allocator, budgets);
    vmaBuildStatsString(world.allocator, &text, VK_FALSE);
    for (uint32_t i = 0; i < 3; ++i) {
        char heap[32];
        (void)snprintf(heap, sizeof heap, "\"Heap %u\"", (unsigned)i);
        const char* const at = strstr(text, heap);
        (void)snprintf(key, sizeof key, "limit.%s.%u.budget", name, (unsigned)i);
        same_say_bytes(key, budgets[i].budget);
        (void)snprintf(key, sizeof key, "limit.%s.%u.size", name, (unsigned)i);
        same_say_bytes(key, number_after(at, "\"Size\""));
        /* Without the driver's, the schema's figure differs by rounding. */
        (void)snprintf(key, sizeof key, "limit.%s.%u.written", name, (unsigned)i);
        same_say_bytes(key, number_after(at, "\"BudgetBytes\"") / 16);
    }
    vmaFreeStatsString(world.allocator, text);
    same_close(&world);
}

/* ---- what becomes of a move ---- */

enum { MOVED = 8 };

struct moved {
    struct same_world world;
    VmaPool pool;
    VkBuffer buffers[MOVED];
    VmaAllocation allocations[MOVED];
};

/* Two blocks of four buffers each, of which one lives in the first and three in the second. */
static void open_moved(struct moved* m)
{
    const VmaPoolCreateInfo pool = {.memoryTypeIndex = 0, .blockSize = MIB};
    const VkBufferCreateInfo info = same_buffer(256 * KIB, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_AUTO};
    same_open(&m->world, NULL, NULL);
    (void)vmaCreatePool(m->world.allocator, &pool, &m->pool);
    how.pool = m->pool;
    for (uint32_t i = 0; i < MOVED; ++i) {
        (void)vmaCreateBuffer(m->world.allocator, &info, &how, &m->buffers[i], &m->allocations[i],
                              NULL);
    }
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t gone = i < 3 ? i : 4;
        vmaDestroyBuffer(m->world.allocator, m->buffers[gone], m->allocations[gone]);
        m->buffers[gone] = VK_NULL_HANDLE;
        m->allocations[gone] = VK_NULL_HANDLE;
    }
}

/* Says one thing of every move of a pass, and how many allocations are left. */
static void say_operation(const char* name, VmaDefragmentationMoveOperation operation)
{
    static struct moved m;
    VmaDefragmentationContext context = VK_NULL_HANDLE;
    VmaDefragmentationPassMoveInfo pass;
    VmaStatistics totals;
    char key[64];
    open_moved(&m);
    const VmaDefragmentationInfo info = {.pool = m.pool};
    (void)vmaBeginDefragmentation(m.world.allocator, &info, &context);
    (void)vmaBeginDefragmentationPass(m.world.allocator, context, &pass);
    (void)snprintf(key, sizeof key, "move.%s.moves", name);
    same_say(key, "%d", pass.moveCount > 0);
    const uint32_t moves = pass.moveCount;
    for (uint32_t i = 0; i < moves; ++i) {
        pass.pMoves[i].operation = operation;
        for (uint32_t j = 0; j < MOVED; ++j) {
            if (m.allocations[j] != VK_NULL_HANDLE &&
                m.allocations[j] == pass.pMoves[i].srcAllocation &&
                operation != VMA_DEFRAGMENTATION_MOVE_OPERATION_IGNORE) {
                vkDestroyBuffer(m.world.rig.device, m.buffers[j], NULL);
                m.buffers[j] = VK_NULL_HANDLE;
                if (operation == VMA_DEFRAGMENTATION_MOVE_OPERATION_DESTROY) {
                    m.allocations[j] = VK_NULL_HANDLE;
                }
            }
        }
    }
    (void)vmaEndDefragmentationPass(m.world.allocator, context, &pass);
    vmaEndDefragmentation(m.world.allocator, context, NULL);
    vmaGetPoolStatistics(m.world.allocator, m.pool, &totals);
    (void)snprintf(key, sizeof key, "move.%s.left", name);
    same_say(key, "%d",
             totals.allocationCount ==
                 (operation == VMA_DEFRAGMENTATION_MOVE_OPERATION_DESTROY ? 4 - moves : 4));
    for (uint32_t i = 0; i < MOVED; ++i) {
        vmaDestroyBuffer(m.world.allocator, m.buffers[i], m.allocations[i]);
    }
    vmaDestroyPool(m.world.allocator, m.pool);
    same_close(&m.world);
}

void same_flags(void)
{
    same_section("flag");
    say_allocators();
    say_budget();
    say_limits("assumed", 0);
    say_limits("driver", VMA_ALLOCATOR_CREATE_EXT_MEMORY_BUDGET_BIT);
    say_operation("copy", VMA_DEFRAGMENTATION_MOVE_OPERATION_COPY);
    say_operation("ignore", VMA_DEFRAGMENTATION_MOVE_OPERATION_IGNORE);
    say_operation("destroy", VMA_DEFRAGMENTATION_MOVE_OPERATION_DESTROY);
}
